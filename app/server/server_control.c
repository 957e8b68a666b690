// Several viewers of one simulation. All may act, until one of them takes control: then the others
// watch. They may ask for it; the one in control gives it to another or releases it. Control ends
// with the connection of who has it.
#include "server/server_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a client that only watches may do: these concern nobody else.
static const char* const ownCommands[] = {"select", "overlays", "control", "ready"};

// The mutex is held by the caller of the functions that take no lock.
static rbServerClient* findClient(const rbServer* server, int number)
{
    for (int i = 0; i < RB_SERVER_CLIENTS_MAX; ++i) {
        if (server->clients[i] != NULL && server->clients[i]->number == number) {
            return server->clients[i];
        }
    }
    return NULL;
}

const char* rbServer_ValidateControl(rbServer* server, const rbServerClient* client,
                                     const char* command, char* text, size_t capacity)
{
    (void)pthread_mutex_lock(&server->mutex);
    int control = server->control;
    (void)pthread_mutex_unlock(&server->mutex);
    bool isFree = control == 0 || control == client->number;
    for (size_t i = 0; i < sizeof ownCommands / sizeof ownCommands[0]; ++i) {
        isFree = isFree || strcmp(command, ownCommands[i]) == 0;
    }
    if (isFree) {
        return NULL;
    }
    (void)snprintf(
        text, capacity,
        "viewer %d is in control; ask for it: {\"do\": \"control\", \"action\": \"ask\"}", control);
    return text;
}

// -------------------------------------------------------------------------------------------
// changes

// NULL: done; otherwise the reason why not.
typedef const char* ChangeFn(rbServer* server, rbServerClient* client, const json_t* json);

static const char* take(rbServer* server, rbServerClient* client, const json_t* json)
{
    (void)json;
    if (server->control != 0 && server->control != client->number) {
        return "another viewer is in control; ask for it";
    }
    server->control = client->number;
    client->isAsking = false;
    return NULL;
}

static const char* askFor(rbServer* server, rbServerClient* client, const json_t* json)
{
    (void)json;
    if (server->control == 0 || server->control == client->number) {
        return take(server, client, json);
    }
    client->isAsking = true;
    return NULL;
}

static const char* give(rbServer* server, rbServerClient* client, const json_t* json)
{
    rbServerClient* other =
        findClient(server, (int)json_integer_value(json_object_get(json, "to")));
    if (server->control != client->number) {
        return "you are not in control";
    }
    if (other == NULL) {
        return "\"to\" must be the number of a viewer";
    }
    server->control = other->number;
    other->isAsking = false;
    return NULL;
}

static const char* release(rbServer* server, rbServerClient* client, const json_t* json)
{
    (void)json;
    client->isAsking = false;
    if (server->control == client->number) {
        server->control = 0;
    }
    return NULL;
}

static const struct {
    const char* name;
    ChangeFn* change;
} changes[] = {{"take", take}, {"ask", askFor}, {"give", give}, {"release", release}};

// ------------------------------------------------------------------------------------------
// messages

void rbServer_UpdateViewers(rbServer* server)
{
    json_t* viewers = json_array();
    json_t* asking = json_array();
    (void)pthread_mutex_lock(&server->mutex);
    if (findClient(server, server->control) == NULL) {
        server->control = 0;
    }
    for (int i = 0; i < RB_SERVER_CLIENTS_MAX; ++i) {
        rbServerClient* client = server->clients[i];
        if (client != NULL) {
            client->isAsking = client->isAsking && server->control != 0;
            (void)json_array_append_new(viewers, json_integer(client->number));
            if (client->isAsking) {
                (void)json_array_append_new(asking, json_integer(client->number));
            }
        }
    }
    int control = server->control;
    (void)pthread_mutex_unlock(&server->mutex);
    json_t* message = json_pack("{s:s, s:o, s:i, s:o}", "type", "viewers", "viewers", viewers,
                                "control", control, "asking", asking);
    char* text = message != NULL ? json_dumps(message, JSON_COMPACT) : NULL;
    if (text != NULL) {
        rbServer_Broadcast(server, text, strlen(text));
        free(text); // jansson's
    }
    json_decref(message);
    rbServer_WakeClients(server);
}

void rbServer_HandleControl(rbServer* server, rbServerClient* client, json_t* json, const char* id)
{
    const char* action = json_string_value(json_object_get(json, "action"));
    const char* error = "\"action\" must be \"take\", \"ask\", \"give\" or \"release\"";
    (void)pthread_mutex_lock(&server->mutex);
    for (size_t i = 0; action != NULL && i < sizeof changes / sizeof changes[0]; ++i) {
        if (strcmp(action, changes[i].name) == 0) {
            error = changes[i].change(server, client, json);
        }
    }
    (void)pthread_mutex_unlock(&server->mutex);
    rbServer_Reply(server, client->number, id, error, false);
    rbServer_UpdateViewers(server);
}
