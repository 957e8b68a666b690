// Shock propagation of lasting contacts in random heaps: energy, finite numbers, honest errors,
// momentum.
#include "contact_scene.h"
#include "dynamics/contact/contact_graph.h"
#include "rb_test.h"

#define HEAPS 1000
#define HEAPS_FULL 50000

// Largest error after the velocity stage: approach speed, and separation speed of points that push.
static double measureHeap(const Scene* scene)
{
    double worst = 0.0;
    for (int i = 0; i < scene->set.contactCount; ++i) {
        const rbContact* contact = &scene->contacts[i];
        for (int k = 0; k < contact->pointCount; ++k) {
            const rbContactPoint* point = &scene->points[contact->firstPoint + k];
            double speed = getSceneSpeed(scene, i, k);
            assert_true(point->impulse[0] >= 0.0);
            if (point->isClosed) {
                worst = fmax(worst, point->impulse[0] > 0.0 ? fabs(speed) : -speed);
            }
        }
    }
    return worst;
}

// Sum of the magnitudes of the linear and angular momenta of the bodies.
static double getMomentumSize(const Scene* scene)
{
    double sum = 0.0;
    for (int i = 0; i < scene->bodyCount; ++i) {
        sum += scene->masses[i] * rbLength(scene->bodies[i].velocity);
        sum += rbLength(rbMulEach(scene->inertias[i], scene->bodies[i].spin));
    }
    return sum;
}

// Few sweeps or many, friction up to 2, mass ratios up to 1e6, with ground and without.
// B-78
static void shockPropagationNeverRaisesTheEnergy(void** state)
{
    (void)state;
    static Scene scene;
    rbRandom random = {rbTest_Seed(0x50c4)};
    rbContactGraph* graph = rbCreateContactGraph();
    int count = rbTest_Count(HEAPS, HEAPS_FULL);
    int shocked = 0;
    int met = 0;
    for (int i = 0; i < count; ++i) {
        HeapKind kind = {.restitution = 0.0,
                         .friction = i % 2 == 0 ? 0.0 : 2.0,
                         .massRatio = i % 7 == 0 ? 6.0 : 1.0,
                         .isHeld = i % 3 != 0};
        makeHeap(&scene, &random, &kind);
        rbContactSettings settings = rbDefaultContactSettings();
        settings.velocityTolerance = 1e-6;
        settings.shockAfter = 1 + rbRandom_Index(&random, 10);
        (void)rbContactGraph_Build(graph, &scene.set, scene.bodies, scene.bodyCount, NULL, 0);
        rbContactIsland island = rbContactGraph_GetIsland(graph, 0);
        rbContactRun run = {.set = &scene.set,
                            .order = island.contacts,
                            .orderCount = island.contactCount,
                            .bodies = scene.bodies,
                            .h = 0.01};
        rbContactSolver* solver = rbCreateContactSolver(&settings);
        rbContactSolver_Prepare(solver, &run);
        double energy = getSceneEnergy(&scene);
        rbVec3 linear[2], angular[2];
        double size = getMomentumSize(&scene);
        getSceneMomentum(&scene, &linear[0], &angular[0]);
        rbContactSolved solved = rbContactSolver_Solve(solver, &run, true);
        assert_true(getSceneEnergy(&scene) <= energy * (1.0 + 1e-12));
        for (int k = 0; k < scene.bodyCount; ++k) {
            assert_true(rbIsFinite3(scene.bodies[k].velocity) && rbIsFinite3(scene.bodies[k].spin));
            assert_false(scene.bodies[k].isFrozen);
        }
        if (!kind.isHeld) { // no body is static, so no momentum is lost
            getSceneMomentum(&scene, &linear[1], &angular[1]);
            checkBelow(rbDistance(linear[0], linear[1]), 1e-12 * size);
            checkBelow(rbDistance(angular[0], angular[1]), 1e-12 * size);
        }
        bool isOne = island.contactCount == scene.set.contactCount;
        if (solved.isMet && isOne) {
            checkBelow(measureHeap(&scene), 10.0 * settings.velocityTolerance);
        }
        shocked += solved.isShocked;
        met += solved.isShocked && solved.isMet;
        rbDestroyContactSolver(solver);
    }
    print_message("[ %d of %d shocked, %d of these met ]\n", shocked, count, met);
    assert_true(shocked * 2 > count);
    rbDestroyContactGraph(graph);
}

RB_TEST_GROUP(prop_contact_shock, cmocka_unit_test(shockPropagationNeverRaisesTheEnergy));
