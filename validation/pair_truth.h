// Two bodies and one joint (mechanism_pairs.h) in 113 bits: the motion against which the orders of
// the step engine are measured.
//
// Newton's and Euler's equations with Lagrange's multipliers in accelerations (index 1), integrated
// by extrapolation. Every joint type is stacked from four scalar conditions whose second
// derivatives are written down by hand; nothing of the library takes part. Positions drift by the
// error of the integration, far below what a double resolves.
#pragma once

#include "mechanism_pairs.h"

typedef struct rbPairTruth {
    rbVec3 centers[2];
    rbQuat orientations[2];
} rbPairTruth;

// The poses after a duration. The masses, poses and anchors are those of rbMakePairWorld.
rbPairTruth rbComputePairTruth(const rbPairPlan* plan, double duration);
// A single heavy body on a ball joint at the origin, gravity 9.81 along -z.
rbPairTruth rbComputeTopTruth(const rbMassPlan* top, double duration);
