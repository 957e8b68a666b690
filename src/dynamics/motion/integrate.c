// The Newton-Euler equations as a first-order system, and its steps.
//
// Unknowns: q (4), w in principal axes (3), work (1), and with state-dependent loads also position
// (3) and velocity (3):
//   q' = q (0, w) / 2,   I w' = t - w x I w,   W' = power,   x' = v,   v' = a + F / m,
// t the torque in principal axes. A torque that is constant in the world is not constant there,
// which the printed recurrences of the original missed; here it is rotated at every stage.
#include "dynamics/motion/integrate.h"

#include "base/math/elementary.h"
#include "base/math/ode.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ROTATION_UNKNOWNS 8
#define ALL_UNKNOWNS 14

static void pack(const rbMotionState* s, double* x)
{
    x[0] = s->orientation.w;
    x[1] = s->orientation.x;
    x[2] = s->orientation.y;
    x[3] = s->orientation.z;
    x[4] = s->spin.x;
    x[5] = s->spin.y;
    x[6] = s->spin.z;
    x[7] = s->work;
    x[8] = s->position.x;
    x[9] = s->position.y;
    x[10] = s->position.z;
    x[11] = s->velocity.x;
    x[12] = s->velocity.y;
    x[13] = s->velocity.z;
}

static void unpackRotation(const double* x, rbMotionState* s)
{
    s->orientation = (rbQuat){x[0], x[1], x[2], x[3]};
    s->spin = rbMakeVec3(x[4], x[5], x[6]);
    s->work = x[7];
}

static void unpackTranslation(const double* x, rbMotionState* s)
{
    s->position = rbMakeVec3(x[8], x[9], x[10]);
    s->velocity = rbMakeVec3(x[11], x[12], x[13]);
}

// Torque in principal axes and power of the work, and the derivatives of position and velocity if
// they are integrated.
static rbVec3 applyLoads(const rbMotionBody* body, double t, const double* x, double* d)
{
    rbMotionState s = {0};
    unpackRotation(x, &s);
    // Stages leave the unit sphere slightly; directions need a unit quaternion.
    s.orientation = rbNormalizeQuat(s.orientation);
    rbLoad load = {.torque = body->torque};
    if (body->load != NULL) {
        unpackTranslation(x, &s);
        body->load(body, &s, t, &load);
        rbVec3 a = rbAddScaled(body->acceleration, 1.0 / body->mass, load.force);
        d[8] = s.velocity.x;
        d[9] = s.velocity.y;
        d[10] = s.velocity.z;
        d[11] = a.x;
        d[12] = a.y;
        d[13] = a.z;
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

// The ODE method of a row; the tables share their names.
static const rbOdeMethod* methodOf(rbMotionType type)
{
    static const int8_t indices[RB_MOTION_COUNT] = {
        [RB_MOTION_EULER] = 0, [RB_MOTION_RK4] = 1, [RB_MOTION_CASH_KARP] = 2};
    const rbOdeMethod* method = rbGetOdeMethod(indices[type]);
    RB_VALIDATE(strcmp(method->name, rbMotionType_Name(type)) == 0);
    return method;
}

static void unpack(const rbMotionBody* body, const double* x, rbMotionState* state)
{
    unpackRotation(x, state);
    state->orientation = rbNormalizeQuat(state->orientation);
    if (body->load != NULL) {
        unpackTranslation(x, state);
    }
}

void rbIntegrate_Step(rbMotionType type, const rbMotionBody* body, double time, double h,
                      rbMotionState* state)
{
    if (type == RB_MOTION_TAYLOR) {
        rbIntegrate_Taylor(body, h, state);
        return;
    }
    double x[RB_ODE_UNKNOWNS_MAX];
    rbOdeStepResult result;
    rbOdeSystem system = systemOf(body);
    pack(state, x);
    rbOde_Step(methodOf(type), &system, time, h, x, &result);
    unpack(body, result.x, state);
}

// Taylor coefficients x_n = x^(n)/n! at the start of the step, with r(0) = 1, q = q0 r:
//   t_{n+1} = sum_k t_{n-k} x w_k / (n+1),  w_{n+1} = I^-1 (t_n - sum_k w_k x I w_{n-k}) / (n+1),
//   r_{n+1} = sum_k r_{n-k} (0, w_k) / (2 (n+1)),  W_{n+1} = sum_k t_{n-k} . w_k / (n+1).
void rbIntegrate_Taylor(const rbMotionBody* body, double h, rbMotionState* state)
{
    int degree = body->settings.degree;
    RB_ASSERT(degree >= 1 && degree <= RB_TAYLOR_DEGREE_MAX);
    rbVec3 t[RB_TAYLOR_DEGREE_MAX + 1];
    rbVec3 w[RB_TAYLOR_DEGREE_MAX + 1];
    rbVec3 l[RB_TAYLOR_DEGREE_MAX + 1]; // I w
    rbQuat r[RB_TAYLOR_DEGREE_MAX + 1];
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
            rbQuat product = rbMulQuat(r[n - k], wk);
            rSum.w += product.w;
            rSum.x += product.x;
            rSum.y += product.y;
            rSum.z += product.z;
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
        turn.w += power * r[n + 1].w;
        turn.x += power * r[n + 1].x;
        turn.y += power * r[n + 1].y;
        turn.z += power * r[n + 1].z;
        work += power * inverse * powerSum;
    }
    state->spin = spin;
    state->orientation = rbNormalizeQuat(rbMulQuat(state->orientation, turn));
    state->work += work;
}

double rbIntegrate_FirstStep(const rbMotionBody* body, const rbMotionState* state)
{
    double speed = rbLength(state->spin);
    double step = body->settings.step;
    return speed * step > 0.1 ? 0.1 / speed : step;
}

// A step that cannot shrink further is accepted as it is and reported; the next one is tried
// larger, so that a singularity is passed quickly.
#define TINY_STEP 1e-13
#define STEP_GROWTH_MAX 5.0

static bool areFinite(const double* values, int count)
{
    for (int i = 0; i < count; ++i) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

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
    double turn = fmax(fabs(d[0]), largest(0.0, d + 1));
    double spinScale = fmax(largest(0.0, x + 4), DECAY_FLOOR * node->spinMax);
    double ratio = turn / tolerance;
    double spinError = largest(0.0, d + 4);
    if (spinError > 0.0) {
        ratio = fmax(ratio, spinError / (tolerance * spinScale + DBL_MIN));
    }
    if (body->load != NULL) {
        double speed = fmax(largest(0.0, x + 11), DECAY_FLOOR * node->speedMax);
        double way[3] = {x[8] - node->origin.x, x[9] - node->origin.y, x[10] - node->origin.z};
        double rounding = 4.0 * DBL_EPSILON * largest(0.0, x + 8);
        double lengthScale = tolerance * (largest(0.0, way) + h * speed) + rounding;
        double speedScale = tolerance * (speed + h * rbLength(body->acceleration));
        double lengthError = largest(0.0, d + 8);
        double speedError = largest(0.0, d + 11);
        ratio = lengthError > 0.0 ? fmax(ratio, lengthError / (lengthScale + DBL_MIN)) : ratio;
        ratio = speedError > 0.0 ? fmax(ratio, speedError / (speedScale + DBL_MIN)) : ratio;
    }
    return ratio;
}

// A step of size at most h, reduced until the error allows it; true if it covered the whole h.
static bool tryStep(const rbMotionBody* body, rbFlightNode* node, double h, rbMotionCounts* counts)
{
    double x[RB_ODE_UNKNOWNS_MAX];
    rbOdeStepResult result;
    rbOdeSystem system = systemOf(body);
    const rbOdeMethod* method = methodOf(RB_MOTION_CASH_KARP);
    pack(&node->state, x);
    rbOde_Step(method, &system, node->time, h, x, &result);
    // NaN compares false with everything, so it needs a separate check.
    bool isFinite = areFinite(result.x, system.count) && areFinite(result.error, system.count);
    double ratio = isFinite ? errorRatio(body, node, &result, h) : DBL_MAX;
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
        unpack(body, result.x, &node->state);
        node->spinMax = largest(node->spinMax, result.x + 4);
        node->speedMax = body->load != NULL ? largest(node->speedMax, result.x + 11) : 0.0;
    }
    return true;
}

bool rbIntegrate_Adaptive(const rbMotionBody* body, rbFlightNode* node, double time,
                          rbMotionCounts* counts)
{
    while (node->time + node->step <= time) {
        double h = node->step;
        if (tryStep(body, node, h, counts)) {
            node->time += h;
            node->index += 1;
            return true;
        }
    }
    return false;
}

void rbIntegrate_AdaptiveTo(const rbMotionBody* body, rbFlightNode* node, double time,
                            rbMotionCounts* counts)
{
    while (node->time < time) {
        double rest = time - node->time;
        double h = node->step < rest ? node->step : rest;
        if (tryStep(body, node, h, counts)) {
            node->time = h == rest ? time : node->time + h;
        }
    }
}
