#define _DEFAULT_SOURCE // sysconf

#include "base/core/tasks.h"

#include "base/core/float_mode.h"

#include <stdatomic.h>

#ifdef RB_THREADS
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#endif

// Threads claim blocks by counting down how many are left; what a block needs is read after the
// claim, which keeps the run alive until that block is counted as done. So a thread that comes late
// claims a block of a later run, or none. A thread without work looks for some for a few
// microseconds, as the next run mostly follows at once, and then sleeps.

#define SPINS 4000

// A range that is being done.
typedef struct Run {
    rbShareFn* function;
    void* context;
    int count;
    int blockSize;
    int blockCount;
    rbLoan loan;     // memory of the calling thread
    rbStatus status; // why a block failed
    size_t size;     // bytes that were requested then
} Run;

struct rbTasks {
    rbTaskHost host; // runFn NULL: our own threads
    int workerCount;
    atomic_uint_fast64_t freeWorkers; // bits
    atomic_int isFailed;              // a block has returned to its guard: the others are left out
    Run run;
#ifdef RB_THREADS
    atomic_int left; // blocks nobody has claimed
    atomic_int done; // blocks that have ended
    atomic_int sleeping;
    int spins; // 0 where there are more threads than cores
    pthread_mutex_t mutex;
    pthread_cond_t hasBlocks;
    bool isEnding;
    pid_t owner;     // process of the threads: a child of fork has none
    int threadCount; // that were started, besides the calling one
    pthread_t threads[RB_WORKERS_MAX];
#endif
};

static _Thread_local rbTasks* threadTasks;
static atomic_int processThreadCount; // 0: automatic

rbTasks* rbUseTasks(rbTasks* tasks)
{
    rbTasks* before = threadTasks;
    threadTasks = tasks;
    return before;
}

void rbSetThreadCount(int threadCount)
{
    atomic_store(&processThreadCount, threadCount > 0 ? threadCount : 0);
}

int rbGetThreadCount(void)
{
    return atomic_load(&processThreadCount);
}

int rbGetWorkerCount(void)
{
    return threadTasks != NULL ? threadTasks->workerCount : 1;
}

int rbGetBlockSize(int count, int least)
{
    RB_ASSERT(count >= 0 && least > 0);
    int size = (count + RB_BLOCKS_MAX - 1) / RB_BLOCKS_MAX;
    return size > least ? size : least;
}

int rbGetBlockCount(int count, int blockSize)
{
    return count / blockSize + (count % blockSize > 0 ? 1 : 0);
}

// ----------------------------------------------------------------------------------------- blocks

// A host may run more blocks at once than it said: then they wait for each other.
static int takeWorker(rbTasks* tasks)
{
    uint_fast64_t mask = atomic_load(&tasks->freeWorkers);
    while (mask == 0 ||
           !atomic_compare_exchange_weak(&tasks->freeWorkers, &mask, mask & (mask - 1))) {
        mask = atomic_load(&tasks->freeWorkers);
    }
    return __builtin_ctzll(mask);
}

static rbShare getShare(const Run* run, int block, int worker)
{
    int begin = block * run->blockSize;
    int length = run->count - begin < run->blockSize ? run->count - begin : run->blockSize;
    return (rbShare){begin, begin + length, block, worker};
}

// A block under a guard of its own: nobody returns across threads.
static void doGuarded(rbTasks* tasks, rbShare share)
{
    RB_GUARD(guard, tasks->run.loan.list)
    {
        if (atomic_exchange(&tasks->isFailed, 1) == 0) {
            tasks->run.status = guard.status;
            tasks->run.size = guard.size;
        }
        return;
    }
    rbGuard_Enable(tasks->run.loan.isStoppable, tasks->run.loan.list);
    tasks->run.function(tasks->run.context, share);
}

// A rbBlockFn: does a block on whatever thread this is.
static void doBlock(int block, void* work)
{
    rbTasks* tasks = work;
    if (atomic_load(&tasks->isFailed) != 0) {
        return;
    }
    uint64_t mode = rbFloatMode_Set(0); // threads of a host may have another one
    rbTasks* before = rbUseTasks(NULL);
    rbLoan own = rbBorrow(&tasks->run.loan);
    rbShare share = getShare(&tasks->run, block, takeWorker(tasks));
    if (tasks->run.loan.hasGuard) {
        doGuarded(tasks, share);
    } else {
        tasks->run.function(tasks->run.context, share);
    }
    atomic_fetch_or(&tasks->freeWorkers, (uint_fast64_t)1 << share.worker);
    (void)rbBorrow(&own);
    (void)rbUseTasks(before);
    (void)rbFloatMode_Set(mode);
}

// ---------------------------------------------------------------------------------------- threads

#ifdef RB_THREADS

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Does blocks as long as there are any.
static void doBlocks(rbTasks* tasks)
{
    int left = atomic_load(&tasks->left);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&tasks->left, &left, left - 1)) {
            doBlock(tasks->run.blockCount - left, tasks);
            atomic_fetch_add(&tasks->done, 1);
            left = atomic_load(&tasks->left);
        }
    }
}

// Sleeps until there are blocks; false: the tasks end.
static bool sleepForBlocks(rbTasks* tasks)
{
    (void)pthread_mutex_lock(&tasks->mutex);
    atomic_fetch_add(&tasks->sleeping, 1);
    while (!tasks->isEnding && atomic_load(&tasks->left) == 0) {
        (void)pthread_cond_wait(&tasks->hasBlocks, &tasks->mutex);
    }
    atomic_fetch_sub(&tasks->sleeping, 1);
    bool isEnding = tasks->isEnding;
    (void)pthread_mutex_unlock(&tasks->mutex);
    return !isEnding;
}

static void* work(void* context)
{
    rbTasks* tasks = context;
    do {
        for (int i = 0; i <= tasks->spins; ++i) {
            i = atomic_load_explicit(&tasks->left, memory_order_relaxed) > 0 ? 0 : i;
            doBlocks(tasks);
            relax();
        }
    } while (sleepForBlocks(tasks));
    return NULL;
}

static void wakeThreads(rbTasks* tasks, bool isEnding)
{
    (void)pthread_mutex_lock(&tasks->mutex);
    tasks->isEnding = isEnding;
    (void)pthread_cond_broadcast(&tasks->hasBlocks);
    (void)pthread_mutex_unlock(&tasks->mutex);
}

static void runOnThreads(rbTasks* tasks)
{
    atomic_store(&tasks->done, 0);
    atomic_store(&tasks->left, tasks->run.blockCount);
    if (atomic_load(&tasks->sleeping) > 0 && tasks->owner == getpid()) {
        wakeThreads(tasks, false);
    }
    doBlocks(tasks);
    for (int i = 0; atomic_load(&tasks->done) < tasks->run.blockCount; ++i) {
        relax();
        if (i >= tasks->spins) {
            (void)sched_yield(); // one that is being done has lost its core
        }
    }
}

// Signals are for the threads of the host.
static void startThreads(rbTasks* tasks, int cores)
{
    sigset_t all, before;
    tasks->spins = tasks->workerCount <= cores ? SPINS : 0;
    tasks->owner = getpid();
    (void)pthread_mutex_init(&tasks->mutex, NULL);
    (void)pthread_cond_init(&tasks->hasBlocks, NULL);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 1; i < tasks->workerCount && tasks->host.runFn == NULL; ++i) {
        int result = pthread_create(&tasks->threads[tasks->threadCount], NULL, work, tasks);
        tasks->threadCount += result == 0 ? 1 : 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#endif

// ------------------------------------------------------------------------------------------- runs

rbTasks* rbCreateTasks(int threadCount, const rbTaskHost* host)
{
    RB_ASSERT(threadCount >= 0);
    int count = host != NULL && host->runFn != NULL ? host->workerCount : 1;
#ifdef RB_THREADS
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (host == NULL || host->runFn == NULL) {
        count = threadCount > 0 ? threadCount : cores;
    }
#else
    (void)threadCount;
#endif
    if (count <= 1) {
        return NULL;
    }
    rbTasks* tasks = rbAllocZero(1, sizeof *tasks);
    tasks->workerCount = count < RB_WORKERS_MAX ? count : RB_WORKERS_MAX;
    tasks->host = host != NULL ? *host : (rbTaskHost){.runFn = NULL};
    atomic_init(&tasks->freeWorkers, UINT64_MAX >> (64 - tasks->workerCount));
#ifdef RB_THREADS
    startThreads(tasks, cores);
#endif
    return tasks;
}

void rbDestroyTasks(rbTasks* tasks)
{
    if (tasks == NULL) {
        return;
    }
#ifdef RB_THREADS
    if (tasks->owner == getpid()) { // otherwise they wait for threads that are not there
        wakeThreads(tasks, true);
        for (int i = 0; i < tasks->threadCount; ++i) {
            (void)pthread_join(tasks->threads[i], NULL);
        }
        (void)pthread_cond_destroy(&tasks->hasBlocks);
        (void)pthread_mutex_destroy(&tasks->mutex);
    }
#endif
    rbFree(tasks, sizeof *tasks);
}

void rbRunShares(int count, int least, rbShareFn* function, void* context)
{
    rbTasks* tasks = threadTasks;
    int blockSize = rbGetBlockSize(count, least);
    int blockCount = rbGetBlockCount(count, blockSize);
    Run run = {function, context, count, .blockSize = blockSize, .blockCount = blockCount};
    if (tasks == NULL || blockCount < 2) {
        for (int i = 0; i < blockCount; ++i) {
            function(context, getShare(&run, i, 0));
        }
        return;
    }
    run.loan = rbLend();
    tasks->run = run;
    atomic_store(&tasks->isFailed, 0);
    if (tasks->host.runFn != NULL) {
        tasks->host.runFn(doBlock, tasks, blockCount, tasks->host.context);
    }
#ifdef RB_THREADS
    else {
        runOnThreads(tasks);
    }
#endif
    if (atomic_load(&tasks->isFailed) != 0) {
        rbReturnToGuard(tasks->run.status, tasks->run.size);
    }
    rbPoll();
}

typedef struct Measure {
    rbElementFn* function;
    const void* context;
    rbElements blocks[RB_BLOCKS_MAX];
} Measure;

static void measureBlock(void* context, rbShare share)
{
    Measure* measure = context;
    rbElements all = {0.0, 0.0};
    for (int i = share.begin; i < share.end; ++i) {
        double value = measure->function(measure->context, i);
        all.sum += value;
        all.largest = value > all.largest ? value : all.largest;
    }
    measure->blocks[share.block] = all;
}

rbElements rbRunElements(int count, int least, rbElementFn* function, const void* context)
{
    Measure measure = {.function = function, .context = context};
    rbElements all = {0.0, 0.0};
    rbRunShares(count, least, measureBlock, &measure);
    for (int i = 0; i < rbGetBlockCount(count, rbGetBlockSize(count, least)); ++i) {
        const rbElements* block = &measure.blocks[i];
        all.sum += block->sum;
        all.largest = block->largest > all.largest ? block->largest : all.largest;
    }
    return all;
}
