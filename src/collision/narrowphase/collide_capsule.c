// Capsules: their axes are segments, the radius is subtracted at the end (G-36).
//
// Crossing axes: the obstacle of two segments is flat, so the exit direction is its normal and the
// depth is the sum of the radii; parallel axes have a whole circle of exit directions.
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/box_pair.h"
#include "collision/narrowphase/collide.h"
#include "collision/narrowphase/point_distance.h"
#include "collision/narrowphase/segments.h"

// Gap between two segments along a unit vector.
static double gapOfAxes(const rbSegment* a, const rbSegment* b, rbVec3 n)
{
    return rbDot(n, rbSub(b->center, a->center)) - a->half * fabs(rbDot(n, a->direction)) -
           b->half * fabs(rbDot(n, b->direction));
}

// Handles ends that are level with each other to rounding: a difference along the axes that is only
// rounding tilts the normal of thin capsules. Uses the perpendicular to the axes, if that proves a
// larger gap.
static void levelNormal(const rbSegment* a, const rbSegment* b, rbVec3 between, rbVec3* normal,
                        double* distance)
{
    rbVec3 level = rbAddScaled(between, -rbDot(between, b->direction), b->direction);
    level = rbAddScaled(level, -rbDot(level, a->direction), a->direction);
    rbVec3 n;
    double length = rbSplitLength(level, *normal, &n);
    if (length > 0.0 && gapOfAxes(a, b, n) > gapOfAxes(a, b, *normal)) {
        *normal = n;
        *distance = length;
    }
}

rbSeparation rbCollideCapsuleCapsule(const rbGeometry* a, const rbGeometry* b,
                                     rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_CAPSULE && b->type == RB_SHAPE_CAPSULE);
    double radiusA = a->data.capsule.radius;
    double radiusB = b->data.capsule.radius;
    rbSegment axisA = {RB_VEC3_ZERO, {0.0, 0.0, 1.0}, a->data.capsule.halfLength};
    rbSegment axisB = {transformBtoA.p, rbMatFromQuat(transformBtoA.q).cz,
                       b->data.capsule.halfLength};
    rbSegmentPair pair = rbMeasureSegments(&axisA, &axisB);
    double size = axisA.half + axisB.half;
    double scale = size + radiusA + radiusB + rbLength(transformBtoA.p);
    // perpendicular to an axis at its inner points, more accurately than rounding over the distance
    rbVec3 between = rbSub(pair.pointB, pair.pointA);
    if (fabs(pair.t) < axisB.half) {
        between = rbAddScaled(between, -rbDot(between, axisB.direction), axisB.direction);
    }
    if (fabs(pair.s) < axisA.half) {
        between.z = 0.0;
    }
    // z cross direction of B: perpendicular to both axes
    rbVec3 across;
    double sine = rbSplitLength(rbMakeVec3(-axisB.direction.y, axisB.direction.x, 0.0),
                                rbMakeVec3(1.0, 0.0, 0.0), &across);
    bool isInner = fabs(pair.s) < axisA.half && fabs(pair.t) < axisB.half;
    rbVec3 normal = across;
    double distance = pair.distance;
    // The difference of the points has a direction error of rounding * scale / distance, the cross
    // product one of rounding / sine: the more accurate one is used.
    bool isNoise = distance <= RB_COLLIDE_SLACK * scale;
    if (isNoise || (isInner && sine * scale > distance)) {
        double side = rbDot(across, between);
        normal = side < 0.0 ? rbNeg(across) : across;
        distance = fabs(side);
    } else {
        distance = rbSplitLength(between, across, &normal);
        double along = fmax(fabs(between.z), fabs(rbDot(between, axisB.direction)));
        if (along <= RB_COLLIDE_SLACK * scale && distance < 1e-3 * scale) {
            levelNormal(&axisA, &axisB, between, &normal, &distance);
        }
    }
    rbVec3 pointA = rbAddScaled(pair.pointA, radiusA, normal);
    return rbMakeClosedForm(distance - radiusA - radiusB, normal, pointA, scale);
}

rbSeparation rbCollideCapsulePlane(const rbGeometry* a, const rbGeometry* b,
                                   rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_CAPSULE && b->type == RB_SHAPE_PLANE);
    double radius = a->data.capsule.radius;
    double half = a->data.capsule.halfLength;
    rbVec3 up = rbRotate(transformBtoA.q, b->data.plane.normal);
    rbVec3 end = {0.0, 0.0, -copysign(half, up.z)};
    double height = rbDot(up, rbSub(end, transformBtoA.p)) - b->data.plane.offset;
    double scale = radius + half + rbLength(transformBtoA.p) + fabs(b->data.plane.offset);
    return rbMakeClosedForm(height - radius, rbNeg(up), rbAddScaled(end, -radius, up), scale);
}

rbSeparation rbCollideBoxCapsule(const rbGeometry* a, const rbGeometry* b,
                                 rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_BOX && b->type == RB_SHAPE_CAPSULE);
    rbVec3 axis = {0.0, 0.0, b->data.capsule.halfLength};
    rbBoxPair pair = rbMakeBoxPair(a->data.box.halfExtents, axis, transformBtoA);
    rbCoreSeparation core = rbMeasureBoxes(&pair);
    double radius = b->data.capsule.radius;
    return rbMakeClosedForm(core.distance - radius, core.normal, core.pointA, pair.scale + radius);
}
