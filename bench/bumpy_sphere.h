// The bumpy sphere of the mesh benchmarks: r = 1 + 0.05 sin(8 theta) sin(8 phi) m, closed.
//
// A latitude-longitude grid with one vertex at each pole: bands x segments gives
// 2 segments (bands - 1) triangles. 71 x 72: 10,080; 224 x 224: 99,904; 708 x 708: 1,001,112.
#pragma once

#include "base/core/memory.h"

#include <rattleback/base.h>
#include <rattleback/shape.h>

// No point is farther from the origin than this.
#define RB_BUMPY_RADIUS_MAX 1.05 // m

typedef struct rbBumpySphere {
    RB_ARRAY(rbVec3) vertices; // m
    RB_ARRAY(int) indices;     // three per triangle, counter-clockwise from outside
    int triangleCount;
} rbBumpySphere;

// bands >= 2, segments >= 3.
void rbBumpySphere_Make(rbBumpySphere* sphere, int bands, int segments);
void rbBumpySphere_Free(rbBumpySphere* sphere);

// The definition for rbCreateMesh; it borrows the arrays.
rbMeshDef rbBumpySphere_GetDef(const rbBumpySphere* sphere);
