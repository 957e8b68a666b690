#include "line_fit.h"

#include <math.h>

#define POINTS_MAX 32

rbLine rbFitLine(const double* x, const double* y, const double* errors, int count)
{
    double n = 0.0;
    double sx = 0.0;
    double sy = 0.0;
    for (int i = 0; i < count; ++i) {
        double weight = 1.0 / (errors[i] * errors[i]);
        n += weight;
        sx += weight * x[i];
        sy += weight * y[i];
    }
    double xx = 0.0;
    double xy = 0.0;
    for (int i = 0; i < count; ++i) {
        double weight = 1.0 / (errors[i] * errors[i]);
        xx += weight * (x[i] - sx / n) * (x[i] - sx / n);
        xy += weight * (x[i] - sx / n) * (y[i] - sy / n);
    }
    rbLine line = {.slope = xy / xx, .slopeError = 1.0 / sqrt(xx)};
    line.offset = (sy - line.slope * sx) / n;
    line.offsetError = sqrt(1.0 / n + sx * sx / (n * n * xx));
    line.covariance = -sx / (n * xx);
    for (int i = 0; i < count; ++i) {
        double deviation = (y[i] - line.offset - line.slope * x[i]) / errors[i];
        line.misfit += deviation * deviation;
    }
    return line;
}

rbLine rbFitKnownPower(const double* x, const double* y, const double* errors, int count,
                       double exponent)
{
    double roots[POINTS_MAX];
    double rootErrors[POINTS_MAX];
    count = count < POINTS_MAX ? count : POINTS_MAX;
    for (int i = 0; i < count; ++i) {
        roots[i] = pow(y[i], 1.0 / exponent);
        rootErrors[i] = roots[i] * errors[i] / (exponent * y[i]);
    }
    return rbFitLine(x, roots, rootErrors, count);
}

// The line is known for every exponent: only that is searched, in steps far below its error.
rbShiftedPower rbFitShiftedPower(const double* x, const double* y, const double* errors, int count)
{
    const double step = 0.002;
    rbShiftedPower best = {.misfit = (double)INFINITY};
    for (int i = 0; i < 2000; ++i) {
        double exponent = 1.0 + i * step;
        rbLine line = rbFitKnownPower(x, y, errors, count, exponent);
        if (line.misfit < best.misfit) {
            best = (rbShiftedPower){
                .exponent = exponent, .shift = -line.offset / line.slope, .misfit = line.misfit};
        }
    }
    double low = best.exponent;
    double high = best.exponent;
    while (low > 0.5 && rbFitKnownPower(x, y, errors, count, low).misfit < best.misfit + 1.0) {
        low -= step;
    }
    while (high < 10.0 && rbFitKnownPower(x, y, errors, count, high).misfit < best.misfit + 1.0) {
        high += step;
    }
    best.exponentError = 0.5 * (high - low);
    return best;
}

double rbMeanOf(const double* values, int count, double* standardError)
{
    double mean = 0.0;
    double squares = 0.0;
    for (int i = 0; i < count; ++i) {
        mean += values[i] / count;
    }
    for (int i = 0; i < count; ++i) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    *standardError = sqrt(squares / ((double)count * (count - 1)));
    return mean;
}
