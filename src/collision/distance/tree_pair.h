// Distance between two triangle surfaces by their box trees: the nearest pair of boxes first, with
// a lower and an upper bound at all times.
//
// All pairs of triangles are covered at any time by the pending pairs, those proven to be at least
// as far apart as the best known one, and those that were measured: the least bound of the pending
// ones bounds the distance from below. Surfaces are measured, not solids: a body inside another one
// has a positive distance here.
//
// A front keeps the cover for the next query. If no point of B has moved by more than m relative to
// A since a bound was computed, the bound less m still holds; pairs whose lowered bounds exceed the
// best known distance are not examined again.
#pragma once

#include "base/core/byte_stream.h"
#include "collision/geometry/box_tree.h"
#include "collision/geometry/closest.h"

#include <rattleback/collision.h>

// Shorter vectors, m, have no direction: their squares lose digits.
#define RB_DIRECTION_MIN 1e-145

// A pending pair of slots.
typedef struct rbTreeEntry {
    double key; // m, lower bound of its distance, plus the displacement of the front at that time
    int32_t slotA, slotB;
} rbTreeEntry;

// Data that a query leaves for the next one of the same pair.
struct rbFront {
    const rbBoxTree* a; // the trees of these pairs; NULL: none yet
    const rbBoxTree* b;
    rbTransform transformBtoA; // of the last query
    double moved;              // m, sum of the motion bounds of all queries since the front began
    int triangleA, triangleB;  // nearest of the last query: 4 * block + lane
    bool isCover;              // the entries cover all pairs
    bool isLoaded;             // from bytes that may be forged
    rbTreeEntry* entries;      // in no order
    int count, capacity;
    int freshCount; // size when it was last started at the roots
};

// A front in a snapshot. Loading needs room for as many entries.
void rbFront_Move(rbFront* front, rbByteStream* stream);

typedef struct rbTreePairInput {
    const rbBoxTree* a;
    const rbBoxTree* b;
    rbTransform transformBtoA;
    double limit;         // m: surfaces at least this far apart need not be measured; INFINITY
    double enough;        // m: stops at a pair of triangles no farther than this; 0
    double relativeError; // stops when upper - lower <= relativeError * upper
    long long budget;     // pairs of triangles tested, < 0: no limit
    rbTreeEntry* entries; // scratch memory for pending pairs
    int capacity;         // of it, >= 1
    rbFront* front;       // NULL: none
} rbTreePairInput;

typedef struct rbTreePairResult {
    double lower, upper; // m; lower <= distance <= upper; upper is INFINITY if only lower is known
    rbClosest closest;   // in the frame of A; belongs to upper
    int triangleA, triangleB; // 4 * block + lane, -1: none
    rbStopReason stop;  // SURFACES: exact, TOUCHES: they intersect, or are near enough, APART: at
                        // least the limit, CONVERGED: within the relative error, or BUDGET
    long long boxTests; // tests of one box against another
    long long triangleTests;
} rbTreePairResult;

rbTreePairResult rbMeasureTrees(const rbTreePairInput* input);

// ------------------------------------------------------------------------------------ near pairs

// Two triangles within the distance.
typedef struct rbNearPair {
    int triangleA, triangleB; // 4 * block + lane
    rbVec3 cornersA[3];       // m, in the frame of A
    rbVec3 cornersB[3];
    rbClosest closest; // in the frame of A
} rbNearPair;

// Called for every pair, in an order that depends on the trees only; false stops the traversal.
typedef bool rbNearPairFn(const rbNearPair* pair, void* context);

typedef struct rbTreeNearInput {
    const rbBoxTree* a;
    const rbBoxTree* b;
    rbTransform transformBtoA;
    double distance; // m, >= 0; 0: intersecting triangles
    rbNearPairFn* visit;
    void* context;
} rbTreeNearInput;

// Visits each pair of triangles at most distance apart once, and no other one; false if a visit
// stopped it. Allocates nothing; the stack is bounded by the depth of the trees. The cost is
// proportional to the pairs of boxes within the distance.
bool rbVisitNearPairs(const rbTreeNearInput* input);
