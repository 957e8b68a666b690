// Circular cylinder about the z axis, centered at the origin.
#include "collision/geometry/ray_span.h"
#include "collision/geometry/shape_ops.h"

rbGeometry* rbCreateCylinder(double radius, double halfLength, rbError* error)
{
    return rbCreatePrimitive(RB_SHAPE_CYLINDER, (const double[]){radius, halfLength}, error);
}

static rbSolidMass massOfCylinder(const rbGeometry* geometry)
{
    double r = geometry->data.cylinder.radius, h = geometry->data.cylinder.halfLength;
    double ix = 0.25 * r * r + h * h / 3.0;
    return (rbSolidMass){2.0 * RB_PI * r * r * h, 0.0, {ix, ix, 0.5 * r * r}};
}

static rbVec3 supportOfCylinder(const rbGeometry* geometry, rbVec3 direction)
{
    rbVec3 rim = rbNormalize(rbMakeVec3(direction.x, direction.y, 0.0));
    rbVec3 point = rbScale(geometry->data.cylinder.radius, rim);
    point.z = copysign(geometry->data.cylinder.halfLength, direction.z);
    return point;
}

static rbBounds boundsOfCylinder(const rbGeometry* geometry, rbTransform transform)
{
    double r = geometry->data.cylinder.radius, h = geometry->data.cylinder.halfLength;
    rbVec3 half = rbScale(h, rbAbs3(rbMatFromQuat(transform.q).cz));
    return rbMakeBounds(transform.p, rbAdd(half, rbDiscExtents(transform.q, r)));
}

static double radiusOfCylinder(const rbGeometry* geometry, rbVec3 point)
{
    double rho = sqrt(point.x * point.x + point.y * point.y) + geometry->data.cylinder.radius;
    double z = fabs(point.z) + geometry->data.cylinder.halfLength;
    return sqrt(rho * rho + z * z);
}

static bool containedInCylinder(const rbGeometry* geometry, rbVec3 point)
{
    return sqrt(point.x * point.x + point.y * point.y) <= geometry->data.cylinder.radius &&
           fabs(point.z) <= geometry->data.cylinder.halfLength;
}

static bool castRayAtCylinder(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    double h = geometry->data.cylinder.halfLength;
    rbVec3 o = ray->origin, d = ray->direction;
    const double line[2] = {o.z, d.z};
    const double range[2] = {-h, h};
    const int features[2] = {1, 2};
    rbRaySpan span = rbWholeLine;
    bool meets = rbRaySpan_ClipSlab(&span, line, range, rbMakeVec3(0.0, 0.0, 1.0), features) &&
                 rbRaySpan_ClipBall(&span, rbMakeVec3(o.x, o.y, 0.0), rbMakeVec3(d.x, d.y, 0.0),
                                    geometry->data.cylinder.radius, 0);
    if (!meets || !rbRaySpan_GetHit(&span, ray, hit)) {
        return false;
    }
    if (hit->feature == 0) {
        rbVec3 point = rbAddScaled(o, hit->t, d);
        hit->normal = rbNormalize(rbMakeVec3(point.x, point.y, 0.0));
    }
    return true;
}

static const rbParameter cylinderParameters[] = {
    {RB_SHAPE_LENGTH("radius", 0, 1, "radius")},
    {RB_SHAPE_LENGTH("length", 1, 1, "length")},
};

static void featureOfCylinder(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                              rbContactFeature* feature)
{
    double radius = geometry->data.cylinder.radius, half = geometry->data.cylinder.halfLength;
    double across = sqrt(direction.x * direction.x + direction.y * direction.y);
    if (across <= RB_FLUSH_SINE) {
        rbContactFeature_AddRim(feature, radius, direction.z > 0.0 ? half : -half);
    } else if (fabs(direction.z) <= RB_FLUSH_SINE) {
        double f = radius / across;
        rbContactFeature_Add(feature, rbMakeVec3(f * direction.x, f * direction.y, -half), 0, 0);
        rbContactFeature_Add(feature, rbMakeVec3(f * direction.x, f * direction.y, half), 1, 0);
    } else {
        rbContactFeature_Add(feature, point, 0, 0);
    }
}

static void outlineOfCylinder(const rbGeometry* geometry, rbOutline* outline)
{
    double radius = geometry->data.cylinder.radius, halfLength = geometry->data.cylinder.halfLength;
    outline->startZ = -halfLength;
    outline->radius = radius;
    rbOutline_AddLine(outline, radius, -halfLength);
    rbOutline_AddLine(outline, radius, halfLength);
    rbOutline_AddLine(outline, 0.0, halfLength);
}

const rbShapeOps rbCylinderOps = {
    .name = "cylinder",
    .meaning = "About the z axis and the origin.",
    .family = RB_FAMILY_SMOOTH,
    RB_SHAPE_PARAMETERS(cylinderParameters),
    .lengths = {"radius", "half length"},
    .halved = 1u << 1,
    RB_SOLID_PRIMITIVE(Cylinder),
    .feature = featureOfCylinder,
    .outline = outlineOfCylinder,
};
