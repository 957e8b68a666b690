// The graph of a system of rows: its loops.
#include "rb_test.h"
#include "row_systems.h"

#include <stdlib.h>

static const rbVec3 unitAxes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

static void addEdge(TestSystem* system, int a, int b)
{
    addBlock(system, a, b, RB_VEC3_ZERO, unitAxes, 1);
}

// A second path to a static body closes a loop, and so does one through another static body.
// Stacked blocks are one edge. B-36
static void loopsAreFound(void** state)
{
    (void)state;
    rbRandom random = {1};
    TestSystem system = makeBodies(&random, 6, 1.0);
    system.masses[6] = (rbRowMass){0};
    addEdge(&system, 0, 1); // 0
    addEdge(&system, 1, 2); // 1
    addEdge(&system, 2, 1); // 2: the same edge
    addEdge(&system, 0, 3); // 3
    addEdge(&system, 2, 6); // 4: loop through the static bodies
    addEdge(&system, 3, 4); // 5
    addEdge(&system, 4, 6); // 6: loop
    addEdge(&system, 4, 0); // 7: the same edge
    addEdge(&system, 0, 6); // 8: no moving body
    const int loops[3] = {4, 6, 7};
    int found[9];
    assert_int_equal(rbFindLoops(&system.view, found), 3);
    assert_memory_equal(found, loops, sizeof loops);
    assert_int_equal(rbFindLoops(&system.view, NULL), 3);
    freeSystem(&system);
}

// Bodies reachable from a body over dynamic bodies, by spreading marks until nothing changes.
static void spread(const TestSystem* system, int from, bool* isReached)
{
    isReached[from] = true;
    for (bool isChanged = true; isChanged;) {
        isChanged = false;
        for (int i = 0; i < system->view.blockCount; ++i) {
            int a = system->blocks[i].bodyA, b = system->blocks[i].bodyB;
            if (system->masses[a].isDynamic && system->masses[b].isDynamic &&
                isReached[a] != isReached[b]) {
                isReached[a] = isReached[b] = isChanged = true;
            }
        }
    }
}

// Edges that do not belong to a list of blocks, ascending.
static int countEdges(const TestSystem* system, const int* loops, int loopCount)
{
    int n = system->view.bodyCount, count = 0;
    bool* isSeen = calloc((size_t)(n + 1) * (size_t)(n + 1), sizeof *isSeen);
    for (int i = 0, loop = 0; i < system->view.blockCount; ++i) {
        bool isLoop = loop < loopCount && loops[loop] == i;
        loop += isLoop ? 1 : 0;
        int a = system->blocks[i].bodyA, b = system->blocks[i].bodyB;
        a = system->masses[a].isDynamic ? a : n;
        b = system->masses[b].isDynamic ? b : n;
        bool* cell = &isSeen[a < b ? a * (n + 1) + b : b * (n + 1) + a];
        if (a != b && !*cell && !isLoop) {
            *cell = true;
            ++count;
        }
    }
    free(isSeen);
    return count;
}

// Without the loops, the rest is a forest with the same connectivity: its number of edges is the
// number of nodes with edges minus one for each tree.
// B-36
static void randomGraphsSplitIntoForests(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3601)};
    int count = rbTest_Count(300, 10000);
    for (int k = 0; k < count; ++k) {
        SystemOptions options = randomOptions(&random, 14, 1.0);
        TestSystem system = makeSystem(&random, &options);
        int n = system.view.bodyCount, dynamic = 0, components = 0, grounded = 0;
        bool* isSeen = calloc((size_t)n, sizeof *isSeen);
        for (int i = 0; i < n; ++i) {
            if (!system.masses[i].isDynamic) {
                continue;
            }
            dynamic += 1;
            if (isSeen[i]) {
                continue;
            }
            bool* isReached = calloc((size_t)n, sizeof *isReached);
            bool isGrounded = false;
            spread(&system, i, isReached);
            for (int j = 0; j < n; ++j) {
                isSeen[j] = isSeen[j] || isReached[j];
            }
            for (int j = 0; j < system.view.blockCount; ++j) {
                int a = system.blocks[j].bodyA, b = system.blocks[j].bodyB;
                isGrounded =
                    isGrounded ||
                    (isReached[a] && system.masses[a].isDynamic && !system.masses[b].isDynamic) ||
                    (isReached[b] && system.masses[b].isDynamic && !system.masses[a].isDynamic);
            }
            components += 1;
            grounded += isGrounded ? 1 : 0;
            free(isReached);
        }
        // A forest of the dynamic bodies, and one more edge for each tree attached to the ground.
        int* loops = calloc((size_t)system.view.blockCount + 1, sizeof *loops);
        int loopCount = rbFindLoops(&system.view, loops);
        assert_int_equal(countEdges(&system, loops, loopCount), dynamic - components + grounded);
        assert_true(countEdges(&system, NULL, 0) >= countEdges(&system, loops, loopCount));
        free(loops);
        free(isSeen);
        freeSystem(&system);
    }
}

RB_TEST_GROUP(test_row_graph, cmocka_unit_test(loopsAreFound),
              cmocka_unit_test(randomGraphsSplitIntoForests));
