// The server: its lifetime and its loop.
#include "server/server.h"

#include "server/page_bytes.h"
#include "server/server_state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STALL_TIMEOUT 30.0
#define TIMER_INTERVAL 500000 // us

// The first one serves HTTP.
static const struct lws_protocols protocols[] = {
    {.name = "http",
     .callback = rbServer_HandleHttp,
     .per_session_data_size = sizeof(rbRequest),
     .rx_buffer_size = 4096},
    {.name = "rattleback-1",
     .callback = rbServer_HandleClient,
     .per_session_data_size = sizeof(void*),
     .rx_buffer_size = 16384},
    {.name = NULL},
};

// Idle connections are pinged to check that they are alive.
static const lws_retry_bo_t idlePolicy = {.secs_since_valid_ping = 20,
                                          .secs_since_valid_hangup = 40};

void rbServer_Wake(rbServer* server)
{
    lws_cancel_service(server->context);
}

static void handleTimer(lws_sorted_usec_list_t* timer)
{
    rbServer* server = lws_container_of(timer, rbServer, timer);
    rbServer_DropStalled(server);
    if (atomic_load(&server->isWatching) && server->host.hasChanged(server->host.context)) {
        rbServer_Queue(server, 0, RB_COMMAND_RELOAD, NULL, "");
    }
    lws_sul_schedule(server->context, 0, timer, handleTimer, TIMER_INTERVAL);
}

// -------------------------------------------------------------------------------------------- life

static bool listenOn(rbServer* server, rbError* error)
{
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    bool isAny = strcmp(server->address, "0.0.0.0") == 0 || strcmp(server->address, "::") == 0;
    bool isVersion6 = strchr(server->address, ':') != NULL;
    info.port = server->port;
    info.iface = isAny ? NULL : server->address;
    info.protocols = protocols;
    info.user = server;
    info.gid = -1;
    info.uid = -1;
    info.options = LWS_SERVER_OPTION_VALIDATE_UTF8 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   (isVersion6 ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6);
    info.timeout_secs = 5; // for a request to be complete
    info.keepalive_timeout = 15;
    info.max_http_header_data = 8192;
    // connections that send no request hold a place each until then, and must not block others
    info.max_http_header_pool = 2048;
    info.retry_and_idle_policy = &idlePolicy;
    info.server_string = "rattleback";
    server->context = lws_create_context(&info);
    if (server->context == NULL) {
        (void)rbError_Set(error, RB_STATUS_IO,
                          "cannot listen on port %d of %s; choose another with --port",
                          server->port, server->address);
        return false;
    }
    return true;
}

static void writeUrl(rbServer* server)
{
    char name[256];
    bool isAny = strcmp(server->address, "0.0.0.0") == 0 || strcmp(server->address, "::") == 0;
    if (!isAny || gethostname(name, sizeof name) != 0) {
        bool isVersion6 = strchr(server->address, ':') != NULL;
        (void)snprintf(name, sizeof name, isVersion6 ? "[%s]" : "%s", server->address);
    }
    name[sizeof name - 1] = '\0';
    (void)snprintf(server->url, sizeof server->url, "http://%s:%d/%s%s", name, server->port,
                   server->token[0] != '\0' ? "?token=" : "", server->token);
}

static bool chooseToken(rbServer* server, const char* token, rbError* error)
{
    if (token != NULL) {
        if (strlen(token) >= sizeof server->token) {
            (void)rbError_Set(error, RB_STATUS_INVALID, "the token is longer than %d characters",
                              (int)sizeof server->token - 1);
            return false;
        }
        (void)snprintf(server->token, sizeof server->token, "%s", token);
    } else if (!server->isLoopback && !rbGuard_MakeToken(server->token, sizeof server->token)) {
        (void)rbError_Set(error, RB_STATUS_IO, "the system provides no random numbers for a token");
        return false;
    }
    return true;
}

static void initLocks(rbServer* server)
{
    pthread_condattr_t attributes;
    (void)pthread_mutex_init(&server->mutex, NULL);
    (void)pthread_mutex_init(&server->storeMutex, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&server->hasCommands, &attributes);
    (void)pthread_cond_init(&server->hasJobs, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

rbServer* rbCreateServer(const rbServerDef* def, rbError* error)
{
    rbServer* server = rbAllocZero(1, sizeof *server);
    initLocks(server);
    server->jobs = rbAllocZero(RB_JOBS_MAX, sizeof *server->jobs);
    server->host = def->host;
    server->page = def->page != NULL ? def->page : rbPageBytes;
    server->pageSize = def->page != NULL ? def->pageSize : rbPageSize;
    server->stallTimeout = def->stallTimeout > 0.0 ? def->stallTimeout : STALL_TIMEOUT;
    server->simulationNumber = 1;
    const char* address = def->address != NULL ? def->address : "127.0.0.1";
    (void)snprintf(server->address, sizeof server->address, "%s", address);
    server->isLoopback = rbGuard_IsLoopback(server->address);
    if (def->recordPath != NULL) {
        size_t size = strlen(def->recordPath) + 1;
        server->recordPath = rbAlloc(size);
        memcpy(server->recordPath, def->recordPath, size);
    }
    lws_set_log_level(0, NULL);
    server->port = rbGuard_FindPort(server->address, def->port, error);
    if (server->port == 0 || !chooseToken(server, def->token, error) || !listenOn(server, error)) {
        rbDestroyServer(server);
        return NULL;
    }
    writeUrl(server);
    return server;
}

void rbDestroyServer(rbServer* server)
{
    if (server == NULL) {
        return;
    }
    if (server->context != NULL) {
        lws_context_destroy(server->context); // its callbacks free clients and requests
    }
    if (server->simulation.object != NULL) {
        server->simulation.destroy(server->simulation.object);
    }
    for (int i = 0; i < server->queue.count; ++i) {
        rbServer_FreeCommand(&server->queue.data[i]);
    }
    rbArray_Free(server->queue);
    for (int i = 0; i < RB_JOBS_MAX; ++i) {
        rbFree(server->jobs[i].bytes, server->jobs[i].size);
    }
    rbFree(server->jobs, RB_JOBS_MAX * sizeof *server->jobs);
    if (server->recordPath != NULL) {
        rbFree(server->recordPath, strlen(server->recordPath) + 1);
    }
    rbMessage_Free(&server->message);
    (void)pthread_cond_destroy(&server->hasCommands);
    (void)pthread_cond_destroy(&server->hasJobs);
    (void)pthread_mutex_destroy(&server->mutex);
    (void)pthread_mutex_destroy(&server->storeMutex);
    rbFree(server, sizeof *server);
}

void rbServer_SetSimulation(rbServer* server, const rbSimulation* simulation)
{
    RB_ASSERT(server->simulation.object == NULL);
    server->simulation = *simulation;
    atomic_store(&server->isWatching,
                 server->host.hasChanged != NULL && server->host.reopen != NULL);
}

// -------------------------------------------------------------------------------------------- loop

static void endThreads(rbServer* server)
{
    (void)pthread_mutex_lock(&server->mutex);
    server->areThreadsEnding = true;
    (void)pthread_cond_broadcast(&server->hasCommands);
    (void)pthread_cond_broadcast(&server->hasJobs);
    (void)pthread_mutex_unlock(&server->mutex);
}

rbStatus rbServer_Run(rbServer* server, rbError* error)
{
    pthread_t simulator;
    pthread_t worker;
    if (pthread_create(&simulator, NULL, rbServer_Simulate, server) != 0) {
        return rbError_Set(error, RB_STATUS_LIMIT, "the simulation thread cannot be started");
    }
    bool hasWorker = pthread_create(&worker, NULL, rbServer_Work, server) == 0;
    lws_sul_schedule(server->context, 0, &server->timer, handleTimer, TIMER_INTERVAL);
    while (hasWorker && !atomic_load(&server->isStopping) && lws_service(server->context, 0) >= 0) {
    }
    lws_sul_schedule(server->context, 0, &server->timer, handleTimer, LWS_SET_TIMER_USEC_CANCEL);
    endThreads(server);
    (void)pthread_join(simulator, NULL);
    if (!hasWorker) {
        return rbError_Set(error, RB_STATUS_LIMIT, "the picture thread cannot be started");
    }
    (void)pthread_join(worker, NULL);
    if (server->saveError.status != RB_STATUS_OK) {
        if (error != NULL) {
            *error = server->saveError;
        }
        return server->saveError.status;
    }
    return RB_STATUS_OK;
}

void rbServer_Stop(rbServer* server)
{
    atomic_store(&server->isStopping, true);
    lws_cancel_service(server->context);
}

const char* rbServer_GetUrl(const rbServer* server)
{
    return server->url;
}

int rbServer_GetPort(const rbServer* server)
{
    return server->port;
}

rbServerStatistics rbServer_GetStatistics(const rbServer* server)
{
    rbServerStatistics statistics = {.clientCount = (int)atomic_load(&server->clientCount),
                                     .clientsSeen = atomic_load(&server->clientsSeen),
                                     .refused = atomic_load(&server->refused),
                                     .dropped = atomic_load(&server->dropped),
                                     .commands = atomic_load(&server->commands),
                                     .messages = atomic_load(&server->messages),
                                     .bytes = atomic_load(&server->bytes)};
    return statistics;
}
