// The positions of blocks in the factor of a system of rows: the symbolic half of the direct
// solver.
//
// Two blocks of rows couple when they share a dynamic body. The blocks are put into an order of
// elimination that keeps the factor sparse; columns of L then follow from the elimination tree.
#pragma once

#include "dynamics/constraints/rows.h"

// Coupling of two blocks through a body: assembly iterates over these.
typedef struct rbPatternCoupling {
    int body;
    int entry;   // of L
    int rowNode; // the later of the two in the order
    int colNode;
    double sign; // +1: on the same side of both blocks
    bool isRowB; // the body is B of the block of rowNode
    bool isColB; // and of that of colNode
} rbPatternCoupling;

typedef struct rbPattern {
    int nodeCount;  // blocks in the system, in the order of elimination
    int* blocks;    // block of each node
    int blockCount; // of the system, capacity of blocks
    int* starts;    // nodeCount + 1: entries of column j are starts[j] .. starts[j+1]-1
    int* rows;      // node of each entry, ascending within a column
    int entryCount; // strictly below the diagonal
    rbPatternCoupling* couplings;
    int couplingCount;
    int columnLongest; // entries
} rbPattern;

// isCut: blocks to omit, NULL: none.
void rbPattern_Make(rbPattern* pattern, const rbRowSystem* system, const bool* isCut);
void rbPattern_Free(rbPattern* pattern);

// Elimination orders that keep a sparse factor sparse.
//
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
