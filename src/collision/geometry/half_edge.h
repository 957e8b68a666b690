// Connectivity of a mesh: half edges, sorted so that those of one edge are contiguous, and parts.
#pragma once

#include <rattleback/shape.h>

// The step of a face's loop from a corner to the next one, between vertices low < high.
typedef struct rbHalfEdge {
    int low, high;
    int face;
    int corner;     // where it starts
    int nextCorner; // where it ends
    bool isForward; // runs from low to high
} rbHalfEdge;

// Number of corners of a mesh; sizes are not checked.
long long rbCountCorners(const rbMeshDef* def);

static inline int rbGetFaceSize(const rbMeshDef* def, int face)
{
    return def->faceSizes != NULL ? def->faceSizes[face] : 3;
}

// All half edges, ordered by (low, high, corner), by two counting sorts in linear time. The indices
// must be in range. Free with rbFree, count * sizeof(rbHalfEdge).
rbHalfEdge* rbSortHalfEdges(const rbMeshDef* def, int cornerCount);

// End of the group of the same edge that begins at first.
int rbGetEdgeEnd(const rbHalfEdge* halfEdges, int count, int first);

// The least vertex of every part of a mesh (faces that share vertices, directly or not), ascending;
// the indices must be in range. Free with rbFree, count * sizeof(int).
int* rbFindMeshParts(const rbMeshDef* def, int* count);
