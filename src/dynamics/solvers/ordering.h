// Elimination orders that keep a sparse factor sparse.
#ifndef RB_SOLVERS_ORDERING_H
#define RB_SOLVERS_ORDERING_H

// A graph in compressed form: the neighbors of node i are neighbors[starts[i] .. starts[i+1]-1],
// each edge from both of its ends, no node its own neighbor.
typedef struct rbNodeGraph {
    int nodeCount;
    const int* starts;
    const int* neighbors;
} rbNodeGraph;

// Fills order with the nodes in the order in which to eliminate them. Approximate minimum degree
// (AMD of SuiteSparse), or with RB_AMD off exact minimum degree, slower. Allocates and frees its
// working memory.
void rbOrderNodes(const rbNodeGraph* graph, int* order);

// Exact minimum degree, whatever the build; for tests.
void rbOrderByDegree(const rbNodeGraph* graph, int* order);

#endif
