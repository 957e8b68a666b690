// Position and velocity corrections of a mechanism: the impulses of a step.
//
// Position correction (look-ahead): impulses along the rows at the start of a step such that the
// errors vanish at its end. Where the bodies come to is not linear in the impulses, so it is
// repeated: errors ahead e, (B W B^T + C) dx = e/h with the matrix of the start, velocities
// changed. The iteration is accelerated by mixing the last changes (Anderson), which also carries
// it across singular positions, where the plain one diverges. Blocks that the solver left out are
// corrected one by one after each solution.
//
// Velocity correction: impulses such that the rates of the rows are what they should be.
#ifndef RB_SOLVERS_CORRECT_H
#define RB_SOLVERS_CORRECT_H

#include "dynamics/constraints/mechanism.h"
#include "dynamics/solvers/solver.h"

#define RB_MIX_DEPTH 5

// Where a limited row stands.
typedef enum rbLimitState {
    RB_LIMIT_FREE,
    RB_LIMIT_LOW,  // at -limit
    RB_LIMIT_HIGH, // at +limit
} rbLimitState;

// A solver with the working memory of corrections.
typedef struct rbCorrector {
    rbSolver* solver;
    rbSmallFactor* cutFactors; // per cut
    int rowCount;
    int bodyCount;
    double* residual; // per row, e/h
    double* change;   // per row, dx
    double* history;  // of the mixing: RB_MIX_DEPTH of each dx, dF, dE
    double* lastResidual;
    double* lastChange;  // the solution before mixing
    double* best;        // impulses with the least error
    double* entry;       // impulses at the beginning
    rbVec3* entryMotion; // velocity and momentum of the bodies at the beginning
    rbRowPose* poses;    // of bodies, with the least error
    rbSym3* inertias;    // of bodies, with what taut joints add
    bool* isStale;       // per body: ahead is older than its velocity
    int64_t factorizations;
} rbCorrector;

rbCorrector* rbCreateCorrector(rbSolverType type, const rbMechanism* mechanism);
void rbDestroyCorrector(rbCorrector* corrector); // NULL is fine

// Takes over the mechanism's rows, masses and compliance.
void rbCorrector_Factor(rbCorrector* corrector, const rbMechanism* mechanism);

typedef struct rbCorrection {
    double h;         // s, of the step
    double tolerance; // m and rad, or m/s and rad/s
    double floor;     // errors below are rounding: an iteration that stops there has done its work
    int iterationsMax;
    double impulseMax;      // N s a block; INFINITY
    double damping;         // projection: part of the errors taken at a time; 0: all
    bool isPlain;           // without mixing
    bool isPolished;        // one more solution after the tolerance is met
    int releasesMax;        // limited rows that may leave their limits in one call
    bool isIterative;       // slow contraction is no reason to give up
    const double* expected; // N s, per row: what joints may carry, see rbSettlePositions
    double softness; // compliance of held rows there, of their own response: bounds the impulses
                     // where conditions depend on each other. It leaves no error where they can
                     // be met, since errors are measured anew at every iteration
    bool isBackward; // all forces of the step act in this stage, springs as they are at its end
} rbCorrection;

typedef struct rbCorrected {
    int iterations;
    double error;        // largest at the end
    int block;           // of it
    bool isMet;          // error <= tolerance, or at the floor
    bool isBounded;      // impulses were cut to impulseMax: the error may stay
    bool isLimitChanged; // a limited row reached or left its limit: factor anew and call again
} rbCorrected;

// Impulses of the start. mechanism->impulses hold a guess already applied to the velocities (or
// zero) and end as the sum. limits: per row, changed when rows reach or leave their limits.
rbCorrected rbCorrectPositions(rbCorrector* corrector, rbMechanism* mechanism,
                               const rbCorrection* correction, rbLimitState* limits);

// The same for steps that look-ahead cannot make, since conditions depend on each other or the step
// is too long for the fastest swing: bodies already stand at the end of their free flight (pose and
// ahead), and are moved along the rows as these are there, factored anew at every iteration, until
// the errors vanish; velocities change by what they are moved in h. Not for solvers that cut.
rbCorrected rbSettlePositions(rbCorrector* corrector, rbMechanism* mechanism,
                              const rbCorrection* correction, rbLimitState* limits);

// Impulses of the end; mechanism->impulses likewise.
rbCorrected rbCorrectVelocities(rbCorrector* corrector, rbMechanism* mechanism,
                                const rbCorrection* correction, rbLimitState* limits);

// What is left of all conditions with the present velocities, as rates (position corrections:
// errors ahead over h), into corrector->residual; rows out of play have none.
void rbMeasureRows(rbCorrector* corrector, rbMechanism* mechanism, const rbCorrection* correction,
                   bool isOfRates);

// Moves bodies along the rows until the errors of HOLD rows vanish at the present poses
// (projection); the corrector must be factored there.
rbCorrected rbProjectPositions(rbCorrector* corrector, rbMechanism* mechanism,
                               const rbCorrection* correction);

#endif
