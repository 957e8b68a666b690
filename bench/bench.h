// Benchmarks: suites of rows, minimum of repeats.
//
// A suite is a file suite_x.c with a `const rbBenchSuite`, and an entry in the table in bench.c.
// Rows of the same suite, case, metric and result with different engines are compared with each
// other.
#pragma once

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
    char result[24]; // the kind of answer; ratios are formed between equal kinds only
    double errorMax; // error of the answers, NaN if not measured
} rbBenchRow;

typedef struct rbBench {
    FILE* text;             // tables for people, NULL for no tables
    FILE* progress;         // progress line on a terminal, NULL if there is none
    bool isQuick;           // few cases and one repeat: shows that a suite runs, not how fast
    bool isAlone;           // no peers, even if installed
    const char* plotFolder; // where suites that draw write SUITE.svg, NULL: no pictures
    const char* only;       // the part of a suite to run, NULL: all
    const char* suite;
    RB_ARRAY(rbBenchRow) rows;
} rbBench;

typedef struct rbBenchSuite {
    const char* name;
    const char* help;
    const char* const* parts; // names that --only accepts, ends with NULL; NULL: none
    void (*run)(rbBench* bench);
} rbBenchSuite;

const rbBenchSuite* const* rbGetBenchSuites(int* count);

// Adds a row without printing it; the bench sets its suite and order.
void rbBench_Record(rbBench* bench, rbBenchRow row);

// Adds a row and prints it.
void rbBench_Add(rbBench* bench, rbBenchRow row);

// Shows the current activity and replaces the previous text. NULL clears the line.
void rbBench_ShowProgress(const rbBench* bench, const char* text);

// Draws the picture of the suite, if there is a folder for it, by a function that takes panels.
// Says where it is, or on stderr why it is not.
struct rbWorkPanel;
typedef rbStatus rbBenchDrawFn(const struct rbWorkPanel* panels, int count, const char* path,
                               rbError* error);
void rbBench_Draw(const rbBench* bench, rbBenchDrawFn* draw, const struct rbWorkPanel* panels,
                  int count);

// Runs work(context) at least three times and for about the given seconds. Returns the fastest run,
// in seconds of CPU time of this thread, so that other programs disturb little.
double rbBench_Time(void (*work)(void* context), void* context, double seconds);

// CPU seconds used by this thread.
double rbGetCpuTime(void);

extern const rbBenchSuite rbSuiteAccuracy;
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
extern const rbBenchSuite rbSuiteCluster; // in a program with MPI only
