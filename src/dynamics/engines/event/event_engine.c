// The event engine as its host sees it: registering bodies, start, events up to a time, statistics.
#include "dynamics/engines/event/event_engine.h"

#include "collision/broadphase/broad_phase.h"
#include "collision/distance/tree_pair.h"
#include "dynamics/engines/event/event_loop.h"
#include "dynamics/engines/event/event_rest.h"

#include <math.h>
#include <string.h>

// Default tolerance, in diameters of the smallest dynamic body.
#define TOLERANCE_DEFAULT 1e-5
// Range of accepted tolerances in the same unit.
#define TOLERANCE_MOST 0.1
#define TOLERANCE_LEAST 1e-12
// Default budget of events per simulated second.
#define BUDGET_BASE 1e7
#define BUDGET_PER_BODY 1e5
// Fraction of a period that a region may fill: two regions never overlap in two images.
#define REGION_OF_PERIOD 0.49
// Different materials that are cached; bodies with others look them up.
#define MATERIALS_KEPT 64
// Rounds of pushing overlapping bodies apart at the start.
#define PARTING_ROUNDS 100
// More entries of a front of two meshes are not believed.
#define FRONT_CAPACITY_MAX 65536

static const char* const lastingNames[RB_LASTING_COUNT] = {
    [RB_LASTING_REST] = "rest", [RB_LASTING_MICRO] = "microcollisions", [RB_LASTING_NONE] = "none"};

RB_DEFINE_WORDS(rbLastingContact, "treatment of lasting contact", RB_LASTING_COUNT,
                lastingNames[index])

rbEventEngine* rbCreateEventEngine(const rbEventSettings* settings, rbVec3 periodicBox)
{
    RB_ASSERT(settings != NULL);
    RB_ASSERT(periodicBox.x >= 0.0);
    RB_ASSERT(periodicBox.y >= 0.0);
    RB_ASSERT(periodicBox.z >= 0.0);
    rbEventEngine* engine = rbAllocZero(1, sizeof *engine);
    engine->settings = *settings;
    engine->loop = rbGetEventLoopRow(settings->loop);
    // loops over pairs read their heap themselves
    engine->queue.horizon = engine->loop->startPairs != NULL ? INFINITY : -INFINITY;
    engine->detector.row = rbGetDetectorRow(settings->detector);
    engine->detector.words = (int)((engine->detector.row->pairSize + 7) / 8);
    engine->detector.counts = engine->detector.row->countsSize > 0
                                  ? rbAllocZero(1, engine->detector.row->countsSize)
                                  : NULL;
    engine->space.period = periodicBox;
    engine->space.isPeriodic = periodicBox.x > 0.0 || periodicBox.y > 0.0 || periodicBox.z > 0.0;
    for (unsigned code = 0; code < RB_IMAGE_FAR; ++code) {
        int image[3];
        rbEventNeighbor_GetImage(engine, 0, (rbEventNeighbor){.image = code & 31}, image);
        engine->space.shifts[code] = rbEventEngine_ShiftBy(engine, image);
    }
    engine->scratch.separation = rbAlloc(rbGetSeparationScratchSize());
    return engine;
}

// Frees the fronts of all measured pairs.
static void freeFronts(rbEventEngine* engine)
{
    for (int i = 0; i < engine->datas.count; ++i) {
        rbDestroyFront(engine->datas.data[i].cache.front);
        engine->datas.data[i].cache.front = NULL;
    }
}

void rbDestroyEventEngine(rbEventEngine* engine)
{
    if (engine == NULL) {
        return;
    }
    freeFronts(engine);
    for (int i = 0; i < engine->spare.fronts.count; ++i) {
        rbDestroyFront(engine->spare.fronts.data[i]);
    }
    rbArray_Free(engine->spare.fronts); // NOLINT(bugprone-sizeof-expression)
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbEventCold* cold = &engine->colds.data[i];
        rbFree(cold->materials, (size_t)cold->materialCount * sizeof *cold->materials);
        rbArray_Free(engine->bodies.data[i].pairs);
    }
    rbArray_FreeAll(engine->bodies, engine->colds, engine->space.balls, engine->pairs);
    rbArray_FreeAll(engine->turns, engine->spare.pairs, engine->datas);
    rbArray_FreeAll(engine->spare.datas, engine->space.unbounded, engine->lists.stack);
    rbArray_FreeAll(engine->lists.newPairs, engine->lists.ahead);
    rbArray_Free(engine->materials.known);
    rbQueue_Free(&engine->queue);
    rbDestroyBroadPhase(engine->space.broad);
    rbIdList_Free(&engine->space.found);
    rbArray_FreeAll(engine->space.partners, engine->space.marks);
    rbFree(engine->materials.pairs,
           (size_t)RB_MATERIAL_KINDS_MAX * RB_MATERIAL_KINDS_MAX * sizeof *engine->materials.pairs);
    rbEventEngine_FreeCluster(engine);
    if (engine->detector.row->destroy != NULL) {
        engine->detector.row->destroy(engine);
    }
    rbFree(engine->detector.counts, engine->detector.row->countsSize);
    rbArray_Free(engine->detector.memory);
    rbFree(engine->scratch.separation, rbGetSeparationScratchSize());
    rbFree(engine, sizeof *engine);
}

void rbEventEngine_SetMaterialPair(rbEventEngine* engine, int kindA, int kindB,
                                   const rbMaterialPair* pair)
{
    int count = RB_MATERIAL_KINDS_MAX;
    RB_ASSERT(pair != NULL);
    RB_ASSERT(0 <= kindA && kindA < count);
    RB_ASSERT(0 <= kindB && kindB < count);
    if (engine->materials.pairs == NULL) {
        engine->materials.pairs = rbAlloc((size_t)count * (size_t)count * sizeof(rbMaterialPair));
        for (int i = 0; i < count * count; ++i) {
            engine->materials.pairs[i].friction = -1.0;
        }
    }
    engine->materials.pairs[kindA * count + kindB] = *pair;
    engine->materials.pairs[kindB * count + kindA] = *pair;
}

static bool isSameMaterial(const rbMaterial* a, const rbMaterial* b)
{
    return a->restitution == b->restitution && a->friction == b->friction && a->kind == b->kind;
}

static uint8_t classify(const rbEventBodyDef* def)
{
    if (def->geometry == NULL) {
        return RB_EVENT_SHAPE_NONE;
    }
    rbShapeType type = rbGeometry_GetType(def->geometry);
    if (type == RB_SHAPE_PLANE && !def->isDynamic && def->path == NULL) {
        return RB_EVENT_SHAPE_PLANE;
    }
    bool isCentered = type == RB_SHAPE_SPHERE && rbLengthSquared(def->transform.p) == 0.0;
    bool isSphere = isCentered && def->isDynamic && def->loadAcceleration == 0.0;
    return isSphere ? RB_EVENT_SHAPE_SPHERE : RB_EVENT_SHAPE_OTHER;
}

// Index of the material if all parts have the same one, otherwise -1.
static int findMaterial(rbEventEngine* engine, const rbEventBodyDef* def)
{
    const rbMaterial* first = &def->materials[0];
    for (int i = 1; i < def->materialCount; ++i) {
        if (!isSameMaterial(first, &def->materials[i])) {
            return -1;
        }
    }
    for (int i = 0; i < engine->materials.known.count; ++i) {
        if (isSameMaterial(first, &engine->materials.known.data[i])) {
            return i;
        }
    }
    if (engine->materials.known.count >= MATERIALS_KEPT) {
        return -1;
    }
    rbArray_Push(engine->materials.known, *first);
    return engine->materials.known.count - 1;
}

void rbEventEngine_SetFilter(rbEventEngine* engine, rbPairFilterFn* filter, void* context)
{
    engine->filter.fn = filter;
    engine->filter.context = context;
}

void rbEventEngine_SetBody(rbEventEngine* engine, int index, const rbEventBodyDef* def)
{
    RB_ASSERT(engine != NULL);
    RB_ASSERT(0 <= index && index < RB_EVENT_BODIES_MAX);
    RB_ASSERT(def == NULL || def->geometry == NULL || def->materialCount > 0);
    RB_ASSERT(def == NULL || def->loadAcceleration >= 0.0);
    RB_ASSERT(def == NULL || def->loadTorque >= 0.0);
    rbEventBody empty = {.entry.pair = RB_ENTRY_EXPIRY, .region.expiry = INFINITY};
    rbArray_Fill(engine->bodies, index + 1, empty);
    rbArray_Fill(engine->colds, index + 1, (rbEventCold){0});
    rbArray_Fill(engine->space.balls, index + 1, (rbEventBall){0});
    rbArray_Fill(engine->space.marks, index + 1, 0);
    rbArray_Fill(engine->turns, index + 1, 0);
    rbEventBody* body = &engine->bodies.data[index];
    rbEventCold* cold = &engine->colds.data[index];
    rbFree(cold->materials, (size_t)cold->materialCount * sizeof *cold->materials);
    memset(cold, 0, sizeof *cold);
    body->shape = RB_EVENT_SHAPE_NONE;
    body->isDynamic = false;
    body->isMoving = false;
    body->isResting = false;
    body->inverseMass = 0.0; // until the start
    if (def == NULL) {
        return;
    }
    body->shape = classify(def);
    body->isDynamic = def->isDynamic;
    body->isMoving = def->path != NULL;
    body->growth = def->growth;
    body->filter.groups = def->groups;
    body->filter.mask = def->mask;
    cold->geometry = def->geometry;
    cold->path = def->path;
    cold->transform = def->transform;
    cold->loadAcceleration = def->loadAcceleration;
    cold->loadTorque = def->loadTorque;
    rbSweepMotion_SetSteadySpin(&cold->spin, RB_VEC3_ZERO);
    cold->spin.horizon = INFINITY;
    body->isUnbounded = def->geometry != NULL && !rbGeometry_IsBounded(def->geometry);
    if (def->geometry == NULL) {
        return;
    }
    rbVec3 center = rbInvTransformPoint(def->transform, RB_VEC3_ZERO);
    body->radius = body->isUnbounded ? 0.0 : rbGeometry_GetRadius(def->geometry, center);
    cold->coreRadius = rbGetCoreReach(def->geometry, center);
    cold->materialCount = def->materialCount;
    cold->materials = rbAlloc((size_t)def->materialCount * sizeof *cold->materials);
    memcpy(cold->materials, def->materials, (size_t)def->materialCount * sizeof *cold->materials);
    body->material = findMaterial(engine, def);
}

// ------------------------------------------------------------------------------------- invariants

static bool isListed(const rbEventEngine* engine, int pair, int index, int other, int place)
{
    const rbEventBody* body = &engine->bodies.data[index];
    return place >= 0 && place < body->pairs.count && body->pairs.data[place].pair == pair &&
           body->pairs.data[place].other == other;
}

bool rbEventEngine_IsValid(const rbEventEngine* engine)
{
    int alive = 0, listed = 0;
    for (int i = 0; i < engine->bodies.count; ++i) {
        listed += engine->bodies.data[i].pairs.count;
    }
    for (int i = 0; i < engine->pairs.count; ++i) {
        const rbEventPair* pair = &engine->pairs.data[i];
        if (pair->a < 0) {
            continue;
        }
        ++alive;
        if (pair->a >= pair->b || pair->b >= engine->bodies.count ||
            pair->row > RB_PAIR_ROW_GENERAL ||
            (pair->row == RB_PAIR_ROW_GENERAL) != (pair->data >= 0) ||
            pair->data >= engine->datas.count ||
            !isListed(engine, i, pair->a, pair->b, pair->placeA) ||
            !isListed(engine, i, pair->b, pair->a, pair->placeB)) {
            return false;
        }
        double time = rbEventEngine_GetTime(engine, i);
        bool isDue = isfinite(time) && engine->loop->startPairs == NULL;
        if (isnan(time) || (isDue && rbQueue_GetKey(&engine->queue, pair->a) > time &&
                            rbQueue_GetKey(&engine->queue, pair->b) > time)) {
            return false;
        }
    }
    return alive == engine->statistics.pairCount && listed == 2 * alive &&
           rbHeap_IsValid(&engine->queue.soon);
}

// ------------------------------------------------------------------------------------------ start

static rbStatus chooseTolerance(rbEventEngine* engine, rbError* error)
{
    double least = INFINITY;
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbEventBody* body = &engine->bodies.data[i];
        if (body->isDynamic && body->shape != RB_EVENT_SHAPE_NONE) {
            least = fmin(least, 2.0 * body->radius);
        }
    }
    double requested = engine->settings.tolerance;
    double chosen = isfinite(least) ? TOLERANCE_DEFAULT * least : TOLERANCE_DEFAULT;
    engine->tolerance = requested > 0.0 ? requested : chosen;
    engine->statistics.tolerance = engine->tolerance;
    // Larger: contact would be far from touching. Smaller: positions in doubles cannot resolve it.
    RB_INVALID_IF(isfinite(least) && !(engine->tolerance <= TOLERANCE_MOST * least &&
                                       engine->tolerance >= TOLERANCE_LEAST * least),
                  error,
                  "the tolerance is %g m; for the smallest dynamic body, of diameter %g m, %g to "
                  "%g m are accepted",
                  engine->tolerance, least, TOLERANCE_LEAST * least, TOLERANCE_MOST * least);
    return RB_STATUS_OK;
}

static rbStatus validatePeriods(rbEventEngine* engine, rbError* error)
{
    if (!engine->space.isPeriodic) {
        return RB_STATUS_OK;
    }
    RB_REFUSE_IF(engine->loop->startPairs != NULL, RB_STATUS_UNSUPPORTED, error,
                 "the event loop \"%s\" does not support a periodic box; use \"bodies\"",
                 engine->loop->name);
    double least = INFINITY;
    double edges[3] = {engine->space.period.x, engine->space.period.y, engine->space.period.z};
    for (int i = 0; i < 3; ++i) {
        least = edges[i] > 0.0 ? fmin(least, edges[i]) : least;
    }
    double largest = 0.0;
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbEventBody* body = &engine->bodies.data[i];
        if (body->shape != RB_EVENT_SHAPE_NONE && !body->isUnbounded) {
            largest = fmax(largest, body->radius);
        }
    }
    engine->space.edgeMax = REGION_OF_PERIOD * least;
    RB_INVALID_IF(3.0 * largest > engine->space.edgeMax, error,
                  "an edge of the periodic box is %g m; the largest body, of radius %g m, needs at "
                  "least %g m",
                  least, largest, 3.0 * largest / REGION_OF_PERIOD);
    return RB_STATUS_OK;
}

static void placePlane(rbEventEngine* engine, const rbEventHost* host, int index)
{
    RB_ASSERT(engine->bodies.data[index].shape == RB_EVENT_SHAPE_PLANE);
    rbEventCold* cold = &engine->colds.data[index];
    rbPlaneData plane = rbGeometry_GetData(cold->geometry).plane;
    rbTransform pose = rbEventCold_GetPose(cold, &host->states[index]);
    cold->planeNormal = rbRotate(pose.q, plane.normal);
    cold->planeOffset = plane.offset + rbDot(cold->planeNormal, pose.p);
}

static void chooseBroadPhase(rbEventEngine* engine, const rbEventHost* host, double time)
{
    rbBroadPhaseType type = engine->settings.broadPhase;
    int count = 0;
    rbBounds* boxes = rbAlloc((size_t)(engine->bodies.count + 1) * sizeof *boxes);
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbEventBody* body = &engine->bodies.data[i];
        if (body->shape != RB_EVENT_SHAPE_NONE && !body->isUnbounded) {
            boxes[count++] = rbEventEngine_MotionBox(engine, host, i, time, time);
        }
    }
    type = type == RB_BROAD_AUTO ? rbChooseBroadPhase(boxes, count) : type;
    rbFree(boxes, (size_t)(engine->bodies.count + 1) * sizeof *boxes);
    rbDestroyBroadPhase(engine->space.broad);
    engine->space.broad = rbCreateBroadPhase(type, 0.0);
    if (engine->space.broad->row->setPeriod != NULL) {
        engine->space.broad->row->setPeriod(engine->space.broad, engine->space.period);
    }
    engine->statistics.broadPhase = type;
}

static void clearPairs(rbEventEngine* engine)
{
    freeFronts(engine);
    for (int i = 0; i < engine->bodies.count; ++i) {
        engine->bodies.data[i].pairs.count = 0;
    }
    engine->pairs.count = 0;
    engine->spare.pairs.count = 0;
    engine->datas.count = 0;
    engine->detector.memory.count = 0;
    engine->spare.datas.count = 0;
    engine->space.unbounded.count = 0;
    engine->statistics.pairCount = 0;
    rbQueue_Free(&engine->queue);
}

static void placeBodies(rbEventEngine* engine, const rbEventHost* host, double time)
{
    engine->isDriven = false;
    for (int i = 0; i < engine->bodies.count; ++i) {
        rbEventBody* body = &engine->bodies.data[i];
        body->hasCollided = false;
        body->isCalm = false;
        body->region.horizon = 0.0;
        if (body->isDynamic) {
            engine->colds.data[i].isBallistic =
                host->motions[i].load == NULL && rbLengthSquared(host->motions[i].torque) == 0.0;
            body->inverseMass = 1.0 / host->motions[i].mass;
            engine->isDriven = engine->isDriven || body->growth != 0.0 ||
                               rbLengthSquared(host->motions[i].acceleration) > 0.0;
            rbEventEngine_TakeFlight(engine, host, i);
        }
        if (body->shape == RB_EVENT_SHAPE_PLANE) {
            placePlane(engine, host, i);
        }
        if (body->shape != RB_EVENT_SHAPE_NONE && body->isUnbounded) {
            rbArray_Push(engine->space.unbounded, i);
        }
    }
    chooseBroadPhase(engine, host, time);
    for (int i = 0; i < engine->bodies.count && engine->loop->startPairs == NULL; ++i) {
        rbPoll();
        if (engine->bodies.data[i].shape != RB_EVENT_SHAPE_NONE) {
            rbEventEngine_RenewRegion(engine, host, i, time);
            rbEventEngine_PredictNew(engine, host, i, time);
        }
    }
    // Bodies at rest have no entry, so the partners they find are checked again.
    for (int i = 0; i < engine->bodies.count && engine->loop->startPairs == NULL; ++i) {
        if (engine->bodies.data[i].shape != RB_EVENT_SHAPE_NONE) {
            rbEventEngine_UpdateEntry(engine, i);
        }
    }
}

// Signed distance at a time by the method of the pair; the normal points from a to b.
static double distanceAt(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                         rbVec3* normal)
{
    const rbEventPair* pair = &engine->pairs.data[index];
    if (pair->row == RB_PAIR_ROW_GENERAL) {
        rbEventMeasure measure;
        rbEventEngine_Measure(engine, host, index, time, &measure);
        *normal = measure.normal;
        return measure.distance;
    }
    rbEventContact contact = rbEventEngine_GetExactContact(engine, pair, time);
    *normal = contact.normal;
    return contact.distance;
}

// Returns the energy that the move required, J.
static double moveBody(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                       rbVec3 by)
{
    RB_ASSERT(rbIsFinite3(by));
    if (!engine->bodies.data[index].isDynamic) {
        return 0.0;
    }
    rbMotionState state = rbEventEngine_StateAt(engine, host, index, time);
    state.position = rbAdd(state.position, by);
    const rbMotionBody* motion = &host->motions[index];
    double energy = -motion->mass * rbDot(motion->acceleration, by);
    engine->work.rest += energy;
    rbEventEngine_StartFlight(engine, host, index, time, &state);
    return energy;
}

// Pushes a pair apart along its normal, each body by its share.
static void partPair(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                     double by, rbVec3 normal)
{
    const rbEventPair* pair = &engine->pairs.data[index];
    double massA = engine->bodies.data[pair->a].inverseMass;
    double massB = engine->bodies.data[pair->b].inverseMass;
    double sum = massA + massB;
    double energy = moveBody(engine, host, pair->a, time, rbScale(-(massA / sum) * by, normal));
    energy += moveBody(engine, host, pair->b, time, rbScale(massB / sum * by, normal));
    rbEvent event = {.time = time,
                     .kind = RB_EVENT_PARTED,
                     .bodyA = rbEngineBody(pair->a),
                     .bodyB = rbEngineBody(pair->b),
                     .energyChange = energy,
                     .normal = normal};
    rbEventHost_Write(host, &event);
}

// Overlaps of all near pairs; reports the deepest. With isParting the pairs are pushed apart, and
// those that follow are seen where that has moved them.
static void findOverlaps(rbEventEngine* engine, const rbEventHost* host, double time,
                         bool isParting, rbStartOverlap* overlap)
{
    *overlap = (rbStartOverlap){.a = -1, .b = -1};
    for (int i = 0; i < engine->pairs.count; ++i) {
        const rbEventPair* pair = &engine->pairs.data[i];
        if (pair->a < 0) {
            continue;
        }
        rbVec3 normal;
        double depth = -distanceAt(engine, host, i, time, &normal);
        const rbDetectorRow* row = pair->isDetected ? engine->detector.row : NULL;
        if (!(depth > engine->tolerance) || // or the detector left it in a run
            (row != NULL && row->acceptsOverlap != NULL &&
             row->acceptsOverlap(engine, i, time, depth))) {
            continue;
        }
        overlap->count += 1;
        if (depth > overlap->depth) {
            overlap->depth = depth;
            overlap->a = pair->a;
            overlap->b = pair->b;
        }
        if (isParting) {
            partPair(engine, host, i, time, depth + engine->tolerance, normal);
        }
    }
}

rbStatus rbEventEngine_Start(rbEventEngine* engine, const rbEventHost* host, double time,
                             rbStartOverlap* overlap, rbError* error)
{
    RB_ASSERT(engine != NULL);
    RB_ASSERT(host != NULL);
    RB_ASSERT(overlap != NULL);
    RB_ASSERT(isfinite(time));
    *overlap = (rbStartOverlap){.a = -1, .b = -1};
    const rbDetectorRow* detector = engine->detector.row;
    RB_TRY(chooseTolerance(engine, error));
    RB_TRY(validatePeriods(engine, error));
    RB_TRY(detector->start != NULL ? detector->start(engine, error) : RB_STATUS_OK);
    double requested = engine->settings.eventsPerSecond;
    engine->budget.most =
        requested > 0.0 ? requested : BUDGET_BASE + BUDGET_PER_BODY * engine->bodies.count;
    engine->budget.start = time;
    engine->budget.events = 0;
    engine->now = time;
    engine->statistics.restingCount = 0;
    double overlapMax = engine->statistics.overlapMax;
    int roundCount = engine->settings.isOverlapAllowed ? PARTING_ROUNDS : 0;
    for (int round = 0;; ++round) {
        rbPoll();
        clearPairs(engine);
        placeBodies(engine, host, time);
        if (engine->loop->startPairs != NULL) {
            engine->loop->startPairs(engine, host, time);
        }
        findOverlaps(engine, host, time, round < roundCount, overlap);
        if (overlap->count == 0 || round >= roundCount) {
            // overlaps that were separated or rejected do not count for the run
            engine->statistics.overlapMax = overlapMax;
            RB_VALIDATE(rbEventEngine_IsValid(engine));
            return overlap->count == 0 ? RB_STATUS_OK : RB_STATUS_INVALID;
        }
    }
}

// A body may have been set elsewhere: measurements of its pairs are no longer valid.
static void forgetMeasures(rbEventEngine* engine, int index, double time)
{
    const rbEventBody* body = &engine->bodies.data[index];
    for (int i = 0; i < body->pairs.count; ++i) {
        rbEventPair* pair = &engine->pairs.data[body->pairs.data[i].pair];
        pair->isLasting = false;
        pair->isPostponed = false;
        if (pair->data >= 0) {
            rbEventPairData* data = &engine->datas.data[pair->data];
            data->gap = 0.0;
            data->gapTime = time;
            data->normal = RB_VEC3_ZERO;
            data->hasDistance = false;
            data->hasSway = false;
            data->hasAnchor = false;
            rbEventEngine_ClearDetectorPair(engine, pair->data);
        }
    }
}

void rbEventEngine_Touch(rbEventEngine* engine, const rbEventHost* host, int index, double time)
{
    RB_ASSERT(isfinite(time));
    // Held bodies get their loads back, and so do those that lean on them.
    rbEventEngine_Wake(engine, host, index, time);
    rbEventBody* body = rbEventEngine_GetBody(engine, index);
    body->isCalm = false;
    forgetMeasures(engine, index, time);
    if (body->isDynamic) {
        rbEventEngine_TakeFlight(engine, host, index);
    }
    if (body->shape == RB_EVENT_SHAPE_NONE) {
        return;
    }
    if (engine->loop->startPairs == NULL) {
        rbEventEngine_RenewRegion(engine, host, index, time);
        rbEventEngine_PredictNew(engine, host, index, time);
    }
    rbEventEngine_PredictBody(engine, host, index, time);
    rbEventEngine_UpdateEntry(engine, index);
}

rbStatus rbEventEngine_Advance(rbEventEngine* engine, const rbEventHost* host, double time,
                               double* reached, int failed[2])
{
    RB_ASSERT(engine != NULL);
    RB_ASSERT(host != NULL);
    RB_ASSERT(reached != NULL);
    RB_ASSERT(!isnan(time));
    failed[0] = -1;
    failed[1] = -1;
    engine->lists.ahead.count = 0;
    rbStatus status = engine->loop->advance(engine, host, time, failed);
    for (int i = 0; i < engine->lists.ahead.count; ++i) {
        int index = engine->lists.ahead.data[i];
        rbEventEngine_GiveFlight(engine, host, index);
        engine->bodies.data[index].isAhead = false;
    }
    *reached = status == RB_STATUS_OK ? time : engine->now;
    RB_VALIDATE(rbEventEngine_IsValid(engine));
    return status;
}

rbEventWork rbEventEngine_GetWork(const rbEventEngine* engine)
{
    RB_ASSERT(engine != NULL);
    return engine->work;
}

rbEventStatistics rbEventEngine_GetStatistics(const rbEventEngine* engine)
{
    RB_ASSERT(engine != NULL);
    return engine->statistics;
}

bool rbEventEngine_IsResting(const rbEventEngine* engine, int index)
{
    RB_ASSERT(engine != NULL);
    RB_ASSERT(index >= 0);
    return index < engine->bodies.count && engine->bodies.data[index].isResting;
}

void rbEventEngine_Forget(rbEventEngine* engine, const rbEventWork* work)
{
    RB_ASSERT(work != NULL);
    engine->work = *work;
    for (int i = 0; i < engine->bodies.count; ++i) {
        engine->bodies.data[i].isResting = false;
        engine->bodies.data[i].isCalm = false;
    }
}

// --------------------------------------------------------------------------------------- snapshots
// The state of the engine as bytes: everything that determines what happens next. The broad phase
// is rebuilt from the regions, which changes nothing.

// Pairs that had a front get their own again; the stored pointers only say which ones. Among
// triangles at equal distance the front decides which one is reported, so fronts belong to the
// state.
static void moveFronts(rbEventEngine* engine, rbByteStream* stream)
{
    for (int i = 0; i < engine->datas.count; ++i) {
        rbSeparationCache* cache = &engine->datas.data[i].cache;
        if (cache->front != NULL) {
            int capacity = stream->isLoading ? 0 : cache->front->capacity;
            RB_MOVE(stream, capacity);
            rbByteStream_CheckRange(stream, &capacity, 1, 1, FRONT_CAPACITY_MAX);
            cache->front = stream->isLoading ? rbCreateFront(capacity) : cache->front;
            rbFront_Move(cache->front, stream);
        }
    }
}

// Of a body, from isDynamic to isBall.
#define BODY_FLAGS 9

// Bodies own the memory of their lists, colds the copies of their materials.
static void moveBodies(rbEventEngine* engine, rbByteStream* stream)
{
    for (int i = 0; i < engine->bodies.count; ++i) {
        rbEventBody* ours = &engine->bodies.data[i];
        rbEventBody body;
        memcpy(&body, ours, sizeof body);
        RB_MOVE(stream, body);
        rbByteStream_CheckFinite(stream, &body, offsetof(rbEventBody, pairs));
        rbByteStream_CheckFinite(stream, &body.acceleration, sizeof body.acceleration);
        rbByteStream_CheckFlags(stream, &body.isDynamic, BODY_FLAGS);
        memcpy(&body.pairs, &ours->pairs, sizeof body.pairs);
        rbByteStream_Check(stream, body.shape == ours->shape && body.material == ours->material &&
                                       body.isUnbounded == ours->isUnbounded);
        memcpy(ours, &body, sizeof body);
        RB_MOVE_ARRAY(stream, ours->pairs);
        rbEventCold* cold = &engine->colds.data[i];
        const rbEventCold own = *cold;
        RB_MOVE(stream, *cold);
        rbByteStream_CheckFlags(stream, &cold->isBallistic, 1);
        cold->geometry = own.geometry;
        cold->path = own.path;
        cold->materials = own.materials;
        cold->materialCount = own.materialCount;
    }
}

static void moveQueue(rbEventEngine* engine, rbByteStream* stream)
{
    if (stream->isLoading) {
        rbQueue_Free(&engine->queue);
    }
    int count = engine->loop->startPairs == NULL ? engine->bodies.count : engine->pairs.count;
    for (int i = 0; i < count; ++i) {
        double key = rbQueue_GetKey(&engine->queue, i);
        RB_MOVE(stream, key);
        rbByteStream_Check(stream, !isnan(key));
        if (stream->isLoading && key < INFINITY) {
            rbQueue_Set(&engine->queue, i, key);
        }
    }
}

// Whether what refers to pairs and their data refers to existing ones, and bools are bools.
static void checkNumbers(const rbEventEngine* engine, const rbByteStream* stream)
{
    for (int i = 0; i < engine->pairs.count; ++i) {
        const rbEventPair* pair = &engine->pairs.data[i];
        rbByteStream_CheckFlags(stream, &pair->isPostponed, 2); // and isLasting
        rbByteStream_CheckFlags(stream, &pair->isDetected, 1);
    }
    for (int i = 0; i < engine->datas.count; ++i) {
        const rbEventPairData* data = &engine->datas.data[i];
        rbByteStream_CheckFlags(stream, &data->hasDistance, 1);
        rbByteStream_CheckFlags(stream, &data->hasSway, 2); // and hasAnchor
    }
    int pairCount = engine->pairs.count, dataCount = engine->datas.count;
    rbByteStream_Check(stream,
                       engine->turns.count == engine->bodies.count &&
                           engine->space.balls.count == engine->bodies.count &&
                           engine->detector.memory.count == dataCount * engine->detector.words);
    rbByteStream_CheckRange(stream, engine->spare.pairs.data, engine->spare.pairs.count, 0,
                            pairCount);
    rbByteStream_CheckRange(stream, engine->spare.datas.data, engine->spare.datas.count, 0,
                            dataCount);
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbEventBody* body = &engine->bodies.data[i];
        rbByteStream_CheckRange(stream, &body->entry.pair, 1, RB_ENTRY_EXPIRY, pairCount);
        rbByteStream_CheckRange(stream, &body->entry.other, 1, -1, engine->bodies.count);
    }
}

static void placeRegions(rbEventEngine* engine, const rbByteStream* stream)
{
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbEventBody* body = &engine->bodies.data[i];
        if (body->shape != RB_EVENT_SHAPE_NONE && !body->isUnbounded &&
            engine->loop->startPairs == NULL) {
            rbVec3 shift = rbEventEngine_ShiftBy(engine, engine->space.balls.data[i].periods);
            rbBounds box = {rbSub(body->region.box.lower, shift),
                            rbSub(body->region.box.upper, shift)};
            rbByteStream_Check(stream, rbIsProperBounds(&box));
            bool isBall = engine->space.balls.data[i].reach > 0.0;
            rbBroadPhase_PlaceAs(engine->space.broad, i, box,
                                 isBall ? RB_BROAD_BALL : RB_BROAD_BOX);
        }
    }
}

void rbEventEngine_Move(rbEventEngine* engine, rbByteStream* stream)
{
    int bodyCount = engine->bodies.count;
    RB_MOVE(stream, bodyCount);
    rbByteStream_Check(stream, bodyCount == engine->bodies.count);
    if (stream->isLoading) {
        freeFronts(engine);
    }
    RB_MOVE(stream, engine->statistics);
    RB_MOVE(stream, engine->work);
    RB_MOVE(stream, engine->budget.start);
    RB_MOVE(stream, engine->budget.events);
    RB_MOVE(stream, engine->now);
    RB_MOVE(stream, engine->tolerance);
    RB_MOVE(stream, engine->space.edge);
    rbByteStream_Move(stream, engine->detector.counts, engine->detector.row->countsSize);
    moveBodies(engine, stream);
    RB_MOVE_ARRAY(stream, engine->space.balls);
    RB_MOVE_ARRAY(stream, engine->pairs);
    RB_MOVE_ARRAY(stream, engine->turns);
    RB_MOVE(stream, engine->turn);
    RB_MOVE_ARRAY(stream, engine->spare.pairs);
    RB_MOVE_ARRAY(stream, engine->datas);
    RB_MOVE_ARRAY(stream, engine->detector.memory);
    RB_MOVE_ARRAY(stream, engine->spare.datas);
    checkNumbers(engine, stream);
    moveQueue(engine, stream);
    moveFronts(engine, stream);
    if (stream->isLoading) {
        rbByteStream_Check(stream, rbEventEngine_IsValid(engine));
        placeRegions(engine, stream);
    }
}
