// The same bits for 1 to 16 threads, and for any order in which a host runs the blocks: hash,
// energy accounting and snapshot of worlds of all kinds.
#include "base/core/memory.h"
#include "base/core/random.h"
#include "contact_scenes.h"
#include "rb_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP (1.0 / 60.0)

// ----------------------------------------------------------------------------------------- scenes

static rbWorld* createPile(rbContactScene scene, rbWorldDef def)
{
    rbError error = {0};
    rbWorld* world = rbContactScene_CreateWorldBy(&scene, def, NULL, &error);
    if (world == NULL) {
        fail_msg("%s", error.message);
    }
    rbDestroyContactScene(&scene);
    return world;
}

static rbWorld* createWall(rbWorldDef def)
{
    return createPile(rbMakePyramidScene(30), def);
}

static rbWorld* createMixed(rbWorldDef def)
{
    return createPile(rbMakeMixedScene(7, 6), def);
}

static rbWorld* createSpheres(rbWorldDef def)
{
    return createPile(rbMakeSpheresScene(9), def);
}

static rbWorld* createTerrain(rbWorldDef def)
{
    return createPile(rbMakeTerrainScene(), def);
}

// A wall and the ball of a pendulum: a mechanism among the contacts.
static rbWorld* createPendulum(rbWorldDef def)
{
    return createPile(rbMakeWallScene(4, 0.0), def);
}

static rbBodyId addBody(rbWorld* world, rbGeometryId geometry, rbVec3 position, bool isFixed)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = isFixed ? RB_BODY_STATIC : RB_BODY_DYNAMIC;
    def.position = position;
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = geometry;
    shape.material.friction = 0.5;
    shape.material.restitution = 0.2;
    if (RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        fail_msg("%s", error.message);
    }
    return id;
}

static rbWorld* createEmpty(rbWorldDef def, rbGeometryId* box)
{
    rbError error = {0};
    rbWorld* world = rbCreateWorld(&def, &error);
    if (world == NULL) {
        fail_msg("%s", error.message);
    }
    rbGeometry* ground = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, &error);
    (void)addBody(world, rbWorld_AddGeometry(world, ground), RB_VEC3_ZERO, true);
    *box = rbWorld_AddGeometry(world, rbCreateBox(rbMakeVec3(0.1, 0.08, 0.15), &error));
    return world;
}

static void join(rbWorld* world, rbBodyId a, rbBodyId b, rbVec3 point)
{
    rbError error = {0};
    rbJointDef joint = rbDefaultJointDef();
    joint.type = RB_JOINT_BALL;
    joint.bodyA = a;
    joint.bodyB = b;
    rbJointDef_SetAnchor(&joint, world, point);
    if (RB_IS_NULL(rbCreateJoint(world, &joint, &error))) {
        fail_msg("%s", error.message);
    }
}

// 8 x 8 figures of a trunk, a head and four limbs, joined, above the ground and each other.
static rbWorld* createRagdolls(rbWorldDef def)
{
    static const rbVec3 places[5] = {{0.0, 0.0, 0.32},
                                     {0.22, 0.0, 0.1},
                                     {-0.22, 0.0, 0.1},
                                     {0.1, 0.0, -0.32},
                                     {-0.1, 0.0, -0.32}};
    rbGeometryId box;
    rbWorld* world = createEmpty(def, &box);
    for (int i = 0; i < 64; ++i) {
        int row = i / 8;
        int layer = row / 2;
        rbVec3 at = rbMakeVec3(0.7 * (i % 8), 0.25 * (row % 2), 0.6 + 1.1 * layer);
        rbBodyId trunk = addBody(world, box, at, false);
        for (int k = 0; k < 5; ++k) {
            rbVec3 place = rbAdd(at, places[k]);
            rbBodyId limb = addBody(world, box, place, false);
            join(world, trunk, limb, rbScale(0.5, rbAdd(at, place)));
        }
    }
    return world;
}

// 10 x 10 towers of four boxes: islands of their own.
static rbWorld* createIslands(rbWorldDef def)
{
    rbGeometryId box;
    rbWorld* world = createEmpty(def, &box);
    for (int i = 0; i < 400; ++i) {
        double shift = 0.01 * (i % 7);
        int row = i / 10;
        int layer = row / 10;
        (void)addBody(world, box,
                      rbMakeVec3(0.5 * (i % 10) + shift, 0.5 * (row % 10), 0.16 + 0.31 * layer),
                      false);
    }
    return world;
}

// ---------------------------------------------------------------------------------------
// schedulers

static void runBackwards(rbBlockFn* blockFn, void* work, int blockCount, void* context)
{
    (void)context;
    for (int i = blockCount - 1; i >= 0; --i) {
        blockFn(i, work);
    }
}

static void runShuffled(rbBlockFn* blockFn, void* work, int blockCount, void* context)
{
    int order[64];
    assert_true(blockCount <= 64);
    for (int i = 0; i < blockCount; ++i) {
        int k = rbRandom_Index(context, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (int i = 0; i < blockCount; ++i) {
        blockFn(order[i], work);
    }
}

// ------------------------------------------------------------------------------------------
// results

typedef struct Result {
    uint64_t hash;
    rbLedger ledger;
    size_t size;
    void* snapshot;
} Result;

typedef struct Case {
    rbWorld* (*create)(rbWorldDef def);
    rbAccuracy accuracy;
    int steps;
} Case;

static Result run(const Case* c, int threadCount, const rbTaskHost* host)
{
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.step.step = STEP;
    rbWorldDef_SetAccuracy(&def, c->accuracy);
    def.contact.isOverlapAllowed = true;
    def.contact.hasEvents = true;
    def.threadCount = threadCount;
    if (host != NULL) {
        def.tasks = *host;
    }
    rbWorld* world = c->create(def);
    int steps = rbTest_Count(10 * c->steps, 10 * c->steps) / 10; // quick: a tenth
    steps = steps > 2 ? steps : 2;
    for (int i = 1; i <= steps; ++i) {
        rbStatus status = rbWorld_AdvanceTo(world, rbGetStepTime(i, STEP)).status;
        assert_true(status == RB_STATUS_OK || status == RB_STATUS_NUMERICAL);
    }
    Result result = {.hash = rbWorld_GetHash(world), .ledger = rbWorld_GetLedger(world)};
    result.size = rbWorld_GetSnapshotSize(world);
    result.snapshot = malloc(result.size);
    assert_non_null(result.snapshot);
    assert_int_equal(rbWorld_TakeSnapshot(world, result.snapshot, result.size, &error), 0);
    rbDestroyWorld(world);
    return result;
}

static void checkEqual(const Result* one, Result many, const char* what)
{
    if (many.hash != one->hash) {
        fail_msg("%s: hash %016" PRIx64 ", not %016" PRIx64, what, many.hash, one->hash);
    }
    assert_memory_equal(&many.ledger, &one->ledger, sizeof many.ledger);
    assert_true(many.size == one->size);
    assert_memory_equal(many.snapshot, one->snapshot, many.size);
    free(many.snapshot);
}

static void checkThreads(Case c)
{
    static const int counts[] = {2, 4, 3, 8, 16};
    size_t count = rbTest_Count(20, 20) < 20 ? 2 : sizeof counts / sizeof counts[0]; // quick: 2
    Result one = run(&c, 1, NULL);
    for (size_t i = 0; i < count; ++i) {
        char what[32];
        (void)snprintf(what, sizeof what, "%d threads", counts[i]);
        checkEqual(&one, run(&c, counts[i], NULL), what);
    }
    rbRandom random = {rbTest_Seed(7)};
    rbTaskHost backwards = {.runFn = runBackwards, .workerCount = 2};
    rbTaskHost shuffled = {.runFn = runShuffled, .context = &random, .workerCount = 8};
    checkEqual(&one, run(&c, 0, &backwards), "blocks backwards");
    checkEqual(&one, run(&c, 0, &shuffled), "blocks shuffled");
    free(one.snapshot);
}

#define CLAIM(name, create, accuracy, steps)                         \
    static void name(void** state)                                   \
    {                                                                \
        (void)state;                                                 \
        checkThreads((Case){create, RB_ACCURACY_##accuracy, steps}); \
    }

CLAIM(wallsInGames, createWall, GAME, 20)
CLAIM(mixedPilesInGames, createMixed, GAME, 60)
CLAIM(spheresInGames, createSpheres, GAME, 60)
CLAIM(terrainInGames, createTerrain, GAME, 40)
CLAIM(pendulumsInGames, createPendulum, GAME, 60)
CLAIM(ragdollsInGames, createRagdolls, GAME, 30)
CLAIM(islandsInGames, createIslands, GAME, 40)
CLAIM(mixedPilesInEngineering, createMixed, ENGINEERING, 20)
CLAIM(ragdollsInEngineering, createRagdolls, ENGINEERING, 3)
CLAIM(islandsInEngineering, createIslands, ENGINEERING, 3)
CLAIM(pendulumsInEngineering, createPendulum, ENGINEERING, 4)

static void unusableNumbersAreRefused(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.threadCount = -1;
    assert_null(rbCreateWorld(&def, &error));
    def.threadCount = 65;
    assert_null(rbCreateWorld(&def, &error));
    def = rbDefaultWorldDef();
    def.tasks.runFn = runBackwards;
    assert_null(rbCreateWorld(&def, &error));
    assert_int_equal(error.status, RB_STATUS_INVALID);
}

RB_TEST_GROUP(golden_threads, cmocka_unit_test(wallsInGames), cmocka_unit_test(mixedPilesInGames),
              cmocka_unit_test(spheresInGames), cmocka_unit_test(terrainInGames),
              cmocka_unit_test(pendulumsInGames), cmocka_unit_test(ragdollsInGames),
              cmocka_unit_test(islandsInGames), cmocka_unit_test(mixedPilesInEngineering),
              cmocka_unit_test(ragdollsInEngineering), cmocka_unit_test(islandsInEngineering),
              cmocka_unit_test(pendulumsInEngineering),
              cmocka_unit_test(unusableNumbersAreRefused));
