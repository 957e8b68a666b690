// Grains that fall into a heap between periodic sides: how dense they lie and how many touch.
//
// Without friction a heap at rest is isostatic: its forces are as many as the equations of balance,
// three a grain. Under gravity this holds for every grain, as none floats; the floor carries too,
// so contacts with it count; two equations are those of all grains together, since the sides are
// periodic. Contacts may overlap by a thousandth of the largest radius, and a packing that is
// compressed by a fraction f has 7.9 sqrt(f) more contacts a grain (O'Hern and others 2003). With
// friction a heap depends on how it was made, within limits that were measured.
//
// The solid fraction is that of the parts of grains between two heights, far from the floor, where
// grains lie in layers, and from the surface.
#include "granular_worlds.h"
#include "line_fit.h"
#include "validation.h"

#include <math.h>

#define SEEDS_MAX 4
#define SEEDS_QUICK 2
#define AT_REST 3e-6 // mean kinetic energy of a grain, without drift: a velocity of 0.002
#define TIME_MAX 400.0
#define FLOOR 3.0 // what is below counts for no solid fraction, and as much at the surface
#define SURFACE 2.5
#define OVERLAP (1e-3 * RB_GRAIN_RADIUS_MAX) // that contacts leave
// Published solid fractions: jammed without friction (O'Hern 2003), poured and shaken spheres
// (Scott and Kilgour 1969), and the loosest at rest (Onoda and Liniger 1990).
#define JAMMED 0.639
#define CLOSE 0.6366
#define LOOSE 0.555

typedef struct Heap {
    double width;
    int count;
} Heap;

static const Heap quickHeap = {7.0, 500};
static const Heap fullHeap = {9.0, 1000};

typedef struct Packing {
    double fractions[SEEDS_MAX]; // solid, in the bulk
    double contacts[SEEDS_MAX];  // with others, per grain, in the bulk
    double forces[SEEDS_MAX];    // contacts that carry, with the floor too, over grains
} Packing;

// Volume of the part of a sphere that is below a height.
static double volumeBelow(const rbClusterSphere* sphere, double z)
{
    double r = sphere->radius;
    double h = fmin(fmax(z - sphere->position.z + r, 0.0), 2.0 * r); // of the cap
    return RB_PI * h * h * (r - h / 3.0);
}

static void measure(rbGrainBed* bed, const Heap* heap, int index, Packing* packing)
{
    double half = 0.5 * heap->width;
    double area = heap->width * heap->width;
    double volume = 0.0;
    double part = 0.0;
    int onFloor = 0;
    rbGrainBed_Read(bed);
    for (int i = 0; i < bed->count; ++i) {
        volume += volumeBelow(&bed->spheres[i], 1e9);
        onFloor += bed->spheres[i].position.z < bed->spheres[i].radius + 1e-4;
    }
    double top = volume / (0.64 * area) - SURFACE; // at least as high as this
    for (int i = 0; i < bed->count; ++i) {
        part += volumeBelow(&bed->spheres[i], top) - volumeBelow(&bed->spheres[i], FLOOR);
    }
    rbBounds bulk = {{-half, -half, FLOOR}, {half, half, top}};
    rbBounds all = {{-half, -half, -1.0}, {half, half, 1e3}};
    rbClusterAverage whole = rbCluster_Average(bed->cluster, all);
    packing->fractions[index] = part / (area * (top - FLOOR));
    packing->contacts[index] = rbCluster_Average(bed->cluster, bulk).coordination;
    packing->forces[index] = 0.5 * whole.coordination + (double)onFloor / (double)whole.count;
}

// Advances until the grains rest. Without friction they may all drift together.
static bool waitForRest(rbGrainBed* bed)
{
    double mass = 0.0;
    for (int i = 0; i < bed->count; ++i) {
        mass += bed->spheres[i].mass;
    }
    for (int time = 0; time < TIME_MAX && rbGrainBed_IsGood(bed); ++time) {
        rbGrainBed_Advance(bed, 1.0);
        rbClusterReport report = rbCluster_GetReport(bed->cluster);
        double drift = 0.5 * rbLengthSquared(report.momentum) / mass;
        if (report.kinetic - drift < AT_REST * bed->count) {
            return true;
        }
    }
    return false;
}

static void settle(rbValidation* validation, const Heap* heap, double friction, int index,
                   Packing* packing)
{
    rbGrainBed bed = rbOpenGrainBed();
    double half = 0.5 * heap->width;
    double top = 2.0 * heap->count / (heap->width * heap->width) + 2.0; // of the lattice
    bed.contact.friction = friction;
    bed.def.periodicBox = rbMakeVec3(heap->width, heap->width, 0.0);
    bed.def.high.z = top;
    bed.def.wallCount = 1;
    bed.def.walls[0] = (rbClusterWall){{0.0, 0.0, 1.0}, 0.0};
    rbGrainBed_Fill(&bed, (rbBounds){{-half, -half, 0.1}, {half, half, top}}, heap->count,
                    (uint64_t)index + 1);
    rbGrainBed_Start(&bed);
    if (waitForRest(&bed)) {
        measure(&bed, heap, index, packing);
        rbValidation_Print(validation,
                           "  friction %g: solid fraction %.4f, %.2f contacts a grain, %.3f forces "
                           "a grain\n",
                           friction, packing->fractions[index], packing->contacts[index],
                           packing->forces[index]);
    } else {
        packing->fractions[index] = NAN;
        packing->contacts[index] = NAN;
        packing->forces[index] = NAN;
        rbValidation_Print(validation, "  friction %g: %s\n", friction,
                           rbGrainBed_IsGood(&bed) ? "the heap does not come to rest"
                                                   : bed.error.message);
    }
    rbCloseGrainBed(&bed);
}

static void runPacking(rbValidation* validation)
{
    const Heap* heap = validation->isQuick ? &quickHeap : &fullHeap;
    int seeds = validation->isQuick ? SEEDS_QUICK : SEEDS_MAX;
    Packing smooth;
    Packing rough;
    double error;
    for (int i = 0; i < seeds; ++i) {
        settle(validation, heap, 0.0, i, &smooth);
        settle(validation, heap, 0.5, i, &rough);
    }
    double mean = rbMeanOf(smooth.fractions, seeds, &error);
    if (!validation->isQuick) { // the standard error of two heaps is none
        rbValidation_Add(validation, "solid fraction without friction", mean, JAMMED,
                         JAMMED - CLOSE + 3.0 * error);
    }
    double more = 0.5 * 7.9 * sqrt(3.0 * JAMMED * OVERLAP); // a contact is of two grains
    rbValidation_Add(validation, "forces a grain without friction: isostatic",
                     rbMeanOf(smooth.forces, seeds, &error), 3.0 - 2.0 / heap->count, more);
    rbValidation_Add(validation, "solid fraction with friction: from loose to close",
                     rbMeanOf(rough.fractions, seeds, &error), 0.5 * (LOOSE + CLOSE),
                     0.5 * (CLOSE - LOOSE));
    rbValidation_Add(validation, "contacts a grain with friction: from 4 to 6",
                     rbMeanOf(rough.contacts, seeds, &error), 5.0, 1.0);
}

const rbValidationCase rbCaseGranularPacking = {
    .name = "granular-packing",
    .group = "granular",
    .help = "grains fall into a heap: solid fraction and number of contacts",
    .source =
        "O'Hern 2003: 0.639, isostatic; Scott, Kilgour 1969: 0.6366; Onoda, Liniger 1990: 0.555",
    .truth = RB_TRUTH_PUBLISHED,
    .run = runPacking,
};
