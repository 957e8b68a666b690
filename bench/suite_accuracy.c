// Work against error: ten scenes whose end is known, over the accuracy asked for, beside Bullet,
// ODE and MuJoCo over their step sizes.
//
// The error is that at the end of a run, over all points of the bodies (accuracy_scenes.h),
// measured by the same function on the poses that each engine reports. Time is that of this thread
// for stepping, per simulated second; building the world is not in it.
//
// Ours is set as its documents tell a user to: accuracy "exact" with errorMax as asked.
//
// Peers have no such setting: they run with step sizes from 1e-2 to 1e-5 s, as shipped and in their
// most accurate configuration.
#include "accuracy_scenes.h"
#include "bench.h"
#include "peers/loader.h"
#include "work_precision.h"

#include <math.h>
#include <string.h>

#define ALLOWED 10.0     // times the asked accuracy
#define RUN_BUDGET 30.0  // s of CPU; runs that would take longer are skipped
#define REPEAT_TIME 0.05 // s of CPU: shorter runs are repeated
#define REPEATS_MAX 5

// A run of an engine.
typedef struct rbAccuracyRun {
    bool isDone;  // false: refused, failed or skipped
    double error; // m, at the end
    double time;  // s of CPU per simulated second, the fastest repeat
    int64_t unmetSteps;
} rbAccuracyRun;

// A configuration of a peer that is run, for mechanisms or with contacts.
typedef struct rbAccuracyPeer {
    const char* library;
    const char* row;
    bool hasContacts;
    const char* series;
} rbAccuracyPeer;

static const rbAccuracyPeer chosenPeers[] = {
    {"bullet double", "10 iterations", true, "Bullet"},
    {"bullet double", "50 iterations", false, "Bullet"},
    {"ode", "direct step", true, "ODE"},
    {"ode", "direct step", false, "ODE"},
    {"mujoco", "Newton", true, "MuJoCo"},
    {"mujoco", "connect", false, "MuJoCo"},
    {"mujoco", "stiff", true, "MuJoCo stiff"},
    {"mujoco", "connect stiff", false, "MuJoCo stiff"},
    {"mujoco", "reduced, RK4", false, "MuJoCo reduced"},
};

// m; quick runs take 1e-2, 1e-4 and 1e-6
static const double accuracies[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10};
#define ASKED_COUNT ((int)(sizeof accuracies / sizeof accuracies[0]))
#define QUICK_COUNT 3

static const double peerRates[] = {1e2, 3e2, 1e3, 3e3, 1e4, 3e4, 1e5}; // steps per second

typedef struct rbAccuracyContest {
    rbBench* bench;
    const rbJointPeer* joints[RB_PEERS_MAX];
    int jointCount;
    const rbContactPeer* contacts[RB_PEERS_MAX];
    int contactCount;
    rbWorkPanel panels[RB_ACCURACY_SCENES];
    int aboveCount; // runs of ours that are off by more than allowed
    int runCount;
} rbAccuracyContest;

// -------------------------------------------------------------------------------------------- ours

// The settings for an accuracy.
static rbWorldDef makeDef(const rbAccuracyScene* scene, double asked)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    rbWorldDef_SetAccuracy(&def, RB_ACCURACY_EXACT);
    def.step.errorMax = asked;
    def.step.horizon = scene->duration;
    def.step.step = scene->hasContacts ? def.step.step : 0.1; // the largest
    return def;
}

static rbWorld* createOurs(const rbAccuracyScene* scene, double asked, rbError* error)
{
    rbWorldDef def = makeDef(scene, asked);
    rbWorld* world = NULL;
    if (scene->hasContacts) {
        world = rbContactScene_CreateWorldBy(&scene->contacts, def, NULL, error);
    } else {
        world = rbJointScene_CreateWorld(&scene->mechanism, &def.step, error);
    }
    if (world != NULL && rbWorld_Prepare(world, error) != RB_STATUS_OK) {
        rbDestroyWorld(world);
        world = NULL;
    }
    return world;
}

static rbAccuracyRun runOurs(const rbAccuracyScene* scene, double asked, int repeats)
{
    rbAccuracyRun run = {.error = NAN, .time = INFINITY};
    double used = 0.0;
    for (int i = 0; i < repeats && (i == 0 || used < REPEAT_TIME); ++i) {
        rbError error = {0};
        rbWorld* world = createOurs(scene, asked, &error);
        if (world == NULL) {
            (void)fprintf(stderr, "rattleback: %s: %s\n", scene->name, error.message);
            return run;
        }
        double begin = rbGetCpuTime();
        rbStepReport report = rbWorld_AdvanceTo(world, scene->duration);
        double time = rbGetCpuTime() - begin;
        used += time;
        run.time = fmin(run.time, time / scene->duration);
        run.isDone = report.status == RB_STATUS_OK || report.status == RB_STATUS_NUMERICAL;
        if (run.isDone) {
            rbPeerBodyState states[RB_ACCURACY_BODIES_MAX + 1];
            rbJointScene_ReadWorld(&scene->mechanism, world, states);
            run.error = rbAccuracyScene_GetError(scene, states);
            run.unmetSteps = rbWorld_GetStepStatistics(world).unmetSteps +
                             rbWorld_GetContactStatistics(world).unmetSteps;
        }
        rbDestroyWorld(world);
    }
    return run;
}

// ------------------------------------------------------------------------------------------- peers

static rbAccuracyRun runMechanism(const rbAccuracyScene* scene, const rbJointPeer* peer,
                                  const rbJointPeerRow* row, int stepCount)
{
    rbAccuracyRun run = {.error = NAN, .time = INFINITY};
    void* state = peer->create(&scene->mechanism, row, scene->duration / stepCount);
    if (state == NULL) {
        return run;
    }
    double begin = rbGetCpuTime();
    run.isDone = peer->advance(state, stepCount);
    run.time = (rbGetCpuTime() - begin) / scene->duration;
    rbPeerBodyState states[RB_ACCURACY_BODIES_MAX];
    peer->read(state, states);
    run.error = run.isDone ? rbAccuracyScene_GetError(scene, states) : NAN;
    peer->destroy(state);
    return run;
}

static rbAccuracyRun runContacts(const rbAccuracyScene* scene, const rbContactPeer* peer,
                                 const rbContactPeerRow* row, int stepCount)
{
    rbAccuracyRun run = {.error = NAN, .time = INFINITY};
    void* state = peer->create(&scene->contacts, row, scene->duration / stepCount);
    if (state == NULL) {
        return run;
    }
    run.isDone = true;
    double begin = rbGetCpuTime();
    for (int i = 0; i < stepCount && run.isDone; ++i) {
        run.isDone = peer->advance(state);
    }
    run.time = (rbGetCpuTime() - begin) / scene->duration;
    rbPeerBodyState states[RB_ACCURACY_BODIES_MAX];
    peer->read(state, states);
    run.error = run.isDone ? rbAccuracyScene_GetError(scene, states) : NAN;
    peer->destroy(state);
    return run;
}

// One run of a configuration; not done if the library or the row is not there.
static rbAccuracyRun runPeer(const rbAccuracyContest* contest, const rbAccuracyScene* scene,
                             const rbAccuracyPeer* chosen, int stepCount)
{
    rbAccuracyRun none = {.error = NAN, .time = INFINITY};
    for (int i = 0; i < contest->jointCount && !chosen->hasContacts; ++i) {
        const rbJointPeer* peer = contest->joints[i];
        for (int k = 0; k < peer->rowCount && strcmp(peer->library, chosen->library) == 0; ++k) {
            if (strcmp(peer->rows[k].name, chosen->row) == 0) {
                return runMechanism(scene, peer, &peer->rows[k], stepCount);
            }
        }
    }
    for (int i = 0; i < contest->contactCount && chosen->hasContacts; ++i) {
        const rbContactPeer* peer = contest->contacts[i];
        for (int k = 0; k < peer->rowCount && strcmp(peer->library, chosen->library) == 0; ++k) {
            if (strcmp(peer->rows[k].name, chosen->row) == 0) {
                return runContacts(scene, peer, &peer->rows[k], stepCount);
            }
        }
    }
    return none;
}

// ------------------------------------------------------------------------------------------- rows

// setting: the asked accuracy of ours (m), the step of others (s).
static void note(rbAccuracyContest* contest, rbWorkPanel* panel, const char* series, double setting,
                 const rbAccuracyRun* run)
{
    rbBench* bench = contest->bench;
    bool isOurs = strcmp(series, "rattleback") == 0;
    rbBenchRow row = {.value = run->error, .errorMax = isOurs ? run->error / setting : NAN};
    (void)snprintf(row.caseName, sizeof row.caseName, "%.63s", panel->title);
    (void)snprintf(row.engine, sizeof row.engine, "%s", series);
    (void)snprintf(row.metric, sizeof row.metric, "error at the end, %s %.3g",
                   isOurs ? "asked" : "step", setting);
    (void)snprintf(row.unit, sizeof row.unit, "m");
    (void)snprintf(row.result, sizeof row.result, "end");
    rbBench_Record(bench, row);
    (void)snprintf(row.metric, sizeof row.metric, "time for a simulated second, %s %.3g",
                   isOurs ? "asked" : "step", setting);
    (void)snprintf(row.unit, sizeof row.unit, "ms");
    row.value = 1e3 * run->time;
    rbBench_Record(bench, row);
    rbWorkPoint point = {.isOurs = isOurs, .time = run->time, .error = run->error, .step = setting};
    (void)snprintf(point.series, sizeof point.series, "%s", series);
    rbWorkPanel_Add(panel, &point);
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-18s %-16s %-5s %7.1e %12.3g ms per s  error %9.2e m",
                      panel->title, series, isOurs ? "asked" : "step", setting, 1e3 * run->time,
                      run->error);
        if (isOurs) {
            (void)fprintf(bench->text, "  %8.2g of it%s", run->error / setting,
                          run->error <= ALLOWED * setting ? "" : ", above 10");
        }
        if (run->unmetSteps > 0) {
            (void)fprintf(bench->text, "  %lld unmet", (long long)run->unmetSteps);
        }
        (void)fputc('\n', bench->text);
        (void)fflush(bench->text);
    }
}

static void runOurSeries(rbAccuracyContest* contest, const rbAccuracyScene* scene,
                         rbWorkPanel* panel)
{
    double last = 0.0; // s of CPU of the run before
    double expected = 0.0;
    ptrdiff_t stride = contest->bench->isQuick ? 2 : 1;
    int count = contest->bench->isQuick ? QUICK_COUNT : ASKED_COUNT;
    for (int i = 0; i < count; ++i) {
        double asked = accuracies[stride * i];
        rbBench_ShowProgress(contest->bench, scene->name);
        if (expected > RUN_BUDGET) {
            if (contest->bench->text != NULL) {
                (void)fprintf(contest->bench->text,
                              "  %-18s rattleback       asked %7.1e skipped: would take %.0f s\n",
                              scene->name, asked, expected);
            }
            return;
        }
        rbAccuracyRun run = runOurs(scene, asked, contest->bench->isQuick ? 1 : REPEATS_MAX);
        note(contest, panel, "rattleback", asked, &run);
        ++contest->runCount;
        contest->aboveCount += run.error <= ALLOWED * asked ? 0 : 1;
        double used = run.time * scene->duration;
        expected = last > 0.0 ? used * fmax(used / last, 1.0) : 0.0;
        last = used;
    }
}

static void runPeerSeries(rbAccuracyContest* contest, const rbAccuracyScene* scene,
                          rbWorkPanel* panel)
{
    int rateCount = contest->bench->isQuick ? 1 : (int)(sizeof peerRates / sizeof peerRates[0]);
    for (size_t k = 0; k < sizeof chosenPeers / sizeof chosenPeers[0]; ++k) {
        for (int i = 0; i < rateCount; ++i) {
            if (chosenPeers[k].hasContacts != scene->hasContacts) {
                break;
            }
            int stepCount = (int)lround(scene->duration * peerRates[i]);
            rbAccuracyRun run = runPeer(contest, scene, &chosenPeers[k], stepCount);
            if (run.isDone) {
                note(contest, panel, chosenPeers[k].series, 1.0 / peerRates[i], &run);
            }
        }
    }
}

static void run(rbBench* bench)
{
    rbAccuracyContest contest = {.bench = bench};
    contest.jointCount = bench->isAlone ? 0 : rbLoadJointPeers(contest.joints);
    contest.contactCount = bench->isAlone ? 0 : rbLoadContactPeers(contest.contacts);
    if (contest.jointCount == 0 && bench->text != NULL) {
        (void)fprintf(bench->text, "  no peers: 'make bench' builds them\n");
    }
    for (int i = 0; i < RB_ACCURACY_SCENES; ++i) {
        rbWorkPanel* panel = &contest.panels[i];
        (void)snprintf(panel->title, sizeof panel->title, "%s", rbAccuracySceneNames[i]);
        (void)snprintf(panel->errorLabel, sizeof panel->errorLabel, "error at the end, m");
        if (bench->only != NULL && strcmp(bench->only, rbAccuracySceneNames[i]) != 0) {
            continue;
        }
        rbAccuracyScene scene = rbMakeAccuracyScene(i);
        runOurSeries(&contest, &scene, panel);
        runPeerSeries(&contest, &scene, panel);
        rbDestroyAccuracyScene(&scene);
    }
    rbBench_ShowProgress(bench, NULL);
    if (bench->text != NULL) {
        (void)fprintf(bench->text,
                      "  goal: errors of at most %.0f times what was asked: %d of %d runs above, "
                      "%s\n",
                      ALLOWED, contest.aboveCount, contest.runCount,
                      contest.aboveCount == 0 ? "reached" : "missed");
    }
    rbBench_Draw(bench, rbDrawWorkGrid, contest.panels, RB_ACCURACY_SCENES);
    for (int i = 0; i < RB_ACCURACY_SCENES; ++i) {
        rbArray_Free(contest.panels[i].points);
    }
}

const rbBenchSuite rbSuiteAccuracy = {
    .name = "accuracy",
    .help = "error against time over the accuracy asked for, beside Bullet, ODE and MuJoCo",
    .parts = rbAccuracySceneNames,
    .run = run,
};
