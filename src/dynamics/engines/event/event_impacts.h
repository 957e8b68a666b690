// Collisions of a pair.
#ifndef RB_ENGINES_EVENT_IMPACTS_H
#define RB_ENGINES_EVENT_IMPACTS_H

#include "dynamics/engines/event/event_pairs.h"

// Outcome of a collision: engine->moved lists the bodies to predict.
typedef struct rbEventOutcome {
    bool isResolved; // false: no touching point approached, and nothing changed
    bool mayRest;    // the two bodies may have come to rest
    double pull;     // m/s^2, acceleration that drives the contact together
    double fastest;  // m/s, of all approaches resolved
} rbEventOutcome;

// Resolves a pair that touches, if a touching point approaches, and starts new flights.
rbEventOutcome rbEventEngine_Collide(rbEventEngine* engine, const rbEventHost* host, int index,
                                     double time, const rbMotionState states[2],
                                     const rbEventContacts* list);
// The same for two spheres, or a sphere and a plane, without friction and without a pull: an
// impulse through the centers, in closed form. False if this case does not apply or nothing
// approaches; otherwise engine->moved lists the two.
bool rbEventEngine_CollideSmooth(rbEventEngine* engine, const rbEventHost* host, int index,
                                 double time, const rbEventContact* contact);

#endif
