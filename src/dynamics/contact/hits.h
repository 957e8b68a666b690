// Points of collisions that are resolved together, in both engines (B-66, B-68 to B-72, B-79).
//
// The phases are those of impact_law.h: sweeps meet the targets of a phase, with the impulses so
// far as the least. Where joints hold the bodies, they are swept, too.
//
// Several points of one contact (a face on a face) are solved together by separate passes in every
// sweep, before friction acts. Otherwise the first point would turn the body, friction there would
// act against a sliding motion that does not exist, and a cube that lands flat would not leave
// flat.
//
// Sweeps alone need a number that grows with the square of the height of a pile: between them the
// impulses move on along conjugate directions (after Silcowitz, Niebe, Erleben 2009), clamped.
//
// Friction works on sums: T stays in the cone of the sum P, so it follows P down as well as up (the
// signed increment of eq. 5.8). A point that can be stopped within the cone of sliding friction
// sticks. A sticking point starts to slide at the cone of static friction. Rolling and spinning
// friction do not act in a collision.
//
// Energy. In a phase that ends with its targets met, P pushes against what has stopped and T
// against what still slides: it takes energy. Restitution returns no more than it may: its impulses
// are scaled back, W(s) = a s + b s^2 over the scale s. So are those of a phase that a cap ends.
// Only Newton's law, where there is friction or more than one restitution, acts as it is stated and
// may raise the energy; the record says so.
#pragma once

#include "dynamics/contact/friction_bound.h"
#include "dynamics/impact/impact_law.h"

// A K whose determinant is below this part of the power of its size is not inverted.
#define RB_HIT_SINGULAR 1e-10

// One of the bodies at a hit: how impulses at the point move it.
typedef struct rbHitSide {
    rbVec3* velocity; // m/s, of the center of mass; shared by the hits of the body
    rbVec3* spin;     // rad/s, world axes
    double inverseMass;
    const rbSym3* inverseInertia; // world axes
    rbVec3 arm;                   // m, from the center of mass
} rbHitSide;

// One point. The caller provides the members down to the approach speed; the rest starts at zero.
typedef struct rbHit {
    rbHitSide sides[2]; // A, B
    rbMat3 frame;       // tangents, and the normal from A to B
    rbVec3 belt;        // m/s, what conveyors add to u
    double friction;
    double stiction;    // at least friction
    double restitution; // e of this impact
    rbImpactLaw law;
    int contact, point; // of the caller
    bool isSticking;
    double approach; // m/s, -u.n before; negative: the bodies separate

    double target;          // m/s, of u.n, in this phase
    double least;           // N s, of p.z
    double normalShare;     // 1/K, normal; 0: nothing moves it
    rbVec3 p;               // N s, along the tangents and the normal
    double inverse[3];      // xx, xy, yy of the inverse of the tangential K; zero if singular
    double tangentialShare; // 1/largest eigenvalue of it
    rbVec3 before;          // m/s, u at the start of the phase
    rbVec3 start;           // N s, p there
    double works[2];        // J, normal and of friction, in the phases before
    rbVec3 last;            // N s, p before a sweep
    rbVec3 ahead;           // N s, of the conjugate step
} rbHit;

// The hits of one contact.
typedef struct rbHitGroup {
    int firstHit;
    int hitCount;
} rbHitGroup;

typedef struct rbHits rbHits;

struct rbHits {
    rbHit* hits;
    int hitCount;
    rbHitGroup* groups;
    int groupCount;
    const rbFrictionBound* bound;
    double allowed;   // m/s, miss of targets and of friction
    double tolerance; // m/s, of sweeps; at most that
    double rounding;  // m/s: this times the impulses is no gain of energy
    int sweepsMax;
    // One sweep of the joints of the bodies; receives what they missed before it, m/s; whether they
    // are done. NULL: there are none.
    bool (*sweepJoints)(void* context, double* error);
    // Shock propagation, after this many sweeps of the first phase that did not meet the targets;
    // 0: none.
    void (*propagate)(void* context);
    int shockAfter;
    void* context; // of both

    // Results.
    int64_t sweeps;
    double error;     // m/s, largest miss of a target or of friction
    double jointMiss; // m/s, of the last sweep of joints; 0: they were done
    double jointError;
    bool isShocked;
    bool isRaised; // the law itself raised the energy
};

// K along the tangents and the normal, as impulses act now.
rbSym3 rbHit_GetMatrix(const rbHit* hit);
// To be called when the sides have changed.
void rbHit_Prepare(rbHit* hit);
rbVec3 rbHit_GetVelocity(const rbHit* hit);
// Changes the velocities, too.
void rbHit_SetImpulse(rbHit* hit, rbVec3 p);

// Brings the groups first .. end - 1 to their targets once. Returns the largest miss before, m/s.
double rbHits_Sweep(const rbHits* all, int first, int end);

// Resolves all; returns whether all targets are met.
bool rbHits_Resolve(rbHits* all);
