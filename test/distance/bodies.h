// Bodies that are not convex, for the tests of distances.
#pragma once

#include "base/core/random.h"
#include "lab/bounds/hierarchy.h"

#include <rattleback/lab_distance.h>

typedef enum rbTestBody {
    RB_BODY_BUMPY,    // sphere with random bumps, triangles
    RB_BODY_TORUS,    // triangles
    RB_BODY_RING,     // torus of quadrilaterals, polyhedron
    RB_BODY_STAR,     // prism over a random star, polyhedron with non-convex faces
    RB_BODY_L,        // prism over an L
    RB_BODY_COMB,     // prism over a comb
    RB_BODY_SOUP,     // random triangles and non-convex polygons
    RB_BODY_TRIANGLE, // one random triangle
    RB_BODY_COUNT_OF_KINDS
} rbTestBody;

// About 1 m across, with about this many faces.
rbGeometry* rbMakeTestBody(rbTestBody body, int faceCount, rbRandom* random);

// Both directions in segments; the axis is z.
rbGeometry* rbMakeTestTorus(double radius, double tubeRadius, int segments, int tubeSegments);

// A definition with random rules for a kind of volume.
rbHierarchyDef rbMakeRandomHierarchyDef(rbVolumeType volume, rbRandom* random);

// A random pose of B near where the bodies, of 1 m, meet: far, near, or deep in each other.
rbTransform rbMakeRandomPose(rbRandom* random);

// Distance of two runs of faces by all pairs of polygons.
double rbMeasureByPairs(const rbHierarchy* a, const rbHierarchyNode* nodeA, const rbHierarchy* b,
                        const rbHierarchyNode* nodeB, rbTransform transformBtoA);
