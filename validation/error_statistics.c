#include "error_statistics.h"

#include "base/math/elementary.h"

#include <math.h>
#include <stdlib.h>

const double rbQuantiles[RB_QUANTILE_COUNT] = {0.99, 0.999, 0.9999};

void rbErrorSeries_Add(rbErrorSeries* series, double error)
{
    RB_ASSERT(!(error < 0.0));
    rbArray_Push(series->values, isnan(error) ? INFINITY : error);
    series->isSorted = false;
}

void rbErrorSeries_Merge(rbErrorSeries* series, const rbErrorSeries* other)
{
    RB_ASSERT(series != other);
    for (int i = 0; i < other->values.count; ++i) {
        rbArray_Push(series->values, other->values.data[i]);
    }
    series->isSorted = false;
}

void rbErrorSeries_Free(rbErrorSeries* series)
{
    rbArray_Free(series->values);
    series->isSorted = false;
}

static int compareErrors(const void* a, const void* b)
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

static void sortErrors(rbErrorSeries* series)
{
    if (!series->isSorted && series->values.count > 1) {
        qsort(series->values.data, (size_t)series->values.count, sizeof(double), compareErrors);
    }
    series->isSorted = true;
}

double rbErrorSeries_Quantile(rbErrorSeries* series, double part)
{
    RB_ASSERT(part >= 0.0 && part <= 1.0);
    int count = series->values.count;
    if (count == 0) {
        return 0.0;
    }
    sortErrors(series);
    // a product that should be a whole number may be one rounding above it
    int rank = (int)ceil(part * count - 1e-9 * count);
    return series->values.data[rank < 1 ? 0 : rank - 1];
}

rbErrorSummary rbErrorSeries_Summarize(rbErrorSeries* series)
{
    rbErrorSummary summary = {.count = series->values.count};
    if (summary.count == 0) {
        return summary;
    }
    sortErrors(series);
    double sum = 0.0; // small values first: the order of the sorted series
    for (int i = 0; i < summary.count; ++i) {
        sum += series->values.data[i];
    }
    summary.mean = sum / summary.count;
    summary.max = series->values.data[summary.count - 1];
    for (int i = 0; i < RB_QUANTILE_COUNT; ++i) {
        summary.quantiles[i] = rbErrorSeries_Quantile(series, rbQuantiles[i]);
    }
    return summary;
}

void rbErrorStatistics_Merge(rbErrorStatistics* statistics, const rbErrorStatistics* other)
{
    rbErrorSeries_Merge(&statistics->angle, &other->angle);
    rbErrorSeries_Merge(&statistics->depth, &other->depth);
    rbErrorSeries_Merge(&statistics->position, &other->position);
}

void rbErrorStatistics_Free(rbErrorStatistics* statistics)
{
    rbErrorSeries_Free(&statistics->angle);
    rbErrorSeries_Free(&statistics->depth);
    rbErrorSeries_Free(&statistics->position);
}

double rbMeasureAngle(rbVec3 a, rbVec3 b)
{
    return 180.0 / RB_PI * rbAtan2(rbLength(rbCross(a, b)), rbDot(a, b));
}
