// A tree of boxes over the shapes of a world, for queries.
//
// Every bounded shape of a body is an item; those without bounds stand in a list beside the tree.
// The tree halves its items by their middles along the longest axis, and is kept as long as the
// world has the same shapes: motion only fits its boxes anew, until they have become so large that
// building is cheaper than walking.
#ifndef RB_WORLD_WORLD_QUERY_TREE_H
#define RB_WORLD_WORLD_QUERY_TREE_H

#include "world/world_state.h"

#include <rattleback/query.h>

// A shape of a body in the world.
typedef struct rbQueryItem {
    rbBounds bounds; // m, world, a little larger than the shape
    rbTransform pose;
    const rbGeometry* geometry; // borrowed of the world
    int body;
    int shape;
    uint32_t generation; // of the body
} rbQueryItem;

// Nodes stand in the order of a walk that goes left first: the left child follows its parent.
typedef struct rbQueryNode {
    rbBounds bounds;
    int begin, end; // in the order of items
    int right;      // child; 0: a leaf
} rbQueryNode;

typedef struct rbQueryTree {
    RB_ARRAY(rbQueryItem) items; // by body and shape
    RB_ARRAY(int) order;         // of bounded items: a leaf has a run of them
    RB_ARRAY(int) unbounded;     // items
    RB_ARRAY(rbQueryNode) nodes;
    RB_ARRAY(int) found; // bodies, room for answers
    double sizeMax;      // m, no bounded shape reaches farther from its origin
    double areaAtBuild;  // m^2, of all nodes
    bool isCurrent;
    int64_t motions; // of the world when it was brought up to date
    rbQueryCounts counts;
    void* scratch; // of rbMeasureSeparation
} rbQueryTree;

// The tree of a world, up to date. UNSUPPORTED if a body has grown.
rbStatus rbWorld_UpdateQueryTree(rbWorld* world, rbQueryTree** tree, rbError* error);
void rbDestroyQueryTree(rbQueryTree* tree); // NULL is fine

// A box that moves along a step through a tree: rays have no size, boxes that stand still no step.
typedef struct rbQueryWalk {
    rbVec3 center;   // m
    rbVec3 halfSize; // m
    rbVec3 step;     // m
    rbVec3 inverse;  // of its components; 0 where there is no motion
    double slack;    // m, what rounding may do
    double limit;    // parts of the step; lowered by those who visit; nothing beyond counts
} rbQueryWalk;

rbQueryWalk rbMakeQueryWalk(rbVec3 center, rbVec3 halfSize, rbVec3 step, double limit);

// Takes an item that the box meets at a part of the step <= limit; false ends the walk.
typedef bool rbVisitItemFn(void* context, rbQueryWalk* walk, const rbQueryItem* item);

// Items without bounds first, then those of the tree, the nearest box first.
void rbQueryTree_Walk(rbQueryTree* tree, rbQueryWalk* walk, rbVisitItemFn* visit, void* context);

#endif
