// Position and velocity corrections of a mechanism: the impulses of a step.
//
// Position correction (look-ahead): impulses along the rows at the start of a step such that the
// errors vanish at its end. The final poses are not linear in the impulses, so it is iterated:
// errors ahead e, (B W B^T + C) dx = e/h with the matrix of the start, velocities changed. The
// iteration is accelerated by mixing the last changes (Anderson), which also makes it converge
// across singular positions, where the plain iteration diverges. Blocks that the solver omitted are
// corrected one by one after each solution.
//
// Velocity correction: impulses that bring the rates of the rows to their targets.
#pragma once

#include "dynamics/constraints/mechanism.h"
#include "dynamics/solvers/solver.h"

#define RB_MIX_DEPTH 5

// The state of a limited row.
typedef enum rbLimitState {
    RB_LIMIT_FREE,
    RB_LIMIT_LOW,  // at -limit
    RB_LIMIT_HIGH, // at +limit
} rbLimitState;

// A solver with the working memory of corrections.
typedef struct rbCorrector {
    rbSolver* solver;
    rbSmallFactor* cutFactors; // per cut
    int rowCount, bodyCount;
    double* residual; // per row, e/h
    double* change;   // per row, dx
    double* history;  // of the mixing: RB_MIX_DEPTH of each dx, dF, dE
    double* lastResidual;
    double* lastChange;  // the solution before mixing
    double* best;        // impulses with the least error
    double* entry;       // impulses at the beginning, or with the least error
    rbVec3* entryMotion; // velocity and momentum of the bodies there
    rbRowPose* poses;    // of bodies there
    rbSym3* inertias;    // of bodies, including the contribution of taut joints
    bool* isStale;       // per body: ahead is older than its velocity
    rbRow* rows;         // of the factors, as compliance and masses
    double* compliance;
    rbRowMass* masses;
    int64_t factorizations; // asked for
} rbCorrector;

rbCorrector* rbCreateCorrector(rbSolverType type, const rbMechanism* mechanism);
void rbDestroyCorrector(rbCorrector* corrector); // NULL is accepted

// Reads the mechanism's rows, masses and compliance.
void rbCorrector_Factor(rbCorrector* corrector, const rbMechanism* mechanism);

typedef struct rbCorrection {
    double h;         // s, of the step
    double tolerance; // m and rad, or m/s and rad/s
    double floor;     // errors below are rounding: an iteration that stops there has succeeded
    int iterationsMax;
    double impulseMax;      // N s per block; INFINITY
    double damping;         // projection: fraction of the errors corrected at a time; 0: all
    bool isPolished;        // one more solution after the tolerance is met
    int releasesMax;        // limited rows that may leave their limits in one call
    bool isIterative;       // slow contraction does not end the attempt
    const double* expected; // N s, per row: expected joint impulses, see rbSettlePositions
    double softness; // compliance of held rows there, relative to their own response: bounds the
                     // impulses where conditions depend on each other. It leaves no error where
                     // they can be met, since errors are measured again at every iteration
    bool isBackward; // all forces of the step act in this stage, springs with their values at its
                     // end
} rbCorrection;

typedef struct rbCorrected {
    int iterations;
    double error;        // largest at the end
    int block;           // of it
    bool isMet;          // error <= tolerance, or at the floor
    bool isBounded;      // impulses were cut to impulseMax: the error may remain
    bool isLimitChanged; // a limited row reached or left its limit: factor and call again
} rbCorrected;

// Impulses at the start of the step. On entry mechanism->impulses hold a guess already applied to
// the velocities (or zero), on return the sum. limits: per row, changed when rows reach or leave
// their limits.
rbCorrected rbCorrectPositions(rbCorrector* corrector, rbMechanism* mechanism,
                               const rbCorrection* correction, rbLimitState* limits);

// The same for steps that look-ahead cannot make, since conditions depend on each other or the step
// is too long for the fastest swing: bodies are already at the end of their free flight (pose and
// ahead), and are moved along the rows at those poses, refactored at every iteration, until the
// errors vanish; velocities change by the displacement over h. Not for solvers that cut.
rbCorrected rbSettlePositions(rbCorrector* corrector, rbMechanism* mechanism,
                              const rbCorrection* correction, rbLimitState* limits);

// Impulses at the end of the step; mechanism->impulses likewise.
rbCorrected rbCorrectVelocities(rbCorrector* corrector, rbMechanism* mechanism,
                                const rbCorrection* correction, rbLimitState* limits);

// The residuals of all conditions at the current velocities, as rates (position corrections: errors
// ahead over h), into corrector->residual; inactive rows have none.
void rbMeasureRows(rbCorrector* corrector, rbMechanism* mechanism, const rbCorrection* correction,
                   bool isOfRates);

// Moves bodies along the rows until the errors of HOLD rows vanish at the current poses
// (projection); the corrector must be factored there.
rbCorrected rbProjectPositions(rbCorrector* corrector, rbMechanism* mechanism,
                               const rbCorrection* correction);
