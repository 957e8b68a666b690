// Islands by union-find, levels by breadth-first search (B-73).
//
// Level = distance from what stands still; a contact belongs to the higher level of its two bodies.
// Putting all bodies of a cycle on one level, as the publication does, makes a wall of bricks a
// single level.
//
// Per-body memory is one int, kept clean by undoing: with 100,000 bodies and ten contacts only
// twenty of them are touched. Everything else is indexed by node, a movable body that has an edge.
// Nodes are in the order of bodies, so that no result depends on the order of the edges, except
// where stated.
#include "dynamics/contact/contact_graph.h"

#include "base/core/disjoint_sets.h"
#include "base/core/tasks.h"
#include "collision/broadphase/broad_phase.h"

#include <rattleback/base.h>

#include <string.h>

#define NONE (-1)
#define EDGES_LEAST 256 // of a block

typedef struct Edge {
    int a; // nodes; NONE: an immovable body
    int b;
} Edge;

#define GRAPH_ARRAYS(X)                                                    \
    X(int, nodes)   /* by body: its node, NONE where it has none */        \
    X(int, bodies)  /* by node, ascending */                               \
    X(int, scratch) /* of distribute: where the next item of a key goes */ \
    X(Edge, ends)   /* bodies of contacts, then links */                   \
    X(Edge, edges)  /* the same as nodes */                                \
    X(int, parents) /* by node: union-find, then its island */             \
    X(int, levels)  /* by node */                                          \
    X(int, starts)  /* by node: first of its neighbors */                  \
    X(int, neighbors)                                                      \
    X(int, queue)                                                          \
    X(int, keys)          /* of distribute */                              \
    X(int, byLevel)       /* contacts */                                   \
    X(int, contacts)      /* by island, then level, then as in the set */  \
    X(int, islandBodies)  /* by island, then ascending */                  \
    X(int, contactStarts) /* by island, one more at the end */             \
    X(int, bodyStarts)    /* the same */                                   \
    X(bool, grounded)     /* by island */

#define DECLARE_ARRAY(type, name) RB_ARRAY(type) name;
#define FREE_ARRAY(type, name) rbArray_Free(graph->name);

struct rbContactGraph {
    GRAPH_ARRAYS(DECLARE_ARRAY)
    int contactCount; // the first of the edges
    int islandCount;
};

rbContactGraph* rbCreateContactGraph(void)
{
    return rbAllocZero(1, sizeof(rbContactGraph));
}

void rbDestroyContactGraph(rbContactGraph* graph)
{
    if (graph == NULL) {
        return;
    }
    GRAPH_ARRAYS(FREE_ARRAY)
    rbFree(graph, sizeof *graph);
}

// Sorts the numbers of items by their keys below keyCount, NONE: left out; stable. starts receives
// where each key starts, one more at the end.
static void distribute(rbContactGraph* graph, int keyCount, int* starts, int* sorted)
{
    const int* keys = graph->keys.data;
    rbArray_SetCount(graph->scratch, keyCount + 1);
    int* next = graph->scratch.data;
    memset(starts, 0, (size_t)(keyCount + 1) * sizeof *starts);
    for (int i = 0; i < graph->keys.count; ++i) {
        starts[keys[i] + 1] += keys[i] != NONE ? 1 : 0;
    }
    for (int i = 0; i < keyCount; ++i) {
        starts[i + 1] += starts[i];
    }
    memcpy(next, starts, (size_t)(keyCount + 1) * sizeof *starts);
    for (int i = 0; i < graph->keys.count; ++i) {
        if (keys[i] != NONE) {
            sorted[next[keys[i]]++] = i;
        }
    }
}

// ------------------------------------------------------------------------------------- nodes

// Registers a body that has an edge, unless it is NONE. Its node is assigned later.
static void addBody(rbContactGraph* graph, int body)
{
    if (body != NONE && graph->nodes.data[body] == NONE) {
        graph->nodes.data[body] = 0;
        rbArray_Push(graph->bodies, body);
    }
}

// Ascending: linear. Bodies of contacts mostly come in order; then nothing is done.
static void sortBodies(rbContactGraph* graph)
{
    int count = graph->bodies.count;
    bool isSorted = true;
    for (int i = 1; i < count; ++i) {
        isSorted = isSorted && graph->bodies.data[i - 1] < graph->bodies.data[i];
    }
    rbArray_SetCount(graph->islandBodies, count); // not in use yet: memory of the sort
    if (!isSorted) {
        rbIdList scratch = {graph->islandBodies.data, 0, graph->islandBodies.capacity};
        rbIdList_Sort(&(rbIdList){graph->bodies.data, count, count}, 0, &scratch);
    }
    RB_VALIDATE(count == 0 || graph->bodies.data[0] <= graph->bodies.data[count - 1]);
}

// The edges of contacts and links, between bodies.
typedef struct Ends {
    rbContactGraph* graph;
    const rbContactSet* set;
    const rbContactBody* bodies;
    const int (*links)[2];
} Ends;

static int findEnd(const Ends* ends, int body)
{
    RB_ASSERT(body < ends->graph->nodes.count);
    return body < 0 || !rbContactBody_HasMass(&ends->bodies[body]) ? NONE : body;
}

// Returns whether it is new.
static double findEnds(const void* context, int index)
{
    const Ends* ends = context;
    int count = ends->set->contactCount;
    const rbContact* contact = index < count ? &ends->set->contacts[index] : NULL;
    bool isIdle = contact != NULL && contact->isIdle;
    int a = contact != NULL ? contact->bodyA : ends->links[index - count][0];
    int b = contact != NULL ? contact->bodyB : ends->links[index - count][1];
    Edge edge = {isIdle ? NONE : findEnd(ends, a), isIdle ? NONE : findEnd(ends, b)};
    Edge* known = &ends->graph->ends.data[index];
    bool isNew = known->a != edge.a || known->b != edge.b;
    *known = edge;
    return isNew;
}

static void addEdges(rbContactGraph* graph)
{
    rbArray_SetCount(graph->edges, graph->ends.count);
    for (int i = 0; i < graph->ends.count; ++i) {
        addBody(graph, graph->ends.data[i].a);
        addBody(graph, graph->ends.data[i].b);
    }
    sortBodies(graph);
    for (int i = 0; i < graph->bodies.count; ++i) {
        graph->nodes.data[graph->bodies.data[i]] = i;
    }
    for (int i = 0; i < graph->ends.count; ++i) {
        Edge end = graph->ends.data[i];
        graph->edges.data[i] = (Edge){end.a == NONE ? NONE : graph->nodes.data[end.a],
                                      end.b == NONE ? NONE : graph->nodes.data[end.b]};
    }
}

// ----------------------------------------------------------------------------------- islands

// The root of an island is its smallest node. Afterward parents hold islands.
static void findIslands(rbContactGraph* graph)
{
    int count = graph->bodies.count;
    rbArray_SetCount(graph->parents, count);
    int* parents = graph->parents.data;
    for (int i = 0; i < count; ++i) {
        parents[i] = i;
    }
    for (int i = 0; i < graph->edges.count; ++i) {
        Edge edge = graph->edges.data[i];
        if (edge.a != NONE && edge.b != NONE) {
            (void)rbSets_Join(parents, edge.a, edge.b);
        }
    }
    graph->islandCount = 0;
    graph->grounded.count = 0;
    for (int i = 0; i < count; ++i) {
        // A parent is a smaller node, so its island is known.
        RB_ASSERT(parents[i] <= i);
        parents[i] = parents[i] == i ? graph->islandCount++ : parents[parents[i]];
    }
    rbArray_Fill(graph->grounded, graph->islandCount, false);
    for (int i = 0; i < graph->edges.count; ++i) {
        Edge edge = graph->edges.data[i];
        if ((edge.a == NONE) != (edge.b == NONE)) {
            graph->grounded.data[parents[edge.a != NONE ? edge.a : edge.b]] = true;
        }
    }
}

static void gatherBodies(rbContactGraph* graph)
{
    int count = graph->bodies.count;
    rbArray_SetCount(graph->bodyStarts, graph->islandCount + 1);
    rbArray_SetCount(graph->islandBodies, count);
    rbArray_Assign(graph->keys, graph->parents.data, count);
    distribute(graph, graph->islandCount, graph->bodyStarts.data, graph->islandBodies.data);
    for (int i = 0; i < count; ++i) {
        graph->islandBodies.data[i] = graph->bodies.data[graph->islandBodies.data[i]];
    }
}

// ------------------------------------------------------------------------------------ levels

// Items are the ends of edges, two by two: the neighbor at an end is the node at the other one.
static void gatherNeighbors(rbContactGraph* graph)
{
    int count = graph->bodies.count;
    int ends = 2 * graph->edges.count;
    rbArray_SetCount(graph->starts, count + 1);
    rbArray_SetCount(graph->keys, ends);
    rbArray_SetCount(graph->neighbors, ends);
    for (int i = 0; i < graph->edges.count; ++i) {
        Edge edge = graph->edges.data[i];
        bool isInner = edge.a != NONE && edge.b != NONE;
        int* keys = &graph->keys.data[(size_t)2 * (size_t)i];
        keys[0] = isInner ? edge.a : NONE;
        keys[1] = isInner ? edge.b : NONE;
    }
    distribute(graph, count, graph->starts.data, graph->neighbors.data);
    for (int k = 0; k < graph->starts.data[count]; ++k) {
        graph->neighbors.data[k] = graph->keys.data[graph->neighbors.data[k] ^ 1];
    }
}

// Continues the search from the entries of the queue.
static void walk(rbContactGraph* graph, int head)
{
    int* levels = graph->levels.data;
    for (; head < graph->queue.count; ++head) {
        int node = graph->queue.data[head];
        for (int k = graph->starts.data[node]; k < graph->starts.data[node + 1]; ++k) {
            int other = graph->neighbors.data[k];
            if (levels[other] == NONE) {
                levels[other] = levels[node] + 1;
                graph->queue.data[graph->queue.count++] = other;
            }
        }
    }
}

// Level 1 for nodes with an edge of a range to an immovable body, then onward from there.
static void walkFromGround(rbContactGraph* graph, int first, int end)
{
    int head = graph->queue.count;
    for (int i = first; i < end; ++i) {
        Edge edge = graph->edges.data[i];
        int node = edge.a == NONE ? edge.b : edge.a;
        bool isGround = edge.a == NONE || edge.b == NONE;
        if (isGround && node != NONE && graph->levels.data[node] == NONE) {
            graph->levels.data[node] = 1;
            graph->queue.data[graph->queue.count++] = node;
        }
    }
    walk(graph, head);
}

// Standing on something takes precedence over hanging on the world: a ball on a rod that strikes a
// wall carries none of it.
static void findLevels(rbContactGraph* graph)
{
    int count = graph->bodies.count;
    rbArray_SetCount(graph->levels, count);
    rbArray_Reserve(graph->queue, count);
    graph->queue.count = 0;
    int* levels = graph->levels.data;
    for (int i = 0; i < count; ++i) {
        levels[i] = NONE;
    }
    walkFromGround(graph, 0, graph->contactCount);
    walkFromGround(graph, graph->contactCount, graph->edges.count);
    for (int i = 0; i < count; ++i) {
        if (levels[i] == NONE) { // the smallest body of an island that nothing holds
            int head = graph->queue.count;
            levels[i] = 0;
            graph->queue.data[graph->queue.count++] = i;
            walk(graph, head);
        }
    }
    RB_ASSERT(graph->queue.count == count);
}

// Returns the highest; the keys are the levels.
static int writeLevels(rbContactGraph* graph, rbContactSet* set)
{
    int max = 0;
    rbArray_SetCount(graph->keys, set->contactCount);
    for (int i = 0; i < set->contactCount; ++i) {
        Edge edge = graph->edges.data[i];
        int a = edge.a != NONE ? graph->levels.data[edge.a] : 0;
        int b = edge.b != NONE ? graph->levels.data[edge.b] : 0;
        set->contacts[i].level = a > b ? a : b;
        graph->keys.data[i] = set->contacts[i].level;
        max = set->contacts[i].level > max ? set->contacts[i].level : max;
    }
    return max;
}

// Two stable distributions: by level, then by island.
static void orderContacts(rbContactGraph* graph, rbContactSet* set)
{
    int count = set->contactCount;
    int max = writeLevels(graph, set);
    rbArray_SetCount(graph->starts, max + 2);
    rbArray_SetCount(graph->byLevel, count);
    distribute(graph, max + 1, graph->starts.data, graph->byLevel.data);
    for (int k = 0; k < count; ++k) {
        Edge edge = graph->edges.data[graph->byLevel.data[k]];
        int node = edge.a != NONE ? edge.a : edge.b;
        graph->keys.data[k] = node != NONE ? graph->parents.data[node] : NONE;
    }
    rbArray_SetCount(graph->contactStarts, graph->islandCount + 1);
    rbArray_SetCount(graph->contacts, count + 1); // never NULL
    distribute(graph, graph->islandCount, graph->contactStarts.data, graph->contacts.data);
    for (int k = 0; k < graph->contactStarts.data[graph->islandCount]; ++k) {
        graph->contacts.data[k] = graph->byLevel.data[graph->contacts.data[k]];
    }
}

int rbContactGraph_Build(rbContactGraph* graph, rbContactSet* set, const rbContactBody* bodies,
                         int bodyCount, const int (*links)[2], int linkCount)
{
    RB_ASSERT(graph != NULL && set != NULL && bodyCount >= 0);
    RB_ASSERT(linkCount == 0 || links != NULL);
    Ends ends = {graph, set, bodies, links};
    int count = set->contactCount + linkCount;
    bool isSame = graph->ends.count == count && graph->contactCount == set->contactCount;
    rbArray_Fill(graph->nodes, bodyCount, NONE);
    rbArray_SetCount(graph->ends, count);
    isSame = rbRunElements(count, EDGES_LEAST, findEnds, &ends).sum == 0.0 && isSame;
    if (isSame && count > 0) { // so are islands and levels
        (void)writeLevels(graph, set);
        return graph->islandCount;
    }
    graph->contactCount = set->contactCount;
    for (int i = 0; i < graph->bodies.count; ++i) {
        graph->nodes.data[graph->bodies.data[i]] = NONE;
    }
    graph->bodies.count = 0;
    addEdges(graph);
    findIslands(graph);
    gatherBodies(graph);
    gatherNeighbors(graph);
    findLevels(graph);
    orderContacts(graph, set);
    return graph->islandCount;
}

rbContactIsland rbContactGraph_GetIsland(const rbContactGraph* graph, int index)
{
    RB_ASSERT(index >= 0 && index < graph->islandCount);
    int firstContact = graph->contactStarts.data[index];
    int firstBody = graph->bodyStarts.data[index];
    return (rbContactIsland){
        .contacts = graph->contacts.data + firstContact,
        .contactCount = graph->contactStarts.data[index + 1] - firstContact,
        .bodies = graph->islandBodies.data + firstBody,
        .bodyCount = graph->bodyStarts.data[index + 1] - firstBody,
        .isGrounded = graph->grounded.data[index],
    };
}

int rbContactGraph_FindIsland(const rbContactGraph* graph, int body)
{
    RB_ASSERT(body >= 0);
    int node = body < graph->nodes.count ? graph->nodes.data[body] : NONE;
    return node == NONE ? -1 : graph->parents.data[node];
}
