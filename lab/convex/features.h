// Closest features of two convex polytopes by walking from neighbor to neighbor (after V-Clip).
//
// A feature is a vertex, an edge or a face. The walk keeps one of each body and moves to a neighbor
// as long as that brings the pair closer; the final pair is the cache for the next query, which
// after a small motion ends in a step or two. Bodies: box, hull, and, as bodies of one vertex or
// one edge, the center of a sphere and the axis of a capsule, whose radii are subtracted at the
// end.
//
// The answer does not depend on the walk: the upper bound is the distance of two points of the
// cores, the lower bound the gap between two support planes, so a walk misled by rounding only
// makes the bounds wider. In overlap the depth is along one face normal and not the minimum (EPA
// finds that).
//
// B-57, B-59, B-62 of the specification.
#pragma once

#include "collision/geometry/polyhedron.h"

#include <rattleback/collision.h>

typedef enum rbFeatureKind {
    RB_FEATURE_NONE, // in a cache: start cold
    RB_FEATURE_VERTEX,
    RB_FEATURE_EDGE,
    RB_FEATURE_FACE
} rbFeatureKind;

// The cache of a pair. Zero is empty; anything else is checked, so that a stale or damaged cache
// costs time but not correctness.
typedef struct rbFeaturePair {
    int kindA, indexA; // rbFeatureKind; index in the tables of the body
    int kindB, indexB;
} rbFeaturePair;

#define RB_FEATURE_STORAGE 8

// A core with its connectivity, in the same tables for all shapes. Points into itself or into the
// geometry: do not copy it, and keep the geometry alive.
typedef struct rbFeatureBody {
    const rbVec3* vertices;
    const rbVec3* normals; // per face, unit, outward
    const double* offsets;
    const rbEdge* edges; // faces -1 where there are none (capsule)
    const int* vertexEdgeStarts;
    const int* vertexEdges;
    const int* faceStarts;   // into faceVertices and faceEdges
    const int* faceVertices; // loops, counter-clockwise from outside
    const int* faceEdges;
    int vertexCount, edgeCount, faceCount;
    const rbSupportTable* supports;     // of hulls, otherwise NULL
    rbVec3 center;                      // m, of the bounds of the core
    double size;                        // m, largest distance of a vertex from the origin
    double radius;                      // m, of the ball swept around the core
    rbVec3 corners[RB_FEATURE_STORAGE]; // storage of boxes, capsules and spheres
    double boxOffsets[6];
} rbFeatureBody;

typedef struct rbFeatureResult {
    // Apart: the features that contain the witness points. In overlap usually the face of the
    // normal and the vertex deepest below it. Not the same as the cache.
    rbFeaturePair features;
    bool overlaps; // the cores have a common point; touching counts
    // m, of the cores. Apart: that of a and b. In overlap minus the depth along the normal: moving
    // B by it along the normal separates the cores, but a shorter translation may exist.
    double distance;
    double lower;  // m; lower <= true signed distance of the cores <= upper, rounding included
    double upper;  // m
    rbVec3 a;      // on the core of A, frame of A; in overlap on the support plane along the normal
    rbVec3 b;      // on the core of B, frame of A; b - a = distance * normal
    rbVec3 normal; // unit, from A to B
    int steps;     // pairs of features visited
    // CONVERGED: bounds as tight as rounding allows; TOUCHES: overlap; ROUNDING: the walk ended in
    // a pair, or a cycle of pairs, that rounding cannot distinguish, bounds are wider; ITERATIONS:
    // step limit, bounds hold but may be wide
    rbStopReason reason;
} rbFeatureResult;

// Sphere, box, capsule or hull?
bool rbFeatures_Accepts(const rbGeometry* geometry);

// Makes the body of an accepted geometry, in place. O(1).
void rbFeatureBody_Make(const rbGeometry* geometry, rbFeatureBody* body);

// Vertex farthest along a nonzero direction. start is where the search begins for hulls with many
// vertices.
int rbFeatureBody_Support(const rbFeatureBody* body, rbVec3 direction, int start);

// Walks to the closest features of the cores. cache may be NULL. Allocates nothing.
rbFeatureResult rbFeatures_Walk(const rbFeatureBody* a, const rbFeatureBody* b,
                                rbTransform transformBtoA, rbFeaturePair* cache);

// The result for the bodies including their radii.
rbSeparation rbFeatureResult_GetSeparation(const rbFeatureResult* result, double radiusA,
                                           double radiusB);

// The whole query for accepted geometries.
rbSeparation rbFeatures_Separation(const rbGeometry* a, const rbGeometry* b,
                                   rbTransform transformBtoA, rbFeaturePair* cache);
