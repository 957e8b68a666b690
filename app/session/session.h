// A simulation under commands: plays, pauses, steps, goes back, branches, and keeps what was done.
//
// A session owns a scene, its world and the store that clients look at. One thread uses it, the
// thread of the simulation; it never waits for a client. The loop of that thread is
//     for (;;) {
//         hand over all commands that have come       rbSession_Command, rbSession_LeaveClient
//         isBusy = rbSession_Tick(session)
//         wait for commands, for rbSession_GetPause(session) at most (if !isBusy: until one comes)
//     }
// A tick takes about 50 ms at most where the engine allows (a step with contacts is not cut); a
// frame that costs more takes several ticks.
//
// Time. Frames lie on times of the engine's grid (whole steps of the step engine). Commands act
// between frames. Every action that changed the world is in the list of actions with the time of
// the world, see actions.h: a fresh world of the scene to which these are applied has the same
// bits. When an earlier time is shown and an action comes, the world goes back to that time (a
// snapshot, or the scene's world is made anew and what was done is done again); later frames,
// events and actions are forgotten. Playing after a rewind shows the recorded frames first.
//
// Trouble of the engine never ends a session: it pauses and the state has the sentence.
#ifndef RB_SERVER_SESSION_H
#define RB_SERVER_SESSION_H

#include "session/actions.h"
#include "session/store.h"

typedef struct rbSession rbSession;

// Simulated over wall time at the start: 1, or the next of 0.5, 0.2, 0.1, ... (2, 5, 10, ...) that
// shows a short scene long enough (a long one in reasonable time).
double rbChooseSpeed(double duration);

// Takes the scene over, also on failure (then NULL, and it is destroyed). A scene whose start the
// engine refuses gives a session all the same: paused, with the sentence in its state.
rbSession* rbCreateSession(rbScene* scene, rbError* error);
void rbDestroySession(rbSession* session); // NULL is fine

rbStore* rbSession_GetStore(rbSession* session);
const rbScene* rbSession_GetScene(const rbSession* session);
const rbWorld* rbSession_GetWorld(const rbSession* session);

// What a client gets back: a message {"type": "reply", "id": .., "ok": .., "error": ".."}.
#define RB_REPLY_SIZE 1280
typedef struct rbReply {
    bool isOk;
    bool isMalformed; // no JSON object, too large or too deep, or no known command
    size_t size;
    char text[RB_REPLY_SIZE]; // terminated
} rbReply;

// One JSON command of a client (any number that it keeps): play, pause, step, speed, seek, reset,
// save, and the actions push, spin, drag-start, drag-move, drag-end, place, add, delete, set.
// Everything else (select, overlays, open, close) is the server's and refused here. The text need
// not be terminated and may be any bytes.
void rbSession_Command(rbSession* session, int client, const char* text, size_t size,
                       rbReply* reply);
// A reply that the server itself gives; id NULL or as the client sent it (JSON). error NULL: ok.
void rbReply_Set(rbReply* reply, const char* idJson, const char* error);
// A client is gone: its drags end.
void rbSession_LeaveClient(rbSession* session, int client);

// Playing: one frame on, or a part of it. False: there is nothing to do until a command comes.
bool rbSession_Tick(rbSession* session);
// s of wall time until the next tick is due; 0: now.
double rbSession_GetPause(const rbSession* session);

// What was done by hand so far.
const rbActions* rbSession_GetActions(const rbSession* session);
// Where "save" writes to; NULL (the default): it is refused. Copied.
void rbSession_SetRecordingPath(rbSession* session, const char* path);
// Writes the history with its events and actions.
rbStatus rbSession_SaveRecording(rbSession* session, const char* path, rbError* error);

#endif
