// The parallel gas of elastic spheres: speeds, energy and pressure against theory.
#include "cluster_worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Moments {
    double mean, variance, median, skewness;
} Moments;

static int compareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

static Moments momentsOf(const rbClusterSphere* spheres, int n)
{
    Moments moments = {0};
    double* speeds = malloc((size_t)n * sizeof(double));
    assert_non_null(speeds);
    for (int i = 0; i < n; ++i) {
        speeds[i] = rbLength(spheres[i].velocity);
        moments.mean += speeds[i] / n;
    }
    double cubes = 0.0;
    for (int i = 0; i < n; ++i) {
        double d = speeds[i] - moments.mean;
        moments.variance += d * d / (n - 1);
        cubes += d * d * d / n;
    }
    moments.skewness = cubes / (moments.variance * sqrt(moments.variance));
    qsort(speeds, (size_t)n, sizeof(double), compareDoubles);
    moments.median = 0.5 * (speeds[(n - 1) / 2] + speeds[n / 2]);
    free(speeds);
    return moments;
}

// G-44: after 20 collisions per sphere the speeds are Maxwell's with a = v0/sqrt(3): mean
// 2a sqrt(2/pi), variance a^2 (3 - 8/pi), median 1.53817 a, skewness 0.4857, each within three
// standard errors, which are given for 64,000 spheres. 64,000 of them at the levels "long" and
// "full".
static void speedsAreMaxwells(void** state)
{
    (void)state;
    rbRanks* ranks = rbTestRanks();
    rbTestGas gas = {.edge = rbTest_IsLong() ? 40 : 16, .stepPart = 0.02, .partition = "morton"};
    rbCluster* cluster = rbCreateTestGas(ranks, &gas);
    double energy = rbCluster_GetReport(cluster).kinetic;
    rbAdvanceCluster(cluster, rbCountGasSteps(&gas, 20.0));
    rbClusterReport report = rbCluster_GetReport(cluster);
    int count = 0;
    rbClusterSphere* spheres = rbCluster_Gather(cluster, &count);
    double n = (double)report.bodies;
    checkRelative(report.kinetic, energy, 1e-12);
    checkRelative(2.0 * (double)report.collisions / n, 20.0, 0.05);
    if (rbRanks_GetIndex(ranks) == 0) {
        Moments moments = momentsOf(spheres, count);
        (void)printf("%d spheres, %.2f collisions each: mean %.4f (9.2132), variance %.4f "
                     "(15.1174), median %.4f (8.8806), skewness %.4f (0.4857), energy %+.1e\n",
                     count, 2.0 * (double)report.collisions / n, moments.mean, moments.variance,
                     moments.median, moments.skewness, report.kinetic / energy - 1.0);
        double errors = 3.0 * sqrt(64000.0 / n); // three standard errors of 64,000
        checkNear(moments.mean, 9.2132, 0.0154 * errors);
        checkNear(moments.variance, 15.1174, 0.0868 * errors);
        checkNear(moments.median, 8.8806, 0.0197 * errors);
        checkNear(moments.skewness, 0.4857, 0.0097 * errors);
    }
    rbFreeSpheres(spheres, count);
    rbDestroyCluster(cluster);
}

// p V/(N k T) - 1 over 5 collisions per sphere, after 5 that forget the lattice.
static double measurePressure(rbRanks* ranks, int edge, double stepPart)
{
    rbTestGas gas = {.edge = edge, .stepPart = stepPart, .partition = "morton"};
    rbCluster* cluster = rbCreateTestGas(ranks, &gas);
    int64_t steps = rbCountGasSteps(&gas, 5.0);
    rbAdvanceCluster(cluster, steps);
    rbClusterReport before = rbCluster_GetReport(cluster);
    rbAdvanceCluster(cluster, steps);
    rbClusterReport after = rbCluster_GetReport(cluster);
    rbDestroyCluster(cluster);
    double time = after.time - before.time;
    return (after.virial - before.virial) / (2.0 * after.kinetic * time);
}

// G-44: the pressure of Carnahan and Starling, Z = (1 + f + f^2 - f^3)/(1 - f)^3, within a percent
// at steps of a 200th of the diameter. Larger steps see collisions later, at a smaller distance, so
// that the error grows with the step.
static void pressureIsThatOfCarnahanAndStarling(void** state)
{
    (void)state;
    rbRanks* ranks = rbTestRanks();
    double f = RB_PI / 6.0 / (1.7365 * 1.7365 * 1.7365);
    double truth = (1.0 + f + f * f - f * f * f) / ((1.0 - f) * (1.0 - f) * (1.0 - f));
    int edge = rbTest_IsLong() ? 40 : 16;
    double z[3];
    const double parts[3] = {0.02, 0.01, 0.005};
    for (int i = 0; i < 3; ++i) {
        z[i] = 1.0 + measurePressure(ranks, edge, parts[i]);
    }
    if (rbRanks_GetIndex(ranks) == 0) {
        (void)printf("Z %.5f, by steps of d/50, d/100, d/200: %.5f %.5f %.5f\n", truth, z[0], z[1],
                     z[2]);
    }
    checkRelative(z[2], truth, 0.01);
    assert_true(truth - z[0] > truth - z[1]);
    assert_true(z[0] < truth);
}

// G-02b: the stress of a gas between collisions is what its velocities carry: in all of its box the
// trace is twice the kinetic energy without that of the center of mass, over the volume.
static void stressOfAGasIsThatOfItsVelocities(void** state)
{
    (void)state;
    rbTestGas gas = {.edge = 6, .stepPart = 0.02, .partition = "morton"};
    rbCluster* cluster = rbCreateTestGas(rbTestRanks(), &gas);
    rbAdvanceCluster(cluster, 200);
    rbBounds box = {{-50.0, -50.0, -50.0}, {50.0, 50.0, 50.0}};
    rbClusterReport report = rbCluster_GetReport(cluster);
    rbClusterAverage average = rbCluster_Average(cluster, box);
    double drift = rbLengthSquared(report.momentum) / average.mass;
    double trace = average.stress.cx.x + average.stress.cy.y + average.stress.cz.z;
    assert_true(report.collisions > 100 && average.count == 216);
    checkRelative(trace * 1e6, 2.0 * report.kinetic - drift, 1e-12);
    checkRelative(average.stress.cx.x, trace / 3.0, 0.24); // three standard errors of 216
    checkNear(average.stress.cx.y, average.stress.cy.x, 0.0);
    rbDestroyCluster(cluster);
}

RB_TEST_GROUP(phys_gas, cmocka_unit_test(speedsAreMaxwells),
              cmocka_unit_test(pressureIsThatOfCarnahanAndStarling),
              cmocka_unit_test(stressOfAGasIsThatOfItsVelocities));
