// Pair methods of the laboratory.
#ifndef RB_LAB_PAIR_ROWS_H
#define RB_LAB_PAIR_ROWS_H

#include <rattleback/base.h>

// Registers "mpr" and "features".
rbStatus rbRegisterLabPairMethods(rbError* error);

#endif
