// Redundant rows: found, dropped, and still satisfied where the right-hand side allows it.
#include "rb_test.h"
#include "row_systems.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

// Solves for a consistent right-hand side; returns the residual.
static double solveConsistent(rbRandom* random, const TestSystem* system, rbSolverType type,
                              int* redundant)
{
    int n = system->view.rowCount;
    long double* dense = makeDense(system);
    double *r = consistentRight(random, dense, n), *x = randomRight(random, n);
    rbSolver* solver = rbCreateSolver(type, &system->view);
    solver->ops->factor(solver, &system->view);
    solver->ops->solve(solver, r, x);
    double residual = findResidual(system, dense, solver, r, x);
    *redundant = solver->redundantRows;
    rbDestroySolver(solver);
    free(dense);
    free(r);
    free(x);
    return residual;
}

// Four hinges with parallel axes, 20 rows, remove 17 degrees of freedom from three bodies.
// B-38
static void fourBarHasThreeRedundantRows(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3801)};
    for (int k = 0; k < 100; ++k) {
        TestSystem system = makeBodies(&random, 3, 1.0);
        rbVec3 points[4] = {{0.0, 0.0, 0.0}, {0.2, 0.9, 0.0}, {1.1, 1.3, 0.0}, {1.0, 0.0, 0.0}};
        for (int i = 0; i < 4; ++i) {
            points[i].x += 0.1 * rbRandom_Symmetric(&random);
            addHinge(&system, i, (i + 1) % 4, points[i], rbMakeVec3(0.0, 0.0, 1.0));
        }
        int redundant = 0;
        checkBelow(solveConsistent(&random, &system, RB_SOLVER_DIRECT, &redundant),
                   1000.0 * DBL_EPSILON);
        assert_int_equal(redundant, 3);
        freeSystem(&system);
    }
}

// Six rods along edges of a cube, hinges across neighboring rods: a ring that moves although it has
// 30 rows for 30 degrees of freedom.
// B-38
static void bricardRingHasOneRedundantRow(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3802)};
    const rbVec3 points[6] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {1.0, 1.0, 0.0},
                              {1.0, 1.0, 1.0}, {0.0, 1.0, 1.0}, {0.0, 0.0, 1.0}};
    for (int k = 0; k < 100; ++k) {
        TestSystem system = makeBodies(&random, 5, 1.0);
        for (int i = 0; i < 6; ++i) {
            rbVec3 before = rbSub(points[i], points[(i + 5) % 6]);
            rbVec3 after = rbSub(points[(i + 1) % 6], points[i]);
            addHinge(&system, i, (i + 1) % 6, points[i], rbCross(before, after));
        }
        int redundant = 0;
        checkBelow(solveConsistent(&random, &system, RB_SOLVER_DIRECT, &redundant),
                   1000.0 * DBL_EPSILON);
        assert_int_equal(redundant, 1);
        freeSystem(&system);
    }
}

// Every block twice: half of the rows are redundant. The tree solver has both in one joint.
// B-38, B-39
static void doubledBlocksCostNothing(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3803)};
    int count = rbTest_Count(200, 5000);
    const rbSolverType types[2] = {RB_SOLVER_DIRECT, RB_SOLVER_TREE};
    double worst = 0.0;
    for (int k = 0; k < count; ++k) {
        SystemOptions options = randomOptions(&random, 8, 1.0);
        options.shape = (SystemShape)rbRandom_Index(&random, SHAPE_HUB + 1);
        options.softShare = 0.0;
        options.outShare = 0.0;
        TestSystem system = makeSystem(&random, &options);
        int blockCount = system.view.blockCount, rowCount = system.view.rowCount;
        for (int i = 0; i < blockCount; ++i) {
            rbRowBlock copy = system.blocks[i];
            for (int j = 0; j < copy.rowCount; ++j) {
                system.rows[system.view.rowCount + j] = system.rows[copy.firstRow + j];
            }
            copy.firstRow = system.view.rowCount;
            system.view.rowCount += copy.rowCount;
            system.blocks[system.view.blockCount++] = copy;
        }
        int redundant = 0;
        worst = fmax(worst, solveConsistent(&random, &system, types[k % 2], &redundant));
        assert_int_equal(redundant, rowCount);
        freeSystem(&system);
    }
    print_message("residual %.2g\n", worst);
    checkBelow(worst, 1e-12);
}

// A row that acts on nothing is redundant; a spring between static bodies is regular through its
// compliance.
// B-38
static void rowsThatTouchNothingAreDropped(void** state)
{
    (void)state;
    const rbSolverType types[2] = {RB_SOLVER_DIRECT, RB_SOLVER_TREE};
    for (int k = 0; k < 2; ++k) {
        rbRandom random = {7};
        TestSystem system = makeBodies(&random, 2, 1.0);
        rbVec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
        system.masses[2] = (rbRowMass){0};
        addBlock(&system, 0, 1, RB_VEC3_ZERO, axes, 3);
        addBlock(&system, 0, 2, RB_VEC3_ZERO, axes, 2);
        system.rows[1] = (rbRow){0};
        system.compliance[4] = 0.5;
        double r[5] = {1.0, 1.0, 1.0, 1.0, 1.0}, x[5];
        rbSolver* solver = rbCreateSolver(types[k], &system.view);
        solver->ops->factor(solver, &system.view);
        solver->ops->solve(solver, r, x);
        assert_int_equal(solver->redundantRows, 2);
        assert_true(x[1] == 0.0 && x[3] == 0.0);
        checkNear(x[4], 2.0, 1e-15);
        rbDestroySolver(solver);
        freeSystem(&system);
    }
}

RB_TEST_GROUP(test_redundant, cmocka_unit_test(fourBarHasThreeRedundantRows),
              cmocka_unit_test(bricardRingHasOneRedundantRow),
              cmocka_unit_test(doubledBlocksCostNothing),
              cmocka_unit_test(rowsThatTouchNothingAreDropped));
