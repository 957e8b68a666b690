// Contact manifolds from the closest features of two polytopes (B-60).
//
// One face of each body is chosen: the closest feature if it is a face, otherwise of the faces next
// to it the pair that is most nearly antiparallel. Of all pairs of elements of the two faces those
// give a point that lie over each other, seen along the common normal: corners over a face, corners
// over an edge, edges across edges. Spheres and capsules take part as a point and a segment.
//
// The same contact regions as by clipping (manifold.h, B-61), found without building polygons;
// worth it where a feature walk has been done anyway.
#ifndef RB_NARROWPHASE_FEATURE_MANIFOLD_H
#define RB_NARROWPHASE_FEATURE_MANIFOLD_H

#include "collision/narrowphase/manifold.h"
#include "lab/convex/features.h"

#include <stdint.h>

// Two faces of 32 corners: all of them and as many crossings as two such polygons can have.
#define RB_FEATURE_CONTACTS_MAX 128

// All corners of the contact region.
typedef struct rbFeatureContacts {
    int count;
    rbVec3 normal; // unit, from A to B
    rbManifoldPoint points[RB_FEATURE_CONTACTS_MAX];
} rbFeatureContacts;

// Every point with a distance, radii included, of at most the threshold. walk is the answer of
// rbFeatures_Walk for these bodies and this pose. Empty if its distance is above the threshold; the
// witness where the faces show nothing as near. Faces of more than 32 corners are thinned out
// evenly.
void rbCollectFeatureContacts(const rbFeatureBody* a, const rbFeatureBody* b,
                              rbTransform transformBtoA, const rbFeatureResult* walk,
                              double threshold, rbFeatureContacts* contacts);

// The four that matter: the deepest, the one farthest from it, the two that span the largest area
// with them. Ids as those of rbBuildManifold.
void rbBuildFeatureManifold(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                            const rbFeatureResult* walk, double threshold, rbManifold* manifold);

#endif
