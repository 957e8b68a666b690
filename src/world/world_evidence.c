// What a skeptic needs to check the work of a world: the start of every flight, and the parts of
// the model that no other function shows.
#include "world/world_engine.h"

void rbWorld_EnableFlightStarts(rbWorld* world, bool isOn)
{
    world->areFlightsKept = isOn;
}

const rbFlightStart* rbWorld_GetFlightStarts(const rbWorld* world, int* count)
{
    *count = world->flightStarts.count;
    return world->flightStarts.data;
}

void rbWorld_KeepFlight(void* context, int index, double time)
{
    rbWorld* world = context;
    rbMotionState state = rbWorld_StateAt(world, index, time);
    rbFlightStart start = {.time = time,
                           .body = rbWorld_BodyIdOf(world, index),
                           .eventCount = world->events.count,
                           .isHeld = rbEventEngine_IsResting(world->engine, index),
                           .state = rbWorld_PublicState(world, index, &state)};
    rbArray_Push(world->flightStarts, start);
}

bool rbWorld_GetMaterialPair(const rbWorld* world, int kindA, int kindB, rbMaterialPair* pair)
{
    for (int i = world->materialPairs.count - 1; i >= 0; --i) {
        const rbMaterialPairSlot* slot = &world->materialPairs.data[i];
        if ((slot->kindA == kindA && slot->kindB == kindB) ||
            (slot->kindA == kindB && slot->kindB == kindA)) {
            *pair = slot->pair;
            return true;
        }
    }
    return false;
}

int rbWorld_GetForces(const rbWorld* world, rbForceDef* defs, int capacity)
{
    RB_ASSERT(capacity == 0 || defs != NULL);
    int count = 0;
    for (int i = 0; i < world->forces.count; ++i) {
        if (world->forces.data[i].def.cookie != 0 && count++ < capacity) {
            defs[count - 1] = world->forces.data[i].def;
        }
    }
    return count;
}

// The principal frame of a body in its own frame; of the world itself: none.
static rbTransform principalOf(const rbWorld* world, int index)
{
    return index >= 0 ? world->principals.data[index] : RB_TRANSFORM_IDENTITY;
}

int rbJoint_GetHeldParts(const rbWorld* world, rbJointId jointId, rbHeldPart* parts)
{
    RB_ASSERT(rbJoint_IsValid(world, jointId));
    const rbJoint* joint = world->joints.data[jointId.index1 - 1];
    const rbJointModel* model = &joint->model;
    if (joint->def.isVelocityOnly) {
        return 0;
    }
    rbTransform a = principalOf(world, joint->bodyA);
    rbTransform b = principalOf(world, joint->bodyB);
    for (int i = 0; i < model->partCount; ++i) {
        const rbPartModel* part = &model->parts[i];
        parts[i] = (rbHeldPart){
            .type = part->type,
            .anchorA = rbTransformPoint(a, part->pointA),
            .anchorB = rbTransformPoint(b, part->pointB),
            .axisA = rbRotate(a.q, part->axisA),
            .axisB = rbRotate(b.q, part->axisB),
            .relative = rbMulQuat(rbMulQuat(a.q, part->relative), rbConjugate(b.q)),
            .distance = part->distance,
        };
    }
    return model->partCount;
}
