// Where does detection begin? Bisection along a path (G-39).
#pragma once

#include <stdbool.h>

// Is contact detected with the bodies a gap (negative: an overlap) from touching?
typedef bool rbDetectFn(const void* context, double gap);

// Gap at which detection ends: 0 for a perfect detector. Starts with steps of 0.5 m, halves them
// while they are longer than stepEnd, and ends within twice the last step of the answer, which must
// lie in [-1, 1] m. stepEnd 1e-10 results in 33 rounds and a resolution of 1.2e-10 m.
double rbBisectDetection(rbDetectFn* detect, const void* context, double stepEnd, int* rounds);
