// Hyperbolic functions and cube root with the same bits on every machine, as those of
// base/math/elementary.h. Largest errors in units in the last place: rbCbrt 0.51, rbSinh and rbCosh
// 1.7, rbTanh 1.5.
#pragma once

double rbSinh(double x);
double rbCosh(double x);
double rbTanh(double x);

// Cube root, odd.
double rbCbrt(double x);
