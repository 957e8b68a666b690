// Broad phases of the laboratory. All find the same pairs as the built-in ones, bit for bit.
#pragma once

#include "collision/broadphase/broad_phase.h"

extern const rbBroadRow rbBroadRowNaive;   // a scan; "auto" picks it for a few dozen boxes (L-81)
extern const rbBroadRow rbBroadRowCells;   // an array of cells; "auto" picks it for gases (L-84)
extern const rbBroadRow rbBroadRowHash;    // hierarchical hashing; "auto" picks it (L-84, G-04)
extern const rbBroadRow rbBroadRowSweep1D; // sorted ends on three axes, kept sorted (L-82, G-03)
extern const rbBroadRow rbBroadRowSweep2D; // sweep in x over an interval tree in y (L-83)
extern const rbBroadRow rbBroadRowCoherentHash; // counters of shared cells (L-85)

// Registers "naive", "cells", "hash", "sweep-1d", "sweep-2d" and "coherent-hash".
rbStatus rbRegisterLabBroadPhases(rbError* error);

// The query of the naive row: tests all boxes, O(n).
void rbScanBoxes(rbBroadPhase* broad, const rbBounds* box, int self, rbIdList* found);
