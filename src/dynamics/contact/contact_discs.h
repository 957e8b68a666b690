// The discs of friction of an island that is solved as a whole: the radii are what friction makes
// of the normal impulses that they lead to, a fixed point. Taken over from round to round they come
// near it slowly, or go to and fro for ever where bodies jam; mixed with those of the last rounds
// (Anderson) they arrive in a few.
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
// Radii of a round, and those that friction asks for after it (N s); weights make speeds of them
// (1/kg). Returns the radii of the next round, valid until the next call.
const double* rbContactDiscs_Mix(rbContactDiscs* discs, const double* radii, const double* asked,
                                 const double* weights);

#endif
