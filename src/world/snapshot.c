// Snapshot and restore of everything that moves.
//
// Layout: a header, then per slot of a body its flight record, loads and state as they lie in
// memory. A snapshot serves the process that took it (rewinding, trying a step again); files hold
// recordings.
#include "base/core/hash.h"
#include "world/world_state.h"

#include <string.h>

#define SNAPSHOT_MAGIC 0x52425348u // "RBSH"
#define SNAPSHOT_VERSION 2u

typedef struct SnapshotHeader {
    uint32_t magic;
    uint32_t version;
    uint64_t structure; // hash of what must be the same
    uint64_t checksum;  // of all bytes, this one taken as zero
    double time;
    double timeRest;
    double energyReference;
    double externalWork;
    int32_t bodyCount;
    int32_t eventCount;
    int32_t touchedCount;
    int32_t pad;
    rbEventWork work;    // so far, of the event engine
    uint64_t engineSize; // bytes of the event engine behind the bodies; 0: it was not ready
} SnapshotHeader;

typedef struct SnapshotBody {
    rbFlight flight;
    rbMotionState state;
    rbVec3 acceleration; // held bodies have none
} SnapshotBody;

static uint64_t checksumOf(const void* bytes, size_t size)
{
    SnapshotHeader header;
    memcpy(&header, bytes, sizeof header);
    header.checksum = 0;
    uint64_t hash = rbHashBytes(RB_HASH_SEED, &header, sizeof header);
    return rbHashBytes(hash, (const char*)bytes + sizeof header, size - sizeof header);
}

static uint64_t structureHash(const rbWorld* world)
{
    uint64_t hash = RB_HASH_SEED;
    hash = rbHashBytes(hash, world->bodyIds.generations.data,
                       (size_t)world->bodyIds.generations.count * sizeof(uint32_t));
    hash = rbHashBytes(hash, world->forceIds.generations.data,
                       (size_t)world->forceIds.generations.count * sizeof(uint32_t));
    hash = rbHashBytes(hash, world->shapeIds.generations.data,
                       (size_t)world->shapeIds.generations.count * sizeof(uint32_t));
    hash = rbHashBytes(hash, &world->materialPairs.count, sizeof world->materialPairs.count);
    for (int i = 0; i < world->bodies.count; ++i) {
        const rbMotionBody* motion = &world->motions.data[i];
        double values[4] = {motion->mass, motion->moments.x, motion->moments.y, motion->moments.z};
        hash = rbHashDoubles(hash, values, 4);
    }
    return hash;
}

static size_t bodiesSize(const rbWorld* world)
{
    return sizeof(SnapshotHeader) + (size_t)world->bodies.count * sizeof(SnapshotBody);
}

// With the engine go the bodies whose flights were started from outside since the last advance: it
// is told of them at the next one.
static size_t touchedSize(const rbWorld* world)
{
    return (size_t)world->touched.count * sizeof *world->touched.data;
}

static size_t engineSize(const rbWorld* world)
{
    return world->isEngineReady ? rbEventEngine_GetSnapshotSize(world->engine) + touchedSize(world)
                                : 0;
}

size_t rbWorld_GetSnapshotSize(const rbWorld* world)
{
    return bodiesSize(world) + engineSize(world);
}

rbStatus rbWorld_TakeSnapshot(const rbWorld* world, void* bytes, size_t size, rbError* error)
{
    size_t needed = rbWorld_GetSnapshotSize(world);
    if (size < needed) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the snapshot needs %zu bytes, the buffer has %zu", needed, size);
    }
    SnapshotHeader header = {
        .magic = SNAPSHOT_MAGIC,
        .version = SNAPSHOT_VERSION,
        .structure = structureHash(world),
        .time = world->time,
        .timeRest = world->timeRest,
        .energyReference = world->energyReference,
        .externalWork = world->externalWork,
        .bodyCount = world->bodies.count,
        .eventCount = world->events.count,
        .touchedCount = world->isEngineReady ? world->touched.count : 0,
        .engineSize = engineSize(world),
    };
    if (world->engine != NULL) {
        header.work = rbEventEngine_GetWork(world->engine);
    }
    char* place = bytes;
    memcpy(place, &header, sizeof header);
    place += sizeof header;
    for (int i = 0; i < world->bodies.count; ++i) {
        SnapshotBody body;
        memcpy(&body.flight, &world->flights.data[i], sizeof body.flight);
        memcpy(&body.state, &world->states.data[i], sizeof body.state);
        body.acceleration = world->motions.data[i].acceleration;
        memcpy(place, &body, sizeof body);
        place += sizeof body;
    }
    if (header.engineSize > 0) {
        if (header.touchedCount > 0) {
            memcpy(place, world->touched.data, touchedSize(world));
        }
        rbEventEngine_TakeSnapshot(world->engine, place + touchedSize(world));
    }
    header.checksum = checksumOf(bytes, needed);
    memcpy(bytes, &header, sizeof header);
    return RB_STATUS_OK;
}

// The engine is told of everything again, so nothing is held: bodies that were get their loads
// back.
static void startAnew(rbWorld* world, const rbEventWork* work)
{
    world->isEngineReady = false;
    if (world->engine != NULL) {
        rbEventEngine_Forget(world->engine, work);
    }
    for (int i = 0; i < world->bodies.count; ++i) {
        if (!rbWorld_IsBodyAlive(world, i) || !world->bodies.data[i].hasMass) {
            continue;
        }
        rbVec3 before = world->motions.data[i].acceleration;
        rbWorld_RefreshLoads(world, i);
        rbVec3 after = world->motions.data[i].acceleration;
        if (before.x != after.x || before.y != after.y || before.z != after.z) {
            rbWorld_StartFlight(world, i);
        }
    }
}

rbStatus rbWorld_RestoreSnapshot(rbWorld* world, const void* bytes, size_t size, rbError* error)
{
    SnapshotHeader header;
    if (size < sizeof header) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "the snapshot is cut off");
    }
    memcpy(&header, bytes, sizeof header);
    if (header.magic != SNAPSHOT_MAGIC || header.version != SNAPSHOT_VERSION) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "this is no snapshot of this version");
    }
    if (header.bodyCount != world->bodies.count || header.structure != structureHash(world)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the world has other bodies or forces than when the snapshot was taken");
    }
    size_t needed = bodiesSize(world) + (size_t)header.engineSize;
    if (header.engineSize > SIZE_MAX / 2 || size < needed) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "the snapshot is cut off");
    }
    if (header.checksum != checksumOf(bytes, needed)) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "the snapshot is damaged");
    }
    world->time = header.time;
    world->timeRest = header.timeRest;
    world->energyReference = header.energyReference;
    world->externalWork = header.externalWork;
    if (header.eventCount < world->events.count) {
        world->events.count = header.eventCount;
    }
    const char* place = (const char*)bytes + sizeof header;
    for (int i = 0; i < world->bodies.count; ++i) {
        SnapshotBody body;
        memcpy(&body, place, sizeof body);
        world->flights.data[i] = body.flight;
        world->states.data[i] = body.state;
        world->motions.data[i].acceleration = body.acceleration;
        place += sizeof body;
    }
    world->touched.count = 0;
    if (header.engineSize > 0 && world->isEngineReady) {
        rbArray_Reserve(world->touched, header.touchedCount);
        world->touched.count = header.touchedCount;
        size_t listed = touchedSize(world); // bytes
        if (listed > 0) {
            memcpy(world->touched.data, place, listed);
        }
        rbEventEngine_RestoreSnapshot(world->engine, place + listed);
    } else {
        startAnew(world, &header.work);
    }
    return RB_STATUS_OK;
}
