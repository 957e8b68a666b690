// One test a defect that a review of the step engine found.
#include "step_scenes.h"

static const rbVec3 up = {0.0, 0.0, 1.0};

static rbBodyId addSlider(rbWorld* world, double stiffness, double damping, rbJointId* joint)
{
    rbBodyId body =
        addStepBody(world, 1.0, rbMakeVec3(0.1, 0.1, 0.1), RB_VEC3_ZERO, RB_QUAT_IDENTITY);
    rbJointDef def = stepJointDef(world, RB_JOINT_PRISMATIC, RB_NO_BODY, body, RB_VEC3_ZERO, up);
    def.freedoms[0].stiffness = stiffness;
    def.freedoms[0].damping = damping;
    def.freedoms[0].rest = stiffness > 0.0 ? 0.1 : 0.0;
    *joint = addStepJoint(world, &def);
    return body;
}

// A damper far stiffer than the step lets a weight creep by g/c, not by the step.
static void stiffDamperCreepsByItsDamping(void** state)
{
    (void)state;
    static const double dampings[] = {1e3, 1e4, 1e5, 1e6};
    for (int order = 2; order <= 6; order += 2) {
        for (int i = 0; i < 4; ++i) {
            double damping = dampings[i];
            rbWorldDef def = stepWorldDef(9.81, 0.01, order);
            rbWorld* world = makeStepWorld(&def);
            rbJointId joint;
            (void)addSlider(world, 0.0, damping, &joint);
            (void)rbWorld_AdvanceTo(world, 1.0);
            double fall = rbJoint_GetState(world, joint).freedomPositions[0];
            checkNear(fall * damping / 9.81, -1.0, 2e-3);
            rbDestroyWorld(world);
        }
    }
}

// Combining runs that do not resolve a stiff spring once multiplied its energy by 1e70.
static void stiffSpringsStayTameAtHighOrder(void** state)
{
    (void)state;
    static const double stiffnesses[] = {1e4, 1e5, 1e6, 1e7, 1e8};
    for (int i = 0; i < 5; ++i) {
        double stiffness = stiffnesses[i];
        rbWorldDef def = stepWorldDef(0.0, 0.01, 4);
        rbWorld* world = makeStepWorld(&def);
        rbJointId joint;
        (void)addSlider(world, stiffness, 0.0, &joint);
        rbStepReport report = rbWorld_AdvanceTo(world, 1.0);
        checkBelow(report.ledger.energy, 1.05 * 0.5 * stiffness * 0.01);
        rbDestroyWorld(world);
    }
}

// Motors at their limits on every hinge: the search for which are at them ends.
static void manyLimitedMotorsSettle(void** state)
{
    (void)state;
    rbWorldDef def = stepWorldDef(9.81, 0.01, 2);
    rbWorld* world = makeStepWorld(&def);
    rbBodyId last = RB_NO_BODY;
    for (int i = 0; i < 6; ++i) {
        rbBodyId body = addStepBody(world, 1.0, rbMakeVec3(0.002, 0.084, 0.085),
                                    rbMakeVec3(i + 0.5, 0.0, 0.0), RB_QUAT_IDENTITY);
        rbJointDef joint = stepJointDef(world, RB_JOINT_HINGE, last, body, rbMakeVec3(i, 0.0, 0.0),
                                        rbMakeVec3(0.0, 1.0, 0.0));
        joint.freedoms[0].motor.type = RB_MOTOR_VELOCITY;
        joint.freedoms[0].motor.target = 0.8;
        joint.freedoms[0].motor.forceMax = 60.0;
        (void)addStepJoint(world, &joint);
        last = body;
    }
    rbStepReport report = rbWorld_AdvanceTo(world, 2.0);
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    checkBelow(s.positionErrorMax, 1e-5);
    checkBelow(report.ledger.kineticLinear, 1e3);
    rbDestroyWorld(world);
}

// Pushes between nodes keep what the part of a step did: turns, work, steps.
static void pushesBetweenNodesKeepTheBooks(void** state)
{
    (void)state;
    double positions[2];
    for (int k = 0; k < 2; ++k) {
        rbWorldDef def = stepWorldDef(0.0, 0.01, 2);
        rbWorld* world = makeStepWorld(&def);
        rbBodyId wheel =
            addStepBody(world, 1.0, rbMakeVec3(0.6, 0.6, 1.0), RB_VEC3_ZERO, RB_QUAT_IDENTITY);
        rbJointDef joint = stepJointDef(world, RB_JOINT_HINGE, RB_NO_BODY, wheel, RB_VEC3_ZERO, up);
        joint.freedoms[0].damping = 0.5;
        rbJointId id = addStepJoint(world, &joint);
        rbBody_ApplyAngularImpulse(world, wheel, rbMakeVec3(0.0, 0.0, 7.0));
        for (int i = 1; i <= 500; ++i) {
            (void)rbWorld_AdvanceTo(world, 0.004 * i);
            if (k == 1) {
                rbBody_ApplyAngularImpulse(world, wheel, rbMakeVec3(0.0, 0.0, 1e-12));
            }
        }
        positions[k] = rbJoint_GetState(world, id).freedomPositions[0];
        checkNear(rbWorld_GetLedger(world).energyDrift, 0.0, 1e-6);
        rbDestroyWorld(world);
    }
    checkNear(positions[0], 14.0 * (1.0 - exp(-1.0)), 1e-3);
    checkNear(positions[1], positions[0], 1e-3);
}

// A motor without a limit that asks for what a weld forbids is not a success.
static void impossibleMotorsAreReported(void** state)
{
    (void)state;
    rbWorldDef def = stepWorldDef(9.81, 1e-3, 2);
    rbWorld* world = makeStepWorld(&def);
    rbBodyId body = addStepBody(world, 1.0, rbMakeVec3(0.1, 0.1, 0.1), rbMakeVec3(0.5, 0.0, 0.0),
                                RB_QUAT_IDENTITY);
    rbJointDef weld = stepJointDef(world, RB_JOINT_FIXED, RB_NO_BODY, body, RB_VEC3_ZERO, up);
    rbJointDef drive = stepJointDef(world, RB_JOINT_HINGE, RB_NO_BODY, body, RB_VEC3_ZERO, up);
    drive.freedoms[0].motor.type = RB_MOTOR_VELOCITY;
    drive.freedoms[0].motor.target = 3.0;
    (void)addStepJoint(world, &weld);
    (void)addStepJoint(world, &drive);
    rbStepReport report = rbWorld_AdvanceTo(world, 0.1);
    assert_int_not_equal(report.status, RB_STATUS_OK);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(issue_step_review, cmocka_unit_test(stiffDamperCreepsByItsDamping),
              cmocka_unit_test(stiffSpringsStayTameAtHighOrder),
              cmocka_unit_test(manyLimitedMotorsSettle),
              cmocka_unit_test(pushesBetweenNodesKeepTheBooks),
              cmocka_unit_test(impossibleMotorsAreReported));
