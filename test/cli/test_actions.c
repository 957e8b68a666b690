// User actions: action files through the program, recorded and replayed.
#include "child.h"
#include "session/session.h"

#include <rattleback/output.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A ball and a cube above a floor; each test chooses the engine.
static const char sceneText[] =
    "{\"rattleback\": 1, \"name\": \"yard\", \"title\": \"A yard\", \"duration\": 1,"
    " \"output\": {\"step\": 0.01}, \"engine\": \"step\", \"contact\": {},"
    " \"step\": {\"energyTolerance\": 0.05},"
    " \"bodies\": ["
    "  {\"name\": \"floor\", \"type\": \"static\","
    "   \"shapes\": [{\"geometry\": {\"type\": \"plane\", \"normal\": [0, 0, 1]}}]},"
    "  {\"name\": \"ball\", \"position\": [0, 0, 0.5],"
    "   \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}}]},"
    "  {\"name\": \"cube\", \"position\": [1, 0, 0.2],"
    "   \"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}}]}]}";

static const char actionLines[] =
    "{\"time\": 0, \"do\": \"set\", \"target\": \"world\", \"key\": \"gravity\","
    " \"value\": [0, 0, -4]}\n"
    "\n"
    "{\"time\": 0.1, \"do\": \"push\", \"body\": \"ball\", \"point\": [0, 0, 0.55],"
    " \"impulse\": [8, 0, 0]}\n"
    "{\"time\": 0.25, \"do\": \"add\", \"body\": {\"position\": [0.5, 0, 2],"
    " \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}}]}}\n"
    "{\"time\": 0.25, \"do\": \"spin\", \"body\": 3, \"impulse\": [0, 0, 0.01]}\n"
    "{\"time\": 0.5, \"do\": \"delete\", \"body\": 2}\n"
    "{\"time\": 0.5, \"do\": \"place\", \"body\": \"added-3\", \"position\": [0.5, 0.1, 1]}\n"
    "{\"time\": 0.6, \"do\": \"drag-start\", \"body\": 1, \"point\": [0, 0, 0.1],"
    " \"kind\": \"point\", \"drag\": 0}\n"
    "{\"time\": 0.6, \"do\": \"drag-move\", \"drag\": 0, \"point\": [1, 0, 1],"
    " \"duration\": 0.5}\n"
    "{\"time\": 0.8, \"do\": \"drag-end\", \"drag\": 0}\n";
#define ACTION_COUNT 9

static void prepare(void)
{
    rbWriteText(rbScratch("yard.json"), sceneText);
    rbWriteText(rbScratch("actions.jsonl"), actionLines);
}

static rbFrame readFrame(rbRecording* recording, int64_t index)
{
    rbFrame frame;
    assert_int_equal(rbRecording_ReadFrame(recording, index, &frame, NULL), RB_STATUS_OK);
    return frame;
}

// L-109, B-91
static void whatWasDoneIsDoneAgainToTheBit(void** state)
{
    (void)state;
    static const char* const engines[] = {"flight", "event", "step"};
    prepare();
    for (int i = 0; i < 3; ++i) {
        json_t* run = RUN_JSON("run", "yard.json", "--engine", engines[i], "--actions",
                               "actions.jsonl", "--record", "a.rbr");
        checkNear(rbNumberOf(run, "actions", NULL), ACTION_COUNT, 0.0);
        json_decref(run);
        json_t* replay = RUN_JSON("replay", "a.rbr");
        assert_true(json_is_true(json_object_get(replay, "equal")));
        checkNear(rbNumberOf(replay, "framesCompared", NULL), 101, 0.0);
        checkNear(rbNumberOf(replay, "actionsDone", NULL), ACTION_COUNT, 0.0);
        json_decref(replay);
        json_t* info = RUN_JSON("info", "a.rbr");
        checkNear(rbNumberOf(info, "actions", NULL), ACTION_COUNT, 0.0);
        checkNear(rbNumberOf(info, "bodies", NULL), 4, 0.0);
        json_decref(info);
    }
}

// Commands to a session, as a browser would send them.
static void command(rbSession* session, const char* text)
{
    rbReply reply;
    rbSession_Command(session, 1, text, strlen(text), &reply);
    if (!reply.isOk) {
        fail_msg("%s: %s", text, reply.text);
    }
    while (rbSession_Tick(session)) {
    }
}

#define ADD_BALL(position, radius)                          \
    ("{\"do\": \"add\", \"body\": {\"position\": " position \
     ", \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": " radius "}}]}}")

// B-30, B-91: the user actions of a session, including going back and branching, replay from its
// recording to the same bits.
static void sessionsAreDoneAgainToTheBit(void** state)
{
    (void)state;
    static const char* const engines[] = {"engine=flight", "engine=event", "engine=step"};
    static const char* const commands[] = {
        "{\"do\": \"step\", \"count\": 10}",
        "{\"do\": \"push\", \"body\": 1, \"point\": [0, 0, 0.5], \"impulse\": [3, 1, 0]}",
        "{\"do\": \"step\", \"count\": 5}",
        ADD_BALL("[0, 0, 3]", "0.1"),
        "{\"do\": \"set\", \"target\": \"world\", \"key\": \"gravity\", \"value\": [0, 1, -8]}",
        "{\"do\": \"step\", \"count\": 10}",
        "{\"do\": \"delete\", \"body\": \"cube\"}",
        "{\"do\": \"step\", \"count\": 5}",
        "{\"do\": \"seek\", \"time\": 0.06}", // and a different continuation from there
        "{\"do\": \"spin\", \"body\": \"ball\", \"impulse\": [0, 0, 0.1]}",
        ADD_BALL("[0, 0, 2]", "0.2"),
        "{\"do\": \"step\", \"count\": 20}",
        "{\"do\": \"drag-start\", \"body\": 1, \"point\": [0, 0, 0], \"kind\": \"point\"}",
        "{\"do\": \"drag-move\", \"point\": [0.5, 0, 1]}",
        "{\"do\": \"step\", \"count\": 5}",
        "{\"do\": \"drag-end\"}",
        "{\"do\": \"step\", \"count\": 5}",
    };
    prepare();
    for (int i = 0; i < 3; ++i) {
        rbError error = {0};
        rbScene* scene = rbReadScene(rbScratch("yard.json"), &error);
        assert_non_null(scene);
        assert_int_equal(rbScene_Override(scene, engines[i], &error), RB_STATUS_OK);
        rbSession* session = rbCreateSession(scene, &error);
        assert_non_null(session);
        for (size_t k = 0; k < sizeof commands / sizeof commands[0]; ++k) {
            command(session, commands[k]);
        }
        int count = rbSession_GetActions(session)->count;
        assert_int_equal(rbSession_SaveRecording(session, rbScratch("s.rbr"), &error),
                         RB_STATUS_OK);
        rbDestroySession(session);
        json_t* replay = RUN_JSON("replay", "s.rbr");
        assert_true(json_is_true(json_object_get(replay, "equal")));
        checkNear(rbNumberOf(replay, "actionsDone", NULL), count, 0.0);
        assert_true(rbNumberOf(replay, "framesCompared", NULL) > 40.0);
        json_decref(replay);
    }
}

// Frames show the state after the actions of their time, and NaN for bodies that do not exist.
static void framesShowWhoLives(void** state)
{
    (void)state;
    prepare();
    rbChild child = RUN("run", "yard.json", "--engine", "flight", "--actions", "actions.jsonl",
                        "--record", "a.rbr", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    rbRecording* recording = rbOpenRecording(rbScratch("a.rbr"), NULL);
    assert_non_null(recording);
    const rbRecordingHeader* header = rbRecording_GetHeader(recording);
    assert_int_equal(header->bodyCount, 4);
    assert_string_equal(header->bodyNames[3], "added-3");
    double mass = 1000.0 * 4.0 / 3.0 * 3.14159265358979323846 * 1e-3;
    for (int k = 0; k <= 100; ++k) {
        rbFrame frame = readFrame(recording, k);
        double t = frame.time;
        assert_true(isnan(frame.positions[2].x) == (k >= 50));
        assert_true(isnan(frame.orientations[3].w) == (k < 25));
        checkNear(frame.linearVelocities[1].z, k < 60 ? -4.0 * t : frame.linearVelocities[1].z,
                  1e-12);
        // The push is off the center of mass; the origin is still the center of the ball.
        double pushed = k < 10 ? 0.0 : 8.0 / mass;
        checkNear(frame.linearVelocities[1].x, k < 60 ? pushed : frame.linearVelocities[1].x, 1e-9);
        if (k == 25) {
            checkNear(frame.positions[3].z, 2.0, 0.0);
        } else if (k == 50) {
            checkNear(frame.positions[3].z, 1.0, 0.0);
        }
    }
    rbCloseRecording(recording);
}

// The recording of a killed run also contains its actions.
static void cutOffRecordingsAreDoneAgain(void** state)
{
    (void)state;
    prepare();
    rbChild child = RUN("run", "yard.json", "--actions", "actions.jsonl", "--record", "a.rbr");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    size_t size = 0;
    char* bytes = rbReadFile(rbScratch("a.rbr"), &size);
    rbWriteFile(rbScratch("cut.rbr"), bytes, size - 200);
    free(bytes);
    child = RUN("replay", "cut.rbr", "--json");
    assert_int_equal(child.exitCode, 2);
    json_t* root = json_loads(child.out, 0, NULL);
    assert_true(json_is_true(json_object_get(root, "equal")));
    assert_true(rbNumberOf(root, "framesCompared", NULL) >= 64.0);
    json_decref(root);
    rbFreeChild(&child);
}

// Copies a recording with an action replaced by another text.
static void forge(int index, const char* text)
{
    rbRecording* source = rbOpenRecording(rbScratch("a.rbr"), NULL);
    assert_non_null(source);
    rbRecordingInfo info = rbRecording_GetInfo(source);
    rbRecordingWriter* writer =
        rbCreateRecording(rbScratch("b.rbr"), rbRecording_GetHeader(source), NULL);
    int count = 0;
    const rbRecordedAction* actions = rbRecording_GetActions(source, &count);
    for (int i = 0; i < count; ++i) {
        rbRecordedAction action = {actions[i].time, i == index ? text : actions[i].text};
        assert_int_equal(rbRecordingWriter_WriteActions(writer, &action, 1, NULL), RB_STATUS_OK);
    }
    for (int64_t i = 0; i < info.frameCount; ++i) {
        rbFrame frame = readFrame(source, i);
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &frame, NULL), RB_STATUS_OK);
    }
    assert_int_equal(rbRecordingWriter_Finish(writer, info.finalHash, NULL), RB_STATUS_OK);
    rbCloseRecording(source);
}

static void otherActionsAreADifference(void** state)
{
    (void)state;
    prepare();
    rbChild child = RUN("run", "yard.json", "--engine", "flight", "--actions", "actions.jsonl",
                        "--record", "a.rbr", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    forge(1, "{\"do\": \"push\", \"body\": \"ball\", \"point\": [0, 0, 0.5], \"impulse\": [8, "
             "1e-15, 0]}");
    rbExpectFailure(RUN("replay", "b.rbr"), 1, "ball");
    forge(1, "{\"do\": \"push\", \"body\": \"bull\", \"point\": [0, 0, 0.5], \"impulse\": [8, 0, "
             "0]}");
    rbExpectFailure(RUN("replay", "b.rbr"), 1, "action 2, at t = 0.1 s, is refused");
    forge(0, "nonsense");
    rbExpectFailure(RUN("replay", "b.rbr"), 1, "action 1, at t = 0 s, is refused");
    forge(2, "{\"do\": \"add\", \"number\": 77, \"body\": {}}");
    rbExpectFailure(RUN("replay", "b.rbr"), 2, "has 4 bodies, its scene and actions 78");
}

// Hand-made files with mistakes: each gets its message, and no output file is left.
static void mistakesInFilesOfActionsAreNamed(void** state)
{
    (void)state;
    const struct {
        const char* text;
        const char* words;
    } cases[] = {
        {"{\"time\": 0.1, \"do\": \"push\"", "1"},
        {"{\"time\": 0.1, \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 1]}\n[1, 2]\n", "2"},
        {"{\"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 1]}", "time"},
        {"{\"time\": \"soon\", \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 1]}", "time"},
        {"{\"time\": -1, \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 1]}", "time"},
        {"{\"time\": 0.2, \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 1]}\n"
         "{\"time\": 0.1, \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 1]}\n",
         "not decrease"},
        {"{\"time\": 0.1, \"do\": \"spin\", \"body\": \"bull\", \"impulse\": [0, 0, 1]}",
         "\"ball\""},
        {"{\"time\": 0.1, \"do\": \"spin\", \"body\": 9, \"impulse\": [0, 0, 1]}", "9"},
        {"{\"time\": 0.1, \"do\": \"shove\", \"body\": 1}", "shove"},
        {"{\"time\": 0.1, \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0]}", "impulse"},
        {"{\"time\": 0.1, \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 1], \"hard\": true}",
         "hard"},
        {"{\"time\": 0.1, \"do\": \"push\", \"body\": \"floor\", \"point\": [0, 0, 0],"
         " \"impulse\": [0, 0, 1]}",
         "floor"},
        {"{\"time\": 0.1, \"do\": \"set\", \"target\": \"world\", \"key\": \"gravity\","
         " \"value\": [0, 0]}",
         "gravity"},
        {"{\"time\": 0.1, \"do\": \"drag-end\", \"drag\": 3}", "3"},
    };
    prepare();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbWriteText(rbScratch("bad.jsonl"), cases[i].text);
        rbExpectFailure(RUN("run", "yard.json", "--actions", "bad.jsonl", "--csv", "a.csv"), 2,
                        cases[i].words);
        assert_false(rbFileExists(rbScratch("a.csv")));
    }
    rbExpectFailure(RUN("run", "yard.json", "--actions", "absent.jsonl"), 2, "absent.jsonl");
    rbExpectFailure(RUN("run", "yard.json", "--actions", "."), 2, "is a folder");
}

// Times between steps and after the end are allowed and reported.
static void oddTimesAreReported(void** state)
{
    (void)state;
    prepare();
    rbWriteText(rbScratch("odd.jsonl"),
                "{\"time\": 0.1, \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 1]}\n"
                "{\"time\": 0.10025, \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 1]}\n"
                "{\"time\": 2, \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 1]}\n");
    rbChild child = RUN("run", "yard.json", "--actions", "odd.jsonl", "--record", "a.rbr");
    assert_int_equal(child.exitCode, 0);
    assert_non_null(strstr(child.err,
                           "1 of 3 actions, the first at t = 0.10025 s, fall between the "
                           "steps of 0.001 s"));
    assert_non_null(strstr(child.err, "1 of 3 actions lie after the end at 1 s"));
    rbFreeChild(&child);
    json_t* replay = RUN_JSON("replay", "a.rbr");
    assert_true(json_is_true(json_object_get(replay, "equal")));
    checkNear(rbNumberOf(replay, "actionsDone", NULL), 2, 0.0);
    json_decref(replay);
    child = RUN("run", "yard.json", "--actions", "odd.jsonl", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
}

RB_TEST_GROUP(test_actions, SCRATCH_TEST(whatWasDoneIsDoneAgainToTheBit),
              SCRATCH_TEST(sessionsAreDoneAgainToTheBit), SCRATCH_TEST(framesShowWhoLives),
              SCRATCH_TEST(cutOffRecordingsAreDoneAgain), SCRATCH_TEST(otherActionsAreADifference),
              SCRATCH_TEST(mistakesInFilesOfActionsAreNamed), SCRATCH_TEST(oddTimesAreReported));
