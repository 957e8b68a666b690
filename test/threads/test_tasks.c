#define _DEFAULT_SOURCE // usleep

// Blocks on threads: each is done once, whoever does it; scratch is never shared at the same time;
// blocks inside blocks, lack of memory and stops.
#include "base/core/float_mode.h"
#include "base/core/random.h"
#include "base/core/tasks.h"
#include "rb_test.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT_MAX 5000

typedef struct Tally {
    atomic_int visits[COUNT_MAX];
    atomic_int workers[RB_WORKERS_MAX]; // blocks that have it now
    atomic_int blocks;
    int count;
    int blockSize;
    bool isWrong;
} Tally;

static void visit(void* context, rbShare share)
{
    Tally* tally = context;
    bool isOwn = atomic_fetch_add(&tally->workers[share.worker], 1) == 0;
    if (!isOwn || share.begin != share.block * tally->blockSize || share.end > tally->count ||
        (share.end - share.begin != tally->blockSize && share.end != tally->count)) {
        tally->isWrong = true; // a race only where the test fails anyway
    }
    for (int i = share.begin; i < share.end; ++i) {
        atomic_fetch_add(&tally->visits[i], 1);
    }
    atomic_fetch_add(&tally->blocks, 1);
    atomic_fetch_sub(&tally->workers[share.worker], 1);
}

static void checkVisits(Tally* tally, int count, int least)
{
    int blockSize = rbGetBlockSize(count, least);
    memset(tally, 0, sizeof *tally);
    tally->count = count;
    tally->blockSize = blockSize;
    rbRunShares(count, least, visit, tally);
    assert_false(tally->isWrong);
    assert_int_equal(atomic_load(&tally->blocks), rbGetBlockCount(count, blockSize));
    for (int i = 0; i < COUNT_MAX; ++i) {
        assert_int_equal(atomic_load(&tally->visits[i]), i < count ? 1 : 0);
    }
}

static void everyBlockIsDoneOnce(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    Tally* tally = malloc(sizeof *tally);
    assert_non_null(tally);
    int cases = rbTest_Count(2000, 20000);
    for (int threads = 1; threads <= 16; ++threads) {
        rbTasks* tasks = rbCreateTasks(threads, NULL);
        assert_true((tasks == NULL) == (threads == 1));
        RB_USE_TASKS(tasks);
        assert_int_equal(rbGetWorkerCount(), threads);
        for (int i = 0; i < cases / 16; ++i) {
            int count = rbRandom_Index(&random, COUNT_MAX);
            int least = 1 + rbRandom_Index(&random, 100);
            checkVisits(tally, count, least);
        }
        (void)rbUseTasks(NULL);
        rbDestroyTasks(tasks);
    }
    free(tally);
}

static void blockSizesDependOnTheCountOnly(void** state)
{
    (void)state;
    assert_int_equal(rbGetBlockSize(0, 10), 10);
    assert_int_equal(rbGetBlockSize(640, 10), 10);
    assert_int_equal(rbGetBlockSize(641, 10), 11);
    assert_int_equal(rbGetBlockCount(0, 10), 0);
    assert_int_equal(rbGetBlockCount(10, 10), 1);
    assert_int_equal(rbGetBlockCount(11, 10), 2);
    for (int count = 0; count < 100000; count += 77) {
        assert_true(rbGetBlockCount(count, rbGetBlockSize(count, 8)) <= 64);
    }
}

// ---------------------------------------------------------------------------------------- elements

static double valueOf(const void* values, int index)
{
    return ((const double*)values)[index];
}

// The sum by blocks, and the largest, one after the other.
static rbElements sumInOrder(const double* values, int count, int least)
{
    rbElements all = {0.0, 0.0};
    int size = rbGetBlockSize(count, least);
    for (int begin = 0; begin < count; begin += size) {
        double sum = 0.0;
        for (int i = begin; i < count && i < begin + size; ++i) {
            sum += values[i];
            all.largest = values[i] > all.largest ? values[i] : all.largest;
        }
        all.sum += sum;
    }
    return all;
}

// Sums of values over twenty decades have the same bits for any number of threads.
static void sumsHaveTheSameBits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5)};
    double* values = malloc(COUNT_MAX * sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < COUNT_MAX; ++i) {
        values[i] = ldexp(rbRandom_Symmetric(&random), rbRandom_Index(&random, 66));
    }
    assert_true(rbRunElements(0, 8, valueOf, values).sum == 0.0);
    for (int threads = 1; threads <= 16; ++threads) {
        rbTasks* tasks = rbCreateTasks(threads, NULL);
        RB_USE_TASKS(tasks);
        for (int i = 0; i < 50; ++i) {
            int count = 1 + rbRandom_Index(&random, COUNT_MAX);
            int least = 1 + rbRandom_Index(&random, 300);
            rbElements truth = sumInOrder(values, count, least);
            rbElements found = rbRunElements(count, least, valueOf, values);
            assert_true(found.sum == truth.sum && found.largest == truth.largest);
        }
        (void)rbUseTasks(NULL);
        rbDestroyTasks(tasks);
    }
    free(values);
}

// ------------------------------------------------------------------------------------------ nested

typedef struct Nest {
    atomic_int inner;
    atomic_int wrong;
} Nest;

static void countInner(void* context, rbShare share)
{
    Nest* nest = context;
    atomic_fetch_add(&nest->inner, share.end - share.begin);
    atomic_fetch_add(&nest->wrong, share.worker != 0 ? 1 : 0);
}

static void nestBlocks(void* context, rbShare share)
{
    Nest* nest = context;
    (void)share;
    atomic_fetch_add(&nest->wrong, rbGetWorkerCount() != 1 ? 1 : 0);
    rbRunShares(30, 4, countInner, nest);
}

static void blocksInsideBlocksAreDoneInPlace(void** state)
{
    (void)state;
    rbTasks* tasks = rbCreateTasks(4, NULL);
    RB_USE_TASKS(tasks);
    Nest nest = {0};
    for (int i = 0; i < 100; ++i) {
        rbRunShares(50, 1, nestBlocks, &nest);
    }
    assert_int_equal(atomic_load(&nest.inner), 100 * 50 * 30);
    assert_int_equal(atomic_load(&nest.wrong), 0);
    (void)rbUseTasks(NULL);
    rbDestroyTasks(tasks);
}

// -------------------------------------------------------------------------------- memory and stops

static void allocateSome(void* context, rbShare share)
{
    (void)context;
    size_t size = (size_t)share.block + 16;
    for (int i = 0; i < 50; ++i) {
        void* freed = rbAlloc(size);
        (void)rbAlloc(24); // stays in the list
        rbFree(freed, size);
    }
}

static void blocksAllocateForTheCaller(void** state)
{
    (void)state;
    rbTasks* tasks = rbCreateTasks(4, NULL);
    RB_USE_TASKS(tasks);
    uint64_t before = rbGetAllocatedBytes();
    rbBlock* list = NULL;
    RB_GUARD(guard, &list)
    {
        fail();
    }
    rbRunShares(64, 1, allocateSome, &list);
    assert_true(rbGetAllocatedBytes() - before == (uint64_t)64 * 50 * 24);
    rbFreeBlocks(&list);
    assert_true(rbGetAllocatedBytes() == before);
    rbGuard_End(&guard);
    (void)rbUseTasks(NULL);
    rbDestroyTasks(tasks);
}

typedef struct Failing {
    atomic_int done;
    int failingBlock;
} Failing;

static void exhaust(void* context, rbShare share)
{
    Failing* failing = context;
    if (share.block == failing->failingBlock) {
        (void)rbAlloc(SIZE_MAX - 1); // there is never that much
    }
    atomic_fetch_add(&failing->done, 1);
}

// Returns the status of the guard, OK if it was not returned to.
static rbStatus runFailing(Failing* failing, size_t* size)
{
    RB_GUARD(guard, NULL)
    {
        *size = guard.size;
        return guard.status;
    }
    rbRunShares(64, 1, exhaust, failing);
    return RB_STATUS_OK;
}

static void lackOfMemoryReturnsToTheCaller(void** state)
{
    (void)state;
    rbTasks* tasks = rbCreateTasks(3, NULL);
    RB_USE_TASKS(tasks);
    for (int i = 0; i < 500; ++i) {
        Failing failing = {.failingBlock = i % 80};
        size_t size = 0;
        rbStatus status = runFailing(&failing, &size);
        bool isFailing = failing.failingBlock < 64;
        assert_int_equal(status, isFailing ? RB_STATUS_MEMORY : RB_STATUS_OK);
        assert_true(size == (isFailing ? SIZE_MAX - 1 : 0));
        assert_true(isFailing ? atomic_load(&failing.done) < 64 : atomic_load(&failing.done) == 64);
    }
    (void)rbUseTasks(NULL);
    rbDestroyTasks(tasks);
}

static void pollOften(void* context, rbShare share)
{
    (void)share;
    rbPoll();
    atomic_fetch_add((atomic_int*)context, 1);
}

static _Thread_local int askedHere;

static bool askStop(void* context)
{
    askedHere += 1;
    return atomic_load((atomic_int*)context) >= 20;
}

static rbStatus runStopped(atomic_int* done)
{
    RB_GUARD(guard, NULL)
    {
        return guard.status;
    }
    rbGuard_Enable(true, NULL);
    for (int i = 0; i < 100; ++i) {
        rbRunShares(64, 1, pollOften, done);
    }
    return RB_STATUS_OK;
}

static void stopsAreAskedOnTheCallingThread(void** state)
{
    (void)state;
    rbTasks* tasks = rbCreateTasks(4, NULL);
    RB_USE_TASKS(tasks);
    atomic_int done = 0;
    askedHere = 0;
    rbStop before = rbUseStop((rbStop){askStop, &done});
    assert_int_equal(runStopped(&done), RB_STATUS_STOPPED);
    (void)rbUseStop(before);
    assert_true(askedHere > 0);
    assert_true(atomic_load(&done) >= 20 && atomic_load(&done) < 6400);
    (void)rbUseTasks(NULL);
    rbDestroyTasks(tasks);
}

// A child of fork has the calling thread only, which then does all blocks.
static void blocksAreDoneAfterFork(void** state)
{
    (void)state;
    rbTasks* tasks = rbCreateTasks(4, NULL);
    RB_USE_TASKS(tasks);
    Tally* tally = malloc(sizeof *tally);
    assert_non_null(tally);
    checkVisits(tally, 1000, 10);
    (void)usleep(20000); // now they sleep
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        memset(tally, 0, sizeof *tally);
        tally->count = 1000;
        tally->blockSize = rbGetBlockSize(1000, 10);
        rbRunShares(1000, 10, visit, tally);
        (void)rbUseTasks(NULL);
        rbDestroyTasks(tasks);
        _exit(atomic_load(&tally->blocks) == 63 ? 0 : 1);
    }
    int status = 1;
    assert_true(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    checkVisits(tally, 1000, 10);
    free(tally);
    (void)rbUseTasks(NULL);
    rbDestroyTasks(tasks);
}

// -------------------------------------------------------------------------------------------- host

static void runBackwards(rbBlockFn* blockFn, void* work, int blockCount, void* context)
{
    for (int i = blockCount - 1; i >= 0; --i) {
        blockFn(i, work);
    }
    *(int*)context += blockCount;
}

static void aHostRunsTheBlocks(void** state)
{
    (void)state;
    int seen = 0;
    rbTaskHost host = {.runFn = runBackwards, .context = &seen, .workerCount = 2};
    rbTasks* tasks = rbCreateTasks(0, &host);
    RB_USE_TASKS(tasks);
    Tally* tally = malloc(sizeof *tally);
    assert_non_null(tally);
    checkVisits(tally, 1000, 10);
    assert_int_equal(seen, 63); // of 16
    Failing failing = {.failingBlock = 60};
    size_t size = 0;
    assert_int_equal(runFailing(&failing, &size), RB_STATUS_MEMORY);
    assert_int_equal(atomic_load(&failing.done), 3);
    free(tally);
    (void)rbUseTasks(NULL);
    rbDestroyTasks(tasks);
}

// A part of the blocks, for a thread of the host.
typedef struct Batch {
    rbBlockFn* blockFn;
    void* work;
    int begin, step, end;
} Batch;

static void* runBatch(void* context)
{
    const Batch* batch = context;
    for (int i = batch->begin; i < batch->end; i += batch->step) {
        batch->blockFn(i, batch->work);
    }
    return NULL;
}

static void runOnFour(rbBlockFn* blockFn, void* work, int blockCount, void* context)
{
    pthread_t threads[4];
    Batch batches[4];
    for (int i = 0; i < 4; ++i) {
        batches[i] = (Batch){blockFn, work, i, 4, blockCount};
        assert_int_equal(pthread_create(&threads[i], NULL, runBatch, &batches[i]), 0);
    }
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    *(int*)context += 1;
}

// More blocks at once than the host said: workers are still not shared.
static void blocksWaitForTheWorkersOfTheHost(void** state)
{
    (void)state;
    int runs = 0;
    rbTaskHost host = {.runFn = runOnFour, .context = &runs, .workerCount = 2};
    rbTasks* tasks = rbCreateTasks(0, &host);
    RB_USE_TASKS(tasks);
    Tally* tally = malloc(sizeof *tally);
    assert_non_null(tally);
    for (int i = 0; i < 30; ++i) {
        checkVisits(tally, 2000, 10);
    }
    assert_int_equal(runs, 30);
    free(tally);
    (void)rbUseTasks(NULL);
    rbDestroyTasks(tasks);
}

// A block on a thread of the host has the standard mode of floating point, the memory of the caller
// and no tasks; afterward the thread has again what it had.
typedef struct Borrowed {
    int blocks, wrong;
    rbAllocator allocator;
} Borrowed;

static void* countedAlloc(size_t size, void* context)
{
    *(int*)context += 1;
    return malloc(size);
}

static void countedFree(void* memory, size_t size, void* context)
{
    (void)size;
    (void)context;
    free(memory);
}

static void runInAnotherMode(rbBlockFn* blockFn, void* work, int blockCount, void* context)
{
    Borrowed* borrowed = context;
    const uint64_t flush = RB_FLOAT_MODE_BITS & 0x8000u; // where there is such a mode
    uint64_t mode = rbFloatMode_Set(flush);
    rbAllocator lent = rbUseAllocator((rbAllocator){NULL, NULL, NULL});
    for (int i = 0; i < blockCount; ++i) {
        blockFn(i, work);
        borrowed->wrong += rbFloatMode_Set(flush) != flush ? 1 : 0;
        borrowed->wrong += rbGetWorkerCount() != 3 ? 1 : 0;
        rbAllocator own = rbUseAllocator((rbAllocator){NULL, NULL, NULL});
        borrowed->wrong += own.allocFn != NULL ? 1 : 0;
    }
    (void)rbUseAllocator(lent);
    (void)rbFloatMode_Set(mode);
}

static void lookAround(void* context, rbShare share)
{
    Borrowed* borrowed = context;
    uint64_t mode = rbFloatMode_Set(0);
    borrowed->wrong += mode != 0 ? 1 : 0;
    borrowed->wrong += rbGetWorkerCount() != 1 ? 1 : 0;
    borrowed->wrong += share.worker < 0 || share.worker >= 3 ? 1 : 0;
    rbFree(rbAlloc(20), 20);
    borrowed->blocks += 1;
}

static void threadsOfAHostGetBackWhatTheyHad(void** state)
{
    (void)state;
    int allocs = 0;
    Borrowed borrowed = {.blocks = 0};
    rbTaskHost host = {.runFn = runInAnotherMode, .context = &borrowed, .workerCount = 3};
    rbTasks* tasks = rbCreateTasks(0, &host);
    RB_USE_TASKS(tasks);
    rbAllocator before = rbUseAllocator((rbAllocator){countedAlloc, countedFree, &allocs});
    rbRunShares(64, 1, lookAround, &borrowed);
    (void)rbUseAllocator(before);
    assert_int_equal(borrowed.wrong, 0);
    assert_int_equal(borrowed.blocks, 64);
    assert_int_equal(allocs, 64);
    (void)rbUseTasks(NULL);
    rbDestroyTasks(tasks);
}

// Signals are for the threads of the program: those of tasks block all of them.
typedef struct Signals {
    pthread_t caller;
    atomic_int others, open;
} Signals;

static void lookAtSignals(void* context, rbShare share)
{
    Signals* signals = context;
    (void)share;
    sigset_t mask;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (pthread_equal(pthread_self(), signals->caller) == 0) {
        atomic_fetch_add(&signals->others, 1);
        bool isBlocked = sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGINT) == 1;
        atomic_fetch_add(&signals->open, isBlocked ? 0 : 1);
    }
    (void)usleep(50); // so that others get some
}

static void threadsLeaveSignalsToTheProgram(void** state)
{
    (void)state;
    sigset_t kept, before, after;
    (void)sigemptyset(&before);
    (void)pthread_sigmask(SIG_SETMASK, &before, &kept);
    rbTasks* tasks = rbCreateTasks(4, NULL);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int signal = 1; signal < 32; ++signal) {
        assert_int_equal(sigismember(&before, signal), sigismember(&after, signal));
    }
    RB_USE_TASKS(tasks);
    Signals signals = {.caller = pthread_self()};
    for (int i = 0; i < 1000 && atomic_load(&signals.others) == 0; ++i) {
        rbRunShares(64, 1, lookAtSignals, &signals);
    }
    assert_true(atomic_load(&signals.others) > 0);
    assert_int_equal(atomic_load(&signals.open), 0);
    (void)pthread_sigmask(SIG_SETMASK, &kept, NULL);
    (void)rbUseTasks(NULL);
    rbDestroyTasks(tasks);
}

// How many threads: as asked for, at most 64, the cores by default; one needs no tasks.
static void numbersOfThreadsAreAsAskedFor(void** state)
{
    (void)state;
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN), context = 0;
    const int asked[] = {0, 1, 2, 64, 65, 200};
    for (int i = 0; i < 6; ++i) {
        for (int isHosted = 0; isHosted < 2; ++isHosted) {
            rbTaskHost host = {.runFn = runBackwards, .context = &context, .workerCount = asked[i]};
            rbTasks* tasks =
                rbCreateTasks(isHosted == 1 ? 7 : asked[i], isHosted == 1 ? &host : NULL);
            int count = asked[i] == 0 && isHosted == 0 ? cores : asked[i];
            assert_int_equal(tasks != NULL, count > 1);
            RB_USE_TASKS(tasks);
            int expected = count > 64 ? 64 : count > 1 ? count : 1;
            assert_int_equal(rbGetWorkerCount(), expected);
            (void)rbUseTasks(NULL);
            rbDestroyTasks(tasks);
        }
    }
    rbTaskHost none = {.runFn = NULL, .workerCount = 5};
    rbTasks* own = rbCreateTasks(3, &none);
    RB_USE_TASKS(own);
    assert_int_equal(rbGetWorkerCount(), 3);
    (void)rbUseTasks(NULL);
    rbDestroyTasks(own);
    int before = rbGetThreadCount();
    rbSetThreadCount(5);
    assert_int_equal(rbGetThreadCount(), 5);
    rbSetThreadCount(-5);
    assert_int_equal(rbGetThreadCount(), 0);
    rbSetThreadCount(before);
}

RB_TEST_GROUP(test_tasks, cmocka_unit_test(everyBlockIsDoneOnce),
              cmocka_unit_test(blockSizesDependOnTheCountOnly),
              cmocka_unit_test(sumsHaveTheSameBits),
              cmocka_unit_test(blocksInsideBlocksAreDoneInPlace),
              cmocka_unit_test(blocksAllocateForTheCaller),
              cmocka_unit_test(lackOfMemoryReturnsToTheCaller),
              cmocka_unit_test(stopsAreAskedOnTheCallingThread),
              cmocka_unit_test(blocksAreDoneAfterFork), cmocka_unit_test(aHostRunsTheBlocks),
              cmocka_unit_test(blocksWaitForTheWorkersOfTheHost),
              cmocka_unit_test(threadsOfAHostGetBackWhatTheyHad),
              cmocka_unit_test(threadsLeaveSignalsToTheProgram),
              cmocka_unit_test(numbersOfThreadsAreAsAskedFor));
