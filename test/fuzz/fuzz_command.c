// Any bytes as commands of clients: lines go to a session one after the other, with steps between
// them. The session must answer every one with a JSON reply, keep its world finite and end its
// drags.
#include "laboratory/scene_rows.h"
#include "session/session.h"
#include "session/stream.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#define LINES_MAX 24

static const char sceneText[] =
    "{\"rattleback\":1,\"engine\":\"step\",\"duration\":1,\"step\":{\"step\":0.01},\"contact\":{},"
    "\"materials\":{\"wood\":{\"density\":500,\"friction\":0.4}},"
    "\"bodies\":[{\"name\":\"ground\",\"type\":\"static\",\"shapes\":[{\"geometry\":{\"type\":"
    "\"plane\",\"normal\":[0,0,1],\"offset\":-2}}]},"
    "{\"name\":\"a\",\"position\":[0.5,0,0],\"shapes\":[{\"geometry\":{\"type\":\"box\",\"size\":"
    "[1,0.1,0.1]},\"material\":\"wood\"}]},"
    "{\"name\":\"b\",\"position\":[0,0,-1.4],\"shapes\":[{\"geometry\":{\"type\":\"sphere\","
    "\"radius\":0.5}}]}],"
    "\"joints\":[{\"name\":\"pin\",\"type\":\"hinge\",\"bodies\":[\"world\",\"a\"],\"anchor\":[0,0,"
    "0],"
    "\"axis\":[0,1,0],\"motor\":{\"type\":\"velocity\",\"target\":1,\"forceMax\":5}}],"
    "\"springs\":[{\"name\":\"s\",\"bodies\":[\"a\",\"b\"],\"restLength\":1,\"stiffness\":10}]}";

static void checkReply(const rbReply* reply)
{
    json_t* json = json_loadb(reply->text, reply->size, 0, NULL);
    const char* type = json_string_value(json_object_get(json, "type"));
    if (type == NULL || strcmp(type, "reply") != 0 || reply->size >= RB_REPLY_SIZE ||
        json_is_true(json_object_get(json, "ok")) != reply->isOk) {
        abort();
    }
    json_decref(json);
}

// A client reads everything in the store.
static void readAll(rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    for (int i = 0; i < 1000 && rbStream_Next(store, cursor, message); ++i) {
        if (message->isText) {
            json_t* json = json_loadb((const char*)rbMessage_GetBytes(message), message->size,
                                      JSON_REJECT_DUPLICATES, NULL);
            if (json == NULL) {
                abort();
            }
            json_decref(json);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    rbError error = {0};
    (void)rbRegisterSceneLaboratory(NULL);
    rbScene* scene = rbReadSceneText(sceneText, sizeof sceneText - 1, NULL, &error);
    rbSession* session = scene != NULL ? rbCreateSession(scene, &error) : NULL;
    if (session == NULL) {
        abort();
    }
    rbStore* store = rbSession_GetStore(session);
    rbStreamCursor cursor = {.kind = "live", .isUnbounded = true};
    rbMessage message = {0};
    const uint8_t* at = data;
    const uint8_t* end = data + size;
    for (int i = 0; i < LINES_MAX && at < end; ++i) {
        const uint8_t* newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline != NULL ? newline : end) - at);
        rbReply reply = {0};
        rbSession_Command(session, i / 5 % 2, (const char*)at, length, &reply);
        checkReply(&reply);
        (void)rbSession_Tick(session);
        readAll(store, &cursor, &message);
        at = newline != NULL ? newline + 1 : end;
    }
    rbSession_LeaveClient(session, 0);
    rbSession_LeaveClient(session, 1);
    (void)rbSession_Tick(session);
    readAll(store, &cursor, &message);
    rbStreamCursor_Free(&cursor);
    rbMessage_Free(&message);
    rbDestroySession(session);
    return 0;
}
