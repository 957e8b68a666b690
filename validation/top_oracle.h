// The torque-free top in 113 bits, as the reference for tests and validation.
#pragma once

#include <rattleback/vecmath.h>

// Flies a free body with the given principal moments (kg m^2, any order, > 0) from the body-frame
// spin (rad/s) for a duration (s, >= 0). q4 is the orientation (w, x, y, z) at the end, relative to
// the start; w3 the body-frame spin at the end. Both are correct to the last bit of a double except
// where the flight itself amplifies more than 1e10 (hundreds of turns along the separatrix). Costs
// about half a millisecond per tenth of a turn: the arithmetic is done in software.
void rbTopOracle(rbVec3 moments, rbVec3 spinLocal, double duration, double* q4, double* w3);
