// Rays against polyhedral shapes compared with all triangles one by one, by another algorithm
// (Moeller and Trumbore, in long double); and packets, any hits and lines compared with single
// rays.
#include "../collision/shape_samples.h"
#include "base/core/memory.h"
#include "collision/geometry/polyhedron.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct Exact {
    long double x, y, z;
} Exact;

static Exact widen(rbVec3 v)
{
    return (Exact){(long double)v.x, (long double)v.y, (long double)v.z};
}

static Exact minus(Exact a, Exact b)
{
    return (Exact){a.x - b.x, a.y - b.y, a.z - b.z};
}

static Exact cross(Exact a, Exact b)
{
    return (Exact){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static long double dot(Exact a, Exact b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

typedef enum Verdict {
    MISSED,
    MET,
    IN_DOUBT, // too close to the border or to the plane for another algorithm to agree
} Verdict;

// Distance from the border within which a hit is uncertain, relative to the triangle, besides the
// rounding of the distance to it.
#define DOUBT 1e-9L

// The signed parameter of the line; boundaries belong to the triangle.
static Verdict meetTriangle(const rbVec3 corners[3], const rbRay* ray, double* t)
{
    Exact u = widen(ray->direction);
    Exact e1 = minus(widen(corners[1]), widen(corners[0]));
    Exact e2 = minus(widen(corners[2]), widen(corners[0]));
    Exact s = minus(widen(ray->origin), widen(corners[0]));
    Exact p = cross(u, e2);
    long double det = dot(e1, p);
    long double size = sqrtl(dot(e1, e1) * dot(e2, e2) * dot(u, u));
    long double way = sqrtl(dot(s, s) / fminl(dot(e1, e1), dot(e2, e2)));
    long double doubt = (DOUBT + 1e-14L * way) * fmaxl(1.0L, 1e-3L * size / fabsl(det));
    if (fabsl(det) < 1e-9L * size) {
        *t = 0.0;
        return IN_DOUBT;
    }
    Exact q = cross(s, e1);
    long double b1 = dot(s, p) / det;
    long double b2 = dot(u, q) / det;
    long double least = fminl(fminl(b1, b2), 1.0L - b1 - b2);
    *t = (double)(dot(e2, q) / det);
    return least > doubt ? MET : (least < -doubt ? MISSED : IN_DOUBT);
}

// The first hit with tMin <= t <= tMax over all triangles; uncertain if one before it is.
static Verdict castAtAll(const rbPolyhedron* p, const rbRay* ray, double tMin, bool isFront,
                         double* first)
{
    double met = INFINITY;
    double doubtful = INFINITY;
    for (int i = 0; i < p->triangleCount; ++i) {
        const int* v = p->triangles[i].v;
        rbVec3 corners[3] = {p->vertices[v[0]], p->vertices[v[1]], p->vertices[v[2]]};
        double along = rbDot(p->normals[p->faceOfTriangle[i]], ray->direction);
        if (isFront && along >= 0.0) {
            continue;
        }
        double t;
        Verdict verdict = meetTriangle(corners, ray, &t);
        double slack = 1e-9 * (fabs(t) + p->scale);
        if (verdict == MISSED || t < tMin - slack || t > ray->tMax + slack) {
            continue;
        }
        // a triangle seen edge-on has no parameter of its own
        if (fabs(along) < 1e-6 * rbLength(ray->direction)) {
            return IN_DOUBT;
        }
        if (verdict == IN_DOUBT || fabs(t - tMin) < slack || fabs(t - ray->tMax) < slack) {
            doubtful = fmin(doubtful, t - slack);
        } else {
            met = fmin(met, t);
        }
    }
    *first = met;
    return doubtful <= met && doubtful < INFINITY ? IN_DOUBT : (met < INFINITY ? MET : MISSED);
}

// -------------------------------------------------------------------------------------- samples

// A sphere-like mesh without some of its triangles, or a single triangle.
static rbGeometry* makeOpen(rbRandom* random, int keep)
{
    rbGeometry* closed = makeSample(random, RB_SHAPE_MESH);
    const rbPolyhedron* p = closed->polyhedron;
    int* indices = rbAlloc(3 * (size_t)p->triangleCount * sizeof(int));
    int count = 0;
    for (int i = 0; i < p->triangleCount && (keep == 0 || count < keep); ++i) {
        if (keep > 0 || rbRandom_Index(random, 3) > 0) {
            memcpy(&indices[3 * (size_t)count++], p->triangles[i].v, sizeof p->triangles[i].v);
        }
    }
    rbMeshDef def = {p->vertices, p->vertexCount, NULL, indices, count};
    rbError error = {0};
    rbGeometry* open = rbCreateSoup(&def, &error);
    requireOk(open, &error);
    rbFree(indices, 3 * (size_t)p->triangleCount * sizeof(int));
    rbDestroyGeometry(closed);
    return open;
}

// Convex, not convex, with polygons, open, one triangle.
static rbGeometry* makeBody(rbRandom* random, int k)
{
    switch (k % 6) {
    case 0:
        return makeSample(random, RB_SHAPE_HULL);
    case 1:
        return makeSample(random, RB_SHAPE_MESH);
    case 2:
        return makeSample(random, RB_SHAPE_POLYHEDRON);
    case 3:
        return makeSample(random, RB_SHAPE_SOUP);
    case 4:
        return makeOpen(random, 0);
    default:
        return makeOpen(random, 1);
    }
}

// Triangles that are hardly more than lines: up to 1e-6 of their length wide.
static rbGeometry* makeSlivers(rbRandom* random)
{
    enum {
        COUNT = 60
    };
    static rbVec3 vertices[3 * COUNT];
    static int indices[3 * COUNT];
    for (int i = 0; i < COUNT; ++i) {
        rbVec3* v = &vertices[3 * (size_t)i];
        v[0] = randomVec3(random, 1.0);
        v[1] = randomVec3(random, 1.0);
        double width = pow(10.0, rbRandom_Range(random, -6.0, -2.0));
        rbVec3 between = rbScale(0.5, rbAdd(v[0], v[1]));
        v[2] = rbAddScaled(between, width, rbRandom_Direction(random));
    }
    for (int i = 0; i < 3 * COUNT; ++i) {
        indices[i] = i;
    }
    rbMeshDef def = {vertices, 3 * COUNT, NULL, indices, COUNT};
    rbError error = {0};
    rbGeometry* soup = rbCreateSoup(&def, &error);
    requireOk(soup, &error);
    return soup;
}

static rbVec3 pickTarget(rbRandom* random, const rbPolyhedron* p)
{
    const int* v = p->triangles[rbRandom_Index(random, p->triangleCount)].v;
    rbVec3 middle = rbAdd(rbAdd(p->vertices[v[0]], p->vertices[v[1]]), p->vertices[v[2]]);
    return rbAdd(rbScale(1.0 / 3.0, middle), randomVec3(random, 0.2));
}

static rbRay makeRay(rbRandom* random, const rbPolyhedron* p)
{
    rbVec3 origin = randomVec3(random, rbRandom_Index(random, 2) == 0 ? 3.0 : 0.7);
    rbVec3 target = pickTarget(random, p);
    double scale = pow(10.0, rbRandom_Range(random, -3.0, 3.0));
    double tMax =
        rbRandom_Index(random, 3) > 0 ? (double)INFINITY : rbRandom_Range(random, 0.2, 2.0) / scale;
    return (rbRay){origin, rbScale(scale, rbSub(target, origin)), tMax};
}

// ------------------------------------------------------------------------------------- claims

static void checkFirst(const rbGeometry* g, const rbRay* ray, double tMin, bool isFront,
                       int tally[3])
{
    double truth = 0.0;
    Verdict verdict = castAtAll(g->polyhedron, ray, tMin, isFront, &truth);
    rbRayHit hit;
    bool isHit = isFront     ? rbGeometry_CastFront(g, ray, tMin, &hit)
                 : tMin == 0 ? rbGeometry_CastRay(g, ray, &hit)
                             : rbGeometry_CastLine(g, ray, tMin, &hit);
    ++tally[verdict];
    if (verdict == IN_DOUBT) {
        return;
    }
    assert_int_equal(isHit, verdict == MET);
    if (isHit) {
        checkNear(hit.t, truth, 1e-9 * (fabs(truth) + 10.0 / rbLength(ray->direction)));
        checkNear(rbLength(hit.normal), 1.0, 1e-12);
        rbVec3 there = rbAddScaled(ray->origin, hit.t, ray->direction);
        checkNear(rbDistance(hit.point, there), 0.0, 1e-12 * (10.0 + rbLength(there)));
        assert_true(!isFront || rbDot(hit.normal, ray->direction) < 0.0);
    }
}

//
static void raysAndLinesMeetWhatAnotherAlgorithmMeets(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(9001)};
    int tally[3] = {0};
    for (int k = 0; k < rbTest_Count(60, 600); ++k) {
        rbGeometry* g = makeBody(&random, k);
        for (int i = 0; i < 100; ++i) {
            rbRay ray = makeRay(&random, g->polyhedron);
            double length = rbLength(ray.direction);
            checkFirst(g, &ray, 0.0, false, tally);
            checkFirst(g, &ray, -rbRandom_Range(&random, 0.0, 3.0) / length, false, tally);
            checkFirst(g, &ray, -INFINITY, false, tally);
            checkFirst(g, &ray, 0.0, true, tally);
            checkFirst(g, &ray, -INFINITY, true, tally);
        }
        rbDestroyGeometry(g);
    }
    print_message("met %d, missed %d, in doubt %d\n", tally[MET], tally[MISSED], tally[IN_DOUBT]);
    // the test would check nothing if all were uncertain
    assert_true(tally[IN_DOUBT] < (tally[MET] + tally[MISSED]) / 20);
    assert_true(tally[MET] > 1000 * rbTest_Count(60, 600) / 10 / 10 && tally[MISSED] > 100);
}

// Fans, parallel rays, unordered rays, including rays without a direction.
static int makeRays(rbRandom* random, const rbPolyhedron* p, rbRay* rays, int capacity)
{
    int kind = rbRandom_Index(random, 4);
    int count = 1 + rbRandom_Index(random, capacity);
    rbVec3 origin = randomVec3(random, 3.0);
    rbVec3 target = pickTarget(random, p);
    rbVec3 d = rbSub(target, origin);
    double spread = pow(10.0, rbRandom_Range(random, -4.0, 0.0));
    for (int i = 0; i < count; ++i) {
        rbVec3 a = randomVec3(random, spread);
        rays[i] = kind == 0   ? (rbRay){origin, rbAdd(d, a), INFINITY}
                  : kind == 1 ? (rbRay){rbAdd(origin, a), d, INFINITY}
                  : kind == 2 ? (rbRay){rbAdd(origin, a), rbAdd(d, randomVec3(random, spread)), 1.5}
                              : makeRay(random, p);
        if (rbRandom_Index(random, 50) == 0) {
            rays[i].direction = RB_VEC3_ZERO;
        }
    }
    return count;
}

#define RAYS_MAX 200

static int checkPacket(const rbGeometry* g, const rbRay* rays, int count)
{
    static rbRayHit hits[RAYS_MAX];
    memset(hits, 0x5a, sizeof hits);
    int met = 0;
    int hitCount = rbGeometry_CastRays(g, rays, count, hits);
    for (int i = 0; i < count; ++i) {
        rbRayHit alone, line;
        bool isHit = rbGeometry_CastRay(g, &rays[i], &alone);
        assert_int_equal(rbGeometry_IsHit(g, &rays[i]), isHit);
        assert_int_equal(rbGeometry_CastLine(g, &rays[i], 0.0, &line), isHit);
        assert_int_equal(isfinite(hits[i].t), isHit);
        if (isHit) {
            ++met;
            assert_memory_equal(&hits[i].t, &alone.t, sizeof alone.t);
            assert_memory_equal(&hits[i].point, &alone.point, sizeof alone.point);
            assert_memory_equal(&hits[i].normal, &alone.normal, sizeof alone.normal);
            assert_int_equal(hits[i].feature, alone.feature);
            assert_int_equal(hits[i].child, alone.child);
            assert_memory_equal(&line.t, &alone.t, sizeof alone.t);
        }
    }
    assert_int_equal(hitCount, met);
    return met;
}

static void packetsAndAnyHitsAgreeWithSingleRays(void** state)
{
    (void)state;
    static rbRay rays[RAYS_MAX];
    rbRandom random = {rbTest_Seed(9002)};
    int met = 0;
    for (int k = 0; k < rbTest_Count(70, 700); ++k) {
        rbGeometry* g = k % 7 == 6 ? makeSlivers(&random) : makeBody(&random, k % 7);
        for (int i = 0; i < 20; ++i) {
            int count = makeRays(&random, g->polyhedron, rays, RAYS_MAX);
            met += checkPacket(g, rays, count);
        }
        assert_int_equal(rbGeometry_CastRays(g, NULL, 0, NULL), 0);
        rbDestroyGeometry(g);
    }
    assert_true(met > 1000);
}

// The other shapes, including compounds.
static void packetsOfEveryShapeAgreeWithSingleRays(void** state)
{
    (void)state;
    static rbRay rays[RAYS_MAX];
    rbRandom random = {rbTest_Seed(9003)};
    for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
        rbGeometry* g = makeSample(&random, (rbShapeType)type);
        for (int i = 0; i < RAYS_MAX; ++i) {
            rbVec3 origin = randomVec3(&random, 3.0);
            rays[i] = (rbRay){origin, rbSub(randomVec3(&random, 1.0), origin), INFINITY};
        }
        (void)checkPacket(g, rays, RAYS_MAX);
        rbDestroyGeometry(g);
    }
}

// -------------------------------------------------------------------------------- watertightness

// A ray toward a place where faces meet: a vertex, the middle of an edge, any point of an edge.
// True if both faces of the edge are seen from the same side, so that the ray cannot pass it.
static bool aimAtSeam(rbRandom* random, const rbPolyhedron* p, rbVec3 origin, rbRay* ray)
{
    const rbEdge* edge = &p->edges[rbRandom_Index(random, p->edgeCount)];
    int kind = rbRandom_Index(random, 3);
    double s = kind == 0 ? 0.0 : (kind == 1 ? 0.5 : rbRandom_Range(random, 0.01, 0.99));
    rbVec3 from = p->vertices[edge->v0];
    rbVec3 seam = rbAddScaled(from, s, rbSub(p->vertices[edge->v1], from));
    *ray = (rbRay){origin, rbSub(seam, origin), INFINITY};
    double left = rbDot(p->normals[edge->faceLeft], ray->direction);
    double right = rbDot(p->normals[edge->faceRight], ray->direction);
    return s > 0.0 && left * right > 0.0 && fmin(fabs(left), fabs(right)) > 1e-6;
}

#define SEAM_RAYS 100

// A packet of rays from a point inside, and the same one by one.
static int checkSeams(rbRandom* random, const rbGeometry* g, rbVec3 origin)
{
    static rbRay rays[SEAM_RAYS];
    static rbRayHit hits[SEAM_RAYS];
    bool isClosed[SEAM_RAYS];
    int closedCount = 0;
    for (int i = 0; i < SEAM_RAYS; ++i) {
        isClosed[i] = aimAtSeam(random, g->polyhedron, origin, &rays[i]);
        closedCount += isClosed[i] ? 1 : 0;
    }
    assert_int_equal(rbGeometry_CastRays(g, rays, SEAM_RAYS, hits), SEAM_RAYS);
    for (int i = 0; i < SEAM_RAYS; ++i) {
        rbRayHit hit;
        assert_true(rbGeometry_CastRay(g, &rays[i], &hit));
        checkBelow(hit.t, isClosed[i] ? 1.0 + 1e-9 : (double)INFINITY);
    }
    return closedCount;
}

// 100,000 rays from inside closed bodies toward their edges and corners: none escapes, alone or in
// a packet, and none passes an edge whose faces both face it.
static void noRayPassesBetweenTheFacesOfAClosedMesh(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(9004)};
    int count = 0;
    int closedCount = 0;
    for (int k = 0; count < rbTest_Count(100000, 1000000); ++k) {
        rbGeometry* g = makeSample(&random, k % 2 == 0 ? RB_SHAPE_MESH : RB_SHAPE_POLYHEDRON);
        const rbPolyhedron* p = g->polyhedron;
        assert_non_null(p->edges);
        for (int round = 0; round < 20; ++round) {
            rbVec3 origin;
            do {
                origin = rbAdd(p->lower, rbMulEach(rbAbs3(randomVec3(&random, 1.0)),
                                                   rbSub(p->upper, p->lower)));
            } while (!rbGeometry_Contains(g, origin));
            closedCount += checkSeams(&random, g, origin);
            count += SEAM_RAYS;
        }
        rbDestroyGeometry(g);
    }
    print_message("%d rays, %d at edges that cannot be passed\n", count, closedCount);
    assert_true(closedCount > count / 4);
}

// Multiplying all lengths by a power of two changes no other bit, from 1e-9 to 1e9 m.
static void scaleChangesNothing(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(9005)};
    for (int k = 0; k < rbTest_Count(20, 200); ++k) {
        rbGeometry* g = makeSample(&random, RB_SHAPE_MESH);
        const rbPolyhedron* p = g->polyhedron;
        double scale = ldexp(1.0, rbRandom_Index(&random, 60) - 30);
        rbVec3* vertices = rbAlloc((size_t)p->vertexCount * sizeof(rbVec3));
        for (int i = 0; i < p->vertexCount; ++i) {
            vertices[i] = rbScale(scale, p->vertices[i]);
        }
        rbMeshDef def = rbPolyhedron_GetDef(p);
        def.vertices = vertices;
        rbError error = {0};
        rbGeometry* scaled = rbCreateMesh(&def, &error);
        requireOk(scaled, &error);
        for (int i = 0; i < 100; ++i) {
            rbRay ray = makeRay(&random, p);
            rbRay other = {rbScale(scale, ray.origin), rbScale(scale, ray.direction), ray.tMax};
            rbRayHit hit, otherHit;
            bool isHit = rbGeometry_CastRay(g, &ray, &hit);
            assert_int_equal(rbGeometry_CastRay(scaled, &other, &otherHit), isHit);
            if (isHit) {
                assert_memory_equal(&hit.t, &otherHit.t, sizeof hit.t);
                assert_int_equal(hit.feature, otherHit.feature);
            }
        }
        rbFree(vertices, (size_t)p->vertexCount * sizeof(rbVec3));
        rbDestroyGeometry(scaled);
        rbDestroyGeometry(g);
    }
}

RB_TEST_GROUP(oracle_rays, cmocka_unit_test(raysAndLinesMeetWhatAnotherAlgorithmMeets),
              cmocka_unit_test(packetsAndAnyHitsAgreeWithSingleRays),
              cmocka_unit_test(packetsOfEveryShapeAgreeWithSingleRays),
              cmocka_unit_test(noRayPassesBetweenTheFacesOfAClosedMesh),
              cmocka_unit_test(scaleChangesNothing));
