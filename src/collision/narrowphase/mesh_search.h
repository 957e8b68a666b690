// The triangles of a mesh nearest to a convex core, by the box tree of the mesh.
//
// Everything is in the frame of the mesh. The core is as defined by rbConvex: the caller handles
// radii. Surfaces are measured, not solids: a core inside a closed mesh has a positive distance
// here.
#pragma once

#include "collision/convex/gjk.h"
#include "collision/geometry/closest.h"
#include "collision/geometry/polyhedron.h"

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

// Why a search ended.
typedef enum rbMeshStop {
    RB_MESH_DONE,   // exact to rounding, or to the relative error
    RB_MESH_ENOUGH, // a triangle is near enough, or intersects the core
    RB_MESH_BUDGET  // no more triangles may be measured
} rbMeshStop;

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

typedef struct rbMeshAnswer {
    double lower, upper; // m; upper is INFINITY if no triangle is nearer than the limit
    rbMeshNear nearest;  // the triangle of upper
    rbMeshStop stop;
    long long tests; // triangles measured
} rbMeshAnswer;

// core is borrowed. The other fields get their defaults.
rbMeshQuery rbMakeMeshQuery(const rbGeometry* mesh, const rbConvex* core, rbTransform transform);

rbMeshAnswer rbSearchMesh(const rbMeshQuery* query);

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

// Least product of a vector with points of the core.
double rbMeshQuery_FindLow(const rbMeshQuery* query, rbVec3 direction);

// A point in the core.
rbVec3 rbMeshQuery_GetPoint(const rbMeshQuery* query);

// Is a point in the solid, given the nearest point of the surface and its triangle? By the normal
// there: of the face, of both faces of an edge, or the mean normal of a vertex weighted by angles,
// which has the correct sign for every closed surface that does not intersect itself (Baerentzen
// and Aanaes 2005). False for surfaces.
bool rbIsInMesh(const rbGeometry* mesh, rbVec3 point, rbVec3 nearest, int triangle);

// The same without prior information.
bool rbIsPointInMesh(const rbGeometry* mesh, rbVec3 point);
