// Collisions: contacts that close faster than the resting speed, by Newton, Poisson or Stronge
// (B-66, B-68 to B-72, B-74, B-79).
//
// Outer loop: the contacts whose closed points approach faster than restSpeed, with their targets.
// Inner loop: sweeps over these only, until they meet their targets; then the contacts that were
// newly made to collide. With this order as many balls of a cradle leave as strike.
#pragma once

#include "dynamics/contact/contact_solver.h"

// Result at a contact in a round: sums over its points.
typedef struct rbCollisionNote {
    int contact;
    rbImpactLaw law;
    rbVec3 arm;           // m, from A's center of mass to the mean point where the impulses act
    rbVec3 impulse;       // N s, on B
    double approachSpeed; // m/s, of its fastest point
    double normalWork;    // J
    double frictionWork;  // J, <= 0
    uint32_t history;     // phases, see rbImpactPhase; of several points only RB_PHASE_GAINS
    bool isEnergyRaised;  // by the law itself
} rbCollisionNote;

typedef struct rbCollisionsDone {
    int rounds;           // of the outer loop
    int64_t sweeps;       // of all rounds
    int64_t collisions;   // points, of all rounds
    double error;         // m/s, largest miss of a target or of friction
    double approachLeft;  // m/s, fastest approach left when the rounds ended; 0: nothing collides
    double jointError;    // m/s, left by joints that are not done
    int64_t energyRaises; // contacts whose law raised the energy (Newton's)
    double energyRaised;  // J, by these
    double normalWork;    // J, <= 0 up to rounding, but for those
    double frictionWork;  // J, <= 0
    bool isMet;           // nothing collides anymore, all targets met
    const rbCollisionNote* notes; // in the order of rounds, until the next call
    int noteCount;
} rbCollisionsDone;

// Keeps memory between calls, so that a step allocates only when more points collide than ever
// before.
typedef struct rbCollisions rbCollisions;

rbCollisions* rbCreateCollisions(void);
void rbDestroyCollisions(rbCollisions* collisions); // NULL is fine

// Changes velocities of run->bodies only; the points, with the impulses of their lasting contact,
// are left alone. run->order must be by levels for shock propagation.
rbCollisionsDone rbCollisions_Resolve(rbCollisions* collisions, const rbContactSettings* settings,
                                      const rbContactRun* run);

// The approach speed at which a closed point starts to collide, m/s: settings->restSpeed, or, for
// 0, the speed gained by falling through 1e-5 m at 9.81 m/s^2, sqrt(2 g d) = 0.014007.
double rbGetRestSpeed(const rbContactSettings* settings);
