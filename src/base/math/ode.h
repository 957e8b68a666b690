// Ordinary differential equations x' = f(t, x) (B-07, L-12): explicit Runge-Kutta methods with
// fixed and adaptive steps, up to RB_ODE_UNKNOWNS_MAX unknowns, without allocation.
//
// A method is a row of a table, found by name: "euler" (order 1), "rk4" (order 4), "cash-karp"
// (order 5 with an embedded order 4 that estimates the error).
#ifndef RB_MATH_ODE_H
#define RB_MATH_ODE_H

#include <stdbool.h>

#define RB_ODE_UNKNOWNS_MAX 32
#define RB_ODE_STAGES_MAX 6

// Writes f(t, x) into derivative; both have as many entries as the system has unknowns.
typedef void rbOdeFn(double t, const double* x, double* derivative, void* context);

typedef struct rbOdeSystem {
    int count; // unknowns, 1 .. RB_ODE_UNKNOWNS_MAX
    rbOdeFn* function;
    void* context;
} rbOdeSystem;

// The coefficients of an explicit method: stage i is evaluated at t + node[i] h, at x plus h times
// the sum of coupling[i][j] k[j], j < i. The new x uses weight[], its error estimate errorWeight[].
typedef struct rbOdeMethod {
    const char* name;
    int order;
    int stages;
    bool hasErrorEstimate;
    double node[RB_ODE_STAGES_MAX];
    double coupling[RB_ODE_STAGES_MAX][RB_ODE_STAGES_MAX];
    double weight[RB_ODE_STAGES_MAX];
    double errorWeight[RB_ODE_STAGES_MAX];
} rbOdeMethod;

// The rows of the table; NULL for an unknown name or an index beyond the last.
const rbOdeMethod* rbFindOdeMethod(const char* name);
const rbOdeMethod* rbGetOdeMethod(int index);

typedef struct rbOdeStepResult {
    double x[RB_ODE_UNKNOWNS_MAX];
    double error[RB_ODE_UNKNOWNS_MAX]; // zero for methods without an estimate
} rbOdeStepResult;

// One step of size h, which may be negative. x is not changed.
void rbOde_Step(const rbOdeMethod* method, const rbOdeSystem* system, double t, double h,
                const double* x, rbOdeStepResult* result);

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

#endif
