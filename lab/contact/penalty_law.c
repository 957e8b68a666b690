#include "lab/contact/penalty_law.h"

#include <math.h>
#include <string.h>

#define GRAVITY 9.81
// Phase angle of the oscillation per part of a step, rad. Points of one body add up, and corners of
// long bodies have less effective mass than the body: a step is stable up to 2.
#define ANGLE_MOST 0.1
// Parts of a step, for a law that asks for more; the run would not end.
#define PARTS_MOST 1e6
// Relative to the speed w * depth.
#define SLIP_PART 0.01
// For the kick whose dampers depend on the resulting velocities.
#define SWEEPS_MAX 60
#define CHANGE_LEAST 1e-14

rbPenaltyLaw rbMakePenaltyLaw(const rbPenaltySettings* settings)
{
    RB_ASSERT(settings->depth > 0.0);
    rbPenaltyLaw law = {.frequency = sqrt(GRAVITY / settings->depth), .damping = settings->damping};
    law.slipSpeed = SLIP_PART * law.frequency * settings->depth;
    return law;
}

int rbPenaltyLaw_CountParts(const rbPenaltyLaw* law, double h)
{
    double parts = law->row != NULL ? h / law->row->partMax : h * law->frequency / ANGLE_MOST;
    return (int)ceil(fmin(fmax(1.0, parts), PARTS_MOST));
}

// 1/kg: change of velocity at a point along a direction by a unit impulse along it.
static double getLightness(const rbContactBody* bodies, const rbContact* contact,
                           const rbContactPoint* point, rbVec3 direction)
{
    const rbContactBody* a = &bodies[contact->bodyA];
    const rbContactBody* b = &bodies[contact->bodyB];
    rbVec3 turnA = rbCross(point->armA, direction);
    rbVec3 turnB = rbCross(point->armB, direction);
    return a->invMass + b->invMass + rbDot(turnA, rbMulSV(a->invInertia, turnA)) +
           rbDot(turnB, rbMulSV(b->invInertia, turnB));
}

static void apply(const rbContact* contact, const rbContactPoint* point, rbContactBody* bodies,
                  const double change[3])
{
    rbVec3 p = rbJoinImpulse(contact->normal, contact->tangents, change[0], change[1], change[2]);
    rbContact_ApplyImpulse(bodies, contact, point, p);
}

// A point and the parameters of its impulse.
typedef struct Push {
    const rbPenaltyLaw* law;
    const rbContact* contact;
    const rbContactPoint* point;
    const rbContactBody* bodies;
    double h;
    bool isEnd;
} Push;

static double pushNormal(const Push* push, rbVec3 u)
{
    const rbPenaltyLaw* law = push->law;
    const rbContactBody* bodies = push->bodies;
    double inverse = bodies[push->contact->bodyA].invMass + bodies[push->contact->bodyB].invMass;
    double stiffness = law->frequency * law->frequency / inverse;
    double damper = 2.0 * law->damping * law->frequency / inverse;
    double speed = rbDot(u, push->contact->normal);
    if (law->row != NULL) {
        // At the end the sweeps make its speed the one that it leaves.
        rbContactLawInput input = {-push->point->gap, -speed, 1.0 / inverse,
                                   push->contact->restitution};
        return fmax(0.0, push->h * law->row->force(&input));
    }
    if (!push->isEnd) {
        return fmax(0.0, push->h * (-stiffness * push->point->gap - damper * speed));
    }
    double lightness = getLightness(bodies, push->contact, push->point, push->contact->normal);
    double other = speed - lightness * push->point->impulse[0]; // velocity due to the other points
    double wanted = push->h * (-stiffness * push->point->gap - damper * other);
    return fmax(0.0, wanted / (1.0 + push->h * damper * lightness));
}

// Friction impulse against a tangential velocity, for a given normal impulse.
static double pushAlong(const Push* push, rbVec3 along, double speed, double normal)
{
    double most = push->contact->friction * normal;
    double lightness = getLightness(push->bodies, push->contact, push->point, along);
    double slip = push->law->slipSpeed;
    if (!push->isEnd) {
        // At most the impulse that stops it.
        double stop = speed / (push->contact->pointCount * lightness);
        return fmin(stop, most * fmin(1.0, speed / slip));
    }
    return speed - lightness * most >= slip ? most : most * speed / (slip + lightness * most);
}

static void findFriction(const Push* push, double normal, double impulse[3])
{
    const rbContact* contact = push->contact;
    rbVec3 u = rbContact_RelativeVelocity(push->bodies, contact, push->point);
    double slides[2] = {rbDot(u, contact->tangents[0]), rbDot(u, contact->tangents[1])};
    double speed = sqrt(slides[0] * slides[0] + slides[1] * slides[1]);
    impulse[1] = 0.0;
    impulse[2] = 0.0;
    if (speed > 0.0 && normal > 0.0) {
        rbVec3 along = rbScale(slides[0] / speed, contact->tangents[0]);
        along = rbAddScaled(along, slides[1] / speed, contact->tangents[1]);
        double grip = pushAlong(push, along, speed, normal);
        impulse[1] = -grip * slides[0] / speed;
        impulse[2] = -grip * slides[1] / speed;
    }
}

// What a sweep computes at every point. Springs first and then friction once is stable; together
// they would need many sweeps, because regularized friction is stiff.
typedef enum Part {
    PART_BOTH,
    PART_SPRINGS,
    PART_FRICTION
} Part;

// Computes the impulses of all points once; returns the largest change.
static double sweep(const rbPenaltyLaw* law, const rbContactSet* set, rbContactBody* bodies,
                    double h, Part part)
{
    double most = 0.0;
    for (int i = 0; i < set->contactCount; ++i) {
        const rbContact* contact = &set->contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbContactPoint* point = &set->points[k];
            if (!(point->gap < 0.0)) {
                continue;
            }
            Push push = {law, contact, point, bodies, h, part != PART_BOTH};
            double impulse[3] = {point->impulse[0], 0.0, 0.0};
            double change[3];
            if (part != PART_FRICTION) {
                impulse[0] = pushNormal(&push, rbContact_RelativeVelocity(bodies, contact, point));
            }
            if (part != PART_SPRINGS) {
                findFriction(&push, impulse[0], impulse);
            }
            for (int t = 0; t < 3; ++t) {
                change[t] = impulse[t] - point->impulse[t];
                most = fmax(most, fabs(change[t]));
                point->impulse[t] = impulse[t];
            }
            if (part != PART_BOTH) {
                apply(contact, point, bodies, change);
            }
        }
    }
    return most;
}

void rbPenaltyLaw_Push(const rbPenaltyLaw* law, const rbContactSet* set, rbContactBody* bodies,
                       double h, bool isEnd)
{
    RB_ASSERT(h >= 0.0);
    for (int i = 0; i < set->pointCount; ++i) {
        memset(set->points[i].impulse, 0, sizeof set->points[i].impulse);
    }
    if (isEnd) {
        double first = sweep(law, set, bodies, h, PART_SPRINGS);
        double change = first;
        for (int i = 1; i < SWEEPS_MAX && change > CHANGE_LEAST * first; ++i) {
            change = sweep(law, set, bodies, h, PART_SPRINGS);
        }
        (void)sweep(law, set, bodies, h, PART_FRICTION);
    } else {
        (void)sweep(law, set, bodies, h, PART_BOTH);
    }
    for (int i = 0; i < set->contactCount; ++i) {
        const rbContact* contact = &set->contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbContactPoint* point = &set->points[k];
            const double* p = point->impulse;
            if (!isEnd) {
                apply(contact, point, bodies, p);
            }
            double grip = sqrt(p[1] * p[1] + p[2] * p[2]);
            point->isSticking = p[0] > 0.0 && grip < contact->friction * p[0];
        }
    }
}
