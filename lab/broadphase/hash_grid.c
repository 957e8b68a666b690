// Static hierarchical hashing (L-84, G-04): levels of cells by the size of boxes, looked up at each
// query.
//
// A box lives in one cell of its level, that of its lower corner. A box that overlaps a query has
// its lower corner between the lower corner of the query less one cell width and the upper corner:
// 27 cells for boxes as large as a cell. (L-84 stores a box in all of its cells, up to eight; with
// ten partners that would read more than twice as much, and move eight entries.) On each level a
// query visits the bricks in its range or all bricks of the level, whichever is fewer. (L-84 finds
// all pairs by searching the own level and the coarser ones only; the engines ask box by box.)
//
// Cells are grouped in bricks of 4 x 4 x 4, which are hashed; the cells of a query lie in three or
// four bricks on average. A brick holds its boxes in one array sorted by cell, as floats
// (rbFloatBox), so that exact boxes are read only when floats are equal. Cells that are neighbors
// in x are neighbors in the array: a query reads about 13 short runs, prefetched, because at 1e5
// boxes half of the cost is waiting for memory. A box that changes cells shifts half of its brick,
// about 40 boxes.
//
// Tried and dropped: boxes of a cell chained by number, which spreads a query over more cache lines
// and pages, and was 5 % slower at 1e5 boxes.
#include "lab/broadphase/broad_rows.h"
#include "lab/broadphase/cell_levels.h"

#include <string.h>

#define BRICK_SHIFT 2
#define BRICK_CELLS 64
// Places of a brick fit into 16 bits; more boxes than that are stored with the giants.
#define BRICK_BOXES_MAX 65535
#define RUNS_MAX 64
#define BATCH_MAX 8
// Arrays of bricks have 8 << class places.
#define CLASS_COUNT 14
// In multiples of the boxes present: the choice of cells is reconsidered after this many moves.
#define MOVES_PER_CHOICE 64

typedef struct rbBrick {
    int64_t at[3]; // cell coordinates / 4, rounded down
    int32_t level;
    int32_t count;        // boxes in the brick; 0: the brick is free
    int32_t nextInBucket; // or next free brick
    int32_t nextOfLevel, previousOfLevel;
    int32_t first;     // of its places
    int32_t sizeClass; // of its places
} rbBrick;

// Boxes of cell c are at places starts[c] .. starts[c + 1] - 1 of the brick.
typedef struct rbBrickCells {
    uint16_t starts[BRICK_CELLS + 1];
} rbBrickCells;

// The location of a box.
typedef struct rbHome {
    int32_t brick; // RB_BROAD_NONE: with the giants
    int32_t cell;  // in the brick; of a giant: place in the list
} rbHome;

typedef struct rbHashGrid {
    rbCellLevels levels;
    bool isFixed; // the caller gave the cell size
    int countAtChoice;
    int64_t movesSinceChoice;
    rbHome* homes; // by id
    int homeCapacity;
    rbFloatBox* places; // boxes of bricks; the fourth lane of lower is the number
    int placeCapacity;
    int placeEnd;
    int32_t freeFirst1[CLASS_COUNT]; // first place + 1 of free arrays, linked by their numbers
    rbBrick* bricks;
    rbBrickCells* cells; // by brick
    int brickCapacity;
    int brickEnd;  // bricks used so far
    int freeBrick; // first of the free ones
    int brickCount;
    int32_t* buckets;   // first brick, by hash
    int bucketCapacity; // a power of two
    int firstOfLevel[RB_LEVEL_COUNT], bricksOfLevel[RB_LEVEL_COUNT];
    int levelEnd; // coarser levels are empty
    rbIdList giants;
    rbIdList counters; // scratch of the choice
} rbHashGrid;

// Numbers live in the free lane of a float box.
static inline int32_t getId(const rbFloatBox* box)
{
    return rbGetLane(&box->lower[3]);
}

static void start(rbBroadPhase* broad, double cellSize)
{
    rbHashGrid* grid = broad->state;
    grid->isFixed = cellSize > 0.0;
    grid->levels = rbMakeCellLevels(grid->isFixed ? RB_EDGE_ROOM * cellSize : 1.0);
    grid->freeBrick = RB_BROAD_NONE;
    for (int level = 0; level < RB_LEVEL_COUNT; ++level) {
        grid->firstOfLevel[level] = RB_BROAD_NONE;
    }
}

static void stop(rbBroadPhase* broad)
{
    rbHashGrid* grid = broad->state;
    rbFree(grid->homes, (size_t)grid->homeCapacity * sizeof *grid->homes);
    rbFree(grid->places, (size_t)grid->placeCapacity * sizeof *grid->places);
    rbFree(grid->bricks, (size_t)grid->brickCapacity * sizeof *grid->bricks);
    rbFree(grid->cells, (size_t)grid->brickCapacity * sizeof *grid->cells);
    rbFree(grid->buckets, (size_t)grid->bucketCapacity * sizeof *grid->buckets);
    rbIdList_Free(&grid->giants);
    rbIdList_Free(&grid->counters);
}

// -------------------------------------------------------------------------------- places of bricks

static int32_t takePlaces(rbHashGrid* grid, int sizeClass)
{
    int32_t first = grid->freeFirst1[sizeClass] - 1;
    if (first >= 0) {
        grid->freeFirst1[sizeClass] = getId(&grid->places[first]);
        return first;
    }
    first = grid->placeEnd;
    grid->placeEnd += 8 << sizeClass;
    grid->places =
        rbGrowArray(grid->places, &grid->placeCapacity, grid->placeEnd, sizeof *grid->places);
    return first;
}

static void givePlaces(rbHashGrid* grid, int32_t first, int sizeClass)
{
    rbSetLane(&grid->places[first].lower[3], grid->freeFirst1[sizeClass]);
    grid->freeFirst1[sizeClass] = first + 1;
}

// Doubles the places of a brick.
static void growBrick(rbHashGrid* grid, rbBrick* brick)
{
    RB_ASSERT(brick->sizeClass + 1 < CLASS_COUNT);
    int32_t first = takePlaces(grid, brick->sizeClass + 1);
    memcpy(&grid->places[first], &grid->places[brick->first],
           (size_t)brick->count * sizeof *grid->places);
    givePlaces(grid, brick->first, brick->sizeClass);
    brick->first = first;
    ++brick->sizeClass;
}

// ------------------------------------------------------------------------------------------ bricks

static int32_t* getBucket(const rbHashGrid* grid, const int64_t at[3], int level)
{
    uint64_t mask = (uint64_t)grid->bucketCapacity - 1;
    return &grid->buckets[rbHashCell(at[0], at[1], at[2], level) & mask];
}

static inline bool isBrick(const rbBrick* brick, const int64_t at[3], int level)
{
    return brick->at[0] == at[0] && brick->at[1] == at[1] && brick->at[2] == at[2] &&
           brick->level == level;
}

static int findBrick(const rbHashGrid* grid, const int64_t at[3], int level)
{
    if (grid->bucketCapacity == 0) {
        return RB_BROAD_NONE;
    }
    int32_t b = *getBucket(grid, at, level);
    while (b != RB_BROAD_NONE && !isBrick(&grid->bricks[b], at, level)) {
        b = grid->bricks[b].nextInBucket;
    }
    return b;
}

// Doubles the buckets and rehashes all bricks.
static void growBuckets(rbHashGrid* grid)
{
    int capacity = grid->bucketCapacity > 0 ? 2 * grid->bucketCapacity : 64;
    rbFree(grid->buckets, (size_t)grid->bucketCapacity * sizeof *grid->buckets);
    grid->buckets = rbAlloc((size_t)capacity * sizeof *grid->buckets);
    grid->bucketCapacity = capacity;
    memset(grid->buckets, 0xff, (size_t)capacity * sizeof *grid->buckets);
    for (int b = 0; b < grid->brickEnd; ++b) {
        rbBrick* brick = &grid->bricks[b];
        if (brick->count > 0) {
            int32_t* bucket = getBucket(grid, brick->at, brick->level);
            brick->nextInBucket = *bucket;
            *bucket = b;
        }
    }
}

static int takeBrick(rbHashGrid* grid)
{
    int b = grid->freeBrick;
    if (b != RB_BROAD_NONE) {
        grid->freeBrick = grid->bricks[b].nextInBucket;
        return b;
    }
    if (grid->brickEnd == grid->brickCapacity) {
        int capacity = grid->brickCapacity;
        grid->bricks =
            rbGrowArray(grid->bricks, &capacity, grid->brickEnd + 1, sizeof *grid->bricks);
        capacity = grid->brickCapacity;
        grid->cells = rbGrowArray(grid->cells, &capacity, grid->brickEnd + 1, sizeof *grid->cells);
        grid->brickCapacity = capacity;
    }
    return grid->brickEnd++;
}

static int makeBrick(rbHashGrid* grid, const int64_t at[3], int level)
{
    if (grid->brickCount >= grid->bucketCapacity) {
        growBuckets(grid);
    }
    int b = takeBrick(grid);
    rbBrick* brick = &grid->bricks[b];
    memset(&grid->cells[b], 0, sizeof grid->cells[b]);
    int32_t* bucket = getBucket(grid, at, level);
    *brick = (rbBrick){.at = {at[0], at[1], at[2]},
                       .level = level,
                       .nextInBucket = *bucket,
                       .nextOfLevel = grid->firstOfLevel[level],
                       .previousOfLevel = RB_BROAD_NONE,
                       .first = takePlaces(grid, 0)};
    *bucket = b;
    if (brick->nextOfLevel != RB_BROAD_NONE) {
        grid->bricks[brick->nextOfLevel].previousOfLevel = b;
    }
    grid->firstOfLevel[level] = b;
    ++grid->bricksOfLevel[level];
    ++grid->brickCount;
    grid->levelEnd = level >= grid->levelEnd ? level + 1 : grid->levelEnd;
    return b;
}

static void freeBrick(rbHashGrid* grid, int b)
{
    rbBrick* brick = &grid->bricks[b];
    RB_ASSERT(brick->count == 0);
    int32_t* link = getBucket(grid, brick->at, brick->level);
    while (*link != b) {
        link = &grid->bricks[*link].nextInBucket;
    }
    *link = brick->nextInBucket;
    if (brick->nextOfLevel != RB_BROAD_NONE) {
        grid->bricks[brick->nextOfLevel].previousOfLevel = brick->previousOfLevel;
    }
    if (brick->previousOfLevel != RB_BROAD_NONE) {
        grid->bricks[brick->previousOfLevel].nextOfLevel = brick->nextOfLevel;
    } else {
        grid->firstOfLevel[brick->level] = brick->nextOfLevel;
    }
    --grid->bricksOfLevel[brick->level];
    --grid->brickCount;
    givePlaces(grid, brick->first, brick->sizeClass);
    brick->nextInBucket = grid->freeBrick;
    grid->freeBrick = b;
}

// ------------------------------------------------------------------------------------------- boxes

static inline int findCellInBrick(const int64_t cell[3])
{
    const int64_t mask = (1 << BRICK_SHIFT) - 1;
    return (int)((((cell[2] & mask) << (2 * BRICK_SHIFT)) | ((cell[1] & mask) << BRICK_SHIFT)) |
                 (cell[0] & mask));
}

// The cell of the lower corner.
static void findHomeCell(const rbHashGrid* grid, const rbBounds* box, int level, int64_t cell[3])
{
    double inverse = rbGetInverseWidth(&grid->levels, level);
    cell[0] = rbFindCell(box->lower.x, inverse);
    cell[1] = rbFindCell(box->lower.y, inverse);
    cell[2] = rbFindCell(box->lower.z, inverse);
}

static void attachGiant(rbHashGrid* grid, int id)
{
    grid->homes[id] = (rbHome){RB_BROAD_NONE, grid->giants.count};
    rbIdList_Push(&grid->giants, id);
}

static void attach(rbHashGrid* grid, int id, const rbBounds* box)
{
    int level = rbFindLevel(&grid->levels, rbGetLongestEdge(box));
    if (level == RB_LEVEL_GIANT) {
        attachGiant(grid, id);
        return;
    }
    int64_t cell[3];
    findHomeCell(grid, box, level, cell);
    int64_t at[3] = {cell[0] >> BRICK_SHIFT, cell[1] >> BRICK_SHIFT, cell[2] >> BRICK_SHIFT};
    int b = findBrick(grid, at, level);
    b = b == RB_BROAD_NONE ? makeBrick(grid, at, level) : b;
    rbBrick* brick = &grid->bricks[b];
    if (brick->count == BRICK_BOXES_MAX) {
        attachGiant(grid, id);
        return;
    }
    if (brick->count == 8 << brick->sizeClass) {
        growBrick(grid, brick);
    }
    int c = findCellInBrick(cell);
    uint16_t* starts = grid->cells[b].starts;
    int place = starts[c + 1];
    rbFloatBox* places = &grid->places[brick->first];
    memmove(places + place + 1, places + place, (size_t)(brick->count - place) * sizeof *places);
    rbFloatBox_Set(&places[place], box);
    places[place].upper[3] = 0.0f;
    rbSetLane(&places[place].lower[3], id);
    for (int k = c + 1; k <= BRICK_CELLS; ++k) {
        ++starts[k];
    }
    ++brick->count;
    grid->homes[id] = (rbHome){b, c};
}

// The place of a box in its brick.
static int findPlace(const rbHashGrid* grid, int id, rbHome home)
{
    const rbFloatBox* places = &grid->places[grid->bricks[home.brick].first];
    int place = grid->cells[home.brick].starts[home.cell];
    while (getId(&places[place]) != id) {
        ++place;
        RB_ASSERT(place < grid->cells[home.brick].starts[home.cell + 1]);
    }
    return place;
}

static void detach(rbBroadPhase* broad, int id)
{
    rbHashGrid* grid = broad->state;
    rbHome home = grid->homes[id];
    if (home.brick == RB_BROAD_NONE) {
        int last = grid->giants.ids[--grid->giants.count];
        grid->giants.ids[home.cell] = last;
        grid->homes[last].cell = home.cell;
        return;
    }
    rbBrick* brick = &grid->bricks[home.brick];
    rbFloatBox* places = &grid->places[brick->first];
    int place = findPlace(grid, id, home);
    --brick->count;
    memmove(places + place, places + place + 1, (size_t)(brick->count - place) * sizeof *places);
    uint16_t* starts = grid->cells[home.brick].starts;
    for (int k = home.cell + 1; k <= BRICK_CELLS; ++k) {
        --starts[k];
    }
    if (brick->count == 0) {
        freeBrick(grid, home.brick);
    }
}

// Chooses cells again and, if they differ, moves all boxes into them.
static void choose(rbBroadPhase* broad)
{
    rbHashGrid* grid = broad->state;
    double width = rbChooseCellSize(broad, &grid->counters);
    grid->countAtChoice = broad->count;
    grid->movesSinceChoice = 0;
    // a width between half and twice the old one is not worth the work
    if (width < 2.0 * grid->levels.base && width > 0.5 * grid->levels.base) {
        return;
    }
    for (int id = 0; id < broad->idEnd; ++id) {
        if (broad->isIn[id] != 0) {
            detach(broad, id);
        }
    }
    grid->levels = rbMakeCellLevels(width);
    for (int id = 0; id < broad->idEnd; ++id) {
        if (broad->isIn[id] != 0) {
            attach(grid, id, &broad->boxes[id]);
        }
    }
}

static void insert(rbBroadPhase* broad, int id)
{
    rbHashGrid* grid = broad->state;
    grid->homes = rbGrowArray(grid->homes, &grid->homeCapacity, broad->idEnd, sizeof *grid->homes);
    attach(grid, id, &broad->boxes[id]);
    if (!grid->isFixed && broad->count > 2 * grid->countAtChoice) {
        choose(broad);
    }
}

static void moveBox(rbBroadPhase* broad, int id, const rbBounds* old)
{
    rbHashGrid* grid = broad->state;
    const rbBounds* box = &broad->boxes[id];
    (void)old;
    __builtin_prefetch(&grid->homes[id]);
    int level = rbFindLevel(&grid->levels, rbGetLongestEdge(box));
    int64_t cell[3] = {0, 0, 0};
    if (level != RB_LEVEL_GIANT) {
        findHomeCell(grid, box, level, cell);
    }
    int64_t at[3] = {cell[0] >> BRICK_SHIFT, cell[1] >> BRICK_SHIFT, cell[2] >> BRICK_SHIFT};
    rbHome home = grid->homes[id];
    bool isGiant = home.brick == RB_BROAD_NONE;
    bool stays = isGiant ? level == RB_LEVEL_GIANT
                         : level != RB_LEVEL_GIANT && findCellInBrick(cell) == home.cell &&
                               isBrick(&grid->bricks[home.brick], at, level);
    if (stays) {
        if (!isGiant) {
            rbFloatBox* places = &grid->places[grid->bricks[home.brick].first];
            rbFloatBox_Set(&places[findPlace(grid, id, home)], box);
        }
    } else {
        detach(broad, id);
        attach(grid, id, box);
    }
    if (!grid->isFixed &&
        ++grid->movesSinceChoice > (int64_t)MOVES_PER_CHOICE * broad->count + MOVES_PER_CHOICE) {
        choose(broad);
    }
}

// ----------------------------------------------------------------------------------------- queries

// Consecutive boxes in a brick.
typedef struct rbRun {
    const rbFloatBox* begin;
    const rbFloatBox* end;
} rbRun;

// A search in progress.
typedef struct rbHashSearch {
    rbBroadPhase* broad;
    const rbHashGrid* grid;
    const rbBounds* box;
    rbFloatQuery query;
    rbIdList* found;
    int self;
    int runCount;
    int boxCount; // of the runs
    int64_t tests, cells;
    rbRun runs[RUNS_MAX]; // being fetched from memory
} rbHashSearch;

// Without branches, except in the rare case of equal floats: overlaps are unpredictable.
static inline bool decide(const rbHashSearch* search, rbFloatQuery query, const rbFloatBox* box)
{
    rbBoxAnswer answer = rbCompareBoxes(query, box);
    return answer == RB_BOXES_UNDECIDED
               ? rbDoBoxesOverlap(search->box, &search->broad->boxes[getId(box)])
               : answer == RB_BOXES_OVERLAP;
}

// Tests the boxes of the runs.
static void testRuns(rbHashSearch* search)
{
    rbIdList* found = search->found;
    rbIdList_Reserve(found, found->count + search->boxCount);
    rbFloatQuery query = search->query;
    int self = search->self;
    int* ids = found->ids;
    int count = found->count;
    for (int r = 0; r < search->runCount; ++r) {
        const rbFloatBox* end = search->runs[r].end;
        for (const rbFloatBox* box = search->runs[r].begin; box != end; ++box) {
            int id = getId(box);
            ids[count] = id;
            count += (int)decide(search, query, box) & (int)(id != self);
        }
    }
    found->count = count;
    search->tests += search->boxCount;
    search->runCount = 0;
    search->boxCount = 0;
}

// The cells of a range in one brick.
static void searchBrick(rbHashSearch* search, int b, const rbCellRange* range)
{
    const rbBrick* brick = &search->grid->bricks[b];
    const uint16_t* starts = search->grid->cells[b].starts;
    const rbFloatBox* places = &search->grid->places[brick->first];
    int lower[3], upper[3];
    for (int axis = 0; axis < 3; ++axis) {
        int64_t origin = brick->at[axis] * (1 << BRICK_SHIFT);
        int64_t low = range->lower[axis] - origin, high = range->upper[axis] - origin;
        lower[axis] = low > 0 ? (int)(low < 4 ? low : 4) : 0;
        upper[axis] = high < 3 ? (int)(high > -1 ? high : -1) : 3;
        if (lower[axis] > upper[axis]) {
            return;
        }
    }
    if (search->runCount > RUNS_MAX - 16) {
        testRuns(search);
    }
    rbRun* run = &search->runs[search->runCount];
    int boxCount = search->boxCount;
    for (int z = lower[2]; z <= upper[2]; ++z) {
        for (int y = lower[1]; y <= upper[1]; ++y) {
            int row = (z << (2 * BRICK_SHIFT)) | (y << BRICK_SHIFT);
            int begin = starts[row + lower[0]];
            int end = starts[row + upper[0] + 1];
            run->begin = places + begin;
            run->end = places + end;
            __builtin_prefetch(run->begin);
            __builtin_prefetch(run->end - 1);
            boxCount += end - begin;
            run += end > begin ? 1 : 0;
        }
    }
    search->runCount = (int)(run - search->runs);
    search->boxCount = boxCount;
}

static void searchBatch(rbHashSearch* search, const int* batch, int count, const rbCellRange* range)
{
    for (int i = 0; i < count; ++i) {
        searchBrick(search, batch[i], range);
    }
}

// Looks up and prefetches the bricks of a range a few at a time before they are read.
static void searchBricks(rbHashSearch* search, int level, const rbCellRange* bricks,
                         const rbCellRange* range)
{
    const rbHashGrid* grid = search->grid;
    int batch[BATCH_MAX];
    int count = 0;
    int64_t at[3];
    for (at[2] = bricks->lower[2]; at[2] <= bricks->upper[2]; ++at[2]) {
        for (at[1] = bricks->lower[1]; at[1] <= bricks->upper[1]; ++at[1]) {
            for (at[0] = bricks->lower[0]; at[0] <= bricks->upper[0]; ++at[0]) {
                int b = findBrick(grid, at, level);
                if (b == RB_BROAD_NONE) {
                    continue;
                }
                __builtin_prefetch(&grid->cells[b].starts[0]);
                __builtin_prefetch(&grid->cells[b].starts[BRICK_CELLS / 2]);
                batch[count++] = b;
                if (count == BATCH_MAX) {
                    searchBatch(search, batch, count, range);
                    count = 0;
                }
            }
        }
    }
    searchBatch(search, batch, count, range);
}

// The boxes of a level.
static void searchLevel(rbHashSearch* search, int level)
{
    const rbHashGrid* grid = search->grid;
    // a box of this level is at most this long; the excess covers the rounding of its edge
    double width = rbGetCellWidth(&grid->levels, level) * (1.0 + 0x1p-50);
    rbCellRange range = rbFindCells(search->box, width, rbGetInverseWidth(&grid->levels, level));
    rbCellRange bricks;
    double count = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        bricks.lower[axis] = range.lower[axis] >> BRICK_SHIFT;
        bricks.upper[axis] = range.upper[axis] >> BRICK_SHIFT;
        count *= (double)(bricks.upper[axis] - bricks.lower[axis] + 1);
    }
    if (count >= (double)grid->bricksOfLevel[level]) {
        for (int b = grid->firstOfLevel[level]; b != RB_BROAD_NONE;
             b = grid->bricks[b].nextOfLevel) {
            searchBrick(search, b, &range);
        }
        search->cells += grid->bricksOfLevel[level];
    } else {
        searchBricks(search, level, &bricks, &range);
        search->cells += (int64_t)count;
    }
    testRuns(search);
}

static void searchGiants(rbHashSearch* search)
{
    for (int i = 0; i < search->grid->giants.count; ++i) {
        int id = search->grid->giants.ids[i];
        if (id != search->self && rbDoBoxesOverlap(search->box, &search->broad->boxes[id])) {
            rbIdList_Push(search->found, id);
        }
    }
    search->tests += search->grid->giants.count;
}

static rbHashSearch makeSearch(rbBroadPhase* broad, const rbBounds* box, int self, rbIdList* found)
{
    rbHashSearch search;
    search.broad = broad;
    search.grid = broad->state;
    search.box = box;
    search.query = rbMakeFloatQuery(box);
    search.found = found;
    search.self = self;
    search.runCount = 0;
    search.boxCount = 0;
    search.tests = 0;
    search.cells = 0;
    return search;
}

static void addCounts(const rbHashSearch* search)
{
    search->broad->counts.boxTests += search->tests;
    search->broad->counts.candidates += search->tests;
    search->broad->counts.cells += search->cells;
}

static void query(rbBroadPhase* broad, const rbBounds* box, int self, rbIdList* found)
{
    rbHashSearch search = makeSearch(broad, box, self, found);
    for (int level = 0; level < search.grid->levelEnd; ++level) {
        if (search.grid->bricksOfLevel[level] > 0) {
            searchLevel(&search, level);
        }
    }
    searchGiants(&search);
    addCounts(&search);
}

// Sizes within this factor of their median count as similar: three levels of cells.
#define SIMILAR 4.0

// Boxes of similar sizes. A few large ones (a floor, walls) do not make hashing slow.
static bool suits(const rbBounds* boxes, int count)
{
    RB_ASSERT(count > 0);
    double edges[RB_EDGE_SAMPLES];
    double median = edges[rbSampleEdges(boxes, NULL, count, count, edges) / 2];
    int odd = 0;
    for (int i = 0; i < count; ++i) {
        double edge = rbGetLongestEdge(&boxes[i]);
        odd += edge > SIMILAR * median || SIMILAR * edge < median ? 1 : 0;
    }
    return odd <= count / 20 + 8;
}

const rbBroadRow rbBroadRowHash = {
    .name = "hash",
    .stateSize = sizeof(rbHashGrid),
    .start = start,
    .stop = stop,
    .insert = insert,
    .move = moveBox,
    .remove = detach,
    .query = query,
    .suits = suits,
};
