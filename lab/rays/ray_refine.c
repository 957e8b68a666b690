// Bundles of rays around the shortest one and around that of the last prediction.
//
// A bundle covers a disc across the direction of the shortest ray. Its starts are where lines in
// this direction through points of the disc hit the surface of the caster: all faces and edges near
// the start take part, on round and flat bodies alike. Half of a bundle is spread over the disc;
// the other half is cast, one after the other, where the lengths and normals of earlier rays
// indicate the shortest path (ray_model.h).
#include "base/math/elementary.h"
#include "lab/rays/ray_model.h"
#include "lab/rays/ray_shot.h"

#define GOLDEN_ANGLE 2.39996322972865332

// Initial width of a bundle in spacings of the coarse rays, and its factor per round.
#define FIRST_WIDTH 1.5
#define NARROWING 0.25

// Outlines are moved inward by this fraction of the size, so that a start on them hits.
#define OUTLINE_MARGIN 1e-10

// Maximum number of supports to find an outline, and of outlines before a ray.
#define OUTLINE_STEPS_MAX 16
#define CUTS_MAX 16

// Rays at less than this sine to a surface tell nothing about the neighborhood.
#define STEEPEST 1e-6

// One in this many rays of a refinement explores, if bodies are not convex.
#define EXPLORED_PART 2

// Steps of the most uniform sequence in the unit square.
#define SPREAD_X 0.75487766624669276
#define SPREAD_Y 0.56984029099805327

// Rounds without gain that end the search if the model is no bound.
#define IDLE_ROUNDS_MAX 4

// Maximum number of outlines to find a place where both bodies are hit.
#define AIM_STEPS_MAX 32

// How often a place that misses a body is pulled toward the middle.
#define PULLS_MAX 2

// Perpendicular to the direction of motion, in the frame of the caster.
typedef struct Frame {
    rbVec3 origin;
    rbVec3 way, e1, e2; // unit
    double speed;       // m/s, of the start relative to the target
    bool isFront;       // starts are on the front sheet, not on that of the origin
} Frame;

// The search around one start.
typedef struct Refinement {
    rbRayShot* shot;
    Frame frame;
    rbRayModel model;
    bool isRival;     // another ray is the shortest: ends unless the model promises to beat it
    rbRayTop top;     // the shortest ray of this search
    double place[2];  // its place
    double middle[2]; // mean place of coarse rays that hit
    double pieceStart, pieceEnd; // s, of its piece
    int64_t rayLimit;            // rays of the prediction at which the search ends
} Refinement;

static Frame makeFrame(const rbRayShot* shot, const rbRayStart* start)
{
    Frame frame = {.origin = start->point};
    frame.way = rbNormalize(rbInvRotate(shot->motions[shot->caster].from.q, start->step));
    frame.e1 = rbPerpendicular(frame.way);
    frame.e2 = rbCross(frame.way, frame.e1);
    frame.speed = rbLength(start->step) / (shot->piece.end - shot->piece.start);
    return frame;
}

// The start at a place of the disc: the surface of the caster there; for bodies that are not
// convex, the sheet next to that of the frame's origin.
static bool findStart(const rbRayShot* shot, const Frame* frame, const double place[2],
                      rbRayStart* start)
{
    const rbRaySide* side = &shot->sides[shot->caster];
    const rbGeometry* geometry = side->body->geometry;
    rbVec3 point =
        rbAddScaled(rbAddScaled(frame->origin, place[0], frame->e1), place[1], frame->e2);
    double ahead = 2.5 * side->radius;
    if (!rbGeometry_IsConvex(geometry) && !frame->isFront) {
        double near = 4.0 * sqrt(place[0] * place[0] + place[1] * place[1]) + 1e-9 * side->radius;
        ahead = near < ahead ? near : ahead;
    }
    rbRay ray = {rbAddScaled(point, ahead, frame->way), rbNeg(frame->way), INFINITY};
    rbRayHit hit;
    if (!rbGeometry_CastRay(geometry, &ray, &hit)) {
        return false;
    }
    if (side->isSolid && rbDot(hit.normal, frame->way) < 0.0) {
        // started inside
        ray.origin = rbAddScaled(point, 2.5 * side->radius, frame->way);
        if (!rbGeometry_CastRay(geometry, &ray, &hit)) {
            return false;
        }
    }
    *start = rbMakeRayStart(&shot->motions[shot->caster], hit.point, hit.normal);
    return true;
}

// How the time of contact changes with the place. A start displaced sideways by e stays on the
// surface of the caster, with the normal nA, if it moves along the way by -(nA . e) / (nA . way).
// The plane of the target, with the normal nB, is approached at the speed nB . v, with v the
// velocity of this very start, which includes rotation.
static bool findGradient(const rbRayShot* shot, const Frame* frame, const rbRayStart* start,
                         rbVec3 normalB, double gradient[2])
{
    const rbRayMotion* motion = &shot->motions[shot->caster];
    double along = rbDot(start->normal, frame->way);
    double approach = rbDot(normalB, start->step) / (shot->piece.end - shot->piece.start);
    double speed = rbLength(start->step) / (shot->piece.end - shot->piece.start);
    if (!(fabs(along) > STEEPEST) || !(fabs(approach) > STEEPEST * speed)) {
        return false;
    }
    const rbVec3 sides[2] = {frame->e1, frame->e2};
    for (int i = 0; i < 2; ++i) {
        rbVec3 e = rbAddScaled(sides[i], -rbDot(start->normal, sides[i]) / along, frame->way);
        gradient[i] = -frame->speed * rbDot(normalB, rbRotate(motion->from.q, e)) / approach;
    }
    return true;
}

// Casts the ray at a place; true if it hit.
static bool castAt(Refinement* refinement, const double place[2])
{
    rbRayShot* shot = refinement->shot;
    const Frame* frame = &refinement->frame;
    rbRayStart start;
    if (shot->counts.rays >= refinement->rayLimit || !findStart(shot, frame, place, &start)) {
        return false;
    }
    rbRayOutcome outcome = rbRayShot_Cast(shot, &start);
    if (!outcome.isHit) {
        return false;
    }
    double gradient[2];
    if (findGradient(shot, frame, &start, outcome.normal, gradient)) {
        rbRayModel_AddPlane(&refinement->model, place,
                            (outcome.time - shot->query->start) * frame->speed, gradient);
    }
    if (!(outcome.time < refinement->top.time)) {
        return true;
    }
    refinement->top = (rbRayTop){shot->caster, outcome.time, start.point, start.normal};
    refinement->place[0] = place[0];
    refinement->place[1] = place[1];
    refinement->pieceStart = outcome.pieceStart;
    refinement->pieceEnd = outcome.pieceEnd;
    return true;
}

// Casts count rays spread over a disc around the shortest.
static void castDisc(Refinement* refinement, double width, int count)
{
    double center[2] = {refinement->place[0], refinement->place[1]};
    for (int i = 0; i < count; ++i) {
        double sine;
        double cosine;
        rbSinCos(i * GOLDEN_ANGLE, &sine, &cosine);
        double rho = width * sqrt((i + 0.5) / count);
        double place[2] = {center[0] + rho * cosine, center[1] + rho * sine};
        for (int k = 0; k < PULLS_MAX && !castAt(refinement, place); ++k) {
            // misses one of the bodies: move toward where both are hit
            double f = k == 0 ? 0.5 : 0.8;
            place[0] += f * (refinement->middle[0] - place[0]);
            place[1] += f * (refinement->middle[1] - place[1]);
        }
    }
}

// ------------------------------------------------------------------------------------ outlines

// The convex outline of the shadow of a body on the plane across the direction of motion.
typedef struct Shadow {
    const Frame* frame;
    const rbGeometry* geometry;
    rbTransform pose; // of the body in the frame of the caster
} Shadow;

typedef struct Place {
    double x, y;
} Place;

static Place getShadowSupport(const Shadow* shadow, Place s)
{
    const Frame* frame = shadow->frame;
    rbVec3 direction = rbAdd(rbScale(s.x, frame->e1), rbScale(s.y, frame->e2));
    rbVec3 point = rbGeometry_GetSupport(shadow->geometry, rbInvRotate(shadow->pose.q, direction));
    rbVec3 offset = rbSub(rbTransformPoint(shadow->pose, point), frame->origin);
    return (Place){rbDot(offset, frame->e1), rbDot(offset, frame->e2)};
}

// Point of the segment from a to b nearest to p.
static Place getNearest(Place a, Place b, Place p)
{
    double dx = b.x - a.x;
    double dy = b.y - a.y;
    double square = dx * dx + dy * dy;
    double f = square > 0.0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / square : 0.0;
    f = f < 0.0 ? 0.0 : f > 1.0 ? 1.0 : f;
    return (Place){a.x + f * dx, a.y + f * dy};
}

static double getSquare(Place a, Place b)
{
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

// A line that separates the shadow from p (s[0] x + s[1] y <= s[2] on the side of the shadow),
// through the point of the shadow nearest to p: a walk over its supports that ends on an edge of a
// polytope. False if p is in the shadow, or too close to decide.
static bool findOutline(const Shadow* shadow, Place p, double margin, double s[3])
{
    Place a = getShadowSupport(shadow, (Place){1.0, 0.0});
    Place b = a;
    Place nearest = a;
    for (int i = 0; i < OUTLINE_STEPS_MAX; ++i) {
        Place d = {p.x - nearest.x, p.y - nearest.y};
        double length = sqrt(d.x * d.x + d.y * d.y);
        if (!(length > margin)) {
            return false;
        }
        d = (Place){d.x / length, d.y / length};
        Place c = getShadowSupport(shadow, d);
        s[0] = d.x;
        s[1] = d.y;
        s[2] = d.x * c.x + d.y * c.y;
        double further = s[2] - d.x * nearest.x - d.y * nearest.y;
        if (further < 0.1 * margin) {
            break;
        }
        // the better of the two segments that end at the new support
        Place viaA = getNearest(a, c, p);
        Place viaB = getNearest(b, c, p);
        bool isA = getSquare(viaA, p) < getSquare(viaB, p);
        nearest = isA ? viaA : viaB;
        a = isA ? a : b;
        b = c;
    }
    return s[0] * p.x + s[1] * p.y > s[2];
}

// The outline of a body that is missed at a place: a line between the two; false if the place is in
// both shadows.
static bool findCut(const rbRayShot* shot, const Frame* frame, const double place[2], double s[3])
{
    int caster = shot->caster;
    for (int i = 0; i < 2; ++i) {
        const rbRaySide* side = &shot->sides[i == 0 ? caster : 1 - caster];
        if (!isfinite(side->radius)) {
            continue;
        }
        Shadow shadow = {frame, side->body->geometry,
                         i == 0 ? RB_TRANSFORM_IDENTITY
                                : rbInvertTransform(shot->motions[caster].from)};
        double margin = OUTLINE_MARGIN * side->radius;
        if (findOutline(&shadow, (Place){place[0], place[1]}, margin, s)) {
            s[2] -= margin;
            return true;
        }
    }
    return false;
}

// If the model is lowest where one of the bodies is missed, adds the outline of that body to the
// model. True if the place was cut off.
static bool cutOff(Refinement* refinement, const double place[2])
{
    rbRayModel* model = &refinement->model;
    double s[3];
    if (model->sideCount == RB_RAY_SIDES_MAX ||
        !findCut(refinement->shot, &refinement->frame, place, s)) {
        return false;
    }
    for (int k = 0; k < 3; ++k) {
        model->sides[model->sideCount][k] = s[k];
    }
    ++model->sideCount;
    return true;
}

// -------------------------------------------------------------------------------------- search

// Casts up to count rays where the model is lowest. True if that is no lower than the shortest ray:
// nothing is left to gain.
static bool castModel(Refinement* refinement, double width, int count)
{
    const rbRayShot* shot = refinement->shot;
    double tolerance = shot->query->settings->tolerance;
    int64_t last = shot->counts.rays + count;
    for (int i = 0; i < count + CUTS_MAX && shot->counts.rays < last; ++i) {
        double place[2];
        double lower;
        if (!rbRayModel_Minimize(&refinement->model, refinement->place, width, place, &lower)) {
            return false;
        }
        // compared with the overall shortest, which a search elsewhere must beat
        double length =
            (shot->best.isHit ? shot->best.time : refinement->top.time) - shot->query->start;
        length *= refinement->frame.speed;
        double step = (shot->query->end - shot->query->start) * refinement->frame.speed;
        if (length - lower < tolerance || (shot->isConvex && lower > step + tolerance)) {
            return true;
        }
        if (castAt(refinement, place) || cutOff(refinement, place)) {
            continue;
        }
        // a hole, or another sheet: there may be none halfway
        double half[2] = {0.5 * (place[0] + refinement->place[0]),
                          0.5 * (place[1] + refinement->place[1])};
        (void)castAt(refinement, half);
    }
    return false;
}

// Moves the frame to the shortest ray and clears the model.
static void setFrame(Refinement* refinement)
{
    rbRayShot* shot = refinement->shot;
    rbRayShot_SetPiece(shot, refinement->pieceStart, refinement->pieceEnd);
    rbRayStart start =
        rbMakeRayStart(&shot->motions[shot->caster], refinement->top.point, refinement->top.normal);
    refinement->frame = makeFrame(shot, &start);
    refinement->place[0] = refinement->place[1] = 0.0;
    int hitCount = shot->hitCounts[shot->caster];
    rbVec3 mean = hitCount > 0 ? rbScale(1.0 / hitCount, shot->hitSums[shot->caster])
                               : shot->sides[shot->caster].center;
    rbVec3 offset = rbSub(mean, start.point);
    refinement->middle[0] = rbDot(offset, refinement->frame.e1);
    refinement->middle[1] = rbDot(offset, refinement->frame.e2);
    refinement->model.planeCount = refinement->model.sideCount = 0;
}

static void refineAbout(Refinement* refinement, int rounds, int count)
{
    rbRayShot* shot = refinement->shot;
    double tolerance = shot->query->settings->tolerance;
    shot->caster = refinement->top.caster;
    double width = FIRST_WIDTH * shot->sides[shot->caster].emitter->spacing;
    double piece = INFINITY;
    double first = width;
    int idle = 0; // rounds without gain
    for (int i = 0; i < rounds; ++i) {
        if (refinement->pieceStart < piece || !shot->isConvex) {
            // the shortest ray now ends on an earlier piece, or the model holds only near it
            piece = refinement->pieceStart;
            setFrame(refinement);
        }
        // half of the rays, at least one, are spread
        int spread = (count + 1) / 2;
        double before = refinement->top.time;
        double center[2] = {refinement->place[0], refinement->place[1]};
        castDisc(refinement, width, spread);
        bool isDone = castModel(refinement, shot->isConvex ? 2.0 * first : width, count - spread);
        double gain = (before - refinement->top.time) * refinement->frame.speed;
        idle = gain < tolerance ? idle + 1 : 0;
        if (refinement->isRival || shot->isConvex ? isDone : idle == IDLE_ROUNDS_MAX) {
            break;
        }
        // as wide as before if the shortest path was at the rim
        double x = fabs(refinement->place[0] - center[0]);
        double y = fabs(refinement->place[1] - center[1]);
        width *= x > 0.75 * width || y > 0.75 * width ? 1.0 : NARROWING;
    }
}

// The ray count after so many more rays, limited to the maximum.
static int64_t limitRays(const rbRayShot* shot, int64_t more)
{
    int64_t limit = shot->counts.rays + more;
    int raysMax = shot->query->settings->raysMax;
    return raysMax > 0 && raysMax < limit ? raysMax : limit;
}

// Spreads rays over the common part of the shadows of bodies that are not convex, to find what the
// first cast over all their surfaces missed.
static void explore(rbRayShot* shot, int count)
{
    Frame frame = makeFrame(shot, &shot->best.start);
    frame.isFront = true;
    double lower[2] = {-INFINITY, -INFINITY};
    double upper[2] = {INFINITY, INFINITY};
    for (int i = 0; i < 2; ++i) {
        const rbRaySide* side = &shot->sides[i];
        if (!isfinite(side->radius)) {
            continue;
        }
        Shadow shadow = {&frame, side->body->geometry,
                         i == shot->caster ? RB_TRANSFORM_IDENTITY
                                           : rbInvertTransform(shot->motions[shot->caster].from)};
        Place ends[4] = {getShadowSupport(&shadow, (Place){-1.0, 0.0}),
                         getShadowSupport(&shadow, (Place){0.0, -1.0}),
                         getShadowSupport(&shadow, (Place){1.0, 0.0}),
                         getShadowSupport(&shadow, (Place){0.0, 1.0})};
        lower[0] = ends[0].x > lower[0] ? ends[0].x : lower[0];
        lower[1] = ends[1].y > lower[1] ? ends[1].y : lower[1];
        upper[0] = ends[2].x < upper[0] ? ends[2].x : upper[0];
        upper[1] = ends[3].y < upper[1] ? ends[3].y : upper[1];
    }
    shot->isRefining = false;
    for (int i = 0; i < count; ++i) {
        double x = 0.5 + i * SPREAD_X;
        double y = 0.5 + i * SPREAD_Y;
        double place[2] = {lower[0] + (x - (int)x) * (upper[0] - lower[0]),
                           lower[1] + (y - (int)y) * (upper[1] - lower[1])};
        rbRayStart start;
        if (findStart(shot, &frame, place, &start)) {
            (void)rbRayShot_Cast(shot, &start);
        }
    }
    shot->isRefining = true;
}

// Searches around a ray and stores the result.
static void refineTop(Refinement* refinement, rbRayTop* top, const rbRayPiece* piece, int rounds,
                      int count)
{
    refinement->top = *top;
    refinement->pieceStart = piece->start;
    refinement->pieceEnd = piece->end;
    refineAbout(refinement, rounds, count);
    *top = refinement->top;
}

void rbRayShot_Refine(rbRayShot* shot)
{
    const rbRaySettings* settings = shot->query->settings;
    shot->isRefining = true;
    const rbRayBest* best = &shot->best;
    Refinement refinement = {.shot = shot};
    rbRayPiece piece = best->piece;
    int rounds = settings->refineRounds;
    int64_t last = limitRays(shot, (int64_t)rounds * settings->refineCount);
    if (!shot->isConvex && shot->motions[0].isParallel) {
        rbRayShot_SetPiece(shot, piece.start, piece.end);
        shot->caster = best->caster;
        explore(shot, (int)((last - shot->counts.rays) / EXPLORED_PART));
        piece = best->piece;
    }
    // if there may be several minima, half of the rays determine which one is the lowest
    int looks = shot->isConvex ? 0 : shot->topCount;
    int share = looks > 0 ? (int)((last - shot->counts.rays) / 2 / looks) : 0;
    for (int i = 0; i < looks; ++i) {
        refinement.rayLimit = limitRays(shot, share > 0 ? share : 1);
        refineTop(&refinement, &shot->tops[i], &piece, 1, share > 0 ? share : 1);
    }
    rbRayTop top = {best->caster, best->time, best->start.point, best->start.normal};
    rbRayPiece own = best->piece;
    refinement.rayLimit = last;
    refineTop(&refinement, &top, &own, looks > 0 ? rounds / 2 : rounds, settings->refineCount);
    // the rest is used for those that are not the lowest yet
    refinement.isRival = true;
    for (int i = 0; i < looks; ++i) {
        refineTop(&refinement, &shot->tops[i], &piece, rounds / 2, settings->refineCount);
    }
    shot->isRefining = false;
}

// A place in the shadows of both bodies, as deep as possible: minimizes the largest distance beyond
// the outlines found so far, until no body is missed there. False if there is none: then convex
// bodies pass each other.
static bool findCommonPlace(const rbRayShot* shot, const Frame* frame, double place[2])
{
    rbRayModel distances = {.planeCount = 0};
    const double center[2] = {0.0, 0.0};
    double width = 2.0 * shot->sides[shot->caster].radius;
    place[0] = place[1] = 0.0;
    for (int i = 0; i < AIM_STEPS_MAX; ++i) {
        double s[3];
        if (!findCut(shot, frame, place, s)) {
            return true;
        }
        double beyond = s[0] * place[0] + s[1] * place[1] - s[2];
        rbRayModel_AddPlane(&distances, place, beyond, s);
        double lower;
        if (!rbRayModel_Minimize(&distances, center, width, place, &lower) || lower > 0.0) {
            return false;
        }
    }
    return false;
}

void rbRayShot_Aim(rbRayShot* shot)
{
    const rbRaySettings* settings = shot->query->settings;
    shot->caster = shot->sides[0].emitter != NULL ? 0 : 1;
    rbRayStart middle = rbMakeRayStart(&shot->motions[shot->caster],
                                       shot->sides[shot->caster].center, RB_VEC3_ZERO);
    double place[2];
    Refinement refinement = {.shot = shot, .frame = makeFrame(shot, &middle)};
    if (!(refinement.frame.speed > 0.0) || !findCommonPlace(shot, &refinement.frame, place)) {
        return;
    }
    shot->isRefining = true;
    refinement.top.time = INFINITY;
    refinement.rayLimit = limitRays(shot, (int64_t)settings->refineRounds * settings->refineCount);
    if (castAt(&refinement, place)) {
        refineAbout(&refinement, settings->refineRounds, settings->refineCount);
    }
    shot->isRefining = false;
}

void rbRayShot_CastTrack(rbRayShot* shot, const rbRayTrack* track)
{
    shot->caster = track->isReverse ? 1 : 0;
    rbRayStart start = rbMakeRayStart(&shot->motions[shot->caster], track->start, RB_VEC3_ZERO);
    (void)rbRayShot_Cast(shot, &start);
    if (rbLengthSquared(start.step) > 0.0) {
        Refinement refinement = {.shot = shot, .frame = makeFrame(shot, &start)};
        refinement.rayLimit = limitRays(shot, shot->query->settings->refineCount);
        double width = shot->sides[shot->caster].emitter->spacing;
        castDisc(&refinement, width, shot->query->settings->refineCount);
    }
}
