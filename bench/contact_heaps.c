// Falling heaps of 1000 bodies to the tolerances that the accuracy `engineering` promises, from the
// first collision until they have nearly come to rest.
#include "contact_experiments.h"
#include "contact_scenes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEP (1.0 / 60.0)
#define SIDE 10
#define STEPS_QUICK 5
// Until the bodies have fallen, and until they nearly rest.
static const int ends[2] = {120, 300};

typedef struct rbHeapTimes {
    double sum; // s of CPU
    double worst;
    int steps;
    int64_t missed;
    double left; // largest error, of what is asked for
} rbHeapTimes;

static rbContactScene makeSpheres(void)
{
    return rbMakeSpheresScene(SIDE);
}

static rbContactScene makeMixed(void)
{
    return rbMakeMixedScene(SIDE, SIDE);
}

static const struct {
    const char* name;
    rbContactScene (*make)(void);
} heaps[] = {
    {"spheres1000", makeSpheres},
    {"mixed1000", makeMixed},
    {"terrain1000", rbMakeTerrainScene},
};
#define HEAP_COUNT ((int)(sizeof heaps / sizeof heaps[0]))

static void record(rbBench* bench, const char* name, const rbHeapTimes* times, int first)
{
    const struct {
        const char* metric;
        double value;
        const char* unit;
    } rows[] = {
        {"mean step", 1e3 * times->sum / times->steps, "ms"},
        {"worst step", 1e3 * times->worst, "ms"},
        {"missed steps", (double)times->missed, "1"},
        {"largest error of tolerance", times->left, "1"},
    };
    rbBenchRow row = {.engine = "rattleback", .errorMax = NAN};
    (void)snprintf(row.caseName, sizeof row.caseName, "heap %s", name);
    (void)snprintf(row.result, sizeof row.result, "%s", first == 1 ? "falling" : "settling");
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); ++i) {
        (void)snprintf(row.metric, sizeof row.metric, "%s", rows[i].metric);
        (void)snprintf(row.unit, sizeof row.unit, "%s", rows[i].unit);
        row.value = rows[i].value;
        rbBench_Record(bench, row);
    }
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-12s %4d to %3d  %8.1f %8.1f %7lld %10.3g\n", name, first,
                      first + times->steps - 1, rows[0].value, rows[1].value,
                      (long long)times->missed, times->left);
    }
}

static void runHeap(rbBench* bench, int heap)
{
    rbContactScene scene = heaps[heap].make();
    rbWorldDef def = rbDefaultWorldDef();
    rbWorldDef_SetAccuracy(&def, RB_ACCURACY_ENGINEERING);
    def.step.step = STEP;
    rbContactTolerance allowed = rbContactSettings_GetTolerance(&def.contact);
    def.contact.isOverlapAllowed = true; // corners of the mixed heap overlap at the start
    rbError error = {0};
    rbWorld* world = rbContactScene_CreateWorldBy(&scene, def, NULL, &error);
    if (world == NULL) {
        (void)fprintf(stderr, "%s\n", error.message);
        rbDestroyContactScene(&scene);
        return;
    }
    rbContactStatistics before = rbWorld_GetContactStatistics(world);
    for (int part = 0, step = 0; part < (bench->isQuick ? 1 : 2); ++part) {
        rbHeapTimes times = {0};
        int first = step + 1;
        int end = bench->isQuick ? STEPS_QUICK : ends[part];
        while (step < end) {
            double start = rbGetCpuTime();
            (void)rbWorld_AdvanceTo(world, rbGetStepTime(++step, STEP));
            double used = rbGetCpuTime() - start;
            times.sum += used;
            times.worst = fmax(times.worst, used);
            times.steps += 1;
        }
        rbContactStatistics now = rbWorld_GetContactStatistics(world);
        times.missed = now.unmetSteps - before.unmetSteps;
        // the largest so far
        times.left = fmax(now.gapErrorMax / allowed.gap, now.speedErrorMax / allowed.speed);
        record(bench, heaps[heap].name, &times, first);
        before = now;
    }
    rbDestroyWorld(world);
    rbDestroyContactScene(&scene);
}

void rbRunHeapsExperiment(rbBench* bench)
{
    if (bench->text != NULL) {
        (void)fprintf(bench->text,
                      "\nFalling heaps, 60 Hz, 1e-5 m, 1e-4 m/s; error: the largest so far, of the "
                      "tolerance\n  %-12s %11s  %8s %8s %7s %10s\n",
                      "heap", "steps", "mean ms", "worst ms", "missed", "error");
    }
    for (int i = 0; i < HEAP_COUNT; ++i) {
        rbBench_ShowProgress(bench, heaps[i].name);
        runHeap(bench, i);
    }
    rbBench_ShowProgress(bench, NULL);
}
