// The solver "cut" (B-37): direct for a tree; loop-closing joints are left to its caller.
#include "dynamics/solvers/solver.h"
#include "lab/joints/classical.h"

static const rbSolverOps cutOps = {"cut", rbDirectSolver_CreateOfTree, rbDirectSolver_Destroy,
                                   rbDirectSolver_Factor, rbDirectSolver_Solve};

rbStatus rbRegisterCutSolver(rbError* error)
{
    return rbRegisterSolver(&cutOps, error);
}
