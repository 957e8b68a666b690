// Boundary representation, soups and surfaces, creation with bad values, reading parameters back.
#include "collision/geometry/polyhedron.h"
#include "shape_samples.h"

#include <math.h>
#include <string.h>

static void checkIncidence(const rbPolyhedron* p)
{
    long long corners = 0;
    for (int f = 0; f < p->faceCount; ++f) {
        int count = p->faceSizes[f];
        const int* edges = p->edgeOfCorner + p->faceStarts[f];
        const int* loop = p->indices + p->faceStarts[f];
        corners += count;
        for (int i = 0; i < count; ++i) {
            const rbEdge* e = &p->edges[edges[i]];
            int from = loop[i];
            int to = loop[(i + 1) % count];
            bool isLeft = e->v0 == from && e->v1 == to && e->faceLeft == f;
            bool isRight = e->v0 == to && e->v1 == from && e->faceRight == f;
            assert_true(isLeft != isRight);
        }
        // plane: unit outward normal, corners on it
        checkNear(rbLength(p->normals[f]), 1.0, 1e-15);
        for (int i = 0; i < count; ++i) {
            checkNear(rbDot(p->normals[f], p->vertices[loop[i]]), p->offsets[f], 1e-14 * p->scale);
        }
    }
    assert_int_equal(corners, 2 * p->edgeCount);
    int total = 0;
    for (int v = 0; v < p->vertexCount; ++v) {
        int count;
        const int* edges = rbPolyhedron_GetVertexEdges(p, v, &count);
        total += count;
        assert_true(count >= 3);
        for (int i = 0; i < count; ++i) {
            const rbEdge* e = &p->edges[edges[i]];
            assert_true(e->v0 == v || e->v1 == v);
            assert_true(i == 0 || edges[i] > edges[i - 1]);
        }
    }
    assert_int_equal(total, 2 * p->edgeCount);
}

// L-02
static void incidenceIsConsistent(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(61)};
    static const rbShapeType types[3] = {RB_SHAPE_HULL, RB_SHAPE_POLYHEDRON, RB_SHAPE_MESH};
    for (int k = 0; k < rbTest_Count(90, 900); ++k) {
        rbGeometry* g = makeSample(&random, types[k % 3]);
        checkIncidence(g->polyhedron);
        rbDestroyGeometry(g);
    }
}

// L-02
static void openSurfacesHaveEdgesWithOneFace(void** state)
{
    (void)state;
    static const rbVec3 v[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    static const int triangles[6] = {0, 1, 2, 0, 2, 3};
    rbMeshDef def = {v, 4, NULL, triangles, 2};
    rbError error = {0};
    rbGeometry* g = rbCreateMesh(&def, &error);
    requireOk(g, &error);
    const rbPolyhedron* p = g->polyhedron;
    assert_int_equal(p->edgeCount, 5);
    int open = 0;
    for (int e = 0; e < 5; ++e) {
        open += p->edges[e].faceRight == -1;
    }
    assert_int_equal(open, 4);
    assert_false(rbGeometry_IsSolid(g));
    assert_false(rbGeometry_Contains(g, rbMakeVec3(0.5, 0.5, 0.0)));
    rbMassProperties m;
    assert_int_equal(rbGeometry_GetMass(g, 1.0, &m, &error), RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.message, "open"));
    // seen from both sides, the normal is that of the face
    for (int side = -1; side <= 1; side += 2) {
        rbRay ray = {{0.25, 0.5, side}, {0, 0, -side}, 2.0};
        rbRayHit hit;
        assert_true(rbGeometry_CastRay(g, &ray, &hit));
        checkNear(hit.t, 1.0, 0.0);
        checkNear(hit.normal.z, 1.0, 0.0);
        assert_int_equal(hit.feature, 1);
    }
    rbDestroyGeometry(g);
}

// L-04
static void soupsNeedNoIncidence(void** state)
{
    (void)state;
    // three triangles at one edge and two that cross, a repeated face, and an unused vertex
    static const rbVec3 v[7] = {{0, 0, 0},      {1, 0, 0},      {0.5, 1, 0}, {0.5, 0, 1},
                                {0.5, -1, 0.1}, {0.2, 0.4, -1}, {9, 9, 9}};
    static const int triangles[15] = {0, 1, 2, 0, 1, 3, 0, 1, 4, 3, 4, 5, 2, 0, 1};
    rbMeshDef def = {v, 7, NULL, triangles, 5};
    rbError error = {0};
    rbGeometry* g = rbCreateSoup(&def, &error);
    requireOk(g, &error);
    assert_int_equal(g->polyhedron->edgeCount, 0);
    rbBounds bounds = rbGeometry_GetBounds(g, RB_TRANSFORM_IDENTITY);
    checkNear(bounds.upper.x, 1.0, 0.0); // without the unused vertex
    checkNear(bounds.lower.z, -1.0, 0.0);
    rbRay ray = {{0.5, 0.3, 5.0}, {0, 0, -1}, INFINITY};
    rbRayHit hit;
    assert_true(rbGeometry_CastRay(g, &ray, &hit));
    assert_int_equal(hit.feature, 0);
    assert_false(rbGeometry_IsSolid(g));
    rbMassProperties m;
    assert_int_equal(rbGeometry_GetMass(g, 1.0, &m, &error), RB_STATUS_UNSUPPORTED);
    // the same triangles as a mesh are a surface too
    rbGeometry* mesh = rbCreateMesh(&def, &error);
    requireOk(mesh, &error);
    assert_false(rbGeometry_IsSolid(mesh));
    rbDestroyGeometry(mesh);
    rbDestroyGeometry(g);
}

static void expectNothing(const rbGeometry* made, const rbError* error, const char* word)
{
    assert_null(made);
    assert_true(error->status == RB_STATUS_INVALID || error->status == RB_STATUS_LIMIT);
    if (strstr(error->message, word) == NULL) {
        print_error("\"%s\" does not say \"%s\"\n", error->message, word);
        fail();
    }
}

static void badValuesAreRefusedWithAMessage(void** state)
{
    (void)state;
    rbError e = {0};
    uint64_t before = rbGetAllocatedBytes();
    const double bad[6] = {0.0, -1.0, NAN, INFINITY, 1e13, 1e-16};
    for (int i = 0; i < 6; ++i) {
        double x = bad[i];
        expectNothing(rbCreateSphere(x, &e), &e, "radius of the sphere");
        expectNothing(rbCreateBox(rbMakeVec3(1, x, 1), &e), &e, "half extent y");
        expectNothing(rbCreateCapsule(x, 1, &e), &e, "radius of the capsule");
        expectNothing(rbCreateCylinder(1, x, &e), &e, "half length");
        expectNothing(rbCreateCone(1, x, &e), &e, "height of the cone");
        expectNothing(rbCreateEllipsoid(rbMakeVec3(1, 1, x), &e), &e, "semi axis z");
    }
    expectNothing(rbCreateCapsule(1, -1, &e), &e, "0 or a length");
    expectNothing(rbCreatePlane(RB_VEC3_ZERO, 1.0, &e), &e, "normal");
    expectNothing(rbCreatePlane(rbMakeVec3(0, NAN, 1), 1.0, &e), &e, "normal");
    expectNothing(rbCreatePlane(rbMakeVec3(0, 0, 1), NAN, &e), &e, "nan");
    expectNothing(rbCreateCompound(NULL, 0, &e), &e, "0 children");
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbCompoundChild child = {NULL, RB_TRANSFORM_IDENTITY, 0.0};
    expectNothing(rbCreateCompound(&child, 1, &e), &e, "child 0");
    child.geometry = ball;
    child.transform.q.w = 2.0;
    expectNothing(rbCreateCompound(&child, 1, &e), &e, "quaternion");
    child.transform = RB_TRANSFORM_IDENTITY;
    child.transform.p.z = NAN;
    expectNothing(rbCreateCompound(&child, 1, &e), &e, "nan");
    child.transform.p.z = 0.0;
    child.density = NAN;
    expectNothing(rbCreateCompound(&child, 1, &e), &e, "density");
    // nested one level too deep
    child.density = 0.0;
    rbGeometry* levels[RB_COMPOUND_DEPTH_MAX];
    for (int i = 0; i < RB_COMPOUND_DEPTH_MAX; ++i) {
        levels[i] = rbCreateCompound(&child, 1, &e);
        requireOk(levels[i], &e);
        child.geometry = levels[i];
    }
    expectNothing(rbCreateCompound(&child, 1, &e), &e, "levels");
    rbMassProperties m;
    assert_int_equal(rbGeometry_GetMass(child.geometry, 0.0, &m, &e), RB_STATUS_INVALID);
    assert_int_equal(rbGeometry_GetMass(child.geometry, NAN, &m, &e), RB_STATUS_INVALID);
    assert_int_equal(rbGeometry_GetMass(child.geometry, 3.0, &m, &e), RB_STATUS_OK);
    checkRelative(m.mass, 4.0 * RB_PI, 1e-15);
    for (int i = 0; i < RB_COMPOUND_DEPTH_MAX; ++i) {
        rbDestroyGeometry(levels[i]);
    }
    rbDestroyGeometry(ball);
    assert_true(rbGetAllocatedBytes() == before);
}

static void parametersComeBack(void** state)
{
    (void)state;
    rbError e = {0};
    rbGeometry* g = rbCreatePlane(rbMakeVec3(0, 0, 4), 8.0, &e);
    requireOk(g, &e);
    rbShapeData d = rbGeometry_GetData(g);
    assert_true(d.plane.normal.z == 1.0 && d.plane.offset == 2.0);
    assert_false(rbGeometry_IsBounded(g));
    assert_true(isinf(rbGeometry_GetRadius(g, RB_VEC3_ZERO)));
    rbTransform up = {{1, 2, 3}, RB_QUAT_IDENTITY};
    rbBounds bounds = rbGeometry_GetBounds(g, up);
    assert_true(isinf(bounds.lower.z) && isinf(bounds.upper.x) && bounds.upper.z == 5.0);
    rbCompoundChild child = {g, up, 0.0};
    rbGeometry* compound = rbCreateCompound(&child, 1, &e);
    requireOk(compound, &e);
    rbDestroyGeometry(g); // the compound keeps it alive
    int count;
    const rbCompoundChild* children = rbGeometry_GetChildren(compound, &count);
    assert_int_equal(count, 1);
    assert_int_equal(rbGeometry_GetType(children[0].geometry), RB_SHAPE_PLANE);
    assert_false(rbGeometry_IsBounded(compound));
    rbMassProperties m;
    assert_int_equal(rbGeometry_GetMass(compound, 1.0, &m, &e), RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(e.message, "child 0"));
    rbMeshDef mesh;
    assert_false(rbGeometry_GetMesh(compound, &mesh));
    rbDestroyGeometry(compound);
    g = rbCreateCone(1.5, 2.5, &e);
    requireOk(g, &e);
    d = rbGeometry_GetData(g);
    assert_true(d.cone.radius == 1.5 && d.cone.height == 2.5);
    rbDestroyGeometry(g);
}

// Polygons given to a mesh become triangles, including non-convex and non-planar ones.
static void meshesSplitPolygons(void** state)
{
    (void)state;
    rbError e = {0};
    const double arrow[5][2] = {{0, 0}, {2, 1}, {0, 2}, {0.5, 1}, {0.2, 0.6}};
    rbOwnedMesh owned;
    assert_int_equal(rbExtrudeProfile(arrow, 5, 1.0, &owned, &e), RB_STATUS_OK);
    owned.vertices[6].z += 0.3; // the top is no longer flat
    rbMeshDef def = rbOwnedMesh_GetDef(&owned);
    assert_null(rbCreatePolyhedron(&def, &e));
    rbGeometry* g = rbCreateMesh(&def, &e);
    requireOk(g, &e);
    assert_true(rbGeometry_IsSolid(g));
    rbMeshDef stored;
    assert_true(rbGeometry_GetMesh(g, &stored));
    assert_int_equal(stored.faceCount, 2 * 3 + 5 * 2);
    assert_true(rbValidateMesh(&stored, NULL, 0).isValid);
    checkIncidence(g->polyhedron);
    rbDestroyGeometry(g);
    rbFreeMesh(&owned);
}

// Rays aimed exactly at vertices and edges never slip through.
static void raysAtEdgesDoNotSlipThrough(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(62)};
    for (int k = 0; k < rbTest_Count(60, 1000); ++k) {
        rbGeometry* g = makeSample(&random, k % 2 == 0 ? RB_SHAPE_MESH : RB_SHAPE_HULL);
        const rbPolyhedron* p = g->polyhedron;
        rbMassProperties m;
        rbError e = {0};
        assert_int_equal(rbGeometry_GetMass(g, 1.0, &m, &e), RB_STATUS_OK);
        rbVec3 inside = k % 2 == 0 ? RB_VEC3_ZERO : m.center; // meshes are stars about the origin
        for (int edge = 0; edge < p->edgeCount; ++edge) {
            rbVec3 a = p->vertices[p->edges[edge].v0];
            rbVec3 b = p->vertices[p->edges[edge].v1];
            double s = edge % 3 == 0 ? 0.0 : rbRandom_Unit(&random);
            rbVec3 target = rbAddScaled(a, s, rbSub(b, a));
            rbRay ray = {inside, rbSub(target, inside), INFINITY};
            rbRayHit hit;
            assert_true(rbGeometry_CastRay(g, &ray, &hit));
            checkNear(hit.t, 1.0, 1e-9);
            assert_true(rbGeometry_Contains(g, target)); // the boundary is inside
        }
        for (int t = 0; t < p->triangleCount; ++t) { // so is the middle of a face
            const int* v = p->triangles[t].v;
            rbVec3 sum = rbAdd(rbAdd(p->vertices[v[0]], p->vertices[v[1]]), p->vertices[v[2]]);
            assert_true(rbGeometry_Contains(g, rbScale(1.0 / 3.0, sum)));
        }
        rbDestroyGeometry(g);
    }
}

// issue: cutting a quadrilateral put its diagonal on an edge of the adjacent triangle.
static void diagonalOnAnEdgeLeavesTheIncidenceOut(void** state)
{
    (void)state;
    static const rbVec3 vertices[5] = {
        {0.0, 0.0, 10.0}, {1.0, 1.0, 1.0}, {0.0, 1.0, 1.0}, {0.0, 0.0, 1.0}, {-4.0, -3.0, -4.0}};
    static const int sizes[2] = {3, 4};
    static const int indices[7] = {0, 3, 2, 1, 0, 4, 2};
    rbMeshDef def = {.vertices = vertices,
                     .vertexCount = 5,
                     .faceSizes = sizes,
                     .indices = indices,
                     .faceCount = 2};
    rbError error = {0};
    rbGeometry* mesh = rbCreateMesh(&def, &error);
    assert_non_null(mesh);
    assert_false(rbGeometry_IsSolid(mesh));
    assert_int_equal(mesh->polyhedron->triangleCount, 3);
    assert_null(mesh->polyhedron->edges);
    rbDestroyGeometry(mesh);
}

RB_TEST_GROUP(test_polyhedron, cmocka_unit_test(diagonalOnAnEdgeLeavesTheIncidenceOut),
              cmocka_unit_test(incidenceIsConsistent),
              cmocka_unit_test(openSurfacesHaveEdgesWithOneFace),
              cmocka_unit_test(soupsNeedNoIncidence),
              cmocka_unit_test(badValuesAreRefusedWithAMessage),
              cmocka_unit_test(parametersComeBack), cmocka_unit_test(meshesSplitPolygons),
              cmocka_unit_test(raysAtEdgesDoNotSlipThrough));
