// Which bodies collide, while a world runs: the filter of the user, and groups and masks that
// change.
#include "event_scenes.h"

#include <math.h>
#include <stdlib.h>

// A filter that keeps one body from meeting anything, and a record of what it was asked.
#define CALLS_MAX 1000

typedef struct Ghost {
    rbBodyId body; // null: none
    int calls[CALLS_MAX][2];
    int count;
} Ghost;

static bool letGhostPass(const rbWorld* world, rbBodyId a, rbBodyId b, void* context)
{
    Ghost* ghost = context;
    assert_true(rbBody_IsValid(world, a) && rbBody_IsValid(world, b));
    assert_true(a.index1 < b.index1);
    assert_true(ghost->count < CALLS_MAX);
    ghost->calls[ghost->count][0] = (int)a.index1;
    ghost->calls[ghost->count][1] = (int)b.index1;
    ghost->count += 1;
    return !isSameId(a, ghost->body) && !isSameId(b, ghost->body);
}

static double heightOf(const rbWorld* world, rbBodyId body)
{
    return rbBody_GetState(world, body).transform.p.z;
}

static rbWorldDef defineEngine(rbEngineType engine)
{
    rbWorldDef def = defineWorld();
    def.engine = engine;
    return def;
}

static void theFilterSaysWhoCollides(void** state)
{
    (void)state;
    const rbEngineType engines[2] = {RB_ENGINE_STEP, RB_ENGINE_EVENT};
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = defineEngine(engines[i]);
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        rbBodyId solid = addCube(world, "solid", rbMakeVec3(0.0, 0.0, 0.01));
        Ghost ghost = {.body = addCube(world, "ghost", rbMakeVec3(0.02, 0.0, 0.2))};
        rbWorld_SetContactFilter(world, letGhostPass, &ghost);
        advance(world, 0.5);
        checkNear(heightOf(world, ghost.body), 0.25 - 0.125 * GRAVITY, 1e-9);
        checkNear(heightOf(world, solid), 0.05, 1e-4);
        assert_true(ghost.count > 0);
        rbDestroyWorld(world);
    }
}

// A filter that changes its mind: what rests on the floor falls through it.
static void renewedFiltersReleaseAndCatch(void** state)
{
    (void)state;
    const rbEngineType engines[2] = {RB_ENGINE_STEP, RB_ENGINE_EVENT};
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = defineEngine(engines[i]);
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, SHELL));
        Ghost ghost = {.body = {0, 0}};
        rbWorld_SetContactFilter(world, letGhostPass, &ghost);
        advance(world, 0.2);
        double height = heightOf(world, cube);
        checkNear(height, 0.05, 1e-4);
        ghost.body = cube;
        rbWorld_RenewContactFilter(world);
        advance(world, 0.25);
        double fallen = 0.5 * GRAVITY * 0.05 * 0.05;
        checkNear(heightOf(world, cube), height - fallen, 1e-4);
        // inside of the floor: refused by name, and nothing moves
        ghost.body = (rbBodyId){0, 0};
        rbWorld_RenewContactFilter(world);
        uint64_t hash = rbWorld_GetHash(world);
        rbStepReport report = rbWorld_AdvanceTo(world, 0.3);
        assert_int_equal(report.status, RB_STATUS_INVALID);
        assert_non_null(strstr(rbWorld_GetError(world).message, "\"floor\" and \"cube\" overlap"));
        assert_true(rbWorld_GetHash(world) == hash);
        // without a filter the same
        rbWorld_SetContactFilter(world, NULL, NULL);
        assert_int_equal(rbWorld_AdvanceTo(world, 0.3).status, RB_STATUS_INVALID);
        ghost.body = cube;
        rbWorld_SetContactFilter(world, letGhostPass, &ghost);
        advance(world, 0.3);
        rbDestroyWorld(world);
    }
}

// Filters are asked the same questions in every run, and going back gives the same bits.
static void filteredRunsRepeat(void** state)
{
    (void)state;
    static Ghost ghosts[2];
    uint64_t hashes[2];
    for (int i = 0; i < 2; ++i) {
        rbRandom random = {7};
        rbWorldDef def = defineWorld();
        Room room = makeRoom(&random, &def);
        ghosts[i] = (Ghost){.body = {0, 0}};
        rbBodyId a = room.bodies[0];
        ghosts[i].body = a;
        rbWorld_SetContactFilter(room.world, letGhostPass, &ghosts[i]);
        (void)rbWorld_AdvanceTo(room.world, 0.2);
        size_t size = rbWorld_GetSnapshotSize(room.world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(room.world, bytes, size, NULL), RB_STATUS_OK);
        if (i == 1) {
            (void)rbWorld_AdvanceTo(room.world, 0.25);
            assert_int_equal(rbWorld_RestoreSnapshot(room.world, bytes, size, NULL), RB_STATUS_OK);
            ghosts[1].count = ghosts[0].count;
        }
        (void)rbWorld_AdvanceTo(room.world, 0.25);
        hashes[i] = rbWorld_GetHash(room.world);
        free(bytes);
        rbDestroyWorld(room.world);
    }
    assert_true(hashes[0] == hashes[1]);
    assert_true(ghosts[0].count > 0);
    assert_memory_equal(ghosts[0].calls, ghosts[1].calls, sizeof(int[10][2]));
}

RB_TEST_GROUP(test_contact_filter, cmocka_unit_test(theFilterSaysWhoCollides),
              cmocka_unit_test(renewedFiltersReleaseAndCatch),
              cmocka_unit_test(filteredRunsRepeat));
