// Islands that are large, for which sweeps get momentum and averages: heaps of balls on a lattice.
// The laws hold where the solver says so, no energy comes from nothing, and the bits and the work
// are the same for every compiler: what makes the sweeps converge sooner is seen in their number
// alone.
#define SCENE_BODIES_MAX 512
#define SCENE_CONTACTS_MAX 2048

#include "base/core/hash.h"
#include "random_island.h"

#include <inttypes.h>

#define EDGE 7 // balls along each edge of a heap: 343, and islands are large above 256
#define BALLS (EDGE * EDGE * EDGE)

static SolverScene scene;

static int indexOf(int x, int y, int z)
{
    return 1 + x + EDGE * (y + EDGE * z);
}

// Ball b rests on ball a, or leans on it; the direction is a little random.
static void touch(rbRandom* random, int a, int b, rbVec3 direction, int level)
{
    rbContact* contact = addContact(&scene, a, b, rbRandom_Range(random, 0.0, 0.6), level);
    contact->normal = rbNormalize(rbAdd(direction, anyVector(random, 0.3)));
    contact->tangents[0] = rbPerpendicular(contact->normal);
    contact->tangents[1] = rbCross(contact->normal, contact->tangents[0]);
    rbContactPoint* point = addPoint(&scene, RB_VEC3_ZERO);
    point->armA = a == 0 ? RB_VEC3_ZERO : rbScale(0.5, contact->normal);
    point->armB = rbScale(-0.5, contact->normal);
    point->gap = rbRandom_Unit(random) < 0.2 ? rbRandom_Range(random, 0.0, 1e-3) : 0.0;
}

static void makeHeap(rbRandom* random)
{
    beginScene(&scene);
    for (int i = 0; i < BALLS; ++i) {
        int ball = addBall(&scene, RB_VEC3_ZERO, rbRandom_Range(random, 0.5, 2.0), 0.5);
        scene.bodies[ball].velocity = anyVector(random, 0.2);
        scene.bodies[ball].velocity.z -= 0.1;
        scene.bodies[ball].spin = anyVector(random, 0.5);
    }
    for (int z = 0; z < EDGE; ++z) {
        for (int y = 0; y < EDGE; ++y) {
            for (int x = 0; x < EDGE; ++x) {
                int ball = indexOf(x, y, z);
                touch(random, z == 0 ? 0 : indexOf(x, y, z - 1), ball, (rbVec3){0.0, 0.0, 1.0},
                      z + 1);
                if (x > 0) {
                    touch(random, indexOf(x - 1, y, z), ball, (rbVec3){1.0, 0.0, 0.0}, z + 1);
                }
                if (y > 0) {
                    touch(random, indexOf(x, y - 1, z), ball, (rbVec3){0.0, 1.0, 0.0}, z + 1);
                }
            }
        }
    }
}

// Balls: the inertia is the same about all axes.
static double energyOf(void)
{
    double sum = 0.0;
    for (int i = 1; i < scene.bodyCount; ++i) {
        const rbContactBody* body = &scene.bodies[i];
        sum += 0.5 * rbLengthSquared(body->velocity) / body->invMass +
               0.5 * rbLengthSquared(body->spin) / body->invInertia.xx;
    }
    return sum;
}

// Largest approach at a point, and at one that pushes any normal speed, beyond its gap per step.
static double worstBreak(double h)
{
    double worst = 0.0;
    for (int i = 0; i < scene.set.contactCount; ++i) {
        const rbContact* contact = &scene.contacts[i];
        const rbContactPoint* point = &scene.points[contact->firstPoint];
        rbVec3 u = rbContact_RelativeVelocity(scene.bodies, contact, point);
        double un = rbDot(u, contact->normal) + (h > 0.0 ? point->gap / h : 0.0);
        double miss = point->impulse[0] > 0.0 ? fabs(un) : -un;
        worst = miss > worst ? miss : worst;
    }
    return worst;
}

static uint64_t hashScene(uint64_t hash)
{
    uint64_t h = hash;
    for (int i = 1; i < scene.bodyCount; ++i) {
        const rbContactBody* b = &scene.bodies[i];
        const double numbers[6] = {b->velocity.x, b->velocity.y, b->velocity.z,
                                   b->spin.x,     b->spin.y,     b->spin.z};
        h = rbHashDoubles(h, numbers, 6);
    }
    for (int i = 0; i < scene.set.pointCount; ++i) {
        h = rbHashDoubles(h, scene.points[i].impulse, 3);
        h = rbHashDoubles(h, (const double[]){scene.points[i].isSticking}, 1);
    }
    return h;
}

static void largeIslandsObeyTheLawsInTheSameBits(void** state)
{
    (void)state;
    static const struct {
        bool isVelocity;
        int sweepsMax, shockAfter;
        double tolerance;
    } runs[] = {
        {true, 2000, 0, 1e-6}, {false, 2000, 0, 1e-8}, {true, 40, 0, 1e-9},
        {false, 8, 0, 1e-9},   {true, 420, 0, 1e-12},  {true, 100, 20, 1e-9},
    };
    rbRandom random = {2034};
    uint64_t hash = RB_HASH_SEED;
    int met = 0;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; ++i) {
        makeHeap(&random);
        rbContactSettings settings = sceneSettings();
        settings.tolerance = runs[i].tolerance;
        settings.velocityTolerance = runs[i].tolerance;
        settings.sweepsMax = runs[i].sweepsMax;
        settings.shockAfter = runs[i].shockAfter;
        rbContactSolver* solver = rbCreateContactSolver(&settings);
        double h = 0.01;
        rbContactRun run = sceneRun(&scene, h);
        rbContactSolver_Prepare(solver, &run);
        double energy = energyOf();
        rbContactSolved solved = rbContactSolver_Solve(solver, &run, runs[i].isVelocity);
        checkCones(&scene, 1.6e-15);
        if (runs[i].isVelocity) {
            checkBelow(energyOf() - energy, 1e-12 * energy);
        }
        if (solved.isMet) {
            met += 1;
            checkBelow(worstBreak(runs[i].isVelocity ? 0.0 : h), 1e-4);
        }
        const double numbers[5] = {(double)solved.sweeps, solved.gapError, solved.slipError,
                                   solved.isMet, solved.isShocked};
        hash = rbHashDoubles(hashScene(hash), numbers, 5);
        print_message("%d sweeps, %d met\n", (int)solved.sweeps, solved.isMet);
        rbDestroyContactSolver(solver);
    }
    assert_true(met >= 2);
    print_message("hash 0x%016" PRIx64 "u\n", hash);
    assert_true(hash == 0x711deb24f3156e81u);
}

RB_TEST_GROUP(golden_contact_large, cmocka_unit_test(largeIslandsObeyTheLawsInTheSameBits));
