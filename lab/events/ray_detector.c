// The detector "rays" of the event engine: contact of pairs is predicted by rays
// and answered by an impact.
//
// A pair is far, predicted or close.
//
//   far        until its time, the bounding balls of the bodies are apart. Then rays are cast over
//              a window: without a hit the pair is examined again at the end of the window; with
//              a hit it becomes predicted.
//   predicted  its time is that of the hit, when the bodies collide at the point and with the
//              normal of the ray. Rays find contact late, never early, so the bodies overlap a
//              little by then; the depth is measured for the statistics.
//   close      from a contact until the bodies are measured apart: everything between touching
//              bodies (separation, bounces of the size of the tolerance, lasting contact, rest) is
//              left to the exact detector. Rays that start on touching or overlapping surfaces
//              could not distinguish separation from contact.
//
// A change of flight discards predictions. All state is in the pair memory of the row, so it is
// part of snapshots.
#include "dynamics/engines/event/event_loop.h"
#include "lab/events/lab_event_rows.h"
#include "lab/rays/path_bend.h"
#include "world/world_engine.h"

#include <rattleback/lab_ray_detector.h>

#include <math.h>
#include <string.h>

// The ball bound uses balls enlarged by this fraction, and rays are cast when they are within twice
// as much, so that rounding never makes a pair due without casting rays.
#define BALL_MARGIN 2e-6
// Approximate maximum number of pieces into which the rays divide a window.
#define WINDOW_PIECES 32.0
// A window is at most the time in which the smaller body moves by its own radius. Examining a pair
// detects overlaps, so what rays missed is found within a radius; and predictions far ahead are
// mostly discarded.
#define WINDOW_RADII 1.0
// Gap, in tolerances, at which a close pair becomes far again. More than the highest hop of a
// microcollision (RB_HOP_MOST), so that resting bodies stay with the exact detector.
#define PARTED 20.0
// The path out of an overlap is at most this many times its depth.
#define PARTING_DEPTHS 2.0
// It is also at most this fraction of the smaller radius, which is used if the depth is unknown.
#define PARTING_REACH 0.05
// Overlaps deeper than this fraction of the smaller radius are rejected when the engine restarts
// within a run: rays did not cause them.
#define LEFT_REACH 0.25
// s, how far ahead rays are drawn.
#define TRACE_AHEAD 1.0
// Between checks of an overlap, points move by at least the first fraction of its depth, and by the
// second of the tolerance, but by no more than the third of the radius of the smaller body.
#define OVERLAP_STEP 0.25
#define OVERLAP_LEAST 0.05
#define OVERLAP_REACH 0.02
// A separating overlap is checked again when the bodies should be this many tolerances apart.
#define OVERLAP_EXIT 1.05
// An overlap that has grown by more than this factor since the contact is no longer separating.
#define OVERLAP_GROWTH 1.25

// The memory of a pair.
typedef struct PairMemory {
    rbRayTrack track; // the shortest ray of the last prediction
    rbVec3 point;     // m, of the hit, at the time of the pair
    rbVec3 normal;    // unit, from a to b
    bool hasHit;      // the pair is predicted
    bool isClose;     // since a contact, until measured apart
    bool isParting;   // since a contact that a ray declared while the bodies overlapped
    double depth;     // m, depth of that overlap
    double partUntil; // s, latest time at which it should have ended
} PairMemory;

// The rays of a geometry, created once.
typedef struct Emitter {
    const rbGeometry* geometry;
    rbRayEmitter* emitter;
} Emitter;

// Where the rays of a body start; NULL: it casts none.
typedef struct BodyEmitter {
    const rbRayEmitter* emitter;
} BodyEmitter;

// State of the detector in an engine.
typedef struct RayState {
    rbRaySettings settings;
    RB_ARRAY(Emitter) emitters;
    RB_ARRAY(BodyEmitter) bodies; // parallel to the bodies of the engine
} RayState;

// The data of a pair that the detector detects; pointers become invalid when a pair is added.
static PairMemory* memoryOf(const rbEventEngine* engine, const rbEventPair* pair)
{
    ptrdiff_t first = (ptrdiff_t)pair->data * engine->detector.words;
    return (PairMemory*)(void*)&engine->detector.memory.data[first];
}

static rbRayDetectorStatistics* countsOf(const rbEventEngine* engine)
{
    return engine->detector.counts;
}

static const RayState* stateOf(const rbEventEngine* engine)
{
    return engine->detector.state;
}

// --------------------------------------------------------------------------------------- settings

#define RAYS_COOKIE 0x6c61625f72617973u // "lab_rays"

bool rbEventSettings_IsByRays(const rbEventSettings* settings)
{
    return (int)settings->detector < rbDetector_GetCount() &&
           rbGetDetectorRow(settings->detector) == &rbRayDetectorRow;
}

void rbEventSettings_SetRays(rbEventSettings* settings, const rbRaySettings* rays)
{
    rbExtraSettings_Put(&settings->extra, RAYS_COOKIE, rays, sizeof *rays);
}

rbRaySettings rbEventSettings_GetRays(const rbEventSettings* settings)
{
    rbRaySettings rays = rbDefaultRaySettings();
    (void)rbExtraSettings_Get(&settings->extra, RAYS_COOKIE, &rays, sizeof rays);
    return rays;
}

static rbStatus checkSettings(const rbEventSettings* settings, rbError* error)
{
    rbRaySettings rays = rbEventSettings_GetRays(settings);
    rbStatus status = rbRaySettings_Check(&rays, error);
    if (status == RB_STATUS_OK && settings->order == RB_ORDER_SIMULTANEOUS) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "rays find one contact point after another, but the order "
                           "\"simultaneous\" needs all points at once; use \"sequential\", or the "
                           "detector \"exact\"");
    }
    return status;
}

// ----------------------------------------------------------------------------------------- bodies

static bool canDetect(const rbEventEngine* engine, int a, int b)
{
    const rbEventBody* first = &engine->bodies.data[a];
    const rbEventBody* second = &engine->bodies.data[b];
    return !first->isUnbounded && !second->isUnbounded && first->growth == 0.0 &&
           second->growth == 0.0;
}

static const rbRayEmitter* findEmitter(const RayState* state, const rbGeometry* geometry)
{
    for (int i = state->emitters.count - 1; i >= 0; --i) {
        if (state->emitters.data[i].geometry == geometry) {
            return state->emitters.data[i].emitter;
        }
    }
    return NULL;
}

static void destroyState(rbEventEngine* engine)
{
    RayState* state = engine->detector.state;
    if (state == NULL) {
        return;
    }
    for (int i = 0; i < state->emitters.count; ++i) {
        rbDestroyRayEmitter(state->emitters.data[i].emitter);
    }
    rbArray_Free(state->emitters);
    rbArray_Free(state->bodies);
    rbFree(state, sizeof *state);
    engine->detector.state = NULL;
}

// Destroys emitters of geometries that no body uses any more.
static void dropEmitters(const rbEventEngine* engine, RayState* state)
{
    int kept = 0;
    for (int i = 0; i < state->emitters.count; ++i) {
        bool isUsed = false;
        for (int k = 0; k < engine->colds.count && !isUsed; ++k) {
            isUsed = engine->colds.data[k].geometry == state->emitters.data[i].geometry;
        }
        if (isUsed) {
            state->emitters.data[kept++] = state->emitters.data[i];
        } else {
            rbDestroyRayEmitter(state->emitters.data[i].emitter);
        }
    }
    state->emitters.count = kept;
}

// The rays of a geometry, existing or created now; NULL with a message if there can be none.
static const rbRayEmitter* takeEmitter(RayState* state, const rbGeometry* geometry, rbError* error)
{
    const rbRayEmitter* known = findEmitter(state, geometry);
    if (known != NULL) {
        return known;
    }
    Emitter made = {geometry, rbCreateRayEmitter(geometry, &state->settings, error)};
    if (made.emitter != NULL) {
        rbArray_Push(state->emitters, made);
    }
    return made.emitter;
}

static rbStatus startRays(rbEventEngine* engine, rbError* error)
{
    if (engine->detector.state == NULL) {
        engine->detector.state = rbAllocZero(1, sizeof(RayState));
    }
    RayState* state = engine->detector.state;
    state->settings = rbEventSettings_GetRays(&engine->settings);
    dropEmitters(engine, state);
    state->bodies.count = 0;
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbEventBody* body = &engine->bodies.data[i];
        BodyEmitter own = {NULL};
        if (body->shape != RB_EVENT_SHAPE_NONE && !body->isUnbounded) {
            own.emitter = takeEmitter(state, engine->colds.data[i].geometry, error);
            if (own.emitter == NULL) {
                return error != NULL && error->status != RB_STATUS_OK ? error->status
                                                                      : RB_STATUS_UNSUPPORTED;
            }
        }
        rbArray_Push(state->bodies, own);
    }
    return RB_STATUS_OK;
}

// If an overlap is accepted, the pair becomes close.
static bool acceptsOverlap(rbEventEngine* engine, int index, double time, double depth)
{
    const rbEventPair* pair = &engine->pairs.data[index];
    double smaller = fmin(engine->bodies.data[pair->a].radius, engine->bodies.data[pair->b].radius);
    // a newly created world has had no contacts
    bool isLeft = time > 0.0 && depth <= LEFT_REACH * smaller;
    if (isLeft) {
        memoryOf(engine, pair)->isClose = true; // and due: balls overlap
    }
    return isLeft;
}

// Where a body is at a future time: the context of rbRayPoseFn.
typedef struct Mover {
    const rbEventEngine* engine;
    const rbEventHost* host;
    int index;
    rbVec3 shift; // m, of the image
} Mover;

// Evaluates a flight without committing: future times must not move its node.
static rbTransform poseAt(const void* context, double time)
{
    const Mover* mover = context;
    const rbEventBody* body = &mover->engine->bodies.data[mover->index];
    const rbEventCold* cold = &mover->engine->colds.data[mover->index];
    rbTransform pose = {RB_VEC3_ZERO, RB_QUAT_IDENTITY};
    if (body->shape == RB_EVENT_SHAPE_SPHERE) {
        pose.p = rbAdd(rbEventBody_PositionAt(body, time), mover->shift);
        return pose; // a sphere looks the same in every orientation
    }
    rbTransform frame;
    if (body->isDynamic) {
        rbMotionCounts counts = {0};
        rbMotionState state;
        rbFlight_Evaluate(&mover->host->flights[mover->index], &mover->host->motions[mover->index],
                          time, &state, &counts);
        frame.p = state.position;
        frame.q = state.orientation;
    } else {
        rbVec3 velocity;
        rbVec3 angularVelocity;
        rbPath_Evaluate(cold->path, time, &frame, &velocity, &angularVelocity);
    }
    pose.q = rbMulQuat(frame.q, cold->transform.q);
    pose.p = rbAdd(rbAdd(frame.p, rbRotate(frame.q, cold->transform.p)), mover->shift);
    return pose;
}

// A pair to be predicted: a and b in the order of the pair.
typedef struct Pair {
    Mover movers[2];
    rbRayBody bodies[2];
    rbVec3 centers[2]; // m, at the start
    double radii[2];   // m, of the bounding balls of the bodies
    rbVec3 velocity;   // m/s and m/s^2, of b relative to a
    rbVec3 acceleration;
    bool isBallistic; // both on parabolas or standing still
    double horizon;   // s, for which the bounds of both hold
} Pair;

static void makeBody(const Mover* mover, const rbMotionState* state, const rbSweepBody* sweep,
                     rbRayBody* body)
{
    const rbEventBody* self = &mover->engine->bodies.data[mover->index];
    const rbEventCold* cold = &mover->engine->colds.data[mover->index];
    const rbSweepMotion* motion = &sweep->motion;
    bool isMoving = self->isDynamic || self->isMoving;
    *body = (rbRayBody){.geometry = cold->geometry,
                        .emitter = stateOf(mover->engine)->bodies.data[mover->index].emitter,
                        .pose = isMoving ? poseAt : NULL,
                        .context = mover,
                        .transform = sweep->pose,
                        .center = rbInvTransformPoint(cold->transform, RB_VEC3_ZERO)};
    if (!isMoving) {
        return;
    }
    body->speedMax = self->isMoving ? cold->path->speed : rbLength(state->velocity);
    body->curvature = rbLength(motion->acceleration) + motion->accelerationSlack;
    if (self->shape != RB_EVENT_SHAPE_SPHERE) {
        body->spinMax = motion->spinMax;
        body->spinChange = motion->spinRateMax;
    }
}

static void makePair(const rbEventEngine* engine, const rbEventHost* host, const rbEventPair* pair,
                     double time, Pair* out)
{
    int indices[2] = {pair->a, pair->b};
    rbVec3 velocities[2];
    rbVec3 accelerations[2];
    out->isBallistic = true;
    out->horizon = INFINITY;
    for (int i = 0; i < 2; ++i) {
        const rbEventBody* body = &engine->bodies.data[indices[i]];
        const rbEventCold* cold = &engine->colds.data[indices[i]];
        rbMotionState state = rbEventEngine_StateAt(engine, host, indices[i], time);
        rbSweepBody sweep;
        rbEventEngine_MakeSweepBody(engine, host, indices[i], time, &state, &sweep);
        rbVec3 shift = i == 1 && engine->space.isPeriodic
                           ? rbEventEngine_ShiftBy(engine, pair->image)
                           : RB_VEC3_ZERO;
        sweep.pose.p = rbAdd(sweep.pose.p, shift);
        out->movers[i] = (Mover){engine, host, indices[i], shift};
        makeBody(&out->movers[i], &state, &sweep, &out->bodies[i]);
        out->centers[i] = rbAdd(state.position, shift);
        out->radii[i] = body->radius;
        velocities[i] = body->isDynamic || body->isMoving ? state.velocity : RB_VEC3_ZERO;
        accelerations[i] = sweep.motion.acceleration;
        out->isBallistic = out->isBallistic && !body->isMoving && cold->loadAcceleration == 0.0;
        out->horizon = fmin(out->horizon, sweep.motion.horizon);
    }
    out->velocity = rbSub(velocities[1], velocities[0]);
    out->acceleration = rbSub(accelerations[1], accelerations[0]);
}

// Lower bound of the time for which the balls of the two stay apart, s; 0: they are within reach.
static double boundByBalls(const Pair* pair)
{
    rbVec3 p = rbSub(pair->centers[1], pair->centers[0]);
    double reach = pair->radii[0] + pair->radii[1];
    double distance = rbLength(p);
    if (!(distance > reach * (1.0 + 2.0 * BALL_MARGIN))) {
        return 0.0;
    }
    reach *= 1.0 + BALL_MARGIN;
    if (pair->isBallistic) {
        return rbSweepSpheres(p, pair->velocity, pair->acceleration, reach, 0.0);
    }
    // gap = V t + A t^2 / 2
    double speed = pair->bodies[0].speedMax + pair->bodies[1].speedMax;
    double pull = pair->bodies[0].curvature + pair->bodies[1].curvature;
    double gap = distance - reach;
    double root = sqrt(speed * speed + 2.0 * pull * gap);
    double tau = root + speed > 0.0 ? 2.0 * gap / (root + speed) : INFINITY;
    return fmin(tau, pair->horizon);
}

// Chooses the end of the next window and computes the bounds of speed and acceleration over it.
static double chooseWindow(const rbEventEngine* engine, const rbEventPair* indices, double time,
                           Pair* pair)
{
    double smaller = fmin(pair->radii[0], pair->radii[1]);
    double pull = 0.0;
    double speed = rbLength(pair->velocity);
    double spins = 0.0;
    for (int i = 0; i < 2; ++i) {
        const rbRayBody* body = &pair->bodies[i];
        const rbEventBody* self = &engine->bodies.data[pair->movers[i].index];
        double turning = body->spinMax * body->spinMax * pair->radii[i];
        pull += body->curvature + (self->isMoving ? body->speedMax * body->spinMax : 0.0) + turning;
        spins += body->spinMax * pair->radii[i];
    }
    double window = pair->horizon;
    if (pull > 0.0) {
        window =
            fmin(window, WINDOW_PIECES * sqrt(8.0 * stateOf(engine)->settings.tolerance / pull));
    }
    if (speed + spins > 0.0) {
        window = fmin(window, WINDOW_RADII * smaller / (speed + spins));
    }
    double end = time + window;
    if (engine->loop->startPairs == NULL) {
        // only the loop over bodies has regions that expire
        end = fmin(end, engine->bodies.data[indices->a].region.expiry);
        end = fmin(end, engine->bodies.data[indices->b].region.expiry);
    }
    end = end > time ? end : nextafter(time, INFINITY);
    for (int i = 0; i < 2; ++i) {
        rbRayBody* body = &pair->bodies[i];
        const rbEventCold* cold = &engine->colds.data[pair->movers[i].index];
        if (engine->bodies.data[pair->movers[i].index].isMoving) {
            double tolerance = stateOf(engine)->settings.tolerance;
            body->curvature = rbPath_GetAcceleration(cold->path, time, end, tolerance);
        } else if (isfinite(end)) {
            body->speedMax += body->curvature * (end - time);
        }
    }
    return end;
}

// ------------------------------------------------------------------------------------ predictions

// Whether the second body casts rays first: only if it alone flies.
static bool isSwapped(const rbEventEngine* engine, const rbEventPair* pair)
{
    return !engine->bodies.data[pair->a].isDynamic && engine->bodies.data[pair->b].isDynamic;
}

// Casts rays over a window; the normal of the prediction then points from a to b. False if rays
// fail: the path is too curved, or the time too late, to be divided into pieces.
static bool shoot(const rbEventEngine* engine, const rbEventPair* indices, const Pair* pair,
                  const rbRayQuery* requested, rbRayPrediction* prediction)
{
    bool swapped = isSwapped(engine, indices);
    rbRayQuery query = *requested;
    query.bodyA = &pair->bodies[swapped ? 1 : 0];
    query.bodyB = &pair->bodies[swapped ? 0 : 1];
    query.settings = &stateOf(engine)->settings;
    query.scratch = engine->scratch.separation;
    if (rbPredictByRays(&query, prediction, NULL) != RB_STATUS_OK) {
        return false;
    }
    prediction->normal = swapped ? prediction->normal : rbNeg(prediction->normal);
    return true;
}

// Bounds the time without rays, by the balls. Discards the prediction.
static bool predict(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                    double* duration)
{
    const rbEventPair* indices = &engine->pairs.data[index];
    PairMemory* memory = memoryOf(engine, indices);
    if (memory->isClose) {
        return false;
    }
    memory->hasHit = false;
    Pair pair;
    makePair(engine, host, indices, time, &pair);
    *duration = boundByBalls(&pair);
    return true;
}

// --------------------------------------------------------------------------------------- contact

// How deep the bodies overlap along the normal of a ray, m. Intersecting meshes may be measured
// along another, far longer translation, which is not the depth of this contact.
static double getDepth(const rbEventEngine* engine, const rbEventPair* pair,
                       const rbEventMeasure* measure)
{
    const PairMemory* memory = memoryOf(engine, pair);
    bool isAlong = rbDot(measure->normal, memory->normal) > 0.0;
    return isAlong ? fmax(0.0, -measure->distance) : 0.0;
}

// The bodies separate from now on, for a few times as long as the depth requires or, if that is
// unknown, a small fraction of the smaller body.
static void notePart(rbEventEngine* engine, int index, double time, double depth, double leaving)
{
    const rbEventPair* pair = &engine->pairs.data[index];
    PairMemory* memory = memoryOf(engine, pair);
    double smaller = fmin(engine->bodies.data[pair->a].radius, engine->bodies.data[pair->b].radius);
    double way = PARTING_REACH * smaller;
    way = depth > engine->tolerance ? fmin(way, PARTING_DEPTHS * depth) : way;
    memory->isParting = leaving > 0.0;
    memory->depth = fmax(depth, engine->tolerance);
    memory->partUntil = leaving > 0.0 ? time + way / leaving : time;
}

// Schedules the next check of a close pair. Bodies that overlap deeper than exact contact allows
// are checked again when they should be apart, and before that when their points can have moved by
// a fraction of the smaller one: the penetration depth of meshes is an estimate that may be far too
// large.
static void schedule(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                     const rbEventMeasure* measure, double leaving)
{
    rbEventEngine_Schedule(engine, host, index, time, measure, leaving);
    double distance = measure->separation.lower;
    if (!(distance < 0.0)) {
        return;
    }
    const rbEventPair* pair = &engine->pairs.data[index];
    rbSweepBody a, b;
    rbEventEngine_MakeSweepBody(engine, host, pair->a, time, &measure->states[0], &a);
    rbEventEngine_MakeSweepBody(engine, host, pair->b, time, &measure->states[1], &b);
    double tolerance = engine->tolerance;
    double most = OVERLAP_REACH *
                  fmin(engine->bodies.data[pair->a].radius, engine->bodies.data[pair->b].radius);
    double least = fmin(most, fmax(OVERLAP_LEAST * tolerance, -OVERLAP_STEP * distance));
    double rim = leaving > 0.0 ? (OVERLAP_EXIT * tolerance - distance) / leaving : INFINITY;
    double next = time + fmax(rbBoundByPaths(&a, &b, least, 0.0),
                              fmin(rim, rbBoundByPaths(&a, &b, most, 0.0)));
    rbEventEngine_SetTime(engine, index,
                          next > time ? next : nextafter(nextafter(time, INFINITY), INFINITY));
}

// The bodies touch where a ray predicted it. From now on the pair is close.
static void collide(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    rbEventMeasure measure;
    rbEventEngine_Measure(engine, host, index, time, &measure);
    rbEventPair* pair = &engine->pairs.data[index];
    PairMemory* memory = memoryOf(engine, pair);
    rbEventContacts contacts = {.touching = 1, .count = 1};
    contacts.points[0] = (rbEventContact){.point = memory->point,
                                          .normal = memory->normal,
                                          .distance = measure.distance,
                                          .childA = measure.separation.childA,
                                          .childB = measure.separation.childB,
                                          .isSampled = true};
    double depth = getDepth(engine, pair, &measure);
    memory->hasHit = false;
    memory->isClose = true;
    if (rbEventEngine_Resolve(engine, host, index, time, measure.states, &contacts)) {
        rbRayDetectorStatistics* statistics = countsOf(engine);
        statistics->contactsSampled += 1;
        statistics->sampledOverlapSum += depth;
        statistics->sampledOverlapMax = fmax(statistics->sampledOverlapMax, depth);
        pair = &engine->pairs.data[index];
        measure.states[0] = rbEventEngine_StateAt(engine, host, pair->a, time);
        measure.states[1] = rbEventEngine_StateAt(engine, host, pair->b, time);
    }
    double leaving = rbEventEngine_LeavingSpeed(engine, host, index, measure.states, &contacts);
    notePart(engine, index, time, depth, leaving);
    schedule(engine, host, index, time, &measure, leaving);
}

// Whether bodies that overlap since a ray declared contact are separating at that point along its
// normal. In an overlap the exact detector finds points of parts that have passed each other, with
// arbitrary normals; but this holds only for the expected duration of the separation.
static bool isParting(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                      const rbEventMeasure* measure, double* leaving)
{
    const rbEventPair* pair = &engine->pairs.data[index];
    PairMemory* memory = memoryOf(engine, pair);
    bool isDeep = -measure->distance > engine->tolerance;
    bool isGrowing = getDepth(engine, pair, measure) > OVERLAP_GROWTH * memory->depth;
    memory->isParting = memory->isParting && isDeep && !isGrowing && time <= memory->partUntil;
    if (memory->isParting) {
        rbEventContacts contacts = {.touching = 1, .count = 1};
        contacts.points[0] = (rbEventContact){.point = memory->point, .normal = memory->normal};
        *leaving = rbEventEngine_LeavingSpeed(engine, host, index, measure->states, &contacts);
        memory->isParting = *leaving > 0.0;
    }
    return memory->isParting;
}

// A close pair: left to the exact detector until it is apart again.
static void handleClose(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    rbEventMeasure measure;
    rbEventEngine_Measure(engine, host, index, time, &measure);
    double leaving;
    if (!isParting(engine, host, index, time, &measure, &leaving)) {
        leaving = rbEventEngine_CollideMeasured(engine, host, index, time, &measure);
    }
    schedule(engine, host, index, time, &measure, leaving);
    const rbEventPair* pair = &engine->pairs.data[index];
    double parted = PARTED * engine->tolerance;
    double gap = measure.separation.lower;
    if (gap > parted) {
        memoryOf(engine, pair)->isClose = false;
    } else if (gap > engine->tolerance && leaving > 0.0) {
        // separating: examined again when it should be apart
        double next = time + 1.05 * (parted - gap) / leaving;
        next = next > time ? next : nextafter(time, INFINITY);
        rbEventEngine_SetTime(engine, index, fmin(rbEventEngine_GetTime(engine, index), next));
    }
}

// Casts rays over the next window.
static void look(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    const rbEventPair* indices = &engine->pairs.data[index];
    Pair pair;
    makePair(engine, host, indices, time, &pair);
    double apart = boundByBalls(&pair);
    if (apart > 0.0) {
        double next = time + apart;
        rbEventEngine_SetTime(engine, index, next > time ? next : nextafter(time, INFINITY));
        return;
    }
    PairMemory* memory = memoryOf(engine, indices);
    double end = chooseWindow(engine, indices, time, &pair);
    rbRayQuery query = {
        .start = time, .end = end, .track = &memory->track, .counts = &countsOf(engine)->rays};
    rbRayPrediction prediction = {0};
    bool isShot = !isfinite(end) || shoot(engine, indices, &pair, &query, &prediction);
    if (prediction.isInside || !isShot) {
        // They overlap, which no ray predicted: missed contacts are detected here, within a radius.
        countsOf(engine)->contactsMissed += isShot ? 1 : 0;
        memory->isClose = true;
        memory->isParting = false;
        handleClose(engine, host, index, time);
        return;
    }
    memory->hasHit = prediction.isHit;
    memory->point = prediction.point;
    memory->normal = prediction.normal;
    if (!prediction.isHit) {
        rbEventEngine_SetTime(engine, index, end);
    } else if (prediction.time > time) {
        rbEventEngine_SetTime(engine, index, prediction.time);
    } else {
        collide(engine, host, index, time);
    }
}

static void handle(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    const rbEventPair* pair = &engine->pairs.data[index];
    const PairMemory* memory = memoryOf(engine, pair);
    int a = pair->a;
    int b = pair->b;
    if (memory->isClose) {
        handleClose(engine, host, index, time);
    } else if (memory->hasHit) {
        collide(engine, host, index, time);
    } else {
        look(engine, host, index, time);
    }
    rbEventEngine_UpdateEntry(engine, a);
    rbEventEngine_UpdateEntry(engine, b);
}

// ------------------------------------------------------------------------------------------ traces

// The pair that is predicted to touch next; if there is none, the pair that is due next.
static int findNext(const rbEventEngine* engine)
{
    int next = -1;
    bool hasHit = false;
    double time = INFINITY;
    for (int i = 0; i < engine->pairs.count; ++i) {
        const rbEventPair* pair = &engine->pairs.data[i];
        if (pair->a < 0 || !pair->isDetected) {
            continue;
        }
        const PairMemory* memory = memoryOf(engine, pair);
        bool isBetter =
            memory->hasHit != hasHit ? memory->hasHit : rbEventEngine_GetTime(engine, i) < time;
        if (!memory->isClose && isBetter) {
            next = i;
            hasHit = memory->hasHit;
            time = rbEventEngine_GetTime(engine, i);
        }
    }
    return next;
}

// The receiver of the rays, and the hit.
typedef struct Trace {
    rbRayTraceFn* fn; // called for every ray
    void* context;
    int a;
    int b;
    rbRayPrediction prediction;
} Trace;

// Casts the rays of the next pair again; false if no pair is within reach.
static bool traceNext(const rbEventEngine* engine, const rbEventHost* host, double time,
                      Trace* trace)
{
    int index = findNext(engine);
    if (index < 0) {
        return false;
    }
    const rbEventPair* indices = &engine->pairs.data[index];
    const PairMemory* memory = memoryOf(engine, indices);
    Pair pair;
    makePair(engine, host, indices, time, &pair);
    // Drawn from the current poses, although they need not be cast before the balls touch.
    double apart = boundByBalls(&pair);
    double end = chooseWindow(engine, indices, time, &pair) + apart;
    end = memory->hasHit ? fmax(end, rbEventEngine_GetTime(engine, index)) : end;
    if (!isfinite(end) || apart > TRACE_AHEAD) {
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        pair.bodies[i].speedMax += pair.bodies[i].curvature * (end - time);
    }
    rbRayTrack track = memory->track;
    rbRayQuery query = {.start = time,
                        .end = end,
                        .track = &track,
                        .trace = trace->fn,
                        .traceContext = trace->context};
    bool isShot = shoot(engine, indices, &pair, &query, &trace->prediction);
    trace->prediction.isHit = trace->prediction.isHit && isShot;
    trace->a = indices->a;
    trace->b = indices->b;
    return true;
}

// The event engine of a world if it uses this detector; otherwise NULL.
static const rbEventEngine* engineOf(const rbWorld* world)
{
    const rbEventEngine* engine = rbWorld_GetEventEngine(world);
    return engine != NULL && engine->detector.row == &rbRayDetectorRow ? engine : NULL;
}

bool rbWorld_TraceRays(const rbWorld* world, rbRayTraceFn* trace, void* context,
                       rbPredictedContact* predicted)
{
    const rbEventEngine* engine = engineOf(world);
    if (engine == NULL || !world->isEngineReady) {
        return false;
    }
    rbEventHost host = rbWorld_GetEventHost(world);
    Trace traced = {.fn = trace, .context = context};
    bool isFound = traceNext(engine, &host, world->time, &traced);
    if (isFound && predicted != NULL) {
        *predicted = (rbPredictedContact){.bodyA = rbWorld_BodyIdOf(world, traced.a),
                                          .bodyB = rbWorld_BodyIdOf(world, traced.b),
                                          .isHit = traced.prediction.isHit,
                                          .time = traced.prediction.time,
                                          .point = traced.prediction.point,
                                          .normal = traced.prediction.normal};
    }
    return isFound;
}

rbRayDetectorStatistics rbWorld_GetRayStatistics(const rbWorld* world)
{
    rbRayDetectorStatistics none = {0};
    const rbEventEngine* engine = engineOf(world);
    return engine != NULL ? *countsOf(engine) : none;
}

const rbDetectorRow rbRayDetectorRow = {.name = "rays",
                                        .pairSize = sizeof(PairMemory),
                                        .countsSize = sizeof(rbRayDetectorStatistics),
                                        .check = checkSettings,
                                        .start = startRays,
                                        .destroy = destroyState,
                                        .canDetect = canDetect,
                                        .acceptsOverlap = acceptsOverlap,
                                        .predict = predict,
                                        .handle = handle};
