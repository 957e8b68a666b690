// The friction discs of an island that is solved as a whole. The radii follow from the normal
// impulses that they lead to: a fixed point. Simple iteration approaches it slowly, or oscillates
// forever where bodies jam. Mixed with the radii of the last rounds (Anderson), it converges in a
// few.
#ifndef RB_CONTACT_CONTACT_DISCS_H
#define RB_CONTACT_CONTACT_DISCS_H

#include "base/core/memory.h"

typedef struct rbContactDiscs {
    RB_ARRAY(double) memory;
    int count;    // of discs
    int depth;    // rounds remembered
    int next;     // slot of the next one
    double least; // m/s, smallest miss so far
} rbContactDiscs;

void rbContactDiscs_Free(rbContactDiscs* discs);
void rbContactDiscs_Begin(rbContactDiscs* discs, int count);
// Radii of a round, and those that friction requires after it (N s); weights turn them into speeds
// (1/kg). Returns the radii of the next round, valid until the next call.
const double* rbContactDiscs_Mix(rbContactDiscs* discs, const double* radii, const double* asked,
                                 const double* weights);

#endif
