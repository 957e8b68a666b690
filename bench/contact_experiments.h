// The contact experiments of the specification of multibody impulses, compared with their printed
// numbers.
#pragma once

#include "bench.h"

void rbRunDetectionExperiment(rbBench* bench); // X-11, 1000 cubes fall onto the floor
void rbRunFunnelExperiment(rbBench* bench);
void rbRunWallExperiment(rbBench* bench);
void rbRunSweepsExperiment(rbBench* bench);    // cost of a sweep
void rbRunSolversExperiment(rbBench* bench);   // residual against time of every solver
void rbRunHeapsExperiment(rbBench* bench);     // 1000 falling bodies to tolerance
void rbRunThreadsExperiment(rbBench* bench);   // one thread and all cores
