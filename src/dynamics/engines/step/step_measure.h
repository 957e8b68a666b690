// What the contacts of an accepted step are like at its end, measured on the final poses,
// velocities and impulses by code that no solver shares.
#pragma once

#include "base/core/memory.h"
#include "dynamics/contact/contact.h"

// The smallest gap of a contact of two bodies.
typedef struct rbPairGap {
    int bodyA;
    int bodyB;
    double gap; // m, less the shell
} rbPairGap;

// m, less the shell, of the points of a contact.
double rbFindLeastGap(const rbContactSet* set, const rbContact* contact);

typedef struct rbPairGaps {
    RB_ARRAY(rbPairGap) list; // by bodies
} rbPairGaps;

// Gaps of the first contactCount contacts of a set, which are in the order of bodies.
void rbPairGaps_Note(rbPairGaps* gaps, const rbContactSet* set, int contactCount);

// m, less the shell: the deepest of the first contactCount contacts, at the end of a step, whose
// bodies are closer than at its start; 0: none.
double rbMeasureOverlap(const rbContactSet* set, int contactCount, const rbPairGaps* start);

// m/s: the largest approach at points that touch, slip at points that stick, and what impulses
// outside of their cones give. Of the contacts in an order (an island), or of all (NULL). Points
// that part faster than a tolerance, m/s, do not stick. Bodies that nothing moves are left out.
double rbMeasureSpeeds(const rbContactSet* set, const int* order, int orderCount,
                       const rbContactBody* bodies, double tolerance);
