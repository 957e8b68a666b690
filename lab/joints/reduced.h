// Reduced coordinates (B-48): Featherstone's articulated-body algorithm for trees of ball, hinge,
// prismatic and fixed joints. Joints hold to rounding for any step size, and the cost is linear:
// the oracle for open chains.
//
// A joint of a tree leads from a parent to a child; a root is attached to a body that is not
// dynamic, or is free. Coordinates are the orientation of the child (ball), an angle (hinge), a
// travel (prismatic), nothing (fixed), center and orientation (free root).
#pragma once

#include "lab/joints/classical.h"

typedef struct rbReduced rbReduced;

// NULL with a message if joints close a loop or are of another type. Reads the state of the bodies;
// components that the joints do not allow are dropped.
rbReduced* rbCreateReduced(const rbMechanism* mechanism, rbError* error);
void rbDestroyReduced(rbReduced* reduced); // NULL is fine

// Up to 4: RK4, the default; above: the method of order 8.
void rbReduced_SetOrder(rbReduced* reduced, int order);

// Coordinates and speeds from the state of the bodies.
void rbReduced_Read(rbReduced* reduced, const rbMechanism* mechanism);
// Pose, velocity and momentum of all dynamic bodies.
void rbReduced_Write(const rbReduced* reduced, rbMechanism* mechanism);

// One step, see rbClassical_Step: advances the state stored here and writes the bodies. Rows other
// than joints act as described in classical.h. Does not allocate.
void rbReduced_Step(rbReduced* reduced, rbMechanism* mechanism, double time, double h,
                    rbMechForceFn* forces, void* context);

// J: kinetic energy, and potential in a uniform field (zero at the origin).
double rbReduced_Energy(const rbReduced* reduced, rbVec3 gravity);

int rbReduced_GetFreedomCount(const rbReduced* reduced);
