// Building, refitting and walking the query tree.
#include "world/world_query_tree.h"

#include "collision/geometry/shape_ops.h"

#include <rattleback/collision.h>

#include <float.h>

#define LEAF_SIZE 4
// Refitted boxes may have this many times their area at the build.
#define AREA_GROWTH 2.0
// Depth bound: halving 2^31 items down to LEAF_SIZE takes at most 31 levels.
#define DEPTH_MAX 40
// Margin of the box of an item relative to its size and position: queries run in the frames of
// shapes, and rounding must not lose a hit.
#define BOX_SLACK 1e-12

void rbDestroyQueryTree(rbQueryTree* tree)
{
    if (tree == NULL) {
        return;
    }
    rbArray_Free(tree->items);
    rbArray_Free(tree->order);
    rbArray_Free(tree->unbounded);
    rbArray_Free(tree->nodes);
    rbArray_Free(tree->found);
    rbFree(tree->scratch, rbGetSeparationScratchSize());
    rbFree(tree, sizeof *tree);
}

// ----------------------------------------------------------------------------------------- boxes

static rbBounds joinBounds(const rbBounds* a, const rbBounds* b)
{
    return (rbBounds){rbMin3(a->lower, b->lower), rbMax3(a->upper, b->upper)};
}

// Half the surface, m^2.
static double getArea(const rbBounds* box)
{
    rbVec3 size = rbSub(box->upper, box->lower);
    return size.x * size.y + size.y * size.z + size.z * size.x;
}

static void fitItem(rbQueryItem* item)
{
    rbBounds box = rbGeometry_GetBounds(item->geometry, item->pose);
    rbVec3 lower = rbAbs3(box.lower);
    rbVec3 upper = rbAbs3(box.upper);
    rbVec3 slack = rbScale(BOX_SLACK, rbMax3(lower, upper));
    item->bounds = (rbBounds){rbSub(box.lower, slack), rbAdd(box.upper, slack)};
}

// Boxes of all nodes from those of the items; children follow their parents.
static double fitNodes(rbQueryTree* tree)
{
    double area = 0.0;
    for (int i = tree->nodes.count - 1; i >= 0; --i) {
        rbQueryNode* node = &tree->nodes.data[i];
        if (node->right != 0) {
            node->bounds =
                joinBounds(&tree->nodes.data[i + 1].bounds, &tree->nodes.data[node->right].bounds);
        } else {
            node->bounds = tree->items.data[tree->order.data[node->begin]].bounds;
            for (int k = node->begin + 1; k < node->end; ++k) {
                node->bounds =
                    joinBounds(&node->bounds, &tree->items.data[tree->order.data[k]].bounds);
            }
        }
        area += getArea(&node->bounds);
    }
    return area;
}

// ----------------------------------------------------------------------------------------- build

// Twice the center of an item along an axis.
static double getMiddle(const rbQueryTree* tree, int item, int axis)
{
    const rbBounds* box = &tree->items.data[item].bounds;
    rbVec3 sum = rbAdd(box->lower, box->upper);
    return axis == 0 ? sum.x : axis == 1 ? sum.y : sum.z;
}

// Is item a before item b? Ties by index, so that the tree is deterministic.
static bool isBefore(const rbQueryTree* tree, int a, int b, int axis)
{
    double x = getMiddle(tree, a, axis);
    double y = getMiddle(tree, b, axis);
    return x < y || (x == y && a < b);
}

// Partitions a run about its median (Hoare's selection).
static void selectMiddle(rbQueryTree* tree, int begin, int end, int axis)
{
    int* order = tree->order.data;
    int middle = (begin + end) / 2;
    int low = begin;
    int high = end - 1;
    while (low < high) {
        int pivot = order[(low + high) / 2];
        int i = low;
        int j = high;
        while (i <= j) {
            while (isBefore(tree, order[i], pivot, axis)) {
                ++i;
            }
            while (isBefore(tree, pivot, order[j], axis)) {
                --j;
            }
            if (i <= j) {
                int swapped = order[i];
                order[i++] = order[j];
                order[j--] = swapped;
            }
        }
        high = middle <= j ? j : high;
        low = middle >= i ? i : low;
        if (j < middle && middle < i) {
            return;
        }
    }
}

// The axis along which the centers of a run spread most.
static int chooseAxis(const rbQueryTree* tree, int begin, int end)
{
    rbVec3 lower = {(double)INFINITY, (double)INFINITY, (double)INFINITY};
    rbVec3 upper = rbNeg(lower);
    for (int i = begin; i < end; ++i) {
        const rbBounds* box = &tree->items.data[tree->order.data[i]].bounds;
        rbVec3 sum = rbAdd(box->lower, box->upper);
        lower = rbMin3(lower, sum);
        upper = rbMax3(upper, sum);
    }
    rbVec3 size = rbSub(upper, lower);
    if (size.x >= size.y && size.x >= size.z) {
        return 0;
    }
    return size.y >= size.z ? 1 : 2;
}

// A run of items without a node, and the node whose right child it becomes (-1: none).
typedef struct Run {
    int begin, end;
    int parent;
} Run;

static void buildTree(rbQueryTree* tree)
{
    tree->counts.builds += 1;
    tree->nodes.count = 0;
    tree->order.count = 0;
    tree->unbounded.count = 0;
    for (int i = 0; i < tree->items.count; ++i) {
        if (rbGeometry_IsBounded(tree->items.data[i].geometry)) {
            rbArray_Push(tree->order, i);
        } else {
            rbArray_Push(tree->unbounded, i);
        }
    }
    Run stack[DEPTH_MAX];
    int count = 0;
    if (tree->order.count > 0) {
        stack[count++] = (Run){0, tree->order.count, -1};
    }
    while (count > 0) {
        Run run = stack[--count];
        if (run.parent >= 0) {
            tree->nodes.data[run.parent].right = tree->nodes.count;
        }
        // descend to the left
        while (true) {
            int self = tree->nodes.count;
            rbQueryNode node = {.begin = run.begin, .end = run.end};
            rbArray_Push(tree->nodes, node);
            if (run.end - run.begin <= LEAF_SIZE) {
                break;
            }
            selectMiddle(tree, run.begin, run.end, chooseAxis(tree, run.begin, run.end));
            int middle = (run.begin + run.end) / 2;
            RB_ASSERT(count < DEPTH_MAX);
            stack[count++] = (Run){middle, run.end, self};
            run.end = middle;
        }
    }
    tree->areaAtBuild = fitNodes(tree);
}

// ---------------------------------------------------------------------------------------- update

static bool isSamePose(rbTransform a, rbTransform b)
{
    return a.p.x == b.p.x && a.p.y == b.p.y && a.p.z == b.p.z && a.q.w == b.q.w && a.q.x == b.q.x &&
           a.q.y == b.q.y && a.q.z == b.q.z;
}

// Updates the item of that number; true if it was of the same shape already.
static bool keepItem(rbQueryTree* tree, int number, const rbQueryItem* item)
{
    if (number >= tree->items.count) {
        rbArray_Push(tree->items, *item);
        fitItem(&tree->items.data[number]);
        return false;
    }
    rbQueryItem* old = &tree->items.data[number];
    bool isSame = old->body == item->body && old->shape == item->shape &&
                  old->generation == item->generation && old->geometry == item->geometry;
    if (!isSame || !isSamePose(old->pose, item->pose)) {
        *old = *item;
        fitItem(old);
    }
    return isSame;
}

static rbStatus validateGrowth(const rbWorld* world, int index, rbError* error)
{
    const rbBody* body = &world->bodies.data[index];
    if (body->growth == 0.0 || world->time == 0.0 || world->def.engine != RB_ENGINE_EVENT) {
        return RB_STATUS_OK;
    }
    return rbError_Set(
        error, RB_STATUS_UNSUPPORTED,
        "body \"%s\" has grown by %g m: queries need shapes of constant size; give it no growth",
        body->name, body->growth * world->time);
}

rbStatus rbWorld_UpdateQueryTree(rbWorld* world, rbQueryTree** tree, rbError* error)
{
    if (world->queryTree == NULL) {
        world->queryTree = rbAllocZero(1, sizeof *world->queryTree);
        world->queryTree->scratch = rbAlloc(rbGetSeparationScratchSize());
    }
    rbQueryTree* own = world->queryTree;
    *tree = own;
    own->counts.queries += 1;
    if (own->isCurrent && own->motions == world->motionCount) {
        return RB_STATUS_OK;
    }
    own->isCurrent = false;
    own->counts.updates += 1;
    own->sizeMax = 0.0;
    bool isSame = true;
    int number = 0;
    for (int i = 0; i < world->bodies.count; ++i) {
        if (!rbWorld_IsBodyAlive(world, i)) {
            continue;
        }
        const rbBody* body = &world->bodies.data[i];
        rbStatus status = validateGrowth(world, i, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbTransform frame = rbWorld_PublicState(world, i, &world->states.data[i]).transform;
        for (int k = 0; k < body->shapes.count; ++k) {
            const rbShapeDef* shape = &body->shapes.data[k].def;
            if (shape->isSensor) {
                continue;
            }
            rbQueryItem item = {
                .pose = rbMulTransforms(frame, shape->transform),
                .geometry = rbWorld_GetGeometry(world, shape->geometry),
                .body = i,
                .shape = k,
                .generation = world->bodyIds.generations.data[i],
            };
            if (item.geometry->isBounded) {
                own->sizeMax = rbMaxOf(own->sizeMax, item.geometry->radius);
            }
            isSame = keepItem(own, number++, &item) && isSame;
        }
    }
    isSame = isSame && number == own->items.count;
    own->items.count = number;
    if (!isSame || fitNodes(own) > AREA_GROWTH * own->areaAtBuild) {
        buildTree(own);
    }
    own->isCurrent = true;
    own->motions = world->motionCount;
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------------ walk

// 1 / x, or 0 where that overflows.
static double invert(double x)
{
    return fabs(x) > DBL_MIN ? 1.0 / x : 0.0;
}

rbQueryWalk rbMakeQueryWalk(rbVec3 center, rbVec3 halfSize, rbVec3 step, double limit)
{
    double largest = rbLargestComponent(center) + halfSize.x + halfSize.y + halfSize.z;
    return (rbQueryWalk){
        .center = center,
        .halfSize = halfSize,
        .step = step,
        .inverse = {invert(step.x), invert(step.y), invert(step.z)},
        .slack = 16.0 * DBL_EPSILON * largest,
        .limit = limit,
    };
}

// Clips the interval of step fractions to the overlap with [low, high], relative to the center.
static inline void enterSlab(double low, double high, double inverse, double span[2])
{
    if (inverse == 0.0) {
        span[0] = low > 0.0 || high < 0.0 ? (double)INFINITY : span[0];
        return;
    }
    double t0 = low * inverse;
    double t1 = high * inverse;
    span[0] = rbMaxOf(span[0], rbMinOf(t0, t1));
    span[1] = rbMinOf(span[1], rbMaxOf(t0, t1));
}

// The fraction of the step at which the box meets another, INFINITY if it does not.
static double enterBox(const rbQueryWalk* walk, const rbBounds* box)
{
    rbVec3 wide = {walk->halfSize.x + walk->slack, walk->halfSize.y + walk->slack,
                   walk->halfSize.z + walk->slack};
    rbVec3 low = rbSub(rbSub(box->lower, wide), walk->center);
    rbVec3 high = rbSub(rbAdd(box->upper, wide), walk->center);
    double span[2] = {0.0, walk->limit};
    enterSlab(low.x, high.x, walk->inverse.x, span);
    enterSlab(low.y, high.y, walk->inverse.y, span);
    enterSlab(low.z, high.z, walk->inverse.z, span);
    // allow for a slab thinner than the rounding of its two ends
    return span[0] <= span[1] + 4.0 * DBL_EPSILON * span[0] ? span[0] : (double)INFINITY;
}

// A node to be visited.
typedef struct Task {
    double key;
    int node;
} Task;

static bool visitLeaf(rbQueryTree* tree, rbQueryWalk* walk, const rbQueryNode* leaf,
                      rbVisitItemFn* visit, void* context)
{
    for (int k = leaf->begin; k < leaf->end; ++k) {
        const rbQueryItem* item = &tree->items.data[tree->order.data[k]];
        tree->counts.boxTests += 1;
        if (!isinf(enterBox(walk, &item->bounds))) {
            if (!visit(context, walk, item)) {
                return false;
            }
        }
    }
    return true;
}

void rbQueryTree_Walk(rbQueryTree* tree, rbQueryWalk* walk, rbVisitItemFn* visit, void* context)
{
    for (int i = 0; i < tree->unbounded.count; ++i) {
        if (!visit(context, walk, &tree->items.data[tree->unbounded.data[i]])) {
            return;
        }
    }
    Task stack[DEPTH_MAX];
    int count = 0;
    if (tree->nodes.count > 0) {
        stack[count++] = (Task){0.0, 0};
    }
    while (count > 0) {
        Task task = stack[--count];
        const rbQueryNode* node = &tree->nodes.data[task.node];
        if (task.key > walk->limit) {
            continue;
        }
        if (node->right == 0) {
            if (!visitLeaf(tree, walk, node, visit, context)) {
                return;
            }
            continue;
        }
        Task left = {enterBox(walk, &tree->nodes.data[task.node + 1].bounds), task.node + 1};
        Task right = {enterBox(walk, &tree->nodes.data[node->right].bounds), node->right};
        tree->counts.boxTests += 2;
        bool isLeftFirst = left.key <= right.key;
        Task far = isLeftFirst ? right : left;
        Task near = isLeftFirst ? left : right;
        if (!isinf(far.key)) {
            stack[count++] = far;
        }
        if (!isinf(near.key)) {
            stack[count++] = near;
        }
    }
}
