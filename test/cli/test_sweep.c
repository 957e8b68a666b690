// rattleback sweep: grids, failures kept apart, going on with a table, and what is refused.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CELLS_MAX 256

// A row of a table, cut into cells; quoted cells have no quotes inside in these tests.
typedef struct Row {
    char text[16384];
    char* cells[CELLS_MAX];
    int count;
} Row;

static void readRow(const char* table, int number, Row* row)
{
    char* text = rbReadFile(rbScratch(table), &(size_t){0});
    const char* line = text;
    for (int i = 0; i < number; ++i) {
        line = strchr(line, '\n');
        assert_non_null(line);
        ++line;
    }
    (void)snprintf(row->text, sizeof row->text, "%.*s", (int)strcspn(line, "\n"), line);
    free(text);
    row->count = 0;
    bool isQuoted = false;
    row->cells[row->count++] = row->text;
    for (char* c = row->text; *c != '\0'; ++c) {
        isQuoted = *c == '"' ? !isQuoted : isQuoted;
        if (*c == ',' && !isQuoted) {
            *c = '\0';
            assert_true(row->count < CELLS_MAX);
            row->cells[row->count++] = c + 1;
        }
    }
}

// The cell of a row under a name.
static const char* findCell(const char* table, int number, const char* name)
{
    static Row row;
    Row header;
    readRow(table, 0, &header);
    readRow(table, number, &row);
    int i = 0;
    while (i < header.count && strcmp(header.cells[i], name) != 0) {
        ++i;
    }
    assert_true(i < header.count && i < row.count);
    return row.cells[i];
}

static double numberAt(const char* table, int number, const char* name)
{
    const char* cell = findCell(table, number, name);
    char* end = NULL;
    double value = strtod(cell, &end);
    assert_true(end != cell && *end == '\0');
    return value;
}

// A ball that is thrown upward, with gravity 10 m/s^2.
static const char* writeThrow(const char* more)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"rattleback\": 1, \"duration\": 1, \"world\": {\"gravity\": [0, 0, -10]},\n"
                   "\"output\": {\"step\": 0.01, \"probes\": [{\"name\": \"p\", \"body\": "
                   "\"ball\", \"quantity\": \"position\"}]},\n"
                   "\"bodies\": [{\"name\": \"ball\", \"velocity\": [0, 0, 1], \"mass\": 2, "
                   "\"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}}]}]%s}\n",
                   more);
    rbWriteText(rbScratch("throw.json"), text);
    return "throw.json";
}

static void expectSame(const char* a, const char* b)
{
    char* textA = rbReadFile(rbScratch(a), &(size_t){0});
    char* textB = rbReadFile(rbScratch(b), &(size_t){0});
    assert_string_equal(textA, textB);
    free(textA);
    free(textB);
}

// The height of a throw is v^2 / (2 g), its end v t - g t^2 / 2; rows are in the order of the grid,
// the last key fastest.
static void everyCombinationIsARow(void** state)
{
    (void)state;
    const char* scene = writeThrow("");
    json_t* root = RUN_JSON("sweep", scene, "--vary", "bodies.ball.velocity.2=1:5:5", "--vary",
                            "world.gravity.2=-10,-20", "--out", "t.csv", "--processes", "2");
    checkNear(rbNumberOf(root, "points", NULL), 10.0, 0.0);
    checkNear(rbNumberOf(root, "done", NULL), 10.0, 0.0);
    assert_true(json_is_true(json_object_get(root, "complete")));
    json_decref(root);
    for (int i = 0; i < 10; ++i) {
        int k = i / 2;
        double v = 1.0 + k;
        double g = i % 2 == 0 ? 10.0 : 20.0;
        checkNear(numberAt("t.csv", i + 1, "bodies.ball.velocity.2"), v, 0.0);
        checkNear(numberAt("t.csv", i + 1, "world.gravity.2"), -g, 0.0);
        assert_string_equal(findCell("t.csv", i + 1, "status"), "done");
        checkNear(numberAt("t.csv", i + 1, "met"), 1.0, 0.0);
        checkNear(numberAt("t.csv", i + 1, "time [s]"), 1.0, 0.0);
        checkNear(numberAt("t.csv", i + 1, "p.z.end [m]"), v - 0.5 * g, 1e-12);
        checkNear(numberAt("t.csv", i + 1, "p.z.max [m]"), v * v / (2.0 * g), g * 1e-4 / 8.0);
        checkNear(numberAt("t.csv", i + 1, "p.z.min [m]"), fmin(0.0, v - 0.5 * g), 1e-12);
        checkNear(numberAt("t.csv", i + 1, "energy [J]"), v * v, 1e-12);
    }
}

// Also for the engines with events and steps: the hash of a row is that of 'run', and the bytes of
// the table do not depend on the number of processes.
static void rowsAreTheRunsTheyName(void** state)
{
    (void)state;
    static const struct {
        const char* scene;
        const char* duration;
        const char* vary;
        const char* set;
    } cases[] = {
        {"pendulum", "0.5", "step.step=0.001,0.002", "step.step=0.002"},
        {"dice", "0.8", "event.law=newton,stronge", "event.law=stronge"},
        {"pyramid", "0.1", "contact.restSpeed=0.01,0.02", "contact.restSpeed=0.02"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        for (int k = 0; k < 2; ++k) {
            rbChild child = RUN("sweep", cases[i].scene, "--duration", cases[i].duration, "--vary",
                                cases[i].vary, "--out", k == 0 ? "a.csv" : "b.csv", "--processes",
                                k == 0 ? "1" : "3", "--quiet");
            rbExpectSuccess(&child);
            rbFreeChild(&child);
        }
        expectSame("a.csv", "b.csv");
        json_t* root =
            RUN_JSON("run", cases[i].scene, "--duration", cases[i].duration, "--set", cases[i].set);
        assert_string_equal(json_string_value(json_object_get(root, "hash")),
                            findCell("a.csv", 2, "hash"));
        json_decref(root);
        (void)remove(rbScratch("a.csv"));
        (void)remove(rbScratch("b.csv"));
    }
}

// Equal ratios with exact ends, words, and values with commas of their own.
static void valuesAreRangesRatiosAndLists(void** state)
{
    (void)state;
    const char* scene = writeThrow("");
    rbChild child = RUN("sweep", scene, "--vary", "bodies.ball.mass=0.001:10:5:log", "--vary",
                        "motion.type=exact,rk4", "--vary", "world.gravity=[0,0,-1],[0,0,-2]",
                        "--out", "t.csv", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    for (int i = 0; i < 20; ++i) {
        int k = i / 4;
        double mass = numberAt("t.csv", i + 1, "bodies.ball.mass");
        checkNear(mass, 0.001 * pow(10.0, k), 1e-15 * mass);
        assert_string_equal(findCell("t.csv", i + 1, "motion.type"),
                            i / 2 % 2 == 0 ? "exact" : "rk4");
        assert_string_equal(findCell("t.csv", i + 1, "world.gravity"),
                            i % 2 == 0 ? "\"[0,0,-1]\"" : "\"[0,0,-2]\"");
    }
    checkNear(numberAt("t.csv", 20, "bodies.ball.mass"), 10.0, 0.0);
    // without --out the table goes to standard output
    child = RUN("sweep", scene, "--vary", "bodies.ball.mass=1,2", "--quiet");
    rbExpectSuccess(&child);
    assert_memory_equal(child.out, "bodies.ball.mass,status,message,", 32);
    rbFreeChild(&child);
}

// A value that is refused, a process that dies, a run without end and a missed tolerance: each its
// own row with a message; the others are complete.
static void failuresAreKeptApart(void** state)
{
    (void)state;
    static const char crashModule[] = RB_MODULE_FOLDER "/crash.so";
    const char* scene = writeThrow(", \"forces\": [{\"type\": \"lift\", \"strength\": 0}]");
    rbChild child =
        RUN("sweep", scene, "--module", crashModule, "--vary", "forces.0.strength=0,1,2", "--vary",
            "bodies.ball.mass=1,-1", "--out", "t.csv", "--quiet");
    assert_int_equal(child.exitCode, 3);
    rbFreeChild(&child);
    static const char* const expected[] = {"done",    "refused", "done",
                                           "refused", "crashed", "refused"};
    for (int i = 0; i < 6; ++i) {
        assert_string_equal(findCell("t.csv", i + 1, "status"), expected[i]);
    }
    assert_non_null(strstr(findCell("t.csv", 2, "message"), "mass is -1"));
    assert_non_null(strstr(findCell("t.csv", 5, "message"), "the process died (signal 6)"));
    assert_string_equal(findCell("t.csv", 5, "hash"), "");
    // (b) only refused rows: bad input
    child = RUN("sweep", scene, "--module", crashModule, "--vary", "bodies.ball.mass=1,-1", "--out",
                "u.csv", "--quiet");
    assert_int_equal(child.exitCode, 2);
    rbFreeChild(&child);
    // (c) a budget
    child = RUN("sweep", "pendulum", "--vary", "duration=0.02,100000", "--budget", "1", "--out",
                "v.csv", "--quiet");
    assert_int_equal(child.exitCode, 3);
    rbFreeChild(&child);
    assert_string_equal(findCell("v.csv", 1, "status"), "done");
    assert_string_equal(findCell("v.csv", 2, "status"), "budget");
    assert_non_null(strstr(findCell("v.csv", 2, "message"), "took more than 1 s"));
    // (d) a tolerance: with a single sweep the pyramid is not solved
    child = RUN("sweep", "pyramid", "--duration", "0.05", "--vary", "contact.sweepsMax=2000,1",
                "--out", "w.csv", "--quiet");
    assert_int_equal(child.exitCode, 3);
    rbFreeChild(&child);
    assert_string_equal(findCell("w.csv", 2, "status"), "missed");
    checkNear(numberAt("w.csv", 2, "met"), 0.0, 0.0);
    assert_true(strlen(findCell("w.csv", 2, "message")) > 20);
}

// Rows that are there are not run again: a wrong row that is put in stays.
static void aTableIsContinued(void** state)
{
    (void)state;
    const char* scene = writeThrow("");
    rbChild child = RUN("sweep", scene, "--vary", "bodies.ball.mass=1:4:4", "--out", "t.csv");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "4 of 4 rows: 4 done"));
    rbFreeChild(&child);
    char* text = rbReadFile(rbScratch("t.csv"), &(size_t){0});
    rbWriteText(rbScratch("whole.csv"), text);
    // without its third row
    char* second = strstr(text, "\n2,done,") + 1;
    char* third = strchr(second, '\n') + 1;
    char* fourth = strchr(third, '\n') + 1;
    memmove(third, fourth, strlen(fourth) + 1);
    rbWriteText(rbScratch("t.csv"), text);
    json_t* root = RUN_JSON("sweep", scene, "--vary", "bodies.ball.mass=1:4:4", "--out", "t.csv");
    checkNear(rbNumberOf(root, "reused", NULL), 3.0, 0.0);
    json_decref(root);
    expectSame("t.csv", "whole.csv");
    // a finer grid that contains the old one
    root = RUN_JSON("sweep", scene, "--vary", "bodies.ball.mass=1:4:7", "--out", "t.csv");
    checkNear(rbNumberOf(root, "reused", NULL), 4.0, 0.0);
    checkNear(rbNumberOf(root, "rows", NULL), 7.0, 0.0);
    json_decref(root);
    free(text);
}

// Ctrl-C keeps what is done; the same command then makes the table that it would have made.
static void aStoppedSweepGoesOn(void** state)
{
    (void)state;
    const char* const words[] = {"sweep",       "pendulum",
                                 "--set",       "step.step=1e-4",
                                 "--vary",      "duration=0.5:0.7:40",
                                 "--out",       "t.csv",
                                 "--processes", "2",
                                 NULL};
    const rbChildOptions options = {.program = NULL};
    int rows = 0;
    for (int attempt = 0; attempt < 20 && (rows == 0 || rows == 40); ++attempt) {
        (void)remove(rbScratch("t.csv"));
        pid_t pid = rbStartProgram(words, &options);
        for (int i = 0; i < 1000 && !rbFileExists(rbScratch("t.csv")); ++i) {
            (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        (void)kill(pid, SIGINT);
        rbChild child = rbWaitChild(pid);
        assert_int_equal(child.exitCode, 0);
        char* text =
            rbFileExists(rbScratch("t.csv")) ? rbReadFile(rbScratch("t.csv"), &(size_t){0}) : NULL;
        rows = 0;
        for (const char* c = text; c != NULL && (c = strstr(c, ",done,")) != NULL; ++c) {
            ++rows;
        }
        assert_true(rows == 40 || strstr(child.out, "the same command goes on") != NULL);
        free(text);
        rbFreeChild(&child);
    }
    print_message("stopped after %d of 40 rows\n", rows);
    assert_true(rows > 0 && rows < 40);
    rbChild child = rbRunProgram(words);
    assert_int_equal(child.exitCode, 0);
    char reused[80];
    (void)snprintf(reused, sizeof reused, "40 done; %d of them were in the table before", rows);
    assert_non_null(strstr(child.out, reused));
    rbFreeChild(&child);
    child = RUN("sweep", "pendulum", "--set", "step.step=1e-4", "--vary", "duration=0.5:0.7:40",
                "--out", "u.csv", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    expectSame("t.csv", "u.csv");
}

static void mistakesAreRefused(void** state)
{
    (void)state;
    const char* scene = writeThrow("");
#define FAILS(needle, ...) rbExpectFailure(RUN("sweep", __VA_ARGS__), 2, needle)
    FAILS("sweep needs what to vary", scene);
    FAILS("is not KEY=A:B:N", scene, "--vary", "duration");
    FAILS("did you mean \"mass\"", scene, "--vary", "bodies.ball.mas=1,2");
    FAILS("--vary bodies.bal.mass: \"bal\" is neither an index", scene, "--vary",
          "bodies.bal.mass=1,2");
    FAILS("mass is -2", scene, "--vary", "bodies.ball.mass=-2:-1:3");
    FAILS("an integer from 2 to", scene, "--vary", "bodies.ball.mass=1:2:1");
    FAILS("two positive ends", scene, "--vary", "bodies.ball.mass=0:2:3:log");
    FAILS("only log may follow", scene, "--vary", "bodies.ball.mass=1:2:3:lin");
    FAILS("given twice", scene, "--vary", "duration=1,2", "--vary", "duration=3,4");
    FAILS("a value of the list is empty", scene, "--vary", "duration=1,,2");
    FAILS("more than 100000 points", scene, "--vary", "duration=1:2:1000", "--vary",
          "bodies.ball.mass=1:2:1000");
    FAILS("--processes is 1.5", scene, "--vary", "duration=1,2", "--processes", "1.5");
    FAILS("would overwrite throw.json", scene, "--vary", "duration=1,2", "--out", "throw.json");
    FAILS("cannot share standard output", scene, "--vary", "duration=1,2", "--json");
    FAILS("did you mean tippe-top?", "tipe-top", "--vary", "duration=1,2");
    FAILS("/dev/zero: is too large", scene, "--vary", "duration=1,2", "--out", "/dev/zero");
    FAILS(".: is a folder, not a file", scene, "--vary", "duration=1,2", "--out", ".");
    FAILS("/nowhere/t.csv", scene, "--vary", "duration=1,2", "--out", "/nowhere/t.csv");
    // tables of other studies
    rbChild child = RUN("sweep", scene, "--vary", "duration=1,2", "--out", "t.csv", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    FAILS("its columns are others", scene, "--vary", "bodies.ball.mass=1,2", "--out", "t.csv");
    FAILS("values that are not in this grid", scene, "--vary", "duration=1,3", "--out", "t.csv");
    FAILS("of another scene", scene, "--vary", "duration=1,2", "--set", "bodies.ball.mass=3",
          "--out", "t.csv");
    rbWriteText(rbScratch("t.csv"), "a,b\n1,2\n");
    FAILS("is not a table of this study", scene, "--vary", "duration=1,2", "--out", "t.csv");
    char* text = rbReadFile(rbScratch("t.csv"), &(size_t){0});
    assert_string_equal(text, "a,b\n1,2\n");
    free(text);
#undef FAILS
}

RB_TEST_GROUP(test_sweep, SCRATCH_TEST(everyCombinationIsARow),
              SCRATCH_TEST(rowsAreTheRunsTheyName), SCRATCH_TEST(valuesAreRangesRatiosAndLists),
              SCRATCH_TEST(failuresAreKeptApart), SCRATCH_TEST(aTableIsContinued),
              SCRATCH_TEST(aStoppedSweepGoesOn), SCRATCH_TEST(mistakesAreRefused));
