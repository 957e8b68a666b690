// The comparison methods compared with each other; refusals; memory.
#include "mech_scenes.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

// Multipliers, Baraff's method and reduced coordinates are three methods for the same motion.
// B-48, B-49, B-50
static void methodsAgreeOnRandomTrees(void** state)
{
    (void)state;
    static const rbClassicalMethod methods[3] = {RB_CLASSICAL_REDUCED, RB_CLASSICAL_MULTIPLIERS,
                                                 RB_CLASSICAL_BARAFF};
    rbRandom random = {rbTest_Seed(62)};
    for (int n = rbTest_Count(30, 300); n > 0; --n) {
        rbRandom draw = {rbRandom_Bits(&random)};
        MechScene* scenes[3];
        for (int k = 0; k < 3; ++k) {
            rbRandom same = draw;
            scenes[k] = createScene(rbMakeVec3(0.0, 0.0, -9.81));
            int count = 1 + rbRandom_Index(&same, 6);
            bool isFixed = rbRandom_Unit(&same) < 0.7;
            buildRandomTree(scenes[k], &same, count, 4, isFixed);
            stirScene(scenes[k], &same, 0.5);
            rbStepSettings settings = makeSettings(8);
            runScene(scenes[k], methods[k], &settings, 0.1, 200);
        }
        checkBelow(getDeviation(scenes[0], scenes[1]), 1e-10);
        checkBelow(getDeviation(scenes[0], scenes[2]), 1e-10);
        checkBelow(getLargestError(scenes[0]), 1e-12);
        checkBelow(getLargestRate(scenes[0]), 1e-11);
        for (int k = 0; k < 3; ++k) {
            destroyScene(scenes[k]);
        }
    }
}

// Straight chains released from horizontal, half a second.
// B-48, B-49, B-50
static void methodsAgreeOnFallingChains(void** state)
{
    (void)state;
    static const rbClassicalMethod methods[3] = {RB_CLASSICAL_REDUCED, RB_CLASSICAL_MULTIPLIERS,
                                                 RB_CLASSICAL_BARAFF};
    static const rbJointType types[2] = {RB_JOINT_BALL, RB_JOINT_HINGE};
    for (int t = 0; t < 2; ++t) {
        MechScene* scenes[3];
        for (int k = 0; k < 3; ++k) {
            scenes[k] = createScene(rbMakeVec3(0.0, 0.0, -9.81));
            buildChain(scenes[k], types[t], 6);
            rbStepSettings settings = makeSettings(8);
            runScene(scenes[k], methods[k], &settings, 0.5, 500);
        }
        checkBelow(getDeviation(scenes[0], scenes[1]), 1e-10);
        checkBelow(getDeviation(scenes[0], scenes[2]), 1e-10);
        for (int k = 0; k < 3; ++k) {
            destroyScene(scenes[k]);
        }
    }
}

// A four-bar of hinges: a loop, with three redundant rows since the motion is planar.
// B-49, B-50
static void multipliersTakeRedundantLoops(void** state)
{
    (void)state;
    static const rbClassicalMethod methods[2] = {RB_CLASSICAL_MULTIPLIERS, RB_CLASSICAL_BARAFF};
    static const rbVec3 corners[4] = {{0, 0, 0}, {0, 0, 1}, {1.5, 0, 1.25}, {2, 0, 0}};
    MechScene* scenes[2];
    for (int k = 0; k < 2; ++k) {
        MechScene* scene = createScene(rbMakeVec3(0.0, 0.0, -9.81));
        for (int i = 0; i < 3; ++i) {
            addBody(scene, 1.0, rbMakeVec3(0.09, 0.1, 0.02),
                    rbScale(0.5, rbAdd(corners[i], corners[i + 1])), RB_QUAT_IDENTITY);
        }
        for (int i = 0; i < 4; ++i) {
            addJoint(scene, RB_JOINT_HINGE, i, (i + 1) % 4, corners[i], rbMakeVec3(0, 1, 0));
        }
        double before = getEnergy(scene);
        rbStepSettings settings = makeSettings(8);
        runScene(scene, methods[k], &settings, 0.5, 500);
        checkBelow(getLargestError(scene), 1e-9);
        checkNear(getEnergy(scene), before, 1e-9);
        assert_true(rbLength(scene->bodies[1].velocity) > 0.1);
        scenes[k] = scene;
    }
    checkBelow(getDeviation(scenes[0], scenes[1]), 1e-9);
    rbError error = {0};
    assert_null(rbCreateClassical(RB_CLASSICAL_REDUCED, &scenes[0]->mechanism,
                                  &(rbStepSettings){.order = 4}));
    assert_int_equal(rbClassical_Check(RB_CLASSICAL_REDUCED, &scenes[0]->mechanism, &error),
                     RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "1 joints close loops"));
    destroyScene(scenes[0]);
    destroyScene(scenes[1]);
}

// B-48
static void reducedRefusesOtherJoints(void** state)
{
    (void)state;
    static const struct {
        rbJointType type;
        const char* words;
    } cases[2] = {{RB_JOINT_PLANE, "not \"plane\""}, {RB_JOINT_LINE, "not \"line\""}};
    for (int i = 0; i < 2; ++i) {
        MechScene* scene = createScene(RB_VEC3_ZERO);
        addBody(scene, 1.0, rbMakeVec3(0.1, 0.1, 0.1), rbMakeVec3(1, 0, 0), RB_QUAT_IDENTITY);
        addJoint(scene, cases[i].type, 0, 1, RB_VEC3_ZERO, rbMakeVec3(0, 1, 0));
        rbError error = {0};
        assert_null(rbCreateReduced(&scene->mechanism, &error));
        assert_non_null(strstr(error.message, cases[i].words));
        destroyScene(scene);
    }
}

// B-47, B-48, B-49, B-50
static void stepsDoNotAllocate(void** state)
{
    (void)state;
    for (int method = RB_CLASSICAL_PENALTY; method < RB_CLASSICAL_COUNT; ++method) {
        uint64_t bytes = rbGetAllocatedBytes();
        MechScene* scene = createScene(rbMakeVec3(0.0, 0.0, -9.81));
        buildChain(scene, RB_JOINT_HINGE, 8);
        rbStepSettings settings = makeSettings(4);
        rbClassical* classical =
            rbCreateClassical((rbClassicalMethod)method, &scene->mechanism, &settings);
        uint64_t count = rbGetAllocationCount();
        for (int i = 0; i < 10; ++i) {
            rbClassical_Step(classical, &scene->mechanism, 0.0, 1e-3, pullByGravity, scene);
        }
        assert_int_equal(rbGetAllocationCount(), count);
        rbDestroyClassical(classical);
        destroyScene(scene);
        assert_int_equal(rbGetAllocatedBytes(), bytes);
    }
}

// A body that the user moved between two steps is read again.
// B-48
static void reducedReadsWhatWasChanged(void** state)
{
    (void)state;
    MechScene* scene = createScene(RB_VEC3_ZERO);
    buildChain(scene, RB_JOINT_BALL, 1);
    rbStepSettings settings = makeSettings(8);
    rbClassical* classical = rbCreateClassical(RB_CLASSICAL_REDUCED, &scene->mechanism, &settings);
    rbClassical_Step(classical, &scene->mechanism, 0.0, 0.1, pullByGravity, scene);
    checkNear(scene->bodies[1].velocity.y, 0.0, 0.0);
    setSpin(scene, 1, rbMakeVec3(0, 0, 2));
    scene->bodies[1].velocity = rbMakeVec3(0, 1, 0);
    rbClassical_Step(classical, &scene->mechanism, 0.1, 0.1, pullByGravity, scene);
    checkNear(scene->bodies[1].pose.position.x, 0.5 * cos(0.2), 1e-12);
    checkNear(scene->bodies[1].pose.position.y, 0.5 * sin(0.2), 1e-12);
    rbDestroyClassical(classical);
    destroyScene(scene);
}

// A reverted step leaves no trace: the next one has the same bits.
// B-47, B-48, B-49, B-50
static void stepsDependOnTheBodiesOnly(void** state)
{
    (void)state;
    for (int method = RB_CLASSICAL_PENALTY; method < RB_CLASSICAL_COUNT; ++method) {
        rbRandom random = {rbTest_Seed(63)};
        MechScene* scene = createScene(rbMakeVec3(0.0, 0.0, -9.81));
        buildRandomTree(scene, &random, 8, 4, true);
        stirScene(scene, &random, 1.0);
        rbStepSettings settings = makeSettings(4);
        rbClassical* classical =
            rbCreateClassical((rbClassicalMethod)method, &scene->mechanism, &settings);
        rbMechBody start[SCENE_BODIES_MAX];
        rbMechBody ends[2][SCENE_BODIES_MAX];
        memcpy(start, scene->bodies, sizeof start);
        for (int k = 0; k < 2; ++k) {
            memcpy(scene->bodies, start, sizeof start);
            for (int i = 0; i <= k; ++i) {
                // The first time the step is half as long and reverted.
                memcpy(scene->bodies, start, sizeof start);
                double h = i < k ? 5e-4 : 1e-3;
                rbClassical_Step(classical, &scene->mechanism, 0.0, h, pullByGravity, scene);
            }
            memcpy(ends[k], scene->bodies, sizeof start);
        }
        for (int i = 1; i < scene->mechanism.bodyCount; ++i) {
            checkNear(rbDistance(ends[0][i].pose.position, ends[1][i].pose.position), 0.0, 0.0);
            checkNear(rbDistance(ends[0][i].momentum, ends[1][i].momentum), 0.0, 0.0);
        }
        rbDestroyClassical(classical);
        destroyScene(scene);
    }
}

RB_TEST_GROUP(oracle_classical, cmocka_unit_test(methodsAgreeOnRandomTrees),
              cmocka_unit_test(methodsAgreeOnFallingChains),
              cmocka_unit_test(multipliersTakeRedundantLoops),
              cmocka_unit_test(reducedRefusesOtherJoints), cmocka_unit_test(stepsDoNotAllocate),
              cmocka_unit_test(stepsDependOnTheBodiesOnly),
              cmocka_unit_test(reducedReadsWhatWasChanged));
