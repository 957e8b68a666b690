// Properties of every solver: names, memory, repeatability, cost; and the parts they are made of.
#include "dynamics/solvers/pivoted.h"
#include "lab/joints/row_matrices.h"
#include "rb_test.h"
#include "row_systems.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The last one is "cut" of the laboratory.
static const rbSolverType allTypes[] = {RB_SOLVER_ITERATIVE, RB_SOLVER_DIRECT, RB_SOLVER_TREE,
                                        RB_SOLVER_COUNT};
#define TYPE_COUNT ((int)(sizeof allTypes / sizeof allTypes[0]))

static void solversAreFoundByName(void** state)
{
    (void)state;
    for (int t = 0; t < rbSolverType_GetCount(); ++t) {
        assert_int_equal(rbSolverType_Find(rbSolverType_Name((rbSolverType)t)), t);
    }
    assert_string_equal(rbSolverType_Name(RB_SOLVER_AUTO), "auto");
    assert_int_equal(rbSolverType_Find("gauss"), rbSolverType_GetCount());
    assert_int_equal(rbSolverType_Find("cut"), RB_SOLVER_COUNT);
    assert_null(rbSolverOps_Get(RB_SOLVER_AUTO));
    for (int k = 0; k < TYPE_COUNT; ++k) {
        const rbSolverOps* ops = rbSolverOps_Get(allTypes[k]);
        assert_true(ops->create && ops->destroy && ops->factor && ops->solve);
        assert_string_equal(ops->name, rbSolverType_Name(allTypes[k]));
    }
}

static void iterativeLeavesAllBlocksOut(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3201)};
    SystemOptions options = {.shape = SHAPE_RING, .bodyCount = 6, .rowsMin = 1, .rowsMax = 6};
    TestSystem system = makeSystem(&random, &options);
    int n = system.view.rowCount;
    double* r = randomRight(&random, n);
    rbSolver* solver = rbCreateSolver(RB_SOLVER_ITERATIVE, &system.view);
    assert_int_equal(solver->cutCount, system.view.blockCount);
    for (int i = 0; i < solver->cutCount; ++i) {
        assert_int_equal(solver->cuts[i], i);
    }
    solver->ops->factor(solver, &system.view);
    solver->ops->solve(solver, r, r);
    for (int i = 0; i < n; ++i) {
        assert_true(r[i] == 0.0);
    }
    rbDestroySolver(solver);
    rbDestroySolver(NULL);
    free(r);
    freeSystem(&system);
}

// Factored once, solved many times, factored again: nothing allocated, nothing kept, the same bits,
// also in place and by a second solver.
// B-35
static void factorsAreReusedWithoutAllocation(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3501)};
    int count = rbTest_Count(100, 5000);
    uint64_t bytes = rbGetAllocatedBytes();
    for (int k = 0; k < count; ++k) {
        SystemOptions options = randomOptions(&random, 12, 2.0);
        TestSystem system = makeSystem(&random, &options);
        int n = system.view.rowCount;
        size_t size = (size_t)n * sizeof(double);
        double *r = randomRight(&random, n), *x = randomRight(&random, n);
        double *y = randomRight(&random, n), *z = randomRight(&random, n);
        rbSolverType type = allTypes[k % TYPE_COUNT];
        rbSolver *solver = rbCreateSolver(type, &system.view), *twin = NULL;
        uint64_t before = rbGetAllocationCount();
        solver->ops->factor(solver, &system.view);
        int redundant = solver->redundantRows;
        solver->ops->solve(solver, r, x);
        memcpy(y, r, size);
        solver->ops->solve(solver, y, y);
        solver->ops->factor(solver, &system.view);
        solver->ops->solve(solver, r, z);
        assert_int_equal(rbGetAllocationCount(), before);
        assert_memory_equal(x, y, size);
        assert_memory_equal(x, z, size);
        assert_int_equal(solver->redundantRows, redundant);
        twin = rbCreateSolver(type, &system.view);
        twin->ops->factor(twin, &system.view);
        twin->ops->solve(twin, r, z);
        assert_memory_equal(x, z, size);
        rbDestroySolver(solver);
        rbDestroySolver(twin);
        assert_int_equal(rbGetAllocatedBytes(), bytes);
        free(r);
        free(x);
        free(y);
        free(z);
        freeSystem(&system);
    }
}

static void emptySystemsAreFine(void** state)
{
    (void)state;
    rbRandom random = {1};
    TestSystem system = makeBodies(&random, 2, 1.0);
    double x[1] = {3.0};
    for (int t = 0; t < rbSolverType_GetCount(); ++t) {
        rbSolver* solver = rbCreateSolver((rbSolverType)t, &system.view);
        solver->ops->factor(solver, &system.view);
        solver->ops->solve(solver, x, x);
        assert_int_equal(solver->redundantRows, 0);
        rbDestroySolver(solver);
    }
    assert_true(x[0] == 3.0);
    freeSystem(&system);
}

// B-34
static void matrixOfRowsIsSymmetric(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3403)};
    int count = rbTest_Count(100, 5000);
    for (int k = 0; k < count; ++k) {
        SystemOptions options = randomOptions(&random, 8, 2.0);
        options.outShare = 0.0;
        TestSystem system = makeSystem(&random, &options);
        int n = system.view.rowCount;
        long double* dense = makeDense(&system);
        double* matrix = calloc((size_t)(n * n) + 1, sizeof *matrix);
        rbRowSystem_Assemble(&system.view, matrix);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                double scale = sqrt((double)(dense[i * n + i] * dense[j * n + j]));
                checkNear(matrix[j * n + i], (double)dense[i * n + j], 100.0 * DBL_EPSILON * scale);
                checkNear(matrix[j * n + i], matrix[i * n + j], 100.0 * DBL_EPSILON * scale);
            }
        }
        free(matrix);
        free(dense);
        freeSystem(&system);
    }
}

static void choiceFallsOnTreesOfHubs(void** state)
{
    (void)state;
    rbRandom random = {1};
    SystemOptions options = {.shape = SHAPE_CHAIN, .bodyCount = 40, .rowsMin = 3, .rowsMax = 3};
    const struct {
        SystemShape shape;
        rbSolverType type;
    } cases[] = {{SHAPE_CHAIN, RB_SOLVER_DIRECT},
                 {SHAPE_NET, RB_SOLVER_DIRECT},
                 {SHAPE_RING, RB_SOLVER_DIRECT},
                 {SHAPE_HUB, RB_SOLVER_TREE}};
    for (int k = 0; k < (int)(sizeof cases / sizeof cases[0]); ++k) {
        options.shape = cases[k].shape;
        TestSystem system = makeSystem(&random, &options);
        assert_int_equal(rbChooseSolver(&system.view), cases[k].type);
        freeSystem(&system);
    }
}

// Pairs of blocks that share a dynamic body, by comparing all with all.
static int countShared(const rbRowSystem* system)
{
    int count = 0;
    for (int i = 0; i < system->blockCount; ++i) {
        for (int j = 0; j < i; ++j) {
            const rbRowBlock* one = &system->blocks[i];
            const rbRowBlock* two = &system->blocks[j];
            bool atA = one->bodyA == two->bodyA || one->bodyA == two->bodyB;
            bool atB = one->bodyB == two->bodyA || one->bodyB == two->bodyB;
            count += atA && system->masses[one->bodyA].isDynamic ? 1 : 0;
            count += atB && system->masses[one->bodyB].isDynamic ? 1 : 0;
        }
    }
    return count;
}

// Trees with more than three couples a block are solved as trees, with a loop never.
static void choiceCountsWhatBlocksShare(void** state)
{
    (void)state;
    static const rbVec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    rbRandom random = {rbTest_Seed(3404)};
    int trees = 0;
    int tests = rbTest_IsLong() ? 20000 : 300;
    for (int k = 0; k < tests; ++k) {
        int bodies = 2 + rbRandom_Index(&random, 12);
        int hubs = 1 + rbRandom_Index(&random, 2);
        TestSystem system = makeBodies(&random, bodies, 0.5);
        int lower = 0;
        for (int i = 1; i <= bodies; ++i) {
            lower = rbRandom_Index(&random, i <= hubs + 1 ? i : hubs + 1);
            bool isFlipped = rbRandom_Index(&random, 2) == 0;
            addBlock(&system, isFlipped ? i : lower, isFlipped ? lower : i, RB_VEC3_ZERO, axes, 3);
        }
        bool isLoop = k % 4 == 0 && lower != 1; // two blocks of one pair are no loop
        if (isLoop) {
            addBlock(&system, 1, bodies, RB_VEC3_ZERO, axes, 3);
        }
        int couples = countShared(&system.view);
        bool isTree = !isLoop && couples > 3 * system.view.blockCount;
        assert_int_equal(rbChooseSolver(&system.view), isTree ? RB_SOLVER_TREE : RB_SOLVER_DIRECT);
        trees += isTree ? 1 : 0;
        freeSystem(&system);
    }
    assert_true(trees > 0 && trees < tests);
}

// Seconds of one factorization and one solve of a binary tree of ball joints, the least of several
// runs.
static double timeTree(rbRandom* random, int bodyCount)
{
    TestSystem system = makeBodies(random, bodyCount, 0.5);
    rbVec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int i = 1; i <= bodyCount; ++i) {
        addBlock(&system, i / 2, i, system.centers[i / 2], axes, 3);
    }
    double* r = randomRight(random, system.view.rowCount);
    double* x = randomRight(random, system.view.rowCount);
    rbSolver* solver = rbCreateSolver(RB_SOLVER_TREE, &system.view);
    assert_int_equal(solver->cutCount, 0);
    double least = INFINITY;
    int rounds = 40960 / bodyCount;
    for (int k = 0; k < 10; ++k) {
        clock_t start = clock();
        for (int i = 0; i < rounds; ++i) {
            solver->ops->factor(solver, &system.view);
            solver->ops->solve(solver, r, x);
        }
        least = fmin(least, (double)(clock() - start) / CLOCKS_PER_SEC / rounds);
    }
    assert_int_equal(solver->redundantRows, 0);
    rbDestroySolver(solver);
    free(r);
    free(x);
    freeSystem(&system);
    return least;
}

// The exponent is 1; a busy machine and its caches affect the measurement.
// B-39
static void treeTakesLinearTime(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3904)};
    double small = timeTree(&random, 31), large = timeTree(&random, 4095);
    double exponent = log(large / small) / log(4095.0 / 31.0);
    print_message("31 bodies %.3g us, 4095 bodies %.4g us: exponent %.3f\n", 1e6 * small,
                  1e6 * large, exponent);
    checkNear(exponent, 1.0, 0.25);
}

// Random positive semi-definite matrix F F^T of a rank.
static void makeSemiDefinite(rbRandom* random, int n, int rank, double* matrix)
{
    double f[RB_BLOCK_ROWS_MAX][RB_BLOCK_ROWS_MAX];
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < rank; ++k) {
            f[i][k] = rbRandom_Symmetric(random);
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            double sum = 0.0;
            for (int k = 0; k < rank; ++k) {
                sum += f[i][k] * f[j][k];
            }
            matrix[j * n + i] = sum;
        }
    }
}

// Consistent right-hand sides of any rank are satisfied; the number of dropped pivots is the rank
// deficiency.
static void smallFactorsRevealTheRank(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3404)};
    int count = rbTest_Count(5000, 100000), exact = 0;
    for (int c = 0; c < count; ++c) {
        int n = 1 + rbRandom_Index(&random, RB_BLOCK_ROWS_MAX),
            rank = rbRandom_Index(&random, n + 1);
        double a[RB_BLOCK_ROWS_MAX * RB_BLOCK_ROWS_MAX], z[RB_BLOCK_ROWS_MAX];
        double r[RB_BLOCK_ROWS_MAX] = {0}, x[RB_BLOCK_ROWS_MAX];
        makeSemiDefinite(&random, n, rank, a);
        double size = 0.0;
        for (int i = 0; i < n; ++i) {
            z[i] = rbRandom_Symmetric(&random);
        }
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                r[i] += a[j * n + i] * z[j];
            }
        }
        rbSmallFactor factor;
        rbSmallFactor_Make(&factor, a, n);
        rbSmallFactor_Solve(&factor, r, x);
        // Ranks below 1e-11 occur very rarely in random matrices.
        assert_true(factor.dropped >= n - rank);
        exact += factor.dropped == n - rank ? 1 : 0;
        for (int i = 0; i < n; ++i) {
            size = fmax(size, fabs(x[i]));
        }
        for (int i = 0; i < n && factor.dropped == n - rank; ++i) {
            double sum = 0.0;
            for (int j = 0; j < n; ++j) {
                sum += a[j * n + i] * x[j];
            }
            checkNear(sum, r[i], 1e-13 * (1.0 + size) / sqrt(factor.pivotLeast));
        }
        for (int i = 0; i < n; ++i) {
            assert_true(isfinite(x[i]));
        }
    }
    assert_true(exact >= count - count / 1000 - 1);
}

// A pivot is compared with the given diagonal.
static void smallPivotsAreComparedWithTheirDiagonals(void** state)
{
    (void)state;
    const double a[4] = {1e-6, 0.0, 0.0, 1.0};
    const double diagonals[2] = {1e6, 1.0};
    rbSmallFactor own;
    rbSmallFactor_Make(&own, a, 2);
    assert_int_equal(own.dropped, 0);
    checkNear(own.pivotLeast, 1.0, 1e-15);
    double l[4], invPivots[2], work[2], x[2] = {1.0, 1.0};
    int order[2];
    rbPivoted factor = {.l = l, .invPivots = invPivots, .order = order, .size = 2};
    rbLeastRatio least = {1.0, 1.0};
    assert_int_equal(rbPivoted_Make(&factor, a, diagonals, &least, 2), 1);
    rbPivoted_Solve(&factor, x, work, 2);
    assert_true(x[0] == 0.0 && x[1] == 1.0);
}

RB_TEST_GROUP(test_solver_table, cmocka_unit_test(solversAreFoundByName),
              cmocka_unit_test(iterativeLeavesAllBlocksOut),
              cmocka_unit_test(factorsAreReusedWithoutAllocation),
              cmocka_unit_test(emptySystemsAreFine), cmocka_unit_test(matrixOfRowsIsSymmetric),
              cmocka_unit_test(choiceFallsOnTreesOfHubs),
              cmocka_unit_test(choiceCountsWhatBlocksShare), cmocka_unit_test(treeTakesLinearTime),
              cmocka_unit_test(smallFactorsRevealTheRank),
              cmocka_unit_test(smallPivotsAreComparedWithTheirDiagonals));
