// True answers for the convex suite by independent arithmetic: nothing here uses the convex kernel.
//
// The overlap of A and B along a unit normal n (from A to B) is w(n) - n.t, where t is the position
// of B in the frame of A and w depends on the orientations only. The signed distance is minus the
// least overlap over all n. For polytopes only the facets of A - B can attain it: the faces of A,
// the faces of B, and the edge pairs whose arcs on the sphere of normals cross; all are listed. For
// ellipsoids it is found by Newton's method from many starts.
#pragma once

#include "base/core/memory.h"
#include "peers/peer.h"

#include <rattleback/shape.h>

// An edge of a polytope between two faces.
typedef struct rbReferenceEdge {
    int vertex;        // an end of it
    rbVec3 direction;  // normal of the second face x normal of the first, so along the edge
    rbVec3 normals[2]; // of the two faces
} rbReferenceEdge;

// A shape of the suite in all the forms that the engines and the references need.
typedef struct rbBenchShape {
    const char* name;
    rbGeometry* geometry;
    rbPeerShape peer; // points into the arrays below
    RB_ARRAY(rbVec3) points;
    RB_ARRAY(rbVec3) normals; // of the faces, outward, unit
    RB_ARRAY(double) offsets; // of the faces: normal . x = offset
    RB_ARRAY(int) faceSizes;
    RB_ARRAY(int) indices;
    RB_ARRAY(int) neighborStart;
    RB_ARRAY(int) neighbors;
    RB_ARRAY(rbReferenceEdge) edges;
} rbBenchShape;

// Fills faces, edges and the peer's view; points, faceSizes and indices must be set already.
void rbBenchShape_Finish(rbBenchShape* shape);

// Widths of the difference of two copies of a shape, with B rotated relative to A.
typedef struct rbReference {
    const rbBenchShape* shape;
    rbMat3 rotation; // of B in the frame of A
    RB_ARRAY(rbVec3) normals;
    RB_ARRAY(double) widths; // w of each normal
} rbReference;

// Lists the facets; none for ellipsoids. Free with rbReference_Free.
rbReference rbReference_Make(const rbBenchShape* shape, rbQuat rotation);
void rbReference_Free(rbReference* reference);

// w(n) - n.t by support points over all vertices, or the formula for ellipsoids. m
double rbReference_GetOverlap(const rbReference* reference, rbVec3 normal, rbVec3 t);

// Penetration depth: the least overlap over all normals (negative: apart), m.
double rbReference_GetDepth(const rbReference* reference, rbVec3 t);

// The normal of least overlap near a given one; for polytopes the given one itself.
rbVec3 rbReference_Polish(const rbReference* reference, rbVec3 normal, rbVec3 t);
