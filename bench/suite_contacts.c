// Contacts compared with Box3D, Jolt, Bullet, ODE and MuJoCo: time per step, deepest overlap,
// residual speed; and the experiments compared with their printed numbers.
//
// The piles are pyramid20, spheres1000, mixed1000 and terrain1000, and at a game's budget only 100
// and 1000 ragdolls of four boxes, a pyramid of 5050 boxes and 8000 spheres: y up, 60 Hz, 600 steps
// (300 of the largest), of which the first 60 are not timed, friction 0.5 and restitution 0 in
// every pair, no damping, no sleeping. All engines get the same bodies, masses and shapes, and the
// same functions measure the poses and velocities they report (contact_checks.c). CPU time of this
// thread, stepping only; the engines alternate for three rounds, and the fastest run of each
// counts.
//
// Our engine runs in two configurations: to its tolerance, and limited to the sweeps a game would
// allow (10 in total, in 5 small steps). One body that still tumbles makes a residual speed of 0.1
// m/s among 1000, so moving bodies are counted as well. Peers run as shipped: Bullet 10 iterations
// (single precision, and double where installed), ODE quickstep 20, MuJoCo Newton on the pyramid,
// and conjugate gradients with the exact cone. Bullet inflates hulls by its margin of 4 cm, which
// hides their overlaps.
#include "bench.h"
#include "contact_experiments.h"
#include "contact_runs.h"
#include "peers/loader.h"

#include <math.h>
#include <string.h>

#define STEP (1.0 / 60.0) // s
#define STEPS 600
#define STEPS_LARGE 300
#define STEPS_WARM 60
#define STEPS_QUICK 12
#define STEPS_WARM_QUICK 2
#define SUBSTEPS_CAPPED 5
#define BUDGET 20.0       // s of CPU per run
#define BUDGET_LARGE 60.0 // s
#define BUDGET_QUICK 5.0  // s
#define ROUNDS 3          // the fastest run of an engine counts
#define OURS 2            // configurations of our engine
#define ENGINES_MAX (OURS + RB_PEERS_MAX * 4)

typedef struct rbPile {
    const char* name;
    rbContactScene (*make)(void);
    int stepCount;
    bool isGameOnly; // too large to be solved to tolerance here
} rbPile;

// One row of the table of a pile.
typedef struct rbContestant {
    char name[48];
    rbContactRunResult result;
} rbContestant;

static rbContactScene makePyramid(void)
{
    return rbMakePyramidScene(20);
}

static rbContactScene makeSpheres(void)
{
    return rbMakeSpheresScene(10);
}

static rbContactScene makeMixed(void)
{
    return rbMakeMixedScene(10, 10);
}

static rbContactScene makeRagdolls(void)
{
    return rbMakeRagdollScene(1);
}

static rbContactScene makeLargePyramid(void)
{
    return rbMakePyramidScene(100);
}

static rbContactScene makeManySpheres(void)
{
    return rbMakeSpheresScene(20);
}

static rbContactScene makeManyRagdolls(void)
{
    return rbMakeRagdollScene(10);
}

static const rbPile piles[] = {
    {"pyramid20", makePyramid, STEPS, false},
    {"spheres1000", makeSpheres, STEPS, false},
    {"mixed1000", makeMixed, STEPS, false},
    {"terrain1000", rbMakeTerrainScene, STEPS, false},
    {"ragdolls100", makeRagdolls, STEPS, true},
    {"pyramid100", makeLargePyramid, STEPS_LARGE, true},
    {"spheres8000", makeManySpheres, STEPS_LARGE, true},
    {"ragdolls1000", makeManyRagdolls, STEPS_LARGE, true},
};
#define PILE_COUNT ((int)(sizeof piles / sizeof piles[0]))

static const struct {
    const char* name;
    void (*run)(rbBench* bench);
} experiments[] = {
    {"x11", rbRunDetectionExperiment},   {"x13", rbRunFunnelExperiment},
    {"x14", rbRunWallExperiment},        {"sweeps", rbRunSweepsExperiment},
    {"solvers", rbRunSolversExperiment}, {"heaps", rbRunHeapsExperiment},
    {"threads", rbRunThreadsExperiment},
};
#define EXPERIMENT_COUNT ((int)(sizeof experiments / sizeof experiments[0]))

static const char* const parts[] = {"pyramid20",   "spheres1000", "mixed1000",   "terrain1000",
                                    "ragdolls100", "pyramid100",  "spheres8000", "ragdolls1000",
                                    "x11",         "x13",         "x14",         "sweeps",
                                    "solvers",     "heaps",       "threads",     NULL};

// ------------------------------------------------------------------------------------------- rows

static void record(rbBench* bench, const char* pile, const rbContestant* contestant)
{
    static const char* const ends[] = {
        [RB_PILE_DONE] = "step",
        [RB_PILE_REFUSED] = "refused",
        [RB_PILE_BLOWN_UP] = "blown up",
        [RB_PILE_GAVE_UP] = "gave up",
        [RB_PILE_OUT_OF_TIME] = "step cut short",
    };
    const rbContactRunResult* result = &contestant->result;
    const rbContactVerdict* verdict = &result->verdict;
    bool isValidated = result->end != RB_PILE_REFUSED && result->end != RB_PILE_BLOWN_UP;
    const struct {
        const char* metric;
        double value;
        const char* unit;
    } columns[] = {
        {"time of a step", 1e3 * result->mean, "ms"},
        {"time of a step, 99 of 100", 1e3 * result->p99, "ms"},
        {"deepest overlap", isValidated ? 1e3 * verdict->deepest : NAN, "mm"},
        {"deepest overlap with what stands", isValidated ? 1e3 * verdict->deepestWall : NAN, "mm"},
        {"mean overlap", isValidated ? 1e3 * verdict->mean : NAN, "mm"},
        {"overlap, 99 of 100", isValidated ? 1e3 * verdict->p99 : NAN, "mm"},
        {"largest gap of a joint", isValidated ? 1e3 * verdict->jointGap : NAN, "mm"},
        {"residual speed", isValidated ? verdict->speed : NAN, "m/s"},
        {"moving bodies", isValidated ? (double)verdict->movingCount : NAN, "1"},
        {"largest displacement", isValidated ? verdict->displacement : NAN, "m"},
        {"escaped bodies", isValidated ? (double)verdict->escapedCount : NAN, "1"},
        {"points of contact", isValidated ? (double)result->pointCount : NAN, "1"},
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i) {
        rbBenchRow row = {.value = columns[i].value, .errorMax = NAN};
        (void)snprintf(row.caseName, sizeof row.caseName, "%s", pile);
        (void)snprintf(row.engine, sizeof row.engine, "%s", contestant->name);
        (void)snprintf(row.metric, sizeof row.metric, "%s", columns[i].metric);
        (void)snprintf(row.unit, sizeof row.unit, "%s", columns[i].unit);
        (void)snprintf(row.result, sizeof row.result, "%s", ends[result->end]);
        rbBench_Record(bench, row);
    }
}

static void printHead(const rbBench* bench, const char* pile)
{
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-28s %9s %9s %10s %9s %9s %9s %10s %7s %7s %8s %7s %7s\n",
                      pile, "ms/step", "p99 ms", "deepest mm", "static mm", "mean mm", "p99 mm",
                      "speed m/s", "gap mm", "moving", "moved m", "escaped", "points");
    }
}

static void print(const rbBench* bench, const rbContestant* contestant)
{
    if (bench->text == NULL) {
        return;
    }
    const rbContactRunResult* result = &contestant->result;
    const rbContactVerdict* verdict = &result->verdict;
    char note[64];
    (void)rbContactRunResult_Describe(result, note);
    if (result->end == RB_PILE_REFUSED) {
        (void)fprintf(bench->text, "  %-28s %s\n", contestant->name, note);
    } else {
        (void)fprintf(
            bench->text,
            "  %-28s %9.3f %9.3f %10.3g %9.3g %9.3g %9.3g %10.2e %7.3g %7d %8.3g %7d %7d  %s\n",
            contestant->name, 1e3 * result->mean, 1e3 * result->p99, 1e3 * verdict->deepest,
            1e3 * verdict->deepestWall, 1e3 * verdict->mean, 1e3 * verdict->p99, verdict->speed,
            1e3 * verdict->jointGap, verdict->movingCount, verdict->displacement,
            verdict->escapedCount, result->pointCount, note);
    }
    if (result->end == RB_PILE_GAVE_UP && result->error.message[0] != '\0') {
        (void)fprintf(bench->text, "    %s\n", result->error.message);
    }
    (void)fflush(bench->text);
}

// The work that our run had to do.
static void printWork(const rbBench* bench, const rbContactRunResult* result)
{
    if (bench->text == NULL || result->end == RB_PILE_REFUSED) {
        return;
    }
    const rbContactStatistics* s = &result->statistics;
    double steps = fmax(1.0, result->time / STEP);
    (void)fprintf(bench->text,
                  "    %.1f position sweeps and %.1f velocity sweeps per step, %lld collisions in "
                  "%lld sweeps, %lld steps unmet\n",
                  (double)s->positionSweeps / steps, (double)s->velocitySweeps / steps,
                  (long long)s->collisions, (long long)s->collisionSweeps,
                  (long long)s->unmetSteps);
}

// Times, overlaps and speeds of ours relative to a peer's.
static void compare(rbBench* bench, const char* pile, const rbContestant* ours,
                    const rbContestant* peer)
{
    const rbContactRunResult* a = &ours->result;
    const rbContactRunResult* b = &peer->result;
    bool areRun = (a->end == RB_PILE_DONE || a->end == RB_PILE_OUT_OF_TIME) &&
                  (b->end == RB_PILE_DONE || b->end == RB_PILE_OUT_OF_TIME);
    if (!areRun) {
        return;
    }
    double time = a->mean / b->mean;
    rbBenchRow row = {.value = time, .unit = "1", .result = "ratio", .errorMax = NAN};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s", pile);
    (void)snprintf(row.engine, sizeof row.engine, "%.47s", ours->name);
    (void)snprintf(row.metric, sizeof row.metric, "time to that of %.28s", peer->name);
    rbBench_Record(bench, row);
    if (bench->text != NULL && !bench->isQuick) {
        (void)fprintf(bench->text,
                      "  %-24s / %-28s time %7.3f  deepest %8.2g  mean %8.2g  speed %8.2g\n",
                      ours->name, peer->name, time, a->verdict.deepest / b->verdict.deepest,
                      a->verdict.mean / b->verdict.mean, a->verdict.speed / b->verdict.speed);
    }
}

static void checkGoal(const rbBench* bench, const rbContactRunResult* ours,
                      const rbContestant* peer)
{
    const rbContactRunResult* theirs = &peer->result;
    if (bench->text == NULL || bench->isQuick || strncmp(peer->name, "bullet 10", 9) != 0) {
        return;
    }
    bool isReached = ours->end == RB_PILE_DONE && ours->mean <= theirs->mean &&
                     ours->verdict.deepest <= theirs->verdict.deepest &&
                     ours->verdict.speed <= theirs->verdict.speed &&
                     ours->verdict.escapedCount <= theirs->verdict.escapedCount;
    (void)fprintf(bench->text,
                  "  goal: capped no slower than bullet, no deeper and no faster at the end: %s\n",
                  isReached ? "reached" : "missed");
}

// ------------------------------------------------------------------------------------------ piles

// The fastest run so far: other load on the machine only ever adds time. The final state is that of
// the first run; only ODE, which draws the order of its rows at random, ends differently in each
// run.
static void runOnce(rbBench* bench, const rbPile* pile, const rbContactRun* run,
                    rbContestant* contestant)
{
    bool isFirst = contestant->name[0] == '\0';
    (void)snprintf(contestant->name, sizeof contestant->name, "%s %s", run->peer->library,
                   run->row->name);
    char text[128];
    (void)snprintf(text, sizeof text, "%s, %.47s", pile->name, contestant->name);
    rbBench_ShowProgress(bench, text);
    rbContactRunResult result = rbRunContacts(run);
    rbBench_ShowProgress(bench, NULL);
    if (isFirst) {
        contestant->result = result;
    } else if (result.mean < contestant->result.mean) {
        contestant->result.mean = result.mean;
        contestant->result.p99 = result.p99;
        contestant->result.most = result.most;
    }
}

// The engines alternate, so that a slow minute of the machine affects all of them.
static void runRounds(rbBench* bench, const rbPile* pile, rbContactRun* runs,
                      rbContestant* contestants, int count)
{
    int rounds = bench->isQuick ? 1 : ROUNDS;
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < count; ++i) {
            if (round == 0 || contestants[i].result.end == RB_PILE_DONE) {
                runOnce(bench, pile, &runs[i], &contestants[i]);
            }
        }
    }
}

static void runPile(rbBench* bench, const rbPile* pile, const rbContactPeer* const* peers,
                    int peerCount)
{
    rbContactScene scene = pile->make();
    rbContactRun run = {
        .scene = &scene,
        .step = STEP,
        .warmCount = bench->isQuick ? STEPS_WARM_QUICK : STEPS_WARM,
        .stepCount = bench->isQuick ? STEPS_QUICK : pile->stepCount,
        .budget = bench->isQuick     ? BUDGET_QUICK
                  : pile->isGameOnly ? BUDGET_LARGE
                                     : BUDGET,
    };
    rbContactSettings settings[OURS] = {rbDefaultContactSettings(), rbDefaultContactSettings()};
    for (int i = 0; i < OURS; ++i) {
        settings[i].isOverlapAllowed = true; // corners of the mixed pile overlap at the start
    }
    settings[1].substeps = SUBSTEPS_CAPPED;
    settings[1].sweepsMax = 2 * SUBSTEPS_CAPPED;
    const rbContactPeerRow rows[OURS] = {{.name = "to tolerance", .settings = &settings[0]},
                                         {.name = "capped", .settings = &settings[1]}};
    rbContactRun runs[ENGINES_MAX];
    int count = 0;
    run.peer = &rbContactPeerOurs;
    for (int i = pile->isGameOnly ? 1 : 0; i < OURS; ++i) {
        run.row = &rows[i];
        runs[count++] = run;
    }
    int ownCount = count;
    for (int k = 0; k < peerCount; ++k) {
        run.peer = peers[k];
        for (int i = 0; i < run.peer->rowCount && count < ENGINES_MAX; ++i) {
            run.row = &run.peer->rows[i];
            if (run.row->bodiesMax == 0 || scene.movingCount <= run.row->bodiesMax) {
                runs[count++] = run;
            }
        }
    }
    rbContestant contestants[ENGINES_MAX] = {0};
    runRounds(bench, pile, runs, contestants, count);
    printHead(bench, pile->name);
    for (int i = 0; i < count; ++i) {
        record(bench, pile->name, &contestants[i]);
        print(bench, &contestants[i]);
        if (i < ownCount) {
            printWork(bench, &contestants[i].result);
        }
    }
    for (int i = ownCount; i < count; ++i) {
        for (int k = 0; k < ownCount; ++k) {
            compare(bench, pile->name, &contestants[k], &contestants[i]);
        }
        checkGoal(bench, &contestants[ownCount - 1].result, &contestants[i]);
    }
    rbDestroyContactScene(&scene);
}

static bool isWanted(const rbBench* bench, const char* name)
{
    return bench->only == NULL || strcmp(bench->only, name) == 0;
}

static void run(rbBench* bench)
{
    const rbContactPeer* peers[RB_PEERS_MAX];
    int peerCount = bench->isAlone ? 0 : rbLoadContactPeers(peers);
    if (peerCount == 0 && bench->text != NULL) {
        (void)fprintf(bench->text,
                      "  no peers: 'make bench' builds them, Box3D and Jolt where BOX3D_DIR and "
                      "JOLT_DIR name their sources\n");
    }
    for (int i = 0; i < PILE_COUNT; ++i) {
        if (isWanted(bench, piles[i].name)) {
            runPile(bench, &piles[i], peers, peerCount);
        }
    }
    for (int i = 0; i < EXPERIMENT_COUNT; ++i) {
        if (isWanted(bench, experiments[i].name)) {
            experiments[i].run(bench);
        }
    }
}

const rbBenchSuite rbSuiteContacts = {
    .name = "contacts",
    .help = "piles compared with Box3D, Jolt, Bullet, ODE and MuJoCo: time, overlap, residual "
            "speed; X-11, X-13, X-14",
    .parts = parts,
    .run = run,
};
