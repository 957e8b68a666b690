// A dynamic tree of boxes: inserted where the surface area grows least, improved by rotations.
//
// A node is one cache line: the boxes of its two children in float (rbFloatBox), and in their free
// lanes the children and the parent; one lane is unused. So a visited node costs one memory access,
// and leaves need none: their boxes are in the node above. Rounding to nearest preserves the order.
// Hence the hull of rounded boxes is the rounded hull, and boxes separate in float are separate.
//
// A slot is half a node, named by 2 * node + place; a child is a node (>= 0) or a box (~id). A box
// that moves within the hull of its grandparent stays in place, and rotations repair the tree
// around it; otherwise it is reinserted from the root. Boxes are stored as given: fattening is up
// to the caller.
//
// The first boxes inserted shape the top of the tree, and rotations repair a bad top slowly (after
// a hundred moves per box); so the tree is also rebuilt each time the number of boxes has doubled.
//
// Insertion alone does not bound the depth (nested boxes, growing, each become a new root). When a
// leaf gets deeper than DEPTH_SLACK + 2 log2 n, the tree is rebuilt by halving, which is O(n log n)
// and rare.
#include "collision/broadphase/broad_phase.h"

#include <string.h>

#define DEPTH_SLACK 32 // far above trees of random boxes, so that rebuilding for it is rare
#define SMALL 32       // the quality of a tree with so few boxes does not matter
#define REFITS_MAX 64  // boxes that move together stay neighbors; in time they do not
#define EMPTY INT32_MIN
#define NODE_SIZE 64

typedef struct rbTreeNode {
    rbFloatBox boxes[2]; // lanes 3: child 0 and parent slot in boxes[0], child 1 in boxes[1]
} rbTreeNode;
_Static_assert(sizeof(rbTreeNode) == NODE_SIZE, "a node is a cache line");

// An item of a tree built by halving.
typedef struct rbTreeItem {
    float center[3]; // m, half the sum of the corners
    int32_t id;
} rbTreeItem;

typedef struct rbTreeRange {
    int begin, end;
    int slot; // destination of its root; -1: the root of the tree
} rbTreeRange;

typedef struct rbDynamicTree {
    RB_ARRAY(rbTreeNode) nodes;  // aligned to a cache line, as all but small blocks of memory
    int freeNode;                // first of the free ones, linked by their parent
    int32_t root;                // child, or EMPTY
    RB_ARRAY(int32_t) leafSlots; // by id: slot that holds the leaf; -1: it is the root
    bool isTooDeep;
    int countAtBuild;
    RB_ARRAY(rbTreeItem) items;
    RB_ARRAY(rbTreeRange) ranges;
    RB_ARRAY(int32_t) order; // of nodes, parents first
    int refitCount;          // since the last build
} rbDynamicTree;

static void start(rbBroadPhase* broad, double cellSize)
{
    rbDynamicTree* tree = broad->state;
    (void)cellSize;
    tree->root = EMPTY;
    tree->freeNode = RB_BROAD_NONE;
}

static void stop(rbBroadPhase* broad)
{
    rbDynamicTree* tree = broad->state;
    rbArray_FreeAll(tree->nodes, tree->leafSlots, tree->items, tree->ranges, tree->order);
}

// ------------------------------------------------------------------------------------------- nodes

static inline int32_t getChild(const rbTreeNode* node, int place)
{
    return rbGetLane(&node->boxes[place].lower[3]);
}

// The slot that holds a node; -1 for the root.
static inline int32_t getParent(const rbTreeNode* node)
{
    return rbGetLane(&node->boxes[0].upper[3]);
}

static inline void setParent(rbTreeNode* node, int32_t slot)
{
    rbSetLane(&node->boxes[0].upper[3], slot);
}

static inline rbFloatBox* getBox(const rbDynamicTree* tree, int32_t slot)
{
    return &tree->nodes.data[slot >> 1].boxes[slot & 1];
}

// Links a slot and a child in both directions.
static void setChild(rbDynamicTree* tree, int32_t slot, int32_t child)
{
    if (slot < 0) {
        tree->root = child;
    } else {
        rbSetLane(&getBox(tree, slot)->lower[3], child);
    }
    if (child >= 0) {
        setParent(&tree->nodes.data[child], slot);
    } else {
        tree->leafSlots.data[~child] = slot;
    }
}

// Copies only coordinates; the free lanes stay.
static inline void copyBox(rbFloatBox* to, const rbFloatBox* from)
{
    memcpy(to->lower, from->lower, 3 * sizeof(float));
    memcpy(to->upper, from->upper, 3 * sizeof(float));
}

// The hull of the children of a node. The free lanes are undefined.
static inline rbFloatBox findHull(const rbFloatBox* a, const rbFloatBox* b)
{
    rbFloatBox hull;
    rbQuad aLower = rbQuad_Load(a->lower), bLower = rbQuad_Load(b->lower);
    rbQuad lower = rbQuad_Choose(aLower < bLower, aLower, bLower);
    rbQuad upper = rbQuad_Max(rbQuad_Load(a->upper), rbQuad_Load(b->upper));
    memcpy(hull.lower, &lower, sizeof lower);
    memcpy(hull.upper, &upper, sizeof upper);
    return hull;
}

static inline bool isSameBox(const rbFloatBox* a, const rbFloatBox* b)
{
    const rbQuadMask threeLanes = {-1, -1, -1, 0};
    rbQuadMask differ = (rbQuad_Load(a->lower) != rbQuad_Load(b->lower)) |
                        (rbQuad_Load(a->upper) != rbQuad_Load(b->upper));
    return !rbIsAnyLaneSet(differ & threeLanes);
}

static inline bool isInside(const rbFloatBox* inner, const rbFloatBox* outer)
{
    const rbQuadMask threeLanes = {-1, -1, -1, 0};
    rbQuadMask out = (rbQuad_Load(inner->lower) < rbQuad_Load(outer->lower)) |
                     (rbQuad_Load(inner->upper) > rbQuad_Load(outer->upper));
    return !rbIsAnyLaneSet(out & threeLanes);
}

// Half the surface area, m^2. In double: floats would overflow at 1e19 m.
static inline double getArea(const rbFloatBox* box)
{
    double x = (double)box->upper[0] - (double)box->lower[0];
    double y = (double)box->upper[1] - (double)box->lower[1];
    double z = (double)box->upper[2] - (double)box->lower[2];
    return x * y + y * z + z * x;
}

// The box of a child.
static rbFloatBox findBox(const rbBroadPhase* broad, int32_t child)
{
    const rbDynamicTree* tree = broad->state;
    if (child >= 0) {
        return findHull(&tree->nodes.data[child].boxes[0], &tree->nodes.data[child].boxes[1]);
    }
    rbFloatBox box = {{0.0f}, {0.0f}};
    rbFloatBox_Set(&box, &broad->boxes[~child]);
    return box;
}

static inline double getHullArea(const rbFloatBox* a, const rbFloatBox* b)
{
    rbFloatBox hull = findHull(a, b);
    return getArea(&hull);
}

static int takeNode(rbDynamicTree* tree)
{
    int node = tree->freeNode;
    if (node == RB_BROAD_NONE) {
        rbArray_Push(tree->nodes, (rbTreeNode){0});
        return tree->nodes.count - 1;
    }
    tree->freeNode = getParent(&tree->nodes.data[node]);
    tree->nodes.data[node] = (rbTreeNode){0};
    return node;
}

// --------------------------------------------------------------------------------------- rotations

// Swaps a child of a node with a child of its other child where that makes the other child smaller.
// The hull of the node stays the same. True if anything changed.
static bool rotate(rbDynamicTree* tree, int node)
{
    rbTreeNode* here = &tree->nodes.data[node];
    double gainMax = 0.0;
    int32_t bestSlot = -1;
    int32_t bestPlace = 0;
    for (int place = 0; place < 2; ++place) {
        int32_t child = getChild(here, place);
        if (child < 0) {
            continue;
        }
        const rbFloatBox* other = &here->boxes[1 - place];
        const rbTreeNode* below = &tree->nodes.data[child];
        double area = getArea(&here->boxes[place]);
        for (int k = 0; k < 2; ++k) {
            // the other child replaces grandchild k
            double gain = area - getHullArea(other, &below->boxes[1 - k]);
            if (gain > gainMax) {
                gainMax = gain;
                bestSlot = 2 * child + k;
                bestPlace = place;
            }
        }
    }
    if (bestSlot < 0) {
        return false;
    }
    int changed = bestSlot >> 1;
    int32_t replaced = 2 * node + 1 - bestPlace;
    rbFloatBox *a = getBox(tree, replaced), *b = getBox(tree, bestSlot);
    int32_t childA = rbGetLane(&a->lower[3]), childB = rbGetLane(&b->lower[3]);
    rbFloatBox kept = *a;
    copyBox(a, b);
    copyBox(b, &kept);
    setChild(tree, replaced, childB);
    setChild(tree, bestSlot, childA);
    rbFloatBox hull =
        findHull(&tree->nodes.data[changed].boxes[0], &tree->nodes.data[changed].boxes[1]);
    copyBox(&here->boxes[bestPlace], &hull);
    return true;
}

// Updates hulls from a node upward, with rotations, until nothing changes.
static void refit(rbDynamicTree* tree, int node)
{
    for (;;) {
        bool isRotated = rotate(tree, node);
        int32_t slot = getParent(&tree->nodes.data[node]);
        if (slot < 0) {
            return;
        }
        rbFloatBox hull =
            findHull(&tree->nodes.data[node].boxes[0], &tree->nodes.data[node].boxes[1]);
        rbFloatBox* kept = getBox(tree, slot);
        if (isSameBox(kept, &hull) && !isRotated) {
            return;
        }
        copyBox(kept, &hull);
        node = slot >> 1;
    }
}

// --------------------------------------------------------------------------------------- insertion

// The slot of the future sibling: descends where the sum of surface areas grows least. A descent
// from the root that compares, at each node, a new parent here with the children.
static int32_t findSibling(rbDynamicTree* tree, const rbFloatBox* box, int id, int* depth)
{
    int32_t slot = -1;
    int32_t child = tree->root;
    // ties are broken by bits of the number, so that equal boxes do not form a list
    uint32_t coin = (uint32_t)id * 0x9E3779B1u;
    double here = INFINITY; // the area of a new parent at this slot
    double area = 0.0;
    *depth = 0;
    while (child >= 0) {
        const rbTreeNode* node = &tree->nodes.data[child];
        if (slot < 0) {
            rbFloatBox hull = findHull(&node->boxes[0], &node->boxes[1]);
            here = getHullArea(&hull, box);
            area = getArea(&hull);
        }
        double grows = here - area; // all ancestors below this one grow too
        double costs[2], hulls[2], areas[2];
        for (int place = 0; place < 2; ++place) {
            hulls[place] = getHullArea(&node->boxes[place], box);
            areas[place] = getArea(&node->boxes[place]);
            costs[place] = grows + hulls[place] - (getChild(node, place) >= 0 ? areas[place] : 0.0);
        }
        if (here < costs[0] && here < costs[1]) {
            break;
        }
        coin = (coin >> 1) | (coin << 31);
        int place = costs[0] == costs[1] ? (int)(coin & 1u) : costs[1] < costs[0];
        slot = 2 * child + place;
        child = getChild(node, place);
        here = hulls[place];
        area = areas[place];
        if (child >= 0) {
            __builtin_prefetch(&tree->nodes.data[child]);
        }
        ++*depth;
    }
    return slot;
}

static void attach(rbBroadPhase* broad, int id)
{
    rbDynamicTree* tree = broad->state;
    rbFloatBox box = findBox(broad, ~id);
    if (tree->root == EMPTY) {
        tree->root = ~id;
        tree->leafSlots.data[id] = -1;
        return;
    }
    int depth = 0;
    int32_t slot = findSibling(tree, &box, id, &depth);
    int node = takeNode(tree);
    rbTreeNode* made = &tree->nodes.data[node];
    rbFloatBox siblingBox = slot >= 0 ? *getBox(tree, slot) : findBox(broad, tree->root);
    int32_t sibling = slot >= 0 ? rbGetLane(&siblingBox.lower[3]) : tree->root;
    copyBox(&made->boxes[0], &siblingBox);
    copyBox(&made->boxes[1], &box);
    setChild(tree, 2 * node, sibling);
    setChild(tree, 2 * node + 1, ~id);
    setChild(tree, slot, node);
    refit(tree, node);
    int depthMax = DEPTH_SLACK;
    for (int count = broad->count; count > 1; count /= 2) {
        depthMax += 2;
    }
    tree->isTooDeep = tree->isTooDeep || depth > depthMax;
}

static void detach(rbBroadPhase* broad, int id)
{
    rbDynamicTree* tree = broad->state;
    int32_t slot = tree->leafSlots.data[id];
    if (slot < 0) {
        RB_ASSERT(tree->root == ~id);
        tree->root = EMPTY;
        return;
    }
    int node = slot >> 1;
    const rbTreeNode* parent = &tree->nodes.data[node];
    int32_t sibling = getChild(parent, 1 - (slot & 1));
    int32_t above = getParent(parent);
    if (above >= 0) {
        copyBox(getBox(tree, above), &parent->boxes[1 - (slot & 1)]);
    }
    setChild(tree, above, sibling);
    setParent(&tree->nodes.data[node], tree->freeNode);
    tree->freeNode = node;
    if (above >= 0) {
        refit(tree, above >> 1);
    }
}

// ---------------------------------------------------------------------------------------- building

// Moves the smaller half of items begin .. end-1 along an axis before middle. Quickselect; equal
// centers are split evenly because both scans stop at them.
static void selectMiddle(rbTreeItem* items, int begin, int end, int middle, int axis)
{
    int low = begin, high = end - 1;
    while (low < high) {
        float pivot = items[low + (high - low) / 2].center[axis];
        int i = low, k = high;
        while (i <= k) {
            while (items[i].center[axis] < pivot) {
                ++i;
            }
            while (items[k].center[axis] > pivot) {
                --k;
            }
            if (i <= k) {
                rbTreeItem kept = items[i];
                items[i++] = items[k];
                items[k--] = kept;
            }
        }
        low = middle >= i ? i : low;
        high = middle <= k ? k : high;
        if (middle > k && middle < i) {
            return;
        }
    }
}

static int findLongestAxis(const rbTreeItem* items, int begin, int end)
{
    int axis = 0;
    float longest = -1.0f;
    for (int k = 0; k < 3; ++k) {
        float lower = items[begin].center[k];
        float upper = lower;
        for (int i = begin + 1; i < end; ++i) {
            float c = items[i].center[k];
            lower = c < lower ? c : lower;
            upper = c > upper ? c : upper;
        }
        if (upper - lower > longest) {
            longest = upper - lower;
            axis = k;
        }
    }
    return axis;
}

static void gatherItems(rbBroadPhase* broad)
{
    rbDynamicTree* tree = broad->state;
    tree->items.count = 0;
    rbArray_Reserve(tree->items, broad->count);
    for (int id = 0; id < broad->idEnd; ++id) {
        if (broad->isIn[id] != 0) {
            const rbBounds* box = &broad->boxes[id];
            rbVec3 c = rbAdd(rbScale(0.5, box->lower), rbScale(0.5, box->upper));
            tree->items.data[tree->items.count++] = (rbTreeItem){
                {rbRoundCoordinate(c.x), rbRoundCoordinate(c.y), rbRoundCoordinate(c.z)}, id};
        }
    }
}

// Computes the hulls of all nodes, children first, with rotations.
static void refitAll(rbBroadPhase* broad)
{
    rbDynamicTree* tree = broad->state;
    tree->order.count = 0;
    if (tree->root >= 0) {
        rbArray_Push(tree->order, tree->root);
    }
    for (int i = 0; i < tree->order.count; ++i) {
        for (int place = 0; place < 2; ++place) {
            int32_t child = getChild(&tree->nodes.data[tree->order.data[i]], place);
            if (child >= 0) {
                rbArray_Push(tree->order, child);
            }
        }
    }
    for (int i = tree->order.count - 1; i >= 0; --i) {
        int node = tree->order.data[i];
        for (int place = 0; place < 2; ++place) {
            rbFloatBox box = findBox(broad, getChild(&tree->nodes.data[node], place));
            copyBox(&tree->nodes.data[node].boxes[place], &box);
        }
        (void)rotate(tree, node);
    }
}

// Rebuilds the whole tree by halving along the longest axis. O(n log n).
static void build(rbBroadPhase* broad)
{
    rbDynamicTree* tree = broad->state;
    gatherItems(broad);
    tree->root = EMPTY;
    tree->freeNode = RB_BROAD_NONE;
    tree->nodes.count = 0;
    tree->isTooDeep = false;
    tree->countAtBuild = broad->count;
    tree->refitCount = 0;
    if (tree->items.count == 0) {
        return;
    }
    rbArray_Reserve(tree->nodes, tree->items.count);
    tree->ranges.count = 0;
    rbArray_Push(tree->ranges, ((rbTreeRange){0, tree->items.count, -1}));
    while (tree->ranges.count > 0) {
        rbTreeRange range = tree->ranges.data[--tree->ranges.count];
        if (range.end - range.begin == 1) {
            setChild(tree, range.slot, ~tree->items.data[range.begin].id);
            continue;
        }
        int node = takeNode(tree);
        setChild(tree, range.slot, node);
        int middle = range.begin + (range.end - range.begin) / 2;
        selectMiddle(tree->items.data, range.begin, range.end, middle,
                     findLongestAxis(tree->items.data, range.begin, range.end));
        rbArray_Push(tree->ranges, ((rbTreeRange){middle, range.end, 2 * node + 1}));
        rbArray_Push(tree->ranges, ((rbTreeRange){range.begin, middle, 2 * node}));
    }
    refitAll(broad);
}

// Rebuilds the tree if it has become bad. All boxes present must be in it.
static void improve(rbBroadPhase* broad)
{
    const rbDynamicTree* tree = broad->state;
    bool isOld = tree->refitCount > REFITS_MAX;
    if (tree->isTooDeep || isOld || broad->count > 2 * tree->countAtBuild + SMALL) {
        build(broad);
    }
}

static void refitMany(rbBroadPhase* broad)
{
    rbDynamicTree* tree = broad->state;
    tree->refitCount += 1;
    refitAll(broad);
    improve(broad);
}

static void insert(rbBroadPhase* broad, int id)
{
    rbDynamicTree* tree = broad->state;
    rbArray_Reserve(tree->leafSlots, broad->idEnd);
    attach(broad, id);
    improve(broad);
}

static void moveBox(rbBroadPhase* broad, int id, const rbBounds* old)
{
    (void)old;
    rbDynamicTree* tree = broad->state;
    int32_t slot = tree->leafSlots.data[id];
    if (slot < 0) {
        return; // the only box
    }
    rbFloatBox box = findBox(broad, ~id);
    int32_t parent = getParent(&tree->nodes.data[slot >> 1]);
    int32_t grandparent = parent < 0 ? -1 : getParent(&tree->nodes.data[parent >> 1]);
    // only a grandparent has its hull stored
    if (grandparent < 0 || isInside(&box, getBox(tree, grandparent))) {
        copyBox(getBox(tree, slot), &box);
        refit(tree, slot >> 1);
    } else {
        detach(broad, id);
        attach(broad, id);
    }
    improve(broad);
}

static void placeAll(rbBroadPhase* broad, bool isAnyNew)
{
    (void)isAnyNew;
    rbDynamicTree* tree = broad->state;
    rbArray_Reserve(tree->leafSlots, broad->idEnd);
    build(broad);
}

// ----------------------------------------------------------------------------------------- queries

#define STACK_MAX 128

// Appends the boxes below a node; changes nothing of the tree, so that threads may do it at once.
// Returns how many nodes were visited.
static int64_t search(const rbBroadPhase* broad, int32_t from, const rbBounds* box, int self,
                      rbIdList* found)
{
    const rbDynamicTree* tree = broad->state;
    int64_t visited = 0;
    rbFloatQuery rounded = rbMakeFloatQuery(box);
    int32_t stack[STACK_MAX];
    int depth = 0;
    stack[depth++] = from;
    while (depth > 0) {
        const rbTreeNode* node = &tree->nodes.data[stack[--depth]];
        if (depth + 2 > STACK_MAX) {
            visited += search(broad, stack[depth], box, self, found);
            continue;
        }
        ++visited;
        rbIdList_Reserve(found, found->count + 2);
        // overlaps are unpredictable: write first, then count the entry if it overlapped
        for (int place = 0; place < 2; ++place) {
            rbBoxAnswer answer = rbCompareBoxes(rounded, &node->boxes[place]);
            int32_t child = getChild(node, place);
            bool isLeaf = child < 0;
            __builtin_prefetch(&tree->nodes.data[isLeaf ? 0 : child]);
            stack[depth] = child;
            depth += (int)(answer != RB_BOXES_APART) & (int)!isLeaf;
            if ((int)(answer == RB_BOXES_UNDECIDED) & (int)isLeaf) {
                answer = rbDoBoxesOverlap(box, &broad->boxes[~child]) ? RB_BOXES_OVERLAP
                                                                      : RB_BOXES_APART;
            }
            found->ids[found->count] = ~child;
            found->count += (int)(answer == RB_BOXES_OVERLAP) & (int)isLeaf & (int)(~child != self);
        }
    }
    return visited;
}

static void query(rbBroadPhase* broad, const rbBounds* box, int self, rbIdList* found)
{
    const rbDynamicTree* tree = broad->state;
    int first = found->count;
    if (tree->root == EMPTY) {
        return;
    }
    if (tree->root < 0) {
        if (~tree->root != self && rbDoBoxesOverlap(box, &broad->boxes[~tree->root])) {
            rbIdList_Push(found, ~tree->root);
        }
        return;
    }
    int64_t visited = search(broad, tree->root, box, self, found);
    __atomic_fetch_add(&broad->counts.cells, visited, __ATOMIC_RELAXED);
    __atomic_fetch_add(&broad->counts.boxTests, 2 * visited, __ATOMIC_RELAXED);
    __atomic_fetch_add(&broad->counts.candidates, found->count - first, __ATOMIC_RELAXED);
}

// Visits what is below a child, the nearer box first; false ends the walk.
// NOLINTNEXTLINE(misc-no-recursion): insertion bounds the depth.
static bool walkBelow(const rbDynamicTree* tree, int32_t child, rbBoxWalk* walk)
{
    if (child < 0) {
        return walk->visit(walk, ~child);
    }
    const rbTreeNode* node = &tree->nodes.data[child];
    double keys[2];
    for (int place = 0; place < 2; ++place) {
        // larger by the rounding to float
        const float *a = node->boxes[place].lower, *b = node->boxes[place].upper;
        rbVec3 lower = {(double)a[0], (double)a[1], (double)a[2]};
        rbVec3 upper = {(double)b[0], (double)b[1], (double)b[2]};
        rbVec3 largest = rbMax3(rbAbs3(lower), rbAbs3(upper));
        double slack = (double)FLT_EPSILON * (largest.x + largest.y + largest.z) + (double)FLT_MIN;
        rbVec3 wide = {slack, slack, slack};
        rbBounds box = {rbSub(lower, wide), rbAdd(upper, wide)};
        keys[place] = walk->enter(walk, &box);
    }
    int near = keys[0] <= keys[1] ? 0 : 1;
    for (int i = 0; i < 2; ++i) {
        int next = i == 0 ? near : 1 - near;
        bool isMet = !isinf(keys[next]) && keys[next] <= walk->limit;
        if (isMet && !walkBelow(tree, getChild(node, next), walk)) {
            return false;
        }
    }
    return true;
}

void rbBroadPhase_Walk(const rbBroadPhase* broad, rbBoxWalk* walk)
{
    RB_ASSERT(broad->row == &rbBroadRowTree);
    const rbDynamicTree* tree = broad->state;
    if (tree->root != EMPTY) {
        (void)walkBelow(tree, tree->root, walk);
    }
}

const rbBroadRow rbBroadRowTree = {
    .name = "tree",
    .stateSize = sizeof(rbDynamicTree),
    .start = start,
    .stop = stop,
    .insert = insert,
    .move = moveBox,
    .remove = detach,
    .placeAll = placeAll,
    .refit = refitMany,
    .query = query,
    .isShared = true,
};
