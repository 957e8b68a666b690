// Bounding volumes as rows of a table: fitting, moving, lower bound of the distance, quality.
//
// A volume is a run of doubles interpreted only by its row. All bounds are safe: they are lowered,
// and the volumes enlarged, by the possible rounding error. All volumes of a hierarchy, and of both
// hierarchies of a query, are of one kind (L-48).
#pragma once

#include <rattleback/lab_distance.h>

// Doubles of the largest volume.
#define RB_VOLUME_SIZE_MAX 32
#define RB_FDH_DIRECTIONS_MAX 26
// Terms of one pair of directions: at most 5 for generic rotations, a few more where a rotated
// direction lies in the plane of two others. Terms that do not fit are left out: the bound stays
// true.
#define RB_FDH_TERMS_MAX 8

// A term of the dual of max c . x over an FDH: the three directions of a basis and their weights.
typedef struct rbFdhTerm {
    int direction[3];
    double weight[3]; // >= 0
} rbFdhTerm;

// The data that the rows need about a relative motion x -> R x + t from the frame of one body
// (whose volumes are moved) to that of the other: computed once per query (L-50).
typedef struct rbVolumeMotion {
    rbMat3 rotation;
    rbMat3 absRotation; // |R_ij|, enlarged by the rounding error
    rbVec3 translation;
    double size;  // m, as given to prepare
    double slack; // m, exceeds the rounding error of a moved point and of a bound; moved volumes
                  // are enlarged by it
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
    // A volume enclosing finite points (count >= 1), the smallest of its kind or nearly. Equal
    // points in equal order give equal bits. May allocate.
    void (*fit)(const rbVec3* points, int count, double* volume);
    // transform: quaternion of unit length (any deviation adds to slack). size: m, no coordinate of
    // a moved volume or of the other body exceeds it in magnitude.
    void (*prepare)(rbTransform transform, double size, rbVolumeMotion* motion);
    // A volume enclosing the moved one, not the smallest. moved must not alias volume.
    void (*move)(const rbVolumeMotion* motion, const double* volume, double* moved);
    // Lower bound, >= 0, of the distance between two volumes in the same frame.
    double (*bound)(const double* moved, const double* other);
    rbVec3 (*center)(const double* volume);
    rbVolumeMeasure (*measure)(const double* volume); // L-32; FDH: takes a few microseconds
    // Is the point inside, or at most slack m outside?
    bool (*contains)(const double* volume, rbVec3 point, double slack);
} rbVolumeRow;

const rbVolumeRow* rbGetVolumeRow(rbVolumeType type);
