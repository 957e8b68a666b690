// How a world and its step engine meet.
#ifndef RB_WORLD_WORLD_STEP_H
#define RB_WORLD_WORLD_STEP_H

#include "world/world_engine.h"

// What the host lends to the engine.
rbStepHost rbWorld_LendStates(const rbWorld* world);

#endif
