// Collisions of a pair.
#pragma once

#include "dynamics/engines/event/event_pairs.h"

// Resolves a pair at given points, in given states, and predicts what follows; false if none of
// them approaches.
bool rbEventEngine_Resolve(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                           const rbMotionState states[2], const rbEventContacts* list);
// The same for two spheres, or a sphere and a plane, without friction and pull: an impulse through
// the centers, in closed form; false if that does not apply or nothing approaches.
bool rbEventEngine_CollideSmooth(rbEventEngine* engine, const rbEventHost* host, int index,
                                 double time, const rbEventContact* contact);
// Memory of simultaneous collisions, in bytes: NULL until it is needed.
void rbEventEngine_FreeCluster(rbEventEngine* engine);
