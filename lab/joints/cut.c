// The solver "cut" (B-37): direct for a tree; joints that close loops are left to whoever drives
// it.
#include "dynamics/solvers/solver.h"
#include "lab/joints/classical.h"

static rbSolver* create(const rbRowSystem* system);

static const rbSolverOps cutOps = {"cut", create, rbDirectSolver_Destroy, rbDirectSolver_Factor,
                                   rbDirectSolver_Solve};

static rbSolver* create(const rbRowSystem* system)
{
    return rbDirectSolver_CreateOfTree(system, &cutOps);
}

rbStatus rbRegisterCutSolver(rbError* error)
{
    return rbRegisterSolver(&cutOps, error);
}
