// What threads gain: walls and piles of spheres at accuracy game, steps on one thread and on all
// cores in turn, in the same world.
//
// The serial share needs no quiet machine: blocks run one after the other on this thread, as a
// scheduler of the host would run them, and its CPU time outside of them is that of the serial
// part. The last columns are the time of a step by this share: serial + shared / threads.
#define _DEFAULT_SOURCE // sysconf
#include "base/core/timer.h"
#include "contact_experiments.h"
#include "contact_runs.h"

#include <math.h>
#include <unistd.h>

#define STEP (1.0 / 60.0) // s
#define TURN 5            // steps on one number of threads
#define TURNS 8           // of each number

typedef struct ThreadsCase {
    const char* name;
    rbContactScene (*make)(int size);
    int size;
    int settling; // steps before
} ThreadsCase;

static const ThreadsCase cases[] = {
    {"wall of 5050 boxes", rbMakePyramidScene, 100, 30},
    {"wall of 20100 boxes", rbMakePyramidScene, 200, 15},
    {"8000 spheres, falling", rbMakeSpheresScene, 20, 20},
    {"8000 spheres, settled", rbMakeSpheresScene, 20, 300},
    {"27000 spheres, falling", rbMakeSpheresScene, 30, 20},
    {"27000 spheres, settled", rbMakeSpheresScene, 30, 300},
};
static const ThreadsCase quickCases[] = {{"wall of 1275 boxes", rbMakePyramidScene, 50, 2}};

static rbWorld* create(const ThreadsCase* c, const rbTaskHost* host)
{
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.step.step = STEP;
    rbWorldDef_SetAccuracy(&def, RB_ACCURACY_GAME);
    def.contact.isOverlapAllowed = true;
    if (host != NULL) {
        def.tasks = *host;
    }
    rbContactScene scene = c->make(c->size);
    rbWorld* world = rbContactScene_CreateWorldBy(&scene, def, NULL, &error);
    rbDestroyContactScene(&scene);
    if (world == NULL) {
        (void)fprintf(stderr, "rattleback: %s\n", error.message);
    }
    return world;
}

static void advance(rbWorld* world, int first, int count)
{
    for (int i = first; i < first + count; ++i) {
        (void)rbWorld_AdvanceTo(world, rbGetStepTime(i + 1, STEP));
    }
}

// Blocks one after the other; the context receives their CPU time.
static void runInPlace(rbBlockFn* blockFn, void* work, int blockCount, void* context)
{
    double start = rbGetThreadTime();
    for (int i = 0; i < blockCount; ++i) {
        blockFn(i, work);
    }
    *(double*)context += rbGetThreadTime() - start;
}

// The serial share of a step.
static double measureShare(const ThreadsCase* c, int steps)
{
    double shared = 0.0;
    rbTaskHost host = {.runFn = runInPlace, .context = &shared, .workerCount = 2};
    rbWorld* world = create(c, &host);
    if (world == NULL) {
        return NAN;
    }
    advance(world, 0, c->settling);
    shared = 0.0;
    double start = rbGetThreadTime();
    advance(world, c->settling, steps);
    double all = rbGetThreadTime() - start;
    rbDestroyWorld(world);
    return 1.0 - shared / all;
}

static void record(rbBench* bench, const char* name, const char* metric, double value,
                   const char* unit)
{
    rbBenchRow row = {.engine = "rattleback", .result = "threads", .value = value, .errorMax = NAN};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", name);
    (void)snprintf(row.metric, sizeof row.metric, "%s", metric);
    (void)snprintf(row.unit, sizeof row.unit, "%s", unit);
    rbBench_Record(bench, row);
}

// The fastest turn of each number: other load on the machine only ever adds time.
static void runCase(rbBench* bench, const ThreadsCase* c, int cores)
{
    double times[2] = {INFINITY, INFINITY}; // s a step, on one thread, on all cores
    rbSetThreadCount(cores);
    rbWorld* world = create(c, NULL);
    if (world == NULL) {
        return;
    }
    advance(world, 0, c->settling);
    int turns = bench->isQuick ? 1 : TURNS;
    for (int i = 0; i < 2 * turns; ++i) {
        rbSetThreadCount(i % 2 == 0 ? 1 : cores);
        double start = rbGetWallTime();
        advance(world, c->settling + TURN * i, TURN);
        times[i % 2] = fmin(times[i % 2], (rbGetWallTime() - start) / TURN);
    }
    rbDestroyWorld(world);
    double share = measureShare(c, TURN * (bench->isQuick ? 1 : 2));
    record(bench, c->name, "time of a step, one thread", 1e3 * times[0], "ms");
    record(bench, c->name, "time of a step, all cores", 1e3 * times[1], "ms");
    record(bench, c->name, "gain", times[0] / times[1], "1");
    record(bench, c->name, "serial share", share, "1");
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-24s %9.2f %9.2f %7.2f %8.1f %% %7.2f %7.2f\n", c->name,
                      1e3 * times[0], 1e3 * times[1], times[0] / times[1], 100.0 * share,
                      1.0 / (share + (1.0 - share) / 2.0), 1.0 / (share + (1.0 - share) / 16.0));
        (void)fflush(bench->text);
    }
}

void rbRunThreadsExperiment(rbBench* bench)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int cores = online < 2 ? 2 : online > 64 ? 64 : (int)online;
    if (bench->text != NULL) {
        (void)fprintf(bench->text,
                      "\nThreads, accuracy game, 60 Hz; by the clock on 1 and %d threads, and what "
                      "the serial share allows\n  %-24s %9s %9s %7s %10s %7s %7s\n",
                      cores, "world", "1: ms", "all: ms", "gain", "serial", "of 2", "of 16");
    }
    const ThreadsCase* list = bench->isQuick ? quickCases : cases;
    int count = bench->isQuick ? 1 : (int)(sizeof cases / sizeof cases[0]);
    for (int i = 0; i < count; ++i) {
        rbBench_ShowProgress(bench, list[i].name);
        runCase(bench, &list[i], cores);
    }
    rbBench_ShowProgress(bench, NULL);
    rbSetThreadCount(1);
}
