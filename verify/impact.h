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

// A body as an impact sees it.
typedef struct rbVImpactBody {
    double inverseMass; // 0: impulses do not move it
    rbVSym inverse;     // of the inertia, axes of the body
    rbV4 q;
    rbV3 center, v, w;
} rbVImpactBody;

rbV3 rbVImpactBody_PointVelocity(const rbVImpactBody* body, rbV3 point);
void rbVImpactBody_Push(rbVImpactBody* body, rbV3 point, rbV3 impulse);
double rbVImpactBody_Energy(const rbVImpactBody* body, const rbVBody* model);
// The contact frame of a normal and K in it.
void rbVMakeImpact(rbVImpact* m, const rbVImpactBody* a, const rbVImpactBody* b, rbV3 point,
                   const rbV3 frame[3]);
void rbVMakeFrame(rbV3 normal, rbV3 frame[3]);
