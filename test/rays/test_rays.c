// Rays with known answers.
#include "collision/geometry/box_tree.h"
#include "rb_test.h"

#include <rattleback/shape.h>

#include <math.h>

// The pyramid of the specification's scenes.
static rbGeometry* makePyramid(bool isHull)
{
    static const rbVec3 vertices[4] = {
        {0.0, 1.0, 0.0}, {1.0, -1.0, 1.0}, {-1.0, -1.0, 1.0}, {0.0, -1.0, -1.0}};
    static const int indices[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    rbMeshDef def = {vertices, 4, NULL, indices, 4};
    rbError error = {0};
    rbGeometry* g = isHull ? rbCreateHull(vertices, 4, &error) : rbCreateMesh(&def, &error);
    if (g == NULL) {
        print_error("%s\n", error.message);
    }
    assert_non_null(g);
    return g;
}

static void checkVector(rbVec3 v, double x, double y, double z)
{
    checkNear(v.x, x, 1e-14);
    checkNear(v.y, y, 1e-14);
    checkNear(v.z, z, 1e-14);
}

// edges and corners belong to a triangle, and the parameter has a sign.
static void bordersOfATriangleAreHit(void** state)
{
    (void)state;
    static const rbVec3 vertices[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    static const int indices[3] = {0, 1, 2};
    rbMeshDef def = {vertices, 3, NULL, indices, 1};
    rbGeometry* g = rbCreateSoup(&def, NULL);
    assert_non_null(g);
    static const double on[7][2] = {{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0},  {0.5, 0.0},
                                    {0.0, 0.5}, {0.5, 0.5}, {0.25, 0.25}};
    static const double off[4][2] = {{-1e-15, 0.5}, {0.5, -1e-15}, {0.5000001, 0.5}, {1.1, 0.0}};
    for (int side = -1; side <= 1; side += 2) {
        for (int i = 0; i < 7; ++i) {
            rbRay ray = {{on[i][0], on[i][1], 2.0 * side}, {0.0, 0.0, -4.0 * side}, INFINITY};
            rbRayHit hit;
            assert_true(rbGeometry_CastRay(g, &ray, &hit));
            assert_true(hit.t == 0.5);
            // behind the origin
            rbRay away = {ray.origin, rbNeg(ray.direction), INFINITY};
            assert_false(rbGeometry_CastRay(g, &away, &hit));
            assert_false(rbGeometry_IsHit(g, &away));
            assert_true(rbGeometry_CastLine(g, &away, -1.0, &hit));
            assert_true(hit.t == -0.5);
            assert_true(rbGeometry_CastLine(g, &away, -INFINITY, &hit));
            checkNear(hit.t, -0.5, 1e-15);
            assert_false(rbGeometry_CastLine(g, &away, -0.25, &hit));
            // from the front only: the normal is +z
            assert_int_equal(rbGeometry_CastFront(g, &ray, 0.0, &hit), side > 0);
        }
        for (int i = 0; i < 4; ++i) {
            rbRay ray = {{off[i][0], off[i][1], 2.0 * side}, {0.0, 0.0, -1.0 * side}, INFINITY};
            rbRayHit hit;
            assert_false(rbGeometry_CastRay(g, &ray, &hit));
        }
    }
    // within its plane it is not hit
    rbRay within = {{-1.0, 0.25, 0.0}, {1.0, 0.0, 0.0}, INFINITY};
    rbRayHit hit;
    assert_false(rbGeometry_CastRay(g, &within, &hit));
    rbDestroyGeometry(g);
}

// the first hit of an interval, whatever the length of the direction.
static void parametersMayBeNegative(void** state)
{
    (void)state;
    rbGeometry* g = rbCreateSphere(1.0, NULL);
    rbRay ray = {{4.0, 0.0, 0.0}, {2.0, 0.0, 0.0}, INFINITY};
    rbRayHit hit;
    assert_false(rbGeometry_CastRay(g, &ray, &hit));
    assert_true(rbGeometry_CastLine(g, &ray, -INFINITY, &hit));
    checkNear(hit.t, -2.5, 1e-15);
    checkVector(hit.point, -1.0, 0.0, 0.0);
    checkVector(hit.normal, -1.0, 0.0, 0.0);
    // from inside it hits where it leaves, still behind the origin
    assert_true(rbGeometry_CastLine(g, &ray, -2.0, &hit));
    checkNear(hit.t, -1.5, 1e-15);
    checkVector(hit.normal, 1.0, 0.0, 0.0);
    assert_false(rbGeometry_CastLine(g, &ray, -1.25, &hit));
    ray.tMax = -1.75; // the interval ends before
    assert_false(rbGeometry_CastLine(g, &ray, -2.0, &hit));
    assert_true(rbGeometry_CastLine(g, &ray, -3.0, &hit));
    rbDestroyGeometry(g);
    // planes are unbounded: the interval must be bounded
    rbGeometry* plane = rbCreatePlane((rbVec3){0.0, 0.0, 1.0}, 0.0, NULL);
    assert_non_null(plane);
    rbRay up = {{0.0, 0.0, 3.0}, {0.0, 0.0, 1.0}, INFINITY};
    assert_false(rbGeometry_CastLine(plane, &up, -INFINITY, &hit));
    assert_true(rbGeometry_CastLine(plane, &up, -10.0, &hit));
    checkNear(hit.t, -3.0, 1e-14);
    rbDestroyGeometry(plane);
}

// a tangent touches where the square root is zero; from inside a ray hits where it
// leaves, and does not enter.
static void spheresAreTouchedAndLeft(void** state)
{
    (void)state;
    rbGeometry* g = rbCreateSphere(1.0, NULL);
    rbRayHit hit;
    rbRay tangent = {{-2.0, 1.0, 0.0}, {0.5, 0.0, 0.0}, INFINITY};
    assert_true(rbGeometry_CastRay(g, &tangent, &hit));
    checkNear(hit.t, 4.0, 1e-15);
    checkVector(hit.normal, 0.0, 1.0, 0.0);
    tangent.origin.y = nextafter(1.0, 2.0);
    assert_false(rbGeometry_CastRay(g, &tangent, &hit));
    rbRay inside = {{0.25, 0.0, 0.0}, {1.0, 0.0, 0.0}, INFINITY};
    assert_true(rbGeometry_CastRay(g, &inside, &hit));
    checkNear(hit.t, 0.75, 1e-15);
    checkVector(hit.normal, 1.0, 0.0, 0.0);
    assert_false(rbGeometry_CastFront(g, &inside, 0.0, &hit));
    // the contact point of scene 2: (sqrt(3)/2, 0, 1/2) from a ray at height 1/2
    rbRay scene = {{3.0, 0.0, 0.5}, {-3.0, 0.0, 0.0}, 1.0};
    assert_true(rbGeometry_CastFront(g, &scene, 0.0, &hit));
    checkNear(hit.t, 1.0 - sqrt(0.75) / 3.0, 1e-15);
    checkVector(hit.normal, sqrt(0.75), 0.0, 0.5);
    rbDestroyGeometry(g);
}

// the vertex of one pyramid moves toward the edge of another (scene 5). Its base is
// parallel to the motion and is not hit; the normal is that of the side.
static void frontFacesOfAPolytopeAreHit(void** state)
{
    (void)state;
    for (int kind = 0; kind < 2; ++kind) {
        rbGeometry* g = makePyramid(kind == 0);
        rbRay ray = {{0.0, -1.0, 4.0}, {0.0, 0.0, -5.0}, 1.0};
        rbRayHit hit;
        assert_true(rbGeometry_CastFront(g, &ray, 0.0, &hit));
        checkNear(hit.t, 0.6, 1e-15);
        checkVector(hit.point, 0.0, -1.0, 1.0);
        checkVector(hit.normal, 0.0, 1.0 / sqrt(5.0), 2.0 / sqrt(5.0));
        // from the middle a ray only leaves
        rbRay inside = {{0.0, 0.0, 0.0}, {0.0, 0.0, 1.0}, INFINITY};
        assert_true(rbGeometry_CastRay(g, &inside, &hit));
        assert_false(rbGeometry_CastFront(g, &inside, 0.0, &hit));
        assert_true(rbGeometry_CastFront(g, &inside, -INFINITY, &hit));
        assert_true(hit.t < 0.0 && hit.normal.z < 0.0);
        rbDestroyGeometry(g);
    }
}

// on the diagonal of a side, at an edge and at a corner of a cube all parameters are equal:
// the triangle of the least index is hit.
static void tiesGoToTheFirstFace(void** state)
{
    (void)state;
    static const rbVec3 vertices[8] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                       {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
    // two triangles a side: -z, +z, -y, +y, -x, +x
    static const int indices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                    2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    rbMeshDef def = {vertices, 8, NULL, indices, 12};
    rbError error = {0};
    rbGeometry* g = rbCreateMesh(&def, &error);
    if (g == NULL) {
        print_error("%s\n", error.message);
    }
    assert_non_null(g);
    static const struct {
        rbVec3 origin, direction;
        double t;
        int face;
    } ties[4] = {
        {{0.25, 0.25, 5.0}, {0.0, 0.0, -1.0}, 4.0, 2},  // diagonal of +z
        {{5.0, 0.25, 5.0}, {-1.0, 0.0, -1.0}, 4.0, 2},  // edge of +z and +x
        {{5.0, 5.0, 5.0}, {-1.0, -1.0, -1.0}, 4.0, 2},  // corner of +z, +y and +x
        {{5.0, 5.0, -0.25}, {-1.0, -1.0, 0.0}, 4.0, 7}, // edge of +y and +x: triangles 7 and 10
    };
    for (int i = 0; i < 4; ++i) {
        rbRay ray = {ties[i].origin, ties[i].direction, INFINITY};
        rbRayHit hit;
        assert_true(rbGeometry_CastFront(g, &ray, 0.0, &hit));
        checkNear(hit.t, ties[i].t, 1e-15);
        assert_int_equal(hit.feature, ties[i].face);
        assert_true(rbGeometry_CastRay(g, &ray, &hit));
        assert_int_equal(hit.feature, ties[i].face);
    }
    rbDestroyGeometry(g);
}

// A ray without a direction hits nothing, even inside; a ray of zero length hits the surface it
// lies on.
static void emptyRaysHaveAnAnswer(void** state)
{
    (void)state;
    rbGeometry* shapes[3] = {makePyramid(false), makePyramid(true), rbCreateSphere(1.0, NULL)};
    for (int i = 0; i < 3; ++i) {
        rbRay ray = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, INFINITY};
        rbRayHit hit;
        assert_false(rbGeometry_CastRay(shapes[i], &ray, &hit));
        assert_false(rbGeometry_IsHit(shapes[i], &ray));
        assert_false(rbGeometry_CastLine(shapes[i], &ray, -1.0, &hit));
        assert_false(rbGeometry_CastFront(shapes[i], &ray, -INFINITY, &hit));
        assert_int_equal(rbGeometry_CastRays(shapes[i], &ray, 1, &hit), 0);
        rbRay touching = {{0.0, 1.0, 0.0}, {0.0, -1.0, 0.0}, 0.0};
        assert_true(rbGeometry_CastRay(shapes[i], &touching, &hit));
        assert_true(hit.t == 0.0);
        rbDestroyGeometry(shapes[i]);
    }
}

// A triangle without an area is refused with a message, so that no ray ever meets one.
static void trianglesWithoutAreaAreRefused(void** state)
{
    (void)state;
    static const rbVec3 vertices[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {2.0, 0.0, 0.0}};
    static const int indices[3] = {0, 1, 2};
    rbMeshDef def = {vertices, 3, NULL, indices, 1};
    rbError error = {0};
    assert_null(rbCreateSoup(&def, &error));
    assert_int_equal(error.status, RB_STATUS_INVALID);
    assert_true(error.message[0] != '\0');
}

RB_TEST_GROUP(test_rays, cmocka_unit_test(trianglesWithoutAreaAreRefused),
              cmocka_unit_test(bordersOfATriangleAreHit), cmocka_unit_test(parametersMayBeNegative),
              cmocka_unit_test(spheresAreTouchedAndLeft),
              cmocka_unit_test(frontFacesOfAPolytopeAreHit), cmocka_unit_test(tiesGoToTheFirstFace),
              cmocka_unit_test(emptyRaysHaveAnAnswer));
