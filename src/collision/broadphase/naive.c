// Every box against every other (L-81): O(n) for a box, O(n^2) for all pairs. The oracle for the
// other rows, and the fastest one for a few dozen boxes.
#include "collision/broadphase/broad_phase.h"

typedef struct rbNaive {
    int unused; // the common part holds all data
} rbNaive;

static void insert(rbBroadPhase* broad, int id)
{
    RB_ASSERT(broad->isIn[id] != 0);
    (void)broad;
    (void)id;
}

static void moveBox(rbBroadPhase* broad, int id, const rbBounds* old)
{
    (void)old;
    insert(broad, id);
}

void rbScanBoxes(rbBroadPhase* broad, const rbBounds* box, int self, rbIdList* found)
{
    int first = found->count;
    rbIdList_Reserve(found, first + broad->count);
    for (int id = 0; id < broad->idEnd; ++id) {
        if (broad->isIn[id] != 0 && id != self && rbDoBoxesOverlap(box, &broad->boxes[id])) {
            found->ids[found->count++] = id;
        }
    }
    broad->counts.boxTests += broad->count;
    broad->counts.cells += broad->count;
    broad->counts.candidates += found->count - first;
}

static void findPairs(rbBroadPhase* broad, rbIdList* pairs)
{
    for (int a = 0; a < broad->idEnd; ++a) {
        if (broad->isIn[a] == 0) {
            continue;
        }
        for (int b = a + 1; b < broad->idEnd; ++b) {
            if (broad->isIn[b] != 0 && rbDoBoxesOverlap(&broad->boxes[a], &broad->boxes[b])) {
                rbIdList_PushPair(pairs, a, b);
            }
        }
    }
    int64_t tests = (int64_t)broad->count * (broad->count - 1) / 2;
    broad->counts.boxTests += tests;
    broad->counts.cells += tests;
    broad->counts.candidates += pairs->count / 2;
}

const rbBroadRow rbBroadRowNaive = {
    .name = "naive",
    .stateSize = sizeof(rbNaive),
    .insert = insert,
    .move = moveBox,
    .remove = insert,
    .query = rbScanBoxes,
    .findPairs = findPairs,
};
