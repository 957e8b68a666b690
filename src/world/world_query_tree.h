// A tree of boxes over the shapes of a world, for queries.
//
// Every bounded shape of a body is an item; unbounded ones are in a list next to the tree. The
// tree halves its items at the median of their centers along the axis of the largest spread, and
// lives as long as the world has the same shapes: motion only refits its boxes, until they are so
// large that a new build is cheaper than walking them.
#pragma once

#include "world/world_state.h"

#include <rattleback/query.h>

// A shape of a body in the world.
typedef struct rbQueryItem {
    rbBounds bounds; // m, world, a little larger than the shape
    rbTransform pose;
    const rbGeometry* geometry; // borrowed from the world
    int body;
    int shape;
    uint32_t generation; // of the body
} rbQueryItem;

// Nodes are in preorder, left first: the left child follows its parent.
typedef struct rbQueryNode {
    rbBounds bounds;
    int begin, end; // in the order of items
    int right;      // child; 0: a leaf
} rbQueryNode;

typedef struct rbQueryTree {
    RB_ARRAY(rbQueryItem) items; // by body and shape
    RB_ARRAY(int) order;         // of bounded items: a leaf holds a run of it
    RB_ARRAY(int) unbounded;     // items
    RB_ARRAY(rbQueryNode) nodes;
    RB_ARRAY(int) found; // bodies, memory for results
    double sizeMax;      // m, largest extent of a bounded shape from its origin
    double areaAtBuild;  // m^2, of all nodes
    bool isCurrent;
    int64_t motions; // motionCount of the world at the last update
    rbQueryCounts counts;
    void* scratch; // of rbMeasureSeparation
} rbQueryTree;

// The tree of a world, up to date. UNSUPPORTED if a body has grown.
rbStatus rbWorld_UpdateQueryTree(rbWorld* world, rbQueryTree** tree, rbError* error);
void rbDestroyQueryTree(rbQueryTree* tree); // NULL is fine

// A box that moves along a step through a tree: a ray has no size, a box at rest no step.
typedef struct rbQueryWalk {
    rbVec3 center;   // m
    rbVec3 halfSize; // m
    rbVec3 step;     // m
    rbVec3 inverse;  // of its components; 0 where there is no motion
    double slack;    // m, bound on rounding errors
    double limit;    // fraction of the step, lowered by visitors; nothing beyond it counts
} rbQueryWalk;

rbQueryWalk rbMakeQueryWalk(rbVec3 center, rbVec3 halfSize, rbVec3 step, double limit);

// Visits an item that the box meets at a step fraction <= limit; false ends the walk.
typedef bool rbVisitItemFn(void* context, rbQueryWalk* walk, const rbQueryItem* item);

// Items without bounds first, then those of the tree, the nearest box first.
void rbQueryTree_Walk(rbQueryTree* tree, rbQueryWalk* walk, rbVisitItemFn* visit, void* context);
