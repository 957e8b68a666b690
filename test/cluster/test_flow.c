// Inlets, outlets and averages: the same on any number of ranks, and nothing is lost.
#include "cluster_worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RATE 200.0

// A slope from an inlet to an outlet behind its end.
static rbCluster* createChute(rbRanks* ranks)
{
    rbError error = {0};
    rbClusterDef def = rbDefaultClusterDef();
    def.law = "granular";
    def.step = 4e-3;
    def.radiusMax = 0.1;
    def.restitution = 0.2;
    def.friction = 0.2;
    def.gravity = rbMakeVec3(6.0, 0.0, -8.0);
    def.high = rbMakeVec3(4.0, 2.0, 2.0);
    def.wallCount = 1;
    def.walls[0].normal = rbMakeVec3(0.0, 0.0, 1.0);
    rbCluster* cluster = rbCreateCluster(ranks, &def, &error);
    assert_non_null(cluster);
    rbClusterInlet inlet = {.box = {{0.2, 0.2, 0.5}, {1.0, 1.8, 1.2}},
                            .rate = RATE,
                            .radiusMin = 0.05,
                            .radiusMax = 0.1,
                            .density = 2000.0,
                            .velocity = {0.5, 0.0, -1.0}};
    assert_int_equal(rbCluster_AddInlet(cluster, &inlet, &error), RB_STATUS_OK);
    inlet.rate = 1000.0;
    inlet.count = 7;
    assert_int_equal(rbCluster_AddInlet(cluster, &inlet, &error), RB_STATUS_OK);
    rbBounds outlet = {{2.5, -9.0, -1.0}, {99.0, 9.0, 9.0}};
    assert_int_equal(rbCluster_AddOutlet(cluster, outlet, &error), RB_STATUS_OK);
    return cluster;
}

typedef struct Result {
    rbClusterReport report;
    rbClusterAverage average;
    int64_t inserted, few, removed;
    double mass;
} Result;

static const rbBounds box = {{0.8, 0.0, 0.0}, {1.8, 2.0, 0.5}};

static Result measure(rbCluster* cluster)
{
    Result result = {.report = rbCluster_GetReport(cluster),
                     .average = rbCluster_Average(cluster, box),
                     .inserted = rbCluster_GetInserted(cluster, 0),
                     .few = rbCluster_GetInserted(cluster, 1)};
    result.removed = rbCluster_GetRemoved(cluster, 0, &result.mass);
    return result;
}

static void expectSame(const Result* a, const Result* b)
{
    assert_int_equal(a->report.hash, b->report.hash);
    assert_int_equal(a->inserted, b->inserted);
    assert_int_equal(a->removed, b->removed);
    assert_memory_equal(&a->mass, &b->mass, sizeof a->mass);
    assert_memory_equal(&a->average, &b->average, sizeof a->average);
}

// G-02b: what comes and goes does not depend on the ranks, nor on an interruption.
static void flowsHaveTheSameBitsOnAnyRanks(void** state)
{
    (void)state;
    rbRanks* all = rbTestRanks();
    char path[64];
    rbError error = {0};
    (void)snprintf(path, sizeof path, "/tmp/rb-cluster-%ld.flow", (long)getppid());
    rbCluster* cluster = createChute(all);
    rbAdvanceCluster(cluster, 200);
    assert_int_equal(rbCluster_Save(cluster, path, &error), RB_STATUS_OK);
    rbAdvanceCluster(cluster, 150);
    Result truth = measure(cluster);
    rbDestroyCluster(cluster);
    assert_int_equal(truth.few, 7);
    assert_true(truth.removed > 50 && truth.average.count > 5);
    assert_int_equal(truth.report.bodies, truth.inserted + truth.few - truth.removed);
    checkNear((double)truth.inserted, RATE * 1.4, 16.0 * 4e-3 * RATE + 1.0);
    int counts[2] = {1, (rbRanks_GetCount(all) + 1) / 2};
    for (int i = 0; i < 2; ++i) {
        rbRanks* ranks = rbRanks_Take(all, counts[i]);
        if (ranks != NULL) {
            cluster = createChute(ranks);
            if (i == 1) {
                assert_int_equal(rbCluster_Load(cluster, path, &error), RB_STATUS_OK);
            }
            rbAdvanceCluster(cluster, i == 1 ? 150 : 350);
            Result result = measure(cluster);
            expectSame(&result, &truth);
            rbDestroyCluster(cluster);
            rbCloseRanks(ranks);
        }
        rbRanks_Meet(all);
    }
    if (rbRanks_GetIndex(all) == 0) {
        (void)remove(path);
    }
}

// Averages are those of all spheres, one by one; mass that came is there or has left; new spheres
// overlap nothing.
static void averagesAreThoseOfTheSpheres(void** state)
{
    (void)state;
    rbCluster* cluster = createChute(rbTestRanks());
    rbAdvanceCluster(cluster, 250);
    Result result = measure(cluster);
    int count = 0;
    rbClusterSphere* spheres = rbCluster_Gather(cluster, &count);
    if (count > 0) {
        double mass = 0.0;
        double volume = 0.0;
        rbVec3 momentum = RB_VEC3_ZERO;
        int inside = 0;
        for (int i = 0; i < count; ++i) {
            rbVec3 p = spheres[i].position;
            assert_true(spheres[i].uid >> 48 == 1 || spheres[i].uid >> 48 == 2);
            if (p.x >= box.lower.x && p.x <= box.upper.x && p.y >= box.lower.y &&
                p.y <= box.upper.y && p.z >= box.lower.z && p.z <= box.upper.z) {
                ++inside;
                mass += spheres[i].mass;
                volume += spheres[i].mass / 2000.0;
                momentum = rbAddScaled(momentum, spheres[i].mass, spheres[i].velocity);
            }
        }
        assert_true(inside > 5);
        assert_int_equal(result.average.count, inside);
        checkRelative(result.average.mass, mass, 1e-12);
        checkRelative(result.average.solidFraction, volume / (1.0 * 2.0 * 0.5), 1e-12);
        checkRelative(result.average.velocity.x, momentum.x / mass, 1e-12);
    }
    checkBelow(result.report.penetrationMax, 0.02);
    rbFreeSpheres(spheres, count);
    rbDestroyCluster(cluster);
}

static void unusableInletsAreRefused(void** state)
{
    (void)state;
    rbError error = {0};
    rbCluster* cluster = createChute(rbTestRanks());
    rbClusterInlet inlet = {.box = {{0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}},
                            .rate = 1.0,
                            .radiusMin = 0.05,
                            .radiusMax = 0.2,
                            .density = 1.0};
    assert_int_equal(rbCluster_AddInlet(cluster, &inlet, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "at most 0.1 m"));
    inlet.radiusMax = 0.1;
    inlet.rate = 0.0;
    assert_int_equal(rbCluster_AddInlet(cluster, &inlet, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "rate"));
    rbBounds bad = {{1.0, 0.0, 0.0}, {0.0, 1.0, 1.0}};
    assert_int_equal(rbCluster_AddOutlet(cluster, bad, &error), RB_STATUS_INVALID);
    rbDestroyCluster(cluster);
}

RB_TEST_GROUP(test_flow, cmocka_unit_test(flowsHaveTheSameBitsOnAnyRanks),
              cmocka_unit_test(averagesAreThoseOfTheSpheres),
              cmocka_unit_test(unusableInletsAreRefused));
