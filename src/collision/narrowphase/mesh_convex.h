// Meshes, soups and polyhedra against convex shapes and half spaces. A is the mesh.
#pragma once

#include "collision/convex/epa.h"
#include "collision/convex/gjk.h"
#include "collision/geometry/closest.h"
#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/mesh_depth.h"

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
    rbDepthWish wish;
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

// Appends the contact points for a separation (including its rounding radii) of at most threshold:
// manifolds by direction, the first about the normal of the separation.
void rbFindMeshConvexContacts(const rbMeshConvex* pair, const rbSeparation* separation,
                              double threshold, rbContactList* list);

// The same for boxes and hulls that overlapped at the last call with the same cache, using that
// result without measuring the depth. False: not possible, measure again.
bool rbFindMeshConvexAgain(const rbMeshConvex* pair, double threshold, rbContactList* list);

// The same where the convex shape is a half space: the near vertices, reduced to a manifold.
void rbFindMeshPlaneContacts(const rbMeshConvex* pair, const rbSeparation* separation,
                             double threshold, rbManifold* manifold);

// Id of the edge between two vertices of a mesh, the same from either of its triangles.
int rbNameMeshEdge(int v0, int v1);

// A triangle of a mesh as a feature. corners: in any frame; normal: unit, of either side.
void rbMakeTriangleFeature(const rbGeometry* mesh, int origin, const rbVec3 corners[3],
                           rbVec3 normal, rbContactFeature* feature);

// ------------------------------------------------------------------------ triangles near a core

// The triangles of a mesh nearest to a convex core, by the box tree of the mesh.
//
// Everything is in the frame of the mesh. The core is as defined by rbConvex: the caller handles
// radii. Surfaces are measured, not solids: a core inside a closed mesh has a positive distance
// here.

// One triangle against the core.
typedef struct rbMeshNear {
    int triangle;        // 4 * block + lane of the tree, -1: none
    double distance;     // m, >= 0; 0 if they intersect
    double lower, upper; // m, bounds of the distance
    rbVec3 a;            // m, on the triangle
    rbVec3 b;            // m, on the core
    rbVec3 normal;       // unit, from the triangle to the core; a guess if they intersect
    bool meets;
} rbMeshNear;

// A core relative to a mesh, and the parameters of the search.
typedef struct rbMeshQuery {
    const rbGeometry* mesh;
    const rbConvex* core;
    rbMat3 rotation;    // of the core
    rbVec3 translation; // m
    rbVec3 middle;      // m, center of a bounding sphere of the core, in the frame of the core
    double reach;       // m, its radius
    double slack;       // m, rounding error of a distance
    // for one search
    double limit;         // m: triangles at least this far away need not be measured; INFINITY
    double enough;        // m: stops at a triangle no farther than this; 0
    double relativeError; // of the result
    long long budget;     // triangles measured, < 0: no limit
    rbVec3 hint;          // a direction from the mesh to the core, any length; zero: none
    int guess;            // a triangle to begin with, -1: none
} rbMeshQuery;

// core is borrowed. The other fields get their defaults.
rbMeshQuery rbMakeMeshQuery(const rbGeometry* mesh, const rbConvex* core, rbTransform transform);

// Called for every triangle that may be within the limit; true: it need not be measured.
typedef bool rbMeshVisitFn(void* context, int triangle);

// The destination of triangles.
typedef struct rbMeshList {
    rbMeshNear* items; // owned by the caller
    int capacity;
    int count;            // found; the first capacity of them are stored
    rbMeshVisitFn* visit; // NULL: all are measured
    void* context;
} rbMeshList;

// All triangles nearer than the limit, in the order of the search.
void rbCollectMesh(const rbMeshQuery* query, rbMeshList* list);

// Is a point in the solid, given the nearest point of the surface and its triangle? By the normal
// if it lies inside the triangle. False for surfaces.
bool rbIsInMesh(const rbGeometry* mesh, rbVec3 point, rbVec3 nearest, int triangle);

// Distance of a point from the surface, positive in a solid, negative elsewhere; rounded down.
double rbFindDepthInMesh(const rbGeometry* mesh, rbVec3 point);
