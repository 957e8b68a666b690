// Overlap of two convex bodies by Minkowski portal refinement (Snethen): the fast detector.
//
// The difference D = A - B of the bodies contains the origin if they overlap. A ray runs from an
// interior point of D, the difference of two centers, to the origin; a triangle of points of D
// crossed by the ray (the portal) is moved outward until the origin lies behind it (overlap) or a
// support plane separates it from D (apart). Each step needs one support and no distance problem.
//
// Everything here refers to the BODIES, radii included (GJK and EPA work on cores): the support of
// a rounded difference is that of the cores plus (radiusA + radiusB) times the unit direction.
//
// The final knowledge is reported as bounds of the signed distance of the bodies that always hold:
// any unit vector n gives -h(n) <= signed distance, with h the support function of D; any point of
// D gives an upper bound, any polytope around the origin a negative one.
//
// Weakness, by design: the portal is where the ray leaves D, not where D is nearest to the origin.
// Its normal deviates by more than 1 degree from the true one in two of five random box contacts,
// and the depth is then too large. Use EPA for contact data.
//
// G-33, G-34, E-11, E-19 and X-12 of the specification.
#pragma once

#include "collision/convex/convex.h"

typedef struct rbMprSettings {
    double
        relativeTolerance; // of the depth, for the penetration queries: support plane less portal
    int iterationMax;      // supports in all, >= 1
} rbMprSettings;

// Tolerance 1e-6, 100 supports.
rbMprSettings rbDefaultMprSettings(void);

typedef struct rbMprResult {
    bool overlaps;   // no plane separates the bodies by more than rounding
    bool isFallback; // the portal was degenerate (flat difference, sliver): GJK gave the answer
    double lower;    // m; lower <= signed distance of the bodies <= upper
    double upper;    // m
    double distance; // m, signed, along the normal: -h(normal); between the bounds
    double travel;   // m, penetration queries: moving B by this along the ray separates the bodies
    rbVec3 normal;   // unit, from A to B: separating plane, portal, or last direction searched
    // Points of the bodies, frame of A. Apart: |a - b| <= upper. Overlap found: the same point
    // within rounding. Penetration queries: a - b is where the ray leaves the difference.
    rbVec3 a;
    rbVec3 b;
    int iterations;      // supports used, those of GJK included
    rbStopReason reason; // APART, TOUCHES (detection), CONVERGED, ROUNDING, ITERATIONS (undecided
                         // counts as overlap; the bounds hold)
} rbMprResult;

// Do the bodies overlap? The fastest query: no bounds, no points.
bool rbMpr_Overlaps(const rbCso* cso);

// Do the bodies overlap, with proof? Stops as soon as this is certain. settings NULL: the defaults.
rbMprResult rbMpr_Detect(const rbCso* cso, const rbMprSettings* settings);

// Continues until the portal lies on the surface of D: gives its normal, and the depth along it, an
// upper estimate.
rbMprResult rbMpr_Penetration(const rbCso* cso, const rbMprSettings* settings);

// How far must B move along a direction (frame of A, any length; a relative velocity) until the
// bodies separate, and which plane separates them then? travel is that distance, a and b are the
// last points in contact, a - b is along the direction. Bodies that touch within rounding have
// travel 0. A zero direction gives rbMpr_Penetration.
rbMprResult rbMpr_PenetrationAlong(const rbCso* cso, rbVec3 direction,
                                   const rbMprSettings* settings);

// The result as a separation. pointB - pointA = distance * normal; both are symmetric about the
// midpoint of a and b, hence on the surfaces only if the normal is the true one.
rbSeparation rbMpr_Separation(const rbMprResult* result);

// A point inside the core in the frame of the shape: the start of a search.
rbVec3 rbMpr_GetCenter(const rbConvex* convex);
