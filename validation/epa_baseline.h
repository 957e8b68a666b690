// An expanding polytope algorithm with the weaknesses of libccd, each of which can be repaired
// separately (G-38). It exists for comparison; written for clarity, O(faces) per step.
#pragma once

#include "collision/convex/convex.h"

// Each switch enables libccd's behavior; off is the correct one.
typedef struct rbBaselineSettings {
    // Ends when w . v - v . v < 1e-4 instead of relative to v . v (G-24). v is the nearest point of
    // the polytope, w the support point beyond it.
    bool enableAbsoluteEnd;
    // The contact point is the mean of the half of all vertices nearest to the origin instead of
    // the barycentric image of the nearest point (G-29).
    bool enableMeanPoint;
    // Nearest points of triangles by Cramer's rule with comparisons by DBL_EPSILON, searched along
    // v, instead of planes, searched along their normals (G-21, G-32).
    bool enableBareEquality;
    // A face is split in three, an edge with its two faces in four, instead of everything that sees
    // the new point (G-23).
    bool enableSplit;
} rbBaselineSettings;

typedef struct rbBaselineResult {
    bool isContact;
    bool isExhausted; // memory or iterations ended the search
    double depth;     // m
    rbVec3 normal;    // from A to B, frame of A; zero if there is none
    rbVec3 point;     // frame of A
    int iterations;
} rbBaselineResult;

// Depth of two bodies, radii included.
rbBaselineResult rbRunBaseline(const rbCso* cso, const rbBaselineSettings* settings);
