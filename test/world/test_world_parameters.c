// Parameters changed while a world runs.
#include "contact_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALF 0.5

static rbBodyId addBall(rbWorld* world, const char* name, rbVec3 position, double radius)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.name = name;
    def.position = position;
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateSphere(radius, &error));
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    return id;
}

static void checkClosed(const rbWorld* world, double part)
{
    rbLedger ledger = rbWorld_GetLedger(world);
    double scale = fabs(ledger.kineticLinear) + fabs(ledger.potential) + 1.0;
    if (!(fabs(ledger.energyDrift) <= part * scale)) {
        fail_msg("the ledger is off by %g J of %g J", ledger.energyDrift, scale);
    }
}

// B-91
static void ballsFallAsTheNewGravitySays(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        rbWorldDef def = defineWorld();
        def.engine = (rbEngineType)engine;
        rbWorld* world = makeWorld(&def);
        rbBodyId ball = addBall(world, "ball", rbMakeVec3(0.0, 0.0, 10.0), 0.1);
        rbVec3 other = {1.0, 0.0, -1.6};
        advance(world, HALF);
        assert_int_equal(rbWorld_SetGravity(world, other, NULL), RB_STATUS_OK);
        advance(world, 2.0 * HALF);
        rbBodyState now = rbBody_GetState(world, ball);
        double z = 10.0 - 0.5 * 9.81 * HALF * HALF - 9.81 * HALF * HALF - 0.5 * 1.6 * HALF * HALF;
        checkNear(now.center.z, z, 1e-12);
        checkNear(now.center.x, 0.5 * HALF * HALF, 1e-12);
        checkNear(now.linearVelocity.z, -(9.81 + 1.6) * HALF, 1e-12);
        checkClosed(world, 1e-12);
        rbDestroyWorld(world);
    }
}

// B-91
static void blocksSlideWhenFrictionGoes(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    def.gravity.x = 3.0;
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId block = addCube(world, "block", rbMakeVec3(0.0, 0.0, 0.0));
    advance(world, HALF);
    assert_true(fabs(rbBody_GetState(world, block).linearVelocity.x) < 1e-6);
    rbMaterial material = rbBody_GetShape(world, block, 0).material;
    material.friction = 0.0;
    assert_int_equal(rbBody_SetMaterial(world, block, 0, &material, NULL), RB_STATUS_OK);
    advance(world, 2.0 * HALF);
    checkNear(rbBody_GetState(world, block).linearVelocity.x, 3.0 * HALF, 1e-6);
    material.friction = 0.64; // and it stops: 0.8 g - 3 m/s^2 take 1.5 m/s in 0.31 s
    material.density *= 2.0;
    assert_int_equal(rbBody_SetMaterial(world, block, -1, &material, NULL), RB_STATUS_OK);
    checkNear(rbBody_GetMass(world, block).mass, 2.0 * CUBE_MASS, 1e-12);
    advance(world, 3.0 * HALF);
    assert_true(fabs(rbBody_GetState(world, block).linearVelocity.x) < 1e-6);
    checkClosed(world, 1e-6);
    rbDestroyWorld(world);
}

static void bouncesFollowTheNewMaterial(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_EVENT;
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world); // restitution 1
    rbBodyId ball = addBall(world, "ball", rbMakeVec3(0.0, 0.0, 1.1), 0.1);
    advance(world, 0.1);
    rbMaterial material = rbBody_GetShape(world, ball, 0).material;
    material.restitution = 1.0;
    assert_int_equal(rbBody_SetMaterial(world, ball, -1, &material, NULL), RB_STATUS_OK);
    double fall = sqrt(2.0 / 9.81);
    advance(world, 2.0 * fall); // at the top again
    checkNear(rbBody_GetState(world, ball).center.z, 1.1, 1e-4);
    checkClosed(world, 1e-12);
    rbDestroyWorld(world);
}

static void massesAreScaled(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbBodyId ball = addBall(world, "ball", rbMakeVec3(0.0, 0.0, 10.0), 0.1);
    advance(world, 0.1);
    rbMassProperties before = rbBody_GetMass(world, ball);
    rbVec3 speed = rbBody_GetState(world, ball).linearVelocity;
    assert_int_equal(rbBody_SetMass(world, ball, 7.0, NULL), RB_STATUS_OK);
    rbMassProperties after = rbBody_GetMass(world, ball);
    checkNear(after.inertia.xx / before.inertia.xx, 7.0 / before.mass, 1e-14);
    checkNear(rbBody_GetState(world, ball).linearVelocity.z, speed.z, 0.0);
    rbBody_ApplyImpulse(world, ball, rbMakeVec3(14.0, 0.0, 0.0),
                        rbBody_GetState(world, ball).center);
    checkNear(rbBody_GetState(world, ball).linearVelocity.x, 2.0, 1e-14);
    advance(world, 0.2);
    checkClosed(world, 1e-12);
    // A heavier material does not affect an explicitly given mass.
    rbMaterial material = rbBody_GetShape(world, ball, 0).material;
    material.density = 1.0;
    assert_int_equal(rbBody_SetMaterial(world, ball, 0, &material, NULL), RB_STATUS_OK);
    checkNear(rbBody_GetMass(world, ball).mass, 7.0, 0.0);
    rbDestroyWorld(world);
}

// A rod on a hinge at the origin, its center 0.5 m along x, with a weak servo.
static rbWorld* makeArm(rbJointId* hinge)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    rbWorld* world = makeWorld(&def);
    rbBodyId rod = addBody(world, "rod", 1.0, rbMakeVec3(0.5, 0.0, 0.0));
    rbJointDef joint = rbDefaultJointDef();
    joint.type = RB_JOINT_HINGE;
    joint.name = "hinge";
    joint.bodyB = rod;
    joint.freedoms[0].damping = 2.0;
    joint.freedoms[0].motor.type = RB_MOTOR_POSITION;
    joint.freedoms[0].motor.gain = 10.0;
    joint.freedoms[0].motor.derivativeTime = 0.1;
    *hinge = join(world, &joint, rbMakeVec3(0.0, 0.0, 0.0), rbMakeVec3(0.0, -1.0, 0.0));
    return world;
}

// B-91
static void motorsHoldWithTheirNewGains(void** state)
{
    (void)state;
    rbJointId hinge;
    rbWorld* world = makeArm(&hinge);
    advance(world, 4.0);
    double sag = rbJoint_GetState(world, hinge).freedomPositions[0];
    checkNear(10.0 * sag, -0.5 * 9.81 * cos(sag), 1e-4); // torque of the servo holds the weight
    rbFreedomDef freedom = rbJoint_GetFreedom(world, hinge, 0);
    assert_true(rbJoint_IsFreedomAngle(world, hinge, 0));
    checkNear(freedom.motor.gain, 10.0, 0.0);
    freedom.motor.integralTime = 0.5;
    freedom.motor.gain = 50.0;
    freedom.motor.target = 0.3;
    assert_int_equal(rbJoint_SetFreedom(world, hinge, 0, &freedom, NULL), RB_STATUS_OK);
    advance(world, 12.0);
    checkNear(rbJoint_GetState(world, hinge).freedomPositions[0], 0.3, 1e-5);
    checkClosed(world, 1e-3);
    // A spring instead of the motor: it rests where torques balance.
    freedom = (rbFreedomDef){.stiffness = 100.0, .rest = 0.3, .damping = 10.0};
    freedom.motor.forceMax = INFINITY;
    double drift = rbWorld_GetLedger(world).energyDrift;
    assert_int_equal(rbJoint_SetFreedom(world, hinge, 0, &freedom, NULL), RB_STATUS_OK);
    checkNear(rbWorld_GetLedger(world).energyDrift, drift, 1e-9);
    advance(world, 20.0);
    double angle = rbJoint_GetState(world, hinge).freedomPositions[0];
    checkNear(100.0 * (angle - 0.3), -0.5 * 9.81 * cos(angle), 1e-4);
    rbDestroyWorld(world);
}

static void springsSwingWithTheirNewStiffness(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.gravity = RB_VEC3_ZERO;
    def.step.order = 4;
    rbWorld* world = makeWorld(&def);
    rbBodyId mass = addBody(world, "mass", 1.0, rbMakeVec3(1.5, 0.0, 0.0));
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyB = mass;
    spring.restLength = 1.0;
    spring.stiffness = 1.0;
    rbSpringId id = rbCreateSpring(world, &spring, NULL);
    assert_false(RB_IS_NULL(id));
    advance(world, 1.0);
    double x = 0.5 * cos(1.0);
    double v = -0.5 * sin(1.0);
    checkNear(rbBody_GetState(world, mass).center.x, 1.0 + x, 1e-9);
    assert_int_equal(rbSpring_SetLaw(world, id, 9.0, 0.0, 1.2, NULL), RB_STATUS_OK);
    checkNear(rbSpring_GetDef(world, id).restLength, 1.2, 0.0);
    advance(world, 2.0);
    double expected = 1.2 + (x - 0.2) * cos(3.0) + v / 3.0 * sin(3.0);
    checkNear(rbBody_GetState(world, mass).center.x, expected, 1e-9);
    checkClosed(world, 1e-9);
    rbDestroyWorld(world);
}

// A chain of two rods above a floor with a ball on it; every object that has parameters.
static rbWorld* makeMixed(const rbWorldDef* asked)
{
    rbWorldDef def = asked != NULL ? *asked : defineWorld();
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    (void)addCube(world, "cube", rbMakeVec3(1.0, 0.0, 0.3));
    (void)addBall(world, "ball", rbMakeVec3(1.01, 0.0, 0.6), 0.1);
    if (def.engine == RB_ENGINE_STEP) {
        rbBodyId rod = addBody(world, "rod", 1.0, rbMakeVec3(0.5, 0.0, 2.0));
        rbBodyId end = addBody(world, "end", 1.0, rbMakeVec3(1.5, 0.0, 2.0));
        rbJointDef joint = rbDefaultJointDef();
        joint.type = RB_JOINT_HINGE;
        joint.bodyB = rod;
        joint.freedoms[0].motor.type = RB_MOTOR_SPEED;
        joint.freedoms[0].motor.gain = 3.0;
        joint.freedoms[0].motor.integralTime = 0.5;
        joint.freedoms[0].motor.target = 1.0;
        (void)join(world, &joint, rbMakeVec3(0.0, 0.0, 2.0), rbMakeVec3(0.0, 1.0, 0.0));
        rbJointDef ball = rbDefaultJointDef();
        ball.bodyA = rod;
        ball.bodyB = end;
        (void)join(world, &ball, rbMakeVec3(1.0, 0.0, 2.0), rbMakeVec3(0.0, 1.0, 0.0));
        rbSpringDef spring = rbDefaultSpringDef();
        spring.bodyB = end;
        spring.anchorA = rbMakeVec3(1.5, 0.0, 3.0);
        spring.stiffness = 5.0;
        assert_false(RB_IS_NULL(rbCreateSpring(world, &spring, NULL)));
    }
    return world;
}

// Every setter once.
static void changeEverything(rbWorld* world)
{
    rbBodyId ids[8];
    int count = rbWorld_GetBodyIds(world, ids, 8);
    assert_int_equal(rbWorld_SetGravity(world, rbMakeVec3(0.0, 1.0, -5.0), NULL), RB_STATUS_OK);
    for (int i = 0; i < count; ++i) {
        rbMaterial material = {
            .density = 500.0, .restitution = 0.9, .friction = 0.1, .stiction = -1.0};
        if (rbBody_GetShapeCount(world, ids[i]) > 0) {
            assert_int_equal(rbBody_SetMaterial(world, ids[i], 0, &material, NULL), RB_STATUS_OK);
        }
    }
    assert_int_equal(rbBody_SetMass(world, ids[1], 2.5, NULL), RB_STATUS_OK);
    if (rbWorld_GetEngineType(world) != RB_ENGINE_STEP) {
        return;
    }
    rbJointId hinge;
    rbSpringId spring;
    assert_int_equal(rbWorld_GetJointIds(world, &hinge, 1), 1);
    assert_int_equal(rbWorld_GetSpringIds(world, &spring, 1), 1);
    rbFreedomDef freedom = rbJoint_GetFreedom(world, hinge, 0);
    freedom.stiffness = 2.0;
    freedom.motor.type = RB_MOTOR_POSITION;
    assert_int_equal(rbJoint_SetFreedom(world, hinge, 0, &freedom, NULL), RB_STATUS_OK);
    rbLimitDef limit = {-9.0, 9.0, 0.5};
    assert_int_equal(rbJoint_SetLimit(world, hinge, 0, &limit, NULL), RB_STATUS_OK);
    assert_int_equal(rbSpring_SetLaw(world, spring, 50.0, 1.0, 0.5, NULL), RB_STATUS_OK);
    rbStepSettings step = rbWorld_GetStepSettings(world);
    step.step = 2e-3;
    step.solver = RB_SOLVER_ITERATIVE;
    assert_int_equal(rbWorld_SetStepSettings(world, &step, NULL), RB_STATUS_OK);
    rbContactSettings contact = rbWorld_GetContactSettings(world);
    contact.restSpeed = 0.1;
    contact.freezeSpeed = 0.01;
    assert_int_equal(rbWorld_SetContactSettings(world, &contact, NULL), RB_STATUS_OK);
}

static rbWorldDef defineEngine(rbEngineType engine)
{
    rbWorldDef def = defineWorld();
    def.engine = engine;
    return def;
}

// B-91
static void snapshotsTakeParametersBack(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        rbWorldDef def = defineEngine((rbEngineType)engine);
        rbWorld* world = makeMixed(&def);
        advance(world, 0.3125);
        size_t size = rbWorld_GetSnapshotSize(world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        advance(world, 0.6);
        uint64_t hash = rbWorld_GetHash(world);
        rbLedger ledger = rbWorld_GetLedger(world);
        changeEverything(world);
        advance(world, 0.9);
        assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        checkNear(rbWorld_GetGravity(world).z, -GRAVITY, 0.0);
        rbStepReport report = rbWorld_AdvanceTo(world, 0.6);
        assert_int_equal(report.status, RB_STATUS_OK);
        assert_true(rbWorld_GetHash(world) == hash);
        checkNear(rbWorld_GetLedger(world).energyDrift, ledger.energyDrift, 0.0);
        // The same in another world of the same structure.
        rbWorld* fresh = makeMixed(&def);
        assert_int_equal(rbWorld_SetGravity(fresh, RB_VEC3_ZERO, NULL), RB_STATUS_OK);
        assert_int_equal(rbWorld_RestoreSnapshot(fresh, bytes, size, NULL), RB_STATUS_OK);
        advance(fresh, 0.6);
        assert_true(rbWorld_GetHash(fresh) == hash);
        rbDestroyWorld(fresh);
        free(bytes);
        rbDestroyWorld(world);
    }
}

// Set before anything moved, or created that way: the same bits.
static void parametersOfTheStartAreTheSameBits(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        rbWorldDef def = defineEngine((rbEngineType)engine);
        rbWorld* set = makeMixed(&def);
        assert_int_equal(rbWorld_Prepare(set, NULL), RB_STATUS_OK);
        def.gravity = rbMakeVec3(0.5, 0.0, -4.0);
        def.step.step = 2e-3;
        def.contact.restSpeed = 0.05;
        assert_int_equal(rbWorld_SetGravity(set, def.gravity, NULL), RB_STATUS_OK);
        assert_int_equal(rbWorld_SetStepSettings(set, &def.step, NULL), RB_STATUS_OK);
        assert_int_equal(rbWorld_SetContactSettings(set, &def.contact, NULL), RB_STATUS_OK);
        rbWorld* made = makeMixed(&def);
        for (int k = 1; k <= 10; ++k) {
            advance(set, rbGetStepTime(k, 0.06));
            advance(made, rbGetStepTime(k, 0.06));
            assert_true(rbWorld_GetHash(set) == rbWorld_GetHash(made));
        }
        rbDestroyWorld(set);
        rbDestroyWorld(made);
    }
}

static void checkRefused(rbStatus status, rbStatus expected, const rbError* error,
                         const char* words)
{
    assert_int_equal(status, expected);
    if (strstr(error->message, words) == NULL) {
        fail_msg("'%s' does not say '%s'", error->message, words);
    }
}

// Refused changes, some of them only by the engine when it restarts.
static void tryInVain(rbWorld* world)
{
    rbError error = {0};
    rbBodyId cube = rbWorld_FindBody(world, "cube");
    rbBodyId floor = rbWorld_FindBody(world, "floor");
    rbJointId hinge;
    rbSpringId spring;
    (void)rbWorld_GetJointIds(world, &hinge, 1);
    (void)rbWorld_GetSpringIds(world, &spring, 1);
    rbMaterial material = rbBody_GetShape(world, cube, 0).material;
    rbFreedomDef freedom = rbJoint_GetFreedom(world, hinge, 0);
    rbStepSettings step = rbWorld_GetStepSettings(world);
    rbContactSettings contact = rbWorld_GetContactSettings(world);
    checkRefused(rbWorld_SetGravity(world, rbMakeVec3(NAN, 0.0, 0.0), &error), RB_STATUS_INVALID,
                 &error, "world.gravity is nan m/s^2; expected a number");
    checkRefused(rbBody_SetMaterial(world, cube, 1, &material, &error), RB_STATUS_INVALID, &error,
                 "there is no shape number 1");
    material.restitution = 1.5;
    checkRefused(rbBody_SetMaterial(world, cube, 0, &material, &error), RB_STATUS_INVALID, &error,
                 "material.restitution is 1.5; expected a number >= 0 and <= 1");
    material.restitution = 0.5;
    material.density = 1e308;
    material.friction = 0.25;
    checkRefused(rbBody_SetMaterial(world, cube, 0, &material, &error), RB_STATUS_INVALID, &error,
                 "cube");
    checkRefused(rbBody_SetMass(world, floor, 1.0, &error), RB_STATUS_INVALID, &error,
                 "only dynamic bodies");
    checkRefused(rbBody_SetMass(world, cube, 0.0, &error), RB_STATUS_INVALID, &error, "positive");
    freedom.damping = -1.0;
    checkRefused(rbJoint_SetFreedom(world, hinge, 0, &freedom, &error), RB_STATUS_INVALID, &error,
                 "damping");
    freedom.damping = 0.0;
    checkRefused(rbJoint_SetFreedom(world, hinge, 1, &freedom, &error), RB_STATUS_INVALID, &error,
                 "there is no number 1");
    rbSetPoint point = {0.0, 1.0};
    freedom.motor.schedule = &point;
    freedom.motor.scheduleCount = 1;
    checkRefused(rbJoint_SetFreedom(world, hinge, 0, &freedom, &error), RB_STATUS_UNSUPPORTED,
                 &error, "move the target");
    rbLimitDef limit = {100.0, 101.0, 0.0};
    checkRefused(rbJoint_SetLimit(world, hinge, 0, &limit, &error), RB_STATUS_INVALID, &error,
                 "outside of limits");
    checkRefused(rbSpring_SetLaw(world, spring, 0.0, 0.0, 1.0, &error), RB_STATUS_INVALID, &error,
                 "neither stiffness nor damping");
    step.method = rbStepMethod_Find("multipliers");
    checkRefused(rbWorld_SetStepSettings(world, &step, &error), RB_STATUS_UNSUPPORTED, &error,
                 "with contacts it must be \"impulses\"");
    step.method = RB_METHOD_IMPULSES;
    step.step = 0.0;
    checkRefused(rbWorld_SetStepSettings(world, &step, &error), RB_STATUS_INVALID, &error,
                 "step.step");
    contact.shell = -1.0;
    checkRefused(rbWorld_SetContactSettings(world, &contact, &error), RB_STATUS_INVALID, &error,
                 "contact.shell");
    contact = rbWorld_GetContactSettings(world);
    contact.method =
        rbContactMethod_Find("penalty"); // which the engine detects when it checks the joints
    checkRefused(rbWorld_SetContactSettings(world, &contact, &error), RB_STATUS_UNSUPPORTED, &error,
                 "moves single bodies only");
}

// A refused change leaves no trace, not even in the last bit.
static void refusedChangesLeaveNoTrace(void** state)
{
    (void)state;
    rbWorld* tried = makeMixed(NULL);
    rbWorld* left = makeMixed(NULL);
    for (int k = 1; k <= 8; ++k) {
        double time = rbGetStepTime(k, 0.0625) + 1e-4; // between steps
        advance(tried, time);
        advance(left, time);
        if (k == 5) {
            tryInVain(tried);
        }
        assert_true(rbWorld_GetHash(tried) == rbWorld_GetHash(left));
        rbLedger a = rbWorld_GetLedger(tried);
        rbLedger b = rbWorld_GetLedger(left);
        assert_memory_equal(&a, &b, sizeof a);
    }
    rbDestroyWorld(tried);
    rbDestroyWorld(left);
}

// Contacts enabled and disabled: the ball falls through the floor, and does not.
static void contactsAreTurnedOnAndOff(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbError error = {0};
    (void)addFloor(world);
    rbBodyId ball = addBall(world, "ball", rbMakeVec3(0.0, 0.0, 0.2), 0.1);
    advance(world, 1.0);
    assert_true(rbBody_GetState(world, ball).center.z > 0.09);
    double impactWork = rbWorld_GetLedger(world).impactWork;
    assert_true(impactWork < 0.0);
    rbContactSettings contact = rbWorld_GetContactSettings(world);
    contact.isEnabled = false;
    assert_int_equal(rbWorld_SetContactSettings(world, &contact, NULL), RB_STATUS_OK);
    checkNear(rbWorld_GetLedger(world).impactWork, impactWork, 1e-15);
    advance(world, 1.1);
    assert_true(rbBody_GetState(world, ball).center.z < 0.09);
    contact.isEnabled = true;
    checkRefused(rbWorld_SetContactSettings(world, &contact, &error), RB_STATUS_INVALID, &error,
                 "overlap");
    assert_false(rbWorld_GetContactSettings(world).isEnabled);
    checkClosed(world, 1e-6);
    contact.isOverlapAllowed = true;
    assert_int_equal(rbWorld_SetContactSettings(world, &contact, NULL), RB_STATUS_OK);
    advance(world, 2.0);
    assert_true(rbBody_GetState(world, ball).center.z > 0.09);
    rbDestroyWorld(world);
}

// A force that is held moves a body as a constant one does, until it is written again; its work is
// external, and a snapshot contains it. Displacement after two seconds of 3 m/s^2 along x and two
// of 1 m/s^2 against y: 6 + 12 and -2 m.
static void heldLoadsActUntilTheyAreWrittenAgain(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        rbWorldDef def = defineWorld();
        def.engine = (rbEngineType)engine;
        def.gravity = RB_VEC3_ZERO;
        rbWorld* world = makeWorld(&def);
        rbBodyId ball = addBall(world, "ball", RB_VEC3_ZERO, 0.1);
        (void)addBall(world, "other", rbMakeVec3(0.0, 0.0, 5.0), 0.1);
        double mass = rbBody_GetMass(world, ball).mass;
        double moment = rbBody_GetPrincipalMoments(world, ball, NULL).z;
        double forces[2][3] = {{3.0 * mass, 0.0, 0.0}, {0.0}};
        double torques[2][3] = {{0.0, 0.0, 0.5 * moment}, {0.0}};
        assert_int_equal(rbWorld_WriteField(world, RB_FIELD_FORCE, forces[0], 0, NULL),
                         RB_STATUS_OK);
        assert_int_equal(rbWorld_WriteField(world, RB_FIELD_TORQUE, torques[0], 0, NULL),
                         RB_STATUS_OK);
        double back[2][3];
        rbWorld_ReadField(world, RB_FIELD_TORQUE, back[0], 0);
        assert_memory_equal(back, torques, sizeof back);
        advance(world, 2.0);
        size_t size = rbWorld_GetSnapshotSize(world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        advance(world, 3.0);
        uint64_t hash = rbWorld_GetHash(world);
        forces[0][0] = 0.0;
        forces[0][1] = -mass;
        assert_int_equal(rbWorld_WriteField(world, RB_FIELD_FORCE, forces[0], 0, NULL),
                         RB_STATUS_OK);
        advance(world, 4.0);
        assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        advance(world, 3.0);
        assert_true(rbWorld_GetHash(world) == hash);
        assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        free(bytes);
        assert_int_equal(rbWorld_WriteField(world, RB_FIELD_FORCE, forces[0], 0, NULL),
                         RB_STATUS_OK);
        advance(world, 4.0);
        rbBodyState moved = rbBody_GetState(world, ball);
        checkNear(moved.center.x, 18.0, 1e-9);
        checkNear(moved.center.y, -2.0, 1e-9);
        checkNear(moved.angularVelocity.z, 2.0, 1e-9);
        rbLedger ledger = rbWorld_GetLedger(world);
        checkNear(ledger.work, 0.5 * mass * (36.0 + 4.0) + 0.5 * moment * 4.0, 1e-7 * mass);
        checkClosed(world, 1e-9);
        forces[1][2] = NAN;
        assert_int_equal(rbWorld_WriteField(world, RB_FIELD_FORCE, forces[0], 0, NULL),
                         RB_STATUS_INVALID);
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(test_world_parameters, cmocka_unit_test(ballsFallAsTheNewGravitySays),
              cmocka_unit_test(blocksSlideWhenFrictionGoes),
              cmocka_unit_test(bouncesFollowTheNewMaterial), cmocka_unit_test(massesAreScaled),
              cmocka_unit_test(motorsHoldWithTheirNewGains),
              cmocka_unit_test(springsSwingWithTheirNewStiffness),
              cmocka_unit_test(snapshotsTakeParametersBack),
              cmocka_unit_test(parametersOfTheStartAreTheSameBits),
              cmocka_unit_test(refusedChangesLeaveNoTrace),
              cmocka_unit_test(contactsAreTurnedOnAndOff),
              cmocka_unit_test(heldLoadsActUntilTheyAreWrittenAgain));
