// Closed forms for pairs of shapes: signed distance, witness points and normal without iteration
// (except for the root of the ellipsoid), exact to rounding in every relative position.
//
// The functions expect the two shapes in the order of rbShapeType, except that the plane comes
// last. lower and upper enclose the
// distance by RB_COLLIDE_SLACK times the scale of the pair (sizes of both shapes and distance of
// their origins): a bound on the rounding of pose and result. Where the direction of least depth is
// not unique (coincident centers) one of them is chosen; the same input yields the same result.
#pragma once

#include <rattleback/collision.h>

// Half width of [lower, upper] over the scale of the pair: 64 units of rounding, never exceeded in
// the random tests; it allows for poses whose quaternion has unit length only to rounding.
#define RB_COLLIDE_SLACK 0x1p-46

// transformBtoA.q is a unit quaternion.
typedef rbSeparation rbCollideFn(const rbGeometry* a, const rbGeometry* b,
                                 rbTransform transformBtoA);

rbCollideFn rbCollideSphereSphere;
rbCollideFn rbCollideSphereSolid; // box, capsule, cylinder, cone, ellipsoid
rbCollideFn rbCollideBoxBox, rbCollideBoxCapsule;
rbCollideFn rbCollideCapsuleCapsule;

// Two boxes whose distance a separating axis attains. False for others: GJK is faster for those.
bool rbCollideBoxesByAxes(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                          rbSeparation* separation);

// Two ellipsoids by Newton's method from a nonzero direction. False, and nothing is written, where
// the result cannot be proven this way: deeper than the balls that roll inside them, or extreme
// shapes.
bool rbCollideEllipsoids(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                         rbVec3 start, rbSeparation* separation);

// A bounded convex shape (sphere to hull) and a plane, by one support point.
rbCollideFn rbCollideConvexPlane;

// The result for (b, a) from that for (a, b): in the frame of B, normal from B to A.
rbSeparation rbFlipSeparation(const rbSeparation* separation, rbTransform transformBtoA);

// A result of a closed form. pointB is computed from the other three.
rbSeparation rbMakeClosedForm(double distance, rbVec3 normal, rbVec3 pointA, double scale);

// Length of a vector and its direction, also for lengths whose square underflows; the fallback, a
// unit vector, for the zero vector.
double rbSplitLength(rbVec3 v, rbVec3 fallback, rbVec3* direction);
