// Scenes of the step engine: its settings, joints, springs, motors, copies, trees and probes.
#include "io/scene/scene_joints.h"
#include "scene_support.h"

#include <rattleback/lab_joints.h>

#include <math.h>

#define SPHERE "\"mass\": 2, \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}}]"
// Two balls, a fixed block, a row of links and a grid of knots, and the objects under test.
#define SCENE(keys)                                                                            \
    "{\"rattleback\": 1, \"engine\": \"step\", \"bodies\": ["                                  \
    "{\"name\": \"a\", \"position\": [1, 0, 0], " SPHERE "},"                                  \
    "{\"name\": \"b\", \"position\": [2, 0, 0], \"orientation\": {\"axis\": [0, 0, 1], "       \
    "\"angle\": 1.5707963267948966}, " SPHERE "},"                                             \
    "{\"name\": \"block\", \"type\": \"static\"}, {\"name\": \"wall\", \"type\": \"static\"}," \
    "{\"name\": \"link\", \"position\": [0.25, 0, 5], " SPHERE                                 \
    ", \"repeat\": {\"count\": [4, 1, 1], \"spacing\": [0.5, 0, 0]}},"                         \
    "{\"name\": \"knot\", \"position\": [0, 0, 9], " SPHERE                                    \
    ", \"repeat\": {\"count\": [3, 2, 1], \"spacing\": [1, 1, 1]}}], " keys "}"
#define JOINT(keys) SCENE("\"joints\": [{\"name\": \"j\", " keys "}]")
#define AB "\"bodies\": [\"a\", \"b\"], "

static rbJointState getJoint(const rbWorld* world, const char* name)
{
    rbJointId jointId = rbWorld_FindJoint(world, name);
    assert_false(RB_IS_NULL(jointId));
    return rbJoint_GetState(world, jointId);
}

static void checkPoint(rbVec3 found, double x, double y, double z)
{
    checkNear(found.x, x, 1e-14);
    checkNear(found.y, y, 1e-14);
    checkNear(found.z, z, 1e-14);
}

// ------------------------------------------------------------------------------------- settings

static void settingsOfTheStepEngineAreRead(void** state)
{
    (void)state;
    rbScene* scene = readText(
        SCENE("\"step\": {\"step\": 0.01, \"order\": 6, \"scheme\": \"middle\", \"method\": "
              "\"penalty\", \"solver\": \"tree\", \"tolerance\": 1e-9, \"velocityTolerance\": "
              "1e-7, \"errorMax\": 1e-5, \"accuracy\": \"exact\", \"horizon\": 3, "
              "\"iterationsMax\": 20, \"halvingsMax\": "
              "4, \"impulseMax\": 7, \"assembleTolerance\": 0.1, \"assemble\": true, "
              "\"velocityCorrection\": false, \"baumgarte\": {\"alpha\": 5, \"beta\": 6}, "
              "\"penalty\": {\"frequency\": 50, \"damping\": 2}}"));
    assert_int_equal(rbScene_GetInfo(scene)->engineType, RB_ENGINE_STEP);
    const rbStepSettings* step = &rbScene_GetInfo(scene)->step;
    assert_int_equal(step->accuracy, RB_ACCURACY_EXACT);
    assert_int_equal(step->order, 6);
    assert_int_equal(step->scheme, RB_SCHEME_MIDDLE);
    assert_int_equal(step->method, rbStepMethod_Find("penalty"));
    assert_int_equal(step->solver, RB_SOLVER_TREE);
    assert_int_equal(step->iterationsMax, 20);
    assert_int_equal(step->halvingsMax, 4);
    assert_true(step->isAssembleAllowed);
    assert_false(step->hasVelocityCorrection);
    rbClassicalSettings classical = rbStepSettings_GetClassical(step);
    const double numbers[][2] = {{step->step, 0.01},
                                 {step->tolerance, 1e-9},
                                 {step->velocityTolerance, 1e-7},
                                 {step->errorMax, 1e-5},
                                 {step->horizon, 3.0},
                                 {step->impulseMax, 7.0},
                                 {classical.baumgarteAlpha, 5},
                                 {classical.baumgarteBeta, 6},
                                 {step->assembleTolerance, 0.1},
                                 {classical.penaltyFrequency, 50},
                                 {classical.penaltyDamping, 2}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        checkNear(numbers[i][0], numbers[i][1], 0.0);
    }
    rbDestroyScene(scene);
}

// Omitted values are the defaults of a world; an error alone applies to the whole run.
static void stepSettingsLeftOutAreThoseOfTheWorld(void** state)
{
    (void)state;
    rbStepSettings own = rbDefaultWorldDef().step;
    static const char* const texts[] = {SCENE("\"duration\": 7"), SCENE("\"step\": {}")};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        rbScene* scene = readText(texts[i]);
        const rbStepSettings* step = &rbScene_GetInfo(scene)->step;
        checkNear(step->step, own.step, 0.0);
        checkNear(step->tolerance, own.tolerance, 0.0);
        checkNear(step->horizon, own.horizon, 0.0);
        assert_int_equal(step->order, own.order);
        assert_int_equal(step->method, own.method);
        assert_int_equal(step->solver, own.solver);
        assert_false(step->isAssembleAllowed);
        assert_true(step->hasVelocityCorrection);
        assert_true(isinf(step->impulseMax));
        rbDestroyScene(scene);
    }
    rbScene* scene = readText(SCENE("\"duration\": 7, \"step\": {\"accuracy\": \"exact\"}"));
    checkNear(rbScene_GetInfo(scene)->step.horizon, 7.0, 0.0);
    rbDestroyScene(scene);
}

static void badStepSettingsAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {SCENE("\"step\": 1"), RB_STATUS_INVALID, "/step: found the number 1"},
        {SCENE("\"step\": {\"step\": 0}"), RB_STATUS_INVALID, "/step/step: step is 0 s"},
        {SCENE("\"step\": {\"order\": 3}"), RB_STATUS_INVALID,
         "/step/order: order is 3; expected 2, 4, 6, 8 or 10"},
        {SCENE("\"step\": {\"order\": 12}"), RB_STATUS_INVALID, "expected 2, 4, 6, 8 or 10"},
        {SCENE("\"step\": {\"solver\": \"directt\"}"), RB_STATUS_INVALID,
         "/step/solver: unknown solver \"directt\"; did you mean \"direct\"?"},
        {SCENE("\"step\": {\"method\": \"zz\"}"), RB_STATUS_INVALID,
         "unknown method \"zz\"; expected impulses, penalty, multipliers, baraff or reduced"},
        {SCENE("\"step\": {\"scheme\": \"zz\"}"), RB_STATUS_INVALID, "expected start or middle"},
        {SCENE("\"step\": {\"tolerance\": 0}"), RB_STATUS_INVALID, "tolerance is 0 m and rad"},
        {SCENE("\"step\": {\"accuracy\": 1e-6}"), RB_STATUS_INVALID,
         "/step/accuracy: found the number 1e-06; expected \"game\", \"engineering\" or \"exact\"; "
         "an "
         "error of the motion in m is \"errorMax\" of \"exact\""},
        {SCENE("\"step\": {\"accuracy\": \"exakt\"}"), RB_STATUS_INVALID,
         "/step/accuracy: unknown accuracy \"exakt\"; did you mean \"exact\"?"},
        {SCENE("\"step\": {\"halvingsMax\": 31}"), RB_STATUS_INVALID, "halvingsMax is 31"},
        {SCENE("\"step\": {\"impulseMax\": 0}"), RB_STATUS_INVALID, "impulseMax is 0 N s"},
        {SCENE("\"step\": {\"baumgarte\": {\"gamma\": 1}}"), RB_STATUS_INVALID,
         "/step/baumgarte/gamma: unknown key"},
        {SCENE("\"step\": {\"penalty\": {\"frequency\": 0}}"), RB_STATUS_INVALID,
         "/step/penalty/frequency: frequency is 0 1/s"},
    };
    CHECK_CASES(cases);
}

// --------------------------------------------------------------------------------------- joints

// Every type and alias, with its required keys.
static void everyTypeOfJointIsRead(void** state)
{
    (void)state;
#define POINT "\"anchor\": [1.5, 0, 0]"
#define AXIS ", \"axis\": [0, 2, 0]"
#define AXES ", \"axes\": [[0, 0, 1], [0, 1, 0]]"
    static const struct {
        const char* keys;
        rbJointType type;
    } types[] = {
        {"\"ball\", " POINT, RB_JOINT_BALL},
        {"\"spherical\", " POINT, RB_JOINT_BALL},
        {"\"line\", " POINT AXIS, RB_JOINT_LINE},
        {"\"plane\", " POINT AXIS, RB_JOINT_PLANE},
        {"\"distance\"", RB_JOINT_DISTANCE},
        {"\"rod\", \"distance\": 1", RB_JOINT_DISTANCE},
        {"\"line-distance\"" AXIS, RB_JOINT_LINE_DISTANCE},
        {"\"plane-distance\", \"axis\": [1, 0, 0]", RB_JOINT_PLANE_DISTANCE},
        {"\"translation\"", RB_JOINT_TRANSLATION},
        {"\"direction\"" AXIS, RB_JOINT_DIRECTION},
        {"\"double-rotation\"" AXES, RB_JOINT_DOUBLE_ROTATION},
        {"\"hinge\", " POINT AXIS, RB_JOINT_HINGE},
        {"\"revolute\", " POINT AXIS, RB_JOINT_HINGE},
        {"\"hinge-points\", " POINT AXIS, RB_JOINT_HINGE_POINTS},
        {"\"cylindrical\", " POINT AXIS, RB_JOINT_CYLINDRICAL},
        {"\"rail-hinge\", " POINT AXIS, RB_JOINT_CYLINDRICAL},
        {"\"prismatic\", " POINT AXIS, RB_JOINT_PRISMATIC},
        {"\"rail\", " POINT AXIS, RB_JOINT_PRISMATIC},
        {"\"slider\", " POINT AXIS, RB_JOINT_PRISMATIC},
        {"\"universal\", " POINT AXES, RB_JOINT_UNIVERSAL},
        {"\"cardan\", " POINT AXES, RB_JOINT_UNIVERSAL},
        {"\"fixed\", " POINT, RB_JOINT_FIXED},
        {"\"weld\", " POINT, RB_JOINT_FIXED},
        {"\"fixation\", " POINT, RB_JOINT_FIXED},
        {"\"parts\", \"parts\": [{\"type\": \"line\", " POINT AXIS
         "}, {\"type\": \"direction\"" AXIS "}]",
         RB_JOINT_PARTS},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        char text[4096];
        (void)snprintf(text, sizeof text, JOINT(AB "\"type\": %s"), types[i].keys);
        rbScene* scene = readText(text);
        rbWorld* world = makeWorld(scene);
        rbJointId jointId = rbWorld_FindJoint(world, "j");
        assert_int_equal(rbJoint_GetType(world, jointId), types[i].type);
        assert_int_equal(rbScene_GetInfo(scene)->jointCount, 1);
        rbJointState joint = rbJoint_GetState(world, jointId);
        checkNear(joint.positionError, 0.0, 1e-14);
        checkNear(joint.angleError, 0.0, 1e-14);
        assert_int_equal(rbGetFreedomCount(types[i].type), joint.freedomCount);
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
}

// World points and body points define the same joint; a body's frame is that of "position".
static void anchorsAndAxesAreFoundInAnyFrame(void** state)
{
    (void)state;
    static const char* const places[] = {
        "\"anchor\": [1.5, 0.5, 0], \"axis\": [0, 3, 0]",
        "\"anchorA\": [0.5, 0.5, 0], \"axisA\": [0, 1, 0]",
        "\"anchorB\": [0.5, 0.5, 0], \"axisB\": [1, 0, 0]",
        ("\"anchorA\": [0.5, 0.5, 0], \"anchorB\": [0.5, 0.5, 0], "
         "\"axisA\": [0, 1, 0], \"axisB\": [1, 0, 0]"),
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
        char text[4096];
        (void)snprintf(text, sizeof text, JOINT(AB "\"type\": \"hinge\", %s"), places[i]);
        rbScene* scene = readText(text);
        rbWorld* world = makeWorld(scene);
        rbJointState joint = getJoint(world, "j");
        checkPoint(joint.pointA, 1.5, 0.5, 0.0);
        checkPoint(joint.pointB, 1.5, 0.5, 0.0);
        checkPoint(joint.axis, 0.0, 1.0, 0.0);
        checkNear(joint.angleError, 0.0, 1e-14);
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
}

static void bodiesOfAJointAreNamedInTwoWays(void** state)
{
    (void)state;
    static const char* const ends[] = {"\"bodies\": [\"world\", \"b\"]", "\"bodyB\": \"b\"",
                                       "\"bodyA\": \"world\", \"bodyB\": \"b\""};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i) {
        char text[4096];
        (void)snprintf(text, sizeof text, JOINT("\"type\": \"ball\", \"anchor\": [3, 0, 0], %s"),
                       ends[i]);
        rbScene* scene = readText(text);
        assert_int_equal(rbScene_GetInfo(scene)->anchorCount, 1);
        rbWorld* world = makeWorld(scene);
        rbJointId jointId = rbWorld_FindJoint(world, "j");
        assert_true(RB_IS_NULL(rbJoint_GetBodyA(world, jointId)));
        assert_true(RB_ID_EQUALS(rbJoint_GetBodyB(world, jointId), rbWorld_FindBody(world, "b")));
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
}

// Including motors, springs and velocity-only joints.
static void everyKeyOfAJointIsRead(void** state)
{
    (void)state;
    rbScene* scene = readText(SCENE(
        "\"joints\": [{\"type\": \"hinge\", " AB POINT AXIS
        ", \"orientation\": [0, 1, 0, 0], \"stiffness\": 1, \"rest\": 2, \"damping\": 3, "
        "\"friction\": 4, \"motor\": {\"type\": \"position\", \"gain\": 5, \"integralTime\": 6, "
        "\"derivativeTime\": 7, \"window\": 8, \"forceMax\": 9, \"schedule\": [[0, 1], [2, 3]]}}, "
        "{\"name\": \"c\", \"type\": \"cylindrical\", " AB POINT AXIS
        ", \"freedoms\": [{\"damping\": 1}, {\"motor\": {\"type\": \"velocity\", \"target\": "
        "5}}]}, "
        "{\"name\": \"v\", \"type\": \"ball\", " AB POINT
        ", \"velocityOnly\": {\"linear\": [1, 2, 3], \"angular\": [4, 5, 6], \"forceMax\": 7}}, "
        "{\"name\": \"d\", \"type\": \"distance\", \"distance\": 1.25, " AB
        "\"anchorA\": [0, 0, 1]}]"));
    const rbSceneJoint* joints = scene->joints.data;
    assert_int_equal(scene->joints.count, 4);
    assert_string_equal(joints[0].name, "joint0");
    const rbFreedomDef* freedom = &joints[0].def.freedoms[0];
    const rbMotorDef* motor = &freedom->motor;
    const double numbers[][2] = {
        {joints[0].def.orientation.x, 1.0},
        {freedom->stiffness, 1.0},
        {freedom->rest, 2.0},
        {freedom->damping, 3.0},
        {freedom->friction, 4.0},
        {motor->gain, 5.0},
        {motor->integralTime, 6.0},
        {motor->derivativeTime, 7.0},
        {motor->window, 8.0},
        {motor->forceMax, 9.0},
        {motor->schedule[1].time, 2},
        {motor->schedule[1].value, 3},
        {joints[1].def.freedoms[0].damping, 1.0},
        {joints[1].def.freedoms[1].motor.target, 5.0},
        {joints[2].def.linearVelocity.y, 2.0},
        {joints[2].def.angularVelocity.z, 6.0},
        {joints[2].def.forceMax, 7.0},
        {joints[3].def.distance, 1.25},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        checkNear(numbers[i][0], numbers[i][1], 0.0);
    }
    assert_int_equal(motor->scheduleCount, 2);
    assert_int_equal(motor->type, RB_MOTOR_POSITION);
    assert_int_equal(joints[1].def.freedoms[1].motor.type, RB_MOTOR_VELOCITY);
    assert_true(isinf(joints[1].def.freedoms[1].motor.forceMax));
    assert_string_equal(rbScene_GetInfo(scene)->freeMotor, "c");
    assert_true(joints[2].def.isVelocityOnly);
    assert_int_equal(rbScene_GetInfo(scene)->anchorCount, 0);
    rbDestroyScene(scene);
}

// B-82
static void limitsOfJointsAreRead(void** state)
{
    (void)state;
    rbScene* scene =
        readText(SCENE("\"joints\": [{\"name\": \"h\", \"type\": \"hinge\", " AB POINT AXIS
                       ", \"lower\": -1, \"upper\": 2, \"restitution\": 0.5}, "
                       "{\"name\": \"c\", \"type\": \"cylindrical\", " AB POINT AXIS
                       ", \"freedoms\": [{\"upper\": 3}, {\"lower\": 0, \"restitution\": 1}]}, "
                       "{\"name\": \"b\", \"type\": \"ball\", " AB POINT AXIS
                       ", \"cone\": 0.7, \"twist\": [-0.1, 0.2], \"restitution\": 0.25}, "
                       "{\"name\": \"n\", \"type\": \"hinge\", " AB POINT AXIS "}]"));
    const rbSceneJoint* joints = scene->joints.data;
    static const rbLimitDef expected[4][2] = {
        {{-1.0, 2.0, 0.5}, {-INFINITY, INFINITY, 0.0}},
        {{-INFINITY, 3.0, 0.0}, {0.0, INFINITY, 1.0}},
        {{-INFINITY, 0.7, 0.25}, {-0.1, 0.2, 0.25}},
        {{-INFINITY, INFINITY, 0.0}, {-INFINITY, INFINITY, 0.0}},
    };
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 2; ++k) {
            const rbLimitDef* limit = &joints[i].def.limits[k];
            assert_true(limit->lower == expected[i][k].lower);
            assert_true(limit->upper == expected[i][k].upper);
            assert_true(limit->restitution == expected[i][k].restitution);
        }
    }
    rbDestroyScene(scene);
}

static void badLimitsAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {JOINT("\"type\": \"hinge\", \"lower\": 2, \"upper\": 1, " AB POINT AXIS),
         RB_STATUS_INVALID,
         "/joints/0/lower: joint \"j\": the lower limit 2 is above the upper one, 1"},
        {JOINT("\"type\": \"hinge\", \"cone\": 1, " AB POINT AXIS), RB_STATUS_INVALID,
         "/joints/0/cone: joint \"j\": \"cone\" is only for ball joints"},
        {JOINT("\"type\": \"ball\", \"cone\": 1, " AB "\"anchor\": [0, 0, 0]"), RB_STATUS_INVALID,
         "needs \"axis\""},
        {JOINT("\"type\": \"ball\", \"twist\": [2, 1], " AB POINT AXIS), RB_STATUS_INVALID,
         "/joints/0/twist: joint \"j\": the lower limit 2 is above the upper one, 1"},
        {JOINT("\"type\": \"ball\", \"upper\": 1, " AB POINT), RB_STATUS_INVALID,
         "/joints/0/upper: joint \"j\": a joint of type \"ball\" has no single angle"},
    };
    CHECK_CASES(cases);
}

static void badJointsAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {"{\"rattleback\": 1, \"engine\": \"flight\", \"bodies\": [], \"joints\": [1]}",
         RB_STATUS_INVALID,
         "/joints: the engine \"flight\" has no joints; set \"engine\": \"step\""},
        {JOINT("\"type\": \"hinge\", \"bodies\": [\"a\", \"bb\"]"), RB_STATUS_NOT_FOUND,
         "/joints/0/bodies/1: joint \"j\": there is no body \"bb\"; did you mean \"b\"?"},
        {JOINT("\"type\": \"ball\", \"bodies\": [\"a\", \"zzzzzzzz\"], " POINT),
         RB_STATUS_NOT_FOUND, "there is no body \"zzzzzzzz\"; \"world\" means the world"},
        {JOINT("\"type\": \"ball\", \"bodyA\": \"aa\", " POINT), RB_STATUS_NOT_FOUND,
         "/joints/0/bodyA: joint \"j\": there is no body \"aa\"; did you mean \"a\"?"},
        {JOINT("\"type\": \"ball\", \"bodies\": [\"a\", \"a\"], " POINT), RB_STATUS_INVALID,
         "/joints/0/bodies: joint \"j\": both ends are on the body \"a\""},
        {JOINT("\"type\": \"ball\", \"bodies\": [\"block\", \"wall\"], " POINT), RB_STATUS_INVALID,
         "it can move neither \"block\" nor \"wall\""},
        {JOINT("\"type\": \"ball\", \"bodies\": [\"world\", \"wall\"], " POINT), RB_STATUS_INVALID,
         "neither \"world\" nor \"wall\""},
        {JOINT("\"type\": \"ball\", \"bodies\": [\"a\"], " POINT), RB_STATUS_INVALID,
         "/joints/0/bodies: joint \"j\": found an array of 1 element; expected the names of two "
         "bodies"},
        {JOINT("\"type\": \"ball\", " POINT), RB_STATUS_INVALID, "it needs \"bodies\": [A, B]"},
        {JOINT("\"type\": \"ball\", \"solver\": \"dircet\", " AB POINT), RB_STATUS_INVALID,
         "/joints/0/solver: joint \"j\": unknown solver \"dircet\"; did you mean \"direct\"?"},
        {JOINT("\"type\": \"ball\", " AB "\"bodyA\": \"a\", " POINT), RB_STATUS_INVALID,
         "both \"bodies\" and \"bodyA\" or \"bodyB\" are given"},
        {JOINT("\"type\": \"ball\", \"bodies\": [\"link\", \"a\"], " POINT), RB_STATUS_INVALID,
         "\"link\" means 4 bodies; name one of them, such as \"link[0]\""},
        {JOINT("\"type\": \"ball\", \"bodies\": [\"link[4]\", \"a\"], " POINT), RB_STATUS_NOT_FOUND,
         "bodyA of copy 0 does not exist: \"link\" has only 4 copies"},
        {JOINT(AB "\"anchor\": [0, 0, 0]"), RB_STATUS_INVALID, "needs the key \"type\""},
        {JOINT("\"type\": \"hing\", " AB POINT), RB_STATUS_INVALID,
         "/joints/0/type: joint \"j\": unknown type of joint \"hing\"; did you mean \"hinge\"?"},
        {JOINT("\"type\": \"ball\", " AB "\"axes\": []"), RB_STATUS_INVALID,
         "needs \"anchor\": [x, y, z]"},
        {JOINT("\"type\": \"ball\", " AB POINT ", \"anchorA\": [0, 0, 0]"), RB_STATUS_INVALID,
         "both \"anchor\" (world) and \"anchorA\" or \"anchorB\""},
        {JOINT("\"type\": \"ball\", " AB POINT AXIS), RB_STATUS_INVALID,
         "/joints/0/axis: joint \"j\": a joint of type \"ball\" has no axis; remove it"},
        {JOINT("\"type\": \"hinge\", " AB POINT), RB_STATUS_INVALID, "needs \"axis\": [x, y, z]"},
        {JOINT("\"type\": \"hinge\", " AB POINT ", \"axis\": [0, 0, 0]"), RB_STATUS_INVALID,
         "/joints/0/axis: joint \"j\": the axis is zero; give any vector along it"},
        {JOINT("\"type\": \"hinge\", " AB POINT ", \"axisB\": [0, 0, 0]"), RB_STATUS_INVALID,
         "/joints/0/axisB"},
        {JOINT("\"type\": \"hinge\", " AB POINT AXES), RB_STATUS_INVALID,
         "/joints/0/axes: joint \"j\": a joint of type \"hinge\" has one axis"},
        {JOINT("\"type\": \"universal\", " AB POINT AXIS), RB_STATUS_INVALID, "has two axes; give"},
        {JOINT("\"type\": \"universal\", " AB POINT ", \"axisA\": [1, 0, 0]"), RB_STATUS_INVALID,
         "needs \"axes\": [[x, y, z], [x, y, z]]"},
        {JOINT("\"type\": \"universal\", " AB POINT ", \"axes\": [[1, 0, 0]]"), RB_STATUS_INVALID,
         "/joints/0/axes: joint \"j\": found an array of 1 element; expected two directions"},
        {JOINT("\"type\": \"universal\", " AB POINT ", \"axes\": [[1, 0, 0], [0, 0, 0]]"),
         RB_STATUS_INVALID, "the axis is zero"},
        {JOINT("\"type\": \"ball\", " AB POINT ", \"distance\": 1"), RB_STATUS_INVALID,
         "a joint of type \"ball\" does not hold a distance"},
        {JOINT("\"type\": \"distance\", " AB "\"distance\": -1"), RB_STATUS_INVALID,
         "distance is -1 m"},
        {JOINT("\"type\": \"distance\", \"bodyB\": \"b\""), RB_STATUS_INVALID,
         "to the world needs \"anchorA\": [x, y, z]"},
        {JOINT("\"type\": \"ball\", " AB POINT ", \"orientation\": [1, 0, 0, 0]"),
         RB_STATUS_INVALID, "holds no orientation"},
        {JOINT("\"type\": \"ball\", " AB POINT ", \"friction\": 1"), RB_STATUS_INVALID,
         "/joints/0/friction: joint \"j\": a joint of type \"ball\" has no single angle or "
         "travel on which \"friction\" could act"},
        {JOINT("\"type\": \"cylindrical\", " AB POINT AXIS ", \"damping\": 1"), RB_STATUS_INVALID,
         "has two freedoms, travel and angle; give \"freedoms\""},
        {JOINT("\"type\": \"universal\", " AB POINT AXES ", \"freedoms\": [{}]"), RB_STATUS_INVALID,
         "/joints/0/freedoms: joint \"j\": 1 freedoms; a joint of type"},
        {JOINT("\"type\": \"hinge\", " AB POINT AXIS ", \"damping\": -1"), RB_STATUS_INVALID,
         "damping is -1 N m s/rad or N s/m"},
        {JOINT("\"type\": \"hinge\", " AB POINT AXIS ", \"damping\": 1, \"freedoms\": [{}]"),
         RB_STATUS_INVALID, "use only \"freedoms\""},
        {JOINT("\"type\": \"parts\", " AB "\"axis\": [1, 0, 0]"), RB_STATUS_INVALID,
         "needs \"parts\": [{...}, ...]"},
        {JOINT("\"type\": \"ball\", " AB POINT ", \"parts\": []"), RB_STATUS_INVALID,
         "\"parts\" is only for the type \"parts\""},
        {JOINT("\"type\": \"parts\", " AB "\"parts\": []"), RB_STATUS_INVALID, "0 parts"},
        {JOINT("\"type\": \"parts\", " AB "\"parts\": [{\"type\": \"hinge\"}]"), RB_STATUS_INVALID,
         "/joints/0/parts/0/type: joint \"j\": unknown type of part \"hinge\""},
        {JOINT("\"type\": \"parts\", " AB "\"parts\": [{\"type\": \"ball\", " POINT
               "}, {\"type\": \"translation\"}, {\"type\": \"distance\"}]"),
         RB_STATUS_INVALID, "the parts remove 7 freedoms; two bodies have 6"},
        {JOINT("\"type\": \"ball\", " AB POINT ", \"velocityOnly\": {\"forceMax\": 0}"),
         RB_STATUS_INVALID, "/joints/0/velocityOnly/forceMax"},
        {SCENE("\"joints\": [{\"name\": \"j\", \"type\": \"ball\", " AB POINT
               "}, {\"name\": \"j\", \"type\": \"ball\", " AB POINT "}]"),
         RB_STATUS_INVALID,
         "/joints/1: the name \"j\" is used by /joints/0 too; joints and springs "},
        {SCENE("\"joints\": [{\"name\": \"s\", \"type\": \"ball\", " AB POINT
               "}], \"springs\": [{\"name\": \"s\", \"bodies\": [\"a\", \"b\"]}]"),
         RB_STATUS_INVALID,
         "/springs/0: the name \"s\" is used by /joints/0 too; joints and springs"},
        {SCENE(
             "\"joints\": [{\"name\": \"j[1]\", \"type\": \"ball\", " AB POINT
             "}, {\"name\": \"j\", \"type\": \"ball\", \"bodies\": [\"world\", \"link[x]\"], " POINT
             ", \"repeat\": {\"count\": [2, 1, 1], \"spacing\": [1, 0, 0]}}]"),
         RB_STATUS_INVALID, "/joints/1: the name \"j\" conflicts with /joints/0"},
    };
    CHECK_CASES(cases);
}

// For refused starts the message locates the joints in the file.
static void refusedStartsSayTheirPlaces(void** state)
{
    (void)state;
#define NAIL(name, x)                                                                            \
    "{\"name\": \"" name "\", \"type\": \"ball\", \"bodies\": [\"world\", \"b\"], \"anchorA\": " \
    "[" x ", 0, 0], \"anchorB\": [0, 0, 0]}"
    static const struct {
        const char* text;
        const char* expected[2];
    } cases[] = {
        {SCENE("\"joints\": [" NAIL("one", "2") ", " NAIL("two", "3") "]"),
         {"bad.json: /joints/1: joint \"two\" between", "is open by 1 m"}},
        {SCENE("\"step\": {\"assemble\": true}, \"joints\": [" NAIL("one", "2") ", " NAIL("two",
                                                                                          "3") "]"),
         {"bad.json: /joints/1: joint \"two\" between", "it and joint \"one\" (/joints/0) contra"}},
        {SCENE("\"trees\": [{\"depth\": 2}], "
               "\"joints\": [{\"name\": \"far\", \"type\": \"ball\", \"bodies\": [\"a\", "
               "\"link[2]\"], "
               "\"anchorA\": [0, 0, 0], \"anchorB\": [0, 0, 0]}]"),
         {"bad.json: /joints/0: joint \"far\" between \"a\" and \"link[2]\"", "at the start"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbError error = {0};
        rbSceneSource source = {.name = "bad.json"};
        rbScene* scene = rbReadSceneText(cases[i].text, strlen(cases[i].text), &source, &error);
        if (scene == NULL) {
            fail_msg("case %zu: %s", i, formatError(&error));
        }
        rbWorld* world = rbScene_CreateWorld(scene, &error);
        assert_non_null(world);
        assert_int_equal(rbScene_PrepareWorld(scene, world, NULL), RB_STATUS_INVALID);
        assert_int_equal(rbScene_PrepareWorld(scene, world, &error), RB_STATUS_INVALID);
        for (int k = 0; k < 2; ++k) {
            if (strstr(formatError(&error), cases[i].expected[k]) == NULL) {
                fail_msg("case %zu: %s", i, formatError(&error));
            }
        }
        rbDestroyWorld(world);
        rbDestroyScene(scene);
    }
}

// A velocity-only condition removes no degree of freedom.
static void velocityOnlyJointsAreNoConditions(void** state)
{
    (void)state;
    rbScene* scene = readText(SCENE("\"joints\": [{\"type\": \"ball\", " AB POINT
                                    "}, {\"type\": \"hinge\", " AB POINT AXIS
                                    "}, {\"type\": \"ball\", \"bodies\": [\"world\", \"a\"], " POINT
                                    ", \"velocityOnly\": {\"linear\": [1, 0, 0]}}]"));
    assert_int_equal(rbScene_GetInfo(scene)->conditionCount, 8);
    rbDestroyScene(scene);
}

static void badMotorsAreRefused(void** state)
{
    (void)state;
#define MOTOR(keys) JOINT("\"type\": \"hinge\", " AB POINT AXIS ", \"motor\": {" keys "}")
    static const Case cases[] = {
        {MOTOR("\"type\": \"sped\", \"gain\": 1"), RB_STATUS_INVALID,
         "/joints/0/motor/type: joint \"j\": unknown type of motor \"sped\"; did you mean "
         "\"speed\""},
        {MOTOR("\"gain\": 1"), RB_STATUS_INVALID, "a motor needs the key \"type\""},
        {MOTOR("\"type\": \"speed\""), RB_STATUS_INVALID, "needs \"gain\""},
        {MOTOR("\"type\": \"speed\", \"gain\": 0"), RB_STATUS_INVALID, "gain is 0"},
        {MOTOR("\"type\": \"velocity\", \"gain\": 1"), RB_STATUS_INVALID,
         "a motor of type \"velocity\" has no \"gain\""},
        {MOTOR("\"type\": \"speed\", \"gain\": 1, \"forceMax\": -1"), RB_STATUS_INVALID,
         "forceMax is -1"},
        {MOTOR("\"type\": \"speed\", \"gain\": 1, \"integralTime\": -1"), RB_STATUS_INVALID,
         "integralTime is -1 s"},
        {MOTOR("\"type\": \"velocity\", \"target\": 1, \"schedule\": [[0, 1]]"), RB_STATUS_INVALID,
         "both \"target\" and \"schedule\""},
        {MOTOR("\"type\": \"velocity\", \"schedule\": []"), RB_STATUS_INVALID, "0 set points"},
        {MOTOR("\"type\": \"velocity\", \"schedule\": [[0]]"), RB_STATUS_INVALID,
         "/motor/schedule/0: joint \"j\": found an array of 1 element"},
        {MOTOR("\"type\": \"velocity\", \"schedule\": [[0, 1], [0, 2]]"), RB_STATUS_INVALID,
         "/motor/schedule/1: joint \"j\": the time 0 s follows 0 s; times must increase"},
    };
    CHECK_CASES(cases);
}

// -------------------------------------------------------------------------------- many and springs

// Copies are joined according to their indices, and anchors move along.
static void copiesOfJointsAndSpringsAreMade(void** state)
{
    (void)state;
    rbScene* scene = readText(SCENE(
        "\"joints\": [{\"name\": \"ball\", \"type\": \"ball\", \"bodies\": [\"link[x]\", "
        "\"link[x+1]\"], \"anchor\": [0.5, 0, 5], \"repeat\": {\"count\": [3, 1, 1], \"spacing\": "
        "[0.5, 0, 0]}}, {\"name\": \"net\", \"type\": \"ball\", \"bodies\": [\"knot[x,y,z]\", "
        "\"knot[x,y+1,z]\"], \"anchor\": [0, 0.5, 9], \"repeat\": {\"count\": [3, 1, 1], "
        "\"spacing\": [1, 0, 0]}}], \"springs\": [{\"name\": \"rope\", \"bodies\": [\"world\", "
        "\"knot[x,1,0]\"], \"anchorA\": [0, 1, 10], \"stiffness\": 5, \"restLength\": 0.5, "
        "\"repeat\": {\"count\": [3, 1, 1], \"spacing\": [1, 0, 0]}}]"));
    rbWorld* world = makeWorld(scene);
    assert_int_equal(rbScene_GetInfo(scene)->jointCount, 6);
    assert_int_equal(rbScene_GetInfo(scene)->springCount, 3);
    assert_int_equal(rbScene_GetInfo(scene)->anchorCount, 3);
    assert_int_equal(rbWorld_GetJointCount(world), 6);
    assert_int_equal(rbWorld_GetSpringCount(world), 3);
    for (int i = 0; i < 3; ++i) {
        char name[64];
        (void)snprintf(name, sizeof name, "ball[%d]", i);
        rbJointState ball = getJoint(world, name);
        checkPoint(ball.pointA, 0.5 + 0.5 * i, 0.0, 5.0);
        checkPoint(ball.pointB, 0.5 + 0.5 * i, 0.0, 5.0);
        rbJointId jointId = rbWorld_FindJoint(world, name);
        (void)snprintf(name, sizeof name, "link[%d]", i + 1);
        assert_true(RB_ID_EQUALS(rbJoint_GetBodyB(world, jointId), rbWorld_FindBody(world, name)));
        (void)snprintf(name, sizeof name, "net[%d]", i);
        rbJointState net = getJoint(world, name);
        checkPoint(net.pointB, i, 0.5, 9.0);
        jointId = rbWorld_FindJoint(world, name);
        (void)snprintf(name, sizeof name, "knot[%d]", 3 + i);
        assert_true(RB_ID_EQUALS(rbJoint_GetBodyB(world, jointId), rbWorld_FindBody(world, name)));
        (void)snprintf(name, sizeof name, "rope[%d]", i);
        rbSpringState rope = rbSpring_GetState(world, rbWorld_FindSpring(world, name));
        checkPoint(rope.pointA, i, 1.0, 10.0);
        checkPoint(rope.pointB, i, 1.0, 9.0);
        checkNear(rope.length, 1.0, 1e-14);
        checkNear(rope.energy, 0.5 * 5.0 * 0.25, 1e-13);
    }
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void badCopiesAndSpringsAreRefused(void** state)
{
    (void)state;
#define MANY(a, b)                                                         \
    JOINT("\"type\": \"ball\", \"bodies\": [\"" a "\", \"" b "\"], " POINT \
          ", \"repeat\": {\"count\": [4, 1, 1], \"spacing\": [1, 0, 0]}")
#define SPRING(keys) SCENE("\"springs\": [{\"name\": \"s\", " keys "}]")
    static const Case cases[] = {
        {MANY("link[x]", "link[x+1]"), RB_STATUS_NOT_FOUND,
         "/joints/0/bodies: joint \"j\": bodyB of copy 3 does not exist: \"link\" has only 4 "
         "copies"},
        {MANY("link[x-1]", "link[x]"), RB_STATUS_NOT_FOUND, "bodyA of copy 0 does not exist"},
        {MANY("link[x]", "link[x]"), RB_STATUS_INVALID, "both ends are on the body \"link[0]\""},
        {MANY("knot[x,y,z]", "a"), RB_STATUS_NOT_FOUND, "bodyA of copy 3 does not exist"},
        {MANY("knot[x,y]", "a"), RB_STATUS_INVALID, "has 2 indices; expected one"},
        {MANY("lynk[x]", "a"), RB_STATUS_NOT_FOUND, "no body \"lynk\"; did you mean \"link\"?"},
        {MANY("a[x]", "b"), RB_STATUS_INVALID, "the body \"a\" has no copies"},
        {MANY("link[w]", "b"), RB_STATUS_NOT_FOUND, "there is no body \"link[w]\""},
        {MANY("link[x+]", "b"), RB_STATUS_NOT_FOUND, "there is no body \"link[x+]\""},
        {JOINT("\"type\": \"ball\", " AB POINT ", \"repeat\": {\"count\": [1e4, 1e4, 1e4], "
               "\"spacing\": [0, 0, 0]}"),
         RB_STATUS_LIMIT, "1e+12 copies; the limit is 1000000"},
        {JOINT("\"type\": \"ball\", " AB POINT ", \"repeat\": {\"count\": [0, 1, 1], "
               "\"spacing\": [0, 0, 0]}"),
         RB_STATUS_INVALID, "/joints/0/repeat/count/0: joint \"j\": found 0"},
        {SPRING("\"bodies\": [\"a\", \"c\"]"), RB_STATUS_NOT_FOUND,
         "/springs/0/bodies/1: spring \"s\": there is no body \"c\""},
        {SPRING("\"bodies\": [\"a\", \"a\"]"), RB_STATUS_INVALID, "both ends are on the body"},
        {SPRING("\"bodies\": [\"world\", \"a\"]"), RB_STATUS_INVALID, "needs \"anchorA\""},
        {SPRING("\"bodies\": [\"b\", \"a\"], \"stiffness\": -1"), RB_STATUS_INVALID,
         "/springs/0/stiffness: spring \"s\": stiffness is -1 N/m"},
        {SPRING("\"bodies\": [\"b\", \"a\"], \"restLength\": -1"), RB_STATUS_INVALID,
         "restLength is -1 m"},
        {"{\"rattleback\": 1, \"engine\": \"flight\", \"bodies\": [], \"springs\": [1]}",
         RB_STATUS_INVALID, "/springs: the engine \"flight\" has no springs"},
    };
    CHECK_CASES(cases);
}

// ------------------------------------------------------------------------------------------ trees

// 127 boxes of 0.1 to 1.139 m, each hung on the end of the one above.
static void treesAreBuiltAsTheSpecificationSays(void** state)
{
    (void)state;
    rbScene* scene = readText("{\"rattleback\": 1, \"engine\": \"step\", \"bodies\": [], "
                              "\"trees\": [{\"name\": \"t\", \"depth\": 7, \"start\": [1, 2, 3], "
                              "\"angle\": 0.8, \"turn\": 1.5}]}");
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    assert_int_equal(info->bodyCount, 127);
    assert_int_equal(info->jointCount, 127);
    rbWorld* world = makeWorld(scene);
    assert_int_equal(rbWorld_GetJointCount(world), 127);
    rbJointId ids[127];
    (void)rbWorld_GetJointIds(world, ids, 127);
    for (int i = 0; i < 127; ++i) {
        rbJointState joint = rbJoint_GetState(world, ids[i]);
        checkNear(joint.positionError, 0.0, 1e-14);
    }
    checkPoint(getJoint(world, "t-joint0").pointB, 1.0, 2.0, 3.0);
    double rootLength = 0.1 * pow(1.5, 6);
    rbMassProperties root = rbBody_GetMass(world, rbWorld_FindBody(world, "t0"));
    checkNear(root.mass, 600.0 * 0.04 * 0.04 * rootLength, 1e-12);
    rbMassProperties leaf = rbBody_GetMass(world, rbWorld_FindBody(world, "t6[63]"));
    checkNear(leaf.mass, 600.0 * 0.04 * 0.04 * 0.1, 1e-14);
    checkPoint(getJoint(world, "t-joint1[0]").pointA, 1.0, 2.0, 3.0 - rootLength);
    // The axes of two siblings are the given angle apart.
    rbQuat a = rbBody_GetState(world, rbWorld_FindBody(world, "t3[4]")).transform.q;
    rbQuat b = rbBody_GetState(world, rbWorld_FindBody(world, "t3[5]")).transform.q;
    rbVec3 z = {0.0, 0.0, 1.0};
    checkNear(rbDot(rbRotate(a, z), rbRotate(b, z)), cos(0.8), 1e-14);
    // A body hangs on the body with half its number.
    rbJointId jointId = rbWorld_FindJoint(world, "t-joint3[5]");
    assert_string_equal(rbBody_GetName(world, rbJoint_GetBodyA(world, jointId)), "t2[2]");
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

// The first branch opens toward -side, and the root lies along the direction.
static void treesOpenToTheSideGiven(void** state)
{
    (void)state;
    rbScene* scene = readText("{\"rattleback\": 1, \"engine\": \"step\", \"bodies\": [], "
                              "\"trees\": [{\"depth\": 2, \"direction\": [0, 2, 0], \"side\": "
                              "[0, 1, 3], \"length\": 1, \"ratio\": 1, \"angle\": 1, \"joint\": "
                              "{\"type\": \"hinge\", \"axis\": [1, 0, 0]}}]}");
    rbWorld* world = makeWorld(scene);
    rbVec3 root = rbBody_GetState(world, rbWorld_FindBody(world, "tree0-0")).center;
    checkPoint(root, 0.0, 0.5, 0.0);
    rbVec3 upper = rbBody_GetState(world, rbWorld_FindBody(world, "tree0-1[1]")).center;
    checkPoint(upper, 0.0, 1.0 + 0.5 * cos(0.5), 0.5 * sin(0.5));
    rbVec3 lower = rbBody_GetState(world, rbWorld_FindBody(world, "tree0-1[0]")).center;
    checkPoint(lower, 0.0, 1.0 + 0.5 * cos(0.5), -0.5 * sin(0.5));
    rbJointId jointId = rbWorld_FindJoint(world, "tree0--joint1[1]");
    assert_int_equal(rbJoint_GetType(world, jointId), RB_JOINT_HINGE);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void badTreesAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {SCENE("\"trees\": [{}]"), RB_STATUS_INVALID, "a tree needs the key \"depth\""},
        {SCENE("\"trees\": [{\"depth\": 21}]"), RB_STATUS_INVALID, "depth is 21"},
        {SCENE("\"trees\": [{\"depth\": 2, \"side\": [0, 0, 1]}]"), RB_STATUS_INVALID,
         "/trees/0: tree \"tree0-\": \"direction\" and \"side\" must be different directions"},
        {SCENE("\"trees\": [{\"depth\": 2, \"parent\": \"aa\"}]"), RB_STATUS_NOT_FOUND,
         "/trees/0/parent: tree \"tree0-\": there is no body \"aa\"; did you mean \"a\"?"},
        {SCENE("\"trees\": [{\"depth\": 2, \"joint\": {\"type\": \"distance\"}}]"),
         RB_STATUS_INVALID, "/trees/0/joint/type: tree \"tree0-\": a joint of type \"distance\""},
        {SCENE("\"trees\": [{\"depth\": 2, \"joint\": {\"type\": \"hinge\"}}]"), RB_STATUS_INVALID,
         "needs \"axis\""},
        {SCENE("\"trees\": [{\"name\": \"t\", \"depth\": 1}, {\"name\": \"t\", \"depth\": 1}]"),
         RB_STATUS_INVALID, "a level would be named \"t0\", like another body"},
    };
    CHECK_CASES(cases);
}

// ----------------------------------------------------------------------------------------- probes

static void probesOfJointsAndSpringsAreMeasured(void** state)
{
    (void)state;
    rbScene* scene = readText(SCENE(
        "\"joints\": [{\"name\": \"h\", \"type\": \"hinge\", \"bodies\": [\"world\", \"a\"], "
        "\"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"motor\": {\"type\": \"speed\", \"gain\": 1, "
        "\"target\": 3}}, {\"name\": \"c\", \"type\": \"cylindrical\", \"bodies\": [\"world\", "
        "\"b\"], \"anchor\": [2, 0, 0], \"axis\": [0, 0, 1]}], \"springs\": [{\"name\": \"s\", "
        "\"bodies\": [\"world\", \"b\"], \"anchorA\": [2, 0, 4], \"restLength\": 3, "
        "\"stiffness\": 10}], \"output\": {\"probes\": ["
        "{\"joint\": \"h\", \"quantity\": \"angle\"}, {\"joint\": \"h\", \"quantity\": \"speed\"}, "
        "{\"joint\": \"h\", \"quantity\": \"drive\"}, {\"joint\": \"h\", \"quantity\": "
        "\"motorTarget\"}, {\"joint\": \"h\", \"quantity\": \"force\"}, {\"joint\": \"h\", "
        "\"quantity\": \"torque\"}, {\"joint\": \"h\", \"quantity\": \"positionError\"}, "
        "{\"joint\": \"h\", \"quantity\": \"angleError\"}, {\"joint\": \"h\", \"quantity\": "
        "\"pointA\"}, {\"joint\": \"c\", \"quantity\": \"travel\"}, {\"joint\": \"c\", "
        "\"quantity\": \"angle\"}, {\"name\": \"turning\", \"joint\": \"c\", \"quantity\": "
        "\"speed\", \"freedom\": 1}, {\"spring\": \"s\", \"quantity\": \"length\"}, {\"spring\": "
        "\"s\", \"quantity\": \"springEnergy\"}, {\"spring\": \"s\", \"quantity\": \"speed\"}, "
        "{\"spring\": \"s\", \"quantity\": \"tension\"}, {\"spring\": \"s\", \"quantity\": "
        "\"pointB\"}, {\"quantity\": \"springEnergy\"}, {\"quantity\": \"jointError\"}, "
        "{\"quantity\": \"jointAngleError\"}, {\"quantity\": \"motorWork\"}, {\"quantity\": "
        "\"dissipation\"}, {\"quantity\": \"substeps\"}, {\"quantity\": \"halvings\"}, "
        "{\"quantity\": \"positionIterations\"}, {\"quantity\": \"accuracyEstimate\"}]}"));
    rbWorld* world = makeWorld(scene);
    checkNear(getColumn(scene, world, "h.angle"), 0.0, 1e-14);
    checkNear(getColumn(scene, world, "h.motorTarget"), 3.0, 0.0);
    checkNear(getColumn(scene, world, "h.positionError"), 0.0, 1e-14);
    checkNear(getColumn(scene, world, "h.pointA.x"), 0.0, 1e-14);
    checkNear(getColumn(scene, world, "c.travel"), 0.0, 1e-14);
    checkNear(getColumn(scene, world, "s.length"), 4.0, 1e-14);
    checkNear(getColumn(scene, world, "s.springEnergy"), 5.0, 1e-12);
    checkNear(getColumn(scene, world, "s.pointB.x"), 2.0, 1e-14);
    checkNear(getColumn(scene, world, "world.springEnergy"), 5.0, 1e-12);
    static const char* const units[][2] = {
        {"h.angle", "rad"}, {"h.speed", "rad/s"},  {"h.drive", "N m"}, {"h.motorTarget", "rad/s"},
        {"c.travel", "m"},  {"turning", "rad/s"},  {"s.tension", "N"}, {"h.force.z", "N"},
        {"s.speed", "m/s"}, {"h.torque.x", "N m"}, {"c.angle", "rad"},
    };
    int count = 0;
    const rbProbeColumn* columns = rbScene_GetProbeColumns(scene, &count);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        bool isFound = false;
        for (int c = 0; c < count; ++c) {
            if (strcmp(columns[c].name, units[i][0]) == 0) {
                assert_string_equal(columns[c].unit, units[i][1]);
                isFound = true;
            }
        }
        assert_true(isFound);
    }
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void badProbesOfJointsAreRefused(void** state)
{
    (void)state;
#define PROBE(keys)                                                                                \
    SCENE(                                                                                         \
        "\"joints\": [{\"name\": \"hook\", \"type\": \"hinge\", " AB POINT AXIS                    \
        "}, {\"name\": \"many\", \"type\": \"ball\", \"bodies\": [\"world\", \"link[x]\"], " POINT \
        ", \"repeat\": {\"count\": [2, 1, 1], \"spacing\": [0, 0, 0]}}], \"springs\": "            \
        "[{\"name\": \"coil\", \"bodies\": [\"a\", \"b\"]}], \"output\": {\"probes\": [{" keys     \
        "}]}")
    static const Case cases[] = {
        {PROBE("\"joint\": \"hok\", \"quantity\": \"angle\""), RB_STATUS_NOT_FOUND,
         "/output/probes/0/joint: there is no joint \"hok\"; did you mean \"hook\"?"},
        {PROBE("\"joint\": \"coil\", \"quantity\": \"force\""), RB_STATUS_INVALID,
         "\"coil\" is a spring; name it with \"spring\""},
        {PROBE("\"spring\": \"hook\", \"quantity\": \"length\""), RB_STATUS_INVALID,
         "\"hook\" is a joint; name it with \"joint\""},
        {PROBE("\"joint\": \"many\", \"quantity\": \"force\""), RB_STATUS_INVALID,
         "\"many\" means several joints; name one of them, such as \"many[0]\""},
        {PROBE("\"joint\": \"many[2]\", \"quantity\": \"force\""), RB_STATUS_NOT_FOUND,
         "there is no joint \"many[2]\""},
        {PROBE("\"joint\": \"hook\", \"quantity\": \"travel\""), RB_STATUS_INVALID,
         "the joint \"hook\" of type \"hinge\" has no \"travel\"; it has freedom 0: \"angle\""},
        {PROBE("\"joint\": \"many[0]\", \"quantity\": \"angle\""), RB_STATUS_INVALID,
         "has no \"angle\"; it has no measurable freedom"},
        {PROBE("\"joint\": \"hook\", \"quantity\": \"angle\", \"freedom\": 1"), RB_STATUS_INVALID,
         "has no \"angle\" there; it has freedom 0: \"angle\""},
        {PROBE("\"joint\": \"hook\", \"quantity\": \"force\", \"freedom\": 0"), RB_STATUS_INVALID,
         "\"freedom\" is only for angle"},
        {PROBE("\"joint\": \"hook\", \"quantity\": \"length\""), RB_STATUS_INVALID,
         "\"length\" is a quantity of one spring; name it with \"spring\""},
        {PROBE("\"quantity\": \"angle\""), RB_STATUS_INVALID,
         "\"angle\" is a quantity of one joint; name it with \"joint\""},
        {PROBE("\"joint\": \"hook\", \"quantity\": \"motorWork\""), RB_STATUS_INVALID,
         "\"motorWork\" is a quantity of the whole world; remove \"joint\""},
        {PROBE("\"joint\": \"hook\", \"body\": \"a\", \"quantity\": \"force\""), RB_STATUS_INVALID,
         "give only one of \"body\", \"joint\" and \"spring\""},
    };
    CHECK_CASES(cases);
}

// --set reaches every new key, by index and by name.
static void jointsCanBeOverridden(void** state)
{
    (void)state;
    rbScene* scene = readText(
        SCENE("\"joints\": [{\"name\": \"h\", \"type\": \"hinge\", " AB POINT AXIS
              "}], \"springs\": [{\"name\": \"s\", \"bodies\": [\"a\", \"b\"]}], \"trees\": "
              "[{\"name\": \"t\", \"depth\": 2}]"));
    static const char* const good[] = {"step.order=4",
                                       "step.tolerance=1e-12",
                                       "joints.h.friction=2",
                                       "/joints/0/motor={\"type\": \"velocity\", \"target\": 1}",
                                       "joints.h.motor.target=4",
                                       "springs.s.stiffness=7",
                                       "trees.t.depth=3",
                                       "step.penalty.frequency=9"};
    rbError error = {0};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) {
        if (rbScene_Override(scene, good[i], &error) != RB_STATUS_OK) {
            fail_msg("%s: %s", good[i], formatError(&error));
        }
    }
    assert_int_equal(rbScene_GetInfo(scene)->step.order, 4);
    checkNear(rbStepSettings_GetClassical(&rbScene_GetInfo(scene)->step).penaltyFrequency, 9.0,
              0.0);
    assert_int_equal(rbScene_GetInfo(scene)->jointCount, 8);
    const rbSceneJoint* joint = &scene->joints.data[scene->joints.count - 1];
    checkNear(joint->def.freedoms[0].friction, 2.0, 0.0);
    checkNear(joint->def.freedoms[0].motor.target, 4.0, 0.0);
    checkNear(scene->springs.data[0].def.stiffness, 7.0, 0.0);
    assert_int_equal(rbScene_Override(scene, "joints.h.axis=[0,0,0]", &error), RB_STATUS_INVALID);
    assert_int_equal(rbScene_Override(scene, "engine=flight", &error), RB_STATUS_INVALID);
    // Text and scene agree: reading it again gives the same joints.
    rbScene* again = readText(rbScene_GetText(scene, NULL));
    assert_int_equal(rbScene_GetInfo(again)->jointCount, 8);
    rbDestroyScene(again);
    rbDestroyScene(scene);
}

RB_TEST_GROUP(test_scene_joints, cmocka_unit_test(settingsOfTheStepEngineAreRead),
              cmocka_unit_test(stepSettingsLeftOutAreThoseOfTheWorld),
              cmocka_unit_test(badStepSettingsAreRefused), cmocka_unit_test(everyTypeOfJointIsRead),
              cmocka_unit_test(anchorsAndAxesAreFoundInAnyFrame),
              cmocka_unit_test(bodiesOfAJointAreNamedInTwoWays),
              cmocka_unit_test(everyKeyOfAJointIsRead), cmocka_unit_test(limitsOfJointsAreRead),
              cmocka_unit_test(badLimitsAreRefused), cmocka_unit_test(badJointsAreRefused),
              cmocka_unit_test(refusedStartsSayTheirPlaces),
              cmocka_unit_test(velocityOnlyJointsAreNoConditions),
              cmocka_unit_test(badMotorsAreRefused),
              cmocka_unit_test(copiesOfJointsAndSpringsAreMade),
              cmocka_unit_test(badCopiesAndSpringsAreRefused),
              cmocka_unit_test(treesAreBuiltAsTheSpecificationSays),
              cmocka_unit_test(treesOpenToTheSideGiven), cmocka_unit_test(badTreesAreRefused),
              cmocka_unit_test(probesOfJointsAndSpringsAreMeasured),
              cmocka_unit_test(badProbesOfJointsAreRefused),
              cmocka_unit_test(jointsCanBeOverridden));
