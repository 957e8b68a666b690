// Arc tangent and the functions derived from it.
//
// atan2 brings the point into the first octant, 0 <= y <= x, forms the quotient q = y/x as high +
// low and adds a multiple of pi/2 at the end, also as high + low. In the octant
//   q < 1/8:  atan q = q + q^3 P(q^2)
//   else:     with c the nearest k/64 and t = (q - c)/(1 + c q), |t| <= 1/128,
//             atan q = atan c + atan t; atan c comes from a table, high + low.
// The rounding errors of t are scaled down by |t| / atan q <= 1/16.
#include "base/math/elementary.h"
#include "base/math/elementary_tables.h"
#include "base/math/float_bits.h"

#include <rattleback/base.h>

#include <math.h>
#include <stdbool.h>

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
