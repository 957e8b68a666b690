// Spheres on the ranks of MPI: mpirun -n N rattleback bench cluster, for any number of ranks.
//
// The world is one heap of 2048 spheres that has settled in a box periodic in x and y, repeated in
// both directions: the work of a sphere is the same in all sizes. Strong: a world on all ranks
// against as many independent copies of its share, which run at the same time on the same cores, so
// that memory and clock are shared alike. Weak: the same with a share of constant size. Messages
// are counted, not timed.
#include "base/core/timer.h"
#include "bench.h"

#include <rattleback/cluster.h>

#include <math.h>
#include <stdio.h>

#define EDGE 16
#define LAYERS 8
#define SPACING 1.1
#define SETTLE_STEPS 600
#define PERIOD (EDGE * SPACING)

typedef struct Tile {
    rbClusterSphere* spheres; // on rank 0
    int count;
} Tile;

// A cluster without spheres, periodic in x and y: tiles in both directions.
static rbCluster* create(rbRanks* ranks, int tilesX, int tilesY)
{
    rbError error = {0};
    rbClusterDef def = rbDefaultClusterDef();
    def.law = "granular";
    def.step = 2e-3;
    def.radiusMax = 0.5;
    def.margin = 0.2;
    def.sweeps = 4;
    def.restitution = 0.2;
    def.friction = 0.5;
    def.gravity = rbMakeVec3(0.0, 0.0, -9.81);
    def.periodicBox = rbMakeVec3(tilesX * PERIOD, tilesY * PERIOD, 0.0);
    def.high.z = LAYERS;
    def.wallCount = 1;
    def.walls[0].normal = rbMakeVec3(0.0, 0.0, 1.0);
    rbCluster* cluster = rbCreateCluster(ranks, &def, &error);
    RB_ASSERT(cluster != NULL);
    return cluster;
}

static void advance(rbCluster* cluster, int64_t steps)
{
    rbError error = {0};
    rbStatus status = rbCluster_Advance(cluster, steps, &error);
    RB_ASSERT(status == RB_STATUS_OK);
    (void)status;
}

// The heap of one period, on the ranks given.
static Tile settle(rbRanks* ranks, int64_t steps)
{
    Tile tile = {0};
    rbCluster* cluster = create(ranks, 1, 1);
    for (int i = 0; i < EDGE * EDGE * LAYERS && rbRanks_GetIndex(ranks) == 0; ++i) {
        rbClusterSphere sphere = {.uid = (uint64_t)i, .radius = i % 3 == 0 ? 0.4 : 0.5};
        sphere.mass = 4.0 * sphere.radius * sphere.radius * sphere.radius;
        sphere.position.x = SPACING * (i % EDGE) - 0.5 * PERIOD + 0.02 * (i % 7);
        int line = i / EDGE % EDGE;
        sphere.position.y = SPACING * line - 0.5 * PERIOD + 0.02 * (i % 5);
        int layer = i / (EDGE * EDGE);
        sphere.position.z = 0.5 + SPACING * layer;
        (void)rbCluster_AddSphere(cluster, &sphere, NULL);
    }
    advance(cluster, steps);
    tile.spheres = rbCluster_Gather(cluster, &tile.count);
    rbDestroyCluster(cluster);
    return tile;
}

static rbCluster* createTiled(rbRanks* ranks, const Tile* tile, int tilesX, int tilesY)
{
    rbCluster* cluster = create(ranks, tilesX, tilesY);
    for (int t = 0; t < tilesX * tilesY; ++t) {
        int row = t / tilesX;
        rbVec3 place = rbMakeVec3((t % tilesX - 0.5 * (tilesX - 1)) * PERIOD,
                                  (row - 0.5 * (tilesY - 1)) * PERIOD, 0.0);
        for (int i = 0; i < tile->count; ++i) {
            rbClusterSphere sphere = tile->spheres[i];
            sphere.uid += (uint64_t)t * EDGE * EDGE * LAYERS;
            sphere.position = rbAdd(sphere.position, place);
            (void)rbCluster_AddSphere(cluster, &sphere, NULL);
        }
    }
    return cluster;
}

typedef struct Cost {
    double wall, cpu;                            // s per step
    double messages, bytes, collectives, ghosts; // of all ranks, per step; collectives of a rank
    int64_t bodies;
    uint64_t hash;
} Cost;

static Cost measure(rbRanks* ranks, const Tile* tile, int tilesX, int tilesY, int64_t steps)
{
    rbCluster* cluster = createTiled(ranks, tile, tilesX, tilesY);
    advance(cluster, 5);
    rbClusterReport before = rbCluster_GetReport(cluster);
    rbRanks_Meet(ranks);
    double wall = rbGetWallTime();
    double cpu = rbGetThreadTime();
    advance(cluster, steps);
    cpu = rbGetThreadTime() - cpu;
    rbRanks_Meet(ranks);
    wall = rbGetWallTime() - wall;
    rbClusterReport after = rbCluster_GetReport(cluster);
    rbDestroyCluster(cluster);
    double n = (double)steps;
    return (Cost){.wall = wall / n,
                  .cpu = cpu / n,
                  .messages = (double)(after.messages - before.messages) / n,
                  .bytes = (double)(after.messageBytes - before.messageBytes) / n,
                  .collectives = (double)(after.collectives - before.collectives) / n,
                  .ghosts = (double)after.ghosts,
                  .bodies = after.bodies,
                  .hash = after.hash};
}

static void add(rbBench* bench, const char* caseName, const char* metric, double value,
                const char* unit)
{
    rbBenchRow row = {.engine = "rattleback", .value = value, .errorMax = (double)NAN};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", caseName);
    (void)snprintf(row.metric, sizeof row.metric, "%s", metric);
    (void)snprintf(row.unit, sizeof row.unit, "%s", unit);
    rbBench_Add(bench, row);
}

// The slope of time over size, on one rank.
static void runSizes(rbBench* bench, rbRanks* alone, const Tile* tile)
{
    static const int edges[] = {1, 2, 4, 7};
    int count = bench->isQuick ? 2 : 4;
    double times[4];
    char name[64];
    for (int i = 0; i < count; ++i) {
        Cost cost = measure(alone, tile, edges[i], edges[i], bench->isQuick ? 10 : 40);
        times[i] = cost.cpu;
        (void)snprintf(name, sizeof name, "%lld spheres, 1 rank", (long long)cost.bodies);
        add(bench, name, "CPU time of a step and sphere", 1e6 * cost.cpu / (double)cost.bodies,
            "us");
    }
    double ratio = (double)edges[count - 1] / edges[1 < count - 1 ? 1 : 0];
    add(bench, "sizes, 1 rank", "exponent of the time",
        log(times[count - 1] / times[1 < count - 1 ? 1 : 0]) / (2.0 * log(ratio)), "1");
}

static void runRanks(rbBench* bench, rbRanks* ranks, const Tile* tile, const Tile* own,
                     const char* kind, int share)
{
    int count = rbRanks_GetCount(ranks);
    int64_t steps = bench->isQuick ? 5 : 30;
    char name[64];
    Cost all = measure(ranks, tile, share, count, steps);
    rbRanks* alone = rbRanks_Alone(ranks);
    rbRanks_Meet(ranks);
    Cost copy = measure(alone, own, share, 1, steps);
    rbRanks_Meet(ranks);
    rbCloseRanks(alone);
    (void)snprintf(name, sizeof name, "%s: %lld spheres, %d ranks", kind, (long long)all.bodies,
                   count);
    add(bench, name, "wall time of a step", 1e3 * all.wall, "ms");
    add(bench, name, "the same, independent copies", 1e3 * copy.wall, "ms");
    add(bench, name, "ratio", all.wall / copy.wall, "1");
    add(bench, name, "messages of a step and rank", all.messages / count, "1");
    add(bench, name, "bytes of a step and rank", all.bytes / count, "B");
    add(bench, name, "sums of a step", all.collectives, "1");
    add(bench, name, "ghosts of a rank", all.ghosts / count, "1");
}

static void run(rbBench* bench)
{
    rbError error = {0};
    rbRanks* ranks = rbOpenRanks(&error);
    if (ranks == NULL) {
        (void)fprintf(stderr, "rattleback: %s\n", error.message);
        return;
    }
    int count = rbRanks_GetCount(ranks);
    int64_t steps = bench->isQuick ? 60 : SETTLE_STEPS;
    // every rank settles the same heap: the same bits, and no message
    rbRanks* alone = rbRanks_Alone(ranks);
    Tile own = settle(alone, steps);
    Tile tile = rbRanks_GetIndex(ranks) == 0 ? own : (Tile){0};
    if (count == 1) {
        runSizes(bench, alone, &own);
    } else {
        runRanks(bench, ranks, &tile, &own, "weak", bench->isQuick ? 1 : 5);
        int share = bench->isQuick ? 4 : 24; // tiles of the whole world
        runRanks(bench, ranks, &tile, &own, "strong", share / count > 0 ? share / count : 1);
    }
    rbFreeSpheres(own.spheres, own.count);
    rbCloseRanks(alone);
    rbCloseRanks(ranks);
}

const rbBenchSuite rbSuiteCluster = {
    .name = "cluster",
    .help = "spheres on the ranks of MPI: mpirun -n N rattleback bench cluster",
    .run = run,
};
