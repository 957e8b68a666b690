// Pairs of convex shapes whose signed distance is known by construction.
//
// Take a unit vector n, a point a of A farthest along n, a point b of B farthest along -n, and put
// B where b = a + d n. For d >= 0 the planes through a and b separate the shapes, so the distance
// is d exactly. The same holds for overlap as long as it is shallower than the roundness of the
// shapes: a body all of whose radii of curvature are at least rho is a core with a ball of radius
// rho swept around it, and the construction is done with the cores (sphere and capsule: their
// radius; ellipsoid: a3^2 / a1, Blaschke's rolling ball).
//
// The pose is rounded to double before the truth is computed: everything is computed in rbWide (113
// bits on aarch64, 64 on x86) from the rounded pose, and the remaining uncertainty is returned as a
// bracket, some 1e-17 of the size wide. Deeper overlap is known exactly for polytopes (all
// separating axes), spheres and capsules, spheres in cylinders and cones, parallel cylinders, and
// planes; for the rest bounds are known: from below any direction, from above the inscribed balls.
#pragma once

#include "base/core/random.h"
#include "rb_wide.h"

#include <rattleback/shape.h>

typedef struct TruthVec {
    rbWide x, y, z;
} TruthVec;

// A normal of a shape and a tangent there, unit vectors in the frame of the shape.
typedef struct TruthFrame {
    TruthVec normal, tangent;
} TruthFrame;

typedef enum TruthFeature {
    TRUTH_VERTEX, // normal inside the cone of a vertex, an apex or a rim
    TRUTH_EDGE,   // tangent along an edge or a line of the side, normal between its faces
    TRUTH_FACE,   // normal of a face, tangent along one of its edges
    TRUTH_FEATURE_COUNT
} TruthFeature;

// A placed pair. Parts are the children of compounds, or the shape itself.
typedef struct TruthPair {
    const rbGeometry* a;
    const rbGeometry* b; // may be a plane
    rbTransform transformBtoA;
    bool isPlaced; // placePair sets the following
    TruthVec normal;
    int partA, partB;
    TruthVec coreA, coreB; // the chosen points of the cores, in the frames of the parts
} TruthPair;

// lower <= signed distance <= upper, m
typedef struct TruthBounds {
    rbWide lower, upper;
} TruthBounds;

// A random feature; shapes without this kind return some normal. For compounds that of a part.
TruthFrame pickFeature(rbRandom* random, const rbGeometry* geometry, TruthFeature feature);

// The rotation, rounded to double, that aligns the features: normal of B to the opposite of that of
// A, tangent to tangent.
rbQuat alignFeatures(TruthFrame a, TruthFrame b);

// Places B at the orientation q and the signed distance d along the direction n (frame of A, need
// not be a unit vector; for planes the one that belongs to q is used). Where a feature is farthest,
// a random point of it is used.
void placePair(rbRandom* random, TruthPair* pair, rbQuat q, TruthVec n, double d);

// The known bounds of the signed distance at the current pose.
TruthBounds boundTruth(const TruthPair* pair);

// Gap along a direction (frame of A) of the parts named: a lower bound of their signed distance.
rbWide gapOfParts(const TruthPair* pair, int partA, int partB, rbVec3 direction);

int countParts(const rbGeometry* geometry);
