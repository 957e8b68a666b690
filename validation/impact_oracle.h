// A second solution of an impact, in long double (113 bits on aarch64), by different methods than
// the library: small steps of an extrapolation method of order 16 all the way to the stop, events
// by bracketing with whole steps, the direction of resumed sliding by search over the circle. Slow:
// about 10 ms per impact.
#pragma once

#include <rattleback/impact.h>

typedef struct rbImpactTruth {
    long double impulse[3];
    long double velocity[3];
    long double normalWork;
    long double frictionWork;
    long double compressionWork; // over all compressions
    int compressions;            // more than one: u_z fell below zero again
    int steps;
} rbImpactTruth;

// False when the rates differ so much that the small steps would take too long.
bool rbSolveImpactTruth(const rbImpactInput* input, rbImpactTruth* truth);

// The largest difference of a result: impulses relative to |p|, velocities relative to |u| before
// and after.
double rbGetImpactError(const rbImpactResult* result, const rbImpactTruth* truth,
                        const rbImpactInput* input);
