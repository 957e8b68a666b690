// The symbolic half of the direct solver, see pattern.h.
#include "dynamics/solvers/pattern.h"

#include "base/core/memory.h"

#include <string.h>

#if defined(RB_AMD)
#include <suitesparse/amd.h>
#endif

// ---------------------------------------------------------------------------------- elimination
// order

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

// -------------------------------------------------------------------------------------- pattern

// Blocks at each dynamic body, in compressed form. A block is 2 * node + (1: the body is its B).
typedef struct Incidence {
    int bodyCount;
    int* starts;
    int* sides;
    int sideCount;
} Incidence;

static int bodyOf(const rbRowBlock* block, int side)
{
    return side ? block->bodyB : block->bodyA;
}

// Nodes are numbers into nodeBlocks.
static Incidence makeIncidence(const rbRowSystem* system, const int* nodeBlocks, int nodeCount)
{
    Incidence at = {.bodyCount = system->bodyCount};
    at.starts = rbAllocZero((size_t)at.bodyCount + 1, sizeof *at.starts);
    for (int k = 0; k < 2 * nodeCount; ++k) {
        int body = bodyOf(&system->blocks[nodeBlocks[k / 2]], k % 2);
        RB_ASSERT(body >= 0 && body < at.bodyCount);
        at.starts[body + 1] += system->masses[body].isDynamic ? 1 : 0;
    }
    for (int i = 0; i < at.bodyCount; ++i) {
        at.starts[i + 1] += at.starts[i];
    }
    at.sideCount = at.starts[at.bodyCount];
    at.sides = rbAlloc((size_t)at.sideCount * sizeof *at.sides);
    int* ends = rbAlloc(((size_t)at.bodyCount + 1) * sizeof *ends);
    memcpy(ends, at.starts, ((size_t)at.bodyCount + 1) * sizeof *ends);
    for (int k = 0; k < 2 * nodeCount; ++k) {
        int body = bodyOf(&system->blocks[nodeBlocks[k / 2]], k % 2);
        if (system->masses[body].isDynamic) {
            at.sides[ends[body]++] = k;
        }
    }
    rbFree(ends, ((size_t)at.bodyCount + 1) * sizeof *ends);
    return at;
}

static void freeIncidence(Incidence* at)
{
    rbFree(at->starts, ((size_t)at->bodyCount + 1) * sizeof *at->starts);
    rbFree(at->sides, (size_t)at->sideCount * sizeof *at->sides);
}

typedef struct Graph {
    rbNodeGraph view;
    int* starts;
    RB_ARRAY(int) neighbors;
} Graph;

// Which nodes share a dynamic body.
static Graph makeGraph(const rbRowSystem* system, const int* nodeBlocks, int nodeCount,
                       const Incidence* at)
{
    Graph graph = {0};
    graph.starts = rbAllocZero((size_t)nodeCount + 1, sizeof *graph.starts);
    rbArray_Reserve(graph.neighbors, 4 * nodeCount + 1);
    int* marks = rbAlloc((size_t)nodeCount * sizeof *marks);
    for (int i = 0; i < nodeCount; ++i) {
        marks[i] = -1;
    }
    for (int i = 0; i < nodeCount; ++i) {
        marks[i] = i;
        for (int side = 0; side < 2; ++side) {
            int body = bodyOf(&system->blocks[nodeBlocks[i]], side);
            for (int k = at->starts[body]; k < at->starts[body + 1]; ++k) {
                int other = at->sides[k] / 2;
                if (marks[other] != i) {
                    marks[other] = i;
                    rbArray_Push(graph.neighbors, other);
                }
            }
        }
        graph.starts[i + 1] = graph.neighbors.count;
    }
    rbFree(marks, (size_t)nodeCount * sizeof *marks);
    graph.view = (rbNodeGraph){
        .nodeCount = nodeCount, .starts = graph.starts, .neighbors = graph.neighbors.data};
    return graph;
}

static void freeGraph(Graph* graph)
{
    rbFree(graph->starts, ((size_t)graph->view.nodeCount + 1) * sizeof *graph->starts);
    rbArray_Free(graph->neighbors);
}

// Parents in the elimination tree, by Liu's method with shortened paths.
static void makeTree(const rbNodeGraph* graph, int* parents, int* ancestors)
{
    for (int i = 0; i < graph->nodeCount; ++i) {
        parents[i] = -1;
        ancestors[i] = -1;
        for (int k = graph->starts[i]; k < graph->starts[i + 1]; ++k) {
            int j = graph->neighbors[k];
            while (j >= 0 && j < i) {
                int next = ancestors[j];
                ancestors[j] = i;
                if (next < 0) {
                    parents[j] = i;
                }
                j = next;
            }
        }
    }
}

// Row i of L has blocks where paths of the tree lead from its neighbors up to i. Rows are processed
// in ascending order, so that the entries of every column are sorted. rows NULL: only counts.
static void walkRows(const rbNodeGraph* graph, const int* parents, int* marks, int* ends, int* rows)
{
    for (int i = 0; i < graph->nodeCount; ++i) {
        marks[i] = -1;
    }
    for (int i = 0; i < graph->nodeCount; ++i) {
        marks[i] = i;
        for (int k = graph->starts[i]; k < graph->starts[i + 1]; ++k) {
            for (int j = graph->neighbors[k]; j >= 0 && j < i && marks[j] != i; j = parents[j]) {
                marks[j] = i;
                if (rows) {
                    rows[ends[j]] = i;
                }
                ++ends[j];
            }
        }
    }
}

static void makeColumns(rbPattern* pattern, const rbNodeGraph* graph)
{
    int n = pattern->nodeCount;
    size_t bytes = (size_t)n * sizeof(int);
    int *parents = rbAlloc(bytes), *marks = rbAlloc(bytes);
    int* ends = rbAllocZero((size_t)n, sizeof *ends);
    makeTree(graph, parents, marks);
    walkRows(graph, parents, marks, ends, NULL);
    pattern->starts = rbAllocZero((size_t)n + 1, sizeof *pattern->starts);
    for (int j = 0; j < n; ++j) {
        pattern->columnLongest =
            ends[j] > pattern->columnLongest ? ends[j] : pattern->columnLongest;
        pattern->starts[j + 1] = pattern->starts[j] + ends[j];
        ends[j] = pattern->starts[j];
    }
    pattern->entryCount = n > 0 ? pattern->starts[n] : 0;
    pattern->rows = rbAlloc((size_t)pattern->entryCount * sizeof *pattern->rows);
    walkRows(graph, parents, marks, ends, pattern->rows);
    rbFree(parents, bytes);
    rbFree(marks, bytes);
    rbFree(ends, bytes);
}

static int findEntry(const rbPattern* pattern, int row, int column)
{
    RB_ASSERT(row > column);
    int low = pattern->starts[column], high = pattern->starts[column + 1] - 1;
    RB_ASSERT(low <= high);
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (pattern->rows[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    RB_ASSERT(pattern->rows[low] == row);
    return low;
}

static rbPatternCoupling makeCoupling(const rbPattern* pattern, int body, int sideI, int sideJ)
{
    RB_ASSERT(sideI / 2 != sideJ / 2);
    bool isIRow = sideI / 2 > sideJ / 2;
    int row = isIRow ? sideI : sideJ, col = isIRow ? sideJ : sideI;
    return (rbPatternCoupling){.body = body,
                               .entry = findEntry(pattern, row / 2, col / 2),
                               .rowNode = row / 2,
                               .colNode = col / 2,
                               .sign = row % 2 == col % 2 ? 1.0 : -1.0,
                               .isRowB = row % 2 == 1,
                               .isColB = col % 2 == 1};
}

static void makeCouplings(rbPattern* pattern, const Incidence* at)
{
    int count = 0;
    for (int body = 0; body < at->bodyCount; ++body) {
        int n = at->starts[body + 1] - at->starts[body];
        count += n * (n - 1) / 2;
    }
    pattern->couplings = rbAlloc((size_t)count * sizeof *pattern->couplings);
    for (int body = 0; body < at->bodyCount; ++body) {
        for (int i = at->starts[body]; i < at->starts[body + 1]; ++i) {
            for (int j = at->starts[body]; j < i; ++j) {
                pattern->couplings[pattern->couplingCount++] =
                    makeCoupling(pattern, body, at->sides[i], at->sides[j]);
            }
        }
    }
    RB_ASSERT(pattern->couplingCount == count);
}

void rbPattern_Make(rbPattern* pattern, const rbRowSystem* system, const bool* isCut)
{
    *pattern = (rbPattern){.blockCount = system->blockCount};
    size_t bytes = (size_t)system->blockCount * sizeof(int);
    pattern->blocks = rbAlloc(bytes);
    int *given = rbAlloc(bytes), *order = rbAlloc(bytes), n = 0;
    for (int i = 0; i < system->blockCount; ++i) {
        RB_ASSERT(system->blocks[i].bodyA != system->blocks[i].bodyB);
        if (!isCut || !isCut[i]) {
            given[n++] = i;
        }
    }
    pattern->nodeCount = n;

    Incidence at = makeIncidence(system, given, n);
    Graph graph = makeGraph(system, given, n, &at);
    rbOrderNodes(&graph.view, order);
    freeGraph(&graph);
    freeIncidence(&at);

    // Repeats this with renumbered nodes: simpler than permuting lists.
    for (int j = 0; j < n; ++j) {
        pattern->blocks[j] = given[order[j]];
    }
    at = makeIncidence(system, pattern->blocks, n);
    graph = makeGraph(system, pattern->blocks, n, &at);
    makeColumns(pattern, &graph.view);
    makeCouplings(pattern, &at);
    freeGraph(&graph);
    freeIncidence(&at);
    rbFree(given, bytes);
    rbFree(order, bytes);
}

void rbPattern_Free(rbPattern* pattern)
{
    size_t n = (size_t)pattern->nodeCount;
    rbFree(pattern->blocks, (size_t)pattern->blockCount * sizeof *pattern->blocks);
    rbFree(pattern->starts, (n + 1) * sizeof *pattern->starts);
    rbFree(pattern->rows, (size_t)pattern->entryCount * sizeof *pattern->rows);
    rbFree(pattern->couplings, (size_t)pattern->couplingCount * sizeof *pattern->couplings);
}
