// The event engine of a world: registering bodies, starting and advancing it, and what it records
// of flights.
#include "dynamics/engines/event/event_rows.h"
#include "world/world_engine.h"

#include <math.h>

// ------------------------------------------------------------------------------ registering bodies

void rbWorld_WriteJournal(void* context, const rbEvent* happened)
{
    rbWorld* world = context;
    rbEvent event = *happened;
    event.bodyA = rbWorld_CompleteId(world, happened->bodyA);
    event.bodyB = rbWorld_CompleteId(world, happened->bodyB);
    rbArray_Push(world->events, event);
}

// Keeps the start of a flight, for rbWorld_GetFlightStarts; the context is the world.
static void keepFlight(void* context, int index, double time)
{
    rbWorld* world = context;
    rbMotionState state = rbWorld_StateAt(world, index, time);
    rbFlightStart start = {.time = time,
                           .body = rbWorld_BodyIdOf(world, index),
                           .eventCount = world->events.count,
                           .isHeld = rbEventEngine_IsResting(world->engine, index),
                           .state = rbWorld_PublicState(world, index, &state)};
    rbArray_Push(world->flightStarts, start);
}

rbEventHost rbWorld_GetEventHost(const rbWorld* world)
{
    return (rbEventHost){.flights = world->flights.data,
                         .motions = world->motions.data,
                         .states = world->states.data};
}

static rbEventHost makeHost(rbWorld* world)
{
    rbEventHost host = rbWorld_GetEventHost(world);
    host.journal = world->def.event.isJournalOff ? NULL : rbWorld_WriteJournal;
    host.flown = world->areFlightsKept ? keepFlight : NULL;
    host.context = world;
    return host;
}

// Bounds on varying loads, 0: none act; rejects forces that state no bound, by name.
static rbStatus boundLoads(const rbWorld* world, int index, rbEventBodyDef* def, rbError* error)
{
    const rbBody* body = &world->bodies.data[index];
    double mass = world->motions.data[index].mass;
    def->loadAcceleration = body->isLoaded ? fmax(rbLength(body->loads[0]) / mass, 1e-300) : 0.0;
    def->loadTorque = rbLength(body->loads[1]);
    rbForceCursor cursor = {0};
    while (rbWorld_NextForce(world, index, &cursor)) {
        if (cursor.row->addVarying == NULL) {
            continue; // constant
        }
        double acceleration = rbForceRow_GetAccelerationBound(cursor.row, cursor.def, mass);
        RB_REFUSE_IF(!isfinite(acceleration) || !(cursor.def->torqueMax >= 0.0),
                     RB_STATUS_UNSUPPORTED, error,
                     "body \"%s\": the force \"%s\" states no bound on the %s it causes, and "
                     "without one the event engine could miss collisions; use constant forces, "
                     "user forces with accelerationMax and torqueMax, or the engine \"flight\"",
                     body->name, cursor.row->name,
                     isfinite(acceleration) ? "torque" : "acceleration");
        def->loadAcceleration += acceleration;
        def->loadTorque += cursor.def->torqueMax;
    }
    return RB_STATUS_OK;
}

static rbStatus registerBody(rbWorld* world, int index, rbError* error)
{
    const rbBody* body = &world->bodies.data[index];
    rbEventBodyDef def = {.isDynamic = body->hasMass,
                          .path = body->path,
                          .growth = body->hasMass ? body->growth : 0.0};
    rbMergedShapes merged;
    RB_TRY(body->hasMass ? boundLoads(world, index, &def, error) : RB_STATUS_OK);
    RB_TRY(rbWorld_MergeShapes(world, index, &merged, error));
    def.geometry = merged.geometry;
    def.transform = merged.transform;
    def.materials = merged.materials;
    def.materialCount = merged.count;
    def.groups = merged.groups;
    def.mask = merged.mask;
    rbEventEngine_SetBody(world->engine, index, &def);
    return RB_STATUS_OK;
}

static void destroyEngine(rbWorld* world)
{
    rbDestroyEventEngine(world->engine);
    rbWorld_FreeMerged(world);
    world->engine = NULL;
}

// --------------------------------------------------------------------------------------- advancing

// isOverlapFine: overlaps that a sampling detector left are restored, not rejected.
static rbStatus registerAndStart(rbWorld* world, bool isOverlapFine, rbError* error)
{
    RB_TRY(rbWorld_ListSensors(world, error));
    if (world->engine == NULL) {
        world->engine = rbCreateEventEngine(&world->def.event, world->def.periodicBox);
    }
    for (int i = 0; i < world->materialPairs.count; ++i) {
        const rbMaterialPairSlot* slot = &world->materialPairs.data[i];
        rbEventEngine_SetMaterialPair(world->engine, slot->kindA, slot->kindB, &slot->pair);
    }
    rbEventEngine_SetFilter(world->engine, rbWorld_GetPairFilter(world), world);
    // resting bodies get their loads back before they are registered anew
    for (int i = 0; i < world->bodies.count; ++i) {
        if (rbEventEngine_IsResting(world->engine, i) && world->bodies.data[i].hasMass) {
            rbWorld_RefreshLoads(world, i);
            rbWorld_StartFlight(world, i);
        }
    }
    for (int i = 0; i < world->bodies.count; ++i) {
        if (rbWorld_IsBodyAlive(world, i)) {
            RB_TRY(registerBody(world, i, error));
        } else {
            rbEventEngine_SetBody(world->engine, i, NULL);
        }
    }
    rbEventHost host = makeHost(world);
    rbStartOverlap overlap;
    rbStatus status = rbEventEngine_Start(world->engine, &host, world->time, &overlap, error);
    if (overlap.count > 0 && !isOverlapFine) {
        return rbWorld_NameOverlap(world, &overlap, "event", error);
    }
    status = overlap.count > 0 ? RB_STATUS_OK : status;
    world->isEngineReady = status == RB_STATUS_OK;
    world->touched.count = 0;
    return status;
}

static rbStatus startEngine(rbWorld* world, rbError* error)
{
    rbStatus status = registerAndStart(world, false, error);
    // Bodies may have been separated.
    for (int i = 0; status == RB_STATUS_OK && i < world->bodies.count; ++i) {
        world->states.data[i] = rbWorld_StateAt(world, i, world->time);
    }
    return status;
}

// Events up to a time; where there are sensors, it stops at each time at which they are checked.
static rbStatus advanceBySensors(rbWorld* world, const rbEventHost* host, double time,
                                 double* reached, int failed[2])
{
    double step = world->def.event.sensorStep;
    bool isSensed = world->sensorBodies.count + world->touches[RB_TOUCH_SENSOR].count > 0;
    int64_t next = (int64_t)floor(world->time / step) - 1;
    while (isSensed && !(rbGetStepTime(next, step) > world->time)) {
        next += 1;
    }
    for (; isSensed && rbGetStepTime(next, step) <= time; ++next) {
        double due = rbGetStepTime(next, step);
        RB_TRY(rbEventEngine_Advance(world->engine, host, due, reached, failed));
        rbArray_Reserve(world->sensorStates, world->bodies.count);
        for (int i = 0; i < world->bodies.count; ++i) {
            world->sensorStates.data[i] = rbWorld_StateAt(world, i, due);
        }
        rbWorld_CheckSensors(world, due, world->sensorStates.data);
    }
    return rbEventEngine_Advance(world->engine, host, time, reached, failed);
}

static rbStatus advanceEngine(rbWorld* world, double time, double* reached, rbBodyId* failedBody)
{
    rbEventHost host = makeHost(world);
    for (int i = 0; i < world->touched.count; ++i) {
        rbEventEngine_Touch(world->engine, &host, world->touched.data[i], world->time);
    }
    world->touched.count = 0;
    int failed[2];
    rbStatus status = advanceBySensors(world, &host, time, reached, failed);
    if (status == RB_STATUS_LIMIT && failed[0] >= 0) {
        *failedBody = rbWorld_BodyIdOf(world, failed[0]);
        (void)rbError_Set(&world->engineError, status,
                          "the budget of events per simulated second is used up at t = %.9g s; the "
                          "last was between \"%s\" and \"%s\"; check whether they are trapped or "
                          "pressed together, or raise eventsPerSecond",
                          *reached, RB_LABEL_BODY(world, failed[0]),
                          RB_LABEL_BODY(world, failed[1]));
    }
    return status;
}

static void moveEngine(rbWorld* world, rbByteStream* stream)
{
    rbEventEngine_Move(world->engine, stream);
}

// Everything is registered again where necessary; the effects on flights and the journal are
// undone.
static bool prepareLoad(rbWorld* world, size_t size)
{
    (void)size;
    int eventCount = world->events.count;
    bool isReady = world->isEngineReady || registerAndStart(world, true, NULL) == RB_STATUS_OK;
    world->events.count = eventCount;
    return isReady;
}

// Everything will be registered again, so no body rests: those that did get their loads back.
static void startAnew(rbWorld* world, const rbEngineAccounts* accounts)
{
    if (world->engine != NULL) {
        rbEventEngine_Forget(world->engine, &accounts->event);
    }
    for (int i = 0; i < world->bodies.count; ++i) {
        rbVec3 before = world->motions.data[i].acceleration;
        if (!world->bodies.data[i].hasMass) {
            continue;
        }
        rbWorld_RefreshLoads(world, i);
        rbVec3 after = world->motions.data[i].acceleration;
        if (before.x != after.x || before.y != after.y || before.z != after.z) {
            rbWorld_StartFlight(world, i);
        }
    }
}

static void addWork(const rbWorld* world, rbEngineAccounts* accounts)
{
    accounts->event = rbEventEngine_GetWork(world->engine);
}

static bool isResting(const rbWorld* world, int index)
{
    return rbEventEngine_IsResting(world->engine, index);
}

const rbEngineRow rbEventEngineRow = {
    .name = "event",
    .traits = {.isEventDriven = true, .growsBodies = true},
    RB_ENGINE_FUNCTIONS,
    .startAnew = startAnew,
};

RB_DEFINE_GETTER(const rbEventEngine*, rbWorld_GetEventEngine, (const rbWorld* world),
                 world->def.engine == RB_ENGINE_EVENT ? world->engine : NULL)

rbEventStatistics rbWorld_GetEventStatistics(const rbWorld* world)
{
    const rbEventEngine* engine = rbWorld_GetEventEngine(world);
    return engine != NULL ? rbEventEngine_GetStatistics(engine) : (rbEventStatistics){0};
}

rbStatus rbWorld_SetMaterialPair(rbWorld* world, int kindA, int kindB, const rbMaterialPair* pair,
                                 rbError* error)
{
    RB_ENTER(world);
    RB_INVALID_IF(kindA < 0 || kindA >= RB_MATERIAL_KINDS_MAX || kindB < 0 ||
                      kindB >= RB_MATERIAL_KINDS_MAX,
                  error, "material kinds %d and %d must be integers from 0 to %d", kindA, kindB,
                  RB_MATERIAL_KINDS_MAX - 1);
    RB_INVALID_IF(!(pair->restitution >= 0.0 && pair->restitution <= 1.0) ||
                      !(pair->friction >= 0.0) || !isfinite(pair->friction) ||
                      (unsigned)pair->law > RB_IMPACT_LAW_COUNT,
                  error,
                  "restitution %g must lie in 0..1, friction %g must not be negative, and the law "
                  "must be one of rbImpactLaw",
                  pair->restitution, pair->friction);
    rbMaterialPairSlot slot = {kindA, kindB, *pair};
    rbArray_Push(world->materialPairs, slot);
    rbWorld_NoteChange(world);
    return RB_STATUS_OK;
}

bool rbWorld_GetMaterialPair(const rbWorld* world, int kindA, int kindB, rbMaterialPair* pair)
{
    for (int i = world->materialPairs.count - 1; i >= 0; --i) {
        const rbMaterialPairSlot* slot = &world->materialPairs.data[i];
        if ((slot->kindA == kindA && slot->kindB == kindB) ||
            (slot->kindA == kindB && slot->kindB == kindA)) {
            *pair = slot->pair;
            return true;
        }
    }
    return false;
}

void rbWorld_EnableFlightStarts(rbWorld* world, bool isOn)
{
    world->areFlightsKept = isOn;
}
