// Handling of a pair that is due. External loops and detectors need only this header.
#pragma once

#include "dynamics/engines/event/event_bodies.h"
#include "dynamics/engines/event/event_impacts.h"
#include "dynamics/engines/event/event_regions.h"

// Counts an event against the budget; false when it is spent.
bool rbEventEngine_Spend(rbEventEngine* engine, double time);
// The pair is due: measures it, resolves a contact or sets a later time.
void rbEventEngine_HandlePair(rbEventEngine* engine, const rbEventHost* host, int index,
                              double time);
// Resolves a measured pair if it touches and approaches; then the states are those after the
// collision. Returns how fast its nearest points separate, m/s.
double rbEventEngine_CollideMeasured(rbEventEngine* engine, const rbEventHost* host, int index,
                                     double time, rbEventMeasure* measure);
