// Pairs of shapes that touch: when they begin and end.
#ifndef RB_WORLD_WORLD_TOUCH_H
#define RB_WORLD_WORLD_TOUCH_H

#include "world/world_state.h"

// Takes the pairs of a step (an rbEngineTouchFn; the context is the world) and adds events for
// those that are new or have ended.
void rbWorld_NoteTouches(void* context, double time, const rbEngineTouch* touches, int count);

#endif
