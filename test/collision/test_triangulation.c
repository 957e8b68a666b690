// Triangles for display (L-107): closed, outward, and no farther from the surface than requested.
#include "shape_samples.h"

#include <math.h>
#include <string.h>

// Distance from a point to the surface along a ray in both directions of the given unit vector; the
// true distance is not larger.
static double distanceAlong(const rbGeometry* g, rbVec3 p, rbVec3 d)
{
    double nearest = INFINITY;
    for (int side = 0; side < 2; ++side) {
        rbRay ray = {p, side == 0 ? d : rbNeg(d), INFINITY};
        rbRayHit hit;
        if (rbGeometry_CastRay(g, &ray, &hit)) {
            nearest = fmin(nearest, hit.t);
        }
    }
    return nearest;
}

static void checkFromTriangles(const rbGeometry* g, const rbTriangles* triangles, double deviation,
                               rbRandom* random)
{
    double worst = 0.0;
    for (int k = 0; k < 3000; ++k) {
        const int* t = triangles->triangles[rbRandom_Index(random, triangles->triangleCount)];
        rbVec3 a = triangles->vertices[t[0]];
        rbVec3 u = rbSub(triangles->vertices[t[1]], a);
        rbVec3 v = rbSub(triangles->vertices[t[2]], a);
        double s = rbRandom_Unit(random);
        double r = (1.0 - s) * rbRandom_Unit(random);
        // the middle is the worst place
        s = k % 3 == 0 ? 1.0 / 3.0 : s;
        r = k % 3 == 0 ? 1.0 / 3.0 : r;
        rbVec3 p = rbAddScaled(rbAddScaled(a, s, u), r, v);
        rbVec3 n = rbNormalize(rbCross(u, v));
        double distance = distanceAlong(g, p, n);
        worst = fmax(worst, distance);
    }
    checkBelow(worst, deviation * (1.0 + 1e-9) + 1e-12);
}

static double distanceToSegment(rbVec3 p, rbVec3 a, rbVec3 b)
{
    rbVec3 ab = rbSub(b, a);
    double s = rbDot(rbSub(p, a), ab) / rbDot(ab, ab);
    return rbDistance(p, rbAddScaled(a, fmin(fmax(s, 0.0), 1.0), ab));
}

static double distanceToTriangle(rbVec3 p, const rbVec3 v[3])
{
    rbVec3 n = rbNormalize(rbCross(rbSub(v[1], v[0]), rbSub(v[2], v[0])));
    bool isInside = true;
    double nearest = INFINITY;
    for (int k = 0; k < 3; ++k) {
        rbVec3 a = v[k];
        rbVec3 b = v[(k + 1) % 3];
        nearest = fmin(nearest, distanceToSegment(p, a, b));
        isInside = isInside && rbDot(n, rbCross(rbSub(b, a), rbSub(p, a))) >= 0.0;
    }
    return isInside ? fabs(rbDot(n, rbSub(p, v[0]))) : nearest;
}

// From surface points to the nearest triangle.
static void checkFromSurface(const rbGeometry* g, const rbTriangles* triangles, double deviation,
                             rbRandom* random)
{
    for (int k = 0; k < 100; ++k) {
        rbVec3 origin = rbScale(5.0, rbRandom_Direction(random));
        rbRay ray = {origin, rbSub(randomVec3(random, 0.5), origin), INFINITY};
        rbRayHit hit;
        if (!rbGeometry_CastRay(g, &ray, &hit)) {
            continue;
        }
        double nearest = INFINITY;
        for (int t = 0; t < triangles->triangleCount; ++t) {
            const int* index = triangles->triangles[t];
            const rbVec3 v[3] = {triangles->vertices[index[0]], triangles->vertices[index[1]],
                                 triangles->vertices[index[2]]};
            nearest = fmin(nearest, distanceToTriangle(hit.point, v));
        }
        checkBelow(nearest, deviation * (1.0 + 1e-9));
    }
}

// L-107
static void trianglesStayWithinTheDeviation(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(41)};
    const double deviations[4] = {0.3, 0.03, 1e-3, 1e-4};
    for (int type = 0; type < RB_SHAPE_PLANE; ++type) {
        for (int k = 0; k < rbTest_Count(8, 80); ++k) {
            rbGeometry* g = makeSample(&random, (rbShapeType)type);
            rbTriangles triangles;
            rbError error = {0};
            double deviation = deviations[k % 4];
            assert_int_equal(rbGeometry_Triangulate(g, deviation, 1.0, &triangles, &error),
                             RB_STATUS_OK);
            checkFromTriangles(g, &triangles, deviation, &random);
            if (triangles.triangleCount < 5000) {
                checkFromSurface(g, &triangles, deviation, &random);
            }
            rbFreeTriangles(&triangles);
            rbDestroyGeometry(g);
        }
    }
}

// L-107
static void trianglesFormClosedOutwardMeshes(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(42)};
    for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
        for (int k = 0; k < rbTest_Count(10, 100); ++k) {
            rbGeometry* g = makeSample(&random, (rbShapeType)type);
            rbTriangles triangles;
            rbError error = {0};
            assert_int_equal(rbGeometry_Triangulate(g, 1e-3, 2.0, &triangles, &error),
                             RB_STATUS_OK);
            rbMeshDef def = {triangles.vertices, triangles.vertexCount, NULL,
                             &triangles.triangles[0][0], triangles.triangleCount};
            rbMeshReport report = rbValidateMesh(&def, NULL, 0);
            if (type == RB_SHAPE_PLANE) {
                assert_int_equal(triangles.triangleCount, 2);
                rbVec3 n = rbGeometry_GetData(g).plane.normal;
                rbVec3 u = rbSub(triangles.vertices[1], triangles.vertices[0]);
                rbVec3 v = rbSub(triangles.vertices[2], triangles.vertices[1]);
                checkNear(rbDistance(rbCross(u, v), rbScale(16.0, n)), 0.0, 1e-13);
            } else {
                assert_true(report.isValid);
                rbMassProperties p;
                if (rbGeometry_GetMass(g, 1.0, &p, &error) == RB_STATUS_OK) {
                    checkRelative(report.volume, p.volume, 2e-2);
                    checkBelow(report.volume, p.volume * (1.0 + 1e-12)); // inscribed
                }
            }
            rbFreeTriangles(&triangles);
            rbDestroyGeometry(g);
        }
    }
}

static void tooFineTrianglesAreRefused(void** state)
{
    (void)state;
    rbError error = {0};
    rbTriangles triangles;
    uint64_t before = rbGetAllocatedBytes();
    rbGeometry* g = rbCreateSphere(1.0, &error);
    requireOk(g, &error);
    assert_int_equal(rbGeometry_Triangulate(g, 1e-9, 1.0, &triangles, &error), RB_STATUS_LIMIT);
    assert_non_null(strstr(error.message, "1e-09"));
    assert_int_equal(rbGeometry_Triangulate(g, 1e-30, 1.0, &triangles, &error), RB_STATUS_LIMIT);
    assert_int_equal(rbGeometry_Triangulate(g, 0.0, 1.0, &triangles, &error), RB_STATUS_INVALID);
    assert_int_equal(rbGeometry_Triangulate(g, NAN, 1.0, &triangles, &error), RB_STATUS_INVALID);
    assert_null(triangles.vertices);
    // a compound of two, the first of which is fine: nothing leaks
    rbCompoundChild children[2] = {{g, RB_TRANSFORM_IDENTITY, 0.0},
                                   {g, RB_TRANSFORM_IDENTITY, 0.0}};
    rbGeometry* compound = rbCreateCompound(children, 2, &error);
    requireOk(compound, &error);
    assert_int_equal(rbGeometry_Triangulate(compound, 2.6e-6, 1.0, &triangles, &error),
                     RB_STATUS_LIMIT);
    rbDestroyGeometry(compound);
    rbDestroyGeometry(g);
    g = rbCreatePlane(rbMakeVec3(0, 0, 1), 0.0, &error);
    requireOk(g, &error);
    assert_int_equal(rbGeometry_Triangulate(g, 1.0, 0.0, &triangles, &error), RB_STATUS_INVALID);
    rbDestroyGeometry(g);
    assert_true(rbGetAllocatedBytes() == before);
}

RB_TEST_GROUP(test_triangulation, cmocka_unit_test(trianglesStayWithinTheDeviation),
              cmocka_unit_test(trianglesFormClosedOutwardMeshes),
              cmocka_unit_test(tooFineTrianglesAreRefused));
