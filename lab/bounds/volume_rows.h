// Functions that the rows of the volume table share with each other and with their tests.
#pragma once

#include "lab/bounds/volume.h"

#include <float.h>

extern const rbVolumeRow rbVolumeRowSphere;
extern const rbVolumeRow rbVolumeRowAabb;
extern const rbVolumeRow rbVolumeRowObb;
extern const rbVolumeRow rbVolumeRowObbRegions;
extern const rbVolumeRow rbVolumeRowFdh14;
extern const rbVolumeRow rbVolumeRowFdh18;
extern const rbVolumeRow rbVolumeRowFdh26;
extern const rbVolumeRow rbVolumeRowRss;

static inline rbVec3 rbLoad3(const double* values)
{
    return rbMakeVec3(values[0], values[1], values[2]);
}

// Of a box of the given half sizes.
static inline rbVolumeMeasure rbMeasureBox(rbVec3 half)
{
    double faces = half.x * half.y + half.y * half.z + half.z * half.x;
    rbVolumeMeasure measure = {8.0 * half.x * half.y * half.z, 8.0 * faces, 2.0 * rbLength(half)};
    return measure;
}

static inline void rbStore3(double* values, rbVec3 v)
{
    values[0] = v.x;
    values[1] = v.y;
    values[2] = v.z;
}

// fmin and fmax are exact and one instruction; comparisons become branches, and it is unpredictable
// which gap is larger. The gap between two intervals or spheres, 0 if they touch:
static inline double rbClampGap(double gap)
{
    return fmax(gap, 0.0);
}

// Rotation, translation and slack: all that rows without their own directions need.
void rbPrepareVolumeMotion(rbTransform transform, double size, rbVolumeMotion* motion);

// Box of points; count >= 1.
rbBounds rbFindPointBounds(const rbVec3* points, int count);

// Principal axes of the surface of the convex hull of points, orthonormal columns (L-36).
rbMat3 rbFindHullAxes(const rbVec3* points, int count);

// The smallest sphere, and how many points were tested for containment (NULL: not wanted; U-11).
void rbFitSphere(const rbVec3* points, int count, double* volume, long long* tests);

// ---------------------------------------------------------------------------------- oriented boxes

// Layout of an oriented box: center, three axes, half extents.
enum {
    RB_OBB_CENTER = 0,
    RB_OBB_AXES = 3,
    RB_OBB_HALF = 12,
    RB_OBB_SIZE = 15
};

// Two boxes seen from the second one: p = the center of the first one, axes[i].j = b_i . a_j.
typedef struct rbObbPair {
    rbVec3 halfA, halfB; // m
    rbMat3 axesA;        // columns: the axes of A in the frame of B
    rbVec3 p;            // m
    double rounding;     // m, rounding error of a projection of these values
} rbObbPair;

rbObbPair rbMakeObbPair(const double* a, const double* b);

// Box of points along given axes.
void rbFitObb(const rbVec3* points, int count, rbMat3 axes, double* volume);
void rbMoveObb(const rbVolumeMotion* motion, const double* volume, double* moved);
// Lower bound by separating axes, and the exact distance by region codes (L-54).
double rbBoundObbs(const double* a, const double* b);
double rbMeasureObbGap(const rbObbPair* pair);

// The regions of a box about the origin that the segment from a to b visits, in order: at most 7
// codes; the parameters of the planes crossed in the order of crossing (at most 6), and the planes:
// plane 2 i is x_i = -half_i, plane 2 i + 1 is x_i = half_i. Bit k of a code is set on the outer
// side of plane k.
typedef struct rbRegionWalk {
    int codes[7];
    int codeCount;
    double crossings[6];
    int planes[6];
    int crossingCount;
} rbRegionWalk;

void rbWalkBoxRegions(rbVec3 a, rbVec3 b, rbVec3 half, rbRegionWalk* walk);

// -------------------------------------------------------------------------- fixed directions hulls

// A set of unit directions in opposite pairs (direction i ^ 1 is opposite to i) that begins with
// the axes, and its bases: triples of directions whose cone contains no other direction. Of two
// opposite bases one is listed.
typedef struct rbFdhSet {
    const rbVec3* directions;
    int count;
    const unsigned char (*bases)[3];
    int baseCount;
} rbFdhSet;

extern const rbFdhSet rbFdhSet14;
extern const rbFdhSet rbFdhSet18;
extern const rbFdhSet rbFdhSet26;

void rbPrepareFdhMotion(const rbFdhSet* set, rbTransform transform, double size,
                        rbVolumeMotion* motion);
void rbFitFdh(const rbFdhSet* set, const rbVec3* points, int count, double* volume);
rbVolumeMeasure rbMeasureFdh(const rbFdhSet* set, const double* volume);
