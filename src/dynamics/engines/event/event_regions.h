// Regions and the near pairs they make.
#ifndef RB_ENGINES_EVENT_REGIONS_H
#define RB_ENGINES_EVENT_REGIONS_H

#include "dynamics/engines/event/event_state.h"

// A new region from a time on; near pairs come and go. engine->newPairs has those that came, to be
// predicted.
void rbEventEngine_RenewRegion(rbEventEngine* engine, const rbEventHost* host, int index,
                               double time);
// When the body can leave its region.
void rbEventEngine_UpdateExpiry(rbEventEngine* engine, int index, double time);
// Whether two bodies are a pair at all: both have a shape and one can move.
bool rbEventEngine_CanTouch(const rbEventEngine* engine, int a, int b);
// A new near pair, a < b, not yet predicted.
int rbEventEngine_MakePair(rbEventEngine* engine, int a, int b, const int image[3]);
void rbEventEngine_RemovePair(rbEventEngine* engine, int index);
// The detector's row remembers nothing any more of a pair with this data.
void rbEventEngine_ClearDetectorPair(rbEventEngine* engine, int data);
// Whether a region reaches a body without bounds.
bool rbEventEngine_IsNearUnbounded(const rbEventEngine* engine, const rbBounds* region, int index);
// The box in which a body is between two times (L-80).
rbBounds rbEventEngine_MotionBox(rbEventEngine* engine, const rbEventHost* host, int index,
                                 double timeA, double timeB);

#endif
