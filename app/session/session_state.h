// Internals of a session, shared by its files. See session.h.
#pragma once

#include "base/core/memory.h"
#include "session/actor_state.h"
#include "session/session.h"

#define RB_SNAPSHOTS_MAX 64
#define RB_SNAPSHOT_BYTES ((size_t)256 << 20) // of all together

// The world at a time, before the actions of that time.
typedef struct rbSnapshot {
    double time;     // s
    int actionCount; // done before
    int structure;   // that the world had, see rbSession
    void* bytes;
    size_t size;
} rbSnapshot;

// A drag held by a client: its pointer position.
typedef struct rbClientDrag {
    int client;
    int drag; // number in the log
    rbDragKind kind;
    bool hasTarget;
    rbVec3 point; // m: of the kinds point and translate
    rbQuat orientation;
} rbClientDrag;

struct rbSession {
    rbScene* scene;
    rbWorld* world;
    rbActor* actor;
    rbStore* store;
    rbActions actions;
    rbActions undone;           // the last of the log, newest first
    RB_ARRAY(int) undoneGroups; // numbers of actions that were undone together
    RB_ARRAY(rbClientDrag) drags;
    int nextDrag;

    // Going back. Worlds of one structure accept each other's snapshots; 0 is that of the scene.
    RB_ARRAY(rbSnapshot) snapshots;
    double snapshotInterval; // s
    int structure;
    int structureCount; // numbers given

    // Playing.
    bool hasStarted; // played, paused or stepped: until then "ready" plays
    bool isPlaying;
    bool isLooping;    // at the end it begins again
    bool hasEnded;     // it paused at the end of the scene's duration
    bool isInFrame;    // a frame is in progress, to targetTime
    int64_t stepsLeft; // frames to compute while not playing
    double speed;
    double targetTime; // s
    double stopTime;   // s, where playing pauses; INFINITY: nowhere
    double piece;      // s of simulated time per advance
    char sentence[RB_STORE_MESSAGE_SIZE];
    char* recordingPath; // NULL: none

    // Pace, s of wall time.
    double dueTime;
    double windowWall; // start of the window in which the pace is measured
    double windowTime; // s, simulated
    double realTimeFactor;

    // Set points of motors as they were last sent.
    double targetsTime; // s of wall time
    double targetSum;
};

// session.c
double rbSession_GetFrameStep(const rbSession* session); // s, simulated
bool rbSession_IsRewound(const rbSession* session);      // an earlier time is shown
void rbSession_ShowState(rbSession* session, bool isBusy);
void rbSession_Say(rbSession* session, const char* sentence);
// Ends the frame in progress at the world's current time.
void rbSession_EndFrame(rbSession* session);
// Pauses; the frame in progress ends.
void rbSession_Pause(rbSession* session);
void rbSession_RestartPace(rbSession* session);

// session_history.c
void rbSession_MaybeSnapshot(rbSession* session);
void rbSession_DropSnapshots(rbSession* session, double time, int actionCount);
// Brings the world to its state at an earlier time; false and a message if it cannot.
bool rbSession_Restore(rbSession* session, double time, rbError* error);
// Discards everything after the time of the world.
void rbSession_Branch(rbSession* session);
bool rbSession_Reset(rbSession* session, rbError* error);

// session_actions.c: applies the JSON object of a client's action to the world.
rbStatus rbSession_Act(rbSession* session, int client, json_t* root, rbError* error);
// Before each frame: open drags pull.
void rbSession_MoveDrags(rbSession* session);

// Clients see the state after an action.
rbStatus rbSession_ShowAction(rbSession* session, rbError* error);

// session_undo.c
rbStatus rbSession_Undo(rbSession* session, rbError* error);
rbStatus rbSession_Redo(rbSession* session, rbError* error);
void rbSession_ForgetUndone(rbSession* session);

// session_parameters.c: sends the settable parameters and their current values to the store.
void rbSession_ShowParameters(rbSession* session);
// The same, if the schedule of a motor has changed its set point since they were sent.
void rbSession_FollowSchedules(rbSession* session);
