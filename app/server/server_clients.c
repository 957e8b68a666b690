// Clients: connect, receive when their socket accepts more, send commands, and disconnect.
#include "base/core/timer.h"
#include "server/server_state.h"

#include <string.h>
#include <sys/socket.h>

#define SEND_BUFFER (256 << 10) // bytes of old frames that may wait in the kernel

typedef struct Session {
    rbServerClient* client;
} Session;

static rbServer* getServer(struct lws* wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

static void ask(rbServerClient* client)
{
    if (client->askedTime == 0.0) {
        client->askedTime = rbGetWallTime();
    }
    (void)lws_callback_on_writable(client->wsi);
}

static void drop(rbServer* server, rbServerClient* client)
{
    if (!client->isClosing) {
        client->isClosing = true;
        atomic_fetch_add(&server->dropped, 1);
        lws_set_timeout(client->wsi, PENDING_TIMEOUT_KILLED_BY_PROXY_CLIENT_CLOSE,
                        LWS_TO_KILL_ASYNC);
    }
}

void rbServer_WakeClients(rbServer* server)
{
    for (int i = 0; i < RB_SERVER_CLIENTS_MAX; ++i) {
        if (server->clients[i] != NULL) {
            ask(server->clients[i]);
        }
    }
}

void rbServer_DropStalled(rbServer* server)
{
    double now = rbGetWallTime();
    for (int i = 0; i < RB_SERVER_CLIENTS_MAX; ++i) {
        rbServerClient* client = server->clients[i];
        if (client != NULL && client->askedTime != 0.0 &&
            now - client->askedTime > server->stallTimeout) {
            drop(server, client);
        }
    }
}

// -------------------------------------------------------------------------------- coming and going

int rbServer_ValidateClient(rbServer* server, struct lws* wsi)
{
    char path[64];
    const char* refusal = rbGuard_ValidateRequest(server, wsi);
    if (refusal == NULL && (lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI) <= 0 ||
                            strcmp(path, "/ws") != 0)) {
        refusal = "the stream is at /ws";
    }
    if (refusal == NULL && atomic_load(&server->clientCount) >= RB_SERVER_CLIENTS_MAX) {
        refusal = "too many browsers already show this simulation; close one";
    }
    if (refusal == NULL) {
        return 0;
    }
    atomic_fetch_add(&server->refused, 1);
    (void)lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, refusal);
    return 1; // answered
}

static int addClient(rbServer* server, struct lws* wsi, Session* session)
{
    int slot = 0;
    while (slot < RB_SERVER_CLIENTS_MAX && server->clients[slot] != NULL) {
        ++slot;
    }
    if (slot == RB_SERVER_CLIENTS_MAX) {
        return -1;
    }
    rbServerClient* client = rbAllocZero(1, sizeof *client);
    client->wsi = wsi;
    client->number = ++server->clientNumber;
    client->cursor.client = client->number;
    client->credit = RB_SERVER_COMMANDS_PER_SECOND;
    client->creditTime = rbGetWallTime();
    client->complaintTime = -1e9;
    int size = SEND_BUFFER;
    (void)setsockopt(lws_get_socket_fd(wsi), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    (void)pthread_mutex_lock(&server->mutex);
    server->clients[slot] = client;
    (void)pthread_mutex_unlock(&server->mutex);
    session->client = client;
    atomic_fetch_add(&server->clientCount, 1);
    atomic_fetch_add(&server->clientsSeen, 1);
    rbServer_UpdateViewers(server);
    ask(client);
    return 0;
}

static void removeClient(rbServer* server, Session* session)
{
    rbServerClient* client = session->client;
    if (client == NULL) {
        return;
    }
    session->client = NULL;
    (void)pthread_mutex_lock(&server->mutex);
    for (int i = 0; i < RB_SERVER_CLIENTS_MAX; ++i) {
        server->clients[i] = server->clients[i] == client ? NULL : server->clients[i];
    }
    (void)pthread_mutex_unlock(&server->mutex);
    rbServer_Queue(server, client->number, RB_COMMAND_LEAVE, NULL, "");
    for (int i = 0; i < client->outbox.count; ++i) {
        rbFree(client->outbox.data[i].text, client->outbox.data[i].size);
    }
    rbArray_Free(client->outbox);
    rbStreamCursor_Free(&client->cursor);
    rbMessage_Free(&client->input);
    rbFree(client, sizeof *client);
    atomic_fetch_sub(&server->clientCount, 1);
    if (!atomic_load(&server->isStopping)) {
        rbServer_UpdateViewers(server);
    }
}

// ----------------------------------------------------------------------------------------- writing

// Removes the oldest reply.
static bool takeReply(rbServer* server, rbServerClient* client, rbMessage* message)
{
    rbOutgoing reply = {0};
    (void)pthread_mutex_lock(&server->mutex);
    bool isFound = client->outbox.count > 0;
    if (isFound) {
        reply = client->outbox.data[0];
        --client->outbox.count;
        memmove(client->outbox.data, client->outbox.data + 1,
                (size_t)client->outbox.count * sizeof *client->outbox.data);
    }
    (void)pthread_mutex_unlock(&server->mutex);
    if (isFound) {
        rbMessage_Clear(message, true);
        rbMessage_Bytes(message, reply.text, reply.size);
        rbFree(reply.text, reply.size);
        client->badCount += reply.isBad ? 1 : 0;
    }
    return isFound;
}

// What the client lacks from the simulation, or that there is none.
static bool takeNews(rbServer* server, rbServerClient* client, rbMessage* message)
{
    bool isFound = false;
    (void)pthread_mutex_lock(&server->storeMutex);
    if (client->simulationNumber != server->simulationNumber) {
        rbStreamCursor_Restart(&client->cursor);
        client->simulationNumber = server->simulationNumber;
        client->cursor.kind = server->simulation.kind;
    }
    if (server->simulation.object != NULL) {
        client->cursor.now = rbGetWallTime();
        const rbStore* store = server->simulation.getStore(server->simulation.object);
        isFound = rbStream_Next(store, &client->cursor, message);
    } else if (!client->cursor.hasHello) {
        rbStream_WriteHello(&client->cursor, NULL, message);
        client->cursor.hasHello = true;
        isFound = true;
    }
    (void)pthread_mutex_unlock(&server->storeMutex);
    return isFound;
}

static int writeNext(rbServer* server, rbServerClient* client)
{
    rbMessage* message = &server->message;
    client->askedTime = 0.0;
    if (client->badCount >= RB_SERVER_BAD_MAX) {
        static const char reason[] = "too many invalid messages";
        atomic_fetch_add(&server->dropped, 1);
        lws_close_reason(client->wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION, (unsigned char*)reason,
                         sizeof reason - 1);
        return -1;
    }
    if (!takeReply(server, client, message) && !takeNews(server, client, message)) {
        return 0;
    }
    int sent = lws_write(client->wsi, rbMessage_GetBytes(message), message->size,
                         message->isText ? LWS_WRITE_TEXT : LWS_WRITE_BINARY);
    if (sent < (int)message->size) {
        return -1;
    }
    atomic_fetch_add(&server->messages, 1);
    atomic_fetch_add(&server->bytes, (long long)message->size);
    ask(client); // until there is nothing more
    return 0;
}

// ----------------------------------------------------------------------------------------- reading

static int takeBytes(rbServer* server, rbServerClient* client, const void* bytes, size_t size)
{
    if (lws_is_first_fragment(client->wsi)) {
        rbMessage_Clear(&client->input, true);
        client->isInputText = lws_frame_is_binary(client->wsi) == 0;
    }
    size_t most = client->isInputText ? RB_SERVER_MESSAGE_MAX : RB_SERVER_FILE_MAX;
    if (client->input.size + size > most) {
        static const char reason[] = "a command is at most 65536 bytes long, a file 64 MB";
        atomic_fetch_add(&server->dropped, 1);
        lws_close_reason(client->wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, (unsigned char*)reason,
                         sizeof reason - 1);
        return -1;
    }
    rbMessage_Bytes(&client->input, bytes, size);
    if (lws_is_final_fragment(client->wsi)) {
        rbServer_TakeCommand(server, client);
        rbMessage_Clear(&client->input, true);
        ask(client);
    }
    return 0;
}

int rbServer_HandleClient(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                          size_t size)
{
    Session* session = user;
    int result = 0;
    if (reason == LWS_CALLBACK_ESTABLISHED) {
        result = addClient(getServer(wsi), wsi, session);
    } else if (reason == LWS_CALLBACK_CLOSED) {
        removeClient(getServer(wsi), session);
    } else if (reason == LWS_CALLBACK_SERVER_WRITEABLE && session->client != NULL) {
        result = writeNext(getServer(wsi), session->client);
    } else if (reason == LWS_CALLBACK_RECEIVE && session->client != NULL) {
        result = takeBytes(getServer(wsi), session->client, in, size);
    }
    return result;
}
