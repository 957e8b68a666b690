// Loops and detectors of the event engine that are kept for comparison.
#pragma once

#include "dynamics/engines/event/event_rows.h"

extern const rbDetectorRow rbRayDetectorRow;   // rays cast along the motion
extern const rbEventLoopRow rbPairLoopRow;     // a heap of pairs and a global interval (L-79, L-86)
extern const rbEventLoopRow rbAllPairsLoopRow; // the same with all pairs, near or not (L-78)

// Registers the detector "rays" and the loops "pairs" and "all-pairs".
rbStatus rbRegisterLabEventRows(rbError* error);
