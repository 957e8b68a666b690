// Quaternions: conversions to axis and angle, matrices and rotation vectors; random orientations.
#include "base/math/elementary.h"
#include "base/math/matrix3.h"
#include "base/math/quaternion.h"
#include "lab/math/axis_angle.h"
#include "lab/math/random3.h"
#include "lab/math/rotations.h"
#include "rb_test.h"

#include <float.h>
#include <math.h>

static double matrixDistance(rbMat3 a, rbMat3 b)
{
    return fmax(rbDistance(a.cx, b.cx), fmax(rbDistance(a.cy, b.cy), rbDistance(a.cz, b.cz)));
}

// Distance of two rotations: of q to r or -r, whichever is closer.
static double quatDistance(rbQuat q, rbQuat r)
{
    double s = rbDotQuat(q, r) < 0.0 ? -1.0 : 1.0;
    rbQuat d = {q.w - s * r.w, q.x - s * r.x, q.y - s * r.y, q.z - s * r.z};
    return sqrt(rbDotQuat(d, d));
}

// Angles of all kinds: tiny, anything, next to a half turn, beyond a full one.
static double someAngle(rbRandom* random, int i)
{
    switch (i % 4) {
    case 0:
        return pow(10.0, -rbRandom_Range(random, 0.0, 300.0));
    case 1:
        return rbRandom_Range(random, -RB_PI, RB_PI);
    case 2:
        return RB_PI - pow(10.0, -rbRandom_Range(random, 1.0, 17.0));
    default:
        return rbRandom_Range(random, -20.0, 20.0);
    }
}

// B-06, L-08
static void axisAngleQuaternionTurnsLikeRodrigues(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    for (int i = 0; i < 10000; ++i) {
        rbVec3 axis = rbRandom_Direction(&random);
        double angle = someAngle(&random, i);
        rbQuat q = rbQuat_FromAxisAngle(axis, angle);
        rbMat3 r = rbMatFromAxisAngle(axis, angle);
        checkNear(sqrt(rbDotQuat(q, q)), 1.0, 1e-15);
        checkBelow(matrixDistance(rbMatFromQuat(q), r), 2e-15);
        // Rodrigues written out: R = cos E + (1 - cos) v v^T + sin [v]x.
        rbVec3 x = rbRandom_Direction(&random);
        double c = cos(angle), s = sin(angle);
        rbVec3 expected = rbAddScaled(rbScale(c, x), (1.0 - c) * rbDot(axis, x), axis);
        expected = rbAddScaled(expected, s, rbCross(axis, x));
        checkBelow(rbDistance(rbMulMV(r, x), expected), 1e-15);
        checkBelow(rbDistance(rbRotate(q, x), expected), 2e-15);
    }
}

// B-06
static void axisAndAngleComeBack(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2)};
    for (int i = 0; i < 10000; ++i) {
        rbVec3 axis = rbRandom_Direction(&random);
        double angle = someAngle(&random, i);
        rbQuat q = rbQuat_FromAxisAngle(axis, angle);
        rbAxisAngle a = rbQuat_ToAxisAngle(q);
        assert_true(0.0 <= a.angle && a.angle <= RB_PI);
        checkNear(rbLength(a.axis), 1.0, 1e-15);
        // Tiny angles keep their relative accuracy.
        if (i % 4 == 0) {
            checkRelative(a.angle, angle, 1e-15);
            checkNear(rbDistance(a.axis, axis), 0.0, 1e-15);
        }
        checkBelow(quatDistance(rbQuat_FromAxisAngle(a.axis, a.angle), q), 1e-15);
        // q and -q are the same rotation (erratum E-08: the angle must not exceed pi).
        rbQuat negative = {-q.w, -q.x, -q.y, -q.z};
        rbAxisAngle b = rbQuat_ToAxisAngle(negative);
        checkNear(b.angle, a.angle, 1e-15);
    }
}

// B-06
static void identityHasAngleZeroAboutX(void** state)
{
    (void)state;
    rbAxisAngle a = rbQuat_ToAxisAngle(RB_QUAT_IDENTITY);
    assert_true(a.angle == 0.0 && a.axis.x == 1.0 && a.axis.y == 0.0 && a.axis.z == 0.0);
    rbQuat negative = {-1.0, 0.0, 0.0, 0.0};
    a = rbQuat_ToAxisAngle(negative);
    assert_true(a.angle == 0.0 && a.axis.x == 1.0);
    rbVec3 v = rbQuat_Log(negative);
    assert_true(rbLength(v) == 0.0);
}

// B-06: all four branches, and matrices where each of the others would divide by nearly zero
// (E-08).
static void quaternionOfMatrixComesBack(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3)};
    for (int i = 0; i < 20000; ++i) {
        rbQuat q = rbRandom_Quat(&random);
        if (i % 2 == 1) {
            // Close to a rotation with one component alone.
            double e = pow(10.0, -rbRandom_Range(&random, 0.0, 20.0));
            rbQuat near = {e * q.w, e * q.x, e * q.y, e * q.z};
            double* component[4] = {&near.w, &near.x, &near.y, &near.z};
            *component[(i / 2) % 4] += 1.0;
            q = rbNormalizeQuat(near);
        }
        rbQuat r = rbQuat_FromMat(rbMatFromQuat(q));
        checkBelow(quatDistance(q, r), 1.5e-15);
        checkNear(rbDotQuat(r, r), 1.0, 1e-15);
        assert_true(r.w >= 0.0);
    }
    // Half turns about the axes, with zero trace contributions of the others.
    static const rbVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int k = 0; k < 3; ++k) {
        rbQuat expected = {0.0, axes[k].x, axes[k].y, axes[k].z};
        checkBelow(quatDistance(rbQuat_FromMat(rbMatFromQuat(expected)), expected), 0.0);
    }
}

// B-06
static void smallestRotationBetweenVectors(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4)};
    for (int i = 0; i < 20000; ++i) {
        rbVec3 a = rbRandom_Direction(&random);
        rbVec3 b = rbRandom_Direction(&random);
        if (i % 2 == 1) {
            // Nearly parallel or nearly opposite, down to the last digit.
            double e = pow(10.0, -rbRandom_Range(&random, 0.0, 18.0));
            b = rbNormalize(rbAddScaled((i / 2) % 2 == 0 ? a : rbNeg(a), e, b));
        }
        rbQuat q = rbQuat_Between(a, b);
        checkNear(rbDotQuat(q, q), 1.0, 1e-15);
        checkBelow(rbDistance(rbRotate(q, a), b), rbDistance(a, rbNeg(b)) < 1e-14 ? 2e-14 : 2e-15);
        // Smallest: the axis is perpendicular to both.
        rbVec3 u = {q.x, q.y, q.z};
        checkBelow(fabs(rbDot(u, a)), 1e-14);
        checkBelow(fabs(rbDot(u, b)), 2e-14);
        assert_true(q.w >= 0.0);
    }
    rbVec3 x = {1, 0, 0};
    rbQuat same = rbQuat_Between(x, x);
    assert_true(same.w == 1.0 && same.x == 0.0 && same.y == 0.0 && same.z == 0.0);
    for (int i = 0; i < 1000; ++i) {
        rbVec3 a = rbRandom_Direction(&random);
        checkBelow(rbDistance(rbRotate(rbQuat_Between(a, rbNeg(a)), a), rbNeg(a)), 1e-14);
    }
}

// B-06
static void exponentialAndLogarithmAreInverse(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5)};
    for (int i = 0; i < 20000; ++i) {
        rbVec3 axis = rbRandom_Direction(&random);
        double angle = i % 2 == 0 ? pow(10.0, -rbRandom_Range(&random, 0.0, 300.0))
                                  : rbRandom_Range(&random, 0.0, 3.14);
        rbVec3 v = rbScale(angle, axis);
        rbQuat q = rbQuat_Exp(v);
        checkNear(rbDotQuat(q, q), 1.0, 1e-15);
        checkBelow(quatDistance(q, rbQuat_FromAxisAngle(axis, angle)), 1e-15);
        rbVec3 back = rbQuat_Log(q);
        // Every component keeps its relative accuracy, however small the rotation.
        checkRelative(back.x, v.x, 2e-15);
        checkRelative(back.y, v.y, 2e-15);
        checkRelative(back.z, v.z, 2e-15);
        rbQuat negative = {-q.w, -q.x, -q.y, -q.z};
        checkBelow(rbDistance(rbQuat_Log(negative), back), 1e-30);
    }
}

// B-06: across the border between the series and the functions.
static void exponentialIsSmoothWhereTheSeriesEnds(void** state)
{
    (void)state;
    for (int i = -1000; i <= 1000; ++i) {
        double angle = sqrt(1e-5) * (1.0 + i * 1e-5);
        rbQuat q = rbQuat_Exp(rbMakeVec3(angle, 0.0, 0.0));
        checkNear(q.w, (double)cosl(0.5L * angle), 1.2e-16);
        checkRelative(q.x, (double)sinl(0.5L * angle), 2.5e-16);
        checkRelative(rbQuat_Log(q).x, angle, 4e-16);
    }
}

// L-08: composition "first b, then a" is the product a b, of quaternions and matrices alike.
static void compositionOfRotationsIsTheProduct(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6)};
    for (int i = 0; i < 5000; ++i) {
        rbQuat a = rbRandom_Quat(&random), b = rbRandom_Quat(&random);
        rbVec3 v = rbRandom_Direction(&random);
        rbVec3 twice = rbRotate(a, rbRotate(b, v));
        checkBelow(rbDistance(rbRotate(rbMulQuat(a, b), v), twice), 3e-15);
        rbMat3 product = rbMulMM(rbMatFromQuat(a), rbMatFromQuat(b));
        checkBelow(rbDistance(rbMulMV(product, v), twice), 3e-15);
        checkBelow(quatDistance(rbQuat_FromMat(product), rbMulQuat(a, b)), 3e-15);
    }
}

// The draws of the benchmark scenes: first values from the formulas, computed with the C library.
static void randomDirectionsFollowTheirDefinition(void** state)
{
    (void)state;
    rbRandom a = {2}, b = {2};
    for (int i = 0; i < 1000; ++i) {
        rbVec3 d = rbRandom_Direction(&a);
        double z = 2.0 * rbRandom_Unit(&b) - 1.0;
        double angle = 2.0 * RB_PI * rbRandom_Unit(&b);
        double r = sqrt(1.0 - z * z);
        checkNear(d.x, r * cos(angle), 3e-16);
        checkNear(d.y, r * sin(angle), 3e-16);
        assert_true(d.z == z);
        rbQuat q = rbRandom_Quat(&a);
        double s = rbRandom_Unit(&b);
        double first = 2.0 * RB_PI * rbRandom_Unit(&b);
        double second = 2.0 * RB_PI * rbRandom_Unit(&b);
        checkNear(q.x, sqrt(1.0 - s) * sin(first), 3e-16);
        checkNear(q.y, sqrt(1.0 - s) * cos(first), 3e-16);
        checkNear(q.z, sqrt(s) * sin(second), 3e-16);
        checkNear(q.w, sqrt(s) * cos(second), 3e-16);
        checkNear(rbDotQuat(q, q), 1.0, 1e-15);
    }
    assert_true(a.state == b.state);
}

// Moments of the uniform distribution: the mean of v is 0, of v v^T E/3, of a rotated vector 0.
static void randomOrientationsAreUniform(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(7)};
    int count = 200000;
    double tolerance = 5.0 / sqrt((double)count);
    rbVec3 mean = {0}, square = {0}, rotated = {0};
    double angleCosine = 0.0;
    for (int i = 0; i < count; ++i) {
        rbVec3 v = rbRandom_Direction(&random);
        mean = rbAdd(mean, v);
        square = rbAdd(square, rbMulEach(v, v));
        rbQuat q = rbRandom_Quat(&random);
        rotated = rbAdd(rotated, rbRotate(q, rbMakeVec3(0, 0, 1)));
        angleCosine += 2.0 * q.w * q.w - 1.0; // cosine of the angle; its mean is -1/2
    }
    double f = 1.0 / count;
    checkBelow(rbLength(rbScale(f, mean)), tolerance);
    checkBelow(rbDistance(rbScale(f, square), rbMakeVec3(1.0 / 3, 1.0 / 3, 1.0 / 3)), tolerance);
    checkBelow(rbLength(rbScale(f, rotated)), tolerance);
    checkNear(f * angleCosine, -0.5, tolerance);
}

RB_TEST_GROUP(test_quaternion, cmocka_unit_test(axisAngleQuaternionTurnsLikeRodrigues),
              cmocka_unit_test(axisAndAngleComeBack), cmocka_unit_test(identityHasAngleZeroAboutX),
              cmocka_unit_test(quaternionOfMatrixComesBack),
              cmocka_unit_test(smallestRotationBetweenVectors),
              cmocka_unit_test(exponentialAndLogarithmAreInverse),
              cmocka_unit_test(exponentialIsSmoothWhereTheSeriesEnds),
              cmocka_unit_test(compositionOfRotationsIsTheProduct),
              cmocka_unit_test(randomDirectionsFollowTheirDefinition),
              cmocka_unit_test(randomOrientationsAreUniform));
