// Contacts of the step engine: data shared by the contact finder, the solver and the engine.
//
// A contact is a manifold of two bodies in one step: points with one normal, from A to B. With the
// arms r from the centers of mass to the middle of a point,
//   u = vB + wB x rB - vA - wA x rA,  u.n > 0 separates,
// plus, along the tangents, the velocity of conveyor surfaces relative to their bodies,
// and an impulse p acts on B with +p and on A with -p. Its normal component P never pulls; its
// tangential component T stays in the cone |T| <= friction * P.
//
// A step from t to t + h: half of the forces, impulses that keep gaps from closing by its end
// (position stage), free flight, half of the forces, a new contact search, impulses that stop
// approach and sticking points (velocity stage). Impulses are summed over both stages of a step: a
// velocity stage may remove what a position stage added, never more.
#pragma once

#include <rattleback/collision.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>

// A body as contacts see it, in an array by index of the host. Two cache lines.
typedef struct rbContactBody {
    rbVec3 velocity;   // m/s, of the center of mass
    double invMass;    // 1/kg; 0: nothing moves it
    rbVec3 spin;       // rad/s, world axes
    bool isFrozen;     // while set, impulses do not move it (shock propagation, sleep); masses stay
    rbSym3 invInertia; // 1/(kg m^2), world axes
} rbContactBody;

static inline bool rbContactBody_HasMass(const rbContactBody* body)
{
    const rbSym3* i = &body->invInertia;
    return body->invMass > 0.0 || i->xx + i->yy + i->zz > 0.0;
}

// Whether impulses move it now.
static inline bool rbContactBody_IsMoved(const rbContactBody* body)
{
    return body->invMass > 0.0 && !body->isFrozen;
}

// The same, or only rotate it.
static inline bool rbContactBody_IsMovable(const rbContactBody* body)
{
    return !body->isFrozen && rbContactBody_HasMass(body);
}

static inline bool rbContactBody_IsMoving(const rbContactBody* body)
{
    rbVec3 v = body->velocity;
    rbVec3 w = body->spin;
    return !(v.x == 0.0 && v.y == 0.0 && v.z == 0.0 && w.x == 0.0 && w.y == 0.0 && w.z == 0.0);
}

// One point. In and out of the solver; the pairs store its persistent data under key.
typedef struct rbContactPoint {
    rbVec3 armA;         // m, world axes, from the center of mass of A
    rbVec3 armB;         // m, of B
    double gap;          // m, along the normal, less the shell; negative: overlap
    double bend;         // m, gap at the end of the flight less gap + h u.n (contact_pairs.c)
    double slip[2];      // m, along the tangents: how far B's anchor moved relative to A's since it
                         // stuck; 0 where it did not stick in the last step
    double impulse[3];   // N s, of the step: normal P >= 0, along both tangents
    double movedSquared; // m^2, of its way over the surface of a body since the last node
    double curving;    // m/s, approach at the end of the flight that curved paths and surfaces give
                       // a point that bore load throughout: not a collision
    double passing[3]; // N s, the part of these that this step needed and the next one will not
    double target; // m/s, u.n that the velocity stage leaves: 0, or the value restitution requires
    bool isClosed; // touches: the velocity stage takes part (gap within the tolerance)
    bool isSticking; // at the end of the last stage
    bool isAhead; // from the end of the flight (contact_pairs.c): a negative gap is not an overlap
    bool wasBearing; // it bore load in the last flight, and at the node
} rbContactPoint;

// Flags of a point, from isClosed to wasBearing.
#define RB_POINT_FLAGS 4

typedef struct rbContact {
    int bodyA; // of the host
    int bodyB;
    int partA; // shape of the body
    int partB;
    rbVec3 normal; // unit, from A to B
    rbVec3 tangents[2];
    double friction;    // of the pair, sliding
    double stiction;    // of the pair, sticking; >= friction
    double restitution; // 0..1
    double rolling;     // m: torque against rolling at most rolling * P; 0: none
    double spinning;    // m: the same about the normal
    rbVec3 belt;        // m/s, world axes, tangential: what conveyors add to u
    bool hasBelt;       // it is not zero
    double turning[3];  // N m s, impulses of these two: along both tangents, about the normal
    int firstPoint;
    int pointCount; // 1..RB_MANIFOLD_POINTS_MAX
    int level;      // of the contact graph, see contact_graph.h; 0: unknown
    bool isIdle;    // cannot act in the current stage: in no island
    int pairLaw;    // of collisions: 1 + rbImpactLaw of this pair of materials; 0: that of the
                    // settings
} rbContact;

// The contacts of a step, in a fixed order (by bodies, then parts, then points), so that results do
// not depend on the search order.
typedef struct rbContactSet {
    rbContact* contacts;
    int contactCount;
    rbContactPoint* points;
    int pointCount;
} rbContactSet;

// A new point faster than this slides; slower ones may stick, m/s.
#define RB_SLIDING_SPEED 0.1

// An impulse from its components along the normal and both tangents.
static inline rbVec3 rbJoinImpulse(rbVec3 normal, const rbVec3 tangents[2], double p, double t0,
                                   double t1)
{
    rbVec3 impulse = rbScale(p, normal);
    impulse = rbAddScaled(impulse, t0, tangents[0]);
    return rbAddScaled(impulse, t1, tangents[1]);
}

// Of a point of B relative to one of A, with their arms.
static inline rbVec3 rbContactBody_RelativeVelocity(const rbContactBody* a, rbVec3 armA,
                                                    const rbContactBody* b, rbVec3 armB)
{
    rbVec3 atA = rbAdd(a->velocity, rbCross(a->spin, armA));
    rbVec3 atB = rbAdd(b->velocity, rbCross(b->spin, armB));
    return rbSub(atB, atA);
}

static inline rbVec3 rbContact_RelativeVelocity(const rbContactBody* bodies,
                                                const rbContact* contact,
                                                const rbContactPoint* point)
{
    rbVec3 u = rbContactBody_RelativeVelocity(&bodies[contact->bodyA], point->armA,
                                              &bodies[contact->bodyB], point->armB);
    return contact->hasBelt ? rbAdd(u, contact->belt) : u;
}

// m/s: points of a contact that move alike stick or slide together.
#define RB_SLIDING_APART 1e-3

// One coefficient for a stage that begins with these velocities. If sweeps chose it, a few points
// would slip more or less at random and pull the others along. A point of a face that bears too
// little for its share of the friction does not slide while the others stick.
static inline double rbContactPoint_ChooseFriction(const rbContactPoint* point,
                                                   const rbContact* contact,
                                                   const rbContactSet* set,
                                                   const rbContactBody* bodies)
{
    if (contact->stiction <= contact->friction) {
        return contact->friction;
    }
    rbVec3 u = rbContact_RelativeVelocity(bodies, contact, point);
    rbVec3 slip = rbAddScaled(u, -rbDot(u, contact->normal), contact->normal);
    bool isSliding =
        !point->isSticking &&
        (point->impulse[0] > 0.0 || rbLengthSquared(slip) > RB_SLIDING_SPEED * RB_SLIDING_SPEED);
    for (int k = 0; isSliding && k < contact->pointCount; ++k) {
        const rbContactPoint* other = &set->points[contact->firstPoint + k];
        rbVec3 apart = rbSub(rbContact_RelativeVelocity(bodies, contact, other), u);
        isSliding = !other->isSticking || !(other->impulse[0] > 0.0) ||
                    rbLengthSquared(apart) > RB_SLIDING_APART * RB_SLIDING_APART;
    }
    return isSliding ? contact->friction : contact->stiction;
}

static inline double rbContact_NormalSpeed(const rbContactBody* bodies, const rbContact* contact,
                                           const rbContactPoint* point)
{
    return rbDot(contact->normal, rbContact_RelativeVelocity(bodies, contact, point));
}

// Smallest u.n that the position stage requires of a point, minus its own. Overlap is undone no
// faster than partSpeed.
static inline double rbContactPoint_GetPart(const rbContactPoint* point, double h, double partSpeed)
{
    RB_ASSERT(h > 0.0 && partSpeed >= 0.0);
    double part = point->gap / h;
    return (point->isAhead || part > -partSpeed ? part : -partSpeed) + point->bend / h;
}

// A point that has moved over a surface by more than this part of its way in space rolls or slides.
#define RB_CARRIED_PART 0.1
// Less than this part of the rest speed is nothing that friction notices.
#define RB_CARRY_LEAST 1e-3

// What their rotation adds to the velocity of the material of B against that of A in the mean of a
// flight, m/s: the circles on which both move bend away from their velocities at the node. Without
// it a body that a turntable carries would go along the tangent. Zero where the point moves over a
// surface.
static inline rbVec3 rbContactPoint_GetCarry(const rbContactPoint* point, const rbContactBody* a,
                                             const rbContactBody* b, double h, double restSpeed)
{
    rbVec3 atA = rbCross(a->spin, point->armA);
    rbVec3 atB = rbCross(b->spin, point->armB);
    double way = h * h * fmax(rbLengthSquared(atA), rbLengthSquared(atB));
    rbVec3 carry = rbScale(0.5 * h, rbSub(rbCross(b->spin, atB), rbCross(a->spin, atA)));
    bool isCarried = point->movedSquared <= RB_CARRIED_PART * RB_CARRIED_PART * way &&
                     rbLength(carry) > RB_CARRY_LEAST * restSpeed;
    return isCarried ? carry : RB_VEC3_ZERO;
}

// Adds an impulse at a point to the velocities of both bodies.
static inline void rbContact_ApplyImpulse(rbContactBody* bodies, const rbContact* contact,
                                          const rbContactPoint* point, rbVec3 p)
{
    rbContactBody* a = &bodies[contact->bodyA];
    rbContactBody* b = &bodies[contact->bodyB];
    if (!a->isFrozen) {
        a->velocity = rbAddScaled(a->velocity, -a->invMass, p);
        a->spin = rbSub(a->spin, rbMulSV(a->invInertia, rbCross(point->armA, p)));
    }
    if (!b->isFrozen) {
        b->velocity = rbAddScaled(b->velocity, b->invMass, p);
        b->spin = rbAdd(b->spin, rbMulSV(b->invInertia, rbCross(point->armB, p)));
    }
}
