// Contact of a pair on its paths by rays: whole curves by the predictor, which subdivides them
// until their chords are close enough, or chords as published.
//
// The published rule: if the tangent at the beginning of a frame and the chord of the frame
// differ by more than an angle, N points are inserted, the same for both bodies, so that a
// piece covers the same time for both. All pieces are tested in order, including the last, with the
// rays of the bodies themselves: the published test is made only where the balls about the centers
// overlap, which is late, and omits the last piece (RX-08).
#include "base/math/elementary.h"
#include "lab/rays/path_bend.h"
#include "lab/rays/ray_frames_state.h"

#include <math.h>

rbTransform rbFrameBody_GetPose(const rbFrameBody* body, double time)
{
    if (body->path == NULL) {
        return body->start;
    }
    double now = fmin(time, body->stopTime);
    rbTransform pose;
    rbVec3 velocity;
    rbVec3 spin;
    rbPath_Evaluate(body->path, now, &pose, &velocity, &spin);
    if (body->table != NULL) {
        pose.p = rbPathTable_GetPosition(body->table, rbFrameBody_GetTravel(body, now));
    }
    return pose;
}

double rbFrameBody_GetTravel(const rbFrameBody* body, double time)
{
    if (body->path == NULL) {
        return 0.0;
    }
    double now = fmin(time, body->stopTime);
    if (body->table == NULL) {
        return rbPath_GetTravel(body->path, now);
    }
    double travel = body->speed * (now - body->startTime);
    return fmin(fmax(travel, 0.0), rbPathTable_GetLength(body->table));
}

int rbFindFrameCuts(const rbFrameBody* a, const rbFrameBody* b, double start, double end,
                    double cuts[RB_FRAME_CUTS_MAX])
{
    const rbFrameBody* bodies[2] = {a, b};
    int count = 0;
    for (int i = 0; i < 2; ++i) {
        if (bodies[i]->path == NULL) {
            continue;
        }
        const double times[3] = {bodies[i]->startTime, bodies[i]->endTime, bodies[i]->stopTime};
        for (int k = 0; k < 3; ++k) {
            if (times[k] > start && times[k] < end) {
                cuts[count] = times[k];
                count += 1;
            }
        }
    }
    // Insertion sort of at most six.
    for (int i = 1; i < count; ++i) {
        for (int k = i; k > 0 && cuts[k] < cuts[k - 1]; --k) {
            double swap = cuts[k];
            cuts[k] = cuts[k - 1];
            cuts[k - 1] = swap;
        }
    }
    cuts[count] = end;
    return count + 1;
}

static rbTransform poseOfBody(const void* context, double time)
{
    return rbFrameBody_GetPose(context, time);
}

// A body on the chord of a piece: straight, but rotating as before.
typedef struct Chord {
    const rbFrameBody* body;
    double start, end;
    rbVec3 from, to;
} Chord;

static rbTransform poseOnChord(const void* context, double time)
{
    const Chord* chord = context;
    rbTransform pose = rbFrameBody_GetPose(chord->body, time);
    double fraction = (time - chord->start) / (chord->end - chord->start);
    pose.p = rbAddScaled(chord->from, fraction, rbSub(chord->to, chord->from));
    return pose;
}

// Whether the body is moving at the given time, between the cuts.
static bool isUnderWay(const rbFrameBody* body, double start)
{
    return body->path != NULL && start >= body->startTime && start < body->endTime &&
           start < body->stopTime;
}

static rbRayBody makeRayBody(const rbFrameBody* body, const rbFrameQuery* query, double start,
                             double end)
{
    rbRayBody rayBody = {.geometry = body->geometry, .emitter = body->emitter};
    rayBody.transform = rbFrameBody_GetPose(body, start);
    bool isGoing = isUnderWay(body, start);
    bool isTurning = body->spin > 0.0 && start < body->stopTime;
    if (isGoing || isTurning) {
        rayBody.pose = poseOfBody;
        rayBody.context = body;
        rayBody.speedMax = isGoing ? body->speed : 0.0;
        rayBody.spinMax = isTurning ? body->spin : 0.0;
    }
    if (isGoing) {
        rayBody.curvature =
            rbPath_GetAcceleration(body->path, start, end, query->settings->rays.tolerance);
    }
    return rayBody;
}

static rbStatus predictPiece(const rbFrameQuery* query, const rbRayBody bodies[2], double start,
                             double end, rbRayPrediction* prediction, rbError* error)
{
    rbRayQuery rayQuery = {.bodyA = &bodies[0],
                           .bodyB = &bodies[1],
                           .start = start,
                           .end = end,
                           .settings = &query->settings->rays,
                           .track = query->track,
                           .counts = query->counts,
                           .trace = query->trace,
                           .traceContext = query->traceContext};
    return rbPredictByRays(&rayQuery, prediction, error);
}

// Angle between the tangent at the start and the chord to the end, as published.
static double measureBend(const rbFrameBody* body, double start, double end)
{
    int pieces = 0;
    if (!isUnderWay(body, start) || (rbPath_GetPieces(body->path, &pieces), pieces == 0)) {
        return 0.0;
    }
    rbVec3 tangent;
    if (body->table != NULL) {
        tangent = rbPathTable_GetTangent(body->table, rbFrameBody_GetTravel(body, start));
    } else {
        rbTransform pose;
        rbVec3 spin;
        rbPath_Evaluate(body->path, start, &pose, &tangent, &spin);
    }
    rbVec3 chord = rbSub(rbFrameBody_GetPose(body, end).p, rbFrameBody_GetPose(body, start).p);
    return rbAtan2(rbLength(rbCross(tangent, chord)), rbDot(tangent, chord));
}

static rbRayBody makeChordBody(Chord* chord, const rbFrameQuery* query)
{
    const rbFrameBody* body = chord->body;
    chord->from = rbFrameBody_GetPose(body, chord->start).p;
    chord->to = rbFrameBody_GetPose(body, chord->end).p;
    rbRayBody rayBody = makeRayBody(body, query, chord->start, chord->end);
    if (rayBody.pose != NULL) {
        rayBody.pose = poseOnChord;
        rayBody.context = chord;
        rayBody.speedMax = rbDistance(chord->from, chord->to) / (chord->end - chord->start);
        rayBody.curvature = 0.0;
    }
    return rayBody;
}

static rbStatus predictChords(const rbFrameQuery* query, double start, double end,
                              rbRayPrediction* prediction, rbError* error)
{
    const rbRayFrameSettings* settings = query->settings;
    bool isBent = measureBend(query->a, start, end) > settings->angleMax ||
                  measureBend(query->b, start, end) > settings->angleMax;
    int count = isBent ? settings->subPoints + 1 : 1;
    double from = start;
    for (int k = 0; k < count; ++k) {
        double to = k + 1 < count ? start + (end - start) * (k + 1) / count : end;
        Chord chords[2] = {{.body = query->a, .start = from, .end = to},
                           {.body = query->b, .start = from, .end = to}};
        rbRayBody bodies[2] = {makeChordBody(&chords[0], query), makeChordBody(&chords[1], query)};
        rbStatus status = predictPiece(query, bodies, from, to, prediction, error);
        if (status != RB_STATUS_OK || prediction->isHit) {
            return status;
        }
        from = to;
    }
    return RB_STATUS_OK;
}

rbStatus rbPredictFrame(const rbFrameQuery* query, rbRayPrediction* prediction, rbError* error)
{
    double cuts[RB_FRAME_CUTS_MAX];
    int count = rbFindFrameCuts(query->a, query->b, query->start, query->end, cuts);
    double start = query->start;
    *prediction = (rbRayPrediction){.isHit = false};
    for (int i = 0; i < count; ++i) {
        rbStatus status;
        if (query->settings->angleMax > 0.0) {
            status = predictChords(query, start, cuts[i], prediction, error);
        } else {
            rbRayBody bodies[2] = {makeRayBody(query->a, query, start, cuts[i]),
                                   makeRayBody(query->b, query, start, cuts[i])};
            status = predictPiece(query, bodies, start, cuts[i], prediction, error);
        }
        if (status != RB_STATUS_OK || prediction->isHit) {
            return status;
        }
        start = cuts[i];
    }
    return RB_STATUS_OK;
}
