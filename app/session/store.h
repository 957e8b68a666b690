// The data store: what clients of a simulation can see (B-90).
//
// One thread writes: the simulation thread, between steps. Any number of threads read, by the
// functions of stream.h and the getters below, while they hold the lock. The writer prepares
// everything in advance and locks only to insert it; readers copy: neither waits long.
//
// Bodies have numbers 0, 1, 2, ... in the order of creation, never reused in a store. Joints and
// springs likewise: those that the world had at the start.
//
// The history holds every frame taken: poses, velocities, samples for plots, contacts and joints.
// It is bounded: when it is full, every second frame is removed, but never the first, the last and
// the one shown. The journal of events is bounded too: the oldest are removed.
#pragma once

#include <rattleback/output.h>
#include <rattleback/scene.h>

#include <stdbool.h>

#define RB_STORE_HISTORY_BYTES ((size_t)512 << 20)
#define RB_STORE_FRAMES_MAX 400000
#define RB_STORE_EVENTS_MAX 262144
#define RB_STORE_OVERLAY_MAX 20000 // contacts, and joints, in a frame
#define RB_STORE_RAYS_MAX 2000     // rays in a frame
#define RB_STORE_MESSAGE_SIZE 256

typedef struct rbStore rbStore;

// A store of a scene and its world, with the first frame. The scene is borrowed and must outlive
// the store. NULL and an error when a shape cannot be drawn.
rbStore* rbCreateStore(const rbScene* scene, const rbWorld* world, rbError* error);
void rbDestroyStore(rbStore* store); // NULL is fine

// For readers. The writer functions below lock internally and must be called without the lock.
void rbStore_Lock(const rbStore* store);
void rbStore_Unlock(const rbStore* store);

// ------------------------------------------------------------------------------- for the writer

// Sets another bound of the history, before it grows; frameMax 0 and bytes 0 keep the current one.
void rbStore_SetHistory(rbStore* store, size_t bytes, int frameMax);

// A new body with its shapes. Returns its number; -1 and an error when a shape cannot be drawn.
int rbStore_AddBody(rbStore* store, const rbWorld* world, rbBodyId bodyId, rbError* error);
void rbStore_DeleteBody(rbStore* store, int number);
// Both, for what happened to the bodies of the world since the last frame.
rbStatus rbStore_FollowBodies(rbStore* store, const rbWorld* world, rbError* error);
rbBodyId rbStore_GetBodyId(const rbStore* store, int number); // null if deleted or unknown
int rbStore_FindBody(const rbStore* store, rbBodyId bodyId);  // -1 if unknown
int rbStore_GetBodyCount(const rbStore* store);               // numbers given, deleted ones too

// Joints and springs by number: those of the world at the start.
rbJointId rbStore_GetJointId(const rbStore* store, int number);   // null if gone or unknown
rbSpringId rbStore_GetSpringId(const rbStore* store, int number); // null if gone or unknown

// Sets the id of a body in a recreated world (branch, reset); null: it does not exist (any more);
// any other id revives a deleted body.
void rbStore_SetBodyId(rbStore* store, int number, rbBodyId bodyId);

// Appends the current state to the history and shows it; a frame at the same time as the last one
// replaces it. Times must not go back without rbStore_DropAfter. Frames before a body's creation
// and after its deletion have NaN for it.
void rbStore_TakeFrame(rbStore* store, const rbWorld* world);
// The same from a recording; bodies in the order of their numbers. Samples that a frame does not
// have are NaN; there are no contacts and joints.
void rbStore_TakeRecordedFrame(rbStore* store, const rbFrame* frame);
// The same without its bodies, and it is not shown: source is its index in the recording.
void rbStore_TakeRecordedOutline(rbStore* store, const rbFrame* frame, int64_t source);
// Shows an outline of the history: frame is the recorded one, with its bodies. They are kept until
// another frame is shown.
void rbStore_ShowRecorded(rbStore* store, int64_t index, const rbFrame* frame);
// Moves the journal of the world into the store and clears it.
void rbStore_TakeEvents(rbStore* store, rbWorld* world);
void rbStore_TakeRecordedEvents(rbStore* store, const rbRecordedEvent* events, int count);

// Shows the frame of the history nearest to a time. False if there is none.
bool rbStore_Show(rbStore* store, double time);
// Removes all frames and events after a time (branch, reset); shows the last remaining frame if the
// one shown was removed. There may be none until the next is taken.
void rbStore_DropAfter(rbStore* store, double time);

// The state of the session.
typedef struct rbPlayState {
    bool isPlaying;
    double speed;                         // simulated over wall time, requested
    double frameStep;                     // s, simulated, from frame to frame
    double realTimeFactor;                // simulated over wall time, achieved
    bool isBusy;                          // recomputing an earlier time
    bool canAct;                          // actions are accepted; false for recordings
    bool isLooping;                       // at the end it begins again
    bool hasEnded;                        // it paused at the end of the scene or recording
    int undoCount, redoCount;             // of actions; 0: nothing to undo or redo
    char sentence[RB_STORE_MESSAGE_SIZE]; // why it stopped, or ""
} rbPlayState;

void rbStore_SetPlayState(rbStore* store, const rbPlayState* state);
// The content of panels: the JSON text of the message "parameters", made by the session. Copied.
void rbStore_SetParameters(rbStore* store, const char* json);

// ---------------------------------------------------- for the writer, or for readers with the lock

double rbStore_GetEndTime(const rbStore* store);   // s, of the last frame
double rbStore_GetShownTime(const rbStore* store); // s, of the frame shown
double rbStore_GetFrameTime(const rbStore* store, int64_t index);
int64_t rbStore_GetFrameCount(const rbStore* store);
int64_t rbStore_FindNearest(const rbStore* store, double time);      // index of a frame; -1: none
int64_t rbStore_GetFrameSource(const rbStore* store, int64_t index); // of an outline
// Frame index, 0 <= index < frameCount: poses and velocities of all bodyCount bodies by number, as
// in recordings. The arrays are valid until the frame is dropped. False: no such frame.
bool rbStore_ReadFrame(const rbStore* store, int64_t index, rbFrame* frame);
// Events kept, oldest first; bodies by number. Reads count of them starting at first; false: there
// are not that many.
int64_t rbStore_GetEventCount(const rbStore* store);
bool rbStore_ReadEvents(const rbStore* store, int64_t first, int count, rbRecordedEvent* events);
const char* rbStore_GetBodyName(const rbStore* store, int number);
int rbStore_FindBodyByName(const rbStore* store, const char* name); // living; -1 if there is none
const rbScene* rbStore_GetScene(const rbStore* store);

// The recorded form of a ledger and of an event, bodies by number.
rbLedgerRow rbMakeLedgerRow(const rbLedger* ledger);
rbRecordedEvent rbMakeRecordedEvent(const rbEvent* event, uint32_t bodyA, uint32_t bodyB);
