// Position stages that check the end of their flight: rotating bodies strike with points that are
// not among the contacts of the node, see contact_ahead.c.
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// Maximum flights checked in a step. Mostly the third finds nothing; bodies that rotate by a third
// of a radian in a step need some more.
#define LOOKS_MAX 16
// The same while each joins more bodies: a blow may find those of a row one after the other.
#define LOOKS_JOINING 64
// The same where the stage does not meet its tolerance: a closer check is useless.
#define LOOKS_UNMET 3
// In parts of a step but the last, whose end is only passed.
#define LOOKS_INNER 1
// ... and in the capped mode, whose budget has room for a second solution only where bodies are
// fast: some touching bodies move by this fraction of their size in a step, and some rotate by this
// angle, rad.
#define LOOKS_CAPPED 1
#define FAST_LEAST 0.05
#define TURN_LEAST 0.03
// Least points of a block.
#define POINTS_LEAST 256

// A contact is idle in a position stage if its points would not close with this many times their
// approach. The effect of other contacts on the velocities is checked after the stage.
#define APPROACH_TIMES 2.0

static bool isIdleIn(const rbContactBody* bodies, const rbContact* contact,
                     const rbContactPoint* points, double h)
{
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        const rbContactPoint* point = &points[k];
        if (point->isClosed || point->impulse[0] > 0.0) {
            return false;
        }
        double speed = h > 0.0 ? rbContact_NormalSpeed(bodies, contact, point) : 0.0;
        if (!(point->gap + APPROACH_TIMES * h * speed > 0.0)) {
            return false;
        }
    }
    return true;
}

bool rbContactStep_MarkIdle(rbStepContacts* c, double h)
{
    RB_ASSERT(!(h < 0.0));
    bool isChanged = false;
    for (int i = 0; c->solvers.substeps == NULL && i < c->set.contactCount; ++i) {
        rbContact* contact = &c->set.contacts[i];
        bool isIdle = isIdleIn(c->bodies.data, contact, c->set.points, h);
        isChanged = isChanged || isIdle != contact->isIdle;
        contact->isIdle = isIdle;
    }
    return isChanged;
}

// Activates idle contacts that the flight would close; returns whether there are any.
static bool wake(rbStepContacts* c, double h)
{
    bool isAny = false;
    for (int i = 0; i < c->trial.nodeContacts.count; ++i) {
        rbContact* contact = &c->trial.nodeContacts.data[i];
        bool isWoken = contact->isIdle && !isIdleIn(c->flight.ahead.data, contact,
                                                    c->trial.nodePoints.data, h / APPROACH_TIMES);
        contact->isIdle = contact->isIdle && !isWoken;
        isAny = isAny || isWoken;
    }
    return isAny;
}

void rbContactStep_NoteNode(rbStepContacts* c)
{
    rbArray_Assign(c->trial.nodeContacts, c->set.contacts, c->set.contactCount);
    rbArray_Assign(c->trial.nodePoints, c->set.points, c->set.pointCount);
    c->trial.foundCount = c->found.contactCount;
    for (int k = 0; k < c->trial.nodePoints.count; ++k) {
        c->trial.nodePoints.data[k].bend = 0.0;
        c->set.points[k].bend = 0.0;
    }
}

// The same for a step that nothing undoes: only what overlaps are measured against, a point with
// the least gap for each contact.
static void noteGaps(rbStepContacts* c)
{
    int count = c->found.contactCount;
    c->trial.foundCount = count;
    rbArray_SetCount(c->trial.nodeContacts, count);
    rbArray_SetCount(c->trial.nodePoints, count);
    for (int i = 0; i < count; ++i) {
        rbContact* contact = &c->trial.nodeContacts.data[i];
        contact->bodyA = c->set.contacts[i].bodyA;
        contact->bodyB = c->set.contacts[i].bodyB;
        contact->firstPoint = i;
        contact->pointCount = 1;
        c->trial.nodePoints.data[i].gap = rbFindLeastGap(&c->set, &c->set.contacts[i]);
    }
}

void rbContactStep_RecallNode(rbStepContacts* c, const rbContact* contacts,
                              const rbContactPoint* points)
{
    c->set = rbContactPairs_GetSet(c->pairs);
    c->found = c->set;
    c->set.contactCount += c->own.stops.count;
    c->set.pointCount += c->own.stops.count; // they have a point each
    rbCopyElements(c->set.contacts, contacts, c->set.contactCount, sizeof *contacts);
    rbCopyElements(c->set.points, points, c->set.pointCount, sizeof *points);
}

// Poses of the bodies with the velocities that the stage found. False if one is not finite: then
// there is nothing to find, and the step reports it at its end.
static bool fly(rbStepContacts* c, double h)
{
    RB_ASSERT(h > 0.0);
    bool isFinite = true;
    rbArray_Reserve(c->flight.poses, c->engine->bodies.count);
    rbArray_Reserve(c->flight.ahead, c->bodies.count);
    c->flight.ahead.data[c->engine->bodies.count] =
        c->bodies.data[c->engine->bodies.count]; // the world
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        const rbMechBody* own = rbContactStep_GetBody(c, i);
        c->flight.ahead.data[i] =
            rbContactStep_HasFlight(c, i) ? c->flight.bodies.data[i] : c->bodies.data[i];
        if (own == NULL) {
            memset(&c->flight.poses.data[i], 0, sizeof *c->flight.poses.data);
            continue;
        }
        c->flight.poses.data[i] = own->pose;
        const rbPath* path = c->engine->bodies.data[i].def.path;
        rbMechBody body = *own;
        if (!own->isDynamic && path != NULL) {
            rbStep_FollowPath(path, c->grid.time + h, &body, false);
            c->flight.poses.data[i] = body.pose;
        } else if (own->isDynamic && !rbContactFreeze_IsFrozen(c->rest.freeze, i)) {
            if (rbContactStep_IsTouched(c, i)) {
                rbContactStep_TakeBody(&c->flight.ahead.data[i], &body);
            }
            rbMechBody_LookAhead(&body, h);
            c->flight.poses.data[i] = body.ahead;
            isFinite = isFinite && rbLengthSquared(body.ahead.position) < INFINITY &&
                       rbIsFiniteQuat(body.ahead.orientation);
        }
    }
    return isFinite;
}

static rbContactAhead makeFlight(const rbStepContacts* c, double h)
{
    return (rbContactAhead){.poses = c->flight.poses.data,
                            .bodies = c->flight.ahead.data,
                            .nodeContacts = c->trial.nodeContacts.data,
                            .nodePoints = c->trial.nodePoints.data,
                            .bodyCount = c->engine->bodies.count,
                            .h = h,
                            .isCapped = c->solvers.substeps != NULL};
}

// What rolls goes on with nearly the same velocities: its bends are good before the first solution.
static void guessBends(rbStepContacts* c, double h)
{
    memset(c->flight.kinds.data, RB_FLIGHT_PLAIN, (size_t)c->flight.kinds.count);
    if (c->solvers.substeps != NULL || !fly(c, h)) {
        return;
    }
    rbContactAhead flight = makeFlight(c, h);
    if (rbContactPairs_FindBends(c->pairs, &flight)) {
        for (int k = 0; k < c->trial.nodePoints.count; ++k) {
            c->set.points[k].bend = c->trial.nodePoints.data[k].bend;
        }
    }
}

// Bodies that contacts join to others.
static int countJoined(const rbStepContacts* c)
{
    int count = 0;
    for (int i = 0; i < c->islandCount; ++i) {
        count += rbContactGraph_GetIsland(c->graph, i).bodyCount - 1;
    }
    return count;
}

static int countLooks(const rbStepContacts* c, const rbStepMiss* miss)
{
    if (c->solvers.substeps != NULL) {
        return LOOKS_CAPPED;
    }
    if (rbContactStep_IsInner(c)) {
        return LOOKS_INNER;
    }
    return rbContactStep_IsMissed(c, miss) ? LOOKS_UNMET : LOOKS_MAX;
}

// In the capped mode: whether a touching body may move far in the step, and one has a shape that it
// moves by rotating.
static bool isFast(const rbStepContacts* c, double h)
{
    bool isAnyFast = false;
    bool isAnyTurned = false;
    for (int i = 0; i < c->engine->bodies.count && !(isAnyFast && isAnyTurned); ++i) {
        const rbMechBody* body = rbContactStep_IsTouched(c, i) ? rbContactStep_GetBody(c, i) : NULL;
        if (body != NULL && body->isDynamic) {
            isAnyFast = isAnyFast || h * rbLength(body->velocity) > FAST_LEAST * body->radius;
            isAnyTurned = isAnyTurned || rbContactPairs_IsTurned(c->pairs, i);
        }
    }
    return isAnyFast && isAnyTurned;
}

// ... and whether one of these started to rotate.
static bool isTurning(const rbStepContacts* c, double h)
{
    double least = TURN_LEAST / h;
    for (int i = 0; i < c->bodies.count; ++i) {
        const rbContactBody* body =
            rbContactStep_HasFlight(c, i) ? &c->flight.bodies.data[i] : &c->bodies.data[i];
        if (rbLengthSquared(body->spin) > least * least && rbContactPairs_IsTurned(c->pairs, i)) {
            return true;
        }
    }
    return false;
}

// The next solution of the stage starts from the end of this one; where bodies rest it starts from
// the same start, see notePassing in step_contact_stages.c.
static void guessAgain(rbStepContacts* c)
{
    RB_ASSERT(c->set.pointCount == c->trial.nodePoints.count);
    for (int k = 0; k < c->set.pointCount; ++k) {
        const rbContactPoint* point = &c->set.points[k];
        const double* passing = point->passing;
        bool isResting = passing[0] != 0.0 || passing[1] != 0.0 || passing[2] != 0.0;
        for (int t = 0; t < 3 && !isResting; ++t) {
            c->trial.nodePoints.data[k].impulse[t] = 2.0 * point->impulse[t]; // of a whole step
            c->trial.nodePoints.data[k].passing[t] = 0.0;
        }
    }
}

// Points that bear at the node and did so in the last flight; of stops only the former is known.
// Short steps across changes at higher orders count as bearing: to undo the overlap of bodies that
// touch within one of 1e-7 s takes more than their speed, and they would be held in place.
static void noteBearing(void* context, rbShare share)
{
    rbStepContacts* c = context;
    bool isShort = rbContactOrder_IsUsed(c);
    for (int k = share.begin; k < share.end; ++k) {
        rbContactPoint* point = &c->set.points[k];
        bool wasBearing = point->wasBearing || k >= c->found.pointCount;
        point->wasBearing = isShort || (wasBearing && point->impulse[0] > 0.0);
    }
}

// Flies to the end of the step and takes the bodies back with what the flight met. Returns whether
// it met anything, so that the flight has to be solved again.
static bool lookAhead(rbStepContacts* c, double h)
{
    if (!fly(c, h)) {
        return false;
    }
    rbContactAhead flight = makeFlight(c, h);
    bool isWoken = wake(c, h);
    bool isFound = rbContactPairs_LookAhead(c->pairs, &flight, &c->set);
    c->flight.isGuarded = c->flight.isGuarded || rbContactPairs_GetReport(c->pairs).isGuarded;
    if (isFound) {
        rbStepLimits_PutBack(c);
    } else if (isWoken) { // contacts found ahead will be found again
        rbContactStep_RecallNode(c, c->trial.nodeContacts.data, c->trial.nodePoints.data);
        RB_ASSERT(c->set.pointCount == c->trial.nodePoints.count);
        RB_ASSERT(c->set.contactCount == c->trial.nodeContacts.count);
    } else {
        return false;
    }
    RB_VALIDATE(rbStepValid_AreBodies(c));
    memcpy(c->bodies.data, c->stage.before.data, (size_t)c->bodies.count * sizeof *c->bodies.data);
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        rbContactStep_TurnIsland(c, &island, h);
    }
    return true;
}

void rbContactStep_SolveAhead(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    bool isCapped = c->solvers.substeps != NULL;
    c->flight.isGuarded = false;
    rbRunShares(c->set.pointCount, POINTS_LEAST, noteBearing, c);
    if (isCapped && !isFast(c, h)) {
        noteGaps(c);
        rbContactStep_SolvePositions(c, host, h, miss);
        return;
    }
    bool isActing = false; // impulses that act are still to be found
    rbContactAccounts sums = c->accounts.sums;
    rbStepMiss before = *miss;
    RB_ASSERT(h > 0.0 && c->set.contactCount >= c->found.contactCount);
    rbContactStep_ShowBodies(c);
    if (rbContactStep_MarkIdle(c, h)) {
        rbStepContacts_PrepareSet(c);
    }
    rbContactStep_NoteNode(c);
    guessBends(c, h);
    if (rbContactStep_IsInner(c)) {
        isActing = rbContactStep_SolveFlights(c, host, h, miss);
    } else {
        rbContactStep_SolvePositions(c, host, h, miss);
    }
    guessAgain(c);
    int joined = countJoined(c);
    bool isJoining = false;
    for (int i = 0;
         i < (isJoining ? LOOKS_JOINING : countLooks(c, miss)) && (!isCapped || isTurning(c, h));
         ++i) {
        if (!lookAhead(c, h)) {
            break;
        }
        c->accounts.sums = sums;
        *miss = before;
        rbStepContacts_PrepareSet(c);
        int now = countJoined(c);
        isJoining = !isCapped && i + 1 >= LOOKS_MAX && now > joined;
        joined = now;
        isActing = rbContactStep_SolveFlights(c, host, h, miss);
    }
    if (isActing) { // the end of a flight does not depend on them
        rbContactStep_SolveActing(c, host, h, miss);
    }
    c->flight.isWild = c->flight.isWild || rbContactPairs_GetReport(c->pairs).isThrough;
}
