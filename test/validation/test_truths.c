// The references in 113 bits against closed forms: they must be right before they judge.
#include "convex_truth.h"
#include "pair_truth.h"
#include "rb_test.h"
#include "toy_truth.h"
#include "wide.h"

#include <math.h>

// --------------------------------------------------------------------------------------- numbers

static void rootsAndSystemsAreExact(void** state)
{
    (void)state;
    rbWide two = 2;
    rbWide root = rbWide_Sqrt(two);
    assert_true(rbWide_Abs(root * root - two) < 1e-33);
    assert_true(rbWide_Sqrt(0) == 0);
    // the first pivot is zero
    rbWide a[9] = {0, 2, 1, 1, 1, 1, 4, -1, 3};
    rbWide b[3] = {7, 6, 11}; // solution 1, 2, 3
    rbWide_Solve(a, b, 3, 3);
    for (int i = 0; i < 3; ++i) {
        assert_true(rbWide_Abs(b[i] - (i + 1)) < 1e-32);
    }
}

static void rateOscillator(const rbWide* y, rbWide* rate, const void* context)
{
    (void)context;
    rate[0] = y[1];
    rate[1] = -y[0];
}

static void extrapolationFollowsAnOscillator(void** state)
{
    (void)state;
    rbWideOde ode = {.rate = rateOscillator,
                     .size = 2,
                     .y = {1, 0},
                     .step = 0.1,
                     .stepMax = 1.0,
                     .bound = 1e-22};
    while (ode.time < 1) {
        (void)rbWideOde_Step(&ode, (double)(1 - ode.time));
    }
    // cos 1, sin 1 to 32 digits, as sums of doubles
    rbWide cosine = (rbWide)0.54030230586813977 - (rbWide)5.6073e-17;
    assert_true(rbWide_Abs(ode.y[0] * ode.y[0] + ode.y[1] * ode.y[1] - 1) < 1e-20);
    assert_true(rbWide_Abs(ode.y[0] - cosine) < 1e-16);
    checkNear((double)ode.y[1], -0.8414709848078965, 1e-16);
}

// ----------------------------------------------------------------------------------------- convex

static void distancesOfBoxesAndBallsAreClosedForms(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 2.0, 3.0), NULL);
    rbGeometry* ball = rbCreateSphere(0.5, NULL);
    rbTransform pose = RB_TRANSFORM_IDENTITY;
    pose.p = rbMakeVec3(2.0, 3.0, 4.0); // from the corner: (1, 1, 1)
    rbConvexTruth truth = rbMeasureConvexTruth(box, ball, pose);
    checkNear(truth.distance, sqrt(3.0) - 0.5, 1e-15);
    checkNear(truth.normal.x, 1.0 / sqrt(3.0), 1e-11);
    pose.p = rbMakeVec3(0.75, 0.5, 0.25); // inside: out through x = 1
    truth = rbMeasureConvexTruth(box, ball, pose);
    checkNear(truth.distance, -0.75, 1e-15);
    checkNear(truth.normal.x, 1.0, 1e-12);
    checkNear(rbMeasureConvexGap(box, ball, pose, rbMakeVec3(0.0, 1.0, 0.0)), -2.0, 1e-15);
    rbDestroyGeometry(box);
    rbDestroyGeometry(ball);
}

// An ellipsoid against itself turned: built from a normal and a depth.
static void depthsOfEllipsoidsAreFound(void** state)
{
    (void)state;
    rbGeometry* body = rbCreateEllipsoid(rbMakeVec3(3.0, 2.0, 1.0), NULL);
    rbTransform pose = RB_TRANSFORM_IDENTITY;
    // along x the points are (3, 0, 0) of both
    pose.p = rbMakeVec3(6.0 - 0.01, 0.0, 0.0);
    rbConvexTruth truth = rbMeasureConvexTruth(body, body, pose);
    // within c^2 / a = 2/3 of the tip of their sum, which is twice as large, the tip is nearest
    checkNear(truth.distance, -0.01, 1e-15);
    pose.p = rbMakeVec3(4.0, 0.0, 0.0); // nearer to the flanks: sqrt(c^2 - x^2 / (a^2/c^2 - 1))
    truth = rbMeasureConvexTruth(body, body, pose);
    checkNear(truth.distance, -sqrt(4.0 - 16.0 / 8.0), 1e-12);
    checkNear(rbMeasureConvexGap(body, body, pose, truth.normal), truth.distance, 1e-15);
    pose.p = rbMakeVec3(0.0, 0.0, 2.0 - 0.01);
    truth = rbMeasureConvexTruth(body, body, pose);
    checkNear(truth.distance, -0.01, 1e-15);
    checkNear(truth.normal.z, 1.0, 1e-12);
    rbDestroyGeometry(body);
}

static void sweepsOfBallsAndMeshesAreClosedForms(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbGeometry* box = rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL);
    rbTransform start = RB_TRANSFORM_IDENTITY;
    rbTransform goal = RB_TRANSFORM_IDENTITY;
    rbVec3 step = {5.0, 0.0, 0.0};
    start.p = rbMakeVec3(-3.0, 1.0, 0.0);
    // balls offset by a radius meet at a distance of 2: sqrt 3 apart along the path
    rbSweepTruth truth = rbSweepByTruth(ball, start, step, ball, goal);
    assert_true(truth.isHit && !truth.isInside);
    checkNear(truth.way, 3.0 - sqrt(3.0), 1e-12);
    checkNear(truth.normal.y, 0.5, 1e-6);
    start.p = rbMakeVec3(-3.0, 2.0 + 1e-7, 0.0);
    assert_false(rbSweepByTruth(ball, start, step, ball, goal).isHit);
    // the compound of a box and a ball behind it: the box is met first, by its face
    rbCompoundChild children[2] = {{box, {{0.0, 0.0, 0.0}, RB_QUAT_IDENTITY}, 0.0},
                                   {ball, {{3.0, 0.0, 0.0}, RB_QUAT_IDENTITY}, 0.0}};
    rbGeometry* both = rbCreateCompound(children, 2, NULL);
    start.p = rbMakeVec3(-3.0, 0.25, 0.0);
    truth = rbSweepByTruth(ball, start, step, both, goal);
    checkNear(truth.way, 3.0 - 1.0 - 0.5, 1e-12);
    start.p = rbMakeVec3(0.5, 0.0, 0.0);
    assert_true(rbSweepByTruth(ball, start, step, both, goal).isInside);
    rbDestroyGeometry(both);
    rbDestroyGeometry(box);
    rbDestroyGeometry(ball);
}

// ------------------------------------------------------------------------------------------ motion

// A symmetric top in regular precession.
static void theTopPrecessesAsTheClosedFormSays(void** state)
{
    (void)state;
    rbTopPlan plan = {
        .mass = 1.0, .length = 0.5, .i1 = 0.3, .i3 = 0.05, .spin = 100.0, .tilt = RB_PI / 6.0};
    double rates[2];
    rbGetPrecessionRates(&plan, rates);
    for (int i = 0; i < 2; ++i) {
        rbQuat start = rbGetPrecession(&plan, rates[i], 0.0);
        rbVec3 axis = rbRotate(start, rbMakeVec3(0.0, 0.0, 1.0));
        // w = W z + s axis with w.axis = spin
        rbVec3 up = {0.0, 0.0, rates[i]};
        rbVec3 spin = rbAddScaled(up, plan.spin - rbDot(up, axis), axis);
        double across = plan.i1 - plan.mass * plan.length * plan.length;
        rbMassPlan top = {.mass = plan.mass,
                          .moments = {across, across, plan.i3},
                          .center = rbScale(plan.length, axis),
                          .orientation = start,
                          .velocity = rbCross(spin, rbScale(plan.length, axis)),
                          .spin = spin};
        rbPairTruth truth = rbComputeTopTruth(&top, 0.1);
        rbQuat expected = rbGetPrecession(&plan, rates[i], 0.1);
        assert_true(rbGetTurnBetween(truth.orientations[0], expected) < 1e-12);
    }
}

// Two bodies welded together are one: a rigid pendulum, whose energy stays.
static void weldedBodiesKeepTheirDistance(void** state)
{
    (void)state;
    rbPairPlan plan = {.type = RB_JOINT_FIXED};
    rbPairStart start = rbGetPairStart(&plan);
    rbPairTruth truth = rbComputePairTruth(&plan, 0.5);
    rbQuat before =
        rbMulQuat(rbConjugate(start.bodies[0].orientation), start.bodies[1].orientation);
    rbQuat after = rbMulQuat(rbConjugate(truth.orientations[0]), truth.orientations[1]);
    assert_true(rbGetTurnBetween(before, after) < 1e-14);
    checkNear(rbDistance(truth.centers[0], truth.centers[1]),
              rbDistance(start.bodies[0].center, start.bodies[1].center), 1e-14);
    checkNear(rbLength(truth.centers[0]), rbLength(start.bodies[0].center), 1e-14);
}

// The times and cosines that the author of the specification computed, E-01 to E-05.
static void toysPassTheTableOfTheSpecification(void** state)
{
    (void)state;
    const rbVec3 figure = {0.0, 0.0, 1.0};
    rbToy top = rbMakeTippeTop(0.6, 150.0);
    checkNear(rbFindToyTruth(&top, figure, 0.0, 1.0), 0.393, 6e-4);
    rbToy back = rbMakeRattleback(5.0, false);
    static rbToyMoment moments[11];
    assert_int_equal(rbComputeToyTruth(&back, 0.05, 11, moments), 11);
    checkNear(moments[10].spin, 2.17, 6e-3);
    assert_true(moments[10].isRolling);
}

// A ball without friction neither rolls nor loses spin.
static void withoutFrictionNothingRolls(void** state)
{
    (void)state;
    rbToy toy = rbMakeTippeTop(0.0, 150.0);
    static rbToyMoment moments[6];
    assert_int_equal(rbComputeToyTruth(&toy, 0.01, 6, moments), 6);
    checkNear(moments[5].spin, 150.0, 1.0);
    assert_false(moments[5].isRolling);
    assert_true(rbFindToyTruth(&toy, rbMakeVec3(0.0, 0.0, 1.0), 0.0, 0.05) < 0.0);
}

RB_TEST_GROUP(test_truths, cmocka_unit_test(rootsAndSystemsAreExact),
              cmocka_unit_test(extrapolationFollowsAnOscillator),
              cmocka_unit_test(distancesOfBoxesAndBallsAreClosedForms),
              cmocka_unit_test(depthsOfEllipsoidsAreFound),
              cmocka_unit_test(sweepsOfBallsAndMeshesAreClosedForms),
              cmocka_unit_test(theTopPrecessesAsTheClosedFormSays),
              cmocka_unit_test(weldedBodiesKeepTheirDistance),
              cmocka_unit_test(toysPassTheTableOfTheSpecification),
              cmocka_unit_test(withoutFrictionNothingRolls));
