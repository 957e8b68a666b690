// Random islands: sums in their cones, laws of contact, energy, momentum.
#include "random_island.h"
#include "rb_test.h"

#include <math.h>

#define ISLANDS 3000
#define ISLANDS_FULL 200000

static SolverScene scene;

static double energyOf(void)
{
    double sum = 0.0;
    for (int i = 1; i < scene.bodyCount; ++i) {
        const rbContactBody* body = &scene.bodies[i];
        // w I w by solving I^-1 x = w with Cramer's rule
        rbSym3 s = body->invInertia;
        rbVec3 cx = {s.xx, s.xy, s.xz};
        rbVec3 cy = {s.xy, s.yy, s.yz};
        rbVec3 cz = {s.xz, s.yz, s.zz};
        double det = rbDot(cx, rbCross(cy, cz));
        rbVec3 x = {rbDot(body->spin, rbCross(cy, cz)) / det,
                    rbDot(cx, rbCross(body->spin, cz)) / det,
                    rbDot(cx, rbCross(cy, body->spin)) / det};
        sum += 0.5 * rbLengthSquared(body->velocity) / body->invMass + 0.5 * rbDot(body->spin, x);
    }
    return sum;
}

// What rotation adds to the mean slips of a flight, from the velocities at its start.
static rbVec3 carries[sizeof scene.points / sizeof scene.points[0]];

static void noteCarries(double h, double restSpeed)
{
    for (int i = 0; i < scene.set.contactCount; ++i) {
        const rbContact* contact = &scene.contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            carries[k] = rbContactPoint_GetCarry(&scene.points[k], &scene.bodies[contact->bodyA],
                                                 &scene.bodies[contact->bodyB], h, restSpeed);
        }
    }
}

// The velocity of a point in the mean of a flight of h; of an instant, if that is 0.
static rbVec3 velocityOf(const rbContact* contact, int point, double h)
{
    rbVec3 u = rbContact_RelativeVelocity(scene.bodies, contact, &scene.points[point]);
    return h > 0.0 ? rbAdd(u, carries[point]) : u;
}

// Largest violation of the laws of contact; positions with a step h, velocities with 0.
static double worstBreak(double h)
{
    double worst = 0.0;
    for (int i = 0; i < scene.set.contactCount; ++i) {
        const rbContact* contact = &scene.contacts[i];
        for (int k = 0; k < contact->pointCount; ++k) {
            const rbContactPoint* point = &scene.points[contact->firstPoint + k];
            rbVec3 now = rbContact_RelativeVelocity(scene.bodies, contact, point);
            double un = rbDot(now, contact->normal) + (h > 0.0 ? point->gap / h : 0.0);
            rbVec3 u = velocityOf(contact, contact->firstPoint + k, h);
            double u1 = rbDot(u, contact->tangents[0]);
            double u2 = rbDot(u, contact->tangents[1]);
            double sliding = sqrt(u1 * u1 + u2 * u2);
            double miss = point->impulse[0] > 0.0 ? fabs(un) : (un < 0.0 ? -un : 0.0);
            if (point->isSticking) {
                miss = sliding > miss ? sliding : miss;
            } else if (sliding > 1e-3 && point->impulse[0] > 1e-3) {
                // opposes the sliding, with all of mu P
                double limit = contact->friction * point->impulse[0];
                double d1 = point->impulse[1] * sliding + limit * u1;
                double d2 = point->impulse[2] * sliding + limit * u2;
                double turn = sqrt(d1 * d1 + d2 * d2);
                miss = turn > miss ? turn : miss;
            }
            worst = miss > worst ? miss : worst;
        }
    }
    return worst;
}

// B-75, B-76: in every case, converged or cut short, sums are in their cones, the velocity stage
// gains no energy and free bodies keep their momentum; where the solver reports convergence, the
// laws hold.
static void randomIslandsObeyTheLaws(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x5017e4)};
    int count = rbTest_Count(ISLANDS, ISLANDS_FULL);
    int met = 0;
    for (int i = 0; i < count; ++i) {
        bool hasGround = (i & 1) != 0;
        bool isVelocity = (i & 2) != 0;
        makeIsland(&scene, &random, hasGround);
        rbContactSettings settings = sceneSettings();
        settings.tolerance = 1e-10;
        settings.sweepsMax = (i & 4) != 0 ? 500 : 7;
        rbContactSolver* solver = rbCreateContactSolver(&settings);
        double h = 0.01;
        rbContactRun run = sceneRun(&scene, h);
        rbContactSolver_Prepare(solver, &run);
        double energy = energyOf();
        rbVec3 momentum = momentumOf(&scene);
        noteCarries(h, run.restSpeed);
        rbContactSolved solved = isVelocity ? rbContactSolver_Solve(solver, &run, true)
                                            : rbContactSolver_Solve(solver, &run, false);
        checkCones(&scene, 1.6e-15);
        if (isVelocity) {
            checkBelow(energyOf() - energy, 1e-12 * energy);
        }
        if (!hasGround) {
            checkBelow(rbDistance(momentumOf(&scene), momentum), 1e-11);
        }
        if (solved.isMet) {
            met += 1;
            checkBelow(worstBreak(isVelocity ? 0.0 : h), 1e-6);
        }
        rbDestroyContactSolver(solver);
    }
    assert_true(met > count / 3);
}

// A copy of a contact with its normal tilted by up to a degree and its points moved by up to 1 mm.
static void addNearCopy(rbRandom* random, int original)
{
    const rbContact from = scene.contacts[original];
    rbContact* copy = addContact(&scene, from.bodyA, from.bodyB, from.friction, 1);
    copy->normal = rbNormalize(rbAdd(from.normal, anyVector(random, 0.01)));
    copy->tangents[0] = rbPerpendicular(copy->normal);
    copy->tangents[1] = rbCross(copy->normal, copy->tangents[0]);
    for (int k = 0; k < from.pointCount; ++k) {
        rbVec3 shift = anyVector(random, 1e-3);
        rbContactPoint* point = addPoint(&scene, RB_VEC3_ZERO);
        point->armA = rbAdd(scene.points[from.firstPoint + k].armA, shift);
        point->armB = rbAdd(scene.points[from.firstPoint + k].armB, shift);
        point->gap = scene.points[from.firstPoint + k].gap;
    }
}

// Rows that are nearly equal: mixtures of sweeps must not let one pull while the other pushes.
// Energy never rises, and where the solver reports convergence, the laws hold.
static void nearlyEqualRowsDoNotPull(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x5017e6)};
    int count = rbTest_Count(ISLANDS / 4, ISLANDS_FULL);
    int met = 0;
    for (int i = 0; i < count; ++i) {
        makeIsland(&scene, &random, (i & 1) != 0);
        int contacts = scene.set.contactCount;
        for (int k = 0; k < contacts; ++k) {
            scene.contacts[k].friction *= (i & 2) != 0 ? 1.0 : 0.0;
            scene.contacts[k].stiction = scene.contacts[k].friction;
            addNearCopy(&random, k);
        }
        rbContactSettings settings = sceneSettings();
        rbContactSolver* solver = rbCreateContactSolver(&settings);
        rbContactRun run = sceneRun(&scene, 0.01);
        rbContactSolver_Prepare(solver, &run);
        double energy = energyOf();
        rbContactSolved solved = rbContactSolver_Solve(solver, &run, true);
        checkCones(&scene, 1.6e-15);
        checkBelow(energyOf() - energy, 1e-12 * energy);
        if (solved.isMet) {
            met += 1;
            checkBelow(worstBreak(0.0), 1e-6);
        }
        rbDestroyContactSolver(solver);
    }
    print_message("met in %d of %d islands\n", met, count);
    assert_true(met > count / 3);
}

// The same input gives the same bits, whatever the same solver solved before.
static void sameIslandSameBits(void** state)
{
    (void)state;
    static SolverScene copy;
    rbContactSettings settings = sceneSettings();
    rbContactSolver* used = rbCreateContactSolver(&settings);
    rbRandom random = {rbTest_Seed(0x5017e5)};
    for (int i = 0; i < 100; ++i) {
        makeIsland(&scene, &random, true);
        copy = scene;
        rbContactRun run = sceneRun(&scene, 0.01);
        rbContactSolver_Prepare(used, &run);
        rbContactSolved first = rbContactSolver_Solve(used, &run, true);
        copy.set.contacts = copy.contacts;
        copy.set.points = copy.points;
        rbContactRun again = sceneRun(&copy, 0.01);
        rbContactSolver* fresh = rbCreateContactSolver(&settings);
        rbContactSolver_Prepare(fresh, &again);
        rbContactSolved second = rbContactSolver_Solve(fresh, &again, true);
        rbDestroyContactSolver(fresh);
        assert_int_equal(first.sweeps, second.sweeps);
        for (int k = 0; k < scene.bodyCount; ++k) {
            assert_memory_equal(&scene.bodies[k].velocity, &copy.bodies[k].velocity,
                                sizeof(rbVec3));
            assert_memory_equal(&scene.bodies[k].spin, &copy.bodies[k].spin, sizeof(rbVec3));
        }
    }
    rbDestroyContactSolver(used);
}

RB_TEST_GROUP(prop_contact_solver, cmocka_unit_test(randomIslandsObeyTheLaws),
              cmocka_unit_test(nearlyEqualRowsDoNotPull), cmocka_unit_test(sameIslandSameBits));
