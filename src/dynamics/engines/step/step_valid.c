// Validity of the results of stages.
#include "dynamics/engines/step/step_contact_state.h"

// Rounding of squared lengths of unit vectors.
#define UNIT_ROUNDING 1e-9

// Whether two values agree, or one of them is not finite.
static bool isNear(double a, double b, double most)
{
    return !(fabs(a - b) > most);
}

static bool isFrame(const rbContact* contact)
{
    const rbVec3* t = contact->tangents;
    return isNear(rbLengthSquared(contact->normal), 1.0, UNIT_ROUNDING) &&
           isNear(rbLengthSquared(t[0]), 1.0, UNIT_ROUNDING) &&
           isNear(rbLengthSquared(t[1]), 1.0, UNIT_ROUNDING) &&
           isNear(rbDot(contact->normal, t[0]), 0.0, UNIT_ROUNDING) &&
           isNear(rbDot(contact->normal, t[1]), 0.0, UNIT_ROUNDING) &&
           isNear(rbDot(t[0], t[1]), 0.0, UNIT_ROUNDING);
}

bool rbStepValid_IsSet(const rbStepContacts* c)
{
    int next = 0;
    bool isValid =
        c->found.contactCount <= c->set.contactCount && c->found.pointCount <= c->set.pointCount;
    for (int i = 0; isValid && i < c->set.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        isValid = contact->bodyA != contact->bodyB && contact->bodyA >= 0 && contact->bodyB >= 0 &&
                  contact->bodyA < c->bodies.count && contact->bodyB < c->bodies.count &&
                  contact->firstPoint == next && contact->pointCount > 0;
        // stops of joints have no tangents
        isValid = isValid && (i >= c->found.contactCount || isFrame(contact));
        isValid = isValid && contact->stiction >= contact->friction && contact->friction >= 0.0 &&
                  contact->restitution >= 0.0 && contact->restitution <= 1.0;
        next += contact->pointCount;
    }
    return isValid && next == c->set.pointCount;
}

bool rbStepValid_AreImpulses(const rbStepContacts* c)
{
    bool isValid = true;
    for (int k = 0; k < c->set.pointCount; ++k) {
        isValid = isValid && !(c->set.points[k].impulse[0] < 0.0);
    }
    return isValid;
}

bool rbStepValid_AreBodies(const rbStepContacts* c)
{
    bool isValid = c->bodies.count == c->engine->bodies.count + 1 &&
                   c->bodies.data[c->engine->bodies.count].invMass == 0.0;
    for (int i = 0; isValid && i < c->engine->bodies.count; ++i) {
        const rbMechBody* body = rbContactStep_GetBody(c, i);
        const rbContactBody* shown = &c->bodies.data[i];
        double invMass = body != NULL && body->isDynamic ? body->invMass : 0.0;
        isValid = shown->invMass == invMass && (invMass > 0.0 || !shown->isFrozen);
        isValid = isValid && shown->invInertia.xx >= 0.0 && shown->invInertia.yy >= 0.0 &&
                  shown->invInertia.zz >= 0.0;
    }
    return isValid;
}

bool rbStepValid_AreIslands(const rbStepContacts* c)
{
    int contacts = 0;
    bool isValid = true;
    for (int i = 0; isValid && i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        contacts += island.contactCount;
        for (int k = 0; isValid && k < island.bodyCount; ++k) {
            isValid = rbContactGraph_FindIsland(c->graph, island.bodies[k]) == i &&
                      c->bodies.data[island.bodies[k]].invMass > 0.0;
        }
        for (int k = 0; isValid && k < island.contactCount; ++k) {
            isValid = !c->set.contacts[island.contacts[k]].isIdle;
        }
    }
    return isValid && contacts <= c->set.contactCount;
}

bool rbStepValid_IsFlight(const rbStepContacts* c, double h)
{
    bool isValid = h > 0.0;
    for (int i = 0; isValid && i < c->flight.late.count; ++i) {
        isValid = !(c->flight.late.data[i] > h) && c->flight.kinds.data[i] <= RB_FLIGHT_QUICK;
    }
    for (int i = 0; isValid && i < c->flight.arrivals.count; ++i) {
        const rbArrival* arrival = &c->flight.arrivals.data[i];
        isValid = arrival->bodyA != arrival->bodyB &&
                  isNear(rbLengthSquared(arrival->normal), 1.0, UNIT_ROUNDING);
    }
    return isValid;
}

bool rbStepValid_AreAccounts(const rbStepContacts* c)
{
    const rbContactAccounts* sums = &c->accounts.sums;
    return !(sums->parted < 0.0) && sums->lasting == 0.0 && sums->lifted == 0.0;
}

bool rbStepValid_IsMechanism(const rbStepMechanism* mechanism)
{
    const rbMechanism* m = &mechanism->m;
    int next = 0;
    bool isValid = mechanism->dynamicCount > 0 && mechanism->dynamicCount <= m->bodyCount;
    for (int i = 0; isValid && i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        isValid = block->firstRow == next && block->rowCount > 0 && block->bodyA >= 0 &&
                  block->bodyB >= 0 && block->bodyA < m->bodyCount && block->bodyB < m->bodyCount &&
                  block->bodyA != block->bodyB;
        next += block->rowCount;
    }
    for (int i = 0; isValid && i < m->bodyCount; ++i) {
        rbQuat q = m->bodies[i].pose.orientation;
        isValid = m->bodies[i].isDynamic == (i < mechanism->dynamicCount) &&
                  isNear(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1.0, UNIT_ROUNDING);
    }
    return isValid && next == m->rowCount;
}
