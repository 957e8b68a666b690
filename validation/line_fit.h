// Straight lines through points with known standard errors, and powers: what experiments fit.
#pragma once

typedef struct rbLine {
    double slope, offset;
    double slopeError, offsetError; // standard errors
    double covariance;              // of slope and offset
    double misfit;                  // sum of squares of deviations over standard errors
} rbLine;

// y = slope x + offset; errors: of y, > 0. At least two points.
rbLine rbFitLine(const double* x, const double* y, const double* errors, int count);

// y = (slope (x - shift))^exponent with all three free, where the misfit is least; standard errors
// from where it is larger by 1. At least four points, y > 0.
typedef struct rbShiftedPower {
    double exponent, exponentError;
    double shift;
    double misfit;
} rbShiftedPower;

rbShiftedPower rbFitShiftedPower(const double* x, const double* y, const double* errors, int count);
// The same with a known exponent: a line.
rbLine rbFitKnownPower(const double* x, const double* y, const double* errors, int count,
                       double exponent);
// Mean of count >= 2 numbers, and its standard error.
double rbMeanOf(const double* values, int count, double* standardError);
