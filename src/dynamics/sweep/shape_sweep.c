// The exact first contact of two shapes, one of which is translated: the reference for predictions
// by rays, and the shape cast of worlds.
//
// One row for every kind of pair: spheres in closed form, spheres and triangles,
// triangles and triangles, planes by the support of the other, compounds by their parts, and
// the rest by Newton's method on the distance. The distance of convex bodies is a convex function
// of the displacement, and its slope is the component of the step along the normal: every tangent
// reaches zero before the contact or at it, so the steps never overshoot it and converge
// quadratically.
#include "dynamics/sweep/shape_sweep.h"

#include "collision/convex/convex.h"
#include "collision/geometry/shape_ops.h"
#include "dynamics/sweep/sweep.h"

#include <rattleback/collision.h>

#include <float.h>

// Fraction of the size by which an overlap at the start must be deeper than touching: ten times the
// accuracy of depths.
#define TOUCH 1e-10
// Fraction of the size that the general row leaves as a gap.
#define TOLERANCE 1e-10
// Iterations of the general row; each gains a factor of four for a grazing motion.
#define ITERATIONS_MAX 256
// Pairs of triangles of hulls above which a guess by distances shortens the search, and the margin
// after it, as a fraction of the size, in which the contact is searched first.
#define PAIRS_SHORT 2500
#define AFTER_GUESS 1e-7

// The query for a pair of parts, in the frame of B.
typedef struct Pair {
    const rbGeometry* a;
    const rbGeometry* b;
    rbTransform pose;
    rbVec3 step;      // m, not zero
    double limit;     // fraction beyond which contacts do not count
    double tolerance; // m
    double touch;     // m
    bool isSwapped;   // A of the caller is B here
    void* scratch;
} Pair;

// Kinds of shapes that have their own rows.
typedef enum Kind {
    KIND_BALL,
    KIND_TRIANGLES,
    KIND_PLANE,
    KIND_COMPOUND,
    KIND_OTHER,
    KIND_COUNT
} Kind;

static Kind getKind(const rbGeometry* geometry)
{
    static const Kind kinds[RB_FAMILY_COUNT] = {
        [RB_FAMILY_BALL] = KIND_BALL,      [RB_FAMILY_ROD] = KIND_OTHER,
        [RB_FAMILY_BOX] = KIND_TRIANGLES,  [RB_FAMILY_SMOOTH] = KIND_OTHER,
        [RB_FAMILY_HULL] = KIND_TRIANGLES, [RB_FAMILY_TRIANGLES] = KIND_TRIANGLES,
        [RB_FAMILY_PLANE] = KIND_PLANE,    [RB_FAMILY_COMPOUND] = KIND_COMPOUND,
    };
    return kinds[rbGeometry_GetFamily(geometry)];
}

typedef rbStatus SweepFn(const Pair* pair, rbShapeSweep* sweep, rbError* error);

static rbStatus sweepPair(const Pair* pair, rbShapeSweep* sweep, rbError* error);
static SweepFn sweepByDistance;

// The same pair with the roles exchanged: B moves against A, and the result is converted back.
static rbStatus sweepSwapped(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    Pair swapped = *pair;
    swapped.a = pair->b;
    swapped.b = pair->a;
    swapped.pose = rbInvertTransform(pair->pose);
    swapped.isSwapped = !pair->isSwapped;
    swapped.step = rbNeg(rbInvRotate(pair->pose.q, pair->step));
    rbStatus status = sweepPair(&swapped, sweep, error);
    if (status == RB_STATUS_OK && sweep->isHit) {
        rbVec3 point = rbTransformPoint(pair->pose, sweep->point);
        sweep->point = rbAddScaled(point, sweep->fraction, pair->step);
        sweep->normal = rbNeg(rbRotate(pair->pose.q, sweep->normal));
    }
    return status;
}

static rbSweepSearch startSearch(const Pair* pair)
{
    rbVec3 w = pair->step;
    double scale = pair->a->radius + pair->b->radius + rbLength(pair->pose.p) + rbLength(w);
    rbSweepSearch search = {
        .step = w,
        .inverse = rbMakeVec3(1.0 / w.x, 1.0 / w.y, 1.0 / w.z),
        .length = rbLength(w),
        .slack = 16.0 * DBL_EPSILON * scale,
        .touch = pair->touch,
        .limit = pair->limit,
        .isSwapped = pair->isSwapped,
        .rank = RB_RANK_NONE,
    };
    rbSweepSearch_SetHint(&search, rbNeg(rbNormalize(w)));
    return search;
}

static void finishSearch(const rbSweepSearch* search, rbShapeSweep* sweep)
{
    *sweep = (rbShapeSweep){.isExact = true};
    if (search->isHit) {
        sweep->isHit = true;
        sweep->fraction = search->limit;
        sweep->point = search->point;
        sweep->normal = search->normal;
    }
}

//
static rbStatus sweepBalls(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    (void)error;
    double radiusB = pair->b->data.sphere.radius;
    double radius = pair->a->data.sphere.radius + radiusB;
    double t = rbSweepFreeSpheres(pair->pose.p, pair->step, radius);
    *sweep = (rbShapeSweep){.isExact = true};
    if (t <= pair->limit) {
        sweep->isHit = true;
        sweep->fraction = t;
        sweep->normal = rbNormalize(rbAddScaled(pair->pose.p, t, pair->step));
        sweep->point = rbScale(radiusB, sweep->normal);
    }
    return RB_STATUS_OK;
}

//
static rbStatus sweepBallTriangles(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    (void)error;
    rbSweepSide b;
    (void)rbSweepSide_Init(&b, pair->b);
    rbSweepSearch search = startSearch(pair);
    rbSweepBall(&search, pair->pose.p, pair->a->data.sphere.radius, &b);
    finishSearch(&search, sweep);
    return RB_STATUS_OK;
}

//
static rbStatus sweepTriangles(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    (void)error;
    rbSweepSide a;
    rbSweepSide b;
    (void)rbSweepSide_Init(&a, pair->a);
    (void)rbSweepSide_Init(&b, pair->b);
    if (a.tree != NULL && b.tree == NULL) {
        return sweepSwapped(pair, sweep, error); // the short list is the outer loop
    }
    rbSweepSearch search = startSearch(pair);
    rbShapeSweep guess;
    bool isLong = b.tree == NULL && (long long)a.count * b.count > PAIRS_SHORT;
    if (isLong && sweepByDistance(pair, &guess, NULL) == RB_STATUS_OK) {
        if (!guess.isHit) {
            finishSearch(&search, sweep);
            return RB_STATUS_OK;
        }
        // the exact contact is slightly later, and along this normal
        rbSweepSearch_SetHint(&search, guess.normal);
        double margin = AFTER_GUESS * (pair->a->radius + pair->b->radius);
        if (search.closing > 0.0) {
            search.limit = rbMinOf(pair->limit, guess.fraction + margin / search.closing);
            rbSweepSides(&search, &a, pair->pose, &b);
        }
    }
    if (!search.isHit) {
        search.limit = pair->limit;
        rbSweepSides(&search, &a, pair->pose, &b);
    }
    finishSearch(&search, sweep);
    return RB_STATUS_OK;
}

// Any shape onto a plane: uses its lowest point.
static rbStatus sweepOntoPlane(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    rbVec3 normal = pair->b->data.plane.normal;
    *sweep = (rbShapeSweep){.isExact = true};
    if (!pair->a->isBounded) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "two planes cannot be swept: neither has an end");
    }
    rbVec3 lowest = rbGeometry_GetSupport(pair->a, rbNeg(rbInvRotate(pair->pose.q, normal)));
    rbVec3 start = rbTransformPoint(pair->pose, lowest);
    double height = rbDot(start, normal) - pair->b->data.plane.offset;
    double speed = -rbDot(pair->step, normal);
    double t = rbMaxOf(height, 0.0) / speed;
    if (speed > 0.0 && t <= pair->limit) {
        rbVec3 point = rbAddScaled(start, t, pair->step);
        double rest = rbDot(point, normal) - pair->b->data.plane.offset;
        *sweep = (rbShapeSweep){.isHit = true,
                                .isExact = true,
                                .fraction = t,
                                .point = rbAddScaled(point, -rest, normal),
                                .normal = normal};
    }
    return RB_STATUS_OK;
}

// Do the bounding spheres about the origins of two shapes meet?
static bool isInReach(const Pair* pair)
{
    if (!pair->a->isBounded || !pair->b->isBounded) {
        return true;
    }
    rbVec3 p = pair->pose.p;
    rbVec3 w = pair->step;
    double t = -rbDot(p, w) / rbLengthSquared(w);
    t = t > 0.0 ? rbMinOf(t, 1.0) : 0.0;
    double reach = (pair->a->radius + pair->b->radius) * (1.0 + 1e-9);
    return rbLength(rbAddScaled(p, t, w)) <= reach + 1e-12 * (rbLength(p) + rbLength(w));
}

// The part of B that A, of any type, hits first.
static rbStatus sweepOntoCompound(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    *sweep = (rbShapeSweep){.isExact = true};
    bool isExact = true;
    Pair part = *pair;
    for (int i = 0; i < pair->b->childCount; ++i) {
        const rbCompoundChild* child = &pair->b->children[i];
        part.b = child->geometry;
        part.pose = rbInvMulTransforms(child->transform, pair->pose);
        part.step = rbInvRotate(child->transform.q, pair->step);
        if (!isInReach(&part)) {
            continue;
        }
        rbShapeSweep found;
        rbStatus status = sweepPair(&part, &found, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        isExact = isExact && found.isExact;
        if (found.isHit && (!sweep->isHit || found.fraction < sweep->fraction)) {
            *sweep = found;
            sweep->point = rbTransformPoint(child->transform, found.point);
            sweep->normal = rbRotate(child->transform.q, found.normal);
            part.limit = found.fraction;
        }
    }
    sweep->isExact = isExact;
    return RB_STATUS_OK;
}

// Signed distance after a fraction of the step; the normal points out of B.
static rbStatus measure(const Pair* pair, double fraction, rbSeparationCache* cache,
                        rbSeparation* separation, rbError* error)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = pair->b;
    input.geometryB = pair->a;
    input.transformBtoA = pair->pose;
    input.transformBtoA.p = rbAddScaled(pair->pose.p, fraction, pair->step);
    return rbMeasureSeparation(&input, cache, pair->scratch, separation, error);
}

// Newton's method on the distance of two convex bodies.
static rbStatus sweepByDistance(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    *sweep = (rbShapeSweep){.isExact = false};
    rbSeparationCache cache = {0};
    rbVec3 normal = RB_VEC3_ZERO;
    double t = 0.0;
    for (int i = 0; i < ITERATIONS_MAX; ++i) {
        rbSeparation gap;
        rbStatus status = measure(pair, t, &cache, &gap, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        double closing = -rbDot(gap.normal, pair->step);
        bool isMeeting = gap.distance <= pair->tolerance;
        if (closing <= 0.0 && !(isMeeting && i > 0)) {
            return RB_STATUS_OK; // they separate
        }
        // in contact, rounding may flip the normal: keep the last one
        normal = isMeeting && i > 0 ? normal : gap.normal;
        if (isMeeting) {
            *sweep =
                (rbShapeSweep){.isHit = true, .fraction = t, .point = gap.pointA, .normal = normal};
            return RB_STATUS_OK;
        }
        t += gap.distance / closing;
        if (t > pair->limit) {
            return RB_STATUS_OK;
        }
    }
    return rbError_Set(
        error, RB_STATUS_NUMERICAL,
        "the sweep did not reach a distance of %g m in %d measurements; use a larger tolerance",
        pair->tolerance, ITERATIONS_MAX);
}

// A round convex body onto a shape made of triangles.
static rbStatus sweepOntoTriangles(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    rbSweepSide b;
    (void)rbSweepSide_Init(&b, pair->b);
    if (b.tree == NULL) {
        return sweepByDistance(pair, sweep, error);
    }
    rbConvex convex;
    (void)rbConvex_Make(pair->a, 0.0, &convex);
    rbSweepSearch search = startSearch(pair);
    rbSweepConvex(&search, &convex, pair->pose, pair->tolerance, &b);
    finishSearch(&search, sweep);
    sweep->isExact = false;
    return RB_STATUS_OK;
}

// Rows by kinds of A and B.
static SweepFn* const rows[KIND_COUNT][KIND_COUNT] = {
    [KIND_BALL] = {sweepBalls, sweepBallTriangles, sweepOntoPlane, sweepOntoCompound,
                   sweepByDistance},
    [KIND_TRIANGLES] = {sweepSwapped, sweepTriangles, sweepOntoPlane, sweepOntoCompound,
                        sweepSwapped},
    [KIND_PLANE] = {sweepSwapped, sweepSwapped, sweepOntoPlane, sweepOntoCompound, sweepSwapped},
    [KIND_COMPOUND] = {sweepSwapped, sweepSwapped, sweepSwapped, sweepOntoCompound, sweepSwapped},
    [KIND_OTHER] = {sweepByDistance, sweepOntoTriangles, sweepOntoPlane, sweepOntoCompound,
                    sweepByDistance},
};

// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static rbStatus sweepPair(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    return rows[getKind(pair->a)][getKind(pair->b)](pair, sweep, error);
}

static rbStatus checkInput(rbTransform poseA, rbVec3 step, double tolerance, rbError* error)
{
    double length = sqrt(rbDotQuat(poseA.q, poseA.q));
    if (!rbIsFinite3(poseA.p) || !(fabs(length - 1.0) <= 1e-6)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the pose of the swept shape must be finite with a quaternion of length 1, not %g",
            length);
    }
    if (!rbIsFinite3(step) || rbLargestComponent(step) > RB_LENGTH_MAX) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the step of the sweep is (%g, %g, %g) m: its components must be finite and at most %g",
            step.x, step.y, step.z, RB_LENGTH_MAX);
    }
    if (!(tolerance >= 0.0) || isinf(tolerance)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the tolerance of the sweep is %g m: it must be finite and at least 0",
                           tolerance);
    }
    return RB_STATUS_OK;
}

// NOLINTNEXTLINE(readability-function-size): two bodies and a motion, as rbMeasureSeparation
rbStatus rbSweepShapes(const rbGeometry* geometryA, rbTransform poseA, rbVec3 step,
                       const rbGeometry* geometryB, double tolerance, void* scratch,
                       rbShapeSweep* sweep, rbError* error)
{
    RB_ASSERT(geometryA != NULL && geometryB != NULL && scratch != NULL && sweep != NULL);
    *sweep = (rbShapeSweep){0};
    rbStatus status = checkInput(poseA, step, tolerance, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    double size = (geometryA->isBounded ? geometryA->radius : 0.0) +
                  (geometryB->isBounded ? geometryB->radius : 0.0);
    Pair pair = {
        .a = geometryA,
        .b = geometryB,
        .pose = poseA,
        .step = step,
        .limit = 1.0,
        .tolerance = tolerance > 0.0 ? tolerance : TOLERANCE * size,
        .touch = TOUCH * size,
        .scratch = scratch,
    };
    bool isStill = step.x == 0.0 && step.y == 0.0 && step.z == 0.0;
    sweep->isExact = true;
    if (!isStill && !isInReach(&pair)) {
        return RB_STATUS_OK;
    }
    rbSeparation gap;
    status = measure(&pair, 0.0, NULL, &gap, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (gap.distance < -pair.touch) {
        *sweep = (rbShapeSweep){.isHit = true,
                                .isInside = true,
                                .isExact = true,
                                .point = gap.pointA,
                                .normal = gap.normal};
        return RB_STATUS_OK;
    }
    return isStill ? RB_STATUS_OK : sweepPair(&pair, sweep, error);
}
