// Energy accounting of steps with contacts, by cause; and the journal entries of what takes it:
// collisions; and the sums by pair of shapes that the host gets.
//
// An impulse p at a point changes the kinetic energy by p.(u + u')/2, summed over all that act in a
// stage, exactly. Half of the forces has acted before the position stage, and half will act after
// collisions. For forces with a potential the order does not matter: with q the velocity change by
// that half, a step changes the energy only by p.(u + u' - 2 q)/2 at its start, where q has acted,
// and p.(u + u' + 2 q)/2 at collisions, where it has not. Forces without a potential are accounted
// for in their kicks, see rbContactStep_KickLoose.
//
// Motors, dampers and friction of joints do work with the means of the rates before and after a
// stage. So a contact beside them counts with half of what they have done in its stage.
//
// The work of joints besides contacts is not recorded, as in steps without contacts: an ideal joint
// does no work, and the remainder is the error of the step.
#include "base/math/matrix3.h"
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// Velocity change of a body by the potential of its forces in half a step.
static rbVec3 pullOf(const rbStepHost* host, const rbMechBody* body, double time, double h)
{
    RB_ASSERT(body != NULL && body->isDynamic && h > 0.0);
    rbVec3 pull = rbScale(0.5 * h, host->motions[body->index].acceleration);
    rbLoad load = rbContactStep_LoadOf(host, body, time);
    return rbAddScaled(pull, 0.5 * h * body->invMass, rbSub(load.force, load.paid));
}

// share: -1 where the pulls have acted, 1 where they will, 0 where they no longer matter.
void rbContactStep_OpenAccounts(rbStepContacts* c, const rbStepHost* host, double time, double h,
                                double share)
{
    RB_ASSERT(h > 0.0 && share >= -1.0 && share <= 1.0);
    rbArray_Reserve(c->accounts.pulls, c->bodies.count);
    rbArray_Reserve(c->accounts.twists, c->bodies.count);
    rbArray_Reserve(c->accounts.opened, c->bodies.count);
    rbArray_Reserve(c->accounts.turnings, c->set.contactCount);
    for (int i = 0; i < c->bodies.count; ++i) {
        c->accounts.pulls.data[i] = RB_VEC3_ZERO;
        c->accounts.twists.data[i] = RB_VEC3_ZERO;
        c->accounts.opened.data[i] = c->bodies.data[i];
        bool isWoken = share >= 0.0 && c->rest.isWoken.data[i] != 0;
        if (isWoken || c->bodies.data[i].isFrozen || !rbContactStep_IsTouched(c, i)) {
            continue;
        }
        const rbMechBody* body = rbContactStep_GetBody(c, i);
        bool isLate = share > 0.0 && (c->flight.late.data[i] > 0.0 || c->stage.isSettled.data[i]);
        int index = c->engine->bodies.data[i].mechanism;
        if (isLate || (index < 0 && share == 0.0)) {
            continue;
        }
        if (index < 0 || share > 0.0) {
            c->accounts.pulls.data[i] = rbScale(share, pullOf(host, body, time, h));
        } else if (!c->engine->mechanisms.data[index].isPushed) {
            // half of what joints and drives have done: their works are by the means of the rates
            // before and after a stage
            rbVec3 pull = rbScale(share < 0.0 ? -1.0 : 1.0, pullOf(host, body, time, h));
            rbVec3 kick = rbSub(body->startVelocity, body->velocity);
            rbVec3 spun = rbSub(body->startMomentum, body->momentum);
            c->accounts.pulls.data[i] = rbScale(0.5, rbAdd(kick, pull));
            c->accounts.twists.data[i] = rbMulSV(c->bodies.data[i].invInertia, rbScale(0.5, spun));
        }
    }
    for (int i = 0; i < c->set.contactCount; ++i) {
        const double* turning = c->set.contacts[i].turning;
        c->accounts.turnings.data[i] = rbMakeVec3(turning[0], turning[1], turning[2]);
    }
}

// A rise by less than this part of the energy is rounding.
#define RISE_ROUNDING 1e-9

// Change of the kinetic energy of an island since the accounting was opened, and the part of it
// that the pulls take; all of the energy then and now is about size.
static double changeOf(const rbStepContacts* c, const rbContactIsland* island, double* pulled,
                       double* size)
{
    double sum = 0.0;
    *pulled = *size = 0.0;
    for (int i = 0; i < island->bodyCount; ++i) {
        int index = island->bodies[i];
        const rbMechBody* body = rbContactStep_GetBody(c, index);
        const rbContactBody* now = &c->bodies.data[index];
        const rbContactBody* then = &c->accounts.opened.data[index];
        rbSym3 inertia = rbSym3_FromPrincipal(body->moments, body->pose.rotation);
        rbVec3 mean = rbScale(0.5, rbAdd(now->velocity, then->velocity));
        rbVec3 change = rbSub(now->velocity, then->velocity);
        rbVec3 spin = rbScale(0.5, rbAdd(now->spin, then->spin));
        sum += body->mass * rbDot(mean, change) +
               rbDot(spin, rbMulSV(inertia, rbSub(now->spin, then->spin)));
        *pulled += body->mass * rbDot(c->accounts.pulls.data[index], change);
        *size += body->mass * (rbLengthSquared(now->velocity) + rbLengthSquared(then->velocity)) +
                 rbDot(now->spin, rbMulSV(inertia, now->spin)) +
                 rbDot(then->spin, rbMulSV(inertia, then->spin));
    }
    return sum;
}

// Mean of the velocities of a point of a body in the stage.
static rbVec3 meanAt(const rbStepContacts* c, int body, rbVec3 arm)
{
    const rbContactBody* now = &c->bodies.data[body];
    const rbContactBody* then = &c->accounts.opened.data[body];
    rbVec3 spin = rbScale(0.5, rbAdd(now->spin, then->spin));
    rbVec3 velocity = rbScale(0.5, rbAdd(now->velocity, then->velocity));
    spin = rbAdd(spin, c->accounts.twists.data[body]);
    return rbAdd(rbAdd(velocity, c->accounts.pulls.data[body]), rbCross(spin, arm));
}

static bool isObstacle(const rbStepContacts* c, int body)
{
    return !(c->bodies.data[body].invMass > 0.0);
}

// Work on the island by a moving obstacle, through an impulse that acts on B.
static double obstacleWork(const rbStepContacts* c, const rbContact* contact, rbVec3 impulse,
                           rbVec3 atA, rbVec3 atB)
{
    RB_ASSERT(contact->bodyA != contact->bodyB);
    double work = isObstacle(c, contact->bodyA) ? rbDot(impulse, atA) : 0.0;
    return isObstacle(c, contact->bodyB) ? work - rbDot(impulse, atB) : work;
}

double rbContactStep_GetObstacleWork(const rbStepContacts* c, const rbContact* contact)
{
    const rbContactBody* a = &c->bodies.data[contact->bodyA];
    const rbContactBody* b = &c->bodies.data[contact->bodyB];
    bool isMoved = (isObstacle(c, contact->bodyA) && rbContactBody_IsMoving(a)) ||
                   (isObstacle(c, contact->bodyB) && rbContactBody_IsMoving(b));
    double work = 0.0;
    for (int i = 0; isMoved && i < contact->pointCount; ++i) {
        const rbContactPoint* point = &c->set.points[contact->firstPoint + i];
        rbVec3 p = rbJoinImpulse(contact->normal, contact->tangents, point->impulse[0],
                                 point->impulse[1], point->impulse[2]);
        work += obstacleWork(c, contact, p, rbAdd(a->velocity, rbCross(a->spin, point->armA)),
                             rbAdd(b->velocity, rbCross(b->spin, point->armB)));
    }
    return work;
}

rbContactWorks rbContactStep_GetWorks(const rbStepContacts* c, const rbContact* contact,
                                      const rbContactPoint* point, const double impulse[3])
{
    RB_ASSERT(contact->bodyA < c->bodies.count && contact->bodyB < c->bodies.count);
    rbVec3 atA = meanAt(c, contact->bodyA, point->armA);
    rbVec3 atB = meanAt(c, contact->bodyB, point->armB);
    rbVec3 mean = rbSub(atB, atA);
    rbVec3 t =
        rbAddScaled(rbScale(impulse[1], contact->tangents[0]), impulse[2], contact->tangents[1]);
    rbVec3 p = rbAddScaled(t, impulse[0], contact->normal);
    rbContactWorks works = {.normal = impulse[0] * rbDot(mean, contact->normal),
                            .friction = rbDot(t, mean),
                            .motor = obstacleWork(c, contact, p, atA, atB)};
    if (contact->hasBelt) { // friction brakes the motion over the belt, which its motor keeps up
        double drive = rbDot(t, contact->belt);
        works.friction += drive;
        works.motor -= drive;
    }
    return works;
}

// Of a point of the set, with its impulse in the stage.
static rbContactWorks pointWorks(const rbStepContacts* c, const rbContact* contact, int k,
                                 bool isWhole)
{
    RB_ASSERT(k < c->set.pointCount && (isWhole || k < c->stage.points.count));
    const rbContactPoint* point = &c->set.points[k];
    double impulse[3];
    for (int i = 0; i < 3; ++i) {
        impulse[i] = point->impulse[i] - (isWhole ? 0.0 : c->stage.points.data[k].impulse[i]);
    }
    return rbContactStep_GetWorks(c, contact, point, impulse);
}

// Rolling and spinning friction.
static rbContactWorks turnWorks(const rbStepContacts* c, const rbContact* contact, int index,
                                bool isWhole)
{
    rbContactWorks works = {0.0, 0.0, 0.0};
    if (!(contact->rolling > 0.0 || contact->spinning > 0.0)) {
        return works;
    }
    rbVec3 turning = rbMakeVec3(contact->turning[0], contact->turning[1], contact->turning[2]);
    turning = isWhole ? turning : rbSub(turning, c->accounts.turnings.data[index]);
    rbVec3 impulse = rbScale(turning.x, contact->tangents[0]);
    impulse = rbAddScaled(impulse, turning.y, contact->tangents[1]);
    impulse = rbAddScaled(impulse, turning.z, contact->normal);
    rbVec3 atA = rbScale(0.5, rbAdd(c->bodies.data[contact->bodyA].spin,
                                    c->accounts.opened.data[contact->bodyA].spin));
    rbVec3 atB = rbScale(0.5, rbAdd(c->bodies.data[contact->bodyB].spin,
                                    c->accounts.opened.data[contact->bodyB].spin));
    works.friction = rbDot(impulse, rbSub(atB, atA));
    works.motor = obstacleWork(c, contact, impulse, atA, atB);
    return works;
}

// Whether a contact carried load when the stage began: its bodies touched already. Methods that
// keep no points have springs, which take and return energy.
static bool wasBearing(const rbStepContacts* c, const rbContact* contact)
{
    bool isBearing = c->stage.points.count < c->set.pointCount;
    for (int k = contact->firstPoint; !isBearing && k < contact->firstPoint + contact->pointCount;
         ++k) {
        isBearing = c->stage.points.data[k].impulse[0] > 0.0;
    }
    return isBearing;
}

// The cause of the work of a normal impulse. Physics takes energy where bodies meet or are struck:
// at the speed of collisions, or at any speed if they do not rebound. Lasting contact takes and
// gives none, so what its impulses do is numerical.
static double* causeOf(rbStepContacts* c, const rbContact* contact, int k, double work,
                       bool isWhole)
{
    RB_ASSERT(k >= contact->firstPoint && k < c->set.pointCount);
    const rbContactPoint* point = &c->set.points[k];
    double approach = rbContact_NormalSpeed(c->accounts.opened.data, contact, point);
    bool isImpact = approach < -(c->settings.restSpeed + (isWhole ? 0.0 : point->curving));
    bool isStopped = approach < 0.0 && work <= 0.0;
    bool isPlastic = isStopped && !(contact->restitution > 0.0) && !wasBearing(c, contact);
    return isImpact || isPlastic ? &c->accounts.sums.impact : &c->accounts.sums.lasting;
}

// The stages of a step do opposite work at contacts that rest: only their sum counts.
void rbContactStep_CloseAccounts(rbStepContacts* c)
{
    rbContactAccounts* sums = &c->accounts.sums;
    if (rbContactStep_IsParting(c)) {
        sums->assembly += sums->lasting + sums->lifted;
    } else {
        *(sums->lasting > 0.0 ? &sums->parted : &sums->settled) += sums->lasting;
        sums->late += sums->lifted;
    }
    sums->lasting = 0.0;
    sums->lifted = 0.0;
}

void rbContactStep_AccountForLasting(rbStepContacts* c, const rbContactIsland* island, bool isWhole)
{
    RB_ASSERT(island->bodyCount > 0);
    rbContactAccounts* sums = &c->accounts.sums;
    double accounted = 0.0;
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        rbContactWorks turned = turnWorks(c, contact, island->contacts[i], isWhole);
        sums->friction += turned.friction;
        sums->motor += turned.motor;
        accounted += turned.friction + turned.motor;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbContactWorks works = pointWorks(c, contact, k, isWhole);
            *causeOf(c, contact, k, works.normal, isWhole) += works.normal;
            sums->friction += works.friction;
            sums->motor += works.motor;
            accounted += works.normal + works.friction + works.motor;
        }
    }
    c->accounts.given.data[island->bodies[0]] += accounted;
    // Where shock propagation froze bodies, the points do not account for all work.
    double pulled, size;
    double change = changeOf(c, island, &pulled, &size);
    bool hasJoints = rbContactStep_HasMechanism(c, island);
    sums->truncated += hasJoints ? 0.0 : change + pulled - accounted;
}

// ----------------------------------------------------------------------------------------- touches
// Pairs of shapes that touch in a step, for the host: impulses, approach speed and place. Nothing
// in the step depends on them.
//
// A step acts on the contacts of its start (position stage) and of its end (collisions, velocity
// stage), which need not be the same points. Sums by pair of shapes do not depend on that: together
// they are the momentum that passed between the two bodies.

// Approach before collisions is the speed of arrival; that of the start of the step counts only
// where the position stage has removed more than this part of it.
#define ARRIVAL_PART 0.5

// Order of a pair relative to that of a contact: < 0 before it.
static inline int compare(const rbEngineTouch* touch, const rbContact* contact)
{
    const rbContactEvent* event = &touch->event;
    int bodyA = (int)event->bodyA.index1 - 1 - contact->bodyA;
    int bodyB = (int)event->bodyB.index1 - 1 - contact->bodyB;
    int partA = event->shapeA - contact->partA;
    int partB = event->shapeB - contact->partB;
    return bodyA != 0 ? bodyA : bodyB != 0 ? bodyB : partA != 0 ? partA : partB;
}

static rbEngineTouch* findTouch(rbTouchReport* list, const rbContact* contact)
{
    RB_ASSERT(contact->bodyA < contact->bodyB);
    int count = list->touches.count;
    int low = 0;
    int high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        bool isBefore = compare(&list->touches.data[middle], contact) < 0;
        low = isBefore ? middle + 1 : low;
        high = isBefore ? high : middle;
    }
    if (low == count || compare(&list->touches.data[low], contact) != 0) {
        rbEngineTouch added;
        memset(&added, 0, sizeof added);
        added.event.bodyA = rbEngineBody(contact->bodyA);
        added.event.bodyB = rbEngineBody(contact->bodyB);
        added.event.shapeA = contact->partA;
        added.event.shapeB = contact->partB;
        rbArray_Push(list->touches, added);
        rbEngineTouch* at = &list->touches.data[low];
        memmove(at + 1, at, (size_t)(count - low) * sizeof *at);
        *at = added;
    }
    return &list->touches.data[low];
}

// The impulses of all points of a contact along its axes; returns the point with the largest normal
// one, NULL: there are none.
static const rbContactPoint* sumImpulses(const rbContactSet* set, const rbContact* contact,
                                         double sums[3])
{
    const rbContactPoint* largest = NULL;
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        const rbContactPoint* point = &set->points[k];
        const double* p = point->impulse;
        bool isAny = p[0] != 0.0 || p[1] != 0.0 || p[2] != 0.0;
        bool isLarger = isAny && (largest == NULL || p[0] > largest->impulse[0]);
        largest = isLarger ? point : largest;
        sums[0] += p[0];
        sums[1] += p[1];
        sums[2] += p[2];
    }
    return largest;
}

static bool isAsked(const rbStepContacts* c, const rbStepHost* host)
{
    return c->settings.hasEvents && host->node != NULL;
}

void rbContactStep_BeginTouches(rbStepContacts* c)
{
    c->report.touches.count = 0;
}

// Approach speeds of closed points, before collisions.
void rbContactStep_NoteArriving(rbStepContacts* c, const rbStepHost* host)
{
    if (!isAsked(c, host)) {
        return;
    }
    for (int i = 0; i < c->found.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        double fastest = 0.0;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[k];
            // those that bear have not arrived in this step
            if (point->isClosed && !(point->impulse[0] > 0.0)) {
                fastest = fmax(fastest, -rbContact_NormalSpeed(c->bodies.data, contact, point));
            }
        }
        if (fastest > 0.0) {
            rbContactEvent* event = &findTouch(&c->report, contact)->event;
            bool isArrival = fastest > ARRIVAL_PART * event->approachSpeed;
            event->approachSpeed = isArrival ? fastest : event->approachSpeed;
        }
    }
}

static void addCollisions(rbStepContacts* c, const rbStepHost* host, const rbCollisionNote* notes,
                          int count)
{
    if (!isAsked(c, host)) {
        return;
    }
    for (int i = 0; i < count; ++i) {
        if (notes[i].contact < c->found.contactCount) {
            const rbContact* contact = &c->set.contacts[notes[i].contact];
            rbEngineTouch* touch = findTouch(&c->report, contact);
            touch->event.impulse = rbAdd(touch->event.impulse, notes[i].impulse);
            touch->event.point = notes[i].arm;
            touch->event.normal = contact->normal;
            touch->isBearing = true;
        }
    }
}

void rbContactStep_MoveTouch(rbStepContacts* c, const rbStepHost* host, const int bodies[2],
                             rbVec3 way)
{
    for (int i = 0; isAsked(c, host) && i < c->report.touches.count; ++i) {
        rbContactEvent* event = &c->report.touches.data[i].event;
        if (event->bodyA.index1 == rbEngineBody(bodies[0]).index1 &&
            event->bodyB.index1 == rbEngineBody(bodies[1]).index1) {
            event->point = rbAdd(event->point, way);
        }
    }
}

// Adds the impulses of all points, times a sign; between bodies at rest they do not act. start:
// velocities before them, for the approach speed; NULL: it is known.
void rbContactStep_AddTouches(rbStepContacts* c, const rbStepHost* host, const rbContactBody* start,
                              double sign)
{
    if (!isAsked(c, host)) {
        return;
    }
    for (int i = 0; i < c->found.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        double sums[3] = {0.0, 0.0, 0.0};
        const rbContactPoint* point = sumImpulses(&c->set, contact, sums);
        if (point == NULL) {
            continue;
        }
        rbEngineTouch* touch = findTouch(&c->report, contact);
        rbContactEvent* event = &touch->event;
        bool acts = rbContactBody_IsMoved(&c->bodies.data[contact->bodyA]) ||
                    rbContactBody_IsMoved(&c->bodies.data[contact->bodyB]);
        rbVec3 sum = rbJoinImpulse(contact->normal, contact->tangents, sums[0], sums[1], sums[2]);
        event->impulse = rbAddScaled(event->impulse, acts ? sign : 0.0, sum);
        touch->isBearing = touch->isBearing || sign > 0.0;
        event->point = point->armA; // until it is located
        event->normal = contact->normal;
        if (start != NULL) {
            event->approachSpeed =
                fmax(event->approachSpeed, -rbContact_NormalSpeed(start, contact, point));
        }
    }
}

void rbContactStep_ScaleTouches(rbStepContacts* c, const rbContactIsland* island, double factor)
{
    for (int i = 0; factor < 1.0 && i < c->report.touches.count; ++i) {
        rbContactEvent* event = &c->report.touches.data[i].event;
        bool isOf = false;
        for (int k = 0; !isOf && k < island->bodyCount; ++k) {
            uint32_t body = rbEngineBody(island->bodies[k]).index1;
            isOf = event->bodyA.index1 == body || event->bodyB.index1 == body;
        }
        event->impulse = isOf ? rbScale(factor, event->impulse) : event->impulse;
    }
}

// Where pairs touch at the end of the step: at the nearest of their contacts, which are adjacent.
static void locate(rbStepContacts* c)
{
    double least = INFINITY;
    for (int i = 0; i < c->found.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        rbVec3 sum = RB_VEC3_ZERO;
        double nearest = INFINITY;
        int count = 0;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[k];
            if (point->isClosed) {
                sum = rbAdd(sum, point->armA);
                nearest = fmin(nearest, point->gap);
                count += 1;
            }
        }
        if (count > 0) {
            rbEngineTouch* touch = findTouch(&c->report, contact);
            if (!touch->isClosed || nearest < least) {
                touch->event.point = rbScale(1.0 / count, sum);
                touch->event.normal = contact->normal;
                least = nearest;
            }
            touch->isClosed = true;
        }
    }
}

void rbContactStep_ReportTouches(rbStepContacts* c, const rbStepHost* host)
{
    if (host->node == NULL) {
        return;
    }
    if (isAsked(c, host)) {
        locate(c);
    }
    for (int i = 0; i < c->report.touches.count; ++i) {
        rbContactEvent* event = &c->report.touches.data[i].event;
        const rbMechBody* bodyA = rbContactStep_GetBody(c, (int)event->bodyA.index1 - 1);
        event->point = rbAdd(bodyA->pose.position, event->point);
    }
    rbEngineNode node = {c->grid.time, c->report.touches.data, c->report.touches.count,
                         c->places.data};
    host->node(host->context, &node);
}

// ---------------------------------------------------------------------------------------- journal

double rbContactStep_GetKinetic(const rbMechBody* body, const rbContactBody* shown)
{
    rbVec3 spin = rbMulMtV(body->pose.rotation, shown->spin);
    return 0.5 * body->mass * rbLengthSquared(shown->velocity) +
           0.5 * rbDot(body->moments, rbMulEach(spin, spin));
}

// Entries of the journal.
static void reportCollisions(const rbStepContacts* c, const rbStepHost* host,
                             const rbContactIsland* island, const rbCollisionNote* notes, int count)
{
    double energyBefore = 0.0; // of the island before the stage
    count = host->journal != NULL ? count : 0;
    for (int i = 0; i < island->bodyCount && count > 0; ++i) {
        int body = island->bodies[i];
        energyBefore += rbContactStep_GetKinetic(rbContactStep_GetBody(c, body),
                                                 &c->accounts.opened.data[body]);
    }
    for (int i = 0; i < count; ++i) {
        const rbCollisionNote* note = &notes[i];
        const rbContact* contact = &c->set.contacts[note->contact];
        // Reaching a limit of a joint is not an impact of two bodies.
        if (note->contact >= c->found.contactCount) {
            continue;
        }
        const rbMechBody* bodyA = rbContactStep_GetBody(c, contact->bodyA);
        rbEvent event = {.time = c->grid.time,
                         .kind = RB_EVENT_IMPACT,
                         .bodyA = rbEngineBody(contact->bodyA),
                         .bodyB = rbEngineBody(contact->bodyB),
                         .law = note->law,
                         .history = note->history,
                         .energyChange = note->normalWork + note->frictionWork,
                         .energyBefore = energyBefore,
                         .frictionWork = note->frictionWork,
                         .point = rbAdd(bodyA->pose.position, note->arm),
                         .normal = contact->normal,
                         .impulse = note->impulse,
                         .approachSpeed = note->approachSpeed};
        host->journal(host->context, &event);
    }
}

// Sums of the points of a contact that stopped in the stage.
static rbCollisionNote sumStops(const rbStepContacts* c, int index)
{
    const rbContact* contact = &c->set.contacts[index];
    rbCollisionNote note = {.contact = index, .law = c->settings.law};
    double sum = 0.0;
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        const rbContactPoint* point = &c->set.points[k];
        const double* before = c->stage.points.data[k].impulse;
        double p = point->impulse[0] - before[0];
        double approach = -rbContact_NormalSpeed(c->accounts.opened.data, contact, point);
        if (!(approach > c->settings.restSpeed && p > 0.0)) {
            continue;
        }
        rbContactWorks works = pointWorks(c, contact, k, false);
        rbVec3 impulse =
            rbJoinImpulse(contact->normal, contact->tangents, p, point->impulse[1] - before[1],
                          point->impulse[2] - before[2]);
        note.impulse = rbAdd(note.impulse, impulse);
        note.arm = rbAddScaled(note.arm, p, point->armA);
        note.normalWork += works.normal;
        note.frictionWork += works.friction;
        note.approachSpeed = fmax(note.approachSpeed, approach);
        sum += p;
    }
    RB_ASSERT(!(sum < 0.0) && !(note.approachSpeed < 0.0));
    note.arm = sum > 0.0 ? rbScale(1.0 / sum, note.arm) : note.arm;
    return note;
}

void rbContactStep_ReportStops(rbStepContacts* c, const rbStepHost* host)
{
    for (int i = 0; host->journal != NULL && i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        c->report.stops.count = 0;
        for (int k = 0; k < island.contactCount; ++k) {
            rbCollisionNote note = sumStops(c, island.contacts[k]);
            if (note.approachSpeed > 0.0) {
                rbArray_Push(c->report.stops, note);
            }
        }
        reportCollisions(c, host, &island, c->report.stops.data, c->report.stops.count);
    }
}

bool rbContactStep_HasMover(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        if (contact->hasBelt) {
            return true;
        }
        const int pair[2] = {contact->bodyA, contact->bodyB};
        for (int side = 0; side < 2; ++side) {
            if (isObstacle(c, pair[side]) && rbContactBody_IsMoving(&c->bodies.data[pair[side]])) {
                return true;
            }
        }
    }
    return false;
}

// Collisions report the work of their points between the velocities before and after; pulls that
// will still act, joints and moving obstacles add to it.
void rbContactStep_AccountForCollisions(rbStepContacts* c, const rbStepHost* host,
                                        const rbContactIsland* island, const rbCollisionsDone* done)
{
    RB_ASSERT(island->bodyCount > 0 && done->noteCount >= 0);
    double pulled, size;
    double change = changeOf(c, island, &pulled, &size);
    double left = change + pulled - done->normalWork - done->frictionWork;
    bool isMoved = rbContactStep_HasMover(c, island);
    // Collisions never give energy, except by Newton's law or a moving obstacle. Joints have their
    // own errors.
    RB_VALIDATE(done->energyRaises > 0 || isMoved || rbContactStep_HasMechanism(c, island) ||
                !(change > RISE_ROUNDING * size));
    c->accounts.sums.impact += isMoved ? done->normalWork : done->normalWork + left;
    c->accounts.sums.motor += isMoved ? left : 0.0;
    c->accounts.sums.friction += done->frictionWork;
    double taken = fmin(0.0, done->normalWork + done->frictionWork); // Newton's law may give
    c->accounts.given.data[island->bodies[0]] += taken;
    addCollisions(c, host, done->notes, done->noteCount);
    reportCollisions(c, host, island, done->notes, done->noteCount);
}

// A step may give this part of the energy of relative motion, and the square of its angle of turn.
#define GIVEN_MOST 1e-6

// The bodies of an island as one rigid body that has their momentum and angular momentum.
typedef struct Group {
    rbVec3 center;   // m
    rbVec3 velocity; // m/s
    rbVec3 spin;     // rad/s
    double inner;    // J, of the motion relative to it
    double bound;    // J, that a step may give
} Group;

static Group joinBodies(const rbStepContacts* c, const rbContactIsland* island, double h)
{
    Group group = {.inner = 0.0};
    double mass = 0.0;
    for (int i = 0; i < island->bodyCount; ++i) {
        const rbMechBody* body = rbContactStep_GetBody(c, island->bodies[i]);
        const rbContactBody* shown = &c->bodies.data[island->bodies[i]];
        mass += body->mass;
        group.center = rbAddScaled(group.center, body->mass, body->pose.position);
        group.velocity = rbAddScaled(group.velocity, body->mass, shown->velocity);
    }
    RB_ASSERT(mass > 0.0);
    group.center = rbScale(1.0 / mass, group.center);
    group.velocity = rbScale(1.0 / mass, group.velocity);
    rbSym3 inertia = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    rbVec3 momentum = RB_VEC3_ZERO; // angular
    double energy = 0.0;
    double turn = 0.0;
    for (int i = 0; i < island->bodyCount; ++i) {
        const rbMechBody* body = rbContactStep_GetBody(c, island->bodies[i]);
        const rbContactBody* shown = &c->bodies.data[island->bodies[i]];
        rbSym3 own = rbSym3_FromPrincipal(body->moments, body->pose.rotation);
        rbVec3 spun = rbMulSV(own, shown->spin);
        rbVec3 r = rbSub(body->pose.position, group.center);
        rbVec3 v = rbSub(shown->velocity, group.velocity);
        rbVec3 d = rbMakeVec3(r.y * r.y + r.z * r.z, r.x * r.x + r.z * r.z, r.x * r.x + r.y * r.y);
        rbSym3 far = {d.x, d.y, d.z, -r.x * r.y, -r.x * r.z, -r.y * r.z};
        inertia = rbAddSym(inertia, rbAddSym(own, rbScaleSym(body->mass, far)));
        momentum = rbAdd(momentum, rbAddScaled(spun, body->mass, rbCross(r, v)));
        energy += 0.5 * (body->mass * rbLengthSquared(v) + rbDot(shown->spin, spun));
        turn = fmax(turn, h * rbLength(shown->spin));
    }
    group.bound = (GIVEN_MOST + turn * turn) * energy;
    if (rbSym3_Solve(inertia, momentum, &group.spin)) {
        group.inner = energy - 0.5 * rbDot(group.spin, momentum);
    }
    return group;
}

// Momentum that a body got from the only other one that it touches.
static void addPassed(rbStepContacts* c, int body, rbVec3 momentum)
{
    uint32_t index = rbEngineBody(body).index1;
    for (int i = 0; i < c->report.touches.count; ++i) {
        rbContactEvent* event = &c->report.touches.data[i].event;
        if (c->report.touches.data[i].isBearing && event->bodyB.index1 == index) {
            event->impulse = rbAdd(event->impulse, momentum);
            return;
        }
    }
}

double rbContactStep_BoundGain(const rbStepContacts* c, const rbContactIsland* island, double h)
{
    return joinBodies(c, island, h).bound;
}

void rbContactStep_TakeGain(rbStepContacts* c, const rbContactIsland* island, double h)
{
    double gain = 0.0;
    bool isFree = !island->isGrounded && !rbContactStep_HasMechanism(c, island);
    for (int i = 0; i < island->bodyCount && isFree; ++i) {
        gain += c->accounts.given.data[island->bodies[i]];
        isFree = !c->bodies.data[island->bodies[i]].isFrozen;
    }
    isFree = isFree && gain > 0.0 && !rbContactStep_HasMover(c, island);
    Group group = isFree ? joinBodies(c, island, h) : (Group){.inner = 0.0};
    double taken = fmax(0.0, fmin(gain - group.bound, group.inner));
    for (int i = 0; i < island->bodyCount && taken > 0.0; ++i) {
        RB_ASSERT(taken <= group.inner);
        double factor = sqrt(1.0 - taken / group.inner);
        rbContactBody* shown = &c->bodies.data[island->bodies[i]];
        const rbMechBody* body = rbContactStep_GetBody(c, island->bodies[i]);
        rbVec3 at = body->pose.position;
        rbVec3 rigid = rbAdd(group.velocity, rbCross(group.spin, rbSub(at, group.center)));
        rbVec3 change = rbScale(factor - 1.0, rbSub(shown->velocity, rigid));
        shown->velocity = rbAdd(shown->velocity, change);
        shown->spin = rbAddScaled(group.spin, factor, rbSub(shown->spin, group.spin));
        if (island->bodyCount == 2) { // of more it is not known between which it passed
            addPassed(c, island->bodies[i], rbScale(body->mass, change));
        }
    }
    c->accounts.sums.lasting -= taken;
}

double rbContactStep_WriteEnergy(rbStepContacts* c, const rbStepHost* host)
{
    rbContactStep_WriteBodies(c, host);
    return host->energy != NULL ? host->energy(host->context) : 0.0;
}
