// All queries except rays.
//
// They compute in double, two lanes at a time, with the boxes widened by a few units in the last
// place of the largest coordinate. Point and direction queries use the boxes along principal axes:
// with those along the axes of the body, which fit a slanted surface less tightly, a nearest point
// took 3 times and a support 1.6 times as long (a million triangles).
#include "collision/geometry/box_tree_queries.h"

#include "base/core/lanes.h"
#include "base/math/matrix3.h"

#include <rattleback/base.h>

#include <float.h>
#include <limits.h>
#include <string.h>

// Rounding of a few operations, relative to the largest coordinate.
#define ROUNDING (32.0 * DBL_EPSILON)

// bytes
#define CACHE_LINE 64

// ----------------------------------------------------------------------------------------- tasks

static void startTasks(rbTreeTasks* waiting)
{
    waiting->tasks[0] = (rbTreeTask){-INFINITY, 0};
    waiting->count = 1;
}

// Pushes one task above base, where keys decrease toward the top: the least is next.
static inline void addTask(rbTreeTasks* waiting, int base, rbTreeTask task)
{
    RB_ASSERT(waiting->count < RB_TASK_MAX);
    int at = waiting->count++;
    while (at > base && waiting->tasks[at - 1].key < task.key) {
        waiting->tasks[at] = waiting->tasks[at - 1];
        --at;
    }
    waiting->tasks[at] = task;
}

// The next task within the limit.
static inline bool takeTask(rbTreeTasks* waiting, double limit, int32_t* child)
{
    while (waiting->count > 0) {
        rbTreeTask task = waiting->tasks[--waiting->count];
        if (task.key <= limit) {
            *child = task.child;
            return true;
        }
    }
    return false;
}

// Prefetches the memory that a task will read. Large trees reside in main memory, and a traversal
// spends most of its time waiting for it.
static inline void fetch(const void* from, size_t size)
{
    for (size_t at = 0; at < size; at += CACHE_LINE) {
        __builtin_prefetch((const char*)from + at);
    }
}

static inline const rbTriangleBlock* blockOf(const rbBoxTree* tree, int32_t child)
{
    RB_ASSERT(child < 0 && ~child < tree->blockCount);
    return &tree->blocks[~child];
}

static inline const rbBoxNode* nodeOf(const rbBoxTree* tree, int32_t child)
{
    RB_ASSERT(child >= 0 && child < tree->nodeCount);
    return &tree->nodes[child];
}

// The children of a node whose keys are within the limit, for traversals that use tilted boxes.
static inline void addChildren(rbTreeTasks* waiting, const rbBoxTree* tree, int32_t from,
                               const double keys[RB_BOX_WIDTH], double limit)
{
    const rbBoxNode* node = nodeOf(tree, from);
    int base = waiting->count;
    for (int i = 0; i < RB_BOX_WIDTH && node->child[i] != RB_BOX_EMPTY; ++i) {
        int32_t child = node->child[i];
        if (keys[i] > limit) {
            continue;
        }
        if (child < 0) {
            fetch(&tree->blocks[~child], sizeof(rbTriangleBlock));
        } else {
            fetch(&tree->nodes[child], sizeof(rbBoxNode));
            fetch(&tree->tilted[child], sizeof(rbTiltedNode));
        }
        addTask(waiting, base, (rbTreeTask){keys[i], child});
    }
}

// Largest magnitude of a coordinate in the frame of the body.
static double scaleOf(const rbBoxTree* tree)
{
    rbVec3 o = rbAbs3(tree->origin);
    double largest = o.x > o.y ? o.x : o.y;
    return (largest > o.z ? largest : o.z) + tree->radius;
}

// ----------------------------------------------------------------------------------------- boxes

// A box along the axes.
typedef struct BoxQuery {
    rbVec3 center;   // m, frame of the body
    double local[3]; // m, the center in the frame of the tree
    double half[3];  // m
    double slack;    // m, bound of the rounding error
} BoxQuery;

static BoxQuery makeBoxQuery(const rbBoxTree* tree, const rbBounds* bounds)
{
    rbVec3 center = rbScale(0.5, rbAdd(bounds->lower, bounds->upper));
    rbVec3 h = rbScale(0.5, rbSub(bounds->upper, bounds->lower));
    rbVec3 c = rbSub(center, tree->origin);
    double slack = ROUNDING * (scaleOf(tree) + rbLength(c) + rbLength(h));
    return (BoxQuery){center, {c.x, c.y, c.z}, {h.x, h.y, h.z}, slack};
}

// Half sizes of a node from floats, widened.
static inline rbLanePair widen(const float* from)
{
    return (rbLanePair){(double)from[0], (double)from[1]};
}

// Gaps between the box and two children along the axes: > 0 if they are separate.
static inline rbLanePair gapOfPair(const BoxQuery* query, const rbBoxNode* node, int place)
{
    rbLanePair gap = rbLanePair_Both(-INFINITY);
    for (int i = 0; i < 3; ++i) {
        rbLanePair d = widen(&node->center[i][place]) - rbLanePair_Both(query->local[i]);
        rbLanePair h = widen(&node->half[i][place]);
        gap = rbLanePair_Max(gap, rbLanePair_Abs(d) - h - rbLanePair_Both(query->half[i]));
    }
    return gap;
}

// Do three values miss the interval from -reach to reach?
static inline bool isBeyond(double a, double b, double c, double reach)
{
    double low = a < b ? a : b;
    double high = a < b ? b : a;
    low = c < low ? c : low;
    high = c > high ? c : high;
    return low > reach || high < -reach;
}

// The thirteen axes that can separate a triangle from a box.
static bool meetsBox(const BoxQuery* query, const rbVec3 corners[3])
{
    double v[3][3]; // corner, axis
    for (int k = 0; k < 3; ++k) {
        rbVec3 x = rbSub(corners[k], query->center);
        v[k][0] = x.x;
        v[k][1] = x.y;
        v[k][2] = x.z;
    }
    const double* h = query->half;
    double slack = query->slack;
    for (int i = 0; i < 3; ++i) {
        if (isBeyond(v[0][i], v[1][i], v[2][i], h[i] + slack)) {
            return false;
        }
    }
    double e[3][3];
    for (int k = 0; k < 3; ++k) {
        int to = k == 2 ? 0 : k + 1;
        for (int i = 0; i < 3; ++i) {
            e[k][i] = v[to][i] - v[k][i];
        }
    }
    // products of an edge and an axis of the box
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            int p = i == 2 ? 0 : i + 1;
            int q = p == 2 ? 0 : p + 1;
            double reach = (h[p] + slack) * fabs(e[k][q]) + (h[q] + slack) * fabs(e[k][p]);
            if (isBeyond(v[0][p] * e[k][q] - v[0][q] * e[k][p],
                         v[1][p] * e[k][q] - v[1][q] * e[k][p],
                         v[2][p] * e[k][q] - v[2][q] * e[k][p], reach)) {
                return false;
            }
        }
    }
    rbVec3 first = {e[0][0], e[0][1], e[0][2]};
    rbVec3 second = {e[1][0], e[1][1], e[1][2]};
    rbVec3 n = rbCross(first, second);
    double height = n.x * v[0][0] + n.y * v[0][1] + n.z * v[0][2];
    double reach = fabs(n.x) * h[0] + fabs(n.y) * h[1] + fabs(n.z) * h[2];
    return fabs(height) <= reach + slack * rbLength(first) * rbLength(second);
}

// Visits the triangles of a block that intersect the box.
static bool visitBlock(const BoxQuery* query, const rbTriangleBlock* block,
                       rbVisitTriangleFn* visit, void* context)
{
    for (int lane = 0; lane < RB_BOX_WIDTH && block->origins[lane] >= 0; ++lane) {
        rbVec3 corners[3];
        rbTriangleBlock_Get(block, lane, corners);
        if (meetsBox(query, corners) && !visit(block->origins[lane], corners, context)) {
            return false;
        }
    }
    return true;
}

bool rbBoxTree_VisitBounds(const rbBoxTree* tree, const rbBounds* bounds, rbVisitTriangleFn* visit,
                           void* context)
{
    RB_ASSERT(tree != NULL && bounds != NULL && visit != NULL);
    BoxQuery query = makeBoxQuery(tree, bounds);
    RB_ASSERT(rbIsFinite3(query.center));
    RB_ASSERT(query.half[0] >= 0.0 && query.half[1] >= 0.0 && query.half[2] >= 0.0);
    rbTreeTasks waiting;
    startTasks(&waiting);
    int32_t child;
    while (takeTask(&waiting, INFINITY, &child)) {
        if (child < 0) {
            if (!visitBlock(&query, blockOf(tree, child), visit, context)) {
                return false;
            }
            continue;
        }
        const rbBoxNode* node = nodeOf(tree, child);
        for (int half = RB_BOX_WIDTH - 2; half >= 0; half -= 2) {
            rbLanePair gap = gapOfPair(&query, node, half);
            for (int i = 1; i >= 0; --i) {
                if (node->child[half + i] != RB_BOX_EMPTY && gap[i] <= query.slack) {
                    RB_ASSERT(waiting.count < RB_TASK_MAX);
                    waiting.tasks[waiting.count++] = (rbTreeTask){0.0, node->child[half + i]};
                }
            }
        }
    }
    return true;
}

// ---------------------------------------------------------------------------------------- points

// Two boxes along principal axes and the coordinates of a direction or an offset in them.
typedef struct TiltedPair {
    rbLanePair center[3], longAxis[3], wideAxis[3], normal[3];
    rbLanePair thickness;
} TiltedPair;

static inline void widen3(const float from[3][RB_BOX_WIDTH], int place, rbLanePair to[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        to[axis] = widen(&from[axis][place]);
    }
}

static inline void loadTilted(const rbTiltedNode* node, int place, TiltedPair* pair)
{
    widen3(node->center, place, pair->center);
    widen3(node->longAxis, place, pair->longAxis);
    widen3(node->wideAxis, place, pair->wideAxis);
    widen3(node->normal, place, pair->normal);
    pair->thickness = widen(&node->thickness[place]);
}

static inline rbLanePair dotPair(const rbLanePair a[3], const rbLanePair b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The axes in float are perpendicular only to 1e-7: the resulting error of squared distances.
#define TILT_ROUNDING 1e-6

// Upper bounds of the squared distances of a point from the farthest points of four boxes.
static inline void measureBoxes(const rbTiltedNode* node, rbVec3 point,
                                double squares[RB_BOX_WIDTH])
{
    for (int half = 0; half < RB_BOX_WIDTH; half += 2) {
        TiltedPair box;
        loadTilted(node, half, &box);
        rbLanePair d[3] = {box.center[0] - rbLanePair_Both(point.x),
                           box.center[1] - rbLanePair_Both(point.y),
                           box.center[2] - rbLanePair_Both(point.z)};
        rbLanePair l = dotPair(d, box.longAxis);
        rbLanePair w = dotPair(d, box.wideAxis);
        rbLanePair n = rbLanePair_Abs(dotPair(d, box.normal));
        rbLanePair l2 = dotPair(box.longAxis, box.longAxis);
        rbLanePair w2 = dotPair(box.wideAxis, box.wideAxis);
        rbLanePair t = box.thickness;
        rbLanePair square =
            dotPair(d, d) + 2.0 * (rbLanePair_Abs(l) + rbLanePair_Abs(w) + n * t) + l2 + w2 + t * t;
        square *= 1.0 + TILT_ROUNDING;
        squares[half] = square[0];
        squares[half + 1] = square[1];
    }
}

// The squared distance that a box may have and still contain a point that near.
static inline double widenSquare(double square, double slack)
{
    double reach = sqrt(square) * (1.0 + ROUNDING) + slack;
    return reach * reach * (1.0 + ROUNDING);
}

double rbBoxTree_FindFarthest(const rbBoxTree* tree, rbVec3 point)
{
    RB_ASSERT(tree != NULL);
    RB_ASSERT(rbIsFinite3(point));
    rbVec3 p = rbSub(point, tree->origin);
    double slack = ROUNDING * (rbLength(p) + tree->radius);
    rbTreeTasks waiting;
    startTasks(&waiting);
    double largest = 0.0;
    int32_t child;
    // keys are negated squares
    while (takeTask(&waiting, -largest, &child)) {
        if (child >= 0) {
            double keys[RB_BOX_WIDTH];
            measureBoxes(&tree->tilted[child], p, keys);
            for (int i = 0; i < RB_BOX_WIDTH; ++i) {
                keys[i] = -widenSquare(keys[i], slack);
            }
            addChildren(&waiting, tree, child, keys, -largest);
            continue;
        }
        const rbTriangleBlock* block = blockOf(tree, child);
        for (int i = 0; i < 3 * RB_BOX_WIDTH; ++i) {
            rbVec3 corners[3];
            rbTriangleBlock_Get(block, i / 3, corners);
            double square = rbLengthSquared(rbSub(corners[i % 3], point));
            largest = square > largest ? square : largest;
        }
    }
    return largest;
}

void rbReachWalk_Start(rbReachWalk* walk, const rbBoxTree* tree, rbVec3 direction)
{
    RB_ASSERT(walk != NULL && tree != NULL);
    RB_ASSERT(rbIsFinite3(direction));
    walk->tree = tree;
    walk->direction = direction;
    rbVec3 size = rbAbs3(direction);
    double slack = ROUNDING * (size.x + size.y + size.z) * scaleOf(tree);
    walk->base = rbDot(direction, tree->origin) + slack;
    startTasks(&walk->waiting);
}

const rbTriangleBlock* rbReachWalk_Next(rbReachWalk* walk, double least)
{
    rbVec3 v = walk->direction;
    rbLanePair d[3] = {rbLanePair_Both(v.x), rbLanePair_Both(v.y), rbLanePair_Both(v.z)};
    int32_t child;
    while (takeTask(&walk->waiting, -least, &child)) {
        if (child < 0) {
            return blockOf(walk->tree, child);
        }
        double keys[RB_BOX_WIDTH];
        for (int half = 0; half < RB_BOX_WIDTH; half += 2) {
            TiltedPair box;
            loadTilted(&walk->tree->tilted[child], half, &box);
            rbLanePair reach = dotPair(d, box.center) + rbLanePair_Abs(dotPair(d, box.longAxis)) +
                               rbLanePair_Abs(dotPair(d, box.wideAxis)) +
                               rbLanePair_Abs(dotPair(d, box.normal)) * box.thickness +
                               rbLanePair_Both(walk->base);
            keys[half] = -reach[0];
            keys[half + 1] = -reach[1];
        }
        addChildren(&walk->waiting, walk->tree, child, keys, -least);
    }
    return NULL;
}

double rbBoxTree_FindReach(const rbBoxTree* tree, rbVec3 direction)
{
    rbReachWalk walk;
    rbReachWalk_Start(&walk, tree, direction);
    double largest = -INFINITY;
    const rbTriangleBlock* block;
    while ((block = rbReachWalk_Next(&walk, largest)) != NULL) {
        rbLanePair best = rbLanePair_Both(largest);
        for (int k = 0; k < 3; ++k) {
            for (int half = 0; half < RB_BOX_WIDTH; half += 2) {
                rbLanePair value = direction.x * rbLanePair_Load(&block->corners[k][0][half]) +
                                   direction.y * rbLanePair_Load(&block->corners[k][1][half]) +
                                   direction.z * rbLanePair_Load(&block->corners[k][2][half]);
                best = rbLanePair_Max(best, value);
            }
        }
        largest = best[0] > best[1] ? best[0] : best[1];
    }
    RB_ASSERT(largest > -INFINITY);
    return largest;
}
