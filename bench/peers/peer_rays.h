// The interface of an engine in the rays suite: a prepared triangle mesh, and the first hits of
// rays.
//
// Every engine, including ours, is called through this table. Rays are passed once and converted to
// the library's own type before the clock starts. C and C++.
#pragma once

#include "peer_mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rbPeerRay {
    double origin[3];    // m
    double direction[3]; // unit
} rbPeerRay;

typedef struct rbRayPeerRow {
    const char* call; // "" the one ray at a time; otherwise the difference
    // Copies the mesh and builds the hierarchy; reports the build time alone, in s. NULL on
    // failure.
    void* (*create)(const rbPeerMesh* mesh, double* buildTime);
    void (*destroy)(void* state);
    // The rays of the following queries.
    void (*setRays)(void* state, const rbPeerRay* rays, int count);
    // Casts all rays on one thread. Returns the distance of each first hit, INFINITY if there is
    // none.
    void (*cast)(void* state, double* distances);
} rbRayPeerRow;

typedef struct rbRayPeer {
    const char* library;
    const rbRayPeerRow* rows;
    int rowCount;
} rbRayPeer;

#define RB_RAY_PEER_ENTRY "rbGetRayPeer"
typedef const rbRayPeer* rbGetRayPeerFn(void);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const rbRayPeer*
rbGetRayPeer(void);

#ifdef __cplusplus
}
#endif
