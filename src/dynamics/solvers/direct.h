// The sparse direct solver, and the same on part of the blocks; see direct.c.
#ifndef RB_SOLVERS_DIRECT_H
#define RB_SOLVERS_DIRECT_H

#include "dynamics/solvers/solver.h"

rbSolver* rbDirectSolver_Create(const rbRowSystem* system);
// The same without the blocks that close loops, for another row of the table.
rbSolver* rbDirectSolver_CreateOfTree(const rbRowSystem* system, const rbSolverOps* ops);
void rbDirectSolver_Destroy(rbSolver* solver);
void rbDirectSolver_Factor(rbSolver* solver, const rbRowSystem* system);
void rbDirectSolver_Solve(rbSolver* solver, const double* r, double* x);

#endif
