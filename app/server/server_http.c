// HTTP responses of the server: the page, the list of scenes, their pictures.
#include "server/server_state.h"

#include <stdio.h>
#include <string.h>

#define CHUNK_SIZE 16384
#define HEADER_SIZE 2048
#define ANSWER_TIMEOUT 120 // s

static rbServer* getServer(struct lws* wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

// -------------------------------------------------------------------------------------- answering

typedef struct Header {
    const char* name;
    const char* value;
} Header;

// The page contains its script and connects only to this server.
static const char policy[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' "
    "data: blob:; font-src data:; connect-src 'self' ws:; worker-src blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

static const Header headers[] = {
    {"content-security-policy:", policy},
    {"x-content-type-options:", "nosniff"},
    {"referrer-policy:", "no-referrer"}, // the URL may hold a token
    {"cross-origin-resource-policy:", "same-origin"},
    {"cache-control:", "no-store"},
};

static int sendHeader(rbRequest* request, unsigned code, const char* type, size_t size)
{
    unsigned char buffer[LWS_PRE + HEADER_SIZE];
    unsigned char* start = buffer + LWS_PRE;
    unsigned char* at = start;
    unsigned char* end = buffer + sizeof buffer - 1;
    if (lws_add_http_common_headers(request->wsi, code, type, size, &at, end) != 0) {
        return 1;
    }
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; ++i) {
        if (lws_add_http_header_by_name(request->wsi, (const unsigned char*)headers[i].name,
                                        (const unsigned char*)headers[i].value,
                                        (int)strlen(headers[i].value), &at, end) != 0) {
            return 1;
        }
    }
    request->isHeaderSent = true;
    return lws_finalize_write_http_header(request->wsi, start, &at, end);
}

static int answer(rbRequest* request, const char* type, const void* bytes, size_t size)
{
    request->bytes = bytes;
    request->size = size;
    request->sent = 0;
    if (sendHeader(request, HTTP_STATUS_OK, type, size) != 0) {
        return 1;
    }
    (void)lws_callback_on_writable(request->wsi);
    return 0;
}

// A short text, written immediately.
static int answerMessage(rbRequest* request, unsigned code, const char* sentence)
{
    unsigned char buffer[LWS_PRE + 1024];
    int size = snprintf((char*)buffer + LWS_PRE, 1024, "%s.\n", sentence);
    size = size < 1023 ? size : 1023;
    if (sendHeader(request, code, "text/plain; charset=utf-8", (size_t)size) != 0 ||
        lws_write(request->wsi, buffer + LWS_PRE, (size_t)size, LWS_WRITE_HTTP_FINAL) < 0) {
        return -1;
    }
    return lws_http_transaction_completed(request->wsi) != 0 ? -1 : 0;
}

static void release(rbServer* server, rbRequest* request)
{
    rbRequest** link = &server->requests;
    while (*link != NULL) {
        if (*link == request) {
            *link = request->next;
        } else {
            link = &(*link)->next;
        }
    }
    if (request->job != NULL) {
        rbServer_ReleaseJob(server, request->job);
    }
    memset(request, 0, sizeof *request);
}

static int sendBytes(rbServer* server, rbRequest* request)
{
    unsigned char buffer[LWS_PRE + CHUNK_SIZE];
    size_t left = request->size - request->sent;
    size_t size = left < CHUNK_SIZE ? left : CHUNK_SIZE;
    bool isLast = size == left;
    memcpy(buffer + LWS_PRE, request->bytes + request->sent, size);
    if (lws_write(request->wsi, buffer + LWS_PRE, size,
                  isLast ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < (int)size) {
        return -1;
    }
    request->sent += size;
    if (!isLast) {
        (void)lws_callback_on_writable(request->wsi);
        return 0;
    }
    struct lws* wsi = request->wsi;
    release(server, request);
    return lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
}

// ----------------------------------------------------------------------------------------- waiting

static int answerJob(rbServer* server, rbRequest* request)
{
    rbJobState state = RB_JOB_WAITING;
    (void)pthread_mutex_lock(&server->mutex);
    state = request->job->state;
    (void)pthread_mutex_unlock(&server->mutex);
    if (state == RB_JOB_WAITING) {
        return 0;
    }
    if (state == RB_JOB_DONE) {
        const char* type = request->job->name[0] != '\0' ? "image/png" : "application/json";
        return answer(request, type, request->job->bytes, request->job->size);
    }
    int result = answerMessage(request, HTTP_STATUS_NOT_FOUND, request->job->sentence);
    release(server, request);
    return result;
}

static int startJob(rbServer* server, rbRequest* request, const char* name)
{
    request->job = rbServer_FindJob(server, name);
    if (request->job == NULL) {
        return answerMessage(request, HTTP_STATUS_SERVICE_UNAVAILABLE,
                             "too many pictures are being made; try again later");
    }
    request->next = server->requests;
    server->requests = request;
    lws_set_timeout(request->wsi, PENDING_TIMEOUT_HTTP_CONTENT, ANSWER_TIMEOUT);
    return answerJob(server, request);
}

void rbServer_WakeRequests(rbServer* server)
{
    for (rbRequest* request = server->requests; request != NULL; request = request->next) {
        if (!request->isHeaderSent) {
            (void)lws_callback_on_writable(request->wsi);
        }
    }
}

// ---------------------------------------------------------------------------------------- requests

static int givePage(rbServer* server, rbRequest* request)
{
    return answer(request, "text/html; charset=utf-8", server->page, server->pageSize);
}

static int giveList(rbServer* server, rbRequest* request)
{
    if (server->host.listScenes == NULL) {
        return answerMessage(request, HTTP_STATUS_NOT_FOUND, "this server has no gallery");
    }
    return startJob(server, request, "");
}

static int givePicture(rbServer* server, rbRequest* request, const char* path)
{
    char name[RB_SCENE_NAME_SIZE + 4];
    size_t size = strlen(path);
    bool isPicture = size > 4 && size < sizeof name && strcmp(path + size - 4, ".png") == 0;
    if (isPicture) {
        memcpy(name, path, size - 4);
        name[size - 4] = '\0';
    }
    if (!isPicture || !rbGuard_IsSceneName(name) || server->host.drawPicture == NULL) {
        return answerMessage(request, HTTP_STATUS_NOT_FOUND,
                             "pictures are at /picture/NAME.png, where NAME is a scene");
    }
    return startJob(server, request, name);
}

static int giveFile(rbServer* server, rbRequest* request, const char* path)
{
    static const char picture[] = "/picture/";
    if (lws_hdr_total_length(request->wsi, WSI_TOKEN_GET_URI) <= 0) {
        return answerMessage(request, HTTP_STATUS_METHOD_NOT_ALLOWED, "only GET is supported");
    }
    const char* refusal = rbGuard_ValidateRequest(server, request->wsi);
    if (refusal != NULL) {
        atomic_fetch_add(&server->refused, 1);
        return answerMessage(request, HTTP_STATUS_FORBIDDEN, refusal);
    }
    if (strcmp(path, "/") == 0 || strcmp(path, "/index.html") == 0) {
        return givePage(server, request);
    }
    if (strcmp(path, "/scenes.json") == 0) {
        return giveList(server, request);
    }
    if (strncmp(path, picture, sizeof picture - 1) == 0) {
        return givePicture(server, request, path + sizeof picture - 1);
    }
    return answerMessage(request, HTTP_STATUS_NOT_FOUND,
                         "there is nothing here; the page is at /, the scenes are at /scenes.json, "
                         "pictures at /picture/NAME.png and the stream at /ws");
}

int rbServer_HandleHttp(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                        size_t size)
{
    rbRequest* request = user;
    int result = 0;
    if (reason == LWS_CALLBACK_HTTP) {
        char path[256];
        (void)snprintf(path, sizeof path, "%s", (const char*)in);
        release(getServer(wsi), request); // a connection may ask again before it has read all
        request->wsi = wsi;
        result = giveFile(getServer(wsi), request, path);
    } else if (reason == LWS_CALLBACK_HTTP_WRITEABLE && request != NULL && request->wsi != NULL) {
        if (request->isHeaderSent && request->bytes != NULL) {
            result = sendBytes(getServer(wsi), request);
        } else if (request->job != NULL && !request->isHeaderSent) {
            result = answerJob(getServer(wsi), request);
        }
    } else if ((reason == LWS_CALLBACK_CLOSED_HTTP || reason == LWS_CALLBACK_WSI_DESTROY) &&
               request != NULL && request->wsi == wsi) {
        release(getServer(wsi), request);
    } else if (reason == LWS_CALLBACK_HTTP_CONFIRM_UPGRADE) {
        result = rbServer_ValidateClient(getServer(wsi), wsi);
    } else if (reason == LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION) {
        // a WebSocket that does not ask for our protocol
        atomic_fetch_add(&getServer(wsi)->refused, 1);
        result = 1;
    } else if (reason == LWS_CALLBACK_EVENT_WAIT_CANCELLED) {
        rbServer_WakeClients(getServer(wsi));
        rbServer_WakeRequests(getServer(wsi));
    } else {
        result = lws_callback_http_dummy(wsi, reason, user, in, size);
    }
    return result;
}
