// Wall clock for reports and benchmarks. Never part of a result.
#ifndef RB_CORE_TIMER_H
#define RB_CORE_TIMER_H

// Seconds since a fixed moment, monotonic, nanosecond resolution.
double rbGetWallTime(void);

// CPU seconds used by this thread.
double rbGetThreadTime(void);

#endif
