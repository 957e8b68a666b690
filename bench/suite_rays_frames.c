// Experiments E-10 and E-11 of the specification of rays: how the time per frame grows with the
// objects and with their rays. The published times for comparison are from two Pentium 4 at 3.4 GHz
// (2005).
#include "suite_rays.h"

#include <rattleback/lab_ray_frames.h>

#include <math.h>
#include <stdlib.h>

#define FRAME_BUDGET (1.0 / 24.0) // s
#define REPEATS 5                 // repeats of a scene; the least CPU time of each frame is kept

#define FRAMES_MAX 600

typedef struct rbFrameCell {
    double times[FRAMES_MAX]; // s, of each frame, the least of the repeats
    int frameCount;
    double largest, mean, p99; // s
    rbFrameCounts counts;
    int collisions;
    double firstTime; // s, of the first collision; NaN: none
} rbFrameCell;

// A sphere of radius 1 m that moves to a point at 1 m/s.
static bool addSphere(rbRayFrames* frames, rbVec3 from, rbVec3 to)
{
    rbPathDef path = rbDefaultPathDef();
    path.speed = 1.0;
    path.points = &to;
    path.pointCount = 1;
    rbGeometry* sphere = rbCreateSphere(1.0, NULL);
    rbFrameBodyDef def = {
        .geometry = sphere, .transform = {from, {1.0, 0.0, 0.0, 0.0}}, .path = &path};
    bool isAdded = rbRayFrames_AddBody(frames, &def, NULL) == RB_STATUS_OK;
    rbDestroyGeometry(sphere);
    return isAdded;
}

static rbRayFrames* makeFrames(int rays, bool isAccelerated)
{
    rbRayFrameSettings settings = rbDefaultRayFrameSettings();
    settings.rays.pattern = RB_RAYS_LATTICE;
    settings.rays.isOneWay = true;
    settings.rays.count = rays;
    settings.isAccelerated = isAccelerated;
    return rbCreateRayFrames(&settings, NULL);
}

// Runs a scene and keeps the times that are smaller than before.
static void runFrames(rbRayFrames* frames, double duration, rbFrameCell* cell)
{
    cell->frameCount = 0;
    cell->firstTime = NAN;
    rbStatus status = rbRayFrames_Prepare(frames, duration, NULL);
    while (status == RB_STATUS_OK && cell->frameCount < FRAMES_MAX &&
           rbRayFrames_GetTime(frames) < duration) {
        double start = rbGetCpuTime();
        status = rbRayFrames_Update(frames, NULL);
        double* time = &cell->times[cell->frameCount++];
        *time = fmin(*time, rbGetCpuTime() - start);
    }
    const rbRayCollision* collisions = rbRayFrames_GetCollisions(frames, &cell->collisions);
    for (int i = 0; i < cell->collisions; ++i) {
        cell->firstTime = fmin(cell->firstTime, collisions[i].time);
    }
    cell->counts = rbRayFrames_GetCounts(frames);
    rbDestroyRayFrames(frames);
}

static void startCell(rbFrameCell* cell)
{
    for (int i = 0; i < FRAMES_MAX; ++i) {
        cell->times[i] = INFINITY;
    }
}

static int compareTimes(const void* a, const void* b)
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

static void finishCell(rbFrameCell* cell)
{
    int count = cell->frameCount;
    cell->mean = 0.0;
    for (int i = 0; i < count; ++i) {
        cell->mean += cell->times[i] / count;
    }
    qsort(cell->times, (size_t)count, sizeof(double), compareTimes);
    cell->largest = count > 0 ? cell->times[count - 1] : (double)NAN;
    cell->p99 = count > 0 ? cell->times[(99 * count - 1) / 100] : (double)NAN;
}

// Start positions of E-10: corners of a cube of edge 20 m, then midpoints of its edges.
static const rbVec3 cubePlaces[20] = {
    {-10, 10, 10}, {10, 10, 10},   {10, -10, 10},   {-10, -10, 10}, {-10, 10, -10},
    {10, 10, -10}, {10, -10, -10}, {-10, -10, -10}, {-10, 10, 0},   {10, 10, 0},
    {10, -10, 0},  {-10, -10, 0},  {-10, 0, 10},    {10, 0, 10},    {-10, 0, -10},
    {10, 0, -10},  {0, 10, 10},    {0, 10, -10},    {0, -10, -10},  {0, -10, 10},
};

static void runCube(int objects, int rays, rbFrameCell* cell)
{
    startCell(cell);
    for (int repeat = 0; repeat < REPEATS; ++repeat) {
        rbRayFrames* frames = makeFrames(rays, true);
        for (int i = 0; i < objects; ++i) {
            (void)addSphere(frames, cubePlaces[i], (rbVec3){0.0, 0.0, 0.0});
        }
        runFrames(frames, 18.0, cell);
    }
    finishCell(cell);
}

static void runRows(int rays, bool isAccelerated, rbFrameCell* cell)
{
    startCell(cell);
    for (int repeat = 0; repeat < REPEATS; ++repeat) {
        rbRayFrames* frames = makeFrames(rays, isAccelerated);
        for (int i = 0; i < 12; ++i) {
            bool isBlue = i < 6;
            double y = isBlue ? 7.5 - 3.0 * i : 9.0 - 3.0 * (i - 6);
            double x = isBlue ? -10.0 : 10.0;
            (void)addSphere(frames, (rbVec3){x, y, 0.0}, (rbVec3){-x, y, 0.0});
        }
        runFrames(frames, 20.0, cell);
    }
    finishCell(cell);
}

static void record(rbBench* bench, const char* caseName, const rbFrameCell* cell)
{
    const struct {
        const char* metric;
        double value;
    } values[3] = {{"largest of a frame", cell->largest},
                   {"mean of a frame", cell->mean},
                   {"99 % of a frame", cell->p99}};
    for (int i = 0; i < 3; ++i) {
        rbBenchRow row = {.value = 1e3 * values[i].value, .errorMax = NAN};
        (void)snprintf(row.caseName, sizeof row.caseName, "%s", caseName);
        (void)snprintf(row.engine, sizeof row.engine, "rattleback");
        (void)snprintf(row.metric, sizeof row.metric, "%s", values[i].metric);
        (void)snprintf(row.unit, sizeof row.unit, "ms");
        (void)snprintf(row.result, sizeof row.result, "step");
        rbBench_Record(bench, row);
    }
}

static void printCell(FILE* text, const rbFrameCell* cell, double published)
{
    (void)fprintf(text, " %7.3f %7.4f %7.3f %5.0f |", 1e3 * cell->largest, 1e3 * cell->mean,
                  1e3 * cell->p99, published);
}

static void runCubes(rbBench* bench, rbFrameCell* cell)
{
    static const int objects[7] = {2, 4, 6, 8, 10, 15, 20};
    static const int rays[7] = {1, 5, 20, 40, 60, 80, 100};
    static const double published[7][7] = {
        {1, 1, 1, 1, 1, 3, 3},       {1, 3, 1, 5, 4, 6, 9},     {2, 2, 4, 7, 9, 9, 20},
        {2, 3, 5, 16, 19, 18, 33},   {3, 6, 7, 12, 21, 25, 34}, {4, 6, 9, 22, 20, 29, 43},
        {6, 12, 17, 33, 49, 69, 78},
    };
    double largest[7][7];
    FILE* text = bench->text;
    if (text != NULL) {
        (void)fprintf(text,
                      "\n  E-10: spheres that all move to one point, ms per frame: largest, mean, "
                      "99 %%, largest published\n    objects");
        for (int j = 2; j < 7; j += 2) {
            (void)fprintf(text, " %22d rays    |", rays[j]);
        }
        (void)fputc('\n', text);
    }
    for (int i = 0; i < 7; i += bench->isQuick ? 3 : 1) {
        if (text != NULL) {
            (void)fprintf(text, "    %7d", objects[i]);
        }
        double firstTime = NAN;
        for (int j = 0; j < 7; ++j) {
            if (bench->isQuick && j % 2 != 0) {
                continue;
            }
            runCube(objects[i], rays[j], cell);
            char name[64];
            (void)snprintf(name, sizeof name, "E-10, %d objects, %d rays", objects[i], rays[j]);
            record(bench, name, cell);
            firstTime = cell->firstTime;
            largest[i][j] = cell->largest;
            if (text != NULL && j >= 2 && j % 2 == 0) {
                printCell(text, cell, published[i][j]);
            }
        }
        if (text != NULL) {
            (void)fprintf(text, "  first contact %.4f s\n", firstTime);
            (void)fflush(text);
        }
    }
    if (text != NULL) {
        (void)fprintf(
            text,
            "    the largest grows like objects to the power of %.2f (published %.2f; "
            "100 rays, 2 to 20) and rays to the power of %.2f (published %.2f; 20 objects, "
            "1 to 100)\n",
            log10(largest[6][6] / largest[0][6]), log10(published[6][6] / published[0][6]),
            0.5 * log10(largest[6][6] / largest[6][0]),
            0.5 * log10(published[6][6] / published[6][0]));
    }
}

static void runCrossing(rbBench* bench, rbFrameCell* cell)
{
    static const int rays[8] = {5, 10, 20, 50, 80, 100, 120, 500};
    static const double published[2][8] = {{2, 4, 5, 6, 7, 10, 18, 61}, {2, 2, 3, 5, 6, 9, 9, 39}};
    FILE* text = bench->text;
    if (text != NULL) {
        (void)fprintf(text,
                      "\n  E-11: two crossing rows, ms per frame: largest, mean, 99 %%, "
                      "largest published\n       rays %28s       | %28s\n",
                      "all pairs", "pairs whose swept boxes meet");
    }
    for (int j = 0; j < 8; ++j) {
        if (bench->isQuick && j % 4 != 0) {
            continue;
        }
        if (text != NULL) {
            (void)fprintf(text, "    %7d", rays[j]);
        }
        for (int kind = 0; kind < 2; ++kind) {
            runRows(rays[j], kind == 1, cell);
            char name[64];
            (void)snprintf(name, sizeof name, "E-11, %d rays, %s", rays[j],
                           kind == 1 ? "swept boxes" : "all pairs");
            record(bench, name, cell);
            if (text != NULL) {
                printCell(text, cell, published[kind][j]);
                (void)fprintf(text, " %2d pairs, %2d collide |", (int)cell->counts.pairsListed,
                              cell->collisions);
            }
        }
        if (text != NULL) {
            (void)fputc('\n', text);
            (void)fflush(text);
        }
    }
    if (text != NULL) {
        (void)fprintf(text, "    the budget of a frame is %.1f ms\n", 1e3 * FRAME_BUDGET);
    }
}

void rbRunRayFrames(rbBench* bench)
{
    rbBench_ShowProgress(bench, "rays: frames");
    rbBench_ShowProgress(bench, NULL);
    rbFrameCell* cell = rbAlloc(sizeof *cell);
    runCubes(bench, cell);
    runCrossing(bench, cell);
    rbFree(cell, sizeof *cell);
}
