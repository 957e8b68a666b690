// Sweep and prune (L-82, G-03): the ends of all boxes sorted on three axes, kept sorted by
// insertion sort from the previous order.
//
// A swap of two ends shows what changed: if a lower end moves before an upper one, an overlap may
// begin, which the exact boxes decide (instead of a flag per axis); if a lower end moves behind an
// upper one, the overlap ends. A pair that begins to overlap does so on some axis, where its ends
// swap, so no pair is missed. Overlapping pairs are kept in a table.
//
// Cost: a box that moves past k ends O(k); inserting or removing a box O(n), because ends are
// shifted; all boxes for the first time O(n log n + pairs that overlap on the longest axis). When
// all boxes move, O(n + k) as long as k, the ends passed, is below SWAPS_MAX per box; beyond that,
// a new sort is cheaper. If many boxes share an interval of one axis (a plane, a stack), k grows
// like n for each: the known weakness of the method. A query with a foreign box is O(n).
#include "collision/broadphase/pair_table.h"
#include "lab/broadphase/broad_rows.h"
#include "lab/broadphase/sorted_ends.h"

#include <string.h>

#define SWAPS_MAX 64 // per box and axis; a few times the steps of sorting 1e5 boxes from scratch

typedef struct rbSweep1D {
    rbEnd* ends[3];     // 2 * count each
    int32_t* places[3]; // by owner
    int endCapacity;    // of ends
    int ownerCapacity;  // of places
    RB_ARRAY(rbEnd) scratch;
    rbPairTable pairs;
    rbIdList active;
    rbIdList activePlaces; // by id
    rbIdList hits;
} rbSweep1D;

static void stop(rbBroadPhase* broad)
{
    rbSweep1D* sweep = broad->state;
    for (int axis = 0; axis < 3; ++axis) {
        rbFree(sweep->ends[axis], (size_t)sweep->endCapacity * sizeof(rbEnd));
        rbFree(sweep->places[axis], (size_t)sweep->ownerCapacity * sizeof(int32_t));
    }
    rbArray_Free(sweep->scratch);
    rbPairTable_Free(&sweep->pairs);
    rbIdList_Free(&sweep->active);
    rbIdList_Free(&sweep->activePlaces);
    rbIdList_Free(&sweep->hits);
}

static double getEndValue(const rbBounds* box, int axis, int isUpper)
{
    const rbVec3* corner = isUpper != 0 ? &box->upper : &box->lower;
    return axis == 0 ? corner->x : axis == 1 ? corner->y : corner->z;
}

static void reserve(rbBroadPhase* broad)
{
    rbSweep1D* sweep = broad->state;
    int endCapacity = sweep->endCapacity;
    int ownerCapacity = sweep->ownerCapacity;
    for (int axis = 0; axis < 3; ++axis) {
        endCapacity = sweep->endCapacity;
        ownerCapacity = sweep->ownerCapacity;
        sweep->ends[axis] =
            rbGrowArray(sweep->ends[axis], &endCapacity, 2 * broad->count, sizeof(rbEnd));
        sweep->places[axis] =
            rbGrowArray(sweep->places[axis], &ownerCapacity, 2 * broad->idEnd, sizeof(int32_t));
    }
    sweep->endCapacity = endCapacity;
    sweep->ownerCapacity = ownerCapacity;
    rbPairTable_Reserve(&sweep->pairs, broad->idEnd);
}

// A lower end moved before an upper one.
static void begin(rbBroadPhase* broad, int a, int b)
{
    rbSweep1D* sweep = broad->state;
    ++broad->counts.boxTests;
    if (rbDoBoxesOverlap(&broad->boxes[a], &broad->boxes[b])) {
        (void)rbPairTable_Add(&sweep->pairs, a, b);
    }
}

// A lower end moved behind an upper one.
static void finish(rbBroadPhase* broad, int a, int b)
{
    rbSweep1D* sweep = broad->state;
    int entry = rbPairTable_Find(&sweep->pairs, a, b);
    if (entry >= 0) {
        rbPairTable_Remove(&sweep->pairs, entry);
    }
}

// Two ends swap: left moves to the right of the other.
static inline void cross(rbBroadPhase* broad, int32_t left, int32_t right)
{
    int a = left >> 1;
    int b = right >> 1;
    int isUpperLeft = left & 1;
    int isUpperRight = right & 1;
    if (isUpperLeft == isUpperRight || a == b) {
        return;
    }
    if (isUpperLeft != 0) {
        begin(broad, a, b);
    } else {
        finish(broad, a, b);
    }
}

// Moves the end at a place down to its position; returns the number of ends passed.
static int sink(rbBroadPhase* broad, int axis, int place)
{
    rbSweep1D* sweep = broad->state;
    rbEnd* ends = sweep->ends[axis];
    rbEnd moving = ends[place];
    int k = place;
    for (; k > 0 && rbIsEndBefore(&moving, &ends[k - 1]); --k) {
        cross(broad, ends[k - 1].owner, moving.owner);
        ends[k] = ends[k - 1];
        sweep->places[axis][ends[k].owner] = k;
    }
    ends[k] = moving;
    sweep->places[axis][moving.owner] = k;
    return place - k;
}

static int rise(rbBroadPhase* broad, int axis, int place)
{
    rbSweep1D* sweep = broad->state;
    rbEnd* ends = sweep->ends[axis];
    rbEnd moving = ends[place];
    int last = 2 * broad->count - 1;
    int k = place;
    for (; k < last && rbIsEndBefore(&ends[k + 1], &moving); ++k) {
        cross(broad, moving.owner, ends[k + 1].owner);
        ends[k] = ends[k + 1];
        sweep->places[axis][ends[k].owner] = k;
    }
    ends[k] = moving;
    sweep->places[axis][moving.owner] = k;
    return k - place;
}

// The order never separates what overlaps before and after: first the ends that enlarge the box,
// then those that shrink it.
static void moveBox(rbBroadPhase* broad, int id, const rbBounds* old)
{
    rbSweep1D* sweep = broad->state;
    for (int step = 0; step < 2; ++step) {
        for (int axis = 0; axis < 3; ++axis) {
            for (int isUpper = 0; isUpper < 2; ++isUpper) {
                double before = getEndValue(old, axis, isUpper);
                double after = getEndValue(&broad->boxes[id], axis, isUpper);
                bool isLarger = isUpper != 0 ? after > before : after < before;
                if (after == before || isLarger != (step == 0)) {
                    continue;
                }
                int place = sweep->places[axis][2 * id + isUpper];
                sweep->ends[axis][place].value = after;
                broad->counts.cells +=
                    after < before ? sink(broad, axis, place) : rise(broad, axis, place);
            }
        }
    }
}

static void query(rbBroadPhase* broad, const rbBounds* box, int self, rbIdList* found);

// Shifts ends to make room for one and inserts it.
static void insertEnd(rbSweep1D* sweep, int axis, int count, rbEnd end)
{
    rbEnd* ends = sweep->ends[axis];
    int place = rbCountEndsBefore(ends, count, &end);
    for (int k = count; k > place; --k) {
        ends[k] = ends[k - 1];
        sweep->places[axis][ends[k].owner] = k;
    }
    ends[place] = end;
    sweep->places[axis][end.owner] = place;
}

static void insert(rbBroadPhase* broad, int id)
{
    rbSweep1D* sweep = broad->state;
    reserve(broad);
    int count = 2 * (broad->count - 1);
    for (int axis = 0; axis < 3; ++axis) {
        for (int isUpper = 0; isUpper < 2; ++isUpper) {
            insertEnd(sweep, axis, count + isUpper,
                      (rbEnd){getEndValue(&broad->boxes[id], axis, isUpper), 2 * id + isUpper});
        }
    }
    sweep->hits.count = 0;
    query(broad, &broad->boxes[id], id, &sweep->hits);
    for (int i = 0; i < sweep->hits.count; ++i) {
        (void)rbPairTable_Add(&sweep->pairs, id, sweep->hits.ids[i]);
    }
}

static void removeBox(rbBroadPhase* broad, int id)
{
    rbSweep1D* sweep = broad->state;
    for (int32_t link = rbPairTable_First(&sweep->pairs, id); link >= 0;
         link = rbPairTable_First(&sweep->pairs, id)) {
        rbPairTable_Remove(&sweep->pairs, link >> 1);
    }
    for (int axis = 0; axis < 3; ++axis) {
        int kept = sweep->places[axis][(size_t)id * 2];
        for (int k = kept; k < 2 * broad->count; ++k) {
            rbEnd end = sweep->ends[axis][k];
            if (end.owner >> 1 != id) {
                sweep->ends[axis][kept] = end;
                sweep->places[axis][end.owner] = kept++;
            }
        }
    }
}

// ------------------------------------------------------------------------------------------
// all boxes

static void sortAxis(rbBroadPhase* broad, int axis)
{
    rbSweep1D* sweep = broad->state;
    rbEnd* ends = sweep->ends[axis];
    int count = 0;
    for (int id = 0; id < broad->idEnd; ++id) {
        for (int isUpper = 0; broad->isIn[id] != 0 && isUpper < 2; ++isUpper) {
            ends[count++] =
                (rbEnd){getEndValue(&broad->boxes[id], axis, isUpper), 2 * id + isUpper};
        }
    }
    rbArray_Reserve(sweep->scratch, count);
    rbSortEnds(ends, sweep->scratch.data, count);
    for (int k = 0; k < count; ++k) {
        sweep->places[axis][ends[k].owner] = k;
    }
}

// The axis along which the boxes are spread most.
static int findLongestAxis(const rbBroadPhase* broad)
{
    const rbSweep1D* sweep = broad->state;
    int longest = 0;
    double most = -1.0;
    for (int axis = 0; axis < 3; ++axis) {
        double extent = sweep->ends[axis][2 * broad->count - 1].value - sweep->ends[axis][0].value;
        if (extent > most) {
            most = extent;
            longest = axis;
        }
    }
    return longest;
}

// All pairs, by a sweep along one axis that tests each box against those open at its lower end.
static void sweepAxis(rbBroadPhase* broad, int axis)
{
    rbSweep1D* sweep = broad->state;
    rbIdList* active = &sweep->active;
    active->count = 0;
    rbIdList_Reserve(&sweep->activePlaces, broad->idEnd);
    for (int k = 0; k < 2 * broad->count; ++k) {
        int owner = sweep->ends[axis][k].owner;
        int id = owner >> 1;
        if ((owner & 1) != 0) {
            int last = active->ids[--active->count];
            active->ids[sweep->activePlaces.ids[id]] = last;
            sweep->activePlaces.ids[last] = sweep->activePlaces.ids[id];
            continue;
        }
        for (int i = 0; i < active->count; ++i) {
            begin(broad, id, active->ids[i]);
        }
        sweep->activePlaces.ids[id] = active->count;
        rbIdList_Push(active, id);
    }
    broad->counts.cells += 2 * (int64_t)broad->count;
}

static void rebuild(rbBroadPhase* broad)
{
    rbSweep1D* sweep = broad->state;
    rbPairTable_Clear(&sweep->pairs);
    for (int axis = 0; axis < 3; ++axis) {
        sortAxis(broad, axis);
    }
    sweepAxis(broad, findLongestAxis(broad));
}

// Insertion sort from the previous order. False if that takes too long.
static bool sortAgain(rbBroadPhase* broad, int axis)
{
    rbSweep1D* sweep = broad->state;
    int64_t left = (int64_t)SWAPS_MAX * broad->count;
    for (int k = 0; k < 2 * broad->count; ++k) {
        rbEnd* end = &sweep->ends[axis][k];
        end->value = getEndValue(&broad->boxes[end->owner >> 1], axis, end->owner & 1);
    }
    for (int k = 1; k < 2 * broad->count && left >= 0; ++k) {
        int passed = sink(broad, axis, k);
        left -= passed;
        broad->counts.cells += 1 + passed;
    }
    return left >= 0;
}

static void placeAll(rbBroadPhase* broad, bool isAnyNew)
{
    reserve(broad);
    if (isAnyNew || !(sortAgain(broad, 0) && sortAgain(broad, 1) && sortAgain(broad, 2))) {
        rebuild(broad);
    }
}

// ------------------------------------------------------------------------------------------
// queries

// Boxes whose lower end precedes the upper end of the query on some axis, or whose upper end
// follows its lower one: the shortest of these six lists is tested.
static void query(rbBroadPhase* broad, const rbBounds* box, int self, rbIdList* found)
{
    const rbSweep1D* sweep = broad->state;
    int endCount = 2 * broad->count;
    int bestAxis = 0;
    int bestBegin = 0;
    int bestEnd = endCount + 1;
    for (int axis = 0; axis < 3 && endCount > 0; ++axis) {
        rbEnd lower = {getEndValue(box, axis, 0), -1};
        rbEnd upper = {getEndValue(box, axis, 1), INT32_MAX};
        int first = rbCountEndsBefore(sweep->ends[axis], endCount, &lower);
        int last = rbCountEndsBefore(sweep->ends[axis], endCount, &upper);
        if (last < bestEnd - bestBegin) {
            bestAxis = axis;
            bestBegin = 0;
            bestEnd = last;
        }
        if (endCount - first < bestEnd - bestBegin) {
            bestAxis = axis;
            bestBegin = first;
            bestEnd = endCount;
        }
    }
    // a list from the start is scanned by lower ends, a list up to the end by upper ends
    int wanted = bestBegin == 0 ? 0 : 1;
    int before = found->count;
    for (int k = bestBegin; k < bestEnd && k < endCount; ++k) {
        int owner = sweep->ends[bestAxis][k].owner;
        int id = owner >> 1;
        if ((owner & 1) == wanted && id != self) {
            ++broad->counts.boxTests;
            if (rbDoBoxesOverlap(box, &broad->boxes[id])) {
                rbIdList_Push(found, id);
            }
        }
    }
    broad->counts.cells += bestEnd - bestBegin;
    broad->counts.candidates += found->count - before;
}

static void findPartners(rbBroadPhase* broad, int id, rbIdList* found)
{
    const rbSweep1D* sweep = broad->state;
    int before = found->count;
    for (int32_t link = rbPairTable_First(&sweep->pairs, id); link >= 0;
         link = rbPairTable_Next(&sweep->pairs, link)) {
        rbIdList_Push(found, rbPairTable_Partner(&sweep->pairs, link));
    }
    broad->counts.candidates += found->count - before;
}

const rbBroadRow rbBroadRowSweep1D = {
    .name = "sweep-1d",
    .stateSize = sizeof(rbSweep1D),
    .stop = stop,
    .insert = insert,
    .move = moveBox,
    .usesOld = true,
    .remove = removeBox,
    .placeAll = placeAll,
    .query = query,
    .findPartners = findPartners,
};
