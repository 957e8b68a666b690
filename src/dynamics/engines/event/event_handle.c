// A pair is due (L-86): it is measured, collides or not, and gets its next time. Collisions return
// the bodies they changed to this file, which predicts them.
#include "dynamics/engines/event/event_handle.h"

#include "dynamics/engines/event/event_bodies.h"
#include "dynamics/engines/event/event_impacts.h"
#include "dynamics/engines/event/event_rest.h"

#include <math.h>

bool rbEventEngine_Spend(rbEventEngine* engine, double time)
{
    if (!(time < engine->windowStart + 1.0)) {
        engine->windowStart = time;
        engine->windowEvents = 0;
    }
    engine->windowEvents += 1;
    return (double)engine->windowEvents <= engine->budget;
}

// The flights of these bodies are new: predicts all their pairs.
static void predictMoved(rbEventEngine* engine, const rbEventHost* host, double time)
{
    RB_ASSERT(engine->moved.count <= engine->bodies.count);
    for (int i = 0; i < engine->moved.count; ++i) {
        rbEventEngine_PredictBody(engine, host, engine->moved.data[i], time);
    }
}

bool rbEventEngine_Resolve(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                           const rbMotionState states[2], const rbEventContacts* list)
{
    int a = engine->pairs.data[index].a;
    int b = engine->pairs.data[index].b;
    rbEventOutcome outcome = rbEventEngine_Collide(engine, host, index, time, states, list);
    predictMoved(engine, host, time);
    if (outcome.mayRest) {
        rbEventEngine_NoteCalm(engine, host, a, time, outcome.pull, outcome.fastest);
        rbEventEngine_NoteCalm(engine, host, b, time, outcome.pull, outcome.fastest);
    }
    return outcome.isResolved;
}

// Nothing approached although the root said so: rounding. Checks again after the contact time;
// never, if nothing drives the two together until a flight changes.
static void postpone(rbEventEngine* engine, int index, double time)
{
    const rbEventBody* a = &engine->bodies.data[engine->pairs.data[index].a];
    const rbEventBody* b = &engine->bodies.data[engine->pairs.data[index].b];
    rbVec3 accelerationA = a->isDynamic ? a->acceleration : RB_VEC3_ZERO;
    rbVec3 accelerationB = b->isDynamic ? b->acceleration : RB_VEC3_ZERO;
    double pull = rbDistance(accelerationA, accelerationB);
    if (pull == 0.0) {
        engine->times.data[index] = INFINITY;
        return;
    }
    engine->pairs.data[index].isPostponed = true;
    double next = time + rbEventEngine_ContactTime(engine, pull);
    engine->times.data[index] = next > time ? next : nextafter(time, INFINITY);
}

static void handleExact(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    rbEventPair* pair = &engine->pairs.data[index];
    int a = pair->a;
    int b = pair->b;
    rbEventContacts contacts;
    contacts.touching = 1;
    contacts.count = 1;
    contacts.points[0] = rbEventEngine_GetExactContact(engine, pair, time);
    double overlap = -contacts.points[0].distance;
    engine->statistics.overlapMax = fmax(engine->statistics.overlapMax, overlap);
    if (rbEventEngine_CollideSmooth(engine, host, index, time, &contacts.points[0])) {
        engine->statistics.contactsExact += 1;
        predictMoved(engine, host, time);
        return;
    }
    rbMotionState states[2] = {rbEventEngine_StateAt(engine, host, a, time),
                               rbEventEngine_StateAt(engine, host, b, time)};
    if (rbEventEngine_Resolve(engine, host, index, time, states, &contacts)) {
        engine->statistics.contactsExact += 1;
    } else {
        postpone(engine, index, time);
        rbEventEngine_UpdateEntry(engine, a);
        rbEventEngine_UpdateEntry(engine, b);
    }
}

double rbEventEngine_CollideMeasured(rbEventEngine* engine, const rbEventHost* host, int index,
                                     double time, rbEventMeasure* measure)
{
    rbEventContacts contacts;
    if (rbEventEngine_ListContacts(engine, host, index, time, measure, &contacts) &&
        rbEventEngine_Resolve(engine, host, index, time, measure->states, &contacts)) {
        // Both have new flights; the next check starts from the values measured here.
        const rbEventPair* pair = &engine->pairs.data[index];
        measure->states[0] = rbEventEngine_StateAt(engine, host, pair->a, time);
        measure->states[1] = rbEventEngine_StateAt(engine, host, pair->b, time);
        engine->statistics.contactsExact += 1;
    }
    return rbEventEngine_LeavingSpeed(engine, host, index, measure->states, &contacts);
}

static void handleGeneral(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    rbEventMeasure measure;
    rbEventEngine_Measure(engine, host, index, time, &measure);
    double leaving = rbEventEngine_IsTouching(engine, &measure)
                         ? rbEventEngine_CollideMeasured(engine, host, index, time, &measure)
                         : 0.0;
    rbEventEngine_Schedule(engine, host, index, time, &measure, leaving);
    rbEventEngine_UpdateEntry(engine, engine->pairs.data[index].a);
    rbEventEngine_UpdateEntry(engine, engine->pairs.data[index].b);
}

void rbEventEngine_HandlePair(rbEventEngine* engine, const rbEventHost* host, int index,
                              double time)
{
    RB_ASSERT(index >= 0);
    RB_ASSERT(index < engine->pairs.count);
    RB_ASSERT(engine->pairs.data[index].a >= 0);
    RB_ASSERT(engine->times.data[index] <= time);
    if (engine->pairs.data[index].isDetected) {
        engine->detector->handle(engine, host, index, time);
    } else if (engine->pairs.data[index].row == RB_PAIR_ROW_GENERAL) {
        handleGeneral(engine, host, index, time);
    } else {
        handleExact(engine, host, index, time);
    }
}
