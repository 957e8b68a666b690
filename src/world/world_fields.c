// Bulk access to the state of all bodies, lists of bodies, and the state hash.
#include "base/core/hash.h"
#include "world/world_state.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// A field is a run of doubles in the public state of a body; mass, force and torque are not in it.
typedef struct FieldRow {
    int width;
    bool isWritable;
    size_t offset;
} FieldRow;

static const FieldRow fieldTable[RB_FIELD_COUNT] = {
    [RB_FIELD_POSITION] = {3, true, offsetof(rbBodyState, transform.p)},
    [RB_FIELD_ORIENTATION] = {4, true, offsetof(rbBodyState, transform.q)},
    [RB_FIELD_CENTER] = {3, false, offsetof(rbBodyState, center)},
    [RB_FIELD_LINEAR_VELOCITY] = {3, true, offsetof(rbBodyState, linearVelocity)},
    [RB_FIELD_ANGULAR_VELOCITY] = {3, true, offsetof(rbBodyState, angularVelocity)},
    [RB_FIELD_MASS] = {1, false, 0},
    [RB_FIELD_FORCE] = {3, true, 0},
    [RB_FIELD_TORQUE] = {3, true, 0},
};

int rbBodyField_Width(rbBodyField field)
{
    RB_ASSERT((unsigned)field < RB_FIELD_COUNT);
    return fieldTable[field].width;
}

int rbWorld_GetBodyIds(const rbWorld* world, rbBodyId* ids, int capacity)
{
    int count = 0;
    for (int i = 0; i < world->bodies.count && count < capacity; ++i) {
        if (rbWorld_IsBodyAlive(world, i)) {
            ids[count++] = rbWorld_BodyIdOf(world, i);
        }
    }
    return count;
}

rbBodyId rbWorld_FindBody(const rbWorld* world, const char* name)
{
    int index = rbNameTable_Find(&world->names, name, rbWorld_NameOfBody, world);
    return index >= 0 ? rbWorld_BodyIdOf(world, index) : (rbBodyId){0, 0};
}

static size_t strideOf(rbBodyField field, size_t strideBytes)
{
    return strideBytes != 0 ? strideBytes : (size_t)fieldTable[field].width * sizeof(double);
}

void rbWorld_ReadField(const rbWorld* world, rbBodyField field, double* values, size_t strideBytes)
{
    RB_ASSERT((unsigned)field < RB_FIELD_COUNT);
    size_t stride = strideOf(field, strideBytes);
    char* place = (char*)values;
    bool isWhole = world->aliveCount == world->bodies.count; // else the bodies themselves are read
    for (int i = 0; i < world->bodies.count; ++i) {
        if (!isWhole && !rbWorld_IsBodyAlive(world, i)) {
            continue;
        }
        const rbMotionState* s = &world->states.data[i];
        rbQuat q = s->orientation;
        rbVec3 v = field == RB_FIELD_LINEAR_VELOCITY ? s->velocity : s->position;
        const rbTransform* frame = &world->principals.data[i];
        if (field == RB_FIELD_ORIENTATION) {
            q = rbMulQuat(q, rbConjugate(frame->q));
        } else if (field == RB_FIELD_POSITION && rbLengthSquared(frame->p) > 0.0) {
            v = rbSub(v, rbRotate(rbMulQuat(q, rbConjugate(frame->q)), frame->p));
        } else if (field == RB_FIELD_ANGULAR_VELOCITY) {
            v = rbRotate(q, s->spin);
        } else if (field == RB_FIELD_MASS) {
            v.x = world->motions.data[i].mass;
        } else if (field >= RB_FIELD_FORCE) {
            v = world->bodies.data[i].loads[field - RB_FIELD_FORCE];
        }
        // sizes that the compiler knows: a call for each body would take half of the time
        if (field == RB_FIELD_ORIENTATION) {
            memcpy(place, &q, sizeof q);
        } else if (field == RB_FIELD_MASS) {
            memcpy(place, &v.x, sizeof v.x);
        } else {
            memcpy(place, &v, sizeof v);
        }
        place += stride;
    }
}

static rbStatus validateValues(const rbWorld* world, rbBodyField field, const double* values,
                               size_t stride, rbError* error)
{
    int width = fieldTable[field].width;
    for (int i = 0; i < world->aliveCount; ++i) {
        double element[4] = {0.0};
        memcpy(element, (const char*)values + (size_t)i * stride, (size_t)width * sizeof(double));
        double sum = element[0] * element[0] + element[1] * element[1] + element[2] * element[2] +
                     element[3] * element[3];
        bool isBadTurn = field == RB_FIELD_ORIENTATION && !(fabs(sqrt(sum) - 1.0) <= 1e-6);
        RB_INVALID_IF(!isfinite(sum) || isBadTurn, error,
                      "the values of body %d (in the order of the world) are not finite or, for "
                      "orientations, not of length 1",
                      i);
    }
    return RB_STATUS_OK;
}

// The step engine asks for loads at every step; the event engine keeps their bounds.
static void writeLoad(rbWorld* world, int index, unsigned kind, const char* value)
{
    rbBody* body = &world->bodies.data[index];
    rbVec3 load;
    memcpy(&load, value, sizeof load);
    if (!body->hasMass || rbDistance(load, body->loads[kind]) == 0.0) {
        return;
    }
    body->loads[kind] = load;
    if (!body->isLoaded || world->def.engine == RB_ENGINE_EVENT) {
        rbWorld_NoteChange(world);
        body->isLoaded = true;
        rbWorld_RefreshLoads(world, index);
    }
    if (!world->isEngineReady || !rbWorld_IsOwned(world, index)) {
        rbWorld_StartFlight(world, index);
    }
}

rbStatus rbWorld_WriteField(rbWorld* world, rbBodyField field, const double* values,
                            size_t strideBytes, rbError* error)
{
    RB_ENTER(world);
    RB_INVALID_IF((unsigned)field >= RB_FIELD_COUNT || !fieldTable[field].isWritable, error,
                  "field number %d can only be read or does not exist", (int)field);
    size_t stride = strideOf(field, strideBytes);
    rbStatus status = validateValues(world, field, values, stride, error);
    const char* place = (const char*)values;
    for (int i = 0; i < world->bodies.count && status == RB_STATUS_OK; ++i) {
        if (!rbWorld_IsBodyAlive(world, i)) {
            continue;
        }
        if (field >= RB_FIELD_FORCE) {
            writeLoad(world, i, field - RB_FIELD_FORCE, place);
        } else if (world->bodies.data[i].type == RB_BODY_DYNAMIC) {
            rbBodyState state = rbWorld_PublicState(world, i, &world->states.data[i]);
            memcpy((char*)&state + fieldTable[field].offset, place,
                   (size_t)fieldTable[field].width * sizeof(double));
            status = rbBody_SetState(world, rbWorld_BodyIdOf(world, i), state.transform,
                                     state.linearVelocity, state.angularVelocity, error);
        }
        place += stride;
    }
    return status;
}

_Static_assert(sizeof(rbMotionState) == 14 * sizeof(double), "a state is hashed as doubles");

uint64_t rbWorld_GetHash(const rbWorld* world)
{
    uint64_t hash = rbHashDoubles(RB_HASH_SEED, &world->time, 1);
    for (int i = 0; i < world->bodies.count; ++i) {
        if (rbWorld_IsBodyAlive(world, i)) {
            const rbMotionState* s = &world->states.data[i];
            hash = rbHashDoubles(hash, &s->position.x, 3);
            hash = rbHashDoubles(hash, &s->orientation.w, 4);
            hash = rbHashDoubles(hash, &s->velocity.x, 3);
            hash = rbHashDoubles(hash, &s->spin.x, 3);
            hash = rbHashDoubles(hash, &s->work, 1);
        }
    }
    return hash;
}
