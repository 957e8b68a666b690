// The loop over bodies: the earliest entry of the heap is handled, and nothing else is touched.
#include "dynamics/engines/event_state.h"

#include <math.h>

bool rbEvent_Spend(rbEventEngine* engine, double time)
{
    if (!(time < engine->windowStart + 1.0)) {
        engine->windowStart = time;
        engine->windowEvents = 0;
    }
    engine->windowEvents += 1;
    return (double)engine->windowEvents <= engine->budget;
}

static rbStatus advanceBodies(rbEventEngine* engine, const rbEventHost* host, double time,
                              int failed[2])
{
    while (!rbHeap_IsEmpty(&engine->heap)) {
        rbHeapNode top = rbHeap_Top(&engine->heap);
        if (top.key > time) {
            break;
        }
        rbEventBody* body = &engine->bodies.data[top.item];
        if (body->entry == RB_ENTRY_EXPIRY) {
            engine->now = top.key;
            rbEvent_RenewRegion(engine, host, top.item, top.key);
            rbEvent_UpdateEntry(engine, top.item);
        } else if (engine->times.data[body->entry] != top.key) {
            engine->statistics.staleEntries += 1;
            rbEvent_UpdateEntry(engine, top.item);
            continue;
        } else {
            int pair = body->entry;
            engine->now = top.key;
            failed[0] = engine->pairs.data[pair].a;
            failed[1] = engine->pairs.data[pair].b;
            rbEvent_HandlePair(engine, host, pair, top.key);
        }
        if (!rbEvent_Spend(engine, top.key)) {
            return RB_STATUS_LIMIT;
        }
    }
    return RB_STATUS_OK;
}

const rbEventLoopOps rbBodyLoop = {"bodies", advanceBodies};
