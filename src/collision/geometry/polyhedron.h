// Boundary representation of polyhedral shapes: vertices, edges, faces and their incidence.
//
// A face is a cyclic vertex loop, counter-clockwise seen from outside, with unit normal n and
// offset n0, its plane being n . x = n0. Corner k (an index into indices) is where a loop passes a
// vertex; edgeOfCorner[k] is the edge from that corner to the next one of the loop. An edge runs
// from v0 to v1 in its left face. All edges of a vertex and of a face are enumerated in linear
// time. Every face is also triangulated without overlap; rays and the inside test use these
// triangles.
#pragma once

#include "collision/geometry/box_tree.h"
#include "collision/geometry/shape_ops.h"
#include "collision/geometry/support_table.h"

typedef struct rbEdge {
    int v0, v1;
    int faceLeft, faceRight; // faceRight is -1 on an open boundary
} rbEdge;

typedef struct rbPolyhedron {
    rbVec3* vertices;
    int* faceSizes;
    int* indices;
    int* faceStarts; // faceCount + 1, into indices
    rbVec3* normals; // per face
    double* offsets; // per face
    int vertexCount, faceCount, indexCount;

    // incidence; none for soups and for surfaces that are not manifold
    rbEdge* edges;
    int* edgeOfCorner;
    int* vertexEdgeStarts; // vertexCount + 1, into vertexEdges
    int* vertexEdges;
    int edgeCount;

    rbIndex3* triangles;
    int* faceOfTriangle;
    int triangleCount;

    rbSupportTable* supports; // of hulls, otherwise NULL
    rbBoxTree* tree;          // over the triangles, of all but hulls, otherwise NULL
    int* partVertices; // with the tree: a vertex of every part of the surface (faces that share
                       // vertices, directly or not)
    int partCount;

    rbVec3 lower, upper; // bounds
    double scale;        // largest magnitude of a coordinate
} rbPolyhedron;

// Copies a mesh whose indices are in range and whose faces have an area; computes planes, triangles
// and, if wantIncidence and the faces are manifold (open or not), edges. With trianglesOnly
// polygons are replaced by their triangles.
rbPolyhedron* rbCreateBrep(const rbMeshDef* def, bool wantIncidence, bool trianglesOnly);
void rbDestroyBrep(rbPolyhedron* polyhedron);

rbMeshDef rbPolyhedron_GetDef(const rbPolyhedron* polyhedron);

// Edges that end in a vertex.
static inline const int* rbPolyhedron_GetVertexEdges(const rbPolyhedron* polyhedron, int vertex,
                                                     int* count)
{
    const int* starts = polyhedron->vertexEdgeStarts;
    *count = starts[vertex + 1] - starts[vertex];
    return polyhedron->vertexEdges + starts[vertex];
}

// A triangle of the tree of a mesh, by 4 * block + lane.
static inline void rbGetMeshTriangle(const rbGeometry* mesh, int triangle, rbVec3 corners[3])
{
    const rbBoxTree* tree = mesh->polyhedron->tree;
    RB_ASSERT(triangle >= 0 && triangle < RB_BOX_WIDTH * tree->blockCount);
    rbTriangleBlock_Get(&tree->blocks[triangle / RB_BOX_WIDTH], triangle % RB_BOX_WIDTH, corners);
}

// Its index in the triangles of the mesh.
static inline int rbGetMeshOrigin(const rbGeometry* mesh, int triangle)
{
    const rbBoxTree* tree = mesh->polyhedron->tree;
    return tree->blocks[triangle / RB_BOX_WIDTH].origins[triangle % RB_BOX_WIDTH];
}

// Its face; -1 for none.
static inline int rbGetMeshFace(const rbGeometry* mesh, int triangle)
{
    return triangle < 0 ? -1 : mesh->polyhedron->faceOfTriangle[rbGetMeshOrigin(mesh, triangle)];
}

// The normals for rays at the tree: NULL if every face is a triangle.
static inline const rbVec3* rbPolyhedron_GetNormals(const rbPolyhedron* p)
{
    return p->triangleCount == p->faceCount ? NULL : p->normals;
}

// Is a point in the bounding box of the vertices?
static inline bool rbIsInBounds(const rbPolyhedron* polyhedron, rbVec3 point)
{
    rbVec3 lower = polyhedron->lower, upper = polyhedron->upper;
    return point.x >= lower.x && point.y >= lower.y && point.z >= lower.z && point.x <= upper.x &&
           point.y <= upper.y && point.z <= upper.z;
}

// Twice the vector area of a loop by Newell's sum about its first vertex.
rbVec3 rbComputeNewell(const rbVec3* vertices, const int* loop, int count);

// The vertex of a shape with a tree that is farthest along a direction, and the first face that has
// such a vertex.
rbVec3 rbPolyhedron_FindFarthest(const rbPolyhedron* polyhedron, rbVec3 direction, int* face);

// Does the outline of a face cross or touch itself? O(corners^2).
bool rbPolyhedron_IsFaceCrossing(const rbPolyhedron* polyhedron, int face);

// Volume, center and inertia of a closed mesh of density 1 (mass = volume); the volume may be
// negative. Tetrahedra to the center of the bounding box, sums compensated.
rbMassProperties rbComputeMeshMass(const rbMeshDef* def);

// Validates a mesh for a shape: OK, or INVALID with the message of the report when an issue has one
// of the kinds (a bit mask of 1 << kind). what names the shape.
rbStatus rbCheckMesh(const rbMeshDef* def, unsigned kinds, const char* what, rbMeshReport* report,
                     rbError* error);

// From the triangles of a convex hull, in any order, to canonical polygonal faces.
// points sorted, distinct; triangles oriented consistently either way. tolerance is the distance
// within which points count as coplanar. Vertices inside a merged face or on a straight edge are
// dropped. The result is outward oriented, vertices in the order of the points, loops beginning at
// their smallest index, faces in lexicographic order. False if the triangles are not those of a
// hull.
bool rbMakeHullFaces(const rbVec3* points, int pointCount, rbIndex3* triangles, int triangleCount,
                     double tolerance, rbOwnedMesh* mesh);

// The hit of a ray whose direction is a unit vector at a hull, polyhedron, mesh or soup, without
// its point; t is a length.
bool rbPolyhedron_CastRay(const rbGeometry* geometry, const rbRay* ray, rbRayWish wish,
                          rbRayHit* hit);
