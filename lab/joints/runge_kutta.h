// Explicit Runge-Kutta steps with any number of unknowns, for the comparison methods.
// (base/math/ode is for small systems: it keeps its stages on the stack.)
#pragma once

// Stage i is evaluated at t + nodes[i] h, at x plus h times the sum of couplings[i * stages + j]
// k[j], j < i.
typedef struct rbRungeTable {
    int order;
    int stages;
    const double* nodes;
    const double* couplings;
    const double* weights;
} rbRungeTable;

// The classical method of order 4 for orders up to 4; above, that of Cooper and Verner (order 8, 11
// stages).
const rbRungeTable* rbRungeTable_Get(int order);

// Writes x' at (t, x) into derivative.
typedef void rbRungeFn(void* context, double t, const double* x, double* derivative);

typedef struct rbRunge {
    const rbRungeTable* table;
    int count; // unknowns
    double* stages;
    double* x;
} rbRunge;

void rbRunge_Make(rbRunge* runge, int order, int count);
void rbRunge_Free(rbRunge* runge);

// One step of size h in place. Does not allocate.
void rbRunge_Step(rbRunge* runge, rbRungeFn* function, void* context, double t, double h,
                  double* x);
