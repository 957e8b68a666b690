// The graph of a system of rows: components and loops.
#include "rb_test.h"
#include "row_systems.h"

#include <stdlib.h>

static const rbVec3 unitAxes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

static void addEdge(TestSystem* system, int a, int b)
{
    addBlock(system, a, b, RB_VEC3_ZERO, unitAxes, 1);
}

// Two chains on the same static body are two components; a second path to it closes a loop, and so
// does one through another static body. Stacked blocks are one edge.
// B-36
static void loopsAndComponentsAreFound(void** state)
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
    rbRowGraph* graph = rbCreateRowGraph(&system.view);
    const int bodies[7] = {-1, 0, 0, 1, 1, 2, -1};
    const int blocks[9] = {0, 0, 0, 1, 0, 1, 1, 1, -1};
    const int loops[3] = {4, 6, 7};
    assert_int_equal(graph->componentCount, 3);
    assert_memory_equal(graph->bodyComponents, bodies, sizeof bodies);
    assert_memory_equal(graph->blockComponents, blocks, sizeof blocks);
    assert_int_equal(graph->loopCount, 3);
    assert_memory_equal(graph->loopBlocks, loops, sizeof loops);
    rbDestroyRowGraph(graph);
    rbDestroyRowGraph(NULL);
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

static int countEdges(const TestSystem* system, bool isLoopCounted, const rbRowGraph* graph)
{
    int n = system->view.bodyCount, count = 0;
    bool* isSeen = calloc((size_t)(n + 1) * (size_t)(n + 1), sizeof *isSeen);
    for (int i = 0, loop = 0; i < system->view.blockCount; ++i) {
        bool isLoop = loop < graph->loopCount && graph->loopBlocks[loop] == i;
        loop += isLoop ? 1 : 0;
        int a = system->blocks[i].bodyA, b = system->blocks[i].bodyB;
        a = system->masses[a].isDynamic ? a : n;
        b = system->masses[b].isDynamic ? b : n;
        bool* cell = &isSeen[a < b ? a * (n + 1) + b : b * (n + 1) + a];
        if (a != b && !*cell && (isLoopCounted || !isLoop)) {
            *cell = true;
            ++count;
        }
    }
    free(isSeen);
    return count;
}

// Components compared with spreading marks. Without the loops, the rest is a forest with the same
// connectivity: its number of edges is the number of nodes with edges minus one for each tree.
// B-36
static void randomGraphsSplitIntoForests(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3601)};
    int count = rbTest_Count(300, 10000);
    for (int k = 0; k < count; ++k) {
        SystemOptions options = randomOptions(&random, 14, 1.0);
        TestSystem system = makeSystem(&random, &options);
        rbRowGraph* graph = rbCreateRowGraph(&system.view);
        int n = system.view.bodyCount, grounded = 0;
        bool* isGrounded = calloc((size_t)n, sizeof *isGrounded);
        for (int i = 0; i < system.view.blockCount; ++i) {
            int a = system.blocks[i].bodyA, b = system.blocks[i].bodyB;
            int component = graph->blockComponents[i];
            if (component >= 0 && system.masses[a].isDynamic != system.masses[b].isDynamic) {
                grounded += isGrounded[component] ? 0 : 1;
                isGrounded[component] = true;
            }
        }
        int dynamic = 0;
        for (int i = 0; i < n; ++i) {
            bool* isReached = calloc((size_t)n, sizeof *isReached);
            dynamic += system.masses[i].isDynamic ? 1 : 0;
            spread(&system, i, isReached);
            for (int j = 0; j < n && system.masses[i].isDynamic; ++j) {
                bool isSame = graph->bodyComponents[j] == graph->bodyComponents[i];
                assert_int_equal(isSame, isReached[j]);
            }
            free(isReached);
        }
        // A forest of the dynamic bodies, and one more edge for each tree attached to the ground.
        assert_int_equal(countEdges(&system, false, graph),
                         dynamic - graph->componentCount + grounded);
        assert_true(countEdges(&system, true, graph) >= countEdges(&system, false, graph));
        rbDestroyRowGraph(graph);
        free(isGrounded);
        freeSystem(&system);
    }
}

RB_TEST_GROUP(test_row_graph, cmocka_unit_test(loopsAndComponentsAreFound),
              cmocka_unit_test(randomGraphsSplitIntoForests));
