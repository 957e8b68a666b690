// Integration of ordinary differential equations over an interval (B-07, L-12) with fixed and
// adaptive steps, by the methods of base/math/ode.h.
#pragma once

#include "base/math/ode.h"

// The method of a name, NULL if it is unknown.
const rbOdeMethod* rbFindOdeMethod(const char* name);

// Called after each accepted step. May project x back onto its constraints (normalize a
// quaternion); returns false to stop.
typedef bool rbOdeCallback(double t, double* x, void* context);

typedef struct rbOdeOptions {
    const rbOdeMethod* method; // default "cash-karp"
    // Allowed error of component i in a step: absolute[i] + relative * |x[i]|; componentTolerance,
    // if not NULL, gives absolute[i], else absoluteTolerance is used for all. Default 1e-9 each.
    double relativeTolerance;
    double absoluteTolerance;
    const double* componentTolerance;
    double firstStep; // the step size of methods without error estimate; default 1e-3
    double minStep;   // smaller steps end the integration; default 0: only when t + h == t
    int maxSteps;     // accepted and rejected; default 1000000
    rbOdeCallback* afterStep;
    void* callbackContext;
} rbOdeOptions;

rbOdeOptions rbDefaultOdeOptions(void);

typedef enum rbOdeEnd {
    RB_ODE_REACHED,   // t is the requested end
    RB_ODE_STOPPED,   // the callback returned false
    RB_ODE_TOO_SMALL, // the tolerance would need a step below minStep
    RB_ODE_TOO_MANY,  // maxSteps were not enough
    RB_ODE_END_COUNT
} rbOdeEnd;

typedef struct rbOdeResult {
    rbOdeEnd end;
    double t;        // time of x
    double lastStep; // size of the last accepted step, which the end of the interval may have cut
    double nextStep; // the step that the step control would use next, to continue
    int steps;       // accepted
    int rejected;
} rbOdeResult;

// Integrates x from t0 to t1, forward or backward. With an error estimate the step is controlled:
// it grows at most fivefold and shrinks at most tenfold. A step with NaN or infinity in it is
// rejected. Without one the interval is cut into equal steps of at most firstStep.
rbOdeResult rbOde_Integrate(const rbOdeSystem* system, double t0, double t1, double* x,
                            const rbOdeOptions* options);
