#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include "base/core/timer.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const rbBenchSuite* const suites[] = {
    &rbSuiteAccuracy,     &rbSuiteBroadphase, &rbSuiteContacts,     &rbSuiteConvex,
    &rbSuiteDistanceWork, &rbSuiteEvents,     &rbSuiteFlight,       &rbSuiteJoints,
    &rbSuiteJointsPeers,  &rbSuiteMath,       &rbSuiteMeshDistance, &rbSuiteRays,
#ifdef RB_MPI
    &rbSuiteCluster,
#endif
    &rbSuiteThroughput};

const rbBenchSuite* const* rbGetBenchSuites(int* count)
{
    *count = (int)(sizeof suites / sizeof suites[0]);
    return suites;
}

void rbBench_Record(rbBench* bench, rbBenchRow row)
{
    row.suite = bench->suite;
    rbArray_Push(bench->rows, row);
}

void rbBench_ShowProgress(const rbBench* bench, const char* text)
{
    if (bench->progress != NULL) {
        (void)fprintf(bench->progress, "\r%s\033[K", text != NULL ? text : "");
        (void)fflush(bench->progress);
    }
}

double rbGetCpuTime(void)
{
    return rbGetThreadTime();
}

void rbBench_Add(rbBench* bench, rbBenchRow row)
{
    rbBench_Record(bench, row);
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-26s %-14s %-34s %12.4g %-6s", row.caseName, row.engine,
                      row.metric, row.value, row.unit);
        if (isfinite(row.errorMax)) {
            (void)fprintf(bench->text, "  error %.2g", row.errorMax);
        }
        // ratio to our own row of the same case, metric and result kind, with no larger error
        for (int i = 0; i + 1 < bench->rows.count; ++i) {
            const rbBenchRow* ours = &bench->rows.data[i];
            if (strcmp(row.engine, "rattleback") != 0 && strcmp(ours->engine, "rattleback") == 0 &&
                ours->suite == bench->suite && strcmp(ours->caseName, row.caseName) == 0 &&
                strcmp(ours->metric, row.metric) == 0 && strcmp(ours->result, row.result) == 0) {
                (void)fprintf(bench->text, "  ours / theirs %.2f", ours->value / row.value);
            }
        }
        (void)fputc('\n', bench->text);
        (void)fflush(bench->text);
    }
}

void rbBench_Draw(const rbBench* bench, rbBenchDrawFn* draw, const struct rbWorkPanel* panels,
                  int count)
{
    if (bench->plotFolder == NULL) {
        return;
    }
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.svg", bench->plotFolder, bench->suite);
    rbError error = {0};
    if (draw(panels, count, path, &error) != RB_STATUS_OK) {
        (void)fprintf(stderr, "rattleback: %s\n", error.message);
    } else if (bench->text != NULL) {
        (void)fprintf(bench->text, "  drawn: %s\n", path);
    }
}

double rbBench_Time(void (*work)(void* context), void* context, double seconds)
{
    double best = INFINITY;
    double begin = rbGetCpuTime();
    for (int repeat = 0; repeat < 3 || rbGetCpuTime() - begin < seconds; ++repeat) {
        double start = rbGetCpuTime();
        work(context);
        double time = rbGetCpuTime() - start;
        best = time < best ? time : best;
    }
    return best;
}
