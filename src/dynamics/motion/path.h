// Prescribed paths of kinematic bodies: their position at any time and bounds on it.
#ifndef RB_MOTION_PATH_H
#define RB_MOTION_PATH_H

#include <rattleback/body.h>

typedef struct rbPath rbPath;

// Point of a cubic Bezier curve at a parameter from 0 to 1.
static inline rbVec3 rbGetBezierPoint(const rbVec3 b[4], double u)
{
    double v = 1.0 - u;
    rbVec3 p = rbScale(v * v * v, b[0]);
    p = rbAddScaled(p, 3.0 * v * v * u, b[1]);
    p = rbAddScaled(p, 3.0 * v * u * u, b[2]);
    return rbAddScaled(p, u * u * u, b[3]);
}

// Prepares a path for a body that starts at the given pose. NULL and an error when it is unusable.
rbPath* rbPath_Create(const rbPathDef* def, rbTransform start, rbError* error);
void rbPath_Destroy(rbPath* path);

// Pose and velocities of the body's origin at a time.
void rbPath_Evaluate(const rbPath* path, double time, rbTransform* pose, rbVec3* velocity,
                     rbVec3* angularVelocity);

// The largest speed (m/s) of the origin at any time.
double rbPath_GetSpeed(const rbPath* path);

// Whether the velocity of the origin is constant from a time on, for *horizon seconds.
bool rbPath_IsSteady(const rbPath* path, double time, double* horizon);

// Length of the path in m; INFINITY for an endless line.
double rbPath_GetLength(const rbPath* path);

// Length traveled at a time, m, within [0, length]; on closed curves it keeps growing.
double rbPath_GetTravel(const rbPath* path, double time);

// A box that contains the body's origin at every time between timeA and timeB.
rbBounds rbPath_GetBounds(const rbPath* path, double timeA, double timeB);

// A bound on the acceleration (m/s^2) of the origin between timeA and timeB while it moves, 0 on a
// line. At a corner no finite acceleration suffices; then it is the one that makes chords shorter
// than twice the tolerance (m, > 0), which are within the tolerance of any path. Starts and ends,
// where the speed jumps, do not count.
double rbPath_GetAcceleration(const rbPath* path, double timeA, double timeB, double tolerance);

// The Bezier points of the pieces of a curve, borrowed; NULL and 0 pieces for a line.
const rbVec3 (*rbPath_GetPieces(const rbPath* path, int* count))[4];

#endif
