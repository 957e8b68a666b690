// Accelerations of bodies that are not dynamic: the comparison methods need accelerations, but a
// path gives velocities. They are those of the parabola through the velocities at the start, the
// middle and the end of a step: exact for velocities that are quadratic in time, otherwise off by
// O(h^2).
#pragma once

#include "lab/joints/classical.h"

typedef struct rbDrivenBody {
    int body; // in the mechanism
    rbVec3 velocity[3];
    rbVec3 angularVelocity[3];
} rbDrivenBody;

typedef struct rbDriven {
    rbDrivenBody* bodies;
    int count;
    double time; // start of the current step
    double h;
} rbDriven;

// The world itself (index -1) stands still and is omitted.
void rbDriven_Make(rbDriven* driven, const rbMechanism* mechanism);
void rbDriven_Free(rbDriven* driven);

// Gets the poses of the bodies during a step from the callback. Leaves them at its start.
void rbDriven_Start(rbDriven* driven, rbMechanism* mechanism, double time, double h,
                    rbMechForceFn* forces, void* context);

void rbDriven_GetAcceleration(const rbDriven* driven, int index, double time, rbVec3* linear,
                              rbVec3* angular);
