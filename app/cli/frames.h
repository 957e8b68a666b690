// The state of a world as a frame of the output library.
#ifndef RB_CLI_FRAMES_H
#define RB_CLI_FRAMES_H

#include <rattleback/output.h>
#include <rattleback/world.h>

// Memory for the frames of one world, whose bodies must stay the same.
typedef struct rbFrameBuffer {
    int bodyCount;
    rbBodyId* bodyIds; // in the order of the frames
    rbVec3* positions;
    rbVec3* centers;
    rbVec3* linearVelocities;
    rbVec3* angularVelocities;
    rbQuat* orientations;
} rbFrameBuffer;

void rbFrameBuffer_Init(rbFrameBuffer* buffer, const rbWorld* world);
void rbFrameBuffer_Free(rbFrameBuffer* buffer);
// The frame of the world's time; its arrays are those of the buffer. Allocates nothing.
rbFrame rbFrameBuffer_Capture(rbFrameBuffer* buffer, const rbWorld* world);
// Index of a body in the frames, RB_RECORDED_NO_BODY for the null id.
uint32_t rbFrameBuffer_FindBody(const rbFrameBuffer* buffer, rbBodyId bodyId);
// An event of the journal as it is recorded.
rbRecordedEvent rbFrameBuffer_ConvertEvent(const rbFrameBuffer* buffer, const rbEvent* event);

#endif
