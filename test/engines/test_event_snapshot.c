// Snapshots of worlds with the event engine: a restored world continues bit by bit.
#include "event_scenes.h"

#define DURATION 1.2

typedef enum SceneKind {
    SCENE_GAS,   // spheres in a periodic box
    SCENE_HEAP,  // boxes that fall on a floor and come to rest
    SCENE_MIXED, // several shapes on a floor, a lift below them, periodic along x
    SCENE_MESH,  // boxes of triangles
    SCENE_COUNT
} SceneKind;

static rbGeometry* makeShape(SceneKind kind, int index)
{
    rbVec3 half = {0.08, 0.07, 0.05};
    if (kind == SCENE_GAS) {
        return rbCreateSphere(0.1, NULL);
    }
    if (kind == SCENE_MESH) {
        return makeMeshBox(0.16);
    }
    if (kind == SCENE_HEAP || index % 3 == 0) {
        return rbCreateBox(half, NULL);
    }
    return index % 3 == 1 ? rbCreateSphere(0.08, NULL) : rbCreateEllipsoid(half, NULL);
}

static void addLift(rbWorld* world)
{
    rbVec3 end = {0.3, 0.3, 0.15};
    rbPathDef path = rbDefaultPathDef();
    path.speed = 0.5;
    path.points = &end;
    path.pointCount = 1;
    path.startTime = 0.5;
    Made made = {.name = "lift", .position = {0.3, 0.3, -0.1}, .restitution = 0.2, .friction = 0.4};
    (void)addMade(world, &made, rbCreateBox(rbMakeVec3(0.2, 0.2, 0.05), NULL), RB_BODY_KINEMATIC,
                  &path);
}

static rbWorld* makeScene(SceneKind kind, uint64_t seed)
{
    rbRandom random = {seed};
    bool hasFloor = kind == SCENE_HEAP || kind == SCENE_MIXED;
    rbWorldDef def = eventWorldDef(hasFloor ? 9.81 : 0.0);
    def.event.restTime = 0.03;
    double period = kind == SCENE_MIXED ? 1.8 : 1.2;
    if (kind == SCENE_GAS || kind == SCENE_MESH) {
        def.periodicBox = rbMakeVec3(period, 1.1 * period, 1.3 * period);
    } else if (kind == SCENE_MIXED) {
        def.periodicBox = rbMakeVec3(period, 0.0, 0.0);
    }
    rbWorld* world = makeWorldOf(&def);
    if (hasFloor) {
        (void)addFloor(world, 0.2, 0.5);
    }
    if (kind == SCENE_MIXED) {
        addLift(world);
    }
    int count = kind == SCENE_HEAP ? 4 : 18;
    double speed = kind == SCENE_HEAP ? 0.0 : 1.0;
    for (int i = 0; i < count; ++i) {
        rbVec3 place = latticePlace(i, 3, 3, 0.35);
        place.z += 0.2;
        rbVec3 velocity = rbScale(speed, rbRandom_Direction(&random));
        rbVec3 spin = rbScale(3.0 * speed, rbRandom_Direction(&random));
        Made made = {.position =
                         kind == SCENE_HEAP ? rbMakeVec3(0.02 * i, 0.0, 0.06 + 0.11 * i) : place,
                     .velocity = velocity,
                     .spin = spin,
                     .restitution = hasFloor ? 0.2 : 0.9,
                     .friction = 0.4};
        (void)addMade(world, &made, makeShape(kind, i), RB_BODY_DYNAMIC, NULL);
    }
    return world;
}

typedef struct Outcome {
    uint64_t state;
    uint64_t journal;
    rbEventStatistics statistics;
    double drift;
} Outcome;

static Outcome outcomeOf(const rbWorld* world)
{
    Outcome outcome = {rbWorld_GetHash(world), hashJournal(world),
                       rbWorld_GetEventStatistics(world), rbWorld_GetLedger(world).energyDrift};
    return outcome;
}

static void checkSame(const Outcome* a, const Outcome* b)
{
    assert_true(a->state == b->state);
    assert_true(a->journal == b->journal);
    assert_int_equal(a->statistics.collisions, b->statistics.collisions);
    assert_int_equal(a->statistics.measurements, b->statistics.measurements);
    assert_int_equal(a->statistics.restingCount, b->statistics.restingCount);
    assert_true(a->drift == b->drift);
}

typedef struct Saved {
    void* bytes;
    size_t size;
} Saved;

static Saved save(const rbWorld* world)
{
    rbError error = {0};
    Saved saved = {.size = rbWorld_GetSnapshotSize(world)};
    saved.bytes = malloc(saved.size);
    assert_non_null(saved.bytes);
    assert_int_equal(rbWorld_TakeSnapshot(world, saved.bytes, saved.size, &error), RB_STATUS_OK);
    return saved;
}

// Restores the snapshot and frees it.
static void restore(rbWorld* world, Saved saved)
{
    rbError error = {0};
    rbStatus status = rbWorld_RestoreSnapshot(world, saved.bytes, saved.size, &error);
    if (status != RB_STATUS_OK) {
        print_error("%s\n", error.message);
    }
    assert_int_equal(status, RB_STATUS_OK);
    free(saved.bytes);
}

// Continues, restores and continues again, several times in one run; taking a snapshot changes
// nothing either.
static void checkKind(SceneKind kind, uint64_t salt, int count)
{
    rbRandom random = {rbTest_Seed(salt)};
    for (int i = 0; i < count; ++i) {
        uint64_t seed = rbRandom_Bits(&random);
        rbWorld* world = makeScene(kind, seed);
        advanceFine(world, DURATION);
        Outcome truth = outcomeOf(world);
        assert_true(truth.statistics.collisions > 0);
        rbDestroyWorld(world);
        world = makeScene(kind, seed);
        double time = 0.0;
        for (int k = 0; k < 4; ++k) {
            time += rbRandom_Range(&random, 0.0, 0.5 * (DURATION - time));
            advanceFine(world, time);
            Saved saved = save(world);
            advanceFine(world, rbRandom_Range(&random, time, DURATION));
            restore(world, saved);
            assert_true(rbWorld_GetTime(world) == time);
        }
        advanceFine(world, DURATION);
        Outcome again = outcomeOf(world);
        checkSame(&truth, &again);
        rbDestroyWorld(world);
    }
}

static void restoredGasesGoOnBitByBit(void** state)
{
    (void)state;
    checkKind(SCENE_GAS, 1301, rbTest_Count(10, 200));
}

static void restoredHeapsGoOnBitByBit(void** state)
{
    (void)state;
    checkKind(SCENE_HEAP, 1302, rbTest_Count(5, 50));
}

static void restoredShapesOnALiftGoOnBitByBit(void** state)
{
    (void)state;
    checkKind(SCENE_MIXED, 1303, rbTest_Count(5, 50));
}

static void restoredMeshesGoOnBitByBit(void** state)
{
    (void)state;
    checkKind(SCENE_MESH, 1304, rbTest_Count(10, 100));
}

// A body that is held in the snapshot and awake at the restore is held again, and vice versa.
static void restIsRestored(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(9.81);
    rbWorld* world = makeWorldOf(&def);
    (void)addFloor(world, 0.2, 0.5);
    Made made = {.position = {0.0, 0.0, 0.1001}, .restitution = 0.2, .friction = 0.5};
    rbBodyId box = addBox(world, 0.2, 0.2, 0.2, made);
    Made thrown = {.position = {-2.0, 0.0, 0.8}, .velocity = {5.0, 0.0, 0.0}, .restitution = 0.5};
    (void)addSphere(world, 0.05, thrown);
    advanceFine(world, 0.05);
    Saved early = save(world);
    advanceFine(world, 0.3);
    assert_true(rbBody_IsResting(world, box));
    Saved late = save(world);
    advanceFine(world, 0.45);
    assert_false(rbBody_IsResting(world, box));
    Outcome hit = outcomeOf(world);
    restore(world, late);
    assert_true(rbBody_IsResting(world, box));
    advanceFine(world, 0.45);
    Outcome again = outcomeOf(world);
    checkSame(&hit, &again);
    restore(world, early);
    assert_false(rbBody_IsResting(world, box));
    advanceFine(world, 0.3);
    assert_true(rbBody_IsResting(world, box));
    advanceFine(world, 0.45);
    again = outcomeOf(world);
    checkSame(&hit, &again);
    rbDestroyWorld(world);
}

// A push between two advances is in the snapshot, and held bodies keep their weight.
static void pushesAreInTheSnapshot(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(9.81);
    rbWorld* world = makeWorldOf(&def);
    (void)addFloor(world, 0.2, 0.5);
    Made made = {.position = {0.0, 0.0, 0.1001}, .restitution = 0.2, .friction = 0.5};
    rbBodyId box = addBox(world, 0.2, 0.2, 0.2, made);
    Made high = {.position = {-1.0, 0.0, 1.5}, .restitution = 0.5};
    rbBodyId ball = addSphere(world, 0.1, high);
    advanceFine(world, 0.5);
    assert_true(rbBody_IsResting(world, box));
    double mass = rbBody_GetMass(world, ball).mass;
    rbBody_ApplyImpulse(world, ball, rbMakeVec3(4.0 * mass, 0.0, 0.0),
                        rbBody_GetState(world, ball).center);
    Saved saved = save(world);
    advanceFine(world, 0.72);
    assert_true(rbBody_GetState(world, box).linearVelocity.x > 0.1); // it was hit
    Outcome first = outcomeOf(world);
    restore(world, saved);
    assert_true(rbBody_IsResting(world, box));
    double energy = rbWorld_GetLedger(world).energy;
    checkNear(rbWorld_GetLedger(world).energyDrift, 0.0, 1e-9 * energy);
    advanceFine(world, 0.7);
    double tolerance = rbWorld_GetEventStatistics(world).tolerance;
    checkNear(rbBody_GetState(world, box).center.z, 0.1, 2.0 * tolerance);
    advanceFine(world, 0.72);
    Outcome again = outcomeOf(world);
    checkSame(&first, &again);
    checkNear(rbWorld_GetLedger(world).energyDrift, 0.0, 1e-9 * energy);
    advanceFine(world, 5.0);
    checkBelow(rbBody_GetState(world, box).center.z, 0.1733); // half a diagonal
    checkNear(rbWorld_GetLedger(world).energyDrift, 0.0, 1e-9 * energy);
    rbDestroyWorld(world);
}

static void otherShapesAndDamageAreRefused(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorld* world = makeScene(SCENE_HEAP, 5);
    Made made = {.position = {3.0, 0.0, 0.5}, .restitution = 0.5};
    rbBodyId wall = addFixedBox(world, 0.1, 1.0, 1.0, made);
    advanceFine(world, 0.1);
    Saved saved = save(world);
    char* bytes = saved.bytes;
    bytes[saved.size - 1] = (char)(bytes[saved.size - 1] ^ 1);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, saved.size, &error), RB_STATUS_CORRUPT);
    bytes[saved.size - 1] = (char)(bytes[saved.size - 1] ^ 1);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, saved.size - 1, &error),
                     RB_STATUS_CORRUPT);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, saved.size, &error), RB_STATUS_OK);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.3, NULL));
    shape.material.restitution = 0.1;
    for (int i = 0; i < 3; ++i) {
        shape.transform.p.x = i;
        assert_false(RB_IS_NULL(rbCreateShape(world, wall, &shape, &error)));
    }
    advanceFine(world, 0.2);
    uint64_t before = rbWorld_GetHash(world);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, saved.size, &error), RB_STATUS_INVALID);
    assert_true(strlen(error.message) > 0);
    assert_true(rbWorld_GetHash(world) == before);
    advanceFine(world, 1.0);
    free(saved.bytes);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_event_snapshot, cmocka_unit_test(restoredGasesGoOnBitByBit),
              cmocka_unit_test(restoredHeapsGoOnBitByBit),
              cmocka_unit_test(restoredShapesOnALiftGoOnBitByBit),
              cmocka_unit_test(restoredMeshesGoOnBitByBit), cmocka_unit_test(restIsRestored),
              cmocka_unit_test(pushesAreInTheSnapshot),
              cmocka_unit_test(otherShapesAndDamageAreRefused));
