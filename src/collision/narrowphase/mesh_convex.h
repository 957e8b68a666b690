// Meshes, soups and polyhedra against convex shapes and half spaces. A is the mesh.
#pragma once

#include "collision/convex/epa.h"
#include "collision/narrowphase/mesh_search.h"

// A mesh and a bounded convex shape (sphere to hull).
typedef struct rbMeshConvex {
    const rbGeometry* mesh;
    const rbGeometry* convex;
    rbTransform transform;    // from the frame of the convex shape to that of the mesh
    double radiusMesh;        // m, rounds the mesh
    double radiusConvex;      // m, rounds the convex shape
    double relativeTolerance; // of a distance; 0: exact
    long long budget;         // triangles measured for a distance, 0: no limit
    rbGjkCache* cache;     // NULL: none. Of the last query: the direction and, in vertexB[0], the
                           // nearest triangle plus 1; of the last contacts: the direction in
                           // directions[0] and the depth in directions[1].x
    rbEpaScratch* scratch; // for the depth
} rbMeshConvex;

// Signed distance in the frame of the mesh, including the rounding radii.
//
// Separate: exact, reason SURFACES (CONVERGED within the relative tolerance, BUDGET with wide
// bounds). Let the core be the convex shape without its radius (the center of a sphere, the axis of
// a capsule), r the sum of all radii. For a core that lies in the solid or outside, at distance d
// from the surface, the signed distance is at most d - r, or -d - r inside. If moving the bodies by
// that much along the normal separates them, which is tested, this is the distance, and the reason
// is SURFACES; a sphere is measured exactly this way unless the place it is moved to is also
// occupied.
// A core that intersects the surface: a separating direction is chosen from the triangles in the
// core, and the displacement needed along it is measured: bodies moved by -lower along the normal
// are separate. A shorter translation in another direction may separate them as well. Reason
// ESTIMATE. Surfaces without an inside are separated toward the side of the center of the convex
// shape.
void rbMeasureMeshConvex(const rbMeshConvex* pair, rbSeparation* separation);

// Are they at most margin m apart?
bool rbTestMeshConvex(const rbMeshConvex* pair, double margin);

// A mesh and a half space: exact.
void rbMeasureMeshPlane(const rbGeometry* mesh, const rbGeometry* plane, rbTransform transform,
                        rbSeparation* separation);

// The contact points for a separation (including its rounding radii) of at most threshold:
// manifolds by direction, at most capacity of them, the first about the normal of the separation.
// Returns their number.
int rbFindMeshConvexContacts(const rbMeshConvex* pair, const rbSeparation* separation,
                             double threshold, rbManifold* manifolds, int capacity);

// The same for boxes and hulls that overlapped at the last call with the same cache, using that
// result without measuring the depth. -1: not possible, measure again.
int rbFindMeshConvexAgain(const rbMeshConvex* pair, double threshold, rbManifold* manifolds,
                          int capacity);

// The same where the convex shape is a half space: the vertices that are near enough, reduced to a
// manifold.
void rbFindMeshPlaneContacts(const rbMeshConvex* pair, const rbSeparation* separation,
                             double threshold, rbManifold* manifold);
