// Contact of a pair on its paths by exact sweeps, the reference for rays.
//
// Bodies that do not rotate are swept along the chords of their relative path, which is subdivided
// until no chord deviates by more than CHORD_TOLERANCE. Rotating bodies advance as far as their
// distance and their maximum speeds allow, again and again, until they almost touch.
#include "lab/rays/path_bend.h"
#include "lab/rays/ray_frames_state.h"

#include <rattleback/collision.h>

#include <math.h>

#define CHORD_TOLERANCE 1e-9 // m
#define TOUCH_TOLERANCE 1e-9 // relative to the smaller radius: closer is contact
#define ADVANCES_MAX 100000  // of rotating bodies per frame

static rbTransform relativePose(const rbFrameQuery* query, double time)
{
    return rbInvMulTransforms(rbFrameBody_GetPose(query->b, time),
                              rbFrameBody_GetPose(query->a, time));
}

static rbStatus measure(const rbFrameBody* a, const rbFrameBody* b, double time, void* scratch,
                        rbSeparation* separation, rbError* error)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a->geometry;
    input.geometryB = b->geometry;
    input.transformBtoA =
        rbInvMulTransforms(rbFrameBody_GetPose(a, time), rbFrameBody_GetPose(b, time));
    return rbMeasureSeparation(&input, NULL, scratch, separation, error);
}

rbStatus rbMeasureFramePair(const rbFrameBody* a, const rbFrameBody* b, double time, void* scratch,
                            double* distance, rbError* error)
{
    rbSeparation separation;
    rbStatus status = measure(a, b, time, scratch, &separation, error);
    *distance = status == RB_STATUS_OK ? separation.distance : 0.0;
    return status;
}

static bool isGoing(const rbFrameBody* body, double start)
{
    return body->path != NULL && start >= body->startTime && start < body->endTime &&
           start < body->stopTime;
}

static double speedOf(const rbFrameBody* body, double start)
{
    return isGoing(body, start) ? body->speed : 0.0;
}

static double spinOf(const rbFrameBody* body, double start)
{
    return start < body->stopTime ? body->spin : 0.0;
}

// The first time not before start at which the balls about the bodies can touch. Not for a table of
// chords, with which speeds vary.
static double skip(const rbFrameQuery* query, double start, double speed)
{
    if (query->a->table != NULL || query->b->table != NULL) {
        return start;
    }
    double gap =
        rbDistance(rbFrameBody_GetPose(query->a, start).p, rbFrameBody_GetPose(query->b, start).p) -
        query->a->radius - query->b->radius;
    // Slightly less, for rounding.
    return gap > 0.0 ? start + (1.0 - 1e-9) * gap / speed : start;
}

static void setHit(const rbFrameQuery* query, double time, const rbShapeSweep* sweep,
                   rbRayPrediction* prediction)
{
    rbTransform poseB = rbFrameBody_GetPose(query->b, time);
    *prediction = (rbRayPrediction){.isHit = true,
                                    .isInside = sweep->isInside,
                                    .time = time,
                                    .point = rbTransformPoint(poseB, sweep->point),
                                    .normal = rbRotate(poseB.q, sweep->normal)};
}

// Longest chord of the relative path in time, s.
static double findChordTime(const rbFrameQuery* query, double start, double end)
{
    double acceleration = 0.0;
    const rbFrameBody* bodies[2] = {query->a, query->b};
    for (int i = 0; i < 2; ++i) {
        if (isGoing(bodies[i], start)) {
            acceleration += rbPath_GetAcceleration(bodies[i]->path, start, end, CHORD_TOLERANCE);
        }
    }
    // A chord over a time t of a path with acceleration a deviates by at most a t^2 / 8.
    return acceleration > 0.0 ? sqrt(8.0 * CHORD_TOLERANCE / acceleration) : INFINITY;
}

static rbStatus sweepStraight(const rbFrameQuery* query, const double interval[2], void* scratch,
                              int64_t* sweeps, rbRayPrediction* prediction, rbError* error)
{
    double start = interval[0];
    double end = interval[1];
    double speed = speedOf(query->a, start) + speedOf(query->b, start);
    double chord = findChordTime(query, start, end);
    double from = start;
    while (from < end) {
        from = skip(query, from, speed);
        if (!(from < end)) {
            break;
        }
        double to = fmin(from + chord, end);
        if (!(to > from)) {
            to = end; // chords below the resolution of time
        }
        rbTransform first = relativePose(query, from);
        rbVec3 step = rbSub(relativePose(query, to).p, first.p);
        rbShapeSweep sweep = {.isHit = false};
        rbStatus status = rbSweepShapes(query->a->geometry, first, step, query->b->geometry, 0.0,
                                        scratch, &sweep, error);
        *sweeps += 1;
        if (status != RB_STATUS_OK) {
            return status;
        }
        if (sweep.isHit) {
            setHit(query, from + sweep.fraction * (to - from), &sweep, prediction);
            prediction->way = sweep.fraction * rbLength(step);
            return RB_STATUS_OK;
        }
        from = to;
    }
    return RB_STATUS_OK;
}

static rbStatus advanceTurning(const rbFrameQuery* query, const double interval[2], void* scratch,
                               int64_t* sweeps, rbRayPrediction* prediction, rbError* error)
{
    double time = interval[0];
    const rbFrameBody* a = query->a;
    const rbFrameBody* b = query->b;
    double speed = speedOf(a, time) + speedOf(b, time);
    const rbFrameBody* bodies[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        double spin = spinOf(bodies[i], time);
        speed += spin > 0.0 ? spin * bodies[i]->radius : 0.0;
    }
    double touch = TOUCH_TOLERANCE * fmin(a->radius, b->radius);
    for (int i = 0; i < ADVANCES_MAX && time < interval[1]; ++i) {
        rbSeparation separation;
        rbStatus status = measure(a, b, time, scratch, &separation, error);
        *sweeps += 1;
        if (status != RB_STATUS_OK) {
            return status;
        }
        if (separation.distance <= touch) {
            rbTransform poseA = rbFrameBody_GetPose(a, time);
            *prediction = (rbRayPrediction){.isHit = true,
                                            .isInside = i == 0 && separation.distance < -touch,
                                            .time = time,
                                            .point = rbTransformPoint(poseA, separation.pointB),
                                            .normal = rbNeg(rbRotate(poseA.q, separation.normal))};
            return RB_STATUS_OK;
        }
        if (!(speed > 0.0)) {
            break;
        }
        time += fmax(separation.lower, touch) / speed;
    }
    return RB_STATUS_OK;
}

rbStatus rbSweepFrame(const rbFrameQuery* query, void* scratch, int64_t* sweeps,
                      rbRayPrediction* prediction, rbError* error)
{
    double cuts[RB_FRAME_CUTS_MAX];
    int count = rbFindFrameCuts(query->a, query->b, query->start, query->end, cuts);
    *prediction = (rbRayPrediction){.isHit = false};
    double start = query->start;
    for (int i = 0; i < count; ++i) {
        const double interval[2] = {start, cuts[i]};
        double spin = spinOf(query->a, start) + spinOf(query->b, start);
        double speed = speedOf(query->a, start) + speedOf(query->b, start);
        rbStatus status = RB_STATUS_OK;
        if (spin > 0.0) {
            status = advanceTurning(query, interval, scratch, sweeps, prediction, error);
        } else if (speed > 0.0) {
            status = sweepStraight(query, interval, scratch, sweeps, prediction, error);
        }
        if (status != RB_STATUS_OK || prediction->isHit) {
            return status;
        }
        start = cuts[i];
    }
    return RB_STATUS_OK;
}
