// Joints: the experiments with all solvers and the comparison methods,
// compared with the printed numbers, and the speed goals.
//
// Printed times are from a Pentium 4 at 3.4 GHz: only ratios and exponents can be compared. Times
// are CPU time of stepping, over all steps of a run. "direct" is the printed LGS, "tree" the
// printed O(n) method, "cut" the printed LGS with cut loops; loops are substituted there, whereas
// here redundant rows are dropped by their pivots. Iterations are counted per step: look-ahead
// iterations of the direct solvers, sweeps of the iterative one. Slow runs end with their budget;
// the mean is then over the completed steps, and the row says so.
//
// The tree of. The printed layout is not known (gravity, angles, axis of the
// torque); see TREE_SPREAD and TREE_TORQUE for ours.
#include "bench.h"
#include "joint_kernels.h"
#include "joint_runs.h"

#include <math.h>
#include <string.h>

#define SECONDS 1.0 // CPU per run of the tables
#define STEPS 500   // of the printed experiments with trees

// Bars are at 5 degrees to their parents, and gravity is on. The torque of the first step acts
// about a horizontal axis. It is 10 N m as printed for the tree of 127 and, for the others, the
// torque that gives the end of the first bar the same speed. This converges in 3 iterations at all
// sizes from 31 to 4095, without halving a step. Also tried: 20 degrees (the branches whip: steps
// are halved for 63 bodies and more); the same torque for all (the tree of 31 spins fast); the same
// angular velocity (2.6 iterations at 31 bodies, 5 at 4095).
#define TREE_SPREAD 0.0872664625997165 // rad
#define TREE_TORQUE 10.0               // N m, at 7 levels
#define TREE_STEP (1.0 / 30.0)         // s

#define GOAL_EXPONENT 0.1
#define GOAL_CHAIN 10.0 // times real time
#define GOAL_TREE 5.0

// Measurements of one run, averaged per step.
typedef struct rbStepCost {
    rbJointRunEnd end;
    double ms;
    double positionIterations;
    double velocityIterations;
    double gap;    // m
    int64_t steps; // completed
    int64_t halvings;
    int64_t unmet;
} rbStepCost;

static rbStepSettings makeSettings(rbSolverType solver, double tolerance)
{
    rbStepSettings settings = rbGetDefaultStepSettings();
    settings.solver = solver;
    settings.tolerance = tolerance;
    settings.velocityTolerance = tolerance;
    return settings;
}

static rbStepCost measure(const rbJointScene* scene, const rbStepSettings* settings, double step,
                          int stepCount, double budget)
{
    rbJointPeerRow row = {.settings = settings};
    rbJointRun run = {
        .scene = scene,
        .peer = &rbJointPeerOurs,
        .row = &row,
        .step = step,
        .stepsPerSample = 1,
        .duration = stepCount * step,
        .budget = budget,
    };
    rbJointRunResult result = rbRunJoints(&run);
    double steps = fmax(1.0, round(result.time / step));
    return (rbStepCost){
        .end = result.end,
        .ms = 1e3 * result.timeFactor * step,
        .positionIterations = (double)result.statistics.positionIterations / steps,
        .velocityIterations = (double)result.statistics.velocityIterations / steps,
        .gap = result.gap,
        .steps = (int64_t)steps,
        .halvings = result.statistics.halvings,
        .unmet = result.statistics.unmetSteps,
    };
}

// Slope of log y over log x.
static double fitExponent(const double* x, const double* y, int count)
{
    double sums[4] = {0.0};
    int used = 0;
    for (int i = 0; i < count; ++i) {
        if (isfinite(y[i]) && y[i] > 0.0) {
            double a = log(x[i]);
            double b = log(y[i]);
            sums[0] += a;
            sums[1] += b;
            sums[2] += a * a;
            sums[3] += a * b;
            ++used;
        }
    }
    double n = used;
    return used < 2 ? NAN : (n * sums[3] - sums[0] * sums[1]) / (n * sums[2] - sums[0] * sums[0]);
}

// -------------------------------------------------------------------------------------------- rows

static void record(rbBench* bench, const char* caseName, const char* metric, double value,
                   const char* unit, double error)
{
    rbBenchRow row = {.value = value, .result = "step", .errorMax = error};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", caseName);
    (void)snprintf(row.engine, sizeof row.engine, "rattleback");
    (void)snprintf(row.metric, sizeof row.metric, "%s", metric);
    (void)snprintf(row.unit, sizeof row.unit, "%s", unit);
    rbBench_Record(bench, row);
}

static void recordCost(rbBench* bench, const char* caseName, const char* way,
                       const rbStepCost* cost)
{
    if (cost->end == RB_RUN_REFUSED) {
        return;
    }
    char metric[48];
    (void)snprintf(metric, sizeof metric, "step, %s", way);
    record(bench, caseName, metric, cost->ms, "ms", cost->gap);
    (void)snprintf(metric, sizeof metric, "position iterations, %s", way);
    record(bench, caseName, metric, cost->positionIterations, "", NAN);
    (void)snprintf(metric, sizeof metric, "velocity iterations, %s", way);
    record(bench, caseName, metric, cost->velocityIterations, "", NAN);
}

static void printRemarks(FILE* text, const rbStepCost* cost, int stepCount)
{
    static const char* const ends[] = {[RB_RUN_DONE] = "",
                                       [RB_RUN_REFUSED] = " refused",
                                       [RB_RUN_BLOWN_UP] = " blown up",
                                       [RB_RUN_OUT_OF_TIME] = ""};
    (void)fprintf(text, "%s", ends[cost->end]);
    if (cost->end != RB_RUN_REFUSED && cost->steps < stepCount) {
        (void)fprintf(text, "  %lld steps", (long long)cost->steps);
    }
    if (cost->halvings > 0) {
        (void)fprintf(text, "  %lld halved", (long long)cost->halvings);
    }
    if (cost->unmet > 0) {
        (void)fprintf(text, "  %lld unmet", (long long)cost->unmet);
    }
    (void)fputc('\n', text);
    (void)fflush(text);
}

// A quick run has too few sizes and steps to assess anything.
static void printGoal(rbBench* bench, const char* what, double value, bool isReached)
{
    if (bench->isQuick) {
        return;
    }
    record(bench, "goals", what, value, "", NAN);
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  goal: %s: %.3g, %s\n", what, value,
                      isReached ? "reached" : "missed");
    }
}

static void printTitle(const rbBench* bench, const char* title)
{
    rbBench_ShowProgress(bench, NULL);
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %s\n", title);
    }
}

// ---------------------------------------------------------------------------------- a chain

#define LENGTH_COUNT 5

static void runChain(rbBench* bench)
{
    static const struct {
        rbSolverType solver;
        double printed[LENGTH_COUNT];
    } ways[] = {
        {RB_SOLVER_ITERATIVE, {3.30, 23.20, 71.65, 157.69, 287.14}},
        {RB_SOLVER_DIRECT, {2.11, 2.78, 3.63, 4.60, 6.28}},
        {RB_SOLVER_TREE, {0}},
    };
    static const double lengths[LENGTH_COUNT] = {10, 20, 30, 40, 50};
    printTitle(bench, "X-02: chain, h = 0.01 s, 1e-6, 200 steps for each length");
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-10s %6s %10s %9s %9s %10s %10s\n", "solver", "bodies", "ms",
                      "position", "velocity", "joint m", "printed");
    }
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; ++k) {
        double times[LENGTH_COUNT];
        const char* name = rbSolverType_Name(ways[k].solver);
        for (int i = 0; i < LENGTH_COUNT; ++i) {
            rbBench_ShowProgress(bench, name);
            rbJointScene scene = rbMakeBarScene((int)lengths[i]);
            rbStepSettings settings = makeSettings(ways[k].solver, 1e-6);
            rbStepCost cost =
                measure(&scene, &settings, 0.01, bench->isQuick ? 3 : 200, 2.0 * SECONDS);
            times[i] = cost.ms;
            char caseName[48];
            (void)snprintf(caseName, sizeof caseName, "X-02 chain %d", scene.bodyCount);
            recordCost(bench, caseName, name, &cost);
            if (bench->text != NULL) {
                (void)fprintf(bench->text, "  %-10s %6d %10.4f %9.1f %9.1f %10.1e %10.2f", name,
                              scene.bodyCount, cost.ms, cost.positionIterations,
                              cost.velocityIterations, cost.gap, ways[k].printed[i]);
                printRemarks(bench->text, &cost, bench->isQuick ? 3 : 200);
            }
            rbDestroyJointScene(&scene);
        }
        double exponent = fitExponent(lengths, times, LENGTH_COUNT);
        record(bench, "X-02 chain", "exponent", exponent, "", NAN);
        if (bench->text != NULL) {
            (void)fprintf(bench->text, "  %-10s 50 bodies to 10: %.1f", name,
                          times[LENGTH_COUNT - 1] / times[0]);
            if (ways[k].printed[0] > 0.0) {
                (void)fprintf(bench->text, " (printed %.1f)",
                              ways[k].printed[LENGTH_COUNT - 1] / ways[k].printed[0]);
            }
            (void)fprintf(bench->text, "; exponent %.2f", exponent);
            if (ways[k].printed[0] > 0.0) {
                (void)fprintf(bench->text, " (printed %.2f)",
                              fitExponent(lengths, ways[k].printed, LENGTH_COUNT));
            }
            (void)fputc('\n', bench->text);
        }
    }
}

// ------------------------------------------------------------------------ trees

static rbJointScene makeTree(int levels)
{
    // The first bar is 1.5 times longer each level: 1.5^3 times the inertia, and for the same speed
    // of its end an angular velocity 1.5 times smaller.
    double kick = TREE_TORQUE * TREE_STEP;
    for (int k = levels; k < 7; ++k) {
        kick /= 1.5 * 1.5;
    }
    for (int k = 7; k < levels; ++k) {
        kick *= 1.5 * 1.5;
    }
    return rbMakeTreeScene(levels, TREE_SPREAD, kick);
}

static void runTree127(rbBench* bench)
{
    static const struct {
        const char* solver;
        double printed[3]; // ms, position and velocity iterations
    } ways[] = {
        {"iterative", {169.07, 541.65, 780.89}},
        {"direct", {19.66, 2.0, 1.0}},
        {"tree", {0}},
        {"cut", {0}},
    };
    rbJointScene scene = makeTree(7);
    int steps = bench->isQuick ? 2 : STEPS;
    double times[4];
    printTitle(bench,
               "X-03: tree of 127, h = 1/30 s, 1e-6, 500 steps (printed values in parentheses)");
    for (int k = 0; k < 4; ++k) {
        const char* name = ways[k].solver;
        rbBench_ShowProgress(bench, name);
        rbStepSettings settings = makeSettings(rbSolverType_Find(name), 1e-6);
        rbStepCost cost = measure(&scene, &settings, TREE_STEP, steps, 4.0 * SECONDS);
        times[k] = cost.ms;
        recordCost(bench, "X-03 tree 127", name, &cost);
        if (bench->text != NULL) {
            (void)fprintf(bench->text,
                          "  %-10s %9.3f ms (%.2f)  position %.1f (%.1f)  velocity %.1f (%.1f)  "
                          "joint %.1e m",
                          name, cost.ms, ways[k].printed[0], cost.positionIterations,
                          ways[k].printed[1], cost.velocityIterations, ways[k].printed[2],
                          cost.gap);
            printRemarks(bench->text, &cost, steps);
        }
    }
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  direct is %.1f times faster than iterative (printed %.1f)\n",
                      times[0] / times[1], ways[0].printed[0] / ways[1].printed[0]);
    }
    rbDestroyJointScene(&scene);
}

#define SIZE_COUNT 4

typedef struct rbTreeWay {
    const char* name;
    const char* method;
    rbSolverType solver;
    double tolerance;
    double printed[SIZE_COUNT];
    double printedExponent;
} rbTreeWay;

static void printTreeWay(const rbBench* bench, const rbTreeWay* way, const rbStepCost* costs,
                         double exponent)
{
    if (bench->text == NULL) {
        return;
    }
    (void)fprintf(bench->text, "  %-20s", way->name);
    for (int i = 0; i < SIZE_COUNT; ++i) {
        (void)fprintf(bench->text, " %9.3f", costs[i].ms);
    }
    (void)fprintf(bench->text, " %6.2f ", exponent);
    for (int i = 0; i < SIZE_COUNT && way->printed[0] > 0.0; ++i) {
        (void)fprintf(bench->text, " %9.2f", way->printed[i]);
    }
    if (way->printed[0] > 0.0) {
        (void)fprintf(bench->text, " %6.2f", way->printedExponent);
    }
    int64_t halvings = 0;
    int64_t unmet = 0;
    bool isShort = false;
    for (int i = 0; i < SIZE_COUNT; ++i) {
        halvings += costs[i].halvings;
        unmet += costs[i].unmet;
        isShort = isShort || costs[i].end == RB_RUN_OUT_OF_TIME;
    }
    if (isShort) {
        (void)fprintf(bench->text, "  (%lld steps at 255)", (long long)costs[SIZE_COUNT - 1].steps);
    }
    if (halvings + unmet > 0) {
        (void)fprintf(bench->text, "  %lld halved, %lld unmet", (long long)halvings,
                      (long long)unmet);
    }
    (void)fputc('\n', bench->text);
    (void)fflush(bench->text);
}

static void runTreeSizes(rbBench* bench)
{
    static const rbTreeWay ways[] = {
        {"iterative 1e-3", "impulses", RB_SOLVER_ITERATIVE, 1e-3, {2.73, 7.86, 20.35, 51.47}, 1.39},
        {"iterative 1e-4",
         "impulses",
         RB_SOLVER_ITERATIVE,
         1e-4,
         {7.07, 21.87, 63.77, 176.96},
         1.53},
        {"iterative 1e-6",
         "impulses",
         RB_SOLVER_ITERATIVE,
         1e-6,
         {15.87, 54.25, 169.07, 494.15},
         1.63},
        {"direct 1e-3", "impulses", RB_SOLVER_DIRECT, 1e-3, {3.51, 6.95, 18.38, 57.72}, 1.33},
        {"direct 1e-4", "impulses", RB_SOLVER_DIRECT, 1e-4, {3.99, 7.09, 19.05, 57.61}, 1.27},
        {"direct 1e-6", "impulses", RB_SOLVER_DIRECT, 1e-6, {4.53, 7.89, 19.66, 59.48}, 1.22},
        {"tree 1e-6", "impulses", RB_SOLVER_TREE, 1e-6, {0}, 0.0},
        {"multipliers, dense",
         "multipliers",
         RB_SOLVER_AUTO,
         1e-6,
         {212.12, 2190.0, 25200.0, 175450.0},
         3.19},
        {"multipliers, Baraff", "baraff", RB_SOLVER_AUTO, 1e-6, {7.72, 16.84, 35.29, 82.05}, 1.12},
        {"reduced", "reduced", RB_SOLVER_AUTO, 1e-6, {0}, 0.0},
    };
    static const double sizes[SIZE_COUNT] = {31, 63, 127, 255};
    printTitle(bench, "X-04: trees, ms per step of 1/30 s, and exponents; printed on the right");
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-20s %9d %9d %9d %9d %6s  %9d %9d %9d %9d\n", "", 31, 63,
                      127, 255, "exp.", 31, 63, 127, 255);
    }
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; ++k) {
        rbStepCost costs[SIZE_COUNT];
        double times[SIZE_COUNT];
        for (int i = 0; i < SIZE_COUNT; ++i) {
            rbBench_ShowProgress(bench, ways[k].name);
            rbJointScene scene = makeTree(5 + i);
            rbStepSettings settings = makeSettings(ways[k].solver, ways[k].tolerance);
            settings.method = rbStepMethod_Find(ways[k].method);
            costs[i] = measure(&scene, &settings, TREE_STEP, bench->isQuick ? 2 : STEPS, SECONDS);
            times[i] = costs[i].ms;
            char caseName[48];
            (void)snprintf(caseName, sizeof caseName, "X-04 tree %d", scene.bodyCount);
            recordCost(bench, caseName, ways[k].name, &costs[i]);
            rbDestroyJointScene(&scene);
        }
        double exponent = fitExponent(sizes, times, SIZE_COUNT);
        char metric[48];
        (void)snprintf(metric, sizeof metric, "exponent, %s", ways[k].name);
        record(bench, "X-04 trees", metric, exponent, "", NAN);
        printTreeWay(bench, &ways[k], costs, exponent);
    }
}

static void runCostSplit(rbBench* bench)
{
    static const struct {
        rbSolverType solver;
        rbJointCosts printed; // ms
    } ways[] = {
        {RB_SOLVER_DIRECT, {15.81, 1.01, 0.17}},
        {RB_SOLVER_TREE, {0.0, 0.0, 0.0}},
    };
    rbJointScene scene = makeTree(7);
    printTitle(bench, "X-05: cost of the parts of a step, tree of 127, us (printed: ms)");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; ++k) {
        const char* name = rbSolverType_Name(ways[k].solver);
        rbJointCosts costs = rbMeasureJointCosts(&scene, ways[k].solver, TREE_STEP,
                                                 bench->isQuick ? 0.0 : 0.2 * SECONDS);
        const rbJointCosts* printed = &ways[k].printed;
        char metric[48];
        (void)snprintf(metric, sizeof metric, "build and factorize, %s", name);
        record(bench, "X-05 tree 127", metric, 1e6 * costs.factor, "us", NAN);
        (void)snprintf(metric, sizeof metric, "one iteration, %s", name);
        record(bench, "X-05 tree 127", metric, 1e6 * costs.iteration, "us", NAN);
        (void)snprintf(metric, sizeof metric, "advancing, %s", name);
        record(bench, "X-05 tree 127", metric, 1e6 * costs.advance, "us", NAN);
        if (bench->text != NULL) {
            (void)fprintf(bench->text,
                          "  %-10s build and factorize %.1f (%.2f)  one iteration %.1f (%.2f)  "
                          "advancing %.1f (%.2f)",
                          name, 1e6 * costs.factor, printed->factor, 1e6 * costs.iteration,
                          printed->iteration, 1e6 * costs.advance, printed->advance);
            (void)fprintf(bench->text, "  factorize / iteration %.1f",
                          costs.factor / costs.iteration);
            if (printed->iteration > 0.0) {
                (void)fprintf(bench->text, " (%.1f)", printed->factor / printed->iteration);
            }
            (void)fputc('\n', bench->text);
        }
    }
    rbDestroyJointScene(&scene);
}

static void runAnytime(rbBench* bench)
{
    rbJointScene scene = makeTree(8);
    int steps = bench->isQuick ? 2 : STEPS;
    printTitle(bench, "X-06: tree of 255, iterative, ended after 10 sweeps, 500 steps of 1/30 s");
    rbStepSettings settings = makeSettings(RB_SOLVER_ITERATIVE, 1e-6);
    settings.iterationsMax = 10;
    settings.halvingsMax = 0;
    rbStepCost cost = measure(&scene, &settings, TREE_STEP, steps, 0.0);
    recordCost(bench, "X-06 tree 255", "iterative, 10 sweeps", &cost);
    if (bench->text != NULL) {
        (void)fprintf(
            bench->text,
            "  %.3f ms (printed 6.30), %.0f times real time (5), largest joint error %.2g "
            "m,",
            cost.ms, 1e3 * TREE_STEP / cost.ms, cost.gap);
        printRemarks(bench->text, &cost, steps);
    }
    rbDestroyJointScene(&scene);
}

// ------------------------------------------------------------------------------------ loops

// Largest distance of the centers of bodies after some steps under two solvers, m.
static double compareSolvers(const rbJointScene* scene, const rbStepSettings* a,
                             const rbStepSettings* b, double step, int stepCount)
{
    const rbStepSettings* both[2] = {a, b};
    size_t size = (size_t)scene->bodyCount * sizeof(rbPeerBodyState);
    rbPeerBodyState* states[2] = {rbAlloc(size), rbAlloc(size)};
    bool isGood = true;
    for (int k = 0; k < 2; ++k) {
        rbJointPeerRow row = {.settings = both[k]};
        void* state = rbJointPeerOurs.create(scene, &row, step);
        isGood = isGood && state != NULL;
        if (state != NULL) {
            (void)rbJointPeerOurs.advance(state, stepCount);
            rbJointPeerOurs.read(state, states[k]);
            rbJointPeerOurs.destroy(state);
        }
    }
    double worst = isGood ? 0.0 : NAN;
    for (int i = 0; i < scene->bodyCount && isGood; ++i) {
        for (int k = 0; k < 3; ++k) {
            double difference = fabs(states[0][i].pose.position[k] - states[1][i].pose.position[k]);
            worst = difference <= worst ? worst : difference;
        }
    }
    rbFree(states[0], size);
    rbFree(states[1], size);
    return worst;
}

static void runLoops(rbBench* bench)
{
    static const double tolerances[3] = {1e-3, 1e-4, 1e-6};
    static const struct {
        const char* name; // of the solver
        double printed[3];
    } ways[] = {
        {"iterative", {32.26, 88.86, 241.24}},
        {"cut", {41.19, 64.94, 114.70}},
        {"direct", {3.51, 3.89, 4.85}},
        {"tree", {0}},
    };
    rbJointScene scene = rbMakeRingsScene();
    int steps = bench->isQuick ? 2 : STEPS;
    rbStepSettings direct = makeSettings(RB_SOLVER_DIRECT, 1e-6);
    printTitle(bench, "X-07: three rings of hinges, h = 1/30 s, ms at 1e-3, 1e-4, 1e-6; printed "
                      "values in parentheses");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; ++k) {
        rbStepCost costs[3];
        for (int i = 0; i < 3; ++i) {
            rbBench_ShowProgress(bench, ways[k].name);
            rbStepSettings settings = makeSettings(rbSolverType_Find(ways[k].name), tolerances[i]);
            costs[i] = measure(&scene, &settings, TREE_STEP, steps, 2.0 * SECONDS);
            char way[48];
            (void)snprintf(way, sizeof way, "%s %.0e", ways[k].name, tolerances[i]);
            recordCost(bench, "X-07 rings", way, &costs[i]);
        }
        rbStepSettings settings = makeSettings(rbSolverType_Find(ways[k].name), 1e-6);
        double difference = compareSolvers(&scene, &settings, &direct, TREE_STEP, 30);
        if (bench->text != NULL) {
            (void)fprintf(bench->text, "  %-10s %9.4f %9.4f %9.4f", ways[k].name, costs[0].ms,
                          costs[1].ms, costs[2].ms);
            if (ways[k].printed[0] > 0.0) {
                (void)fprintf(bench->text, "  (%.2f %.2f %.2f)", ways[k].printed[0],
                              ways[k].printed[1], ways[k].printed[2]);
            }
            (void)fprintf(bench->text, "  differs from direct by %.1e m after 1 s", difference);
            printRemarks(bench->text, &costs[2], steps);
        }
    }
    rbDestroyJointScene(&scene);
}

// -------------------------------------------------------------------------- linear time

#define GROWTH_COUNT 8

static void runGrowth(rbBench* bench)
{
    int count = bench->isQuick ? 2 : GROWTH_COUNT;
    double sizes[GROWTH_COUNT];
    double times[GROWTH_COUNT];
    double perIteration[GROWTH_COUNT];
    printTitle(bench, "X-09: linear-time solver, trees, 1e-6, h = 1/30 s");
    for (int i = 0; i < count; ++i) {
        rbJointScene scene = makeTree(5 + i);
        rbStepSettings settings = makeSettings(RB_SOLVER_TREE, 1e-6);
        int steps = bench->isQuick ? 2 : 100;
        rbStepCost cost = measure(&scene, &settings, TREE_STEP, steps, 8.0 * SECONDS);
        rbJointCosts parts = rbMeasureJointCosts(&scene, RB_SOLVER_TREE, TREE_STEP,
                                                 bench->isQuick ? 0.0 : 0.05 * SECONDS);
        sizes[i] = scene.bodyCount;
        times[i] = cost.ms;
        perIteration[i] = parts.factor + parts.iteration;
        char caseName[48];
        (void)snprintf(caseName, sizeof caseName, "X-09 tree %d", scene.bodyCount);
        recordCost(bench, caseName, "tree", &cost);
        record(bench, caseName, "factorize and solve once", 1e6 * perIteration[i], "us", NAN);
        if (bench->text != NULL) {
            (void)fprintf(bench->text,
                          "  %5d bodies %9.4f ms, %.2f us per body, position %.1f, factorize and "
                          "solve once %.3f us per body",
                          scene.bodyCount, cost.ms, 1e3 * cost.ms / scene.bodyCount,
                          cost.positionIterations, 1e6 * perIteration[i] / scene.bodyCount);
            printRemarks(bench->text, &cost, steps);
        }
        rbDestroyJointScene(&scene);
    }
    double exponent = fitExponent(sizes, times, count);
    double pure = fitExponent(sizes, perIteration, count);
    printGoal(bench, "exponent, solver alone, 31 to 4095, 1.0 +- 0.1", pure,
              fabs(pure - 1.0) <= GOAL_EXPONENT);
    printGoal(bench, "exponent, whole step, 31 to 4095, 1.0 +- 0.1", exponent,
              fabs(exponent - 1.0) <= GOAL_EXPONENT);
    rbJointScene scene = makeTree(8);
    rbStepSettings tree = makeSettings(RB_SOLVER_TREE, 1e-6);
    rbStepSettings direct = makeSettings(RB_SOLVER_DIRECT, 1e-6);
    double difference = compareSolvers(&scene, &tree, &direct, TREE_STEP, 10);
    record(bench, "X-09 tree 255", "off direct after 10 steps", difference, "m", NAN);
    if (bench->text != NULL) {
        (void)fprintf(bench->text,
                      "  tree of 255: differs from the direct solver by %.1e m after 10 steps\n",
                      difference);
    }
    rbDestroyJointScene(&scene);
}

// ------------------------------------------------------------------------------------------ goals

static void runRealTime(rbBench* bench)
{
    const struct {
        const char* what;
        rbJointScene scene;
        double goal;
    } rows[] = {
        {"chain100, 60 Hz, times real time, at least 10", rbMakeChainScene(100), GOAL_CHAIN},
        {"tree 255, 60 Hz, times real time, at least 5", makeTree(8), GOAL_TREE},
    };
    printTitle(bench, "real time, solver chosen automatically, 10 s");
    for (size_t i = 0; i < 2; ++i) {
        rbJointScene scene = rows[i].scene;
        rbStepSettings settings = rbGetDefaultStepSettings();
        int steps = bench->isQuick ? 6 : 600;
        rbStepCost cost = measure(&scene, &settings, 1.0 / 60.0, steps, 0.0);
        recordCost(bench, i == 0 ? "chain100 60 Hz" : "tree 255 60 Hz", "auto", &cost);
        if (bench->text != NULL) {
            (void)fprintf(bench->text, "  %.4f ms per step, position %.1f, joint %.1e m", cost.ms,
                          cost.positionIterations, cost.gap);
            printRemarks(bench->text, &cost, steps);
        }
        double factor = 1e3 / 60.0 / cost.ms;
        printGoal(bench, rows[i].what, factor, factor >= rows[i].goal);
        rbDestroyJointScene(&scene);
    }
}

static void run(rbBench* bench)
{
    runChain(bench);
    runTree127(bench);
    runTreeSizes(bench);
    runCostSplit(bench);
    runAnytime(bench);
    runLoops(bench);
    runGrowth(bench);
    runRealTime(bench);
}

const rbBenchSuite rbSuiteJoints = {
    .name = "joints",
    .help = "chains, trees and loops with all solvers (X-02 to X-07, X-09)",
    .run = run,
};
