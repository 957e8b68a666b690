// Both trees are descended together, the larger box first. Two boxes are farther apart than the
// distance if the gap along some direction proves it: the line of their centers, their normals,
// then their other axes.
#include "collision/distance/tree_near.h"

#include <float.h>
#include <math.h>

// Pending pairs: each step down leaves at most three more.
#define STACK_MAX (3 * 2 * RB_BOX_DEPTH_MAX + RB_BOX_WIDTH)

// Rounding error of a gap between boxes, relative to the coordinates.
#define ROUNDING (32.0 * DBL_EPSILON)

// A tilted box, relative to the origin of tree A and in its frame.
typedef struct Box {
    rbVec3 center;
    rbVec3 halves[3]; // half axes
    rbVec3 normal;    // at most of length 1
    double radius;
} Box;

typedef struct SlotPair {
    int32_t slotA, slotB;
} SlotPair;

typedef struct Walk {
    const rbTreeNearInput* input;
    rbMat3 rotation; // from B to A
    rbVec3 shift;    // m, of the origins of the trees
    double reach;    // m, the distance with the rounding of gaps
    double limit;    // m^2, of triangles
    SlotPair stack[STACK_MAX];
    int top;
    rbTreeNearResult result;
} Walk;

static Box readBox(const rbBoxTree* tree, int slot)
{
    const rbTiltedNode* node = &tree->tilted[slot / RB_BOX_WIDTH];
    int place = slot % RB_BOX_WIDTH;
    Box box;
    box.center = rbPickLane(node->center, place);
    box.normal = rbPickLane(node->normal, place);
    box.halves[0] = rbPickLane(node->longAxis, place);
    box.halves[1] = rbPickLane(node->wideAxis, place);
    box.halves[2] = rbScale((double)node->thickness[place], box.normal);
    box.radius = (double)node->radius[place];
    return box;
}

// A box of tree B in the frame of A.
static Box readBoxOfB(const Walk* walk, int slot)
{
    Box box = readBox(walk->input->b, slot);
    box.center = rbAdd(rbMulMV(walk->rotation, box.center), walk->shift);
    box.normal = rbMulMV(walk->rotation, box.normal);
    for (int i = 0; i < 3; ++i) {
        box.halves[i] = rbMulMV(walk->rotation, box.halves[i]);
    }
    return box;
}

// Extent of a box along a direction from its center.
static inline double extentOf(const Box* box, rbVec3 d)
{
    return fabs(rbDot(d, box->halves[0])) + fabs(rbDot(d, box->halves[1])) +
           fabs(rbDot(d, box->halves[2]));
}

// Does a direction, of any length, prove that the boxes are farther apart than the reach?
static bool parts(const Walk* walk, const Box* a, const Box* b, rbVec3 line, rbVec3 d)
{
    double gap = fabs(rbDot(d, line)) - extentOf(a, d) - extentOf(b, d);
    double reach = walk->reach;
    return gap > 0.0 && gap * gap > (1.0 + 16.0 * DBL_EPSILON) * reach * reach * rbDot(d, d);
}

static bool areApart(Walk* walk, const Box* a, const Box* b)
{
    ++walk->result.boxTests;
    rbVec3 line = rbSub(b->center, a->center);
    double clear = a->radius + b->radius + walk->reach;
    double square = rbLengthSquared(line);
    if (square > clear * clear * (1.0 + 16.0 * DBL_EPSILON)) {
        return true;
    }
    return parts(walk, a, b, line, line) || parts(walk, a, b, line, a->normal) ||
           parts(walk, a, b, line, b->normal) || parts(walk, a, b, line, a->halves[0]) ||
           parts(walk, a, b, line, a->halves[1]) || parts(walk, a, b, line, b->halves[0]) ||
           parts(walk, a, b, line, b->halves[1]);
}

static void push(Walk* walk, int slotA, int slotB)
{
    RB_ASSERT(walk->top < STACK_MAX);
    walk->stack[walk->top++] = (SlotPair){slotA, slotB};
}

// Pushes the child pairs that may be near on the stack, the first one on top.
static void openPair(Walk* walk, SlotPair at, const Box* a, const Box* b, bool isA)
{
    const rbBoxTree* tree = isA ? walk->input->a : walk->input->b;
    int node = rbBoxTree_GetChild(tree, isA ? at.slotA : at.slotB);
    for (int k = RB_BOX_WIDTH - 1; k >= 0; --k) {
        if (tree->nodes[node].child[k] == RB_BOX_EMPTY) {
            continue;
        }
        int slot = RB_BOX_WIDTH * node + k;
        Box child = isA ? readBox(tree, slot) : readBoxOfB(walk, slot);
        if (!areApart(walk, isA ? &child : a, isA ? b : &child)) {
            push(walk, isA ? slot : at.slotA, isA ? at.slotB : slot);
        }
    }
}

// False if the traversal was stopped.
static bool testBlocks(Walk* walk, int blockA, int blockB)
{
    const rbTreeNearInput* input = walk->input;
    const rbTriangleBlock* a = &input->a->blocks[blockA];
    const rbTriangleBlock* b = &input->b->blocks[blockB];
    double square = input->distance * input->distance;
    rbNearPair pair;
    for (int j = 0; j < RB_BOX_WIDTH && b->origins[j] >= 0; ++j) {
        rbTriangleBlock_Get(b, j, pair.cornersB);
        for (int k = 0; k < 3; ++k) {
            pair.cornersB[k] =
                rbAdd(rbMulMV(walk->rotation, pair.cornersB[k]), input->transformBtoA.p);
        }
        pair.triangleB = RB_BOX_WIDTH * blockB + j;
        for (int i = 0; i < RB_BOX_WIDTH && a->origins[i] >= 0; ++i) {
            rbTriangleBlock_Get(a, i, pair.cornersA);
            pair.triangleA = RB_BOX_WIDTH * blockA + i;
            ++walk->result.triangleTests;
            pair.closest = rbClosestOfTriangles(pair.cornersA, pair.cornersB, walk->limit);
            if (pair.closest.squared <= square) {
                ++walk->result.pairCount;
                if (!input->visit(&pair, input->context)) {
                    return false;
                }
            }
        }
    }
    return true;
}

// False if the traversal was stopped.
static bool step(Walk* walk, SlotPair at)
{
    int childA = rbBoxTree_GetChild(walk->input->a, at.slotA);
    int childB = rbBoxTree_GetChild(walk->input->b, at.slotB);
    RB_ASSERT(childA != RB_BOX_EMPTY && childB != RB_BOX_EMPTY);
    if (childA < 0 && childB < 0) {
        return testBlocks(walk, ~childA, ~childB);
    }
    Box a = readBox(walk->input->a, at.slotA);
    Box b = readBoxOfB(walk, at.slotB);
    bool isA = childB < 0 || (childA >= 0 && a.radius >= b.radius);
    openPair(walk, at, &a, &b, isA);
    return true;
}

rbTreeNearResult rbVisitNearPairs(const rbTreeNearInput* input)
{
    RB_ASSERT(input->a != NULL && input->b != NULL && input->visit != NULL);
    RB_ASSERT(input->distance >= 0.0 && isfinite(input->distance));
    Walk walk;
    walk.input = input;
    walk.rotation = rbMatFromQuat(input->transformBtoA.q);
    rbVec3 p = input->transformBtoA.p;
    walk.shift = rbSub(rbAdd(rbMulMV(walk.rotation, input->b->origin), p), input->a->origin);
    double size = input->a->radius + input->b->radius + rbLength(p) + rbLength(input->a->origin) +
                  rbLength(input->b->origin);
    walk.reach = input->distance + ROUNDING * size;
    // a triangle pair may stop at the limit: it is just beyond the requested distance
    walk.limit = input->distance * input->distance * (1.0 + 4.0 * DBL_EPSILON) + DBL_MIN;
    walk.top = 0;
    walk.result = (rbTreeNearResult){.isComplete = true};
    Box a = readBox(input->a, 0);
    Box b = readBoxOfB(&walk, 0);
    if (!areApart(&walk, &a, &b)) {
        push(&walk, 0, 0);
    }
    while (walk.top > 0 && walk.result.isComplete) {
        walk.result.isComplete = step(&walk, walk.stack[--walk.top]);
    }
    return walk.result;
}
