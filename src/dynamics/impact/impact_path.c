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
#include "dynamics/impact/impact_path.h"

#include <float.h>
#include <math.h>

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

void rbImpactPath_Begin(rbImpactPath* path)
{
    RB_ASSERT(path->z < 0.0);
    RB_ASSERT(path->mu >= 0.0);
    RB_ASSERT(path->e >= 0.0);
    path->startSpeed = -path->z;
    enterMode(path, RB_MODE_COMPRESSION);
}

// Removes the rounding error of the quantity that has reached its goal.
static void setToGoal(rbImpactPath* path)
{
    if (path->quantity == RB_QUANTITY_VELOCITY) {
        path->z = path->goal;
    } else if (path->quantity == RB_QUANTITY_IMPULSE) {
        path->pz = path->goal;
    } else {
        path->work = path->goal;
    }
}

void rbImpactPath_PassGoal(rbImpactPath* path)
{
    RB_ASSERT(path->mode != RB_MODE_DONE);
    setToGoal(path);
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

void rbImpactPath_Recompress(rbImpactPath* path)
{
    RB_ASSERT(path->mode == RB_MODE_RESTITUTION);
    path->restitutionImpulse += path->pz - path->modeImpulse;
    path->restitutionWork += path->work;
    path->z = 0.0;
    enterMode(path, RB_MODE_COMPRESSION);
}

rbSlip rbMakeSlip(const rbImpactPath* path, double speed, double c, double s)
{
    const rbSym3* k = &path->k;
    double mu = path->mu;
    double along = k->xx * (c * c) + 2.0 * k->xy * (c * s) + k->yy * (s * s);
    double across = k->xx * (s * s) - 2.0 * k->xy * (c * s) + k->yy * (c * c);
    double turn = (k->yy - k->xx) * (c * s) + k->xy * (c * c - s * s);
    double pull = k->xz * c + k->yz * s;
    rbSlip slip = {.speed = speed, .cosine = c, .sine = s};
    slip.f = k->zz - mu * pull;
    // In the components of w - mu A d: near a settled direction the stiff one is small.
    slip.g =
        c * (k->xz - mu * (k->xx * c + k->xy * s)) + s * (k->yz - mu * (k->xy * c + k->yy * s));
    slip.h = k->yz * c - k->xz * s - mu * turn;
    slip.hSlope = mu * (along - across) - pull;
    // Of the terms, and of the direction, which is accurate only to rounding.
    slip.hNoise = DBL_EPSILON * (fabs(k->yz * c) + fabs(k->xz * s) +
                                 mu * (fabs((k->yy - k->xx) * (c * s)) + fabs(k->xy))) +
                  8.0 * DBL_EPSILON * fabs(slip.hSlope);
    return slip;
}

rbSlip rbMeasureSlip(const rbImpactPath* path)
{
    double speed = sqrt(path->x * path->x + path->y * path->y);
    if (!(speed > 0.0)) {
        return (rbSlip){0};
    }
    return rbMakeSlip(path, speed, path->x / speed, path->y / speed);
}

// A direction that attracts has settled: removes its rounding error, so that its smaller component
// is accurate too. This matters when K is badly scaled.
rbSlip rbSettleSlip(const rbImpactPath* path, const rbSlip* slip)
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
        settled = rbMakeSlip(path, slip->speed, c / length, s / length);
    }
    return settled;
}

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

void rbWalkStraight(rbImpactPath* path, const rbStraightPiece* piece)
{
    RB_ASSERT(piece->length >= 0.0);
    RB_ASSERT(piece->f > 0.0 || piece->length < INFINITY);
    double walked = 0.0;
    double px = path->px;
    double py = path->py;
    double frictionWork = path->frictionWork;
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
            rbImpactPath_Recompress(path);
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

rbStraightPiece rbMakeSlidingPiece(const rbImpactPath* path, const rbSlip* slip)
{
    RB_ASSERT(slip->speed > 0.0);
    rbStraightPiece piece = {
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
    if (piece.length == INFINITY && !(piece.f > 0.0)) {
        piece.f = DBL_EPSILON * path->k.zz;
    }
    return piece;
}

// Solves (lambda + mu A) d = w, and the derivative of |d|^2/2 by lambda.
static void solveShifted(const rbImpactPath* path, double lambda, double d[2], double* slope)
{
    const rbSym3* k = &path->k;
    double a = lambda + path->mu * k->xx;
    double b = path->mu * k->xy;
    double c = lambda + path->mu * k->yy;
    double determinant = a * c - b * b;
    d[0] = (c * k->xz - b * k->yz) / determinant;
    d[1] = (a * k->yz - b * k->xz) / determinant;
    *slope = -(c * d[0] * d[0] - 2.0 * b * d[0] * d[1] + a * d[1] * d[1]) / determinant;
}

// The direction in which sliding resumes (L-92): (K xi)_t = w - mu A d = lambda d, lambda > 0. So d
// solves (lambda + mu A) d = w with |d| = 1. The length of that solution falls strictly with
// lambda, from |A^-1 w|/mu at 0, which is above 1 exactly when sticking is unstable: there is one
// root, and no direction, pi or other, is a special case. Newton on 1/|d|, which is nearly linear
// in lambda. Returns lambda, which is g: computed from d it would be lost in rounding when K is
// badly scaled.
static double findResumedDirection(const rbImpactPath* path, double d[2])
{
    double low = 0.0;
    double high = sqrt(path->k.xz * path->k.xz + path->k.yz * path->k.yz);
    double lambda = 0.0;
    double slope = 0.0;
    for (int i = 0; i < 100; ++i) {
        solveShifted(path, lambda, d, &slope);
        double length = sqrt(d[0] * d[0] + d[1] * d[1]);
        if (length > 1.0) {
            low = lambda;
        } else {
            high = lambda;
        }
        double next = lambda - (length - 1.0) * (length * length) / slope;
        next = next > low && next < high ? next : 0.5 * (low + high);
        bool isSettled = fabs(next - lambda) <= DBL_EPSILON * next || !(high > low);
        lambda = next;
        if (isSettled) {
            break;
        }
    }
    solveShifted(path, lambda, d, &slope);
    double length = sqrt(d[0] * d[0] + d[1] * d[1]);
    d[0] /= length;
    d[1] /= length;
    return lambda;
}

rbStraightPiece rbMakePieceAfterStop(const rbImpactPath* path, rbImpactPhase* phase)
{
    const rbSym3* k = &path->k;
    // Sticking needs dp_t = q dp_z with A q = -w; 1/Kinv33 is the Schur complement K33 + w.q, and
    // the condition L-91 reads |q| <= mu.
    double determinant = k->xx * k->yy - k->xy * k->xy;
    RB_ASSERT(determinant > 0.0);
    double qx = -(k->yy * k->xz - k->xy * k->yz) / determinant;
    double qy = -(k->xx * k->yz - k->xy * k->xz) / determinant;
    rbStraightPiece piece = {.qx = qx, .qy = qy, .length = INFINITY};
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
