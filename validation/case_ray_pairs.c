// Rays and exact sweeps against sweeps in 113 bits on random pairs: the missed contacts, the
// lateness of the ones found, and the cost, as functions of the number of rays; and the refinement
// about the shortest ray against a thousand plain rays.
#include "base/core/timer.h"
#include "convex_truth.h"
#include "error_statistics.h"
#include "ray_pairs.h"
#include "validation.h"

#include <rattleback/collision.h>

#include <math.h>

#define POOL_SEED 9
#define PAIRS_FULL 30000
#define PAIRS_QUICK 500
#define REFINED_RAYS_MAX 100 // of a prediction, vertices included
// Error allowance of rays, m: a hit at the very end or a touch is decided by rounding.
#define SLACK 1e-8
// Of the sweeps: the gap that those of round shapes leave, as a fraction of the size. A grazing
// motion covers the gap divided by the cosine of its angle to the normal, so the free path itself
// has no such bound.
#define GAP_LEFT 1e-10

typedef struct Mode {
    const char* name;
    int count;        // of both bodies together
    int refineRounds; // 0: plain
    int refineCount;
} Mode;

static const Mode modes[] = {
    {"10 plain", 10, 0, 16},   {"30 plain", 30, 0, 16},     {"100 plain", 100, 0, 16},
    {"300 plain", 300, 0, 16}, {"1000 plain", 1000, 0, 16}, {"refined", 32, 16, 8},
};
#define MODE_COUNT ((int)(sizeof modes / sizeof modes[0]))
#define MODE_PLAIN (MODE_COUNT - 2)
#define MODE_REFINED (MODE_COUNT - 1)

// Results of a mode on the pairs of a kind.
typedef struct Tally {
    int64_t exactHits, misses, falseHits, early;
    rbErrorSeries excess; // m, where both hit
    rbErrorSeries angles; // degrees
} Tally;

typedef struct Score {
    Tally kinds[RB_RAY_PAIR_KIND_COUNT];
    int64_t rays, raysMax;
    double seconds;
    uint64_t firstFalse, firstEarly; // numbers of pairs, for inspection; UINT64_MAX: none
} Score;

typedef struct Comparison {
    rbRayShapes shapes;
    int pairCount;
    rbStraightContact* truths; // pairCount; isInside ones are skipped
    double* ways[2];           // m, of the last two modes, NaN where there is no hit
    void* scratch;
    double exactSeconds;   // of the exact sweeps
    double exactError;     // m, their largest error of the free path
    double exactGap;       // the largest error along the normal, as a fraction of the size
    int64_t exactDisagree; // hits that they miss or invent
    rbError error;
} Comparison;

static rbRaySettings makeSettings(const Mode* mode)
{
    rbRaySettings settings = rbDefaultRaySettings();
    settings.count = mode->count / 2;
    settings.refineRounds = mode->refineRounds;
    settings.refineCount = mode->refineCount;
    settings.raysMax = mode->refineRounds > 0 ? REFINED_RAYS_MAX : 0;
    return settings;
}

static rbStraightContact findTruth(const rbStraightPair* pair)
{
    rbVec3 velocity = rbSub(pair->velocities[0], pair->velocities[1]);
    rbSweepTruth truth =
        rbSweepByTruth(pair->geometries[0], pair->starts[0], rbScale(pair->duration, velocity),
                       pair->geometries[1], pair->starts[1]);
    return (rbStraightContact){.isHit = truth.isHit,
                               .isInside = truth.isInside,
                               .time = truth.way / rbLength(velocity),
                               .way = truth.way,
                               .normal = truth.normal};
}

// The rate at which the gap closes along the path, over the size of the pair, 1/m.
static double findSteepness(const rbStraightPair* pair, const rbStraightContact* truth)
{
    rbVec3 direction = rbNormalize(rbSub(pair->velocities[0], pair->velocities[1]));
    double size = rbGeometry_GetRadius(pair->geometries[0], RB_VEC3_ZERO) +
                  rbGeometry_GetRadius(pair->geometries[1], RB_VEC3_ZERO);
    return fabs(rbDot(direction, truth->normal)) / size;
}

// The truths, and the exact sweeps of the library against them.
static void sweepAll(Comparison* comparison)
{
    for (int i = 0; i < comparison->pairCount && comparison->error.status == RB_STATUS_OK; ++i) {
        rbRandomPair drawn = rbDrawRayPair(&comparison->shapes, (uint64_t)i);
        rbStraightContact* truth = &comparison->truths[i];
        rbStraightContact sweep = {0};
        double start = rbGetThreadTime();
        (void)rbSweepStraight(&drawn.pair, comparison->scratch, &sweep, &comparison->error);
        comparison->exactSeconds += rbGetThreadTime() - start;
        *truth = findTruth(&drawn.pair);
        // solids of triangles may start one inside the other without an overlap of surfaces
        truth->isInside = truth->isInside || sweep.isInside;
        if (truth->isInside) {
            continue;
        }
        if (sweep.isHit != truth->isHit) {
            bool isAtEnd = fabs(drawn.pair.duration *
                                    rbDistance(drawn.pair.velocities[0], drawn.pair.velocities[1]) -
                                (truth->isHit ? truth->way : sweep.way)) < SLACK;
            comparison->exactDisagree += isAtEnd ? 0 : 1;
        } else if (truth->isHit) {
            double error = fabs(sweep.way - truth->way);
            comparison->exactError = rbWorseError(comparison->exactError, error);
            comparison->exactGap =
                rbWorseError(comparison->exactGap, error * findSteepness(&drawn.pair, truth));
        }
    }
}

static void compare(Score* score, const rbRandomPair* drawn, uint64_t number,
                    const rbStraightContact* found, const rbStraightContact* truth)
{
    Tally* tally = &score->kinds[drawn->kind];
    tally->exactHits += truth->isHit ? 1 : 0;
    if (found->isHit && truth->isHit) {
        double excess = found->way - truth->way;
        rbErrorSeries_Add(&tally->excess, fmax(excess, 0.0));
        rbErrorSeries_Add(&tally->angles, rbMeasureAngle(found->normal, truth->normal));
        if (excess < -SLACK) {
            ++tally->early;
            score->firstEarly = number < score->firstEarly ? number : score->firstEarly;
        }
    } else if (truth->isHit) {
        ++tally->misses;
    } else if (found->isHit) {
        ++tally->falseHits;
        score->firstFalse = number < score->firstFalse ? number : score->firstFalse;
    }
}

// ways: receives the errors of the free distances, or NULL.
static void runMode(Comparison* comparison, const Mode* mode, Score* score, double* ways)
{
    const rbRayEmitter* emitters[RB_RAY_SHAPE_COUNT] = {NULL};
    const rbRaySettings settings = makeSettings(mode);
    *score = (Score){.firstFalse = UINT64_MAX, .firstEarly = UINT64_MAX};
    for (int i = 0; i < RB_RAY_SHAPE_COUNT; ++i) {
        emitters[i] =
            rbCreateRayEmitter(comparison->shapes.shapes[i], &settings, &comparison->error);
    }
    double start = rbGetThreadTime();
    for (int i = 0; i < comparison->pairCount && comparison->error.status == RB_STATUS_OK; ++i) {
        rbRayCounts counts = {0};
        rbStraightContact found = {0};
        const rbStraightContact* truth = &comparison->truths[i];
        if (truth->isInside) {
            continue;
        }
        rbRandomPair drawn = rbDrawRayPair(&comparison->shapes, (uint64_t)i);
        drawn.pair.scratch = comparison->scratch;
        drawn.pair.emitters[0] = emitters[drawn.shapes[0]];
        drawn.pair.emitters[1] = emitters[drawn.shapes[1]];
        (void)rbPredictStraight(&drawn.pair, &settings, &counts, &found, &comparison->error);
        compare(score, &drawn, (uint64_t)i, &found, truth);
        score->rays += counts.rays;
        score->raysMax = counts.rays > score->raysMax ? counts.rays : score->raysMax;
        if (ways != NULL) {
            ways[i] = found.isHit && truth->isHit ? found.way - truth->way : (double)NAN;
        }
    }
    score->seconds = rbGetThreadTime() - start;
    for (int i = 0; i < RB_RAY_SHAPE_COUNT; ++i) {
        rbDestroyRayEmitter((rbRayEmitter*)emitters[i]);
    }
}

static void addTally(Tally* sum, const Tally* part)
{
    sum->exactHits += part->exactHits;
    sum->misses += part->misses;
    sum->falseHits += part->falseHits;
    sum->early += part->early;
    rbErrorSeries_Merge(&sum->excess, &part->excess);
    rbErrorSeries_Merge(&sum->angles, &part->angles);
}

static void freeTally(Tally* tally)
{
    rbErrorSeries_Free(&tally->excess);
    rbErrorSeries_Free(&tally->angles);
}

static void printTally(const rbValidation* validation, const char* name, Tally* tally)
{
    int64_t wrong = tally->falseHits + tally->early;
    rbValidation_Print(validation, "    %-24s %8.3f %8lld %10.2e %10.2e %10.2e", name,
                       100.0 * (double)tally->misses / (double)tally->exactHits, (long long)wrong,
                       rbErrorSeries_Quantile(&tally->excess, 0.5),
                       rbErrorSeries_Quantile(&tally->excess, 0.99),
                       rbErrorSeries_Quantile(&tally->angles, 0.5));
}

static void printScore(const rbValidation* validation, const Comparison* comparison,
                       const char* name, Score* score)
{
    Tally all = {0};
    for (int k = 0; k < RB_RAY_PAIR_KIND_COUNT; ++k) {
        addTally(&all, &score->kinds[k]);
    }
    printTally(validation, name, &all);
    rbValidation_Print(validation, " %8.1f %6lld %9.2f\n",
                       (double)score->rays / comparison->pairCount, (long long)score->raysMax,
                       1e6 * score->seconds / comparison->pairCount);
    freeTally(&all);
    for (int k = 0; k < RB_RAY_PAIR_KIND_COUNT; ++k) {
        char text[64];
        (void)snprintf(text, sizeof text, "  %s", rbRayPairKindNames[k]);
        printTally(validation, text, &score->kinds[k]);
        rbValidation_Print(validation, "\n");
    }
    if (score->firstFalse != UINT64_MAX || score->firstEarly != UINT64_MAX) {
        rbValidation_Print(validation, "      first false hit %lld, first early one %lld\n",
                           (long long)score->firstFalse, (long long)score->firstEarly);
    }
}

// Errors of 1000 plain and of refined rays on the pairs that both find; for one kind, or for all.
static void collectCommon(const Comparison* comparison, rbRayPairKind kind, rbErrorSeries series[2])
{
    for (int i = 0; i < comparison->pairCount; ++i) {
        bool isCommon = !isnan(comparison->ways[0][i]) && !isnan(comparison->ways[1][i]);
        if (isCommon && (kind == RB_RAY_PAIR_KIND_COUNT ||
                         rbDrawRayPair(&comparison->shapes, (uint64_t)i).kind == kind)) {
            rbErrorSeries_Add(&series[0], fmax(0.0, comparison->ways[0][i]));
            rbErrorSeries_Add(&series[1], fmax(0.0, comparison->ways[1][i]));
        }
    }
}

static void checkQuantile(rbValidation* validation, const char* kind, double part,
                          rbErrorSeries series[2])
{
    char text[96];
    double plain = rbErrorSeries_Quantile(&series[0], part);
    double refined = rbErrorSeries_Quantile(&series[1], part);
    (void)snprintf(text, sizeof text, "refined over 1000 plain, %s: %g %% of the excess (%.1e m)",
                   kind, 100.0 * part, refined);
    rbValidation_AddBound(validation, text, refined / plain, 1.0);
}

static int64_t countMisses(const Score* score)
{
    int64_t misses = 0;
    for (int k = 0; k < RB_RAY_PAIR_KIND_COUNT; ++k) {
        misses += score->kinds[k].misses;
    }
    return misses;
}

// Refinement must be as good as a thousand rays.
static void checkRefinement(rbValidation* validation, const Comparison* comparison,
                            const Score* plain, const Score* refined)
{
    rbErrorSeries all[2] = {0};
    collectCommon(comparison, RB_RAY_PAIR_KIND_COUNT, all);
    checkQuantile(validation, "all", 0.5, all);
    checkQuantile(validation, "all", 0.9, all);
    checkQuantile(validation, "all", 0.99, all);
    rbErrorSeries_Free(&all[0]);
    rbErrorSeries_Free(&all[1]);
    rbValidation_AddLimit(validation, "refined: most rays of a pair", (double)refined->raysMax,
                          REFINED_RAYS_MAX);
    if (validation->isQuick) {
        return; // too few pairs for one percent of a third, and for misses
    }
    for (int k = 0; k < RB_RAY_PAIR_KIND_COUNT; ++k) {
        rbErrorSeries series[2] = {0};
        collectCommon(comparison, (rbRayPairKind)k, series);
        checkQuantile(validation, rbRayPairKindNames[k], 0.99, series);
        rbErrorSeries_Free(&series[0]);
        rbErrorSeries_Free(&series[1]);
    }
    rbValidation_AddBound(validation, "refined over 1000 plain: misses",
                          (double)countMisses(refined) / (double)countMisses(plain), 1.0);
}

static Comparison openComparison(int pairCount)
{
    Comparison comparison = {.shapes = rbMakeRayShapes(POOL_SEED),
                             .pairCount = pairCount,
                             .scratch = rbAlloc(rbGetSeparationScratchSize())};
    comparison.error = comparison.shapes.error;
    comparison.truths = rbAllocZero((size_t)pairCount, sizeof *comparison.truths);
    for (int k = 0; k < 2; ++k) {
        comparison.ways[k] = rbAlloc((size_t)pairCount * sizeof(double));
        for (int i = 0; i < pairCount; ++i) {
            comparison.ways[k][i] = NAN;
        }
    }
    return comparison;
}

static void closeComparison(Comparison* comparison)
{
    size_t count = (size_t)comparison->pairCount;
    rbFreeRayShapes(&comparison->shapes);
    rbFree(comparison->truths, count * sizeof *comparison->truths);
    rbFree(comparison->ways[0], count * sizeof(double));
    rbFree(comparison->ways[1], count * sizeof(double));
    rbFree(comparison->scratch, rbGetSeparationScratchSize());
}

// Misses, false and early hits of a mode, as rows.
static void checkMode(rbValidation* validation, const Mode* mode, const Score* score)
{
    char text[96];
    int64_t wrong = 0;
    for (int k = 0; k < RB_RAY_PAIR_KIND_COUNT; ++k) {
        wrong += score->kinds[k].falseHits + score->kinds[k].early;
    }
    (void)snprintf(text, sizeof text, "%s: false or early hits", mode->name);
    rbValidation_AddBound(validation, text, (double)wrong, 0.0);
}

static void run(rbValidation* validation)
{
    Comparison comparison = openComparison(validation->isQuick ? PAIRS_QUICK : PAIRS_FULL);
    sweepAll(&comparison);
    int64_t hits = 0;
    int64_t inside = 0;
    for (int i = 0; i < comparison.pairCount; ++i) {
        inside += comparison.truths[i].isInside ? 1 : 0;
        hits += comparison.truths[i].isHit && !comparison.truths[i].isInside ? 1 : 0;
    }
    rbValidation_Print(
        validation,
        "  %d pairs, %lld touch, %lld overlap at the start and are skipped; exact sweep: %.1f us "
        "per pair\n    %-24s %8s %8s %10s %10s %10s %8s %6s %9s\n    %-24s %8s %8s %10s %10s %10s "
        "%8s "
        "%6s %9s\n",
        comparison.pairCount, (long long)hits, (long long)inside,
        1e6 * comparison.exactSeconds / comparison.pairCount, "rays of both bodies,", "missed",
        "false,", "excess [m]", "", "normal", "rays", "most", "time", "plus their vertices", "[%]",
        "early", "median", "99 %", "median [deg]", "per pair", "", "[us]");
    Score scores[MODE_COUNT];
    for (int m = 0; m < MODE_COUNT; ++m) {
        runMode(&comparison, &modes[m], &scores[m],
                m >= MODE_PLAIN ? comparison.ways[m - MODE_PLAIN] : NULL);
        printScore(validation, &comparison, modes[m].name, &scores[m]);
    }
    if (comparison.error.status != RB_STATUS_OK) {
        rbValidation_Print(validation, "  rejected: %s\n", comparison.error.message);
        rbValidation_AddLimit(validation, "refused", 1.0, 0.0);
    }
    rbValidation_AddBound(validation, "exact sweeps: hits missed or invented",
                          (double)comparison.exactDisagree, 0.0);
    rbValidation_AddBound(validation, "exact sweeps: largest gap left at contact, of the size",
                          comparison.exactGap, GAP_LEFT);
    rbValidation_Print(validation, "    largest error of their free path, a grazing one: %.2g m\n",
                       comparison.exactError);
    for (int m = 0; m < MODE_COUNT; ++m) {
        checkMode(validation, &modes[m], &scores[m]);
    }
    checkRefinement(validation, &comparison, &scores[MODE_PLAIN], &scores[MODE_REFINED]);
    for (int m = 0; m < MODE_COUNT; ++m) {
        for (int k = 0; k < RB_RAY_PAIR_KIND_COUNT; ++k) {
            freeTally(&scores[m].kinds[k]);
        }
    }
    closeComparison(&comparison);
}

const rbValidationCase rbCaseRayPairs = {
    .name = "ray-pairs",
    .group = "rays",
    .help = "rays and exact sweeps on 30,000 random pairs, by number of rays (a minute)",
    .source = "sweeps by cutting planes in 113 bits; R-61: 100 rays as good as 1000 plain rays",
    .truth = RB_TRUTH_SECOND_METHOD,
    .run = run,
};
