// Runs, recordings and replays through the program.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <rattleback/output.h>

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char* textOf(const json_t* root, const char* key)
{
    const char* text = json_string_value(json_object_get(root, key));
    assert_non_null(text);
    return text;
}

// The summary proves the claims of the issue about the tumbling box.
static void theSummaryOfTheTumblingBoxIsRight(void** state)
{
    (void)state;
    json_t* root = RUN_JSON("run", "tumbling-box");
    assert_string_equal(textOf(root, "result"), "done");
    checkNear(rbNumberOf(root, "time", NULL), 10.0, 0.0);
    checkNear(rbNumberOf(root, "frames", NULL), 1001.0, 0.0);
    checkNear(rbNumberOf(root, "energy", "start"), 368.5464125, 5e-6);
    checkBelow(rbNumberOf(root, "energy", "relativeDriftMax"), 1e-14);
    checkBelow(rbNumberOf(root, "momentum", "relativeDriftMax"), 1e-14);
    checkBelow(rbNumberOf(root, "spinMomentum", "relativeDriftMax"), 1e-14);
    assert_int_equal(strlen(textOf(root, "hash")), 16);
    json_decref(root);
    rbChild child = RUN("run", "tumbling-box");
    rbExpectSuccess(&child);
    static const char* const lines[] = {"simulated",      "1 dynamic (1 exact)", "energy drift",
                                        "momentum drift", "tolerance",           "hash"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        assert_non_null(strstr(child.out, lines[i]));
    }
    rbFreeChild(&child);
    child = RUN("run", "tumbling-box", "--quiet");
    rbExpectSuccess(&child);
    assert_string_equal(child.out, "");
    rbFreeChild(&child);
}

// Show 5: the output step changes no bit, whatever is written.
static void theOutputStepChangesNoBit(void** state)
{
    (void)state;
    static const char* const names[] = {"tumbling-box", "kepler", "falling-with-drag"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        json_t* coarse = RUN_JSON("run", names[i], "--duration", "3", "--dt", "1e-2");
        json_t* fine =
            RUN_JSON("run", names[i], "--duration", "3", "--dt", "1e-3", "--csv", "a.csv");
        json_t* once = RUN_JSON("run", names[i], "--duration", "3", "--dt", "3");
        assert_string_equal(textOf(coarse, "hash"), textOf(fine, "hash"));
        assert_string_equal(textOf(coarse, "hash"), textOf(once, "hash"));
        json_decref(coarse);
        json_decref(fine);
        json_decref(once);
    }
}

static void settingsReachTheRun(void** state)
{
    (void)state;
    json_t* root = RUN_JSON("run", "tumbling-box", "--set", "motion.type=rk4", "--set",
                            "motion.step=0.001", "--set", "world.gravity=[0,0,0]", "--duration",
                            "0.35", "--dt", "0.1", "--engine", "flight");
    checkNear(rbNumberOf(root, "time", NULL), 0.35, 0.0);
    checkNear(rbNumberOf(root, "frames", NULL), 5.0, 0.0); // 0, .1, .2, .3, .35
    const json_t* motion = json_object_get(json_object_get(root, "bodies"), "motion");
    assert_int_equal(json_integer_value(json_object_get(motion, "rk4")), 1);
    assert_true(rbNumberOf(root, "integratorSteps", NULL) > 0.0);
    json_decref(root);
}

static void listScenes(char names[][64], int capacity, int* count)
{
    DIR* directory = opendir(RB_SOURCE_DIR "/scenes");
    assert_non_null(directory);
    *count = 0;
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const char* dot = strstr(entry->d_name, ".json");
        if (dot != NULL && *count < capacity) {
            (void)snprintf(names[(*count)++], 64, "%.*s", (int)(dot - entry->d_name),
                           entry->d_name);
        }
    }
    (void)closedir(directory);
}

static void everySceneRunsAndReplays(void** state)
{
    (void)state;
    char names[256][64];
    int count = 0;
    listScenes(names, 256, &count);
    assert_true(count >= 5);
    for (int i = 0; i < count; ++i) {
        json_t* check = RUN_JSON("check", names[i]);
        assert_true(json_is_true(json_object_get(check, "ok")));
        assert_int_equal(json_array_size(json_object_get(check, "warnings")), 0);
        json_decref(check);
        json_t* info = RUN_JSON("info", names[i]);
        assert_string_equal(textOf(info, "kind"), "scene");
        assert_true(strlen(textOf(info, "title")) > 0);
        double seconds = fmin(rbTest_IsLong() ? 0.5 : 0.2, rbNumberOf(info, "duration", NULL));
        json_decref(info);
        char duration[32];
        char step[32];
        (void)snprintf(duration, sizeof duration, "%.17g", seconds);
        (void)snprintf(step, sizeof step, "%.17g", 0.1 * seconds);
        json_t* run = RUN_JSON("run", names[i], "--duration", duration, "--dt", step, "--record",
                               "a.rbr", "--csv", "a.csv", "--vtk", "vtk");
        assert_string_equal(textOf(run, "result"), "done");
        // Steps of order 2 have their own error; the other scenes are exact or have tighter errors.
        // Energy accounting of contacts is exact. The rotation of bodies that arrive within a step,
        // on their path to the surface, and the joints of touching bodies are errors of the step.
        bool isStep = strcmp(textOf(run, "engine"), "step") == 0;
        bool hasContacts = json_is_object(json_object_get(run, "contacts"));
        bool isExact = hasContacts && rbNumberOf(run, "energy", "impactWork") == 0.0 &&
                       rbNumberOf(run, "steps", "joints") == 0.0;
        checkBelow(rbNumberOf(run, "energy", "relativeDriftMax"),
                   isExact ? 1e-8 : (hasContacts ? 1e-3 : (isStep ? 1e-5 : 1e-9)));
        assert_int_equal(json_array_size(json_object_get(run, "files")), 3);
        json_t* replay = RUN_JSON("replay", "a.rbr");
        assert_true(json_is_true(json_object_get(replay, "equal")));
        assert_int_equal(json_integer_value(json_object_get(replay, "framesCompared")), 11);
        assert_string_equal(textOf(replay, "hash"), textOf(run, "hash"));
        json_decref(replay);
        json_decref(run);
    }
}

// A picture, a table and files for ParaView are written completely.
static void outputsAreWhole(void** state)
{
    (void)state;
    rbChild child = RUN("run", "tumbling-box", "--plot", "a.svg", "--csv", "a.csv", "--vtk", "vtk",
                        "--dt", "0.1");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    size_t size = 0;
    char* svg = rbReadFile(rbScratch("a.svg"), &size);
    assert_non_null(strstr(svg, "</svg>"));
    assert_non_null(strstr(svg, "spin, body axes"));
    free(svg);
    char* csv = rbReadFile(rbScratch("a.csv"), &size);
    int lines = 0;
    for (const char* c = csv; *c != '\0'; ++c) {
        lines += *c == '\n' ? 1 : 0;
    }
    assert_int_equal(lines, 102);
    assert_memory_equal(csv, "time [s],", 9);
    child = RUN("run", "tumbling-box", "--csv", "-", "--dt", "0.1", "--quiet");
    rbExpectSuccess(&child);
    assert_string_equal(child.out, csv);
    rbFreeChild(&child);
    free(csv);
    char* pvd = rbReadFile(rbScratch("vtk/tumbling-box.pvd"), &size);
    assert_non_null(strstr(pvd, "tumbling-box_000100.vtp"));
    free(pvd);
    assert_true(rbFileExists(rbScratch("vtk/tumbling-box_000100.vtp")));
    assert_false(rbFileExists(rbScratch("a.svg.part")));
}

// Copies a recording with one bit of one frame changed.
static void tamper(const char* from, const char* to, int64_t frameIndex)
{
    rbError error = {0};
    rbRecording* source = rbOpenRecording(from, &error);
    assert_non_null(source);
    rbRecordingInfo info = rbRecording_GetInfo(source);
    rbRecordingWriter* writer = rbCreateRecording(to, rbRecording_GetHeader(source), &error);
    assert_non_null(writer);
    for (int64_t i = 0; i < info.frameCount; ++i) {
        rbFrame frame;
        assert_int_equal(rbRecording_ReadFrame(source, i, &frame, &error), RB_STATUS_OK);
        rbQuat changed = frame.orientations[0];
        changed.y = nextafter(changed.y, 2.0);
        if (i == frameIndex) {
            frame.orientations = &changed;
        }
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &frame, &error), RB_STATUS_OK);
    }
    assert_int_equal(rbRecordingWriter_Finish(writer, info.finalHash, &error), RB_STATUS_OK);
    rbCloseRecording(source);
}

static void replayFindsOneWrongBit(void** state)
{
    (void)state;
    rbChild child = RUN("run", "tumbling-box", "--duration", "1", "--record", "a.rbr", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    tamper(rbScratch("a.rbr"), rbScratch("b.rbr"), 37);
    rbExpectFailure(RUN("replay", "b.rbr"), 1, "frame 37, t = 0.37 s, box orientation: recorded");
    child = RUN("replay", "b.rbr", "--json");
    assert_int_equal(child.exitCode, 1);
    json_t* root = json_loads(child.out, 0, NULL);
    assert_non_null(root);
    assert_true(json_is_false(json_object_get(root, "equal")));
    json_decref(root);
    rbFreeChild(&child);
}

// A body that falls into the center of an attraction: whatever the integrator does there, the run
// reports that it failed and its recording is complete.
static void aSingularityIsANumericalFailure(void** state)
{
    (void)state;
    rbExpectFailure(
        RUN("run", "kepler", "--set", "bodies.ball.velocity=[0,0,0]", "--record", "a.rbr"), 3,
        "t = ");
    json_t* info = RUN_JSON("info", "a.rbr");
    assert_string_equal(textOf(info, "condition"), "complete");
    json_decref(info);
}

static double sizeOfFile(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (double)status.st_size : -1.0;
}

// Starts an endless recording and sends a signal when something is on disk.
static rbChild interruptRun(int signalNumber)
{
    const char* const words[] = {"run",      "tumbling-box", "--duration", "1e6",   "--dt", "1e-2",
                                 "--record", "a.rbr",        "--csv",      "a.csv", NULL};
    const rbChildOptions options = {0};
    pid_t pid = rbStartProgram(words, &options);
    const struct timespec pause = {0, 5000000};
    for (int i = 0; i < 4000 && sizeOfFile(rbScratch("a.rbr.part")) < 20000.0; ++i) {
        (void)nanosleep(&pause, NULL);
    }
    assert_int_equal(kill(pid, signalNumber), 0);
    return rbWaitChild(pid);
}

static void interruptsEndARunCleanly(void** state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        rbChild child = interruptRun(signals[i]);
        rbExpectSuccess(&child);
        assert_non_null(strstr(child.out, "stopped at t="));
        rbFreeChild(&child);
        assert_false(rbFileExists(rbScratch("a.rbr.part")));
        assert_true(rbFileExists(rbScratch("a.csv")));
        json_t* info = RUN_JSON("info", "a.rbr");
        assert_string_equal(textOf(info, "condition"), "complete");
        json_decref(info);
        json_t* replay = RUN_JSON("replay", "a.rbr");
        assert_true(json_is_true(json_object_get(replay, "equal")));
        assert_true(rbNumberOf(replay, "framesCompared", NULL) > 10.0);
        json_decref(replay);
    }
}

static void aKilledRunLeavesAReadablePart(void** state)
{
    (void)state;
    rbChild child = interruptRun(SIGKILL);
    assert_int_equal(child.exitCode, -1);
    rbFreeChild(&child);
    assert_false(rbFileExists(rbScratch("a.rbr")));
    assert_false(rbFileExists(rbScratch("a.csv")));
    child = RUN("replay", "a.rbr.part", "--json");
    json_t* root = json_loads(child.out, 0, NULL);
    assert_non_null(root);
    assert_string_equal(textOf(root, "condition"), "cut off");
    assert_true(json_is_true(json_object_get(root, "equal")));
    assert_true(rbNumberOf(root, "framesCompared", NULL) >= 8.0);
    json_decref(root);
    rbExpectFailure(child, 2, "cut off");
}

static void infoLooksAtTheContentNotTheName(void** state)
{
    (void)state;
    static const char* const obj =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    rbWriteText(rbScratch("misnamed.stl"), obj);
    json_t* root = RUN_JSON("info", "misnamed.stl");
    assert_string_equal(textOf(root, "kind"), "mesh");
    assert_string_equal(textOf(root, "format"), "obj");
    assert_true(json_is_true(json_object_get(root, "closed")));
    checkRelative(rbNumberOf(root, "massProperties", "mass"), 1000.0 / 6.0, 1e-14);
    checkRelative(rbNumberOf(root, "area", NULL), 1.5 + sqrt(3.0) / 2.0, 1e-14);
    json_decref(root);
    rbWriteText(rbScratch("open.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\n");
    root = RUN_JSON("info", "open.obj");
    assert_true(json_is_false(json_object_get(root, "closed")));
    assert_true(json_array_size(json_object_get(root, "issues")) > 0);
    assert_null(json_object_get(root, "massProperties"));
    json_decref(root);
    rbChild child = RUN("info", "open.obj");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "not a solid"));
    rbFreeChild(&child);
}

// check: odd units are warnings, impossible values are errors.
static void checkNamesWhatIsOdd(void** state)
{
    (void)state;
    static const struct {
        const char* body;
        const char* world;
        const char* needle;
        int exitCode;
    } rows[] = {
        {"\"mass\": 5000, \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}}]",
         "{}", "density", 0},
        {"\"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 4000}}]", "{}", "size", 0},
        {"\"velocity\": [2e5, 0, 0], \"shapes\": [{\"geometry\": {\"type\": \"sphere\", "
         "\"radius\": "
         "1}}]",
         "{}", "speed is 200000 m/s", 0},
        {"\"mass\": 1, \"inertia\": [1, 1, 1]", "{}", "has no shape", 0},
        {"\"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}}]",
         "{\"gravity\": [0, 0, -9810]}", "gravity is 9810", 0},
        {"\"velocity\": [3e9, 0, 0], \"shapes\": [{\"geometry\": {\"type\": \"sphere\", "
         "\"radius\": "
         "1}}]",
         "{}", "physically possible", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char text[600];
        (void)snprintf(text, sizeof text,
                       "{\"rattleback\": 1, \"world\": %s, \"bodies\": [{\"name\": \"b\", %s}]}",
                       rows[i].world, rows[i].body);
        rbWriteText(rbScratch("odd.json"), text);
        rbChild child = RUN("check", "./odd.json");
        if (child.exitCode != rows[i].exitCode || strstr(child.out, rows[i].needle) == NULL) {
            print_error("row %d, exit %d\n%s%s\n", (int)i, child.exitCode, child.out, child.err);
            fail();
        }
        rbFreeChild(&child);
        child = RUN("check", "./odd.json", "--strict");
        assert_int_equal(child.exitCode, 1);
        rbFreeChild(&child);
    }
    rbWriteText(
        rbScratch("far.json"),
        "{\"rattleback\": 1, \"bodies\": [{\"name\": \"a\", \"repeat\": {\"count\": [3, 3, 1],"
        " \"spacing\": [2, 2, 2]}, \"shapes\": [{\"geometry\": {\"type\": \"sphere\", "
        "\"radius\": 1}}]}, {\"name\": \"far\", \"position\": [1e6, 0, 0], \"shapes\": "
        "[{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}}]}]}");
    rbChild child = RUN("check", "./far.json");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "body \"far\": it is 999998 m from the others"));
    assert_non_null(strstr(child.out, "0 errors, 1 warning; no overlaps at the start"));
    rbFreeChild(&child);
    child = RUN("check", "kepler", "--set", "bodies.ball.motion.type=exact");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "do not allow the requested integrator; it uses cash-karp"));
    rbFreeChild(&child);
}

RB_TEST_GROUP(test_runs, SCRATCH_TEST(theSummaryOfTheTumblingBoxIsRight),
              SCRATCH_TEST(theOutputStepChangesNoBit), SCRATCH_TEST(settingsReachTheRun),
              SCRATCH_TEST(everySceneRunsAndReplays), SCRATCH_TEST(outputsAreWhole),
              SCRATCH_TEST(replayFindsOneWrongBit), SCRATCH_TEST(aSingularityIsANumericalFailure),
              SCRATCH_TEST(interruptsEndARunCleanly), SCRATCH_TEST(aKilledRunLeavesAReadablePart),
              SCRATCH_TEST(infoLooksAtTheContentNotTheName), SCRATCH_TEST(checkNamesWhatIsOdd));
