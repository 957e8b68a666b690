// The straight scenes of the thesis on rays with real sampling (E-01 to E-06, E-12): our points
// next to the published ones.
#include "base/core/random.h"
#include "error_statistics.h"
#include "lab/math/random3.h"
#include "ray_scenes.h"

#include <math.h>

#define SEEDS 2001 // of random starts, as in the statistics of the specification

// The exact mode, on the same scene.
static void checkExact(rbValidation* validation, rbRayStage* stage)
{
    rbStraightContact exact = {0};
    if (!rbSweepStraight(&stage->pair, stage->scratch, &exact, &stage->error)) {
        return;
    }
    rbRayErrors errors = rbRayStage_Check(stage, &exact);
    const char* name = stage->scene->name;
    rbAddRayBound(validation, name, "exact mode, |free path - truth| [m]", fabs(errors.excess),
                  1e-12);
    rbAddRayBound(validation, name, "exact mode, contact error [m]", errors.position, 1e-9);
}

// --------------------------------------------------- E-01, E-03, E-05, E-12: any ray count is
// right

// Checks the worst of all ray counts.
static void runEasyScene(rbValidation* validation, rbRaySceneName scene,
                         const rbPrintedContact* rows, int rowCount, double tolerance)
{
    rbRayStage stage = rbOpenRayStage(scene);
    double position = 0.0;
    double angle = 0.0;
    rbValidation_Print(validation, "  %s: free path %.6g m\n", stage.scene->name, stage.scene->way);
    rbPrintRayHead(validation);
    for (int i = 0; i < rowCount; ++i) {
        rbRaySettings settings = rbMakePublishedRays(rows[i].count);
        rbStraightContact found = rbRayStage_Cast(&stage, &settings);
        rbRayErrors errors = rbRayStage_Check(&stage, &found);
        rbPrintRayLine(validation, &rows[i], &found, &errors);
        position = rbWorseError(errors.position, position);
        angle = rbWorseError(errors.angle, angle);
    }
    rbAddRayBound(validation, stage.scene->name, "largest contact error [m]", position, tolerance);
    rbAddRayBound(validation, stage.scene->name, "largest normal error [degrees]", angle, 1e-4);
    checkExact(validation, &stage);
    rbCheckRayError(validation, stage.scene->name, &stage.error);
    rbRayStage_Close(&stage);
}

// E-12 at the speeds of the thesis: the time of contact with one ray.
static void runBulletTimes(rbValidation* validation)
{
    rbRayStage stage = rbOpenRayStage(RB_RAY_BULLET);
    const rbRaySettings settings = rbMakePublishedRays(1);
    double worst = 0.0;
    double speed = 1.0;
    for (int i = 0; i < 4; ++i) {
        stage.pair.velocities[0] = rbScale(speed / 1000.0, stage.scene->velocity);
        stage.pair.duration = 20.0 / speed;
        rbStraightContact found = rbRayStage_Cast(&stage, &settings);
        double time = found.isHit ? found.time : (double)NAN;
        worst = rbWorseError(fabs(time * speed / stage.scene->way - 1.0), worst);
        speed *= 10.0;
    }
    rbAddRayBound(validation, stage.scene->name, "time of contact, 1 to 1000 m/s, relative", worst,
                  1e-14);
    rbCheckRayError(validation, stage.scene->name, &stage.error);
    rbRayStage_Close(&stage);
}

static void runEasyScenes(rbValidation* validation)
{
    const rbPrintedContact headOn[6] = {
        {1, true, {1.0, 0.0, 0.0}, 100.0}, {2, true, {1.0, 0.0, 0.0}, 100.0},
        {4, true, {1.0, 0.0, 0.0}, 100.0}, {5, true, {1.0, 0.0, 0.0}, 100.0},
        {.count = 37, .agreement = -1.0},  {.count = 1000, .agreement = -1.0}};
    runEasyScene(validation, RB_RAY_HEAD_ON, headOn, 6, 1e-6);
    const rbPrintedContact tip[2] = {{1, true, {0.0, 3.0, 0.0}, 100.0},
                                     {.count = 100, .agreement = -1.0}};
    runEasyScene(validation, RB_RAY_TIP, tip, 2, 1e-9);
    const rbPrintedContact vertex[3] = {{1, true, {0.0, -1.0, 1.0}, 100.0},
                                        {2, true, {0.0, -1.0, 1.0}, 100.0},
                                        {.count = 100, .agreement = -1.0}};
    runEasyScene(validation, RB_RAY_VERTEX, vertex, 3, 1e-9);
    const rbPrintedContact bullet[2] = {{1, true, {0.577347, 0.577347, 0.577347}, 100.0},
                                        {.count = 100, .agreement = -1.0}};
    runEasyScene(validation, RB_RAY_BULLET, bullet, 2, 1e-5);
    runBulletTimes(validation);
}

// ----------------------------------------------------------------------------- E-02: offset
// spheres

typedef struct OffsetRow {
    rbPrintedContact printed;
    rbVec3 point;  // m, from our specification, for the same lattice
    double excess; // m
} OffsetRow;

// The published agreements of 2, 4 and 20 rays do not follow from the published points: 50.0, 50.0,
// 85.58. The points of 64, 100 and 400 rays do not lie on the lattice that produces all the others.
static const OffsetRow offsetRows[] = {
    {{1, false, {0.0, 0.0, 0.0}, 0.0}, {0.0, 0.0, 1.0}, 0.732051},
    {{2, true, {0.000009, 0.000009, 1.0}, 33.33}, {0.0, 0.0, 1.0}, 0.732051},
    {{4, true, {0.000004, 0.000004, 1.0}, 33.33}, {0.0, 0.0, 1.0}, 0.732051},
    {{10, true, {0.802912, 0.192630, 0.564115}, 88.398}, {0.802912, 0.192630, 0.564115}, 0.04999},
    {{15, true, {0.795225, 0.020316, 0.605974}, 90.78}, {0.795225, 0.020316, 0.605974}, 0.01795},
    {{20, true, {0.748536, -0.056796, 0.660657}, 72.44}, {0.748536, -0.056796, 0.660657}, 0.04457},
    {{30, true, {0.884598, -0.067007, 0.461516}, 94.64}, {0.884598, -0.067007, 0.461516}, 0.00749},
    {{40, true, {0.833790, 0.120164, 0.538846}, 92.78}, {0.833790, 0.120164, 0.538846}, 0.01912},
    {{49, true, {0.811021, -0.096548, 0.576995}, 90.5}, {0.811021, -0.096548, 0.576995}, 0.02006},
    {{64, true, {0.847291, 0.212607, 0.486720}, 92.55}, {0.895814, 0.0, 0.444430}, 0.00477},
    {{81, true, {0.857209, -0.086824, 0.507596}, 96.5}, {0.857209, -0.086824, 0.507596}, 0.00882},
    {{100, true, {0.878944, -0.181635, 0.440983}, 90.45}, {0.810823, -0.140291, 0.568229}, 0.03022},
    {{121, true, {0.882034, -0.076942, 0.464862}, 94.67}, {0.882034, -0.076942, 0.464862}, 0.00876},
    {{361, true, {0.849775, -0.039302, 0.525678}, 96.49}, {0.849775, -0.039302, 0.525678}, 0.00280},
    {{400, true, {0.871279, -0.081736, 0.483934}, 96.2}, {0.878631, 0.0, 0.477501}, 0.00078},
};
#define OFFSET_ROWS ((int)(sizeof offsetRows / sizeof offsetRows[0]))

static void runOffset(rbValidation* validation)
{
    rbRayStage stage = rbOpenRayStage(RB_RAY_OFFSET);
    const char* name = stage.scene->name;
    rbValidation_Print(
        validation,
        "  %s: free path 3 - sqrt 3 = 1.267949 m. Published agreements of 2, 4 and 20 "
        "rays are wrong: 50.00, 50.00, 85.58 follow from the points\n",
        name);
    rbPrintRayHead(validation);
    double offLattice = 0.0;
    double offExcess = 0.0;
    double four = NAN;
    double last = 0.0;
    double below20 = 0.0;
    int falls = 0;
    for (int i = 0; i < OFFSET_ROWS; ++i) {
        const OffsetRow* row = &offsetRows[i];
        rbRaySettings settings = rbMakePublishedRays(row->printed.count);
        rbStraightContact found = rbRayStage_Cast(&stage, &settings);
        rbRayErrors errors = rbRayStage_Check(&stage, &found);
        rbPrintRayLine(validation, &row->printed, &found, &errors);
        if (row->printed.count > 4) {
            // points mirrored in y are equally near
            rbVec3 point = {found.point.x, copysign(found.point.y, row->point.y), found.point.z};
            offLattice = rbWorseError(rbDistance(point, row->point), offLattice);
            offExcess = rbWorseError(fabs(errors.excess - row->excess), offExcess);
            falls += errors.agreement < last ? 1 : 0;
        } else if (row->printed.count == 4) {
            four = errors.excess;
        }
        below20 = row->printed.count < 20 ? fmax(errors.agreement, below20) : below20;
        last = errors.agreement;
    }
    char text[96];
    (void)snprintf(text, sizeof text, "%s: 4 rays are late by [m]", name);
    rbValidation_Add(validation, text, four, sqrt(3.0) - 1.0, 1e-5);
    rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
    rbAddRayBound(validation, name, "12 rows: distance from the specification's points [m]",
                  offLattice, 1e-5);
    rbAddRayBound(validation, name, "12 rows: path excess error [m]", offExcess, 1e-5);
    rbAddRayBound(validation, name, "best agreement with fewer than 20 rays [%]", below20, 95.0);
    rbAddRayBound(validation, name, "agreement with 400 rays is not 100 [%]", last, 99.0);
    rbAddRayBound(validation, name, "more rays are never worse (1: true, 0: false)", falls == 0,
                  0.0);
    checkExact(validation, &stage);
    rbCheckRayError(validation, name, &stage.error);
    rbRayStage_Close(&stage);
}

// Section 3.9: with points uniform over the disc the excess falls like 1/n; n random points would
// leave (1/RA + 1/RB) R^2 / (2 n cos^2) = 1 / (n cos^2) on average.
static void runUniform(rbValidation* validation)
{
    rbRayStage stage = rbOpenRayStage(RB_RAY_OFFSET);
    const int counts[4] = {16, 64, 256, 1024};
    int trials = validation->isQuick ? 100 : 1000;
    double means[4] = {0.0, 0.0, 0.0, 0.0};
    double parts[4] = {0.0, 0.0, 0.0, 0.0};
    double lawOff = 0.0;
    for (int k = 0; k < 4; ++k) {
        rbRandom random = {39};
        rbRaySettings settings = rbMakePublishedRays(counts[k]);
        settings.pattern = RB_RAYS_UNIFORM;
        for (int i = 0; i < trials; ++i) {
            double offset = rbRandom_Range(&random, 0.0, 1.5);
            double angle = rbRandom_Range(&random, 0.0, 2.0 * RB_PI);
            double cosine = sqrt(1.0 - 0.25 * offset * offset);
            rbVec3 side = {0.0, offset * cos(angle), offset * sin(angle)};
            stage.pair.starts[0].p = rbAdd((rbVec3){3.0, 0.0, 0.0}, side);
            rbStraightContact found = rbRayStage_Cast(&stage, &settings);
            double excess = found.isHit ? found.way - (3.0 - 2.0 * cosine) : (double)NAN;
            // the law, from the position of the shortest ray: lateral, radial and tangential
            rbVec3 miss = rbAddScaled(found.point, -0.5, side);
            miss.x = 0.0;
            double radial = offset > 0.0 ? rbDot(miss, side) / offset : 0.0;
            double tangential2 = rbLengthSquared(miss) - radial * radial;
            double law = radial * radial / pow(cosine, 3.0) + tangential2 / cosine;
            means[k] += excess / trials;
            parts[k] += counts[k] * excess * cosine * cosine / trials;
            if (counts[k] == 1024) {
                lawOff = rbWorseError(fabs(excess - law) / (law + 1e-9), lawOff);
            }
        }
    }
    rbValidation_Print(validation,
                       "  uniform rays, %d lateral offsets up to 1.5 m: mean path excess %.2e, "
                       "%.2e, %.2e, %.2e m with 16, 64, 256, 1024 rays; times n cos^2: %.2f, %.2f, "
                       "%.2f, %.2f\n",
                       trials, means[0], means[1], means[2], means[3], parts[0], parts[1], parts[2],
                       parts[3]);
    rbValidation_Add(validation, "uniform: exponent of the excess over the rays, 16 to 1024",
                     log(means[3] / means[0]) / log(64.0), -1.0, 0.1);
    rbAddRayBound(validation, "uniform", "excess times n cos^2; 1 for random points",
                  fmax(fmax(parts[0], parts[1]), fmax(parts[2], parts[3])), 1.0);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbAddRayBound(validation, "uniform", "1024 rays: excess error against section 3.9, relative",
                  lawOff, 0.25);
    rbCheckRayError(validation, "uniform", &stage.error);
    rbRayStage_Close(&stage);
}

// ------------------------------------------------------------------ E-04, E-06: random ray starts

typedef struct RandomRow {
    int count;             // of every triangle
    double low, mid, high; // percent: 5 %, median and 95 % of the specification
    double excess;         // m, median; 0: it has none
} RandomRow;

typedef struct Spread {
    rbErrorSeries agreement, position, excess;
    double angleMax;
    double excessMin;
    int missCount;
} Spread;

static void castSeeds(rbRayStage* stage, rbRaySettings settings, int seeds, Spread* spread)
{
    *spread = (Spread){.excessMin = INFINITY};
    for (int seed = 1; seed <= seeds && stage->error.status == RB_STATUS_OK; ++seed) {
        settings.seed = (uint64_t)seed;
        rbStraightContact found = rbRayStage_Cast(stage, &settings);
        if (!found.isHit) {
            ++spread->missCount;
            continue;
        }
        rbRayErrors errors = rbRayStage_Check(stage, &found);
        rbErrorSeries_Add(&spread->agreement, errors.agreement);
        rbErrorSeries_Add(&spread->position, errors.position);
        rbErrorSeries_Add(&spread->excess, errors.excess);
        spread->angleMax = rbWorseError(errors.angle, spread->angleMax);
        spread->excessMin = fmin(spread->excessMin, errors.excess);
    }
}

static void freeSpread(Spread* spread)
{
    rbErrorSeries_Free(&spread->agreement);
    rbErrorSeries_Free(&spread->position);
    rbErrorSeries_Free(&spread->excess);
}

static void printSpreadHead(const rbValidation* validation)
{
    rbValidation_Print(validation,
                       "    %d seeds %13s 5 %% / median / 95 %%: specification %9s ours %12s "
                       "off, median [m]   excess, median [m]\n",
                       SEEDS, "", "", "");
}

// Checks a line of RandomRow. One point of a triangle is shown, not checked: the medians of 2001
// seeds of the edges scatter by 0.9, and for the base no order of the corners and neither sampler
// produces the 83.5 of the specification; see checkOnePoint.
static void runRandomRow(rbValidation* validation, rbRayStage* stage, const RandomRow* row)
{
    Spread spread;
    char text[96];
    const char* name = stage->scene->name;
    rbRaySettings settings = rbMakePublishedRays(row->count);
    settings.isPerTriangle = true;
    castSeeds(stage, settings, SEEDS, &spread);
    double median = rbErrorSeries_Quantile(&spread.agreement, 0.5);
    double late = rbErrorSeries_Quantile(&spread.excess, 0.5);
    rbValidation_Print(validation,
                       "    %5d of a triangle %19.1f / %.1f / %.1f %17.1f / %.1f / %.1f %14.5f "
                       "%20.5f\n",
                       row->count, row->low, row->mid, row->high,
                       rbErrorSeries_Quantile(&spread.agreement, 0.05), median,
                       rbErrorSeries_Quantile(&spread.agreement, 0.95),
                       rbErrorSeries_Quantile(&spread.position, 0.5), late);
    (void)snprintf(text, sizeof text, "%s: %d of a triangle, median agreement [%%]", name,
                   row->count);
    if (row->count > 1) {
        rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
        rbValidation_Add(validation, text, median, row->mid, 0.5);
    }
    if (row->excess > 0.0) {
        (void)snprintf(text, sizeof text, "%s: %d of a triangle, median excess [m]", name,
                       row->count);
        rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
        rbValidation_AddRelative(validation, text, late, row->excess, 0.15);
    }
    (void)snprintf(text, sizeof text, "%d of a triangle, seeds without a hit", row->count);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbAddRayBound(validation, name, text, spread.missCount, 0.0);
    rbAddRayBound(validation, name, "shortest found path is below the truth by [m]",
                  -spread.excessMin, 1e-12);
    if (stage->scene->isTargetPyramid) {
        rbAddRayBound(validation, name, "largest normal error [degrees]", spread.angleMax, 1e-6);
    }
    freeSpread(&spread);
}

// Published rows of one seed of a generator that we do not have: shown next to our median for the
// same number of rays of the body, which is how the thesis seems to count.
static void printPrinted(const rbValidation* validation, rbRayStage* stage,
                         const rbPrintedContact* rows, int rowCount, int seeds)
{
    for (int i = 0; i < rowCount; ++i) {
        Spread spread;
        rbRaySettings settings = rbMakePublishedRays(rows[i].count);
        castSeeds(stage, settings, seeds, &spread);
        const rbPrintedContact* row = &rows[i];
        rbValidation_Print(validation,
                           "    %5d of the body, published (%9.6f, %9.6f, %9.6f) %6.2f%%, %.5f m "
                           "off; ours, median: "
                           "%6.2f%%, %.5f m off\n",
                           row->count, row->point.x, row->point.y, row->point.z, row->agreement,
                           rbDistance(row->point, stage->scene->point),
                           rbErrorSeries_Quantile(&spread.agreement, 0.5),
                           rbErrorSeries_Quantile(&spread.position, 0.5));
        freeSpread(&spread);
    }
}

// The median agreement of one point of the base, by drawing it here: x, y uniform, P1 + x (P2 - P1)
// + y (1 - x) (P3 - P1), up to the sphere; otherwise the corner that grazes it.
static void checkOnePoint(rbValidation* validation, rbRayStage* stage)
{
    rbErrorSeries series = {0};
    rbRandom random = {23};
    for (int i = 0; i < 20000; ++i) {
        double x = rbRandom_Unit(&random);
        double y = rbRandom_Unit(&random) * (1.0 - x);
        double side = -1.0 + x + 2.0 * y;
        double front = 1.0 - 2.0 * x;
        double inside = 1.0 - side * side - front * front;
        rbVec3 point = {side, -4.0 + sqrt(fmax(inside, 0.0)), front};
        rbErrorSeries_Add(&series, rbRateAgreement(inside >= 0.0 ? point : (rbVec3){0, -4, -1},
                                                   stage->scene->point));
    }
    Spread spread;
    rbRaySettings settings = rbMakePublishedRays(1);
    settings.isPerTriangle = true;
    castSeeds(stage, settings, SEEDS, &spread);
    rbValidation_SetTruth(validation, RB_TRUTH_OWN_METHOD);
    rbValidation_Add(validation, "E-04 base: 1 of a triangle, median against points drawn here [%]",
                     rbErrorSeries_Quantile(&spread.agreement, 0.5),
                     rbErrorSeries_Quantile(&series, 0.5), 0.5);
    freeSpread(&spread);
    rbErrorSeries_Free(&series);
}

static void runBase(rbValidation* validation)
{
    const RandomRow rows[6] = {{1, 74.0, 83.5, 92.9, 0.0},     {10, 85.9, 92.3, 97.8, 0.0},
                               {20, 89.0, 94.5, 98.3, 0.0107}, {80, 93.9, 97.0, 99.2, 0.0},
                               {200, 96.0, 98.1, 99.4, 0.0},   {1000, 98.2, 99.1, 99.8, 0.0002}};
    const rbPrintedContact printed[5] = {{1, true, {0.481052, -3.123795, -0.029230}, 86.91},
                                         {10, true, {-0.265349, -3.038136, 0.066396}, 90.52},
                                         {30, true, {-0.126160, -3.025491, -0.185515}, 90.77},
                                         {80, true, {-0.128035, -3.012249, 0.089186}, 93.35},
                                         {1000, true, {-0.055113, -3.002302, -0.039514}, 96.97}};
    rbRayStage stage = rbOpenRayStage(RB_RAY_BASE);
    rbValidation_Print(validation, "  %s: free path 2 m\n", stage.scene->name);
    printPrinted(validation, &stage, printed, 5, validation->isQuick ? 51 : 501);
    printSpreadHead(validation);
    for (int i = 0; i < (validation->isQuick ? 4 : 6); ++i) {
        runRandomRow(validation, &stage, &rows[i]);
    }
    checkOnePoint(validation, &stage);
    checkExact(validation, &stage);
    rbCheckRayError(validation, stage.scene->name, &stage.error);
    rbRayStage_Close(&stage);
}

// Options that the thesis lacked: rays of both bodies, points of the edges, bundles.
static void runBetterEdges(rbValidation* validation, rbRayStage* stage)
{
    const struct {
        const char* name;
        int count, edgeCount, refineRounds;
        bool isOneWay;
    } rows[4] = {{"80 rays of the mover", 80, 0, 0, true},
                 {"40 rays of both", 40, 0, 0, false},
                 {"12 points of every edge of the mover", 8, 12, 0, true},
                 {"20 of both, 4 bundles of 10", 20, 0, 4, false}};
    for (int i = 0; i < 4; ++i) {
        Spread spread;
        rbRaySettings settings = rbDefaultRaySettings();
        settings.count = rows[i].count;
        settings.edgeCount = rows[i].edgeCount;
        settings.isOneWay = rows[i].isOneWay;
        settings.refineRounds = rows[i].refineRounds;
        settings.refineCount = 10;
        castSeeds(stage, settings, validation->isQuick ? 51 : 501, &spread);
        rbValidation_Print(validation,
                           "    ours, %-40s median agreement %6.2f%%, %.5f m off, excess %.5f m\n",
                           rows[i].name, rbErrorSeries_Quantile(&spread.agreement, 0.5),
                           rbErrorSeries_Quantile(&spread.position, 0.5),
                           rbErrorSeries_Quantile(&spread.excess, 0.5));
        freeSpread(&spread);
    }
}

static void runEdges(rbValidation* validation)
{
    const RandomRow rows[5] = {{1, 50.8, 60.7, 90.8, 0.0},
                               {10, 69.4, 88.9, 97.1, 0.0},
                               {20, 78.8, 92.2, 97.9, 0.26},
                               {80, 89.9, 96.1, 99.1, 0.12},
                               {1000, 97.4, 98.9, 99.7, 0.034}};
    const rbPrintedContact printed[3] = {{20, true, {-0.002747, -0.534977, 0.767488}, 76.66},
                                         {50, true, {0.020387, -0.780374, 0.890187}, 88.35},
                                         {80, true, {-0.007080, -0.975101, 0.987551}, 98.52}};
    rbRayStage stage = rbOpenRayStage(RB_RAY_EDGES);
    rbValidation_Print(validation, "  %s: free path 3.25 m\n", stage.scene->name);
    printPrinted(validation, &stage, printed, 3, validation->isQuick ? 51 : 501);
    printSpreadHead(validation);
    for (int i = 0; i < (validation->isQuick ? 4 : 5); ++i) {
        runRandomRow(validation, &stage, &rows[i]);
    }
    runBetterEdges(validation, &stage);
    checkExact(validation, &stage);
    rbCheckRayError(validation, stage.scene->name, &stage.error);
    rbRayStage_Close(&stage);
}

static void run(rbValidation* validation)
{
    runEasyScenes(validation);
    runOffset(validation);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    runUniform(validation);
    runBase(validation);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    runEdges(validation);
}

const rbValidationCase rbCaseRayScenes = {
    .name = "ray-scenes",
    .group = "rays",
    .help = "straight scenes of the thesis on rays, its points and ours",
    .source = "E-01 to E-06, E-12 of the specification: closed forms, Tables 4.1 to 4.5",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
