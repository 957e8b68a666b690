// Granular contact on domains against closed forms: rolling, sliding, rebound; and a heap that
// carries its weight.
#include "cluster/law.h"
#include "cluster_worlds.h"

#include <math.h>
#include <stdio.h>

#define GRAVITY 9.81
#define SLOPE_SIN 0.6 // of the angle of the slope
#define SLOPE_COS 0.8

// A sphere of radius 0.5 and mass 2 on a plane; gravity is inclined instead.
static rbCluster* createSlope(double friction)
{
    rbError error = {0};
    rbClusterDef def = rbDefaultClusterDef();
    def.law = "granular";
    def.step = 1e-3;
    def.radiusMax = 0.5;
    def.friction = friction;
    def.restitution = 0.0;
    def.gravity = rbMakeVec3(GRAVITY * SLOPE_SIN, 0.0, -GRAVITY * SLOPE_COS);
    def.high = rbMakeVec3(10.0, 3.0, 3.0);
    def.wallCount = 1;
    def.walls[0].normal = rbMakeVec3(0.0, 0.0, 1.0);
    rbCluster* cluster = rbCreateCluster(rbTestRanks(), &def, &error);
    assert_non_null(cluster);
    if (rbRanks_GetIndex(rbTestRanks()) == 0) {
        rbClusterSphere sphere = {.uid = 1, .radius = 0.5, .mass = 2.0};
        sphere.position = rbMakeVec3(1.0, 1.5, 0.5);
        assert_int_equal(rbCluster_AddSphere(cluster, &sphere, NULL), RB_STATUS_OK);
    }
    return cluster;
}

// Rolls over the borders of cells, from rank to rank, for a second.
static void checkSlope(double friction, double acceleration, double spinRate)
{
    rbCluster* cluster = createSlope(friction);
    rbAdvanceCluster(cluster, 1000);
    rbClusterReport report = rbCluster_GetReport(cluster);
    int count = 0;
    rbClusterSphere* spheres = rbCluster_Gather(cluster, &count);
    assert_int_equal(report.bodies, 1);
    checkRelative(report.momentum.x, 2.0 * acceleration, 1e-9);
    if (count == 1) {
        checkRelative(spheres[0].spin.y, spinRate, 1e-9);
        checkRelative(spheres[0].position.x - 1.0, 0.5 * acceleration, 2e-3); // first order in h
        checkNear(spheres[0].position.z, 0.5, 1e-9);
    }
    rbFreeSpheres(spheres, count);
    rbDestroyCluster(cluster);
}

// Without slip a uniform sphere accelerates by 5/7 g sin.
static void spheresRollAsInTheBook(void** state)
{
    (void)state;
    double a = 5.0 / 7.0 * GRAVITY * SLOPE_SIN;
    checkSlope(0.5, a, a / 0.5);
}

// With friction below 2/7 of the slope it slides: g (sin - mu cos), and friction spins it up.
static void spheresSlideAsInTheBook(void** state)
{
    (void)state;
    double mu = 0.1;
    double a = GRAVITY * (SLOPE_SIN - mu * SLOPE_COS);
    checkSlope(mu, a, 2.5 * mu * GRAVITY * SLOPE_COS / 0.5);
}

// Two spheres that meet head on across a periodic face: restitution is that of the definition, and
// momentum is kept.
static void reboundHasTheRestitution(void** state)
{
    (void)state;
    rbError error = {0};
    rbClusterDef def = rbDefaultClusterDef();
    def.law = "granular";
    def.step = 1e-3;
    def.radiusMax = 0.5;
    def.restitution = 0.7;
    def.periodicBox = rbMakeVec3(12.0, 12.0, 12.0);
    rbCluster* cluster = rbCreateCluster(rbTestRanks(), &def, &error);
    assert_non_null(cluster);
    if (rbRanks_GetIndex(rbTestRanks()) == 0) {
        rbClusterSphere left = {.uid = 8, .radius = 0.5, .mass = 2.0};
        rbClusterSphere right = {.uid = 3, .radius = 0.4, .mass = 1.0};
        left.position = rbMakeVec3(5.0, 5.9, 0.0);
        left.velocity = rbMakeVec3(3.0, 0.0, 0.0);
        right.position = rbMakeVec3(-5.0, 5.9, 0.0);
        right.velocity = rbMakeVec3(-1.0, 0.0, 0.0);
        assert_int_equal(rbCluster_AddSphere(cluster, &left, NULL), RB_STATUS_OK);
        assert_int_equal(rbCluster_AddSphere(cluster, &right, NULL), RB_STATUS_OK);
    }
    rbAdvanceCluster(cluster, 600);
    rbClusterReport report = rbCluster_GetReport(cluster);
    checkNear(report.momentum.x, 5.0, 1e-12);
    // the center of mass keeps 5/3 m/s; relative speed 4 becomes 2.8: 0.5 mu 2.8^2 about it
    checkRelative(report.kinetic, 0.5 * 3.0 * 25.0 / 9.0 + 0.5 * (2.0 / 3.0) * 2.8 * 2.8, 1e-9);
    rbDestroyCluster(cluster);
}

// Normal impulses of the floor, N s, of the last step.
static double weighFloor(rbCluster* cluster)
{
    rbExactSum sum = {0};
    const rbDomain* domain = &cluster->domain;
    for (int i = 0; i < domain->pairs.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[i];
        if (pair->b < 0) {
            rbExactSum_Add(&sum, -pair->impulse.z);
        }
    }
    rbRanks_SumExact(rbTestRanks(), &sum, 1);
    return rbExactSum_Round(&sum);
}

// G-02: a heap settles; then the floor carries its weight, and spheres overlap by less than a
// percent of a radius. Single spheres go on rolling between others on the floor: there is no
// rolling friction.
static void heapsRestOnTheFloor(void** state)
{
    (void)state;
    rbTestHeap heap = {.edge = 4, .layers = 3, .friction = 0.5, .partition = "morton"};
    rbCluster* cluster = rbCreateTestHeap(rbTestRanks(), &heap);
    double mass = 0.0;
    for (int i = 0; i < 48; ++i) {
        double radius = i % 3 == 0 ? 0.4 : 0.5;
        mass += 4.0 * radius * radius * radius;
    }
    rbAdvanceCluster(cluster, 3000);
    double carried = 0.0;
    for (int i = 0; i < 100; ++i) {
        rbAdvanceCluster(cluster, 1);
        carried += weighFloor(cluster) / 100.0;
    }
    rbClusterReport report = rbCluster_GetReport(cluster);
    if (rbRanks_GetIndex(rbTestRanks()) == 0) {
        (void)printf("heap: carried %.5f of its weight, kinetic %.1e J, overlap %.1e m, %lld "
                     "contacts, %d colors\n",
                     carried / (mass * GRAVITY * 2e-3), report.kinetic, report.penetrationMax,
                     (long long)report.contacts, report.colors);
    }
    checkRelative(carried, mass * GRAVITY * 2e-3, 1e-3);
    checkBelow(report.kinetic, 1e-3);
    checkBelow(report.penetrationMax, 0.005);
    assert_true(report.contacts > 70);
    rbDestroyCluster(cluster);
}

RB_TEST_GROUP(phys_grains, cmocka_unit_test(spheresRollAsInTheBook),
              cmocka_unit_test(spheresSlideAsInTheBook), cmocka_unit_test(reboundHasTheRestitution),
              cmocka_unit_test(heapsRestOnTheFloor));
