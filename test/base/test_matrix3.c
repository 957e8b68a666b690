// 3x3 matrices: inverses, eigenvectors, orthonormalization, Euler angles.
#include "base/core/random.h"
#include "base/math/matrix3.h"
#include "base/math/quaternion.h"
#include "lab/math/random3.h"
#include "lab/math/rotations.h"
#include "rb_test.h"

#include <float.h>
#include <math.h>
#include <string.h>

static rbMat3 randomMatrix(rbRandom* random)
{
    double v[9];
    for (int i = 0; i < 9; ++i) {
        v[i] = rbRandom_Symmetric(random);
    }
    rbMat3 m = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}};
    return m;
}

static double largestEntry(rbMat3 m)
{
    rbVec3 a = rbMax3(rbMax3(rbAbs3(m.cx), rbAbs3(m.cy)), rbAbs3(m.cz));
    return fmax(a.x, fmax(a.y, a.z));
}

static rbMat3 difference(rbMat3 a, rbMat3 b)
{
    rbMat3 r = {rbSub(a.cx, b.cx), rbSub(a.cy, b.cy), rbSub(a.cz, b.cz)};
    return r;
}

static double symDifference(rbSym3 a, rbSym3 b)
{
    return largestEntry(difference(rbMatFromSym(a), rbMatFromSym(b)));
}

// Product of two symmetric matrices against the identity.
static double inverseError(rbSym3 a, rbSym3 b)
{
    return largestEntry(difference(rbMulMM(rbMatFromSym(a), rbMatFromSym(b)), RB_MAT3_IDENTITY));
}

// B-09
static void crossMatrixIsTheCrossProduct(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    for (int i = 0; i < 1000; ++i) {
        rbVec3 a = rbRandom_Direction(&random), b = rbRandom_Direction(&random);
        checkNear(rbDistance(rbMulMV(rbCrossMatrix(a), b), rbCross(a, b)), 0.0, 1e-16);
    }
}

// B-09
static void inverseTimesMatrixIsIdentity(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2)};
    int count = rbTest_Count(20000, 1000000);
    for (int i = 0; i < count; ++i) {
        rbMat3 m = randomMatrix(&random);
        rbMat3 inverse;
        assert_true(rbMat3_Invert(m, &inverse));
        double condition = largestEntry(inverse) * largestEntry(m);
        double error = largestEntry(difference(rbMulMM(inverse, m), RB_MAT3_IDENTITY));
        checkBelow(error, 30.0 * DBL_EPSILON * (1.0 + condition));
        checkNear(rbMat3_Determinant(m) * rbMat3_Determinant(inverse), 1.0,
                  60.0 * DBL_EPSILON * (1.0 + condition * condition));
    }
}

// B-09
static void inverseSurvivesBadScales(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3)};
    for (int i = 0; i < 5000; ++i) {
        rbMat3 m = randomMatrix(&random);
        rbMat3 plain, scaled;
        if (!rbMat3_Invert(m, &plain) || largestEntry(plain) > 50.0) {
            continue;
        }
        // Rows and columns scaled by powers of ten between 1e-60 and 1e60: the inverse scales by
        // the reciprocals.
        rbVec3 row = {pow(10.0, rbRandom_Index(&random, 121) - 60),
                      pow(10.0, rbRandom_Index(&random, 121) - 60), 1.0};
        double column = pow(10.0, rbRandom_Index(&random, 121) - 60);
        rbMat3 s = {rbMulEach(row, m.cx), rbScale(column, rbMulEach(row, m.cy)),
                    rbMulEach(row, m.cz)};
        assert_true(rbMat3_Invert(s, &scaled));
        rbMat3 back = {rbScale(row.x, scaled.cx), rbScale(row.y, scaled.cy),
                       rbScale(row.z, scaled.cz)};
        rbVec3 unscale = {1.0, column, 1.0};
        back = (rbMat3){rbMulEach(unscale, back.cx), rbMulEach(unscale, back.cy),
                        rbMulEach(unscale, back.cz)};
        checkBelow(largestEntry(difference(back, plain)), 1e-10);
    }
}

// B-09
static void singularMatricesAreRefused(void** state)
{
    (void)state;
    rbMat3 inverse = RB_MAT3_IDENTITY;
    rbSym3 symInverse = {1, 2, 3, 4, 5, 6};
    rbVec3 x = {7, 8, 9};
    rbMat3 zero = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    assert_false(rbMat3_Invert(zero, &inverse));
    rbRandom random = {rbTest_Seed(4)};
    for (int i = 0; i < 3000; ++i) {
        // a a^T + b b^T has rank 2.
        rbVec3 a = rbRandom_Direction(&random), b = rbRandom_Direction(&random);
        double f = ldexp(1.0, rbRandom_Index(&random, 200) - 100);
        rbSym3 s = {f * (a.x * a.x + b.x * b.x), f * (a.y * a.y + b.y * b.y),
                    f * (a.z * a.z + b.z * b.z), f * (a.x * a.y + b.x * b.y),
                    f * (a.x * a.z + b.x * b.z), f * (a.y * a.z + b.y * b.z)};
        assert_false(rbSym3_Invert(s, &symInverse));
        assert_false(rbSym3_Solve(s, a, &x));
        rbMat3 m = {a, b, rbAdd(a, b)};
        assert_false(rbMat3_Invert(m, &inverse));
    }
    assert_true(symInverse.xx == 1.0 && x.x == 7.0 && inverse.cx.x == 1.0);
    rbSym3 nan = {1, NAN, 1, 0, 0, 0};
    assert_false(rbSym3_Invert(nan, &symInverse));
}

// Random symmetric positive definite matrix with unit-like diagonal and condition below about 1e4.
static rbSym3 randomPositive(rbRandom* random)
{
    rbVec3 d = {rbRandom_Range(random, 1e-3, 1.0), rbRandom_Range(random, 1e-3, 1.0),
                rbRandom_Range(random, 1e-3, 1.0)};
    return rbSym3_FromPrincipal(d, rbMatFromQuat(rbRandom_Quat(random)));
}

// B-09
static void symmetricInverseAgreesWithGeneral(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5)};
    int count = rbTest_Count(20000, 1000000);
    for (int i = 0; i < count; ++i) {
        rbSym3 s = randomPositive(&random);
        if (i % 2 == 1) {
            // Most become indefinite, which the general inverse accepts and the symmetric one
            // refuses.
            s = rbAddSym(s, rbSymFromDiagonal(rbMakeVec3(-0.3, -0.3, -0.3)));
        }
        rbSym3 inverse;
        rbMat3 general;
        if (!rbMat3_Invert(rbMatFromSym(s), &general) || largestEntry(general) > 1e6) {
            continue;
        }
        rbEigen3 eigen = rbSym3_Diagonalize(s);
        if (fmin(eigen.values.x, fmin(eigen.values.y, eigen.values.z)) < 0.0) {
            rbVec3 none;
            assert_false(rbSym3_Invert(s, &inverse));
            assert_false(rbSym3_Solve(s, RB_VEC3_ZERO, &none));
            continue;
        }
        assert_true(rbSym3_Invert(s, &inverse));
        double size = largestEntry(general);
        checkBelow(symDifference(inverse, rbSymFromMat(general)),
                   200.0 * DBL_EPSILON * size * size);
        checkBelow(inverseError(s, inverse), 100.0 * DBL_EPSILON * (1.0 + size));
        rbVec3 b = rbRandom_Direction(&random), x;
        assert_true(rbSym3_Solve(s, b, &x));
        checkBelow(rbDistance(rbMulSV(s, x), b), 60.0 * DBL_EPSILON * (1.0 + size));
    }
}

// B-09: a light part next to a heavy one. D S D with D over 80 decades has condition 1e160, but its
// inverse D^-1 S^-1 D^-1 must have a small relative error in every entry.
static void symmetricInverseIsAccurateForBadScales(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6)};
    for (int i = 0; i < 10000; ++i) {
        rbSym3 s = randomPositive(&random);
        rbSym3 plain, scaledInverse;
        assert_true(rbSym3_Invert(s, &plain));
        double d[3];
        for (int k = 0; k < 3; ++k) {
            d[k] = ldexp(1.0, rbRandom_Index(&random, 266) - 133);
        }
        rbSym3 t = {s.xx * d[0] * d[0], s.yy * d[1] * d[1], s.zz * d[2] * d[2],
                    s.xy * d[0] * d[1], s.xz * d[0] * d[2], s.yz * d[1] * d[2]};
        assert_true(rbSym3_Invert(t, &scaledInverse));
        // Powers of two: the digits must be the same up to the parity of the exponents.
        double size = largestEntry(rbMatFromSym(plain));
        checkNear(scaledInverse.xx * d[0] * d[0], plain.xx, 1e-12 * size);
        checkNear(scaledInverse.yy * d[1] * d[1], plain.yy, 1e-12 * size);
        checkNear(scaledInverse.zz * d[2] * d[2], plain.zz, 1e-12 * size);
        checkNear(scaledInverse.xy * d[0] * d[1], plain.xy, 1e-12 * size);
        checkNear(scaledInverse.xz * d[0] * d[2], plain.xz, 1e-12 * size);
        checkNear(scaledInverse.yz * d[1] * d[2], plain.yz, 1e-12 * size);
        rbVec3 x, b = {d[0], d[1], d[2]};
        assert_true(rbSym3_Solve(t, b, &x));
        rbVec3 y = rbMulSV(plain, rbMakeVec3(1, 1, 1));
        checkNear(x.x * d[0], y.x, 1e-11 * size);
        checkNear(x.y * d[1], y.y, 1e-11 * size);
        checkNear(x.z * d[2], y.z, 1e-11 * size);
    }
}

// B-09, L-07
static void rotatedTensorActsLikeTheTensor(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(7)};
    for (int i = 0; i < 5000; ++i) {
        rbSym3 s = rbSymFromMat(randomMatrix(&random));
        rbQuat q = rbRandom_Quat(&random);
        rbSym3 t = rbSym3_Rotate(s, rbMatFromQuat(q));
        rbVec3 v = rbRandom_Direction(&random);
        // R S R^T (R v) = R (S v)
        checkNear(rbDistance(rbMulSV(t, rbRotate(q, v)), rbRotate(q, rbMulSV(s, v))), 0.0, 4e-15);
        checkNear(rbSym3_Determinant(t), rbSym3_Determinant(s), 4e-15);
        rbVec3 d = rbRandom_Direction(&random);
        rbMat3 r = rbMatFromQuat(q);
        checkBelow(
            symDifference(rbSym3_FromPrincipal(d, r), rbSym3_Rotate(rbSymFromDiagonal(d), r)),
            2e-15);
        checkBelow(symDifference(rbSymFromMat(rbMatFromSym(s)), s), 0.0);
    }
}

static void checkEigen(rbSym3 s, rbEigen3 e, double tolerance)
{
    double size = largestEntry(rbMatFromSym(s));
    assert_true(e.converged);
    rbMat3 gram = rbMulMM(rbTranspose(e.axes), e.axes);
    checkBelow(largestEntry(difference(gram, RB_MAT3_IDENTITY)), 1e-14);
    checkNear(rbMat3_Determinant(e.axes), 1.0, 1e-14);
    checkBelow(symDifference(rbSym3_FromPrincipal(e.values, e.axes), s), tolerance * size);
}

// L-07
static void eigenvectorsDiagonalize(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(8)};
    int count = rbTest_Count(20000, 1000000);
    int sweepsMax = 0;
    for (int i = 0; i < count; ++i) {
        rbSym3 s = rbSymFromMat(randomMatrix(&random));
        s = rbScaleSym(ldexp(1.0, 10 * (i % 90) - 450), s);
        if (i % 5 == 0) {
            s.xy = 0.0;
        }
        rbEigen3 e = rbSym3_Diagonalize(s);
        checkEigen(s, e, 2e-14);
        sweepsMax = e.sweeps > sweepsMax ? e.sweeps : sweepsMax;
    }
    print_message("at most %d sweeps\n", sweepsMax);
    assert_true(sweepsMax <= 10);
}

// L-07
static void eigenvaluesAreThoseTheTensorWasMadeOf(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(9)};
    for (int i = 0; i < 5000; ++i) {
        // From well separated to nearly and exactly equal values, and over many decades.
        double ratio = pow(10.0, -rbRandom_Range(&random, 0.0, 14.0));
        rbVec3 d = {1.0, i % 3 == 0 ? 1.0 : 1.0 - ratio, i % 2 == 0 ? ratio : 0.5};
        rbSym3 s = rbSym3_FromPrincipal(d, rbMatFromQuat(rbRandom_Quat(&random)));
        rbEigen3 e = rbSym3_Diagonalize(s);
        checkEigen(s, e, 1e-14);
        double found[3] = {e.values.x, e.values.y, e.values.z};
        double truth[3] = {d.x, d.y, d.z};
        for (int pass = 0; pass < 2; ++pass) {
            for (int k = 0; k < 2; ++k) {
                double f = found[k], t = truth[k];
                if (f > found[k + 1]) {
                    found[k] = found[k + 1];
                    found[k + 1] = f;
                }
                if (t > truth[k + 1]) {
                    truth[k] = truth[k + 1];
                    truth[k + 1] = t;
                }
            }
        }
        for (int k = 0; k < 3; ++k) {
            checkNear(found[k], truth[k], 10.0 * DBL_EPSILON);
        }
    }
}

// L-07
static void diagonalTensorsStayUntouched(void** state)
{
    (void)state;
    rbSym3 s = {0.3, 0x1.23456789abcdp-1060, -1.7e300, 0.0, -0.0, 0.0};
    rbEigen3 e = rbSym3_Diagonalize(s);
    rbMat3 identity = RB_MAT3_IDENTITY;
    assert_true(e.values.x == s.xx && e.values.y == s.yy && e.values.z == s.zz);
    assert_memory_equal(&e.axes, &identity, sizeof identity);
    assert_int_equal(e.sweeps, 0);
    rbSym3 zero = {0};
    e = rbSym3_Diagonalize(zero);
    assert_true(e.converged && e.values.x == 0.0);
}

// B-05
static void orthonormalizationFindsTheNearestRotation(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(10)};
    int iterationsMax = 0;
    for (int i = 0; i < 5000; ++i) {
        // R S with symmetric positive S: the polar factor, and so the nearest rotation, is R.
        rbMat3 r = rbMatFromQuat(rbRandom_Quat(&random));
        rbVec3 d = {rbRandom_Range(&random, 0.3, 3.0), rbRandom_Range(&random, 0.3, 3.0),
                    rbRandom_Range(&random, 0.3, 3.0)};
        rbSym3 s = rbSym3_FromPrincipal(d, rbMatFromQuat(rbRandom_Quat(&random)));
        rbOrthonormal3 o = rbMat3_Orthonormalize(rbMulMM(r, rbMatFromSym(s)), 1e-15);
        assert_true(o.converged);
        checkBelow(o.error, 1e-15);
        checkBelow(largestEntry(difference(o.matrix, r)), 2e-14);
        iterationsMax = o.iterations > iterationsMax ? o.iterations : iterationsMax;
    }
    print_message("at most %d iterations\n", iterationsMax);
    assert_true(iterationsMax <= 9);
}

// B-05: erratum E-09. Without the division by the determinant a length error grows by 1.5 per pass:
// the axes must reach unit length from any scale, and stay there when the operation is repeated.
static void orthonormalizationKeepsLengthsOne(void** state)
{
    (void)state;
    static const double scales[] = {1e-3, 0.1, 0.999, 1.001, 3.0, 1e3};
    for (size_t k = 0; k < sizeof scales / sizeof scales[0]; ++k) {
        double scale = scales[k];
        rbMat3 m = {
            {scale, 1e-4 * scale, 0.0}, {0.0, scale, 1e-4 * scale}, {1e-4 * scale, 0.0, scale}};
        for (int i = 0; i < 50; ++i) {
            rbOrthonormal3 o = rbMat3_Orthonormalize(m, 1e-14);
            assert_true(o.converged && o.iterations <= 20);
            m = o.matrix;
            checkNear(rbLength(m.cx), 1.0, 4e-16);
            checkNear(rbLength(m.cy), 1.0, 4e-16);
            checkNear(rbLength(m.cz), 1.0, 4e-16);
        }
    }
}

// B-05
static void orthonormalizationRefusesLeftHandedAxes(void** state)
{
    (void)state;
    rbMat3 mirror = {{1, 0, 0}, {0, 1, 0}, {0, 0, -1}};
    assert_false(rbMat3_Orthonormalize(mirror, 1e-12).converged);
    rbMat3 skewMirror = {{1, 0.1, 0}, {0, 1, 0}, {0, 0, -1}};
    rbOrthonormal3 o = rbMat3_Orthonormalize(skewMirror, 1e-12);
    assert_false(o.converged);
    assert_memory_equal(&o.matrix, &skewMirror, sizeof skewMirror);
    rbMat3 flat = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    assert_false(rbMat3_Orthonormalize(flat, 1e-12).converged);
}

// B-09
static void eulerMatrixIsTheProductOfThree(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(11)};
    for (int i = 0; i < 5000; ++i) {
        rbVec3 a = rbScale(4.0, rbRandom_Direction(&random));
        rbMat3 product = rbMulMM(rbMulMM(rbMatFromAxisAngle(rbMakeVec3(1, 0, 0), a.x),
                                         rbMatFromAxisAngle(rbMakeVec3(0, 1, 0), a.y)),
                                 rbMatFromAxisAngle(rbMakeVec3(0, 0, 1), a.z));
        checkBelow(largestEntry(difference(rbMatFromEuler(a), product)), 1e-15);
    }
}

// B-09
static void eulerAnglesComeBack(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(12)};
    for (int i = 0; i < 20000; ++i) {
        rbVec3 a = {RB_PI * rbRandom_Symmetric(&random), 0.5 * RB_PI * rbRandom_Symmetric(&random),
                    RB_PI * rbRandom_Symmetric(&random)};
        // Every fourth: at gimbal lock or next to it.
        bool isLocked = i % 4 == 0;
        if (isLocked) {
            double off = i % 8 == 0 ? 0.0 : pow(10.0, -rbRandom_Range(&random, 1.0, 17.0));
            a.y = copysign(0.5 * RB_PI - off, a.y);
        }
        rbMat3 r = rbMatFromEuler(a);
        rbVec3 b = rbEulerFromMat(r);
        checkBelow(largestEntry(difference(rbMatFromEuler(b), r)), 3e-15);
        if (!isLocked && fabs(a.y) < 1.5) {
            checkNear(rbDistance(a, b), 0.0, 2e-14);
        }
    }
}

RB_TEST_GROUP(test_matrix3, cmocka_unit_test(crossMatrixIsTheCrossProduct),
              cmocka_unit_test(inverseTimesMatrixIsIdentity),
              cmocka_unit_test(inverseSurvivesBadScales),
              cmocka_unit_test(singularMatricesAreRefused),
              cmocka_unit_test(symmetricInverseAgreesWithGeneral),
              cmocka_unit_test(symmetricInverseIsAccurateForBadScales),
              cmocka_unit_test(rotatedTensorActsLikeTheTensor),
              cmocka_unit_test(eigenvectorsDiagonalize),
              cmocka_unit_test(eigenvaluesAreThoseTheTensorWasMadeOf),
              cmocka_unit_test(diagonalTensorsStayUntouched),
              cmocka_unit_test(orthonormalizationFindsTheNearestRotation),
              cmocka_unit_test(orthonormalizationKeepsLengthsOne),
              cmocka_unit_test(orthonormalizationRefusesLeftHandedAxes),
              cmocka_unit_test(eulerMatrixIsTheProductOfThree),
              cmocka_unit_test(eulerAnglesComeBack));
