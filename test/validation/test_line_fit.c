// Fits of lines and powers: exact where the points are, and their standard errors by many samples.
#include "base/core/random.h"
#include "line_fit.h"
#include "rb_test.h"

#include <math.h>

#define POINTS 6
#define TRIALS 2000

static const double places[POINTS] = {4.0, 5.0, 6.0, 7.0, 8.0, 10.0};

// About normal, variance 1: the sum of twelve even numbers.
static double drawNormal(rbRandom* random)
{
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) {
        sum += rbRandom_Unit(random);
    }
    return sum;
}

static void powersAreFoundExactly(void** state)
{
    (void)state;
    double values[POINTS];
    double errors[POINTS];
    for (int i = 0; i < POINTS; ++i) {
        values[i] = 0.6 * pow(places[i] - 1.4, 2.5);
        errors[i] = 0.01 * values[i];
    }
    rbShiftedPower power = rbFitShiftedPower(places, values, errors, POINTS);
    checkNear(power.exponent, 2.5, 2e-3); // its step
    checkNear(power.shift, 1.4, 4e-3);
    rbLine line = rbFitKnownPower(places, values, errors, POINTS, 2.5);
    checkNear(-line.offset / line.slope, 1.4, 1e-12);
    checkNear(pow(line.slope, 2.5), 0.6, 1e-12);
    checkBelow(line.misfit, 1e-20);
}

// The spread of fits of many samples is what each fit says of itself: to 5 %, and the search for
// the exponent is not linear, hence 10 %.
static void standardErrorsAreTheSpreadOfFits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(77)};
    double slopes = 0.0;
    double slopeSquares = 0.0;
    double offsets = 0.0;
    double offsetSquares = 0.0;
    double products = 0.0;
    double exponents = 0.0;
    double exponentSquares = 0.0;
    double exponentErrors = 0.0;
    rbLine line = {0};
    for (int k = 0; k < TRIALS; ++k) {
        double values[POINTS];
        double powers[POINTS];
        double errors[POINTS];
        double powerErrors[POINTS];
        for (int i = 0; i < POINTS; ++i) {
            errors[i] = 0.02 * places[i];
            values[i] = 3.0 * places[i] - 2.0 + errors[i] * drawNormal(&random);
            double exact = pow(places[i] - 1.4, 2.5);
            powerErrors[i] = 0.01 * exact;
            powers[i] = exact + powerErrors[i] * drawNormal(&random);
        }
        line = rbFitLine(places, values, errors, POINTS);
        slopes += line.slope - 3.0;
        slopeSquares += (line.slope - 3.0) * (line.slope - 3.0);
        offsets += line.offset + 2.0;
        offsetSquares += (line.offset + 2.0) * (line.offset + 2.0);
        products += (line.slope - 3.0) * (line.offset + 2.0);
        if (k % 10 == 0) {
            rbShiftedPower power = rbFitShiftedPower(places, powers, powerErrors, POINTS);
            exponents += power.exponent - 2.5;
            exponentSquares += (power.exponent - 2.5) * (power.exponent - 2.5);
            exponentErrors += power.exponentError;
        }
    }
    checkNear(sqrt(slopeSquares / TRIALS) / line.slopeError, 1.0, 0.07);
    checkNear(sqrt(offsetSquares / TRIALS) / line.offsetError, 1.0, 0.07);
    checkNear(products / TRIALS / line.covariance, 1.0, 0.15);
    checkNear(slopes / TRIALS / line.slopeError, 0.0, 0.1);
    checkNear(offsets / TRIALS / line.offsetError, 0.0, 0.1);
    int count = TRIALS / 10;
    checkNear(sqrt(exponentSquares / count) / (exponentErrors / count), 1.0, 0.25);
    checkNear(exponents / count, 0.0, 0.05);
}

static void meansHaveTheirStandardError(void** state)
{
    (void)state;
    const double values[4] = {1.0, 2.0, 3.0, 6.0};
    double error = 0.0;
    checkNear(rbMeanOf(values, 4, &error), 3.0, 1e-15);
    checkNear(error, sqrt(14.0 / 12.0), 1e-15); // squares of deviations 4 + 1 + 0 + 9
}

RB_TEST_GROUP(test_line_fit, cmocka_unit_test(powersAreFoundExactly),
              cmocka_unit_test(standardErrorsAreTheSpreadOfFits),
              cmocka_unit_test(meansHaveTheirStandardError));
