// Sine and cosine.
//
// The argument is reduced to r = x - n pi/2 with |r| <= pi/4 (a hair more), kept as high + low, and
// a polynomial in r^2 gives the sine or cosine of r. Two reductions:
//   |x| < 2^20 pi/2: Cody and Waite. pi/2 = p1 + p2 + p3 where n p1 and n p2 are exact; the
//     error is below 2^-98, so r is good while |r| >= 2^-30.
//   larger |x|, or r nearly zero: Payne and Hanek. x = m 2^e with an integer m, and only those bits
//     of 2/pi matter whose product with 2^e is below 4. Integer arithmetic with 192 of them leaves
//     an error of 2^-137; no double lies closer than 2^-62 to a multiple of pi/2.
#include "base/math/elementary.h"
#include "base/math/elementary_tables.h"
#include "base/math/float_bits.h"

#include <rattleback/base.h>

#include <math.h>

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
        rbPair next = rbFastTwoSum((double)fraction[i] * rbPowerOfTwo(-32 * (i + 1)), sum.high);
        sum = next;
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
