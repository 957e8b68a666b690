// Worlds for the cases with one free body each.
#pragma once

#include <rattleback/world.h>

// Settings of a motion row; fields that the row does not use are ignored.
rbMotionSettings rbMakeMotion(rbMotionType type, double step, int degree, double tolerance);

// A body without forces at the origin, of mass 1, with principal moments along its axes, rotating
// with the given body-frame spin.
rbWorld* rbMakeTop(rbVec3 moments, rbVec3 spin, rbMotionSettings motion, rbBodyId* bodyId);

// The tumbling box of truth.md: 10 kg, 0.1 x 0.4 x 0.9 m, thrown.
rbWorld* rbMakeTumblingBox(rbMotionSettings motion, rbBodyId* bodyId);

// Distance of two unit quaternions, q and -q being the same.
double rbCompareOrientations(rbQuat a, rbQuat b);
// The same for vectors, relative to the length of b.
double rbCompareVectors(rbVec3 a, rbVec3 b);
