// The pairs of the convex suite: four shapes, four placements, and the true answer of each pair.
//
// 500 pairs of two copies of a shape of about unit size: orientations quat() and quat(), approach
// direction dir() from seed 77 (random3.h), restarted for every shape. B approaches along the
// direction until it touches A, then moves along the contact normal to its placement. For warm
// starts B turns 0.01 rad per step about a fixed random axis through its center and is shifted
// along the normal so that the placement holds at every step.
#pragma once

#include "convex_reference.h"

#define RB_BENCH_SHAPE_COUNT 4

typedef enum rbPlacement {
    RB_PLACE_SEPARATED,
    RB_PLACE_TOUCHING,
    RB_PLACE_SHALLOW,
    RB_PLACE_DEEP,
    RB_PLACE_COUNT
} rbPlacement;

// Name and signed distance, m, along the contact normal. The depth may be smaller along another
// normal; the truths account for that.
extern const struct rbPlacementRow {
    const char* name;
    double distance;
} rbPlacements[RB_PLACE_COUNT];

typedef RB_ARRAY(rbPeerPair) rbPeerPairArray;
typedef RB_ARRAY(double) rbTruthArray;

// Pairs of one placement. Query i belongs to slot i % slotCount; the steps of a slot follow each
// other. Cold sets have one step.
typedef struct rbPairSet {
    rbPeerPairArray pairs;
    rbTruthArray truths; // m, signed distance
    int slotCount;
} rbPairSet;

typedef struct rbConvexPairs {
    rbBenchShape shape;
    rbPairSet cold[RB_PLACE_COUNT];
    rbPairSet warm[RB_PLACE_COUNT];
    double placeError; // m, largest difference of a gap from its placement, according to the
                       // references
} rbConvexPairs;

// Makes shape number 0 .. RB_BENCH_SHAPE_COUNT - 1 with the given number of pairs. NULL when the
// geometry cannot be created (hulls in a library built without qhull).
rbConvexPairs* rbMakeConvexPairs(int shapeIndex, int coldCount, int warmCount, int warmSteps);
void rbFreeConvexPairs(rbConvexPairs* pairs);
