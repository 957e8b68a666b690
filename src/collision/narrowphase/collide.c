// Closed forms of spheres, boxes, capsules and planes, and functions shared by all closed forms.
#include "collision/narrowphase/collide.h"

#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/box_pair.h"
#include "collision/narrowphase/point_distance.h"
#include "collision/narrowphase/segments.h"

#include <float.h>

rbSeparation rbMakeClosedForm(double distance, rbVec3 normal, rbVec3 pointA, double scale)
{
    RB_ASSERT(isfinite(distance) && scale >= 0.0);
    RB_ASSERT(fabs(rbLengthSquared(normal) - 1.0) < 1e-10);
    double slack = RB_COLLIDE_SLACK * scale;
    return (rbSeparation){.distance = distance,
                          .lower = distance - slack,
                          .upper = distance + slack,
                          .pointA = pointA,
                          .pointB = rbAddScaled(pointA, distance, normal),
                          .normal = normal,
                          .iterations = 0,
                          .reason = RB_STOP_CLOSED_FORM};
}

rbSeparation rbFlipSeparation(const rbSeparation* separation, rbTransform transformBtoA)
{
    RB_ASSERT(separation->lower <= separation->upper);
    rbSeparation flipped = *separation;
    flipped.pointA = rbInvTransformPoint(transformBtoA, separation->pointB);
    flipped.pointB = rbInvTransformPoint(transformBtoA, separation->pointA);
    flipped.normal = rbNeg(rbInvRotate(transformBtoA.q, separation->normal));
    return flipped;
}

// Planes against bounded convex shapes by support (G-16).
rbSeparation rbCollideConvexPlane(const rbGeometry* a, const rbGeometry* b,
                                  rbTransform transformBtoA)
{
    RB_ASSERT(b->type == RB_SHAPE_PLANE);
    const rbShapeOps* ops = rbGetShapeOps(a->type);
    RB_ASSERT(ops->isConvex && a->isBounded);
    rbVec3 up = rbRotate(transformBtoA.q, b->data.plane.normal);
    double largest = rbLargestComponent(up);
    rbVec3 lowest = ops->support(a, rbScale(-1.0 / largest, up));
    double distance = rbDot(up, rbSub(lowest, transformBtoA.p)) - b->data.plane.offset;
    double scale = rbLength(lowest) + rbLength(transformBtoA.p) + fabs(b->data.plane.offset);
    return rbMakeClosedForm(distance, rbNeg(up), lowest, scale);
}

// Box against box (G-36); the work is in box_pair.c.
rbSeparation rbCollideBoxBox(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_BOX && b->type == RB_SHAPE_BOX);
    rbBoxPair pair = rbMakeBoxPair(a->data.box.halfExtents, b->data.box.halfExtents, transformBtoA);
    rbCoreSeparation core = rbMeasureBoxes(&pair);
    return rbMakeClosedForm(core.distance, core.normal, core.pointA, pair.scale);
}

bool rbCollideBoxesByAxes(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                          rbSeparation* separation)
{
    RB_ASSERT(a->type == RB_SHAPE_BOX && b->type == RB_SHAPE_BOX);
    rbBoxPair pair = rbMakeBoxPair(a->data.box.halfExtents, b->data.box.halfExtents, transformBtoA);
    rbCoreSeparation core;
    if (!rbMeasureBoxesByAxes(&pair, &core)) {
        return false;
    }
    *separation = rbMakeClosedForm(core.distance, core.normal, core.pointA, pair.scale);
    return true;
}

// A sphere against every primitive: the signed distance of its center less its radius. That is also
// the depth when the center is inside, because the obstacle of a convex body and a sphere is the
// body expanded by the radius.

rbSeparation rbCollideSphereSphere(const rbGeometry* a, const rbGeometry* b,
                                   rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_SPHERE && b->type == RB_SHAPE_SPHERE);
    double radiusA = a->data.sphere.radius;
    double radiusB = b->data.sphere.radius;
    rbVec3 normal;
    double between = rbSplitLength(transformBtoA.p, rbMakeVec3(0.0, 0.0, 1.0), &normal);
    return rbMakeClosedForm(between - radiusA - radiusB, normal, rbScale(radiusA, normal),
                            between + radiusA + radiusB);
}

// size: largest distance of a point of B from its origin.
static rbSeparation collidePointed(const rbGeometry* a, const rbGeometry* b,
                                   rbTransform transformBtoA, rbPointDistanceFn* measure,
                                   double size)
{
    RB_ASSERT(a->type == RB_SHAPE_SPHERE);
    double radius = a->data.sphere.radius;
    rbVec3 center = rbNeg(rbInvRotate(transformBtoA.q, transformBtoA.p));
    rbPointDistance found = measure(b, center);
    rbVec3 normal = rbNeg(rbRotate(transformBtoA.q, found.normal));
    return rbMakeClosedForm(found.distance - radius, normal, rbScale(radius, normal),
                            rbLength(center) + radius + size);
}

rbSeparation rbCollideSphereBox(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA)
{
    RB_ASSERT(b->type == RB_SHAPE_BOX);
    double size = rbLength(b->data.box.halfExtents);
    return collidePointed(a, b, transformBtoA, rbMeasurePointBox, size);
}

rbSeparation rbCollideSphereCapsule(const rbGeometry* a, const rbGeometry* b,
                                    rbTransform transformBtoA)
{
    RB_ASSERT(b->type == RB_SHAPE_CAPSULE);
    double size = b->data.capsule.radius + b->data.capsule.halfLength;
    return collidePointed(a, b, transformBtoA, rbMeasurePointCapsule, size);
}

rbSeparation rbCollideSphereCylinder(const rbGeometry* a, const rbGeometry* b,
                                     rbTransform transformBtoA)
{
    RB_ASSERT(b->type == RB_SHAPE_CYLINDER);
    double size = b->data.cylinder.radius + b->data.cylinder.halfLength;
    return collidePointed(a, b, transformBtoA, rbMeasurePointCylinder, size);
}

rbSeparation rbCollideSphereCone(const rbGeometry* a, const rbGeometry* b,
                                 rbTransform transformBtoA)
{
    RB_ASSERT(b->type == RB_SHAPE_CONE);
    double size = b->data.cone.radius + b->data.cone.height;
    return collidePointed(a, b, transformBtoA, rbMeasurePointCone, size);
}

rbSeparation rbCollideSphereEllipsoid(const rbGeometry* a, const rbGeometry* b,
                                      rbTransform transformBtoA)
{
    RB_ASSERT(b->type == RB_SHAPE_ELLIPSOID);
    double size = rbLargestComponent(b->data.ellipsoid.semiAxes);
    return collidePointed(a, b, transformBtoA, rbMeasurePointEllipsoid, size);
}

rbSeparation rbCollideSpherePlane(const rbGeometry* a, const rbGeometry* b,
                                  rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_SPHERE && b->type == RB_SHAPE_PLANE);
    double radius = a->data.sphere.radius;
    rbVec3 up = rbRotate(transformBtoA.q, b->data.plane.normal);
    double height = -rbDot(up, transformBtoA.p) - b->data.plane.offset;
    rbVec3 normal = rbNeg(up);
    double scale = radius + rbLength(transformBtoA.p) + fabs(b->data.plane.offset);
    return rbMakeClosedForm(height - radius, normal, rbScale(radius, normal), scale);
}

// Capsules: their axes are segments, the radius is subtracted at the end (G-36).
//
// Crossing axes: the obstacle of two segments is flat, so the exit direction is its normal and the
// depth is the sum of the radii; parallel axes have a whole circle of exit directions.

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
