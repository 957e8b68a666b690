// Bodies of the event engine.
#pragma once

#include "dynamics/engines/event/event_state.h"

#include <math.h>

// State of a body at a time not before the start of its flight.
rbMotionState rbEventEngine_StateAt(const rbEventEngine* engine, const rbEventHost* host, int index,
                                    double time);
// Copies a new flight of the host into the body's record.
void rbEventEngine_TakeFlight(rbEventEngine* engine, const rbEventHost* host, int index);
// Gives the host the flight of a body, if it lacks it.
void rbEventEngine_GiveFlight(const rbEventEngine* engine, const rbEventHost* host, int index);
// Starts a flight from a state and copies it.
void rbEventEngine_StartFlight(rbEventEngine* engine, const rbEventHost* host, int index,
                               double time, const rbMotionState* state);
// The body as time bounds see it.
void rbEventEngine_MakeSweepBody(const rbEventEngine* engine, const rbEventHost* host, int index,
                                 double time, const rbMotionState* state, rbSweepBody* out);

// Whole periods of a periodic box, m.
static inline rbVec3 rbEventEngine_ShiftBy(const rbEventEngine* engine, const int periods[3])
{
    rbVec3 period = engine->space.period;
    return (rbVec3){periods[0] * period.x, periods[1] * period.y, periods[2] * period.z};
}

// A point of the second body of a pair, or a vector to one, at its image next to the first.
static inline rbVec3 rbEventEngine_ShiftToImage(const rbEventEngine* engine,
                                                const rbEventPair* pair, rbVec3 point)
{
    return engine->space.isPeriodic ? rbAdd(point, rbEventEngine_ShiftBy(engine, pair->image))
                                    : point;
}

// The geometry of a body in a state.
static inline rbTransform rbEventCold_GetPose(const rbEventCold* cold, const rbMotionState* state)
{
    return (rbTransform){rbAdd(state->position, rbRotate(state->orientation, cold->transform.p)),
                         rbMulQuat(state->orientation, cold->transform.q)};
}

// The contact time, or less where a fall through a tolerance takes less.
static inline double rbEventEngine_ContactTime(const rbEventEngine* engine, double pull)
{
    double requested = engine->settings.contactTime;
    double fall = pull > 0.0 ? 0.1 * sqrt(2.0 * engine->tolerance / pull) : requested;
    return fall < requested ? fall : requested;
}

// gcc considers a function that only prefetches to have no effect and drops its calls, unless it is
// inlined.
#define RB_FETCH_INLINE static inline __attribute__((always_inline))

// Prefetches the list of a body.
RB_FETCH_INLINE void rbEventBody_FetchList(const rbEventBody* body)
{
    const char* list = (const char*)body->pairs.data;
    int size = body->pairs.count * (int)sizeof *body->pairs.data;
    for (int at = 0; at < size; at += 64) {
        __builtin_prefetch(list + at);
    }
}

// Prefetches what predicting a body reads, if its list is there.
RB_FETCH_INLINE void rbEventEngine_FetchNeighbors(const rbEventEngine* engine, int index)
{
    const rbEventBody* body = &engine->bodies.data[index];
    int count = body->isDynamic ? body->pairs.count : 0;
    for (int i = 0; i < count && i < 32; ++i) {
        __builtin_prefetch(&engine->bodies.data[body->pairs.data[i].other]);
    }
}

static inline rbVec3 rbEventBody_PositionAt(const rbEventBody* body, double time)
{
    double dt = time - body->time;
    return rbAddScaled(body->position, dt,
                       rbAddScaled(body->velocity, 0.5 * dt, body->acceleration));
}

static inline rbVec3 rbEventBody_VelocityAt(const rbEventBody* body, double time)
{
    return rbAddScaled(body->velocity, time - body->time, body->acceleration);
}

// The body as an impact sees it.
rbImpactBody rbEventEngine_MakeImpactBody(const rbEventEngine* engine, const rbEventHost* host,
                                          int index, const rbMotionState* state);
// Writes an event into the journal of the host, if there is one.
void rbEventHost_Write(const rbEventHost* host, const rbEvent* event);
