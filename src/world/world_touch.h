// Pairs of shapes that touch, and shapes in sensors: when they begin and end.
#pragma once

#include "world/world_engine.h"

// Takes the end of a step (an rbEngineNodeFn; the context is the world): adds events for pairs that
// are new or have ended.
void rbWorld_NoteNode(void* context, const rbEngineNode* node);

// The pairs of a kind at a time are those in foundTouches, in order: adds events for what is new
// and what has ended.
void rbWorld_MergeTouches(rbWorld* world, rbTouchKind kind, double time);

// Lists the bodies with sensors, when an engine starts. UNSUPPORTED if the engine does not support
// them, or conveyors.
rbStatus rbWorld_ListSensors(rbWorld* world, rbError* error);
// Checks all sensors at a time with these states of all bodies.
void rbWorld_CheckSensors(rbWorld* world, double time, const rbMotionState* states);
