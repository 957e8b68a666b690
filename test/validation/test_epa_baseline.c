// The baseline with libccd's weaknesses: the repaired version is right, and every weakness shows.
#include "convex_scenes.h"
#include "epa_baseline.h"
#include "error_statistics.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>

static const rbBaselineSettings repaired = {false, false, false, false};

// G-38
static void repairedBaselineAgreesWithOurDepth(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 0.7, 0.5), NULL);
    rbGeometry* egg = rbCreateEllipsoid(rbMakeVec3(0.9, 0.6, 0.7), NULL);
    void* scratch = rbAlloc(rbGetSeparationScratchSize());
    rbRandom random = {rbTest_Seed(380)};
    rbConvex a;
    rbConvex b;
    assert_true(rbConvex_Make(box, 0.0, &a) && rbConvex_Make(egg, 0.0, &b));
    int contacts = 0;
    for (int i = 0; i < rbTest_Count(200, 5000); ++i) {
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = box;
        input.geometryB = egg;
        input.transformBtoA.q = rbRandom_Quat(&random);
        input.transformBtoA.p =
            rbScale(rbRandom_Range(&random, 0.5, 1.5), rbRandom_Direction(&random));
        rbSeparation s;
        assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, NULL), RB_STATUS_OK);
        rbCso cso = rbCso_Make(&a, &b, input.transformBtoA);
        rbBaselineResult r = rbRunBaseline(&cso, &repaired);
        if (s.distance < -1e-6 && !r.isExhausted) {
            assert_true(r.isContact);
            checkNear(r.depth, -s.distance, 1e-6);
            ++contacts;
        }
    }
    assert_true(contacts > 10);
    rbFree(scratch, rbGetSeparationScratchSize());
    rbDestroyGeometry(box);
    rbDestroyGeometry(egg);
}

// Largest errors over the depths of scene 1.
typedef struct Worst {
    double angle, point;
    int iterations;
} Worst;

static Worst sweep(rbBaselineSettings settings)
{
    rbConvexScene scenes[RB_CONVEX_SCENE_COUNT];
    rbMakeConvexScenes(scenes);
    const rbConvexScene* scene = &scenes[0];
    rbConvex a;
    rbConvex b;
    assert_true(rbConvex_Make(scene->bodies[0], 0.0, &a));
    assert_true(rbConvex_Make(scene->bodies[1], 0.0, &b));
    Worst worst = {0};
    for (int i = 0; i <= 50; ++i) {
        double way = pow(10.0, -5.0 + 0.1 * i);
        rbCso cso = rbCso_Make(&a, &b, rbConvexScene_GetPose(scene, way, 0));
        rbBaselineResult r = rbRunBaseline(&cso, &settings);
        assert_true(r.isContact);
        rbVec3 point = rbAddScaled(scene->point, way, scene->pointRate);
        worst.angle = fmax(worst.angle, rbMeasureAngle(r.normal, scene->normal));
        worst.point = fmax(worst.point, rbDistance(r.point, point));
        worst.iterations = r.iterations > worst.iterations ? r.iterations : worst.iterations;
    }
    rbFreeConvexScenes(scenes);
    return worst;
}

// G-38
static void everyWeaknessShows(void** state)
{
    (void)state;
    Worst right = sweep(repaired);
    checkBelow(right.angle, 0.01);
    checkBelow(right.point, 1e-3);
    // an absolute stopping criterion accepts anything at shallow depths
    assert_true(sweep((rbBaselineSettings){true, false, false, false}).angle > 10.0);
    // the mean of vertices is not a contact point
    assert_true(sweep((rbBaselineSettings){false, true, false, false}).point > 10.0 * right.point);
    // edges that cut through the inside cost steps
    Worst split = sweep((rbBaselineSettings){false, false, false, true});
    assert_true(split.iterations > right.iterations + right.iterations / 4);
    assert_true(sweep((rbBaselineSettings){true, true, true, true}).angle > 10.0);
}

RB_TEST_GROUP(test_epa_baseline, cmocka_unit_test(repairedBaselineAgreesWithOurDepth),
              cmocka_unit_test(everyWeaknessShows));
