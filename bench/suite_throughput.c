// Pairs per second by iteration and by closed form, compared with the table of the specification
//
//
// The printed table was measured on pairs recorded from a packing. Ours are similar random pairs:
// orientations and directions uniform, sizes of 1 m, B moved along the direction by -0.02 to +0.2 m
// from where it touches A, so that one pair in eleven overlaps, as in the packing. The relative
// tolerance is the printed one, 1e-7. One thread.
//
// Our iteration treats a sphere as a point with a radius, which needs one step. To reproduce the
// printed iteration with its support mapping of the ball, a sphere is also given as an ellipsoid.
#include "bench.h"
#include "lab/math/random3.h"

#include <rattleback/collision.h>

#include <math.h>

#define PAIR_COUNT 2000
#define SECONDS 0.25 // a row

// Table 10: one core of a Xeon E5620 at 2.4 GHz, pairs per second.
static const struct {
    const char* name;
    bool isBoxA, isBoxB;
    bool isMapped; // iterate on spheres as ellipsoids
    double printed[2];
} kinds[] = {
    {"sphere-sphere", false, false, false, {1.61e5, 89.29e5}},
    {"sphere-sphere, mapped", false, false, true, {1.61e5, 89.29e5}},
    {"sphere-cube", false, true, false, {2.91e5, 56.82e5}},
    {"sphere-cube, mapped", false, true, true, {2.91e5, 56.82e5}},
    {"cube-cube", true, true, false, {4.16e5, 21.74e5}},
};

static const struct {
    const char* name;
    rbPairMethod method;
} methods[2] = {{"iterative", RB_PAIR_ITERATIVE}, {"closed form", RB_PAIR_CLOSED_FORM}};

typedef struct rbThroughput {
    rbSeparationInput* inputs;
    void* scratch;
    int count;
} rbThroughput;

static void measureAll(void* context)
{
    rbThroughput* work = context;
    for (int i = 0; i < work->count; ++i) {
        rbSeparation separation;
        (void)rbMeasureSeparation(&work->inputs[i], NULL, work->scratch, &separation, NULL);
    }
}

// Moves B along a direction from far away until the bodies touch, in steps as long as the
// separating plane allows.
static void touch(rbSeparationInput* input, void* scratch, rbVec3 direction)
{
    input->transformBtoA.p = rbScale(2.0, direction);
    for (int round = 0; round < 100; ++round) {
        rbSeparation separation = {0};
        (void)rbMeasureSeparation(input, NULL, scratch, &separation, NULL);
        double approach = rbDot(separation.normal, direction);
        if (separation.distance < 1e-9 || approach <= 0.0) {
            break;
        }
        input->transformBtoA.p =
            rbAddScaled(input->transformBtoA.p, -separation.distance / approach, direction);
    }
}

static void makePairs(rbThroughput* work, const rbGeometry* a, const rbGeometry* b)
{
    rbRandom random = {10};
    for (int i = 0; i < work->count; ++i) {
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = a;
        input.geometryB = b;
        input.transformBtoA.q = rbNormalizeQuat(rbRandom_Quat(&random));
        rbVec3 direction = rbRandom_Direction(&random);
        touch(&input, work->scratch, direction);
        input.transformBtoA.p =
            rbAddScaled(input.transformBtoA.p, rbRandom_Range(&random, -0.02, 0.2), direction);
        input.relativeTolerance = 1e-7;
        work->inputs[i] = input;
    }
}

static void setMethod(rbThroughput* work, int method, const rbGeometry* a, const rbGeometry* b)
{
    for (int i = 0; i < work->count; ++i) {
        work->inputs[i].method = methods[method].method;
        work->inputs[i].geometryA = a;
        work->inputs[i].geometryB = b;
    }
}

static void storeDistances(rbThroughput* work, double* distances)
{
    for (int i = 0; i < work->count; ++i) {
        rbSeparation separation = {.distance = NAN};
        (void)rbMeasureSeparation(&work->inputs[i], NULL, work->scratch, &separation, NULL);
        distances[i] = separation.distance;
    }
}

static void addRow(rbBench* bench, const char* name, int method, double rate, double error)
{
    rbBenchRow row = {.value = rate, .unit = "1/s", .result = "depth", .errorMax = error};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", name);
    (void)snprintf(row.engine, sizeof row.engine, "rattleback");
    (void)snprintf(row.metric, sizeof row.metric, "pairs per second, %s", methods[method].name);
    rbBench_Record(bench, row);
}

static rbGeometry* makeShape(bool isBox, bool isMapped)
{
    rbVec3 half = {0.5, 0.5, 0.5};
    if (isBox) {
        return rbCreateBox(half, NULL);
    }
    return isMapped ? rbCreateEllipsoid(half, NULL) : rbCreateSphere(0.5, NULL);
}

static void runKind(rbBench* bench, rbThroughput* work, size_t kind)
{
    size_t size = (size_t)work->count * sizeof(double);
    double* distances[2] = {rbAlloc(size), rbAlloc(size)};
    double rates[2];
    double difference = 0.0;
    for (int k = 1; k >= 0; --k) { // the closed form first: its shapes are used to place the pairs
        bool isMapped = k == 0 && kinds[kind].isMapped;
        rbGeometry* a = makeShape(kinds[kind].isBoxA, isMapped);
        rbGeometry* b = makeShape(kinds[kind].isBoxB, isMapped);
        if (k == 1) {
            makePairs(work, a, b);
        }
        setMethod(work, k, a, b);
        storeDistances(work, distances[k]);
        rates[k] = work->count / rbBench_Time(measureAll, work, bench->isQuick ? 0.0 : SECONDS);
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    for (int i = 0; i < work->count; ++i) {
        difference = fmax(difference, fabs(distances[0][i] - distances[1][i]));
    }
    addRow(bench, kinds[kind].name, 0, rates[0], difference);
    addRow(bench, kinds[kind].name, 1, rates[1], NAN);
    if (bench->text != NULL) {
        const double* printed = kinds[kind].printed;
        (void)fprintf(bench->text, "  %-22s %9.2f %9.2f %6.1f   %9.2f %9.2f %6.1f   %8.1e\n",
                      kinds[kind].name, 1e-5 * rates[0], 1e-5 * rates[1], rates[1] / rates[0],
                      1e-5 * printed[0], 1e-5 * printed[1], printed[1] / printed[0], difference);
    }
    rbFree(distances[0], size);
    rbFree(distances[1], size);
}

static void run(rbBench* bench)
{
    rbThroughput work = {
        .count = bench->isQuick ? 20 : PAIR_COUNT,
        .scratch = rbAlloc(rbGetSeparationScratchSize()),
    };
    size_t size = (size_t)work.count * sizeof *work.inputs;
    work.inputs = rbAlloc(size);
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-22s %9s %9s %6s   %9s %9s %6s   %8s\n", "1e5 pairs/s",
                      "iterative", "closed", "ratio", "printed", "printed", "ratio", "differ m");
    }
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; ++kind) {
        runKind(bench, &work, kind);
    }
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  printed: Xeon E5620, recorded packing pairs. Ours: random "
                                   "pairs like those of a packing.\n");
        (void)fprintf(bench->text,
                      "  Our iteration treats a sphere as a point with a radius; mapped: "
                      "as the support mapping of a ball.\n");
    }
    rbFree(work.inputs, size);
    rbFree(work.scratch, rbGetSeparationScratchSize());
}

const rbBenchSuite rbSuiteThroughput = {
    .name = "throughput",
    .help = "pairs per second by iteration and by closed form (X-11)",
    .run = run,
};
