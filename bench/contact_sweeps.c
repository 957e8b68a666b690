// Cost of a sweep over contacts: columns of cubes on a floor, with hand-made contacts.
#include "base/core/memory.h"
#include "contact_experiments.h"
#include "dynamics/contact/contact_solver.h"
#include "dynamics/contact/contact_substeps.h"

#include <math.h>
#include <string.h>

#define COLUMNS 32
#define HEIGHT 8
#define CUBES (COLUMNS * HEIGHT)
#define POINTS (4 * CUBES)
#define STEP (1.0 / 60.0)
#define FEW 2
#define MANY 8 // below the number of sweeps after which they are mixed

// Bodies 1.. are cubes of 1 m and 1 kg, each on the previous one or on body 0.
typedef struct rbColumns {
    rbContactBody bodies[CUBES + 1];
    rbContactBody starts[CUBES + 1];
    rbContactBody flights[CUBES + 1];
    rbVec3 kicks[CUBES + 1];
    rbContact contacts[CUBES];
    rbContactPoint points[POINTS];
    rbContactSet set;
    rbContactRun run;
    rbContactSolver* solver; // NULL: small steps
    rbContactSubsteps* substeps;
} rbColumns;

static rbColumns* makeColumns(void)
{
    rbColumns* columns = rbAllocZero(1, sizeof *columns);
    rbVec3 pull = {0.0, 0.0, -9.81 * STEP};
    for (int i = 0; i < CUBES; ++i) {
        bool isLowest = i % HEIGHT == 0;
        columns->starts[i + 1] = (rbContactBody){
            .velocity = rbScale(0.5, pull), .invMass = 1.0, .invInertia = {6, 6, 6, 0, 0, 0}};
        columns->kicks[i + 1] = pull;
        columns->contacts[i] = (rbContact){.bodyA = isLowest ? 0 : i,
                                           .bodyB = i + 1,
                                           .normal = {0.0, 0.0, 1.0},
                                           .tangents = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}},
                                           .friction = 0.5,
                                           .stiction = 0.5,
                                           .firstPoint = 4 * i,
                                           .pointCount = 4,
                                           .level = 1 + i % HEIGHT};
        for (int k = 0; k < 4; ++k) {
            rbVec3 corner = {(k & 1) != 0 ? 0.5 : -0.5, (k & 2) != 0 ? 0.5 : -0.5, 0.5};
            columns->points[4 * i + k].armA = corner;
            columns->points[4 * i + k].armB = rbMakeVec3(corner.x, corner.y, -0.5);
            columns->points[4 * i + k].isClosed = true;
        }
    }
    columns->set = (rbContactSet){columns->contacts, CUBES, columns->points, POINTS};
    columns->run = (rbContactRun){.set = &columns->set, .bodies = columns->bodies, .h = STEP};
    return columns;
}

static void work(void* context)
{
    rbColumns* columns = context;
    memcpy(columns->bodies, columns->starts, sizeof columns->bodies);
    for (int i = 0; i < POINTS; ++i) {
        memset(columns->points[i].impulse, 0, sizeof columns->points[i].impulse);
    }
    if (columns->solver != NULL) {
        rbContactSolver_Prepare(columns->solver, &columns->run);
        (void)rbContactSolver_Solve(columns->solver, &columns->run, false);
    } else {
        rbSubstepsTask task = {.run = &columns->run,
                               .kicks = columns->kicks,
                               .flights = columns->flights,
                               .restSpeed = 0.01};
        (void)rbContactSubsteps_Solve(columns->substeps, &task);
    }
}

static double timeSweeps(rbColumns* columns, bool isSmall, int sweeps, double seconds)
{
    rbContactSettings settings = rbDefaultContactSettings();
    settings.substeps = sweeps / 2;
    settings.sweepsMax = sweeps;
    settings.tolerance = 0.0;
    columns->solver = isSmall ? NULL : rbCreateContactSolver(&settings);
    columns->substeps = isSmall ? rbCreateContactSubsteps(&settings) : NULL;
    double time = rbBench_Time(work, columns, seconds);
    rbDestroyContactSolver(columns->solver);
    rbDestroyContactSubsteps(columns->substeps);
    return time;
}

void rbRunSweepsExperiment(rbBench* bench)
{
    rbColumns* columns = makeColumns();
    double seconds = bench->isQuick ? 0.01 : 0.5;
    for (int i = 0; i < 2; ++i) {
        double few = timeSweeps(columns, i == 1, FEW, seconds);
        double many = timeSweeps(columns, i == 1, MANY, seconds);
        double each = (many - few) / (MANY - FEW) / POINTS;
        double rest = few / POINTS - FEW * each;
        rbBenchRow row = {.unit = "ns", .result = "sweep", .errorMax = NAN};
        (void)snprintf(row.caseName, sizeof row.caseName, "columns of cubes");
        (void)snprintf(row.engine, sizeof row.engine, "rattleback %s",
                       i == 1 ? "small steps" : "sweeps");
        (void)snprintf(row.metric, sizeof row.metric, "a sweep, per point");
        row.value = 1e9 * each;
        rbBench_Add(bench, row);
        (void)snprintf(row.metric, sizeof row.metric, "rows and results, per point");
        row.value = 1e9 * rest;
        rbBench_Add(bench, row);
    }
    rbFree(columns, sizeof *columns);
}
