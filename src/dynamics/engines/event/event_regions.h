// Regions and the near pairs they form.
#pragma once

#include "dynamics/engines/event/event_state.h"

// Makes a new region starting at a time; near pairs come and go. engine->lists.newPairs lists the
// new ones, to be predicted.
void rbEventEngine_RenewRegion(rbEventEngine* engine, const rbEventHost* host, int index,
                               double time);
// When the body can leave its region.
void rbEventEngine_UpdateExpiry(rbEventEngine* engine, int index, double time);
// Whether two bodies can form a pair: both have a shape and one can move.
bool rbEventEngine_CanTouch(const rbEventEngine* engine, int a, int b);
// A new near pair, a < b, not yet predicted.
int rbEventEngine_MakePair(rbEventEngine* engine, int a, int b, const int image[3]);
void rbEventEngine_RemovePair(rbEventEngine* engine, int index);
// The detector drops its data of a pair.
void rbEventEngine_ClearDetectorPair(rbEventEngine* engine, int data);
// Whether a region reaches an unbounded body.
bool rbEventEngine_IsNearUnbounded(const rbEventEngine* engine, const rbBounds* region, int index);
// The box that contains a body between two times (L-80).
rbBounds rbEventEngine_MotionBox(rbEventEngine* engine, const rbEventHost* host, int index,
                                 double timeA, double timeB);
