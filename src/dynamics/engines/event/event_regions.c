// Regions: boxes that bodies cannot leave for a while, and the near pairs they form (L-79, L-80).
//
// A region contains all positions of the body within a horizon, plus a margin. A collision changes
// the velocity of the body but does not move it, so the region stays and only its expiry changes; a
// body that rattles among its neighbors queries the broad phase once in many collisions. A body
// that flies straight through its region gets one twice as long the next time. A near pair ends
// when one of its regions is renewed and no longer overlaps the other: that is the hysteresis of
// L-79.
#include "dynamics/engines/event/event_regions.h"

#include "base/math/matrix3.h"
#include "collision/broadphase/broad_phase.h"
#include "dynamics/engines/event/event_bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Margin of a ball in radii. Wider: fewer renewals, more neighbors.
#define BALL_MARGIN 0.9
// Margin of a box in radii. Wider: fewer renewals, more neighbors. In a gas at a packing
// fraction of 0.3 anything from 0.2 to 0.5 costs the same within a tenth.
#define MARGIN 0.4
// A region that overlapped more neighbors than this does not get a longer horizon the next time.
#define NEIGHBORS_WANTED 16
// With this few, a body that has collided is expected to fly as long as the last time, up to this
// many times the time it needs to leave the margin.
#define NEIGHBORS_FEW 4
#define LONG_FLIGHT 64.0
// How much earlier than the true exit the expiry is, in margins: more than all rounding.
#define EXIT_SLACK 1e-9
// By which part of their sum two balls must overlap.
#define BALL_SLACK 1e-12
// Horizon of a body that rotates in place, s: practically never.
#define HORIZON_MAX 1e12
#define HORIZON_LEAST 1e-9 // s

static double marginOf(const rbEventBody* body, double time)
{
    return MARGIN * (body->radius + fmax(0.0, body->growth * time));
}

// First time at which v t + a t^2/2 = distance, distance >= 0; INFINITY if never.
static double timeToTravel(double distance, double v, double a)
{
    RB_ASSERT(distance >= 0.0);
    double discriminant = v * v + 2.0 * a * distance;
    if (discriminant < 0.0) {
        return INFINITY;
    }
    double sum = v + sqrt(discriminant);
    return sum > 0.0 ? 2.0 * distance / sum : INFINITY;
}

static double timeToLeave(double position, double v, double a, const double range[2],
                          const double widening[2])
{
    double up = fmax(0.0, range[1] - position);
    double down = fmax(0.0, position - range[0]);
    return fmin(timeToTravel(up, v + widening[0], a + widening[1]),
                timeToTravel(down, -v + widening[0], -a + widening[1]));
}

// First time at which |d + v t| = margin, d being inside.
static double timeToLeaveBall(const rbEventBody* body, double time)
{
    rbVec3 d = rbSub(rbEventBody_PositionAt(body, time), body->region.ballCenter);
    rbVec3 v = body->velocity;
    double margin = (1.0 - EXIT_SLACK) * (BALL_MARGIN * body->radius);
    double inside = margin * margin - rbLengthSquared(d);
    double along = rbDot(d, v);
    double square = rbLengthSquared(v);
    if (!(inside > 0.0)) {
        return along > 0.0 || square == 0.0 ? 0.0 : -2.0 * along / square;
    }
    double root = sqrt(along * along + square * inside);
    // of the two forms, the one without cancellation
    double left = along > 0.0 ? inside / (along + root) : (root - along) / square;
    return square > 0.0 ? left : INFINITY;
}

void rbEventEngine_UpdateExpiry(rbEventEngine* engine, int index, double time)
{
    rbEventBody* body = rbEventEngine_GetBody(engine, index);
    if (!body->isDynamic || body->isUnbounded) {
        return; // set with the region
    }
    if (body->isBall) {
        body->region.expiry = time + timeToLeaveBall(body, time);
        return;
    }
    rbVec3 p = rbEventBody_PositionAt(body, time), v = rbEventBody_VelocityAt(body, time);
    rbVec3 a = body->acceleration;
    const rbBounds* box = &body->region.box;
    double inset =
        body->radius + fmax(0.0, body->growth * time) + EXIT_SLACK * marginOf(body, time);
    double widening[2] = {fmax(0.0, body->growth), engine->colds.data[index].loadAcceleration};
    double x[2] = {box->lower.x + inset, box->upper.x - inset};
    double y[2] = {box->lower.y + inset, box->upper.y - inset};
    double z[2] = {box->lower.z + inset, box->upper.z - inset};
    double left = timeToLeave(p.x, v.x, a.x, x, widening);
    left = fmin(left, timeToLeave(p.y, v.y, a.y, y, widening));
    left = fmin(left, timeToLeave(p.z, v.z, a.z, z, widening));
    RB_ASSERT(left >= 0.0);
    body->region.expiry = time + left;
}

// With varying loads the record is not a parabola from the start of the flight: it restarts at a
// time. The flight itself stays.
static void rebase(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    rbEventBody* body = &engine->bodies.data[index];
    if (body->isDynamic && body->shape != RB_EVENT_SHAPE_SPHERE &&
        engine->colds.data[index].loadAcceleration > 0.0) {
        rbMotionState state = rbEventEngine_StateAt(engine, host, index, time);
        body->time = time;
        body->position = state.position;
        body->velocity = state.velocity;
    }
}

static rbBounds widen(rbBounds box, double by)
{
    rbVec3 margin = {by, by, by};
    return (rbBounds){rbSub(box.lower, margin), rbAdd(box.upper, margin)};
}

static double largestEdge(const rbBounds* box)
{
    rbVec3 size = rbSub(box->upper, box->lower);
    return fmax(size.x, fmax(size.y, size.z));
}

// A sphere among its neighbors, or one that starts: it may change direction at any time.
static bool makeBallRegion(rbEventEngine* engine, int index, double time)
{
    rbEventBody* body = &engine->bodies.data[index];
    bool isFree = body->shape == RB_EVENT_SHAPE_SPHERE && body->growth == 0.0 &&
                  rbLengthSquared(body->acceleration) == 0.0;
    bool isStraight = body->region.horizon > 0.0 &&
                      (body->pairs.count <= NEIGHBORS_FEW ||
                       (!body->hasCollided && body->pairs.count <= NEIGHBORS_WANTED));
    double margin = BALL_MARGIN * body->radius;
    double reach = body->radius + margin;
    body->isBall = isFree && !isStraight &&
                   !(engine->space.isPeriodic && 2.0 * reach >= engine->space.edgeMax);
    if (!body->isBall) {
        return false;
    }
    rbVec3 p = rbEventBody_PositionAt(body, time);
    double speed = rbLength(body->velocity);
    body->region.ballCenter = p;
    body->region.horizon = speed > 0.0 ? margin / speed : INFINITY;
    body->region.box = widen((rbBounds){p, p}, reach);
    rbEventEngine_UpdateExpiry(engine, index, time);
    return true;
}

// A box that contains the path or the flight of a body for a while, widened by a margin.
static rbBounds boxOfMotion(const rbEventEngine* engine, int index, double time, double h,
                            double margin)
{
    const rbEventBody* body = &engine->bodies.data[index];
    const rbEventCold* cold = &engine->colds.data[index];
    double reach = body->radius + fmax(0.0, body->growth * (time + h));
    if (body->isMoving) {
        return widen(rbPath_GetBounds(cold->path, time, time + h), reach + margin);
    }
    const double span[2] = {0.0, h};
    return widen(rbBoundsOfParabola(rbEventBody_PositionAt(body, time),
                                    rbEventBody_VelocityAt(body, time), body->acceleration, span),
                 reach + 0.5 * cold->loadAcceleration * h * h + margin);
}

static void makeBoxRegion(rbEventEngine* engine, int index, double time)
{
    rbEventBody* body = &engine->bodies.data[index];
    const rbEventCold* cold = &engine->colds.data[index];
    double longer = body->pairs.count <= NEIGHBORS_WANTED ? 2.0 * body->region.horizon : 0.0;
    double margin = 0.0, shortest = HORIZON_MAX;
    if (body->isMoving) {
        shortest = cold->path->speed > 0.0 ? body->radius / cold->path->speed : HORIZON_MAX;
    } else {
        double speed = rbLength(rbEventBody_VelocityAt(body, time)) + fabs(body->growth);
        double pull = rbLength(body->acceleration) + cold->loadAcceleration;
        margin = marginOf(body, time);
        shortest = timeToTravel(margin, speed, pull);
        bool isAlone = body->pairs.count <= NEIGHBORS_FEW;
        double flight = isAlone ? fmin(body->flightTime, LONG_FLIGHT * shortest) : 0.0;
        longer = body->hasCollided ? flight : longer;
    }
    double horizon = fmin(fmax(shortest, longer), HORIZON_MAX);
    body->region.box = boxOfMotion(engine, index, time, horizon, margin);
    // Regions longer than half a period would overlap others in two images.
    while (engine->space.isPeriodic && largestEdge(&body->region.box) >= engine->space.edgeMax &&
           horizon > HORIZON_LEAST) {
        horizon *= 0.5;
        body->region.box = boxOfMotion(engine, index, time, horizon, margin);
    }
    body->region.horizon = horizon;
    body->region.expiry = time + horizon;
    rbEventEngine_UpdateExpiry(engine, index, time);
}

// --------------------------------------------------------------------------------- periodic images

static rbBounds shiftBox(const rbEventEngine* engine, const rbBounds* box, const int periods[3])
{
    rbVec3 shift = rbEventEngine_ShiftBy(engine, periods);
    return (rbBounds){rbAdd(box->lower, shift), rbAdd(box->upper, shift)};
}

static void wrapRegion(rbEventEngine* engine, int index)
{
    const rbEventBody* body = &engine->bodies.data[index];
    for (int axis = 0; axis < 3; ++axis) {
        double length = rbGetComponent(engine->space.period, axis);
        double middle = 0.5 * (rbGetComponent(body->region.box.lower, axis) +
                               rbGetComponent(body->region.box.upper, axis));
        engine->space.balls.data[index].periods[axis] =
            length > 0.0 ? (int)floor(middle / length + 0.5) : 0;
    }
}

// The one period by which a box can be shifted along an axis to overlap boxes of the first image
// again; 0: none. Regions are shorter than half a period, so there is at most one.
static int sideOf(const rbEventEngine* engine, const rbBounds* box, int axis)
{
    double length = rbGetComponent(engine->space.period, axis);
    double reach = 0.5 * (length + engine->space.edge);
    bool isLow = rbGetComponent(box->lower, axis) - reach <= -length;
    bool isHigh = rbGetComponent(box->upper, axis) + reach >= length;
    return !(length > 0.0) ? 0 : isLow ? 1 : isHigh ? -1 : 0;
}

// Appends what the box moved by periods overlaps.
static void findImages(rbEventEngine* engine, const rbBounds* box)
{
    int sides[3] = {sideOf(engine, box, 0), sideOf(engine, box, 1), sideOf(engine, box, 2)};
    for (int choice = 1; choice < 8; ++choice) {
        int moved[3];
        bool isPossible = true;
        for (int axis = 0; axis < 3; ++axis) {
            bool isChosen = (choice >> axis & 1) == 1;
            moved[axis] = isChosen ? sides[axis] : 0;
            isPossible = isPossible && (!isChosen || sides[axis] != 0);
        }
        if (isPossible) {
            rbBounds shifted = shiftBox(engine, box, moved);
            engine->space.broad->row->query(engine->space.broad, &shifted, RB_BROAD_NONE,
                                            &engine->space.found);
        }
    }
}

// Periods by which a center must be moved along an axis to be the next to another.
static int periodsTo(double from, double to, double period)
{
    return (period > 0.0 && to - from > 0.5 * period) - (period > 0.0 && from - to > 0.5 * period);
}

// The partners among the boxes found. Regions are shorter than half a period, so they overlap in
// their nearest images. That boxes overlap is known; balls may be apart nevertheless.
//
// Broad phases that know balls find them where their boxes only touch up to rounding. So balls must
// overlap by more than that, and by less than the slack of their expiries.
static void takeFound(rbEventEngine* engine, int index)
{
    rbEventSpace* space = &engine->space;
    rbEventBall ball = space->balls.data[index];
    rbVec3 period = space->period;
    rbVec3 half = {period.x > 0.0 ? 0.5 * period.x : INFINITY,
                   period.y > 0.0 ? 0.5 * period.y : INFINITY,
                   period.z > 0.0 ? 0.5 * period.z : INFINITY};
    rbArray_Reserve(space->partners, space->found.count);
    for (int i = 0; i < space->found.count; ++i) {
        int id = space->found.ids[i];
        const rbEventBall* other = &space->balls.data[id];
        rbVec3 p = ball.center, q = other->center;
        rbVec3 d = rbSub(q, p);
        int moved[3] = {0, 0, 0};
        if (fabs(d.x) > half.x || fabs(d.y) > half.y || fabs(d.z) > half.z) {
            moved[0] = periodsTo(p.x, q.x, period.x);
            moved[1] = periodsTo(p.y, q.y, period.y);
            moved[2] = periodsTo(p.z, q.z, period.z);
            d = rbSub(q, rbAdd(p, rbEventEngine_ShiftBy(engine, moved)));
        }
        bool areBalls = ball.reach > 0.0 && other->reach > 0.0;
        double sum = (1.0 - BALL_SLACK) * (ball.reach + other->reach);
        if (id == index || (areBalls && rbLengthSquared(d) > sum * sum)) {
            continue;
        }
        rbEventPartner* partner = &space->partners.data[space->partners.count++];
        partner->id = id;
        for (int axis = 0; axis < 3; ++axis) {
            partner->image[axis] = ball.periods[axis] - other->periods[axis] - moved[axis];
        }
    }
}

// -------------------------------------------------------------------------------------- near pairs

bool rbEventEngine_CanTouch(const rbEventEngine* engine, int a, int b)
{
    RB_ASSERT(a != b);
    const rbEventBody* first = &engine->bodies.data[a];
    const rbEventBody* second = &engine->bodies.data[b];
    if (first->shape == RB_EVENT_SHAPE_NONE || second->shape == RB_EVENT_SHAPE_NONE ||
        !(first->isDynamic || second->isDynamic) ||
        (first->filter.groups & second->filter.mask) == 0 ||
        (second->filter.groups & first->filter.mask) == 0) {
        return false;
    }
    return engine->filter.fn == NULL ||
           engine->filter.fn(engine->filter.context, a < b ? a : b, a < b ? b : a);
}

static uint8_t chooseRow(const rbEventEngine* engine, int a, int b)
{
    uint8_t first = engine->bodies.data[a].shape, second = engine->bodies.data[b].shape;
    int spheres = (first == RB_EVENT_SHAPE_SPHERE) + (second == RB_EVENT_SHAPE_SPHERE);
    int planes = (first == RB_EVENT_SHAPE_PLANE) + (second == RB_EVENT_SHAPE_PLANE);
    return spheres == 2                  ? RB_PAIR_ROW_SPHERES
           : spheres == 1 && planes == 1 ? RB_PAIR_ROW_SPHERE_PLANE
                                         : RB_PAIR_ROW_GENERAL;
}

void rbEventEngine_ClearDetectorPair(rbEventEngine* engine, int data)
{
    RB_ASSERT(data >= 0);
    RB_ASSERT(data < engine->datas.count);
    for (int i = 0; i < engine->detector.words; ++i) {
        engine->detector.memory.data[data * engine->detector.words + i] = 0;
    }
}

static int takeData(rbEventEngine* engine)
{
    rbEventPairData data;
    memset(&data, 0, sizeof data);
    if (engine->spare.datas.count > 0) {
        int index = engine->spare.datas.data[--engine->spare.datas.count];
        engine->datas.data[index] = data;
        rbEventEngine_ClearDetectorPair(engine, index);
        return index;
    }
    rbArray_Push(engine->datas, data);
    rbArray_Fill(engine->detector.memory, engine->datas.count * engine->detector.words, 0);
    return engine->datas.count - 1;
}

// A pair in the list of a body; sign: 1 if that is the first, else -1.
static rbEventNeighbor makeNeighbor(const rbEventPair* pair, int index, int other, int sign)
{
    const int* image = pair->image;
    bool isNear = abs(image[0]) <= 1 && abs(image[1]) <= 1 && abs(image[2]) <= 1;
    int code = (int)RB_IMAGE_NONE + sign * (image[0] + 3 * image[1] + 9 * image[2]);
    rbEventNeighbor neighbor = {.time = INFINITY};
    neighbor.pair = (uint32_t)index & (RB_EVENT_PAIRS_MAX - 1);
    neighbor.row = pair->row & 3u;
    neighbor.other = (uint32_t)other & (RB_EVENT_BODIES_MAX - 1);
    neighbor.image = isNear ? (uint32_t)code & 31u : RB_IMAGE_FAR;
    return neighbor;
}

int rbEventEngine_MakePair(rbEventEngine* engine, int a, int b, const int image[3])
{
    RB_ASSERT(a >= 0);
    RB_ASSERT(a < b);
    RB_ASSERT(b < engine->bodies.count);
    RB_ASSERT(engine->bodies.data[a].isDynamic || engine->bodies.data[b].isDynamic);
    rbEventPair pair = {.lastTime = -INFINITY, .a = a, .b = b, .data = -1};
    memcpy(pair.image, image, sizeof pair.image);
    pair.isDetected =
        engine->detector.row->canDetect != NULL && engine->detector.row->canDetect(engine, a, b);
    pair.row = pair.isDetected ? RB_PAIR_ROW_GENERAL : chooseRow(engine, a, b);
    if (pair.row == RB_PAIR_ROW_GENERAL) {
        pair.data = takeData(engine);
    }
    rbEventBody* first = &engine->bodies.data[a];
    rbEventBody* second = &engine->bodies.data[b];
    pair.placeA = first->pairs.count;
    pair.placeB = second->pairs.count;
    int index = engine->pairs.count;
    if (engine->spare.pairs.count > 0) {
        index = engine->spare.pairs.data[--engine->spare.pairs.count];
        engine->pairs.data[index] = pair;
    } else {
        rbArray_Push(engine->pairs, pair);
    }
    RB_ASSERT(index < RB_EVENT_PAIRS_MAX);
    rbArray_Push(first->pairs, makeNeighbor(&pair, index, b, 1));
    rbArray_Push(second->pairs, makeNeighbor(&pair, index, a, -1));
    engine->statistics.pairsMade += 1;
    engine->statistics.pairCount += 1;
    return index;
}

// Removes the pair at an index from a body's list.
static void unlist(rbEventEngine* engine, int index, int place)
{
    RB_ASSERT(place >= 0);
    RB_ASSERT(place < engine->bodies.data[index].pairs.count);
    rbEventBody* body = &engine->bodies.data[index];
    rbEventNeighbor last = body->pairs.data[--body->pairs.count];
    body->pairs.data[place] = last;
    rbEventPair* moved = &engine->pairs.data[last.pair];
    *(moved->a == index ? &moved->placeA : &moved->placeB) = place;
}

void rbEventEngine_RemovePair(rbEventEngine* engine, int index)
{
    rbEventPair pair = engine->pairs.data[index];
    unlist(engine, pair.a, pair.placeA);
    unlist(engine, pair.b, pair.placeB);
    if (pair.data >= 0) {
        rbFront* front = engine->datas.data[pair.data].cache.front;
        if (front != NULL) {
            rbArray_Push(engine->spare.fronts, front); // NOLINT(bugprone-sizeof-expression)
        }
        engine->datas.data[pair.data].cache.front = NULL;
        rbArray_Push(engine->spare.datas, pair.data);
    }
    if (engine->loop->startPairs != NULL) {
        rbQueue_Remove(&engine->queue, index);
    }
    rbEventEngine_GetPair(engine, index)->a = -1;
    rbArray_Push(engine->spare.pairs, index);
    engine->statistics.pairCount -= 1;
    RB_ASSERT(engine->statistics.pairCount >= 0);
}

bool rbEventEngine_IsNearUnbounded(const rbEventEngine* engine, const rbBounds* region, int index)
{
    if (engine->bodies.data[index].shape != RB_EVENT_SHAPE_PLANE) {
        return true;
    }
    rbVec3 n = engine->colds.data[index].planeNormal;
    rbVec3 corner = {n.x > 0.0 ? region->lower.x : region->upper.x,
                     n.y > 0.0 ? region->lower.y : region->upper.y,
                     n.z > 0.0 ? region->lower.z : region->upper.z};
    return rbDot(n, corner) <= engine->colds.data[index].planeOffset;
}

static void findPartners(rbEventEngine* engine, int index)
{
    rbEventBody* body = &engine->bodies.data[index];
    engine->space.partners.count = 0;
    rbBounds box = body->region.box;
    if (engine->space.isPeriodic) {
        wrapRegion(engine, index);
        const int* periods = engine->space.balls.data[index].periods;
        int back[3] = {-periods[0], -periods[1], -periods[2]};
        box = shiftBox(engine, &body->region.box, back);
    }
    rbEventBall* ball = &engine->space.balls.data[index];
    ball->center = rbScale(0.5, rbAdd(box.lower, box.upper));
    ball->reach = body->isBall ? body->radius + BALL_MARGIN * body->radius : 0.0;
    rbIdList* found = &engine->space.found;
    found->count = 0;
    rbBroadPhase_PlaceAs(engine->space.broad, index, box,
                         ball->reach > 0.0 ? RB_BROAD_BALL : RB_BROAD_BOX);
    rbBroadPhase_FindPartners(engine->space.broad, index, found, NULL);
    if (engine->space.isPeriodic && engine->space.broad->row->setPeriod == NULL) {
        findImages(engine, &box);
    }
    for (int i = 0; i < found->count; ++i) {
        const rbEventBall* other = &engine->space.balls.data[found->ids[i]];
        __builtin_prefetch(other);
        __builtin_prefetch(&other->pad);
    }
    rbIdList_Sort(found, 0, &engine->space.broad->scratch);
    takeFound(engine, index);
    for (int i = 0; i < engine->space.unbounded.count; ++i) {
        int other = engine->space.unbounded.data[i];
        if (other != index && rbEventEngine_IsNearUnbounded(engine, &body->region.box, other)) {
            rbEventPartner partner = {.id = other};
            rbArray_Push(engine->space.partners, partner);
        }
    }
}

// Marks the pairs of a body that persist in the list of partners, and records the others in the
// stack; prefetches what their removal touches.
static void matchPairs(rbEventEngine* engine, int index)
{
    rbEventPartner* partners = engine->space.partners.data;
    int* marks = engine->space.marks.data; // place in the list of partners + 1, by body
    for (int i = 0; i < engine->space.partners.count; ++i) {
        marks[partners[i].id] = i + 1;
    }
    engine->lists.stack.count = 0;
    for (int i = engine->bodies.data[index].pairs.count - 1; i >= 0; --i) {
        rbEventNeighbor neighbor = engine->bodies.data[index].pairs.data[i];
        int place = marks[neighbor.other] - 1;
        int image[3];
        rbEventNeighbor_GetImage(engine, index, neighbor, image);
        if (place >= 0 && memcmp(image, partners[place].image, sizeof image) == 0) {
            partners[place].id = -1;
            marks[neighbor.other] = 0;
        } else {
            __builtin_prefetch(&engine->pairs.data[neighbor.pair], 1);
            __builtin_prefetch(&engine->bodies.data[neighbor.other].pairs, 1);
            rbArray_Push(engine->lists.stack, neighbor.pair);
        }
    }
    int kept = 0;
    for (int i = 0; i < engine->space.partners.count; ++i) {
        if (partners[i].id >= 0) {
            marks[partners[i].id] = 0;
            __builtin_prefetch(&engine->bodies.data[partners[i].id]);
            __builtin_prefetch(&engine->bodies.data[partners[i].id].pairs, 1);
            __builtin_prefetch(&engine->bodies.data[partners[i].id].acceleration);
            partners[kept++] = partners[i];
        }
    }
    engine->space.partners.count = kept;
}

static void updatePairs(rbEventEngine* engine, int index)
{
    matchPairs(engine, index);
    // All lists that change are fetched at once: where pairs go, where others are appended, and the
    // pairs that take the places of those that go.
    for (int i = 0; i < engine->lists.stack.count; ++i) {
        const rbEventPair* pair = &engine->pairs.data[engine->lists.stack.data[i]];
        bool isFirst = pair->a == index;
        const rbEventBody* other = &engine->bodies.data[isFirst ? pair->b : pair->a];
        __builtin_prefetch(&other->pairs.data[isFirst ? pair->placeB : pair->placeA], 1);
        __builtin_prefetch(&other->pairs.data[other->pairs.count - 1]);
    }
    for (int i = 0; i < engine->space.partners.count; ++i) {
        const rbEventBody* other = &engine->bodies.data[engine->space.partners.data[i].id];
        __builtin_prefetch(&other->pairs.data[other->pairs.count], 1);
    }
    for (int i = 0; i < engine->lists.stack.count; ++i) {
        const rbEventPair* pair = &engine->pairs.data[engine->lists.stack.data[i]];
        const rbEventBody* other = &engine->bodies.data[pair->a == index ? pair->b : pair->a];
        __builtin_prefetch(&engine->pairs.data[other->pairs.data[other->pairs.count - 1].pair], 1);
    }
    for (int i = 0; i < engine->lists.stack.count; ++i) {
        rbEventEngine_RemovePair(engine, engine->lists.stack.data[i]);
    }
    for (int i = 0; i < engine->space.partners.count; ++i) {
        rbEventPartner partner = engine->space.partners.data[i];
        int other = partner.id;
        if (!rbEventEngine_CanTouch(engine, index, other)) {
            continue;
        }
        // The image of b relative to the pair, given that of the partner relative to the body.
        int sign = index < other ? 1 : -1;
        int image[3] = {sign * partner.image[0], sign * partner.image[1], sign * partner.image[2]};
        int low = index < other ? index : other;
        rbArray_Push(engine->lists.newPairs,
                     rbEventEngine_MakePair(engine, low, index < other ? other : index, image));
    }
}

void rbEventEngine_RenewRegion(rbEventEngine* engine, const rbEventHost* host, int index,
                               double time)
{
    RB_ASSERT(rbEventEngine_GetBody(engine, index)->shape != RB_EVENT_SHAPE_NONE);
    rbEventBody* body = &engine->bodies.data[index];
    engine->statistics.renewals += 1;
    engine->lists.newPairs.count = 0;
    if (body->isUnbounded) {
        body->region.expiry = INFINITY;
        return; // the others find it
    }
    rebase(engine, host, index, time);
    if (!body->isDynamic && !body->isMoving) {
        body->region.box = rbEventEngine_MotionBox(engine, host, index, time, time);
        body->region.expiry = INFINITY;
    } else if (!makeBallRegion(engine, index, time)) {
        makeBoxRegion(engine, index, time);
    }
    RB_ASSERT(body->region.expiry >= time);
    RB_ASSERT(body->region.box.lower.x <= body->region.box.upper.x);
    body->hasCollided = false;
    if (engine->space.isPeriodic) {
        engine->space.edge = fmax(engine->space.edge, largestEdge(&body->region.box));
    }
    findPartners(engine, index);
    updatePairs(engine, index);
}

rbBounds rbEventEngine_MotionBox(rbEventEngine* engine, const rbEventHost* host, int index,
                                 double timeA, double timeB)
{
    RB_ASSERT(timeB >= timeA);
    const rbEventBody* body = rbEventEngine_GetBody(engine, index);
    if (!body->isDynamic && !body->isMoving) {
        rbSweepBody place;
        rbEventEngine_MakeSweepBody(engine, host, index, 0.0, &host->states[index], &place);
        return rbGeometry_GetBounds(place.geometry, place.pose);
    }
    rebase(engine, host, index, timeA);
    return boxOfMotion(engine, index, timeA, timeB - timeA, 0.0);
}
