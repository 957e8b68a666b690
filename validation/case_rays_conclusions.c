// The conclusions of the thesis on rays (its section 5.1, E-14), retested over many directions and
// seeds instead of one scene each, and stated as text.
#include "base/core/random.h"
#include "base/core/timer.h"
#include "error_statistics.h"
#include "lab/math/random3.h"
#include "ray_scenes.h"

#include <rattleback/lab_ray_frames.h>

#include <math.h>

#define COUNTS 8
#define MEETING_END 2.8 // s; the balls of timeFrames meet their neighbors at about 2.6

static const int rayCounts[COUNTS] = {10, 20, 40, 80, 160, 320, 640, 1280};

// Agreement and path excess of one sampling method, by number of rays.
typedef struct Growth {
    double median[COUNTS]; // percent
    double excess[COUNTS]; // m, median
} Growth;

static void summarize(Growth* growth, int index, rbErrorSeries* agreement, rbErrorSeries* excess)
{
    growth->median[index] = rbErrorSeries_Quantile(agreement, 0.5);
    growth->excess[index] = rbErrorSeries_Quantile(excess, 0.5);
    rbErrorSeries_Free(agreement);
    rbErrorSeries_Free(excess);
}

// Smallest number of rays that reaches a level; 0: none of them does.
static int findCount(const double values[COUNTS], double level)
{
    int count = 0;
    for (int i = COUNTS - 1; i >= 0 && values[i] >= level; --i) {
        count = rayCounts[i];
    }
    return count;
}

// Two unit balls that pass each other at all distances up to 1.5 m, in all directions about x.
static Growth growSpheres(rbRayStage* stage, rbRayPattern pattern, int trials)
{
    Growth growth = {0};
    for (int k = 0; k < COUNTS; ++k) {
        rbErrorSeries agreement = {0};
        rbErrorSeries excess = {0};
        rbRandom random = {14};
        rbRaySettings settings = rbMakePublishedRays(rayCounts[k]);
        settings.pattern = pattern;
        for (int i = 0; i < trials; ++i) {
            double offset = 1.5 * sqrt(rbRandom_Unit(&random));
            double angle = rbRandom_Range(&random, 0.0, 2.0 * RB_PI);
            rbVec3 side = {0.0, offset * cos(angle), offset * sin(angle)};
            double along = sqrt(4.0 - offset * offset);
            stage->pair.starts[0].p = rbAdd((rbVec3){3.0, 0.0, 0.0}, side);
            stage->truth.way = 3.0 - along;
            stage->truth.point = rbAddScaled((rbVec3){0.5 * along, 0.0, 0.0}, 0.5, side);
            stage->truth.normal = stage->truth.point;
            rbStraightContact found = rbRayStage_Cast(stage, &settings);
            rbRayErrors errors = rbRayStage_Check(stage, &found);
            rbErrorSeries_Add(&agreement, found.isHit ? errors.agreement : 0.0);
            rbErrorSeries_Add(&excess, found.isHit ? fmax(errors.excess, 0.0) : (double)INFINITY);
        }
        summarize(&growth, k, &agreement, &excess);
    }
    return growth;
}

// A scene with random starts, over seeds. above: how many of 100 seeds reach a level with 80 rays.
static Growth growSeeds(rbRayStage* stage, int trials, double level, double* above)
{
    Growth growth = {0};
    for (int k = 0; k < COUNTS; ++k) {
        rbErrorSeries agreement = {0};
        rbErrorSeries excess = {0};
        int reached = 0;
        rbRaySettings settings = rbMakePublishedRays(rayCounts[k]);
        for (int i = 0; i < trials; ++i) {
            settings.seed = (uint64_t)i + 1;
            rbStraightContact found = rbRayStage_Cast(stage, &settings);
            rbRayErrors errors = rbRayStage_Check(stage, &found);
            rbErrorSeries_Add(&agreement, found.isHit ? errors.agreement : 0.0);
            rbErrorSeries_Add(&excess, found.isHit ? fmax(errors.excess, 0.0) : (double)INFINITY);
            reached += found.isHit && errors.agreement >= level ? 1 : 0;
        }
        if (rayCounts[k] == 80) {
            *above = 100.0 * reached / trials;
        }
        summarize(&growth, k, &agreement, &excess);
    }
    return growth;
}

static void printGrowth(const rbValidation* validation, const char* name, const Growth* growth)
{
    rbValidation_Print(validation, "    %-22s", name);
    for (int k = 0; k < COUNTS; ++k) {
        rbValidation_Print(validation, "  %5.1f %7.5f", growth->median[k], growth->excess[k]);
    }
    rbValidation_Print(validation, "\n");
}

// The largest frame of a run in CPU seconds, so that other programs do not count.
static double runFrames(rbRayFrames* frames, rbError* error)
{
    double largest = 0.0;
    while (error->status == RB_STATUS_OK && rbRayFrames_GetTime(frames) < MEETING_END) {
        double start = rbGetThreadTime();
        (void)rbRayFrames_Update(frames, error);
        largest = fmax(largest, rbGetThreadTime() - start);
    }
    return largest;
}

// Balls that move to the center until neighbors touch; the largest frame in seconds, the best of
// three runs.
static double timeFrames(int bodies, int rays, rbError* error)
{
    double best = INFINITY;
    double radius = 1.2 * 2.0 / sqrt((double)bodies);
    for (int repeat = 0; repeat < 3 && error->status == RB_STATUS_OK; ++repeat) {
        rbRayFrameSettings settings = rbDefaultRayFrameSettings();
        settings.rays = rbMakePublishedRays(rays);
        settings.mode = RB_FRAMES_LOG;
        rbRayFrames* frames = rbCreateRayFrames(&settings, error);
        rbGeometry* ball = rbCreateSphere(radius, error);
        rbRandom random = {10};
        const rbVec3 middle = RB_VEC3_ZERO;
        for (int i = 0; i < bodies && error->status == RB_STATUS_OK; ++i) {
            // evenly over a sphere, so that none touch at the start
            double z = 1.0 - (2.0 * i + 1.0) / bodies;
            double angle = 2.39996322972865332 * i;
            double ring = sqrt(1.0 - z * z);
            rbPathDef path = rbDefaultPathDef();
            path.type = RB_PATH_LINE;
            path.speed = 1.0;
            path.points = &middle;
            path.pointCount = 1;
            const rbFrameBodyDef def = {
                .geometry = ball,
                .transform = {{4.0 * ring * cos(angle), 4.0 * ring * sin(angle), 4.0 * z},
                              rbRandom_Quat(&random)},
                .path = &path};
            (void)rbRayFrames_AddBody(frames, &def, error);
        }
        if (error->status == RB_STATUS_OK &&
            rbRayFrames_Prepare(frames, MEETING_END, error) == RB_STATUS_OK) {
            best = fmin(best, runFrames(frames, error));
        }
        rbDestroyGeometry(ball);
        rbDestroyRayFrames(frames);
    }
    return best;
}

// "with at least 80 rays", or "with none of these".
static const char* describeCount(int count, char text[32])
{
    (void)snprintf(text, 32, count > 0 ? "with at least %d rays" : "with none of these", count);
    return text;
}

static void checkAccuracy(rbValidation* validation)
{
    int trials = validation->isQuick ? 60 : 1000;
    char text[2][32];
    double above = 0.0;
    double aboveBase = 0.0;
    rbRayStage spheres = rbOpenRayStage(RB_RAY_OFFSET);
    rbRayStage base = rbOpenRayStage(RB_RAY_BASE);
    rbRayStage edges = rbOpenRayStage(RB_RAY_EDGES);
    Growth lattice = growSpheres(&spheres, RB_RAYS_LATTICE, trials);
    Growth uniform = growSpheres(&spheres, RB_RAYS_UNIFORM, trials);
    Growth onBase = growSeeds(&base, trials, 95.0, &aboveBase);
    Growth onEdges = growSeeds(&edges, trials, 98.52, &above);
    rbValidation_Print(
        validation,
        "  median agreement [%%] and path excess [m] over %d directions or seeds, by "
        "rays of the mover\n    %-22s",
        trials, "");
    for (int k = 0; k < COUNTS; ++k) {
        rbValidation_Print(validation, "  %13d", rayCounts[k]);
    }
    rbValidation_Print(validation, "\n");
    printGrowth(validation, "spheres, lattice", &lattice);
    printGrowth(validation, "spheres, uniform", &uniform);
    printGrowth(validation, "polytope on sphere", &onBase);
    printGrowth(validation, "edge on edge", &onEdges);
    rbValidation_Print(
        validation,
        "  \"Spheres need 80 rays for 95 %%\": in its scene 81 yield 96.5 %%. Over all directions "
        "80 "
        "yield %.1f %% (lattice) and %.1f %% (spread by area) in the median\n    and are %.4f and "
        "%.4f m late; the median is above 95 %% %s (lattice), %s (by area): the measure depends on "
        "the axes.\n",
        lattice.median[3], uniform.median[3], lattice.excess[3], uniform.excess[3],
        describeCount(findCount(lattice.median, 95.0), text[0]),
        describeCount(findCount(uniform.median, 95.0), text[1]));
    rbValidation_Print(validation,
                       "  \"Polytope on sphere needs 1000\": the median seed reaches 95 %% %s.\n",
                       describeCount(findCount(onBase.median, 95.0), text[0]));
    rbValidation_Print(
        validation,
        "  \"Edge on edge needs 80 for 98 %%\": with 80 rays %.1f %% of the seeds reach the "
        "printed "
        "98.52 %%; the median seed reaches 98 %% %s,\n    and even then the path is %.3f m too "
        "long.\n",
        above, describeCount(findCount(onEdges.median, 98.0), text[0]), onEdges.excess[COUNTS - 1]);
    rbAddRayBound(validation, "E-14 edge on edge",
                  "seeds with the published 98.52 % at 80 rays [%]", above, 10.0);
    rbAddRayBound(validation, "E-14 edge on edge", "median agreement with 80 rays is below 98 [%]",
                  onEdges.median[3], 98.0);
    rbAddRayBound(validation, "E-14 polytope on sphere",
                  "rays for a median of 95 %; the thesis: 1000", findCount(onBase.median, 95.0),
                  640.0);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbAddRayBound(validation, "E-14 spheres", "80 rays by area, median lateness [m]; law: 1/80",
                  uniform.excess[3], 0.0125);
    rbValidation_SetTruth(validation, RB_TRUTH_LIMIT);
    rbAddRayBound(validation, "E-14 spheres", "80 rays by area / lattice, median lateness",
                  uniform.excess[3] / lattice.excess[3], 1.0);
    rbCheckRayError(validation, "E-14", &spheres.error);
    rbCheckRayError(validation, "E-14", &base.error);
    rbCheckRayError(validation, "E-14", &edges.error);
    rbRayStage_Close(&spheres);
    rbRayStage_Close(&base);
    rbRayStage_Close(&edges);
}

static void checkSpeed(rbValidation* validation)
{
    rbError error = {0};
    const int sizes[4] = {15, 50, 150, 500};
    int sizeCount = validation->isQuick ? 2 : 4;
    double seconds[4] = {0};
    rbValidation_Print(validation,
                       "  \"15 objects with 80 to 100 rays are the limit of real time\", 41 ms: "
                       "neighbors among n balls touch, 100 rays, largest frame in CPU time, n =");
    for (int i = 0; i < sizeCount; ++i) {
        seconds[i] = timeFrames(sizes[i], 100, &error);
        rbValidation_Print(validation, "%s %d: %.2f ms", i > 0 ? "," : "", sizes[i],
                           1e3 * seconds[i]);
    }
    double few = timeFrames(sizes[1], 1, &error);
    rbValidation_Print(validation,
                       ".\n  \"Cost is dominated by ray intersection\": no longer with so few; %d "
                       "balls with 1 ray "
                       "take %.2f ms, with 100 rays %.2f ms.\n",
                       sizes[1], 1e3 * few, 1e3 * seconds[1]);
    rbValidation_SetTruth(validation, RB_TRUTH_LIMIT);
    rbAddRayBound(validation, "E-14", "15 balls, 100 rays, largest frame [s]; 2005: 0.043",
                  seconds[0], 0.041);
    rbCheckRayError(validation, "E-14", &error);
}

static void run(rbValidation* validation)
{
    checkAccuracy(validation);
    checkSpeed(validation);
    rbValidation_Print(
        validation,
        "  \"Curved pairs are worst\": not in general. Where the thesis saw it, its trigger was "
        "late (ray-curves, E-09); traversed piece by piece, curves are as\n    good as lines.\n"
        "  \"Not fit for surgery\": true of plain rays, whose excess falls like 1/n at best and "
        "1/sqrt n on edges. For refined rays and exact sweeps see ray-pairs.\n");
}

const rbValidationCase rbCaseRayConclusions = {
    .name = "ray-conclusions",
    .group = "rays",
    .help = "conclusions of the thesis on rays, retested",
    .source = "E-14 of the specification, section 5.1 of the thesis",
    .truth = RB_TRUTH_PUBLISHED,
    .run = run,
};
