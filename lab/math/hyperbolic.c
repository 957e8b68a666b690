#include "lab/math/hyperbolic.h"

#include "base/math/elementary.h"
#include "lab/math/hyperbolic_tables.h"

#include <math.h>

// sinh x - x for |x| <= 1.
static double sinhGrowth(double x)
{
    const double* s = sinhCoefficients;
    double z = x * x;
    double tail = s[0] + z * (s[1] + z * (s[2] + z * (s[3] + z * (s[4] + z * (s[5] + z * s[6])))));
    return x * (z * tail);
}

double rbSinh(double x)
{
    double size = fabs(x);
    if (size < 0x1p-27) {
        return x;
    }
    if (size <= 1.0) {
        return x + sinhGrowth(x);
    }
    double value = 0.0;
    if (size < 709.0) {
        double e = rbExp(size);
        value = 0.5 * e - 0.5 / e;
    } else {
        // e^x overflows before sinh x does.
        double e = rbExp(0.5 * size);
        value = 0.5 * e * e;
    }
    return copysign(value, x);
}

double rbCosh(double x)
{
    double size = fabs(x);
    if (size < 709.0) {
        double e = rbExp(size);
        return 0.5 * e + 0.5 / e;
    }
    double e = rbExp(0.5 * size);
    return 0.5 * e * e;
}

double rbTanh(double x)
{
    double size = fabs(x);
    if (size < 0x1p-27) {
        return x;
    }
    if (size <= 0.6) {
        // s/c = s - s (c - 1)/c with c = sqrt(1 + s^2) and c - 1 = s^2/(c + 1): only the last sum
        // rounds at full size.
        double growth = sinhGrowth(x);
        double s = x + growth;
        double c = sqrt(1.0 + s * s);
        return x + (growth - s * (s * s / (c * (c + 1.0))));
    }
    if (isnan(x)) {
        return x + x;
    }
    double value = size > 22.0 ? 1.0 : 1.0 - 2.0 / (rbExp(2.0 * size) + 1.0);
    return copysign(value, x);
}
