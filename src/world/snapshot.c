// Snapshot and restore of everything that moves.
//
// Layout: a header, then for each body slot its flight record, loads and state as they lie in
// memory, for each joint slot what users can set, the parameters, the bytes of the engine, and the
// pairs of shapes that touch.
// A snapshot serves the process that took it (rewinding, retrying a step); recordings are for
// files.
#include "base/core/hash.h"
#include "world/world_engine.h"
#include "world/world_joint.h"
#include "world/world_parameters.h"

#include <string.h>

#define SNAPSHOT_MAGIC 0x52425348u // "RBSH"
#define SNAPSHOT_VERSION 8u

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

typedef struct SnapshotBody {
    rbFlight flight;
    rbMotionState state;
    rbVec3 acceleration; // held bodies have none
} SnapshotBody;

typedef struct SnapshotJoint {
    rbVec3 linearVelocity;
    rbVec3 angularVelocity;
    double targets[RB_JOINT_FREEDOMS_MAX];
    double positions[RB_JOINT_FREEDOMS_MAX];
    double limitPositions[RB_JOINT_FREEDOMS_MAX];
    double gap;
    int32_t isTargetSet[RB_JOINT_FREEDOMS_MAX];
} SnapshotJoint;

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
    hash = rbHashBytes(hash, world->jointIds.generations.data,
                       (size_t)world->jointIds.generations.count * sizeof(uint32_t));
    hash = rbHashBytes(hash, world->springIds.generations.data,
                       (size_t)world->springIds.generations.count * sizeof(uint32_t));
    hash = rbHashBytes(hash, &world->materialPairs.count, sizeof world->materialPairs.count);
    return hash;
}

static size_t bodiesSize(const rbWorld* world)
{
    return sizeof(SnapshotHeader) + (size_t)world->bodies.count * sizeof(SnapshotBody) +
           (size_t)world->joints.count * sizeof(SnapshotJoint) + rbWorld_GetParametersSize(world);
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

static const char* restoreBodies(rbWorld* world, const char* place)
{
    for (int i = 0; i < world->bodies.count; ++i) {
        SnapshotBody body;
        memcpy(&body, place, sizeof body);
        world->flights.data[i] = body.flight;
        world->states.data[i] = body.state;
        world->motions.data[i].acceleration = body.acceleration;
        place += sizeof body;
    }
    return place;
}

static char* takeJoints(const rbWorld* world, char* place)
{
    for (int i = 0; i < world->joints.count; ++i) {
        SnapshotJoint record = {0};
        const rbJoint* joint = world->joints.data[i].joint;
        if (joint != NULL) {
            record.linearVelocity = joint->def.linearVelocity;
            record.angularVelocity = joint->def.angularVelocity;
            record.gap = rbWorld_GetLeftGap(world, i);
        }
        for (int f = 0; joint != NULL && f < RB_JOINT_FREEDOMS_MAX; ++f) {
            record.targets[f] = joint->motors[f].def.target;
            record.positions[f] =
                f < joint->model.freedomCount ? rbWorld_GetFreedomPosition(world, i, f) : 0.0;
            record.limitPositions[f] =
                f < joint->limits.count ? rbWorld_GetLimitPosition(world, i, f) : 0.0;
            record.isTargetSet[f] = joint->isTargetSet[f] ? 1 : 0;
        }
        memcpy(place, &record, sizeof record);
        place += sizeof record;
    }
    return place;
}

static const char* restoreJoints(rbWorld* world, const char* place)
{
    for (int i = 0; i < world->joints.count; ++i) {
        SnapshotJoint record;
        rbJoint* joint = world->joints.data[i].joint;
        memcpy(&record, place, sizeof record);
        place += sizeof record;
        if (joint == NULL) {
            continue;
        }
        joint->def.linearVelocity = record.linearVelocity;
        joint->def.angularVelocity = record.angularVelocity;
        joint->gap = record.gap;
        for (int f = 0; f < RB_JOINT_FREEDOMS_MAX; ++f) {
            joint->positions[f] = record.positions[f];
            joint->limitPositions[f] = record.limitPositions[f];
            joint->isTargetSet[f] = record.isTargetSet[f] != 0;
            rbJoint_ChooseMotor(joint, f, record.targets[f]);
        }
    }
    return place;
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
    place = takeJoints(world, place);
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
    const char* bodies = (const char*)bytes + sizeof header;
    size_t parametersSize = rbWorld_GetParametersSize(world);
    rbWorld_RestoreParameters(world, (const char*)bytes + bodiesSize(world) - parametersSize);
    const char* place = restoreJoints(world, restoreBodies(world, bodies));
    restoreTouches(world, &header, place + parametersSize + (size_t)header.engineSize);
    bool isReady = world->isEngineReady;
    if (!restoreEngine(world, &header, place + parametersSize)) {
        rbWorld_SetAccounts(world, &header.accounts);
        return RB_STATUS_OK;
    }
    if (!isReady) {
        (void)restoreBodies(world, bodies); // starting the engine may have moved them
    }
    world->stepWork = header.stepWork;
    world->assembleWork = header.accounts.assemble;
    return RB_STATUS_OK;
}
