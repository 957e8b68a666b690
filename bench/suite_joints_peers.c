// Joints compared with Box3D, Jolt, Bullet, ODE and MuJoCo: time per simulated second, largest
// joint error, largest energy error; and the same as work-precision over step sizes and settings.
//
// All engines run the same bodies and joints without collisions and damping. The same functions
// measure the poses and velocities they report: a joint's error is the distance of its two anchors,
// worst over joints and samples; the energy error is the largest deviation from the start, relative
// to the scene's own scale (chain and net: total weight times half the length; four bar: the energy
// at the start). Samples are a sixtieth of a second apart, or ten milliseconds. CPU time of this
// thread, stepping only.
//
// MuJoCo has two configurations. "connect": bodies with six degrees of freedom each, held by its
// soft constraints; comparable to the others. "reduced": its home ground, trees of ball joints and
// hinges in reduced coordinates. Their joint error is zero by construction (loops are closed by
// connect), so the energy error is compared there. Its XML parser refuses trees deeper than 92: the
// chain of 100 has no such row, the chains of 90 and 20 do.
#include "bench.h"
#include "joint_runs.h"
#include "peers/loader.h"
#include "work_precision.h"

#include <math.h>
#include <string.h>

#define RUN_BUDGET 3.0  // s of CPU per run
#define WORK_BUDGET 3.0 // s, of a run of the work-precision part; longer runs are skipped
#define WORK_TIME 5.0   // s, simulated
#define GOAL_TIME 8.0   // times the fastest peer
#define GOAL_GAP 1e4    // times smaller
#define PANEL_COUNT 3

// A configuration of our engine.
typedef struct rbOwnRow {
    const char* name;
    double tolerance;
    int order;
    rbSolverType solver;
    int iterationsMax; // 0: as many as needed; otherwise steps are not halved either
} rbOwnRow;

typedef struct rbPeerCase {
    const char* name;
    rbJointScene (*make)(void);
    double step; // s
    int stepsPerSample;
    bool hasReduced; // reduced coordinates are run on it
    bool onlyReduced;
} rbPeerCase;

typedef struct rbContest {
    rbBench* bench;
    const rbJointPeer* peers[RB_PEERS_MAX];
    int peerCount;
    rbWorkPanel panels[PANEL_COUNT];
} rbContest;

static rbJointScene makeChain100(void)
{
    return rbMakeChainScene(100);
}

static rbJointScene makeChain90(void)
{
    return rbMakeChainScene(90);
}

static rbJointScene makeChain20(void)
{
    return rbMakeChainScene(20);
}

static rbJointScene makeHang100(void)
{
    return rbMakeHangScene(100);
}

static rbJointScene makeNet20(void)
{
    return rbMakeNetScene(20);
}

static rbJointScene makeFourBar(void)
{
    return rbMakeFourBarScene(2);
}

static rbJointScene makeHeavy(void)
{
    return rbMakeHeavyChainScene(10, 1e6);
}

// The first one has goals.
static const rbPeerCase cases[] = {
    {"chain100, 60 Hz", makeChain100, 1.0 / 60.0, 1, false, false},
    {"chain90, 60 Hz", makeChain90, 1.0 / 60.0, 1, true, true},
    {"hang100, 60 Hz", makeHang100, 1.0 / 60.0, 1, false, false},
    {"net20, 60 Hz", makeNet20, 1.0 / 60.0, 1, false, false},
    {"four-bar, 1 ms", makeFourBar, 1e-3, 10, true, false},
    {"four-bar, 60 Hz", makeFourBar, 1.0 / 60.0, 1, true, false},
    {"1:1e6 chain, 60 Hz", makeHeavy, 1.0 / 60.0, 1, true, false},
    {"1:1e6 chain, 1 ms", makeHeavy, 1e-3, 10, true, false},
};
#define CASE_COUNT ((int)(sizeof cases / sizeof cases[0]))

static const rbOwnRow caseRows[] = {
    {"tolerance 1e-6", 1e-6, 2, RB_SOLVER_AUTO, 0},
    {"tolerance 1e-10", 1e-10, 2, RB_SOLVER_AUTO, 0},
    {"order 4", 1e-12, 4, RB_SOLVER_AUTO, 0},
};

// Steps per second.
static const double peerRates[] = {60.0, 240.0, 960.0, 2400.0};
static const double ownRates[] = {60.0, 90.0, 120.0, 240.0, 960.0, 2400.0};

static const rbOwnRow workRows[] = {
    {"anytime, 5 sweeps", 1e-6, 2, RB_SOLVER_ITERATIVE, 5},
    {"anytime, 20 sweeps", 1e-6, 2, RB_SOLVER_ITERATIVE, 20},
    {"anytime, 1 iteration", 1e-6, 2, RB_SOLVER_AUTO, 1},
    {"anytime, 2 iterations", 1e-6, 2, RB_SOLVER_AUTO, 2},
    {"anytime, 3 iterations", 1e-6, 2, RB_SOLVER_AUTO, 3},
    {"tolerance 1e-3", 1e-3, 2, RB_SOLVER_AUTO, 0},
    {"tolerance 1e-6", 1e-6, 2, RB_SOLVER_AUTO, 0},
    {"tolerance 1e-12", 1e-12, 2, RB_SOLVER_AUTO, 0},
    {"order 4", 1e-12, 4, RB_SOLVER_AUTO, 0},
    {"order 6", 1e-12, 6, RB_SOLVER_AUTO, 0},
    {"order 8", 1e-12, 8, RB_SOLVER_AUTO, 0},
};

static rbStepSettings makeSettings(const rbOwnRow* own)
{
    rbStepSettings settings = rbGetDefaultStepSettings();
    settings.tolerance = own->tolerance;
    settings.order = own->order;
    settings.solver = own->solver;
    settings.iterationsMax = own->iterationsMax;
    if (own->iterationsMax > 0) {
        settings.halvingsMax = 0;
    }
    return settings;
}

// -------------------------------------------------------------------------------------------- rows

static void record(rbBench* bench, const char* caseName, const char* engine,
                   const rbJointRunResult* result)
{
    static const char* const ends[] = {
        [RB_RUN_DONE] = "step",
        [RB_RUN_REFUSED] = "refused",
        [RB_RUN_BLOWN_UP] = "blown up",
        [RB_RUN_OUT_OF_TIME] = "step, cut short",
    };
    bool isBlown = result->end == RB_RUN_BLOWN_UP;
    const struct {
        const char* metric;
        double value;
        const char* unit;
        double error;
    } columns[] = {
        {"time for a simulated second", 1e3 * result->timeFactor, "ms", result->gap},
        {"largest joint error", isBlown ? NAN : result->gap, "m", NAN},
        {"largest energy error", isBlown ? NAN : result->energyError, "", NAN},
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i) {
        rbBenchRow row = {.value = columns[i].value, .errorMax = columns[i].error};
        (void)snprintf(row.caseName, sizeof row.caseName, "%s", caseName);
        (void)snprintf(row.engine, sizeof row.engine, "%s", engine);
        (void)snprintf(row.metric, sizeof row.metric, "%s", columns[i].metric);
        (void)snprintf(row.unit, sizeof row.unit, "%s", columns[i].unit);
        (void)snprintf(row.result, sizeof row.result, "%s", ends[result->end]);
        rbBench_Record(bench, row);
    }
}

static void printHead(const rbBench* bench, const char* name)
{
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-40s %12s %10s %12s %12s\n", name, "ms per s", "real time",
                      "joint m", "energy");
    }
}

static void printResult(const rbBench* bench, const char* engine, const rbJointRunResult* result)
{
    if (bench->text == NULL) {
        return;
    }
    char note[48];
    (void)rbJointRunResult_Describe(result, note);
    if (result->end == RB_RUN_REFUSED) {
        (void)fprintf(bench->text, "  %-40s %s\n", engine, note);
        return;
    }
    (void)fprintf(bench->text, "  %-40s %12.3f %9.1fx %12.2g %12.2g  %s", engine,
                  1e3 * result->timeFactor, 1.0 / result->timeFactor, result->gap,
                  result->energyError, note);
    if (result->statistics.halvings > 0) {
        (void)fprintf(bench->text, "  %lld halved", (long long)result->statistics.halvings);
    }
    if (result->statistics.unmetSteps > 0) {
        (void)fprintf(bench->text, "  %lld unmet", (long long)result->statistics.unmetSteps);
    }
    (void)fputc('\n', bench->text);
    (void)fflush(bench->text);
}

static rbJointRunResult runOwn(const rbOwnRow* own, rbJointRun run)
{
    rbStepSettings settings = makeSettings(own);
    rbJointPeerRow row = {.name = own->name, .settings = &settings};
    run.peer = &rbJointPeerOurs;
    run.row = &row;
    return rbRunJoints(&run);
}

// ------------------------------------------------------------------------------------------- cases

// The smaller of two times; joint errors count only where joints can open.
typedef struct rbBest {
    double time;
    double gap;
} rbBest;

static void noteBest(rbBest* best, const rbJointPeerRow* row, const rbJointRunResult* result)
{
    if (result->end == RB_RUN_DONE && !row->isReduced) {
        best->time = fmin(best->time, result->timeFactor);
        best->gap = fmin(best->gap, result->gap);
    }
}

static void printGoals(const rbBench* bench, const rbBest* best, const rbJointRunResult* ours)
{
    if (bench->text == NULL || bench->isQuick || !isfinite(best->time)) {
        return;
    }
    double slower = ours->timeFactor / best->time;
    double better = best->gap / ours->gap;
    (void)fprintf(bench->text,
                  "  goal: ours at 1e-6 takes at most %.0f times the fastest peer's time: %.2f, "
                  "%s\n",
                  GOAL_TIME, slower, slower <= GOAL_TIME ? "reached" : "missed");
    (void)fprintf(bench->text,
                  "  goal: with a joint error at least %.0e times smaller than the best peer's: "
                  "%.2g, %s\n",
                  GOAL_GAP, better, better >= GOAL_GAP ? "reached" : "missed");
}

static void runCase(rbContest* contest, const rbPeerCase* which)
{
    rbBench* bench = contest->bench;
    rbJointScene scene = which->make();
    rbJointRun run = {
        .scene = &scene,
        .step = which->step,
        .stepsPerSample = which->stepsPerSample,
        .duration = bench->isQuick ? 0.2 : 10.0,
        .budget = bench->isQuick ? 0.3 : RUN_BUDGET,
    };
    rbJointRunResult ours = {0};
    rbBest best = {INFINITY, INFINITY};
    char engine[96];
    printHead(bench, which->name);
    for (size_t i = 0; i < sizeof caseRows / sizeof caseRows[0]; ++i) {
        rbBench_ShowProgress(bench, which->name);
        rbJointRunResult result = runOwn(&caseRows[i], run);
        ours = i == 0 ? result : ours;
        (void)snprintf(engine, sizeof engine, "rattleback, %s", caseRows[i].name);
        record(bench, which->name, i == 0 ? "rattleback" : engine, &result);
        printResult(bench, engine, &result);
        if (result.end == RB_RUN_BLOWN_UP) {
            break; // finer settings would not help, and are slower
        }
    }
    for (int k = 0; k < contest->peerCount; ++k) {
        const rbJointPeer* peer = contest->peers[k];
        for (int i = 0; i < peer->rowCount; ++i) {
            const rbJointPeerRow* row = &peer->rows[i];
            if (row->isReduced ? !which->hasReduced : which->onlyReduced) {
                continue;
            }
            run.peer = peer;
            run.row = row;
            rbJointRunResult result = rbRunJoints(&run);
            noteBest(&best, row, &result);
            (void)snprintf(engine, sizeof engine, "%s, %s", peer->library, row->name);
            record(bench, which->name, engine, &result);
            printResult(bench, engine, &result);
        }
    }
    if (which == &cases[0]) {
        printGoals(bench, &best, &ours);
    }
    rbDestroyJointScene(&scene);
}

// --------------------------------------------------------------------------------- work-precision

// Adds to the panel of joint errors (may be NULL) and that of energy errors.
static void addPoints(rbWorkPanel* gaps, rbWorkPanel* energies, const char* series,
                      const rbJointRun* run, const rbJointRunResult* result)
{
    bool isGood = result->end == RB_RUN_DONE;
    rbWorkPoint point = {
        .isOurs = run->peer == &rbJointPeerOurs,
        .time = result->timeFactor,
        .step = run->step,
    };
    (void)snprintf(point.series, sizeof point.series, "%s", series);
    if (gaps != NULL) {
        point.error = isGood ? result->gap : NAN;
        rbWorkPanel_Add(gaps, &point);
    }
    point.error = isGood ? result->energyError : NAN;
    rbWorkPanel_Add(energies, &point);
}

// One configuration over all step sizes. Runs that would take too long, predicted from the run
// before, are skipped: they lie to the right of everything.
static void runWorkSeries(rbContest* contest, rbJointRun run, const char* series, rbWorkPanel* gaps,
                          rbWorkPanel* energies)
{
    rbBench* bench = contest->bench;
    bool isOurs = run.peer == &rbJointPeerOurs;
    const double* rates = isOurs ? ownRates : peerRates;
    int rateCount = (int)(isOurs ? sizeof ownRates : sizeof peerRates) / (int)sizeof *rates;
    double expected = 0.0;
    for (int s = 0; s < rateCount; ++s) {
        run.step = 1.0 / rates[s];
        run.stepsPerSample = (int)lround(1.0 / (60.0 * run.step));
        char name[64];
        (void)snprintf(name, sizeof name, "work-precision %s%d, 1/%.0f s", run.scene->name,
                       run.scene->bodyCount, 1.0 / run.step);
        rbBench_ShowProgress(bench, name);
        if (expected > WORK_BUDGET) {
            if (bench->text != NULL) {
                (void)fprintf(bench->text, "  1/%-5.0f %-36s skipped: would take %.0f s\n",
                              1.0 / run.step, series, expected);
            }
            break;
        }
        rbJointRunResult result = rbRunJoints(&run);
        addPoints(gaps, energies, series, &run, &result);
        record(bench, name, series, &result);
        if (result.end == RB_RUN_REFUSED) {
            break;
        }
        char label[128];
        (void)snprintf(label, sizeof label, "1/%-5.0f %s", 1.0 / run.step, series);
        printResult(bench, label, &result);
        if (s + 1 < rateCount) {
            expected = result.timeFactor * run.duration * rates[s + 1] / rates[s];
        }
    }
}

static void runWorkScene(rbContest* contest, rbJointScene (*make)(void), bool isReduced,
                         rbWorkPanel* gaps, rbWorkPanel* energies)
{
    rbBench* bench = contest->bench;
    rbJointScene scene = make();
    rbJointRun run = {.scene = &scene, .duration = bench->isQuick ? 0.1 : WORK_TIME};
    char series[64];
    for (size_t i = 0; i < sizeof workRows / sizeof workRows[0]; ++i) {
        rbStepSettings settings = makeSettings(&workRows[i]);
        rbJointPeerRow row = {.name = workRows[i].name, .settings = &settings};
        run.peer = &rbJointPeerOurs;
        run.row = &row;
        (void)snprintf(series, sizeof series, "rattleback, %s", workRows[i].name);
        runWorkSeries(contest, run, series, gaps, energies);
    }
    for (int k = 0; k < contest->peerCount; ++k) {
        run.peer = contest->peers[k];
        for (int i = 0; i < run.peer->rowCount; ++i) {
            run.row = &run.peer->rows[i];
            if (run.row->isReduced == isReduced) {
                (void)snprintf(series, sizeof series, "%s, %s", run.peer->library, run.row->name);
                runWorkSeries(contest, run, series, gaps, energies);
            }
        }
    }
    rbDestroyJointScene(&scene);
}

// Reports whether a point of a peer lies below ours, and which.
static void checkPanel(rbBench* bench, const rbWorkPanel* panel)
{
    if (bench->isQuick) {
        return; // a tenth of a second shows nothing
    }
    int below = rbWorkPanel_CountBelow(panel);
    rbBenchRow row = {.value = below, .errorMax = NAN};
    (void)snprintf(row.caseName, sizeof row.caseName, "%.*s", (int)sizeof row.caseName - 1,
                   panel->title);
    (void)snprintf(row.engine, sizeof row.engine, "rattleback");
    (void)snprintf(row.metric, sizeof row.metric, "points of peers below our curve");
    (void)snprintf(row.result, sizeof row.result, "count");
    rbBench_Record(bench, row);
    if (bench->text == NULL) {
        return;
    }
    (void)fprintf(bench->text, "  goal: no point of a peer below our curve, %s: %d, %s\n",
                  panel->title, below, below == 0 ? "reached" : "missed");
    for (int i = 0; i < panel->points.count && below > 0; ++i) {
        const rbWorkPoint* point = &panel->points.data[i];
        if (!point->isOurs && isfinite(point->error) && !rbWorkPanel_IsBeaten(panel, point)) {
            (void)fprintf(bench->text, "    below: %s, 1/%.0f s, %.3g ms per second, error %.2g\n",
                          point->series, 1.0 / point->step, 1e3 * point->time, point->error);
        }
    }
}

static void setPanel(rbWorkPanel* panel, const char* title, const char* label)
{
    (void)snprintf(panel->title, sizeof panel->title, "%s", title);
    (void)snprintf(panel->errorLabel, sizeof panel->errorLabel, "%s", label);
}

static void runWork(rbContest* contest)
{
    rbBench* bench = contest->bench;
    setPanel(&contest->panels[0], "chain100, joint error", "largest joint error, m");
    setPanel(&contest->panels[1], "chain100, energy error", "largest energy error");
    setPanel(&contest->panels[2], "chain20, energy error", "largest energy error");
    printHead(bench, "work-precision, chain of 100, 5 s");
    runWorkScene(contest, makeChain100, false, &contest->panels[0], &contest->panels[1]);
    printHead(bench, "work-precision, chain of 20, 5 s");
    runWorkScene(contest, makeChain20, true, NULL, &contest->panels[2]);
    rbBench_ShowProgress(bench, NULL);
    for (int i = 0; i < PANEL_COUNT; ++i) {
        checkPanel(bench, &contest->panels[i]);
    }
    rbBench_Draw(bench, rbDrawWorkPanels, contest->panels, PANEL_COUNT);
    for (int i = 0; i < PANEL_COUNT; ++i) {
        rbArray_Free(contest->panels[i].points);
    }
}

static void run(rbBench* bench)
{
    rbContest contest = {.bench = bench};
    contest.peerCount = bench->isAlone ? 0 : rbLoadJointPeers(contest.peers);
    if (contest.peerCount == 0 && bench->text != NULL) {
        (void)fprintf(bench->text, "  no peers: 'make bench' builds them\n");
    }
    int count = bench->isQuick ? 1 : CASE_COUNT;
    for (int i = 0; i < count; ++i) {
        runCase(&contest, &cases[i]);
    }
    runWork(&contest);
}

const rbBenchSuite rbSuiteJointsPeers = {
    .name = "joints-peers",
    .help =
        "joints compared with Box3D, Jolt, Bullet, ODE and MuJoCo: time, joint error, energy error",
    .run = run,
};
