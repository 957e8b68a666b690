// Bulk access to the state of all bodies, lists of bodies, and the state hash.
#include "base/core/hash.h"
#include "world/world_state.h"

#include <math.h>
#include <string.h>

typedef struct FieldRow {
    int width;
    bool isWritable;
} FieldRow;

static const FieldRow fieldTable[RB_FIELD_COUNT] = {
    [RB_FIELD_POSITION] = {3, true},         [RB_FIELD_ORIENTATION] = {4, true},
    [RB_FIELD_CENTER] = {3, false},          [RB_FIELD_LINEAR_VELOCITY] = {3, true},
    [RB_FIELD_ANGULAR_VELOCITY] = {3, true}, [RB_FIELD_MASS] = {1, false},
};

int rbBodyField_Width(rbBodyField field)
{
    RB_ASSERT((unsigned)field < RB_FIELD_COUNT);
    return fieldTable[field].width;
}

int rbWorld_GetBodyCount(const rbWorld* world)
{
    return world->aliveCount;
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
    rbBodyId null = {0, 0};
    int index = rbNameTable_Find(&world->names, name, rbWorld_NameOfBody, world);
    return index >= 0 ? rbWorld_BodyIdOf(world, index) : null;
}

static void readVec3(double* out, rbVec3 v)
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static void readField(const rbWorld* world, int index, rbBodyField field, double* out)
{
    rbBodyState s = rbWorld_PublicState(world, index, &world->states.data[index]);
    switch (field) {
    case RB_FIELD_POSITION:
        readVec3(out, s.transform.p);
        break;
    case RB_FIELD_ORIENTATION:
        out[0] = s.transform.q.w;
        out[1] = s.transform.q.x;
        out[2] = s.transform.q.y;
        out[3] = s.transform.q.z;
        break;
    case RB_FIELD_CENTER:
        readVec3(out, s.center);
        break;
    case RB_FIELD_LINEAR_VELOCITY:
        readVec3(out, s.linearVelocity);
        break;
    case RB_FIELD_ANGULAR_VELOCITY:
        readVec3(out, s.angularVelocity);
        break;
    case RB_FIELD_MASS:
        out[0] = world->bodies.data[index].hasMass ? world->motions.data[index].mass : 0.0;
        break;
    case RB_FIELD_COUNT:
        break;
    }
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
    for (int i = 0; i < world->bodies.count; ++i) {
        if (rbWorld_IsBodyAlive(world, i)) {
            double element[4];
            readField(world, i, field, element);
            memcpy(place, element, (size_t)fieldTable[field].width * sizeof(double));
            place += stride;
        }
    }
}

static rbStatus validateValues(const rbWorld* world, rbBodyField field, const double* values,
                               size_t stride, rbError* error)
{
    int width = fieldTable[field].width;
    for (int i = 0; i < world->aliveCount; ++i) {
        double element[4] = {0.0};
        memcpy(element, (const char*)values + (size_t)i * stride, (size_t)width * sizeof(double));
        double sum = 0.0;
        for (int k = 0; k < width; ++k) {
            sum += element[k] * element[k];
        }
        bool isBadTurn = field == RB_FIELD_ORIENTATION && !(fabs(sqrt(sum) - 1.0) <= 1e-6);
        if (!isfinite(sum) || isBadTurn) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "the values of body %d (in the order of the world) are not finite "
                               "or, for orientations, not of length 1",
                               i);
        }
    }
    return RB_STATUS_OK;
}

rbStatus rbWorld_WriteField(rbWorld* world, rbBodyField field, const double* values,
                            size_t strideBytes, rbError* error)
{
    RB_USE_ALLOCATOR(world->def.allocator);
    RB_ASSERT((unsigned)field < RB_FIELD_COUNT);
    if (!fieldTable[field].isWritable) {
        return rbError_Set(error, RB_STATUS_INVALID, "this field can only be read");
    }
    size_t stride = strideOf(field, strideBytes);
    rbStatus status = validateValues(world, field, values, stride, error);
    const char* place = (const char*)values;
    for (int i = 0; i < world->bodies.count && status == RB_STATUS_OK; ++i) {
        if (!rbWorld_IsBodyAlive(world, i)) {
            continue;
        }
        double v[4] = {0.0};
        memcpy(v, place, (size_t)fieldTable[field].width * sizeof(double));
        place += stride;
        if (world->bodies.data[i].type != RB_BODY_DYNAMIC) {
            continue;
        }
        rbBodyState s = rbWorld_PublicState(world, i, &world->states.data[i]);
        rbVec3 vector = {v[0], v[1], v[2]};
        rbQuat quat = {v[0], v[1], v[2], v[3]};
        rbTransform transform = {field == RB_FIELD_POSITION ? vector : s.transform.p,
                                 field == RB_FIELD_ORIENTATION ? quat : s.transform.q};
        status =
            rbBody_SetState(world, rbWorld_BodyIdOf(world, i), transform,
                            field == RB_FIELD_LINEAR_VELOCITY ? vector : s.linearVelocity,
                            field == RB_FIELD_ANGULAR_VELOCITY ? vector : s.angularVelocity, error);
    }
    return status;
}

uint64_t rbWorld_GetHash(const rbWorld* world)
{
    uint64_t hash = rbHashDoubles(RB_HASH_SEED, &world->time, 1);
    for (int i = 0; i < world->bodies.count; ++i) {
        if (rbWorld_IsBodyAlive(world, i)) {
            const rbMotionState* s = &world->states.data[i];
            double values[14] = {s->position.x,    s->position.y,    s->position.z,
                                 s->orientation.w, s->orientation.x, s->orientation.y,
                                 s->orientation.z, s->velocity.x,    s->velocity.y,
                                 s->velocity.z,    s->spin.x,        s->spin.y,
                                 s->spin.z,        s->work};
            hash = rbHashDoubles(hash, values, 14);
        }
    }
    return hash;
}
