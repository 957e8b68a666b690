// The box along the principal axes of the hull (L-36, L-52), and two bounds of the distance between
// boxes: by separating axes, and exact by region codes (obb_regions.c).
//
// The bound of row "obb" is the largest of 2 + 9 numbers: the distance of each box to the smallest
// box about the other one along its own axes, which is sharper than its three gaps one by one, and
// the gaps along the products of two edges.
#include "base/math/matrix3.h"
#include "lab/bounds/volume_rows.h"

// Added to the squared sine of the angle between two edges: lowers the bound by a negligible amount
// and makes a test for parallel edges, whose product is 0, unnecessary.
#define EDGE_SINE_SQUARED 1e-12

static rbMat3 axesOf(const double* volume)
{
    const double* axes = volume + RB_OBB_AXES;
    return (rbMat3){rbLoad3(axes), rbLoad3(axes + 3), rbLoad3(axes + 6)};
}

static void storeBox(double* volume, rbVec3 center, rbMat3 axes, rbVec3 half)
{
    rbStore3(volume + RB_OBB_CENTER, center);
    rbStore3(volume + RB_OBB_AXES, axes.cx);
    rbStore3(volume + RB_OBB_AXES + 3, axes.cy);
    rbStore3(volume + RB_OBB_AXES + 6, axes.cz);
    rbStore3(volume + RB_OBB_HALF, half);
}

void rbFitObb(const rbVec3* points, int count, rbMat3 axes, double* volume)
{
    RB_ASSERT(points != NULL);
    RB_ASSERT(count >= 1);
    // heights relative to a point of the set: sets far from the origin lose no accuracy
    rbVec3 base = points[0];
    rbVec3 lower = RB_VEC3_ZERO, upper = RB_VEC3_ZERO;
    for (int i = 1; i < count; i++) {
        rbVec3 heights = rbMulMtV(axes, rbSub(points[i], base));
        lower = rbMin3(lower, heights);
        upper = rbMax3(upper, heights);
    }
    rbVec3 middle = rbScale(0.5, rbAdd(lower, upper));
    rbVec3 center = rbAdd(base, rbMulMV(axes, middle));
    // again from the rounded center, so that nothing protrudes
    rbVec3 half = RB_VEC3_ZERO;
    for (int i = 0; i < count; i++) {
        half = rbMax3(half, rbAbs3(rbMulMtV(axes, rbSub(points[i], center))));
    }
    // products have an error of a few units of the size, and so does the orthonormality of the axes
    double slack = 16.0 * DBL_EPSILON * (half.x + half.y + half.z);
    RB_ASSERT(isfinite(slack));
    storeBox(volume, center, axes, rbAdd(half, rbMakeVec3(slack, slack, slack)));
}

// Volume of a box, modified so that flat boxes can be compared.
static double validateBox(const double* volume)
{
    rbVec3 half = rbLoad3(volume + RB_OBB_HALF);
    double added = 1e-6 * (half.x + half.y + half.z);
    return (half.x + added) * (half.y + added) * (half.z + added);
}

static void fitObb(const rbVec3* points, int count, double* volume)
{
    double along[RB_OBB_SIZE];
    rbFitObb(points, count, rbFindHullAxes(points, count), volume);
    // principal axes of cubes and the like are arbitrary
    rbFitObb(points, count, RB_MAT3_IDENTITY, along);
    if (validateBox(along) <= validateBox(volume)) {
        for (int i = 0; i < RB_OBB_SIZE; i++) {
            volume[i] = along[i];
        }
    }
}

void rbMoveObb(const rbVolumeMotion* motion, const double* volume, double* moved)
{
    RB_ASSERT(moved != volume);
    rbMat3 axes = rbMulMM(motion->rotation, axesOf(volume));
    rbVec3 center = rbMulMV(motion->rotation, rbLoad3(volume + RB_OBB_CENTER));
    rbVec3 half = rbLoad3(volume + RB_OBB_HALF);
    double slack = motion->slack;
    storeBox(moved, rbAdd(center, motion->translation), axes,
             rbAdd(half, rbMakeVec3(slack, slack, slack)));
}

static double sum3(rbVec3 v)
{
    return v.x + v.y + v.z;
}

static inline rbObbPair makePair(const double* a, const double* b)
{
    rbMat3 axesA = axesOf(a), axesB = axesOf(b);
    rbVec3 d = rbSub(rbLoad3(a + RB_OBB_CENTER), rbLoad3(b + RB_OBB_CENTER));
    rbObbPair pair;
    pair.halfA = rbLoad3(a + RB_OBB_HALF);
    pair.halfB = rbLoad3(b + RB_OBB_HALF);
    pair.axesA.cx = rbMulMtV(axesB, axesA.cx);
    pair.axesA.cy = rbMulMtV(axesB, axesA.cy);
    pair.axesA.cz = rbMulMtV(axesB, axesA.cz);
    pair.p = rbMulMtV(axesB, d);
    pair.rounding = 16.0 * DBL_EPSILON * (sum3(rbAbs3(d)) + sum3(pair.halfA) + sum3(pair.halfB));
    return pair;
}

rbObbPair rbMakeObbPair(const double* a, const double* b)
{
    return makePair(a, b);
}

static inline double squaredGap(double offset, double reach)
{
    double gap = fabs(offset) - reach;
    double clamped = rbClampGap(gap);
    return clamped * clamped;
}

static double squaredGaps(rbVec3 offset, rbVec3 reach)
{
    return squaredGap(offset.x, reach.x) + squaredGap(offset.y, reach.y) +
           squaredGap(offset.z, reach.z);
}

// A squared gap as a fraction, so that all are compared without division.
typedef struct SquaredGap {
    double over, under; // m^2 times 1; under > 0
} SquaredGap;

// The larger of the best gap and one along an axis of the squared length given.
static inline SquaredGap chooseGap(SquaredGap best, double gap, double square)
{
    double clamped = rbClampGap(gap);
    double over = clamped * clamped, under = square + EDGE_SINE_SQUARED;
    bool isBetter = over * best.under > best.over * under;
    return (SquaredGap){isBetter ? over : best.over, isBetter ? under : best.under};
}

// Gaps along the products of the axes of B and one axis of A, which is c = (C_1j, C_2j, C_3j) in
// the frame of B. The radii of A along them are given. e_1 x c = (0, -c3, c2) and so on.
static inline SquaredGap raiseByEdges(SquaredGap best, const rbObbPair* pair, rbVec3 c,
                                      rbVec3 radiusA)
{
    rbVec3 p = pair->p, h = pair->halfB, m = rbAbs3(c);
    double xx = c.x * c.x, yy = c.y * c.y, zz = c.z * c.z, rounding = pair->rounding;
    double x = fabs(p.z * c.y - p.y * c.z) - (h.y * m.z + h.z * m.y) - (radiusA.x + rounding);
    double y = fabs(p.x * c.z - p.z * c.x) - (h.z * m.x + h.x * m.z) - (radiusA.y + rounding);
    double z = fabs(p.y * c.x - p.x * c.y) - (h.x * m.y + h.y * m.x) - (radiusA.z + rounding);
    best = chooseGap(best, x, yy + zz);
    best = chooseGap(best, y, zz + xx);
    return chooseGap(best, z, xx + yy);
}

double rbBoundObbs(const double* a, const double* b)
{
    rbObbPair pair = makePair(a, b);
    rbMat3 c = pair.axesA;
    rbMat3 m = {rbAbs3(c.cx), rbAbs3(c.cy), rbAbs3(c.cz)};
    rbVec3 halfA = pair.halfA, halfB = pair.halfB;
    double fromB = squaredGaps(pair.p, rbAdd(halfB, rbMulMV(m, halfA)));
    double fromA = squaredGaps(rbMulMtV(c, pair.p), rbAdd(halfA, rbMulMtV(m, halfB)));
    SquaredGap best = {fromA > fromB ? fromA : fromB, 1.0};
    // b_i x a_j has |b_i . a_k| of the axes k of A other than j
    rbVec3 radii = rbAddScaled(rbScale(halfA.y, m.cz), halfA.z, m.cy);
    best = raiseByEdges(best, &pair, c.cx, radii);
    radii = rbAddScaled(rbScale(halfA.z, m.cx), halfA.x, m.cz);
    best = raiseByEdges(best, &pair, c.cy, radii);
    radii = rbAddScaled(rbScale(halfA.x, m.cy), halfA.y, m.cx);
    best = raiseByEdges(best, &pair, c.cz, radii);
    double gap = sqrt(best.over / best.under) * (1.0 - 8.0 * DBL_EPSILON) - 2.0 * pair.rounding;
    return gap > 0.0 ? gap : 0.0;
}

static double boundByRegions(const double* moved, const double* other)
{
    rbObbPair pair = makePair(moved, other);
    double gap = rbMeasureObbGap(&pair) * (1.0 - 8.0 * DBL_EPSILON) - 4.0 * pair.rounding;
    return gap > 0.0 ? gap : 0.0;
}

static rbVec3 centerOfObb(const double* volume)
{
    return rbLoad3(volume + RB_OBB_CENTER);
}

static rbVolumeMeasure measureObb(const double* volume)
{
    return rbMeasureBox(rbLoad3(volume + RB_OBB_HALF));
}

static bool obbContains(const double* volume, rbVec3 point, double slack)
{
    rbVec3 x = rbSub(point, rbLoad3(volume + RB_OBB_CENTER));
    rbVec3 offset = rbAbs3(rbMulMtV(axesOf(volume), x));
    rbVec3 half = rbLoad3(volume + RB_OBB_HALF);
    return offset.x <= half.x + slack && offset.y <= half.y + slack && offset.z <= half.z + slack;
}

const rbVolumeRow rbVolumeRowObb = {
    .name = "obb",
    .size = RB_OBB_SIZE,
    .fit = fitObb,
    .prepare = rbPrepareVolumeMotion,
    .move = rbMoveObb,
    .bound = rbBoundObbs,
    .center = centerOfObb,
    .measure = measureObb,
    .contains = obbContains,
};

const rbVolumeRow rbVolumeRowObbRegions = {
    .name = "obb-regions",
    .size = RB_OBB_SIZE,
    .fit = fitObb,
    .prepare = rbPrepareVolumeMotion,
    .move = rbMoveObb,
    .bound = boundByRegions,
    .center = centerOfObb,
    .measure = measureObb,
    .contains = obbContains,
};
