#include "cluster_worlds.h"

#include "base/core/hash.h"
#include "base/core/random.h"

#include <math.h>

// Edge of the cube of a sphere of diameter 1 at a fraction of a tenth: (10 pi/6)^(1/3).
#define GAS_SPACING 1.7365

rbRanks* rbTestRanks(void)
{
    static rbRanks* ranks;
    if (ranks == NULL) {
        ranks = rbOpenRanks(NULL);
        assert_non_null(ranks);
    }
    return ranks;
}

// A unit vector by uid, without a function of libm that machines round differently.
static rbVec3 directionOf(uint64_t uid)
{
    rbRandom random = {rbHashBytes(RB_HASH_SEED, &uid, sizeof uid)};
    for (;;) {
        rbVec3 v = rbMakeVec3(rbRandom_Symmetric(&random), rbRandom_Symmetric(&random),
                              rbRandom_Symmetric(&random));
        double square = rbLengthSquared(v);
        if (square > 0.01 && square <= 1.0) {
            return rbNormalize(v);
        }
    }
}

// The middle of the i-th cube of a lattice with layers of n x n.
static rbVec3 placeOf(int i, int n)
{
    int column = i % n;
    int row = i / n % n;
    int layer = i / (n * n);
    return rbMakeVec3(column + 0.5, row + 0.5, layer + 0.5);
}

static void add(rbCluster* cluster, const rbClusterSphere* sphere)
{
    rbError error = {0};
    if (rbCluster_AddSphere(cluster, sphere, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
}

static rbCluster* create(rbRanks* ranks, const rbClusterDef* def)
{
    rbError error = {0};
    rbCluster* cluster = rbCreateCluster(ranks, def, &error);
    if (cluster == NULL) {
        fail_msg("%s", error.message);
    }
    return cluster;
}

rbCluster* rbCreateTestGas(rbRanks* ranks, const rbTestGas* gas)
{
    rbClusterDef def = rbDefaultClusterDef();
    double edge = gas->edge * GAS_SPACING;
    def.partition = gas->partition;
    def.partitionInterval = gas->partitionInterval;
    def.step = gas->stepPart / RB_TEST_GAS_SPEED;
    def.radiusMax = 0.5;
    def.periodicBox = rbMakeVec3(edge, edge, edge);
    rbCluster* cluster = create(ranks, &def);
    int n = gas->edge;
    // every rank adds its share; the first step brings them to their owners
    for (int i = rbRanks_GetIndex(ranks); i < n * n * n; i += rbRanks_GetCount(ranks)) {
        uint64_t uid = (uint64_t)i;
        rbVec3 place = placeOf(i, n);
        rbClusterSphere sphere = {.uid = uid, .radius = 0.5, .mass = 1.0};
        sphere.position = rbSub(rbScale(GAS_SPACING, place), rbScale(0.5, def.periodicBox));
        sphere.velocity = rbScale(RB_TEST_GAS_SPEED, directionOf(uid));
        add(cluster, &sphere);
    }
    return cluster;
}

// Carnahan-Starling: Z = 1.5213 at a tenth. The rate of collisions of a sphere is
// 6 (Z - 1) sqrt(T/pi)/d with T = v^2/3; see validation/gas.c.
int64_t rbCountGasSteps(const rbTestGas* gas, double collisionsPerBody)
{
    double temperature = RB_TEST_GAS_SPEED * RB_TEST_GAS_SPEED / 3.0;
    double rate = 6.0 * 0.5213 * sqrt(temperature / RB_PI);
    return (int64_t)ceil(collisionsPerBody / rate / (gas->stepPart / RB_TEST_GAS_SPEED));
}

rbCluster* rbCreateTestHeap(rbRanks* ranks, const rbTestHeap* heap)
{
    rbClusterDef def = rbDefaultClusterDef();
    double edge = 1.1 * heap->edge;
    def.law = "granular";
    def.partition = heap->partition;
    def.partitionInterval = heap->partitionInterval;
    def.step = 2e-3;
    def.radiusMax = 0.5;
    def.margin = 0.2;
    def.sweeps = 4;
    def.restitution = 0.3;
    def.friction = heap->friction;
    def.gravity = rbMakeVec3(0.0, 0.0, -9.81);
    def.periodicBox = rbMakeVec3(edge, edge, 0.0);
    def.high.z = 1.1 * heap->layers;
    def.wallCount = 1;
    def.walls[0].normal = rbMakeVec3(0.0, 0.0, 1.0);
    rbCluster* cluster = create(ranks, &def);
    int n = heap->edge;
    int count = heap->isEmpty ? 0 : n * n * heap->layers;
    for (int i = rbRanks_GetIndex(ranks); i < count; i += rbRanks_GetCount(ranks)) {
        uint64_t uid = (uint64_t)i;
        rbVec3 place = placeOf(i, n);
        rbClusterSphere sphere = {.uid = uid, .radius = i % 3 == 0 ? 0.4 : 0.5};
        sphere.mass = 4.0 * sphere.radius * sphere.radius * sphere.radius;
        sphere.position = rbSub(rbScale(1.1, place), rbMakeVec3(0.5 * edge, 0.5 * edge, 0.0));
        sphere.velocity = rbScale(0.5, directionOf(uid));
        add(cluster, &sphere);
    }
    return cluster;
}

void rbAdvanceCluster(rbCluster* cluster, int64_t steps)
{
    rbError error = {0};
    if (rbCluster_Advance(cluster, steps, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
}
