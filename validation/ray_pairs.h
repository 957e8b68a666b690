// Random pairs on straight paths, for the comparison of rays with exact sweeps.
//
// A pool of shapes about 1 m across: spheres to hulls, and non-convex ones (bumpy stars, rings,
// angles, compounds). A pair uses two of them at random orientations, separates them along a random
// direction and moves A toward B past its center, so that about half of the pairs touch.
#pragma once

#include "ray_metrics.h"

#include <stdint.h>

#define RB_RAY_CONVEX_COUNT 28
#define RB_RAY_ROUGH_COUNT 14
#define RB_RAY_SHAPE_COUNT (RB_RAY_CONVEX_COUNT + RB_RAY_ROUGH_COUNT)

typedef struct rbRayShapes {
    rbGeometry* shapes[RB_RAY_SHAPE_COUNT]; // convex ones first
    rbError error;                          // the first rejection
} rbRayShapes;

rbRayShapes rbMakeRayShapes(uint64_t seed);
void rbFreeRayShapes(rbRayShapes* shapes);

typedef enum rbRayPairKind {
    RB_RAY_CONVEX_PAIR,
    RB_RAY_MIXED_PAIR,
    RB_RAY_ROUGH_PAIR,
    RB_RAY_PAIR_KIND_COUNT
} rbRayPairKind;

extern const char* const rbRayPairKindNames[RB_RAY_PAIR_KIND_COUNT];

typedef struct rbRandomPair {
    rbStraightPair pair; // without emitters
    int shapes[2];       // indices of the pool
    rbRayPairKind kind;
} rbRandomPair;

// The pair of a number: the same for the same pool, independent of earlier draws. The start may
// overlap: see isInside of the exact sweep.
rbRandomPair rbDrawRayPair(const rbRayShapes* shapes, uint64_t number);
