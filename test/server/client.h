// A client of the viewer's protocol, written from docs/viewer-protocol.md alone: it shares no code
// with the stream that it tests. It keeps the same data as a browser.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENT_BODIES_MAX 4096

typedef struct rbClientPose {
    bool isKnown; // described by "scene" or "bodies"
    bool hasPose;
    double position[3];
    double orientation[4]; // w x y z
} rbClientPose;

typedef struct rbClientEvent {
    double time;
    uint32_t kind, bodyA, bodyB, history, law;
    double energyChange, energyBefore, frictionWork, approachSpeed;
    float point[3], normal[3], impulse[3];
} rbClientEvent;

typedef struct rbClientModel {
    json_t* hello; // the last of each
    json_t* scene;
    json_t* bodies;
    json_t* links;
    json_t* state;
    json_t* parameters;
    json_t* detail;
    json_t* reply;
    json_t* viewers;
    int counts[9]; // binary messages by type
    int textCount;
    size_t frameBytes; // of all frames
    size_t poseSum;    // poses in all frames
    int frameFlags;    // of the last
    uint32_t frameNumber;
    double time; // of the last frame
    rbClientPose poses[CLIENT_BODIES_MAX];
    int columnCount;
    double* samples; // rows of columnCount + 1
    int rowCount, rowCapacity;
    bool hasReplaced; // samples with flag 1 came
    rbClientEvent* events;
    int eventCount, eventCapacity;
    double firstEvent;
    int eventFlags;
    int contactCount;
    uint32_t contactA, contactB; // of the first contact
    float contactForce[3], contactNormal[3];
    float forceSum[3]; // of all contacts
    int jointCount;
    float jointPoints[6]; // of the first joint
    int rayCount;
    int rayHits;
    int rayShortest; // how many are the shortest
    float shortestRay[6];
    int meshCount;
    uint32_t meshVertices, meshTriangles; // of the last
    double meshVolume;
    double dropTime;
} rbClientModel;

rbClientModel* rbCreateClientModel(void);
void rbDestroyClientModel(rbClientModel* model);

// Processes a message; fails the test when it violates the protocol.
void rbClientModel_Take(rbClientModel* model, const void* bytes, size_t size, bool isText);
double rbClientModel_GetNumber(const json_t* object, const char* key);
