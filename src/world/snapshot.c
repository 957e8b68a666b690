// Snapshot and restore of everything that moves.
//
// Layout: a header, then for each body slot its flight record, state and loads as they lie in
// memory, for each joint what users can set, the parameters, the bytes of the engine, and the
// pairs of shapes that touch.
// A snapshot serves the process that took it (rewinding, retrying a step); recordings are for
// files.
#include "base/core/byte_stream.h"
#include "base/core/hash.h"
#include "world/world_engine.h"
#include "world/world_joint.h"
#include "world/world_parameters.h"

#define SNAPSHOT_MAGIC 0x52425348u // "RBSH"
#define SNAPSHOT_VERSION 9u

typedef struct SnapshotHeader {
    uint32_t magic;
    uint32_t version;
    uint64_t structure; // hash of what must match on restore
    uint64_t checksum;  // of all bytes, with this field set to zero
    double time;
    double timeRest;
    double energyReference;
    double externalWork;
    int32_t bodyCount;
    int32_t eventCount;
    int32_t touchedCount;
    int32_t jointCount;
    int32_t touchCounts[RB_TOUCH_COUNT]; // pairs of shapes
    rbEngineAccounts accounts;           // work totals so far
    rbStepWork stepWork;                 // the part that the step engine does not count itself
    uint64_t engineSize; // bytes of the engine after the parameters; 0: it was not ready
} SnapshotHeader;

static uint64_t checksumOf(const void* bytes, size_t size)
{
    SnapshotHeader header;
    memcpy(&header, bytes, sizeof header);
    header.checksum = 0;
    uint64_t hash = rbHashBytes(RB_HASH_SEED, &header, sizeof header);
    return rbHashBytes(hash, (const char*)bytes + sizeof header, size - sizeof header);
}

static uint64_t hashIds(uint64_t hash, const rbIdPool* pool)
{
    return rbHashBytes(hash, pool->generations.data,
                       (size_t)pool->generations.count * sizeof(uint32_t));
}

static uint64_t structureHash(const rbWorld* world)
{
    uint64_t hash = hashIds(RB_HASH_SEED, &world->bodyIds);
    hash = hashIds(hash, &world->forceIds);
    hash = hashIds(hash, &world->shapeIds);
    hash = hashIds(hash, &world->jointIds);
    hash = hashIds(hash, &world->springIds);
    return rbHashBytes(hash, &world->materialPairs.count, sizeof world->materialPairs.count);
}

static void moveBodies(rbWorld* world, rbByteStream* stream)
{
    for (int i = 0; i < world->bodies.count; ++i) {
        RB_MOVE(stream, world->flights.data[i]);
        RB_MOVE(stream, world->states.data[i]);
        RB_MOVE(stream, world->motions.data[i].acceleration); // held bodies have none
    }
}

// What users can set of a joint, and what only the engine knows while it is ready.
static void moveJoint(rbWorld* world, int index, rbByteStream* stream)
{
    rbJoint* joint = world->joints.data[index].joint;
    bool isSaving = stream->bytes != NULL && !stream->isLoading;
    double gap = isSaving ? rbWorld_GetLeftGap(world, index) : 0.0;
    RB_MOVE(stream, joint->def.linearVelocity);
    RB_MOVE(stream, joint->def.angularVelocity);
    RB_MOVE(stream, gap);
    joint->gap = stream->isLoading ? gap : joint->gap;
    for (int f = 0; f < RB_JOINT_FREEDOMS_MAX; ++f) {
        double target = joint->motors[f].def.target;
        double position = 0.0;
        double limitPosition = 0.0;
        if (isSaving && f < joint->model.freedomCount) {
            position = rbWorld_GetFreedomPosition(world, index, f);
        }
        if (isSaving && f < joint->limits.count) {
            limitPosition = rbWorld_GetLimitPosition(world, index, f);
        }
        RB_MOVE(stream, target);
        RB_MOVE(stream, position);
        RB_MOVE(stream, limitPosition);
        RB_MOVE(stream, joint->isTargetSet[f]);
        if (stream->isLoading) {
            joint->positions[f] = position;
            joint->limitPositions[f] = limitPosition;
            rbJoint_ChooseMotor(joint, f, target);
        }
    }
}

static void moveJoints(rbWorld* world, rbByteStream* stream)
{
    for (int i = 0; i < world->joints.count; ++i) {
        if (world->joints.data[i].joint != NULL) {
            moveJoint(world, i, stream);
        }
    }
}

static size_t bodiesSize(const rbWorld* world)
{
    rbByteStream stream = {0};
    moveBodies((rbWorld*)world, &stream); // counting changes nothing
    moveJoints((rbWorld*)world, &stream);
    return sizeof(SnapshotHeader) + stream.size + rbWorld_GetParametersSize(world);
}

// The engine's part includes the bodies whose flights were restarted by user calls since the last
// advance; they are registered with the engine at the next one.
static size_t touchedSize(const rbWorld* world)
{
    return (size_t)world->touched.count * sizeof *world->touched.data;
}

static size_t engineSize(const rbWorld* world)
{
    if (!world->isEngineReady) {
        return 0;
    }
    return rbWorld_GetEngineRow(world)->getSnapshotSize(world) + touchedSize(world);
}

size_t rbWorld_GetSnapshotSize(const rbWorld* world)
{
    size_t touchCount = 0;
    for (int i = 0; i < RB_TOUCH_COUNT; ++i) {
        touchCount += (size_t)world->touches[i].count;
    }
    return bodiesSize(world) + engineSize(world) + touchCount * sizeof(rbTouchSlot);
}

rbStatus rbWorld_TakeSnapshot(const rbWorld* world, void* bytes, size_t size, rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
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
        .jointCount = world->joints.count,
        .touchCounts = {world->touches[0].count, world->touches[1].count},
        .accounts = rbWorld_GetAccounts(world),
        .stepWork = world->stepWork,
        .engineSize = engineSize(world),
    };
    memcpy(bytes, &header, sizeof header);
    rbByteStream stream = {.bytes = bytes, .size = sizeof header};
    moveBodies((rbWorld*)world, &stream); // saving changes nothing
    moveJoints((rbWorld*)world, &stream);
    char* place = (char*)bytes + stream.size;
    rbWorld_TakeParameters(world, place);
    place += rbWorld_GetParametersSize(world);
    if (header.engineSize > 0) {
        if (header.touchedCount > 0) {
            memcpy(place, world->touched.data, touchedSize(world));
        }
        rbWorld_GetEngineRow(world)->takeSnapshot(world, place + touchedSize(world));
        place += header.engineSize;
    }
    for (int i = 0; i < RB_TOUCH_COUNT; ++i) {
        size_t touchSize = (size_t)world->touches[i].count * sizeof(rbTouchSlot);
        if (touchSize > 0) {
            memcpy(place, world->touches[i].data, touchSize);
        }
        place += touchSize;
    }
    header.checksum = checksumOf(bytes, needed);
    memcpy(bytes, &header, sizeof header);
    return RB_STATUS_OK;
}

static rbStatus validateSnapshot(const rbWorld* world, const void* bytes, size_t size,
                                 SnapshotHeader* header, rbError* error)
{
    if (size < sizeof *header) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "the snapshot is cut off");
    }
    memcpy(header, bytes, sizeof *header);
    if (header->magic != SNAPSHOT_MAGIC || header->version != SNAPSHOT_VERSION) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "this is not a snapshot of this version");
    }
    if (header->bodyCount != world->bodies.count || header->jointCount != world->joints.count ||
        header->structure != structureHash(world)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the bodies, joints or forces of the world differ from those of the snapshot");
    }
    size_t touchCount = 0;
    for (int i = 0; i < RB_TOUCH_COUNT; ++i) {
        touchCount += header->touchCounts[i] > 0 ? (size_t)header->touchCounts[i] : 0u;
    }
    size_t touchSize = touchCount * sizeof(rbTouchSlot);
    size_t needed = bodiesSize(world) + (size_t)header->engineSize + touchSize;
    if (header->engineSize > SIZE_MAX / 2 || size < needed) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "the snapshot is cut off");
    }
    if (header->checksum != checksumOf(bytes, needed)) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "the snapshot is damaged");
    }
    return RB_STATUS_OK;
}

static void restoreTouches(rbWorld* world, const SnapshotHeader* header, const char* place)
{
    for (int i = 0; i < RB_TOUCH_COUNT; ++i) {
        int count = header->touchCounts[i] > 0 ? header->touchCounts[i] : 0;
        size_t size = (size_t)count * sizeof(rbTouchSlot);
        rbArray_Reserve(world->touches[i], count);
        world->touches[i].count = count;
        if (count > 0) {
            memcpy(world->touches[i].data, place, size);
        }
        place += size;
    }
}

// Restores the engine from its bytes (true), or marks it to be started anew.
static bool restoreEngine(rbWorld* world, const SnapshotHeader* header, const char* place)
{
    const rbEngineRow* row = rbWorld_GetEngineRow(world);
    size_t listed = (size_t)header->touchedCount * sizeof *world->touched.data;
    size_t size = (size_t)header->engineSize;
    if (size > listed && row->restoreSnapshot(world, place + listed, size - listed)) {
        rbArray_Reserve(world->touched, header->touchedCount);
        world->touched.count = header->touchedCount;
        if (listed > 0) {
            memcpy(world->touched.data, place, listed);
        }
        return true;
    }
    world->touched.count = 0;
    world->isEngineReady = false;
    if (row->startAnew != NULL) {
        row->startAnew(world, &header->accounts);
    }
    return false;
}

rbStatus rbWorld_RestoreSnapshot(rbWorld* world, const void* bytes, size_t size, rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
    SnapshotHeader header = {0};
    rbStatus status = validateSnapshot(world, bytes, size, &header, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    world->motionCount += 1;
    world->time = header.time;
    world->timeRest = header.timeRest;
    world->energyReference = header.energyReference;
    world->externalWork = header.externalWork;
    if (header.eventCount < world->events.count) {
        world->events.count = header.eventCount;
    }
    size_t parametersSize = rbWorld_GetParametersSize(world);
    rbWorld_RestoreParameters(world, (const char*)bytes + bodiesSize(world) - parametersSize);
    rbByteStream stream = {.bytes = (char*)bytes, .size = sizeof header, .isLoading = true};
    moveBodies(world, &stream);
    moveJoints(world, &stream);
    const char* place = (const char*)bytes + stream.size;
    restoreTouches(world, &header, place + parametersSize + (size_t)header.engineSize);
    bool isReady = world->isEngineReady;
    if (!restoreEngine(world, &header, place + parametersSize)) {
        rbWorld_SetAccounts(world, &header.accounts);
        return RB_STATUS_OK;
    }
    if (!isReady) {
        stream.size = sizeof header;
        moveBodies(world, &stream); // starting the engine may have moved them
    }
    world->stepWork = header.stepWork;
    world->assembleWork = header.accounts.assemble;
    return RB_STATUS_OK;
}
