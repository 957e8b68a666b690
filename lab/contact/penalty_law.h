// Penalty contact (L-113, B-83), for comparison only: springs and dampers at the contact points.
//
// For two bodies with the reduced mass m = 1 / (1/mA + 1/mB), every point has the stiffness
// k = m w^2 and the damping 2 z m w, with w^2 = 9.81 m/s^2 over the given depth: a single body on
// one point sinks by that depth. It never pulls. The coefficient of restitution of such a point is
//   e = exp(-z / sqrt(1 - z^2) (pi - 2 asin z)),  z < 1.
// Friction is Coulomb's, regularized: below a slip speed it is proportional to the speed, so
// nothing sticks permanently.
#pragma once

#include "dynamics/contact/contact.h"

#include <rattleback/lab_contact.h>

typedef struct rbPenaltyLaw {
    double frequency;           // rad/s, w
    double damping;             // z; 1: critical
    double slipSpeed;           // m/s
    const rbContactLawRow* row; // the normal force instead of spring and damper; NULL: these
} rbPenaltyLaw;

rbPenaltyLaw rbMakePenaltyLaw(const rbPenaltySettings* settings);

// Number of parts into which the stiffness requires a step to be divided.
int rbPenaltyLaw_CountParts(const rbPenaltyLaw* law, double h);

// Computes the impulses of all points over a time h from the current gaps and velocities, applies
// them and stores them in the points. isEnd: dampers use the velocities after the impulses of all
// points, so that a kick, a flight and such a kick are time-symmetric; friction uses the velocity
// that it leaves at its point.
void rbPenaltyLaw_Push(const rbPenaltyLaw* law, const rbContactSet* set, rbContactBody* bodies,
                       double h, bool isEnd);
