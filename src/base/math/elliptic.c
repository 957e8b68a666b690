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
    double q2 = q * q, q4 = q2 * q2;
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
    double q2 = q * q, q4 = q2 * q2, q6 = q4 * q2, x2 = x * x;
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
    double q2 = q * q, q4 = q2 * q2;
    double theta1 = t.minus[0] - t.minus[1] + t.minus[2] - t.minus[3];
    double theta2 = t.plus[0] + t.plus[1] + t.plus[2] + t.plus[3];
    // theta3 and theta4 of imaginary argument: 1 + odd + even and 1 - odd + even.
    double v3 = t.v * t.v * t.v, x3 = t.x * t.x * t.x;
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
    double q2 = q * q, q4 = q2 * q2;
    // Chebyshev recurrences: with w = 2 cos 2z, cos((k+2)z) = w cos(kz) - cos((k-2)z), same for
    // sin.
    double cos2 = (c - s) * (c + s);
    double w = 2.0 * cos2;
    double sin3 = w * s + s;
    double sin5 = w * sin3 - s, sin7 = w * sin5 - sin3, cos3 = w * c - c, cos5 = w * cos3 - c;
    double cos7 = w * cos5 - cos3;
    double cos4 = w * cos2 - 1.0, cos6 = w * cos4 - cos2;
    double theta1 = s - q2 * (sin3 - q4 * (sin5 - q4 * q2 * sin7));
    double theta2 = c + q2 * (cos3 + q4 * (cos5 + q4 * q2 * cos7));
    double odd = 2.0 * q * (cos2 + q4 * q4 * cos6);
    double even = 2.0 * q4 * cos4;
    double inverse = 1.0 / (1.0 - odd + even);
    values[0] = elliptic->snFactor * theta1 * inverse;
    values[1] = elliptic->cnFactor * theta2 * inverse;
    values[2] = elliptic->dnFactor * (1.0 + odd + even) * inverse;
}
