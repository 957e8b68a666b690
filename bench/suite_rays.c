// Rays against a triangle mesh: ours, one by one and in packets, compared with Embree in the same
// run.
//
// The mesh is the bumpy sphere. Incoherent rays start anywhere on a sphere of radius 3 m and aim
// anywhere into the unit ball; coherent rays are those of a pinhole camera. Every engine casts the
// same rays, on one thread; the time is CPU time, the least of the repeats, which alternate between
// the engines so that a busy computer disturbs all alike. Distances are compared with ours.
//
// Embree computes in single precision with the widest vectors of the computer; we compute in double
// precision with those every computer has. Goals are ratios to Embree, as computers differ; the
// absolute goals were stated for a computer where Embree reaches 1.3 and 3.5 million rays per
// second.
#include "suite_rays.h"

#include "base/core/timer.h"
#include "base/math/elementary.h"
#include "bumpy_sphere.h"
#include "collision/geometry/box_tree.h"
#include "lab/math/hyperbolic.h"
#include "lab/math/random3.h"
#include "peers/loader.h"
#include "peers/peer_rays_ours.h"

#include <math.h>
#include <string.h>

#define ENGINES_MAX 8
#define SEED 5u
#define WARM_RAYS 64
#define BUILD_GOAL 0.5 // Embree's time to ours

typedef enum rbRayKind {
    RB_RAYS_INCOHERENT,
    RB_RAYS_COHERENT,
    RB_RAYS_WARM, // the first incoherent ones, repeated
    RB_RAYS_KIND_COUNT
} rbRayKind;

static const struct {
    const char* name;
    double goalRatio; // of our single rays to Embree's, robust
    double goal;      // millions per second
} kinds[RB_RAYS_KIND_COUNT] = {
    [RB_RAYS_INCOHERENT] = {"incoherent", 0.9, 0.75},
    [RB_RAYS_COHERENT] = {"coherent", 0.7, 1.3},
    [RB_RAYS_WARM] = {"incoherent, repeated", 0.0, 0.0},
};

static const struct rbRaySize {
    const char* name;
    int bands, segments;
} sizes[] = {
    {"100 triangles", 6, 10},       {"1,012 triangles", 23, 23},       {"10,080 triangles", 71, 72},
    {"99,904 triangles", 224, 224}, {"1,001,112 triangles", 708, 708},
};
#define SIZE_COUNT ((int)(sizeof sizes / sizeof sizes[0]))

typedef struct rbRayEngine {
    char name[40];
    const rbRayPeerRow* row;
    void* state;
    bool isShared;    // shares the state of the previous engine
    double buildTime; // s
    double time;      // s per ray
    int hitCount;
    double distance; // m, mean
    double errorMax; // m, difference from ours; of rays that both hit
    int disputes;    // rays that only one of the two hits
} rbRayEngine;

typedef struct rbRaySuite {
    rbBench* bench;
    const struct rbRaySize* size;
    rbBumpySphere sphere;
    rbPeerMesh mesh;
    rbRayEngine engines[ENGINES_MAX]; // our single rays first
    int engineCount;
    RB_ARRAY(rbPeerRay) rays;
    double* distances;
    double* ours;
    int goalCount, metCount;
} rbRaySuite;

// --------------------------------------------------------------------------------------- creation

static void addRay(rbRaySuite* suite, rbVec3 origin, rbVec3 target)
{
    rbVec3 d = rbNormalize(rbSub(target, origin));
    rbPeerRay ray = {{origin.x, origin.y, origin.z}, {d.x, d.y, d.z}};
    rbArray_Push(suite->rays, ray);
}

static void makeRays(rbRaySuite* suite, rbRayKind kind)
{
    rbArray_Free(suite->rays);
    int side = suite->bench->isQuick ? 50 : 500;
    int count = kind == RB_RAYS_WARM ? WARM_RAYS : side * side;
    rbRandom random = {SEED};
    for (int i = 0; i < count; ++i) {
        if (kind == RB_RAYS_COHERENT) {
            int row = i / side;
            rbVec3 target = {(2.0 * (i % side) + 1.0) / side - 1.0, (2.0 * row + 1.0) / side - 1.0,
                             0.0};
            addRay(suite, (rbVec3){0.0, 0.0, 3.0}, target);
        } else {
            rbVec3 origin = rbScale(3.0, rbRandom_Direction(&random));
            rbVec3 direction = rbRandom_Direction(&random);
            addRay(suite, origin, rbScale(rbCbrt(rbRandom_Unit(&random)), direction));
        }
    }
}

static void addEngine(rbRaySuite* suite, const rbRayPeer* peer, int row)
{
    rbRayEngine* engine = &suite->engines[suite->engineCount];
    *engine = (rbRayEngine){.row = &peer->rows[row]};
    (void)snprintf(engine->name, sizeof engine->name, "%s%s%s", peer->library,
                   engine->row->call[0] != '\0' ? " " : "", engine->row->call);
    char text[128];
    (void)snprintf(text, sizeof text, "rays: %s, building: %s", suite->size->name, engine->name);
    rbBench_ShowProgress(suite->bench, text);
    // rows that differ only in the call share the queries
    rbRayEngine* before = suite->engineCount > 0 ? engine - 1 : NULL;
    engine->isShared = before != NULL && before->row->create == engine->row->create;
    engine->state =
        engine->isShared ? before->state : engine->row->create(&suite->mesh, &engine->buildTime);
    suite->engineCount += engine->state != NULL ? 1 : 0;
}

static void makeMesh(rbRaySuite* suite)
{
    rbBumpySphere_Make(&suite->sphere, suite->size->bands, suite->size->segments);
    suite->mesh = (rbPeerMesh){
        .vertices = (const double(*)[3])suite->sphere.vertices.data,
        .triangles = (const int(*)[3])suite->sphere.indices.data,
        .vertexCount = suite->sphere.vertices.count,
        .triangleCount = suite->sphere.triangleCount,
    };
    suite->engineCount = 0;
}

static void freeMesh(rbRaySuite* suite)
{
    for (int k = 0; k < suite->engineCount; ++k) {
        if (!suite->engines[k].isShared) {
            suite->engines[k].row->destroy(suite->engines[k].state);
        }
    }
    suite->engineCount = 0;
    rbBumpySphere_Free(&suite->sphere);
}

// --------------------------------------------------------------------------------------- queries

static void compare(const rbRaySuite* suite, rbRayEngine* engine)
{
    int count = suite->rays.count;
    bool isAny = strstr(engine->name, "any") != NULL;
    engine->hitCount = 0;
    engine->distance = 0.0;
    engine->errorMax = 0.0;
    engine->disputes = 0;
    for (int i = 0; i < count; ++i) {
        bool isHit = isfinite(suite->distances[i]);
        bool isOurs = isfinite(suite->ours[i]);
        engine->hitCount += isHit ? 1 : 0;
        engine->distance += isHit ? suite->distances[i] : 0.0;
        engine->disputes += isHit != isOurs ? 1 : 0;
        if (isHit && isOurs && !isAny) {
            engine->errorMax = fmax(engine->errorMax, fabs(suite->distances[i] - suite->ours[i]));
        }
    }
    engine->distance = engine->hitCount > 0 && !isAny ? engine->distance / engine->hitCount : NAN;
}

static void askEngines(rbRaySuite* suite, rbRayKind kind)
{
    char text[160];
    (void)snprintf(text, sizeof text, "rays: %s, %s", suite->size->name, kinds[kind].name);
    rbBench_ShowProgress(suite->bench, text);
    makeRays(suite, kind);
    size_t bytes = (size_t)suite->rays.count * sizeof(double);
    suite->distances = rbAlloc(bytes);
    suite->ours = rbAlloc(bytes);
    int repeats = suite->bench->isQuick ? 1 : (kind == RB_RAYS_WARM ? 200 : 4);
    for (int k = 0; k < suite->engineCount; ++k) {
        suite->engines[k].row->setRays(suite->engines[k].state, suite->rays.data,
                                       suite->rays.count);
        suite->engines[k].time = INFINITY;
    }
    for (int repeat = 0; repeat < repeats; ++repeat) {
        for (int k = 0; k < suite->engineCount; ++k) {
            rbRayEngine* engine = &suite->engines[k];
            double* to = k == 0 ? suite->ours : suite->distances;
            // the previous engine's cache contents are useless here
            engine->row->cast(engine->state, to);
            double start = rbGetCpuTime();
            engine->row->cast(engine->state, to);
            engine->time = fmin(engine->time, (rbGetCpuTime() - start) / suite->rays.count);
            if (repeat == 0) {
                double* kept = suite->distances;
                suite->distances = to;
                compare(suite, engine);
                suite->distances = kept;
            }
        }
    }
    rbFree(suite->distances, bytes);
    rbFree(suite->ours, bytes);
}

// -------------------------------------------------------------------------------------- reporting

static void addRow(rbRaySuite* suite, const char* caseEnd, const rbRayEngine* engine,
                   const char* metric, double value, const char* unit)
{
    rbBenchRow row = {.value = value, .errorMax = engine->errorMax};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s%s%s", suite->size->name,
                   caseEnd[0] != '\0' ? ", " : "", caseEnd);
    (void)snprintf(row.engine, sizeof row.engine, "%s", engine->name);
    (void)snprintf(row.metric, sizeof row.metric, "%s", metric);
    (void)snprintf(row.unit, sizeof row.unit, "%s", unit);
    (void)snprintf(row.result, sizeof row.result, "%s",
                   strstr(engine->name, "any") != NULL ? "bool" : "distance");
    rbBench_Record(suite->bench, row);
}

static void printGoal(rbRaySuite* suite, const char* what, double value, double goal)
{
    bool isMet = value >= goal;
    suite->goalCount += 1;
    suite->metCount += isMet ? 1 : 0;
    (void)fprintf(suite->bench->text, "      %-52s %7.3f, goal %5.2f  %s\n", what, value, goal,
                  isMet ? "pass" : "MISS");
}

static const rbRayEngine* findEngine(const rbRaySuite* suite, const char* name)
{
    for (int k = 0; k < suite->engineCount; ++k) {
        if (strcmp(suite->engines[k].name, name) == 0) {
            return &suite->engines[k];
        }
    }
    return NULL;
}

static void reportKind(rbRaySuite* suite, rbRayKind kind)
{
    FILE* text = suite->bench->text;
    for (int k = 0; k < suite->engineCount; ++k) {
        addRow(suite, kinds[kind].name, &suite->engines[k], "rays", 1e-6 / suite->engines[k].time,
               "M/s");
    }
    if (text == NULL) {
        return;
    }
    rbBench_ShowProgress(suite->bench, NULL);
    (void)fprintf(text, "    %s, %d rays\n", kinds[kind].name, suite->rays.count);
    for (int k = 0; k < suite->engineCount; ++k) {
        const rbRayEngine* engine = &suite->engines[k];
        (void)fprintf(text, "      %-20s %8.3f M/s  %7d hits", engine->name, 1e-6 / engine->time,
                      engine->hitCount);
        if (!isnan(engine->distance)) {
            (void)fprintf(text, "  mean %.6f m", engine->distance);
        }
        if (k > 0 && !isnan(engine->distance)) {
            (void)fprintf(text, "  largest difference %.1e m, hit or not: %d", engine->errorMax,
                          engine->disputes);
        }
        (void)fputc('\n', text);
    }
    const rbRayEngine* embree = findEngine(suite, "embree robust");
    const rbRayEngine* packets = findEngine(suite, "rattleback packets");
    double time = suite->engines[0].time;
    if (packets != NULL) {
        (void)fprintf(text, "      %-52s %7.3f\n", "packets to single rays", time / packets->time);
    }
    if (embree != NULL && !suite->bench->isQuick) {
        printGoal(suite, "single rays, ours to Embree's, robust", embree->time / time,
                  kinds[kind].goalRatio);
    }
    if (!suite->bench->isQuick) {
        printGoal(suite, "millions a second", 1e-6 / time, kinds[kind].goal);
    }
    (void)fflush(text);
}

static size_t getTreeBytes(const rbBoxTree* tree)
{
    return (size_t)tree->nodeCapacity * (sizeof(rbBoxNode) + sizeof(rbTiltedNode)) +
           (size_t)tree->rayNodeCapacity * sizeof(rbRayNode) +
           (size_t)tree->blockCount * sizeof(rbTriangleBlock);
}

// Our tree alone, without the checks of the mesh, in turns with Embree's; the least of three.
static void reportTrees(rbRaySuite* suite)
{
    const rbRayEngine* robust = findEngine(suite, "embree robust");
    double times[2] = {INFINITY, INFINITY};
    double bytes = 0.0;
    for (int repeat = 0; repeat < 3; ++repeat) {
        double start = rbGetThreadTime();
        rbBoxTree* tree = rbCreateBoxTree(suite->sphere.vertices.data,
                                          (const rbIndex3*)suite->sphere.indices.data, NULL,
                                          suite->sphere.triangleCount);
        times[0] = fmin(times[0], rbGetThreadTime() - start);
        bytes = (double)getTreeBytes(tree) / suite->sphere.triangleCount;
        rbDestroyBoxTree(tree);
        double time = INFINITY;
        void* state = robust != NULL ? robust->row->create(&suite->mesh, &time) : NULL;
        if (state != NULL) {
            robust->row->destroy(state);
        }
        times[1] = fmin(times[1], time);
    }
    rbRayEngine ours = {.name = "rattleback tree", .errorMax = NAN};
    addRow(suite, "", &ours, "build", 1e3 * times[0], "ms");
    addRow(suite, "", &ours, "memory a triangle", bytes, "B");
    if (suite->bench->text != NULL) {
        (void)fprintf(suite->bench->text,
                      "      %-20s %8.0f ms, %.0f bytes a triangle with the boxes for distances\n",
                      "our tree alone", 1e3 * times[0], bytes);
        if (isfinite(times[1]) && !suite->bench->isQuick) {
            printGoal(suite, "building, Embree's time to that of our tree", times[1] / times[0],
                      BUILD_GOAL);
        }
    }
}

static void runSpeed(rbRaySuite* suite, const rbRayPeer* const* peers, int peerCount)
{
    suite->size = &sizes[suite->bench->isQuick ? 2 : SIZE_COUNT - 1];
    makeMesh(suite);
    for (int i = 0; i < peerCount; ++i) {
        for (int row = 0; row < peers[i]->rowCount && suite->engineCount < ENGINES_MAX; ++row) {
            addEngine(suite, peers[i], row);
        }
    }
    FILE* text = suite->bench->text;
    rbBench_ShowProgress(suite->bench, NULL);
    if (text != NULL) {
        (void)fprintf(text, "\n  %s\n    build (ours with the checks of the mesh)\n",
                      suite->size->name);
    }
    for (int k = 0; k < suite->engineCount; ++k) {
        rbRayEngine* engine = &suite->engines[k];
        engine->errorMax = NAN;
        if (engine->isShared) {
            continue;
        }
        addRow(suite, "", engine, "build", 1e3 * engine->buildTime, "ms");
        if (text != NULL) {
            (void)fprintf(text, "      %-20s %8.0f ms\n", engine->name, 1e3 * engine->buildTime);
        }
    }
    reportTrees(suite);
    for (int kind = 0; kind < RB_RAYS_WARM; ++kind) {
        askEngines(suite, (rbRayKind)kind);
        reportKind(suite, (rbRayKind)kind);
    }
    freeMesh(suite);
}

// ---------------------------------------------------------------------------------------- growth

// The line a + b x through points by least squares, and the largest distance from it relative to
// the value there.
static void fitLine(const double* x, const double* y, int count, double line[2], double* deviation)
{
    double sums[4] = {0.0};
    for (int i = 0; i < count; ++i) {
        sums[0] += x[i];
        sums[1] += y[i];
        sums[2] += x[i] * x[i];
        sums[3] += x[i] * y[i];
    }
    line[1] = (count * sums[3] - sums[0] * sums[1]) / (count * sums[2] - sums[0] * sums[0]);
    line[0] = (sums[1] - line[1] * sums[0]) / count;
    *deviation = 0.0;
    for (int i = 0; i < count; ++i) {
        *deviation = fmax(*deviation, fabs(line[0] + line[1] * x[i] - y[i]) / y[i]);
    }
}

static void reportGrowth(rbRaySuite* suite, const double* sizesLog, double (*times)[SIZE_COUNT],
                         int count)
{
    FILE* text = suite->bench->text;
    for (int kind = 0; kind < RB_RAYS_KIND_COUNT; ++kind) {
        double line[2];
        double deviation;
        fitLine(sizesLog, times[kind], count, line, &deviation);
        double exponent =
            log2(times[kind][count - 1] / times[kind][0]) / (sizesLog[count - 1] - sizesLog[0]);
        rbRayEngine ours = {.name = "rattleback", .errorMax = deviation};
        addRow(suite, kinds[kind].name, &ours, "time a doubling of the triangles", 1e9 * line[1],
               "ns");
        if (text != NULL) {
            (void)fprintf(text,
                          "    %-22s %6.1f ns + %5.1f ns log2(n), off by at most %2.0f %%; as a "
                          "power of n: %.3f\n",
                          kinds[kind].name, 1e9 * line[0], 1e9 * line[1], 100.0 * deviation,
                          exponent);
        }
    }
    if (text != NULL) {
        (void)fprintf(text, "    the growth beyond log2(n) is memory latency: rays that are "
                            "repeated find the tree in the cache\n");
    }
}

static void runGrowth(rbRaySuite* suite)
{
    FILE* text = suite->bench->text;
    double times[RB_RAYS_KIND_COUNT][SIZE_COUNT];
    double logs[SIZE_COUNT];
    int count = suite->bench->isQuick ? 3 : SIZE_COUNT;
    if (text != NULL) {
        (void)fprintf(text, "\n  growth with the triangles, our single rays, ns per ray\n    %-22s",
                      "");
        for (int kind = 0; kind < RB_RAYS_KIND_COUNT; ++kind) {
            (void)fprintf(text, " %20s", kinds[kind].name);
        }
        (void)fputc('\n', text);
    }
    for (int i = 0; i < count; ++i) {
        suite->size = &sizes[i];
        makeMesh(suite);
        addEngine(suite, &rbRayPeerOurs, 0);
        logs[i] = log2(suite->mesh.triangleCount);
        for (int kind = 0; kind < RB_RAYS_KIND_COUNT; ++kind) {
            askEngines(suite, (rbRayKind)kind);
            times[kind][i] = suite->engines[0].time;
            addRow(suite, kinds[kind].name, &suite->engines[0], "time a ray",
                   1e9 * suite->engines[0].time, "ns");
        }
        rbBench_ShowProgress(suite->bench, NULL);
        if (text != NULL) {
            (void)fprintf(text, "    %-22s", sizes[i].name);
            for (int kind = 0; kind < RB_RAYS_KIND_COUNT; ++kind) {
                (void)fprintf(text, " %20.0f", 1e9 * times[kind][i]);
            }
            (void)fputc('\n', text);
        }
        freeMesh(suite);
    }
    reportGrowth(suite, logs, times, count);
}

// ------------------------------------------------------------------------------------------- run

static bool isWanted(const rbBench* bench, const char* part)
{
    return bench->only == NULL || strcmp(bench->only, part) == 0;
}

static void run(rbBench* bench)
{
    rbRaySuite* suite = rbAllocZero(1, sizeof *suite);
    suite->bench = bench;
    if (isWanted(bench, "speed")) {
        const rbRayPeer* peers[1 + RB_PEERS_MAX] = {&rbRayPeerOurs};
        int peerCount = 1 + (bench->isAlone ? 0 : rbLoadRayPeers(peers + 1));
        if (bench->text != NULL && peerCount == 1 && !bench->isAlone) {
            (void)fprintf(bench->text, "  no peers: 'make bench' installs and builds them\n");
        }
        runSpeed(suite, peers, peerCount);
        if (bench->text != NULL && suite->goalCount > 0) {
            (void)fprintf(bench->text, "    %d of %d goals are met\n", suite->metCount,
                          suite->goalCount);
        }
    }
    if (isWanted(bench, "growth")) {
        runGrowth(suite);
    }
    if (isWanted(bench, "frames")) {
        rbRunRayFrames(bench);
    }
    rbArray_Free(suite->rays);
    rbFree(suite, sizeof *suite);
}

static const char* const parts[] = {"speed", "growth", "frames", NULL};

const rbBenchSuite rbSuiteRays = {
    .name = "rays",
    .help = "rays against a mesh compared with Embree, growth with triangles, and frames of "
            "ray-casting bodies",
    .parts = parts,
    .run = run,
};
