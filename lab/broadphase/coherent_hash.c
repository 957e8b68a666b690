// Hierarchical hashing with coherence (L-85): counters of shared cells, updated only where a box
// enters or leaves a cell.
//
// A box is stored in all cells it touches, on its own level and on all coarser levels in use. Each
// pair has a counter, the number of cells shared at the coarser level of the two; the pair is a
// candidate while it is positive. A cell has two lists: residents, on whose own level it is, and
// visitors of finer levels. By L-85 a counter changes only at the coarser level of the two: a
// resident is paired with residents and visitors, a visitor with residents only; thousands of small
// boxes in a coarse cell are not paired with each other there.
//
// Moving: on each level the old block of cells O becomes the new block N; the box leaves O \ N and
// enters N \ O. Because the grids are nested, levels above one with O = N need no update, except
// for boxes in the outermost cells, each of which contains everything beyond it. A box whose level
// changes is removed and reinserted. When a level is first used, all boxes of finer levels are
// added to it, O(n); it stays in use. Giants have a level with a single cell for the whole space.
//
// Cost of a move: O(1) for similar sizes; partners come from the counters, each confirmed by a box
// test. A box is in up to eight cells per level, so memory is about 8 times that of static hashing,
// times the number of levels.
#include "lab/broadphase/coherent_hash.h"

#include "collision/broadphase/pair_table.h"
#include "lab/broadphase/broad_rows.h"

#include <string.h>

#define USABLE_LEVELS (RB_LEVEL_COUNT + 1) // including that of giants

// The lists of a cell.
enum {
    RESIDENTS,
    VISITORS,
    LIST_COUNT
};

typedef struct rbSharedCell {
    int64_t at[3];
    int32_t level; // -1: free
    int32_t nextInBucket;
    int32_t firsts[LIST_COUNT]; // first presences, -1: none
} rbSharedCell;

// A box in a cell.
typedef struct rbPresence {
    int32_t id;
    int32_t cell;
    int32_t next, previous; // in the list of the cell
    int32_t nextOfBox;      // or next free presence
} rbPresence;

typedef struct rbCoherentHash {
    rbCellLevels levels;
    bool isFixed;
    int countAtChoice;
    bool isUsed[USABLE_LEVELS];
    RB_ARRAY(rbSharedCell) cells;
    int32_t freeCell;
    int cellCount;
    int32_t* buckets;
    int bucketCapacity;
    RB_ARRAY(rbPresence) presences;
    int32_t freePresence;
    int32_t* firsts;  // first presence, by id
    int32_t* levelOf; // by id
    uint32_t* stamps; // by id: last query that found the box
    int idCapacity;
    uint32_t stamp;
    rbPairTable pairs;
    rbIdList counters; // scratch memory for the choice of the cell size
} rbCoherentHash;

static void start(rbBroadPhase* broad, double cellSize)
{
    rbCoherentHash* hash = broad->state;
    hash->isFixed = cellSize > 0.0;
    hash->levels = rbMakeCellLevels(hash->isFixed ? RB_EDGE_ROOM * cellSize : 1.0);
    hash->freeCell = RB_BROAD_NONE;
    hash->freePresence = RB_BROAD_NONE;
}

static void stop(rbBroadPhase* broad)
{
    rbCoherentHash* hash = broad->state;
    rbArray_Free(hash->cells);
    rbFree(hash->buckets, (size_t)hash->bucketCapacity * sizeof *hash->buckets);
    rbArray_Free(hash->presences);
    rbFree(hash->firsts, (size_t)hash->idCapacity * sizeof *hash->firsts);
    rbFree(hash->levelOf, (size_t)hash->idCapacity * sizeof *hash->levelOf);
    rbFree(hash->stamps, (size_t)hash->idCapacity * sizeof *hash->stamps);
    rbPairTable_Free(&hash->pairs);
    rbIdList_Free(&hash->counters);
}

// ------------------------------------------------------------------------------------------
// cells

static int32_t* getBucket(const rbCoherentHash* hash, const int64_t at[3], int level)
{
    uint64_t mask = (uint64_t)hash->bucketCapacity - 1;
    return &hash->buckets[rbHashCell(at[0], at[1], at[2], level) & mask];
}

static int findCell(const rbCoherentHash* hash, const int64_t at[3], int level)
{
    if (hash->bucketCapacity == 0) {
        return RB_BROAD_NONE;
    }
    int32_t c = *getBucket(hash, at, level);
    while (c >= 0) {
        const rbSharedCell* cell = &hash->cells.data[c];
        if (cell->at[0] == at[0] && cell->at[1] == at[1] && cell->at[2] == at[2] &&
            cell->level == level) {
            break;
        }
        c = cell->nextInBucket;
    }
    return c;
}

static void growBuckets(rbCoherentHash* hash)
{
    int capacity = hash->bucketCapacity > 0 ? 2 * hash->bucketCapacity : 256;
    rbFree(hash->buckets, (size_t)hash->bucketCapacity * sizeof *hash->buckets);
    hash->buckets = rbAlloc((size_t)capacity * sizeof *hash->buckets);
    hash->bucketCapacity = capacity;
    memset(hash->buckets, 0xff, (size_t)capacity * sizeof *hash->buckets);
    for (int c = 0; c < hash->cells.count; ++c) {
        rbSharedCell* cell = &hash->cells.data[c];
        if (cell->level >= 0) {
            int32_t* bucket = getBucket(hash, cell->at, cell->level);
            cell->nextInBucket = *bucket;
            *bucket = c;
        }
    }
}

static int makeCell(rbCoherentHash* hash, const int64_t at[3], int level)
{
    if (hash->cellCount >= hash->bucketCapacity) {
        growBuckets(hash);
    }
    int c = hash->freeCell;
    if (c != RB_BROAD_NONE) {
        hash->freeCell = hash->cells.data[c].nextInBucket;
    } else {
        c = hash->cells.count;
        rbArray_Reserve(hash->cells, c + 1);
        ++hash->cells.count;
    }
    int32_t* bucket = getBucket(hash, at, level);
    hash->cells.data[c] = (rbSharedCell){{at[0], at[1], at[2]}, level, *bucket, {-1, -1}};
    *bucket = c;
    ++hash->cellCount;
    return c;
}

static void freeCell(rbCoherentHash* hash, int c)
{
    rbSharedCell* cell = &hash->cells.data[c];
    int32_t* link = getBucket(hash, cell->at, cell->level);
    while (*link != c) {
        link = &hash->cells.data[*link].nextInBucket;
    }
    *link = cell->nextInBucket;
    cell->level = -1;
    cell->nextInBucket = hash->freeCell;
    hash->freeCell = c;
    --hash->cellCount;
}

// The cells of a box on a level.
static rbCellRange findBlock(const rbCoherentHash* hash, const rbBounds* box, int level)
{
    if (level == RB_LEVEL_GIANT) {
        return (rbCellRange){{0, 0, 0}, {0, 0, 0}};
    }
    return rbFindCells(box, 0.0, rbGetInverseWidth(&hash->levels, level));
}

// ------------------------------------------------------------------------------------------
// entering and leaving

// Changes the counters between a box and all boxes of one list of a cell.
static void countList(rbBroadPhase* broad, int id, int32_t first, int change)
{
    rbCoherentHash* hash = broad->state;
    for (int32_t p = first; p >= 0; p = hash->presences.data[p].next) {
        int other = hash->presences.data[p].id;
        if (other == id) {
            continue;
        }
        int entry = change > 0 ? rbPairTable_Add(&hash->pairs, id, other)
                               : rbPairTable_Find(&hash->pairs, id, other);
        RB_ASSERT(entry >= 0);
        hash->pairs.entries[entry].counter += change;
        if (hash->pairs.entries[entry].counter == 0) {
            rbPairTable_Remove(&hash->pairs, entry);
        }
    }
}

static void countCell(rbBroadPhase* broad, int id, int c, int change)
{
    rbCoherentHash* hash = broad->state;
    const rbSharedCell* cell = &hash->cells.data[c];
    countList(broad, id, cell->firsts[RESIDENTS], change);
    if (hash->levelOf[id] == cell->level) {
        countList(broad, id, cell->firsts[VISITORS], change);
    }
}

static void enterCell(rbBroadPhase* broad, int id, const int64_t at[3], int level)
{
    rbCoherentHash* hash = broad->state;
    int c = findCell(hash, at, level);
    if (c == RB_BROAD_NONE) {
        c = makeCell(hash, at, level);
    }
    countCell(broad, id, c, 1);
    int32_t p = hash->freePresence;
    if (p != RB_BROAD_NONE) {
        hash->freePresence = hash->presences.data[p].nextOfBox;
    } else {
        p = hash->presences.count;
        rbArray_Reserve(hash->presences, p + 1);
        ++hash->presences.count;
    }
    int list = hash->levelOf[id] == level ? RESIDENTS : VISITORS;
    int32_t* first = &hash->cells.data[c].firsts[list];
    hash->presences.data[p] = (rbPresence){id, c, *first, RB_BROAD_NONE, hash->firsts[id]};
    if (*first >= 0) {
        hash->presences.data[*first].previous = p;
    }
    *first = p;
    hash->firsts[id] = p;
    ++broad->counts.cells;
}

static void leaveCell(rbBroadPhase* broad, int id, const int64_t at[3], int level)
{
    rbCoherentHash* hash = broad->state;
    int c = findCell(hash, at, level);
    RB_ASSERT(c >= 0);
    // its presence in this cell, from the short list of the box
    int32_t* link = &hash->firsts[id];
    while (hash->presences.data[*link].cell != c) {
        link = &hash->presences.data[*link].nextOfBox;
        RB_ASSERT(*link >= 0);
    }
    int32_t p = *link;
    rbPresence* gone = &hash->presences.data[p];
    *link = gone->nextOfBox;
    if (gone->next >= 0) {
        hash->presences.data[gone->next].previous = gone->previous;
    }
    rbSharedCell* cell = &hash->cells.data[c];
    if (gone->previous >= 0) {
        hash->presences.data[gone->previous].next = gone->next;
    } else {
        cell->firsts[hash->levelOf[id] == level ? RESIDENTS : VISITORS] = gone->next;
    }
    gone->nextOfBox = hash->freePresence;
    hash->freePresence = p;
    countCell(broad, id, c, -1);
    if (cell->firsts[RESIDENTS] < 0 && cell->firsts[VISITORS] < 0) {
        freeCell(hash, c);
    }
    ++broad->counts.cells;
}

typedef void rbCellVisitor(rbBroadPhase* broad, int id, const int64_t at[3], int level);

static void visitBlock(rbBroadPhase* broad, int id, int level, const rbCellRange* block,
                       rbCellVisitor* visit)
{
    int64_t at[3];
    for (at[2] = block->lower[2]; at[2] <= block->upper[2]; ++at[2]) {
        for (at[1] = block->lower[1]; at[1] <= block->upper[1]; ++at[1]) {
            for (at[0] = block->lower[0]; at[0] <= block->upper[0]; ++at[0]) {
                visit(broad, id, at, level);
            }
        }
    }
}

// Visits the cells of a block that are not in another one: at most six blocks. On each axis, what
// lies below and above the common part, with the previous axes restricted to it.
static void visitDifference(rbBroadPhase* broad, int id, int level, const rbCellRange blocks[2],
                            rbCellVisitor* visit)
{
    const rbCellRange* block = &blocks[0];
    const rbCellRange* other = &blocks[1];
    rbCellRange rest = *block;
    for (int axis = 0; axis < 3; ++axis) {
        int64_t low =
            block->lower[axis] > other->lower[axis] ? block->lower[axis] : other->lower[axis];
        int64_t high =
            block->upper[axis] < other->upper[axis] ? block->upper[axis] : other->upper[axis];
        if (low > high) {
            visitBlock(broad, id, level, &rest, visit); // no common part
            return;
        }
        rbCellRange part = rest;
        part.upper[axis] = low - 1;
        visitBlock(broad, id, level, &part, visit);
        part = rest;
        part.lower[axis] = high + 1;
        visitBlock(broad, id, level, &part, visit);
        rest.lower[axis] = low;
        rest.upper[axis] = high;
    }
}

static bool isSameBlock(const rbCellRange* a, const rbCellRange* b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

// The grids are nested except for the outermost cells, which contain everything beyond.
static bool isNested(const rbCellRange* block)
{
    bool isInner = true;
    for (int axis = 0; axis < 3; ++axis) {
        isInner =
            isInner && block->lower[axis] > -RB_CELL_LIMIT && block->upper[axis] < RB_CELL_LIMIT;
    }
    return isInner;
}

// ------------------------------------------------------------------------------------------
// boxes

static void enterLevel(rbBroadPhase* broad, int id, int level)
{
    rbCellRange block = findBlock(broad->state, &broad->boxes[id], level);
    visitBlock(broad, id, level, &block, enterCell);
}

// Starts using a level: all boxes of finer levels enter it.
static void useLevel(rbBroadPhase* broad, int level)
{
    rbCoherentHash* hash = broad->state;
    hash->isUsed[level] = true;
    for (int id = 0; id < broad->idEnd; ++id) {
        if (id < hash->idCapacity && hash->firsts[id] >= 0 && hash->levelOf[id] < level) {
            enterLevel(broad, id, level);
        }
    }
}

static void attach(rbBroadPhase* broad, int id)
{
    rbCoherentHash* hash = broad->state;
    int level = rbFindLevel(&hash->levels, rbGetLongestEdge(&broad->boxes[id]));
    if (!hash->isUsed[level]) {
        useLevel(broad, level);
    }
    hash->levelOf[id] = level;
    for (int coarser = level; coarser < USABLE_LEVELS; ++coarser) {
        if (hash->isUsed[coarser]) {
            enterLevel(broad, id, coarser);
        }
    }
}

// Leaves all cells of its old box.
static void detach(rbBroadPhase* broad, int id)
{
    rbCoherentHash* hash = broad->state;
    while (hash->firsts[id] >= 0) {
        const rbSharedCell* cell = &hash->cells.data[hash->presences.data[hash->firsts[id]].cell];
        int64_t at[3] = {cell->at[0], cell->at[1], cell->at[2]};
        leaveCell(broad, id, at, cell->level);
    }
}

static void reserve(rbBroadPhase* broad)
{
    rbCoherentHash* hash = broad->state;
    int old = hash->idCapacity;
    if (broad->idEnd > old) {
        int capacity = old;
        hash->firsts = rbGrowArray(hash->firsts, &capacity, broad->idEnd, sizeof *hash->firsts);
        capacity = old;
        hash->levelOf = rbGrowArray(hash->levelOf, &capacity, broad->idEnd, sizeof *hash->levelOf);
        capacity = old;
        hash->stamps = rbGrowArray(hash->stamps, &capacity, broad->idEnd, sizeof *hash->stamps);
        hash->idCapacity = capacity;
        for (int id = old; id < capacity; ++id) {
            hash->firsts[id] = RB_BROAD_NONE;
            hash->levelOf[id] = 0;
            hash->stamps[id] = 0;
        }
    }
    rbPairTable_Reserve(&hash->pairs, broad->idEnd);
}

// Removes all cells but keeps the memory.
static void clear(rbCoherentHash* hash)
{
    hash->cells.count = 0;
    hash->presences.count = 0;
    hash->freeCell = RB_BROAD_NONE;
    hash->freePresence = RB_BROAD_NONE;
    hash->cellCount = 0;
    for (int i = 0; i < hash->bucketCapacity; ++i) {
        hash->buckets[i] = RB_BROAD_NONE;
    }
    for (int id = 0; id < hash->idCapacity; ++id) {
        hash->firsts[id] = RB_BROAD_NONE;
    }
    memset(hash->isUsed, 0, sizeof hash->isUsed);
    rbPairTable_Clear(&hash->pairs);
}

// Chooses cell sizes for the existing boxes and inserts them all.
static void rebuild(rbBroadPhase* broad)
{
    rbCoherentHash* hash = broad->state;
    if (!hash->isFixed) {
        hash->levels = rbMakeCellLevels(rbChooseCellSize(broad, &hash->counters));
        hash->countAtChoice = broad->count;
    }
    clear(hash);
    for (int id = 0; id < broad->idEnd; ++id) {
        if (broad->isIn[id] != 0) {
            attach(broad, id);
        }
    }
}

static void insert(rbBroadPhase* broad, int id)
{
    rbCoherentHash* hash = broad->state;
    reserve(broad);
    if (!hash->isFixed && broad->count > 2 * hash->countAtChoice) {
        rebuild(broad);
    } else {
        attach(broad, id);
    }
}

static void moveBox(rbBroadPhase* broad, int id, const rbBounds* old)
{
    rbCoherentHash* hash = broad->state;
    int level = rbFindLevel(&hash->levels, rbGetLongestEdge(&broad->boxes[id]));
    if (level != hash->levelOf[id]) {
        detach(broad, id);
        attach(broad, id);
        return;
    }
    for (; level < USABLE_LEVELS; ++level) {
        if (!hash->isUsed[level]) {
            continue;
        }
        rbCellRange before = findBlock(hash, old, level);
        rbCellRange after = findBlock(hash, &broad->boxes[id], level);
        if (isSameBlock(&before, &after)) {
            if (isNested(&after)) {
                return; // coarser levels do not change then
            }
            continue;
        }
        visitDifference(broad, id, level, (rbCellRange[2]){before, after}, leaveCell);
        visitDifference(broad, id, level, (rbCellRange[2]){after, before}, enterCell);
    }
}

// ------------------------------------------------------------------------------------------
// queries

// Boxes of one list of a cell, each once per query.
static void searchList(rbBroadPhase* broad, int32_t first, const rbBounds* box, rbIdList* found)
{
    rbCoherentHash* hash = broad->state;
    for (int32_t p = first; p >= 0; p = hash->presences.data[p].next) {
        int id = hash->presences.data[p].id;
        if (hash->stamps[id] == hash->stamp) {
            continue;
        }
        hash->stamps[id] = hash->stamp;
        ++broad->counts.candidates;
        ++broad->counts.boxTests;
        if (rbDoBoxesOverlap(box, &broad->boxes[id])) {
            rbIdList_Push(found, id);
        }
    }
}

static void searchLevel(rbBroadPhase* broad, const rbBounds* box, int level, bool withVisitors,
                        rbIdList* found)
{
    rbCoherentHash* hash = broad->state;
    rbCellRange block = findBlock(hash, box, level);
    int64_t at[3];
    for (at[2] = block.lower[2]; at[2] <= block.upper[2]; ++at[2]) {
        for (at[1] = block.lower[1]; at[1] <= block.upper[1]; ++at[1]) {
            for (at[0] = block.lower[0]; at[0] <= block.upper[0]; ++at[0]) {
                int c = findCell(hash, at, level);
                ++broad->counts.cells;
                if (c >= 0) {
                    searchList(broad, hash->cells.data[c].firsts[RESIDENTS], box, found);
                    if (withVisitors) {
                        searchList(broad, hash->cells.data[c].firsts[VISITORS], box, found);
                    }
                }
            }
        }
    }
}

// A box that need not be one of ours: boxes of finer levels are visitors of the first level in use
// at least as coarse as the box. A box coarser than all levels is tested against all boxes.
static void query(rbBroadPhase* broad, const rbBounds* box, int self, rbIdList* found)
{
    rbCoherentHash* hash = broad->state;
    RB_ASSERT(self == RB_BROAD_NONE); // our own boxes have counters
    int level = rbFindLevel(&hash->levels, rbGetLongestEdge(box));
    while (level < USABLE_LEVELS && !hash->isUsed[level]) {
        ++level;
    }
    if (level == USABLE_LEVELS) {
        rbScanBoxes(broad, box, self, found);
        return;
    }
    if (++hash->stamp == 0) {
        memset(hash->stamps, 0, (size_t)hash->idCapacity * sizeof *hash->stamps);
        hash->stamp = 1;
    }
    searchLevel(broad, box, level, true, found);
    for (++level; level < USABLE_LEVELS; ++level) {
        if (hash->isUsed[level]) {
            searchLevel(broad, box, level, false, found);
        }
    }
}

static void findPartners(rbBroadPhase* broad, int id, rbIdList* found)
{
    const rbCoherentHash* hash = broad->state;
    for (int32_t link = rbPairTable_First(&hash->pairs, id); link >= 0;
         link = rbPairTable_Next(&hash->pairs, link)) {
        int other = rbPairTable_Partner(&hash->pairs, link);
        ++broad->counts.candidates;
        if (rbDoBoxesOverlap(&broad->boxes[id], &broad->boxes[other])) {
            rbIdList_Push(found, other);
        }
        ++broad->counts.boxTests;
    }
}

int rbCoherentHash_GetCounter(const rbBroadPhase* broad, int a, int b)
{
    RB_ASSERT(broad->row == &rbBroadRowCoherentHash);
    const rbCoherentHash* hash = broad->state;
    int entry = rbPairTable_Find(&hash->pairs, a, b);
    return entry < 0 ? 0 : hash->pairs.entries[entry].counter;
}

rbCellLevels rbCoherentHash_GetLevels(const rbBroadPhase* broad)
{
    RB_ASSERT(broad->row == &rbBroadRowCoherentHash);
    const rbCoherentHash* hash = broad->state;
    return hash->levels;
}

const rbBroadRow rbBroadRowCoherentHash = {
    .name = "coherent-hash",
    .stateSize = sizeof(rbCoherentHash),
    .start = start,
    .stop = stop,
    .insert = insert,
    .move = moveBox,
    .usesOld = true,
    .remove = detach,
    .query = query,
    .findPartners = findPartners,
};
