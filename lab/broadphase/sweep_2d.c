// Sweep in two dimensions (L-83): along x over the ends of the boxes, with the open boxes in an
// interval tree in y; z is tested on the boxes found.
//
// The interval tree has a leaf for every box, ordered by lower end in y; each node stores the
// largest upper end below it, -infinity if no box is open. A box overlaps those open boxes among
// the first r leaves (those whose lower ends are not above its upper end) whose upper ends are at
// or above its lower end. A query is O((1 + k) log n) for k boxes found in y.
//
// All pairs cost O(n log n + K log n), where K counts overlaps of rectangles in x and y. Nothing is
// kept between calls, so a single box (Place with partners, Query) costs a scan of all, O(n): this
// row is for finding all pairs at once.
#include "lab/broadphase/broad_rows.h"
#include "lab/broadphase/sorted_ends.h"

#include <string.h>

#define STACK_MAX 64 // two entries per level of the tree

typedef struct rbSweep2D {
    RB_ARRAY(rbEnd) endsX;  // both ends of every box
    RB_ARRAY(rbEnd) lowerY; // lower ends
    RB_ARRAY(rbEnd) scratch;
    RB_ARRAY(double) tree; // largest upper ends, node 1 the root, leaf r at leafBegin + r
    int leafBegin;         // a power of two
    rbIdList ranks;        // by id, the place in lowerY
    rbIdList starts;       // by id, while pairs are sorted
    rbIdList bySecond;     // pairs, the same
} rbSweep2D;

static void stop(rbBroadPhase* broad)
{
    rbSweep2D* sweep = broad->state;
    rbArray_Free(sweep->endsX);
    rbArray_Free(sweep->lowerY);
    rbArray_Free(sweep->scratch);
    rbArray_Free(sweep->tree);
    rbIdList_Free(&sweep->ranks);
    rbIdList_Free(&sweep->starts);
    rbIdList_Free(&sweep->bySecond);
}

static void change(rbBroadPhase* broad, int id)
{
    RB_ASSERT(broad->isIn[id] != 0);
    (void)broad;
    (void)id;
}

static void moveBox(rbBroadPhase* broad, int id, const rbBounds* old)
{
    (void)old;
    change(broad, id);
}

// Sorts the ends in x and the lower ends in y, and empties the tree.
static void prepare(rbBroadPhase* broad)
{
    rbSweep2D* sweep = broad->state;
    sweep->endsX.count = 0;
    sweep->lowerY.count = 0;
    for (int id = 0; id < broad->idEnd; ++id) {
        if (broad->isIn[id] != 0) {
            const rbBounds* box = &broad->boxes[id];
            rbArray_Push(sweep->endsX, ((rbEnd){box->lower.x, 2 * id}));
            rbArray_Push(sweep->endsX, ((rbEnd){box->upper.x, 2 * id + 1}));
            rbArray_Push(sweep->lowerY, ((rbEnd){box->lower.y, 2 * id}));
        }
    }
    rbArray_Reserve(sweep->scratch, sweep->endsX.count);
    rbSortEnds(sweep->endsX.data, sweep->scratch.data, sweep->endsX.count);
    rbSortEnds(sweep->lowerY.data, sweep->scratch.data, sweep->lowerY.count);
    rbIdList_Reserve(&sweep->ranks, broad->idEnd);
    for (int r = 0; r < sweep->lowerY.count; ++r) {
        sweep->ranks.ids[sweep->lowerY.data[r].owner >> 1] = r;
    }
    sweep->leafBegin = 1;
    while (sweep->leafBegin < broad->count) {
        sweep->leafBegin *= 2;
    }
    rbArray_Reserve(sweep->tree, 2 * sweep->leafBegin);
    for (int node = 0; node < 2 * sweep->leafBegin; ++node) {
        sweep->tree.data[node] = -INFINITY;
    }
}

// Opens a box with its upper end, or closes it with -infinity.
static void setLeaf(rbSweep2D* sweep, int id, double upper)
{
    double* tree = sweep->tree.data;
    int node = sweep->leafBegin + sweep->ranks.ids[id];
    tree[node] = upper;
    for (node /= 2; node >= 1; node /= 2) {
        const double* children = &tree[(size_t)node * 2];
        double left = children[0];
        double right = children[1];
        double largest = left > right ? left : right;
        if (tree[node] == largest) {
            return;
        }
        tree[node] = largest;
    }
}

// Pairs of a box with the open boxes.
static void findOpen(rbBroadPhase* broad, int id, rbIdList* pairs)
{
    rbSweep2D* sweep = broad->state;
    const double* tree = sweep->tree.data;
    const rbBounds* box = &broad->boxes[id];
    rbEnd limit = {box->upper.y, INT32_MAX};
    int rankEnd = rbCountEndsBefore(sweep->lowerY.data, sweep->lowerY.count, &limit);
    struct {
        int node, first, size; // leaves first .. first + size - 1
    } stack[STACK_MAX];
    int depth = 0;
    stack[depth].node = 1;
    stack[depth].first = 0;
    stack[depth++].size = sweep->leafBegin;
    while (depth > 0) {
        --depth;
        int node = stack[depth].node;
        int first = stack[depth].first;
        int size = stack[depth].size / 2;
        ++broad->counts.cells;
        if (first >= rankEnd || tree[node] < box->lower.y) {
            continue;
        }
        if (size == 0) {
            int other = sweep->lowerY.data[first].owner >> 1;
            ++broad->counts.boxTests;
            if (rbDoBoxesOverlap(box, &broad->boxes[other])) {
                rbIdList_PushPair(pairs, id, other);
            }
            continue;
        }
        RB_ASSERT(depth + 2 <= STACK_MAX);
        stack[depth].node = 2 * node;
        stack[depth].first = first;
        stack[depth++].size = size;
        stack[depth].node = 2 * node + 1;
        stack[depth].first = first + size;
        stack[depth++].size = size;
    }
}

// Moves pairs in the order of their first (0) or second (1) numbers; equal ones keep theirs.
static void distribute(rbBroadPhase* broad, const int* from, int* to, int count, int side)
{
    rbSweep2D* sweep = broad->state;
    rbIdList_Reserve(&sweep->starts, broad->idEnd + 1);
    int* starts = sweep->starts.ids;
    memset(starts, 0, ((size_t)broad->idEnd + 1) * sizeof *starts);
    for (int i = 0; i < count; i += 2) {
        starts[from[i + side] + 1] += 2;
    }
    for (int id = 0; id < broad->idEnd; ++id) {
        starts[id + 1] += starts[id];
    }
    for (int i = 0; i < count; i += 2) {
        int place = starts[from[i + side]];
        to[place] = from[i];
        to[place + 1] = from[i + 1];
        starts[from[i + side]] += 2;
    }
}

static void findPairs(rbBroadPhase* broad, rbIdList* pairs)
{
    rbSweep2D* sweep = broad->state;
    prepare(broad);
    for (int k = 0; k < sweep->endsX.count; ++k) {
        int owner = sweep->endsX.data[k].owner;
        int id = owner >> 1;
        if ((owner & 1) != 0) {
            setLeaf(sweep, id, -INFINITY);
        } else {
            findOpen(broad, id, pairs);
            setLeaf(sweep, id, broad->boxes[id].upper.y);
        }
    }
    broad->counts.candidates += pairs->count / 2;
    rbIdList_Reserve(&sweep->bySecond, pairs->count);
    distribute(broad, pairs->ids, sweep->bySecond.ids, pairs->count, 1);
    distribute(broad, sweep->bySecond.ids, pairs->ids, pairs->count, 0);
}

const rbBroadRow rbBroadRowSweep2D = {
    .name = "sweep-2d",
    .stateSize = sizeof(rbSweep2D),
    .stop = stop,
    .insert = change,
    .move = moveBox,
    .remove = change,
    .query = rbScanBoxes,
    .findPairs = findPairs,
};
