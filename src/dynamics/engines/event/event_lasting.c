// Several points of a lasting contact, as one microcollision.
//
// Points that nearly touch take part: they leave slightly slower, so that after the hop all are at
// equal distance and the body lies flat.
//
// Resolved one after the other, the points of a face that lies on another throw the body back and
// forth and it never comes to rest. Here they act together. Afterward every point leaves at the
// same speed, so the body rises by a fraction of the tolerance without rotating and comes down
// flat. Along the surface the velocity is reversed (L-100), so that nothing creeps, within the
// limits of the friction cones. The impulses are found iteratively, point by point, each within its
// cone.
#include "dynamics/engines/event/event_lasting.h"

#include "base/math/matrix3.h"
#include "dynamics/engines/event/event_bodies.h"

#include <math.h>

#define SWEEPS_MAX 100
// Sweeps end when no point changes by more than this fraction of the speed of the hop.
#define SWEEP_REST 1e-6

typedef struct LastingPoint {
    rbMat3 frame;     // tangents and normal
    rbVec3 target;    // m/s, relative velocity after, world
    rbVec3 stiffness; // kg, impulse per change of velocity along the axes of the frame
    rbVec3 impulse;   // N s, in the frame
    rbVec3 before;    // m/s, relative velocity before, world
    double friction;
    rbImpactLaw law;
} LastingPoint;

static void preparePoint(const rbEventEngine* engine, const rbEventResolution* r,
                         const rbEventContact* contact, double speed, LastingPoint* point)
{
    const rbEventPair* pair = &engine->pairs.data[r->pair];
    rbMaterialPair material =
        rbEventEngine_GetMaterial(engine, pair, contact->childA, contact->childB);
    point->frame = rbMakeContactFrame(contact->normal);
    rbSym3 matrix =
        rbMakeCollisionMatrix(&r->bodies[0], &r->bodies[1], contact->point, &point->frame);
    point->stiffness = rbMakeVec3(1.0 / matrix.xx, 1.0 / matrix.yy, 1.0 / matrix.zz);
    point->before = rbGetRelativeVelocity(&r->bodies[0], &r->bodies[1], contact->point);
    point->target = rbScale(speed + r->growth, contact->normal);
    point->impulse = RB_VEC3_ZERO;
    point->friction = material.friction;
    point->law = material.law;
}

// Adds the tangential component of the targets. A sway that is the same before every microcollision
// comes from a pull along the surface, and reversing it keeps the body in place on average. One
// that changes its sign every time is free and would persist forever. So the mean of this sway and
// the last is reversed: the first kind fully, the second not at all.
static void aimSway(rbEventPairData* data, const rbEventResolution* r,
                    const rbEventContact* contacts, int count, LastingPoint* points)
{
    rbVec3 middle = RB_VEC3_ZERO;
    for (int i = 0; i < count; ++i) {
        middle = rbAddScaled(middle, 1.0 / count, contacts[i].point);
    }
    rbVec3 n = contacts[0].normal;
    rbVec3 u = rbGetRelativeVelocity(&r->bodies[0], &r->bodies[1], middle);
    rbVec3 sway = rbAddScaled(u, -rbDot(u, n), n);
    double spin = rbDot(n, rbSub(r->bodies[1].angularVelocity, r->bodies[0].angularVelocity));
    rbVec3 velocity = data->hasSway ? rbScale(0.5, rbAdd(sway, data->swayVelocity)) : sway;
    double turning = data->hasSway ? 0.5 * (spin + data->swaySpin) : spin;
    for (int i = 0; i < count; ++i) {
        rbVec3 arm = rbSub(contacts[i].point, middle);
        rbVec3 mean = rbAddScaled(velocity, turning, rbCross(n, arm));
        rbVec3 normal = contacts[i].normal;
        points[i].target = rbSub(points[i].target, rbAddScaled(mean, -rbDot(mean, normal), normal));
    }
    data->swayVelocity = sway;
    data->swaySpin = spin;
    data->hasSway = true;
}

static void pushPoint(rbEventResolution* r, const rbEventContact* contact, LastingPoint* point,
                      rbVec3 impulse)
{
    rbVec3 change = rbMulMV(point->frame, rbSub(impulse, point->impulse));
    rbApplyContactImpulse(&r->bodies[0], &r->bodies[1], contact->point, change);
    point->impulse = impulse;
}

// The difference of a point from its target, in its frame.
static rbVec3 missOf(const rbEventResolution* r, const rbEventContact* contact,
                     const LastingPoint* point)
{
    rbVec3 u = rbGetRelativeVelocity(&r->bodies[0], &r->bodies[1], contact->point);
    return rbMulMtV(point->frame, rbSub(point->target, u));
}

// One sweep over the points: the normal component first, then friction within the limit it allows.
// Returns the largest change of a velocity.
static double sweepPoints(rbEventResolution* r, const rbEventContact* contacts, int count,
                          LastingPoint* points)
{
    double largest = 0.0;
    for (int i = 0; i < count; ++i) {
        LastingPoint* point = &points[i];
        rbVec3 start = point->impulse;
        rbVec3 next = start;
        rbVec3 miss = missOf(r, &contacts[i], point);
        next.z = fmax(0.0, start.z + point->stiffness.z * miss.z);
        pushPoint(r, &contacts[i], point, next);
        miss = missOf(r, &contacts[i], point);
        next.x += point->stiffness.x * miss.x;
        next.y += point->stiffness.y * miss.y;
        double size = sqrt(next.x * next.x + next.y * next.y);
        double most = point->friction * next.z;
        if (size > most) {
            next.x *= most / size;
            next.y *= most / size;
        }
        pushPoint(r, &contacts[i], point, next);
        double change = fmax(fabs(next.z - start.z) / point->stiffness.z,
                             fmax(fabs(next.x - start.x) / point->stiffness.x,
                                  fabs(next.y - start.y) / point->stiffness.y));
        largest = fmax(largest, change);
    }
    return largest;
}

void rbEventEngine_ResolveLasting(rbEventEngine* engine, const rbEventHost* host,
                                  rbEventResolution* r, const rbEventContacts* list)
{
    RB_ASSERT(list->count > 0);
    RB_ASSERT(list->count <= RB_EVENT_CONTACTS_MAX);
    RB_ASSERT(r->pull > 0.0);
    const rbEventContact* contacts = list->points;
    int count = list->count;
    LastingPoint points[RB_EVENT_CONTACTS_MAX];
    rbEventPair* pair = &engine->pairs.data[r->pair];
    double nearest = INFINITY;
    double before = rbGetKineticEnergy(&r->bodies[0]) + rbGetKineticEnergy(&r->bodies[1]);
    for (int i = 0; i < count; ++i) {
        nearest = fmin(nearest, contacts[i].distance);
    }
    double speed = rbEventResolution_HopSpeed(r, nearest);
    double duration = 2.0 * speed / r->pull;
    for (int i = 0; i < count; ++i) {
        double less = (contacts[i].distance - nearest) / duration;
        preparePoint(engine, r, &contacts[i], speed - less, &points[i]);
    }
    aimSway(&engine->datas.data[pair->data], r, contacts, count, points);
    for (int sweep = 0; sweep < SWEEPS_MAX; ++sweep) {
        if (sweepPoints(r, contacts, count, points) <= SWEEP_REST * speed) {
            break;
        }
    }
    double after = rbGetKineticEnergy(&r->bodies[0]) + rbGetKineticEnergy(&r->bodies[1]);
    pair->isLasting = true;
    rbVec3 centers = rbSub(r->bodies[1].center, r->bodies[0].center);
    double frictionSum = 0.0;
    for (int i = 0; i < count; ++i) {
        const LastingPoint* point = &points[i];
        if (!(point->impulse.z > 0.0)) {
            continue;
        }
        rbVec3 impulse = rbMulMV(point->frame, point->impulse);
        // The work of an impulse uses the mean of the velocities before and after.
        rbVec3 u = rbGetRelativeVelocity(&r->bodies[0], &r->bodies[1], contacts[i].point);
        rbVec3 mean = rbMulMtV(point->frame, rbScale(0.5, rbAdd(u, point->before)));
        double friction = point->impulse.x * mean.x + point->impulse.y * mean.y;
        double across =
            sqrt(point->impulse.x * point->impulse.x + point->impulse.y * point->impulse.y);
        bool isSliding = across >= (1.0 - SWEEP_REST) * point->friction * point->impulse.z;
        frictionSum += friction;
        r->fastest = fmax(r->fastest, -rbDot(point->before, contacts[i].normal));
        engine->statistics.microcollisions += 1;
        engine->statistics.virial += rbDot(impulse, centers);
        rbEngineEvent event = {.time = r->time,
                               .kind = RB_HAPPENED_MICROCOLLISION,
                               .a = pair->a,
                               .b = pair->b,
                               .law = point->law,
                               .history = isSliding ? RB_PHASE_RETURN | (RB_PHASE_SLIDE << 4)
                                                    : RB_PHASE_RETURN,
                               .energyChange = friction + point->impulse.z * mean.z,
                               .energyBefore = before,
                               .frictionWork = friction,
                               .point = contacts[i].point,
                               .normal = contacts[i].normal,
                               .impulse = impulse,
                               .approachSpeed = -rbDot(point->before, contacts[i].normal)};
        rbEventEngine_Write(engine, host, &event);
    }
    engine->work.friction += frictionSum;
    engine->work.micro += after - before - frictionSum;
}
