// Broad phases: cost of moving one box and querying its partners, and of finding all pairs, for
// each row of the table, from 1e2 to 1e5 boxes. Rows whose single operation is O(n) stop at 1e4.
#include "base/core/random.h"
#include "bench.h"

#include <rattleback/broadphase.h>

#include <math.h>

#define SECONDS 0.1 // a row
#define COUNT_MIN 100
#define COUNT_MAX 100000
#define COUNT_MAX_QUICK 1000
#define COUNT_MAX_LINEAR 10000

typedef struct rbBoxes {
    rbBroadPhase* broad;
    rbBounds* boxes;
    int count;
    int moves;   // a call
    rbVec3 size; // m, of the space
    rbRandom random;
    rbIdList found;
    int64_t partners;
    int64_t placed;
} rbBoxes;

// Spheres that fill 0.3 of a cube, each in a box 1.3 diameters wide: a hard-sphere gas with room to
// move.
static void makeEqual(rbBoxes* work)
{
    double edge = 1.3;
    double side = cbrt(work->count * (RB_PI / 6.0) / 0.3);
    work->size = rbMakeVec3(side, side, side);
    for (int i = 0; i < work->count; ++i) {
        work->boxes[i].upper = rbMakeVec3(edge, edge, edge);
    }
}

// Cubes with edges of 1e-3 to 1, equally many in each decade, that fill 0.3 of a cube.
static void makeDecades(rbBoxes* work)
{
    double volume = 0.0;
    for (int i = 0; i < work->count; ++i) {
        double edge = pow(10.0, -3.0 * rbRandom_Unit(&work->random));
        work->boxes[i].upper = rbMakeVec3(edge, edge, edge);
        volume += edge * edge * edge;
    }
    double side = cbrt(volume / 0.3);
    work->size = rbMakeVec3(side, side, side);
}

// Equal boxes in one layer, 1.25 of them per area of one box.
static void makeFlat(rbBoxes* work)
{
    double side = sqrt(work->count / 1.25);
    work->size = rbMakeVec3(side, side, 0.0);
    for (int i = 0; i < work->count; ++i) {
        work->boxes[i].upper = rbMakeVec3(1.0, 1.0, 1.0);
    }
}

static const struct {
    const char* name;
    void (*make)(rbBoxes* work); // upper corners as for lower corners at 0, and the size
} scenes[] = {{"equal", makeEqual}, {"3 decades", makeDecades}, {"plane", makeFlat}};

#define SCENE_COUNT ((int)(sizeof scenes / sizeof scenes[0]))

static rbBoxes makeBoxes(int scene, int count, rbBroadPhaseType type)
{
    rbBoxes work = {.count = count, .moves = count < 1000 ? count : 1000, .random = {11}};
    work.boxes = rbAlloc((size_t)count * sizeof *work.boxes);
    scenes[scene].make(&work);
    for (int i = 0; i < count; ++i) {
        double x = rbRandom_Range(&work.random, 0.0, work.size.x);
        double y = rbRandom_Range(&work.random, 0.0, work.size.y);
        rbVec3 lower = rbMakeVec3(x, y, rbRandom_Range(&work.random, 0.0, work.size.z));
        work.boxes[i] = (rbBounds){lower, rbAdd(lower, work.boxes[i].upper)};
    }
    work.broad = rbCreateBroadPhase(type, 0.0);
    rbBroadPhase_PlaceAll(work.broad, work.boxes, count);
    return work;
}

static void freeBoxes(rbBoxes* work)
{
    rbFree(work->boxes, (size_t)work->count * sizeof *work->boxes);
    rbIdList_Free(&work->found);
    rbDestroyBroadPhase(work->broad);
}

// A step of up to 0.3 edges along an axis that stays within the space.
static double step(rbRandom* random, double at, double edge, double size)
{
    double shift = 0.3 * edge * rbRandom_Symmetric(random);
    return at + shift < 0.0 || at + shift > size ? 0.0 : shift;
}

static void placeSome(void* context)
{
    rbBoxes* work = context;
    for (int i = 0; i < work->moves; ++i) {
        int id = rbRandom_Index(&work->random, work->count);
        rbBounds* box = &work->boxes[id];
        double edge = box->upper.x - box->lower.x;
        rbVec3 shift = rbMakeVec3(step(&work->random, box->lower.x, edge, work->size.x),
                                  step(&work->random, box->lower.y, edge, work->size.y),
                                  step(&work->random, box->lower.z, edge, work->size.z));
        *box = (rbBounds){rbAdd(box->lower, shift), rbAdd(box->upper, shift)};
        rbBroadPhase_Place(work->broad, id, *box, &work->found);
        work->partners += work->found.count;
    }
    work->placed += work->moves;
}

static void findAll(void* context)
{
    rbBoxes* work = context;
    rbBroadPhase_FindPairs(work->broad, &work->found);
}

static void addRow(rbBench* bench, const char* caseName, rbBroadPhaseType type, const char* metric,
                   double value)
{
    rbBenchRow row = {.value = value, .result = "pairs", .errorMax = NAN};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", caseName);
    (void)snprintf(row.engine, sizeof row.engine, "%s", rbBroadPhaseType_Name(type));
    (void)snprintf(row.metric, sizeof row.metric, "%s", metric);
    (void)snprintf(row.unit, sizeof row.unit, "%s", "ns");
    rbBench_Add(bench, row);
}

static bool isLinear(rbBroadPhaseType type)
{
    return type == rbBroadPhaseType_Find("naive") || type == rbBroadPhaseType_Find("sweep-1d") ||
           type == rbBroadPhaseType_Find("sweep-2d");
}

// Both measures of a row over the numbers of boxes, and the growth of the first.
static void measureRow(rbBench* bench, int scene, rbBroadPhaseType type)
{
    int most = bench->isQuick ? COUNT_MAX_QUICK : COUNT_MAX;
    most = isLinear(type) && most > COUNT_MAX_LINEAR ? COUNT_MAX_LINEAR : most;
    double first = 0.0;
    double last = 0.0;
    char name[64];
    for (int count = COUNT_MIN; count <= most; count *= 10) {
        rbBoxes work = makeBoxes(scene, count, type);
        (void)snprintf(name, sizeof name, "%s, %d boxes", scenes[scene].name, count);
        placeSome(&work);
        double seconds = bench->isQuick ? 1e-3 : SECONDS;
        last = 1e9 * rbBench_Time(placeSome, &work, seconds) / work.moves;
        first = count == COUNT_MIN ? last : first;
        addRow(bench, name, type, "place and partners", last);
        addRow(bench, name, type, "all pairs, per box",
               1e9 * rbBench_Time(findAll, &work, seconds) / count);
        if (type == rbBroadPhaseType_Find("naive") && bench->text != NULL) {
            (void)fprintf(bench->text, "  %-26s %.2f partners a box\n", name,
                          (double)work.partners / (double)work.placed);
        }
        freeBoxes(&work);
    }
    rbBenchRow row = {.value = last / first, .unit = "1", .result = "pairs", .errorMax = NAN};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", scenes[scene].name);
    (void)snprintf(row.engine, sizeof row.engine, "%s", rbBroadPhaseType_Name(type));
    (void)snprintf(row.metric, sizeof row.metric, "growth of place, 1e2 to %.0e", (double)most);
    rbBench_Add(bench, row);
}

static void run(rbBench* bench)
{
    for (int scene = 0; scene < SCENE_COUNT; ++scene) {
        for (int type = RB_BROAD_TREE; type < rbBroadPhaseType_GetCount(); ++type) {
            measureRow(bench, scene, (rbBroadPhaseType)type);
        }
    }
}

const rbBenchSuite rbSuiteBroadphase = {
    .name = "broadphase",
    .help = "broad phases: one box moved and its partners, all pairs, from 1e2 to 1e5 boxes",
    .run = run,
};
