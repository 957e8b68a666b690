// Prescribed paths of kinematic bodies: their position at any time and bounds on it.
#pragma once

#include "base/core/status.h"
#include "dynamics/motion/flight.h"

// Spans of a piece; five Gauss points over 1/32 of a cubic yield lengths to about 1e-13.
#define RB_PATH_SPANS 32

typedef struct rbPath {
    rbPathType type;
    double speed; // m/s, the largest of the origin at any time
    double startTime;
    double length;
    bool isClosed;
    rbTransform start;
    rbVec3 direction;
    rbVec3 angularVelocity;
    int pieceCount;
    rbVec3 (*pieces)[4]; // Bezier points
    double* lengths;     // at the RB_PATH_SPANS ends of every piece, cumulative; [0] = 0
} rbPath;

// Point of a cubic Bezier curve at a parameter from 0 to 1.
static inline rbVec3 rbGetBezierPoint(const rbVec3 b[4], double u)
{
    double v = 1.0 - u;
    rbVec3 p = rbScale(v * v * v, b[0]);
    p = rbAddScaled(p, 3.0 * v * v * u, b[1]);
    p = rbAddScaled(p, 3.0 * v * u * u, b[2]);
    return rbAddScaled(p, u * u * u, b[3]);
}

// Its derivative.
rbVec3 rbGetBezierDerivative(const rbVec3 b[4], double u);

// Prepares a path for a body that starts at the given pose. NULL and an error when it is unusable.
rbPath* rbPath_Create(const rbPathDef* def, rbTransform start, rbError* error);
void rbPath_Destroy(rbPath* path);

// Pose and velocities of the body's origin at a time.
void rbPath_Evaluate(const rbPath* path, double time, rbTransform* pose, rbVec3* velocity,
                     rbVec3* angularVelocity);

// The same as the state of the body, whose work stays.
void rbPath_SetState(const rbPath* path, double time, rbMotionState* state);

// Whether the velocity of the origin is constant from a time on, for *horizon seconds.
bool rbPath_IsSteady(const rbPath* path, double time, double* horizon);

// Length traveled at a time, m, within [0, length]; on closed curves it keeps growing.
double rbPath_GetTravel(const rbPath* path, double time);

// Piece and parameter of a traveled length within [0, length].
int rbPath_Locate(const rbPath* path, double travel, double* parameter);

// A box that contains the body's origin at every time between timeA and timeB.
rbBounds rbPath_GetBounds(const rbPath* path, double timeA, double timeB);
