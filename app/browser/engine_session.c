// Sessions: the simulation under user control that the pages show. One client, the page; what the
// server does with threads and sockets, the host does with its own loop.
#include "base/core/memory.h"
#include "base/core/timer.h"
#include "browser/engine_state.h"
#include "session/client_commands.h"
#include "session/session.h"
#include "session/stream.h"

#include <string.h>

#define CLIENT 1
#define HISTORY_BYTES ((size_t)192 << 20) // a page shall not take the memory of the machine

struct rbEngineSession {
    rbSession* session;
    rbStreamCursor cursor;
    rbMessage message;
    rbReply reply;
};

rbEngineSession* rbEngine_OpenSession(const char* text, size_t size, const char* name)
{
    rbScene* scene = rbEngine_ReadScene(text, size, name);
    if (scene == NULL) {
        return NULL;
    }
    rbError error = {0};
    rbSession* session = rbCreateSession(scene, &error);
    if (session == NULL) {
        rbEngine_SetError(&error);
        return NULL;
    }
    rbStore_SetHistory(rbSession_GetStore(session), HISTORY_BYTES, 0);
    rbEngineSession* result = rbAllocZero(1, sizeof *result);
    result->session = session;
    result->cursor.kind = "live";
    result->cursor.client = CLIENT;
    return result;
}

void rbEngine_CloseSession(rbEngineSession* session)
{
    if (session == NULL) {
        return;
    }
    rbDestroySession(session->session);
    rbStreamCursor_Free(&session->cursor);
    rbMessage_Free(&session->message);
    rbFree(session, sizeof *session);
}

// The id of a command as JSON, if it is a number or a short text; "" otherwise.
static void writeId(const json_t* json, char* text, size_t capacity)
{
    const json_t* id = json_object_get(json, "id");
    text[0] = '\0';
    if (json_is_number(id) || json_is_string(id)) {
        size_t size = json_dumpb(id, text, capacity - 1, JSON_ENCODE_ANY | JSON_COMPACT);
        text[size < capacity ? size : 0] = '\0';
    }
}

const char* rbEngine_Command(rbEngineSession* session, const char* text, size_t size)
{
    json_t* json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    const char* name = json_string_value(json_object_get(json, "do"));
    char id[64];
    writeId(json, id, sizeof id);
    session->reply.size = 0;
    session->reply.text[0] = '\0';
    if (name != NULL && strcmp(name, "select") == 0) {
        rbReply_Set(
            &session->reply, id[0] != '\0' ? id : NULL,
            rbSelectForClient(&session->cursor, rbSession_GetStore(session->session), json));
    } else if (name != NULL && strcmp(name, "overlays") == 0) {
        rbReply_Set(&session->reply, id[0] != '\0' ? id : NULL,
                    rbSetOverlaysForClient(&session->cursor, json));
    } else {
        rbSession_Command(session->session, CLIENT, text, size, &session->reply);
    }
    json_decref(json);
    return session->reply.text;
}

double rbEngine_Tick(rbEngineSession* session)
{
    return rbSession_Tick(session->session) ? rbSession_GetPause(session->session) : -1.0;
}

const void* rbEngine_NextMessage(rbEngineSession* session)
{
    session->cursor.now = rbGetWallTime();
    return rbStream_Next(rbSession_GetStore(session->session), &session->cursor, &session->message)
               ? rbMessage_GetBytes(&session->message)
               : NULL;
}

size_t rbEngine_GetMessageSize(const rbEngineSession* session)
{
    return session->message.size;
}

bool rbEngine_IsMessageText(const rbEngineSession* session)
{
    return session->message.isText;
}

const char* rbEngine_GetHello(void)
{
    static rbMessage message;
    const rbStreamCursor cursor = {.kind = "live", .client = CLIENT};
    rbStream_WriteHello(&cursor, NULL, &message);
    rbMessage_Bytes(&message, "", 1);
    return (const char*)rbMessage_GetBytes(&message);
}

const char* rbEngine_GetSceneText(const rbEngineSession* session)
{
    return rbScene_GetText(rbSession_GetScene(session->session), NULL);
}
