// The grid of a parameter study: keys of a scene and the values that each takes.
//
//   KEY=A:B:N       N values from A to B, evenly spaced
//   KEY=A:B:N:log   the same in equal ratios
//   KEY=V1,V2,...   a list; commas inside of brackets and quotes are part of a value
#pragma once

#include "cli/cli.h"

#define RB_SWEEP_KEYS_MAX 16
#define RB_SWEEP_POINTS_MAX 100000

// A key and its values, as texts of scenes.
typedef struct rbSweepAxis {
    char* key;
    char** values;
    int count;
} rbSweepAxis;

// All combinations; the last key changes fastest.
typedef struct rbSweepGrid {
    rbSweepAxis axes[RB_SWEEP_KEYS_MAX];
    int axisCount;
    int pointCount; // product of the counts
} rbSweepGrid;

// Reads all --vary options. INVALID with a message that names the option and what is accepted.
rbStatus rbSweepGrid_Read(rbSweepGrid* grid, const rbArguments* arguments, rbError* error);
void rbSweepGrid_Free(rbSweepGrid* grid);
// The value of a key at a point.
const char* rbSweepGrid_GetValue(const rbSweepGrid* grid, int point, int axis);
