#include "lab/math/elliptic_functions.h"

#include "base/math/elementary.h"

#include <rattleback/base.h>

#include <math.h>

// Carlson's R_C(x, y) for x >= 0, y > 0.
static double carlsonRc(double x, double y)
{
    double difference = fabs(y - x);
    if (difference <= 1e-3 * y) {
        // Series in s = (y - x) / (3 mean), to order 7.
        double mean = (x + y + y) / 3.0;
        double s = (y - mean) / mean;
        double s2 = s * s;
        double tail = 3.0 / 10.0 + s * (1.0 / 7.0 + s * (3.0 / 8.0 + s * (9.0 / 22.0)));
        return (1.0 + s2 * tail) / sqrt(mean);
    }
    double root = sqrt(difference);
    if (x < y) {
        return rbAtan2(root, sqrt(x)) / root;
    }
    return rbLog((sqrt(x) + root) / sqrt(y)) / root;
}

// Carlson's R_F(x, y, z) for x, y, z >= 0, at most one of them zero.
static double carlsonRf(double x, double y, double z)
{
    double mean = (x + y + z) / 3.0;
    double spread = fmax(fabs(mean - x), fmax(fabs(mean - y), fabs(mean - z)));
    // Each round divides the spread by four; the series error is spread^6 / mean^6 / 100.
    for (int i = 0; i < 60 && spread > 2e-3 * mean; ++i) {
        double lambda = sqrt(x * y) + sqrt(y * z) + sqrt(z * x);
        x = 0.25 * (x + lambda);
        y = 0.25 * (y + lambda);
        z = 0.25 * (z + lambda);
        mean = (x + y + z) / 3.0;
        spread = fmax(fabs(mean - x), fmax(fabs(mean - y), fabs(mean - z)));
    }
    double dx = 1.0 - x / mean;
    double dy = 1.0 - y / mean;
    double dz = -(dx + dy);
    double e2 = dx * dy - dz * dz;
    double e3 = dx * dy * dz;
    return (1.0 + (e2 / 24.0 - 0.1 - 3.0 * e3 / 44.0) * e2 + e3 / 14.0) / sqrt(mean);
}

// Carlson's R_J(x, y, z, p) for x, y, z >= 0, at most one of them zero, p > 0.
static double carlsonRj(double x, double y, double z, double p)
{
    double sum = 0.0;
    double factor = 1.0;
    double mean = 0.2 * (x + y + z + p + p);
    for (int i = 0; i < 60; ++i) {
        double spread =
            fmax(fmax(fabs(mean - x), fabs(mean - y)), fmax(fabs(mean - z), fabs(mean - p)));
        if (spread <= 2e-3 * mean) {
            break;
        }
        double sx = sqrt(x);
        double sy = sqrt(y);
        double sz = sqrt(z);
        double sp = sqrt(p);
        double lambda = sx * sy + sy * sz + sz * sx;
        double d = (sp + sx) * (sp + sy) * (sp + sz);
        // R_C(1, 1 + e) with e = (p-x)(p-y)(p-z) / d^2.
        double e = (p - x) * (p - y) * (p - z) / (d * d);
        sum += factor / d * carlsonRc(1.0, 1.0 + e);
        factor *= 0.25;
        x = 0.25 * (x + lambda);
        y = 0.25 * (y + lambda);
        z = 0.25 * (z + lambda);
        p = 0.25 * (p + lambda);
        mean = 0.2 * (x + y + z + p + p);
    }
    double dx = 1.0 - x / mean;
    double dy = 1.0 - y / mean;
    double dz = 1.0 - z / mean;
    double dp = -0.5 * (dx + dy + dz);
    double e2 = dx * dy + dx * dz + dy * dz - 3.0 * dp * dp;
    double e3 = dx * dy * dz + 2.0 * e2 * dp + 4.0 * dp * dp * dp;
    double e4 = (2.0 * dx * dy * dz + e2 * dp + 3.0 * dp * dp * dp) * dp;
    double e5 = dx * dy * dz * dp * dp;
    double series = 1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0 -
                    9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0;
    return 6.0 * sum + factor * series / (mean * sqrt(mean));
}

double rbEllipticPi(double n, double sine, double cosine, double m1)
{
    RB_ASSERT(m1 >= 0.0 && m1 <= 1.0);
    RB_ASSERT(cosine >= 0.0 && n * sine * sine < 1.0);
    double s2 = sine * sine;
    double c2 = cosine * cosine;
    double d2 = c2 + m1 * s2; // 1 - m sin^2 without cancellation
    double p = 1.0 - n * s2;
    return sine * carlsonRf(c2, d2, 1.0) + n * sine * s2 * carlsonRj(c2, d2, 1.0, p) / 3.0;
}

void rbElliptic_SnCnDn(const rbElliptic* elliptic, double u, double* sn, double* cn, double* dn)
{
    RB_ASSERT(isfinite(u));
    double period = 2.0 * elliptic->quarter;
    double turns = isinf(period) ? 0.0 : floor(u / period + 0.5);
    double reduced = turns == 0.0 ? u : u - turns * period;
    double values[3];
    if (elliptic->isLarge) {
        rbThetaParts parts = rbElliptic_ThetaParts(elliptic, fabs(reduced));
        rbElliptic_SnCnDnLarge(elliptic, &parts, reduced, values);
    } else {
        double s;
        double c;
        rbSinCos(elliptic->scale * reduced, &s, &c);
        rbElliptic_SnCnDnSmall(elliptic, s, c, values);
    }
    double sign = turns != 2.0 * floor(0.5 * turns) ? -1.0 : 1.0;
    *sn = sign * values[0];
    *cn = sign * values[1];
    *dn = values[2];
}
