#define _POSIX_C_SOURCE 200809L

#include "base/core/timer.h"

#include <time.h>

static double readClock(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double rbGetWallTime(void)
{
    return readClock(CLOCK_MONOTONIC);
}

double rbGetThreadTime(void)
{
    return readClock(CLOCK_THREAD_CPUTIME_ID);
}
