// Questions to a box tree: rays, points, farthest points.
//
// Pure functions of the tree, without allocation. A traversal returns blocks of triangles, the most
// promising first, and skips those whose box proves them irrelevant for the given limit; box tests
// account for rounding, so that a result never depends on the tree. The parameter of a ray is a
// length: directions are unit vectors. Triangles are numbered in the order that the tree was built
// from.
#pragma once

#include "collision/geometry/box_tree.h"
#include "collision/geometry/closest.h"

#include <rattleback/shape.h>

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
    double base; // value at the origin of the tree, including rounding
    rbTreeTasks waiting;
} rbReachWalk;

void rbReachWalk_Start(rbReachWalk* walk, const rbBoxTree* tree, rbVec3 direction);

// The next block with a corner whose rbDot(direction, corner) may be >= least, NULL if there is
// none. least must not decrease from call to call.
const rbTriangleBlock* rbReachWalk_Next(rbReachWalk* walk, double least);
