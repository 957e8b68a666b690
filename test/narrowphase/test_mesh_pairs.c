// Meshes against everything: the matrix of all types, containment, contacts of bodies at rest.
#include "lab/math/random3.h"
#include "mesh_shapes.h"
#include "rb_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double scratch[1 << 15];

static rbSeparationInput makeInput(const rbGeometry* a, const rbGeometry* b, rbVec3 p)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA.p = p;
    return input;
}

static rbSeparation measure(const rbGeometry* a, const rbGeometry* b, rbVec3 p)
{
    rbSeparationInput input = makeInput(a, b, p);
    rbSeparation s;
    rbError error = {0};
    assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, &error), RB_STATUS_OK);
    bool overlaps;
    assert_int_equal(rbTestOverlap(&input, 0.0, NULL, &overlaps, &error), RB_STATUS_OK);
    if (fabs(s.distance) > 1e-8) {
        assert_int_equal(overlaps, s.distance < 0.0);
    }
    return s;
}

static rbGeometry* makeSphere(double radius)
{
    rbError error = {0};
    return rbCreateSphere(radius, &error);
}

// Every pair of types is measured, tested and has contacts, or is refused by the message for two
// half spaces; other methods refuse meshes and name the unsupported one.
static void everyPairAnswersOrRefuses(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(411)};
    rbGeometry* shapes[RB_SHAPE_COUNT];
    for (int i = 0; i < RB_SHAPE_COUNT; ++i) {
        shapes[i] = makeAnyShape(&random, (rbShapeType)i);
        assert_non_null(shapes[i]);
    }
    for (int i = 0; i < RB_SHAPE_COUNT * RB_SHAPE_COUNT * 4; ++i) {
        const rbGeometry* a = shapes[i % RB_SHAPE_COUNT];
        const rbGeometry* b = shapes[i / RB_SHAPE_COUNT % RB_SHAPE_COUNT];
        bool isRefused = rbGeometry_GetType(a) == RB_SHAPE_PLANE && a == b;
        rbSeparationInput input = makeInput(
            a, b, rbScale(rbRandom_Range(&random, 0.0, 3.0), rbRandom_Direction(&random)));
        input.transformBtoA.q = rbRandom_Quat(&random);
        rbSeparation s;
        rbError error = {0};
        rbStatus status = rbMeasureSeparation(&input, NULL, scratch, &s, &error);
        bool overlaps;
        rbStatus tested = rbTestOverlap(&input, 0.0, NULL, &overlaps, NULL);
        rbManifold manifolds[32];
        rbContactList list = {manifolds, 32, 0};
        rbStatus contacted = rbFindContacts(&input, 0.01, NULL, scratch, &list, NULL);
        rbStatus wanted = isRefused ? RB_STATUS_UNSUPPORTED : RB_STATUS_OK;
        assert_int_equal(status, wanted);
        assert_int_equal(tested, wanted);
        assert_int_equal(contacted, wanted);
        if (isRefused) {
            assert_string_equal(
                error.message,
                "the method auto does not support plane and plane; two half spaces "
                "have no distance; replace one of them by a bounded shape, such as a "
                "box");
            continue;
        }
        assert_true(s.lower <= s.distance && s.distance <= s.upper);
        if (fabs(s.distance) > 1e-6) {
            assert_int_equal(overlaps, s.distance < 0.0);
        }
        assert_int_equal(list.count > 0, s.distance <= 0.01);
        for (int k = 0; k < list.count && k < 32; ++k) {
            const rbManifold* m = &manifolds[k];
            assert_true(m->count >= 1 && m->count <= RB_MANIFOLD_POINTS_MAX);
            checkNear(rbLength(m->normal), 1.0, 1e-12);
            for (int j = 0; j < m->count; ++j) {
                const rbManifoldPoint* p = &m->points[j];
                assert_true(p->distance <= 0.01 + 1e-12);
                checkBelow(rbDistance(rbSub(p->pointB, p->pointA), rbScale(p->distance, m->normal)),
                           1e-9);
            }
        }
    }
    rbSeparationInput input =
        makeInput(shapes[RB_SHAPE_MESH], shapes[RB_SHAPE_BOX], rbMakeVec3(3.0, 0.0, 0.0));
    const rbPairMethod others[4] = {RB_PAIR_CLOSED_FORM, RB_PAIR_ITERATIVE,
                                    rbPairMethod_Find("mpr"), rbPairMethod_Find("features")};
    for (int i = 0; i < 4; ++i) {
        input.method = others[i];
        rbSeparation s;
        rbError error = {0};
        assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, &error),
                         RB_STATUS_UNSUPPORTED);
        char wanted[128];
        snprintf(wanted, sizeof wanted,
                 "the method %s does not support mesh and box; use the method auto",
                 rbPairMethod_Name(others[i]));
        assert_string_equal(error.message, wanted);
        assert_true(isnan(s.distance));
    }
    for (int i = 0; i < RB_SHAPE_COUNT; ++i) {
        rbDestroyGeometry(shapes[i]);
    }
}

// In the hollow is separated, in the shell is not, though no surfaces touch.
static void hollowsAreOutside(void** state)
{
    (void)state;
    rbError error = {0};
    rbGeometry* ball = makeHollowBall(1.0, 2.0);
    rbGeometry* small = makeSphere(0.1);
    rbGeometry* box = rbCreateBox(rbMakeVec3(0.1, 0.1, 0.1), &error);
    rbGeometry* large = makeSphere(2.5);
    const rbGeometry* const inner[2] = {small, box};
    for (int i = 0; i < 2; ++i) {
        rbSeparation s = measure(ball, inner[i], RB_VEC3_ZERO);
        assert_true(s.distance > 0.7 && s.distance < 0.91);
        s = measure(ball, inner[i], rbMakeVec3(0.0, 1.5, 0.0));
        assert_true(s.distance < -0.5);
        // the exit is about 0.6 m to either side
        checkNear(s.distance, -0.6, 0.06);
        assert_true(s.upper <= -0.3 && s.lower <= s.distance);
        assert_true(measure(ball, inner[i], rbMakeVec3(0.0, 2.3, 0.0)).distance > 0.1);
    }
    // the other order: the mesh is in the convex shape
    assert_true(measure(large, ball, RB_VEC3_ZERO).distance < 0.0);
    assert_true(measure(ball, large, RB_VEC3_ZERO).distance < 0.0);
    rbGeometry* ring = makeRing(1.0, 1.5, 0.25, 32);
    for (int i = 0; i < 2; ++i) {
        assert_true(measure(ring, inner[i], RB_VEC3_ZERO).distance > 0.8);
        assert_true(measure(ring, inner[i], rbMakeVec3(1.25, 0.0, 0.0)).distance < -0.1);
    }
    rbDestroyGeometry(ball);
    rbDestroyGeometry(small);
    rbDestroyGeometry(box);
    rbDestroyGeometry(large);
    rbDestroyGeometry(ring);
}

// A sphere that sinks into a mesh is as deep as its radius implies until it has passed the surface.
static void spheresSinkExactly(void** state)
{
    (void)state;
    rbError error = {0};
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), &error);
    rbGeometry* mesh = makeMeshOf(box, RB_SHAPE_POLYHEDRON);
    rbGeometry* ball = makeSphere(0.3);
    for (int i = 0; i <= 100; ++i) {
        double z = 1.6 - 0.012 * i; // of the center, down to 0.4
        rbSeparation s = measure(mesh, ball, rbMakeVec3(0.1, 0.2, z));
        checkNear(s.distance, z - 1.3, fabs(z - 1.0) > 1e-12 ? 1e-14 : 1e-12);
        assert_true(s.lower <= s.distance && s.distance <= s.upper);
        if (fabs(z - 1.0) > 1e-12) {
            checkBelow(s.upper - s.lower, 1e-13);
            assert_int_equal(s.reason, RB_STOP_SURFACES);
        }
        checkNear(s.normal.z, 1.0, 1e-12);
        checkNear(s.pointB.z, z - 0.3, 1e-12);
        checkNear(s.pointA.z, 1.0, 1e-12);
    }
    rbDestroyGeometry(box);
    rbDestroyGeometry(mesh);
    rbDestroyGeometry(ball);
}

// A floor of triangles under a body at rest, at a small depth and a larger one: as many points as
// on a plane, all with the normal of the floor.
static void bodiesRestOnAFloorOfTriangles(void** state)
{
    (void)state;
    rbError error = {0};
    const double c = sqrt(0.5);
    const rbQuat lying = {c, c, 0.0, 0.0}; // z to -y
    struct {
        rbGeometry* shape;
        double height; // m, of the origin
        rbQuat q;
        int least, most;
    } rows[5] = {
        {rbCreateBox(rbMakeVec3(0.3, 0.2, 0.1), &error), 0.1, RB_QUAT_IDENTITY, 4, 4},
        {makeSphere(0.3), 0.3, RB_QUAT_IDENTITY, 1, 1},
        {rbCreateCapsule(0.1, 0.3, &error), 0.1, lying, 2, 2},
        {rbCreateCylinder(0.2, 0.3, &error), 0.2, lying, 2, 2},
        {rbCreateCylinder(0.2, 0.3, &error), 0.3, RB_QUAT_IDENTITY, 4, 4},
    };
    static const int cells[3] = {1, 7, 40};
    static const double depths[3] = {0.0, 1e-6, 0.01};
    rbRandom random = {rbTest_Seed(412)};
    for (int i = 0; i < 5 * 3 * 3 * 4; ++i) {
        int row = i % 5;
        rbGeometry* floor = makeFloor(2.0, cells[i / 5 % 3]);
        double depth = depths[i / 15 % 3];
        rbTransform t = {{0.4 * rbRandom_Symmetric(&random), 0.4 * rbRandom_Symmetric(&random),
                          rows[row].height - depth},
                         rows[row].q};
        bool isFlipped = i / 45 % 2 == 1;
        rbSeparationInput input = makeInput(isFlipped ? rows[row].shape : floor,
                                            isFlipped ? floor : rows[row].shape, t.p);
        input.transformBtoA = isFlipped ? rbInvertTransform(t) : t;
        rbManifold manifolds[16];
        rbContactList list = {manifolds, 16, 0};
        assert_int_equal(rbFindContacts(&input, RB_CONTACT_THRESHOLD, NULL, scratch, &list, &error),
                         RB_STATUS_OK);
        assert_int_equal(list.count, 1);
        assert_in_range(manifolds[0].count, rows[row].least, rows[row].most);
        rbVec3 normal = isFlipped ? rbNeg(rbRotate(t.q, manifolds[0].normal)) : manifolds[0].normal;
        checkNear(normal.z, 1.0, 1e-9);
        for (int k = 0; k < manifolds[0].count; ++k) {
            checkNear(manifolds[0].points[k].distance, -depth, 1e-8);
        }
        if (row == 0) { // the corners of the box
            double far = 0.0;
            for (int k = 0; k < 4; ++k) {
                rbVec3 p = isFlipped ? manifolds[0].points[k].pointA
                                     : rbInvTransformPoint(t, manifolds[0].points[k].pointB);
                checkNear(fabs(p.x), 0.3, 1e-9);
                checkNear(fabs(p.y), 0.2, 1e-9);
                far = fmax(
                    far, rbDistance(manifolds[0].points[k].pointA, manifolds[0].points[0].pointA));
            }
            checkNear(far, 2.0 * sqrt(0.13), 1e-8);
        }
        rbDestroyGeometry(floor);
    }
    for (int i = 0; i < 5; ++i) {
        rbDestroyGeometry(rows[i].shape);
    }
}

// A mesh on a half space rests on its corners, a ball in a groove has two contacts.
static void meshesStandOnTheirCorners(void** state)
{
    (void)state;
    rbError error = {0};
    rbGeometry* box = rbCreateBox(rbMakeVec3(0.5, 0.4, 0.3), &error);
    rbGeometry* mesh = makeMeshOf(box, RB_SHAPE_MESH);
    rbGeometry* plane = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, &error);
    rbManifold manifolds[4];
    rbContactList list = {manifolds, 4, 0};
    rbSeparationInput input = makeInput(plane, mesh, rbMakeVec3(0.0, 0.0, 0.31));
    input.radiusB = 0.01;
    assert_int_equal(rbFindContacts(&input, 1e-8, NULL, scratch, &list, &error), RB_STATUS_OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(manifolds[0].count, 4);
    for (int k = 0; k < 4; ++k) {
        checkNear(manifolds[0].points[k].pointB.z, 0.0, 1e-15);
        checkNear(fabs(manifolds[0].points[k].pointB.x), 0.5, 1e-15);
        checkNear(manifolds[0].points[k].distance, 0.0, 1e-15);
    }
    const rbVec3 vertices[6] = {{-1, -1, 1}, {-1, 1, 1}, {0, -1, 0},
                                {0, 1, 0},   {1, -1, 1}, {1, 1, 1}};
    const int indices[12] = {0, 2, 3, 0, 3, 1, 2, 4, 5, 2, 5, 3};
    rbMeshDef def = {vertices, 6, NULL, indices, 4};
    rbGeometry* groove = rbCreateMesh(&def, &error);
    rbGeometry* ball = makeSphere(0.3);
    input = makeInput(groove, ball, rbMakeVec3(0.0, 0.1, 0.3 * sqrt(2.0) - 1e-9));
    assert_int_equal(rbFindContacts(&input, 1e-8, NULL, scratch, &list, &error), RB_STATUS_OK);
    assert_int_equal(list.count, 2);
    checkNear(manifolds[0].normal.x * manifolds[1].normal.x, -0.5, 1e-6);
    assert_int_equal(manifolds[0].count + manifolds[1].count, 2);
    rbDestroyGeometry(box);
    rbDestroyGeometry(mesh);
    rbDestroyGeometry(plane);
    rbDestroyGeometry(groove);
    rbDestroyGeometry(ball);
}

RB_TEST_GROUP(test_mesh_pairs, cmocka_unit_test(everyPairAnswersOrRefuses),
              cmocka_unit_test(hollowsAreOutside), cmocka_unit_test(spheresSinkExactly),
              cmocka_unit_test(bodiesRestOnAFloorOfTriangles),
              cmocka_unit_test(meshesStandOnTheirCorners));
