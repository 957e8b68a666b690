// Moving worlds with joints: the ledger closes, output steps and snapshots keep the bits, external
// changes take effect, shortfalls are reported.
#include "joint_scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rbWorld* makeWorld(int order, rbVec3 gravity)
{
    rbWorldDef def = rbDefaultWorldDef();
    rbError error = {0};
    def.engine = RB_ENGINE_STEP;
    def.gravity = gravity;
    def.step.order = order;
    rbWorld* world = rbCreateWorld(&def, &error);
    assert_non_null(world);
    return world;
}

static const rbVec3 axisX = {1.0, 0.0, 0.0};
static const rbVec3 axisY = {0.0, 1.0, 0.0};
static const rbVec3 down = {0.0, 0.0, -9.81};

// A chain of mixed joints from the world, with a motor, a torsional spring, a damped spring and
// drag, and a free body.
static rbWorld* makeMixed(int order)
{
    rbWorld* world = makeWorld(order, down);
    rbError error = {0};
    rbBodyId links[4];
    static const char* const names[4] = {"one", "two", "three", "four"};
    static const rbJointType types[4] = {RB_JOINT_HINGE, RB_JOINT_BALL, RB_JOINT_UNIVERSAL,
                                         RB_JOINT_HINGE};
    for (int i = 0; i < 4; ++i) {
        links[i] = addBody(world, names[i], 1.0 + 0.3 * i, rbMakeVec3(0.5 + i, 0.0, 0.0));
        rbJointDef def = rbDefaultJointDef();
        def.type = types[i];
        def.name = names[i];
        def.bodyB = links[i];
        if (i > 0) {
            def.bodyA = links[i - 1];
        }
        if (i == 0) {
            def.freedoms[0].motor.type = RB_MOTOR_POSITION;
            def.freedoms[0].motor.gain = 20.0;
            def.freedoms[0].motor.derivativeTime = 0.1;
            def.freedoms[0].motor.forceMax = 40.0;
            def.freedoms[0].motor.target = -0.3;
        }
        if (i == 3) {
            def.freedoms[0].stiffness = 4.0;
            def.freedoms[0].rest = 0.5;
            def.freedoms[0].damping = 0.2;
        }
        rbJointDef_SetAnchor(&def, world, rbMakeVec3(i, 0.0, 0.0));
        rbJointDef_SetAxis(&def, world, axisY);
        if (types[i] == RB_JOINT_UNIVERSAL) {
            def.axisA = axisY;
            def.axisB = rbMakeVec3(0.0, 0.0, 1.0);
        }
        assert_false(RB_IS_NULL(rbCreateJoint(world, &def, &error)));
    }
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyA = links[3];
    spring.anchorA = rbMakeVec3(0.5, 0.0, 0.0);
    spring.anchorB = rbMakeVec3(4.0, 0.0, 1.0);
    spring.restLength = 0.7;
    spring.stiffness = 80.0;
    spring.damping = 0.5;
    assert_false(RB_IS_NULL(rbCreateSpring(world, &spring, &error)));
    rbForceDef drag = rbDefaultForceDef();
    drag.type = RB_FORCE_DRAG;
    drag.linear = 0.1;
    assert_false(RB_IS_NULL(rbCreateForce(world, &drag, &error)));
    (void)addBody(world, "loner", 1.0, rbMakeVec3(0.0, 5.0, 0.0));
    return world;
}

static void outputStepsDoNotChangeJointedBits(void** state)
{
    (void)state;
    for (int order = 2; order <= 4; order += 2) {
        rbWorld* coarse = makeMixed(order);
        rbWorld* fine = makeMixed(order);
        for (int k = 1; k <= 4; ++k) {
            // The second steps also end between the nodes of the engine.
            (void)rbWorld_AdvanceTo(coarse, rbGetStepTime(k, 0.1));
            for (int i = 1; i <= 40; ++i) {
                (void)rbWorld_AdvanceTo(fine, rbGetStepTime(40 * (k - 1) + i, 0.0025));
            }
            assert_true(rbWorld_GetHash(coarse) == rbWorld_GetHash(fine));
            checkNear(rbWorld_GetLedger(coarse).energyDrift, rbWorld_GetLedger(fine).energyDrift,
                      1e-12);
        }
        rbDestroyWorld(coarse);
        rbDestroyWorld(fine);
    }
}

static void jointedSnapshotGoesOnWithTheSameBits(void** state)
{
    (void)state;
    rbWorld* world = makeMixed(4);
    rbError error = {0};
    rbJointId servo = rbWorld_FindJoint(world, "one");
    (void)rbWorld_Advance(world, 0.1234);
    // Changed and not yet passed to the engine.
    rbBody_ApplyImpulse(world, rbWorld_FindBody(world, "four"), rbMakeVec3(0.1, 0.2, 0.3),
                        rbMakeVec3(3.5, 0.0, 0.0));
    (void)rbJoint_SetMotorTarget(world, servo, 0, 0.2, &error);
    size_t size = rbWorld_GetSnapshotSize(world);
    void* bytes = malloc(size);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    (void)rbWorld_Advance(world, 0.0501);
    (void)rbWorld_Advance(world, 0.1);
    uint64_t hash = rbWorld_GetHash(world);
    rbLedger ledger = rbWorld_GetLedger(world);
    rbJointState joint = rbJoint_GetState(world, servo);
    // Restoring undoes the target that was set since.
    (void)rbJoint_SetMotorTarget(world, servo, 0, -1.0, &error);
    (void)rbWorld_Advance(world, 0.05);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    checkNear(rbJoint_GetState(world, servo).motorTargets[0], 0.2, 0.0);
    (void)rbWorld_Advance(world, 0.0501);
    (void)rbWorld_Advance(world, 0.1);
    assert_true(rbWorld_GetHash(world) == hash);
    rbLedger again = rbWorld_GetLedger(world);
    checkNear(again.energyDrift, ledger.energyDrift, 0.0);
    checkNear(again.motorWork, ledger.motorWork, 0.0);
    checkNear(again.dissipation, ledger.dissipation, 0.0);
    checkNear(rbJoint_GetState(world, servo).freedomForces[0], joint.freedomForces[0], 0.0);
    // An identically created world accepts it too.
    rbWorld* other = makeMixed(4);
    assert_int_equal(rbWorld_RestoreSnapshot(other, bytes, size, &error), RB_STATUS_OK);
    (void)rbWorld_Advance(other, 0.0501);
    (void)rbWorld_Advance(other, 0.1);
    assert_true(rbWorld_GetHash(other) == hash);
    checkNear(rbWorld_GetLedger(other).energyDrift, ledger.energyDrift, 1e-12);
    // One without one of the joints does not.
    rbDestroyJoint(other, rbWorld_FindJoint(other, "two"));
    assert_int_equal(rbWorld_RestoreSnapshot(other, bytes, size, &error), RB_STATUS_INVALID);
    free(bytes);
    rbDestroyWorld(other);
    rbDestroyWorld(world);
}

// A spring of 1 m from the origin to a body.
static rbSpringId addSpring(rbWorld* world, rbBodyId body, double stiffness, double damping)
{
    rbError error = {0};
    rbSpringDef def = rbDefaultSpringDef();
    def.bodyB = body;
    def.restLength = 1.0;
    def.stiffness = stiffness;
    def.damping = damping;
    rbSpringId spring = rbCreateSpring(world, &def, &error);
    assert_false(RB_IS_NULL(spring));
    return spring;
}

// A mass on a spring: x = A cos(w t), and all of the energy is accounted for.
// B-31
static void springMassSwingsByItsFormula(void** state)
{
    (void)state;
    const double stiffness = 50.0;
    const double mass = 2.0;
    rbWorld* world = makeWorld(4, RB_VEC3_ZERO);
    rbBodyId body = addBody(world, "bob", mass, rbMakeVec3(1.2, 0.0, 0.0));
    rbSpringId spring = addSpring(world, body, stiffness, 0.0);
    double energy = 0.5 * stiffness * 0.04;
    checkNear(rbWorld_GetLedger(world).energy, energy, 1e-14);
    for (int k = 1; k <= 20; ++k) {
        (void)rbWorld_AdvanceTo(world, rbGetStepTime(k, 0.1));
        double x = 1.0 + 0.2 * cos(sqrt(stiffness / mass) * 0.1 * k);
        checkNear(rbBody_GetState(world, body).center.x, x, 1e-9);
        rbLedger ledger = rbWorld_GetLedger(world);
        checkNear(ledger.springEnergy, 0.5 * stiffness * (x - 1.0) * (x - 1.0), 1e-8);
        checkNear(ledger.energyDrift, 0.0, 1e-9);
        checkNear(rbSpring_GetState(world, spring).energy, ledger.springEnergy, 0.0);
        // The mean over the last step of 1 ms has an error of at most half a step's change.
        checkNear(rbSpring_GetState(world, spring).force, stiffness * (x - 1.0),
                  1.1e-3 * stiffness * 0.2 * sqrt(stiffness / mass));
    }
    rbDestroyWorld(world);
}

// x = exp(-d t) (cos w t + d/w sin w t) A: the lost energy went into damping.
// B-31
static void dampedSpringAccountsForWhatItTakes(void** state)
{
    (void)state;
    const double stiffness = 50.0;
    const double damping = 4.0;
    const double mass = 2.0;
    rbWorld* world = makeWorld(4, RB_VEC3_ZERO);
    rbBodyId body = addBody(world, "bob", mass, rbMakeVec3(1.2, 0.0, 0.0));
    (void)addSpring(world, body, stiffness, damping);
    double start = rbWorld_GetLedger(world).energy;
    double d = 0.5 * damping / mass;
    double w = sqrt(stiffness / mass - d * d);
    for (int k = 1; k <= 20; ++k) {
        (void)rbWorld_AdvanceTo(world, rbGetStepTime(k, 0.1));
        double t = 0.1 * k;
        double x = 1.0 + 0.2 * exp(-d * t) * (cos(w * t) + d / w * sin(w * t));
        checkNear(rbBody_GetState(world, body).center.x, x, 1e-7);
        rbLedger ledger = rbWorld_GetLedger(world);
        assert_true(ledger.dissipation < 0.0);
        checkNear(ledger.energy - ledger.dissipation, start, 1e-5);
        checkNear(ledger.energyDrift, 0.0, 1e-5);
    }
    rbDestroyWorld(world);
}

// One body on one joint.
typedef struct Single {
    rbWorld* world;
    rbBodyId body;
    rbJointDef def;
    rbJointId joint;
} Single;

// A rotor that has turned about x at 10 rad/s for 2 s.
static Single turnRotor(void)
{
    Single s = {.world = makeWorld(2, RB_VEC3_ZERO), .def = rbDefaultJointDef()};
    s.body = addBody(s.world, "rotor", 2.0, RB_VEC3_ZERO);
    s.def.type = RB_JOINT_HINGE;
    s.def.bodyB = s.body;
    s.joint = join(s.world, &s.def, RB_VEC3_ZERO, axisX);
    rbBody_ApplyAngularImpulse(s.world, s.body, rbScale(0.06 * 10.0, axisX));
    (void)rbWorld_AdvanceTo(s.world, 2.0);
    return s;
}

// A bob of 1 kg, 1 m along x from the hook.
static Single hangBob(rbVec3 gravity)
{
    Single s = {.world = makeWorld(4, gravity), .def = rbDefaultJointDef()};
    s.body = addBody(s.world, "bob", 1.0, rbMakeVec3(1.0, 0.0, 0.0));
    s.def.bodyB = s.body;
    s.joint = join(s.world, &s.def, RB_VEC3_ZERO, axisX);
    return s;
}

// A velocity motor accelerates a free rotor: its work is the energy of the rotor.
// B-26
static void motorWorkIsTheEnergyItGave(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(2, RB_VEC3_ZERO);
    rbBodyId rotor = addBody(world, "rotor", 2.0, RB_VEC3_ZERO);
    rbJointDef def = rbDefaultJointDef();
    def.name = "axle";
    def.type = RB_JOINT_HINGE;
    def.bodyB = rotor;
    def.freedoms[0].motor.type = RB_MOTOR_VELOCITY;
    def.freedoms[0].motor.target = 3.0;
    def.freedoms[0].motor.forceMax = 0.4;
    rbJointId axle = join(world, &def, RB_VEC3_ZERO, axisX);
    // 0.06 kg m^2 about x at 0.4 N m: 3 rad/s after 0.45 s.
    (void)rbWorld_AdvanceTo(world, 0.3);
    rbJointState now = rbJoint_GetState(world, axle);
    checkNear(now.freedomVelocities[0], 2.0, 1e-9);
    checkNear(now.freedomPositions[0], 0.5 * 0.4 / 0.06 * 0.09, 1e-6);
    checkNear(now.freedomForces[0], 0.4, 1e-9);
    checkNear(now.motorTargets[0], 3.0, 0.0);
    checkNear(rbWorld_GetLedger(world).motorWork, 0.5 * 0.06 * 4.0, 1e-6);
    (void)rbWorld_AdvanceTo(world, 1.0);
    now = rbJoint_GetState(world, axle);
    checkNear(now.freedomVelocities[0], 3.0, 1e-9);
    checkNear(now.freedomForces[0], 0.0, 1e-6);
    rbLedger ledger = rbWorld_GetLedger(world);
    checkNear(ledger.motorWork, 0.5 * 0.06 * 9.0, 1e-6);
    checkNear(ledger.energyDrift, 0.0, 1e-6);
    // A new target takes effect.
    assert_int_equal(rbJoint_SetMotorTarget(world, axle, 0, -1.0, NULL), RB_STATUS_OK);
    (void)rbWorld_AdvanceTo(world, 2.0);
    checkNear(rbJoint_GetState(world, axle).freedomVelocities[0], -1.0, 1e-9);
    rbDestroyWorld(world);
}

// Turns are counted, also across a change of the world that restarts the engine.
static void turnsAreCountedOverRestarts(void** state)
{
    (void)state;
    Single rotor = turnRotor();
    rbWorld* world = rotor.world;
    rbJointId axle = rotor.joint;
    checkNear(rbJoint_GetState(world, axle).freedomPositions[0], 20.0, 1e-6);
    (void)addBody(world, "other", 1.0, rbMakeVec3(3.0, 0.0, 0.0));
    checkNear(rbJoint_GetState(world, axle).freedomPositions[0], 20.0, 1e-6);
    (void)rbWorld_AdvanceTo(world, 3.0);
    checkNear(rbJoint_GetState(world, axle).freedomPositions[0], 30.0, 1e-6);
    checkNear(rbJoint_GetState(world, axle).freedomVelocities[0], 10.0, 1e-9);
    rbDestroyWorld(world);
}

// The joint carries the weight of a hanging body.
static void jointCarriesTheWeight(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(2, down);
    rbBodyId body = addBody(world, "lamp", 2.0, rbMakeVec3(0.0, 0.0, -1.0));
    rbJointDef def = rbDefaultJointDef();
    def.bodyA = body;
    rbJointId hook = join(world, &def, RB_VEC3_ZERO, axisX);
    rbStepReport report = rbWorld_AdvanceTo(world, 0.5);
    assert_int_equal(report.status, RB_STATUS_OK);
    rbJointState now = rbJoint_GetState(world, hook);
    checkNear(rbDistance(now.force, rbMakeVec3(0.0, 0.0, 2.0 * 9.81)), 0.0, 1e-6);
    checkBelow(now.positionError, 1e-6);
    rbStepStatistics statistics = rbWorld_GetStepStatistics(world);
    assert_true(statistics.steps >= 500);
    assert_int_equal(statistics.mechanismCount, 1);
    assert_int_equal(statistics.rowCount, 3);
    rbDestroyWorld(world);
}

// A body whose joint is removed flies on from its position: a parabola.
static void cutLooseABodyFlies(void** state)
{
    (void)state;
    Single bob = hangBob(down);
    rbWorld* world = bob.world;
    rbBodyId body = bob.body;
    rbJointId hook = bob.joint;
    (void)rbWorld_AdvanceTo(world, 0.4);
    rbBodyState cut = rbBody_GetState(world, body);
    // A look-ahead does not include the joint.
    rbVec3 ahead = rbBody_GetStateAt(world, body, 0.9).center;
    rbDestroyJoint(world, hook);
    (void)rbWorld_AdvanceTo(world, 0.9);
    rbVec3 truth = rbAddScaled(rbAddScaled(cut.center, 0.5, cut.linearVelocity), 0.125, down);
    checkNear(rbDistance(rbBody_GetState(world, body).center, truth), 0.0, 1e-13);
    checkNear(rbDistance(ahead, truth), 0.0, 1e-13);
    checkNear(rbWorld_GetLedger(world).energyDrift, 0.0, 1e-8);
    rbDestroyWorld(world);
}

// B-30
static void dragFollowsItsPointer(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(2, RB_VEC3_ZERO);
    rbError error = {0};
    rbBodyId body = addBody(world, "cup", 1.0, RB_VEC3_ZERO);
    rbJointId drag = rbWorld_StartDrag(world, body, rbMakeVec3(0.1, 0.0, 0.0), INFINITY, &error);
    assert_false(RB_IS_NULL(drag));
    for (int k = 1; k <= 20; ++k) {
        rbVec3 pointer = rbMakeVec3(0.1 + 0.02 * k, 0.01 * k * k * 0.1, 0.0);
        rbWorld_MoveDrag(world, drag, pointer, 0.02);
        (void)rbWorld_AdvanceTo(world, rbGetStepTime(k, 0.02));
        // 20 steps, each to the tolerance of 1e-6 m.
        checkNear(rbDistance(rbJoint_GetState(world, drag).pointB, pointer), 0.0, 20e-6);
    }
    rbLedger ledger = rbWorld_GetLedger(world);
    assert_true(ledger.motorWork > 0.0);
    checkNear(ledger.energyDrift, 0.0, 1e-5);
    rbDestroyJoint(world, drag);
    rbBodyState free = rbBody_GetState(world, body);
    (void)rbWorld_Advance(world, 0.5);
    rbVec3 truth = rbAddScaled(free.center, 0.5, free.linearVelocity);
    checkNear(rbDistance(rbBody_GetState(world, body).center, truth), 0.0, 1e-13);
    rbDestroyWorld(world);
}

static void openJointsAreRefusedWithTheirGap(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(2, down);
    rbError error = {0};
    rbJointDef def = rbDefaultJointDef();
    def.name = "elbow";
    def.bodyA = addBody(world, "upper", 1.0, rbMakeVec3(0.5, 0.0, 0.0));
    def.bodyB = addBody(world, "lower", 1.0, rbMakeVec3(1.5, 0.0, 0.0));
    def.anchorA = rbMakeVec3(0.5, 0.0, 0.0);
    def.anchorB = rbMakeVec3(-0.4, 0.0, 0.0);
    assert_false(RB_IS_NULL(rbCreateJoint(world, &def, &error)));
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_INVALID);
    static const char* const parts[4] = {"\"elbow\"", "\"upper\"", "\"lower\"", "0.1 m"};
    for (int i = 0; i < 4; ++i) {
        assert_non_null(strstr(error.message, parts[i]));
    }
    rbStepReport report = rbWorld_Advance(world, 0.1);
    assert_int_equal(report.status, RB_STATUS_INVALID);
    checkNear(report.time, 0.0, 0.0);
    assert_non_null(strstr(rbWorld_GetError(world).message, "elbow"));
    // Moved together it works.
    rbTransform pose = {rbMakeVec3(1.4, 0.0, 0.0), {1.0, 0.0, 0.0, 0.0}};
    (void)rbBody_SetState(world, def.bodyB, pose, RB_VEC3_ZERO, RB_VEC3_ZERO, &error);
    assert_int_equal(rbWorld_Advance(world, 0.1).status, RB_STATUS_OK);
    rbDestroyWorld(world);
}

static void advancingJointsAllocatesNothing(void** state)
{
    (void)state;
    rbWorld* world = makeMixed(4);
    for (int k = 0; k < 20; ++k) {
        (void)rbWorld_Advance(world, 0.0033);
    }
    uint64_t count = rbGetAllocationCount();
    for (int k = 0; k < 20; ++k) {
        (void)rbWorld_Advance(world, 0.0033);
    }
    assert_true(rbGetAllocationCount() == count);
    rbDestroyWorld(world);
}

// Two anchors of a rigid body on two fixed points that are too far apart.
// B-41
static void contradictingJointsAreNamed(void** state)
{
    (void)state;
    for (int allowed = 0; allowed < 2; ++allowed) {
        rbWorldDef worldDef = rbDefaultWorldDef();
        rbError error = {0};
        worldDef.engine = RB_ENGINE_STEP;
        worldDef.step.isAssembleAllowed = allowed == 1;
        rbWorld* world = rbCreateWorld(&worldDef, &error);
        rbJointDef def = rbDefaultJointDef();
        def.bodyB = addBody(world, "bar", 1.0, RB_VEC3_ZERO);
        def.name = "left";
        def.anchorA = rbMakeVec3(-0.5, 0.0, 0.0);
        def.anchorB = def.anchorA;
        assert_false(RB_IS_NULL(rbCreateJoint(world, &def, &error)));
        def.name = "right";
        def.anchorA = rbMakeVec3(0.7, 0.0, 0.0);
        def.anchorB = rbMakeVec3(0.5, 0.0, 0.0);
        assert_false(RB_IS_NULL(rbCreateJoint(world, &def, &error)));
        // An unrelated body.
        def.name = "free";
        def.bodyA = def.bodyB;
        def.bodyB = addBody(world, "tail", 1.0, rbMakeVec3(0.0, 0.0, -1.0));
        def.anchorA = RB_VEC3_ZERO;
        def.anchorB = rbMakeVec3(0.0, 0.0, 1.0);
        assert_false(RB_IS_NULL(rbCreateJoint(world, &def, &error)));
        uint64_t hash = rbWorld_GetHash(world);
        assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_INVALID);
        // Without permission to assemble, the message names the gap; with it, the conflicting
        // joints.
        static const char* const parts[5] = {"\"right\"", "open by", " m", "\"left\"",
                                             "contradict"};
        for (int i = 0; i < (allowed == 1 ? 5 : 3); ++i) {
            assert_non_null(strstr(error.message, parts[i]));
        }
        assert_null(strstr(error.message, "free"));
        assert_true(rbWorld_GetHash(world) == hash);
        rbDestroyWorld(world);
    }
}

// If allowed, open joints close, immediately or by limited impulses; the energy accounting shows
// the energy gained or lost.
// B-41
static void openJointsAreAssembledWhenAllowed(void** state)
{
    (void)state;
    for (int limited = 0; limited < 2; ++limited) {
        rbWorldDef worldDef = rbDefaultWorldDef();
        rbError error = {0};
        worldDef.engine = RB_ENGINE_STEP;
        worldDef.step.isAssembleAllowed = true;
        worldDef.step.impulseMax = limited == 1 ? 0.05 : INFINITY;
        rbWorld* world = rbCreateWorld(&worldDef, &error);
        rbJointDef def = rbDefaultJointDef();
        def.bodyA = addBody(world, "upper", 1.0, rbMakeVec3(0.5, 0.0, 0.0));
        def.bodyB = addBody(world, "lower", 1.0, rbMakeVec3(1.5, 0.02, 0.0));
        def.anchorA = rbMakeVec3(0.5, 0.0, 0.0);
        def.anchorB = rbMakeVec3(-0.4, 0.0, 0.0);
        rbJointId joint = rbCreateJoint(world, &def, &error);
        assert_false(RB_IS_NULL(joint));
        // 0.05 N s on 1 kg each close at least 0.1 mm in a step of 1 ms: 0.1 m in a second.
        (void)rbWorld_Advance(world, 2.0);
        checkBelow(rbJoint_GetState(world, joint).positionError, 1e-6);
        rbLedger ledger = rbWorld_GetLedger(world);
        print_message("assembled by %s impulses: %g J, drift %g J\n",
                      limited == 1 ? "limited" : "free", ledger.restWork, ledger.energyDrift);
        checkNear(ledger.energyDrift, 0.0, 1e-4);
        rbDestroyWorld(world);
    }
}

static rbWorld* makeOpenPair(void)
{
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.engine = RB_ENGINE_STEP;
    worldDef.step.isAssembleAllowed = true;
    rbWorld* world = rbCreateWorld(&worldDef, NULL);
    rbJointDef def = rbDefaultJointDef();
    def.bodyA = addBody(world, "upper", 1.0, rbMakeVec3(0.5, 0.0, 0.0));
    def.bodyB = addBody(world, "lower", 1.0, rbMakeVec3(1.5, 0.02, 0.0));
    def.anchorA = rbMakeVec3(0.5, 0.0, 0.0);
    def.anchorB = rbMakeVec3(-0.4, 0.0, 0.0);
    assert_false(RB_IS_NULL(rbCreateJoint(world, &def, NULL)));
    return world;
}

// A world that has not started yet assembles its joints when a snapshot starts its engine; then the
// states of the snapshot hold, to the bit.
static void snapshotsHoldAfterAssembly(void** state)
{
    (void)state;
    rbWorld* one = makeOpenPair();
    (void)rbWorld_AdvanceTo(one, 0.1);
    size_t size = rbWorld_GetSnapshotSize(one);
    char* bytes = malloc(size);
    assert_int_equal(rbWorld_TakeSnapshot(one, bytes, size, NULL), RB_STATUS_OK);
    rbWorld* other = makeOpenPair();
    assert_int_equal(rbWorld_RestoreSnapshot(other, bytes, size, NULL), RB_STATUS_OK);
    assert_true(rbWorld_GetHash(other) == rbWorld_GetHash(one));
    for (int i = 0; i < 2; ++i) {
        rbBodyState a = rbBody_GetState(one, rbWorld_FindBody(one, i == 0 ? "upper" : "lower"));
        rbBodyState b = rbBody_GetState(other, rbWorld_FindBody(other, i == 0 ? "upper" : "lower"));
        assert_memory_equal(&a.transform, &b.transform, sizeof a.transform);
    }
    free(bytes);
    rbDestroyWorld(other);
    rbDestroyWorld(one);
}

// Drag, motor, springs and damping together; 5e-10 J are reached at order 4 and 1 ms.
static void mixedLedgerCloses(void** state)
{
    (void)state;
    rbWorld* world = makeMixed(4);
    rbStepReport report = {0};
    for (int k = 1; k <= 10; ++k) {
        report = rbWorld_AdvanceTo(world, rbGetStepTime(k, 0.1));
        assert_int_equal(report.status, RB_STATUS_OK);
    }
    rbLedger ledger = report.ledger;
    assert_true(ledger.dissipation < -1e-3);
    assert_true(ledger.work < -1e-3);
    assert_true(fabs(ledger.motorWork) > 1e-3);
    checkNear(ledger.energyDrift, 0.0, 1e-8);
    rbDestroyWorld(world);
}

// A joint absorbs an impulse along its constrained direction, but not along a free one.
static void impulsesFromOutsideMeetTheJoints(void** state)
{
    (void)state;
    Single bob = hangBob(RB_VEC3_ZERO);
    rbWorld* world = bob.world;
    rbBodyId body = bob.body;
    rbJointId hook = bob.joint;
    (void)rbWorld_AdvanceTo(world, 0.01);
    rbVec3 center = rbBody_GetState(world, body).center;
    rbBody_ApplyImpulse(world, body, rbMakeVec3(3.0, 0.0, 0.0), center);
    (void)rbWorld_AdvanceTo(world, 0.5);
    checkNear(rbDistance(rbBody_GetState(world, body).center, center), 0.0, 1e-9);
    rbLedger ledger = rbWorld_GetLedger(world);
    checkNear(ledger.work, 4.5, 1e-12);
    checkNear(ledger.restWork, -4.5, 1e-9);
    checkNear(ledger.energyDrift, 0.0, 1e-9);
    // About z the moment of inertia at the hook is 0.04 + 1.
    rbBody_ApplyImpulse(world, body, rbMakeVec3(0.0, 2.0, 0.0), center);
    (void)rbWorld_AdvanceTo(world, 1.0);
    rbBodyState now = rbBody_GetState(world, body);
    checkNear(now.angularVelocity.z, 2.0 / 1.04, 1e-9);
    checkNear(rbLength(now.center), 1.0, 1e-6);
    checkNear(rbWorld_GetLedger(world).energyDrift, 0.0, 1e-9);
    checkBelow(rbJoint_GetState(world, hook).positionError, 1e-12);
    rbDestroyWorld(world);
}

// A joint with a motor in the slot of a removed one starts from its initial state.
static void aNewJointForgetsTheOldOnesTurns(void** state)
{
    (void)state;
    Single rotor = turnRotor();
    rbWorld* world = rotor.world;
    rbDestroyJoint(world, rotor.joint);
    rbJointId axle = join(world, &rotor.def, RB_VEC3_ZERO, axisX);
    checkNear(rbJoint_GetState(world, axle).freedomPositions[0], 0.0, 1e-12);
    (void)rbWorld_AdvanceTo(world, 2.1);
    checkNear(rbJoint_GetState(world, axle).freedomPositions[0], 1.0, 1e-6);
    rbDestroyWorld(world);
}

// The target of a motor changes between two nodes: the step up to then was made again with the new
// target for the accounts, which closed only by chance; beside contacts, that is also with a stop,
// it was lost.
static void workUpToAChangeIsThatOfWhatActed(void** state)
{
    (void)state;
    static const double steps[4] = {0.01, 0.001, 0.01, 0.001};
    for (int i = 0; i < 4; ++i) {
        rbWorldDef worldDef = rbDefaultWorldDef();
        rbError error = {0};
        worldDef.engine = RB_ENGINE_STEP;
        worldDef.step.step = steps[i];
        worldDef.gravity = RB_VEC3_ZERO;
        rbWorld* world = rbCreateWorld(&worldDef, &error);
        rbJointDef def = rbDefaultJointDef();
        def.type = RB_JOINT_PRISMATIC;
        def.bodyB = addBody(world, "slider", 1.0, RB_VEC3_ZERO);
        def.freedoms[0].motor.type = RB_MOTOR_VELOCITY;
        def.freedoms[0].motor.forceMax = 5.0;
        def.limits[0].upper = i < 2 ? INFINITY : 10.0;
        rbJointId rail = join(world, &def, RB_VEC3_ZERO, axisX);
        for (int k = 1; k <= 60; ++k) {
            (void)rbWorld_AdvanceTo(world, 1.37 * k * steps[i]);
            (void)rbJoint_SetMotorTarget(world, rail, 0, k % 2 == 0 ? 0.9 : -0.6, &error);
        }
        (void)rbWorld_AdvanceTo(world, (1.37 * 60 + 1.0) * steps[i]); // a node
        rbLedger ledger = rbWorld_GetLedger(world);
        print_message("energy %.3g J, work %.3g J, numerical energy %.2g J\n", ledger.energy,
                      ledger.motorWork, ledger.numericalEnergy);
        checkBelow(fabs(ledger.numericalEnergy), 1e-12);
        checkNear(ledger.motorWork, ledger.energy, 1e-12);
        rbDestroyWorld(world);
    }
}

// A pendulum on a cart with a path: hanging from a steadily moving point it hangs as at rest.
static void pathsCarryTheirJoints(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(2, down);
    rbError error = {0};
    rbPathDef path = rbDefaultPathDef();
    path.type = RB_PATH_LINE;
    path.speed = 2.0;
    path.direction = axisX;
    rbBodyDef cartDef = rbDefaultBodyDef();
    cartDef.type = RB_BODY_KINEMATIC;
    cartDef.path = &path;
    cartDef.name = "cart";
    rbJointDef def = rbDefaultJointDef();
    def.bodyA = rbCreateBody(world, &cartDef, &error);
    def.bodyB = addBody(world, "bob", 1.0, rbMakeVec3(0.0, 0.0, -1.0));
    rbTransform pose = {rbMakeVec3(0.0, 0.0, -1.0), {1.0, 0.0, 0.0, 0.0}};
    (void)rbBody_SetState(world, def.bodyB, pose, rbMakeVec3(2.0, 0.0, 0.0), RB_VEC3_ZERO, &error);
    rbJointId hook = join(world, &def, RB_VEC3_ZERO, axisX);
    (void)rbWorld_AdvanceTo(world, 1.0);
    checkNear(rbDistance(rbBody_GetState(world, def.bodyB).center, rbMakeVec3(2.0, 0.0, -1.0)), 0.0,
              1e-6);
    checkNear(rbBody_GetState(world, def.bodyA).transform.p.x, 2.0, 1e-14);
    checkNear(rbJoint_GetState(world, hook).force.z, -9.81, 1e-6);
    rbDestroyWorld(world);
}

// Too few iterations for the tolerance: the run continues, and all interfaces report it.
// B-40
static void missedTolerancesAreReported(void** state)
{
    (void)state;
    rbWorldDef worldDef = rbDefaultWorldDef();
    rbError error = {0};
    worldDef.engine = RB_ENGINE_STEP;
    worldDef.step.step = 0.05;
    worldDef.step.iterationsMax = 1;
    worldDef.step.halvingsMax = 0;
    rbWorld* world = rbCreateWorld(&worldDef, &error);
    rbJointDef def = rbDefaultJointDef();
    for (int i = 0; i < 5; ++i) {
        static const char* const names[5] = {"a", "b", "c", "d", "e"};
        def.bodyB = addBody(world, names[i], 1.0, rbMakeVec3(0.5 + i, 0.0, 0.0));
        def.name = names[i];
        (void)join(world, &def, rbMakeVec3(i, 0.0, 0.0), axisX);
        def.bodyA = def.bodyB;
    }
    rbStepReport report = rbWorld_AdvanceTo(world, 1.0);
    assert_int_equal(report.status, RB_STATUS_NUMERICAL);
    checkNear(report.time, 1.0, 0.0);
    assert_true(rbBody_IsValid(world, report.failedBody));
    rbStepStatistics statistics = rbWorld_GetStepStatistics(world);
    assert_true(statistics.unmetSteps > 0);
    assert_true(statistics.positionErrorMax > 1e-6);
    assert_true(rbJoint_IsValid(world, statistics.worstJoint));
    rbError said = rbWorld_GetError(world);
    assert_int_equal(said.status, RB_STATUS_NUMERICAL);
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    assert_int_equal(count, 1);
    assert_int_equal(events[0].kind, RB_EVENT_TOLERANCE);
    // The time of the first step that missed, not of the call.
    assert_true(statistics.unmetTime > 0.0 && statistics.unmetTime < 1.0);
    checkNear(events[0].time, statistics.unmetTime, 0.0);
    checkRelative(statistics.stepSmallest, 0.05, 1e-12); // no step was halved
    rbDestroyWorld(world);
}

// A velocity-only joint brings the bodies to its speed with no more than its force, independent of
// their positions.
// B-29
static void velocityJointHoldsASpeedOnly(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(2, RB_VEC3_ZERO);
    rbError error = {0};
    rbJointDef def = rbDefaultJointDef();
    def.bodyA = addBody(world, "barge", 3.0, RB_VEC3_ZERO);
    def.bodyB = addBody(world, "tug", 1.0, rbMakeVec3(0.0, 2.0, 0.0));
    def.isVelocityOnly = true;
    def.linearVelocity = rbMakeVec3(0.0, 0.8, 0.0);
    def.forceMax = 3.0;
    def.name = "rope";
    rbJointId rope = rbCreateJoint(world, &def, &error); // at the centers, 2 m apart
    assert_false(RB_IS_NULL(rope));
    checkNear(rbJoint_GetState(world, rope).positionError, 0.0, 0.0);
    // 3 N on 1 kg and 3 kg: 4 m/s^2 between them, so that 0.8 m/s are reached after 0.2 s.
    (void)rbWorld_AdvanceTo(world, 0.1);
    checkNear(rbBody_GetState(world, def.bodyB).linearVelocity.y, 0.3, 1e-9);
    checkNear(rbBody_GetState(world, def.bodyA).linearVelocity.y, -0.1, 1e-9);
    checkNear(rbLength(rbJoint_GetState(world, rope).force), 3.0, 1e-9);
    (void)rbWorld_AdvanceTo(world, 1.0);
    rbBodyState a = rbBody_GetState(world, def.bodyA);
    rbBodyState b = rbBody_GetState(world, def.bodyB);
    checkNear(b.linearVelocity.y - a.linearVelocity.y, 0.8, 1e-9);
    checkNear(rbLength(rbWorld_GetLedger(world).momentum), 0.0, 1e-13);
    // 2 m, 4/2 0.2^2 m during acceleration, 0.8 m/s for 0.8 s; a tolerance of 1e-6 m in each step.
    checkNear(b.center.y - a.center.y, 2.0 + 0.08 + 0.64, 1e-4);
    rbLedger ledger = rbWorld_GetLedger(world);
    checkNear(ledger.motorWork, ledger.energy, 1e-6);
    assert_int_equal(rbJoint_SetVelocity(world, rope, RB_VEC3_ZERO, RB_VEC3_ZERO, &error),
                     RB_STATUS_OK);
    (void)rbWorld_AdvanceTo(world, 2.0);
    checkNear(rbWorld_GetLedger(world).energy, 0.0, 1e-9);
    checkNear(rbWorld_GetLedger(world).energyDrift, 0.0, 1e-6);
    rbDestroyWorld(world);
}

#define LINK 0.5 // m

// Links of 5 kg from a hook at the origin along an axis.
static rbWorld* makeChain(const rbWorldDef* def, int count, rbVec3 along)
{
    rbError error = {0};
    rbWorld* world = rbCreateWorld(def, &error);
    assert_non_null(world);
    rbJointDef joint = rbDefaultJointDef();
    joint.type = RB_JOINT_BALL;
    for (int i = 0; i < count; ++i) {
        char name[16];
        (void)snprintf(name, sizeof name, "link%d", i);
        joint.bodyB = addBody(world, name, 5.0, rbScale((i + 0.5) * LINK, along));
        joint.name = name;
        (void)join(world, &joint, rbScale(i * LINK, along), along);
        joint.bodyA = joint.bodyB;
    }
    return world;
}

// A hanging chain stays still and carries its weight at every tolerance, and a looser one takes
// neither more parts of steps nor more iterations.
static void looserTolerancesCostNoMore(void** state)
{
    (void)state;
    rbStepStatistics tight = {0};
    for (int i = 8; i >= 1; --i) {
        rbWorldDef def = rbDefaultWorldDef();
        def.engine = RB_ENGINE_STEP;
        def.gravity = rbMakeVec3(0.0, 0.0, -9.81);
        def.step.step = 1.0 / 60.0;
        def.step.tolerance = pow(10.0, -i);
        rbWorld* world = makeChain(&def, 60, rbMakeVec3(0.0, 0.0, -1.0));
        assert_int_equal(rbWorld_AdvanceTo(world, 2.0).status, RB_STATUS_OK);
        rbStepStatistics s = rbWorld_GetStepStatistics(world);
        tight = i == 8 ? s : tight;
        print_message("tolerance %g: %d parts, %d iterations\n", def.step.tolerance,
                      (int)s.substeps, (int)s.positionIterations);
        assert_true(s.substeps <= tight.substeps);
        assert_true(s.positionIterations <= tight.positionIterations);
        checkBelow(s.positionErrorMax, 1e-9);
        checkBelow(rbWorld_GetLedger(world).kineticLinear, 1e-12);
        rbDestroyWorld(world);
    }
}

// A released chain whips. Sweeps that do not converge leave joints open and say so; they neither
// throw links away nor give energy.
static void fewSweepsLeaveGapsButDoNotExplode(void** state)
{
    (void)state;
    static const int sweeps[] = {1, 10, 20};
    for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; ++i) {
        rbWorldDef def = rbDefaultWorldDef();
        def.engine = RB_ENGINE_STEP;
        def.gravity = rbMakeVec3(0.0, 0.0, -9.81);
        def.step.step = 1.0 / 240.0;
        def.step.solver = RB_SOLVER_ITERATIVE;
        def.step.iterationsMax = sweeps[i];
        rbWorld* world = makeChain(&def, 60, rbMakeVec3(1.0, 0.0, 0.0));
        double start = rbWorld_GetLedger(world).energy;
        double most = start;
        for (int k = 1; k <= 100; ++k) {
            assert_int_equal(rbWorld_AdvanceTo(world, 0.1 * k).status, RB_STATUS_NUMERICAL);
            most = fmax(most, rbWorld_GetLedger(world).energy);
        }
        rbStepStatistics s = rbWorld_GetStepStatistics(world);
        print_message("%d sweeps: joints open by %.3g m, energy at most %.3g J above the start\n",
                      sweeps[i], s.positionErrorMax, most - start);
        checkBelow(s.positionErrorMax, 4.0 * LINK);
        checkBelow(most - start, 1e-6);
        assert_true(s.unmetSteps > 0);
        rbDestroyWorld(world);
    }
}

// Each type holds the velocities of the freedoms that it removes, and leaves the others alone.
// B-29
static void velocityJointsHoldWhatTheirTypesRemove(void** state)
{
    (void)state;
    static const struct {
        rbJointType type;
        rbVec3 linear; // 1: held
        rbVec3 angular;
    } cases[] = {
        {RB_JOINT_BALL, {1, 1, 1}, {0, 0, 0}},      {RB_JOINT_LINE, {1, 1, 0}, {0, 0, 0}},
        {RB_JOINT_PLANE, {0, 0, 1}, {0, 0, 0}},     {RB_JOINT_TRANSLATION, {0, 0, 0}, {1, 1, 1}},
        {RB_JOINT_DIRECTION, {0, 0, 0}, {1, 1, 0}}, {RB_JOINT_HINGE, {1, 1, 1}, {1, 1, 0}},
        {RB_JOINT_PRISMATIC, {1, 1, 0}, {1, 1, 1}}, {RB_JOINT_FIXED, {1, 1, 1}, {1, 1, 1}},
    };
    const rbVec3 velocity = {1.0, -2.0, 3.0}, spin = {-3.0, 2.0, 1.0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbWorld* world = makeWorld(2, RB_VEC3_ZERO);
        rbMassProperties mass = {
            .volume = 1.0, .mass = 2.0, .inertia = {0.2, 0.2, 0.2, 0.0, 0.0, 0.0}};
        rbBodyDef ball = rbDefaultBodyDef();
        ball.mass = &mass;
        ball.linearVelocity = velocity;
        ball.angularVelocity = spin;
        rbError error = {0};
        rbJointDef def = rbDefaultJointDef();
        def.type = cases[i].type;
        def.bodyB = rbCreateBody(world, &ball, &error);
        def.axisA = rbMakeVec3(0.0, 0.0, 1.0);
        def.axisB = rbMakeVec3(0.0, 0.0, 1.0);
        def.isVelocityOnly = true;
        def.linearVelocity = rbMakeVec3(0.1, 0.2, 0.3);
        def.angularVelocity = rbMakeVec3(0.4, 0.5, 0.6);
        assert_false(RB_IS_NULL(rbCreateJoint(world, &def, &error)));
        assert_int_equal(rbWorld_AdvanceTo(world, 0.01).status, RB_STATUS_OK);
        rbBodyState body = rbBody_GetState(world, def.bodyB);
        rbVec3 heldV = rbMulEach(cases[i].linear, rbSub(def.linearVelocity, velocity));
        rbVec3 heldW = rbMulEach(cases[i].angular, rbSub(def.angularVelocity, spin));
        checkBelow(rbDistance(body.linearVelocity, rbAdd(velocity, heldV)), 1e-9);
        checkBelow(rbDistance(body.angularVelocity, rbAdd(spin, heldW)), 1e-9);
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(phys_world_joints, cmocka_unit_test(velocityJointHoldsASpeedOnly),
              cmocka_unit_test(looserTolerancesCostNoMore),
              cmocka_unit_test(fewSweepsLeaveGapsButDoNotExplode),
              cmocka_unit_test(velocityJointsHoldWhatTheirTypesRemove),
              cmocka_unit_test(contradictingJointsAreNamed),
              cmocka_unit_test(openJointsAreAssembledWhenAllowed),
              cmocka_unit_test(snapshotsHoldAfterAssembly), cmocka_unit_test(mixedLedgerCloses),
              cmocka_unit_test(impulsesFromOutsideMeetTheJoints),
              cmocka_unit_test(aNewJointForgetsTheOldOnesTurns),
              cmocka_unit_test(workUpToAChangeIsThatOfWhatActed),
              cmocka_unit_test(pathsCarryTheirJoints),
              cmocka_unit_test(missedTolerancesAreReported),
              cmocka_unit_test(outputStepsDoNotChangeJointedBits),
              cmocka_unit_test(jointedSnapshotGoesOnWithTheSameBits),
              cmocka_unit_test(springMassSwingsByItsFormula),
              cmocka_unit_test(dampedSpringAccountsForWhatItTakes),
              cmocka_unit_test(motorWorkIsTheEnergyItGave),
              cmocka_unit_test(turnsAreCountedOverRestarts),
              cmocka_unit_test(jointCarriesTheWeight), cmocka_unit_test(cutLooseABodyFlies),
              cmocka_unit_test(dragFollowsItsPointer),
              cmocka_unit_test(openJointsAreRefusedWithTheirGap),
              cmocka_unit_test(advancingJointsAllocatesNothing));
