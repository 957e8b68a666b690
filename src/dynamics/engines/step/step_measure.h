// What the contacts of an accepted step are like at its end, measured on the final poses,
// velocities and impulses by code that no solver shares.
#pragma once

#include "dynamics/contact/contact.h"

// m, less the shell, of the points of a contact.
double rbFindLeastGap(const rbContactSet* set, const rbContact* contact);

// The contacts of a pair in a set in the order of bodies, from the first to before the end.
int rbFindPair(const rbContactSet* set, int bodyA, int bodyB, int* end);

// m, less the shell: the deepest of the contacts at the end of a step whose bodies are closer than
// at its start; 0: none. Both sets are in the order of bodies: without stops of joints.
double rbMeasureOverlap(const rbContactSet* set, const rbContactSet* start);

// m/s: the largest approach at points that touch, slip at points that stick, and what impulses
// outside of their cones give. Of the contacts in an order (an island), or of all (NULL). Points
// that part faster than a tolerance, m/s, do not stick. Bodies that nothing moves are left out.
double rbMeasureSpeeds(const rbContactSet* set, const int* order, int orderCount,
                       const rbContactBody* bodies, double tolerance);
