// One ray: from its start along its displacement toward the other body, and what counts as a hit.
#include "lab/rays/ray_shot.h"

// A start that is inside must leave within this many slacks; otherwise it is going deeper.
#define LEAVING_SLACKS 32.0

// Displacements up to this many slacks are rounding of poses, not motion.
#define STILL_SLACKS 1e-6

// Refined rays must be shorter by more than this, in slacks: a vertex that was hit exactly is kept,
// with its normal.
#define GAIN_SLACKS 1e-3

// Maximum halvings to find the piece on which a refined start entered.
#define HALVINGS_MAX 64

rbTransform rbRaySide_GetPose(const rbRaySide* side, double time)
{
    const rbRayBody* body = side->body;
    rbTransform pose = body->pose != NULL ? body->pose(body->context, time) : body->transform;
    if (side->isSphere) {
        pose.q = RB_QUAT_IDENTITY;
    }
    return pose;
}

static void setMotions(rbRayShot* shot)
{
    const rbRayPiece* piece = &shot->piece;
    for (int i = 0; i < 2; ++i) {
        shot->motions[i] = rbMakeRayMotion(rbInvMulTransforms(piece->from[1 - i], piece->from[i]),
                                           rbInvMulTransforms(piece->to[1 - i], piece->to[i]));
    }
}

void rbRayShot_SetPiece(rbRayShot* shot, double start, double end)
{
    rbRayPiece* piece = &shot->piece;
    piece->start = start;
    piece->end = end;
    for (int i = 0; i < 2; ++i) {
        piece->from[i] = rbRaySide_GetPose(&shot->sides[i], start);
        piece->to[i] = rbRaySide_GetPose(&shot->sides[i], end);
    }
    setMotions(shot);
}

typedef struct Cast {
    const rbGeometry* geometry;
    rbVec3 from, step;
    double tMax;
    double slack;
    double length; // m, of the displacement
    bool isSolid;
    rbRayHit hit;
    bool isInside; // the start is inside
} Cast;

// The surface behind the start of a ray that begins inside, through which it entered.
static bool hitBehind(Cast* cast)
{
    rbRay back = {cast->from, rbNeg(cast->step), INFINITY};
    if (!rbGeometry_CastRay(cast->geometry, &back, &cast->hit)) {
        return false;
    }
    cast->hit.t = 0.0;
    cast->hit.point = cast->from;
    cast->isInside = true;
    return true;
}

// A surface without inside is hit from either side.
static bool castAtSurface(Cast* cast)
{
    rbRay ray = {cast->from, cast->step, cast->tMax};
    if (!rbGeometry_CastRay(cast->geometry, &ray, &cast->hit)) {
        return false;
    }
    if (rbDot(cast->hit.normal, cast->step) > 0.0) {
        cast->hit.normal = rbNeg(cast->hit.normal);
    }
    return true;
}

// the first surface that faces the ray. The ray begins a slack behind its start, so
// that a start that touches, or is inside by rounding, hits at once if it approaches; one that
// separates continues.
static bool castAtSolid(Cast* cast)
{
    double back = cast->slack / cast->length;
    double begin = -back;
    for (int i = 0; i < 2; ++i) {
        rbRay ray = {rbAddScaled(cast->from, begin, cast->step), cast->step, cast->tMax - begin};
        if (!(ray.tMax >= 0.0) || !rbGeometry_CastRay(cast->geometry, &ray, &cast->hit)) {
            return false;
        }
        double t = begin + cast->hit.t;
        double along = rbDot(cast->hit.normal, cast->step) / cast->length;
        if (along <= 1e-12) {
            // touching that only slides along is not a hit
            cast->hit.t = t > 0.0 ? t : 0.0;
            return t > back || along < -1e-9;
        }
        if ((t - begin) * cast->length > LEAVING_SLACKS * cast->slack) {
            return i == 0 && hitBehind(cast);
        }
        begin = t + back;
    }
    return false;
}

static bool castRay(Cast* cast)
{
    cast->length = rbLength(cast->step);
    if (!(cast->length > STILL_SLACKS * cast->slack)) {
        return false; // no motion except rounding
    }
    return cast->isSolid ? castAtSolid(cast) : castAtSurface(cast);
}

// R-30 for one ray: does it come near the ball around the target?
static bool meetsBall(const rbRaySide* target, const rbRayStart* start, double tMax, double slack)
{
    rbVec3 m = rbSub(target->center, start->from);
    double square = rbLengthSquared(start->step);
    double f = square > 0.0 ? rbDot(m, start->step) / square : 0.0;
    f = f < 0.0 ? 0.0 : f > tMax ? tMax : f;
    double reach = target->radius * (1.0 + 1e-12) + 2.0 * slack;
    return rbLengthSquared(rbSub(m, rbScale(f, start->step))) <= reach * reach;
}

static void report(const rbRayShot* shot, const rbRayStart* start, const Cast* cast, bool isHit)
{
    const rbRayQuery* query = shot->query;
    if (query->trace == NULL) {
        return;
    }
    rbTransform pose = shot->piece.from[1 - shot->caster];
    double t = isHit ? cast->hit.t : 1.0;
    rbRayTrace trace = {.start = rbTransformPoint(pose, start->from),
                        .end = rbTransformPoint(pose, rbAddScaled(start->from, t, start->step)),
                        .isHit = isHit,
                        .isReverse = shot->caster == 1,
                        .isRefined = shot->isRefining};
    query->trace(query->traceContext, &trace);
}

// Length of a ray in displacements of the piece. Refined rays continue straight beyond the end of
// the piece: a hit there is not yet a contact, but shows where the shortest path is, and a ray that
// starts inside finds its way out.
static double getReach(const rbRayShot* shot, const rbRayStart* start)
{
    double length = rbLength(start->step);
    double size = shot->sides[0].radius + shot->sides[1].radius;
    return shot->isRefining && length > 0.0 ? 1.0 + 2.0 * size / length : 1.0;
}

// Casts a ray on the current piece only.
static bool castHere(rbRayShot* shot, const rbRayStart* start, Cast* cast)
{
    const rbRaySide* target = &shot->sides[1 - shot->caster];
    *cast = (Cast){.geometry = target->body->geometry,
                   .from = start->from,
                   .step = start->step,
                   .tMax = getReach(shot, start),
                   .slack = shot->slack,
                   .isSolid = target->isSolid};
    ++shot->counts.rays;
    bool isHit = meetsBall(target, start, cast->tMax, shot->slack) && castRay(cast);
    bool isContact = isHit && cast->hit.t <= 1.0;
    shot->counts.hits += isContact ? 1 : 0;
    report(shot, start, cast, isContact);
    return isHit;
}

static void keepBest(rbRayShot* shot, const rbRayStart* start, const Cast* cast, double time)
{
    shot->best = (rbRayBest){.isHit = true,
                             .caster = shot->caster,
                             .time = time,
                             .t = cast->hit.t,
                             .piece = shot->piece,
                             .start = *start,
                             .point = cast->hit.point,
                             .normal = cast->hit.normal};
}

// Keeps the shortest rays in order, one per neighborhood.
static void keepTop(rbRayShot* shot, const rbRayStart* start, double time)
{
    rbRayTop top = {shot->caster, time, start->point, start->normal};
    int slot = shot->topCount;
    for (int i = 0; i < shot->topCount; ++i) {
        const rbRayTop* other = &shot->tops[i];
        if (other->caster == top.caster &&
            rbDistance(other->point, top.point) < shot->topDistance) {
            if (!(time < other->time)) {
                return;
            }
            slot = i;
            break;
        }
    }
    if (slot == RB_RAY_TOPS_MAX) {
        slot = RB_RAY_TOPS_MAX - 1;
        if (!(time < shot->tops[slot].time)) {
            return;
        }
    } else if (slot == shot->topCount) {
        ++shot->topCount;
    }
    for (; slot > 0 && time < shot->tops[slot - 1].time; --slot) {
        shot->tops[slot] = shot->tops[slot - 1];
    }
    shot->tops[slot] = top;
}

static double getTime(const rbRayPiece* piece, double t)
{
    return t == 1.0 ? piece->end : piece->start + t * (piece->end - piece->start);
}

// Is a point of the caster inside the target at a time?
static bool isInsideAt(const rbRayShot* shot, rbVec3 point, double time)
{
    rbTransform own = rbRaySide_GetPose(&shot->sides[shot->caster], time);
    const rbRaySide* target = &shot->sides[1 - shot->caster];
    rbVec3 place =
        rbInvTransformPoint(rbRaySide_GetPose(target, time), rbTransformPoint(own, point));
    return rbGeometry_Contains(target->body->geometry, place);
}

// A start that is inside at the beginning of the piece entered before: moves the piece, without
// lengthening it, to where it did, by doubling steps backward and by halving.
static void followBack(rbRayShot* shot, rbVec3 point)
{
    double first = shot->query->start;
    double length = shot->piece.end - shot->piece.start;
    double late = shot->piece.start;
    double step = length;
    double early = late - step;
    while (early > first && isInsideAt(shot, point, early)) {
        late = early;
        step *= 2.0;
        early -= step;
    }
    early = early > first ? early : first;
    for (int i = 0; i < HALVINGS_MAX && late - early > length; ++i) {
        double middle = 0.5 * (early + late);
        if (isInsideAt(shot, point, middle)) {
            late = middle;
        } else {
            early = middle;
        }
    }
    rbRayShot_SetPiece(shot, early, late);
}

rbRayOutcome rbRayShot_Cast(rbRayShot* shot, const rbRayStart* start)
{
    Cast cast;
    rbRayStart own = *start;
    if (!castHere(shot, &own, &cast)) {
        return (rbRayOutcome){.isHit = false};
    }
    rbRayPiece piece = shot->piece;
    bool isEarlier = cast.isInside && shot->isRefining && piece.start > shot->query->start;
    if (isEarlier) {
        // a better start may have touched before the piece on which the coarse ones did
        followBack(shot, own.point);
        rbRayStart before = rbMakeRayStart(&shot->motions[shot->caster], own.point, own.normal);
        Cast earlier;
        if (castHere(shot, &before, &earlier) && earlier.hit.t <= 1.0) {
            own = before;
            cast = earlier;
        } else {
            shot->piece = piece;
            setMotions(shot);
            isEarlier = false;
        }
    }
    rbRayOutcome outcome = {true, getTime(&shot->piece, cast.hit.t), cast.hit.normal,
                            shot->piece.start, shot->piece.end};
    if (!shot->isRefining) {
        rbVec3* sum = &shot->hitSums[shot->caster];
        *sum = rbAdd(*sum, own.point);
        ++shot->hitCounts[shot->caster];
        if (shot->topDistance > 0.0) {
            keepTop(shot, &own, outcome.time);
        }
    }
    double length = rbLength(own.step);
    double gain = shot->isRefining && length > 0.0
                      ? GAIN_SLACKS * shot->slack / length * (outcome.pieceEnd - outcome.pieceStart)
                      : 0.0;
    if (cast.hit.t <= 1.0 && (!shot->best.isHit || outcome.time < shot->best.time - gain)) {
        keepBest(shot, &own, &cast, outcome.time);
    }
    if (isEarlier) {
        shot->piece = piece;
        setMotions(shot);
    }
    return outcome;
}
