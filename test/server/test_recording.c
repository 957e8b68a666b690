// A recording shown as a simulation: played, sought, stepped, and never changed.
#include "client.h"
#include "rb_test.h"
#include "server/session_recording.h"
#include "session/stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FRAMES 101
#define STEP 0.01
#define BODIES 5

static const char sceneText[] =
    "{\"rattleback\": 1, \"name\": \"yard\", \"duration\": 1,"
    " \"bodies\": ["
    "  {\"name\": \"floor\", \"type\": \"static\","
    "   \"shapes\": [{\"geometry\": {\"type\": \"plane\", \"normal\": [0, 0, 1]}}]},"
    "  {\"name\": \"ball\", \"position\": [0, 0, 5],"
    "   \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}}]},"
    "  {\"name\": \"cube\", \"position\": [1, 0, 5],"
    "   \"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}}]}]}";

static char path[64];

// Body 1 falls, 2 is removed at 0.5 s, 3 never existed, 4 is added at 0.25 s.
static void writeRecording(int frameCount)
{
    static const char* const names[BODIES] = {"floor", "ball", "cube", "", "added-4"};
    const rbRecordingHeader header = {
        .sceneText = sceneText, .bodyNames = names, .bodyCount = BODIES};
    const rbRecordedAction actions[] = {
        {0.25, "{\"do\": \"add\", \"number\": 4, \"body\": {\"position\": [0, 0, 7],"
               " \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.25}}]}}"},
        {0.5, "{\"do\": \"delete\", \"body\": 2}"}};
    const rbRecordedEvent event = {.time = 0.3, .kind = 4, .bodyA = 0, .bodyB = 1};
    rbRecordingWriter* writer = rbCreateRecording(path, &header, NULL);
    assert_non_null(writer);
    for (int k = 0; k < frameCount; ++k) {
        double t = rbGetStepTime(k, STEP);
        rbVec3 positions[BODIES] = {{0.0, 0.0, 0.0},
                                    {0.0, 0.0, 5.0 - 0.5 * t * t},
                                    {k < 50 ? 1.0 : NAN, 0.0, 5.0},
                                    {NAN, NAN, NAN},
                                    {k < 25 ? NAN : 0.5, 0.0, 7.0}};
        rbQuat orientations[BODIES];
        rbVec3 velocities[BODIES];
        for (int i = 0; i < BODIES; ++i) {
            orientations[i] = RB_QUAT_IDENTITY;
            velocities[i] = RB_VEC3_ZERO;
        }
        rbFrame frame = {.time = t,
                         .bodyCount = BODIES,
                         .positions = positions,
                         .orientations = orientations,
                         .linearVelocities = velocities,
                         .angularVelocities = velocities};
        if (k == 25 || k == 50) {
            assert_int_equal(rbRecordingWriter_WriteActions(writer, &actions[k / 50], 1, NULL),
                             RB_STATUS_OK);
        }
        if (k == 30) {
            assert_int_equal(rbRecordingWriter_WriteEvents(writer, &event, 1, NULL), RB_STATUS_OK);
        }
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &frame, NULL), RB_STATUS_OK);
    }
    assert_int_equal(rbRecordingWriter_Finish(writer, 0, NULL), RB_STATUS_OK);
}

static int setUp(void** state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/rb-recording-%ld.rbr", (long)getpid());
    return 0;
}

static int tearDown(void** state)
{
    (void)state;
    (void)remove(path);
    return 0;
}

static rbStatus openRecording(rbSimulation* simulation, rbError* error)
{
    rbRecording* recording = rbOpenRecording(path, NULL);
    assert_non_null(recording);
    const char* text = rbRecording_GetHeader(recording)->sceneText;
    rbScene* scene = rbReadSceneText(text, strlen(text), NULL, NULL);
    assert_non_null(scene);
    return rbMakeRecordingSimulation(recording, scene, simulation, error);
}

static rbSimulation openPlayer(void)
{
    rbSimulation simulation;
    rbError error = {0};
    if (openRecording(&simulation, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    return simulation;
}

// The player with a client of its stream.
typedef struct Audience {
    rbSimulation player;
    rbStore* store;
    rbStreamCursor cursor;
    rbMessage message;
    rbClientModel* client;
} Audience;

static void openAudience(Audience* audience)
{
    memset(audience, 0, sizeof *audience);
    audience->player = openPlayer();
    audience->store = audience->player.getStore(audience->player.object);
    audience->client = rbCreateClientModel();
    audience->cursor.kind = audience->player.kind;
    audience->cursor.isUnbounded = true;
}

static void closeAudience(Audience* audience)
{
    audience->player.destroy(audience->player.object);
    rbStreamCursor_Free(&audience->cursor);
    rbMessage_Free(&audience->message);
    rbDestroyClientModel(audience->client);
}

// Sends everything there is to send.
static void look(Audience* audience)
{
    while (rbStream_Next(audience->store, &audience->cursor, &audience->message)) {
        rbClientModel_Take(audience->client, rbMessage_GetBytes(&audience->message),
                           audience->message.size, audience->message.isText);
    }
}

static void ask(Audience* audience, const char* text)
{
    rbReply reply;
    audience->player.command(audience->player.object, 1, text, strlen(text), &reply);
    if (!reply.isOk) {
        fail_msg("%s: %s", text, reply.text);
    }
    look(audience);
}

static bool isPlaying(const Audience* audience)
{
    return json_is_true(json_object_get(audience->client->state, "playing"));
}

static bool isSeen(const Audience* audience, int body)
{
    const rbClientPose* pose = &audience->client->poses[body];
    return pose->isKnown && pose->hasPose;
}

// L-110, B-90
static void recordingsArePlayedAndSought(void** state)
{
    (void)state;
    Audience audience;
    writeRecording(FRAMES);
    openAudience(&audience);
    look(&audience);
    assert_string_equal(audience.player.kind, "recording");
    assert_string_equal(json_string_value(json_object_get(audience.client->hello, "kind")),
                        "recording");
    assert_true(json_is_false(json_object_get(audience.client->state, "canAct")));
    assert_string_equal(json_string_value(json_object_get(audience.client->state, "sentence")), "");
    checkNear(json_number_value(json_object_get(audience.client->state, "endTime")), 1.0, 0.0);
    checkNear(json_number_value(json_object_get(audience.client->state, "frameStep")), STEP, 1e-12);
    assert_int_equal(audience.client->eventCount, 1);
    checkNear(audience.client->time, 0.0, 0.0);
    assert_true(isSeen(&audience, 1) && isSeen(&audience, 2));
    assert_false(isSeen(&audience, 3) || isSeen(&audience, 4));
    ask(&audience, "{\"do\": \"seek\", \"time\": 0.3}");
    checkNear(audience.client->time, 0.3, 1e-12);
    checkNear(audience.client->poses[1].position[2], 5.0 - 0.045, 1e-6);
    assert_true(isSeen(&audience, 2) && isSeen(&audience, 4));
    assert_false(isSeen(&audience, 3));
    ask(&audience, "{\"do\": \"seek\", \"time\": 0.7}");
    assert_true(isSeen(&audience, 4));
    assert_false(isSeen(&audience, 2));
    ask(&audience, "{\"do\": \"step\"}");
    checkNear(audience.client->time, 0.71, 1e-12);
    ask(&audience, "{\"do\": \"step\", \"count\": -11}");
    checkNear(audience.client->time, 0.6, 1e-12);
    ask(&audience, "{\"do\": \"seek\", \"time\": 1e30}");
    checkNear(audience.client->time, 1.0, 0.0);
    ask(&audience, "{\"do\": \"reset\"}");
    checkNear(audience.client->time, 0.0, 0.0);
    assert_true(isSeen(&audience, 2));
    assert_false(isSeen(&audience, 4));
    closeAudience(&audience);
}

static void recordingsPlayToTheirEnd(void** state)
{
    (void)state;
    Audience audience;
    writeRecording(FRAMES);
    openAudience(&audience);
    assert_false(audience.player.tick(audience.player.object)); // it waits for play
    ask(&audience, "{\"do\": \"speed\", \"factor\": 20}");
    ask(&audience, "{\"do\": \"play\"}");
    assert_true(isPlaying(&audience));
    double last = 0.0;
    int ticks = 0;
    while (audience.player.tick(audience.player.object) && ticks < 10000) {
        look(&audience);
        assert_true(audience.client->time >= last);
        last = audience.client->time;
        struct timespec pause = {
            .tv_nsec = (long)(1e9 * audience.player.getPause(audience.player.object))};
        (void)nanosleep(&pause, NULL);
        ticks += 1;
    }
    look(&audience);
    assert_true(ticks < 100); // 1 s at twentyfold speed
    assert_false(isPlaying(&audience));
    checkNear(audience.client->time, 1.0, 0.0);
    ask(&audience, "{\"do\": \"play\"}"); // again from the start
    assert_true(audience.client->time < 0.5);
    ask(&audience, "{\"do\": \"pause\"}");
    assert_false(audience.player.tick(audience.player.object));
    closeAudience(&audience);
}

// Nothing in it can be changed, and nonsense gets a message.
static void recordingsRefuseActions(void** state)
{
    (void)state;
    const struct {
        const char* text;
        const char* words;
        bool isMalformed;
    } cases[] = {
        {"{\"do\": \"push\", \"body\": 1}", "this is a recording", false},
        {"{\"do\": \"set\", \"id\": [7, \"x\"]}", "[7,\"x\"]", false},
        {"{\"do\": \"save\"}", "copy its file", false},
        {"{\"do\": \"speed\"}", "factor", false},
        {"{\"do\": \"speed\", \"factor\": 0}", "factor", false},
        {"{\"do\": \"speed\", \"factor\": \"fast\"}", "factor", false},
        {"{\"do\": \"seek\", \"time\": null}", "time", false},
        {"{\"do\": \"step\", \"count\": 1e300}", "count", false},
        {"{\"do\": \"step\", \"count\": {}}", "count", false},
        {"{\"do\": \"dance\"}", "unknown command", true},
        {"{\"do\": 5}", "unknown command", true},
        {"{}", "unknown command", true},
        {"[]", "one JSON object", true},
        {"{\"do\": ", "one JSON object", true},
        {"", "one JSON object", true},
    };
    Audience audience;
    writeRecording(3);
    openAudience(&audience);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbReply reply;
        audience.player.command(audience.player.object, 1, cases[i].text, strlen(cases[i].text),
                                &reply);
        assert_false(reply.isOk);
        assert_int_equal(reply.isMalformed, cases[i].isMalformed);
        if (strstr(reply.text, cases[i].words) == NULL) {
            fail_msg("%s: %s", cases[i].text, reply.text);
        }
    }
    audience.player.leaveClient(audience.player.object, 1);
    rbError error = {0};
    assert_int_equal(audience.player.save(audience.player.object, "x.rbr", &error),
                     RB_STATUS_UNSUPPORTED);
    checkNear(rbStore_GetShownTime(audience.store), 0.0, 0.0);
    closeAudience(&audience);
}

static void cutOffRecordingsShowWhatTheyHave(void** state)
{
    (void)state;
    writeRecording(FRAMES);
    FILE* file = fopen(path, "rb+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    (void)fclose(file);
    assert_int_equal(truncate(path, size - 100), 0);
    Audience audience;
    openAudience(&audience);
    look(&audience);
    const char* sentence = json_string_value(json_object_get(audience.client->state, "sentence"));
    assert_non_null(strstr(sentence, "cut off"));
    double end = json_number_value(json_object_get(audience.client->state, "endTime"));
    assert_true(end > 0.5 && end < 1.0);
    closeAudience(&audience);
    writeRecording(0);
    rbSimulation simulation;
    rbError error = {0};
    assert_int_equal(openRecording(&simulation, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "no frame"));
}

#define MANY 400
#define LONG 1000

// Ball i is at x = i + k / 1024 in frame k.
static void writeLongRecording(void)
{
    static const char text[] =
        "{\"rattleback\": 1, \"name\": \"row\", \"duration\": 10, \"bodies\": [{\"name\": \"b\","
        " \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}}],"
        " \"repeat\": {\"count\": [400, 1, 1], \"spacing\": [1, 0, 0]}}]}";
    static char words[MANY][16];
    const char* names[MANY];
    static rbVec3 positions[MANY], velocities[MANY];
    static rbQuat orientations[MANY];
    for (int i = 0; i < MANY; ++i) {
        (void)snprintf(words[i], sizeof words[i], "b[%d]", i);
        names[i] = words[i];
        orientations[i] = RB_QUAT_IDENTITY;
    }
    const rbRecordingHeader header = {.sceneText = text, .bodyNames = names, .bodyCount = MANY};
    rbRecordingWriter* writer = rbCreateRecording(path, &header, NULL);
    assert_non_null(writer);
    for (int k = 0; k < LONG; ++k) {
        for (int i = 0; i < MANY; ++i) {
            positions[i] = rbMakeVec3(i + k / 1024.0, 0.0, 0.0);
        }
        rbFrame frame = {.time = rbGetStepTime(k, STEP),
                         .bodyCount = MANY,
                         .positions = positions,
                         .orientations = orientations,
                         .linearVelocities = velocities,
                         .angularVelocities = velocities};
        assert_int_equal(rbRecordingWriter_WriteFrame(writer, &frame, NULL), RB_STATUS_OK);
    }
    assert_int_equal(rbRecordingWriter_Finish(writer, 0, NULL), RB_STATUS_OK);
}

// 400 bodies in 1000 frames are 42 MB in memory. A player holds the times and samples of all frames
// and the bodies of one: it reads the others from the file when they are shown.
static void recordingsAreStreamed(void** state)
{
    (void)state;
    Audience audience;
    writeLongRecording();
    size_t before = rbGetAllocatedBytes();
    openAudience(&audience);
    for (int i = 0; audience.player.tick(audience.player.object); ++i) {
        assert_true(i < 100000); // until all outlines are read
    }
    assert_true(rbStore_GetFrameCount(audience.store) == LONG);
    for (int i = 0; i < 40; ++i) {
        int k = (7 + 389 * i) % LONG; // forward and back
        char text[64];
        (void)snprintf(text, sizeof text, "{\"do\": \"seek\", \"time\": %.3f}", STEP * k);
        ask(&audience, text);
        checkNear(audience.client->time, STEP * k, 1e-9);
        for (int body = 0; body < MANY; body += 57) {
            checkNear(audience.client->poses[body].position[0], body + k / 1024.0, 1e-4);
        }
    }
    size_t used = rbGetAllocatedBytes() - before;
    print_message("a recording of 42 MB of poses takes %.1f MB\n", 1e-6 * (double)used);
    assert_true(used < 6000000);
    closeAudience(&audience);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, setUp, tearDown)
RB_TEST_GROUP(test_recording, WITH_FILE(recordingsArePlayedAndSought),
              WITH_FILE(recordingsPlayToTheirEnd), WITH_FILE(recordingsRefuseActions),
              WITH_FILE(cutOffRecordingsShowWhatTheyHave), WITH_FILE(recordingsAreStreamed));
