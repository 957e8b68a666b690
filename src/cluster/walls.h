// Bodies that no contact moves: static ones, and driven ones on their paths. All ranks have all of
// them, and know where they are at any time.
#pragma once

#include "cluster/facets.h"

#include <rattleback/world.h>

typedef struct rbWallBody {
    const rbWorld* world; // that knows its path; NULL: a half space that does not move
    rbBodyId id;
    rbTransform now, next; // at the start and at the end of the step
    rbVec3 spin;           // rad/s
    double reach;          // m, of its facets from its origin
    bool isMoving;
    int firstFacet, facetCount;
    int root; // node of its tree; -1: facets are tested one by one
} rbWallBody;

typedef struct rbWallNode {
    rbBounds bounds;
    int left, right; // nodes; left < 0: facets from right on
    int count;       // of facets of a leaf
} rbWallNode;

typedef struct rbWalls {
    RB_ARRAY(rbWallBody) bodies;
    rbFacets facets;
    RB_ARRAY(int) owners; // per facet: its body
    RB_ARRAY(rbWallNode) nodes;
    RB_ARRAY(int) found; // by the last query
    double travel;       // m, by which a point of a wall has moved at most since it was cleared
} rbWalls;

void rbWalls_Free(rbWalls* walls);
// normal . x >= offset, at rest.
void rbWalls_AddHalfSpace(rbWalls* walls, rbVec3 normal, double offset, int material);
// The shapes of a body of a world, which is borrowed; a material per shape.
rbStatus rbWalls_AddBody(rbWalls* walls, const rbWorld* world, rbBodyId id, const int* materials,
                         rbError* error);
// Moves all walls to a time; adds to the travel.
void rbWalls_Move(rbWalls* walls, double time, double step);
// Fills in found: all facets that may be closer to a point than a distance, ascending.
void rbWalls_FindNear(rbWalls* walls, rbVec3 point, double distance);
// Where a facet is closest to a point of space, now.
rbClosest rbWalls_FindClosest(const rbWalls* walls, int facet, rbVec3 point);
// Velocity of a facet at a point of space, m/s: by what it moves within the step; that of a
// conveyor along the surface only. spin: of its body.
rbVec3 rbWalls_GetVelocity(const rbWalls* walls, int facet, const rbClosest* at, double step,
                           rbVec3* spin);
