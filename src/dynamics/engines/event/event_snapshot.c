// The state of the engine as bytes: everything that determines what happens next. The broad phase
// is rebuilt from the regions, which changes nothing.
#include "base/core/byte_stream.h"
#include "collision/distance/tree_pair.h"
#include "dynamics/engines/event/event_bodies.h"
#include "dynamics/engines/event/event_pairs.h"

// Pairs that had a front get their own again; the stored pointers only say which ones. Among
// triangles at equal distance the front decides which one is reported, so fronts belong to the
// state.
static void moveFronts(rbEventEngine* engine, rbByteStream* stream)
{
    for (int i = 0; i < engine->datas.count; ++i) {
        rbSeparationCache* cache = &engine->datas.data[i].cache;
        if (cache->front != NULL) {
            int capacity = stream->isLoading ? 0 : cache->front->capacity;
            RB_MOVE(stream, capacity);
            cache->front = stream->isLoading ? rbCreateFront(capacity) : cache->front;
            rbFront_Move(cache->front, stream);
        }
    }
}

// Bodies own the memory of their lists, colds the copies of their materials.
static void moveBodies(rbEventEngine* engine, rbByteStream* stream)
{
    for (int i = 0; i < engine->bodies.count; ++i) {
        rbEventBody* ours = &engine->bodies.data[i];
        rbEventBody body;
        memcpy(&body, ours, sizeof body);
        RB_MOVE(stream, body);
        memcpy(&body.pairs, &ours->pairs, sizeof body.pairs);
        memcpy(ours, &body, sizeof body);
        RB_MOVE_ARRAY(stream, ours->pairs);
    }
    for (int i = 0; i < engine->bodies.count; ++i) {
        rbEventCold* ours = &engine->colds.data[i];
        rbEventCold cold;
        memcpy(&cold, ours, sizeof cold);
        RB_MOVE(stream, cold);
        cold.geometry = ours->geometry;
        cold.path = ours->path;
        cold.materials = ours->materials;
        cold.materialCount = ours->materialCount;
        memcpy(ours, &cold, sizeof cold);
    }
}

static void moveHeap(rbEventEngine* engine, rbByteStream* stream)
{
    int count = engine->heap.count;
    RB_MOVE(stream, count);
    if (stream->isLoading) {
        rbHeap_Clear(&engine->heap);
    }
    for (int i = 0; i < count; ++i) {
        rbHeapNode node = {0};
        if (!stream->isLoading) {
            node = rbHeap_GetNode(&engine->heap, i);
        }
        RB_MOVE(stream, node);
        if (stream->isLoading) {
            rbHeap_Set(&engine->heap, node.item, node.key);
        }
    }
}

static void moveEngine(rbEventEngine* engine, rbByteStream* stream)
{
    int bodyCount = engine->bodies.count;
    RB_MOVE(stream, bodyCount);
    RB_ASSERT(bodyCount == engine->bodies.count);
    RB_MOVE(stream, engine->statistics);
    RB_MOVE(stream, engine->work);
    RB_MOVE(stream, engine->windowStart);
    RB_MOVE(stream, engine->windowEvents);
    RB_MOVE(stream, engine->now);
    RB_MOVE(stream, engine->tolerance);
    RB_MOVE(stream, engine->regionEdge);
    rbByteStream_Move(stream, engine->detectorCounts, engine->detector->countsSize);
    moveBodies(engine, stream);
    RB_MOVE_ARRAY(stream, engine->balls);
    RB_MOVE_ARRAY(stream, engine->pairs);
    RB_MOVE_ARRAY(stream, engine->times);
    RB_MOVE_ARRAY(stream, engine->freePairs);
    RB_MOVE_ARRAY(stream, engine->datas);
    RB_MOVE_ARRAY(stream, engine->detectorPairs);
    RB_MOVE_ARRAY(stream, engine->freeDatas);
    moveHeap(engine, stream);
    moveFronts(engine, stream);
}

size_t rbEventEngine_GetSnapshotSize(const rbEventEngine* engine)
{
    rbByteStream stream = {0};
    moveEngine((rbEventEngine*)engine, &stream); // counting changes nothing
    return stream.size;
}

void rbEventEngine_TakeSnapshot(const rbEventEngine* engine, void* bytes)
{
    RB_ASSERT(bytes != NULL);
    rbByteStream stream = {.bytes = bytes};
    moveEngine((rbEventEngine*)engine, &stream); // saving changes nothing
}

static rbBounds placeOf(const rbEventEngine* engine, int index)
{
    const int* periods = engine->balls.data[index].periods;
    rbVec3 shift = {-periods[0] * engine->period.x, -periods[1] * engine->period.y,
                    -periods[2] * engine->period.z};
    rbBounds region = engine->bodies.data[index].region;
    return (rbBounds){rbAdd(region.lower, shift), rbAdd(region.upper, shift)};
}

void rbEventEngine_RestoreSnapshot(rbEventEngine* engine, const void* bytes)
{
    RB_ASSERT(bytes != NULL);
    rbByteStream stream = {.bytes = (char*)bytes, .isLoading = true};
    rbEventEngine_FreeFronts(engine);
    moveEngine(engine, &stream);
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbEventBody* body = &engine->bodies.data[i];
        rbEventEngine_SetClock(engine, i);
        if (body->shape != RB_EVENT_SHAPE_NONE && !body->isUnbounded &&
            engine->loop->startPairs == NULL) {
            rbBroadPhase_Place(engine->broad, i, placeOf(engine, i), NULL);
        }
    }
    RB_VALIDATE(rbEventEngine_IsValid(engine));
}
