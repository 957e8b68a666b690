// Pending pairs of boxes are kept in a heap, least bound first. Pairs of overlapping boxes have no
// bound to sort by and must be opened anyway unless the surfaces intersect: they are kept on a
// stack, so that the search descends immediately.
//
// The bound of two boxes: any separating direction bounds their distance from below by the gap
// along it. Four directions are tried, for four children at a time: the normal of either box, the
// line of their centers, and the direction of the best known pair of points. For distant boxes the
// centers decide, for close ones the normals; and near the answer the direction of the answer
// matters most.
#include "collision/distance/tree_pair.h"

#include "base/core/lanes.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Pending pairs on a stack: each step down leaves at most three.
#define STACK_MAX (3 * 2 * RB_BOX_DEPTH_MAX + RB_BOX_WIDTH)

// Rounding error of a gap between boxes and of a distance between triangles, relative to the
// coordinates.
#define ROUNDING (32.0 * DBL_EPSILON)

// From the frame of one tree to that of the other.
typedef struct Frame {
    rbMat3 rotation;
    rbVec3 shift; // m
} Frame;

typedef struct Search {
    const rbTreePairInput* input;
    const rbBoxTree* trees[2];
    Frame frames[2];  // from tree 1 to tree 0, and back
    rbVec3 hints[2];  // unit, from the best known point of one side to that of the other
    double slack;     // m, rounding error of the distance of triangles
    double boxSlack;  // m, rounding error of box distances along the hint, in float
    float floatSlack; // m, additional rounding error along other directions
    rbTreeEntry* heap;
    int count, capacity;
    double moved;  // m, added to bounds to form keys
    bool isCover;  // a front is kept and is complete so far
    double best;   // m, distance of the result, never more than the limit
    double square; // of it
    rbTreeEntry stack[STACK_MAX];
    int top;
    rbTreePairResult result;
} Search;

// A direction of length at most 1; zero, along which there is no gap, if squares would underflow.
static rbVec3 makeHint(rbVec3 along)
{
    double length = rbLength(along);
    return length > RB_DIRECTION_MIN ? rbScale((1.0 - 4.0 * DBL_EPSILON) / length, along)
                                     : RB_VEC3_ZERO;
}

// Removes the least entry from a heap of count entries.
static rbTreeEntry takeFirst(rbTreeEntry* heap, int count)
{
    rbTreeEntry first = heap[0];
    rbTreeEntry last = heap[count - 1];
    int at = 0;
    int end = count - 1;
    for (int child = 1; child < end; child = 2 * at + 1) {
        child += child + 1 < end && heap[child + 1].key < heap[child].key;
        if (heap[child].key >= last.key) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

// ----------------------------------------------------------------------------------------- boxes

// Four vectors, one per child.
typedef struct Quad3 {
    rbQuad x, y, z;
} Quad3;

static inline Quad3 load3(const float from[3][RB_BOX_WIDTH])
{
    return (Quad3){rbQuad_Load(from[0]), rbQuad_Load(from[1]), rbQuad_Load(from[2])};
}

static inline rbQuad dot(const Quad3* a, const Quad3* b)
{
    return a->x * b->x + a->y * b->y + a->z * b->z;
}

typedef struct Float3 {
    float x, y, z;
} Float3;

static inline rbQuad dotOne(const Quad3* a, Float3 b)
{
    return a->x * b.x + a->y * b.y + a->z * b.z;
}

static inline Float3 toFloat3(rbVec3 v)
{
    return (Float3){(float)v.x, (float)v.y, (float)v.z};
}

// A box as seen by four children of the other tree, in their frame.
typedef struct Seen {
    Float3 center; // m
    Float3 longAxis, wideAxis, normal;
    float thickness;
    double reach; // m, extent of the box along the hint
} Seen;

// The box of a slot of the tree opposite to a side, as seen by that side.
static Seen seeBox(const Search* search, int side, int slot)
{
    const Frame* f = &search->frames[side];
    const rbTiltedNode* node = &search->trees[1 - side]->tilted[slot / RB_BOX_WIDTH];
    int place = slot % RB_BOX_WIDTH;
    rbVec3 hint = search->hints[side];
    rbVec3 center = rbAdd(rbMulMV(f->rotation, rbPickLane(node->center, place)), f->shift);
    rbVec3 longAxis = rbMulMV(f->rotation, rbPickLane(node->longAxis, place));
    rbVec3 wideAxis = rbMulMV(f->rotation, rbPickLane(node->wideAxis, place));
    rbVec3 normal = rbMulMV(f->rotation, rbPickLane(node->normal, place));
    double thickness = (double)node->thickness[place];
    Seen seen = {toFloat3(center), toFloat3(longAxis),     toFloat3(wideAxis),
                 toFloat3(normal), node->thickness[place], 0.0};
    seen.reach = rbDot(hint, center) - fabs(rbDot(hint, longAxis)) - fabs(rbDot(hint, wideAxis)) -
                 fabs(rbDot(hint, normal)) * thickness;
    return seen;
}

// Lower bounds of the distances of a box and four children, negative where unknown, and squared
// distances of their centers.
static void boundChildren(const Search* search, int side, const rbTiltedNode* node,
                          const Seen* seen, double bounds[RB_BOX_WIDTH],
                          float centers[RB_BOX_WIDTH])
{
    Float3 hint = toFloat3(search->hints[side]);
    Quad3 center = load3(node->center), longAxis = load3(node->longAxis);
    Quad3 wideAxis = load3(node->wideAxis), normal = load3(node->normal);
    rbQuad thickness = rbQuad_Load(node->thickness);
    // along the hint; the term that may be large is in double
    rbQuad front = dotOne(&center, hint) + rbQuad_Abs(dotOne(&longAxis, hint)) +
                   rbQuad_Abs(dotOne(&wideAxis, hint)) +
                   rbQuad_Abs(dotOne(&normal, hint)) * thickness;
    Quad3 d = {center.x - seen->center.x, center.y - seen->center.y, center.z - seen->center.z};
    // along the normal of the box
    rbQuad across = rbQuad_Abs(dotOne(&normal, seen->normal));
    rbQuad height = rbQuad_Abs(dotOne(&d, seen->normal));
    rbQuad best = height - rbQuad_Abs(dotOne(&longAxis, seen->normal)) -
                  rbQuad_Abs(dotOne(&wideAxis, seen->normal)) - across * thickness -
                  seen->thickness;
    // along the normals of the children
    rbQuad ownHeight = rbQuad_Abs(dot(&d, &normal));
    rbQuad gap = ownHeight - rbQuad_Abs(dotOne(&normal, seen->longAxis)) -
                 rbQuad_Abs(dotOne(&normal, seen->wideAxis)) - across * seen->thickness - thickness;
    best = rbQuad_Max(gap, best);
    // along the line of centers
    rbQuad apart = dot(&d, &d);
    rbQuad extent = rbQuad_Abs(dot(&d, &longAxis)) + rbQuad_Abs(dot(&d, &wideAxis)) +
                    ownHeight * thickness + rbQuad_Abs(dotOne(&d, seen->longAxis)) +
                    rbQuad_Abs(dotOne(&d, seen->wideAxis)) + height * seen->thickness;
    rbQuad root;
    for (int i = 0; i < RB_BOX_WIDTH; ++i) {
        root[i] = sqrtf(apart[i]);
    }
    gap = (apart - extent) / (root + FLT_MIN);
    best = rbQuad_Max(gap, best) - search->floatSlack;
    for (int i = 0; i < RB_BOX_WIDTH; ++i) {
        double along = seen->reach - (double)front[i];
        bounds[i] = along > (double)best[i] ? along : (double)best[i];
    }
    memcpy(centers, &apart, sizeof(apart));
}

// Lower bound of one pair.
static double boundPair(Search* search, const rbTreeEntry* entry)
{
    double bounds[RB_BOX_WIDTH];
    float centers[RB_BOX_WIDTH];
    Seen seen = seeBox(search, 0, entry->slotB);
    const rbTiltedNode* node = &search->trees[0]->tilted[entry->slotA / RB_BOX_WIDTH];
    boundChildren(search, 0, node, &seen, bounds, centers);
    ++search->result.boxTests;
    return fmax(0.0, bounds[entry->slotA % RB_BOX_WIDTH] - search->boxSlack);
}

// ------------------------------------------------------------------------------------ descending

static void push(Search* search, rbTreeEntry entry)
{
    RB_ASSERT(search->count < search->capacity);
    int at = search->count++;
    while (at > 0 && entry.key < search->heap[(at - 1) / 2].key) {
        search->heap[at] = search->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    search->heap[at] = entry;
}

// Moves a pair that need not be opened to the front, if there is one with free capacity.
static void keep(Search* search, rbTreeEntry entry)
{
    rbFront* front = search->input->front;
    search->isCover = search->isCover && front->count < front->capacity;
    if (search->isCover) {
        front->entries[front->count++] = entry;
    }
}

static inline void setHint(Search* search, rbVec3 along)
{
    search->hints[0] = makeHint(along);
    search->hints[1] = rbNeg(rbMulMtV(search->frames[0].rotation, search->hints[0]));
}

// A triangle of B in the frame of A.
static void moveTriangle(const Search* search, const rbTriangleBlock* block, int lane,
                         rbVec3 corners[3])
{
    rbTriangleBlock_Get(block, lane, corners);
    for (int k = 0; k < 3; ++k) {
        corners[k] =
            rbAdd(rbMulMV(search->frames[0].rotation, corners[k]), search->input->transformBtoA.p);
    }
}

// Measures two triangles, identified by 4 * block + lane; returns their distance, or INFINITY if it
// exceeds the limit.
static double testTriangles(Search* search, int a, int b, double limit)
{
    const rbTreePairInput* input = search->input;
    rbVec3 cornersA[3], cornersB[3];
    rbTriangleBlock_Get(&input->a->blocks[a / RB_BOX_WIDTH], a % RB_BOX_WIDTH, cornersA);
    moveTriangle(search, &input->b->blocks[b / RB_BOX_WIDTH], b % RB_BOX_WIDTH, cornersB);
    ++search->result.triangleTests;
    rbClosest closest = rbClosestOfTriangles(cornersA, cornersB, limit);
    if (closest.squared < search->square) {
        search->square = closest.squared;
        search->best = sqrt(closest.squared);
        search->result.closest = closest;
        search->result.triangleA = a;
        search->result.triangleB = b;
        setHint(search, rbSub(closest.b, closest.a));
    }
    return closest.squared < INFINITY ? sqrt(closest.squared) : INFINITY;
}

// Largest and smallest product of a direction with the corners of the four triangles of a block.
static void projectBlock(const rbTriangleBlock* block, rbVec3 d, double low[RB_BOX_WIDTH],
                         double high[RB_BOX_WIDTH])
{
    for (int lane = 0; lane < RB_BOX_WIDTH; lane += 2) {
        rbLanePair values[3];
        for (int k = 0; k < 3; ++k) {
            values[k] = rbLanePair_Load(&block->corners[k][0][lane]) * d.x +
                        rbLanePair_Load(&block->corners[k][1][lane]) * d.y +
                        rbLanePair_Load(&block->corners[k][2][lane]) * d.z;
        }
        rbLanePair top = rbLanePair_Max(rbLanePair_Max(values[0], values[1]), values[2]);
        rbLanePair bottom = -rbLanePair_Max(rbLanePair_Max(-values[0], -values[1]), -values[2]);
        memcpy(high + lane, &top, sizeof(top));
        memcpy(low + lane, &bottom, sizeof(bottom));
    }
}

// Raises gaps[i][j] to the gap between triangle i of one block and j of another along a direction.
static void raiseGaps(const Search* search, const rbTriangleBlock* a, const rbTriangleBlock* b,
                      rbVec3 direction, double gaps[RB_BOX_WIDTH][RB_BOX_WIDTH])
{
    double lowA[RB_BOX_WIDTH], highA[RB_BOX_WIDTH], lowB[RB_BOX_WIDTH], highB[RB_BOX_WIDTH];
    projectBlock(a, direction, lowA, highA);
    projectBlock(b, rbMulMtV(search->frames[0].rotation, direction), lowB, highB);
    double shift = rbDot(direction, search->input->transformBtoA.p) - search->slack;
    for (int i = 0; i < RB_BOX_WIDTH; ++i) {
        for (int j = 0; j < RB_BOX_WIDTH; ++j) {
            double gap = lowB[j] - highA[i] + shift;
            gaps[i][j] = gap > gaps[i][j] ? gap : gaps[i][j];
        }
    }
}

// From the center of one block to that of the other.
static rbVec3 middleLine(const Search* search, const rbTreeEntry* entry)
{
    const rbTiltedNode* a = &search->trees[0]->tilted[entry->slotA / RB_BOX_WIDTH];
    const rbTiltedNode* b = &search->trees[1]->tilted[entry->slotB / RB_BOX_WIDTH];
    const Frame* f = &search->frames[0];
    rbVec3 middleB =
        rbAdd(rbMulMV(f->rotation, rbPickLane(b->center, entry->slotB % RB_BOX_WIDTH)), f->shift);
    return makeHint(rbSub(middleB, rbPickLane(a->center, entry->slotA % RB_BOX_WIDTH)));
}

static bool isSpent(const Search* search)
{
    long long budget = search->input->budget;
    return budget >= 0 && search->result.triangleTests >= budget;
}

// Measures the triangles of two blocks against each other, unless their gap along the direction of
// the best pair or along the line of centers proves that they are farther apart. Returns a lower
// bound of their distance, which is below the best one only if the budget did not suffice.
static double testBlocks(Search* search, const rbTreeEntry* entry, int blockA, int blockB)
{
    const rbTriangleBlock* a = &search->trees[0]->blocks[blockA];
    const rbTriangleBlock* b = &search->trees[1]->blocks[blockB];
    double gaps[RB_BOX_WIDTH][RB_BOX_WIDTH] = {{0.0}};
    rbPoll();
    raiseGaps(search, a, b, search->hints[0], gaps);
    raiseGaps(search, a, b, middleLine(search, entry), gaps);
    double least = INFINITY;
    for (int i = 0; i < RB_BOX_WIDTH && a->origins[i] >= 0; ++i) {
        for (int j = 0; j < RB_BOX_WIDTH && b->origins[j] >= 0; ++j) {
            double gap = gaps[i][j];
            if (gap < search->best && !isSpent(search)) {
                double limit = search->best;
                double distance = testTriangles(search, RB_BOX_WIDTH * blockA + i,
                                                RB_BOX_WIDTH * blockB + j, search->square);
                gap = fmax(gap, fmin(distance, limit));
            }
            least = fmin(least, gap);
        }
    }
    return least;
}

// Pushes child pairs whose boxes overlap on the stack, the pair with the nearest centers on top.
static void stackChildren(Search* search, const rbTreeEntry meeting[RB_BOX_WIDTH],
                          float centers[RB_BOX_WIDTH], int count)
{
    rbTreeEntry* stack = search->stack + search->top;
    for (int i = 0; i < count; ++i) {
        int at = i;
        float center = centers[i];
        for (; at > 0 && centers[at - 1] < center; --at) {
            stack[at] = stack[at - 1];
            centers[at] = centers[at - 1];
        }
        stack[at] = meeting[i];
        centers[at] = center;
    }
    search->top += count;
    RB_ASSERT(search->top <= STACK_MAX);
}

// The children of the box of a pair that is opened.
typedef struct Opened {
    int side, node;
    const int32_t* children;
    double bounds[RB_BOX_WIDTH]; // m, lower bounds of their distances to the other box
    float centers[RB_BOX_WIDTH]; // m^2, squared distances of the centers
} Opened;

static Opened openBox(const Search* search, const rbTreeEntry* entry, int childA, int childB)
{
    Opened opened;
    // the larger of the two boxes, unless it holds triangles
    const rbTiltedNode* a = &search->trees[0]->tilted[entry->slotA / RB_BOX_WIDTH];
    const rbTiltedNode* b = &search->trees[1]->tilted[entry->slotB / RB_BOX_WIDTH];
    bool isLargerB =
        b->radius[entry->slotB % RB_BOX_WIDTH] > a->radius[entry->slotA % RB_BOX_WIDTH];
    int side = childA < 0 || (childB >= 0 && isLargerB) ? 1 : 0;
    const rbBoxTree* tree = search->trees[side];
    opened.side = side;
    opened.node = side == 0 ? childA : childB;
    opened.children = tree->nodes[opened.node].child;
    Seen seen = seeBox(search, side, side == 0 ? entry->slotB : entry->slotA);
    boundChildren(search, side, &tree->tilted[opened.node], &seen, opened.bounds, opened.centers);
    return opened;
}

// The pair of a child.
static rbTreeEntry pairChild(const rbTreeEntry* entry, const Opened* opened, int k)
{
    rbTreeEntry child = *entry;
    *(opened->side == 0 ? &child.slotA : &child.slotB) = RB_BOX_WIDTH * opened->node + k;
    return child;
}

// Opens a pair: its child pairs become pending, or are proven to be too far away.
static void openPair(Search* search, const rbTreeEntry* entry, int childA, int childB)
{
    Opened opened = openBox(search, entry, childA, childB);
    rbTreeEntry meeting[RB_BOX_WIDTH];
    int meetCount = 0;
    for (int k = 0; k < RB_BOX_WIDTH && opened.children[k] != RB_BOX_EMPTY; ++k) {
        ++search->result.boxTests;
        rbTreeEntry child = pairChild(entry, &opened, k);
        double key = opened.bounds[k] - search->boxSlack + search->moved;
        child.key = key > entry->key ? key : entry->key;
        if (child.key >= search->best + search->moved) {
            keep(search, child);
        } else if (child.key <= search->moved || search->count == search->capacity) {
            opened.centers[meetCount] = opened.centers[k];
            meeting[meetCount++] = child;
        } else {
            push(search, child);
        }
    }
    stackChildren(search, meeting, opened.centers, meetCount);
}

// Processes one pair taken from the heap or stack.
static void visit(Search* search, const rbTreeEntry* entry)
{
    int childA = rbBoxTree_GetChild(search->trees[0], entry->slotA);
    int childB = rbBoxTree_GetChild(search->trees[1], entry->slotB);
    if (childA >= 0 || childB >= 0) {
        openPair(search, entry, childA, childB);
        return;
    }
    // the triangles provide the tightest bound
    rbTreeEntry measured = *entry;
    measured.key = fmax(entry->key, testBlocks(search, entry, ~childA, ~childB) + search->moved);
    if (measured.key < search->best + search->moved) {
        RB_ASSERT(isSpent(search) && search->top < STACK_MAX);
        search->stack[search->top++] = measured;
        return;
    }
    keep(search, measured);
}

static bool isEnough(Search* search)
{
    const rbTreePairInput* input = search->input;
    rbTreePairResult* result = &search->result;
    if (result->triangleA >= 0 && search->best <= input->enough) {
        result->stop = RB_STOP_TOUCHES;
        return true;
    }
    if (isSpent(search)) {
        result->stop = RB_STOP_BUDGET;
        return true;
    }
    if (input->relativeError > 0.0 && search->top == 0 && result->triangleA >= 0 &&
        search->best - (search->heap[0].key - search->moved) <=
            input->relativeError * search->best) {
        result->stop = RB_STOP_CONVERGED;
        return true;
    }
    return false;
}

// Processes pending pairs until the nearest one provably does not matter.
static void run(Search* search)
{
    for (;;) {
        bool isStacked = search->top > 0;
        if (!isStacked &&
            (search->count == 0 || search->heap[0].key >= search->best + search->moved)) {
            break;
        }
        if (isEnough(search)) {
            return;
        }
        rbTreeEntry entry =
            isStacked ? search->stack[--search->top] : takeFirst(search->heap, search->count--);
        if (entry.key < search->best + search->moved) {
            visit(search, &entry);
        } else {
            keep(search, entry);
        }
    }
    bool hasPair = search->result.triangleA >= 0;
    bool meets = hasPair && search->best <= search->input->enough;
    search->result.stop = meets ? RB_STOP_TOUCHES : hasPair ? RB_STOP_SURFACES : RB_STOP_APART;
}

// ----------------------------------------------------------------------------------------- front

// Recomputes the bounds of front pairs that might matter; those that do matter leave the front and
// become pending.
static void refreshFront(Search* search)
{
    rbFront* front = search->input->front;
    int kept = 0;
    for (int i = 0; i < front->count; ++i) {
        rbTreeEntry entry = front->entries[i];
        double limit = search->best + search->moved;
        if (entry.key < limit) {
            entry.key = fmax(entry.key, boundPair(search, &entry) + search->moved);
        }
        if (entry.key < limit && search->count < search->capacity) {
            push(search, entry);
        } else {
            search->isCover = search->isCover && entry.key >= limit;
            front->entries[kept++] = entry;
        }
    }
    front->count = kept;
}

// A front is restarted when its keys are sums of this many sizes: this keeps their rounding small.
#define MOVED_MAX 16.0
// It is also restarted after growing this much: pairs opened for an earlier pose may merge again.
#define GROWTH_MAX 2

// Whether a front is of these trees. The addresses in one that was loaded are of another process;
// its slots and triangles must exist.
static bool isFrontOf(const rbFront* front, const rbTreePairInput* input)
{
    if (!front->isLoaded) {
        return front->a == input->a && front->b == input->b;
    }
    int endA = input->a->nodeCount * RB_BOX_WIDTH, endB = input->b->nodeCount * RB_BOX_WIDTH;
    bool isValid = front->a != NULL && front->triangleA < 4 * input->a->blockCount &&
                   front->triangleB >= -1 && front->triangleB < 4 * input->b->blockCount;
    for (int i = 0; i < front->count; ++i) {
        int a = front->entries[i].slotA, b = front->entries[i].slotB;
        isValid = isValid && a >= 0 && a < endA && b >= 0 && b < endB;
    }
    return isValid;
}

// Reuses the front of the last query; false if there is none to reuse.
static bool resumeFront(Search* search)
{
    const rbTreePairInput* input = search->input;
    rbFront* front = input->front;
    if (front == NULL || !isFrontOf(front, input)) {
        return false;
    }
    front->isLoaded = false;
    if (front->triangleA >= 0) {
        testTriangles(search, front->triangleA, front->triangleB, INFINITY);
    }
    // an upper bound of the displacement of any point of B relative to A
    rbVec3 shift = rbSub(rbTransformPoint(input->transformBtoA, input->b->origin),
                         rbTransformPoint(front->transformBtoA, input->b->origin));
    rbQuat turn = rbMulQuat(rbConjugate(front->transformBtoA.q), input->transformBtoA.q);
    double chord = 2.0 * sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    double motion = rbLength(shift) + chord * input->b->radius;
    search->moved = front->moved + motion + search->slack;
    double size = input->a->radius + input->b->radius;
    if (!front->isCover || front->count > GROWTH_MAX * front->freshCount ||
        !(search->moved <= MOVED_MAX * size)) {
        return false;
    }
    if (search->best > 0.0) {
        refreshFront(search);
    }
    if (!search->isCover) {
        // no capacity for all pairs that matter: start from the roots
        search->count = 0;
        search->isCover = true;
        return false;
    }
    return true;
}

static void leaveFront(Search* search, bool isFresh)
{
    rbFront* front = search->input->front;
    while (search->top > 0) {
        keep(search, search->stack[--search->top]);
    }
    for (int i = 0; i < search->count; ++i) {
        keep(search, search->heap[i]);
    }
    front->a = search->input->a;
    front->b = search->input->b;
    front->transformBtoA = search->input->transformBtoA;
    front->moved = search->moved;
    front->triangleA = search->result.triangleA;
    front->triangleB = search->result.triangleB;
    front->isCover = search->isCover;
    front->freshCount = isFresh ? front->count : front->freshCount;
}

// ----------------------------------------------------------------------------------------- query

// ROUNDING in float.
#define FLOAT_ROUNDING 1e-6
// The length, m, below which squares of floats lose digits: far below any relevant size.
#define FLOAT_TINY 1e-21

// The trees, their relative motion and the rounding errors.
static void beginSearch(Search* search, const rbTreePairInput* input)
{
    RB_ASSERT(input->a != NULL && input->b != NULL);
    search->input = input;
    search->trees[0] = input->a;
    search->trees[1] = input->b;
    search->top = 0;
    rbVec3 p = input->transformBtoA.p;
    rbMat3 rotation = rbMatFromQuat(input->transformBtoA.q);
    rbVec3 shift = rbSub(rbAdd(rbMulMV(rotation, input->b->origin), p), input->a->origin);
    search->frames[0] = (Frame){rotation, shift};
    search->frames[1] = (Frame){rbTranspose(rotation), rbNeg(rbMulMtV(rotation, shift))};
    double origins = rbLength(input->a->origin) + rbLength(input->b->origin);
    double size = input->a->radius + input->b->radius;
    search->slack = ROUNDING * (size + rbLength(p) + origins);
    search->boxSlack = FLOAT_ROUNDING * size + search->slack;
    search->floatSlack = (float)(FLOAT_ROUNDING * rbLength(shift) + FLOAT_TINY);
    setHint(search, shift);
}

rbTreePairResult rbMeasureTrees(const rbTreePairInput* input)
{
    RB_ASSERT(input->limit > 0.0 && input->enough >= 0.0 && input->relativeError >= 0.0);
    Search search;
    beginSearch(&search, input);
    search.heap = input->entries;
    search.capacity = input->capacity;
    RB_ASSERT(search.heap != NULL && search.capacity >= 1);
    search.count = 0;
    search.moved = 0.0;
    search.isCover = input->front != NULL;
    search.best = input->limit;
    search.square = input->limit * input->limit;
    memset(&search.result, 0, sizeof(search.result));
    search.result.triangleA = search.result.triangleB = -1;
    bool isFresh = !resumeFront(&search);
    if (isFresh) {
        search.moved = 0.0;
        if (input->front != NULL) {
            input->front->count = 0;
        }
        push(&search, (rbTreeEntry){0.0, 0, 0});
    }
    run(&search);
    rbTreePairResult* result = &search.result;
    // the least bound of the pending pairs, at most the best known distance
    double least = search.best + search.moved;
    for (int i = 0; i < search.top; ++i) {
        least = fmin(least, search.stack[i].key);
    }
    least = search.count > 0 ? fmin(least, search.heap[0].key) : least;
    result->lower = fmax(0.0, least - search.moved - search.slack);
    result->upper = result->triangleA >= 0 ? search.best + search.slack : INFINITY;
    if (input->front != NULL) {
        leaveFront(&search, isFresh);
    }
    return *result;
}

rbFront* rbCreateFront(int capacity)
{
    capacity = capacity < 1 ? 1 : capacity;
    rbFront* front = rbAllocZero(1, sizeof(*front));
    front->capacity = capacity;
    front->entries = rbAlloc((size_t)capacity * sizeof(rbTreeEntry));
    return front;
}

void rbFront_Clear(rbFront* front)
{
    if (front != NULL) {
        front->a = front->b = NULL;
        front->count = 0;
    }
}

void rbFront_Move(rbFront* front, rbByteStream* stream)
{
    rbTreeEntry* entries = front->entries;
    int capacity = front->capacity;
    RB_MOVE(stream, *front);
    front->entries = entries;
    front->capacity = capacity;
    front->isLoaded = stream->isLoading;
    rbByteStream_CheckFlags(stream, &front->isCover, 1);
    rbByteStream_CheckRange(stream, &front->count, 1, 0, capacity + 1);
    rbByteStream_Move(stream, entries, (size_t)front->count * sizeof *entries);
}

void rbDestroyFront(rbFront* front)
{
    if (front != NULL) {
        rbFree(front->entries, (size_t)front->capacity * sizeof(rbTreeEntry));
        rbFree(front, sizeof(*front));
    }
}

// ------------------------------------------------------------------------------------ near pairs

// Both trees are descended together, the larger box first, with the bounds of the search.

// False if the traversal was stopped.
static bool visitBlocks(const Search* search, const rbTreeNearInput* input, int blockA, int blockB)
{
    const rbTriangleBlock* a = &input->a->blocks[blockA];
    const rbTriangleBlock* b = &input->b->blocks[blockB];
    double square = input->distance * input->distance;
    // a triangle pair may stop at the limit: it is just beyond the requested distance
    double limit = square * (1.0 + 4.0 * DBL_EPSILON) + DBL_MIN;
    rbNearPair pair;
    for (int j = 0; j < RB_BOX_WIDTH && b->origins[j] >= 0; ++j) {
        moveTriangle(search, b, j, pair.cornersB);
        pair.triangleB = RB_BOX_WIDTH * blockB + j;
        for (int i = 0; i < RB_BOX_WIDTH && a->origins[i] >= 0; ++i) {
            rbTriangleBlock_Get(a, i, pair.cornersA);
            pair.triangleA = RB_BOX_WIDTH * blockA + i;
            pair.closest = rbClosestOfTriangles(pair.cornersA, pair.cornersB, limit);
            if (pair.closest.squared <= square && !input->visit(&pair, input->context)) {
                return false;
            }
        }
    }
    return true;
}

bool rbVisitNearPairs(const rbTreeNearInput* input)
{
    RB_ASSERT(input->visit != NULL);
    RB_ASSERT(input->distance >= 0.0 && isfinite(input->distance));
    const rbTreePairInput trees = {
        .a = input->a, .b = input->b, .transformBtoA = input->transformBtoA};
    Search search;
    beginSearch(&search, &trees);
    search.stack[search.top++] = (rbTreeEntry){0.0, 0, 0};
    while (search.top > 0) {
        rbTreeEntry at = search.stack[--search.top];
        int childA = rbBoxTree_GetChild(input->a, at.slotA);
        int childB = rbBoxTree_GetChild(input->b, at.slotB);
        if (childA < 0 && childB < 0) {
            rbPoll();
            if (!visitBlocks(&search, input, ~childA, ~childB)) {
                return false;
            }
            continue;
        }
        // the first child pair that may be near comes next
        Opened opened = openBox(&search, &at, childA, childB);
        for (int k = RB_BOX_WIDTH - 1; k >= 0; --k) {
            if (opened.children[k] != RB_BOX_EMPTY &&
                opened.bounds[k] - search.boxSlack <= input->distance) {
                RB_ASSERT(search.top < STACK_MAX);
                search.stack[search.top++] = pairChild(&at, &opened, k);
            }
        }
    }
    return true;
}
