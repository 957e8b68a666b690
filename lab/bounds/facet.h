// Closest points of edges and plane polygons, all in one frame; answers as in
// collision/geometry/closest.h. Polygons need not be convex.
#pragma once

#include "collision/geometry/closest.h"

// A plane polygon; corners in either orientation that agrees with the normal.
typedef struct rbFacet {
    const rbVec3* corners;
    int count;     // >= 3
    rbVec3 normal; // unit; normal . x = offset
    double offset;
} rbFacet;

// Two edges (L-17, L-18).
rbClosest rbClosestOfEdges(const rbVec3 a[2], const rbVec3 b[2]);

// Does the point of the plane lie in the polygon? Boundary points go either way (L-21).
bool rbFacet_Contains(const rbFacet* facet, rbVec3 point);

// A point and a polygon (L-20, L-22).
rbClosest rbClosestOfPointFacet(rbVec3 point, const rbFacet* facet);

// Where an edge that is not parallel to the plane cuts the polygon, if it does (L-23).
bool rbFacet_CutEdge(const rbFacet* facet, const rbVec3 edge[2], rbVec3* point);

// An edge and a polygon, plain (L-24).
rbClosest rbClosestOfEdgeFacet(const rbVec3 edge[2], const rbFacet* facet);

// Two polygons, nothing computed twice (L-25, L-26): one elementary test.
rbClosest rbClosestOfFacets(const rbFacet* a, const rbFacet* b);
