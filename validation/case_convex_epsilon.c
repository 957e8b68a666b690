// The tolerance of the depth search: ellipsoid pairs as in a packing through GJK and EPA for
// tolerances from 1e-1 to 1e-13.
//
// The pairs are built from their answer: a direction n, the points of both ellipsoids with the
// normals n and -n, and their distance along n, in 113 bits. Shallow overlaps have no other normal:
// the next stationary depth is of the order of the semi-axes.
//
// Twice: as the thesis does it (bodies enlarged by a margin of 1e-4, plain EPA, contact if the
// signed distance is below 1e-8), and by our method, which needs no margin and finishes by Newton.
#include "base/core/timer.h"
#include "collision/convex/epa.h"
#include "collision/convex/gjk.h"
#include "error_statistics.h"
#include "lab/convex/minkowski.h"
#include "lab/math/random3.h"
#include "validation.h"
#include "wide.h"

#include <math.h>

#define PAIRS_QUICK 2000
#define PAIRS_FULL 250000
#define DIGITS_MAX 13
// In a packing most contacts are shallow: table 6 of the thesis has a mean of 0.37e-3.
#define OVERLAP_SHARE 0.35
#define DEPTH_MEAN 4e-4
#define GAP_MEAN 0.05
#define SEMI_AXES     \
    {                 \
        1.0, 0.7, 0.5 \
    }
#define MARGIN 1e-4
#define THRESHOLD 1e-8
// Tolerances over which the power law of the normal error is fitted.
#define SLOPE_FROM 3
#define SLOPE_TO 8

typedef struct Sample {
    rbTransform transformBtoA;
    double distance; // m, signed, known by construction
    rbVec3 normal;   // likewise
} Sample;

// Table 9 of the thesis.
static const int printedExits[DIGITS_MAX] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 43, 488, 7015, 15411};
static const int printedMisses[DIGITS_MAX] = {5939, 561, 62, 5, 2, 0, 0, 0, 0, 0, 0, 0, 0};

typedef struct Sweep {
    bool isThesis; // margin and plain EPA
    const Sample* samples;
    int count;
    const rbConvex* body; // both are of the same shape
    rbEpaScratch* scratch;
} Sweep;

// One tolerance.
typedef struct Tally {
    int reached; // pairs that reach EPA
    int exits;   // those that did not end by the tolerance
    int missed;
    int falseAlarms;
    double iterations; // mean
    double supports;   // mean, of EPA and Newton
    double depthError; // mean, m
    double angle;      // mean, degrees
    double angleMax;
    double seconds;
} Tally;

// --------------------------------------------------------------------------------------- samples

static double exponential(rbRandom* random, double mean)
{
    return -mean * rbLog(1.0 - rbRandom_Unit(random));
}

// The point of the ellipsoid with a normal, in its axes.
static rbWide3 findPoint(rbWide3 n)
{
    static const double semiAxes[3] = SEMI_AXES;
    rbWide a[3] = {semiAxes[0], semiAxes[1], semiAxes[2]};
    rbWide3 s = {a[0] * a[0] * n.x, a[1] * a[1] * n.y, a[2] * a[2] * n.z};
    return rbWide3_Scale(1 / rbWide_Sqrt(rbWide3_Dot(n, s)), s);
}

static Sample makeSample(rbRandom* random)
{
    Sample sample;
    sample.transformBtoA.q = rbRandom_Quat(random);
    rbWideTurn turn = rbWideTurn_FromQuat(sample.transformBtoA.q);
    rbWide3 n = rbWide3_Unit(rbWide3_From(rbRandom_Direction(random)));
    bool overlaps = rbRandom_Unit(random) < OVERLAP_SHARE;
    sample.distance = overlaps ? -exponential(random, DEPTH_MEAN) : exponential(random, GAP_MEAN);
    rbWide3 onB = findPoint(rbWideTurn_Undo(&turn, rbWide3_Scale(-1, n)));
    rbWide3 p = rbWide3_AddScaled(findPoint(n), sample.distance, n);
    sample.transformBtoA.p = rbWide3_Round(rbWide3_Sub(p, rbWideTurn_Apply(&turn, onB)));
    sample.normal = rbWide3_Round(n);
    return sample;
}

// ---------------------------------------------------------------------------------------- methods

typedef struct Answer {
    bool isReached; // by EPA
    bool isExit;
    double distance;
    rbVec3 normal;
    int iterations, supports;
} Answer;

static Answer solve(const Sweep* sweep, const Sample* sample, double epsilon)
{
    rbCso cso = rbCso_Make(sweep->body, sweep->body, sample->transformBtoA);
    rbGjkSettings detection = rbDefaultGjkSettings();
    detection.distanceMax = 0.0;
    rbGjkResult gjk;
    rbGjk_Solve(&cso, &detection, NULL, &gjk);
    if (!gjk.overlaps) {
        return (Answer){.distance = gjk.lower};
    }
    rbEpaSettings settings = rbDefaultEpaSettings();
    settings.relativeTolerance = epsilon;
    settings.enableNewton = !sweep->isThesis;
    settings.enableSphereCap = false;
    rbEpaResult epa = rbEpa_Depth(&cso, gjk.simplex, gjk.simplexCount, &settings, sweep->scratch);
    // the thesis reports the distance of the face, which is the lower bound of the depth
    double distance = sweep->isThesis ? 2.0 * MARGIN - epa.lower : -epa.depth;
    return (Answer){.isReached = true,
                    .isExit = epa.reason != RB_STOP_CONVERGED,
                    .distance = distance,
                    .normal = epa.normal,
                    .iterations = epa.iterations,
                    .supports = epa.supports};
}

static void noteAnswer(const Sweep* sweep, int i, const Answer* answer, Tally* tally)
{
    double truth = sweep->samples[i].distance;
    bool isContact = answer->isReached && answer->distance < (sweep->isThesis ? THRESHOLD : 0.0);
    tally->reached += answer->isReached;
    tally->exits += answer->isReached && answer->isExit;
    tally->missed += truth < 0.0 && !isContact;
    tally->falseAlarms += truth > 2.0 * THRESHOLD && isContact;
    if (answer->isReached && truth < 0.0) {
        double angle = rbMeasureAngle(answer->normal, sweep->samples[i].normal);
        tally->iterations += answer->iterations;
        tally->supports += answer->supports;
        tally->depthError += fabs(answer->distance - truth);
        tally->angle += angle;
        tally->angleMax = rbWorseError(angle, tally->angleMax);
    }
}

static Tally runTolerance(const Sweep* sweep, double epsilon)
{
    Tally tally = {0};
    int contacts = 0;
    double start = rbGetWallTime();
    for (int i = 0; i < sweep->count; ++i) {
        Answer answer = solve(sweep, &sweep->samples[i], epsilon);
        noteAnswer(sweep, i, &answer, &tally);
        contacts += sweep->samples[i].distance < 0.0;
    }
    tally.seconds = rbGetWallTime() - start;
    tally.iterations /= contacts;
    tally.supports /= contacts;
    tally.depthError /= contacts;
    tally.angle /= contacts;
    return tally;
}

// Slope of log(mean angle) over log(epsilon), least squares.
static double fitSlope(const Tally* tallies)
{
    double n = SLOPE_TO - SLOPE_FROM + 1, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
    for (int digits = SLOPE_FROM; digits <= SLOPE_TO; ++digits) {
        double value = log10(tallies[digits - 1].angle);
        x -= digits;
        y += value;
        xx += (double)digits * digits;
        xy -= digits * value;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

static void runSweep(rbValidation* validation, Sweep* sweep, Tally tallies[DIGITS_MAX])
{
    rbValidation_Print(validation,
                       "  %s\n    %-8s %8s %8s %8s %8s %8s %10s %10s %10s %10s %8s %9s\n",
                       sweep->isThesis ? "margin 1e-4, plain EPA, as the thesis (its numbers in "
                                         "brackets: 87,000 of 250,000 pairs reach EPA)"
                                       : "our method",
                       "epsilon", "EPA", "exits", sweep->isThesis ? "(thesis)" : "", "missed",
                       sweep->isThesis ? "(thesis)" : "", "mean deg", "max deg", "depth [m]",
                       "iterations", "supports", "pairs/s");
    for (int digits = 1; digits <= DIGITS_MAX; ++digits) {
        Tally* t = &tallies[digits - 1];
        *t = runTolerance(sweep, pow(10.0, -digits));
        char exits[16] = "";
        char misses[16] = "";
        if (sweep->isThesis) {
            (void)snprintf(exits, sizeof exits, "(%d)", printedExits[digits - 1]);
            (void)snprintf(misses, sizeof misses, "(%d)", printedMisses[digits - 1]);
        }
        rbValidation_Print(
            validation, "    1e-%-5d %8d %8d %8s %8d %8s %10.2e %10.2e %10.2e %10.1f %8.1f %9.0f\n",
            digits, t->reached, t->exits, exits, t->missed, misses, t->angle, t->angleMax,
            t->depthError, t->iterations, t->supports, sweep->count / t->seconds);
    }
}

// ------------------------------------------------------------------------------------------- rows

static int sumFrom(const Tally* tallies, int digits, bool isMissed)
{
    int sum = 0;
    for (int i = digits; i <= DIGITS_MAX; ++i) {
        sum += isMissed ? tallies[i - 1].missed : tallies[i - 1].falseAlarms;
    }
    return sum;
}

static void judge(rbValidation* validation, const Tally* thesis, const Tally* ours)
{
    int earlyExits = 0;
    for (int digits = 1; digits <= 8; ++digits) {
        earlyExits += thesis[digits - 1].exits;
    }
    rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
    rbValidation_AddBound(validation, "as the thesis: missed contacts at 1e-6 and below",
                          sumFrom(thesis, 6, true), 0.0);
    rbValidation_AddBound(validation, "as the thesis: numerical exits down to 1e-8", earlyExits,
                          0.0);
    rbValidation_Add(validation, "as the thesis: slope of the normal error, 1e-3 to 1e-8",
                     fitSlope(thesis), 0.5, 0.05);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbValidation_AddBound(validation, "our method: missed contacts at any tolerance",
                          sumFrom(ours, 1, true), 0.0);
    rbValidation_AddBound(validation, "our method: contacts of separate bodies",
                          sumFrom(ours, 1, false), 0.0);
    double angle = 0.0;
    double depth = 0.0;
    for (int digits = 6; digits <= DIGITS_MAX; ++digits) {
        angle = rbWorseError(ours[digits - 1].angleMax, angle);
        depth = rbWorseError(ours[digits - 1].depthError, depth);
    }
    rbValidation_AddBound(
        validation, "our method: largest normal deviation at 1e-6 and below [deg]", angle, 1e-4);
    rbValidation_AddBound(validation, "our method: mean depth error at 1e-6 and below [m]", depth,
                          1e-11);
}

static void run(rbValidation* validation)
{
    int count = validation->isQuick ? PAIRS_QUICK : PAIRS_FULL;
    size_t scratchSize = sizeof(rbEpaScratch);
    size_t sampleSize = (size_t)count * sizeof(Sample);
    Sample* samples = rbAlloc(sampleSize);
    Sweep sweep = {.count = count, .samples = samples, .scratch = rbAlloc(scratchSize)};
    rbGeometry* geometry = rbCreateEllipsoid((rbVec3)SEMI_AXES, NULL);
    rbGeometry* ball = rbCreateEllipsoid(rbMakeVec3(MARGIN, MARGIN, MARGIN), NULL);
    rbRandom random = {9};
    for (int i = 0; i < count; ++i) {
        samples[i] = makeSample(&random);
    }
    Tally tallies[2][DIGITS_MAX];
    rbConvex plain;
    rbConvex margin;
    rbMinkowskiSum sum;
    bool isMade = rbConvex_Make(geometry, 0.0, &plain) && rbConvex_Make(ball, 0.0, &margin);
    RB_ASSERT(isMade);
    rbMinkowskiSum_Make(&sum, &plain, &margin);
    for (int k = 0; k < 2; ++k) {
        sweep.isThesis = k == 0;
        sweep.body = sweep.isThesis ? &sum.body : &plain;
        runSweep(validation, &sweep, tallies[k]);
    }
    (void)isMade;
    judge(validation, tallies[0], tallies[1]);
    rbDestroyGeometry(geometry);
    rbDestroyGeometry(ball);
    rbFree(samples, sampleSize);
    rbFree(sweep.scratch, scratchSize);
}

const rbValidationCase rbCaseConvexEpsilon = {
    .name = "convex-epsilon",
    .help = "250,000 ellipsoid pairs through the depth search, tolerances 1e-1 to 1e-13",
    .source = "X-10, Leemann 2017 section 4.3, table 9: normal error as the root of epsilon; pairs "
              "built from their normal and distance",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
