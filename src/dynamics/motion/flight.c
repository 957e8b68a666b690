// Starting, evaluating and bounding flights; the table of motion rows.
//
// Translation under constant acceleration is closed form in every row; the rows differ in how they
// rotate the body. Rows with steps keep a node on their own grid of steps; an evaluation advances
// from the node in whole steps and one last partial step that is not stored, so the bits at a given
// time do not depend on which other times were evaluated.
#include "dynamics/motion/flight.h"

#include "dynamics/motion/integrate.h"

#include <math.h>
#include <string.h>

// Closed-form translation from the start of the flight.
static void translate(const rbFlight* flight, const rbMotionBody* body, double time,
                      rbMotionState* state)
{
    double dt = time - flight->startTime;
    rbVec3 a = body->acceleration;
    const rbMotionState* s = &flight->start;
    rbVec3 mean = rbAddScaled(s->velocity, 0.5 * dt, a);
    state->position = rbAddScaled(s->position, dt, mean);
    state->velocity = rbAddScaled(s->velocity, dt, a);
}

static void startExact(rbFlight* flight, const rbMotionBody* body)
{
    flight->row.top = rbFreeTop_Make(body->moments, flight->start.orientation, flight->start.spin);
}

static void evaluateExact(const rbFlight* flight, const rbMotionBody* body, double time,
                          rbMotionState* state, rbMotionCounts* counts)
{
    (void)counts;
    *state = flight->start;
    if (time != flight->startTime) {
        translate(flight, body, time, state);
    }
    if (time != flight->turnTime) {
        rbFreeTop_Evaluate(&flight->row.top, time - flight->turnTime, &state->orientation,
                           &state->spin);
    }
}

static void startSteps(rbFlight* flight, const rbMotionBody* body)
{
    rbFlightNode* node = &flight->row.node;
    node->time = flight->startTime;
    node->step = body->settings.step;
    node->index = 0;
    node->state = flight->start;
    node->origin = flight->start.position;
    node->spinMax = rbLength(flight->start.spin);
    node->speedMax = rbLength(flight->start.velocity);
}

// Time of a node of the fixed grid, from its index, so that the grid does not depend on its
// history.
static double gridTime(const rbFlight* flight, const rbMotionBody* body, int64_t index)
{
    return flight->startTime + (double)index * body->settings.step;
}

static void finishState(const rbFlight* flight, const rbMotionBody* body, double time,
                        rbMotionState* state)
{
    if (body->load == NULL) {
        translate(flight, body, time, state);
    }
}

static void advanceFixed(const rbFlight* flight, const rbMotionBody* body, double time,
                         rbFlightNode* node, rbMotionCounts* counts)
{
    double next = gridTime(flight, body, node->index + 1);
    while (next <= time) {
        rbIntegrate_Step(flight->type, body, node->time, next - node->time, &node->state);
        node->index += 1;
        node->time = next;
        counts->accepted += 1;
        next = gridTime(flight, body, node->index + 1);
    }
}

static void evaluateFixed(const rbFlight* flight, const rbMotionBody* body, double time,
                          rbMotionState* state, rbMotionCounts* counts)
{
    rbFlightNode node = flight->row.node;
    if (time < node.time) {
        rbFlight copy = *flight;
        startSteps(&copy, body);
        node = copy.row.node;
    }
    advanceFixed(flight, body, time, &node, counts);
    if (time > node.time) {
        rbIntegrate_Step(flight->type, body, node.time, time - node.time, &node.state);
        counts->accepted += 1;
    }
    *state = node.state;
    finishState(flight, body, time, state);
}

static void commitFixed(rbFlight* flight, const rbMotionBody* body, double time,
                        rbMotionCounts* counts)
{
    advanceFixed(flight, body, time, &flight->row.node, counts);
    finishState(flight, body, flight->row.node.time, &flight->row.node.state);
}

static void startAdaptive(rbFlight* flight, const rbMotionBody* body)
{
    startSteps(flight, body);
    flight->row.node.step = rbIntegrate_FirstStep(body, &flight->start);
}

static void evaluateAdaptive(const rbFlight* flight, const rbMotionBody* body, double time,
                             rbMotionState* state, rbMotionCounts* counts)
{
    rbFlightNode node = flight->row.node;
    if (time < node.time) {
        rbFlight copy = *flight;
        startAdaptive(&copy, body);
        node = copy.row.node;
    }
    while (rbIntegrate_Adaptive(body, &node, time, counts)) {
    }
    rbIntegrate_AdaptiveTo(body, &node, time, counts);
    *state = node.state;
    finishState(flight, body, time, state);
}

static void commitAdaptive(rbFlight* flight, const rbMotionBody* body, double time,
                           rbMotionCounts* counts)
{
    while (rbIntegrate_Adaptive(body, &flight->row.node, time, counts)) {
    }
    finishState(flight, body, flight->row.node.time, &flight->row.node.state);
}

static const rbMotionOps motionTable[RB_MOTION_COUNT] = {
    [RB_MOTION_AUTO] = {.name = "auto"},
    [RB_MOTION_EXACT] = {.name = "exact",
                         .order = 0,
                         .start = startExact,
                         .evaluate = evaluateExact},
    [RB_MOTION_TAYLOR] = {.name = "taylor",
                          .order = -1, // the degree
                          .allowsTorque = true,
                          .start = startSteps,
                          .evaluate = evaluateFixed,
                          .commit = commitFixed},
    [RB_MOTION_RK4] = {.name = "rk4",
                       .order = 4,
                       .allowsTorque = true,
                       .allowsLoad = true,
                       .start = startSteps,
                       .evaluate = evaluateFixed,
                       .commit = commitFixed},
    [RB_MOTION_CASH_KARP] = {.name = "cash-karp",
                             .order = 5,
                             .allowsTorque = true,
                             .allowsLoad = true,
                             .start = startAdaptive,
                             .evaluate = evaluateAdaptive,
                             .commit = commitAdaptive},
    [RB_MOTION_EULER] = {.name = "euler",
                         .order = 1,
                         .allowsTorque = true,
                         .allowsLoad = true,
                         .start = startSteps,
                         .evaluate = evaluateFixed,
                         .commit = commitFixed},
};
_Static_assert(sizeof motionTable / sizeof motionTable[0] == RB_MOTION_COUNT, "a row a motion");

const rbMotionOps* rbMotionOps_Get(rbMotionType type)
{
    RB_ASSERT((unsigned)type < RB_MOTION_COUNT);
    return &motionTable[type];
}

RB_DEFINE_WORDS(rbMotionType, "motion", RB_MOTION_COUNT, motionTable[index].name)

// The row that can fly the body: the requested one, exact for AUTO, Cash-Karp where neither can.
static rbMotionType chooseRow(const rbMotionBody* body)
{
    rbMotionType wanted =
        body->settings.type == RB_MOTION_AUTO ? RB_MOTION_EXACT : body->settings.type;
    const rbMotionOps* ops = rbMotionOps_Get(wanted);
    bool hasTorque = rbLengthSquared(body->torque) > 0.0;
    bool isAllowed = (ops->allowsTorque || !hasTorque) && (ops->allowsLoad || body->load == NULL);
    return isAllowed ? wanted : RB_MOTION_CASH_KARP;
}

void rbFlight_Start(rbFlight* flight, const rbMotionBody* body, double time,
                    const rbMotionState* state)
{
    RB_ASSERT(body->mass > 0.0 && isfinite(time));
    RB_ASSERT(rbIsFinite3(state->position) && rbIsFinite3(state->velocity));
    memset(flight, 0, sizeof *flight);
    flight->startTime = time;
    flight->turnTime = time;
    flight->start = *state;
    flight->type = chooseRow(body);
    flight->isFallback =
        body->settings.type != RB_MOTION_AUTO && body->settings.type != flight->type;
    rbMotionOps_Get(flight->type)->start(flight, body);
}

void rbFlight_Redirect(rbFlight* flight, double time, rbVec3 position, rbVec3 velocity)
{
    RB_ASSERT(flight->type == RB_MOTION_EXACT);
    RB_ASSERT(rbIsFinite3(position) && rbIsFinite3(velocity));
    flight->startTime = time;
    flight->start.position = position;
    flight->start.velocity = velocity;
}

void rbFlight_Evaluate(const rbFlight* flight, const rbMotionBody* body, double time,
                       rbMotionState* state, rbMotionCounts* counts)
{
    rbMotionOps_Get(flight->type)->evaluate(flight, body, time, state, counts);
}

void rbFlight_Commit(rbFlight* flight, const rbMotionBody* body, double time,
                     rbMotionCounts* counts)
{
    const rbMotionOps* ops = rbMotionOps_Get(flight->type);
    if (ops->commit != NULL) {
        ops->commit(flight, body, time, counts);
    }
}

// Range of p + v t + a t^2/2 over [t0, t1], rounded outward.
static void rangeOfParabola(const double coefficients[3], const double times[2], double* low,
                            double* high)
{
    double p = coefficients[0];
    double v = coefficients[1];
    double a = coefficients[2];
    double atA = p + times[0] * (v + 0.5 * a * times[0]);
    double atB = p + times[1] * (v + 0.5 * a * times[1]);
    *low = fmin(atA, atB);
    *high = fmax(atA, atB);
    double apex = a != 0.0 ? -v / a : times[0];
    if (apex > times[0] && apex < times[1]) {
        double value = p - 0.5 * v * v / a;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
    double slack = 1e-15 * (fabs(p) + times[1] * (fabs(v) + fabs(a) * times[1]));
    *low -= slack;
    *high += slack;
}

rbBounds rbFlight_GetBounds(const rbFlight* flight, const rbMotionBody* body, double timeA,
                            double timeB)
{
    RB_ASSERT(timeA <= timeB && timeA >= flight->startTime);
    RB_ASSERT(body->load == NULL);
    const rbMotionState* s = &flight->start;
    double times[2] = {timeA - flight->startTime, timeB - flight->startTime};
    double x[3] = {s->position.x, s->velocity.x, body->acceleration.x};
    double y[3] = {s->position.y, s->velocity.y, body->acceleration.y};
    double z[3] = {s->position.z, s->velocity.z, body->acceleration.z};
    rbBounds bounds;
    rangeOfParabola(x, times, &bounds.lower.x, &bounds.upper.x);
    rangeOfParabola(y, times, &bounds.lower.y, &bounds.upper.y);
    rangeOfParabola(z, times, &bounds.lower.z, &bounds.upper.z);
    return bounds;
}
