// Incoming commands: what a client may send and how often, which commands the server handles
// itself, and the queue to the simulation.
#include "base/core/timer.h"
#include "server/server_state.h"
#include "session/client_commands.h"

#include <string.h>

#define EXCESS_MAX 5000 // commands beyond the rate before a client is dropped

// ----------------------------------------------------------------------------------------- replies

void rbServer_PutReply(rbServer* server, int client, const char* text, size_t size, bool isBad)
{
    (void)pthread_mutex_lock(&server->mutex);
    for (int i = 0; i < RB_SERVER_CLIENTS_MAX; ++i) {
        rbServerClient* found = server->clients[i];
        if (found != NULL && found->number == client && found->outbox.count < RB_OUTBOX_MAX) {
            rbOutgoing reply = {rbAlloc(size), size, isBad};
            memcpy(reply.text, text, size);
            rbArray_Push(found->outbox, reply);
        }
    }
    (void)pthread_mutex_unlock(&server->mutex);
}

void rbServer_Broadcast(rbServer* server, const char* text, size_t size)
{
    int numbers[RB_SERVER_CLIENTS_MAX];
    int count = 0;
    (void)pthread_mutex_lock(&server->mutex);
    for (int i = 0; i < RB_SERVER_CLIENTS_MAX; ++i) {
        if (server->clients[i] != NULL) {
            numbers[count++] = server->clients[i]->number;
        }
    }
    (void)pthread_mutex_unlock(&server->mutex);
    for (int i = 0; i < count; ++i) {
        rbServer_PutReply(server, numbers[i], text, size, false);
    }
}

void rbServer_Reply(rbServer* server, int client, const char* id, const char* error, bool isBad)
{
    rbReply reply = {0};
    rbReply_Set(&reply, id[0] != '\0' ? id : NULL, error);
    rbServer_PutReply(server, client, reply.text, reply.size, isBad);
}

// ------------------------------------------------------------------------------------------- queue

void rbServer_FreeCommand(rbCommand* command)
{
    rbFree(command->text, command->size);
    command->text = NULL;
}

void rbServer_Queue(rbServer* server, int client, rbCommandKind kind, const char* text,
                    const char* id)
{
    rbServer_QueueBytes(server, client, kind, text, text != NULL ? strlen(text) + 1 : 0, id);
}

// Files are large: one waits at a time. The mutex is held.
static bool hasFile(const rbServer* server)
{
    bool isFound = false;
    for (int i = 0; i < server->queue.count; ++i) {
        isFound = isFound || server->queue.data[i].kind == RB_COMMAND_FILE;
    }
    return isFound;
}

void rbServer_QueueBytes(rbServer* server, int client, rbCommandKind kind, const void* bytes,
                         size_t size, const char* id)
{
    rbCommand command = {.kind = kind, .client = client};
    if (bytes != NULL) {
        command.size = size;
        command.text = rbAlloc(size);
        memcpy(command.text, bytes, size);
    }
    memcpy(command.id, id, strlen(id) + 1);
    bool isFull = false;
    char replaced[sizeof command.id] = "";
    (void)pthread_mutex_lock(&server->mutex);
    rbCommand* last = server->queue.count > 0 ? &server->queue.data[server->queue.count - 1] : NULL;
    if (kind == RB_COMMAND_MOVE && last != NULL && last->kind == kind &&
        last->client == command.client) {
        memcpy(replaced, last->id, sizeof replaced);
        rbServer_FreeCommand(last);
        *last = command;
    } else if ((server->queue.count >= RB_SERVER_QUEUE_MAX && kind != RB_COMMAND_LEAVE) ||
               (kind == RB_COMMAND_FILE && hasFile(server))) {
        isFull = true;
        rbServer_FreeCommand(&command);
    } else {
        rbArray_Push(server->queue, command);
        atomic_fetch_add(&server->waiting, kind != RB_COMMAND_MOVE ? 1 : 0);
    }
    (void)pthread_cond_signal(&server->hasCommands);
    (void)pthread_mutex_unlock(&server->mutex);
    if (replaced[0] != '\0') {
        rbServer_Reply(server, client, replaced, NULL, false); // a later one does it
    }
    if (isFull) {
        rbServer_Reply(
            server, client, id,
            "the simulation is busy and too many commands are waiting; send this again later",
            false);
    }
}

// ------------------------------------------------------------------------- what the server does

// A parsed command of a client.
typedef struct Request {
    json_t* json;
    const char* text;
    const char* id;
} Request;

typedef void HandleFn(rbServer* server, rbServerClient* client, const Request* request);

static void handleSelect(rbServer* server, rbServerClient* client, const Request* request)
{
    const char* error = "no scene is open";
    (void)pthread_mutex_lock(&server->storeMutex);
    if (server->simulation.object != NULL) {
        const rbStore* store = server->simulation.getStore(server->simulation.object);
        error = rbSelectForClient(&client->cursor, store, request->json);
    }
    (void)pthread_mutex_unlock(&server->storeMutex);
    rbServer_Reply(server, client->number, request->id, error, false);
}

static void handleOverlays(rbServer* server, rbServerClient* client, const Request* request)
{
    const char* error = rbSetOverlaysForClient(&client->cursor, request->json);
    rbServer_Reply(server, client->number, request->id, error, false);
}

static void handleOpen(rbServer* server, rbServerClient* client, const Request* request)
{
    const char* name = json_string_value(json_object_get(request->json, "scene"));
    if (server->host.openScene == NULL) {
        rbServer_Reply(server, client->number, request->id, "this server has no gallery", false);
    } else if (name == NULL || !rbGuard_IsSceneName(name)) {
        rbServer_Reply(server, client->number, request->id,
                       "\"scene\" must be the name of a scene of the gallery", false);
    } else {
        rbServer_Queue(server, client->number, RB_COMMAND_OPEN, name, request->id);
    }
}

static void handleClose(rbServer* server, rbServerClient* client, const Request* request)
{
    if (server->host.openScene == NULL) {
        rbServer_Reply(server, client->number, request->id,
                       "this server has no gallery to go back to", false);
    } else {
        rbServer_Queue(server, client->number, RB_COMMAND_CLOSE, NULL, request->id);
    }
}

static void handleControl(rbServer* server, rbServerClient* client, const Request* request)
{
    rbServer_HandleControl(server, client, request->json, request->id);
}

static void handleMove(rbServer* server, rbServerClient* client, const Request* request)
{
    rbServer_Queue(server, client->number, RB_COMMAND_MOVE, request->text, request->id);
}

static void handleOther(rbServer* server, rbServerClient* client, const Request* request)
{
    rbServer_Queue(server, client->number, RB_COMMAND_TEXT, request->text, request->id);
}

static const struct {
    const char* name;
    HandleFn* handle;
} handlers[] = {
    {"select", handleSelect}, {"overlays", handleOverlays}, {"open", handleOpen},
    {"close", handleClose},   {"drag-move", handleMove},    {"control", handleControl},
};

// ----------------------------------------------------------------------------------------- reading

// The id as JSON, if it is a number or a short text.
static void writeId(const json_t* json, char* text, size_t capacity)
{
    const json_t* id = json_object_get(json, "id");
    text[0] = '\0';
    if (json_is_number(id) || json_is_string(id)) {
        size_t size = json_dumpb(id, text, capacity - 1, JSON_ENCODE_ANY | JSON_COMPACT);
        text[size < capacity ? size : 0] = '\0';
    }
}

static bool isWithinRate(rbServer* server, rbServerClient* client)
{
    const double rate = RB_SERVER_COMMANDS_PER_SECOND;
    double now = rbGetWallTime();
    double credit = client->credit + rate * (now - client->creditTime);
    client->credit = credit < rate ? credit : rate;
    client->creditTime = now;
    if (client->credit >= 1.0) {
        client->credit -= 1.0;
        return true;
    }
    if (now - client->complaintTime > 1.0) {
        client->complaintTime = now;
        rbServer_Reply(server, client->number, "",
                       "more than 200 commands per second; the excess was ignored", false);
    }
    ++client->excessCount;
    client->badCount = client->excessCount > EXCESS_MAX ? RB_SERVER_BAD_MAX : client->badCount;
    return false;
}

json_t* rbServer_ReadSent(const void* message, size_t size, const void** bytes, size_t* byteCount)
{
    const unsigned char* data = message;
    size_t length = size < 4 ? 0
                             : (size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16 |
                                   (size_t)data[3] << 24;
    if (size < 4 || length > size - 4) {
        return NULL;
    }
    *bytes = data + 4 + length;
    *byteCount = size - 4 - length;
    return json_loadb((const char*)data + 4, length, JSON_REJECT_DUPLICATES, NULL);
}

// A scene or a recording with its bytes.
static void takeFile(rbServer* server, rbServerClient* client)
{
    const void* bytes = NULL;
    size_t size = 0;
    const void* message = rbMessage_GetBytes(&client->input);
    json_t* json = rbServer_ReadSent(message, client->input.size, &bytes, &size);
    const char* command = json_string_value(json_object_get(json, "do"));
    const char* name = json_string_value(json_object_get(json, "scene"));
    char id[sizeof((rbCommand*)0)->id];
    char refusal[128];
    writeId(json, id, sizeof id);
    if (command == NULL || strcmp(command, "open") != 0) {
        rbServer_Reply(server, client->number, id,
                       "commands must be text, one JSON object each; only \"open\" may have a file",
                       true);
    } else if (rbServer_ValidateControl(server, client, command, refusal, sizeof refusal) != NULL) {
        rbServer_Reply(server, client->number, id, refusal, false);
    } else if (server->host.openSent == NULL) {
        rbServer_Reply(server, client->number, id, "this server opens no files", false);
    } else if (name == NULL || !rbGuard_IsSceneName(name)) {
        rbServer_Reply(server, client->number, id,
                       "\"scene\" must be a name of letters, digits, '-', '_' and '.'", false);
    } else {
        rbServer_QueueBytes(server, client->number, RB_COMMAND_FILE, message, client->input.size,
                            id);
    }
    json_decref(json);
}

void rbServer_TakeCommand(rbServer* server, rbServerClient* client)
{
    atomic_fetch_add(&server->commands, 1);
    if (client->badCount >= RB_SERVER_BAD_MAX || !isWithinRate(server, client)) {
        return;
    }
    if (!client->isInputText) {
        takeFile(server, client);
        return;
    }
    rbMessage_Bytes(&client->input, "", 1); // its end
    const char* text = (const char*)rbMessage_GetBytes(&client->input);
    json_t* json = json_loadb(text, client->input.size - 1, JSON_REJECT_DUPLICATES, NULL);
    const char* name = json_string_value(json_object_get(json, "do"));
    char id[sizeof((rbCommand*)0)->id];
    writeId(json, id, sizeof id);
    char refusal[128];
    const char* error =
        name != NULL ? rbServer_ValidateControl(server, client, name, refusal, sizeof refusal)
                     : NULL;
    if (error != NULL) {
        rbServer_Reply(server, client->number, id, error, false);
    } else if (name == NULL) {
        rbServer_Reply(server, client->number, id,
                       json_is_object(json)
                           ? "a command needs its name: {\"do\": \"pause\"}"
                           : "a command must be one JSON object: {\"do\": \"pause\"}",
                       true);
    } else {
        const Request request = {json, text, id};
        HandleFn* handle = handleOther;
        for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; ++i) {
            handle = strcmp(name, handlers[i].name) == 0 ? handlers[i].handle : handle;
        }
        handle(server, client, &request);
    }
    json_decref(json);
}
