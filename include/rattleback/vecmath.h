/// @file
/// Vectors, quaternions, matrices and transforms, inline.
///
/// Conventions: right-handed; column vectors; a quaternion is (w, x, y, z) with Hamilton product
/// and maps body to world, v_world = q v q^-1; a matrix holds its columns; a transform maps x to q
/// x + p. Every function is a fixed sequence of IEEE operations, so its bits do not depend on the
/// compiler (the project is built with contraction off).
#ifndef RATTLEBACK_VECMATH_H
#define RATTLEBACK_VECMATH_H

#include <math.h>
#include <stdbool.h>

/// A vector of three components.
typedef struct rbVec3 {
    double x; ///< first component
    double y; ///< second component
    double z; ///< third component
} rbVec3;

/// A quaternion w + x i + y j + z k.
typedef struct rbQuat {
    double w; ///< real part
    double x; ///< first imaginary part
    double y; ///< second imaginary part
    double z; ///< third imaginary part
} rbQuat;

/// Columns cx, cy, cz.
typedef struct rbMat3 {
    rbVec3 cx; ///< first column
    rbVec3 cy; ///< second column
    rbVec3 cz; ///< third column
} rbMat3;

/// Symmetric 3x3 matrix.
typedef struct rbSym3 {
    double xx; ///< first diagonal element
    double yy; ///< second diagonal element
    double zz; ///< third diagonal element
    double xy; ///< row 1, column 2
    double xz; ///< row 1, column 3
    double yz; ///< row 2, column 3
} rbSym3;

/// Rigid motion x -> q x + p.
typedef struct rbTransform {
    rbVec3 p; ///< translation, m
    rbQuat q; ///< rotation, a unit quaternion
} rbTransform;

/// The number pi.
#define RB_PI 3.14159265358979323846
// A value of a type from its components, in both languages.
#ifdef __cplusplus
/// A value of a type from its components, in C and in C++.
#define RB_LITERAL(type) type
#else
/// A value of a type from its components, in C and in C++.
#define RB_LITERAL(type) (type)
#endif
/// The zero vector.
#define RB_VEC3_ZERO (RB_LITERAL(rbVec3){0.0, 0.0, 0.0})
/// No rotation.
#define RB_QUAT_IDENTITY (RB_LITERAL(rbQuat){1.0, 0.0, 0.0, 0.0})
/// No motion.
#define RB_TRANSFORM_IDENTITY (RB_LITERAL(rbTransform){{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}})

/// A vector from its components.
static inline rbVec3 rbMakeVec3(double x, double y, double z)
{
    rbVec3 r = {x, y, z};
    return r;
}

/// a + b
static inline rbVec3 rbAdd(rbVec3 a, rbVec3 b)
{
    return rbMakeVec3(a.x + b.x, a.y + b.y, a.z + b.z);
}

/// a - b
static inline rbVec3 rbSub(rbVec3 a, rbVec3 b)
{
    return rbMakeVec3(a.x - b.x, a.y - b.y, a.z - b.z);
}

/// -a
static inline rbVec3 rbNeg(rbVec3 a)
{
    return rbMakeVec3(-a.x, -a.y, -a.z);
}

/// s a
static inline rbVec3 rbScale(double s, rbVec3 a)
{
    return rbMakeVec3(s * a.x, s * a.y, s * a.z);
}

/// a + s b
static inline rbVec3 rbAddScaled(rbVec3 a, double s, rbVec3 b)
{
    return rbMakeVec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

/// Componentwise product.
static inline rbVec3 rbMulEach(rbVec3 a, rbVec3 b)
{
    return rbMakeVec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

/// Scalar product.
static inline double rbDot(rbVec3 a, rbVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Vector product.
static inline rbVec3 rbCross(rbVec3 a, rbVec3 b)
{
    return rbMakeVec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/// Square of the length.
static inline double rbLengthSquared(rbVec3 a)
{
    return rbDot(a, a);
}

/// Length of a vector.
static inline double rbLength(rbVec3 a)
{
    return sqrt(rbDot(a, a));
}

/// Distance of two points.
static inline double rbDistance(rbVec3 a, rbVec3 b)
{
    return rbLength(rbSub(a, b));
}

/// Unit vector along a; the zero vector stays zero.
static inline rbVec3 rbNormalize(rbVec3 a)
{
    double length = rbLength(a);
    return length > 0.0 ? rbMakeVec3(a.x / length, a.y / length, a.z / length) : a;
}

/// Componentwise minimum.
static inline rbVec3 rbMin3(rbVec3 a, rbVec3 b)
{
    return rbMakeVec3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}

/// Componentwise maximum.
static inline rbVec3 rbMax3(rbVec3 a, rbVec3 b)
{
    return rbMakeVec3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

/// Componentwise absolute value.
static inline rbVec3 rbAbs3(rbVec3 a)
{
    return rbMakeVec3(fabs(a.x), fabs(a.y), fabs(a.z));
}

/// True if all components are 0.
static inline bool rbIsZero3(rbVec3 a)
{
    return a.x == 0.0 && a.y == 0.0 && a.z == 0.0;
}

/// True if all components are finite.
static inline bool rbIsFinite3(rbVec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

/// Some unit vector perpendicular to the unit vector a.
static inline rbVec3 rbPerpendicular(rbVec3 a)
{
    rbVec3 r = fabs(a.x) < 0.57735 ? rbMakeVec3(0.0, a.z, -a.y) : rbMakeVec3(a.y, -a.x, 0.0);
    return rbNormalize(r);
}

/// Hamilton product: first b, then a.
static inline rbQuat rbMulQuat(rbQuat a, rbQuat b)
{
    rbQuat r = {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
                a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x};
    return r;
}

/// Conjugate; of a unit quaternion the inverse.
static inline rbQuat rbConjugate(rbQuat q)
{
    rbQuat r = {q.w, -q.x, -q.y, -q.z};
    return r;
}

/// Scalar product of two quaternions.
static inline double rbDotQuat(rbQuat a, rbQuat b)
{
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Unit quaternion; zero becomes the identity.
static inline rbQuat rbNormalizeQuat(rbQuat q)
{
    double length = sqrt(rbDotQuat(q, q));
    rbQuat identity = {1.0, 0.0, 0.0, 0.0};
    rbQuat r = {q.w / length, q.x / length, q.y / length, q.z / length};
    return length > 0.0 ? r : identity;
}

/// True if all components are finite.
static inline bool rbIsFiniteQuat(rbQuat q)
{
    return isfinite(q.w) && isfinite(q.x) && isfinite(q.y) && isfinite(q.z);
}

/// q v q^-1 for a unit quaternion.
static inline rbVec3 rbRotate(rbQuat q, rbVec3 v)
{
    rbVec3 u = {q.x, q.y, q.z};
    rbVec3 t = rbCross(u, v);
    t = rbAdd(t, t);
    return rbAdd(rbAddScaled(v, q.w, t), rbCross(u, t));
}

/// q^-1 v q for a unit quaternion.
static inline rbVec3 rbInvRotate(rbQuat q, rbVec3 v)
{
    return rbRotate(rbConjugate(q), v);
}

/// Matrix times vector.
static inline rbVec3 rbMulMV(rbMat3 m, rbVec3 v)
{
    return rbMakeVec3(m.cx.x * v.x + m.cy.x * v.y + m.cz.x * v.z,
                      m.cx.y * v.x + m.cy.y * v.y + m.cz.y * v.z,
                      m.cx.z * v.x + m.cy.z * v.y + m.cz.z * v.z);
}

/// Transpose times vector.
static inline rbVec3 rbMulMtV(rbMat3 m, rbVec3 v)
{
    return rbMakeVec3(rbDot(m.cx, v), rbDot(m.cy, v), rbDot(m.cz, v));
}

/// Matrix times matrix.
static inline rbMat3 rbMulMM(rbMat3 a, rbMat3 b)
{
    rbMat3 r = {rbMulMV(a, b.cx), rbMulMV(a, b.cy), rbMulMV(a, b.cz)};
    return r;
}

/// Transpose of a matrix.
static inline rbMat3 rbTranspose(rbMat3 m)
{
    rbMat3 r = {{m.cx.x, m.cy.x, m.cz.x}, {m.cx.y, m.cy.y, m.cz.y}, {m.cx.z, m.cy.z, m.cz.z}};
    return r;
}

/// Symmetric matrix times vector.
static inline rbVec3 rbMulSV(rbSym3 s, rbVec3 v)
{
    return rbMakeVec3(s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
                      s.xz * v.x + s.yz * v.y + s.zz * v.z);
}

/// Matrix of a unit quaternion; its columns are the body axes in world coordinates.
static inline rbMat3 rbMatFromQuat(rbQuat q)
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    rbMat3 r = {{1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)},
                {2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)},
                {2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy)}};
    return r;
}

/// q point + p.
static inline rbVec3 rbTransformPoint(rbTransform t, rbVec3 point)
{
    return rbAdd(rbRotate(t.q, point), t.p);
}

/// The inverse of rbTransformPoint.
static inline rbVec3 rbInvTransformPoint(rbTransform t, rbVec3 point)
{
    return rbInvRotate(t.q, rbSub(point, t.p));
}

/// First b, then a.
static inline rbTransform rbMulTransforms(rbTransform a, rbTransform b)
{
    rbTransform r = {rbTransformPoint(a, b.p), rbMulQuat(a.q, b.q)};
    return r;
}

/// a^-1 b: the frame b seen from the frame a.
static inline rbTransform rbInvMulTransforms(rbTransform a, rbTransform b)
{
    rbTransform r = {rbInvTransformPoint(a, b.p), rbMulQuat(rbConjugate(a.q), b.q)};
    return r;
}

/// The inverse motion.
static inline rbTransform rbInvertTransform(rbTransform t)
{
    rbQuat inverse = rbConjugate(t.q);
    rbTransform r = {rbNeg(rbRotate(inverse, t.p)), inverse};
    return r;
}

#endif
