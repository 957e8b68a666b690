// Access for tests of coherent hashing.
#pragma once

#include "lab/broadphase/cell_levels.h"

// The counter of two existing boxes: number of cells shared at the coarser of their levels.
int rbCoherentHash_GetCounter(const rbBroadPhase* broad, int a, int b);

rbCellLevels rbCoherentHash_GetLevels(const rbBroadPhase* broad);
