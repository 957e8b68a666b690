// Unknowns: x, y and their rates of the center of mass, the orientation, the spin in body axes. In
// the body frame, n is the upward normal, r the vector from the center of mass to the contact:
//     r = s(-n) - c,  n' = n x w,  r' = Ds (w x n)      with s the support point of the surface
// Contact, and its derivatives along the motion (v velocity of the center of mass):
//     z = -n.r,   n.v = -n.(w x r),   n.a + w'.(r x n) + n.(w x (r' + w x r)) = 0
// The force is N f with f = n - mu u / sqrt(u^2 + v_r^2), u = v + w x r, hence
//     a = -g n + N f / m,   w' = I^-1 (N r x f - w x I w)
//     N (1/m + (r x n).I^-1 (r x f)) = g + (r x n).I^-1 (w x I w) - n.(w x (r' + w x r))
// The bracket on the left is positive unless friction jams the contact.
#include "toy_oracle.h"

#include "base/math/matrix3.h"
#include "base/math/quaternion.h"
#include "lab/math/ode_integrate.h"

#include <rattleback/base.h>

#include <float.h>
#include <string.h>

#define STEP_FIRST 1e-6
#define STEP_COUNT_MAX 2000000000
#define CROSSING_SLICE 1e-3 // s; an axis must not pass a level twice within it
#define CROSSING_TIME 1e-9  // s

enum {
    X,
    Y,
    QW,
    QX,
    QY,
    QZ,
    VX,
    VY,
    WX,
    WY,
    WZ,
    UNKNOWN_COUNT
};

// The values needed by the rates, in body axes.
typedef struct rbToyContact {
    rbQuat q;
    rbVec3 n, r, v, w, u, f;
    rbVec3 gyro; // w x I w
    double normalForce;
    double bracket;
} rbToyContact;

typedef struct rbToyRun {
    const rbToy* toy;
    rbSym3 inverseInertia;
    double x[UNKNOWN_COUNT];
    double time;
    double step;
    double side; // z of the rim that touches, +-1
    double normalForceMin;
    int steps;
    rbToyEnd end;
} rbToyRun;

// Support point in the direction d and its derivative along e.
static void supportEllipsoid(const rbToyRun* run, rbVec3 d, rbVec3 e, rbVec3 support[2])
{
    const rbToy* toy = run->toy;
    rbVec3 squares = rbMulEach(toy->semiAxes, toy->semiAxes);
    rbVec3 ad = rbMulEach(squares, d);
    rbVec3 ae = rbMulEach(squares, e);
    double width = sqrt(rbDot(d, ad));
    support[0] = rbScale(1.0 / width, ad);
    support[1] = rbScale(1.0 / width, rbAddScaled(ae, -rbDot(d, ae) / (width * width), ad));
}

static void supportDisc(const rbToyRun* run, rbVec3 d, rbVec3 e, rbVec3 support[2])
{
    const rbToy* toy = run->toy;
    double width = sqrt(d.x * d.x + d.y * d.y);
    rbVec3 u = rbMakeVec3(d.x / width, d.y / width, 0.0);
    rbVec3 flat = rbMakeVec3(e.x, e.y, 0.0);
    support[0] = rbMakeVec3(toy->radius * u.x, toy->radius * u.y, 0.5 * run->side * toy->thickness);
    support[1] = rbScale(toy->radius / width, rbAddScaled(flat, -rbDot(flat, u), u));
}

typedef void rbSupportFn(const rbToyRun* run, rbVec3 d, rbVec3 e, rbVec3 support[2]);

static rbSupportFn* const supports[] = {
    [RB_TOY_ELLIPSOID] = supportEllipsoid,
    [RB_TOY_DISC] = supportDisc,
};
_Static_assert(sizeof supports / sizeof supports[0] == RB_TOY_SURFACE_COUNT, "a row is missing");

static rbToyContact computeContact(const rbToyRun* run, const double* x)
{
    const rbToy* toy = run->toy;
    rbToyContact c;
    c.q = rbNormalizeQuat((rbQuat){x[QW], x[QX], x[QY], x[QZ]});
    c.w = rbMakeVec3(x[WX], x[WY], x[WZ]);
    c.n = rbInvRotate(c.q, rbMakeVec3(0.0, 0.0, 1.0));
    rbVec3 support[2];
    supports[toy->surface](run, rbNeg(c.n), rbCross(c.w, c.n), support);
    c.r = rbSub(support[0], toy->center);
    rbVec3 wr = rbCross(c.w, c.r);
    c.v = rbInvRotate(c.q, rbMakeVec3(x[VX], x[VY], -rbDot(c.n, wr)));
    c.u = rbAdd(c.v, wr);
    double slip = sqrt(rbLengthSquared(c.u) + toy->slipScale * toy->slipScale);
    c.f = rbAddScaled(c.n, -toy->friction / slip, c.u);
    c.gyro = rbCross(c.w, rbMulSV(toy->inertia, c.w));
    rbVec3 rn = rbMulSV(run->inverseInertia, rbCross(c.r, c.n));
    c.bracket = 1.0 / toy->mass + rbDot(rn, rbCross(c.r, c.f));
    c.normalForce =
        (toy->gravity + rbDot(rn, c.gyro) - rbDot(c.n, rbCross(c.w, rbAdd(support[1], wr)))) /
        c.bracket;
    return c;
}

static void computeRates(double t, const double* x, double* rate, void* context)
{
    (void)t;
    const rbToyRun* run = context;
    rbToyContact c = computeContact(run, x);
    rbVec3 a = rbRotate(c.q, rbScale(c.normalForce / run->toy->mass, c.f));
    rbVec3 torque = rbSub(rbScale(c.normalForce, rbCross(c.r, c.f)), c.gyro);
    rbVec3 alpha = rbMulSV(run->inverseInertia, torque);
    rbQuat q = rbMulQuat(c.q, (rbQuat){0.0, 0.5 * c.w.x, 0.5 * c.w.y, 0.5 * c.w.z});
    const double rates[UNKNOWN_COUNT] = {x[VX], x[VY], q.w,     q.x,     q.y,    q.z,
                                         a.x,   a.y,   alpha.x, alpha.y, alpha.z};
    memcpy(rate, rates, sizeof rates);
}

// The body stands on its other rim, or on both.
static bool hasLeftRim(const rbToyRun* run, rbVec3 n)
{
    return run->toy->surface == RB_TOY_DISC && run->toy->thickness > 0.0 && -n.z * run->side <= 0.0;
}

// After each step: normalizes the quaternion and checks whether the model still holds.
static bool checkStep(double t, double* x, void* context)
{
    rbToyRun* run = context;
    rbQuat q = rbNormalizeQuat((rbQuat){x[QW], x[QX], x[QY], x[QZ]});
    x[QW] = q.w;
    x[QX] = q.x;
    x[QY] = q.y;
    x[QZ] = q.z;
    rbToyContact c = computeContact(run, x);
    run->normalForceMin = fmin(run->normalForceMin, c.normalForce);
    run->time = t;
    bool isPressed = c.normalForce >= 0.0 && c.bracket > 0.0; // false for NaN
    run->end = !isPressed ? RB_TOY_LIFTED : hasLeftRim(run, c.n) ? RB_TOY_TIPPED : RB_TOY_REACHED;
    return run->end == RB_TOY_REACHED;
}

static rbToyRun startRun(const rbToy* toy)
{
    RB_ASSERT(toy->surface < RB_TOY_SURFACE_COUNT);
    RB_ASSERT(toy->mass > 0.0 && toy->slipScale > 0.0 && toy->tolerance > 0.0);
    RB_ASSERT(rbIsUnitQuat(toy->orientation));
    rbToyRun run = {.toy = toy, .step = STEP_FIRST, .normalForceMin = DBL_MAX};
    bool isRegular = rbSym3_Invert(toy->inertia, &run.inverseInertia);
    RB_ASSERT(isRegular);
    (void)isRegular; // used only by the assertion
    rbQuat q = toy->orientation;
    rbVec3 w = rbInvRotate(q, toy->spin);
    const double x[UNKNOWN_COUNT] = {0.0, 0.0, q.w, q.x, q.y, q.z, toy->velocity.x, toy->velocity.y,
                                     w.x, w.y, w.z};
    memcpy(run.x, x, sizeof x);
    run.side = copysign(1.0, -rbInvRotate(q, rbMakeVec3(0.0, 0.0, 1.0)).z);
    checkStep(0.0, run.x, &run);
    return run;
}

// Advances to the time t; false when the model ends before.
static bool advance(rbToyRun* run, double t)
{
    if (run->end != RB_TOY_REACHED || t == run->time) {
        return run->end == RB_TOY_REACHED;
    }
    const rbToy* toy = run->toy;
    // Errors in the slip must be small compared with v_r; positions affect nothing else.
    double speed = 1e-5 * toy->slipScale;
    double spin = speed / 0.01;
    double angle = toy->tolerance;
    const double absolute[UNKNOWN_COUNT] = {angle, angle, angle, angle, angle, angle,
                                            speed, speed, spin,  spin,  spin};
    rbOdeOptions options = rbDefaultOdeOptions();
    options.relativeTolerance = toy->tolerance;
    options.componentTolerance = absolute;
    options.firstStep = run->step;
    options.maxSteps = STEP_COUNT_MAX;
    options.afterStep = checkStep;
    options.callbackContext = run;
    const rbOdeSystem system = {UNKNOWN_COUNT, computeRates, run};
    rbOdeResult result = rbOde_Integrate(&system, run->time, t, run->x, &options);
    run->step = fmax(result.nextStep, DBL_MIN);
    run->steps += result.steps + result.rejected;
    run->time = result.t;
    if (result.end == RB_ODE_TOO_SMALL || result.end == RB_ODE_TOO_MANY) {
        run->end = RB_TOY_FAILED;
    }
    return run->end == RB_TOY_REACHED;
}

static rbToyState describe(const rbToyRun* run)
{
    const rbToy* toy = run->toy;
    rbToyContact c = computeContact(run, run->x);
    rbToyState s = {.time = run->time, .orientation = c.q, .normalForce = c.normalForce};
    rbVec3 r = rbRotate(c.q, c.r);
    s.center = rbMakeVec3(run->x[X], run->x[Y], -r.z);
    s.position = rbSub(s.center, rbRotate(c.q, toy->center));
    s.contact = rbAdd(s.center, r);
    s.velocity = rbRotate(c.q, c.v);
    s.spin = rbRotate(c.q, c.w);
    s.slip = rbRotate(c.q, c.u);
    s.energy = 0.5 * toy->mass * rbLengthSquared(c.v) +
               0.5 * rbDot(c.w, rbMulSV(toy->inertia, c.w)) + toy->mass * toy->gravity * s.center.z;
    return s;
}

rbToyResult rbSimulateToy(const rbToy* toy, const double* times, int count, rbToyState* states)
{
    RB_ASSERT(count <= 0 || (times != NULL && states != NULL));
    rbToyRun run = startRun(toy);
    int written = 0;
    while (written < count) {
        RB_ASSERT(times[written] >= run.time);
        if (!advance(&run, times[written])) {
            break;
        }
        states[written] = describe(&run);
        written += 1;
    }
    return (rbToyResult){run.end, run.time, written, run.steps, run.normalForceMin};
}

// Vertical component of the axis minus the level.
static double excess(const rbToyRun* run, rbVec3 axis, double level)
{
    rbQuat q = {run->x[QW], run->x[QX], run->x[QY], run->x[QZ]};
    return rbRotate(q, axis).z - level;
}

double rbFindToyCrossing(const rbToy* toy, rbVec3 axis, double level, double until)
{
    RB_ASSERT(rbIsUnit(axis) && until > 0.0);
    rbToyRun run = startRun(toy);
    rbToyRun before = run;
    bool wasAbove = excess(&run, axis, level) > 0.0;
    bool isFound = false;
    while (!isFound && run.time < until) {
        before = run;
        if (!advance(&run, fmin(run.time + CROSSING_SLICE, until))) {
            return -1.0;
        }
        isFound = (excess(&run, axis, level) > 0.0) != wasAbove;
    }
    double low = before.time;
    double high = run.time;
    while (isFound && high - low > CROSSING_TIME) {
        double middle = 0.5 * (low + high);
        run = before;
        advance(&run, middle);
        bool isBefore = (excess(&run, axis, level) > 0.0) == wasAbove;
        low = isBefore ? middle : low;
        high = isBefore ? high : middle;
    }
    return isFound ? 0.5 * (low + high) : -1.0;
}
