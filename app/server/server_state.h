// Internals of the server. It has three threads:
// the calling thread runs libwebsockets and owns clients and HTTP requests;
// the simulation thread owns the simulation and takes commands from a queue;
// the worker makes lists and pictures.
// `mutex` guards the queue, the outboxes of clients and the jobs; `storeMutex` guards the exchange
// of the simulation while a message is made from its store. Neither is held during a computation.
#pragma once

#include "base/core/memory.h"
#include "server/server.h"
#include "session/stream.h"

#include <jansson.h>
#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>

#define RB_OUTBOX_MAX 256
#define RB_JOBS_MAX 1024
#define RB_SCENE_NAME_SIZE 64

// A command of a client for the simulation.
typedef enum rbCommandKind {
    RB_COMMAND_TEXT,   // for the simulation
    RB_COMMAND_MOVE,   // the same, a move of a drag: the last one counts
    RB_COMMAND_OPEN,   // text is the name of a scene
    RB_COMMAND_FILE,   // text is a message with a file, see rbServer_ReadSent
    RB_COMMAND_RELOAD, // the file of the scene has changed
    RB_COMMAND_CLOSE,  // back to the gallery
    RB_COMMAND_LEAVE,  // the client is gone
} rbCommandKind;

typedef struct rbCommand {
    rbCommandKind kind;
    int client;
    char* text;  // terminated; NULL if there is none
    size_t size; // of the memory
    char id[64]; // JSON of its id, "" without
} rbCommand;

// A reply for a client.
typedef struct rbOutgoing {
    char* text;
    size_t size;
    bool isBad;
} rbOutgoing;

typedef struct rbServerClient {
    struct lws* wsi;
    int number;
    rbStreamCursor cursor;
    uint64_t simulationNumber; // whose messages the cursor counts; 0: none yet
    rbMessage input;           // a command that comes in parts
    bool isInputText;
    double credit;     // commands it may send now
    double creditTime; // s
    double complaintTime;
    double askedTime; // s, since when a write is pending; 0: none is
    int excessCount;
    int badCount;
    bool isClosing;
    bool isAsking;               // for control; guarded by the server's mutex
    RB_ARRAY(rbOutgoing) outbox; // guarded by the server's mutex
} rbServerClient;

typedef enum rbJobState {
    RB_JOB_FREE,
    RB_JOB_WAITING,
    RB_JOB_DONE,
    RB_JOB_FAILED,
} rbJobState;

// A result made by the worker; kept for later requests.
typedef struct rbJob {
    rbJobState state;
    char name[RB_SCENE_NAME_SIZE]; // "" is the list of scenes
    unsigned char* bytes;
    size_t size;
    char sentence[512];
    int users; // requests that wait for it or are being served from it
} rbJob;

// A request over HTTP.
typedef struct rbRequest {
    struct lws* wsi;
    struct rbRequest* next; // of those that wait for a job
    rbJob* job;
    const unsigned char* bytes;
    size_t size;
    size_t sent;
    bool isHeaderSent;
} rbRequest;

struct rbServer {
    rbServerHost host;
    const unsigned char* page;
    size_t pageSize;
    double stallTimeout;
    char* recordPath;
    char address[128];
    char token[RB_SERVER_TOKEN_SIZE * 4]; // "": none is needed
    bool isLoopback;
    int port;
    char url[512];

    struct lws_context* context;
    lws_sorted_usec_list_t timer;
    rbServerClient* clients[RB_SERVER_CLIENTS_MAX];
    int clientNumber;  // of the last that came
    rbMessage message; // being sent
    rbRequest* requests;
    atomic_bool isStopping;
    atomic_bool isWatching; // the file of the simulation is watched
    atomic_int waiting;     // commands in the queue, without moves of drags
    atomic_llong clientCount, clientsSeen, refused, dropped, commands, messages, bytes;

    pthread_mutex_t mutex;
    pthread_cond_t hasCommands;
    pthread_cond_t hasJobs;
    RB_ARRAY(rbCommand) queue;
    int control; // number of the client that alone may act; 0: all may
    bool areThreadsEnding;
    rbJob* jobs; // RB_JOBS_MAX of them

    pthread_mutex_t storeMutex;
    rbSimulation simulation; // object NULL: the gallery
    uint64_t simulationNumber;
    rbError saveError; // of the recording
};

void rbServer_Wake(rbServer* server); // the calling thread, from another one

// server_guard.c: access control.
bool rbGuard_IsLoopback(const char* address);
bool rbGuard_MakeToken(char* token, size_t capacity);
bool rbGuard_IsSameText(const char* a, const char* b); // takes as long wherever they differ
bool rbGuard_IsSceneName(const char* name);
// The message why a request is refused, NULL if it is not.
const char* rbGuard_ValidateRequest(const rbServer* server, struct lws* wsi);
// A port that can be listened on; 0 and an error if there is none.
int rbGuard_FindPort(const char* address, int wanted, rbError* error);

// server_http.c
int rbServer_HandleHttp(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                        size_t size);
void rbServer_WakeRequests(rbServer* server);

// server_clients.c. A WebSocket is requested: 0 if it is accepted, otherwise it has been answered.
int rbServer_ValidateClient(rbServer* server, struct lws* wsi);
int rbServer_HandleClient(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                          size_t size);
void rbServer_WakeClients(rbServer* server);
void rbServer_DropStalled(rbServer* server);

// server_commands.c: a complete message of a client.
void rbServer_TakeCommand(rbServer* server, rbServerClient* client);
// Replies and commands of a client by its number, from any thread; id is JSON, "" for none. Nothing
// is sent to a client that has left.
void rbServer_PutReply(rbServer* server, int client, const char* text, size_t size, bool isBad);
void rbServer_Reply(rbServer* server, int client, const char* id, const char* error, bool isBad);
void rbServer_Queue(rbServer* server, int client, rbCommandKind kind, const char* text,
                    const char* id);
void rbServer_QueueBytes(rbServer* server, int client, rbCommandKind kind, const void* bytes,
                         size_t size, const char* id);
// A text for all clients.
void rbServer_Broadcast(rbServer* server, const char* text, size_t size);
// A binary message: u32 bytes of the JSON | JSON | file. NULL: it is not one; else the caller's.
json_t* rbServer_ReadSent(const void* message, size_t size, const void** bytes, size_t* byteCount);
void rbServer_FreeCommand(rbCommand* command);

// server_control.c: which clients may act.
// The message why a command is refused, NULL if it is not.
const char* rbServer_ValidateControl(rbServer* server, const rbServerClient* client,
                                     const char* command, char* text, size_t capacity);
void rbServer_HandleControl(rbServer* server, rbServerClient* client, json_t* json, const char* id);
// A client has come or gone.
void rbServer_UpdateViewers(rbServer* server);

// server_threads.c
void* rbServer_Simulate(void* context); // the server
void* rbServer_Work(void* context);
// The job of a name, created if it is new; NULL: there are too many. Counts one more user.
rbJob* rbServer_FindJob(rbServer* server, const char* name);
void rbServer_ReleaseJob(rbServer* server, rbJob* job);
