// Pieces of walls, and where a sphere touches them: half spaces, balls, boxes, capsules, cylinders
// and triangles, in the frame of the wall's body. Other shapes are cut into triangles.
#pragma once

#include "base/core/memory.h"

#include <rattleback/shape.h>

typedef enum rbFacetType {
    RB_FACET_PLANE,
    RB_FACET_BALL,
    RB_FACET_BOX,
    RB_FACET_CAPSULE,
    RB_FACET_CYLINDER,
    RB_FACET_TRIANGLE
} rbFacetType;

typedef struct rbFacet {
    rbFacetType type;
    int material;
    rbTransform pose;  // of the shape in the frame of its body; a triangle has its corners there
    rbVec3 corners[3]; // m, triangle; otherwise [0] has the numbers of the shape: the half extents,
                       // the radius and half length, the normal of a plane
    double offset;     // m, plane
    rbVec3 surfaceVelocity; // m/s, in the frame of the body: a conveyor
} rbFacet;

typedef RB_ARRAY(rbFacet) rbFacets;

// Where a facet is closest to a point.
typedef struct rbClosest {
    rbVec3 point;    // m, on the surface
    rbVec3 normal;   // unit, out of the wall
    double distance; // m, negative inside of a solid; triangles have no inside
} rbClosest;

// Adds the facets of a geometry at a pose. Refuses what has no exact triangles.
rbStatus rbFacets_Add(rbFacets* facets, const rbGeometry* geometry, rbTransform pose, int material,
                      rbError* error);
rbClosest rbFacet_FindClosest(const rbFacet* facet, rbVec3 point);
// A box around it, in the frame of its body; infinite for planes.
rbBounds rbFacet_GetBounds(const rbFacet* facet);
