// Point nearest to the origin in the hull of one to four points: the inner problem of GJK (G-19).
//
// Degenerate simplices (repeated points, points on a line or in a plane) are legal everywhere.
#pragma once

#include "collision/convex/convex.h"

// Squared sine below which a triangle counts as a needle whose base must be chosen with care.
#define RB_NEEDLE 1e-2

typedef struct rbNearest {
    // Nearest point. Its direction comes from the normal of the face or the rejection from the
    // edge, not from the weights: it is accurate even where the length is only rounding.
    rbVec3 v;
    rbVec3 axis;          // face: its normal; otherwise v; not unit, sign arbitrary for a face
    double lengthSquared; // |v|^2; 0 inside a tetrahedron
    double weights[4];    // convex combination of the count points, 0 for those not used
    unsigned used;        // bit i: point i carries the nearest point; the others can be dropped
} rbNearest;

// By region tests: each face that the origin is outside of, then each edge of those likewise.
void rbFindNearest(const rbCsoPoint* points, int count, rbNearest* nearest);

// By trial of every vertex, edge and face, compared by the length of the convex combination that
// can be formed in double precision. About four times the cost; for simplices where the region
// tests contradict each other.
void rbFindNearestByTrial(const rbCsoPoint* points, int count, rbNearest* nearest);

// Refines convex weights (not negative, sum 1 up to rounding) by one step over the faces and edges
// they span. Never makes the combination longer.
void rbRefineWeights(const rbCsoPoint* points, int count, double* weights);

// Sum of weights[i] points[i].w.
rbVec3 rbCombine(const rbCsoPoint* points, int count, const double* weights);
