// Box about the origin, faces perpendicular to the axes.
#include "collision/geometry/ray_span.h"
#include "collision/geometry/shape_ops.h"

rbGeometry* rbCreateBox(rbVec3 halfExtents, rbError* error)
{
    const double lengths[3] = {halfExtents.x, halfExtents.y, halfExtents.z};
    return rbCreatePrimitive(RB_SHAPE_BOX, lengths, error);
}

static rbSolidMass massOfBox(const rbGeometry* geometry)
{
    rbVec3 h = geometry->data.box.halfExtents;
    rbVec3 i = {(h.y * h.y + h.z * h.z) / 3.0, (h.x * h.x + h.z * h.z) / 3.0,
                (h.x * h.x + h.y * h.y) / 3.0};
    return (rbSolidMass){8.0 * h.x * h.y * h.z, 0.0, i};
}

static rbVec3 supportOfBox(const rbGeometry* geometry, rbVec3 direction)
{
    rbVec3 h = geometry->data.box.halfExtents;
    return rbMakeVec3(copysign(h.x, direction.x), copysign(h.y, direction.y),
                      copysign(h.z, direction.z));
}

static rbBounds boundsOfBox(const rbGeometry* geometry, rbTransform transform)
{
    rbMat3 m = rbMatFromQuat(transform.q);
    rbMat3 size = {rbAbs3(m.cx), rbAbs3(m.cy), rbAbs3(m.cz)};
    return rbMakeBounds(transform.p, rbMulMV(size, geometry->data.box.halfExtents));
}

static double radiusOfBox(const rbGeometry* geometry, rbVec3 point)
{
    return rbLength(rbAdd(rbAbs3(point), geometry->data.box.halfExtents));
}

static bool containedInBox(const rbGeometry* geometry, rbVec3 point)
{
    rbVec3 h = geometry->data.box.halfExtents;
    return fabs(point.x) <= h.x && fabs(point.y) <= h.y && fabs(point.z) <= h.z;
}

static bool castRayAtBox(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    rbVec3 h = geometry->data.box.halfExtents;
    rbVec3 o = ray->origin, d = ray->direction;
    const double lines[3][2] = {{o.x, d.x}, {o.y, d.y}, {o.z, d.z}};
    const double ranges[3][2] = {{-h.x, h.x}, {-h.y, h.y}, {-h.z, h.z}};
    const rbVec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    rbRaySpan span = rbWholeLine;
    for (int i = 0; i < 3; ++i) {
        const int features[2] = {2 * i, 2 * i + 1};
        if (!rbRaySpan_ClipSlab(&span, lines[i], ranges[i], axes[i], features)) {
            return false;
        }
    }
    return rbRaySpan_GetHit(&span, ray, hit);
}

const rbIndex3 rbBoxTriangles[RB_BOX_TRIANGLES] = {
    {{0, 4, 6}}, {{0, 6, 2}}, {{1, 3, 7}}, {{1, 7, 5}}, {{0, 1, 5}}, {{0, 5, 4}},
    {{2, 6, 7}}, {{2, 7, 3}}, {{0, 2, 3}}, {{0, 3, 1}}, {{4, 5, 7}}, {{4, 7, 6}},
};

static void triangulateBox(const rbGeometry* geometry, const rbTriangulation* settings,
                           rbTriangleSink* sink)
{
    (void)settings;
    int first = sink->vertices.count;
    for (int i = 0; i < 8; ++i) {
        rbTriangleSink_AddVertex(sink, rbGetBoxCorner(geometry->data.box.halfExtents, i));
    }
    for (int t = 0; t < RB_BOX_TRIANGLES; ++t) {
        const int* v = rbBoxTriangles[t].v;
        rbTriangleSink_AddTriangle(sink, first + v[0], first + v[1], first + v[2]);
    }
}

static const rbParameter boxParameters[] = {
    {RB_SHAPE_LENGTH("size", 0, 3, "full edge lengths"), .word = "edge"},
};

static void featureOfBox(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                         rbContactFeature* feature)
{
    (void)point;
    rbVec3 h = geometry->data.box.halfExtents;
    const double d[3] = {direction.x, direction.y, direction.z};
    int i = fabs(d[1]) > fabs(d[0]) ? 1 : 0;
    i = fabs(d[2]) > fabs(d[i]) ? 2 : i;
    int u = (i + 1) % 3, v = (i + 2) % 3;
    bool isPositive = d[i] >= 0.0;
    double n[3] = {0.0, 0.0, 0.0};
    n[i] = isPositive ? 1.0 : -1.0;
    feature->normal = rbMakeVec3(n[0], n[1], n[2]);
    feature->faceId = 2 * i + (isPositive ? 1 : 0);
    static const int around[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    for (int k = 0; k < 4; ++k) {
        // counter-clockwise seen from outside: the negative face runs the other way round
        const int* here = around[isPositive ? k : 4 - k];
        const int* next = around[isPositive ? k + 1 : 3 - k];
        int base = isPositive ? 1 << i : 0;
        int vertex = base | here[0] << u | here[1] << v, other = base | next[0] << u | next[1] << v;
        // an edge is its lower corner and its axis
        int axis = here[0] != next[0] ? u : v;
        rbContactFeature_Add(feature, rbGetBoxCorner(h, vertex), vertex,
                             8 * axis + (vertex & other));
    }
}

const rbShapeOps rbBoxOps = {
    .name = "box",
    .meaning = "Box about the origin.",
    .family = RB_FAMILY_BOX,
    RB_SHAPE_PARAMETERS(boxParameters),
    .lengths = {"half extent x", "half extent y", "half extent z"},
    .halved = 1u << 0 | 1u << 1 | 1u << 2,
    RB_SOLID_PRIMITIVE(Box),
    .triangulate = triangulateBox,
    .feature = featureOfBox,
};
