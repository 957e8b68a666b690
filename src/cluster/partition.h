// Which rank owns which part of space. Space is a fixed grid of cells; a partition assigns cells to
// ranks. Ways to partition are rows of one table. A partition decides who computes and nothing
// else: all give the same bits.
#pragma once

#include <rattleback/base.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>
#include <stdint.h>

#define RB_CELLS_PER_AXIS_MAX 1024

// Cells of equal size over a box. In directions without a period the cells at the border extend to
// infinity.
typedef struct rbCellGrid {
    rbVec3 low;         // m, corner
    rbVec3 edge;        // m, of a cell
    int counts[3];      // of cells
    bool isPeriodic[3]; // then at least three cells
} rbCellGrid;

typedef struct rbCell {
    int at[3];
} rbCell;

// A grid over a box with cells of at least an edge, m; periodicBox 0: no period in this direction.
// Refuses a period of less than three cells: a pair could meet twice.
rbStatus rbCellGrid_Init(rbCellGrid* grid, rbVec3 low, rbVec3 high, rbVec3 periodicBox,
                         double edgeMin, rbError* error);
int64_t rbCellGrid_Count(const rbCellGrid* grid);
// The cell of a position; those outside belong to the border.
rbCell rbCellGrid_Find(const rbCellGrid* grid, rbVec3 position);
// Its index, in the order of axes.
int64_t rbCellGrid_Index(const rbCellGrid* grid, rbCell cell);
// The cell at an offset of -1, 0, 1 in each direction; false: there is none.
bool rbCellGrid_Step(const rbCellGrid* grid, rbCell cell, const int* offset, rbCell* next);
// m^2, from a position in a cell to the cell at an offset of -1, 0, 1.
double rbCellGrid_DistanceSquared(const rbCellGrid* grid, rbCell cell, const int* offset,
                                  rbVec3 position);

// Bits of the coordinates of a cell interleaved: neighbors in space are near in this order.
uint64_t rbMortonCode(rbCell cell);

struct rbPartition;

typedef struct rbPartitionRow {
    const char* name;
    // Builds a partition for weights of cells, in the order of their indices; NULL: this row is not
    // built into the library, missing says why.
    void (*buildFn)(struct rbPartition* partition, const int64_t* weights);
    int (*ownerFn)(const struct rbPartition* partition, rbCell cell);
    const char* missing;
} rbPartitionRow;

extern const rbPartitionRow rbPartitionRows[];
extern const int rbPartitionRowCount;

typedef struct rbPartition {
    const rbPartitionRow* row;
    rbCellGrid grid;
    int rankCount;
    uint64_t* splits; // of Morton codes: rank r owns those from splits[r] to splits[r + 1]
    uint64_t seed;    // of random ones
} rbPartition;

// A partition by the row of this name, with equal weights; the error lists the names.
rbStatus rbPartition_Init(rbPartition* partition, const char* name, const rbCellGrid* grid,
                          int rankCount, rbError* error);
void rbPartition_Free(rbPartition* partition);
// Assigns cells to ranks anew. Weights are not negative, their sum is below 2^62; NULL: all equal.
void rbPartition_Build(rbPartition* partition, const int64_t* weights);
int rbPartition_Owner(const rbPartition* partition, rbCell cell);
