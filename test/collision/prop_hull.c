// Convex hulls of random and of difficult points.
#include "collision/geometry/polyhedron.h"
#include "shape_samples.h"

#include <math.h>
#include <string.h>

enum {
    POINTS_MAX = 400
};

static void shuffle(rbRandom* random, rbVec3* points, int count)
{
    for (int i = count - 1; i > 0; --i) {
        int k = rbRandom_Index(random, i + 1);
        rbVec3 swapped = points[i];
        points[i] = points[k];
        points[k] = swapped;
    }
}

// Points of several kinds: in a cube, on a sphere, a grid, a rotated grid, on a cylinder, copies.
static int makePoints(rbRandom* random, int kind, rbVec3* points)
{
    int count = 6 + rbRandom_Index(random, POINTS_MAX - 6);
    rbTransform t = randomTransform(random, 10.0);
    for (int i = 0; i < count; ++i) {
        if (kind == 0) {
            points[i] = randomVec3(random, 1.0);
        } else if (kind == 1) {
            points[i] = rbRandom_Direction(random);
        } else if (kind == 2 || kind == 3) {
            count = 125;
            int row = i / 5;
            int layer = i / 25;
            points[i] = rbMakeVec3(i % 5, row % 5, layer);
            points[i] = kind == 3 ? rbTransformPoint(t, points[i]) : points[i];
        } else if (kind == 4) {
            double s, c;
            int step = i / 2;
            int steps = (count + 1) / 2;
            rbSinCos(2.0 * RB_PI * step / steps, &s, &c);
            points[i] = rbTransformPoint(t, rbMakeVec3(c, s, i % 2));
        } else {
            rbVec3 p = randomVec3(random, 1.0);
            points[i] = i % 3 == 2 ? points[i - 1] : p;
        }
    }
    return count;
}

static void checkHull(const rbGeometry* g, const rbVec3* points, int count)
{
    const rbPolyhedron* p = g->polyhedron;
    double tolerance = 1e-12 * p->scale;
    for (int f = 0; f < p->faceCount; ++f) {
        for (int i = 0; i < count; ++i) {
            checkBelow(rbDot(p->normals[f], points[i]), p->offsets[f] + tolerance);
        }
    }
    // canonical form: sorted vertices, all of them input points; loops start with their smallest
    for (int i = 0; i < p->vertexCount; ++i) {
        rbVec3 v = p->vertices[i];
        bool isPoint = false;
        for (int k = 0; k < count && !isPoint; ++k) {
            isPoint = v.x == points[k].x && v.y == points[k].y && v.z == points[k].z;
        }
        assert_true(isPoint);
        if (i > 0) {
            rbVec3 u = p->vertices[i - 1];
            assert_true(u.x < v.x || (u.x == v.x && (u.y < v.y || (u.y == v.y && u.z < v.z))));
        }
    }
    for (int f = 0; f < p->faceCount; ++f) {
        const int* loop = p->indices + p->faceStarts[f];
        for (int i = 1; i < p->faceSizes[f]; ++i) {
            assert_true(loop[i] > loop[0]);
        }
        if (f > 0) {
            assert_true(p->indices[p->faceStarts[f - 1]] <= loop[0]);
        }
    }
    assert_int_equal(p->vertexCount - p->edgeCount + p->faceCount, 2);
    // strictly convex at every edge: neighbors are not coplanar
    for (int e = 0; e < p->edgeCount; ++e) {
        const rbEdge* edge = &p->edges[e];
        double lowest = 0.0;
        for (int k = 0; k < p->faceSizes[edge->faceRight]; ++k) {
            rbVec3 v = p->vertices[p->indices[p->faceStarts[edge->faceRight] + k]];
            lowest =
                fmin(lowest, rbDot(p->normals[edge->faceLeft], v) - p->offsets[edge->faceLeft]);
        }
        assert_true(lowest < -1e-12 * p->scale);
    }
}

// G-06, L-01, L-02
static void hullsContainTheirPointsAndAreCanonical(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(51)};
    rbVec3 points[POINTS_MAX];
    for (int k = 0; k < rbTest_Count(300, 6000); ++k) {
        int kind = k % 6;
        int count = makePoints(&random, kind, points);
        rbError error = {0};
        rbGeometry* g = rbCreateHull(points, count, &error);
        requireOk(g, &error);
        checkHull(g, points, count);
        if (kind == 2 || kind == 3) {
            assert_int_equal(g->polyhedron->vertexCount, 8);
            assert_int_equal(g->polyhedron->faceCount, 6);
        } else if (kind == 4) {
            assert_int_equal(g->polyhedron->vertexCount, count);
        }
        shuffle(&random, points, count);
        rbGeometry* again = rbCreateHull(points, count, &error);
        requireOk(again, &error);
        assert_true(rbGeometry_GetHash(g) == rbGeometry_GetHash(again));
        rbDestroyGeometry(again);
        // the hull of the vertices is the hull itself
        again = rbCreateHull(g->polyhedron->vertices, g->polyhedron->vertexCount, &error);
        requireOk(again, &error);
        assert_true(rbGeometry_GetHash(g) == rbGeometry_GetHash(again));
        rbDestroyGeometry(again);
        rbDestroyGeometry(g);
    }
}

// Shapes much longer than wide, distant, tiny and huge.
static void hullsOfAllSizesAreFound(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(52)};
    rbVec3 points[60];
    for (int k = 0; k < rbTest_Count(200, 4000); ++k) {
        double size = exp(rbRandom_Range(&random, -20.0, 20.0));
        rbVec3 stretch = {size, size * exp(rbRandom_Range(&random, -8.0, 0.0)),
                          size * exp(rbRandom_Range(&random, -8.0, 0.0))};
        rbTransform t = randomTransform(&random, k % 2 == 0 ? 0.0 : 100.0 * size);
        for (int i = 0; i < 60; ++i) {
            points[i] = rbTransformPoint(t, rbMulEach(stretch, randomVec3(&random, 1.0)));
        }
        rbError error = {0};
        rbGeometry* g = rbCreateHull(points, 60, &error);
        requireOk(g, &error);
        for (int i = 0; i < 60; ++i) {
            // a point may have been merged into a face, within 1e-11 of the size
            const rbPolyhedron* p = g->polyhedron;
            for (int f = 0; f < p->faceCount; ++f) {
                checkBelow(rbDot(p->normals[f], points[i]),
                           p->offsets[f] + 3e-11 * size + 1e-15 * p->scale);
            }
        }
        for (int i = 0; i < g->polyhedron->vertexCount; ++i) {
            assert_true(rbGeometry_Contains(g, g->polyhedron->vertices[i]));
        }
        rbDestroyGeometry(g);
    }
}

// A tetrahedron with a point in the middle of an edge and one in the middle of a face.
static void pointsOnEdgesAndFacesAreDropped(void** state)
{
    (void)state;
    static const rbVec3 points[6] = {{0, 0, 0}, {0, 0, 2}, {0, 1, 1},
                                     {0, 4, 0}, {2, 0, 0}, {4, 0, 0}};
    // 4 on the edge 0-5, 2 inside the face 0 1 3
    rbIndex3 triangles[8] = {{{0, 1, 2}}, {{1, 3, 2}}, {{3, 0, 2}}, {{0, 4, 1}},
                             {{4, 5, 1}}, {{0, 3, 4}}, {{3, 5, 4}}, {{1, 5, 3}}};
    for (int round = 0; round < 2; ++round) {
        rbOwnedMesh mesh;
        assert_true(rbMakeHullFaces(points, 6, triangles, 8, 1e-11, &mesh));
        assert_int_equal(mesh.vertexCount, 4);
        assert_int_equal(mesh.faceCount, 4);
        rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
        rbMeshReport report = rbValidateMesh(&def, NULL, 0);
        assert_true(report.isValid);
        checkNear(report.volume, 32.0 / 6.0, 1e-14);
        rbFreeMesh(&mesh);
        for (int t = 0; t < 8; ++t) { // and in the reverse order
            int swapped = triangles[t].v[1];
            triangles[t].v[1] = triangles[t].v[2];
            triangles[t].v[2] = swapped;
        }
    }
    triangles[3] = triangles[4]; // no longer closed
    rbOwnedMesh mesh;
    assert_false(rbMakeHullFaces(points, 6, triangles, 8, 1e-11, &mesh));
    rbFreeMesh(&mesh);
}

static void expectRefusal(const rbVec3* points, int count, rbStatus status, const char* word)
{
    rbError error = {0};
    uint64_t before = rbGetAllocatedBytes();
    assert_null(rbCreateHull(points, count, &error));
    assert_int_equal(error.status, status);
    if (strstr(error.message, word) == NULL) {
        print_error("\"%s\" does not say \"%s\"\n", error.message, word);
        fail();
    }
    assert_true(rbGetAllocatedBytes() == before);
}

static void degeneratePointsAreRefusedWithAReason(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(53)};
    rbVec3 points[50];
    expectRefusal(NULL, 0, RB_STATUS_INVALID, "at least 4");
    for (int i = 0; i < 50; ++i) {
        points[i] = randomVec3(&random, 1.0);
    }
    expectRefusal(points, 3, RB_STATUS_INVALID, "3 points");
    points[17].y = NAN;
    expectRefusal(points, 50, RB_STATUS_INVALID, "point 17");
    points[17].y = 2e12;
    expectRefusal(points, 50, RB_STATUS_INVALID, "2e+12");
    expectRefusal(points, RB_HULL_POINTS_MAX + 1, RB_STATUS_LIMIT, "at most");
    for (int i = 0; i < 50; ++i) {
        points[i] = rbMakeVec3(0.3, 0.1, -7.0);
    }
    expectRefusal(points, 50, RB_STATUS_INVALID, "coincide");
    for (int k = 0; k < 100; ++k) {
        rbTransform t = randomTransform(&random, 5.0);
        for (int i = 0; i < 50; ++i) {
            points[i] = rbTransformPoint(t, rbMakeVec3(rbRandom_Symmetric(&random), 0.0, 0.0));
        }
        expectRefusal(points, 50, RB_STATUS_INVALID, "collinear");
        for (int i = 0; i < 50; ++i) {
            double x = rbRandom_Symmetric(&random);
            points[i] = rbTransformPoint(t, rbMakeVec3(x, rbRandom_Symmetric(&random), 0.0));
        }
        expectRefusal(points, 50, RB_STATUS_INVALID, "coplanar");
    }
}

// L-29a: the climb ends at a vertex that no other one surpasses, from any direction: random ones,
// normals of faces (where many vertices are as far) and nearly so, and along edges.
static void climbingFindsTheFarthestVertex(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(55)};
    rbVec3 points[POINTS_MAX];
    for (int k = 0; k < rbTest_Count(60, 1200); ++k) {
        int count = makePoints(&random, k % 6, points);
        rbError error = {0};
        rbGeometry* g = rbCreateHull(points, count, &error);
        requireOk(g, &error);
        const rbPolyhedron* p = g->polyhedron;
        for (int i = 0; i < 60; ++i) {
            rbVec3 d = rbRandom_Direction(&random);
            if (i % 3 > 0) {
                rbVec3 normal = p->normals[rbRandom_Index(&random, p->faceCount)];
                d = i % 3 == 1 ? normal : rbAddScaled(normal, 1e-9, d);
            }
            double most = rbDot(p->vertices[0], d);
            for (int v = 1; v < p->vertexCount; ++v) {
                most = fmax(most, rbDot(p->vertices[v], d));
            }
            // the points lie within 10 of the origin, so that products have errors of 1e-14
            checkNear(rbDot(rbGeometry_GetSupport(g, d), d), most, 1e-13);
        }
        rbDestroyGeometry(g);
    }
}

RB_TEST_GROUP(prop_hull, cmocka_unit_test(hullsContainTheirPointsAndAreCanonical),
              cmocka_unit_test(climbingFindsTheFarthestVertex),
              cmocka_unit_test(hullsOfAllSizesAreFound),
              cmocka_unit_test(pointsOnEdgesAndFacesAreDropped),
              cmocka_unit_test(degeneratePointsAreRefusedWithAReason));
