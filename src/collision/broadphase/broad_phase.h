// Internals of the broad phases: the data of the common part, and a row of the table.
//
// The common part stores the exact boxes and which ids are present, and sorts the results; a row
// stores the data it needs to find them. All rows return the same results bit for bit, because the
// exact boxes in double decide; a row may use rounded boxes where rounding cannot change the result
// (rbFloatBox).
#pragma once

#include "base/core/lanes.h"
#include "base/core/memory.h"
#include "base/core/words.h"

#include <rattleback/broadphase.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// No box has this number.
#define RB_BROAD_NONE (-1)
// isIn of a box that is placed, and of one that is filled by a ball.
#define RB_BROAD_BOX 1
#define RB_BROAD_BALL 2

// A row. boxes[id] holds the new box when insert and move are called; ids have been checked.
// Functions up to remove are NULL where there is nothing to do.
typedef struct rbBroadRow {
    const char* name;
    size_t stateSize; // bytes, zeroed at creation
    void (*start)(rbBroadPhase* broad, double cellSize);
    void (*stop)(rbBroadPhase* broad); // frees the memory owned by the state
    // Called before the first box: boxes shorter than half a period (m, 0: none) overlap across its
    // ends too. NULL: they do not.
    void (*setPeriod)(rbBroadPhase* broad, rbVec3 period);
    void (*insert)(rbBroadPhase* broad, int id);
    void (*move)(rbBroadPhase* broad, int id, const rbBounds* old);
    void (*remove)(rbBroadPhase* broad, int id); // boxes[id] is still valid
    bool usesOld;                                // move reads the old box; otherwise NULL is passed
    // At least half of all boxes are new or moved; boxes[] and isIn[] hold the new state. NULL:
    // boxes are placed one by one.
    void (*placeAll)(rbBroadPhase* broad, bool isAnyNew);
    // Many boxes that are in have moved; boxes[] holds them. NULL: they are moved one by one.
    void (*refit)(rbBroadPhase* broad);
    // Appends the boxes that overlap a box, except number self, in any order.
    void (*query)(rbBroadPhase* broad, const rbBounds* box, int self, rbIdList* found);
    bool isShared; // several threads may query at once
    // The same for a box in the broad phase. NULL: query is used.
    void (*findPartners)(rbBroadPhase* broad, int id, rbIdList* found);
    // Appends all overlapping pairs in order. NULL: every box is asked for its partners.
    void (*findPairs)(rbBroadPhase* broad, rbIdList* pairs);
    // Whether "auto" picks this registered row for these boxes, before the tree. NULL: never.
    bool (*suits)(const rbBounds* boxes, int count);
} rbBroadRow;

struct rbBroadPhase {
    const rbBroadRow* row;
    rbBroadPhaseType type;
    void* state;     // of the row
    rbBounds* boxes; // m, by id
    uint8_t* isIn;   // by id, 0: no
    int capacity;    // of both
    int idEnd;       // all ids are below this
    int count;       // boxes present
    rbBroadPhaseCounts counts;
    rbIdList scratch;  // for sorting
    rbIdList partners; // of a box, while all pairs are found
};

extern const rbBroadRow rbBroadRowTree;

// Adds a row to the table, at start-up (base/core/registered_rows.h). Rejected if the name is
// already known or the table is full.
rbStatus rbRegisterBroadPhase(const rbBroadRow* row, rbError* error);

RB_DECLARE_WORDS(rbBroadPhaseType);

// Places a box of a kind. Partners of a ball that are balls too may be left out if the balls are
// apart, and their boxes need only overlap nearly.
void rbBroadPhase_PlaceAs(rbBroadPhase* broad, int id, rbBounds box, uint8_t kind);
// Moves a box that is in, until row->refit for itself only: quicker, where many move. False: not
// so.
bool rbBroadPhase_Defer(rbBroadPhase* broad, int id, rbBounds box);
// Appends the boxes that overlap that of a number, ascending by scratch; NULL: in any order.
void rbBroadPhase_FindPartners(rbBroadPhase* broad, int id, rbIdList* found, rbIdList* scratch);

// A walk through boxes.
typedef struct rbBoxWalk rbBoxWalk;
struct rbBoxWalk {
    // The key of a box, not above that of any box inside it; infinite: nothing inside is wanted.
    double (*enter)(const rbBoxWalk* walk, const rbBounds* box);
    bool (*visit)(rbBoxWalk* walk, int id); // false ends the walk
    double limit; // visits may lower it; boxes of larger keys are left out
};

// Walks through the boxes of a broad phase of type RB_BROAD_TREE, those of small keys first.
void rbBroadPhase_Walk(const rbBroadPhase* broad, rbBoxWalk* walk);

// Sorts the numbers from the first on, all different, ascending; O(n). scratch grows as needed.
void rbIdList_Sort(rbIdList* list, int first, rbIdList* scratch);

// Reserves memory for count numbers.
static inline void rbIdList_Reserve(rbIdList* list, int count)
{
    if (count > list->capacity) {
        list->ids = rbGrowArray(list->ids, &list->capacity, count, sizeof *list->ids);
    }
}

static inline void rbIdList_Push(rbIdList* list, int id)
{
    rbIdList_Reserve(list, list->count + 1);
    list->ids[list->count++] = id;
}

static inline void rbIdList_PushPair(rbIdList* list, int a, int b)
{
    rbIdList_Reserve(list, list->count + 2);
    list->ids[list->count++] = a < b ? a : b;
    list->ids[list->count++] = a < b ? b : a;
}

static inline bool rbIsProperBounds(const rbBounds* box)
{
    return rbIsFinite3(box->lower) && rbIsFinite3(box->upper) && box->lower.x <= box->upper.x &&
           box->lower.y <= box->upper.y && box->lower.z <= box->upper.z;
}

// Touching boxes count as overlapping.
static inline bool rbDoBoxesOverlap(const rbBounds* a, const rbBounds* b)
{
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

// A box in float, each coordinate rounded to nearest. Rounding preserves the order: where the
// floats differ, the doubles have the same order; the doubles must be compared only where the
// floats are equal. So no outward rounding is needed, and hulls of rounded boxes are rounded hulls.
// The fourth lanes are free for the owner.
typedef struct rbFloatBox {
    float lower[4];
    float upper[4];
} rbFloatBox;

static inline float rbRoundCoordinate(double x)
{
    x = x < (double)FLT_MAX ? x : (double)FLT_MAX;
    return (float)(x > -(double)FLT_MAX ? x : -(double)FLT_MAX);
}

// Does not change the fourth lanes.
static inline void rbFloatBox_Set(rbFloatBox* rounded, const rbBounds* box)
{
    rounded->lower[0] = rbRoundCoordinate(box->lower.x);
    rounded->lower[1] = rbRoundCoordinate(box->lower.y);
    rounded->lower[2] = rbRoundCoordinate(box->lower.z);
    rounded->upper[0] = rbRoundCoordinate(box->upper.x);
    rounded->upper[1] = rbRoundCoordinate(box->upper.y);
    rounded->upper[2] = rbRoundCoordinate(box->upper.z);
}

// A number in a free lane.
static inline int32_t rbGetLane(const float* lane)
{
    int32_t value;
    memcpy(&value, lane, sizeof value);
    return value;
}

static inline void rbSetLane(float* lane, int32_t value)
{
    memcpy(lane, &value, sizeof value);
}

typedef enum rbBoxAnswer {
    RB_BOXES_APART,
    RB_BOXES_OVERLAP,
    RB_BOXES_UNDECIDED, // equal floats: compare the doubles
} rbBoxAnswer;

// A query box in registers.
typedef struct rbFloatQuery {
    rbQuad lower, upper;
} rbFloatQuery;

static inline rbFloatQuery rbMakeFloatQuery(const rbBounds* box)
{
    rbFloatBox rounded = {{0.0f}, {0.0f}};
    rbFloatBox_Set(&rounded, box);
    return (rbFloatQuery){rbQuad_Load(rounded.lower), rbQuad_Load(rounded.upper)};
}

static inline bool rbIsAnyLaneSet(rbQuadMask mask)
{
    rbLaneMask halves = (rbLaneMask)mask;
    return (halves[0] | halves[1]) != 0;
}

static inline rbBoxAnswer rbCompareBoxes(rbFloatQuery query, const rbFloatBox* box)
{
    const rbQuadMask threeLanes = {-1, -1, -1, 0};
    rbQuad lower = rbQuad_Load(box->lower), upper = rbQuad_Load(box->upper);
    rbQuadMask apart = (upper < query.lower) | (lower > query.upper);
    rbQuadMask together = (upper > query.lower) & (lower < query.upper);
    bool isApart = rbIsAnyLaneSet(apart & threeLanes);
    bool isUnclear = rbIsAnyLaneSet(~together & threeLanes);
    int answer = isUnclear ? RB_BOXES_UNDECIDED : RB_BOXES_OVERLAP;
    return (rbBoxAnswer)(isApart ? (int)RB_BOXES_APART : answer);
}
