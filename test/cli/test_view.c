// rattleback view as a child process: it reports where it listens, ends cleanly, and refuses
// impossible requests with a message. Its service is tested in test/server and test/viewer.
#define _XOPEN_SOURCE 700

#include "base/core/timer.h"
#include "child.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Starts the viewer and waits for the line that reports its port.
static pid_t startView(const char* const* words, int* port)
{
    const rbChildOptions options = {0};
    pid_t pid = rbStartProgram(words, &options);
    *port = 0;
    for (int i = 0; i < 1000 && *port == 0; ++i) {
        const struct timespec pause = {0, 10000000};
        (void)nanosleep(&pause, NULL);
        if (rbFileExists(rbScratch(".out"))) {
            size_t size = 0;
            char* text = rbReadFile(rbScratch(".out"), &size);
            json_t* json = strchr(text, '\n') != NULL ? json_loads(text, 0, NULL) : NULL;
            if (json != NULL) {
                *port = (int)json_integer_value(json_object_get(json, "port"));
                const char* url = json_string_value(json_object_get(json, "url"));
                assert_non_null(url);
                char number[16];
                (void)snprintf(number, sizeof number, ":%d/", *port);
                assert_non_null(strstr(url, number));
            }
            json_decref(json);
            free(text);
        }
    }
    assert_true(*port > 0);
    return pid;
}

static void theViewerEndsCleanlyAndLeavesARecording(void** state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        // with --for the clock starts without a page
        const char* words[] = {"view",   "tumbling-box", "--port",   "0",
                               "--json", "--no-browser", "--record", "seen.rbr",
                               "--for",  "100",          NULL};
        int port = 0;
        pid_t pid = startView(words, &port);
        const struct timespec pause = {0, 200000000};
        (void)nanosleep(&pause, NULL);
        // A second viewer on the same port gets a message that names it.
        char number[16];
        (void)snprintf(number, sizeof number, "%d", port);
        const char* others[] = {"view", "tumbling-box", "--port", number, NULL};
        const rbChildOptions elsewhere = {.standardOutput = "/dev/null"};
        if (i == 0) {
            rbChild other = rbRunProgramWith(others, &elsewhere);
            assert_int_equal(other.exitCode, 2);
            assert_non_null(strstr(other.err, number));
            assert_non_null(strstr(other.err, "--port"));
            rbFreeChild(&other);
        }
        assert_int_equal(kill(pid, signals[i]), 0);
        rbChild child = rbWaitChild(pid);
        assert_int_equal(child.exitCode, 0);
        rbFreeChild(&child);
        json_t* info = RUN_JSON("info", "seen.rbr");
        assert_true(rbNumberOf(info, "frames", NULL) > 2.0);
        json_decref(info);
    }
    // A recording is shown too, but nothing in it can be changed.
    const char* words[] = {"view", "seen.rbr", "--port", "0", "--json", "--no-browser", NULL};
    int port = 0;
    pid_t pid = startView(words, &port);
    assert_int_equal(kill(pid, SIGINT), 0);
    rbChild child = rbWaitChild(pid);
    assert_int_equal(child.exitCode, 0);
    rbFreeChild(&child);
    rbExpectFailure(RUN("view", "seen.rbr", "--record", "again.rbr"), 2, "--record");
    rbExpectFailure(RUN("view", "seen.rbr", "--set", "duration=3"), 2, "--set");
}

// Nobody looks: the clock does not start, and the recording has the first frame only.
static void theClockWaitsForAPage(void** state)
{
    (void)state;
    const char* words[] = {"view",         "tumbling-box", "--port",     "0", "--json",
                           "--no-browser", "--record",     "unseen.rbr", NULL};
    int port = 0;
    pid_t pid = startView(words, &port);
    const struct timespec pause = {0, 300000000};
    (void)nanosleep(&pause, NULL);
    assert_int_equal(kill(pid, SIGINT), 0);
    rbChild child = rbWaitChild(pid);
    assert_int_equal(child.exitCode, 0);
    rbFreeChild(&child);
    json_t* info = RUN_JSON("info", "unseen.rbr");
    checkNear(rbNumberOf(info, "frames", NULL), 1.0, 0.0);
    json_decref(info);
}

// One advance that would last for hours does not keep the viewer from ending with its recording.
static void theViewerHearsASignalInsideAnAdvance(void** state)
{
    (void)state;
    const char* words[] = {"view",     "pile-of-shapes",
                           "--set",    "world.gravity.2=-1e8",
                           "--port",   "0",
                           "--json",   "--no-browser",
                           "--record", "jam.rbr",
                           "--for",    "100",
                           NULL};
    int port = 0;
    pid_t pid = startView(words, &port);
    const struct timespec pause = {1, 0};
    (void)nanosleep(&pause, NULL);
    double start = rbGetWallTime();
    assert_int_equal(kill(pid, SIGINT), 0);
    rbChild child = rbWaitChild(pid);
    print_message("  ended after %.0f ms\n", 1e3 * (rbGetWallTime() - start));
    checkBelow(rbGetWallTime() - start, 5.0); // less than the budget of an advance
    assert_int_equal(child.exitCode, 0);
    rbFreeChild(&child);
    json_t* info = RUN_JSON("info", "jam.rbr");
    assert_true(rbNumberOf(info, "frames", NULL) >= 1.0);
    json_decref(info);
}

static void mistakesOfTheViewerGetAMessage(void** state)
{
    (void)state;
    rbExpectFailure(RUN("view", "dominos"), 2, "did you mean dominoes?");
    rbExpectFailure(RUN("view", "--record", "x.rbr"), 2, "needs a scene");
    rbExpectFailure(RUN("view", "--set", "duration=3"), 2, "needs a scene");
    rbExpectFailure(RUN("view", "dominoes", "--port", "70000"), 2, "--port");
    rbExpectFailure(RUN("view", "dominoes", "--port", "80.5"), 2, "must be an integer");
    rbExpectFailure(RUN("view", "dominoes", "--speed", "-1"), 2, "--speed");
    rbExpectFailure(RUN("view", "dominoes", "--listen", "192.0.2.7"), 2, "192.0.2.7");
    rbExpectFailure(RUN("view", "dominoes", "--listen", "here"), 2, "here");
    rbExpectFailure(RUN("view", "dominoes", "--set", "duration=-3"), 2, "duration");
}

static void theViewerEndsByItselfIfAskedTo(void** state)
{
    (void)state;
    rbChild child = RUN("view", "tumbling-box", "--no-browser", "--port", "0", "--for", "0.3");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "http://127.0.0.1:"));
    rbFreeChild(&child);
}

RB_TEST_GROUP(test_view, SCRATCH_TEST(theViewerEndsCleanlyAndLeavesARecording),
              SCRATCH_TEST(theViewerHearsASignalInsideAnAdvance),
              SCRATCH_TEST(theClockWaitsForAPage), SCRATCH_TEST(theViewerEndsByItselfIfAskedTo),
              SCRATCH_TEST(mistakesOfTheViewerGetAMessage));
