// Closed forms at positions whose answer is known by hand.
#include "base/math/elementary.h"
#include "pair_support.h"
#include "rb_test.h"

#include <math.h>

// Runs the query and frees both shapes.
static rbSeparation measure(rbGeometry* a, rbGeometry* b, rbTransform t)
{
    assert_non_null(a);
    assert_non_null(b);
    rbSeparation s = collidePair(a, b, t);
    assert_int_equal(s.reason, RB_STOP_CLOSED_FORM);
    checkNear(rbLength(s.normal), 1.0, 1e-15);
    checkNear((double)gapAlong(a, b, t, s.normal), s.distance, 1e-14);
    checkNear(measureOffSurface(a, s.pointA), 0.0, 1e-14);
    rbDestroyGeometry(a);
    rbDestroyGeometry(b);
    return s;
}

static void checkVec(rbVec3 v, double x, double y, double z)
{
    checkNear(v.x, x, 1e-14);
    checkNear(v.y, y, 1e-14);
    checkNear(v.z, z, 1e-14);
}

// G-36
static void spheresKnowGapDepthAndCoincidence(void** state)
{
    (void)state;
    // centers 5 apart (3-4-5): gap 5 - 1 - 2, normal (0.6, 0, 0.8)
    rbSeparation s =
        measure(rbCreateSphere(1.0, NULL), rbCreateSphere(2.0, NULL), at(3.0, 0.0, 4.0));
    checkNear(s.distance, 2.0, 1e-15);
    checkVec(s.normal, 0.6, 0.0, 0.8);
    checkVec(s.pointA, 0.6, 0.0, 0.8);
    checkVec(s.pointB, 1.8, 0.0, 2.4);
    s = measure(rbCreateSphere(1.0, NULL), rbCreateSphere(2.0, NULL), at(0.0, 0.0, 0.0));
    checkNear(s.distance, -3.0, 0.0);
    // a difference whose square underflows still has a direction
    s = measure(rbCreateSphere(1.0, NULL), rbCreateSphere(2.0, NULL), at(0.0, -1e-200, 0.0));
    checkVec(s.normal, 0.0, -1.0, 0.0);
}

// G-36
static void sphereMeetsBoxAtFaceEdgeCornerAndInside(void** state)
{
    (void)state;
    rbVec3 h = {1.0, 2.0, 3.0};
    rbSeparation s = measure(rbCreateSphere(0.5, NULL), rbCreateBox(h, NULL), at(-2.0, 0.0, 0.0));
    checkNear(s.distance, 0.5, 0.0); // 2 - 1 - 0.5
    checkVec(s.normal, -1.0, 0.0, 0.0);
    // corner at (-1, -2, -3) + (4, 6, 5) = (3, 4, 2); |(3, 4, 2)| = sqrt 29
    s = measure(rbCreateSphere(0.5, NULL), rbCreateBox(h, NULL), at(4.0, 6.0, 5.0));
    checkNear(s.distance, sqrt(29.0) - 0.5, 1e-15);
    // center exactly on an edge: touches with the radius as depth
    s = measure(rbCreateSphere(0.5, NULL), rbCreateBox(h, NULL), at(1.0, 2.0, 0.5));
    checkNear(s.distance, -0.5, 0.0);
    // center in the middle: exit along the thinnest direction, 1 + 0.5
    s = measure(rbCreateSphere(0.5, NULL), rbCreateBox(h, NULL), at(0.0, 0.0, 0.0));
    checkNear(s.distance, -1.5, 0.0);
}

// G-36
static void sphereMeetsCylinderAndCone(void** state)
{
    (void)state;
    // the rim (1, 0, 1) from (4, 0, 5): 3-4-5
    rbSeparation s =
        measure(rbCreateCylinder(1.0, 1.0, NULL), rbCreateSphere(2.0, NULL), at(4.0, 0.0, 5.0));
    checkNear(s.distance, 3.0, 1e-15);
    checkVec(s.pointA, 1.0, 0.0, 1.0);
    // cone of radius 3 and height 4: side normal (4, 3)/5; 10 outwards from the middle of the side
    // (1.5, 0, 0)
    s = measure(rbCreateCone(3.0, 4.0, NULL), rbCreateSphere(1.0, NULL), at(9.5, 0.0, 6.0));
    checkNear(s.distance, 9.0, 1e-14);
    checkVec(s.normal, 0.8, 0.0, 0.6);
    checkVec(s.pointA, 1.5, 0.0, 0.0);
    // exactly on the apex; above it; below the base; next to the rim
    s = measure(rbCreateCone(3.0, 4.0, NULL), rbCreateSphere(1.0, NULL), at(0.0, 0.0, 2.0));
    checkNear(s.distance, -1.0, 1e-15);
    s = measure(rbCreateCone(3.0, 4.0, NULL), rbCreateSphere(1.0, NULL), at(0.0, 0.0, 5.0));
    checkNear(s.distance, 2.0, 1e-15);
    s = measure(rbCreateCone(3.0, 4.0, NULL), rbCreateSphere(1.0, NULL), at(2.0, 0.0, -4.0));
    checkNear(s.distance, 1.0, 1e-15);
    s = measure(rbCreateCone(3.0, 4.0, NULL), rbCreateSphere(1.0, NULL), at(6.0, 0.0, -6.0));
    checkNear(s.distance, 4.0, 1e-15);
}

// G-36
static void sphereMeetsEllipsoidOnAxesAndAtTheCenter(void** state)
{
    (void)state;
    rbVec3 a = {1.0, 2.0, 3.0};
    rbSeparation s =
        measure(rbCreateEllipsoid(a, NULL), rbCreateSphere(0.5, NULL), at(0.0, 0.0, 5.0));
    checkNear(s.distance, 1.5, 1e-15);
    checkVec(s.pointA, 0.0, 0.0, 3.0);
    // center: exit along the smallest semi-axis
    s = measure(rbCreateEllipsoid(a, NULL), rbCreateSphere(0.5, NULL), at(0.0, 0.0, 0.0));
    checkNear(s.distance, -1.5, 1e-15);
    checkNear(fabs(s.normal.x), 1.0, 1e-15);
    // on the long axis at z = 2, inside the evolute (curvature radius 1/3 at the tip): nearest
    // point has z' = c^2 z / (c^2 - a^2) = 9 * 2 / 8 = 2.25, x' = sqrt(1 - (2.25/3)^2), and the
    // distance is sqrt(x'^2 + 0.25^2) = sqrt(0.4375 + 0.0625) = sqrt(1/2)
    s = measure(rbCreateEllipsoid(a, NULL), rbCreateSphere(0.5, NULL), at(0.0, 0.0, 2.0));
    checkNear(s.distance, -0.5 - sqrt(0.5), 1e-14);
    // next to the tip, at z = 2.9 > 8/3, the tip is the nearest
    s = measure(rbCreateEllipsoid(a, NULL), rbCreateSphere(0.5, NULL), at(0.0, 0.0, 2.9));
    checkNear(s.distance, -0.6, 1e-14);
    // a ball as an ellipsoid, at its center and off it
    rbVec3 ball = {1.0, 1.0, 1.0};
    s = measure(rbCreateEllipsoid(ball, NULL), rbCreateSphere(0.5, NULL), at(0.0, 0.0, 0.0));
    checkNear(s.distance, -1.5, 1e-15);
    s = measure(rbCreateEllipsoid(ball, NULL), rbCreateSphere(0.5, NULL), at(0.3, 0.4, 0.0));
    checkNear(s.distance, -1.0, 1e-15);
    // the flat limit next to the medial plane: symmetric answers from both sides
    s = measure(rbCreateEllipsoid(a, NULL), rbCreateSphere(0.5, NULL), at(1e-300, 0.1, 0.1));
    rbSeparation t =
        measure(rbCreateEllipsoid(a, NULL), rbCreateSphere(0.5, NULL), at(0.0, 0.1, 0.1));
    checkNear(s.distance, t.distance, 1e-15);
}

// G-36
static void capsulesMeetCrossedParallelAndAtTheirEnds(void** state)
{
    (void)state;
    rbQuat lying = {sqrt(0.5), sqrt(0.5), 0.0, 0.0}; // z to -y
    rbTransform crossed = {{3.0, 0.0, 0.0}, lying};
    rbSeparation s =
        measure(rbCreateCapsule(0.5, 1.0, NULL), rbCreateCapsule(0.25, 2.0, NULL), crossed);
    checkNear(s.distance, 2.25, 1e-15);
    checkVec(s.normal, 1.0, 0.0, 0.0);
    // crossing axes: the exit is perpendicular to both
    crossed.p = RB_VEC3_ZERO;
    s = measure(rbCreateCapsule(0.5, 1.0, NULL), rbCreateCapsule(0.25, 2.0, NULL), crossed);
    checkNear(s.distance, -0.75, 1e-15);
    checkNear(fabs(s.normal.x), 1.0, 1e-15);
    // collinear and overlapping: any perpendicular exit
    s = measure(rbCreateCapsule(0.5, 1.0, NULL), rbCreateCapsule(0.25, 2.0, NULL),
                at(0.0, 0.0, 2.0));
    checkNear(s.distance, -0.75, 1e-15);
    checkNear(s.normal.z, 0.0, 1e-15);
    // collinear and apart: 5 - 1 - 2 - 0.5 - 0.25
    s = measure(rbCreateCapsule(0.5, 1.0, NULL), rbCreateCapsule(0.25, 2.0, NULL),
                at(0.0, 0.0, 5.0));
    checkNear(s.distance, 1.25, 1e-15);
}

// G-36
// Parallel axes at any place along each other: the ends are apart by the gap of two intervals.
static void parallelCapsulesAreMeasuredAtAnyPlace(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(31)};
    for (int i = 0; i < rbTest_Count(400, 20000); ++i) {
        double halfA = rbRandom_Range(&random, 0.0, 2.0);
        double halfB = rbRandom_Range(&random, 0.0, 2.0);
        double across = rbRandom_Range(&random, 0.6, 2.0);
        double along = rbRandom_Range(&random, -4.0, 4.0);
        rbTransform t = at(0.6 * across, -0.8 * across, along);
        t.q = i % 2 == 0 ? RB_QUAT_IDENTITY : (rbQuat){0.0, 1.0, 0.0, 0.0}; // the same line
        rbSeparation s =
            measure(rbCreateCapsule(0.2, halfA, NULL), rbCreateCapsule(0.3, halfB, NULL), t);
        double gap = fmax(fabs(along) - halfA - halfB, 0.0);
        double apart = sqrt(across * across + gap * gap);
        checkNear(s.distance, apart - 0.5, 1e-14);
        checkNear(rbDot(s.normal, t.p) * apart, across * across + gap * fabs(along), 1e-13);
    }
}

static void capsulePiercingABoxKnowsItsDepth(void** state)
{
    (void)state;
    rbVec3 h = {1.0, 2.0, 3.0};
    // along z through the box at x = 0.9: exit through +x: 0.1 + radius
    rbSeparation s =
        measure(rbCreateBox(h, NULL), rbCreateCapsule(0.25, 10.0, NULL), at(0.9, 0.0, 0.0));
    checkNear(s.distance, -0.35, 1e-15);
    checkVec(s.normal, 1.0, 0.0, 0.0);
    // across x through the middle of the yz section: the shortest exit is y: 2 + radius
    rbQuat alongX = {sqrt(0.5), 0.0, sqrt(0.5), 0.0};
    rbTransform t = {{0.0, 0.5, 0.0}, alongX};
    s = measure(rbCreateBox(h, NULL), rbCreateCapsule(0.25, 10.0, NULL), t);
    checkNear(s.distance, -1.75, 1e-14);
    checkVec(s.normal, 0.0, 1.0, 0.0);
    // diagonal past the edge x = 1, y = 2: axis direction (-1, 1, 0)/sqrt 2 through (2, 3, 0): the
    // edge is sqrt 2 away
    rbVec3 u = {-sqrt(0.5), sqrt(0.5), 0.0};
    // z to u: turn by 90 degrees about z cross u = (-u.y, u.x, 0)
    rbQuat q = {sqrt(0.5), -sqrt(0.5) * u.y, sqrt(0.5) * u.x, 0.0};
    t = (rbTransform){{2.0, 3.0, 0.0}, q};
    s = measure(rbCreateBox(h, NULL), rbCreateCapsule(0.25, 4.0, NULL), t);
    checkNear(s.distance, sqrt(2.0) - 0.25, 1e-14);
}

// G-36
static void boxesMeetByFaceEdgeAndCorner(void** state)
{
    (void)state;
    rbVec3 one = {1.0, 1.0, 1.0};
    rbSeparation s = measure(rbCreateBox(one, NULL), rbCreateBox(one, NULL), at(0.5, -0.5, 2.0));
    checkNear(s.distance, 0.0, 0.0);
    checkVec(s.normal, 0.0, 0.0, 1.0);
    checkVec(s.pointA, 0.25, -0.25, 1.0); // the middle of the common square
    s = measure(rbCreateBox(one, NULL), rbCreateBox(one, NULL), at(0.0, 0.0, 1.5));
    checkNear(s.distance, -0.5, 0.0);
    s = measure(rbCreateBox(one, NULL), rbCreateBox(one, NULL), at(0.0, 0.0, 0.0));
    checkNear(s.distance, -2.0, 0.0);
    // corner to corner: (1, 1, 1) to (2, 3, 3)
    s = measure(rbCreateBox(one, NULL), rbCreateBox(one, NULL), at(3.0, 4.0, 4.0));
    checkNear(s.distance, 3.0, 1e-15);
    checkVec(s.normal, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0);
    // edge to edge, parallel: (1, 1) to (4, 5) in xy
    s = measure(rbCreateBox(one, NULL), rbCreateBox(one, NULL), at(5.0, 6.0, 0.5));
    checkNear(s.distance, 5.0, 1e-15);
    // crossed edges: A standing on its edge along y is a diamond in xz, B one in yz; their edges
    // touch when the centers are 2 sqrt 2 apart. B relative to A: turn A back by -45 about y.
    double c, d;
    rbSinCos(RB_PI / 8.0, &d, &c);
    rbQuat turnA = {c, 0.0, d, 0.0};
    rbQuat turnB = {c, d, 0.0, 0.0};
    rbTransform worldA = {RB_VEC3_ZERO, turnA};
    rbTransform worldB = {{0.1, -0.2, 2.0 * sqrt(2.0) + 0.5}, turnB};
    s = measure(rbCreateBox(one, NULL), rbCreateBox(one, NULL), rbInvMulTransforms(worldA, worldB));
    checkNear(s.distance, 0.5, 1e-14);
    checkVec(rbRotate(turnA, s.normal), 0.0, 0.0, 1.0);
    worldB.p.z -= 0.6;
    s = measure(rbCreateBox(one, NULL), rbCreateBox(one, NULL), rbInvMulTransforms(worldA, worldB));
    checkNear(s.distance, -0.1, 1e-14);
}

// G-16
static void planesMeetEveryConvexShapeByItsSupport(void** state)
{
    (void)state;
    rbGeometry* ground = rbCreatePlane(rbMakeVec3(0.0, 0.0, 2.0), 2.0, NULL); // z <= 1
    // ground seen from a body at height 3: 3 - 1 - half height
    rbGeometry* bodies[6] = {rbCreateBox(rbMakeVec3(1.0, 2.0, 0.5), NULL),
                             rbCreateCylinder(1.0, 0.5, NULL),
                             rbCreateCone(1.0, 1.0, NULL),
                             rbCreateEllipsoid(rbMakeVec3(1.0, 2.0, 0.5), NULL),
                             rbCreateCapsule(0.25, 0.25, NULL),
                             rbCreateSphere(0.5, NULL)};
    for (int i = 0; i < 6; ++i) {
        rbSeparation s = collidePair(bodies[i], ground, at(0.0, 0.0, -3.0));
        checkNear(s.distance, 1.5, 1e-15);
        checkVec(s.normal, 0.0, 0.0, -1.0);
        checkNear(s.pointA.z, -0.5, 1e-15);
        checkNear(s.pointB.z, -2.0, 1e-15);
        rbSeparation f = collidePair(ground, bodies[i], at(0.0, 0.0, 0.75));
        checkNear(f.distance, -0.75, 1e-15);
        checkVec(f.normal, 0.0, 0.0, 1.0);
        rbDestroyGeometry(bodies[i]);
    }
    rbDestroyGeometry(ground);
}

// Two rods of square section lie edge to edge, crossed at an angle from wide to nearly none about
// the line between the edges: the distance is D - sqrt(2) (h + k) at every angle. Where the edges
// are too parallel for a common perpendicular, vertices alone would give sqrt(d^2 + (L angle)^2).
static void edgesThatAreNearlyParallelKeepTheirDistance(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(44)};
    const double h = 0.2;
    const double k = 0.3;
    const double length = 20.0;
    rbGeometry* a = rbCreateBox(rbMakeVec3(h, h, length), NULL);
    rbGeometry* b = rbCreateBox(rbMakeVec3(k, k, length), NULL);
    for (int i = 0; i < 400; ++i) {
        double angle = pow(10.0, -rbRandom_Range(&random, 0.5, 14.0));
        double gap = rbRandom_Range(&random, 0.01, 0.5);
        double reach = gap + sqrt(2.0) * (h + k);
        // Any of the four edges of A, and a shift along B's edge.
        double x = i & 1 ? sqrt(0.5) : -sqrt(0.5);
        double y = i & 2 ? sqrt(0.5) : -sqrt(0.5);
        rbVec3 toward = {x, y, 0.0};
        rbQuat turn = {cos(0.5 * angle), sin(0.5 * angle) * x, sin(0.5 * angle) * y, 0.0};
        rbVec3 along = rbRotate(turn, rbMakeVec3(0.0, 0.0, rbRandom_Range(&random, -9.0, 9.0)));
        rbTransform pose = {rbAdd(rbScale(reach, toward), along), turn};
        for (int side = 0; side < 2; ++side) {
            rbSeparation s =
                side == 0 ? collidePair(a, b, pose) : collidePair(b, a, rbInvertTransform(pose));
            checkNear(s.distance, gap, 1e-13 * length);
            checkNear(rbDistance(s.pointA, s.pointB), gap, 1e-13 * length);
            assert_true(s.lower <= gap && gap <= s.upper);
        }
    }
    rbDestroyGeometry(a);
    rbDestroyGeometry(b);
}

RB_TEST_GROUP(test_closed_forms, cmocka_unit_test(spheresKnowGapDepthAndCoincidence),
              cmocka_unit_test(sphereMeetsBoxAtFaceEdgeCornerAndInside),
              cmocka_unit_test(sphereMeetsCylinderAndCone),
              cmocka_unit_test(sphereMeetsEllipsoidOnAxesAndAtTheCenter),
              cmocka_unit_test(capsulesMeetCrossedParallelAndAtTheirEnds),
              cmocka_unit_test(parallelCapsulesAreMeasuredAtAnyPlace),
              cmocka_unit_test(capsulePiercingABoxKnowsItsDepth),
              cmocka_unit_test(boxesMeetByFaceEdgeAndCorner),
              cmocka_unit_test(edgesThatAreNearlyParallelKeepTheirDistance),
              cmocka_unit_test(planesMeetEveryConvexShapeByItsSupport));
