// Shared by the comparison methods: definition of rbClassical.
#pragma once

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
    double h; // of the current step
    // The common step.
    rbRunge runge;
    double* state;
    rbDriven driven;
    // Multipliers.
    int bodyCount;
    int rowCount;
    rbVec3* accelerations;        // without joint forces
    rbVec3* angularAccelerations; // likewise
    double* compliance;           // 0, or INFINITY for rows that are not conditions
    double* multipliers;          // N, N m
    double* matrix;               // dense
    double* pivots;               // dense: inverse pivots, 0 if dropped
    rbSolver* solver;             // Baraff
    rbReduced* reduced;
};

extern const rbClassicalOps rbPenaltyOps;
extern const rbClassicalOps rbMultipliersOps;
extern const rbClassicalOps rbBaraffOps;
extern const rbClassicalOps rbReducedOps;

// A force x along a row of a block: + on A, - on B.
void rbAddRowForce(rbMechanism* mechanism, const rbRowBlock* block, int row, double x);

// 1/diagonal of B W B^T: the effective mass of a row when nothing else holds its bodies. 0 for a
// row without effect.
double rbGetRowMass(const rbMechanism* mechanism, const rbRowBlock* block, int row);

// Adds forces of SPRING rows and of TRAVEL rows; those without a limit only if withUnlimited.
void rbAddSoftForces(rbMechanism* mechanism, double h, bool withUnlimited);

// Whether the multiplier methods treat a row as a condition.
bool rbIsConditionRow(const rbMechanism* mechanism, const rbRowBlock* block, int row);

// Shared by both solvers of the multiplier system. The right-hand side is written into multipliers.
void rbMultipliers_Create(rbClassical* classical, const rbMechanism* mechanism);
void rbMultipliers_Destroy(rbClassical* classical);
void rbMultipliers_WriteRight(rbClassical* classical, rbMechanism* mechanism, double time);
void rbMultipliers_Apply(const rbClassical* classical, rbMechanism* mechanism);
