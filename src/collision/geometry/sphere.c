// Sphere about the origin.
#include "collision/geometry/ray_span.h"
#include "collision/geometry/shape_ops.h"

rbGeometry* rbCreateSphere(double radius, rbError* error)
{
    return rbCreatePrimitive(RB_SHAPE_SPHERE, &radius, error);
}

static rbSolidMass massOfSphere(const rbGeometry* geometry)
{
    double r = geometry->data.sphere.radius;
    double i = 0.4 * r * r;
    return (rbSolidMass){4.0 / 3.0 * RB_PI * r * r * r, 0.0, {i, i, i}};
}

static rbVec3 supportOfSphere(const rbGeometry* geometry, rbVec3 direction)
{
    return rbScale(geometry->data.sphere.radius, rbNormalize(direction));
}

static rbBounds boundsOfSphere(const rbGeometry* geometry, rbTransform transform)
{
    double r = geometry->data.sphere.radius;
    return rbMakeBounds(transform.p, rbMakeVec3(r, r, r));
}

static double radiusOfSphere(const rbGeometry* geometry, rbVec3 point)
{
    return rbLength(point) + geometry->data.sphere.radius;
}

static bool containedInSphere(const rbGeometry* geometry, rbVec3 point)
{
    return rbLength(point) <= geometry->data.sphere.radius;
}

static bool castRayAtSphere(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    rbRaySpan span = rbWholeLine;
    bool meets =
        rbRaySpan_ClipBall(&span, ray->origin, ray->direction, geometry->data.sphere.radius, 0);
    if (!meets || !rbRaySpan_GetHit(&span, ray, hit)) {
        return false;
    }
    hit->normal = rbNormalize(rbAddScaled(ray->origin, hit->t, ray->direction));
    return true;
}

static const rbParameter sphereParameters[] = {
    {RB_SHAPE_LENGTH("radius", 0, 1, "radius")},
};

static rbVec3 getSemiAxesOfSphere(const rbGeometry* geometry)
{
    double r = geometry->data.sphere.radius;
    return rbMakeVec3(r, r, r);
}

const rbShapeOps rbSphereOps = {
    .name = "sphere",
    .meaning = "Ball about the origin.",
    .family = RB_FAMILY_BALL,
    .isRound = true,
    RB_SHAPE_PARAMETERS(sphereParameters),
    .lengths = {"radius"},
    RB_SOLID_PRIMITIVE(Sphere),
    .getSemiAxes = getSemiAxesOfSphere,
};
