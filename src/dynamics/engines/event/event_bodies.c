// Bodies of the event engine: flights, bounds on their motion, and what collisions see of them.
#include "dynamics/engines/event/event_bodies.h"

#include "base/math/matrix3.h"

#include <math.h>

void rbEventEngine_GiveFlight(const rbEventEngine* engine, const rbEventHost* host, int index)
{
    const rbEventBody* body = &engine->bodies.data[index];
    if (body->isAhead) {
        rbFlight_Redirect(&host->flights[index], body->time, body->position, body->velocity);
    }
}

rbMotionState rbEventEngine_StateAt(const rbEventEngine* engine, const rbEventHost* host, int index,
                                    double time)
{
    const rbEventBody* body = rbEventEngine_GetBody(engine, index);
    rbMotionState state;
    if (body->isDynamic) {
        rbMotionCounts counts = {0};
        rbEventEngine_GiveFlight(engine, host, index);
        rbFlight_Commit(&host->flights[index], &host->motions[index], time, &counts);
        rbFlight_Evaluate(&host->flights[index], &host->motions[index], time, &state, &counts);
        return state;
    }
    state = host->states[index];
    if (body->isMoving) {
        rbPath_SetState(engine->colds.data[index].path, time, &state);
    }
    return state;
}

// A constant torque, or a load with a declared torque bound: the momentum grows by at most that per
// second. The bounds hold, from the given state, until the spin may have doubled.
static void boundDrivenSpin(const rbEventCold* cold, const rbMotionBody* body, rbVec3 spin,
                            rbSweepMotion* motion)
{
    RB_ASSERT(cold->loadTorque >= 0.0);
    double torque = rbLength(body->torque) + cold->loadTorque;
    rbVec3 moments = body->moments;
    double least = fmin(moments.x, fmin(moments.y, moments.z));
    double momentum = rbLength(rbMulEach(moments, spin));
    double horizon = fmax(momentum / torque, sqrt(least / torque));
    double momentumMax = momentum + torque * horizon;
    double spinMax = momentumMax / least;
    motion->steadySpin = RB_VEC3_ZERO;
    motion->wobble = spinMax;
    motion->spinMax = spinMax;
    motion->spinRateMax = (torque + spinMax * momentumMax) / least + spinMax * spinMax;
    motion->horizon = horizon;
}

static bool isDriven(const rbEventCold* cold, const rbMotionBody* motion)
{
    return cold->loadTorque > 0.0 || rbLengthSquared(motion->torque) > 0.0;
}

void rbEventEngine_TakeFlight(rbEventEngine* engine, const rbEventHost* host, int index)
{
    RB_ASSERT(rbEventEngine_GetBody(engine, index)->isDynamic);
    rbEventBody* body = &engine->bodies.data[index];
    const rbFlight* flight = &host->flights[index];
    const rbMotionBody* motion = &host->motions[index];
    body->time = flight->startTime;
    body->position = flight->start.position;
    body->velocity = flight->start.velocity;
    body->acceleration = motion->acceleration;
    body->isExact = flight->type == RB_MOTION_EXACT;
    body->isAhead = false;
    rbEventCold* cold = &engine->colds.data[index];
    rbVec3 spin = flight->start.spin;
    body->rotation = 0.5 * rbDot(spin, rbMulEach(motion->moments, spin));
    if (body->shape == RB_EVENT_SHAPE_OTHER && !isDriven(cold, motion)) {
        rbSweepMotion_SetFreeSpin(&cold->spin, motion->moments, flight->start.orientation, spin);
        cold->spin.horizon = INFINITY;
    }
}

void rbEventEngine_StartFlight(rbEventEngine* engine, const rbEventHost* host, int index,
                               double time, const rbMotionState* state)
{
    RB_ASSERT(engine->bodies.data[index].isDynamic);
    RB_ASSERT(rbIsFinite3(state->position));
    RB_ASSERT(rbIsFinite3(state->velocity));
    RB_ASSERT(rbIsFinite3(state->spin));
    engine->bodies.data[index].flightTime = time - engine->bodies.data[index].time;
    rbFlight_Start(&host->flights[index], &host->motions[index], time, state);
    rbEventEngine_TakeFlight(engine, host, index);
    if (host->flown != NULL) {
        host->flown(host->context, index, time);
    }
}

static void setPathMotion(const rbEventCold* cold, double time, const rbMotionState* state,
                          rbSweepMotion* motion)
{
    rbSweepMotion_SetSteadySpin(motion, rbRotate(state->orientation, state->spin));
    if (rbPath_IsSteady(cold->path, time, &motion->horizon)) {
        motion->velocity = state->velocity;
    } else {
        motion->velocitySlack = cold->path->speed;
    }
}

void rbEventEngine_MakeSweepBody(const rbEventEngine* engine, const rbEventHost* host, int index,
                                 double time, const rbMotionState* state, rbSweepBody* out)
{
    RB_ASSERT(engine->colds.data[index].geometry != NULL);
    const rbEventBody* body = rbEventEngine_GetBody(engine, index);
    const rbEventCold* cold = &engine->colds.data[index];
    rbSweepMotion* motion = &out->motion;
    *motion = cold->spin;
    motion->center = state->position;
    motion->velocity = RB_VEC3_ZERO;
    motion->acceleration = RB_VEC3_ZERO;
    motion->velocitySlack = 0.0;
    motion->accelerationSlack = 0.0;
    if (body->isDynamic) {
        motion->velocity = state->velocity;
        motion->acceleration = body->acceleration;
        motion->accelerationSlack = cold->loadAcceleration;
        motion->spin = rbRotate(state->orientation, state->spin);
        if (body->shape == RB_EVENT_SHAPE_OTHER && isDriven(cold, &host->motions[index])) {
            boundDrivenSpin(cold, &host->motions[index], state->spin, motion);
        }
    } else if (body->isMoving) {
        setPathMotion(cold, time, state, motion);
    } else {
        rbSweepMotion_SetSteadySpin(motion, RB_VEC3_ZERO);
        motion->horizon = INFINITY;
    }
    out->pose = rbEventCold_GetPose(cold, state);
    out->geometry = cold->geometry;
    out->radius = cold->coreRadius;
    // A shrinking body is measured at its own size: the added rounding is never negative.
    out->rounding = fmax(0.0, body->growth * time);
    out->growth = fmax(0.0, body->growth);
}

void rbEventHost_Write(const rbEventHost* host, const rbEvent* event)
{
    RB_ASSERT(event != NULL);
    RB_ASSERT(event->kind < RB_EVENT_COUNT);
    if (host->journal != NULL) {
        host->journal(host->context, event);
    }
}

rbImpactBody rbEventEngine_MakeImpactBody(const rbEventEngine* engine, const rbEventHost* host,
                                          int index, const rbMotionState* state)
{
    RB_ASSERT(!rbEventEngine_GetBody(engine, index)->isDynamic ||
              engine->bodies.data[index].inverseMass > 0.0);
    const rbEventBody* body = &engine->bodies.data[index];
    rbImpactBody impact = {.center = state->position,
                           .velocity = state->velocity,
                           .angularVelocity = rbRotate(state->orientation, state->spin)};
    if (body->isDynamic) {
        rbVec3 moments = host->motions[index].moments;
        rbVec3 inverse = {1.0 / moments.x, 1.0 / moments.y, 1.0 / moments.z};
        impact.inverseMass = body->inverseMass;
        impact.inverseInertia =
            body->shape == RB_EVENT_SHAPE_SPHERE && inverse.x == inverse.y && inverse.y == inverse.z
                ? rbSymFromDiagonal(inverse)
                : rbSym3_Rotate(rbSymFromDiagonal(inverse), rbMatFromQuat(state->orientation));
    }
    return impact;
}
