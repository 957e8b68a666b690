// Work of the traversal methods of bounding volume hierarchies (E-06), their sorted sequences
// (E-08), and the bounds of a search that is ended by a budget (L-69).
//
// The printed experiment is a "worst case" of two bodies; only its number of elementary tests is
// known. Ours: two tori of 1152 triangles, each through the hole of the other, 3 % of their radius
// apart and, wide, 28 %; a bumpy ball of 1156 triangles nearly concentric in a larger one, so that
// everything is about equally near; and two such balls of the same size at random separated poses.
// Leaves of one face, degree 2, splits by surface area. The printed rows of the greedy methods
// probably had representatives, so our rows of that name have them. Times are of one thread and one
// query, averaged over all poses of a setting.
#include "bench.h"
#include "lab/math/random3.h"

#include <rattleback/lab_distance.h>

#include <math.h>
#include <string.h>

#define SETTING_COUNT 4
#define POSE_COUNT 20   // random ones
#define SECONDS 0.02    // a row
#define LONG_ENOUGH 0.3 // s, of one measurement without repeats

typedef struct rbWorkSetting {
    const char* name;
    rbGeometry* geometries[2];
    rbTransform poses[POSE_COUNT];
    int poseCount;
} rbWorkSetting;

typedef struct rbWorkMethod {
    const char* name;
    rbTraversal traversal;
    bool usesRepresentatives;
    double printed; // elementary tests, 0: none printed
} rbWorkMethod;

static const rbWorkMethod methods[] = {
    {"indifferent", RB_TRAVERSAL_INDIFFERENT, false, 10833},
    {"indifferent +r", RB_TRAVERSAL_INDIFFERENT, true, 6736},
    {"update-minimal", RB_TRAVERSAL_UPDATE_MINIMAL, false, 0},
    {"update-minimal +r", RB_TRAVERSAL_UPDATE_MINIMAL, true, 0},
    {"local", RB_TRAVERSAL_LOCAL, false, 0},
    {"local +r", RB_TRAVERSAL_LOCAL, true, 866},
    {"global", RB_TRAVERSAL_GLOBAL, false, 0},
    {"global +r", RB_TRAVERSAL_GLOBAL, true, 769},
};

#define METHOD_COUNT ((int)(sizeof methods / sizeof methods[0]))
#define PRINTED_NAIVE 1e6

// ---------------------------------------------------------------------------------------- bodies

// A surface over a grid that is closed in both directions.
static rbGeometry* makeTorus(double radius, double tubeRadius, int segments)
{
    int count = segments * segments;
    size_t vertexSize = (size_t)count * sizeof(rbVec3);
    size_t indexSize = (size_t)count * 6 * sizeof(int);
    rbVec3* vertices = rbAlloc(vertexSize);
    int* indices = rbAlloc(indexSize);
    for (int i = 0; i < segments; ++i) {
        double sinU, cosU;
        rbSinCos(2.0 * RB_PI * i / segments, &sinU, &cosU);
        for (int j = 0; j < segments; ++j) {
            double sinV, cosV;
            rbSinCos(2.0 * RB_PI * j / segments, &sinV, &cosV);
            double r = radius + tubeRadius * cosV;
            vertices[i * segments + j] = rbMakeVec3(r * cosU, r * sinU, tubeRadius * sinV);
            int next = (i + 1) % segments * segments;
            int up = (j + 1) % segments;
            const int corners[6] = {i * segments + j, next + j,  next + up,
                                    i * segments + j, next + up, i * segments + up};
            memcpy(indices + (ptrdiff_t)6 * (i * segments + j), corners, sizeof corners);
        }
    }
    rbMeshDef def = {vertices, count, NULL, indices, 2 * count};
    rbGeometry* geometry = rbCreateMesh(&def, NULL);
    rbFree(vertices, vertexSize);
    rbFree(indices, indexSize);
    return geometry;
}

// Rings of vertices between two poles, with random radii within a fraction of the radius.
static rbGeometry* makeBall(double radius, double bump, int rings, rbRandom* random)
{
    int segments = 2 * rings;
    int vertexCount = rings * segments + 2;
    int faceCount = 2 * rings * segments;
    size_t vertexSize = (size_t)vertexCount * sizeof(rbVec3);
    size_t indexSize = (size_t)faceCount * 3 * sizeof(int);
    rbVec3* vertices = rbAlloc(vertexSize);
    int* indices = rbAlloc(indexSize);
    int* end = indices;
    int top = rings * segments;
    vertices[top] = rbMakeVec3(0.0, 0.0, radius);
    vertices[top + 1] = rbMakeVec3(0.0, 0.0, -radius);
    for (int i = 0; i < rings; ++i) {
        double sinU, cosU;
        rbSinCos(RB_PI * (i + 1) / (rings + 1), &sinU, &cosU);
        for (int j = 0; j < segments; ++j) {
            double sinV, cosV;
            rbSinCos(2.0 * RB_PI * j / segments, &sinV, &cosV);
            double r = radius * (1.0 + bump * rbRandom_Symmetric(random));
            vertices[i * segments + j] = rbMakeVec3(r * sinU * cosV, r * sinU * sinV, r * cosU);
        }
    }
    for (int j = 0; j < segments; ++j) {
        int next = (j + 1) % segments;
        int last = (rings - 1) * segments;
        const int caps[6] = {top, j, next, top + 1, last + next, last + j};
        memcpy(end, caps, sizeof caps);
        end += 6;
        for (int i = 0; i + 1 < rings; ++i) {
            int row = i * segments;
            int low = row + segments;
            const int corners[6] = {row + j, low + j, low + next, row + j, low + next, row + next};
            memcpy(end, corners, sizeof corners);
            end += 6;
        }
    }
    rbMeshDef def = {vertices, vertexCount, NULL, indices, faceCount};
    rbGeometry* geometry = rbCreateMesh(&def, NULL);
    rbFree(vertices, vertexSize);
    rbFree(indices, indexSize);
    return geometry;
}

static rbWorkSetting makeSetting(int which)
{
    rbRandom random = {6};
    rbWorkSetting setting = {.poseCount = 1};
    if (which <= 1) {
        double half = sqrt(0.5);
        setting.name = which == 0 ? "tori, near" : "tori, wide";
        setting.geometries[0] = makeTorus(1.0, 0.3, 24);
        setting.geometries[1] = rbGeometry_Retain(setting.geometries[0]);
        double shift = which == 0 ? 1.36 : 1.1;
        setting.poses[0] = (rbTransform){{shift, 0.05, 0.02}, {half, half, 0.0, 0.0}};
        return setting;
    }
    bool isShell = which == 2;
    setting.name = isShell ? "shells" : "random poses";
    setting.geometries[0] = makeBall(0.5, 0.05, 17, &random);
    setting.geometries[1] = makeBall(isShell ? 0.7 : 0.5, 0.05, 17, &random);
    setting.poses[0] = (rbTransform){{0.02, 0.01, 0.005}, rbNormalizeQuat(rbRandom_Quat(&random))};
    if (!isShell) {
        setting.poseCount = POSE_COUNT;
        for (int i = 0; i < POSE_COUNT; ++i) {
            setting.poses[i].q = rbNormalizeQuat(rbRandom_Quat(&random));
            setting.poses[i].p =
                rbScale(rbRandom_Range(&random, 1.1, 1.5), rbRandom_Direction(&random));
        }
    }
    return setting;
}

// --------------------------------------------------------------------------------------- queries

typedef struct rbWorkRun {
    const rbWorkSetting* setting;
    rbVolumeType volume;
    rbDistanceInput input;
    double distances[POSE_COUNT];
    rbDistanceWork work; // over all poses; queueMax is the largest
} rbWorkRun;

static void measureAll(void* context)
{
    rbWorkRun* run = context;
    run->work = (rbDistanceWork){0};
    for (int i = 0; i < run->setting->poseCount; ++i) {
        rbDistanceResult result = {.distance = NAN};
        run->input.transformBtoA = run->setting->poses[i];
        (void)rbMeasureDistance(&run->input, &result, NULL);
        run->distances[i] = result.distance;
        run->work.elementaryTests += result.work.elementaryTests;
        run->work.volumeTests += result.work.volumeTests;
        run->work.volumeUpdates += result.work.volumeUpdates;
        if (result.work.queueMax > run->work.queueMax) {
            run->work.queueMax = result.work.queueMax;
        }
    }
}

static void makeTrees(const rbWorkSetting* setting, rbVolumeType volume, rbHierarchy* trees[2])
{
    rbHierarchyDef def = rbDefaultHierarchyDef();
    def.volume = volume;
    def.leafSize = 1;
    for (int k = 0; k < 2; ++k) {
        trees[k] = rbCreateHierarchy(setting->geometries[k], &def, NULL);
    }
}

static void destroyTrees(rbHierarchy* trees[2])
{
    rbDestroyHierarchy(trees[0]);
    rbDestroyHierarchy(trees[1]);
}

static void addRow(rbBench* bench, const char* caseName, const char* metric, double value,
                   const char* unit, double error)
{
    rbBenchRow row = {.value = value, .result = "distance", .errorMax = error};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", caseName);
    (void)snprintf(row.engine, sizeof row.engine, "rattleback");
    (void)snprintf(row.metric, sizeof row.metric, "%s", metric);
    (void)snprintf(row.unit, sizeof row.unit, "%s", unit);
    rbBench_Record(bench, row);
}

// Counts and time of one method: a line and two rows. Returns elementary tests per query.
static double runMethod(rbBench* bench, rbWorkRun* run, const rbWorkMethod* method,
                        const double* truths, double naive)
{
    run->input.traversal = method->traversal;
    run->input.usesRepresentatives = method->usesRepresentatives;
    int count = run->setting->poseCount;
    double time = rbBench_Time(measureAll, run, bench->isQuick ? 0.0 : SECONDS) / count;
    double error = 0.0;
    for (int i = 0; i < count; ++i) {
        error = fmax(error, fabs(run->distances[i] - truths[i]));
    }
    double tests = (double)run->work.elementaryTests / count;
    double volumeTests = (double)run->work.volumeTests / count;
    double updates = (double)run->work.volumeUpdates / count;
    char volume[32];
    (void)snprintf(volume, sizeof volume, "%s", rbVolumeType_Name(run->volume));
    char name[64];
    (void)snprintf(name, sizeof name, "%s, %s", run->setting->name, volume);
    char metric[48];
    (void)snprintf(metric, sizeof metric, "elementary tests, %s", method->name);
    addRow(bench, name, metric, tests, "", error);
    (void)snprintf(metric, sizeof metric, "time, %s", method->name);
    addRow(bench, name, metric, 1e6 * time, "us", error);
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-12s %-18s %9.0f %9.0f %9.0f %9.1f %9.0f", volume,
                      method->name, tests, volumeTests, updates, 1e6 * time, naive / tests);
        if (method->printed > 0.0) {
            (void)fprintf(bench->text, " %9.0f %9.0f", method->printed,
                          PRINTED_NAIVE / method->printed);
        }
        (void)fputc('\n', bench->text);
        (void)fflush(bench->text);
    }
    return tests;
}

static void runVolume(rbBench* bench, const rbWorkSetting* setting, int volume,
                      const double* truths, double naive)
{
    rbHierarchy* trees[2];
    makeTrees(setting, (rbVolumeType)volume, trees);
    rbWorkRun run = {.setting = setting, .volume = (rbVolumeType)volume};
    run.input = rbDefaultDistanceInput();
    run.input.a = trees[0];
    run.input.b = trees[1];
    double printedWays[4];
    int wayCount = 0;
    bool isLarger = true; // reductions at least the printed ones
    for (int k = 0; k < METHOD_COUNT; ++k) {
        double tests = runMethod(bench, &run, &methods[k], truths, naive);
        if (methods[k].printed > 0.0) {
            printedWays[wayCount++] = tests;
            isLarger = isLarger && naive / tests >= PRINTED_NAIVE / methods[k].printed;
        }
    }
    bool isOrdered = true;
    for (int k = 1; k < wayCount; ++k) {
        isOrdered = isOrdered && printedWays[k] <= printedWays[k - 1];
    }
    if (bench->text != NULL) {
        (void)fprintf(bench->text,
                      "  %-12s order of the printed methods: %s; reductions at least "
                      "the printed ones: %s\n",
                      "", isOrdered ? "yes" : "no", isLarger ? "yes" : "no");
    }
    destroyTrees(trees);
}

static void runSetting(rbBench* bench, const rbWorkSetting* setting)
{
    rbHierarchy* trees[2];
    makeTrees(setting, RB_VOLUME_AABB, trees);
    rbWorkRun run = {.setting = setting, .input = rbDefaultDistanceInput()};
    run.input.a = trees[0];
    run.input.b = trees[1];
    run.input.traversal = RB_TRAVERSAL_NAIVE;
    double start = rbGetCpuTime();
    measureAll(&run);
    double time = (rbGetCpuTime() - start) / setting->poseCount;
    double naive = (double)run.work.elementaryTests / setting->poseCount;
    destroyTrees(trees);
    double nearest = INFINITY;
    double farthest = 0.0;
    for (int i = 0; i < setting->poseCount; ++i) {
        nearest = fmin(nearest, run.distances[i]);
        farthest = fmax(farthest, run.distances[i]);
    }
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %s, %d pose%s, distances %.4f to %.4f m\n", setting->name,
                      setting->poseCount, setting->poseCount == 1 ? "" : "s", nearest, farthest);
        (void)fprintf(bench->text, "  %-12s %-18s %9s %9s %9s %9s %9s %9s %9s\n", "volume",
                      "traversal", "n_B", "n_D", "n_A", "us", "less by", "printed", "less by");
        (void)fprintf(bench->text, "  %-12s %-18s %9.0f %9d %9d %9.0f %9s %9s\n", "none", "naive",
                      naive, 0, 0, 1e6 * time, "", ">1000000");
    }
    addRow(bench, setting->name, "elementary tests, naive", naive, "", 0.0);
    addRow(bench, setting->name, "time, naive", 1e6 * time, "us", 0.0);
    for (int volume = 0; volume < RB_VOLUME_COUNT; ++volume) {
        rbBench_ShowProgress(bench, rbVolumeType_Name((rbVolumeType)volume));
        runVolume(bench, setting, volume, run.distances, naive);
    }
}

// E-08: the same search, the pairs kept in different sequences.
static void runSequences(rbBench* bench, const rbWorkSetting* setting)
{
    rbHierarchy* trees[2];
    makeTrees(setting, RB_VOLUME_AABB, trees);
    rbWorkRun run = {.setting = setting, .input = rbDefaultDistanceInput()};
    run.input.a = trees[0];
    run.input.b = trees[1];
    run.input.usesRepresentatives = false;
    for (int k = 0; k < RB_SEQUENCE_COUNT; ++k) {
        run.input.sequence = (rbSequence)k;
        double start = rbGetCpuTime();
        measureAll(&run);
        double time = rbGetCpuTime() - start;
        if (time < LONG_ENOUGH) { // the list may need seconds: one run is enough
            time = rbBench_Time(measureAll, &run, bench->isQuick ? 0.0 : 5.0 * SECONDS);
        }
        time /= setting->poseCount;
        char metric[48];
        (void)snprintf(metric, sizeof metric, "time, %s", rbSequence_Name(run.input.sequence));
        addRow(bench, setting->name, metric, 1e6 * time, "us", NAN);
        if (bench->text != NULL) {
            (void)fprintf(bench->text, "  %-14s %-10s %10d %12.1f\n", setting->name,
                          rbSequence_Name(run.input.sequence), run.work.queueMax, 1e6 * time);
        }
    }
    destroyTrees(trees);
}

// The bounds known when a budget ends the search.
static void runBudgets(rbBench* bench, const rbWorkSetting* setting)
{
    static const int budgets[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000};
    rbHierarchy* trees[2];
    makeTrees(setting, rbDefaultHierarchyDef().volume, trees);
    rbDistanceInput input = rbDefaultDistanceInput();
    input.a = trees[0];
    input.b = trees[1];
    input.transformBtoA = setting->poses[0];
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  budgets in elementary tests, global +r, %s, %s\n",
                      setting->name, rbVolumeType_Name(rbDefaultHierarchyDef().volume));
        (void)fprintf(bench->text, "  %8s %12s %12s %9s %9s %9s\n", "budget", "lower m", "upper m",
                      "n_B", "n_D", "n_A");
    }
    for (size_t k = 0; k < sizeof budgets / sizeof budgets[0]; ++k) {
        input.budget = budgets[k];
        rbDistanceResult result = {0};
        (void)rbMeasureDistance(&input, &result, NULL);
        char metric[48];
        (void)snprintf(metric, sizeof metric, "gap of the bounds, budget %d", budgets[k]);
        addRow(bench, setting->name, metric, result.distance - result.lower, "m", NAN);
        if (bench->text != NULL) {
            (void)fprintf(bench->text, "  %8d %12.6f %12.6f %9lld %9lld %9lld  %s\n", budgets[k],
                          result.lower, result.distance, result.work.elementaryTests,
                          result.work.volumeTests, result.work.volumeUpdates,
                          rbSearchStop_Name(result.stop));
        }
    }
    destroyTrees(trees);
}

static void run(rbBench* bench)
{
    rbWorkSetting settings[SETTING_COUNT];
    int count = bench->isQuick ? 1 : SETTING_COUNT;
    for (int which = 0; which < count; ++which) {
        settings[which] = makeSetting(which);
        runSetting(bench, &settings[which]);
    }
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  sorted sequences, global traversal, aabb\n");
        (void)fprintf(bench->text, "  %-14s %-10s %10s %12s\n", "setting", "sequence", "longest",
                      "us");
    }
    for (int which = 0; which < count; ++which) {
        runSequences(bench, &settings[which]);
    }
    for (int which = 0; which < count && which < 2; ++which) {
        runBudgets(bench, &settings[which]);
    }
    for (int which = 0; which < count; ++which) {
        rbDestroyGeometry(settings[which].geometries[0]);
        rbDestroyGeometry(settings[which].geometries[1]);
    }
}

const rbBenchSuite rbSuiteDistanceWork = {
    .name = "distance-work",
    .help = "elementary tests, volume tests and updates of hierarchy traversals (E-06)",
    .run = run,
};
