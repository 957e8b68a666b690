/// @file
/// Settings and statistics of the step engine, which enforces joints and contacts in steps of a
/// given size. See docs/modules/step.md.
#ifndef RATTLEBACK_STEP_H
#define RATTLEBACK_STEP_H

#include <rattleback/joint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How the step engine enforces joints.
typedef enum rbStepMethod {
    RB_METHOD_IMPULSES, ///< look-ahead impulses
    RB_METHOD_COUNT     ///< number of built-in methods; registered ones are numbered from here
} rbStepMethod;

RB_API const char* rbStepMethod_Name(rbStepMethod method); ///< "impulses", ...; "unknown"
/// The method of a name; rbStepMethod_GetCount() if it is unknown.
RB_API rbStepMethod rbStepMethod_Find(const char* name);
/// Number of built-in and registered methods; for those of the laboratory see lab_joints.h.
RB_API int rbStepMethod_GetCount(void);

/// When the impulses of a step act.
typedef enum rbStepScheme {
    RB_SCHEME_START,  ///< at the start, a time-symmetric step: extrapolation gives orders 4, 6, ...
    RB_SCHEME_MIDDLE, ///< in the middle of the step: extrapolation gives order 3 at best
    RB_SCHEME_COUNT
} rbStepScheme;

RB_API const char* rbStepScheme_Name(rbStepScheme scheme); ///< "start", "middle"
RB_API rbStepScheme rbStepScheme_Find(const char* name);   ///< RB_SCHEME_COUNT if unknown

/// How accurate the step engine is: a level is a row of defaults for its settings and those of
/// contacts, which single settings may override. See docs/modules/step.md for what each promises.
typedef enum rbAccuracy {
    RB_ACCURACY_GAME,        ///< a bounded amount of work per step; stable, no tolerance
    RB_ACCURACY_ENGINEERING, ///< the default: to a tolerance, in steps of a given size
    RB_ACCURACY_EXACT,       ///< step size by the error of the motion; no contacts yet
    RB_ACCURACY_COUNT
} rbAccuracy;

RB_API const char* rbAccuracy_Name(rbAccuracy accuracy);       ///< "game", "engineering", "exact"
RB_API rbAccuracy rbAccuracy_Find(const char* name);           ///< RB_ACCURACY_COUNT if unknown
RB_API const char* rbAccuracy_GetPromise(rbAccuracy accuracy); ///< what a level promises, a clause

// clang-format off
/// The settings of the step engine, one per row (see RB_SETTING_FIELD).
#define RB_STEP_SETTINGS(X) \
    X(rbAccuracy, accuracy, "accuracy", RB_ACCURACY_ENGINEERING, RB_WORDS(rbAccuracy), "", \
      "level of accuracy, which sets the defaults of other settings; game: a budget, stable; " \
      "engineering: to a tolerance; exact: error control") \
    X(double, step, "step", 1e-3, RB_FROM(1e-12, 1e12), "s", \
      "step size; with errorMax the largest step size") \
    X(int, order, "order", 2, RB_STEPS(2, 10, 2), "", \
      "order of accuracy in the step size") \
    X(rbStepScheme, scheme, "scheme", RB_SCHEME_START, RB_WORDS(rbStepScheme), "", \
      "when the impulses of a step act; middle, for comparison: in the middle, order 3 at best") \
    X(rbStepMethod, method, "method", RB_METHOD_IMPULSES, RB_WORDS(rbStepMethod), "", \
      "how joints are enforced; the others are for comparison") \
    X(rbSolverType, solver, "solver", RB_SOLVER_AUTO, RB_WORDS(rbSolverType), "", \
      "solver of the equations of a mechanism; auto: chosen for each") \
    X(double, tolerance, "tolerance", 1e-7, RB_ABOVE(0.0, 1.0), "m and rad", \
      "allowed error of a joint at the end of a step; orders above 2 use the smaller of it and " \
      "1e-12") \
    X(double, velocityTolerance, "velocityTolerance", 0.0, RB_FROM(0.0, 1e12), "m/s and rad/s", \
      "allowed error of velocities, iterative solver only; 0: the tolerance per second") \
    X(double, energyTolerance, "energyTolerance", 1e-3, RB_FROM(0.0, 1e12), "", \
      "energy that the steps themselves may give or take in total, see numericalEnergy, as a " \
      "fraction of the energy there was; more at the end of a run is a missed tolerance; 0: any") \
    X(double, errorMax, "errorMax", 0.0, RB_FROM(0.0, 1e12), "m", \
      "the step size is chosen to keep the error of the motion after the horizon below this, " \
      "estimated by the next lower order; accuracy exact only, order 4 or more; 0: fixed steps") \
    X(double, horizon, "horizon", 10.0, RB_ABOVE(0.0, 1e12), "s", \
      "time span of errorMax; a scene with errorMax but no horizon uses its duration") \
    X(int, iterationsMax, "iterationsMax", 0, RB_FROM(0, 1e9), "", \
      "maximum look-ahead iterations, or sweeps of the iterative solver, per step; 0: 50 or " \
      "10,000") \
    X(int, halvingsMax, "halvingsMax", 10, RB_FROM(0, 30), "", \
      "how many times a step whose iteration does not contract is halved") \
    X(double, impulseMax, "impulseMax", INFINITY, RB_ABOVE_OR_NONE(0.0, 1e30), "N s", \
      "maximum impulse of a joint in a step: open joints are pulled together gently") \
    X(double, assembleTolerance, "assembleTolerance", 0.0, RB_FROM(0.0, 1e12), "m and rad", \
      "joints farther apart at the start are rejected; 0: 1e-6 of the size of the mechanism") \
    X(bool, isAssembleAllowed, "assemble", false, RB_ANY, "", \
      "joints that are open at the start are closed before the first step, without time " \
      "passing, or, with a finite impulseMax, pulled together by the steps") \
    X(bool, hasVelocityCorrection, "velocityCorrection", true, RB_ANY, "", \
      "velocities are corrected at the end of a step (B-42); false for comparison") \
    X(int, journalMax, "journalMax", 65536, RB_FROM(0, 1e9), "", \
      "maximum events in the journal until it is cleared; later ones are only counted")
// clang-format on

/// Settings of the step engine; rbDefaultWorldDef fills them in.
typedef struct rbStepSettings {
    RB_STEP_SETTINGS(RB_SETTING_FIELD)
    rbExtraSettings extra; ///< of a registered method; zero: its defaults
} rbStepSettings;

/// Work of the step engine since the world was created.
typedef struct rbStepStatistics {
    int64_t steps;              ///< of the given size
    int64_t substeps;           ///< single free flights with their impulses
    int64_t halvings;           ///< steps halved because their iteration did not contract
    int64_t positionIterations; ///< or sweeps
    int64_t velocityIterations; ///< or sweeps
    int64_t factorizations;     ///< of the matrices of mechanisms
    int64_t assemblingSteps;    ///< while open joints are pulled together
    int64_t unmetSteps;         ///< steps that ended above the tolerance
    int64_t inaccurateSteps;    ///< steps after which the error of the motion exceeded errorMax
    int64_t singularSteps;      ///< steps that ended next to a singular position on purpose
    int64_t settledSteps;       ///< without look-ahead, because it did not contract even in the
                                ///< smallest parts: order 1, losing energy
    int mechanismCount;         ///< connected systems
    int rowCount;               ///< scalar conditions
    int redundantRows;          ///< of these, found dependent at the last factorization
    int iterationsMost;         ///< in one position correction
    double positionErrorMax;    ///< m, largest error of a joint at the end of a step
    double angleErrorMax;       ///< rad
    double velocityErrorMax;    ///< m/s and rad/s, after velocity corrections
    double unmetTime;           ///< s, end of the first unmet step; 0: none
    double accuracyEstimate;    ///< m, sum of the estimated errors of the steps; orders above 2
    double stepSmallest;        ///< s, smallest step taken
    rbJointId worstJoint;       ///< of positionErrorMax and angleErrorMax
} rbStepStatistics;

#ifdef __cplusplus
}
#endif

#endif
