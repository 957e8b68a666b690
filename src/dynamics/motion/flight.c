// Starting, evaluating and bounding flights; the table of motion rows.
//
// Translation under constant acceleration is closed form in every row; the rows differ in how they
// rotate the body. Rows with steps keep a node on their own grid of steps; an evaluation advances
// from the node in whole steps and one last partial step that is not stored, so the bits at a given
// time do not depend on which other times were evaluated.
#include "dynamics/motion/flight.h"

#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "base/math/ode.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A row of the table of motions.
typedef struct MotionRow {
    const char* name;
    bool allowsTorque; // constant torque
    bool allowsLoad;   // loads that depend on time or state
    int method;        // index of the ODE method of the same name, of rows that allow loads
} MotionRow;

static const MotionRow motionTable[RB_MOTION_COUNT] = {
    [RB_MOTION_AUTO] = {.name = "auto"},
    [RB_MOTION_EXACT] = {.name = "exact"},
    [RB_MOTION_TAYLOR] = {.name = "taylor", .allowsTorque = true},
    [RB_MOTION_RK4] = {.name = "rk4", .allowsTorque = true, .allowsLoad = true, .method = 1},
    [RB_MOTION_CASH_KARP] = {"cash-karp", .allowsTorque = true, .allowsLoad = true, .method = 2},
    [RB_MOTION_EULER] = {.name = "euler", .allowsTorque = true, .allowsLoad = true, .method = 0},
};
_Static_assert(sizeof motionTable / sizeof motionTable[0] == RB_MOTION_COUNT, "a row a motion");

RB_DEFINE_WORDS(rbMotionType, "motion", RB_MOTION_COUNT, motionTable[index].name)

// ------------------------------------------------------------------------------------------- steps
// The Newton-Euler equations as a first-order system, and its steps.
//
// Unknowns: q (4), w in principal axes (3), work (1), and with state-dependent loads also position
// (3) and velocity (3):
//   q' = q (0, w) / 2,   I w' = t - w x I w,   W' = power,   x' = v,   v' = a + F / m,
// t the torque in principal axes. A torque that is constant in the world is not constant there,
// which the printed recurrences of the original missed; here it is rotated at every stage.

// They are the numbers of rbMotionState, in its order.
#define ROTATION_UNKNOWNS 8
#define ALL_UNKNOWNS 14
_Static_assert(sizeof(rbMotionState) == ALL_UNKNOWNS * sizeof(double), "the unknowns");

// The unknowns of a body; position and velocity are left alone where they are not integrated.
static size_t sizeOfUnknowns(const rbMotionBody* body)
{
    return (body->load != NULL ? ALL_UNKNOWNS : ROTATION_UNKNOWNS) * sizeof(double);
}

// Torque in principal axes and power of the work, and the derivatives of position and velocity if
// they are integrated.
static rbVec3 applyLoads(const rbMotionBody* body, double t, const double* x, double* d)
{
    rbMotionState s = {0};
    memcpy(&s, x, sizeOfUnknowns(body));
    // Stages leave the unit sphere slightly; directions need a unit quaternion.
    s.orientation = rbNormalizeQuat(s.orientation);
    rbLoad load = {.torque = body->torque};
    if (body->load != NULL) {
        body->load(body, &s, t, &load);
        rbVec3 a = rbAddScaled(body->acceleration, 1.0 / body->mass, load.force);
        memcpy(d + ROTATION_UNKNOWNS, &s.velocity, sizeof s.velocity);
        memcpy(d + ROTATION_UNKNOWNS + 3, &a, sizeof a);
    }
    d[7] = load.power + rbDot(rbInvRotate(s.orientation, body->torque), s.spin);
    return rbInvRotate(s.orientation, load.torque);
}

static void derivative(double t, const double* x, double* d, void* context)
{
    const rbMotionBody* body = context;
    rbVec3 torque = RB_VEC3_ZERO;
    d[7] = 0.0;
    if (body->load != NULL || rbLengthSquared(body->torque) > 0.0) {
        torque = applyLoads(body, t, x, d);
    }
    rbVec3 spin = rbMakeVec3(x[4], x[5], x[6]);
    rbQuat q = {x[0], x[1], x[2], x[3]};
    rbQuat w = {0.0, spin.x, spin.y, spin.z};
    rbQuat qd = rbMulQuat(q, w);
    rbVec3 net = rbSub(torque, rbCross(spin, rbMulEach(body->moments, spin)));
    d[0] = 0.5 * qd.w;
    d[1] = 0.5 * qd.x;
    d[2] = 0.5 * qd.y;
    d[3] = 0.5 * qd.z;
    d[4] = net.x / body->moments.x;
    d[5] = net.y / body->moments.y;
    d[6] = net.z / body->moments.z;
}

static rbOdeSystem systemOf(const rbMotionBody* body)
{
    return (rbOdeSystem){body->load != NULL ? ALL_UNKNOWNS : ROTATION_UNKNOWNS, derivative,
                         (void*)body};
}

static void unpack(const rbMotionBody* body, const double* x, rbMotionState* state)
{
    memcpy(state, x, sizeOfUnknowns(body));
    state->orientation = rbNormalizeQuat(state->orientation);
}

#define TAYLOR_DEGREE_MAX 30

// a + f b
static rbQuat addQuats(rbQuat a, double f, rbQuat b)
{
    return (rbQuat){a.w + f * b.w, a.x + f * b.x, a.y + f * b.y, a.z + f * b.z};
}

// Taylor step of the rotation under a torque constant in the world.
// Taylor coefficients x_n = x^(n)/n! at the start of the step, with r(0) = 1, q = q0 r:
//   t_{n+1} = sum_k t_{n-k} x w_k / (n+1),  w_{n+1} = I^-1 (t_n - sum_k w_k x I w_{n-k}) / (n+1),
//   r_{n+1} = sum_k r_{n-k} (0, w_k) / (2 (n+1)),  W_{n+1} = sum_k t_{n-k} . w_k / (n+1).
static void stepTaylor(const rbMotionBody* body, double h, rbMotionState* state)
{
    int degree = body->settings.degree;
    RB_ASSERT(degree >= 1 && degree <= TAYLOR_DEGREE_MAX);
    rbVec3 t[TAYLOR_DEGREE_MAX + 1], w[TAYLOR_DEGREE_MAX + 1];
    rbVec3 l[TAYLOR_DEGREE_MAX + 1]; // I w
    rbQuat r[TAYLOR_DEGREE_MAX + 1];
    t[0] = rbInvRotate(state->orientation, body->torque);
    w[0] = state->spin;
    l[0] = rbMulEach(body->moments, w[0]);
    r[0] = RB_QUAT_IDENTITY;
    rbVec3 spin = w[0];
    rbQuat turn = r[0];
    double work = 0.0;
    double power = 1.0; // h^n
    for (int n = 0; n < degree; ++n) {
        rbVec3 tSum = RB_VEC3_ZERO;
        rbVec3 wSum = t[n];
        rbQuat rSum = {0.0, 0.0, 0.0, 0.0};
        double powerSum = 0.0;
        for (int k = 0; k <= n; ++k) {
            tSum = rbAdd(tSum, rbCross(t[n - k], w[k]));
            wSum = rbSub(wSum, rbCross(w[k], l[n - k]));
            rbQuat wk = {0.0, w[k].x, w[k].y, w[k].z};
            rSum = addQuats(rSum, 1.0, rbMulQuat(r[n - k], wk));
            powerSum += rbDot(t[n - k], w[k]);
        }
        double inverse = 1.0 / (n + 1);
        t[n + 1] = rbScale(inverse, tSum);
        w[n + 1] =
            rbMakeVec3(inverse * wSum.x / body->moments.x, inverse * wSum.y / body->moments.y,
                       inverse * wSum.z / body->moments.z);
        l[n + 1] = rbMulEach(body->moments, w[n + 1]);
        double half = 0.5 * inverse;
        r[n + 1] = (rbQuat){half * rSum.w, half * rSum.x, half * rSum.y, half * rSum.z};
        power *= h;
        spin = rbAddScaled(spin, power, w[n + 1]);
        turn = addQuats(turn, power, r[n + 1]);
        work += power * inverse * powerSum;
    }
    state->spin = spin;
    state->orientation = rbNormalizeQuat(rbMulQuat(state->orientation, turn));
    state->work += work;
}

// A step that cannot shrink further is accepted as it is and reported; the next one is tried
// larger, so that a singularity is passed quickly.
#define TINY_STEP 1e-13
#define STEP_GROWTH_MAX 5.0

// A quantity that has decayed below this fraction of its largest value is measured by that
// fraction: a body brought to rest by drag must not require ever smaller steps.
#define DECAY_FLOOR 1e-6

static double largest(double current, const double* values)
{
    for (int i = 0; i < 3; ++i) {
        current = fmax(current, fabs(values[i]));
    }
    return current;
}

// Largest error of a step in units of the tolerance. Groups share a scale, so that a component that
// passes through zero does not require tiny steps; lengths are measured from the start of the
// flight, so that the location of a scene in the world does not matter.
static double errorRatio(const rbMotionBody* body, const rbFlightNode* node,
                         const rbOdeStepResult* step, double h)
{
    const double* x = step->x;
    const double* d = step->error;
    double tolerance = body->settings.tolerance;
    double spinScale = fmax(largest(0.0, x + 4), DECAY_FLOOR * node->spinMax);
    double ratio = fmax(fabs(d[0]), largest(0.0, d + 1)) / tolerance;
    double spinError = largest(0.0, d + 4);
    ratio = spinError > 0.0 ? fmax(ratio, spinError / (tolerance * spinScale + DBL_MIN)) : ratio;
    if (body->load != NULL) {
        double speed = fmax(largest(0.0, x + 11), DECAY_FLOOR * node->speedMax);
        double way[3] = {x[8] - node->origin.x, x[9] - node->origin.y, x[10] - node->origin.z};
        double rounding = 4.0 * DBL_EPSILON * largest(0.0, x + 8);
        double lengthScale = tolerance * (largest(0.0, way) + h * speed) + rounding;
        double speedScale = tolerance * (speed + h * rbLength(body->acceleration));
        double lengthError = largest(0.0, d + 8), speedError = largest(0.0, d + 11);
        ratio = lengthError > 0.0 ? fmax(ratio, lengthError / (lengthScale + DBL_MIN)) : ratio;
        ratio = speedError > 0.0 ? fmax(ratio, speedError / (speedScale + DBL_MIN)) : ratio;
    }
    return ratio;
}

// Takes a step of size h if the error allows it, otherwise reduces the next one; true if it did.
static bool judgeStep(const rbMotionBody* body, rbFlightNode* node, double h,
                      const rbOdeStepResult* result, rbMotionCounts* counts)
{
    // NaN compares false with everything, so it needs a separate check.
    bool isFinite = true;
    for (int i = 0; i < systemOf(body).count; ++i) {
        isFinite = isFinite && isfinite(result->x[i]) && isfinite(result->error[i]);
    }
    double ratio = isFinite ? errorRatio(body, node, result, h) : DBL_MAX;
    bool isTiny = h <= TINY_STEP * (fabs(node->time) + body->settings.step);
    if (ratio > 1.0 && !isTiny) {
        double shrink = 0.9 * rbExp(-0.25 * rbLog(ratio));
        node->step = h * (shrink < 0.1 ? 0.1 : shrink);
        counts->rejected += 1;
        return false;
    }
    counts->accepted += 1;
    if (ratio > 1.0) {
        counts->isInaccurate = true;
        node->step = h * STEP_GROWTH_MAX;
    } else {
        double grow = ratio > 1e-4 ? 0.9 * rbExp(-0.2 * rbLog(ratio)) : STEP_GROWTH_MAX;
        node->step = h * (grow > STEP_GROWTH_MAX ? STEP_GROWTH_MAX : (grow < 0.2 ? 0.2 : grow));
    }
    if (isFinite) {
        unpack(body, result->x, &node->state);
        node->spinMax = largest(node->spinMax, result->x + 4);
        node->speedMax = body->load != NULL ? largest(node->speedMax, result->x + 11) : 0.0;
    }
    return true;
}

static rbFlightNode startNode(const rbFlight* flight, const rbMotionBody* body)
{
    rbFlightNode node = {.time = flight->startTime,
                         .step = body->settings.step,
                         .state = flight->start,
                         .origin = flight->start.position,
                         .spinMax = rbLength(flight->start.spin),
                         .speedMax = rbLength(flight->start.velocity)};
    if (flight->type == RB_MOTION_CASH_KARP && node.spinMax * node.step > 0.1) {
        node.step = 0.1 / node.spinMax;
    }
    return node;
}

// One step of size h; true if it covered the whole h. Position and velocity are integrated only
// when the body has a load.
static bool stepOnce(const rbFlight* flight, const rbMotionBody* body, double h, rbFlightNode* node,
                     rbMotionCounts* counts)
{
    rbPoll();
    if (flight->type == RB_MOTION_TAYLOR) {
        counts->accepted += 1;
        stepTaylor(body, h, &node->state);
        return true;
    }
    double x[RB_ODE_UNKNOWNS_MAX];
    rbOdeStepResult result;
    rbOdeSystem system = systemOf(body);
    memcpy(x, &node->state, sizeof node->state);
    const rbOdeMethod* method = rbGetOdeMethod(motionTable[flight->type].method);
    RB_VALIDATE(strcmp(method->name, rbMotionType_Name(flight->type)) == 0);
    rbOde_Step(method, &system, node->time, h, x, &result);
    if (flight->type == RB_MOTION_CASH_KARP) {
        return judgeStep(body, node, h, &result, counts);
    }
    counts->accepted += 1;
    unpack(body, result.x, &node->state);
    return true;
}

// Whole steps up to a time. The nodes of fixed steps follow from their index, so that the grid does
// not depend on its history.
static void advance(const rbFlight* flight, const rbMotionBody* body, double time,
                    rbFlightNode* node, rbMotionCounts* counts)
{
    bool isAdaptive = flight->type == RB_MOTION_CASH_KARP;
    for (;;) {
        double next = isAdaptive
                          ? node->time + node->step
                          : flight->startTime + (double)(node->index + 1) * body->settings.step;
        if (!(next <= time)) {
            return;
        }
        if (stepOnce(flight, body, isAdaptive ? node->step : next - node->time, node, counts)) {
            node->index += 1;
            node->time = next;
        }
    }
}

// ----------------------------------------------------------------------------------------- flights

// Closed-form translation from the start of the flight.
static void translate(const rbFlight* flight, const rbMotionBody* body, double time,
                      rbMotionState* state)
{
    double dt = time - flight->startTime;
    rbVec3 a = body->acceleration;
    const rbMotionState* s = &flight->start;
    state->position = rbAddScaled(s->position, dt, rbAddScaled(s->velocity, 0.5 * dt, a));
    state->velocity = rbAddScaled(s->velocity, dt, a);
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
    // the requested row, exact for AUTO, Cash-Karp where it cannot fly the body
    bool isAuto = body->settings.type == RB_MOTION_AUTO;
    flight->type = isAuto ? RB_MOTION_EXACT : body->settings.type;
    RB_ASSERT((unsigned)flight->type < RB_MOTION_COUNT);
    const MotionRow* row = &motionTable[flight->type];
    bool hasTorque = rbLengthSquared(body->torque) > 0.0;
    if ((hasTorque && !row->allowsTorque) || (body->load != NULL && !row->allowsLoad)) {
        flight->type = RB_MOTION_CASH_KARP;
    }
    flight->isFallback = !isAuto && body->settings.type != flight->type;
    if (flight->type == RB_MOTION_EXACT) {
        flight->row.top = rbFreeTop_Make(body->moments, state->orientation, state->spin);
    } else {
        flight->row.node = startNode(flight, body);
    }
}

void rbFlight_Evaluate(const rbFlight* flight, const rbMotionBody* body, double time,
                       rbMotionState* state, rbMotionCounts* counts)
{
    if (flight->type == RB_MOTION_EXACT) {
        *state = flight->start;
        if (time != flight->startTime) {
            translate(flight, body, time, state);
        }
        if (time != flight->turnTime) {
            rbFreeTop_Evaluate(&flight->row.top, time - flight->turnTime, &state->orientation,
                               &state->spin);
        }
        return;
    }
    const rbFlightNode* last = &flight->row.node;
    rbFlightNode node = time < last->time ? startNode(flight, body) : *last;
    advance(flight, body, time, &node, counts);
    while (node.time < time) { // steps that end exactly at the time
        double rest = time - node.time;
        bool isShort = flight->type == RB_MOTION_CASH_KARP && node.step < rest;
        double h = isShort ? node.step : rest;
        if (stepOnce(flight, body, h, &node, counts)) {
            node.time = h == rest ? time : node.time + h;
        }
    }
    *state = node.state;
    if (body->load == NULL) {
        translate(flight, body, time, state);
    }
}

void rbFlight_Commit(rbFlight* flight, const rbMotionBody* body, double time,
                     rbMotionCounts* counts)
{
    if (flight->type == RB_MOTION_EXACT) {
        return; // it has no node
    }
    rbFlightNode* node = &flight->row.node;
    advance(flight, body, time, node, counts);
    if (body->load == NULL) {
        translate(flight, body, node->time, &node->state);
    }
}

// Range of p + v t + a t^2/2 between two times.
static void rangeOfParabola(double p, double v, double a, const double times[2], double range[2])
{
    double atA = p + times[0] * (v + 0.5 * a * times[0]);
    double atB = p + times[1] * (v + 0.5 * a * times[1]);
    range[0] = fmin(atA, atB);
    range[1] = fmax(atA, atB);
    double apex = a != 0.0 ? -v / a : times[0];
    if (apex > times[0] && apex < times[1]) {
        double value = p - 0.5 * v * v / a;
        range[0] = fmin(range[0], value);
        range[1] = fmax(range[1], value);
    }
}

rbBounds rbBoundsOfParabola(rbVec3 p, rbVec3 v, rbVec3 a, const double times[2])
{
    double x[2], y[2], z[2];
    rangeOfParabola(p.x, v.x, a.x, times, x);
    rangeOfParabola(p.y, v.y, a.y, times, y);
    rangeOfParabola(p.z, v.z, a.z, times, z);
    return (rbBounds){{x[0], y[0], z[0]}, {x[1], y[1], z[1]}};
}

rbBounds rbFlight_GetBounds(const rbFlight* flight, const rbMotionBody* body, double timeA,
                            double timeB)
{
    RB_ASSERT(timeA <= timeB && timeA >= flight->startTime);
    RB_ASSERT(body->load == NULL);
    const rbMotionState* s = &flight->start;
    double times[2] = {timeA - flight->startTime, timeB - flight->startTime};
    rbBounds box = rbBoundsOfParabola(s->position, s->velocity, body->acceleration, times);
    rbVec3 change = rbAddScaled(rbAbs3(s->velocity), times[1], rbAbs3(body->acceleration));
    rbVec3 slack = rbScale(1e-15, rbAddScaled(rbAbs3(s->position), times[1], change));
    return (rbBounds){rbSub(box.lower, slack), rbAdd(box.upper, slack)};
}
