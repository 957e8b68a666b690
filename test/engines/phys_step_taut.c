// Mechanisms that look-ahead alone cannot step: taut nets, light links between heavy bodies.
#include "dynamics/engines/step/step_state.h"
#include "step_scenes.h"
#include "world/world_state.h"

static double energyOf(const rbLedger* ledger)
{
    return ledger->kineticLinear + ledger->kineticAngular + ledger->potential;
}

// Conditions that depend on each other to second order: the joints still hold, and energy is lost,
// never gained.
static void tautNetStaysClosed(void** state)
{
    (void)state;
    for (int order = 2; order <= 4; order += 2) {
        rbWorldDef def = stepWorldDef(9.81, 1.0 / 60.0, order);
        rbBodyId bodies[RB_NET][RB_NET];
        rbWorld* world = makeStepWorld(&def);
        addStepNet(world, bodies);
        double last = 0.0;
        double lowest = 0.0;
        for (int n = 1; n <= 90; ++n) {
            rbStepReport report = rbWorld_AdvanceTo(world, n / 60.0);
            double energy = energyOf(&report.ledger);
            if (n == 1) {
                last = energy;
            }
            // Weight times height: 64 kg, 9.81 m/s^2, 1.75 m.
            checkBelow(energy - last, 1e-3 * 64.0 * 9.81 * 1.75);
            last = energy;
            lowest = fmin(lowest, rbBody_GetState(world, bodies[RB_NET - 1][RB_NET / 2]).center.z);
        }
        rbStepStatistics s = rbWorld_GetStepStatistics(world);
        print_message("%lld steps, %lld sub-steps, %lld settled, gap %.3g m, lowest %.3g m\n",
                      (long long)s.steps, (long long)s.substeps, (long long)s.settledSteps,
                      s.positionErrorMax, lowest);
        assert_int_equal(s.unmetSteps, 0);
        assert_true(s.settledSteps > 0);
        checkBelow(s.positionErrorMax, 1e-6);
        // The first row hardly sags, the last one swings down like the end of a chain of seven
        // rows.
        checkBelow(fabs(rbBody_GetState(world, bodies[0][RB_NET / 2]).center.z), 0.02);
        assert_true(lowest < -3.0 && lowest > -3.6);
        rbDestroyWorld(world);
    }
}

// 1000 kg on ten links of a gram: nothing in the look-ahead shows that 60 Hz is too coarse.
static void lightLinksHoldAHeavyBall(void** state)
{
    (void)state;
    rbWorldDef def = stepWorldDef(9.81, 1.0 / 60.0, 2);
    rbWorld* world = makeStepWorld(&def);
    rbBodyId last = RB_NO_BODY;
    double m = 1e-3;
    double l = 0.1;
    for (int i = 0; i <= 10; ++i) {
        bool isBall = i == 10;
        rbVec3 moments =
            rbMakeVec3(m * l * l / 1200.0, m * l * l / 12.0, isBall ? 10.0 : m * l * l / 12.0);
        moments = isBall ? rbMakeVec3(10.0, 10.0, 10.0) : moments;
        rbBodyId body =
            addStepBody(world, isBall ? 1e3 : m, moments,
                        rbMakeVec3(isBall ? 10.0 * l : (i + 0.5) * l, 0.0, 0.0), RB_QUAT_IDENTITY);
        rbJointDef joint = stepJointDef(world, RB_JOINT_BALL, last, body,
                                        rbMakeVec3(i * l, 0.0, 0.0), RB_VEC3_ZERO);
        (void)addStepJoint(world, &joint);
        last = body;
    }
    rbStepReport report = rbWorld_AdvanceTo(world, 1.0);
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    print_message("%lld sub-steps, gap %.3g m, drift %.3g J\n", (long long)s.substeps,
                  s.positionErrorMax, report.ledger.energyDrift);
    assert_int_equal(report.status, RB_STATUS_OK);
    assert_int_equal(s.settledSteps, 0);
    checkBelow(s.positionErrorMax, 1e-9);
    checkBelow(fabs(report.ledger.energyDrift), 1e-4);
    // The ball swings as a pendulum of 1 m whose bob has a moment it does not turn with.
    checkNear(rbLength(rbBody_GetState(world, last).center), 1.0, 1e-7);
    rbDestroyWorld(world);
}

// A crank with a spring, damping, friction and a motor, made of settled steps only.
static void swingCrank(double step, bool isSettled, double* angle, double* rate)
{
    rbWorldDef def = stepWorldDef(9.81, step, isSettled ? 2 : 6);
    rbWorld* world = makeStepWorld(&def);
    rbBodyId crank = addStepBody(world, 2.0, rbMakeVec3(0.02, 0.3, 0.3), rbMakeVec3(0.4, 0.0, 0.0),
                                 RB_QUAT_IDENTITY);
    rbBodyId bob = addStepBody(world, 1.0, rbMakeVec3(0.01, 0.1, 0.1), rbMakeVec3(1.1, 0.0, 0.0),
                               RB_QUAT_IDENTITY);
    rbVec3 axis = rbMakeVec3(0.0, 1.0, 0.0);
    rbJointDef hinge = stepJointDef(world, RB_JOINT_HINGE, RB_NO_BODY, crank, RB_VEC3_ZERO, axis);
    hinge.freedoms[0].stiffness = 12.0;
    hinge.freedoms[0].rest = -0.3;
    hinge.freedoms[0].damping = 0.8;
    rbJointId id = addStepJoint(world, &hinge);
    rbJointDef elbow =
        stepJointDef(world, RB_JOINT_HINGE, crank, bob, rbMakeVec3(0.8, 0.0, 0.0), axis);
    elbow.freedoms[0].friction = 0.4;
    (void)addStepJoint(world, &elbow);
    rbError error = {0};
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_OK);
    rbStepEngine* engine = world->engine;
    for (int i = 0; isSettled && i < engine->mechanisms.count; ++i) {
        engine->mechanisms.data[i].node.settleCount = 1 << 30;
    }
    (void)rbWorld_AdvanceTo(world, 0.25);
    rbJointState s = rbJoint_GetState(world, id);
    rbStepStatistics statistics = rbWorld_GetStepStatistics(world);
    assert_true(!isSettled || statistics.settledSteps == statistics.steps);
    checkBelow(statistics.positionErrorMax, 1e-6);
    *angle = s.freedomPositions[0];
    *rate = s.freedomVelocities[0];
    rbDestroyWorld(world);
}

static void settledStepsAreOfOrderOne(void** state)
{
    (void)state;
    double angle;
    double rate;
    double errors[3];
    swingCrank(1.0 / 4096.0, false, &angle, &rate);
    for (int k = 0; k < 3; ++k) {
        double angleOne;
        double rateOne;
        swingCrank(1.0 / (double)(512 << k), true, &angleOne, &rateOne);
        errors[k] = fabs(angleOne - angle) + fabs(rateOne - rate);
        print_message("angle %.6f of %.6f, rate %.6f of %.6f\n", angleOne, angle, rateOne, rate);
    }
    assert_true(errors[0] / errors[1] > 1.7 && errors[0] / errors[1] < 2.3);
    assert_true(errors[1] / errors[2] > 1.7 && errors[1] / errors[2] < 2.3);
    checkBelow(errors[2], 0.02);
}

RB_TEST_GROUP(phys_step_taut, cmocka_unit_test(tautNetStaysClosed),
              cmocka_unit_test(lightLinksHoldAHeavyBall),
              cmocka_unit_test(settledStepsAreOfOrderOne));
