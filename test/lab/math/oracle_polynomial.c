// Real roots of quadratics, cubics and quartics: known roots, backward error, Sturm sequences.
#include "base/core/random.h"
#include "lab/math/polynomial.h"
#include "rb_test.h"

#include <float.h>
#include <math.h>
#include <string.h>

static rbRealRoots solveDegree(const double* c, int degree)
{
    return degree == 2 ? rbSolveQuadratic(c) : degree == 3 ? rbSolveCubic(c) : rbSolveQuartic(c);
}

// Coefficients of leading * product of (x - root), in long double.
static void expand(const double* roots, int count, double leading, long double* c)
{
    memset(c, 0, (size_t)(RB_POLYNOMIAL_DEGREE_MAX + 1) * sizeof *c);
    c[0] = leading;
    for (int i = 0; i < count; ++i) {
        for (int k = i + 1; k > 0; --k) {
            c[k] = c[k - 1] - (long double)roots[i] * c[k];
        }
        c[0] *= -(long double)roots[i];
    }
}

// |p(x)| over the sum of |c_k x^k|: the relative change of coefficients that makes x an exact root.
static double backwardError(const double* c, int degree, double x)
{
    long double value = 0.0L, size = 0.0L;
    for (int k = degree; k >= 0; --k) {
        value = value * x + c[k];
        size = size * fabsl((long double)x) + fabsl((long double)c[k]);
    }
    return size > 0.0L ? (double)(fabsl(value) / size) : 0.0;
}

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

static void sort(double* x, int count)
{
    for (int i = 1; i < count; ++i) {
        for (int k = i; k > 0 && compare(x[k - 1], x[k]) > 0; --k) {
            double t = x[k];
            x[k] = x[k - 1];
            x[k - 1] = t;
        }
    }
}

static void knownRootsAreFound(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    int count = rbTest_Count(20000, 1000000);
    for (int i = 0; i < count; ++i) {
        int degree = 2 + i % 3;
        double roots[4];
        for (int k = 0; k < degree; ++k) {
            roots[k] = rbRandom_Symmetric(&random);
        }
        sort(roots, degree);
        double gap = 10.0;
        for (int k = 1; k < degree; ++k) {
            gap = fmin(gap, roots[k] - roots[k - 1]);
        }
        if (gap < 1e-3) {
            continue;
        }
        long double exact[5];
        double c[5];
        expand(roots, degree, rbRandom_Range(&random, 0.5, 2.0), exact);
        for (int k = 0; k <= degree; ++k) {
            c[k] = (double)exact[k];
        }
        rbRealRoots r = solveDegree(c, degree);
        assert_int_equal(r.count, degree);
        for (int k = 0; k < degree; ++k) {
            // Condition of a root: sum of |c x^k| over |p'|; |p'| is at least gap^(degree-1)/4.
            double derivative = 1.0;
            for (int j = 0; j < degree; ++j) {
                derivative *= j == k ? 1.0 : fabs(roots[k] - roots[j]);
            }
            checkNear(r.x[k], roots[k], 1e-16 + 100.0 * DBL_EPSILON / derivative);
            checkBelow(backwardError(c, degree, r.x[k]), 8.0 * DBL_EPSILON);
        }
    }
}

// Coefficients over hundreds of decades: nothing overflows; the results are roots and sorted.
static void wildCoefficientsGiveRoots(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2)};
    int count = rbTest_Count(30000, 1000000);
    int found = 0;
    for (int i = 0; i < count; ++i) {
        int degree = 2 + i % 3;
        double c[5] = {0};
        for (int k = 0; k <= degree; ++k) {
            c[k] = rbRandom_Symmetric(&random) * pow(10.0, rbRandom_Range(&random, -150.0, 150.0));
            if (rbRandom_Index(&random, 6) == 0) {
                c[k] = 0.0;
            }
        }
        rbRealRoots r = solveDegree(c, degree);
        assert_in_range(r.count, 0, degree);
        for (int k = 0; k < r.count; ++k) {
            assert_true(isfinite(r.x[k]));
            assert_true(k == 0 || r.x[k - 1] < r.x[k]);
            // The long double of some machines has a sufficient exponent range; elsewhere skip
            // cases that overflow.
            if (LDBL_MAX_EXP > 10000) {
                checkBelow(backwardError(c, degree, r.x[k]), 16.0 * DBL_EPSILON);
            }
        }
        found += r.count;
    }
    assert_true(found > count);
}

// Roots of very different sizes, 1e-35 to 1e35.
static void rootsOverManyDecadesAreFound(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5)};
    int count = rbTest_Count(20000, 1000000);
    for (int i = 0; i < count; ++i) {
        int degree = 2 + i % 3;
        double roots[4];
        bool isApart = true;
        for (int k = 0; k < degree; ++k) {
            double size = pow(10.0, rbRandom_Range(&random, -35.0, 35.0));
            roots[k] = rbRandom_Index(&random, 2) == 0 ? size : -size;
            for (int j = 0; j < k; ++j) {
                double ratio = fabs(roots[k] / roots[j]);
                isApart = isApart && (ratio < 0.25 || ratio > 4.0);
            }
        }
        if (!isApart) {
            continue;
        }
        sort(roots, degree);
        long double exact[5];
        double c[5];
        expand(roots, degree, rbRandom_Symmetric(&random), exact);
        for (int k = 0; k <= degree; ++k) {
            c[k] = (double)exact[k];
        }
        rbRealRoots r = solveDegree(c, degree);
        assert_int_equal(r.count, degree);
        for (int k = 0; k < degree; ++k) {
            checkRelative(r.x[k] / roots[k], 1.0, 100.0 * DBL_EPSILON);
        }
    }
}

// Number of distinct real roots by Sturm's theorem, in long double; -1 when a remainder is too
// small to trust its sign.
static int countBySturm(const double* c, int degree)
{
    long double chain[6][5];
    int degrees[6];
    memset(chain, 0, sizeof chain);
    for (int k = 0; k <= degree; ++k) {
        chain[0][k] = c[k];
    }
    for (int k = 1; k <= degree; ++k) {
        chain[1][k - 1] = (long double)k * c[k];
    }
    degrees[0] = degree;
    degrees[1] = degree - 1;
    int last = 1;
    while (degrees[last] > 0) {
        long double rest[5];
        memcpy(rest, chain[last - 1], sizeof rest);
        long double size = 0.0L;
        for (int k = 0; k <= degrees[last - 1]; ++k) {
            size = fmaxl(size, fabsl(rest[k]));
        }
        for (int k = degrees[last - 1]; k >= degrees[last]; --k) {
            long double q = rest[k] / chain[last][degrees[last]];
            for (int j = 0; j <= degrees[last]; ++j) {
                rest[k - degrees[last] + j] -= q * chain[last][j];
                size = fmaxl(size, fabsl(q * chain[last][j]));
            }
            rest[k] = 0.0L;
        }
        int next = degrees[last] - 1;
        if (fabsl(rest[next]) < 1e-12L * size) {
            return -1;
        }
        ++last;
        degrees[last] = next;
        for (int k = 0; k <= next; ++k) {
            chain[last][k] = -rest[k];
        }
    }
    int changes[2] = {0, 0};
    for (int side = 0; side < 2; ++side) {
        int before = 0;
        for (int i = 0; i <= last; ++i) {
            int sign = chain[i][degrees[i]] > 0.0L ? 1 : -1;
            sign = side == 0 && degrees[i] % 2 == 1 ? -sign : sign;
            changes[side] += before != 0 && sign != before;
            before = sign;
        }
    }
    return changes[0] - changes[1];
}

static void rootCountIsThatOfSturm(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3)};
    int count = rbTest_Count(40000, 2000000);
    int tested = 0;
    int histogram[5] = {0};
    for (int i = 0; i < count; ++i) {
        int degree = 2 + i % 3;
        double c[5] = {0};
        for (int k = 0; k <= degree; ++k) {
            c[k] = rbRandom_Symmetric(&random) * (k == 2 ? 3.0 : 1.0);
        }
        int expected = countBySturm(c, degree);
        if (expected < 0) {
            continue;
        }
        rbRealRoots r = solveDegree(c, degree);
        assert_int_equal(r.count, expected);
        ++tested;
        ++histogram[r.count];
    }
    print_message("%d polynomials; with 0 to 4 roots: %d %d %d %d %d\n", tested, histogram[0],
                  histogram[1], histogram[2], histogram[3], histogram[4]);
    assert_true(tested > count / 2 && histogram[4] > 0);
}

// Nearly double roots of quadratics: with b^2 - 4ac computed exactly, both roots are accurate to
// the last digits, however close they are. The truth is the formula in long double with the same
// coefficients.
static void closeRootsOfQuadraticsKeepTheirDigits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6)};
    int tested = 0;
    for (int i = 0; i < 20000 && LDBL_MANT_DIG >= 106; ++i) {
        double a = rbRandom_Range(&random, 0.5, 2.0), b = rbRandom_Range(&random, 0.5, 2.0);
        double relative = pow(10.0, -rbRandom_Range(&random, 0.0, 14.0));
        double c[3] = {b * b / (4.0 * a) * (1.0 - relative), b, a};
        long double d = (long double)b * b - 4.0L * a * c[0];
        if (d < 10.0L * DBL_EPSILON * b * b) {
            continue;
        }
        rbRealRoots r = rbSolveQuadratic(c);
        assert_int_equal(r.count, 2);
        long double q = -0.5L * (b + sqrtl(d));
        checkRelative(r.x[0], (double)(q / a), 3.0 * DBL_EPSILON);
        checkRelative(r.x[1], (double)(c[0] / q), 3.0 * DBL_EPSILON);
        ++tested;
    }
    assert_true(tested > 15000 || LDBL_MANT_DIG < 106);
}

typedef struct Multiple {
    int degree, count;
    double c[5];
    double roots[4];
    double tolerance;
} Multiple;

static const Multiple multiples[] = {
    {2, 1, {1, -2, 1}, {1}, 1e-15},                       // (x-1)^2
    {2, 1, {0.01, -0.2, 1}, {0.1}, 1e-15},                // (x-0.1)^2, coefficients rounded
    {3, 1, {-1, 3, -3, 1}, {1}, 1e-15},                   // (x-1)^3
    {3, 2, {-2, 5, -4, 1}, {1, 2}, 1e-14},                // (x-1)^2 (x-2)
    {3, 1, {-0.001, 0.03, -0.3, 1}, {0.1}, 1e-8},         // (x-0.1)^3, rounded
    {3, 2, {-4, 8, -5, 1}, {1, 2}, 1e-14},                // (x-1) (x-2)^2
    {4, 1, {1, -4, 6, -4, 1}, {1}, 1e-15},                // (x-1)^4
    {4, 2, {4, -12, 13, -6, 1}, {1, 2}, 1e-14},           // (x-1)^2 (x-2)^2
    {4, 1, {0.0001, -0.004, 0.06, -0.4, 1}, {0.1}, 1e-7}, // (x-0.1)^4, rounded
    {4, 2, {-2, 7, -9, 5, -1}, {1, 2}, 1e-14},            // -(x-1)^3 (x-2)
    {4, 2, {0, 0, 1, -2, 1}, {0, 1}, 1e-15},              // x^2 (x-1)^2
    {4, 1, {0, 0, 0, 0, 5}, {0}, 0.0},                    // 5 x^4
    {4, 0, {1, 0, 2, 0, 1}, {0}, 0.0},                    // (x^2+1)^2
    {4, 2, {4, 0, -4, 0, 1}, {-1.4142135623730951, 1.4142135623730951}, 1e-15},
    {4, 4, {24, -50, 35, -10, 1}, {1, 2, 3, 4}, 1e-13},
    {4, 4, {0, -6, 11, -6, 1}, {0, 1, 2, 3}, 1e-14},
    {4, 2, {-1, 0, 0, 0, 1}, {-1, 1}, 1e-15},
    {4, 0, {1, 0, 0, 0, 1}, {0}, 0.0},
    // Polynomials with zero leading coefficients.
    {4, 3, {-6, 11, -6, 1, 0}, {1, 2, 3}, 1e-13},
    {4, 2, {2, -3, 1, 0, 0}, {1, 2}, 1e-15},
    {4, 1, {-3, 1.5, 0, 0, 0}, {2}, 0.0},
    {4, 0, {7, 0, 0, 0, 0}, {0}, 0.0},
    {4, 0, {0, 0, 0, 0, 0}, {0}, 0.0},
    {3, 0, {0, 0, 0, 0}, {0}, 0.0},
    {2, 0, {5, 0, 0}, {0}, 0.0},
    // A tiny leading coefficient adds a distant root and leaves the others unchanged.
    {4, 2, {2, -3, 1, 0, 1e-200}, {1, 2}, 1e-15},
    {4, 4, {2, -3, 1, 0, -1e-200}, {-1e100, 1, 2, 1e100}, 1e-15},
    {3, 3, {2, -3, 1, -1e-100}, {1, 2, 1e100}, 1e-15},
    {2, 2, {1, -1e8, 1}, {1e-8, 1e8}, 1e-15},
    {2, 2, {-1e-150, 1e150, 1e-150}, {-1e300, 1e-300}, 1e-15},
};

static void multipleAndDegenerateRoots(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof multiples / sizeof multiples[0]; ++i) {
        const Multiple* m = &multiples[i];
        rbRealRoots r = solveDegree(m->c, m->degree);
        if (r.count != m->count) {
            print_error("row %zu: %d roots, expected %d\n", i, r.count, m->count);
        }
        assert_int_equal(r.count, m->count);
        for (int k = 0; k < r.count; ++k) {
            checkNear(r.x[k], m->roots[k], m->tolerance * fmax(fabs(m->roots[k]), 1e-300));
        }
    }
}

// (x - a)^2 q(x) with a positive quadratic q or another square: the touching point must not be
// lost.
static void randomDoubleRootsAreNotLost(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4)};
    int count = rbTest_Count(20000, 1000000);
    for (int i = 0; i < count; ++i) {
        double a = rbRandom_Symmetric(&random);
        double u = rbRandom_Symmetric(&random), v = rbRandom_Range(&random, 0.3, 1.0);
        // (x^2 - 2 a x + a^2) (x^2 - 2 u x + u^2 + v^2), with rounding errors in every coefficient
        double q0 = u * u + v * v, q1 = -2.0 * u, p0 = a * a, p1 = -2.0 * a;
        double c[5] = {p0 * q0, p0 * q1 + p1 * q0, p0 + p1 * q1 + q0, p1 + q1, 1.0};
        rbRealRoots r = rbSolveQuartic(c);
        // Rounding makes it none, one or two; none would lose a contact.
        assert_in_range(r.count, 1, 2);
        checkNear(r.x[0], a, 1e-6);
        checkNear(r.x[r.count - 1], a, 1e-6);
    }
}

// Two roots that approach each other are found as two while the coefficients can distinguish them.
static void nearlyDoubleRootsAreSeparated(void** state)
{
    (void)state;
    double gap = 1.0;
    for (int digits = 1; digits <= 6; ++digits) {
        gap *= 0.1;
        // (x-1) (x-1-gap) (x+2) (x-5), expanded in long double.
        double roots[4] = {-2.0, 1.0, 1.0 + gap, 5.0};
        long double exact[5];
        double c[5];
        expand(roots, 4, 1.0, exact);
        for (int k = 0; k < 5; ++k) {
            c[k] = (double)exact[k];
        }
        rbRealRoots r = rbSolveQuartic(c);
        assert_int_equal(r.count, 4);
        for (int k = 0; k < 4; ++k) {
            checkNear(r.x[k], roots[k], 1e-14 / gap);
        }
    }
}

RB_TEST_GROUP(oracle_polynomial, cmocka_unit_test(knownRootsAreFound),
              cmocka_unit_test(wildCoefficientsGiveRoots),
              cmocka_unit_test(rootsOverManyDecadesAreFound),
              cmocka_unit_test(rootCountIsThatOfSturm),
              cmocka_unit_test(closeRootsOfQuadraticsKeepTheirDigits),
              cmocka_unit_test(multipleAndDegenerateRoots),
              cmocka_unit_test(randomDoubleRootsAreNotLost),
              cmocka_unit_test(nearlyDoubleRootsAreSeparated));
