// The tables of loops and detectors, and the loop over bodies.
#include "dynamics/engines/event/event_rows.h"

#include "base/core/registered_rows.h"
#include "dynamics/engines/event/event_impacts.h"

#include <math.h>

// -------------------------------------------------------------------------------- loop over bodies
// The earliest entry of the heap is handled, and nothing else is touched.

// gcc considers a function that only prefetches to have no effect and drops its calls, unless it is
// inlined.
#define FETCH_INLINE static inline __attribute__((always_inline))

FETCH_INLINE void fetchBody(const rbEventBody* body)
{
    __builtin_prefetch(body);
    __builtin_prefetch((const char*)body + 64);
    __builtin_prefetch((const char*)body + 128);
}

// The next events are among the children of the top. Their bodies are prefetched while this one is
// handled. For the very next event, whose body was prefetched earlier, the partner and the list are
// prefetched too.
FETCH_INLINE void fetchAhead(const rbEventEngine* engine, const rbEventHost* host)
{
    const rbHeapNode* nodes = engine->heap.nodes.data + RB_HEAP_OFFSET;
    int count = engine->heap.count;
    int next = 1;
    for (int i = 1; i <= 4 && i < count; ++i) {
        fetchBody(&engine->bodies.data[nodes[i].item]);
        next = nodes[i].key < nodes[next].key ? i : next;
    }
    if (next < count) {
        const rbEventBody* body = &engine->bodies.data[nodes[next].item];
        __builtin_prefetch(&host->flights[nodes[next].item], 1);
        rbEventBody_FetchList(body);
        if (body->entry >= 0) {
            fetchBody(&engine->bodies.data[body->entryOther]);
            __builtin_prefetch(&host->flights[body->entryOther], 1);
            __builtin_prefetch(&engine->pairs.data[body->entry]);
        }
    }
}

static rbStatus advanceBodies(rbEventEngine* engine, const rbEventHost* host, double time,
                              int failed[2])
{
    while (!rbHeap_IsEmpty(&engine->heap)) {
        rbHeapNode top = rbHeap_Top(&engine->heap);
        if (top.key > time) {
            break;
        }
        RB_ASSERT(top.key >= engine->now);
        RB_ASSERT(top.item < engine->bodies.count);
        fetchAhead(engine, host);
        rbEventBody* body = &engine->bodies.data[top.item];
        if (body->entry == RB_ENTRY_EXPIRY) {
            engine->now = top.key;
            rbEventEngine_RenewRegion(engine, host, top.item, top.key);
            rbEventEngine_PredictNew(engine, host, top.key);
            rbEventEngine_UpdateEntry(engine, top.item);
        } else if (engine->times.data[body->entry] != top.key) {
            engine->statistics.staleEntries += 1;
            rbEventEngine_UpdateEntry(engine, top.item);
            continue;
        } else {
            int pair = body->entry;
            engine->now = top.key;
            failed[0] = engine->pairs.data[pair].a;
            failed[1] = engine->pairs.data[pair].b;
            rbEventEngine_HandlePair(engine, host, pair, top.key);
        }
        if (!rbEventEngine_Spend(engine, top.key)) {
            return RB_STATUS_LIMIT;
        }
    }
    return RB_STATUS_OK;
}

static const rbEventLoopRow bodiesRow = {.name = "bodies", .advance = advanceBodies};

// ------------------------------------------------------------------------------------------ tables

static const rbDetectorRow exactRow = {.name = "exact"};

static const rbEventLoopRow* const loops[RB_LOOP_COUNT] = {[RB_LOOP_BODIES] = &bodiesRow};
static const rbDetectorRow* const detectors[RB_DETECTOR_COUNT] = {[RB_DETECTOR_EXACT] = &exactRow};

// ------------------------------------------------------------------------------------------ loops

RB_DEFINE_TABLE(rbEventLoop, const rbEventLoopRow* rbGetEventLoopRow, RB_LOOP_COUNT, loops[index])
RB_DEFINE_WORDS(rbEventLoop, "loop", rbEventLoop_GetCount(),
                rbGetEventLoopRow((rbEventLoop)index)->name)

rbStatus rbRegisterEventLoop(const rbEventLoopRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->advance != NULL);
    return RB_REGISTER_ROW(rbEventLoop, "loop of events", row, error);
}

// -------------------------------------------------------------------------------------- detectors

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
