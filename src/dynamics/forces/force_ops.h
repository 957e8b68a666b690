// The table of forces: what each adds to a body's load, its potential if it has one, and the bound
// it promises on the acceleration it can cause.
#ifndef RB_FORCES_FORCE_OPS_H
#define RB_FORCES_FORCE_OPS_H

#include "dynamics/motion/flight.h"

typedef struct rbForceOps {
    const char* name;
    // Bad values get a sentence.
    rbStatus (*judge)(const rbForceDef* def, rbError* error);
    // Force and torque constant in the world, which keep a flight in closed form; NULL: none.
    void (*constant)(const rbForceDef* def, rbVec3* force, rbVec3* torque);
    // Load that depends on state or time; NULL: none.
    void (*apply)(const rbForceDef* def, const rbForceInput* input, rbLoad* load);
    // Potential energy at a position of the center of mass; NULL: the force is paid for as work.
    double (*potential)(const rbForceDef* def, double mass, rbVec3 position);
    // Largest acceleration of a center of mass, over any time and state; INFINITY: no promise.
    double (*accelerationBound)(const rbForceDef* def, double mass);
} rbForceOps;

const rbForceOps* rbForceOps_Get(rbForceType type);

#endif
