// Parameters of a world that can be changed while it runs: as bytes for snapshots, and trying them.
#ifndef RB_WORLD_WORLD_PARAMETERS_H
#define RB_WORLD_WORLD_PARAMETERS_H

#include "world/world_state.h"

// All of them, as bytes of a size that follows from the structure of the world.
size_t rbWorld_GetParametersSize(const rbWorld* world);
void rbWorld_TakeParameters(const rbWorld* world, char* bytes);
// Takes them over. Where they differ the engine must start anew; the books are left alone.
void rbWorld_RestoreParameters(rbWorld* world, const char* bytes);

// A change that the engine may refuse when it starts anew: it is tried at once.
typedef struct rbWorldTrial {
    void* bytes; // a snapshot; NULL: the engine was not ready, and judges later
    size_t size;
    rbError engineError;
} rbWorldTrial;

rbWorldTrial rbWorld_BeginTrial(const rbWorld* world);
// After the change was made and noted. Refused: the world is as it was, bit by bit.
rbStatus rbWorld_EndTrial(rbWorld* world, rbWorldTrial* trial, rbError* error);
// The change is not to be.
void rbWorld_UndoTrial(rbWorld* world, rbWorldTrial* trial);

#endif
