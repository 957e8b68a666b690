// Elimination orders, see ordering.h.
#include "dynamics/solvers/ordering.h"

#include "base/core/memory.h"

#include <stdbool.h>
#include <string.h>

#if defined(RB_AMD)
#include <suitesparse/amd.h>
#endif

typedef RB_ARRAY(int) IntArray;

// Merges the neighbors of an eliminated node into those of its neighbor u.
static void joinNeighbors(IntArray* lists, int u, int eliminated, int* marks)
{
    IntArray* to = &lists[u];
    const IntArray* from = &lists[eliminated];
    int kept = 0;
    for (int k = 0; k < to->count; ++k) {
        int v = to->data[k];
        marks[v] = u;
        if (v != eliminated) {
            to->data[kept++] = v;
        }
    }
    to->count = kept;
    for (int k = 0; k < from->count; ++k) {
        int v = from->data[k];
        if (v != u && marks[v] != u) {
            rbArray_Push(*to, v);
        }
    }
}

void rbOrderByDegree(const rbNodeGraph* graph, int* order)
{
    int n = graph->nodeCount;
    RB_ASSERT(n >= 0);
    if (n == 0) {
        return;
    }
    IntArray* lists = rbAllocZero((size_t)n, sizeof *lists);
    int* marks = rbAlloc((size_t)n * sizeof *marks);
    bool* isDone = rbAllocZero((size_t)n, sizeof *isDone);
    for (int i = 0; i < n; ++i) {
        for (int k = graph->starts[i]; k < graph->starts[i + 1]; ++k) {
            RB_ASSERT(graph->neighbors[k] != i);
            rbArray_Push(lists[i], graph->neighbors[k]);
        }
    }
    for (int step = 0; step < n; ++step) {
        int best = -1;
        for (int i = 0; i < n; ++i) {
            if (!isDone[i] && (best < 0 || lists[i].count < lists[best].count)) {
                best = i;
            }
        }
        order[step] = best;
        isDone[best] = true;
        // Marks of an earlier step may refer to the same node: they are reset.
        memset(marks, 0xff, (size_t)n * sizeof *marks);
        for (int k = 0; k < lists[best].count; ++k) {
            joinNeighbors(lists, lists[best].data[k], best, marks);
        }
        rbArray_Free(lists[best]);
    }
    rbFree(lists, (size_t)n * sizeof *lists);
    rbFree(marks, (size_t)n * sizeof *marks);
    rbFree(isDone, (size_t)n * sizeof *isDone);
}

#if defined(RB_AMD)

// amd_2 is the part of AMD that works on caller-owned memory; it destroys its copy of the graph.
static void orderByAmd(const rbNodeGraph* graph, int* order)
{
    int n = graph->nodeCount, edges = graph->starts[n];
    RB_ASSERT(n >= 2);
    RB_ASSERT(edges >= 0);
    // AMD requires n beyond the edges and is faster with a fifth more.
    int room = edges + edges / 5 + n + 1;
    enum {
        LISTS = 8
    };
    int* memory = rbAllocZero((size_t)n * LISTS + (size_t)room, sizeof *memory);
    int *starts = memory, *lengths = starts + n, *next = lengths + n, *head = next + n;
    int *elements = head + n, *degrees = elements + n, *flags = degrees + n, *counts = flags + n;
    int* lists = counts + n;
    if (edges > 0) {
        memcpy(lists, graph->neighbors, (size_t)edges * sizeof *lists);
    }
    for (int i = 0; i < n; ++i) {
        starts[i] = graph->starts[i];
        lengths[i] = graph->starts[i + 1] - graph->starts[i];
    }
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    amd_2(n, starts, lists, lengths, room, edges, counts, next, order, head, elements, degrees,
          flags, control, info);
    rbFree(memory, ((size_t)n * LISTS + (size_t)room) * sizeof *memory);
}

#endif

void rbOrderNodes(const rbNodeGraph* graph, int* order)
{
    if (graph->nodeCount < 2) {
        for (int i = 0; i < graph->nodeCount; ++i) {
            order[i] = i;
        }
        return;
    }
#if defined(RB_AMD)
    orderByAmd(graph, order);
#else
    rbOrderByDegree(graph, order);
#endif
}
