// Pairs of shapes that touch in a step, for the host: impulses, approach speed and place. Nothing
// in the step depends on them.
//
// A step acts on the contacts of its start (position stage) and of its end (collisions, velocity
// stage), which need not be the same points. Sums by pair of shapes do not depend on that: together
// they are the momentum that passed between the two bodies.
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// Approach before collisions is the speed of arrival; that of the start of the step counts only
// where the position stage has removed more than this part of it.
#define ARRIVAL_PART 0.5

// Order of a pair relative to that of a contact: < 0 before it.
static inline int compare(const rbTouch* touch, const rbContact* contact)
{
    if (touch->bodyA != contact->bodyA) {
        return touch->bodyA < contact->bodyA ? -1 : 1;
    }
    if (touch->bodyB != contact->bodyB) {
        return touch->bodyB < contact->bodyB ? -1 : 1;
    }
    if (touch->partA != contact->partA) {
        return touch->partA < contact->partA ? -1 : 1;
    }
    return touch->partB == contact->partB ? 0 : (touch->partB < contact->partB ? -1 : 1);
}

// The first pair that is not before the one of a contact.
static int findPlace(const rbTouchReport* list, const rbContact* contact)
{
    const rbTouch* touches = list->touches.data;
    int low = 0;
    int high = list->touches.count;
    for (int i = list->cursor; i < list->cursor + 2 && i < high; ++i) {
        if (compare(&touches[i], contact) == 0) {
            return i;
        }
    }
    while (low < high) {
        int middle = (low + high) / 2;
        bool isBefore = compare(&touches[middle], contact) < 0;
        low = isBefore ? middle + 1 : low;
        high = isBefore ? high : middle;
    }
    return low;
}

static rbTouch* findTouch(rbTouchReport* list, const rbContact* contact)
{
    int place = findPlace(list, contact);
    list->cursor = place;
    int count = list->touches.count;
    if (place == count || compare(&list->touches.data[place], contact) != 0) {
        rbTouch added = {.bodyA = contact->bodyA,
                         .bodyB = contact->bodyB,
                         .partA = contact->partA,
                         .partB = contact->partB,
                         .gap = INFINITY};
        rbArray_Push(list->touches, added);
        rbTouch* at = &list->touches.data[place];
        memmove(at + 1, at, (size_t)(count - place) * sizeof *at);
        *at = added;
    }
    return &list->touches.data[place];
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

// Contacts of shapes, without stops of joints.
static rbContactSet getFound(const rbStepContacts* c)
{
    rbContactSet set = {c->set.contacts, c->foundCount, c->set.points, c->foundPoints};
    return set;
}

static bool isAsked(const rbStepContacts* c, const rbStepHost* host)
{
    return c->settings.hasEvents && host->node != NULL;
}

void rbContactStep_BeginTouches(rbStepContacts* c)
{
    c->report.touches.count = 0;
    c->report.cursor = 0;
}

// Approach speeds of closed points, before collisions.
void rbContactStep_NoteArriving(rbStepContacts* c, const rbStepHost* host)
{
    if (!isAsked(c, host)) {
        return;
    }
    rbContactSet set = getFound(c);
    for (int i = 0; i < set.contactCount; ++i) {
        const rbContact* contact = &set.contacts[i];
        double fastest = 0.0;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &set.points[k];
            // those that bear have not arrived in this step
            if (point->isClosed && !(point->impulse[0] > 0.0)) {
                fastest = fmax(fastest, -rbContact_NormalSpeed(c->bodies.data, contact, point));
            }
        }
        if (fastest > 0.0) {
            rbTouch* touch = findTouch(&c->report, contact);
            bool isArrival = fastest > ARRIVAL_PART * touch->approachSpeed;
            touch->approachSpeed = isArrival ? fastest : touch->approachSpeed;
        }
    }
}

void rbContactStep_AddCollisions(rbStepContacts* c, const rbStepHost* host,
                                 const rbCollisionNote* notes, int count)
{
    if (!isAsked(c, host)) {
        return;
    }
    rbContactSet set = getFound(c);
    for (int i = 0; i < count; ++i) {
        if (notes[i].contact < set.contactCount) {
            const rbContact* contact = &set.contacts[notes[i].contact];
            rbTouch* touch = findTouch(&c->report, contact);
            touch->impulse = rbAdd(touch->impulse, notes[i].impulse);
            touch->armA = notes[i].arm;
            touch->normal = contact->normal;
            touch->isBearing = true;
        }
    }
}

void rbContactStep_MoveTouch(rbStepContacts* c, const rbStepHost* host, const int bodies[2],
                             rbVec3 way)
{
    for (int i = 0; isAsked(c, host) && i < c->report.touches.count; ++i) {
        rbTouch* touch = &c->report.touches.data[i];
        if (touch->bodyA == bodies[0] && touch->bodyB == bodies[1]) {
            touch->armA = rbAdd(touch->armA, way);
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
    rbContactSet set = getFound(c);
    for (int i = 0; i < set.contactCount; ++i) {
        const rbContact* contact = &set.contacts[i];
        double sums[3] = {0.0, 0.0, 0.0};
        const rbContactPoint* point = sumImpulses(&set, contact, sums);
        if (point == NULL) {
            continue;
        }
        rbTouch* touch = findTouch(&c->report, contact);
        bool acts = rbContactBody_IsMoved(&c->bodies.data[contact->bodyA]) ||
                    rbContactBody_IsMoved(&c->bodies.data[contact->bodyB]);
        rbVec3 sum = rbJoinImpulse(contact->normal, contact->tangents, sums[0], sums[1], sums[2]);
        touch->impulse = rbAddScaled(touch->impulse, acts ? sign : 0.0, sum);
        touch->isBearing = touch->isBearing || sign > 0.0;
        touch->armA = point->armA; // until it is located
        touch->normal = contact->normal;
        if (start != NULL) {
            touch->approachSpeed =
                fmax(touch->approachSpeed, -rbContact_NormalSpeed(start, contact, point));
        }
    }
}

// Where pairs touch at the end of the step.
static void locate(rbStepContacts* c)
{
    rbContactSet set = getFound(c);
    for (int i = 0; i < set.contactCount; ++i) {
        const rbContact* contact = &set.contacts[i];
        rbVec3 sum = RB_VEC3_ZERO;
        double nearest = INFINITY;
        int count = 0;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &set.points[k];
            if (point->isClosed) {
                sum = rbAdd(sum, point->armA);
                nearest = fmin(nearest, point->gap);
                count += 1;
            }
        }
        if (count > 0) {
            rbTouch* touch = findTouch(&c->report, contact);
            bool isNearer = nearest < touch->gap;
            touch->armA = isNearer ? rbScale(1.0 / count, sum) : touch->armA;
            touch->normal = isNearer ? contact->normal : touch->normal;
            touch->gap = isNearer ? nearest : touch->gap;
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
    c->report.reported.count = 0;
    for (int i = 0; i < c->report.touches.count; ++i) {
        const rbTouch* touch = &c->report.touches.data[i];
        const rbMechBody* bodyA = rbContactStep_GetBody(c, touch->bodyA);
        rbEngineTouch reported;
        memset(&reported, 0, sizeof reported);
        reported.event.bodyA = rbEngineBody(touch->bodyA);
        reported.event.bodyB = rbEngineBody(touch->bodyB);
        reported.event.shapeA = touch->partA;
        reported.event.shapeB = touch->partB;
        reported.event.point = rbAdd(bodyA->pose.position, touch->armA);
        reported.event.normal = touch->normal;
        reported.event.impulse = touch->impulse;
        reported.event.approachSpeed = touch->approachSpeed;
        reported.isBearing = touch->isBearing;
        reported.isClosed = touch->gap < INFINITY;
        rbArray_Push(c->report.reported, reported);
    }
    rbEngineNode node = {c->grid.time, c->report.reported.data, c->report.reported.count,
                         c->places.data};
    host->node(host->context, &node);
}
