// The state of a world as a frame of the output library.
#pragma once

#include <rattleback/output.h>
#include <rattleback/world.h>

// Memory for the frames of one world. Bodies have numbers: those of the start come first.
typedef struct rbFrameBuffer {
    int bodyCount;     // that ever exist
    rbBodyId* bodyIds; // by number; the last id of a removed body
    rbVec3* positions;
    rbVec3* linearVelocities;
    rbVec3* angularVelocities;
    rbQuat* orientations;
} rbFrameBuffer;

// For bodyCount bodies, at least as many as the world has now.
void rbFrameBuffer_Init(rbFrameBuffer* buffer, const rbWorld* world, int bodyCount);
void rbFrameBuffer_Free(rbFrameBuffer* buffer);
// Registers an added body (the null id: nothing was added, or it was removed again).
void rbFrameBuffer_SetBody(rbFrameBuffer* buffer, int number, rbBodyId bodyId);
// The frame at the world's time, with NaN for bodies that do not exist; its arrays belong to the
// buffer. Does not allocate.
rbFrame rbFrameBuffer_Capture(rbFrameBuffer* buffer, const rbWorld* world);
// Number of a body in the frames, RB_RECORDED_NO_BODY for the null id.
uint32_t rbFrameBuffer_FindBody(const rbFrameBuffer* buffer, rbBodyId bodyId);
// A journal event in its recorded form.
rbRecordedEvent rbFrameBuffer_ConvertEvent(const rbFrameBuffer* buffer, const rbEvent* event);
