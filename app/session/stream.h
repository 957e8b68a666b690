// The stream: everything a client lacks of a store, message by message (docs/viewer-protocol.md).
//
// A cursor remembers what a client has. rbStream_Next compares it with the store and makes one
// message of the difference: the scene first, then what changed. A slow client asks less often and
// gets fewer frames, each with all that changed since its last; nothing queues up for it.
//
//   rbStreamCursor cursor = {.kind = "live", .client = 7};
//   rbMessage message = {0};
//   cursor.now = wall time in seconds;
//   while (rbStream_Next(store, &cursor, &message)) {
//       send(rbMessage_GetBytes(&message), message.size, message.isText);
//   }
#ifndef RB_SERVER_STREAM_H
#define RB_SERVER_STREAM_H

#include "session/message.h"
#include "session/store.h"

#define RB_PROTOCOL_VERSION 1

// Types of binary messages, their first byte.
typedef enum rbMessageType {
    RB_MESSAGE_FRAME = 1,
    RB_MESSAGE_EVENTS = 2,
    RB_MESSAGE_SAMPLES = 3,
    RB_MESSAGE_CONTACTS = 4,
    RB_MESSAGE_MESH = 5,
    RB_MESSAGE_JOINTS = 6,
    RB_MESSAGE_DROP = 7,
    RB_MESSAGE_RAYS = 8,
} rbMessageType;

// What a client has of a body, its pose as it was sent.
typedef struct rbClientBody {
    uint32_t position[3]; // bits of single precision
    bool isKnown;
    bool hasPose;
    uint64_t orientation; // see rbPackQuat
} rbClientBody;

// What one client has. Zero initialization is a client that has nothing; set kind and what follows
// it. Free with rbStreamCursor_Free.
typedef struct rbStreamCursor {
    const char* kind;  // "live", "recording" or "page"
    int client;        // its number, told by hello
    bool hasContacts;  // it asked for these overlays
    bool hasJoints;    //
    bool hasRays;      //
    int selectedBody1; // number + 1 of the body it wants details of; 0: none
    double now;        // s, wall time, set by the caller: state and detail keep to their rates
    bool isUnbounded;  // no rates, nothing is left out: for a page, which is not in a hurry

    // What follows is the stream's own.
    bool hasHello;
    bool hasScene;
    int geometryKnown; // geometries that were described, and whose meshes were sent
    int geometrySent;
    int64_t dropNext;
    uint32_t parametersVersion, bodiesVersion, playVersion, shownVersion, frameVersion, jumpVersion;
    int linkVersion;
    uint32_t contactsVersion, jointsVersion, raysVersion, detailVersion;
    double stateTime, detailTime; // wall time of the last ones
    int64_t eventNext;            // number since the start
    uint64_t sampleNext;          // number of a frame
    bool hasSamples;
    int turn; // whose turn is next
    rbClientBody* bodies;
    int bodyCount, bodyCapacity;
} rbStreamCursor;

void rbStreamCursor_Free(rbStreamCursor* cursor);
// Another store from here on: the client has nothing of it, nothing is selected. Its wish for
// overlays stays.
void rbStreamCursor_Restart(rbStreamCursor* cursor);

// What the client wants, from now on, also of the frame it has. body -1: none.
void rbStreamCursor_Select(rbStreamCursor* cursor, int body);
void rbStreamCursor_SetOverlays(rbStreamCursor* cursor, bool hasContacts, bool hasJoints,
                                bool hasRays);

// The next message the client lacks, false if it has everything. Takes the lock of the store; the
// message keeps its memory for the next.
bool rbStream_Next(const rbStore* store, rbStreamCursor* cursor, rbMessage* message);

// "hello", which the stream sends by itself; here for a client without a store (scene NULL: the
// gallery).
void rbStream_WriteHello(const rbStreamCursor* cursor, const char* scene, rbMessage* message);

// A unit quaternion in 64 bits: which component is largest, and the other three in 20 bits each.
// The error of these three is below 6.8e-7; that of the largest, which follows from them and is at
// least a half, below 2.1e-6. A quaternion that is not finite becomes the identity.
uint64_t rbPackQuat(rbQuat q);
rbQuat rbUnpackQuat(uint64_t bits);

#endif
