// The laws of impact at one point with Coulomb friction, integrated by another method than the
// engine's: the sliding phase runs over a parameter in which the slip never reaches zero.
#pragma once

#include "verify/model.h"

// One contact in its frame: x and y tangents, z the normal from A to B.
typedef struct rbVImpact {
    double k[3][3]; // u = u0 + K p
    rbV3 u;         // m/s, before
    double restitution;
    double friction;
    rbVLaw law;
} rbVImpact;

typedef struct rbVImpactResult {
    rbV3 impulse; // on B
    double frictionWork;
    bool isKnown; // false: the integration did not come to an end
} rbVImpactResult;

void rbVResolveImpact(const rbVImpact* m, rbVImpactResult* result);

rbV3 rbVPointVelocity(const rbVState* state, rbV3 point);
// Changes the velocities by an impulse at a point.
void rbVPush(const rbVBody* body, rbVState* state, rbV3 point, rbV3 impulse);
double rbVKineticEnergy(const rbVBody* body, const rbVState* state);
// Tangents and normal of a contact, from the normal.
void rbVMakeFrame(rbV3 n, rbV3 frame[3]);
// The contact frame of an event, and K and u in it.
rbVImpact rbVMakeImpact(const rbVBody* const bodies[2], const rbVState states[2],
                        const rbVEvent* event, rbV3 frame[3]);
