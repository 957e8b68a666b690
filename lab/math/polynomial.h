// Real roots of polynomials of degree 1 to 4.
//
// Coefficients are lowest first: c[0] + c[1] x + c[2] x^2 + ... Leading zeros are fine: the degree
// is then lower. Coefficients may lie anywhere between 1e-150 and 1e150, in any mixture; all must
// be finite. The zero polynomial has no isolated roots: count 0.
//
// Roots are sorted and listed once: a multiple root is one root. A place where the polynomial
// touches zero within the rounding error of its evaluation counts as a root, because coefficients
// one unit in the last place away have one there. Every root is the exact root of a polynomial
// whose coefficients differ by a few eps. Solving a quartic with four roots takes about 3
// microseconds.
#pragma once

#define RB_POLYNOMIAL_DEGREE_MAX 4

typedef struct rbRealRoots {
    int count;
    double x[RB_POLYNOMIAL_DEGREE_MAX];
} rbRealRoots;

rbRealRoots rbSolveQuadratic(const double c[3]);
rbRealRoots rbSolveCubic(const double c[4]);
rbRealRoots rbSolveQuartic(const double c[5]);
