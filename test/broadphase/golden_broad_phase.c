// The work of the tree of boxes for fixed boxes that move, the same for every compiler and build
// type. What is found is compared with the naive way elsewhere; a tree that is built or kept badly
// finds the same, and only visits more.
#include "base/core/random.h"
#include "rb_test.h"

#include <rattleback/broadphase.h>

#include <inttypes.h>

#define BOXES 300
#define ROUNDS 12

static double drawIn(rbRandom* random, double half)
{
    return half * rbRandom_Symmetric(random);
}

// Numbers are drawn one by one: compilers differ in the order of arguments.
static rbBounds drawBox(rbRandom* random)
{
    rbBounds box;
    box.lower.x = drawIn(random, 5.0);
    box.lower.y = drawIn(random, 4.0);
    box.lower.z = drawIn(random, 1.0);
    double size = rbRandom_Index(random, 9) == 0 ? 3.0 : 0.6;
    box.upper.x = box.lower.x + size * rbRandom_Unit(random);
    box.upper.y = box.lower.y + size * rbRandom_Unit(random);
    box.upper.z = box.lower.z + size * rbRandom_Unit(random);
    return box;
}

static rbBounds shift(rbRandom* random, rbBounds box, double step)
{
    rbVec3 by;
    by.x = drawIn(random, step);
    by.y = drawIn(random, step);
    by.z = drawIn(random, step);
    return (rbBounds){rbAdd(box.lower, by), rbAdd(box.upper, by)};
}

static void printWork(const char* what, rbBroadPhase* broad, int64_t found,
                      rbBroadPhaseCounts* work)
{
    *work = rbBroadPhase_GetCounts(broad);
    print_message("{\"%s\", %" PRId64 ", {%" PRId64 ", %" PRId64 ", %" PRId64 "}},\n", what, found,
                  work->boxTests, work->candidates, work->cells);
}

// The counts so far after each kind of work.
static void treesDoTheSameWorkEverywhere(void** state)
{
    (void)state;
    static const struct {
        const char* what;
        int64_t found; // ids, in all lists so far
        rbBroadPhaseCounts counts;
    } golden[] = {
        {"built", 269, {6602, 269, 3301}},
        {"moved one by one", 2070, {62136, 2070, 31068}},
        {"moved together", 5636, {200376, 5636, 100188}},
        {"removed", 5688, {205386, 5688, 102693}},
        {"queried", 5832, {213258, 5832, 106629}},
    };
    enum {
        KINDS = sizeof golden / sizeof golden[0]
    };
    rbRandom random = {4713};
    rbBroadPhase* broad = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
    rbIdList list = {0};
    rbBounds boxes[BOXES];
    rbBroadPhaseCounts work[KINDS];
    int64_t found[KINDS] = {0};
    for (int i = 0; i < BOXES; ++i) {
        boxes[i] = drawBox(&random);
        rbBroadPhase_Place(broad, i, boxes[i], &list);
        found[0] += list.count;
    }
    printWork("built", broad, found[0], &work[0]);
    found[1] = found[0];
    for (int i = 0; i < ROUNDS * BOXES; ++i) {
        int id = i * 7 % BOXES;
        double step = i % 50 == 0 ? 3.0 : 0.02;
        boxes[id] = shift(&random, boxes[id], step);
        rbBroadPhase_Place(broad, id, boxes[id], i % 3 == 0 ? &list : NULL);
        found[1] += i % 3 == 0 ? list.count : 0;
    }
    printWork("moved one by one", broad, found[1], &work[1]);
    found[2] = found[1];
    for (int round = 0; round < ROUNDS; ++round) {
        for (int i = 0; i < BOXES; ++i) {
            boxes[i] = shift(&random, boxes[i], round % 4 == 3 ? 2.0 : 0.1);
        }
        rbBroadPhase_PlaceAll(broad, boxes, BOXES);
        rbBroadPhase_FindPairs(broad, &list);
        found[2] += list.count;
    }
    printWork("moved together", broad, found[2], &work[2]);
    for (int i = 0; i < BOXES; i += 3) {
        rbBroadPhase_Remove(broad, i);
    }
    rbBroadPhase_FindPairs(broad, &list);
    found[3] = found[2] + list.count;
    printWork("removed", broad, found[3], &work[3]);
    found[4] = found[3];
    for (int i = 0; i < BOXES; ++i) {
        rbBroadPhase_Query(broad, drawBox(&random), &list);
        found[4] += list.count;
    }
    printWork("queried", broad, found[4], &work[4]);
    rbIdList_Free(&list);
    rbDestroyBroadPhase(broad);
    for (int k = 0; k < KINDS; ++k) {
        assert_int_equal(found[k], golden[k].found);
        assert_int_equal(work[k].boxTests, golden[k].counts.boxTests);
        assert_int_equal(work[k].candidates, golden[k].counts.candidates);
        assert_int_equal(work[k].cells, golden[k].counts.cells);
    }
}

RB_TEST_GROUP(golden_broad_phase, cmocka_unit_test(treesDoTheSameWorkEverywhere));
