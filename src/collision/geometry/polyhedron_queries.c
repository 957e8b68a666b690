// Support, bounds, rays, inside test and mass of polyhedral shapes: hull, polyhedron, mesh, soup.
//
// Inside test: the winding number, the sum over triangles of the signed solid angle they fill seen
// from the point, which needs no ray that might graze an edge. A point within rounding of the
// surface counts as inside.
//
// Rays: seen along the ray, a triangle is hit if the origin lies in it, that is, if the three turns
// from corner to corner have one sign. A vertex has the same two coordinates in all its triangles,
// and the signs are exact, so that triangles around an edge or a vertex leave no gap (the idea is
// that of Woop, Benthin and Wald 2013).
#include "base/core/hash.h"
#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "collision/geometry/polyhedron.h"

#include <float.h>

#define SURFACE_TOLERANCE (16.0 * DBL_EPSILON) // of the largest coordinate

rbVec3 rbSupportOfPolyhedron(const rbGeometry* geometry, rbVec3 direction)
{
    const rbPolyhedron* p = geometry->polyhedron;
    // over corners: a vertex that no face uses is not of the shape
    int best = p->indices[0];
    double largest = rbDot(direction, p->vertices[best]);
    for (int i = 1; i < p->indexCount; ++i) {
        double value = rbDot(direction, p->vertices[p->indices[i]]);
        if (value > largest) {
            largest = value;
            best = p->indices[i];
        }
    }
    return p->vertices[best];
}

rbBounds rbBoundsOfPolyhedron(const rbGeometry* geometry, rbTransform transform)
{
    const rbPolyhedron* p = geometry->polyhedron;
    rbMat3 m = rbMatFromQuat(transform.q);
    rbVec3 lower = {INFINITY, INFINITY, INFINITY};
    rbVec3 upper = rbNeg(lower);
    for (int i = 0; i < p->indexCount; ++i) {
        rbVec3 v = rbMulMV(m, p->vertices[p->indices[i]]);
        lower = rbMin3(lower, v);
        upper = rbMax3(upper, v);
    }
    rbBounds bounds = {rbAdd(lower, transform.p), rbAdd(upper, transform.p)};
    return bounds;
}

double rbRadiusOfPolyhedron(const rbGeometry* geometry, rbVec3 point)
{
    const rbPolyhedron* p = geometry->polyhedron;
    double largest = 0.0;
    for (int i = 0; i < p->indexCount; ++i) {
        rbVec3 d = rbSub(p->vertices[p->indices[i]], point);
        largest = rbMaxOf(largest, rbLengthSquared(d));
    }
    return sqrt(largest);
}

// Distance of the origin from the segment a, b.
static double distanceToSegment(rbVec3 a, rbVec3 b)
{
    rbVec3 ab = rbSub(b, a);
    double along = -rbDot(a, ab);
    double whole = rbLengthSquared(ab);
    double s = along <= 0.0 ? 0.0 : (along >= whole ? 1.0 : along / whole);
    return rbLength(rbAddScaled(a, s, ab));
}

// Is the origin within tolerance of the triangle v with unit normal n?
static bool isOnTriangle(const rbVec3 v[3], rbVec3 n, double tolerance)
{
    if (fabs(rbDot(n, v[0])) > tolerance) {
        return false;
    }
    bool isInside = true;
    for (int k = 0; k < 3; ++k) {
        rbVec3 a = v[k];
        rbVec3 b = v[(k + 1) % 3];
        if (distanceToSegment(a, b) <= tolerance) {
            return true;
        }
        isInside = isInside && rbDot(n, rbCross(a, b)) >= 0.0;
    }
    return isInside;
}

// Half the signed solid angle of a triangle seen from the origin (van Oosterom and Strackee 1983).
static double halfSolidAngle(const rbVec3 v[3])
{
    double a = rbLength(v[0]);
    double b = rbLength(v[1]);
    double c = rbLength(v[2]);
    double volume = rbDot(v[0], rbCross(v[1], v[2]));
    double rest = a * b * c + rbDot(v[0], v[1]) * c + rbDot(v[1], v[2]) * a + rbDot(v[2], v[0]) * b;
    return rbAtan2(volume, rest);
}

static bool isInsideByWinding(const rbPolyhedron* p, rbVec3 point)
{
    double tolerance = SURFACE_TOLERANCE * rbMaxOf(p->scale, rbLargestComponent(point));
    double sum = 0.0;
    for (int t = 0; t < p->triangleCount; ++t) {
        rbVec3 v[3];
        for (int k = 0; k < 3; ++k) {
            v[k] = rbSub(p->vertices[p->triangles[t].v[k]], point);
        }
        if (isOnTriangle(v, p->normals[p->faceOfTriangle[t]], tolerance)) {
            return true;
        }
        sum += halfSolidAngle(v);
    }
    return sum > RB_PI; // the full solid angle is 4 pi, a winding number of 1/2 the threshold
}

static bool isInsidePlanes(const rbPolyhedron* p, rbVec3 point)
{
    double tolerance = SURFACE_TOLERANCE * rbMaxOf(p->scale, rbLargestComponent(point));
    for (int f = 0; f < p->faceCount; ++f) {
        if (rbDot(p->normals[f], point) > p->offsets[f] + tolerance) {
            return false;
        }
    }
    return true;
}

bool rbPolyhedronContains(const rbGeometry* geometry, rbVec3 point)
{
    const rbPolyhedron* p = geometry->polyhedron;
    if (!geometry->isSolid) {
        return false;
    }
    // outside of the box?
    double slack = SURFACE_TOLERANCE * p->scale;
    rbVec3 beyond = rbMax3(rbSub(p->lower, point), rbSub(point, p->upper));
    if (beyond.x > slack || beyond.y > slack || beyond.z > slack) {
        return false;
    }
    return geometry->type == RB_SHAPE_HULL ? isInsidePlanes(p, point) : isInsideByWinding(p, point);
}

// A ray seen along itself: shearing along the longest axis of the direction makes the ray that
// axis, and points keep two coordinates across it.
typedef struct RayView {
    const rbRay* ray;
    int axis;      // 0, 1, 2: x, y, z
    double sx, sy; // shear
} RayView;

static RayView makeView(const rbRay* ray)
{
    rbVec3 d = ray->direction;
    rbVec3 size = rbAbs3(d);
    if (size.x >= size.y && size.x >= size.z) {
        return (RayView){ray, 0, d.y / d.x, d.z / d.x};
    }
    if (size.y >= size.z) {
        return (RayView){ray, 1, d.z / d.y, d.x / d.y};
    }
    return (RayView){ray, 2, d.x / d.z, d.y / d.z};
}

// Coordinates across the ray of a point v relative to its origin.
static void look(const RayView* view, rbVec3 v, double across[2])
{
    const double c[3] = {v.x, v.y, v.z};
    double along = c[view->axis];
    across[0] = c[(view->axis + 1) % 3] - view->sx * along;
    across[1] = c[(view->axis + 2) % 3] - view->sy * along;
}

// Exact sign of a_0 b_1 - a_1 b_0. Near zero the products are taken with their rounding errors: the
// difference is then good to two units in its last place (Kahan), so that the sign is right.
static int signOfTurn(const double a[2], const double b[2])
{
    double left = a[0] * b[1];
    double right = a[1] * b[0];
    double value = left - right;
    if (fabs(value) <= 4.0 * DBL_EPSILON * (fabs(left) + fabs(right))) {
        double lost = fma(-a[1], b[0], right);
        value = fma(a[0], b[1], -right) + lost;
    }
    return value > 0.0 ? 1 : (value < 0.0 ? -1 : 0);
}

// Parameter where the line of the ray meets triangle t, NaN if it does not.
static double meetTriangle(const rbPolyhedron* p, int t, const RayView* view)
{
    const int* index = p->triangles[t].v;
    rbVec3 v[3];
    double across[3][2];
    for (int k = 0; k < 3; ++k) {
        v[k] = rbSub(p->vertices[index[k]], view->ray->origin);
        look(view, v[k], across[k]);
    }
    int u0 = signOfTurn(across[1], across[2]);
    int u1 = signOfTurn(across[2], across[0]);
    int u2 = signOfTurn(across[0], across[1]);
    bool hasNegative = u0 < 0 || u1 < 0 || u2 < 0;
    bool hasPositive = u0 > 0 || u1 > 0 || u2 > 0;
    rbVec3 n = p->normals[p->faceOfTriangle[t]];
    rbVec3 d = view->ray->direction;
    double speed = rbDot(n, d);
    if (hasNegative == hasPositive || speed == 0.0) {
        return (double)NAN;
    }
    double hit = rbDot(n, v[0]) / speed;
    // a grazing line divides rounding by rounding: keep the hit on the triangle
    double s0 = rbDot(d, v[0]);
    double s1 = rbDot(d, v[1]);
    double s2 = rbDot(d, v[2]);
    double low = s0 < s1 ? s0 : s1;
    double high = s0 < s1 ? s1 : s0;
    low = s2 < low ? s2 : low;
    high = s2 > high ? s2 : high;
    return hit < low ? low : (hit > high ? high : hit);
}

bool rbCastRayAtPolyhedron(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit)
{
    const rbPolyhedron* p = geometry->polyhedron;
    RayView view = makeView(ray);
    double nearest = ray->tMax;
    int face = -1;
    for (int t = 0; t < p->triangleCount; ++t) {
        double s = meetTriangle(p, t, &view);
        if (s >= 0.0 && (s < nearest || (face < 0 && s <= nearest))) {
            nearest = s;
            face = p->faceOfTriangle[t];
        }
    }
    if (face < 0) {
        return false;
    }
    hit->t = nearest;
    hit->normal = p->normals[face];
    hit->feature = face;
    return true;
}

void rbTriangulatePolyhedron(const rbGeometry* geometry, const rbTriangulation* settings,
                             rbTriangleSink* sink)
{
    (void)settings;
    const rbPolyhedron* p = geometry->polyhedron;
    if (rbTriangleSink_Refuses(sink, (double)p->triangleCount)) {
        return;
    }
    int first = sink->vertices.count;
    for (int i = 0; i < p->vertexCount; ++i) {
        rbTriangleSink_AddVertex(sink, p->vertices[i]);
    }
    for (int t = 0; t < p->triangleCount; ++t) {
        const int* v = p->triangles[t].v;
        rbTriangleSink_AddTriangle(sink, first + v[0], first + v[1], first + v[2]);
    }
}

rbStatus rbMassOfPolyhedron(const rbGeometry* geometry, double density,
                            rbMassProperties* properties, rbError* error)
{
    if (!geometry->isSolid) {
        return rbError_Set(
            error, RB_STATUS_UNSUPPORTED,
            "the %s encloses no volume (it is open, not manifold or a soup) and has no "
            "mass; close it or state the mass of the body",
            rbShapeType_Name(geometry->type));
    }
    rbMeshDef def = rbPolyhedron_GetDef(geometry->polyhedron);
    *properties = rbComputeMeshMass(&def);
    RB_ASSERT(properties->volume > 0.0);
    rbSym3 i = properties->inertia;
    properties->mass = density * properties->volume;
    properties->inertia = (rbSym3){density * i.xx, density * i.yy, density * i.zz,
                                   density * i.xy, density * i.xz, density * i.yz};
    return RB_STATUS_OK;
}

uint64_t rbHashPolyhedron(const rbGeometry* geometry, uint64_t hash)
{
    const rbPolyhedron* p = geometry->polyhedron;
    uint64_t h = hash;
    for (int i = 0; i < p->vertexCount; ++i) {
        h = rbHashVec3(h, p->vertices[i]);
    }
    // int has 32 bits and two's complement everywhere we build; bytes would depend on their order
    for (int i = 0; i < p->indexCount; ++i) {
        double index = (double)p->indices[i];
        h = rbHashDoubles(h, &index, 1);
    }
    for (int f = 0; f < p->faceCount; ++f) {
        double size = (double)p->faceSizes[f];
        h = rbHashDoubles(h, &size, 1);
    }
    return h;
}

void rbReleasePolyhedron(rbGeometry* geometry)
{
    rbDestroyBrep(geometry->polyhedron);
    geometry->polyhedron = NULL;
}
