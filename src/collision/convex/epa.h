// Penetration depth of two overlapping cores: the expanding polytope algorithm (van den Bergen,
// with the corrections of Leemann) between certified bounds.
//
// With D = A - B and its support function h(u) = max { z . u : z in D } the signed depth of the
// cores is the minimum of h over unit vectors u. For the n that attains it, moving B by depth * n
// (or A by -depth * n) separates the cores: n points from A to B. In the result a - b = depth * n.
//
// Bounds. Any unit n yields depth <= h(n). The lower bound is either a closed triangulated surface
// of points of D with the origin on the inner side of every face (it contains the ball of its
// smallest face distance, whether or not it is convex, so rounding of the hull cannot invalidate
// this bound) or the rolling ball of a smooth summand. Both are widened by 16
// roundings of cso->scale.
#pragma once

#include "collision/convex/epa_polytope.h"

typedef struct rbEpaSettings {
    double relativeTolerance; // stop when upper - lower <= tolerance * lower; >= 0
    int iterationMax;         // polytope expansions, >= 1
    int pointLimit;           // points used of the scratch memory, 4 .. RB_EPA_POINTS
    int faceLimit;            // 4 .. RB_EPA_FACES
    bool enableSphereCap;     // propose the foot point of the sphere through face and support point
    bool enableNewton;        // smooth cores: Newton's method and its certificate; off: plain EPA
} rbEpaSettings;

// Tolerance 1e-10, all of the scratch memory, sphere caps and Newton on.
rbEpaSettings rbDefaultEpaSettings(void);

typedef struct rbEpaResult {
    double depth;  // h(normal): moving B this far along the normal separates it from A. Negative if
                   // separate
    double lower;  // lower <= true depth of the cores <= upper
    double upper;  // depth plus rounding
    rbVec3 normal; // unit, from A to B, frame of A
    rbVec3 a;      // on the core of A; a - b = depth * normal within upper - lower
    rbVec3 b;      // on the core of B, frame of A
    int iterations;
    int supports;        // calls to the support function
    rbStopReason reason; // CONVERGED, ROUNDING (both as good as possible), ITERATIONS, STORAGE
                         // (best so far, bounds hold), APART (normal is a separating direction)
} rbEpaResult;

// Four points of the difference around the exit direction suggested by the line of the origins, as
// a start without GJK. False unless the cores are plain polytopes that overlap deeply along that
// line; then it is likely, but not proven, that they overlap at all.
bool rbEpa_GuessStart(const rbCso* cso, rbCsoPoint start[4]);

// Depth of cores that overlap or touch. start holds 0 to 4 points of the difference in any position
// (a simplex of GJK, duplicates allowed); the search finds the missing points. The scratch memory
// needs no initialization and may be reused; nothing is allocated. A flat cso (segments, points,
// discs) has depth 0 along its normal.
rbEpaResult rbEpa_Depth(const rbCso* cso, const rbCsoPoint* start, int startCount,
                        const rbEpaSettings* settings, rbEpaScratch* scratch);

// Signed distance of the rounded bodies, exact from that of the cores: -depth - radiusA - radiusB.
// Points lie on the rounded surfaces. distance is -depth - radii, the value for the normal, exact
// to second order in its error; it lies between lower and upper.
rbSeparation rbEpa_Separation(const rbCso* cso, const rbEpaResult* result);
