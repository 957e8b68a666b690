// Bodies that would touch if the engine supported collisions.
#pragma once

#include "cli/findings.h"

typedef struct rbMissedContact {
    int bodyA; // indices into the facts
    int bodyB;
    double time; // s, of the first sample in which they overlap
} rbMissedContact;

// Finds two bodies that overlap at one of several sample times between now and the end of the run,
// in free flight. One of them is dynamic, and the masks of their shapes let them collide: "mask": 0
// says that passing through is intended. Bodies with joints or springs do not count: parts of a
// mechanism often overlap on purpose. Free flight is sampled, so very small or fast bodies may be
// missed, and what takes long to compute is not searched to the end.
bool rbFindMissedContact(const rbSceneFacts* facts, const rbWorld* world, double duration,
                         rbMissedContact* missed);
