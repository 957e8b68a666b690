// Fast arriving bodies: nothing passes through anything in a step, at any speed and step.
#include "arrival_scenes.h"
#include "base/core/random.h"

#include <math.h>

#define SHOTS 120
#define SHOTS_FULL 4000

static const char* const rowNames[RB_CONTACT_TIME_COUNT] = {"step", "interpolation", "bisection"};

static rbGeometry* makeMeshBox(rbVec3 half)
{
    rbVec3 vertices[8];
    for (int i = 0; i < 8; ++i) {
        vertices[i] = rbMakeVec3((i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                                 (i & 4) != 0 ? half.z : -half.z);
    }
    static const int sizes[6] = {4, 4, 4, 4, 4, 4};
    static const int indices[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                    2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
    rbMeshDef def = {vertices, 8, sizes, indices, 6};
    rbError error = {0};
    rbGeometry* mesh = rbCreateMesh(&def, &error);
    if (mesh == NULL) {
        fail_msg("%s", error.message);
    }
    return mesh;
}

#define KINDS 5

static rbGeometry* makeShot(int kind, double size)
{
    switch (kind) {
    case 0:
        return rbCreateSphere(size, NULL);
    case 1:
        return rbCreateBox(rbMakeVec3(size, 0.7 * size, 0.5 * size), NULL);
    case 2:
        return rbCreateCapsule(0.4 * size, size, NULL);
    case 3:
        return rbCreateCylinder(0.5 * size, size, NULL);
    default:
        return makeMeshBox(rbMakeVec3(size, 0.7 * size, 0.5 * size));
    }
}

// Radius of the largest inscribed ball, relative to its size.
static const double innerParts[KINDS] = {1.0, 0.5, 0.4, 0.5, 0.5};

static rbVec3 drawInCube(rbRandom* random, double half)
{
    double x = half * rbRandom_Symmetric(random);
    double y = half * rbRandom_Symmetric(random);
    return rbMakeVec3(x, y, half * rbRandom_Symmetric(random));
}

// Uniform in the logarithm.
static double drawScale(rbRandom* random, double low, double high)
{
    return low * pow(high / low, rbRandom_Unit(random));
}

// rad in a step: shots that spin faster after an impact are not checked beyond this; for them only
// the core is kept from passing, and a second impact may leave them inside the other body.
#define TURN_MOST 3.0

// Of overlap: contacts are accurate to first order in the rotation of a body in a step.
static void checkDepth(const rbWorld* world, double turn)
{
    if (turn < 0.3) {
        checkBelow(rbWorld_GetContactStatistics(world).deepest, 1e-4);
    }
}

static double worse(double turn, const rbWorld* world, rbBodyId id, double h)
{
    return fmax(turn, h * rbLength(rbBody_GetState(world, id).angularVelocity));
}

static rbWorldDef drawWorld(rbRandom* random, int i)
{
    rbWorldDef def =
        defineArrivals(drawScale(random, 1e-3, 1.0 / 60.0), (rbContactTime)(i % 4 == 3 ? 1 : 0));
    def.gravity = i % 2 == 0 ? RB_VEC3_ZERO : def.gravity;
    return def;
}

// Bullets against plates of 1 cm, static or free.
static void bulletsDoNotPassPlates(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0xb117)};
    int count = rbTest_Count(SHOTS, SHOTS_FULL);
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = drawWorld(&random, i);
        rbWorld* world = makeArrivalWorld(&def);
        rbVec3 half = {3.0, 3.0, 0.005};
        int kind = i % KINDS;
        bool isMesh = i % 3 == 2;
        Flyer plate = {.geometry = isMesh ? makeMeshBox(half) : rbCreateBox(half, NULL),
                       .restitution = 0.25 * rbRandom_Index(&random, 5),
                       .friction = rbRandom_Unit(&random),
                       .isStatic = i % 2 == 0};
        rbBodyId wall = addFlyer(world, &plate);
        double speed = drawScale(&random, 1.0, 1000.0);
        double tilt = rbRandom_Range(&random, -0.5, 0.5);
        double size = drawScale(&random, 0.003, 0.1);
        Flyer bullet = {.geometry = makeShot(kind, size),
                        .position = {0.0, 0.0, rbRandom_Range(&random, 2.0 * size + 0.006, 2.0)},
                        .velocity = {speed * sin(tilt), 0.0, -speed * cos(tilt)},
                        .spin = drawInCube(&random, 20.0),
                        .restitution = 1.0,
                        .friction = 0.3};
        rbBodyId id = addFlyer(world, &bullet);
        double turn = 0.0;
        for (int k = 1; k <= 30 && turn < TURN_MOST; ++k) {
            (void)rbWorld_AdvanceTo(world, def.step.step * k);
            turn = worse(turn, world, id, def.step.step);
            rbTransform pose = rbBody_GetState(world, wall).transform;
            rbVec3 at = rbInvTransformPoint(pose, rbBody_GetState(world, id).center);
            if (fabs(at.x) < 2.8 && fabs(at.y) < 2.8 && !(at.z > 0.0)) {
                fail_msg("shot %d, kind %d of %g m at %g m/s, step %g s (%s), passed a plate "
                         "(mesh %d, free %d) in step %d: %g m",
                         i, kind, size, speed, def.step.step, rowNames[def.contact.contactTime],
                         isMesh, !plate.isStatic, k, at.z);
            }
        }
        checkDepth(world, turn);
        rbDestroyWorld(world);
    }
}

// A rod that rotates by up to a whole turn in a step meets a plate with its ends.
static void spinningRodsDoNotPassPlates(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x50d5)};
    int count = rbTest_Count(SHOTS, SHOTS_FULL);
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = drawWorld(&random, i);
        rbWorld* world = makeArrivalWorld(&def);
        Flyer plate = {.geometry = rbCreateBox(rbMakeVec3(8.0, 8.0, 0.005), NULL),
                       .restitution = rbRandom_Unit(&random),
                       .friction = rbRandom_Unit(&random),
                       .isStatic = true};
        (void)addFlyer(world, &plate);
        double rate = drawScale(&random, 1.0, 300.0);
        rbVec3 axis = rbNormalize(drawInCube(&random, 1.0));
        Flyer rod = {.geometry = i % 3 == 0 ? rbCreateCapsule(0.02, 0.5, NULL)
                                            : rbCreateBox(rbMakeVec3(0.03, 0.02, 0.5), NULL),
                     .position = {0.0, 0.0, rbRandom_Range(&random, 0.6, 1.0)},
                     .velocity = {0.0, 0.0, -rbRandom_Range(&random, 0.5, 20.0)},
                     .spin = rbScale(rate, axis),
                     .restitution = rbRandom_Unit(&random),
                     .friction = 0.5};
        rbBodyId id = addFlyer(world, &rod);
        for (int k = 1; k <= 60; ++k) {
            (void)rbWorld_AdvanceTo(world, def.step.step * k);
            rbTransform pose = rbBody_GetState(world, id).transform;
            for (int end = -1; end <= 1; ++end) {
                rbVec3 at = rbTransformPoint(pose, rbMakeVec3(0.0, 0.0, 0.48 * end));
                if (!(at.z > 0.0) && fabs(at.x) < 7.0 && fabs(at.y) < 7.0) {
                    fail_msg("rod %d, %g rad/s, step %g s (%s), is through in step %d: %g m", i,
                             rate, def.step.step, rowNames[def.contact.contactTime], k, at.z);
                }
            }
        }
        rbDestroyWorld(world);
    }
}

// Two bodies of any kind fly at each other.
static void bodiesDoNotPassEachOther(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x2b0d)};
    int count = rbTest_Count(SHOTS, SHOTS_FULL);
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = drawWorld(&random, i);
        def.gravity = RB_VEC3_ZERO;
        rbWorld* world = makeArrivalWorld(&def);
        rbVec3 along = rbNormalize(drawInCube(&random, 1.0));
        double speed = drawScale(&random, 1.0, 1000.0);
        int kinds[2] = {i % KINDS, (i / KINDS) % KINDS};
        rbBodyId ids[2];
        double inner = 0.0;
        for (int k = 0; k < 2; ++k) {
            double sign = k == 0 ? -1.0 : 1.0;
            double size = drawScale(&random, 0.02, 0.3);
            Flyer flyer = {.geometry = makeShot(kinds[k], size),
                           .position = rbScale(sign * rbRandom_Range(&random, 0.4, 1.5), along),
                           .velocity = rbScale(-sign * speed * rbRandom_Unit(&random), along),
                           .spin = drawInCube(&random, 10.0),
                           .restitution = rbRandom_Unit(&random),
                           .friction = 0.3};
            ids[k] = addFlyer(world, &flyer);
            inner += innerParts[kinds[k]] * size;
        }
        double last = 0.0;
        double turn = 0.0;
        rbVec3 before = RB_VEC3_ZERO;
        for (int k = 1; k <= 20 && turn < TURN_MOST; ++k) {
            (void)rbWorld_AdvanceTo(world, def.step.step * k);
            turn = worse(worse(turn, world, ids[0], def.step.step), world, ids[1], def.step.step);
            rbVec3 apart =
                rbSub(rbBody_GetState(world, ids[1]).center, rbBody_GetState(world, ids[0]).center);
            double lead = rbDot(apart, along);
            if (lead < 0.0 && last > 0.0) {
                // where they were next to each other
                rbVec3 beside = rbAddScaled(before, last / (last - lead), rbSub(apart, before));
                if (rbLength(beside) < 0.5 * inner && turn <= TURN_MOST) {
                    fail_msg("pair %d, kinds %d and %d at %g m/s, step %g s (%s): passed in step "
                             "%d, %g m off, of %g m",
                             i, kinds[0], kinds[1], speed, def.step.step,
                             rowNames[def.contact.contactTime], k, rbLength(beside), inner);
                }
            }
            last = lead;
            before = apart;
        }
        checkDepth(world, turn);
        rbDestroyWorld(world);
    }
}

#define DROPS 24
#define DROPS_FULL 600
#define PIECES 8

// Balls, boxes, rods and cylinders in a box without a lid.
static rbWorld* makeDrop(rbRandom* random, const rbWorldDef* def)
{
    rbWorld* world = makeArrivalWorld(def);
    double restitution = 0.25 * rbRandom_Index(random, 5);
    double friction = rbRandom_Unit(random);
    const rbVec3 normals[5] = {
        {0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, -1.0, 0.0}};
    for (int i = 0; i < 5; ++i) {
        Flyer wall = {.geometry = rbCreatePlane(normals[i], i == 0 ? 0.0 : -0.5, NULL),
                      .restitution = restitution,
                      .friction = friction,
                      .isStatic = true};
        (void)addFlyer(world, &wall);
    }
    for (int i = 0; i < PIECES; ++i) {
        Flyer piece = {.geometry = makeShot(rbRandom_Index(random, KINDS - 1), 0.08),
                       .position = {-0.2 + 0.4 * (i & 1), -0.2 + 0.2 * (i & 2), 0.2 + 0.13 * i},
                       .velocity = drawInCube(random, 4.0),
                       .spin = drawInCube(random, 10.0),
                       .restitution = restitution,
                       .friction = friction};
        (void)addFlyer(world, &piece);
    }
    return world;
}

// The energy of bodies that arrive, collide, slide and come to rest does not increase, except for
// the amount that the ledger reports for resting points: they separate overlaps, transmit impacts,
// and stop a rotation into another body. Of 7200 drops 16 were above these bounds: 3 rose by up to
// 0.0044, the others gained up to 0.038. The bounds are not derived: one in 50 is nine times the
// observed rate, so that a tenth of the full count fails once in 10,000 seeds, and none may be ten
// times above.
#define ROSE_MOST 1e-3
#define GIVEN_MOST 1e-2
#define EXCEPTIONS 50 // one in so many

static void dropsGainNoEnergy(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0xd20b)};
    int count = rbTest_Count(DROPS, DROPS_FULL);
    int exceptions = 0;
    double worst = 0.0;
    double given = 0.0;
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = defineArrivals(i % 3 == 0 ? 1.0 / 60.0 : 2e-3, (rbContactTime)(i % 2));
        rbWorld* world = makeDrop(&random, &def);
        double first = rbWorld_GetLedger(world).energy;
        double least = first;
        double rose = 0.0;
        double gift = 0.0;
        for (int k = 1; def.step.step * k <= 0.8; ++k) {
            (void)rbWorld_AdvanceTo(world, def.step.step * k);
            rbLedger ledger = rbWorld_GetLedger(world);
            double energy = ledger.energy - ledger.restWork;
            rose = fmax(rose, (energy - least) / first);
            least = fmin(least, energy);
            gift = fmax(gift, ledger.restWork / first);
        }
        exceptions += rose > ROSE_MOST || gift > GIVEN_MOST ? 1 : 0;
        worst = fmax(worst, rose);
        given = fmax(given, gift);
        rbDestroyWorld(world);
    }
    print_message("energy rose by at most %.2g of the first, points that rest gave %.2g; %d of %d "
                  "drops above %g and %g\n",
                  worst, given, exceptions, count, ROSE_MOST, GIVEN_MOST);
    assert_true(exceptions <= count / EXCEPTIONS);
    checkBelow(worst, 10.0 * ROSE_MOST);
    checkBelow(given, 10.0 * GIVEN_MOST);
}

RB_TEST_GROUP(prop_world_arrivals, cmocka_unit_test(bulletsDoNotPassPlates),
              cmocka_unit_test(spinningRodsDoNotPassPlates),
              cmocka_unit_test(bodiesDoNotPassEachOther), cmocka_unit_test(dropsGainNoEnergy));
