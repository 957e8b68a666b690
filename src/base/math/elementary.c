// The elementary functions, from tables and polynomials.
#include "base/math/elementary.h"

#include "base/math/elementary_tables.h"
#include "base/math/float_bits.h"

#include <rattleback/base.h>

#include <math.h>
#include <stdbool.h>

// --------------------------------------------------------------------------------- sine and cosine

// The argument is reduced to r = x - n pi/2 with |r| <= pi/4 (a hair more), kept as high + low, and
// a polynomial in r^2 gives the sine or cosine of r. Two reductions:
//   |x| < 2^20 pi/2: Cody and Waite. pi/2 = p1 + p2 + p3 where n p1 and n p2 are exact; the
//     error is below 2^-98, so r is good while |r| >= 2^-30.
//   larger |x|, or r nearly zero: Payne and Hanek. x = m 2^e with an integer m, and only those bits
//     of 2/pi matter whose product with 2^e is below 4. Integer arithmetic with 192 of them leaves
//     an error of 2^-137; no double lies closer than 2^-62 to a multiple of pi/2.

#define QUARTER_PI 0x1.921fb54442d18p-1
#define CODY_WAITE_LIMIT 1647099.0 // 2^20 pi/2
#define TINY_REMAINDER 0x1p-30     // below it the three parts of pi/2 are too coarse
#define TINY_ANGLE 0x1p-27         // below it sin x = x and cos x = 1
#define WINDOW_WORDS 6             // 192 bits of 2/pi

typedef struct rbReducedAngle {
    rbPair r;
    unsigned quadrant; // n mod 4
} rbReducedAngle;

// x 2/pi mod 4 as 2 + 190 bits, most significant word first.
static void multiplyByTwoOverPi(double x, uint32_t product[WINDOW_WORDS])
{
    uint64_t bits = rbBitsOf(x);
    int exponent = (int)((bits >> 52) & 0x7ff) - 1075;
    uint64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    RB_ASSERT(exponent >= -53 && exponent <= 971);

    // The window begins at the bit whose weight times 2^exponent is 2.
    int start = 62 + exponent;
    int word = start / 32;
    int shift = start % 32;
    uint64_t low = mantissa & 0xffffffffu;
    uint64_t high = mantissa >> 32;
    uint64_t carry = 0;
    uint64_t before = 0; // window word one place less significant
    for (int i = WINDOW_WORDS - 1; i >= 0; --i) {
        uint64_t two = ((uint64_t)twoOverPi[word + i] << 32) | twoOverPi[word + i + 1];
        uint64_t window = ((two << shift) >> 32) & 0xffffffffu;
        // high < 2^21, so the sum stays below 2^64.
        uint64_t part = low * window;
        uint64_t sum =
            (part & 0xffffffffu) + (carry & 0xffffffffu) + ((high * before) & 0xffffffffu);
        product[i] = (uint32_t)sum;
        carry = (sum >> 32) + (part >> 32) + (carry >> 32) + ((high * before) >> 32);
        before = window;
    }
}

static rbReducedAngle reduceLarge(double x)
{
    uint32_t product[WINDOW_WORDS];
    multiplyByTwoOverPi(x, product);

    // Split off the quadrant; the fraction is brought to [-1/2, 1/2].
    uint32_t quadrant = product[0] >> 30;
    uint32_t fraction[WINDOW_WORDS];
    for (int i = 0; i < WINDOW_WORDS; ++i) {
        uint32_t next = i + 1 < WINDOW_WORDS ? product[i + 1] : 0;
        fraction[i] = (product[i] << 2) | (next >> 30);
    }
    double sign = 1.0;
    if (fraction[0] >> 31) {
        // 1 - fraction, up to one unit of the last bit, which is far below what is kept.
        quadrant = (quadrant + 1) & 3u;
        sign = -1.0;
        for (int i = 0; i < WINDOW_WORDS; ++i) {
            fraction[i] = ~fraction[i];
        }
    }

    // Sum the words from the bottom: high is the rounded sum, low the rounding error of the last
    // two sums.
    rbPair sum = {0.0, 0.0};
    double lostBefore = 0.0;
    for (int i = WINDOW_WORDS - 1; i >= 0; --i) {
        lostBefore = sum.low + lostBefore;
        sum = rbFastTwoSum((double)fraction[i] * rbPowerOfTwo(-32 * (i + 1)), sum.high);
    }
    double high = sum.high;
    double low = sum.low + lostBefore;

    rbPair r = rbTwoProduct(high, HALF_PI_HIGH);
    r.low += high * HALF_PI_LOW + low * HALF_PI_HIGH;
    r = rbFastTwoSum(r.high, r.low);
    return (rbReducedAngle){{sign * r.high, sign * r.low}, quadrant};
}

// x finite, |x| > pi/4.
static rbReducedAngle reduce(double x)
{
    double size = fabs(x);
    rbReducedAngle result;
    if (size < CODY_WAITE_LIMIT) {
        double n = floor(size * TWO_OVER_PI + 0.5);
        double a = size - n * HALF_PI_1;
        rbPair b = rbTwoSum(a, -(n * HALF_PI_2));
        result.r = rbFastTwoSum(b.high, b.low - n * HALF_PI_3);
        result.quadrant = (unsigned)(int)n & 3u;
        if (fabs(result.r.high) < TINY_REMAINDER) {
            result = reduceLarge(size);
        }
    } else {
        result = reduceLarge(size);
    }
    if (x < 0.0) {
        result.r.high = -result.r.high;
        result.r.low = -result.r.low;
        result.quadrant = (0u - result.quadrant) & 3u;
    }
    return result;
}

static double sinReduced(rbPair r)
{
    const double* s = sinCoefficients;
    double z = r.high * r.high;
    double zz = z * z;
    double tail = (s[1] + z * s[2]) + zz * ((s[3] + z * s[4]) + zz * s[5]);
    double cubic = z * r.high;
    return r.high + (cubic * (s[0] + z * tail) + r.low * (1.0 - 0.5 * z));
}

static double cosReduced(rbPair r)
{
    const double* c = cosCoefficients;
    double z = r.high * r.high;
    double zz = z * z;
    double tail = (c[0] + z * c[1]) + zz * ((c[2] + z * c[3]) + zz * (c[4] + z * c[5]));
    double half = 0.5 * z;
    double leading = 1.0 - half;
    return leading + (((1.0 - leading) - half) + (zz * tail - r.high * r.low));
}

// Sine of quadrant + r, in quarter turns and radians.
static double sinInQuadrant(rbPair r, unsigned quadrant)
{
    double value = (quadrant & 1u) ? cosReduced(r) : sinReduced(r);
    return (quadrant & 2u) ? -value : value;
}

void rbSinCos(double x, double* sine, double* cosine)
{
    double size = fabs(x);
    rbReducedAngle a = {{x, 0.0}, 0};
    if (!isfinite(x)) {
        a.r.high = x - x;
    } else if (size > QUARTER_PI) {
        a = reduce(x);
    }
    *sine = size < TINY_ANGLE ? x : sinInQuadrant(a.r, a.quadrant);
    *cosine = size < TINY_ANGLE ? 1.0 : sinInQuadrant(a.r, a.quadrant + 1u);
}

double rbSin(double x)
{
    double sine, cosine;
    rbSinCos(x, &sine, &cosine);
    return sine;
}

double rbCos(double x)
{
    double sine, cosine;
    rbSinCos(x, &sine, &cosine);
    return cosine;
}

// ------------------------------------------------------------------------------------- arc tangent

// atan2 brings the point into the first octant, 0 <= y <= x, forms the quotient q = y/x as high +
// low and adds a multiple of pi/2 at the end, also as high + low. In the octant
//   q < 1/8:  atan q = q + q^3 P(q^2)
//   else:     with c the nearest k/64 and t = (q - c)/(1 + c q), |t| <= 1/128,
//             atan q = atan c + atan t; atan c comes from a table, high + low.
// The rounding errors of t are scaled down by |t| / atan q <= 1/16.

#define TINY_QUOTIENT 0x1p-60 // below it atan q = q, and the rest is below the last place

// atan(y/x) for 0 <= y <= x, y/x >= TINY_QUOTIENT, as high + low.
static rbPair arcOfOctant(double y, double x)
{
    RB_ASSERT(0.0 <= y && y <= x);
    // Scaling by powers of two keeps the exact product away from overflow and underflow.
    if (x < 0x1p-500) {
        x *= 0x1p600;
        y *= 0x1p600;
    } else if (x > 0x1p900) {
        x *= 0x1p-600;
        y *= 0x1p-600;
    }
    double q = y / x;
    rbPair product = rbTwoProduct(q, x);
    double qLow = ((y - product.high) - product.low) / x;

    if (q < 0.125) {
        const double* p = atanCoefficients;
        double z = q * q, zz = z * z;
        double tail =
            (p[0] + z * p[1]) + zz * ((p[2] + z * p[3]) + zz * ((p[4] + z * p[5]) + zz * p[6]));
        return (rbPair){q, qLow + q * (z * tail)};
    }
    const double* p = atanShortCoefficients;
    double k = floor(q * 64.0 + 0.5);
    double c = k * 0.015625;
    double t = ((q - c) + qLow) / (1.0 + c * q);
    double z = t * t;
    const double* entry = atanTable[(int)k];
    rbPair sum = rbFastTwoSum(entry[0], t);
    sum.low += entry[1] + t * (z * (p[0] + z * (p[1] + z * p[2])));
    return sum;
}

double rbAtan2(double y, double x)
{
    if (isnan(x) || isnan(y)) {
        return x + y;
    }
    double sizeX = fabs(x), sizeY = fabs(y);
    if (isinf(x) && isinf(y)) {
        sizeX = 1.0;
        sizeY = 1.0;
    }
    bool isSteep = sizeY > sizeX;
    bool isLeft = signbit(x) != 0;
    double small = isSteep ? sizeX : sizeY, large = isSteep ? sizeY : sizeX;

    // The result is turns * pi/2 +- arc.
    double turns = isSteep ? 1.0 : (isLeft ? 2.0 : 0.0);
    double direction = isSteep == isLeft ? 1.0 : -1.0;
    double quotient = large > 0.0 ? small / large : 0.0;
    rbPair arc = {quotient, 0.0};
    arc = quotient >= TINY_QUOTIENT ? arcOfOctant(small, large) : arc;
    double result = 0.0;
    if (turns == 0.0) {
        result = arc.high + arc.low;
    } else {
        rbPair sum = rbFastTwoSum(turns * HALF_PI_HIGH, direction * arc.high);
        result = sum.high + (sum.low + (turns * HALF_PI_LOW + direction * arc.low));
    }
    return copysign(result, y);
}

double rbAcos(double x)
{
    return rbAtan2(sqrt((1.0 - x) * (1.0 + x)), x);
}

// ----------------------------------------------------------------------- exponential and logarithm

// exp: x = k ln2/32 + r with |r| <= ln2/64; e^x = 2^(k div 32) T[k mod 32] e^r with T as
//   high + low, so that the polynomial for e^r - 1 contributes only 1 %.
// log: x = 2^e m with 45/64 <= m < 90/64; a table gives c near 1/m with 10 bits and -log c as
//   high + low.
//   r = m c - 1 is computed exactly and log x = e ln2 - log c + log(1 + r), |r| < 1/79. The high
//   parts of ln2 and of the table are multiples of 2^-42, so e ln2 - log c is exact, too; c = 1
//   around x = 1 keeps the relative accuracy there.

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
    // Near the ends of the range in two factors; the second one rounds a subnormal result.
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
