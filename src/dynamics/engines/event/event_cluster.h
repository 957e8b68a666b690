// Several contacts at once.
#ifndef RB_ENGINES_EVENT_CLUSTER_H
#define RB_ENGINES_EVENT_CLUSTER_H

#include "dynamics/engines/event/event_state.h"

// Resolves a pair and all that touches it at once; false if nothing approaches, otherwise
// engine->moved gets the bodies.
bool rbEventEngine_CollideCluster(rbEventEngine* engine, const rbEventHost* host, int pairIndex,
                                  double time);
void rbEventEngine_FreeCluster(rbEventEngine* engine);

#endif
