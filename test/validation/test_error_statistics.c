// Error statistics: quantiles of known series, angles far below the resolution of the arc cosine.
#include "base/core/random.h"
#include "error_statistics.h"
#include "rb_test.h"

#include <math.h>

#define RAMP 10000

// 1 .. RAMP in random order
static void fillRamp(rbErrorSeries* series, rbRandom* random)
{
    static int order[RAMP];
    for (int i = 0; i < RAMP; ++i) {
        int k = rbRandom_Index(random, i + 1);
        order[i] = order[k];
        order[k] = i + 1;
    }
    for (int i = 0; i < RAMP; ++i) {
        rbErrorSeries_Add(series, order[i]);
    }
}

// G-42
static void quantilesOfARampAreItsRanks(void** state)
{
    (void)state;
    rbErrorSeries series = {0};
    rbRandom random = {rbTest_Seed(420)};
    fillRamp(&series, &random);
    rbErrorSummary s = rbErrorSeries_Summarize(&series);
    assert_int_equal(s.count, RAMP);
    assert_true(s.max == 10000.0);
    assert_true(s.quantiles[0] == 9900.0);
    assert_true(s.quantiles[1] == 9990.0);
    assert_true(s.quantiles[2] == 9999.0);
    checkNear(s.mean, 5000.5, 1e-9);
    assert_true(rbErrorSeries_Quantile(&series, 0.0) == 1.0);
    assert_true(rbErrorSeries_Quantile(&series, 0.5) == 5000.0);
    assert_true(rbErrorSeries_Quantile(&series, 1.0) == 10000.0);
    // one more after a summary
    rbErrorSeries_Add(&series, 0.5);
    assert_true(rbErrorSeries_Quantile(&series, 0.0) == 0.5);
    rbErrorSeries_Free(&series);
}

// Every quantile is the least value that enough others do not exceed, by counting.
static void quantilesAgreeWithCounting(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(421)};
    for (int round = 0; round < rbTest_Count(200, 2000); ++round) {
        rbErrorSeries series = {0};
        int count = 1 + rbRandom_Index(&random, 60);
        for (int i = 0; i < count; ++i) {
            rbErrorSeries_Add(&series, (double)rbRandom_Index(&random, 10)); // with ties
        }
        double part = rbRandom_Unit(&random);
        double quantile = rbErrorSeries_Quantile(&series, part);
        int below = 0;
        int atMost = 0;
        for (int i = 0; i < count; ++i) {
            below += series.values.data[i] < quantile;
            atMost += series.values.data[i] <= quantile;
        }
        assert_true(atMost >= part * count - 1e-6);
        assert_true(below < part * count + 1e-6 || below == 0);
        rbErrorSeries_Free(&series);
    }
}

static void emptySeriesAreZeroAndNanIsInfinite(void** state)
{
    (void)state;
    rbErrorSeries series = {0};
    rbErrorSummary s = rbErrorSeries_Summarize(&series);
    assert_int_equal(s.count, 0);
    assert_true(s.max == 0.0 && s.mean == 0.0 && s.quantiles[2] == 0.0);
    rbErrorSeries_Add(&series, 1.0);
    rbErrorSeries_Add(&series, NAN);
    rbErrorSeries_Add(&series, 2.0);
    assert_true(rbErrorSeries_Summarize(&series).max == INFINITY);
    rbErrorSeries_Free(&series);
}

static void mergedStatisticsAreThoseOfAll(void** state)
{
    (void)state;
    rbErrorStatistics parts[2] = {0};
    rbErrorStatistics all = {0};
    rbRandom random = {rbTest_Seed(422)};
    for (int i = 0; i < 1000; ++i) {
        double error = rbRandom_Unit(&random);
        rbErrorSeries_Add(&parts[i % 2].angle, error);
        rbErrorSeries_Add(&parts[i % 2].position, 2.0 * error);
        rbErrorSeries_Add(&all.angle, error);
    }
    rbErrorStatistics_Merge(&parts[0], &parts[1]);
    rbErrorSummary merged = rbErrorSeries_Summarize(&parts[0].angle);
    rbErrorSummary whole = rbErrorSeries_Summarize(&all.angle);
    assert_int_equal(merged.count, 1000);
    assert_true(merged.max == whole.max && merged.mean == whole.mean);
    assert_true(merged.quantiles[0] == whole.quantiles[0]);
    assert_true(rbErrorSeries_Summarize(&parts[0].position).max == 2.0 * whole.max);
    assert_int_equal(parts[0].depth.values.count, 0);
    rbErrorStatistics_Free(&parts[0]);
    rbErrorStatistics_Free(&parts[1]);
    rbErrorStatistics_Free(&all);
}

// G-42: the arc cosine would give 0 for all of these.
static void tinyAnglesAreResolved(void** state)
{
    (void)state;
    rbVec3 n = {1.0, 0.0, 0.0};
    for (int digits = 7; digits < 14; ++digits) {
        double angle = pow(10.0, -digits);
        double radians = angle * RB_PI / 180.0;
        rbVec3 m = {1.0, radians, 0.0};
        checkRelative(rbMeasureAngle(n, m), angle, 1e-12);
    }
    checkNear(rbMeasureAngle(n, rbNeg(n)), 180.0, 1e-12);
    checkNear(rbMeasureAngle(n, rbMakeVec3(0.0, 0.0, 1.0)), 90.0, 1e-12);
    assert_true(rbMeasureAngle(n, n) == 0.0);
}

RB_TEST_GROUP(test_error_statistics, cmocka_unit_test(quantilesOfARampAreItsRanks),
              cmocka_unit_test(quantilesAgreeWithCounting),
              cmocka_unit_test(emptySeriesAreZeroAndNanIsInfinite),
              cmocka_unit_test(mergedStatisticsAreThoseOfAll),
              cmocka_unit_test(tinyAnglesAreResolved));
