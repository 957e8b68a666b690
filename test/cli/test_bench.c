// rattleback bench: the convex suite, the throughput table, a pile of the contacts suite and the
// accuracy suite run, and their answers are right.
//
// Quick runs with the peers that are installed, if any: few pairs, one repeat. The tests check that
// every cell has our row with an error far below the size, not its speed.
#include "child.h"

#include <jansson.h>
#include <string.h>

static json_t* runSuite(const char* suite)
{
    rbChild child = RUN("bench", suite, "--quick", "--no-peers", "--json");
    rbExpectSuccess(&child);
    json_error_t error;
    json_t* rows = json_loads(child.out, 0, &error);
    assert_true(json_is_array(rows));
    rbFreeChild(&child);
    return rows;
}

static const char* textOf(const json_t* row, const char* key)
{
    const char* text = json_string_value(json_object_get(row, key));
    assert_non_null(text);
    return text;
}

// Our own row of a cell, with the method that is chosen automatically; NULL if there is none.
static const json_t* findOurs(const json_t* rows, const char* cell, const char* start,
                              const char* result)
{
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t* row = json_array_get(rows, i);
        if (strcmp(textOf(row, "engine"), "rattleback") == 0 &&
            strcmp(textOf(row, "case"), cell) == 0 && strcmp(textOf(row, "result"), result) == 0 &&
            strstr(textOf(row, "metric"), start) != NULL) {
            return row;
        }
    }
    return NULL;
}

static void everyCellOfTheConvexSuiteIsAnsweredExactly(void** state)
{
    (void)state;
    static const char* const shapes[] = {"box", "ellipsoid", "hull16", "hull128"};
    static const char* const places[][2] = {{"separated", "distance"},
                                            {"touching", "distance"},
                                            {"shallow", "depth"},
                                            {"deep", "depth"}};
    static const char* const starts[] = {"cold", "warm"};
    json_t* rows = runSuite("convex");
    for (int i = 0; i < 64; ++i) {
        const char* const* place = places[i / 4 % 4];
        const char* result = i / 32 == 0 ? place[1] : "bool";
        char cell[64];
        (void)snprintf(cell, sizeof cell, "%s, %s", shapes[i % 4], place[0]);
        const json_t* row = findOurs(rows, cell, starts[i / 16 % 2], result);
        assert_non_null(row);
        assert_string_equal(textOf(row, "unit"), "ns");
        assert_true(json_number_value(json_object_get(row, "value")) > 0.0);
        const json_t* error = json_object_get(row, "error_max");
        assert_true(json_is_number(error));
        checkNear(json_number_value(error), 0.0, 1e-9);
    }
    json_decref(rows);
}

//
static void throughputComparesIterationWithClosedForms(void** state)
{
    (void)state;
    static const char* const pairs[] = {"sphere-sphere", "sphere-sphere, mapped", "sphere-cube",
                                        "sphere-cube, mapped", "cube-cube"};
    json_t* rows = runSuite("throughput");
    assert_int_equal(json_array_size(rows), 10);
    for (int i = 0; i < 5; ++i) {
        const json_t* closed = findOurs(rows, pairs[i], "closed form", "depth");
        const json_t* iterative = findOurs(rows, pairs[i], "iterative", "depth");
        assert_non_null(closed);
        assert_non_null(iterative);
        assert_true(json_number_value(json_object_get(closed, "value")) > 0.0);
        // Two methods give one answer, to the tolerance requested of the iteration.
        checkNear(json_number_value(json_object_get(iterative, "error_max")), 0.0, 1e-7);
    }
    json_decref(rows);
}

// Balls that have not reached the floor yet: 12 steps of a sixtieth of a second in free fall.
static void aPileOfTheContactsSuiteIsMeasured(void** state)
{
    (void)state;
    static const struct {
        const char* metric;
        double value;
    } expected[] = {
        {"residual speed", 9.81 * 0.2},
        {"largest displacement", 0.5 * 9.81 * 0.04},
        {"deepest overlap", 0.0},
        {"escaped bodies", 0.0},
    };
    rbChild child =
        RUN("bench", "contacts", "--only", "spheres1000", "--quick", "--no-peers", "--json");
    rbExpectSuccess(&child);
    json_error_t error;
    json_t* rows = json_loads(child.out, 0, &error);
    assert_true(json_is_array(rows));
    int found = 0;
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t* row = json_array_get(rows, i);
        assert_string_equal(textOf(row, "case"), "spheres1000");
        for (size_t k = 0; k < sizeof expected / sizeof expected[0]; ++k) {
            if (strcmp(textOf(row, "metric"), expected[k].metric) == 0) {
                // 12 kicks and flights, each rounded a few times
                checkNear(json_number_value(json_object_get(row, "value")), expected[k].value,
                          1e-12);
                ++found;
            }
        }
    }
    assert_int_equal(found, 8); // four of each of our configurations
    json_decref(rows);
    rbFreeChild(&child);
    rbExpectFailure(RUN("bench", "contacts", "--only", "spheres"), 2, "no part 'spheres'");
    rbExpectFailure(RUN("bench", "flight", "--only", "spheres1000"), 2, "one suite that has parts");
}

// Ten scenes, mechanisms and contacts, asked for 1e-2 to 1e-6 m: the end is off by at most ten
// times that from the closed form or the reduced equations.
static void tenScenesEndWhereTheyWereAskedTo(void** state)
{
    (void)state;
    static const char* const scenes[] = {
        "double-pendulum", "four-bar", "top",  "striking-pendulum", "sliding-block",
        "rolling-ball",    "bounces",  "coin", "tipping-block",     "colliding-cubes"};
    json_t* rows = runSuite("accuracy");
    assert_int_equal(json_array_size(rows), 60); // error and time of three accuracies
    for (int i = 0; i < 30; ++i) {
        double asked = i / 10 == 0 ? 1e-2 : i / 10 == 1 ? 1e-4 : 1e-6;
        char metric[48];
        (void)snprintf(metric, sizeof metric, "error at the end, asked %g", asked);
        const json_t* row = findOurs(rows, scenes[i % 10], metric, "end");
        assert_non_null(row);
        double error = json_number_value(json_object_get(row, "value"));
        assert_true(error > 0.0);
        checkBelow(error, 10.0 * asked);
        checkNear(json_number_value(json_object_get(row, "error_max")), error / asked,
                  1e-9 * error / asked);
    }
    json_decref(rows);
    rbExpectFailure(RUN("bench", "accuracy", "--only", "coins"), 2, "did you mean coin");
}

RB_TEST_GROUP(test_bench, SCRATCH_TEST(everyCellOfTheConvexSuiteIsAnsweredExactly),
              SCRATCH_TEST(throughputComparesIterationWithClosedForms),
              SCRATCH_TEST(aPileOfTheContactsSuiteIsMeasured),
              SCRATCH_TEST(tenScenesEndWhereTheyWereAskedTo));
