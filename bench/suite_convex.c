// Distance, depth and overlap of convex pairs: our kernel compared with libccd, FCL and Bullet.
//
// A cell is a shape, a placement, a start (cold or warm) and a kind of answer. In a cell every call
// of every engine answers the same queries. First its largest error is measured against the
// references, then its CPU time, the least of several batches over all queries. At the end each
// cell is assessed: the fastest peer whose error is small enough against ours.
//
// Calls of peers run in child processes, because some end the process on some pairs.
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include "convex_pairs.h"
#include "peers/loader.h"
#include "peers/peer_ours.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COLD_COUNT 500
#define WARM_COUNT 50
#define WARM_STEPS 21 // the first one only fills the caches
#define BATCHES 5     // at least
#define SECONDS 0.04  // of a measurement, at least
#define CHILD_SECONDS 30

// A peer counts in a cell if its largest error is at most this, in body sizes (the size is 1 m).
#define ERROR_MAX 1e-6
#define RATIO_MIN 2.0
// The error of a query on which the library gives up: one body size.
#define ERROR_FAILED 1.0

static const char* const resultNames[RB_PEER_RESULT_COUNT] = {
    [RB_PEER_BOOL] = "bool",
    [RB_PEER_DISTANCE] = "distance",
    [RB_PEER_DEPTH] = "depth",
};

static const char* const startNames[2] = {"cold", "warm"};

// The result of one call in one cell.
typedef struct rbConvexRow {
    char engine[48];
    bool isOurs;
    int shape;
    rbPlacement place;
    int isWarm;
    rbPeerResult result;
    double time;     // s per query
    double errorMax; // m; bool: the fraction of wrong answers
} rbConvexRow;

typedef struct rbConvexSuite {
    rbBench* bench;
    const rbPeer* peers[1 + RB_PEERS_MAX]; // ours first
    int peerCount;
    const char* shapeNames[RB_BENCH_SHAPE_COUNT];
    int coldCount, warmCount, warmSteps, batches;
    double seconds;
    RB_ARRAY(rbConvexRow) rows;
} rbConvexSuite;

// --------------------------------------------------------------------------------------- measuring

// One call on the queries of one set.
typedef struct rbConvexWork {
    const rbPeer* peer;
    const rbPeerRow* row;
    void* state;
    const rbPairSet* set;
    bool isWarm;
} rbConvexWork;

static double checkAnswer(rbPeerResult result, double value, double truth)
{
    if (isnan(value)) {
        return ERROR_FAILED;
    }
    if (result == RB_PEER_BOOL) {
        return (value < 0.0) == (truth < 0.0) ? 0.0 : 1.0;
    }
    return fabs(value - truth);
}

// Largest error; for flags the fraction of wrong answers. isKnown: some query was answered.
static double measureError(const rbConvexWork* work, bool* isKnown)
{
    double largest = 0.0;
    double sum = 0.0;
    *isKnown = false;
    work->peer->forget(work->state);
    for (int i = 0; i < work->set->pairs.count; ++i) {
        int slot = work->isWarm ? i % work->set->slotCount : -1;
        double value = work->row->query(work->row, work->state, i, slot);
        double error = checkAnswer(work->row->result, value, work->set->truths.data[i]);
        *isKnown = *isKnown || !isnan(value);
        largest = fmax(largest, error);
        sum += error;
    }
    return work->row->result == RB_PEER_BOOL ? sum / work->set->pairs.count : largest;
}

// CPU seconds per query of one batch. The first step of a warm set is not timed.
static double timeBatch(const rbConvexWork* work)
{
    const rbPeerRow* row = work->row;
    int slotCount = work->set->slotCount;
    int count = work->set->pairs.count;
    int first = 0;
    work->peer->forget(work->state);
    if (work->isWarm) {
        for (; first < slotCount; ++first) {
            (void)row->query(row, work->state, first, first);
        }
    }
    double start = rbGetCpuTime();
    for (int i = first; i < count; i += slotCount) {
        for (int slot = 0; slot < slotCount; ++slot) {
            (void)row->query(row, work->state, i + slot, work->isWarm ? slot : -1);
        }
    }
    double time = rbGetCpuTime() - start;
    return time / (count - first);
}

static double timeWork(const rbConvexWork* work, const rbConvexSuite* suite)
{
    double best = INFINITY;
    double start = rbGetCpuTime();
    for (int batch = 0; batch < suite->batches || rbGetCpuTime() - start < suite->seconds;
         ++batch) {
        best = fmin(best, timeBatch(work));
    }
    return best;
}

static bool isCompared(const rbBench* bench, rbPeerResult result, rbPlacement place)
{
    bool isApart = rbPlacements[place].distance > 0.0;
    bool isAsked = bench->only == NULL || strcmp(bench->only, resultNames[result]) == 0;
    return isAsked &&
           (result == RB_PEER_BOOL || result == (isApart ? RB_PEER_DISTANCE : RB_PEER_DEPTH));
}

static void addRow(rbConvexSuite* suite, const rbConvexRow* found)
{
    rbArray_Push(suite->rows, *found);
    rbBenchRow row = {.value = 1e9 * found->time, .unit = "ns", .errorMax = found->errorMax};
    (void)snprintf(row.caseName, sizeof row.caseName, "%s, %s", suite->shapeNames[found->shape],
                   rbPlacements[found->place].name);
    (void)snprintf(row.engine, sizeof row.engine, "%s", found->engine);
    (void)snprintf(row.metric, sizeof row.metric, "time per query, %s", startNames[found->isWarm]);
    (void)snprintf(row.result, sizeof row.result, "%s", resultNames[found->result]);
    rbBench_Record(suite->bench, row);
}

// Error and time of a call; the time is infinite if no query was answered.
static bool measureCall(const rbConvexSuite* suite, const rbConvexWork* work, rbConvexRow* found)
{
    bool isKnown = false;
    found->errorMax = measureError(work, &isKnown);
    found->time = isKnown ? timeWork(work, suite) : INFINITY;
    return true;
}

// The same in a child process. False if the library ended it or ran longer than CHILD_SECONDS.
static bool measureInChild(const rbConvexSuite* suite, const rbConvexWork* work, rbConvexRow* found)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        (void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO); // its last output
        (void)measureCall(suite, work, found);
        _exit(write(ends[1], found, sizeof *found) == (ssize_t)sizeof *found ? 0 : 1);
    }
    (void)close(ends[1]);
    rbConvexRow answer;
    bool isWhole = child > 0 && read(ends[0], &answer, sizeof answer) == (ssize_t)sizeof answer;
    (void)close(ends[0]);
    if (child > 0) {
        (void)waitpid(child, NULL, 0);
    }
    if (isWhole) {
        *found = answer;
    }
    return isWhole;
}

// All calls of one engine on one set.
static void measurePeer(rbConvexSuite* suite, rbConvexWork* work, rbConvexRow found)
{
    for (int i = 0; i < work->peer->rowCount; ++i) {
        work->row = &work->peer->rows[i];
        if (!isCompared(suite->bench, work->row->result, found.place)) {
            continue;
        }
        bool hasCall = work->row->call[0] != '\0';
        (void)snprintf(found.engine, sizeof found.engine, "%s%s%s", work->peer->library,
                       hasCall ? " " : "", work->row->call);
        char text[128];
        (void)snprintf(text, sizeof text, "convex: %s, %s, %s: %s", suite->shapeNames[found.shape],
                       rbPlacements[found.place].name, startNames[found.isWarm], found.engine);
        rbBench_ShowProgress(suite->bench, text);
        found.result = work->row->result;
        bool hasEnded =
            found.isOurs ? measureCall(suite, work, &found) : measureInChild(suite, work, &found);
        if (hasEnded && isfinite(found.time)) {
            addRow(suite, &found);
        }
        if (!hasEnded) {
            found.time = INFINITY;
            found.errorMax = INFINITY;
            rbArray_Push(suite->rows, found); // for the table alone
        }
    }
}

static void measurePlacement(rbConvexSuite* suite, const rbConvexPairs* pairs, rbConvexRow found)
{
    const rbPairSet* set = found.isWarm ? &pairs->warm[found.place] : &pairs->cold[found.place];
    for (int i = 0; i < suite->peerCount; ++i) {
        rbConvexWork work = {.peer = suite->peers[i], .set = set, .isWarm = found.isWarm != 0};
        work.state = work.peer->create(&pairs->shape.peer, set->pairs.data, set->pairs.count,
                                       set->slotCount);
        if (work.state != NULL) {
            found.isOurs = i == 0;
            measurePeer(suite, &work, found);
            work.peer->destroy(work.state);
        }
    }
}

// ------------------------------------------------------------------------------------------ tables

static bool isSameCell(const rbConvexRow* a, const rbConvexRow* b)
{
    return a->shape == b->shape && a->place == b->place && a->isWarm == b->isWarm &&
           a->result == b->result;
}

// Our own first row in the cell of a row, or the row of one of our calls if named; NULL if there is
// none.
static const rbConvexRow* findOurs(const rbConvexSuite* suite, const rbConvexRow* cell)
{
    for (int i = 0; i < suite->rows.count; ++i) {
        const rbConvexRow* row = &suite->rows.data[i];
        if (row->isOurs && isSameCell(row, cell)) {
            return row;
        }
    }
    return NULL;
}

static const rbConvexRow* findFastestPeer(const rbConvexSuite* suite, const rbConvexRow* cell)
{
    const rbConvexRow* best = NULL;
    for (int i = 0; i < suite->rows.count; ++i) {
        const rbConvexRow* row = &suite->rows.data[i];
        if (!row->isOurs && isSameCell(row, cell) && row->errorMax <= ERROR_MAX &&
            (best == NULL || row->time < best->time)) {
            best = row;
        }
    }
    return best;
}

// The rows of one shape, placement and start, by kind of answer.
static void printPlacement(const rbConvexSuite* suite, const rbConvexRow* cell)
{
    FILE* text = suite->bench->text;
    rbBench_ShowProgress(suite->bench, NULL);
    (void)fprintf(text, "\n  %s, %s (%+g m), %s\n", suite->shapeNames[cell->shape],
                  rbPlacements[cell->place].name, rbPlacements[cell->place].distance,
                  startNames[cell->isWarm]);
    for (int kind = RB_PEER_RESULT_COUNT - 1; kind >= 0; --kind) {
        for (int i = 0; i < suite->rows.count; ++i) {
            const rbConvexRow* row = &suite->rows.data[i];
            rbConvexRow wanted = *cell;
            wanted.result = (rbPeerResult)kind;
            if (!isSameCell(row, &wanted)) {
                continue;
            }
            (void)fprintf(text, "    %-9s %-32s ", resultNames[kind], row->engine);
            if (isinf(row->time)) {
                (void)fprintf(text, "     ended its process\n");
                continue;
            }
            (void)fprintf(text, "%8.0f ns  error %8.1e", 1e9 * row->time, row->errorMax);
            const rbConvexRow* ours = findOurs(suite, row);
            if (ours != NULL && ours != row) {
                (void)fprintf(text, "  %6.2f x ours", row->time / ours->time);
            }
            (void)fputc('\n', text);
        }
    }
    (void)fflush(text);
}

// One line of the assessment. Returns whether the cell passes.
static bool checkCell(const rbConvexSuite* suite, const rbConvexRow* ours)
{
    const rbConvexRow* peer = findFastestPeer(suite, ours);
    double ratio = peer != NULL ? peer->time / ours->time : INFINITY;
    bool passes = ratio >= RATIO_MIN && ours->errorMax <= ERROR_MAX;
    (void)fprintf(suite->bench->text, "    %-10s %-10s %-5s %-9s %8.0f ns %8.1e  ",
                  suite->shapeNames[ours->shape], rbPlacements[ours->place].name,
                  startNames[ours->isWarm], resultNames[ours->result], 1e9 * ours->time,
                  ours->errorMax);
    if (peer != NULL) {
        (void)fprintf(suite->bench->text, "%-28s %8.0f ns %6.2f  %s\n", peer->engine,
                      1e9 * peer->time, ratio, passes ? "PASS" : "FAIL");
    } else {
        (void)fprintf(suite->bench->text, "%-28s %11s %6s  %s\n", "none is that exact", "", "",
                      passes ? "PASS" : "FAIL");
    }
    return passes;
}

static void printVerdict(const rbConvexSuite* suite)
{
    FILE* text = suite->bench->text;
    (void)fprintf(
        text,
        "\n  assessment: the fastest peer with an error of at most %g against ours; a cell "
        "passes at %g x or more\n",
        ERROR_MAX, RATIO_MIN);
    (void)fprintf(text, "    %-10s %-10s %-5s %-9s %11s %8s  %-28s %11s %6s\n", "shape", "place",
                  "start", "answer", "ours", "error", "fastest peer", "theirs", "ratio");
    int cells[2] = {0};
    int passes[2] = {0};
    for (int isBool = 0; isBool < 2; ++isBool) {
        for (int i = 0; i < suite->rows.count; ++i) {
            const rbConvexRow* row = &suite->rows.data[i];
            if ((row->result == RB_PEER_BOOL) == (isBool == 1) && findOurs(suite, row) == row) {
                cells[isBool] += 1;
                passes[isBool] += checkCell(suite, row) ? 1 : 0;
            }
        }
    }
    (void)fprintf(text, "    %d of %d cells of distance and depth pass; of bool %d of %d\n",
                  passes[0], cells[0], passes[1], cells[1]);
}

// Measured once on a Neoverse-V1 with Jolt 5.5.1 in single precision, on these pairs; not a row.
static const struct {
    const char* shape;
    rbPlacement place;
    double jolt; // ns
} anchors[] = {
    {"box", RB_PLACE_SEPARATED, 380.0},      {"hull16", RB_PLACE_SEPARATED, 950.0},
    {"hull128", RB_PLACE_SEPARATED, 2900.0}, {"ellipsoid", RB_PLACE_TOUCHING, 2600.0},
    {"box", RB_PLACE_SHALLOW, 620.0},        {"hull16", RB_PLACE_SHALLOW, 1660.0},
    {"hull128", RB_PLACE_SHALLOW, 5600.0},   {"ellipsoid", RB_PLACE_SHALLOW, 4400.0},
};

static void printAnchors(const rbConvexSuite* suite)
{
    FILE* text = suite->bench->text;
    (void)fprintf(text, "\n  anchors: Jolt in float, recorded on a Neoverse-V1, cold\n");
    for (size_t k = 0; k < sizeof anchors / sizeof anchors[0]; ++k) {
        for (int i = 0; i < suite->rows.count; ++i) {
            const rbConvexRow* row = &suite->rows.data[i];
            if (row->isWarm || row->place != anchors[k].place || row->result == RB_PEER_BOOL ||
                findOurs(suite, row) != row ||
                strcmp(suite->shapeNames[row->shape], anchors[k].shape) != 0) {
                continue;
            }
            double time = 1e9 * row->time;
            (void)fprintf(text, "    %-10s %-10s %-9s ours %6.0f ns, Jolt %6.0f ns: %s\n",
                          anchors[k].shape, rbPlacements[row->place].name, resultNames[row->result],
                          time, anchors[k].jolt, time <= anchors[k].jolt ? "no slower" : "SLOWER");
        }
    }
}

#define WARM_GOAL 150.0 // ns, GJK with witnesses and bounds while the boxes turn

static void printWarmGoal(const rbConvexSuite* suite)
{
    FILE* text = suite->bench->text;
    (void)fprintf(text, "\n  warm goal: distance of boxes that turn 0.01 rad per query\n");
    for (int i = 0; i < suite->rows.count; ++i) {
        const rbConvexRow* row = &suite->rows.data[i];
        if (row->isOurs && row->isWarm && row->result == RB_PEER_DISTANCE &&
            strcmp(suite->shapeNames[row->shape], "box") == 0) {
            double time = 1e9 * row->time;
            (void)fprintf(text, "    %-10s %-22s %6.0f ns, goal %g ns: %s\n",
                          rbPlacements[row->place].name, row->engine, time, WARM_GOAL,
                          time <= WARM_GOAL ? "met" : "MISSED");
        }
    }
}

// --------------------------------------------------------------------------------------------- run

static void runShape(rbConvexSuite* suite, int shape)
{
    rbBench_ShowProgress(suite->bench, "convex: placing the pairs, finding their true answers");
    rbConvexPairs* pairs =
        rbMakeConvexPairs(shape, suite->coldCount, suite->warmCount, suite->warmSteps);
    if (pairs == NULL) {
        return; // no hulls in this build
    }
    suite->shapeNames[shape] = pairs->shape.name;
    for (int place = 0; place < RB_PLACE_COUNT; ++place) {
        for (int isWarm = 0; isWarm < 2; ++isWarm) {
            rbConvexRow cell = {.shape = shape, .place = (rbPlacement)place, .isWarm = isWarm};
            measurePlacement(suite, pairs, cell);
            if (suite->bench->text != NULL) {
                printPlacement(suite, &cell);
            }
        }
    }
    if (suite->bench->text != NULL) {
        (void)fprintf(suite->bench->text, "    gaps of these pairs are exact to %.0e m\n",
                      pairs->placeError);
    }
    rbFreeConvexPairs(pairs);
}

static void run(rbBench* bench)
{
    rbConvexSuite suite = {
        .bench = bench,
        .peers = {&rbPeerOurs},
        .coldCount = bench->isQuick ? 10 : COLD_COUNT,
        .warmCount = bench->isQuick ? 2 : WARM_COUNT,
        .warmSteps = bench->isQuick ? 3 : WARM_STEPS,
        .batches = bench->isQuick ? 1 : BATCHES,
        .seconds = bench->isQuick ? 0.0 : SECONDS,
    };
    suite.peerCount = 1 + (bench->isAlone ? 0 : rbLoadPeers(suite.peers + 1));
    if (suite.peerCount == 1 && !bench->isAlone && bench->text != NULL) {
        (void)fprintf(bench->text, "  no peers: 'make bench' installs and builds them\n");
    }
    for (int shape = 0; shape < RB_BENCH_SHAPE_COUNT; ++shape) {
        runShape(&suite, shape);
    }
    rbBench_ShowProgress(bench, NULL);
    if (bench->text != NULL) {
        if (suite.peerCount > 1) {
            printVerdict(&suite);
        }
        printAnchors(&suite);
        printWarmGoal(&suite);
    }
    rbArray_Free(suite.rows);
}

static const char* const parts[] = {"bool", "distance", "depth", NULL};

const rbBenchSuite rbSuiteConvex = {
    .name = "convex",
    .parts = parts,
    .help = "distance, depth and overlap of convex pairs compared with libccd, FCL and Bullet",
    .run = run,
};
