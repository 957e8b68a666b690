// Same input, same bits: hashes that every compiler and build type must reproduce; snapshots;
// output steps; a million advances; and no allocation in an advance.
#include "base/core/float_mode.h"
#include "base/core/random.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// Bodies of all motion rows, with gravity, and drag on some.
static rbWorld* makeMixedWorld(int count)
{
    rbWorldDef worldDef = rbDefaultWorldDef();
    rbError error = {0};
    rbWorld* world = rbCreateWorld(&worldDef, &error);
    assert_non_null(world);
    rbRandom random = {1234567};
    static const rbMotionType types[5] = {RB_MOTION_AUTO, RB_MOTION_TAYLOR, RB_MOTION_RK4,
                                          RB_MOTION_CASH_KARP, RB_MOTION_EULER};
    for (int i = 0; i < count; ++i) {
        rbMassProperties mass = {.volume = 1.0, .mass = rbRandom_Range(&random, 0.5, 3.0)};
        double x2 = rbRandom_Range(&random, 0.1, 1.0);
        double y2 = rbRandom_Range(&random, 0.1, 1.0);
        double z2 = rbRandom_Range(&random, 0.1, 1.0);
        mass.inertia = (rbSym3){y2 + z2, x2 + z2, x2 + y2, 0.03, -0.02, 0.01};
        rbBodyDef def = rbDefaultBodyDef();
        def.mass = &mass;
        def.position = rbScale(5.0, rbRandom_Direction(&random));
        def.orientation = rbRandom_Quat(&random);
        def.linearVelocity = rbScale(3.0, rbRandom_Direction(&random));
        def.angularVelocity = rbScale(6.0, rbRandom_Direction(&random));
        def.motion = (rbMotionSettings){types[i % 5], 0.004, 8, 1e-10};
        rbBodyId id = rbCreateBody(world, &def, &error);
        assert_false(RB_IS_NULL(id));
        if (i % 7 == 3) {
            rbForceDef force = rbDefaultForceDef();
            force.type = RB_FORCE_DRAG;
            force.body = id;
            force.linear = 0.3;
            force.quadratic = 0.1;
            force.angular = 0.05;
            assert_false(RB_IS_NULL(rbCreateForce(world, &force, &error)));
        }
    }
    return world;
}

static void stateHashIsTheSameEverywhere(void** state)
{
    (void)state;
    rbWorld* world = makeMixedWorld(40);
    for (int k = 1; k <= 100; ++k) {
        (void)rbWorld_AdvanceTo(world, rbGetStepTime(k, 0.03));
    }
    uint64_t hash = rbWorld_GetHash(world);
    print_message("state hash %016" PRIx64 "\n", hash);
    assert_true(hash == UINT64_C(0x53bb6e944d327ddd));
    rbDestroyWorld(world);
}

static void outputStepsDoNotChangeBits(void** state)
{
    (void)state;
    rbWorld* coarse = makeMixedWorld(20);
    rbWorld* fine = makeMixedWorld(20);
    for (int k = 1; k <= 150; ++k) {
        (void)rbWorld_AdvanceTo(coarse, rbGetStepTime(k, 1e-2));
        for (int i = 1; i <= 10; ++i) {
            (void)rbWorld_AdvanceTo(fine, rbGetStepTime(10 * (k - 1) + i, 1e-3));
        }
        assert_true(rbWorld_GetHash(coarse) == rbWorld_GetHash(fine));
    }
    rbDestroyWorld(coarse);
    rbDestroyWorld(fine);
}

// A library built with fast-math flushes small numbers to zero in the whole process, and a program
// may round upward: an advance has the same bits, says so, and leaves the mode as it was.
static void modesOfTheThreadDoNotChangeBits(void** state)
{
    (void)state;
    rbWorld* standard = makeMixedWorld(20);
    for (int k = 0; k < 100; ++k) {
        assert_false(rbWorld_Advance(standard, 0.0137).isFloatModeOdd);
    }
    static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 4; ++i) {
        rbWorld* world = makeMixedWorld(20);
        // the last one: all bits, flushing too
        bool isSet = i < 3 ? fesetround(roundings[i]) == 0 : RB_FLOAT_MODE_BITS != 0;
        uint64_t before = i < 3 ? 0 : rbFloatMode_Set(RB_FLOAT_MODE_BITS);
        volatile double least = 0x1p-1022;
        volatile double half = 0.5 * least;
        bool isOdd = isSet && before == 0;
        for (int k = 0; k < 100; ++k) {
            isOdd = rbWorld_Advance(world, 0.0137).isFloatModeOdd && isOdd;
        }
        uint64_t after = rbFloatMode_Set(0);
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        assert_true(rbWorld_GetHash(world) == rbWorld_GetHash(standard));
        if (RB_FLOAT_MODE_BITS != 0) {
            assert_true(isOdd);
            assert_true(i < 3 ? after != 0 && half > 0.0
                              : after == RB_FLOAT_MODE_BITS && !(half > 0.0));
        }
        rbDestroyWorld(world);
    }
    rbDestroyWorld(standard);
}

// A hull, mass properties by density, a hinge with a spring, and a spring, all of fixed numbers.
static rbWorld* makeHinged(void)
{
    static const rbVec3 points[] = {{0.1, 0.2, 0.7},  {-0.3, 0.1, 0.1},   {0.3, -0.4, 0.15},
                                    {0.2, 0.6, -0.1}, {-0.1, -0.2, -0.9}, {0.7, 0.1, 0.3}};
    rbError error = {0};
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.engine = RB_ENGINE_STEP;
    rbWorld* world = rbCreateWorld(&worldDef, &error);
    rbGeometry* hull = rbCreateHull(points, (int)(sizeof points / sizeof points[0]), &error);
    assert_non_null(hull);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, hull);
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.position = rbMakeVec3(0.3, 0.1, 0.2);
    bodyDef.orientation = (rbQuat){0.1, 0.7, 0.1, 0.7};
    rbBodyId body = rbCreateBody(world, &bodyDef, &error);
    assert_false(RB_IS_NULL(rbCreateShape(world, body, &shape, &error)));
    rbJointDef joint = rbDefaultJointDef();
    joint.type = RB_JOINT_HINGE;
    joint.bodyB = body;
    rbJointDef_SetAnchor(&joint, world, rbMakeVec3(0.1, 0.7, 0.3));
    rbJointDef_SetAxis(&joint, world, rbMakeVec3(0.3, 0.1, 0.7));
    assert_false(RB_IS_NULL(rbCreateJoint(world, &joint, &error)));
    assert_int_equal(rbBody_SetMass(world, body, 0.7, &error), RB_STATUS_OK);
    assert_int_equal(
        rbBody_ApplyImpulse(world, body, rbMakeVec3(0.1, 0.3, 0.7), rbMakeVec3(0.7, 0.9, 0.3)),
        RB_STATUS_OK);
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_OK);
    return world;
}

// Likewise shapes, bodies, joints, and what is changed by hand.
static void modesOfTheThreadDoNotChangeWhatIsCreated(void** state)
{
    (void)state;
    rbWorld* standard = makeHinged();
    uint64_t expected = rbWorld_GetHash(standard);
    rbDestroyWorld(standard);
    static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 4; ++i) {
        bool isSet =
            i < 3 ? fesetround(roundings[i]) == 0 : rbFloatMode_Set(RB_FLOAT_MODE_BITS) == 0;
        rbWorld* world = makeHinged();
        uint64_t after = rbFloatMode_Set(0);
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        assert_true(isSet && (RB_FLOAT_MODE_BITS == 0 || after != 0));
        assert_true(rbWorld_GetHash(world) == expected);
        rbDestroyWorld(world);
    }
}

static void snapshotGoesOnWithTheSameBits(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorld* world = makeMixedWorld(20);
    (void)rbWorld_Advance(world, 0.777);
    size_t size = rbWorld_GetSnapshotSize(world);
    void* bytes = malloc(size);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size - 1, &error), RB_STATUS_LIMIT);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    for (int k = 0; k < 50; ++k) {
        (void)rbWorld_Advance(world, 0.013);
    }
    uint64_t first = rbWorld_GetHash(world);
    double drift = rbWorld_GetLedger(world).energyDrift;
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    for (int k = 0; k < 50; ++k) {
        (void)rbWorld_Advance(world, 0.013);
    }
    assert_true(rbWorld_GetHash(world) == first);
    checkNear(rbWorld_GetLedger(world).energyDrift, drift, 0.0);
    // A damaged, truncated or foreign snapshot is refused and changes nothing.
    for (size_t i = 0; i < size; i += 97) {
        ((unsigned char*)bytes)[i] ^= 0x40u;
        assert_int_not_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
        ((unsigned char*)bytes)[i] ^= 0x40u;
    }
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size / 2, &error), RB_STATUS_CORRUPT);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, 5, &error), RB_STATUS_CORRUPT);
    rbWorld* other = makeMixedWorld(19);
    assert_int_equal(rbWorld_RestoreSnapshot(other, bytes, size, &error), RB_STATUS_INVALID);
    assert_true(rbWorld_GetHash(world) == first);
    free(bytes);
    rbDestroyWorld(other);
    rbDestroyWorld(world);
}

static rbWorld* makeBall(rbEngineType engine)
{
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = engine;
    rbWorld* world = rbCreateWorld(&def, &error);
    rbBodyDef body = rbDefaultBodyDef();
    rbMassProperties mass = {.mass = 1.0, .inertia = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0}};
    body.mass = &mass;
    assert_false(RB_IS_NULL(rbCreateBody(world, &body, &error)));
    return world;
}

// The state of a world that steps, in one that only flies: it goes on from the same place.
static void snapshotsOfOtherEnginesAreTaken(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorld* world = makeBall(RB_ENGINE_STEP);
    rbWorld* flying = makeBall(RB_ENGINE_FLIGHT);
    (void)rbWorld_Advance(world, 0.1);
    size_t size = rbWorld_GetSnapshotSize(world);
    void* bytes = malloc(size);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    assert_int_equal(rbWorld_RestoreSnapshot(flying, bytes, size, &error), RB_STATUS_OK);
    assert_true(rbWorld_GetHash(flying) == rbWorld_GetHash(world));
    (void)rbWorld_Advance(flying, 0.1);
    free(bytes);
    rbDestroyWorld(flying);
    rbDestroyWorld(world);
}

static void advanceAllocatesNothing(void** state)
{
    (void)state;
    rbWorld* world = makeMixedWorld(50);
    (void)rbWorld_Advance(world, 0.01);
    uint64_t before = rbGetAllocationCount();
    for (int k = 0; k < 200; ++k) {
        (void)rbWorld_Advance(world, 0.01);
    }
    assert_int_equal(rbGetAllocationCount(), before);
    rbDestroyWorld(world);
}

static void worldLeaksNothing(void** state)
{
    (void)state;
    uint64_t before = rbGetAllocatedBytes();
    rbWorld* world = makeMixedWorld(50);
    (void)rbWorld_Advance(world, 0.01);
    assert_true(rbGetAllocatedBytes() > before);
    rbDestroyWorld(world);
    assert_int_equal(rbGetAllocatedBytes(), before);
}

// L-11: a million advances of a millisecond: the time is exactly 1000 s, nothing drifts.
static void aMillionAdvancesConserve(void** state)
{
    (void)state;
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.gravity = RB_VEC3_ZERO;
    rbError error = {0};
    rbWorld* world = rbCreateWorld(&worldDef, &error);
    rbMassProperties mass = {
        .mass = 10.0,
        .inertia = {10.0 / 12.0 * 0.97, 10.0 / 12.0 * 0.82, 10.0 / 12.0 * 0.17, 0.0, 0.0, 0.0}};
    rbBodyDef def = rbDefaultBodyDef();
    def.mass = &mass;
    def.angularVelocity = rbMakeVec3(0.1, 5.0, 0.1);
    (void)rbCreateBody(world, &def, &error);
    rbLedger start = rbWorld_GetLedger(world);
    double worst = 0.0;
    int count = rbTest_Count(1000000, 1000000);
    for (int k = 0; k < count; ++k) {
        rbStepReport report = rbWorld_Advance(world, 1e-3);
        double energy = fabs(report.ledger.energy - start.energy) / start.energy;
        double momentum = rbLength(rbSub(report.ledger.spinMomentum, start.spinMomentum)) /
                          rbLength(start.spinMomentum);
        worst = fmax(worst, fmax(energy, momentum));
    }
    print_message("%d advances: largest relative drift %.2e, time %.17g\n", count, worst,
                  rbWorld_GetTime(world));
    checkBelow(worst, 1e-14);
    checkNear(rbWorld_GetTime(world), 1e-3 * count, 1e-12);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(golden_world, cmocka_unit_test(stateHashIsTheSameEverywhere),
              cmocka_unit_test(outputStepsDoNotChangeBits),
              cmocka_unit_test(modesOfTheThreadDoNotChangeBits),
              cmocka_unit_test(modesOfTheThreadDoNotChangeWhatIsCreated),
              cmocka_unit_test(snapshotGoesOnWithTheSameBits),
              cmocka_unit_test(snapshotsOfOtherEnginesAreTaken),
              cmocka_unit_test(advanceAllocatesNothing), cmocka_unit_test(worldLeaksNothing),
              cmocka_unit_test(aMillionAdvancesConserve));
