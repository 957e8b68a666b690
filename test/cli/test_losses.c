// Nothing is lost: signals inside one long advance, outputs with the name of an input or of each
// other, text that a terminal would obey.
#define _XOPEN_SOURCE 700

#include "base/core/timer.h"
#include "child.h"

#include <rattleback/output.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ----------------------------------------------------------------------------------------- signals

static void waitSeconds(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    (void)nanosleep(&time, NULL);
}

// Waits until the run has begun to write.
static void waitForPart(const char* path)
{
    char part[4096];
    (void)snprintf(part, sizeof part, "%s.part", path);
    double start = rbGetWallTime();
    while (!rbFileExists(part) && rbGetWallTime() - start < 20.0) {
        waitSeconds(0.02);
    }
    assert_true(rbFileExists(part));
}

// Sends a signal into an endless advance: the recording must be whole.
static void checkSignal(const char* const* words, int signalNumber, int repetitions)
{
    const char* path = rbScratch("a.rbr");
    rbChildOptions options = {0};
    (void)unlink(path);
    pid_t pid = rbStartProgram(words, &options);
    waitForPart(path);
    waitSeconds(0.3);
    double start = rbGetWallTime();
    for (int i = 0; i < repetitions; ++i) {
        assert_int_equal(kill(pid, signalNumber), 0);
        waitSeconds(0.002);
    }
    rbChild child = rbWaitChild(pid);
    print_message("  %s %s, signal %d: heard after %.0f ms\n", words[1], words[3], signalNumber,
                  1e3 * (rbGetWallTime() - start));
    checkBelow(rbGetWallTime() - start, 5.0); // the machine may be busy; see longAdvancesHearAStop
    assert_int_equal(child.exitCode, 0);
    rbFreeChild(&child);
    rbError error = {0};
    rbRecording* recording = rbOpenRecording(path, &error);
    assert_non_null(recording);
    rbCloseRecording(recording);
    assert_false(rbFileExists(rbScratch("a.rbr.part")));
}

static void signalsAreHeardInsideAnAdvance(void** state)
{
    (void)state;
    static const char* const steps[] = {"run",      "pyramid", "--set",   "step.step=1e-9",
                                        "--record", "a.rbr",   "--quiet", NULL};
    static const char* const gravity[] = {
        "run",      "pile-of-shapes", "--set",   "world.gravity.2=-1e8",
        "--record", "a.rbr",          "--quiet", NULL};
    static const char* const chain[] = {"run",      "chain-hanging", "--set",   "step.step=1e-10",
                                        "--record", "a.rbr",         "--quiet", NULL};
    checkSignal(steps, SIGINT, 1);
    checkSignal(gravity, SIGTERM, 1);
    checkSignal(chain, SIGHUP, 1);
    checkSignal(gravity, SIGINT, 2);
}

static void theThirdSignalEndsAtOnce(void** state)
{
    (void)state;
    static const char* const words[] = {"run",      "pyramid", "--set",   "step.step=1e-9",
                                        "--record", "a.rbr",   "--quiet", NULL};
    rbChildOptions options = {0};
    pid_t pid = rbStartProgram(words, &options);
    waitForPart(rbScratch("a.rbr"));
    assert_int_equal(kill(pid, SIGSTOP), 0); // so that all three come together
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(kill(pid, SIGHUP), 0);
    assert_int_equal(kill(pid, SIGCONT), 0);
    rbChild child = rbWaitChild(pid);
    assert_int_equal(child.exitCode, -1);
    rbFreeChild(&child);
}

// ----------------------------------------------------------------------------------------- outputs

static const char scene[] =
    "{\"rattleback\": 1, \"title\": \"a \\u001b[31mred\\u001b[0m \\u009b2J title\", \"duration\": "
    "0.01, "
    "\"geometries\": {\"m\": {\"type\": \"mesh\", \"file\": \"m.obj\"}}, "
    "\"bodies\": [{\"name\": \"bell\", \"shapes\": [{\"geometry\": \"m\"}]}]}";
static const char mesh[] =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

static void writeInputs(void)
{
    rbWriteText(rbScratch("in.json"), scene);
    rbWriteText(rbScratch("m.obj"), mesh);
    rbWriteText(rbScratch("acts.jsonl"), "");
    (void)unlink(rbScratch("hard.csv"));
    (void)unlink(rbScratch("soft.csv"));
    assert_int_equal(link(rbScratch("in.json"), rbScratch("hard.csv")), 0);
    assert_int_equal(symlink(rbScratch("m.obj"), rbScratch("soft.csv")), 0);
}

static void expectUnchanged(const char* name, const char* text)
{
    size_t size = 0;
    char* bytes = rbReadFile(rbScratch(name), &size);
    assert_string_equal(bytes, text);
    free(bytes);
}

static void outputsNeverOverwriteInputs(void** state)
{
    (void)state;
    static const char* const outputs[][2] = {
        {"--csv", "in.json"},  {"--record", "in.json"}, {"--journal", "in.json"},
        {"--csv", "m.obj"},    {"--record", "m.obj"},   {"--csv", "./in.json"},
        {"--csv", "hard.csv"}, {"--csv", "soft.csv"},   {"--record", "acts.jsonl"},
        {"--html", "./m.obj"},
    };
    writeInputs();
    rbChild child = RUN("run", "in.json", "--quiet"); // the scene itself is fine
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; ++i) {
        rbExpectFailure(
            RUN("run", "in.json", "--actions", "acts.jsonl", outputs[i][0], outputs[i][1]), 2,
            "would overwrite");
        expectUnchanged("in.json", scene);
        expectUnchanged("m.obj", mesh);
    }
    // the .part of an output
    rbWriteText(rbScratch("out.csv.part"), scene);
    rbExpectFailure(RUN("run", "out.csv.part", "--csv", "out.csv"), 2, "would overwrite");
    expectUnchanged("out.csv.part", scene);
    rbExpectFailure(RUN("view", "in.json", "--record", "in.json", "--no-browser", "--for", "0.1"),
                    2, "would overwrite");
    expectUnchanged("in.json", scene);
}

static void twoOutputsNeedTwoNames(void** state)
{
    (void)state;
    writeInputs();
    rbExpectFailure(RUN("run", "in.json", "--csv", "a.out", "--record", "a.out"), 2, "one file");
    rbExpectFailure(RUN("run", "in.json", "--csv", "a.out", "--record", "./a.out"), 2, "one file");
    rbExpectFailure(RUN("run", "in.json", "--csv", "a.out", "--record", "a.out.part"), 2,
                    "one file");
    assert_false(rbFileExists(rbScratch("a.out")));
    assert_false(rbFileExists(rbScratch("a.out.part")));
}

// -------------------------------------------------------------------------------------------- text

static void expectNoControl(const char* text)
{
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
        assert_true(*c >= 0x20 || *c == '\n' || *c == '\t');
        assert_false(c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
    }
}

static void titlesCannotDriveATerminal(void** state)
{
    (void)state;
    writeInputs();
    static const char* const verbs[] = {"run", "check", "info"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; ++i) {
        rbChild child = RUN(verbs[i], "in.json");
        expectNoControl(child.out);
        expectNoControl(child.err);
        assert_non_null(strstr(child.out, "\\x1b[31mred"));
        rbFreeChild(&child);
    }
    rbChild child = RUN("run", "no\033[2Jfile.json");
    expectNoControl(child.err);
    rbFreeChild(&child);
    rbWriteText(rbScratch("name.json"),
                "{\"rattleback\": 1, \"duration\": 1, \"bodies\": [{\"name\": \"b\\u0007\"}]}");
    child = RUN("run", "name.json");
    assert_int_equal(child.exitCode, 2);
    expectNoControl(child.err);
    rbFreeChild(&child);
}

RB_TEST_GROUP(test_losses, SCRATCH_TEST(signalsAreHeardInsideAnAdvance),
              SCRATCH_TEST(theThirdSignalEndsAtOnce), SCRATCH_TEST(outputsNeverOverwriteInputs),
              SCRATCH_TEST(twoOutputsNeedTwoNames), SCRATCH_TEST(titlesCannotDriveATerminal));
