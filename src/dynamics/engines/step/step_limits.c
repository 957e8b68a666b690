// Stops of joints as contacts, see step_limits.h.
#include "dynamics/engines/step/step_limits.h"

#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// A stop takes part if it is nearer than this fraction of the lever, or than this many steps at the
// current speed: forces and motors may make it faster within the step.
#define NEAR_PART 0.25
#define NEAR_STEPS 4.0
// The lever is at most this many times as long as the arm of the center of mass or the radius of
// gyration.
#define LEVER_MOST 3.0
// m: a lever of a body without extent.
#define LEVER_LEAST 1e-3
// m or rad: a start beyond a stop by no more counts as being at the stop.
#define START_EXCESS 1e-6

// A limit at the current poses.
typedef struct Stop {
    const rbLimitModel* model;
    const rbMechBody* a;
    const rbMechBody* b;
    int bodyA; // of the contacts
    int bodyB;
    rbVec3 point;  // m, world: where the levers meet
    rbVec3 rising; // unit: the direction of B's point when the coordinate grows
    double scale;  // m of displacement of the point per unit of the coordinate
    double size;   // m, to decide what is near
    double position;
    double curve; // rad or m: gain of the coordinate in a step beyond its rate times h
} Stop;

// Radius of gyration about an axis through the center of mass.
static double gyrationAbout(const rbMechBody* body, rbVec3 axis)
{
    rbVec3 local = rbMulMtV(body->pose.rotation, axis);
    return sqrt(rbDot(rbMulEach(local, local), body->moments) * body->invMass);
}

// The lever of an angle about a unit axis through a point: toward the center of mass, up to the
// center of percussion, where the joint does not feel the impact.
static void placeLever(Stop* stop, rbVec3 anchor, rbVec3 axis)
{
    const rbMechBody* body = stop->b->isDynamic ? stop->b : stop->a;
    rbVec3 arm = rbSub(body->pose.position, anchor);
    rbVec3 across = rbAddScaled(arm, -rbDot(arm, axis), axis);
    double gyration = gyrationAbout(body, axis);
    double distance = rbLength(across);
    double most = LEVER_MOST * fmax(fmax(distance, gyration), LEVER_LEAST);
    bool isArm = distance > 1e-6 * gyration && distance > 0.0;
    rbVec3 d = isArm ? rbScale(1.0 / distance, across) : rbPerpendicular(axis);
    double lever = isArm ? distance + gyration * gyration / distance : most;
    lever = fmin(lever, most);
    stop->point = rbAddScaled(anchor, lever, d);
    stop->rising = rbCross(axis, d);
    stop->size = lever;
    stop->scale *= lever;
}

// A body that rotates with a constant spin moves its axis along a circle: the resulting gain of the
// angle to an axis of the other body in a step.
static double curveOf(const Stop* stop, const rbContactBody* bodies, double h)
{
    rbVec3 a = rbMulMV(stop->a->pose.rotation, stop->model->freedom.axis);
    rbVec3 b = rbMulMV(stop->b->pose.rotation, stop->model->freedom.referenceB);
    rbVec3 w = rbSub(bodies[stop->bodyB].spin, bodies[stop->bodyA].spin);
    double sine = rbLength(rbCross(a, b));
    if (!(sine > 1e-3)) {
        return 0.0;
    }
    double cosine = rbDot(a, b);
    double rate = rbDot(w, rbCross(a, b)) / sine;
    double second = (cosine * (rbDot(w, w) - rate * rate) - rbDot(a, w) * rbDot(b, w)) / sine;
    return 0.5 * h * h * second;
}

static Stop makeStop(const rbStepContacts* c, const rbStepJointSlot* slot, int freedom)
{
    const rbMechanism* m = &c->engine->mechanisms.data[slot->mechanism].m;
    const rbRowBlock* block = &m->blocks[slot->block];
    int world = c->engine->bodies.count;
    Stop stop = {.model = &slot->def.limits[freedom],
                 .a = &m->bodies[block->bodyA],
                 .b = &m->bodies[block->bodyB],
                 .bodyA = slot->def.bodyA >= 0 ? slot->def.bodyA : world,
                 .bodyB = slot->def.bodyB >= 0 ? slot->def.bodyB : world,
                 .scale = 1.0};
    const rbRowPose* pose = &stop.b->pose;
    rbRow row;
    rbFreedomModel_Rows(&stop.model->freedom, &stop.a->pose, pose, &row);
    stop.position = slot->limitPositions[freedom];
    rbVec3 anchor = rbAdd(pose->position, rbMulMV(pose->rotation, stop.model->anchorB));
    if (stop.model->freedom.kind == RB_FREEDOM_TRAVEL) {
        stop.point = anchor;
        stop.rising = row.linear;
        stop.size = fmax(stop.a->radius, stop.b->radius);
        return stop;
    }
    double length = rbLength(row.angularB);
    stop.scale = 1.0 / length;
    placeLever(&stop, anchor, rbScale(stop.scale, row.angularB));
    if (stop.model->freedom.kind == RB_FREEDOM_SWING) {
        stop.curve = curveOf(&stop, c->bodies.data, c->engine->settings.step);
    }
    return stop;
}

// One of the two stops; false: it is too far away to matter.
static bool makeContact(const rbStepContacts* c, const Stop* stop, bool isUpper, double h,
                        rbContact* contact, rbContactPoint* point)
{
    double left =
        isUpper ? stop->model->upper - stop->position : stop->position - stop->model->lower;
    double gap = stop->scale * left;
    memset(contact, 0, sizeof *contact);
    memset(point, 0, sizeof *point);
    contact->bodyA = stop->bodyA;
    contact->bodyB = stop->bodyB;
    contact->normal = isUpper ? rbNeg(stop->rising) : stop->rising;
    contact->tangents[0] = rbPerpendicular(contact->normal);
    contact->tangents[1] = rbCross(contact->normal, contact->tangents[0]);
    contact->restitution = stop->model->restitution;
    contact->pointCount = 1;
    point->armA = rbSub(stop->point, stop->a->pose.position);
    point->armB = rbSub(stop->point, stop->b->pose.position);
    point->gap = gap + stop->scale * (isUpper ? -stop->curve : stop->curve);
    point->isClosed = gap <= fmax(c->settings.tolerance, c->settings.shell);
    double speed = rbContact_NormalSpeed(c->bodies.data, contact, point);
    return gap <= NEAR_PART * stop->size + NEAR_STEPS * h * fabs(speed);
}

static void addContact(rbStepContacts* c, const rbContact* contact, const rbContactPoint* point)
{
    rbContact* added = &c->set.contacts[c->set.contactCount++];
    *added = *contact;
    added->firstPoint = c->set.pointCount;
    c->set.points[c->set.pointCount++] = *point;
}

static bool isLimited(const rbStepJointSlot* slot)
{
    return slot->isUsed && slot->mechanism >= 0 && slot->def.limitCount > 0;
}

void rbStepLimits_Append(rbStepContacts* c)
{
    double h = c->engine->settings.step;
    c->foundCount = c->set.contactCount;
    c->foundPoints = c->set.pointCount;
    c->limits.contacts.count = 0;
    c->statistics.limitCount = 0;
    for (int i = 0; c->limits.isAny && i < c->engine->joints.count; ++i) {
        rbStepJointSlot* slot = &c->engine->joints.data[i];
        for (int k = 0; isLimited(slot) && k < slot->def.limitCount; ++k) {
            const rbLimitModel* limit = &slot->def.limits[k];
            if (!rbLimitModel_IsUsed(limit)) {
                continue;
            }
            const rbMechanism* m = &c->engine->mechanisms.data[slot->mechanism].m;
            const rbRowBlock* block = &m->blocks[slot->block];
            slot->limitPositions[k] =
                rbStep_FollowFreedom(&limit->freedom, slot->limitPositions[k],
                                     &m->bodies[block->bodyA].pose, &m->bodies[block->bodyB].pose);
            Stop stop = makeStop(c, slot, k);
            double beyond =
                fmax(stop.model->lower - stop.position, stop.position - stop.model->upper);
            c->statistics.limitExcess = fmax(c->statistics.limitExcess, beyond);
            for (int side = 0; side < 2; ++side) {
                rbContact contact;
                rbContactPoint point;
                bool isThere = side == 0 ? limit->lower > -INFINITY : limit->upper < INFINITY;
                if (isThere && makeContact(c, &stop, side == 1, h, &contact, &point)) {
                    point.impulse[0] = slot->limitImpulses[k][side] / stop.scale;
                    addContact(c, &contact, &point);
                    rbLimitContact own = {i, k, side == 1, stop.scale};
                    rbArray_Push(c->limits.contacts, own);
                }
            }
        }
    }
}

void rbStepLimits_PutBack(rbStepContacts* contacts)
{
    rbStepContacts* c = contacts;
    int count = c->limits.contacts.count;
    RB_ASSERT(count <= c->trial.nodePoints.count && count <= c->trial.nodeContacts.count);
    c->foundCount = c->set.contactCount;
    c->foundPoints = c->set.pointCount;
    for (int i = 0; i < count; ++i) {
        addContact(c, &c->trial.nodeContacts.data[c->trial.nodeContacts.count - count + i],
                   &c->trial.nodePoints.data[c->trial.nodePoints.count - count + i]);
    }
}

void rbStepLimits_Keep(rbStepContacts* c)
{
    rbContactSet found = c->set;
    found.contactCount = c->foundCount;
    found.pointCount = c->foundPoints;
    rbContactPairs_Keep(c->pairs, &found);
    for (int i = 0; c->limits.isAny && i < c->engine->joints.count; ++i) {
        memset(c->engine->joints.data[i].limitImpulses, 0,
               sizeof c->engine->joints.data[i].limitImpulses);
    }
    c->statistics.limitCount = 0;
    for (int i = 0; i < c->limits.contacts.count; ++i) {
        const rbLimitContact* limit = &c->limits.contacts.data[i];
        double impulse = limit->scale * c->set.points[c->foundPoints + i].impulse[0];
        c->engine->joints.data[limit->joint].limitImpulses[limit->freedom][limit->isUpper] =
            impulse;
        c->statistics.limitCount += impulse > 0.0 ? 1 : 0;
    }
}

void rbStepLimits_Move(rbStepContacts* c, rbByteStream* stream)
{
    int most = c->limits.contacts.capacity; // the room in the set, see noteLimits
    RB_MOVE_ARRAY(stream, c->limits.contacts);
    rbByteStream_CheckRange(stream, &c->limits.contacts.count, 1, 0, most + 1);
    for (int i = 0; i < c->limits.contacts.count; ++i) {
        const rbLimitContact* limit = &c->limits.contacts.data[i];
        rbByteStream_CheckRange(stream, &limit->joint, 1, 0, c->engine->joints.count);
        rbByteStream_CheckRange(stream, &limit->freedom, 1, 0, RB_JOINT_FREEDOMS_MAX);
    }
    size_t count = (size_t)c->limits.contacts.count;
    rbByteStream_Move(stream, c->set.contacts + c->foundCount, count * sizeof *c->set.contacts);
    rbByteStream_Move(stream, c->set.points + c->foundPoints, count * sizeof *c->set.points);
    if (stream->isLoading && c->limits.isAny) {
        c->set.contactCount = c->foundCount + (int)count;
        c->set.pointCount = c->foundPoints + (int)count;
        rbStepContacts_PrepareSet(c);
    }
}

rbStartLimit rbStepLimits_Validate(const rbStepContacts* c)
{
    rbStartLimit worst = {.joint = -1};
    worst.excess = c != NULL ? fmax(START_EXCESS, c->start.excess) : 0.0;
    for (int i = 0; c != NULL && i < c->engine->joints.count; ++i) {
        const rbStepJointSlot* slot = &c->engine->joints.data[i];
        for (int k = 0; isLimited(slot) && k < slot->def.limitCount; ++k) {
            const rbLimitModel* limit = &slot->def.limits[k];
            double position = slot->limitPositions[k];
            double excess = fmax(limit->lower - position, position - limit->upper);
            if (excess > worst.excess) {
                worst = (rbStartLimit){i, k, position, excess};
            }
        }
    }
    return worst;
}
