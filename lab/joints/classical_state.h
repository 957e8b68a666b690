// What the comparison methods share: inside of rbClassical.
#ifndef RB_LAB_CLASSICAL_STATE_H
#define RB_LAB_CLASSICAL_STATE_H

#include "dynamics/solvers/solver.h"
#include "lab/joints/classical.h"
#include "lab/joints/driven.h"
#include "lab/joints/reduced.h"
#include "lab/joints/runge_kutta.h"

struct rbClassical {
    rbMethodState head;
    const rbClassicalOps* ops;
    int order; // of the step engine
    rbClassicalSettings settings;
    double h; // of the step under way
    // The common step.
    rbRunge runge;
    double* state;
    rbDriven driven;
    // Multipliers.
    int bodyCount;
    int rowCount;
    rbVec3* accelerations;        // without forces of joints
    rbVec3* angularAccelerations; // likewise
    double* compliance;           // 0, or INFINITY for rows that are not conditions
    double* multipliers;          // N, N m
    double* matrix;               // dense
    double* pivots;               // dense: inverse, 0 where dropped
    rbSolver* solver;             // Baraff
    rbReduced* reduced;
};

extern const rbClassicalOps rbPenaltyOps;
extern const rbClassicalOps rbMultipliersOps;
extern const rbClassicalOps rbBaraffOps;
extern const rbClassicalOps rbReducedOps;

// A force x along a row of a block: + on A, - on B.
void rbAddRowForce(rbMechanism* mechanism, const rbRowBlock* block, int row, double x);

// 1/diagonal of B W B^T: the mass that a row feels when nothing else holds its bodies. 0 for a row
// without effect.
double rbGetRowMass(const rbMechanism* mechanism, const rbRowBlock* block, int row);

// Forces of SPRING rows and of TRAVEL rows, of those without a limit only if asked.
void rbAddSoftForces(rbMechanism* mechanism, double h, bool withUnlimited);

// Whether multipliers take a row as a condition.
bool rbIsConditionRow(const rbMechanism* mechanism, const rbRowBlock* block, int row);

// Multipliers: what both solvers of their system share. The right-hand side is written into
// multipliers.
void rbMultipliers_Create(rbClassical* classical, const rbMechanism* mechanism);
void rbMultipliers_Destroy(rbClassical* classical);
void rbMultipliers_WriteRight(rbClassical* classical, rbMechanism* mechanism, double time);
void rbMultipliers_Apply(const rbClassical* classical, rbMechanism* mechanism);

#endif
