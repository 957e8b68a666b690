/// @file
/// Settings and statistics of the step engine, which holds joints and contacts together in steps of
/// a stated size. See docs/modules/step.md.
#ifndef RATTLEBACK_STEP_H
#define RATTLEBACK_STEP_H

#include <rattleback/joint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How the step engine meets the conditions of joints.
typedef enum rbStepMethod {
    RB_METHOD_IMPULSES, ///< look-ahead impulses
    RB_METHOD_COUNT     ///< built-in ones; registered ones have the numbers from here on
} rbStepMethod;

RB_API const char* rbStepMethod_Name(rbStepMethod method); ///< "impulses", ...; "unknown"
/// The method of a name; rbStepMethod_GetCount() if it is unknown.
RB_API rbStepMethod rbStepMethod_Find(const char* name);
/// Built-in and registered methods; those of the laboratory: see lab_joints.h.
RB_API int rbStepMethod_GetCount(void);

/// When the impulses of a step act.
typedef enum rbStepScheme {
    RB_SCHEME_START,  ///< at the start, a time-symmetric step: extrapolation gives orders 4, 6, ...
    RB_SCHEME_MIDDLE, ///< in the middle of the step: extrapolation gives order 3 at best
    RB_SCHEME_COUNT
} rbStepScheme;

RB_API const char* rbStepScheme_Name(rbStepScheme scheme); ///< "start", "middle"
RB_API rbStepScheme rbStepScheme_Find(const char* name);   ///< RB_SCHEME_COUNT if unknown

// clang-format off
/// The settings of the step engine, a row each (see RB_SETTING_FIELD).
#define RB_STEP_SETTINGS(X) \
    X(double, step, "step", 1e-3, RB_FROM(1e-12, 1e12), "s", \
      "length of a step; with accuracy the longest that is taken") \
    X(int, order, "order", 2, RB_STEPS(2, 10, 2), "", \
      "order of the method in the step") \
    X(rbStepScheme, scheme, "scheme", RB_SCHEME_START, RB_WORDS(rbStepScheme), "", \
      "when the impulses of a step act; middle, for comparison: in the middle, of order 3 at best") \
    X(rbStepMethod, method, "method", RB_METHOD_IMPULSES, RB_WORDS(rbStepMethod), "", \
      "how joints are held; the others for comparison") \
    X(rbSolverType, solver, "solver", RB_SOLVER_AUTO, RB_WORDS(rbSolverType), "", \
      "solver of the equations of a mechanism; auto: chosen for each") \
    X(double, tolerance, "tolerance", 1e-6, RB_ABOVE(0.0, 1.0), "m and rad", \
      "error of a joint at the end of a step; orders above 2 take the smaller of it and 1e-12") \
    X(double, velocityTolerance, "velocityTolerance", 0.0, RB_FROM(0.0, 1e12), "m/s and rad/s", \
      "error of velocities, of the iterative solver; 0: the tolerance per second") \
    X(double, accuracy, "accuracy", 0.0, RB_FROM(0.0, 1e12), "m", \
      "steps are chosen to keep the error of the motion below this after the horizon, estimated by " \
      "the next lower order; 0: fixed steps; needs order 4 or more") \
    X(double, horizon, "horizon", 10.0, RB_ABOVE(0.0, 1e12), "s", \
      "time span of accuracy; a scene with accuracy and without it takes its duration") \
    X(int, iterationsMax, "iterationsMax", 0, RB_FROM(0, 1e9), "", \
      "look-ahead iterations, or sweeps of the iterative solver, in a step; 0: 50 or 10,000") \
    X(int, halvingsMax, "halvingsMax", 10, RB_FROM(0, 30), "", \
      "how often a step that does not contract is halved") \
    X(double, impulseMax, "impulseMax", INFINITY, RB_ABOVE_OR_NONE(0.0, 1e30), "N s", \
      "impulse of a joint in a step: broken systems come together gently") \
    X(double, assembleTolerance, "assembleTolerance", 0.0, RB_FROM(0.0, 1e12), "m and rad", \
      "joints further apart at the start are refused; 0: 1e-6 of the size of the mechanism") \
    X(bool, isAssembleAllowed, "assemble", false, RB_ANY, "", \
      "joints that are apart at the start are brought together before the first step, no time " \
      "passing, or, with a finite impulseMax, pulled together by the steps") \
    X(bool, hasVelocityCorrection, "velocityCorrection", true, RB_ANY, "", \
      "velocities are corrected at the end of a step (B-42); false for comparison") \
    X(int, journalMax, "journalMax", 65536, RB_FROM(0, 1e9), "", "events that the journal holds until it is cleared; later ones are only counted")
// clang-format on

/// Settings of the step engine; rbDefaultWorldDef fills them in.
typedef struct rbStepSettings {
    RB_STEP_SETTINGS(RB_SETTING_FIELD)
    rbExtraSettings extra; ///< of a registered method; zero: its defaults
} rbStepSettings;

/// What the step engine has done since the world was made.
typedef struct rbStepStatistics {
    int64_t steps;              ///< of the stated size
    int64_t substeps;           ///< single free flights with their impulses
    int64_t halvings;           ///< steps that did not contract and were halved
    int64_t positionIterations; ///< or sweeps
    int64_t velocityIterations; ///< or sweeps
    int64_t factorizations;     ///< of the matrices of mechanisms
    int64_t assemblingSteps;    ///< with joints still apart that are being pulled together
    int64_t unmetSteps;         ///< ended above the tolerance
    int64_t singularSteps;      ///< ended next to a singular position on purpose
    int64_t settledSteps;    ///< made without look-ahead, since it did not contract in the smallest
                             ///< parts: of order 1 and losing energy
    int mechanismCount;      ///< connected systems
    int rowCount;            ///< scalar conditions
    int redundantRows;       ///< of these, found dependent at the last factorization
    int iterationsMost;      ///< in one position correction
    double positionErrorMax; ///< m, largest error of a joint at the end of a step
    double angleErrorMax;    ///< rad
    double velocityErrorMax; ///< m/s and rad/s, after velocity corrections
    double unmetTime;        ///< s, end of the first unmet step; 0: none
    double accuracyEstimate; ///< m, sum of the estimated errors of the steps; orders above 2
    double stepSmallest;     ///< s, smallest step taken
    rbJointId worstJoint;    ///< of positionErrorMax and angleErrorMax
} rbStepStatistics;

#ifdef __cplusplus
}
#endif

#endif
