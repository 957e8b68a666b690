// The parts of rbSweepShapes: triangles that move along a line against triangles at rest.
//
// Everything is in the frame of B, which is at rest; A is translated by the step. Every contact
// found is a true one, so the first contact is the minimum over all features, and examining
// features twice does no harm.
#pragma once

#include "collision/geometry/polyhedron.h"

#include <rattleback/collision.h>

// Contacts of equal fraction, best first: a face determines the normal, a pair of edges only
// suggests one.
typedef enum rbContactRank {
    RB_RANK_FACE_B,
    RB_RANK_FACE_A,
    RB_RANK_EDGES,
    RB_RANK_NONE,
} rbContactRank;

// A sweep in progress.
typedef struct rbSweepSearch {
    rbVec3 step;    // m, of A
    rbVec3 inverse; // 1 / step, by component; infinite where it is 0
    double length;  // m, of the step, > 0
    double slack;   // m, rounding error of coordinates; boxes are enlarged by it
    double touch;   // m, heights down to minus this count as touching at the start
    double limit;   // the least fraction so far, beyond which contacts do not count
    rbVec3 hint; // unit, outward of B: the normal of the best contact, against the step at first.
    double closing; // m, by which the step closes the gap along the hint, > 0; 0: not usable
    int hintCount;  // number of changes
    bool isSwapped; // faces of A count as those of B: they determine the normal
    bool isHit;
    rbContactRank rank;
    rbVec3 point;  // m, at contact
    rbVec3 normal; // unit, outward of B
} rbSweepSearch;

struct rbConvex;

// Records a contact at a fraction, if it is the first so far; normal need not be a unit vector.
typedef struct rbSweepOffer {
    double fraction;
    rbContactRank rank;
    rbVec3 point;
    rbVec3 normal;
} rbSweepOffer;

void rbSweepSearch_Offer(rbSweepSearch* search, const rbSweepOffer* offer);

// A moving box against one at rest: the fraction of the step at which they begin to overlap,
// INFINITY if they do not up to the limit. offset: from the center of the moving box to that of the
// one at rest; halfSize: the sum of both.
double rbSweepSearch_EnterBox(const rbSweepSearch* search, rbVec3 offset, rbVec3 halfSize);

// The least fraction at which a moving set no lower than low along the hint can reach a set no
// higher than high; INFINITY beyond the limit.
double rbSweepSearch_EnterAlong(const rbSweepSearch* search, double low, double high);

// Sets another direction for the hint: the normal of a contact, or of bodies about to touch.
void rbSweepSearch_SetHint(rbSweepSearch* search, rbVec3 normal);

// X-03 for a triangle of A and one of B.
void rbSweepTriangles(rbSweepSearch* search, const rbVec3 a[3], const rbVec3 b[3]);

// X-02 for a sphere of A and a triangle of B.
void rbSweepBallTriangle(rbSweepSearch* search, rbVec3 center, double radius, const rbVec3 b[3]);

// The composition of a body: a tree of triangles or, for boxes and hulls, a list of them.
typedef struct rbSweepSide {
    const rbBoxTree* tree; // or NULL
    const rbVec3* vertices;
    const rbIndex3* triangles;
    int vertexCount;
    int count;         // of triangles
    rbVec3 corners[8]; // of a box
} rbSweepSide;

// False for shapes that are not made of triangles.
bool rbSweepSide_Init(rbSweepSide* side, const rbGeometry* geometry);

// Tests all triangles of A, given in its frame, which poseA maps to that of B, against all of B. If
// only one has a tree, it must be B.
void rbSweepSides(rbSweepSearch* search, const rbSweepSide* a, rbTransform poseA,
                  const rbSweepSide* b);

// Sweeps a convex body of A, at a pose, by Newton's method on its distance to every triangle near
// its path, each to a gap of the tolerance (m). b has a tree.
void rbSweepConvex(rbSweepSearch* search, const struct rbConvex* convex, rbTransform poseA,
                   double tolerance, const rbSweepSide* b);
void rbSweepBall(rbSweepSearch* search, rbVec3 center, double radius, const rbSweepSide* b);
