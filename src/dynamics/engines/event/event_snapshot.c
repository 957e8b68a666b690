// The state of the engine as bytes: everything that determines what happens next. The broad phase
// is rebuilt from the regions, which changes nothing.
#include "collision/distance/tree_pair.h"
#include "dynamics/engines/event/event_bodies.h"
#include "dynamics/engines/event/event_pairs.h"

#include <string.h>

typedef struct Header {
    int bodyCount;
    int pairCount;
    int freePairCount;
    int dataCount;
    int freeDataCount;
    int heapCount;
    int neighborCount;
    rbEventStatistics statistics;
    rbEventWork work;
    double windowStart;
    int64_t windowEvents;
    double now;
    double tolerance;
    double regionEdge;
} Header;

// Writes to bytes, or only counts when bytes is NULL.
typedef struct Cursor {
    char* bytes;
    size_t size;
} Cursor;

typedef struct Source {
    const char* bytes;
    size_t size; // read so far
} Source;

static void put(Cursor* cursor, const void* data, size_t size)
{
    if (cursor->bytes != NULL && size > 0) {
        memcpy(cursor->bytes + cursor->size, data, size);
    }
    cursor->size += size;
}

static void take(Source* cursor, void* data, size_t size)
{
    if (size > 0) {
        memcpy(data, cursor->bytes + cursor->size, size);
    }
    cursor->size += size;
}

#define PUT_ARRAY(cursor, array) \
    put((cursor), (array).data, (size_t)(array).count * sizeof *(array).data)
#define TAKE_ARRAY(cursor, array, number)                              \
    ((void)rbArray_Reserve(array, (number)), (array).count = (number), \
     take((cursor), (array).data, (size_t)(number) * sizeof *(array).data))

// Among triangles at equal distance the front decides which one is reported, so fronts belong to
// the state.
static void putFronts(const rbEventEngine* engine, Cursor* cursor)
{
    for (int i = 0; i < engine->datas.count; ++i) {
        const rbFront* front = engine->datas.data[i].cache.front;
        if (front != NULL) {
            put(cursor, front, sizeof *front);
            put(cursor, front->entries, (size_t)front->count * sizeof *front->entries);
        }
    }
}

static void write(const rbEventEngine* engine, Cursor* cursor)
{
    Header header;
    memset(&header, 0, sizeof header);
    header.bodyCount = engine->bodies.count;
    header.pairCount = engine->pairs.count;
    header.freePairCount = engine->freePairs.count;
    header.dataCount = engine->datas.count;
    header.freeDataCount = engine->freeDatas.count;
    header.heapCount = engine->heap.count;
    header.statistics = engine->statistics;
    header.work = engine->work;
    header.windowStart = engine->windowStart;
    header.windowEvents = engine->windowEvents;
    header.now = engine->now;
    header.tolerance = engine->tolerance;
    header.regionEdge = engine->regionEdge;
    put(cursor, &header, sizeof header);
    put(cursor, engine->detectorCounts, engine->detector->countsSize);
    PUT_ARRAY(cursor, engine->bodies);
    for (int i = 0; i < engine->bodies.count; ++i) {
        PUT_ARRAY(cursor, engine->bodies.data[i].pairs);
    }
    PUT_ARRAY(cursor, engine->colds);
    PUT_ARRAY(cursor, engine->balls);
    PUT_ARRAY(cursor, engine->pairs);
    PUT_ARRAY(cursor, engine->times);
    PUT_ARRAY(cursor, engine->freePairs);
    PUT_ARRAY(cursor, engine->datas);
    PUT_ARRAY(cursor, engine->detectorPairs);
    PUT_ARRAY(cursor, engine->freeDatas);
    for (int i = 0; i < engine->heap.count; ++i) {
        rbHeapNode node = rbHeap_GetNode(&engine->heap, i);
        put(cursor, &node, sizeof node);
    }
    putFronts(engine, cursor);
}

size_t rbEventEngine_GetSnapshotSize(const rbEventEngine* engine)
{
    Cursor cursor = {NULL, 0};
    write(engine, &cursor);
    return cursor.size;
}

void rbEventEngine_TakeSnapshot(const rbEventEngine* engine, void* bytes)
{
    RB_ASSERT(bytes != NULL);
    Cursor cursor = {bytes, 0};
    write(engine, &cursor);
}

// Bodies own the memory of their lists, colds the copies of their materials.
static void takeBodies(rbEventEngine* engine, Source* cursor, int count)
{
    RB_ASSERT(count == engine->bodies.count);
    for (int i = 0; i < count; ++i) {
        rbEventBody body;
        take(cursor, &body, sizeof body);
        rbEventBody* ours = &engine->bodies.data[i];
        int listed = body.pairs.count;
        memcpy(&body.pairs, &ours->pairs, sizeof body.pairs);
        *ours = body;
        ours->pairs.count = listed;
    }
    for (int i = 0; i < count; ++i) {
        rbEventBody* ours = &engine->bodies.data[i];
        int listed = ours->pairs.count;
        TAKE_ARRAY(cursor, ours->pairs, listed);
    }
    for (int i = 0; i < count; ++i) {
        rbEventCold cold;
        take(cursor, &cold, sizeof cold);
        rbEventCold* ours = &engine->colds.data[i];
        cold.geometry = ours->geometry;
        cold.path = ours->path;
        cold.materials = ours->materials;
        cold.materialCount = ours->materialCount;
        *ours = cold;
    }
}

static void dropFronts(rbEventEngine* engine)
{
    for (int i = 0; i < engine->datas.count; ++i) {
        rbDestroyFront(engine->datas.data[i].cache.front);
        engine->datas.data[i].cache.front = NULL;
    }
}

// Pairs that had a front get their own again; the stored pointers only say which ones.
static void takeFronts(rbEventEngine* engine, Source* cursor)
{
    for (int i = 0; i < engine->datas.count; ++i) {
        rbSeparationCache* cache = &engine->datas.data[i].cache;
        if (cache->front == NULL) {
            continue;
        }
        rbFront saved;
        take(cursor, &saved, sizeof saved);
        rbFront* front = rbCreateFront(saved.capacity);
        RB_ASSERT(front->capacity >= saved.count);
        saved.entries = front->entries;
        saved.capacity = front->capacity;
        *front = saved;
        take(cursor, front->entries, (size_t)saved.count * sizeof *saved.entries);
        cache->front = front;
    }
}

static rbBounds placeOf(const rbEventEngine* engine, int index)
{
    const int* periods = engine->balls.data[index].periods;
    rbVec3 shift = {-periods[0] * engine->period.x, -periods[1] * engine->period.y,
                    -periods[2] * engine->period.z};
    rbBounds region = engine->bodies.data[index].region;
    rbBounds moved = {rbAdd(region.lower, shift), rbAdd(region.upper, shift)};
    return moved;
}

void rbEventEngine_RestoreSnapshot(rbEventEngine* engine, const void* bytes)
{
    RB_ASSERT(bytes != NULL);
    Source cursor = {bytes, 0};
    Header header;
    take(&cursor, &header, sizeof header);
    take(&cursor, engine->detectorCounts, engine->detector->countsSize);
    dropFronts(engine);
    takeBodies(engine, &cursor, header.bodyCount);
    TAKE_ARRAY(&cursor, engine->balls, header.bodyCount);
    TAKE_ARRAY(&cursor, engine->pairs, header.pairCount);
    TAKE_ARRAY(&cursor, engine->times, header.pairCount);
    TAKE_ARRAY(&cursor, engine->freePairs, header.freePairCount);
    TAKE_ARRAY(&cursor, engine->datas, header.dataCount);
    TAKE_ARRAY(&cursor, engine->detectorPairs, header.dataCount * engine->pairWords);
    TAKE_ARRAY(&cursor, engine->freeDatas, header.freeDataCount);
    rbHeap_Clear(&engine->heap);
    for (int i = 0; i < header.heapCount; ++i) {
        rbHeapNode node;
        take(&cursor, &node, sizeof node);
        rbHeap_Set(&engine->heap, node.item, node.key);
    }
    takeFronts(engine, &cursor);
    engine->statistics = header.statistics;
    engine->work = header.work;
    engine->windowStart = header.windowStart;
    engine->windowEvents = header.windowEvents;
    engine->now = header.now;
    engine->tolerance = header.tolerance;
    engine->regionEdge = header.regionEdge;
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
