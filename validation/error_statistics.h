// Error statistics of contact data (G-42): largest, mean and quantiles of the angle of normals, the
// difference of depths and the distance of points.
//
// Values are kept, 8 bytes each, so that quantiles are exact; a run of six million pair tests with
// half a million contacts needs 14 MB. NaN counts as infinitely wrong, so that it cannot go
// unnoticed.
#pragma once

#include "base/core/memory.h"

#include <rattleback/vecmath.h>

#define RB_QUANTILE_COUNT 3

// 0.99, 0.999, 0.9999
extern const double rbQuantiles[RB_QUANTILE_COUNT];

// Errors of one quantity, each >= 0.
typedef struct rbErrorSeries {
    RB_ARRAY(double) values;
    bool isSorted;
} rbErrorSeries;

// All zero for an empty series.
typedef struct rbErrorSummary {
    int count;
    double max;
    double mean;
    double quantiles[RB_QUANTILE_COUNT];
} rbErrorSummary;

void rbErrorSeries_Add(rbErrorSeries* series, double error);
// Adds the errors of another series to this one.
void rbErrorSeries_Merge(rbErrorSeries* series, const rbErrorSeries* other);
void rbErrorSeries_Free(rbErrorSeries* series);

// The given quantile (0 .. 1): the smallest error that at least this fraction of all errors does
// not exceed; 0 if there is none. Sorts the series.
double rbErrorSeries_Quantile(rbErrorSeries* series, double part);
rbErrorSummary rbErrorSeries_Summarize(rbErrorSeries* series);

// The three quantities of a contact.
typedef struct rbErrorStatistics {
    rbErrorSeries angle;    // degrees
    rbErrorSeries depth;    // m, or relative to the body size: the caller's choice
    rbErrorSeries position; // relative to the body size
} rbErrorStatistics;

void rbErrorStatistics_Merge(rbErrorStatistics* statistics, const rbErrorStatistics* other);
void rbErrorStatistics_Free(rbErrorStatistics* statistics);

// Angle of two unit vectors in degrees by the arc tangent: it resolves 1e-14 degrees, the arc
// cosine only 1e-6.
double rbMeasureAngle(rbVec3 a, rbVec3 b);
