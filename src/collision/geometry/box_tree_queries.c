// Queries of box trees.
//
// Direction queries compute in double, two lanes at a time, with the boxes widened by a few units
// in the last place of the largest coordinate. They use the boxes along principal axes: with those
// along the axes of the body, which fit a slanted surface less tightly, a support took 1.6 times as
// long (a million triangles).
//
// Rays test boxes in float, four at a time: the ray is first moved along itself to the point
// nearest to the center of the tree, so that all lengths are at most a few radii and one bound
// holds for all rounding (FLOAT_ROUNDING). A box is rejected if the line is never within all three
// of its slabs simultaneously, or if its extent along the ray lies before the start or beyond the
// limit. That extent, not the point where the line enters the box, bounds a hit: on a triangle
// grazed along its plane, any point may be the hit. The triangle test decides, in double with exact
// signs (the idea is that of Woop, Benthin and Wald 2013).
//
// A ray through a million triangles opens about ten nodes and examines two blocks, but waits for
// memory at each: a node is four whole cache lines, a block five. So children are prefetched, the
// normal of a triangle that is its own face is computed, and many rays take turns.
#include "base/core/lanes.h"
#include "collision/geometry/box_tree.h"
#include "collision/geometry/closest.h"
#include "collision/geometry/shape_ops.h"

#include <rattleback/base.h>

#include <float.h>
#include <limits.h>
#include <string.h>

// Rounding of a few operations, relative to the largest coordinate.
#define ROUNDING (32.0 * DBL_EPSILON)

// bytes
#define CACHE_LINE 64

// ----------------------------------------------------------------------------------------- tasks

// One part: the whole tree.
static void startTasks(rbTreeTasks* waiting)
{
    waiting->tasks[0] = (rbTreeTask){-INFINITY, 0};
    waiting->count = 1;
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
// spends most of its time waiting for it. (Without the attribute gcc assumes that the function has
// no effect and drops the calls.)
__attribute__((always_inline)) static inline void fetch(const void* from, size_t size)
{
#pragma GCC unroll 32
    for (size_t at = 0; at < size; at += CACHE_LINE) {
        __builtin_prefetch((const char*)from + at);
    }
}

static inline const rbTriangleBlock* blockOf(const rbBoxTree* tree, int32_t child)
{
    RB_ASSERT(child < 0 && ~child < tree->blockCount);
    return &tree->blocks[~child];
}

// The children of a node whose keys are within the limit, for traversals that use tilted boxes.
static inline void addChildren(rbTreeTasks* waiting, const rbBoxTree* tree, int32_t from,
                               const double keys[RB_BOX_WIDTH], double limit)
{
    RB_ASSERT(from >= 0 && from < tree->nodeCount);
    const rbBoxNode* node = &tree->nodes[from];
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
        rbTreeTasks_Add(waiting, base, (rbTreeTask){keys[i], child});
    }
}

// Largest magnitude of a coordinate in the frame of the body.
static double scaleOf(const rbBoxTree* tree)
{
    return rbLargestComponent(tree->origin) + tree->radius;
}

// ---------------------------------------------------------------------------- rays and triangles

rbRayView rbMakeRayView(const rbRay* ray)
{
    RB_ASSERT(rbIsFinite3(ray->origin) && rbIsFinite3(ray->direction));
    rbVec3 d = ray->direction;
    rbVec3 size = rbAbs3(d);
    RB_ASSERT(size.x + size.y + size.z > 0.0);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const double c[5] = {d.x, d.y, d.z, d.x, d.y};
    return (rbRayView){ray->origin, d, axis, {c[axis + 1] / c[axis], c[axis + 2] / c[axis]}};
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
    double left = a.x * b.y, right = a.y * b.x;
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
    int u0 = signOfTurn(seen[1], seen[2]), u1 = signOfTurn(seen[2], seen[0]);
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
    double s0 = rbDot(d, v[0]), s1 = rbDot(d, v[1]), s2 = rbDot(d, v[2]);
    double low = s0 < s1 ? s0 : s1, high = s0 < s1 ? s1 : s0;
    low = s2 < low ? s2 : low;
    high = s2 > high ? s2 : high;
    return hit < low ? low : (hit > high ? high : hit);
}

// Lanes where a_0 b_1 - a_1 b_0 is certainly above and below zero, by the criterion of signOfTurn.
static inline void validateTurns(const rbLanePair a[2], const rbLanePair b[2], rbLaneMask* isAbove,
                                 rbLaneMask* isBelow)
{
    rbLanePair left = a[0] * b[1], right = a[1] * b[0];
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

// The slack, m, of a ray from so far that boxes cannot be distinguished.
#define FAR_SLACK 0x1p100F

// The line of a ray in a tree, each number replicated four times.
typedef struct Line {
    // m, the point of the line nearest to the origin of the tree; moved by the slack such that
    // boxes begin earlier and end later
    rbQuad origin[3][2];
    rbQuad direction[3]; // unit
    rbQuad inverse[3];   // of the direction
    int entry[3];        // the end of a box where the line enters: 0 lower, 1 upper
    float slack;         // m, rounding error of box tests
    rbQuad start;        // m, where the ray begins
    double shift;        // m, parameter of the origin above
    double reach;        // m, parameters farther from there are outside the tree
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
    line->slack = isFar ? FAR_SLACK : (float)(slack + FLOAT_ROUNDING * radius) + FLT_MIN;
    double start = -shift < -line->reach ? -line->reach : -shift;
    line->start = fourTimes((float)(start > line->reach ? line->reach : start));
    RB_ASSERT(line->slack > 0.0F);
    const double from[3] = {o.x, o.y, o.z};
    const double along[3] = {d.x, d.y, d.z};
    for (int i = 0; i < 3; ++i) {
        double c = fabs(along[i]) < COMPONENT_MIN ? COMPONENT_MIN : along[i];
        float inverse = 1.0F / (float)c;
        float aside = inverse < 0.0F ? -line->slack : line->slack;
        line->entry[i] = inverse < 0.0F ? 1 : 0;
        line->origin[i][0] = fourTimes((float)from[i] + aside);
        line->origin[i][1] = fourTimes((float)from[i] - aside);
        line->direction[i] = fourTimes((float)along[i]);
        line->inverse[i] = fourTimes(inverse);
    }
    double outside = radius + slack;
    return rbLengthSquared(o) <= outside * outside * (1.0 + ROUNDING);
}

// The children of a node (bit i: place i) that the ray may hit before the limit, measured from the
// origin of the traversal, and their entry parameters.
static inline unsigned meetBoxes(const Line* line, const rbRayNode* node, float limit,
                                 float first[RB_RAY_WIDTH])
{
    unsigned bits = 0;
    const float* entries[3];
    const float* exits[3];
    for (int i = 0; i < 3; ++i) {
        entries[i] = node->ends[i][line->entry[i]];
        exits[i] = node->ends[i][1 - line->entry[i]];
    }
    for (int half = 0; half < RB_RAY_WIDTH; half += 4) {
        rbQuad a = rbQuad_Load(entries[0] + half) - line->origin[0][0];
        rbQuad b = rbQuad_Load(exits[0] + half) - line->origin[0][1];
        rbQuad in = a * line->inverse[0], out = b * line->inverse[0];
        rbQuad nearest = a * line->direction[0], farthest = b * line->direction[0];
        for (int i = 1; i < 3; ++i) {
            a = rbQuad_Load(entries[i] + half) - line->origin[i][0];
            b = rbQuad_Load(exits[i] + half) - line->origin[i][1];
            in = rbQuad_Max(in, a * line->inverse[i]);
            out = rbQuad_Min(out, b * line->inverse[i]);
            nearest += a * line->direction[i];
            farthest += b * line->direction[i];
        }
        rbQuadMask isMet = (in <= out) & (nearest <= limit) & (farthest >= line->start);
        memcpy(first + half, &nearest, sizeof nearest);
        bits |= rbQuadMask_Bits(isMet) << half;
    }
    return bits;
}

// Prefetches the memory that a child will read, with the first block of a lowest node. (None: 4 %
// slower; two: 7 %.)
__attribute__((always_inline)) static inline void fetchChild(const rbBoxTree* tree,
                                                             const rbRayNode* node, int place)
{
    int32_t child = node->child[place];
    int32_t block = child < 0 ? ~child : node->block[place];
    if (child >= 0) {
        fetch(&tree->rayNodes[child], sizeof(rbRayNode));
    }
    if (block >= 0) {
        fetch(&tree->blocks[block], sizeof(rbTriangleBlock));
    }
}

// Returns the nearest of the children selected by bits, at least one, and pushes the others: keys
// decrease toward the top.
static inline rbTreeTask addTasks(const rbBoxTree* tree, rbTreeTasks* waiting,
                                  const rbRayNode* node, unsigned bits, const float* first)
{
    int base = waiting->count;
    int place = __builtin_ctz(bits);
    rbTreeTask nearest = {(double)first[place], node->child[place]};
    fetchChild(tree, node, place);
    for (bits &= bits - 1; bits != 0; bits &= bits - 1) {
        place = __builtin_ctz(bits);
        rbTreeTask task = {(double)first[place], node->child[place]};
        fetchChild(tree, node, place);
        bool isNearer = task.key < nearest.key;
        rbTreeTasks_Add(waiting, base, isNearer ? nearest : task);
        nearest = isNearer ? task : nearest;
    }
    return nearest;
}

// Converts a limit from the origin of the ray to one from the origin of the traversal. The error of
// rounding it to float is less than the slack, which keys include.
static inline float limitOf(const Line* line, double limit)
{
    double local = limit - line->shift;
    local = local > line->reach ? line->reach : local;
    return (float)(local < -line->reach ? -line->reach : local);
}

// Opens a node: the child that the line may enter first is next, or else the best pending part
// within the limit. False if there is none.
static inline bool openNode(const rbBoxTree* tree, const Line* line, rbTreeTasks* waiting,
                            float limit, int32_t* child)
{
    RB_ASSERT(*child < tree->rayNodeCount);
    const rbRayNode* node = &tree->rayNodes[*child];
    float first[RB_RAY_WIDTH];
    unsigned bits = meetBoxes(line, node, limit, first);
    if (bits == 0) {
        return takeTask(waiting, (double)limit, child);
    }
    *child = addTasks(tree, waiting, node, bits, first).child;
    return true;
}

// The next block with a triangle that the ray may hit within the limit, NULL if there is none. The
// limit must not grow from call to call.
static inline const rbTriangleBlock* nextBlock(const rbBoxTree* tree, const Line* line,
                                               rbTreeTasks* waiting, float limit)
{
    int32_t child;
    bool isLeft = takeTask(waiting, (double)limit, &child);
    while (isLeft && child >= 0) {
        isLeft = openNode(tree, line, waiting, limit, &child);
    }
    return isLeft ? blockOf(tree, child) : NULL;
}

// ------------------------------------------------------------------------------------- questions

// State of a ray while it traverses a tree.
typedef struct Cast {
    const rbVec3* normals; // by face; NULL: every triangle is its own
    rbRayWish wish;
    Line line;
    rbRayView view;
    float limit; // m, of the known hit, from the origin of the traversal
    rbTreeHit* hit;
    rbTreeTasks waiting;
} Cast;

// The same bits as the normal of the face, without waiting for memory far from the triangle.
static inline rbVec3 computeNormal(const rbVec3 corners[3])
{
    rbVec3 a = rbSub(corners[1], corners[0]), b = rbSub(corners[2], corners[0]);
    return rbNormalize(rbAdd(RB_VEC3_ZERO, rbCross(a, b)));
}

// Begins with no hit; false if the line misses the tree.
static inline bool startCast(Cast* cast, const rbBoxTree* tree, const rbVec3* normals,
                             const rbRay* ray, rbTreeHit* hit)
{
    *hit = (rbTreeHit){ray->tMax, INT_MAX, INT_MAX, RB_VEC3_ZERO};
    if (!makeLine(tree, ray, &cast->line)) {
        return false;
    }
    cast->normals = normals;
    cast->wish = RB_RAY_FIRST;
    cast->view = rbMakeRayView(ray);
    cast->limit = limitOf(&cast->line, ray->tMax);
    cast->hit = hit;
    startTasks(&cast->waiting);
    return true;
}

// Keeps the first hit in a block, if it comes before the known one. True if any hit suffices and
// one is found.
static inline bool castAtBlock(Cast* cast, const rbTriangleBlock* block)
{
    rbTreeHit* hit = cast->hit;
    for (int lane = 0; lane < RB_BOX_WIDTH && cast->normals != NULL; ++lane) {
        __builtin_prefetch(&cast->normals[block->faces[lane]]);
    }
    unsigned lanes = filter(&cast->view, block);
    for (; lanes != 0; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        int triangle = block->origins[lane];
        RB_ASSERT(triangle >= 0);
        rbVec3 corners[3];
        rbTriangleBlock_Get(block, lane, corners);
        rbVec3 normal =
            cast->normals != NULL ? cast->normals[block->faces[lane]] : computeNormal(corners);
        if (cast->wish == RB_RAY_FRONT && !(rbDot(normal, cast->view.direction) < 0.0)) {
            continue;
        }
        double t = rbRayView_Meet(&cast->view, corners, normal);
        if (t >= 0.0 && (t < hit->t || (t == hit->t && triangle < hit->triangle))) {
            *hit = (rbTreeHit){t, triangle, block->faces[lane], normal};
            if (cast->wish == RB_RAY_ANY) {
                return true;
            }
            cast->limit = limitOf(&cast->line, t);
        }
    }
    return false;
}

bool rbBoxTree_CastRay(const rbBoxTree* tree, const rbVec3* normals, const rbRay* ray,
                       rbRayWish wish, rbTreeHit* hit)
{
    RB_ASSERT(hit != NULL && !isnan(ray->tMax));
    Cast cast;
    if (!startCast(&cast, tree, normals, ray, hit)) {
        return false;
    }
    cast.wish = wish;
    const rbTriangleBlock* block;
    while ((block = nextBlock(tree, &cast.line, &cast.waiting, cast.limit)) != NULL &&
           !castAtBlock(&cast, block)) {
    }
    return hit->triangle < INT_MAX;
}

// Rays that take turns: while one of them waits for memory, the others proceed.
#define GROUP_MAX 8

// Continues at a node or block; false if nothing is left.
static inline bool stepCast(const rbBoxTree* tree, Cast* cast, int32_t* child)
{
    if (*child >= 0) {
        return openNode(tree, &cast->line, &cast->waiting, cast->limit, child);
    }
    (void)castAtBlock(cast, blockOf(tree, *child));
    return takeTask(&cast->waiting, (double)cast->limit, child);
}

// Rays that visit the same parts find them in the cache and need not take turns.
static bool areSimilar(const rbBoxTree* tree, const rbRay* a, const rbRay* b)
{
    return rbDot(a->direction, b->direction) > 0.995 &&
           rbDistance(a->origin, b->origin) < 0.1 * tree->radius;
}

void rbBoxTree_CastRays(const rbBoxTree* tree, const rbVec3* normals, const rbRay* rays, int count,
                        rbTreeHit* hits)
{
    RB_ASSERT(tree != NULL && (count == 0 || (rays != NULL && hits != NULL)));
    Cast casts[GROUP_MAX];
    int32_t children[GROUP_MAX] = {0}; // the next part of each
    int order[GROUP_MAX];              // of those at work; places of others follow
    for (int i = 0; i < GROUP_MAX; ++i) {
        order[i] = i;
    }
    int active = 0;
    for (int next = 0; active > 0 || next < count;) {
        for (; active < GROUP_MAX && next < count; ++next) {
            int at = order[active];
            if (active == 0 && next + 1 < count && areSimilar(tree, &rays[next], &rays[next + 1])) {
                (void)rbBoxTree_CastRay(tree, normals, &rays[next], RB_RAY_FIRST, &hits[next]);
            } else if (startCast(&casts[at], tree, normals, &rays[next], &hits[next])) {
                active += takeTask(&casts[at].waiting, INFINITY, &children[at]) ? 1 : 0;
            }
        }
        for (int i = active - 1; i >= 0; --i) {
            int at = order[i];
            if (!stepCast(tree, &casts[at], &children[at])) {
                order[i] = order[--active];
                order[active] = at;
            }
        }
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
    rbVec3 a = rbAbs3(v[1]), b = rbAbs3(v[2]);
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
    rbTreeTasks waiting;
    startTasks(&waiting);
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

// ---------------------------------------------------------------------------------------- points

static bool isOnBlock(const rbTriangleBlock* block, const rbVec3* normals, rbVec3 point,
                      double tolerance)
{
    bool isOn = false;
    for (int lane = 0; lane < RB_BOX_WIDTH && block->origins[lane] >= 0 && !isOn; ++lane) {
        rbVec3 v[3];
        rbTriangleBlock_Get(block, lane, v);
        for (int k = 0; k < 3; ++k) {
            v[k] = rbSub(v[k], point);
        }
        isOn = fabs(rbDot(normals[block->faces[lane]], v[0])) <= tolerance &&
               rbClosestOfPointTriangle(RB_VEC3_ZERO, v).squared <= tolerance * tolerance;
    }
    return isOn;
}

bool rbBoxTree_IsNear(const rbBoxTree* tree, const rbVec3* normals, rbVec3 point, double tolerance)
{
    RB_ASSERT(tree != NULL && rbIsFinite3(point) && tolerance >= 0.0);
    rbVec3 local = rbSub(point, tree->origin);
    const double c[3] = {local.x, local.y, local.z};
    // with the rounding of the difference, and that to float
    double reach =
        tolerance + ROUNDING * scaleOf(tree) + (double)FLT_EPSILON * (rbLength(local) + tolerance);
    rbQuad low[3], high[3];
    for (int i = 0; i < 3; ++i) {
        low[i] = fourTimes((float)(c[i] - reach));
        high[i] = fourTimes((float)(c[i] + reach));
    }
    rbTreeTasks waiting;
    startTasks(&waiting);
    int32_t child;
    while (takeTask(&waiting, INFINITY, &child)) {
        if (child < 0) {
            if (isOnBlock(blockOf(tree, child), normals, point, tolerance)) {
                return true;
            }
            continue;
        }
        const rbRayNode* node = &tree->rayNodes[child];
        for (int half = 0; half < RB_RAY_WIDTH; half += 4) {
            rbQuadMask isNear = {-1, -1, -1, -1};
            for (int i = 0; i < 3; ++i) {
                isNear &= (rbQuad_Load(node->ends[i][0] + half) <= high[i]) &
                          (rbQuad_Load(node->ends[i][1] + half) >= low[i]);
            }
            for (unsigned bits = rbQuadMask_Bits(isNear); bits != 0; bits &= bits - 1) {
                int place = half + __builtin_ctz(bits);
                rbTreeTasks_Add(&waiting, waiting.count, (rbTreeTask){0.0, node->child[place]});
            }
        }
    }
    return false;
}

// ------------------------------------------------------------------------------------ directions

static inline rbLanePair widen(const float* from)
{
    return (rbLanePair){(double)from[0], (double)from[1]};
}

// The products of a direction and the vectors in two places of a node.
static inline rbLanePair dotLanes(const rbLanePair d[3], const float from[3][RB_BOX_WIDTH],
                                  int place)
{
    return d[0] * widen(&from[0][place]) + d[1] * widen(&from[1][place]) +
           d[2] * widen(&from[2][place]);
}

void rbReachWalk_Start(rbReachWalk* walk, const rbBoxTree* tree, rbVec3 direction)
{
    RB_ASSERT(walk != NULL && tree != NULL);
    RB_ASSERT(rbIsFinite3(direction));
    walk->tree = tree;
    walk->direction = direction;
    rbVec3 size = rbAbs3(direction);
    double slack = ROUNDING * (size.x + size.y + size.z) * scaleOf(tree);
    walk->base = -(rbDot(direction, tree->origin) + slack);
    startTasks(&walk->waiting);
}

const rbTriangleBlock* rbReachWalk_Next(rbReachWalk* walk, double least)
{
    rbVec3 v = walk->direction;
    const rbLanePair d[3] = {rbLanePair_Both(v.x), rbLanePair_Both(v.y), rbLanePair_Both(v.z)};
    int32_t child;
    while (takeTask(&walk->waiting, -least, &child)) {
        if (child < 0) {
            return blockOf(walk->tree, child);
        }
        double keys[RB_BOX_WIDTH];
        const rbTiltedNode* node = &walk->tree->tilted[child];
        for (int half = 0; half < RB_BOX_WIDTH; half += 2) {
            rbLanePair key =
                rbLanePair_Both(walk->base) -
                (dotLanes(d, node->center, half) +
                 rbLanePair_Abs(dotLanes(d, node->longAxis, half)) +
                 rbLanePair_Abs(dotLanes(d, node->wideAxis, half)) +
                 rbLanePair_Abs(dotLanes(d, node->normal, half)) * widen(&node->thickness[half]));
            memcpy(&keys[half], &key, sizeof key);
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
