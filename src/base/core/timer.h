// Wall clock for reports and benchmarks. Never part of a result.
#pragma once

// Seconds since a fixed moment, monotonic, nanosecond resolution.
double rbGetWallTime(void);

// CPU seconds used by this thread.
double rbGetThreadTime(void);
