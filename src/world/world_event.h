// How a world and its event engine meet.
#ifndef RB_WORLD_WORLD_EVENT_H
#define RB_WORLD_WORLD_EVENT_H

#include "world/world_engine.h"

// Writes into the journal of the world that is the context.
void rbWorld_WriteJournal(void* context, const rbEngineEvent* happened);
// The event engine of a world; NULL: it has another one, or none yet.
const rbEventEngine* rbWorld_GetEventEngine(const rbWorld* world);
// The arrays of a world for looking at its event engine, without a journal.
rbEventHost rbWorld_GetEventHost(const rbWorld* world);

#endif
