// Rows of the event engine that others register: loops, which find the next event, and detectors,
// which find when a pair touches.
#ifndef RB_ENGINES_EVENT_ROWS_H
#define RB_ENGINES_EVENT_ROWS_H

#include "dynamics/engines/event/event_engine.h"

// A loop.
typedef struct rbEventLoopRow {
    const char* name;
    // Handles all events up to a time; LIMIT when the budget is spent: failed has the bodies of the
    // last event.
    rbStatus (*advance)(rbEventEngine* engine, const rbEventHost* host, double time, int failed[2]);
    // NULL: the heap holds bodies, and regions say which pairs are near. Otherwise the heap holds
    // pairs, and this makes those of a start.
    void (*startPairs)(rbEventEngine* engine, const rbEventHost* host, double time);
} rbEventLoopRow;

// A detector. The exact one has a name alone: the engine asks its own pairs. Functions that are
// NULL have nothing to do.
typedef struct rbDetectorRow {
    const char* name;
    size_t pairSize;   // bytes of what it remembers of a pair, zero for a new one; in snapshots
    size_t countsSize; // bytes of its statistics, zero at first; in snapshots
    // Whether it works by the settings: INVALID or UNSUPPORTED with a message.
    rbStatus (*check)(const rbEventSettings* settings, rbError* error);
    // All bodies are known: prepares what it needs of them (engine->detectorState).
    rbStatus (*start)(rbEventEngine* engine, rbError* error);
    void (*destroy)(rbEventEngine* engine);
    // Whether it finds the contact of two bodies; otherwise the exact detector does.
    bool (*canDetect)(const rbEventEngine* engine, int a, int b);
    // Whether a pair of its own that overlaps at a start is one that it left so in a run, so that
    // it is no error.
    bool (*acceptsOverlap)(rbEventEngine* engine, int pair, double time, double depth);
    // How long a pair of its own cannot touch from a time on, s. False: asks the exact detector.
    bool (*predict)(rbEventEngine* engine, const rbEventHost* host, int pair, double time,
                    double* duration);
    // A pair of its own is due: resolves a contact or sets a later time.
    void (*handle)(rbEventEngine* engine, const rbEventHost* host, int pair, double time);
} rbDetectorRow;

// Adds a row to a table, at start-up (base/core/registered_rows.h). Refused: a name that is known,
// a full table.
rbStatus rbRegisterEventLoop(const rbEventLoopRow* row, rbError* error);
rbStatus rbRegisterDetector(const rbDetectorRow* row, rbError* error);

// The row of a number below the count.
const rbEventLoopRow* rbGetEventLoopRow(rbEventLoop loop);
const rbDetectorRow* rbGetDetectorRow(rbDetector detector);

extern const rbEventLoopRow rbBodyLoopRow;

#endif
