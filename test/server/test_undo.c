// Undo and redo of what users did, loops, and the start of the clock.
#include "base/core/timer.h"
#include "rb_test.h"
#include "server_support.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
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

static void send(rbSession* session, const char* text)
{
    rbReply reply;
    rbSession_Command(session, 1, text, strlen(text), &reply);
    if (!reply.isOk) {
        fail_msg("%s: %s", text, reply.text);
    }
}

static void refuseCommand(rbSession* session, const char* text, const char* sentence)
{
    rbReply reply;
    rbSession_Command(session, 1, text, strlen(text), &reply);
    if (reply.isOk || strstr(reply.text, sentence) == NULL) {
        fail_msg("%s gave %s, expected \"%s\"", text, reply.text, sentence);
    }
}

static void run(rbSession* session, int frames)
{
    char text[64];
    (void)snprintf(text, sizeof text, "{\"do\":\"step\",\"count\":%d}", frames);
    send(session, text);
    while (rbSession_Tick(session)) {
    }
}

static uint64_t hashOf(const rbSession* session)
{
    return rbWorld_GetHash(rbSession_GetWorld(session));
}

static double timeOf(const rbSession* session)
{
    return rbWorld_GetTime(rbSession_GetWorld(session));
}

static int countActions(const rbSession* session)
{
    return rbSession_GetActions(session)->count;
}

// Undo gives the bits of before, redo those of after, and a run that continues from either is the
// one that would have been.
static void undoAndRedoGiveTheSameBits(void** state)
{
    (void)state;
    static const struct {
        const char* scene;
        const char* action;
    } cases[] = {
        {"dice", "{\"do\":\"push\",\"body\":1,\"point\":[0,0,0.2],\"impulse\":[0.001,0,0.002]}"},
        {"double-pendulum",
         "{\"do\":\"set\",\"target\":\"world\",\"key\":\"gravity\",\"value\":[0,0,-1]}"},
        {"tumbling-box", "{\"do\":\"spin\",\"body\":0,\"impulse\":[0.001,0,0]}"},
        {"dominoes", "{\"do\":\"delete\",\"body\":\"domino20\"}"},
        {"tumbling-box", "{\"do\":\"add\",\"body\":{\"position\":[3,0,9],\"shapes\":[{\"geometry\":"
                         "{\"type\":\"sphere\",\"radius\":0.1}}]}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbSession* session = openSession(cases[i].scene);
        refuseCommand(session, "{\"do\":\"undo\"}", "nothing was done");
        run(session, 8);
        double time = timeOf(session);
        uint64_t before = hashOf(session);
        send(session, cases[i].action);
        uint64_t after = hashOf(session);
        run(session, 6);
        uint64_t end = hashOf(session);
        send(session, "{\"do\":\"undo\"}");
        checkNear(timeOf(session), time, 0.0);
        checkNear(rbStore_GetShownTime(rbSession_GetStore(session)), time, 0.0);
        assert_true(hashOf(session) == before);
        assert_int_equal(countActions(session), 0);
        run(session, 3); // redo goes back to its time
        send(session, "{\"do\":\"redo\"}");
        checkNear(timeOf(session), time, 0.0);
        assert_true(hashOf(session) == after);
        refuseCommand(session, "{\"do\":\"redo\"}", "nothing was undone");
        run(session, 6);
        assert_true(hashOf(session) == end);
        rbDestroySession(session);
    }
}

// A drag with its moves and the values of one slider are undone as one; a new action forgets what
// was undone.
static void whatIsOneThingIsUndoneAsOne(void** state)
{
    (void)state;
    rbSession* session = openSession("double-pendulum");
    run(session, 5);
    uint64_t before = hashOf(session);
    send(session, "{\"do\":\"drag-start\",\"body\":1,\"point\":[0,0,0],\"kind\":\"point\"}");
    run(session, 4); // every frame logs a move
    send(session, "{\"do\":\"drag-move\",\"point\":[0.2,0,0.1]}");
    run(session, 4);
    send(session, "{\"do\":\"drag-end\"}");
    int dragActions = countActions(session);
    assert_true(dragActions > 8);
    uint64_t dragged = hashOf(session);
    for (int i = 0; i < 5; ++i) {
        char text[128];
        (void)snprintf(
            text, sizeof text,
            "{\"do\":\"set\",\"target\":\"world\",\"key\":\"gravity\",\"value\":[0,0,-%d]}", i + 1);
        send(session, text);
        run(session, 1);
    }
    send(session, "{\"do\":\"undo\"}"); // all five values
    assert_int_equal(countActions(session), dragActions);
    assert_true(hashOf(session) == dragged);
    send(session, "{\"do\":\"undo\"}"); // the drag
    assert_int_equal(countActions(session), 0);
    assert_true(hashOf(session) == before);
    send(session, "{\"do\":\"redo\"}");
    assert_true(hashOf(session) == dragged);
    send(session, "{\"do\":\"push\",\"body\":1,\"point\":[0,0,0],\"impulse\":[0.01,0,0]}");
    refuseCommand(session, "{\"do\":\"redo\"}", "nothing was undone");
    rbDestroySession(session);
}

// A looping session shows its frames again and simulates nothing new.
static void loopsRepeatTheirFrames(void** state)
{
    (void)state;
    rbSession* session = openSession("tumbling-box");
    rbStore* store = rbSession_GetStore(session);
    send(session, "{\"do\":\"speed\",\"factor\":2000}");
    send(session, "{\"do\":\"loop\",\"on\":true}");
    send(session, "{\"do\":\"play\"}");
    int turns = 0;
    double last = 0.0;
    double start = rbGetWallTime();
    while (turns < 3 && rbGetWallTime() - start < 20.0) {
        assert_true(rbSession_Tick(session));
        turns += rbStore_GetShownTime(store) < last ? 1 : 0;
        last = rbStore_GetShownTime(store);
    }
    assert_int_equal(turns, 3);
    checkNear(rbStore_GetEndTime(store), 10.0, 0.0);
    // without the loop it ends where the scene ends
    send(session, "{\"do\":\"loop\",\"on\":false}");
    while (rbSession_Tick(session) && rbGetWallTime() - start < 20.0) {
    }
    checkNear(rbStore_GetShownTime(store), 10.0, 0.0);
    rbDestroySession(session);
}

// The clock starts with the first page, and only with the first.
static void theFirstPageStartsTheClock(void** state)
{
    (void)state;
    rbSession* session = openSession("tumbling-box");
    assert_false(rbSession_Tick(session));
    send(session, "{\"do\":\"ready\"}");
    assert_true(rbSession_Tick(session));
    send(session, "{\"do\":\"pause\"}");
    send(session, "{\"do\":\"ready\"}");
    assert_false(rbSession_Tick(session));
    rbDestroySession(session);
    session = openSession("tumbling-box");
    send(session, "{\"do\":\"pause\"}"); // as --paused does
    send(session, "{\"do\":\"ready\"}");
    assert_false(rbSession_Tick(session));
    rbDestroySession(session);
}

RB_TEST_GROUP(test_undo, cmocka_unit_test(undoAndRedoGiveTheSameBits),
              cmocka_unit_test(whatIsOneThingIsUndoneAsOne),
              cmocka_unit_test(loopsRepeatTheirFrames),
              cmocka_unit_test(theFirstPageStartsTheClock));
