// The interface of a library under test in the convex suite: a table of calls on the same pairs.
//
// Every engine, including ours, is called through this table, so that all pay for the same loop and
// the same indirect call. Poses are passed once and may be converted to the library's own types
// before the clock starts. Peers are separate modules (rattleback-peer-NAME.so), loaded when
// present; the program links none of them. C and C++.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rbPeerShapeKind {
    RB_PEER_BOX,
    RB_PEER_ELLIPSOID,
    RB_PEER_HULL,
    RB_PEER_SHAPE_COUNT
} rbPeerShapeKind;

// A shape about its origin. Borrowed by the state created from it.
typedef struct rbPeerShape {
    rbPeerShapeKind kind;
    double size[3];            // m, half extents or semi-axes
    const double (*points)[3]; // m, vertices of a hull
    const int* faceSizes;      // corners of each face of a hull
    const int* indices;        // corners of all faces, counter-clockwise from outside
    const int* neighborStart;  // pointCount + 1: where the neighbors of a vertex begin
    const int* neighbors;      // vertices joined to it by an edge
    int pointCount;
    int faceCount;
    void* ours; // the rbGeometry of the same shape, for our own table
} rbPeerShape;

typedef struct rbPeerPose {
    double position[3];   // m
    double quaternion[4]; // w, x, y, z, unit; maps body to world
} rbPeerPose;

// Both bodies of a query, with the same shape.
typedef struct rbPeerPair {
    rbPeerPose a, b;
} rbPeerPair;

typedef enum rbPeerResult {
    RB_PEER_BOOL,     // negative: the bodies overlap; positive: they do not
    RB_PEER_DISTANCE, // m, of bodies that are apart
    RB_PEER_DEPTH,    // m, of bodies that overlap, as a negative number; 0: no overlap was found
    RB_PEER_RESULT_COUNT
} rbPeerResult;

struct rbPeerRow;

// Answers the query of a pair. slot >= 0 names the storage that may be kept for the next query of
// the same slot (warm start); -1: start cold. NaN: the library failed.
typedef double rbPeerQueryFn(const struct rbPeerRow* row, void* state, int pair, int slot);

typedef struct rbPeerRow {
    const char* call;
    rbPeerResult result;
    double tolerance; // in the library's own meaning; 0: it has none
    rbPeerQueryFn* query;
    int option; // for the query function
} rbPeerRow;

typedef struct rbPeer {
    const char* library;
    const rbPeerRow* rows;
    int rowCount;
    // Everything the calls need; NULL if the library refuses the shape.
    void* (*create)(const rbPeerShape* shape, const rbPeerPair* pairs, int pairCount,
                    int slotCount);
    void (*forget)(void* state); // empties the slots
    void (*destroy)(void* state);
} rbPeer;

// The only name a module exports.
#define RB_PEER_ENTRY "rbGetPeer"
typedef const rbPeer* rbGetPeerFn(void);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const rbPeer*
rbGetPeer(void);

#ifdef __cplusplus
}
#endif
