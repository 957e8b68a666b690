// Penalty contact (L-113, B-83), for comparison only: springs and dampers at the points of contact.
//
// Every point of two bodies with the reduced mass m = 1 / (1/mA + 1/mB) has the stiffness
// k = m w^2 and the damping 2 z m w, with w^2 = 9.81 m/s^2 over the stated depth: a body alone on
// one point sinks by that depth. It never pulls. Such a point throws back a body with
//   e = exp(-z / sqrt(1 - z^2) (pi - 2 asin z))  of its speed, z < 1.
// Friction is Coulomb's, regularized: below a slip speed it is proportional to the speed, so that
// nothing sticks for good.
#ifndef RB_LAB_PENALTY_LAW_H
#define RB_LAB_PENALTY_LAW_H

#include "dynamics/contact/contact.h"

#include <rattleback/lab_contact.h>

typedef struct rbPenaltyLaw {
    double frequency; // rad/s, w
    double damping;   // z: 1 is critical
    double slipSpeed; // m/s
} rbPenaltyLaw;

rbPenaltyLaw rbMakePenaltyLaw(const rbPenaltySettings* settings);

// Parts of a step that the stiffness needs.
int rbPenaltyLaw_CountParts(const rbPenaltyLaw* law, double h);

// Impulses of all points over a time h, from the present gaps and velocities, added to the
// velocities; points keep them. isEnd: dampers feel the velocities that all points together leave,
// so that a kick, a flight and such a kick are the same forwards and backwards; friction that which
// it leaves at its point.
void rbPenaltyLaw_Push(const rbPenaltyLaw* law, const rbContactSet* set, rbContactBody* bodies,
                       double h, bool isEnd);

#endif
