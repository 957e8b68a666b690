// Collisions of a pair: its contact points one after the other by the law of their materials, or as
// microcollisions where the contact lasts (L-86, L-99 to L-101).
#include "dynamics/engines/event/event_impacts.h"

#include "dynamics/engines/event/event_bodies.h"
#include "dynamics/engines/event/event_rest.h"

#include <math.h>
#include <string.h>

// -------------------------------------------------------------------------- materials and accounts

static const rbMaterial* materialOf(const rbEventEngine* engine, int body, int child)
{
    const rbEventCold* cold = &engine->colds.data[body];
    int known = engine->bodies.data[body].material;
    RB_ASSERT(cold->materialCount > 0);
    RB_ASSERT(child >= 0);
    return known >= 0
               ? &engine->materials.known.data[known]
               : &cold->materials[child < cold->materialCount ? child : cold->materialCount - 1];
}

// Coefficients of a pair of parts.
static rbMaterialPair getMaterial(const rbEventEngine* engine, const rbEventPair* pair,
                                  const rbEventContact* contact)
{
    const rbMaterial* a = materialOf(engine, pair->a, contact->childA);
    const rbMaterial* b = materialOf(engine, pair->b, contact->childB);
    if (engine->materials.pairs != NULL) {
        const rbMaterialPair* known =
            &engine->materials.pairs[a->kind * RB_MATERIAL_KINDS_MAX + b->kind];
        if (known->friction >= 0.0) {
            rbMaterialPair found = *known;
            found.law = found.law < RB_IMPACT_LAW_COUNT ? found.law : engine->settings.law;
            return found;
        }
    }
    return (rbMaterialPair){
        .restitution = rbCombineRestitution(engine->settings.combineRestitution, a->restitution,
                                            b->restitution),
        .friction = rbCombineRule_Apply(engine->settings.combineFriction, a->friction, b->friction),
        .law = engine->settings.law};
}

static double applyLaw(const rbEventEngine* engine, double restitution, double speed, double mass)
{
    return rbRestitutionLaw_Apply(engine->settings.restitution,
                                  &(rbRestitutionInput){restitution, speed, mass});
}

static double energyOf(const rbImpactBody* bodies, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += rbGetKineticEnergy(&bodies[i]);
    }
    return sum;
}

// Writes an event of a pair at a contact into the journal; the caller has set the rest of it.
static void writeEvent(const rbEventHost* host, const rbEventPair* pair, double time, rbVec3 point,
                       rbVec3 normal, rbEvent event)
{
    event.time = time;
    event.bodyA = rbEngineBody(pair->a);
    event.bodyB = rbEngineBody(pair->b);
    event.point = point;
    event.normal = normal;
    rbEventHost_Write(host, &event);
}

// Counts a collision of a pair that follows another within the contact time.
static void countRepeat(const rbEventEngine* engine, rbEventPair* pair, double time)
{
    bool isRepeat = time - pair->lastTime <= engine->settings.contactTime;
    pair->repeats = isRepeat ? (uint16_t)(pair->repeats + (pair->repeats < UINT16_MAX)) : 0;
    pair->lastTime = time;
}

// ------------------------------------------------------------------------------ impacts at once

// Maximum bodies of a cluster; bodies beyond take part in the next collision.
#define CLUSTER_MAX 128

typedef struct rbEventCluster {
    double time;
    int bodies[CLUSTER_MAX];
    rbMotionState states[CLUSTER_MAX];
    rbImpactBody impacts[CLUSTER_MAX];
    rbVec3 shifts[CLUSTER_MAX]; // of images, to bring all to one place
    int bodyCount;
    rbImpactContact contacts[RB_IMPACT_CONTACTS_MAX];
    int pairs[RB_IMPACT_CONTACTS_MAX];
    double approaches[RB_IMPACT_CONTACTS_MAX];
    int contactCount;
} Cluster;

static Cluster* beginCluster(rbEventEngine* engine, double time)
{
    if (engine->scratch.cluster == NULL) {
        engine->scratch.cluster = rbAllocZero(1, sizeof *engine->scratch.cluster);
    }
    Cluster* cluster = engine->scratch.cluster;
    cluster->bodyCount = 0;
    cluster->contactCount = 0;
    cluster->time = time;
    return cluster;
}

// Speeds and directions of points that land as one face differ by less than this fraction.
#define LANDING_SPREAD 1e-6

// The place of a contact point of a pair in the cluster, the first free one if it is new. Where the
// edges of two meshes cross, the adjacent triangles list a point twice; two simultaneous rows for
// it are nearly singular.
static int placeOf(const Cluster* cluster, int pair, const rbEventContact* contact,
                   double tolerance)
{
    for (int k = 0; k < cluster->contactCount; ++k) {
        if (cluster->pairs[k] == pair &&
            rbDistance(cluster->contacts[k].point, contact->point) <= tolerance &&
            rbDot(cluster->contacts[k].normal, contact->normal) >= 1.0 - LANDING_SPREAD) {
            return k;
        }
    }
    return cluster->contactCount;
}

// Adds a point of a pair between two bodies of the cluster, if there is room; of two at the same
// place the faster one.
static void addContact(const rbEventEngine* engine, Cluster* cluster, int pair,
                       const rbEventContact* contact, const int places[2], double approach)
{
    int k = placeOf(cluster, pair, contact, engine->tolerance);
    bool isNew = k == cluster->contactCount;
    if (isNew ? k == RB_IMPACT_CONTACTS_MAX : approach <= cluster->approaches[k]) {
        return;
    }
    cluster->contactCount += isNew ? 1 : 0;
    rbMaterialPair material = getMaterial(engine, &engine->pairs.data[pair], contact);
    if (engine->settings.restitution != RB_RESTITUTION_CONSTANT) {
        rbMat3 frame = rbMakeContactFrame(contact->normal);
        rbSym3 matrix = rbMakeCollisionMatrix(&cluster->impacts[places[0]],
                                              &cluster->impacts[places[1]], contact->point, &frame);
        material.restitution = applyLaw(engine, material.restitution, approach, 1.0 / matrix.zz);
    }
    cluster->pairs[k] = pair;
    cluster->approaches[k] = approach;
    cluster->contacts[k] = (rbImpactContact){.a = places[0],
                                             .b = places[1],
                                             .point = contact->point,
                                             .normal = contact->normal,
                                             .restitution = material.restitution,
                                             .friction = material.friction,
                                             .law = material.law};
}

// Resolves all contacts of a cluster by the simultaneous law; writes statistics, work and journal.
// isEachCounted: even a point without an impulse.
static void resolveTogether(rbEventEngine* engine, const rbEventHost* host, Cluster* cluster,
                            bool isEachCounted)
{
    double before = energyOf(cluster->impacts, cluster->bodyCount);
    (void)rbResolveImpacts(cluster->impacts, cluster->contacts, cluster->contactCount,
                           RB_ORDER_SIMULTANEOUS);
    double friction = 0.0;
    for (int i = 0; i < cluster->contactCount; ++i) {
        const rbImpactContact* contact = &cluster->contacts[i];
        const rbEventPair* pair = &engine->pairs.data[cluster->pairs[i]];
        if (!isEachCounted && !(rbLengthSquared(contact->impulse) > 0.0)) {
            continue;
        }
        rbVec3 apart =
            rbSub(cluster->impacts[contact->b].center, cluster->impacts[contact->a].center);
        rbEvent event = {.kind = RB_EVENT_IMPACT,
                         .law = contact->law,
                         .history = contact->history,
                         .energyChange = contact->normalWork + contact->frictionWork,
                         .energyBefore = before,
                         .frictionWork = contact->frictionWork,
                         .impulse = contact->impulse,
                         .approachSpeed = cluster->approaches[i]};
        friction += contact->frictionWork;
        engine->statistics.impacts += 1;
        engine->statistics.lawCounts[contact->law] += 1;
        engine->statistics.virial += rbDot(contact->impulse, apart);
        if (contact->isEnergyRaised) {
            engine->statistics.energyRaises += 1;
            engine->statistics.energyRaised += event.energyChange;
        }
        writeEvent(host, pair, cluster->time, contact->point, contact->normal, event);
    }
    engine->work.friction += friction;
    engine->work.impact += energyOf(cluster->impacts, cluster->bodyCount) - before - friction;
}

// ------------------------------------------------------------------------------- lasting contact
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

// A microcollision lifts a point by its depth in the shell of tolerance; in tolerances, at least
// and at most this.
#define HOP_LEAST 0.25
#define HOP_MOST 10.0

// The speed with which a point at a distance starts such a hop, m/s.
static double getHopSpeed(const rbEventResolution* r, double distance)
{
    double hop = fmin(HOP_MOST, fmax(HOP_LEAST, 1.0 - distance / r->tolerance)) * r->tolerance;
    return sqrt(2.0 * r->pull * hop);
}

// Points of two bodies that met when these began to lie on each other, and are farther apart than
// this many tolerances now, have slid or rolled: they begin again.
#define ANCHOR_STRAY 20.0
// In a heap, the share of the way back from where a body has crept that one hop aims at, and the
// share of the sway that is reversed. With 0.1 and 1 a pyramid of 55 boxes needs three times as
// many collisions to rest, with 0.3 and 1 a stack of 24 sways on like a spring, and with 0 reversed
// it does so too, after some drops.
#define CREEP_SHARE 0.3
#define SWAY_SHARE 0.5

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
    rbMaterialPair material = getMaterial(engine, &engine->pairs.data[r->pair], contact);
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

static rbVec3 middleOf(const rbEventContact* contacts, int count)
{
    rbVec3 middle = RB_VEC3_ZERO;
    for (int i = 0; i < count; ++i) {
        middle = rbAddScaled(middle, 1.0 / count, contacts[i].point);
    }
    return middle;
}

// How far b has crept on a since the two began to lie on each other, m, along the surface; *isAnew:
// they begin now.
//
// Reversing the sway keeps two bodies in place as long as nothing else happens between their
// collisions. In a heap other neighbors collide with them in between, always at the same side, and
// the reversal leaves a small motion every time: the boxes of a pyramid crept outward at 200
// tolerances per second and never came to rest. So there the way back is aimed at as well.
static rbVec3 findCreep(rbEventPairData* data, const rbEventResolution* r,
                        const rbMotionState states[2], rbVec3 middle, rbVec3 normal, bool* isAnew)
{
    *isAnew = false;
    const rbImpactBody* a = &r->bodies[0];
    const rbImpactBody* b = &r->bodies[1];
    if (data->hasAnchor) {
        rbVec3 pointA = rbAdd(a->center, rbRotate(states[0].orientation, data->anchorA));
        rbVec3 pointB = rbAdd(b->center, rbRotate(states[1].orientation, data->anchorB));
        rbVec3 apart = rbSub(pointB, pointA);
        if (rbLength(apart) <= ANCHOR_STRAY * r->tolerance) {
            return rbAddScaled(apart, -rbDot(apart, normal), normal);
        }
    }
    data->anchorA = rbInvRotate(states[0].orientation, rbSub(middle, a->center));
    data->anchorB = rbInvRotate(states[1].orientation, rbSub(middle, b->center));
    data->hasAnchor = true;
    *isAnew = true;
    return RB_VEC3_ZERO;
}

// Adds the tangential component of the targets. A sway that is the same before every microcollision
// comes from a pull along the surface, and reversing it keeps the body in place on average. One
// that changes its sign every time is free and would persist forever. So the mean of this sway and
// the last is reversed: the first kind fully, the second not at all. In a heap less is reversed,
// and the bodies return to where they lay.
static void aimSway(rbEventPairData* data, const rbEventResolution* r,
                    const rbEventContact* contacts, int count, rbVec3 creepVelocity,
                    LastingPoint* points)
{
    rbVec3 middle = middleOf(contacts, count);
    rbVec3 n = contacts[0].normal;
    rbVec3 u = rbGetRelativeVelocity(&r->bodies[0], &r->bodies[1], middle);
    rbVec3 sway = rbAddScaled(u, -rbDot(u, n), n);
    double spin = rbDot(n, rbSub(r->bodies[1].angularVelocity, r->bodies[0].angularVelocity));
    rbVec3 velocity = data->hasSway ? rbScale(0.5, rbAdd(sway, data->swayVelocity)) : sway;
    double turning = data->hasSway ? 0.5 * (spin + data->swaySpin) : spin;
    velocity = r->isDisturbed ? rbAddScaled(creepVelocity, SWAY_SHARE, velocity) : velocity;
    for (int i = 0; i < count; ++i) {
        rbVec3 mean = rbAddScaled(velocity, turning, rbCross(n, rbSub(contacts[i].point, middle)));
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

static void resolveLasting(rbEventEngine* engine, const rbEventHost* host, rbEventResolution* r,
                           const rbMotionState states[2], const rbEventContacts* list)
{
    RB_ASSERT(list->count > 0);
    RB_ASSERT(list->count <= RB_EVENT_CONTACTS_MAX);
    RB_ASSERT(r->pull > 0.0);
    const rbEventContact* contacts = list->points;
    int count = list->count;
    LastingPoint points[RB_EVENT_CONTACTS_MAX];
    rbEventPair* pair = &engine->pairs.data[r->pair];
    double nearest = INFINITY;
    double before = energyOf(r->bodies, 2);
    for (int i = 0; i < count; ++i) {
        nearest = fmin(nearest, contacts[i].distance);
    }
    double speed = getHopSpeed(r, nearest);
    double duration = 2.0 * speed / r->pull;
    for (int i = 0; i < count; ++i) {
        double less = (contacts[i].distance - nearest) / duration;
        preparePoint(engine, r, &contacts[i], speed - less, &points[i]);
    }
    rbEventPairData* data = &engine->datas.data[pair->data];
    bool isAnew;
    rbVec3 middle = middleOf(contacts, count);
    rbVec3 creep = findCreep(data, r, states, middle, contacts[0].normal, &isAnew);
    r->isDisturbed = r->isDisturbed && !isAnew;
    aimSway(data, r, contacts, count, rbScale(CREEP_SHARE / duration, creep), points);
    for (int sweep = 0; sweep < SWEEPS_MAX; ++sweep) {
        rbPoll();
        if (sweepPoints(r, contacts, count, points) <= SWEEP_REST * speed) {
            break;
        }
    }
    double after = energyOf(r->bodies, 2);
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
        rbEvent event = {.kind = RB_EVENT_MICROCOLLISION,
                         .law = point->law,
                         .history =
                             isSliding ? RB_PHASE_RETURN | (RB_PHASE_SLIDE << 4) : RB_PHASE_RETURN,
                         .energyChange = friction + point->impulse.z * mean.z,
                         .energyBefore = before,
                         .frictionWork = friction,
                         .impulse = impulse,
                         .approachSpeed = -rbDot(point->before, contacts[i].normal)};
        writeEvent(host, pair, r->time, contacts[i].point, contacts[i].normal, event);
    }
    engine->work.friction += frictionSum;
    engine->work.micro += after - before - frictionSum;
}

// --------------------------------------------------------------------------------------- impacts

#define BOOST_MAX 5.0 // e_max of L-99
// A lasting contact of exact pairs ends with an impact this much faster than free fall through the
// tolerance.
#define LASTING_SPEED 1.5
// Number of collisions of a pair within the contact time that still lose energy.
#define REPEATS_MAX 10
// The acceleration that drives a contact together is at most this many times what gravity, rotation
// and sliding can cause.
#define PULL_MOST 10.0
// Approaches below this fraction of the speeds are rounding.
#define ROUNDING_SPEED 1e-13
// Contacts nearer than this fraction of a radius are the same point, moving along.
#define SAME_POINT 0.02
// Resolutions of one instant, per contact point, before what approaches is stopped without rebound.
#define ROUNDS_MAX 8
// Points of a face approach at speeds that differ by less than this fraction of the speed of a
// microcollision. With 0.1 a box that lands tilted never settles; with 1 a rolling mesh is slowed
// by 1 %.
#define FLAT_SPREAD 0.5
// A remaining approach below this, relative to the first, counts as none.
#define APPROACH_REST 1e-12

// Whether an impact at a speed belongs to a lasting contact.
static bool validateMicro(rbEventEngine* engine, rbEventResolution* r,
                          const rbEventContact* contact, double speed, double restitution)
{
    rbEventPair* pair = &engine->pairs.data[r->pair];
    if (engine->settings.lasting == RB_LASTING_NONE) {
        return false;
    }
    double slow = sqrt(2.0 * r->pull * r->tolerance);
    if (pair->row == RB_PAIR_ROW_GENERAL || engine->settings.lasting == RB_LASTING_MICRO) {
        pair->isLasting = speed < slow;
        return pair->isLasting;
    }
    if (pair->isLasting) {
        pair->isLasting = speed < LASTING_SPEED * slow;
        return pair->isLasting;
    }
    // The remaining bounces last 2 e speed / (pull (1 - e)) in total.
    rbVec3 relative =
        rbSub(engine->bodies.data[pair->b].acceleration, engine->bodies.data[pair->a].acceleration);
    double pull = -rbDot(relative, contact->normal);
    if (engine->bodies.data[pair->a].isDynamic && engine->bodies.data[pair->b].isDynamic &&
        rbLengthSquared(relative) == 0.0) {
        // Both fall: the body they lie on holds them together.
        pair->isLasting = speed < slow;
        return pair->isLasting;
    }
    double moment = rbEventEngine_ContactTime(engine, pull);
    double left = moment * pull * (1.0 - restitution);
    // A pair that lay still a moment ago and has fallen since does not bounce either.
    bool isFallen = pair->isPostponed && speed <= 1.5 * pull * moment;
    if (pull > 0.0 && restitution < 1.0 && speed < slow &&
        (isFallen || 2.0 * restitution * speed <= left)) {
        pair->isLasting = true;
        r->isHandedOver = true;
    }
    return pair->isLasting;
}

static void addWork(rbEventEngine* engine, bool isMicro, rbImpactLaw law,
                    const rbImpactResult* result, double change)
{
    engine->work.friction += result->frictionWork;
    if (isMicro) {
        engine->work.micro += change - result->frictionWork;
        engine->statistics.microcollisions += 1;
    } else {
        engine->work.impact += change - result->frictionWork;
        engine->statistics.impacts += 1;
        engine->statistics.lawCounts[law] += 1;
    }
    engine->statistics.jams += result->isJam ? 1 : 0;
    if (result->isEnergyRaised && !isMicro) {
        engine->statistics.energyRaises += 1;
        engine->statistics.energyRaised += change;
    }
}

// The impact at a contact point, in its frame.
static rbImpactInput makeInput(const rbEventEngine* engine, const rbEventResolution* r,
                               const rbEventContact* contact, const rbMat3* frame)
{
    rbMaterialPair material = getMaterial(engine, &engine->pairs.data[r->pair], contact);
    rbVec3 u = rbGetRelativeVelocity(&r->bodies[0], &r->bodies[1], contact->point);
    rbImpactInput input = {
        .matrix = rbMakeCollisionMatrix(&r->bodies[0], &r->bodies[1], contact->point, frame),
        .velocity = {rbDot(frame->cx, u), rbDot(frame->cy, u), rbDot(frame->cz, u) - r->growth},
        .friction = material.friction,
        .law = material.law};
    input.restitution =
        applyLaw(engine, material.restitution, -input.velocity.z, 1.0 / input.matrix.zz);
    return input;
}

// Resolves one contact point.
static void resolvePoint(rbEventEngine* engine, const rbEventHost* host, rbEventResolution* r,
                         const rbEventContact* contact, bool isLastRound)
{
    const rbEventPair* pair = &engine->pairs.data[r->pair];
    rbMat3 frame = rbMakeContactFrame(contact->normal);
    rbImpactInput input = makeInput(engine, r, contact, &frame);
    double speed = -input.velocity.z;
    double before = energyOf(r->bodies, 2);
    bool isMicro = validateMicro(engine, r, contact, speed, input.restitution);
    rbImpactResult result;
    if (isMicro && !isLastRound && !r->isHandedOver) {
        double depth = fmin(1.0, fmax(0.0, 1.0 - contact->distance / r->tolerance));
        rbMicrocollision micro = {
            .depth = depth,
            .boostMax = engine->settings.lasting == RB_LASTING_MICRO ? BOOST_MAX : 0.0,
            .leastSpeed = getHopSpeed(r, contact->distance)};
        rbResolveMicrocollision(&input, &micro, &result);
    } else {
        if (isLastRound || r->isHandedOver) {
            input.restitution = 0.0; // the bounces have ended
        } else if (pair->repeats > REPEATS_MAX) {
            input.restitution = 1.0;
        }
        rbResolveImpact(&input, &result);
    }
    rbVec3 impulse = rbMulMV(frame, result.impulse);
    rbApplyContactImpulse(&r->bodies[0], &r->bodies[1], contact->point, impulse);
    double after = energyOf(r->bodies, 2);
    addWork(engine, isMicro, input.law, &result, after - before);
    r->fastest = fmax(r->fastest, speed);
    engine->statistics.virial += rbDot(impulse, rbSub(r->bodies[1].center, r->bodies[0].center));
    rbEvent event = {.kind = isMicro ? RB_EVENT_MICROCOLLISION : RB_EVENT_IMPACT,
                     .law = input.law,
                     .history =
                         contact->isSampled ? result.history << 4 | RB_PHASE_RAY : result.history,
                     .energyChange = after - before,
                     .energyBefore = before,
                     .frictionWork = result.frictionWork,
                     .impulse = impulse,
                     .approachSpeed = speed};
    writeEvent(host, pair, r->time, contact->point, contact->normal, event);
}

// The velocities after the collision become a new flight.
static void takeVelocities(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                           const rbMotionState* before, const rbImpactBody* after)
{
    RB_ASSERT(rbIsFinite3(after->velocity) && rbIsFinite3(after->angularVelocity));
    if (!engine->bodies.data[index].isDynamic) {
        return;
    }
    rbMotionState state = *before;
    state.velocity = after->velocity;
    state.spin = rbInvRotate(state.orientation, after->angularVelocity);
    engine->bodies.data[index].hasCollided = true;
    rbEventEngine_StartFlight(engine, host, index, time, &state);
}

// The largest acceleration of a contact that loads, rotation and sliding explain. Without loads:
// that of a contact at which nothing rotates or slides.
static double strongestPull(const rbEventResolution* r, const rbEventBody* a, const rbEventBody* b)
{
    double turning = rbLengthSquared(r->bodies[0].angularVelocity) * a->radius +
                     rbLengthSquared(r->bodies[1].angularVelocity) * b->radius;
    double radius = a->radius > 0.0 && b->radius > 0.0 ? fmin(a->radius, b->radius)
                                                       : fmax(a->radius, b->radius);
    rbVec3 sliding = rbSub(r->bodies[1].velocity, r->bodies[0].velocity);
    return turning + (radius > 0.0 ? rbLengthSquared(sliding) / radius : 0.0);
}

// The acceleration that drives a contact together: that of the bodies, or more where they rotate.
// For a general pair it follows from the hop since the last collision, which began and ended at
// these speeds, if it was at about the same point.
static double findPull(const rbEventEngine* engine, const rbEventResolution* r, double time,
                       double speed, const rbEventContacts* contacts)
{
    const rbEventPair* pair = &engine->pairs.data[r->pair];
    const rbEventBody* a = &engine->bodies.data[pair->a];
    const rbEventBody* b = &engine->bodies.data[pair->b];
    double pull = fmax(rbLength(a->acceleration), rbLength(b->acceleration));
    double since = time - pair->lastTime;
    // A deep overlap left by a sampling detector was not a hop.
    bool isDeep = pair->isDetected && engine->datas.data[pair->data].distance < -engine->tolerance;
    if (pair->row == RB_PAIR_ROW_GENERAL && since > 0.0 && isfinite(since) && !isDeep) {
        const rbEventPairData* data = &engine->datas.data[pair->data];
        double radius = a->isDynamic && b->isDynamic ? fmin(a->radius, b->radius)
                                                     : (a->isDynamic ? a->radius : b->radius);
        double turning = strongestPull(r, a, b);
        // Corners of a lying body hit alternately, which says nothing about the pull.
        bool isHop = contacts->count == 1 || turning > pull;
        if (isHop &&
            rbDistance(contacts->points[0].point, data->leavePoint) <= SAME_POINT * radius) {
            double seen = (data->leaveSpeed + speed) / since;
            return fmax(pull, fmin(seen, PULL_MOST * (pull + turning)));
        }
    }
    return pull;
}

// The impact of a face or an edge that lands flat: the points of one direction that approach as
// fast as the fastest. False if it is a single point or a microcollision.
//
// Resolved one after the other, its points would toss the body about; with an impulse in their
// middle alone, friction would tip it over. Resolved together it lands as a face does.
static bool resolveFace(rbEventEngine* engine, const rbEventHost* host, rbEventResolution* r,
                        const rbEventContacts* list, double speed)
{
    if (speed < sqrt(2.0 * r->pull * r->tolerance) || r->growth != 0.0 || list->touching < 2) {
        return false;
    }
    Cluster* cluster = beginCluster(engine, r->time);
    cluster->bodyCount = 2;
    memcpy(cluster->impacts, r->bodies, sizeof r->bodies);
    for (int i = 0; i < list->touching; ++i) {
        const rbEventContact* contact = &list->points[i];
        double approach = rbEventResolution_ApproachAt(r, contact);
        bool isAlong = cluster->contactCount == 0 ||
                       rbDot(contact->normal, cluster->contacts[0].normal) >= 1.0 - LANDING_SPREAD;
        if (speed - approach <= LANDING_SPREAD * speed && isAlong) {
            addContact(engine, cluster, r->pair, contact, (const int[2]){0, 1}, approach);
        }
    }
    if (cluster->contactCount < 2) {
        return false;
    }
    r->fastest = fmax(r->fastest, speed);
    resolveTogether(engine, host, cluster, true);
    memcpy(r->bodies, cluster->impacts, sizeof r->bodies);
    return true;
}

// Whether several points touch, slowly and at about equal speeds. The points of a rolling fine mesh
// approach the faster the farther ahead they are: they are not a face lying on another.
static bool liesFlat(const rbEventResolution* r, const rbEventContacts* contacts, double speed)
{
    double slow = sqrt(2.0 * r->pull * r->tolerance);
    double slowest = speed;
    for (int i = 0; i < contacts->count; ++i) {
        slowest = fmin(slowest, rbEventResolution_ApproachAt(r, &contacts->points[i]));
    }
    return contacts->count > 1 && speed < slow && speed - slowest <= FLAT_SPREAD * slow;
}

// Whether the touching points of a face slide into a jam, faster than hops do. Then the face hits
// with its slip, in its middle: the points alone have many solutions in a jam, most of them
// lopsided.
static bool slidesIntoJam(const rbEventEngine* engine, const rbEventResolution* r,
                          const rbEventContact* contacts, int count, rbEventContact* middle)
{
    RB_ASSERT(count > 0);
    *middle = contacts[0];
    middle->point = middleOf(contacts, count);
    for (int i = 0; i < count; ++i) {
        middle->distance = fmin(middle->distance, contacts[i].distance);
    }
    rbMat3 frame = rbMakeContactFrame(middle->normal);
    rbImpactInput input = makeInput(engine, r, middle, &frame);
    double speed = fmax(-input.velocity.z, getHopSpeed(r, middle->distance));
    return input.velocity.z < 0.0 && rbIsSlidingIntoJam(&input, speed);
}

// Two bodies that move together after a plastic impact approach by rounding, forever.
static double roundingSpeed(const rbEventResolution* r, const rbEventEngine* engine)
{
    const rbEventPair* pair = &engine->pairs.data[r->pair];
    double sum = 0.0;
    int indices[2] = {pair->a, pair->b};
    for (int i = 0; i < 2; ++i) {
        sum += rbLength(r->bodies[i].velocity) +
               rbLength(r->bodies[i].angularVelocity) * engine->bodies.data[indices[i]].radius;
    }
    return ROUNDING_SPEED * sum;
}

// -------------------------------------------------------------------------- several bodies at once
// All contacts that touch the two bodies of a collision, and their neighbors, by the simultaneous
// law (rbResolveImpacts). The sequential law does not need this: there a pair that is pushed
// together by the impact of another collides next, at the same instant.

// Index of a body in the cluster, which it joins if there is room; -1 if there is none.
static int joinBody(rbEventEngine* engine, const rbEventHost* host, Cluster* cluster, int index,
                    rbVec3 shift)
{
    for (int i = 0; i < cluster->bodyCount; ++i) {
        if (cluster->bodies[i] == index) {
            return i;
        }
    }
    if (cluster->bodyCount == CLUSTER_MAX) {
        return -1;
    }
    if (engine->bodies.data[index].isResting) {
        rbEventEngine_Wake(engine, host, index, cluster->time);
    }
    int place = cluster->bodyCount++;
    cluster->bodies[place] = index;
    cluster->shifts[place] = shift;
    cluster->states[place] = rbEventEngine_StateAt(engine, host, index, cluster->time);
    cluster->impacts[place] =
        rbEventEngine_MakeImpactBody(engine, host, index, &cluster->states[place]);
    cluster->impacts[place].center = rbAdd(cluster->impacts[place].center, shift);
    return place;
}

// Adds the touching points of a pair, seen from a body of the cluster.
static void joinPair(rbEventEngine* engine, const rbEventHost* host, Cluster* cluster,
                     int pairIndex, int place)
{
    RB_ASSERT(place >= 0);
    RB_ASSERT(place < cluster->bodyCount);
    rbEventContacts found;
    for (int i = 0; i < cluster->contactCount; ++i) {
        if (cluster->pairs[i] == pairIndex) {
            return;
        }
    }
    if (!rbEventEngine_FindTouching(engine, host, pairIndex, cluster->time, &found)) {
        return;
    }
    const rbEventPair* pair = &engine->pairs.data[pairIndex];
    bool isFirst = pair->a == cluster->bodies[place];
    // b is at its image next to a; the cluster may be elsewhere.
    rbVec3 image = rbEventEngine_ShiftBy(engine, pair->image);
    rbVec3 shiftA = isFirst ? cluster->shifts[place] : rbSub(cluster->shifts[place], image);
    rbVec3 shiftB = rbAdd(shiftA, image);
    int other =
        joinBody(engine, host, cluster, isFirst ? pair->b : pair->a, isFirst ? shiftB : shiftA);
    if (other < 0) {
        return;
    }
    int a = isFirst ? place : other, b = isFirst ? other : place;
    for (int i = 0; i < found.touching; ++i) {
        rbEventContact* contact = &found.points[i];
        contact->point = rbAdd(contact->point, shiftA);
        rbVec3 u =
            rbGetRelativeVelocity(&cluster->impacts[a], &cluster->impacts[b], contact->point);
        addContact(engine, cluster, pairIndex, contact, (const int[2]){a, b},
                   -rbDot(u, contact->normal));
    }
}

// New flights of all bodies of the cluster, and what follows.
static void takeCluster(rbEventEngine* engine, const rbEventHost* host, const Cluster* cluster)
{
    for (int i = 0; i < cluster->contactCount; ++i) {
        engine->pairs.data[cluster->pairs[i]].lastTime = cluster->time;
    }
    for (int i = 0; i < cluster->bodyCount; ++i) {
        int index = cluster->bodies[i];
        engine->bodies.data[index].isCalm = false;
        takeVelocities(engine, host, index, cluster->time, &cluster->states[i],
                       &cluster->impacts[i]);
    }
    for (int i = 0; i < cluster->bodyCount; ++i) {
        rbEventEngine_PredictBody(engine, host, cluster->bodies[i], cluster->time);
    }
}

// Resolves a pair and everything that touches it simultaneously; false if nothing approaches.
static bool collideCluster(rbEventEngine* engine, const rbEventHost* host, int pairIndex,
                           double time)
{
    RB_ASSERT(pairIndex >= 0);
    RB_ASSERT(pairIndex < engine->pairs.count);
    Cluster* cluster = beginCluster(engine, time);
    (void)joinBody(engine, host, cluster, engine->pairs.data[pairIndex].a, RB_VEC3_ZERO);
    for (int next = 0; next < cluster->bodyCount; ++next) {
        const rbEventBody* body = &engine->bodies.data[cluster->bodies[next]];
        for (int i = 0; body->isDynamic && i < body->pairs.count; ++i) {
            joinPair(engine, host, cluster, body->pairs.data[i].pair, next);
        }
        if (next == 0 && !body->isDynamic) {
            joinPair(engine, host, cluster, pairIndex, next);
        }
    }
    bool isApproaching = false;
    for (int i = 0; i < cluster->contactCount; ++i) {
        isApproaching = isApproaching || cluster->approaches[i] > 0.0;
    }
    if (isApproaching) {
        resolveTogether(engine, host, cluster, false);
        engine->statistics.collisions += 1;
        takeCluster(engine, host, cluster);
    }
    return isApproaching;
}

void rbEventEngine_FreeCluster(rbEventEngine* engine)
{
    rbFree(engine->scratch.cluster, sizeof *engine->scratch.cluster);
}

// ------------------------------------------------------------------------------------------ a pair

bool rbEventEngine_Resolve(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                           const rbMotionState states[2], const rbEventContacts* list)
{
    RB_ASSERT(list->touching > 0);
    RB_ASSERT(list->touching <= list->count);
    RB_ASSERT(list->count <= RB_EVENT_CONTACTS_MAX);
    const rbEventContact* contacts = list->points;
    int count = list->touching;
    int a = rbEventEngine_GetPair(engine, index)->a;
    int b = engine->pairs.data[index].b;
    rbEventResolution r = rbEventEngine_BeginResolution(engine, host, index, time, states);
    double speed;
    int fastest =
        rbEventResolution_FindFastest(&r, contacts, count, roundingSpeed(&r, engine), &speed);
    if (fastest < 0) {
        return false;
    }
    r.pull = findPull(engine, &r, time, speed, list);
    bool isSlow =
        engine->settings.lasting != RB_LASTING_NONE && speed < sqrt(2.0 * r.pull * r.tolerance);
    if (engine->settings.order == RB_ORDER_SIMULTANEOUS && r.growth == 0.0 && !isSlow) {
        return collideCluster(engine, host, index, time);
    }
    if (engine->bodies.data[a].isResting) {
        rbEventEngine_Wake(engine, host, a, time);
    }
    if (engine->bodies.data[b].isResting) {
        rbEventEngine_Wake(engine, host, b, time);
    }
    rbEventPair* pair = &engine->pairs.data[index];
    r.pull = findPull(engine, &r, time, speed, list);
    const rbEventBody* bodies[2] = {&engine->bodies.data[a], &engine->bodies.data[b]};
    r.isDisturbed = (bodies[0]->isDynamic && bodies[0]->time != pair->lastTime) ||
                    (bodies[1]->isDynamic && bodies[1]->time != pair->lastTime);
    countRepeat(engine, pair, time);
    double rest = APPROACH_REST * speed;
    int roundCount = ROUNDS_MAX * count;
    bool isFlat = engine->settings.lasting == RB_LASTING_REST && liesFlat(&r, list, speed);
    rbEventContact middle;
    if (isFlat && slidesIntoJam(engine, &r, contacts, count, &middle)) {
        resolvePoint(engine, host, &r, &middle, false);
        fastest = rbEventResolution_FindFastest(&r, contacts, count, rest, &speed);
    } else if (isFlat) {
        resolveLasting(engine, host, &r, states, list);
        fastest = -1;
    }
    if (fastest >= 0 && resolveFace(engine, host, &r, list, speed)) {
        fastest = rbEventResolution_FindFastest(&r, contacts, count, rest, &speed);
    }
    for (int round = 0; fastest >= 0 && round <= roundCount; ++round) {
        resolvePoint(engine, host, &r, &contacts[fastest], round >= roundCount - count);
        fastest = rbEventResolution_FindFastest(&r, contacts, count, rest, &speed);
    }
    engine->statistics.collisions += 1;
    pair->isPostponed = false;
    if (pair->row == RB_PAIR_ROW_GENERAL) {
        double approach;
        (void)rbEventResolution_FindFastest(&r, contacts, count, -INFINITY, &approach);
        engine->datas.data[pair->data].leaveSpeed = fmax(0.0, -approach);
        engine->datas.data[pair->data].leavePoint = contacts[0].point;
    }
    bool isHeld = false;
    takeVelocities(engine, host, a, time, &states[0], &r.bodies[0]);
    takeVelocities(engine, host, b, time, &states[1], &r.bodies[1]);
    if (r.isHandedOver) {
        rbEvent event = {.kind = RB_EVENT_LASTING};
        writeEvent(host, pair, time, contacts[0].point, contacts[0].normal, event);
        double friction = getMaterial(engine, pair, &contacts[0]).friction;
        isHeld = rbEventEngine_TryBalance(engine, host, index, time, &contacts[0], friction);
    }
    rbEventEngine_PredictBody(engine, host, a, time);
    rbEventEngine_PredictBody(engine, host, b, time);
    if (!isHeld) {
        rbEventEngine_NoteCalm(engine, host, a, time, r.pull, r.fastest);
        rbEventEngine_NoteCalm(engine, host, b, time, r.pull, r.fastest);
    }
    return true;
}

// J, kinetic, of a body on an exact flight, which keeps the energy of its rotation.
static double energyInFlight(const rbEventEngine* engine, int index, double invMass,
                             rbVec3 velocity)
{
    return invMass > 0.0
               ? 0.5 * rbLengthSquared(velocity) / invMass + engine->bodies.data[index].rotation
               : 0.0;
}

// The translation restarts, the rotation continues. The host needs the flight later, if at all.
static void redirect(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                     rbVec3 velocity)
{
    rbEventBody* body = &engine->bodies.data[index];
    if (!body->isDynamic) {
        return;
    }
    rbVec3 position = rbEventBody_PositionAt(body, time);
    body->flightTime = time - body->time;
    body->time = time;
    body->position = position;
    body->velocity = velocity;
    body->hasCollided = true;
    body->isCalm = false;
    if (!body->isAhead) {
        body->isAhead = true;
        rbArray_Push(engine->lists.ahead, index);
    }
    if (host->flown != NULL) {
        rbEventEngine_GiveFlight(engine, host, index);
        host->flown(host->context, index, time);
    }
}

bool rbEventEngine_CollideSmooth(rbEventEngine* engine, const rbEventHost* host, int index,
                                 double time, const rbEventContact* contact)
{
    RB_ASSERT(rbEventEngine_GetPair(engine, index)->row != RB_PAIR_ROW_GENERAL);
    rbEventPair* pair = &engine->pairs.data[index];
    rbEventBody* a = &engine->bodies.data[pair->a];
    rbEventBody* b = &engine->bodies.data[pair->b];
    rbMaterialPair material = getMaterial(engine, pair, contact);
    bool isFree = engine->settings.order == RB_ORDER_SEQUENTIAL && material.friction == 0.0 &&
                  !a->isResting && !b->isResting && !(a->growth + b->growth != 0.0);
    bool isPulled = engine->settings.lasting != RB_LASTING_NONE &&
                    rbLengthSquared(a->acceleration) + rbLengthSquared(b->acceleration) > 0.0;
    bool isTurning = (a->isDynamic && !a->isExact) || (b->isDynamic && !b->isExact);
    if (!isFree || isPulled || isTurning) {
        return false;
    }
    rbVec3 n = contact->normal;
    rbVec3 velocityA = a->isDynamic ? rbEventBody_VelocityAt(a, time) : RB_VEC3_ZERO;
    rbVec3 velocityB = b->isDynamic ? rbEventBody_VelocityAt(b, time) : RB_VEC3_ZERO;
    double massA = a->inverseMass, massB = b->inverseMass;
    double speed = rbDot(n, rbSub(velocityA, velocityB));
    if (!(speed > ROUNDING_SPEED * (rbLength(velocityA) + rbLength(velocityB)))) {
        return false;
    }
    countRepeat(engine, pair, time);
    // Divided by n.n, which rounding leaves slightly above 1 on average: then elastic gases do not
    // heat.
    double mass = 1.0 / ((massA + massB) * rbLengthSquared(n));
    double e =
        pair->repeats > REPEATS_MAX ? 1.0 : applyLaw(engine, material.restitution, speed, mass);
    double push = (1.0 + e) * speed * mass;
    // -(1 - e^2) of the energy of approach
    double change = -0.5 * (1.0 - e * e) * speed * speed * mass;
    engine->work.impact += change;
    engine->statistics.impacts += 1;
    engine->statistics.lawCounts[material.law] += 1;
    engine->statistics.collisions += 1;
    double apart = (a->isDynamic ? a->radius : 0.0) + (b->isDynamic ? b->radius : 0.0);
    engine->statistics.virial += push * (apart + contact->distance);
    if (host->journal != NULL) {
        rbEvent event = {.kind = RB_EVENT_IMPACT,
                         .law = material.law,
                         .history = RB_PHASE_SMOOTH,
                         .energyChange = change,
                         .energyBefore = energyInFlight(engine, pair->a, massA, velocityA) +
                                         energyInFlight(engine, pair->b, massB, velocityB),
                         .impulse = rbScale(push, n),
                         .approachSpeed = speed};
        writeEvent(host, pair, time, contact->point, n, event);
    }
    redirect(engine, host, pair->a, time, rbAddScaled(velocityA, -push * massA, n));
    redirect(engine, host, pair->b, time, rbAddScaled(velocityB, push * massB, n));
    rbEventEngine_PredictBody(engine, host, pair->a, time);
    rbEventEngine_PredictBody(engine, host, pair->b, time);
    return true;
}
