// Prediction of contact by rays.
//
// One method for all motions. Over a piece of time the ray of a point q of A runs, in the frame of
// B, from its position at the start of the piece to its position at the end: exact for motion along
// a line at constant speed, a chord otherwise. Pieces are so short that no chord deviates from the
// path by more than the tolerance. With z = y - c the position of a point y of A relative to the
// center c of B, w the spin of B and R its orientation, x = R^T z has
//   |x''| <= |z''| + 2 w |z'| + (w^2 + w') |z|,
// and a chord over a time h is at most |x''| h^2 / 8 away. |z| is that of points that can touch B
// within the piece: others are too far from its ball.
//
// Pieces are processed in order, skipped where bodies cannot touch, and the first with a hit ends
// the search.
#include "base/core/memory.h"
#include "lab/rays/ray_shot.h"

#include <rattleback/collision.h>

// More pieces than this are rejected: hours of work that a larger tolerance would avoid.
#define PIECES_MAX 10000000

// Minimum and maximum number of pieces that the march tries to skip at once.
#define LEAP_MIN 8
#define LEAP_MAX (1 << 20)

// Overlap below this fraction of the size of the smaller body counts as touching, as does what
// positions in double precision do not resolve.
#define TOUCH_RELATIVE 1e-9
#define ROUNDING_RELATIVE 1e-14

typedef enum Outlook {
    MAY_TOUCH,
    OUT_OF_REACH,
    PASSING
} Outlook;

// -------------------------------------------------------------------------------------- bodies

static rbRaySide makeSide(const rbRayBody* body)
{
    rbRaySide side = {.body = body,
                      .emitter = body->emitter,
                      .isSphere = rbGeometry_GetType(body->geometry) == RB_SHAPE_SPHERE,
                      .isSolid = rbGeometry_IsSolid(body->geometry),
                      .center = body->center,
                      .speed = body->speedMax,
                      .spin = body->spinMax,
                      .acceleration = body->curvature,
                      .spinChange = body->spinChange};
    if (body->pose == NULL) {
        side.speed = side.spin = side.acceleration = side.spinChange = 0.0;
    }
    if (side.isSphere) {
        // motion of the center of the sphere
        double arm = rbLength(body->center);
        side.speed += side.spin * arm;
        side.acceleration += (side.spin * side.spin + side.spinChange) * arm;
        side.spin = side.spinChange = 0.0;
        side.center = RB_VEC3_ZERO;
    }
    side.radius = rbGeometry_GetRadius(body->geometry, side.center);
    side.armMax = side.isSphere ? 0.0 : side.radius;
    return side;
}

static bool isPose(rbTransform pose)
{
    double square = rbDotQuat(pose.q, pose.q);
    return rbIsFinite3(pose.p) && rbIsFiniteQuat(pose.q) && fabs(square - 1.0) <= 1e-6;
}

static rbStatus checkBody(const rbRayBody* body, char letter, rbError* error)
{
    if (body->emitter != NULL && body->emitter->geometry != body->geometry) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the emitter of body %c was created for another geometry", letter);
    }
    const struct {
        const char* what;
        double value;
    } bounds[] = {{"speedMax", body->speedMax},
                  {"spinMax", body->spinMax},
                  {"curvature", body->curvature},
                  {"spinChange", body->spinChange}};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; ++i) {
        if (!(bounds[i].value >= 0.0) || !isfinite(bounds[i].value)) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "%s of body %c is %g; a finite value of 0 or more is accepted",
                               bounds[i].what, letter, bounds[i].value);
        }
    }
    if (!rbIsFinite3(body->center)) {
        return rbError_Set(error, RB_STATUS_INVALID, "the center of body %c is not finite", letter);
    }
    return RB_STATUS_OK;
}

static rbStatus checkPiece(const rbRayPiece* piece, rbError* error)
{
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 2; ++k) {
            if (!isPose(k == 0 ? piece->from[i] : piece->to[i])) {
                return rbError_Set(error, RB_STATUS_INVALID,
                                   "the pose of body %c at the time %g s is not finite, or its "
                                   "quaternion is not of unit length",
                                   'A' + i, k == 0 ? piece->start : piece->end);
            }
        }
    }
    return RB_STATUS_OK;
}

static rbStatus checkQuery(const rbRayQuery* query, rbError* error)
{
    rbStatus status = rbRaySettings_Check(query->settings, error);
    if (status == RB_STATUS_OK) {
        status = checkBody(query->bodyA, 'A', error);
    }
    if (status == RB_STATUS_OK) {
        status = checkBody(query->bodyB, 'B', error);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (query->bodyA->emitter == NULL && query->bodyB->emitter == NULL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "neither body casts rays; one of them needs an emitter");
    }
    if (!isfinite(query->start) || !isfinite(query->end) || query->end < query->start) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the times are %g s to %g s; finite ascending times are accepted",
                           query->start, query->end);
    }
    return RB_STATUS_OK;
}

// ---------------------------------------------------------------------------------- early ends

// Vector from the center of A to that of B at one end of the piece.
static rbVec3 getOffset(const rbRayShot* shot, const rbTransform poses[2])
{
    return rbSub(rbTransformPoint(poses[1], shot->sides[1].center),
                 rbTransformPoint(poses[0], shot->sides[0].center));
}

// Distance between the bounding balls, or of a ball from a plane; 0 or less if they may overlap.
static double getGap(const rbRayShot* shot, const rbTransform poses[2])
{
    for (int i = 0; i < 2; ++i) {
        const rbGeometry* geometry = shot->sides[i].body->geometry;
        if (rbGeometry_GetType(geometry) == RB_SHAPE_PLANE) {
            rbPlaneData plane = rbGeometry_GetData(geometry).plane;
            rbVec3 center = rbTransformPoint(poses[1 - i], shot->sides[1 - i].center);
            double height = rbDot(plane.normal, rbInvTransformPoint(poses[i], center));
            return height - plane.offset - shot->sides[1 - i].radius;
        }
    }
    return rbLength(getOffset(shot, poses)) - shot->sides[0].radius - shot->sides[1].radius;
}

// with the relative displacement of the centers over the piece; sagitta bounds the
// deviation from their chord.
static Outlook validatePiece(const rbRayShot* shot, double sagitta)
{
    rbVec3 m = getOffset(shot, shot->piece.from);
    // displacement of A relative to B
    rbVec3 w = rbSub(m, getOffset(shot, shot->piece.to));
    double reach = shot->sides[0].radius + shot->sides[1].radius + sagitta + 2.0 * shot->slack;
    double distance = rbLength(m);
    if (!isfinite(reach) || !(distance > reach)) {
        return MAY_TOUCH; // balls overlap; then receding proves nothing
    }
    double along = rbDot(w, m);
    if (along / distance < distance - reach) {
        return OUT_OF_REACH;
    }
    double y = along / rbLength(w);
    return distance * distance - y * y > reach * reach ? PASSING : MAY_TOUCH;
}

// ------------------------------------------------------------------------------------- pieces

// Bound on the acceleration of the relevant points of one side in the frame of the other.
static double boundAcceleration(const rbRaySide* x, const rbRaySide* y, double distance, double h)
{
    double speeds = x->speed + y->speed;
    double v = speeds + x->spin * x->armMax;
    double z = distance + x->armMax + speeds * h;
    double near = x->radius - x->armMax + y->radius + 2.0 * v * h;
    z = near < z ? near : z;
    double own = x->acceleration + y->acceleration;
    // planes cast no rays: their arms do not count
    if (isfinite(x->armMax)) {
        own += (x->spin * x->spin + x->spinChange) * x->armMax;
    }
    if (y->spin > 0.0 || y->spinChange > 0.0) {
        own += 2.0 * y->spin * v + (y->spin * y->spin + y->spinChange) * z;
    }
    return own;
}

static double boundPair(const rbRayShot* shot, double distance, double h)
{
    double most = 0.0;
    for (int i = 0; i < 2; ++i) {
        if (shot->sides[i].emitter != NULL) {
            double bound = boundAcceleration(&shot->sides[i], &shot->sides[1 - i], distance, h);
            most = bound > most ? bound : most;
        }
    }
    return most;
}

// Longest piece from here whose chords are within the tolerance. The bound grows with the length h,
// so h' = sqrt(8 tolerance / bound(h)) is short enough if h' <= h; of the alternating estimates the
// third is.
static double choosePiece(const rbRayShot* shot, double distance, double rest)
{
    double h = rest;
    for (int i = 0; i < 3; ++i) {
        double bound = boundPair(shot, distance, h);
        double longest = bound > 0.0 ? sqrt(8.0 * shot->query->settings->tolerance / bound) : rest;
        h = longest < rest ? longest : rest;
    }
    return h;
}

static void castStart(void* context, const rbRayStart* start)
{
    (void)rbRayShot_Cast(context, start);
}

static void castPiece(rbRayShot* shot)
{
    ++shot->counts.pieces;
    const rbRayTrack* track = shot->query->track;
    if (track != NULL && track->isSet && shot->sides[track->isReverse ? 1 : 0].emitter != NULL) {
        rbRayShot_CastTrack(shot, track);
    }
    for (int i = 0; i < 2; ++i) {
        shot->caster = i;
        if (shot->sides[i].emitter != NULL) {
            rbRayEmitter_ForEachStart(shot->sides[i].emitter, &shot->motions[i], castStart, shot);
        }
    }
    // without a coarse hit the pair is undecided
    if (!shot->best.isHit && shot->query->settings->refineRounds > 0 &&
        shot->motions[0].isParallel && shot->motions[1].isParallel) {
        rbRayShot_Aim(shot);
        shot->isRefined = shot->best.isHit;
    }
}

// Are the bodies farther apart than margin? Often the balls suffice, otherwise uses the shapes.
static bool isApart(const rbRayShot* shot, const rbTransform poses[2], double margin)
{
    if (!isfinite(margin)) {
        return false;
    }
    if (getGap(shot, poses) > margin) {
        return true;
    }
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = shot->sides[0].body->geometry;
    input.geometryB = shot->sides[1].body->geometry;
    input.transformBtoA = rbInvMulTransforms(poses[0], poses[1]);
    bool overlaps = true;
    rbStatus status = rbTestOverlap(&input, margin, NULL, &overlaps, NULL);
    return status == RB_STATUS_OK && !overlaps;
}

// Casts rays on one piece, if it may matter.
static rbStatus castBetween(rbRayShot* shot, double start, double end, Outlook* outlook,
                            rbError* error)
{
    rbRayShot_SetPiece(shot, start, end);
    rbStatus status = checkPiece(&shot->piece, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    double h = end - start;
    double sagitta = (shot->sides[0].acceleration + shot->sides[1].acceleration) * h * h / 8.0;
    *outlook = validatePiece(shot, sagitta);
    if (*outlook == MAY_TOUCH) {
        castPiece(shot);
    }
    return RB_STATUS_OK;
}

// State of the march.
typedef struct March {
    double time;
    double speed; // m/s, maximum, of a point of A relative to one of B
    int leap;     // pieces to skip next
    int shoot;    // pieces to cast rays on before the next try
    Outlook outlook;
} March;

// Tries to skip pieces of length h in which the bodies cannot come close to each other, given their
// distance; true if time has advanced.
static bool tryLeap(const rbRayShot* shot, March* march, const rbTransform poses[2], double h)
{
    if (march->shoot > 0) {
        --march->shoot;
        return false;
    }
    double rest = shot->query->end - march->time;
    for (; march->leap >= LEAP_MIN; march->leap /= 2) {
        double ahead = march->leap * h < rest ? march->leap * h : rest;
        if (isApart(shot, poses, march->speed * ahead + 2.0 * shot->slack)) {
            march->time = ahead < rest ? march->time + ahead : shot->query->end;
            march->leap *= march->leap < LEAP_MAX ? 2 : 1;
            march->outlook = OUT_OF_REACH;
            return true;
        }
    }
    march->leap = LEAP_MIN;
    march->shoot = LEAP_MIN - 1;
    return false;
}

// all pieces in order until one has a hit.
static rbStatus marchPieces(rbRayShot* shot, Outlook* outlook, rbError* error)
{
    const rbRayQuery* query = shot->query;
    March march = {.time = query->start, .leap = LEAP_MIN};
    for (int i = 0; i < 2; ++i) {
        const rbRaySide* side = &shot->sides[i];
        march.speed += side->speed + (side->spin > 0.0 ? side->spin * side->radius : 0.0);
    }
    for (int64_t i = 0; march.time < query->end; ++i) {
        double rest = query->end - march.time;
        rbTransform poses[2] = {rbRaySide_GetPose(&shot->sides[0], march.time),
                                rbRaySide_GetPose(&shot->sides[1], march.time)};
        double h = choosePiece(shot, rbLength(getOffset(shot, poses)), rest);
        if (h < rest && tryLeap(shot, &march, poses, h)) {
            continue;
        }
        if (!(march.time + h > march.time) || i >= PIECES_MAX || rest > PIECES_MAX * h) {
            return rbError_Set(error, RB_STATUS_LIMIT,
                               "the path from %g s to %g s would be cut into more than %g pieces; "
                               "use a ray tolerance above %g m",
                               query->start, query->end, (double)PIECES_MAX,
                               query->settings->tolerance);
        }
        double end = h < rest ? march.time + h : query->end;
        rbStatus status = castBetween(shot, march.time, end, &march.outlook, error);
        *outlook = march.outlook;
        if (status != RB_STATUS_OK || shot->best.isHit) {
            return status;
        }
        march.time = shot->piece.end;
    }
    *outlook = march.outlook;
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------ start, answer

// Do the bodies overlap at the start by more than touching? Fills the prediction if so.
static rbStatus testStart(const rbRayShot* shot, const rbTransform poses[2],
                          rbRayPrediction* prediction, rbError* error)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = shot->sides[0].body->geometry;
    input.geometryB = shot->sides[1].body->geometry;
    input.transformBtoA = rbInvMulTransforms(poses[0], poses[1]);
    bool overlaps = false;
    rbStatus status = rbTestOverlap(&input, 0.0, NULL, &overlaps, error);
    if (status != RB_STATUS_OK || !overlaps) {
        return status;
    }
    size_t size = rbGetSeparationScratchSize();
    void* scratch = shot->query->scratch != NULL ? shot->query->scratch : rbAlloc(size);
    rbSeparation separation;
    status = rbMeasureSeparation(&input, NULL, scratch, &separation, error);
    if (scratch != shot->query->scratch) {
        rbFree(scratch, size);
    }
    if (status == RB_STATUS_OK && separation.distance < -shot->slack) {
        prediction->isHit = true;
        prediction->isInside = true;
        prediction->time = shot->query->start;
        rbVec3 middle = rbScale(0.5, rbAdd(separation.pointA, separation.pointB));
        prediction->point = rbTransformPoint(poses[0], middle);
        prediction->normal = rbNeg(rbRotate(poses[0].q, separation.normal));
    }
    return status;
}

// Length of the path of the shortest ray's start from the start of the query, by chords.
static double measureWay(const rbRayShot* shot)
{
    const rbRayBest* best = &shot->best;
    double own = best->t * rbLength(best->start.step);
    double first = shot->query->start;
    double last = best->piece.start;
    if (!(last > first)) {
        return own;
    }
    enum {
        CHORDS = 64
    };
    rbVec3 before = RB_VEC3_ZERO;
    for (int i = 0; i <= CHORDS; ++i) {
        double time = first + (last - first) * i / CHORDS;
        rbTransform caster = rbRaySide_GetPose(&shot->sides[best->caster], time);
        rbTransform target = rbRaySide_GetPose(&shot->sides[1 - best->caster], time);
        rbVec3 point = rbInvTransformPoint(target, rbTransformPoint(caster, best->start.point));
        own += i > 0 ? rbDistance(point, before) : 0.0;
        before = point;
    }
    return own;
}

// where the surfaces meet in the world at the time of contact, and the normal of B:
// that of the point B cast from, unless it is a vertex or an edge, which has none.
static void reportBest(const rbRayShot* shot, rbRayPrediction* prediction)
{
    const rbRayBest* best = &shot->best;
    rbTransform target = rbRaySide_GetPose(&shot->sides[1 - best->caster], best->time);
    prediction->isHit = true;
    prediction->isReverse = best->caster == 1;
    prediction->time = best->time;
    prediction->way = measureWay(shot);
    prediction->point = rbTransformPoint(target, best->point);
    prediction->normal = rbRotate(target.q, best->normal);
    if (best->caster == 1) {
        rbTransform own = rbRaySide_GetPose(&shot->sides[1], best->time);
        bool hasNormal = rbLengthSquared(best->start.normal) > 0.0;
        prediction->normal =
            hasNormal ? rbRotate(own.q, best->start.normal) : rbNeg(prediction->normal);
    }
}

static double getSlack(const rbRayShot* shot, const rbTransform poses[2])
{
    double a = shot->sides[0].radius;
    double b = shot->sides[1].radius;
    double small = a < b ? a : b;
    double large = isfinite(a) && isfinite(b) ? (a > b ? a : b) : small;
    double far = rbLength(poses[0].p) + rbLength(poses[1].p) + large;
    return TOUCH_RELATIVE * small + ROUNDING_RELATIVE * far;
}

// Whether ray lengths have a single minimum; otherwise several are kept, a spacing apart.
static void setTops(rbRayShot* shot)
{
    double spacing = 0.0;
    shot->isConvex = true;
    for (int i = 0; i < 2; ++i) {
        const rbRaySide* side = &shot->sides[i];
        shot->isConvex =
            shot->isConvex && rbGeometry_IsConvex(side->body->geometry) && !(side->spin > 0.0);
        if (side->emitter != NULL && side->emitter->spacing > spacing) {
            spacing = side->emitter->spacing;
        }
    }
    bool isNeeded = shot->query->settings->refineRounds > 0 && !shot->isConvex;
    shot->topDistance = isNeeded ? spacing : 0.0;
}

static void addCounts(const rbRayShot* shot, Outlook outlook)
{
    rbRayCounts* counts = shot->query->counts;
    if (counts == NULL) {
        return;
    }
    bool isShot = shot->counts.pieces > 0;
    ++counts->predictions;
    counts->outOfReach += !isShot && outlook == OUT_OF_REACH ? 1 : 0;
    counts->passing += !isShot && outlook == PASSING ? 1 : 0;
    counts->pieces += shot->counts.pieces;
    counts->rays += shot->counts.rays;
    counts->hits += shot->counts.hits;
}

rbStatus rbPredictByRays(const rbRayQuery* query, rbRayPrediction* prediction, rbError* error)
{
    RB_ASSERT(query != NULL && prediction != NULL && query->settings != NULL);
    RB_ASSERT(query->bodyA != NULL && query->bodyB != NULL);
    *prediction = (rbRayPrediction){0};
    rbStatus status = checkQuery(query, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbRayShot shot = {.query = query, .sides = {makeSide(query->bodyA), makeSide(query->bodyB)}};
    if (query->settings->isOneWay && shot.sides[0].emitter != NULL) {
        shot.sides[1].emitter = NULL;
    }
    rbRayShot_SetPiece(&shot, query->start, query->end);
    status = checkPiece(&shot.piece, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbTransform poses[2] = {shot.piece.from[0], shot.piece.from[1]};
    shot.slack = getSlack(&shot, poses);
    setTops(&shot);
    Outlook outlook = MAY_TOUCH;
    if (getGap(&shot, poses) <= 0.0) {
        status = testStart(&shot, poses, prediction, error);
    }
    if (status == RB_STATUS_OK && !prediction->isInside) {
        status = marchPieces(&shot, &outlook, error);
    }
    if (status == RB_STATUS_OK && shot.best.isHit) {
        if (query->settings->refineRounds > 0 && !shot.isRefined) {
            rbRayShot_Refine(&shot);
        }
        reportBest(&shot, prediction);
    }
    if (query->track != NULL && shot.best.isHit) {
        *query->track = (rbRayTrack){true, shot.best.caster == 1, shot.best.start.point};
    }
    addCounts(&shot, outlook);
    return status;
}
