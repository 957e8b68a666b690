// Near pairs: when they can touch, measuring them, and when to check next (L-73, L-76, L-77).
//
// For exact pairs the time of contact is computed; the pair is due at that time. For general pairs
// only a time is known before which there is no contact. At that time the distance is measured,
// which yields a later time, and so on until the bodies are within the tolerance. When the flight
// of a body changes, most of its pairs need no measurement: the last normal still separates the
// bodies, or the last distance minus the possible motion of the two since is still enough.
#include "dynamics/engines/event/event_pairs.h"

#include "base/core/lanes.h"
#include "collision/geometry/shape_ops.h"
#include "dynamics/engines/event/event_bodies.h"
#include "dynamics/engines/event/event_regions.h"

#include <math.h>

// Contact is sought down to this fraction of the tolerance, and declared within the tolerance. The
// room between lets the search end after finitely many measurements.
#define CONTACT_LEVEL 0.5
// Inside the shell of tolerance and moving apart, the next check is at the time in which the
// fastest points cross this fraction of it: progress where no direction separates the bodies.
#define SHELL_STEP 0.05
// Checked again when the bodies should have left the shell.
#define SHELL_EXIT 1.05
// Approaches that differ by less than this fraction are equal.
#define WITNESS_ROUNDING 1e-9
// Points up to this many tolerances away take part in a lasting contact.
#define NEARLY 4.0
// Pairs of parts stored in a front of two meshes.
#define FRONT_CAPACITY 4096

// ------------------------------------------------------------------------------------ exact rows

// Radius of a sphere at a time.
static double radiusAt(const rbEventBody* body, double time)
{
    return body->radius + body->growth * time;
}

static double predictSpheres(const rbEventEngine* engine, const rbEventPair* pair, double time)
{
    const rbEventBody* a = &engine->bodies.data[pair->a];
    const rbEventBody* b = &engine->bodies.data[pair->b];
    rbVec3 p = rbSub(rbEventBody_PositionAt(b, time), rbEventBody_PositionAt(a, time));
    rbVec3 v = rbSub(rbEventBody_VelocityAt(b, time), rbEventBody_VelocityAt(a, time));
    return rbSweepSpheres(rbEventEngine_ShiftToImage(engine, pair, p), v,
                          rbSub(b->acceleration, a->acceleration),
                          radiusAt(a, time) + radiusAt(b, time), a->growth + b->growth);
}

// Height of the sphere over the plane, and the pair's bodies by role.
typedef struct SphereOverPlane {
    const rbEventBody* sphere;
    rbVec3 normal; // of the plane
    double height;
    bool isSphereA;
} SphereOverPlane;

static SphereOverPlane findHeight(const rbEventEngine* engine, const rbEventPair* pair, double time)
{
    SphereOverPlane place;
    place.isSphereA = engine->bodies.data[pair->a].shape == RB_EVENT_SHAPE_SPHERE;
    const rbEventCold* plane = &engine->colds.data[place.isSphereA ? pair->b : pair->a];
    place.sphere = &engine->bodies.data[place.isSphereA ? pair->a : pair->b];
    place.normal = plane->planeNormal;
    rbVec3 p = rbEventBody_PositionAt(place.sphere, time);
    place.height = rbDot(plane->planeNormal, p) - plane->planeOffset - place.sphere->radius -
                   place.sphere->growth * time;
    return place;
}

static double predictSphereOverPlane(const rbEventEngine* engine, const rbEventPair* pair,
                                     double time)
{
    SphereOverPlane place = findHeight(engine, pair, time);
    double speed = rbDot(place.normal, rbEventBody_VelocityAt(place.sphere, time));
    return rbSweepHeight(place.height, speed - place.sphere->growth,
                         rbDot(place.normal, place.sphere->acceleration));
}

static rbEventContact contactOfSpheres(const rbEventEngine* engine, const rbEventPair* pair,
                                       double time)
{
    const rbEventBody* a = &engine->bodies.data[pair->a];
    const rbEventBody* b = &engine->bodies.data[pair->b];
    rbVec3 center = rbEventBody_PositionAt(a, time);
    rbVec3 p = rbSub(rbEventBody_PositionAt(b, time), center);
    p = rbEventEngine_ShiftToImage(engine, pair, p);
    double length = rbLength(p);
    double radiusA = radiusAt(a, time);
    rbEventContact contact = {.distance = length - radiusA - radiusAt(b, time)};
    contact.normal = length > 0.0 ? rbScale(1.0 / length, p) : rbMakeVec3(0.0, 0.0, 1.0);
    contact.point = rbAddScaled(center, radiusA + 0.5 * contact.distance, contact.normal);
    return contact;
}

static rbEventContact contactOverPlane(const rbEventEngine* engine, const rbEventPair* pair,
                                       double time)
{
    SphereOverPlane place = findHeight(engine, pair, time);
    rbEventContact contact = {.distance = place.height};
    contact.normal = place.isSphereA ? rbNeg(place.normal) : place.normal;
    contact.point = rbAddScaled(rbEventBody_PositionAt(place.sphere, time),
                                -(radiusAt(place.sphere, time) + 0.5 * place.height), place.normal);
    return contact;
}

rbEventContact rbEventEngine_GetExactContact(const rbEventEngine* engine, const rbEventPair* pair,
                                             double time)
{
    RB_ASSERT(pair->row != RB_PAIR_ROW_GENERAL);
    return pair->row == RB_PAIR_ROW_SPHERES ? contactOfSpheres(engine, pair, time)
                                            : contactOverPlane(engine, pair, time);
}

// ----------------------------------------------------------------------------------- general row

static void makeSweepBodies(const rbEventEngine* engine, const rbEventHost* host,
                            const rbEventPair* pair, double time, const rbMotionState states[2],
                            rbSweepBody bodies[2])
{
    rbEventEngine_MakeSweepBody(engine, host, pair->a, time, &states[0], &bodies[0]);
    rbEventEngine_MakeSweepBody(engine, host, pair->b, time, &states[1], &bodies[1]);
    rbVec3* center = &bodies[1].motion.center;
    *center = rbEventEngine_ShiftToImage(engine, pair, *center);
    bodies[1].pose.p = rbEventEngine_ShiftToImage(engine, pair, bodies[1].pose.p);
}

// Stores a gap that holds at a time, and how fast it can shrink.
static void remember(rbEventPairData* data, double gap, double time, const rbSweepBody bodies[2])
{
    const rbSweepBody *a = &bodies[0], *b = &bodies[1];
    const rbSweepMotion *ma = &a->motion, *mb = &b->motion;
    double spins = (ma->spinMax > 0.0 ? ma->spinMax * a->radius : 0.0) +
                   (mb->spinMax > 0.0 ? mb->spinMax * b->radius : 0.0);
    data->gap = gap;
    data->gapTime = time;
    data->gapSpeed = rbDistance(ma->velocity, mb->velocity) + ma->velocitySlack +
                     mb->velocitySlack + spins + fmax(0.0, a->growth) + fmax(0.0, b->growth);
    data->gapAcceleration = rbDistance(ma->acceleration, mb->acceleration) + ma->accelerationSlack +
                            mb->accelerationSlack;
    data->gapUntil = time + fmin(ma->horizon, mb->horizon);
}

static double remainingGap(const rbEventPairData* data, double time)
{
    double dt = time - data->gapTime;
    if (time > data->gapUntil) {
        return -INFINITY; // a path began or ended, or a spin may have doubled
    }
    return data->gap - dt * (data->gapSpeed + 0.5 * data->gapAcceleration * dt);
}

// A later time from known bounds, without a measurement; 0 when that does not help.
static double predictGeneral(rbEventEngine* engine, const rbEventHost* host,
                             const rbEventPair* pair, double time)
{
    rbEventPairData* data = &engine->datas.data[pair->data];
    double level = CONTACT_LEVEL * engine->tolerance;
    rbMotionState states[2] = {rbEventEngine_StateAt(engine, host, pair->a, time),
                               rbEventEngine_StateAt(engine, host, pair->b, time)};
    rbSweepBody bodies[2];
    makeSweepBodies(engine, host, pair, time, states, bodies);
    double gap = remainingGap(data, time);
    double tau = gap > level ? rbBoundByPaths(&bodies[0], &bodies[1], gap, level) : 0.0;
    remember(data, gap, time, bodies);
    bool hasPlane = engine->bodies.data[pair->a].shape == RB_EVENT_SHAPE_PLANE ||
                    engine->bodies.data[pair->b].shape == RB_EVENT_SHAPE_PLANE;
    if (hasPlane || rbLengthSquared(data->normal) > 0.0) {
        tau = fmax(tau, rbBoundBySupports(&bodies[0], &bodies[1], data->normal, level));
    }
    return fmin(tau, fmin(bodies[0].motion.horizon, bodies[1].motion.horizon));
}

void rbEventEngine_PredictPair(rbEventEngine* engine, const rbEventHost* host, int index,
                               double time)
{
    rbEventPair* pair = rbEventEngine_GetPair(engine, index);
    engine->statistics.bounds += 1;
    double tau;
    if (pair->row == RB_PAIR_ROW_SPHERES) {
        tau = predictSpheres(engine, pair, time);
    } else if (pair->row == RB_PAIR_ROW_SPHERE_PLANE) {
        tau = predictSphereOverPlane(engine, pair, time);
    } else if (!pair->isDetected ||
               !engine->detector.row->predict(engine, host, index, time, &tau)) {
        tau = predictGeneral(engine, host, pair, time);
    }
    RB_ASSERT(tau >= 0.0);
    rbEventEngine_SetTime(engine, index, time + tau);
}

// The earliest event of a body: a pair, or the expiry of its region.
typedef struct Earliest {
    double time;
    rbEventNeighbor* neighbor; // NULL: the expiry
} Earliest;

// Equal times: the pair whose bodies come first, whatever the order of the list.
static void takeEarlier(const rbEventEngine* engine, rbEventNeighbor* neighbor, Earliest* earliest)
{
    double time = neighbor->time;
    if (time > earliest->time) {
        return;
    }
    if (time == earliest->time) {
        if (earliest->neighbor == NULL || !isfinite(time)) {
            return;
        }
        const rbEventPair* p = &engine->pairs.data[neighbor->pair];
        const rbEventPair* q = &engine->pairs.data[earliest->neighbor->pair];
        if (p->a > q->a || (p->a == q->a && p->b >= q->b)) {
            return;
        }
    }
    *earliest = (Earliest){time, neighbor};
}

// A body to which nothing will happen is not in the heap: idle bodies cost nothing.
static void setEntry(rbEventEngine* engine, int index, const Earliest* earliest)
{
    rbEventBody* body = &engine->bodies.data[index];
    body->entry.pair = earliest->neighbor != NULL ? (int)earliest->neighbor->pair : RB_ENTRY_EXPIRY;
    body->entry.other = earliest->neighbor != NULL ? (int)earliest->neighbor->other : 0;
    if (earliest->time < INFINITY) {
        rbQueue_Set(&engine->queue, index, earliest->time);
    } else {
        rbQueue_Remove(&engine->queue, index);
    }
}

void rbEventEngine_UpdateEntry(rbEventEngine* engine, int index)
{
    rbEventBody* body = rbEventEngine_GetBody(engine, index);
    if (engine->loop->startPairs != NULL) {
        for (int i = 0; body->isDynamic && i < body->pairs.count; ++i) {
            int pair = body->pairs.data[i].pair;
            rbQueue_Set(&engine->queue, pair, rbEventEngine_GetTime(engine, pair));
        }
        return;
    }
    if (!body->isDynamic && !body->isMoving) {
        return; // its partners have entries, and there may be very many of them
    }
    for (;;) {
        Earliest earliest = {body->region.expiry, NULL};
        for (int i = 0; i < body->pairs.count; ++i) {
            takeEarlier(engine, &body->pairs.data[i], &earliest);
        }
        if (earliest.neighbor == NULL ||
            rbEventEngine_IsCurrent(engine, index, earliest.neighbor->other)) {
            setEntry(engine, index, &earliest);
            return;
        }
        earliest.neighbor->time = INFINITY; // the other one was predicted later and has an entry
    }
}

void rbEventEngine_PredictNew(rbEventEngine* engine, const rbEventHost* host, int index,
                              double time)
{
    for (int i = 0; i < engine->lists.newPairs.count; ++i) {
        int pair = engine->lists.newPairs.data[i];
        rbEventEngine_PredictPair(engine, host, pair, time);
        int a = engine->pairs.data[pair].a, b = engine->pairs.data[pair].b;
        int other = a == index ? b : a;
        if (!rbEventEngine_IsCurrent(engine, index, other) &&
            rbQueue_GetKey(&engine->queue, other) > rbEventEngine_GetTime(engine, pair)) {
            rbEventEngine_UpdateEntry(engine, other);
        }
    }
    rbEventEngine_UpdateEntry(engine, index);
}

static rbVec3 imageShift(const rbEventEngine* engine, int index, const rbEventNeighbor* neighbor)
{
    int image[3];
    if (neighbor->image != RB_IMAGE_FAR) {
        return engine->space.shifts[neighbor->image];
    }
    rbEventNeighbor_GetImage(engine, index, *neighbor, image);
    return rbEventEngine_ShiftBy(engine, image);
}

// A sphere that flies straight from a time on.
typedef struct Sphere {
    double time;
    rbVec3 position, velocity;
    double radius;
} Sphere;

// Two vectors or numbers side by side.
typedef struct Lanes3 {
    rbLanePair x, y, z;
} Lanes3;

static inline Lanes3 beside(const rbVec3* a, const rbVec3* b)
{
    return (Lanes3){{a->x, b->x}, {a->y, b->y}, {a->z, b->z}};
}

static inline rbLanePair dotLanes(Lanes3 a, Lanes3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Of two neighbors: what rbSweepFreeSpheres computes, bit for bit. Most spheres miss each other,
// and finding that out takes no branch.
typedef struct Meetings {
    rbLanePair b, c, discriminant;
} Meetings;

// Returns which of the two meet the sphere: bits 0 and 2.
static inline unsigned sweepTwo(const Sphere* own, const rbEventBody* one, const rbEventBody* two,
                                const rbVec3* shifts, Meetings* m)
{
    rbLanePair dt = own->time - (rbLanePair){one->time, two->time};
    Lanes3 p = beside(&one->position, &two->position);
    Lanes3 v = beside(&one->velocity, &two->velocity);
    p = (Lanes3){p.x + dt * v.x - own->position.x, p.y + dt * v.y - own->position.y,
                 p.z + dt * v.z - own->position.z};
    v = (Lanes3){v.x - own->velocity.x, v.y - own->velocity.y, v.z - own->velocity.z};
    if (shifts != NULL) {
        Lanes3 shift = beside(&shifts[0], &shifts[1]);
        p = (Lanes3){p.x + shift.x, p.y + shift.y, p.z + shift.z};
    }
    rbLanePair r = own->radius + (rbLanePair){one->radius, two->radius};
    Lanes3 sides = {r * v.x, r * v.y, r * v.z};
    Lanes3 cross = {p.y * v.z - p.z * v.y, p.z * v.x - p.x * v.z, p.x * v.y - p.y * v.x};
    rbLanePair zero = {0.0, 0.0};
    rbLanePair b = dotLanes(p, v), c = dotLanes(p, p) - r * r;
    rbLanePair discriminant = dotLanes(sides, sides) - dotLanes(cross, cross);
    *m = (Meetings){b, c, discriminant};
    // gcc spends three times as many instructions on one mask of all three
    unsigned isNearing = rbQuadMask_Bits((rbQuadMask)(b < zero));
    unsigned isInside = rbQuadMask_Bits((rbQuadMask)(c <= zero));
    return isNearing & (isInside | ~rbQuadMask_Bits((rbQuadMask)(discriminant < zero)));
}

// So many neighbors are predicted at once.
#define BLOCK 32

// Spheres that neither fall nor grow, some neighbors of a body. The same arithmetic as
// predictSpheres, up to the sign of p and v together, which no result depends on. Returns how many
// are spheres. Those that meet the body are few: what is rare is left to the second loop.
static int predictBlock(rbEventEngine* engine, int index, const Sphere* own,
                        rbEventNeighbor* neighbors, int count, Earliest* earliest)
{
    Meetings meetings[BLOCK / 2];
    int met[BLOCK], metCount = 0, others = 0;
    unsigned rows = RB_PAIR_ROW_SPHERES;
    const rbEventBody* bodies = engine->bodies.data;
    for (int i = 0; i < count; i += 2) {
        rbEventNeighbor* one = &neighbors[i];
        rbEventNeighbor* two = &neighbors[i + 1 < count ? i + 1 : i]; // the odd one beside itself
        const rbEventBody* first = &bodies[one->other];
        const rbEventBody* second = &bodies[two->other];
        Meetings* m = &meetings[i / 2];
        unsigned isMet;
        if (((one->image ^ RB_IMAGE_NONE) | (two->image ^ RB_IMAGE_NONE)) != 0) {
            rbVec3 shifts[2] = {imageShift(engine, index, one), imageShift(engine, index, two)};
            isMet = sweepTwo(own, first, second, shifts, m);
        } else {
            isMet = sweepTwo(own, first, second, NULL, m);
        }
        // the times of general pairs follow
        one->time = INFINITY;
        two->time = INFINITY;
        rows |= one->row | two->row;
        met[metCount] = i;
        metCount += (int)(isMet & 1u);
        met[metCount] = i + 1;
        metCount += (int)(isMet >> 2 & 1u);
    }
    for (int i = 0; i < metCount; ++i) {
        const Meetings* m = &meetings[met[i] / 2];
        int k = met[i] % 2;
        if (met[i] < count && neighbors[met[i]].row == RB_PAIR_ROW_SPHERES) {
            double tau = m->c[k] <= 0.0 ? 0.0 : m->c[k] / (sqrt(m->discriminant[k]) - m->b[k]);
            neighbors[met[i]].time = own->time + tau;
            takeEarlier(engine, &neighbors[met[i]], earliest);
        }
    }
    for (int i = 0; i < count && rows != RB_PAIR_ROW_SPHERES; ++i) {
        others += neighbors[i].row != RB_PAIR_ROW_SPHERES;
    }
    return count - others;
}

// True if the body has no pairs but with spheres.
static bool predictFreeSpheres(rbEventEngine* engine, int index, double time, Earliest* earliest)
{
    const rbEventBody* body = &engine->bodies.data[index];
    int count = body->pairs.count;
    Sphere own = {time, rbEventBody_PositionAt(body, time), body->velocity, body->radius};
    int predicted = 0;
    for (int first = 0; first < count; first += BLOCK) {
        int here = count - first < BLOCK ? count - first : BLOCK;
        predicted += predictBlock(engine, index, &own, body->pairs.data + first, here, earliest);
    }
    engine->statistics.bounds += predicted;
    return predicted == count;
}

void rbEventEngine_PredictBody(rbEventEngine* engine, const rbEventHost* host, int index,
                               double time)
{
    rbEventBody* body = rbEventEngine_GetBody(engine, index);
    if (!body->isDynamic) {
        return; // nothing changes its motion
    }
    rbEventEngine_UpdateExpiry(engine, index, time);
    engine->turns.data[index] = ++engine->turn;
    Earliest earliest = {body->region.expiry, NULL};
    bool isFree = !engine->isDriven && body->shape == RB_EVENT_SHAPE_SPHERE;
    bool isDone = isFree && predictFreeSpheres(engine, index, time, &earliest);
    for (int i = 0; !isDone && i < body->pairs.count; ++i) {
        rbEventNeighbor* neighbor = &body->pairs.data[i];
        if (!isFree || neighbor->row != RB_PAIR_ROW_SPHERES) {
            rbEventEngine_PredictPair(engine, host, neighbor->pair, time);
            takeEarlier(engine, neighbor, &earliest);
        }
    }
    if (engine->loop->startPairs != NULL) {
        rbEventEngine_UpdateEntry(engine, index);
        return;
    }
    setEntry(engine, index, &earliest);
}

// ------------------------------------------------------------------------------------ measurement

static bool isMesh(const rbGeometry* geometry)
{
    return rbGeometry_GetFamily(geometry) == RB_FAMILY_TRIANGLES;
}

static rbSeparationInput makeInput(const rbEventEngine* engine, const rbEventPair* pair,
                                   double time, const rbEventMeasure* measure)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = engine->colds.data[pair->a].geometry;
    input.geometryB = engine->colds.data[pair->b].geometry;
    input.transformBtoA = rbInvMulTransforms(measure->poses[0], measure->poses[1]);
    input.transformBtoA.q = rbNormalizeQuat(input.transformBtoA.q);
    input.radiusA = fmax(0.0, engine->bodies.data[pair->a].growth * time);
    input.radiusB = fmax(0.0, engine->bodies.data[pair->b].growth * time);
    return input;
}

// How the normal rotated since the last measurement: a guess of how it continues.
static void noteTurning(rbEventPairData* data, rbVec3 normal, double time)
{
    double since = time - data->normalTime;
    bool isKnown = since > 0.0 && rbLengthSquared(data->normal) > 0.0;
    data->turning = isKnown ? rbScale(1.0 / since, rbCross(data->normal, normal)) : RB_VEC3_ZERO;
    data->turning = !rbIsFinite3(data->turning) ? RB_VEC3_ZERO : data->turning;
    data->normal = normal;
    data->normalTime = time;
}

void rbEventEngine_Measure(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                           rbEventMeasure* measure)
{
    RB_ASSERT(rbEventEngine_GetPair(engine, index)->row == RB_PAIR_ROW_GENERAL);
    const rbEventPair* pair = &engine->pairs.data[index];
    const rbEventCold* coldA = &engine->colds.data[pair->a];
    const rbEventCold* coldB = &engine->colds.data[pair->b];
    rbEventPairData* data = &engine->datas.data[pair->data];
    measure->states[0] = rbEventEngine_StateAt(engine, host, pair->a, time);
    measure->states[1] = rbEventEngine_StateAt(engine, host, pair->b, time);
    measure->poses[0] = rbEventCold_GetPose(coldA, &measure->states[0]);
    measure->poses[1] = rbEventCold_GetPose(coldB, &measure->states[1]);
    measure->poses[1].p = rbEventEngine_ShiftToImage(engine, pair, measure->poses[1].p);
    if (data->cache.front == NULL && isMesh(coldA->geometry) && isMesh(coldB->geometry)) {
        data->cache.front = engine->spare.fronts.count > 0
                                ? engine->spare.fronts.data[--engine->spare.fronts.count]
                                : rbCreateFront(FRONT_CAPACITY);
        rbFront_Clear(data->cache.front);
    }
    rbSeparationInput input = makeInput(engine, pair, time, measure);
    rbStatus status = rbMeasureSeparation(&input, &data->cache, engine->scratch.separation,
                                          &measure->separation, NULL);
    RB_ASSERT(status == RB_STATUS_OK);
    (void)status;
    measure->normal = rbRotate(measure->poses[0].q, measure->separation.normal);
    measure->distance = measure->separation.distance;
    noteTurning(data, measure->normal, time);
    data->distance = measure->distance;
    data->hasDistance = true;
    engine->statistics.measurements += 1;
    // never -0: fmax may return either zero
    engine->statistics.overlapMax = fmax(engine->statistics.overlapMax, 0.0 - measure->distance);
}

// ------------------------------------------------------------------------------------ approaching

double rbEventResolution_ApproachAt(const rbEventResolution* r, const rbEventContact* contact)
{
    rbVec3 u = rbGetRelativeVelocity(&r->bodies[0], &r->bodies[1], contact->point);
    return r->growth - rbDot(u, contact->normal);
}

int rbEventResolution_FindFastest(const rbEventResolution* r, const rbEventContact* contacts,
                                  int count, double rest, double* speed)
{
    RB_ASSERT(count > 0);
    RB_ASSERT(count <= RB_EVENT_CONTACTS_MAX);
    int fastest = -1;
    *speed = rest;
    for (int i = 0; i < count; ++i) {
        double approach = rbEventResolution_ApproachAt(r, &contacts[i]);
        if (approach > *speed) {
            *speed = approach;
            fastest = i;
        }
    }
    return fastest;
}

rbEventResolution rbEventEngine_BeginResolution(rbEventEngine* engine, const rbEventHost* host,
                                                int index, double time,
                                                const rbMotionState states[2])
{
    const rbEventPair* pair = rbEventEngine_GetPair(engine, index);
    const rbEventBody* a = &engine->bodies.data[pair->a];
    const rbEventBody* b = &engine->bodies.data[pair->b];
    rbEventResolution r = {.pair = index, .time = time, .tolerance = engine->tolerance};
    // Shrinking bodies are measured at their own size (rbEventEngine_MakeSweepBody).
    bool isMeasured = pair->data >= 0;
    r.growth = isMeasured ? fmax(0.0, a->growth) + fmax(0.0, b->growth) : a->growth + b->growth;
    r.bodies[0] = rbEventEngine_MakeImpactBody(engine, host, pair->a, &states[0]);
    r.bodies[1] = rbEventEngine_MakeImpactBody(engine, host, pair->b, &states[1]);
    r.bodies[1].center = rbEventEngine_ShiftToImage(engine, pair, r.bodies[1].center);
    return r;
}

double rbEventEngine_LeavingSpeed(rbEventEngine* engine, const rbEventHost* host, int index,
                                  const rbMotionState states[2], const rbEventContacts* contacts)
{
    rbEventResolution r = rbEventEngine_BeginResolution(engine, host, index, 0.0, states);
    double approach;
    (void)rbEventResolution_FindFastest(&r, contacts->points, contacts->touching, -INFINITY,
                                        &approach);
    return -approach;
}

// ---------------------------------------------------------------------------------- contact points

static rbVec3 middleOf(const rbEventMeasure* measure, rbVec3 pointA, rbVec3 pointB)
{
    return rbTransformPoint(measure->poses[0], rbScale(0.5, rbAdd(pointA, pointB)));
}

static void listWitness(const rbEventMeasure* measure, rbEventContacts* contacts)
{
    const rbSeparation* s = &measure->separation;
    contacts->points[0] = (rbEventContact){.point = middleOf(measure, s->pointA, s->pointB),
                                           .normal = measure->normal,
                                           .distance = s->distance,
                                           .childA = s->childA,
                                           .childB = s->childB};
    contacts->touching = 1;
    contacts->count = 1;
}

static bool isConvexOrPlane(const rbGeometry* geometry)
{
    return rbGeometry_IsConvex(geometry) || rbGeometry_GetType(geometry) == RB_SHAPE_PLANE;
}

// Appends points of manifolds within a distance to the list, starting above another distance.
static void takePoints(const rbEventMeasure* measure, const rbContactList* list, double above,
                       double within, rbEventContacts* contacts)
{
    int stored = list->count < list->capacity ? list->count : list->capacity;
    for (int m = 0; m < stored; ++m) {
        const rbManifold* manifold = &list->manifolds[m];
        rbVec3 normal = rbRotate(measure->poses[0].q, manifold->normal);
        for (int i = 0; i < manifold->count; ++i) {
            const rbManifoldPoint* point = &manifold->points[i];
            if (!(point->distance > above && point->distance <= within)) {
                continue;
            }
            RB_ASSERT(contacts->count < RB_EVENT_CONTACTS_MAX);
            contacts->points[contacts->count++] =
                (rbEventContact){.point = middleOf(measure, point->pointA, point->pointB),
                                 .normal = normal,
                                 .distance = point->distance,
                                 .childA = manifold->childA,
                                 .childB = manifold->childB};
        }
    }
}

// The points at which the pair touches, or nearly, in the world.
static void findContacts(rbEventEngine* engine, const rbEventPair* pair, double time,
                         const rbEventMeasure* measure, rbEventContacts* contacts)
{
    const rbGeometry* a = engine->colds.data[pair->a].geometry;
    const rbGeometry* b = engine->colds.data[pair->b].geometry;
    bool isRound = rbGetShapeOps(a->type)->isRound || rbGetShapeOps(b->type)->isRound;
    if (isRound && isConvexOrPlane(a) && isConvexOrPlane(b)) {
        listWitness(measure, contacts);
        return;
    }
    rbManifold manifolds[RB_EVENT_CONTACTS_MAX / RB_MANIFOLD_POINTS_MAX];
    rbContactList list = {.manifolds = manifolds,
                          .capacity = (int)(sizeof manifolds / sizeof manifolds[0])};
    rbSeparationInput input = makeInput(engine, pair, time, measure);
    rbSeparationCache* cache = &engine->datas.data[pair->data].cache;
    double near = NEARLY * engine->tolerance;
    rbStatus status = rbFindContacts(&input, near, cache, engine->scratch.separation, &list, NULL);
    engine->statistics.measurements += 1;
    contacts->count = 0;
    if (status == RB_STATUS_OK) {
        takePoints(measure, &list, -INFINITY, engine->tolerance, contacts);
        contacts->touching = contacts->count;
        takePoints(measure, &list, engine->tolerance, near, contacts);
    }
    if (contacts->count == 0 || contacts->touching == 0) {
        listWitness(measure, contacts);
    }
}

// A list of contact points is reduced to a few, and for a mesh the nearest point may be left out.
// If it approaches faster than all listed points, it must not be overlooked; inside a face it never
// does.
static void addWitness(rbEventEngine* engine, const rbEventHost* host, int index,
                       const rbEventMeasure* measure, rbEventContacts* contacts)
{
    rbEventContacts witness;
    listWitness(measure, &witness);
    double listed = rbEventEngine_LeavingSpeed(engine, host, index, measure->states, contacts);
    double leaving = rbEventEngine_LeavingSpeed(engine, host, index, measure->states, &witness);
    double rounding = WITNESS_ROUNDING * (fabs(listed) + fabs(leaving));
    if (leaving < listed - rounding && leaving < 0.0 && contacts->count < RB_EVENT_CONTACTS_MAX) {
        if (contacts->touching < contacts->count) {
            contacts->points[contacts->count] = contacts->points[contacts->touching];
        }
        contacts->points[contacts->touching++] = witness.points[0];
        contacts->count += 1;
    }
}

// ------------------------------------------------------------------------------------- scheduling

bool rbEventEngine_IsTouching(const rbEventEngine* engine, const rbEventMeasure* measure)
{
    return measure->distance <= engine->tolerance ||
           measure->separation.lower <= CONTACT_LEVEL * engine->tolerance;
}

bool rbEventEngine_ListContacts(rbEventEngine* engine, const rbEventHost* host, int index,
                                double time, const rbEventMeasure* measure,
                                rbEventContacts* contacts)
{
    if (!rbEventEngine_IsTouching(engine, measure)) {
        listWitness(measure, contacts);
        return false;
    }
    findContacts(engine, rbEventEngine_GetPair(engine, index), time, measure, contacts);
    addWitness(engine, host, index, measure, contacts);
    return true;
}

bool rbEventEngine_FindTouching(rbEventEngine* engine, const rbEventHost* host, int index,
                                double time, rbEventContacts* contacts)
{
    const rbEventPair* pair = &engine->pairs.data[index];
    if (pair->row == RB_PAIR_ROW_GENERAL) {
        rbEventMeasure measure;
        if (rbEventEngine_GetTime(engine, index) > time &&
            remainingGap(&engine->datas.data[pair->data], time) > engine->tolerance) {
            return false;
        }
        rbEventEngine_Measure(engine, host, index, time, &measure);
        return rbEventEngine_ListContacts(engine, host, index, time, &measure, contacts);
    }
    contacts->touching = 1;
    contacts->count = 1;
    contacts->points[0] = rbEventEngine_GetExactContact(engine, pair, time);
    return contacts->points[0].distance <= engine->tolerance;
}

void rbEventEngine_Schedule(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                            const rbEventMeasure* measure, double leaving)
{
    RB_ASSERT(rbEventEngine_GetPair(engine, index)->data >= 0);
    RB_ASSERT(!isnan(leaving));
    rbEventPair* pair = &engine->pairs.data[index];
    rbEventPairData* data = &engine->datas.data[pair->data];
    double tolerance = engine->tolerance;
    double distance = measure->separation.lower;
    rbSweepBody bodies[2];
    makeSweepBodies(engine, host, pair, time, measure->states, bodies);
    remember(data, distance, time, bodies);
    engine->statistics.bounds += 1;
    bool isInShell = rbEventEngine_IsTouching(engine, measure);
    pair->isLasting = pair->isLasting && measure->distance <= 2.0 * tolerance;
    data->hasSway = data->hasSway && pair->isLasting;
    double level =
        isInShell ? fmin(CONTACT_LEVEL * tolerance, 0.5 * distance) : CONTACT_LEVEL * tolerance;
    rbSweepGap gap = {distance, measure->normal};
    double tau =
        distance > 0.0 ? rbBoundMeeting(&bodies[0], &bodies[1], &gap, data->turning, level) : 0.0;
    if (isInShell) {
        // Outside the shell the usual level holds again; a hop is measured once at its rim.
        double rim = leaving > 0.0 ? (SHELL_EXIT * tolerance - distance) / leaving : INFINITY;
        tau = fmin(tau, rim);
        tau = fmax(tau, rbBoundByPaths(&bodies[0], &bodies[1], SHELL_STEP * tolerance, 0.0));
    }
    double next = time + tau;
    rbEventEngine_SetTime(engine, index,
                          next > time ? next : nextafter(nextafter(time, INFINITY), INFINITY));
}
