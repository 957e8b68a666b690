// Internals of a store, shared by its files and the stream. The writer changes everything here
// under the lock, and readers read under the lock; only the writer may read without it.
#pragma once

#include "base/core/memory.h"
#include "session/message.h"
#include "session/store.h"

#include <pthread.h>

#define RB_STORE_DROPS_KEPT 64
#define RB_STORE_CONTACT_BYTES 52 // of a contact, and of a joint, as they are sent
#define RB_STORE_JOINT_BYTES 80
#define RB_STORE_RAY_BYTES 28 // of a ray

// A frame of the history, one block of memory.
typedef struct rbStoredFrame {
    size_t bytes; // of the block
    double time;
    uint64_t number; // rises by one from frame to frame taken
    int64_t source;  // of an outline: its index in the recording
    int bodyCount;
    int contactCount;
    int jointCount;
    int rayCount;
    rbLedgerRow ledger;
    double* samples; // a value of each column
    rbVec3* positions;
    rbQuat* orientations;
    rbVec3* linearVelocities; // of the origin
    rbVec3* angularVelocities;
    unsigned char* contacts; // as they are sent
    unsigned char* joints;
    unsigned char* rays;
} rbStoredFrame;

typedef struct rbStoredBody {
    rbBodyId id; // null: it does not exist
    rbBodyType type;
    char name[64];
    rbMassProperties mass; // in the body's frame
    char* json;            // its description in messages
    size_t jsonSize;
} rbStoredBody;

typedef struct rbStoredGeometry {
    rbGeometry* geometry; // retained
    char* json;
    size_t jsonSize;
    rbMessage mesh; // empty: the description is sufficient
} rbStoredGeometry;

typedef struct rbStoredLink {
    rbJointId joint;   // of joints
    rbSpringId spring; // of springs
    bool isAlive;
} rbStoredLink;

// Separate from the store, because readers of a const store lock it.
typedef struct rbStoreLock {
    pthread_mutex_t mutex;
} rbStoreLock;

typedef struct rbFrameSlot {
    rbStoredFrame* frame;
} rbFrameSlot;

struct rbStore {
    rbStoreLock* lock;
    const rbScene* scene;

    RB_ARRAY(rbStoredBody) bodies;
    RB_ARRAY(int) numbers; // by the slot of the id: number, -1
    RB_ARRAY(rbStoredGeometry) geometries;
    RB_ARRAY(rbStoredLink) joints;
    RB_ARRAY(rbStoredLink) springs;
    int linkVersion; // rises when a joint or a spring goes or comes back
    rbMessage head;  // of the scene message, up to its bodies
    rbMessage tail;  // materials, joints, springs, columns

    RB_ARRAY(rbFrameSlot) frames; // numbers and times rise
    uint64_t frameCounter;
    size_t frameBytes; // of all
    size_t frameBytesMax;
    int frameMax;
    int shown;                         // index, -1: none
    rbStoredFrame* whole;              // an outline that was shown last, with its bodies; or NULL
    uint32_t shownVersion;             // rises with every frame shown
    uint32_t jumpVersion;              // rises when the time shown jumps
    double drops[RB_STORE_DROPS_KEPT]; // times of the last ones, a ring
    int64_t dropCount;
    double earliestDrop; // of those that are not kept

    rbRecordedEvent* events; // a ring
    int eventCapacity;
    int64_t eventEnd;   // number of the next one since the start
    int64_t eventFirst; // oldest kept

    rbPlayState play;
    uint32_t playVersion;
    rbMessage parameters;
    uint32_t parametersVersion; // 0: there are none yet

    int probeCount; // columns of probes
    int columnCount;

    // Scratch of the writer.
    RB_ARRAY(rbBodyId) ids;
    RB_ARRAY(rbVec3) vectors[4];
    RB_ARRAY(rbQuat) quats;
    RB_ARRAY(double) masses;
    RB_ARRAY(rbContactView) contacts;
    rbMessage scratch;
    RB_ARRAY(double) samples;
};

// A column of the samples that every store has; those of the probes follow.
typedef struct rbStoreColumn {
    const char* name;
    const char* unit;
    const char* group;
} rbStoreColumn;
int rbGetStoreColumnCount(void);
rbStoreColumn rbGetStoreColumn(int index);

// A frame is shown: the writer calls it with the lock.
void rbStore_ShowFrame(rbStore* store, int index);

// store_scene.c
void rbStore_Describe(rbStore* store, const rbWorld* world);
rbStatus rbStore_DescribeBody(rbStore* store, const rbWorld* world, rbBodyId bodyId, int number,
                              rbStoredBody* body, rbError* error);

// The frame with a number, or the first after it: index in frames, count if there is none.
int rbStore_FindFrame(const rbStore* store, uint64_t number);
