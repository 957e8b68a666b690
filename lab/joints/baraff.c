// Lagrange multipliers in linear time (B-50): the system of multipliers.c by the tree solver, which
// is Baraff's factorization without fill, or by the sparse direct one if there are loops.
#include "lab/joints/classical_state.h"

static void create(rbClassical* classical, const rbMechanism* mechanism)
{
    rbMultipliers_Create(classical, mechanism);
    if (mechanism->rowCount == 0) {
        return; // free bodies
    }
    rbRowSystem system = rbMechanism_GetSystem(mechanism);
    system.compliance = classical->compliance;
    bool isTree = rbFindLoops(&system, NULL) == 0;
    rbSolverType type = isTree ? RB_SOLVER_TREE : RB_SOLVER_DIRECT;
    classical->solver = rbCreateSolver(type, &system);
}

static void destroy(rbClassical* classical)
{
    rbDestroySolver(classical->solver);
    rbMultipliers_Destroy(classical);
}

static void hold(rbClassical* classical, rbMechanism* mechanism, double time)
{
    rbMultipliers_WriteRight(classical, mechanism, time);
    if (mechanism->rowCount == 0) {
        return;
    }
    RB_ASSERT(classical->solver != NULL);
    rbRowSystem system = rbMechanism_GetSystem(mechanism);
    system.compliance = classical->compliance;
    classical->solver->ops->factor(classical->solver, &system);
    classical->solver->ops->solve(classical->solver, classical->multipliers,
                                  classical->multipliers);
    rbMultipliers_Apply(classical, mechanism);
}

const rbClassicalOps rbBaraffOps = {
    .name = "baraff", .create = create, .destroy = destroy, .hold = hold};
