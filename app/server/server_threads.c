// The two other threads: the simulation, which processes commands between its steps, and the
// worker, which makes lists and pictures.
#include "base/core/timer.h"
#include "server/server_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// -------------------------------------------------------------------------------------- simulation

// State of the simulation thread only.
typedef struct Loop {
    rbServer* server;
    bool isIdle;     // nothing to do until a command comes
    double deadline; // s, of the next tick
    double begun;    // s, when the present work began
    double budget;   // s of wall time that it may take
    bool isTick;     // a command that waits interrupts it
    bool isOver;     // it must stop
    int64_t asked;
    RB_ARRAY(rbCommand) commands;
} Loop;

#define PATIENCE 0.1        // s that a command waits for an advance
#define COMMAND_BUDGET 60.0 // s, since going back repeats the run
#define ASKED_PER_LOOK 32   // reading the clock takes longer than being asked

// Whether the present work must stop: the server ends, a command waits, or the budget is used up.
static bool isInterrupted(void* context)
{
    Loop* loop = context;
    if (!loop->isOver && loop->asked++ % ASKED_PER_LOOK == 0) {
        double spent = rbGetWallTime() - loop->begun;
        bool isAwaited = loop->isTick && atomic_load(&loop->server->waiting) > 0;
        loop->isOver = spent > loop->budget || (isAwaited && spent > PATIENCE) ||
                       atomic_load(&loop->server->isStopping);
    }
    return loop->isOver;
}

static void beginWork(Loop* loop, bool isTick)
{
    loop->begun = rbGetWallTime();
    loop->budget = isTick ? RB_ADVANCE_BUDGET : COMMAND_BUDGET;
    loop->isTick = isTick;
    loop->isOver = false;
    (void)rbUseStop((rbStop){isInterrupted, loop});
}

static void saveOnce(rbServer* server)
{
    if (server->recordPath != NULL && server->simulation.object != NULL) {
        (void)server->simulation.save(server->simulation.object, server->recordPath,
                                      &server->saveError);
        rbFree(server->recordPath, strlen(server->recordPath) + 1);
        server->recordPath = NULL;
    }
}

// Replaces the simulation. Readers hold the same lock while they read a store.
static void exchange(Loop* loop, const rbSimulation* simulation)
{
    rbServer* server = loop->server;
    atomic_store(&server->isWatching, false); // another scene
    saveOnce(server);                         // a recording holds one scene
    rbSimulation former = server->simulation;
    (void)pthread_mutex_lock(&server->storeMutex);
    server->simulation = *simulation;
    ++server->simulationNumber;
    (void)pthread_mutex_unlock(&server->storeMutex);
    if (former.object != NULL) {
        former.destroy(former.object);
    }
    loop->isIdle = true;
}

static void replyTo(Loop* loop, const rbCommand* command, const rbError* error)
{
    char text[sizeof *error];
    rbError_Format(error, text, sizeof text);
    rbServer_Reply(loop->server, command->client, command->id, text, false);
}

static void openScene(Loop* loop, const rbCommand* command)
{
    rbServer* server = loop->server;
    rbSimulation simulation = {0};
    rbError error = {0};
    if (server->host.openScene(command->text, &simulation, &error, server->host.context)) {
        exchange(loop, &simulation);
        rbServer_Reply(server, command->client, command->id, NULL, false);
    } else {
        replyTo(loop, command, &error);
    }
}

// Opens what a client sent with its bytes.
static void openSent(Loop* loop, const rbCommand* command)
{
    rbServer* server = loop->server;
    rbSimulation simulation = {0};
    rbError error = {0};
    rbSentScene sent = {0};
    json_t* json = rbServer_ReadSent(command->text, command->size, &sent.bytes, &sent.size);
    sent.name = json_string_value(json_object_get(json, "scene"));
    sent.text = json_string_value(json_object_get(json, "text"));
    sent.fileName = json_string_value(json_object_get(json, "file"));
    if (server->host.openSent(&sent, &simulation, &error, server->host.context)) {
        exchange(loop, &simulation);
        rbServer_Reply(server, command->client, command->id, NULL, false);
    } else {
        replyTo(loop, command, &error);
    }
    json_decref(json);
}

// What is wrong with the file that has changed, and its text, for all pages.
static void tellTrouble(rbServer* server, const rbError* error, const char* text, size_t size)
{
    char message[sizeof *error];
    rbError_Format(error, message, sizeof message);
    json_t* told = json_pack("{s:s, s:s, s:i, s:i, s:s}", "type", "trouble", "message", message,
                             "line", error->line, "column", error->column, "place", error->place);
    json_t* file = text != NULL ? json_stringn(text, size) : NULL; // NULL: it is not UTF-8
    if (told != NULL) {
        (void)json_object_set_new(told, "text", file != NULL ? file : json_string(""));
        char* json = json_dumps(told, JSON_COMPACT);
        rbServer_Broadcast(server, json, strlen(json));
        free(json); // jansson's
        json_decref(told);
    }
}

// The file of the scene was saved: runs it from the start, or tells what is wrong with it.
static void reload(Loop* loop, const rbCommand* command)
{
    rbServer* server = loop->server;
    rbSimulation simulation = {0};
    rbError error = {0};
    char* text = NULL;
    size_t size = 0;
    (void)command;
    if (!atomic_load(&server->isWatching)) {
        return;
    }
    if (server->host.reopen(&simulation, &text, &size, &error, server->host.context)) {
        exchange(loop, &simulation);
        atomic_store(&server->isWatching, true);
    } else {
        tellTrouble(server, &error, text, size);
    }
    rbFree(text, size);
}

static void sendToSimulation(Loop* loop, const rbCommand* command)
{
    rbServer* server = loop->server;
    const rbSimulation* simulation = &server->simulation;
    if (simulation->object == NULL) {
        rbServer_Reply(server, command->client, command->id,
                       "no scene is open; open one first: {\"do\": \"open\", \"scene\": NAME}",
                       false);
        return;
    }
    rbReply reply = {0};
    simulation->command(simulation->object, command->client, command->text, command->size - 1,
                        &reply);
    if (reply.size > 0) {
        rbServer_PutReply(server, command->client, reply.text, reply.size, reply.isMalformed);
    }
}

static void closeScene(Loop* loop, const rbCommand* command)
{
    const rbSimulation gallery = {0};
    exchange(loop, &gallery);
    rbServer_Reply(loop->server, command->client, command->id, NULL, false);
}

static void leaveClient(Loop* loop, const rbCommand* command)
{
    const rbSimulation* simulation = &loop->server->simulation;
    if (simulation->object != NULL) {
        simulation->leaveClient(simulation->object, command->client);
    }
}

typedef void ApplyFn(Loop* loop, const rbCommand* command);
static ApplyFn* const appliers[] = {
    [RB_COMMAND_TEXT] = sendToSimulation, [RB_COMMAND_MOVE] = sendToSimulation,
    [RB_COMMAND_OPEN] = openScene,        [RB_COMMAND_CLOSE] = closeScene,
    [RB_COMMAND_LEAVE] = leaveClient,     [RB_COMMAND_FILE] = openSent,
    [RB_COMMAND_RELOAD] = reload,
};

// Processes all commands; waits for one, at most until the next tick is due. False: the server
// stops.
static bool waitForCommands(Loop* loop)
{
    rbServer* server = loop->server;
    bool isDue = false;
    (void)pthread_mutex_lock(&server->mutex);
    while (server->queue.count == 0 && !server->areThreadsEnding && !isDue) {
        if (loop->isIdle) {
            (void)pthread_cond_wait(&server->hasCommands, &server->mutex);
        } else {
            struct timespec time;
            double whole = floor(loop->deadline);
            time.tv_sec = (time_t)whole;
            time.tv_nsec = (long)(1e9 * (loop->deadline - whole));
            isDue = rbGetWallTime() >= loop->deadline ||
                    pthread_cond_timedwait(&server->hasCommands, &server->mutex, &time) != 0;
        }
    }
    loop->commands.count = 0;
    for (int i = 0; i < server->queue.count; ++i) {
        rbArray_Push(loop->commands, server->queue.data[i]);
    }
    server->queue.count = 0;
    atomic_store(&server->waiting, 0);
    bool isGoingOn = !server->areThreadsEnding;
    (void)pthread_mutex_unlock(&server->mutex);
    return isGoingOn;
}

static void tick(Loop* loop)
{
    const rbSimulation* simulation = &loop->server->simulation;
    if (simulation->object == NULL) {
        loop->isIdle = true;
        return;
    }
    double now = rbGetWallTime();
    if (loop->isIdle || now >= loop->deadline) {
        loop->isIdle = !simulation->tick(simulation->object);
        loop->deadline = rbGetWallTime() + simulation->getPause(simulation->object);
    }
}

void* rbServer_Simulate(void* context)
{
    rbServer* server = context;
    Loop loop = {.server = server};
    bool isGoingOn = true;
    while (isGoingOn) {
        beginWork(&loop, true);
        tick(&loop);
        rbServer_Wake(server);
        isGoingOn = waitForCommands(&loop);
        for (int i = 0; i < loop.commands.count; ++i) {
            rbCommand* command = &loop.commands.data[i];
            beginWork(&loop, false);
            appliers[command->kind](&loop, command);
            rbServer_FreeCommand(command);
        }
    }
    (void)rbUseStop((rbStop){0});
    saveOnce(server);
    rbArray_Free(loop.commands);
    return NULL;
}

// ------------------------------------------------------------------------------------------ worker

static void finishJob(rbServer* server, rbJob* job, const rbError* error)
{
    (void)pthread_mutex_lock(&server->mutex);
    job->state = job->bytes != NULL ? RB_JOB_DONE : RB_JOB_FAILED;
    if (job->bytes == NULL) {
        (void)snprintf(job->sentence, sizeof job->sentence, "%s", error->message);
    }
    (void)pthread_mutex_unlock(&server->mutex);
    rbServer_Wake(server);
}

static void makeJob(rbServer* server, rbJob* job)
{
    rbError error = {0};
    const rbServerHost* host = &server->host;
    if (job->name[0] == '\0') {
        job->bytes = (unsigned char*)host->listScenes(&job->size, host->context);
        (void)rbError_Set(&error, RB_STATUS_NOT_FOUND, "there is no folder of example scenes");
    } else if (host->drawPicture(job->name, &job->bytes, &job->size, &error, host->context) !=
               RB_STATUS_OK) {
        job->bytes = NULL;
    }
    finishJob(server, job, &error);
}

static bool isEnding(void* context)
{
    return atomic_load(&((rbServer*)context)->isStopping);
}

void* rbServer_Work(void* context)
{
    rbServer* server = context;
    (void)rbUseStop((rbStop){isEnding, server});
    for (;;) {
        rbJob* job = NULL;
        (void)pthread_mutex_lock(&server->mutex);
        while (job == NULL && !server->areThreadsEnding) {
            for (int i = 0; i < RB_JOBS_MAX && job == NULL; ++i) {
                job = server->jobs[i].state == RB_JOB_WAITING ? &server->jobs[i] : NULL;
            }
            if (job == NULL) {
                (void)pthread_cond_wait(&server->hasJobs, &server->mutex);
            }
        }
        bool isOver = server->areThreadsEnding;
        (void)pthread_mutex_unlock(&server->mutex);
        if (isOver) {
            return NULL;
        }
        makeJob(server, job);
    }
}

rbJob* rbServer_FindJob(rbServer* server, const char* name)
{
    rbJob* found = NULL;
    rbJob* unused = NULL;
    (void)pthread_mutex_lock(&server->mutex);
    for (int i = 0; i < RB_JOBS_MAX && found == NULL; ++i) {
        rbJob* job = &server->jobs[i];
        bool isFree = job->state == RB_JOB_FREE || (job->state == RB_JOB_FAILED && job->users == 0);
        found = !isFree && strcmp(job->name, name) == 0 ? job : NULL;
        unused = unused == NULL && isFree ? job : unused;
    }
    if (found == NULL && unused != NULL) {
        found = unused;
        memset(found, 0, sizeof *found);
        (void)snprintf(found->name, sizeof found->name, "%s", name);
        found->state = RB_JOB_WAITING;
        (void)pthread_cond_signal(&server->hasJobs);
    }
    if (found != NULL) {
        ++found->users;
    }
    (void)pthread_mutex_unlock(&server->mutex);
    return found;
}

void rbServer_ReleaseJob(rbServer* server, rbJob* job)
{
    (void)pthread_mutex_lock(&server->mutex);
    --job->users;
    (void)pthread_mutex_unlock(&server->mutex);
}
