// The server of the viewer: libwebsockets in the calling thread, the simulation in its own.
//
//   browser --websocket--> commands --queue--> thread of the simulation: session, between steps
//   browser <--websocket-- stream <-- store <--'
//
// A message is sent to a client only when its socket accepts more; it is made from what the client
// lacks at that moment. So clients that read slowly get fewer frames, and clients that do not read
// at all cost nothing until they are dropped. A third thread makes pictures and lists of scenes.
#pragma once

#include "session/session.h"
#include "session/store.h"

#include <rattleback/base.h>
#include <rattleback/scene.h>

#include <stdbool.h>

#define RB_SERVER_PORT_FIRST 8040
#define RB_SERVER_PORT_LAST 8139
#define RB_SERVER_CLIENTS_MAX 64
#define RB_SERVER_MESSAGE_MAX 65536       // bytes of a command
#define RB_SERVER_FILE_MAX (64 << 20)     // bytes of a command with a file
#define RB_SERVER_COMMANDS_PER_SECOND 200 // of a client
#define RB_SERVER_BAD_MAX 100             // bad messages of a client before it is dropped
#define RB_SERVER_QUEUE_MAX 1024          // commands that wait for the simulation
#define RB_SERVER_TOKEN_SIZE 33           // 32 hexadecimal digits and the end

// The object that the simulation thread runs: a session, a recording that is played, or a test. All
// functions are called in that thread, except getStore and, after the server has ended, destroy.
typedef struct rbSimulation {
    void* object;
    rbStore* (*getStore)(void* object);
    // One JSON command of a client; the text is terminated.
    void (*command)(void* object, int client, const char* text, size_t size, rbReply* reply);
    void (*leaveClient)(void* object, int client);
    bool (*tick)(void* object); // false: nothing to do
    double (*getPause)(
        void* object); // s of wall time until the next tick is due, while there is one
    rbStatus (*save)(void* object, const char* path, rbError* error);
    void (*destroy)(void* object);
    const char* kind; // "live" or "recording"
} rbSimulation;

// A scene or a recording that a client sent.
typedef struct rbSentScene {
    const char* name;     // of the scene
    const char* text;     // the scene as JSON, terminated; NULL: the file is a recording
    const char* fileName; // as the scene spells it; NULL: no file came with it
    const void* bytes;    // of the file
    size_t size;
} rbSentScene;

// Callbacks to the host. listScenes and drawPicture are called in a separate thread, hasChanged in
// the one that runs the server, the others in the simulation thread. Names have been checked:
// letters, digits, '-', '_', '.', not beginning with a dot.
typedef struct rbServerHost {
    void* context;
    // Opens a scene of the gallery as a simulation; false and an error when there is none.
    bool (*openScene)(const char* name, rbSimulation* simulation, rbError* error, void* context);
    // Opens what a client sent.
    bool (*openSent)(const rbSentScene* sent, rbSimulation* simulation, rbError* error,
                     void* context);
    // Whether the file of the simulation that was set at the start was written since the last call.
    bool (*hasChanged)(void* context);
    // Opens it again; *text is the file as it is, from rbAlloc with *size bytes, NULL if
    // unreadable.
    bool (*reopen)(rbSimulation* simulation, char** text, size_t* size, rbError* error,
                   void* context);
    // The scenes as JSON text, from rbAlloc with *size bytes (no terminator needed); called once.
    char* (*listScenes)(size_t* size, void* context);
    // A picture of a scene, PNG, from rbAlloc with *size bytes.
    rbStatus (*drawPicture)(const char* name, unsigned char** png, size_t* size, rbError* error,
                            void* context);
} rbServerHost;

typedef struct rbServerDef {
    int port; // 0: the first free one, starting at RB_SERVER_PORT_FIRST; -1: any free one
    const char* address; // numeric; NULL: 127.0.0.1. Beyond loopback every URL needs the token
    const char* token;   // NULL: random when it listens beyond loopback, else none
    rbServerHost host;   // functions may be NULL: no gallery
    const unsigned char* page; // served at "/"; NULL: the page inside the program
    size_t pageSize;
    const char* recordPath; // NULL: "save" is refused
    double stallTimeout;    // s that a client may stall before it is dropped; 0: 30
} rbServerDef;

// A session as a simulation; takes ownership.
rbSimulation rbMakeSessionSimulation(rbSession* session);

typedef struct rbServer rbServer;

// Starts listening. NULL and a message when the port is taken (naming the port and the remedy) or
// the address is not one of this machine.
rbServer* rbCreateServer(const rbServerDef* def, rbError* error);
// Sets the simulation to run from the start and takes ownership; without it the gallery is shown.
// Call before Run.
void rbServer_SetSimulation(rbServer* server, const rbSimulation* simulation);
// Serves until rbServer_Stop. Then the simulation stops; with a recordPath it is saved.
rbStatus rbServer_Run(rbServer* server, rbError* error);
// Can be called from any thread or a signal handler.
void rbServer_Stop(rbServer* server);
void rbDestroyServer(rbServer* server); // NULL is fine

const char* rbServer_GetUrl(const rbServer* server); // with the token if there is one
int rbServer_GetPort(const rbServer* server);

typedef struct rbServerStatistics {
    int clientCount;
    int64_t clientsSeen;
    int64_t refused; // connections: token, origin, path, too many
    int64_t dropped; // clients: stalled, or sent bad messages
    int64_t commands;
    int64_t messages; // sent
    int64_t bytes;
} rbServerStatistics;

rbServerStatistics rbServer_GetStatistics(const rbServer* server);
