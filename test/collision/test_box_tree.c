// Box trees: every triangle once, boxes that contain everything below them, unusual sets of
// triangles.
#include "base/core/memory.h"
#include "base/core/random.h"
#include "collision/geometry/box_tree.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

// Triangles to build a tree over.
typedef struct Set {
    rbVec3* vertices;
    rbIndex3* triangles;
    int count; // of triangles; three vertices each
} Set;

static Set makeSet(int count)
{
    Set set = {rbAlloc(3 * (size_t)count * sizeof(rbVec3)),
               rbAlloc((size_t)count * sizeof(rbIndex3)), count};
    for (int i = 0; i < count; ++i) {
        set.triangles[i] = (rbIndex3){{3 * i, 3 * i + 1, 3 * i + 2}};
    }
    return set;
}

static void freeSet(Set* set)
{
    rbFree(set->vertices, 3 * (size_t)set->count * sizeof(rbVec3));
    rbFree(set->triangles, (size_t)set->count * sizeof(rbIndex3));
}

// Small triangles in a cube; stretch flattens the cube.
static Set makeSoup(rbRandom* random, int count, rbVec3 stretch)
{
    Set set = makeSet(count);
    for (int i = 0; i < count; ++i) {
        rbVec3 middle = rbRandom_Direction(random);
        middle = rbScale(rbRandom_Unit(random), middle);
        for (int k = 0; k < 3; ++k) {
            rbVec3 x = rbAddScaled(middle, 0.1, rbRandom_Direction(random));
            set.vertices[3 * i + k] = rbMulEach(stretch, x);
        }
    }
    return set;
}

// The result of a descent.
typedef struct Visit {
    const Set* set;
    const rbBoxTree* tree;
    const rbVec3* directions;
    int directionCount;
    bool* seen;                     // by triangle
    int path[RB_BOX_DEPTH_MAX + 1]; // slots from the whole down
    int nodes, blocks;
} Visit;

static void checkStraightBox(const rbBoxTree* tree, int slot, rbVec3 x)
{
    const rbBoxNode* node = &tree->nodes[slot / RB_BOX_WIDTH];
    int place = slot % RB_BOX_WIDTH;
    const double c[3] = {x.x, x.y, x.z};
    for (int axis = 0; axis < 3; ++axis) {
        assert_true((double)node->lower[axis][place] <= c[axis]);
        assert_true(c[axis] <= (double)node->upper[axis][place]);
    }
}

static double dotFloats(const float from[3][RB_BOX_WIDTH], int place, rbVec3 d)
{
    return (double)from[0][place] * d.x + (double)from[1][place] * d.y +
           (double)from[2][place] * d.z;
}

static void checkTiltedBox(const rbBoxTree* tree, int slot, rbVec3 x, rbVec3 d)
{
    const rbTiltedNode* node = &tree->tilted[slot / RB_BOX_WIDTH];
    int place = slot % RB_BOX_WIDTH;
    double offset = rbDot(d, x) - dotFloats(node->center, place, d);
    double extent = fabs(dotFloats(node->longAxis, place, d)) +
                    fabs(dotFloats(node->wideAxis, place, d)) +
                    fabs(dotFloats(node->normal, place, d)) * (double)node->thickness[place];
    checkBelow(fabs(offset), extent + 1e-15 * tree->radius);
    checkBelow(fabs(offset), (double)node->radius[place] + 1e-15 * tree->radius);
}

static void visitBlock(Visit* visit, int block, int depth)
{
    const rbTriangleBlock* b = &visit->tree->blocks[block];
    assert_int_equal(block, visit->blocks);
    ++visit->blocks;
    assert_true(b->origins[0] >= 0);
    for (int lane = 0; lane < RB_BOX_WIDTH; ++lane) {
        int origin = b->origins[lane];
        rbVec3 corners[3];
        rbTriangleBlock_Get(b, lane, corners);
        assert_true(origin < visit->set->count);
        assert_true(origin < 0 || lane == 0 || b->origins[lane - 1] >= 0);
        assert_true(origin < 0 || !visit->seen[origin]);
        // unused lanes repeat the first
        const rbVec3* truth =
            &visit->set->vertices[3 * (size_t)(origin < 0 ? b->origins[0] : origin)];
        assert_memory_equal(corners, truth, sizeof(corners));
        if (origin < 0) {
            continue;
        }
        visit->seen[origin] = true;
        for (int k = 0; k < 3; ++k) {
            rbVec3 x = rbSub(corners[k], visit->tree->origin);
            for (int i = 0; i <= depth; ++i) {
                checkStraightBox(visit->tree, visit->path[i], x);
                for (int d = 0; d < visit->directionCount; ++d) {
                    checkTiltedBox(visit->tree, visit->path[i], x, visit->directions[d]);
                }
            }
        }
    }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
static void visitSlot(Visit* visit, int slot, int depth)
{
    assert_true(depth <= RB_BOX_DEPTH_MAX);
    visit->path[depth] = slot;
    int child = rbBoxTree_GetChild(visit->tree, slot);
    assert_true(child != RB_BOX_EMPTY);
    if (child < 0) {
        visitBlock(visit, ~child, depth);
        return;
    }
    ++visit->nodes;
    assert_true(child > 0 && child < visit->tree->nodeCount);
    const int32_t* children = visit->tree->nodes[child].child;
    assert_true(children[1] != RB_BOX_EMPTY);
    for (int i = 0; i < RB_BOX_WIDTH; ++i) {
        if (children[i] != RB_BOX_EMPTY) {
            assert_true(i == 0 || children[i - 1] != RB_BOX_EMPTY);
            visitSlot(visit, RB_BOX_WIDTH * child + i, depth + 1);
        }
    }
}

// The nodes for rays reach every block once, and each box holds the boxes or corners below it.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
static int visitRayNode(const rbBoxTree* tree, int at, float box[3][2], bool* seen)
{
    assert_true(at < tree->rayNodeCount);
    const rbRayNode* node = &tree->rayNodes[at];
    int count = 0;
    for (int i = 0; i < RB_RAY_WIDTH; ++i) {
        int child = node->child[i];
        if (child == RB_BOX_EMPTY) {
            assert_true(i > 0 && node->ends[0][0][i] > node->ends[0][1][i]);
            continue;
        }
        assert_true(i == 0 || node->child[i - 1] != RB_BOX_EMPTY);
        assert_true(child != 0);
        float inner[3][2];
        for (int axis = 0; axis < 3; ++axis) {
            inner[axis][0] = node->ends[axis][0][i];
            inner[axis][1] = node->ends[axis][1][i];
            assert_true(box[axis][0] <= inner[axis][0] && inner[axis][1] <= box[axis][1]);
        }
        if (child >= 0) {
            const rbRayNode* below = &tree->rayNodes[child];
            assert_true(node->block[i] == -1 || node->block[i] == ~below->child[0]);
            count += visitRayNode(tree, child, inner, seen);
            continue;
        }
        assert_true(node->block[i] == -1 && !seen[~child]);
        seen[~child] = true;
        ++count;
        const double origin[3] = {tree->origin.x, tree->origin.y, tree->origin.z};
        for (int k = 0; k < 9 * RB_BOX_WIDTH; ++k) {
            int axis = k / RB_BOX_WIDTH % 3;
            double x = tree->blocks[~child].corners[k / (3 * RB_BOX_WIDTH)][axis][k % RB_BOX_WIDTH];
            assert_true((double)inner[axis][0] <= x - origin[axis]);
            assert_true((double)inner[axis][1] >= x - origin[axis]);
        }
    }
    return count;
}

// Builds the tree, checks all of it and returns the number of blocks.
static int checkSet(rbRandom* random, const Set* set, int directionCount)
{
    rbVec3 directions[100];
    assert_true(directionCount <= 100);
    for (int i = 0; i < directionCount; ++i) {
        directions[i] = rbRandom_Direction(random);
    }
    rbBoxTree* tree = rbCreateBoxTree(set->vertices, set->triangles, NULL, set->count);
    Visit visit = {.set = set,
                   .tree = tree,
                   .directions = directions,
                   .directionCount = directionCount,
                   .seen = rbAllocZero((size_t)set->count, sizeof(bool))};
    visitSlot(&visit, 0, 0);
    for (int i = 0; i < set->count; ++i) {
        assert_true(visit.seen[i]);
        checkBelow(rbDistance(set->vertices[3 * (size_t)i], tree->origin), tree->radius);
    }
    assert_int_equal(visit.blocks, tree->blockCount);
    float whole[3][2] = {{-INFINITY, INFINITY}, {-INFINITY, INFINITY}, {-INFINITY, INFINITY}};
    bool* reached = rbAllocZero((size_t)tree->blockCount, sizeof(bool));
    assert_int_equal(visitRayNode(tree, 0, whole, reached), tree->blockCount);
    rbFree(reached, (size_t)tree->blockCount * sizeof(bool));
    assert_int_equal(visit.nodes + 1, tree->nodeCount); // node 0 holds only the root
    assert_int_equal(tree->triangleCount, set->count);
    rbFree(visit.seen, (size_t)set->count * sizeof(bool));
    rbDestroyBoxTree(tree);
    return visit.blocks;
}

static void treesHoldEveryTriangleOnceInTheirBoxes(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1301)};
    const rbVec3 one = {1.0, 1.0, 1.0};
    for (int count = 1; count <= 9; ++count) {
        for (int k = 0; k < rbTest_Count(20, 200); ++k) {
            Set set = makeSoup(&random, count, one);
            int blocks = checkSet(&random, &set, 20);
            assert_true(count > RB_BOX_WIDTH || blocks == 1);
            freeSet(&set);
        }
    }
    for (int k = 0; k < rbTest_Count(10, 100); ++k) {
        int count = 10 + rbRandom_Index(&random, 500);
        Set set = makeSoup(&random, count, one);
        int blocks = checkSet(&random, &set, 100);
        assert_true(count < 100 || 3 * blocks <= 2 * count);
        freeSet(&set);
    }
}

static void largeTreesHold(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1302)};
    Set set = makeSoup(&random, rbTest_Count(100000, 100000), rbMakeVec3(1.0, 1.0, 1.0));
    int blocks = checkSet(&random, &set, 2);
    assert_true(2 * blocks <= set.count);
    freeSet(&set);
}

static void flatSetsHaveTrees(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1303)};
    // plane, line, point, nearly a plane, nearly a line
    static const rbVec3 stretches[] = {
        {1, 1, 0}, {0, 1, 0}, {0, 0, 0}, {1, 1e-12, 1}, {1, 1e-9, 0}};
    for (size_t i = 0; i < sizeof stretches / sizeof stretches[0]; ++i) {
        for (int k = 0; k < rbTest_Count(5, 50); ++k) {
            Set set = makeSoup(&random, 1 + rbRandom_Index(&random, 300), stretches[i]);
            (void)checkSet(&random, &set, 20);
            freeSet(&set);
        }
    }
    // the same triangle many times
    Set set = makeSoup(&random, 1000, rbMakeVec3(1.0, 1.0, 1.0));
    for (int i = 3; i < 3 * set.count; ++i) {
        set.vertices[i] = set.vertices[i % 3];
    }
    assert_true(checkSet(&random, &set, 20) <= 500);
    freeSet(&set);
}

// Sizes that double from triangle to triangle tempt every cut to split off a single one.
static void lopsidedSetsHaveShallowTrees(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1304)};
    Set set = makeSoup(&random, 2000, rbMakeVec3(1.0, 1.0, 1.0));
    for (int i = 0; i < 3 * set.count; ++i) {
        set.vertices[i] = rbScale(ldexp(1.0, -(i / 3) % 80), set.vertices[i]);
    }
    (void)checkSet(&random, &set, 5);
    freeSet(&set);
}

static void sizesAndPlacesMakeNoDifference(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1305)};
    for (int exponent = -12; exponent <= 12; ++exponent) {
        double scale = rbRandom_Range(&random, 1.0, 9.0) * pow(10.0, exponent);
        Set set = makeSoup(&random, 200, rbMakeVec3(scale, scale, scale));
        (void)checkSet(&random, &set, 10);
        rbVec3 shift = rbScale(1e6 * scale, rbRandom_Direction(&random));
        for (int i = 0; i < 3 * set.count; ++i) {
            set.vertices[i] = rbAdd(set.vertices[i], shift);
        }
        (void)checkSet(&random, &set, 10);
        freeSet(&set);
    }
}

RB_TEST_GROUP(test_box_tree, cmocka_unit_test(treesHoldEveryTriangleOnceInTheirBoxes),
              cmocka_unit_test(largeTreesHold), cmocka_unit_test(flatSetsHaveTrees),
              cmocka_unit_test(lopsidedSetsHaveShallowTrees),
              cmocka_unit_test(sizesAndPlacesMakeNoDifference));
