// Circular cone about the z axis, base at z = -H/2, apex at z = H/2.
//
// With s = H/2 - z the distance below the apex and k = r/H, the solid is x^2 + y^2 <= k^2 s^2,
// 0 <= s <= H. Along a line f(t) = x^2 + y^2 - k^2 s^2 is a quadratic; its upper nappe (s < 0) is
// cut off by the slab of the two end planes.
#include "collision/geometry/ray_span.h"
#include "collision/geometry/shape_ops.h"

rbGeometry* rbCreateCone(double radius, double height, rbError* error)
{
    return rbCreatePrimitive(RB_SHAPE_CONE, (const double[]){radius, height}, error);
}

static rbSolidMass massOfCone(const rbGeometry* geometry)
{
    double r = geometry->data.cone.radius, h = geometry->data.cone.height;
    double ix = 0.15 * r * r + 0.0375 * h * h;
    return (rbSolidMass){RB_PI / 3.0 * r * r * h, -0.25 * h, {ix, ix, 0.3 * r * r}};
}

static rbVec3 supportOfCone(const rbGeometry* geometry, rbVec3 direction)
{
    double r = geometry->data.cone.radius;
    double half = 0.5 * geometry->data.cone.height;
    double across = sqrt(direction.x * direction.x + direction.y * direction.y);
    if (2.0 * half * direction.z >= r * across) {
        return rbMakeVec3(0.0, 0.0, half);
    }
    rbVec3 rim = rbScale(r, rbNormalize(rbMakeVec3(direction.x, direction.y, 0.0)));
    rim.z = -half;
    return rim;
}

static rbBounds boundsOfCone(const rbGeometry* geometry, rbTransform transform)
{
    rbVec3 up = rbScale(0.5 * geometry->data.cone.height, rbMatFromQuat(transform.q).cz);
    rbVec3 disc = rbDiscExtents(transform.q, geometry->data.cone.radius);
    rbBounds base = rbMakeBounds(rbSub(transform.p, up), disc);
    rbVec3 apex = rbAdd(transform.p, up);
    return (rbBounds){rbMin3(base.lower, apex), rbMax3(base.upper, apex)};
}

static double radiusOfCone(const rbGeometry* geometry, rbVec3 point)
{
    double half = 0.5 * geometry->data.cone.height;
    double rho = sqrt(point.x * point.x + point.y * point.y);
    double across = rho + geometry->data.cone.radius;
    double toRim = sqrt(across * across + (point.z + half) * (point.z + half));
    double toApex = sqrt(rho * rho + (point.z - half) * (point.z - half));
    return rbMaxOf(toRim, toApex);
}

static bool containedInCone(const rbGeometry* geometry, rbVec3 point)
{
    double h = geometry->data.cone.height;
    double rho = sqrt(point.x * point.x + point.y * point.y);
    return fabs(point.z) <= 0.5 * h && rho * h <= geometry->data.cone.radius * (0.5 * h - point.z);
}

// Where f(t) = a t^2 + 2 b t + c <= 0 in the lower nappe; descending: s grows with t.
static bool solveNappe(double a, double b, double c, bool descending, double t[2])
{
    t[0] = -INFINITY;
    t[1] = INFINITY;
    if (a == 0.0) {
        if (b == 0.0) {
            return c <= 0.0;
        }
        t[b > 0.0 ? 1 : 0] = -0.5 * c / b;
        return true;
    }
    double discriminant = b * b - a * c;
    if (discriminant < 0.0) {
        if (a > 0.0) {
            return false;
        }
        discriminant = 0.0; // a line steeper than the cone intersects both nappes: this is rounding
    }
    double q = -(b + copysign(sqrt(discriminant), b));
    double t0 = q / a;
    double t1 = q != 0.0 ? c / q : t0;
    double low = t0 < t1 ? t0 : t1, high = t0 < t1 ? t1 : t0;
    if (a > 0.0) {
        t[0] = low;
        t[1] = high;
    } else if (descending) {
        t[0] = high;
    } else {
        t[1] = low;
    }
    return true;
}

static bool castRayAtCone(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    double half = 0.5 * geometry->data.cone.height;
    double k = geometry->data.cone.radius / geometry->data.cone.height;
    rbVec3 d = ray->direction;
    // from the point of the line nearest to the origin, where the coefficients are small
    double shift = -rbDot(ray->origin, d);
    rbVec3 o = rbAddScaled(ray->origin, shift, d);
    double s = half - o.z;
    double a = d.x * d.x + d.y * d.y - k * k * d.z * d.z;
    double b = o.x * d.x + o.y * d.y + k * k * s * d.z;
    double c = o.x * o.x + o.y * o.y - k * k * s * s;
    double t[2];
    if (!solveNappe(a, b, c, d.z < 0.0, t)) {
        return false;
    }
    const double line[2] = {ray->origin.z, d.z};
    const double range[2] = {-half, half};
    const int features[2] = {1, 0};
    rbRaySpan span = rbWholeLine;
    if (!rbRaySpan_ClipSlab(&span, line, range, rbMakeVec3(0.0, 0.0, 1.0), features) ||
        !rbRaySpan_Clip(&span, t[0] + shift, t[1] + shift, 0) ||
        !rbRaySpan_GetHit(&span, ray, hit)) {
        return false;
    }
    if (hit->feature == 0) {
        rbVec3 point = rbAddScaled(ray->origin, hit->t, d);
        rbVec3 gradient = {point.x, point.y, k * k * (half - point.z)};
        bool isApex = !(rbLengthSquared(gradient) > 0.0);
        hit->normal = isApex ? rbMakeVec3(0.0, 0.0, 1.0) : rbNormalize(gradient);
    }
    return true;
}

static const rbParameter coneParameters[] = {
    {RB_SHAPE_LENGTH("radius", 0, 1, "of the base")},
    {RB_SHAPE_LENGTH("height", 1, 1, "height")},
};

static void featureOfCone(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                          rbContactFeature* feature)
{
    double radius = geometry->data.cone.radius, height = geometry->data.cone.height;
    double across = sqrt(direction.x * direction.x + direction.y * direction.y);
    double slant = sqrt(radius * radius + height * height);
    // sine of the angle between the direction and the normal of the side
    double sine = (height * direction.z - radius * across) / slant;
    if (across <= RB_FLUSH_SINE && direction.z < 0.0) {
        rbContactFeature_AddRim(feature, radius, -0.5 * height);
    } else if (across > 0.0 && fabs(sine) <= RB_FLUSH_SINE) {
        double f = radius / across;
        rbContactFeature_Add(feature, rbMakeVec3(f * direction.x, f * direction.y, -0.5 * height),
                             0, 0);
        rbContactFeature_Add(feature, rbMakeVec3(0.0, 0.0, 0.5 * height), 1, 0);
    } else {
        rbContactFeature_Add(feature, point, 0, 0);
    }
}

static void outlineOfCone(const rbGeometry* geometry, rbOutline* outline)
{
    double radius = geometry->data.cone.radius, height = geometry->data.cone.height;
    outline->startZ = -0.5 * height;
    outline->radius = radius;
    rbOutline_AddLine(outline, radius, -0.5 * height);
    rbOutline_AddLine(outline, 0.0, 0.5 * height);
}

const rbShapeOps rbConeOps = {
    .name = "cone",
    .meaning = "About the z axis, base at z = -height/2, apex at z = height/2.",
    .family = RB_FAMILY_SMOOTH,
    RB_SHAPE_PARAMETERS(coneParameters),
    .lengths = {"radius", "height"},
    RB_SOLID_PRIMITIVE(Cone),
    .feature = featureOfCone,
    .outline = outlineOfCone,
};
