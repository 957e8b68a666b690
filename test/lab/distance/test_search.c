// Stops, memory, counters, edge cases of poses, and bad input of distance queries.
#include "base/core/memory.h"
#include "bodies.h"
#include "lab/distance/search.h"
#include "lab/distance/sequence.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/lab_distance.h>

#include <stdio.h>
#include <string.h>

typedef struct Pair {
    rbGeometry* geometries[2];
    rbHierarchy* trees[2];
    rbDistanceInput input;
} Pair;

static rbHierarchy* makeTree(const rbGeometry* geometry, rbVolumeType volume)
{
    rbHierarchyDef def = rbDefaultHierarchyDef();
    def.volume = volume;
    rbHierarchy* tree = rbCreateHierarchy(geometry, &def, NULL);
    assert_non_null(tree);
    return tree;
}

// Takes ownership of the geometries.
static Pair makePair(rbGeometry* a, rbGeometry* b, rbVolumeType volume)
{
    Pair pair = {{a, b}, {makeTree(a, volume), makeTree(b, volume)}, rbDefaultDistanceInput()};
    pair.input.a = pair.trees[0];
    pair.input.b = pair.trees[1];
    return pair;
}

static void freePair(Pair* pair)
{
    for (int k = 0; k < 2; ++k) {
        rbDestroyHierarchy(pair->trees[k]);
        rbDestroyGeometry(pair->geometries[k]);
    }
}

static rbDistanceResult measure(const rbDistanceInput* input)
{
    rbDistanceResult result;
    rbError error = {0};
    (void)rbMeasureDistance(input, &result, &error);
    assert_string_equal(error.message, "");
    return result;
}

static double measureNaively(const rbDistanceInput* input)
{
    rbDistanceInput naive = *input;
    naive.traversal = RB_TRAVERSAL_NAIVE;
    naive.relativeError = 0.0;
    naive.budget = 0.0;
    return measure(&naive).distance;
}

// Two tori of radius 1 and tubes 0.3, each through the hole of the other.
static Pair makeInterlockedTori(int segments, rbVolumeType volume)
{
    Pair pair = makePair(rbMakeTestTorus(1.0, 0.3, segments, segments),
                         rbMakeTestTorus(1.0, 0.3, segments, segments), volume);
    double half = sqrt(0.5);
    pair.input.transformBtoA = (rbTransform){{1.3, 0.1, 0.05}, {half, half, 0.0, 0.0}};
    return pair;
}

// L-69, L-49: whatever the budget, the bounds hold, converge as it grows, and meet only when done.
static void budgetsStopOnTimeWithBoundsThatHold(void** state)
{
    (void)state;
    static const rbVolumeType volumes[] = {RB_VOLUME_SPHERE, RB_VOLUME_AABB, RB_VOLUME_OBB,
                                           RB_VOLUME_FDH14};
    for (size_t k = 0; k < sizeof volumes / sizeof volumes[0]; ++k) {
        Pair pair = makeInterlockedTori(16, volumes[k]);
        double truth = measureNaively(&pair.input);
        for (int withCosts = 0; withCosts < 2; ++withCosts) {
            double lower = 0.0;
            double upper = INFINITY;
            pair.input.volumeTestCost = 0.1 * withCosts;
            pair.input.volumeUpdateCost = 0.2 * withCosts;
            bool isDone = false;
            for (int budget = 1; budget <= 1000; ++budget) {
                pair.input.budget = budget;
                rbDistanceResult r = measure(&pair.input);
                assert_true(r.lower <= truth && truth <= r.distance);
                assert_true(r.lower >= lower && r.distance <= upper);
                assert_true(r.stop == RB_SEARCH_DONE ? r.lower == r.distance
                                                     : r.lower < r.distance);
                assert_true(r.stop == RB_SEARCH_DONE || r.stop == RB_SEARCH_BUDGET);
                assert_true(!isDone || r.stop == RB_SEARCH_DONE);
                double cost = (double)r.work.elementaryTests +
                              pair.input.volumeTestCost * (double)r.work.volumeTests +
                              pair.input.volumeUpdateCost * (double)r.work.volumeUpdates;
                checkBelow(cost, budget + 1e-9);
                lower = r.lower;
                upper = r.distance;
                isDone = r.stop == RB_SEARCH_DONE;
            }
            assert_true(isDone || withCosts);
        }
        freePair(&pair);
    }
}

// L-70: global; L-71: the others. (1 - alpha) distance <= lower <= truth <= distance.
static void relativeErrorIsKept(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(50)};
    long long exactTests = 0;
    long long roughTests = 0;
    for (int i = 0; i < rbTest_Count(100, 10000); ++i) {
        rbTestBody bodyA = (rbTestBody)rbRandom_Index(&random, RB_BODY_TRIANGLE);
        rbTestBody bodyB = (rbTestBody)rbRandom_Index(&random, RB_BODY_TRIANGLE);
        Pair pair = makePair(rbMakeTestBody(bodyA, 50, &random), rbMakeTestBody(bodyB, 50, &random),
                             (rbVolumeType)rbRandom_Index(&random, RB_VOLUME_COUNT));
        pair.input.transformBtoA = rbMakeRandomPose(&random);
        double truth = measureNaively(&pair.input);
        for (int k = 1; k < RB_TRAVERSAL_COUNT; ++k) {
            pair.input.traversal = (rbTraversal)k;
            pair.input.usesRepresentatives = rbRandom_Index(&random, 2) == 0;
            pair.input.relativeError = 0.0;
            exactTests += measure(&pair.input).work.volumeTests;
            double alpha = rbRandom_Range(&random, 0.01, 0.9);
            pair.input.relativeError = alpha;
            rbDistanceResult r = measure(&pair.input);
            roughTests += r.work.volumeTests;
            assert_true(r.lower <= truth * (1.0 + 1e-15) && truth <= r.distance * (1.0 + 1e-15));
            assert_true((1.0 - alpha) * r.distance <= r.lower * (1.0 + 1e-15));
            assert_true(truth > 0.0 || r.distance == 0.0);
            assert_true(r.stop == RB_SEARCH_QUALITY || r.lower == r.distance);
        }
        freePair(&pair);
    }
    assert_true(roughTests < exactTests);
}

// L-68: along a motion the same answers, to the bit, with less work.
static void memoryChangesTheWorkNotTheAnswer(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(51)};
    long long work[2] = {0, 0};
    for (int i = 0; i < rbTest_Count(30, 3000); ++i) {
        Pair pair = makePair(rbMakeTestBody(RB_BODY_BUMPY, 200, &random),
                             rbMakeTestBody(RB_BODY_STAR, 40, &random),
                             (rbVolumeType)rbRandom_Index(&random, RB_VOLUME_COUNT));
        rbTransform pose = rbMakeRandomPose(&random);
        rbVec3 step = rbScale(1e-3, rbRandom_Direction(&random));
        rbPairMemory memory = {0};
        for (int k = 0; k < 20; ++k) {
            pose.p = rbAdd(pose.p, step);
            pair.input.transformBtoA = pose;
            pair.input.traversal = (rbTraversal)(1 + k % 4);
            pair.input.memory = NULL;
            rbDistanceResult plain = measure(&pair.input);
            pair.input.memory = &memory;
            rbDistanceResult recalled = measure(&pair.input);
            checkNear(recalled.distance, plain.distance, 1e-14 * plain.distance);
            assert_true(memory.isSet && memory.faceA == recalled.faceA);
            checkNear(rbDistance(rbTransformPoint(pose, memory.localB), recalled.pointB), 0.0,
                      1e-14);
            if (k > 0) {
                work[0] += plain.work.elementaryTests + plain.work.volumeTests;
                work[1] += recalled.work.elementaryTests + recalled.work.volumeTests;
            }
        }
        freePair(&pair);
    }
    assert_true(work[1] < work[0]);
}

// Faces of other bodies only make the start worse.
static void memoryOfOtherBodiesDoesNoHarm(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(52)};
    Pair pair = makePair(rbMakeTestBody(RB_BODY_BUMPY, 100, &random),
                         rbMakeTestBody(RB_BODY_COMB, 30, &random), RB_VOLUME_AABB);
    pair.input.transformBtoA = rbMakeRandomPose(&random);
    double truth = measureNaively(&pair.input);
    static const int faces[] = {0, 5, -1, 1 << 20};
    for (int k = 0; k < 16; ++k) {
        rbPairMemory memory = {.isSet = true, .faceA = faces[k / 4], .faceB = faces[k % 4]};
        pair.input.memory = &memory;
        checkNear(measure(&pair.input).distance, truth, 1e-14 * truth);
    }
    freePair(&pair);
}

// L-49: one-sided opening of binary trees bounds two pairs at a time; a fixed order opens the same
// pairs however volumes are moved; every sequence returns the same pairs.
static void countersAddUp(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(53)};
    for (int i = 0; i < rbTest_Count(100, 2000); ++i) {
        Pair pair = makePair(rbMakeTestBody((rbTestBody)rbRandom_Index(&random, 8), 60, &random),
                             rbMakeTestBody((rbTestBody)rbRandom_Index(&random, 8), 60, &random),
                             (rbVolumeType)rbRandom_Index(&random, RB_VOLUME_COUNT));
        rbDistanceInput* input = &pair.input;
        input->transformBtoA = rbMakeRandomPose(&random);
        input->traversal = RB_TRAVERSAL_NAIVE;
        rbDistanceWork naive = measure(input).work;
        long long pairs = (long long)input->a->faceCount * input->b->faceCount;
        assert_true(naive.elementaryTests == pairs || measure(input).distance == 0.0);
        assert_true(naive.volumeTests == 0 && naive.volumeUpdates == 0 && naive.opened == 0);

        input->expansion = RB_EXPANSION_LARGER;
        rbDistanceWork work[RB_TRAVERSAL_COUNT];
        for (int k = 1; k < RB_TRAVERSAL_COUNT; ++k) {
            input->traversal = (rbTraversal)k;
            work[k] = measure(input).work;
            assert_true(work[k].volumeTests == 1 + 2 * work[k].opened);
            assert_true(work[k].representatives >= work[k].opened);
            assert_true(work[k].elementaryTests <= pairs);
        }
        // Binary trees: a pair that is opened on both sides gives four pairs, on one side two.
        input->expansion = RB_EXPANSION_BOTH;
        input->traversal = RB_TRAVERSAL_INDIFFERENT;
        rbDistanceWork both = measure(input).work;
        assert_true(both.volumeTests >= 1 + 2 * both.opened);
        assert_true(both.volumeTests <= 1 + 4 * both.opened);
        assert_true(both.opened == 0 || both.volumeTests > 1 + 2 * both.opened ||
                    input->a->nodes[0].childCount == 0 || input->b->nodes[0].childCount == 0);
        input->expansion = RB_EXPANSION_LARGER;
        const rbDistanceWork* indifferent = &work[RB_TRAVERSAL_INDIFFERENT];
        const rbDistanceWork* minimal = &work[RB_TRAVERSAL_UPDATE_MINIMAL];
        assert_true(indifferent->volumeUpdates == indifferent->volumeTests);
        assert_true(minimal->volumeUpdates <= indifferent->volumeUpdates);
        assert_true(indifferent->queueMax == 0 && work[RB_TRAVERSAL_GLOBAL].queueMax > 0);

        input->traversal = RB_TRAVERSAL_GLOBAL;
        input->sequence = RB_SEQUENCE_HEAP;
        rbDistanceResult heap = measure(input);
        for (int k = 1; k < RB_SEQUENCE_COUNT; ++k) {
            input->sequence = (rbSequence)k;
            rbDistanceResult other = measure(input);
            assert_true(other.distance == heap.distance && other.faceA == heap.faceA);
            assert_true(other.work.queueMax <= heap.work.queueMax);
            other.work.queueMax = heap.work.queueMax;
            assert_memory_equal(&other.work, &heap.work, sizeof heap.work);
        }
        freePair(&pair);
    }
}

// L-72, L-15: bodies against themselves, shifted by a face, touching, inside each other.
static void edgePosesAgree(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(54)};
    static const rbTransform poses[] = {
        {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},  {{0.0, 0.0, 1e-12}, {1.0, 0.0, 0.0, 0.0}},
        {{0.9, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},  {{1.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
        {{0.05, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}, {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0}},
        {{1e3, 0.0, 0.0}, {0.6, 0.8, 0.0, 0.0}},
    };
    for (int body = 0; body < RB_BODY_COUNT_OF_KINDS; ++body) {
        rbGeometry* geometry = rbMakeTestBody((rbTestBody)body, 40, &random);
        for (int volume = 0; volume < RB_VOLUME_COUNT; ++volume) {
            Pair pair = makePair(rbGeometry_Retain(geometry), rbGeometry_Retain(geometry),
                                 (rbVolumeType)volume);
            for (size_t k = 0; k < sizeof poses / sizeof poses[0]; ++k) {
                pair.input.transformBtoA = poses[k];
                double truth = measureNaively(&pair.input);
                assert_true(k != 0 || truth == 0.0);
                for (int traversal = 1; traversal < RB_TRAVERSAL_COUNT; ++traversal) {
                    pair.input.traversal = (rbTraversal)traversal;
                    checkNear(measure(&pair.input).distance, truth, 1e-12 * truth);
                    bool meet;
                    rbDistanceWork work;
                    (void)rbTestSurfaces(&pair.input, &meet, &work, NULL);
                    assert_int_equal(meet, truth == 0.0);
                    assert_int_equal(work.representatives, 0);
                }
            }
            freePair(&pair);
        }
        rbDestroyGeometry(geometry);
    }
}

// A small body inside a large one is apart from its surface; closed form: two cubes of half sizes 2
// and 1/2 about one center are 1.5 apart.
static void bodyInsideAnotherHasADistance(void** state)
{
    (void)state;
    double large[4][2] = {{-2, -2}, {2, -2}, {2, 2}, {-2, 2}};
    double small[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    rbOwnedMesh meshes[2];
    assert_int_equal(rbExtrudeProfile((const double(*)[2])large, 4, 4.0, &meshes[0], NULL), 0);
    assert_int_equal(rbExtrudeProfile((const double(*)[2])small, 4, 1.0, &meshes[1], NULL), 0);
    rbMeshDef defs[2] = {rbOwnedMesh_GetDef(&meshes[0]), rbOwnedMesh_GetDef(&meshes[1])};
    Pair pair = makePair(rbCreatePolyhedron(&defs[0], NULL), rbCreatePolyhedron(&defs[1], NULL),
                         RB_VOLUME_OBB);
    pair.input.transformBtoA.p = rbMakeVec3(0.0, 0.0, 1.5);
    for (int k = 0; k < RB_TRAVERSAL_COUNT; ++k) {
        pair.input.traversal = (rbTraversal)k;
        checkNear(measure(&pair.input).distance, 1.5, 1e-15);
    }
    freePair(&pair);
    rbFreeMesh(&meshes[0]);
    rbFreeMesh(&meshes[1]);
}

// Expected content of a sequence: how many entries of each key below the limit.
typedef struct Shelf {
    int counts[64];
    int limit;
} Shelf;

static void checkFirst(rbPairSequence* sequence, Shelf* shelf)
{
    int least = 0;
    while (least < shelf->limit && shelf->counts[least] == 0) {
        ++least;
    }
    if (least < shelf->limit) {
        assert_true(sequence->count > 0);
        rbSequenceEntry first = *sequence->row->first(sequence);
        assert_true(first.key == least && first.b == least);
        sequence->row->pop(sequence);
        --shelf->counts[least];
    } else if (sequence->count > 0) { // a heap keeps the entries that were cut
        assert_true(sequence->row->first(sequence)->key >= shelf->limit);
    }
}

// E-08: each row returns what a sorted array would, including cuts.
static void sequencesSort(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(55)};
    for (int round = 0; round < rbTest_Count(300, 3000); ++round) {
        rbPairSequence sequence = rbMakePairSequence((rbSequence)(round % RB_SEQUENCE_COUNT));
        Shelf shelf = {{0}, 64};
        for (int step = 0; step < 600; ++step) {
            int key = rbRandom_Index(&random, shelf.limit);
            if (rbRandom_Index(&random, 5) < 3) {
                rbPairSequence_Push(&sequence, key, step, key);
                ++shelf.counts[key];
            } else if (rbRandom_Index(&random, 40) == 0 && shelf.limit > 2) {
                --shelf.limit;
                sequence.row->cut(&sequence, shelf.limit);
                shelf.counts[shelf.limit] = 0;
            } else {
                checkFirst(&sequence, &shelf);
            }
        }
        rbFreePairSequence(&sequence);
    }
}

// Among equal keys the newest comes first.
static void equalKeysComeYoungestFirst(void** state)
{
    (void)state;
    for (int kind = 0; kind < RB_SEQUENCE_COUNT; ++kind) {
        rbPairSequence sequence = rbMakePairSequence((rbSequence)kind);
        for (int i = 0; i < 1000; ++i) {
            rbPairSequence_Push(&sequence, 1.0, i, 0);
        }
        for (int i = 999; i >= 0; --i) {
            assert_int_equal(sequence.row->first(&sequence)->a, i);
            sequence.row->pop(&sequence);
        }
        assert_int_equal(sequence.count, 0);
        rbFreePairSequence(&sequence);
    }
}

// The corner of the root farthest in a direction, by all of its representatives.
static rbVec3 farthestOf(const rbHierarchy* tree, rbVec3 direction)
{
    const rbHierarchyNode* root = &tree->nodes[0];
    rbVec3 best = tree->corners[root->representatives[0]];
    for (int i = 1; i < root->representativeCount; ++i) {
        rbVec3 point = tree->corners[root->representatives[i]];
        best = rbDot(direction, point) > rbDot(direction, best) ? point : best;
    }
    return best;
}

// L-67: a budget that allows nothing returns the representatives of the roots: of A the one
// farthest toward B and of B the one farthest toward A. Over many poses they save work.
static void representativesAreTakenTowardEachOther(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(57)};
    long long tests[2] = {0, 0};
    for (int i = 0; i < rbTest_Count(100, 2000); ++i) {
        Pair pair = makePair(rbMakeTestBody(RB_BODY_BUMPY, 60, &random),
                             rbMakeTestBody(RB_BODY_TORUS, 60, &random), RB_VOLUME_AABB);
        rbTransform pose = rbMakeRandomPose(&random);
        pair.input.transformBtoA = pose;
        pair.input.budget = 1e-9;
        rbDistanceResult result = measure(&pair.input);
        rbVec3 toward = rbSub(rbTransformPoint(pose, pair.trees[1]->nodes[0].center),
                              pair.trees[0]->nodes[0].center);
        rbVec3 a = farthestOf(pair.trees[0], toward);
        rbVec3 b = farthestOf(pair.trees[1], rbInvRotate(pose.q, rbNeg(toward)));
        checkNear(rbDistance(result.pointA, a), 0.0, 1e-14);
        checkNear(rbDistance(result.pointB, rbTransformPoint(pose, b)), 0.0, 1e-14);
        assert_int_equal(result.stop, RB_SEARCH_BUDGET);
        assert_int_equal(result.work.representatives, 1);
        pair.input.budget = 0.0;
        pair.input.traversal = RB_TRAVERSAL_INDIFFERENT;
        for (int k = 0; k < 2; ++k) {
            pair.input.usesRepresentatives = k == 1;
            tests[k] += measure(&pair.input).work.elementaryTests;
        }
        freePair(&pair);
    }
    assert_true(tests[1] < tests[0]);
}

// What the orders promise: with the fewest updates, fewer than one for each bound; the nearer child
// first opens fewer pairs than a fixed order does; best first opens only what every order must.
// L-63, L-64, L-65, L-66
static void ordersSaveTheWorkTheyPromise(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(54)};
    long long opened[RB_TRAVERSAL_COUNT] = {0};
    long long updates[RB_TRAVERSAL_COUNT] = {0};
    for (int i = 0; i < rbTest_Count(100, 2000); ++i) {
        Pair pair = makePair(rbMakeTestBody((rbTestBody)rbRandom_Index(&random, 8), 60, &random),
                             rbMakeTestBody((rbTestBody)rbRandom_Index(&random, 8), 60, &random),
                             (rbVolumeType)rbRandom_Index(&random, RB_VOLUME_COUNT));
        pair.input.transformBtoA = rbMakeRandomPose(&random);
        pair.input.usesRepresentatives = false;
        rbDistanceWork work[RB_TRAVERSAL_COUNT];
        for (int k = 1; k < RB_TRAVERSAL_COUNT; ++k) {
            pair.input.traversal = (rbTraversal)k;
            work[k] = measure(&pair.input).work;
            opened[k] += work[k].opened;
            updates[k] += work[k].volumeUpdates;
        }
        // Where bodies meet, all orders end at the first pair of faces that do.
        bool isApart = measure(&pair.input).distance > 0.0;
        for (int k = 1; k < RB_TRAVERSAL_COUNT && isApart; ++k) {
            assert_true(work[RB_TRAVERSAL_GLOBAL].opened <= work[k].opened);
        }
        freePair(&pair);
    }
    for (int k = 1; k < RB_TRAVERSAL_COUNT; ++k) {
        print_message("  traversal %d: %lld opened, %lld updates\n", k, opened[k], updates[k]);
    }
    assert_true(4 * updates[RB_TRAVERSAL_UPDATE_MINIMAL] < 3 * updates[RB_TRAVERSAL_INDIFFERENT]);
    assert_true(4 * opened[RB_TRAVERSAL_LOCAL] < 3 * opened[RB_TRAVERSAL_INDIFFERENT]);
}

// L-62: leaves are never opened; of two inner nodes both, the larger, or any that is not much
// smaller.
static void expansionOpensWhatItSays(void** state)
{
    (void)state;
    rbHierarchyNode leaf = {.radius = 9.0};
    rbHierarchyNode one = {.childCount = 2, .radius = 1.0};
    rbHierarchyNode two = {.childCount = 2, .radius = 1.9};
    rbHierarchyNode five = {.childCount = 2, .radius = 5.0};
    for (int k = 0; k < RB_EXPANSION_COUNT; ++k) {
        rbExpansion expansion = (rbExpansion)k;
        assert_int_equal(rbChooseOpening(expansion, &leaf, &leaf), 0);
        assert_int_equal(rbChooseOpening(expansion, &leaf, &one), RB_OPEN_B);
        assert_int_equal(rbChooseOpening(expansion, &one, &leaf), RB_OPEN_A);
    }
    unsigned both = RB_OPEN_A | RB_OPEN_B;
    assert_int_equal(rbChooseOpening(RB_EXPANSION_BOTH, &one, &five), both);
    assert_int_equal(rbChooseOpening(RB_EXPANSION_LARGER, &one, &two), RB_OPEN_B);
    assert_int_equal(rbChooseOpening(RB_EXPANSION_LARGER, &two, &one), RB_OPEN_A);
    assert_int_equal(rbChooseOpening(RB_EXPANSION_HYBRID, &one, &two), both);
    assert_int_equal(rbChooseOpening(RB_EXPANSION_HYBRID, &one, &five), RB_OPEN_B);
    assert_int_equal(rbChooseOpening(RB_EXPANSION_HYBRID, &five, &one), RB_OPEN_A);
}

// Faces with more corners than a search has room for.
static void facesOfManyCornersAreMeasured(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(56)};
    Pair pair = makePair(rbMakeTestBody(RB_BODY_STAR, 150, &random),
                         rbMakeTestBody(RB_BODY_STAR, 200, &random), RB_VOLUME_AABB);
    uint64_t bytes = rbGetAllocatedBytes();
    assert_true(pair.trees[1]->cornersMax > 64);
    for (int i = 0; i < rbTest_Count(10, 100); ++i) {
        pair.input.transformBtoA = rbMakeRandomPose(&random);
        double truth = measureNaively(&pair.input);
        for (int k = 1; k < RB_TRAVERSAL_COUNT; ++k) {
            pair.input.traversal = (rbTraversal)k;
            checkNear(measure(&pair.input).distance, truth, 1e-12 * truth);
        }
    }
    assert_true(rbGetAllocatedBytes() == bytes);
    freePair(&pair);
}

// Depth-first traversals allocate nothing, the others release everything.
static void depthFirstAllocatesNothing(void** state)
{
    (void)state;
    Pair pair = makeInterlockedTori(12, RB_VOLUME_FDH14);
    uint64_t bytes = rbGetAllocatedBytes();
    for (int k = 0; k < RB_TRAVERSAL_COUNT; ++k) {
        uint64_t count = rbGetAllocationCount();
        pair.input.traversal = (rbTraversal)k;
        (void)measure(&pair.input);
        assert_true(k == RB_TRAVERSAL_GLOBAL || rbGetAllocationCount() == count);
        assert_true(rbGetAllocatedBytes() == bytes);
    }
    freePair(&pair);
}

static void expectRefusal(const rbDistanceInput* input, const char* word)
{
    rbDistanceResult result;
    rbError error = {0};
    assert_int_equal(rbMeasureDistance(input, &result, &error), RB_STATUS_INVALID);
    if (strstr(error.message, word) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, word);
    }
    bool meet;
    assert_int_equal(rbTestSurfaces(input, &meet, NULL, NULL), RB_STATUS_INVALID);
}

static void badInputIsRefusedInWords(void** state)
{
    (void)state;
    Pair pair = makeInterlockedTori(6, RB_VOLUME_AABB);
    Pair other = makeInterlockedTori(6, RB_VOLUME_SPHERE);
    rbDistanceInput input = pair.input;
    input.cookie = 0;
    expectRefusal(&input, "rbDefaultDistanceInput");
    input = pair.input;
    input.b = NULL;
    expectRefusal(&input, "hierarchy B is NULL");
    input = pair.input;
    input.b = other.trees[0];
    expectRefusal(&input, "kind aabb and B sphere");
    input = pair.input;
    input.transformBtoA.q.w = 2.0;
    expectRefusal(&input, "unit quaternion");
    input = pair.input;
    input.transformBtoA.p.x = NAN;
    expectRefusal(&input, "position");
    input = pair.input;
    input.relativeError = 1.0;
    expectRefusal(&input, "relative error is 1");
    input = pair.input;
    input.relativeError = NAN;
    expectRefusal(&input, "relative error");
    input = pair.input;
    input.budget = -1.0;
    expectRefusal(&input, "budget is -1");
    input = pair.input;
    input.budget = 5.0;
    input.traversal = RB_TRAVERSAL_LOCAL;
    expectRefusal(&input, "needs the traversal global; local");
    input = pair.input;
    input.volumeTestCost = -1.0;
    expectRefusal(&input, "costs -1");
    input = pair.input;
    input.traversal = RB_TRAVERSAL_COUNT;
    expectRefusal(&input, "unknown");
    freePair(&other);
    freePair(&pair);
}

static void namesAreFound(void** state)
{
    (void)state;
    for (int i = 0; i < RB_TRAVERSAL_COUNT; ++i) {
        assert_int_equal(rbTraversal_Find(rbTraversal_Name((rbTraversal)i)), i);
    }
    for (int i = 0; i < RB_EXPANSION_COUNT; ++i) {
        assert_int_equal(rbExpansion_Find(rbExpansion_Name((rbExpansion)i)), i);
    }
    for (int i = 0; i < RB_SEQUENCE_COUNT; ++i) {
        assert_int_equal(rbSequence_Find(rbSequence_Name((rbSequence)i)), i);
    }
    for (int i = 0; i < RB_SPLIT_COUNT; ++i) {
        assert_int_equal(rbSplitAxis_Find(rbSplitAxis_Name((rbSplitAxis)i)), i);
    }
    for (int i = 0; i < RB_SPLIT_PLACE_COUNT; ++i) {
        assert_int_equal(rbSplitPlace_Find(rbSplitPlace_Name((rbSplitPlace)i)), i);
    }
    for (int i = 0; i < RB_VOLUME_COUNT; ++i) {
        assert_int_equal(rbVolumeType_Find(rbVolumeType_Name((rbVolumeType)i)), i);
    }
    for (int i = 0; i < RB_SEARCH_COUNT; ++i) {
        assert_non_null(rbSearchStop_Name((rbSearchStop)i));
    }
    assert_int_equal(rbTraversal_Find("x"), RB_TRAVERSAL_COUNT);
    assert_int_equal(rbExpansion_Find("x"), RB_EXPANSION_COUNT);
    assert_int_equal(rbSequence_Find("x"), RB_SEQUENCE_COUNT);
    assert_int_equal(rbSplitAxis_Find("x"), RB_SPLIT_COUNT);
    assert_int_equal(rbSplitPlace_Find("x"), RB_SPLIT_PLACE_COUNT);
}

RB_TEST_GROUP(test_search, cmocka_unit_test(budgetsStopOnTimeWithBoundsThatHold),
              cmocka_unit_test(relativeErrorIsKept),
              cmocka_unit_test(memoryChangesTheWorkNotTheAnswer),
              cmocka_unit_test(memoryOfOtherBodiesDoesNoHarm), cmocka_unit_test(countersAddUp),
              cmocka_unit_test(ordersSaveTheWorkTheyPromise), cmocka_unit_test(edgePosesAgree),
              cmocka_unit_test(bodyInsideAnotherHasADistance), cmocka_unit_test(sequencesSort),
              cmocka_unit_test(equalKeysComeYoungestFirst),
              cmocka_unit_test(representativesAreTakenTowardEachOther),
              cmocka_unit_test(expansionOpensWhatItSays),
              cmocka_unit_test(facesOfManyCornersAreMeasured),
              cmocka_unit_test(depthFirstAllocatesNothing),
              cmocka_unit_test(badInputIsRefusedInWords), cmocka_unit_test(namesAreFound));
