// Work on several threads, with the same results for any number of them.
//
// A range is divided into blocks whose size depends on its length only. Every block is done once,
// in any order, on any thread; what blocks find is merged in their order. Threads are no state: a
// result never depends on who did a block, or on how many there are.
//
// The tasks in use belong to a thread, as its allocator does, and worlds set them for the duration
// of an advance: no function in between passes them on. A block that starts blocks of its own does
// them itself, one after the other.
#pragma once

#include "base/core/memory.h"

#define RB_WORKERS_MAX 64
#define RB_BLOCKS_MAX 64

typedef struct rbTasks rbTasks;

// A block of a range.
typedef struct rbShare {
    int begin;
    int end;    // after the last
    int block;  // number of the block
    int worker; // no other block has it at the same time: for scratch memory
} rbShare;

typedef void rbShareFn(void* context, rbShare share);

// threadCount: including the calling one; 0: the number of cores. NULL if there is nothing to
// share: one thread, or a build without threads.
rbTasks* rbCreateTasks(int threadCount, const rbTaskHost* host);
void rbDestroyTasks(rbTasks* tasks); // NULL is fine

// What rbSetThreadCount has set.
int rbGetThreadCount(void);

// The tasks that this thread uses from now on, NULL: none; returns those before.
rbTasks* rbUseTasks(rbTasks* tasks);
// How many blocks may be done at the same time, at least 1.
int rbGetWorkerCount(void);

// Tasks until the end of the block.
#define RB_USE_TASKS(tasks) \
    __attribute__((cleanup(rbTasksScope_End), unused)) rbTasks* tasksBefore = rbUseTasks(tasks)

static inline void rbTasksScope_End(rbTasks** before)
{
    (void)rbUseTasks(*before);
}

// Elements of a block: at least a number of them, and not more than RB_BLOCKS_MAX blocks.
int rbGetBlockSize(int count, int least);
// How many blocks a range has.
int rbGetBlockCount(int count, int blockSize);

// Does all blocks of a range, of at least a number of elements. Lack of memory or a stop in a block
// returns to the guard of the calling thread after all blocks have ended.
void rbRunShares(int count, int least, rbShareFn* function, void* context);

// Of values of elements, in the order of blocks; the largest is at least 0.
typedef struct rbElements {
    double sum;
    double largest;
} rbElements;

typedef double rbElementFn(const void* context, int index);

// Calls a function for all elements of a range, in blocks.
rbElements rbRunElements(int count, int least, rbElementFn* function, const void* context);
