// Minkowski sums of two convex bodies, as bodies that the kernels of collision/convex accept
// (G-07).
#pragma once

#include "collision/convex/convex.h"

typedef struct rbMinkowskiSum {
    rbConvex body;     // first: its support function finds the summands from it
    const rbConvex* a; // borrowed, in the frame of the sum
    const rbConvex* b;
} rbMinkowskiSum;

// The core of the sum counts as smooth: its vertices are pairs of vertices, and have no index.
void rbMinkowskiSum_Make(rbMinkowskiSum* sum, const rbConvex* a, const rbConvex* b);

// The sum that a body is; NULL: it is none.
const rbMinkowskiSum* rbMinkowskiSum_Of(const rbConvex* body);
