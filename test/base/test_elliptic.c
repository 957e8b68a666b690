// Elliptic functions against a second algorithm (descending Landen in long double), quadrature,
// identities and both limits.
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "lab/math/elliptic_functions.h"
#include "rb_test.h"

#include <rattleback/vecmath.h>

#include <float.h>
#include <math.h>

// Parameters that crowd at both ends: m or m1 as small as 1e-30.
static void randomParameter(rbRandom* random, double* m, double* m1)
{
    double small = rbExp(-rbRandom_Range(random, 0.0, 69.0));
    if (rbRandom_Unit(random) < 0.3) {
        small = rbRandom_Unit(random);
    }
    bool isNearOne = rbRandom_Unit(random) < 0.5;
    *m = isNearOne ? 1.0 - small : small;
    *m1 = isNearOne ? small : 1.0 - small;
}

// sn, cn, dn by the AGM and the backward recurrence of the amplitude.
// Returns the possible effect of rounding the largest phase.
static long double landenOracle(long double u, long double m1, long double* sn, long double* cn,
                                long double* dn)
{
    long double a[24];
    long double b[24];
    long double c[24];
    a[0] = 1.0L;
    b[0] = sqrtl(m1);
    c[0] = sqrtl(1.0L - m1);
    int n = 0;
    while (n < 22 && fabsl(c[n]) > 1e-17L * a[n]) {
        a[n + 1] = 0.5L * (a[n] + b[n]);
        b[n + 1] = sqrtl(a[n] * b[n]);
        c[n + 1] = 0.5L * (a[n] - b[n]);
        ++n;
    }
    long double phi = ldexpl(a[n] * u, n);
    long double rounding = 4.0L * LDBL_EPSILON * (1.0L + fabsl(phi));
    for (int i = n; i > 0; --i) {
        // the arc sine of c/a sin phi, also from its cosine, as a^2 = b^2 + c^2
        long double sine = sinl(phi);
        long double cosine = hypotl(a[i] * cosl(phi), b[i] * sine);
        phi = 0.5L * (phi + atan2l(c[i] * sine, cosine));
    }
    *sn = sinl(phi);
    *cn = cosl(phi);
    // dn^2 = cn^2 + m1 sn^2 has no cancellation.
    *dn = sqrtl(*cn * *cn + m1 * *sn * *sn);
    return rounding;
}

static void jacobiFunctionsMatchLanden(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(21)};
    double worst = 0.0;
    int count = rbTest_Count(20000, 200000);
    for (int i = 0; i < count; ++i) {
        double m;
        double m1;
        randomParameter(&random, &m, &m1);
        rbElliptic e = rbElliptic_Make(m, m1);
        double u = rbRandom_Range(&random, -4.0, 4.0) * fmin(e.quarter, 30.0);
        double sn;
        double cn;
        double dn;
        long double s;
        long double c;
        long double d;
        rbElliptic_SnCnDn(&e, u, &sn, &cn, &dn);
        long double rounding = landenOracle(u, m1, &s, &c, &d);
        double scale = 1.0 + fabs(u);
        worst = fmax(worst, (double)(fabsl(sn - s) - rounding) / scale);
        worst = fmax(worst, (double)(fabsl(cn - c) - rounding) / scale);
        worst = fmax(worst, (double)(fabsl(dn - d) - rounding) / scale);
    }
    print_message("largest error of sn, cn, dn over (1+|u|): %.2e\n", worst);
    checkBelow(worst, 1.5e-15);
}

static void jacobiFunctionsKeepDigitsNearTheSeparatrix(void** state)
{
    (void)state;
    // At u = K/2 exactly: sn = 1/sqrt(1+k'), cn = sqrt(k'/(1+k')), dn = sqrt(k').
    for (int exponent = -2; exponent >= -200; exponent -= 3) {
        double m1 = rbExp(exponent * 2.302585092994046);
        rbElliptic e = rbElliptic_Make(1.0 - m1, m1);
        double sn;
        double cn;
        double dn;
        double kc = sqrt(m1);
        rbElliptic_SnCnDn(&e, 0.5 * e.quarter, &sn, &cn, &dn);
        // The argument K/2 is rounded, which changes cn and dn by about eps K.
        double tolerance = 1e-15 * (2.0 + e.quarter);
        checkRelative(sn, 1.0 / sqrt(1.0 + kc), tolerance);
        checkRelative(cn, sqrt(kc / (1.0 + kc)), tolerance);
        checkRelative(dn, sqrt(kc), tolerance);
    }
}

static void limitsAreCircularAndHyperbolic(void** state)
{
    (void)state;
    rbElliptic circular = rbElliptic_Make(0.0, 1.0);
    rbElliptic hyperbolic = rbElliptic_Make(1.0, 0.0);
    for (int i = -24; i <= 24; ++i) {
        double u = 0.37 * i;
        double sn;
        double cn;
        double dn;
        rbElliptic_SnCnDn(&circular, u, &sn, &cn, &dn);
        checkNear(sn, sin(u), 2e-15);
        checkNear(cn, cos(u), 2e-15);
        checkNear(dn, 1.0, 1e-15);
        rbElliptic_SnCnDn(&hyperbolic, u, &sn, &cn, &dn);
        checkNear(sn, tanh(u), 1e-15);
        checkRelative(cn, 1.0 / cosh(u), 2e-14);
        checkRelative(dn, 1.0 / cosh(u), 2e-14);
    }
}

static void firstKindInvertsSn(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(22)};
    double worst = 0.0;
    int count = rbTest_Count(20000, 200000);
    for (int i = 0; i < count; ++i) {
        double m;
        double m1;
        randomParameter(&random, &m, &m1);
        rbElliptic e = rbElliptic_Make(m, m1);
        double u = rbRandom_Range(&random, -1.999, 1.999) * e.quarter;
        double sn;
        double cn;
        double dn;
        rbElliptic_SnCnDn(&e, u, &sn, &cn, &dn);
        double back = rbEllipticF(sn, cn, m1);
        // sn and cn carry errors of about eps |u|, which du = d(am)/dn amplifies.
        double amplification = 1.0 + fmin(1.0 / dn, 1.0 / sqrt(fabs(cn) + 1e-300));
        worst = fmax(worst, fabs(back - u) / ((1.0 + fabs(u)) * amplification));
    }
    print_message("largest error of F over its condition: %.2e\n", worst);
    checkBelow(worst, 4e-15);
}

static void completeIntegralHasItsKnownValues(void** state)
{
    (void)state;
    checkRelative(rbEllipticK(1.0), 1.5707963267948966, 2e-16);
    checkRelative(rbEllipticK(0.5), 1.8540746773013719, 3e-16);
    checkRelative(rbEllipticK(0.25), 2.1565156474996432, 3e-16);
    assert_true(isinf(rbEllipticK(0.0)));
    // K = ln(4/k') + O(k'^2 ln k').
    checkRelative(rbEllipticK(1e-40), rbLog(4e20), 4e-16);
}

static long double integrandPi(long double t, long double n, long double m1)
{
    long double s = sinl(t);
    long double c = cosl(t);
    return 1.0L / ((1.0L - n * s * s) * sqrtl(c * c + m1 * s * s));
}

// Composite Gauss-Legendre with five points.
static long double quadraturePi(long double phi, long double n, long double m1)
{
    static const long double x[3] = {0.0L, 0.538469310105683091036314420700208805L,
                                     0.906179845938663992797626878299392965L};
    static const long double w[3] = {0.568888888888888888888888888888888889L,
                                     0.478628670499366468041291514835638193L,
                                     0.236926885056189087514264040719917363L};
    int panels = 400;
    long double sum = 0.0L;
    long double half = 0.5L * phi / panels;
    for (int i = 0; i < panels; ++i) {
        long double center = (2 * i + 1) * half;
        sum += w[0] * integrandPi(center, n, m1);
        for (int k = 1; k < 3; ++k) {
            sum += w[k] * (integrandPi(center - half * x[k], n, m1) +
                           integrandPi(center + half * x[k], n, m1));
        }
    }
    return sum * half;
}

static void firstAndThirdKindMatchQuadrature(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(23)};
    int count = rbTest_Count(60, 2000);
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        double m = rbRandom_Unit(&random) * 0.98;
        double n = rbRandom_Unit(&random) < 0.5 ? -rbExp(rbRandom_Range(&random, -6.0, 3.0))
                                                : 0.9 * rbRandom_Unit(&random);
        double phi = rbRandom_Range(&random, 0.01, 1.5);
        double value = rbEllipticPi(n, sin(phi), cos(phi), 1.0 - m);
        double truth = (double)quadraturePi(phi, n, 1.0L - m);
        worst = fmax(worst, fabs(value - truth) / fabs(truth));
        double first = rbEllipticF(sin(phi), cos(phi), 1.0 - m);
        double firstTruth = (double)quadraturePi(phi, 0.0L, 1.0L - m);
        worst = fmax(worst, fabs(first - firstTruth) / fabs(firstTruth));
    }
    print_message("largest relative error of F and Pi: %.2e\n", worst);
    checkBelow(worst, 1e-14);
}

RB_TEST_GROUP(test_elliptic, cmocka_unit_test(jacobiFunctionsMatchLanden),
              cmocka_unit_test(jacobiFunctionsKeepDigitsNearTheSeparatrix),
              cmocka_unit_test(limitsAreCircularAndHyperbolic),
              cmocka_unit_test(firstKindInvertsSn),
              cmocka_unit_test(completeIntegralHasItsKnownValues),
              cmocka_unit_test(firstAndThirdKindMatchQuadrature));
