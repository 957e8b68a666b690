// Holding bodies that have come to rest, and releasing them.
#pragma once

#include "dynamics/engines/event/event_pairs.h"

// Call after a body took part in a collision in which a contact was driven together (m/s^2) and
// points approached at most this fast (m/s): decides whether it is calm, and holds it.
void rbEventEngine_NoteCalm(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                            double contactPull, double fastest);
// A new lasting contact may carry one of its bodies immediately: then that one is held.
bool rbEventEngine_TryBalance(rbEventEngine* engine, const rbEventHost* host, int pairIndex,
                              double time, const rbEventContact* contact, double friction);
// Releases a held body, and those that lean on it.
void rbEventEngine_Wake(rbEventEngine* engine, const rbEventHost* host, int index, double time);
