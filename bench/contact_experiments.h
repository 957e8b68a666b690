// The contact experiments of the specification of multibody impulses, beside their printed numbers.
#ifndef RB_CONTACT_EXPERIMENTS_H
#define RB_CONTACT_EXPERIMENTS_H

#include "bench.h"

void rbRunDetectionExperiment(rbBench* bench); // X-11, 1000 cubes fall to the floor
void rbRunFunnelExperiment(rbBench* bench);
void rbRunWallExperiment(rbBench* bench);
void rbRunSweepsExperiment(rbBench* bench);    // what a sweep costs

#endif
