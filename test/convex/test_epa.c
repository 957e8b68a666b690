// EPA on pairs with known answers: closed forms, touching, nested and flat cores, limits, and the
// overlap half of the black-box suite X-03.
#include "collision/convex/epa.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>

static rbEpaScratch scratch;

typedef struct Body {
    rbGeometry* geometry;
    rbTransform pose;
} Body;

static rbTransform at(double x, double y, double z)
{
    return (rbTransform){{x, y, z}, RB_QUAT_IDENTITY};
}

static rbTransform turned(rbVec3 p, rbVec3 axis, double angle)
{
    rbVec3 u = rbScale(sin(0.5 * angle), rbNormalize(axis));
    return (rbTransform){p, {cos(0.5 * angle), u.x, u.y, u.z}};
}

// Depth of two geometries with radii added; frees them.
static rbSeparation separate(rbGeometry* ga, rbGeometry* gb, rbTransform pose, rbEpaResult* result)
{
    rbConvex a, b;
    assert_true(rbConvex_Make(ga, 0.0, &a) && rbConvex_Make(gb, 0.0, &b));
    rbCso cso = rbCso_Make(&a, &b, pose);
    rbEpaSettings settings = rbDefaultEpaSettings();
    rbEpaResult r = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
    rbSeparation s = rbEpa_Separation(&cso, &r);
    assert_true(s.lower <= s.distance && s.distance <= s.upper);
    if (result != NULL) {
        *result = r;
    }
    rbDestroyGeometry(ga);
    rbDestroyGeometry(gb);
    return s;
}

static void checkVector(rbVec3 v, rbVec3 truth, double tolerance)
{
    checkNear(v.x, truth.x, tolerance);
    checkNear(v.y, truth.y, tolerance);
    checkNear(v.z, truth.z, tolerance);
}

// G-10, G-21: boxes 2 x 2 x 2, moved by (1.5, 0.3, 0.2): least overlap 0.5 along x, B beyond A.
static void alignedBoxesPartAlongTheLeastOverlap(void** state)
{
    (void)state;
    rbVec3 half = {1.0, 1.0, 1.0};
    rbSeparation s =
        separate(rbCreateBox(half, NULL), rbCreateBox(half, NULL), at(1.5, 0.3, 0.2), NULL);
    checkNear(s.distance, -0.5, 1e-15);
    checkVector(s.normal, rbMakeVec3(1.0, 0.0, 0.0), 1e-15);
    checkNear(s.pointA.x, 1.0, 1e-15);
    checkNear(s.pointB.x, 0.5, 1e-15);
    // G-29: both points at the same place perpendicular to the normal, inside both faces
    checkNear(s.pointA.y, s.pointB.y, 1e-15);
    checkNear(s.pointA.z, s.pointB.z, 1e-15);
    assert_true(s.pointA.y >= -0.7 && s.pointA.y <= 1.0);
    assert_true(s.pointA.z >= -0.8 && s.pointA.z <= 1.0);
}

// G-28: a sphere of radius 0.3 in a box with its center 0.2 below a face: depth 0.5.
static void sphereLeavesABoxThroughTheNearestFace(void** state)
{
    (void)state;
    rbSeparation s = separate(rbCreateBox(rbMakeVec3(1.0, 2.0, 3.0), NULL),
                              rbCreateSphere(0.3, NULL), at(0.1, -1.8, 0.4), NULL);
    checkNear(s.distance, -0.5, 1e-15);
    checkVector(s.normal, rbMakeVec3(0.0, -1.0, 0.0), 1e-15);
    checkVector(s.pointA, rbMakeVec3(0.1, -2.0, 0.4), 1e-14);
    checkVector(s.pointB, rbMakeVec3(0.1, -1.5, 0.4), 1e-14);
}

// A box on a box large enough to be a half space: the depth is that of its lowest corner.
static void tiltedBoxSinksByItsLowestCorner(void** state)
{
    (void)state;
    rbTransform pose = turned(rbMakeVec3(0.3, 0.2, 0.9), rbMakeVec3(1.0, 2.0, 0.5), 0.7);
    rbVec3 half = {0.5, 0.6, 0.7};
    rbMat3 m = rbMatFromQuat(pose.q);
    double reach = half.x * fabs(m.cx.z) + half.y * fabs(m.cy.z) + half.z * fabs(m.cz.z);
    rbSeparation s = separate(rbCreateBox(rbMakeVec3(1e3, 1e3, 1e3), NULL), rbCreateBox(half, NULL),
                              at(0.0, 0.0, 0.0), NULL);
    checkNear(s.distance, -1000.5, 1e-11);
    pose.p.z += 1e3 - 0.4;
    s = separate(rbCreateBox(rbMakeVec3(1e3, 1e3, 1e3), NULL), rbCreateBox(half, NULL), pose, NULL);
    checkNear(s.distance, pose.p.z - reach - 1e3, 1e-11);
    checkVector(s.normal, rbMakeVec3(0.0, 0.0, 1.0), 1e-14);
}

// G-12: ellipsoids on a common axis overlap by the sum of their semi-axes less the distance.
static void ellipsoidsOnAnAxisOverlapByTheirSemiAxes(void** state)
{
    (void)state;
    for (int k = 1; k <= 6; ++k) {
        double depth = pow(10.0, -k);
        rbSeparation s = separate(rbCreateEllipsoid(rbMakeVec3(1.0, 2.0, 2.5), NULL),
                                  rbCreateEllipsoid(rbMakeVec3(0.8, 1.5, 1.2), NULL),
                                  at(1.8 - depth, 0.0, 0.0), NULL);
        checkNear(s.distance, -depth, 1e-14);
        checkVector(s.normal, rbMakeVec3(1.0, 0.0, 0.0), 1e-9);
        checkVector(s.pointA, rbMakeVec3(1.0, 0.0, 0.0), 1e-8);
    }
}

// Both Newton's certificate and the polytope, one after the other, on the same deep pair.
static void deepEllipsoidsAreProvenByThePolytope(void** state)
{
    (void)state;
    // Coincident, same axes: exit along the shortest one, 2 * 0.5.
    rbEpaResult r;
    rbSeparation s =
        separate(rbCreateEllipsoid(rbMakeVec3(1.0, 0.8, 0.5), NULL),
                 rbCreateEllipsoid(rbMakeVec3(1.0, 0.8, 0.5), NULL), RB_TRANSFORM_IDENTITY, &r);
    checkNear(s.distance, -1.0, 1e-12);
    checkNear(fabs(s.normal.z), 1.0, 1e-9);
    assert_int_equal(r.reason, RB_STOP_CONVERGED);
    assert_true(r.iterations > 0);
    checkBelow(r.upper - r.lower, 2e-8);
    // Nested: a small one off the center of a large one.
    s = separate(rbCreateEllipsoid(rbMakeVec3(5.0, 4.0, 3.0), NULL),
                 rbCreateEllipsoid(rbMakeVec3(0.2, 0.1, 0.3), NULL), at(0.0, 0.0, 0.7), NULL);
    checkNear(s.distance, -2.6, 1e-12);
    checkNear(s.normal.z, 1.0, 1e-9);
}

// G-28: spheres are points with radii: signed distance = |c| - rA - rB, down to coincidence.
static void spheresOverlapByTheirRadii(void** state)
{
    (void)state;
    static const double offsets[] = {0.0, 1e-300, 1e-12, 0.1};
    for (int i = 0; i < 4; ++i) {
        rbEpaResult r;
        rbSeparation s = separate(rbCreateSphere(0.6, NULL), rbCreateSphere(0.4, NULL),
                                  at(offsets[i], 0.0, 0.0), &r);
        checkNear(s.distance, offsets[i] - 1.0, 1e-15);
        checkNear(rbLength(s.normal), 1.0, 1e-15);
        rbVec3 step = rbSub(s.pointB, s.pointA);
        checkVector(step, rbScale(s.distance, s.normal), 1e-15);
    }
}

// G-27, G-25: flat differences: crossing segments span a parallelogram, collinear ones a segment.
static void flatCoresHaveNoDepth(void** state)
{
    (void)state;
    rbEpaResult r;
    rbTransform crossed = turned(rbMakeVec3(0.1, 0.0, 0.2), rbMakeVec3(1.0, 0.0, 0.0), 0.5 * RB_PI);
    rbSeparation s =
        separate(rbCreateCapsule(0.25, 1.0, NULL), rbCreateCapsule(0.5, 1.0, NULL),
                 turned(rbMakeVec3(0.0, 0.3, 0.2), rbMakeVec3(1.0, 0.0, 0.0), 1.2), &r);
    checkNear(r.depth, 0.0, 1e-15);
    checkNear(fabs(r.normal.x), 1.0, 1e-15);
    checkNear(s.distance, -0.75, 1e-15);
    checkBelow(rbDistance(r.a, r.b), 1e-15);
    // Parallel and collinear
    s = separate(rbCreateCapsule(0.25, 1.0, NULL), rbCreateCapsule(0.5, 1.0, NULL),
                 at(0.0, 0.0, 1.5), &r);
    checkNear(s.distance, -0.75, 1e-15);
    checkNear(r.normal.z, 0.0, 1e-15);
    // A point on a segment
    s = separate(rbCreateCapsule(0.25, 1.0, NULL), rbCreateSphere(0.5, NULL), at(0.0, 0.0, 0.3),
                 &r);
    checkNear(s.distance, -0.75, 1e-15);
    checkVector(r.a, rbMakeVec3(0.0, 0.0, 0.3), 1e-15);
    // Two points at one place
    rbVec3 place = {0.5, -2.0, 1.0};
    rbConvex points[2];
    rbConvex_MakePoints(&place, 1, 2.5, 0.25, &points[0]);
    rbConvex_MakePoints(&place, 1, 2.5, 0.5, &points[1]);
    rbCso cso = rbCso_Make(&points[0], &points[1], RB_TRANSFORM_IDENTITY);
    rbEpaSettings settings = rbDefaultEpaSettings();
    r = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
    s = rbEpa_Separation(&cso, &r);
    checkNear(s.distance, -0.75, 1e-15);
    checkVector(r.a, place, 1e-15);
    checkVector(r.b, place, 1e-15);
    // Cores that miss each other
    separate(rbCreateCapsule(0.25, 1.0, NULL), rbCreateCapsule(0.5, 1.0, NULL), crossed, &r);
    assert_int_equal(r.reason, RB_STOP_APART);
    checkBelow(r.depth, -0.05);
    // in their common plane
    separate(rbCreateCapsule(0.25, 1.0, NULL), rbCreateCapsule(0.5, 1.0, NULL),
             turned(rbMakeVec3(0.0, 1.3, 0.2), rbMakeVec3(1.0, 0.0, 0.0), 0.2), &r);
    assert_int_equal(r.reason, RB_STOP_APART);
}

// G-26, G-27: touching is depth 0 within rounding, a gap is detected.
static void touchingIsZeroAndGapsAreApart(void** state)
{
    (void)state;
    rbVec3 half = {1.0, 0.5, 0.25};
    static const rbVec3 touches[] = {
        {2.0, 0.0, 0.0}, {2.0, 1.0, 0.0}, {2.0, 1.0, 0.5}, {0.3, 1.0, 0.1}, {0.0, 0.0, 0.5}};
    for (int i = 0; i < 5; ++i) {
        rbEpaResult r;
        rbTransform pose = {touches[i], RB_QUAT_IDENTITY};
        separate(rbCreateBox(half, NULL), rbCreateBox(half, NULL), pose, &r);
        checkNear(r.depth, 0.0, 1e-15);
        assert_true(r.lower <= 0.0 && r.upper >= 0.0);
        checkBelow(r.upper - r.lower, 1e-13);
        pose.p = rbScale(1.0 + 1e-9, pose.p);
        separate(rbCreateBox(half, NULL), rbCreateBox(half, NULL), pose, &r);
        assert_int_equal(r.reason, RB_STOP_APART);
    }
}

// G-25: start points may be a vertex, an edge, a face with the origin on it, or all the same.
static void everyStartSimplexGivesTheSameAnswer(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbConvex a;
    assert_true(rbConvex_Make(box, 0.0, &a));
    rbEpaSettings settings = rbDefaultEpaSettings();
    static const rbVec3 directions[4][4] = {
        {{1, 1, 1}, {-1, -1, -1}, {1, -1, 1}, {-1, 1, 1}}, // origin on an edge
        {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},      // one point four times
        {{1, 1, 1}, {1, -1, 1}, {-1, 1, 1}, {-1, -1, 1}},  // flat
        {{1, 1, 1}, {-1, -1, 1}, {1, -1, -1}, {-1, 1, -1}} // encloses the origin
    };
    for (int offset = 0; offset < 2; ++offset) {
        rbCso cso = rbCso_Make(&a, &a, at(0.25 * offset, 0.0, 0.0));
        for (int k = 0; k < 4; ++k) {
            rbCsoPoint start[4];
            for (int i = 0; i < 4; ++i) {
                start[i] = rbCso_Support(&cso, directions[k][i], NULL);
            }
            for (int count = 0; count <= 4; ++count) {
                rbEpaResult r = rbEpa_Depth(&cso, start, count, &settings, &scratch);
                checkNear(r.depth, 2.0 - 0.25 * offset, 1e-14);
                assert_int_equal(r.reason, RB_STOP_CONVERGED);
            }
        }
    }
    rbDestroyGeometry(box);
}

// G-31: limits end with the best result so far, and the bounds still hold.
static void limitsEndWithBoundsThatHold(void** state)
{
    (void)state;
    rbGeometry* a = rbCreateCylinder(0.7, 0.9, NULL);
    rbGeometry* b = rbCreateCone(0.8, 1.5, NULL);
    rbConvex ca, cb;
    assert_true(rbConvex_Make(a, 0.0, &ca) && rbConvex_Make(b, 0.0, &cb));
    rbCso cso =
        rbCso_Make(&ca, &cb, turned(rbMakeVec3(0.3, 0.2, 0.4), rbMakeVec3(1.0, 2.0, 3.0), 1.0));
    rbEpaSettings settings = rbDefaultEpaSettings();
    rbEpaResult truth = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
    assert_int_equal(truth.reason, RB_STOP_CONVERGED);
    int full = 0, stopped = 0;
    for (int limit = 4; limit < 40; ++limit) {
        rbEpaSettings small = settings;
        small.pointLimit = limit;
        rbEpaResult r = rbEpa_Depth(&cso, NULL, 0, &small, &scratch);
        assert_true(r.lower <= truth.upper && r.upper >= truth.lower);
        full += r.reason == RB_STOP_STORAGE;
        small = settings;
        small.faceLimit = limit;
        r = rbEpa_Depth(&cso, NULL, 0, &small, &scratch);
        assert_true(r.lower <= truth.upper && r.upper >= truth.lower);
        full += r.reason == RB_STOP_STORAGE;
        small = settings;
        small.iterationMax = limit - 3;
        r = rbEpa_Depth(&cso, NULL, 0, &small, &scratch);
        assert_true(r.iterations <= limit - 3);
        assert_true(r.lower <= truth.upper && r.upper >= truth.lower);
        stopped += r.reason == RB_STOP_ITERATIONS;
    }
    assert_true(full > 20);
    assert_true(stopped > 5);
    rbDestroyGeometry(a);
    rbDestroyGeometry(b);
}

// G-24: a looser tolerance is met with less work.
static void theToleranceIsRelativeAndKept(void** state)
{
    (void)state;
    for (int size = -6; size <= 6; size += 3) {
        double scale = pow(10.0, size);
        rbGeometry* a = rbCreateCylinder(0.7 * scale, 0.9 * scale, NULL);
        rbConvex ca;
        assert_true(rbConvex_Make(a, 0.0, &ca));
        rbVec3 p = {0.3 * scale, 0.2 * scale, 0.9 * scale};
        rbCso cso = rbCso_Make(&ca, &ca, turned(p, rbMakeVec3(1.0, 2.0, 3.0), 1.0));
        int before = 0;
        int first = 0;
        for (int k = 1; k <= 10; ++k) {
            rbEpaSettings settings = rbDefaultEpaSettings();
            settings.relativeTolerance = pow(10.0, -k);
            rbEpaResult r = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
            assert_int_equal(r.reason, RB_STOP_CONVERGED);
            checkBelow(r.upper - r.lower,
                       1.001 * settings.relativeTolerance * r.depth + 1e-14 * cso.scale);
            assert_true(r.iterations >= before);
            before = r.iterations;
            first = k == 1 ? before : first;
        }
        // Without a tolerance the search goes on to rounding: the tolerance is what stops it.
        assert_true(first < before);
        rbDestroyGeometry(a);
    }
}

// Four points of a ball determine its center: after a few points the plain search, without Newton's
// method, finds depth and normal of two balls to rounding; without caps it is far from them.
// G-30
static void sphereCapsFindTheDepthOfBalls(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(30)};
    rbGeometry* ball = rbCreateEllipsoid(rbMakeVec3(2.0, 2.0, 2.0), NULL);
    rbConvex a;
    assert_true(rbConvex_Make(ball, 0.0, &a));
    for (int i = 0; i < 100; ++i) {
        rbVec3 n = rbRandom_Direction(&random);
        rbCso cso = rbCso_Make(&a, &a, (rbTransform){rbScale(3.0, n), rbRandom_Quat(&random)});
        rbEpaSettings settings = rbDefaultEpaSettings();
        settings.enableNewton = false;
        settings.iterationMax = 20;
        rbEpaResult with = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
        settings.enableSphereCap = false;
        rbEpaResult without = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
        checkNear(with.depth, 1.0, 1e-12);
        checkVector(with.normal, n, 1e-6);
        assert_true(fabs(without.depth - 1.0) > 1e-9);
    }
    rbDestroyGeometry(ball);
}

// Caps propose, bounds decide: the answer is the same with and without them.
// G-30
static void sphereCapsChangeNoAnswer(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateEllipsoid(rbMakeVec3(2.0, 2.0, 2.0), NULL);
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbGeometry* cylinder = rbCreateCylinder(1.0, 1.0, NULL);
    rbConvex a, b, c;
    assert_true(rbConvex_Make(ball, 0.0, &a) && rbConvex_Make(box, 0.0, &b));
    assert_true(rbConvex_Make(cylinder, 0.0, &c));
    const rbConvex* others[] = {&a, &b, &c};
    for (int k = 0; k < 3; ++k) {
        rbCso cso = rbCso_Make(&a, others[k], at(1.5, 1.6, 1.7));
        rbEpaSettings settings = rbDefaultEpaSettings();
        rbEpaResult with = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
        settings.enableSphereCap = false;
        rbEpaResult without = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
        checkNear(with.depth, without.depth, 1e-8);
        assert_true(with.lower <= without.upper && without.lower <= with.upper);
        if (k == 0) {
            rbVec3 n = rbNormalize(rbMakeVec3(1.5, 1.6, 1.7));
            checkNear(with.depth, 4.0 - rbLength(rbMakeVec3(1.5, 1.6, 1.7)), 1e-14);
            checkVector(with.normal, n, 1e-12);
        }
    }
    rbDestroyGeometry(ball);
    rbDestroyGeometry(box);
    rbDestroyGeometry(cylinder);
}

// ----------------------------------------------------------------------------

typedef struct Scene {
    Body bodies[2];
    rbVec3 move;   // of body 2 per unit
    rbVec3 normal; // of body 2 toward body 1
    double rate;   // depth per move
    double depthMax;
    bool isCoreFlat; // a core at a corner, point or segment: the radii hold the overlap
} Scene;

static Scene makeScene(int number)
{
    rbVec3 cube = {5.0, 5.0, 5.0}, bar = {15.0, 0.5, 0.5};
    rbVec3 x = {-1.0, 0.0, 0.0}, y = {0.0, -1.0, 0.0}, z = {0.0, 0.0, -1.0};
    double third = 1.0 / sqrt(3.0), half = sqrt(0.5);
    double corner = 5.0 * (1.0 + third);
    rbVec3 diagonal = {-third, -third, -third};
    rbTransform o = RB_TRANSFORM_IDENTITY;
    rbVec3 up = {0.0, 0.0, 1.0};
    switch (number) {
    case 1:
        return (Scene){
            {{rbCreateBox(cube, NULL), o}, {rbCreateSphere(5.0, NULL), at(corner, corner, corner)}},
            diagonal,
            diagonal,
            1.0,
            1.0,
            false};
    case 2:
        return (Scene){{{rbCreateBox(cube, NULL), o}, {rbCreateBox(bar, NULL), at(20.0, 0.0, 0.0)}},
                       x,
                       x,
                       1.0,
                       1.0,
                       false};
    case 3:
        return (Scene){
            {{rbCreateSphere(5.0, NULL), o}, {rbCreateSphere(5.0, NULL), at(10.0, 0.0, 0.0)}},
            x,
            x,
            1.0,
            1.0,
            false};
    case 4:
        return (Scene){{{rbCreateBox(cube, NULL), o},
                        {rbCreateBox(cube, NULL),
                         turned(rbMakeVec3(5.0 * (1.0 + sqrt(2.0)), -5.0, 0.0), up, 0.25 * RB_PI)}},
                       x,
                       rbMakeVec3(-half, half, 0.0),
                       half,
                       1.0,
                       false};
    case 5:
        return (Scene){{{rbCreateBox(cube, NULL), o}, {rbCreateBox(bar, NULL), at(15.0, 5.5, 0.0)}},
                       y,
                       y,
                       1.0,
                       0.4,
                       false};
    case 6:
        return (Scene){
            {{rbCreateBox(cube, NULL), o},
             {rbCreateBox(cube, NULL), turned(rbMakeVec3(5.0 * (1.0 + sqrt(3.0)), 0.0, 0.0),
                                              rbMakeVec3(0.0, 1.0, -1.0), acos(third))}},
            x,
            x,
            1.0,
            1.0,
            false};
    case 7:
        return (Scene){{{rbCreateSphere(5.0, NULL), o},
                        {rbCreateBox(rbMakeVec3(2.5, 2.5, 2.5), NULL), at(0.0, 0.0, 7.5)}},
                       z,
                       z,
                       1.0,
                       1.0,
                       false};
    case 8:
        return (Scene){{{rbCreateCapsule(4.0, 5.0, NULL),
                         turned(RB_VEC3_ZERO, rbMakeVec3(0.0, 1.0, 0.0), 0.5 * RB_PI)},
                        {rbCreateCapsule(4.0, 5.0, NULL), at(0.0, 0.0, 13.0)}},
                       z,
                       z,
                       1.0,
                       1.0,
                       false};
    default:
        return (Scene){{{rbCreateEllipsoid(rbMakeVec3(10.0, 5.0, 5.0), NULL), o},
                        {rbCreateEllipsoid(rbMakeVec3(5.0, 10.0, 5.0), NULL), at(15.0, 0.0, 0.0)}},
                       x,
                       x,
                       1.0,
                       1.0,
                       false};
    }
}

// Moves body 2 until the cores overlap by the depth (the bodies by the depth and their radii).
static void checkScene(const Scene* scene, double depth, bool isSwapped)
{
    double radii = 0.0;
    rbConvex convex[2];
    for (int i = 0; i < 2; ++i) {
        assert_true(rbConvex_Make(scene->bodies[i].geometry, 0.0, &convex[i]));
        radii += convex[i].radius;
    }
    rbTransform poses[2] = {scene->bodies[0].pose, scene->bodies[1].pose};
    double move = (depth + (scene->isCoreFlat ? 0.0 : radii)) / scene->rate;
    poses[1].p = rbAddScaled(poses[1].p, move, scene->move);
    int first = isSwapped ? 1 : 0, second = 1 - first;
    rbCso cso = rbCso_Make(&convex[first], &convex[second],
                           rbInvMulTransforms(poses[first], poses[second]));
    rbEpaSettings settings = rbDefaultEpaSettings();
    rbEpaResult r = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
    if (scene->isCoreFlat) {
        // Cores stay separated by the radii minus the depth: the bounds show that, and GJK does the
        // rest.
        assert_int_equal(r.reason, RB_STOP_APART);
        assert_true(r.lower <= depth - radii && depth - radii <= r.upper);
        return;
    }
    if (depth < 0.0) {
        assert_int_equal(r.reason, RB_STOP_APART);
        return;
    }
    rbSeparation s = rbEpa_Separation(&cso, &r);
    checkNear(s.distance, -depth - radii, 1e-13 * cso.scale);
    rbVec3 normal = rbRotate(poses[first].q, s.normal);
    rbVec3 truth = isSwapped ? scene->normal : rbNeg(scene->normal);
    double sine = rbLength(rbCross(normal, truth));
    double angle = atan2(sine, rbDot(normal, truth)) * 180.0 / RB_PI;
    checkBelow(angle, 1e-5);
}

// nine scenes, both orders; G-40
static void blackBoxScenesOverlapAsBuilt(void** state)
{
    (void)state;
    static const double depths[] = {-1e-5, 1e-5, 1e-4, 1e-2, 0.1, 1.0};
    for (int number = 1; number <= 9; ++number) {
        Scene scene = makeScene(number);
        scene.isCoreFlat = number == 1 || number == 3 || number == 8;
        for (int k = 0; k < 6; ++k) {
            if (depths[k] <= scene.depthMax) {
                checkScene(&scene, depths[k], false);
                checkScene(&scene, depths[k], true);
            }
        }
        rbDestroyGeometry(scene.bodies[0].geometry);
        rbDestroyGeometry(scene.bodies[1].geometry);
    }
}

static rbCoreSupportFn* countedSupport;
static int supportCalls;

static rbVec3 countSupport(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    ++supportCalls;
    return countedSupport(convex, direction, vertex);
}

// The calls to the support function that are reported are those made, from any start.
static void supportsAreCounted(void** state)
{
    (void)state;
    rbGeometry* shapes[2] = {rbCreateEllipsoid(rbMakeVec3(1.0, 0.7, 0.5), NULL),
                             rbCreateEllipsoid(rbMakeVec3(0.6, 0.9, 0.4), NULL)};
    rbConvex a, b;
    assert_true(rbConvex_Make(shapes[0], 0.0, &a) && rbConvex_Make(shapes[1], 0.0, &b));
    rbEpaSettings settings = rbDefaultEpaSettings();
    countedSupport = a.support;
    a.support = countSupport;
    for (int i = 0; i < 10; ++i) {
        rbCso cso = rbCso_Make(&a, &b, at(0.1 * i, 0.2, -0.1));
        supportCalls = 0;
        rbEpaResult r = rbEpa_Depth(&cso, NULL, 0, &settings, &scratch);
        assert_true(supportCalls > 4);
        assert_int_equal(r.supports, supportCalls);
    }
    rbDestroyGeometry(shapes[0]);
    rbDestroyGeometry(shapes[1]);
}

RB_TEST_GROUP(test_epa, cmocka_unit_test(supportsAreCounted),
              cmocka_unit_test(alignedBoxesPartAlongTheLeastOverlap),
              cmocka_unit_test(sphereLeavesABoxThroughTheNearestFace),
              cmocka_unit_test(tiltedBoxSinksByItsLowestCorner),
              cmocka_unit_test(ellipsoidsOnAnAxisOverlapByTheirSemiAxes),
              cmocka_unit_test(deepEllipsoidsAreProvenByThePolytope),
              cmocka_unit_test(spheresOverlapByTheirRadii), cmocka_unit_test(flatCoresHaveNoDepth),
              cmocka_unit_test(touchingIsZeroAndGapsAreApart),
              cmocka_unit_test(everyStartSimplexGivesTheSameAnswer),
              cmocka_unit_test(limitsEndWithBoundsThatHold),
              cmocka_unit_test(theToleranceIsRelativeAndKept),
              cmocka_unit_test(sphereCapsFindTheDepthOfBalls),
              cmocka_unit_test(sphereCapsChangeNoAnswer),
              cmocka_unit_test(blackBoxScenesOverlapAsBuilt));
