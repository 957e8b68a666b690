// Exponential and logarithm.
//
// exp: x = k ln2/32 + r with |r| <= ln2/64; e^x = 2^(k div 32) T[k mod 32] e^r with T as
//   high + low, so that the polynomial for e^r - 1 contributes only 1 %.
// log: x = 2^e m with 45/64 <= m < 90/64; a table gives c near 1/m with 10 bits and -log c as
//   high + low.
//   r = m c - 1 is computed exactly and log x = e ln2 - log c + log(1 + r), |r| < 1/79. The high
//   parts of ln2 and of the table are multiples of 2^-42, so e ln2 - log c is exact, too; c = 1
//   around x = 1 keeps the relative accuracy there.
#include "base/math/elementary.h"
#include "base/math/elementary_tables.h"
#include "base/math/float_bits.h"

#include <rattleback/base.h>

#include <math.h>

#define EXP_OVERFLOW 709.782712893384    // log of the largest double
#define EXP_UNDERFLOW -745.1332191019412 // log of half the smallest subnormal

// e^x without its power of two, in [1, 2) up to rounding, and the power.
static double expParts(double x, int* power)
{
    double k = floor(x * EXP_STEPS_PER_UNIT + 0.5);
    RB_ASSERT(fabs(k) < 40000.0);
    double octave = floor(k * 0.03125);
    int index = (int)(k - 32.0 * octave);
    RB_ASSERT(0 <= index && index < 32);
    double r = (x - k * EXP_STEP_HIGH) - k * EXP_STEP_LOW;
    const double* p = expCoefficients;
    double rr = r * r;
    double growth = r + rr * ((p[0] + r * p[1]) + rr * ((p[2] + r * p[3]) + rr * p[4]));
    const double* entry = expTable[index];
    *power = (int)octave;
    return entry[0] + (entry[1] + entry[0] * growth);
}

double rbExp(double x)
{
    if (!(x <= EXP_OVERFLOW)) {
        return isnan(x) ? x + x : (double)INFINITY;
    }
    if (x < EXP_UNDERFLOW) {
        return 0.0;
    }
    int power = 0;
    double value = expParts(x, &power);
    if (power >= -1022 && power <= 1023) {
        return value * rbPowerOfTwo(power);
    }
    // Near the ends of the range in two factors; the second one rounds when the result is
    // subnormal.
    int first = power > 0 ? 1023 : -1000;
    return value * rbPowerOfTwo(first) * rbPowerOfTwo(power - first);
}

double rbLog(double x)
{
    if (!(x > 0.0 && x < (double)INFINITY)) {
        if (x == 0.0) {
            return -(double)INFINITY;
        }
        return x > 0.0 ? x : (x - x) / (x - x); // +infinity stays, NaN otherwise
    }
    double exponentShift = 0.0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        exponentShift = -54.0;
    }
    // Exponent such that the mantissa starts at 45/64 instead of 1.
    uint64_t bits = rbBitsOf(x);
    uint64_t lowest = rbBitsOf(0.703125);
    int exponent = (int)((bits - lowest + ((uint64_t)1024 << 52)) >> 52) - 1024;
    double m = rbFromBits(bits - ((uint64_t)(int64_t)exponent << 52));
    double e = (double)exponent + exponentShift;

    int k = (int)(m * 64.0 + 0.5);
    RB_ASSERT(45 <= k && k <= 90);
    const double* entry = logTable[k - 45];
    double c = entry[0];

    // r = m c - 1 exactly, the upper and the lower half of m separately.
    double mHigh = rbFromBits(rbBitsOf(m) & ~(uint64_t)0x7ffffff);
    double mLow = m - mHigh;
    rbPair r = rbTwoSum(mHigh * c - 1.0, mLow * c);

    double base = e * LN2_HIGH + entry[1], baseLow = e * LN2_LOW + entry[2];
    rbPair sum = rbFastTwoSum(base, r.high);
    const double* p = logCoefficients;
    double rr = r.high * r.high;
    double tail =
        (p[0] + r.high * p[1]) + rr * ((p[2] + r.high * p[3]) + rr * (p[4] + r.high * p[5]));
    double correction = rr * (r.high * tail - 0.5);
    return sum.high + (sum.low + (baseLow + r.low * (1.0 - r.high) + correction));
}
