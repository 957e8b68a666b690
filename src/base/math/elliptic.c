// Elliptic functions by theta series whose nome comes from the arithmetic-geometric mean.
//
// Method. K and K' follow from two AGMs. For m <= 1/2 the nome q = exp(-pi K'/K) is at most
// exp(-pi) and the theta series in z = pi u / 2K need four terms. For m > 1/2 Jacobi's imaginary
// transformation exchanges K and K', q' = exp(-pi K/K') is small instead and the series run in
// hyperbolic functions of b = pi u / 2K'. So the cost is the same for every m, there is no loop
// that depends on data, and next to the separatrix (m1 down to 1e-300) cn and dn keep their digits
// relative to sqrt(m1), because they are products and not differences of squares.
//
// Tried and dropped: the descending Landen recurrence for sn, cn, dn (one division and one root per
// level, twice the time, and the third-kind phase of the free top needs theta functions anyway).
#include "base/math/elliptic.h"

#include "base/math/elementary.h"

#include <rattleback/base.h>
#include <rattleback/vecmath.h>

#include <float.h>
#include <math.h>

// The AGM converges quadratically; from sqrt(m1) = 1e-154 it needs 13 rounds.
#define AGM_ROUNDS_MAX 32

double rbEllipticK(double m1)
{
    RB_ASSERT(m1 >= 0.0 && m1 <= 1.0);
    if (m1 == 0.0) {
        return INFINITY;
    }
    double a = 1.0;
    double b = sqrt(m1);
    for (int i = 0; i < AGM_ROUNDS_MAX && fabs(a - b) > DBL_EPSILON * a; ++i) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return RB_PI / (a + b);
}

// With y_i = a_i cot(phi_i), the step tan(phi_{i+1} - phi_i) = (b_i / a_i) tan(phi_i) becomes
// y_{i+1} = y_i - a_i b_i / y_i for doubled means a_{i+1} = a_i + b_i, b_{i+1} = 2 sqrt(a_i b_i),
// and F = phi_n / a_n in the end. Half turns of phi are counted, because the cotangent loses them.
double rbEllipticF(double sine, double cosine, double m1)
{
    RB_ASSERT(m1 >= 0.0 && m1 <= 1.0);
    if (sine == 0.0) {
        return cosine >= 0.0 ? 0.0 : 2.0 * rbEllipticK(m1);
    }
    double sign = sine < 0.0 ? -1.0 : 1.0;
    double s = fabs(sine);
    if (m1 == 0.0) {
        // The Gudermannian: F = atanh(sin phi), infinite for phi >= pi/2.
        return cosine > 0.0 ? sign * rbLog((1.0 + s) / cosine) : sign * INFINITY;
    }
    double a = 1.0;
    double b = sqrt(m1);
    double y = cosine / s;
    double halfTurns = 0.0;
    for (int i = 0; i < AGM_ROUNDS_MAX; ++i) {
        bool isDone = fabs(a - b) <= 4.0 * DBL_EPSILON * a;
        double product = a * b;
        halfTurns = 2.0 * halfTurns + (y < 0.0 ? 1.0 : 0.0);
        y = y != 0.0 ? y - product / y : -INFINITY;
        a += b;
        b = 2.0 * sqrt(product);
        if (isDone) {
            break;
        }
    }
    return sign * (rbAtan2(a, y) + RB_PI * halfTurns) / a;
}

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

rbElliptic rbElliptic_Make(double m, double m1)
{
    RB_ASSERT(m >= 0.0 && m <= 1.0 && m1 >= 0.0 && m1 <= 1.0);
    rbElliptic e = {.m = m, .m1 = m1};
    e.quarter = rbEllipticK(m1);
    e.quarterComplement = rbEllipticK(m);
    e.isLarge = m > 0.5;
    double short2 = e.isLarge ? e.quarterComplement : e.quarter;
    double long2 = e.isLarge ? e.quarter : e.quarterComplement;
    e.nome = isinf(long2) ? 0.0 : rbExp(-RB_PI * long2 / short2);
    e.scale = RB_PI / (2.0 * short2);

    // Theta constants: theta2 / (2 q^(1/4)), theta3, theta4.
    double q = e.nome;
    double q2 = q * q;
    double q4 = q2 * q2;
    double q9 = q4 * q4 * q;
    double theta2 = 1.0 + q2 * (1.0 + q4 * (1.0 + q4 * q2));
    double theta3 = 1.0 + 2.0 * (q + q4 + q9);
    double theta4 = 1.0 + 2.0 * (q4 - q - q9);
    if (e.isLarge) {
        e.snFactor = theta3 / theta4;
        e.cnFactor = 2.0 * theta2 / theta4;
        e.dnFactor = 2.0 * theta2 / theta3;
    } else {
        e.snFactor = theta3 / theta2;
        e.cnFactor = theta4 / theta2;
        e.dnFactor = theta4 / theta3;
    }
    return e;
}

rbThetaParts rbElliptic_ThetaParts(const rbElliptic* elliptic, double absoluteU)
{
    RB_ASSERT(elliptic->isLarge && absoluteU >= 0.0);
    rbThetaParts parts;
    double q = elliptic->nome;
    double e = rbExp(-elliptic->scale * absoluteU);
    double x = e * e;
    double v = x > 0.0 ? q / x : 0.0;
    double q2 = q * q;
    double q4 = q2 * q2;
    double q6 = q4 * q2;
    double x2 = x * x;
    double growing[RB_THETA_TERMS] = {1.0, q * v, q4 * v * v, q4 * q4 * q * v * v * v};
    double falling[RB_THETA_TERMS] = {x, q2 * x2, q6 * x2 * x, q6 * q6 * x2 * x2};
    for (int i = 0; i < RB_THETA_TERMS; ++i) {
        parts.plus[i] = growing[i] + falling[i];
        parts.minus[i] = growing[i] - falling[i];
    }
    parts.e = e;
    parts.x = x;
    parts.v = v;
    return parts;
}

void rbElliptic_SnCnDnLarge(const rbElliptic* elliptic, const rbThetaParts* parts, double u,
                            double values[3])
{
    rbThetaParts t = *parts;
    double q = elliptic->nome;
    double q2 = q * q;
    double q4 = q2 * q2;
    double theta1 = t.minus[0] - t.minus[1] + t.minus[2] - t.minus[3];
    double theta2 = t.plus[0] + t.plus[1] + t.plus[2] + t.plus[3];
    // theta3 and theta4 of imaginary argument: 1 + odd + even and 1 - odd + even.
    double v3 = t.v * t.v * t.v;
    double x3 = t.x * t.x * t.x;
    double odd = t.v + q * t.x + q4 * q2 * (v3 + q2 * q * x3);
    double even = q2 * t.v * t.v + q4 * t.x * t.x + q4 * q4 * q4 * v3 * t.v;
    double inverse = 1.0 / theta2;
    values[0] = copysign(elliptic->snFactor * theta1 * inverse, u);
    values[1] = elliptic->cnFactor * (1.0 - odd + even) * (t.e * inverse);
    values[2] = elliptic->dnFactor * (1.0 + odd + even) * (t.e * inverse);
}

void rbElliptic_SnCnDnSmall(const rbElliptic* elliptic, double s, double c, double values[3])
{
    double q = elliptic->nome;
    double q2 = q * q;
    double q4 = q2 * q2;
    // Chebyshev recurrences: with w = 2 cos 2z, cos((k+2)z) = w cos(kz) - cos((k-2)z), same for
    // sin.
    double cos2 = (c - s) * (c + s);
    double w = 2.0 * cos2;
    double sin3 = w * s + s;
    double sin5 = w * sin3 - s;
    double sin7 = w * sin5 - sin3;
    double cos3 = w * c - c;
    double cos5 = w * cos3 - c;
    double cos7 = w * cos5 - cos3;
    double cos4 = w * cos2 - 1.0;
    double cos6 = w * cos4 - cos2;
    double theta1 = s - q2 * (sin3 - q4 * (sin5 - q4 * q2 * sin7));
    double theta2 = c + q2 * (cos3 + q4 * (cos5 + q4 * q2 * cos7));
    double odd = 2.0 * q * (cos2 + q4 * q4 * cos6);
    double even = 2.0 * q4 * cos4;
    double inverse = 1.0 / (1.0 - odd + even);
    values[0] = elliptic->snFactor * theta1 * inverse;
    values[1] = elliptic->cnFactor * theta2 * inverse;
    values[2] = elliptic->dnFactor * (1.0 + odd + even) * inverse;
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
