// The walk from one pair of features to the next; shared by features.c and feature_walk.c.
#pragma once

#include "lab/convex/features.h"

// Limit of the specification; 30 steps are a long walk. Random pairs never come close to it.
#define RB_WALK_STEPS_MAX 5000

typedef struct rbFeature {
    int kind; // rbFeatureKind
    int index;
} rbFeature;

// Closest points of two closed features that are vertices or edges, frame of A.
typedef struct rbFeatureNearest {
    rbVec3 points[2];
    rbVec3 edges[2];     // from end to end, zero for a vertex
    rbFeature active[2]; // the feature that contains each point: an edge or one of its ends
    rbVec3 d;            // from the first point to the second, sharpened
} rbFeatureNearest;

typedef struct rbFeatureWalk {
    const rbFeatureBody* bodies[2];
    rbMat3 rotation;    // of B in the frame of A
    rbVec3 translation; // of B in the frame of A
    double scale;       // m, scale of rounding errors
    double rounding;    // m
    rbFeature features[2];
    rbFeatureNearest nearest; // of the last pair of vertices or edges
    int faceOwner;            // in overlap: the body whose face was reached last
    int face;                 // -1: none, the features coincide
} rbFeatureWalk;

typedef enum rbWalkVerdict {
    RB_WALK_GO_ON,
    RB_WALK_NEAREST,
    RB_WALK_OVERLAP,
    RB_WALK_CIRCLE,
    RB_WALK_LIMIT
} rbWalkVerdict;

// A point of the other body in the frame of body i.
static inline rbVec3 rbBringTo(const rbFeatureWalk* w, int i, rbVec3 p)
{
    return i == 0 ? rbAdd(rbMulMV(w->rotation, p), w->translation)
                  : rbMulMtV(w->rotation, rbSub(p, w->translation));
}

static inline rbVec3 rbTurnTo(const rbFeatureWalk* w, int i, rbVec3 direction)
{
    return i == 0 ? rbMulMV(w->rotation, direction) : rbMulMtV(w->rotation, direction);
}

bool rbIsSamePair(const rbFeature a[2], const rbFeature b[2]);

// Measures two features that are vertices or edges.
void rbMeasureFeatures(rbFeatureWalk* w);

// One step.
rbWalkVerdict rbStepFeatures(rbFeatureWalk* w);

// Steps until there is a result; adds to the step count.
rbWalkVerdict rbRunFeatureWalk(rbFeatureWalk* w, int* steps);
