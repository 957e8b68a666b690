// Settings of prediction by rays: defaults, names, and which are accepted.
#include "base/core/words.h"

#include <rattleback/lab_rays.h>

#include <limits.h>
#include <math.h>

#define EDGE_COUNT_MAX 1000
#define REFINE_ROUNDS_MAX 64
#define REFINE_COUNT_MAX 10000

static const char* const patternNames[RB_RAYS_PATTERN_COUNT] = {
    [RB_RAYS_UNIFORM] = "uniform",
    [RB_RAYS_LATTICE] = "lattice",
};
RB_DEFINE_WORDS(rbRayPattern, "pattern of rays", RB_RAYS_PATTERN_COUNT, patternNames[index])

rbRaySettings rbDefaultRaySettings(void)
{
    rbRaySettings settings = {
        .pattern = RB_RAYS_UNIFORM, .count = 100, .refineCount = 16, .tolerance = 1e-6, .seed = 10};
    return settings;
}

rbStatus rbRaySettings_Check(const rbRaySettings* settings, rbError* error)
{
    const struct {
        const char* what;
        int value;
        int low;
        int high;
    } rows[] = {{"the count of rays", settings->count, 0, RB_RAYS_COUNT_MAX},
                {"the count of rays of an edge", settings->edgeCount, 0, EDGE_COUNT_MAX},
                {"the count of rounds of refinement", settings->refineRounds, 0, REFINE_ROUNDS_MAX},
                {"the count of rays of a bundle", settings->refineCount, 1, REFINE_COUNT_MAX},
                {"the most rays of a prediction", settings->raysMax, 0, INT_MAX}};
    if ((unsigned)settings->pattern >= RB_RAYS_PATTERN_COUNT) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the pattern of rays is %d; 0 (uniform) and 1 (lattice) are accepted",
                           (int)settings->pattern);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (rows[i].value < rows[i].low || rows[i].value > rows[i].high) {
            return rbError_Set(error, RB_STATUS_INVALID, "%s is %d; %d to %d are accepted",
                               rows[i].what, rows[i].value, rows[i].low, rows[i].high);
        }
    }
    if (!(settings->tolerance > 0.0) || !isfinite(settings->tolerance)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the tolerance of rays is %g m; a finite length above 0 is accepted",
                           settings->tolerance);
    }
    return RB_STATUS_OK;
}
