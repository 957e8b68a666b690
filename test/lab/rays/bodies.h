// Bodies on lines, curves and rotations for the tests of ray prediction.
#pragma once

#include "base/core/random.h"

#include <rattleback/lab_rays.h>

// Motion: a line, and a rotation about the origin of the geometry.
typedef struct rbTestMotion {
    rbVec3 start, velocity;
    rbQuat turned;
    rbVec3 spin; // rad/s, world
} rbTestMotion;

rbRayPoseFn rbTestMotion_GetPose;

rbRayBody rbMakeStanding(const rbGeometry* geometry, rbVec3 place);
rbRayBody rbMakeMoving(const rbGeometry* geometry, const rbTestMotion* motion);

// The pyramid of the published experiments, and a random hull of unit size.
rbGeometry* rbMakePyramid(void);
rbGeometry* rbMakeRandomHull(int points, rbRandom* random);

// Predicts over 0 to duration; creates the emitters from the settings and frees them. One direction
// or both, depending on the settings; at least A casts rays. Fails the test on a status that is not
// OK.
rbRayPrediction rbPredict(rbRayBody a, rbRayBody b, double duration, const rbRaySettings* settings,
                          rbRayCounts* counts);
