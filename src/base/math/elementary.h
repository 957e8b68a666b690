// Elementary functions with the same bits on every machine.
//
// The functions of the C library differ between libraries; these are fixed sequences of IEEE double
// operations and return the same bits with every compiler (contraction off). Special values follow
// Annex F of the C standard: signed zeros, infinities and NaN. A call takes 7 to 27 ns (Neoverse
// N1), sine and cosine beyond 1.6e6 radians 65 ns.
//
// Largest errors found by test/base/test_elementary.c over all binades, in units in the last place:
//   rbSin, rbCos 0.87   rbAtan2 0.55   rbExp 0.52 (0.75 where the result is subnormal)
//   rbLog 0.51   rbAcos 1.8
#pragma once

#include <rattleback/vecmath.h>

#include <math.h>

// Sine and cosine of any finite angle in radians; NaN for infinities.
double rbSin(double x);
double rbCos(double x);

// Both at little more than the cost of one; the same bits as rbSin and rbCos.
void rbSinCos(double x, double* sine, double* cosine);

// Angle of the point (x, y) in [-pi, pi]; the signs of zeros choose the side of the cut.
double rbAtan2(double y, double x);

// Inverse cosine in [0, pi]; NaN beyond [-1, 1].
double rbAcos(double x);

// e^x; overflows to infinity above 709.78, gradually underflows to zero below -708.
double rbExp(double x);

// Natural logarithm; -infinity at zero, NaN below.
double rbLog(double x);

// An angle without its full turns, in [-pi, pi].
static inline double rbWrapAngle(double angle)
{
    return angle - 2.0 * RB_PI * floor(angle / (2.0 * RB_PI) + 0.5);
}

// An angle with as many full turns more or less as bring it nearest to another.
static inline double rbNearestTurn(double angle, double near)
{
    return angle + 2.0 * RB_PI * floor((near - angle) / (2.0 * RB_PI) + 0.5);
}
