// Bodies whose hulls are not separated, but which have convex parts: every pair of parts has its
// own direction. They meet when the first pair meets.
//
// A part moves with its body: it has the motion of the body, its own pose, and the reach of its own
// core about the center of mass of the body.
#include "dynamics/sweep/sweep_parts.h"

#include "collision/convex/gjk.h"
#include "collision/geometry/shape_ops.h"
#include "dynamics/sweep/sweep_core.h"

// More pairs of parts are not examined: they would cost more than another measurement.
#define PART_PAIRS_MAX 64
// Of the distance of parts; only its direction matters, and any is safe.
#define PART_TOLERANCE 1e-6

static int countParts(const rbSweepBody* body)
{
    return body->geometry->type == RB_SHAPE_COMPOUND ? body->geometry->childCount : 1;
}

static rbSweepBody makePart(const rbSweepBody* body, int index)
{
    if (body->geometry->type != RB_SHAPE_COMPOUND) {
        return *body;
    }
    const rbCompoundChild* child = &body->geometry->children[index];
    rbSweepBody part = *body;
    part.geometry = child->geometry;
    part.pose = rbMulTransforms(body->pose, child->transform);
    rbVec3 center = rbInvTransformPoint(part.pose, body->motion.center);
    // poses of parts are products
    double rounding =
        16.0 * DBL_EPSILON *
        (rbDistance(body->motion.center, body->pose.p) + rbLength(child->transform.p));
    part.radius = rbMinOf(body->radius, rbGetCoreReachQuick(child->geometry, center) + rounding);
    part.rounding += rounding;
    return part;
}

// A lower bound of the gap of two parts by the balls about the origins of their geometries.
static double gapOfBalls(const rbSweepBody* a, const rbSweepBody* b)
{
    double radii = a->geometry->radius + b->geometry->radius + a->rounding + b->rounding;
    double distance = rbDistance(a->pose.p, b->pose.p);
    return distance - radii - 16.0 * DBL_EPSILON * (distance + fabs(radii));
}

// The result of GJK for two convex parts; otherwise the result for the whole bodies.
static rbSweepGap measureParts(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* whole)
{
    rbConvex convexA, convexB;
    if (!rbConvex_Make(a->geometry, 0.0, &convexA) || !rbConvex_Make(b->geometry, 0.0, &convexB)) {
        return *whole;
    }
    rbGjkSettings settings = rbDefaultGjkSettings();
    settings.relativeTolerance = PART_TOLERANCE;
    rbCso cso = rbCso_Make(&convexA, &convexB, rbInvMulTransforms(a->pose, b->pose));
    rbGjkResult result = rbGjk_Distance(&cso, &settings, NULL);
    double radii = convexA.radius + convexB.radius + a->rounding + b->rounding;
    double lower = result.lower - radii - 16.0 * DBL_EPSILON * (radii + cso.scale);
    return (rbSweepGap){rbMaxOf(whole->lower, lower), rbRotate(a->pose.q, result.normal)};
}

// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
double rbBoundParts(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* gap,
                    rbVec3 turning, double level)
{
    RB_ASSERT(gap->lower > level);
    int countA = countParts(a);
    int countB = countParts(b);
    RB_ASSERT(a->geometry->type == RB_SHAPE_COMPOUND || b->geometry->type == RB_SHAPE_COMPOUND);
    if (countA > PART_PAIRS_MAX || countB > PART_PAIRS_MAX / countA) {
        return 0.0;
    }
    double least = INFINITY;
    for (int i = 0; i < countA; ++i) {
        rbSweepBody partA = makePart(a, i);
        for (int j = 0; j < countB; ++j) {
            rbSweepBody partB = makePart(b, j);
            double known = rbMaxOf(gapOfBalls(&partA, &partB), gap->lower);
            if (rbBoundByPaths(&partA, &partB, known, level) >= least) {
                continue; // far
            }
            rbSweepGap own = measureParts(&partA, &partB, gap);
            own.lower = rbMaxOf(own.lower, known);
            least = rbMinOf(least, rbBoundMeetingTurning(&partA, &partB, &own, turning, level));
        }
    }
    return least;
}
