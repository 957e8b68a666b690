// Friction of points that slide throughout a step: at order 2 although their direction turns.
//
// Without this, friction acts against the slip that a stage leaves. The sum over both stages then
// points against the slip at the end of the step, and the error of a step is of second order in h.
// Here the position stage uses the slip at the start of the step, and the sum over both stages the
// mean direction of start and end. Both come about by a slip that solvers add to their own: a very
// large one along the start; and as much along the start as there is at the end.
//
// It only holds while a point slides faster than forces and friction can turn or stop it. Islands
// where the result says otherwise are solved again without.
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// So large that the slip of a stage does not matter in comparison.
#define FAR 1e6
// A point slides throughout if its slip is this many times what a step can change.
#define STEADY 4.0
// Cosines of the angles by which it may turn in the step, and in half of it.
#define TURN_MOST 0.5
#define TURN_HALF 0.866
// Part of n K n that friction may use up: more would jam.
#define JAM 0.5
// Part of the rim by which friction may be off.
#define RIM_PLAY 1e-6

// The velocity that a unit impulse gives the point.
static rbVec3 respond(const rbStepContacts* c, const rbContact* contact,
                      const rbContactPoint* point, rbVec3 d)
{
    rbContactBody pair[2] = {c->bodies.data[contact->bodyA], c->bodies.data[contact->bodyB]};
    pair[0].velocity = pair[0].spin = pair[1].velocity = pair[1].spin = RB_VEC3_ZERO;
    rbContact alone = {.bodyA = 0, .bodyB = 1};
    rbContact_ApplyImpulse(pair, &alone, point, d);
    return rbContact_RelativeVelocity(pair, &alone, point);
}

static rbVec3 tangentialOf(const rbContact* contact, rbVec3 v)
{
    return rbAddScaled(v, -rbDot(v, contact->normal), contact->normal);
}

// What half of the forces over a step give, backward in time, to a body at the start of a stage.
static rbContactBody withoutForces(const rbStepContacts* c, int index, double h)
{
    rbContactBody body = c->stage.before.data[index];
    const rbMechBody* moved = rbContactStep_GetBody(c, index);
    if (moved != NULL && rbContactBody_IsMoved(&body)) {
        double part = rbContactStep_PartOf(c, h);
        body.velocity = rbAddScaled(body.velocity, -0.5 * part, c->flight.kicks.data[index]);
        rbVec3 spin = rbMulSV(body.invInertia, rbScale(0.5 * h, moved->torque));
        body.spin = rbSub(body.spin, spin);
    }
    return body;
}

// How much a step can change the slip of a point: by forces, and by friction of all its neighbors.
static double changeOf(const rbStepContacts* c, const rbContact* contact,
                       const rbContactPoint* point, rbVec3 d, double h)
{
    rbVec3 kick = rbSub(c->flight.kicks.data[contact->bodyB], c->flight.kicks.data[contact->bodyA]);
    double load = 0.0;
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        load += 2.0 * c->set.points[k].impulse[0];
    }
    return rbContactStep_PartOf(c, h) * rbLength(tangentialOf(contact, kick)) +
           contact->friction * load * rbDot(d, respond(c, contact, point, d));
}

// The slip that leads friction of a point; false: none does.
static bool leadPoint(rbStepContacts* c, const rbContact* contact, int k, double h,
                      bool isOfPositions)
{
    const rbContactPoint* point = &c->set.points[k];
    const double* p = point->impulse;
    double rim = contact->friction * p[0];
    if (point->isSticking || point->isAhead || !point->isClosed || !(rim > 0.0) ||
        (!isOfPositions && !(sqrt(p[1] * p[1] + p[2] * p[2]) > (1.0 - RIM_PLAY) * rim))) {
        return false;
    }
    rbContactBody a = withoutForces(c, contact->bodyA, h);
    rbContactBody b = withoutForces(c, contact->bodyB, h);
    rbVec3 u =
        rbAdd(rbContactBody_RelativeVelocity(&a, point->armA, &b, point->armB), contact->belt);
    u = tangentialOf(contact, u);
    double speed = rbLength(u);
    rbVec3 d =
        rbScale(1.0 / rim, rbJoinImpulse(RB_VEC3_ZERO, contact->tangents, 0.0, -p[1], -p[2]));
    d = isOfPositions && speed > 0.0 ? rbScale(1.0 / speed, u) : d;
    rbVec3 n = contact->normal;
    double jam = contact->friction * fabs(rbDot(n, respond(c, contact, point, d)));
    if (!(speed > STEADY * changeOf(c, contact, point, d, h)) || rbDot(u, d) < TURN_HALF * speed ||
        jam > JAM * rbDot(n, respond(c, contact, point, n))) {
        return false;
    }
    double size = isOfPositions ? FAR * speed : speed;
    c->stage.leads.data[k].slip[0] = size * rbDot(d, contact->tangents[0]);
    c->stage.leads.data[k].slip[1] = size * rbDot(d, contact->tangents[1]);
    return true;
}

bool rbContactSlides_Lead(rbStepContacts* c, const rbContactIsland* island, double h,
                          bool isOfPositions)
{
    bool isAny = false;
    rbArray_Reserve(c->stage.leads, c->set.pointCount);
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        bool isPlain = island->contacts[i] < c->foundCount && !(contact->rolling > 0.0) &&
                       !(contact->spinning > 0.0);
        if (!isPlain) {
            return false;
        }
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            memset(&c->stage.leads.data[k], 0, sizeof c->stage.leads.data[k]);
            isAny = leadPoint(c, contact, k, h, isOfPositions) || isAny;
        }
    }
    return isAny;
}

bool rbContactSlides_AreSteady(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const double* lead = c->stage.leads.data[k].slip;
            const rbContactPoint* point = &c->set.points[k];
            if (lead[0] == 0.0 && lead[1] == 0.0) {
                continue;
            }
            rbVec3 d = rbJoinImpulse(RB_VEC3_ZERO, contact->tangents, 0.0, lead[0], lead[1]);
            rbVec3 u = rbContact_RelativeVelocity(c->bodies.data, contact, point);
            u = tangentialOf(contact, u);
            if (point->isSticking || !(rbDot(u, d) > TURN_MOST * rbLength(u) * rbLength(d))) {
                return false;
            }
        }
    }
    return true;
}
