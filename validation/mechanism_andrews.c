// Andrews' squeezing mechanism: the table and equations of the Test Set for IVP Solvers (Mazzia and
// Magherini), which took them from Schiehlen's Multibody Systems Handbook.
#include "base/core/memory.h"
#include "mechanism_reference.h"

#include <math.h>
#include <string.h>

#define ANGLES 7
#define LOOPS 6
#define SIZE (ANGLES + LOOPS)

typedef long double rbReal;

const rbAndrewsTable rbAndrews = {
    .mass = {.04325, .00365, .02373, .00706, .07050, .00706, .05498},
    .inertia = {2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5},
    .xa = -.06934,
    .ya = -.00227,
    .xb = -.03635,
    .yb = .03273,
    .xc = .014,
    .yc = .072,
    .d = .028,
    .da = .0115,
    .e = .02,
    .ea = .01421,
    .rr = .007,
    .ra = .00092,
    .ss = .035,
    .sa = .01874,
    .sb = .01043,
    .sc = .018,
    .sd = .02,
    .ta = .02308,
    .tb = .00916,
    .u = .04,
    .ua = .01228,
    .ub = .00449,
    .zf = .02,
    .zt = .04,
    .fa = .01421,
    .stiffness = 4530.0,
    .restLength = .07785,
    .torque = .033,
    .start = {-0.0617138900142764, 0.0, 0.455279819163070, 0.222668390165886, 0.487364979543843,
              -0.222668390165886, 1.23054744454982},
    .end = {15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
            0.5244099658805304, 0.5347301163226948, 1.048080741042263},
};

void rbGetAndrewsGaps(const long double q[7], long double gaps[6])
{
    const rbAndrewsTable* t = &rbAndrews;
    rbReal x = t->rr * cosl(q[0]) - t->d * cosl(q[0] + q[1]);
    rbReal y = t->rr * sinl(q[0]) - t->d * sinl(q[0] + q[1]);
    gaps[0] = x - t->ss * sinl(q[2]) - t->xb;
    gaps[1] = y + t->ss * cosl(q[2]) - t->yb;
    gaps[2] = x - t->e * sinl(q[3] + q[4]) - t->zt * cosl(q[4]) - t->xa;
    gaps[3] = y + t->e * cosl(q[3] + q[4]) - t->zt * sinl(q[4]) - t->ya;
    gaps[4] = x - t->zf * cosl(q[5] + q[6]) - t->u * sinl(q[6]) - t->xa;
    gaps[5] = y - t->zf * sinl(q[5] + q[6]) + t->u * cosl(q[6]) - t->ya;
}

static void fillMass(const rbReal* q, rbReal m[SIZE][SIZE])
{
    const rbAndrewsTable* t = &rbAndrews;
    rbReal a4 = t->e - t->ea;
    rbReal a6 = t->zf - t->fa;
    rbReal c2 = cosl(q[1]);
    rbReal s4 = sinl(q[3]);
    rbReal s6 = sinl(q[5]);
    m[0][0] = t->mass[0] * t->ra * t->ra +
              t->mass[1] * (t->rr * t->rr - 2.0L * t->da * t->rr * c2 + t->da * t->da) +
              t->inertia[0] + t->inertia[1];
    m[0][1] = m[1][0] = t->mass[1] * (t->da * t->da - t->da * t->rr * c2) + t->inertia[1];
    m[1][1] = t->mass[1] * t->da * t->da + t->inertia[1];
    m[2][2] = t->mass[2] * (t->sa * t->sa + t->sb * t->sb) + t->inertia[2];
    m[3][3] = t->mass[3] * a4 * a4 + t->inertia[3];
    m[3][4] = m[4][3] = t->mass[3] * (a4 * a4 + t->zt * a4 * s4) + t->inertia[3];
    m[4][4] = t->mass[3] * (t->zt * t->zt + 2.0L * t->zt * a4 * s4 + a4 * a4) +
              t->mass[4] * (t->ta * t->ta + t->tb * t->tb) + t->inertia[3] + t->inertia[4];
    m[5][5] = t->mass[5] * a6 * a6 + t->inertia[5];
    m[5][6] = m[6][5] = t->mass[5] * (a6 * a6 - t->u * a6 * s6) + t->inertia[5];
    m[6][6] = t->mass[5] * (a6 * a6 - 2.0L * t->u * a6 * s6 + t->u * t->u) +
              t->mass[6] * (t->ua * t->ua + t->ub * t->ub) + t->inertia[5] + t->inertia[6];
}

static void fillForces(const rbReal* q, const rbReal* v, rbReal f[SIZE])
{
    const rbAndrewsTable* t = &rbAndrews;
    rbReal a4 = t->mass[3] * t->zt * (t->e - t->ea);
    rbReal a6 = t->mass[5] * t->u * (t->zf - t->fa);
    rbReal a2 = t->mass[1] * t->da * t->rr;
    rbReal s = sinl(q[2]);
    rbReal c = cosl(q[2]);
    rbReal dx = t->sd * c + t->sc * s + t->xb - t->xc;
    rbReal dy = t->sd * s - t->sc * c + t->yb - t->yc;
    rbReal length = sqrtl(dx * dx + dy * dy);
    rbReal pull = -t->stiffness * (length - t->restLength) / length;
    f[0] = t->torque - a2 * v[1] * (v[1] + 2.0L * v[0]) * sinl(q[1]);
    f[1] = a2 * v[0] * v[0] * sinl(q[1]);
    f[2] = pull * (dx * (t->sc * c - t->sd * s) + dy * (t->sd * c + t->sc * s));
    f[3] = a4 * v[4] * v[4] * cosl(q[3]);
    f[4] = -a4 * v[3] * (v[3] + 2.0L * v[4]) * cosl(q[3]);
    f[5] = -a6 * v[6] * v[6] * cosl(q[5]);
    f[6] = a6 * v[5] * (v[5] + 2.0L * v[6]) * cosl(q[5]);
}

// Derivatives of the six conditions, and their second derivatives without accelerations.
static void fillLoops(const rbReal* q, const rbReal* v, rbReal g[LOOPS][ANGLES],
                      rbReal curve[LOOPS])
{
    const rbAndrewsTable* t = &rbAndrews;
    // an arm of a length at the angle that is a sum of coordinates; isSine: (sin, -cos)
    const struct {
        double length;
        int first, second;
        bool isSine;
    } arms[7] = {{t->rr, 0, -1, false}, {-t->d, 0, 1, false},   {-t->ss, 2, -1, true},
                 {-t->e, 3, 4, true},   {-t->zt, 4, -1, false}, {-t->zf, 5, 6, false},
                 {-t->u, 6, -1, true}};
    static const int loops[3][4] = {{0, 1, 2, -1}, {0, 1, 3, 4}, {0, 1, 5, 6}};
    for (int i = 0; i < 3; ++i) {
        int rowX = 2 * i;
        for (int k = 0; k < 4 && loops[i][k] >= 0; ++k) {
            int arm = loops[i][k];
            int second = arms[arm].second;
            rbReal angle = q[arms[arm].first] + (second >= 0 ? q[second] : 0.0L);
            rbReal w = v[arms[arm].first] + (second >= 0 ? v[second] : 0.0L);
            rbReal x = arms[arm].length * (arms[arm].isSine ? sinl(angle) : cosl(angle));
            rbReal y = arms[arm].length * (arms[arm].isSine ? -cosl(angle) : sinl(angle));
            g[rowX][arms[arm].first] -= y;
            g[rowX + 1][arms[arm].first] += x;
            if (second >= 0) {
                g[rowX][second] -= y;
                g[rowX + 1][second] += x;
            }
            curve[rowX] -= x * w * w;
            curve[rowX + 1] -= y * w * w;
        }
    }
}

// Gaussian elimination with partial pivoting; b becomes the solution.
static void solveSystem(rbReal a[SIZE][SIZE], rbReal b[SIZE])
{
    for (int k = 0; k < SIZE; ++k) {
        int best = k;
        for (int i = k + 1; i < SIZE; ++i) {
            best = fabsl(a[i][k]) > fabsl(a[best][k]) ? i : best;
        }
        for (int j = k; j < SIZE; ++j) {
            rbReal keep = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = keep;
        }
        rbReal keep = b[k];
        b[k] = b[best];
        b[best] = keep;
        for (int i = k + 1; i < SIZE; ++i) {
            rbReal factor = a[i][k] / a[k][k];
            for (int j = k + 1; factor != 0.0L && j < SIZE; ++j) {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for (int k = SIZE - 1; k >= 0; --k) {
        for (int j = k + 1; j < SIZE; ++j) {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
}

static void rateAndrews(const long double* y, long double* rate, long double parameter)
{
    (void)parameter;
    rbReal a[SIZE][SIZE] = {{0}};
    rbReal b[SIZE] = {0};
    rbReal g[LOOPS][ANGLES] = {{0}};
    rbReal curve[LOOPS] = {0};
    fillMass(y, a);
    fillForces(y, y + ANGLES, b);
    fillLoops(y, y + ANGLES, g, curve);
    for (int i = 0; i < LOOPS; ++i) {
        for (int j = 0; j < ANGLES; ++j) {
            a[ANGLES + i][j] = a[j][ANGLES + i] = g[i][j];
        }
        b[ANGLES + i] = -curve[i];
    }
    solveSystem(a, b);
    for (int i = 0; i < ANGLES; ++i) {
        rate[i] = y[ANGLES + i];
        rate[ANGLES + i] = b[i];
    }
}

// The published start angles are rounded to 15 digits; nothing moves at the start.
rbReference rbMakeAndrewsReference(void)
{
    rbReference r = {.rate = rateAndrews, .size = 2 * ANGLES, .step = 5e-4L};
    for (int i = 0; i < ANGLES; ++i) {
        r.y[i] = rbAndrews.start[i];
    }
    return r;
}
