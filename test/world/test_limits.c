// Joint limits: refusals and their messages, turns, external changes, snapshots (B-82).
#include "joint_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const rbVec3 axisX = {1.0, 0.0, 0.0};
static const rbVec3 axisY = {0.0, 1.0, 0.0};
static const rbVec3 axisZ = {0.0, 0.0, 1.0};
static const rbVec3 down = {0.0, 0.0, -9.81};

static rbWorldDef worldDef(void)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.gravity = down;
    return def;
}

static rbWorld* makeWorld(const rbWorldDef* def)
{
    rbError error = {0};
    rbWorld* world = rbCreateWorld(def, &error);
    assert_non_null(world);
    return world;
}

static void mustPrepare(rbWorld* world)
{
    rbError error = {0};
    if (rbWorld_Prepare(world, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
}

static rbJointDef defOf(rbJointType type, rbBodyId body)
{
    rbJointDef def = rbDefaultJointDef();
    def.name = "elbow";
    def.type = type;
    def.bodyB = body;
    return def;
}

static void spin(rbWorld* world, rbBodyId body, rbVec3 angularVelocity)
{
    rbBodyState state = rbBody_GetState(world, body);
    rbError error = {0};
    assert_int_equal(rbBody_SetState(world, body, state.transform, state.linearVelocity,
                                     angularVelocity, &error),
                     RB_STATUS_OK);
}

static void checkMessage(const char* message, const char* part)
{
    if (strstr(message, part) == NULL) {
        fail_msg("\"%s\" is not in: %s", part, message);
    }
}

// B-82
static void senselessLimitsAreRefused(void** state)
{
    (void)state;
    static const struct {
        rbJointType type;
        int freedom;
        rbLimitDef limit;
        const char* part;
    } cases[] = {
        {RB_JOINT_HINGE,
         0,
         {1.0, -1.0, 0.0},
         ": the lower limit 1 rad is above the upper one, -1 rad; exchange them"},
        {RB_JOINT_PRISMATIC,
         0,
         {2.0, 1.0, 0.0},
         ": the lower limit 2 m is above the upper one, 1 m; exchange them"},
        {RB_JOINT_HINGE, 0, {NAN, 1.0, 0.0}, ": limits 1 are nan to 1 rad; give finite numbers"},
        {RB_JOINT_HINGE, 0, {-1.0, NAN, 0.0}, ": limits 1 are -1 to nan rad; give finite numbers"},
        {RB_JOINT_HINGE,
         0,
         {INFINITY, INFINITY, 0.0},
         ": limits 1 are inf to inf rad; give finite numbers, or -infinity and infinity for none"},
        {RB_JOINT_BALL, 1, {NAN, 1.0, 0.0}, ": limits 2 are nan to 1 rad; give finite numbers"},
        {RB_JOINT_HINGE, 0, {-1.0, 1.0, 1.5}, ": the restitution of limits 1 is 1.5; give 0 to 1"},
        {RB_JOINT_BALL, 1, {-1.0, 1.0, -0.5}, ": the restitution of limits 2 is -0.5; give 0 to 1"},
        {RB_JOINT_HINGE, 0, {-1.0, 1.0, NAN}, ": the restitution of limits 1 is nan; give 0 to 1"},
        {RB_JOINT_HINGE, 1, {-1.0, 1.0, 0.0}, "has 1"},
        {RB_JOINT_FIXED, 0, {-1.0, 1.0, 0.0}, "has 0"},
        {RB_JOINT_BALL,
         0,
         {-1.0, -0.5, 0.0},
         ": the angle of its cone is bounded by -1 and -0.5 rad; it is between 0 and pi"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbWorldDef settings = worldDef();
        rbWorld* world = makeWorld(&settings);
        rbBodyId body = addBody(world, "arm", 1.0, axisX);
        rbJointDef def = defOf(cases[i].type, body);
        rbError error = {0};
        rbJointDef_SetAnchor(&def, world, RB_VEC3_ZERO);
        rbJointDef_SetAxis(&def, world, axisY);
        def.limits[cases[i].freedom] = cases[i].limit;
        assert_true(RB_IS_NULL(rbCreateJoint(world, &def, &error)));
        assert_int_equal(error.status, RB_STATUS_INVALID);
        checkMessage(error.message, "joint \"elbow\"");
        checkMessage(error.message, cases[i].part);
        assert_int_equal(rbWorld_GetJointCount(world), 0);
        rbDestroyWorld(world);
    }
}

// B-82
static void startOutsideIsRefusedWithItsNumbers(void** state)
{
    (void)state;
    rbWorldDef settings = worldDef();
    rbWorld* world = makeWorld(&settings);
    rbBodyId body = addBody(world, "arm", 1.0, axisX);
    rbJointDef def = defOf(RB_JOINT_HINGE, body);
    def.limits[0] = (rbLimitDef){0.25, 0.5, 0.0};
    (void)join(world, &def, RB_VEC3_ZERO, axisY);
    rbError error = {0};
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_INVALID);
    checkMessage(error.message, "joint \"elbow\" is at 0 rad at the start");
    checkMessage(error.message, "0.25 to 0.5 rad");
    rbDestroyWorld(world);
}

static void otherMethodsAndOrdersAreRefused(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        rbWorldDef settings = worldDef();
        settings.step.order = i == 0 ? 4 : 2;
        settings.step.method = i == 0 ? RB_METHOD_IMPULSES : rbStepMethod_Find("multipliers");
        rbWorld* world = makeWorld(&settings);
        rbBodyId body = addBody(world, "arm", 1.0, axisX);
        rbJointDef def = defOf(RB_JOINT_HINGE, body);
        def.limits[0] = (rbLimitDef){-1.0, 1.0, 0.0};
        (void)join(world, &def, RB_VEC3_ZERO, axisY);
        rbError error = {0};
        assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_UNSUPPORTED);
        checkMessage(error.message, "joint \"elbow\" has limits");
        rbDestroyWorld(world);
    }
}

// An axle with three turns: it winds up to its stop, and not to a third of that.
// B-82
static void turnsCountUpToTheStop(void** state)
{
    (void)state;
    rbWorldDef settings = worldDef();
    settings.gravity = RB_VEC3_ZERO;
    settings.contact.contactTime = RB_CONTACT_TIME_INTERPOLATION;
    rbWorld* world = makeWorld(&settings);
    rbBodyId wheel = addBody(world, "wheel", 1.0, RB_VEC3_ZERO);
    rbJointDef def = defOf(RB_JOINT_HINGE, wheel);
    def.limits[0] = (rbLimitDef){-0.5, 6.0 * RB_PI + 0.3, 1.0};
    rbJointId joint = join(world, &def, RB_VEC3_ZERO, axisY);
    spin(world, wheel, rbScale(10.0, axisY));
    mustPrepare(world);
    double most = 0.0;
    for (int k = 1; k <= 60; ++k) {
        (void)rbWorld_AdvanceTo(world, 0.05 * k);
        most = fmax(most, rbJoint_GetState(world, joint).limitPositions[0]);
    }
    rbJointState now = rbJoint_GetState(world, joint);
    // Reflected at 19.15 rad after 1.915 s, to twice the tolerance of 1e-6 m at a lever of 0.42 m.
    checkNear(now.freedomPositions[0], 2.0 * (6.0 * RB_PI + 0.3) - 30.0, 5e-6);
    checkNear(now.freedomVelocities[0], -10.0, 1e-7);
    assert_true(most <= 6.0 * RB_PI + 0.3 + 1e-6);
    rbDestroyWorld(world);
}

// The twist of a ball joint is limited, and so is each angle of a universal joint.
// B-82
static void twistAndUniversalAnglesStop(void** state)
{
    (void)state;
    rbWorldDef settings = worldDef();
    settings.gravity = RB_VEC3_ZERO;
    rbWorld* world = makeWorld(&settings);
    rbBodyId head = addBody(world, "head", 1.0, RB_VEC3_ZERO);
    rbJointDef def = defOf(RB_JOINT_BALL, head);
    def.limits[0] = (rbLimitDef){-INFINITY, 0.4, 0.0};
    def.limits[1] = (rbLimitDef){-0.3, 0.7, 0.0};
    rbJointId neck = join(world, &def, RB_VEC3_ZERO, axisZ);
    rbBodyId shaft = addBody(world, "shaft", 1.0, rbMakeVec3(5.0, 0.0, 0.0));
    rbJointDef cross = defOf(RB_JOINT_UNIVERSAL, shaft);
    cross.name = "cross";
    cross.limits[0] = (rbLimitDef){-0.5, 0.5, 0.0};
    cross.limits[1] = (rbLimitDef){-0.2, 0.2, 0.0};
    cross.axisA = axisX;
    cross.axisB = axisY;
    rbJointDef_SetAnchor(&cross, world, rbMakeVec3(5.0, 0.0, 0.0));
    rbError error = {0};
    rbJointId cardan = rbCreateJoint(world, &cross, &error);
    assert_false(RB_IS_NULL(cardan));
    spin(world, head, rbMakeVec3(0.2, 0.1, 3.0));
    spin(world, shaft, rbMakeVec3(2.0, 0.3, 0.0));
    mustPrepare(world);
    double worst = 0.0;
    for (int k = 1; k <= 100; ++k) {
        (void)rbWorld_AdvanceTo(world, 0.02 * k);
        rbJointState a = rbJoint_GetState(world, neck);
        rbJointState b = rbJoint_GetState(world, cardan);
        assert_int_equal(a.limitCount, 2);
        worst = fmax(worst, fmax(a.limitPositions[0] - 0.4, a.limitPositions[1] - 0.7));
        worst = fmax(worst, fmax(-0.3 - a.limitPositions[1], fabs(b.limitPositions[0]) - 0.5));
        worst = fmax(worst, fabs(b.limitPositions[1]) - 0.2);
    }
    print_message("beyond stops by %.3g rad at most\n", worst);
    checkNear(fmax(worst, 0.0), 0.0, 1e-5);
    rbDestroyWorld(world);
}

// What a limit bounds is known before the engine starts, for each joint its own: three sliders
// moved along their rails by hand.
// B-82
static void positionsAreKnownBeforeTheStart(void** state)
{
    (void)state;
    rbWorldDef settings = worldDef();
    rbWorld* world = makeWorld(&settings);
    static const char* const names[3] = {"a", "b", "c"};
    static const double ways[3] = {0.1, -0.2, 0.35};
    rbJointId joints[3];
    for (int i = 0; i < 3; ++i) {
        rbVec3 place = {0.0, 3.0 * i, 0.0};
        rbBodyId body = addBody(world, names[i], 1.0, place);
        rbJointDef def = defOf(RB_JOINT_PRISMATIC, body);
        def.name = names[i];
        def.limits[0] = (rbLimitDef){-0.5, 0.5, 0.0};
        joints[i] = join(world, &def, place, axisX);
        rbTransform moved = {rbMakeVec3(ways[i], place.y, 0.0), RB_QUAT_IDENTITY};
        rbError error = {0};
        assert_int_equal(rbBody_SetState(world, body, moved, RB_VEC3_ZERO, RB_VEC3_ZERO, &error),
                         RB_STATUS_OK);
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < 3; ++i) {
            rbJointState joint = rbJoint_GetState(world, joints[i]);
            assert_int_equal(joint.limitCount, 1);
            checkNear(joint.limitPositions[0], ways[i], 1e-15);
        }
        mustPrepare(world);
    }
    rbDestroyWorld(world);
}

// Limits changed at run time: a door that becomes confined.
// B-82
static void limitsCanBeChanged(void** state)
{
    (void)state;
    rbWorldDef settings = worldDef();
    rbWorld* world = makeWorld(&settings);
    rbBodyId body = addBody(world, "arm", 1.0, axisX);
    rbJointDef def = defOf(RB_JOINT_HINGE, body);
    rbJointId joint = join(world, &def, RB_VEC3_ZERO, axisY);
    rbError error = {0};
    mustPrepare(world);
    (void)rbWorld_AdvanceTo(world, 0.2);
    double at = rbJoint_GetState(world, joint).freedomPositions[0];
    rbLimitDef none = rbJoint_GetLimit(world, joint, 0);
    assert_true(none.lower == -INFINITY && none.upper == INFINITY);
    rbLimitDef wrong = {at + 0.1, at + 0.2, 0.0};
    assert_int_equal(rbJoint_SetLimit(world, joint, 0, &wrong, &error), RB_STATUS_INVALID);
    checkMessage(error.message, "joint \"elbow\" is at");
    rbLimitDef limit = {-1.0, at + 0.05, 0.0};
    assert_int_equal(rbJoint_SetLimit(world, joint, 0, &limit, &error), RB_STATUS_OK);
    assert_true(rbJoint_GetLimit(world, joint, 0).upper == at + 0.05);
    (void)rbWorld_AdvanceTo(world, 1.0);
    checkNear(rbJoint_GetState(world, joint).freedomPositions[0], at + 0.05, 1e-6);
    assert_int_equal(rbJoint_SetLimit(world, joint, 0, &none, &error), RB_STATUS_OK);
    (void)rbWorld_AdvanceTo(world, 1.2);
    assert_true(rbJoint_GetState(world, joint).freedomPositions[0] > at + 0.06);
    assert_int_equal(rbJoint_SetLimit(world, joint, 1, &limit, &error), RB_STATUS_INVALID);
    rbDestroyWorld(world);
}

// A double pendulum between stops, and a free body.
static rbWorld* makeMixed(bool areContactsOn)
{
    rbWorldDef settings = worldDef();
    settings.contact.isEnabled = areContactsOn;
    rbWorld* world = makeWorld(&settings);
    rbBodyId upper = addBody(world, "upper", 1.0, rbMakeVec3(0.5, 0.0, 0.0));
    rbBodyId lower = addBody(world, "lower", 1.0, rbMakeVec3(1.5, 0.0, 0.0));
    (void)addBody(world, "free", 1.0, rbMakeVec3(5.0, 0.0, 0.0));
    rbJointDef def = defOf(RB_JOINT_HINGE, upper);
    def.limits[0] = (rbLimitDef){-0.2, 1.2, 0.6};
    (void)join(world, &def, RB_VEC3_ZERO, axisY);
    rbJointDef second = defOf(RB_JOINT_HINGE, lower);
    second.name = "wrist";
    second.bodyA = upper;
    second.limits[0] = (rbLimitDef){-0.3, 0.4, 0.3};
    (void)join(world, &second, axisX, axisY);
    mustPrepare(world);
    return world;
}

// B-82
static void snapshotsGoOnWithTheSameBits(void** state)
{
    (void)state;
    for (int on = 0; on < 2; ++on) {
        rbWorld* world = makeMixed(on == 1);
        rbError error = {0};
        (void)rbWorld_AdvanceTo(world, 0.5);
        size_t size = rbWorld_GetSnapshotSize(world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
        (void)rbWorld_AdvanceTo(world, 1.5);
        uint64_t hash = rbWorld_GetHash(world);
        assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
        (void)rbWorld_AdvanceTo(world, 1.5);
        assert_true(rbWorld_GetHash(world) == hash);
        // Also into a world that has not started.
        rbWorld* other = makeMixed(on == 1);
        assert_int_equal(rbWorld_RestoreSnapshot(other, bytes, size, &error), RB_STATUS_OK);
        (void)rbWorld_AdvanceTo(other, 1.5);
        assert_true(rbWorld_GetHash(other) == hash);
        free(bytes);
        rbDestroyWorld(other);
        rbDestroyWorld(world);
    }
}

static void stopsAllocateNothing(void** state)
{
    (void)state;
    rbWorld* world = makeMixed(false);
    (void)rbWorld_AdvanceTo(world, 1.0);
    uint64_t count = rbGetAllocationCount();
    (void)rbWorld_AdvanceTo(world, 2.0);
    assert_true(rbGetAllocationCount() == count);
    rbDestroyWorld(world);
}

// Without contacts of shapes a free body flies as it does without limits.
static void freeBodiesAreLeftAlone(void** state)
{
    (void)state;
    rbWorld* world = makeMixed(false);
    (void)rbWorld_AdvanceTo(world, 1.0);
    rbBodyId body = rbWorld_FindBody(world, "free");
    rbVec3 at = rbBody_GetState(world, body).transform.p;
    checkNear(at.z, -0.5 * 9.81, 1e-12);
    checkNear(at.x, 5.0, 0.0);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_limits, cmocka_unit_test(senselessLimitsAreRefused),
              cmocka_unit_test(startOutsideIsRefusedWithItsNumbers),
              cmocka_unit_test(otherMethodsAndOrdersAreRefused),
              cmocka_unit_test(turnsCountUpToTheStop),
              cmocka_unit_test(twistAndUniversalAnglesStop), cmocka_unit_test(limitsCanBeChanged),
              cmocka_unit_test(positionsAreKnownBeforeTheStart),
              cmocka_unit_test(snapshotsGoOnWithTheSameBits),
              cmocka_unit_test(freeBodiesAreLeftAlone), cmocka_unit_test(stopsAllocateNothing));
