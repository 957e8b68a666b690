// Shadow test of the convex methods: bodies in motion, every candidate pair measured
// by all methods and compared.
//
// 150 bodies of about 6 m in a cube, elastic without friction, steps of 0.2 ms. The runs are those
// of the thesis, boxes with capsules (which the thesis had to omit because its closed form was
// faulty), and shapes without closed forms, whose methods are compared with each other.
//
// A random sample of the pairs is also measured by cutting planes in 113 bits (convex_truth.h), the
// method that shares nothing with the ones compared.
#include "base/core/timer.h"
#include "convex_truth.h"
#include "elastic_gas.h"
#include "lab/math/random3.h"
#include "shadow.h"
#include "validation.h"

#include <math.h>
#include <string.h>

#define BODY_COUNT 150
#define BODY_SIZE 6.0 // m
#define TIME_STEP 2e-4
// 100,000 and more than 6 million pair tests over all runs.
#define STEPS_QUICK 150
#define STEPS_FULL 7600
#define SPEED 1000.0 // m/s, a thirtieth of the size in a step
#define FRACTION 0.25
#define REACH 1.05
#define SHAPES_MAX 4
// Shares of collisions and of gaps that are measured in 113 bits.
#define TRUTH_SHARE_QUICK 0.01
#define TRUTH_SHARE_FULL 0.001
#define TRUTH_SHARE_GAPS 0.1 // of these
// Normals whose depths differ by less, relative to the size, are equally good.
#define DEPTH_SAME 1e-9

// A row of tables 1 and 2 of the thesis; zero where it has none.
typedef struct Printed {
    int pairs, collisions;
    double angleMax; // degrees
    double depthMax; // m; bodies of about 6 m
    double pointMax; // of the body
    double angleMean;
    double depthMean;
    double pointMean;
} Printed;

typedef struct RunRow {
    const char* name;
    const char* file;
    const char* shapes; // one letter each
    Printed printed;
} RunRow;

static const RunRow runRows[] = {
    {"spheres",
     "spheres",
     "s",
     {834565, 109929, 1.39e-10, 2.14e-14, 4.10e-15, 3.45e-12, 4.15e-15, 8.77e-16}},
    {"spheres + cubes",
     "spheres-cubes",
     "sb",
     {601704, 68158, 0.42, 9.65e-6, 0.97e-2, 6.90e-3, 3.08e-7, 0.093e-2}},
    {"cubes", "cubes", "b", {403287, 47591, 4.01e-4, 2.76e-6, 5.16e-2, 1.21e-5, 1.96e-7, 0.070e-2}},
    {"spheres + capsules",
     "spheres-capsules",
     "sc",
     {1563083, 146817, 0.67, 3.50e-5, 0.05e-2, 0.0117, 9.66e-7, 4.62e-6}},
    {"capsules",
     "capsules",
     "c",
     {2859619, 215498, 0.95, 4.10e-5, 1.01e-2, 0.0151, 1.20e-6, 1.85e-5}},
    {"cubes + capsules", "cubes-capsules", "bc", {0}},
    {"ellipsoids, hulls, cylinders, cones", "others", "ehyk", {0}},
};
#define RUN_COUNT ((int)(sizeof runRows / sizeof runRows[0]))

// Quantiles of table 4 of the thesis: angle, depth in meters, position.
static const double printedQuantiles[3][RB_QUANTILE_COUNT] = {
    {0.11, 0.25, 0.45}, {0.82e-5, 1.33e-5, 2.08e-5}, {0.30e-2, 0.58e-2, 0.96e-2}};

// A hull of 16 points that is point-symmetric, so that its center is the origin.
static rbGeometry* makeHull(void)
{
    rbRandom random = {16};
    rbVec3 points[16];
    for (int i = 0; i < 16; i += 2) {
        points[i] = rbScale(3.5, rbRandom_Direction(&random));
        points[i + 1] = rbNeg(points[i]);
    }
    return rbCreateHull(points, 16, NULL);
}

static rbGeometry* makeShape(char letter)
{
    if (letter == 's') {
        return rbCreateSphere(3.0, NULL);
    }
    if (letter == 'b') {
        return rbCreateBox(rbMakeVec3(3.0, 3.0, 3.0), NULL);
    }
    if (letter == 'c') {
        return rbCreateCapsule(2.0, 2.0, NULL);
    }
    if (letter == 'e') {
        return rbCreateEllipsoid(rbMakeVec3(4.0, 3.0, 2.0), NULL);
    }
    if (letter == 'y') {
        return rbCreateCylinder(2.5, 3.0, NULL);
    }
    return letter == 'k' ? rbCreateCone(3.0, 6.0, NULL) : makeHull();
}

// The method auto against 113 bits; errors relative to the size.
typedef struct Truths {
    rbRandom random;
    double share;
    int collisions, gaps;
    int disagreements; // of the sign
    int ambiguous;     // normals of the same depth
    double depthError, gapError;
    double angle; // degrees
} Truths;

// The runs and their additional statistics.
typedef struct Run {
    rbGas gas;
    rbShadow shadow;
    rbShadow deep; // collisions repeated with the bodies moved into each other
    rbRandom random;
    Truths* truths; // of all runs
} Run;

static void compareWithTruth(Truths* truths, const rbGeometry* a, const rbGeometry* b,
                             rbTransform transformBtoA)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA = transformBtoA;
    rbSeparation s = {0};
    void* scratch = rbAlloc(rbGetSeparationScratchSize());
    rbStatus status = rbMeasureSeparation(&input, NULL, scratch, &s, NULL);
    rbFree(scratch, rbGetSeparationScratchSize());
    rbConvexTruth truth = rbMeasureConvexTruth(a, b, transformBtoA);
    double error = status == RB_STATUS_OK ? fabs(s.distance - truth.distance) / BODY_SIZE : NAN;
    if ((s.distance < 0.0) != (truth.distance < 0.0) && !(error < DEPTH_SAME)) {
        truths->disagreements += 1;
    }
    if (truth.distance > 0.0) {
        truths->gaps += 1;
        truths->gapError = rbWorseError(truths->gapError, error);
        return;
    }
    truths->collisions += 1;
    truths->depthError = rbWorseError(truths->depthError, error);
    double angle = rbMeasureAngle(s.normal, truth.normal);
    double turned = rbMeasureConvexGap(a, b, transformBtoA, s.normal);
    if (angle > 0.01 && fabs(turned - truth.distance) <= DEPTH_SAME * BODY_SIZE) {
        truths->ambiguous += 1;
    } else {
        truths->angle = rbWorseError(truths->angle, angle);
    }
}

// Chance decides which pairs are measured in 113 bits.
static void maybeCompare(Truths* truths, const rbGeometry* a, const rbGeometry* b,
                         rbTransform transformBtoA, bool isGap)
{
    double share = truths->share * (isGap ? TRUTH_SHARE_GAPS : 1.0);
    if (rbRandom_Unit(&truths->random) < share) {
        compareWithTruth(truths, a, b, transformBtoA);
    }
}

// A collision with the bodies moved together by a random fraction of their distance: deeper than
// ever occurs in a gas.
static void measureDeep(Run* run, const rbGasBody* a, const rbGasBody* b, rbTransform relative)
{
    relative.p = rbScale(rbRandom_Unit(&run->random), relative.p);
    (void)rbShadow_Measure(&run->deep, a->geometry, b->geometry, relative);
    maybeCompare(run->truths, a->geometry, b->geometry, relative, false);
}

static void step(Run* run)
{
    rbGas* gas = &run->gas;
    rbShadow* shadow = &run->shadow;
    rbGas_Advance(gas, TIME_STEP);
    rbGas_FindPairs(gas);
    for (int i = 0; i < gas->pairs.count; ++i) {
        rbGasPair pair = gas->pairs.data[i];
        rbGasBody* body = &gas->bodies[pair.a];
        rbTransform pose = rbGasBody_GetShapePose(body);
        bool isWall = pair.b < 0;
        if (isWall) {
            rbSeparation s =
                rbShadow_Measure(shadow, gas->walls[-1 - pair.b], body->geometry, pose);
            if (s.distance < 0.0) {
                rbBounce(body, NULL, s.pointB, rbNeg(s.normal));
            }
            continue;
        }
        rbGasBody* other = &gas->bodies[pair.b];
        rbTransform otherPose = rbGasBody_GetShapePose(other);
        rbTransform relative = rbInvMulTransforms(pose, otherPose);
        rbSeparation s = rbShadow_Measure(shadow, body->geometry, other->geometry, relative);
        maybeCompare(run->truths, body->geometry, other->geometry, relative, !(s.distance < 0.0));
        if (s.distance < 0.0) {
            rbVec3 middle = rbScale(0.5, rbAdd(s.pointA, s.pointB));
            rbBounce(body, other, rbTransformPoint(pose, middle), rbRotate(pose.q, s.normal));
            measureDeep(run, body, other, relative);
        }
    }
}

static void printErrors(const rbValidation* validation, const char* prefix, rbShadow* shadow)
{
    for (int i = 0; i < RB_OPINION_COUNT; ++i) {
        rbErrorSummary angle = rbErrorSeries_Summarize(&shadow->errors[i].angle);
        rbErrorSummary depth = rbErrorSeries_Summarize(&shadow->errors[i].depth);
        rbErrorSummary position = rbErrorSeries_Summarize(&shadow->errors[i].position);
        if (depth.count > 0) {
            rbValidation_Print(validation, "      %s%-*s %9.2e %9.2e %9.2e %9.2e %9.2e %9.2e %9d\n",
                               prefix, 24 - (int)strlen(prefix), rbOpinion_Name((rbOpinion)i),
                               angle.max, depth.max, position.max, angle.mean, depth.mean,
                               position.mean, depth.count);
        }
    }
}

static void printRun(const rbValidation* validation, const RunRow* row, Run* run, double drift,
                     double seconds)
{
    const Printed* p = &row->printed;
    const rbShadow* shadow = &run->shadow;
    rbValidation_Print(validation,
                       "    %s: %lld pairs, %lld collisions; %lld and %lld at walls; %lld answers; "
                       "%lld ambiguous, %lld undecided; energy %+.1e; gaps to %.1e; %.1f s\n",
                       row->name, shadow->pairTests, shadow->collisions, shadow->planeTests,
                       shadow->planeCollisions, shadow->calls, shadow->ambiguous, shadow->undecided,
                       drift, shadow->gapError, seconds);
    printErrors(validation, "", &run->shadow);
    if (p->pairs > 0) {
        rbValidation_Print(validation,
                           "      %-24s %9.2e %9.2e %9.2e %9.2e %9.2e %9.2e %9d of %d\n", "thesis",
                           p->angleMax, p->depthMax / BODY_SIZE, p->pointMax, p->angleMean,
                           p->depthMean / BODY_SIZE, p->pointMean, p->collisions, p->pairs);
    }
    printErrors(validation, "deep: ", &run->deep);
    rbValidation_Print(validation, "      deep: %lld pairs, %lld ambiguous\n", run->deep.pairTests,
                       run->deep.ambiguous);
}

// The totals of all runs.
typedef struct Total {
    long long pairs, collisions, disagreements, missed, contradictions, incidents, ambiguous;
    double gapError;
    rbErrorStatistics errors;
    rbErrorStatistics byTypes[RB_SHADOW_TYPES][RB_SHADOW_TYPES];
} Total;

static void addUp(Total* total, const rbShadow* shadow)
{
    total->pairs += shadow->pairTests;
    total->collisions += shadow->collisions;
    total->disagreements += shadow->disagreements;
    total->missed += shadow->missed;
    total->contradictions += shadow->contradictions;
    total->incidents += shadow->incidents;
    total->ambiguous += shadow->ambiguous;
    total->gapError = rbWorseError(shadow->gapError, total->gapError);
    // walls and feature walking would improve the quantiles of the iterative method
    rbErrorStatistics_Merge(&total->errors, &shadow->errors[RB_OPINION_ITERATIVE]);
    rbErrorStatistics_Merge(&total->errors, &shadow->errors[RB_OPINION_SWAPPED]);
    for (int i = 0; i < RB_SHADOW_TYPES * RB_SHADOW_TYPES; ++i) {
        int a = i / RB_SHADOW_TYPES;
        int b = i % RB_SHADOW_TYPES;
        rbErrorStatistics_Merge(&total->byTypes[a][b], &shadow->byTypes[a][b]);
    }
}

// One line per pair of shapes; planes are those of the walls.
static void printTypes(const rbValidation* validation, Total* total)
{
    rbValidation_Print(validation, "    %-22s %9s %9s %9s %9s %10s %9s %9s\n", "by shapes",
                       "contacts", "mean deg", "99.99 %", "max", "mean depth", "99.99 %", "max");
    for (int i = 0; i < RB_SHADOW_TYPES * RB_SHADOW_TYPES; ++i) {
        int a = i / RB_SHADOW_TYPES;
        int b = i % RB_SHADOW_TYPES;
        rbErrorSummary angle = rbErrorSeries_Summarize(&total->byTypes[a][b].angle);
        rbErrorSummary depth = rbErrorSeries_Summarize(&total->byTypes[a][b].depth);
        if (depth.count > 0) {
            char name[48];
            (void)snprintf(name, sizeof name, "%s, %s", rbShapeType_Name((rbShapeType)a),
                           rbShapeType_Name((rbShapeType)b));
            rbValidation_Print(validation, "    %-22s %9d %9.1e %9.1e %9.1e %10.1e %9.1e %9.1e\n",
                               name, depth.count, angle.mean, angle.quantiles[2], angle.max,
                               depth.mean, depth.quantiles[2], depth.max);
        }
    }
}

static void freeTotal(Total* total)
{
    rbErrorStatistics_Free(&total->errors);
    for (int i = 0; i < RB_SHADOW_TYPES * RB_SHADOW_TYPES; ++i) {
        rbErrorStatistics_Free(&total->byTypes[i / RB_SHADOW_TYPES][i % RB_SHADOW_TYPES]);
    }
}

static void closeShadow(const rbValidation* validation, rbShadow* shadow)
{
    rbError error = {0};
    const char* path = shadow->logPath;
    bool hasLog = shadow->log != NULL;
    if (rbFreeShadow(shadow, &error) != RB_STATUS_OK) {
        rbValidation_Print(validation, "      cannot write the log of incidents: %s\n",
                           error.message);
    } else if (hasLog) {
        rbValidation_Print(validation, "      incidents, worst first: %s\n", path);
    }
}

// Relative change of the energy.
static double runGas(rbValidation* validation, const RunRow* row, int steps, Total totals[2],
                     Truths* truths)
{
    rbGeometry* shapes[SHAPES_MAX];
    const rbGeometry* borrowed[SHAPES_MAX];
    int shapeCount = (int)strlen(row->shapes);
    for (int i = 0; i < shapeCount; ++i) {
        shapes[i] = makeShape(row->shapes[i]);
        borrowed[i] = shapes[i];
    }
    char path[64];
    char deepPath[64];
    (void)snprintf(path, sizeof path, "convex-shadow-%s.pairs", row->file);
    (void)snprintf(deepPath, sizeof deepPath, "convex-shadow-%s-deep.pairs", row->file);
    const rbGasDef def = {borrowed, shapeCount, BODY_COUNT, FRACTION, REACH, SPEED};
    Run run = {.shadow = rbMakeShadow(BODY_SIZE, path),
               .deep = rbMakeShadow(BODY_SIZE, deepPath),
               .random = {4112},
               .truths = truths};
    run.gas = rbCreateGas(&def, &run.random);
    double before = rbGas_GetEnergy(&run.gas);
    double start = rbGetWallTime();
    for (int i = 0; i < steps; ++i) {
        step(&run);
    }
    double drift = rbGas_GetEnergy(&run.gas) / before - 1.0;
    printRun(validation, row, &run, drift, rbGetWallTime() - start);
    addUp(&totals[0], &run.shadow);
    addUp(&totals[1], &run.deep);
    closeShadow(validation, &run.shadow);
    closeShadow(validation, &run.deep);
    rbDestroyGas(&run.gas);
    for (int i = 0; i < shapeCount; ++i) {
        rbDestroyGeometry(shapes[i]);
    }
    return fabs(drift);
}

static void printQuantiles(const rbValidation* validation, rbErrorStatistics* errors)
{
    static const char* const names[3] = {"angle [deg]", "depth [relative to size]",
                                         "position [relative to size]"};
    static const double scales[3] = {1.0, 1.0 / BODY_SIZE, 1.0};
    rbErrorSeries* series[3] = {&errors->angle, &errors->depth, &errors->position};
    for (int k = 0; k < 3; ++k) {
        rbErrorSummary s = rbErrorSeries_Summarize(series[k]);
        rbValidation_Print(validation,
                           "    %-24s 99 %% %8.1e (%8.1e)  99.9 %% %8.1e (%8.1e)  "
                           "99.99 %% %8.1e (%8.1e)  max %8.1e\n",
                           names[k], s.quantiles[0], scales[k] * printedQuantiles[k][0],
                           s.quantiles[1], scales[k] * printedQuantiles[k][1], s.quantiles[2],
                           scales[k] * printedQuantiles[k][2], s.max);
    }
}

// Conditions that must hold at any depth.
static void judge(rbValidation* validation, const char* prefix, Total* total)
{
    const struct {
        const char* text;
        double value, bound;
    } rows[] = {
        {"detections that disagree", (double)total->disagreements, 0.0},
        {"contacts missed", (double)total->missed, 0.0},
        {"bounds that exclude each other", (double)total->contradictions, 0.0},
        {"normals: 99.99 % quantile [deg]", rbErrorSeries_Quantile(&total->errors.angle, 0.9999),
         0.1},
        {"depth: largest error [relative to size]",
         rbErrorSeries_Quantile(&total->errors.depth, 1.0), 1e-6},
        {"position: 99.99 % quantile [relative to size]",
         rbErrorSeries_Quantile(&total->errors.position, 0.9999), 0.96e-2},
        {"gap: largest error [relative to size]", total->gapError, 1e-9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char text[96];
        (void)snprintf(text, sizeof text, "%s%s", prefix, rows[i].text);
        rbValidation_AddBound(validation, text, rows[i].value, rows[i].bound);
    }
}

static void judgeTruths(rbValidation* validation, const Truths* truths)
{
    rbValidation_Print(validation, "  in 113 bits: %d collisions, %d ambiguous normals, %d gaps\n",
                       truths->collisions, truths->ambiguous, truths->gaps);
    rbValidation_SetTruth(validation, RB_TRUTH_SECOND_METHOD);
    rbValidation_AddBound(validation, "113 bits: detections that disagree", truths->disagreements,
                          0.0);
    rbValidation_AddBound(validation, "113 bits: depth, largest error [relative to size]",
                          truths->depthError, 1e-9);
    rbValidation_AddBound(validation, "113 bits: normals, largest error [deg]", truths->angle, 0.1);
    rbValidation_AddBound(validation, "113 bits: gap, largest error [relative to size]",
                          truths->gapError, 1e-9);
}

static void run(rbValidation* validation)
{
    int steps = validation->isQuick ? STEPS_QUICK : STEPS_FULL;
    Total totals[2] = {0};
    Truths truths = {.random = {113},
                     .share = validation->isQuick ? TRUTH_SHARE_QUICK : TRUTH_SHARE_FULL};
    double drift = 0.0;
    rbValidation_Print(
        validation,
        "  %d bodies, %d steps of 2e-4 s per run\n      %-24s %9s %9s %9s %9s %9s %9s "
        "%9s\n",
        BODY_COUNT, steps, "against the closed form", "max deg", "depth", "position", "mean deg",
        "depth", "position", "contacts");
    for (int i = 0; i < RUN_COUNT; ++i) {
        drift = rbWorseError(runGas(validation, &runRows[i], steps, totals, &truths), drift);
    }
    for (int i = 0; i < 2; ++i) {
        Total* total = &totals[i];
        rbValidation_Print(validation,
                           "  %s: %lld pair tests, %lld collisions, %lld ambiguous normals, %lld "
                           "incidents; quantiles, thesis in brackets\n",
                           i == 0 ? "all (thesis: 6262258 tests, 587993 collisions)" : "deep",
                           total->pairs, total->collisions, total->ambiguous, total->incidents);
        printQuantiles(validation, &total->errors);
        printTypes(validation, total);
        judge(validation, i == 0 ? "" : "deep: ", total);
        freeTotal(total);
    }
    judgeTruths(validation, &truths);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbValidation_AddBound(validation, "energy of the driver: relative change", drift, 1e-4);
}

const rbValidationCase rbCaseConvexShadow = {
    .name = "convex-shadow",
    .help = "150 bodies in motion, every pair by all methods (6 million pairs)",
    .source = "methods of the library among each other; cutting planes in 113 bits; X-04, X-05, "
              "Leemann 2017 section 4.1: no disagreement in 6.26 million pair tests",
    .truth = RB_TRUTH_OWN_METHOD,
    .run = run,
};
