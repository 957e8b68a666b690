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

// B-54
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

// ---------------------------------------------------------------------------------------- groups

// A body that is switched off falls through the floor and through what stands on it.
static void groupsCanChangeWhileRunning(void** state)
{
    (void)state;
    const rbEngineType engines[2] = {RB_ENGINE_STEP, RB_ENGINE_EVENT};
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = defineEngine(engines[i]);
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        rbBodyId lower = addCube(world, "lower", rbMakeVec3(0.0, 0.0, SHELL));
        rbBodyId upper = addCube(world, "upper", rbMakeVec3(0.0, 0.0, 0.1 + 2.0 * SHELL));
        advance(world, 0.1);
        double height = heightOf(world, lower);
        double above = heightOf(world, upper);
        checkNear(above, 0.15, 1e-3);
        rbBody_SetGroups(world, lower, 1, 0);
        assert_int_equal(rbBody_GetShape(world, lower, 0).mask, 0);
        advance(world, 0.15);
        double fallen = 0.5 * GRAVITY * 0.05 * 0.05;
        checkNear(heightOf(world, lower), height - fallen, 1e-4);
        // what stood on it falls, too, and lands on the floor; microcollisions leave some speed
        checkNear(heightOf(world, upper), above - fallen, i == 0 ? 1e-4 : 1e-3);
        advance(world, 0.5);
        checkNear(heightOf(world, upper), 0.05, 1e-3);
        // below the floor it cannot be switched on ...
        rbBody_SetGroups(world, lower, 1, UINT32_MAX);
        assert_int_equal(rbWorld_AdvanceTo(world, 0.6).status, RB_STATUS_INVALID);
        assert_non_null(strstr(rbWorld_GetError(world).message, "\"floor\" and \"lower\" overlap"));
        checkNear(rbWorld_GetTime(world), 0.5, 0.0);
        // ... but above it
        rbTransform place = {{1.0, 0.0, 0.05 + SHELL}, RB_QUAT_IDENTITY};
        rbError error = {0};
        assert_int_equal(rbBody_SetState(world, lower, place, RB_VEC3_ZERO, RB_VEC3_ZERO, &error),
                         RB_STATUS_OK);
        advance(world, 0.6);
        checkNear(heightOf(world, lower), 0.05, 1e-4);
        rbDestroyWorld(world);
    }
}

// Bodies that overlap when they begin to collide are separated on request; the journal of contacts
// has the end and the begin.
static void bodiesSwitchedOnInsideEachOtherPart(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    def.gravity = RB_VEC3_ZERO;
    def.contact.isOverlapAllowed = true;
    rbWorld* world = makeWorld(&def);
    rbBodyId a = addCube(world, "a", RB_VEC3_ZERO);
    rbBodyId b = addCube(world, "b", rbMakeVec3(0.09, 0.0, 0.0));
    rbBody_SetGroups(world, a, 1, 0);
    advance(world, 0.1);
    int count;
    (void)rbWorld_GetContactEvents(world, &count);
    assert_int_equal(count, 0);
    rbBody_SetGroups(world, a, 1, UINT32_MAX);
    advance(world, 0.3);
    const rbContactEvent* events = rbWorld_GetContactEvents(world, &count);
    assert_true(count >= 1);
    assert_int_equal(events[0].kind, RB_CONTACT_BEGIN);
    double apart = rbBody_GetState(world, b).center.x - rbBody_GetState(world, a).center.x;
    checkNear(apart, 0.1, 1e-4);
    rbDestroyWorld(world);
}

// Switches ride in snapshots, and switching to and fro at once changes nothing that matters.
static void groupsAreInSnapshots(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, 0.1));
    advance(world, 0.05);
    size_t size = rbWorld_GetSnapshotSize(world);
    void* bytes = malloc(size);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
    advance(world, 0.3);
    uint64_t hash = rbWorld_GetHash(world);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
    rbBody_SetGroups(world, cube, 4, 8);
    advance(world, 0.3);
    assert_true(heightOf(world, cube) < 0.0);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
    assert_int_equal(rbBody_GetShape(world, cube, 0).groups, 1);
    assert_int_equal(rbBody_GetShape(world, cube, 0).mask, UINT32_MAX);
    advance(world, 0.3);
    assert_true(rbWorld_GetHash(world) == hash);
    free(bytes);
    rbDestroyWorld(world);
}

// Groups and mask of all bodies of a room; the walls have the defaults.
typedef struct Bits {
    uint32_t groups[ROOM_BODIES];
    uint32_t masks[ROOM_BODIES];
} Bits;

// The first body passes the walls, the others meet them; each may meet some of the others.
static Bits switchGroups(rbRandom* random, const Room* room)
{
    Bits bits;
    for (int k = 0; k < ROOM_BODIES; ++k) {
        bits.groups[k] = (k == 0 ? 0u : 1u) | 2u << rbRandom_Index(random, 3);
        bits.masks[k] = k == 0 ? ~1u : 1u | (uint32_t)rbRandom_Index(random, 8) << 1;
        rbBody_SetGroups(room->world, room->bodies[k], bits.groups[k], bits.masks[k]);
    }
    return bits;
}

static bool mayTouch(const Bits* bits, const Room* room, const rbContactEvent* event)
{
    int a = (int)event->bodyA.index1 - (int)room->bodies[0].index1;
    int b = (int)event->bodyB.index1 - (int)room->bodies[0].index1;
    assert_in_range(b, 0, ROOM_BODIES - 1);
    uint32_t groups = a < 0 ? 1u : bits->groups[a];
    uint32_t mask = a < 0 ? UINT32_MAX : bits->masks[a];
    return (groups & bits->masks[b]) != 0 && (bits->groups[b] & mask) != 0;
}

// Of bodies of random groups in a room only those begin to touch whose bits agree.
static void onlyAgreeingGroupsTouch(void** state)
{
    (void)state;
    static EventLog log;
    int count = rbTest_Count(10, 500);
    int touches = 0;
    for (int i = 0; i < count; ++i) {
        rbRandom random = {rbTest_Seed(512) + (uint64_t)i};
        rbWorldDef def = defineWorld();
        def.contact.isOverlapAllowed = true;
        Room room = makeRoom(&random, &def);
        for (int round = 1; round <= 3; ++round) {
            Bits bits = switchGroups(&random, &room);
            log.count = 0;
            run(room.world, 0.1 * round, 5, &log);
            for (int k = 0; k < log.count; ++k) {
                bool isBegin = log.events[k].kind == RB_CONTACT_BEGIN;
                assert_true(!isBegin || mayTouch(&bits, &room, &log.events[k]));
                touches += isBegin ? 1 : 0;
            }
        }
        rbDestroyWorld(room.world);
    }
    print_message("%d touches\n", touches);
    assert_true(touches > count);
}

RB_TEST_GROUP(test_contact_filter, cmocka_unit_test(theFilterSaysWhoCollides),
              cmocka_unit_test(groupsCanChangeWhileRunning),
              cmocka_unit_test(bodiesSwitchedOnInsideEachOtherPart),
              cmocka_unit_test(groupsAreInSnapshots), cmocka_unit_test(onlyAgreeingGroupsTouch),
              cmocka_unit_test(renewedFiltersReleaseAndCatch),
              cmocka_unit_test(filteredRunsRepeat));
