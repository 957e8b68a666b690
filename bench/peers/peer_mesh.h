// The interface of an engine in the mesh-distance suite: hierarchies over a triangle mesh, and
// queries of two copies of it.
//
// Every engine, including ours, is called through this table. A module of a library that supports
// meshes exports it in addition to the table of peer.h. C and C++.
#pragma once

#include "peer.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Borrowed for the duration of the call.
typedef struct rbPeerMesh {
    const double (*vertices)[3]; // m
    const int (*triangles)[3];
    int vertexCount;
    int triangleCount;
} rbPeerMesh;

// Distance of the surfaces and a closest pair of points.
typedef struct rbPeerWitness {
    double distance;             // m, 0 in overlap; NaN: the library failed
    double pointA[3], pointB[3]; // m, in the world; unset in overlap
} rbPeerWitness;

// One kind of bounding volume.
typedef struct rbMeshPeerRow {
    const char* volume;
    // Copies the mesh and builds the hierarchy. NULL on failure.
    void* (*create)(const rbPeerMesh* mesh);
    void (*destroy)(void* state);
    size_t (*getBytes)(const void* state); // of the mesh and the hierarchy
    // The pairs of the following queries, copied and converted before the clock starts, with empty
    // slots; a slot is the storage that may be kept between queries (warm start).
    void (*setPairs)(void* state, const rbPeerPair* pairs, int pairCount, int slotCount);
    // Exact: no tolerance. slot -1: start cold.
    void (*measure)(void* state, int pair, int slot, rbPeerWitness* witness);
    // 1: they overlap; 0: they do not; -1: the library failed.
    int (*overlaps)(void* state, int pair);
} rbMeshPeerRow;

typedef struct rbMeshPeer {
    const char* library;
    const rbMeshPeerRow* rows;
    int rowCount;
} rbMeshPeer;

#define RB_MESH_PEER_ENTRY "rbGetMeshPeer"
typedef const rbMeshPeer* rbGetMeshPeerFn(void);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const rbMeshPeer*
rbGetMeshPeer(void);

#ifdef __cplusplus
}
#endif
