// The event engine: resolved collisions per second of gases of spheres, boxes and meshes, compared
// with the yardstick of spheres, the cost of an event among idle bodies, distance queries per
// collision.
//
// A gas first runs for some collisions per body; then windows of time are run, and the fastest
// counts.
#include "bench.h"
#include "gas.h"
#include "sphere_yardstick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOWS 5
#define WINDOW_MIN 20000 // collisions

static void addRow(rbBench* bench, const char* name, const char* metric, double value,
                   const char* unit)
{
    rbBenchRow row = {.engine = "rattleback", .value = value, .result = "event", .errorMax = NAN};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", name);
    (void)snprintf(row.metric, sizeof row.metric, "%s", metric);
    (void)snprintf(row.unit, sizeof row.unit, "%s", unit);
    rbBench_Add(bench, row);
}

static void printGoal(const rbBench* bench, const char* text, bool isReached)
{
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "    goal: %s: %s\n", text, isReached ? "reached" : "missed");
    }
}

static void printError(const rbBench* bench, const char* name, const rbError* error)
{
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %s: %s\n", name, error->message);
    }
}

// The work done in one window of time.
typedef struct Window {
    double seconds; // CPU
    double collisions;
    double microcollisions;
    double measurements;
    double bounds;
    double renewals;
} Window;

static double perCollision(const Window* window)
{
    return window->collisions > 0.0 ? window->seconds / window->collisions : INFINITY;
}

static Window runWindow(rbWorld* world, double duration)
{
    rbEventStatistics before = rbWorld_GetEventStatistics(world);
    double start = rbGetCpuTime();
    rbStatus status = rbWorld_Advance(world, duration).status;
    Window window = {.seconds = rbGetCpuTime() - start};
    rbEventStatistics after = rbWorld_GetEventStatistics(world);
    window.collisions = (double)(after.collisions - before.collisions);
    window.microcollisions = (double)(after.microcollisions - before.microcollisions);
    window.measurements = (double)(after.measurements - before.measurements);
    window.bounds = (double)(after.bounds - before.bounds);
    window.renewals = (double)(after.renewals - before.renewals);
    if (status != RB_STATUS_OK) {
        window.seconds = NAN;
    }
    rbWorld_ClearEvents(world);
    return window;
}

static Window runWindows(rbWorld* world, double duration, int count)
{
    Window best = {.seconds = INFINITY};
    for (int i = 0; i < count; ++i) {
        Window window = runWindow(world, duration);
        if (i == 0 || perCollision(&window) < perCollision(&best)) {
            best = window;
        }
    }
    return best;
}

// ----------------------------------------------------------------------------------------- spheres

// The fastest window of a gas; no collisions if it could not be created.
static Window timeSpheres(rbBench* bench, int edge, bool isJournalOn)
{
    rbError error = {0};
    rbHardGasDef def = rbDefaultHardGasDef();
    def.edge = edge;
    def.event.isJournalOff = !isJournalOn;
    char name[64];
    (void)snprintf(name, sizeof name, "%d spheres, journal %s", edge * edge * edge,
                   isJournalOn ? "on" : "off");
    rbBench_ShowProgress(bench, name);
    rbHardGas gas = rbCreateHardGas(&def, &error);
    if (gas.world == NULL) {
        printError(bench, name, &error);
        return (Window){.seconds = INFINITY};
    }
    double duration = rbHardGas_GetTimeOfCollisions(&gas, 1.0, 4.0);
    (void)runWindow(gas.world, (bench->isQuick ? 1.0 : 4.0) * duration);
    // At least half of WINDOW_MIN collisions, and four of each body: the output at the end of a
    // window visits every body.
    double stretch = fmax(4.0, (double)WINDOW_MIN / gas.count);
    Window best = runWindows(gas.world, stretch * duration, bench->isQuick ? 1 : WINDOWS);
    rbDestroyHardGas(&gas);
    rbBench_ShowProgress(bench, NULL);
    return best;
}

// Our rate and that of the yardstick, with the journal off and on. They take turns, and the fastest
// of all counts: other load on the machine only ever adds time.
static double compareSpheres(rbBench* bench, int edge, int turns)
{
    Window best[2] = {{.seconds = INFINITY}, {.seconds = INFINITY}};
    double yardstick = 0.0;
    for (int turn = 0; turn < turns; ++turn) {
        for (int journal = 0; journal < 2; ++journal) {
            Window window = timeSpheres(bench, edge, journal != 0);
            if (perCollision(&window) < perCollision(&best[journal])) {
                best[journal] = window;
            }
        }
        yardstick =
            fmax(yardstick, rbTimeYardstick(edge, bench->isQuick ? 1 : WINDOWS, WINDOW_MIN));
    }
    char name[64];
    (void)snprintf(name, sizeof name, "%d spheres", edge * edge * edge);
    addRow(bench, name, "predictions per collision", best[0].bounds / best[0].collisions, "1");
    addRow(bench, name, "regions per collision", best[0].renewals / best[0].collisions, "1");
    addRow(bench, name, "collisions per second, journal off", 1.0 / perCollision(&best[0]), "1/s");
    addRow(bench, name, "collisions per second, journal on", 1.0 / perCollision(&best[1]), "1/s");
    addRow(bench, name, "collisions per second, yardstick", yardstick, "1/s");
    double ours[2] = {1.0 / perCollision(&best[0]), 1.0 / perCollision(&best[1])};
    addRow(bench, name, "rate over yardstick, journal off", ours[0] / yardstick, "1");
    addRow(bench, name, "rate over yardstick, journal on", ours[1] / yardstick, "1");
    return ours[0];
}

static void timeGases(rbBench* bench)
{
    static const int edges[] = {10, 22, 46};
    double rates[3] = {0.0};
    int count = bench->isQuick ? 1 : 3;
    for (int i = 0; i < count; ++i) {
        rates[i] = compareSpheres(bench, edges[i], bench->isQuick || i == 2 ? 1 : 5);
    }
    if (count == 3) {
        addRow(bench, "spheres, journal off", "rate, 1e3 over 1e5", rates[0] / rates[2], "1");
        printGoal(bench, "at least 200,000 collisions per second of 1e4 spheres",
                  rates[1] >= 200000.0);
        printGoal(bench, "400,000 collisions per second of 1e4 spheres", rates[1] >= 400000.0);
        printGoal(bench, "less than 3 times slower for 1e5 than for 1e3 spheres",
                  rates[0] < 3.0 * rates[2]);
    }
}

// -------------------------------------------------------------------------------------------- idle

static rbBodyId addSphere(rbWorld* world, rbGeometryId geometry, rbBodyType type, rbVec3 position,
                          rbVec3 velocity)
{
    rbBodyDef body = rbDefaultBodyDef();
    body.type = type;
    body.position = position;
    body.linearVelocity = velocity;
    rbBodyId id = rbCreateBody(world, &body, NULL);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = geometry;
    shape.material.restitution = 1.0;
    shape.material.friction = 0.0;
    (void)rbCreateShape(world, id, &shape, NULL);
    return id;
}

// Two balls bounce off each other and off two fixed spheres, all on a line; next to them a grid of
// balls at rest. Returns seconds per collision.
static double timeAmongIdle(rbBench* bench, int idleCount)
{
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.gravity = RB_VEC3_ZERO;
    def.engine = RB_ENGINE_EVENT;
    def.event.isJournalOff = true;
    def.bodyCapacity = idleCount + 4;
    rbWorld* world = rbCreateWorld(&def, &error);
    rbGeometryId sphere = rbWorld_AddGeometry(world, rbCreateSphere(0.5, NULL));
    for (int i = 0; i < 4; ++i) {
        bool isFixed = i == 0 || i == 3;
        rbVec3 velocity = {isFixed ? 0.0 : (i == 1 ? 1.0 : -1.3), 0.0, 0.0};
        (void)addSphere(world, sphere, isFixed ? RB_BODY_STATIC : RB_BODY_DYNAMIC,
                        rbMakeVec3(2.0 * i, 0.0, 0.0), velocity);
    }
    for (int i = 0; i < idleCount; ++i) {
        int layer = i / 2500;
        rbVec3 place = {2.0 * (i % 50), 10.0 + 2.0 * (i / 50 % 50), 2.0 * (layer - 20)};
        (void)addSphere(world, sphere, RB_BODY_DYNAMIC, place, RB_VEC3_ZERO);
    }
    double seconds = 0.0;
    if (rbWorld_Prepare(world, &error) == RB_STATUS_OK) {
        (void)runWindow(world, 1000.0);
        // Long enough that the single output at its end, which visits every body, does not count.
        Window best = runWindows(world, bench->isQuick ? 1e3 : 2e5, bench->isQuick ? 1 : WINDOWS);
        seconds = perCollision(&best);
    } else {
        printError(bench, "idle bodies", &error);
    }
    rbDestroyWorld(world);
    char name[64];
    (void)snprintf(name, sizeof name, "two balls among %d idle", idleCount);
    addRow(bench, name, "time per collision", 1e9 * seconds, "ns");
    return seconds;
}

static void timeIdle(rbBench* bench)
{
    double few = timeAmongIdle(bench, 10);
    double many = timeAmongIdle(bench, bench->isQuick ? 1000 : 100000);
    addRow(bench, "two balls among idle", "cost, among many over few", many / few, "1");
    printGoal(bench, "idle bodies cost nothing (ratio below 1.5)", many < 1.5 * few);
}

// ------------------------------------------------------------------------------------ other shapes

#define TORUS_RING 24
#define TORUS_TUBE 12

static rbGeometry* makeTorus(double ring, double tube)
{
    rbVec3 vertices[TORUS_RING * TORUS_TUBE];
    int indices[TORUS_RING * TORUS_TUBE * 6];
    int* index = indices;
    for (int i = 0; i < TORUS_RING; ++i) {
        double u = 2.0 * RB_PI * i / TORUS_RING;
        int next = (i + 1) % TORUS_RING;
        for (int k = 0; k < TORUS_TUBE; ++k) {
            double v = 2.0 * RB_PI * k / TORUS_TUBE;
            double r = ring + tube * cos(v);
            vertices[i * TORUS_TUBE + k] = rbMakeVec3(r * cos(u), r * sin(u), tube * sin(v));
            int up = (k + 1) % TORUS_TUBE;
            const int corners[6] = {i * TORUS_TUBE + k,     next * TORUS_TUBE + k,
                                    next * TORUS_TUBE + up, i * TORUS_TUBE + k,
                                    next * TORUS_TUBE + up, i * TORUS_TUBE + up};
            for (int c = 0; c < 6; ++c) {
                *index++ = corners[c];
            }
        }
    }
    rbMeshDef def = {.vertices = vertices,
                     .vertexCount = TORUS_RING * TORUS_TUBE,
                     .indices = indices,
                     .faceCount = 2 * TORUS_RING * TORUS_TUBE};
    return rbCreateMesh(&def, NULL);
}

// A gas of tumbling bodies, elastic, with friction. Collisions are rare at these fractions, so
// windows are given as flight time.
static void timeShapes(rbBench* bench, const char* name, rbHardGasDef def, double duration)
{
    rbError error = {0};
    def.spin = 2.0;
    def.friction = 0.2;
    rbBench_ShowProgress(bench, name);
    rbHardGas gas = rbCreateHardGas(&def, &error);
    if (gas.world == NULL) {
        printError(bench, name, &error);
        return;
    }
    (void)runWindow(gas.world, bench->isQuick ? 0.2 : 1.0);
    Window best = runWindows(gas.world, bench->isQuick ? 0.2 : duration, bench->isQuick ? 1 : 3);
    rbDestroyHardGas(&gas);
    rbBench_ShowProgress(bench, NULL);
    addRow(bench, name, "collisions per second", 1.0 / perCollision(&best), "1/s");
    addRow(bench, name, "distance queries per collision", best.measurements / best.collisions, "1");
    addRow(bench, name, "predictions per collision", best.bounds / best.collisions, "1");
}

static void timeOthers(rbBench* bench)
{
    rbHardGasDef boxes = rbDefaultHardGasDef();
    boxes.geometry = rbCreateBox(rbMakeVec3(0.5, 0.4, 0.3), NULL);
    boxes.fraction = 0.2;
    boxes.edge = bench->isQuick ? 4 : 10;
    timeShapes(bench, bench->isQuick ? "64 boxes" : "1000 boxes", boxes, 0.5);
    rbHardGasDef rings = rbDefaultHardGasDef();
    rings.geometry = makeTorus(0.5, 0.2);
    rings.fraction = 0.1;
    rings.edge = bench->isQuick ? 3 : 6;
    timeShapes(bench, bench->isQuick ? "27 torus meshes" : "216 torus meshes", rings, 1.0);
}

// --------------------------------------------------------------------------------------------- top

static void addFloor(rbWorld* world, double restitution, double friction)
{
    rbBodyDef body = rbDefaultBodyDef();
    body.name = "floor";
    body.type = RB_BODY_STATIC;
    rbBodyId id = rbCreateBody(world, &body, NULL);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry =
        rbWorld_AddGeometry(world, rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL));
    shape.material.restitution = restitution;
    shape.material.friction = friction;
    (void)rbCreateShape(world, id, &shape, NULL);
}

#define TOP_BANDS 50
#define TOP_SEGMENTS 52

// A sphere as a mesh with 2 segments (bands - 1) = 5096 faces.
static rbGeometry* makeBallMesh(double radius)
{
    const size_t vertexBytes = (2 + (TOP_BANDS - 1) * TOP_SEGMENTS) * sizeof(rbVec3);
    const size_t indexBytes = (size_t)6 * (TOP_BANDS - 1) * TOP_SEGMENTS * sizeof(int);
    rbVec3* vertices = rbAlloc(vertexBytes);
    int* indices = rbAlloc(indexBytes);
    int south = (TOP_BANDS - 1) * TOP_SEGMENTS;
    int count = 0;
    for (int i = 1; i < TOP_BANDS; ++i) {
        double theta = RB_PI * i / TOP_BANDS;
        for (int k = 0; k < TOP_SEGMENTS; ++k) {
            double phi = 2.0 * RB_PI * k / TOP_SEGMENTS;
            vertices[(i - 1) * TOP_SEGMENTS + k] =
                rbMakeVec3(radius * sin(theta) * cos(phi), radius * sin(theta) * sin(phi),
                           radius * cos(theta));
        }
    }
    vertices[south] = rbMakeVec3(0.0, 0.0, -radius);
    vertices[south + 1] = rbMakeVec3(0.0, 0.0, radius);
    for (int k = 0; k < TOP_SEGMENTS; ++k) {
        int next = (k + 1) % TOP_SEGMENTS;
        int last = south - TOP_SEGMENTS;
        const int caps[6] = {south + 1, k, next, last + k, south, last + next};
        for (int c = 0; c < 6; ++c) {
            indices[count++] = caps[c];
        }
        for (int i = 0; i + 2 < TOP_BANDS; ++i) {
            int upper = i * TOP_SEGMENTS;
            int lower = upper + TOP_SEGMENTS;
            const int quad[6] = {upper + k, lower + k,    lower + next,
                                 upper + k, lower + next, upper + next};
            for (int c = 0; c < 6; ++c) {
                indices[count++] = quad[c];
            }
        }
    }
    rbMeshDef def = {
        .vertices = vertices, .vertexCount = south + 2, .indices = indices, .faceCount = count / 3};
    rbGeometry* mesh = rbCreateMesh(&def, NULL);
    rbFree(vertices, vertexBytes);
    rbFree(indices, indexBytes);
    return mesh;
}

// The tippe top of E-01 on its floor.
static void countTopQueries(rbBench* bench, const char* name, rbGeometry* geometry)
{
    const double radius = 0.02;
    const double mass = 0.02;
    const double offset = 0.006;
    const double tilt = 0.1;
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_EVENT;
    def.event.isJournalOff = true;
    rbWorld* world = rbCreateWorld(&def, &error);
    addFloor(world, 0.0, 0.5);
    rbMassProperties properties = {.mass = mass, .center = {0.0, 0.0, -offset}};
    properties.inertia.xx = 131.0 / 350.0 * mass * radius * radius;
    properties.inertia.yy = properties.inertia.xx;
    properties.inertia.zz = 0.4 * mass * radius * radius;
    rbBodyDef body = rbDefaultBodyDef();
    body.position = rbMakeVec3(0.0, 0.0, radius);
    body.mass = &properties;
    body.orientation = (rbQuat){cos(0.5 * tilt), 0.0, sin(0.5 * tilt), 0.0};
    body.angularVelocity = rbMakeVec3(0.0, 0.0, 150.0);
    rbBodyId id = rbCreateBody(world, &body, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    shape.material.restitution = 0.0;
    (void)rbCreateShape(world, id, &shape, &error);
    (void)runWindow(world, 0.05);
    Window window = runWindow(world, bench->isQuick ? 0.02 : 0.2);
    rbDestroyWorld(world);
    double queries = window.measurements / window.microcollisions;
    addRow(bench, name, "distance queries per microcollision", queries, "1");
    addRow(bench, name, "time per microcollision", 1e9 * window.seconds / window.microcollisions,
           "ns");
    printGoal(bench, "at most 20 distance queries per microcollision", queries <= 20.0);
}

// ------------------------------------------------------------------------------------------- coins

// A handful of coins, n of them in a loose heap above the floor (E-11).
static rbWorld* makeCoins(int count, rbEventLoop loop)
{
    rbError error = {0};
    rbRandom random = {3};
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_EVENT;
    def.event.isJournalOff = true;
    def.event.loop = loop;
    rbWorld* world = rbCreateWorld(&def, &error);
    addFloor(world, 0.5, 0.3);
    rbGeometryId coin = rbWorld_AddGeometry(world, rbCreateCylinder(0.0115, 0.001, NULL));
    int edge = (int)ceil(cbrt((double)count) - 1e-9);
    for (int i = 0; i < count; ++i) {
        rbBodyDef body = rbDefaultBodyDef();
        int layer = i / (edge * edge);
        body.position =
            rbMakeVec3(0.026 * (i % edge), 0.026 * (i / edge % edge), 0.03 + 0.026 * layer);
        body.linearVelocity =
            rbScale(0.3, rbMakeVec3(rbRandom_Symmetric(&random), rbRandom_Symmetric(&random),
                                    rbRandom_Symmetric(&random)));
        body.angularVelocity =
            rbScale(20.0, rbMakeVec3(rbRandom_Symmetric(&random), rbRandom_Symmetric(&random),
                                     rbRandom_Symmetric(&random)));
        rbBodyId id = rbCreateBody(world, &body, NULL);
        rbShapeDef shape = rbDefaultShapeDef();
        shape.geometry = coin;
        shape.material = (rbMaterial){.density = 8000.0, .restitution = 0.5, .friction = 0.3};
        (void)rbCreateShape(world, id, &shape, NULL);
    }
    return world;
}

static void countCoinQueries(rbBench* bench, int count, rbEventLoop loop)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%d coins, loop %s", count, rbEventLoop_Name(loop));
    rbBench_ShowProgress(bench, name);
    rbWorld* world = makeCoins(count, loop);
    // the first coins are on the floor after 0.06 s
    Window window = runWindow(world, 0.15);
    double near = 2.0 * rbWorld_GetEventStatistics(world).pairCount / count;
    rbDestroyWorld(world);
    rbBench_ShowProgress(bench, NULL);
    addRow(bench, name, "distance queries per collision", window.measurements / window.collisions,
           "1");
    addRow(bench, name, "predictions per collision", window.bounds / window.collisions, "1");
    addRow(bench, name, "near pairs per coin", near, "1");
    addRow(bench, name, "time per collision", 1e9 * perCollision(&window), "ns");
}

// All loops; loops whose cost per event grows with the world use fewer coins.
static void countCoins(rbBench* bench)
{
    static const int counts[] = {10, 100, 1000};
    for (int loop = 0; loop < rbEventLoop_GetCount(); ++loop) {
        int last = bench->isQuick ? 1 : (loop == RB_LOOP_BODIES ? 3 : 2);
        for (int i = 0; i < last; ++i) {
            countCoinQueries(bench, counts[i], (rbEventLoop)loop);
        }
    }
}

static void countTops(rbBench* bench)
{
    countTopQueries(bench, "tippe top, exact sphere", rbCreateSphere(0.02, NULL));
    countTopQueries(bench, "tippe top, mesh", makeBallMesh(0.02));
}

static const char* const parts[] = {"spheres", "idle", "tops", "coins", "shapes", NULL};

static void run(rbBench* bench)
{
    static void (*const runs[])(rbBench*) = {timeGases, timeIdle, countTops, countCoins,
                                             timeOthers};
    for (int i = 0; parts[i] != NULL; ++i) {
        if (bench->only == NULL || strcmp(bench->only, parts[i]) == 0) {
            runs[i](bench);
        }
    }
}

const rbBenchSuite rbSuiteEvents = {
    .name = "events",
    .parts = parts,
    .help = "event engine: collisions per second, cost among idle bodies, queries per collision",
    .run = run,
};
