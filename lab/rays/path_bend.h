// Length and bend of prescribed paths.
#pragma once

#include "dynamics/motion/path.h"

// Length of the path in m; INFINITY for an endless line.
double rbPath_GetLength(const rbPath* path);

// A bound on the acceleration (m/s^2) of the origin between timeA and timeB while it moves, 0 on a
// line. At a corner no finite acceleration suffices; then it is the one that makes chords shorter
// than twice the tolerance (m, > 0), which are within the tolerance of any path. Starts and ends,
// where the speed jumps, do not count.
double rbPath_GetAcceleration(const rbPath* path, double timeA, double timeB, double tolerance);

// The Bezier points of the pieces of a curve, borrowed; NULL and 0 pieces for a line.
const rbVec3 (*rbPath_GetPieces(const rbPath* path, int* count))[4];
