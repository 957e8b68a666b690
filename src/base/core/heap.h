// A heap of numbered items by key, the least first; an item's key can change in place. Equal keys
// go by the smaller number, so that the order does not depend on history.
#ifndef RB_CORE_HEAP_H
#define RB_CORE_HEAP_H

#include "base/core/memory.h"

#include <stdbool.h>

typedef struct rbHeapNode {
    double key;
    int item;
} rbHeapNode;

typedef struct rbHeap {
    RB_ARRAY(rbHeapNode) nodes;
    RB_ARRAY(int) places; // of items in nodes, -1: not there
} rbHeap;

void rbHeap_Free(rbHeap* heap);
// Inserts an item (0, 1, 2, ...) or changes its key, which is not NaN.
void rbHeap_Set(rbHeap* heap, int item, double key);
void rbHeap_Remove(rbHeap* heap, int item); // fine if it is not there
void rbHeap_Clear(rbHeap* heap);
bool rbHeap_IsValid(const rbHeap* heap);

static inline bool rbHeap_IsEmpty(const rbHeap* heap)
{
    return heap->nodes.count == 0;
}

// The least; the heap is not empty.
static inline rbHeapNode rbHeap_Top(const rbHeap* heap)
{
    return heap->nodes.data[0];
}

static inline bool rbHeap_Has(const rbHeap* heap, int item)
{
    return item < heap->places.count && heap->places.data[item] >= 0;
}

#endif
