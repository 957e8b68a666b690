// One run of a parameter study, as a process of its own: a crash or a hang costs one row.
#pragma once

#include "cli/sweep_grid.h"

#include <rattleback/scene.h>

#include <sys/types.h>

// How a run ended; the words are those of the table.
typedef enum rbSweepStatus {
    RB_SWEEP_DONE,    // "done"
    RB_SWEEP_MISSED,  // "missed": a tolerance
    RB_SWEEP_FAILED,  // "failed": the engine ended early
    RB_SWEEP_REFUSED, // "refused": bad values
    RB_SWEEP_BUDGET,  // "budget": took too long
    RB_SWEEP_CRASHED, // "crashed": the process died
    RB_SWEEP_STOPPED, // not in tables: a signal asked to stop
    RB_SWEEP_STATUS_COUNT
} rbSweepStatus;

const char* rbSweepStatus_Name(rbSweepStatus status);
// The status of a word; RB_SWEEP_STATUS_COUNT if unknown.
rbSweepStatus rbSweepStatus_Find(const char* word, size_t length);

// What all runs have in common.
typedef struct rbSweepPlan {
    const rbArguments* arguments; // of the verb: scene, --set, --duration
    const rbSweepGrid* grid;
    int columnCount; // probe columns of the scene
    double budget;   // s of the clock for a run; INFINITY: any
} rbSweepPlan;

// A run under way.
typedef struct rbSweepChild {
    pid_t pid; // 0: none
    int point;
    int pipe;       // its row comes from here
    double started; // s, of the clock
    char* text;     // what has come
    size_t size;
    size_t capacity;
} rbSweepChild;

// The scene at a point, with the settings of the command line; NULL with an error.
rbScene* rbOpenSweepScene(const rbSweepPlan* plan, int point, rbError* error);

// Starts the run of a point. IO with a message if there can be no more processes.
rbStatus rbSweepChild_Start(rbSweepChild* child, const rbSweepPlan* plan, int point,
                            rbError* error);
// Reads what has come. Returns false when there is no more to come.
bool rbSweepChild_Read(rbSweepChild* child);
// Whether it has gone on long after its budget: it does not listen and is to be killed.
bool rbSweepChild_IsLate(const rbSweepChild* child, const rbSweepPlan* plan);
// Waits for its end. Its text is then the rest of a row of the table, without parameters, which the
// caller frees with rbFree(text, capacity).
rbSweepStatus rbSweepChild_Finish(rbSweepChild* child, const rbSweepPlan* plan);
