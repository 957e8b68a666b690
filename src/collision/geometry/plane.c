// Half space normal . x <= offset.
#include "base/core/float_mode.h"
#include "base/core/hash.h"
#include "collision/geometry/shape_ops.h"

rbGeometry* rbCreatePlane(rbVec3 normal, double offset, rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    double largest = rbLargestComponent(normal);
    RB_NULL_IF(
        !rbIsFinite3(normal) || !(largest > 0.0), error,
        "the normal of the plane is (%g, %g, %g); a finite vector that is not zero is accepted",
        normal.x, normal.y, normal.z);
    rbVec3 scaled = {normal.x / largest, normal.y / largest, normal.z / largest};
    double length = rbLength(scaled);
    double distance = offset / largest / length;
    RB_NULL_IF(!(fabs(distance) <= RB_LENGTH_MAX), error,
               "the plane is %g m from the origin; at most %g m are accepted", distance,
               RB_LENGTH_MAX);
    rbGeometry* geometry = rbAllocGeometry(RB_SHAPE_PLANE);
    geometry->data.plane.normal =
        rbMakeVec3(scaled.x / length, scaled.y / length, scaled.z / length);
    geometry->data.plane.offset = distance;
    geometry->isBounded = false;
    return rbFinishGeometry(geometry);
}

static rbStatus massOfPlane(const rbGeometry* geometry, double density,
                            rbMassProperties* properties, rbError* error)
{
    (void)geometry;
    (void)density;
    (void)properties;
    return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                       "a plane is infinite and has no mass; use it on a fixed body or give the "
                       "body a mass and inertia");
}

static rbVec3 supportOfPlane(const rbGeometry* geometry, rbVec3 direction)
{
    (void)direction;
    return rbScale(geometry->data.plane.offset, geometry->data.plane.normal);
}

static rbBounds boundsOfPlane(const rbGeometry* geometry, rbTransform transform)
{
    rbVec3 n = rbRotate(transform.q, geometry->data.plane.normal);
    double offset = geometry->data.plane.offset + rbDot(n, transform.p);
    double lower[3] = {-INFINITY, -INFINITY, -INFINITY};
    double upper[3] = {INFINITY, INFINITY, INFINITY};
    const double components[3] = {n.x, n.y, n.z};
    int zeros = (n.x == 0.0) + (n.y == 0.0) + (n.z == 0.0);
    for (int i = 0; i < 3 && zeros == 2; ++i) {
        if (components[i] > 0.0) {
            upper[i] = offset;
        } else if (components[i] < 0.0) {
            lower[i] = -offset;
        }
    }
    return (rbBounds){{lower[0], lower[1], lower[2]}, {upper[0], upper[1], upper[2]}};
}

static double radiusOfPlane(const rbGeometry* geometry, rbVec3 point)
{
    (void)geometry;
    (void)point;
    return (double)INFINITY;
}

static bool planeContains(const rbGeometry* geometry, rbVec3 point)
{
    return rbDot(geometry->data.plane.normal, point) <= geometry->data.plane.offset;
}

static bool castRayAtPlane(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    rbVec3 n = geometry->data.plane.normal;
    double speed = rbDot(n, ray->direction);
    if (speed == 0.0) {
        return false;
    }
    double t = (geometry->data.plane.offset - rbDot(n, ray->origin)) / speed;
    if (!(t >= 0.0 && t <= ray->tMax) || !isfinite(t)) {
        return false;
    }
    hit->t = t;
    hit->normal = n;
    return true;
}

static void triangulatePlane(const rbGeometry* geometry, const rbTriangulation* settings,
                             rbTriangleSink* sink)
{
    RB_ASSERT(settings->planeHalfSize > 0.0);
    rbVec3 n = geometry->data.plane.normal;
    rbVec3 center = rbScale(geometry->data.plane.offset, n);
    rbVec3 u = rbScale(settings->planeHalfSize, rbPerpendicular(n));
    rbVec3 v = rbCross(n, u);
    int first = sink->vertices.count;
    rbTriangleSink_AddVertex(sink, rbSub(rbSub(center, u), v));
    rbTriangleSink_AddVertex(sink, rbSub(rbAdd(center, u), v));
    rbTriangleSink_AddVertex(sink, rbAdd(rbAdd(center, u), v));
    rbTriangleSink_AddVertex(sink, rbAdd(rbSub(center, u), v));
    rbTriangleSink_AddTriangle(sink, first, first + 1, first + 2);
    rbTriangleSink_AddTriangle(sink, first, first + 2, first + 3);
}

static uint64_t hashPlane(const rbGeometry* geometry, uint64_t hash)
{
    uint64_t h = rbHashVec3(hash, geometry->data.plane.normal);
    return rbHashDoubles(h, &geometry->data.plane.offset, 1);
}

#define RANGE .low = -RB_LENGTH_MAX, .high = RB_LENGTH_MAX

static const rbParameter planeParameters[] = {
    {"normal", .count = 3, RANGE, .unit = "", .isRequired = true, .meaning = "any length but zero"},
    {"offset", .offset = 3 * sizeof(double), .count = 1, RANGE, .unit = "m",
     .meaning = "normal . x of its points"},
};

static rbGeometry* createPlane(const double* numbers, rbError* error)
{
    return rbCreatePlane(rbMakeVec3(numbers[0], numbers[1], numbers[2]), numbers[3], error);
}

const rbShapeOps rbPlaneOps = {
    .name = "plane",
    .meaning = "The half space normal . x <= offset.",
    .family = RB_FAMILY_PLANE,
    .isConvex = true,
    RB_SHAPE_PARAMETERS(planeParameters),
    .example = "0,0,1,0",
    .create = createPlane,
    .mass = massOfPlane,
    .support = supportOfPlane,
    .bounds = boundsOfPlane,
    .radius = radiusOfPlane,
    .contains = planeContains,
    .castRay = castRayAtPlane,
    .triangulate = triangulatePlane,
    .hash = hashPlane,
};
