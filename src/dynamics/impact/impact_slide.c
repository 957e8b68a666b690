// Sliding with a turning direction, over the normal impulse (L-90, L-94).
//
// Over p_z the equation is singular where sliding stops: the direction turns at the rate h/r. So we
// integrate over tau with dp_z = r dtau, r = |u_t|, in which
//   u_t' = r w - mu A u_t      r^2 = u_t . u_t
//   u_z' = K33 r - mu w . u_t  p_z' = r   p_t' = -mu u_t
//   work' = r u_z
// is linear except for the square root: regular, and homogeneous in (u_t, r), so that a stop lies
// at tau = infinity and is approached with constant relative accuracy. The direction obeys theta' =
// h(theta) alone, and h, which has only the first two harmonics, has zeros: the direction tends to
// one of them. When it has arrived there, to rounding, the rest is a straight piece.
//
// The right hand sides are products of series, so we expand to order TAYLOR_ORDER; that costs less
// than the Runge-Kutta steps it replaces, and events are roots of known polynomials. Each expansion
// starts in axes along the direction of sliding, with r = 1.
#include "base/math/elementary.h"
#include "dynamics/impact/impact_path.h"

#include <float.h>
#include <math.h>

#define TAYLOR_ORDER 24
#define TAYLOR_TOLERANCE 1e-16
// The work is the integral of a product, whose coefficients decay later than those of its factors:
// for e^t e^t the chosen step leaves an error of 3e-20 after this order, 1e-9 after the one above.
#define WORK_ORDER 36

// 1/(n + 1): a division takes as long as ten products.
static const double shares[WORK_ORDER] = {
    1.0 / 1,  1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,  1.0 / 6,  1.0 / 7,  1.0 / 8,  1.0 / 9,
    1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15, 1.0 / 16, 1.0 / 17, 1.0 / 18,
    1.0 / 19, 1.0 / 20, 1.0 / 21, 1.0 / 22, 1.0 / 23, 1.0 / 24, 1.0 / 25, 1.0 / 26, 1.0 / 27,
    1.0 / 28, 1.0 / 29, 1.0 / 30, 1.0 / 31, 1.0 / 32, 1.0 / 33, 1.0 / 34, 1.0 / 35, 1.0 / 36};

typedef struct Series {
    int order;
    double c[WORK_ORDER + 1];
} Series;

typedef struct CurvedPiece {
    Series x, y, r;                       // u_t/r(0) along its first direction, |u_t|/r(0)
    Series quantities[RB_QUANTITY_COUNT]; // u_z; p_z and the work since the start
    double base[RB_QUANTITY_COUNT];       // p_z and work at the start
    double impulseUnit;                   // dp_z/dtau at the start
} CurvedPiece;

static double evaluate(const Series* series, double t)
{
    double value = series->c[series->order];
    for (int i = series->order - 1; i >= 0; --i) {
        value = value * t + series->c[i];
    }
    return value;
}

static double evaluateSlope(const Series* series, double t)
{
    double value = series->order * series->c[series->order];
    for (int i = series->order - 1; i >= 1; --i) {
        value = value * t + i * series->c[i];
    }
    return value;
}

// The integral of a series of the first order from 0 to t.
static double integrate(const Series* series, double t)
{
    double value = series->c[TAYLOR_ORDER] * shares[TAYLOR_ORDER];
    for (int i = TAYLOR_ORDER - 1; i >= 0; --i) {
        value = value * t + series->c[i] * shares[i];
    }
    return value * t;
}

// Coefficient n of the product. Two sums, because a single one would be bound by latency.
static double multiplyAt(const double* a, const double* b, int n)
{
    int first = n > TAYLOR_ORDER ? n - TAYLOR_ORDER : 0;
    int last = n < TAYLOR_ORDER ? n : TAYLOR_ORDER;
    double even = 0.0;
    double odd = 0.0;
    int i = first;
    for (; i < last; i += 2) {
        even += a[i] * b[n - i];
        odd += a[i + 1] * b[n - i - 1];
    }
    return i == last ? even + a[i] * b[n - i] + odd : even + odd;
}

// Coefficient n of the square without the terms that contain coefficient n itself.
static double squareInside(const double* a, int n)
{
    double sum = 0.0;
    for (int i = 1; 2 * i < n; ++i) {
        sum += a[i] * a[n - i];
    }
    sum *= 2.0;
    return n % 2 == 0 ? sum + a[n / 2] * a[n / 2] : sum;
}

static void expand(const rbImpactPath* path, const rbSlip* slip, CurvedPiece* piece)
{
    const rbSym3* k = &path->k;
    double c = slip->cosine;
    double s = slip->sine;
    double mu = path->mu;
    double w1 = k->xz * c + k->yz * s;
    double w2 = k->yz * c - k->xz * s;
    double a11 = mu * (k->xx * (c * c) + 2.0 * k->xy * (c * s) + k->yy * (s * s));
    double a22 = mu * (k->xx * (s * s) - 2.0 * k->xy * (c * s) + k->yy * (c * c));
    double a12 = mu * ((k->yy - k->xx) * (c * s) + k->xy * (c * c - s * s));
    // tau in units of the fastest rate, so that powers of K do not overflow.
    double unit = 1.0 / (a11 + a22 + fabs(w1) + fabs(w2));
    double impulseUnit = slip->speed * unit;
    double z0 = impulseUnit * k->zz;
    double z1 = impulseUnit * (mu * w1);
    double z2 = impulseUnit * (mu * w2);
    w1 *= unit;
    w2 *= unit;
    a11 *= unit;
    a12 *= unit;
    a22 *= unit;
    double* x = piece->x.c;
    double* y = piece->y.c;
    double* r = piece->r.c;
    double* z = piece->quantities[RB_QUANTITY_VELOCITY].c;
    double* p = piece->quantities[RB_QUANTITY_IMPULSE].c;
    double* work = piece->quantities[RB_QUANTITY_WORK].c;
    piece->x.order = piece->y.order = piece->r.order = TAYLOR_ORDER;
    piece->quantities[RB_QUANTITY_VELOCITY].order = TAYLOR_ORDER;
    piece->quantities[RB_QUANTITY_IMPULSE].order = TAYLOR_ORDER;
    piece->quantities[RB_QUANTITY_WORK].order = WORK_ORDER;
    x[0] = r[0] = 1.0;
    y[0] = 0.0;
    z[0] = path->z;
    p[0] = work[0] = 0.0;
    for (int n = 0; n < TAYLOR_ORDER; ++n) {
        double share = shares[n];
        x[n + 1] = share * (w1 * r[n] - (a11 * x[n] + a12 * y[n]));
        y[n + 1] = share * (w2 * r[n] - (a12 * x[n] + a22 * y[n]));
        z[n + 1] = share * (z0 * r[n] - (z1 * x[n] + z2 * y[n]));
        p[n + 1] = share * (impulseUnit * r[n]);
        // x^2 + y^2, and the part of r^2 that does not contain r[n + 1].
        double square = 2.0 * x[n + 1] + (squareInside(x, n + 1) + squareInside(y, n + 1));
        r[n + 1] = 0.5 * (square - squareInside(r, n + 1));
    }
    for (int n = 0; n < WORK_ORDER; ++n) {
        work[n + 1] = impulseUnit * multiplyAt(r, z, n) * shares[n];
    }
    piece->impulseUnit = impulseUnit;
    piece->base[RB_QUANTITY_VELOCITY] = 0.0;
    piece->base[RB_QUANTITY_IMPULSE] = path->pz;
    piece->base[RB_QUANTITY_WORK] = path->work;
}

// The length over which the last terms stay below the tolerance.
static double chooseLength(const CurvedPiece* piece)
{
    double length = INFINITY;
    for (int n = TAYLOR_ORDER - 1; n <= TAYLOR_ORDER; ++n) {
        double size = fabs(piece->x.c[n]) + fabs(piece->y.c[n]) + fabs(piece->r.c[n]) + DBL_MIN;
        double reach = rbExp(rbLog(TAYLOR_TOLERANCE / size) / n);
        length = reach < length ? reach : length;
    }
    return length;
}

// Where the parabola at the start crosses the value. The work starts with no slope at all.
static double guessCrossing(const Series* series, double value, bool isRising, double start)
{
    double curvature = 0.0;
    for (int i = series->order; i >= 2; --i) {
        curvature = curvature * start + (double)(i * (i - 1)) * series->c[i];
    }
    double slope = evaluateSlope(series, start);
    double gap = value - evaluate(series, start);
    double root = sqrt(fmax(slope * slope + 2.0 * curvature * gap, 0.0));
    return start + 2.0 * gap / (slope + (isRising ? root : -root));
}

// Where the series crosses the value between low and high, once. Newton's method, kept within the
// bracket.
static double findCrossing(const Series* series, double value, bool isRising, double low,
                           double high)
{
    double lowEnd = low;
    double highEnd = high;
    double t = guessCrossing(series, value, isRising, low);
    t = t > low && t < high ? t : 0.5 * (low + high);
    for (int i = 0; i < 200; ++i) {
        double difference = evaluate(series, t) - value;
        double slope = evaluateSlope(series, t);
        if (difference == 0.0) {
            break;
        }
        if ((difference > 0.0) == isRising) {
            highEnd = t;
        } else {
            lowEnd = t;
        }
        double next = t - difference / slope;
        bool isSettled = fabs(next - t) <= DBL_EPSILON * fabs(t) || !(highEnd > lowEnd);
        if (isSettled) {
            break;
        }
        t = next > lowEnd && next < highEnd ? next : 0.5 * (lowEnd + highEnd);
    }
    return t;
}

// Where the slope of the series changes sign between low and high.
static double findExtremum(const Series* series, double low, double high)
{
    bool isRising = evaluateSlope(series, high) > 0.0;
    for (int i = 0; i < 30 && low < high; ++i) {
        double middle = 0.5 * (low + high);
        if ((evaluateSlope(series, middle) > 0.0) == isRising) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return 0.5 * (low + high);
}

// The first point from start to end where u_z rises to value; INFINITY if there is none. u_z is
// below or at the value at the start. Within a piece it has at most one extremum.
static double findRise(const Series* z, double value, double start, double end)
{
    double startSlope = evaluateSlope(z, start);
    double endSlope = evaluateSlope(z, end);
    double endValue = evaluate(z, end);
    if (startSlope < 0.0) {
        double bottom = endSlope > 0.0 ? findExtremum(z, start, end) : end;
        return endValue >= value && endSlope > 0.0 ? findCrossing(z, value, true, bottom, end)
                                                   : INFINITY;
    }
    if (endValue >= value) {
        return findCrossing(z, value, true, start, end);
    }
    if (endSlope < 0.0) {
        double top = findExtremum(z, start, end);
        return evaluate(z, top) >= value ? findCrossing(z, value, true, start, top) : INFINITY;
    }
    return INFINITY;
}

// The first point from start to end where u_z falls to zero; INFINITY if there is none.
static double findFall(const Series* z, double start, double end)
{
    double startSlope = evaluateSlope(z, start);
    double endSlope = evaluateSlope(z, end);
    if (startSlope < 0.0 && evaluate(z, start) <= 0.0) {
        return start;
    }
    if (startSlope >= 0.0) {
        if (!(endSlope < 0.0) || evaluate(z, end) >= 0.0) {
            return INFINITY;
        }
        return findCrossing(z, 0.0, false, findExtremum(z, start, end), end);
    }
    double bottom = endSlope > 0.0 ? findExtremum(z, start, end) : end;
    return evaluate(z, bottom) < 0.0 ? findCrossing(z, 0.0, false, start, bottom) : INFINITY;
}

// The first point from start to end where the goal is reached.
static double findGoal(const rbImpactPath* path, const CurvedPiece* piece, double start, double end)
{
    const Series* series = &piece->quantities[path->quantity];
    double value = path->goal - piece->base[path->quantity];
    if (path->quantity == RB_QUANTITY_VELOCITY) {
        return findRise(series, value, start, end);
    }
    return evaluate(series, end) >= value ? findCrossing(series, value, true, start, end)
                                          : INFINITY;
}

static void setNormalState(rbImpactPath* path, const CurvedPiece* piece, double t)
{
    path->z = evaluate(&piece->quantities[RB_QUANTITY_VELOCITY], t);
    path->pz =
        piece->base[RB_QUANTITY_IMPULSE] + evaluate(&piece->quantities[RB_QUANTITY_IMPULSE], t);
    path->work = piece->base[RB_QUANTITY_WORK] + evaluate(&piece->quantities[RB_QUANTITY_WORK], t);
}

static void setTangentialState(rbImpactPath* path, const rbSlip* slip, const CurvedPiece* piece,
                               double t)
{
    double c = slip->cosine;
    double s = slip->sine;
    double ux = slip->speed * evaluate(&piece->x, t);
    double uy = slip->speed * evaluate(&piece->y, t);
    double px = -path->mu * piece->impulseUnit * integrate(&piece->x, t);
    double py = -path->mu * piece->impulseUnit * integrate(&piece->y, t);
    // The total work is (u + u0) p/2 for any path; the part not done by the normal impulse was done
    // by friction.
    const Series* z = &piece->quantities[RB_QUANTITY_VELOCITY];
    double pz = evaluate(&piece->quantities[RB_QUANTITY_IMPULSE], t);
    double normal =
        0.5 * (z->c[0] + evaluate(z, t)) * pz - evaluate(&piece->quantities[RB_QUANTITY_WORK], t);
    path->frictionWork += normal + 0.5 * ((slip->speed + ux) * px + uy * py);
    path->x = ux * c - uy * s;
    path->y = ux * s + uy * c;
    path->px += px * c - py * s;
    path->py += px * s + py * c;
}

void rbWalkCurved(rbImpactPath* path, const rbSlip* slip)
{
    RB_ASSERT(slip->speed > 0.0);
    RB_ASSERT(path->mode != RB_MODE_DONE);
    CurvedPiece piece;
    expand(path, slip, &piece);
    double length = chooseLength(&piece);
    double t = 0.0;
    bool isAtEnd = false;
    while (path->mode != RB_MODE_DONE && !isAtEnd) {
        double fall = path->mode == RB_MODE_RESTITUTION
                          ? findFall(&piece.quantities[RB_QUANTITY_VELOCITY], t, length)
                          : INFINITY;
        double end = fall < length ? fall : length;
        double goal = findGoal(path, &piece, t, end);
        bool isGoal = goal < INFINITY;
        t = isGoal ? goal : end;
        setNormalState(path, &piece, t);
        piece.base[RB_QUANTITY_WORK] -= path->work;
        if (isGoal) {
            rbImpactPath_PassGoal(path);
        } else if (fall < INFINITY) {
            rbImpactPath_Recompress(path);
        } else {
            isAtEnd = true;
        }
        // A goal in work is counted from here, where the work of this series is not small.
        isAtEnd = isAtEnd || path->quantity == RB_QUANTITY_WORK;
    }
    setTangentialState(path, slip, &piece, t);
    path->steps += 1;
}
