// The inline vectors, quaternions, matrices and transforms of vecmath.h.
#include "base/math/matrix3.h"
#include "base/math/quaternion.h"
#include "lab/math/axis_angle.h"
#include "lab/math/random3.h"
#include "lab/math/rotations.h"
#include "rb_test.h"

#include <rattleback/vecmath.h>

#include <float.h>
#include <math.h>

static rbVec3 randomVector(rbRandom* random)
{
    return rbScale(rbRandom_Range(random, 0.1, 10.0), rbRandom_Direction(random));
}

static rbTransform randomTransform(rbRandom* random)
{
    rbTransform t = {randomVector(random), rbRandom_Quat(random)};
    return t;
}

static double matrixDistance(rbMat3 a, rbMat3 b)
{
    return fmax(rbDistance(a.cx, b.cx), fmax(rbDistance(a.cy, b.cy), rbDistance(a.cz, b.cz)));
}

//
static void vectorAlgebraHolds(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    for (int i = 0; i < 5000; ++i) {
        rbVec3 a = randomVector(&random), b = randomVector(&random), c = randomVector(&random);
        double s = rbLength(a) * rbLength(b) * rbLength(c);
        // Triple product, Lagrange's identity and the double cross product.
        checkNear(rbDot(a, rbCross(b, c)), rbDot(c, rbCross(a, b)), 1e-14 * s);
        checkNear(rbLengthSquared(rbCross(a, b)) + rbDot(a, b) * rbDot(a, b),
                  rbLengthSquared(a) * rbLengthSquared(b),
                  1e-14 * rbLengthSquared(a) * rbLengthSquared(b));
        rbVec3 left = rbCross(a, rbCross(b, c));
        rbVec3 right = rbSub(rbScale(rbDot(a, c), b), rbScale(rbDot(a, b), c));
        checkNear(rbDistance(left, right), 0.0, 1e-14 * s);
        // four roundings: the product, the root, the quotient, and the measurement
        checkNear(rbLength(rbNormalize(a)), 1.0, 2.0 * DBL_EPSILON);
        checkNear(rbDistance(rbAddScaled(a, 2.0, b), rbAdd(a, rbAdd(b, b))), 0.0, 1e-14);
        rbVec3 low = rbMin3(a, b), high = rbMax3(a, b);
        assert_true(low.x <= high.x && low.y <= high.y && low.z <= high.z);
        checkNear(rbDistance(rbAdd(low, high), rbAdd(a, b)), 0.0, 1e-14);
        rbVec3 p = rbPerpendicular(rbNormalize(a));
        checkNear(rbLength(p), 1.0, 2.0 * DBL_EPSILON);
        checkNear(rbDot(p, a), 0.0, 1e-14);
    }
    rbVec3 zero = RB_VEC3_ZERO;
    assert_true(rbLength(rbNormalize(zero)) == 0.0);
    assert_true(rbIsFinite3(zero) && !rbIsFinite3(rbMakeVec3(0, NAN, 0)));
    static const rbVec3 axes[3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}};
    for (int k = 0; k < 3; ++k) {
        checkNear(rbDot(rbPerpendicular(axes[k]), axes[k]), 0.0, 0.0);
    }
}

// L-08, R-02
static void rotationByQuaternionIsRotationByMatrix(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2)};
    for (int i = 0; i < 10000; ++i) {
        rbQuat q = rbRandom_Quat(&random);
        rbMat3 r = rbMatFromQuat(q);
        rbVec3 v = randomVector(&random);
        double tolerance = 1e-15 * (1.0 + 4.0 * rbLength(v));
        checkNear(rbDistance(rbRotate(q, v), rbMulMV(r, v)), 0.0, tolerance);
        checkNear(rbDistance(rbInvRotate(q, v), rbMulMtV(r, v)), 0.0, tolerance);
        checkNear(rbDistance(rbInvRotate(q, rbRotate(q, v)), v), 0.0, 2.0 * tolerance);
        checkNear(rbLength(rbRotate(q, v)), rbLength(v), tolerance);
        // q v q^-1 as products of quaternions.
        rbQuat pure = {0.0, v.x, v.y, v.z};
        rbQuat turned = rbMulQuat(rbMulQuat(q, pure), rbConjugate(q));
        checkNear(rbDistance(rbMakeVec3(turned.x, turned.y, turned.z), rbRotate(q, v)), 0.0,
                  tolerance);
        // A rotation: orthonormal, right-handed.
        checkNear(matrixDistance(rbMulMM(rbTranspose(r), r), RB_MAT3_IDENTITY), 0.0, 2e-15);
        checkNear(rbMat3_Determinant(r), 1.0, 2e-15);
    }
    // Counterclockwise seen from the tip of the axis: a quarter turn about z maps x to y.
    rbQuat quarter = rbQuat_FromAxisAngle(rbMakeVec3(0, 0, 1), 0.5 * RB_PI);
    checkNear(rbDistance(rbRotate(quarter, rbMakeVec3(1, 0, 0)), rbMakeVec3(0, 1, 0)), 0.0, 3e-16);
}

// L-08: first (B, b), then (C, c) is (CB, Cb + c); the inverse is (R^T, -R^T c).
static void transformsComposeAndInvert(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3)};
    const double tolerance = 2e-13;
    for (int i = 0; i < 10000; ++i) {
        rbTransform a = randomTransform(&random), b = randomTransform(&random);
        rbVec3 x = randomVector(&random);
        rbVec3 y = rbTransformPoint(a, rbTransformPoint(b, x));
        checkNear(rbDistance(rbTransformPoint(rbMulTransforms(a, b), x), y), 0.0, tolerance);
        checkNear(rbDistance(rbInvTransformPoint(a, rbTransformPoint(a, x)), x), 0.0, tolerance);
        checkNear(rbDistance(rbTransformPoint(rbInvertTransform(a), rbTransformPoint(a, x)), x),
                  0.0, tolerance);
        // b seen from a.
        rbVec3 seen = rbTransformPoint(rbInvMulTransforms(a, b), x);
        checkNear(rbDistance(seen, rbInvTransformPoint(a, rbTransformPoint(b, x))), 0.0, tolerance);
        rbTransform identity = rbMulTransforms(a, rbInvertTransform(a));
        checkNear(rbLength(identity.p), 0.0, tolerance);
        checkNear(fabs(identity.q.w), 1.0, 1e-15);
        // Rigid: distances are preserved.
        rbVec3 z = randomVector(&random);
        checkNear(rbDistance(rbTransformPoint(a, x), rbTransformPoint(a, z)), rbDistance(x, z),
                  tolerance);
    }
}

// L-08, R-02: every proper rigid motion is one rotation about an axis followed by a translation.
static void everyMotionIsOneRotationAndATranslation(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4)};
    for (int i = 0; i < 2000; ++i) {
        rbTransform t = rbMulTransforms(randomTransform(&random), randomTransform(&random));
        rbAxisAngle a = rbQuat_ToAxisAngle(rbNormalizeQuat(t.q));
        rbMat3 r = rbMatFromAxisAngle(a.axis, a.angle);
        rbVec3 x = randomVector(&random);
        checkNear(rbDistance(rbAdd(rbMulMV(r, x), t.p), rbTransformPoint(t, x)), 0.0, 1e-13);
    }
}

// L-09: R' = [w]x R and the velocity of a body point v + w x r, by central differences of a motion
// with constant spin.
static void pointVelocityIsTheDerivativeOfThePoint(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5)};
    const double h = 1e-5;
    for (int i = 0; i < 2000; ++i) {
        rbVec3 v = randomVector(&random), w = rbRandom_Direction(&random);
        rbVec3 c = randomVector(&random), body = rbRandom_Direction(&random);
        rbQuat q = rbRandom_Quat(&random);
        rbVec3 at[2];
        rbMat3 rotation[2];
        for (int side = 0; side < 2; ++side) {
            double t = side == 0 ? -h : h;
            rbTransform moved = {rbAddScaled(c, t, v), rbMulQuat(rbQuat_Exp(rbScale(t, w)), q)};
            at[side] = rbTransformPoint(moved, body);
            rotation[side] = rbMatFromQuat(moved.q);
        }
        rbVec3 measured = rbScale(0.5 / h, rbSub(at[1], at[0]));
        rbVec3 r = rbRotate(q, body);
        checkNear(rbDistance(measured, rbAdd(v, rbCross(w, r))), 0.0, 1e-9);
        rbMat3 rate = rbMulMM(rbCrossMatrix(w), rbMatFromQuat(q));
        rbMat3 measuredRate = {rbScale(0.5 / h, rbSub(rotation[1].cx, rotation[0].cx)),
                               rbScale(0.5 / h, rbSub(rotation[1].cy, rotation[0].cy)),
                               rbScale(0.5 / h, rbSub(rotation[1].cz, rotation[0].cz))};
        checkNear(matrixDistance(measuredRate, rate), 0.0, 1e-9);
    }
}

static void symmetricProductIsTheMatrixProduct(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6)};
    for (int i = 0; i < 2000; ++i) {
        rbSym3 s = {rbRandom_Unit(&random), rbRandom_Unit(&random), rbRandom_Unit(&random),
                    rbRandom_Unit(&random), rbRandom_Unit(&random), rbRandom_Unit(&random)};
        rbVec3 v = rbRandom_Direction(&random);
        checkNear(rbDistance(rbMulSV(s, v), rbMulMV(rbMatFromSym(s), v)), 0.0, 1e-15);
    }
    rbQuat zero = {0};
    assert_true(rbNormalizeQuat(zero).w == 1.0);
    assert_true(rbIsFiniteQuat(zero) && !rbIsFiniteQuat((rbQuat){0, INFINITY, 0, 0}));
}

RB_TEST_GROUP(test_vecmath, cmocka_unit_test(vectorAlgebraHolds),
              cmocka_unit_test(rotationByQuaternionIsRotationByMatrix),
              cmocka_unit_test(transformsComposeAndInvert),
              cmocka_unit_test(everyMotionIsOneRotationAndATranslation),
              cmocka_unit_test(pointVelocityIsTheDerivativeOfThePoint),
              cmocka_unit_test(symmetricProductIsTheMatrixProduct));
