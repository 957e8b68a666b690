// Grains that leave a silo through a round hole in its flat floor: Beverloo's law,
// W = C rho sqrt(g) (D - k d)^(5/2).
//
// The silo is periodic to the sides, so no wall carries grains, and its floor has one hole in every
// period. The exponent is fitted together with k: at a few diameters, a wrong k of 0.2 changes the
// apparent exponent by 0.1. Errors are those of means over blocks of the discharge. C and k are
// printed, not compared: C is below the published 0.55 to 0.65, which were measured with wide holes
// and change with the friction and the range of the openings (Mankoc and others 2007).
#include "granular_worlds.h"
#include "line_fit.h"
#include "validation.h"

#include <math.h>

#define CORNERS 64 // of the hole
#define HOLES_MAX 8
#define BLOCKS_MAX 16
#define OUTLET -1.5     // height at which grains have left
#define SAMPLE_STEPS 16 // between two looks: the interval of outlets
#define TIME_MAX 60.0   // for a block; longer: the hole is blocked

typedef struct Silo {
    double width;
    int count; // grains
    int holeCount;
    double holes[HOLES_MAX]; // diameters
    int blocks;              // of the discharge, after one that is not counted
    double blockMass;        // about the number of grains of a block
} Silo;

// Below about five diameters arches stop the flow for a while, or for good.
static const Silo quickSilo = {14.0, 1500, 4, {5.0, 6.0, 7.0, 8.0}, 6, 60.0};
static const Silo fullSilo = {24.0, 10000, 5, {5.0, 6.0, 7.0, 8.0, 10.0}, 10, 110.0};

typedef struct Rates {
    double means[HOLES_MAX], errors[HOLES_MAX];    // of mass per time
    double late[HOLES_MAX], lateErrors[HOLES_MAX]; // second half of the blocks over the first
} Rates;

// A square with a hole of the area of a circle: a ring of quadrilaterals, by rays from its center.
static rbGeometry* createFloor(double width, double diameter, rbError* error)
{
    rbVec3 vertices[2 * CORNERS];
    int indices[6 * CORNERS];
    double angle = 2.0 * RB_PI / CORNERS;
    double radius = 0.5 * diameter * sqrt(angle / sin(angle));
    for (int i = 0; i < CORNERS; ++i) {
        double x = cos((i + 0.5) * angle);
        double y = sin((i + 0.5) * angle);
        double edge = width / fmax(fabs(x), fabs(y)); // twice as wide as the period
        int next = (i + 1) % CORNERS;
        const int corners[6] = {i, CORNERS + i, CORNERS + next, i, CORNERS + next, next};
        vertices[i] = rbMakeVec3(radius * x, radius * y, 0.0);
        vertices[CORNERS + i] = rbMakeVec3(edge * x, edge * y, 0.0);
        for (int k = 0; k < 6; ++k) {
            indices[6 * i + k] = corners[k];
        }
    }
    rbMeshDef mesh = {.vertices = vertices,
                      .vertexCount = 2 * CORNERS,
                      .indices = indices,
                      .faceCount = 2 * CORNERS};
    return rbCreateMesh(&mesh, error);
}

// Grains at rest on a floor without a hole. density: of their bulk.
static rbGrainBed fillSilo(const Silo* silo, double* density)
{
    rbGrainBed bed = rbOpenGrainBed();
    double half = 0.5 * silo->width;
    double height = 1.8 * silo->count / (silo->width * silo->width) + 2.0; // of the lattice
    bed.def.periodicBox = rbMakeVec3(silo->width, silo->width, 0.0);
    bed.def.low.z = 4.0 * OUTLET;
    bed.def.high.z = height;
    bed.def.wallCount = 1;
    bed.def.walls[0] = (rbClusterWall){{0.0, 0.0, 1.0}, 0.0};
    rbGrainBed_Fill(&bed, (rbBounds){{-half, -half, 0.1}, {half, half, height}}, silo->count, 1);
    rbGrainBed_Start(&bed);
    (void)rbGrainBed_Settle(&bed, 1e-3, 200.0);
    rbGrainBed_Read(&bed);
    *density = 0.0;
    if (rbGrainBed_IsGood(&bed)) {
        // without the floor and the surface, which are not dense
        double top = silo->count / (silo->width * silo->width);
        rbBounds inside = {{-half, -half, 1.0}, {half, half, 0.8 * top}};
        *density = rbCluster_Average(bed.cluster, inside).solidFraction * 6.0 / RB_PI;
    }
    return bed;
}

// Time at which a mass has left, at the end of a sample; the mass is what has left then.
static double waitForMass(rbGrainBed* bed, double* mass)
{
    double interval = SAMPLE_STEPS * bed->def.step;
    double wanted = *mass;
    double time = 0.0;
    *mass = 0.0;
    while (rbGrainBed_IsGood(bed) && *mass < wanted && time < TIME_MAX) {
        rbGrainBed_Advance(bed, interval);
        time += interval;
        (void)rbCluster_GetRemoved(bed->cluster, 0, mass);
    }
    return time < TIME_MAX ? time : NAN;
}

static void discharge(rbGrainBed* bed, const Silo* silo, int hole, Rates* rates)
{
    double values[BLOCKS_MAX];
    bed->def.wallCount = 0;
    rbGrainBed_BeginWalls(bed, RB_VEC3_ZERO);
    rbGrainBed_AddWall(bed, createFloor(silo->width, silo->holes[hole], &bed->error), RB_VEC3_ZERO,
                       RB_QUAT_IDENTITY);
    rbGrainBed_Start(bed);
    if (rbGrainBed_IsGood(bed)) {
        double far = silo->width;
        rbBounds outlet = {{-far, -far, -100.0 * far}, {far, far, OUTLET}};
        (void)rbCluster_AddOutlet(bed->cluster, outlet, &bed->error);
    }
    double last = silo->blockMass;
    (void)waitForMass(bed, &last);
    for (int i = 0; i < silo->blocks; ++i) {
        double mass = last + silo->blockMass;
        double time = waitForMass(bed, &mass);
        values[i] = (mass - last) / time;
        last = mass;
    }
    int half = silo->blocks / 2;
    double errors[2];
    double early = rbMeanOf(values, half, &errors[0]);
    double late = rbMeanOf(values + half, half, &errors[1]);
    rates->means[hole] = rbMeanOf(values, silo->blocks, &rates->errors[hole]);
    rates->late[hole] = late / early;
    rates->lateErrors[hole] = hypot(errors[0], errors[1]) / early;
}

static void compare(rbValidation* validation, const Silo* silo, const Rates* rates, double density)
{
    double ones[HOLES_MAX];
    double weight = 0.0;
    double late = 0.0;
    for (int i = 0; i < silo->holeCount; ++i) {
        ones[i] = 1.0 / (rates->lateErrors[i] * rates->lateErrors[i]);
        weight += ones[i];
        late += ones[i] * rates->late[i];
    }
    rbShiftedPower free =
        rbFitShiftedPower(silo->holes, rates->means, rates->errors, silo->holeCount);
    rbLine line = rbFitKnownPower(silo->holes, rates->means, rates->errors, silo->holeCount, 2.5);
    double k = -line.offset / line.slope;
    double slopePart = line.slopeError / line.slope;
    double offsetPart = line.offsetError / line.offset;
    double kError = k * sqrt(slopePart * slopePart + offsetPart * offsetPart -
                             2.0 * line.covariance / (line.slope * line.offset));
    rbValidation_Print(validation,
                       "  free fit: exponent %.3f +- %.3f with k = %.2f; exponent 5/2: k = %.2f +- "
                       "%.2f,\n  C = %.3f at a bulk density of %.3f, misfit %.1f of %d points; "
                       "published C of wide holes 0.55 to 0.65\n",
                       free.exponent, free.exponentError, free.shift, k, kError,
                       pow(line.slope, 2.5) / density, density, line.misfit, silo->holeCount);
    // what three standard deviations are for the two or three degrees of freedom of the line
    rbValidation_AddBound(validation, "misfit of (D - k d)^(5/2), sum of squares in errors",
                          line.misfit, silo->holeCount == 4 ? 11.8 : 14.2);
    if (!validation->isQuick) { // a few holes in a narrow silo leave the exponent open
        rbValidation_Add(validation, "exponent of the rate over D - k d, both fitted",
                         free.exponent, 2.5, 3.0 * free.exponentError);
        rbValidation_AddLimit(validation, "standard error of the exponent", free.exponentError,
                              0.25);
    }
    rbValidation_Add(validation, "rate with less above the hole, over the rate before",
                     late / weight, 1.0, 3.0 / sqrt(weight));
}

static void runHopper(rbValidation* validation)
{
    const Silo* silo = validation->isQuick ? &quickSilo : &fullSilo;
    double density = 0.0;
    Rates rates = {0};
    rbGrainBed bed = fillSilo(silo, &density);
    for (int i = 0; i < silo->holeCount && rbGrainBed_IsGood(&bed); ++i) {
        discharge(&bed, silo, i, &rates);
        rbValidation_Print(validation, "  D = %.2f d: W = %.2f +- %.2f grains per sqrt(d/g)\n",
                           silo->holes[i], rates.means[i], rates.errors[i]);
    }
    if (rbGrainBed_IsGood(&bed)) {
        compare(validation, silo, &rates, density);
    } else {
        rbValidation_Print(validation, "  %s\n", bed.error.message);
        rbValidation_AddLimit(validation, "the silo runs", NAN, 0.0);
    }
    rbCloseGrainBed(&bed);
}

const rbValidationCase rbCaseGranularHopper = {
    .name = "granular-hopper",
    .group = "granular",
    .help = "grains leave a silo through a hole: rate against diameter",
    .source =
        "Beverloo, Leniger, van de Velde 1961: exponent 5/2; Hagen 1852: the height has no effect",
    .truth = RB_TRUTH_PUBLISHED,
    .run = runHopper,
};
