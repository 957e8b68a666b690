// Interface between a world and its event engine.
#ifndef RB_WORLD_WORLD_EVENT_H
#define RB_WORLD_WORLD_EVENT_H

#include "world/world_engine.h"

// Writes into the journal of a world; the context is the world.
void rbWorld_WriteJournal(void* context, const rbEngineEvent* happened);
// The event engine of a world; NULL: it has another one, or none yet.
const rbEventEngine* rbWorld_GetEventEngine(const rbWorld* world);
// The arrays of a world for reading its event engine, without a journal.
rbEventHost rbWorld_GetEventHost(const rbWorld* world);

#endif
