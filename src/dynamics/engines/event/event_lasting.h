// Lasting contact.
#ifndef RB_ENGINES_EVENT_LASTING_H
#define RB_ENGINES_EVENT_LASTING_H

#include "dynamics/engines/event/event_pairs.h"

#include <math.h>

// A microcollision lifts a point by its depth in the shell of tolerance; in tolerances, at least
// and at most this.
#define RB_HOP_LEAST 0.25
#define RB_HOP_MOST 10.0

// The speed with which a point at a distance starts such a hop, m/s.
static inline double rbEventResolution_HopSpeed(const rbEventResolution* r, double distance)
{
    double rise = 1.0 - distance / r->tolerance;
    double hop = fmin(RB_HOP_MOST, fmax(RB_HOP_LEAST, rise)) * r->tolerance;
    return sqrt(2.0 * r->pull * hop);
}

// Several points of a lasting contact together: the body hops off them without rotating.
void rbEventEngine_ResolveLasting(rbEventEngine* engine, const rbEventHost* host,
                                  rbEventResolution* r, const rbEventContacts* list);

#endif
