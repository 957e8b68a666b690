// One step of a freely rotating body, cheap enough for look-ahead, which calls it several times per
// body and step.
//
// In flight the spin momentum L (world axes) is constant; only the orientation changes. The energy
// splits into that of a symmetric top and a remainder about one principal axis,
//   L1^2/(2 I1) + L2^2/(2 I2) + L3^2/(2 I3)
//     = |L|^2/(2 I1) + a3 L3^2/2 + a2 L2^2/2,   a3 = 1/I3 - 1/I1,  a2 = 1/I2 - 1/I1,
// each of which rotates the body by an angle known in closed form: |L| h/I1 about L, a3 L3 h and a2
// L2 h about axes of the body. Half a step of the remainder, a step of the top and half a step of
// the remainder form a second-order, time-symmetric method that conserves L exactly; it is exact
// for bodies with two equal moments, for which a2 = 0. Axes are numbered so that a2 is the smallest
// difference.
#pragma once

#include <rattleback/vecmath.h>

typedef struct rbTurn {
    double invMoment; // 1/I1
    double difference3, difference2;
    int axis3; // principal axis 0..2
    int axis2;
} rbTurn;

rbTurn rbMakeTurn(rbVec3 moments);

// Orientation after a time h, which may be negative, with the momentum L in world axes.
rbQuat rbTurn_Step(const rbTurn* turn, rbQuat orientation, rbVec3 momentum, double h);
