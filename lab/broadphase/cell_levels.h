// Grids of cubic cells, each twice as wide as the one below, and the choice of the finest (L-84).
//
// Level 0 is the finest (the specification counts from the coarsest); the cells of level l are
// base * 2^l wide, and a box lives on the finest level whose cells are at least as wide as its
// longest edge: alpha = 1/2, beta = 1 of L-84, measured by the edge instead of the diagonal. Boxes
// smaller than base live on level 0 too, boxes larger than the coarsest cells are giants and live
// in a plain list.
//
// The cell of a coordinate is a chain of monotone operations (product, floor, clamp), so rounding
// does not change the order, and coordinates beyond 2^51 cells share the outermost one. Scaling by
// two is exact, so the grids are nested: the cell on level l + 1 is that on level l halved.
#pragma once

#include "base/math/float_bits.h"
#include "collision/broadphase/broad_phase.h"

// Levels of cells; boxes more than 2^47 times as large as the finest cell are giants.
#define RB_LEVEL_COUNT 48
// Cells are wider than the typical edge by this factor: edges of equal boxes differ in their last
// bits once they move, and must not be spread over two levels.
#define RB_EDGE_ROOM (1.0 + 0x1p-6)
// Cells beyond this, in both directions, are merged into one.
#define RB_CELL_LIMIT (INT64_C(1) << 51)
// The level of giants.
#define RB_LEVEL_GIANT RB_LEVEL_COUNT

typedef struct rbCellLevels {
    double base;    // m, width of the finest cells; 0: not chosen yet
    double inverse; // 1/m
} rbCellLevels;

// A block of cells, both ends included.
typedef struct rbCellRange {
    int64_t lower[3], upper[3];
} rbCellRange;

static inline double rbGetLongestEdge(const rbBounds* box)
{
    double x = box->upper.x - box->lower.x, y = box->upper.y - box->lower.y;
    double z = box->upper.z - box->lower.z;
    double longest = x > y ? x : y;
    return longest > z ? longest : z;
}

#define RB_EDGE_SAMPLES 512

// Longest edges of up to RB_EDGE_SAMPLES of count boxes with numbers below idEnd, ascending; isIn:
// which numbers have a box, NULL: all. Returns how many.
int rbSampleEdges(const rbBounds* boxes, const uint8_t* isIn, int count, int idEnd,
                  double edges[RB_EDGE_SAMPLES]);

// An edge that most boxes do not exceed by much: the largest if it is less than twice the median.
double rbFindCommonEdge(const rbBroadPhase* broad);

// Chooses the width of the finest cells for the boxes present. O(n), or O(n log) where sizes differ
// by decades. counters is scratch.
double rbChooseCellSize(const rbBroadPhase* broad, rbIdList* counters);

rbCellLevels rbMakeCellLevels(double base);

// The finest level whose cells are at least as wide as an edge.
static inline int rbFindLevel(const rbCellLevels* levels, double edge)
{
    if (edge <= levels->base) {
        return 0;
    }
    double ratio = edge * levels->inverse; // about 1 or more
    int level = (int)((rbBitsOf(ratio) >> 52) & 0x7ff) - 1023;
    level = level > 0 ? level : 0;
    while (level < RB_LEVEL_COUNT && levels->base * rbPowerOfTwo(level) < edge) {
        ++level;
    }
    return level < RB_LEVEL_COUNT ? level : RB_LEVEL_GIANT;
}

static inline double rbGetCellWidth(const rbCellLevels* levels, int level)
{
    return levels->base * rbPowerOfTwo(level);
}

static inline double rbGetInverseWidth(const rbCellLevels* levels, int level)
{
    return levels->inverse * rbPowerOfTwo(-level);
}

static inline int64_t rbFindCell(double x, double inverseWidth)
{
    const double limit = (double)RB_CELL_LIMIT;
    double cell = floor(x * inverseWidth);
    cell = cell < limit ? cell : limit;
    return (int64_t)(cell > -limit ? cell : -limit);
}

// The cells that a box overlaps when it is extended downward by an amount.
static inline rbCellRange rbFindCells(const rbBounds* box, double down, double inverseWidth)
{
    return (rbCellRange){{rbFindCell(box->lower.x - down, inverseWidth),
                          rbFindCell(box->lower.y - down, inverseWidth),
                          rbFindCell(box->lower.z - down, inverseWidth)},
                         {rbFindCell(box->upper.x, inverseWidth),
                          rbFindCell(box->upper.y, inverseWidth),
                          rbFindCell(box->upper.z, inverseWidth)}};
}

// The hash of L-84, (x + 1000 y + 10^6 z), maps shifted cells to overlapping short runs; this one
// mixes all bits, and unsigned arithmetic keeps it non-negative.
static inline uint64_t rbHashCell(int64_t x, int64_t y, int64_t z, int level)
{
    uint64_t h = (uint64_t)x * 0x9E3779B97F4A7C15u + (uint64_t)y * 0xC2B2AE3D27D4EB4Fu +
                 (uint64_t)z * 0x165667B19E3779F9u + (uint64_t)level * 0xD6E8FEB86659FD93u;
    h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93u;
    return h ^ (h >> 32);
}
