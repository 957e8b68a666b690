// The pairs of the mesh-distance suite: poses of two copies of a bumpy sphere.
//
// Orientations quat() and quat(), direction dir() from a fixed seed (random3.h). B approaches from
// far away along the direction toward the center of A until the surfaces are separated by the gap;
// overlapping pairs are 0.06 m nearer than those at the gap 0.01, which is about 0.05 m deep. Along
// a path B spins about its center and circles A, at most RB_MESH_MOTION of the diameter per step
// for any of its points, and is held near the gap.
#pragma once

#include "base/core/memory.h"
#include "bumpy_sphere.h"
#include "peers/peer_mesh.h"

#define RB_MESH_MOTION 1e-3

typedef enum rbMeshPlace {
    RB_MESH_FAR,
    RB_MESH_NEAR,
    RB_MESH_CLOSE,
    RB_MESH_OVERLAP,
    RB_MESH_PLACE_COUNT
} rbMeshPlace;

extern const struct rbMeshPlaceRow {
    const char* name;
    double gap; // m
} rbMeshPlaces[RB_MESH_PLACE_COUNT];

// Pairs of one placement. Query i belongs to slot i % slotCount; the steps of a slot follow each
// other.
typedef struct rbMeshSet {
    RB_ARRAY(rbPeerPair) pairs;
    int slotCount;
    double motionMax;   // m, largest displacement of any point in a step, relative
    double gapErrorMax; // m, largest deviation from the gap; 0 for overlapping pairs
} rbMeshSet;

// The engine that measures while pairs are placed; its state is only used for that.
typedef struct rbMeshRuler {
    const rbMeshPeerRow* row;
    void* state;
} rbMeshRuler;

// Sets of single pairs, and of paths that start at them. Sets must be zero-initialized and are
// freed with rbFreeMeshSets.
void rbMakeMeshPairs(rbMeshRuler ruler, int count, rbMeshSet sets[RB_MESH_PLACE_COUNT]);
void rbMakeMeshPaths(rbMeshRuler ruler, const rbMeshSet starts[RB_MESH_PLACE_COUNT], int pathCount,
                     int stepCount, rbMeshSet sets[RB_MESH_PLACE_COUNT]);
void rbFreeMeshSets(rbMeshSet sets[RB_MESH_PLACE_COUNT]);
