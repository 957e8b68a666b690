// Friction discs as a fixed point, see contact_discs.h.
#include "dynamics/contact/contact_discs.h"

#include "base/math/dot.h"
#include "dynamics/solvers/solver.h"

#include <string.h>

#define DEPTH 5
// A miss this many times the smallest one: the history misleads.
#define WORSE 2.0
// Fraction of the step taken then.
#define CAREFUL 0.5
// Mixing goes beyond the current and requested radii by at most this factor.
#define BOUND 0.3

void rbContactDiscs_Free(rbContactDiscs* discs)
{
    rbArray_Free(discs->memory);
}

// Of the last round: miss, radii; then of each remembered one the change of the miss, and of the
// radii; and the result.
static double* slotOf(const rbContactDiscs* discs, int slot)
{
    return discs->memory.data + (size_t)slot * (size_t)discs->count;
}

static double* missChange(const rbContactDiscs* discs, int i)
{
    return slotOf(discs, 3 + i);
}

static double* radiusChange(const rbContactDiscs* discs, int i)
{
    return slotOf(discs, 3 + DEPTH + i);
}

void rbContactDiscs_Begin(rbContactDiscs* discs, int count)
{
    RB_ASSERT(count >= 0);
    rbArray_Reserve(discs->memory, (3 + 2 * DEPTH) * count);
    discs->memory.count = (3 + 2 * DEPTH) * count;
    discs->count = count;
    discs->depth = -1;
    discs->next = 0;
    discs->least = INFINITY;
}

// Adds to the result what the last rounds teach: the combination of their changes whose miss is
// least.
static void combine(const rbContactDiscs* discs, const double* miss, double* result)
{
    double gram[DEPTH * DEPTH] = {0.0};
    double right[DEPTH] = {0.0};
    double part[DEPTH];
    size_t n = (size_t)discs->count;
    int depth = discs->depth;
    for (int i = 0; i < depth; ++i) {
        for (int j = 0; j <= i; ++j) {
            double value = rbDotArrays(missChange(discs, i), missChange(discs, j), n);
            gram[j * depth + i] = value;
            gram[i * depth + j] = value;
        }
        right[i] = rbDotArrays(missChange(discs, i), miss, n);
    }
    rbSmallFactor factor;
    rbSmallFactor_Make(&factor, gram, depth, NULL);
    rbSmallFactor_Solve(&factor, right, part);
    for (int i = 0; i < depth; ++i) {
        const double* dMiss = missChange(discs, i);
        const double* dRadius = radiusChange(discs, i);
        for (size_t k = 0; k < n; ++k) {
            result[k] -= part[i] * (dMiss[k] + dRadius[k]);
        }
    }
}

const double* rbContactDiscs_Mix(rbContactDiscs* discs, const double* radii, const double* asked,
                                 const double* weights)
{
    double* lastMiss = slotOf(discs, 0);
    double* lastRadii = slotOf(discs, 1);
    double* result = slotOf(discs, 2);
    int n = discs->count;
    double most = 0.0;
    for (int k = 0; k < n; ++k) {
        result[k] = weights[k] * (asked[k] - radii[k]);
        most = fmax(most, fabs(result[k]));
    }
    bool isWorse = most > WORSE * discs->least;
    discs->least = fmin(discs->least, most);
    if (discs->depth >= 0) {
        double* dMiss = missChange(discs, discs->next);
        double* dRadius = radiusChange(discs, discs->next);
        for (int k = 0; k < n; ++k) {
            dMiss[k] = result[k] - lastMiss[k];
            dRadius[k] = weights[k] * radii[k] - lastRadii[k];
        }
        discs->next = (discs->next + 1) % DEPTH;
        discs->depth = discs->depth < DEPTH ? discs->depth + 1 : DEPTH;
    } else {
        discs->depth = 0;
    }
    memcpy(lastMiss, result, (size_t)n * sizeof(double));
    for (int k = 0; k < n; ++k) {
        lastRadii[k] = weights[k] * radii[k];
    }
    if (isWorse) {
        discs->depth = 0;
        discs->next = 0;
        discs->least = most;
        for (int k = 0; k < n; ++k) {
            result[k] = lastRadii[k] + CAREFUL * lastMiss[k];
        }
    } else {
        for (int k = 0; k < n; ++k) {
            result[k] = lastRadii[k] + lastMiss[k];
        }
        if (discs->depth > 0) {
            combine(discs, lastMiss, result);
        }
    }
    for (int k = 0; k < n; ++k) {
        double low = BOUND * fmin(radii[k], asked[k]);
        double high = fmax(radii[k], asked[k]) / BOUND;
        double radius = weights[k] > 0.0 ? result[k] / weights[k] : asked[k];
        result[k] = fmin(fmax(radius, low), high);
    }
    return result;
}
