// Edges between nodes, shared by graph.c and tree.c.
#ifndef RB_SOLVERS_GRAPH_H
#define RB_SOLVERS_GRAPH_H

#include "dynamics/solvers/solver.h"

typedef struct rbGraphEdge {
    int small; // nodes
    int large;
} rbGraphEdge;

// Blocks between the same two nodes form one edge. Nodes are bodies; node bodyCount stands for all
// bodies that are not dynamic. Edges are in the order of their first blocks.
typedef struct rbEdgeList {
    int blockCount;
    int edgeCount;
    int* blockEdges; // edge of each block; -1: it touches no dynamic body
    rbGraphEdge* edges;
} rbEdgeList;

void rbEdgeList_Make(rbEdgeList* list, const rbRowSystem* system);
void rbEdgeList_Free(rbEdgeList* list);

#endif
