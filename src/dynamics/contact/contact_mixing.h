// Faster than sweeps alone: mixing of the last sweeps (Anderson acceleration of a fixed point).
// Internal to the solver of contacts.
//
// A sweep brings the unknowns x (impulses, and velocities that are linear in them) to x' and
// changes them by g = x' - x, which is zero only at the solution. The next sweep starts from
//   x' - sum c_j (x'_j+1 - x'_j),  c such that |g - sum c_j (g_j+1 - g_j)| is smallest
// over the last few sweeps. Near the solution, where the same points stick, slide and separate, x'
// is linear in x and this is the method of minimal residuals. The norm of g is that of the
// velocities, weighted by masses: impulses that cancel each other do not count.
#ifndef RB_CONTACT_CONTACT_MIXING_H
#define RB_CONTACT_CONTACT_MIXING_H

#include "dynamics/contact/contact_rows.h"

// Sweeps that are remembered. 1e6 kg on 1 kg: 316 sweeps with 4, 26 with 8.
#define RB_MIXING_DEPTH 8

typedef struct rbMixing {
    RB_ARRAY(double) start;   // velocities before the sweep
    RB_ARRAY(double) result;  // unknowns after the last sweep
    RB_ARRAY(double) mixed;   // start of the next sweep
    RB_ARRAY(double) change;  // g of it
    RB_ARRAY(double) results; // x'_j+1 - x'_j, RB_MIXING_DEPTH columns, the oldest is replaced
    RB_ARRAY(double) changes; // g_j+1 - g_j
    double gram[RB_MIXING_DEPTH][RB_MIXING_DEPTH]; // of the columns of changes
    double right[RB_MIXING_DEPTH];                 // with g
    int count;                                     // number of columns
    int next;                                      // the one to replace
    double length;                                 // |g|^2 of the last sweep
    bool hasLast;
} rbMixing;

void rbMixing_Free(rbMixing* mixing);
// Starts a stage with the current unknowns.
void rbMixing_Begin(rbMixing* mixing, const rbContactRows* rows, const rbRowsPack* pack);
// Velocities were changed elsewhere.
void rbMixing_Restart(rbMixing* mixing, const rbContactRows* rows, const rbRowsPack* pack);
// Call after a sweep that is not the last: changes the unknowns.
void rbMixing_Mix(rbMixing* mixing, rbContactRows* rows, const rbRowsPack* pack);

#endif
