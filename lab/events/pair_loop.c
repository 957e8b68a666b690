// The loop of the first specification (L-77 to L-79, L-86): a heap of pairs and a global interval.
// Every event visits every body, so it costs at least O(n); kept as the second algorithm against
// which the loop over bodies is tested, and for comparison.
#include "dynamics/engines/event/event_loop.h"
#include "lab/events/lab_event_rows.h"

#include <math.h>

#define INTERVAL_MAX 1.0 // s, of the global interval

static bool isNear(const rbEventEngine* engine, int a, int b)
{
    const rbEventBody* first = &engine->bodies.data[a];
    const rbEventBody* second = &engine->bodies.data[b];
    if (engine->loop == &rbAllPairsLoopRow) {
        return true;
    }
    if (first->isUnbounded || second->isUnbounded) {
        const rbBounds* region = first->isUnbounded ? &second->region.box : &first->region.box;
        return rbEventEngine_IsNearUnbounded(engine, region, first->isUnbounded ? a : b);
    }
    const rbBounds* p = &first->region.box;
    const rbBounds* q = &second->region.box;
    return p->lower.x <= q->upper.x && q->lower.x <= p->upper.x && p->lower.y <= q->upper.y &&
           q->lower.y <= p->upper.y && p->lower.z <= q->upper.z && q->lower.z <= p->upper.z;
}

static bool hasPair(const rbEventEngine* engine, int a, int b)
{
    bool isFirst = engine->bodies.data[a].pairs.count < engine->bodies.data[b].pairs.count;
    const rbEventBody* body = &engine->bodies.data[isFirst ? a : b];
    for (int i = 0; i < body->pairs.count; ++i) {
        const rbEventPair* pair = &engine->pairs.data[body->pairs.data[i].pair];
        if (pair->a == a && pair->b == b) {
            return true;
        }
    }
    return false;
}

// Pairs whose motion boxes over an interval overlap enter the heap.
static void admitPairs(rbEventEngine* engine, const rbEventHost* host, double timeA, double timeB)
{
    static const int home[3] = {0, 0, 0};
    for (int i = 0; i < engine->bodies.count; ++i) {
        rbEventBody* body = &engine->bodies.data[i];
        if (body->shape != RB_EVENT_SHAPE_NONE && !body->isUnbounded) {
            body->region.box = rbEventEngine_MotionBox(engine, host, i, timeA, timeB);
        }
    }
    for (int a = 0; a < engine->bodies.count; ++a) {
        for (int b = a + 1; b < engine->bodies.count; ++b) {
            if (rbEventEngine_CanTouch(engine, a, b) && isNear(engine, a, b) &&
                !hasPair(engine, a, b)) {
                int pair = rbEventEngine_MakePair(engine, a, b, home);
                rbEventEngine_PredictPair(engine, host, pair, timeA);
                rbQueue_Set(&engine->queue, pair, rbEventEngine_GetTime(engine, pair));
            }
        }
    }
    engine->statistics.renewals += engine->bodies.count;
}

// Adds all pairs at the start, near or not.
static void admitAll(rbEventEngine* engine, const rbEventHost* host, double time)
{
    static const int home[3] = {0, 0, 0};
    for (int a = 0; a < engine->bodies.count; ++a) {
        for (int b = a + 1; b < engine->bodies.count; ++b) {
            if (rbEventEngine_CanTouch(engine, a, b)) {
                int pair = rbEventEngine_MakePair(engine, a, b, home);
                rbEventEngine_PredictPair(engine, host, pair, time);
                rbQueue_Set(&engine->queue, pair, rbEventEngine_GetTime(engine, pair));
            }
        }
    }
}

static double topKey(const rbEventEngine* engine)
{
    return rbHeap_IsEmpty(&engine->queue.soon) ? INFINITY : rbHeap_Top(&engine->queue.soon).key;
}

static rbStatus advancePairs(rbEventEngine* engine, const rbEventHost* host, double time,
                             int failed[2])
{
    for (;;) {
        // The interval is at most the time to the next event; new pairs may shorten it. It does not
        // depend on the requested time, so outputs change nothing.
        double end = fmin(topKey(engine), engine->now + INTERVAL_MAX);
        admitPairs(engine, host, engine->now, end);
        double next = fmin(topKey(engine), end);
        if (next > time) {
            return RB_STATUS_OK;
        }
        engine->now = next;
        if (topKey(engine) > next) {
            continue;
        }
        int pair = rbHeap_Top(&engine->queue.soon).item;
        failed[0] = engine->pairs.data[pair].a;
        failed[1] = engine->pairs.data[pair].b;
        // Hysteresis: a pair that is no longer near is removed when it reaches the top.
        bool isKept = isNear(engine, failed[0], failed[1]);
        if (isKept) {
            rbEventEngine_HandlePair(engine, host, pair, next);
            rbQueue_Set(&engine->queue, pair, rbEventEngine_GetTime(engine, pair));
        } else {
            rbEventEngine_RemovePair(engine, pair);
        }
        if (!rbEventEngine_Spend(engine, next)) {
            return RB_STATUS_LIMIT;
        }
    }
}

const rbEventLoopRow rbPairLoopRow = {
    .name = "pairs", .advance = advancePairs, .startPairs = admitAll};
const rbEventLoopRow rbAllPairsLoopRow = {
    .name = "all-pairs", .advance = advancePairs, .startPairs = admitAll};
