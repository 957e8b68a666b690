// Pair methods of the laboratory.
#pragma once

#include <rattleback/base.h>

// Registers "mpr" and "features".
rbStatus rbRegisterLabPairMethods(rbError* error);
