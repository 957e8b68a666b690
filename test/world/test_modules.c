// Modules behind interfaces: every row of the tables is selected by its name and replaces another
// one. prop_loops.c proves that exchanging broad phases changes no bit, phys_classical.c that the
// classical methods follow closed forms.
#include "joint_scenes.h"

#include <rattleback/lab_joints.h>

#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------------ names

// A table as strings and numbers, whatever its enumeration.
typedef struct Table {
    const char* title;
    int count;             // of built-in rows
    int (*getCount)(void); // of all rows, where rows can be registered; otherwise NULL
    const char* (*name)(int row);
    int (*find)(const char* name);
} Table;

#define AS_TABLE(type)                      \
    static const char* type##Name(int row)  \
    {                                       \
        return type##_Name((type)row);      \
    }                                       \
    static int type##Find(const char* name) \
    {                                       \
        return (int)type##_Find(name);      \
    }

AS_TABLE(rbEngineType)
AS_TABLE(rbStepMethod)
AS_TABLE(rbStepScheme)
AS_TABLE(rbSolverType)
AS_TABLE(rbJointType)
AS_TABLE(rbMotorType)
AS_TABLE(rbMotionType)
AS_TABLE(rbForceType)
AS_TABLE(rbBroadPhaseType)
AS_TABLE(rbPairMethod)
AS_TABLE(rbShapeType)
AS_TABLE(rbImpactLaw)
AS_TABLE(rbImpactOrder)
AS_TABLE(rbCombineRule)
AS_TABLE(rbEventLoop)
AS_TABLE(rbDetector)
AS_TABLE(rbLastingContact)

#define TABLE(type, count)                         \
    {                                              \
#type, count, NULL, type##Name, type##Find \
    }
#define OPEN_TABLE(type, count)                               \
    {                                                         \
#type, count, type##_GetCount, type##Name, type##Find \
    }

static const Table tables[] = {
    TABLE(rbEngineType, RB_ENGINE_COUNT),         OPEN_TABLE(rbStepMethod, RB_METHOD_COUNT),
    TABLE(rbStepScheme, RB_SCHEME_COUNT),         OPEN_TABLE(rbSolverType, RB_SOLVER_COUNT),
    TABLE(rbJointType, RB_JOINT_COUNT),           TABLE(rbMotorType, RB_MOTOR_COUNT),
    TABLE(rbMotionType, RB_MOTION_COUNT),         TABLE(rbForceType, RB_FORCE_COUNT),
    OPEN_TABLE(rbBroadPhaseType, RB_BROAD_COUNT), OPEN_TABLE(rbPairMethod, RB_PAIR_COUNT),
    TABLE(rbShapeType, RB_SHAPE_COUNT),           TABLE(rbImpactLaw, RB_IMPACT_LAW_COUNT),
    TABLE(rbImpactOrder, RB_ORDER_COUNT),         TABLE(rbCombineRule, RB_COMBINE_COUNT),
    OPEN_TABLE(rbEventLoop, RB_LOOP_COUNT),       OPEN_TABLE(rbDetector, RB_DETECTOR_COUNT),
    TABLE(rbLastingContact, RB_LASTING_COUNT),
};

// B-86. Finding it again also proves uniqueness: the first of two rows with one name would be
// found.
static void rowsHaveNamesOfTheirOwn(void** state)
{
    (void)state;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; ++t) {
        const Table* table = &tables[t];
        int count = table->getCount != NULL ? table->getCount() : table->count;
        assert_true(count > 1 && count >= table->count);
        for (int row = 0; row < count; ++row) {
            const char* name = table->name(row);
            if (name == NULL || name[0] == '\0' || table->find(name) != row) {
                print_error("%s, row %d: %s\n", table->title, row, name != NULL ? name : "NULL");
                fail();
            }
        }
        assert_int_equal(table->find("no such module"), count);
        assert_int_equal(table->find(""), count);
    }
    assert_string_equal(rbStepMethod_Name((rbStepMethod)rbStepMethod_GetCount()), "unknown");
    assert_string_equal(rbStepScheme_Name(RB_SCHEME_COUNT), "unknown");
}

// ------------------------------------------------------------------------------- joint simulation

// m, of joints and of the motion. Springs in place of joints deflect by about g/Omega^2, 0.1 mm,
// for every bar that hangs on them, and more while the bars swing.
static double getAccuracy(const char* method)
{
    if (strcmp(method, "impulses") == 0) {
        return 1e-9;
    }
    return strcmp(method, "penalty") == 0 ? 2e-3 : 1e-8;
}

static rbWorld* makeJointWorld(const char* method, const char* solver)
{
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = rbEngineType_Find("step");
    def.step.method = rbStepMethod_Find(method);
    def.step.solver = rbSolverType_Find(solver);
    def.step.order = 4;
    rbClassicalSettings classical = rbDefaultClassicalSettings();
    classical.penaltyFrequency = 300.0;
    rbStepSettings_SetClassical(&def.step, &classical);
    def.step.tolerance = getAccuracy(method);
    rbWorld* world = rbCreateWorld(&def, &error);
    if (world == NULL) {
        print_error("%s, %s: %s\n", method, solver, error.message);
        fail();
    }
    return world;
}

static const rbBodyId ground = {0, 0};

static const rbVec3 axisY = {0.0, 1.0, 0.0};
static const rbVec3 axisZ = {0.0, 0.0, 1.0};

// A bar on a hinge of an existing body.
static rbBodyId hangBar(rbWorld* world, rbBodyId from, rbVec3 anchor, rbVec3 position)
{
    rbJointDef def = rbDefaultJointDef();
    def.type = RB_JOINT_HINGE;
    def.bodyA = from;
    def.bodyB = addBody(world, NULL, 1.0, position);
    (void)join(world, &def, anchor, axisY);
    return def.bodyB;
}

// Bars of 1 m along x, hung at one end or, as a loop, at both.
static rbBodyId addChain(rbWorld* world, int count, double y, bool isLoop)
{
    rbBodyId last = ground;
    for (int i = 0; i < count; ++i) {
        last = hangBar(world, last, rbMakeVec3(i, y, 0.0), rbMakeVec3(i + 0.5, y, 0.0));
    }
    if (isLoop) { // free along x, otherwise it could not sag
        rbJointDef def = rbDefaultJointDef();
        def.type = RB_JOINT_PLANE;
        def.bodyB = last;
        (void)join(world, &def, rbMakeVec3(count, y, 0.0), axisZ);
    }
    return last;
}

// A bar hung off its center with others hung all along it: many joints share one body.
static rbBodyId addHub(rbWorld* world, int count, double y)
{
    rbBodyId hub = hangBar(world, ground, rbMakeVec3(0.1, y, 0.0), rbMakeVec3(0.0, y, 0.0));
    rbBodyId last = hub;
    for (int i = 0; i < count; ++i) {
        last = hangBar(world, hub, rbMakeVec3(0.1 * i, y, 0.0), rbMakeVec3(0.1 * i + 0.2, y, -0.3));
    }
    return last;
}

static rbBodyState runTo(rbWorld* world, rbBodyId body, double time, const char* name)
{
    rbStepReport report = rbWorld_AdvanceTo(world, time);
    if (report.status != RB_STATUS_OK) {
        print_error("%s: %s\n", name, rbWorld_GetError(world).message);
        fail();
    }
    return rbBody_GetState(world, body);
}

// B-86, B-87. All solvers solve the same equations; the other methods solve the same mechanism,
// each to its own accuracy.
static void jointModulesMoveOneMechanismAlike(void** state)
{
    (void)state;
    rbVec3 truth = RB_VEC3_ZERO;
    for (int method = 0; method < rbStepMethod_GetCount(); ++method) {
        const char* methodName = rbStepMethod_Name((rbStepMethod)method);
        int solvers = method == RB_METHOD_IMPULSES ? rbSolverType_GetCount() : 1;
        for (int solver = 0; solver < solvers; ++solver) {
            const char* solverName = rbSolverType_Name((rbSolverType)solver);
            rbWorld* world = makeJointWorld(methodName, solverName);
            rbBodyId end = addChain(world, 3, 0.0, false);
            rbVec3 place = runTo(world, end, 0.2, methodName).center;
            truth = method == 0 && solver == 0 ? place : truth;
            double error = rbDistance(place, truth);
            if (!(error <= getAccuracy(methodName))) {
                print_error("%s, %s: off by %g m\n", methodName, solverName, error);
                fail();
            }
            rbDestroyWorld(world);
        }
    }
    assert_true(truth.z < -0.15); // it fell
}

// B-86, B-87. In one world every mechanism has its suitable solver, and moves to the last bit as it
// does alone with that solver by name.
static void mechanismsHaveTheirOwnSolvers(void** state)
{
    (void)state;
    static const char* const names[3] = {"direct", "direct", "tree"};
    rbWorld* world = makeJointWorld("impulses", "auto");
    rbBodyId together[3] = {addChain(world, 3, 0.0, false), addChain(world, 3, 5.0, true),
                            addHub(world, 12, 10.0)};
    rbBodyState states[3];
    for (int i = 0; i < 3; ++i) {
        states[i] = runTo(world, together[i], 0.1, "auto");
    }
    assert_int_equal(rbWorld_GetStepStatistics(world).mechanismCount, 3);
    rbDestroyWorld(world);
    for (int solver = 1; solver < rbSolverType_GetCount(); ++solver) {
        const char* name = rbSolverType_Name((rbSolverType)solver);
        for (int i = 0; i < 3; ++i) {
            world = makeJointWorld("impulses", name);
            rbBodyId body = i == 2 ? addHub(world, 12, 10.0) : addChain(world, 3, 5.0 * i, i == 1);
            rbBodyState alone = runTo(world, body, 0.1, name);
            double apart = rbDistance(alone.center, states[i].center);
            bool isEqual = apart == 0.0;
            assert_true(apart < 1e-9);
            // The other of the two rounds differently; cut is direct where there is nothing to cut.
            bool isOwn = strcmp(name, names[i]) == 0;
            bool isOther = !isOwn && (solver == RB_SOLVER_DIRECT || solver == RB_SOLVER_TREE);
            if ((isOwn && !isEqual) || (isOther && isEqual)) {
                print_error("mechanism %d, %s: %d\n", i, name, isEqual);
                fail();
            }
            rbDestroyWorld(world);
        }
    }
}

// ------------------------------------------------------------------------------------- collisions

// B-87. A joint may name the solver of its mechanism, so different solvers coexist.
static void jointsNameTheSolversOfTheirMechanisms(void** state)
{
    (void)state;
    static const rbSolverType asked[] = {RB_SOLVER_DIRECT, RB_SOLVER_TREE, RB_SOLVER_ITERATIVE};
    rbBodyId bodies[3];
    rbWorld* world = makeJointWorld("impulses", "auto");
    for (int i = 0; i < 3; ++i) {
        bodies[i] = addChain(world, 3, 5.0 * i, false);
        // A second joint at the end, which adds no constraint to the first ones.
        rbJointDef def = rbDefaultJointDef();
        def.type = RB_JOINT_PLANE;
        def.bodyB = bodies[i];
        def.solver = asked[i];
        (void)join(world, &def, rbMakeVec3(3.0, 5.0 * i, 0.0), axisZ);
    }
    for (int i = 0; i < 3; ++i) {
        const char* name = rbSolverType_Name(asked[i]);
        rbBodyState together = runTo(world, bodies[i], 0.1, name);
        rbWorld* own = makeJointWorld("impulses", name);
        rbBodyState alone = runTo(own, addChain(own, 3, 5.0 * i, true), 0.1, name);
        checkNear(rbDistance(alone.center, together.center), 0.0, 0.0);
        rbDestroyWorld(own);
    }
    rbJointDef bad = rbDefaultJointDef();
    rbError error = {0};
    bad.bodyB = bodies[0];
    bad.solver = (rbSolverType)rbSolverType_GetCount();
    assert_true(RB_IS_NULL(rbCreateJoint(world, &bad, &error)));
    assert_non_null(strstr(error.message, "solver"));
    rbDestroyWorld(world);
}

// B-86. Laws and orders of impacts are exchanged by name: a ball of e = 0.5 on a floor leaves at
// half its speed under all of them, and collisions are exchanged as a whole with the engine.
static void impactModulesAgreeOnABall(void** state)
{
    (void)state;
    for (int i = 0; i < RB_IMPACT_LAW_COUNT * RB_ORDER_COUNT * rbEventLoop_GetCount(); ++i) {
        rbWorldDef def = rbDefaultWorldDef();
        def.engine = rbEngineType_Find("event");
        def.gravity = RB_VEC3_ZERO;
        def.event.law = (rbImpactLaw)(i % RB_IMPACT_LAW_COUNT);
        def.event.order = (rbImpactOrder)(i / RB_IMPACT_LAW_COUNT % RB_ORDER_COUNT);
        def.event.loop = (rbEventLoop)(i / RB_IMPACT_LAW_COUNT / RB_ORDER_COUNT);
        rbWorld* world = rbCreateWorld(&def, NULL);
        rbShapeDef shape = rbDefaultShapeDef();
        shape.material.restitution = 0.5;
        rbBodyDef body = rbDefaultBodyDef();
        body.type = RB_BODY_STATIC;
        rbBodyId floor = rbCreateBody(world, &body, NULL);
        rbVec3 up = {0.0, 0.0, 1.0};
        shape.geometry = rbWorld_AddGeometry(world, rbCreatePlane(up, 0.0, NULL));
        assert_false(RB_IS_NULL(rbCreateShape(world, floor, &shape, NULL)));
        body.type = RB_BODY_DYNAMIC;
        body.position = rbMakeVec3(0.0, 0.0, 1.0);
        body.linearVelocity = rbMakeVec3(0.0, 0.0, -2.0);
        rbBodyId ball = rbCreateBody(world, &body, NULL);
        shape.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.5, NULL));
        assert_false(RB_IS_NULL(rbCreateShape(world, ball, &shape, NULL)));
        rbBodyState after = runTo(world, ball, 0.5, rbImpactLaw_Name(def.event.law));
        checkNear(after.linearVelocity.z, 1.0, 1e-14);
        checkNear(after.center.z, 0.75, 1e-14);
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(test_modules, cmocka_unit_test(rowsHaveNamesOfTheirOwn),
              cmocka_unit_test(jointModulesMoveOneMechanismAlike),
              cmocka_unit_test(mechanismsHaveTheirOwnSolvers),
              cmocka_unit_test(jointsNameTheSolversOfTheirMechanisms),
              cmocka_unit_test(impactModulesAgreeOnABall));
