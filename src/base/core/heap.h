// A heap of numbered items by key, smallest key first; an item's key can change in place. Ties are
// broken by the smaller number, so that the order does not depend on history.
#pragma once

#include "base/core/memory.h"

#include <math.h>
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

// Many items, of which few are due soon: only those are in a heap, which stays in the cache. Most
// keys that are set are later and cost no search of a place.
typedef struct rbQueue {
    rbHeap soon;                // places: of the items that are not, -2 - the position in later
    RB_ARRAY(rbHeapNode) later; // in no order
    double horizon;             // keys up to this are soon
} rbQueue;

void rbQueue_Free(rbQueue* queue);
// As of the heap.
void rbQueue_Set(rbQueue* queue, int item, double key);
void rbQueue_Remove(rbQueue* queue, int item);
// False if the queue is empty. Otherwise the first item is the top of the heap from now on.
bool rbQueue_HasNext(rbQueue* queue);

// The key of an item; infinite if it is not in the queue.
static inline double rbQueue_GetKey(const rbQueue* queue, int item)
{
    int place = item < queue->soon.places.count ? queue->soon.places.data[item] : -1;
    return place >= 0    ? rbHeap_GetNode(&queue->soon, place).key
           : place == -1 ? (double)INFINITY
                         : queue->later.data[-2 - place].key;
}
