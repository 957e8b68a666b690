// The feature walk at positions with closest features known by hand, from every start.
#include "base/math/elementary.h"
#include "collision/geometry/shape_ops.h"
#include "lab/convex/features.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>

#define TOLERANCE 1e-14

static rbTransform at(double x, double y, double z)
{
    return (rbTransform){{x, y, z}, {1.0, 0.0, 0.0, 0.0}};
}

static rbQuat turnAbout(rbVec3 axis, double angle)
{
    double s, c;
    rbSinCos(0.5 * angle, &s, &c);
    rbVec3 u = rbNormalize(axis);
    return (rbQuat){c, s * u.x, s * u.y, s * u.z};
}

// The rotation that maps one unit vector to another one, not opposite.
static rbQuat turnFromTo(rbVec3 from, rbVec3 to)
{
    rbVec3 across = rbCross(from, to);
    return rbNormalizeQuat((rbQuat){1.0 + rbDot(from, to), across.x, across.y, across.z});
}

static rbGeometry* makeBox(double x, double y, double z)
{
    rbGeometry* box = rbCreateBox(rbMakeVec3(x, y, z), NULL);
    assert_non_null(box);
    return box;
}

// The same box as a hull: another path through the same code.
static rbGeometry* makeBoxHull(double x, double y, double z)
{
    rbVec3 corners[8];
    for (int k = 0; k < 8; ++k) {
        corners[k] =
            rbMakeVec3((k & 1) != 0 ? x : -x, (k & 2) != 0 ? y : -y, (k & 4) != 0 ? z : -z);
    }
    rbGeometry* hull = rbCreateHull(corners, 8, NULL);
    assert_non_null(hull);
    return hull;
}

static rbFeatureResult walk(const rbGeometry* a, const rbGeometry* b, rbTransform t,
                            rbFeaturePair* cache)
{
    rbFeatureBody bodies[2];
    rbFeatureBody_Make(a, &bodies[0]);
    rbFeatureBody_Make(b, &bodies[1]);
    rbFeatureResult r = rbFeatures_Walk(&bodies[0], &bodies[1], t, cache);
    assert_true(r.lower <= r.distance && r.distance <= r.upper);
    checkNear(rbLength(r.normal), 1.0, 1e-14);
    double size = bodies[0].size + bodies[1].size + rbLength(t.p);
    rbVec3 rest = rbAddScaled(rbSub(r.b, r.a), -r.distance, r.normal);
    checkBelow(rbLength(rest), 1e-13 * size);
    return r;
}

typedef struct Case {
    rbTransform t;
    int kindA, kindB;
    double distance;
} Case;

#define CASES 5

// Two cubes of half extent 1 and gap g in every position in which a walk can end.
static void makeCases(Case cases[CASES], double g)
{
    double root2 = sqrt(2.0);
    double root3 = sqrt(3.0);
    rbVec3 corner = {-1.0 / root3, -1.0 / root3, -1.0 / root3};
    double side = g / root3;
    cases[0] =
        (Case){at(2.0 + side, 2.0 + side, 2.0 + side), RB_FEATURE_VERTEX, RB_FEATURE_VERTEX, g};
    // a corner of B points at the middle of the edge x = y = 1 of A
    rbVec3 out = {1.0 / root2, 1.0 / root2, 0.0};
    cases[1] = (Case){{rbScale(root2 + root3 + g, out), turnFromTo(corner, rbNeg(out))},
                      RB_FEATURE_EDGE,
                      RB_FEATURE_VERTEX,
                      g};
    // edges cross at right angles over (1, 1, 0): along z in A, along (1, -1, 0) in B
    rbQuat turned = turnFromTo(rbMakeVec3(-1.0 / root2, 0.0, -1.0 / root2), rbNeg(out));
    rbVec3 edge = rbRotate(turned, rbMakeVec3(0.0, 1.0, 0.0));
    rbVec3 want = {1.0 / root2, -1.0 / root2, 0.0};
    double angle = rbAtan2(rbDot(rbCross(edge, want), out), rbDot(edge, want));
    cases[2] = (Case){{rbScale(2.0 * root2 + g, out), rbMulQuat(turnAbout(out, angle), turned)},
                      RB_FEATURE_EDGE,
                      RB_FEATURE_EDGE,
                      g};
    // a corner of B over the middle of the face z = 1
    rbVec3 down = {0.0, 0.0, -1.0};
    cases[3] = (Case){{rbMakeVec3(0.1, 0.2, 1.0 + root3 + g), turnFromTo(corner, down)},
                      RB_FEATURE_FACE,
                      RB_FEATURE_VERTEX,
                      g};
    // faces on each other, a corner of B above the face of A
    cases[4] =
        (Case){{rbMakeVec3(0.5, 0.5, 2.0 + g), turnAbout(rbMakeVec3(0.0, 0.0, 1.0), 0.3)}, 0, 0, g};
}

// B-57
static void everyStateIsFoundWithItsDistance(void** state)
{
    (void)state;
    rbGeometry* cubes[2] = {makeBox(1.0, 1.0, 1.0), makeBoxHull(1.0, 1.0, 1.0)};
    const double gaps[] = {1e-9, 1e-3, 0.25, 10.0};
    for (int k = 0; k < 16; ++k) {
        const rbGeometry* a = cubes[k & 1];
        const rbGeometry* b = cubes[k >> 1 & 1];
        Case cases[CASES];
        makeCases(cases, gaps[k / 4]);
        for (int i = 0; i < CASES; ++i) {
            rbFeatureResult r = walk(a, b, cases[i].t, NULL);
            assert_false(r.overlaps);
            assert_int_equal(r.reason, RB_STOP_CONVERGED);
            checkNear(r.distance, cases[i].distance, TOLERANCE * (10.0 + gaps[k / 4]));
            // seen from B the same
            rbFeatureResult s = walk(b, a, rbInvertTransform(cases[i].t), NULL);
            checkNear(s.distance, r.distance, TOLERANCE * (10.0 + gaps[k / 4]));
            if (cases[i].kindA != 0) {
                assert_int_equal(r.features.kindA, cases[i].kindA);
                assert_int_equal(r.features.kindB, cases[i].kindB);
                assert_int_equal(s.features.kindA, cases[i].kindB);
                assert_int_equal(s.features.kindB, cases[i].kindA);
            }
        }
    }
    rbDestroyGeometry(cubes[0]);
    rbDestroyGeometry(cubes[1]);
}

static const int boxCounts[4] = {0, 8, 12, 6};

// From each of the 640 pairs of features (face and face is not a state).
// B-57, B-62
static void everyStartLeadsToTheSameEnd(void** state)
{
    (void)state;
    rbGeometry* cube = makeBox(1.0, 1.0, 1.0);
    rbFeatureBody body;
    rbFeatureBody_Make(cube, &body);
    Case cases[2 * CASES];
    makeCases(cases, 0.25);
    makeCases(cases + CASES, -0.25); // pushed together: all overlap
    for (int i = 0; i < 2 * CASES; ++i) {
        bool isOver = i >= CASES;
        for (int kinds = 0; kinds < 9; ++kinds) {
            int kindA = 1 + kinds % 3;
            int kindB = 1 + kinds / 3;
            int longest = 0;
            for (int k = 0; k < boxCounts[kindA] * boxCounts[kindB]; ++k) {
                rbFeaturePair start = {kindA, k % boxCounts[kindA], kindB, k / boxCounts[kindA]};
                rbFeatureResult r = rbFeatures_Walk(&body, &body, cases[i].t, &start);
                assert_int_equal(r.overlaps, isOver);
                longest = r.steps > longest ? r.steps : longest;
                if (isOver) {
                    // no cube is deeper than the translation
                    assert_true(r.lower <= -0.25 * 0.5 && r.distance <= 0.0 && r.upper >= 0.0);
                    assert_int_equal(r.reason, RB_STOP_TOUCHES);
                } else {
                    checkNear(r.distance, 0.25, 1e-13);
                    assert_int_equal(r.reason, RB_STOP_CONVERGED);
                }
                // the result is its own start
                int steps = rbFeatures_Walk(&body, &body, cases[i].t, &start).steps;
                assert_int_equal(steps, 1);
            }
            assert_in_range(longest, 1, 20);
        }
    }
    rbDestroyGeometry(cube);
}

// The state edge with face shows overlap where the edge pierces the face, vertex with face where
// the vertex is inside; depth is along the best normal of the faces at these features. B-57
static void penetrationIsSeenByEdgeAndByVertex(void** state)
{
    (void)state;
    rbGeometry* cube = makeBox(1.0, 1.0, 1.0);
    rbGeometry* needle = makeBox(0.01, 0.01, 3.0);
    // edges of the needle along z (8 to 11) through the face z = 1 (number 5)
    rbFeaturePair pierced = {RB_FEATURE_FACE, 5, RB_FEATURE_EDGE, 9};
    rbFeatureResult r = walk(cube, needle, at(0.2, 0.3, 0.0), &pierced);
    assert_true(r.overlaps);
    assert_int_equal(r.steps, 1);
    // along z the needle has to move by 1 + 3, along its own side y by 1 - 0.3 + 0.01
    checkNear(r.distance, -0.71, 1e-13);
    checkNear(r.normal.y, 1.0, 1e-15);
    // the same from outside the needle's faces
    rbFeaturePair side = {RB_FEATURE_EDGE, 11, RB_FEATURE_FACE, 1};
    assert_true(walk(cube, needle, at(0.2, 0.3, 0.0), &side).overlaps);
    // a corner of a small box in the large one: 0.1 below the face x = 1
    rbGeometry* small = makeBox(0.5, 0.5, 0.5);
    rbFeaturePair sunk = {RB_FEATURE_FACE, 1, RB_FEATURE_VERTEX, 0};
    r = walk(cube, small, at(1.4, 0.2, 0.3), &sunk);
    assert_true(r.overlaps);
    assert_int_equal(r.steps, 1);
    checkNear(r.distance, -0.1, 1e-14);
    checkNear(r.normal.x, 1.0, 0.0);
    // one inside the other, in either order and from any start
    for (int k = 0; k < 64; ++k) {
        rbFeaturePair start = {RB_FEATURE_VERTEX, k % 8, RB_FEATURE_VERTEX, k / 8};
        r = walk(cube, small, at(0.1, -0.2, 0.3), &start);
        assert_true(r.overlaps && r.lower <= -1.2 && r.distance <= -1.2);
        r = walk(small, cube, at(0.1, -0.2, 0.3), &start);
        assert_true(r.overlaps && r.lower <= -1.2 && r.distance <= -1.2);
    }
    // behind the cube, under the face where the walk starts: through to the other side
    rbFeaturePair behind = {RB_FEATURE_FACE, 1, RB_FEATURE_VERTEX, 0};
    r = walk(cube, small, at(-2.0, 0.1, 0.2), &behind);
    assert_false(r.overlaps);
    checkNear(r.distance, 0.5, 1e-14);
    rbDestroyGeometry(cube);
    rbDestroyGeometry(needle);
    rbDestroyGeometry(small);
}

static rbSeparation separate(const rbGeometry* a, const rbGeometry* b, rbTransform t)
{
    rbSeparation s = rbFeatures_Separation(a, b, t, NULL);
    assert_true(s.lower <= s.distance && s.distance <= s.upper);
    rbVec3 rest = rbAddScaled(rbSub(s.pointB, s.pointA), -s.distance, s.normal);
    checkBelow(rbLength(rest), 1e-13);
    return s;
}

// B-59
static void spheresAreOneVertexAndCapsulesOneEdge(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(0.5, NULL);
    rbGeometry* cube = makeBox(1.0, 1.0, 1.0);
    rbGeometry* hull = makeBoxHull(1.0, 1.0, 1.0);
    rbGeometry* rod = rbCreateCapsule(0.25, 1.0, NULL);
    const rbGeometry* cubes[2] = {cube, hull};
    for (int k = 0; k < 2; ++k) {
        // center 1 over the face, over an edge, over a corner, and 0.25 inside of the face
        checkNear(separate(cubes[k], ball, at(2.0, 0.3, 0.1)).distance, 0.5, TOLERANCE);
        checkNear(separate(cubes[k], ball, at(4.0, 5.0, 0.1)).distance, 4.5, TOLERANCE);
        checkNear(separate(cubes[k], ball, at(3.0, 2.0, 3.0)).distance, 2.5, TOLERANCE);
        rbSeparation s = separate(cubes[k], ball, at(0.75, 0.3, 0.1));
        checkNear(s.distance, -0.75, TOLERANCE);
        checkNear(s.normal.x, 1.0, 0.0);
        // upright over the face, and lying across an edge
        checkNear(separate(cubes[k], rod, at(0.2, 0.1, 3.0)).distance, 0.75, TOLERANCE);
        s = separate(rod, cubes[k], at(3.0, 4.0, 0.5));
        checkNear(s.distance, sqrt(4.0 + 9.0) - 0.25, TOLERANCE);
        // the axis through the cube
        s = separate(rod, cubes[k], at(0.9, 0.0, 1.0));
        assert_true(s.distance <= -0.1 - 0.25 + TOLERANCE && s.upper <= 1e-13 - 0.25);
    }
    // d = |m1 - m2| - r1 - r2, apart and overlapping; coincident centers: any normal
    checkNear(separate(ball, ball, at(2.0, 3.0, 6.0)).distance, 6.0, TOLERANCE);
    checkNear(separate(ball, ball, at(0.0, 0.3, 0.4)).distance, -0.5, TOLERANCE);
    checkNear(separate(ball, ball, at(0.0, 0.0, 0.0)).distance, -1.0, TOLERANCE);
    // capsules: crossed with a gap, crossing, parallel, one after the other, collinear overlap
    rbQuat across = turnAbout(rbMakeVec3(1.0, 0.0, 0.0), 0.5 * RB_PI);
    rbTransform crossed = {{0.7, 0.1, 0.2}, across};
    checkNear(separate(rod, rod, crossed).distance, 0.2, TOLERANCE);
    crossed.p.x = 0.0;
    checkNear(separate(rod, rod, crossed).distance, -0.5, TOLERANCE);
    checkNear(separate(rod, rod, at(0.6, 0.8, 0.5)).distance, 0.5, TOLERANCE);
    checkNear(separate(rod, rod, at(0.0, 0.0, 3.0)).distance, 0.5, TOLERANCE);
    checkNear(separate(rod, rod, at(0.0, 0.0, 1.5)).distance, -0.5, TOLERANCE);
    checkNear(separate(rod, ball, at(0.0, 0.0, 0.5)).distance, -0.75, TOLERANCE);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(cube);
    rbDestroyGeometry(hull);
    rbDestroyGeometry(rod);
}

// Exact coincidence counts as penetration, and its depth is 0.
// B-57
static void bodiesThatTouchExactlyHaveDistanceZero(void** state)
{
    (void)state;
    rbGeometry* cubes[2] = {makeBox(1.0, 1.0, 1.0), makeBoxHull(1.0, 1.0, 1.0)};
    const rbTransform poses[] = {at(2.0, 0.0, 0.0), at(2.0, 0.5, 0.25), at(2.0, 2.0, 0.0),
                                 at(2.0, 2.0, 0.5), at(2.0, 2.0, 2.0),  at(-2.0, 2.0, -2.0)};
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < 6; ++i) {
            rbFeatureResult r = walk(cubes[k & 1], cubes[k >> 1], poses[i], NULL);
            assert_true(r.overlaps);
            checkNear(r.distance, 0.0, 1e-14);
            assert_true(r.lower >= -1e-13 && r.upper <= 1e-13);
        }
    }
    rbDestroyGeometry(cubes[0]);
    rbDestroyGeometry(cubes[1]);
}

// Needles, dust and distant bodies.
// B-57
static void extremeSizesKeepTheirPrecision(void** state)
{
    (void)state;
    rbGeometry* cube = makeBox(1.0, 1.0, 1.0);
    rbGeometry* needle = makeBox(1e-6, 1e-6, 1.0);
    rbGeometry* dust = makeBox(1e-9, 1e-9, 1e-9);
    rbGeometry* huge = makeBox(1e9, 1e9, 1e9);
    checkRelative(walk(cube, needle, at(1e6, 0.3, 0.0), NULL).distance, 1e6 - 1.0 - 1e-6, 1e-15);
    checkRelative(walk(dust, dust, at(5e-9, 0.0, 0.0), NULL).distance, 3e-9, 1e-14);
    checkRelative(walk(dust, dust, at(5e-9, 6e-9, 0.0), NULL).distance, 5e-9, 1e-14);
    checkRelative(walk(huge, dust, at(1e9 + 0.5, 7.0, 0.0), NULL).distance, 0.5 - 1e-9, 1e-6);
    // crossed needles, and parallel ones
    rbTransform crossed = {{1e-3, 0.2, 0.3}, turnAbout(rbMakeVec3(1.0, 0.0, 0.0), 0.5 * RB_PI)};
    checkNear(walk(needle, needle, crossed, NULL).distance, 1e-3 - 2e-6, 1e-15);
    checkNear(walk(needle, needle, at(3e-6, 0.0, 0.4), NULL).distance, 1e-6, 1e-15);
    rbDestroyGeometry(cube);
    rbDestroyGeometry(needle);
    rbDestroyGeometry(dust);
    rbDestroyGeometry(huge);
}

// B-62
static void damagedCachesDoNoHarm(void** state)
{
    (void)state;
    rbGeometry* cube = makeBox(1.0, 1.0, 1.0);
    rbGeometry* rod = rbCreateCapsule(0.25, 1.0, NULL);
    rbGeometry* ball = rbCreateSphere(0.25, NULL);
    const rbGeometry* shapes[3] = {cube, rod, ball};
    rbRandom random = {rbTest_Seed(571)};
    for (int i = 0; i < 3000; ++i) {
        const rbGeometry* a = shapes[i % 3];
        const rbGeometry* b = shapes[i / 3 % 3];
        rbTransform t = {rbScale(4.0 * rbRandom_Unit(&random), rbRandom_Direction(&random)),
                         rbRandom_Quat(&random)};
        rbFeatureResult cold = walk(a, b, t, NULL);
        rbFeaturePair cache = {rbRandom_Index(&random, 7) - 2, rbRandom_Index(&random, 40) - 10,
                               rbRandom_Index(&random, 7) - 2, rbRandom_Index(&random, 40) - 10};
        rbFeatureResult warm = walk(a, b, t, &cache);
        assert_int_equal(warm.overlaps, cold.overlaps);
        if (!cold.overlaps) {
            checkNear(warm.distance, cold.distance, 1e-13);
        }
    }
    rbDestroyGeometry(cube);
    rbDestroyGeometry(rod);
    rbDestroyGeometry(ball);
}

// B-57
static void onlyPolytopesAndTheirCoresAreAccepted(void** state)
{
    (void)state;
    rbGeometry* shapes[6] = {rbCreateSphere(1.0, NULL),        makeBox(1.0, 1.0, 1.0),
                             rbCreateCapsule(1.0, 1.0, NULL),  makeBoxHull(1.0, 1.0, 1.0),
                             rbCreateCylinder(1.0, 1.0, NULL), rbCreateCone(1.0, 1.0, NULL)};
    for (int k = 0; k < 6; ++k) {
        assert_int_equal(rbFeatures_Accepts(shapes[k]), k < 4);
        rbDestroyGeometry(shapes[k]);
    }
}

RB_TEST_GROUP(test_features, cmocka_unit_test(everyStateIsFoundWithItsDistance),
              cmocka_unit_test(everyStartLeadsToTheSameEnd),
              cmocka_unit_test(penetrationIsSeenByEdgeAndByVertex),
              cmocka_unit_test(spheresAreOneVertexAndCapsulesOneEdge),
              cmocka_unit_test(bodiesThatTouchExactlyHaveDistanceZero),
              cmocka_unit_test(extremeSizesKeepTheirPrecision),
              cmocka_unit_test(damagedCachesDoNoHarm),
              cmocka_unit_test(onlyPolytopesAndTheirCoresAreAccepted));
