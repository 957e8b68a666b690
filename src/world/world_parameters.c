// Parameters of a world that can be changed while it runs: the settings of the step engine, their
// bytes in a snapshot, and trial changes.
#include "world/world_parameters.h"

#include "world/world_engine.h"
#include "world/world_joint.h"
#include "world/world_settings.h"

#include <string.h>

// One after the other: a record of the world, then one per body slot, per shape of each body, per
// joint slot and per spring slot.
typedef struct WorldRecord {
    rbVec3 gravity;
    rbStepSettings step;
    rbContactSettings contact;
} WorldRecord;

typedef struct BodyRecord {
    rbMassProperties mass;
    rbTransform principal;
    rbVec3 moments;
    double motionMass;
    double radius;
    int64_t flags; // 1: has a mass, 2: an explicit one
} BodyRecord;

typedef struct ShapeRecord {
    rbMaterial material;
    rbVec3 surfaceVelocity;
    uint32_t groups;
    uint32_t mask;
} ShapeRecord;

typedef struct JointRecord {
    rbFreedomDef freedoms[RB_JOINT_FREEDOMS_MAX]; // without schedules, which the joint keeps
    rbLimitDef limits[RB_JOINT_FREEDOMS_MAX];
} JointRecord;

typedef struct SpringRecord {
    double restLength;
    double stiffness;
    double damping;
} SpringRecord;

size_t rbWorld_GetParametersSize(const rbWorld* world)
{
    size_t size = sizeof(WorldRecord);
    for (int i = 0; i < world->bodies.count; ++i) {
        size +=
            sizeof(BodyRecord) + (size_t)world->bodies.data[i].shapes.count * sizeof(ShapeRecord);
    }
    return size + (size_t)world->joints.count * sizeof(JointRecord) +
           (size_t)world->springs.count * sizeof(SpringRecord);
}

static char* put(char* place, const void* record, size_t size)
{
    memcpy(place, record, size);
    return place + size;
}

static const char* take(const char* place, void* record, size_t size)
{
    memcpy(record, place, size);
    return place + size;
}

static char* takeBody(const rbWorld* world, int index, char* place)
{
    const rbBody* body = &world->bodies.data[index];
    const rbMotionBody* motion = &world->motions.data[index];
    BodyRecord record;
    memset(&record, 0, sizeof record);
    record.mass = body->mass;
    record.principal = body->principal;
    record.moments = motion->moments;
    record.motionMass = motion->mass;
    record.radius = body->radius;
    record.flags = (body->hasMass ? 1 : 0) + (body->hasExplicitMass ? 2 : 0);
    place = put(place, &record, sizeof record);
    for (int i = 0; i < body->shapes.count; ++i) {
        const rbShapeDef* shape = &body->shapes.data[i].def;
        ShapeRecord own;
        memset(&own, 0, sizeof own);
        own.material = shape->material;
        own.surfaceVelocity = shape->surfaceVelocity;
        own.groups = shape->groups;
        own.mask = shape->mask;
        place = put(place, &own, sizeof own);
    }
    return place;
}

void rbWorld_TakeParameters(const rbWorld* world, char* bytes)
{
    char* place = bytes;
    WorldRecord own;
    memset(&own, 0, sizeof own);
    own.gravity = world->def.gravity;
    own.step = world->def.step;
    own.contact = world->def.contact;
    place = put(place, &own, sizeof own);
    for (int i = 0; i < world->bodies.count; ++i) {
        place = takeBody(world, i, place);
    }
    for (int i = 0; i < world->joints.count; ++i) {
        const rbJoint* joint = world->joints.data[i].joint;
        JointRecord record;
        memset(&record, 0, sizeof record);
        for (int f = 0; joint != NULL && f < RB_JOINT_FREEDOMS_MAX; ++f) {
            record.freedoms[f] = joint->def.freedoms[f];
            record.freedoms[f].motor = joint->definedMotors[f].def;
            record.freedoms[f].motor.schedule = NULL;
            record.limits[f] = joint->def.limits[f];
        }
        place = put(place, &record, sizeof record);
    }
    for (int i = 0; i < world->springs.count; ++i) {
        const rbSpring* spring = world->springs.data[i].spring;
        SpringRecord record = {0.0, 0.0, 0.0};
        if (spring != NULL) {
            record =
                (SpringRecord){spring->def.restLength, spring->def.stiffness, spring->def.damping};
        }
        place = put(place, &record, sizeof record);
    }
    RB_ASSERT(place == bytes + rbWorld_GetParametersSize(world));
}

static const char* restoreBody(rbWorld* world, int index, const char* place)
{
    rbBody* body = &world->bodies.data[index];
    rbMotionBody* motion = &world->motions.data[index];
    BodyRecord record;
    place = take(place, &record, sizeof record);
    body->mass = record.mass;
    body->principal = record.principal;
    body->radius = record.radius;
    body->hasMass = (record.flags & 1) != 0;
    body->hasExplicitMass = (record.flags & 2) != 0;
    motion->moments = record.moments;
    motion->mass = record.motionMass;
    for (int i = 0; i < body->shapes.count; ++i) {
        rbShapeDef* shape = &body->shapes.data[i].def;
        ShapeRecord own;
        place = take(place, &own, sizeof own);
        shape->material = own.material;
        shape->surfaceVelocity = own.surfaceVelocity;
        shape->groups = own.groups;
        shape->mask = own.mask;
    }
    return place;
}

static const char* restoreJoint(rbJoint* joint, const char* place)
{
    JointRecord record;
    place = take(place, &record, sizeof record);
    for (int f = 0; joint != NULL && f < RB_JOINT_FREEDOMS_MAX; ++f) {
        joint->def.freedoms[f] = record.freedoms[f];
        joint->def.limits[f] = record.limits[f];
        rbJoint_DefineMotor(joint, f, &record.freedoms[f].motor);
    }
    return place;
}

void rbWorld_RestoreParameters(rbWorld* world, const char* bytes)
{
    size_t size = rbWorld_GetParametersSize(world);
    char* present = rbAlloc(size);
    rbWorld_TakeParameters(world, present);
    bool isSame = memcmp(present, bytes, size) == 0;
    rbFree(present, size);
    if (isSame) {
        return;
    }
    WorldRecord own;
    const char* place = take(bytes, &own, sizeof own);
    world->def.gravity = own.gravity;
    world->def.step = own.step;
    world->def.contact = own.contact;
    for (int i = 0; i < world->bodies.count; ++i) {
        place = restoreBody(world, i, place);
    }
    for (int i = 0; i < world->joints.count; ++i) {
        place = restoreJoint(world->joints.data[i].joint, place);
    }
    for (int i = 0; i < world->springs.count; ++i) {
        SpringRecord record;
        rbSpring* spring = world->springs.data[i].spring;
        place = take(place, &record, sizeof record);
        if (spring != NULL) {
            spring->def.restLength = record.restLength;
            spring->def.stiffness = record.stiffness;
            spring->def.damping = record.damping;
        }
    }
    for (int i = 0; i < world->bodies.count; ++i) {
        if (rbWorld_IsBodyAlive(world, i) && world->bodies.data[i].hasMass) {
            rbWorld_RefreshLoads(world, i);
        }
    }
    rbWorld_RemakeLinksOf(world, RB_ALL_BODIES);
    world->elasticCount = world->springCount;
    for (int i = 0; i < world->joints.count; ++i) {
        const rbJoint* joint = world->joints.data[i].joint;
        world->elasticCount += joint != NULL && rbJoint_IsElastic(joint) ? 1 : 0;
    }
    rbWorld_ResetEngine(world);
}

// ------------------------------------------------------------------------------------- trials

rbWorldTrial rbWorld_BeginTrial(const rbWorld* world)
{
    rbWorldTrial trial = {.engineError = world->engineError};
    if (world->isEngineReady) {
        trial.size = rbWorld_GetSnapshotSize(world);
        trial.bytes = rbAlloc(trial.size);
        rbStatus status = rbWorld_TakeSnapshot(world, trial.bytes, trial.size, NULL);
        RB_ASSERT(status == RB_STATUS_OK);
        (void)status;
    }
    return trial;
}

void rbWorld_UndoTrial(rbWorld* world, rbWorldTrial* trial)
{
    if (trial->bytes != NULL) {
        rbStatus status = rbWorld_RestoreSnapshot(world, trial->bytes, trial->size, NULL);
        RB_ASSERT(status == RB_STATUS_OK);
        (void)status;
        world->engineError = trial->engineError;
        rbFree(trial->bytes, trial->size);
        trial->bytes = NULL;
    }
}

rbStatus rbWorld_EndTrial(rbWorld* world, rbWorldTrial* trial, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    if (trial->bytes != NULL) {
        status = rbWorld_Prepare(world, error);
    }
    if (status != RB_STATUS_OK) {
        rbWorld_UndoTrial(world, trial);
    }
    rbFree(trial->bytes, trial->size);
    trial->bytes = NULL;
    return status;
}

// ---------------------------------------------------------------------------- step settings

rbStepSettings rbWorld_GetStepSettings(const rbWorld* world)
{
    return world->def.step;
}

rbContactSettings rbWorld_GetContactSettings(const rbWorld* world)
{
    return world->def.contact;
}

static rbStatus changeSettings(rbWorld* world, const rbWorldDef* def, bool areContactsOther,
                               rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
    rbStatus status = rbCheckWorldDef(def, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbWorldTrial trial = rbWorld_BeginTrial(world);
    rbWorld_NoteChange(world);
    world->def.step = def->step;
    world->def.contact = def->contact;
    world->areContactsOther = world->areContactsOther || areContactsOther;
    return rbWorld_EndTrial(world, &trial, error);
}

rbStatus rbWorld_SetStepSettings(rbWorld* world, const rbStepSettings* settings, rbError* error)
{
    RB_ASSERT(settings != NULL);
    rbWorldDef def = world->def;
    def.step = *settings;
    return changeSettings(world, &def, false, error);
}

rbStatus rbWorld_SetSettings(rbWorld* world, const rbStepSettings* step,
                             const rbContactSettings* contact, rbError* error)
{
    RB_ASSERT(step != NULL && contact != NULL);
    rbWorldDef def = world->def;
    def.step = *step;
    def.contact = *contact;
    return changeSettings(world, &def, true, error);
}

rbStatus rbWorld_SetContactSettings(rbWorld* world, const rbContactSettings* settings,
                                    rbError* error)
{
    RB_ASSERT(settings != NULL);
    rbWorldDef def = world->def;
    def.contact = *settings;
    return changeSettings(world, &def, true, error);
}
