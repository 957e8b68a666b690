// Lasting contact: holding bodies that have come to rest, and releasing them.
//
// A body whose impacts are all gentle and which has not moved by more than a few tolerances for the
// rest time is held: its velocity and acceleration are removed until something hits it. Bodies that
// touch each other are held together or not at all. The removed energy is recorded in the energy
// accounting and each holding in the journal.
#include "dynamics/engines/event/event_rest.h"

#include "dynamics/engines/event/event_bodies.h"

#include <math.h>

// How far, in tolerances, a body may move from its place and still count as calm: hops are one
// high, and a body lying on other small bodies sways by a few.
#define CALM_STRAY 10.0
// Impacts up to this many times the speed of a microcollision do not end the calm of a body.
// Neither do faster ones after a flight shorter than the allowed motion: those of a packed pile.
#define GENTLE 4.0
// One contact carries a body when its weight points through it within this fraction of its size.
#define BALANCE 1e-9

static bool isHeldFast(const rbEventEngine* engine, int index)
{
    const rbEventBody* body = &engine->bodies.data[index];
    return (!body->isDynamic && !body->isMoving) || body->isResting;
}

static void hold(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    RB_ASSERT(engine->bodies.data[index].isDynamic);
    RB_ASSERT(!engine->bodies.data[index].isResting);
    rbEventBody* body = &engine->bodies.data[index];
    rbEventCold* cold = &engine->colds.data[index];
    rbMotionBody* motion = &host->motions[index];
    rbMotionState state = rbEventEngine_StateAt(engine, host, index, time);
    rbImpactBody impact = rbEventEngine_MakeImpactBody(engine, host, index, &state);
    double energy = rbGetKineticEnergy(&impact);
    state.velocity = RB_VEC3_ZERO;
    state.spin = RB_VEC3_ZERO;
    cold->restAcceleration = motion->acceleration;
    motion->acceleration = RB_VEC3_ZERO;
    body->isResting = true;
    rbEventEngine_StartFlight(engine, host, index, time, &state);
    engine->work.rest -= energy;
    engine->statistics.rests += 1;
    engine->statistics.restingCount += 1;
    rbEvent event = {.time = time,
                     .kind = RB_EVENT_REST,
                     .bodyA = rbEngineBody(index),
                     .energyChange = -energy,
                     .energyBefore = energy,
                     .point = state.position};
    rbEventHost_Write(host, &event);
}

// The other body of a touching pair, as last observed; -1 if it does not touch.
static int touchingPartner(const rbEventEngine* engine, rbEventNeighbor neighbor)
{
    const rbEventPair* pair = &engine->pairs.data[neighbor.pair];
    bool isTouching = pair->row == RB_PAIR_ROW_GENERAL
                          ? engine->datas.data[pair->data].hasDistance &&
                                engine->datas.data[pair->data].distance <= 2.0 * engine->tolerance
                          : pair->isLasting;
    return isTouching ? neighbor.other : -1;
}

static bool isCalmEnough(const rbEventEngine* engine, int index, double time)
{
    const rbEventCold* cold = &engine->colds.data[index];
    return engine->bodies.data[index].isCalm && cold->isBallistic &&
           time - cold->calmTime >= engine->settings.restTime;
}

// Collects the bodies that touch each other, starting at one; false if one of them is not calm.
static bool gatherIsland(rbEventEngine* engine, int index, double time)
{
    engine->lists.stack.count = 0;
    rbArray_Push(engine->lists.stack, index);
    for (int next = 0; next < engine->lists.stack.count; ++next) {
        int member = engine->lists.stack.data[next];
        if (!isCalmEnough(engine, member, time)) {
            return false;
        }
        for (int i = 0; i < engine->bodies.data[member].pairs.count; ++i) {
            int other = touchingPartner(engine, engine->bodies.data[member].pairs.data[i]);
            if (other < 0 || isHeldFast(engine, other)) {
                continue;
            }
            if (engine->bodies.data[other].isMoving) {
                return false;
            }
            bool isKnown = false;
            for (int k = 0; k < engine->lists.stack.count && !isKnown; ++k) {
                isKnown = engine->lists.stack.data[k] == other;
            }
            if (!isKnown) {
                rbArray_Push(engine->lists.stack, other);
            }
        }
    }
    return true;
}

void rbEventEngine_NoteCalm(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                            double contactPull, double fastest)
{
    RB_ASSERT(contactPull >= 0.0);
    RB_ASSERT(fastest >= 0.0);
    rbEventBody* body = rbEventEngine_GetBody(engine, index);
    rbEventCold* cold = &engine->colds.data[index];
    if (!body->isDynamic || body->isResting || engine->settings.lasting != RB_LASTING_REST) {
        return;
    }
    double slow = sqrt(2.0 * contactPull * engine->tolerance);
    bool isGentle =
        fastest <= GENTLE * slow || fastest * body->flightTime <= CALM_STRAY * engine->tolerance;
    if (!isGentle || !(contactPull > 0.0)) {
        body->isCalm = false;
        return;
    }
    rbMotionState state = rbEventEngine_StateAt(engine, host, index, time);
    double limit = CALM_STRAY * engine->tolerance;
    rbQuat turn = rbMulQuat(rbConjugate(cold->calmOrientation), state.orientation);
    double angle = 2.0 * sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    if (!body->isCalm || rbDistance(state.position, cold->calmPosition) > limit ||
        angle * body->radius > limit) {
        body->isCalm = true;
        cold->calmTime = time;
        cold->calmPosition = state.position;
        cold->calmOrientation = state.orientation;
        return;
    }
    if (!isCalmEnough(engine, index, time) || !gatherIsland(engine, index, time)) {
        return;
    }
    for (int i = 0; i < engine->lists.stack.count; ++i) {
        hold(engine, host, engine->lists.stack.data[i], time);
    }
    for (int i = 0; i < engine->lists.stack.count; ++i) {
        rbEventEngine_PredictBody(engine, host, engine->lists.stack.data[i], time);
    }
}

bool rbEventEngine_TryBalance(rbEventEngine* engine, const rbEventHost* host, int pairIndex,
                              double time, const rbEventContact* contact, double friction)
{
    RB_ASSERT(friction >= 0.0);
    const rbEventPair* pair = rbEventEngine_GetPair(engine, pairIndex);
    bool isOnFirst = isHeldFast(engine, pair->a);
    if (!isOnFirst && !isHeldFast(engine, pair->b)) {
        return false;
    }
    int index = isOnFirst ? pair->b : pair->a;
    rbEventBody* body = rbEventEngine_GetBody(engine, index);
    if (!body->isDynamic || body->isResting || engine->settings.lasting != RB_LASTING_REST ||
        !engine->colds.data[index].isBallistic) {
        return false;
    }
    rbMotionState state = rbEventEngine_StateAt(engine, host, index, time);
    rbVec3 pull = body->acceleration;
    double strength = rbLength(pull);
    double slow = strength * engine->settings.contactTime;
    // The remaining motion is what the contact time can produce.
    if (!(strength > 0.0) || rbLength(state.velocity) > 2.0 * slow ||
        rbLength(state.spin) * body->radius > 2.0 * slow) {
        return false;
    }
    rbVec3 arm = rbSub(contact->point, state.position);
    double into = fabs(rbDot(pull, contact->normal));
    double across = sqrt(fmax(0.0, strength * strength - into * into));
    bool isCarried = rbLength(rbCross(arm, pull)) <= BALANCE * body->radius * strength &&
                     across <= friction * into + BALANCE * strength;
    if (isCarried) {
        hold(engine, host, index, time);
    }
    return isCarried;
}

// Releasing ends at bodies that were never held: of these only the first one counts as moved.
void rbEventEngine_Wake(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    RB_ASSERT(index >= 0);
    RB_ASSERT(index < engine->bodies.count);
    engine->lists.stack.count = 0;
    rbArray_Push(engine->lists.stack, index);
    for (int next = 0; next < engine->lists.stack.count; ++next) {
        int member = engine->lists.stack.data[next];
        rbEventBody* body = &engine->bodies.data[member];
        for (int i = 0; i < body->pairs.count && (body->isResting || next == 0); ++i) {
            int other = touchingPartner(engine, body->pairs.data[i]);
            if (other >= 0 && engine->bodies.data[other].isResting) {
                rbArray_Push(engine->lists.stack, other);
            }
        }
        if (!body->isResting) {
            continue;
        }
        rbMotionState state = rbEventEngine_StateAt(engine, host, member, time);
        host->motions[member].acceleration = engine->colds.data[member].restAcceleration;
        body->isResting = false;
        body->isCalm = false;
        rbEventEngine_StartFlight(engine, host, member, time, &state);
        engine->statistics.wakes += 1;
        engine->statistics.restingCount -= 1;
        RB_ASSERT(engine->statistics.restingCount >= 0);
        rbEvent event = {.time = time,
                         .kind = RB_EVENT_WAKE,
                         .bodyA = rbEngineBody(member),
                         .point = state.position};
        rbEventHost_Write(host, &event);
    }
    for (int i = 0; i < engine->lists.stack.count; ++i) {
        rbEventEngine_PredictBody(engine, host, engine->lists.stack.data[i], time);
    }
}
