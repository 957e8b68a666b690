// Elliptic integrals and Jacobi functions from the parameter m = k^2 and its complement m1 = 1 - m.
//
// Both are arguments because near m = 1 the complement carries the digits: 1 - m computed from m
// would have none left. 0 <= m, m1 <= 1. Both limits are included: m = 0 gives circular, m1 = 0
// hyperbolic functions.
#pragma once

#include <stdint.h>

// Terms kept of every theta series. The nome used is at most exp(-pi) = 0.0432, and term n is at
// most nome^(n(n-1)), so the truncation error is below 1e-26.
#define RB_THETA_TERMS 4

// A parameter with the data its functions need: the quarter periods and the nome of the short
// series.
typedef struct rbElliptic {
    double m, m1;
    double quarter;           // K(m), INFINITY for m1 = 0
    double quarterComplement; // K(m1), INFINITY for m = 0
    double nome;              // exp(-pi K(m1)/K(m)) if m <= 1/2, else exp(-pi K(m)/K(m1))
    int64_t isLarge;          // m > 1/2: the imaginary transformation is used; no padding
    double scale;             // pi / (2 K(m)) or pi / (2 K(m1)): argument of the series per u
    double snFactor, cnFactor, dnFactor;
} rbElliptic;

// Prepares the functions of a parameter: two arithmetic-geometric means and one exponential.
rbElliptic rbElliptic_Make(double m, double m1);

// The parts P[i] + M[i] and P[i] - M[i] of the theta functions of imaginary argument, for isLarge.
// e = exp(-|b|), b = scale * u; P and M are 2 nome^(i(i+1)) cosh and sinh((2i+1)|b|), times e.
typedef struct rbThetaParts {
    double e, x, v; // exp(-b), exp(-2b), nome exp(2b)
    double plus[RB_THETA_TERMS], minus[RB_THETA_TERMS];
} rbThetaParts;

rbThetaParts rbElliptic_ThetaParts(const rbElliptic* elliptic, double absoluteU);

// sn, cn, dn of |u| <= K(m) from values the caller already has: the parts for isLarge, otherwise
// sine and cosine of scale * u.
void rbElliptic_SnCnDnLarge(const rbElliptic* elliptic, const rbThetaParts* parts, double u,
                            double values[3]);
void rbElliptic_SnCnDnSmall(const rbElliptic* elliptic, double sine, double cosine,
                            double values[3]);

// K(m) by the arithmetic-geometric mean of 1 and sqrt(m1); INFINITY for m1 = 0.
double rbEllipticK(double m1);

// F(phi | m) for phi in [-pi, pi] given by its sine and cosine, which keeps the digits near pi/2
// that the angle itself would lose. Landen's transformation on the tangent, by the AGM.
double rbEllipticF(double sine, double cosine, double m1);
