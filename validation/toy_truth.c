// Unknowns: the quaternion, the spin in world axes, the horizontal velocity of the center of mass.
// r points from the center of mass to the contact, n is up, u = v + w x r the slip, I the inertia
// in world axes. With r' = w x r + (the motion of the contact in the body), a force F gives
//     a = -g n + F / m,   w' = I^-1 (r x F - w x I w),   u' = a + w' x r + w x r' =: K F + b
//     K = 1/m - [r] I^-1 [r],   b = -g n - (I^-1 (w x I w)) x r + w x r'
// The contact stays: n.u' = 0. Rolling: u' = 0, hence F = -K^-1 b. Sliding: F = N (n - mu u/|u|),
// N = -(n.b) / (n.K (n - mu u/|u|)).
#include "toy_truth.h"

#include "wide.h"

#include <rattleback/base.h>

#define SPEED_ROLLING 1e-9 // m/s, below which a slip ends if rolling needs no more than friction
#define STEP_FIRST 1e-5
#define STEP_MAX 2e-3
#define BOUND 1e-15     // per step, of all unknowns
#define SAMPLE 5e-4     // s, of crossings
#define TIME_SAME 1e-14 // s

enum {
    QW,
    QX,
    QY,
    QZ,
    WX,
    WY,
    WZ,
    VX,
    VY,
    UNKNOWN_COUNT
};

typedef struct rbToyTruth {
    const rbToy* toy;
    bool isRolling;
} rbToyTruth;

typedef struct rbToyForces {
    rbWideTurn turn;
    rbWide3 r, v, w, u, force, alpha;
} rbToyForces;

static const rbWide3 upward = {0, 0, 1};

// The point of the surface farthest along d, and its rate when d changes by e; axes of the body.
static void findSupport(const rbToy* toy, rbWide3 d, rbWide3 e, rbWide3 result[2])
{
    if (toy->surface == RB_TOY_DISC) {
        RB_ASSERT(toy->thickness == 0.0);
        rbWide width = rbWide_Sqrt(d.x * d.x + d.y * d.y);
        rbWide3 flat = {d.x / width, d.y / width, 0};
        rbWide3 change = {e.x, e.y, 0};
        change = rbWide3_AddScaled(change, -rbWide3_Dot(change, flat), flat);
        result[0] = rbWide3_Scale(toy->radius, flat);
        result[1] = rbWide3_Scale(toy->radius / width, change);
        return;
    }
    // s = A d / sqrt(d.A d) with A the squares of the semi-axes
    rbWide a[3] = {toy->semiAxes.x, toy->semiAxes.y, toy->semiAxes.z};
    rbWide3 ad = {a[0] * a[0] * d.x, a[1] * a[1] * d.y, a[2] * a[2] * d.z};
    rbWide3 ae = {a[0] * a[0] * e.x, a[1] * a[1] * e.y, a[2] * a[2] * e.z};
    rbWide width = rbWide_Sqrt(rbWide3_Dot(d, ad));
    rbWide3 change = rbWide3_AddScaled(ae, -rbWide3_Dot(d, ae) / (width * width), ad);
    result[0] = rbWide3_Scale(1 / width, ad);
    result[1] = rbWide3_Scale(1 / width, change);
}

static rbWide3 applyInertia(const rbToy* toy, rbWide3 v)
{
    const rbSym3* i = &toy->inertia;
    return (rbWide3){i->xx * v.x + i->xy * v.y + i->xz * v.z,
                     i->xy * v.x + i->yy * v.y + i->yz * v.z,
                     i->xz * v.x + i->yz * v.y + i->zz * v.z};
}

// I^-1 applied to a vector, world axes.
static rbWide3 applyInverse(const rbToy* toy, const rbWideTurn* turn, rbWide3 v)
{
    const rbSym3* i = &toy->inertia;
    rbWide a[9] = {i->xx, i->xy, i->xz, i->xy, i->yy, i->yz, i->xz, i->yz, i->zz};
    rbWide3 local = rbWideTurn_Undo(turn, v);
    rbWide b[3] = {local.x, local.y, local.z};
    rbWide_Solve(a, b, 3, 3);
    return rbWideTurn_Apply(turn, (rbWide3){b[0], b[1], b[2]});
}

// K F
static rbWide3 respond(const rbToy* toy, const rbToyForces* f, rbWide3 force)
{
    rbWide3 alpha = applyInverse(toy, &f->turn, rbWide3_Cross(f->r, force));
    return rbWide3_AddScaled(rbWide3_Cross(alpha, f->r), 1 / (rbWide)toy->mass, force);
}

static rbWide3 findRollingForce(const rbToy* toy, const rbToyForces* f, rbWide3 b)
{
    rbWide k[9];
    rbWide x[3] = {-b.x, -b.y, -b.z};
    for (int j = 0; j < 3; ++j) {
        rbWide3 unit = {j == 0, j == 1, j == 2};
        rbWide3 column = respond(toy, f, unit);
        k[j] = column.x;
        k[3 + j] = column.y;
        k[6 + j] = column.z;
    }
    rbWide_Solve(k, x, 3, 3);
    return (rbWide3){x[0], x[1], x[2]};
}

static rbToyForces computeForces(const rbToy* toy, const rbWide* y, bool isRolling)
{
    rbToyForces f = {.turn = rbWideTurn_From(&y[QW]), .w = {y[WX], y[WY], y[WZ]}};
    rbWide3 down = rbWideTurn_Undo(&f.turn, rbWide3_Scale(-1, upward));
    rbWide3 local = rbWideTurn_Undo(&f.turn, f.w);
    rbWide3 support[2];
    // a fixed direction turns with minus the spin in the axes of the body
    findSupport(toy, down, rbWide3_Cross(down, local), support);
    f.r = rbWideTurn_Apply(&f.turn, rbWide3_Sub(support[0], rbWide3_From(toy->center)));
    rbWide3 turning = rbWide3_Cross(f.w, f.r);
    rbWide3 rate = rbWide3_Add(turning, rbWideTurn_Apply(&f.turn, support[1]));
    f.v = (rbWide3){y[VX], y[VY], -turning.z};
    f.u = rbWide3_Add(f.v, turning);
    f.u.z = 0;
    rbWide3 momentum = rbWideTurn_Apply(&f.turn, applyInertia(toy, local));
    rbWide3 free = applyInverse(toy, &f.turn, rbWide3_Cross(momentum, f.w)); // -I^-1 (w x I w)
    rbWide3 b = rbWide3_Add(rbWide3_Cross(free, f.r), rbWide3_Cross(f.w, rate));
    b.z -= toy->gravity;
    if (isRolling) {
        f.force = findRollingForce(toy, &f, b);
    } else {
        rbWide slip = rbWide3_Length(f.u);
        rbWide3 direction = rbWide3_AddScaled(upward, -toy->friction / slip, f.u);
        f.force = rbWide3_Scale(-b.z / respond(toy, &f, direction).z, direction);
    }
    f.alpha = rbWide3_Add(free, applyInverse(toy, &f.turn, rbWide3_Cross(f.r, f.force)));
    return f;
}

static void computeRates(const rbWide* y, rbWide* rate, const void* context)
{
    const rbToyTruth* truth = context;
    rbToyForces f = computeForces(truth->toy, y, truth->isRolling);
    rbWide_RateOfTurn(&y[QW], f.w, &rate[QW]);
    rate[WX] = f.alpha.x;
    rate[WY] = f.alpha.y;
    rate[WZ] = f.alpha.z;
    rate[VX] = f.force.x / truth->toy->mass;
    rate[VY] = f.force.y / truth->toy->mass;
}

static bool isInsideCone(const rbToy* toy, rbWide3 force)
{
    rbWide limit = toy->friction * force.z;
    return force.z > 0 && force.x * force.x + force.y * force.y <= limit * limit;
}

// After each step: slips end or begin. False when the body lifts off.
static bool switchMode(rbToyTruth* truth, rbWide* y)
{
    const rbToy* toy = truth->toy;
    rbToyForces rolling = computeForces(toy, y, true);
    if (truth->isRolling && !isInsideCone(toy, rolling.force)) {
        // the slip begins against the friction that was too small
        rbWide3 f = {rolling.force.x, rolling.force.y, 0};
        rbWide3 slip = rbWide3_Scale(-SPEED_ROLLING / rbWide3_Length(f), f);
        y[VX] += slip.x;
        y[VY] += slip.y;
        truth->isRolling = false;
    } else if (!truth->isRolling && rbWide3_Length(rolling.u) <= SPEED_ROLLING &&
               isInsideCone(toy, rolling.force)) {
        y[VX] -= rolling.u.x;
        y[VY] -= rolling.u.y;
        truth->isRolling = true;
    }
    return rolling.force.z > 0 || computeForces(toy, y, truth->isRolling).force.z > 0;
}

static rbToyMoment describe(const rbToyTruth* truth, const rbWideOde* ode)
{
    rbWideTurn turn = rbWideTurn_From(&ode->y[QW]);
    return (rbToyMoment){.time = (double)ode->time,
                         .up = rbWide3_Round(rbWideTurn_Undo(&turn, upward)),
                         .spin = (double)ode->y[WZ],
                         .isRolling = truth->isRolling};
}

static rbWideOde startOde(const rbToyTruth* truth)
{
    const rbToy* toy = truth->toy;
    return (rbWideOde){.rate = computeRates,
                       .context = truth,
                       .size = UNKNOWN_COUNT,
                       .y = {toy->orientation.w, toy->orientation.x, toy->orientation.y,
                             toy->orientation.z, toy->spin.x, toy->spin.y, toy->spin.z,
                             toy->velocity.x, toy->velocity.y},
                       .step = STEP_FIRST,
                       .stepMax = STEP_MAX,
                       .bound = BOUND};
}

// False when the body lifts off before.
static bool advanceTo(rbToyTruth* truth, rbWideOde* ode, double time)
{
    double rest = time - (double)ode->time;
    while (rest > TIME_SAME) {
        (void)rbWideOde_Step(ode, rest);
        if (!switchMode(truth, ode->y)) {
            return false;
        }
        rest = time - (double)ode->time;
    }
    return true;
}

int rbComputeToyTruth(const rbToy* toy, double step, int count, rbToyMoment* moments)
{
    rbToyTruth truth = {.toy = toy};
    rbWideOde ode = startOde(&truth);
    for (int i = 0; i < count; ++i) {
        if (!advanceTo(&truth, &ode, i * step)) {
            return i;
        }
        moments[i] = describe(&truth, &ode);
    }
    return count;
}

// Where the cubic through f[0..3] at 0..3 passes zero between 1 and 2.
static double findRoot(const double f[4])
{
    double low = 1.0;
    double high = 2.0;
    for (int k = 0; k < 60; ++k) {
        double x = 0.5 * (low + high);
        double value = -f[0] * (x - 1.0) * (x - 2.0) * (x - 3.0) / 6.0 +
                       f[1] * x * (x - 2.0) * (x - 3.0) / 2.0 -
                       f[2] * x * (x - 1.0) * (x - 3.0) / 2.0 +
                       f[3] * x * (x - 1.0) * (x - 2.0) / 6.0;
        bool isBefore = value * f[1] > 0.0;
        low = isBefore ? x : low;
        high = isBefore ? high : x;
    }
    return 0.5 * (low + high);
}

double rbFindToyTruth(const rbToy* toy, rbVec3 axis, double level, double until)
{
    bool isSpin = rbLengthSquared(axis) == 0.0;
    rbToyTruth truth = {.toy = toy};
    rbWideOde ode = startOde(&truth);
    double f[4] = {0}; // the last four values
    for (int i = 0; (i - 2) * SAMPLE < until; ++i) {
        if (!advanceTo(&truth, &ode, i * SAMPLE)) {
            return -1.0;
        }
        rbToyMoment moment = describe(&truth, &ode);
        for (int k = 0; k < 3; ++k) {
            f[k] = f[k + 1];
        }
        f[3] = (isSpin ? moment.spin : rbDot(moment.up, axis)) - level;
        if (i >= 3 && f[1] * f[2] <= 0.0) {
            return SAMPLE * (i - 3 + findRoot(f));
        }
    }
    return -1.0;
}

double rbFindToyPitch(const rbToy* toy, rbVec3 axis, double until)
{
    rbToyTruth truth = {.toy = toy};
    rbWideOde ode = startOde(&truth);
    double most = 0.0;
    double time = -1.0;
    for (int i = 0; i * SAMPLE <= until; ++i) {
        if (!advanceTo(&truth, &ode, i * SAMPLE)) {
            return -1.0;
        }
        double pitch = fabs(rbDot(describe(&truth, &ode).up, axis));
        time = pitch > most ? i * SAMPLE : time;
        most = fmax(pitch, most);
    }
    return time;
}
