#include "impact_oracle.h"

#include <math.h>
#include <string.h>

#define COLUMNS 8 // of the extrapolation: order 16
#define STEP 0.3L // over the fastest rate
#define STEPS_MAX 3000

// Unknowns as functions of tau, dp_z = |u_t| dtau.
enum {
    X,
    Y,
    Z,
    PX,
    PY,
    PZ,
    WORK,
    FRICTION,
    UNKNOWNS
};

typedef struct Oracle {
    long double k[3][3];
    long double mu;
    long double e;
    rbImpactLaw law;
    long double speed0; // -u_z before
    // Sliding with one direction from a stop, or sticking: du/dp_z and dp_t/dp_z are constant.
    bool isConstant;
    long double rate[3];
    long double ratio[2];

    long double y[UNKNOWNS];
    bool isRestitution;
    bool isDone;
    long double modeImpulse, modeWork;
    long double pressed, pressedWork;   // over all compressions
    long double released, releasedWork; // over interrupted restitutions
    int compressions;
    int steps;
} Oracle;

static void differentiate(const Oracle* oracle, const long double* y, long double* d)
{
    long double speed = hypotl(y[X], y[Y]);
    long double p[3] = {-oracle->mu * y[X], -oracle->mu * y[Y], speed};
    if (oracle->isConstant) { // over p_z
        p[0] = oracle->ratio[0];
        p[1] = oracle->ratio[1];
        p[2] = 1.0L;
    }
    for (int i = 0; i < 3; ++i) {
        d[i] = oracle->k[i][0] * p[0] + oracle->k[i][1] * p[1] + oracle->k[i][2] * p[2];
        d[i] = oracle->isConstant ? oracle->rate[i] : d[i];
        d[PX + i] = p[i];
    }
    d[WORK] = y[Z] * p[2];
    d[FRICTION] = y[X] * p[0] + y[Y] * p[1];
}

// The modified midpoint rule with n substeps.
static void stepMidpoint(const Oracle* oracle, long double step, int n, long double* out)
{
    long double h = step / n;
    long double a[UNKNOWNS];
    long double b[UNKNOWNS];
    long double d[UNKNOWNS];
    memcpy(a, oracle->y, sizeof a);
    differentiate(oracle, a, d);
    for (int i = 0; i < UNKNOWNS; ++i) {
        b[i] = a[i] + h * d[i];
    }
    for (int k = 1; k < n; ++k) {
        differentiate(oracle, b, d);
        for (int i = 0; i < UNKNOWNS; ++i) {
            long double next = a[i] + 2.0L * h * d[i];
            a[i] = b[i];
            b[i] = next;
        }
    }
    differentiate(oracle, b, d);
    for (int i = 0; i < UNKNOWNS; ++i) {
        out[i] = 0.5L * (a[i] + b[i] + h * d[i]);
    }
}

// One step of the extrapolation method of Gragg, Bulirsch and Stoer with a fixed order.
static void stepExtrapolated(const Oracle* oracle, long double step, long double* out)
{
    long double table[COLUMNS][UNKNOWNS];
    for (int row = 0; row < COLUMNS; ++row) {
        long double fresh[UNKNOWNS];
        int n = 2 * (row + 1);
        stepMidpoint(oracle, step, n, fresh);
        for (int column = 1; column <= row; ++column) {
            long double ratio = (long double)n / (2 * (row + 1 - column));
            for (int i = 0; i < UNKNOWNS; ++i) {
                long double old = table[column - 1][i];
                table[column - 1][i] = fresh[i];
                fresh[i] += (fresh[i] - old) / (ratio * ratio - 1.0L);
            }
        }
        memcpy(table[row], fresh, sizeof fresh);
    }
    memcpy(out, table[COLUMNS - 1], sizeof table[0]);
}

// Below zero before the end of the current mode.
static long double getGap(const Oracle* oracle, const long double* y)
{
    if (!oracle->isRestitution) {
        return y[Z];
    }
    if (oracle->law == RB_IMPACT_NEWTON) {
        return y[Z] - oracle->e * oracle->speed0;
    }
    if (oracle->law == RB_IMPACT_POISSON) {
        return y[PZ] - oracle->modeImpulse - (oracle->e * oracle->pressed - oracle->released);
    }
    return y[WORK] - oracle->modeWork +
           (oracle->e * oracle->e * oracle->pressedWork + oracle->releasedWork);
}

typedef long double GapFn(const Oracle* oracle, const long double* y);

static long double getHeight(const Oracle* oracle, const long double* y)
{
    (void)oracle;
    return -y[Z]; // rises through zero where u_z falls
}

// The fraction of the step at which the gap closes: regula falsi (Illinois) over whole steps.
static long double locate(const Oracle* oracle, GapFn* gap, long double step, long double* out)
{
    long double low = 0.0L;
    long double high = step;
    long double lowGap = gap(oracle, oracle->y);
    stepExtrapolated(oracle, step, out);
    long double highGap = gap(oracle, out);
    long double best = high;
    int side = 0;
    for (int i = 0; i < 100 && high - low > 1e-25L * step; ++i) {
        long double middle = (low * highGap - high * lowGap) / (highGap - lowGap);
        if (!(middle > low && middle < high) || i % 12 == 11) {
            middle = 0.5L * (low + high);
        }
        stepExtrapolated(oracle, middle, out);
        best = middle;
        long double middleGap = gap(oracle, out);
        if (middleGap < 0.0L) {
            low = middle;
            lowGap = middleGap;
            highGap *= side == -1 ? 0.5L : 1.0L;
            side = -1;
        } else {
            high = middle;
            highGap = middleGap;
            lowGap *= side == 1 ? 0.5L : 1.0L;
            side = 1;
        }
        if (fabsl(middleGap) < 1e-28L * (fabsl(oracle->speed0) + fabsl(oracle->y[Z]))) {
            break;
        }
    }
    return best;
}

static void changeMode(Oracle* oracle, bool isFall)
{
    const long double* y = oracle->y;
    if (!oracle->isRestitution) {
        oracle->pressed += y[PZ] - oracle->modeImpulse;
        oracle->pressedWork += y[WORK] - oracle->modeWork;
        oracle->isDone = oracle->e == 0.0L;
        oracle->isRestitution = true;
    } else if (isFall) {
        oracle->released += y[PZ] - oracle->modeImpulse;
        oracle->releasedWork += y[WORK] - oracle->modeWork;
        oracle->isRestitution = false;
        oracle->compressions += 1;
    } else {
        oracle->isDone = true;
    }
    oracle->modeImpulse = y[PZ];
    oracle->modeWork = y[WORK];
}

// One step, or the fraction of it up to the next event.
static void advance(Oracle* oracle, long double step)
{
    long double next[UNKNOWNS];
    stepExtrapolated(oracle, step, next);
    oracle->steps += 1;
    bool isFall = false;
    bool isEvent = false;
    if (oracle->isRestitution && next[Z] < 0.0L && oracle->y[Z] > 0.0L) {
        step = locate(oracle, getHeight, step, next);
        isFall = true;
    }
    if (getGap(oracle, next) >= 0.0L && getGap(oracle, oracle->y) < 0.0L) {
        (void)locate(oracle, getGap, step, next);
        isEvent = true;
    }
    memcpy(oracle->y, next, sizeof next);
    if (isEvent) {
        changeMode(oracle, false);
    } else if (isFall) {
        changeMode(oracle, true);
    }
}

// Value of h (turning) or g (growth) of the slip at an angle.
static long double getTurn(long double k[3][3], long double mu, long double angle, long double* g)
{
    long double c = cosl(angle);
    long double s = sinl(angle);
    long double ax = k[0][2] - mu * (k[0][0] * c + k[0][1] * s);
    long double ay = k[1][2] - mu * (k[1][0] * c + k[1][1] * s);
    *g = ax * c + ay * s;
    return ay * c - ax * s;
}

static bool findSlip(long double k[3][3], long double mu, long double direction[2])
{
    enum {
        GRID = 720
    };
    long double pi = acosl(-1.0L);
    for (int i = 0; i < GRID; ++i) {
        long double low = 2.0L * pi * (i - 0.5L) / GRID;
        long double high = 2.0L * pi * (i + 0.5L) / GRID;
        long double g = 0.0L;
        bool isLow = getTurn(k, mu, low, &g) < 0.0L;
        if (isLow == (getTurn(k, mu, high, &g) < 0.0L)) {
            continue;
        }
        for (int j = 0; j < 110; ++j) {
            long double middle = 0.5L * (low + high);
            if ((getTurn(k, mu, middle, &g) < 0.0L) == isLow) {
                low = middle;
            } else {
                high = middle;
            }
        }
        if (g > 0.0L) {
            direction[0] = cosl(low);
            direction[1] = sinl(low);
            return true;
        }
    }
    return false;
}

static void fillMatrix(const rbSym3* m, long double k[3][3])
{
    k[0][0] = m->xx;
    k[1][1] = m->yy;
    k[2][2] = m->zz;
    k[0][1] = k[1][0] = m->xy;
    k[0][2] = k[2][0] = m->xz;
    k[1][2] = k[2][1] = m->yz;
}

// L-91 with the cofactors of K, which are Kinv up to a factor.
static bool isSticking(long double k[3][3], long double mu)
{
    long double c13 = k[0][1] * k[1][2] - k[0][2] * k[1][1];
    long double c23 = k[0][1] * k[0][2] - k[0][0] * k[1][2];
    long double c33 = k[0][0] * k[1][1] - k[0][1] * k[0][1];
    return c13 * c13 + c23 * c23 <= mu * mu * c33 * c33;
}

static void resumeFromStop(Oracle* oracle)
{
    long double(*k)[3] = oracle->k;
    long double direction[2] = {0.0L, 0.0L};
    oracle->isConstant = true;
    if (isSticking(k, oracle->mu) || !findSlip(k, oracle->mu, direction)) {
        long double c33 = k[0][0] * k[1][1] - k[0][1] * k[0][1];
        oracle->ratio[0] = (k[0][1] * k[1][2] - k[0][2] * k[1][1]) / c33;
        oracle->ratio[1] = (k[0][1] * k[0][2] - k[0][0] * k[1][2]) / c33;
        oracle->rate[0] = oracle->rate[1] = 0.0L;
    } else {
        oracle->ratio[0] = -oracle->mu * direction[0];
        oracle->ratio[1] = -oracle->mu * direction[1];
        for (int i = 0; i < 2; ++i) {
            oracle->rate[i] = k[i][2] + k[i][0] * oracle->ratio[0] + k[i][1] * oracle->ratio[1];
        }
    }
    oracle->rate[2] = k[2][2] + k[2][0] * oracle->ratio[0] + k[2][1] * oracle->ratio[1];
    oracle->y[X] = oracle->y[Y] = 0.0L;
}

bool rbSolveImpactTruth(const rbImpactInput* input, rbImpactTruth* truth)
{
    Oracle oracle = {.mu = input->friction,
                     .e = input->restitution,
                     .law = input->law,
                     .compressions = 1,
                     .speed0 = -(long double)input->velocity.z,
                     .y = {input->velocity.x, input->velocity.y, input->velocity.z}};
    fillMatrix(&input->matrix, oracle.k);
    long double rate =
        oracle.mu * (oracle.k[0][0] + oracle.k[1][1]) + hypotl(oracle.k[0][2], oracle.k[1][2]);
    long double size = oracle.speed0 + hypotl(oracle.y[X], oracle.y[Y]);
    while (!oracle.isDone && oracle.steps < STEPS_MAX) {
        long double speed = hypotl(oracle.y[X], oracle.y[Y]);
        if (!oracle.isConstant && speed <= 1e-20L * size) {
            resumeFromStop(&oracle);
        }
        // A constant phase is a parabola: any step is exact.
        long double step = oracle.isConstant ? 0.5L * size / oracle.rate[2] : STEP / rate;
        if (!oracle.isConstant) { // otherwise one step might contain two events
            step = fminl(step, 0.1L * oracle.speed0 / (oracle.k[2][2] * speed));
        }
        advance(&oracle, step);
    }
    *truth = (rbImpactTruth){.normalWork = oracle.y[WORK],
                             .frictionWork = oracle.y[FRICTION],
                             .compressionWork = oracle.pressedWork,
                             .compressions = oracle.compressions,
                             .steps = oracle.steps};
    for (int i = 0; i < 3; ++i) {
        truth->impulse[i] = oracle.y[PX + i];
        truth->velocity[i] = oracle.y[i];
    }
    return oracle.isDone;
}

double rbGetImpactError(const rbImpactResult* result, const rbImpactTruth* truth,
                        const rbImpactInput* input)
{
    long double p[3] = {result->impulse.x, result->impulse.y, result->impulse.z};
    long double u[3] = {result->velocity.x, result->velocity.y, result->velocity.z};
    long double pMiss = 0.0L;
    long double uMiss = 0.0L;
    long double pSize = 0.0L;
    long double uSize = rbLength(input->velocity);
    for (int i = 0; i < 3; ++i) {
        pMiss = hypotl(pMiss, p[i] - truth->impulse[i]);
        uMiss = hypotl(uMiss, u[i] - truth->velocity[i]);
        pSize = hypotl(pSize, truth->impulse[i]);
    }
    long double error = fmaxl(pMiss / pSize, uMiss / uSize);
    long double workSize = pSize * uSize;
    error = fmaxl(error, fabsl(result->normalWork - truth->normalWork) / workSize);
    error = fmaxl(error, fabsl(result->frictionWork - truth->frictionWork) / workSize);
    error = fmaxl(error, fabsl(result->compressionWork - truth->compressionWork) / workSize);
    return isnan(error) ? INFINITY : (double)error;
}
