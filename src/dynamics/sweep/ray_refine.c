// Bundles of rays about the shortest one and about the one of the last prediction.
//
// A bundle covers a disc across the way of the shortest ray. Its starts are where lines along the
// way, through points of the disc, meet the surface of the shooter: whatever faces and edges there
// are near the start take part, on round and flat bodies alike.
#include "base/math/elementary.h"
#include "dynamics/sweep/ray_shot.h"

#define GOLDEN_ANGLE 2.39996322972865332

// Across the way, in the frame of the shooter.
typedef struct Frame {
    rbVec3 origin;
    rbVec3 way, e1, e2; // unit
} Frame;

static Frame makeFrame(const rbRayShot* shot, const rbRayStart* start)
{
    Frame frame = {.origin = start->point};
    frame.way = rbNormalize(rbInvRotate(shot->motions[shot->shooter].from.q, start->step));
    frame.e1 = rbPerpendicular(frame.way);
    frame.e2 = rbCross(frame.way, frame.e1);
    return frame;
}

// The start at a place of the disc: the surface of the shooter there. Of bodies that are not convex
// that next to the sheet of the frame's origin.
static bool findStart(const rbRayShot* shot, const Frame* frame, double x, double y,
                      rbRayStart* start)
{
    const rbRaySide* side = &shot->sides[shot->shooter];
    const rbGeometry* geometry = side->body->geometry;
    rbVec3 place = rbAddScaled(rbAddScaled(frame->origin, x, frame->e1), y, frame->e2);
    double ahead = 2.5 * side->radius;
    if (!rbGeometry_IsConvex(geometry)) {
        double near = 4.0 * sqrt(x * x + y * y) + 1e-9 * side->radius;
        ahead = near < ahead ? near : ahead;
    }
    rbRay ray = {rbAddScaled(place, ahead, frame->way), rbNeg(frame->way), INFINITY};
    rbRayHit hit;
    if (!rbGeometry_CastRay(geometry, &ray, &hit)) {
        return false;
    }
    if (side->isSolid && rbDot(hit.normal, frame->way) < 0.0) {
        // began inside
        ray.origin = rbAddScaled(place, 2.5 * side->radius, frame->way);
        if (!rbGeometry_CastRay(geometry, &ray, &hit)) {
            return false;
        }
    }
    *start = rbMakeRayStart(&shot->motions[shot->shooter], hit.point, hit.normal);
    return true;
}

// Shoots count rays in a disc; true if one became the shortest.
static bool shootDisc(rbRayShot* shot, const Frame* frame, double width, int count)
{
    bool isBetter = false;
    for (int i = 0; i < count; ++i) {
        double sine, cosine;
        rbSinCos(i * GOLDEN_ANGLE, &sine, &cosine);
        double rho = width * sqrt((i + 0.5) / count);
        rbRayStart start;
        double time;
        if (findStart(shot, frame, rho * cosine, rho * sine, &start)) {
            isBetter = rbRayShot_Shoot(shot, &start, &time) || isBetter;
        }
    }
    return isBetter;
}

void rbRayShot_Refine(rbRayShot* shot)
{
    const rbRaySettings* settings = shot->query->settings;
    shot->isRefining = true;
    shot->shooter = shot->best.shooter;
    double width = shot->sides[shot->shooter].emitter->spacing;
    for (int i = 0; i < settings->refineRounds; ++i) {
        rbRayShot_SetPiece(shot, shot->best.piece.start, shot->best.piece.end);
        Frame frame = makeFrame(shot, &shot->best.start);
        double before = shot->best.time;
        shootDisc(shot, &frame, width, settings->refineCount);
        double speed =
            rbLength(shot->best.start.step) / (shot->best.piece.end - shot->best.piece.start);
        if (i > 0 && (before - shot->best.time) * speed < settings->tolerance) {
            break;
        }
        width *= 0.25;
    }
    shot->isRefining = false;
}

void rbRayShot_ShootTrack(rbRayShot* shot, const rbRayTrack* track)
{
    shot->shooter = track->isReverse ? 1 : 0;
    rbRayStart start = rbMakeRayStart(&shot->motions[shot->shooter], track->start, RB_VEC3_ZERO);
    double time;
    (void)rbRayShot_Shoot(shot, &start, &time);
    if (rbLengthSquared(start.step) > 0.0) {
        Frame frame = makeFrame(shot, &start);
        double width = shot->sides[shot->shooter].emitter->spacing;
        shootDisc(shot, &frame, width, shot->query->settings->refineCount);
    }
}
