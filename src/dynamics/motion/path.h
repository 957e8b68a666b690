// Prescribed paths of kinematic bodies: where they are at any time and where they can be.
#ifndef RB_MOTION_PATH_H
#define RB_MOTION_PATH_H

#include <rattleback/body.h>

typedef struct rbPath rbPath;

// Prepares a path for a body that starts at the given pose. NULL and an error when it is unusable.
rbPath* rbPath_Create(const rbPathDef* def, rbTransform start, rbError* error);
void rbPath_Destroy(rbPath* path);

// Pose and velocities of the body's origin at a time.
void rbPath_Evaluate(const rbPath* path, double time, rbTransform* pose, rbVec3* velocity,
                     rbVec3* angularVelocity);

// The largest speed (m/s) of the origin at any time.
double rbPath_GetSpeed(const rbPath* path);

// Whether the velocity of the origin stays what it is from a time on for *horizon seconds.
bool rbPath_IsSteady(const rbPath* path, double time, double* horizon);

// Length of the path in m; INFINITY for an endless line.
double rbPath_GetLength(const rbPath* path);

// A box that holds the body's origin at every time between timeA and timeB.
rbBounds rbPath_GetBounds(const rbPath* path, double timeA, double timeB);

#endif
