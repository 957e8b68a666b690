// Parts of the rays suite.
#pragma once

#include "bench.h"

// Spheres on paths, frame by frame: growth with objects and rays, compared with the published
// tables.
void rbRunRayFrames(rbBench* bench);
