// Every box against every other (L-81): O(n) for a box, O(n^2) for all pairs. The oracle for the
// other rows, and the fastest one for a few dozen boxes. It has no data beyond the common part.
#include "lab/broadphase/broad_rows.h"

// Below this count, a scan is as fast as any other method (measured: docs/modules/broadphase.md).
#define NAIVE_MAX 32

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

static bool suits(const rbBounds* boxes, int count)
{
    (void)boxes;
    return count <= NAIVE_MAX;
}

const rbBroadRow rbBroadRowNaive = {
    .name = "naive",
    .query = rbScanBoxes,
    .suits = suits,
};
