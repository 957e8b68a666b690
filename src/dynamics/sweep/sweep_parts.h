// Bounds for the parts of compounds.
#ifndef RB_SWEEP_SWEEP_PARTS_H
#define RB_SWEEP_SWEEP_PARTS_H

#include "dynamics/sweep/sweep.h"

// The least bound of all pairs of parts of two bodies, one of which is a compound; the measurement
// of the whole bodies is used where a pair of parts is not convex. 0 if there are too many pairs.
double rbBoundParts(const rbSweepBody* a, const rbSweepBody* b, const rbSweepGap* gap,
                    rbVec3 turning, double level);

#endif
