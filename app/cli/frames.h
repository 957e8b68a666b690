// The state of a world as a frame of the output library.
#ifndef RB_CLI_FRAMES_H
#define RB_CLI_FRAMES_H

#include <rattleback/output.h>
#include <rattleback/world.h>

// Memory for the frames of one world. Bodies have numbers: those of the start come first.
typedef struct rbFrameBuffer {
    int bodyCount;     // that ever live
    rbBodyId* bodyIds; // by number; of one that is gone its last id
    rbVec3* positions;
    rbVec3* linearVelocities;
    rbVec3* angularVelocities;
    rbQuat* orientations;
} rbFrameBuffer;

// For bodyCount bodies, at least those that the world has now.
void rbFrameBuffer_Init(rbFrameBuffer* buffer, const rbWorld* world, int bodyCount);
void rbFrameBuffer_Free(rbFrameBuffer* buffer);
// A body that came (the null id: nothing came, or it went).
void rbFrameBuffer_SetBody(rbFrameBuffer* buffer, int number, rbBodyId bodyId);
// The frame of the world's time, with NaN for bodies that do not live; its arrays are those of the
// buffer. Allocates nothing.
rbFrame rbFrameBuffer_Capture(rbFrameBuffer* buffer, const rbWorld* world);
// Number of a body in the frames, RB_RECORDED_NO_BODY for the null id.
uint32_t rbFrameBuffer_FindBody(const rbFrameBuffer* buffer, rbBodyId bodyId);
// An event of the journal as it is recorded.
rbRecordedEvent rbFrameBuffer_ConvertEvent(const rbFrameBuffer* buffer, const rbEvent* event);

#endif
