// The event engine through the program: journal, summary, refused starts, budget, replay.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <rattleback/impact.h>
#include <rattleback/output.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A ball falls onto a floor and bounces; another one hits it from the side. Alone, the first comes
// to rest at 4.0637127 s.
static const char* const scene =
    "{\"rattleback\": 1, \"title\": \"balls\", \"engine\": \"event\", \"duration\": 3,"
    "\"output\": {\"step\": 0.01},"
    "\"materials\": {\"steel\": {\"restitution\": 0.8, \"friction\": 0.3}},"
    "\"bodies\": ["
    "{\"name\": \"floor\", \"type\": \"static\", \"shapes\": [{\"geometry\": {\"type\": \"plane\", "
    "\"normal\": [0, 0, 1]}, \"material\": \"steel\"}]},"
    "{\"name\": \"ball\", \"position\": [0, 0, 1.1], \"shapes\": [{\"geometry\": {\"type\": "
    "\"sphere\", \"radius\": 0.1}, \"material\": \"steel\"}]},"
    "{\"name\": \"other ball\", \"position\": [-1, 0, 1.2], \"velocity\": [1, 0, 0], \"shapes\": "
    "[{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}, \"material\": \"steel\"}]}]}";

static void writeScene(void)
{
    rbWriteText(rbScratch("balls.json"), scene);
}

static const char* textOf(const json_t* root, const char* key)
{
    const char* text = json_string_value(json_object_get(root, key));
    assert_non_null(text);
    return text;
}

static int countLines(const char* text)
{
    int count = 0;
    for (const char* c = text; *c != '\0'; ++c) {
        count += *c == '\n' ? 1 : 0;
    }
    return count;
}

static bool areEqualFiles(const char* a, const char* b)
{
    size_t sizeA = 0;
    size_t sizeB = 0;
    char* bytesA = rbReadFile(rbScratch(a), &sizeA);
    char* bytesB = rbReadFile(rbScratch(b), &sizeB);
    bool isEqual = sizeA == sizeB && sizeA > 0 && memcmp(bytesA, bytesB, sizeA) == 0;
    free(bytesA);
    free(bytesB);
    return isEqual;
}

// Show 7: the journal is the same, bit for bit, for every output step and on repetition.
static void theJournalDoesNotDependOnTheOutputStep(void** state)
{
    (void)state;
    writeScene();
    static const char* const steps[][2] = {
        {"1e-2", "a.csv"}, {"1e-3", "b.csv"}, {"3", "c.csv"}, {"1e-2", "d.csv"}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
        rbChild child =
            RUN("run", "balls.json", "--dt", steps[i][0], "--journal", steps[i][1], "--quiet");
        rbExpectSuccess(&child);
        rbFreeChild(&child);
        assert_true(areEqualFiles("a.csv", steps[i][1]));
    }
    assert_false(rbFileExists(rbScratch("a.csv.part")));
}

// Rows are sorted by time, their number of impacts equals that of the summary, and their energies
// add up to those of the ledger.
static void theJournalAddsUpToTheSummary(void** state)
{
    (void)state;
    writeScene();
    json_t* root = RUN_JSON("run", "balls.json", "--journal", "a.jsonl");
    size_t size = 0;
    char* text = rbReadFile(rbScratch("a.jsonl"), &size);
    double time = 0.0;
    double change = 0.0;
    double friction = 0.0;
    int impacts = 0;
    for (char* line = text; *line != '\0';) {
        char* end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        json_t* row = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(row);
        double now = json_number_value(json_object_get(row, "time"));
        assert_true(now >= time);
        time = now;
        change += json_number_value(json_object_get(row, "energyChange"));
        if (strcmp(textOf(row, "kind"), "impact") == 0) {
            impacts += 1;
            friction += json_number_value(json_object_get(row, "frictionWork"));
            assert_string_equal(textOf(row, "law"), "stronge");
            assert_non_null(json_object_get(row, "impulse.z"));
            assert_true(json_number_value(json_object_get(row, "approachSpeed")) > 0.0);
        }
        json_decref(row);
        line = end + 1;
    }
    free(text);
    assert_true(impacts > 5);
    assert_true((double)impacts == rbNumberOf(root, "collisions", "impacts"));
    const json_t* laws = json_object_get(json_object_get(root, "collisions"), "impactsByLaw");
    assert_int_equal(json_integer_value(json_object_get(laws, "stronge")), impacts);
    assert_int_equal(json_integer_value(json_object_get(laws, "newton")), 0);
    double scale = rbNumberOf(root, "energy", "start");
    double work = rbNumberOf(root, "energy", "impactWork") +
                  rbNumberOf(root, "energy", "frictionWork") +
                  rbNumberOf(root, "energy", "microWork") + rbNumberOf(root, "energy", "restWork");
    // sums of some hundred terms, each rounded to the energy of the pair
    checkNear(change / scale, work / scale, 1e-13);
    checkNear(friction / scale, rbNumberOf(root, "energy", "frictionWork") / scale, 1e-13);
    checkNear(rbNumberOf(root, "energy", "end") / scale, 1.0 + work / scale, 1e-13);
    checkBelow(rbNumberOf(root, "energy", "relativeDriftMax"), 1e-13);
    checkBelow(rbNumberOf(root, "collisions", "overlapMax"),
               rbNumberOf(root, "collisions", "tolerance"));
    json_decref(root);
}

// The run is the same whether its journal is written or not.
static void theSummaryReportsWhatTheEngineDid(void** state)
{
    (void)state;
    writeScene();
    json_t* off = RUN_JSON("run", "balls.json");
    json_t* on = RUN_JSON("run", "balls.json", "--journal", "a.csv");
    assert_string_equal(textOf(off, "hash"), textOf(on, "hash"));
    assert_string_equal(textOf(off, "engine"), "event");
    static const char* const keys[] = {"total",     "impacts",    "microcollisions", "measurements",
                                       "nearPairs", "resting",    "rests",           "wakes",
                                       "tolerance", "overlapMax", "virial",          "jams"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        assert_true(rbNumberOf(off, "collisions", keys[i]) ==
                    rbNumberOf(on, "collisions", keys[i]));
    }
    assert_true(json_is_null(json_object_get(json_object_get(off, "momentum"), "relativeDrift")));
    json_decref(off);
    json_decref(on);
    json_t* alone = RUN_JSON("run", "balls.json", "--set", "bodies.2=null", "--duration", "5");
    assert_true(rbNumberOf(alone, "collisions", "resting") == 1.0);
    json_decref(alone);
    rbChild child = RUN("run", "balls.json", "--journal", "a.csv");
    rbExpectSuccess(&child);
    static const char* const lines[] = {
        "engine event", "collisions", " stronge)",       "broad phase", "at rest",
        "deepest",      "friction",   "energy by cause", "fixed ones",  "a.csv"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        assert_non_null(strstr(child.out, lines[i]));
    }
    rbFreeChild(&child);
}

static void theJournalGoesToStandardOutput(void** state)
{
    (void)state;
    writeScene();
    rbChild file = RUN("run", "balls.json", "--journal", "a.csv", "--quiet");
    rbExpectSuccess(&file);
    rbFreeChild(&file);
    rbChild child = RUN("run", "balls.json", "--journal", "-", "--quiet");
    rbExpectSuccess(&child);
    size_t size = 0;
    char* text = rbReadFile(rbScratch("a.csv"), &size);
    assert_string_equal(child.out, text);
    assert_memory_equal(text, "time [s],kind,bodyA,bodyB,law,", 30);
    free(text);
    rbFreeChild(&child);
    rbExpectFailure(RUN("run", "balls.json", "--journal", "-", "--csv", "-"), 2,
                    "cannot share standard output");
    rbExpectFailure(RUN("run", "balls.json", "--journal", "-", "--json"), 2,
                    "cannot share standard output");
    rbExpectFailure(RUN("run", "balls.json", "--journal", "missing/a.csv"), 2, "missing");
}

// A start that the engine refuses: the message names the file, the bodies and the depth.
static void overlapsAtTheStartAreRefused(void** state)
{
    (void)state;
    writeScene();
    static const char* const verbs[] = {"check", "run"};
    for (size_t i = 0; i < 2; ++i) {
        rbExpectFailure(RUN(verbs[i], "balls.json", "--set", "bodies.ball.position=[0,0,0.075]"), 2,
                        "balls.json: bodies \"floor\" and \"ball\" overlap by 0.025");
    }
    rbChild child = RUN("check", "balls.json");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "no overlaps at the start"));
    rbFreeChild(&child);
    // if allowed, they are separated, and the journal says so
    child = RUN("run", "balls.json", "--set", "bodies.ball.position=[0,0,0.075]", "--set",
                "event.overlap=separate", "--duration", "1e-4", "--journal", "-", "--quiet");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "\n0,parted,floor,ball,"));
    rbFreeChild(&child);
}

static void forcesWithoutABoundAreRefusedByName(void** state)
{
    (void)state;
    writeScene();
    static const char* const verbs[] = {"check", "run"};
    for (size_t i = 0; i < 2; ++i) {
        rbExpectFailure(RUN(verbs[i], "balls.json", "--set",
                            "forces=[{\"type\": \"central\", \"strength\": 1}]"),
                        2, "\"central\"");
    }
    rbChild child = RUN("check", "balls.json", "--set",
                        "forces=[{\"type\": \"constant\", \"force\": [1, 0, 0]}]");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
}

// An exhausted budget ends the run with a message that names the bodies; all files are complete.
static void aSpentBudgetEndsTheRun(void** state)
{
    (void)state;
    writeScene();
    // infinitely many bounces before 4.0637127 s, and nothing that would end them
    rbChild child = RUN("run", "balls.json", "--set", "bodies.2=null", "--duration", "5", "--set",
                        "event.lasting=none", "--set", "event.eventsPerSecond=200", "--journal",
                        "a.csv", "--record", "a.rbr", "--csv", "b.csv", "--json");
    assert_int_equal(child.exitCode, 3);
    assert_non_null(strstr(child.err, "\"floor\" and \"ball\""));
    json_t* root = json_loads(child.out, 0, NULL);
    assert_non_null(root);
    assert_string_equal(textOf(root, "result"), "limit");
    assert_non_null(strstr(textOf(root, "ending"), "budget"));
    double time = json_number_value(json_object_get(root, "time"));
    assert_true(time > 4.0 && time < 4.064);
    json_decref(root);
    rbFreeChild(&child);
    size_t size = 0;
    char* text = rbReadFile(rbScratch("a.csv"), &size);
    assert_true(countLines(text) > 30);
    free(text);
    assert_true(rbFileExists(rbScratch("b.csv")));
    json_t* replay = RUN_JSON("replay", "a.rbr");
    assert_true(json_is_true(json_object_get(replay, "equal")));
    json_decref(replay);
}

// Copies a recording with its event number index changed or removed.
static void tamper(int64_t index, bool isLeftOut)
{
    rbError error = {0};
    rbRecording* source = rbOpenRecording(rbScratch("a.rbr"), &error);
    assert_non_null(source);
    rbRecordingInfo info = rbRecording_GetInfo(source);
    assert_true(info.eventCount > index);
    rbRecordingWriter* writer =
        rbCreateRecording(rbScratch("b.rbr"), rbRecording_GetHeader(source), &error);
    assert_non_null(writer);
    for (int64_t i = 0; i < info.eventCount; ++i) {
        rbRecordedEvent event;
        assert_int_equal(rbRecording_ReadEvents(source, i, 1, &event, &error), RB_STATUS_OK);
        if (i == index) {
            event.values[11] = nextafter(event.values[11], 2.0); // impulse.z
        }
        if (i != index || !isLeftOut) {
            assert_int_equal(rbRecordingWriter_WriteEvents(writer, &event, 1, &error),
                             RB_STATUS_OK);
        }
    }
    for (int64_t i = 0; i < info.frameCount; ++i) {
        rbFrame frame;
        assert_int_equal(rbRecording_ReadFrame(source, i, &frame, &error), RB_STATUS_OK);
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &frame, &error), RB_STATUS_OK);
    }
    assert_int_equal(rbRecordingWriter_Finish(writer, info.finalHash, &error), RB_STATUS_OK);
    rbCloseRecording(source);
}

static void replayComparesEventsToo(void** state)
{
    (void)state;
    writeScene();
    json_t* run = RUN_JSON("run", "balls.json", "--record", "a.rbr", "--journal", "a.csv");
    json_t* replay = RUN_JSON("replay", "a.rbr");
    assert_true(json_is_true(json_object_get(replay, "equal")));
    size_t size = 0;
    char* text = rbReadFile(rbScratch("a.csv"), &size);
    int64_t events = json_integer_value(json_object_get(replay, "eventsCompared"));
    assert_int_equal(events, countLines(text) - 1);
    free(text);
    json_decref(run);
    json_decref(replay);
    tamper(3, false);
    rbExpectFailure(RUN("replay", "b.rbr"), 1, "contact of an event");
    tamper(events - 1, true);
    rbExpectFailure(RUN("replay", "b.rbr"), 1, "number of events");
}

// The summary reports which contacts are sampled and which exact, as a line and for machines; so
// does every line of the journal.
static void contactsByRaysAreCounted(void** state)
{
    (void)state;
    writeScene();
    rbChild child = RUN("run", "balls.json", "--set", "detector=rays", "--journal", "a.csv");
    assert_int_equal(child.exitCode, 0);
    assert_non_null(strstr(child.out, " sampled (deepest overlap "));
    rbFreeChild(&child);
    size_t size = 0;
    char* journal = rbReadFile(rbScratch("a.csv"), &size);
    assert_non_null(strstr(journal, "ray, "));
    free(journal);
    json_t* root = RUN_JSON("run", "balls.json", "--set", "detector=rays");
    json_t* rays = json_object_get(json_object_get(root, "collisions"), "rays");
    double sampled = rbNumberOf(rays, "contactsSampled", NULL);
    assert_true(sampled >= 1.0);
    double total = rbNumberOf(root, "collisions", "total");
    checkNear(rbNumberOf(rays, "contactsExact", NULL), total - sampled, 0.0);
    assert_true(rbNumberOf(rays, "rays", NULL) > 100.0);
    json_decref(root);
    child = RUN("run", "balls.json");
    assert_null(strstr(child.out, "contacts by rays"));
    rbFreeChild(&child);
}

RB_TEST_GROUP(test_events, SCRATCH_TEST(theJournalDoesNotDependOnTheOutputStep),
              SCRATCH_TEST(theJournalAddsUpToTheSummary),
              SCRATCH_TEST(theSummaryReportsWhatTheEngineDid),
              SCRATCH_TEST(contactsByRaysAreCounted), SCRATCH_TEST(theJournalGoesToStandardOutput),
              SCRATCH_TEST(overlapsAtTheStartAreRefused),
              SCRATCH_TEST(forcesWithoutABoundAreRefusedByName),
              SCRATCH_TEST(aSpentBudgetEndsTheRun), SCRATCH_TEST(replayComparesEventsToo));
