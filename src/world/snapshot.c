// Snapshot and restore of everything that moves.
//
// Layout: a header, the parameters that can be changed while the world runs, what moves with the
// world, the bytes of the engine, and the bodies and joints that changed since it last read them.
// A snapshot serves the process that took it (rewinding, retrying a step); recordings are for
// files.
#include "base/core/byte_stream.h"
#include "base/core/hash.h"
#include "base/math/quaternion.h"
#include "world/world_engine.h"
#include "world/world_joint.h"
#include "world/world_settings.h"

#include <stddef.h>

#define SNAPSHOT_MAGIC 0x52425348u // "RBSH"
#define SNAPSHOT_VERSION 17u

typedef struct SnapshotHeader {
    uint32_t magic, version;
    uint64_t checksum;   // of all bytes after it
    uint64_t structure;  // hash of what must match on restore
    uint64_t size;       // of all bytes
    uint64_t engineSize; // of those of the engine; 0: it was not ready
    int64_t eventCount;
    uint64_t hasParameters;    // 0: they have not changed since
    rbEngineAccounts accounts; // work totals so far
} SnapshotHeader;

static uint64_t checksumOf(const void* bytes, size_t size)
{
    size_t start = offsetof(SnapshotHeader, structure);
    return rbHashBytes(RB_HASH_SEED, (const char*)bytes + start, size - start);
}

static uint64_t hashIds(uint64_t hash, const rbIdPool* pool)
{
    hash = rbHashBytes(hash, &pool->generations.count, sizeof pool->generations.count);
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

// -------------------------------------------------------------------------------------- parameters

// kg, kg m^2: squares of inverses are finite.
#define INERTIA_MIN 1e-150

static void moveBodyParameters(rbWorld* world, int index, rbByteStream* stream)
{
    rbBody* body = &world->bodies.data[index];
    rbMotionBody* motion = &world->motions.data[index];
    RB_MOVE_FINITE(stream, body->mass);
    RB_MOVE_FINITE(stream, world->principals.data[index]);
    rbByteStream_Check(stream, rbIsUnitQuat(world->principals.data[index].q));
    RB_MOVE(stream, body->radius); // infinite with a half space
    RB_MOVE(stream, body->hasMass);
    RB_MOVE(stream, body->hasExplicitMass);
    RB_MOVE(stream, body->isLoaded);
    RB_MOVE_FINITE(stream, motion->moments);
    RB_MOVE_FINITE(stream, motion->mass);
    double least = fmin(fmin(motion->moments.x, motion->moments.y), motion->moments.z);
    rbByteStream_Check(stream, !body->hasMass || fmin(least, motion->mass) >= INERTIA_MIN);
    rbByteStream_Check(stream, !body->hasMass || rbWorld_IsBodyAlive(world, index));
    rbByteStream_Check(stream, body->radius >= 0.0);
    for (int i = 0; i < body->shapes.count; ++i) {
        rbShapeDef* shape = &body->shapes.data[i].def;
        RB_MOVE(stream, shape->material);
        rbByteStream_CheckRange(stream, &shape->material.kind, 1, 0, RB_MATERIAL_KINDS_MAX);
        RB_MOVE_FINITE(stream, shape->surfaceVelocity);
        RB_MOVE(stream, shape->groups);
        RB_MOVE(stream, shape->mask);
    }
}

// Without schedules, which the joint keeps.
static void moveJointParameters(rbJoint* joint, rbByteStream* stream)
{
    for (int f = 0; f < RB_JOINT_FREEDOMS_MAX; ++f) {
        rbFreedomDef freedom;
        memcpy(&freedom, &joint->def.freedoms[f], sizeof freedom);
        memcpy(&freedom.motor, &joint->definedMotors[f].def, sizeof freedom.motor);
        freedom.motor.schedule = NULL;
        RB_MOVE(stream, freedom);
        int type = (int)freedom.motor.type;
        rbByteStream_CheckRange(stream, &type, 1, 0, rbMotorType_GetCount());
        RB_MOVE(stream, joint->def.limits[f]);
        if (stream->isLoading) {
            joint->def.freedoms[f] = freedom;
            rbJoint_DefineMotor(joint, f, &freedom.motor);
        }
    }
}

static void moveParameters(rbWorld* world, rbByteStream* stream)
{
    RB_MOVE(stream, world->def.gravity);
    RB_MOVE(stream, world->def.step);
    RB_MOVE(stream, world->def.contact);
    rbByteStream_Check(stream, rbCheckWorldDef(&world->def, NULL) == RB_STATUS_OK);
    for (int i = 0; i < world->bodies.count; ++i) {
        moveBodyParameters(world, i, stream);
    }
    RB_EACH_LINK(Joint, joint, world) {
        moveJointParameters(joint, stream);
    }
    RB_EACH_LINK(Spring, spring, world) {
        RB_MOVE_FINITE(stream, spring->def.restLength);
        RB_MOVE_FINITE(stream, spring->def.stiffness);
        RB_MOVE_FINITE(stream, spring->def.damping);
    }
}

// Restores them. If they differ, the engine must start anew; energy accounting is unchanged.
static void restoreParameters(rbWorld* world, rbByteStream* stream)
{
    rbByteStream present = {stream->bytes, stream->size, stream->capacity, .isComparing = true};
    moveParameters(world, &present);
    if (!present.isDifferent) {
        rbByteStream_Check(stream, present.size <= stream->capacity);
        stream->size = present.size;
        return;
    }
    moveParameters(world, stream);
    for (int i = 0; i < world->bodies.count; ++i) {
        if (world->bodies.data[i].hasMass) {
            rbWorld_RefreshLoads(world, i);
        }
    }
    rbWorld_RemakeLinksOf(world, RB_ALL_BODIES);
    world->isElastic = true; // it may be
    rbWorld_ResetEngine(world);
}

// ------------------------------------------------------------------------------------------- state

// What users can set of a joint, and what only the engine knows while it is ready.
static void moveJoint(const rbWorld* world, rbJoint* joint, rbByteStream* stream)
{
    bool isSaving = stream->bytes != NULL && !stream->isLoading;
    double gap = isSaving ? rbWorld_GetLeftGap(world, joint) : 0.0;
    RB_MOVE_FINITE(stream, joint->def.linearVelocity);
    RB_MOVE_FINITE(stream, joint->def.angularVelocity);
    RB_MOVE_FINITE(stream, gap);
    joint->gap = stream->isLoading ? gap : joint->gap;
    for (int f = 0; f < RB_JOINT_FREEDOMS_MAX; ++f) {
        double target = joint->motors[f].def.target;
        double position = 0.0, limitPosition = 0.0;
        if (isSaving && f < joint->model.freedomCount) {
            position = rbWorld_GetFreedomPosition(world, joint, f);
        }
        if (isSaving && f < joint->limits.count) {
            limitPosition = rbWorld_GetLimitPosition(world, joint, f);
        }
        RB_MOVE_FINITE(stream, target);
        RB_MOVE_FINITE(stream, position);
        RB_MOVE_FINITE(stream, limitPosition);
        RB_MOVE(stream, joint->isTargetSet[f]);
        if (stream->isLoading) {
            joint->positions[f] = position;
            joint->limitPositions[f] = limitPosition;
            rbJoint_ChooseMotor(joint, f, target);
        }
    }
}

static void moveFlight(rbFlight* flight, bool hasMass, rbByteStream* stream)
{
    RB_MOVE(stream, *flight);
    rbByteStream_CheckFlags(stream, &flight->isFallback, 1);
    int type = (int)flight->type;
    bool isTop = type == RB_MOTION_EXACT; // its quarter periods may be infinite
    rbByteStream_CheckRange(stream, &type, 1, hasMass, RB_MOTION_COUNT);
    rbByteStream_CheckRange(stream, flight->row.top.axes, isTop ? 3 : 0, 0, 3);
    rbByteStream_CheckFinite(stream, flight, offsetof(rbFlight, row));
    size_t start = isTop ? offsetof(rbFlight, row.top.elliptic.nome) : offsetof(rbFlight, row);
    size_t end = isTop ? sizeof *flight : start + sizeof flight->row.node;
    rbByteStream_CheckFinite(stream, (const char*)flight + start, end - start);
}

static void moveState(rbWorld* world, rbByteStream* stream)
{
    RB_MOVE_FINITE(stream, world->time);
    RB_MOVE_FINITE(stream, world->timeRest);
    RB_MOVE_FINITE(stream, world->energyReference);
    RB_MOVE_FINITE(stream, world->externalWork);
    for (int i = 0; i < world->bodies.count; ++i) {
        moveFlight(&world->flights.data[i], world->bodies.data[i].hasMass, stream);
        RB_MOVE_FINITE(stream, world->states.data[i]);
        rbByteStream_Check(stream, rbIsUnitQuat(world->states.data[i].orientation));
        RB_MOVE_FINITE(stream, world->bodies.data[i].loads);
        RB_MOVE_FINITE(stream, world->motions.data[i].acceleration); // held bodies have none
    }
    RB_EACH_LINK(Joint, joint, world) {
        moveJoint(world, joint, stream);
    }
    for (int i = 0; i < RB_TOUCH_COUNT; ++i) {
        RB_MOVE_ARRAY(stream, world->touches[i]);
        for (int k = 0; k < world->touches[i].count; ++k) {
            const rbEngineTouch* touch = &world->touches[i].data[k];
            rbByteStream_CheckFlags(stream, &touch->isBearing, 2); // and isClosed
        }
    }
}

// Counts or saves everything after the header; changes nothing. Returns the bytes of the engine.
static size_t save(const rbWorld* constWorld, rbByteStream* stream, bool hasParameters)
{
    rbWorld* world = (rbWorld*)constWorld;
    if (hasParameters) {
        moveParameters(world, stream);
    }
    moveState(world, stream);
    size_t start = stream->size;
    if (world->isEngineReady) {
        rbWorld_GetEngineRow(world)->move(world, stream);
    }
    size_t engineSize = stream->size - start;
    RB_MOVE(stream, world->stepWork);
    RB_MOVE_ARRAY(stream, world->touched);
    return engineSize;
}

size_t rbWorld_GetSnapshotSize(const rbWorld* world)
{
    rbByteStream stream = {.size = sizeof(SnapshotHeader)};
    (void)save(world, &stream, true);
    return stream.size;
}

// Writes it if there is room, without what makes it valid elsewhere. Returns its size.
static size_t writeSnapshot(const rbWorld* world, void* bytes, size_t capacity, bool hasParameters)
{
    rbByteStream stream = {.bytes = bytes, .size = sizeof(SnapshotHeader), .capacity = capacity};
    SnapshotHeader header = {
        .magic = SNAPSHOT_MAGIC,
        .version = SNAPSHOT_VERSION,
        .engineSize = save(world, &stream, hasParameters),
        .eventCount = world->events.count,
        .hasParameters = hasParameters,
        .accounts = rbWorld_GetAccounts(world),
    };
    header.size = stream.size;
    if (stream.size <= capacity) {
        memcpy(bytes, &header, sizeof header);
    }
    return stream.size;
}

rbStatus rbWorld_TakeSnapshot(const rbWorld* world, void* bytes, size_t size, rbError* error)
{
    RB_ENTER(world);
    size_t needed =
        size > 0 ? writeSnapshot(world, bytes, size, true) : rbWorld_GetSnapshotSize(world);
    RB_REFUSE_IF(size < needed, RB_STATUS_LIMIT, error,
                 "the snapshot needs %zu bytes, the buffer has %zu", needed, size);
    SnapshotHeader header;
    memcpy(&header, bytes, sizeof header);
    header.structure = structureHash(world);
    memcpy(bytes, &header, sizeof header);
    header.checksum = checksumOf(bytes, needed);
    memcpy(bytes, &header, sizeof header);
    return RB_STATUS_OK;
}

static rbStatus validateSnapshot(const rbWorld* world, const void* bytes, size_t size,
                                 SnapshotHeader* header, rbError* error)
{
    RB_REFUSE_IF(size < sizeof *header, RB_STATUS_CORRUPT, error, "the snapshot is cut off");
    memcpy(header, bytes, sizeof *header);
    RB_REFUSE_IF(header->magic != SNAPSHOT_MAGIC, RB_STATUS_CORRUPT, error, "not a snapshot");
    RB_REFUSE_IF(header->version != SNAPSHOT_VERSION, RB_STATUS_CORRUPT, error,
                 "the snapshot has version %u, not %u", header->version, SNAPSHOT_VERSION);
    RB_INVALID_IF(header->structure != structureHash(world), error,
                  "the bodies, joints or forces of the world differ from those of the snapshot");
    RB_REFUSE_IF(header->size < sizeof *header || size < header->size, RB_STATUS_CORRUPT, error,
                 "the snapshot is cut off");
    RB_REFUSE_IF(header->checksum != checksumOf(bytes, (size_t)header->size), RB_STATUS_CORRUPT,
                 error, "the snapshot is damaged");
    return RB_STATUS_OK;
}

// Without the engine it starts anew from the bodies.
static void load(rbWorld* world, const void* bytes, const SnapshotHeader* header, bool hasEngine)
{
    world->motionCount += 1;
    if (header->eventCount < world->events.count) {
        world->events.count = (int)header->eventCount;
    }
    rbByteStream stream = {(char*)bytes, sizeof *header, (size_t)header->size, .isLoading = true};
    rbByteStream_Check(&stream, header->eventCount >= 0);
    if (header->hasParameters != 0) {
        restoreParameters(world, &stream);
    }
    size_t start = stream.size;
    moveState(world, &stream);
    const rbEngineRow* row = rbWorld_GetEngineRow(world);
    bool isReady = world->isEngineReady;
    bool isOfEngine = hasEngine && header->engineSize > 0 && row->prepareLoad != NULL;
    if (!isOfEngine || !row->prepareLoad(world, (size_t)header->engineSize)) {
        world->touched.count = 0;
        world->isEngineReady = false;
        if (row->startAnew != NULL) {
            row->startAnew(world, &header->accounts);
        }
        rbWorld_SetAccounts(world, &header->accounts);
        return;
    }
    row->move(world, &stream);
    RB_MOVE(&stream, world->stepWork);
    RB_MOVE_ARRAY(&stream, world->touched);
    rbByteStream_CheckRange(&stream, world->touched.data, world->touched.count,
                            -world->joints.count, world->bodies.count);
    rbByteStream_Check(&stream, stream.size == header->size);
    world->assembleWork = header->accounts.assemble;
    if (!isReady) {
        stream.size = start;
        moveState(world, &stream); // starting the engine may have moved bodies
    }
}

// ---------------------------------------------------------------------------------------- recovery
// Lack of memory, or a stop that is asked for, ends an advance at any depth. What the engine holds
// is then in pieces: all its blocks are freed, and a snapshot from before makes it anew, with the
// same bits. It costs time, so it is taken only where the world has its own allocator or a stop may
// be asked for. If there is no memory for the engine either, it starts anew from the bodies.

static void reserveKept(rbWorld* world, size_t size)
{
    if (size > world->keptCapacity) {
        size_t capacity = 2 * size + 65536; // contacts come later
        world->kept = rbGrow(world->kept, world->keptCapacity, capacity);
        world->keptCapacity = capacity;
    }
}

static void keep(rbWorld* world, bool hasParameters)
{
    world->keptStarts = world->flightStarts.count;
    world->keptSize = sizeof(SnapshotHeader);
    do {
        reserveKept(world, world->keptSize);
        world->keptSize = writeSnapshot(world, world->kept, world->keptCapacity, hasParameters);
    } while (world->keptSize > world->keptCapacity);
}

void rbWorld_BeginMove(rbWorld* world)
{
    bool isOwn = world->def.allocator.allocFn != NULL;
    world->keptSize = 0;
    if (isOwn || rbHasStop()) {
        keep(world, false); // an advance does not change them
    }
    world->isMoving = true;
    rbGuard_Enable(world->keptSize > 0, &world->blocks);
}

void rbWorld_EndMove(rbWorld* world)
{
    (void)rbUseList(NULL);
    if (world->def.allocator.allocFn != NULL) {
        reserveKept(world, rbWorld_GetSnapshotSize(world)); // the next advance allocates nothing
    }
    world->isMoving = false;
}

// Frees the engine whatever state it is in; the arrays of the world stay.
static void dropEngine(rbWorld* world)
{
    void* const kept[] = {
        world->events.data,       world->touched.data,      world->mergedMaterials.data,
        world->merged.data,       world->contactViews.data, world->touches[RB_TOUCH_CONTACT].data,
        world->foundTouches.data, world->nextTouches.data,  world->touches[RB_TOUCH_SENSOR].data,
        world->sensorBodies.data, world->sensorStates.data, world->contactEvents.data,
        world->flightStarts.data, world->owned.data,
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; ++i) {
        rbDetachBlock(kept[i]);
    }
    rbWorld_FreeMerged(world);
    rbFreeBlocks(&world->blocks);
    world->engine = NULL;
    world->isEngineReady = false;
    world->contactEvents.count = 0;
}

static bool reload(rbWorld* world, bool hasEngine)
{
    SnapshotHeader header;
    RB_GUARD(guard, &world->blocks)
    {
        dropEngine(world);
        return false;
    }
    memcpy(&header, world->kept, sizeof header);
    load(world, world->kept, &header, hasEngine);
    return true;
}

rbStatus rbWorld_Recover(rbWorld* world, const rbGuard* guard, rbError* error)
{
    rbError reason = {0};
    rbStatus status = rbGuard_Explain(guard, &reason);
    if (world->isMoving) {
        world->isMoving = false;
        dropEngine(world);
        world->flightStarts.count = world->keptStarts;
        world->isLost = world->keptSize == 0 || (!reload(world, true) && !reload(world, false));
    }
    world->engineError = reason;
    if (error != NULL) {
        *error = reason;
    }
    return status;
}

rbStatus rbWorld_RestoreSnapshot(rbWorld* world, const void* bytes, size_t size, rbError* error)
{
    RB_ENTER(world);
    SnapshotHeader header = {0};
    RB_TRY(validateSnapshot(world, bytes, size, &header, error));
    // A checksum can be forged: if a value cannot be, the world is as it was.
    RB_GUARD(guard, NULL)
    {
        return rbWorld_Recover(world, &guard, error);
    }
    keep(world, true);
    world->isMoving = true;
    rbGuard_Enable(false, &world->blocks);
    load(world, bytes, &header, true);
    world->isMoving = false;
    world->isLost = false;
    return RB_STATUS_OK;
}
