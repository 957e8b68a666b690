// rattleback run on the ranks of MPI: a gas of elastic spheres in a periodic box, by steps.
//
// Every rank reads the scene and keeps its share of the bodies; what a scene may contain is said in
// docs/cluster.md. Rank 0 prints.
#include "base/core/hash.h"
#include "base/core/memory.h"
#include "base/core/status.h"
#include "base/core/timer.h"
#include "cli/launcher.h"
#include "cli/progress.h"
#include "cli/scenes.h"

#include <rattleback/cluster.h>
#include <rattleback/scene.h>
#include <rattleback/world.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define SUPPORTED                                                                                 \
    "on ranks of MPI run gases of elastic spheres: engine \"step\", a periodic box in all three " \
    "directions, no gravity, forces or joints, restitution 1, friction 0"

typedef struct RankRun {
    rbRanks* ranks;
    rbScene* scene;
    rbCluster* cluster;
    rbProgress progress;
    double wallTime; // s
} RankRun;

// Options that a run on ranks knows; the others write files or use a world.
static rbStatus checkOptions(const rbArguments* arguments, rbError* error)
{
    static const char* const known[] = {"--duration", "--set",    "--json",
                                        "--quiet",    "--engine", "--module"};
    for (int i = 0; i < arguments->valueCount; ++i) {
        const char* name = arguments->values[i].option->name;
        bool isKnown = false;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k) {
            isKnown = isKnown || strcmp(known[k], name) == 0;
        }
        RB_REFUSE_IF(!isKnown, RB_STATUS_UNSUPPORTED, error,
                     "%s is not supported on ranks of MPI yet; start one process", name);
    }
    RB_INVALID_IF(arguments->wordCount != 1, error, "run needs SCENE on ranks of MPI");
    return RB_STATUS_OK;
}

static rbStatus openScene(RankRun* run, const rbArguments* arguments, rbError* error)
{
    RB_TRY(checkOptions(arguments, error));
    run->scene = rbOpenSceneWithSettings(arguments, error);
    if (run->scene == NULL) {
        return error->status;
    }
    const char* const names[2] = {"duration", "engine"};
    const char* const options[2] = {"--duration", "--engine"};
    for (int i = 0; i < 2; ++i) {
        char assignment[160];
        const char* value = rbArguments_Get(arguments, options[i]);
        (void)snprintf(assignment, sizeof assignment, "%s=%.100s", names[i],
                       value != NULL ? value : "");
        if (value != NULL) {
            RB_TRY(rbScene_Override(run->scene, assignment, error));
        }
    }
    return RB_STATUS_OK;
}

// What concerns the scene as a whole.
static rbStatus checkScene(const rbSceneInfo* info, rbError* error)
{
    rbVec3 box = info->periodicBox;
    RB_REFUSE_IF(info->engineType != RB_ENGINE_STEP, RB_STATUS_UNSUPPORTED, error,
                 "the engine of this scene is \"%s\"; " SUPPORTED, info->engine);
    RB_REFUSE_IF(!(box.x > 0.0 && box.y > 0.0 && box.z > 0.0), RB_STATUS_UNSUPPORTED, error,
                 "this scene has no periodic box in all three directions; " SUPPORTED);
    RB_REFUSE_IF(rbLengthSquared(info->gravity) > 0.0, RB_STATUS_UNSUPPORTED, error,
                 "this scene has gravity; " SUPPORTED);
    RB_REFUSE_IF(info->forceCount + info->jointCount + info->springCount > 0, RB_STATUS_UNSUPPORTED,
                 error, "this scene has forces, joints or springs; " SUPPORTED);
    RB_REFUSE_IF(info->dynamicCount != info->bodyCount || info->bodyCount == 0,
                 RB_STATUS_UNSUPPORTED, error,
                 "this scene has no bodies, or some that are not dynamic; " SUPPORTED);
    RB_REFUSE_IF(info->hasContactObject && !info->contact.isEnabled, RB_STATUS_UNSUPPORTED, error,
                 "contacts of this scene are not enabled; " SUPPORTED);
    return RB_STATUS_OK;
}

// The sphere of a body; refuses other shapes.
static rbStatus readSphere(const rbWorld* world, rbBodyId bodyId, rbClusterSphere* sphere,
                           rbError* error)
{
    const char* name = rbBody_GetName(world, bodyId);
    RB_REFUSE_IF(rbBody_GetShapeCount(world, bodyId) != 1, RB_STATUS_UNSUPPORTED, error,
                 "body \"%.60s\" is not one sphere; " SUPPORTED, name);
    rbShapeDef shape = rbBody_GetShape(world, bodyId, 0);
    rbShapeData data = rbGeometry_GetData(rbWorld_GetGeometry(world, shape.geometry));
    RB_REFUSE_IF(
        data.type != RB_SHAPE_SPHERE || rbLengthSquared(shape.transform.p) > 0.0 || shape.isSensor,
        RB_STATUS_UNSUPPORTED, error, "body \"%.60s\" is not one sphere; " SUPPORTED, name);
    RB_REFUSE_IF(shape.material.restitution != 1.0 || shape.material.friction != 0.0,
                 RB_STATUS_UNSUPPORTED, error,
                 "body \"%.60s\" has restitution %g and friction %g; " SUPPORTED, name,
                 shape.material.restitution, shape.material.friction);
    rbBodyState state = rbBody_GetState(world, bodyId);
    sphere->position = state.center;
    sphere->velocity = state.linearVelocity;
    sphere->spin = state.angularVelocity;
    sphere->radius = data.sphere.radius;
    sphere->mass = rbBody_GetMass(world, bodyId).mass;
    return RB_STATUS_OK;
}

// Reads all bodies: uids are their order in the scene. Without a cluster only finds the largest
// radius; otherwise adds the share of this rank.
static rbStatus readBodies(RankRun* run, const rbWorld* world, double* radiusMax, rbError* error)
{
    int count = rbWorld_GetBodyCount(world);
    size_t size = (size_t)count * sizeof(rbBodyId);
    rbBodyId* ids = rbAlloc(size);
    (void)rbWorld_GetBodyIds(world, ids, count);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        rbClusterSphere sphere = {.uid = (uint64_t)i};
        status = readSphere(world, ids[i], &sphere, error);
        if (status == RB_STATUS_OK && run->cluster == NULL) {
            *radiusMax = fmax(*radiusMax, sphere.radius);
        } else if (status == RB_STATUS_OK &&
                   i % rbRanks_GetCount(run->ranks) == rbRanks_GetIndex(run->ranks)) {
            status = rbCluster_AddSphere(run->cluster, &sphere, error);
        }
    }
    rbFree(ids, size);
    return status;
}

static rbStatus createCluster(RankRun* run, rbError* error)
{
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    rbWorld* world = NULL;
    double radiusMax = 0.0;
    *error = (rbError){0}; // reading a scene may leave the name of a file
    rbStatus status = checkScene(info, error);
    if (status == RB_STATUS_OK) {
        world = rbScene_CreateWorld(run->scene, error);
        status = world != NULL ? readBodies(run, world, &radiusMax, error) : error->status;
    }
    status = rbRanks_Agree(run->ranks, status, error);
    if (status == RB_STATUS_OK) {
        rbClusterDef def = rbDefaultClusterDef();
        def.step = info->step.step;
        def.radiusMax = radiusMax;
        def.periodicBox = info->periodicBox;
        run->cluster = rbCreateCluster(run->ranks, &def, error);
        status = run->cluster != NULL ? readBodies(run, world, &radiusMax, error) : error->status;
        status = rbRanks_Agree(run->ranks, status, error);
    }
    rbDestroyWorld(world);
    return status;
}

static void printReport(const RankRun* run, const rbArguments* arguments,
                        const rbClusterReport* first, const rbClusterReport* last)
{
    char hash[32];
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, last->hash);
    double drift = first->kinetic > 0.0 ? last->kinetic / first->kinetic - 1.0 : 0.0;
    double z = last->time > 0.0 ? 1.0 + last->virial / (2.0 * last->kinetic * last->time) : 1.0;
    int ranks = rbRanks_GetCount(run->ranks);
    if (rbArguments_Has(arguments, "--json")) {
        rbJson json = {.file = stdout};
        rbJson_BeginObject(&json, NULL);
        rbJson_Text(&json, "scene", rbScene_GetInfo(run->scene)->name);
        rbJson_Integer(&json, "ranks", ranks);
        rbJson_Number(&json, "time", last->time);
        rbJson_Integer(&json, "steps", last->steps);
        rbJson_Integer(&json, "bodies", last->bodies);
        rbJson_Integer(&json, "collisions", last->collisions);
        rbJson_Number(&json, "energy", last->kinetic);
        rbJson_Number(&json, "relativeEnergyDrift", drift);
        rbJson_Vec3(&json, "momentum", last->momentum);
        rbJson_Number(&json, "reducedPressure", z);
        rbJson_Integer(&json, "ghosts", last->ghosts);
        rbJson_Integer(&json, "migrations", last->migrations);
        rbJson_Integer(&json, "messages", last->messages);
        rbJson_Integer(&json, "messageBytes", last->messageBytes);
        rbJson_Number(&json, "waitPart", last->waitPart);
        rbJson_Number(&json, "wallTime", run->wallTime);
        rbJson_Text(&json, "hash", hash);
        rbJson_End(&json);
        return;
    }
    char wall[32];
    (void)printf("%s on %d rank%s of MPI\n", rbShow(rbScene_GetInfo(run->scene)->name), ranks,
                 rbPlural(ranks));
    (void)printf("  %-18s%g s in %" PRId64 " steps, %s by the clock\n", "simulated", last->time,
                 last->steps, rbFormatDuration(run->wallTime, wall));
    (void)printf("  %-18s%" PRId64 ", %" PRId64 " ghosts, %" PRId64 " migrations\n", "bodies",
                 last->bodies, last->ghosts, last->migrations);
    (void)printf("  %-18s%" PRId64 "\n", "collisions", last->collisions);
    (void)printf("  %-18s%.9g J, changed by %.1e of it\n", "energy", last->kinetic, drift);
    (void)printf("  %-18s%.5f = p V/(N k T)\n", "reduced pressure", z);
    (void)printf("  %-18s%" PRId64 " of %.3g kB in total, %.0f %% of the time in MPI\n", "messages",
                 last->messages, 1e-3 * (double)last->messageBytes, 100.0 * last->waitPart);
    (void)printf("  %-18s%s\n", "hash", hash);
}

#define PIECES 200 // of a run, between two looks at the progress

static rbStatus simulate(RankRun* run, const rbArguments* arguments, rbError* error)
{
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    int64_t steps = (int64_t)ceil(info->duration / info->step.step * (1.0 - 1e-12));
    rbClusterReport first = rbCluster_GetReport(run->cluster);
    double start = rbGetWallTime();
    bool isPrinting = rbRanks_GetIndex(run->ranks) == 0;
    run->progress.file = isPrinting && !rbArguments_Has(arguments, "--quiet") ? stderr : NULL;
    run->progress.isTerminal = isatty(STDERR_FILENO) == 1;
    run->progress.duration = info->duration;
    run->progress.startWall = start;
    run->progress.lastWall = start;
    rbEscapeText(info->name, run->progress.name, sizeof run->progress.name);
    int64_t done = 0;
    for (int i = 1; i <= PIECES; ++i) {
        int64_t goal = steps / PIECES * i + steps % PIECES * i / PIECES;
        RB_TRY(rbCluster_Advance(run->cluster, goal - done, error));
        done = goal;
        rbProgress_Show(&run->progress, rbGetWallTime(), (double)done * info->step.step);
    }
    rbProgress_End(&run->progress);
    rbClusterReport last = rbCluster_GetReport(run->cluster);
    run->wallTime = rbGetWallTime() - start;
    if (isPrinting && (rbArguments_Has(arguments, "--json") || run->progress.file != NULL)) {
        printReport(run, arguments, &first, &last);
    }
    return RB_STATUS_OK;
}

// Scene and program must be the same everywhere.
static rbStatus compareInput(RankRun* run, rbError* error)
{
    size_t size = 0;
    const char* text = rbScene_GetText(run->scene, &size);
    uint64_t hash = rbHashBytes(RB_HASH_SEED, text, size);
    hash = rbHashBytes(hash, rbGetVersion(), strlen(rbGetVersion()));
    RB_REFUSE_IF(!rbRanks_IsSame(run->ranks, hash), RB_STATUS_INVALID, error,
                 "ranks have read different scenes, or are different versions of the program");
    return RB_STATUS_OK;
}

static rbStatus runAll(RankRun* run, const rbArguments* arguments, rbError* error)
{
    RB_TRY(rbRanks_Agree(run->ranks, openScene(run, arguments, error), error));
    RB_TRY(compareInput(run, error));
    RB_TRY(createCluster(run, error));
    return simulate(run, arguments, error);
}

rbExit rbRunOnRanks(const rbArguments* arguments)
{
    rbError error = {0};
    const char* variable = NULL;
    int launched = rbCountLaunched(&variable);
    RankRun run = {.ranks = rbOpenRanks(&error)};
    if (run.ranks == NULL) {
        return rbFailWith(&error);
    }
    if (rbRanks_GetCount(run.ranks) == 1 && launched > 1) {
        rbCloseRanks(run.ranks);
        return rbFail("%s says that %d processes were started, but the MPI of this program sees "
                      "one: it is not that of the launcher; use the mpirun of the MPI that the "
                      "program was built with, or unset %s to run alone",
                      variable, launched, variable);
    }
    rbExit exit = RB_EXIT_DONE;
    if (runAll(&run, arguments, &error) != RB_STATUS_OK) {
        // all ranks have the same error; one prints it
        if (rbRanks_GetIndex(run.ranks) == 0) {
            exit = rbFailWith(&error);
        } else {
            exit = error.status == RB_STATUS_NUMERICAL ? RB_EXIT_NUMERICAL : RB_EXIT_USAGE;
        }
    }
    rbDestroyCluster(run.cluster);
    rbDestroyScene(run.scene);
    rbCloseRanks(run.ranks);
    return exit;
}
