// Planes against bounded convex shapes by support (G-16), and functions shared by all closed forms.
#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/collide.h"

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
