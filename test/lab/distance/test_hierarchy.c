// Trees: partitions, depth, degree, leaf size, degenerate input, building time.
#include "base/core/memory.h"
#include "base/math/matrix3.h"
#include "bodies.h"
#include "lab/bounds/hierarchy_split.h"
#include "rb_test.h"

#include <stdio.h>
#include <string.h>

// L-41, L-42, L-44, L-45, L-46: every rule with every volume partitions the faces, each in one
// leaf, in leaves of the requested size, with at most the requested number of children, every
// vertex inside the volumes above it.
static void everyRulePartitionsTheFaces(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(60)};
    for (int i = 0; i < rbTest_Count(40, 4000); ++i) {
        rbGeometry* geometry =
            rbMakeTestBody((rbTestBody)rbRandom_Index(&random, RB_BODY_COUNT_OF_KINDS),
                           4 + rbRandom_Index(&random, 100), &random);
        for (int k = 0; k < RB_SPLIT_COUNT * RB_SPLIT_PLACE_COUNT; ++k) {
            rbHierarchyDef def = rbMakeRandomHierarchyDef(
                (rbVolumeType)rbRandom_Index(&random, RB_VOLUME_COUNT), &random);
            def.axis = (rbSplitAxis)(k / RB_SPLIT_PLACE_COUNT);
            def.place = (rbSplitPlace)(k % RB_SPLIT_PLACE_COUNT);
            rbHierarchy* tree = rbCreateHierarchy(geometry, &def, NULL);
            assert_non_null(tree);
            assert_true(rbHierarchy_IsValid(tree));
            rbHierarchyInfo info = rbHierarchy_GetInfo(tree);
            assert_true(info.leafSizeMax <= def.leafSize);
            assert_true(info.depth <= def.depthMax);
            for (int node = 0; node < tree->nodeCount; ++node) {
                assert_true(tree->nodes[node].childCount <= def.degree);
            }
            rbDestroyHierarchy(tree);
        }
        rbDestroyGeometry(geometry);
    }
}

// The score of an axis rule if the faces were halved along it: less is better.
static double scoreOfAxis(const rbSplitter* splitter, rbVec3 axis, rbSplitAxis rule)
{
    enum {
        MAX = 64
    };
    int count = splitter->mesh->faceCount;
    int order[MAX];
    double keys[MAX];
    double mean = 0.0;
    for (int i = 0; i < count; ++i) {
        double key = rbDot(axis, splitter->references[i]);
        int j = i;
        for (; j > 0 && keys[j - 1] > key; --j) {
            keys[j] = keys[j - 1];
            order[j] = order[j - 1];
        }
        keys[j] = key;
        order[j] = i;
        mean += key / count;
    }
    double variance = 0.0;
    rbVec3 low[2] = {{9, 9, 9}, {9, 9, 9}};
    rbVec3 high[2] = {{-9, -9, -9}, {-9, -9, -9}};
    for (int i = 0; i < count; ++i) {
        variance += (keys[i] - mean) * (keys[i] - mean);
        int side = i >= count / 2;
        int first = splitter->mesh->faceStarts[order[i]];
        for (int k = 0; k < splitter->mesh->faceSizes[order[i]]; ++k) {
            rbVec3 vertex = splitter->mesh->vertices[splitter->mesh->indices[first + k]];
            low[side] = rbMin3(low[side], vertex);
            high[side] = rbMax3(high[side], vertex);
        }
    }
    rbVec3 d = rbSub(high[0], low[0]);
    rbVec3 e = rbSub(high[1], low[1]);
    double below = d.x * d.y * d.z;
    double above = e.x * e.y * e.z;
    if (rule == RB_SPLIT_VARIANCE) {
        return -variance;
    }
    return rule == RB_SPLIT_SUM ? below + above : rbMaxOf(below, above);
}

// L-44: of three axes the one with the least sum of volumes, larger volume, or largest variance;
// distinguished by the volumes of the halves, boxes here.
static void axisRulesChooseWhatTheySay(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(62)};
    for (int i = 0; i < rbTest_Count(300, 3000); ++i) {
        rbGeometry* geometry =
            rbMakeTestBody(RB_BODY_SOUP, 4 + rbRandom_Index(&random, 30), &random);
        rbHierarchyDef def = rbDefaultHierarchyDef();
        def.volume = RB_VOLUME_AABB;
        def.axis = (rbSplitAxis)(i % RB_SPLIT_SURFACE);
        def.place = RB_SPLIT_MEDIAN;
        def.leafSize = geometry->polyhedron->faceCount - 1; // one split
        rbHierarchy* tree = rbCreateHierarchy(geometry, &def, NULL);
        assert_int_equal(tree->nodeCount, 3);
        int faces[64];
        rbSplitter splitter = rbMakeSplitter(&def, geometry->polyhedron, faces);
        bool isPrincipal = def.axis >= RB_SPLIT_PRINCIPAL_SUM;
        rbSplitAxis rule = (rbSplitAxis)(def.axis - (isPrincipal ? RB_SPLIT_PRINCIPAL_SUM : 0));
        rbSplitter_Gather(&splitter, (rbFaceRun){0, geometry->polyhedron->faceCount});
        rbMat3 axes = isPrincipal ? rbSplitter_GetAxes(&splitter) : RB_MAT3_IDENTITY;
        const rbVec3 candidates[3] = {axes.cx, axes.cy, axes.cz};
        int best = 0;
        for (int k = 1; k < 3; ++k) {
            bool isBetter = scoreOfAxis(&splitter, candidates[k], rule) <
                            scoreOfAxis(&splitter, candidates[best], rule);
            best = isBetter ? k : best;
        }
        double truth = scoreOfAxis(&splitter, candidates[best], RB_SPLIT_SUM);
        double sum = tree->row->measure(rbHierarchy_GetVolume(tree, 1)).volume +
                     tree->row->measure(rbHierarchy_GetVolume(tree, 2)).volume;
        checkRelative(sum, truth, 1e-9);
        rbFreeSplitter(&splitter);
        rbDestroyHierarchy(tree);
        rbDestroyGeometry(geometry);
    }
}

// L-41: few levels make balanced trees first and large leaves only when necessary.
static void depthIsKept(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(61)};
    rbGeometry* geometry = rbMakeTestBody(RB_BODY_SOUP, 300, &random);
    for (int depth = 1; depth <= 12; ++depth) {
        for (int axis = 0; axis < RB_SPLIT_COUNT; ++axis) {
            rbHierarchyDef def = rbDefaultHierarchyDef();
            def.depthMax = depth;
            def.axis = (rbSplitAxis)axis;
            def.place = RB_SPLIT_MEAN;
            rbHierarchy* tree = rbCreateHierarchy(geometry, &def, NULL);
            rbHierarchyInfo info = rbHierarchy_GetInfo(tree);
            assert_true(rbHierarchy_IsValid(tree));
            assert_true(info.depth <= depth);
            assert_int_equal(info.faceCount, 300);
            // 2^9 leaves hold 300 faces one by one
            int ideal = (300 + (1 << (depth - 1)) - 1) / (1 << (depth - 1));
            assert_true(info.leafSizeMax <= ideal);
            rbDestroyHierarchy(tree);
        }
    }
    rbDestroyGeometry(geometry);
}

// L-45: small faces at the cubes of 0 to 63: the median leaves 32 on both sides, the mean, near the
// cube of 40, 40 or 41 below.
static void splitsAreAtTheMeanOrTheMedian(void** state)
{
    (void)state;
    enum {
        COUNT = 64
    };
    rbVec3 vertices[3 * COUNT];
    int indices[3 * COUNT];
    for (int i = 0; i < 3 * COUNT; ++i) {
        int root = i / 3;
        double x = root * root * root;
        vertices[i] = rbMakeVec3(x, i % 3 == 1 ? 0.1 : 0.0, i % 3 == 2 ? 0.1 : 0.0);
        indices[i] = i;
    }
    rbMeshDef mesh = {vertices, 3 * COUNT, NULL, indices, COUNT};
    rbGeometry* geometry = rbCreateSoup(&mesh, NULL);
    assert_non_null(geometry);
    for (int axis = 0; axis < RB_SPLIT_SURFACE; ++axis) {
        int fewest[RB_SPLIT_PLACE_COUNT];
        for (int place = 0; place < RB_SPLIT_PLACE_COUNT; ++place) {
            rbHierarchyDef def = rbDefaultHierarchyDef();
            def.volume = RB_VOLUME_AABB;
            def.axis = (rbSplitAxis)axis;
            def.place = (rbSplitPlace)place;
            def.leafSize = COUNT - 1; // one split
            rbHierarchy* tree = rbCreateHierarchy(geometry, &def, NULL);
            assert_int_equal(tree->nodeCount, 3);
            int first = tree->nodes[1].faceCount;
            fewest[place] = first < COUNT - first ? first : COUNT - first;
            rbDestroyHierarchy(tree);
        }
        assert_int_equal(fewest[RB_SPLIT_MEDIAN], COUNT / 2);
        assert_in_range(fewest[RB_SPLIT_MEAN], COUNT - 41, COUNT - 40);
    }
    rbDestroyGeometry(geometry);
}

// L-45: coincident faces have one reference point; halves by index keep the leaf size.
static void identicalFacesArePartedByIndex(void** state)
{
    (void)state;
    enum {
        COUNT = 200
    };
    rbVec3 vertices[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    int indices[3 * COUNT];
    for (int i = 0; i < COUNT; ++i) {
        for (int k = 0; k < 3; ++k) {
            indices[3 * i + k] = k;
        }
    }
    rbMeshDef mesh = {vertices, 3, NULL, indices, COUNT};
    rbGeometry* geometry = rbCreateSoup(&mesh, NULL);
    assert_non_null(geometry);
    for (int axis = 0; axis < RB_SPLIT_COUNT; ++axis) {
        for (int volume = 0; volume < RB_VOLUME_COUNT; ++volume) {
            rbHierarchyDef def = rbDefaultHierarchyDef();
            def.axis = (rbSplitAxis)axis;
            def.place = RB_SPLIT_MEAN;
            def.volume = (rbVolumeType)volume;
            rbHierarchy* tree = rbCreateHierarchy(geometry, &def, NULL);
            assert_true(rbHierarchy_IsValid(tree));
            assert_int_equal(rbHierarchy_GetInfo(tree).leafSizeMax, 1);
            assert_int_equal(rbHierarchy_GetInfo(tree).depth, 9);
            rbDestroyHierarchy(tree);
        }
    }
    rbDestroyGeometry(geometry);
}

// L-46: with degree 8 and leaves of one, 512 faces of a regular grid need four levels by halves.
static void degreeEightHalvesThreeTimesALevel(void** state)
{
    (void)state;
    rbGeometry* geometry = rbMakeTestTorus(1.0, 0.3, 16, 16);
    rbHierarchyDef def = rbDefaultHierarchyDef();
    def.degree = 8;
    def.axis = RB_SPLIT_VARIANCE;
    def.place = RB_SPLIT_MEDIAN;
    rbHierarchy* tree = rbCreateHierarchy(geometry, &def, NULL);
    rbHierarchyInfo info = rbHierarchy_GetInfo(tree);
    assert_int_equal(info.depth, 4);
    assert_int_equal(info.leafCount, 512);
    assert_int_equal(info.nodeCount, 1 + 8 + 64 + 512);
    rbDestroyHierarchy(tree);
    rbDestroyGeometry(geometry);
}

// L-67: representatives are extreme: no vertex of the node is farther along any of its axes. Here
// along x, y, z of a body that is long in these directions.
static void representativesAreExtreme(void** state)
{
    (void)state;
    double profile[4][2] = {{0, 0}, {3, 0}, {3, 2}, {0, 2}};
    rbOwnedMesh mesh;
    assert_int_equal(rbExtrudeProfile((const double(*)[2])profile, 4, 1.0, &mesh, NULL), 0);
    rbMeshDef meshDef = rbOwnedMesh_GetDef(&mesh);
    rbGeometry* geometry = rbCreatePolyhedron(&meshDef, NULL);
    rbHierarchyDef def = rbDefaultHierarchyDef();
    rbHierarchy* tree = rbCreateHierarchy(geometry, &def, NULL);
    const rbHierarchyNode* root = &tree->nodes[0];
    rbVec3 low = {9, 9, 9};
    rbVec3 high = {-9, -9, -9};
    for (int i = 0; i < root->representativeCount; ++i) {
        low = rbMin3(low, tree->corners[root->representatives[i]]);
        high = rbMax3(high, tree->corners[root->representatives[i]]);
    }
    checkNear(rbLength(low), 0.0, 1e-15);
    checkNear(rbDistance(high, rbMakeVec3(3, 2, 1)), 0.0, 1e-15);
    rbDestroyHierarchy(tree);
    rbDestroyGeometry(geometry);
    rbFreeMesh(&mesh);
}

// Doubling the faces about doubles the splitting work: 100,000 faces are no problem, and depth
// stays near the logarithm.
static void largeMeshesAreBuilt(void** state)
{
    (void)state;
    int side = rbTest_IsLong() ? 224 : 100;
    rbGeometry* geometry = rbMakeTestTorus(1.0, 0.3, side, side);
    for (int axis = 0; axis < RB_SPLIT_COUNT; ++axis) {
        rbHierarchyDef def = rbDefaultHierarchyDef();
        def.axis = (rbSplitAxis)axis;
        def.place = RB_SPLIT_MEAN;
        rbHierarchy* tree = rbCreateHierarchy(geometry, &def, NULL);
        rbHierarchyInfo info = rbHierarchy_GetInfo(tree);
        assert_int_equal(info.faceCount, 2 * side * side);
        assert_int_equal(info.leafCount, info.faceCount);
        assert_int_equal(info.nodeCount, 2 * info.faceCount - 1);
        assert_true(info.depth <= 30);
        rbDestroyHierarchy(tree);
    }
    rbDestroyGeometry(geometry);
}

static void expectRefusal(const rbGeometry* geometry, const rbHierarchyDef* def, const char* word)
{
    rbError error = {0};
    assert_null(rbCreateHierarchy(geometry, def, &error));
    if (strstr(error.message, word) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, word);
    }
}

static void badDefinitionsAreRefusedInWords(void** state)
{
    (void)state;
    rbGeometry* geometry = rbMakeTestTorus(1.0, 0.3, 6, 6);
    rbGeometry* sphere = rbCreateSphere(1.0, NULL);
    rbHierarchyDef def = rbDefaultHierarchyDef();
    expectRefusal(sphere, &def, "a sphere has no faces");
    def.cookie = 0;
    expectRefusal(geometry, &def, "rbDefaultHierarchyDef");
    def = rbDefaultHierarchyDef();
    def.degree = 9;
    expectRefusal(geometry, &def, "degree of the hierarchy is 9; 2 to 8");
    def = rbDefaultHierarchyDef();
    def.leafSize = 0;
    expectRefusal(geometry, &def, "leaf size of the hierarchy is 0");
    def = rbDefaultHierarchyDef();
    def.depthMax = 65;
    expectRefusal(geometry, &def, "depth of the hierarchy is 65");
    def = rbDefaultHierarchyDef();
    def.volume = RB_VOLUME_COUNT;
    expectRefusal(geometry, &def, "unknown");
    rbDestroyGeometry(sphere);
    rbDestroyGeometry(geometry);
    rbDestroyHierarchy(NULL);
}

// Building and destroying releases every byte, and the tree keeps its geometry alive.
static void nothingLeaks(void** state)
{
    (void)state;
    uint64_t bytes = rbGetAllocatedBytes();
    rbGeometry* geometry = rbMakeTestTorus(1.0, 0.3, 12, 12);
    rbHierarchyDef def = rbDefaultHierarchyDef();
    uint64_t before = rbGetAllocatedBytes();
    rbHierarchy* tree = rbCreateHierarchy(geometry, &def, NULL);
    assert_int_equal(rbGetAllocatedBytes() - before, rbHierarchy_GetInfo(tree).bytes);
    rbDestroyGeometry(geometry);
    assert_true(rbHierarchy_IsValid(tree));
    rbDestroyHierarchy(tree);
    assert_int_equal(rbGetAllocatedBytes(), bytes);
}

RB_TEST_GROUP(test_hierarchy, cmocka_unit_test(everyRulePartitionsTheFaces),
              cmocka_unit_test(axisRulesChooseWhatTheySay), cmocka_unit_test(depthIsKept),
              cmocka_unit_test(splitsAreAtTheMeanOrTheMedian),
              cmocka_unit_test(identicalFacesArePartedByIndex),
              cmocka_unit_test(degreeEightHalvesThreeTimesALevel),
              cmocka_unit_test(representativesAreExtreme), cmocka_unit_test(largeMeshesAreBuilt),
              cmocka_unit_test(badDefinitionsAreRefusedInWords), cmocka_unit_test(nothingLeaks));
