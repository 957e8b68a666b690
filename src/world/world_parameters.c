// Parameters of a world that can be changed while it runs: the settings of the step engine, their
// bytes in a snapshot, and trial changes.
#include "world/world_parameters.h"

#include "base/core/byte_stream.h"
#include "world/world_engine.h"
#include "world/world_joint.h"
#include "world/world_settings.h"

static void moveBody(rbWorld* world, int index, rbByteStream* stream)
{
    rbBody* body = &world->bodies.data[index];
    RB_MOVE(stream, body->mass);
    RB_MOVE(stream, body->principal);
    RB_MOVE(stream, body->radius);
    RB_MOVE(stream, body->hasMass);
    RB_MOVE(stream, body->hasExplicitMass);
    RB_MOVE(stream, world->motions.data[index].moments);
    RB_MOVE(stream, world->motions.data[index].mass);
    for (int i = 0; i < body->shapes.count; ++i) {
        rbShapeDef* shape = &body->shapes.data[i].def;
        RB_MOVE(stream, shape->material);
        RB_MOVE(stream, shape->surfaceVelocity);
        RB_MOVE(stream, shape->groups);
        RB_MOVE(stream, shape->mask);
    }
}

// Without schedules, which the joint keeps.
static void moveJoint(rbJoint* joint, rbByteStream* stream)
{
    for (int f = 0; joint != NULL && f < RB_JOINT_FREEDOMS_MAX; ++f) {
        rbFreedomDef freedom;
        memcpy(&freedom, &joint->def.freedoms[f], sizeof freedom);
        memcpy(&freedom.motor, &joint->definedMotors[f].def, sizeof freedom.motor);
        freedom.motor.schedule = NULL;
        RB_MOVE(stream, freedom);
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
    for (int i = 0; i < world->bodies.count; ++i) {
        moveBody(world, i, stream);
    }
    for (int i = 0; i < world->joints.count; ++i) {
        moveJoint(world->joints.data[i].joint, stream);
    }
    for (int i = 0; i < world->springs.count; ++i) {
        rbSpring* spring = world->springs.data[i].spring;
        if (spring != NULL) {
            RB_MOVE(stream, spring->def.restLength);
            RB_MOVE(stream, spring->def.stiffness);
            RB_MOVE(stream, spring->def.damping);
        }
    }
}

size_t rbWorld_GetParametersSize(const rbWorld* world)
{
    rbByteStream stream = {0};
    moveParameters((rbWorld*)world, &stream); // counting changes nothing
    return stream.size;
}

void rbWorld_TakeParameters(const rbWorld* world, void* bytes)
{
    rbByteStream stream = {.bytes = bytes};
    moveParameters((rbWorld*)world, &stream); // saving changes nothing
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
    rbByteStream stream = {.bytes = (char*)bytes, .isLoading = true};
    moveParameters(world, &stream);
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
