// rattleback distance FILE: measures the pairs of a file, compares two methods, or times one.
//
// The file is an incident log (G-41) or a recording (G-45); docs/pair-files.md describes the
// format.
#include "base/core/memory.h"
#include "base/core/timer.h"
#include "base/math/elementary.h"
#include "cli/distance.h"
#include "pairs/pair_file.h"
#include "pairs/pair_log.h"

#include <rattleback/output.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEGREES_PER_RADIAN (180.0 / RB_PI)
#define SHOWN_DIFFERENCES 10
#define TYPE_COUNT (RB_SHAPE_COUNT + RB_REGISTERED_MAX)
#define GROUP_COUNT (TYPE_COUNT * TYPE_COUNT)
#define THRESHOLD_DEFAULT \
    1e-7 // relative to the size: above the tolerance 1e-8 of an iterated depth

// The pairs to process: a whole file or one of its pairs.
typedef struct PairRun {
    const rbArguments* arguments;
    const rbShapePair* pairs; // all pairs of the file
    int first, last;          // range to process; last is exclusive
    int count;                // in the file
    rbSeparationInput input;
    void* scratch;
    bool isJson;
} PairRun;

typedef rbExit RunFn(PairRun* run);

static rbStatus measure(PairRun* run, int index, rbPairMethod method, rbSeparation* separation,
                        rbError* error)
{
    const rbShapePair* pair = &run->pairs[index];
    run->input.geometryA = pair->a;
    run->input.geometryB = pair->b;
    run->input.transformBtoA = pair->transformBtoA;
    run->input.method = method;
    return rbMeasureSeparation(&run->input, NULL, run->scratch, separation, error);
}

static const char* typeName(const rbGeometry* geometry)
{
    return rbShapeType_Name(rbGeometry_GetType(geometry));
}

static const char* describeTypes(const rbGeometry* a, const rbGeometry* b, char text[32])
{
    (void)snprintf(text, 32, "%s %s", typeName(a), typeName(b));
    return text;
}

// --------------------------------------------------------------------------------------- measuring

static void printPairHead(const PairRun* run, int index)
{
    const rbShapePair* pair = &run->pairs[index];
    rbVec3 p = pair->transformBtoA.p;
    rbQuat q = pair->transformBtoA.q;
    (void)printf("pair        %d of %d, line %d\n", index + 1, run->count, pair->line);
    (void)printf("A           %s\nB           %s\n", pair->wordsA, pair->wordsB);
    (void)printf("position    %.17g %.17g %.17g m, of B in the frame of A\n", p.x, p.y, p.z);
    (void)printf("orientation %.17g %.17g %.17g %.17g\n", q.w, q.x, q.y, q.z);
    if (pair->severity != 0.0 || pair->remark[0] != '\0') {
        (void)printf("severity    %g\nremark      %s\n", pair->severity, pair->remark);
    }
}

static void printPairJson(rbJson* json, const PairRun* run, int index)
{
    const rbShapePair* pair = &run->pairs[index];
    rbQuat q = pair->transformBtoA.q;
    const double w[4] = {q.w, q.x, q.y, q.z};
    rbJson_Integer(json, "pair", index + 1);
    rbJson_Integer(json, "line", pair->line);
    rbJson_Text(json, "a", pair->wordsA);
    rbJson_Text(json, "b", pair->wordsB);
    rbJson_Vec3(json, "position", pair->transformBtoA.p);
    rbJson_BeginArray(json, "orientation");
    for (int i = 0; i < 4; ++i) {
        rbJson_Number(json, NULL, w[i]);
    }
    rbJson_End(json);
    rbJson_Number(json, "severity", pair->severity);
    rbJson_Text(json, "remark", pair->remark);
}

static void printAnswer(const PairRun* run, int index, const rbSeparation* s)
{
    if (run->last - run->first == 1 && rbArguments_Has(run->arguments, "--pair")) {
        printPairHead(run, index);
        rbPrintSeparation(s);
        return;
    }
    char types[32];
    (void)printf("%7d  %-20s %24.17g %24.17g %24.17g  %s\n", index + 1,
                 describeTypes(run->pairs[index].a, run->pairs[index].b, types), s->distance,
                 s->lower, s->upper, rbStopReason_Text(s->reason));
}

static rbExit measureAll(PairRun* run)
{
    rbJson json = {.file = stdout};
    int wideCount = 0;
    int failedCount = 0;
    int firstFailed = 0;
    rbError firstFailure = {0};
    int overlapCount = 0;
    bool isOne = rbArguments_Has(run->arguments, "--pair");
    if (run->isJson) {
        rbJson_BeginArray(&json, NULL);
    } else if (!isOne) {
        (void)printf("%7s  %-20s %24s %24s %24s  %s\n", "pair", "types", "distance [m]",
                     "lower [m]", "upper [m]", "why it stopped");
    }
    for (int i = run->first; i < run->last; ++i) {
        rbSeparation separation;
        rbError error = {0};
        bool isDone = measure(run, i, run->input.method, &separation, &error) == RB_STATUS_OK;
        if (!isDone && failedCount++ == 0) {
            firstFailure = error;
            firstFailed = i;
        }
        wideCount += isDone && rbIsWide(&separation);
        overlapCount += isDone && separation.distance < 0.0;
        if (run->isJson) {
            rbJson_BeginObject(&json, NULL);
            printPairJson(&json, run, i);
            if (isDone) {
                rbJson_Separation(&json, &separation);
            } else {
                rbJson_Error(&json, "error", &error);
            }
            rbJson_End(&json);
        } else if (isDone) {
            printAnswer(run, i, &separation);
        } else {
            char types[32];
            (void)printf("%7d  %-20s not measured: %s\n", i + 1,
                         describeTypes(run->pairs[i].a, run->pairs[i].b, types), error.message);
        }
    }
    if (run->isJson) {
        rbJson_End(&json);
    } else if (!isOne) {
        (void)printf("%d pairs: %d overlap, %d not measured, %d with wide bounds\n",
                     run->last - run->first, overlapCount, failedCount, wideCount);
    }
    if (failedCount > 0) {
        return rbFail("%d of %d pairs could not be measured by the method '%s'; pair %d: %s",
                      failedCount, run->last - run->first, rbPairMethod_Name(run->input.method),
                      firstFailed + 1, firstFailure.message);
    }
    return wideCount > 0 ? RB_EXIT_NUMERICAL : RB_EXIT_DONE;
}

// --------------------------------------------------------------------------------------- comparing

// A pair measured by two methods.
typedef struct Difference {
    int index;       // of the pair
    double relative; // difference of the distances over the size of the pair
    double absolute; // m
    double angle;    // between the normals, degrees
    double first;    // distances, m
    double second;
} Difference;

typedef struct Comparison {
    rbPairMethod methods[2];
    double threshold; // of Difference.relative
    double angleMax;  // degrees
    rbPairLog* log;   // NULL: none
    int measuredCount;
    int beyondCount;
    int contactCount; // differing pairs where only one method finds an overlap
    int excludeCount; // differing pairs with disjoint bounds: one method is wrong
    Difference largest[SHOWN_DIFFERENCES + 1]; // worst first, the last one is a spare
    int largestCount;
} Comparison;

// The larger radius of the two about their own origins; planes do not count.
static double measureSize(const rbShapePair* pair)
{
    double size = 0.0;
    const rbGeometry* shapes[2] = {pair->a, pair->b};
    for (int i = 0; i < 2; ++i) {
        if (rbGeometry_IsBounded(shapes[i])) {
            size = fmax(size, rbGeometry_GetRadius(shapes[i], (rbVec3){0.0, 0.0, 0.0}));
        }
    }
    return size > 0.0 ? size : 1.0;
}

static bool isWorse(const Difference* a, const Difference* b)
{
    return a->relative != b->relative ? a->relative > b->relative : a->angle > b->angle;
}

static void keepLargest(Comparison* comparison, Difference difference)
{
    int at = comparison->largestCount;
    while (at > 0 && isWorse(&difference, &comparison->largest[at - 1])) {
        comparison->largest[at] = comparison->largest[at - 1];
        --at;
    }
    comparison->largest[at] = difference;
    if (comparison->largestCount < SHOWN_DIFFERENCES) {
        ++comparison->largestCount;
    }
}

static bool haveCommonBounds(const rbSeparation s[2])
{
    return s[0].lower <= s[1].upper && s[1].lower <= s[0].upper;
}

static void logIncident(const PairRun* run, Comparison* comparison, const Difference* difference,
                        const rbSeparation s[2])
{
    const rbShapePair* pair = &run->pairs[difference->index];
    char remark[400];
    (void)snprintf(remark, sizeof remark,
                   "%s %.17g m normal (%.12g, %.12g, %.12g); %s %.17g m normal (%.12g, %.12g, "
                   "%.12g); %.3g degrees%s",
                   rbPairMethod_Name(comparison->methods[0]), s[0].distance, s[0].normal.x,
                   s[0].normal.y, s[0].normal.z, rbPairMethod_Name(comparison->methods[1]),
                   s[1].distance, s[1].normal.x, s[1].normal.y, s[1].normal.z, difference->angle,
                   haveCommonBounds(s) ? "" : "; bounds are disjoint");
    rbPairLog_Add(comparison->log, pair->a, pair->b, pair->transformBtoA, difference->relative,
                  remark);
}

static void comparePair(PairRun* run, Comparison* comparison, int index)
{
    rbSeparation s[2];
    for (int i = 0; i < 2; ++i) {
        if (measure(run, index, comparison->methods[i], &s[i], NULL) != RB_STATUS_OK) {
            return; // a method that does not support these types
        }
    }
    // atan2 of both products: acos cannot resolve small angles.
    rbVec3 cross = rbCross(s[0].normal, s[1].normal);
    double angle = rbAtan2(rbLength(cross), rbDot(s[0].normal, s[1].normal)) * DEGREES_PER_RADIAN;
    double absolute = fabs(s[0].distance - s[1].distance);
    Difference difference = {index,         absolute / measureSize(&run->pairs[index]),
                             absolute,      angle,
                             s[0].distance, s[1].distance};
    comparison->measuredCount += 1;
    keepLargest(comparison, difference);
    bool excludes = !haveCommonBounds(s);
    if (difference.relative > comparison->threshold || angle > comparison->angleMax || excludes) {
        comparison->beyondCount += 1;
        comparison->excludeCount += excludes;
        comparison->contactCount += (s[0].distance > 0.0) != (s[1].distance > 0.0);
        if (comparison->log != NULL) {
            logIncident(run, comparison, &difference, s);
        }
    }
}

static void printComparison(const PairRun* run, const Comparison* c)
{
    const char* names[2] = {rbPairMethod_Name(c->methods[0]), rbPairMethod_Name(c->methods[1])};
    int skipped = run->last - run->first - c->measuredCount;
    (void)printf("%s against %s: %d pairs, %d of them not measured by one or both methods\n",
                 names[0], names[1], run->last - run->first, skipped);
    (void)printf("%d differ by more than %g of the size", c->beyondCount, c->threshold);
    if (isfinite(c->angleMax)) {
        (void)printf(" or %g degrees", c->angleMax);
    }
    (void)printf(", or have disjoint bounds:\n"
                 "%d of them disagree about contact, %d have disjoint bounds\n",
                 c->contactCount, c->excludeCount);
    if (c->largestCount > 0) {
        (void)printf("\n%7s  %-20s %11s %11s %11s %24s %24s\n", "pair", "types", "of size", "[m]",
                     "[degrees]", names[0], names[1]);
    }
    for (int i = 0; i < c->largestCount; ++i) {
        const Difference* d = &c->largest[i];
        char types[32];
        (void)printf("%7d  %-20s %11.4g %11.4g %11.4g %24.17g %24.17g\n", d->index + 1,
                     describeTypes(run->pairs[d->index].a, run->pairs[d->index].b, types),
                     d->relative, d->absolute, d->angle, d->first, d->second);
    }
}

static void printComparisonJson(const PairRun* run, const Comparison* c)
{
    rbJson json = {.file = stdout};
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "method", rbPairMethod_Name(c->methods[0]));
    rbJson_Text(&json, "compare", rbPairMethod_Name(c->methods[1]));
    rbJson_Integer(&json, "pairs", run->last - run->first);
    rbJson_Integer(&json, "measured", c->measuredCount);
    rbJson_Number(&json, "threshold", c->threshold);
    rbJson_Number(&json, "angleThreshold", c->angleMax);
    rbJson_Integer(&json, "beyond", c->beyondCount);
    rbJson_Integer(&json, "contactDiffers", c->contactCount);
    rbJson_Integer(&json, "boundsExclude", c->excludeCount);
    rbJson_BeginArray(&json, "largest");
    for (int i = 0; i < c->largestCount; ++i) {
        const Difference* d = &c->largest[i];
        rbJson_BeginObject(&json, NULL);
        rbJson_Integer(&json, "pair", d->index + 1);
        rbJson_Text(&json, "a", run->pairs[d->index].wordsA);
        rbJson_Text(&json, "b", run->pairs[d->index].wordsB);
        rbJson_Number(&json, "relative", d->relative);
        rbJson_Number(&json, "absolute", d->absolute);
        rbJson_Number(&json, "angle", d->angle);
        rbJson_Number(&json, "distance", d->first);
        rbJson_Number(&json, "compareDistance", d->second);
        rbJson_End(&json);
    }
    rbJson_End(&json);
    rbJson_End(&json);
}

static rbExit compareAll(PairRun* run)
{
    Comparison c = {.methods = {run->input.method, RB_PAIR_AUTO},
                    .threshold = THRESHOLD_DEFAULT,
                    .angleMax = INFINITY};
    if (!rbReadMethod(run->arguments, "--compare", &c.methods[1]) ||
        !rbArguments_GetNumber(run->arguments, "--threshold", 0.0, 1e12, &c.threshold) ||
        !rbArguments_GetNumber(run->arguments, "--angle", 0.0, 180.0, &c.angleMax)) {
        return RB_EXIT_USAGE;
    }
    if (c.methods[0] == c.methods[1]) {
        return rbFail("--compare names '%s', which is already the method; choose another with "
                      "--method or --compare",
                      rbPairMethod_Name(c.methods[0]));
    }
    const char* path = rbArguments_Get(run->arguments, "--log");
    rbError error = {0};
    if (path != NULL) {
        c.log = rbOpenPairLog(path, &error);
        if (c.log == NULL) {
            return rbFailWith(&error);
        }
    }
    for (int i = run->first; i < run->last; ++i) {
        comparePair(run, &c, i);
    }
    if (run->isJson) {
        printComparisonJson(run, &c);
    } else {
        printComparison(run, &c);
    }
    if (rbPairLog_Close(&c.log, true, &error) != RB_STATUS_OK) {
        return rbFailWith(&error);
    }
    if (path != NULL && !run->isJson) {
        (void)printf("\n%d pair%s written to %s\n", c.beyondCount, c.beyondCount == 1 ? "" : "s",
                     path);
    }
    if (c.measuredCount == 0 && run->last > run->first) {
        return rbFail("no pair was compared: %s or %s supports none of them",
                      rbPairMethod_Name(c.methods[0]), rbPairMethod_Name(c.methods[1]));
    }
    return c.beyondCount > 0 ? RB_EXIT_NO : RB_EXIT_DONE;
}

// ------------------------------------------------------------------------------------------ timing

#define BLOCK_SECONDS 2e-3 // per clock reading, so that its own cost is negligible
#define BLOCK_COUNT 5      // the fastest counts: the others were disturbed

static int getGroup(const rbShapePair* pair)
{
    int a = (int)rbGeometry_GetType(pair->a);
    int b = (int)rbGeometry_GetType(pair->b);
    return a < b ? a * TYPE_COUNT + b : b * TYPE_COUNT + a;
}

static double timePasses(const rbSeparationInput* inputs, int count, int passes, void* scratch)
{
    rbSeparation separation;
    double start = rbGetWallTime();
    for (int k = 0; k < passes; ++k) {
        for (int i = 0; i < count; ++i) {
            (void)rbMeasureSeparation(&inputs[i], NULL, scratch, &separation, NULL);
        }
    }
    return rbGetWallTime() - start;
}

// Seconds per pair, the minimum of several blocks.
static double timeGroup(const rbSeparationInput* inputs, int count, void* scratch)
{
    RB_ASSERT(count > 0);
    int passes = 1;
    double seconds = timePasses(inputs, count, passes, scratch);
    while (seconds < BLOCK_SECONDS && passes < 1 << 24) {
        passes *= 2;
        seconds = timePasses(inputs, count, passes, scratch);
    }
    double least = seconds;
    for (int i = 1; i < BLOCK_COUNT; ++i) {
        least = fmin(least, timePasses(inputs, count, passes, scratch));
    }
    return least / ((double)passes * (double)count);
}

// Inputs of the pairs of a group that the method can measure; returns how many.
static int loadGroup(PairRun* run, int group, rbSeparationInput* inputs)
{
    int count = 0;
    for (int i = run->first; i < run->last; ++i) {
        rbSeparation separation;
        if (getGroup(&run->pairs[i]) == group &&
            measure(run, i, run->input.method, &separation, NULL) == RB_STATUS_OK) {
            inputs[count++] = run->input;
        }
    }
    return count;
}

static void printTime(rbJson* json, const PairRun* run, int group, int count, double seconds)
{
    const char* first = rbShapeType_Name((rbShapeType)(group / TYPE_COUNT));
    const char* second = rbShapeType_Name((rbShapeType)(group % TYPE_COUNT));
    if (run->isJson) {
        rbJson_BeginObject(json, NULL);
        rbJson_Text(json, "a", first);
        rbJson_Text(json, "b", second);
        rbJson_Integer(json, "pairs", count);
        rbJson_Number(json, "nanoseconds", 1e9 * seconds);
        rbJson_Number(json, "pairsPerSecond", 1.0 / seconds);
        rbJson_End(json);
        return;
    }
    char types[32];
    (void)snprintf(types, sizeof types, "%s %s", first, second);
    (void)printf("%-20s %9d %12.1f %14.0f\n", types, count, 1e9 * seconds, 1.0 / seconds);
}

static rbExit timeAll(PairRun* run)
{
    int counts[GROUP_COUNT] = {0};
    int largest = 0;
    for (int i = run->first; i < run->last; ++i) {
        int count = ++counts[getGroup(&run->pairs[i])];
        largest = count > largest ? count : largest;
    }
    rbSeparationInput* inputs = rbAlloc((size_t)largest * sizeof *inputs);
    rbJson json = {.file = stdout};
    int leftOut = 0;
    if (run->isJson) {
        rbJson_BeginArray(&json, NULL);
    } else {
        (void)printf("%-20s %9s %12s %14s\n", "types", "pairs", "ns per pair", "pairs/s");
    }
    for (int group = 0; group < GROUP_COUNT; ++group) {
        int count = counts[group] > 0 ? loadGroup(run, group, inputs) : 0;
        leftOut += counts[group] - count;
        if (count > 0) {
            printTime(&json, run, group, count, timeGroup(inputs, count, run->scratch));
        }
    }
    rbFree(inputs, (size_t)largest * sizeof *inputs);
    if (run->isJson) {
        rbJson_End(&json);
    } else if (leftOut > 0) {
        (void)printf("%d pairs were skipped: the method '%s' does not support them\n", leftOut,
                     rbPairMethod_Name(run->input.method));
    }
    return RB_EXIT_DONE;
}

// ------------------------------------------------------------------------------------------ choice

// The pairs selected by --pair.
static bool chooseRange(PairRun* run)
{
    double number = 0.0;
    run->first = 0;
    run->last = run->count;
    if (!rbArguments_Has(run->arguments, "--pair")) {
        return true;
    }
    if (run->count == 0) {
        (void)rbFail("--pair: the file has no pairs");
        return false;
    }
    if (!rbArguments_GetNumber(run->arguments, "--pair", 1.0, run->count, &number)) {
        return false;
    }
    if (number != floor(number)) {
        (void)rbFail("--pair is %s; must be an integer", rbArguments_Get(run->arguments, "--pair"));
        return false;
    }
    run->first = (int)number - 1;
    run->last = (int)number;
    return true;
}

static bool validateOptions(const rbArguments* arguments)
{
    static const char* const needers[] = {"--log", "--threshold", "--angle"};
    bool hasCompare = rbArguments_Has(arguments, "--compare");
    for (size_t i = 0; i < sizeof needers / sizeof needers[0]; ++i) {
        if (rbArguments_Has(arguments, needers[i]) && !hasCompare) {
            (void)rbFail("%s needs --compare NAME, the method to compare with", needers[i]);
            return false;
        }
    }
    if (hasCompare && rbArguments_Has(arguments, "--time")) {
        (void)rbFail("--time and --compare cannot be combined; give one of them");
        return false;
    }
    return true;
}

rbExit rbRunPairFile(const rbArguments* arguments, const rbSeparationInput* input)
{
    const char* path = arguments->words[0];
    struct stat info;
    if (stat(path, &info) != 0 && (strchr(path, ':') != NULL || path[0] == '{')) {
        return rbFail("distance needs two shapes or a pair file, and there is no file '%.80s'; "
                      "for example: %s",
                      path, arguments->verb->examples[0]);
    }
    if (rbIsMeshPath(path)) {
        return rbFail("distance needs two shapes; '%.200s' is only one; for example: rattleback "
                      "distance %.200s sphere:0.5 --position 2,0,0",
                      path, path);
    }
    rbPairFile* file = NULL;
    rbError error = {0};
    if (!validateOptions(arguments)) {
        return RB_EXIT_USAGE;
    }
    if (rbReadPairFile(path, &file, &error) != RB_STATUS_OK) {
        return rbFailWith(&error);
    }
    PairRun run = {
        .arguments = arguments, .input = *input, .isJson = rbArguments_Has(arguments, "--json")};
    run.pairs = rbPairFile_GetPairs(file, &run.count);
    rbExit exit = RB_EXIT_USAGE;
    if (chooseRange(&run)) {
        RunFn* runFn = rbArguments_Has(arguments, "--compare") ? compareAll
                       : rbArguments_Has(arguments, "--time")  ? timeAll
                                                               : measureAll;
        run.scratch = rbAlloc(rbGetSeparationScratchSize());
        exit = runFn(&run);
        rbFree(run.scratch, rbGetSeparationScratchSize());
    }
    rbDestroyPairFile(file);
    return exit;
}
