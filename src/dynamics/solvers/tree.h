// The linear-time solver for trees, see tree.c.
#ifndef RB_SOLVERS_TREE_H
#define RB_SOLVERS_TREE_H

#include "dynamics/solvers/solver.h"

rbSolver* rbTreeSolver_Create(const rbRowSystem* system);
void rbTreeSolver_Destroy(rbSolver* base);
void rbTreeSolver_Factor(rbSolver* base, const rbRowSystem* system);
void rbTreeSolver_Solve(rbSolver* base, const double* r, double* x);

#endif
