// Oriented boxes about bodies that stand and about all a moving body passes, and whether two of
// them interfere: by separating axes, or by rays from face to face as published.
//
// World frame, meters. Boxes about moving bodies hold the ball about the body's origin, so they
// hold it however it turns.
#ifndef RB_LAB_SWEPT_BOX_H
#define RB_LAB_SWEPT_BOX_H

#include "base/core/random.h"

#include <rattleback/lab_ray_frames.h>

typedef struct rbOrientedBox {
    rbVec3 center;
    rbVec3 axes[3]; // unit, orthogonal, right-handed
    double half[3]; // m, along the axes
    bool isEndless; // of a half space: interferes with everything; the rest is not set
} rbOrientedBox;

// A cube along the world's axes.
rbOrientedBox rbBoxSphere(rbVec3 center, double radius);

// Of the vertices of a polytope: the first axis along its longest edge, the second toward the
// vertex farthest from that line. Not the smallest box. False where all vertices lie on one
// line.
bool rbBoxPolytope(const rbMeshDef* mesh, rbTransform transform, rbOrientedBox* box);

// Of anything that stands: a sphere as above, a box by its own axes, polyhedral shapes as above
// with flat ones given a thickness, others by the axes of their frame.
rbOrientedBox rbBoxGeometry(const rbGeometry* geometry, rbTransform transform);

// Of a ball that goes straight from one point to another; of one that stays a cube.
rbOrientedBox rbBoxLine(rbVec3 from, rbVec3 to, double radius);

// Of a ball that goes along Bezier curves: the first axis from start to end, the second
// toward the point farthest from that line. The extents are those of the cubics, not of samples
// (RX-09).
rbOrientedBox rbBoxCurve(const rbVec3 (*pieces)[4], int pieceCount, double radius);

// What the rays between boxes need. Face 2 i + s looks along axis i, s = 1, or against it.
typedef struct rbBoxRecord {
    rbVec3 corner;         // from which the three edges go
    rbVec3 edges[3];       // m
    rbVec3 corners[8];     // bit i of the index: the edge i is added
    int triangles[12][3];  // corners; 2 f and 2 f + 1 are face f, counter-clockwise from outside
    rbVec3 faceCenters[6]; // midpoint of the diagonal that the two triangles of a face share
    rbVec3 normals[6];     // unit, outward
    rbVec3 center;
} rbBoxRecord;

rbBoxRecord rbMakeBoxRecord(const rbOrientedBox* box);

// Fifteen axes (RX-04): false only if they are apart. Touching interferes.
bool rbBoxesMeet(const rbOrientedBox* a, const rbOrientedBox* b);

// One of the published variants or those that bound the parameter (RX-05); rays of each pair
// of faces. Touching does not interfere.
bool rbBoxesMeetByRays(const rbOrientedBox* a, const rbOrientedBox* b, rbBoxTest test, int rays,
                       rbRandom* random);

#endif
