// Memory to the byte: what allocators are asked for, alignment, growth, lists of blocks, guards,
// loans and what ends the program.
#define _DEFAULT_SOURCE // fork

#include "base/core/memory.h"
#include "base/core/random.h"
#include "rb_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// What an allocator was asked for, and whether it has anything to give.
typedef struct Hook {
    int allocs, frees;
    size_t allocated, freed; // sizes of the last calls
    void* memory;            // likewise
    bool isEmpty;
} Hook;

static void* hookAlloc(size_t size, void* context)
{
    Hook* hook = context;
    hook->allocs += 1;
    hook->allocated = size;
    hook->memory = hook->isEmpty ? NULL : malloc(size);
    return hook->memory;
}

static void hookFree(void* memory, size_t size, void* context)
{
    Hook* hook = context;
    hook->frees += 1;
    hook->freed = size;
    assert_ptr_equal(memory, hook->memory);
    free(memory);
}

static rbAllocator allocatorOf(Hook* hook)
{
    return (rbAllocator){.allocFn = hookAlloc, .freeFn = hookFree, .context = hook};
}

// A header of 48 bytes, or of a cache line from 1024 bytes on; the same is given back.
static void headersHaveTheirSize(void** state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 48}, {48, 48}, {1023, 48}, {1024, 64}, {5000, 64}};
    Hook hook = {0};
    rbAllocator before = rbUseAllocator(allocatorOf(&hook));
    for (int i = 0; i < 5; ++i) {
        size_t size = sizes[i][0], header = sizes[i][1];
        char* memory = rbAlloc(size);
        assert_int_equal(hook.allocated, size + header);
        assert_ptr_equal(memory, (char*)hook.memory + header);
        memset(memory, 3, size);
        rbFree(memory, size);
        assert_int_equal(hook.freed, size + header);
        assert_true(hook.allocs == i + 1 && hook.frees == i + 1);
    }
    rbAllocator own = rbUseAllocator(before);
    assert_true(own.allocFn == hookAlloc && own.context == &hook);
    rbFree(rbAlloc(8), 8);
    assert_int_equal(hook.allocs, 5);
}

// The allocator of the thread comes before that of the process.
static void theThreadComesBeforeTheProcess(void** state)
{
    (void)state;
    Hook process = {0}, thread = {0};
    rbSetAllocator(hookAlloc, hookFree, &process);
    rbAllocator before = rbUseAllocator(allocatorOf(&thread));
    char* one = rbAlloc(10);
    assert_true(thread.allocs == 1 && process.allocs == 0);
    (void)rbUseAllocator(before);
    char* two = rbAlloc(10);
    assert_true(thread.allocs == 1 && process.allocs == 1);
    rbSetAllocator(NULL, NULL, NULL);
    rbFree(one, 10);
    rbFree(two, 10);
    assert_true(thread.frees == 1 && process.frees == 1);
    {
        rbAllocator none = {0};
        RB_USE_ALLOCATOR(none); // changes nothing
        rbFree(rbAlloc(10), 10);
    }
    assert_true(thread.allocs == 1 && process.allocs == 1);
    {
        rbAllocator some = allocatorOf(&thread);
        RB_USE_ALLOCATOR(some);
        rbFree(rbAlloc(10), 10);
    }
    rbFree(rbAlloc(10), 10);
    assert_true(thread.allocs == 2 && process.allocs == 1);
}

// Blocks begin and end where they should: all of them can be written, large ones begin at a cache
// line, those of whole huge pages at such a page, and what is asked for is not much more.
static void blocksAreAlignedAndHaveRoom(void** state)
{
    (void)state;
    const size_t page = (size_t)2 << 20;
    const size_t sizes[] = {
        1,         16,        1023,      1024,           1025,          1088,
        4096,      100000,    page - 65, page - 64,      page - 63,     page,
        page + 64, page + 65, 2 * page,  2 * page - 128, 2 * page - 64, 3 * page};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        size_t size = sizes[i], header = size < 1024 ? 48 : 64;
        char* memory = rbAlloc(size);
        uintptr_t place = (uintptr_t)memory;
        memset(memory, 7, size);
        assert_int_equal(place % 16, 0);
        assert_true(size < 1024 || place % 64 == 0);
        assert_true(size + header < page || (place - header) % page == 0);
#ifdef __GLIBC__
        size_t unit = size + header < page ? 64 : page;
        size_t room = malloc_usable_size(memory - header);
        assert_true(room >= size + header);
        assert_true(size < 1024 || room >= (size + header + unit - 1) / unit * unit);
        // large blocks are whole pages of the system, or what a freed one left
        assert_true(size > 5000 || room < (size + header + unit - 1) / unit * unit + 64);
#endif
        rbFree(memory, size);
    }
}

// What a call under a guard ends with; the size that was asked for.
typedef struct Outcome {
    rbStatus status;
    size_t size;
    rbError error;
} Outcome;

typedef void* Request(void* context);

static Outcome runGuarded(Request* request, void* context)
{
    Outcome outcome = {.status = RB_STATUS_OK};
    RB_GUARD(guard, NULL)
    {
        outcome.status = rbGuard_Explain(&guard, &outcome.error);
        outcome.size = guard.size;
        assert_int_equal(outcome.error.status, guard.status);
        assert_false(guard.isActive);
        return outcome;
    }
    (void)request(context);
    return outcome;
}

static void* requestBytes(void* size)
{
    return rbAlloc(*(size_t*)size);
}

static void* requestZeros(void* counts)
{
    return rbAllocZero(((size_t*)counts)[0], ((size_t*)counts)[1]);
}

static void* requestArray(void* counts)
{
    int capacity = ((int*)counts)[0];
    return rbGrowArray(NULL, &capacity, ((int*)counts)[1], (size_t)((int*)counts)[2]);
}

// Sizes that do not exist are not asked for; all others are, to the last one.
static void sizesThatOverflowAreNotAskedFor(void** state)
{
    (void)state;
    Hook hook = {.isEmpty = true};
    rbAllocator before = rbUseAllocator(allocatorOf(&hook));
    size_t size = SIZE_MAX - 64;
    Outcome outcome = runGuarded(requestBytes, &size);
    assert_true(outcome.status == RB_STATUS_MEMORY && outcome.size == SIZE_MAX - 64);
    assert_true(hook.allocs == 1 && hook.allocated == SIZE_MAX);
    size = SIZE_MAX - 63;
    outcome = runGuarded(requestBytes, &size);
    assert_true(outcome.status == RB_STATUS_MEMORY && outcome.size == SIZE_MAX - 63);
    assert_int_equal(hook.allocs, 1);
    size = 1234;
    outcome = runGuarded(requestBytes, &size);
    assert_string_equal(outcome.error.message,
                        "memory is exhausted: 1234 bytes were requested; free "
                        "some, or use fewer bodies or smaller meshes");

    size_t counts[2] = {SIZE_MAX / 6, 6}; // 4 less than SIZE_MAX where a size has 64 bits
    outcome = runGuarded(requestZeros, counts);
    assert_true(outcome.status == RB_STATUS_MEMORY && outcome.size == SIZE_MAX / 6 * 6);
    counts[0] += 1;
    outcome = runGuarded(requestZeros, counts);
    assert_true(outcome.status == RB_STATUS_MEMORY && outcome.size == SIZE_MAX);

    // an array has at most INT32_MAX elements: capacity, half of it and 8 more
    int capacities[3] = {1431655759, 1431655760, 1};
    outcome = runGuarded(requestArray, capacities);
    assert_true(outcome.size == 2147483646);
    capacities[0] = 1431655760;
    capacities[1] = 1431655761;
    outcome = runGuarded(requestArray, capacities);
    assert_true(outcome.status == RB_STATUS_MEMORY && outcome.size == SIZE_MAX);
    capacities[0] = 0;
    capacities[1] = INT32_MAX;
    outcome = runGuarded(requestArray, capacities);
    assert_true(outcome.size == INT32_MAX);
    (void)rbUseAllocator(before);
    size_t none[2] = {0, 8};
    assert_null(requestZeros(none));
    none[0] = 8;
    none[1] = 0;
    assert_null(requestZeros(none));
}

// By half and 8, or to what is wanted if that is more.
static void arraysGrowByHalf(void** state)
{
    (void)state;
    static const int capacities[] = {8, 20, 38, 65, 105, 165, 255, 390};
    RB_ARRAY(int) a = {0};
    for (int i = 0; i < 8; ++i) {
        int old = a.capacity;
        for (int k = old; k < capacities[i]; ++k) {
            rbArray_Push(a, k);
            assert_int_equal(a.capacity, capacities[i]);
        }
    }
    for (int k = 0; k < a.count; ++k) {
        assert_int_equal(a.data[k], k);
    }
    const int* data = a.data;
    uint64_t allocations = rbGetAllocationCount();
    rbArray_Reserve(a, 390);
    assert_true(a.data == data && rbGetAllocationCount() == allocations);
    rbArray_Reserve(a, 593);
    assert_int_equal(a.capacity, 593); // 390 + 195 + 8
    rbArray_Reserve(a, 2000);
    assert_int_equal(a.capacity, 2000);
    rbArray_SetCount(a, 5);
    assert_true(a.count == 5 && a.capacity == 2000);
    rbArray_Put(a, 5, 50); // after the last
    rbArray_Put(a, 2, 20);
    assert_true(a.count == 6 && a.data[5] == 50 && a.data[2] == 20 && a.data[3] == 3);
    rbArray_Fill(a, 8, 9);
    assert_true(a.count == 8 && a.data[5] == 50 && a.data[6] == 9 && a.data[7] == 9);
    RB_ARRAY(int) b = {0};
    rbArray_Assign(b, a.data + 2, 4);
    assert_true(b.count == 4 && b.data[0] == 20 && b.data[1] == 3 && b.data[3] == 50);
    rbArray_Assign(b, NULL, 0);
    assert_int_equal(b.count, 0);
    rbArray_FreeAll(a, b);
    assert_true(a.data == NULL && b.data == NULL && a.capacity == 0 && b.capacity == 0);
}

// A grown block has what was there; a shorter one its beginning.
static void contentMovesAlong(void** state)
{
    (void)state;
    char* memory = rbAlloc(40);
    for (int i = 0; i < 40; ++i) {
        memory[i] = (char)i;
    }
    memory = rbGrow(memory, 40, 3000);
    for (int i = 0; i < 40; ++i) {
        assert_int_equal(memory[i], i);
    }
    memory = rbGrow(memory, 3000, 7);
    for (int i = 0; i < 7; ++i) {
        assert_int_equal(memory[i], i);
    }
    assert_null(rbGrow(memory, 7, 0));
    char* grown = rbGrow(NULL, 0, 12);
    assert_non_null(grown);
    rbFree(grown, 12);
}

#define BLOCKS 200

// Blocks come and go at random, in lists that change; what is detached survives the end of the
// list.
static void listsFreeWhatIsLeft(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(51)};
    uint64_t bytes = rbGetAllocatedBytes();
    for (int round = 0; round < 20; ++round) {
        void* blocks[BLOCKS] = {NULL};
        bool isDetached[BLOCKS] = {false};
        rbBlock* list = NULL;
        rbBlock** before = rbUseList(&list);
        uint64_t inList = 0, outside = 0;
        for (int step = 0; step < 5 * BLOCKS; ++step) {
            int i = rbRandom_Index(&random, BLOCKS);
            uint64_t size = (uint64_t)i + 1;
            if (blocks[i] == NULL) {
                blocks[i] = rbAlloc((size_t)size);
                isDetached[i] = false;
                inList += size;
            } else if (rbRandom_Index(&random, 3) == 0 && !isDetached[i]) {
                rbDetachBlock(blocks[i]);
                isDetached[i] = true;
                inList -= size;
                outside += size;
            } else {
                rbFree(blocks[i], (size_t)size);
                blocks[i] = NULL;
                *(isDetached[i] ? &outside : &inList) -= size;
            }
        }
        rbDetachBlock(NULL);
        assert_ptr_equal(rbUseList(before), &list);
        assert_true(rbGetAllocatedBytes() - bytes == inList + outside);
        rbFreeBlocks(&list);
        assert_null(list);
        assert_true(rbGetAllocatedBytes() - bytes == outside);
        for (int i = 0; i < BLOCKS; ++i) {
            if (blocks[i] != NULL && isDetached[i]) {
                rbDetachBlock(blocks[i]); // once more changes nothing
                rbFree(blocks[i], (size_t)i + 1);
            }
        }
        assert_true(rbGetAllocatedBytes() == bytes);
    }
}

static void* refuse(void* status)
{
    rbReturnToGuard(*(rbStatus*)status, 77);
    return NULL;
}

// Each reason has its message.
static void guardsExplainThemselves(void** state)
{
    (void)state;
    rbStatus status = RB_STATUS_CORRUPT;
    Outcome outcome = runGuarded(refuse, &status);
    assert_true(outcome.status == RB_STATUS_CORRUPT && outcome.size == 77);
    assert_string_equal(outcome.error.message, "the snapshot holds a value that cannot be");
    status = RB_STATUS_STOPPED;
    outcome = runGuarded(refuse, &status);
    assert_true(outcome.status == RB_STATUS_STOPPED);
    assert_string_equal(outcome.error.message, "stopped on request");
    status = RB_STATUS_MEMORY;
    outcome = runGuarded(refuse, &status);
    assert_true(outcome.status == RB_STATUS_MEMORY);
    assert_non_null(strstr(outcome.error.message, " 77 bytes were requested"));
}

// What the inner guard changed of the thread is as before it; the outer one is still there.
static void* nest(void* context)
{
    Hook* hook = context;
    rbBlock* list = NULL;
    rbStatus status = RB_STATUS_CORRUPT;
    volatile int returns = 0;
    RB_GUARD(guard, &list)
    {
        returns += 1;
    }
    if (returns == 0) {
        (void)rbUseAllocator(allocatorOf(hook));
        (void)rbAlloc(20);
        assert_non_null(list);
        (void)refuse(&status);
    }
    assert_int_equal(returns, 1);
    rbGuard_End(&guard); // once more changes nothing
    char* memory = rbAlloc(30);
    assert_int_equal(hook->allocs, 1); // the allocator from before the guard
    rbFreeBlocks(&list);
    rbFree(memory, 30);
    status = RB_STATUS_MEMORY;
    return refuse(&status); // to the outer guard
}

static void guardsNest(void** state)
{
    (void)state;
    uint64_t bytes = rbGetAllocatedBytes();
    Hook hook = {0};
    Outcome outcome = runGuarded(nest, &hook);
    assert_int_equal(outcome.status, RB_STATUS_MEMORY);
    assert_true(hook.frees == 1);
    assert_true(rbGetAllocatedBytes() == bytes);
    assert_null(rbUseList(NULL));
}

static bool answer(void* context)
{
    int* asked = context;
    *asked += 1;
    return *asked >= 3;
}

static void* pollFive(void* isStoppable)
{
    rbGuard_Enable(*(bool*)isStoppable, NULL);
    for (int i = 0; i < 5; ++i) {
        rbPoll();
    }
    return NULL;
}

// A stop is asked for by guards that can be stopped only, and returns at the first yes.
static void stopsNeedAGuardThatCanBeStopped(void** state)
{
    (void)state;
    int asked = 0;
    bool isStoppable = true;
    assert_false(rbHasStop());
    assert_int_equal(runGuarded(pollFive, &isStoppable).status, RB_STATUS_OK);
    rbStop none = rbUseStop((rbStop){.stopFn = answer, .context = &asked});
    assert_null(none.stopFn);
    assert_true(rbHasStop());
    rbPoll(); // without a guard
    isStoppable = false;
    assert_int_equal(runGuarded(pollFive, &isStoppable).status, RB_STATUS_OK);
    assert_int_equal(asked, 0);
    isStoppable = true;
    Outcome outcome = runGuarded(pollFive, &isStoppable);
    assert_true(outcome.status == RB_STATUS_STOPPED && outcome.size == 0);
    assert_int_equal(asked, 3);
    rbStop own = rbUseStop(none);
    assert_true(own.stopFn == answer && own.context == &asked);
    assert_false(rbHasStop());
}

// What one thread lends, another uses until it has its own again.
static void loansAreGivenBack(void** state)
{
    (void)state;
    Hook hook = {0};
    rbBlock* list = NULL;
    rbLoan plain = rbLend();
    assert_true(!plain.hasGuard && !plain.isStoppable && plain.isShared && plain.list == NULL);
    rbGuard guard;
    rbGuard_Begin(&guard, &list);
    rbLoan guarded = rbLend();
    assert_true(guarded.hasGuard && !guarded.isStoppable && guarded.list == &list);
    rbGuard_Enable(true, &list);
    (void)rbUseAllocator(allocatorOf(&hook));
    rbLoan loan = rbLend();
    assert_true(loan.hasGuard && loan.isStoppable && loan.allocator.context == &hook);
    rbGuard_End(&guard);

    rbLoan own = rbBorrow(&loan);
    assert_true(own.allocator.allocFn == NULL && own.list == NULL && !own.isShared);
    char* memory = rbAlloc(100);
    assert_int_equal(hook.allocs, 1);
    assert_non_null(list);
    rbLoan borrowed = rbBorrow(&own);
    assert_true(borrowed.isShared && borrowed.list == &list && borrowed.allocator.context == &hook);
    rbFree(rbAlloc(100), 100);
    assert_int_equal(hook.allocs, 1);
    rbFree(memory, 100);
    assert_null(list);
    assert_int_equal(hook.frees, 1);
}

// ------------------------------------------------------------------------------------------- ends

static void exhaust(void)
{
    Hook hook = {.isEmpty = true};
    (void)rbUseAllocator(allocatorOf(&hook));
    (void)rbAlloc(4321);
}

static void failAssert(void)
{
    rbAssertFailed("mass > 0", "body.c", 42);
}

// What a child writes on stderr before it aborts.
static void checkAbort(void (*act)(void), const char* expected)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL); // not that of the test framework
        act();
        _exit(0);
    }
    (void)close(ends[1]);
    char text[500] = "";
    size_t used = 0;
    for (ssize_t count = 1; count > 0 && used < sizeof text - 1; used += (size_t)count) {
        count = read(ends[0], text + used, sizeof text - 1 - used);
        count = count > 0 ? count : 0;
    }
    (void)close(ends[0]);
    int status = 0;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_string_equal(text, expected);
}

static void withoutAGuardTheProgramEnds(void** state)
{
    (void)state;
    checkAbort(exhaust, "rattleback: out of memory, 4321 bytes were requested\n");
    checkAbort(failAssert, "body.c:42: assertion failed: mass > 0\n");
}

RB_TEST_GROUP(test_memory, cmocka_unit_test(headersHaveTheirSize),
              cmocka_unit_test(theThreadComesBeforeTheProcess),
              cmocka_unit_test(blocksAreAlignedAndHaveRoom),
              cmocka_unit_test(sizesThatOverflowAreNotAskedFor), cmocka_unit_test(arraysGrowByHalf),
              cmocka_unit_test(contentMovesAlong), cmocka_unit_test(listsFreeWhatIsLeft),
              cmocka_unit_test(guardsExplainThemselves), cmocka_unit_test(guardsNest),
              cmocka_unit_test(stopsNeedAGuardThatCanBeStopped),
              cmocka_unit_test(loansAreGivenBack), cmocka_unit_test(withoutAGuardTheProgramEnds));
