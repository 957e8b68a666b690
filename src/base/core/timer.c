#define _POSIX_C_SOURCE 200809L

#include "base/core/timer.h"

#include <time.h>

double rbGetWallTime(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
