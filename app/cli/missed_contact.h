// Bodies that would touch if the engine knew collisions.
#ifndef RB_CLI_MISSED_CONTACT_H
#define RB_CLI_MISSED_CONTACT_H

#include "cli/findings.h"

typedef struct rbMissedContact {
    int bodyA; // indices into the facts
    int bodyB;
    double time; // s, of the first sample in which they overlap
} rbMissedContact;

// Looks for two bodies that overlap at one of a number of times between now and the end of the
// run, flying freely. One of them is dynamic, and the masks of their shapes let them meet: "mask":
// 0 says that passing through is meant. Bodies with joints or springs do not count: parts of a
// mechanism often overlap on purpose. Samples free flight, so very small or fast bodies may be
// overlooked.
bool rbFindMissedContact(const rbSceneFacts* facts, const rbWorld* world, double duration,
                         rbMissedContact* missed);

#endif
