// Contact manifolds: the relevant points of two touching convex bodies, with stable ids.
//
// All points share the normal of the separation; each is a pair pointB - pointA = distance *
// normal, in the frame of A. Face on face, edge on face and parallel edges yield several points by
// projection along the normal and clipping (B-60, B-61), all other cases the witnesses.
#pragma once

#include "collision/geometry/shape_ops.h"

#include <rattleback/collision.h>

// Points with distance <= threshold, at most four: the deepest, the one farthest from it, the two
// that span the largest area with them. Empty if the separation itself is above the threshold.
// Shapes: sphere, box, capsule, cylinder, cone, ellipsoid, hull, plane (one of the two), polyhedron
// (the face at the witness; for non-convex faces only the witness).
void rbBuildManifold(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                     const rbSeparation* measured, double threshold, rbManifold* manifold);

// Maximum number of points of two features.
#define RB_FEATURE_POINTS_MAX (2 * RB_FEATURE_CORNERS_MAX + 5)

typedef struct rbFeaturePoints {
    int count;
    rbManifoldPoint points[RB_FEATURE_POINTS_MAX];
} rbFeaturePoints;

// The points that two features share, in one frame, along the normal of the separation, at any
// distance; none if the witnesses must be used.
void rbMeetFeatures(const rbContactFeature features[2], const rbSeparation* separation,
                    rbFeaturePoints* candidates);

// Appends the corners of the region that a reference polygon (features[side]), nearly perpendicular
// to the normal from A to B, shares with the other feature.
void rbClipFeatures(const rbContactFeature features[2], int side, rbVec3 normal,
                    rbFeaturePoints* candidates);

// The features that meet in a point of a manifold.
typedef enum rbMeeting {
    RB_MEETING_VERTEX_A = 1, // a vertex of A over a face or edge of B
    RB_MEETING_VERTEX_B = 2,
    RB_MEETING_CROSSING = 3 // an edge across an edge
} rbMeeting;

// The id of a point from the indices of its features.
uint32_t rbMakeFeatureId(rbMeeting meeting, int i, int j);
// The same with A and B exchanged, for the vertices: crossings keep their id.
uint32_t rbFlipFeatureId(uint32_t id);

// Moves the relevant points from candidates, which are consumed, to the manifold, whose normal is
// set; size is that of their region. The first of equals wins unless another one is better by more
// than rounding, so that a tiny motion does not switch the choice back and forth.
void rbReducePoints(rbManifoldPoint* candidates, int count, double size, rbManifold* manifold);

// Keeps the relevant points of a region, the corners of a flat one or the ends of a line: in the
// manifold, whose normal is set, and at the front of the points. Returns their number. Lengths
// below 1e-6 of the region, or of sizeMin if that is larger, count as zero.
int rbReduceRegion(rbManifoldPoint* points, int count, double sizeMin, rbManifold* manifold);

// The feature of B, in the frame of A, that faces A against a normal from A to B, at a point of its
// surface where that matters (polyhedra).
void rbFindFeatureOfB(const rbGeometry* b, rbTransform transformBtoA, rbVec3 normal, rbVec3 point,
                      rbContactFeature* feature);

// Appends a manifold, if there is room for it.
static inline void rbContactList_Add(rbContactList* list, const rbManifold* manifold)
{
    if (list->count < list->capacity) {
        list->manifolds[list->count] = *manifold;
    }
    ++list->count;
}

// Moves the points outward to the surfaces rounded by radii.
void rbRoundManifold(rbManifold* manifold, double radiusA, double radiusB);
