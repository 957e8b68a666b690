// Top-down construction of a box tree: a range of triangles is split in two at the cheapest place
// according to the surface-area heuristic, then the larger part again, until there are four.
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
// Deeper ranges are split in the middle, regardless of the heuristic: this bounds the depth.
#define HEURISTIC_DEPTH 40
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

typedef struct Builder {
    const rbVec3* vertices;
    const rbIndex3* input;
    const int* faces; // of the triangles; NULL: every triangle is its own
    Item* items;
    uint32_t* runs; // of every block: RB_BOX_WIDTH * first item + count - 1
    int runCapacity;
    rbVec3* corners; // m, of loaded items, relative to the origin of the tree
    rbBoxTree* tree;
} Builder;

#define LOADED_MAX 4096 // items

// A run of items with their box.
typedef struct Range {
    int first, count;
    Box box;
} Range;

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
    Range range = {first, count, emptyBox};
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
static void split(const Builder* builder, const Range* range, int depth, Range parts[2])
{
    Spread spread;
    Cut cut = {.cost = INFINITY, .axis = -1};
    if (depth < HEURISTIC_DEPTH && range->count > 2) {
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
    parts[0] = (Range){range->first, cut.sides[0].count, cut.sides[0].box};
    parts[1] = (Range){i, cut.sides[1].count, cut.sides[1].box};
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
            builder->corners[3 * i + k] = rbSub(builder->vertices[v[k]], origin);
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
            rbVec3 x = rbSub(builder->corners[i], middle);
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
    rbVec3 lower = {INFINITY, INFINITY, INFINITY};
    rbVec3 upper = rbNeg(lower);
    for (int from = 0; from < range->count; from += LOADED_MAX) {
        // a range that fits is loaded already
        bool isLoaded = range->count <= LOADED_MAX;
        int loaded = isLoaded ? 3 * range->count : loadCorners(builder, range, from);
        for (int i = 0; i < loaded; ++i) {
            rbVec3 x = rbMulMtV(*axes, builder->corners[i]);
            lower = rbMin3(lower, x);
            upper = rbMax3(upper, x);
        }
    }
    *center = rbScale(0.5, rbAdd(lower, upper));
    *half = rbScale(0.5, rbSub(upper, lower));
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

// Notes the range of the next block.
static int32_t addBlock(Builder* builder, const Range* range)
{
    int at = builder->tree->blockCount++;
    builder->runs = rbEnsureArray(builder->runs, &builder->runCapacity, at + 1, sizeof(uint32_t));
    builder->runs[at] = RB_BOX_WIDTH * (uint32_t)range->first + (uint32_t)range->count - 1;
    return ~(int32_t)at;
}

static void fillBlock(const Builder* builder, uint32_t run, rbTriangleBlock* block)
{
    const Item* items = &builder->items[run / RB_BOX_WIDTH];
    for (int lane = 0; lane < RB_BOX_WIDTH; ++lane) {
        bool isUsed = lane <= (int)(run % RB_BOX_WIDTH);
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
    Range range;
    int slot; // that will hold the node
    int depth;
} Task;

// Splits a range into at most four parts; always the one with the largest surface among those that
// can be split.
static int cutRange(const Builder* builder, const Task* task, Range parts[RB_BOX_WIDTH])
{
    int count = 1;
    parts[0] = task->range;
    while (count < RB_BOX_WIDTH) {
        int chosen = -1;
        float largest = -1.0F;
        for (int i = 0; i < count; ++i) {
            float surface = halfSurface(&parts[i].box);
            if (parts[i].count > RB_BOX_WIDTH && surface > largest) {
                largest = surface;
                chosen = i;
            }
        }
        if (chosen < 0) {
            break;
        }
        Range halves[2];
        split(builder, &parts[chosen], task->depth, halves);
        parts[chosen] = halves[0];
        parts[count++] = halves[1];
    }
    return count;
}

// Places of one node are filled from the back, so that the first is next on the stack: the memory
// order is that of a descent.
#define STACK_MAX (RB_BOX_WIDTH * RB_BOX_DEPTH_MAX)

static void buildNodes(Builder* builder, Range whole)
{
    Task stack[STACK_MAX];
    int top = 0;
    rbBoxTree* tree = builder->tree;
    (void)addNode(tree);
    setBox(&tree->nodes[0], 0, &whole.box);
    setTilted(builder, &tree->tilted[0], 0, &whole);
    stack[top++] = (Task){whole, 0, 0};
    while (top > 0) {
        rbPoll();
        Task task = stack[--top];
        Range parts[RB_BOX_WIDTH];
        bool isBlock = task.range.count <= RB_BOX_WIDTH;
        int count = isBlock ? 0 : cutRange(builder, &task, parts);
        int32_t child = isBlock ? addBlock(builder, &task.range) : addNode(tree);
        tree->nodes[task.slot / RB_BOX_WIDTH].child[task.slot % RB_BOX_WIDTH] = child;
        for (int i = count - 1; i >= 0; --i) {
            setBox(&tree->nodes[child], i, &parts[i].box);
            setTilted(builder, &tree->tilted[child], i, &parts[i]);
            RB_ASSERT(top < STACK_MAX);
            stack[top++] = (Task){parts[i], RB_BOX_WIDTH * child + i, task.depth + 1};
        }
    }
}

// --------------------------------------------------------------------------------- nodes for rays

// Slots whose boxes become the places of a node for rays, in the order of the tree.
typedef struct Row {
    int slots[RB_RAY_WIDTH];
    int count;
} Row;

static int countChildren(const rbBoxNode* node)
{
    int count = 0;
    while (count < RB_BOX_WIDTH && node->child[count] != RB_BOX_EMPTY) {
        ++count;
    }
    return count;
}

// Replaces the slot at a place by its children.
static void openSlot(const rbBoxTree* tree, Row* row, int place)
{
    int node = rbBoxTree_GetChild(tree, row->slots[place]);
    int added = countChildren(&tree->nodes[node]) - 1;
    for (int i = row->count - 1; i > place; --i) {
        row->slots[i + added] = row->slots[i];
    }
    for (int i = 0; i <= added; ++i) {
        row->slots[place + i] = RB_BOX_WIDTH * node + i;
    }
    row->count += added;
}

// Opens slots as long as their children have places, the one with the largest box for its places
// first: its own node is saved where a ray meets the box.
static Row gatherSlots(const rbBoxTree* tree, int slot)
{
    Row row = {{slot}, 1};
    for (int chosen = 0; chosen >= 0;) {
        chosen = -1;
        float largest = -1.0F;
        for (int i = 0; i < row.count; ++i) {
            int at = row.slots[i], child = rbBoxTree_GetChild(tree, at);
            int added = child >= 0 ? countChildren(&tree->nodes[child]) - 1 : RB_RAY_WIDTH;
            if (row.count + added > RB_RAY_WIDTH) {
                continue;
            }
            const rbBoxNode* node = &tree->nodes[at / RB_BOX_WIDTH];
            int place = at % RB_BOX_WIDTH;
            rbVec3 h = rbSub(rbPickLane(node->upper, place), rbPickLane(node->lower, place));
            float gain = (float)(h.x * h.y + h.y * h.z + h.z * h.x) / (float)added;
            chosen = gain > largest ? i : chosen;
            largest = gain > largest ? gain : largest;
        }
        if (chosen >= 0) {
            openSlot(tree, &row, chosen);
        }
    }
    return row;
}

static void setRayPlace(const rbBoxTree* tree, rbRayNode* node, int place, int slot)
{
    const rbBoxNode* from = slot >= 0 ? &tree->nodes[slot / RB_BOX_WIDTH] : NULL;
    for (int axis = 0; axis < 3; ++axis) {
        node->ends[axis][0][place] =
            from != NULL ? from->lower[axis][slot % RB_BOX_WIDTH] : INFINITY;
        node->ends[axis][1][place] =
            from != NULL ? from->upper[axis][slot % RB_BOX_WIDTH] : -INFINITY;
    }
    node->child[place] = from != NULL ? from->child[slot % RB_BOX_WIDTH] : RB_BOX_EMPTY;
    node->blocks[place] = -1;
}

// The first block of a slot if all its children are blocks, otherwise -1.
static int findLowest(const rbBoxTree* tree, int child)
{
    int first = child >= 0 ? ~tree->nodes[child].child[0] : -1;
    for (int i = 0; child >= 0 && i < countChildren(&tree->nodes[child]); ++i) {
        first = tree->nodes[child].child[i] >= 0 ? -1 : first;
    }
    return first;
}

// The nodes for rays below a slot: in the order of a descent, as the others.
static void addRayNodes(rbBoxTree* tree)
{
    int stack[RB_RAY_WIDTH * RB_BOX_DEPTH_MAX][2]; // slot; place that refers to its node
    int top = 0;
    tree->rayNodes =
        rbEnsureArray(NULL, &tree->rayNodeCapacity, tree->nodeCount / 8 * 5 + 1, sizeof(rbRayNode));
    stack[top][0] = 0;
    stack[top++][1] = -1;
    while (top > 0) {
        const int* task = stack[--top];
        Row row = gatherSlots(tree, task[0]);
        int at = tree->rayNodeCount++;
        tree->rayNodes = rbEnsureArray(tree->rayNodes, &tree->rayNodeCapacity, tree->rayNodeCount,
                                       sizeof(rbRayNode));
        if (task[1] >= 0) {
            tree->rayNodes[task[1] / RB_RAY_WIDTH].child[task[1] % RB_RAY_WIDTH] = at;
        }
        rbRayNode* node = &tree->rayNodes[at];
        for (int i = RB_RAY_WIDTH - 1; i >= 0; --i) {
            setRayPlace(tree, node, i, i < row.count ? row.slots[i] : -1);
            if (i < row.count && node->child[i] >= 0) {
                RB_ASSERT(top < RB_RAY_WIDTH * RB_BOX_DEPTH_MAX);
                node->blocks[i] = findLowest(tree, node->child[i]);
                stack[top][0] = row.slots[i];
                stack[top++][1] = RB_RAY_WIDTH * at + i;
            }
        }
    }
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
    builder.corners = rbAlloc((size_t)(3 * LOADED_MAX) * sizeof(rbVec3));
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
    buildNodes(&builder, joinItems(&builder, 0, count));
    tree->blocks = rbAlloc((size_t)tree->blockCount * sizeof(rbTriangleBlock));
    for (int i = 0; i < tree->blockCount; ++i) { // their number is known now
        fillBlock(&builder, builder.runs[i], &tree->blocks[i]);
    }
    rbFree(builder.items, (size_t)count * sizeof(Item));
    rbFree(builder.corners, (size_t)(3 * LOADED_MAX) * sizeof(rbVec3));
    rbFree(builder.runs, (size_t)builder.runCapacity * sizeof(uint32_t));
    addRayNodes(tree);
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
