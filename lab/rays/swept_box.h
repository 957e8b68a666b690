// Oriented boxes around static bodies and around everything a moving body passes through, and
// whether two of them intersect: by separating axes, or by rays from face to face as published.
//
// World frame, meters. Boxes of moving bodies contain the ball around the body's origin, so they
// contain the body in any orientation.
#pragma once

#include "base/core/random.h"

#include <rattleback/lab_ray_frames.h>

typedef struct rbOrientedBox {
    rbVec3 center;
    rbVec3 axes[3]; // unit, orthogonal, right-handed
    double half[3]; // m, along the axes
    bool isEndless; // of a half space: intersects everything; the rest is not set
} rbOrientedBox;

// A cube along the world axes.
rbOrientedBox rbBoxSphere(rbVec3 center, double radius);

// Box of the vertices of a polytope: the first axis along its longest edge, the second toward the
// vertex farthest from that line. Not the smallest box. False if all vertices are collinear.
bool rbBoxPolytope(const rbMeshDef* mesh, rbTransform transform, rbOrientedBox* box);

// Box of any static body: a sphere as above, a box by its own axes, polyhedral shapes as above,
// with a thickness added to flat ones, others by the axes of their frame.
rbOrientedBox rbBoxGeometry(const rbGeometry* geometry, rbTransform transform);

// Box of a ball that moves straight from one point to another; a cube if it stays.
rbOrientedBox rbBoxLine(rbVec3 from, rbVec3 to, double radius);

// Box of a ball that moves along Bezier curves: the first axis from start to end, the second
// toward the point farthest from that line. The extents are those of the cubics, not of samples
// (RX-09).
rbOrientedBox rbBoxCurve(const rbVec3 (*pieces)[4], int pieceCount, double radius);

// Data for rays between boxes. Face 2 i + s faces along axis i if s = 1, else against it.
typedef struct rbBoxRecord {
    rbVec3 corner;         // from which the three edges start
    rbVec3 edges[3];       // m
    rbVec3 corners[8];     // bit i of the index: the edge i is added
    int triangles[12][3];  // corners; 2 f and 2 f + 1 are face f, counter-clockwise from outside
    rbVec3 faceCenters[6]; // midpoint of the diagonal that the two triangles of a face share
    rbVec3 normals[6];     // unit, outward
    rbVec3 center;
} rbBoxRecord;

rbBoxRecord rbMakeBoxRecord(const rbOrientedBox* box);

// Fifteen axes (RX-04): false only if they are apart. Touching counts as intersection.
bool rbBoxesMeet(const rbOrientedBox* a, const rbOrientedBox* b);

// One of the published variants or of those that bound the parameter (RX-05); rays per pair
// of faces. Touching does not count as intersection.
bool rbBoxesMeetByRays(const rbOrientedBox* a, const rbOrientedBox* b, rbBoxTest test, int rays,
                       rbRandom* random);
