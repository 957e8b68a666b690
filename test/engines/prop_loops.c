// Two loops and six broad phases, one motion.
//
// The loop over bodies (a clock and a region each) and the loop over pairs (a global interval, as
// in the specification) share nothing but the time bounds and the impacts. They measure in
// different orders, so impacts of measured pairs may differ by the time in which the tolerance is
// crossed. Broad phases return the same pairs, so the bits must be the same.
#include "event_scenes.h"

#define FIRSTS_MAX 64

// A body of random shape among n kinds: 1 gives spheres.
static void addRandomBody(rbWorld* world, rbRandom* random, int kinds, Made made)
{
    int kind = rbRandom_Index(random, kinds);
    double x = rbRandom_Range(random, 0.05, 0.15);
    double y = rbRandom_Range(random, 0.05, 0.15);
    double z = rbRandom_Range(random, 0.05, 0.15);
    rbGeometry* geometry = NULL;
    if (kind == 0) {
        geometry = rbCreateSphere(x, NULL);
    } else if (kind == 1) {
        geometry = rbCreateBox(rbMakeVec3(x, y, z), NULL);
    } else if (kind == 2) {
        geometry = rbCreateCapsule(0.5 * x, z, NULL);
    } else if (kind == 3) {
        geometry = rbCreateEllipsoid(rbMakeVec3(x, y, z), NULL);
    } else {
        const double profile[6][2] = {{0.0, 0.0},         {x, 0.0},     {x, 0.3 * y},
                                      {0.3 * x, 0.3 * y}, {0.3 * x, y}, {0.0, y}};
        rbOwnedMesh mesh;
        assert_int_equal(rbExtrudeProfile(profile, 6, z, &mesh, NULL), RB_STATUS_OK);
        rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
        geometry = rbCreateMesh(&def, NULL);
        rbFreeMesh(&mesh);
    }
    (void)addMade(world, &made, geometry, RB_BODY_DYNAMIC, NULL);
}

// Bodies on a loose lattice above a floor, flying in random directions.
static rbWorld* makeScene(const rbWorldDef* def, uint64_t seed, int count, int kinds)
{
    rbRandom random = {seed};
    rbWorld* world = makeWorldOf(def);
    double restitution = rbRandom_Range(&random, 0.5, 1.0);
    (void)addFloor(world, restitution, 0.3);
    for (int i = 0; i < count; ++i) {
        Made made = {
            .position = rbAdd(latticePlace(i, 4, 4, 0.5), rbMakeVec3(0.0, 0.0, 0.4)),
            .velocity = rbScale(rbRandom_Range(&random, 0.0, 4.0), rbRandom_Direction(&random)),
            .spin = rbScale(rbRandom_Range(&random, 0.0, 10.0), rbRandom_Direction(&random)),
            .orientation = rbRandom_Quat(&random),
            .restitution = restitution,
            .friction = 0.3};
        addRandomBody(world, &random, kinds, made);
    }
    return world;
}

// Whether an id is among the first count; adds it.
static bool notes(rbBodyId* ids, int* count, rbBodyId id)
{
    for (int i = 0; i < *count; ++i) {
        if (RB_ID_EQUALS(ids[i], id)) {
            return true;
        }
    }
    ids[(*count)++] = id;
    return false;
}

// Impacts between bodies neither of which has had one before: their times follow from the start
// alone. The floor may have had many.
static int listFirsts(const rbWorld* world, rbBodyId floor, rbEvent* firsts)
{
    rbBodyId hit[FIRSTS_MAX];
    int hitCount = 0;
    int count = 0;
    int eventCount;
    const rbEvent* events = rbWorld_GetEvents(world, &eventCount);
    for (int i = 0; i < eventCount && count < FIRSTS_MAX; ++i) {
        if (events[i].kind != RB_EVENT_IMPACT && events[i].kind != RB_EVENT_MICROCOLLISION) {
            continue;
        }
        bool isA =
            RB_ID_EQUALS(events[i].bodyA, floor) ? false : notes(hit, &hitCount, events[i].bodyA);
        bool isB = notes(hit, &hitCount, events[i].bodyB);
        if (!isA && !isB) {
            firsts[count++] = events[i];
        }
    }
    return count;
}

static int compareFirsts(const void* left, const void* right)
{
    const rbEvent* a = left;
    const rbEvent* b = right;
    if (a->bodyA.index1 != b->bodyA.index1) {
        return a->bodyA.index1 < b->bodyA.index1 ? -1 : 1;
    }
    return a->bodyB.index1 < b->bodyB.index1 ? -1 : a->bodyB.index1 > b->bodyB.index1;
}

// Runs both loops on a scene and compares the first impacts of every body.
static int compareLoops(uint64_t seed, int count, int kinds, double time)
{
    const rbEventLoop loops[] = {RB_LOOP_BODIES, rbEventLoop_Find("pairs"),
                                 rbEventLoop_Find("all-pairs")};
    rbEvent firsts[3][FIRSTS_MAX];
    int counts[3];
    double tolerance = 0.0;
    for (int loop = 0; loop < 3; ++loop) {
        rbWorldDef def = eventWorldDef(9.81);
        def.event.loop = loops[loop];
        rbWorld* world = makeScene(&def, seed, count, kinds);
        advanceFine(world, time);
        counts[loop] = listFirsts(world, rbWorld_FindBody(world, "floor"), firsts[loop]);
        tolerance = rbWorld_GetEventStatistics(world).tolerance;
        qsort(firsts[loop], (size_t)counts[loop], sizeof firsts[loop][0], compareFirsts);
        rbDestroyWorld(world);
    }
    assert_int_equal(counts[0], counts[1]);
    for (int i = 0; i < counts[0]; ++i) {
        const rbEvent* a = &firsts[0][i];
        const rbEvent* b = &firsts[1][i];
        assert_true(RB_ID_EQUALS(a->bodyA, b->bodyA) && RB_ID_EQUALS(a->bodyB, b->bodyB));
        double slack = kinds == 1 ? 1e-9 * a->time
                                  : 1.01 * tolerance / fmin(a->approachSpeed, b->approachSpeed);
        checkNear(a->time, b->time, slack);
    }
    return counts[0];
}

// L-77, L-78, L-86
static void loopsAgreeOnSpheres(void** state)
{
    (void)state;
    uint64_t seed = rbTest_Seed(631);
    int count = rbTest_Count(60, 1000);
    int impacts = 0;
    for (int i = 0; i < count; ++i) {
        impacts += compareLoops(seed + (uint64_t)i, 10 + i % 11, 1, 0.4);
    }
    print_message("%d first impacts of %d scenes\n", impacts, count);
    assert_true(impacts > 3 * count);
}

// L-77, L-78, L-86
static void loopsAgreeOnMixedShapes(void** state)
{
    (void)state;
    uint64_t seed = rbTest_Seed(632);
    int count = rbTest_Count(40, 800);
    int impacts = 0;
    for (int i = 0; i < count; ++i) {
        impacts += compareLoops(seed + (uint64_t)i, 10 + i % 11, 5, 0.4);
    }
    print_message("%d first impacts of %d scenes\n", impacts, count);
    assert_true(impacts > 3 * count);
}

// B-86: whichever broad phase finds the near pairs, the bits are the same.
static void broadPhasesGiveTheSameBits(void** state)
{
    (void)state;
    uint64_t seed = rbTest_Seed(633);
    int count = rbTest_Count(2, 20);
    for (int i = 0; i < count; ++i) {
        uint64_t first = 0;
        uint64_t firstJournal = 0;
        for (int type = 0; type < rbBroadPhaseType_GetCount(); ++type) {
            rbWorldDef def = eventWorldDef(9.81);
            def.event.broadPhase = (rbBroadPhaseType)type;
            rbWorld* world = makeScene(&def, seed + (uint64_t)i, 50, i % 2 == 0 ? 4 : 1);
            advanceFine(world, 1.0);
            uint64_t hash = rbWorld_GetHash(world);
            uint64_t journal = hashJournal(world);
            first = type == 0 ? hash : first;
            firstJournal = type == 0 ? journal : firstJournal;
            if (hash != first || journal != firstJournal) {
                print_error("%s differs, scene %d\n", rbBroadPhaseType_Name((rbBroadPhaseType)type),
                            i);
            }
            assert_true(hash == first && journal == firstJournal);
            rbDestroyWorld(world);
        }
    }
}

RB_TEST_GROUP(prop_loops, cmocka_unit_test(loopsAgreeOnSpheres),
              cmocka_unit_test(loopsAgreeOnMixedShapes),
              cmocka_unit_test(broadPhasesGiveTheSameBits));
