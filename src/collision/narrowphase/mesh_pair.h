// Pairs of shapes made of triangles: mesh, soup and polyhedron against each other.
#pragma once

#include "collision/distance/tree_pair.h"
#include "collision/geometry/polyhedron.h"
#include "collision/narrowphase/mesh_depth.h"

// Two such shapes, without the radii that round them.
typedef struct rbMeshPair {
    const rbGeometry* a;
    const rbGeometry* b;
    rbTransform transformBtoA;
    double relativeTolerance;
    long long budget; // pairs of triangles, 0: no limit
    rbDepthWish wish;
    rbFront* front; // NULL: none
    void* scratch;  // aligned for doubles
    size_t scratchSize;
} rbMeshPair;

// Is the shape made of triangles in a tree?
static inline bool rbIsMeshLike(const rbGeometry* geometry)
{
    return geometry->polyhedron != NULL && geometry->polyhedron->tree != NULL;
}

// Distance between two separate shapes: exact. In overlap (intersecting surfaces, or a solid that
// contains the other) lower and upper hold; distance, normal and points are a local estimate.
void rbMeasureMeshes(const rbMeshPair* pair, rbSeparation* separation);

// Are they at most margin m apart?
bool rbTestMeshes(const rbMeshPair* pair, double margin);

// Length of a translation after which a plane separates the bodies, and its direction (unit): the
// shortest along the axes of the bodies and of their tilted boxes and the line of centers. Bodies
// rounded by radii are separated by it plus the radii. This does not hold for lower of
// rbMeasureMeshes: in a cavity there may be no room for the radii.
double rbBoundMeshDepth(const rbMeshPair* pair, rbVec3* direction);

// Appends the manifolds of two meshes, the deepest first, in the frame of A: the points at most
// threshold m apart of the bodies rounded by the radii. More points than the scratch holds (a few
// hundred) are thinned out while they are collected: four of each plane are kept, and if there are
// too many planes, the deepest are kept. Where more than 2000 pairs of triangles are within the
// threshold, only the deepest part of the region is examined (down to 1/256 of the reach, then up
// to 8000 pairs): the cost is bounded. Bodies that no short translation separates (a peg in its
// hole, links of a chain) get a manifold for every place where the surfaces meet, along the normal
// of that place; its distances are estimates. If nothing better is found in overlap, the only point
// is that of the estimate.
void rbFindMeshContacts(const rbMeshPair* pair, double threshold, double radiusA, double radiusB,
                        rbContactList* list);
