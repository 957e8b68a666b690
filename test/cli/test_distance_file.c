// rattleback distance FILE: the example of the docs, comparing, logging, replaying, and refusals.
#include "base/core/random.h"
#include "child.h"
#include "lab/math/random3.h"
#include "pairs/pair_file.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The first block of docs/pair-files.md as a file.
static const char* writeExample(void)
{
    size_t size = 0;
    char* page = rbReadFile(RB_SOURCE_DIR "/docs/pair-files.md", &size);
    char* start = strstr(page, "```\n");
    assert_non_null(start);
    char* end = strstr(start + 4, "```\n");
    assert_non_null(end);
    rbWriteFile(rbScratch("example.pairs"), start + 4, (size_t)(end - start - 4));
    free(page);
    return "example.pairs"; // the program runs in the scratch folder
}

#define JSON(exitCode, ...) \
    rbRunJson(exitCode, (const char* const[]){"distance", __VA_ARGS__, "--json", NULL})

static double numberOf(const json_t* object, const char* key)
{
    return json_number_value(json_object_get(object, key));
}

static void theExampleOfTheDocsIsMeasured(void** state)
{
    (void)state;
    // By hand: 2 - 0.5 - 0.5; 0.1 deep; 2/sqrt(3) from the slanted face; 1 - 0.5 - 0.2 - 0.05;
    // see test_distance.c.
    static const double truths[] = {1.0, -0.1, 1.1547005383792515 - 0.001, 0.25, 0.3};
    const char* path = writeExample();
    json_t* pairs = JSON(0, path);
    assert_int_equal(json_array_size(pairs), 6);
    for (size_t i = 0; i < 6; ++i) {
        const json_t* pair = json_array_get(pairs, i);
        assert_int_equal(json_integer_value(json_object_get(pair, "pair")), i + 1);
        double distance = numberOf(pair, "distance");
        assert_true(numberOf(pair, "lower") <= distance && distance <= numberOf(pair, "upper"));
        if (i < 5) {
            checkNear(distance, truths[i], 1e-12);
        }
    }
    json_decref(pairs);
    rbChild child = RUN("distance", path);
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "6 pairs: 2 overlap, 0 not measured"));
    rbFreeChild(&child);
    child = RUN("distance", path, "--pair", "2");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "2 of 6"));
    assert_non_null(strstr(child.out, "found by hand"));
    assert_non_null(strstr(child.out, "point on A"));
    rbFreeChild(&child);
    // Rounding both by 0.1 reduces the distance by 0.2; one pair is an array of one.
    pairs = JSON(0, path, "--pair", "1", "--radius-a", "0.1", "--radius-b", "0.1");
    assert_int_equal(json_array_size(pairs), 1);
    checkNear(numberOf(json_array_get(pairs, 0), "distance"), 0.8, 1e-12);
    json_decref(pairs);
    // Pairs that a method does not support are reported; the others are measured.
    child = RUN("distance", path, "--method", "closed");
    assert_int_equal(child.exitCode, 2);
    assert_non_null(strstr(child.out, "not measured: "));
    assert_non_null(strstr(child.out, "closed form\n"));
    assert_non_null(strstr(child.err, "could not be measured"));
    rbFreeChild(&child);
}

static void writeRandomBoxes(const char* path, int count)
{
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file, "rattleback pairs 1\n");
    rbRandom random = {rbTest_Seed(41)};
    for (int i = 0; i < count; ++i) {
        rbVec3 p = rbScale(rbRandom_Range(&random, 0.5, 2.0), rbRandom_Direction(&random));
        rbQuat q = rbRandom_Quat(&random);
        (void)fprintf(file, "box:1,1.1,%.17g box:1,1,1 %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n",
                      rbRandom_Range(&random, 0.5, 1.0), p.x, p.y, p.z, q.w, q.x, q.y, q.z);
    }
    assert_int_equal(fclose(file), 0);
}

// G-41
static void differencesAreLoggedWorstFirstAndReplay(void** state)
{
    (void)state;
    const char* boxes = "boxes.pairs";
    const char* logged = "incidents.pairs";
    writeRandomBoxes(rbScratch(boxes), 60);
    // Both methods agree to the threshold, but not to the last bit.
    json_t* report = JSON(0, boxes, "--method", "closed", "--compare", "iterative");
    assert_int_equal(numberOf(report, "measured"), 60);
    assert_int_equal(numberOf(report, "beyond"), 0);
    json_decref(report);
    report = JSON(1, boxes, "--method", "closed", "--compare", "iterative", "--threshold", "0",
                  "--log", logged);
    int beyond = (int)numberOf(report, "beyond");
    assert_in_range(beyond, 1, 60);
    double worst = numberOf(json_array_get(json_object_get(report, "largest"), 0), "relative");
    json_decref(report);
    rbPairFile* file = NULL;
    rbError error = {0};
    assert_int_equal(rbReadPairFile(rbScratch(logged), &file, &error), RB_STATUS_OK);
    int count = 0;
    const rbShapePair* pairs = rbPairFile_GetPairs(file, &count);
    assert_int_equal(count, beyond);
    checkNear(pairs[0].severity, worst, 0.0);
    json_t* closed = JSON(0, logged, "--method", "closed");
    json_t* iterative = JSON(0, logged, "--method", "iterative");
    for (int i = 0; i < count; ++i) {
        assert_true(i == 0 || pairs[i].severity <= pairs[i - 1].severity);
        // The remark contains both answers, and the replay reproduces them.
        const char* second = strstr(pairs[i].remark, "; iterative ");
        assert_non_null(second);
        assert_memory_equal(pairs[i].remark, "closed ", 7);
        double first = strtod(pairs[i].remark + 7, NULL);
        checkNear(numberOf(json_array_get(closed, (size_t)i), "distance"), first, 0.0);
        checkNear(numberOf(json_array_get(iterative, (size_t)i), "distance"),
                  strtod(second + 12, NULL), 0.0);
    }
    json_decref(closed);
    json_decref(iterative);
    rbDestroyPairFile(file);
}

// G-45
static void replayTimesEveryCombinationOfTypes(void** state)
{
    (void)state;
    const char* path = "recorded.pairs";
    rbWriteText(rbScratch(path),
                "rattleback pairs 1\n"
                "box:1,1,1 sphere:1 2 0 0 1 0 0 0\nsphere:2 box:1,1,1 2 0 0 1 0 0 0\n"
                "sphere:1 sphere:1 1 0 0 1 0 0 0\nplane:0,0,1 plane:0,0,1 0 0 0 1 0 0 0\n");
    json_t* groups = JSON(0, path, "--time");
    // Box and sphere in both orders form one group; planes are skipped.
    assert_int_equal(json_array_size(groups), 2);
    for (size_t i = 0; i < 2; ++i) {
        const json_t* group = json_array_get(groups, i);
        assert_int_equal(numberOf(group, "pairs"), i + 1);
        assert_true(numberOf(group, "nanoseconds") > 1.0);
        checkRelative(numberOf(group, "pairsPerSecond") * numberOf(group, "nanoseconds"), 1e9,
                      1e-9);
    }
    json_decref(groups);
    rbChild child = RUN("distance", path, "--time");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "sphere box"));
    assert_non_null(strstr(child.out, "1 pairs were skipped"));
    rbFreeChild(&child);
}

static void mistakesAboutFilesAreExplained(void** state)
{
    (void)state;
    const char* path = writeExample();
    rbWriteText(rbScratch("empty"), "");
    rbExpectFailure(RUN("distance", "no.pairs"), 2, "no.pairs: there is no such file");
    rbExpectFailure(RUN("distance", "sphere:1"), 2, "two shapes or a pair file");
    rbExpectFailure(RUN("distance", "empty"), 2, "rattleback pairs 1");
    rbExpectFailure(RUN("distance", path, "--position", "1,2,3"), 2, "has its own pose");
    rbExpectFailure(RUN("distance", "sphere:1", "sphere:1", "--time"), 2, "pair file");
    rbExpectFailure(RUN("distance", path, "--log", "x"), 2, "needs --compare");
    rbExpectFailure(RUN("distance", path, "--compare", "magic"), 2, "choose one of auto");
    rbExpectFailure(RUN("distance", path, "--compare", "auto"), 2, "choose another");
    rbExpectFailure(RUN("distance", path, "--compare", "iterative", "--time"), 2,
                    "cannot be combined");
    rbExpectFailure(RUN("distance", path, "--pair", "7"), 2, "between 1 and 6");
    rbExpectFailure(RUN("distance", path, "--pair", "1.5"), 2, "must be an integer");
    rbExpectFailure(RUN("distance", path, "--compare", "iterative", "--log", "/nowhere/a"), 2,
                    "make the folder first");
    rbChild child = RUN("distance", path, "--compare", "iterative", "--log", "/dev/full");
    assert_int_equal(child.exitCode, 2);
    assert_non_null(strstr(child.err, "No space left"));
    rbFreeChild(&child);
    rbWriteText(rbScratch("bad.pairs"), "rattleback pairs 1\n\nbox:1,1,0 sphere:1 0 0 0 1 0 0 0\n");
    rbExpectFailure(RUN("distance", "bad.pairs"), 2, "bad.pairs:3:1: 'box:1,1,0'");
}

static void hullOfAMeshFileIsThatOfItsPoints(void** state)
{
    (void)state;
    rbWriteText(rbScratch("wedge.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.1 0.1 0.1\n"
                                        "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    json_t* answer = JSON(0, "hull:wedge.obj", "sphere:0.001", "--position", "1,1,1");
    checkNear(numberOf(answer, "distance"), 1.1547005383792515 - 0.001, 1e-12);
    json_decref(answer);
}

RB_TEST_GROUP(test_distance_file, SCRATCH_TEST(theExampleOfTheDocsIsMeasured),
              SCRATCH_TEST(differencesAreLoggedWorstFirstAndReplay),
              SCRATCH_TEST(replayTimesEveryCombinationOfTypes),
              SCRATCH_TEST(mistakesAboutFilesAreExplained),
              SCRATCH_TEST(hullOfAMeshFileIsThatOfItsPoints));
