// Exact distance and overlap of two triangle meshes: ours compared with FCL's oriented volumes.
//
// A cell is a mesh size, a placement and a question: the distance from a cold start, the distance
// along a motion (where an engine may keep data between queries), or whether the bodies overlap.
// Every engine answers the same queries; the time is the CPU time per query, the mean of a batch,
// the least of the batches. Answers are compared with each other and, some of them and all that
// differ, with brute force. An engine with a wrong answer is not compared in speed.
#include "bench.h"
#include "collision/geometry/box_tree.h"
#include "mesh_pairs.h"
#include "mesh_reference.h"
#include "peers/loader.h"
#include "peers/peer_mesh_ours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENGINES_MAX 8
#define SECONDS 0.3      // of a cell and engine, at least
#define SECONDS_MAX 0.6  // no batch starts later
#define BATCHES 3        // at least, if there is time
#define SLOW_QUERY 0.03  // s; slower ones are run once
#define ERROR_MAX 1e-10  // m, about 5e-11 of the size: answers within this are the same
#define ERROR_FAILED 1.0 // m, the error of a missing answer
#define TREE_BYTES_MAX 160.0

typedef enum rbMeshQuestion {
    RB_MESH_COLD,
    RB_MESH_MOVING,
    RB_MESH_OVERLAPS,
    RB_MESH_QUESTION_COUNT
} rbMeshQuestion;

// Goals are the least ratio of FCL's best time to ours, 0: none.
static const struct {
    const char* title;
    const char* metric;
    const char* result;
    double goals[RB_MESH_PLACE_COUNT];
} questions[RB_MESH_QUESTION_COUNT] = {
    [RB_MESH_COLD] = {"distance, cold", "time per query, cold", "distance", {3.5, 5.0, 5.0, 5.0}},
    [RB_MESH_MOVING] = {"distance, motion",
                        "time per query, motion",
                        "distance",
                        {20.0, 20.0, 20.0, 20.0}},
    [RB_MESH_OVERLAPS] = {"overlap test", "time per query, cold", "bool", {0.0, 0.0, 0.0, 0.0}},
};

static const struct rbMeshSize {
    const char* name;
    int bands, segments;
    int pairCount;
    int pathCount, stepCount; // the first step of a path is not timed
    int forceCount;           // queries of a cell that brute force also answers
    int disputeCount;         // and at most this many more where engines differ
    int volumeCount;          // of a peer, at most
    int buildCount;           // repeats
    bool isValidated;         // in speed
} sizes[] = {
    // grid, pairs, paths, brute force, volumes, builds
    {"10,080 triangles", 71, 72, 100, 4, 51, 10, 10, ENGINES_MAX, 3, true},
    {"99,904 triangles", 224, 224, 100, 4, 51, 2, 5, ENGINES_MAX, 2, true},
    {"1,001,112 triangles", 708, 708, 3, 1, 21, 1, 1, 1, 1, false},
};
static const struct rbMeshSize quickSize = {
    "10,080 triangles", 71, 72, 4, 2, 4, 1, 2, ENGINES_MAX, 1, false,
};

// The result of an engine in a cell.
typedef struct rbMeshCell {
    bool isKnown;    // some query was answered
    double time;     // s per query
    double errorMax; // m; for flags the fraction of wrong answers; NaN: no truth is known
} rbMeshCell;

typedef struct rbMeshEngine {
    char name[40];
    const rbMeshPeerRow* row;
    void* state;
    double buildTime;      // s, of the hierarchy
    double geometryTime;   // s, of the whole geometry
    size_t bytes;          // of the whole geometry
    size_t hierarchyBytes; // 0: unknown
    rbMeshCell cells[RB_MESH_QUESTION_COUNT][RB_MESH_PLACE_COUNT];
} rbMeshEngine;

typedef struct rbMeshSuite {
    rbBench* bench;
    const struct rbMeshSize* size;
    rbBumpySphere sphere;
    rbPeerMesh mesh;
    rbMeshEngine engines[ENGINES_MAX]; // ours first
    int engineCount;
    rbMeshSet pairs[RB_MESH_PLACE_COUNT];
    rbMeshSet paths[RB_MESH_PLACE_COUNT];
    long long peakBytes; // while our geometry is created
    int disputes;        // answers that differ, and those that brute force proves wrong, per engine
    int lost[ENGINES_MAX];
    int goalCount, metCount;
} rbMeshSuite;

// ---------------------------------------------------------------------------------------- building

typedef struct rbPeak {
    long long bytes, most;
} rbPeak;

static void* allocCounted(size_t size, void* context)
{
    rbPeak* peak = context;
    peak->bytes += (long long)size;
    peak->most = peak->bytes > peak->most ? peak->bytes : peak->most;
    return malloc(size);
}

static void freeCounted(void* memory, size_t size, void* context)
{
    ((rbPeak*)context)->bytes -= (long long)size;
    free(memory);
}

static size_t getTreeBytes(const rbBoxTree* tree)
{
    return sizeof(*tree) + (size_t)tree->nodeCapacity * (sizeof(rbBoxNode) + sizeof(rbTiltedNode)) +
           (size_t)tree->rayNodeCapacity * sizeof(rbRayNode) +
           (size_t)tree->blockCount * sizeof(rbTriangleBlock);
}

// The tree alone, over the same triangles.
static void buildTree(rbMeshSuite* suite, rbMeshEngine* engine)
{
    int count = suite->mesh.triangleCount;
    size_t size = (size_t)count * sizeof(rbIndex3);
    rbIndex3* triangles = rbAlloc(size);
    memcpy(triangles, suite->mesh.triangles, size);
    for (int i = 0; i < suite->size->buildCount; ++i) {
        double start = rbGetCpuTime();
        rbBoxTree* tree = rbCreateBoxTree(suite->sphere.vertices.data, triangles, NULL, count);
        engine->buildTime = fmin(engine->buildTime, rbGetCpuTime() - start);
        engine->hierarchyBytes = getTreeBytes(tree);
        rbDestroyBoxTree(tree);
    }
    rbFree(triangles, size);
}

static void createState(rbMeshSuite* suite, rbMeshEngine* engine)
{
    for (int i = 0; i < suite->size->buildCount; ++i) {
        if (engine->state != NULL) {
            engine->row->destroy(engine->state);
        }
        double start = rbGetCpuTime();
        engine->state = engine->row->create(&suite->mesh);
        engine->geometryTime = fmin(engine->geometryTime, rbGetCpuTime() - start);
    }
    engine->bytes = engine->state != NULL ? engine->row->getBytes(engine->state) : 0;
}

// Skips an engine that refuses the mesh.
static void addEngine(rbMeshSuite* suite, const rbMeshPeer* peer, int volume)
{
    rbMeshEngine* engine = &suite->engines[suite->engineCount];
    *engine = (rbMeshEngine){.row = &peer->rows[volume]};
    engine->buildTime = INFINITY;
    engine->geometryTime = INFINITY;
    (void)snprintf(engine->name, sizeof engine->name, "%s%s%s", peer->library,
                   engine->row->volume[0] != '\0' ? " " : "", engine->row->volume);
    char text[128];
    (void)snprintf(text, sizeof text, "mesh-distance: %s, building: %s", suite->size->name,
                   engine->name);
    rbBench_ShowProgress(suite->bench, text);
    if (peer == &rbMeshPeerOurs) {
        rbPeak peak = {0, 0};
        rbSetAllocator(allocCounted, freeCounted, &peak);
        createState(suite, engine);
        rbSetAllocator(NULL, NULL, NULL);
        suite->peakBytes = peak.most;
        buildTree(suite, engine);
    } else {
        createState(suite, engine);
        engine->buildTime = engine->geometryTime;
    }
    suite->engineCount += engine->state != NULL ? 1 : 0;
}

// ----------------------------------------------------------------------------------------- queries

// The answers of one engine to the queries of one cell.
typedef struct rbMeshAnswers {
    double* distances; // m, NaN: none; of flags 1: overlap, 0: none
    double* errors;    // m, of the witnesses: difference of their distance from the answer
    int count;
} rbMeshAnswers;

static double ask(rbMeshEngine* engine, rbMeshQuestion question, int query, int slot,
                  double* witnessError)
{
    *witnessError = 0.0;
    if (question == RB_MESH_OVERLAPS) {
        int flag = engine->row->overlaps(engine->state, query);
        return flag >= 0 ? (double)flag : (double)NAN;
    }
    rbPeerWitness witness;
    engine->row->measure(engine->state, query, slot, &witness);
    if (witness.distance > 0.0) {
        rbVec3 between = {witness.pointB[0] - witness.pointA[0],
                          witness.pointB[1] - witness.pointA[1],
                          witness.pointB[2] - witness.pointA[2]};
        *witnessError = fabs(rbLength(between) - witness.distance);
    }
    return witness.distance;
}

// One batch. Returns the time per query, s. Queries from answers->count on are not run; slow
// engines set it to 1.
static double runBatch(rbMeshEngine* engine, rbMeshQuestion question, const rbMeshSet* set,
                       rbMeshAnswers* answers)
{
    bool isMoving = question == RB_MESH_MOVING;
    engine->row->setPairs(engine->state, set->pairs.data, set->pairs.count, set->slotCount);
    int untimed = isMoving ? set->slotCount : 0;
    int slot = 0;
    double start = rbGetCpuTime();
    for (int i = 0; i < answers->count; ++i) {
        if (i == untimed) {
            start = rbGetCpuTime();
        }
        answers->distances[i] = ask(engine, question, i, isMoving ? slot : -1, &answers->errors[i]);
        slot = slot + 1 < set->slotCount ? slot + 1 : 0;
        if (i == 0 && !isMoving && rbGetCpuTime() - start > SLOW_QUERY) {
            answers->count = 1;
        }
    }
    return (rbGetCpuTime() - start) / (answers->count - untimed);
}

static void askEngine(rbMeshSuite* suite, rbMeshEngine* engine, rbMeshQuestion question,
                      rbMeshPlace place, rbMeshAnswers* answers)
{
    const rbMeshSet* set = question == RB_MESH_MOVING ? &suite->paths[place] : &suite->pairs[place];
    rbMeshCell* cell = &engine->cells[question][place];
    char text[160];
    (void)snprintf(text, sizeof text, "mesh-distance: %s, %s, %s: %s", suite->size->name,
                   questions[question].title, rbMeshPlaces[place].name, engine->name);
    rbBench_ShowProgress(suite->bench, text);
    double begin = rbGetCpuTime();
    cell->time = runBatch(engine, question, set, answers);
    for (int i = 0; i < answers->count; ++i) {
        cell->isKnown = cell->isKnown || !isnan(answers->distances[i]);
    }
    if (!cell->isKnown || answers->count == 1 || suite->bench->isQuick) {
        return;
    }
    double spent = rbGetCpuTime() - begin;
    for (int batch = 1; (batch < BATCHES || spent < SECONDS) && spent < SECONDS_MAX; ++batch) {
        cell->time = fmin(cell->time, runBatch(engine, question, set, answers));
        spent = rbGetCpuTime() - begin;
    }
}

// --------------------------------------------------------------------------------------- comparing

// The least and the largest answer to a query; false if no engine answered.
static bool findRange(const rbMeshSuite* suite, const rbMeshAnswers* answers, int query,
                      double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int k = 0; k < suite->engineCount; ++k) {
        if (query < answers[k].count && !isnan(answers[k].distances[query])) {
            range[0] = fmin(range[0], answers[k].distances[query]);
            range[1] = fmax(range[1], answers[k].distances[query]);
        }
    }
    return range[0] <= range[1];
}

// Brute force where required, otherwise the answer two or more libraries agree on, otherwise NaN.
static double findTruth(rbMeshSuite* suite, const rbMeshSet* set, const rbMeshAnswers* answers,
                        int query, int* disputesLeft)
{
    double range[2];
    if (!findRange(suite, answers, query, range)) {
        return NAN;
    }
    bool isDispute = range[1] - range[0] > ERROR_MAX;
    int forceCount = suite->size->forceCount;
    bool isDue = forceCount > 0 && query % (set->pairs.count / forceCount) == 0;
    if (isDue || (isDispute && *disputesLeft > 0)) {
        *disputesLeft -= isDue ? 0 : 1;
        double truth = rbMeasureMeshesByForce(&suite->mesh, &set->pairs.data[query], range[0]);
        suite->disputes += isDispute ? 1 : 0;
        for (int k = 0; k < suite->engineCount && isDispute; ++k) {
            suite->lost[k] += fabs(answers[k].distances[query] - truth) > ERROR_MAX ? 1 : 0;
        }
        return truth;
    }
    bool hasOurs = !isnan(answers[0].distances[query]);
    return hasOurs && suite->engineCount > 1 ? range[0] : (double)NAN;
}

static void checkDistances(rbMeshSuite* suite, rbMeshQuestion question, rbMeshPlace place,
                           const rbMeshAnswers* answers)
{
    const rbMeshSet* set = question == RB_MESH_MOVING ? &suite->paths[place] : &suite->pairs[place];
    int disputesLeft = suite->size->disputeCount;
    for (int k = 0; k < suite->engineCount; ++k) {
        suite->engines[k].cells[question][place].errorMax = NAN;
    }
    for (int query = 0; query < set->pairs.count; ++query) {
        double truth = findTruth(suite, set, answers, query, &disputesLeft);
        for (int k = 0; k < suite->engineCount && !isnan(truth); ++k) {
            if (query >= answers[k].count) {
                continue;
            }
            double answer = answers[k].distances[query];
            double error =
                isnan(answer) ? ERROR_FAILED : fmax(fabs(answer - truth), answers[k].errors[query]);
            rbMeshCell* cell = &suite->engines[k].cells[question][place];
            cell->errorMax = fmax(cell->errorMax, error); // fmax drops the NaN
        }
    }
}

// The placement determines whether the pairs overlap.
static void checkFlags(rbMeshSuite* suite, rbMeshPlace place, const rbMeshAnswers* answers)
{
    double truth = place == RB_MESH_OVERLAP ? 1.0 : 0.0;
    for (int k = 0; k < suite->engineCount; ++k) {
        int wrong = 0;
        for (int i = 0; i < answers[k].count; ++i) {
            wrong += answers[k].distances[i] == truth ? 0 : 1;
        }
        suite->engines[k].cells[RB_MESH_OVERLAPS][place].errorMax =
            (double)wrong / answers[k].count;
    }
}

static void runCell(rbMeshSuite* suite, rbMeshQuestion question, rbMeshPlace place)
{
    const rbMeshSet* set = question == RB_MESH_MOVING ? &suite->paths[place] : &suite->pairs[place];
    size_t size = (size_t)set->pairs.count * sizeof(double);
    rbMeshAnswers answers[ENGINES_MAX] = {{NULL, NULL, 0}};
    for (int k = 0; k < suite->engineCount; ++k) {
        answers[k] = (rbMeshAnswers){rbAlloc(size), rbAlloc(size), set->pairs.count};
        askEngine(suite, &suite->engines[k], question, place, &answers[k]);
    }
    if (question == RB_MESH_OVERLAPS) {
        checkFlags(suite, place, answers);
    } else {
        checkDistances(suite, question, place, answers);
    }
    for (int k = 0; k < suite->engineCount; ++k) {
        rbFree(answers[k].distances, size);
        rbFree(answers[k].errors, size);
    }
}

// -------------------------------------------------------------------------------------------- rows

static void record(const rbMeshSuite* suite, const rbMeshEngine* engine, rbBenchRow row,
                   const char* place, const char* metric)
{
    (void)snprintf(row.caseName, sizeof row.caseName, "%s%s%s", suite->size->name,
                   place[0] != '\0' ? ", " : "", place);
    (void)snprintf(row.engine, sizeof row.engine, "%s", engine->name);
    (void)snprintf(row.metric, sizeof row.metric, "%s", metric);
    rbBench_Record(suite->bench, row);
}

static void recordRows(const rbMeshSuite* suite)
{
    double count = suite->mesh.triangleCount;
    for (int k = 0; k < suite->engineCount; ++k) {
        const rbMeshEngine* engine = &suite->engines[k];
        for (int i = 0; i < RB_MESH_QUESTION_COUNT * RB_MESH_PLACE_COUNT; ++i) {
            int question = i / RB_MESH_PLACE_COUNT;
            int place = i % RB_MESH_PLACE_COUNT;
            const rbMeshCell* cell = &engine->cells[question][place];
            rbBenchRow row = {.value = 1e6 * cell->time, .unit = "us", .errorMax = cell->errorMax};
            (void)snprintf(row.result, sizeof row.result, "%s", questions[question].result);
            if (cell->isKnown) {
                record(suite, engine, row, rbMeshPlaces[place].name, questions[question].metric);
            }
        }
        rbBenchRow time = {.unit = "ms", .result = "hierarchy", .errorMax = NAN};
        time.value = 1e3 * engine->buildTime;
        record(suite, engine, time, "", "build time");
        rbBenchRow bytes = {.unit = "byte", .result = "geometry", .errorMax = NAN};
        bytes.value = (double)engine->bytes / count;
        record(suite, engine, bytes, "", "bytes per triangle");
    }
    const rbMeshEngine* ours = &suite->engines[0];
    rbBenchRow bytes = {.unit = "byte", .result = "hierarchy", .errorMax = NAN};
    bytes.value = (double)ours->hierarchyBytes / count;
    record(suite, ours, bytes, "", "bytes per triangle");
    rbBenchRow time = {.unit = "ms", .result = "geometry", .errorMax = NAN};
    time.value = 1e3 * ours->geometryTime;
    record(suite, ours, time, "", "build time");
    rbBenchRow peak = {.unit = "byte", .result = "geometry", .errorMax = NAN};
    peak.value = (double)suite->peakBytes / count;
    record(suite, ours, peak, "", "most bytes per triangle while building");
}

// ------------------------------------------------------------------------------------------ tables

// Prints the goal and whether it is met, and counts it.
static void printGoal(rbMeshSuite* suite, double goal, bool isMet)
{
    suite->goalCount += 1;
    suite->metCount += isMet ? 1 : 0;
    (void)fprintf(suite->bench->text, " %5.1f  %s", goal, isMet ? "pass" : "MISS");
}

static void printNumber(FILE* text, bool isKnown, double value)
{
    if (isKnown) {
        (void)fprintf(text, " %11.*f", value < 100.0 ? 2 : 1, value);
    } else {
        (void)fprintf(text, " %11s", "-");
    }
}

static void printError(FILE* text, double error)
{
    if (isnan(error)) {
        (void)fprintf(text, "  %8s", "-");
    } else {
        (void)fprintf(text, "  %8.1e", error);
    }
}

static void printHeads(const rbMeshSuite* suite)
{
    FILE* text = suite->bench->text;
    (void)fprintf(text, "\n  %s a body\n    %-18s", suite->size->name, "us a query");
    for (int k = 0; k < suite->engineCount; ++k) {
        (void)fprintf(text, " %11s", suite->engines[k].name);
    }
    (void)fprintf(text, "   %6s %5s  %-4s  %s\n", "ratio", "goal", "", "error ours, theirs");
}

static void printCell(rbMeshSuite* suite, rbMeshQuestion question, rbMeshPlace place)
{
    FILE* text = suite->bench->text;
    const rbMeshCell* ours = &suite->engines[0].cells[question][place];
    double limit = question == RB_MESH_OVERLAPS ? 0.0 : ERROR_MAX;
    double best = INFINITY;
    double peerError = NAN;
    (void)fprintf(text, "      %-16s", rbMeshPlaces[place].name);
    for (int k = 0; k < suite->engineCount; ++k) {
        const rbMeshCell* cell = &suite->engines[k].cells[question][place];
        printNumber(text, cell->isKnown, 1e6 * cell->time);
        if (k > 0 && cell->isKnown) {
            peerError = fmax(peerError, cell->errorMax);
            best = cell->errorMax > limit ? best : fmin(best, cell->time);
        }
    }
    double goal = questions[question].goals[place];
    if (ours->isKnown && isfinite(best)) {
        (void)fprintf(text, "   %6.2f", best / ours->time);
    } else {
        (void)fprintf(text, "   %6s", "-");
    }
    if (goal > 0.0 && isfinite(best) && suite->size->isValidated) {
        printGoal(suite, goal,
                  ours->isKnown && !(ours->errorMax > limit) && best / ours->time >= goal);
    } else {
        (void)fprintf(text, " %5s  %4s", "", "");
    }
    printError(text, ours->isKnown ? ours->errorMax : (double)NAN);
    printError(text, peerError);
    (void)fputc('\n', text);
}

static void printBuild(rbMeshSuite* suite)
{
    FILE* text = suite->bench->text;
    const rbMeshEngine* ours = &suite->engines[0];
    double count = suite->mesh.triangleCount;
    double best = INFINITY;
    (void)fprintf(text, "    %-18s", "build, ms");
    for (int k = 0; k < suite->engineCount; ++k) {
        printNumber(text, true, 1e3 * suite->engines[k].buildTime);
        best = k > 0 ? fmin(best, suite->engines[k].buildTime) : best;
    }
    if (isfinite(best)) {
        (void)fprintf(text, "   %6.2f", best / ours->buildTime);
    }
    if (isfinite(best) && suite->size->isValidated) {
        printGoal(suite, 1.0, best >= ours->buildTime);
    }
    (void)fprintf(text, "\n    %-18s", "bytes per triangle");
    for (int k = 0; k < suite->engineCount; ++k) {
        printNumber(text, true, (double)suite->engines[k].bytes / count);
    }
    (void)fprintf(text, "   mesh and hierarchy\n");
    double treeBytes = (double)ours->hierarchyBytes / count;
    (void)fprintf(text, "    %-18s %11.2f bytes per triangle, at most", "our tree alone",
                  treeBytes);
    printGoal(suite, TREE_BYTES_MAX, treeBytes <= TREE_BYTES_MAX);
    (void)fprintf(text,
                  "\n    %-18s %11.2f ms to create with its checks; %.1f MB kept, %.1f MB at most "
                  "meanwhile\n",
                  "our whole mesh", 1e3 * ours->geometryTime, 1e-6 * (double)ours->bytes,
                  1e-6 * (double)suite->peakBytes);
}

static void printPlacing(const rbMeshSuite* suite)
{
    double gaps[2] = {0.0, 0.0};
    double motion = 0.0;
    for (int place = 0; place < RB_MESH_PLACE_COUNT; ++place) {
        gaps[0] = fmax(gaps[0], suite->pairs[place].gapErrorMax);
        gaps[1] = fmax(gaps[1], suite->paths[place].gapErrorMax);
        motion = fmax(motion, suite->paths[place].motionMax);
    }
    (void)fprintf(
        suite->bench->text,
        "    gaps are exact to %.0e m, along the paths to %.0e m; motion between queries: "
        "%.2e of the diameter\n",
        gaps[0], gaps[1], motion / (2.0 * RB_BUMPY_RADIUS_MAX));
}

static void printDisputes(const rbMeshSuite* suite)
{
    FILE* text = suite->bench->text;
    if (suite->disputes == 0) {
        return;
    }
    (void)fprintf(text, "    %d queries got different answers; wrong according to brute force:",
                  suite->disputes);
    for (int k = 0; k < suite->engineCount; ++k) {
        (void)fprintf(text, "%s %s %d", k > 0 ? "," : "", suite->engines[k].name, suite->lost[k]);
    }
    (void)fputc('\n', text);
}

static void printSize(rbMeshSuite* suite)
{
    rbBench_ShowProgress(suite->bench, NULL);
    printHeads(suite);
    for (int question = 0; question < RB_MESH_QUESTION_COUNT; ++question) {
        (void)fprintf(suite->bench->text, "    %s\n", questions[question].title);
        for (int place = 0; place < RB_MESH_PLACE_COUNT; ++place) {
            printCell(suite, (rbMeshQuestion)question, (rbMeshPlace)place);
        }
    }
    printBuild(suite);
    printPlacing(suite);
    printDisputes(suite);
    (void)fflush(suite->bench->text);
}

static void printCaption(const rbBench* bench)
{
    const struct rbMeshSize* size = bench->isQuick ? &quickSize : &sizes[0];
    (void)fprintf(
        bench->text,
        "  Two copies of a closed bumpy sphere, r = 1 + 0.05 sin(8 theta) sin(8 phi) m, double\n"
        "  precision, exact answers with witnesses. gap: true distance of the surfaces, m, "
        "reached\n"
        "  along the line of centers; overlapping: 0.06 m nearer than at the gap 0.01.\n"
        "  cold: %d random pairs%s; motion: %d paths of %d queries, any point of\n"
        "  B moves at most %g of the diameter between them. ratio: the best exact peer to ours.\n"
        "  error: m, where two libraries or brute force answered; overlap test: the\n"
        "  fraction of wrong answers.\n",
        size->pairCount, bench->isQuick ? "" : " (3 of the largest)", size->pathCount,
        size->stepCount - 1, RB_MESH_MOTION);
}

// --------------------------------------------------------------------------------------------- run

// The engine that places the pairs: ours, or a peer while ours refuses meshes.
static rbMeshRuler findRuler(const rbMeshSuite* suite)
{
    rbPeerPair pair = {{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
                       {{4.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}};
    for (int k = 0; k < suite->engineCount; ++k) {
        const rbMeshEngine* engine = &suite->engines[k];
        rbPeerWitness witness = {.distance = NAN};
        engine->row->setPairs(engine->state, &pair, 1, 0);
        engine->row->measure(engine->state, 0, -1, &witness);
        if (!isnan(witness.distance)) {
            return (rbMeshRuler){engine->row, engine->state};
        }
    }
    return (rbMeshRuler){NULL, NULL};
}

static void runQuestions(rbMeshSuite* suite)
{
    rbMeshRuler ruler = findRuler(suite);
    if (ruler.row == NULL) {
        return;
    }
    rbBench_ShowProgress(suite->bench, "mesh-distance: placing the pairs");
    const struct rbMeshSize* size = suite->size;
    rbMakeMeshPairs(ruler, size->pairCount, suite->pairs);
    rbMakeMeshPaths(ruler, suite->pairs, size->pathCount, size->stepCount, suite->paths);
    for (int i = 0; i < RB_MESH_QUESTION_COUNT * RB_MESH_PLACE_COUNT; ++i) {
        rbMeshQuestion question = (rbMeshQuestion)(i / RB_MESH_PLACE_COUNT);
        if (suite->bench->only == NULL ||
            strcmp(suite->bench->only, questions[question].result) == 0) {
            runCell(suite, question, (rbMeshPlace)(i % RB_MESH_PLACE_COUNT));
        }
    }
}

static void runSize(rbMeshSuite* suite, const rbMeshPeer* const* peers, int peerCount)
{
    rbBumpySphere_Make(&suite->sphere, suite->size->bands, suite->size->segments);
    const rbBumpySphere* sphere = &suite->sphere;
    RB_ASSERT(sizeof(rbVec3) == 3 * sizeof(double));
    suite->mesh = (rbPeerMesh){
        .vertices = (const double(*)[3])sphere->vertices.data,
        .triangles = (const int(*)[3])sphere->indices.data,
        .vertexCount = sphere->vertices.count,
        .triangleCount = sphere->triangleCount,
    };
    suite->disputes = 0;
    memset(suite->lost, 0, sizeof suite->lost);
    suite->engineCount = 0;
    for (int i = 0; i < peerCount && (i == 0 || suite->engineCount > 0); ++i) {
        for (int volume = 0; volume < peers[i]->rowCount && volume < suite->size->volumeCount &&
                             suite->engineCount < ENGINES_MAX;
             ++volume) {
            addEngine(suite, peers[i], volume);
        }
    }
    if (suite->engineCount > 0) { // our engine accepts the mesh
        runQuestions(suite);
        recordRows(suite);
    }
    if (suite->bench->text != NULL && suite->engineCount > 0) {
        printSize(suite);
    }
    rbFreeMeshSets(suite->pairs);
    rbFreeMeshSets(suite->paths);
    for (int k = 0; k < suite->engineCount; ++k) {
        suite->engines[k].row->destroy(suite->engines[k].state);
    }
    rbBumpySphere_Free(&suite->sphere);
}

static void run(rbBench* bench)
{
    const rbMeshPeer* peers[1 + RB_PEERS_MAX] = {&rbMeshPeerOurs};
    int peerCount = 1 + (bench->isAlone ? 0 : rbLoadMeshPeers(peers + 1));
    rbMeshSuite* suite = rbAllocZero(1, sizeof *suite);
    suite->bench = bench;
    if (bench->text != NULL) {
        printCaption(bench);
        if (peerCount == 1 && !bench->isAlone) {
            (void)fprintf(bench->text, "  no peers: 'make bench' installs and builds them\n");
        }
    }
    int sizeCount = bench->isQuick ? 1 : (int)(sizeof sizes / sizeof sizes[0]);
    bool isBool = bench->only != NULL && strcmp(bench->only, "bool") == 0;
    sizeCount -= isBool && sizeCount > 1 ? 1 : 0; // the largest has no peer that is validated
    for (int i = 0; i < sizeCount; ++i) {
        suite->size = bench->isQuick ? &quickSize : &sizes[i];
        runSize(suite, peers, peerCount);
    }
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "\n  %d of %d goals are met\n", suite->metCount,
                      suite->goalCount);
    }
    rbFree(suite, sizeof *suite);
}

static const char* const parts[] = {"distance", "bool", NULL};

const rbBenchSuite rbSuiteMeshDistance = {
    .name = "mesh-distance",
    .parts = parts,
    .help = "exact distance and overlap of two meshes compared with FCL",
    .run = run,
};
