// Solving systems of rows: (B W B^T + C) x = r, see constraints/rows.h.
//
// A solver is created for the structure of a mechanism (blocks and bodies), receives the values
// once per instant (factor), and solves any number of times (solve). Redundant rows are found by
// their pivots and get x = 0: consistent redundancy requires nothing from the user. Blocks that a
// solver omits from its linear system (cuts) get x = 0 too; the caller corrects them one by one.
// The iterative solver omits all blocks.
#pragma once

#include "base/core/words.h"
#include "dynamics/constraints/rows.h"

#include <rattleback/joint.h>

typedef struct rbSolver rbSolver;

// A row of the table of solvers.
typedef struct rbSolverOps {
    const char* name;
    // Only the structure of the system is read. Allocates all it will ever need.
    rbSolver* (*create)(const rbRowSystem* system);
    void (*destroy)(rbSolver* solver);
    void (*factor)(rbSolver* solver, const rbRowSystem* system);
    // x and r may be the same array. Does not allocate.
    void (*solve)(rbSolver* solver, const double* r, double* x);
} rbSolverOps;

// The common header of every solver.
struct rbSolver {
    const rbSolverOps* ops; // set by rbCreateSolver
    int rowCount;
    int redundantRows; // found at the last factorization
    const int* cuts;   // blocks omitted from the system, ascending
    int cutCount;
    double pivotLeast; // smallest pivot kept, relative to the row's own diagonal: 1: independent,
                       // small: nearly redundant
};

// A row is dropped when its pivot falls below this fraction of its diagonal.
#define RB_PIVOT_DROP 1e-11

// Adds a row to the table, at start-up (base/core/registered_rows.h). Refused: a name that is
// known, a full table.
rbStatus rbRegisterSolver(const rbSolverOps* row, rbError* error);

// NULL for RB_SOLVER_AUTO.
const rbSolverOps* rbSolverOps_Get(rbSolverType value);

// The solver that AUTO selects for a structure.
rbSolverType rbChooseSolver(const rbRowSystem* system);

rbSolver* rbCreateSolver(rbSolverType type, const rbRowSystem* system);
void rbDestroySolver(rbSolver* solver); // NULL is accepted

// Small symmetric systems, n <= 6, column major n x n, with diagonal pivoting: A = P L D L^T P^T.
// Pivots below RB_PIVOT_DROP times the largest original diagonal of their row are dropped: x is 0
// there.
typedef struct rbSmallFactor {
    double l[RB_BLOCK_ROWS_MAX * RB_BLOCK_ROWS_MAX];
    double invPivots[RB_BLOCK_ROWS_MAX]; // 0: dropped
    int order[RB_BLOCK_ROWS_MAX];
    bool isNatural; // the given order is kept
    int size, dropped;
    double pivotLeast; // relative
} rbSmallFactor;

void rbSmallFactor_Make(rbSmallFactor* factor, const double* matrix, int n);
void rbSmallFactor_Solve(const rbSmallFactor* factor, const double* r, double* x);

RB_DECLARE_WORDS(rbSolverType);

// The sparse direct solver, see direct.c.
rbSolver* rbDirectSolver_Create(const rbRowSystem* system);
// The same without the blocks that close loops, and without any block, for other rows of the table.
rbSolver* rbDirectSolver_CreateOfTree(const rbRowSystem* system);
rbSolver* rbDirectSolver_CreateEmpty(const rbRowSystem* system);
void rbDirectSolver_Destroy(rbSolver* base);
void rbDirectSolver_Factor(rbSolver* solver, const rbRowSystem* system);
void rbDirectSolver_Solve(rbSolver* solver, const double* r, double* x);

// The linear-time solver for trees, see tree.c.
// Lists the blocks that close loops, ascending; returns how many there are. NULL: only counts.
int rbFindLoops(const rbRowSystem* system, int* blocks);
rbSolver* rbTreeSolver_Create(const rbRowSystem* system);
void rbTreeSolver_Destroy(rbSolver* base);
void rbTreeSolver_Factor(rbSolver* base, const rbRowSystem* system);
void rbTreeSolver_Solve(rbSolver* base, const double* r, double* x);
