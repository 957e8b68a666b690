// Cube root.
//
// x = 2^(3e) m with 1 <= m < 8. A polynomial and one Halley step give t with |t^3 - m| < 2^-17 m; t
// is then rounded to 17 bits, so that t^3 is exact and so is m - t^3. With u = (m - t^3)/t^3
//   m^(1/3) = t (1 + u)^(1/3) = t + t (u/3 - u^2/9 + 5 u^3/81 - ...),
// where the correction is scaled down by 2^-16: the error is hardly larger than that of the last
// rounding.
#include "base/math/float_bits.h"
#include "lab/math/hyperbolic.h"
#include "lab/math/hyperbolic_tables.h"

#include <rattleback/base.h>

#include <math.h>

double rbCbrt(double x)
{
    if (!isfinite(x) || x == 0.0) {
        return x + x;
    }
    double size = fabs(x);
    int shift = 0;
    if (size < 0x1p-1022) {
        size *= 0x1p54;
        shift = -18;
    }
    uint64_t bits = rbBitsOf(size);
    int exponent = (int)(bits >> 52) - 1023;
    int third = (exponent + 1200) / 3 - 400; // rounded down
    double m = rbFromBits(bits - ((uint64_t)(int64_t)(3 * third) << 52));
    RB_ASSERT(1.0 <= m && m < 8.0);

    const double* c = cbrtCoefficients;
    double t = c[0] + m * (c[1] + m * (c[2] + m * (c[3] + m * c[4])));
    double cube = t * t * t;
    t = t * (cube + 2.0 * m) / (2.0 * cube + m);
    t = rbFromBits((rbBitsOf(t) + 0x800000000u) & ~(uint64_t)0xfffffffffu);

    cube = t * t * t;
    double u = (m - cube) / cube;
    double growth = u * (1.0 / 3.0 + u * (-1.0 / 9.0 + u * (5.0 / 81.0)));
    double root = (t + t * growth) * rbPowerOfTwo(third + shift);
    return copysign(root, x);
}
