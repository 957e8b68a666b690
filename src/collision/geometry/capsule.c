// All points within a radius of a segment of the z axis about the origin.
//
// Mass: a cylinder of length 2h and two hemispheres. A hemisphere has its center 3r/8 from its flat
// side; with m the mass of both, I_x = m (2/5 r^2 + h^2 + 3/4 h r), I_z = 2/5 m r^2.
#include "collision/geometry/ray_span.h"
#include "collision/geometry/shape_ops.h"

rbGeometry* rbCreateCapsule(double radius, double halfLength, rbError* error)
{
    return rbCreatePrimitive(RB_SHAPE_CAPSULE, (const double[]){radius, halfLength}, error);
}

static rbSolidMass massOfCapsule(const rbGeometry* geometry)
{
    double r = geometry->data.capsule.radius, h = geometry->data.capsule.halfLength;
    double side = 2.0 * RB_PI * r * r * h;
    double ends = 4.0 / 3.0 * RB_PI * r * r * r;
    double volume = side + ends;
    double ix = side * (0.25 * r * r + h * h / 3.0) + ends * (0.4 * r * r + h * h + 0.75 * h * r);
    double iz = side * 0.5 * r * r + ends * 0.4 * r * r;
    return (rbSolidMass){volume, 0.0, {ix / volume, ix / volume, iz / volume}};
}

static rbVec3 supportOfCapsule(const rbGeometry* geometry, rbVec3 direction)
{
    rbVec3 point = rbScale(geometry->data.capsule.radius, rbNormalize(direction));
    point.z += copysign(geometry->data.capsule.halfLength, direction.z);
    return point;
}

static rbBounds boundsOfCapsule(const rbGeometry* geometry, rbTransform transform)
{
    double r = geometry->data.capsule.radius;
    rbVec3 axis = rbAbs3(rbMatFromQuat(transform.q).cz);
    rbVec3 half = rbAddScaled(rbMakeVec3(r, r, r), geometry->data.capsule.halfLength, axis);
    return rbMakeBounds(transform.p, half);
}

static double radiusOfCapsule(const rbGeometry* geometry, rbVec3 point)
{
    rbVec3 toEnd = {point.x, point.y, fabs(point.z) + geometry->data.capsule.halfLength};
    return rbLength(toEnd) + geometry->data.capsule.radius;
}

// The vector from the nearest point of the axis segment.
static rbVec3 fromSegment(const rbGeometry* geometry, rbVec3 point)
{
    double h = geometry->data.capsule.halfLength;
    double z = point.z > h ? point.z - h : (point.z < -h ? point.z + h : 0.0);
    return rbMakeVec3(point.x, point.y, z);
}

static bool containedInCapsule(const rbGeometry* geometry, rbVec3 point)
{
    return rbLength(fromSegment(geometry, point)) <= geometry->data.capsule.radius;
}

// Widens a span to include another one: both are parts of the same convex set.
static void unite(rbRaySpan* span, const rbRaySpan* other)
{
    span->in = other->in.t < span->in.t ? other->in : span->in;
    span->out = other->out.t > span->out.t ? other->out : span->out;
}

static bool castRayAtCapsule(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    double r = geometry->data.capsule.radius, h = geometry->data.capsule.halfLength;
    rbVec3 o = ray->origin, d = ray->direction;
    rbRaySpan all = {{INFINITY, {0.0, 0.0, 0.0}, 0}, {-INFINITY, {0.0, 0.0, 0.0}, 0}};
    for (int end = 1; end <= 2; ++end) {
        rbRaySpan ball = rbWholeLine;
        rbVec3 relative = {o.x, o.y, end == 1 ? o.z + h : o.z - h};
        if (rbRaySpan_ClipBall(&ball, relative, d, r, end)) {
            unite(&all, &ball);
        }
    }
    rbRaySpan side = rbWholeLine;
    const double line[2] = {o.z, d.z};
    const double range[2] = {-h, h};
    const int features[2] = {1, 2};
    if (rbRaySpan_ClipSlab(&side, line, range, rbMakeVec3(0.0, 0.0, 1.0), features) &&
        rbRaySpan_ClipBall(&side, rbMakeVec3(o.x, o.y, 0.0), rbMakeVec3(d.x, d.y, 0.0), r, 0)) {
        unite(&all, &side);
    }
    if (!(all.in.t <= all.out.t) || !rbRaySpan_GetHit(&all, ray, hit)) {
        return false;
    }
    hit->normal = rbNormalize(fromSegment(geometry, rbAddScaled(o, hit->t, d)));
    return true;
}

static void triangulateCapsule(const rbGeometry* geometry, const rbTriangulation* settings,
                               rbTriangleSink* sink)
{
    rbTriangleSink_AddRound(sink, geometry->data.capsule.radius, geometry->data.capsule.halfLength,
                            settings->deviation);
}

static const rbParameter capsuleParameters[] = {
    {RB_SHAPE_LENGTH("radius", 0, 1, "radius")},
    {"length", .offset = sizeof(double), .count = 1, .high = RB_LENGTH_MAX, .isRequired = true,
     .unit = "m", .meaning = "of the segment, without the caps"},
};

static void featureOfCapsule(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                             rbContactFeature* feature)
{
    double half = geometry->data.capsule.halfLength;
    rbVec3 out = rbScale(geometry->data.capsule.radius, direction);
    if (fabs(direction.z) > RB_FLUSH_SINE || half == 0.0) {
        rbContactFeature_Add(feature, point, direction.z > 0.0 ? 1 : 0, 0);
        return;
    }
    rbContactFeature_Add(feature, rbMakeVec3(out.x, out.y, out.z - half), 0, 0);
    rbContactFeature_Add(feature, rbMakeVec3(out.x, out.y, out.z + half), 1, 0);
}

static void outlineOfCapsule(const rbGeometry* geometry, rbOutline* outline)
{
    double r = geometry->data.capsule.radius, h = geometry->data.capsule.halfLength;
    rbOutlinePiece low = {.r = r, .z = -h, .center = -h, .radius = r, .angleA = -0.5 * RB_PI};
    rbOutlinePiece high = {.z = h + r, .center = h, .radius = r, .angleB = 0.5 * RB_PI};
    outline->startZ = -h - r;
    outline->radius = r;
    rbOutline_AddArc(outline, low);
    rbOutline_AddLine(outline, r, h);
    rbOutline_AddArc(outline, high);
}

const rbShapeOps rbCapsuleOps = {
    .name = "capsule",
    .meaning = "All points within radius of a segment of the z axis about the origin.",
    .family = RB_FAMILY_ROD,
    RB_SHAPE_PARAMETERS(capsuleParameters),
    .lengths = {"radius", "half length"},
    .halved = 1u << 1,
    RB_SOLID_PRIMITIVE(Capsule),
    .triangulate = triangulateCapsule,
    .feature = featureOfCapsule,
    .outline = outlineOfCapsule,
};
