#include "verify/flight.h"

#include <string.h>

#define SHORT_ANGLE 0.02 // rad, up to which a step of its own is cheaper than a series to evaluate
#define STEP_ANGLE 0.5   // rad, turned in one step of the series
#define STEPS_MAX 20000  // between two looks at a flight: a hostile file may ask for more
#define SERIES_END 1e-21 // terms below this part of the sum end the series

// M' = M x w + T, T' = T x w, q' = q w / 2 with w = J M, all in the axes of the body: the
// coefficients of the series follow from each other by products of series.
typedef struct Series {
    rbVDd m[RB_V_ORDER_MAX + 1][3];
    rbVDd t[RB_V_ORDER_MAX + 1][3];
    rbVDd w[RB_V_ORDER_MAX + 1][3];
    rbVDd q[RB_V_ORDER_MAX + 1][4];
} Series;

static void applyInverse(const rbVSym* j, const rbVDd m[3], rbVDd w[3])
{
    const double rows[3][3] = {{j->xx, j->xy, j->xz}, {j->xy, j->yy, j->yz}, {j->xz, j->yz, j->zz}};
    for (int i = 0; i < 3; ++i) {
        w[i] = ddMul(ddOf(rows[i][0]), m[0]);
        w[i] = ddAdd(w[i], ddMul(ddOf(rows[i][1]), m[1]));
        w[i] = ddAdd(w[i], ddMul(ddOf(rows[i][2]), m[2]));
    }
}

// Adds the k-th coefficient of a x b.
static void addCross(rbVDd sum[3], const rbVDd a[3], const rbVDd b[3])
{
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        sum[i] = ddAdd(sum[i], ddSub(ddMul(a[j], b[k]), ddMul(a[k], b[j])));
    }
}

// Adds q w, w a pure quaternion.
static void addTurn(rbVDd sum[4], const rbVDd q[4], const rbVDd w[3])
{
    rbVDd s = ddAdd(ddAdd(ddMul(q[1], w[0]), ddMul(q[2], w[1])), ddMul(q[3], w[2]));
    sum[0] = ddSub(sum[0], s);
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        rbVDd part = ddSub(ddMul(q[1 + j], w[k]), ddMul(q[1 + k], w[j]));
        sum[1 + i] = ddAdd(sum[1 + i], ddAdd(ddMul(q[0], w[i]), part));
    }
}

static void extend(Series* s, const rbVBody* body, int n, bool hasTorque)
{
    rbVDd m[3] = {{0}};
    rbVDd t[3] = {{0}};
    rbVDd q[4] = {{0}};
    for (int i = 0; i <= n; ++i) {
        addCross(m, s->m[i], s->w[n - i]);
        addTurn(q, s->q[i], s->w[n - i]);
        if (hasTorque) {
            addCross(t, s->t[i], s->w[n - i]);
        }
    }
    rbVDd by = ddOf(n + 1.0);
    rbVDd by2 = ddOf(2.0 * (n + 1.0));
    for (int i = 0; i < 3; ++i) {
        s->m[n + 1][i] = ddDiv(ddAdd(m[i], s->t[n][i]), by);
        s->t[n + 1][i] = ddDiv(t[i], by);
    }
    for (int i = 0; i < 4; ++i) {
        s->q[n + 1][i] = ddDiv(q[i], by2);
    }
    applyInverse(&body->inverse, s->m[n + 1], s->w[n + 1]);
}

static double sizeOf(const rbVDd* a, int count)
{
    double largest = 0.0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(a[i].hi));
    }
    return largest;
}

static rbVDd sumSeries(const rbVDd* first, size_t stride, int order, rbVDd h)
{
    rbVDd sum = first[(size_t)order * stride];
    for (int n = order - 1; n >= 0; --n) {
        sum = ddAdd(ddMul(sum, h), first[(size_t)n * stride]);
    }
    return sum;
}

// One step of the rotation; isKept: its start stays, and the series is for nodes within it.
static void stepRotation(rbVFlight* f, const rbVBody* body, rbVDd h, bool isKept)
{
    Series s;
    rbVTurn* end = isKept ? &f->next : &f->turn;
    bool hasTorque = sizeOf(f->turn.t, 3) != 0.0;
    memcpy(s.m[0], f->turn.m, sizeof s.m[0]);
    memcpy(s.t[0], f->turn.t, sizeof s.t[0]);
    memcpy(s.q[0], f->turn.q, sizeof s.q[0]);
    applyInverse(&body->inverse, s.m[0], s.w[0]);
    double size = fmax(sizeOf(s.m[0], 3), h.hi * sizeOf(s.t[0], 3));
    double power = 1.0;
    int order = 0;
    int small = 0;
    while (order < RB_V_ORDER_MAX && small < 3) {
        extend(&s, body, order, hasTorque);
        order += 1;
        power *= h.hi;
        bool isSmall = sizeOf(s.q[order], 4) * power <= SERIES_END &&
                       sizeOf(s.m[order], 3) * power <= SERIES_END * size;
        small = isSmall ? small + 1 : 0;
    }
    for (int i = 0; i < 4; ++i) {
        end->q[i] = sumSeries(&s.q[0][i], 4, order, h);
    }
    for (int i = 0; i < 3; ++i) {
        end->m[i] = sumSeries(&s.m[0][i], 3, order, h);
        end->t[i] = sumSeries(&s.t[0][i], 3, order, h);
    }
    f->seriesOrder = order;
    for (int n = 0; n <= order && isKept; ++n) {
        for (int i = 0; i < 7; ++i) {
            f->series[n][i] = ddValue(i < 4 ? s.q[n][i] : s.m[n][i - 4]);
        }
    }
}

static void ddSet3(rbVDd a[3], rbV3 v)
{
    a[0] = ddOf(v.x);
    a[1] = ddOf(v.y);
    a[2] = ddOf(v.z);
}

static rbV3 ddValue3(const rbVDd a[3])
{
    return make3(ddValue(a[0]), ddValue(a[1]), ddValue(a[2]));
}

static void setTurn(rbVFlight* f, rbV4 q, rbV3 m)
{
    f->turn.q[0] = ddOf(q.w);
    f->turn.q[1] = ddOf(q.x);
    f->turn.q[2] = ddOf(q.y);
    f->turn.q[3] = ddOf(q.z);
    ddSet3(f->turn.m, m);
}

static rbV4 turnOf(const rbVFlight* f)
{
    const rbVDd* q = f->turn.q;
    return (rbV4){ddValue(q[0]), ddValue(q[1]), ddValue(q[2]), ddValue(q[3])};
}

void rbVFlight_Begin(rbVFlight* f, const rbVBody* body, double time, const rbVState* state,
                     bool isHeld)
{
    f->time = time;
    f->start = time;
    f->angle = 0.0;
    f->isHeld = isHeld;
    f->turnTime = time;
    f->seriesLength = 0.0;
    ddSet3(f->x, state->center);
    ddSet3(f->v, state->v);
    setTurn(f, state->q, mulSym(&body->inertia, turnBack3(state->q, state->w)));
    ddSet3(f->turn.t, turnBack3(state->q, body->torque));
}

// s, the length of a step of the series.
static double seriesStep(const rbVFlight* f, const rbVBody* body)
{
    // energy is kept: w^2 <= 2 E / the smallest moment, whose inverse is below the trace
    rbV3 m = ddValue3(f->turn.m);
    double trace = body->inverse.xx + body->inverse.yy + body->inverse.zz;
    double fastest = sqrt(dot3(m, mulSym(&body->inverse, m)) * trace) + 1e-300;
    double gain = length3(body->torque) * trace;
    double h = STEP_ANGLE / fastest;
    return gain > 0.0 ? fmin(h, sqrt(STEP_ANGLE / gain)) : h;
}

// Brings the rotation, which is at f->turnTime, to a time: by whole steps, and by evaluation of a
// series within the last one.
static void turnTo(rbVFlight* f, const rbVBody* body, double time)
{
    for (int i = 0; i < STEPS_MAX; ++i) {
        double h = seriesStep(f, body);
        rbVDd left = ddSum(time, -f->turnTime);
        if (f->seriesLength > 0.0 && left.hi <= f->seriesLength) {
            return;
        }
        if (f->seriesLength == 0.0 && left.hi <= SHORT_ANGLE / STEP_ANGLE * h) {
            stepRotation(f, body, left, false);
            f->turnTime = time;
            return;
        }
        if (f->seriesLength > 0.0) {
            f->turn = f->next;
            f->turnTime = f->nextTime;
            f->seriesLength = 0.0;
            continue;
        }
        // the time after a whole step is rounded: the step is what lies between the two
        f->nextTime = f->turnTime + h;
        rbVDd step = ddSum(f->nextTime, -f->turnTime);
        stepRotation(f, body, step, true);
        f->seriesLength = step.hi;
    }
}

// A rotation by an angle about an axis of unit length, or none about zero.
static rbV4 rotation(rbV3 axis, double angle)
{
    rbV3 v = scale3(sin(0.5 * angle), axis);
    return (rbV4){cos(0.5 * angle), v.x, v.y, v.z};
}

// The axis of symmetry of a body without torque, axes of the body: a ball has three. False: none.
static bool findSymmetry(const rbVBody* body, rbV3* axis)
{
    const rbVSym* i = &body->inertia;
    *axis = make3(i->yy == i->zz, i->xx == i->zz && i->yy != i->zz, 0.0);
    axis->z = axis->x + axis->y == 0.0 && i->xx == i->yy;
    return i->xy == 0.0 && i->xz == 0.0 && i->yz == 0.0 && length3(*axis) == 1.0 &&
           length3(body->torque) == 0.0;
}

// It turns about its axis, and with it about the angular momentum, which is fixed.
static void turnSymmetric(rbVFlight* f, const rbVBody* body, rbV3 axis, double h)
{
    rbV3 m = ddValue3(f->turn.m);
    rbV3 other = make3(axis.y, axis.z, axis.x);
    double across = dot3(other, mulSym(&body->inverse, other));
    double spin = dot3(m, axis) * (dot3(axis, mulSym(&body->inverse, axis)) - across);
    double size = length3(m);
    rbV3 fixed = scale3(size > 0.0 ? 1.0 / size : 0.0, m);
    rbV4 own = rotation(axis, spin * h);
    // in the axes of the body before the step, then about its own axis
    rbV4 q = mul4(mul4(turnOf(f), rotation(fixed, size * across * h)), own);
    setTurn(f, q, turnBack3(own, m));
}

void rbVFlight_Advance(rbVFlight* f, const rbVBody* body, double time)
{
    rbVDd left = ddSum(time, -f->time);
    if (!(left.hi > 0.0)) {
        return;
    }
    f->time = time;
    if (f->isHeld || body->type != RB_V_DYNAMIC) {
        return;
    }
    rbVDd half = ddMul(ddOf(0.5), ddMul(left, left));
    rbVDd a[3];
    ddSet3(a, body->acceleration);
    for (int i = 0; i < 3; ++i) {
        f->x[i] = ddAdd(ddAdd(f->x[i], ddMul(left, f->v[i])), ddMul(half, a[i]));
        f->v[i] = ddAdd(f->v[i], ddMul(left, a[i]));
    }
    f->angle += left.hi * length3(mulSym(&body->inverse, ddValue3(f->turn.m)));
    rbV3 axis;
    if (findSymmetry(body, &axis)) {
        turnSymmetric(f, body, axis, left.hi);
        f->turnTime = time;
    } else {
        turnTo(f, body, time);
    }
}

rbVState rbVFlight_Get(const rbVFlight* f, const rbVBody* body)
{
    rbV4 q = turnOf(f);
    rbV3 m = ddValue3(f->turn.m);
    double h = f->time - f->turnTime;
    if (f->seriesLength > 0.0 && h > 0.0) {
        double sums[7] = {0.0};
        for (int n = f->seriesOrder; n >= 0; --n) {
            for (int i = 0; i < 7; ++i) {
                sums[i] = sums[i] * h + f->series[n][i];
            }
        }
        q = (rbV4){sums[0], sums[1], sums[2], sums[3]};
        m = make3(sums[4], sums[5], sums[6]);
    }
    rbV3 w = f->isHeld ? make3(0, 0, 0) : turn3(q, mulSym(&body->inverse, m));
    return (rbVState){ddValue3(f->x), q, ddValue3(f->v), w};
}
