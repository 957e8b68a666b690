// Grains in a drum that turns about a horizontal axis, half full: the slope of their surface
// against the speed.
//
// The drum is periodic along its axis and its wall is a ring of rods as wide as a grain, so grains
// do not slip on it. The slope is that of the center of mass, which is far from noise: for a flat
// surface through the axis they are the same. It is averaged over blocks of a quarter radian.
#include "granular_worlds.h"
#include "line_fit.h"
#include "validation.h"

#include <math.h>

#define RUNS_MAX 8
#define BLOCKS 8
#define SAMPLES 5       // of a block
#define BLOCK_TURN 0.25 // rad
#define WARM_TURN 1.0   // rad, before the first block
#define DEGREES (180.0 / RB_PI)

typedef struct Drum {
    double radius, width;
    int runCount;
    struct {
        double gravity, speed; // rad per unit of time
    } runs[RUNS_MAX];          // ascending speeds at gravity 1, then the same Froude numbers
} Drum;

static const Drum quickDrum = {8.0, 6.0, 3, {{1.0, 0.05}, {1.0, 0.09}, {4.0, 0.1}}};
static const Drum fullDrum = {
    16.0, 8.0, 6, {{1.0, 0.02}, {1.0, 0.03}, {1.0, 0.045}, {1.0, 0.07}, {4.0, 0.06}, {4.0, 0.09}}};

static int countRods(const Drum* drum)
{
    return (int)(2.0 * RB_PI * (drum->radius + 0.5));
}

// Rods at the same places every time: a run turns by whole rods.
static void buildDrum(rbGrainBed* bed, const Drum* drum, double speed)
{
    int count = countRods(drum);
    rbQuat turn = {sqrt(0.5), -sqrt(0.5), 0.0, 0.0}; // from z to y
    rbGrainBed_BeginWalls(bed, rbMakeVec3(0.0, -speed, 0.0));
    for (int i = 0; i < count; ++i) {
        double angle = 2.0 * RB_PI * i / count;
        rbVec3 place = rbMakeVec3(cos(angle), 0.0, sin(angle));
        rbGrainBed_AddWall(bed, rbCreateCapsule(0.5, 0.5 * drum->width + 2.0, &bed->error),
                           rbScale(drum->radius + 0.5, place), turn);
    }
    rbGrainBed_Start(bed);
}

static rbGrainBed fillDrum(const Drum* drum)
{
    rbGrainBed bed = rbOpenGrainBed();
    double r = drum->radius;
    bed.def.periodicBox.y = drum->width;
    bed.def.low = rbMakeVec3(-r, -0.5 * drum->width, -r);
    bed.def.high = rbScale(-1.0, bed.def.low);
    // a lattice that fills the drum fills half of it when it has settled
    rbGrainBed_Fill(&bed, (rbBounds){bed.def.low, bed.def.high}, RB_GRAINS_MAX, 1);
    int kept = 0;
    for (int i = 0; i < bed.count; ++i) {
        rbVec3 p = bed.spheres[i].position;
        if (hypot(p.x, p.z) < r - RB_GRAIN_RADIUS_MAX) {
            bed.spheres[kept++] = bed.spheres[i];
        }
    }
    rbGrainBed_Keep(&bed, kept);
    buildDrum(&bed, drum, 0.0);
    (void)rbGrainBed_Settle(&bed, 1e-3, 100.0);
    rbGrainBed_Read(&bed);
    return bed;
}

// Slope of the center of mass, degrees.
static double measureSlope(rbGrainBed* bed)
{
    double x = 0.0;
    double z = 0.0;
    rbGrainBed_Read(bed);
    for (int i = 0; i < bed->count; ++i) {
        x += bed->spheres[i].mass * bed->spheres[i].position.x;
        z += bed->spheres[i].mass * bed->spheres[i].position.z;
    }
    return DEGREES * atan2(x, -z);
}

static double turnDrum(rbGrainBed* bed, const Drum* drum, int run, double* error)
{
    double values[BLOCKS];
    double speed = drum->runs[run].speed;
    double rod = 2.0 * RB_PI / countRods(drum);
    double total = WARM_TURN + BLOCKS * BLOCK_TURN;
    double warm = (ceil(total / rod) * rod - BLOCKS * BLOCK_TURN) / speed;
    bed->def.gravity.z = -drum->runs[run].gravity;
    buildDrum(bed, drum, speed);
    rbGrainBed_Advance(bed, warm);
    for (int i = 0; i < BLOCKS; ++i) {
        values[i] = 0.0;
        for (int k = 0; k < SAMPLES; ++k) {
            rbGrainBed_Advance(bed, BLOCK_TURN / (SAMPLES * speed));
            values[i] += measureSlope(bed) / SAMPLES;
        }
    }
    return rbMeanOf(values, BLOCKS, error);
}

// Froude number: centrifugal acceleration at the wall over gravity.
static double froudeOf(const Drum* drum, int run)
{
    double speed = drum->runs[run].speed;
    return speed * speed * drum->radius / drum->runs[run].gravity;
}

static void compare(rbValidation* validation, const Drum* drum, const double* slopes,
                    const double* errors)
{
    int count = 0;
    double speeds[RUNS_MAX];
    for (int i = 0; i < drum->runCount; ++i) {
        rbValidation_Print(
            validation, "  gravity %g, speed %.3f, Froude number %.4f: %.2f +- %.2f degrees\n",
            drum->runs[i].gravity, drum->runs[i].speed, froudeOf(drum, i), slopes[i], errors[i]);
        speeds[i] = drum->runs[i].speed;
        count += drum->runs[i].gravity == 1.0;
    }
    rbLine line = rbFitLine(speeds, slopes, errors, count);
    rbValidation_Print(validation,
                       "  %.1f + %.0f w degrees, misfit %.1f of %d points; no law of this rise is "
                       "agreed on\n",
                       line.offset, line.slope, line.misfit, count);
    for (int i = count; i < drum->runCount; ++i) {
        for (int k = 0; k < count; ++k) {
            if (fabs(froudeOf(drum, i) / froudeOf(drum, k) - 1.0) < 1e-9) {
                char quantity[96];
                (void)snprintf(quantity, sizeof quantity,
                               "slope at four times the gravity, Froude number %.3f, degrees",
                               froudeOf(drum, i));
                rbValidation_Add(validation, quantity, slopes[i], slopes[k],
                                 3.0 * hypot(errors[i], errors[k]));
            }
        }
    }
}

static void runDrum(rbValidation* validation)
{
    const Drum* drum = validation->isQuick ? &quickDrum : &fullDrum;
    double slopes[RUNS_MAX] = {0.0};
    double errors[RUNS_MAX] = {0.0};
    rbGrainBed bed = fillDrum(drum);
    for (int i = 0; i < drum->runCount && rbGrainBed_IsGood(&bed); ++i) {
        slopes[i] = turnDrum(&bed, drum, i, &errors[i]);
    }
    if (rbGrainBed_IsGood(&bed)) {
        rbValidation_Print(validation, "  %d grains\n", bed.count);
        compare(validation, drum, slopes, errors);
    } else {
        rbValidation_Print(validation, "  %s\n", bed.error.message);
        rbValidation_AddLimit(validation, "the drum turns", NAN, 0.0);
    }
    rbCloseGrainBed(&bed);
}

const rbValidationCase rbCaseGranularDrum = {
    .name = "granular-drum",
    .group = "granular",
    .help = "grains in a drum that turns: slope of the surface against the speed",
    .source = "Brucks, Arndt, Ottino, Lueptow 2007: gravity enters by the Froude number only",
    .truth = RB_TRUTH_PUBLISHED,
    .run = runDrum,
};
