// Impossible actions: each is refused with a message that contains the remedy, and the world is
// unchanged, bit by bit.
#include "rb_test.h"
#include "server_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bad {
    const char* text;
    const char* sentence; // a part of it
} Bad;

static const Bad badEverywhere[] = {
    {"", "is empty"},
    {"{", "the text ends too early"},
    {"[]", "an action must be an object with the key \"do\""},
    {"7", "expected near '7'"},
    {"{\"do\": 7}", "an action must be an object with the key \"do\""},
    {"{\"do\": \"pusch\"}", "there is no action \"pusch\"; did you mean \"push\"?"},
    {"{\"do\": \"push\"}", "push: \"push\" needs the key \"body\""},
    {"{\"do\": \"push\", \"body\": \"%B\", \"point\": [0, 0, 0]}", "needs the key \"impulse\""},
    {"{\"do\": \"push\", \"body\": \"%B\", \"point\": \"here\", \"impulse\": [0, 0, 1]}",
     "push point: found the string \"here\"; expected an array of 3 numbers"},
    {"{\"do\": \"push\", \"body\": \"%B\", \"point\": [0, 0], \"impulse\": [0, 0, 1]}",
     "an array of 2 elements"},
    {"{\"do\": \"push\", \"body\": \"%B\", \"point\": [0, 0, 1e13], \"impulse\": [0, 0, 1]}",
     "push point/2"},
    {"{\"do\": \"push\", \"body\": \"%B\", \"point\": [0, 0, NaN], \"impulse\": [0, 0, 1]}",
     "JSON has no NaN"},
    {"{\"do\": \"push\", \"body\": \"%B\", \"point\": [0, 0, 0], \"impulse\": [0, 0, 1e999]}",
     "beyond the range of doubles"},
    {"{\"do\": \"push\", \"body\": \"%B\", \"point\": [0, 0, 0], \"impulse\": [0, 0, 1e29]}",
     "at most 1e+12 of both"},
    {"{\"do\": \"push\", \"body\": \"%B\", \"pint\": [0, 0, 0], \"impulse\": [0, 0, 1]}",
     "unknown key \"pint\" in \"push\"; did you mean \"point\"?"},
    {"{\"do\": \"push\", \"body\": \"%B\", \"body\": 0}", "duplicate object key"},
    {"{\"do\": \"spin\", \"body\": \"%Bx\", \"impulse\": [0, 0, 1]}", "did you mean \"%B\"?"},
    {"{\"do\": \"spin\", \"body\": 123456, \"impulse\": [0, 0, 1]}",
     "there is no body number 123456; bodies have numbers 0 to"},
    {"{\"do\": \"spin\", \"body\": 0.5, \"impulse\": [0, 0, 1]}", "there is no body number 0.5"},
    {"{\"do\": \"spin\", \"body\": -1, \"impulse\": [0, 0, 1]}", "there is no body number -1"},
    {"{\"do\": \"spin\", \"body\": [0], \"impulse\": [0, 0, 1]}", "a name or a number"},
    {"{\"do\": \"drag-start\", \"body\": \"%B\", \"drag\": 1}", "needs the key \"point\""},
    {"{\"do\": \"drag-start\", \"body\": \"%B\", \"drag\": 1, \"point\": [0, 0, 0], \"kind\": "
     "\"x\"}",
     "\"point\", \"translate\" or \"rotate\""},
    {"{\"do\": \"drag-start\", \"body\": \"%B\", \"drag\": 1, \"point\": [0,0,0], \"forceMax\": 0}",
     "forceMax is 0 N; expected a number > 0"},
    {"{\"do\": \"drag-move\", \"drag\": 5, \"point\": [0, 0, 0]}",
     "there is no open drag number 5"},
    {"{\"do\": \"drag-end\", \"drag\": 5}", "there is no open drag number 5"},
    {"{\"do\": \"place\", \"body\": \"%B\", \"orientation\": [1, 1, 0, 0]}", "has norm"},
    {"{\"do\": \"place\", \"body\": \"%B\", \"velocity\": [1e13, 0, 0]}", "place velocity/0"},
    {"{\"do\": \"add\", \"body\": \"%B\"}", "found the string"},
    {"{\"do\": \"add\", \"body\": {\"shapes\": [{\"geometry\": \"none\"}]}}", "add bodies/0"},
    {"{\"do\": \"add\", \"body\": {\"shapes\": [{\"geometry\": {\"type\": \"mesh\", "
     "\"file\": \"/etc/passwd\"}}]}}",
     "the scene comes without this file"},
    {"{\"do\": \"add\", \"body\": {\"position\": [50, 0, 0], \"shapes\": [{\"geometry\": "
     "{\"type\": "
     "\"sphere\", \"radius\": 0.1}}], \"repeat\": {\"count\": [2, 1, 1], \"spacing\": [1, 0, 0]}}}",
     "one at a time"},
    {"{\"do\": \"delete\", \"body\": 99}", "there is no body number 99"},
    {"{\"do\": \"set\", \"target\": \"wurld\", \"key\": \"gravity\", \"value\": [0, 0, 0]}",
     "did you mean \"world\"?"},
    {"{\"do\": \"set\", \"target\": \"world\", \"key\": \"periodicBox\", \"value\": [0, 0, 0]}",
     "these can: gravity"},
    {"{\"do\": \"set\", \"target\": \"world\", \"key\": \"gravity\", \"value\": 9.81}",
     "set gravity: found the number 9.81"},
    {"{\"do\": \"set\", \"target\": \"material\", \"name\": \"wodo\", \"key\": \"friction\", "
     "\"value\": 1}",
     "the scene has no material \"wodo\""},
    {"{\"do\": \"set\", \"target\": \"joint\", \"number\": 77, \"key\": \"lower\", \"value\": 1}",
     "there is no joint number 77"},
    {"{\"do\": \"set\", \"target\": \"motor\", \"name\": \"x\", \"key\": \"target\", \"value\": 1}",
     "there is no joint \"x\""},
    {"{\"do\": \"set\", \"target\": \"spring\", \"number\": 0, \"key\": \"dampin\", \"value\": 1}",
     "these can: stiffness damping restLength"},
    {"{\"do\": \"set\", \"target\": \"body\", \"name\": \"%B\", \"key\": \"mass\", \"value\": -1}",
     "mass"},
};

// Replaces %B by the name of a body.
static void fill(const char* from, const char* name, char* to, size_t capacity)
{
    size_t used = 0;
    for (; *from != '\0' && used + strlen(name) + 1 < capacity; ++from) {
        if (from[0] == '%' && from[1] == 'B') {
            memcpy(to + used, name, strlen(name));
            used += strlen(name);
            ++from;
        } else {
            to[used++] = *from;
        }
    }
    to[used] = '\0';
}

// B-90
static void badActionsAreRefusedAndLeaveNoTrace(void** state)
{
    (void)state;
    static const char* const stages[][2] = {
        {"bouncing-ball", "ball"}, {"robot-arm", "forearm"}, {"tumbling-box", "box"}};
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; ++s) {
        Stage stage = openStage(stages[s][0]);
        (void)rbWorld_AdvanceTo(stage.world, 0.1);
        for (size_t i = 0; i < sizeof badEverywhere / sizeof badEverywhere[0]; ++i) {
            char text[1024];
            char sentence[256];
            fill(badEverywhere[i].text, stages[s][1], text, sizeof text);
            fill(badEverywhere[i].sentence, stages[s][1], sentence, sizeof sentence);
            refuse(&stage, text, sentence);
        }
        closeStage(&stage);
    }
}

static void staticBodiesAreNotPushed(void** state)
{
    (void)state;
    Stage stage = openStage("bouncing-ball");
    refuse(&stage, "{\"do\":\"push\",\"body\":\"floor\",\"point\":[0,0,0],\"impulse\":[0,0,1]}",
           "body \"floor\" is static and cannot be pushed; choose a dynamic one");
    refuse(&stage, "{\"do\":\"spin\",\"body\":0,\"impulse\":[0,0,1]}", "static");
    refuse(&stage, "{\"do\":\"drag-start\",\"drag\":0,\"body\":\"floor\",\"point\":[0,0,0]}",
           "cannot be dragged");
    refuse(&stage, "{\"do\":\"set\",\"target\":\"step\",\"key\":\"step\",\"value\":0.1}",
           "the engine of this world is \"event\"");
    closeStage(&stage);
}

// Text beyond the limits, nested deeper than accepted, or with any bytes.
static void hugeAndDeepActionsAreRefused(void** state)
{
    (void)state;
    Stage stage = openStage("tumbling-box");
    size_t size = RB_ACTION_SIZE_MAX + 100;
    char* text = malloc(size + 1);
    assert_non_null(text);
    memset(text, '[', size);
    text[size] = '\0';
    refuse(&stage, text, "at most 65536 are accepted");
    text[1000] = '\0';
    refuse(&stage, text, "nested deeper than 16");
    memcpy(text, "{\"do\":\"\xff\xfe\"}", 12);
    refuse(&stage, text, "unable to decode byte");
    free(text);
    closeStage(&stage);
}

// A body that the engine refuses is removed again; the log says so, and a repetition behaves the
// same.
static void bodiesInOneAnotherAreRefused(void** state)
{
    (void)state;
    static const char add[] = "{\"do\":\"add\",\"body\":{\"position\":[0,0,0],\"shapes\":"
                              "[{\"geometry\":{\"type\":\"sphere\",\"radius\":0.2}}]}%s}";
    Stage stage = openStage("bouncing-ball");
    rbError error = {0};
    char text[512];
    (void)snprintf(text, sizeof text, add, "");
    assert_int_not_equal(rbApplyAction(stage.actor, stage.world, text, &error), RB_STATUS_OK);
    assert_non_null(strstr(error.message, "overlap"));
    assert_true(rbActor_WasTouched(stage.actor));
    assert_int_equal(rbWorld_GetBodyCount(stage.world), 2);
    (void)snprintf(text, sizeof text, add, ",\"refused\":true");
    assert_int_equal(rbApplyAction(stage.actor, stage.world, text, &error), RB_STATUS_OK);
    assert_int_equal(rbWorld_GetBodyCount(stage.world), 2);
    assert_int_equal(rbWorld_AdvanceTo(stage.world, 0.1).status, RB_STATUS_OK);
    closeStage(&stage);
}

RB_TEST_GROUP(test_action_errors, cmocka_unit_test(badActionsAreRefusedAndLeaveNoTrace),
              cmocka_unit_test(staticBodiesAreNotPushed),
              cmocka_unit_test(hugeAndDeepActionsAreRefused),
              cmocka_unit_test(bodiesInOneAnotherAreRefused));
