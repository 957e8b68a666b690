// Contact manifolds from the closest features of two polytopes (B-60).
//
// One face of each body is chosen: the closest feature if it is a face, otherwise the most nearly
// antiparallel pair of the adjacent faces. Those pairs of elements of the two faces that overlap
// along the common normal give a point: corners over a face, corners over an edge, crossing edges.
// Spheres and capsules count as a point and a segment.
//
// Gives the same contact regions as clipping (manifold.h, B-61), without building polygons; useful
// if a feature walk has been done anyway.
#pragma once

#include "collision/narrowphase/manifold.h"
#include "lab/convex/features.h"

#include <stdint.h>

// For two faces of 32 corners: all corners and as many crossings as two such polygons can have.
#define RB_FEATURE_CONTACTS_MAX 128

// All corners of the contact region.
typedef struct rbFeatureContacts {
    int count;
    rbVec3 normal; // unit, from A to B
    rbManifoldPoint points[RB_FEATURE_CONTACTS_MAX];
} rbFeatureContacts;

// Collects every point whose distance, radii included, is at most the threshold. walk is the result
// of rbFeatures_Walk for these bodies and this pose. Empty if its distance is above the threshold;
// only the witness if the faces have no point as near. Faces of more than 32 corners are thinned
// out evenly.
void rbCollectFeatureContacts(const rbFeatureBody* a, const rbFeatureBody* b,
                              rbTransform transformBtoA, const rbFeatureResult* walk,
                              double threshold, rbFeatureContacts* contacts);

// The four most relevant points: the deepest, the one farthest from it, and the two that span the
// largest area with them. Ids as in rbBuildManifold.
void rbBuildFeatureManifold(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                            const rbFeatureResult* walk, double threshold, rbManifold* manifold);
