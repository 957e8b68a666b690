#include "mechanism_reference.h"

#include "base/core/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Extrapolation of Gragg's midpoint rule (Gragg 1965, Bulirsch and Stoer 1966) with the even
// numbers 2, 4, .. of sub-steps: its error has even powers only, so each column gains two orders.
#define COLUMNS 10
// Rounding difference between two columns, in units of the last place. Where long double has 64
// bits (x86) it exceeds the bound that 113 bits (Arm) meet.
#define ROUNDING 4096.0L
// The same for the states at which large rates are evaluated.
#define ROUNDING_STATE 64.0L

// Change of y over one big step with a number of sub-steps: it has less rounding than y.
static void stepMidpoint(const rbReference* r, long double step, int count, long double* out)
{
    long double before[RB_REFERENCE_SIZE_MAX] = {0};
    long double now[RB_REFERENCE_SIZE_MAX] = {0};
    long double at[RB_REFERENCE_SIZE_MAX];
    long double rate[RB_REFERENCE_SIZE_MAX];
    long double h = step / count;
    r->rate(r->y, rate, r->parameter);
    for (int i = 0; i < r->size; ++i) {
        now[i] = h * rate[i];
    }
    for (int k = 1; k < count; ++k) {
        for (int i = 0; i < r->size; ++i) {
            at[i] = r->y[i] + now[i];
        }
        r->rate(at, rate, r->parameter);
        for (int i = 0; i < r->size; ++i) {
            long double next = before[i] + 2.0L * h * rate[i];
            before[i] = now[i];
            now[i] = next;
        }
    }
    memcpy(out, now, sizeof now);
}

// Change of y over one big step, and the difference of the last two columns.
static long double tryStep(const rbReference* r, long double step,
                           long double out[RB_REFERENCE_SIZE_MAX])
{
    long double table[COLUMNS][RB_REFERENCE_SIZE_MAX] = {{0}};
    long double error = 0.0L;
    for (int j = 0; j < COLUMNS; ++j) {
        stepMidpoint(r, step, 2 * (j + 1), table[j]);
        // Aitken and Neville in place: table[k] becomes the entry of the column j - k
        for (int k = j - 1; k >= 0; --k) {
            long double ratio = (long double)(j + 1) / (k + 1);
            long double weight = 1.0L / (ratio * ratio - 1.0L);
            for (int i = 0; i < r->size; ++i) {
                long double next = table[k + 1][i] + weight * (table[k + 1][i] - table[k][i]);
                long double change = fabsl(next - table[k][i]);
                error = j == COLUMNS - 1 && k == 0 && change > error ? change : error;
                table[k][i] = next;
            }
        }
    }
    memcpy(out, table[0], sizeof table[0]);
    return error;
}

static long double getLargest(const rbReference* r, const long double values[RB_REFERENCE_SIZE_MAX])
{
    long double largest = 0.0L;
    for (int i = 0; i < r->size; ++i) {
        largest = fmaxl(largest, fabsl(values[i]));
    }
    return largest;
}

void rbReference_Advance(rbReference* reference, long double time)
{
    const long double requested = reference->bound > 0.0L ? reference->bound : 1e-19L;
    const long double stepMin = 1e-6L * reference->step;
    RB_ASSERT(time >= reference->time && reference->step > 0.0L);
    while (reference->time < time) {
        bool isLast = time - reference->time <= reference->step;
        long double step = isLast ? time - reference->time : reference->step;
        long double change[RB_REFERENCE_SIZE_MAX];
        long double error = tryStep(reference, step, change);
        long double bound = fmaxl(
            requested, LDBL_EPSILON * fmaxl(ROUNDING * fmaxl(1.0L, getLargest(reference, change)),
                                            ROUNDING_STATE * getLargest(reference, reference->y)));
        if (!(error <= bound) && step > stepMin) {
            reference->step = 0.5L * step;
            continue;
        }
        for (int i = 0; i < reference->size; ++i) {
            reference->y[i] += change[i];
        }
        reference->error += error;
        reference->time = isLast ? time : reference->time + step;
        // a step half as long again raises the error of order 20 by a factor of about 3000; where
        // the error is rounding, the longer step is tried
        if (error < (bound > requested ? 0.1L : 1e-4L) * bound && !isLast) {
            reference->step *= 1.5L;
        }
    }
}

// -------------------------------------------------------------------------------------- pendulums

static void ratePendulum(const long double* y, long double* rate, long double parameter)
{
    rate[0] = y[1];
    rate[1] = -parameter * sinl(y[0]);
}

rbReference rbMakePendulumReference(double gravity, double angle, double rate)
{
    rbReference r = {
        .rate = ratePendulum, .parameter = gravity, .size = 2, .step = 0.05L, .y = {angle, rate}};
    return r;
}

// Equal masses and lengths of 1, angles a and b from straight down, D = a - b:
//   2 a'' + b'' cos D + b'^2 sin D + 2 g sin a = 0,  b'' + a'' cos D - a'^2 sin D + g sin b = 0
static void rateDoublePendulum(const long double* y, long double* rate, long double parameter)
{
    long double g = parameter;
    long double c = cosl(y[0] - y[1]);
    long double s = sinl(y[0] - y[1]);
    long double p = -y[3] * y[3] * s - 2.0L * g * sinl(y[0]);
    long double q = y[2] * y[2] * s - g * sinl(y[1]);
    long double det = 2.0L - c * c;
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = (p - c * q) / det;
    rate[3] = (2.0L * q - c * p) / det;
}

rbReference rbMakeDoublePendulumReference(double gravity, const double state[4])
{
    rbReference r = {.rate = rateDoublePendulum,
                     .parameter = gravity,
                     .size = 4,
                     .step = 0.02L,
                     .y = {state[0], state[1], state[2], state[3]}};
    return r;
}

// --------------------------------------------------------------------------------------- four-bar

// g B / A of the energy A/2 w^2 + B cos(angle): cranks are rods about their ends, couplers move
// without turning.
static void rateFourBar(const long double* y, long double* rate, long double parameter)
{
    rate[0] = y[1];
    rate[1] = parameter * sinl(y[0]);
}

rbReference rbMakeFourBarReference(int loops, double gravity, double rate)
{
    long double n = loops;
    rbReference r = {.rate = rateFourBar,
                     .parameter =
                         ((n + 1.0L) / 2.0L + n) * (long double)gravity / ((n + 1.0L) / 3.0L + n),
                     .size = 2,
                     .step = 0.05L,
                     .y = {0.0L, rate}};
    return r;
}

// --------------------------------------------------------------------------------------- governor

const rbGovernorTable rbGovernor = {
    .gravity = 9.81,
    .length = 0.3,
    .pivot = 0.05,
    .ball = 1.0,
    .ballInertia = 1e-3,
    .link = 0.2,
    .linkTransverse = 0.2 * 0.09 / 12.0,
    .linkAxial = 2e-5,
    .sleeve = 2.0,
    .sleeveInertia = 2e-3,
    .spindle = 1.0,
    .spindleInertia = 0.02,
    .torque = 0.5,
    .rate = 6.0,
    .angle = 0.5,
};

// With the angle w of the arms the energy is A(w) w'^2 / 2 + C(w) W^2 / 2 + V(w), W the rate of the
// spindle: A w'' + A' w'^2 / 2 - C' W^2 / 2 + V' = 0 and (C W)' = torque.
static void rateGovernor(const long double* y, long double* rate, long double parameter)
{
    const rbGovernorTable* t = &rbGovernor;
    long double s = sinl(y[1]);
    long double c = cosl(y[1]);
    long double a = t->length;
    long double armRadius = t->pivot + a * s;
    long double linkRadius = t->pivot + 0.5L * a * s;
    long double massA = 2.0L * (t->ball * a * a + t->ballInertia + t->linkTransverse +
                                t->link * a * a * (0.25L * c * c + 2.25L * s * s)) +
                        4.0L * t->sleeve * a * a * s * s;
    long double slopeA = 8.0L * (t->link + t->sleeve) * a * a * s * c;
    long double massC = t->spindleInertia + t->sleeveInertia +
                        2.0L * (t->ballInertia + t->ball * armRadius * armRadius +
                                t->link * linkRadius * linkRadius + t->linkTransverse * s * s +
                                t->linkAxial * c * c);
    long double slopeC = 2.0L * (2.0L * t->ball * armRadius * a * c + t->link * linkRadius * a * c +
                                 2.0L * (t->linkTransverse - t->linkAxial) * s * c);
    long double slopeV = t->gravity * a * s * (2.0L * t->ball + 3.0L * t->link + 2.0L * t->sleeve);
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = (parameter - slopeC * y[3] * y[2]) / massC;
    rate[3] = (0.5L * slopeC * y[2] * y[2] - 0.5L * slopeA * y[3] * y[3] - slopeV) / massA;
}

rbReference rbMakeGovernorReference(void)
{
    rbReference r = {.rate = rateGovernor,
                     .parameter = rbGovernor.torque,
                     .size = 4,
                     .step = 0.02L,
                     .y = {0.0L, rbGovernor.angle, rbGovernor.rate, 0.0L}};
    return r;
}
