// A simulation controlled by commands: plays, pauses, steps, goes back, branches, and keeps a log
// of user actions.
//
// A session owns a scene, its world and the store that clients read. Only one thread uses it, the
// simulation thread, which never waits for a client. Its loop is
//     for (;;) {
//         hand over all commands that have come       rbSession_Command, rbSession_LeaveClient
//         isBusy = rbSession_Tick(session)
//         wait for commands, for rbSession_GetPause(session) at most (if !isBusy: until one comes)
//     }
// A tick takes at most about 50 ms where the engine allows (a step with contacts is not split); a
// frame that costs more takes several ticks.
//
// Time. Frame times are on the engine's grid (whole steps of the step engine). Commands act between
// frames. Every action that changed the world is logged with the time of the world, see actions.h:
// applying the log to a fresh world of the scene gives the same bits. When an earlier time is shown
// and an action comes, the world goes back to that time (from a snapshot, or by recreating the
// scene's world and repeating the actions); later frames, events and actions are discarded. Playing
// after a rewind shows the recorded frames first.
//
// Engine errors never end a session: it pauses and the state has the message.
#pragma once

#include "session/actions.h"
#include "session/store.h"

typedef struct rbSession rbSession;

#define RB_ADVANCE_BUDGET 10.0 // s of wall time; an advance that takes longer is given up

// Simulated time over wall time at the start: 1, or the next of 0.5, 0.2, 0.1, ... (2, 5, 10, ...)
// that shows a short scene long enough (a long one in reasonable time).
double rbChooseSpeed(double duration);

// Takes ownership of the scene, even on failure (then returns NULL and destroys it). A scene that
// the engine refuses to start still gives a session: paused, with the message in its state.
rbSession* rbCreateSession(rbScene* scene, rbError* error);
void rbDestroySession(rbSession* session); // NULL is fine

rbStore* rbSession_GetStore(rbSession* session);
const rbScene* rbSession_GetScene(const rbSession* session);
const rbWorld* rbSession_GetWorld(const rbSession* session);

// The reply to a client: a message {"type": "reply", "id": .., "ok": .., "error": ".."}.
#define RB_REPLY_SIZE 1280
typedef struct rbReply {
    bool isOk;
    bool isMalformed; // no JSON object, too large or too deep, or no known command
    size_t size;
    char text[RB_REPLY_SIZE]; // terminated
} rbReply;

// One JSON command of a client (client: any number chosen by the caller): play, pause, step, speed,
// seek, reset, save, and the actions push, spin, drag-start, drag-move, drag-end, place, add,
// delete, set. Everything else (select, overlays, open, close) belongs to the server and is refused
// here. The text need not be terminated and may be any bytes.
void rbSession_Command(rbSession* session, int client, const char* text, size_t size,
                       rbReply* reply);
// A reply that the server itself sends; id is NULL or as the client sent it (JSON). error NULL: ok.
void rbReply_Set(rbReply* reply, const char* idJson, const char* error);
// A client has left: its drags end.
void rbSession_LeaveClient(rbSession* session, int client);

// While playing: advances one frame, or part of it. False: there is nothing to do until a command
// comes.
bool rbSession_Tick(rbSession* session);
// s of wall time until the next tick is due; 0: now.
double rbSession_GetPause(const rbSession* session);

// The user actions so far.
const rbActions* rbSession_GetActions(const rbSession* session);
// The file that "save" writes; NULL (the default): "save" is refused. Copied.
void rbSession_SetRecordingPath(rbSession* session, const char* path);
// Writes the history with its events and actions.
rbStatus rbSession_SaveRecording(rbSession* session, const char* path, rbError* error);
