#include "contact_experiments.h"

#include "contact_runs.h"
#include "peers/peer_pose.h"

#include <rattleback/broadphase.h>
#include <rattleback/collision.h>
#include <rattleback/joint.h>

#include <math.h>
#include <stdlib.h>

// s of CPU; longer runs are cut short and marked. A part requested alone may run longer.
#define RUN_BUDGET 300.0
#define RUN_BUDGET_ALONE 1800.0

static void addRow(rbBench* bench, const char* name, const char* engine, const char* metric,
                   double value, const char* unit)
{
    rbBenchRow row = {.value = value, .result = "experiment", .errorMax = NAN};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", name);
    (void)snprintf(row.engine, sizeof row.engine, "%s", engine);
    (void)snprintf(row.metric, sizeof row.metric, "%s", metric);
    (void)snprintf(row.unit, sizeof row.unit, "%s", unit);
    rbBench_Record(bench, row);
}

// Our number next to the printed one (NAN: none was printed).
static void addLine(rbBench* bench, const char* name, const char* metric, double ours,
                    double printed, const char* unit)
{
    addRow(bench, name, "rattleback", metric, ours, unit);
    if (isfinite(printed)) {
        addRow(bench, name, "printed", metric, printed, unit);
    }
    if (bench->text == NULL) {
        return;
    }
    (void)fprintf(bench->text, "    %-44s %12.4g %-5s", metric, ours, unit);
    if (isfinite(printed)) {
        (void)fprintf(bench->text, "  printed %.4g", printed);
    }
    (void)fputc('\n', bench->text);
    (void)fflush(bench->text);
}

static void printTitle(const rbBench* bench, const char* title)
{
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %s\n", title);
        (void)fflush(bench->text);
    }
}

static double getBudget(const rbBench* bench)
{
    return bench->only != NULL ? RUN_BUDGET_ALONE : RUN_BUDGET;
}

// The world of a scene, run step by step.
typedef struct rbExperiment {
    rbContactScene scene;
    rbWorld* world;
    rbBodyId* ids;
    double step;
    int64_t stepCount;
    double used; // s of CPU
} rbExperiment;

static bool start(rbExperiment* experiment, const rbContactSettings* settings)
{
    rbError error = {0};
    experiment->ids = rbAlloc((size_t)experiment->scene.bodyCount * sizeof *experiment->ids);
    experiment->world = rbContactScene_CreateWorld(&experiment->scene, experiment->step, settings,
                                                   experiment->ids, &error);
    if (experiment->world == NULL) {
        (void)fprintf(stderr, "rattleback: %s\n", error.message);
    }
    return experiment->world != NULL;
}

static void end(rbExperiment* experiment)
{
    rbDestroyWorld(experiment->world);
    rbFree(experiment->ids, (size_t)experiment->scene.bodyCount * sizeof *experiment->ids);
    rbDestroyContactScene(&experiment->scene);
}

// Runs one step. Returns its time, or NaN and prints a message when the world fails.
static double advance(rbExperiment* experiment)
{
    ++experiment->stepCount;
    double time = rbGetStepTime(experiment->stepCount, experiment->step);
    double begin = rbGetCpuTime();
    rbStepReport report = rbWorld_AdvanceTo(experiment->world, time);
    double duration = rbGetCpuTime() - begin;
    experiment->used += duration;
    if (report.status != RB_STATUS_OK && report.status != RB_STATUS_NUMERICAL) {
        rbError error = rbWorld_GetError(experiment->world);
        (void)fprintf(stderr, "rattleback: %s\n", error.message);
        return NAN;
    }
    return duration;
}

// Sums over steps.
typedef struct rbSeries {
    double sum;
    double most;
    int64_t count;
} rbSeries;

static void note(rbSeries* series, double value)
{
    series->sum += value;
    series->most = fmax(series->most, value);
    ++series->count;
}

static double getMean(const rbSeries* series)
{
    return series->count > 0 ? series->sum / (double)series->count : 0.0;
}

// --------------------------------------------------------------------------------------------

// A method to find contacts. The two routes of the original: V-Clip walks over features, SOLID is
// GJK.
typedef struct rbRoute {
    const char* name;
    rbPairMethod method;
    double printed; // s, for a collision
    // sums of time over collisions, for a straight line through the steps
    double sums[5]; // n, t, n n, n t, t t
    int64_t count;
    rbSeries collisions;
    rbSeries points;
    double busiest; // s, of the step with the most collisions
} rbRoute;

typedef struct rbDetection {
    rbExperiment experiment;
    rbBroadPhase* broad;
    rbBounds* boxes;
    rbTransform* places;
    rbIdList pairs;
    void* scratch;
    // Pairs in contact, and pairs for which the two routes found different numbers of points:
    // separated pairs, where both must agree, and overlapping pairs, where a walk over features
    // only estimates.
    int64_t contacts[2];
    int64_t differences[2];
} rbDetection;

#define ROUTE_COUNT 2

// All three phases: boxes, near pairs, contacts. Writes the number of points of each near pair to
// counts, minus 100 where the bodies overlap.
static void detect(rbDetection* detection, rbRoute* route, signed char* counts, int capacity)
{
    const rbContactScene* scene = &detection->experiment.scene;
    int collisions = 0;
    int points = 0;
    double begin = rbGetCpuTime();
    for (int i = 0; i < scene->bodyCount; ++i) {
        const rbGeometry* geometry = scene->colliders[scene->bodies[i].collider].ours;
        detection->boxes[i] = rbGeometry_GetBounds(geometry, detection->places[i]);
    }
    rbBroadPhase_PlaceAll(detection->broad, detection->boxes, scene->bodyCount);
    rbBroadPhase_FindPairs(detection->broad, &detection->pairs);
    for (int k = 0; 2 * k + 1 < detection->pairs.count; ++k) {
        const int* pair = &detection->pairs.ids[2 * (size_t)k];
        int a = pair[0];
        int b = pair[1];
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = scene->colliders[scene->bodies[a].collider].ours;
        input.geometryB = scene->colliders[scene->bodies[b].collider].ours;
        input.transformBtoA = rbInvMulTransforms(detection->places[a], detection->places[b]);
        input.method = route->method;
        rbManifold manifold = {0};
        rbContactList list = {.manifolds = &manifold, .capacity = 1};
        (void)rbFindContacts(&input, 1e-4, NULL, detection->scratch, &list, NULL);
        int found = list.count > 0 ? manifold.count : 0;
        collisions += found > 0 ? 1 : 0;
        points += found;
        if (k < capacity) {
            bool isOverlap = false;
            for (int i = 0; i < found; ++i) {
                isOverlap = isOverlap || manifold.points[i].distance < 0.0;
            }
            counts[k] = (signed char)(isOverlap ? found - 100 : found);
        }
    }
    double time = rbGetCpuTime() - begin;
    const double terms[5] = {collisions, time, (double)collisions * collisions, collisions * time,
                             time * time};
    for (int i = 0; i < 5; ++i) {
        route->sums[i] += terms[i];
    }
    ++route->count;
    if (collisions > route->collisions.most) {
        route->busiest = time;
    }
    note(&route->collisions, collisions);
    note(&route->points, points);
}

static void detectStep(rbDetection* detection, rbRoute routes[ROUTE_COUNT],
                       signed char* counts[ROUTE_COUNT], int capacity)
{
    const rbExperiment* experiment = &detection->experiment;
    for (int i = 0; i < experiment->scene.bodyCount; ++i) {
        detection->places[i] = rbBody_GetState(experiment->world, experiment->ids[i]).transform;
    }
    for (int r = 0; r < ROUTE_COUNT; ++r) {
        detect(detection, &routes[r], counts[r], capacity);
    }
    for (int k = 0; 2 * k + 1 < detection->pairs.count && k < capacity; ++k) {
        int overlap = counts[0][k] < 0 || counts[1][k] < 0 ? 1 : 0;
        bool isContact = counts[0][k] != 0 || counts[1][k] != 0;
        detection->contacts[overlap] += isContact ? 1 : 0;
        detection->differences[overlap] += counts[0][k] != counts[1][k] ? 1 : 0;
    }
}

// Slope of time over collisions, and the fraction of the variance that the line explains.
static void reportRoute(rbBench* bench, const rbRoute* route)
{
    double n = (double)route->count;
    double varianceX = route->sums[2] - route->sums[0] * route->sums[0] / n;
    double varianceY = route->sums[4] - route->sums[1] * route->sums[1] / n;
    double covariance = route->sums[3] - route->sums[0] * route->sums[1] / n;
    double slope = varianceX > 0.0 ? covariance / varianceX : NAN;
    double explained =
        varianceX * varianceY > 0.0 ? covariance * covariance / (varianceX * varianceY) : NAN;
    printTitle(bench, route->name);
    addLine(bench, route->name, "time for a further collision", 1e3 * slope, 1e3 * route->printed,
            "ms");
    addLine(bench, route->name, "variance explained by a line", explained, NAN, "");
    addLine(bench, route->name, "most collisions in a step", route->collisions.most, 500.0, "");
    addLine(bench, route->name, "most points in a step", route->points.most, 1000.0, "");
    addLine(bench, route->name, "time of the busiest step", 1e3 * route->busiest, 25.0, "ms");
}

void rbRunDetectionExperiment(rbBench* bench)
{
    rbDetection detection = {.experiment = {.scene = rbMakeCubesScene(10), .step = 0.01}};
    rbContactSettings settings = rbDefaultContactSettings();
    settings.substeps = 5;
    settings.sweepsMax = 10;
    printTitle(bench, "X-11: 1000 cubes fall onto the floor, detection timed alone in every step");
    rbExperiment* experiment = &detection.experiment;
    if (!start(experiment, &settings)) {
        end(experiment);
        return;
    }
    size_t bodies = (size_t)experiment->scene.bodyCount;
    enum {
        PAIRS_MAX = 1 << 16
    };
    detection.boxes = rbAlloc(bodies * sizeof *detection.boxes);
    detection.places = rbAlloc(bodies * sizeof *detection.places);
    detection.scratch = rbAlloc(rbGetSeparationScratchSize());
    detection.broad = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
    rbRoute routes[ROUTE_COUNT] = {
        {.name = "X-11 features (V-Clip)",
         .method = rbPairMethod_Find("features"),
         .printed = 47e-6},
        {.name = "X-11 iterative (SOLID)", .method = RB_PAIR_ITERATIVE, .printed = 49e-6},
    };
    signed char* counts[ROUTE_COUNT] = {rbAlloc(PAIRS_MAX), rbAlloc(PAIRS_MAX)};
    int stepCount = bench->isQuick ? 20 : 300;
    for (int i = 0; i < stepCount && !isnan(advance(experiment)); ++i) {
        rbBench_ShowProgress(bench, "X-11");
        detectStep(&detection, routes, counts, PAIRS_MAX);
    }
    rbBench_ShowProgress(bench, NULL);
    for (int r = 0; r < ROUTE_COUNT; ++r) {
        reportRoute(bench, &routes[r]);
        rbFree(counts[r], PAIRS_MAX);
    }
    static const char* const places[2][2] = {
        {"pairs in contact, apart", "of these with different points"},
        {"pairs in overlap", "of these with different points (estimates)"}};
    for (int k = 0; k < 2; ++k) {
        addLine(bench, "X-11", places[k][0], (double)detection.contacts[k], NAN, "");
        addLine(bench, "X-11", places[k][1], (double)detection.differences[k], NAN, "");
    }
    rbDestroyBroadPhase(detection.broad);
    rbIdList_Free(&detection.pairs);
    rbFree(detection.scratch, rbGetSeparationScratchSize());
    rbFree(detection.places, bodies * sizeof *detection.places);
    rbFree(detection.boxes, bodies * sizeof *detection.boxes);
    end(experiment);
}

// --------------------------------------------------------------------------------------------

void rbRunFunnelExperiment(rbBench* bench)
{
    static const char name[] = "X-13 funnel";
    rbExperiment experiment = {.scene = rbMakeFunnelScene(bench->isQuick ? 3 : 10), .step = 1e-3};
    rbContactSettings settings = rbDefaultContactSettings();
    settings.law = RB_IMPACT_NEWTON;
    settings.tolerance = 1e-4;
    settings.velocityTolerance = 0.01;
    printTitle(bench, "X-13: 1000 cubes through a funnel of 8 m, e 0.8, mu 0.05, 1 ms, 8 s");
    if (!start(&experiment, &settings)) {
        end(&experiment);
        return;
    }
    rbSeries collisions = {0};
    rbSeries points = {0};
    rbSeries collisionTimes = {0};
    rbSeries contactTimes = {0};
    rbContactStatistics before = {0};
    int stepCount = bench->isQuick ? 2000 : 8000;
    for (int i = 0; i < stepCount && experiment.used < getBudget(bench); ++i) {
        if (isnan(advance(&experiment))) {
            break;
        }
        rbContactStatistics statistics = rbWorld_GetContactStatistics(experiment.world);
        note(&collisions, (double)(statistics.collisions - before.collisions));
        note(&points, statistics.contactCount);
        note(&collisionTimes, statistics.collisionTime - before.collisionTime);
        note(&contactTimes, statistics.contactTime - before.contactTime);
        before = statistics;
        if (i % 100 == 0) {
            char text[64];
            (void)snprintf(text, sizeof text, "X-13, %.1f s of 8", 1e-3 * i);
            rbBench_ShowProgress(bench, text);
        }
    }
    rbBench_ShowProgress(bench, NULL);
    rbContactStatistics all = rbWorld_GetContactStatistics(experiment.world);
    addLine(bench, name, "simulated", rbWorld_GetTime(experiment.world), 8.0, "s");
    addLine(bench, name, "most collisions in a step", collisions.most, 332.0, "");
    addLine(bench, name, "collisions a step", getMean(&collisions), 38.0, "");
    addLine(bench, name, "most points of contact in a step", points.most, 2813.0, "");
    addLine(bench, name, "points of contact a step", getMean(&points), 879.0, "");
    addLine(bench, name, "longest solving of collisions", 1e3 * collisionTimes.most, 61.02, "ms");
    addLine(bench, name, "solving of collisions a step", 1e3 * getMean(&collisionTimes), 2.02,
            "ms");
    addLine(bench, name, "longest solving of contacts", 1e3 * contactTimes.most, 69.87, "ms");
    addLine(bench, name, "solving of contacts a step", 1e3 * getMean(&contactTimes), 10.02, "ms");
    addLine(bench, name, "time of all steps", experiment.used, 96.0, "s");
    addLine(bench, name, "deepest overlap", all.deepest, NAN, "m");
    addLine(bench, name, "steps above the tolerance", (double)all.unmetSteps, NAN, "");
    end(&experiment);
}

// --------------------------------------------------------------------------------------------

#define STRIKE_TIME 1.5 // s: the ball arrives at 1.67 s
#define BRICKS_MAX 300
#define FALLEN 1.0 // m, from its place: the length of a brick

// s: sampled after the strike
static const double looks[] = {1.8, 2.0, 2.5, 3.0, 4.0, 5.0};
#define LOOK_COUNT ((int)(sizeof looks / sizeof looks[0]))

typedef struct rbWallLook {
    int fallenCount;           // bricks farther than their length from their initial places
    bool isFallen[BRICKS_MAX]; // each of them
    double height;             // m, mean of the bricks
} rbWallLook;

typedef struct rbWallRun {
    const char* name;
    int shockAfter;
    double printed; // s
    double until;   // s: where the other run was cut short; used is the time until then
    // results
    double used;                // s of CPU
    double usedBefore;          // s, until STRIKE_TIME
    double movedBefore;         // m, largest of a brick at STRIKE_TIME
    double deepestBefore;       // m, until then
    int64_t unmetBefore;        // steps
    int pointsBefore;           // of contact
    int fallenCount;            // bricks, at the end
    double heights[BRICKS_MAX]; // m, of the bricks at the end, ascending
    int brickCount;
    rbWallLook looks[LOOK_COUNT];
    double energy;  // J, lost
    double deepest; // m
    double time;    // s
    int64_t unmetSteps;
} rbWallRun;

// The ball on its rod.
static bool hang(rbExperiment* experiment)
{
    const rbContactScene* scene = &experiment->scene;
    const double* center = scene->bodies[scene->movingCount - 1].pose.position;
    rbJointDef def = rbDefaultJointDef();
    def.type = RB_JOINT_BALL;
    def.bodyB = experiment->ids[scene->movingCount - 1];
    def.anchorA = rbMakeVec3(rbWallPivot[0], rbWallPivot[1], rbWallPivot[2]);
    def.anchorB = rbSub(def.anchorA, rbMakeVec3(center[0], center[1], center[2]));
    rbError error = {0};
    bool isDone =
        rbJoint_IsValid(experiment->world, rbCreateJoint(experiment->world, &def, &error));
    if (!isDone) {
        (void)fprintf(stderr, "rattleback: %s\n", error.message);
    }
    return isDone;
}

// Displacement of a brick from its start.
static double getWay(const rbExperiment* experiment, int brick)
{
    const double* p = experiment->scene.bodies[brick].pose.position;
    rbVec3 now = rbBody_GetState(experiment->world, experiment->ids[brick]).transform.p;
    return rbDistance(now, rbMakeVec3(p[0], p[1], p[2]));
}

static double getLargestWay(const rbExperiment* experiment)
{
    double most = 0.0;
    for (int i = 0; i < experiment->scene.movingCount - 1; ++i) {
        most = fmax(most, getWay(experiment, i));
    }
    return most;
}

static int compareHeights(const void* a, const void* b)
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

// Measures the current state of the run.
static void noteWall(const rbExperiment* experiment, rbWallRun* run)
{
    run->brickCount = experiment->scene.movingCount - 1;
    for (int i = 0; i < run->brickCount && i < BRICKS_MAX; ++i) {
        run->fallenCount += getWay(experiment, i) > FALLEN ? 1 : 0;
        run->heights[i] = rbBody_GetState(experiment->world, experiment->ids[i]).transform.p.y;
    }
    qsort(run->heights, (size_t)run->brickCount, sizeof run->heights[0], compareHeights);
    rbContactStatistics statistics = rbWorld_GetContactStatistics(experiment->world);
    rbLedger ledger = rbWorld_GetLedger(experiment->world);
    run->energy = ledger.impactWork + ledger.frictionWork + ledger.restWork;
    run->used = experiment->used;
    run->deepest = statistics.deepest;
    run->unmetSteps = statistics.unmetSteps;
    run->time = rbWorld_GetTime(experiment->world);
}

static void lookAtWall(const rbExperiment* experiment, rbWallLook* look)
{
    int count = experiment->scene.movingCount - 1;
    double sum = 0.0;
    for (int i = 0; i < count && i < BRICKS_MAX; ++i) {
        look->isFallen[i] = getWay(experiment, i) > FALLEN;
        look->fallenCount += look->isFallen[i] ? 1 : 0;
        sum += rbBody_GetState(experiment->world, experiment->ids[i]).transform.p.y;
    }
    look->height = sum / count;
}

static void noteStanding(const rbExperiment* experiment, rbWallRun* run)
{
    rbContactStatistics statistics = rbWorld_GetContactStatistics(experiment->world);
    run->movedBefore = getLargestWay(experiment);
    run->pointsBefore = statistics.contactCount;
    run->deepestBefore = statistics.deepest;
    run->unmetBefore = statistics.unmetSteps;
    run->usedBefore = experiment->used;
}

static void runWall(rbBench* bench, rbWallRun* run)
{
    rbContactSettings settings = rbDefaultContactSettings();
    settings.law = RB_IMPACT_NEWTON;
    settings.tolerance = 1e-5;
    settings.velocityTolerance = 1e-3;
    settings.shockAfter = run->shockAfter;
    int courses = bench->isQuick ? 6 : 24;
    rbExperiment experiment = {.scene = rbMakeWallScene(courses, settings.shell), .step = 0.005};
    if (!start(&experiment, &settings) || !hang(&experiment)) {
        end(&experiment);
        return;
    }
    // Makes the rod as exact as the contacts.
    rbStepSettings step = rbWorld_GetStepSettings(experiment.world);
    step.tolerance = settings.tolerance;
    step.velocityTolerance = settings.velocityTolerance;
    rbError error = {0};
    if (rbWorld_SetStepSettings(experiment.world, &step, &error) != RB_STATUS_OK) {
        (void)fprintf(stderr, "rattleback: %s\n", error.message);
    }
    int strikeStep = (int)lround(STRIKE_TIME / experiment.step);
    int stepCount = bench->isQuick ? 10 : (int)lround(run->until / experiment.step);
    for (int i = 0; i < stepCount && experiment.used < getBudget(bench); ++i) {
        if (i % 20 == 0) {
            rbBench_ShowProgress(bench, run->name);
        }
        if (isnan(advance(&experiment))) {
            break;
        }
        for (int k = 0; k < LOOK_COUNT; ++k) {
            if (i + 1 == (int)lround(looks[k] / experiment.step)) {
                lookAtWall(&experiment, &run->looks[k]);
            }
        }
        if (i < strikeStep) { // the last sample counts, also in a run that is cut short
            noteStanding(&experiment, run);
        }
    }
    rbBench_ShowProgress(bench, NULL);
    noteWall(&experiment, run);
    end(&experiment);
}

// Mean difference of brick heights of two runs: the lowest brick of one is compared with the lowest
// of the other, and so on.
static double compareWalls(const rbWallRun* a, const rbWallRun* b)
{
    double sum = 0.0;
    for (int i = 0; i < a->brickCount; ++i) {
        sum += fabs(a->heights[i] - b->heights[i]);
    }
    return a->brickCount > 0 ? sum / a->brickCount : 0.0;
}

// Whether the walls fall alike: the number of bricks that have fallen in only one of two runs.
static void compareLooks(rbBench* bench, const rbWallRun* a, const rbWallRun* b)
{
    for (int k = 0; k < LOOK_COUNT && looks[k] <= fmin(a->time, b->time) + 1e-9; ++k) {
        int count = 0;
        for (int i = 0; i < a->brickCount && i < BRICKS_MAX; ++i) {
            count += a->looks[k].isFallen[i] != b->looks[k].isFallen[i] ? 1 : 0;
        }
        char name[48];
        (void)snprintf(name, sizeof name, "bricks fallen in one run only at %.1f s", looks[k]);
        addLine(bench, "X-14 wall", name, count, NAN, "");
    }
}

void rbRunWallExperiment(rbBench* bench)
{
    rbWallRun runs[2] = {
        {.name = "X-14 wall, full iteration", .printed = 998.0, .until = 5.0},
        {.name = "X-14 wall, 10 sweeps and shock propagation", .shockAfter = 10, .printed = 91.0},
    };
    for (int i = 0; i < 2; ++i) {
        rbWallRun* run = &runs[i];
        run->until = i == 0 ? 5.0 : runs[0].time;
        runWall(bench, run);
        printTitle(bench, run->name);
        addLine(bench, run->name, "simulated", run->time, 5.0, "s");
        addLine(bench, run->name, "time of all steps", run->used, run->printed, "s");
        addLine(bench, run->name, "time of the first 1.5 s", run->usedBefore, NAN, "s");
        addLine(bench, run->name, "points of contact before the strike", run->pointsBefore, 2000.0,
                "");
        addLine(bench, run->name, "largest way of a brick before the strike", run->movedBefore, NAN,
                "m");
        addLine(bench, run->name, "deepest overlap before the strike", run->deepestBefore, NAN,
                "m");
        addLine(bench, run->name, "steps above the tolerance until then", (double)run->unmetBefore,
                NAN, "");
        addLine(bench, run->name, "bricks farther than 1 m at the end", run->fallenCount, NAN, "");
        for (int k = 0; k < LOOK_COUNT && looks[k] <= run->time + 1e-9; ++k) {
            char name[48];
            (void)snprintf(name, sizeof name, "bricks farther than 1 m at %.1f s", looks[k]);
            addLine(bench, run->name, name, run->looks[k].fallenCount, NAN, "");
            (void)snprintf(name, sizeof name, "mean height of the bricks at %.1f s", looks[k]);
            addLine(bench, run->name, name, run->looks[k].height, NAN, "m");
        }
        addLine(bench, run->name, "energy taken by contacts", run->energy, NAN, "J");
        addLine(bench, run->name, "deepest overlap", run->deepest, NAN, "m");
        addLine(bench, run->name, "steps above the tolerance", (double)run->unmetSteps, NAN, "");
    }
    addLine(bench, "X-14 wall", "full iteration to shock propagation, time",
            runs[0].used / runs[1].used, 998.0 / 91.0, "");
    addLine(bench, "X-14 wall", "the same, until 1.5 s", runs[0].usedBefore / runs[1].usedBefore,
            NAN, "");
    addLine(bench, "X-14 wall", "mean difference of sorted heights",
            compareWalls(&runs[0], &runs[1]), NAN, "m");
    compareLooks(bench, &runs[0], &runs[1]);
}
