// Parameters of a world that can be changed while it runs: settings and trials.
#pragma once

#include "world/world_state.h"

// Changes both at once: they may fit only together. NULL: those stay.
rbStatus rbWorld_SetSettings(rbWorld* world, const rbStepSettings* step,
                             const rbContactSettings* contact, rbError* error);

// A change that the engine may refuse when it starts anew is tried at once.
typedef struct rbWorldTrial {
    void* bytes; // a snapshot; NULL: the engine was not ready, and validates later
    size_t size;
    rbError engineError;
} rbWorldTrial;

rbWorldTrial rbWorld_BeginTrial(const rbWorld* world);
// Called after the change. If it is refused, the world is restored bit for bit.
rbStatus rbWorld_EndTrial(rbWorld* world, rbWorldTrial* trial, rbError* error);
// Undoes the change.
void rbWorld_UndoTrial(rbWorld* world, rbWorldTrial* trial);
