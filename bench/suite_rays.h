// Parts of the rays suite.
#ifndef RB_BENCH_SUITE_RAYS_H
#define RB_BENCH_SUITE_RAYS_H

#include "bench.h"

// Spheres on paths, frame by frame: growth with objects and rays, compared with the published
// tables.
void rbRunRayFrames(rbBench* bench);

#endif
