// A sphere against every primitive: the signed distance of its center less its radius. That is also
// the depth when the center is inside, because the obstacle of a convex body and a sphere is the
// body expanded by the radius.
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/collide.h"
#include "collision/narrowphase/point_distance.h"

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
