// The table of solvers, and which one AUTO selects.
#include "base/core/memory.h"
#include "base/core/registered_rows.h"
#include "dynamics/solvers/solver.h"

// All blocks at a body couple with each other, and the factor of the direct solver has an entry for
// every pair; the tree solver does not, but its cost per joint is higher. With pairs per block at
// 1.0 (chain) and 1.5 (binary tree) the direct solver is faster, for factor and four solves by 1.5
// and 1.3; at 2.5 (four branches per body) they are equal; at 6.5 (twelve) the tree solver wins by
// 2 to 5.
#define COUPLES_PER_BLOCK_MAX 3

static const rbSolverOps solverOps[RB_SOLVER_COUNT] = {
    [RB_SOLVER_ITERATIVE] = {"iterative", rbDirectSolver_CreateEmpty, rbDirectSolver_Destroy,
                             rbDirectSolver_Factor, rbDirectSolver_Solve},
    [RB_SOLVER_DIRECT] = {"direct", rbDirectSolver_Create, rbDirectSolver_Destroy,
                          rbDirectSolver_Factor, rbDirectSolver_Solve},
    [RB_SOLVER_TREE] = {"tree", rbTreeSolver_Create, rbTreeSolver_Destroy, rbTreeSolver_Factor,
                        rbTreeSolver_Solve},
};

RB_DEFINE_TABLE(rbSolverType, const rbSolverOps* rbSolverOps_Get, RB_SOLVER_COUNT,
                index == RB_SOLVER_AUTO ? NULL : &solverOps[index])
RB_DEFINE_WORDS(rbSolverType, "solver", rbSolverType_GetCount(),
                index == RB_SOLVER_AUTO ? "auto" : rbSolverOps_Get((rbSolverType)index)->name)

rbStatus rbRegisterSolver(const rbSolverOps* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->create != NULL && row->destroy != NULL);
    RB_ASSERT(row->factor != NULL && row->solve != NULL);
    return RB_REGISTER_ROW(rbSolverType, "solver", row, error);
}

// Pairs of blocks that share a dynamic body.
static int64_t countCouples(const rbRowSystem* system)
{
    int64_t couples = 0;
    int* counts = rbAllocZero((size_t)system->bodyCount, sizeof *counts);
    for (int i = 0; i < system->blockCount; ++i) {
        int bodies[2] = {system->blocks[i].bodyA, system->blocks[i].bodyB};
        for (int k = 0; k < 2; ++k) {
            if (system->masses[bodies[k]].isDynamic) {
                couples += counts[bodies[k]]++;
            }
        }
    }
    rbFree(counts, (size_t)system->bodyCount * sizeof *counts);
    return couples;
}

rbSolverType rbChooseSolver(const rbRowSystem* system)
{
    if (countCouples(system) <= (int64_t)COUPLES_PER_BLOCK_MAX * system->blockCount) {
        return RB_SOLVER_DIRECT;
    }
    // With loops the tree solver would have to cut; the direct one need not.
    return rbFindLoops(system, NULL) == 0 ? RB_SOLVER_TREE : RB_SOLVER_DIRECT;
}

rbSolver* rbCreateSolver(rbSolverType type, const rbRowSystem* system)
{
    rbSolverType chosen = type == RB_SOLVER_AUTO ? rbChooseSolver(system) : type;
    const rbSolverOps* ops = rbSolverOps_Get(chosen);
    rbSolver* solver = ops->create(system);
    solver->ops = ops;
    return solver;
}

void rbDestroySolver(rbSolver* solver)
{
    if (solver) {
        solver->ops->destroy(solver);
    }
}
