// The frame system: see ray_frames.h.
//
// A frame: finds the contacts of all pairs from the poses at its beginning; then takes the
// earliest, again and again. When bodies stop, their pairs are predicted again from that time,
// because contacts found for later times are no longer valid. Contacts at the same time are.
#include "base/core/timer.h"
#include "lab/rays/path_bend.h"
#include "lab/rays/ray_frames_state.h"

#include <rattleback/collision.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ----------------------------------------------------------------------------------------- life

rbRayFrames* rbCreateRayFrames(const rbRayFrameSettings* settings, rbError* error)
{
    if (rbRayFrameSettings_Check(settings, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbRayFrames* frames = rbAllocZero(1, sizeof *frames);
    frames->settings = *settings;
    frames->scratch = rbAlloc(rbGetSeparationScratchSize());
    return frames;
}

static void freeBody(rbFrameBody* body)
{
    if (!body->isEmitterShared) {
        rbDestroyRayEmitter(body->emitter);
    }
    rbPathTable_Destroy(body->table);
    rbPath_Destroy(body->path);
    rbDestroyGeometry(body->geometry);
}

void rbDestroyRayFrames(rbRayFrames* frames)
{
    if (frames == NULL) {
        return;
    }
    for (int i = 0; i < frames->bodies.count; ++i) {
        freeBody(&frames->bodies.data[i]);
    }
    rbFree(frames->contacts, (size_t)frames->pairs.count * sizeof frames->contacts[0]);
    rbArray_Free(frames->bodies);
    rbArray_Free(frames->pairs);
    rbArray_Free(frames->collisions);
    rbArray_Free(frames->missed);
    rbArray_Free(frames->times);
    rbFree(frames->scratch, rbGetSeparationScratchSize());
    rbFree(frames, sizeof *frames);
}

static rbStatus validateBody(const rbRayFrames* frames, const rbFrameBodyDef* def, const char* name,
                             rbError* error)
{
    bool isMoving = def->path != NULL;
    int count = isMoving ? frames->movingCount : frames->bodies.count - frames->movingCount;
    if (frames->isPrepared) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "\"%s\" was added after the first frame; add all bodies before", name);
    }
    if (count >= RB_FRAMES_BODIES_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "\"%s\" would be %s body %d; at most %d moving and %d static ones are "
                           "accepted",
                           name, isMoving ? "moving" : "static", count + 1, RB_FRAMES_BODIES_MAX,
                           RB_FRAMES_BODIES_MAX);
    }
    if (isMoving && !rbGeometry_IsBounded(def->geometry)) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "\"%s\" is a half space and moves; half spaces must be static", name);
    }
    rbVec3 p = def->transform.p;
    if (!rbIsFinite3(p) || !rbIsFiniteQuat(def->transform.q)) {
        return rbError_Set(error, RB_STATUS_INVALID, "the pose of \"%s\" is not finite", name);
    }
    return RB_STATUS_OK;
}

// The emitter of an earlier body with the same geometry, or a new one.
static rbStatus findEmitter(const rbRayFrames* frames, rbFrameBody* body, rbError* error)
{
    bool isNeeded = body->path != NULL || !frames->settings.rays.isOneWay;
    if (!isNeeded || !rbGeometry_IsBounded(body->geometry)) {
        return RB_STATUS_OK;
    }
    for (int i = 0; i < frames->bodies.count; ++i) {
        const rbFrameBody* other = &frames->bodies.data[i];
        if (other->geometry == body->geometry && other->emitter != NULL) {
            body->emitter = other->emitter;
            body->isEmitterShared = true;
            return RB_STATUS_OK;
        }
    }
    rbError own = {0};
    body->emitter = rbCreateRayEmitter(body->geometry, &frames->settings.rays, &own);
    if (body->emitter == NULL) {
        return rbError_Set(error, own.status, "\"%s\": %s", body->name, own.message);
    }
    return RB_STATUS_OK;
}

// Sets the path of a body and the properties of it that frames need.
static rbStatus setPath(const rbRayFrames* frames, rbFrameBody* body, const rbPathDef* def,
                        rbError* error)
{
    rbError own = {0};
    body->path = rbPath_Create(def, body->start, &own);
    if (body->path == NULL) {
        return rbError_Set(error, own.status, "\"%s\": %s", body->name, own.message);
    }
    int pieces = 0;
    const rbVec3(*points)[4] = rbPath_GetPieces(body->path, &pieces);
    bool isClosed = pieces > 0 && def->isClosed;
    if (pieces > 0 && frames->settings.chordSamples > 0) {
        if (isClosed) {
            return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                               "\"%s\": a closed curve has no published table of chords; use 0 "
                               "samples, which is exact",
                               body->name);
        }
        body->table = rbPathTable_Create(points, pieces, frames->settings.chordSamples);
    }
    double length =
        body->table != NULL ? rbPathTable_GetLength(body->table) : rbPath_GetLength(body->path);
    body->speed = body->path->speed;
    body->spin = rbLength(def->angularVelocity);
    body->startTime = def->startTime;
    bool hasEnd = !isClosed && isfinite(length) && body->speed > 0.0;
    body->endTime = hasEnd ? def->startTime + length / body->speed : INFINITY;
    return RB_STATUS_OK;
}

rbStatus rbRayFrames_AddBody(rbRayFrames* frames, const rbFrameBodyDef* def, rbError* error)
{
    RB_ASSERT(def->geometry != NULL);
    rbFrameBody body = {.start = def->transform, .startTime = -INFINITY, .endTime = INFINITY};
    body.stopTime = INFINITY;
    if (def->name != NULL && def->name[0] != '\0') {
        (void)snprintf(body.name, sizeof body.name, "%s", def->name);
    } else {
        (void)snprintf(body.name, sizeof body.name, "body %d", frames->bodies.count);
    }
    rbStatus status = validateBody(frames, def, body.name, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    body.geometry = rbGeometry_Retain(def->geometry);
    body.radius = rbGeometry_GetRadius(def->geometry, RB_VEC3_ZERO);
    if (def->path != NULL) {
        status = setPath(frames, &body, def->path, error);
    }
    if (status == RB_STATUS_OK) {
        status = findEmitter(frames, &body, error);
    }
    if (status != RB_STATUS_OK) {
        freeBody(&body);
        return status;
    }
    rbArray_Push(frames->bodies, body);
    frames->movingCount += def->path != NULL ? 1 : 0;
    return RB_STATUS_OK;
}

rbStatus rbRayFrames_Prepare(rbRayFrames* frames, double duration, rbError* error)
{
    RB_ASSERT(!frames->isPrepared);
    if (!(duration > 0.0) || !(duration * frames->settings.frameRate <= RB_FRAMES_COUNT_MAX)) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "%g s at %g frames per second give %.3g frames; more than 0 and at most "
                           "%d are accepted",
                           duration, frames->settings.frameRate,
                           duration * frames->settings.frameRate, RB_FRAMES_COUNT_MAX);
    }
    rbStatus status = rbValidateFrameStart(frames, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    frames->duration = duration;
    rbListFramePairs(frames);
    frames->contacts = rbAllocZero((size_t)frames->pairs.count, sizeof frames->contacts[0]);
    frames->isPrepared = true;
    return RB_STATUS_OK;
}

// --------------------------------------------------------------------------------------- a frame

static double timeOfFrame(const rbRayFrames* frames, int64_t frame)
{
    return (double)frame / frames->settings.frameRate;
}

static bool canMove(const rbFrameBody* body)
{
    return body->path != NULL && !body->isStopped;
}

static rbFrameQuery makeQuery(const rbRayFrames* frames, const rbFramePair* pair, double start,
                              double end)
{
    return (rbFrameQuery){.a = &frames->bodies.data[pair->a],
                          .b = &frames->bodies.data[pair->b],
                          .settings = &frames->settings,
                          .start = start,
                          .end = end};
}

// The contact of a pair between a time and the end of the frame.
static rbStatus findContact(rbRayFrames* frames, int index, double start, double end,
                            rbError* error)
{
    rbFramePair* pair = &frames->pairs.data[index];
    rbFrameContact* contact = &frames->contacts[index];
    rbFrameQuery query = makeQuery(frames, pair, start, end);
    *contact = (rbFrameContact){.isExact = frames->settings.isExact};
    if (pair->isIgnored || !(start < end) || !(canMove(query.a) || canMove(query.b))) {
        return RB_STATUS_OK;
    }
    frames->counts.pairTests += 1;
    query.track = &pair->track;
    query.counts = &frames->counts.rays;
    rbStatus status = frames->settings.isExact
                          ? rbSweepFrame(&query, frames->scratch, &frames->counts.exactSweeps,
                                         &contact->prediction, error)
                          : rbPredictFrame(&query, &contact->prediction, error);
    contact->isHit = status == RB_STATUS_OK && contact->prediction.isHit;
    return status;
}

// Records a contact that rays missed.
static void noteMissed(rbRayFrames* frames, rbFramePair* pair)
{
    double frame = floor(pair->exactTime * frames->settings.frameRate);
    rbRayCollision missed = {.frame = (int64_t)frame,
                             .time = pair->exactTime,
                             .bodyA = pair->a,
                             .bodyB = pair->b,
                             .isExact = true};
    rbArray_Push(frames->missed, missed);
    frames->counts.missed += 1;
    pair->hasExact = false;
}

// Pairs that have separated can collide again.
static rbStatus reviewPairs(rbRayFrames* frames, double time, rbError* error)
{
    for (int i = 0; i < frames->pairs.count; ++i) {
        rbFramePair* pair = &frames->pairs.data[i];
        const rbFrameBody* a = &frames->bodies.data[pair->a];
        const rbFrameBody* b = &frames->bodies.data[pair->b];
        if (!(pair->isIgnored || pair->hasExact) || !(canMove(a) || canMove(b))) {
            continue;
        }
        double distance = 0.0;
        rbStatus status = rbMeasureFramePair(a, b, time, frames->scratch, &distance, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        if (distance > 1e-9 * fmin(a->radius, b->radius)) {
            pair->isIgnored = false;
            if (pair->hasExact) {
                noteMissed(frames, pair);
            }
        }
    }
    return RB_STATUS_OK;
}

// The exact contacts of this frame, for comparison. For a contact at its very end, rounding must
// not decide whether it belongs to this frame or to the next, where it would be too late.
static rbStatus compareFrame(rbRayFrames* frames, double start, double end, rbError* error)
{
    for (int i = 0; i < frames->pairs.count; ++i) {
        rbFramePair* pair = &frames->pairs.data[i];
        rbFrameQuery query = makeQuery(frames, pair, start, end + 1e-9 * (end - start));
        if (pair->isIgnored || pair->hasExact || !(canMove(query.a) || canMove(query.b))) {
            continue;
        }
        rbRayPrediction exact;
        rbStatus status =
            rbSweepFrame(&query, frames->scratch, &frames->counts.exactSweeps, &exact, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        pair->hasExact = exact.isHit;
        pair->exactTime = exact.time;
    }
    return RB_STATUS_OK;
}

// Displacement of a point of A relative to B between two times, m.
static double measureWay(const rbFrameBody* a, const rbFrameBody* b, rbVec3 point,
                         const double times[2])
{
    rbVec3 local = rbInvTransformPoint(rbFrameBody_GetPose(a, times[0]), point);
    rbVec3 seen[2];
    for (int i = 0; i < 2; ++i) {
        rbVec3 world = rbTransformPoint(rbFrameBody_GetPose(a, times[i]), local);
        seen[i] = rbInvTransformPoint(rbFrameBody_GetPose(b, times[i]), world);
    }
    return rbDistance(seen[0], seen[1]);
}

static rbStatus recordContact(rbRayFrames* frames, int index, rbError* error)
{
    rbFramePair* pair = &frames->pairs.data[index];
    const rbFrameContact* contact = &frames->contacts[index];
    const rbRayPrediction* prediction = &contact->prediction;
    const rbFrameBody* a = &frames->bodies.data[pair->a];
    const rbFrameBody* b = &frames->bodies.data[pair->b];
    double start = timeOfFrame(frames, frames->frame);
    double length = timeOfFrame(frames, frames->frame + 1) - start;
    rbRayCollision collision = {.frame = frames->frame,
                                .fraction = (prediction->time - start) / length,
                                .time = prediction->time,
                                .bodyA = pair->a,
                                .bodyB = pair->b,
                                .isReverse = prediction->isReverse,
                                .isExact = contact->isExact,
                                .isInside = prediction->isInside,
                                .way = rbFrameBody_GetTravel(a, prediction->time),
                                .wayB = rbFrameBody_GetTravel(b, prediction->time),
                                .ray = prediction->way,
                                .point = prediction->point,
                                .normal = prediction->normal};
    double distance = 0.0;
    rbStatus status = rbMeasureFramePair(a, b, prediction->time, frames->scratch, &distance, error);
    collision.penetration = fmax(-distance, 0.0);
    if (pair->hasExact) {
        const double times[2] = {prediction->time, pair->exactTime};
        double way = measureWay(a, b, prediction->point, times);
        collision.isCompared = true;
        collision.exactTime = pair->exactTime;
        collision.error = prediction->time < pair->exactTime ? -way : way;
        pair->hasExact = false;
    }
    rbArray_Push(frames->collisions, collision);
    return status;
}

// The pair with the earliest contact, the first among equals. -1: none is left.
static int findEarliest(const rbRayFrames* frames)
{
    int earliest = -1;
    for (int i = 0; i < frames->pairs.count; ++i) {
        const rbFrameContact* contact = &frames->contacts[i];
        if (contact->isHit && (earliest < 0 || contact->prediction.time <
                                                   frames->contacts[earliest].prediction.time)) {
            earliest = i;
        }
    }
    return earliest;
}

static void stopBody(rbFrameBody* body, double time)
{
    if (canMove(body)) {
        body->isStopped = true;
        body->stopTime = time;
    }
}

// Both bodies stop; their other pairs are predicted again from then on.
static rbStatus stopPair(rbRayFrames* frames, int index, double end, rbError* error)
{
    const rbFramePair* pair = &frames->pairs.data[index];
    double time = frames->contacts[index].prediction.time;
    stopBody(&frames->bodies.data[pair->a], time);
    stopBody(&frames->bodies.data[pair->b], time);
    for (int i = 0; i < frames->pairs.count; ++i) {
        rbFramePair* other = &frames->pairs.data[i];
        const rbFrameContact* contact = &frames->contacts[i];
        bool isTheirs = other->a == pair->a || other->a == pair->b || other->b == pair->b ||
                        other->b == pair->a;
        bool stays = contact->isHit && contact->prediction.time <= time;
        if (isTheirs && i != index && !stays) {
            // If both bodies stand still now, a later contact does not happen.
            bool canMeet =
                canMove(&frames->bodies.data[other->a]) || canMove(&frames->bodies.data[other->b]);
            other->hasExact = other->hasExact && canMeet;
            rbStatus status = findContact(frames, i, time, end, error);
            if (status != RB_STATUS_OK) {
                return status;
            }
        }
    }
    return RB_STATUS_OK;
}

static rbStatus takeContacts(rbRayFrames* frames, double end, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    for (;;) {
        int index = findEarliest(frames);
        if (index < 0 || status != RB_STATUS_OK) {
            return status;
        }
        status = recordContact(frames, index, error);
        if (status == RB_STATUS_OK && frames->settings.mode == RB_FRAMES_STOP) {
            status = stopPair(frames, index, end, error);
        }
        frames->pairs.data[index].isIgnored = true;
        frames->contacts[index].isHit = false;
    }
}

rbStatus rbRayFrames_Update(rbRayFrames* frames, rbError* error)
{
    RB_ASSERT(frames->isPrepared);
    double start = timeOfFrame(frames, frames->frame);
    double end = timeOfFrame(frames, frames->frame + 1);
    double wall = rbGetWallTime();
    rbStatus status = reviewPairs(frames, start, error);
    double spent = rbGetWallTime() - wall;
    if (status == RB_STATUS_OK && frames->settings.isCompared) {
        // Not included in the time of a frame: it only serves to measure errors.
        status = compareFrame(frames, start, end, error);
    }
    wall = rbGetWallTime();
    for (int i = 0; i < frames->pairs.count && status == RB_STATUS_OK; ++i) {
        status = findContact(frames, i, start, end, error);
    }
    if (status == RB_STATUS_OK) {
        status = takeContacts(frames, end, error);
    }
    spent += rbGetWallTime() - wall;
    rbArray_Push(frames->times, spent);
    frames->frame += 1;
    return status;
}

rbStatus rbRayFrames_Run(rbRayFrames* frames, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    while (status == RB_STATUS_OK && timeOfFrame(frames, frames->frame) < frames->duration) {
        status = rbRayFrames_Update(frames, error);
    }
    return status;
}

// --------------------------------------------------------------------------------------- answers

double rbRayFrames_GetFrameRate(const rbRayFrames* frames)
{
    return frames->settings.frameRate;
}

double rbRayFrames_GetTime(const rbRayFrames* frames)
{
    return timeOfFrame(frames, frames->frame);
}

int64_t rbRayFrames_GetFrame(const rbRayFrames* frames)
{
    return frames->frame;
}

const rbRayCollision* rbRayFrames_GetCollisions(const rbRayFrames* frames, int* count)
{
    *count = frames->collisions.count;
    return frames->collisions.data;
}

int rbRayFrames_GetMissed(const rbRayFrames* frames, rbRayCollision* missed, int capacity)
{
    int count = 0;
    for (; count < frames->missed.count; ++count) {
        if (count < capacity) {
            missed[count] = frames->missed.data[count];
        }
    }
    // At the end, those that rays have not found.
    for (int i = 0; i < frames->pairs.count; ++i) {
        const rbFramePair* pair = &frames->pairs.data[i];
        if (pair->hasExact) {
            if (count < capacity) {
                double frame = floor(pair->exactTime * frames->settings.frameRate);
                missed[count] = (rbRayCollision){.frame = (int64_t)frame,
                                                 .time = pair->exactTime,
                                                 .bodyA = pair->a,
                                                 .bodyB = pair->b,
                                                 .isExact = true};
            }
            count += 1;
        }
    }
    return count;
}

rbFrameCounts rbRayFrames_GetCounts(const rbRayFrames* frames)
{
    rbFrameCounts counts = frames->counts;
    counts.missed = rbRayFrames_GetMissed(frames, NULL, 0);
    return counts;
}

static int compareTimes(const void* a, const void* b)
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return x < y ? -1 : (x > y ? 1 : 0);
}

rbFrameTimes rbRayFrames_GetTimes(const rbRayFrames* frames)
{
    int count = frames->times.count;
    rbFrameTimes times = {.frameCount = count};
    if (count == 0) {
        return times;
    }
    size_t size = (size_t)count * sizeof(double);
    double* sorted = rbAlloc(size);
    memcpy(sorted, frames->times.data, size);
    qsort(sorted, (size_t)count, sizeof(double), compareTimes);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += sorted[i];
    }
    times.largest = sorted[count - 1];
    times.mean = sum / count;
    times.p99 = sorted[(int)ceil(0.99 * count) - 1];
    rbFree(sorted, size);
    return times;
}

int rbRayFrames_GetBodyCount(const rbRayFrames* frames)
{
    return frames->bodies.count;
}

const char* rbRayFrames_GetBodyName(const rbRayFrames* frames, int body)
{
    RB_ASSERT(body >= 0 && body < frames->bodies.count);
    return frames->bodies.data[body].name;
}

const rbGeometry* rbRayFrames_GetGeometry(const rbRayFrames* frames, int body)
{
    RB_ASSERT(body >= 0 && body < frames->bodies.count);
    return frames->bodies.data[body].geometry;
}

bool rbRayFrames_IsMoving(const rbRayFrames* frames, int body)
{
    RB_ASSERT(body >= 0 && body < frames->bodies.count);
    return frames->bodies.data[body].path != NULL;
}

rbTransform rbRayFrames_GetPose(const rbRayFrames* frames, int body, double time)
{
    RB_ASSERT(body >= 0 && body < frames->bodies.count);
    return rbFrameBody_GetPose(&frames->bodies.data[body], time);
}

rbStatus rbRayFrames_Trace(const rbRayFrames* frames, const rbRayCollision* collision, double lead,
                           rbRayTraceFn* trace, void* context, rbError* error)
{
    RB_ASSERT(lead >= 0.0);
    // As they were before they stopped at this contact.
    rbFrameBody bodies[2] = {frames->bodies.data[collision->bodyA],
                             frames->bodies.data[collision->bodyB]};
    for (int i = 0; i < 2; ++i) {
        if (bodies[i].stopTime >= collision->time) {
            bodies[i].isStopped = false;
            bodies[i].stopTime = INFINITY;
        }
    }
    rbFrameQuery query = {.a = &bodies[0],
                          .b = &bodies[1],
                          .settings = &frames->settings,
                          .start = fmax(timeOfFrame(frames, collision->frame) - lead, 0.0),
                          .end = timeOfFrame(frames, collision->frame + 1) + lead,
                          .trace = trace,
                          .traceContext = context};
    rbRayPrediction prediction;
    return rbPredictFrame(&query, &prediction, error);
}
