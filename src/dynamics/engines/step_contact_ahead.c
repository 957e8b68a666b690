// Position stages that look at the end of their flight: bodies that turn strike with points which
// the contacts of the node do not show, see contact_ahead.c.
#include "dynamics/engines/step_contact_state.h"

#include <string.h>

// Flights looked at in a step. Mostly the third finds nothing; bodies that turn by a third of a
// radian in a step need some more.
#define LOOKS_MAX 16
// The same where the stage does not meet its tolerance: to look closer is of no use.
#define LOOKS_UNMET 3

// A contact is idle in a position stage if its points would not close with this many times their
// approach. What other contacts then make of the velocities is looked at after the stage.
#define APPROACH_TIMES 2.0

static bool isIdleIn(const rbContactBody* bodies, const rbContact* contact,
                     const rbContactPoint* points, double h)
{
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        const rbContactPoint* point = &points[k];
        if (point->isClosed || point->impulse[0] > 0.0) {
            return false;
        }
        double speed =
            h > 0.0 ? rbDot(contact->normal, rbContact_RelativeVelocity(bodies, contact, point))
                    : 0.0;
        if (!(point->gap + APPROACH_TIMES * h * speed > 0.0)) {
            return false;
        }
    }
    return true;
}

bool rbContactStep_MarkIdle(rbStepContacts* c, double h)
{
    bool isChanged = false;
    for (int i = 0; i < c->set.contactCount; ++i) {
        rbContact* contact = &c->set.contacts[i];
        bool isIdle = c->substeps == NULL && isIdleIn(c->bodies.data, contact, c->set.points, h);
        isChanged = isChanged || isIdle != contact->isIdle;
        contact->isIdle = isIdle;
    }
    return isChanged;
}

// Idle contacts that the flight would close; returns whether there are any.
static bool wake(const rbContactBody* bodies, rbContact* contacts, int count,
                 const rbContactPoint* points, double h)
{
    bool isWoken = false;
    for (int i = 0; i < count; ++i) {
        rbContact* contact = &contacts[i];
        if (contact->isIdle && !isIdleIn(bodies, contact, points, h / APPROACH_TIMES)) {
            contact->isIdle = false;
            isWoken = true;
        }
    }
    return isWoken;
}

void rbContactStep_NoteNode(rbStepContacts* c)
{
    rbArray_Reserve(c->nodeContacts, c->set.contactCount);
    rbArray_Reserve(c->nodePoints, c->set.pointCount);
    c->nodeContacts.count = c->set.contactCount;
    c->nodePoints.count = c->set.pointCount;
    if (c->set.pointCount > 0) {
        memcpy(c->nodeContacts.data, c->set.contacts,
               (size_t)c->set.contactCount * sizeof *c->set.contacts);
        memcpy(c->nodePoints.data, c->set.points,
               (size_t)c->set.pointCount * sizeof *c->set.points);
    }
}

bool rbContactStep_RecallNode(rbStepContacts* c)
{
    const rbContactPoint* points = c->set.points;
    rbContactPairs_DropAhead(c->pairs, &c->set);
    rbStepLimits_PutBack(c);
    RB_ASSERT(c->set.pointCount == c->nodePoints.count);
    if (c->set.pointCount > 0) {
        memcpy(c->set.contacts, c->nodeContacts.data,
               (size_t)c->set.contactCount * sizeof *c->set.contacts);
        memcpy(c->set.points, c->nodePoints.data,
               (size_t)c->set.pointCount * sizeof *c->set.points);
    }
    return points != c->set.points;
}

// Where bodies would be with the velocities that the stage found.
static void fly(rbStepEngine* engine, double h)
{
    rbStepContacts* c = engine->contacts;
    rbArray_Reserve(c->aheadPoses, engine->bodies.count);
    rbArray_Reserve(c->aheadBodies, c->bodies.count);
    c->aheadBodies.data[engine->bodies.count] = c->bodies.data[engine->bodies.count]; // the world
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbMechBody* own = rbContactStep_GetBody(engine, i);
        c->aheadBodies.data[i] =
            rbContactStep_IsTwice(c, i) ? c->flights.data[i] : c->bodies.data[i];
        if (own == NULL) {
            memset(&c->aheadPoses.data[i], 0, sizeof *c->aheadPoses.data);
            continue;
        }
        c->aheadPoses.data[i] = own->pose;
        if (own->isDynamic && !rbContactFreeze_IsFrozen(c->freeze, i)) {
            rbMechBody body = *own;
            if (rbContactStep_IsTouched(c, i)) {
                rbContactStep_TakeBody(&c->aheadBodies.data[i], &body);
            }
            rbMechBody_LookAhead(&body, h);
            c->aheadPoses.data[i] = body.ahead;
        }
    }
}

void rbContactStep_SolveAhead(rbStepEngine* engine, const rbStepHost* host, double h, bool* isUnmet)
{
    rbStepContacts* c = engine->contacts;
    if (c->substeps != NULL) {
        // a game's budget has no room for a second solution
        rbContactStep_SolvePositions(engine, host, h, isUnmet);
        return;
    }
    rbContactBooks books = c->books;
    bool wasUnmet = *isUnmet;
    rbContactStep_ShowBodies(engine);
    if (rbContactStep_MarkIdle(c, h)) {
        rbStepContacts_PrepareSet(engine);
    }
    rbContactStep_NoteNode(c);
    rbContactStep_SolvePositions(engine, host, h, isUnmet);
    for (int i = 0; i < (*isUnmet ? LOOKS_UNMET : LOOKS_MAX); ++i) {
        fly(engine, h);
        rbContactAhead flight = {.poses = c->aheadPoses.data,
                                 .bodies = c->aheadBodies.data,
                                 .nodeContacts = c->nodeContacts.data,
                                 .nodePoints = c->nodePoints.data,
                                 .bodyCount = engine->bodies.count,
                                 .h = h};
        bool isWoken = wake(c->aheadBodies.data, c->nodeContacts.data, c->nodeContacts.count,
                            c->nodePoints.data, h);
        if (!rbContactPairs_LookAhead(c->pairs, &flight, &c->set)) {
            if (!isWoken) {
                break;
            }
            (void)rbContactStep_RecallNode(c); // what was found ahead will be found again
        } else {
            rbStepLimits_PutBack(c);
        }
        memcpy(c->bodies.data, c->before.data, (size_t)c->bodies.count * sizeof *c->bodies.data);
        rbContactStep_TurnMechanisms(engine, h, true);
        c->books = books;
        *isUnmet = wasUnmet;
        rbStepContacts_PrepareSet(engine);
        rbContactStep_SolvePositions(engine, host, h, isUnmet);
    }
    c->isWild = c->isWild || rbContactPairs_IsThrough(c->pairs);
}
