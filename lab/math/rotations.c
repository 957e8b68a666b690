#include "lab/math/rotations.h"

#include "base/math/elementary.h"
#include "base/math/float_bits.h"
#include "base/math/quaternion.h"

#include <rattleback/base.h>

#include <float.h>

#define SERIES_LIMIT 1e-5 // square below which two terms of a series are exact to the last digit
#define ORTHONORMAL_STEPS_MAX 60 // halves a wrong scale each time at first, then quadratic
#define SINGULAR_LEVEL 8.0       // in eps: determinants below it are rounding errors

rbMat3 rbMatFromSym(rbSym3 s)
{
    return (rbMat3){{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
}

rbSym3 rbSymFromMat(rbMat3 m)
{
    return (rbSym3){m.cx.x,
                    m.cy.y,
                    m.cz.z,
                    0.5 * m.cx.y + 0.5 * m.cy.x,
                    0.5 * m.cx.z + 0.5 * m.cz.x,
                    0.5 * m.cy.z + 0.5 * m.cz.y};
}

rbMat3 rbCrossMatrix(rbVec3 a)
{
    rbMat3 r = {{0.0, a.z, -a.y}, {-a.z, 0.0, a.x}, {a.y, -a.x, 0.0}};
    return r;
}

double rbMat3_Determinant(rbMat3 m)
{
    return rbDot(m.cx, rbCross(m.cy, m.cz));
}

double rbSym3_Determinant(rbSym3 s)
{
    return s.xx * (s.yy * s.zz - s.yz * s.yz) - s.xy * (s.xy * s.zz - s.yz * s.xz) +
           s.xz * (s.xy * s.yz - s.yy * s.xz);
}

static double largestOf(rbVec3 v)
{
    rbVec3 a = rbAbs3(v);
    double m = a.x > a.y ? a.x : a.y;
    return m > a.z ? m : a.z;
}

// Largest power of two not above |x|; 1 for zero and for values whose power or its inverse is not a
// normal double.
static double powerBelow(double x)
{
    int exponent = (int)((rbBitsOf(x) >> 52) & 0x7ff) - 1023;
    return exponent > -1022 && exponent < 1022 ? rbPowerOfTwo(exponent) : 1.0;
}

// Inverse of a matrix whose entries are about 1. The rows of the adjugate are the cross products of
// the columns.
static bool invertScaled(rbMat3 m, rbMat3* inverse)
{
    rbVec3 rx = rbCross(m.cy, m.cz);
    rbVec3 ry = rbCross(m.cz, m.cx);
    rbVec3 rz = rbCross(m.cx, m.cy);
    double determinant = rbDot(m.cx, rx);
    // The size of the determinant without cancellation measures its rounding error.
    rbVec3 a = rbAbs3(m.cx), b = rbAbs3(m.cy), c = rbAbs3(m.cz);
    double size = a.x * (b.y * c.z + b.z * c.y) + a.y * (b.z * c.x + b.x * c.z) +
                  a.z * (b.x * c.y + b.y * c.x);
    if (!(fabs(determinant) > SINGULAR_LEVEL * DBL_EPSILON * size)) {
        return false;
    }
    double f = 1.0 / determinant;
    rbMat3 transposed = {rbScale(f, rx), rbScale(f, ry), rbScale(f, rz)};
    *inverse = rbTranspose(transposed);
    return true;
}

bool rbMat3_Invert(rbMat3 m, rbMat3* inverse)
{
    RB_ASSERT(inverse != NULL);
    // Columns first, then rows: scaled = diag(row) m diag(column).
    rbVec3 column = {1.0 / powerBelow(largestOf(m.cx)), 1.0 / powerBelow(largestOf(m.cy)),
                     1.0 / powerBelow(largestOf(m.cz))};
    rbMat3 s = {rbScale(column.x, m.cx), rbScale(column.y, m.cy), rbScale(column.z, m.cz)};
    rbMat3 t = rbTranspose(s);
    rbVec3 row = {1.0 / powerBelow(largestOf(t.cx)), 1.0 / powerBelow(largestOf(t.cy)),
                  1.0 / powerBelow(largestOf(t.cz))};
    rbMat3 scaled = {rbMulEach(row, s.cx), rbMulEach(row, s.cy), rbMulEach(row, s.cz)};
    rbMat3 r;
    if (!invertScaled(scaled, &r)) {
        return false;
    }
    inverse->cx = rbMulEach(column, rbScale(row.x, r.cx));
    inverse->cy = rbMulEach(column, rbScale(row.y, r.cy));
    inverse->cz = rbMulEach(column, rbScale(row.z, r.cz));
    return true;
}

// Largest |cosine| between two axes.
static double skewness(rbMat3 m)
{
    rbVec3 a = rbNormalize(m.cx), b = rbNormalize(m.cy), c = rbNormalize(m.cz);
    return largestOf(rbMakeVec3(rbDot(a, b), rbDot(b, c), rbDot(c, a)));
}

rbOrthonormal3 rbMat3_Orthonormalize(rbMat3 m, double tolerance)
{
    RB_ASSERT(tolerance > 0.0);
    rbOrthonormal3 r = {m, skewness(m), 0, false};
    rbMat3 a = m;
    while (!(r.error <= tolerance) && r.iterations < ORTHONORMAL_STEPS_MAX) {
        rbVec3 nx = rbCross(a.cy, a.cz), ny = rbCross(a.cz, a.cx), nz = rbCross(a.cx, a.cy);
        double determinant = rbDot(a.cx, nx);
        if (!(determinant > 0.0)) {
            return r;
        }
        double f = 0.5 / determinant;
        a.cx = rbAddScaled(rbScale(0.5, a.cx), f, nx);
        a.cy = rbAddScaled(rbScale(0.5, a.cy), f, ny);
        a.cz = rbAddScaled(rbScale(0.5, a.cz), f, nz);
        r.error = skewness(a);
        r.iterations += 1;
    }
    if (!(r.error <= tolerance) || !(rbMat3_Determinant(a) > 0.0)) {
        return r;
    }
    r.matrix = (rbMat3){rbNormalize(a.cx), rbNormalize(a.cy), rbNormalize(a.cz)};
    r.converged = true;
    return r;
}

rbMat3 rbMatFromEuler(rbVec3 angles)
{
    RB_ASSERT(rbIsFinite3(angles));
    double sa, ca, sb, cb, sc, cc;
    rbSinCos(angles.x, &sa, &ca);
    rbSinCos(angles.y, &sb, &cb);
    rbSinCos(angles.z, &sc, &cc);
    rbMat3 r = {{cb * cc, ca * sc + sa * sb * cc, sa * sc - ca * sb * cc},
                {-cb * sc, ca * cc - sa * sb * sc, sa * cc + ca * sb * sc},
                {sb, -sa * cb, ca * cb}};
    return r;
}

rbVec3 rbEulerFromMat(rbMat3 r)
{
    RB_ASSERT(fabs(rbMat3_Determinant(r) - 1.0) < 1e-3);
    // The first angle is free when cos b = 0; the other two are computed from the chosen value, by
    // Rx(-a) R = Ry(b) Rz(c), and so compensate for it.
    double a = rbAtan2(-r.cz.y, r.cz.z);
    double sa, ca;
    rbSinCos(a, &sa, &ca);
    double b = rbAtan2(r.cz.x, ca * r.cz.z - sa * r.cz.y);
    double c = rbAtan2(ca * r.cx.y + sa * r.cx.z, ca * r.cy.y + sa * r.cy.z);
    return rbMakeVec3(a, b, c);
}

rbAxisAngle rbQuat_ToAxisAngle(rbQuat q)
{
    RB_ASSERT(rbIsUnitQuat(q));
    rbVec3 v = {q.x, q.y, q.z};
    if (q.w < 0.0) {
        v = rbNeg(v);
    }
    // Scaled by the largest component: the squares of a tiny rotation would underflow.
    rbVec3 size = rbAbs3(v);
    double largest = size.x > size.y ? size.x : size.y;
    largest = largest > size.z ? largest : size.z;
    if (largest == 0.0) {
        return (rbAxisAngle){{1.0, 0.0, 0.0}, 0.0};
    }
    rbVec3 u = {v.x / largest, v.y / largest, v.z / largest};
    double length = rbLength(u);
    rbAxisAngle r = {{u.x / length, u.y / length, u.z / length},
                     2.0 * rbAtan2(length * largest, fabs(q.w))};
    return r;
}

rbMat3 rbMatFromAxisAngle(rbVec3 axis, double angle)
{
    RB_ASSERT(rbIsUnit(axis));
    // cos E + (1 - cos) v v^T + sin [v]x, with 1 - cos = 2 sin^2 of half the angle.
    double s, c;
    rbSinCos(angle, &s, &c);
    double half = rbSin(0.5 * angle);
    double k = 2.0 * half * half;
    rbVec3 v = axis;
    rbVec3 sv = rbScale(s, v);
    double xy = k * v.x * v.y, xz = k * v.x * v.z, yz = k * v.y * v.z;
    rbMat3 r = {{c + k * v.x * v.x, xy + sv.z, xz - sv.y},
                {xy - sv.z, c + k * v.y * v.y, yz + sv.x},
                {xz + sv.y, yz - sv.x, c + k * v.z * v.z}};
    return r;
}

rbVec3 rbQuat_Log(rbQuat q)
{
    RB_ASSERT(rbIsUnitQuat(q));
    rbVec3 v = {q.x, q.y, q.z};
    if (q.w < 0.0) {
        v = rbNeg(v);
    }
    double w = fabs(q.w);
    double square = rbLengthSquared(v);
    double factor; // angle/|v|
    if (square < SERIES_LIMIT) {
        // 2 atan(t)/|v| with t = |v|/w.
        double z = square / (w * w);
        factor = 2.0 / w * (1.0 - z * (1.0 / 3.0 - z * (1.0 / 5.0 - z * (1.0 / 7.0))));
    } else {
        double length = sqrt(square);
        factor = 2.0 * rbAtan2(length, w) / length;
    }
    return rbScale(factor, v);
}
