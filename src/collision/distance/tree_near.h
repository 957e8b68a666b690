// All pairs of triangles of two surfaces that are within a distance of each other.
#pragma once

#include "collision/geometry/box_tree.h"
#include "collision/geometry/closest.h"

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

typedef struct rbTreeNearResult {
    bool isComplete; // visit never returned false
    long long boxTests;
    long long triangleTests;
    long long pairCount; // visited
} rbTreeNearResult;

// Visits each pair of triangles at most distance apart once, and no other one. Allocates nothing;
// the stack is bounded by the depth of the trees. The cost is proportional to the pairs of boxes
// within the distance.
rbTreeNearResult rbVisitNearPairs(const rbTreeNearInput* input);
