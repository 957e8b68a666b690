#include "base/math/matrix3.h"

#include "base/math/float_bits.h"

#include <rattleback/base.h>

#include <float.h>

#define SWEEPS_MAX 40      // Jacobi converges in about 5; more is a bug or a NaN
#define SINGULAR_LEVEL 8.0 // in eps: pivots below it are rounding errors

// Largest power of two not above |x|; 1 for zero and for values whose power or its inverse is not a
// normal double.
static double powerBelow(double x)
{
    int exponent = (int)((rbBitsOf(x) >> 52) & 0x7ff) - 1023;
    return exponent > -1022 && exponent < 1022 ? rbPowerOfTwo(exponent) : 1.0;
}

// Power of two near 1/sqrt(|diagonal|), so that the diagonal becomes 1 to 4.
static double scaleOfDiagonal(double diagonal)
{
    int exponent = (int)((rbBitsOf(diagonal) >> 52) & 0x7ff) - 1023;
    if (exponent == -1023 || exponent == 1024) {
        return 1.0; // zero, subnormal, not finite
    }
    int half = (exponent + 2048) / 2 - 1024; // rounded down
    return rbPowerOfTwo(-half);
}

// L D L^T of a positive definite matrix with a diagonal of order 1, y and z exchanged if isSwapped.
typedef struct rbFactor3 {
    double l10, l20, l21;
    double d0, d1, d2;
    bool isSwapped;
} rbFactor3;

static rbSym3 swapYZ(rbSym3 s)
{
    return (rbSym3){s.xx, s.zz, s.yy, s.xz, s.xy, s.yz};
}

// False when a pivot is not clearly positive. The second pivot is the larger of the two left: that
// keeps l21 below 1 and so the error of the last pivot below a few eps.
static bool factor(rbSym3 s, rbFactor3* f)
{
    const double level = SINGULAR_LEVEL * DBL_EPSILON;
    f->d0 = s.xx;
    if (!(f->d0 > 0.0)) {
        return false;
    }
    f->isSwapped = s.zz - s.xz / f->d0 * s.xz > s.yy - s.xy / f->d0 * s.xy;
    s = f->isSwapped ? swapYZ(s) : s;
    f->l10 = s.xy / f->d0;
    f->l20 = s.xz / f->d0;
    f->d1 = s.yy - f->l10 * s.xy;
    if (!(f->d1 > level * s.yy)) {
        return false;
    }
    double r21 = s.yz - f->l10 * s.xz;
    f->l21 = r21 / f->d1;
    f->d2 = (s.zz - f->l20 * s.xz) - f->l21 * r21;
    return f->d2 > level * s.zz;
}

static rbSym3 scaleSymmetric(rbSym3 s, rbVec3 d)
{
    return (rbSym3){d.x * s.xx * d.x, d.y * s.yy * d.y, d.z * s.zz * d.z,
                    d.x * s.xy * d.y, d.x * s.xz * d.z, d.y * s.yz * d.z};
}

static bool factorScaled(rbSym3 s, rbVec3* scale, rbFactor3* f)
{
    *scale = rbMakeVec3(scaleOfDiagonal(s.xx), scaleOfDiagonal(s.yy), scaleOfDiagonal(s.zz));
    return factor(scaleSymmetric(s, *scale), f);
}

bool rbSym3_Invert(rbSym3 s, rbSym3* inverse)
{
    RB_ASSERT(inverse != NULL);
    rbVec3 scale;
    rbFactor3 f;
    if (!factorScaled(s, &scale, &f)) {
        return false;
    }
    // M = L^-1; the inverse is M^T D^-1 M.
    double m10 = -f.l10, m21 = -f.l21;
    double m20 = f.l10 * f.l21 - f.l20;
    double e0 = 1.0 / f.d0, e1 = 1.0 / f.d1, e2 = 1.0 / f.d2;
    rbSym3 r = {e0 + m10 * e1 * m10 + m20 * e2 * m20,
                e1 + m21 * e2 * m21,
                e2,
                m10 * e1 + m20 * e2 * m21,
                m20 * e2,
                m21 * e2};
    *inverse = scaleSymmetric(f.isSwapped ? swapYZ(r) : r, scale);
    return true;
}

bool rbSym3_Solve(rbSym3 s, rbVec3 b, rbVec3* x)
{
    RB_ASSERT(x != NULL);
    rbVec3 scale;
    rbFactor3 f;
    if (!factorScaled(s, &scale, &f)) {
        return false;
    }
    rbVec3 y = rbMulEach(scale, b);
    y = f.isSwapped ? rbMakeVec3(y.x, y.z, y.y) : y;
    y.y -= f.l10 * y.x;
    y.z -= f.l20 * y.x + f.l21 * y.y;
    y = rbMakeVec3(y.x / f.d0, y.y / f.d1, y.z / f.d2);
    y.y -= f.l21 * y.z;
    y.x -= f.l10 * y.y + f.l20 * y.z;
    *x = rbMulEach(scale, f.isSwapped ? rbMakeVec3(y.x, y.z, y.y) : y);
    return true;
}

// From the rows of a matrix m and of its product with s: m s m^T.
static rbSym3 multiplyRows(rbVec3 px, rbVec3 py, rbVec3 pz, rbMat3 rows)
{
    return (rbSym3){rbDot(px, rows.cx), rbDot(py, rows.cy), rbDot(pz, rows.cz),
                    rbDot(px, rows.cy), rbDot(px, rows.cz), rbDot(py, rows.cz)};
}

rbSym3 rbSym3_Rotate(rbSym3 s, rbMat3 r)
{
    rbMat3 t = rbTranspose(r);
    return multiplyRows(rbMulSV(s, t.cx), rbMulSV(s, t.cy), rbMulSV(s, t.cz), t);
}

rbSym3 rbSym3_FromPrincipal(rbVec3 d, rbMat3 r)
{
    rbMat3 t = rbTranspose(r);
    return multiplyRows(rbMulEach(d, t.cx), rbMulEach(d, t.cy), rbMulEach(d, t.cz), t);
}

// One Jacobi rotation that makes *apq zero. app, aqq: the diagonal; arp, arq: the entries of the
// third row; vp, vq: the axes.
typedef struct rbJacobiPlane {
    double *app, *aqq, *apq, *arp, *arq;
    rbVec3 *vp, *vq;
} rbJacobiPlane;

// (Inlined, so that the numbers stay in registers.)
__attribute__((always_inline)) static inline void rotatePlane(rbJacobiPlane k)
{
    double apq = *k.apq;
    if (apq == 0.0) {
        return;
    }
    // Below half an ulp of both diagonal entries the rotation would change nothing but apq.
    if (*k.app + apq == *k.app && *k.aqq + apq == *k.aqq) {
        *k.apq = 0.0;
        return;
    }
    // t = tan of the angle, the smaller root of t^2 + 2 theta t - 1 = 0.
    double theta = 0.5 * (*k.aqq - *k.app) / apq;
    double root = fabs(theta) < 1e150 ? sqrt(theta * theta + 1.0) : fabs(theta);
    double t = copysign(1.0 / (fabs(theta) + root), theta);
    double c = 1.0 / sqrt(t * t + 1.0);
    double s = t * c;
    *k.app -= t * apq;
    *k.aqq += t * apq;
    *k.apq = 0.0;
    double arp = *k.arp, arq = *k.arq;
    *k.arp = c * arp - s * arq;
    *k.arq = s * arp + c * arq;
    rbVec3 vp = *k.vp, vq = *k.vq;
    *k.vp = rbAddScaled(rbScale(c, vp), -s, vq);
    *k.vq = rbAddScaled(rbScale(c, vq), s, vp);
}

rbEigen3 rbSym3_Diagonalize(rbSym3 s)
{
    RB_ASSERT(isfinite(s.xx) && isfinite(s.yy) && isfinite(s.zz));
    RB_ASSERT(isfinite(s.xy) && isfinite(s.xz) && isfinite(s.yz));
    rbEigen3 r = {{s.xx, s.yy, s.zz}, RB_MAT3_IDENTITY, 0, true};
    if (s.xy == 0.0 && s.xz == 0.0 && s.yz == 0.0) {
        return r;
    }
    // A power of two keeps the squares in range and changes no digit.
    rbVec3 off = {s.xy, s.xz, s.yz};
    double diagonalMax = rbLargestComponent(r.values), offMax = rbLargestComponent(off);
    double unit = powerBelow(diagonalMax > offMax ? diagonalMax : offMax);
    rbSym3 a = rbScaleSym(1.0 / unit, s);
    for (; r.sweeps < SWEEPS_MAX; ++r.sweeps) {
        if (a.xy == 0.0 && a.xz == 0.0 && a.yz == 0.0) {
            break;
        }
        rotatePlane((rbJacobiPlane){&a.xx, &a.yy, &a.xy, &a.xz, &a.yz, &r.axes.cx, &r.axes.cy});
        rotatePlane((rbJacobiPlane){&a.xx, &a.zz, &a.xz, &a.xy, &a.yz, &r.axes.cx, &r.axes.cz});
        rotatePlane((rbJacobiPlane){&a.yy, &a.zz, &a.yz, &a.xy, &a.xz, &r.axes.cy, &r.axes.cz});
    }
    r.converged = a.xy == 0.0 && a.xz == 0.0 && a.yz == 0.0;
    r.values = rbMakeVec3(unit * a.xx, unit * a.yy, unit * a.zz);
    return r;
}
