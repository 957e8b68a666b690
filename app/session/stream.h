// The stream: everything a client lacks from a store, message by message (docs/viewer-protocol.md).
//
// A cursor records what a client has. rbStream_Next compares it with the store and makes one
// message from the difference: the scene first, then the changes. A slow client asks less often and
// gets fewer frames, each with all changes since its last; nothing queues up for it.
//
//   rbStreamCursor cursor = {.kind = "live", .client = 7};
//   rbMessage message = {0};
//   cursor.now = wall time in seconds;
//   while (rbStream_Next(store, &cursor, &message)) {
//       send(rbMessage_GetBytes(&message), message.size, message.isText);
//   }
#pragma once

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

// A client's state of a body, its pose as it was sent.
typedef struct rbClientBody {
    uint32_t position[3]; // bits of single precision
    bool isKnown;
    bool hasPose;
    uint64_t orientation; // see rbPackQuat
} rbClientBody;

// The state of one client. Zero initialization is a client that has nothing; set kind and the
// fields after it. Free with rbStreamCursor_Free.
typedef struct rbStreamCursor {
    const char* kind;  // "live", "recording" or "page"
    int client;        // its number, sent in hello
    bool hasContacts;  // it requested these overlays
    bool hasJoints;    //
    bool hasRays;      //
    int selectedBody1; // number + 1 of the body it wants details of; 0: none
    double now; // s, wall time, set by the caller: limits the rates of state and detail while time
                // runs
    bool isUnbounded; // no rate limits, nothing is skipped: for a page

    // The rest is internal to the stream.
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
// Switches to another store: the client has nothing of it, nothing is selected. Its requested
// overlays stay.
void rbStreamCursor_Restart(rbStreamCursor* cursor);

// The client's requests, from now on, including the frame it has. body -1: none.
void rbStreamCursor_Select(rbStreamCursor* cursor, int body);
void rbStreamCursor_SetOverlays(rbStreamCursor* cursor, bool hasContacts, bool hasJoints,
                                bool hasRays);

// The next message that the client lacks, false if it has everything. Locks the store; the message
// keeps its memory for the next call.
bool rbStream_Next(const rbStore* store, rbStreamCursor* cursor, rbMessage* message);

// "hello", which the stream sends automatically; here for a client without a store (scene NULL: the
// gallery).
void rbStream_WriteHello(const rbStreamCursor* cursor, const char* scene, rbMessage* message);

// What "hello" says of a certificate, a JSON object that stays as long as the program; NULL:
// nothing.
void rbStream_SetCertificate(const char* json);

// A unit quaternion in 64 bits: which component is largest, and the other three in 20 bits each.
// The error of these three is below 6.8e-7; that of the largest, which follows from them and is at
// least a half, below 2.1e-6. A quaternion that is not finite becomes the identity.
uint64_t rbPackQuat(rbQuat q);
rbQuat rbUnpackQuat(uint64_t bits);
