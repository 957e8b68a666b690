// The table of broad phases and their common part: boxes by number, sorted results.
#include "collision/broadphase/broad_phase.h"

#include "base/core/registered_rows.h"

#include <string.h>

RB_DEFINE_TABLE(rbBroadPhaseType, static const rbBroadRow* getRow, RB_BROAD_COUNT, &rbBroadRowTree)

rbStatus rbRegisterBroadPhase(const rbBroadRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    return RB_REGISTER_ROW(rbBroadPhaseType, "broad phase", row, error);
}

RB_DEFINE_WORDS(rbBroadPhaseType, "broad phase", rbBroadPhaseType_GetCount(),
                index == RB_BROAD_AUTO ? "auto" : getRow((rbBroadPhaseType)index)->name)

rbBroadPhaseType rbChooseBroadPhase(const rbBounds* boxes, int count)
{
    RB_ASSERT(count >= 0);
    RB_ASSERT(count == 0 || boxes != NULL);
    for (int type = RB_BROAD_COUNT; type < rbBroadPhaseType_GetCount(); ++type) {
        const rbBroadRow* row = getRow((rbBroadPhaseType)type);
        if (row->suits != NULL && row->suits(boxes, count)) {
            return (rbBroadPhaseType)type;
        }
    }
    return RB_BROAD_TREE;
}

void rbIdList_Free(rbIdList* list)
{
    RB_ASSERT(list != NULL);
    rbFree(list->ids, (size_t)list->capacity * sizeof *list->ids);
    *list = (rbIdList){0};
}

rbBroadPhase* rbCreateBroadPhase(rbBroadPhaseType type, double cellSize)
{
    RB_ASSERT(type > RB_BROAD_AUTO && (int)type < rbBroadPhaseType_GetCount());
    RB_ASSERT(cellSize >= 0.0 && isfinite(cellSize));
    rbBroadPhase* broad = rbAllocZero(1, sizeof *broad);
    broad->type = type;
    broad->row = getRow(type);
    broad->state = rbAllocZero(1, broad->row->stateSize);
    if (broad->row->start != NULL) {
        broad->row->start(broad, cellSize);
    }
    return broad;
}

void rbDestroyBroadPhase(rbBroadPhase* broad)
{
    if (broad == NULL) {
        return;
    }
    if (broad->row->stop != NULL) {
        broad->row->stop(broad);
    }
    rbFree(broad->state, broad->row->stateSize);
    rbFree(broad->boxes, (size_t)broad->capacity * sizeof *broad->boxes);
    rbFree(broad->isIn, (size_t)broad->capacity * sizeof *broad->isIn);
    rbIdList_Free(&broad->scratch);
    rbIdList_Free(&broad->partners);
    rbFree(broad, sizeof *broad);
}

rbBroadPhaseType rbBroadPhase_GetType(const rbBroadPhase* broad)
{
    RB_ASSERT(broad != NULL);
    return broad->type;
}

bool rbBroadPhase_Has(const rbBroadPhase* broad, int id)
{
    RB_ASSERT(broad != NULL);
    return id >= 0 && id < broad->idEnd && broad->isIn[id] != 0;
}

rbBounds rbBroadPhase_GetBox(const rbBroadPhase* broad, int id)
{
    RB_ASSERT(rbBroadPhase_Has(broad, id));
    return broad->boxes[id];
}

rbBroadPhaseCounts rbBroadPhase_GetCounts(const rbBroadPhase* broad)
{
    RB_ASSERT(broad != NULL);
    return broad->counts;
}

// Reserves memory for ids below end.
static void reserveIds(rbBroadPhase* broad, int end)
{
    int capacity = broad->capacity;
    broad->boxes = rbEnsureArray(broad->boxes, &capacity, end, sizeof *broad->boxes);
    broad->isIn = rbEnsureArray(broad->isIn, &broad->capacity, end, sizeof *broad->isIn);
    for (; broad->idEnd < end; ++broad->idEnd) {
        broad->isIn[broad->idEnd] = 0;
    }
}

// -0 becomes +0, so that equal coordinates have equal bits.
static rbBounds clean(const rbBounds* box)
{
    return (rbBounds){rbAdd(box->lower, RB_VEC3_ZERO), rbAdd(box->upper, RB_VEC3_ZERO)};
}

#define FEW 32 // the estimated break-even of the quadratic sort and two passes over 256 counters

// Each number goes to the index that is the count of smaller ones. Quadratic, but without branches
// that depend on the numbers; insertion sort mispredicts at each of the usual ten.
static void sortFew(int* ids, int count)
{
    int padded[FEW + 3];
    int i = 0;
    for (; i < count; ++i) {
        padded[i] = ids[i];
    }
    for (; i < ((count + 3) & ~3); ++i) {
        padded[i] = INT32_MAX; // not smaller than any
    }
    for (i = 0; i < count; ++i) {
        int id = padded[i];
        rbQuadMask rank = {0, 0, 0, 0};
        rbQuadMask limit = {id, id, id, id};
        for (int k = 0; k < count; k += 4) {
            rbQuadMask four;
            memcpy(&four, &padded[k], sizeof four);
            rank += four < limit; // -1 where smaller
        }
        ids[-(rank[0] + rank[1] + rank[2] + rank[3])] = id;
    }
}

#define DIGIT_BITS 8
#define DIGITS (1 << DIGIT_BITS)

// One pass of a radix sort.
static void sortDigit(const int* from, int* to, int count, int shift)
{
    int starts[DIGITS] = {0};
    for (int i = 0; i < count; ++i) {
        ++starts[(from[i] >> shift) & (DIGITS - 1)];
    }
    int sum = 0;
    for (int d = 0; d < DIGITS; ++d) {
        int here = starts[d];
        starts[d] = sum;
        sum += here;
    }
    for (int i = 0; i < count; ++i) {
        to[starts[(from[i] >> shift) & (DIGITS - 1)]++] = from[i];
    }
}

void rbIdList_Sort(rbIdList* list, int first, rbIdList* scratch)
{
    int count = list->count - first;
    int* ids = count > 0 ? list->ids + first : NULL;
    if (count <= FEW) {
        sortFew(ids, count);
        return;
    }
    int largest = 0;
    for (int i = 0; i < count; ++i) {
        RB_ASSERT(ids[i] >= 0);
        largest = ids[i] > largest ? ids[i] : largest;
    }
    rbIdList_Reserve(scratch, count);
    int* from = ids;
    int* to = scratch->ids;
    for (int shift = 0; shift < 31 && (largest >> shift) != 0; shift += DIGIT_BITS) {
        sortDigit(from, to, count, shift);
        int* swapped = from;
        from = to;
        to = swapped;
    }
    if (from != ids) {
        memcpy(ids, from, (size_t)count * sizeof *ids);
    }
}

void rbBroadPhase_FindPartners(rbBroadPhase* broad, int id, rbIdList* found, rbIdList* scratch)
{
    int first = found->count;
    if (broad->row->findPartners != NULL) {
        broad->row->findPartners(broad, id, found);
    } else {
        broad->row->query(broad, &broad->boxes[id], id, found);
    }
    if (scratch != NULL) {
        rbIdList_Sort(found, first, scratch);
    }
}

void rbBroadPhase_PlaceAs(rbBroadPhase* broad, int id, rbBounds box, uint8_t kind)
{
    RB_ASSERT(broad != NULL);
    RB_ASSERT(id >= 0);
    RB_ASSERT(rbIsProperBounds(&box));
    reserveIds(broad, id + 1);
    bool wasIn = broad->isIn[id] != 0;
    // copies the old box only if the row uses it: it may not be in the cache
    rbBounds old = wasIn && broad->row->usesOld ? broad->boxes[id] : box;
    broad->isIn[id] = kind;
    broad->boxes[id] = clean(&box);
    broad->count += wasIn ? 0 : 1;
    if (wasIn && broad->row->move != NULL) {
        broad->row->move(broad, id, &old);
    } else if (!wasIn && broad->row->insert != NULL) {
        broad->row->insert(broad, id);
    }
}

void rbBroadPhase_Place(rbBroadPhase* broad, int id, rbBounds box, rbIdList* partners)
{
    rbBroadPhase_PlaceAs(broad, id, box, RB_BROAD_BOX);
    if (partners != NULL) {
        partners->count = 0;
        rbBroadPhase_FindPartners(broad, id, partners, &broad->scratch);
    }
}

bool rbBroadPhase_Defer(rbBroadPhase* broad, int id, rbBounds box)
{
    if (broad->row->refit == NULL || !rbBroadPhase_Has(broad, id)) {
        return false;
    }
    RB_ASSERT(rbIsProperBounds(&box));
    broad->boxes[id] = clean(&box);
    return true;
}

void rbBroadPhase_PlaceAll(rbBroadPhase* broad, const rbBounds* boxes, int count)
{
    RB_ASSERT(broad != NULL);
    RB_ASSERT(count >= 0);
    RB_ASSERT(count == 0 || boxes != NULL);
    reserveIds(broad, count);
    // few of many are placed one by one
    if (broad->row->placeAll == NULL || 2 * count < broad->count || count == 0) {
        for (int id = 0; id < count; ++id) {
            rbBroadPhase_Place(broad, id, boxes[id], NULL);
        }
        return;
    }
    bool isAnyNew = false;
    for (int id = 0; id < count; ++id) {
        RB_ASSERT(rbIsProperBounds(&boxes[id]));
        isAnyNew = isAnyNew || broad->isIn[id] == 0;
        broad->count += broad->isIn[id] != 0 ? 0 : 1;
        broad->isIn[id] = RB_BROAD_BOX;
        broad->boxes[id] = clean(&boxes[id]);
    }
    broad->row->placeAll(broad, isAnyNew);
}

void rbBroadPhase_Remove(rbBroadPhase* broad, int id)
{
    RB_ASSERT(rbBroadPhase_Has(broad, id));
    if (broad->row->remove != NULL) {
        broad->row->remove(broad, id);
    }
    broad->isIn[id] = 0;
    --broad->count;
}

void rbBroadPhase_Query(rbBroadPhase* broad, rbBounds box, rbIdList* found)
{
    RB_ASSERT(broad != NULL);
    RB_ASSERT(found != NULL);
    RB_ASSERT(rbIsProperBounds(&box));
    found->count = 0;
    rbBounds cleaned = clean(&box);
    broad->row->query(broad, &cleaned, RB_BROAD_NONE, found);
    rbIdList_Sort(found, 0, &broad->scratch);
}

void rbBroadPhase_FindPairs(rbBroadPhase* broad, rbIdList* pairs)
{
    RB_ASSERT(broad != NULL);
    RB_ASSERT(pairs != NULL);
    pairs->count = 0;
    if (broad->row->findPairs != NULL) {
        broad->row->findPairs(broad, pairs);
        return;
    }
    rbIdList* partners = &broad->partners;
    for (int id = 0; id < broad->idEnd; ++id) {
        if (broad->isIn[id] == 0) {
            continue;
        }
        partners->count = 0;
        rbBroadPhase_FindPartners(broad, id, partners, &broad->scratch);
        for (int i = 0; i < partners->count; ++i) {
            if (partners->ids[i] > id) {
                rbIdList_PushPair(pairs, id, partners->ids[i]);
            }
        }
    }
}
