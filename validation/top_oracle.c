// Taylor series of degree DEGREE with the recurrences of B-07, in IEEE quadruple precision. With
// normalized coefficients x_n = x^(n)/n! the binomials vanish:
//     (n+1) w_{n+1}   = J^-1 ( - sum_k w_k x (J w_{n-k}) )
//     (n+1) rho_{n+1} = 1/2 sum_k rho_{n-k} (0, w_k)
// The step follows from the decay of the last two coefficients, so that the truncation error is
// below TRUNCATION of the state; the orientation is composed over the steps and normalized at each.
#include "top_oracle.h"

#include "wide.h"

// Degree and truncation: the cost per second of flight, DEGREE^2 / step, is least near
// DEGREE = ln(1 / TRUNCATION) / 2, and flat there.
#define DEGREE 28
#define TRUNCATION 1e-28

typedef struct rbTopSeries {
    rbWide w[3][DEGREE + 1];
    rbWide q[4][DEGREE + 1];
} rbTopSeries;

static void computeSeries(rbTopSeries* s, const rbWide factors[3])
{
    s->q[0][0] = 1;
    s->q[1][0] = s->q[2][0] = s->q[3][0] = 0;
    for (int n = 0; n < DEGREE; ++n) {
        rbWide yz = 0, zx = 0, xy = 0;
        rbWide w = 0, x = 0, y = 0, z = 0;
        for (int k = 0; k <= n; ++k) {
            int m = n - k;
            yz += s->w[1][k] * s->w[2][m];
            zx += s->w[2][k] * s->w[0][m];
            xy += s->w[0][k] * s->w[1][m];
            // rho (0, w): the Hamilton product with the spin on the right
            w -= s->q[1][m] * s->w[0][k] + s->q[2][m] * s->w[1][k] + s->q[3][m] * s->w[2][k];
            x += s->q[0][m] * s->w[0][k] + s->q[2][m] * s->w[2][k] - s->q[3][m] * s->w[1][k];
            y += s->q[0][m] * s->w[1][k] + s->q[3][m] * s->w[0][k] - s->q[1][m] * s->w[2][k];
            z += s->q[0][m] * s->w[2][k] + s->q[1][m] * s->w[1][k] - s->q[2][m] * s->w[0][k];
        }
        rbWide inverse = 1 / (rbWide)(n + 1);
        rbWide half = inverse / 2;
        s->w[0][n + 1] = inverse * factors[0] * yz;
        s->w[1][n + 1] = inverse * factors[1] * zx;
        s->w[2][n + 1] = inverse * factors[2] * xy;
        s->q[0][n + 1] = half * w;
        s->q[1][n + 1] = half * x;
        s->q[2][n + 1] = half * y;
        s->q[3][n + 1] = half * z;
    }
}

// Largest coefficient of a degree, relative to the size of the state.
static double sizeOf(const rbTopSeries* s, int degree, double spin)
{
    double size = 0.0;
    for (int i = 0; i < 3; ++i) {
        double part = fabs((double)s->w[i][degree]) / spin;
        size = part > size ? part : size;
    }
    for (int i = 0; i < 4; ++i) {
        double part = fabs((double)s->q[i][degree]);
        size = part > size ? part : size;
    }
    return size;
}

static double chooseStep(const rbTopSeries* s, double spin)
{
    double step = 1.0 / spin;
    for (int degree = DEGREE - 1; degree <= DEGREE; ++degree) {
        double size = sizeOf(s, degree, spin);
        if (size > 0.0) {
            double h = pow(TRUNCATION / size, 1.0 / degree);
            step = h < step ? h : step;
        }
    }
    return step;
}

static rbWide evaluate(const rbWide* coefficients, rbWide h)
{
    rbWide sum = 0;
    for (int n = DEGREE; n >= 0; --n) {
        sum = sum * h + coefficients[n];
    }
    return sum;
}

// total <- total * part, normalized.
static void compose(rbWide total[4], const rbWide part[4])
{
    const rbWide* a = total;
    const rbWide* b = part;
    rbWide r[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                   a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                   a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3],
                   a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1]};
    rbWide norm = rbWide_Sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    for (int i = 0; i < 4; ++i) {
        total[i] = r[i] / norm;
    }
}

void rbTopOracle(rbVec3 moments, rbVec3 spinLocal, double duration, double* q4, double* w3)
{
    const rbWide i[3] = {moments.x, moments.y, moments.z};
    const rbWide factors[3] = {(i[1] - i[2]) / i[0], (i[2] - i[0]) / i[1], (i[0] - i[1]) / i[2]};
    rbTopSeries s = {{{0}}, {{0}}};
    s.w[0][0] = spinLocal.x;
    s.w[1][0] = spinLocal.y;
    s.w[2][0] = spinLocal.z;
    rbWide q[4] = {1, 0, 0, 0};
    rbWide rest = duration;
    double spin = rbLength(spinLocal);
    while (rest > 0 && spin > 0.0) {
        computeSeries(&s, factors);
        rbWide h = chooseStep(&s, spin);
        h = h < rest ? h : rest;
        rest -= h;
        rbWide part[4];
        for (int k = 0; k < 4; ++k) {
            part[k] = evaluate(s.q[k], h);
        }
        compose(q, part);
        for (int k = 0; k < 3; ++k) {
            s.w[k][0] = evaluate(s.w[k], h);
        }
    }
    for (int k = 0; k < 4; ++k) {
        q4[k] = (double)q[k];
    }
    for (int k = 0; k < 3; ++k) {
        w3[k] = (double)s.w[k][0];
    }
}
