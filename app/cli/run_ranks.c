// rattleback run on the ranks of MPI: spheres, elastic or granular, by steps.
//
// Every rank reads the scene and keeps its share of the bodies; see rank_scene.c. Rank 0 prints.
#include "base/core/hash.h"
#include "base/core/status.h"
#include "base/core/timer.h"
#include "cli/launcher.h"
#include "cli/progress.h"
#include "cli/rank_flow.h"
#include "cli/rank_frames.h"
#include "cli/scenes.h"

#include <rattleback/cluster.h>
#include <rattleback/output.h>
#include <rattleback/scene.h>
#include <rattleback/world.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct RankRun {
    rbRanks* ranks;
    rbScene* scene;
    rbRankScene read;
    rbRankFlow flow;
    const char* table; // of regions and flows; NULL: none
    rbProgress progress;
    double wallTime; // s
    rbRankFrames frames;
    int64_t frame;          // the next one
    const char* checkpoint; // NULL: none
    double wallStep;        // s by the clock between two
    double timeStep;        // s, simulated
    int64_t lastSaved;      // step
    double lastWall;        // s
} RankRun;

// Options that a run on ranks knows; the others write files or use a world.
static rbStatus checkOptions(const rbArguments* arguments, rbError* error)
{
    static const char* const known[] = {
        "--duration", "--set",   "--json",       "--quiet",      "--engine", "--module",
        "--domains",  "--dt",    "--vtk-points", "--checkpoint", "--every",  "--every-simulated",
        "--resume",   "--inlet", "--outlet",     "--region",     "--csv",    "--hdf5"};
    for (int i = 0; i < arguments->valueCount; ++i) {
        const char* name = arguments->values[i].option->name;
        bool isKnown = false;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k) {
            isKnown = isKnown || strcmp(known[k], name) == 0;
        }
        RB_REFUSE_IF(!isKnown, RB_STATUS_UNSUPPORTED, error,
                     "%s is not supported on ranks of MPI; start one process", name);
    }
    RB_INVALID_IF(rbArguments_Has(arguments, "--csv") && rbArguments_Has(arguments, "--resume"),
                  error, "--csv cannot be continued by --resume on ranks of MPI; leave it out");
    RB_INVALID_IF(arguments->wordCount != 1, error,
                  "run needs SCENE on ranks of MPI, also with --resume");
    return RB_STATUS_OK;
}

static rbStatus openScene(RankRun* run, const rbArguments* arguments, rbError* error)
{
    RB_TRY(checkOptions(arguments, error));
    run->scene = rbOpenSceneWithSettings(arguments, error);
    if (run->scene == NULL) {
        return error->status;
    }
    const char* const names[3] = {"duration", "engine", "output.step"};
    const char* const options[3] = {"--duration", "--engine", "--dt"};
    for (int i = 0; i < 3; ++i) {
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

static void printJson(const RankRun* run, const rbClusterReport* first, const rbClusterReport* last,
                      const char* hash)
{
    double drift = first->kinetic > 0.0 ? last->kinetic / first->kinetic - 1.0 : 0.0;
    double z = last->time > 0.0 ? 1.0 + last->virial / (2.0 * last->kinetic * last->time) : 1.0;
    rbJson json = {.file = stdout};
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "scene", rbScene_GetInfo(run->scene)->name);
    rbJson_Integer(&json, "ranks", rbRanks_GetCount(run->ranks));
    rbJson_Number(&json, "time", last->time);
    rbJson_Integer(&json, "steps", last->steps);
    rbJson_Integer(&json, "bodies", last->bodies);
    rbJson_Integer(&json, "contacts", last->contacts);
    if (run->read.isGas) {
        rbJson_Integer(&json, "collisions", last->collisions);
        rbJson_Number(&json, "energy", last->kinetic);
        rbJson_Number(&json, "relativeEnergyDrift", drift);
        rbJson_Number(&json, "reducedPressure", z);
    } else {
        rbJson_Number(&json, "kineticEnergy", last->kinetic);
        rbJson_Number(&json, "potentialEnergy", last->potential);
        rbJson_Number(&json, "deepest", last->penetrationMax);
    }
    rbJson_Vec3(&json, "momentum", last->momentum);
    rbJson_Integer(&json, "ghosts", last->ghosts);
    rbJson_Integer(&json, "migrations", last->migrations);
    rbJson_Integer(&json, "messages", last->messages);
    rbJson_Integer(&json, "messageBytes", last->messageBytes);
    rbJson_Number(&json, "waitPart", last->waitPart);
    rbJson_Number(&json, "wallTime", run->wallTime);
    rbJson_Text(&json, "hash", hash);
    rbJson_End(&json);
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
        printJson(run, first, last, hash);
        return;
    }
    char wall[32];
    (void)printf("%s on %d rank%s of MPI\n", rbShow(rbScene_GetInfo(run->scene)->name), ranks,
                 rbPlural(ranks));
    (void)printf("  %-18s%g s in %" PRId64 " steps, %s by the clock\n", "simulated", last->time,
                 last->steps, rbFormatDuration(run->wallTime, wall));
    (void)printf("  %-18s%" PRId64 ", %" PRId64 " ghosts, %" PRId64 " migrations\n", "bodies",
                 last->bodies, last->ghosts, last->migrations);
    if (run->read.isGas) {
        (void)printf("  %-18s%" PRId64 "\n", "collisions", last->collisions);
        (void)printf("  %-18s%.9g J, changed by %.1e of it\n", "energy", last->kinetic, drift);
        (void)printf("  %-18s%.5f = p V/(N k T)\n", "reduced pressure", z);
    } else {
        (void)printf("  %-18s%" PRId64 ", %.3g m deep at most\n", "contacts", last->contacts,
                     last->penetrationMax);
        (void)printf("  %-18s%.6g J kinetic, %.6g J potential\n", "energy", last->kinetic,
                     last->potential);
    }
    (void)printf("  %-18s%" PRId64 " of %.3g kB in total, %.0f %% of the time in MPI\n", "messages",
                 last->messages, 1e-3 * (double)last->messageBytes, 100.0 * last->waitPart);
    (void)printf("  %-18s%s\n", "hash", hash);
}

#define PIECES 200 // of a run, between two looks at the progress and the clock

// Steps until a time, not before it.
static int64_t stepsUntil(double time, double step)
{
    return (int64_t)ceil(time / step * (1.0 - 1e-12));
}

// One output: a line of the table, and files of spheres.
static rbStatus writeFrame(RankRun* run, int64_t done, rbError* error)
{
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    if (run->table != NULL) {
        rbRankFlow_Write(&run->flow, run->read.cluster, (double)done * info->step.step);
    }
    return rbRankFrames_Write(&run->frames, run->read.cluster, info, run->frame++, error);
}

static bool hasFrames(const RankRun* run)
{
    return rbRankFrames_AreWanted(&run->frames) || run->table != NULL;
}

// Opens outputs and the checkpoint that the run continues.
static rbStatus begin(RankRun* run, const rbArguments* arguments, rbError* error)
{
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    const char* resumed = rbArguments_Get(arguments, "--resume");
    bool isGood =
        rbArguments_GetNumber(arguments, "--every", 0.0, 1e9, &run->wallStep) &&
        rbArguments_GetNumber(arguments, "--every-simulated", 1e-12, 1e12, &run->timeStep);
    RB_INVALID_IF(!isGood, error, "an interval between checkpoints is unusable");
    if (isfinite(run->timeStep) && !rbArguments_Has(arguments, "--every")) {
        run->wallStep = (double)INFINITY;
    }
    run->checkpoint = rbArguments_Get(arguments, "--checkpoint");
    run->checkpoint = run->checkpoint != NULL ? run->checkpoint : resumed;
    rbRankFrames_Read(&run->frames, arguments);
    if (resumed != NULL) {
        RB_TRY(rbCluster_Load(run->read.cluster, resumed, error));
        int64_t done = rbCluster_GetReport(run->read.cluster).steps;
        while (rbStepOfFrame(info, run->frame) <= done) {
            ++run->frame;
        }
    }
    run->table = rbArguments_Get(arguments, "--csv");
    rbStatus status = RB_STATUS_OK;
    if (rbRanks_GetIndex(run->ranks) == 0) {
        rbRankFrames_Open(&run->frames);
        status = run->table != NULL ? rbRankFlow_Open(&run->flow, run->table, error) : RB_STATUS_OK;
    }
    return rbRanks_Agree(run->ranks, status, error);
}

// The next step at which something is due.
static int64_t findGoal(const RankRun* run, int64_t done, int64_t steps)
{
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    int64_t piece = steps / PIECES > 0 ? steps / PIECES : 1;
    int64_t goal = (done / piece + 1) * piece;
    if (hasFrames(run)) {
        int64_t frame = rbStepOfFrame(info, run->frame);
        goal = frame < goal ? frame : goal;
    }
    if (run->checkpoint != NULL && isfinite(run->timeStep)) {
        double next = (floor((double)done * info->step.step / run->timeStep + 1e-9) + 1.0);
        int64_t save = stepsUntil(next * run->timeStep, info->step.step);
        goal = save < goal ? (save > done ? save : done + 1) : goal;
    }
    return goal < steps ? goal : steps;
}

static rbStatus saveIfDue(RankRun* run, int64_t done, rbError* error)
{
    double step = rbScene_GetInfo(run->scene)->step.step;
    if (run->checkpoint == NULL) {
        return RB_STATUS_OK;
    }
    // by the clock of any rank; by simulated time all ranks agree anyway
    double before = floor((double)run->lastSaved * step / run->timeStep + 1e-9);
    double now = floor((double)done * step / run->timeStep + 1e-9);
    int64_t due[1] = {now > before || rbGetWallTime() - run->lastWall >= run->wallStep};
    if (isfinite(run->wallStep)) {
        due[0] = rbRanks_Agree(run->ranks, due[0] != 0 ? RB_STATUS_STOPPED : RB_STATUS_OK, NULL) !=
                 RB_STATUS_OK;
    }
    if (due[0] == 0) {
        return RB_STATUS_OK;
    }
    RB_TRY(rbCluster_Save(run->read.cluster, run->checkpoint, error));
    run->lastSaved = done;
    run->lastWall = rbGetWallTime();
    return RB_STATUS_OK;
}

// Completes what rank 0 writes.
static rbStatus endFiles(RankRun* run, rbError* error)
{
    if (rbRanks_GetIndex(run->ranks) != 0) {
        return RB_STATUS_OK;
    }
    rbStatus status =
        rbRankFrames_Finish(&run->frames, rbScene_GetInfo(run->scene), run->frame, error);
    if (status == RB_STATUS_OK) {
        status = rbRankFlow_Close(&run->flow, run->table, error);
    }
    if (run->checkpoint != NULL) {
        (void)remove(run->checkpoint); // the run is complete
    }
    return status;
}

// The frame of a step, if it has one.
static rbStatus writeFrameIfDue(RankRun* run, int64_t done, rbError* error)
{
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    bool isDue = hasFrames(run) && done == rbStepOfFrame(info, run->frame);
    return isDue ? writeFrame(run, done, error) : RB_STATUS_OK;
}

static rbStatus advanceAll(RankRun* run, int64_t done, int64_t steps, rbError* error)
{
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    run->lastSaved = done;
    run->lastWall = rbGetWallTime();
    if (hasFrames(run) && run->frame == 0) {
        RB_TRY(writeFrame(run, done, error));
    }
    while (done < steps) {
        int64_t goal = findGoal(run, done, steps);
        RB_TRY(rbCluster_Advance(run->read.cluster, goal - done, error));
        done = goal;
        RB_TRY(writeFrameIfDue(run, done, error));
        if (done < steps) {
            RB_TRY(saveIfDue(run, done, error));
        }
        rbProgress_Show(&run->progress, rbGetWallTime(), (double)done * info->step.step);
    }
    return rbRanks_Agree(run->ranks, endFiles(run, error), error);
}

static rbStatus simulate(RankRun* run, const rbArguments* arguments, rbError* error)
{
    const rbSceneInfo* info = rbScene_GetInfo(run->scene);
    int64_t steps = stepsUntil(info->duration, info->step.step);
    RB_TRY(begin(run, arguments, error));
    rbClusterReport first = rbCluster_GetReport(run->read.cluster);
    double start = rbGetWallTime();
    bool isPrinting = rbRanks_GetIndex(run->ranks) == 0;
    run->progress.file = isPrinting && !rbArguments_Has(arguments, "--quiet") ? stderr : NULL;
    run->progress.isTerminal = isatty(STDERR_FILENO) == 1;
    run->progress.duration = info->duration;
    run->progress.startWall = start;
    run->progress.lastWall = start;
    rbEscapeText(info->name, run->progress.name, sizeof run->progress.name);
    RB_TRY(advanceAll(run, first.steps, steps, error));
    rbProgress_End(&run->progress);
    rbClusterReport last = rbCluster_GetReport(run->read.cluster);
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
    rbStatus status = rbRankFlow_FindRadius(arguments, &run->read.radiusMax, error);
    RB_TRY(rbRanks_Agree(run->ranks, status, error));
    RB_TRY(rbRankScene_Read(&run->read, run->ranks, run->scene,
                            !rbArguments_Has(arguments, "--resume"), error));
    status = rbRankFlow_Read(&run->flow, arguments, &run->read, run->scene, error);
    RB_TRY(rbRanks_Agree(run->ranks, status, error));
    return simulate(run, arguments, error);
}

static rbExit refuseLauncher(const char* variable, int launched)
{
    return rbFail("%s says that %d processes were started, but the MPI of this program sees one: "
                  "it is not that of the launcher; use the mpirun of the MPI that the program was "
                  "built with, or unset %s to run alone",
                  variable, launched, variable);
}

rbExit rbRunOnRanks(const rbArguments* arguments)
{
    rbError error = {0};
    const char* variable = NULL;
    int launched = rbCountLaunched(&variable);
    RankRun run = {.ranks = rbOpenRanks(&error), .wallStep = 60.0, .timeStep = (double)INFINITY};
    if (run.ranks == NULL) {
        return rbFailWith(&error);
    }
    if (rbRanks_GetCount(run.ranks) == 1 && launched > 1) {
        rbCloseRanks(run.ranks);
        // One message. The others end well: a launcher would kill the first one for their failure.
        return rbIsFirstProcess() ? refuseLauncher(variable, launched) : RB_EXIT_DONE;
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
    rbRankScene_Free(&run.read);
    rbDestroyScene(run.scene);
    rbCloseRanks(run.ranks);
    return exit;
}
