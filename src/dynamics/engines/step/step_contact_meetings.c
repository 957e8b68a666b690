// Two bodies that meet alone within a step.
//
// A step stops bodies that arrive at the surface, and they collide at its end: late by up to a
// step, after each rebound again. Where both touch nothing else and rebound, they fly from the node
// to the time of contact instead, collide at their poses and with their velocities of then, and fly
// for the rest of the step: the step is cut for this pair alone, without solving anything again.
// Where that leaves them not apart, they end where the step would have stopped them.
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// Points of a pair that are looked at.
#define PROBES_MAX 64
// For the time of contact.
#define LOOKS_MAX 8
// Of the shell: gaps that are closed then. Balls that graze leave in directions that are off by
// this over their radius.
#define CLOSE_PART 1e-4
// rad, after it.
#define TURN_MOST 0.3

// How many contacts each body has at the node.
static void countTouching(rbStepContacts* c)
{
    rbArray_SetCount(c->flight.touching, c->bodies.count);
    memset(c->flight.touching.data, 0, (size_t)c->bodies.count);
    for (int i = 0; i < c->set.contactCount; ++i) {
        const int bodies[2] = {c->set.contacts[i].bodyA, c->set.contacts[i].bodyB};
        for (int k = 0; k < 2; ++k) {
            unsigned char* count = &c->flight.touching.data[bodies[k]];
            *count = (unsigned char)(*count < 2 ? *count + 1 : 2);
        }
    }
}

// A body, if it moves along a path where it is at a time.
static rbMechBody bodyAt(const rbStepEngine* engine, int index, double time)
{
    rbMechBody body = *rbContactStep_GetBody(engine, index);
    const rbPath* path = engine->bodies.data[index].def.path;
    if (path != NULL) {
        rbStep_FollowPath(path, time, &body, false);
    }
    return body;
}

// The body that flies; NULL: it is fixed. False: it has to stay with the step of the others, or
// turns along a path, and contacts would be found as it is at the end.
static bool findFlier(const rbStepEngine* engine, const rbStepHost* host, int index,
                      rbMechBody** flier)
{
    const rbStepContacts* c = engine->contacts;
    *flier = NULL;
    if (!(c->bodies.data[index].invMass > 0.0)) {
        return rbLengthSquared(bodyAt(engine, index, c->grid.time).angularVelocity) == 0.0;
    }
    bool isLoose = engine->bodies.data[index].mechanism < 0;
    rbMechBody* body = isLoose ? rbContactStep_GetBody(engine, index) : NULL;
    const rbMotionBody* motion = &host->motions[index];
    bool isFree = motion->load == NULL && !(rbLengthSquared(motion->torque) > 0.0);
    *flier = body;
    return body != NULL && body->isDynamic && isFree && c->flight.touching.data[index] == 1 &&
           c->flight.late.data[index] > 0.0;
}

// Velocity change by the forces over a time.
static rbVec3 kickOver(const rbStepEngine* engine, int index, double h, double time)
{
    double part = rbContactStep_PartOf(engine, h) * time / h;
    return rbScale(part, engine->contacts->flight.kicks.data[index]);
}

static void flyFor(const rbStepEngine* engine, rbMechBody* body, double h, double time)
{
    rbVec3 kick = kickOver(engine, body->index, h, time);
    body->velocity = rbAddScaled(body->velocity, 0.5, kick);
    rbMechBody_LookAhead(body, time);
    body->pose = body->ahead;
    body->velocity = rbAddScaled(body->velocity, 0.5, kick);
}

// The rest of the step after the time of contact: of the gap and the speed at the node, and of the
// forces. That of the arrival is of a flight without forces, at the mean speed of the whole step.
static double findRest(const rbStepEngine* engine, const rbMeeting* meeting,
                       const rbArrival* arrival, double h)
{
    const double* lates = engine->contacts->flight.late.data;
    double late = h;
    double pull = 0.0; // m/s^2, along the normal, apart
    for (int k = 0; k < 2; ++k) {
        if (meeting->bodies[k] != NULL) {
            int index = meeting->bodies[k]->index;
            rbVec3 kick = kickOver(engine, index, h, 1.0);
            late = fmin(late, lates[index]);
            pull += (k == 0 ? -1.0 : 1.0) * rbDot(kick, arrival->normal);
        }
    }
    double speed = arrival->gap / (h - late) + 0.5 * pull * h;
    double root = sqrt(fmax(0.0, speed * speed - 2.0 * pull * arrival->gap));
    return speed > 0.0 ? fmax(0.0, h - 2.0 * arrival->gap / (speed + root)) : 0.0;
}

// Whether an arrival is that of two bodies which meet alone and rebound.
static bool isMeeting(const rbStepEngine* engine, const rbStepHost* host, const rbArrival* arrival,
                      double h, rbMeeting* meeting)
{
    const rbStepContacts* c = engine->contacts;
    if (arrival->isOfStop || arrival->isAhead || !(arrival->gap > 0.0) ||
        !findFlier(engine, host, arrival->bodyA, &meeting->bodies[0]) ||
        !findFlier(engine, host, arrival->bodyB, &meeting->bodies[1])) {
        return false;
    }
    int first = rbContactStep_FindPair(&c->set, c->foundCount, arrival->bodyA, arrival->bodyB);
    const rbContact* contact = &c->set.contacts[first];
    meeting->indices[0] = arrival->bodyA;
    meeting->indices[1] = arrival->bodyB;
    meeting->rest = findRest(engine, meeting, arrival, h);
    return first < c->foundCount && contact->bodyA == arrival->bodyA &&
           contact->bodyB == arrival->bodyB && contact->restitution > 0.0 && meeting->rest > 0.0;
}

// The least gap of the pair as it is, at a time; beyond what is asked: INFINITY.
static double measure(const rbStepEngine* engine, const rbMeeting* meeting, double time,
                      double within)
{
    rbContactProbe probes[PROBES_MAX];
    rbRowPose poses[2];
    for (int k = 0; k < 2; ++k) {
        poses[k] = bodyAt(engine, meeting->indices[k], time).pose;
    }
    int count = rbContactPairs_Measure(engine->contacts->pairs, meeting->indices, poses, within,
                                       probes, PROBES_MAX);
    double least = INFINITY;
    for (int i = 0; i < count && i < PROBES_MAX; ++i) {
        least = fmin(least, probes[i].gap);
    }
    return least;
}

// From the node to the time of contact.
static void flyToContact(const rbStepEngine* engine, rbMeeting* meeting, double h)
{
    const rbStepContacts* c = engine->contacts;
    for (int k = 0; k < 2; ++k) {
        rbMechBody* body = meeting->bodies[k];
        if (body != NULL) {
            *body = c->trial.loose.data[c->own.places1.data[body->index] - 1];
            flyFor(engine, body, h, h - meeting->rest);
            meeting->struck[k] = *body;
        }
    }
}

// Moves a body that flies along with one on a path, to where this is at the end of the step, for
// the collision there. False: the path changes its speed before.
static bool follow(const rbStepEngine* engine, rbMeeting* meeting, double h)
{
    double end = engine->contacts->grid.time + h;
    meeting->carried = RB_VEC3_ZERO;
    for (int k = 0; k < 2; ++k) {
        if (meeting->bodies[k] == NULL) {
            rbMechBody then = bodyAt(engine, meeting->indices[k], end - meeting->rest);
            rbMechBody last = bodyAt(engine, meeting->indices[k], end);
            meeting->carried = rbSub(last.pose.position, then.pose.position);
            if (rbDistance(last.velocity, then.velocity) > engine->contacts->settings.restSpeed) {
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
// motion across the normal change it. False: none is found within the step.
static bool findContact(const rbStepEngine* engine, const rbArrival* arrival, rbMeeting* meeting,
                        double h)
{
    double close = CLOSE_PART * engine->contacts->settings.shell;
    double slope = arrival->gap / (h - meeting->rest); // m/s, of the gap over the rest of the step
    double lastGap = INFINITY;
    double lastRest = 0.0;
    for (int i = 0; i < LOOKS_MAX && meeting->rest > 0.0 && meeting->rest < h; ++i) {
        flyToContact(engine, meeting, h);
        double end = engine->contacts->grid.time + h;
        double gap = measure(engine, meeting, end - meeting->rest, arrival->gap);
        if (fabs(gap) <= close) {
            // slower ones may be at rest by then, which the step as a whole decides
            return slope > 2.0 * engine->contacts->settings.restSpeed && follow(engine, meeting, h);
        }
        double secant = (gap - lastGap) / (meeting->rest - lastRest);
        slope = secant > 0.0 && secant < INFINITY ? secant : slope;
        lastGap = gap;
        lastRest = meeting->rest;
        meeting->rest -= gap / slope;
    }
    return false;
}

// Whether the pair does not touch in the step: it passes by, or meets in the next one. first: the
// rest of the step as the arrival gives it, in which bodies must not get through each other.
static bool isMissing(const rbStepEngine* engine, const rbArrival* arrival, rbMeeting* meeting,
                      double h, double first)
{
    const rbStepContacts* c = engine->contacts;
    double way = first * arrival->gap / (h - first);
    for (int k = 0; k < 2; ++k) {
        const rbMechBody* body = meeting->bodies[k];
        double turn = h * rbLength(c->bodies.data[meeting->indices[k]].spin);
        if (body != NULL && (way > 0.5 * c->own.radii.data[body->index] || turn > TURN_MOST)) {
            return false;
        }
    }
    meeting->rest = 0.0;
    flyToContact(engine, meeting, h);
    return measure(engine, meeting, c->grid.time + h, arrival->gap) > 0.0;
}

void rbContactStep_BeginMeetings(rbStepEngine* engine, const rbStepHost* host, double h)
{
    rbStepContacts* c = engine->contacts;
    c->flight.meetings.count = 0;
    if (c->flight.arrivals.count == 0 || c->solvers.substeps != NULL) {
        return;
    }
    countTouching(c);
    for (int i = 0; i < c->flight.arrivals.count; ++i) {
        rbArrival* arrival = &c->flight.arrivals.data[i];
        rbMeeting meeting = {.rest = 0.0};
        if (!isMeeting(engine, host, arrival, h, &meeting)) {
            continue;
        }
        double first = meeting.rest;
        for (int k = 0; k < 2; ++k) {
            if (meeting.bodies[k] != NULL) {
                meeting.stopped[k] = *meeting.bodies[k];
                c->flight.touching.data[meeting.indices[k]] = 2; // once
            }
        }
        if (findContact(engine, arrival, &meeting, h)) {
            rbArray_Push(c->flight.meetings, meeting);
            continue;
        }
        if (isMissing(engine, arrival, &meeting, h, first)) {
            rbContactStep_DropArrivals(c, arrival->bodyA, arrival->bodyB);
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
    int first = rbContactStep_FindPair(&c->set, c->foundCount, pair[0], pair[1]);
    int count = 0;
    for (int i = first; i < c->foundCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        if (contact->bodyA != pair[0] || contact->bodyB != pair[1]) {
            break;
        }
        count += 1;
        least = fmin(least, rbDot(rbSub(b->velocity, a->velocity), contact->normal));
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            least = fmin(least, rbContactStep_NormalSpeed(c, contact, &c->set.points[k]));
        }
    }
    return count > 0 && least > 0.0;
}

// Whether the pair is apart now, and both have gone no farther than where an overlap with a third
// body would be found.
static bool areApart(const rbStepEngine* engine, rbMeeting* meeting)
{
    const rbStepContacts* c = engine->contacts;
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
    return !(measure(engine, meeting, c->grid.time, 0.0) <= 0.0);
}

// A body ends where the step stopped it: as it was there, or, once it has collided, with as much of
// the forces as pays for the way.
static void stop(const rbStepEngine* engine, const rbMeeting* meeting, int k, double h)
{
    const rbMechBody* stopped = &meeting->stopped[k];
    const rbMechBody* struck = &meeting->struck[k];
    const rbMechBody* collided = &meeting->collided[k];
    rbMechBody* body = meeting->bodies[k];
    *body = *stopped;
    if (rbLengthSquared(rbSub(collided->velocity, struck->velocity)) > 0.0) {
        rbVec3 way = rbSub(stopped->pose.position, struck->pose.position);
        body->velocity = collided->velocity;
        body->momentum = collided->momentum;
        rbContactStep_PayForWay(body, kickOver(engine, body->index, h, h), rbScale(1.0 / h, way));
        rbContactStep_KeepTurn(&engine->contacts->bodies.data[body->index], body);
    }
}

static void stopBoth(const rbStepEngine* engine, const rbMeeting* meeting, double h)
{
    for (int k = 0; k < 2; ++k) {
        if (meeting->bodies[k] != NULL) {
            stop(engine, meeting, k, h);
        }
    }
}

bool rbContactStep_EndMeetings(rbStepEngine* engine, const rbStepHost* host, double h)
{
    rbStepContacts* c = engine->contacts;
    for (int i = 0; i < c->flight.meetings.count; ++i) {
        rbMeeting* meeting = &c->flight.meetings.data[i];
        bool isFlying = isRebounding(c, meeting);
        for (int k = 0; k < 2; ++k) {
            if (meeting->bodies[k] != NULL) {
                rbVec3* position = &meeting->bodies[k]->pose.position;
                *position = rbSub(*position, meeting->carried);
                meeting->collided[k] = *meeting->bodies[k];
                flyFor(engine, meeting->bodies[k], h, isFlying ? meeting->rest : 0.0);
            }
        }
        if (!isFlying || !areApart(engine, meeting)) {
            stopBoth(engine, meeting, h);
            meeting->isFar = false;
        }
        if (meeting->bodies[0] != NULL) {
            rbVec3 now = meeting->bodies[0]->pose.position;
            rbContactStep_MoveTouch(engine, host, meeting->indices,
                                    rbSub(meeting->struck[0].pose.position, now));
        }
    }
    return c->flight.meetings.count > 0;
}

bool rbContactStep_UndoMeetings(rbStepEngine* engine, double h)
{
    rbStepContacts* c = engine->contacts;
    bool isAny = false;
    for (int i = 0; i < c->flight.meetings.count; ++i) {
        rbMeeting* meeting = &c->flight.meetings.data[i];
        bool isOver = false;
        for (int k = 0; meeting->isFar && !isOver && k < c->foundCount; ++k) {
            const rbContact* contact = &c->set.contacts[k];
            bool isOfThem =
                contact->bodyA == meeting->indices[0] || contact->bodyA == meeting->indices[1] ||
                contact->bodyB == meeting->indices[0] || contact->bodyB == meeting->indices[1];
            isOver = isOfThem && rbFindLeastGap(&c->set, contact) < 0.0;
        }
        if (isOver) {
            stopBoth(engine, meeting, h);
            isAny = true;
        }
    }
    return isAny;
}
