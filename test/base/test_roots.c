// The bracketed root finder on smooth, flat, jumping and broken functions.
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "base/math/roots.h"
#include "rb_test.h"

#include <float.h>
#include <math.h>

typedef struct Problem {
    double (*f)(double x);
    double a, b;
    double root;
    int iterationsMax;
} Problem;

static double cosMinusX(double x)
{
    return cos(x) - x;
}

static double ninthPower(double x)
{
    double y = x - 1.0;
    return y * y * y * y * y * y * y * y * y;
}

static double jump(double x)
{
    return x < 0.3 ? -1.0 : 2.0;
}

static double steep(double x)
{
    return exp(50.0 * (x - 0.7)) - 1.0;
}

static double pole(double x)
{
    return x == 0.25 ? (double)INFINITY : 1.0 / (x - 0.25); // changes sign without a zero
}

static double flatAtEnds(double x)
{
    return atan(1e6 * (x - 0.123456789));
}

static double cubic(double x)
{
    return (x * x - 2.0) * x - 5.0;
}

static double nearZero(double x)
{
    return x - 1e-200;
}

static double veryWide(double x)
{
    return x / (1.0 + fabs(x)) - 0.5;
}

static const Problem problems[] = {
    {cosMinusX, 0.0, 1.0, 0.73908513321516064, 12},
    {ninthPower, 0.0, 5.0, 1.0, 400},
    {jump, -1.0, 1.0, 0.3, 230},
    {steep, 0.0, 1.0, 0.7, 60},
    {pole, -1.0, 1.0, 0.25, 230},
    {flatAtEnds, -10.0, 10.0, 0.123456789, 80},
    {cubic, 2.0, 3.0, 2.0945514815423265, 12},
    {nearZero, -1.0, 1.0, 1e-200, 4000},
    {veryWide, -1.7e308, 1.7e308, 1.0, 4200},
};

typedef struct Watch {
    const Problem* problem;
    int evaluations;
    double low, high; // range of the evaluations
} Watch;

static double watched(double x, void* context)
{
    Watch* w = context;
    w->evaluations += 1;
    w->low = x < w->low ? x : w->low;
    w->high = x > w->high ? x : w->high;
    return w->problem->f(x);
}

// Of the last bracket, which has shrunk to the root where f is zero.
static double widthOf(const rbRootResult* r)
{
    return r->f == 0.0 ? 0.0 : fabs(r->x - r->other);
}

static void rootsAreFoundInsideTheBracket(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; ++i) {
        const Problem* p = &problems[i];
        for (int isReversed = 0; isReversed < 2; ++isReversed) {
            Watch w = {p, 0, DBL_MAX, -DBL_MAX};
            rbRootResult r = rbFindRoot(watched, &w, isReversed ? p->b : p->a,
                                        isReversed ? p->a : p->b, 0.0, p->iterationsMax);
            print_message("problem %zu: %d iterations, width %.2g\n", i, r.iterations, widthOf(&r));
            assert_true(r.end == RB_ROOT_FOUND);
            assert_int_equal(w.evaluations, r.iterations + 2);
            assert_true(w.low >= p->a && w.high <= p->b);
            // The ninth power is zero, to the last digit, long before its root.
            checkNear(r.x, p->root, p->f == ninthPower ? 1e-30 + 1e-3 : 4e-16 * fabs(p->root));
            if (r.f != 0.0) {
                assert_true((p->f(r.x) > 0.0) != (p->f(r.other) > 0.0));
                checkBelow(widthOf(&r), 4.0 * DBL_EPSILON * fabs(r.x));
            }
        }
    }
}

static void toleranceEndsTheSearchEarly(void** state)
{
    (void)state;
    Watch w = {&problems[3], 0, DBL_MAX, -DBL_MAX};
    rbRootResult fine = rbFindRoot(watched, &w, 0.0, 1.0, 0.0, 200);
    rbRootResult coarse = rbFindRoot(watched, &w, 0.0, 1.0, 1e-3, 200);
    assert_true(coarse.end == RB_ROOT_FOUND && coarse.iterations < fine.iterations);
    assert_true(widthOf(&coarse) <= 1e-3);
    checkNear(coarse.x, 0.7, 1e-3);
}

static double nanInside(double x, void* context)
{
    (void)context;
    return x > 0.2 && x < 0.8 ? (double)NAN : x - 0.5;
}

static double nanEverywhere(double x, void* context)
{
    (void)context;
    return x - (double)NAN;
}

static double square(double x, void* context)
{
    const double* shift = context;
    return x * x + *shift;
}

static double line(double x, void* context)
{
    (void)context;
    return x - 0.25;
}

static void troubleIsReported(void** state)
{
    (void)state;
    rbRootResult r = rbFindRoot(nanInside, NULL, 0.0, 1.0, 0.0, 100);
    assert_true(r.end == RB_ROOT_NAN);
    assert_true(r.f == 0.5 || r.f == -0.5);
    r = rbFindRoot(nanEverywhere, NULL, 0.0, 1.0, 0.0, 100);
    assert_true(r.end == RB_ROOT_NAN && r.iterations == 0);
    double shift = 1.0;
    r = rbFindRoot(square, &shift, -1.0, 2.0, 0.0, 100);
    assert_true(r.end == RB_ROOT_NO_SIGN_CHANGE && r.x == -1.0 && r.f == 2.0);
    // Roots at the end points.
    r = rbFindRoot(line, NULL, 0.25, 1.0, 0.0, 100);
    assert_true(r.end == RB_ROOT_FOUND && r.x == 0.25 && r.iterations == 0);
    r = rbFindRoot(line, NULL, -3.0, 0.25, 0.0, 100);
    assert_true(r.end == RB_ROOT_FOUND && r.x == 0.25 && widthOf(&r) == 0.0);
    // Too few iterations: the final bracket still contains the root.
    Watch w = {&problems[3], 0, DBL_MAX, -DBL_MAX};
    r = rbFindRoot(watched, &w, 0.0, 1.0, 0.0, 4);
    assert_true(r.end == RB_ROOT_TOO_MANY && r.iterations == 4);
    assert_true((r.x - 0.7) * (r.other - 0.7) < 0.0);
}

typedef struct Bumpy {
    double root, power, wave;
} Bumpy;

static double bumpy(double x, void* context)
{
    const Bumpy* k = context;
    double d = x - k->root;
    double size = rbExp(k->power * rbLog(fabs(d) + 1e-300));
    return copysign(size, d) * (1.0 + 0.9 * sin(k->wave * x));
}

// |x - root|^p with waves: p from 1/5 to 12, which misleads the interpolation in many forms.
static void randomFunctionsAreSolvedWithinTheBound(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    int iterationsMax = 0;
    int count = rbTest_Count(5000, 200000);
    for (int i = 0; i < count; ++i) {
        Bumpy k = {rbRandom_Symmetric(&random), rbRandom_Range(&random, 0.2, 12.0),
                   rbRandom_Range(&random, 0.0, 100.0)};
        double a = k.root - rbRandom_Unit(&random), b = k.root + rbRandom_Unit(&random);
        rbRootResult r = rbFindRoot(bumpy, &k, a, b, 1e-12, 300);
        assert_true(r.end == RB_ROOT_FOUND);
        checkNear(r.x, k.root, 1e-12);
        iterationsMax = r.iterations > iterationsMax ? r.iterations : iterationsMax;
    }
    print_message("at most %d iterations, bisection needs 41\n", iterationsMax);
    assert_true(iterationsMax <= 4 * 41);
}

// An adversary, not a function: answers every evaluation so that the larger part of the bracket
// remains, with values that mislead the interpolation.
typedef struct Opponent {
    double low, high;
    rbRandom random;
    int questions;
    int style;
} Opponent;

static double opponent(double x, void* context)
{
    Opponent* k = context;
    k->questions += 1;
    if (x <= k->low || x >= k->high) {
        return x <= k->low ? -1.0 : 1.0;
    }
    double exponent = k->style == 0   ? rbRandom_Range(&k->random, -12.0, 2.0)
                      : k->style == 1 ? -(double)k->questions
                                      : rbRandom_Range(&k->random, -1.0, 0.0);
    double size = pow(10.0, exponent);
    if (x - k->low < k->high - x) {
        k->low = x;
        return -size;
    }
    k->high = x;
    return size;
}

static void noOpponentCanHoldTheSearchUp(void** state)
{
    (void)state;
    int iterationsMax = 0;
    for (int i = 0; i < 3000; ++i) {
        Opponent k = {0.0, 1.0, {rbTest_Seed(1000 + (uint64_t)i)}, 0, i % 3};
        rbRootResult r = rbFindRoot(opponent, &k, 0.0, 1.0, 1e-12, 1000);
        assert_true(r.end == RB_ROOT_FOUND && widthOf(&r) <= 1e-12);
        assert_true(k.low <= r.x && r.x <= k.high);
        iterationsMax = r.iterations > iterationsMax ? r.iterations : iterationsMax;
    }
    print_message("at most %d iterations, bisection needs 40\n", iterationsMax);
    assert_true(iterationsMax <= 160);
}

RB_TEST_GROUP(test_roots, cmocka_unit_test(rootsAreFoundInsideTheBracket),
              cmocka_unit_test(toleranceEndsTheSearchEarly), cmocka_unit_test(troubleIsReported),
              cmocka_unit_test(randomFunctionsAreSolvedWithinTheBound),
              cmocka_unit_test(noOpponentCanHoldTheSearchUp));
