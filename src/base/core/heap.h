// A heap of numbered items by key, smallest key first; an item's key can change in place. Ties are
// broken by the smaller number, so that the order does not depend on history.
#pragma once

#include "base/core/memory.h"

#include <stdbool.h>

typedef struct rbHeapNode {
    double key;
    int item;
} rbHeapNode;

// Unused nodes before the first, so that the four children of a node share a cache line.
#define RB_HEAP_OFFSET 3

typedef struct rbHeap {
    RB_ARRAY(rbHeapNode) nodes; // the first RB_HEAP_OFFSET are not used
    int count;                  // of the nodes in use
    RB_ARRAY(int) places;       // position of each item in nodes, -1: not in the heap
} rbHeap;

void rbHeap_Free(rbHeap* heap);
// Inserts an item (0, 1, 2, ...) or changes its key, which is not NaN.
void rbHeap_Set(rbHeap* heap, int item, double key);
void rbHeap_Remove(rbHeap* heap, int item); // no effect if it is not in the heap
void rbHeap_Clear(rbHeap* heap);
bool rbHeap_IsValid(const rbHeap* heap);

static inline bool rbHeap_IsEmpty(const rbHeap* heap)
{
    return heap->count == 0;
}

// A node by its position: 0 is the smallest, 4 i + 1 .. 4 i + 4 are the children of i.
static inline rbHeapNode rbHeap_GetNode(const rbHeap* heap, int place)
{
    return heap->nodes.data[place + RB_HEAP_OFFSET];
}

// The item with the smallest key; the heap must not be empty.
static inline rbHeapNode rbHeap_Top(const rbHeap* heap)
{
    return heap->nodes.data[RB_HEAP_OFFSET];
}

static inline bool rbHeap_Has(const rbHeap* heap, int item)
{
    return item < heap->places.count && heap->places.data[item] >= 0;
}

// Whether an item is in the heap with a key that is no larger than another.
static inline bool rbHeap_IsDueBy(const rbHeap* heap, int item, double key)
{
    return rbHeap_Has(heap, item) && rbHeap_GetNode(heap, heap->places.data[item]).key <= key;
}
