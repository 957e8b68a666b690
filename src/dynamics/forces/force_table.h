// The table of forces: one row a force (rbForceRow of body.h), with all that is known of it.
#ifndef RB_FORCES_FORCE_TABLE_H
#define RB_FORCES_FORCE_TABLE_H

#include "dynamics/motion/flight.h"

// Row of a type below rbForceType_GetCount().
const rbForceRow* rbGetForceRow(rbForceType type);

// Adds what a force does to a body at a state to its load: nothing of a constant one. What has no
// potential is paid for as work.
void rbForceRow_AddLoad(const rbForceRow* row, const rbForceDef* def, const rbForceInput* input,
                        rbLoad* load);

// INFINITY: the force promises no bound.
double rbForceRow_GetAccelerationBound(const rbForceRow* row, const rbForceDef* def, double mass);

#endif
