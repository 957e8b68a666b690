// One search for the distance between two hierarchies: the state shared by the traversals.
//
// Everything happens in the frame of A: volumes and faces of B are moved, those of A stay (L-50).
// Bounds are plain lengths, not squares, so that (1 - relativeError) applies directly. A pair of
// nodes is skipped when its bound reaches the limit; the limit is the best known distance, lowered
// by the relative error if the traversal does so (L-71).
#pragma once

#include "lab/bounds/hierarchy.h"

// Corners of a moved face up to which no allocation is needed.
#define RB_SEARCH_CORNERS 64

// Which nodes of a pair are opened: a sum of these.
#define RB_OPEN_A 1u
#define RB_OPEN_B 2u

struct rbTraversalRow;

typedef struct rbSearch {
    const rbHierarchy* a;
    const rbHierarchy* b;
    const rbVolumeRow* row;
    rbMat3 rotation; // x -> rotation x + translation maps B to A
    rbVec3 translation;
    double slope; // limit / best: 1 - relativeError
    bool usesRepresentatives;

    // the best pair of points, in the frame of A; places are -1 while there is none
    double best;        // m
    double bestSquared; // m^2
    double limit;       // m
    rbVec3 pointA, pointB;
    int placeA, placeB;
    int cornerA, cornerB; // of representatives; -1: the points lie on the faces at the places

    rbDistanceWork work;
    rbVec3* moved; // corners of the moved face of B
    rbVolumeMotion motion;
    rbVec3 buffer[RB_SEARCH_CORNERS];
} rbSearch;

// Measures all faces of a run of A against all of a run of B: leaves, or everything. Stops at
// distance 0.
void rbSearch_MeasureFaces(rbSearch* search, const rbHierarchyNode* nodeA,
                           const rbHierarchyNode* nodeB);

// The upper bound of the representatives of two nodes (L-67).
void rbSearch_MeasureRepresentatives(rbSearch* search, const rbHierarchyNode* nodeA,
                                     const rbHierarchyNode* nodeB);

// The volume of a node of B in the frame of A.
static inline void rbSearch_Move(rbSearch* search, int node, double* moved)
{
    ++search->work.volumeUpdates;
    search->row->move(&search->motion, rbHierarchy_GetVolume(search->b, node), moved);
}

static inline double rbSearch_Bound(rbSearch* search, const double* moved, const double* other)
{
    ++search->work.volumeTests;
    return search->row->bound(moved, other);
}

// Which of two nodes to open; 0 if both are leaves (L-62).
unsigned rbChooseOpening(rbExpansion expansion, const rbHierarchyNode* nodeA,
                         const rbHierarchyNode* nodeB);

// A node's children if it is opened, otherwise itself.
typedef struct rbNodeRange {
    int first, count;
} rbNodeRange;

static inline rbNodeRange rbGetOpened(const rbHierarchy* hierarchy, int node, bool isOpened)
{
    rbNodeRange range = {node, 1};
    if (isOpened) {
        range.first = hierarchy->nodes[node].firstChild;
        range.count = hierarchy->nodes[node].childCount;
    }
    return range;
}

// The traversals. result: lower and stop only.
typedef void rbTraversalFn(rbSearch* search, const rbDistanceInput* input,
                           rbDistanceResult* result);

rbTraversalFn rbSearchNaive, rbSearchDepthFirst, rbSearchBestFirst;
