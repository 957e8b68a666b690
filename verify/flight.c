#include "verify/flight.h"

#define ORDER_MAX RB_V_ORDER_MAX
#define SHORT_ANGLE 0.02 // rad, up to which a step of its own is cheaper than a series to evaluate
#define STEP_ANGLE 0.5   // rad, turned in one step of the series
#define STEPS_MAX 20000  // between two looks at a flight: a hostile file may ask for more
#define SERIES_END 1e-21 // terms below this part of the sum end the series

// M' = M x w + T, T' = T x w, q' = q w / 2 with w = J M, all in the axes of the body: the
// coefficients of the series follow from each other by products of series.
typedef struct Series {
    rbVDd m[ORDER_MAX + 1][3];
    rbVDd t[ORDER_MAX + 1][3];
    rbVDd w[ORDER_MAX + 1][3];
    rbVDd q[ORDER_MAX + 1][4];
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

// Keeps a series for nodes within it.
static void keepSeries(rbVFlight* f, const Series* s, int order)
{
    f->seriesOrder = order;
    for (int n = 0; n <= order; ++n) {
        for (int i = 0; i < 4; ++i) {
            f->seriesQ[n][i] = ddValue(s->q[n][i]);
        }
        for (int i = 0; i < 3; ++i) {
            f->seriesM[n][i] = ddValue(s->m[n][i]);
        }
    }
}

// One step of the rotation; isKept: its start stays, and the series is for evaluation.
static void stepRotation(rbVFlight* f, const rbVBody* body, rbVDd h, bool isKept)
{
    Series s;
    bool hasTorque = f->turn.t.x.hi != 0.0 || f->turn.t.y.hi != 0.0 || f->turn.t.z.hi != 0.0;
    const rbVDd m[3] = {f->turn.m.x, f->turn.m.y, f->turn.m.z};
    const rbVDd t[3] = {f->turn.t.x, f->turn.t.y, f->turn.t.z};
    for (int i = 0; i < 3; ++i) {
        s.m[0][i] = m[i];
        s.t[0][i] = t[i];
    }
    for (int i = 0; i < 4; ++i) {
        s.q[0][i] = f->turn.q[i];
    }
    applyInverse(&body->inverse, s.m[0], s.w[0]);
    double size = fmax(sizeOf(s.m[0], 3), h.hi * sizeOf(s.t[0], 3));
    double power = 1.0;
    int order = 0;
    int small = 0;
    while (order < ORDER_MAX && small < 3) {
        extend(&s, body, order, hasTorque);
        order += 1;
        power *= h.hi;
        bool isSmall = sizeOf(s.q[order], 4) * power <= SERIES_END &&
                       sizeOf(s.m[order], 3) * power <= SERIES_END * size;
        small = isSmall ? small + 1 : 0;
    }
    if (isKept) {
        keepSeries(f, &s, order);
    }
    rbVTurn* end = isKept ? &f->next : &f->turn;
    end->m = (rbVDd3){sumSeries(&s.m[0][0], 3, order, h), sumSeries(&s.m[0][1], 3, order, h),
                      sumSeries(&s.m[0][2], 3, order, h)};
    end->t = f->turn.t;
    if (hasTorque) {
        end->t = (rbVDd3){sumSeries(&s.t[0][0], 3, order, h), sumSeries(&s.t[0][1], 3, order, h),
                          sumSeries(&s.t[0][2], 3, order, h)};
    }
    for (int i = 0; i < 4; ++i) {
        end->q[i] = sumSeries(&s.q[0][i], 4, order, h);
    }
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
    f->x = ddOf3(state->center);
    f->v = ddOf3(state->v);
    f->turn.q[0] = ddOf(state->q.w);
    f->turn.q[1] = ddOf(state->q.x);
    f->turn.q[2] = ddOf(state->q.y);
    f->turn.q[3] = ddOf(state->q.z);
    rbV3 local = turnBack3(state->q, state->w);
    f->turn.m = ddOf3(mulSym(&body->inertia, local));
    f->turn.t = ddOf3(turnBack3(state->q, body->torque));
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

static void turnRound(rbVFlight* f, rbV3 w, double h)
{
    double speed = length3(w);
    rbVDd* t = f->turn.q;
    rbV3 axis = scale3(speed > 0.0 ? sin(0.5 * speed * h) / speed : 0.0, w);
    rbV4 q = mul4((rbV4){ddValue(t[0]), ddValue(t[1]), ddValue(t[2]), ddValue(t[3])},
                  (rbV4){cos(0.5 * speed * h), axis.x, axis.y, axis.z});
    const rbVDd turned[4] = {ddOf(q.w), ddOf(q.x), ddOf(q.y), ddOf(q.z)};
    for (int i = 0; i < 4; ++i) {
        t[i] = turned[i];
    }
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
    rbVDd3 a = ddOf3(body->acceleration);
    f->x = ddAddScaled3(ddAddScaled3(f->x, left, f->v), half, a);
    f->v = ddAddScaled3(f->v, left, a);
    rbV3 w = mulSym(&body->inverse, ddValue3(f->turn.m));
    const rbVSym* i = &body->inertia;
    f->angle += left.hi * length3(w);
    bool isRound = i->xx == i->yy && i->yy == i->zz && i->xy == 0.0 && i->xz == 0.0 && i->yz == 0.0;
    if (isRound && length3(body->torque) == 0.0) {
        turnRound(f, w, left.hi); // a ball turns about a fixed axis
        f->turnTime = time;
    } else {
        turnTo(f, body, time);
    }
}

// The rotation now: the state itself, or the series from there.
static void getRotation(const rbVFlight* f, rbV4* q, rbV3* m)
{
    *q = (rbV4){ddValue(f->turn.q[0]), ddValue(f->turn.q[1]), ddValue(f->turn.q[2]),
                ddValue(f->turn.q[3])};
    *m = ddValue3(f->turn.m);
    double h = f->time - f->turnTime;
    if (f->seriesLength > 0.0 && h > 0.0) {
        double sums[7] = {0.0};
        for (int n = f->seriesOrder; n >= 0; --n) {
            for (int i = 0; i < 4; ++i) {
                sums[i] = sums[i] * h + f->seriesQ[n][i];
            }
            for (int i = 0; i < 3; ++i) {
                sums[4 + i] = sums[4 + i] * h + f->seriesM[n][i];
            }
        }
        *q = (rbV4){sums[0], sums[1], sums[2], sums[3]};
        *m = make3(sums[4], sums[5], sums[6]);
    }
}

rbVState rbVFlight_Get(const rbVFlight* f, const rbVBody* body)
{
    rbVState s;
    s.center = ddValue3(f->x);
    s.v = ddValue3(f->v);
    rbV3 m;
    getRotation(f, &s.q, &m);
    s.w = turn3(s.q, mulSym(&body->inverse, m));
    if (f->isHeld) {
        s.w = make3(0.0, 0.0, 0.0);
    }
    return s;
}
