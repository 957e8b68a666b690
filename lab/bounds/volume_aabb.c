// The box along the axes of the body (L-39, L-60, L-61): center and half extents, so that a motion
// costs two products with matrices and no comparison.
#include "lab/bounds/volume_rows.h"

enum {
    CENTER = 0,
    HALF = 3,
    SIZE = 6
};

static void fitAabb(const rbVec3* points, int count, double* volume)
{
    rbBounds bounds = rbFindPointBounds(points, count);
    RB_ASSERT(rbIsFinite3(bounds.lower) && rbIsFinite3(bounds.upper));
    rbVec3 center = rbAddScaled(rbScale(0.5, bounds.lower), 0.5, bounds.upper);
    // from the rounded center, so that nothing protrudes; the differences have an error of half a
    // unit
    rbVec3 half = rbMax3(rbSub(bounds.upper, center), rbSub(center, bounds.lower));
    rbStore3(volume + CENTER, center);
    rbStore3(volume + HALF, rbScale(1.0 + 2.0 * DBL_EPSILON, half));
}

static void moveAabb(const rbVolumeMotion* motion, const double* volume, double* moved)
{
    RB_ASSERT(moved != volume);
    rbVec3 center = rbMulMV(motion->rotation, rbLoad3(volume + CENTER));
    rbVec3 half = rbMulMV(motion->absRotation, rbLoad3(volume + HALF));
    double slack = motion->slack;
    rbStore3(moved + CENTER, rbAdd(center, motion->translation));
    rbStore3(moved + HALF, rbAdd(half, rbMakeVec3(slack, slack, slack)));
}

static inline double squaredGap(double offset, double reach)
{
    double gap = fabs(offset) - reach;
    double clamped = rbClampGap(gap);
    return clamped * clamped;
}

static double boundAabbs(const double* moved, const double* other)
{
    double squared = squaredGap(moved[0] - other[0], moved[3] + other[3]) +
                     squaredGap(moved[1] - other[1], moved[4] + other[4]) +
                     squaredGap(moved[2] - other[2], moved[5] + other[5]);
    return sqrt(squared) * (1.0 - 8.0 * DBL_EPSILON);
}

static rbVec3 centerOfAabb(const double* volume)
{
    return rbLoad3(volume + CENTER);
}

static rbVolumeMeasure measureAabb(const double* volume)
{
    return rbMeasureBox(rbLoad3(volume + HALF));
}

static bool aabbContains(const double* volume, rbVec3 point, double slack)
{
    rbVec3 offset = rbAbs3(rbSub(point, rbLoad3(volume + CENTER)));
    rbVec3 half = rbLoad3(volume + HALF);
    return offset.x <= half.x + slack && offset.y <= half.y + slack && offset.z <= half.z + slack;
}

const rbVolumeRow rbVolumeRowAabb = {
    .name = "aabb",
    .size = SIZE,
    .fit = fitAabb,
    .prepare = rbPrepareVolumeMotion,
    .move = moveAabb,
    .bound = boundAabbs,
    .center = centerOfAabb,
    .measure = measureAabb,
    .contains = aabbContains,
};
