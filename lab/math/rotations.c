#include "lab/math/rotations.h"

#include "base/math/elementary.h"
#include "base/math/quaternion.h"

#include <rattleback/base.h>

#include <float.h>

#define SERIES_LIMIT 1e-5 // square below which two terms of a series are exact to the last digit
#define ORTHONORMAL_STEPS_MAX 60 // halves a wrong scale each time at first, then quadratic

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
