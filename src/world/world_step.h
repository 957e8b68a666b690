// Interface between a world and its step engine.
#ifndef RB_WORLD_WORLD_STEP_H
#define RB_WORLD_WORLD_STEP_H

#include "world/world_engine.h"

// The arrays that the world lends to the engine.
rbStepHost rbWorld_LendStates(const rbWorld* world);
// Adds an event to the journal (an rbEngineJournalFn; the context is the world), or counts it if
// the journal is full.
void rbWorld_WriteStepJournal(void* context, const rbEngineEvent* happened);

#endif
