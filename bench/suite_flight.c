// Free flight: cost of a state for each motion row, memory, growth with the number of bodies.
#include "base/core/random.h"
#include "base/core/timer.h"
#include "bench.h"

#include <rattleback/world.h>

#include <math.h>

#define SECONDS 0.4 // a row
#define ROW_BODIES 1000
#define GROWTH_MIN 1000
#define GROWTH_MAX 1000000

static const struct {
    const char* name;
    rbMotionSettings motion;
} rows[] = {
    {"exact", {RB_MOTION_EXACT, 1e-3, 8, 1e-12}},
    {"taylor 8, 10 ms", {RB_MOTION_TAYLOR, 1e-2, 8, 1e-12}},
    {"taylor 16, 50 ms", {RB_MOTION_TAYLOR, 5e-2, 16, 1e-12}},
    {"rk4, 1 ms", {RB_MOTION_RK4, 1e-3, 8, 1e-12}},
    {"cash-karp, 1e-9", {RB_MOTION_CASH_KARP, 1e-3, 8, 1e-9}},
    {"cash-karp, 1e-12", {RB_MOTION_CASH_KARP, 1e-3, 8, 1e-12}},
    {"euler, 1 ms", {RB_MOTION_EULER, 1e-3, 8, 1e-12}},
};

// Asymmetric bodies spinning at some rad/s, under gravity.
static rbWorld* makeWorld(int count, rbMotionSettings motion)
{
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.motion = motion;
    worldDef.bodyCapacity = count;
    rbWorld* world = rbCreateWorld(&worldDef, NULL);
    rbRandom random = {5};
    for (int i = 0; i < count; ++i) {
        double a = rbRandom_Range(&random, 0.1, 1.0);
        double b = rbRandom_Range(&random, 0.1, 1.0);
        double c = rbRandom_Range(&random, 0.1, 1.0);
        rbMassProperties mass = {.mass = 1.0, .inertia = {.xx = b + c, .yy = c + a, .zz = a + b}};
        rbBodyDef def = rbDefaultBodyDef();
        def.type = RB_BODY_DYNAMIC;
        def.mass = &mass;
        def.position = rbMakeVec3(i % 1000, floor(i / 1000.0), 0.0);
        def.angularVelocity =
            rbScale(5.0, rbMakeVec3(rbRandom_Symmetric(&random), rbRandom_Symmetric(&random),
                                    rbRandom_Symmetric(&random)));
        (void)rbCreateBody(world, &def, NULL);
    }
    return world;
}

typedef struct rbFlightWork {
    rbWorld* world;
    const rbBodyId* ids;
    int count;
    double dt;
    double sink;
} rbFlightWork;

static void advance(void* context)
{
    rbFlightWork* work = context;
    work->sink += rbWorld_Advance(work->world, work->dt).time;
}

static void addRow(rbBench* bench, const char* name, const char* metric, double value,
                   const char* unit, double errorMax)
{
    rbBenchRow row = {
        .engine = "rattleback", .value = value, .result = "step", .errorMax = errorMax};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", name);
    (void)snprintf(row.metric, sizeof row.metric, "%s", metric);
    (void)snprintf(row.unit, sizeof row.unit, "%s", unit);
    rbBench_Add(bench, row);
}

// Largest difference of orientation from the closed form after a second of flight.
static double measureError(rbMotionSettings motion)
{
    rbWorld* world = makeWorld(ROW_BODIES, motion);
    rbWorld* truth = makeWorld(ROW_BODIES, rows[0].motion);
    const size_t size = sizeof(double) * 4 * ROW_BODIES;
    double* a = rbAlloc(size);
    double* b = rbAlloc(size);
    (void)rbWorld_AdvanceTo(world, 1.0);
    (void)rbWorld_AdvanceTo(truth, 1.0);
    rbWorld_ReadField(world, RB_FIELD_ORIENTATION, a, 0);
    rbWorld_ReadField(truth, RB_FIELD_ORIENTATION, b, 0);
    double largest = 0.0;
    for (int i = 0; i < ROW_BODIES; ++i) {
        double plus = 0.0;
        double minus = 0.0;
        for (int k = 4 * i; k < 4 * i + 4; ++k) {
            plus += (a[k] + b[k]) * (a[k] + b[k]);
            minus += (a[k] - b[k]) * (a[k] - b[k]);
        }
        double error = sqrt(plus < minus ? plus : minus);
        largest = isnan(largest) || largest > error ? largest : error; // keeps NaN
    }
    rbFree(a, size);
    rbFree(b, size);
    rbDestroyWorld(world);
    rbDestroyWorld(truth);
    return largest;
}

// A state 10 ms later, and a second of flight in steps of 10 ms.
static void timeRows(rbBench* bench)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rbFlightWork work = {.world = makeWorld(ROW_BODIES, rows[i].motion), .dt = 1e-2};
        advance(&work); // the first advance allocates
        double seconds = rbBench_Time(advance, &work, SECONDS);
        double error = measureError(rows[i].motion);
        addRow(bench, rows[i].name, "time per body and state", 1e9 * seconds / ROW_BODIES, "ns",
               error);
        work.dt = 1.0;
        seconds = rbBench_Time(advance, &work, 0.5 * SECONDS);
        addRow(bench, rows[i].name, "time per body and second of flight",
               1e9 * seconds / ROW_BODIES, "ns", error);
        rbDestroyWorld(work.world);
    }
}

static void measureMemory(rbBench* bench)
{
    int count = 100000;
    uint64_t before = rbGetAllocatedBytes();
    rbWorld* world = makeWorld(count, rows[0].motion);
    (void)rbWorld_Advance(world, 1e-3);
    double bytes = (double)(rbGetAllocatedBytes() - before) / count;
    rbDestroyWorld(world);
    addRow(bench, "exact", "bytes per body", bytes, "B", NAN);
}

// Reads one state at any time, without advancing the world.
static void readStates(void* context)
{
    rbFlightWork* work = context;
    for (int i = 0; i < work->count; ++i) {
        work->sink += rbBody_GetStateAt(work->world, work->ids[i], work->dt).center.x;
    }
}

static void timeQueries(rbBench* bench)
{
    static const double times[] = {1.0, 1e3, 1e6};
    rbFlightWork work = {.world = makeWorld(ROW_BODIES, rows[0].motion), .count = ROW_BODIES};
    rbBodyId* ids = rbAlloc(ROW_BODIES * sizeof *ids);
    (void)rbWorld_GetBodyIds(work.world, ids, ROW_BODIES);
    work.ids = ids;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; ++i) {
        char metric[48];
        work.dt = times[i];
        (void)snprintf(metric, sizeof metric, "time of a state at t = %g s", times[i]);
        addRow(bench, "exact", metric,
               1e9 * rbBench_Time(readStates, &work, 0.5 * SECONDS) / ROW_BODIES, "ns", NAN);
    }
    rbFree(ids, ROW_BODIES * sizeof *ids);
    rbDestroyWorld(work.world);
}

static void measureGrowth(rbBench* bench)
{
    double first = 0.0;
    double last = 0.0;
    for (int count = GROWTH_MIN; count <= GROWTH_MAX; count *= 10) {
        rbFlightWork work = {.world = makeWorld(count, rows[0].motion), .dt = 1e-2};
        advance(&work);
        last = 1e9 * rbBench_Time(advance, &work, SECONDS) / count;
        first = count == GROWTH_MIN ? last : first;
        rbDestroyWorld(work.world);
        char name[64];
        (void)snprintf(name, sizeof name, "exact, %d bodies", count);
        addRow(bench, name, "time per body and state", last, "ns", NAN);
    }
    addRow(bench, "exact", "growth per body, 1e3 to 1e6", last / first, "1", NAN);
}

static void run(rbBench* bench)
{
    timeRows(bench);
    timeQueries(bench);
    measureMemory(bench);
    measureGrowth(bench);
}

const rbBenchSuite rbSuiteFlight = {
    .name = "flight",
    .help = "free flight: cost of each motion row, memory, growth from 1e3 to 1e6 bodies",
    .run = run,
};
