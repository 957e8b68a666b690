// The grid of cells, and the table of partitions: cells in Morton order, cut into pieces of equal
// weight; and random ones, which test that ownership changes no bit.
//
// Of a partition in Morton order every rank keeps the first code of each rank only, so that finding
// an owner is a search among the ranks. Building it takes the weights of all cells on every rank.
#include "cluster/partition.h"

#include "base/core/hash.h"
#include "base/core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AXES 3
// More cells only prune better: the weights of all take 8 bytes each on every rank.
#define CELLS_MAX 4194304.0

// How many cells of at least an edge fit, at least one.
static double countCells(double length, double edgeMin)
{
    return fmin(fmax(floor(length / edgeMin), 1.0), RB_CELLS_PER_AXIS_MAX);
}

static const double* axesOf(const rbVec3* v)
{
    return &v->x;
}

// -------------------------------------------------------------------------------------------- grid

rbStatus rbCellGrid_Init(rbCellGrid* grid, rbVec3 low, rbVec3 high, rbVec3 periodicBox,
                         double edgeMin, rbError* error)
{
    RB_ASSERT(edgeMin > 0.0);
    *grid = (rbCellGrid){0};
    double* lows = &grid->low.x;
    double* edges = &grid->edge.x;
    double lengths[AXES];
    for (int i = 0; i < AXES; ++i) {
        double period = axesOf(&periodicBox)[i];
        grid->isPeriodic[i] = period > 0.0;
        lows[i] = period > 0.0 ? -0.5 * period : axesOf(&low)[i];
        lengths[i] = period > 0.0 ? period : axesOf(&high)[i] - axesOf(&low)[i];
    }
    while (countCells(lengths[0], edgeMin) * countCells(lengths[1], edgeMin) *
               countCells(lengths[2], edgeMin) >
           CELLS_MAX) {
        edgeMin *= 1.125;
    }
    for (int i = 0; i < AXES; ++i) {
        double period = axesOf(&periodicBox)[i];
        double length = lengths[i];
        double count = countCells(length, edgeMin);
        grid->counts[i] = (int)count;
        edges[i] = fmax(length / count, edgeMin);
        if (period > 0.0 && grid->counts[i] < 3) {
            return rbError_Set(
                error, RB_STATUS_UNSUPPORTED,
                "the periodic box is %g m long along %c, and domains need three cells "
                "of %g m (the largest diameter and the margin): make it at least %g m",
                period, "xyz"[i], edgeMin, 3.0 * edgeMin);
        }
    }
    return RB_STATUS_OK;
}

int64_t rbCellGrid_Count(const rbCellGrid* grid)
{
    return (int64_t)grid->counts[0] * grid->counts[1] * grid->counts[2];
}

rbCell rbCellGrid_Find(const rbCellGrid* grid, rbVec3 position)
{
    rbCell cell;
    for (int i = 0; i < AXES; ++i) {
        double place = (axesOf(&position)[i] - axesOf(&grid->low)[i]) / axesOf(&grid->edge)[i];
        place = fmin(fmax(floor(place), 0.0), grid->counts[i] - 1);
        cell.at[i] = (int)place;
    }
    return cell;
}

int64_t rbCellGrid_Index(const rbCellGrid* grid, rbCell cell)
{
    return ((int64_t)cell.at[2] * grid->counts[1] + cell.at[1]) * grid->counts[0] + cell.at[0];
}

static rbCell cellAt(const rbCellGrid* grid, int64_t index)
{
    int64_t rows = index / grid->counts[0];
    return (rbCell){{(int)(index % grid->counts[0]), (int)(rows % grid->counts[1]),
                     (int)(rows / grid->counts[1])}};
}

bool rbCellGrid_Step(const rbCellGrid* grid, rbCell cell, const int* offset, rbCell* next)
{
    for (int i = 0; i < AXES; ++i) {
        int at = cell.at[i] + offset[i];
        if (at < 0 || at >= grid->counts[i]) {
            if (!grid->isPeriodic[i]) {
                return false;
            }
            at += at < 0 ? grid->counts[i] : -grid->counts[i];
        }
        next->at[i] = at;
    }
    return true;
}

double rbCellGrid_DistanceSquared(const rbCellGrid* grid, rbCell cell, const int* offset,
                                  rbVec3 position)
{
    double squares = 0.0;
    for (int i = 0; i < AXES; ++i) {
        double edge = axesOf(&grid->edge)[i];
        double inside = axesOf(&position)[i] - (axesOf(&grid->low)[i] + cell.at[i] * edge);
        double d = offset[i] < 0 ? inside : edge - inside;
        d = offset[i] == 0 ? 0.0 : fmax(d, 0.0);
        squares += d * d;
    }
    return squares;
}

// Spreads 21 bits: two zeros between each and the next.
static uint64_t spread(uint64_t x)
{
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

uint64_t rbMortonCode(rbCell cell)
{
    return spread((uint64_t)cell.at[0]) | spread((uint64_t)cell.at[1]) << 1 |
           spread((uint64_t)cell.at[2]) << 2;
}

// ------------------------------------------------------------------------------------ Morton order

typedef struct WeightedCell {
    uint64_t code;
    int64_t weight;
} WeightedCell;

static int compareCodes(const void* a, const void* b)
{
    uint64_t x = ((const WeightedCell*)a)->code;
    uint64_t y = ((const WeightedCell*)b)->code;
    return (x > y) - (x < y);
}

// total r / count, rounded down, without overflow.
static int64_t shareOf(int64_t total, int r, int count)
{
    return total / count * r + total % count * r / count;
}

// Rank r begins at the first cell whose middle, in the sum of weights, is at or after r shares.
static void buildMorton(rbPartition* partition, const int64_t* weights)
{
    int64_t count = rbCellGrid_Count(&partition->grid);
    size_t size = (size_t)count * sizeof(WeightedCell);
    WeightedCell* cells = rbAlloc(size);
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i) {
        cells[i].code = rbMortonCode(cellAt(&partition->grid, i));
        cells[i].weight = weights != NULL ? weights[i] : 1;
        RB_ASSERT(cells[i].weight >= 0);
        total += cells[i].weight;
    }
    qsort(cells, (size_t)count, sizeof *cells, compareCodes);
    int64_t before = 0;
    int64_t cell = 0;
    partition->splits[0] = 0;
    for (int r = 1; r < partition->rankCount; ++r) {
        int64_t share = shareOf(total, r, partition->rankCount);
        while (cell < count && before + cells[cell].weight / 2 < share) {
            before += cells[cell++].weight;
        }
        partition->splits[r] = cell < count ? cells[cell].code : UINT64_MAX;
    }
    partition->splits[partition->rankCount] = UINT64_MAX;
    rbFree(cells, size);
}

static int ownerMorton(const rbPartition* partition, rbCell cell)
{
    uint64_t code = rbMortonCode(cell);
    int low = 0; // the last rank whose first code is not above
    int high = partition->rankCount;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (partition->splits[middle] <= code) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// ------------------------------------------------------------------------------------ random order

static void buildRandom(rbPartition* partition, const int64_t* weights)
{
    (void)weights;
    ++partition->seed;
}

static int ownerRandom(const rbPartition* partition, rbCell cell)
{
    uint64_t hash = rbHashBytes(partition->seed, cell.at, sizeof cell.at);
    return (int)(hash % (uint64_t)partition->rankCount);
}

// ------------------------------------------------------------------------------------------- table

const rbPartitionRow rbPartitionRows[] = {
    {.name = "morton", .buildFn = buildMorton, .ownerFn = ownerMorton},
    {.name = "random", .buildFn = buildRandom, .ownerFn = ownerRandom},
    {.name = "p4est",
     .missing = "the library p4est (GPL-2 or later) is an option that is not written yet"},
};
const int rbPartitionRowCount = (int)(sizeof rbPartitionRows / sizeof rbPartitionRows[0]);

static const rbPartitionRow* findRow(const char* name)
{
    for (int i = 0; i < rbPartitionRowCount; ++i) {
        if (strcmp(rbPartitionRows[i].name, name) == 0) {
            return &rbPartitionRows[i];
        }
    }
    return NULL;
}

rbStatus rbPartition_Init(rbPartition* partition, const char* name, const rbCellGrid* grid,
                          int rankCount, rbError* error)
{
    const rbPartitionRow* row = findRow(name);
    if (row == NULL) {
        return rbError_Set(error, RB_STATUS_NOT_FOUND,
                           "there is no partition \"%.40s\"; there are morton and random", name);
    }
    if (row->buildFn == NULL) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "the partition \"%s\" is not built: %s; use \"morton\"", name,
                           row->missing);
    }
    *partition = (rbPartition){.row = row, .grid = *grid, .rankCount = rankCount};
    partition->splits = rbAllocZero((size_t)rankCount + 1, sizeof(uint64_t));
    rbPartition_Build(partition, NULL);
    return RB_STATUS_OK;
}

void rbPartition_Free(rbPartition* partition)
{
    rbFree(partition->splits, ((size_t)partition->rankCount + 1) * sizeof(uint64_t));
    *partition = (rbPartition){0};
}

void rbPartition_Build(rbPartition* partition, const int64_t* weights)
{
    partition->row->buildFn(partition, weights);
}

int rbPartition_Owner(const rbPartition* partition, rbCell cell)
{
    return partition->row->ownerFn(partition, cell);
}
