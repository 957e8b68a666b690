// Joints and springs as a user creates them: refusals with their messages, names, ids, states,
// removed bodies. Nothing here runs a step.
#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Pair {
    rbWorld* world;
    rbBodyId a;
    rbBodyId b;
    rbBodyId floor; // static
    rbBodyId cart;  // kinematic
} Pair;

static rbBodyId addBody(rbWorld* world, const char* name, rbBodyType type, rbVec3 position)
{
    rbError error = {0};
    rbMassProperties mass = {.volume = 1.0, .mass = 2.0, .inertia = {0.3, 0.2, 0.4, 0.0, 0.0, 0.0}};
    rbBodyDef def = rbDefaultBodyDef();
    def.name = name;
    def.type = type;
    def.position = position;
    def.mass = type == RB_BODY_DYNAMIC ? &mass : NULL;
    rbBodyId id = rbCreateBody(world, &def, &error);
    assert_false(RB_IS_NULL(id));
    return id;
}

static Pair makePair(rbEngineType engine)
{
    rbWorldDef def = rbDefaultWorldDef();
    rbError error = {0};
    def.engine = engine;
    Pair pair = {.world = rbCreateWorld(&def, &error)};
    assert_non_null(pair.world);
    pair.a = addBody(pair.world, "apple", RB_BODY_DYNAMIC, rbMakeVec3(1.0, 0.0, 0.0));
    pair.b = addBody(pair.world, "pear", RB_BODY_DYNAMIC, rbMakeVec3(2.0, 0.0, 0.0));
    pair.floor = addBody(pair.world, "floor", RB_BODY_STATIC, RB_VEC3_ZERO);
    pair.cart = addBody(pair.world, "cart", RB_BODY_KINEMATIC, RB_VEC3_ZERO);
    return pair;
}

static rbJointDef defOf(const Pair* pair, rbJointType type)
{
    rbJointDef def = rbDefaultJointDef();
    def.type = type;
    def.bodyA = pair->a;
    def.bodyB = pair->b;
    rbJointDef_SetAnchor(&def, pair->world, rbMakeVec3(1.5, 0.0, 0.0));
    rbJointDef_SetAxis(&def, pair->world, rbMakeVec3(0.0, 0.0, 1.0));
    return def;
}

static rbJointId makeJoint(const Pair* pair, const char* name, rbJointType type)
{
    rbError error = {0};
    rbJointDef def = defOf(pair, type);
    def.name = name;
    rbJointId id = rbCreateJoint(pair->world, &def, &error);
    if (RB_IS_NULL(id)) {
        print_message("%s\n", error.message);
    }
    assert_false(RB_IS_NULL(id));
    return id;
}

static bool says(const rbError* error, const char* text)
{
    bool isSaid = strstr(error->message, text) != NULL;
    if (!isSaid) {
        print_message("\"%s\" is not in: %s\n", text, error->message);
    }
    return isSaid;
}

// The joint is refused with a message that contains both texts, and the world has as many as
// before.
static void checkRefused(const Pair* pair, const rbJointDef* def, const char* first,
                         const char* second)
{
    rbError error = {0};
    int before = rbWorld_GetJointCount(pair->world);
    assert_true(RB_IS_NULL(rbCreateJoint(pair->world, def, &error)));
    assert_int_not_equal(error.status, RB_STATUS_OK);
    assert_true(says(&error, first));
    assert_true(says(&error, second));
    assert_int_equal(rbWorld_GetJointCount(pair->world), before);
}

static void badJointsAreRefusedByName(void** state)
{
    (void)state;
    Pair pair = makePair(RB_ENGINE_STEP);
    rbBodyId gone = addBody(pair.world, "gone", RB_BODY_DYNAMIC, RB_VEC3_ZERO);
    rbDestroyBody(pair.world, gone);
    rbJointDef def = defOf(&pair, RB_JOINT_BALL);
    def.name = "elbow";
    def.bodyB = gone;
    checkRefused(&pair, &def, "\"elbow\"", "body B does not exist");
    def.bodyB = (rbBodyId){77, 1};
    checkRefused(&pair, &def, "\"elbow\"", "body B does not exist");
    def.bodyB = pair.a;
    checkRefused(&pair, &def, "\"elbow\"", "\"apple\" to itself");
    def.bodyA = pair.floor;
    def.bodyB = pair.cart;
    checkRefused(&pair, &def, "\"floor\" (static)", "\"cart\" (kinematic)");
    def.bodyB = (rbBodyId){0, 0};
    checkRefused(&pair, &def, "\"elbow\"", "\"world\" (static)");
    def.bodyA = def.bodyB;
    checkRefused(&pair, &def, "\"elbow\"", "\"world\" to itself");
    rbBodyDef light = rbDefaultBodyDef();
    light.name = "ghost";
    def.bodyA = rbCreateBody(pair.world, &light, NULL);
    checkRefused(&pair, &def, "\"elbow\"", "\"ghost\" has no mass");
    def = defOf(&pair, RB_JOINT_BALL);
    def.cookie = 0;
    checkRefused(&pair, &def, "rbDefault", "");
    def = defOf(&pair, RB_JOINT_HINGE);
    def.name = "hinge";
    def.axisA = RB_VEC3_ZERO;
    checkRefused(&pair, &def, "hinge", "axis");
    def = defOf(&pair, RB_JOINT_BALL);
    def.name = "nan";
    def.anchorB.y = NAN;
    checkRefused(&pair, &def, "nan", "finite");
    def = defOf(&pair, RB_JOINT_BALL);
    def.name = "fast";
    def.linearVelocity.x = 1.0;
    checkRefused(&pair, &def, "\"fast\"", "velocity-only");
    def.isVelocityOnly = true;
    def.linearVelocity.x = INFINITY;
    checkRefused(&pair, &def, "\"fast\"", "finite");
    def.linearVelocity.x = 1.0;
    def.angularVelocity.z = NAN;
    checkRefused(&pair, &def, "\"fast\"", "(0, 0, nan) rad/s must be finite");
    def.angularVelocity.z = 0.0;
    def.forceMax = -1.0;
    checkRefused(&pair, &def, "\"fast\"", "forceMax is -1 N");
    def.forceMax = 0.0;
    checkRefused(&pair, &def, "\"fast\"", "force");
    rbDestroyWorld(pair.world);
}

static void namesAreSharedByJointsAndSprings(void** state)
{
    (void)state;
    Pair pair = makePair(RB_ENGINE_STEP);
    rbError error = {0};
    rbJointId elbow = makeJoint(&pair, "elbow", RB_JOINT_BALL);
    rbJointDef def = defOf(&pair, RB_JOINT_BALL);
    def.name = "elbow";
    checkRefused(&pair, &def, "\"elbow\"", "joint of this name already");
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyA = pair.a;
    spring.stiffness = 10.0;
    spring.name = "elbow";
    assert_true(RB_IS_NULL(rbCreateSpring(pair.world, &spring, &error)));
    assert_true(says(&error, "joint of this name already"));
    spring.name = "coil";
    rbSpringId coil = rbCreateSpring(pair.world, &spring, &error);
    assert_false(RB_IS_NULL(coil));
    def.name = "coil";
    checkRefused(&pair, &def, "\"coil\"", "spring of this name already");
    char longName[80];
    memset(longName, 'x', sizeof longName);
    longName[79] = '\0';
    def.name = longName;
    checkRefused(&pair, &def, "79 bytes", "63");
    assert_true(RB_ID_EQUALS(rbWorld_FindJoint(pair.world, "elbow"), elbow));
    assert_true(RB_ID_EQUALS(rbWorld_FindSpring(pair.world, "coil"), coil));
    assert_true(RB_IS_NULL(rbWorld_FindJoint(pair.world, "coil")));
    assert_true(RB_IS_NULL(rbWorld_FindSpring(pair.world, "elbow")));
    assert_true(RB_IS_NULL(rbWorld_FindJoint(pair.world, "knee")));
    // A name is free again after its joint is removed; the id of the new one differs.
    rbDestroyJoint(pair.world, elbow);
    rbDestroySpring(pair.world, coil);
    assert_true(RB_IS_NULL(rbWorld_FindJoint(pair.world, "elbow")));
    rbJointId again = makeJoint(&pair, "elbow", RB_JOINT_BALL);
    assert_false(RB_ID_EQUALS(again, elbow));
    assert_false(rbJoint_IsValid(pair.world, elbow));
    assert_false(rbSpring_IsValid(pair.world, coil));
    rbDestroyWorld(pair.world);
}

static void jointsReportTheirDefinition(void** state)
{
    (void)state;
    Pair pair = makePair(RB_ENGINE_STEP);
    int tag = 0;
    rbJointDef def = defOf(&pair, RB_JOINT_HINGE);
    def.userData = &tag;
    rbJointId plain = rbCreateJoint(pair.world, &def, NULL);
    rbJointId slider = makeJoint(&pair, "slider", RB_JOINT_PRISMATIC);
    assert_string_equal(rbJoint_GetName(pair.world, plain), "");
    assert_string_equal(rbJoint_GetName(pair.world, slider), "slider");
    assert_int_equal(rbJoint_GetType(pair.world, plain), RB_JOINT_HINGE);
    assert_true(RB_ID_EQUALS(rbJoint_GetBodyA(pair.world, plain), pair.a));
    assert_true(RB_ID_EQUALS(rbJoint_GetBodyB(pair.world, plain), pair.b));
    assert_ptr_equal(rbJoint_GetUserData(pair.world, plain), &tag);
    assert_int_equal(rbWorld_GetJointCount(pair.world), 2);
    rbJointId ids[3];
    assert_int_equal(rbWorld_GetJointIds(pair.world, ids, 3), 2);
    assert_true(RB_ID_EQUALS(ids[0], plain));
    assert_true(RB_ID_EQUALS(ids[1], slider));
    assert_int_equal(rbWorld_GetJointIds(pair.world, ids, 1), 1);
    rbDestroyJoint(pair.world, plain);
    assert_int_equal(rbWorld_GetJointIds(pair.world, ids, 3), 1);
    assert_true(RB_ID_EQUALS(ids[0], slider));
    rbDestroyWorld(pair.world);
}

// Angle and speed of a hinge compared with the poses, also for a body whose principal axes are not
// those of its frame, before any step.
static void hingeStateFollowsItsBodies(void** state)
{
    (void)state;
    Pair pair = makePair(RB_ENGINE_STEP);
    rbError error = {0};
    rbMassProperties mass = {.volume = 1.0,
                             .mass = 3.0,
                             .center = {0.2, -0.1, 0.3},
                             .inertia = {0.9, 1.1, 1.3, 0.2, -0.1, 0.15}};
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.position = rbMakeVec3(0.0, 1.0, 0.0);
    bodyDef.orientation = rbNormalizeQuat((rbQuat){0.9, 0.2, -0.3, 0.1});
    bodyDef.mass = &mass;
    rbBodyId arm = rbCreateBody(pair.world, &bodyDef, &error);
    rbVec3 axis = rbNormalize(rbMakeVec3(1.0, 2.0, -1.0));
    rbVec3 pivot = rbMakeVec3(0.3, 0.7, -0.2);
    rbJointDef def = rbDefaultJointDef();
    def.type = RB_JOINT_HINGE;
    def.bodyB = arm;
    rbJointDef_SetAnchor(&def, pair.world, pivot);
    rbJointDef_SetAxis(&def, pair.world, axis);
    rbJointId hinge = rbCreateJoint(pair.world, &def, &error);
    assert_false(RB_IS_NULL(hinge));
    double angle = 0.7;
    double speed = 2.5;
    rbQuat turn = {cos(0.5 * angle), sin(0.5 * angle) * axis.x, sin(0.5 * angle) * axis.y,
                   sin(0.5 * angle) * axis.z};
    rbTransform pose = {rbAdd(pivot, rbRotate(turn, rbSub(bodyDef.position, pivot))),
                        rbMulQuat(turn, bodyDef.orientation)};
    rbVec3 center = rbTransformPoint(pose, mass.center);
    rbVec3 spin = rbScale(speed, axis);
    assert_int_equal(
        rbBody_SetState(pair.world, arm, pose, rbCross(spin, rbSub(center, pivot)), spin, &error),
        RB_STATUS_OK);
    rbJointState now = rbJoint_GetState(pair.world, hinge);
    assert_int_equal(now.freedomCount, 1);
    checkNear(now.freedomPositions[0], angle, 1e-13);
    checkNear(now.freedomVelocities[0], speed, 1e-13);
    checkNear(rbDistance(now.pointA, pivot), 0.0, 1e-14);
    checkNear(rbDistance(now.pointB, pivot), 0.0, 1e-13);
    checkNear(fabs(rbDot(now.axis, axis)), 1.0, 1e-14);
    checkNear(now.positionError, 0.0, 1e-13);
    checkNear(now.angleError, 0.0, 1e-13);
    pose.p.x += 0.01;
    (void)rbBody_SetState(pair.world, arm, pose, RB_VEC3_ZERO, RB_VEC3_ZERO, &error);
    checkNear(rbJoint_GetState(pair.world, hinge).positionError, 0.01, 1e-13);
    rbDestroyWorld(pair.world);
}

// A shape added later moves the center of mass and the principal axes; the joint keeps its place in
// the frame of the body.
static void laterShapesLeaveTheJointInPlace(void** state)
{
    (void)state;
    rbWorldDef worldDef = rbDefaultWorldDef();
    rbError error = {0};
    worldDef.engine = RB_ENGINE_STEP;
    rbWorld* world = rbCreateWorld(&worldDef, &error);
    rbBodyDef bodyDef = rbDefaultBodyDef();
    rbBodyId body = rbCreateBody(world, &bodyDef, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateBox(rbMakeVec3(0.1, 0.2, 0.3), &error));
    assert_false(RB_IS_NULL(rbCreateShape(world, body, &shape, &error)));
    rbJointDef def = rbDefaultJointDef();
    def.type = RB_JOINT_HINGE;
    def.bodyB = body;
    def.freedoms[0].stiffness = 5.0;
    def.freedoms[0].rest = 0.4;
    rbJointDef_SetAnchor(&def, world, rbMakeVec3(0.0, 0.2, 0.0));
    rbJointDef_SetAxis(&def, world, rbMakeVec3(1.0, 0.0, 0.0));
    rbJointId hinge = rbCreateJoint(world, &def, &error);
    rbSpringDef springDef = rbDefaultSpringDef();
    springDef.bodyB = body;
    springDef.anchorA = rbMakeVec3(0.0, 0.0, 2.0);
    springDef.anchorB = rbMakeVec3(0.0, 0.0, 0.3);
    springDef.stiffness = 7.0;
    rbSpringId spring = rbCreateSpring(world, &springDef, &error);
    checkNear(rbSpring_GetState(world, spring).length, 1.7, 1e-14);
    shape.transform.p = rbMakeVec3(0.4, 0.5, 0.1);
    shape.transform.q = rbNormalizeQuat((rbQuat){0.8, 0.3, 0.2, 0.4});
    assert_false(RB_IS_NULL(rbCreateShape(world, body, &shape, &error)));
    rbJointState now = rbJoint_GetState(world, hinge);
    checkNear(now.positionError, 0.0, 1e-14);
    checkNear(now.angleError, 0.0, 1e-14);
    checkNear(now.freedomPositions[0], 0.0, 1e-14);
    checkNear(now.pointB.y, 0.2, 1e-14);
    checkNear(rbSpring_GetState(world, spring).length, 1.7, 1e-14);
    checkNear(rbWorld_GetLedger(world).energyDrift, 0.0, 1e-13);
    rbDestroyWorld(world);
}

static void bodiesTakeTheirJointsWithThem(void** state)
{
    (void)state;
    uint64_t bytes = rbGetAllocatedBytes();
    Pair pair = makePair(RB_ENGINE_STEP);
    rbError error = {0};
    rbJointId first = makeJoint(&pair, "first", RB_JOINT_BALL);
    rbJointDef def = defOf(&pair, RB_JOINT_HINGE);
    def.bodyA = (rbBodyId){0, 0};
    def.freedoms[0].stiffness = 3.0;
    def.freedoms[0].rest = 1.0;
    rbJointId second = rbCreateJoint(pair.world, &def, &error);
    rbSpringDef springDef = rbDefaultSpringDef();
    springDef.bodyA = pair.a;
    springDef.bodyB = pair.b;
    springDef.restLength = 0.2;
    springDef.stiffness = 100.0;
    rbSpringId spring = rbCreateSpring(pair.world, &springDef, &error);
    rbLedger before = rbWorld_GetLedger(pair.world);
    checkNear(before.springEnergy, 0.5 * 3.0 + 0.5 * 100.0 * 0.8 * 0.8, 1e-12);
    checkNear(before.energyDrift, 0.0, 1e-12);
    rbDestroyBody(pair.world, pair.a);
    assert_false(rbJoint_IsValid(pair.world, first));
    assert_true(rbJoint_IsValid(pair.world, second));
    assert_false(rbSpring_IsValid(pair.world, spring));
    assert_int_equal(rbWorld_GetJointCount(pair.world), 1);
    assert_int_equal(rbWorld_GetSpringCount(pair.world), 0);
    rbLedger after = rbWorld_GetLedger(pair.world);
    checkNear(after.springEnergy, 1.5, 1e-12);
    checkNear(after.energyDrift, 0.0, 1e-12);
    rbDestroyJoint(pair.world, second);
    checkNear(rbWorld_GetLedger(pair.world).springEnergy, 0.0, 0.0);
    checkNear(rbWorld_GetLedger(pair.world).energyDrift, 0.0, 1e-12);
    rbDestroyWorld(pair.world);
    assert_true(rbGetAllocatedBytes() == bytes);
}

// Moving a body at a spring is external work: on the body and on the spring.
static void settingAStateAccountsForTheSpringsEnergy(void** state)
{
    (void)state;
    Pair pair = makePair(RB_ENGINE_STEP);
    rbError error = {0};
    rbSpringDef springDef = rbDefaultSpringDef();
    springDef.bodyA = pair.floor;
    springDef.bodyB = pair.b;
    springDef.stiffness = 50.0;
    rbSpringId spring = rbCreateSpring(pair.world, &springDef, &error);
    checkNear(rbSpring_GetState(pair.world, spring).energy, 0.0, 0.0);
    rbTransform pose = {rbMakeVec3(2.5, 0.0, 0.0), {1.0, 0.0, 0.0, 0.0}};
    (void)rbBody_SetState(pair.world, pair.b, pose, rbMakeVec3(3.0, 0.0, 0.0), RB_VEC3_ZERO,
                          &error);
    rbSpringState now = rbSpring_GetState(pair.world, spring);
    checkNear(now.length, 2.5, 1e-15);
    checkNear(now.speed, 3.0, 1e-15);
    checkNear(now.force, 25.0, 1e-13);
    rbLedger ledger = rbWorld_GetLedger(pair.world);
    checkNear(ledger.springEnergy, 0.5 * 50.0 * 0.25, 1e-13);
    checkNear(ledger.work, 0.5 * 2.0 * 9.0 + 0.5 * 50.0 * 0.25, 1e-13);
    checkNear(ledger.energyDrift, 0.0, 1e-13);
    // The floor is moved after it: only the spring changes.
    pose.p = rbMakeVec3(0.5, 0.0, 0.0);
    (void)rbBody_SetState(pair.world, pair.floor, pose, RB_VEC3_ZERO, RB_VEC3_ZERO, &error);
    ledger = rbWorld_GetLedger(pair.world);
    checkNear(ledger.springEnergy, 0.0, 1e-13);
    checkNear(ledger.energyDrift, 0.0, 1e-13);
    rbDestroyWorld(pair.world);
}

static void badSpringsAreRefusedByName(void** state)
{
    (void)state;
    Pair pair = makePair(RB_ENGINE_STEP);
    rbSpringDef good = rbDefaultSpringDef();
    good.name = "coil";
    good.bodyA = pair.a;
    good.bodyB = pair.b;
    good.stiffness = 1.0;
    struct {
        rbSpringDef def;
        const char* text;
    } cases[9];
    for (int i = 0; i < 9; ++i) {
        cases[i].def = good;
    }
    cases[0].def.bodyB = pair.a;
    cases[0].text = "\"apple\" to itself";
    cases[1].def.bodyB = (rbBodyId){5, 77};
    cases[1].text = "body B does not exist";
    cases[2].def.bodyA = pair.floor;
    cases[2].def.bodyB = pair.cart;
    cases[2].text = "can move neither";
    cases[3].def.stiffness = -1.0;
    cases[3].text = "not negative";
    cases[4].def.damping = NAN;
    cases[4].text = "not negative";
    cases[5].def.stiffness = 0.0;
    cases[5].text = "neither stiffness nor damping";
    cases[6].def.restLength = INFINITY;
    cases[6].text = "rest length";
    cases[7].def.anchorA.x = NAN;
    cases[7].text = "anchors";
    cases[8].def.cookie = 0;
    cases[8].text = "rbDefault";
    for (int i = 0; i < 9; ++i) {
        rbError error = {0};
        assert_true(RB_IS_NULL(rbCreateSpring(pair.world, &cases[i].def, &error)));
        assert_true(says(&error, cases[i].text));
        assert_true(i == 8 || says(&error, "\"coil\""));
    }
    assert_int_equal(rbWorld_GetSpringCount(pair.world), 0);
    rbDestroyWorld(pair.world);
}

static void enginesWithoutJointsRefuseThem(void** state)
{
    (void)state;
    const rbEngineType engines[2] = {RB_ENGINE_FLIGHT, RB_ENGINE_EVENT};
    for (int i = 0; i < 2; ++i) {
        Pair pair = makePair(engines[i]);
        rbError error = {0};
        rbSpringDef springDef = rbDefaultSpringDef();
        springDef.name = "coil";
        springDef.bodyA = pair.a;
        springDef.stiffness = 1.0;
        rbSpringId spring = rbCreateSpring(pair.world, &springDef, &error);
        assert_int_equal(rbWorld_Prepare(pair.world, &error), RB_STATUS_UNSUPPORTED);
        assert_true(says(&error, "spring \"coil\""));
        rbJointId joint = makeJoint(&pair, "elbow", RB_JOINT_BALL);
        assert_int_equal(rbWorld_Prepare(pair.world, &error), RB_STATUS_UNSUPPORTED);
        assert_true(says(&error, "joint \"elbow\""));
        assert_true(says(&error, rbEngineType_Name(engines[i])));
        rbStepReport report = rbWorld_Advance(pair.world, 0.1);
        assert_int_equal(report.status, RB_STATUS_UNSUPPORTED);
        checkNear(report.time, 0.0, 0.0);
        rbError last = rbWorld_GetError(pair.world);
        assert_true(says(&last, "joint \"elbow\""));
        // Without them it works.
        rbDestroyJoint(pair.world, joint);
        rbDestroySpring(pair.world, spring);
        report = rbWorld_Advance(pair.world, 0.1);
        assert_int_equal(report.status, RB_STATUS_OK);
        checkNear(report.time, 0.1, 0.0);
        assert_int_equal(rbWorld_GetError(pair.world).status, RB_STATUS_OK);
        rbDestroyWorld(pair.world);
    }
}

static void badStepSettingsAreRefused(void** state)
{
    (void)state;
    rbWorldDef good = rbDefaultWorldDef();
    good.engine = RB_ENGINE_STEP;
    rbWorldDef defs[14];
    for (int i = 0; i < 14; ++i) {
        defs[i] = good;
    }
    defs[0].step.step = 0.0;
    defs[1].step.step = NAN;
    defs[2].step.order = 3;
    defs[3].step.order = 12;
    defs[4].step.tolerance = 0.0;
    defs[5].step.errorMax = 1e-6; // not exact
    defs[6].step.horizon = -1.0;
    defs[7].step.iterationsMax = -1;
    defs[8].step.halvingsMax = 31;
    defs[9].step.impulseMax = 0.0;
    defs[10].step.method = (rbStepMethod)rbStepMethod_GetCount();
    defs[11].step.solver = (rbSolverType)-1;
    defs[12].step.scheme = RB_SCHEME_COUNT;
    defs[13].step.assembleTolerance = INFINITY;
    static const char* const texts[14] = {"step.step",        "step.step",
                                          "step.order",       "step.order",
                                          "step.tolerance",   "step.errorMax",
                                          "step.horizon",     "step.iterationsMax",
                                          "step.halvingsMax", "step.impulseMax",
                                          "step.method",      "step.solver",
                                          "step.scheme",      "step.assembleTolerance"};
    for (int i = 0; i < 14; ++i) {
        rbError error = {0};
        assert_null(rbCreateWorld(&defs[i], &error));
        assert_int_equal(error.status, RB_STATUS_INVALID);
        assert_true(says(&error, texts[i]));
    }
    good.step.accuracy = RB_ACCURACY_EXACT;
    good.step.errorMax = 1e-6;
    good.step.order = 4;
    rbWorld* world = rbCreateWorld(&good, NULL);
    assert_non_null(world);
    rbDestroyWorld(world);
}

static void targetsAndVelocitiesAreChecked(void** state)
{
    (void)state;
    Pair pair = makePair(RB_ENGINE_STEP);
    rbError error = {0};
    rbSetPoint points[2] = {{0.0, 1.0}, {2.0, 5.0}};
    rbJointDef def = defOf(&pair, RB_JOINT_HINGE);
    def.name = "servo";
    def.freedoms[0].motor.type = RB_MOTOR_POSITION;
    def.freedoms[0].motor.gain = 10.0;
    def.freedoms[0].motor.schedule = points;
    def.freedoms[0].motor.scheduleCount = 2;
    rbJointId servo = rbCreateJoint(pair.world, &def, &error);
    assert_false(RB_IS_NULL(servo));
    points[0].value = 99.0; // the schedule was copied
    checkNear(rbJoint_GetState(pair.world, servo).motorTargets[0], 1.0, 0.0);
    assert_int_equal(rbJoint_SetMotorTarget(pair.world, servo, 1, 0.5, &error), RB_STATUS_INVALID);
    assert_true(says(&error, "\"servo\""));
    assert_int_equal(rbJoint_SetMotorTarget(pair.world, servo, 0, NAN, &error), RB_STATUS_INVALID);
    checkNear(rbJoint_GetState(pair.world, servo).motorTargets[0], 1.0, 0.0);
    assert_int_equal(rbJoint_SetMotorTarget(pair.world, servo, 0, 0.5, &error), RB_STATUS_OK);
    checkNear(rbJoint_GetState(pair.world, servo).motorTargets[0], 0.5, 0.0);
    rbJointId idle = makeJoint(&pair, "idle", RB_JOINT_HINGE);
    assert_int_equal(rbJoint_SetMotorTarget(pair.world, idle, 0, 0.5, &error), RB_STATUS_INVALID);
    assert_true(says(&error, "no motor"));
    assert_int_equal(
        rbJoint_SetVelocity(pair.world, idle, rbMakeVec3(1.0, 0.0, 0.0), RB_VEC3_ZERO, &error),
        RB_STATUS_INVALID);
    assert_true(says(&error, "\"idle\""));
    rbDestroyWorld(pair.world);
}

static void dragsAreChecked(void** state)
{
    (void)state;
    Pair pair = makePair(RB_ENGINE_STEP);
    rbError error = {0};
    rbBodyId world = {0, 0};
    assert_true(RB_IS_NULL(rbWorld_StartDrag(pair.world, world, RB_VEC3_ZERO, 1.0, &error)));
    assert_true(RB_IS_NULL(rbWorld_StartDrag(pair.world, pair.floor, RB_VEC3_ZERO, 1.0, &error)));
    assert_true(says(&error, "\"floor\""));
    assert_true(RB_IS_NULL(rbWorld_StartDrag(pair.world, pair.a, RB_VEC3_ZERO, -1.0, &error)));
    assert_true(
        RB_IS_NULL(rbWorld_StartDrag(pair.world, pair.a, rbMakeVec3(NAN, 0.0, 0.0), 1.0, &error)));
    rbJointId drag =
        rbWorld_StartDrag(pair.world, pair.a, rbMakeVec3(1.0, 0.0, 0.1), INFINITY, &error);
    assert_false(RB_IS_NULL(drag));
    assert_int_equal(rbJoint_GetType(pair.world, drag), RB_JOINT_BALL);
    assert_true(RB_IS_NULL(rbJoint_GetBodyA(pair.world, drag)));
    assert_true(RB_ID_EQUALS(rbJoint_GetBodyB(pair.world, drag), pair.a));
    rbVec3 point = rbJoint_GetState(pair.world, drag).pointB;
    checkNear(rbDistance(point, rbMakeVec3(1.0, 0.0, 0.1)), 0.0, 1e-15);
    rbWorld_MoveDrag(pair.world, drag, rbMakeVec3(2.0, 0.0, 0.0), 0.5);
    rbDestroyJoint(pair.world, drag);
    assert_int_equal(rbWorld_GetJointCount(pair.world), 0);
    rbDestroyWorld(pair.world);
}

// A hinge between two bodies that is open by a length and tilted or not.
static void addOpenHinge(const Pair* pair, const char* name, rbBodyId ids[2], double gap,
                         rbVec3 axisB)
{
    rbJointDef def = defOf(pair, RB_JOINT_HINGE);
    def.name = name;
    def.bodyA = ids[0];
    def.bodyB = ids[1];
    rbJointDef_SetAnchor(&def, pair->world, rbMakeVec3(1.5, 0.0, 0.0));
    rbJointDef_SetAxis(&def, pair->world, rbMakeVec3(0.0, 0.0, 1.0));
    def.anchorB.z += gap;
    def.axisB = axisB;
    assert_false(RB_IS_NULL(rbCreateJoint(pair->world, &def, NULL)));
}

// Two bodies on up to three open hinges; the message of the start.
static void checkOpenHinges(double gap, bool isTilted, int count, const char* gapText)
{
    static const char* const others[] = {"", " (1 more joints are open)",
                                         " (2 more joints are open)"};
    const rbVec3 straight = {0.0, 0.0, 1.0};
    Pair pair = makePair(RB_ENGINE_STEP);
    rbBodyId ids[3][2] = {{pair.a, pair.b}, {pair.floor, pair.a}, {pair.floor, pair.b}};
    addOpenHinge(&pair, "elbow", ids[0], gap, isTilted ? rbMakeVec3(0.0, 0.6, 0.8) : straight);
    for (int k = 1; k < count; ++k) { // the others are less open
        addOpenHinge(&pair, NULL, ids[k], 0.125 * gap,
                     isTilted ? rbMakeVec3(0.0, 0.28, 0.96) : straight);
    }
    rbError error = {0};
    assert_int_equal(rbWorld_Prepare(pair.world, &error), RB_STATUS_INVALID);
    char expected[300];
    (void)snprintf(expected, sizeof expected,
                   "joint \"elbow\" between \"apple\" and \"pear\" is open by %s at the start%s; "
                   "move the bodies together, or let them be assembled (in a scene \"step\": "
                   "{\"assemble\": true})",
                   gapText, others[count - 1]);
    assert_string_equal(error.message, expected);
    rbDestroyWorld(pair.world);
}

// A joint that is open at the start is named with its gap, in the units that it has, and how many
// more are open.
static void openJointsAreNamedWithTheirGap(void** state)
{
    (void)state;
    for (int count = 1; count <= 3; ++count) {
        checkOpenHinges(0.25, false, count, "0.25 m");
        checkOpenHinges(0.0, true, count, "0.643501 rad");
        checkOpenHinges(0.25, true, count, "0.25 m and 0.643501 rad");
    }
}

// The first that is still there is named.
static void destroyedLinksAreNotNamed(void** state)
{
    (void)state;
    Pair pair = makePair(RB_ENGINE_FLIGHT);
    rbError error = {0};
    rbSpringId springs[3];
    rbJointId joints[3];
    static const char* const names[] = {"one", "two", "three"};
    for (int i = 0; i < 3; ++i) {
        rbSpringDef def = rbDefaultSpringDef();
        char name[16];
        (void)snprintf(name, sizeof name, "coil %s", names[i]);
        def.name = name;
        def.bodyA = pair.a;
        def.stiffness = 1.0;
        springs[i] = rbCreateSpring(pair.world, &def, &error);
        (void)snprintf(name, sizeof name, "knee %s", names[i]);
        joints[i] = makeJoint(&pair, name, RB_JOINT_BALL);
    }
    for (int i = 0; i < 3; ++i) {
        char expected[32];
        assert_int_equal(rbWorld_Prepare(pair.world, &error), RB_STATUS_UNSUPPORTED);
        (void)snprintf(expected, sizeof expected, "joint \"knee %s\": ", names[i]);
        assert_true(says(&error, expected));
        rbDestroyJoint(pair.world, joints[i]);
    }
    for (int i = 0; i < 3; ++i) {
        char expected[32];
        assert_int_equal(rbWorld_Prepare(pair.world, &error), RB_STATUS_UNSUPPORTED);
        (void)snprintf(expected, sizeof expected, "spring \"coil %s\": ", names[i]);
        assert_true(says(&error, expected));
        rbDestroySpring(pair.world, springs[i]);
    }
    assert_int_equal(rbWorld_Prepare(pair.world, &error), RB_STATUS_OK);
    rbDestroyWorld(pair.world);
}

RB_TEST_GROUP(test_world_joints, cmocka_unit_test(badJointsAreRefusedByName),
              cmocka_unit_test(namesAreSharedByJointsAndSprings),
              cmocka_unit_test(jointsReportTheirDefinition),
              cmocka_unit_test(hingeStateFollowsItsBodies),
              cmocka_unit_test(laterShapesLeaveTheJointInPlace),
              cmocka_unit_test(bodiesTakeTheirJointsWithThem),
              cmocka_unit_test(settingAStateAccountsForTheSpringsEnergy),
              cmocka_unit_test(badSpringsAreRefusedByName),
              cmocka_unit_test(enginesWithoutJointsRefuseThem),
              cmocka_unit_test(badStepSettingsAreRefused),
              cmocka_unit_test(targetsAndVelocitiesAreChecked), cmocka_unit_test(dragsAreChecked),
              cmocka_unit_test(openJointsAreNamedWithTheirGap),
              cmocka_unit_test(destroyedLinksAreNotNamed));
