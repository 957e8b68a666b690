// Heap, skip list and sorted list of pairs.
#include "lab/distance/sequence.h"

#include <string.h>

// Entries reserved at the start: most queries of separate bodies need no more.
#define START_CAPACITY 256

// Levels of the skip list; the probability of one more is 1 / 4: sufficient for 4^LEVELS entries.
#define LEVELS 8
#define LEVEL_BITS 2

// ----------------------------------------------------------------------------------------- heap

static void startHeap(rbPairSequence* sequence)
{
    (void)rbArray_Reserve(sequence->entries, START_CAPACITY);
}

static void pushHeap(rbPairSequence* sequence, rbSequenceEntry entry)
{
    rbArray_Push(sequence->entries, entry);
    rbSequenceEntry* heap = sequence->entries.data;
    int place = sequence->count++;
    while (place > 0) {
        int parent = (place - 1) / 2;
        if (!rbPairEntry_IsBefore(&entry, &heap[parent])) {
            break;
        }
        heap[place] = heap[parent];
        place = parent;
    }
    heap[place] = entry;
}

static const rbSequenceEntry* firstOfHeap(const rbPairSequence* sequence)
{
    return sequence->entries.data;
}

static void popHeap(rbPairSequence* sequence)
{
    RB_ASSERT(sequence->count > 0);
    rbSequenceEntry* heap = sequence->entries.data;
    int count = --sequence->count;
    sequence->entries.count = count;
    rbSequenceEntry entry = heap[count];
    int place = 0;
    for (int child = 1; child < count; child = 2 * place + 1) {
        if (child + 1 < count && rbPairEntry_IsBefore(&heap[child + 1], &heap[child])) {
            ++child;
        }
        if (!rbPairEntry_IsBefore(&heap[child], &entry)) {
            break;
        }
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = entry;
}

static void cutHeap(rbPairSequence* sequence, double limit)
{
    (void)sequence;
    (void)limit;
}

// ----------------------------------------------------------------------------------------- pool

// An unused entry of the pool, with memory for its links.
static int takeEntry(rbPairSequence* sequence, rbSequenceEntry entry, int linkCount)
{
    int index = sequence->free;
    if (index != 0) {
        sequence->free = sequence->links.data[(ptrdiff_t)index * linkCount];
        sequence->entries.data[index] = entry;
    } else {
        index = sequence->entries.count;
        rbArray_Push(sequence->entries, entry);
        (void)rbArray_Reserve(sequence->links, (index + 1) * linkCount);
        sequence->links.count = (index + 1) * linkCount;
    }
    ++sequence->count;
    return index;
}

static void giveBack(rbPairSequence* sequence, int index, int linkCount)
{
    RB_ASSERT(index > 0 && sequence->count > 0);
    sequence->links.data[(ptrdiff_t)index * linkCount] = sequence->free;
    sequence->free = index;
    --sequence->count;
}

// The head: entry 0, whose links of 0 mean that nothing follows.
static void startPool(rbPairSequence* sequence, int linkCount)
{
    rbSequenceEntry head = {-1.0, 0, -1, -1};
    (void)rbArray_Reserve(sequence->entries, START_CAPACITY);
    (void)rbArray_Reserve(sequence->links, START_CAPACITY * linkCount);
    (void)takeEntry(sequence, head, linkCount);
    memset(sequence->links.data, 0, (size_t)linkCount * sizeof(int));
    sequence->count = 0;
}

// ------------------------------------------------------------------------------------ skip list

static void startSkipList(rbPairSequence* sequence)
{
    startPool(sequence, LEVELS);
}

static int* linksOf(const rbPairSequence* sequence, int index)
{
    return sequence->links.data + (ptrdiff_t)index * LEVELS;
}

// For every level, the last entry before the given one.
static void findBefore(const rbPairSequence* sequence, const rbSequenceEntry* entry,
                       int before[LEVELS])
{
    int index = 0;
    for (int level = LEVELS - 1; level >= 0; --level) {
        int next = linksOf(sequence, index)[level];
        while (next != 0 && rbPairEntry_IsBefore(&sequence->entries.data[next], entry)) {
            index = next;
            next = linksOf(sequence, index)[level];
        }
        before[level] = index;
    }
}

static void pushSkipList(rbPairSequence* sequence, rbSequenceEntry entry)
{
    int before[LEVELS];
    findBefore(sequence, &entry, before);
    int height = 1;
    uint64_t bits = rbRandom_Bits(&sequence->random);
    while (height < LEVELS && (bits & ((1u << LEVEL_BITS) - 1u)) == 0) {
        bits >>= LEVEL_BITS;
        ++height;
    }
    int index = takeEntry(sequence, entry, LEVELS);
    int* links = linksOf(sequence, index);
    for (int level = 0; level < height; ++level) {
        int* beforeLinks = linksOf(sequence, before[level]);
        links[level] = beforeLinks[level];
        beforeLinks[level] = index;
    }
}

static const rbSequenceEntry* firstOfSkipList(const rbPairSequence* sequence)
{
    return &sequence->entries.data[sequence->links.data[0]];
}

static void popSkipList(rbPairSequence* sequence)
{
    RB_ASSERT(sequence->count > 0);
    int* head = linksOf(sequence, 0);
    int index = head[0];
    const int* links = linksOf(sequence, index);
    for (int level = 0; level < LEVELS && head[level] == index; ++level) {
        head[level] = links[level];
    }
    giveBack(sequence, index, LEVELS);
}

static void cutSkipList(rbPairSequence* sequence, double limit)
{
    // before every entry of this key: none is as recent
    rbSequenceEntry bound = {limit, UINT32_MAX, -1, -1};
    int before[LEVELS];
    findBefore(sequence, &bound, before);
    int index = linksOf(sequence, before[0])[0];
    for (int level = 0; level < LEVELS; ++level) {
        linksOf(sequence, before[level])[level] = 0;
    }
    while (index != 0) {
        int next = linksOf(sequence, index)[0];
        giveBack(sequence, index, LEVELS);
        index = next;
    }
}

// ----------------------------------------------------------------------------------------- list

// Links of the list: the next entry, the previous one. The head closes the ring.
#define NEXT(sequence, index) ((sequence)->links.data[2 * (ptrdiff_t)(index)])
#define BACK(sequence, index) ((sequence)->links.data[2 * (ptrdiff_t)(index) + 1])

static void startList(rbPairSequence* sequence)
{
    startPool(sequence, 2);
}

static void pushList(rbPairSequence* sequence, rbSequenceEntry entry)
{
    int index = takeEntry(sequence, entry, 2);
    int next = NEXT(sequence, 0);
    while (next != 0 && rbPairEntry_IsBefore(&sequence->entries.data[next], &entry)) {
        next = NEXT(sequence, next);
    }
    int back = BACK(sequence, next);
    NEXT(sequence, index) = next;
    BACK(sequence, index) = back;
    NEXT(sequence, back) = index;
    BACK(sequence, next) = index;
}

static const rbSequenceEntry* firstOfList(const rbPairSequence* sequence)
{
    return &sequence->entries.data[NEXT(sequence, 0)];
}

static void removeFromList(rbPairSequence* sequence, int index)
{
    int next = NEXT(sequence, index);
    int back = BACK(sequence, index);
    NEXT(sequence, back) = next;
    BACK(sequence, next) = back;
    giveBack(sequence, index, 2);
}

static void popList(rbPairSequence* sequence)
{
    removeFromList(sequence, NEXT(sequence, 0));
}

static void cutList(rbPairSequence* sequence, double limit)
{
    while (sequence->count > 0 && sequence->entries.data[BACK(sequence, 0)].key >= limit) {
        removeFromList(sequence, BACK(sequence, 0));
    }
}

// ---------------------------------------------------------------------------------------- table

static const rbSequenceRow rows[RB_SEQUENCE_COUNT] = {
    [RB_SEQUENCE_HEAP] = {"heap", startHeap, pushHeap, firstOfHeap, popHeap, cutHeap},
    [RB_SEQUENCE_SKIP_LIST] = {"skip-list", startSkipList, pushSkipList, firstOfSkipList,
                               popSkipList, cutSkipList},
    [RB_SEQUENCE_LIST] = {"list", startList, pushList, firstOfList, popList, cutList},
};

const rbSequenceRow* rbGetSequenceRow(rbSequence sequence)
{
    RB_ASSERT((unsigned)sequence < RB_SEQUENCE_COUNT);
    return &rows[sequence];
}

rbPairSequence rbMakePairSequence(rbSequence kind)
{
    rbPairSequence sequence = {.row = rbGetSequenceRow(kind), .random = {1}};
    sequence.row->start(&sequence);
    return sequence;
}

void rbFreePairSequence(rbPairSequence* sequence)
{
    rbArray_Free(sequence->entries);
    rbArray_Free(sequence->links);
}
