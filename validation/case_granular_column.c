// A column of grains that loses its walls: how far it runs out, against its height.
//
// The column is plane: periodic along y, and symmetric about x = 0, so each run has two fronts. The
// floor is of grains that are glued to it. On a plane without them single grains roll away, which
// no resistance against rolling mends: a little of it changes nothing, much stops the column too.
// The front is where the deposit becomes thinner than half a dense layer: grains beyond are apart,
// and experiments do not count them either.
#include "base/core/memory.h"
#include "granular_worlds.h"
#include "line_fit.h"
#include "validation.h"

#include <math.h>

#define COLUMNS_MAX 8
#define SAMPLES_MAX 32
#define DENSE 0.6    // solid fraction, for the number of grains and for a dense layer
#define AT_REST 1e-5 // mean kinetic energy of a grain: a velocity of 0.004
#define TIME_MAX 400.0
// Limits of the aspect ratios of the published laws; between them no law is given.
#define LOW_MAX 1.8
#define HIGH_MIN 2.8

typedef struct Column {
    double halfWidth, height; // wanted; the height is measured when the grains have settled
    int seeds;
} Column;

typedef struct Columns {
    double width; // along y
    int count;
    Column columns[COLUMNS_MAX];
} Columns;

static const Columns quickColumns = {
    4.5, 4, {{8.0, 6.0, 1}, {8.0, 12.0, 1}, {5.0, 16.0, 1}, {5.0, 30.0, 1}}};
static const Columns fullColumns = {
    7.0, 5, {{14.0, 10.0, 1}, {14.0, 21.0, 1}, {7.0, 23.0, 1}, {7.0, 42.0, 1}, {20.0, 32.0, 1}}};

// The deposits of a range of aspect ratios: logarithms, as powers are lines of them.
typedef struct Deposits {
    double aspects[SAMPLES_MAX], runouts[SAMPLES_MAX];
    double resolutions[SAMPLES_MAX]; // of the run-outs: half a grain
    int count;
} Deposits;

// A settled column between two walls. height: of the same grains everywhere as dense as inside.
static rbGrainBed fillColumn(const Column* column, double width, uint64_t seed, double* height)
{
    rbGrainBed bed = rbOpenGrainBed();
    double l = column->halfWidth;
    double length = 4.0 * l + 3.0 * column->height;
    double grainVolume = RB_PI / 6.0;
    int count = (int)(DENSE * 2.0 * l * width * column->height / grainVolume);
    bed.def.periodicBox.y = width;
    bed.def.low = rbMakeVec3(-length, -0.5 * width, -1.0);
    bed.def.high = rbMakeVec3(length, 0.5 * width, 2.0 * column->height);
    bed.def.wallCount = 3;
    bed.def.walls[0] = (rbClusterWall){{0.0, 0.0, 1.0}, -0.25}; // below the glued grains
    bed.def.walls[1] = (rbClusterWall){{1.0, 0.0, 0.0}, -l};
    bed.def.walls[2] = (rbClusterWall){{-1.0, 0.0, 0.0}, -l};
    rbGrainBed_GlueFloor(&bed, length, width, false, seed + 1000);
    rbGrainBed_Fill(&bed,
                    (rbBounds){{0.05 - l, -0.5 * width, 0.6},
                               {l - 0.05, 0.5 * width, 3.0 * column->height + 10.0}},
                    count, seed);
    rbGrainBed_Start(&bed);
    (void)rbGrainBed_Settle(&bed, 1e-4, TIME_MAX);
    rbGrainBed_Read(&bed);
    *height = 0.0;
    if (rbGrainBed_IsGood(&bed)) {
        rbBounds all = {{-l, -0.5 * width, -1.0}, {l, 0.5 * width, 4.0 * column->height}};
        rbBounds inside = {{1.0 - l, -0.5 * width, 0.2 * column->height},
                           {l - 1.0, 0.5 * width, 0.8 * column->height}};
        double fraction = rbCluster_Average(bed.cluster, inside).solidFraction;
        *height = rbCluster_Average(bed.cluster, all).solidFraction * (all.upper.z - all.lower.z) /
                  fraction;
    }
    return bed;
}

// Where the deposit ends on one side (1 or -1), from the middle.
static double findFront(const rbGrainBed* bed, double width, int side)
{
    int bins = 4096;
    size_t size = (size_t)bins * sizeof(double);
    double* layers = rbAllocZero((size_t)bins, sizeof(double));
    for (int i = 0; i < bed->count; ++i) {
        double r = bed->spheres[i].radius;
        double x = side * bed->spheres[i].position.x;
        if (x >= 0.0 && x < bins) {
            layers[(int)x] += 4.0 / 3.0 * RB_PI * r * r * r / width;
        }
    }
    int last = 1; // interpolated between the middles of this bin and the one before
    while (last < bins - 1 && layers[last] >= 0.5 * DENSE) {
        ++last;
    }
    double above = layers[last - 1] - 0.5 * DENSE;
    double front = last - 0.5 + above / (layers[last - 1] - layers[last]);
    rbFree(layers, size);
    return front;
}

static void collapse(rbValidation* validation, const Columns* columns, int index, uint64_t seed,
                     Deposits deposits[2])
{
    const Column* column = &columns->columns[index];
    double height = 0.0;
    rbGrainBed bed = fillColumn(column, columns->width, seed, &height);
    bed.def.wallCount = 1;
    rbGrainBed_Start(&bed);
    double time = rbGrainBed_Settle(&bed, AT_REST, TIME_MAX);
    rbGrainBed_Read(&bed);
    double aspect = height / column->halfWidth;
    if (!rbGrainBed_IsGood(&bed) || time < 0.0) {
        rbValidation_Print(validation, "  %s\n",
                           time < 0.0 ? "a column does not come to rest" : bed.error.message);
        rbValidation_AddLimit(validation, "the column collapses", NAN, 0.0);
    } else {
        double l = column->halfWidth;
        double fronts[2] = {findFront(&bed, columns->width, 1),
                            findFront(&bed, columns->width, -1)};
        double runouts[2] = {(fronts[0] - l) / l, (fronts[1] - l) / l};
        double law =
            aspect < 0.5 * (LOW_MAX + HIGH_MIN) ? 1.2 * aspect : 1.9 * pow(aspect, 2.0 / 3.0);
        rbValidation_Print(validation,
                           "  a = %.2f, %d grains on 2 x %g d: run-out %.2f and %.2f; law %.2f\n",
                           aspect, bed.count, l, runouts[0], runouts[1], law);
        for (int i = 0; i < 2 && (aspect < LOW_MAX || aspect > HIGH_MIN); ++i) {
            Deposits* to = &deposits[aspect > HIGH_MIN];
            to->aspects[to->count] = log(aspect);
            to->resolutions[to->count] = 0.5 / (runouts[i] * l);
            to->runouts[to->count++] = log(runouts[i]);
        }
    }
    rbCloseGrainBed(&bed);
}

// Compares with the power of factor a^power. The tolerance is three standard errors by the scatter
// of the samples about their own power, and what half a grain at every front, all to the worse,
// changes. The factor is printed only: where the deposit is said to end moves it by more.
static void compare(rbValidation* validation, const Deposits* d, const char* range, double factor,
                    double power)
{
    char quantity[96];
    double ones[SAMPLES_MAX];
    double mean = 0.0;
    double meanAspect = 0.0;
    for (int i = 0; i < d->count; ++i) {
        ones[i] = 1.0;
        meanAspect += d->aspects[i] / d->count;
        mean += (d->runouts[i] - log(factor) - power * d->aspects[i]) / d->count;
    }
    rbLine line = rbFitLine(d->aspects, d->runouts, ones, d->count);
    double scatter = sqrt(line.misfit / (d->count - 2));
    double slopeResolution = 0.0;
    for (int i = 0; i < d->count; ++i) {
        double lever = fabs(d->aspects[i] - meanAspect) * line.slopeError * line.slopeError;
        slopeResolution += lever * d->resolutions[i];
    }
    (void)snprintf(quantity, sizeof quantity, "exponent of the run-out over a, %s", range);
    rbValidation_Add(validation, quantity, line.slope, power,
                     3.0 * scatter * line.slopeError + slopeResolution);
    rbValidation_Print(validation,
                       "  run-outs are %.2f of the law on average, not compared; scatter %.1f %%, "
                       "fit %.2f a^%.2f\n",
                       exp(mean), 100.0 * scatter, exp(line.offset), line.slope);
}

static void runColumn(rbValidation* validation)
{
    const Columns* columns = validation->isQuick ? &quickColumns : &fullColumns;
    Deposits deposits[2] = {{.count = 0}, {.count = 0}};
    for (int i = 0; i < columns->count; ++i) {
        for (int seed = 1; seed <= columns->columns[i].seeds; ++seed) {
            collapse(validation, columns, i, (uint64_t)seed, deposits);
        }
    }
    if (deposits[0].count >= 4 && deposits[1].count >= 4) {
        compare(validation, &deposits[0], "a < 1.8", 1.2, 1.0);
        compare(validation, &deposits[1], "a > 2.8", 1.9, 2.0 / 3.0);
    }
}

const rbValidationCase rbCaseGranularColumn = {
    .name = "granular-column",
    .group = "granular",
    .help = "a column of grains collapses on a rough floor: run-out against aspect ratio",
    .source = "Lube, Huppert, Sparks, Freundt 2005: 1.2 a for a < 1.8, 1.9 a^(2/3) for a > 2.8",
    .truth = RB_TRUTH_PUBLISHED,
    .run = runColumn,
};
