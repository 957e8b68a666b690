// Bounding volumes as rows of a table: fitting, moving, lower bound of the distance, quality.
//
// A volume is a run of doubles whose meaning only its row knows. All bounds are safe: they are
// lowered, and the volumes enlarged, by what rounding may have done. One kind of volume is used in
// a hierarchy and in both hierarchies of a query (L-48).
#ifndef RB_BOUNDS_VOLUME_H
#define RB_BOUNDS_VOLUME_H

#include <rattleback/lab_distance.h>

// Doubles of the largest volume.
#define RB_VOLUME_SIZE_MAX 32
#define RB_FDH_DIRECTIONS_MAX 26
// Terms of one pair of directions: at most 5 for generic rotations, a few more where a turned
// direction lies in the plane of two others. Terms that do not fit are left out: the bound stays
// true.
#define RB_FDH_TERMS_MAX 8

// A term of the dual of max c . x over an FDH: the three directions of a basis and their weights.
typedef struct rbFdhTerm {
    int direction[3];
    double weight[3]; // >= 0
} rbFdhTerm;

// What the rows need of a relative motion x -> R x + t from the frame of one body (whose volumes
// are moved) to that of the other: computed once a query (L-50).
typedef struct rbVolumeMotion {
    rbMat3 rotation;
    rbMat3 absRotation; // |R_ij|, enlarged by rounding
    rbVec3 translation;
    double size;  // m, as given to prepare
    double slack; // m, more than rounding does to a moved point and to a bound; moved volumes are
                  // enlarged by it
    // FDH only, for the directions 2 i; those of 2 i + 1 follow by reflection (direction ^ 1): the
    // terms termStarts[i] .. termStarts[i + 1] - 1
    rbFdhTerm terms[RB_FDH_DIRECTIONS_MAX / 2 * RB_FDH_TERMS_MAX];
    int termStarts[RB_FDH_DIRECTIONS_MAX / 2 + 1];
    double shifts[RB_FDH_DIRECTIONS_MAX / 2]; // m, d_2i . t
} rbVolumeMotion;

typedef struct rbVolumeMeasure {
    double volume;   // m^3
    double surface;  // m^2
    double diameter; // m
} rbVolumeMeasure;

typedef struct rbVolumeRow {
    const char* name;
    int size; // doubles of a volume
    // A volume about finite points (count >= 1), the smallest of its kind or nearly. Equal points
    // in equal order give equal bits. May allocate.
    void (*fit)(const rbVec3* points, int count, double* volume);
    // transform: quaternion of unit length (what it lacks makes slack). size: m, no coordinate of a
    // moved volume or of the other body exceeds it in magnitude.
    void (*prepare)(rbTransform transform, double size, rbVolumeMotion* motion);
    // A volume about the moved one, not the smallest. moved must not be volume.
    void (*move)(const rbVolumeMotion* motion, const double* volume, double* moved);
    // Lower bound, >= 0, of the distance of two volumes in the same frame.
    double (*bound)(const double* moved, const double* other);
    rbVec3 (*center)(const double* volume);
    rbVolumeMeasure (*measure)(const double* volume); // L-32; FDH: some microseconds
    // Is the point inside, or at most slack m outside?
    bool (*contains)(const double* volume, rbVec3 point, double slack);
} rbVolumeRow;

const rbVolumeRow* rbGetVolumeRow(rbVolumeType type);

#endif
