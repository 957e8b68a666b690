// Benchmarks: suites of rows, minimum of repeats.
//
// A suite is a file suite_x.c with a `const rbBenchSuite`, and a row of the table in bench.c. Rows
// of the same suite, case and metric with different engines are compared with each other.
#ifndef RB_BENCH_H
#define RB_BENCH_H

#include "base/core/memory.h"

#include <rattleback/base.h>

#include <stdio.h>

typedef struct rbBenchRow {
    const char* suite;
    char caseName[64];
    char engine[32]; // "rattleback", or a peer: "libm"
    char metric[48];
    double value;
    char unit[24];
    char result[24]; // the kind of answer; ratios are taken between equal kinds only
    double errorMax; // of the answers, NaN if not measured
} rbBenchRow;

typedef struct rbBench {
    FILE* text; // progress for people, NULL if nobody reads
    const char* suite;
    RB_ARRAY(rbBenchRow) rows;
} rbBench;

typedef struct rbBenchSuite {
    const char* name;
    const char* help;
    void (*run)(rbBench* bench);
} rbBenchSuite;

const rbBenchSuite* const* rbGetBenchSuites(int* count);

// Adds a row; suite and order are those of the bench.
void rbBench_Add(rbBench* bench, rbBenchRow row);

// Runs work(context) at least three times and for about the given seconds; the fastest, in seconds.
double rbBench_Time(void (*work)(void* context), void* context, double seconds);

extern const rbBenchSuite rbSuiteFlight;
extern const rbBenchSuite rbSuiteMath;

#endif
