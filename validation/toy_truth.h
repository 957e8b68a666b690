// The spinning toys in 113 bits with Coulomb's law itself: a third method, for the moments at which
// coin, egg and rattleback turn over, and for the step engine.
//
// Unlike toy_oracle.h, friction is not made smooth: the body either slides, with the full friction
// against the slip, or rolls, with the force that keeps the slip at zero. It shares no code with
// the library: world axes, its own vectors, its own integrator (wide.h).
#pragma once

#include "toy_oracle.h"

// A motion sampled at equal times.
typedef struct rbToyMoment {
    double time;
    rbVec3 up;      // the vertical in axes of the body
    double spin;    // rad/s, vertical component
    bool isRolling; // no slip
} rbToyMoment;

// Fills moments[i] for the times i * step, i < count; returns how many: less where the body lifts
// off. Slip scale and tolerance of the toy are not used.
int rbComputeToyTruth(const rbToy* toy, double step, int count, rbToyMoment* moments);

// The first time when the vertical component of the unit vector `axis` of the body (or, if `axis`
// is zero, the vertical spin in rad/s) passes `level`, by cubic interpolation in samples of 0.5 ms:
// to about 1e-8 s. Negative if it does not before `until`.
double rbFindToyTruth(const rbToy* toy, rbVec3 axis, double level, double until);

// The time before `until`, to a millisecond, when the vertical component of the unit vector `axis`
// of the body is largest in magnitude.
double rbFindToyPitch(const rbToy* toy, rbVec3 axis, double until);
