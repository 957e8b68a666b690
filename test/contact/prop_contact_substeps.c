// The capped mode: small steps, contacts four at a time in single precision.
#include "base/math/elementary.h"
#include "dynamics/contact/contact_graph.h"
#include "dynamics/contact/contact_substeps.h"
#include "random_island.h"
#include "rb_test.h"

#define ISLANDS 1000
#define ISLANDS_FULL 100000
#define STEP (1.0 / 60.0)
#define GRAVITY 9.81

static SolverScene scene;
static rbContactBody flights[SCENE_BODIES_MAX];
static rbVec3 kicks[SCENE_BODIES_MAX];

static rbContactSubsteps* create(int substeps)
{
    rbContactSettings settings = sceneSettings();
    settings.substeps = substeps;
    return rbCreateContactSubsteps(&settings);
}

// A step as in the engine: half of the kicks before, half after, impulses halved.
static rbSubstepsDone step(rbContactSubsteps* substeps, SolverScene* s, const rbContactRun* run)
{
    for (int i = 1; i < s->bodyCount; ++i) {
        s->bodies[i].velocity = rbAddScaled(s->bodies[i].velocity, 0.5, kicks[i]);
    }
    for (int i = 0; i < s->set.pointCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            s->points[i].impulse[k] *= 0.5;
        }
    }
    rbSubstepsTask task = {.run = run, .kicks = kicks, .flights = flights, .restSpeed = 0.01};
    rbSubstepsDone done = rbContactSubsteps_Solve(substeps, &task);
    for (int i = 1; i < s->bodyCount; ++i) {
        s->bodies[i].velocity = rbAddScaled(s->bodies[i].velocity, 0.5, kicks[i]);
    }
    return done;
}

static void pullAll(rbVec3 acceleration)
{
    for (int i = 0; i < SCENE_BODIES_MAX; ++i) {
        kicks[i] = rbScale(STEP, acceleration);
    }
}

// A second step on the same contacts starts from the impulses of the first.
// B-76, B-93
static void randomIslandsKeepMomentumAndCones(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x5b57e9)};
    int count = rbTest_Count(ISLANDS, ISLANDS_FULL);
    pullAll(RB_VEC3_ZERO);
    for (int i = 0; i < count; ++i) {
        bool hasGround = (i & 1) != 0;
        makeIsland(&scene, &random, hasGround);
        rbContactSubsteps* substeps = create(1 + rbRandom_Index(&random, 15));
        rbContactRun run = sceneRun(&scene, STEP);
        rbVec3 momentum = momentumOf(&scene);
        for (int k = 0; k < 2; ++k) {
            rbSubstepsDone done = step(substeps, &scene, &run);
            assert_true(isfinite(done.approach) && isfinite(done.solved.gapError));
            checkCones(&scene, 1e-5);
        }
        if (!hasGround) {
            // 10 bodies of up to 5 kg, 2 m/s: single precision
            checkBelow(rbDistance(momentumOf(&scene), momentum), 1e-4);
        }
        rbDestroyContactSubsteps(substeps);
    }
}

// The energy removed by contacts equals the work that they report.
static void workIsTheChangeOfEnergy(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x5b57ea)};
    pullAll(RB_VEC3_ZERO);
    for (int i = 0; i < 200; ++i) {
        makeIsland(&scene, &random, true);
        // bodies that do not rotate: the energy is known without their inertias
        for (int k = 1; k < scene.bodyCount; ++k) {
            scene.bodies[k].invInertia = (rbSym3){0};
            scene.bodies[k].spin = RB_VEC3_ZERO;
        }
        double before = 0.0;
        double after = 0.0;
        for (int k = 1; k < scene.bodyCount; ++k) {
            before += 0.5 * rbLengthSquared(scene.bodies[k].velocity) / scene.bodies[k].invMass;
        }
        rbContactSubsteps* substeps = create(5);
        rbContactRun run = sceneRun(&scene, STEP);
        rbSubstepsDone done = step(substeps, &scene, &run);
        for (int k = 1; k < scene.bodyCount; ++k) {
            after += 0.5 * rbLengthSquared(scene.bodies[k].velocity) / scene.bodies[k].invMass;
        }
        checkNear(done.work, after - before, 1e-12 * before);
        rbDestroyContactSubsteps(substeps);
    }
}

static void copyScene(SolverScene* to, const SolverScene* from)
{
    *to = *from;
    to->set.contacts = to->contacts;
    to->set.points = to->points;
}

static void checkSameBits(const SolverScene* a, const SolverScene* b)
{
    for (int k = 0; k < a->bodyCount; ++k) {
        assert_memory_equal(&a->bodies[k].velocity, &b->bodies[k].velocity, sizeof(rbVec3));
        assert_memory_equal(&a->bodies[k].spin, &b->bodies[k].spin, sizeof(rbVec3));
    }
    for (int k = 0; k < a->set.pointCount; ++k) {
        assert_memory_equal(a->points[k].impulse, b->points[k].impulse,
                            sizeof a->points[k].impulse);
        assert_true(a->points[k].isSticking == b->points[k].isSticking);
    }
}

// The grouping of contacts in fours does not matter, nor do previous solves.
static void islandsTogetherAreAsApart(void** state)
{
    (void)state;
    static SolverScene apart;
    rbRandom random = {rbTest_Seed(0x5b57eb)};
    rbContactSubsteps* used = create(5);
    rbContactGraph* graph = rbCreateContactGraph();
    pullAll(rbMakeVec3(0.0, 0.0, -GRAVITY));
    int many = 0;
    for (int i = 0; i < 300; ++i) {
        makeIsland(&scene, &random, true);
        // all on the ground, or few of them with each other
        for (int k = 0; k < scene.set.contactCount && i % 2 == 0; ++k) {
            scene.contacts[k].bodyA = rbRandom_Unit(&random) < 0.8 ? 0 : scene.contacts[k].bodyA;
        }
        int islands =
            rbContactGraph_Build(graph, &scene.set, scene.bodies, scene.bodyCount, NULL, 0);
        many += islands > 1 ? 1 : 0;
        copyScene(&apart, &scene);
        int order[SCENE_CONTACTS_MAX];
        rbContactRun all = sceneRun(&scene, STEP);
        all.order = order;
        rbContactSubsteps* fresh = create(5);
        for (int k = 0; k < islands; ++k) {
            rbContactIsland island = rbContactGraph_GetIsland(graph, k);
            memcpy(&order[all.orderCount], island.contacts,
                   (size_t)island.contactCount * sizeof *order);
            all.orderCount += island.contactCount;
        }
        (void)step(used, &scene, &all);
        static SolverScene one;
        copyScene(&one, &apart);
        for (int k = 0; k < islands; ++k) {
            rbContactIsland island = rbContactGraph_GetIsland(graph, k);
            static SolverScene alone;
            copyScene(&alone, &one);
            rbContactRun run = sceneRun(&alone, STEP);
            run.order = island.contacts;
            run.orderCount = island.contactCount;
            (void)step(fresh, &alone, &run);
            for (int n = 0; n < island.bodyCount; ++n) {
                apart.bodies[island.bodies[n]] = alone.bodies[island.bodies[n]];
            }
            for (int n = 0; n < island.contactCount; ++n) {
                const rbContact* contact = &alone.contacts[island.contacts[n]];
                memcpy(&apart.points[contact->firstPoint], &alone.points[contact->firstPoint],
                       (size_t)contact->pointCount * sizeof *apart.points);
            }
        }
        for (int n = 1; n < scene.bodyCount; ++n) {
            if (rbContactGraph_FindIsland(graph, n) < 0) {
                apart.bodies[n] = scene.bodies[n];
            }
        }
        checkSameBits(&scene, &apart);
        rbDestroyContactSubsteps(fresh);
    }
    assert_true(many > 50);
    rbDestroyContactGraph(graph);
    rbDestroyContactSubsteps(used);
}

// More contacts than colors: a moving floor carries 100 balls and their weight.
static void crowdsOnOneBodyAreCarried(void** state)
{
    (void)state;
    beginScene(&scene);
    int floor = addBall(&scene, RB_VEC3_ZERO, 100.0, 10.0);
    for (int i = 0; i < 100; ++i) {
        int column = i % 10;
        int row = i / 10;
        rbVec3 place = rbMakeVec3(0.1 * (column - 4.5), 0.1 * (row - 4.5), 1.0);
        int ball = addBall(&scene, place, 1.0, 0.05);
        (void)addContact(&scene, floor, ball, 0.5, 1);
        (void)addPoint(&scene, rbAdd(place, rbMakeVec3(0.0, 0.0, -0.05)));
    }
    pullAll(rbMakeVec3(0.0, 0.0, -GRAVITY));
    kicks[floor] = rbMakeVec3(0.0, 0.0, GRAVITY * STEP); // pushed up by 200 times the weight
    rbContactSubsteps* substeps = create(15);
    rbContactRun run = sceneRun(&scene, STEP);
    for (int i = 0; i < 100; ++i) {
        (void)step(substeps, &scene, &run);
    }
    for (int i = 0; i < scene.set.pointCount; ++i) {
        assert_true(scene.points[i].impulse[0] > 0.0);
    }
    // the kicks of all bodies cancel; 1600 N s were exchanged, in single precision
    checkBelow(rbLength(momentumOf(&scene)), 1e-4 * 1600.0);
    checkNear(scene.bodies[floor].velocity.z, scene.bodies[floor + 1].velocity.z, 1e-3);
    rbDestroyContactSubsteps(substeps);
}

// Sweeps to tolerance give the reference impulses: bodies on three points without friction, where
// they are unique.
static void tripodsAreCarriedAsBySweeps(void** state)
{
    (void)state;
    static SolverScene other;
    rbRandom random = {rbTest_Seed(0x5b57ec)};
    rbVec3 gravity = rbMakeVec3(0.0, 0.0, -GRAVITY);
    pullAll(gravity);
    for (int i = 0; i < 50; ++i) {
        beginScene(&scene);
        int body =
            addCube(&scene, rbMakeVec3(0.0, 0.0, 0.5), rbRandom_Range(&random, 0.1, 10.0), 1.0);
        (void)addContact(&scene, 0, body, 0.0, 1);
        for (int k = 0; k < 3; ++k) {
            double angle = 2.0 * RB_PI * (k + 0.3 * rbRandom_Unit(&random)) / 3.0;
            double r = rbRandom_Range(&random, 0.3, 0.6);
            (void)addPoint(&scene, rbMakeVec3(r * rbCos(angle), r * rbSin(angle), 0.0));
        }
        copyScene(&other, &scene);
        rbContactSubsteps* substeps = create(5);
        rbContactRun run = sceneRun(&scene, STEP);
        for (int k = 0; k < 60; ++k) {
            (void)step(substeps, &scene, &run);
        }
        rbContactSettings settings = sceneSettings();
        rbContactSolver* solver = rbCreateContactSolver(&settings);
        rbContactRun exact = sceneRun(&other, STEP);
        rbContactSolver_Prepare(solver, &exact);
        for (int k = 0; k < 3; ++k) {
            stepScene(&other, solver, gravity, STEP);
        }
        double weight = GRAVITY * STEP / scene.bodies[body].invMass;
        for (int k = 0; k < 3; ++k) {
            checkNear(scene.points[k].impulse[0], other.points[k].impulse[0], 1e-4 * weight);
        }
        // the remaining spring deflection after one sweep
        checkBelow(rbLength(scene.bodies[body].velocity), 2e-3);
        checkBelow(rbLength(scene.bodies[body].spin), 2e-3);
        rbDestroyContactSolver(solver);
        rbDestroyContactSubsteps(substeps);
    }
}

// A ball of lead on ice: friction is mu P against the motion, in any direction.
// B-76
static void slidersAreBrakedByTheWholeOfFriction(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x5b57ed)};
    pullAll(rbMakeVec3(0.0, 0.0, -GRAVITY));
    for (int i = 0; i < 50; ++i) {
        beginScene(&scene);
        int body = addBody(&scene, rbMakeVec3(0.0, 0.0, 0.5), 2.0, rbMakeVec3(1e9, 1e9, 1e9));
        double friction = rbRandom_Range(&random, 0.05, 0.9);
        (void)addContact(&scene, 0, body, friction, 1);
        addFace(&scene, RB_VEC3_ZERO, 0.5);
        double angle = 2.0 * RB_PI * rbRandom_Unit(&random);
        rbVec3 direction = rbMakeVec3(rbCos(angle), rbSin(angle), 0.0);
        scene.bodies[body].velocity = rbScale(5.0, direction);
        rbContactSubsteps* substeps = create(5);
        rbContactRun run = sceneRun(&scene, STEP);
        for (int k = 0; k < 20; ++k) {
            (void)step(substeps, &scene, &run);
            assert_true(!scene.points[0].isSticking);
        }
        rbVec3 v = scene.bodies[body].velocity;
        checkNear(rbDot(v, direction), 5.0 - friction * GRAVITY * 20.0 * STEP, 2e-5);
        checkBelow(rbLength(rbAddScaled(v, -rbDot(v, direction), direction)), 1e-5);
        rbDestroyContactSubsteps(substeps);
    }
}

// Gaps follow the flights.
static void stepWithGaps(rbContactSubsteps* substeps, const rbContactRun* run)
{
    (void)step(substeps, &scene, run);
    for (int k = 0; k < scene.set.contactCount; ++k) {
        const rbContact* contact = &scene.contacts[k];
        for (int n = contact->firstPoint; n < contact->firstPoint + contact->pointCount; ++n) {
            rbVec3 u = rbContact_RelativeVelocity(flights, contact, &scene.points[n]);
            checkBelow(u.z, 1.0 + 1e-4);
            scene.points[n].gap += STEP * u.z;
        }
    }
}

// Overlap is removed without residual speed, no faster than requested.
static void overlapLeavesNoSpeed(void** state)
{
    (void)state;
    beginScene(&scene);
    addColumn(&scene, 5, 0.5);
    pullAll(rbMakeVec3(0.0, 0.0, -GRAVITY));
    rbContactSubsteps* substeps = create(5);
    rbContactRun run = sceneRun(&scene, STEP);
    for (int i = 0; i < scene.set.pointCount; ++i) {
        scene.points[i].gap = -0.02;
    }
    for (int i = 0; i < 240; ++i) {
        stepWithGaps(substeps, &run);
    }
    for (int i = 1; i < scene.bodyCount; ++i) {
        checkBelow(rbLength(scene.bodies[i].velocity), 1e-5);
    }
    for (int i = 0; i < scene.set.pointCount; ++i) {
        // the springs deflect by some tenths of a millimeter for each cube
        checkNear(scene.points[i].gap, 0.0, 2e-3);
    }
    rbDestroyContactSubsteps(substeps);
}

static double findDepth(void)
{
    double depth = 0.0;
    for (int i = 0; i < scene.set.pointCount; ++i) {
        depth = fmax(depth, -scene.points[i].gap);
    }
    return depth;
}

// A column whose upper half repeatedly swings up by a few mm/s does not sink: its lower half still
// carries the load, and the energy of the island is no reason to reduce its impulses.
static void columnsThatSwingStillCarryThemselves(void** state)
{
    (void)state;
    beginScene(&scene);
    addColumn(&scene, 20, 0.5);
    pullAll(rbMakeVec3(0.0, 0.0, -GRAVITY));
    rbContactSubsteps* substeps = create(15);
    rbContactRun run = sceneRun(&scene, STEP);
    for (int i = 0; i < 240; ++i) {
        stepWithGaps(substeps, &run);
    }
    double depth = findDepth();
    double deepest = 0.0;
    for (int i = 0; i < 60; ++i) {
        for (int k = 11; k <= 20 && i % 10 == 0; ++k) {
            scene.bodies[k].velocity.z += 0.02;
        }
        stepWithGaps(substeps, &run);
        deepest = fmax(deepest, findDepth());
    }
    print_message("depth %.3g mm, swinging %.3g mm\n", 1e3 * depth, 1e3 * deepest);
    checkBelow(deepest, 1.5 * depth);
    rbDestroyContactSubsteps(substeps);
}

// Kinematic bodies that move: a belt drags the bodies that lie on it.
static void beltsDragAlong(void** state)
{
    (void)state;
    beginScene(&scene);
    addColumn(&scene, 1, 0.5);
    pullAll(rbMakeVec3(0.0, 0.0, -GRAVITY));
    kicks[0] = RB_VEC3_ZERO;
    scene.bodies[0].velocity = rbMakeVec3(1.0, 0.0, 0.0);
    rbContactSubsteps* substeps = create(5);
    rbContactRun run = sceneRun(&scene, STEP);
    for (int i = 0; i < 6; ++i) {
        (void)step(substeps, &scene, &run);
    }
    checkNear(scene.bodies[1].velocity.x, 0.5 * GRAVITY * 6.0 * STEP, 1e-2);
    for (int i = 0; i < 30; ++i) {
        (void)step(substeps, &scene, &run);
    }
    checkNear(scene.bodies[1].velocity.x, 1.0, 1e-4);
    rbDestroyContactSubsteps(substeps);
}

// 30 balls in one place separate at the speed that the settings allow, without gaining energy.
static void crowdsPartWithoutEnergy(void** state)
{
    (void)state;
    beginScene(&scene);
    rbRandom random = {rbTest_Seed(0x5b57ee)};
    pullAll(RB_VEC3_ZERO);
    for (int i = 0; i < 30; ++i) {
        (void)addBall(&scene, anyVector(&random, 0.01), 1.0, 0.1);
    }
    for (int a = 1; a <= 30; ++a) {
        for (int b = a + 1; b <= 30; ++b) {
            rbVec3 between = rbSub(scene.places[b], scene.places[a]);
            rbContact* contact = addContact(&scene, a, b, 0.3, 1);
            contact->normal = rbNormalize(between);
            contact->tangents[0] = rbPerpendicular(contact->normal);
            contact->tangents[1] = rbCross(contact->normal, contact->tangents[0]);
            rbContactPoint* point = addPoint(&scene, rbAddScaled(scene.places[a], 0.5, between));
            point->gap = rbLength(between) - 0.2;
        }
    }
    rbContactSubsteps* substeps = create(5);
    rbContactRun run = sceneRun(&scene, STEP);
    for (int i = 0; i < 5; ++i) {
        rbSubstepsDone done = step(substeps, &scene, &run);
        checkBelow(done.work, 1e-3);
        double energy = 0.0;
        double flown = 0.0;
        for (int k = 1; k <= 30; ++k) {
            energy += 0.5 * rbLengthSquared(scene.bodies[k].velocity);
            flown = fmax(flown, rbLength(flights[k].velocity));
        }
        checkBelow(energy, 1e-3);
        assert_true(flown > 0.01);
    }
    rbDestroyContactSubsteps(substeps);
}

// Contacts that do not fit are reported, so that the other solver handles them.
static void reboundsAndRollingAreLeftToOthers(void** state)
{
    (void)state;
    beginScene(&scene);
    addColumn(&scene, 1, 0.5);
    rbContactRun run = sceneRun(&scene, STEP);
    assert_true(rbContactSubsteps_CanSolve(&run, 0, 0.01));
    scene.contacts[0].rolling = 0.1;
    assert_false(rbContactSubsteps_CanSolve(&run, 0, 0.01));
    scene.contacts[0].rolling = 0.0;
    scene.contacts[0].restitution = 0.5;
    scene.bodies[1].velocity = rbMakeVec3(0.0, 0.0, -1.0);
    assert_true(rbContactSubsteps_CanSolve(&run, 0, 0.01));
    scene.points[2].isClosed = false;
    scene.points[2].gap = 0.01;
    assert_false(rbContactSubsteps_CanSolve(&run, 0, 0.01));
    scene.points[2].gap = 0.02; // not in this step
    assert_true(rbContactSubsteps_CanSolve(&run, 0, 0.01));
}

RB_TEST_GROUP(
    prop_contact_substeps, cmocka_unit_test(randomIslandsKeepMomentumAndCones),
    cmocka_unit_test(workIsTheChangeOfEnergy), cmocka_unit_test(islandsTogetherAreAsApart),
    cmocka_unit_test(crowdsOnOneBodyAreCarried), cmocka_unit_test(tripodsAreCarriedAsBySweeps),
    cmocka_unit_test(slidersAreBrakedByTheWholeOfFriction), cmocka_unit_test(overlapLeavesNoSpeed),
    cmocka_unit_test(columnsThatSwingStillCarryThemselves), cmocka_unit_test(beltsDragAlong),
    cmocka_unit_test(crowdsPartWithoutEnergy), cmocka_unit_test(reboundsAndRollingAreLeftToOthers));
