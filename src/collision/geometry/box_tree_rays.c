// Ray queries of box trees.
//
// Boxes are tested in float, four at a time: the ray is first moved along itself to the point
// nearest to the center of the tree, so that all lengths are at most a few radii and one bound
// holds for all rounding (FLOAT_ROUNDING). A box is rejected if the line is never within all three
// of its slabs simultaneously, or if its extent along the ray lies before the start or beyond the
// limit. That extent, not the point where the line enters the box, bounds a hit: on a triangle
// grazed along its plane, any point may be the hit. The triangle test decides, in double with exact
// signs (the idea is that of Woop, Benthin and Wald 2013).
//
// A ray through a million triangles opens 16 nodes and examines 2 blocks, but waits for memory at
// each: a node is two whole cache lines, a block five, and normals are prefetched as soon as the
// block that refers to them has arrived.
#include "base/core/lanes.h"
#include "collision/geometry/box_tree_queries.h"

#include <rattleback/base.h>

#include <float.h>
#include <limits.h>
#include <string.h>

// Rounding of a few operations, relative to the largest coordinate.
#define ROUNDING (32.0 * DBL_EPSILON)

// bytes
#define CACHE_LINE 64

// Nodes prefetched together. (Rays in random order through a million triangles: a third faster than
// with one; for 6 and more the differences are in the noise.)
#define FETCHED_NODES 10
// Blocks of a lowest node prefetched together.
#define FETCHED_BLOCKS 3

// ---------------------------------------------------------------------------- rays and triangles

rbRayView rbMakeRayView(const rbRay* ray)
{
    RB_ASSERT(rbIsFinite3(ray->origin) && rbIsFinite3(ray->direction));
    rbVec3 d = ray->direction;
    rbVec3 size = rbAbs3(d);
    RB_ASSERT(size.x + size.y + size.z > 0.0);
    if (size.x >= size.y && size.x >= size.z) {
        return (rbRayView){ray->origin, d, 0, {d.y / d.x, d.z / d.x}};
    }
    if (size.y >= size.z) {
        return (rbRayView){ray->origin, d, 1, {d.z / d.y, d.x / d.y}};
    }
    return (rbRayView){ray->origin, d, 2, {d.x / d.z, d.y / d.z}};
}

// Coordinates of a point relative to the origin of the ray: transverse (two) and along the axis. A
// right-handed frame.
static rbVec3 look(const rbRayView* view, rbVec3 offset)
{
    static const int next[5] = {0, 1, 2, 0, 1};
    const double c[3] = {offset.x, offset.y, offset.z};
    double along = c[view->axis];
    return rbMakeVec3(c[next[view->axis + 1]] - view->shear[0] * along,
                      c[next[view->axis + 2]] - view->shear[1] * along, along);
}

// Exact sign of a.x b.y - a.y b.x. Near zero the products are taken with their rounding errors: the
// difference is then accurate to two units in its last place (Kahan), so that the sign is right.
static int signOfTurn(rbVec3 a, rbVec3 b)
{
    double left = a.x * b.y;
    double right = a.y * b.x;
    double value = left - right;
    if (fabs(value) <= 4.0 * DBL_EPSILON * (fabs(left) + fabs(right))) {
        double lost = fma(-a.y, b.x, right);
        value = fma(a.x, b.y, -right) + lost;
    }
    return value > 0.0 ? 1 : (value < 0.0 ? -1 : 0);
}

// How a line intersects a triangle: not at all, through the inside, or through the border.
typedef enum Passing {
    PASSING_NONE,
    PASSING_INSIDE,
    PASSING_BORDER, // an edge, a corner, or within the plane
} Passing;

// Exact for the sheared coordinates: triangles around an edge leave no gap. turn is the sense of
// rotation as seen along the ray, 1 or -1; 0 for a triangle seen edge-on.
static Passing pass(const rbVec3 seen[3], int* turn)
{
    int u0 = signOfTurn(seen[1], seen[2]);
    int u1 = signOfTurn(seen[2], seen[0]);
    int u2 = signOfTurn(seen[0], seen[1]);
    bool hasNegative = u0 < 0 || u1 < 0 || u2 < 0;
    bool hasPositive = u0 > 0 || u1 > 0 || u2 > 0;
    *turn = hasPositive ? 1 : (hasNegative ? -1 : 0);
    if (hasNegative && hasPositive) {
        return PASSING_NONE;
    }
    return u0 * u1 * u2 != 0 ? PASSING_INSIDE : PASSING_BORDER;
}

double rbRayView_Meet(const rbRayView* view, const rbVec3 corners[3], rbVec3 normal)
{
    rbVec3 v[3], seen[3];
    for (int k = 0; k < 3; ++k) {
        v[k] = rbSub(corners[k], view->origin);
        seen[k] = look(view, v[k]);
    }
    int turn;
    rbVec3 d = view->direction;
    double speed = rbDot(normal, d);
    if (pass(seen, &turn) == PASSING_NONE || turn == 0 || speed == 0.0) {
        return (double)NAN;
    }
    double hit = rbDot(normal, v[0]) / speed;
    // on a grazing line this is a quotient of rounding errors: keep the hit on the triangle
    double s0 = rbDot(d, v[0]);
    double s1 = rbDot(d, v[1]);
    double s2 = rbDot(d, v[2]);
    double low = s0 < s1 ? s0 : s1;
    double high = s0 < s1 ? s1 : s0;
    low = s2 < low ? s2 : low;
    high = s2 > high ? s2 : high;
    return hit < low ? low : (hit > high ? high : hit);
}

// Lanes where a_0 b_1 - a_1 b_0 is certainly above and below zero, by the criterion of signOfTurn.
static inline void validateTurns(const rbLanePair a[2], const rbLanePair b[2], rbLaneMask* isAbove,
                                 rbLaneMask* isBelow)
{
    rbLanePair left = a[0] * b[1];
    rbLanePair right = a[1] * b[0];
    rbLanePair value = left - right;
    rbLanePair bound = 4.0 * DBL_EPSILON * (rbLanePair_Abs(left) + rbLanePair_Abs(right));
    *isAbove |= value > bound;
    *isBelow |= value < -bound;
}

// Lanes of a block (bit i: lane i) that the line may intersect; it misses all others.
static unsigned filter(const rbRayView* view, const rbTriangleBlock* block)
{
    static const int next[5] = {0, 1, 2, 0, 1};
    RB_ASSERT(view->axis >= 0 && view->axis < 3);
    const double origin[3] = {view->origin.x, view->origin.y, view->origin.z};
    int axes[3] = {view->axis, next[view->axis + 1], next[view->axis + 2]};
    unsigned lanes = 0;
    for (int half = 0; half < RB_BOX_WIDTH; half += 2) {
        rbLanePair seen[3][2];
        for (int k = 0; k < 3; ++k) {
            const double(*corner)[RB_BOX_WIDTH] = block->corners[k];
            rbLanePair along =
                rbLanePair_Load(&corner[axes[0]][half]) - rbLanePair_Both(origin[axes[0]]);
            for (int i = 0; i < 2; ++i) {
                rbLanePair c = rbLanePair_Load(&corner[axes[i + 1]][half]) -
                               rbLanePair_Both(origin[axes[i + 1]]);
                seen[k][i] = c - rbLanePair_Both(view->shear[i]) * along;
            }
        }
        rbLaneMask isAbove = {0, 0};
        rbLaneMask isBelow = {0, 0};
        validateTurns(seen[0], seen[1], &isAbove, &isBelow);
        validateTurns(seen[1], seen[2], &isAbove, &isBelow);
        validateTurns(seen[2], seen[0], &isAbove, &isBelow);
        rbLaneMask isOut = isAbove & isBelow;
        lanes |= (unsigned)(isOut[0] == 0) << half | (unsigned)(isOut[1] == 0) << (half + 1);
    }
    for (int lane = 1; lane < RB_BOX_WIDTH; ++lane) {
        lanes &= block->origins[lane] >= 0 ? ~0U : ~(1U << lane);
    }
    return lanes;
}

// -------------------------------------------------------------------------------- rays and boxes

// In units of the radius R of the tree and of u = 2^-24: the line passes within R of the center, so
// that centers are within 2 R of the origin of the traversal and all hits within 3 R of it. The
// origin is accurate to R u, differences to 3 R u, the inverse of the direction to 2 u, which is 6
// R u at 3 R, products and the ends of a slab to 9 R u. The sums of three terms in the extent are
// accurate to 36 R u.
#define FLOAT_ROUNDING (64.0 * 0x1p-24)

// Components of the direction are at least of this magnitude: over 3 R that is negligible compared
// with the rounding above, and their inverses times lengths up to 1e12 m are far from the largest
// float.
#define COMPONENT_MIN 0x1p-40

// A pending part of the tree.
typedef struct Task {
    float key; // the part is relevant for limits at or above this
    int32_t child;
} Task;

typedef struct Tasks {
    int count;
    Task tasks[RB_TASK_MAX];
} Tasks;

// The line of a ray in a tree, each number replicated four times.
typedef struct Line {
    rbQuad origin[3];      // m, the point of the line nearest to the origin of the tree
    rbQuad direction[3];   // unit
    rbQuad size[3];        // its magnitudes
    rbQuad inverse[3];     // of the direction
    rbQuad inverseSize[3]; // its magnitudes
    rbQuad slack;          // m, rounding error of box tests
    rbQuad start;          // m, where the ray begins
    double shift;          // m, parameter of the origin above
    double reach;          // m, parameters farther from there are outside the tree
} Line;

static inline rbQuad fourTimes(float x)
{
    return (rbQuad){x, x, x, x};
}

// False if the line misses the tree.
static bool makeLine(const rbBoxTree* tree, const rbRay* ray, Line* line)
{
    RB_ASSERT(tree != NULL && ray != NULL);
    RB_ASSERT(rbIsFinite3(ray->origin) && rbIsFinite3(ray->direction));
    RB_ASSERT(fabs(rbLengthSquared(ray->direction) - 1.0) < 1e-12);
    double radius = tree->radius;
    rbVec3 away = rbSub(ray->origin, tree->origin);
    // in double, for the triangle test and for the move; beyond the radius no box can be
    // distinguished
    double slack = ROUNDING * (rbLength(away) + radius);
    bool isFar = !(slack < radius);
    double shift = isFar ? 0.0 : -rbDot(away, ray->direction);
    rbVec3 o = isFar ? RB_VEC3_ZERO : rbAddScaled(away, shift, ray->direction);
    rbVec3 d = isFar ? RB_VEC3_ZERO : ray->direction;
    line->shift = shift;
    line->reach = isFar ? (double)FLT_MAX : 4.0 * radius;
    line->slack = fourTimes(isFar ? INFINITY : (float)(slack + FLOAT_ROUNDING * radius) + FLT_MIN);
    double start = -shift < -line->reach ? -line->reach : -shift;
    line->start = fourTimes((float)(start > line->reach ? line->reach : start));
    RB_ASSERT(line->slack[0] > 0.0F);
    const double from[3] = {o.x, o.y, o.z};
    const double along[3] = {d.x, d.y, d.z};
    for (int i = 0; i < 3; ++i) {
        double c = fabs(along[i]) < COMPONENT_MIN ? COMPONENT_MIN : along[i];
        float inverse = 1.0F / (float)c;
        line->origin[i] = fourTimes((float)from[i]);
        line->direction[i] = fourTimes((float)along[i]);
        line->size[i] = fourTimes(fabsf((float)along[i]));
        line->inverse[i] = fourTimes(inverse);
        line->inverseSize[i] = fourTimes(fabsf(inverse));
    }
    double outside = radius + slack;
    return rbLengthSquared(o) <= outside * outside * (1.0 + ROUNDING);
}

// Occupied places.
static inline rbQuadMask isFull(const rbBoxNode* node)
{
    rbQuadMask child;
    memcpy(&child, node->child, sizeof child);
    return child != RB_BOX_EMPTY;
}

// The children of a node (bit i: place i) that the ray may hit before the limit, measured from the
// origin of the traversal, and their entry parameters.
static inline unsigned meetBoxes(const Line* line, const rbBoxNode* node, float limit,
                                 float first[RB_BOX_WIDTH])
{
    rbQuad c = rbQuad_Load(node->center[0]) - line->origin[0];
    rbQuad h = rbQuad_Load(node->half[0]) + line->slack;
    rbQuad center = c * line->inverse[0];
    rbQuad half = h * line->inverseSize[0];
    rbQuad in = center - half;
    rbQuad out = center + half;
    rbQuad middle = c * line->direction[0];
    rbQuad extent = h * line->size[0];
    for (int i = 1; i < 3; ++i) {
        c = rbQuad_Load(node->center[i]) - line->origin[i];
        h = rbQuad_Load(node->half[i]) + line->slack;
        center = c * line->inverse[i];
        half = h * line->inverseSize[i];
        in = rbQuad_Max(in, center - half);
        out = rbQuad_Min(out, center + half);
        middle += c * line->direction[i];
        extent += h * line->size[i];
    }
    rbQuad nearest = middle - extent;
    rbQuadMask isMet = (in <= out) & (nearest <= limit) & (middle + extent >= line->start);
    memcpy(first, &nearest, sizeof nearest);
    return rbQuadMask_Bits(isMet & isFull(node));
}

__attribute__((always_inline)) static inline void fetch(const void* from, size_t size)
{
#pragma GCC unroll 32
    for (size_t at = 0; at < size; at += CACHE_LINE) {
        __builtin_prefetch((const char*)from + at);
    }
}

// Prefetches the memory that a child will read. Large trees reside in main memory, and a traversal
// spends most of its time waiting for it. The nodes that follow a node in memory are those below
// it: prefetching them brings in the lowest levels with one wait instead of two or three; the
// blocks of a lowest node are prefetched together with it. (An address beyond an array is not read.
// Without the attributes gcc assumes that the functions have no effect and drops the calls.)
__attribute__((always_inline)) static inline void fetchChild(const rbBoxTree* tree,
                                                             const rbBoxNode* node, int place)
{
    int32_t child = node->child[place];
    int32_t block = child < 0 ? ~child : node->blocks[place];
    if (child < 0) {
        fetch(&tree->blocks[block], sizeof(rbTriangleBlock));
    } else if (block >= 0) {
        fetch(&tree->nodes[child], sizeof(rbBoxNode));
        fetch(&tree->blocks[block], FETCHED_BLOCKS * sizeof(rbTriangleBlock));
    } else {
        fetch(&tree->nodes[child], FETCHED_NODES * sizeof(rbBoxNode));
    }
}

// Pushes the children selected by bits above base, where keys decrease toward the top.
static inline void addTasks(const rbBoxTree* tree, Tasks* waiting, const rbBoxNode* node,
                            unsigned bits, const float* first)
{
    int base = waiting->count;
    for (; bits != 0; bits &= bits - 1) {
        int place = __builtin_ctz(bits);
        Task task = {first[place], node->child[place]};
        fetchChild(tree, node, place);
        RB_ASSERT(waiting->count < RB_TASK_MAX);
        int at = waiting->count++;
        while (at > base && waiting->tasks[at - 1].key < task.key) {
            waiting->tasks[at] = waiting->tasks[at - 1];
            --at;
        }
        waiting->tasks[at] = task;
    }
}

// Converts a limit from the origin of the ray to one from the origin of the traversal. The error of
// rounding it to float is less than the slack, which keys include.
static inline float limitOf(const Line* line, double limit)
{
    double local = limit - line->shift;
    local = local > line->reach ? line->reach : local;
    return (float)(local < -line->reach ? -line->reach : local);
}

// The next block with a triangle that the ray may hit within the limit, NULL if there is none. The
// limit must not grow from call to call.
static inline const rbTriangleBlock* nextBlock(const rbBoxTree* tree, const Line* line,
                                               Tasks* waiting, float limit)
{
    while (waiting->count > 0) {
        Task task = waiting->tasks[--waiting->count];
        if (task.key > limit) {
            continue;
        }
        int32_t child = task.child;
        while (child >= 0) {
            RB_ASSERT(child < tree->nodeCount);
            const rbBoxNode* node = &tree->nodes[child];
            float first[RB_BOX_WIDTH];
            unsigned bits = meetBoxes(line, node, limit, first);
            if (bits == 0) {
                break;
            }
            if ((bits & (bits - 1)) == 0) {
                int place = __builtin_ctz(bits);
                child = node->child[place];
                fetchChild(tree, node, place);
                continue;
            }
            addTasks(tree, waiting, node, bits, first);
            child = waiting->tasks[--waiting->count].child;
        }
        if (child < 0) {
            RB_ASSERT(~child < tree->blockCount);
            return &tree->blocks[~child];
        }
    }
    return NULL;
}

// ------------------------------------------------------------------------------------- questions

// State of a ray while it traverses a tree.
typedef struct Cast {
    const rbVec3* normals; // by face
    rbRayWish wish;
    Line line;
    rbRayView view;
} Cast;

// The first hit in the pending parts, if it comes before the known one. True if any hit suffices
// and one is found.
static inline bool castAtParts(const rbBoxTree* tree, const Cast* cast, Tasks* waiting,
                               rbTreeHit* hit)
{
    float limit = limitOf(&cast->line, hit->t);
    const rbTriangleBlock* block;
    while ((block = nextBlock(tree, &cast->line, waiting, limit)) != NULL) {
        for (int lane = 0; lane < RB_BOX_WIDTH; ++lane) {
            __builtin_prefetch(&cast->normals[block->faces[lane]]);
        }
        unsigned lanes = filter(&cast->view, block);
        for (; lanes != 0; lanes &= lanes - 1) {
            int lane = __builtin_ctz(lanes);
            int triangle = block->origins[lane];
            RB_ASSERT(triangle >= 0 && triangle < tree->triangleCount);
            rbVec3 corners[3];
            rbTriangleBlock_Get(block, lane, corners);
            rbVec3 normal = cast->normals[block->faces[lane]];
            if (cast->wish == RB_RAY_FRONT && !(rbDot(normal, cast->view.direction) < 0.0)) {
                continue;
            }
            double t = rbRayView_Meet(&cast->view, corners, normal);
            if (t >= 0.0 && (t < hit->t || (t == hit->t && triangle < hit->triangle))) {
                *hit = (rbTreeHit){t, triangle, block->faces[lane]};
                if (cast->wish == RB_RAY_ANY) {
                    return true;
                }
                limit = limitOf(&cast->line, t);
            }
        }
    }
    return false;
}

bool rbBoxTree_CastRay(const rbBoxTree* tree, const rbVec3* normals, const rbRay* ray,
                       rbRayWish wish, rbTreeHit* hit)
{
    RB_ASSERT(normals != NULL && hit != NULL);
    RB_ASSERT(!isnan(ray->tMax));
    *hit = (rbTreeHit){ray->tMax, INT_MAX, INT_MAX};
    Cast cast = {.normals = normals, .wish = wish};
    if (!makeLine(tree, ray, &cast.line)) {
        return false;
    }
    cast.view = rbMakeRayView(ray);
    Tasks waiting;
    waiting.tasks[0] = (Task){-INFINITY, 0};
    waiting.count = 1;
    (void)castAtParts(tree, &cast, &waiting, hit);
    return hit->triangle < INT_MAX;
}

// --------------------------------------------------------------------------------------- bundles

// Rays with similar directions descend the tree together while boxes are wider than their bundle;
// below that, each descends alone. The bundle is bounded in the two directions across its main axis
// z by lines: the least of the rays' coordinates is a concave function of z and lies above the
// chord of its values at both ends of the tree, the largest below. So the results are those of
// single rays: boxes are skipped only if no ray hits them.

// Rays of a bundle. (Of 4, 8, 16 and 32 the fastest for a camera with two triangles per ray.)
#define BUNDLE_MAX 8
// Smaller groups descend as single rays.
#define BUNDLE_MIN 3
// Rays of a bundle differ in direction by at most this, and pass the center of the tree within this
// fraction of its radius of each other.
#define BUNDLE_SPREAD 0.1
// Parts smaller than this many widths of the bundle are left to single rays.
#define BUNDLE_WIDTHS 0.5F

typedef struct Bundle {
    const rbBoxTree* tree;
    Cast casts[BUNDLE_MAX];
    rbTreeHit* hits[BUNDLE_MAX];
    int count;
    int axes[3];        // along and across
    float middle[2][2]; // m, across at z = 0: axis, lower and upper
    float slope[2][2];
    float slack;    // m, as in Line, for transverse measurements
    float spread;   // m, difference between keys of rays
    float start;    // m, the least
    float limit;    // m, the largest
    Tasks waiting;  // of the bundle
    Tasks ownParts; // of a single ray
} Bundle;

// Is a ray similar to another? Both pass within reach.
static bool isParallelNear(const Line* a, const Line* b, double radius)
{
    float directions = 0.0F;
    float origins = 0.0F;
    for (int i = 0; i < 3; ++i) {
        float d = a->direction[i][0] - b->direction[i][0];
        float o = a->origin[i][0] - b->origin[i][0];
        directions += d * d;
        origins += o * o;
    }
    double size = BUNDLE_SPREAD * radius;
    return (double)directions <= BUNDLE_SPREAD * BUNDLE_SPREAD && (double)origins <= size * size &&
           isfinite(b->slack[0]);
}

// Computes the transverse lines, in double: the ray moved to z = -R and R.
static void boundBundle(Bundle* bundle)
{
    static const int next[5] = {0, 1, 2, 0, 1};
    const rbBoxTree* tree = bundle->tree;
    const Cast* main = &bundle->casts[0];
    bundle->axes[0] = main->view.axis;
    bundle->axes[1] = next[main->view.axis + 1];
    bundle->axes[2] = next[main->view.axis + 2];
    double ends[2][2][2]; // axis across, end, lower and upper
    double radius = tree->radius;
    double difference = 0.0;
    bundle->slack = 0.0F;
    bundle->start = INFINITY;
    bundle->limit = -INFINITY;
    for (int i = 0; i < bundle->count; ++i) {
        const Cast* cast = &bundle->casts[i];
        rbVec3 away = rbSub(cast->view.origin, tree->origin);
        const double o[3] = {away.x, away.y, away.z};
        rbVec3 v = cast->view.direction;
        const double d[3] = {v.x, v.y, v.z};
        for (int k = 0; k < 2; ++k) {
            double slope = d[bundle->axes[k + 1]] / d[bundle->axes[0]];
            double across = o[bundle->axes[k + 1]] - slope * o[bundle->axes[0]];
            for (int end = 0; end < 2; ++end) {
                double x = across + (end == 0 ? -radius : radius) * slope;
                ends[k][end][0] = i == 0 || x < ends[k][end][0] ? x : ends[k][end][0];
                ends[k][end][1] = i == 0 || x > ends[k][end][1] ? x : ends[k][end][1];
            }
        }
        double apart = rbLengthSquared(rbSub(v, main->view.direction));
        difference = apart > difference ? apart : difference;
        bundle->slack = cast->line.slack[0] > bundle->slack ? cast->line.slack[0] : bundle->slack;
        bundle->start = cast->line.start[0] < bundle->start ? cast->line.start[0] : bundle->start;
    }
    for (int k = 0; k < 2; ++k) {
        for (int side = 0; side < 2; ++side) {
            double low = ends[k][0][side];
            double high = ends[k][1][side];
            bundle->middle[k][side] = (float)(0.5 * (low + high));
            bundle->slope[k][side] = (float)(0.5 * (high - low) / radius);
        }
    }
    // a displacement by the slack off the line is three times that across, since slopes are at most
    // 2
    bundle->slack *= 3.0F;
    // the center of a box is within R, its corners within 3 R
    bundle->spread = (float)(4.0 * radius * sqrt(difference)) + bundle->slack;
}

static void updateLimit(Bundle* bundle)
{
    bundle->limit = -INFINITY;
    for (int i = 0; i < bundle->count; ++i) {
        float limit = limitOf(&bundle->casts[i].line, bundle->hits[i]->t);
        bundle->limit = limit > bundle->limit ? limit : bundle->limit;
    }
}

// The children of a node that some ray may hit, their keys, and which of them are narrow.
static inline unsigned meetBundle(const Bundle* bundle, const rbBoxNode* node,
                                  float first[RB_BOX_WIDTH], unsigned* isNarrow)
{
    const Line* line = &bundle->casts[0].line;
    rbQuad middle = {0.0F};
    rbQuad extent = {0.0F};
    for (int i = 0; i < 3; ++i) {
        middle += rbQuad_Load(node->center[i]) * line->direction[i];
        extent += rbQuad_Load(node->half[i]) * line->size[i];
    }
    rbQuad nearest = middle - extent - bundle->spread;
    rbQuadMask isMet =
        (nearest <= bundle->limit) & (middle + extent + bundle->spread >= bundle->start);
    rbQuad z = rbQuad_Load(node->center[bundle->axes[0]]);
    rbQuad hz = rbQuad_Load(node->half[bundle->axes[0]]);
    rbQuad width = {0.0F};
    rbQuad size = hz;
    for (int k = 0; k < 2; ++k) {
        rbQuad x = rbQuad_Load(node->center[bundle->axes[k + 1]]);
        rbQuad hx = rbQuad_Load(node->half[bundle->axes[k + 1]]);
        rbQuad lower = bundle->middle[k][0] + bundle->slope[k][0] * z;
        rbQuad upper = bundle->middle[k][1] + bundle->slope[k][1] * z;
        rbQuad h = hx + bundle->slack;
        isMet &= (x + h + hz * fabsf(bundle->slope[k][0]) >= lower) &
                 (x - h - hz * fabsf(bundle->slope[k][1]) <= upper);
        width = rbQuad_Max(width, upper - lower);
        size = rbQuad_Max(size, hx);
    }
    *isNarrow = rbQuadMask_Bits(size <= BUNDLE_WIDTHS * width);
    memcpy(first, &nearest, sizeof nearest);
    return rbQuadMask_Bits(isMet & isFull(node));
}

// Passes a part to every ray individually.
static void castApart(Bundle* bundle, int32_t child)
{
    for (int i = 0; i < bundle->count; ++i) {
        bundle->ownParts.tasks[0] = (Task){-INFINITY, child};
        bundle->ownParts.count = 1;
        (void)castAtParts(bundle->tree, &bundle->casts[i], &bundle->ownParts, bundle->hits[i]);
    }
    updateLimit(bundle);
}

static void castBundle(Bundle* bundle)
{
    const rbBoxTree* tree = bundle->tree;
    Tasks* waiting = &bundle->waiting;
    waiting->tasks[0] = (Task){-INFINITY, 0};
    waiting->count = 1;
    updateLimit(bundle);
    while (waiting->count > 0) {
        Task task = waiting->tasks[--waiting->count];
        if (task.key > bundle->limit) {
            continue;
        }
        const rbBoxNode* node = task.child >= 0 ? &tree->nodes[task.child] : NULL;
        float first[RB_BOX_WIDTH];
        unsigned isNarrow = 0;
        unsigned bits = node != NULL ? meetBundle(bundle, node, first, &isNarrow) : 0;
        bool isLow = node == NULL || (bits & isNarrow) != 0;
        for (int i = 0; i < RB_BOX_WIDTH && !isLow; ++i) {
            isLow = (bits >> i & 1U) != 0 && node->child[i] < 0;
        }
        if (isLow) {
            castApart(bundle, task.child);
        } else {
            addTasks(tree, waiting, node, bits, first);
        }
    }
}

void rbBoxTree_CastRays(const rbBoxTree* tree, const rbVec3* normals, const rbRay* rays, int count,
                        rbTreeHit* hits)
{
    RB_ASSERT(tree != NULL && normals != NULL && (count == 0 || (rays != NULL && hits != NULL)));
    Bundle bundle;
    bundle.tree = tree;
    for (int i = 0; i < count;) {
        // rays that miss the tree are not part of the bundle and do not end it
        bundle.count = 0;
        int last = i;
        while (last < count && bundle.count < BUNDLE_MAX) {
            Cast* cast = &bundle.casts[bundle.count];
            const rbRay* ray = &rays[last];
            hits[last] = (rbTreeHit){ray->tMax, INT_MAX, INT_MAX};
            bool isNear = makeLine(tree, ray, &cast->line);
            if (isNear && bundle.count > 0 &&
                !isParallelNear(&bundle.casts[0].line, &cast->line, tree->radius)) {
                break;
            }
            if (isNear) {
                cast->normals = normals;
                cast->wish = RB_RAY_FIRST;
                cast->view = rbMakeRayView(ray);
                bundle.hits[bundle.count++] = &hits[last];
            }
            ++last;
        }
        if (bundle.count >= BUNDLE_MIN && isfinite(bundle.casts[0].line.slack[0])) {
            boundBundle(&bundle);
            castBundle(&bundle);
        } else {
            castApart(&bundle, 0);
        }
        i = last;
    }
}

// Adds the crossing of a triangle; false if it is not certain.
static bool countTriangle(const rbRayView* view, const rbVec3 corners[3], int* count)
{
    rbVec3 v[3];
    for (int k = 0; k < 3; ++k) {
        v[k] = look(view, rbSub(corners[k], view->origin));
    }
    int turn;
    Passing passing = pass(v, &turn);
    if (passing == PASSING_NONE) {
        return true;
    }
    // on which side of the triangle is the origin? Certain unless it is close to the plane.
    rbVec3 product = rbCross(v[1], v[2]);
    rbVec3 a = rbAbs3(v[1]);
    rbVec3 b = rbAbs3(v[2]);
    double volume = rbDot(v[0], product);
    rbVec3 sums = {a.y * b.z + a.z * b.y, a.z * b.x + a.x * b.z, a.x * b.y + a.y * b.x};
    double bound = 8.0 * DBL_EPSILON * rbDot(rbAbs3(v[0]), sums);
    const double d[3] = {view->direction.x, view->direction.y, view->direction.z};
    int forward = d[view->axis] > 0.0 ? 1 : -1;
    double ahead = volume * turn * forward;
    if (passing == PASSING_BORDER) {
        return ahead < -bound;
    }
    *count += ahead > 0.0 ? turn * forward : 0;
    return fabs(ahead) > bound;
}

bool rbBoxTree_CountCrossings(const rbBoxTree* tree, const rbRay* ray, int* count)
{
    RB_ASSERT(count != NULL);
    *count = 0;
    Line line;
    if (!makeLine(tree, ray, &line)) {
        return true;
    }
    rbRayView view = rbMakeRayView(ray);
    Tasks waiting;
    waiting.tasks[0] = (Task){-INFINITY, 0};
    waiting.count = 1;
    float limit = limitOf(&line, INFINITY);
    const rbTriangleBlock* block;
    while ((block = nextBlock(tree, &line, &waiting, limit)) != NULL) {
        unsigned lanes = filter(&view, block);
        for (; lanes != 0; lanes &= lanes - 1) {
            rbVec3 corners[3];
            rbTriangleBlock_Get(block, __builtin_ctz(lanes), corners);
            if (!countTriangle(&view, corners, count)) {
                return false;
            }
        }
    }
    return true;
}
