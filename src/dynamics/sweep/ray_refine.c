// Bundles of rays about the shortest one and about the one of the last prediction.
//
// A bundle covers a disc across the way of the shortest ray. Its starts are where lines along the
// way, through points of the disc, meet the surface of the shooter: whatever faces and edges there
// are near the start take part, on round and flat bodies alike. Half of a bundle is spread over the
// disc; the other half goes, one after the other, where the lengths and the normals of those
// already shot say that the way is shortest (ray_model.h).
#include "base/math/elementary.h"
#include "dynamics/sweep/ray_model.h"
#include "dynamics/sweep/ray_shot.h"

#define GOLDEN_ANGLE 2.39996322972865332

// A bundle is this many spacings of the coarse rays wide at first, and a quarter at every round.
#define FIRST_WIDTH 1.5
#define NARROWING 0.25

// Outlines are drawn in by this part of the size, so that a start on them is met.
#define OUTLINE_MARGIN 1e-10

// Across the way, in the frame of the shooter.
typedef struct Frame {
    rbVec3 origin;
    rbVec3 way, e1, e2; // unit
    double speed;       // m/s, of the start relative to what is shot at
} Frame;

typedef struct Refinement {
    rbRayShot* shot;
    Frame frame;
    rbRayModel model;
    double best[2]; // place of the shortest ray
} Refinement;

static Frame makeFrame(const rbRayShot* shot, const rbRayStart* start)
{
    Frame frame = {.origin = start->point};
    frame.way = rbNormalize(rbInvRotate(shot->motions[shot->shooter].from.q, start->step));
    frame.e1 = rbPerpendicular(frame.way);
    frame.e2 = rbCross(frame.way, frame.e1);
    frame.speed = rbLength(start->step) / (shot->piece.end - shot->piece.start);
    return frame;
}

// The start at a place of the disc: the surface of the shooter there. Of bodies that are not convex
// that next to the sheet of the frame's origin.
static bool findStart(const rbRayShot* shot, const Frame* frame, const double place[2],
                      rbRayStart* start)
{
    const rbRaySide* side = &shot->sides[shot->shooter];
    const rbGeometry* geometry = side->body->geometry;
    rbVec3 point =
        rbAddScaled(rbAddScaled(frame->origin, place[0], frame->e1), place[1], frame->e2);
    double ahead = 2.5 * side->radius;
    if (!rbGeometry_IsConvex(geometry)) {
        double near = 4.0 * sqrt(place[0] * place[0] + place[1] * place[1]) + 1e-9 * side->radius;
        ahead = near < ahead ? near : ahead;
    }
    rbRay ray = {rbAddScaled(point, ahead, frame->way), rbNeg(frame->way), INFINITY};
    rbRayHit hit;
    if (!rbGeometry_CastRay(geometry, &ray, &hit)) {
        return false;
    }
    if (side->isSolid && rbDot(hit.normal, frame->way) < 0.0) {
        // began inside
        ray.origin = rbAddScaled(point, 2.5 * side->radius, frame->way);
        if (!rbGeometry_CastRay(geometry, &ray, &hit)) {
            return false;
        }
    }
    *start = rbMakeRayStart(&shot->motions[shot->shooter], hit.point, hit.normal);
    return true;
}

// Slope of a surface over the plane across the way: z = -(n1 x + n2 y) / nw.
static void addSlope(const Frame* frame, rbVec3 normal, double sign, double gradient[2])
{
    double along = rbDot(normal, frame->way);
    gradient[0] -= sign * rbDot(normal, frame->e1) / along;
    gradient[1] -= sign * rbDot(normal, frame->e2) / along;
}

// Shoots the ray at a place; true if it became the shortest.
static bool shootAt(Refinement* refinement, const double place[2])
{
    rbRayShot* shot = refinement->shot;
    const Frame* frame = &refinement->frame;
    rbRayStart start;
    if (!findStart(shot, frame, place, &start)) {
        return false;
    }
    double before = shot->best.isHit ? shot->best.time : INFINITY;
    rbRayOutcome outcome = rbRayShot_Shoot(shot, &start);
    if (!outcome.isHit) {
        return false;
    }
    rbVec3 normal = rbInvRotate(shot->motions[shot->shooter].from.q, outcome.normal);
    if (fabs(rbDot(normal, frame->way)) > 1e-6 && fabs(rbDot(start.normal, frame->way)) > 1e-6) {
        double gradient[2] = {0.0, 0.0};
        addSlope(frame, normal, 1.0, gradient);
        addSlope(frame, start.normal, -1.0, gradient);
        rbRayModel_AddPlane(&refinement->model, place,
                            (outcome.time - shot->query->start) * frame->speed, gradient);
    }
    if (!(outcome.time < before)) {
        return false;
    }
    refinement->best[0] = place[0];
    refinement->best[1] = place[1];
    return true;
}

// Shoots count rays spread over a disc about the shortest.
static void shootDisc(Refinement* refinement, double width, int count)
{
    double center[2] = {refinement->best[0], refinement->best[1]};
    for (int i = 0; i < count; ++i) {
        double sine, cosine;
        rbSinCos(i * GOLDEN_ANGLE, &sine, &cosine);
        double rho = width * sqrt((i + 0.5) / count);
        double place[2] = {center[0] + rho * cosine, center[1] + rho * sine};
        (void)shootAt(refinement, place);
    }
}

// Outlines of a convex faceted body, seen along the way: edges between a face that faces the way
// and one that does not bound the places where the body is met. poseInShooter: of the body.
static void addOutline(Refinement* refinement, const rbRaySide* side, rbTransform poseInShooter,
                       double width)
{
    const rbRayEmitter* emitter = side->body->emitter;
    const Frame* frame = &refinement->frame;
    rbRayModel* model = &refinement->model;
    if (emitter == NULL || emitter->partCount != 1 || !emitter->parts[0].isFaceted ||
        !rbGeometry_IsConvex(side->body->geometry)) {
        return;
    }
    const rbRayPart* part = &emitter->parts[0];
    rbVec3 way = rbInvRotate(poseInShooter.q, frame->way);
    for (int i = 0; i < part->edgeCount && model->sideCount < RB_RAY_SIDES_MAX; ++i) {
        const rbRayEdge* edge = &part->edges[i];
        if (edge->face1 < 0 || (rbDot(part->normals[edge->face0], way) > 0.0) ==
                                   (rbDot(part->normals[edge->face1], way) > 0.0)) {
            continue;
        }
        rbVec3 a =
            rbSub(rbTransformPoint(poseInShooter, part->mesh.vertices[edge->v0]), frame->origin);
        rbVec3 b =
            rbSub(rbTransformPoint(poseInShooter, part->mesh.vertices[edge->v1]), frame->origin);
        double ax = rbDot(a, frame->e1);
        double ay = rbDot(a, frame->e2);
        double dx = rbDot(b, frame->e1) - ax;
        double dy = rbDot(b, frame->e2) - ay;
        double length = sqrt(dx * dx + dy * dy);
        if (!(length > 0.0)) {
            continue;
        }
        double s[3] = {dy / length, -dx / length, 0.0};
        s[2] = s[0] * ax + s[1] * ay;
        // the body lies on the side of its centre
        rbVec3 c = rbSub(rbTransformPoint(poseInShooter, side->center), frame->origin);
        double inside = s[0] * rbDot(c, frame->e1) + s[1] * rbDot(c, frame->e2) - s[2];
        double sign = inside > 0.0 ? -1.0 : 1.0;
        double* kept = model->sides[model->sideCount];
        kept[0] = sign * s[0];
        kept[1] = sign * s[1];
        kept[2] = sign * s[2] - OUTLINE_MARGIN * side->radius;
        double distance = kept[2] - kept[0] * refinement->best[0] - kept[1] * refinement->best[1];
        model->sideCount += distance < 2.0 * width ? 1 : 0;
    }
}

static void addOutlines(Refinement* refinement, double width)
{
    const rbRayShot* shot = refinement->shot;
    int shooter = shot->shooter;
    refinement->model.sideCount = 0;
    addOutline(refinement, &shot->sides[shooter], RB_TRANSFORM_IDENTITY, width);
    addOutline(refinement, &shot->sides[1 - shooter],
               rbInvertTransform(shot->motions[shooter].from), width);
}

// Shoots up to count rays where the model is lowest. True if that is as low as the shortest ray
// already: nothing is left to gain.
static bool shootModel(Refinement* refinement, double width, int count)
{
    const rbRayShot* shot = refinement->shot;
    double tolerance = shot->query->settings->tolerance;
    for (int i = 0; i < count; ++i) {
        double place[2];
        double lower;
        if (!rbRayModel_Minimize(&refinement->model, refinement->best, width, place, &lower)) {
            return false;
        }
        double length = (shot->best.time - shot->query->start) * refinement->frame.speed;
        if (length - lower < tolerance) {
            return true;
        }
        (void)shootAt(refinement, place);
    }
    return false;
}

void rbRayShot_Refine(rbRayShot* shot)
{
    const rbRaySettings* settings = shot->query->settings;
    shot->isRefining = true;
    shot->shooter = shot->best.shooter;
    Refinement refinement = {.shot = shot};
    double width = FIRST_WIDTH * shot->sides[shot->shooter].emitter->spacing;
    double piece = INFINITY;
    for (int i = 0; i < settings->refineRounds; ++i) {
        if (shot->best.piece.start < piece) {
            // the first round, or the shortest ray ends on an earlier piece now
            piece = shot->best.piece.start;
            rbRayShot_SetPiece(shot, piece, shot->best.piece.end);
            refinement.frame = makeFrame(shot, &shot->best.start);
            refinement.best[0] = refinement.best[1] = 0.0;
            refinement.model.planeCount = 0;
        }
        addOutlines(&refinement, width);
        int spread = (settings->refineCount + 1) / 2;
        double before = shot->best.time;
        shootDisc(&refinement, width, spread);
        bool isDone = shootModel(&refinement, width, settings->refineCount - spread);
        double gain = (before - shot->best.time) * refinement.frame.speed;
        if (isDone || (i > 0 && gain < settings->tolerance)) {
            break;
        }
        width *= NARROWING;
    }
    shot->isRefining = false;
}

void rbRayShot_ShootTrack(rbRayShot* shot, const rbRayTrack* track)
{
    shot->shooter = track->isReverse ? 1 : 0;
    rbRayStart start = rbMakeRayStart(&shot->motions[shot->shooter], track->start, RB_VEC3_ZERO);
    (void)rbRayShot_Shoot(shot, &start);
    if (rbLengthSquared(start.step) > 0.0) {
        Refinement refinement = {.shot = shot, .frame = makeFrame(shot, &start)};
        double width = shot->sides[shot->shooter].emitter->spacing;
        shootDisc(&refinement, width, shot->query->settings->refineCount);
    }
}
