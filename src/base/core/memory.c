#define _DEFAULT_SOURCE // madvise

// Allocation with counting.
//
// A block remembers how it is freed, in a header before it. So blocks of several allocators (of the
// process, a thread, a world) may be mixed: a geometry made by the caller and handed to a world
// with its own allocator, say, goes back to where it came from. The allocator in use is found by a
// thread-local variable, which functions of worlds set for their duration: no container has to
// carry one.
#include "base/core/memory.h"

#ifdef RB_THREADS
#include <sched.h>
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

// How a block is freed, and the list that it is in; lies right before the memory handed out.
struct rbBlock {
    rbFreeFn* freeFn;
    void* context;
    size_t size; // of the memory handed out
    rbBlock* next;
    rbBlock** link; // points to this block; NULL: it is in no list
};

#define HEADER_SIZE 48 // memory is aligned to 16 bytes
_Static_assert(sizeof(rbBlock) <= HEADER_SIZE, "the header lies before the memory");

#define CACHE_LINE 64
#define ALIGNED_SIZE 1024 // bytes; blocks of at least this size are aligned to cache lines
#define HUGE_PAGE ((size_t)2 << 20)

static size_t roundUp(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

// Arrays begin at a cache line, so that elements the size of a line do not straddle two. Large ones
// request huge pages: otherwise random access to tens of megabytes misses the TLB every time.
static void* defaultAlloc(size_t size, void* context)
{
    (void)context;
    if (size < ALIGNED_SIZE || size > SIZE_MAX - HUGE_PAGE) {
        return malloc(size);
    }
    if (size < HUGE_PAGE) {
        return aligned_alloc(CACHE_LINE, roundUp(size, CACHE_LINE));
    }
    void* memory = aligned_alloc(HUGE_PAGE, roundUp(size, HUGE_PAGE));
#ifdef __linux__
    if (memory != NULL) {
        (void)madvise(memory, roundUp(size, HUGE_PAGE), MADV_HUGEPAGE); // only a hint
    }
#endif
    return memory;
}

static void defaultFree(void* memory, size_t size, void* context)
{
    (void)size;
    (void)context;
    free(memory);
}

static rbAllocator processAllocator = {defaultAlloc, defaultFree, NULL};
static _Thread_local rbAllocator threadAllocator; // allocFn NULL: that of the process
static _Thread_local rbBlock** threadList;        // new blocks go there; NULL: to no list
static _Thread_local rbGuard* threadGuard;        // the innermost; NULL: none
static _Thread_local rbStop threadStop;
static _Thread_local bool isShared;               // threads that work for each other use the memory
static atomic_flag sharedLock = ATOMIC_FLAG_INIT; // one of them does now
static atomic_uint_fast64_t allocationCount;
static atomic_uint_fast64_t allocatedBytes;

void rbSetAllocator(rbAllocFn* allocFn, rbFreeFn* freeFn, void* context)
{
    RB_ASSERT((allocFn == NULL) == (freeFn == NULL));
    processAllocator.allocFn = allocFn != NULL ? allocFn : defaultAlloc;
    processAllocator.freeFn = freeFn != NULL ? freeFn : defaultFree;
    processAllocator.context = context;
}

rbAllocator rbUseAllocator(rbAllocator allocator)
{
    RB_ASSERT((allocator.allocFn == NULL) == (allocator.freeFn == NULL));
    rbAllocator before = threadAllocator;
    threadAllocator = allocator;
    return before;
}

uint64_t rbGetAllocationCount(void)
{
    return atomic_load_explicit(&allocationCount, memory_order_relaxed);
}

uint64_t rbGetAllocatedBytes(void)
{
    return atomic_load_explicit(&allocatedBytes, memory_order_relaxed);
}

rbStop rbUseStop(rbStop stop)
{
    rbStop before = threadStop;
    threadStop = stop;
    return before;
}

// -------------------------------------------------------------------------------------- loans

rbLoan rbLend(void)
{
    return (rbLoan){.allocator = threadAllocator,
                    .list = threadList,
                    .hasGuard = threadGuard != NULL,
                    .isStoppable = threadGuard != NULL && threadGuard->isStoppable,
                    .isShared = true};
}

rbLoan rbBorrow(const rbLoan* loan)
{
    rbLoan own = {.allocator = threadAllocator, .list = threadList, .isShared = isShared};
    threadAllocator = loan->allocator;
    threadList = loan->list;
    isShared = loan->isShared;
    return own;
}

// Blocks are rare inside the allocator: steps do not allocate after the first ones.
static void lockShared(void)
{
    while (isShared && atomic_flag_test_and_set_explicit(&sharedLock, memory_order_acquire)) {
#ifdef RB_THREADS
        (void)sched_yield();
#endif
    }
}

static void unlockShared(void)
{
    if (isShared) {
        atomic_flag_clear_explicit(&sharedLock, memory_order_release);
    }
}

// -------------------------------------------------------------------------------------- guards

void rbGuard_Begin(rbGuard* guard, rbBlock** list)
{
    guard->outer = threadGuard;
    guard->allocator = threadAllocator;
    guard->list = threadList;
    guard->isActive = true;
    guard->isStoppable = false;
    threadGuard = guard;
    threadList = list;
}

void rbGuard_Enable(bool isStoppable, rbBlock** list)
{
    threadGuard->isStoppable = isStoppable;
    threadList = list;
}

void rbGuard_End(rbGuard* guard)
{
    if (guard->isActive) {
        guard->isActive = false;
        threadGuard = guard->outer;
        threadAllocator = guard->allocator;
        threadList = guard->list;
    }
}

// Returns to the innermost guard.
static void leaveTo(rbGuard* guard, rbStatus status, size_t size)
{
    guard->status = status;
    guard->size = size;
    rbGuard_End(guard);
    longjmp(guard->place, 1);
}

void rbReturnToGuard(rbStatus status, size_t size)
{
    RB_ASSERT(threadGuard != NULL);
    if (threadGuard != NULL) {
        leaveTo(threadGuard, status, size);
    }
}

rbStatus rbGuard_Explain(const rbGuard* guard, rbError* error)
{
    if (guard->status == RB_STATUS_CORRUPT) {
        return rbError_Set(error, guard->status, "the snapshot holds a value that cannot be");
    }
    return guard->status == RB_STATUS_MEMORY
               ? rbError_Set(error, guard->status,
                             "memory is exhausted: %zu bytes were requested; free some, or use "
                             "fewer bodies or smaller meshes",
                             guard->size)
               : rbError_Set(error, guard->status, "stopped on request");
}

bool rbHasStop(void)
{
    return threadStop.stopFn != NULL;
}

void rbPoll(void)
{
    if (threadGuard != NULL && threadGuard->isStoppable && threadStop.stopFn != NULL &&
        threadStop.stopFn(threadStop.context)) {
        leaveTo(threadGuard, RB_STATUS_STOPPED, 0);
    }
}

static void unlinkBlock(rbBlock* block)
{
    if (block->link != NULL) {
        *block->link = block->next;
        if (block->next != NULL) {
            block->next->link = block->link;
        }
        block->link = NULL;
    }
}

void rbDetachBlock(void* memory)
{
    if (memory != NULL) {
        unlinkBlock((rbBlock*)memory - 1);
    }
}

void rbFreeBlocks(rbBlock** list)
{
    while (*list != NULL) {
        rbFree(*list + 1, (*list)->size);
    }
}

rbBlock** rbUseList(rbBlock** list)
{
    rbBlock** before = threadList;
    threadList = list;
    return before;
}

// ------------------------------------------------------------------------------------ allocation

static void outOfMemory(size_t size)
{
    if (threadGuard != NULL) {
        leaveTo(threadGuard, RB_STATUS_MEMORY, size);
    }
    (void)fprintf(stderr, "rattleback: out of memory, %zu bytes were requested\n", size);
    abort();
}

// Bytes from the start of a block to the memory handed out: room for the header, and whole cache
// lines where the memory is aligned to them.
static size_t headerSize(size_t size)
{
    return size < ALIGNED_SIZE ? HEADER_SIZE : CACHE_LINE;
}

void* rbAlloc(size_t size)
{
    if (size == 0) {
        return NULL;
    }
    rbAllocator allocator = threadAllocator.allocFn != NULL ? threadAllocator : processAllocator;
    size_t offset = headerSize(size);
    lockShared();
    char* block =
        size <= SIZE_MAX - offset ? allocator.allocFn(size + offset, allocator.context) : NULL;
    if (block == NULL) {
        unlockShared();
        outOfMemory(size);
    }
    void* memory = block + offset;
    rbBlock* header = (rbBlock*)memory - 1;
    *header = (rbBlock){.freeFn = allocator.freeFn, .context = allocator.context, .size = size};
    if (threadList != NULL) {
        header->next = *threadList;
        header->link = threadList;
        if (header->next != NULL) {
            header->next->link = &header->next;
        }
        *threadList = header;
    }
    unlockShared();
    atomic_fetch_add_explicit(&allocationCount, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&allocatedBytes, size, memory_order_relaxed);
    return memory;
}

void* rbAllocZero(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        outOfMemory(SIZE_MAX);
    }
    void* memory = rbAlloc(count * size);
    if (memory != NULL) {
        memset(memory, 0, count * size);
    }
    return memory;
}

void rbFree(void* memory, size_t size)
{
    if (memory == NULL) {
        return;
    }
    atomic_fetch_sub_explicit(&allocatedBytes, size, memory_order_relaxed);
    size_t offset = headerSize(size);
    lockShared();
    unlinkBlock((rbBlock*)memory - 1);
    rbBlock header = *((rbBlock*)memory - 1);
    header.freeFn((char*)memory - offset, size + offset, header.context);
    unlockShared();
}

void* rbGrow(void* memory, size_t oldSize, size_t newSize)
{
    void* grown = rbAlloc(newSize);
    if (memory != NULL && grown != NULL) {
        memcpy(grown, memory, oldSize < newSize ? oldSize : newSize);
    }
    rbFree(memory, oldSize);
    return grown;
}

void* rbGrowArray(void* data, int* capacity, int wanted, size_t elementSize)
{
    RB_ASSERT(wanted >= 0);
    if (wanted <= *capacity) {
        return data;
    }
    int64_t grown = (int64_t)*capacity + *capacity / 2 + 8;
    grown = grown < wanted ? wanted : grown;
    if (grown > INT32_MAX) {
        outOfMemory(SIZE_MAX);
    }
    void* result = rbGrow(data, (size_t)*capacity * elementSize, (size_t)grown * elementSize);
    *capacity = (int)grown;
    return result;
}

void rbCopyElements(void* to, const void* from, int count, size_t elementSize)
{
    if (count > 0) {
        memcpy(to, from, (size_t)count * elementSize);
    }
}
