// Benchmarks: suites of rows, minimum of repeats.
//
// A suite is a file suite_x.c with a `const rbBenchSuite`, and a row of the table in bench.c. Rows
// of the same suite, case, metric and result with different engines are compared with each other.
#ifndef RB_BENCH_H
#define RB_BENCH_H

#include "base/core/memory.h"

#include <rattleback/base.h>

#include <stdbool.h>
#include <stdio.h>

typedef struct rbBenchRow {
    const char* suite;
    char caseName[64];
    char engine[48]; // "rattleback", or a peer: "libm"; a further word names the call
    char metric[48];
    double value;
    char unit[24];
    char result[24]; // the kind of answer; ratios are taken between equal kinds only
    double errorMax; // of the answers, NaN if not measured
} rbBenchRow;

typedef struct rbBench {
    FILE* text;           // tables for people, NULL if nobody reads
    FILE* progress;       // a terminal, NULL if there is none
    bool isQuick;         // few cases and one repeat: shows that a suite runs, not how fast
    bool isAlone;         // no peers, even if they are there
    const char* plotPath; // where a suite that draws puts its picture, NULL: nowhere
    const char* only;     // the part of a suite to run, NULL: all
    const char* suite;
    RB_ARRAY(rbBenchRow) rows;
} rbBench;

typedef struct rbBenchSuite {
    const char* name;
    const char* help;
    const char* const* parts; // names that --only takes, ends with NULL; NULL: it has none
    void (*run)(rbBench* bench);
} rbBenchSuite;

const rbBenchSuite* const* rbGetBenchSuites(int* count);

// Adds a row without printing it; suite and order are those of the bench.
void rbBench_Record(rbBench* bench, rbBenchRow row);

// Adds a row and prints it.
void rbBench_Add(rbBench* bench, rbBenchRow row);

// Shows what is going on, in place of what was shown before. NULL clears the line.
void rbBench_ShowProgress(const rbBench* bench, const char* text);

// Runs work(context) at least three times and for about the given seconds; the fastest, in seconds.
// CPU time of this thread, so that other programs disturb little.
double rbBench_Time(void (*work)(void* context), void* context, double seconds);

// Seconds of CPU this thread has used.
double rbGetCpuTime(void);

extern const rbBenchSuite rbSuiteBroadphase;
extern const rbBenchSuite rbSuiteContacts;
extern const rbBenchSuite rbSuiteConvex;
extern const rbBenchSuite rbSuiteDistanceWork;
extern const rbBenchSuite rbSuiteEvents;
extern const rbBenchSuite rbSuiteFlight;
extern const rbBenchSuite rbSuiteJoints;
extern const rbBenchSuite rbSuiteJointsPeers;
extern const rbBenchSuite rbSuiteMath;
extern const rbBenchSuite rbSuiteMeshDistance;
extern const rbBenchSuite rbSuiteRays;
extern const rbBenchSuite rbSuiteThroughput;

#endif
