// Four children per node: half the levels of a binary heap, and the children share a cache line.
#include "base/core/heap.h"

#define CHILDREN 4
// Of more items in a queue than MANY, about this part becomes soon at once.
#define MANY 2000
#define PART 0.0625
#define SAMPLES 200

static inline bool isBefore(rbHeapNode a, rbHeapNode b)
{
    return a.key != b.key ? a.key < b.key : a.item < b.item; // keys are rarely equal
}

// The smallest of the four children from one on, without a branch: none could guess which one.
static int leastOfFour(const rbHeap* heap, int first)
{
    const rbHeapNode* nodes = &heap->nodes.data[first + RB_HEAP_OFFSET];
    int low = isBefore(nodes[1], nodes[0]) ? 1 : 0;
    int high = isBefore(nodes[3], nodes[2]) ? 3 : 2;
    return first + low + ((high - low) & -(int)isBefore(nodes[high], nodes[low]));
}

static void put(rbHeap* heap, int place, rbHeapNode node)
{
    heap->nodes.data[place + RB_HEAP_OFFSET] = node;
    heap->places.data[node.item] = place;
}

static void siftUp(rbHeap* heap, int place, rbHeapNode node)
{
    while (place > 0) {
        int parent = (place - 1) / CHILDREN;
        if (!isBefore(node, rbHeap_GetNode(heap, parent))) {
            break;
        }
        put(heap, place, rbHeap_GetNode(heap, parent));
        place = parent;
    }
    put(heap, place, node);
}

static void siftDown(rbHeap* heap, int place, rbHeapNode node)
{
    int count = heap->count;
    for (;;) {
        int first = CHILDREN * place + 1;
        if (first >= count) {
            break;
        }
        bool areFour = first + CHILDREN <= count;
        int least = areFour ? leastOfFour(heap, first) : first;
        for (int child = first + 1; !areFour && child < count; ++child) {
            if (isBefore(rbHeap_GetNode(heap, child), rbHeap_GetNode(heap, least))) {
                least = child;
            }
        }
        if (!isBefore(rbHeap_GetNode(heap, least), node)) {
            break;
        }
        put(heap, place, rbHeap_GetNode(heap, least));
        place = least;
    }
    put(heap, place, node);
}

void rbHeap_Free(rbHeap* heap)
{
    rbArray_FreeAll(heap->nodes, heap->places);
    heap->count = 0;
}

void rbHeap_Set(rbHeap* heap, int item, double key)
{
    RB_ASSERT(item >= 0);
    RB_ASSERT(!isnan(key));
    rbArray_Fill(heap->places, item + 1, -1);
    rbHeapNode node = {key, item};
    int place = heap->places.data[item];
    if (place < 0) {
        rbArray_Fill(heap->nodes, heap->count + 1 + RB_HEAP_OFFSET, node);
        heap->count += 1;
        siftUp(heap, heap->count - 1, node);
    } else if (isBefore(node, rbHeap_GetNode(heap, place))) {
        siftUp(heap, place, node);
    } else {
        siftDown(heap, place, node);
    }
}

void rbHeap_Remove(rbHeap* heap, int item)
{
    if (!rbHeap_Has(heap, item)) {
        return;
    }
    int place = heap->places.data[item];
    heap->places.data[item] = -1;
    heap->count -= 1;
    if (place == heap->count) {
        return;
    }
    rbHeapNode last = rbHeap_GetNode(heap, heap->count);
    if (place > 0 && isBefore(last, rbHeap_GetNode(heap, (place - 1) / CHILDREN))) {
        siftUp(heap, place, last);
    } else {
        siftDown(heap, place, last);
    }
}

bool rbHeap_IsValid(const rbHeap* heap)
{
    int present = 0;
    for (int i = 0; i < heap->places.count; ++i) {
        present += heap->places.data[i] >= 0 ? 1 : 0;
    }
    for (int i = 0; i < heap->count; ++i) {
        if (heap->places.data[rbHeap_GetNode(heap, i).item] != i ||
            (i > 0 &&
             isBefore(rbHeap_GetNode(heap, i), rbHeap_GetNode(heap, (i - 1) / CHILDREN)))) {
            return false;
        }
    }
    return present == heap->count;
}

// ----------------------------------------------------------------------------------------- queue

void rbQueue_Free(rbQueue* queue)
{
    rbHeap_Free(&queue->soon);
    rbArray_Free(queue->later);
}

void rbQueue_Remove(rbQueue* queue, int item)
{
    int* places = queue->soon.places.data;
    int place = item < queue->soon.places.count ? places[item] : -1;
    if (place >= -1) {
        rbHeap_Remove(&queue->soon, item);
        return;
    }
    rbHeapNode last = queue->later.data[--queue->later.count];
    queue->later.data[-2 - place] = last;
    places[last.item] = place;
    places[item] = -1;
}

void rbQueue_Set(rbQueue* queue, int item, double key)
{
    RB_ASSERT(!isnan(key));
    if (item >= queue->soon.places.count) {
        rbArray_Fill(queue->soon.places, item + 1, -1);
        int capacity = queue->soon.places.capacity; // each may get all items: no allocation later
        rbArray_Reserve(queue->soon.nodes, capacity + RB_HEAP_OFFSET);
        rbArray_Reserve(queue->later, capacity);
    }
    int* place = &queue->soon.places.data[item];
    if ((key <= queue->horizon) == (*place < -1)) {
        rbQueue_Remove(queue, item); // it goes to the other ones
    }
    if (key <= queue->horizon) {
        rbHeap_Set(&queue->soon, item, key);
        return;
    }
    if (*place == -1) {
        rbArray_SetCount(queue->later, queue->later.count + 1);
        *place = -1 - queue->later.count;
    }
    queue->later.data[-2 - *place] = (rbHeapNode){key, item};
}

bool rbQueue_HasNext(rbQueue* queue)
{
    int count = queue->later.count;
    if (queue->soon.count > 0 || count == 0) {
        return queue->soon.count > 0;
    }
    double least = INFINITY, sum = 0.0;
    int samples = 0;
    for (int i = 0; i < count; i += 1 + count / SAMPLES) {
        double key = queue->later.data[i].key;
        least = key < least ? key : least;
        sum += key;
        ++samples;
    }
    double part = count > MANY ? PART : 4.0; // of few items, nearly all
    queue->horizon = fmax(least, least + part * (sum / samples - least));
    for (int i = count - 1; i >= 0; --i) {
        rbHeapNode node = queue->later.data[i];
        if (node.key <= queue->horizon) {
            rbQueue_Set(queue, node.item, node.key);
        }
    }
    return true;
}
