#include "ray_metrics.h"

#include "error_statistics.h"

#include <rattleback/collision.h>

#include <math.h>

static double rateAxis(double found, double truth)
{
    double a = fabs(found);
    double b = fabs(truth);
    if (a == 0.0 || b == 0.0) {
        a += 1.0;
        b += 1.0;
    }
    return fmin(a, b) / fmax(a, b);
}

double rbRateAgreement(rbVec3 found, rbVec3 truth)
{
    return 100.0 / 3.0 *
           (rateAxis(found.x, truth.x) + rateAxis(found.y, truth.y) + rateAxis(found.z, truth.z));
}

typedef struct Line {
    rbTransform start;
    rbVec3 velocity;
} Line;

static rbTransform moveAlong(const Line* line, double time)
{
    rbTransform pose = line->start;
    pose.p = rbAddScaled(pose.p, time, line->velocity);
    return pose;
}

static rbTransform getPose(const void* context, double time)
{
    return moveAlong(context, time);
}

static Line getLine(const rbStraightPair* pair, int which)
{
    return (Line){pair->starts[which], pair->velocities[which]};
}

static rbRayBody makeBody(const rbStraightPair* pair, int which, const Line* line)
{
    double speed = rbLength(line->velocity);
    return (rbRayBody){.geometry = pair->geometries[which],
                       .emitter = pair->emitters[which],
                       .pose = speed > 0.0 ? getPose : NULL,
                       .context = line,
                       .transform = line->start,
                       .speedMax = speed};
}

bool rbPredictStraight(const rbStraightPair* pair, const rbRaySettings* settings,
                       rbRayCounts* counts, rbStraightContact* contact, rbError* error)
{
    const Line lines[2] = {getLine(pair, 0), getLine(pair, 1)};
    const rbRayBody a = makeBody(pair, 0, &lines[0]);
    const rbRayBody b = makeBody(pair, 1, &lines[1]);
    const rbRayQuery query = {.bodyA = &a,
                              .bodyB = &b,
                              .end = pair->duration,
                              .settings = settings,
                              .counts = counts,
                              .scratch = pair->scratch};
    rbRayPrediction prediction = {0};
    *contact = (rbStraightContact){0};
    if (rbPredictByRays(&query, &prediction, error) != RB_STATUS_OK) {
        return false;
    }
    double speed = rbDistance(pair->velocities[0], pair->velocities[1]);
    contact->isHit = prediction.isHit;
    contact->isInside = prediction.isInside;
    contact->time = prediction.time;
    contact->way = prediction.time * speed;
    contact->point = prediction.point;
    contact->normal = prediction.normal;
    return true;
}

bool rbSweepStraight(const rbStraightPair* pair, void* scratch, rbStraightContact* contact,
                     rbError* error)
{
    const Line lineB = getLine(pair, 1);
    rbVec3 velocity = rbSub(pair->velocities[0], pair->velocities[1]);
    rbVec3 step = rbInvRotate(pair->starts[1].q, rbScale(pair->duration, velocity));
    rbShapeSweep sweep = {0};
    *contact = (rbStraightContact){0};
    if (rbSweepShapes(pair->geometries[0], rbInvMulTransforms(pair->starts[1], pair->starts[0]),
                      step, pair->geometries[1], 0.0, scratch, &sweep, error) != RB_STATUS_OK) {
        return false;
    }
    contact->isHit = sweep.isHit;
    contact->isInside = sweep.isInside;
    contact->time = sweep.fraction * pair->duration;
    contact->way = contact->time * rbLength(velocity);
    rbTransform poseB = moveAlong(&lineB, contact->time);
    contact->point = rbTransformPoint(poseB, sweep.point);
    contact->normal = rbRotate(poseB.q, sweep.normal);
    return true;
}

bool rbMakeEmitters(rbStraightPair* pair, const rbRaySettings* settings, rbError* error)
{
    for (int i = 0; i < 2; ++i) {
        pair->emitters[i] = NULL;
    }
    for (int i = 0; i < 2; ++i) {
        if (rbGeometry_IsBounded(pair->geometries[i])) {
            pair->emitters[i] = rbCreateRayEmitter(pair->geometries[i], settings, error);
            if (pair->emitters[i] == NULL) {
                rbFreeEmitters(pair);
                return false;
            }
        }
    }
    return true;
}

void rbFreeEmitters(rbStraightPair* pair)
{
    for (int i = 0; i < 2; ++i) {
        rbDestroyRayEmitter((rbRayEmitter*)pair->emitters[i]);
        pair->emitters[i] = NULL;
    }
}

rbRayErrors rbMeasureRayErrors(const rbStraightPair* pair, const rbStraightContact* found,
                               const rbStraightContact* truth, void* scratch)
{
    if (!found->isHit || !truth->isHit) {
        return (rbRayErrors){NAN, NAN, NAN, NAN, NAN, NAN};
    }
    const Line lines[2] = {getLine(pair, 0), getLine(pair, 1)};
    rbSeparationInput input = rbDefaultSeparationInput();
    rbSeparation separation;
    input.geometryA = pair->geometries[0];
    input.geometryB = pair->geometries[1];
    input.transformBtoA =
        rbInvMulTransforms(moveAlong(&lines[0], found->time), moveAlong(&lines[1], found->time));
    bool isMeasured = rbMeasureSeparation(&input, NULL, scratch, &separation, NULL) == RB_STATUS_OK;
    return (rbRayErrors){
        .position = rbDistance(found->point, truth->point),
        .angle = rbMeasureAngle(found->normal, truth->normal),
        .excess = found->way - truth->way,
        .depth = isMeasured ? fmax(0.0, -separation.distance) : (double)NAN,
        .agreement = rbRateAgreement(found->point, truth->point),
        .normalAgreement = rbRateAgreement(found->normal, truth->normal),
    };
}
