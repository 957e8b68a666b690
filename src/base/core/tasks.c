#define _DEFAULT_SOURCE // sysconf

#include "base/core/tasks.h"

#include <stdatomic.h>

#ifdef RB_THREADS
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#define HAS_THREADS true
#else
#define HAS_THREADS false
#endif

// Threads claim blocks by counting down how many are left; what a block needs is read after the
// claim, which keeps the run alive until that block is counted as done. So a thread that comes late
// claims a block of a later run, or none.
//
// A thread without work looks for some for a few microseconds, as the next run mostly follows at
// once, and then sleeps. Where there are more threads than cores it sleeps at once.

#define BLOCKS_MAX 64
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
    atomic_int isAwaited; // the calling thread sleeps until all have ended
    int spins;
    pthread_mutex_t mutex;
    pthread_cond_t hasBlocks;
    pthread_cond_t isDone;
    bool isStarted;
    bool isEnding;
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
    int size = (count + BLOCKS_MAX - 1) / BLOCKS_MAX;
    return size > least ? size : least;
}

int rbGetBlockCount(int count, int blockSize)
{
    return count / blockSize + (count % blockSize > 0 ? 1 : 0);
}

// ----------------------------------------------------------------------------------------- blocks

static void yield(void)
{
#ifdef RB_THREADS
    (void)sched_yield();
#endif
}

// A host may run more blocks at once than it said: then they wait for each other.
static int takeWorker(rbTasks* tasks)
{
    uint_fast64_t mask = atomic_load_explicit(&tasks->freeWorkers, memory_order_relaxed);
    for (;;) {
        if (mask == 0) {
            yield();
            mask = atomic_load_explicit(&tasks->freeWorkers, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&tasks->freeWorkers, &mask,
                                                         mask & (mask - 1), memory_order_acquire,
                                                         memory_order_relaxed)) {
            return __builtin_ctzll(mask);
        }
    }
}

static rbShare getShare(const Run* run, int block, int worker)
{
    int begin = block * run->blockSize;
    int length = run->count - begin < run->blockSize ? run->count - begin : run->blockSize;
    return (rbShare){begin, begin + length, block, worker};
}

// Notes why the first of the failed blocks ended.
static void noteFailure(rbTasks* tasks, const rbGuard* guard)
{
    if (atomic_exchange(&tasks->isFailed, 1) == 0) {
        tasks->run.status = guard->status;
        tasks->run.size = guard->size;
    }
}

// A block under a guard of its own: nobody returns across threads.
static void doGuarded(rbTasks* tasks, rbShare share)
{
    const Run* run = &tasks->run;
    RB_GUARD(guard, run->loan.list)
    {
        noteFailure(tasks, &guard);
        return;
    }
    rbGuard_Enable(run->loan.isStoppable, run->loan.list);
    run->function(run->context, share);
}

// A rbBlockFn: does a block on whatever thread this is.
static void doBlock(int block, void* work)
{
    rbTasks* tasks = work;
    const Run* run = &tasks->run;
    if (atomic_load_explicit(&tasks->isFailed, memory_order_relaxed) != 0) {
        return;
    }
    rbTasks* before = rbUseTasks(NULL);
    rbLoan own = rbBorrow(&run->loan);
    int worker = takeWorker(tasks);
    rbShare share = getShare(run, block, worker);
    if (run->loan.hasGuard) {
        doGuarded(tasks, share);
    } else {
        run->function(run->context, share);
    }
    atomic_fetch_or_explicit(&tasks->freeWorkers, (uint_fast64_t)1 << worker, memory_order_release);
    (void)rbBorrow(&own);
    (void)rbUseTasks(before);
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

// Claims a block: its number, -1: there is none.
static int claim(rbTasks* tasks)
{
    int left = atomic_load_explicit(&tasks->left, memory_order_relaxed);
    while (left > 0) {
        if (atomic_compare_exchange_weak_explicit(&tasks->left, &left, left - 1,
                                                  memory_order_acquire, memory_order_relaxed)) {
            return tasks->run.blockCount - left;
        }
    }
    return -1;
}

static void doBlocks(rbTasks* tasks)
{
    for (int block = claim(tasks); block >= 0; block = claim(tasks)) {
        int blockCount = tasks->run.blockCount;
        doBlock(block, tasks);
        if (atomic_fetch_add(&tasks->done, 1) + 1 == blockCount && atomic_load(&tasks->isAwaited)) {
            (void)pthread_mutex_lock(&tasks->mutex);
            (void)pthread_cond_signal(&tasks->isDone);
            (void)pthread_mutex_unlock(&tasks->mutex);
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
        doBlocks(tasks);
        for (int i = 0; i < tasks->spins; ++i) {
            relax();
            if (atomic_load_explicit(&tasks->left, memory_order_relaxed) > 0) {
                doBlocks(tasks);
                i = 0;
            }
        }
    } while (sleepForBlocks(tasks));
    return NULL;
}

// Signals are for the threads of the host.
static void startThreads(rbTasks* tasks)
{
    sigset_t all, before;
    tasks->isStarted = true;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 1; i < tasks->workerCount; ++i) {
        if (pthread_create(&tasks->threads[tasks->threadCount], NULL, work, tasks) == 0) {
            tasks->threadCount += 1;
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void waitForAll(rbTasks* tasks)
{
    int blockCount = tasks->run.blockCount;
    for (int i = 0; i < tasks->spins && atomic_load(&tasks->done) < blockCount; ++i) {
        relax();
    }
    if (atomic_load(&tasks->done) < blockCount) {
        (void)pthread_mutex_lock(&tasks->mutex);
        atomic_store(&tasks->isAwaited, 1);
        while (atomic_load(&tasks->done) < blockCount) {
            (void)pthread_cond_wait(&tasks->isDone, &tasks->mutex);
        }
        atomic_store(&tasks->isAwaited, 0);
        (void)pthread_mutex_unlock(&tasks->mutex);
    }
}

static void runOnThreads(rbTasks* tasks)
{
    if (!tasks->isStarted) {
        startThreads(tasks);
    }
    atomic_store(&tasks->done, 0);
    atomic_store(&tasks->left, tasks->run.blockCount);
    if (atomic_load(&tasks->sleeping) > 0) {
        (void)pthread_mutex_lock(&tasks->mutex);
        (void)pthread_cond_broadcast(&tasks->hasBlocks);
        (void)pthread_mutex_unlock(&tasks->mutex);
    }
    doBlocks(tasks);
    waitForAll(tasks);
}

static int getCoreCount(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > RB_WORKERS_MAX ? RB_WORKERS_MAX : (int)count;
}

static void initThreads(rbTasks* tasks)
{
    tasks->spins = tasks->workerCount <= getCoreCount() ? SPINS : 0;
    (void)pthread_mutex_init(&tasks->mutex, NULL);
    (void)pthread_cond_init(&tasks->hasBlocks, NULL);
    (void)pthread_cond_init(&tasks->isDone, NULL);
}

static void endThreads(rbTasks* tasks)
{
    (void)pthread_mutex_lock(&tasks->mutex);
    tasks->isEnding = true;
    (void)pthread_cond_broadcast(&tasks->hasBlocks);
    (void)pthread_mutex_unlock(&tasks->mutex);
    for (int i = 0; i < tasks->threadCount; ++i) {
        (void)pthread_join(tasks->threads[i], NULL);
    }
    (void)pthread_cond_destroy(&tasks->isDone);
    (void)pthread_cond_destroy(&tasks->hasBlocks);
    (void)pthread_mutex_destroy(&tasks->mutex);
}

#else

// Without threads there are only those of a host.
static void runOnThreads(rbTasks* tasks)
{
    (void)tasks;
}

static int getCoreCount(void)
{
    return 1;
}

static void initThreads(rbTasks* tasks)
{
    (void)tasks;
}

static void endThreads(rbTasks* tasks)
{
    (void)tasks;
}

#endif

// ------------------------------------------------------------------------------------------- runs

static int chooseWorkerCount(int threadCount, const rbTaskHost* host)
{
    if (host != NULL && host->runFn != NULL) {
        return host->workerCount;
    }
    int count = threadCount > 0 ? threadCount : getCoreCount();
    return HAS_THREADS ? count : 1;
}

rbTasks* rbCreateTasks(int threadCount, const rbTaskHost* host)
{
    RB_ASSERT(threadCount >= 0);
    int count = chooseWorkerCount(threadCount, host);
    if (count <= 1) {
        return NULL;
    }
    rbTasks* tasks = rbAllocZero(1, sizeof *tasks);
    tasks->workerCount = count < RB_WORKERS_MAX ? count : RB_WORKERS_MAX;
    if (host != NULL) {
        tasks->host = *host;
    }
    atomic_init(&tasks->freeWorkers, UINT64_MAX >> (64 - tasks->workerCount));
    initThreads(tasks);
    return tasks;
}

void rbDestroyTasks(rbTasks* tasks)
{
    if (tasks != NULL) {
        endThreads(tasks);
        rbFree(tasks, sizeof *tasks);
    }
}

void rbRunShares(int count, int blockSize, rbShareFn* function, void* context)
{
    RB_ASSERT(count >= 0 && blockSize > 0);
    rbTasks* tasks = threadTasks;
    Run run = {.function = function,
               .context = context,
               .count = count,
               .blockSize = blockSize,
               .blockCount = rbGetBlockCount(count, blockSize)};
    if (tasks == NULL || run.blockCount < 2) {
        for (int i = 0; i < run.blockCount; ++i) {
            function(context, getShare(&run, i, 0));
        }
        return;
    }
    run.loan = rbLend();
    tasks->run = run;
    atomic_store(&tasks->isFailed, 0);
    if (tasks->host.runFn != NULL) {
        tasks->host.runFn(doBlock, tasks, run.blockCount, tasks->host.context);
    } else {
        runOnThreads(tasks);
    }
    if (atomic_load(&tasks->isFailed) != 0) {
        rbReturnToGuard(tasks->run.status, tasks->run.size);
    }
    rbPoll();
}
