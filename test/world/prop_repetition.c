// Runs of the step engine with contacts repeat to the bit: however an advance is cut into parts,
// and after a snapshot is restored.
#include "arrival_scenes.h"
#include "base/core/random.h"
#include "base/math/quaternion.h"

#include <stdlib.h>

#define DURATION 0.4 // s
#define PARTS 37     // of an advance, not at the ends of steps
#define BODIES 6

static rbGeometry* makeSolid(rbRandom* random)
{
    double a = rbRandom_Range(random, 0.05, 0.1);
    double b = rbRandom_Range(random, 0.05, 0.1);
    double c = rbRandom_Range(random, 0.05, 0.1);
    int kind = rbRandom_Index(random, 4);
    return kind == 0   ? rbCreateSphere(a, NULL)
           : kind == 1 ? rbCreateBox(rbMakeVec3(a, b, c), NULL)
           : kind == 2 ? rbCreateCapsule(0.7 * a, 0.7 * b, NULL)
                       : rbCreateCylinder(a, b, NULL);
}

static rbVec3 drawVector(rbRandom* random, double size)
{
    double x = rbRandom_Range(random, -size, size);
    double y = rbRandom_Range(random, -size, size);
    double z = rbRandom_Range(random, -size, size);
    return rbMakeVec3(x, y, z);
}

// Six bodies of any shape fly about in a room.
static rbWorld* makeRoom(uint64_t seed)
{
    rbRandom random = {seed};
    bool isCut = rbRandom_Index(&random, 2) == 0;
    rbWorldDef def =
        defineArrivals(1e-3, isCut ? RB_CONTACT_TIME_INTERPOLATION : RB_CONTACT_TIME_STEP);
    def.gravity = rbMakeVec3(0.0, 0.0, -9.81);
    def.contact.law = (rbImpactLaw)rbRandom_Index(&random, 3);
    rbWorld* world = makeArrivalWorld(&def);
    double restitution = rbRandom_Unit(&random);
    double friction = rbRandom_Unit(&random);
    for (int i = 0; i < 6; ++i) {
        double side = i % 2 == 0 ? 1.0 : -1.0;
        rbVec3 normal =
            rbMakeVec3(i / 2 == 0 ? side : 0.0, i / 2 == 1 ? side : 0.0, i / 2 == 2 ? side : 0.0);
        Flyer wall = {.geometry = rbCreatePlane(normal, i / 2 == 2 ? -0.25 : -0.5, NULL),
                      .restitution = restitution,
                      .friction = friction,
                      .isStatic = true};
        (void)addFlyer(world, &wall);
    }
    for (int i = 0; i < BODIES; ++i) {
        Flyer flyer = {.geometry = makeSolid(&random),
                       .position = rbMakeVec3(0.32 * (i % 3 - 1), i < 3 ? -0.24 : 0.24, 0.0),
                       .restitution = restitution,
                       .friction = friction};
        flyer.velocity = drawVector(&random, 3.0);
        flyer.spin = drawVector(&random, 6.0);
        (void)addFlyer(world, &flyer);
    }
    return world;
}

static void advanceInParts(rbWorld* world, double start, double end, int parts)
{
    for (int i = 1; i <= parts; ++i) {
        (void)rbWorld_AdvanceTo(world, i == parts ? end : start + (end - start) * i / parts);
    }
}

static void partsOfAdvancesDoNotMatter(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x9a125)};
    int count = rbTest_Count(60, 2000);
    for (int i = 0; i < count; ++i) {
        uint64_t seed = rbRandom_Bits(&random);
        rbWorld* whole = makeRoom(seed);
        rbWorld* cut = makeRoom(seed);
        (void)rbWorld_AdvanceTo(whole, DURATION);
        advanceInParts(cut, 0.0, DURATION, PARTS);
        if (rbWorld_GetHash(whole) != rbWorld_GetHash(cut)) {
            fail_msg("room %d, seed %llu: other bits in %d parts", i, (unsigned long long)seed,
                     PARTS);
        }
        rbDestroyWorld(whole);
        rbDestroyWorld(cut);
    }
}

// Restored into the same world after other settings, and in the middle of a step.
static void restoredRunsRepeat(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x9a126)};
    int count = rbTest_Count(60, 2000);
    for (int i = 0; i < count; ++i) {
        uint64_t seed = rbRandom_Bits(&random);
        rbWorld* world = makeRoom(seed);
        double middle = 0.5 * DURATION + (i % 2 == 0 ? 0.0 : 3e-4);
        advanceInParts(world, 0.0, middle, 5);
        size_t size = rbWorld_GetSnapshotSize(world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        advanceInParts(world, middle, DURATION, 5);
        uint64_t hash = rbWorld_GetHash(world);
        assert_int_equal(rbWorld_SetGravity(world, rbMakeVec3(0.0, 0.0, -5.0), NULL), RB_STATUS_OK);
        assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        advanceInParts(world, middle, DURATION, 5);
        if (rbWorld_GetHash(world) != hash) {
            fail_msg("room %d, seed %llu: other bits after a rewind", i, (unsigned long long)seed);
        }
        free(bytes);
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(prop_repetition, cmocka_unit_test(partsOfAdvancesDoNotMatter),
              cmocka_unit_test(restoredRunsRepeat));
