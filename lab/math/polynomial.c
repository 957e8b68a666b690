// Real roots of cubics and quartics, found between the roots of the derivative.
//
// The formulas of Cardano and Ferrari lose digits by cancellation for almost every choice of
// branch. Here a polynomial is monotone between the roots of its derivative, so each interval with
// a sign change holds one root, which a bracketed search finds to the last digit; the derivative is
// solved the same way, down to the quadratic, which has a stable formula. A multiple root is a root
// of the derivative as well, and a simpler one: it is found with full accuracy.
//
// Range: x = s y with a power of two s that balances the first and the last coefficient, and the
// coefficients are divided by the largest. For |y| > 1 p(y)/|y|^n is evaluated, as a polynomial in
// 1/y: neither overflow nor underflow does harm.
#include "lab/math/polynomial.h"

#include "base/math/elementary.h"
#include "base/math/float_bits.h"
#include "base/math/roots.h"
#include "lab/math/hyperbolic.h"

#include <rattleback/base.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SEARCH_STEPS_MAX 400 // four per halving of a bracket of a factor 4 to the last digit
#define ERROR_LEVEL 8.0 // in eps: rounding error of an evaluation, relative to the sum of sizes
#define POINTS_MAX (RB_POLYNOMIAL_DEGREE_MAX + 3) // critical points and the four bounds

typedef struct rbPolynomial {
    int degree;
    double c[RB_POLYNOMIAL_DEGREE_MAX + 1];
} rbPolynomial;

// p(y)/max(1, |y|)^degree, and the same with all terms positive as a measure of its rounding error.
static double evaluate(const rbPolynomial* p, double y, double* size)
{
    int n = p->degree;
    double value, sum;
    if (fabs(y) <= 1.0) {
        value = p->c[n];
        sum = fabs(value);
        for (int i = n - 1; i >= 0; --i) {
            value = value * y + p->c[i];
            sum = sum * fabs(y) + fabs(p->c[i]);
        }
    } else {
        double u = 1.0 / y;
        value = p->c[0];
        sum = fabs(value);
        for (int i = 1; i <= n; ++i) {
            value = value * u + p->c[i];
            sum = sum * fabs(u) + fabs(p->c[i]);
        }
        value = y < 0.0 && n % 2 == 1 ? -value : value;
    }
    *size = sum;
    return value;
}

static double evaluateForSearch(double y, void* context)
{
    double size;
    return evaluate(context, y, &size);
}

// -1, 0 or 1; 0 when the magnitude does not exceed its rounding error.
static int signAt(const rbPolynomial* p, double y)
{
    double size;
    double value = evaluate(p, y, &size);
    if (fabs(value) <= ERROR_LEVEL * DBL_EPSILON * size) {
        return 0;
    }
    return value > 0.0 ? 1 : -1;
}

static double rootOfOrder(double x, int order)
{
    switch (order) {
    case 1:
        return x;
    case 2:
        return sqrt(x);
    case 3:
        return rbCbrt(x);
    default:
        return sqrt(sqrt(x));
    }
}

// Bound on the magnitude of the roots: Fujiwara's 2 max |c[n-k]/c[n]|^(1/k), rounded up.
static double outerBound(const double* c, int n, bool isReversed)
{
    double leading = fabs(isReversed ? c[0] : c[n]);
    double bound = 0.0;
    for (int k = 1; k <= n; ++k) {
        double ratio = fabs(isReversed ? c[k] : c[n - k]) / leading;
        double r = rootOfOrder(ratio, k);
        bound = r > bound ? r : bound;
    }
    return 2.0 * bound * (1.0 + 16.0 * DBL_EPSILON);
}

// Root between low and high, where p has opposite signs. Both have the same sign, as the inner
// bound is among the points.
static double searchRoot(const rbPolynomial* p, double low, double high, int signAtLow)
{
    RB_ASSERT(low < high);
    // Halve in the exponent first: a search over many decades would crawl.
    while (low > 0.0 || high < 0.0) {
        double a = fabs(low), b = fabs(high);
        double ratio = a < b ? b / a : a / b;
        if (!(ratio > 4.0)) {
            break;
        }
        double middle = copysign(sqrt(a) * sqrt(b), low);
        double size;
        double value = evaluate(p, middle, &size);
        if (value == 0.0) {
            return middle;
        }
        if ((value > 0.0) == (signAtLow > 0)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    rbPolynomial copy = *p;
    rbRootResult r = rbFindRoot(evaluateForSearch, &copy, low, high, 0.0, SEARCH_STEPS_MAX);
    return r.x;
}

// Sorted points between which p is monotone and does not contain zero: the bounds and the critical
// points.
static int collectPoints(const rbPolynomial* p, const rbRealRoots* critical, double* points)
{
    double outer = outerBound(p->c, p->degree, false);
    double inner = 1.0 / outerBound(p->c, p->degree, true);
    outer = outer < DBL_MAX ? outer : DBL_MAX;
    RB_ASSERT(inner > 0.0 && outer > 0.0);
    int count = 0;
    points[count++] = -outer;
    bool hasNegative = false, hasPositive = false;
    for (int i = 0; i <= critical->count; ++i) {
        double y = i < critical->count ? critical->x[i] : outer;
        if (!hasNegative && y > -inner) {
            points[count++] = -inner;
            hasNegative = true;
        }
        if (!hasPositive && y > inner) {
            points[count++] = inner;
            hasPositive = true;
        }
        if (i < critical->count && fabs(y) > inner && fabs(y) < outer) {
            points[count++] = y;
        }
    }
    if (outer > inner) {
        points[count++] = outer;
    }
    return count;
}

static void addRoot(rbRealRoots* roots, double y)
{
    if (roots->count < RB_POLYNOMIAL_DEGREE_MAX) {
        roots->x[roots->count++] = y;
    }
}

// Roots of a polynomial with nonzero first and last coefficient, given those of its derivative.
static rbRealRoots rootsBetween(const rbPolynomial* p, const rbRealRoots* critical)
{
    double points[POINTS_MAX + 1];
    int signs[POINTS_MAX + 1];
    int count = collectPoints(p, critical, points);
    RB_ASSERT(count <= POINTS_MAX + 1);
    rbRealRoots roots = {0};
    for (int i = 0; i < count; ++i) {
        signs[i] = signAt(p, points[i]);
    }
    for (int i = 0; i < count; ++i) {
        if (signs[i] == 0) {
            // Neighbors that vanish as well belong to the same multiple root.
            int last = i;
            while (last + 1 < count && signs[last + 1] == 0) {
                ++last;
            }
            addRoot(&roots, 0.5 * points[i] + 0.5 * points[last]);
            i = last;
        } else if (i + 1 < count && signs[i] * signs[i + 1] < 0) {
            addRoot(&roots, searchRoot(p, points[i], points[i + 1], signs[i]));
        }
    }
    return roots;
}

// b^2 - 4 a c without cancellation error.
static double discriminant(double a, double b, double c)
{
    rbPair p = rbTwoProduct(b, b);
    rbPair q = rbTwoProduct(4.0 * a, c);
    return (p.high - q.high) + (p.low - q.low);
}

// c[2] and c[0] nonzero, all of order 1 or below.
static rbRealRoots solveScaledQuadratic(const double* c)
{
    rbRealRoots roots = {0};
    double d = discriminant(c[2], c[1], c[0]);
    if (fabs(d) <= 4.0 * DBL_EPSILON * c[1] * c[1]) {
        addRoot(&roots, -0.5 * c[1] / c[2]);
        return roots;
    }
    if (d < 0.0) {
        return roots;
    }
    // The sum without cancellation, then the other root from the product.
    double q = -0.5 * (c[1] + copysign(sqrt(d), c[1]));
    double first = q / c[2];
    double second = c[0] / q;
    addRoot(&roots, first < second ? first : second);
    addRoot(&roots, first < second ? second : first);
    return roots;
}

static int exponentOf(double x)
{
    int exponent;
    (void)frexp(x, &exponent);
    return exponent;
}

// Balances p: substitutes x = 2^shift y, divides by a power of two.
static int balance(rbPolynomial* p)
{
    int n = p->degree;
    RB_ASSERT(p->c[0] != 0.0 && p->c[n] != 0.0);
    double difference = (double)(exponentOf(p->c[0]) - exponentOf(p->c[n]));
    int shift = (int)floor(difference / n + 0.5);
    int exponents[RB_POLYNOMIAL_DEGREE_MAX + 1];
    int largest = -100000;
    for (int i = 0; i <= n; ++i) {
        exponents[i] = exponentOf(p->c[i]) + i * shift;
        if (p->c[i] != 0.0 && exponents[i] > largest) {
            largest = exponents[i];
        }
    }
    for (int i = 0; i <= n; ++i) {
        p->c[i] = ldexp(p->c[i], i * shift - largest);
    }
    return shift;
}

static void insertZero(rbRealRoots* roots)
{
    RB_ASSERT(roots->count < RB_POLYNOMIAL_DEGREE_MAX);
    int at = 0;
    while (at < roots->count && roots->x[at] < 0.0) {
        ++at;
    }
    memmove(&roots->x[at + 1], &roots->x[at], (size_t)(roots->count - at) * sizeof roots->x[0]);
    roots->x[at] = 0.0;
    roots->count += 1;
}

static rbPolynomial differentiate(const rbPolynomial* p)
{
    rbPolynomial d = {p->degree - 1, {0}};
    for (int i = 1; i <= p->degree; ++i) {
        d.c[i - 1] = (double)i * p->c[i];
    }
    return d;
}

// Divides by x while the constant is zero; true if that happened.
static bool removeZeroRoot(rbPolynomial* p)
{
    bool hasZero = false;
    while (p->degree > 0 && p->c[0] == 0.0) {
        hasZero = true;
        memmove(&p->c[0], &p->c[1], (size_t)p->degree * sizeof p->c[0]);
        --p->degree;
    }
    return hasZero;
}

// Roots of a polynomial whose leading coefficient is not zero. For degree 3 and higher, critical
// holds the roots of its derivative; a root at zero must have been removed there, lower degrees may
// have one.
static rbRealRoots solveOne(rbPolynomial p, const rbRealRoots* critical)
{
    rbRealRoots roots = {0};
    bool hasZero = removeZeroRoot(&p);
    if (p.degree > 0) {
        int shift = balance(&p);
        if (p.degree == 1) {
            addRoot(&roots, -p.c[0] / p.c[1]);
        } else if (p.degree == 2) {
            roots = solveScaledQuadratic(p.c);
        } else {
            RB_ASSERT(!hasZero);
            rbRealRoots scaled = {critical->count, {0}};
            for (int i = 0; i < critical->count; ++i) {
                scaled.x[i] = ldexp(critical->x[i], -shift);
            }
            roots = rootsBetween(&p, &scaled);
        }
        for (int i = 0; i < roots.count; ++i) {
            roots.x[i] = ldexp(roots.x[i], shift);
        }
    }
    if (hasZero) {
        insertZero(&roots);
    }
    return roots;
}

static rbRealRoots solve(const double* c, int degree)
{
    rbPolynomial p = {degree, {0}};
    for (int i = 0; i <= degree; ++i) {
        RB_ASSERT(isfinite(c[i]));
        p.c[i] = c[i];
    }
    while (p.degree > 0 && p.c[p.degree] == 0.0) {
        --p.degree;
    }
    bool hasZero = removeZeroRoot(&p);
    rbRealRoots critical = {0};
    if (p.degree >= 3) {
        rbPolynomial first = differentiate(&p);
        if (p.degree == 4) {
            rbPolynomial second = differentiate(&first);
            critical = solveOne(second, &critical);
        }
        critical = solveOne(first, &critical);
    }
    rbRealRoots roots = solveOne(p, &critical);
    if (hasZero) {
        insertZero(&roots);
    }
    return roots;
}

rbRealRoots rbSolveQuadratic(const double c[3])
{
    return solve(c, 2);
}

rbRealRoots rbSolveCubic(const double c[4])
{
    return solve(c, 3);
}

rbRealRoots rbSolveQuartic(const double c[5])
{
    return solve(c, 4);
}
