// Jacobi functions of any argument and the elliptic integral of the third kind. Parameters as in
// base/math/elliptic.h.
#pragma once

#include "base/math/elliptic.h"

// sn, cn, dn of any u, about 1e-15 absolute (relative to sqrt(m1) for cn and dn near K).
void rbElliptic_SnCnDn(const rbElliptic* elliptic, double u, double* sn, double* cn, double* dn);

// Pi(n; phi | m) = int_0^phi dt / ((1 - n sin^2 t) sqrt(1 - m sin^2 t)), |phi| <= pi/2, n sin^2 <
// 1, by Carlson's duplication of R_F and R_J, which has no cancellation for n <= 0.
double rbEllipticPi(double n, double sine, double cosine, double m1);
