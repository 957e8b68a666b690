// Several simultaneous contacts.
#pragma once

#include "dynamics/engines/event/event_state.h"

// Resolves a pair and everything that touches it simultaneously; false if nothing approaches.
// Otherwise engine->moved lists the bodies.
bool rbEventEngine_CollideCluster(rbEventEngine* engine, const rbEventHost* host, int pairIndex,
                                  double time);
void rbEventEngine_FreeCluster(rbEventEngine* engine);
