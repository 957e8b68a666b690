// Sessions: playing, stepping, going back, branching, two clients, errors.
#include "base/core/memory.h"
#include "base/core/timer.h"
#include "rb_test.h"
#include "server_support.h"
#include "session/session.h"
#include "session/stream.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rbSession* openSession(const char* scene)
{
    rbError error = {0};
    rbSession* session = rbCreateSession(openScene(scene), &error);
    if (session == NULL) {
        fail_msg("%s: %s", scene, error.message);
    }
    return session;
}

// Fast enough that no test waits for the clock.
static void run(rbSession* session, int frames)
{
    rbReply reply;
    char text[64];
    (void)snprintf(text, sizeof text, "{\"do\":\"step\",\"count\":%d}", frames);
    rbSession_Command(session, 0, text, strlen(text), &reply);
    assert_true(reply.isOk);
    while (rbSession_Tick(session)) {
    }
}

static void sendCommand(rbSession* session, int client, const char* format, ...)
{
    char text[2048];
    rbReply reply;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rbSession_Command(session, client, text, strlen(text), &reply);
    if (!reply.isOk) {
        fail_msg("%s: %s", text, reply.text);
    }
}

static void sendBadCommand(rbSession* session, int client, const char* text, const char* sentence)
{
    rbReply reply;
    rbSession_Command(session, client, text, strlen(text), &reply);
    if (reply.isOk || strstr(reply.text, sentence) == NULL) {
        fail_msg("%s gave %s, expected \"%s\"", text, reply.text, sentence);
    }
}

static double shownTime(rbSession* session)
{
    return rbStore_GetShownTime(rbSession_GetStore(session));
}

// L-108, B-90: all frames shown in a run are those of the world, at whole steps, and playing ends
// at the duration of the scene.
static void stepsShowFramesOfTheWorld(void** state)
{
    (void)state;
    rbSession* session = openSession("robot-arm");
    run(session, 30);
    checkNear(shownTime(session), 30.0 * 0.017, 1e-12); // 17 steps of 1 ms are nearest to 1/60 s
    rbStore* store = rbSession_GetStore(session);
    assert_int_equal(rbStore_GetFrameCount(store), 31);
    rbFrame frame;
    assert_true(rbStore_ReadFrame(store, 30, &frame));
    rbBodyState truth = rbBody_GetState(rbSession_GetWorld(session), rbStore_GetBodyId(store, 2));
    assert_memory_equal(&frame.positions[2], &truth.transform.p, sizeof(rbVec3));
    sendCommand(session, 1, "{\"do\":\"seek\",\"time\":0.2}");
    checkNear(shownTime(session), 0.2, 0.017);
    run(session, 1); // the next recorded frame, nothing is simulated
    assert_int_equal(rbStore_GetFrameCount(store), 31);
    rbDestroySession(session);
}

// The set point of a motor as the parameters say it that a new client gets.
static double toldTarget(rbSession* session, size_t joint)
{
    rbStreamCursor cursor = {.kind = "live", .client = 1};
    rbMessage message = {0};
    double target = NAN;
    while (rbStream_Next(rbSession_GetStore(session), &cursor, &message)) {
        json_t* json = json_loadb((const char*)rbMessage_GetBytes(&message), message.size, 0, NULL);
        const char* type = json_string_value(json_object_get(json, "type"));
        if (type != NULL && strcmp(type, "parameters") == 0) {
            const json_t* one = json_array_get(json_object_get(json, "joints"), joint);
            const json_t* freedom = json_array_get(json_object_get(one, "freedoms"), 0);
            const json_t* motor = json_object_get(freedom, "motor");
            target = json_number_value(json_object_get(motor, "target"));
        }
        json_decref(json);
    }
    rbMessage_Free(&message);
    rbStreamCursor_Free(&cursor);
    return target;
}

// While time runs, set points are sent at a limited rate; while it stands still, those sent belong
// to the time shown.
static void setPointsAreThoseOfTheTimeShown(void** state)
{
    (void)state;
    rbSession* session = openSession("robot-arm");
    for (int i = 1; i <= 5; ++i) { // the shoulder goes to 0.8 rad in the first second
        run(session, 10);
        checkNear(toldTarget(session, 1), 0.8 * shownTime(session), 1e-3);
    }
    sendCommand(session, 1, "{\"do\":\"play\"}");
    for (int i = 0; i < 40; ++i) {
        (void)rbSession_Tick(session);
    }
    sendCommand(session, 1, "{\"do\":\"pause\"}");
    checkNear(toldTarget(session, 1), fmin(0.8, 0.8 * shownTime(session)), 2e-3);
    rbDestroySession(session);
}

// playing keeps the requested pace, shows the recorded frames after a rewind, and continues.
static void playingKeepsPace(void** state)
{
    (void)state;
    rbSession* session = openSession("tumbling-box");
    sendCommand(session, 1, "{\"do\":\"speed\",\"factor\":4}");
    sendCommand(session, 1, "{\"do\":\"play\"}");
    double start = rbGetWallTime();
    while (rbGetWallTime() - start < 0.25) {
        (void)rbSession_Tick(session);
    }
    // never faster; slower where the machine is busy
    checkBelow(shownTime(session), 4.0 * (rbGetWallTime() - start) + 0.1);
    assert_true(shownTime(session) > 0.1);
    sendCommand(session, 1, "{\"do\":\"pause\"}");
    assert_false(rbSession_Tick(session));
    double end = shownTime(session);
    sendCommand(session, 1, "{\"do\":\"seek\",\"time\":0}");
    sendCommand(session, 1, "{\"do\":\"speed\",\"factor\":1000}");
    sendCommand(session, 1, "{\"do\":\"play\"}");
    for (int i = 0; i < 100000 && rbSession_Tick(session); ++i) {
    }
    // a flight of 10 s, then it pauses
    assert_true(end < 10.0);
    checkNear(shownTime(session), 10.0, 0.0);
    rbDestroySession(session);
}

// L-109: reset gives a fresh run, bit by bit, whatever was done.
static void resetGivesAFreshRun(void** state)
{
    (void)state;
    static const char* const scenes[] = {"dice", "double-pendulum", "tumbling-box", "card-house"};
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; ++i) {
        rbSession* session = openSession(scenes[i]);
        run(session, 10);
        uint64_t hash = rbWorld_GetHash(rbSession_GetWorld(session));
        sendCommand(session, 1,
                    "{\"do\":\"set\",\"target\":\"world\",\"key\":\"gravity\",\"value\":[1,0,0]}");
        sendCommand(session, 1,
                    "{\"do\":\"add\",\"body\":{\"position\":[30,0,90],\"shapes\":[{\"geometry\":"
                    "{\"type\":\"sphere\",\"radius\":0.1}}]}}");
        run(session, 5);
        sendCommand(session, 1, "{\"do\":\"reset\"}");
        checkNear(shownTime(session), 0.0, 0.0);
        assert_int_equal(rbSession_GetActions(session)->count, 0);
        run(session, 10);
        assert_true(hash == rbWorld_GetHash(rbSession_GetWorld(session)));
        rbDestroySession(session);
    }
}

// Two clients: the second cannot take the body that the first drags; a client that leaves releases
// it.
static void clientsShareABody(void** state)
{
    (void)state;
    rbSession* session = openSession("robot-arm");
    static const char start[] =
        "{\"do\":\"drag-start\",\"body\":\"forearm\",\"kind\":\"translate\"}";
    sendCommand(session, 1, "%s", start);
    sendBadCommand(session, 2, start, "is already being dragged; wait until it is released");
    sendBadCommand(session, 1, start, "you are already dragging");
    sendBadCommand(session, 2, "{\"do\":\"drag-move\",\"position\":[0,0,0]}",
                   "you are not dragging");
    sendBadCommand(session, 1, "{\"do\":\"drag-move\",\"point\":[0,0,0]}",
                   "needs the key \\\"position\\\"");
    sendCommand(session, 1, "{\"do\":\"drag-move\",\"position\":[0.5,0.5,0.5]}");
    sendCommand(session, 2, "{\"do\":\"drag-start\",\"body\":\"upperArm\",\"point\":[0.1,0,0.5]}");
    run(session, 10);
    int joints = rbWorld_GetJointCount(rbSession_GetWorld(session));
    assert_int_equal(joints, 3 + 1 + 1);
    rbSession_LeaveClient(session, 1);
    rbSession_LeaveClient(session, 7);
    assert_int_equal(rbWorld_GetJointCount(rbSession_GetWorld(session)), 4);
    sendCommand(session, 3, "%s", start);
    sendCommand(session, 2, "{\"do\":\"delete\",\"body\":\"upperArm\"}"); // ends its drag
    sendBadCommand(session, 2, "{\"do\":\"drag-end\"}", "you are not dragging");
    run(session, 5);
    sendCommand(session, 3, "{\"do\":\"drag-end\"}");
    run(session, 5);
    rbDestroySession(session);
}

static void badCommandsGetAMessage(void** state)
{
    (void)state;
    static const char* const bad[][2] = {
        {"", "is empty"},
        {"{", "ends too early"},
        {"[1]", "with the key"},
        {"{\"do\":[]}", "with the key"},
        {"{\"do\":\"paus\",\"id\":7}", "\"id\":7,\"ok\":false,\"error\":\"there is no command "
                                       "\\\"paus\\\"; did you mean \\\"pause\\\"?\""},
        {"{\"do\":\"pusch\"}", "did you mean \\\"push\\\"?"},
        {"{\"do\":\"speed\"}", "needs the key \\\"factor\\\""},
        {"{\"do\":\"speed\",\"factor\":0}", "factor is 0"},
        {"{\"do\":\"speed\",\"factor\":-3}", "factor is -3"},
        {"{\"do\":\"step\",\"count\":1.5}", "an integer"},
        {"{\"do\":\"step\",\"count\":1e9}", "count is 1000000000"},
        {"{\"do\":\"seek\",\"time\":\"now\"}", "expected a number"},
        {"{\"do\":\"play\",\"loud\":true}", "unknown key \\\"loud\\\""},
        {"{\"do\":\"save\"}", "--record FILE"},
        {"{\"do\":\"delete\",\"body\":\"\\u00e4\\u00f6\",\"id\":\"x\"}",
         "\"id\":\"x\",\"ok\":false"},
        {"{\"do\":\"push\",\"body\":0,\"point\":[0,0,0],\"impulse\":[0,0,1],\"time\":3}",
         "unknown key \\\"time\\\""},
    };
    rbSession* session = openSession("dice");
    run(session, 3);
    uint64_t hash = rbWorld_GetHash(rbSession_GetWorld(session));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        sendBadCommand(session, 1, bad[i][0], bad[i][1]);
    }
    // while an earlier time is shown, a bad action discards nothing
    sendCommand(session, 1, "{\"do\":\"seek\",\"time\":0}");
    sendBadCommand(session, 1, "{\"do\":\"delete\",\"body\":\"die9\"}", "there is no body");
    assert_int_equal(rbStore_GetFrameCount(rbSession_GetStore(session)), 4);
    assert_true(hash == rbWorld_GetHash(rbSession_GetWorld(session)));
    assert_int_equal(rbSession_GetActions(session)->count, 0);
    rbDestroySession(session);
}

// A start that the engine refuses gives a message, and the session continues.
static void refusedStartsAreSaid(void** state)
{
    (void)state;
    rbError error = {0};
    rbScene* scene = openScene("bouncing-ball");
    assert_int_equal(rbScene_Override(scene, "bodies.ball.position=[0,0,0]", &error), RB_STATUS_OK);
    rbSession* session = rbCreateSession(scene, &error);
    assert_non_null(session);
    sendCommand(session, 1, "{\"do\":\"play\"}");
    while (rbSession_Tick(session)) {
    }
    checkNear(shownTime(session), 0.0, 0.0);
    sendCommand(session, 1, "{\"do\":\"place\",\"body\":\"ball\",\"position\":[0,0,1]}");
    run(session, 3);
    assert_true(shownTime(session) > 0.0);
    rbDestroySession(session);
}

// The state of a fresh world after the same actions at the same times.
static uint64_t replayHash(const rbSession* session, const char* scene)
{
    Stage stage = openStage(scene);
    rbError error = {0};
    int next = 0;
    rbActions actions = {0};
    size_t size = 0;
    char* text = rbActions_Format(rbSession_GetActions(session), &size);
    assert_int_equal(rbActions_Parse(&actions, text, size, &error), RB_STATUS_OK);
    double end = rbWorld_GetTime(rbSession_GetWorld(session));
    rbStepReport report =
        rbAdvanceWithActions(stage.actor, stage.world, &actions, &next, end, &error);
    if (next != actions.count) {
        (void)fprintf(stderr, "%s\n", text);
        fail_msg("%s: action %d, %s at %.17g s: %s; the world is at %.17g s: %d, %s", scene, next,
                 actions.data[next].text, actions.data[next].time, error.message, report.time,
                 (int)report.status, rbWorld_GetError(stage.world).message);
    }
    uint64_t hash = rbWorld_GetHash(stage.world);
    rbActions_Free(&actions);
    rbFree(text, size + 1);
    closeStage(&stage);
    return hash;
}

static double drawNumber(uint64_t* seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ((double)(*seed >> 11) * 0x1p-53);
}

typedef struct Play {
    rbSession* session;
    uint64_t seed;
    int bodyCount; // to draw from; some do not exist
    double size;   // m, of the current motion
    int taken;
    int refused;
} Play;

static void send(Play* play, int client, const char* text)
{
    rbReply reply;
    rbSession_Command(play->session, client, text, strlen(text), &reply);
    play->taken += reply.isOk ? 1 : 0;
    play->refused += reply.isOk ? 0 : 1;
}

// One random command of one of two clients.
static void doSomething(Play* play)
{
    static const char* const patterns[] = {
        "{\"do\":\"push\",\"body\":%d,\"point\":[%g,%g,%g],\"impulse\":[%g,%g,%g]}",
        "{\"do\":\"spin\",\"body\":%d,\"impulse\":[%g,%g,%g]}",
        "{\"do\":\"drag-start\",\"body\":%d,\"point\":[%g,%g,%g]}",
        "{\"do\":\"drag-start\",\"body\":%d,\"kind\":\"translate\"}",
        "{\"do\":\"drag-end\"}",
        "{\"do\":\"set\",\"target\":\"world\",\"key\":\"gravity\",\"value\":[0,0,-9]}",
        "{\"do\":\"set\",\"target\":\"body\",\"number\":%d,\"key\":\"mass\",\"value\":1.5}",
        ("{\"do\":\"add\",\"body\":{\"position\":[%d,40,%g],\"shapes\":[{\"geometry\":{\"type\":"
         "\"sphere\",\"radius\":0.25}}]}}"),
        "{\"do\":\"delete\",\"body\":%d}",
        "{\"do\":\"speed\",\"factor\":0.5}",
    };
    int count = (int)(sizeof patterns / sizeof patterns[0]);
    int client = drawNumber(&play->seed, 0.0, 1.0) < 0.5 ? 1 : 2;
    int kind = (int)drawNumber(&play->seed, 0.0, count + 4.0);
    int body = (int)drawNumber(&play->seed, 0.0, play->bodyCount);
    double s = play->size;
    double v[6];
    for (int i = 0; i < 6; ++i) {
        v[i] = drawNumber(&play->seed, -s, s);
    }
    char text[512];
    if (kind == count) {
        double end = rbStore_GetEndTime(rbSession_GetStore(play->session));
        (void)snprintf(text, sizeof text, "{\"do\":\"seek\",\"time\":%g}",
                       drawNumber(&play->seed, 0.3, 1.1) * end);
    } else if (kind < count) {
        if (kind == 7) {
            body += 100 * play->taken; // apart from the others
        }
        // deleting everything would leave nothing to test
        if (kind == 8 && drawNumber(&play->seed, 0.0, 1.0) < 0.7) {
            body = 1000;
        }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(text, sizeof text, patterns[kind], body, v[0], v[1], v[2], v[3], v[4], v[5]);
#pragma GCC diagnostic pop
    } else {
        (void)snprintf(text, sizeof text, "{\"do\":\"drag-move\",\"%s\":[%g,%g,%g]}",
                       kind == count + 1 ? "position" : "point", v[0], v[1], v[2]);
    }
    send(play, client, text);
}

// L-109, B-90, B-91: user actions replay to the same bits, with seeks, branches, two clients
// and everything else.
static void whatWasDoneByHandReplaysToTheSameBits(void** state)
{
    (void)state;
    static const struct {
        const char* scene;
        double size; // m
    } rows[] = {{"dice", 0.02},          {"tumbling-box", 0.3},
                {"robot-arm", 0.3},      {"book-on-a-table", 0.05},
                {"four-bar", 0.2},       {"wilberforce", 0.1},
                {"bouncing-ball", 0.3},  {"billiard-break", 0.05},
                {"card-house", 0.05},    {"kepler", 0.1},
                {"door-with-stop", 0.1}, {"double-pendulum", 0.5}};
    int rowCount = (int)(sizeof rows / sizeof rows[0]);
    int total = 0;
    int refused = 0;
    int count = rbTest_Count(7, 10 * rowCount);
    for (int r = 0; r < count; ++r) {
        const char* scene = rows[r % rowCount].scene;
        Play play = {.session = openSession(scene),
                     .seed = rbTest_Seed(81) + (uint64_t)r,
                     .size = rows[r % rowCount].size};
        play.bodyCount = rbWorld_GetBodyCount(rbSession_GetWorld(play.session)) + 1;
        for (int i = 0; i < 60; ++i) {
            doSomething(&play);
            if (i % 2 == 0) {
                run(play.session, 1 + i % 3);
            }
        }
        rbSession_LeaveClient(play.session, 1);
        run(play.session, 3);
        uint64_t hash = rbWorld_GetHash(rbSession_GetWorld(play.session));
        if (hash != replayHash(play.session, scene)) {
            fail_msg("%s differs, seed %llu", scene, (unsigned long long)play.seed);
        }
        total += play.taken;
        refused += play.refused;
        rbDestroySession(play.session);
    }
    printf("%d commands taken, %d refused\n", total, refused);
    assert_true(total > 15 * count && refused > 0);
}

// An expensive frame is computed in pieces: a pause takes effect soon, at the current state of the
// world, and none of it changes the bits.
static void pausesAreHeardInLongFrames(void** state)
{
    (void)state;
    rbSession* session = openSession("robot-arm");
    sendCommand(session, 1, "{\"do\":\"speed\",\"factor\":1000}");
    sendCommand(session, 1, "{\"do\":\"play\"}");
    double longest = 0.0, second = 0.0; // one tick in eight may be held up by the machine
    for (int i = 0; i < 8; ++i) {
        double start = rbGetThreadTime();
        assert_true(rbSession_Tick(session));
        double spent = rbGetThreadTime() - start;
        second = fmax(second, fmin(spent, longest));
        longest = fmax(longest, spent);
    }
    checkBelow(second, 0.1);
    sendCommand(session, 1, "{\"do\":\"pause\"}");
    double time = shownTime(session);
    assert_true(time > 0.0 && time < 16.0);
    checkNear(time, rbWorld_GetTime(rbSession_GetWorld(session)), 0.0);
    checkNear(time / 0.001, floor(time / 0.001 + 0.5), 1e-6); // whole steps
    sendCommand(session, 1, "{\"do\":\"spin\",\"body\":\"forearm\",\"impulse\":[0,0.01,0]}");
    sendCommand(session, 1, "{\"do\":\"speed\",\"factor\":1}");
    run(session, 3);
    assert_true(rbWorld_GetHash(rbSession_GetWorld(session)) == replayHash(session, "robot-arm"));
    rbDestroySession(session);
}

// B-91: branches from times far back, over many snapshots and their thinning, with parameters that
// changed in between.
static void branchesGoBackFar(void** state)
{
    (void)state;
    static const char* const scenes[] = {"dice", "wilberforce", "tumbling-box"};
    for (size_t s = 0; s < sizeof scenes / sizeof scenes[0]; ++s) {
        rbSession* session = openSession(scenes[s]);
        sendCommand(session, 1, "{\"do\":\"speed\",\"factor\":%g}", s == 0 ? 0.2 : 2.0);
        uint64_t seed = rbTest_Seed(82);
        for (int i = 0; i < 6; ++i) {
            run(session, 150);
            double end = rbStore_GetEndTime(rbSession_GetStore(session));
            sendCommand(
                session, 1,
                "{\"do\":\"set\",\"target\":\"world\",\"key\":\"gravity\",\"value\":[0,0,%g]}",
                -9.0 - 0.1 * i);
            run(session, 50);
            sendCommand(session, 1, "{\"do\":\"seek\",\"time\":%.17g}",
                        end * drawNumber(&seed, 0.5, 1.05));
            sendCommand(session, 1, "{\"do\":\"spin\",\"body\":%d,\"impulse\":[1e-6,0,2e-6]}",
                        s == 0 ? 1 : 0);
            checkNear(rbStore_GetEndTime(rbSession_GetStore(session)), shownTime(session), 0.0);
        }
        run(session, 20);
        assert_true(rbWorld_GetHash(rbSession_GetWorld(session)) == replayHash(session, scenes[s]));
        rbDestroySession(session);
    }
}

RB_TEST_GROUP(test_session, cmocka_unit_test(stepsShowFramesOfTheWorld),
              cmocka_unit_test(playingKeepsPace), cmocka_unit_test(resetGivesAFreshRun),
              cmocka_unit_test(clientsShareABody), cmocka_unit_test(badCommandsGetAMessage),
              cmocka_unit_test(refusedStartsAreSaid), cmocka_unit_test(pausesAreHeardInLongFrames),
              cmocka_unit_test(branchesGoBackFar),
              cmocka_unit_test(setPointsAreThoseOfTheTimeShown),
              cmocka_unit_test(whatWasDoneByHandReplaysToTheSameBits));
