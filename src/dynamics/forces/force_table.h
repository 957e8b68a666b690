// The table of forces: one row per force (rbForceRow of body.h), with all of its data.
#pragma once

#include "dynamics/motion/flight.h"

// Row of a type below rbForceType_GetCount().
const rbForceRow* rbGetForceRow(rbForceType value);

// Adds the effect of a force on a body at a state to its load; constant forces add nothing. The
// part without a potential is recorded as work.
void rbForceRow_AddLoad(const rbForceRow* row, const rbForceDef* def, const rbForceInput* input,
                        rbLoad* load);

// INFINITY: the force has no bound.
double rbForceRow_GetAccelerationBound(const rbForceRow* row, const rbForceDef* def, double mass);
