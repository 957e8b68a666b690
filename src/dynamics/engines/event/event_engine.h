// The event engine: bodies fly freely between collisions, and no collision is missed.
//
// The engine refers to bodies by their index in the arrays of its host (the world). It reads and
// restarts their flights; all other properties of a body are registered once.
#pragma once

#include "base/core/byte_stream.h"
#include "base/core/words.h"
#include "collision/broadphase/pair_table.h"
#include "dynamics/engines/engine_event.h"
#include "dynamics/motion/flight.h"
#include "dynamics/motion/path.h"

#include <rattleback/event.h>

typedef struct rbEventEngine rbEventEngine;

// The arrays of the host, borrowed for a call; all are indexed by body.
typedef struct rbEventHost {
    rbFlight* flights;                                    // of dynamic bodies
    rbMotionBody* motions;                                // of dynamic bodies
    const rbMotionState* states;                          // of the others, at rest
    rbEngineJournalFn* journal;                           // NULL: nothing is recorded
    void (*flown)(void* context, int index, double time); // a flight began; NULL: not told
    void* context;
} rbEventHost;

// A body as registered with the engine.
typedef struct rbEventBodyDef {
    bool isDynamic;              // it has a mass and flies
    const rbPath* path;          // kinematic, borrowed; NULL stands still
    const rbGeometry* geometry;  // borrowed; NULL: nothing can touch it
    rbTransform transform;       // of the geometry in the principal frame of the body
    const rbMaterial* materials; // one, or one for each child of a compound; copied
    int materialCount;
    uint32_t groups;         // bits: the groups it belongs to ...
    uint32_t mask;           // ... and those it collides with
    double growth;           // m/s, of the rounding
    double loadAcceleration; // m/s^2, bound on what varying loads add
    double loadTorque;       // N m, the same
} rbEventBodyDef;

rbEventEngine* rbCreateEventEngine(const rbEventSettings* settings, rbVec3 periodicBox);
void rbDestroyEventEngine(rbEventEngine* engine); // NULL is fine

void rbEventEngine_SetMaterialPair(rbEventEngine* engine, int kindA, int kindB,
                                   const rbMaterialPair* pair);

// Asked for pairs that become near, before the next start; NULL: all of them collide.
void rbEventEngine_SetFilter(rbEventEngine* engine, rbPairFilterFn* filter, void* context);

// Registers a body, or its absence (def NULL), before the next start.
void rbEventEngine_SetBody(rbEventEngine* engine, int index, const rbEventBodyDef* def);

// Begins at a time: places all bodies, finds the near pairs, and validates the start. Returns
// INVALID and a message without names if the box is too small; overlap->count > 0 if bodies overlap
// and that is not allowed. Where it is allowed, they are separated.
rbStatus rbEventEngine_Start(rbEventEngine* engine, const rbEventHost* host, double time,
                             rbStartOverlap* overlap, rbError* error);

// The host restarted the flight of a body at a time.
void rbEventEngine_Touch(rbEventEngine* engine, const rbEventHost* host, int index, double time);

// Handles all events up to a time. Returns LIMIT when the budget is spent: failed holds the bodies
// of the event and *reached the time reached.
rbStatus rbEventEngine_Advance(rbEventEngine* engine, const rbEventHost* host, double time,
                               double* reached, int failed[2]);

// Energy by cause, J: impact, friction, microcollision, rest.
typedef struct rbEventWork {
    double impact, friction, micro, rest;
} rbEventWork;

rbEventWork rbEventEngine_GetWork(const rbEventEngine* engine);
rbEventStatistics rbEventEngine_GetStatistics(const rbEventEngine* engine);
bool rbEventEngine_IsResting(const rbEventEngine* engine, int index);

// All invariants of pairs, their lists and the heap (event_state.h). O(pairs).
bool rbEventEngine_IsValid(const rbEventEngine* engine);

// Sets the work done so far and marks no body as held or calm; a start must follow.
void rbEventEngine_Forget(rbEventEngine* engine, const rbEventWork* work);

// Moves everything that changes through a stream. Loading needs the same bodies.
void rbEventEngine_Move(rbEventEngine* engine, rbByteStream* stream);

RB_DECLARE_WORDS(rbLastingContact);
RB_DECLARE_WORDS(rbEventLoop);
RB_DECLARE_WORDS(rbDetector);
