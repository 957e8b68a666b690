// Top-down construction of a box tree: a range of triangles is split in two at the cheapest place
// according to the surface-area heuristic, then the larger part again, until there are four.
//
// Nodes for rays are gathered from the same splits with the least possible sum of surfaces. (Merged
// from the nodes of four they were 1.3 times as many, and a ray opened 11.5 instead of 9.8.)
//
// The heuristic sorts the centers of the boxes into BIN_COUNT bins along each axis; the cost of a
// split is half the surface of a side times its triangles, summed over both sides. Small ranges are
// split so that blocks are full.
#include "collision/geometry/box_tree.h"

#include "base/core/lanes.h"
#include "base/math/matrix3.h"
#include "collision/geometry/shape_ops.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// More bins do not improve the trees (measured).
#define BIN_COUNT 16
// Deeper ranges are split in the middle, regardless of the heuristic: 29 times at most, which
// bounds the depth (RB_BOX_DEPTH_MAX).
#define HEURISTIC_DEPTH 34
// Larger ranges search for a split along the longest axis only: high in the tree the choice hardly
// matters and costs the most.
#define ONE_AXIS_COUNT 4096

// Lower ends are negated: the box of two boxes is the maximum of each component.
typedef struct Box {
    rbQuad below; // minus the lower ends
    rbQuad above; // the upper ends
} Box;

// The box of a triangle during construction; the fourth lanes are the halves of its index.
typedef Box Item;
#define INDEX_HALF 65536

// A run of items with their box.
typedef struct Range {
    int first, count;
    int32_t left; // its left half, followed by the right one; the complement of a block
    int depth;
    Box box;
} Range;

// How many places of a node the left half of a range gets if the range gets 1, 2, ...; 0: it is not
// opened and takes one place. The last is that of its own node.
typedef struct Plan {
    float costs[RB_RAY_WIDTH]; // m^2, the least surface of all nodes below
    uint8_t shares[RB_RAY_WIDTH];
} Plan;

typedef struct Builder {
    const rbVec3* vertices;
    const rbIndex3* input;
    const int* faces; // of the triangles; NULL: every triangle is its own
    Item* items;
    RB_ARRAY(Range) ranges; // the first is the whole
    RB_ARRAY(int) runs;     // the range of every block
    Plan* plans;            // of the ranges
    double* corners[3];     // m, of loaded items, relative to the origin of the tree; by axis
    rbBoxTree* tree;
} Builder;

#define LOADED_MAX 4096 // items

static const Box emptyBox = {{-INFINITY, -INFINITY, -INFINITY, 0.0F},
                             {-INFINITY, -INFINITY, -INFINITY, 0.0F}};

static inline void joinBox(Box* box, const Box* other)
{
    box->below = rbQuad_Max(box->below, other->below);
    box->above = rbQuad_Max(box->above, other->above);
}

static inline float halfSurface(const Box* box)
{
    rbQuad size = box->above + box->below;
    return size[0] * size[1] + size[1] * size[2] + size[2] * size[0];
}

// Twice the center of a box.
static inline rbQuad centerOf(const Item* item)
{
    return item->above - item->below;
}

static inline int triangleOf(const Item* item)
{
    return INDEX_HALF * (int)item->above[3] + (int)item->below[3];
}

static float roundUp(double value)
{
    // without a branch, which would be mispredicted half of the time: the next float upward
    float rounded = (float)value;
    int32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    bits += (double)rounded < value ? (bits >= 0 ? 1 : -1) : 0;
    memcpy(&rounded, &bits, sizeof bits);
    return rounded;
}

static Range joinItems(const Builder* builder, int first, int count)
{
    Range range = {.first = first, .count = count, .box = emptyBox};
    for (int i = first; i < first + count; ++i) {
        joinBox(&range.box, &builder->items[i]);
    }
    return range;
}

// ------------------------------------------------------------------------------------ splitting

typedef struct Bin {
    Box box;
    int count;
} Bin;

typedef struct Cut {
    float cost;
    int axis; // -1: none
    int bin;  // items of this bin and above go right
    Bin sides[2];
} Cut;

// The range of centers, and the scales that map them to bins; 0 for an axis that is not used.
typedef struct Spread {
    rbQuad lower;
    rbQuad scale;
} Spread;

typedef int32_t Places __attribute__((vector_size(16)));

// The bins of an item along the axes.
static inline Places placesOf(const Item* item, const Spread* spread)
{
    return __builtin_convertvector((centerOf(item) - spread->lower) * spread->scale, Places);
}

static inline int limitBin(int bin)
{
    return bin < BIN_COUNT ? bin : BIN_COUNT - 1;
}

static Spread measureSpread(const Builder* builder, const Range* range)
{
    Box centers = emptyBox;
    for (int i = range->first; i < range->first + range->count; ++i) {
        rbQuad center = centerOf(&builder->items[i]);
        Box point = {-center, center};
        joinBox(&centers, &point);
    }
    rbQuad width = centers.above + centers.below;
    int longest = 0;
    for (int axis = 1; axis < 3; ++axis) {
        longest = width[axis] > width[longest] ? axis : longest;
    }
    Spread spread = {-centers.below, {0.0F}};
    for (int axis = 0; axis < 3; ++axis) {
        // a width may be so small that its inverse is not finite
        bool isUsed = axis == longest || range->count <= ONE_AXIS_COUNT;
        float scale = width[axis] > 0.0F ? (float)BIN_COUNT / width[axis] : 0.0F;
        spread.scale[axis] = isUsed && isfinite(scale) ? scale : 0.0F;
    }
    return spread;
}

// The cheapest cut along an axis.
static void tryAxis(const Bin bins[BIN_COUNT], int count, int axis, Cut* best)
{
    float rightCosts[BIN_COUNT];
    Bin right = {emptyBox, 0};
    float rightCost = 0.0F;
    for (int i = BIN_COUNT - 1; i > 0; --i) {
        if (bins[i].count > 0) {
            joinBox(&right.box, &bins[i].box);
            right.count += bins[i].count;
            rightCost = halfSurface(&right.box) * (float)right.count;
        }
        rightCosts[i] = rightCost;
    }
    Bin left = {emptyBox, 0};
    for (int i = 1; i < BIN_COUNT; ++i) {
        // a cut after an empty bin is the one before it
        if (bins[i - 1].count == 0) {
            continue;
        }
        joinBox(&left.box, &bins[i - 1].box);
        left.count += bins[i - 1].count;
        float cost = halfSurface(&left.box) * (float)left.count + rightCosts[i];
        if (left.count < count && cost < best->cost) {
            best->cost = cost;
            best->axis = axis;
            best->bin = i;
        }
    }
}

static Cut findCut(const Builder* builder, const Range* range, const Spread* spread)
{
    Bin bins[3][BIN_COUNT];
    int axes[3];
    int axisCount = 0;
    for (int axis = 0; axis < 3; ++axis) {
        axes[axisCount] = axis;
        axisCount += spread->scale[axis] > 0.0F ? 1 : 0;
        for (int i = 0; i < BIN_COUNT; ++i) {
            bins[axis][i] = (Bin){emptyBox, 0};
        }
    }
    for (int i = range->first; i < range->first + range->count; ++i) {
        Places places = placesOf(&builder->items[i], spread);
        for (int k = 0; k < axisCount; ++k) {
            Bin* bin = &bins[axes[k]][limitBin(places[axes[k]])];
            joinBox(&bin->box, &builder->items[i]);
            ++bin->count;
        }
    }
    Cut best = {INFINITY, -1, 0, {{emptyBox, 0}, {emptyBox, 0}}};
    for (int k = 0; k < axisCount; ++k) {
        tryAxis(bins[axes[k]], range->count, axes[k], &best);
    }
    for (int i = 0; i < BIN_COUNT && best.axis >= 0; ++i) {
        const Bin* bin = &bins[best.axis][i];
        joinBox(&best.sides[i < best.bin ? 0 : 1].box, &bin->box);
        best.sides[i < best.bin ? 0 : 1].count += bin->count;
    }
    return best;
}

// Splits a range into two that are not empty; reorders its items.
static void split(const Builder* builder, const Range* range, Range parts[2])
{
    Spread spread;
    Cut cut = {.cost = INFINITY, .axis = -1};
    if (range->depth < HEURISTIC_DEPTH) {
        spread = measureSpread(builder, range);
        cut = findCut(builder, range, &spread);
    }
    if (cut.axis < 0) {
        int half = range->count / 2;
        parts[0] = joinItems(builder, range->first, half);
        parts[1] = joinItems(builder, range->first + half, range->count - half);
        return;
    }
    Item* items = builder->items;
    int i = range->first;
    int j = range->first + range->count - 1;
    while (i <= j) {
        if (limitBin(placesOf(&items[i], &spread)[cut.axis]) < cut.bin) {
            ++i;
        } else {
            Item swap = items[i];
            items[i] = items[j];
            items[j--] = swap;
        }
    }
    RB_ASSERT(i == range->first + cut.sides[0].count && cut.sides[1].count > 0);
    parts[0] = (Range){.first = range->first, .count = cut.sides[0].count, .box = cut.sides[0].box};
    parts[1] = (Range){.first = i, .count = cut.sides[1].count, .box = cut.sides[1].box};
}

// --------------------------------------------------------------------------------- tilted boxes

// Relative to the sum of the half sizes: exceeds the rounding error of any extent in float.
#define TILTED_SLACK 1e-6

// Loads the corners of items from a place of a range on, as many as there is room for; returns
// their number. A range that fits is loaded once.
static int loadCorners(const Builder* builder, const Range* range, int from)
{
    int left = range->count - from;
    int count = left < LOADED_MAX ? left : LOADED_MAX;
    const Item* items = &builder->items[range->first + from];
    rbVec3 origin = builder->tree->origin;
    for (int i = 0; i < count; ++i) {
        const int* v = builder->input[triangleOf(&items[i])].v;
        for (int k = 0; k < 3; ++k) {
            rbVec3 x = rbSub(builder->vertices[v[k]], origin);
            builder->corners[0][3 * i + k] = x.x;
            builder->corners[1][3 * i + k] = x.y;
            builder->corners[2][3 * i + k] = x.z;
        }
    }
    return 3 * count;
}

// Principal axes of the corners of a range, the normal last.
static rbMat3 findAxes(const Builder* builder, const Range* range)
{
    rbQuad twice = range->box.above - range->box.below;
    rbVec3 middle = {0.5 * (double)twice[0], 0.5 * (double)twice[1], 0.5 * (double)twice[2]};
    rbVec3 sum = RB_VEC3_ZERO;
    rbSym3 squares = {0};
    for (int from = 0; from < range->count; from += LOADED_MAX) {
        int loaded = loadCorners(builder, range, from);
        for (int i = 0; i < loaded; ++i) {
            rbVec3 x = rbSub(
                rbMakeVec3(builder->corners[0][i], builder->corners[1][i], builder->corners[2][i]),
                middle);
            sum = rbAdd(sum, x);
            rbSym3 square = {x.x * x.x, x.y * x.y, x.z * x.z, x.x * x.y, x.x * x.z, x.y * x.z};
            squares = rbAddSym(squares, square);
        }
    }
    double count = 3.0 * range->count;
    rbVec3 mean = rbScale(1.0 / count, sum);
    rbSym3 outer = {sum.x * mean.x, sum.y * mean.y, sum.z * mean.z,
                    sum.x * mean.y, sum.x * mean.z, sum.y * mean.z};
    rbEigen3 eigen = rbSym3_Diagonalize(rbAddSym(squares, rbScaleSym(-1.0, outer)));
    rbVec3 axes[3] = {eigen.axes.cx, eigen.axes.cy, eigen.axes.cz};
    double values[3] = {eigen.values.x, eigen.values.y, eigen.values.z};
    int thin = values[0] < values[1] ? 0 : 1;
    thin = values[2] < values[thin] ? 2 : thin;
    return (rbMat3){axes[(thin + 1) % 3], axes[(thin + 2) % 3], axes[thin]};
}

static void measureAlong(const Builder* builder, const Range* range, const rbMat3* axes,
                         rbVec3* center, rbVec3* half)
{
    const rbVec3 along[3] = {axes->cx, axes->cy, axes->cz};
    rbLanePair below[3], above[3];
    for (int i = 0; i < 3; ++i) {
        below[i] = rbLanePair_Both(INFINITY);
        above[i] = rbLanePair_Both(-INFINITY);
    }
    for (int from = 0; from < range->count; from += LOADED_MAX) {
        // a range that fits is loaded already
        bool isLoaded = range->count <= LOADED_MAX;
        int loaded = isLoaded ? 3 * range->count : loadCorners(builder, range, from);
        for (int at = 0; at < loaded; at += 2) {
            int pair =
                at + 2 <= loaded ? at : loaded - 2; // the last one may overlap the one before
            rbLanePair x = rbLanePair_Load(&builder->corners[0][pair]);
            rbLanePair y = rbLanePair_Load(&builder->corners[1][pair]);
            rbLanePair z = rbLanePair_Load(&builder->corners[2][pair]);
            for (int i = 0; i < 3; ++i) {
                rbLanePair value = along[i].x * x + along[i].y * y + along[i].z * z;
                below[i] = rbLanePair_Min(below[i], value);
                above[i] = rbLanePair_Max(above[i], value);
            }
        }
    }
    double c[3], h[3];
    for (int i = 0; i < 3; ++i) {
        double low = rbMinOf(below[i][0], below[i][1]), high = rbMaxOf(above[i][0], above[i][1]);
        c[i] = 0.5 * (low + high);
        h[i] = 0.5 * (high - low);
    }
    *center = rbMakeVec3(c[0], c[1], c[2]);
    *half = rbMakeVec3(h[0], h[1], h[2]);
}

static void setVector(float to[3][RB_BOX_WIDTH], int place, rbVec3 v)
{
    to[0][place] = (float)v.x;
    to[1][place] = (float)v.y;
    to[2][place] = (float)v.z;
}

// The smaller of the boxes along the axes of the body and along the principal axes.
static void setTilted(const Builder* builder, rbTiltedNode* node, int place, const Range* range)
{
    rbMat3 axes = findAxes(builder, range);
    rbVec3 center, h;
    measureAlong(builder, range, &axes, &center, &h);
    if (h.x * h.y + h.y * h.z + h.z * h.x > 0.25 * (double)halfSurface(&range->box)) {
        rbQuad size = range->box.above + range->box.below;
        const rbMat3 e = RB_MAT3_IDENTITY;
        bool isThinX = size[0] < size[1] && size[0] < size[2];
        bool isThinY = !isThinX && size[1] < size[2];
        axes = isThinX ? (rbMat3){e.cy, e.cz, e.cx} : isThinY ? (rbMat3){e.cz, e.cx, e.cy} : e;
        measureAlong(builder, range, &axes, &center, &h);
    }
    // the center in float may differ from that in double
    double slack = TILTED_SLACK * (h.x + h.y + h.z) + 4e-7 * rbLength(center);
    h = rbAdd(h, rbMakeVec3(slack, slack, slack));
    setVector(node->center, place, rbMulMV(axes, center));
    setVector(node->longAxis, place, rbScale(h.x, axes.cx));
    setVector(node->wideAxis, place, rbScale(h.y, axes.cy));
    setVector(node->normal, place, rbScale(1.0 - 4e-7, axes.cz));
    node->thickness[place] = roundUp(h.z * (1.0 + 1e-6));
    node->radius[place] = roundUp(rbLength(h) * (1.0 + 1e-6));
}

// ---------------------------------------------------------------------------------------- nodes

static int addNode(rbBoxTree* tree)
{
    int capacity = tree->nodeCapacity;
    tree->nodes = rbEnsureArray(tree->nodes, &capacity, tree->nodeCount + 1, sizeof(rbBoxNode));
    tree->tilted =
        rbEnsureArray(tree->tilted, &tree->nodeCapacity, tree->nodeCount + 1, sizeof(rbTiltedNode));
    int at = tree->nodeCount++;
    tree->nodes[at] =
        (rbBoxNode){.child = {RB_BOX_EMPTY, RB_BOX_EMPTY, RB_BOX_EMPTY, RB_BOX_EMPTY}};
    tree->tilted[at] = (rbTiltedNode){0};
    return at;
}

static void setBox(rbBoxNode* node, int place, const Box* box)
{
    for (int axis = 0; axis < 3; ++axis) {
        node->lower[axis][place] = -box->below[axis];
        node->upper[axis][place] = box->above[axis];
    }
}

static void fillBlock(const Builder* builder, const Range* range)
{
    const Item* items = &builder->items[range->first];
    rbTriangleBlock* block = &builder->tree->blocks[~range->left];
    for (int lane = 0; lane < RB_BOX_WIDTH; ++lane) {
        bool isUsed = lane < range->count;
        int triangle = triangleOf(&items[isUsed ? lane : 0]);
        block->origins[lane] = isUsed ? triangle : -1;
        block->faces[lane] = builder->faces != NULL ? builder->faces[triangle] : triangle;
        for (int k = 0; k < 3; ++k) {
            rbVec3 corner = builder->vertices[builder->input[triangle].v[k]];
            block->corners[k][0][lane] = corner.x;
            block->corners[k][1][lane] = corner.y;
            block->corners[k][2][lane] = corner.z;
        }
    }
}

// A range waiting for its node.
typedef struct Task {
    int range;
    int slot; // that will hold the node
} Task;

// Splits a range into at most four parts; always the one with the largest surface among those that
// can be split.
static int cutRange(Builder* builder, int at, int parts[RB_BOX_WIDTH])
{
    int count = 1;
    parts[0] = at;
    while (count < RB_BOX_WIDTH) {
        int chosen = -1;
        float largest = -1.0F;
        for (int i = 0; i < count; ++i) {
            const Range* part = &builder->ranges.data[parts[i]];
            float surface = halfSurface(&part->box);
            if (part->count > RB_BOX_WIDTH && surface > largest) {
                largest = surface;
                chosen = i;
            }
        }
        if (chosen < 0) {
            break;
        }
        int left = builder->ranges.count;
        rbArray_SetCount(builder->ranges, left + 2);
        Range* range = &builder->ranges.data[parts[chosen]];
        Range* halves = &builder->ranges.data[left];
        split(builder, range, halves);
        halves[0].depth = halves[1].depth = range->depth + 1;
        range->left = left;
        parts[chosen] = left;
        parts[count++] = left + 1;
    }
    return count;
}

// Places of one node are filled from the back, so that the first is next on the stack: the memory
// order is that of a descent.
#define STACK_MAX (RB_BOX_WIDTH * RB_BOX_DEPTH_MAX)

static void buildNodes(Builder* builder)
{
    Task stack[STACK_MAX];
    int top = 0;
    rbBoxTree* tree = builder->tree;
    (void)addNode(tree);
    setBox(&tree->nodes[0], 0, &builder->ranges.data[0].box);
    setTilted(builder, &tree->tilted[0], 0, &builder->ranges.data[0]);
    stack[top++] = (Task){0, 0};
    while (top > 0) {
        rbPoll();
        Task task = stack[--top];
        int parts[RB_BOX_WIDTH];
        bool isBlock = builder->ranges.data[task.range].count <= RB_BOX_WIDTH;
        int count = isBlock ? 0 : cutRange(builder, task.range, parts);
        int32_t child = isBlock ? ~(int32_t)tree->blockCount++ : addNode(tree);
        tree->nodes[task.slot / RB_BOX_WIDTH].child[task.slot % RB_BOX_WIDTH] = child;
        if (isBlock) {
            builder->ranges.data[task.range].left = child;
            rbArray_Push(builder->runs, task.range);
        }
        for (int i = count - 1; i >= 0; --i) {
            const Range* part = &builder->ranges.data[parts[i]];
            setBox(&tree->nodes[child], i, &part->box);
            setTilted(builder, &tree->tilted[child], i, part);
            RB_ASSERT(top < STACK_MAX);
            stack[top++] = (Task){parts[i], RB_BOX_WIDTH * child + i};
        }
    }
}

// --------------------------------------------------------------------------------- nodes for rays

static Plan planRange(const Range* range, const Plan* halves)
{
    Plan plan = {{0.0F}, {0}};
    for (int places = RB_RAY_WIDTH; places > 0 && range->left >= 0; --places) {
        bool isOwn = places == RB_RAY_WIDTH;
        float least = isOwn ? INFINITY : plan.costs[RB_RAY_WIDTH - 1] + halfSurface(&range->box);
        int chosen = isOwn ? 1 : 0;
        for (int share = 1; share < places; ++share) {
            float cost = halves[0].costs[share - 1] + halves[1].costs[places - share - 1];
            chosen = cost <= least ? share : chosen; // of equals, the one with fewer nodes
            least = cost <= least ? cost : least;
        }
        plan.costs[places - 1] = least;
        plan.shares[places - 1] = (uint8_t)chosen;
    }
    return plan;
}

// Ranges that become the places of a node, in the order of their items.
typedef struct Row {
    int ranges[RB_RAY_WIDTH];
    int count;
} Row;

static Row gatherRow(const Builder* builder, int at)
{
    Row row = {{at}, 1};
    int places[RB_RAY_WIDTH] = {RB_RAY_WIDTH};
    for (int i = 0; i < row.count;) {
        int share = builder->plans[row.ranges[i]].shares[places[i] - 1];
        if (share == 0) {
            ++i;
            continue;
        }
        for (int k = row.count++; k > i; --k) {
            row.ranges[k] = row.ranges[k - 1];
            places[k] = places[k - 1];
        }
        row.ranges[i] = builder->ranges.data[row.ranges[i]].left;
        row.ranges[i + 1] = row.ranges[i] + 1;
        places[i + 1] = places[i] - share;
        places[i] = share;
    }
    return row;
}

// Adds the node for rays of a range and all below it, in the order of a descent; returns its first
// block if all its children are blocks, otherwise -1.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree.
static int addRayNode(const Builder* builder, int at)
{
    rbPoll();
    rbBoxTree* tree = builder->tree;
    int added = tree->rayNodeCount++;
    tree->rayNodes = rbEnsureArray(tree->rayNodes, &tree->rayNodeCapacity, tree->rayNodeCount,
                                   sizeof(rbRayNode));
    Row row = gatherRow(builder, at);
    int lowest = ~builder->ranges.data[row.ranges[0]].left;
    for (int i = 0; i < RB_RAY_WIDTH; ++i) {
        bool isUsed = i < row.count;
        const Range* range = &builder->ranges.data[row.ranges[isUsed ? i : 0]];
        bool isNode = isUsed && range->left >= 0;
        const Box* box = isUsed ? &range->box : &emptyBox;
        for (int axis = 0; axis < 3; ++axis) {
            tree->rayNodes[added].ends[axis][0][i] = -box->below[axis];
            tree->rayNodes[added].ends[axis][1][i] = box->above[axis];
        }
        int32_t child = isNode ? tree->rayNodeCount : isUsed ? range->left : RB_BOX_EMPTY;
        int block = isNode ? addRayNode(builder, row.ranges[i]) : -1;
        tree->rayNodes[added].child[i] = child;
        tree->rayNodes[added].block[i] = block;
        lowest = isNode ? -1 : lowest;
    }
    return lowest;
}

// Nodes are expected for one in so many triangles, and otherwise grow.
#define EXPECTED_TRIANGLES 6

// Releases unused capacity of the arrays, if it is worth the copy.
static void* trim(void* memory, size_t size, int* capacity, int count)
{
    if (count >= *capacity - *capacity / 4) {
        return memory;
    }
    void* trimmed = rbGrow(memory, (size_t)*capacity * size, (size_t)count * size);
    *capacity = count;
    return trimmed;
}

rbBoxTree* rbCreateBoxTree(const rbVec3* vertices, const rbIndex3* triangles, const int* faces,
                           int count)
{
    RB_ASSERT(vertices != NULL && triangles != NULL && count >= 1);
    rbBounds box = rbBoundPoints(vertices, triangles[0].v, 3 * count);
    rbBoxTree* tree = rbAllocZero(1, sizeof(*tree));
    tree->origin = rbScale(0.5, rbAdd(box.lower, box.upper));
    tree->triangleCount = count;
    Builder builder = {.vertices = vertices, .input = triangles, .faces = faces, .tree = tree};
    builder.items = rbAlloc((size_t)count * sizeof(Item));
    double* corners = rbAlloc((size_t)(9 * LOADED_MAX) * sizeof(double));
    for (int axis = 0; axis < 3; ++axis) {
        builder.corners[axis] = corners + (size_t)axis * 3 * LOADED_MAX;
    }
    int nodeCapacity = 0;
    int expected = count / EXPECTED_TRIANGLES + 2;
    tree->nodes = rbEnsureArray(NULL, &nodeCapacity, expected, sizeof(rbBoxNode));
    tree->tilted = rbEnsureArray(NULL, &tree->nodeCapacity, expected, sizeof(rbTiltedNode));
    double square = 0.0;
    for (int i = 0; i < count; ++i) {
        rbVec3 low = {INFINITY, INFINITY, INFINITY};
        rbVec3 high = rbNeg(low);
        for (int k = 0; k < 3; ++k) {
            // rounded to double before it is rounded outward; queries account for that
            rbVec3 x = rbSub(vertices[triangles[i].v[k]], tree->origin);
            low = rbMin3(low, x);
            high = rbMax3(high, x);
            square = fmax(square, rbLengthSquared(x));
        }
        int halves[2] = {i % INDEX_HALF, i / INDEX_HALF};
        float index[2] = {(float)halves[0], (float)halves[1]};
        builder.items[i] = (Item){{roundUp(-low.x), roundUp(-low.y), roundUp(-low.z), index[0]},
                                  {roundUp(high.x), roundUp(high.y), roundUp(high.z), index[1]}};
    }
    tree->radius = sqrt(square) * (1.0 + 1e-15);
    rbArray_Reserve(builder.ranges, count / EXPECTED_TRIANGLES * 4 + 1);
    rbArray_Push(builder.ranges, joinItems(&builder, 0, count));
    buildNodes(&builder);
    tree->blocks = rbAlloc((size_t)tree->blockCount * sizeof(rbTriangleBlock));
    for (int i = 0; i < tree->blockCount; ++i) { // their number is known now
        fillBlock(&builder, &builder.ranges.data[builder.runs.data[i]]);
    }
    rbFree(builder.items, (size_t)count * sizeof(Item));
    rbFree(corners, (size_t)(9 * LOADED_MAX) * sizeof(double));
    builder.plans = rbAlloc((size_t)builder.ranges.count * sizeof(Plan));
    tree->rayNodes =
        rbEnsureArray(NULL, &tree->rayNodeCapacity, tree->blockCount / 6 + 1, sizeof(rbRayNode));
    // nodes such that the sum of their surfaces, and with it the number that a ray meets, is the
    // least possible for these splits
    for (int at = builder.ranges.count - 1; at >= 0; --at) {
        const Range* range = &builder.ranges.data[at];
        builder.plans[at] = planRange(range, &builder.plans[range->left >= 0 ? range->left : at]);
    }
    (void)addRayNode(&builder, 0);
    rbFree(builder.plans, (size_t)builder.ranges.count * sizeof(Plan));
    rbArray_FreeAll(builder.ranges, builder.runs);
    tree->rayNodes =
        trim(tree->rayNodes, sizeof(rbRayNode), &tree->rayNodeCapacity, tree->rayNodeCount);
    nodeCapacity = tree->nodeCapacity;
    tree->tilted = trim(tree->tilted, sizeof(rbTiltedNode), &nodeCapacity, tree->nodeCount);
    tree->nodes = trim(tree->nodes, sizeof(rbBoxNode), &tree->nodeCapacity, tree->nodeCount);
    return tree;
}

void rbDestroyBoxTree(rbBoxTree* tree)
{
    if (tree != NULL) {
        rbFree(tree->nodes, (size_t)tree->nodeCapacity * sizeof(rbBoxNode));
        rbFree(tree->tilted, (size_t)tree->nodeCapacity * sizeof(rbTiltedNode));
        rbFree(tree->rayNodes, (size_t)tree->rayNodeCapacity * sizeof(rbRayNode));
        rbFree(tree->blocks, (size_t)tree->blockCount * sizeof(rbTriangleBlock));
        rbFree(tree, sizeof(*tree));
    }
}
