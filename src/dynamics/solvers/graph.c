// The graph of a system of rows (B-36), see solver.h and graph.h.
//
// Loops: edges are added to a forest in the order of their blocks; an edge whose ends are already
// connected closes a loop. So the last joint of a ring is the one to be cut.
#include "base/core/disjoint_sets.h"
#include "base/core/memory.h"
#include "dynamics/solvers/solver.h"

static int nodeOf(const rbRowSystem* system, int body)
{
    RB_ASSERT(body >= 0 && body < system->bodyCount);
    return system->masses[body].isDynamic ? body : system->bodyCount;
}

// The ends of a block; equal if none is dynamic.
static rbGraphEdge findEnds(const rbRowSystem* system, int block)
{
    int a = nodeOf(system, system->blocks[block].bodyA);
    int b = nodeOf(system, system->blocks[block].bodyB);
    return (rbGraphEdge){.small = a < b ? a : b, .large = a < b ? b : a};
}

// Equal edges are found node by node: the blocks of a smaller end are linked in ascending order,
// and the last edge to each larger end is recorded.
void rbEdgeList_Make(rbEdgeList* list, const rbRowSystem* system)
{
    size_t blockCount = (size_t)system->blockCount, nodeCount = (size_t)system->bodyCount + 1;
    *list = (rbEdgeList){.blockCount = system->blockCount};
    list->blockEdges = rbAlloc(blockCount * sizeof *list->blockEdges);
    list->edges = rbAllocZero(blockCount, sizeof *list->edges);
    int* firsts = rbAlloc(nodeCount * sizeof *firsts); // of the chain of a node
    int* nexts = rbAlloc(blockCount * sizeof *nexts);
    int* leads = rbAlloc(nodeCount * sizeof *leads); // first block of the edge to a larger end
    int* owners = rbAlloc(nodeCount * sizeof *owners);
    for (size_t i = 0; i < nodeCount; ++i) {
        firsts[i] = -1;
        owners[i] = -1;
    }
    for (int i = system->blockCount - 1; i >= 0; --i) {
        rbGraphEdge ends = findEnds(system, i);
        list->blockEdges[i] = -1;
        if (ends.small != ends.large) {
            nexts[i] = firsts[ends.small];
            firsts[ends.small] = i;
        }
    }
    // First blocks of edges, then numbers in the order of blocks.
    for (int node = 0; node < system->bodyCount; ++node) {
        for (int i = firsts[node]; i >= 0; i = nexts[i]) {
            int other = findEnds(system, i).large;
            if (owners[other] != node) {
                owners[other] = node;
                leads[other] = i;
            }
            list->blockEdges[i] = leads[other];
        }
    }
    for (int i = 0; i < system->blockCount; ++i) {
        int lead = list->blockEdges[i];
        if (lead == i) {
            list->edges[list->edgeCount] = findEnds(system, i);
            list->blockEdges[i] = list->edgeCount++;
        } else if (lead >= 0) {
            list->blockEdges[i] = list->blockEdges[lead];
        }
    }
    rbFree(firsts, nodeCount * sizeof *firsts);
    rbFree(nexts, blockCount * sizeof *nexts);
    rbFree(leads, nodeCount * sizeof *leads);
    rbFree(owners, nodeCount * sizeof *owners);
}

void rbEdgeList_Free(rbEdgeList* list)
{
    rbFree(list->blockEdges, (size_t)list->blockCount * sizeof *list->blockEdges);
    rbFree(list->edges, (size_t)list->blockCount * sizeof *list->edges);
}

static void findLoops(rbRowGraph* graph, const rbRowSystem* system, const rbEdgeList* edges,
                      int* parents)
{
    bool* isLoop = rbAllocZero((size_t)edges->edgeCount, sizeof *isLoop);
    for (int e = 0; e < edges->edgeCount; ++e) {
        isLoop[e] = !rbSets_Join(parents, edges->edges[e].small, edges->edges[e].large);
    }
    for (int i = 0; i < system->blockCount; ++i) {
        int edge = edges->blockEdges[i];
        if (edge >= 0 && isLoop[edge]) {
            graph->loopBlocks[graph->loopCount++] = i;
        }
    }
    rbFree(isLoop, (size_t)edges->edgeCount * sizeof *isLoop);
}

static void findComponents(rbRowGraph* graph, const rbRowSystem* system, const rbEdgeList* edges,
                           int* parents)
{
    int ground = system->bodyCount;
    for (int e = 0; e < edges->edgeCount; ++e) {
        if (edges->edges[e].large != ground) {
            (void)rbSets_Join(parents, edges->edges[e].small, edges->edges[e].large);
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        graph->bodyComponents[i] = -1;
        if (system->masses[i].isDynamic) {
            int root = rbSets_Find(parents, i);
            graph->bodyComponents[i] =
                root == i ? graph->componentCount++ : graph->bodyComponents[root];
        }
    }
    for (int i = 0; i < system->blockCount; ++i) {
        int edge = edges->blockEdges[i];
        graph->blockComponents[i] = edge < 0 ? -1 : graph->bodyComponents[edges->edges[edge].small];
    }
}

rbRowGraph* rbCreateRowGraph(const rbRowSystem* system)
{
    size_t bodyCount = (size_t)system->bodyCount, blockCount = (size_t)system->blockCount;
    RB_ASSERT(system->bodyCount >= 0);
    RB_ASSERT(system->blockCount >= 0);
    rbRowGraph* graph = rbAllocZero(1, sizeof *graph);
    graph->bodyCount = system->bodyCount;
    graph->blockCount = system->blockCount;
    graph->bodyComponents = rbAlloc(bodyCount * sizeof *graph->bodyComponents);
    graph->blockComponents = rbAlloc(blockCount * sizeof *graph->blockComponents);
    graph->loopBlocks = rbAlloc(blockCount * sizeof *graph->loopBlocks);
    int* parents = rbAlloc((bodyCount + 1) * sizeof *parents);
    rbEdgeList edges;
    rbEdgeList_Make(&edges, system);
    for (int i = 0; i <= system->bodyCount; ++i) {
        parents[i] = i;
    }
    findLoops(graph, system, &edges, parents);
    for (int i = 0; i <= system->bodyCount; ++i) {
        parents[i] = i;
    }
    findComponents(graph, system, &edges, parents);
    rbEdgeList_Free(&edges);
    rbFree(parents, (bodyCount + 1) * sizeof *parents);
    RB_ASSERT(graph->loopCount <= system->blockCount);
    return graph;
}

void rbDestroyRowGraph(rbRowGraph* graph)
{
    if (!graph) {
        return;
    }
    rbFree(graph->bodyComponents, (size_t)graph->bodyCount * sizeof *graph->bodyComponents);
    rbFree(graph->blockComponents, (size_t)graph->blockCount * sizeof *graph->blockComponents);
    rbFree(graph->loopBlocks, (size_t)graph->blockCount * sizeof *graph->loopBlocks);
    rbFree(graph, sizeof *graph);
}
