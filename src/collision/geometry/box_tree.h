// A tree of boxes over the triangles of a mesh, four children per node, for distance and overlap
// queries, and eight per node for rays.
//
// A slot is a part of the mesh: a node, or a block of up to four triangles. It is identified by 4 *
// node + place; slot 0 is the whole mesh. Each slot has two boxes: one along the axes of the body,
// for boxes and rays, and one along the principal axes of its vertices, which lies close to a
// curved surface: its thickness decreases with the square of its size. Boxes are relative to the
// origin of the tree, in float, rounded outward; queries compute with them in double. Triangles are
// copied in the order of the tree, so that neighbors in space are neighbors in memory.
#pragma once

#include "collision/geometry/triangle_sink.h"

// Children of a node and triangles of a block.
#define RB_BOX_WIDTH 4
// Children of a node for rays.
#define RB_RAY_WIDTH 8
// Maximum depth of a node.
#define RB_BOX_DEPTH_MAX 64

// The content of a slot: a node (>= 0), nothing, or a block (the complement of its index).
#define RB_BOX_EMPTY INT32_MIN

// Boxes along the axes.
typedef struct rbBoxNode {
    float lower[3][RB_BOX_WIDTH], upper[3][RB_BOX_WIDTH]; // m
    int32_t child[RB_BOX_WIDTH];                          // occupied places come first
} rbBoxNode;

// Boxes of the same splits for rays, which wait for every step down.
typedef struct rbRayNode {
    float ends[3][2][RB_RAY_WIDTH]; // m: axis, lower and upper; empty places are inside out
    int32_t child[RB_RAY_WIDTH];    // a node for rays, or as above
    int32_t block[RB_RAY_WIDTH];    // the first one below a child that has only blocks, or -1
} rbRayNode;

// Boxes along principal axes: center + x long + y wide + z thickness normal, |x|, |y|, |z| <= 1.
typedef struct rbTiltedNode {
    float center[3][RB_BOX_WIDTH]; // m
    float longAxis[3][RB_BOX_WIDTH];
    float wideAxis[3][RB_BOX_WIDTH];
    float normal[3][RB_BOX_WIDTH]; // at most of length 1
    float thickness[RB_BOX_WIDTH]; // m, half the thickness
    float radius[RB_BOX_WIDTH];    // m, half the diagonal
} rbTiltedNode;

// Triangles, one per lane. Unused lanes repeat the first.
typedef struct rbTriangleBlock {
    double corners[3][3][RB_BOX_WIDTH]; // m, in the frame of the body: corner, axis, lane
    int32_t origins[RB_BOX_WIDTH];      // index in the order given; -1: the lane is unused
    int32_t faces[RB_BOX_WIDTH];        // the face that each triangle is a part of; unused lanes
                                        // repeat the first
} rbTriangleBlock;

typedef struct rbBoxTree {
    rbVec3 origin;    // m, the center of the mesh: floats resolve 1e-7 of its size, not of its
                      // distance from the origin of the body
    double radius;    // m, about the origin of the tree
    rbBoxNode* nodes; // node 0 has only slot 0
    rbTiltedNode* tilted;
    rbRayNode* rayNodes;     // node 0 is the whole mesh
    rbTriangleBlock* blocks; // in the order of the tree
    int nodeCount, nodeCapacity;
    int rayNodeCount, rayNodeCapacity;
    int blockCount;
    int triangleCount;
} rbBoxTree;

_Static_assert(sizeof(rbRayNode) == 256, "a node for rays is four cache lines");
_Static_assert(sizeof(rbTriangleBlock) == 320, "a block is five cache lines");

// A tree over count >= 1 triangles of finite corners; degenerate ones are accepted. faces: the face
// that each triangle is a part of; NULL: every triangle is its own. O(n log n).
rbBoxTree* rbCreateBoxTree(const rbVec3* vertices, const rbIndex3* triangles, const int* faces,
                           int count);
void rbDestroyBoxTree(rbBoxTree* tree); // NULL is accepted

// The content of a slot.
static inline int rbBoxTree_GetChild(const rbBoxTree* tree, int slot)
{
    return tree->nodes[slot / RB_BOX_WIDTH].child[slot % RB_BOX_WIDTH];
}

// A vector of the box in one place of a node.
static inline rbVec3 rbPickLane(const float from[3][RB_BOX_WIDTH], int place)
{
    return rbMakeVec3((double)from[0][place], (double)from[1][place], (double)from[2][place]);
}

static inline void rbTriangleBlock_Get(const rbTriangleBlock* block, int lane, rbVec3 corners[3])
{
    for (int k = 0; k < 3; ++k) {
        corners[k] = rbMakeVec3(block->corners[k][0][lane], block->corners[k][1][lane],
                                block->corners[k][2][lane]);
    }
}

// ----------------------------------------------------------------------------------------- queries

// Pure functions of the tree, without allocation. A traversal returns blocks of triangles, the most
// promising first, and skips those whose box proves them irrelevant for the given limit; box tests
// account for rounding, so that a result never depends on the tree. The parameter of a ray is a
// length: directions are unit vectors. Triangles are numbered in the order that the tree was built
// from.

// Pending parts of a tree: each step down leaves all children but one.
#define RB_TASK_MAX ((RB_RAY_WIDTH - 1) * RB_BOX_DEPTH_MAX + RB_RAY_WIDTH)

// A pending part of the tree.
typedef struct rbTreeTask {
    double key;    // the part is relevant for limits at or above this
    int32_t child; // as in rbBoxNode or rbRayNode
} rbTreeTask;

typedef struct rbTreeTasks {
    rbTreeTask tasks[RB_TASK_MAX];
    int count;
} rbTreeTasks;

// Pushes one task above base, where keys decrease toward the top: the least is next.
static inline void rbTreeTasks_Add(rbTreeTasks* waiting, int base, rbTreeTask task)
{
    RB_ASSERT(waiting->count < RB_TASK_MAX);
    int at = waiting->count++;
    while (at > base && waiting->tasks[at - 1].key < task.key) {
        waiting->tasks[at] = waiting->tasks[at - 1];
        --at;
    }
    waiting->tasks[at] = task;
}

// ------------------------------------------------------------------------------------------ rays

// A ray in sheared coordinates: shearing along the longest axis of the direction aligns the ray
// with that axis, and points keep two transverse coordinates.
typedef struct rbRayView {
    rbVec3 origin, direction; // m; unit
    int axis;                 // 0, 1, 2: x, y, z
    double shear[2];
} rbRayView;

rbRayView rbMakeRayView(const rbRay* ray);

// Parameter where the line of the ray intersects a triangle with the given unit normal, NaN if it
// does not. A line within the plane of the triangle does not intersect it.
double rbRayView_Meet(const rbRayView* view, const rbVec3 corners[3], rbVec3 normal);

// The kind of ray query.
typedef enum rbRayWish {
    RB_RAY_FIRST, // the first triangle hit, as if all were tried
    RB_RAY_ANY,   // any triangle hit
    RB_RAY_FRONT, // the first one hit against its normal
} rbRayWish;

typedef struct rbTreeHit {
    double t;      // m
    int triangle;  // the first one if several have the same t
    int face;      // of the triangle
    rbVec3 normal; // of the face
} rbTreeHit;

// Does a ray hit a triangle? normals: unit, by face; NULL if every triangle is a face.
bool rbBoxTree_CastRay(const rbBoxTree* tree, const rbVec3* normals, const rbRay* ray,
                       rbRayWish wish, rbTreeHit* hit);

// The first hits of many rays, each bit for bit as if it were cast alone. They take turns: while
// one waits for memory, the others proceed. For rays without a hit the triangle is INT_MAX.
void rbBoxTree_CastRays(const rbBoxTree* tree, const rbVec3* normals, const rbRay* rays, int count,
                        rbTreeHit* hits);

// Signed crossings ahead of a ray, +1 where it leaves along the normal: for a closed surface, the
// winding number of the origin. tMax is not used. False if the count is not certain: the ray
// touches an edge or starts within rounding of the surface.
bool rbBoxTree_CountCrossings(const rbBoxTree* tree, const rbRay* ray, int* count);

// ---------------------------------------------------------------------------------------- points

// Is a triangle within tolerance m of a point? normals: unit, by face.
bool rbBoxTree_IsNear(const rbBoxTree* tree, const rbVec3* normals, rbVec3 point, double tolerance);

// ------------------------------------------------------------------------------------ directions

// Largest rbDot(direction, corner), the same bits as over all corners.
double rbBoxTree_FindReach(const rbBoxTree* tree, rbVec3 direction);

// Iterates over blocks that are far along a direction.
typedef struct rbReachWalk {
    const rbBoxTree* tree;
    rbVec3 direction;
    double base; // minus the value at the origin of the tree, including rounding
    rbTreeTasks waiting;
} rbReachWalk;

void rbReachWalk_Start(rbReachWalk* walk, const rbBoxTree* tree, rbVec3 direction);

// The next block with a corner whose rbDot(direction, corner) may be >= least, NULL if there is
// none. least must not decrease from call to call.
const rbTriangleBlock* rbReachWalk_Next(rbReachWalk* walk, double least);
