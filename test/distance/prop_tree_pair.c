// The search over two box trees against all pairs of triangles.
#include "bodies.h"
#include "collision/distance/tree_pair.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <float.h>

#define ENTRIES 4096

typedef struct Pair {
    rbGeometry* a;
    rbGeometry* b;
    rbTransform pose;
} Pair;

static const rbBoxTree* treeOf(const rbGeometry* geometry)
{
    return geometry->polyhedron->tree;
}

static Pair makePair(int faces, rbRandom* random)
{
    rbTestBody kinds[2];
    for (int i = 0; i < 2; ++i) {
        kinds[i] = (rbTestBody)rbRandom_Index(random, RB_BODY_COUNT_OF_KINDS);
    }
    Pair pair = {rbMakeTestBody(kinds[0], faces, random), rbMakeTestBody(kinds[1], faces, random),
                 rbMakeRandomPose(random)};
    return pair;
}

static void freePair(Pair* pair)
{
    rbDestroyGeometry(pair->a);
    rbDestroyGeometry(pair->b);
}

// Distance by all pairs of triangles of the shapes.
static double measureAll(const Pair* pair)
{
    const rbPolyhedron* a = pair->a->polyhedron;
    const rbPolyhedron* b = pair->b->polyhedron;
    double best = INFINITY;
    for (int i = 0; i < a->triangleCount; ++i) {
        for (int j = 0; j < b->triangleCount; ++j) {
            rbVec3 u[3];
            rbVec3 v[3];
            for (int k = 0; k < 3; ++k) {
                u[k] = a->vertices[a->triangles[i].v[k]];
                v[k] = rbTransformPoint(pair->pose, b->vertices[b->triangles[j].v[k]]);
            }
            best = fmin(best, rbClosestOfTriangles(u, v, INFINITY).squared);
        }
    }
    return sqrt(best);
}

static rbTreePairInput makeInput(const Pair* pair, rbTreeEntry* entries, int capacity)
{
    return (rbTreePairInput){.a = treeOf(pair->a),
                             .b = treeOf(pair->b),
                             .transformBtoA = pair->pose,
                             .limit = INFINITY,
                             .budget = -1,
                             .entries = entries,
                             .capacity = capacity};
}

static void checkExact(const rbTreePairResult* result, double truth, double size)
{
    double rounding = 1e-14 * size;
    assert_true(result->triangleA >= 0 && result->triangleB >= 0);
    checkNear(sqrt(result->closest.squared), truth, rounding + 1e-12 * truth);
    checkNear(rbDistance(result->closest.a, result->closest.b), truth, rounding + 1e-12 * truth);
    checkBelow(result->lower, truth + DBL_MIN);
    checkBelow(truth, result->upper + DBL_MIN);
    checkBelow(result->upper - result->lower, 1e-12 * size);
}

// L-14, L-16
static void treesEqualAllPairs(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(41)};
    rbTreeEntry* entries = rbAlloc(ENTRIES * sizeof(*entries));
    int count = rbTest_Count(300, 10000);
    for (int i = 0; i < count; ++i) {
        Pair pair = makePair(10 + rbRandom_Index(&random, 120), &random);
        double truth = measureAll(&pair);
        double size = 2.0 + rbLength(pair.pose.p);
        rbTreePairInput input = makeInput(&pair, entries, ENTRIES);
        rbTreePairResult result = rbMeasureTrees(&input);
        checkExact(&result, truth, size);
        assert_int_equal(result.stop, truth == 0.0 ? RB_STOP_TOUCHES : RB_STOP_SURFACES);
        // hardly any memory: slower, never wrong
        input.capacity = 1 + rbRandom_Index(&random, 8);
        rbTreePairResult cramped = rbMeasureTrees(&input);
        checkExact(&cramped, truth, size);
        freePair(&pair);
    }
    rbFree(entries, ENTRIES * sizeof(*entries));
}

// L-69
static void budgetsShrinkTheBounds(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(42)};
    rbTreeEntry* entries = rbAlloc(ENTRIES * sizeof(*entries));
    int count = rbTest_Count(24, 500);
    for (int i = 0; i < count; ++i) {
        Pair pair = makePair(200, &random);
        double truth = measureAll(&pair);
        rbTreePairInput input = makeInput(&pair, entries, ENTRIES);
        double lower = 0.0;
        double upper = INFINITY;
        for (input.budget = 0; input.budget < 400; input.budget += 1 + input.budget / 2) {
            rbTreePairResult result = rbMeasureTrees(&input);
            assert_true(result.triangleTests <= input.budget);
            checkBelow(result.lower, truth + DBL_MIN);
            checkBelow(truth, result.upper + DBL_MIN);
            assert_true(result.lower >= lower && result.upper <= upper);
            assert_true(result.stop != RB_STOP_BUDGET || result.lower < result.upper);
            lower = result.lower;
            upper = result.upper;
        }
        freePair(&pair);
    }
    rbFree(entries, ENTRIES * sizeof(*entries));
}

// L-70
static void qualityIsKept(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(43)};
    rbTreeEntry* entries = rbAlloc(ENTRIES * sizeof(*entries));
    int early = 0;
    int count = rbTest_Count(100, 2000);
    for (int i = 0; i < count; ++i) {
        Pair pair = makePair(100, &random);
        double truth = measureAll(&pair);
        rbTreePairInput input = makeInput(&pair, entries, ENTRIES);
        input.relativeError = 0.1;
        rbTreePairResult result = rbMeasureTrees(&input);
        early += result.stop == RB_STOP_CONVERGED ? 1 : 0;
        checkBelow(result.lower, truth + DBL_MIN);
        checkBelow(truth, result.upper + DBL_MIN);
        checkBelow(result.upper, truth / (1.0 - input.relativeError) + 1e-13);
        freePair(&pair);
    }
    assert_true(early > count / 20);
    rbFree(entries, ENTRIES * sizeof(*entries));
}

static void limitsAreAnswered(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(44)};
    rbTreeEntry* entries = rbAlloc(ENTRIES * sizeof(*entries));
    int count = rbTest_Count(100, 2000);
    for (int i = 0; i < count; ++i) {
        Pair pair = makePair(80, &random);
        double truth = measureAll(&pair);
        rbTreePairInput input = makeInput(&pair, entries, ENTRIES);
        input.limit = input.enough = truth * (1.0 + 1e-9) + 1e-9;
        rbTreePairResult near = rbMeasureTrees(&input);
        assert_int_equal(near.stop, RB_STOP_TOUCHES);
        checkBelow(sqrt(near.closest.squared), input.limit);
        if (truth > 1e-3) {
            input.limit = input.enough = truth * (1.0 - 1e-9);
            rbTreePairResult far = rbMeasureTrees(&input);
            assert_int_equal(far.stop, RB_STOP_APART);
            assert_true(far.triangleA < 0 && far.upper == INFINITY);
            checkBelow(far.lower, truth);
            checkBelow(0.999 * input.limit, far.lower);
        }
        freePair(&pair);
    }
    rbFree(entries, ENTRIES * sizeof(*entries));
}

static rbTransform moveALittle(rbTransform pose, double step, rbRandom* random)
{
    rbVec3 turn = rbScale(step, rbRandom_Direction(random));
    rbQuat q = rbNormalizeQuat((rbQuat){1.0, turn.x, turn.y, turn.z});
    return (rbTransform){rbAddScaled(pose.p, step, rbRandom_Direction(random)),
                         rbMulQuat(pose.q, q)};
}

// L-68
static void frontsDoNotChangeAnswers(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(45)};
    rbTreeEntry* entries = rbAlloc(ENTRIES * sizeof(*entries));
    long long cold = 0;
    long long warm = 0;
    int count = rbTest_Count(60, 2000);
    for (int i = 0; i < count; ++i) {
        Pair pair = makePair(150, &random);
        rbFront* front = rbCreateFront(i % 3 == 0 ? 40 : 4000);
        bool isCounted = i % 6 == 2 || i % 6 == 4; // small steps, room enough
        double step = 0.0;
        for (int query = 0; query < 40; ++query) {
            // sometimes a jump, and a query with the roles exchanged
            step = query == 20 ? 1.0 : i % 2 == 0 ? 1e-3 : 0.03;
            pair.pose = moveALittle(pair.pose, step, &random);
            rbTreePairInput input = makeInput(&pair, entries, ENTRIES);
            rbTreePairResult plain = rbMeasureTrees(&input);
            input.front = front;
            input.capacity = i % 4 == 1 ? 8 : ENTRIES; // smaller than the front
            if (query % 7 == 3) {
                // another query with the same front
                rbTreePairInput near = input;
                near.limit = near.enough = 0.05;
                rbTreePairResult test = rbMeasureTrees(&near);
                double distance = sqrt(plain.closest.squared);
                assert_true(fabs(distance - 0.05) < 1e-9 ||
                            (test.stop == RB_STOP_TOUCHES) == (distance < 0.05));
            }
            rbTreePairResult kept = rbMeasureTrees(&input);
            double truth = sqrt(plain.closest.squared);
            checkExact(&kept, truth, 2.0 + rbLength(pair.pose.p));
            cold += isCounted ? plain.boxTests : 0;
            warm += isCounted ? kept.boxTests : 0;
            if (query == 30) {
                rbTreePairInput other = input;
                other.a = input.b;
                other.b = input.a;
                other.transformBtoA = rbInvertTransform(input.transformBtoA);
                rbTreePairResult crossed = rbMeasureTrees(&other);
                checkNear(sqrt(crossed.closest.squared), truth, 1e-13);
            }
        }
        rbDestroyFront(front);
        freePair(&pair);
    }
    assert_true(2 * warm < cold);
    rbFree(entries, ENTRIES * sizeof(*entries));
}

// Bodies far apart must not make the search visit everything: floats resolve only 1e-7.
static void farBodiesAreCheap(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(46)};
    rbTreeEntry* entries = rbAlloc(ENTRIES * sizeof(*entries));
    for (int i = 0; i < rbTest_Count(40, 400); ++i) {
        Pair pair = {rbMakeTestBody(RB_BODY_BUMPY, 2000, &random),
                     rbMakeTestBody(RB_BODY_TORUS, 2000, &random), rbMakeRandomPose(&random)};
        double far = pow(10.0, (double)(i % 11)) + 4.0;
        pair.pose.p = rbScale(far, rbRandom_Direction(&random));
        rbTreePairInput input = makeInput(&pair, entries, ENTRIES);
        rbTreePairResult result = rbMeasureTrees(&input);
        assert_true(result.boxTests < 40000);
        assert_true(result.triangleTests < 4000);
        checkNear(sqrt(result.closest.squared), far, 2.5);
        freePair(&pair);
    }
    rbFree(entries, ENTRIES * sizeof(*entries));
}

// The shape may lie far from the origin of its body.
static void placeInTheBodyDoesNotMatter(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(47)};
    rbTreeEntry* entries = rbAlloc(ENTRIES * sizeof(*entries));
    for (int i = 0; i < rbTest_Count(40, 400); ++i) {
        Pair pair = makePair(60, &random);
        const rbPolyhedron* p = pair.b->polyhedron;
        rbVec3 offset = rbScale(pow(10.0, (double)(i % 7)), rbRandom_Direction(&random));
        rbVec3* moved = rbAlloc((size_t)p->vertexCount * sizeof(rbVec3));
        for (int v = 0; v < p->vertexCount; ++v) {
            moved[v] = rbAdd(p->vertices[v], offset);
        }
        rbBoxTree* tree = rbCreateBoxTree(moved, p->triangles, NULL, p->triangleCount);
        rbTreePairInput input = makeInput(&pair, entries, ENTRIES);
        double truth = sqrt(rbMeasureTrees(&input).closest.squared);
        input.b = tree;
        input.transformBtoA.p = rbSub(pair.pose.p, rbRotate(pair.pose.q, offset));
        rbTreePairResult result = rbMeasureTrees(&input);
        double rounding = 1e-14 * (2.0 + rbLength(offset));
        checkNear(sqrt(result.closest.squared), truth, 4.0 * rounding + 1e-12 * truth);
        rbDestroyBoxTree(tree);
        rbFree(moved, (size_t)p->vertexCount * sizeof(rbVec3));
        freePair(&pair);
    }
    rbFree(entries, ENTRIES * sizeof(*entries));
}

RB_TEST_GROUP(prop_tree_pair, cmocka_unit_test(treesEqualAllPairs),
              cmocka_unit_test(budgetsShrinkTheBounds), cmocka_unit_test(qualityIsKept),
              cmocka_unit_test(limitsAreAnswered), cmocka_unit_test(frontsDoNotChangeAnswers),
              cmocka_unit_test(farBodiesAreCheap), cmocka_unit_test(placeInTheBodyDoesNotMatter));
