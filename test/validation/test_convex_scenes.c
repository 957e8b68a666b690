// The black-box scenes agree with the table, and the bisection finds given thresholds.
#include "base/core/memory.h"
#include "base/core/random.h"
#include "collision/convex/gjk.h"
#include "convex_scenes.h"
#include "detection_bisection.h"
#include "error_statistics.h"
#include "rb_test.h"

#include <math.h>

typedef struct Fixture {
    rbConvexScene scenes[RB_CONVEX_SCENE_COUNT];
    void* scratch;
} Fixture;

static int setUp(void** state)
{
    static Fixture fixture;
    rbMakeConvexScenes(fixture.scenes);
    fixture.scratch = rbAlloc(rbGetSeparationScratchSize());
    *state = &fixture;
    return 0;
}

static int tearDown(void** state)
{
    Fixture* f = *state;
    rbFreeConvexScenes(f->scenes);
    rbFree(f->scratch, rbGetSeparationScratchSize());
    return 0;
}

static rbSeparation measure(const Fixture* f, int scene, double way, int order, rbPairMethod method)
{
    const rbConvexScene* s = &f->scenes[scene];
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = s->bodies[order];
    input.geometryB = s->bodies[1 - order];
    input.transformBtoA = rbConvexScene_GetPose(s, way, order);
    input.method = method;
    rbSeparation separation = {0};
    assert_int_equal(rbMeasureSeparation(&input, NULL, f->scratch, &separation, NULL),
                     RB_STATUS_OK);
    return separation;
}

// G-40: detection at overlaps of at least 1e-5 and not at a gap of 1e-5, normal within 0.01 degrees
// (ellipsoids 0.1), depth and point by the table, both orders, two methods.
static void nineScenesGiveTheContactsOfTheTable(void** state)
{
    const Fixture* f = *state;
    static const double ways[] = {-1e-5, 1e-5, 1e-4, 1e-2, 0.1, 1.0};
    static const rbPairMethod methods[] = {RB_PAIR_AUTO, RB_PAIR_ITERATIVE};
    for (int i = 0; i < RB_CONVEX_SCENE_COUNT * 6 * 2 * 2; ++i) {
        const rbConvexScene* scene = &f->scenes[i / 24];
        double way = ways[i % 6];
        int order = i / 6 % 2;
        rbSeparation s = measure(f, i / 24, way, order, methods[i / 12 % 2]);
        if (way < 0.0) {
            assert_true(s.distance > 0.0);
            continue;
        }
        checkNear(s.distance, -way * scene->depthRate, 1e-8);
        rbTransform frame = scene->poses[order];
        frame.p = rbAddScaled(frame.p, order * way, scene->move);
        rbVec3 normal = rbScale(order == 0 ? 1.0 : -1.0, rbRotate(frame.q, s.normal));
        checkBelow(rbMeasureAngle(normal, scene->normal), scene->angleMax);
        rbVec3 middle = rbTransformPoint(frame, rbScale(0.5, rbAdd(s.pointA, s.pointB)));
        rbVec3 truth = rbAddScaled(scene->point, way, scene->pointRate);
        checkBelow(rbLength(rbMulEach(scene->isUnique, rbSub(middle, truth))), 1e-3);
    }
}

static bool detectBelow(const void* context, double gap)
{
    return gap < *(const double*)context;
}

// G-39
static void bisectionFindsTheThresholdOfADetector(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(390)};
    for (int i = 0; i < rbTest_Count(1000, 10000); ++i) {
        double threshold = rbRandom_Symmetric(&random) * pow(10.0, -rbRandom_Index(&random, 9));
        int rounds = 0;
        double found = rbBisectDetection(detectBelow, &threshold, 1e-10, &rounds);
        assert_int_equal(rounds, 33);
        checkNear(found, threshold, 1.2e-10);
    }
}

typedef struct Trial {
    const Fixture* fixture;
    int scene;
} Trial;

static bool detectByGjk(const void* context, double gap)
{
    const Trial* trial = context;
    const rbConvexScene* scene = &trial->fixture->scenes[trial->scene];
    rbConvex a;
    rbConvex b;
    assert_true(rbConvex_Make(scene->bodies[0], 0.0, &a));
    assert_true(rbConvex_Make(scene->bodies[1], 0.0, &b));
    rbCso cso = rbCso_Make(&a, &b, rbConvexScene_GetPose(scene, -gap, 0));
    return rbGjk_Overlaps(&cso, 0.0, NULL);
}

static bool detectByDistance(const void* context, double gap)
{
    const Trial* trial = context;
    return measure(trial->fixture, trial->scene, -gap, 0, RB_PAIR_ITERATIVE).distance <= 0.0;
}

// G-39: X-01
static void detectionDistanceIsBelowTheResolution(void** state)
{
    const Fixture* f = *state;
    for (int i = 0; i < RB_CONVEX_SCENE_COUNT; ++i) {
        const Trial trial = {f, i};
        int rounds = 0;
        checkBelow(fabs(rbBisectDetection(detectByGjk, &trial, 1e-10, &rounds)), 2e-10);
        checkBelow(fabs(rbBisectDetection(detectByDistance, &trial, 1e-10, &rounds)), 2e-10);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setUp, tearDown)
RB_TEST_GROUP(test_convex_scenes, TEST(nineScenesGiveTheContactsOfTheTable),
              cmocka_unit_test(bisectionFindsTheThresholdOfADetector),
              TEST(detectionDistanceIsBelowTheResolution));
