// Allocation with counting, and growable arrays.
#pragma once

#include <rattleback/base.h>

#include <setjmp.h>
#include <stdbool.h>

// Memory of at least size bytes, uninitialized. Never NULL: if there is none, returns to the
// innermost guard, and without one prints a message on stderr and aborts. Size 0 returns NULL.
void* rbAlloc(size_t size);

// The same, zeroed; there is never memory when count * size overflows.
void* rbAllocZero(size_t count, size_t size);

// Frees memory; size must be the size it was allocated with. NULL is accepted.
void rbFree(void* memory, size_t size);

// Reallocates memory to another size.
void* rbGrow(void* memory, size_t oldSize, size_t newSize);

// Memory comes from an allocator until the end of the block; one without functions changes nothing.
// Every public function that may allocate for a world begins so.
#define RB_USE_ALLOCATOR(allocator)                                                  \
    __attribute__((cleanup(rbAllocatorScope_End))) rbAllocatorScope allocatorScope = \
        rbAllocatorScope_Begin(&(allocator));                                        \
    (void)allocatorScope

// New blocks go to no list meanwhile: what a callback of the user creates is not the world's.
typedef struct rbBlock rbBlock;

typedef struct rbAllocatorScope {
    rbAllocator before;
    rbBlock** list;
    bool isChanged;
} rbAllocatorScope;

// New blocks go to another list from now on; returns the present one.
rbBlock** rbUseList(rbBlock** list);

static inline rbAllocatorScope rbAllocatorScope_Begin(const rbAllocator* allocator)
{
    rbAllocatorScope scope = {.isChanged = allocator->allocFn != NULL, .list = rbUseList(NULL)};
    if (scope.isChanged) {
        scope.before = rbUseAllocator(*allocator);
    }
    return scope;
}

static inline void rbAllocatorScope_End(rbAllocatorScope* scope)
{
    if (scope->isChanged) {
        (void)rbUseAllocator(scope->before);
    }
    (void)rbUseList(scope->list);
}

// A guard is a place to return to from any depth, when memory is exhausted or a stop is asked for:
// RB_GUARD(guard, list) { what to do then, and return }. Everything allocated under it is put into
// a list of blocks (NULL: none), and can be freed as a whole, whoever has owned it. Guards nest.

typedef struct rbGuard {
    jmp_buf place;
    struct rbGuard* outer;
    rbAllocator allocator; // of the thread, before
    rbBlock** list;        // likewise
    rbStatus status;       // why it was returned to: MEMORY, STOPPED or CORRUPT
    size_t size;           // bytes that were requested
    bool isActive;
    bool isStoppable; // a stop may return to it, not only lack of memory
} rbGuard;

#define RB_GUARD(guard, list)                            \
    __attribute__((cleanup(rbGuard_End))) rbGuard guard; \
    rbGuard_Begin(&(guard), (list));                     \
    if (setjmp((guard).place) != 0)

void rbGuard_Begin(rbGuard* guard, rbBlock** list);
void rbGuard_End(rbGuard* guard);
// Changes the innermost guard.
void rbGuard_Enable(bool isStoppable, rbBlock** list);
// Writes why a guard was returned to and returns its status.
rbStatus rbGuard_Explain(const rbGuard* guard, rbError* error);
// Called in every loop that may be long: returns to the guard if a stop is asked for.
void rbPoll(void);
// Whether a stop function is set.
bool rbHasStop(void);
// Takes memory out of its list, so that rbFreeBlocks spares it; NULL is accepted.
void rbDetachBlock(void* memory);
// Frees all blocks of a list.
void rbFreeBlocks(rbBlock** list);

// What a thread lends to those that work for it: their memory is the same, and only one at a time
// is inside the allocator.
typedef struct rbLoan {
    rbAllocator allocator;
    rbBlock** list;
    bool hasGuard;    // lack of memory and stops have a place to return to
    bool isStoppable; // likewise
    bool isShared;    // others use the memory as well
} rbLoan;

// The memory of this thread, to be shared.
rbLoan rbLend(void);
// Uses the memory of another thread from now on; returns the own, to be used again in the same way.
rbLoan rbBorrow(const rbLoan* loan);
// Returns to the guard: another thread could not go on, or loaded bytes are refused.
void rbReturnToGuard(rbStatus status, size_t size);

// Growable array of a type: RB_ARRAY(int) a = {0}; rbArray_Push(a, 3); a.data[0]; rbArray_Free(a).
// A pointer into it becomes invalid at the next push: keep the index instead.
#define RB_ARRAY(type) \
    struct {           \
        type* data;    \
        int count;     \
        int capacity;  \
    }

#define rbArray_Reserve(array, wanted) \
    ((array).data = rbGrowArray((array).data, &(array).capacity, (wanted), sizeof(*(array).data)))

// New elements are not set.
#define rbArray_SetCount(array, wanted) (rbArray_Reserve(array, wanted), (array).count = (wanted))

#define rbArray_Push(array, value)                                                                 \
    ((array).data =                                                                                \
         rbEnsureArray((array).data, &(array).capacity, (array).count + 1, sizeof(*(array).data)), \
     (array).data[(array).count++] = (value))

// Pushes a value until there are at least as many elements as wanted.
#define rbArray_Fill(array, wanted, value) \
    while ((array).count < (wanted))       \
    rbArray_Push(array, value)

// Sets an element, which may be the one after the last.
#define rbArray_Put(array, index, value)                                                     \
    ((array).data =                                                                          \
         rbEnsureArray((array).data, &(array).capacity, (index) + 1, sizeof(*(array).data)), \
     (array).count += (index) == (array).count ? 1 : 0, (array).data[(index)] = (value))

#define rbArray_Free(array)                                                                       \
    (rbFree((array).data, (size_t)(array).capacity * sizeof(*(array).data)), (array).data = NULL, \
     (array).count = 0, (array).capacity = 0)

// Frees up to six arrays.
#define rbArray_FreeAll(...)                                                                       \
    RB_FREE_PICK(__VA_ARGS__, RB_FREE_6, RB_FREE_5, RB_FREE_4, RB_FREE_3, RB_FREE_2, RB_FREE_1, 0) \
    (__VA_ARGS__)
#define RB_FREE_PICK(a, b, c, d, e, f, name, ...) name
#define RB_FREE_1(a) rbArray_Free(a)
#define RB_FREE_2(a, ...) (rbArray_Free(a), RB_FREE_1(__VA_ARGS__))
#define RB_FREE_3(a, ...) (rbArray_Free(a), RB_FREE_2(__VA_ARGS__))
#define RB_FREE_4(a, ...) (rbArray_Free(a), RB_FREE_3(__VA_ARGS__))
#define RB_FREE_5(a, ...) (rbArray_Free(a), RB_FREE_4(__VA_ARGS__))
#define RB_FREE_6(a, ...) (rbArray_Free(a), RB_FREE_5(__VA_ARGS__))

// Makes an array a copy of other elements of its type.
#define rbArray_Assign(array, elements, wanted)                \
    (rbArray_Reserve(array, wanted), (array).count = (wanted), \
     rbCopyElements((array).data, (elements), (wanted), sizeof(*(array).data)))

// Copies elements; none needs no memory.
void rbCopyElements(void* to, const void* from, int count, size_t elementSize);

// Grows capacity to at least wanted, geometrically. Used by the macros above.
void* rbGrowArray(void* data, int* capacity, int wanted, size_t elementSize);

// The same; the check for free capacity is inlined.
static inline void* rbEnsureArray(void* data, int* capacity, int wanted, size_t elementSize)
{
    return wanted <= *capacity ? data : rbGrowArray(data, capacity, wanted, elementSize);
}
