// Closed forms of spheres, boxes and planes, and functions shared by all closed forms.
#include "collision/narrowphase/collide.h"

#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/box_pair.h"
#include "collision/narrowphase/point_distance.h"

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
