// The loop over bodies: the next event, and the pair due; the tables of loops and detectors.
#include "dynamics/engines/event/event_loop.h"

#include "base/core/registered_rows.h"

#include <math.h>

// ------------------------------------------------------------------------------ a pair that is due
// A pair is due (L-86): it is measured, collides or not, and gets its next time.

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
        rbEventEngine_SetTime(engine, index, (double)INFINITY);
        return;
    }
    engine->pairs.data[index].isPostponed = true;
    double next = time + rbEventEngine_ContactTime(engine, pull);
    rbEventEngine_SetTime(engine, index, next > time ? next : nextafter(time, INFINITY));
}

static void handleExact(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    int a = engine->pairs.data[index].a, b = engine->pairs.data[index].b;
    rbEventBody_FetchList(&engine->bodies.data[a]);
    rbEventBody_FetchList(&engine->bodies.data[b]);
    rbEventContacts contacts;
    (void)rbEventEngine_FindTouching(engine, host, index, time, &contacts);
    rbEventEngine_FetchNeighbors(engine, a);
    rbEventEngine_FetchNeighbors(engine, b);
    // never -0: fmax may return either zero
    double overlap = 0.0 - contacts.points[0].distance;
    engine->statistics.overlapMax = fmax(engine->statistics.overlapMax, overlap);
    if (rbEventEngine_CollideSmooth(engine, host, index, time, &contacts.points[0])) {
        engine->statistics.contactsExact += 1;
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
    RB_ASSERT(rbEventEngine_GetTime(engine, index) <= time);
    if (rbEventEngine_GetPair(engine, index)->isDetected) {
        engine->detector.row->handle(engine, host, index, time);
    } else if (engine->pairs.data[index].row == RB_PAIR_ROW_GENERAL) {
        handleGeneral(engine, host, index, time);
    } else {
        handleExact(engine, host, index, time);
    }
}

// -------------------------------------------------------------------------------- loop over bodies
// The earliest entry of the heap is handled, and nothing else is touched.

bool rbEventEngine_Spend(rbEventEngine* engine, double time)
{
    if (!(time < engine->budget.start + 1.0)) {
        engine->budget.start = time;
        engine->budget.events = 0;
    }
    engine->budget.events += 1;
    return (double)engine->budget.events <= engine->budget.most;
}

RB_FETCH_INLINE void fetchBody(const rbEventBody* body)
{
    __builtin_prefetch(body);
    __builtin_prefetch((const char*)body + 64);
    __builtin_prefetch((const char*)body + 128);
}

// The next events are among the children of the top. Their bodies are prefetched while this one is
// handled. For the very next event, whose body was prefetched earlier, the partner and the list are
// prefetched too.
RB_FETCH_INLINE void fetchAhead(const rbEventEngine* engine)
{
    const rbHeapNode* nodes = engine->queue.soon.nodes.data + RB_HEAP_OFFSET;
    int count = engine->queue.soon.count;
    int next = 1;
    for (int i = 1; i <= 4 && i < count; ++i) {
        fetchBody(&engine->bodies.data[nodes[i].item]);
        next = nodes[i].key < nodes[next].key ? i : next;
    }
    for (int i = 4 * next + 1; i <= 4 * next + 4 && i < count; ++i) {
        fetchBody(&engine->bodies.data[nodes[i].item]); // one of them comes after that
    }
    if (next < count) {
        const rbEventBody* body = &engine->bodies.data[nodes[next].item];
        rbEventBody_FetchList(body);
        if (body->entry.pair >= 0) {
            fetchBody(&engine->bodies.data[body->entry.other]);
            __builtin_prefetch(&engine->pairs.data[body->entry.pair]);
        }
    }
}

static rbStatus advanceBodies(rbEventEngine* engine, const rbEventHost* host, double time,
                              int failed[2])
{
    while (rbQueue_HasNext(&engine->queue)) {
        rbHeapNode top = rbHeap_Top(&engine->queue.soon);
        if (top.key > time) {
            break;
        }
        RB_ASSERT(top.key >= engine->now);
        RB_ASSERT(top.item < engine->bodies.count);
        fetchAhead(engine);
        rbEventBody* body = &engine->bodies.data[top.item];
        if (body->entry.pair == RB_ENTRY_EXPIRY) {
            engine->now = top.key;
            rbEventEngine_RenewRegion(engine, host, top.item, top.key);
            rbEventEngine_PredictNew(engine, host, top.item, top.key);
        } else if (rbEventEngine_GetTime(engine, body->entry.pair) != top.key) {
            engine->statistics.staleEntries += 1;
            rbEventEngine_UpdateEntry(engine, top.item);
            continue;
        } else {
            int pair = body->entry.pair;
            engine->now = top.key;
            failed[0] = engine->pairs.data[pair].a;
            failed[1] = engine->pairs.data[pair].b;
            rbEventEngine_HandlePair(engine, host, pair, top.key);
        }
        if (!rbEventEngine_Spend(engine, top.key)) {
            return RB_STATUS_LIMIT;
        }
        rbPoll();
    }
    return RB_STATUS_OK;
}

static const rbEventLoopRow bodiesRow = {.name = "bodies", .advance = advanceBodies};

// ------------------------------------------------------------------------------------------ tables

static const rbDetectorRow exactRow = {.name = "exact"};

static const rbEventLoopRow* const loops[RB_LOOP_COUNT] = {[RB_LOOP_BODIES] = &bodiesRow};
static const rbDetectorRow* const detectors[RB_DETECTOR_COUNT] = {[RB_DETECTOR_EXACT] = &exactRow};

RB_DEFINE_TABLE(rbEventLoop, const rbEventLoopRow* rbGetEventLoopRow, RB_LOOP_COUNT, loops[index])
RB_DEFINE_WORDS(rbEventLoop, "loop", rbEventLoop_GetCount(),
                rbGetEventLoopRow((rbEventLoop)index)->name)

rbStatus rbRegisterEventLoop(const rbEventLoopRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->advance != NULL);
    return RB_REGISTER_ROW(rbEventLoop, "loop of events", row, error);
}

RB_DEFINE_TABLE(rbDetector, const rbDetectorRow* rbGetDetectorRow, RB_DETECTOR_COUNT,
                detectors[index])
RB_DEFINE_WORDS(rbDetector, "detector", rbDetector_GetCount(),
                rbGetDetectorRow((rbDetector)index)->name)

rbStatus rbRegisterDetector(const rbDetectorRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->canDetect != NULL);
    RB_ASSERT(row->predict != NULL);
    RB_ASSERT(row->handle != NULL);
    return RB_REGISTER_ROW(rbDetector, "detector", row, error);
}
