// Broad phases one by one: names, small hand-made cases, memory, and bad cases for each method.
#include "box_scenes.h"
#include "collision/broadphase/broad_phase.h"
#include "rb_test.h"

static rbBounds makeCube(double x, double edge)
{
    return rbMakeBoxAround(rbMakeVec3(x, 0.0, 0.0), rbMakeVec3(edge, edge, edge));
}

static void namesAreFoundAgain(void** state)
{
    (void)state;
    for (int type = RB_BROAD_AUTO; type < rbBroadPhaseType_GetCount(); ++type) {
        assert_int_equal(rbBroadPhaseType_Find(rbBroadPhaseType_Name((rbBroadPhaseType)type)),
                         type);
    }
    assert_int_equal(rbBroadPhaseType_Find("octree"), rbBroadPhaseType_GetCount());
}

// L-81, L-82, L-83, L-84, L-85
static void touchingBoxesOverlapAndGapsDoNot(void** state)
{
    (void)state;
    for (int type = RB_BROAD_TREE; type < rbBroadPhaseType_GetCount(); ++type) {
        rbBroadPhase* broad = rbCreateBroadPhase((rbBroadPhaseType)type, 0.0);
        assert_int_equal(rbBroadPhase_GetType(broad), type);
        rbIdList found = {0};
        rbBroadPhase_Place(broad, 7, makeCube(0.0, 1.0), &found);
        assert_int_equal(found.count, 0);
        rbBroadPhase_Place(broad, 2, makeCube(1.0, 1.0), &found); // face to face
        assert_int_equal(found.count, 1);
        assert_int_equal(found.ids[0], 7);
        rbBroadPhase_Place(broad, 2, makeCube(1.0 + 0x1p-52, 1.0), &found); // the next double
        assert_int_equal(found.count, 0);
        rbBroadPhase_Place(broad, 0, makeCube(1.0, 0.0), &found); // a point on the face
        assert_int_equal(found.count, 1);
        rbBroadPhase_Place(broad, 2, makeCube(0.5, 1.0), &found);
        assert_int_equal(found.count, 2);
        assert_int_equal(found.ids[0], 0);
        assert_int_equal(found.ids[1], 7);
        rbBroadPhase_FindPairs(broad, &found);
        static const int pairs[] = {0, 2, 0, 7, 2, 7};
        assert_int_equal(found.count, 6);
        assert_memory_equal(found.ids, pairs, sizeof pairs);
        rbBroadPhase_Remove(broad, 2);
        assert_false(rbBroadPhase_Has(broad, 2));
        rbBroadPhase_FindPairs(broad, &found);
        assert_int_equal(found.count, 2);
        rbBroadPhase_Query(broad, makeCube(-5.0, 100.0), &found);
        assert_int_equal(found.count, 2);
        rbIdList_Free(&found);
        rbDestroyBroadPhase(broad);
    }
}

static void emptyOnesFindNothing(void** state)
{
    (void)state;
    for (int type = RB_BROAD_TREE; type < rbBroadPhaseType_GetCount(); ++type) {
        rbBroadPhase* broad = rbCreateBroadPhase((rbBroadPhaseType)type, 0.0);
        rbIdList found = {0};
        rbBroadPhase_PlaceAll(broad, NULL, 0);
        rbBroadPhase_Query(broad, makeCube(0.0, 1.0), &found);
        assert_int_equal(found.count, 0);
        rbBroadPhase_Place(broad, 3, makeCube(0.0, 1.0), NULL);
        rbBroadPhase_Remove(broad, 3);
        rbBroadPhase_Query(broad, makeCube(0.0, 1.0), &found);
        assert_int_equal(found.count, 0);
        rbBroadPhase_FindPairs(broad, &found);
        assert_int_equal(found.count, 0);
        rbIdList_Free(&found);
        rbDestroyBroadPhase(broad);
    }
}

// The same history twice; the second time the arrays have their final size.
static void live(rbBroadPhase* broad, rbIdList* found, uint64_t seed)
{
    rbRandom random = {seed};
    rbBounds boxes[300];
    for (int id = 0; id < 300; ++id) {
        boxes[id] = rbBoxScenes[0].make(&random);
    }
    rbBroadPhase_PlaceAll(broad, boxes, 300);
    for (int i = 0; i < 3000; ++i) {
        int id = rbRandom_Index(&random, 300);
        if (rbBroadPhase_Has(broad, id) && rbRandom_Index(&random, 10) == 0) {
            rbBroadPhase_Remove(broad, id);
        } else {
            rbBroadPhase_Place(broad, id, rbBoxScenes[i % 2].make(&random), found);
        }
    }
    rbBroadPhase_Query(broad, boxes[0], found);
    rbBroadPhase_FindPairs(broad, found);
}

static void nothingIsAllocatedAfterWarmUp(void** state)
{
    (void)state;
    uint64_t seed = rbTest_Seed(4);
    uint64_t bytes = rbGetAllocatedBytes();
    for (int type = RB_BROAD_TREE; type < rbBroadPhaseType_GetCount(); ++type) {
        rbBroadPhase* broad = rbCreateBroadPhase((rbBroadPhaseType)type, 0.0);
        rbIdList found = {0};
        live(broad, &found, seed);
        live(broad, &found, seed); // the first one started empty
        uint64_t before = rbGetAllocationCount();
        live(broad, &found, seed);
        assert_int_equal(rbGetAllocationCount(), before);
        rbIdList_Free(&found);
        rbDestroyBroadPhase(broad);
    }
    assert_int_equal(rbGetAllocatedBytes(), bytes);
}

// Work of a row per placed box, in cells, nodes or ends.
static double countWork(rbBroadPhaseType type, rbBounds (*make)(rbRandom*, int), int count)
{
    rbRandom random = {rbTest_Seed(5)};
    rbBroadPhase* broad = rbCreateBroadPhase(type, 0.0);
    rbIdList found = {0};
    for (int id = 0; id < count; ++id) {
        rbBroadPhase_Place(broad, id, make(&random, id), NULL);
    }
    rbBroadPhaseCounts before = rbBroadPhase_GetCounts(broad);
    for (int id = 0; id < count; ++id) {
        rbBroadPhase_Place(broad, id, rbBroadPhase_GetBox(broad, id), &found);
    }
    rbBroadPhaseCounts after = rbBroadPhase_GetCounts(broad);
    rbIdList_Free(&found);
    rbDestroyBroadPhase(broad);
    return (double)(after.cells - before.cells + after.boxTests - before.boxTests) / count;
}

// Sorted along a line, as a file might list them.
static rbBounds makeRow(rbRandom* random, int id)
{
    (void)random;
    return makeCube(2.0 * id, 1.0);
}

// Each box encloses the previous one.
static rbBounds makeNested(rbRandom* random, int id)
{
    (void)random;
    double half = pow(1.01, id);
    return rbMakeBoxAround(rbMakeVec3(-half, -half, -half),
                           rbMakeVec3(2.0 * half, 2.0 * half, 2.0 * half));
}

// A floor of 1e4 m and small boxes on it.
static rbBounds makeOnFloor(rbRandom* random, int id)
{
    if (id == 0) {
        return rbMakeBoxAround(rbMakeVec3(-5e3, -5e3, -1.0), rbMakeVec3(1e4, 1e4, 1.0));
    }
    double x = rbRandom_Range(random, -50.0, 50.0);
    return rbMakeBoxAround(rbMakeVec3(x, rbRandom_Range(random, -50.0, 50.0), 0.0),
                           rbMakeVec3(1.0, 1.0, 1.0));
}

// All but one are in a thousandth of the space.
static rbBounds makeOutlier(rbRandom* random, int id)
{
    rbBounds box = rbBoxScenes[0].make(random);
    return id == 0 ? makeCube(1e12, 1.0)
                   : (rbBounds){rbScale(3.0, box.lower),
                                rbAdd(rbScale(3.0, box.lower), rbMakeVec3(1.0, 1.0, 1.0))};
}

// L-84, G-04: bad cases stay cheap: a list, an outlier, one box much larger than the rest
static void treeAndHashStayCheapInBadCases(void** state)
{
    (void)state;
    const rbBroadPhaseType types[] = {RB_BROAD_TREE, rbBroadPhaseType_Find("hash"),
                                      rbBroadPhaseType_Find("cells")};
    for (int t = 0; t < 3; ++t) {
        checkBelow(countWork(types[t], makeRow, 4000), 120.0);
        checkBelow(countWork(types[t], makeOnFloor, 4000), 120.0);
        checkBelow(countWork(types[t], makeOutlier, 4000), 300.0);
        // all pairs overlap: nothing can be saved, but nothing may break
        checkBelow(countWork(types[t], makeNested, 1000), 4000.0);
    }
}

// The tree stays good when boxes wander: visits at most a constant factor more nodes than after a
// fresh build.
static void wanderingBoxesKeepTheTreeGood(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6)};
    int count = 2000;
    double size = cbrt(count / 1.25);
    rbBroadPhase* broad = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
    rbBounds* boxes = rbAlloc((size_t)count * sizeof *boxes);
    rbIdList found = {0};
    for (int id = 0; id < count; ++id) {
        boxes[id] = rbMakeBoxAround(rbMakeVec3(rbRandom_Range(&random, 0.0, size),
                                               rbRandom_Range(&random, 0.0, size),
                                               rbRandom_Range(&random, 0.0, size)),
                                    rbMakeVec3(1.0, 1.0, 1.0));
        rbBroadPhase_Place(broad, id, boxes[id], NULL);
    }
    int moves = rbTest_Count(100, 3000) * count;
    for (int i = 0; i < moves; ++i) {
        int id = i % count;
        rbBounds moved = rbShiftBounds(&random, boxes[id], 0.3);
        if (moved.lower.x > 0.0 && moved.lower.y > 0.0 && moved.lower.z > 0.0 &&
            moved.lower.x < size && moved.lower.y < size && moved.lower.z < size) {
            boxes[id] = moved;
            rbBroadPhase_Place(broad, id, moved, NULL);
        }
    }
    int64_t visits[2];
    for (int pass = 0; pass < 2; ++pass) {
        int64_t before = rbBroadPhase_GetCounts(broad).cells;
        rbBroadPhase_FindPairs(broad, &found);
        visits[pass] = rbBroadPhase_GetCounts(broad).cells - before;
        rbBroadPhase_PlaceAll(broad, boxes, count); // a fresh build
    }
    checkBelow((double)visits[0], 1.5 * (double)visits[1]);
    rbFree(boxes, (size_t)count * sizeof *boxes);
    rbIdList_Free(&found);
    rbDestroyBroadPhase(broad);
}

static void choiceFollowsNumberAndSizes(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(7)};
    rbBounds boxes[1000];
    assert_int_equal(rbChooseBroadPhase(NULL, 0), rbBroadPhaseType_Find("naive"));
    for (int id = 0; id < 1000; ++id) {
        boxes[id] = rbBoxScenes[0].make(&random);
    }
    assert_int_equal(rbChooseBroadPhase(boxes, 10), rbBroadPhaseType_Find("naive"));
    assert_int_equal(rbChooseBroadPhase(boxes, 1000), rbBroadPhaseType_Find("cells"));
    for (int id = 0; id < 1000; ++id) { // the same boxes far apart
        rbVec3 size = rbSub(boxes[id].upper, boxes[id].lower);
        boxes[id].lower = rbScale(20.0, boxes[id].lower);
        boxes[id].upper = rbAdd(boxes[id].lower, size);
    }
    assert_int_equal(rbChooseBroadPhase(boxes, 1000), rbBroadPhaseType_Find("hash"));
    for (int id = 0; id < 1000; ++id) {
        boxes[id] = rbBoxScenes[1].make(&random);
    }
    assert_int_equal(rbChooseBroadPhase(boxes, 1000), RB_BROAD_TREE);
}

// Boxes inside boxes, each larger by half: the tree gets as deep as there are boxes, and a query in
// the innermost finds all of them. Inserted from the inside and from the outside.
static void nestedBoxesAreAllFound(void** state)
{
    (void)state;
    enum {
        NESTED = 400
    };
    for (int round = 0; round < 2; ++round) {
        rbBroadPhase* broad = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
        rbIdList found = {0};
        for (int k = 0; k < NESTED; ++k) {
            int i = round == 0 ? k : NESTED - 1 - k;
            double edge = 1e-30;
            for (int j = 0; j < i; ++j) {
                edge *= 1.4;
            }
            rbBroadPhase_Place(broad, i, makeCube(0.0, edge), &found);
            assert_int_equal(found.count, k);
        }
        rbBroadPhase_Query(broad, makeCube(0.0, 1e-32), &found);
        assert_int_equal(found.count, NESTED);
        rbBroadPhase_FindPairs(broad, &found);
        assert_int_equal(found.count, NESTED * (NESTED - 1));
        rbIdList_Free(&found);
        rbDestroyBroadPhase(broad);
    }
}

// Memory grows in proportion to what there is, not by what is added: few allocations for many boxes
// and for lists of many ids.
static void memoryGrowsInProportion(void** state)
{
    (void)state;
    enum {
        MANY = 4000
    };
    for (int type = RB_BROAD_TREE; type < rbBroadPhaseType_GetCount(); ++type) {
        rbBroadPhase* broad = rbCreateBroadPhase((rbBroadPhaseType)type, 0.0);
        rbIdList found = {0};
        uint64_t before = rbGetAllocationCount();
        for (int i = 0; i < MANY; ++i) {
            rbBroadPhase_Place(broad, i, makeCube(0.9 * i, 1.0), &found);
        }
        checkBelow((double)(rbGetAllocationCount() - before), 400.0);
        for (int k = 1; k <= 40; ++k) { // longer and longer lists
            before = rbGetAllocationCount();
            rbBroadPhase_Query(broad, makeCube(0.0, 90.0 * k), &found);
            assert_in_range(found.count, 99 * k, 102 * k);
            checkBelow((double)(rbGetAllocationCount() - before), 30.0);
        }
        before = rbGetAllocationCount();
        rbBroadPhase_FindPairs(broad, &found);
        assert_int_equal(found.count, 2 * (MANY - 1));
        checkBelow((double)(rbGetAllocationCount() - before), 40.0);
        rbIdList_Free(&found);
        rbDestroyBroadPhase(broad);
    }
}

RB_TEST_GROUP(test_broad_phase, cmocka_unit_test(memoryGrowsInProportion),
              cmocka_unit_test(nestedBoxesAreAllFound), cmocka_unit_test(namesAreFoundAgain),
              cmocka_unit_test(touchingBoxesOverlapAndGapsDoNot),
              cmocka_unit_test(emptyOnesFindNothing),
              cmocka_unit_test(nothingIsAllocatedAfterWarmUp),
              cmocka_unit_test(treeAndHashStayCheapInBadCases),
              cmocka_unit_test(wanderingBoxesKeepTheTreeGood),
              cmocka_unit_test(choiceFollowsNumberAndSizes));
