// Pairs of shapes made of triangles: mesh, soup and polyhedron against each other.
#pragma once

#include "collision/distance/tree_pair.h"
#include "collision/geometry/polyhedron.h"

// Two such shapes, without the radii that round them.
typedef struct rbMeshPair {
    const rbGeometry* a;
    const rbGeometry* b;
    rbTransform transformBtoA;
    double relativeTolerance;
    long long budget; // pairs of triangles, 0: no limit
    bool isDepthUnwanted;
    rbFront* front; // NULL: none
    void* scratch;  // aligned for doubles
    size_t scratchSize;
} rbMeshPair;

// Is the shape made of triangles in a tree?
static inline bool rbIsMeshLike(const rbGeometry* geometry)
{
    return geometry->polyhedron != NULL && geometry->polyhedron->tree != NULL;
}

// Is a part of a body inside the solid, if their surfaces do not intersect? Tests one vertex of
// each part. False if the solid is not closed.
bool rbContainsPart(const rbGeometry* solid, const rbGeometry* other, rbTransform toSolid);

// Distance between two separate shapes: exact. In overlap (intersecting surfaces, or a solid that
// contains the other) lower and upper hold; distance, normal and points are a local estimate.
void rbMeasureMeshes(const rbMeshPair* pair, rbSeparation* separation);

// Are they at most margin m apart?
bool rbTestMeshes(const rbMeshPair* pair, double margin);
