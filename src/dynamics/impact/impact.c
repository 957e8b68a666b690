// One impact: the order of its phases, the scale of its velocities, and microcollisions.
//
// A phase of sliding ends the impact or stops; after a stop there is one more phase, sticking or
// sliding in a constant direction, to the end. So every history is one of: smooth; slide; slide,
// stick; slide, reverse; stick; reverse.
//
// An impact is homogeneous in the velocities: only extreme ones are scaled, by a power of two.
#include "base/core/words.h"
#include "base/math/elementary.h"
#include "base/math/matrix3.h"
#include "base/math/roots.h"
#include "dynamics/impact/impact_path.h"
#include "dynamics/impact/impact_words.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define STEPS_MAX 400
#define EVALUATIONS_MAX 400 // of a root; about 10 are usual
// Impulses outside the friction cone by less than this fraction count as on it.
#define CONE_ROUNDING 1e-13
#define CONE_NEAR 1e-9
#define FRICTION_MAX 1e60 // larger values have the same effect
#define PLAIN_SPEED_MIN 1e-60
#define PLAIN_SPEED_MAX 1e60
#define SLIP_EXPONENT_MAX 200 // of |u_t|/|u_z|, binary; beyond, u_t keeps its direction
// Below this fraction of the approach speed a slip counts as stopped. Far below rounding, because
// the remainder of a slip may matter more when K is badly scaled.
#define STOPPED_RATIO 0x1p-200

static const char* const phaseNames[RB_PHASE_COUNT] = {
    [RB_PHASE_NONE] = "",           [RB_PHASE_SLIDE] = "slide",   [RB_PHASE_STICK] = "stick",
    [RB_PHASE_REVERSE] = "reverse", [RB_PHASE_SMOOTH] = "smooth", [RB_PHASE_RETURN] = "return",
    [RB_PHASE_BOOST] = "boost",     [RB_PHASE_RAY] = "ray",       [RB_PHASE_GAINS] = "gainsEnergy",
};
RB_DEFINE_NAME(rbImpactPhase, RB_PHASE_COUNT, phaseNames[index])

const char* rbImpactHistory_Format(uint32_t history, char text[RB_IMPACT_HISTORY_SIZE])
{
    int length = 0;
    text[0] = '\0';
    for (uint32_t rest = history; rest != 0; rest >>= 4) {
        uint32_t phase = rest & 15u;
        RB_ASSERT(phase < RB_PHASE_COUNT);
        const char* name = phase < RB_PHASE_COUNT ? phaseNames[phase] : "?";
        int room = RB_IMPACT_HISTORY_SIZE - length;
        int written = snprintf(text + length, (size_t)room, "%s%s", length > 0 ? ", " : "", name);
        RB_ASSERT(written >= 0 && written < room);
        length += written < room ? written : room - 1;
    }
    return text;
}

static void addPhase(uint32_t* history, rbImpactPhase phase)
{
    int shift = 0;
    while (shift < 28 && (*history >> shift) != 0) {
        shift += 4;
    }
    *history |= (uint32_t)phase << shift;
}

// -------------------------------------------------------------------------------------------- laws
// The laws of restitution: each turns "when does the impact end" into a goal.
//
// With friction Newton's law may raise the energy: it asks for a velocity, whatever it costs.
// Poisson's and Stronge's may not, for one contact.
//
// Where u_z falls below zero again during restitution (friction can cause this in three dimensions)
// the bodies compress again. Poisson's and Stronge's law then sum over all compression and all
// restitution phases.

static void setNewtonGoal(rbImpactPath* path)
{
    path->quantity = RB_QUANTITY_VELOCITY;
    path->goal = path->e * path->startSpeed;
}

static void setPoissonGoal(rbImpactPath* path)
{
    path->quantity = RB_QUANTITY_IMPULSE;
    path->goal =
        path->modeImpulse + (path->e * path->compressionImpulse - path->restitutionImpulse);
}

static void setStrongeGoal(rbImpactPath* path)
{
    path->quantity = RB_QUANTITY_WORK;
    path->goal = -(path->e * path->e) * path->compressionWork - path->restitutionWork;
}

static const rbImpactLawRow lawRows[RB_IMPACT_LAW_COUNT] = {
    [RB_IMPACT_NEWTON] = {"newton", setNewtonGoal, .mayGain = true, .isOfVelocity = true},
    [RB_IMPACT_POISSON] = {.name = "poisson", .setGoal = setPoissonGoal},
    [RB_IMPACT_STRONGE] = {"stronge", setStrongeGoal, .isOfWork = true},
};

const rbImpactLawRow* rbGetImpactLaw(rbImpactLaw law)
{
    RB_ASSERT((int)law >= 0);
    RB_ASSERT(law < RB_IMPACT_LAW_COUNT);
    return &lawRows[law];
}

double rbImpactLaw_GetTarget(rbImpactLaw law, double restitution, double speed)
{
    return rbGetImpactLaw(law)->isOfVelocity && speed < 0.0 ? -restitution * speed : 0.0;
}

double rbImpactLaw_GetShare(rbImpactLaw law, double restitution)
{
    return rbGetImpactLaw(law)->isOfVelocity ? 0.0 : restitution;
}

double rbImpactLaw_GetReturn(rbImpactLaw law, double restitution, double work)
{
    return rbGetImpactLaw(law)->isOfWork ? restitution * restitution * fmax(0.0, -work) : INFINITY;
}

RB_DEFINE_WORDS(rbImpactLaw, "law of impact", RB_IMPACT_LAW_COUNT, lawRows[index].name)

// ----------------------------------------------------------------------- modes and straight pieces
// The modes of an impact, the rates of sliding and the straight pieces of the path (L-90 to L-93,
// L-96).
//
// Write A for the tangential 2x2 block of K, w = (K13, K23), d = (cos, sin) for the direction of
// sliding, d' for d rotated by 90 degrees. Sliding (L-90) in polar form over p_z, r = |u_t|:
//   du_z = f dp_z     f = K33 - mu w.d
//   dr   = g dp_z     g = w.d - mu d.A d
//   r dtheta = h dp_z h = w.d' - mu d'.A d
// K is positive definite, so (w.d)^2 < K33 d.A d: where f <= 0 (jam) we have mu w.d >= K33, hence
// w.d < mu d.A d, that is g < 0. A jam therefore ends by itself: sliding stops or turns.

static void enterMode(rbImpactPath* path, rbImpactMode mode)
{
    path->mode = mode;
    path->modeImpulse = path->pz;
    path->workBefore += path->work;
    path->work = 0.0;
    path->quantity = RB_QUANTITY_VELOCITY;
    path->goal = 0.0;
    if (mode == RB_MODE_RESTITUTION) {
        rbGetImpactLaw(path->law)->setGoal(path);
    } else if (mode == RB_MODE_LIFT) {
        path->goal = path->leastSpeed;
    }
}

static void endRestitution(rbImpactPath* path)
{
    enterMode(path, path->z < path->leastSpeed ? RB_MODE_LIFT : RB_MODE_DONE);
}

void rbImpactPath_PassGoal(rbImpactPath* path)
{
    RB_ASSERT(path->mode != RB_MODE_DONE);
    *rbImpactPath_GetValue(path) = path->goal; // without its rounding error
    if (path->mode == RB_MODE_COMPRESSION) {
        path->compressionImpulse += path->pz - path->modeImpulse;
        path->compressionWork += path->work;
        enterMode(path, RB_MODE_RESTITUTION);
        // No restitution: e = 0, or e^2 of the work is below the smallest number.
        if (path->e == 0.0 || rbImpactPath_GetGap(path) <= 0.0) {
            endRestitution(path);
        }
    } else if (path->mode == RB_MODE_RESTITUTION) {
        endRestitution(path);
    } else {
        enterMode(path, RB_MODE_DONE);
    }
}

// u_z fell to zero before the end of restitution: compression again.
static void recompress(rbImpactPath* path)
{
    RB_ASSERT(path->mode == RB_MODE_RESTITUTION);
    path->restitutionImpulse += path->pz - path->modeImpulse;
    path->restitutionWork += path->work;
    path->z = 0.0;
    enterMode(path, RB_MODE_COMPRESSION);
}

static rbSlip makeSlip(const rbImpactPath* path, double speed, double c, double s)
{
    const rbSym3* k = &path->k;
    double mu = path->mu;
    rbSlip slip = {.speed = speed, .cosine = c, .sine = s};
    slip.along = k->xx * (c * c) + 2.0 * k->xy * (c * s) + k->yy * (s * s);
    slip.across = k->xx * (s * s) - 2.0 * k->xy * (c * s) + k->yy * (c * c);
    slip.turn = (k->yy - k->xx) * (c * s) + k->xy * (c * c - s * s);
    slip.pull = k->xz * c + k->yz * s;
    slip.side = k->yz * c - k->xz * s;
    slip.f = k->zz - mu * slip.pull;
    // In the components of w - mu A d: near a settled direction the stiff one is small.
    slip.g =
        c * (k->xz - mu * (k->xx * c + k->xy * s)) + s * (k->yz - mu * (k->xy * c + k->yy * s));
    slip.h = slip.side - mu * slip.turn;
    slip.hSlope = mu * (slip.along - slip.across) - slip.pull;
    // Of the terms, and of the direction, which is accurate only to rounding.
    slip.hNoise = DBL_EPSILON * (fabs(k->yz * c) + fabs(k->xz * s) +
                                 mu * (fabs((k->yy - k->xx) * (c * s)) + fabs(k->xy))) +
                  8.0 * DBL_EPSILON * fabs(slip.hSlope);
    return slip;
}

rbSlip rbMeasureSlip(const rbImpactPath* path)
{
    double speed = sqrt(path->x * path->x + path->y * path->y);
    return speed > 0.0 ? makeSlip(path, speed, path->x / speed, path->y / speed) : (rbSlip){0};
}

// A direction that attracts has settled: removes its rounding error, so that its smaller component
// is accurate too. This matters when K is badly scaled.
static rbSlip settleSlip(const rbImpactPath* path, const rbSlip* slip)
{
    rbSlip settled = *slip;
    for (int i = 0; i < 4 && settled.hSlope < 0.0; ++i) {
        double angle = -settled.h / settled.hSlope;
        if (!(fabs(angle) < 1e-3)) {
            return *slip;
        }
        double c = settled.cosine - angle * settled.sine;
        double s = settled.sine + angle * settled.cosine;
        double length = sqrt(c * c + s * s);
        settled = makeSlip(path, slip->speed, c / length, s / length);
    }
    return settled;
}

// A piece on which du/dp_z is constant.
typedef struct StraightPiece {
    double f, g;
    double cosine, sine; // of sliding; both 0 while sticking
    double qx, qy;       // dp_t/dp_z
    double speed;        // at the start of the piece
    double length;       // in p_z, up to INFINITY; sliding stops there
} StraightPiece;

// The p_z still missing to the goal when u_z grows at the rate f.
static double getStraightGap(const rbImpactPath* path, double f)
{
    double gap = rbImpactPath_GetGap(path);
    if (gap < 0.0) {
        return 0.0;
    }
    if (path->quantity == RB_QUANTITY_VELOCITY) {
        return f > 0.0 ? gap / f : INFINITY; // at the goal, but falling: not reached yet
    }
    if (gap == 0.0) {
        return 0.0;
    }
    if (path->quantity == RB_QUANTITY_IMPULSE) {
        return gap;
    }
    double discriminant = path->z * path->z + 2.0 * f * gap;
    return discriminant >= 0.0 ? 2.0 * gap / (path->z + sqrt(discriminant)) : INFINITY;
}

// Advances along the piece to its end or that of the impact.
static void walkStraight(rbImpactPath* path, const StraightPiece* piece)
{
    RB_ASSERT(piece->length >= 0.0);
    RB_ASSERT(piece->f > 0.0 || piece->length < INFINITY);
    double walked = 0.0;
    double px = path->px, py = path->py, frictionWork = path->frictionWork;
    bool isAtEnd = false;
    while (path->mode != RB_MODE_DONE && !isAtEnd) {
        double toGoal = getStraightGap(path, piece->f);
        double toFall =
            path->mode == RB_MODE_RESTITUTION && piece->f < 0.0 ? -path->z / piece->f : INFINITY;
        double left = piece->length - walked;
        double step = toGoal <= left ? toGoal : left;
        bool isFall = toFall < step;
        step = isFall ? toFall : step;
        isAtEnd = !isFall && toGoal > left;

        walked = isAtEnd ? piece->length : walked + step;
        path->work += step * (path->z + 0.5 * piece->f * step);
        path->z += piece->f * step;
        path->pz += step;
        if (isFall) {
            recompress(path);
        } else if (!isAtEnd) {
            rbImpactPath_PassGoal(path);
        }
    }
    path->px = px + piece->qx * walked;
    path->py = py + piece->qy * walked;
    double speed = isAtEnd ? 0.0 : piece->speed + piece->g * walked;
    speed = speed > 0.0 ? speed : 0.0;
    path->x = speed * piece->cosine;
    path->y = speed * piece->sine;
    if (piece->cosine != 0.0 || piece->sine != 0.0) {
        path->frictionWork = frictionWork - path->mu * (0.5 * (piece->speed + speed) * walked);
    }
}

// Sliding in a constant direction, up to its stop.
static StraightPiece makeSlidingPiece(const rbImpactPath* path, const rbSlip* slip)
{
    RB_ASSERT(slip->speed > 0.0);
    StraightPiece piece = {
        .f = slip->f,
        .g = slip->g,
        .cosine = slip->cosine,
        .sine = slip->sine,
        .qx = -path->mu * slip->cosine,
        .qy = -path->mu * slip->sine,
        .speed = slip->speed,
        .length = slip->g < 0.0 ? -slip->speed / slip->g : INFINITY,
    };
    // Only rounding, see the top of the file: without a stop the normal velocity grows.
    piece.f = piece.length == INFINITY && !(piece.f > 0.0) ? DBL_EPSILON * path->k.zz : piece.f;
    return piece;
}

// Solves (lambda + mu A) d = w. Returns |d|.
static double solveShifted(const rbImpactPath* path, double lambda, double d[2])
{
    const rbSym3* k = &path->k;
    double a = lambda + path->mu * k->xx;
    double b = path->mu * k->xy;
    double c = lambda + path->mu * k->yy;
    double determinant = a * c - b * b;
    d[0] = (c * k->xz - b * k->yz) / determinant;
    d[1] = (a * k->yz - b * k->xz) / determinant;
    return sqrt(d[0] * d[0] + d[1] * d[1]);
}

static double excessAt(double lambda, void* context)
{
    double d[2];
    return 1.0 / solveShifted(context, lambda, d) - 1.0;
}

// The direction in which sliding resumes (L-92): (K xi)_t = w - mu A d = lambda d, lambda > 0. So d
// solves (lambda + mu A) d = w with |d| = 1. The length of that solution falls strictly with
// lambda, from |A^-1 w|/mu at 0, which is above 1 exactly when sticking is unstable: there is one
// root, and no direction, pi or other, is a special case. 1/|d| is nearly linear in lambda. Returns
// lambda, which is g: computed from d it would be lost in rounding when K is badly scaled.
static double findResumedDirection(const rbImpactPath* path, double d[2])
{
    double high = sqrt(path->k.xz * path->k.xz + path->k.yz * path->k.yz);
    double lambda = rbFindRoot(excessAt, (void*)path, 0.0, high, 0.0, EVALUATIONS_MAX).x;
    double length = solveShifted(path, lambda, d);
    d[0] /= length;
    d[1] /= length;
    return lambda;
}

// The piece after a stop: sticking (L-91), or sliding again in the direction L-92; *phase receives
// which.
static StraightPiece makePieceAfterStop(const rbImpactPath* path, rbImpactPhase* phase)
{
    const rbSym3* k = &path->k;
    // Sticking needs dp_t = q dp_z with A q = -w; 1/Kinv33 is the Schur complement K33 + w.q, and
    // the condition L-91 reads |q| <= mu.
    double determinant = k->xx * k->yy - k->xy * k->xy;
    RB_ASSERT(determinant > 0.0);
    double qx = -(k->yy * k->xz - k->xy * k->yz) / determinant;
    double qy = -(k->xx * k->yz - k->xy * k->xz) / determinant;
    StraightPiece piece = {.qx = qx, .qy = qy, .length = INFINITY};
    if (qx * qx + qy * qy <= path->mu * path->mu) {
        *phase = RB_PHASE_STICK;
        piece.f = k->zz + (k->xz * qx + k->yz * qy);
    } else {
        *phase = RB_PHASE_REVERSE;
        double d[2] = {0.0, 0.0};
        piece.g = findResumedDirection(path, d);
        piece.f = k->zz - path->mu * (k->xz * d[0] + k->yz * d[1]);
        piece.cosine = d[0];
        piece.sine = d[1];
        piece.qx = -path->mu * d[0];
        piece.qy = -path->mu * d[1];
    }
    // Positive for every positive definite K; rounding may violate this when K is almost singular.
    double least = DBL_EPSILON * k->zz;
    piece.f = piece.f > least ? piece.f : least;
    return piece;
}

// ----------------------------------------------------------------------------------- curved pieces
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
    int last = n < TAYLOR_ORDER ? n : TAYLOR_ORDER;
    double even = 0.0, odd = 0.0;
    int i = n > TAYLOR_ORDER ? n - TAYLOR_ORDER : 0;
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
    double mu = path->mu, w1 = slip->pull, w2 = slip->side;
    double a11 = mu * slip->along, a22 = mu * slip->across, a12 = mu * slip->turn;
    // tau in units of the fastest rate, so that powers of K do not overflow.
    double unit = 1.0 / (a11 + a22 + fabs(w1) + fabs(w2));
    double impulseUnit = slip->speed * unit;
    double z0 = impulseUnit * k->zz;
    double z1 = impulseUnit * (mu * w1), z2 = impulseUnit * (mu * w2);
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

// A series less a value.
typedef struct Difference {
    const Series* series;
    double value;
} Difference;

static double differenceAt(double t, void* context)
{
    const Difference* difference = context;
    return evaluate(difference->series, t) - difference->value;
}

static double slopeAt(double t, void* context)
{
    return evaluateSlope(context, t);
}

// Where the series crosses the value between low and high, once.
static double findCrossing(const Series* series, double value, double low, double high)
{
    Difference difference = {series, value};
    return rbFindRoot(differenceAt, &difference, low, high, 0.0, EVALUATIONS_MAX).x;
}

// The first point from start to end where u_z rises (sign 1) or falls (-1) to a value; INFINITY if
// there is none. Within a piece it has at most one extremum.
static double findPassage(const Series* z, double value, double sign, double start, double end)
{
    bool turns = (evaluateSlope(z, start) > 0.0) != (evaluateSlope(z, end) > 0.0);
    double extremum =
        turns ? rbFindRoot(slopeAt, (void*)z, start, end, 0.0, EVALUATIONS_MAX).x : end;
    double marks[3] = {start, extremum, end};
    double last = sign * (evaluate(z, start) - value);
    for (int i = 1; i < 3; ++i) {
        double next = sign * (evaluate(z, marks[i]) - value);
        if (next > last && next >= 0.0) {
            return last >= 0.0 ? marks[i - 1] : findCrossing(z, value, marks[i - 1], marks[i]);
        }
        last = next;
    }
    return INFINITY;
}

// The first point from start to end where the goal is reached.
static double findGoal(const rbImpactPath* path, const CurvedPiece* piece, double start, double end)
{
    const Series* series = &piece->quantities[path->quantity];
    double value = path->goal - piece->base[path->quantity];
    if (path->quantity == RB_QUANTITY_VELOCITY) {
        return findPassage(series, value, 1.0, start, end);
    }
    return evaluate(series, end) >= value ? findCrossing(series, value, start, end) : INFINITY;
}

static void setTangentialState(rbImpactPath* path, const rbSlip* slip, const CurvedPiece* piece,
                               double t)
{
    double c = slip->cosine, s = slip->sine;
    double ux = slip->speed * evaluate(&piece->x, t), uy = slip->speed * evaluate(&piece->y, t);
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

// One curved piece over the impulse (L-94).
static void walkCurved(rbImpactPath* path, const rbSlip* slip)
{
    RB_ASSERT(slip->speed > 0.0);
    RB_ASSERT(path->mode != RB_MODE_DONE);
    CurvedPiece piece;
    expand(path, slip, &piece);
    double length = INFINITY; // over which the last terms stay below the tolerance
    for (int n = TAYLOR_ORDER - 1; n <= TAYLOR_ORDER; ++n) {
        double size = fabs(piece.x.c[n]) + fabs(piece.y.c[n]) + fabs(piece.r.c[n]) + DBL_MIN;
        double reach = rbExp(rbLog(TAYLOR_TOLERANCE / size) / n);
        length = reach < length ? reach : length;
    }
    double t = 0.0;
    bool isAtEnd = false;
    while (path->mode != RB_MODE_DONE && !isAtEnd) {
        double fall =
            path->mode == RB_MODE_RESTITUTION
                ? findPassage(&piece.quantities[RB_QUANTITY_VELOCITY], 0.0, -1.0, t, length)
                : INFINITY;
        double end = fall < length ? fall : length;
        double goal = findGoal(path, &piece, t, end);
        bool isGoal = goal < INFINITY;
        t = isGoal ? goal : end;
        const Series* q = piece.quantities;
        path->z = evaluate(&q[RB_QUANTITY_VELOCITY], t);
        path->pz = piece.base[RB_QUANTITY_IMPULSE] + evaluate(&q[RB_QUANTITY_IMPULSE], t);
        path->work = piece.base[RB_QUANTITY_WORK] + evaluate(&q[RB_QUANTITY_WORK], t);
        piece.base[RB_QUANTITY_WORK] -= path->work;
        if (isGoal) {
            rbImpactPath_PassGoal(path);
        } else if (fall < INFINITY) {
            recompress(path);
        } else {
            isAtEnd = true;
        }
        // A goal in work is counted from here, where the work of this series is not small.
        isAtEnd = isAtEnd || path->quantity == RB_QUANTITY_WORK;
    }
    setTangentialState(path, slip, &piece, t);
    path->steps += 1;
}

// -------------------------------------------------------------------------------------- one impact

// True when the remaining turn of the direction is negligible: it is constant, or it settles so
// fast that the p_z remaining until the stop, r/|g|, changes by less than the rounding of p_z.
static bool isStraight(const rbImpactPath* path, const rbSlip* slip)
{
    if (fabs(slip->h) <= slip->hNoise) {
        return true;
    }
    const rbSym3* k = &path->k;
    double turn = fabs(k->xz) + fabs(k->yz) + path->mu * (fabs(k->xx - k->yy) + fabs(k->xy));
    bool isIsotropic = turn <= 4.0 * DBL_EPSILON * path->mu * (k->xx < k->yy ? k->xx : k->yy);
    bool isSettling = slip->g < 0.0 && fabs(slip->h) < -1e-3 * slip->hSlope;
    return isIsotropic ||
           (isSettling && slip->speed * fabs(slip->h) <=
                              0.25 * DBL_EPSILON * path->pz * (slip->g * slip->hSlope));
}

// Slides to the stop or the end.
static void slide(rbImpactPath* path, const rbSlideMethod* method)
{
    while (path->mode != RB_MODE_DONE) {
        rbSlip slip = rbMeasureSlip(path);
        if (slip.speed <= STOPPED_RATIO * path->startSpeed) {
            path->x = path->y = 0.0;
            return;
        }
        bool isTooLong = path->steps >= STEPS_MAX && method == NULL;
        path->isInaccurate = path->isInaccurate || isTooLong;
        if (isTooLong || isStraight(path, &slip)) {
            rbSlip settled = isTooLong ? slip : settleSlip(path, &slip);
            StraightPiece piece = makeSlidingPiece(path, &settled);
            walkStraight(path, &piece);
        } else if (method == NULL || !method->walk(path, &slip)) {
            walkCurved(path, &slip);
        }
    }
}

static uint32_t walk(rbImpactPath* path, const rbSlideMethod* method)
{
    uint32_t history = 0;
    if (path->x != 0.0 || path->y != 0.0) {
        addPhase(&history, RB_PHASE_SLIDE);
        slide(path, method);
    }
    if (path->mode != RB_MODE_DONE) {
        rbImpactPhase phase = RB_PHASE_NONE;
        StraightPiece piece = makePieceAfterStop(path, &phase);
        addPhase(&history, phase);
        walkStraight(path, &piece);
    }
    return history;
}

// Makes p and u consistent along one axis: by changing p where that is within the rounding of p,
// otherwise by changing u; a point that sticks keeps u = 0.
static void agree(double miss, double stiffness, double noise, double* p, double* u)
{
    if (fabs(miss) <= noise * stiffness) {
        *p += miss / stiffness;
    } else if (*u != 0.0) {
        *u -= miss;
    }
}

// The remainder u - u0 - K p of the integration matters when K is badly scaled: along a stiff axis
// the rounding of p is a large part of u, along a soft one the rounding of u is a large part of p.
static void polish(rbImpactPath* path, rbVec3 u0)
{
    const rbSym3* k = &path->k;
    double noise = 16.0 * DBL_EPSILON * (path->mu < 1.0 ? 1.0 : path->mu) * path->pz;
    for (int i = 0; i < 2; ++i) {
        double miss = path->x - (u0.x + (k->xx * path->px + k->xy * path->py + k->xz * path->pz));
        agree(miss, k->xx, noise, &path->px, &path->x);
        miss = path->y - (u0.y + (k->xy * path->px + k->yy * path->py + k->yz * path->pz));
        agree(miss, k->yy, noise, &path->py, &path->y);
    }
    // Rounding may have moved the impulse out of the cone.
    double tangential = sqrt(path->px * path->px + path->py * path->py);
    double limit = path->mu * path->pz;
    if (tangential > limit && limit > 0.0) {
        double factor = limit / tangential * (1.0 - DBL_EPSILON);
        path->px *= factor;
        path->py *= factor;
    }
}

// Velocities whose squares neither underflow nor overflow.
static bool isPlain(rbVec3 u)
{
    return -u.z >= PLAIN_SPEED_MIN && -u.z <= PLAIN_SPEED_MAX && fabs(u.x) <= PLAIN_SPEED_MAX &&
           fabs(u.y) <= PLAIN_SPEED_MAX;
}

// The unit of velocity in which the impact is computed, a power of two; u becomes the velocity in
// it. *isGrazing: the tangential velocity was not preserved.
static double chooseUnit(const rbImpactInput* input, rbVec3* u, bool* isGrazing)
{
    *isGrazing = false;
    if (isPlain(*u)) {
        return 1.0;
    }
    double slip = fmax(fabs(u->x), fabs(u->y));
    int exponent = 0, slipExponent = 0;
    (void)frexp(u->z, &exponent);
    (void)frexp(slip, &slipExponent);
    int tangentialExponent = exponent;
    if (slip > 0.0 && slipExponent - exponent > SLIP_EXPONENT_MAX) {
        // Grazing. Unless it jams, the impact is over before u_t has changed: any multiple will do.
        double cosine = ldexp(u->x, -slipExponent), sine = ldexp(u->y, -slipExponent);
        double length = sqrt(cosine * cosine + sine * sine);
        double pull = (input->matrix.xz * cosine + input->matrix.yz * sine) / length;
        tangentialExponent = slipExponent - SLIP_EXPONENT_MAX;
        *isGrazing = input->friction * pull < input->matrix.zz;
        exponent = *isGrazing ? exponent : tangentialExponent;
    }
    u->x = ldexp(u->x, -tangentialExponent);
    u->y = ldexp(u->y, -tangentialExponent);
    u->z = ldexp(u->z, -exponent);
    u->z = u->z < -DBL_MIN ? u->z : -DBL_MIN;
    return ldexp(1.0, exponent);
}

static void assertInput(const rbImpactInput* input)
{
    (void)input; // in builds without asserts
    RB_ASSERT(rbIsFinite3(input->velocity));
    RB_ASSERT(input->matrix.xx > 0.0 && input->matrix.yy > 0.0 && input->matrix.zz > 0.0);
    RB_ASSERT(isfinite(input->matrix.xx + input->matrix.yy + input->matrix.zz));
    RB_ASSERT(isfinite(input->matrix.xy + input->matrix.xz + input->matrix.yz));
    RB_ASSERT(input->restitution >= 0.0 && isfinite(input->restitution));
    RB_ASSERT(input->friction >= 0.0);
    RB_ASSERT((int)input->law >= 0 && input->law < RB_IMPACT_LAW_COUNT);
}

// The normal motion where it is independent of friction: the laws agree. Returns the impulse.
static double resolveNormal(const rbImpactInput* input, double leastSpeed, rbImpactResult* result)
{
    double u = input->velocity.z;
    double after = fmax(-input->restitution * u, leastSpeed);
    double p = (after - u) / input->matrix.zz;
    result->velocity.z = after;
    result->compressionWork = 0.5 * u * (-u / input->matrix.zz);
    result->normalWork = 0.5 * p * (after + u);
    return p;
}

// True when neither the direction of sliding nor the normal velocity is affected by the coupling in
// K by more than rounding, as at the surface of a sphere.
static bool isDecoupled(const rbImpactInput* input)
{
    const rbSym3* k = &input->matrix;
    double least = fmin(k->xx, k->yy);
    double coupling = (fabs(k->xz) + fabs(k->yz)) * fmax(1.0, input->friction);
    return fabs(k->xx - k->yy) + fabs(k->xy) <= 16.0 * DBL_EPSILON * least &&
           coupling <= 8.0 * DBL_EPSILON * fmin(least, k->zz);
}

// Spheres (U-6): the normal and the tangential motion are decoupled.
static void resolveDecoupled(const rbImpactInput* input, double leastSpeed, rbImpactResult* result)
{
    const rbSym3* k = &input->matrix;
    rbVec3 u = input->velocity;
    double mu = input->friction;
    double p = resolveNormal(input, leastSpeed, result);
    double slip = sqrt(u.x * u.x + u.y * u.y);
    double stop = slip / k->xx; // the tangential impulse that ends sliding
    double tangential = fmin(mu * p, stop);
    double left = mu * p < stop ? slip - k->xx * tangential : 0.0;
    double x = slip > 0.0 ? u.x / slip : 0.0, y = slip > 0.0 ? u.y / slip : 0.0;
    result->impulse = rbMakeVec3(-tangential * x, -tangential * y, p);
    result->velocity = rbMakeVec3(left * x, left * y, result->velocity.z);
    result->frictionWork = -0.5 * tangential * (slip + left);
    uint32_t sliding = slip > 0.0 ? RB_PHASE_SLIDE : RB_PHASE_NONE;
    result->history = mu * p < stop ? sliding
                      : slip > 0.0  ? sliding | (uint32_t)RB_PHASE_STICK << 4
                                    : (uint32_t)RB_PHASE_STICK;
}

// L-98: the total work is not positive for a law that keeps the energy.
static bool raisesEnergy(const rbImpactPath* path)
{
    double total = path->workBefore + path->frictionWork;
    return total > 1e-12 * (fabs(path->compressionWork) + fabs(path->frictionWork));
}

static void resolve(const rbImpactInput* input, double leastSpeed, rbImpactResult* result)
{
    if (input->friction == 0.0) {
        double p = resolveNormal(input, leastSpeed, result); // without friction (U-7)
        result->impulse = rbMakeVec3(0.0, 0.0, p);
        result->velocity.x = input->velocity.x + input->matrix.xz * p;
        result->velocity.y = input->velocity.y + input->matrix.yz * p;
        result->history = RB_PHASE_SMOOTH;
        return;
    }
    if (isDecoupled(input) && isPlain(input->velocity)) {
        resolveDecoupled(input, leastSpeed, result);
        return;
    }
    rbVec3 u = input->velocity;
    bool isGrazing = false;
    double unit = chooseUnit(input, &u, &isGrazing);
    rbImpactPath path = {
        .k = input->matrix,
        .mu = input->friction < FRICTION_MAX ? input->friction : FRICTION_MAX,
        .e = input->restitution,
        .law = input->law,
        .leastSpeed = leastSpeed / unit,
        .x = u.x,
        .y = u.y,
        .z = u.z,
    };
    RB_ASSERT(path.z < 0.0 && path.mu >= 0.0 && path.e >= 0.0);
    path.startSpeed = -path.z;
    enterMode(&path, RB_MODE_COMPRESSION);
    result->isJam = rbMeasureSlip(&path).f < 0.0;
    result->history = walk(&path, input->slideMethod);
    polish(&path, u);
    bool keepsEnergy = !rbGetImpactLaw(input->law)->mayGain && input->restitution <= 1.0;
    (void)keepsEnergy;
    RB_ASSERT(!keepsEnergy || leastSpeed > 0.0 || path.isInaccurate || !raisesEnergy(&path));

    result->impulse = rbScale(unit, rbMakeVec3(path.px, path.py, path.pz));
    result->velocity = rbScale(unit, rbMakeVec3(path.x, path.y, path.z));
    if (input->law == RB_IMPACT_NEWTON) { // exactly, in any unit
        result->velocity.z = fmax(-input->restitution * input->velocity.z, leastSpeed);
    }
    result->normalWork = unit * (unit * path.workBefore);
    result->frictionWork = unit * (unit * path.frictionWork);
    result->compressionWork = unit * (unit * path.compressionWork);
    if (isGrazing) {
        // the tangential velocity and its work, from the impulse
        rbVec3 p = result->impulse;
        rbVec3 change = rbMulSV(input->matrix, p);
        result->velocity.x = input->velocity.x + change.x;
        result->velocity.y = input->velocity.y + change.y;
        result->frictionWork = 0.5 * (p.x * (input->velocity.x + result->velocity.x) +
                                      p.y * (input->velocity.y + result->velocity.y));
    }
    result->steps = path.steps;
    result->isEnergyRaised = raisesEnergy(&path);
    result->isInaccurate = path.isInaccurate;
}

void rbResolveImpact(const rbImpactInput* input, rbImpactResult* result)
{
    RB_ASSERT(input != NULL && result != NULL);
    assertInput(input);
    *result = (rbImpactResult){.velocity = input->velocity};
    if (input->velocity.z < 0.0) {
        resolve(input, 0.0, result);
    }
    if (result->isEnergyRaised) {
        addPhase(&result->history, RB_PHASE_GAINS);
    }
}

// Where the coefficients of the quadratic cancel, its root may lie outside the cone by more than
// rounding: then it is reduced along the difference itself.
static double backIntoCone(double friction, rbVec3 stop, rbVec3 swing, double share)
{
    rbVec3 p = rbAddScaled(stop, share, swing);
    double tangential = sqrt(p.x * p.x + p.y * p.y);
    double outside = tangential - friction * p.z;
    bool isNear = outside > CONE_ROUNDING * tangential && outside < CONE_NEAR * tangential;
    if (!isNear || !(p.z > 0.0)) {
        return share;
    }
    double slope = (p.x * swing.x + p.y * swing.y) / tangential - friction * swing.z;
    return slope > 0.0 ? fmax(0.0, share - outside / slope) : share;
}

// Reverses the velocity: the normal part to the given speed, the tangential part to -share times
// itself, with the largest share up to 1 that the friction cone allows. A share below 1 dissipates
// energy at first, but over a few microcollisions of a sticking contact it grows to 1: then the
// point oscillates about rest, without creep and without energy loss. False if the point must
// slide.
static bool returnVelocity(const rbImpactInput* input, double speed, rbImpactResult* result)
{
    rbVec3 u = input->velocity;
    rbVec3 stop;  // impulse that stops the tangential part
    rbVec3 swing; // impulse that reverses it as well
    if (!rbSym3_Solve(input->matrix, rbMakeVec3(-u.x, -u.y, speed - u.z), &stop) ||
        !rbSym3_Solve(input->matrix, rbMakeVec3(-u.x, -u.y, 0.0), &swing)) {
        return false;
    }
    // |stop_t + s swing_t|^2 - mu^2 (stop_z + s swing_z)^2 = a s^2 + 2 b s + c
    double mu2 = input->friction * input->friction;
    double a = swing.x * swing.x + swing.y * swing.y - mu2 * swing.z * swing.z;
    double b = stop.x * swing.x + stop.y * swing.y - mu2 * stop.z * swing.z;
    double c = stop.x * stop.x + stop.y * stop.y - mu2 * stop.z * stop.z;
    if (c > 0.0 || !(stop.z > 0.0)) {
        return false;
    }
    double share = 1.0;
    if (a + 2.0 * b + c > 0.0) {
        // outside at 1, not at 0: one root between, in the form without cancellation
        double root = sqrt(fmax(0.0, b * b - a * c));
        share = b > 0.0 ? -c / (b + root) : (root - b) / a;
        share = fmin(1.0, fmax(0.0, share * (1.0 - 1e-15)));
    }
    share = backIntoCone(input->friction, stop, swing, share);
    rbVec3 p = rbAddScaled(stop, share, swing);
    double frictionWork = 0.5 * (1.0 - share) * (u.x * p.x + u.y * p.y);
    if (!(p.z > 0.0) || frictionWork > 0.0) {
        return false;
    }
    result->impulse = p;
    result->velocity = rbMakeVec3(-share * u.x, -share * u.y, speed);
    result->frictionWork = frictionWork;
    result->normalWork = 0.5 * (speed + u.z) * p.z;
    result->history = share < 1.0 ? RB_PHASE_RETURN | (RB_PHASE_SLIDE << 4) : RB_PHASE_RETURN;
    return true;
}

void rbResolveMicrocollision(const rbImpactInput* input, const rbMicrocollision* micro,
                             rbImpactResult* result)
{
    RB_ASSERT(input != NULL && result != NULL);
    assertInput(input);
    RB_ASSERT(micro->depth >= 0.0 && micro->depth <= 1.0);
    RB_ASSERT(micro->boostMax >= 0.0);
    RB_ASSERT(micro->leastSpeed >= 0.0);
    *result = (rbImpactResult){.velocity = input->velocity};
    if (!(input->velocity.z < 0.0)) {
        return;
    }
    // In a jam the impulse that stops the slip is always in the cone, however fast the slip: the
    // compression it causes provides the normal impulse. Reversed, a rod that slides at 1 m/s would
    // leave backward at 1 m/s, and boosted, the work of that compression would return many times.
    double speed = fmax(-input->velocity.z, micro->leastSpeed);
    bool isJam = rbIsSlidingIntoJam(input, speed);
    if (!isJam && returnVelocity(input, speed, result)) {
        return;
    }
    rbImpactInput boosted = *input;
    double boost = (micro->boostMax - input->restitution) * (micro->depth * micro->depth);
    boosted.restitution += boost > 0.0 && !isJam ? boost : 0.0;
    resolve(&boosted, micro->leastSpeed, result);
    result->history = (result->history << 4) | RB_PHASE_BOOST;
}

double rbGetJamThreshold(const rbImpactInput* input)
{
    RB_ASSERT(input != NULL);
    rbVec3 u = input->velocity;
    double size = fmax(fabs(u.x), fabs(u.y));
    if (size == 0.0) {
        return INFINITY;
    }
    double x = u.x / size, y = u.y / size;
    double pull = (input->matrix.xz * x + input->matrix.yz * y) / sqrt(x * x + y * y);
    return pull > 0.0 ? input->matrix.zz / pull : INFINITY;
}

bool rbIsSlidingIntoJam(const rbImpactInput* input, double speed)
{
    RB_ASSERT(input != NULL);
    RB_ASSERT(speed >= 0.0);
    rbVec3 u = input->velocity;
    double slip = sqrt(u.x * u.x + u.y * u.y);
    return slip > input->friction * speed && input->friction > rbGetJamThreshold(input);
}
