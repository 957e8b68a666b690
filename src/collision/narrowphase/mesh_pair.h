// Pairs of shapes made of triangles: mesh, soup and polyhedron against each other.
#ifndef RB_NARROWPHASE_MESH_PAIR_H
#define RB_NARROWPHASE_MESH_PAIR_H

#include "collision/distance/tree_pair.h"
#include "collision/geometry/polyhedron.h"

// Two of them, without the radii that round them.
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

// Is it made of triangles in a tree?
static inline bool rbIsMeshLike(const rbGeometry* geometry)
{
    return geometry->polyhedron != NULL && geometry->polyhedron->tree != NULL;
}

// Is one of the parts of a body whose surface does not meet that of the solid inside of it? By a
// vertex of each. False if the solid is none.
bool rbContainsPart(const rbGeometry* solid, const rbGeometry* other, rbTransform toSolid);

// Distance of two that are apart: exact. In overlap (surfaces that meet, or a solid that contains
// the other) lower and upper hold; distance, normal and points are a local estimate.
void rbMeasureMeshes(const rbMeshPair* pair, rbSeparation* separation);

// Are they at most margin m apart?
bool rbTestMeshes(const rbMeshPair* pair, double margin);

#endif
