// Bodies that arrive at a surface within a step: they are stopped there only for the flight, feel
// forces until then, and collide at its end.
#include "base/math/matrix3.h"
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// m: a gap that nothing closes in a step.
#define FAR 1e9
// Flights this many times as fast as the fastest body of an island are runaways.
#define WILD_TIMES 2.0
// Centers closer than this fraction of the radii give no direction.
#define CENTERS_APART 1e-3
// Sweeps that move overlapping bodies apart; the rest is left to the next steps.
#define PART_SWEEPS 32
// s: replaces the delay for a body that rests on something.
#define RESTING (-1.0)
// Velocities whose squares of difference and size have this ratio are equal.
#define FLIGHT_ROUNDING 1e-24
// A point that arrived may be open by this fraction of the distance that it would travel in a step.
#define NEAR_PART 0.25

// A body feels forces in the step only until it arrives; one that already rests on something does
// not arrive.
static void noteLate(rbStepContacts* c, int body, double late)
{
    RB_ASSERT(body >= 0 && body < c->flight.late.count);
    if (c->bodies.data[body].invMass > 0.0 && c->flight.late.data[body] >= 0.0) {
        c->flight.late.data[body] = fmax(c->flight.late.data[body], late);
    }
}

// Points that are open at the node and approach fast: no lasting impulse may stop them.
static bool isApproaching(const rbStepContacts* c, int k)
{
    const rbContactPoint* point = &c->set.points[k];
    bool isOpen = !point->isClosed || point->isAhead;
    return isOpen && c->stage.approaches.data[k] < -c->settings.restSpeed;
}

// Those that were stopped at the surface.
static bool isArriving(const rbStepContacts* c, int k)
{
    const rbContactPoint* point = &c->set.points[k];
    return isApproaching(c, k) && point->impulse[0] > 0.0;
}

// Points whose overlap is undone: the speed of this also holds only for the displacement. The
// bodies may be past each other at the end of the flight, and then no velocity stage would remove
// it; and it would do work against the force that turns the normal. A point that bore load sank
// against its force, and has the work back that this took.
static bool isParting(const rbStepContacts* c, int k)
{
    const rbContactPoint* point = &c->set.points[k];
    bool isWithin = point->wasBearing && !c->settings.isOverlapAllowed;
    return point->gap < -((isWithin ? c->settings.shell : 0.0) + c->settings.tolerance);
}

// Work of the force of a contact on the way from its overlaps to a gap: what the impulses of a step
// give, the half of it that is solved and the other that follows.
static double workTo(const rbStepContacts* c, const rbContact* contact, double gap, double h)
{
    RB_ASSERT(h > 0.0);
    double work = 0.0;
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        const rbContactPoint* point = &c->set.points[k];
        work += 2.0 * point->impulse[0] / h * fmax(0.0, gap - point->gap);
    }
    return work;
}

// Curved paths leave an overlap at the end of a flight that rows do not know of; while it stays,
// the force of the contact does no work. The gap there, which the velocities start from where the
// way out would give more than a bound: displacement alone undoes the rest. -INFINITY: it gives
// less.
static double findStay(rbStepContacts* c, const rbContact* contact, double bound, double h)
{
    double gap = 0.0;
    if (workTo(c, contact, gap, h) > bound) {
        gap = rbContactStep_MeasureGap(c, contact->bodyA, contact->bodyB, h, INFINITY);
    }
    return workTo(c, contact, fmin(gap, 0.0), h) > bound ? fmin(gap, 0.0) : -INFINITY;
}

// Whether forces press an island onto what does not move: what carries them gives no speed.
static bool isPressed(const rbStepContacts* c, const rbContactIsland* island)
{
    bool isAny = false;
    for (int i = 0; i < island->bodyCount && island->isGrounded; ++i) {
        isAny = isAny || rbLengthSquared(c->flight.kicks.data[island->bodies[i]]) > 0.0;
    }
    return isAny;
}

// Notes the gaps that the velocities start from; whether they differ from those of the flight, or
// bodies arrive. Short steps of higher orders have no room for a displacement, see noteBearing.
static bool hasArrivals(rbStepContacts* c, const rbContactIsland* island, double h)
{
    RB_ASSERT(c->stage.stays.capacity >= c->set.pointCount);
    bool isFree = !isPressed(c, island) && !rbContactOrder_IsUsed(c);
    double bound = isFree ? rbContactStep_BoundGain(c, island, h) : 0.0;
    bool isAny = false;
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        bool isOfNode = island->contacts[i] < c->found.contactCount && // not a stop
                        !c->set.points[contact->firstPoint].isAhead;
        double stay = bound > 0.0 && isOfNode ? findStay(c, contact, bound, h) : -INFINITY;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[k];
            c->stage.stays.data[k] = isParting(c, k) ? 0.0 : fmax(point->gap, stay);
            isAny = isAny || c->stage.stays.data[k] != point->gap || isArriving(c, k);
        }
    }
    return isAny;
}

// Nothing stops a point in the second solution.
static void openPoint(rbStepContacts* c, int k)
{
    rbContactPoint* point = &c->set.points[k];
    RB_ASSERT(k >= 0 && k < c->set.pointCount);
    memset(point->impulse, 0, sizeof point->impulse);
    point->gap = FAR;
    c->stage.points.data[k] = *point;
}

// Opens arriving points for the second solution, and records how late they will be.
static void openArrivals(rbStepContacts* c, const rbContactIsland* island, double h)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbContactPoint* point = &c->set.points[k];
            bool isOpened = isApproaching(c, k);
            bool isArrived = isArriving(c, k);
            double free = isArrived ? fmax(0.0, point->gap) / -c->stage.approaches.data[k] : h;
            RB_ASSERT(!(free < 0.0));
            double late = fmax(0.0, h - free);
            *point = c->stage.points.data[k];
            c->stage.gaps.data[k] = point->gap;
            if (isArrived) {
                rbArrival arrival = {.bodyA = contact->bodyA,
                                     .bodyB = contact->bodyB,
                                     .normal = contact->normal,
                                     .armA = point->armA,
                                     .armB = point->armB,
                                     .gap = point->gap,
                                     .isOfStop = island->contacts[i] >= c->found.contactCount,
                                     .isAhead = point->isAhead};
                rbArray_Push(c->flight.arrivals, arrival);
                noteLate(c, contact->bodyA, late);
                noteLate(c, contact->bodyB, late);
            }
            if (isOpened) {
                openPoint(c, k);
            } else { // also where a solver starts anew
                point->gap = c->stage.points.data[k].gap = c->stage.stays.data[k];
            }
        }
    }
}

static bool hasArrived(const rbStepContacts* c, const rbContact* contact, int first)
{
    bool isFound = false;
    for (int i = first; i < c->flight.arrivals.count && !isFound; ++i) {
        const rbArrival* arrival = &c->flight.arrivals.data[i];
        isFound = arrival->bodyA == contact->bodyA && arrival->bodyB == contact->bodyB;
    }
    return isFound;
}

// For pairs that arrive, other points that the flight would strike are opened too: they belong to
// that flight.
static void openAhead(rbStepContacts* c, const rbContactIsland* island, int first)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        if (!c->set.points[contact->firstPoint].isAhead || !hasArrived(c, contact, first)) {
            continue;
        }
        for (int k = 0; k < contact->pointCount; ++k) {
            openPoint(c, contact->firstPoint + k);
        }
    }
}

// Whether stopping bodies at surfaces made one of them faster than any of them is: contradictory
// conditions.
static bool isWild(const rbStepContacts* c, const rbContactIsland* island)
{
    double fastest = c->settings.partSpeed;
    double flight = 0.0;
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        const int bodies[2] = {contact->bodyA, contact->bodyB};
        for (int k = 0; k < 2; ++k) {
            const rbContactBody* body = &c->stage.before.data[bodies[k]];
            double turn = c->own.radii.data[bodies[k]] * rbLength(body->spin);
            fastest = fmax(fastest, rbLength(body->velocity) + turn);
        }
    }
    for (int i = 0; i < island->bodyCount; ++i) {
        flight = fmax(flight, rbLength(c->flight.bodies.data[island->bodies[i]].velocity));
    }
    return !(flight <= WILD_TIMES * fastest);
}

// The flight of an island that stays in place.
static void holdIsland(rbStepContacts* c, const rbContactIsland* island)
{
    RB_ASSERT(island->bodyCount > 0);
    for (int i = 0; i < island->bodyCount; ++i) {
        c->flight.bodies.data[island->bodies[i]].velocity = RB_VEC3_ZERO;
        c->flight.bodies.data[island->bodies[i]].spin = RB_VEC3_ZERO;
    }
}

static bool hasParting(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            if (isParting(c, k)) {
                return true;
            }
        }
    }
    return false;
}

// The way apart of a pair: the line of the centers, since the shortest ways out of several overlaps
// may form a circle. Along the lines of centers an expansion of the whole group is a way out. From
// fixed bodies, and for bodies with a common center, the normal.
static rbVec3 findWay(const rbStepContacts* c, const rbContact* contact)
{
    int a = contact->bodyA;
    int b = contact->bodyB;
    if (!(c->bodies.data[a].invMass > 0.0 && c->bodies.data[b].invMass > 0.0)) {
        return contact->normal;
    }
    rbVec3 way = rbSub(rbContactStep_GetBody(c, b)->pose.position,
                       rbContactStep_GetBody(c, a)->pose.position);
    double length = rbLength(way);
    bool isClear = length > CENTERS_APART * (c->own.radii.data[a] + c->own.radii.data[b]);
    return isClear ? rbScale(1.0 / length, way) : contact->normal;
}

// One sweep over the contacts of an island: pairs that overlap part, the others do not close by
// more than their gap. Only flights change, and bodies do not turn.
static void sweepApart(rbStepContacts* c, const rbContactIsland* island, double h)
{
    RB_ASSERT(h > 0.0 && c->settings.isOverlapAllowed);
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        rbContactBody* a = &c->flight.bodies.data[contact->bodyA];
        rbContactBody* b = &c->flight.bodies.data[contact->bodyB];
        double shareA = a->isFrozen ? 0.0 : a->invMass;
        double shareB = b->isFrozen ? 0.0 : b->invMass;
        double gap = rbFindLeastGap(&c->set, contact);
        bool isApart = gap >= -(c->settings.shell + c->settings.tolerance);
        rbVec3 way = isApart ? contact->normal : findWay(c, contact);
        double target = fmin(c->settings.partSpeed, -gap / h);
        double missing = target - rbDot(way, rbSub(b->velocity, a->velocity));
        if (missing > 0.0 && shareA + shareB > 0.0) {
            double part = missing / (shareA + shareB);
            a->velocity = rbAddScaled(a->velocity, -part * shareA, way);
            b->velocity = rbAddScaled(b->velocity, part * shareB, way);
        }
    }
}

// Bodies that overlapped at the start and whose shortest ways apart contradict each other.
static void partIsland(rbStepContacts* c, const rbContactIsland* island, double h)
{
    // obstacles are in no island, and have no flights of their own
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        c->flight.bodies.data[contact->bodyA] = c->bodies.data[contact->bodyA];
        c->flight.bodies.data[contact->bodyB] = c->bodies.data[contact->bodyB];
    }
    holdIsland(c, island);
    for (int i = 0; i < PART_SWEEPS; ++i) {
        sweepApart(c, island, h);
    }
    for (int i = 0; i < island->bodyCount; ++i) {
        rbContactBody* flight = &c->flight.bodies.data[island->bodies[i]];
        double speed = rbLength(flight->velocity);
        if (speed > c->settings.partSpeed) {
            flight->velocity = rbScale(c->settings.partSpeed / speed, flight->velocity);
        }
    }
}

static bool isBearing(const rbStepContacts* c, const rbContact* contact)
{
    bool isAny = false;
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        isAny = isAny || c->set.points[k].impulse[0] > 0.0;
    }
    return isAny;
}

// A body resting on something continues with its time.
static void noteResting(rbStepContacts* c, const rbContact* contact)
{
    if (isBearing(c, contact)) {
        c->flight.late.data[contact->bodyA] = RESTING;
        c->flight.late.data[contact->bodyB] = RESTING;
    }
}

static void closeArrivals(rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            c->set.points[k].gap = c->stage.gaps.data[k];
        }
        noteResting(c, contact);
    }
}

// Where bodies arrive, the impulses that stop them at the surface act only on the displacement of
// the flight.
void rbContactStep_KeepFlights(rbStepContacts* c, double h)
{
    RB_ASSERT(h > 0.0 && c->stage.approaches.count == c->set.pointCount);
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        if (rbContactStep_IsQuick(c, &island) || !hasArrivals(c, &island, h)) {
            continue;
        }
        for (int k = 0; k < island.bodyCount; ++k) {
            int body = island.bodies[k];
            c->flight.bodies.data[body] = c->bodies.data[body];
            c->flight.kinds.data[body] = RB_FLIGHT_TWICE;
        }
        if (isWild(c, &island) && !rbContactStep_HasMechanism(c, &island)) {
            if (c->settings.isOverlapAllowed && hasParting(c, &island)) {
                partIsland(c, &island, h);
            } else {
                holdIsland(c, &island);
                c->flight.isWild = true;
            }
        }
    }
}

// Their effect on the velocities, of these bodies and of all that they push, is discarded, and the
// impulses that really act are found without them.
void rbContactStep_SolveArrivals(rbStepContacts* c, const rbStepHost* host, double h,
                                 rbStepMiss* miss)
{
    RB_ASSERT(c->stage.points.count == c->set.pointCount);
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        if (island.bodyCount == 0 || c->flight.kinds.data[island.bodies[0]] != RB_FLIGHT_TWICE) {
            continue;
        }
        for (int k = 0; k < island.bodyCount; ++k) {
            c->bodies.data[island.bodies[k]] = c->stage.before.data[island.bodies[k]];
        }
        rbContactStep_TurnIsland(c, &island, h);
        int first = c->flight.arrivals.count;
        openArrivals(c, &island, h);
        openAhead(c, &island, first);
        rbContactStep_SolveIsland(c, host, &island, h, miss);
        closeArrivals(c, &island);
    }
}

static double takeFlight(rbStepContacts* c, int index, const void* args)
{
    (void)args;
    bool hasFlight = rbContactStep_HasFlight(c, index);
    rbMechBody* body = hasFlight ? rbContactStep_GetBody(c, index) : NULL;
    if (body != NULL && body->isDynamic) {
        // The acting velocity is already there; the other one is borrowed.
        body->lentVelocity = body->velocity;
        body->lentMomentum = body->momentum;
        rbContactStep_TakeBody(&c->flight.bodies.data[index], body);
    }
    return 0.0;
}

// Bodies of these islands fly with one velocity ...
void rbContactStep_TakeFlights(rbStepContacts* c)
{
    (void)rbContactStep_EachBody(c, takeFlight, NULL);
}

void rbStepContacts_ReturnSpeeds(const rbStepContacts* c, rbStepMechanism* mechanism)
{
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        rbMechBody* body = &mechanism->m.bodies[i];
        if (rbContactStep_HasFlight(c, body->index)) {
            body->velocity = body->lentVelocity;
            body->momentum = body->lentMomentum;
        }
    }
}

// The fraction of the kick of a step that a body has received when it arrives: the work of the
// force along the displacement of the flight equals the energy gained by then. v: at the node, with
// the impulses that act in the step; w: of the flight. With w = v + kick / 2 it is 1.
// along: v.kick, square: kick.kick, work: w.kick, or their sums over bodies with their masses. A
// body that first moves against the force mayTurn within the step; otherwise it has not turned back
// yet.
static double findShare(double along, double square, double work, bool mayTurn)
{
    RB_ASSERT(!(square < 0.0));
    double root = sqrt(fmax(0.0, along * along + 2.0 * square * work));
    double share = 1.0;
    if (!(root > 0.0) && square > 0.0) {
        share = -along / square;
    } else if (along + (mayTurn ? square : 0.0) < 0.0) {
        share = 2.0 * work / (along - root);
    } else if (along > 0.0) {
        share = 2.0 * work / (along + root);
    } else if (square > 0.0) {
        share = (root - along) / square;
    }
    return share;
}

// The same for a mechanism as a whole: joints, springs and motors kick, too.
static double shareOfMechanism(const rbStepContacts* c, const rbStepMechanism* mechanism)
{
    double along = 0.0;
    double square = 0.0;
    double work = 0.0;
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        const rbContactBody* shown = &c->bodies.data[body->index];
        bool hasFlight = rbContactStep_HasFlight(c, body->index);
        const rbContactBody* flight = hasFlight ? &c->flight.bodies.data[body->index] : shown;
        rbVec3 kick = rbScale(2.0, rbSub(body->velocity, body->startVelocity));
        rbVec3 twist = rbScale(2.0, rbSub(body->momentum, body->startMomentum));
        rbVec3 turn = rbMulSV(shown->invInertia, twist);
        along += body->mass * rbDot(body->startVelocity, kick) + rbDot(body->startMomentum, turn);
        square += body->mass * rbDot(kick, kick) + rbDot(twist, turn);
        work += body->mass * rbDot(flight->velocity, kick) + rbDot(flight->spin, twist);
    }
    return findShare(along, square, work, true);
}

// A wheel that meets a curb in a step goes on over it in the flight, and collides at its end: then
// forces take the energy of the way from what is left of its motion along them. Returns the rest of
// it, which contacts that part overlaps have given.
static double payLift(rbStepContacts* c, int index, const void* args)
{
    double lift = c->flight.lifts.data[index];
    rbMechBody* body = lift > 0.0 ? rbContactStep_GetBody(c, index) : NULL;
    if (body == NULL) {
        return 0.0;
    }
    rbVec3 kick =
        rbScale(rbContactStep_PartOf(c, *(const double*)args), c->flight.kicks.data[index]);
    double square = rbDot(kick, kick);
    double along = fmax(0.0, -rbDot(body->velocity, kick));
    double paid = fmin(2.0 * lift / body->mass, along * along / square);
    double root = sqrt(fmax(0.0, along * along - square * paid));
    double share = along > 0.0 ? paid / (along + root) : 0.0;
    body->velocity = rbAddScaled(body->velocity, share, kick);
    return lift - 0.5 * body->mass * paid;
}

// Whether a flight leads elsewhere than the velocity the body continues with.
static bool isElsewhere(rbVec3 flight, rbVec3 velocity)
{
    return rbLengthSquared(rbSub(flight, velocity)) > FLIGHT_ROUNDING * rbLengthSquared(velocity);
}

// A flight that rotates a body differently from its further rotation leaves it at another place of
// its free motion: its momentum keeps the energy of the rotation.
static void keepTurn(const rbContactBody* shown, rbMechBody* body)
{
    rbSym3 inverse = rbSym3_FromPrincipal(body->invMoments, body->pose.rotation);
    double before = rbDot(body->momentum, rbMulSV(shown->invInertia, body->momentum));
    double after = rbDot(body->momentum, rbMulSV(inverse, body->momentum));
    if (before > 0.0 && after > 0.0) {
        body->momentum = rbScale(sqrt(before / after), body->momentum);
    }
}

// All bodies of a mechanism arrive with one of them; if one rests on something, none does.
static void shareLate(rbStepContacts* c, const rbStepMechanism* mechanism)
{
    double late = 0.0;
    bool isResting = false;
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        late = fmax(late, c->flight.late.data[body->index]);
        isResting = isResting || c->flight.late.data[body->index] < 0.0;
    }
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        c->flight.late.data[body->index] = isResting ? 0.0 : late;
    }
}

// Returns the energy that moved it apart from another at the start, J.
static double returnSpeed(rbStepContacts* c, int index, const void* args)
{
    double h = *(const double*)args;
    bool hasFlight = rbContactStep_HasFlight(c, index);
    double* late = &c->flight.late.data[index];
    bool isOwn = (hasFlight || *late > 0.0) && c->engine->bodies.data[index].mechanism < 0;
    rbMechBody* body = isOwn ? rbContactStep_GetBody(c, index) : NULL;
    if (body == NULL || !body->isDynamic) {
        return 0.0;
    }
    rbVec3 flight = body->velocity;
    if (hasFlight) {
        body->velocity = body->lentVelocity;
        body->momentum = body->lentMomentum;
        if (isElsewhere(c->flight.bodies.data[index].spin, c->bodies.data[index].spin)) {
            keepTurn(&c->bodies.data[index], body);
        }
    }
    rbVec3 kick = rbScale(rbContactStep_PartOf(c, h), c->flight.kicks.data[index]);
    if (c->flight.kinds.data[index] == RB_FLIGHT_TWICE && isElsewhere(flight, body->velocity)) {
        // bodies that a scene puts onto each other without a gap are moved apart by the shell in
        // the first step, without speed: a block on a slope would stand still for this step
        if (c->grid.index == 1 && c->flight.late.data[index] == RESTING &&
            !c->settings.isOverlapAllowed) {
            return body->mass * rbDot(kick, rbSub(body->velocity, flight));
        }
        *late = fmax(*late, RB_STEP_SNAP * h);
    }
    if (!(*late > 0.0)) {
        return 0.0;
    }
    double along = rbDot(rbAddScaled(body->velocity, -0.5, kick), kick);
    double square = rbDot(kick, kick);
    double work = rbDot(flight, kick);
    double share = findShare(along, square, work, true) - 0.5;
    double missing = fmax(0.0, -(along * along + 2.0 * square * work));
    body->velocity = rbAddScaled(body->velocity, share, kick);
    body->momentum = rbAddScaled(body->momentum, share * h, body->torque);
    c->flight.lifts.data[index] = missing > 0.0 ? 0.5 * body->mass * missing / square : 0.0;
    return 0.0;
}

// ... and continue with the other. Arriving bodies collide with the forces of their time in the
// step, and feel none afterward.
void rbContactStep_ReturnSpeeds(rbStepContacts* c, const rbStepHost* host, double h)
{
    c->accounts.sums.lifted += rbContactStep_EachBody(c, returnSpeed, &h);
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &c->engine->mechanisms.data[i];
        rbStepRun run = {.mechanism = mechanism, .host = host, .isForced = true};
        shareLate(c, mechanism);
        if (c->flight.late.data[mechanism->m.bodies[0].index] > 0.0) {
            double share = fmax(0.0, fmin(shareOfMechanism(c, mechanism), 2.0)); // not of rounding
            double part = 2.0 * share - 1.0;
            rbStep_KickEarly(&run, c->grid.time + h, h, part);
            rbStep_CloseEarly(&run, part * h);
        }
    }
}

void rbContactStep_TakeLateKicks(rbStepContacts* c, double h)
{
    c->accounts.sums.lifted += rbContactStep_EachBody(c, payLift, &h);
}

// Bodies of points that are at their surfaces at the end of a step, which is cut there: they have
// received its forces. Bodies resting on something continue.
void rbContactStep_NoteArrivals(rbStepContacts* c, const rbArrival* arrivals, int count, double h)
{
    RB_ASSERT(h > 0.0);
    for (int i = 0; i < count; ++i) {
        noteLate(c, arrivals[i].bodyA, RB_STEP_SNAP * h);
        noteLate(c, arrivals[i].bodyB, RB_STEP_SNAP * h);
    }
    for (int i = 0; i < c->set.contactCount; ++i) {
        noteResting(c, &c->set.contacts[i]);
    }
}

// If no point of a pair that arrived is closed and approaches, closes the nearest of those that
// approach, if they are within the possible error of the flight. isAgain: after collisions what was
// closed stays so, whether it still approaches or not; what rebounds has left. Returns whether a
// point is closed so.
static bool closePair(rbStepContacts* c, const rbArrival* arrival, double h, bool isAgain)
{
    double least = INFINITY;
    bool isAny = false;
    int end;
    int first = rbFindPair(&c->found, arrival->bodyA, arrival->bodyB, &end);
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = first; i < end; ++i) {
            const rbContact* contact = &c->set.contacts[i];
            for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
                rbContactPoint* point = &c->set.points[k];
                double speed = rbContactStep_NormalSpeed(c, contact, point);
                bool isNear =
                    speed < -c->settings.restSpeed && point->gap <= -NEAR_PART * h * speed;
                if (isAgain ? contact->restitution > 0.0 : !isNear) {
                    continue;
                }
                if (pass == 0) {
                    least = point->isClosed ? -INFINITY : fmin(least, point->gap);
                } else if (point->gap <= least + c->settings.shell) {
                    point->isClosed = true;
                    isAny = true;
                }
            }
        }
    }
    return isAny;
}

// The centripetal acceleration of a point counts this many times where it may approach by it.
#define CURVING_TIMES 2.0

// A pair that does not touch at the end of the flight after all.
static void dropArrivals(rbStepContacts* c, int bodyA, int bodyB)
{
    for (int i = 0; i < c->flight.arrivals.count; ++i) {
        rbArrival* arrival = &c->flight.arrivals.data[i];
        bool isTheirs = arrival->bodyA == bodyA && arrival->bodyB == bodyB;
        arrival->isDropped = arrival->isDropped || isTheirs;
    }
}

// Approach at the end of the flight of a point that bore it, as far as it comes from paths and
// surfaces that are curved: its bodies turn, and it moves over them. More is a collision: a ball
// rolls into a crease. m/s
static double curvingOf(const rbStepContacts* c, const rbContact* contact,
                        const rbContactPoint* point, double h)
{
    double approach = -rbContactStep_NormalSpeed(c, contact, point);
    if (c->solvers.substeps != NULL || !(point->impulse[0] > 0.0) || !(approach > 0.0)) {
        return 0.0;
    }
    double spinA = rbLength(c->bodies.data[contact->bodyA].spin);
    double spinB = rbLength(c->bodies.data[contact->bodyB].spin);
    double turned = spinA * spinA * rbLength(point->armA) + spinB * spinB * rbLength(point->armB);
    rbVec3 u = rbContact_RelativeVelocity(c->bodies.data, contact, point);
    double moved = h * rbLength(u) + sqrt(point->movedSquared);
    double most = CURVING_TIMES * h * turned + (spinA + spinB) * moved;
    return approach <= most ? approach : 0.0;
}

// Points that bore the flight and are open at its end only because their bodies turn: a corner on
// which a body tips moves on an arc, of which rows know the tangent; or because another point was
// stopped in the flight, which lifted this one.
static void closeBearing(rbStepContacts* c, double h)
{
    for (int i = 0; i < c->found.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        const rbContactBody* a = &c->bodies.data[contact->bodyA];
        const rbContactBody* b = &c->bodies.data[contact->bodyB];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbContactPoint* point = &c->set.points[k];
            double arc = h * h *
                         (rbLengthSquared(a->spin) * rbLength(point->armA) +
                          rbLengthSquared(b->spin) * rbLength(point->armB));
            const unsigned char* kinds = c->flight.kinds.data;
            bool isStopped =
                c->solvers.substeps == NULL && (kinds[contact->bodyA] == RB_FLIGHT_TWICE ||
                                                kinds[contact->bodyB] == RB_FLIGHT_TWICE);
            double lifted =
                isStopped ? h * rbContact_NormalSpeed(c->flight.bodies.data, contact, point) : 0.0;
            point->isClosed =
                point->isClosed ||
                (point->impulse[0] > 0.0 &&
                 point->gap <= c->settings.shell + arc + fmax(0.0, lifted) &&
                 rbContactStep_NormalSpeed(c, contact, point) < c->settings.restSpeed);
            point->curving = curvingOf(c, contact, point, h);
        }
    }
}

void rbContactStep_CloseArrivals(rbStepContacts* c, double h, bool isAgain)
{
    RB_ASSERT(h > 0.0);
    closeBearing(c, h);
    int lastA = -1;
    int lastB = -1;
    for (int i = 0; i < c->flight.arrivals.count; ++i) {
        rbArrival* arrival = &c->flight.arrivals.data[i];
        bool isNew = arrival->bodyA != lastA || arrival->bodyB != lastB;
        bool isMet = !arrival->isOfStop && !arrival->isDropped;
        if (isNew && isMet && (!isAgain || arrival->isClosed)) {
            arrival->isClosed = closePair(c, arrival, h, isAgain);
        }
        lastA = arrival->bodyA;
        lastB = arrival->bodyB;
    }
}

// ---------------------------------------------------------------------------------------- meetings
// Two bodies that meet alone within a step.
//
// A step stops bodies that arrive at the surface, and they collide at its end: late by up to a
// step, after each rebound again. Where both touch nothing else and rebound, they fly from the node
// to the time of contact instead, collide at their poses and with their velocities of then, and fly
// for the rest of the step: the step is cut for this pair alone, without solving anything again.
// Where that leaves them not apart, they end where the step would have stopped them.

// Points of a pair that are looked at.
#define PROBES_MAX 64
// For the time of contact.
#define LOOKS_MAX 8
// Of the shell: gaps that are closed then. Balls that graze leave in directions that are off by
// this over their radius.
#define CLOSE_PART 1e-4
// rad, after it.
#define TURN_MOST 0.3

// How many contacts each body has at the node; one that bears a load counts twice.
static void countTouching(rbStepContacts* c)
{
    rbArray_SetCount(c->flight.touching, c->bodies.count);
    memset(c->flight.touching.data, 0, (size_t)c->bodies.count);
    for (int i = 0; i < c->set.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        const int bodies[2] = {contact->bodyA, contact->bodyB};
        int weight = isBearing(c, contact) ? 2 : 1;
        for (int k = 0; k < 2; ++k) {
            unsigned char* count = &c->flight.touching.data[bodies[k]];
            *count = (unsigned char)(*count < 2 ? *count + weight : 2);
        }
    }
}

bool rbContactStep_AreArrivalsBound(rbStepContacts* c)
{
    countTouching(c);
    bool isBound = false;
    for (int i = 0; i < c->flight.arrivals.count && !isBound; ++i) {
        const rbArrival* arrival = &c->flight.arrivals.data[i];
        const int bodies[2] = {arrival->bodyA, arrival->bodyB};
        for (int k = 0; k < 2; ++k) {
            const rbContactBody* body = &c->bodies.data[bodies[k]];
            bool isObstacle = !(body->invMass > 0.0);
            isBound =
                isBound || (isObstacle && rbLengthSquared(body->spin) > 0.0) ||
                (rbContactBody_IsMoved(body) && (c->flight.touching.data[bodies[k]] > 1 ||
                                                 c->engine->bodies.data[bodies[k]].mechanism >= 0));
        }
    }
    return isBound;
}

// A body, if it moves along a path where it is at a time.
static rbMechBody bodyAt(const rbStepContacts* c, int index, double time)
{
    rbMechBody body = *rbContactStep_GetBody(c, index);
    const rbPath* path = c->engine->bodies.data[index].def.path;
    if (path != NULL) {
        rbStep_FollowPath(path, time, &body, false);
    }
    return body;
}

// The body that flies; NULL: it is fixed. False: it has to stay with the step of the others, or
// turns along a path, and contacts would be found as it is at the end.
static bool findFlier(const rbStepContacts* c, const rbStepHost* host, int index,
                      rbMechBody** flier)
{
    *flier = NULL;
    if (!(c->bodies.data[index].invMass > 0.0)) {
        return rbLengthSquared(bodyAt(c, index, c->grid.time).angularVelocity) == 0.0;
    }
    bool isLoose = c->engine->bodies.data[index].mechanism < 0;
    rbMechBody* body = isLoose ? rbContactStep_GetBody(c, index) : NULL;
    const rbMotionBody* motion = &host->motions[index];
    bool isFree = motion->load == NULL && !(rbLengthSquared(motion->torque) > 0.0);
    *flier = body;
    return body != NULL && body->isDynamic && isFree && c->flight.touching.data[index] == 1 &&
           c->flight.late.data[index] > 0.0;
}

// Velocity change by the forces over a time.
static rbVec3 kickOver(const rbStepContacts* c, int index, double h, double time)
{
    double part = rbContactStep_PartOf(c, h) * time / h;
    return rbScale(part, c->flight.kicks.data[index]);
}

static void flyFor(const rbStepContacts* c, rbMechBody* body, double h, double time)
{
    RB_ASSERT(body->isDynamic && !(time < 0.0));
    rbVec3 kick = kickOver(c, body->index, h, time);
    body->velocity = rbAddScaled(body->velocity, 0.5, kick);
    rbMechBody_LookAhead(body, time);
    body->pose = body->ahead;
    body->velocity = rbAddScaled(body->velocity, 0.5, kick);
}

// Whether an arrival is that of two bodies which meet alone and rebound.
static bool isMeeting(const rbStepContacts* c, const rbStepHost* host, const rbArrival* arrival,
                      double h, rbMeeting* meeting)
{
    if (arrival->isOfStop || arrival->isAhead || !(arrival->gap > 0.0) ||
        !findFlier(c, host, arrival->bodyA, &meeting->bodies[0]) ||
        !findFlier(c, host, arrival->bodyB, &meeting->bodies[1])) {
        return false;
    }
    int end;
    int first = rbFindPair(&c->found, arrival->bodyA, arrival->bodyB, &end);
    meeting->indices[0] = arrival->bodyA;
    meeting->indices[1] = arrival->bodyB;
    meeting->rest = h; // less the time that the arrival takes, at the mean speed of its flight
    for (int k = 0; k < 2; ++k) {
        double late = c->flight.late.data[meeting->indices[k]];
        meeting->rest = meeting->bodies[k] != NULL ? fmin(meeting->rest, late) : meeting->rest;
    }
    return first < end && c->set.contacts[first].restitution > 0.0 && meeting->rest > 0.0;
}

// The least gap of the pair as it is, at a time; beyond what is asked: INFINITY.
static double measure(const rbStepContacts* c, const rbMeeting* meeting, double time, double within)
{
    rbContactProbe probes[PROBES_MAX];
    rbRowPose poses[2];
    for (int k = 0; k < 2; ++k) {
        poses[k] = bodyAt(c, meeting->indices[k], time).pose;
    }
    int count =
        rbContactPairs_Measure(c->pairs, meeting->indices, poses, within, probes, PROBES_MAX);
    double least = INFINITY;
    for (int i = 0; i < count && i < PROBES_MAX; ++i) {
        least = fmin(least, probes[i].gap);
    }
    return least;
}

// From the node to the time of contact.
static void flyToContact(const rbStepContacts* c, rbMeeting* meeting, double h)
{
    for (int k = 0; k < 2; ++k) {
        rbMechBody* body = meeting->bodies[k];
        if (body != NULL) {
            *body = c->trial.loose.data[c->own.places1.data[body->index] - 1];
            flyFor(c, body, h, h - meeting->rest);
            meeting->struck[k] = *body;
        }
    }
}

// Moves a body that flies along with one on a path, to where this is at the end of the step, for
// the collision there. False: the path changes its speed before.
static bool follow(const rbStepContacts* c, rbMeeting* meeting, double h)
{
    double end = c->grid.time + h;
    meeting->carried = RB_VEC3_ZERO;
    for (int k = 0; k < 2; ++k) {
        if (meeting->bodies[k] == NULL) {
            rbMechBody then = bodyAt(c, meeting->indices[k], end - meeting->rest);
            rbMechBody last = bodyAt(c, meeting->indices[k], end);
            meeting->carried = rbSub(last.pose.position, then.pose.position);
            if (rbDistance(last.velocity, then.velocity) > c->settings.restSpeed) {
                return false;
            }
        }
    }
    for (int k = 0; k < 2; ++k) {
        if (meeting->bodies[k] != NULL) {
            rbVec3* position = &meeting->bodies[k]->pose.position;
            *position = rbAdd(*position, meeting->carried);
        }
    }
    return true;
}

// The time at which the pair touches, by secants from that which the arrival gives: rotation and
// motion across the normal change it, and forces. False: none is found within the step.
static bool findContact(const rbStepContacts* c, const rbArrival* arrival, rbMeeting* meeting,
                        double h)
{
    RB_ASSERT(meeting->rest > 0.0);
    double close = CLOSE_PART * c->settings.shell;
    double slope = arrival->gap / (h - meeting->rest); // m/s, of the gap over the rest of the step
    double lastGap = INFINITY;
    double lastRest = 0.0;
    for (int i = 0; i < LOOKS_MAX && meeting->rest > 0.0 && meeting->rest < h; ++i) {
        flyToContact(c, meeting, h);
        double gap = measure(c, meeting, c->grid.time + h - meeting->rest, arrival->gap);
        double secant = (gap - lastGap) / (meeting->rest - lastRest);
        slope = secant > 0.0 && secant < INFINITY ? secant : slope;
        lastGap = gap;
        lastRest = meeting->rest;
        meeting->rest -= gap / slope;
        if (fabs(gap) <= close) {
            flyToContact(c, meeting, h);
            // slower ones may be at rest by then, which the step as a whole decides
            return meeting->rest > 0.0 && slope > 2.0 * c->settings.restSpeed &&
                   follow(c, meeting, h);
        }
    }
    return false;
}

// Whether the pair does not touch in the step: it passes by, or meets in the next one. first: the
// rest of the step as the arrival gives it, in which bodies must not get through each other.
static bool isMissing(const rbStepContacts* c, const rbArrival* arrival, rbMeeting* meeting,
                      double h, double first)
{
    double way = first * arrival->gap / (h - first);
    for (int k = 0; k < 2; ++k) {
        const rbMechBody* body = meeting->bodies[k];
        double turn = h * rbLength(c->bodies.data[meeting->indices[k]].spin);
        if (body != NULL && (way > 0.5 * c->own.radii.data[body->index] || turn > TURN_MOST)) {
            return false;
        }
    }
    meeting->rest = 0.0;
    flyToContact(c, meeting, h);
    return measure(c, meeting, c->grid.time + h, arrival->gap) > 0.0;
}

void rbContactStep_BeginMeetings(rbStepContacts* c, const rbStepHost* host, double h)
{
    c->flight.meetings.count = 0;
    if (c->flight.arrivals.count == 0 || c->solvers.substeps != NULL) {
        return;
    }
    countTouching(c);
    for (int i = 0; i < c->flight.arrivals.count; ++i) {
        rbArrival* arrival = &c->flight.arrivals.data[i];
        rbMeeting meeting = {.rest = 0.0};
        if (!isMeeting(c, host, arrival, h, &meeting)) {
            continue;
        }
        double first = meeting.rest;
        for (int k = 0; k < 2; ++k) {
            if (meeting.bodies[k] != NULL) {
                meeting.stopped[k] = *meeting.bodies[k];
                c->flight.touching.data[meeting.indices[k]] = 2; // once
            }
        }
        if (findContact(c, arrival, &meeting, h)) {
            c->flight.lifts.data[meeting.indices[0]] = 0.0;
            c->flight.lifts.data[meeting.indices[1]] = 0.0;
            rbArray_Push(c->flight.meetings, meeting);
            continue;
        }
        if (isMissing(c, arrival, &meeting, h, first)) {
            dropArrivals(c, arrival->bodyA, arrival->bodyB);
            continue;
        }
        for (int k = 0; k < 2; ++k) {
            if (meeting.bodies[k] != NULL) {
                *meeting.bodies[k] = meeting.stopped[k];
            }
        }
    }
}

// Whether the pair was found in contact, and its points and centers separate. A body may rotate
// away from where it was struck and go on to the other: then the rest of its step is not flown.
static bool isRebounding(const rbStepContacts* c, const rbMeeting* meeting)
{
    const int* pair = meeting->indices;
    const rbContactBody* a = &c->bodies.data[pair[0]];
    const rbContactBody* b = &c->bodies.data[pair[1]];
    double turn = meeting->rest * fmax(rbLength(a->spin), rbLength(b->spin));
    double least = turn < TURN_MOST ? INFINITY : 0.0;
    int end;
    int first = rbFindPair(&c->found, pair[0], pair[1], &end);
    for (int i = first; i < end; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        least = fmin(least, rbDot(rbSub(b->velocity, a->velocity), contact->normal));
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            least = fmin(least, rbContactStep_NormalSpeed(c, contact, &c->set.points[k]));
        }
    }
    return first < end && least > 0.0;
}

// Whether the pair is apart now, and both have gone no farther than where an overlap with a third
// body would be found.
static bool areApart(const rbStepContacts* c, rbMeeting* meeting)
{
    for (int k = 0; k < 2; ++k) {
        const rbMechBody* body = meeting->bodies[k];
        if (body != NULL) {
            rbVec3 way = rbSub(body->pose.position, meeting->struck[k].pose.position);
            double beyond = rbLength(way) - c->places.data[body->index].reach;
            meeting->isFar = meeting->isFar || beyond > 0.0;
            if (beyond > 0.5 * c->own.radii.data[body->index]) {
                return false;
            }
        }
    }
    return !(measure(c, meeting, c->grid.time, 0.0) <= 0.0);
}

// The bodies end where the step stopped them: as they were there, or, once they have collided, with
// as much of the forces as pays for the way.
static void stopBoth(const rbStepContacts* c, const rbMeeting* meeting, double h)
{
    for (int k = 0; k < 2; ++k) {
        const rbMechBody* stopped = &meeting->stopped[k];
        const rbMechBody* struck = &meeting->struck[k];
        const rbMechBody* collided = &meeting->collided[k];
        rbMechBody* body = meeting->bodies[k];
        if (body == NULL) {
            continue;
        }
        *body = *stopped;
        if (rbLengthSquared(rbSub(collided->velocity, struck->velocity)) > 0.0) {
            rbVec3 kick = kickOver(c, body->index, h, h);
            rbVec3 way = rbSub(stopped->pose.position, struck->pose.position);
            double share = findShare(rbDot(collided->velocity, kick), rbDot(kick, kick),
                                     rbDot(way, kick) / h, false);
            body->velocity = rbAddScaled(collided->velocity, share, kick);
            body->momentum = collided->momentum;
            keepTurn(&c->bodies.data[body->index], body);
        }
    }
}

bool rbContactStep_EndMeetings(rbStepContacts* c, const rbStepHost* host, double h)
{
    for (int i = 0; i < c->flight.meetings.count; ++i) {
        rbMeeting* meeting = &c->flight.meetings.data[i];
        bool isFlying = isRebounding(c, meeting);
        for (int k = 0; k < 2; ++k) {
            if (meeting->bodies[k] != NULL) {
                rbVec3* position = &meeting->bodies[k]->pose.position;
                *position = rbSub(*position, meeting->carried);
                meeting->collided[k] = *meeting->bodies[k];
                flyFor(c, meeting->bodies[k], h, isFlying ? meeting->rest : 0.0);
            }
        }
        if (!isFlying || !areApart(c, meeting)) {
            stopBoth(c, meeting, h);
            meeting->isFar = false;
        }
        if (meeting->bodies[0] != NULL) {
            rbVec3 now = meeting->bodies[0]->pose.position;
            rbContactStep_MoveTouch(c, host, meeting->indices,
                                    rbSub(meeting->struck[0].pose.position, now));
        }
    }
    return c->flight.meetings.count > 0;
}

bool rbContactStep_UndoMeetings(rbStepContacts* c, double h)
{
    bool isAny = false;
    for (int i = 0; i < c->flight.meetings.count; ++i) {
        rbMeeting* meeting = &c->flight.meetings.data[i];
        bool isOver = false;
        for (int k = 0; meeting->isFar && !isOver && k < c->found.contactCount; ++k) {
            const rbContact* contact = &c->set.contacts[k];
            bool isOfThem =
                contact->bodyA == meeting->indices[0] || contact->bodyA == meeting->indices[1] ||
                contact->bodyB == meeting->indices[0] || contact->bodyB == meeting->indices[1];
            isOver = isOfThem && rbFindLeastGap(&c->set, contact) < 0.0;
        }
        if (isOver) {
            stopBoth(c, meeting, h);
            isAny = true;
        }
    }
    return isAny;
}
