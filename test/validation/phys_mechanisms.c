// The cheap part of the group `mechanisms`: the references against published numbers, and the step
// engine against the references over short times.
#include "case_mechanisms.h"
#include "mechanism_pairs.h"
#include "mechanism_reference.h"
#include "rb_test.h"

#include <math.h>

static const rbVec3 rodEnd = {0.5, 0.0, 0.0};

static void advance(rbMechanism* m, double time)
{
    if (!rbMechanism_Advance(m, time)) {
        fail_msg("%s: %s", rbStatus_Text(m->error.status), m->error.message);
    }
}

static void checkClosed(const rbMechanism* m, double tolerance)
{
    rbStepStatistics s = rbWorld_GetStepStatistics(m->world);
    checkBelow(s.positionErrorMax, tolerance);
    checkBelow(s.angleErrorMax, tolerance);
    assert_int_equal(s.unmetSteps, 0);
}

static void referencesMeetThePublishedNumbers(void** state)
{
    (void)state;
    static const double zero[4] = {0};
    static const double pair[4] = {-0.62508769980639, -1.03458508568, -3.922279572888,
                                   -1.3030992486963};
    rbReference r = rbMakePendulumReference(9.81, 0.0, 0.0);
    r.y[0] = -0.5L * acosl(-1.0L);
    rbReference_Advance(&r, 5.0L);
    checkNear((double)sinl(r.y[0]), -0.942305435043757, 2e-15);
    r = rbMakeDoublePendulumReference(9.81, zero);
    r.y[0] = r.y[1] = 0.5L * acosl(-1.0L);
    rbReference_Advance(&r, 1.0L);
    for (int i = 0; i < 4; ++i) {
        checkNear((double)r.y[i], pair[i], 1e-12);
    }
    r = rbMakeFourBarReference(2, 9.81, 1.0);
    rbReference_Advance(&r, 10.0L);
    checkNear((double)sinl(r.y[0]), 0.328458111540815, 2e-15);
}

static void squeezerEquationsMeetTheTestSet(void** state)
{
    (void)state;
    rbReference r = rbMakeAndrewsReference();
    long double gaps[6];
    rbGetAndrewsGaps(r.y, gaps);
    for (int i = 0; i < 6; ++i) {
        checkBelow((double)fabsl(gaps[i]), 1e-15);
    }
    r.bound = 1e-12L;
    rbReference_Advance(&r, 0.03L);
    for (int i = 0; i < 7; ++i) {
        checkNear((double)r.y[i], rbAndrews.end[i], 3e-9); // the accuracy of the published digits
    }
    rbGetAndrewsGaps(r.y, gaps);
    for (int i = 0; i < 6; ++i) {
        checkBelow((double)fabsl(gaps[i]), 1e-9);
    }
}

static void bricardReductionKeepsEnergyAndClosure(void** state)
{
    (void)state;
    rbReference r = rbMakeBricardReference();
    r.bound = 1e-13L;
    rbReference_Advance(&r, 2.0L);
    checkNear(rbGetBricardEnergy(&r), -29.43, 1e-11);
    checkBelow(rbDistance(rbGetBricardPoint(&r, 5), rbBricardPoints[5]), 1e-11);
}

// B-16, B-43, B-45
static void pointMassesOnRodsSwingAsTheyShould(void** state)
{
    (void)state;
    static const double start[2] = {0.5 * RB_PI, 0.5 * RB_PI};
    static const double zero[4] = {0};
    rbMechanism m = rbMakePendulumWorld(rbMakeStepSettings(1e-3, 6), start, 2);
    rbReference r = rbMakeDoublePendulumReference(9.81, zero);
    r.y[0] = r.y[1] = 0.5L * acosl(-1.0L);
    advance(&m, 2.0);
    rbReference_Advance(&r, 2.0L);
    rbVec3 truth = {(double)(sinl(r.y[0]) + sinl(r.y[1])), (double)(-cosl(r.y[0]) - cosl(r.y[1])),
                    0.0};
    checkBelow(rbDistance(rbMechanism_GetState(&m, 1).center, truth), 1e-10);
    checkClosed(&m, 1e-12);
    rbMechanism_Free(&m);
}

// B-20, B-36, B-38: loops and redundant hinges
static void fourBarPassesItsSingularPosition(void** state)
{
    (void)state;
    rbMechanism m = rbMakeFourBarWorld(rbMakeStepSettings(1e-3, 6), 2);
    advance(&m, 1.0);
    rbVec3 p = rbMechanism_GetPoint(&m, 0, rodEnd);
    checkNear(p.x, -0.195020301949435, 1e-10);
    checkNear(p.y, -0.980799205662174, 1e-10);
    checkNear(rbWorld_GetLedger(m.world).energy, 35.835, 1e-10 * 35.835);
    checkClosed(&m, 1e-12);
    rbMechanism_Free(&m);
}

// A four-bar of rods whose planar motion needs 17 rows: hinge + hinge + cardan + ball instead of
// four hinges. The cardan's second axis is across the plane of its link and the hinge axis.
static rbMechanism makeSubstitutedFourBar(bool isSubstituted)
{
    const rbVec3 points[4] = {{0.0, 0.0, 0.0}, {-0.5, 1.0, 0.0}, {1.2, 1.2, 0.0}, {1.5, 0.0, 0.0}};
    const rbVec3 axis = {0.0, 0.0, 1.0};
    rbMechanism m = rbMakeMechanism(rbMakeStepSettings(1e-3, 6), rbMakeVec3(0.0, -9.81, 0.0));
    for (int i = 0; i < 3; ++i) {
        rbRodPlan rod = {
            .mass = 1.0, .transverse = 0.1, .axial = 0.01, .from = points[i], .to = points[i + 1]};
        (void)rbMechanism_AddRod(&m, &rod);
    }
    static const rbJointType types[4] = {RB_JOINT_HINGE, RB_JOINT_HINGE, RB_JOINT_UNIVERSAL,
                                         RB_JOINT_BALL};
    for (int i = 0; i < 4; ++i) {
        int a = i - 1;
        int b = i < 3 ? i : -1;
        rbJointDef def = rbDefaultJointDef();
        def.type = isSubstituted ? types[i] : RB_JOINT_HINGE;
        def.bodyA = rbMechanism_GetBody(&m, i < 3 ? a : 2);
        def.bodyB = rbMechanism_GetBody(&m, i < 3 ? b : -1);
        rbJointDef_SetAnchor(&def, m.world, points[i]);
        rbJointDef_SetAxis(&def, m.world, axis);
        if (def.type == RB_JOINT_UNIVERSAL) {
            // across the link between points 1 and 2
            rbVec3 across = rbCross(axis, rbSub(points[2], points[1]));
            def.axisB = rbInvRotate(rbMechanism_GetState(&m, b).transform.q, across);
        }
        (void)rbMechanism_Add(&m, &def);
    }
    return m;
}

// B-38: no row is redundant, and the motion is that of four hinges
static void substitutedJointsMoveAsHingesDo(void** state)
{
    (void)state;
    rbMechanism hinges = makeSubstitutedFourBar(false);
    rbMechanism mixed = makeSubstitutedFourBar(true);
    assert_int_equal(rbWorld_Prepare(hinges.world, NULL), RB_STATUS_OK);
    assert_int_equal(rbWorld_Prepare(mixed.world, NULL), RB_STATUS_OK);
    assert_int_equal(rbWorld_CountRedundantConditions(hinges.world), 3);
    assert_int_equal(rbWorld_CountRedundantConditions(mixed.world), 0);
    advance(&hinges, 0.3);
    advance(&mixed, 0.3);
    for (int i = 0; i < 3; ++i) {
        rbVec3 expected = rbMechanism_GetState(&hinges, i).center;
        checkNear(rbDistance(rbMechanism_GetState(&mixed, i).center, expected), 0.0, 1e-10);
    }
    assert_true(rbDistance(rbMechanism_GetState(&mixed, 0).center, rbMakeVec3(-0.25, 0.5, 0.0)) >
                0.01);
    checkClosed(&mixed, 1e-12);
    rbMechanism_Free(&hinges);
    rbMechanism_Free(&mixed);
}

static void fourBarStepsOntoItsSingularPosition(void** state)
{
    (void)state;
    const double step = 0.7143555292929458 / 714.0;
    rbMechanism m = rbMakeFourBarWorld(rbMakeStepSettings(step, 6), 2);
    rbReference r = rbMakeFourBarReference(2, 9.81, 1.0);
    for (int k = 714; k <= 1071; k += 357) {
        advance(&m, rbGetStepTime(k, step));
        rbReference_Advance(&r, rbWorld_GetTime(m.world));
        rbVec3 truth = {(double)sinl(r.y[0]), (double)cosl(r.y[0]), 0.0};
        checkBelow(rbDistance(rbMechanism_GetPoint(&m, 0, rodEnd), truth), 1e-6);
    }
    checkClosed(&m, 1e-6);
    rbMechanism_Free(&m);
}

// B-31
static void squeezerFollowsItsEquations(void** state)
{
    (void)state;
    rbMechanism m = rbMakeAndrewsWorld(rbMakeStepSettings(2e-5, 6));
    rbReference r = rbMakeAndrewsReference();
    r.bound = 1e-12L;
    advance(&m, 0.01);
    rbReference_Advance(&r, 0.01L);
    // K1, K3, K5 and K7 turn by coordinates of their own
    for (int i = 0; i < 7; i += 2) {
        rbQuat q = rbMechanism_GetState(&m, i).transform.q;
        rbQuat truth = rbMakeRotation(rbMakeVec3(0.0, 0.0, 1.0), (double)r.y[i]);
        checkBelow(rbGetTurnBetween(q, truth), 1e-7);
    }
    checkClosed(&m, 1e-12);
    rbMechanism_Free(&m);
}

// B-20, B-38
static void bricardStaysClosed(void** state)
{
    (void)state;
    rbMechanism m = rbMakeBricardWorld(rbMakeStepSettings(1e-3, 6));
    rbReference r = rbMakeBricardReference();
    r.bound = 1e-13L;
    advance(&m, 1.5);
    rbReference_Advance(&r, 1.5L);
    checkBelow(rbDistance(rbMechanism_GetPoint(&m, 2, rodEnd), rbGetBricardPoint(&r, 3)), 1e-10);
    checkNear(rbWorld_GetLedger(m.world).energy, -29.43, 1e-9);
    checkClosed(&m, 1e-12);
    assert_int_equal(rbWorld_GetStepStatistics(m.world).redundantRows, 1);
    rbMechanism_Free(&m);
}

// B-13, B-20
static void topsPrecessSteadily(void** state)
{
    (void)state;
    for (int i = 0; i < 4; ++i) {
        rbTopPlan plan = {.mass = 1.0,
                          .length = 0.5,
                          .i1 = 0.3,
                          .i3 = 0.08,
                          .spin = 100.0,
                          .tilt = RB_PI / 6.0,
                          .isInGimbals = i >= 2};
        double rates[2];
        rbGetPrecessionRates(&plan, rates);
        rbMechanism m = rbMakeTopWorld(rbMakeStepSettings(1e-3, 6), &plan, rates[i % 2]);
        advance(&m, 1.0);
        rbQuat truth = rbGetPrecession(&plan, rates[i % 2], 1.0);
        checkBelow(rbGetTurnBetween(rbMechanism_GetState(&m, 0).transform.q, truth), 1e-9);
        checkClosed(&m, 1e-12);
        rbMechanism_Free(&m);
    }
}

// B-20, B-22
static void governorFollowsItsEquations(void** state)
{
    (void)state;
    rbMechanism m = rbMakeGovernorWorld(rbMakeStepSettings(1e-3, 6), false);
    rbReference r = rbMakeGovernorReference();
    advance(&m, 1.0);
    rbReference_Advance(&r, 1.0L);
    rbVec3 ball = rbMechanism_GetState(&m, 2).center;
    double arm = atan2(sqrt(ball.x * ball.x + ball.y * ball.y) - rbGovernor.pivot, -ball.z);
    checkNear(arm, (double)r.y[1], 1e-10);
    checkNear(rbJoint_GetState(m.world, m.joints[0]).freedomPositions[0], (double)r.y[0], 1e-10);
    checkBelow(fabs(rbWorld_GetLedger(m.world).energyDrift), 1e-9);
    checkClosed(&m, 1e-12);
    rbMechanism_Free(&m);
}

static void heavyBallDoesNotStretchALightChain(void** state)
{
    (void)state;
    rbMechanism m =
        rbMakeHeavyChainWorld(rbMakeStepSettings(1e-3, 6), rbMakeVec3(1.0, 0.0, -1.0), 1e6);
    advance(&m, 0.25);
    checkBelow(rbLength(rbMechanism_GetState(&m, 10).center) - 10.0, 1e-10);
    checkClosed(&m, 1e-10);
    rbMechanism_Free(&m);
}

static double getDifference(rbJointType type, int order, int steps, const rbMechanism* truth)
{
    rbPairPlan plan = {.type = type};
    rbMechanism m = rbMakePairWorld(rbMakeStepSettings(0.25 / steps, order), &plan);
    double worst = 0.0;
    advance(&m, 0.25);
    for (int i = 0; i < 2; ++i) {
        rbBodyState s = rbMechanism_GetState(&m, i);
        rbBodyState t = rbMechanism_GetState(truth, i);
        worst = rbWorseError(worst, rbDistance(s.center, t.center));
        worst = rbWorseError(worst, rbGetTurnBetween(s.transform.q, t.transform.q));
    }
    rbMechanism_Free(&m);
    return worst;
}

// B-43, B-44, B-45: all joint types of B-13 to B-25
static void everyJointTypeHasItsOrder(void** state)
{
    (void)state;
    for (int type = 0; type < RB_JOINT_COUNT; ++type) {
        rbPairPlan plan = {.type = (rbJointType)type};
        rbMechanism truth = rbMakePairWorld(rbMakeStepSettings(0.25 / 256, 6), &plan);
        advance(&truth, 0.25);
        for (int order = 2; order <= 6; order += 2) {
            int steps = order == 6 ? 8 : order == 4 ? 16 : 32;
            double coarse = getDifference((rbJointType)type, order, steps, &truth);
            double fine = getDifference((rbJointType)type, order, 2 * steps, &truth);
            // on such coarse steps the power is near, not at, the order; below 1e-11 is rounding
            if (fine > 1e-11 && log2(coarse / fine) < order - 0.5) {
                fail_msg("%s, order %d: %g, then %g", rbJointType_Name((rbJointType)type), order,
                         coarse, fine);
            }
        }
        rbMechanism_Free(&truth);
    }
}

// B-46: on steps so coarse that order 10 is above rounding
static void ordersEightAndTenGoOn(void** state)
{
    (void)state;
    rbTopPlan plan = {
        .mass = 1.0, .length = 0.5, .i1 = 0.3, .i3 = 0.08, .spin = 40.0, .tilt = RB_PI / 6.0};
    double rates[2];
    rbGetPrecessionRates(&plan, rates);
    for (int order = 8; order <= 10; order += 2) {
        double errors[2];
        for (int i = 0; i < 2; ++i) {
            double step = 1.0 / (16 << i);
            rbMechanism m = rbMakeTopWorld(rbMakeStepSettings(step, order), &plan, rates[0]);
            advance(&m, 0.5);
            rbQuat truth = rbGetPrecession(&plan, rates[0], 0.5);
            errors[i] = rbGetTurnBetween(rbMechanism_GetState(&m, 0).transform.q, truth);
            rbMechanism_Free(&m);
        }
        if (!(log2(errors[0] / errors[1]) > order - 0.7)) {
            fail_msg("order %d: %g, then %g", order, errors[0], errors[1]);
        }
    }
}

// B-41, X-10
static void tornChainComesTogether(void** state)
{
    (void)state;
    rbMechanism m = rbMakeTornChain();
    double gap = 0.0;
    double angle = 0.0;
    double most = 0.0; // impulse of a joint in a step, N s
    for (int k = 1; k <= 100; ++k) {
        rbStepReport report = rbWorld_AdvanceTo(m.world, rbGetStepTime(k, 0.01));
        assert_true(report.status == RB_STATUS_OK || report.status == RB_STATUS_NUMERICAL);
        checkBelow(report.ledger.kineticLinear, 5.0 * 0.5 * 20.0 * 20.0); // 20 m/s each
        for (int i = 0; i < m.jointCount; ++i) {
            most = fmax(most, 0.01 * rbLength(rbJoint_GetState(m.world, m.joints[i]).force));
        }
    }
    rbMechanism_GetGaps(&m, &gap, &angle);
    checkBelow(gap, 1e-6);
    checkBelow(most, 5.0); // as allowed; the first step would need 20
    rbMechanism_Free(&m);
}

// B-32, B-33, B-39
static void allSolversFindTheSameMotion(void** state)
{
    (void)state;
    rbVec3 ends[RB_SOLVER_COUNT + RB_REGISTERED_MAX];
    for (int solver = 0; solver < rbSolverType_GetCount(); ++solver) {
        rbStepSettings settings = rbMakeStepSettings(0.005, 2);
        settings.tolerance = 1e-10;
        settings.solver = (rbSolverType)solver;
        rbMechanism m = rbMakeHeavyChainWorld(settings, rbMakeVec3(1.0, 0.2, -0.3), 1.0);
        advance(&m, 0.2);
        ends[solver] = rbMechanism_GetState(&m, 10).center;
        // 40 steps, each off by the tolerance over its length in speed
        checkBelow(rbDistance(ends[solver], ends[0]), 1e-7);
        rbMechanism_Free(&m);
    }
}

// B-40
static void sweepsCutShortSayWhatIsLeft(void** state)
{
    (void)state;
    rbStepSettings settings = rbMakeStepSettings(0.005, 2);
    settings.tolerance = 1e-6;
    settings.solver = RB_SOLVER_ITERATIVE;
    settings.iterationsMax = 3;
    settings.halvingsMax = 0;
    rbMechanism m = rbMakeHeavyChainWorld(settings, rbMakeVec3(1.0, 0.0, 0.0), 1.0);
    double left = 0.0;
    for (int k = 1; k <= 100; ++k) {
        double gap;
        double angle;
        rbStepReport report = rbWorld_AdvanceTo(m.world, rbGetStepTime(k, 0.005));
        assert_true(report.status == RB_STATUS_OK || report.status == RB_STATUS_NUMERICAL);
        rbMechanism_GetGaps(&m, &gap, &angle);
        left = fmax(left, gap);
    }
    rbStepStatistics s = rbWorld_GetStepStatistics(m.world);
    assert_true(s.unmetSteps > 0);
    assert_true(left > 1e-6);
    checkBelow(left, 0.05);
    assert_true(s.positionErrorMax >= left);
    rbMechanism_Free(&m);
}

// How fast the points of two links that a ball joint holds together part.
static double findPartingSpeed(const rbMechanism* m)
{
    double worst = 0.0;
    for (int i = 0; i < m->jointCount; ++i) {
        rbJointState joint = rbJoint_GetState(m->world, m->joints[i]);
        rbVec3 before = RB_VEC3_ZERO; // the first hangs on the world
        if (i > 0) {
            before = rbBody_GetPointVelocity(m->world, m->bodies[i - 1], joint.pointA);
        }
        rbVec3 after = rbBody_GetPointVelocity(m->world, m->bodies[i], joint.pointB);
        worst = fmax(worst, rbDistance(before, after));
    }
    return worst;
}

// B-42: joints hold without the velocity correction as well, but only with it do the velocities of
// their two sides agree: the positions alone leave the acceleration over half a step.
static void jointsHoldWithoutVelocityCorrection(void** state)
{
    (void)state;
    double parting[2];
    for (int has = 0; has < 2; ++has) {
        rbStepSettings settings = rbMakeStepSettings(0.002, 2);
        settings.tolerance = 1e-9;
        settings.hasVelocityCorrection = has == 1;
        rbMechanism m = rbMakeHeavyChainWorld(settings, rbMakeVec3(1.0, 0.0, -0.5), 1.0);
        advance(&m, 0.5);
        checkClosed(&m, 1e-9);
        parting[has] = findPartingSpeed(&m);
        rbMechanism_Free(&m);
    }
    print_message("parting at %.1e m/s without, %.1e m/s with\n", parting[0], parting[1]);
    checkBelow(parting[1], 1e-9 / 0.002);
    assert_true(parting[0] > 1e-4);
}

RB_TEST_GROUP(phys_mechanisms, cmocka_unit_test(referencesMeetThePublishedNumbers),
              cmocka_unit_test(squeezerEquationsMeetTheTestSet),
              cmocka_unit_test(bricardReductionKeepsEnergyAndClosure),
              cmocka_unit_test(pointMassesOnRodsSwingAsTheyShould),
              cmocka_unit_test(fourBarPassesItsSingularPosition),
              cmocka_unit_test(substitutedJointsMoveAsHingesDo),
              cmocka_unit_test(fourBarStepsOntoItsSingularPosition),
              cmocka_unit_test(squeezerFollowsItsEquations), cmocka_unit_test(bricardStaysClosed),
              cmocka_unit_test(topsPrecessSteadily), cmocka_unit_test(governorFollowsItsEquations),
              cmocka_unit_test(heavyBallDoesNotStretchALightChain),
              cmocka_unit_test(everyJointTypeHasItsOrder), cmocka_unit_test(ordersEightAndTenGoOn),
              cmocka_unit_test(tornChainComesTogether),
              cmocka_unit_test(allSolversFindTheSameMotion),
              cmocka_unit_test(sweepsCutShortSayWhatIsLeft),
              cmocka_unit_test(jointsHoldWithoutVelocityCorrection));
