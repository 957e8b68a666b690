// Contact manifolds at positions with points known by hand, and their properties on random poses.
#include "collision/narrowphase/manifold.h"
#include "lab/math/random3.h"
#include "pair_support.h"
#include "rb_test.h"

#include <float.h>
#include <math.h>

static rbQuat turnAbout(rbVec3 axis, double angle)
{
    double s, c;
    rbSinCos(0.5 * angle, &s, &c);
    return (rbQuat){c, s * axis.x, s * axis.y, s * axis.z};
}

static rbManifold build(const rbGeometry* a, const rbGeometry* b, rbTransform t, double threshold)
{
    rbSeparation s = collidePair(a, b, t);
    rbManifold m;
    rbBuildManifold(a, b, t, &s, threshold, &m);
    for (int k = 0; k < m.count; ++k) {
        const rbManifoldPoint* p = &m.points[k];
        rbVec3 rest = rbAddScaled(rbSub(p->pointB, p->pointA), -p->distance, m.normal);
        assert_true(rbLength(rest) <= 1e-12);
        assert_true(p->distance <= threshold);
        for (int j = 0; j < k; ++j) {
            assert_true(p->featureId != m.points[j].featureId);
        }
    }
    return m;
}

// Is there a point of the manifold at x, y (of A) with this distance?
static bool hasPoint(const rbManifold* m, double x, double y, double distance)
{
    for (int k = 0; k < m->count; ++k) {
        const rbManifoldPoint* p = &m->points[k];
        if (fabs(p->pointA.x - x) < 1e-10 && fabs(p->pointA.y - y) < 1e-10 &&
            fabs(p->distance - distance) < 1e-10) {
            return true;
        }
    }
    return false;
}

static double areaOf(const rbManifold* m)
{
    // hull of up to four points: the largest of the three orders
    static const int orders[3][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}};
    double best = 0.0;
    for (int o = 0; o < 3 && m->count == 4; ++o) {
        rbVec3 sum = RB_VEC3_ZERO;
        for (int k = 0; k < 4; ++k) {
            sum = rbAdd(sum, rbCross(m->points[orders[o][k]].pointA,
                                     m->points[orders[o][(k + 1) % 4]].pointA));
        }
        double area = 0.5 * fabs(rbDot(sum, m->normal));
        best = area > best ? area : best;
    }
    return best;
}

// B-61
static void stackedBoxesTouchInTheCornersOfTheirOverlap(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbGeometry* small = rbCreateBox(rbMakeVec3(0.5, 0.25, 1.0), NULL);
    const double gaps[] = {0.0, 1e-3, -0.01};
    for (int i = 0; i < 3; ++i) {
        // [-1, 1]^2 and [-0.5, 1.5] x [-1.25, 0.75] share [-0.5, 1] x [-1, 0.75]
        rbManifold m = build(box, box, at(0.5, -0.25, 2.0 + gaps[i]), 0.01);
        assert_int_equal(m.count, 4);
        assert_true(hasPoint(&m, -0.5, -1.0, gaps[i]) && hasPoint(&m, 1.0, -1.0, gaps[i]));
        assert_true(hasPoint(&m, 1.0, 0.75, gaps[i]) && hasPoint(&m, -0.5, 0.75, gaps[i]));
        // a small one in the middle: its own corners, in either order
        m = build(box, small, at(0.25, 0.25, 2.0 + gaps[i]), 0.01);
        assert_int_equal(m.count, 4);
        assert_true(hasPoint(&m, -0.25, 0.0, gaps[i]) && hasPoint(&m, 0.75, 0.5, gaps[i]));
        m = build(small, box, at(0.25, 0.25, 2.0 + gaps[i]), 0.01);
        assert_int_equal(m.count, 4);
        assert_true(hasPoint(&m, -0.5, -0.25, gaps[i]) && hasPoint(&m, 0.5, 0.25, gaps[i]));
    }
    // too far
    rbManifold none = build(box, box, at(0.5, -0.25, 2.02), 0.01);
    assert_int_equal(none.count, 0);
    rbDestroyGeometry(box);
    rbDestroyGeometry(small);
}

// B-61
static void turnedBoxesKeepFourOfEightPoints(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbTransform t = {{0.0, 0.0, 2.0}, turnAbout(rbMakeVec3(0.0, 0.0, 1.0), 0.25 * RB_PI)};
    rbManifold m = build(box, box, t, 1e-3);
    assert_int_equal(m.count, 4);
    // the octagon has its corners at (1, tan 22.5) and so on
    double a = sqrt(2.0) - 1.0;
    for (int k = 0; k < 4; ++k) {
        rbVec3 p = rbAbs3(m.points[k].pointA);
        checkNear(fmax(p.x, p.y), 1.0, 1e-10);
        checkNear(fmin(p.x, p.y), a, 1e-10);
        checkNear(m.points[k].distance, 0.0, 1e-12);
    }
    // Circumradius squared R^2 = 1 + a^2. Opposite corners first, then the farthest on both sides:
    // the largest quadrilateral in the octagon is the square of area 2 R^2.
    checkNear(areaOf(&m), 2.0 * (1.0 + a * a), 1e-9);
    rbDestroyGeometry(box);
}

// B-61
static void idsStayUnderTinyMotion(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 0.7, 0.5), NULL);
    rbRandom random = {rbTest_Seed(311)};
    int count = rbTest_Count(300, 30000);
    for (int i = 0; i < count; ++i) {
        rbVec3 up = {0.0, 0.0, 1.0};
        rbTransform t = {{rbRandom_Symmetric(&random), 0.5 * rbRandom_Symmetric(&random), 0.999},
                         turnAbout(up, rbRandom_Range(&random, 0.1, 1.4))};
        rbManifold before = build(box, box, t, 0.02);
        rbTransform moved = t;
        moved.p = rbAddScaled(moved.p, 1e-8, rbRandom_Direction(&random));
        moved.q = rbNormalizeQuat(rbMulQuat(turnAbout(rbRandom_Direction(&random), 1e-8), t.q));
        rbManifold after = build(box, box, moved, 0.02);
        // all points stay near; the same name means the same place
        assert_int_equal(before.count, after.count);
        for (int k = 0; k < after.count; ++k) {
            for (int j = 0; j < before.count; ++j) {
                if (after.points[k].featureId == before.points[j].featureId) {
                    assert_true(rbDistance(after.points[k].pointA, before.points[j].pointA) < 1e-6);
                }
            }
        }
        // four or fewer corners in total: nothing to choose, so every name appears again
        rbGeometry* small = rbCreateBox(rbMakeVec3(0.2, 0.1, 0.5), NULL);
        t.p = rbMakeVec3(0.3 * t.p.x, 0.3 * t.p.y, t.p.z);
        moved.p = rbAddScaled(t.p, 1e-8, rbRandom_Direction(&random));
        before = build(box, small, t, 0.02);
        after = build(box, small, moved, 0.02);
        assert_int_equal(before.count, 4);
        assert_int_equal(after.count, 4);
        int found = 0;
        for (int k = 0; k < 16; ++k) {
            found += before.points[k / 4].featureId == after.points[k % 4].featureId ? 1 : 0;
        }
        assert_int_equal(found, 4);
        rbDestroyGeometry(small);
    }
    rbDestroyGeometry(box);
}

// G-36, B-61
static void boxOnPlaneStandsOnCornerEdgeOrFace(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbGeometry* ground = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL);
    rbTransform face = at(0.0, 0.0, 1.0);
    rbManifold m = build(ground, box, face, 1e-6);
    assert_int_equal(m.count, 4);
    assert_true(hasPoint(&m, 1.0, 1.0, 0.0) && hasPoint(&m, -1.0, 1.0, 0.0));
    assert_true(hasPoint(&m, 1.0, -1.0, 0.0) && hasPoint(&m, -1.0, -1.0, 0.0));
    m = build(box, ground, rbInvertTransform(face), 1e-6);
    assert_int_equal(m.count, 4);
    rbTransform edge = {{0.0, 0.0, sqrt(2.0)}, turnAbout(rbMakeVec3(1.0, 0.0, 0.0), 0.25 * RB_PI)};
    m = build(ground, box, edge, 1e-6);
    assert_int_equal(m.count, 2);
    assert_true(hasPoint(&m, 1.0, 0.0, 0.0) && hasPoint(&m, -1.0, 0.0, 0.0));
    // the space diagonal upright: turn (1, 1, 1) to z, about (1, -1, 0), by acos(1/sqrt 3)
    rbVec3 axis = {sqrt(0.5), -sqrt(0.5), 0.0};
    rbTransform corner = {{0.0, 0.0, sqrt(3.0) - 1e-7}, turnAbout(axis, rbAtan2(sqrt(2.0), 1.0))};
    m = build(ground, box, corner, 1e-6);
    assert_int_equal(m.count, 1);
    assert_true(hasPoint(&m, 0.0, 0.0, -1e-7));
    rbDestroyGeometry(box);
    rbDestroyGeometry(ground);
}

// G-36, B-61
static void roundShapesTouchInOneTwoOrFourPoints(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbGeometry* ground = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL);
    rbGeometry* sphere = rbCreateSphere(0.5, NULL);
    rbGeometry* capsule = rbCreateCapsule(0.5, 2.0, NULL);
    rbGeometry* cylinder = rbCreateCylinder(1.0, 0.5, NULL);
    rbManifold m = build(sphere, box, at(0.0, 0.0, -1.5), 1e-6);
    assert_int_equal(m.count, 1);
    // lying along x over the box: both ends of the face
    rbTransform lying = {{0.25, 0.0, 1.5}, turnAbout(rbMakeVec3(0.0, 1.0, 0.0), 0.5 * RB_PI)};
    m = build(box, capsule, lying, 1e-6);
    assert_int_equal(m.count, 2);
    assert_true(hasPoint(&m, 1.0, 0.0, 0.0) && hasPoint(&m, -1.0, 0.0, 0.0));
    lying.p.z = 0.5;
    m = build(ground, capsule, lying, 1e-6);
    assert_int_equal(m.count, 2);
    assert_true(hasPoint(&m, 2.25, 0.0, 0.0) && hasPoint(&m, -1.75, 0.0, 0.0));
    // parallel capsules share z from -1 to 2
    m = build(capsule, capsule, at(1.0, 0.0, 1.0), 1e-6);
    assert_int_equal(m.count, 2);
    checkNear(fabs(m.points[0].pointA.z - m.points[1].pointA.z), 3.0, 1e-12);
    checkNear(m.points[0].pointA.z + m.points[1].pointA.z, 1.0, 1e-12);
    // standing: one point for the capsule, four of the rim for the cylinder
    m = build(ground, capsule, at(0.0, 0.0, 2.5), 1e-6);
    assert_int_equal(m.count, 1);
    m = build(ground, cylinder, at(0.0, 0.0, 0.5), 1e-6);
    assert_int_equal(m.count, 4);
    checkNear(areaOf(&m), 2.0, 1e-9); // the square in the unit circle
    rbDestroyGeometry(box);
    rbDestroyGeometry(ground);
    rbDestroyGeometry(sphere);
    rbDestroyGeometry(capsule);
    rbDestroyGeometry(cylinder);
}

// B-61
static void edgesTouchInOnePointCrossedAndInTwoParallel(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbVec3 x = {1.0, 0.0, 0.0};
    rbVec3 y = {0.0, 1.0, 0.0};
    double high = 2.0 * sqrt(2.0);
    rbTransform worldA = {RB_VEC3_ZERO, turnAbout(x, 0.25 * RB_PI)};
    rbTransform crossed = {{0.0, 0.0, high}, turnAbout(y, 0.25 * RB_PI)};
    rbManifold m = build(box, box, rbInvMulTransforms(worldA, crossed), 1e-6);
    assert_int_equal(m.count, 1);
    checkNear(m.points[0].distance, 0.0, 1e-12);
    // parallel edges along x, shifted by 0.5: from -0.5 to 1. Every direction between the faces is
    // a normal there; take the upright one, as a distance query that comes from above does.
    rbTransform parallel = {{0.5, 0.0, high + 1e-3}, turnAbout(x, 0.25 * RB_PI)};
    m = build(box, box, rbInvMulTransforms(worldA, parallel), 0.01);
    assert_int_equal(m.count, 2);
    checkNear(fabs(m.points[0].pointA.x - m.points[1].pointA.x), 1.5, 1e-10);
    checkNear(m.points[0].distance, 1e-3, 1e-10);
    rbDestroyGeometry(box);
}

// The box as a hull and as a polyhedron gives the points of the box.
// B-61
static void polyhedraActAsBoxes(void** state)
{
    (void)state;
    rbVec3 corners[8];
    for (int k = 0; k < 8; ++k) {
        corners[k] = rbMakeVec3((k & 1) != 0 ? 1.0 : -1.0, (k & 2) != 0 ? 0.5 : -0.5,
                                (k & 4) != 0 ? 1.0 : -1.0);
    }
    static const int sizes[6] = {4, 4, 4, 4, 4, 4};
    static const int quads[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                  2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    rbMeshDef def = {corners, 8, sizes, quads, 6};
    rbGeometry* shapes[3] = {rbCreateBox(rbMakeVec3(1.0, 0.5, 1.0), NULL),
                             rbCreateHull(corners, 8, NULL), rbCreatePolyhedron(&def, NULL)};
    rbRandom random = {rbTest_Seed(312)};
    int count = rbTest_Count(500, 50000);
    for (int i = 0; i < count; ++i) {
        rbTransform t = {{rbRandom_Symmetric(&random), rbRandom_Symmetric(&random), 1.995},
                         turnAbout(rbMakeVec3(0.0, 0.0, 1.0), rbRandom_Symmetric(&random))};
        rbQuat tilt = turnAbout(rbRandom_Direction(&random), 0.01 * rbRandom_Unit(&random));
        t.q = rbNormalizeQuat(rbMulQuat(tilt, t.q));
        rbSeparation s = collidePair(shapes[0], shapes[0], t);
        rbManifold boxes;
        rbBuildManifold(shapes[0], shapes[0], t, &s, 0.02, &boxes);
        for (int k = 1; k < 9; ++k) {
            rbManifold m;
            rbBuildManifold(shapes[k % 3], shapes[k / 3], t, &s, 0.02, &m);
            assert_int_equal(m.count, boxes.count);
            checkNear(m.points[0].distance, boxes.points[0].distance, 1e-8);
            checkNear(areaOf(&m), areaOf(&boxes), 1e-6);
        }
    }
    for (int k = 0; k < 3; ++k) {
        rbDestroyGeometry(shapes[k]);
    }
}

// G-05, B-61
static void everyManifoldHoldsTheDeepestPointAndLiesOnBothBodies(void** state)
{
    (void)state;
    static const rbShapeType types[][2] = {
        {RB_SHAPE_BOX, RB_SHAPE_BOX},         {RB_SHAPE_BOX, RB_SHAPE_CAPSULE},
        {RB_SHAPE_CAPSULE, RB_SHAPE_CAPSULE}, {RB_SHAPE_SPHERE, RB_SHAPE_CONE},
        {RB_SHAPE_CYLINDER, RB_SHAPE_PLANE},  {RB_SHAPE_CONE, RB_SHAPE_PLANE},
        {RB_SHAPE_HULL, RB_SHAPE_PLANE},      {RB_SHAPE_BOX, RB_SHAPE_PLANE},
        {RB_SHAPE_SPHERE, RB_SHAPE_ELLIPSOID}};
    rbRandom random = {rbTest_Seed(313)};
    int count = rbTest_Count(9000, 900000);
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = makeRandomShape(&random, types[i % 9][0]);
        rbGeometry* b = makeRandomShape(&random, types[i % 9][1]);
        rbTransform t = makeRandomPose(&random, a, b);
        rbSeparation s = collidePair(a, b, t);
        rbManifold m;
        rbBuildManifold(a, b, t, &s, 0.01, &m);
        assert_int_equal(m.count == 0, s.distance > 0.01);
        double lowest = INFINITY;
        for (int k = 0; k < m.count; ++k) {
            const rbManifoldPoint* p = &m.points[k];
            lowest = fmin(lowest, p->distance);
            // points on the tops of tilted features are on the plane of the reference or inside
            assert_true(measureOffSurface(a, p->pointA) <= 0.01);
            assert_true(measureOffSurface(b, rbInvTransformPoint(t, p->pointB)) <= 0.01);
            // measured anew between the points, whose coordinates are below 10 m: may round up
            assert_true(p->distance <= 0.01 + 40.0 * DBL_EPSILON);
        }
        if (m.count > 0) {
            checkNear(lowest, s.distance, 1e-7);
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
}

// Near the origin of the half space the position of the point does not show its rounding error.
static void ballOnAHalfSpaceHasOnePoint(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(31)};
    rbGeometry* plane = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL);
    rbGeometry* ball = rbCreateSphere(0.1, NULL);
    for (int i = 0; i < 2000; ++i) {
        double near = i % 2 == 0 ? 1e-9 : 1e-3;
        rbTransform t = {{near * rbRandom_Symmetric(&random), near * rbRandom_Symmetric(&random),
                          0.1 + 1e-5 * rbRandom_Symmetric(&random)},
                         rbRandom_Quat(&random)};
        assert_int_equal(build(plane, ball, t, 1e-3).count, 1);
        assert_int_equal(build(ball, plane, rbInvertTransform(t), 1e-3).count, 1);
    }
    rbDestroyGeometry(plane);
    rbDestroyGeometry(ball);
}

// B-61: where sides lie along each other they cross anywhere; the corners are stable.
static void bricksOfAWallTouchInTheSameCorners(void** state)
{
    (void)state;
    rbError error = {0};
    rbGeometry* brick = rbCreateBox(rbMakeVec3(0.5, 0.2, 0.15), &error);
    rbRandom random = {rbTest_Seed(314)};
    for (int i = 0; i < rbTest_Count(2000, 20000); ++i) {
        rbTransform t = {rbMakeVec3(0.5, 0.0, 0.3),
                         turnAbout(rbRandom_Direction(&random), 1e-7 * rbRandom_Unit(&random))};
        t.p = rbAddScaled(t.p, 1e-8, rbRandom_Direction(&random));
        rbManifold m = build(brick, brick, t, 1e-5);
        assert_int_equal(m.count, 4);
        for (int k = 0; k < 4; ++k) {
            double x = (k & 1) != 0 ? 0.5 : 0.0;
            double y = (k & 2) != 0 ? 0.2 : -0.2;
            double nearest = INFINITY;
            for (int j = 0; j < m.count; ++j) {
                rbVec3 p = m.points[j].pointA;
                nearest = fmin(nearest, fmax(fabs(p.x - x), fabs(p.y - y)));
            }
            checkNear(nearest, 0.0, 1e-6);
        }
    }
    rbDestroyGeometry(brick);
}

static rbManifold buildByAny(const rbGeometry* a, const rbGeometry* b, rbTransform pose)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    rbSeparation s;
    rbManifold m;
    rbError error = {0};
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA = pose;
    assert_int_equal(rbMeasureSeparation(&input, NULL, pairScratch, &s, &error), RB_STATUS_OK);
    rbBuildManifold(a, b, pose, &s, 1.0, &m);
    return m;
}

// A coin on its rim over a box, in both orders: where it touches is known to rounding, not to the
// root of it, where a search for the distance ends.
static void rimsTouchAtTheirLowestPoint(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x7c01)};
    rbGeometry* coin = rbCreateCylinder(0.1, 0.005, NULL);
    rbGeometry* slab = rbCreateBox((rbVec3){2.0, 2.0, 0.5}, NULL);
    double worst = 0.0;
    for (int i = 0; i < rbTest_Count(300, 20000); ++i) {
        double tilt = rbRandom_Range(&random, 0.05, 1.5);
        double heading = rbRandom_Range(&random, -3.0, 3.0);
        double sine, cosine, east, north;
        rbSinCos(tilt, &sine, &cosine);
        rbSinCos(heading, &north, &east);
        rbTransform pose = {.q = rbMulQuat(turnAbout((rbVec3){0.0, 0.0, 1.0}, heading),
                                           turnAbout((rbVec3){0.0, 1.0, 0.0}, tilt))};
        double low = 0.1 * sine + 0.005 * cosine;
        double out = 0.1 * cosine - 0.005 * sine; // along the heading
        double gap = rbRandom_Range(&random, -1e-4, 1e-4);
        pose.p = (rbVec3){rbRandom_Range(&random, -1.0, 1.0), rbRandom_Range(&random, -1.0, 1.0),
                          0.5 + low + gap};
        rbTransform inverse = rbInvertTransform(pose);
        rbManifold under = buildByAny(slab, coin, pose);
        rbManifold over = buildByAny(coin, slab, inverse);
        rbVec3 truth = {pose.p.x + out * east, pose.p.y + out * north, 0.5 + gap};
        assert_int_equal(under.count, 1);
        assert_int_equal(over.count, 1);
        worst = fmax(worst, rbDistance(under.points[0].pointB, truth));
        rbVec3 back = rbTransformPoint(pose, over.points[0].pointA);
        worst = fmax(worst, rbDistance(back, truth));
    }
    print_message("at most %.2g m from the lowest point\n", worst);
    assert_true(worst <= 1e-13);
    rbDestroyGeometry(coin);
    rbDestroyGeometry(slab);
}

RB_TEST_GROUP(test_manifold, TEST_WITH_SCRATCH(rimsTouchAtTheirLowestPoint),
              cmocka_unit_test(bricksOfAWallTouchInTheSameCorners),
              cmocka_unit_test(ballOnAHalfSpaceHasOnePoint),
              cmocka_unit_test(stackedBoxesTouchInTheCornersOfTheirOverlap),
              cmocka_unit_test(turnedBoxesKeepFourOfEightPoints),
              cmocka_unit_test(idsStayUnderTinyMotion),
              cmocka_unit_test(boxOnPlaneStandsOnCornerEdgeOrFace),
              cmocka_unit_test(roundShapesTouchInOneTwoOrFourPoints),
              cmocka_unit_test(edgesTouchInOnePointCrossedAndInTwoParallel),
              cmocka_unit_test(polyhedraActAsBoxes),
              cmocka_unit_test(everyManifoldHoldsTheDeepestPointAndLiesOnBothBodies));
