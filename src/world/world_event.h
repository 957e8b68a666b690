// How a world and its event engine meet.
#ifndef RB_WORLD_WORLD_EVENT_H
#define RB_WORLD_WORLD_EVENT_H

#include "world/world_state.h"

#include <string.h>

rbEventSettings rbDefaultEventSettings(void);
rbStatus rbJudgeEngine(const rbWorldDef* def, rbError* error);
void rbWorld_FreeEngine(rbWorld* world);
// Handles events up to a time; *reached is where it came to.
rbStatus rbWorld_AdvanceEngine(rbWorld* world, double time, double* reached, rbBodyId* failedBody);

#endif
