// Broad phases of the laboratory. All find the same pairs as the built-in ones, bit for bit.
#pragma once

#include "collision/broadphase/broad_phase.h"

extern const rbBroadRow rbBroadRowHash;    // hierarchical hashing; "auto" picks it (L-84, G-04)
extern const rbBroadRow rbBroadRowSweep1D; // sorted ends on three axes, kept sorted (L-82, G-03)
extern const rbBroadRow rbBroadRowSweep2D; // sweep in x over an interval tree in y (L-83)
extern const rbBroadRow rbBroadRowCoherentHash; // counters of shared cells (L-85)

// Registers "hash", "sweep-1d", "sweep-2d" and "coherent-hash".
rbStatus rbRegisterLabBroadPhases(rbError* error);
