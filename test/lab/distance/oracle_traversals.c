// Every traversal of the trees compared with all pairs of faces (U-10, and point 1 of the distance
// shows).
#include "bodies.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/lab_distance.h>

#include <float.h>

#define BODY_COUNT 18
#define FACES_MAX 36

typedef struct Pool {
    rbGeometry* geometries[BODY_COUNT];
    rbHierarchy* trees[BODY_COUNT][RB_VOLUME_COUNT];
} Pool;

static Pool makePool(rbRandom* random)
{
    Pool pool;
    for (int i = 0; i < BODY_COUNT; ++i) {
        rbTestBody body = (rbTestBody)(i % RB_BODY_COUNT_OF_KINDS);
        pool.geometries[i] =
            rbMakeTestBody(body, 8 + rbRandom_Index(random, FACES_MAX - 8), random);
        for (int volume = 0; volume < RB_VOLUME_COUNT; ++volume) {
            rbHierarchyDef def = rbMakeRandomHierarchyDef((rbVolumeType)volume, random);
            rbError error = {0};
            pool.trees[i][volume] = rbCreateHierarchy(pool.geometries[i], &def, &error);
            assert_non_null(pool.trees[i][volume]);
        }
    }
    return pool;
}

static void freePool(Pool* pool)
{
    for (int i = 0; i < BODY_COUNT; ++i) {
        for (int volume = 0; volume < RB_VOLUME_COUNT; ++volume) {
            rbDestroyHierarchy(pool->trees[i][volume]);
        }
        rbDestroyGeometry(pool->geometries[i]);
    }
}

static rbDistanceResult measure(const rbDistanceInput* input)
{
    rbDistanceResult result;
    rbError error = {0};
    rbStatus status = rbMeasureDistance(input, &result, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, RB_STATUS_OK);
    return result;
}

// The points have the reported distance, and lie on the reported faces.
static void checkWitnesses(const rbDistanceInput* input, const rbDistanceResult* result)
{
    checkNear(rbDistance(result->pointA, result->pointB), result->distance, 1e-13);
    const rbHierarchy* a = input->a;
    const rbHierarchy* b = input->b;
    rbFacet facetA = rbHierarchy_GetFacet(a, a->placeOfFace[result->faceA]);
    rbFacet facetB = rbHierarchy_GetFacet(b, b->placeOfFace[result->faceB]);
    rbVec3 localB = rbInvTransformPoint(input->transformBtoA, result->pointB);
    checkBelow(sqrt(rbClosestOfPointFacet(result->pointA, &facetA).squared), 1e-13);
    checkBelow(sqrt(rbClosestOfPointFacet(localB, &facetB).squared), 1e-13);
}

static void checkAllWays(const Pool* pool, int a, int b, rbTransform pose, rbRandom* random)
{
    rbDistanceInput input = rbDefaultDistanceInput();
    input.transformBtoA = pose;
    input.a = pool->trees[a][0];
    input.b = pool->trees[b][0];
    input.traversal = RB_TRAVERSAL_NAIVE;
    rbDistanceResult truth = measure(&input);
    checkWitnesses(&input, &truth);
    for (int volume = 0; volume < RB_VOLUME_COUNT; ++volume) {
        input.a = pool->trees[a][volume];
        input.b = pool->trees[b][volume];
        for (int traversal = 1; traversal < RB_TRAVERSAL_COUNT; ++traversal) {
            input.traversal = (rbTraversal)traversal;
            input.expansion = (rbExpansion)rbRandom_Index(random, RB_EXPANSION_COUNT);
            input.sequence = (rbSequence)rbRandom_Index(random, RB_SEQUENCE_COUNT);
            input.usesRepresentatives = rbRandom_Index(random, 2) == 0;
            rbDistanceResult result = measure(&input);
            checkNear(result.distance, truth.distance, 1e-12 * truth.distance);
            assert_int_equal(result.stop, RB_SEARCH_DONE);
            assert_true(result.lower == result.distance);
            checkWitnesses(&input, &result);
        }
        bool meet;
        input.traversal = (rbTraversal)rbRandom_Index(random, RB_TRAVERSAL_COUNT);
        assert_int_equal(rbTestSurfaces(&input, &meet, NULL, NULL), RB_STATUS_OK);
        assert_int_equal(meet, truth.distance == 0.0);
    }
}

// U-10, L-15, L-16, L-48, L-50, L-62, L-63, L-64, L-65, L-66, L-67, L-72
static void everyWayFindsTheDistanceOfAllPairs(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(40)};
    int count = rbTest_Count(800, 100000);
    int poolPoses = 100; // then other bodies
    Pool pool = makePool(&random);
    for (int i = 0; i < count; ++i) {
        if (i > 0 && i % poolPoses == 0) {
            freePool(&pool);
            pool = makePool(&random);
        }
        int a = rbRandom_Index(&random, BODY_COUNT);
        int b = rbRandom_Index(&random, BODY_COUNT);
        checkAllWays(&pool, a, b, rbMakeRandomPose(&random), &random);
    }
    freePool(&pool);
}

// Every expansion, sequence and use of representatives with every traversal and volume.
// U-10, L-62
static void everyCombinationAgrees(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(41)};
    Pool pool = makePool(&random);
    for (int i = 0; i < rbTest_Count(10, 1000); ++i) {
        int a = rbRandom_Index(&random, BODY_COUNT);
        int b = rbRandom_Index(&random, BODY_COUNT);
        rbDistanceInput input = rbDefaultDistanceInput();
        input.transformBtoA = rbMakeRandomPose(&random);
        double truth = NAN;
        for (int k = 0; k < RB_VOLUME_COUNT * RB_TRAVERSAL_COUNT * RB_EXPANSION_COUNT * 2; ++k) {
            int volume = k % RB_VOLUME_COUNT;
            int rest = k / RB_VOLUME_COUNT;
            input.a = pool.trees[a][volume];
            input.b = pool.trees[b][volume];
            input.traversal = (rbTraversal)(rest % RB_TRAVERSAL_COUNT);
            rest /= RB_TRAVERSAL_COUNT;
            input.expansion = (rbExpansion)(rest % RB_EXPANSION_COUNT);
            input.usesRepresentatives = rest / RB_EXPANSION_COUNT == 0;
            if (input.traversal == RB_TRAVERSAL_NAIVE && k > 0) {
                continue;
            }
            double distance = measure(&input).distance;
            truth = k == 0 ? distance : truth;
            checkNear(distance, truth, 1e-12 * truth);
        }
    }
    freePool(&pool);
}

// U-10: the bound of any two nodes is no larger than the distance of their faces. L-31
static void everyBoundIsBelowTheDistanceOfTheFaces(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(42)};
    Pool pool = makePool(&random);
    rbVolumeMotion motion;
    for (int i = 0; i < rbTest_Count(4000, 100000); ++i) {
        int bodyA = rbRandom_Index(&random, BODY_COUNT);
        int bodyB = rbRandom_Index(&random, BODY_COUNT);
        int volume = rbRandom_Index(&random, RB_VOLUME_COUNT);
        const rbHierarchy* a = pool.trees[bodyA][volume];
        const rbHierarchy* b = pool.trees[bodyB][volume];
        int nodeA = rbRandom_Index(&random, a->nodeCount);
        int nodeB = rbRandom_Index(&random, b->nodeCount);
        rbTransform pose = rbMakeRandomPose(&random);
        double moved[RB_VOLUME_SIZE_MAX];
        a->row->prepare(pose, 10.0, &motion);
        a->row->move(&motion, rbHierarchy_GetVolume(b, nodeB), moved);
        double bound = a->row->bound(moved, rbHierarchy_GetVolume(a, nodeA));
        double truth = rbMeasureByPairs(a, &a->nodes[nodeA], b, &b->nodes[nodeB], pose);
        assert_true(bound >= 0.0);
        checkBelow(bound, truth + (truth == 0.0 ? DBL_MIN : 0.0));
    }
    freePool(&pool);
}

typedef struct Watch {
    double truth;
    double lower, upper;
    int turns;
} Watch;

static void watchBounds(void* context, double lower, double upper)
{
    Watch* watch = context;
    assert_true(lower <= watch->truth * (1.0 + 1e-15) && watch->truth <= upper * (1.0 + 1e-15));
    assert_true(lower >= watch->lower && upper <= watch->upper);
    watch->lower = lower;
    watch->upper = upper;
    ++watch->turns;
}

// U-10, L-66: at every iteration, and never worse than at the previous one.
static void boundsHoldAtEveryTurn(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(43)};
    Pool pool = makePool(&random);
    for (int i = 0; i < rbTest_Count(300, 100000); ++i) {
        int a = rbRandom_Index(&random, BODY_COUNT);
        int b = rbRandom_Index(&random, BODY_COUNT);
        int volume = rbRandom_Index(&random, RB_VOLUME_COUNT);
        rbDistanceInput input = rbDefaultDistanceInput();
        input.a = pool.trees[a][volume];
        input.b = pool.trees[b][volume];
        input.transformBtoA = rbMakeRandomPose(&random);
        input.traversal = RB_TRAVERSAL_NAIVE;
        Watch watch = {measure(&input).distance, 0.0, INFINITY, 0};
        input.traversal = RB_TRAVERSAL_GLOBAL;
        input.expansion = (rbExpansion)rbRandom_Index(&random, RB_EXPANSION_COUNT);
        input.usesRepresentatives = rbRandom_Index(&random, 2) == 0;
        input.watcher = watchBounds;
        input.watcherContext = &watch;
        rbDistanceResult result = measure(&input);
        assert_true(watch.lower == result.lower && watch.upper == result.distance);
        assert_true(watch.turns >= 2);
    }
    freePool(&pool);
}

RB_TEST_GROUP(oracle_traversals, cmocka_unit_test(everyWayFindsTheDistanceOfAllPairs),
              cmocka_unit_test(everyCombinationAgrees),
              cmocka_unit_test(everyBoundIsBelowTheDistanceOfTheFaces),
              cmocka_unit_test(boundsHoldAtEveryTurn));
