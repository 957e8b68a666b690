// The reach of the core of a geometry, and its height along a rotating direction.
#ifndef RB_SWEEP_SWEEP_CORE_H
#define RB_SWEEP_SWEEP_CORE_H

#include <rattleback/shape.h>
#include <rattleback/vecmath.h>

// A query of a geometry, in its frame: heights along direction + (later - now) rate.
typedef struct rbCoreProbe {
    rbVec3 direction;
    rbVec3 rate;
    rbVec3 center; // m, the center of mass, for the reach of parts
    // Every part of a compound is raised by its reach times this, with its rate: the most that the
    // rotation of points this far from the center may add.
    double lift;
    double liftRate;
    double reachMax; // m, no part reaches farther
} rbCoreProbe;

// Height of the highest point, the radius of the ball about the core included once, for any length
// of the direction; and its derivative by the direction. Convex in direction and lift.
typedef struct rbCoreHeight {
    double height;
    double rate;
} rbCoreHeight;

// rbGetCoreReach, perhaps larger, in O(1) for all except compounds.
double rbGetCoreReachQuick(const rbGeometry* geometry, rbVec3 point);

// Not for planes.
rbCoreHeight rbGetCoreHeight(const rbGeometry* geometry, const rbCoreProbe* probe);

#endif
