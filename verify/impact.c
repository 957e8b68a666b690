#include "verify/impact.h"

#include <string.h>

// Sliding: u_t = s (cos a, sin a), dp = (-mu (cos a, sin a), 1) dP with P the normal impulse. With
// dP = s dr the equations of a, s, u_z, P and the works are smooth, and the slip s falls
// exponentially: rest is reached as r grows without bound.
//   a' = g_a(a), s' = s g_s(a), u_z' = s h(a), P' = s, p_t' = -mu s (cos a, sin a),
//   W' = s u_z, F' = -mu s^2
enum {
    ANGLE,
    SLIP,
    NORMAL_SPEED,
    PRESS,
    PUSH_X,
    PUSH_Y,
    WORK,
    FRICTION,
    FIELDS
};

#define STOPPED 1e-15 // of the first slip: rest
#define STEPS_MAX 20000
#define STEP_ERROR 1e-13
#define ROOT_STEPS 60

static void rates(const rbVImpact* m, const double* y, double* f)
{
    double c = cos(y[ANGLE]);
    double s = sin(y[ANGLE]);
    double px = -m->friction * c;
    double py = -m->friction * s;
    double ux = m->k[0][0] * px + m->k[0][1] * py + m->k[0][2];
    double uy = m->k[1][0] * px + m->k[1][1] * py + m->k[1][2];
    double uz = m->k[2][0] * px + m->k[2][1] * py + m->k[2][2];
    f[ANGLE] = -s * ux + c * uy;
    f[SLIP] = y[SLIP] * (c * ux + s * uy);
    f[NORMAL_SPEED] = y[SLIP] * uz;
    f[PRESS] = y[SLIP];
    f[PUSH_X] = y[SLIP] * px;
    f[PUSH_Y] = y[SLIP] * py;
    f[WORK] = y[SLIP] * y[NORMAL_SPEED];
    f[FRICTION] = -m->friction * y[SLIP] * y[SLIP];
}

// One step of the method of Fehlberg, orders 7 and 8; returns the error relative to the sizes.
static double stepSlide(const rbVImpact* m, const double* y, double h, double* out)
{
    static const double b[13][12] = {
        {0},
        {2.0 / 27},
        {1.0 / 36, 1.0 / 12},
        {1.0 / 24, 0, 1.0 / 8},
        {5.0 / 12, 0, -25.0 / 16, 25.0 / 16},
        {1.0 / 20, 0, 0, 1.0 / 4, 1.0 / 5},
        {-25.0 / 108, 0, 0, 125.0 / 108, -65.0 / 27, 125.0 / 54},
        {31.0 / 300, 0, 0, 0, 61.0 / 225, -2.0 / 9, 13.0 / 900},
        {2, 0, 0, -53.0 / 6, 704.0 / 45, -107.0 / 9, 67.0 / 90, 3},
        {-91.0 / 108, 0, 0, 23.0 / 108, -976.0 / 135, 311.0 / 54, -19.0 / 60, 17.0 / 6, -1.0 / 12},
        {2383.0 / 4100, 0, 0, -341.0 / 164, 4496.0 / 1025, -301.0 / 82, 2133.0 / 4100, 45.0 / 82,
         45.0 / 164, 18.0 / 41},
        {3.0 / 205, 0, 0, 0, 0, -6.0 / 41, -3.0 / 205, -3.0 / 41, 3.0 / 41, 6.0 / 41},
        {-1777.0 / 4100, 0, 0, -341.0 / 164, 4496.0 / 1025, -289.0 / 82, 2193.0 / 4100, 51.0 / 82,
         33.0 / 164, 12.0 / 41, 0, 1},
    };
    static const double weights[13] = {0,          0,          0,         0,         0,
                                       34.0 / 105, 9.0 / 35,   9.0 / 35,  9.0 / 280, 9.0 / 280,
                                       0,          41.0 / 840, 41.0 / 840};
    double k[13][FIELDS];
    for (int i = 0; i < 13; ++i) {
        double at[FIELDS];
        for (int n = 0; n < FIELDS; ++n) {
            at[n] = y[n];
            for (int j = 0; j < i; ++j) {
                at[n] += h * b[i][j] * k[j][n];
            }
        }
        rates(m, at, k[i]);
    }
    double worst = 0.0;
    for (int n = 0; n < FIELDS; ++n) {
        double sum = 0.0;
        for (int i = 0; i < 13; ++i) {
            sum += weights[i] * k[i][n];
        }
        out[n] = y[n] + h * sum;
        double error = fabs(h * 41.0 / 840 * (k[0][n] + k[10][n] - k[11][n] - k[12][n]));
        double size = n == ANGLE ? 1.0 : fabs(y[n]) + fabs(out[n] - y[n]) + 1e-300;
        worst = fmax(worst, error / size);
    }
    return worst;
}

// What is still to do until an impact ends, positive before; by the law.
typedef struct Ending {
    bool isCompressed; // the greatest compression is behind
    double goal;       // of the law: u_z, P or W
} Ending;

static double distanceToEnd(const rbVImpact* m, const Ending* end, const double* y)
{
    if (m->law == RB_V_NEWTON) {
        return -m->restitution * m->u.z - y[NORMAL_SPEED];
    }
    if (!end->isCompressed) {
        return -y[NORMAL_SPEED];
    }
    return m->law == RB_V_POISSON ? end->goal - y[PRESS] : end->goal - y[WORK];
}

static void noteCompression(const rbVImpact* m, Ending* end, const double* y)
{
    end->isCompressed = true;
    end->goal = m->law == RB_V_POISSON ? (1.0 + m->restitution) * y[PRESS]
                                       : (1.0 - m->restitution * m->restitution) * y[WORK];
}

// After the slip has stopped everything is linear in P: rest, or sliding in a fixed direction.
static void finishLinear(const rbVImpact* m, Ending* end, double* y, rbV3 push)
{
    double rate = m->k[2][0] * push.x + m->k[2][1] * push.y + m->k[2][2];
    double slip[2] = {m->k[0][0] * push.x + m->k[0][1] * push.y + m->k[0][2],
                      m->k[1][0] * push.x + m->k[1][1] * push.y + m->k[1][2]};
    // the slip grows from zero, or from what is left; work of friction: p_t' . u_t
    double power = push.x * slip[0] + push.y * slip[1];
    for (bool isLast = false; !isLast;) {
        isLast = m->law == RB_V_NEWTON || end->isCompressed;
        double u = y[NORMAL_SPEED];
        double d;
        if (m->law == RB_V_NEWTON || !isLast) {
            d = ((isLast ? -m->restitution * m->u.z : 0.0) - u) / rate;
        } else if (m->law == RB_V_POISSON) {
            d = end->goal - y[PRESS];
        } else {
            // W + u d + rate d^2 / 2 = goal
            double need = fmax(0.0, end->goal - y[WORK]);
            d = need > 0.0 ? 2.0 * need / (u + sqrt(u * u + 2.0 * rate * need)) : 0.0;
        }
        double p = y[SLIP]; // here: P since the slip stopped
        y[WORK] += d * (u + 0.5 * rate * d);
        y[FRICTION] += power * (d * p + 0.5 * d * d);
        y[NORMAL_SPEED] = u + rate * d;
        y[PRESS] += d;
        y[PUSH_X] += push.x * d;
        y[PUSH_Y] += push.y * d;
        y[SLIP] = p + d;
        if (!isLast) {
            noteCompression(m, end, y);
        }
    }
}

// The tangential impulse per normal impulse after a stop: what keeps it, if the cone allows, else
// sliding in the direction that keeps itself.
static bool findPush(const rbVImpact* m, rbV3* push)
{
    double det = m->k[0][0] * m->k[1][1] - m->k[0][1] * m->k[1][0];
    rbV3 hold = {-(m->k[1][1] * m->k[0][2] - m->k[0][1] * m->k[1][2]) / det,
                 -(m->k[0][0] * m->k[1][2] - m->k[1][0] * m->k[0][2]) / det, 0.0};
    if (sqrt(hold.x * hold.x + hold.y * hold.y) <= m->friction) {
        *push = hold;
        return true;
    }
    // roots of the turning rate with a growing slip
    const int count = 720;
    double y[FIELDS] = {[SLIP] = 1.0};
    double f[FIELDS];
    for (int i = 0; i < count; ++i) {
        double low = 2.0 * 3.14159265358979323846 * i / count;
        double high = 2.0 * 3.14159265358979323846 * (i + 1) / count;
        y[ANGLE] = low;
        rates(m, y, f);
        double first = f[ANGLE];
        y[ANGLE] = high;
        rates(m, y, f);
        if ((first > 0.0) == (f[ANGLE] > 0.0)) {
            continue;
        }
        for (int k = 0; k < ROOT_STEPS; ++k) {
            y[ANGLE] = 0.5 * (low + high);
            rates(m, y, f);
            bool isLow = (f[ANGLE] > 0.0) == (first > 0.0);
            low = isLow ? y[ANGLE] : low;
            high = isLow ? high : y[ANGLE];
        }
        if (f[SLIP] > 0.0) {
            *push = make3(-m->friction * cos(y[ANGLE]), -m->friction * sin(y[ANGLE]), 0.0);
            return true;
        }
    }
    return false;
}

// Slides until the slip stops or the impact ends. Returns 1: ended, 0: stopped, -1: neither.
static int slide(const rbVImpact* m, Ending* end, double* y)
{
    double first = y[SLIP];
    double h = 0.1 / (fabs(m->k[0][0]) + fabs(m->k[1][1]) + fabs(m->k[2][2])) / (1.0 + m->friction);
    for (int i = 0; i < STEPS_MAX; ++i) {
        double next[FIELDS];
        double error = stepSlide(m, y, h, next);
        if (error > STEP_ERROR) {
            h *= fmax(0.2, 0.9 * pow(STEP_ERROR / error, 0.125));
            continue;
        }
        if (distanceToEnd(m, end, next) <= 0.0) {
            // the step at which it ends
            double low = 0.0;
            double high = h;
            for (int k = 0; k < ROOT_STEPS; ++k) {
                double middle = 0.5 * (low + high);
                (void)stepSlide(m, y, middle, next);
                bool isBefore = distanceToEnd(m, end, next) > 0.0;
                low = isBefore ? middle : low;
                high = isBefore ? high : middle;
            }
            (void)stepSlide(m, y, high, next);
            memcpy(y, next, sizeof next);
            if (m->law == RB_V_NEWTON || end->isCompressed) {
                return 1;
            }
            noteCompression(m, end, y);
            if (distanceToEnd(m, end, y) <= 0.0) {
                return 1; // without restitution
            }
            continue;
        }
        memcpy(y, next, sizeof next);
        if (y[SLIP] <= STOPPED * first) {
            return 0;
        }
        h *= fmin(4.0, 0.9 * pow(STEP_ERROR / fmax(error, 1e-30), 0.125));
    }
    return -1;
}

void rbVResolveImpact(const rbVImpact* m, rbVImpactResult* result)
{
    *result = (rbVImpactResult){.isKnown = true};
    if (!(m->u.z < 0.0)) {
        return;
    }
    Ending end = {0};
    double y[FIELDS] = {atan2(m->u.y, m->u.x), hypot(m->u.x, m->u.y), m->u.z};
    rbV3 push = {0.0, 0.0, 0.0};
    int ended = 0;
    if (m->friction > 0.0) {
        ended = y[SLIP] > 0.0 ? slide(m, &end, y) : 0;
        result->isKnown = ended > 0 || (ended == 0 && findPush(m, &push));
    }
    if (ended == 0 && result->isKnown) {
        y[SLIP] = 0.0;
        finishLinear(m, &end, y, push);
    }
    result->impulse = make3(y[PUSH_X], y[PUSH_Y], y[PRESS]);
    result->frictionWork = y[FRICTION];
    result->isKnown = result->isKnown && isfinite(length3(result->impulse));
}

rbV3 rbVPointVelocity(const rbVState* s, rbV3 point)
{
    return add3(s->v, cross3(s->w, sub3(point, s->center)));
}

void rbVPush(const rbVBody* body, rbVState* s, rbV3 point, rbV3 impulse)
{
    s->v = addScaled3(s->v, body->inverseMass, impulse);
    rbV3 twist = turnBack3(s->q, cross3(sub3(point, s->center), impulse));
    s->w = add3(s->w, turn3(s->q, mulSym(&body->inverse, twist)));
}

double rbVKineticEnergy(const rbVBody* body, const rbVState* s)
{
    rbV3 local = turnBack3(s->q, s->w);
    double energy = 0.5 * body->mass * dot3(s->v, s->v);
    return body->inverseMass > 0.0 ? energy + 0.5 * dot3(local, mulSym(&body->inertia, local))
                                   : 0.0;
}

void rbVMakeFrame(rbV3 n, rbV3 frame[3])
{
    rbV3 axis = fabs(n.x) < 0.6 ? make3(1, 0, 0) : make3(0, 1, 0);
    rbV3 t = cross3(n, axis);
    frame[0] = scale3(1.0 / length3(t), t);
    frame[1] = cross3(n, frame[0]);
    frame[2] = n;
}

rbVImpact rbVMakeImpact(const rbVBody* const bodies[2], const rbVState states[2], const rbVEvent* e,
                        rbV3 frame[3])
{
    rbVImpact m = {0};
    rbV3 point = e->point;
    rbVMakeFrame(e->normal, frame);
    rbV3 u = sub3(rbVPointVelocity(&states[1], point), rbVPointVelocity(&states[0], point));
    m.u = make3(dot3(u, frame[0]), dot3(u, frame[1]), dot3(u, frame[2]));
    m.u.z -= bodies[0]->growth + bodies[1]->growth;
    for (int j = 0; j < 3; ++j) {
        rbV3 column = {0, 0, 0}; // the change of u by a unit of impulse along frame j
        for (int side = 0; side < 2; ++side) {
            rbVState moved = {.q = states[side].q, .center = states[side].center};
            rbVPush(bodies[side], &moved, point, frame[j]);
            column = add3(column, rbVPointVelocity(&moved, point));
        }
        for (int i = 0; i < 3; ++i) {
            m.k[i][j] = dot3(frame[i], column);
        }
    }
    return m;
}
