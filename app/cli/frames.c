#include "cli/frames.h"

#include "base/core/memory.h"
#include "session/store.h"

#include <math.h>

void rbFrameBuffer_Init(rbFrameBuffer* buffer, const rbWorld* world, int bodyCount)
{
    RB_ASSERT(bodyCount >= rbWorld_GetBodyCount(world));
    size_t n = (size_t)bodyCount;
    buffer->bodyCount = bodyCount;
    buffer->bodyIds = rbAllocZero(n, sizeof *buffer->bodyIds);
    buffer->positions = rbAlloc(n * sizeof *buffer->positions);
    buffer->linearVelocities = rbAlloc(n * sizeof *buffer->linearVelocities);
    buffer->angularVelocities = rbAlloc(n * sizeof *buffer->angularVelocities);
    buffer->orientations = rbAlloc(n * sizeof *buffer->orientations);
    (void)rbWorld_GetBodyIds(world, buffer->bodyIds, bodyCount);
}

void rbFrameBuffer_Free(rbFrameBuffer* buffer)
{
    size_t n = (size_t)buffer->bodyCount;
    rbFree(buffer->bodyIds, n * sizeof *buffer->bodyIds);
    rbFree(buffer->positions, n * sizeof *buffer->positions);
    rbFree(buffer->linearVelocities, n * sizeof *buffer->linearVelocities);
    rbFree(buffer->angularVelocities, n * sizeof *buffer->angularVelocities);
    rbFree(buffer->orientations, n * sizeof *buffer->orientations);
}

void rbFrameBuffer_SetBody(rbFrameBuffer* buffer, int number, rbBodyId bodyId)
{
    RB_ASSERT(number >= 0 && number < buffer->bodyCount);
    if (!RB_IS_NULL(bodyId)) {
        buffer->bodyIds[number] = bodyId;
    }
}

static void captureBody(rbFrameBuffer* buffer, const rbWorld* world, int i)
{
    const rbVec3 none = {NAN, NAN, NAN};
    rbBodyState state = {.transform = {none, {NAN, NAN, NAN, NAN}},
                         .center = none,
                         .linearVelocity = none,
                         .angularVelocity = none};
    if (rbBody_IsValid(world, buffer->bodyIds[i])) {
        state = rbBody_GetState(world, buffer->bodyIds[i]);
    }
    // frames store the velocity of the body frame's origin, the world that of the center of mass
    rbVec3 arm = rbSub(state.transform.p, state.center);
    buffer->positions[i] = state.transform.p;
    buffer->orientations[i] = state.transform.q;
    buffer->linearVelocities[i] = rbAdd(state.linearVelocity, rbCross(state.angularVelocity, arm));
    buffer->angularVelocities[i] = state.angularVelocity;
}

rbFrame rbFrameBuffer_Capture(rbFrameBuffer* buffer, const rbWorld* world)
{
    for (int i = 0; i < buffer->bodyCount; ++i) {
        captureBody(buffer, world, i);
    }
    rbLedger ledger = rbWorld_GetLedger(world);
    rbFrame frame = {
        .time = rbWorld_GetTime(world),
        .bodyCount = buffer->bodyCount,
        .positions = buffer->positions,
        .orientations = buffer->orientations,
        .linearVelocities = buffer->linearVelocities,
        .angularVelocities = buffer->angularVelocities,
        .ledger = rbMakeLedgerRow(&ledger),
    };
    return frame;
}

uint32_t rbFrameBuffer_FindBody(const rbFrameBuffer* buffer, rbBodyId bodyId)
{
    if (RB_IS_NULL(bodyId)) {
        return RB_RECORDED_NO_BODY;
    }
    // a world that never lost a body has them in slot order
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
    return rbMakeRecordedEvent(event, rbFrameBuffer_FindBody(buffer, event->bodyA),
                               rbFrameBuffer_FindBody(buffer, event->bodyB));
}
