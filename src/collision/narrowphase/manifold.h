// Contact manifolds: the points of two touching convex bodies that matter, with stable names.
//
// All points share the normal of the separation; each is a pair pointB - pointA = distance *
// normal, in the frame of A. Face on face, edge on face and parallel edges give several points by
// projection along the normal and clipping (B-60, B-61), everything else the witnesses.
#ifndef RB_NARROWPHASE_MANIFOLD_H
#define RB_NARROWPHASE_MANIFOLD_H

#include <rattleback/collision.h>

// Points with distance <= threshold, at most four: the deepest, the one farthest from it, the two
// that span the largest area with them. Empty if the separation itself is above the threshold.
// Shapes: sphere, box, capsule, cylinder, cone, ellipsoid, hull, plane (one of the two), polyhedron
// (the face at the witness; non-convex faces give the witness only).
void rbBuildManifold(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                     const rbSeparation* separation, double threshold, rbManifold* manifold);

#endif
