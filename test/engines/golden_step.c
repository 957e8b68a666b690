// The same bits of the step engine from every compiler and build.
#include "step_scenes.h"

#include <inttypes.h>

// A loop of hinges, a universal joint, a servo, a torsional spring, friction, a damped spring.
static rbWorld* makeMachine(int order)
{
    rbWorldDef def = stepWorldDef(9.81, 0.002, order);
    def.step.tolerance = 1e-6;
    rbWorld* world = makeStepWorld(&def);
    rbError error = {0};
    rbVec3 axis = rbMakeVec3(0.0, 1.0, 0.0);
    rbVec3 moments = rbMakeVec3(0.003, 0.08, 0.081);
    rbBodyId crank = addStepBody(world, 1.0, moments, rbMakeVec3(0.5, 0.0, 0.0), RB_QUAT_IDENTITY);
    rbBodyId rod = addStepBody(world, 2.0, moments, rbMakeVec3(1.5, 0.0, 0.0), RB_QUAT_IDENTITY);
    rbBodyId tail = addStepBody(world, 0.5, moments, rbMakeVec3(2.5, 0.0, 0.0), RB_QUAT_IDENTITY);
    rbJointDef first = stepJointDef(world, RB_JOINT_HINGE, RB_NO_BODY, crank, RB_VEC3_ZERO, axis);
    first.freedoms[0].motor.type = RB_MOTOR_POSITION;
    first.freedoms[0].motor.gain = 20.0;
    first.freedoms[0].motor.derivativeTime = 0.1;
    first.freedoms[0].motor.integralTime = 1.0;
    first.freedoms[0].motor.forceMax = 30.0;
    first.freedoms[0].motor.target = 0.7;
    (void)addStepJoint(world, &first);
    rbJointDef second =
        stepJointDef(world, RB_JOINT_HINGE, crank, rod, rbMakeVec3(1.0, 0.0, 0.0), axis);
    second.freedoms[0].friction = 0.3;
    second.freedoms[0].stiffness = 2.0;
    (void)addStepJoint(world, &second);
    rbJointDef third =
        stepJointDef(world, RB_JOINT_UNIVERSAL, rod, tail, rbMakeVec3(2.0, 0.0, 0.0), axis);
    third.axisB = rbMakeVec3(0.0, 0.0, 1.0);
    (void)addStepJoint(world, &third);
    rbJointDef loop = stepJointDef(world, RB_JOINT_PLANE, RB_NO_BODY, tail,
                                   rbMakeVec3(3.0, 0.0, 0.0), rbMakeVec3(0.3, 0.0, 1.0));
    (void)addStepJoint(world, &loop);
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyB = tail;
    spring.anchorA = rbMakeVec3(3.0, 0.5, 1.0);
    spring.restLength = 0.8;
    spring.stiffness = 30.0;
    spring.damping = 0.4;
    assert_false(RB_IS_NULL(rbCreateSpring(world, &spring, &error)));
    rbBody_ApplyImpulse(world, tail, rbMakeVec3(0.1, 0.3, -0.2), rbMakeVec3(2.7, 0.0, 0.1));
    return world;
}

static void machinesHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    static const uint64_t hashes[3] = {0x076495df257da6e3u, 0xa2ca4dcbd0506c57u,
                                       0x5cf020a0d727d46du};
    bool isSame = true;
    for (int i = 0; i < 3; ++i) {
        rbWorld* world = makeMachine(2 + 2 * i);
        (void)rbWorld_AdvanceTo(world, 0.5);
        uint64_t hash = rbWorld_GetHash(world);
        print_message("order %d: 0x%016" PRIx64 "\n", 2 + 2 * i, hash);
        isSame = isSame && hash == hashes[i];
        rbDestroyWorld(world);
    }
    assert_true(isSame);
}

// Steps that look-ahead cannot solve.
static void tautNetsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    rbWorldDef def = stepWorldDef(9.81, 1.0 / 60.0, 2);
    def.step.tolerance = 1e-6;
    rbBodyId bodies[RB_NET][RB_NET];
    rbWorld* world = makeStepWorld(&def);
    addStepNet(world, bodies);
    (void)rbWorld_AdvanceTo(world, 0.2);
    assert_true(rbWorld_GetStepStatistics(world).settledSteps > 0);
    uint64_t hash = rbWorld_GetHash(world);
    print_message("0x%016" PRIx64 "\n", hash);
    assert_true(hash == 0x7119074edf141e89u);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(golden_step, cmocka_unit_test(machinesHaveTheSameBitsEverywhere),
              cmocka_unit_test(tautNetsHaveTheSameBitsEverywhere));
