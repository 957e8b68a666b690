// Rows that a program adds to the tables at startup: see added_rows.c.
#include "child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rbChildOptions withRows = {.program = RB_ADDED_ROWS};
#define RUN_ADDED(...) rbRunProgramWith((const char* const[]){__VA_ARGS__, NULL}, &withRows)

// The box rises at 8 m/s against 9.8 m/s^2: in half a second 8 t - 4.9 t^2 = 2.775 m.
static void anAddedOutputIsWrittenListedAndExplained(void** state)
{
    (void)state;
    const char* path = rbScratch("height.txt");
    rbChild child = RUN_ADDED("run", "tumbling-box", "--duration", "0.5", "--height", path);
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "height.txt"));
    rbFreeChild(&child);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    char text[256];
    assert_non_null(fgets(text, sizeof text, file));
    (void)fclose(file);
    char* after = NULL;
    double height = strtod(text, &after);
    assert_memory_equal(after, " m after ", 9);
    double time = strtod(after + 9, NULL);
    checkNear(time, 0.5, 0.0);
    checkNear(height, 2.775, 1e-12);
    child = RUN_ADDED("run", "--help");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "--height FILE"));
    rbFreeChild(&child);
    child = RUN_ADDED("run", "tumbling-box", "--height", "/nowhere/height.txt");
    rbExpectFailure(child, 2, "cannot write /nowhere/height.txt");
    // the program itself has no such option
    rbExpectFailure(RUN("run", "tumbling-box", "--height", path), 2, "no option --height");
}

// The first number after the time in the last line of a table.
static double readLast(const char* table, double* third)
{
    FILE* file = fopen(table, "r");
    assert_non_null(file);
    char line[256];
    double time = 0.0;
    double values[3] = {0.0, 0.0, 0.0};
    while (fgets(line, sizeof line, file) != NULL) {
        char* next = NULL;
        time = strtod(line, &next);
        for (int i = 0; i < 3 && *next == ','; ++i) {
            values[i] = strtod(next + 1, &next);
        }
    }
    (void)fclose(file);
    checkNear(time, 1.0, 0.0);
    *third = values[2];
    return values[0];
}

static const char* writeScene(const char* force)
{
    const char* path = rbScratch("scene.json");
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file,
                  "{\"rattleback\": 1, \"duration\": 1, \"world\": {\"gravity\": [0, 0, 0]},\n"
                  "\"output\": {\"probes\": [{\"body\": \"ball\", \"quantity\": \"position\"}]},\n"
                  "\"bodies\": [{\"name\": \"ball\", \"mass\": 2, \"shapes\": [{\"geometry\": "
                  "{\"type\": \"sphere\", \"radius\": 0.1}}]}],\n"
                  "\"forces\": [%s]}\n",
                  force);
    (void)fclose(file);
    return path;
}

// m v' = c (u - v) from rest: x = u (t - m/c (1 - exp(-c t/m))) = 3 (1 - (1 - exp(-2)) / 2) m.
static void anAddedForceIsReadFromAScene(void** state)
{
    (void)state;
    const char* scene = writeScene("{\"type\": \"wind\", \"velocity\": [3, 0, 0], \"drag\": 4}");
    const char* table = rbScratch("wind.csv");
    rbChild child = RUN_ADDED("run", scene, "--csv", table);
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    double z = 0.0;
    double x = readLast(table, &z);
    checkNear(x, 3.0 - 1.5 * (1.0 - exp(-2.0)), 1e-9);
    // keys, ranges and its own check produce messages like those of the other forces
    scene = writeScene("{\"type\": \"wind\", \"drag\": 4}");
    rbExpectFailure(RUN_ADDED("run", scene), 2, "velocity");
    scene = writeScene("{\"type\": \"wind\", \"velocity\": [3, 0, 0], \"darg\": 4}");
    rbExpectFailure(RUN_ADDED("run", scene), 2, "did you mean \"drag\"?");
    scene = writeScene("{\"type\": \"wind\", \"velocity\": [3, 0, 0], \"drag\": 2e6}");
    rbExpectFailure(RUN_ADDED("run", scene), 2, "at most 1e6 is accepted");
    // the program itself does not support it
    rbExpectFailure(RUN("run", scene), 2, "expected \"constant\", \"drag\" or \"central\"");
}

// A bicone of height 0.5 m falls 2.5 m onto its apex: t = sqrt(2 * 2.5 / 9.81) s.
static void anAddedShapeIsMeasuredSimulatedAndDrawn(void** state)
{
    (void)state;
    rbChild child =
        RUN_ADDED("distance", "bicone:1,2", "sphere:0.5", "--position", "0,0,5", "--json");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "2.5"));
    rbFreeChild(&child);
    const char* scene = rbScratch("bicone.json");
    FILE* file = fopen(scene, "w");
    assert_non_null(file);
    (void)fputs("{\"rattleback\": 1, \"engine\": \"event\", \"duration\": 1, \"bodies\": [\n"
                "{\"name\": \"spindle\", \"position\": [0, 0, 3], \"shapes\": [{\"geometry\": "
                "{\"type\": \"bicone\", \"radius\": 0.3, \"height\": 0.5}}]},\n"
                "{\"name\": \"floor\", \"type\": \"static\", \"shapes\": [{\"geometry\": "
                "{\"type\": \"plane\", \"normal\": [0, 0, 1]}}]}]}\n",
                file);
    (void)fclose(file);
    const char* journal = rbScratch("bicone.csv");
    const char* picture = rbScratch("bicone.png");
    child = RUN_ADDED("run", scene, "--journal", journal, "--vtk", rbScratch("vtk"), "--png",
                      picture, "--size", "64x64");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    file = fopen(journal, "r");
    assert_non_null(file);
    char line[400];
    double time = 0.0;
    while (time == 0.0 && fgets(line, sizeof line, file) != NULL) {
        time = strtod(line, NULL);
    }
    (void)fclose(file);
    checkNear(time, sqrt(2.0 * 2.5 / 9.81), 2e-6); // a few um at 7 m/s: the contact tolerance
    rbExpectFailure(RUN_ADDED("distance", "bicone:1", "sphere:0.5"), 2, "radius, height");
    rbExpectFailure(RUN("distance", "bicone:1,2", "sphere:0.5"), 2, "there is no shape 'bicone'");
}

// On a planar joint a body neither falls nor tips: x = v t, z = 0. The solver is the direct one
// under another name: the same bits.
static void anAddedJointAndAnAddedSolverAreUsed(void** state)
{
    (void)state;
    const char* scene = rbScratch("planar.json");
    FILE* file = fopen(scene, "w");
    assert_non_null(file);
    (void)fputs("{\"rattleback\": 1, \"engine\": \"step\", \"duration\": 1,\n"
                "\"output\": {\"probes\": [{\"body\": \"puck\", \"quantity\": \"position\"}]},\n"
                "\"bodies\": [{\"name\": \"puck\", \"velocity\": [1, 0, 0], \"spin\": [0, 0, 2], "
                "\"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [1, 2, 3]}}]}],\n"
                "\"joints\": [{\"type\": \"planar\", \"bodyB\": \"puck\", \"anchor\": [0, 0, 0], "
                "\"axis\": [0, 0, 1]}]}\n",
                file);
    (void)fclose(file);
    const char* tables[2] = {rbScratch("again.csv"), rbScratch("direct.csv")};
    static const char* const solvers[2] = {"step.solver=direct-again", "step.solver=direct"};
    double x[2];
    double z[2];
    for (int i = 0; i < 2; ++i) {
        rbChild child = RUN_ADDED("run", scene, "--set", solvers[i], "--csv", tables[i]);
        rbExpectSuccess(&child);
        rbFreeChild(&child);
        x[i] = readLast(tables[i], &z[i]);
    }
    checkNear(x[0], 1.0, 1e-9);
    checkNear(z[0], 0.0, 1e-6);
    checkNear(x[0], x[1], 0.0);
    checkNear(z[0], z[1], 0.0);
    rbExpectFailure(RUN("run", rbScratch("planar.json")), 2, "unknown type of joint \"planar\"");
}

RB_TEST_GROUP(test_added_rows, SCRATCH_TEST(anAddedOutputIsWrittenListedAndExplained),
              SCRATCH_TEST(anAddedForceIsReadFromAScene),
              SCRATCH_TEST(anAddedShapeIsMeasuredSimulatedAndDrawn),
              SCRATCH_TEST(anAddedJointAndAnAddedSolverAreUsed));
