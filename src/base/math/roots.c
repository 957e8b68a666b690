// Root finding by inverse quadratic interpolation within a bracket.
//
// The bracket is [x, other], x the newest point. With the point before them a parabola x(f) goes
// through three points; it is trusted when it is monotone across the bracket, which is
// Chandrupatla's criterion: with xi = (x - other)/(third - other) and phi the same ratio of the f
// values, phi^2 < xi and (1 - phi)^2 < 1 - xi. Otherwise the bracket is halved, and also when three
// evaluations have not halved it. That bounds the number of evaluations for every f.
#include "base/math/roots.h"

#include <rattleback/base.h>

#include <float.h>
#include <math.h>

#define SLOW_STEPS 3 // interpolations in a row that may fail to halve the bracket

typedef struct rbBracket {
    double x, fx;         // newest point
    double other, fOther; // other end, fx fOther < 0
    double third, fThird; // point before, outside the bracket
    bool hasThird;
} rbBracket;

static rbRootResult finish(const rbBracket* k, int iterations, rbRootEnd end)
{
    bool isOtherBetter = isnan(k->fx) || fabs(k->fOther) < fabs(k->fx);
    rbRootResult r;
    r.x = isOtherBetter ? k->other : k->x;
    r.f = isOtherBetter ? k->fOther : k->fx;
    r.other = isOtherBetter ? k->x : k->other;
    r.iterations = iterations;
    r.end = end;
    return r;
}

// Fraction of the distance from x to other at which to evaluate next, in (0, 1).
static double interpolate(const rbBracket* k)
{
    if (!k->hasThird) {
        return 0.5;
    }
    double xi = (k->x - k->other) / (k->third - k->other);
    double phi = (k->fx - k->fOther) / (k->fThird - k->fOther);
    bool isMonotone = phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi;
    if (!isMonotone) {
        return 0.5;
    }
    double alpha = (k->third - k->x) / (k->other - k->x);
    double t = k->fx / (k->fOther - k->fx) * (k->fThird / (k->fOther - k->fThird)) +
               alpha * (k->fx / (k->fThird - k->fx)) * (k->fOther / (k->fThird - k->fOther));
    return t > 0.0 && t < 1.0 ? t : 0.5; // also catches NaN
}

// Evaluation point, at least the resolution away from both ends.
static double nextPoint(const rbBracket* k, double fraction, double resolution)
{
    double width = fabs(k->other - k->x);
    double margin = width > 0.0 ? 0.5 * resolution / width : 0.5;
    margin = margin < 0.5 ? margin : 0.5;
    double t = fraction < margin ? margin : fraction;
    t = t > 1.0 - margin ? 1.0 - margin : t;
    double point = t == 0.5 ? 0.5 * k->x + 0.5 * k->other : (1.0 - t) * k->x + t * k->other;
    double low = k->x < k->other ? k->x : k->other, high = k->x < k->other ? k->other : k->x;
    point = point < low ? low : point;
    return point > high ? high : point;
}

static void narrow(rbBracket* k, double x, double fx)
{
    RB_ASSERT((k->fx > 0.0) != (k->fOther > 0.0));
    if ((fx > 0.0) == (k->fx > 0.0)) {
        k->third = k->x;
        k->fThird = k->fx;
    } else {
        k->third = k->other;
        k->fThird = k->fOther;
        k->other = k->x;
        k->fOther = k->fx;
    }
    k->hasThird = true;
    k->x = x;
    k->fx = fx;
}

rbRootResult rbFindRoot(rbRootFn* f, void* context, double a, double b, double tolerance,
                        int maxIterations)
{
    RB_ASSERT(f != NULL);
    RB_ASSERT(isfinite(a) && isfinite(b));
    RB_ASSERT(tolerance >= 0.0);
    RB_ASSERT(maxIterations >= 0);
    rbBracket k = {.x = b, .fx = f(b, context), .other = a, .fOther = f(a, context)};
    if (isnan(k.fx) || isnan(k.fOther)) {
        return finish(&k, 0, RB_ROOT_NAN);
    }
    if (k.fx == 0.0 || k.fOther == 0.0) {
        return finish(&k, 0, RB_ROOT_FOUND);
    }
    if ((k.fx > 0.0) == (k.fOther > 0.0)) {
        return finish(&k, 0, RB_ROOT_NO_SIGN_CHANGE);
    }
    int slow = 0;
    double target = 0.5 * fabs(k.other - k.x); // width to be reached within SLOW_STEPS
    for (int iteration = 0;; ++iteration) {
        double width = fabs(k.other - k.x);
        double best = fabs(k.fx) < fabs(k.fOther) ? k.x : k.other;
        double resolution = 2.0 * DBL_EPSILON * fabs(best) + DBL_MIN * DBL_EPSILON;
        resolution = resolution > tolerance ? resolution : tolerance;
        if (width <= resolution) {
            return finish(&k, iteration, RB_ROOT_FOUND);
        }
        if (iteration >= maxIterations) {
            return finish(&k, iteration, RB_ROOT_TOO_MANY);
        }
        if (width <= target) {
            target = 0.5 * width;
            slow = 0;
        }
        double fraction = slow >= SLOW_STEPS ? 0.5 : interpolate(&k);
        slow = slow >= SLOW_STEPS ? 0 : slow + 1;
        double x = nextPoint(&k, fraction, resolution);
        double fx = f(x, context);
        if (isnan(fx)) {
            return finish(&k, iteration + 1, RB_ROOT_NAN);
        }
        narrow(&k, x, fx);
        if (fx == 0.0) {
            return finish(&k, iteration + 1, RB_ROOT_FOUND);
        }
    }
}
