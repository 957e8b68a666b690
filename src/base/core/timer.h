// Wall clock for reports and benchmarks. Never part of a result.
#ifndef RB_CORE_TIMER_H
#define RB_CORE_TIMER_H

// Seconds since some fixed moment, monotonic, nanosecond resolution.
double rbGetWallTime(void);

// Seconds of CPU that this thread has used.
double rbGetThreadTime(void);

#endif
