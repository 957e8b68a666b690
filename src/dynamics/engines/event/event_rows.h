// Table rows of the event engine that others can register: loops, which find the next event, and
// detectors, which find when a pair touches.
#pragma once

#include "dynamics/engines/event/event_engine.h"

// A loop.
typedef struct rbEventLoopRow {
    const char* name;
    // Handles all events up to a time; returns LIMIT when the budget is spent: failed lists the
    // bodies of the last event.
    rbStatus (*advance)(rbEventEngine* engine, const rbEventHost* host, double time, int failed[2]);
    // NULL: the heap holds bodies, and regions determine the near pairs. Otherwise the heap holds
    // pairs, and this creates those of a start.
    void (*startPairs)(rbEventEngine* engine, const rbEventHost* host, double time);
} rbEventLoopRow;

// A detector. The exact one has only a name: the engine handles its pairs itself. Functions may be
// NULL if there is nothing to do.
typedef struct rbDetectorRow {
    const char* name;
    size_t pairSize;   // bytes of its data of a pair, zero for a new one; in snapshots
    size_t countsSize; // bytes of its statistics, zero at first; in snapshots
    // Whether it supports the settings: INVALID or UNSUPPORTED with a message.
    rbStatus (*check)(const rbEventSettings* settings, rbError* error);
    // All bodies are registered: prepares its own data (engine->detector.state).
    rbStatus (*start)(rbEventEngine* engine, rbError* error);
    void (*destroy)(rbEventEngine* engine);
    // Whether it handles the contact of two bodies; otherwise the exact detector does.
    bool (*canDetect)(const rbEventEngine* engine, int a, int b);
    // Whether one of its pairs that overlaps at a start is an overlap that it left in a run, and so
    // not an error.
    bool (*acceptsOverlap)(rbEventEngine* engine, int pair, double time, double depth);
    // How long one of its pairs cannot touch after a time, s. False: use the exact detector.
    bool (*predict)(rbEventEngine* engine, const rbEventHost* host, int pair, double time,
                    double* duration);
    // One of its pairs is due: resolves a contact or sets a later time.
    void (*handle)(rbEventEngine* engine, const rbEventHost* host, int pair, double time);
} rbDetectorRow;

// Adds a row to a table, at start-up (base/core/registered_rows.h). Fails if the name exists or the
// table is full.
rbStatus rbRegisterEventLoop(const rbEventLoopRow* row, rbError* error);
rbStatus rbRegisterDetector(const rbDetectorRow* row, rbError* error);

// The row with an index below the count.
const rbEventLoopRow* rbGetEventLoopRow(rbEventLoop value);
const rbDetectorRow* rbGetDetectorRow(rbDetector value);
