// Ordinary differential equations x' = f(t, x) (B-07, L-12): explicit Runge-Kutta methods, up to
// RB_ODE_UNKNOWNS_MAX unknowns, without allocation.
//
// A method is a row of a table: "euler" (order 1), "rk4" (order 4), "cash-karp"
// (order 5 with an embedded order 4 that estimates the error).
#pragma once

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
    double coupling[RB_ODE_STAGES_MAX][RB_ODE_STAGES_MAX], weight[RB_ODE_STAGES_MAX];
    double errorWeight[RB_ODE_STAGES_MAX];
} rbOdeMethod;

// The rows of the table; NULL for an index beyond the last.
const rbOdeMethod* rbGetOdeMethod(int index);

typedef struct rbOdeStepResult {
    double x[RB_ODE_UNKNOWNS_MAX];
    double error[RB_ODE_UNKNOWNS_MAX]; // zero for methods without an estimate
} rbOdeStepResult;

// One step of size h, which may be negative. x is not changed.
void rbOde_Step(const rbOdeMethod* method, const rbOdeSystem* system, double t, double h,
                const double* x, rbOdeStepResult* result);
