// Internals of corrections, shared by correct.c and settle.c.
#ifndef RB_SOLVERS_CORRECT_STATE_H
#define RB_SOLVERS_CORRECT_STATE_H

#include "dynamics/solvers/correct.h"

// The state of one correction.
typedef struct rbIteration {
    rbCorrector* corrector;
    rbMechanism* mechanism;
    const rbCorrection* correction;
    rbLimitState* limits;
    rbCorrected result;
    double lastError;
    int slowCount;
    int depth; // of the mixing history
    int next;
    bool isMixing;
    bool isBounded; // the impulse of a block was cut in this iteration
    double bestError;
    int releases;   // limited rows that left their limits
    bool isEarly;   // held rows are not solved for yet: rates are not meaningful for limits
    bool isOfRates; // of the velocity stage
} rbIteration;

// Errors ahead (or rates) of the blocks in the linear system into residual; records the largest.
void rbIteration_Gather(rbIteration* it);
void rbIteration_NoteError(rbIteration* it, int index, const double* residual);
// Whether to stop after the errors of an iteration are known.
bool rbIteration_IsHopeless(rbIteration* it);
// Adds change, clamped to the limits, to impulses and velocities.
void rbIteration_ApplyChanges(rbIteration* it);
// Saves impulses and velocities in entry and entryMotion.
void rbIteration_KeepEntry(rbIteration* it);

#endif
