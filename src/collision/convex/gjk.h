// Distance between two convex cores by the algorithm of Gilbert, Johnson and Keerthi, with bounds.
//
// The search finds the point v of the difference A - B of the cores nearest to the origin. Any v
// formed as a convex combination of its points yields an upper bound |v|, any support plane a lower
// bound; both are kept, widened by the rounding of the arithmetic, and reported. rbGjk_Distance
// ignores radii of rounded shapes: subtract them from both bounds.
//
// G-06 to G-08, G-18 to G-20, G-24, G-31, G-32 of the specification.
#pragma once

#include "collision/convex/convex.h"

typedef struct rbGjkSettings {
    double relativeTolerance; // stop when upper - lower <= this * upper; 1e-12
    double distanceMax;       // m, stop (APART) as soon as lower exceeds it; INFINITY: never
    double distanceMin;       // m, stop (TOUCHES) as soon as upper is below or equal; 0
    int iterationMax;         // supports after the first one; 100
} rbGjkSettings;

static inline rbGjkSettings rbDefaultGjkSettings(void)
{
    return (rbGjkSettings){.relativeTolerance = 1e-12,
                           .distanceMax = INFINITY,
                           .distanceMin = 0.0,
                           .iterationMax = 100};
}

// Data that a query leaves for the next one of the same pair: the last simplex as vertices of
// polytopes or, for smooth cores, as support directions, and the last separating direction. Zero is
// empty. Its content is checked or harmless: points are rebuilt from the current cores, so a stale
// or damaged cache costs time but not correctness.
typedef struct rbGjkCache {
    rbVec3 direction;     // frame of A, from A to B, not unit; zero: none
    rbVec3 directions[4]; // support directions of the points, frame of A; read where a vertex is -1
    int vertexA[4], vertexB[4];
    int count; // points of the simplex, 0 to 4
} rbGjkCache;

typedef struct rbGjkResult {
    double lower;  // m, >= 0; lower <= true distance of the cores <= upper, rounding included
    double upper;  // m
    rbVec3 a;      // on the core of A, frame of A
    rbVec3 b;      // on the core of B, frame of A
    rbVec3 normal; // unit, from A to B; of overlapping cores the last direction searched
    // No direction was found that separates the cores by more than rounding. The simplex, 1 to 4
    // points to start a depth search from, then holds the origin within upper: that is a few units
    // of rounding, up to 1e-8 of the scale in rare cases that ended by ROUNDING.
    bool overlaps;
    int iterations; // supports used
    rbStopReason reason;
    int simplexCount;
    rbCsoPoint simplex[4];
    double weights[4]; // a and b are these convex combinations of the points of the simplex
} rbGjkResult;

// settings NULL: defaults. cache NULL: cold start.
void rbGjk_Solve(const rbCso* cso, const rbGjkSettings* settings, rbGjkCache* cache,
                 rbGjkResult* result);

// The search alone, without checking whether the cache has the answer (gjk_boxes.h); settings !=
// NULL.
void rbGjk_Search(const rbCso* cso, const rbGjkSettings* settings, rbGjkCache* cache,
                  rbGjkResult* result);

// rbGjk_Solve by value; inline, so that the result is not copied.
static inline rbGjkResult rbGjk_Distance(const rbCso* cso, const rbGjkSettings* settings,
                                         rbGjkCache* cache)
{
    rbGjkResult result;
    rbGjk_Solve(cso, settings, cache, &result);
    return result;
}

// Searches again from directions nearby if the result ended by ROUNDING or ITERATIONS with bounds
// wider than 1e-11 of the scale; the best of all is kept. For separate cores. The simplex remains
// that of the first search.
void rbGjk_Tighten(const rbCso* cso, const rbGjkSettings* settings, rbGjkResult* result);

// Are the bodies, radii included, at most margin >= 0 apart? Stops at the first separating plane or
// the first point that proves contact (G-20). Cases undecided because of rounding count as contact.
bool rbGjk_Overlaps(const rbCso* cso, double margin, rbGjkCache* cache);

// Rounding of supports and their heights, relative to the scale: rotation of the direction (5),
// support (2), rotation and shift of its answer (5), product with the direction (3), in units of
// DBL_EPSILON.
#define RB_GJK_ROUNDING (16.0 * DBL_EPSILON)
// Scale over distance below which 1 / |v| of the search yields a unit normal.
#define RB_GJK_NEAR 1e5

// The bounds are widened by this length, and tolerances do not go below it, m.
double rbGjk_GetRounding(const rbCso* cso);

// ------------------------------------------------------------------------------------ simplex

// Point nearest to the origin in the hull of one to four points: the inner problem of GJK (G-19).
// Degenerate simplices (repeated points, points on a line or in a plane) are legal everywhere.

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
