// Two spheres under relative acceleration: the first root of a polynomial of degree 4, by
// isolation.
//
// With x(t) = p + v t + a t^2/2 and R(t) = r + growth t the spheres touch where
//     f(t) = |x|^2 - R^2 = (|x| - R)(|x| + R)
// vanishes. Its second derivative is a quadratic, whose roots divide the time into intervals where
// f' is monotone; in each, f' has at most one root, found by bracketing; these divide the time into
// intervals where f is monotone, and the first decreasing one in which f reaches 0 contains the
// contact. No root can be skipped, and every one is approached from below.
#include "base/math/roots.h"
#include "dynamics/sweep/sweep.h"

#include <float.h>

typedef struct Fall {
    rbVec3 p, v, a;
    double r, growth;
} Fall;

static double gapAt(double t, void* context)
{
    const Fall* fall = context;
    rbVec3 x = rbAddScaled(fall->p, t, rbAddScaled(fall->v, 0.5 * t, fall->a));
    double radius = fall->r + fall->growth * t;
    double length = rbLength(x);
    return (length - radius) * (length + radius);
}

// f'/2
static double rateAt(double t, void* context)
{
    const Fall* fall = context;
    rbVec3 x = rbAddScaled(fall->p, t, rbAddScaled(fall->v, 0.5 * t, fall->a));
    double radius = fall->r + fall->growth * t;
    return rbDot(x, rbAddScaled(fall->v, t, fall->a)) - radius * fall->growth;
}

// rbFindRoot halves a bracket at least every four evaluations; doubles of one sign are 2048 binades
// of 2^52.
#define EVALUATIONS_MAX (4 * 2200)

// The last time in [low, high] before a function of different signs at the ends changes its sign.
static double findChange(rbRootFn* function, Fall* fall, double low, double high)
{
    rbRootResult result = rbFindRoot(function, fall, low, high, 0.0, EVALUATIONS_MAX);
    RB_ASSERT(result.end == RB_ROOT_FOUND);
    return result.f == 0.0 ? result.x : fmin(result.x, result.other);
}

// The non-negative roots of f''/2 = |v|^2 - growth^2 + a.x + ..., a quadratic, in order.
static int findBends(const Fall* fall, double roots[2])
{
    // (x.x')' - growth^2 = v.v + a.p - growth^2 + 3 v.a t + 3/2 a.a t^2
    double square = 1.5 * rbLengthSquared(fall->a);
    double half = 1.5 * rbDot(fall->v, fall->a);
    double rest = rbLengthSquared(fall->v) + rbDot(fall->a, fall->p) - fall->growth * fall->growth;
    double discriminant = half * half - square * rest;
    if (!(discriminant > 0.0)) {
        return 0;
    }
    double q = -(half + copysign(sqrt(discriminant), half));
    double first = q / square;
    double second = q != 0.0 ? rest / q : 0.0;
    double ordered[2] = {fmin(first, second), fmax(first, second)};
    int count = 0;
    for (int i = 0; i < 2; ++i) {
        if (ordered[i] > 0.0 && isfinite(ordered[i])) {
            roots[count++] = ordered[i];
        }
    }
    return count;
}

// A time after which f' stays positive.
static double findEnd(Fall* fall, double last)
{
    double accel = rbLength(fall->a);
    double time = fmax(last, rbLength(fall->v) / accel);
    time = fmax(time, sqrt(rbLength(fall->p) / accel));
    time = fmax(time, sqrt(fabs(fall->growth) / accel) * sqrt(fabs(fall->r) / accel));
    time = fmax(time, fabs(fall->growth) / accel);
    time = fmax(time, DBL_MIN);
    for (int i = 0; i < 64 && !(rateAt(time, fall) > 0.0); ++i) {
        time *= 2.0;
    }
    return time;
}

double rbSweepFallingSpheres(rbVec3 p, rbVec3 v, rbVec3 a, double r, double growth)
{
    RB_ASSERT(rbIsFinite3(p) && rbIsFinite3(v) && rbIsFinite3(a));
    RB_ASSERT(isfinite(r) && isfinite(growth));
    Fall fall = {p, v, a, r, growth};
    double marks[4] = {0.0}; // where f' may change its monotonicity
    int markCount = 1 + findBends(&fall, marks + 1);
    marks[markCount] = findEnd(&fall, marks[markCount - 1]);
    double turns[5] = {0.0}; // ends of the intervals where f is monotone
    int turnCount = 1;
    for (int i = 0; i < markCount; ++i) {
        if ((rateAt(marks[i], &fall) > 0.0) != (rateAt(marks[i + 1], &fall) > 0.0)) {
            turns[turnCount++] = findChange(rateAt, &fall, marks[i], marks[i + 1]);
        }
    }
    turns[turnCount] = marks[markCount];
    for (int i = 0; i < turnCount; ++i) {
        double from = turns[i], to = turns[i + 1];
        if (!(rateAt(0.5 * (from + to), &fall) < 0.0) || gapAt(to, &fall) > 0.0) {
            continue;
        }
        double t = gapAt(from, &fall) > 0.0 ? findChange(gapAt, &fall, from, to) : from;
        return r + growth * t >= 0.0 ? t : (double)INFINITY;
    }
    return (double)INFINITY;
}
