#include "cli/frames.h"

#include "base/core/memory.h"

void rbFrameBuffer_Init(rbFrameBuffer* buffer, const rbWorld* world)
{
    int count = rbWorld_GetBodyCount(world);
    size_t n = (size_t)count;
    buffer->bodyCount = count;
    buffer->bodyIds = rbAlloc(n * sizeof *buffer->bodyIds);
    buffer->positions = rbAlloc(n * sizeof *buffer->positions);
    buffer->centers = rbAlloc(n * sizeof *buffer->centers);
    buffer->linearVelocities = rbAlloc(n * sizeof *buffer->linearVelocities);
    buffer->angularVelocities = rbAlloc(n * sizeof *buffer->angularVelocities);
    buffer->orientations = rbAlloc(n * sizeof *buffer->orientations);
    (void)rbWorld_GetBodyIds(world, buffer->bodyIds, count);
}

void rbFrameBuffer_Free(rbFrameBuffer* buffer)
{
    size_t n = (size_t)buffer->bodyCount;
    rbFree(buffer->bodyIds, n * sizeof *buffer->bodyIds);
    rbFree(buffer->positions, n * sizeof *buffer->positions);
    rbFree(buffer->centers, n * sizeof *buffer->centers);
    rbFree(buffer->linearVelocities, n * sizeof *buffer->linearVelocities);
    rbFree(buffer->angularVelocities, n * sizeof *buffer->angularVelocities);
    rbFree(buffer->orientations, n * sizeof *buffer->orientations);
}

rbFrame rbFrameBuffer_Capture(rbFrameBuffer* buffer, const rbWorld* world)
{
    RB_ASSERT(rbWorld_GetBodyCount(world) == buffer->bodyCount);
    rbWorld_ReadField(world, RB_FIELD_POSITION, (double*)buffer->positions, 0);
    rbWorld_ReadField(world, RB_FIELD_CENTER, (double*)buffer->centers, 0);
    rbWorld_ReadField(world, RB_FIELD_ORIENTATION, (double*)buffer->orientations, 0);
    rbWorld_ReadField(world, RB_FIELD_LINEAR_VELOCITY, (double*)buffer->linearVelocities, 0);
    rbWorld_ReadField(world, RB_FIELD_ANGULAR_VELOCITY, (double*)buffer->angularVelocities, 0);
    for (int i = 0; i < buffer->bodyCount; ++i) {
        // frames hold the velocity of the origin of the body frame, the world that of the center
        rbVec3 arm = rbSub(buffer->positions[i], buffer->centers[i]);
        buffer->linearVelocities[i] =
            rbAdd(buffer->linearVelocities[i], rbCross(buffer->angularVelocities[i], arm));
    }
    rbLedger ledger = rbWorld_GetLedger(world);
    rbFrame frame = {
        .time = rbWorld_GetTime(world),
        .bodyCount = buffer->bodyCount,
        .positions = buffer->positions,
        .orientations = buffer->orientations,
        .linearVelocities = buffer->linearVelocities,
        .angularVelocities = buffer->angularVelocities,
        .ledger = {.kineticTranslational = ledger.kineticLinear,
                   .kineticRotational = ledger.kineticAngular,
                   .potential = ledger.potential,
                   .work = ledger.work,
                   .total = ledger.energy,
                   .momentum = ledger.momentum,
                   .angularMomentum = ledger.angularMomentum},
    };
    return frame;
}

uint32_t rbFrameBuffer_FindBody(const rbFrameBuffer* buffer, rbBodyId bodyId)
{
    if (RB_IS_NULL(bodyId)) {
        return RB_RECORDED_NO_BODY;
    }
    // a world that never lost a body has them in the order of their slots
    uint32_t guess = bodyId.index1 - 1;
    if (guess < (uint32_t)buffer->bodyCount && RB_ID_EQUALS(buffer->bodyIds[guess], bodyId)) {
        return guess;
    }
    for (int i = 0; i < buffer->bodyCount; ++i) {
        if (RB_ID_EQUALS(buffer->bodyIds[i], bodyId)) {
            return (uint32_t)i;
        }
    }
    return RB_RECORDED_NO_BODY;
}

rbRecordedEvent rbFrameBuffer_ConvertEvent(const rbFrameBuffer* buffer, const rbEvent* event)
{
    rbRecordedEvent recorded = {
        .time = event->time,
        .kind = (uint32_t)event->kind,
        .bodyA = rbFrameBuffer_FindBody(buffer, event->bodyA),
        .bodyB = rbFrameBuffer_FindBody(buffer, event->bodyB),
        .law = (uint32_t)event->law,
        .history = event->history,
        .energyChange = event->energyChange,
        .values = {event->energyBefore, event->frictionWork, event->approachSpeed, event->point.x,
                   event->point.y, event->point.z, event->normal.x, event->normal.y,
                   event->normal.z, event->impulse.x, event->impulse.y, event->impulse.z}};
    return recorded;
}
