// Creating worlds and advancing them.
//
// Time is summed with compensation, so a million steps of a millisecond end at 1000 s. An advance
// evaluates every body from its flight record; nothing in it allocates, and only an event starts a
// new record.
#include "base/core/float_mode.h"
#include "base/core/words.h"
#include "world/world_engine.h"
#include "world/world_joint.h"
#include "world/world_settings.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CAPACITY_MAX 100000000 // as many bodies take some 100 GB

rbWorld* rbCreateWorld(const rbWorldDef* def, rbError* error)
{
    if (RB_CHECK_COOKIE(def, RB_KIND_WORLD, error) != RB_STATUS_OK ||
        rbCheckWorldDef(def, error) != RB_STATUS_OK) {
        return NULL;
    }
    RB_NULL_IF((def->allocator.allocFn == NULL) != (def->allocator.freeFn == NULL), error,
               "the allocator of the world has only one of its two functions; set both or neither");
    RB_NULL_IF(def->bodyCapacity < 0 || def->bodyCapacity > CAPACITY_MAX, error,
               "bodyCapacity is %d; memory for 0 to %d bodies can be reserved", def->bodyCapacity,
               CAPACITY_MAX);
    bool isHosted = def->tasks.runFn != NULL;
    RB_NULL_IF(
        def->threadCount < 0 || def->threadCount > RB_WORKERS_MAX ||
            (isHosted && (def->tasks.workerCount < 1 || def->tasks.workerCount > RB_WORKERS_MAX)),
        error,
        "a world has 0 (automatic) to %d threads, and a scheduler of the host 1 to %d "
        "workers, not %d and %d",
        RB_WORKERS_MAX, RB_WORKERS_MAX, def->threadCount, def->tasks.workerCount);
    RB_USE_ALLOCATOR(def->allocator);
    rbWorld* world = rbAllocZero(1, sizeof *world);
    world->def = *def;
    if (def->bodyCapacity > 0) {
        rbArray_Reserve(world->bodies, def->bodyCapacity);
        rbArray_Reserve(world->flights, def->bodyCapacity);
        rbArray_Reserve(world->motions, def->bodyCapacity);
        rbArray_Reserve(world->states, def->bodyCapacity);
    }
    return world;
}

void rbDestroyWorld(rbWorld* world)
{
    if (world == NULL) {
        return;
    }
    for (int i = 0; i < world->bodies.count; ++i) {
        rbPath_Destroy(world->bodies.data[i].path);
        rbArray_Free(world->bodies.data[i].shapes);
    }
    for (int i = 0; i < world->geometries.count; ++i) {
        rbDestroyGeometry(world->geometries.data[i].geometry);
    }
    rbDestroyQueryTree(world->queryTree);
    rbWorld_FreeEngine(world);
    rbWorld_FreeLinks(world);
    for (int i = 0; i < RB_TOUCH_COUNT; ++i) {
        rbArray_Free(world->touches[i]);
    }
    rbArray_FreeAll(world->contactViews, world->foundTouches, world->nextTouches,
                    world->sensorBodies, world->sensorStates, world->contactEvents);
    rbArray_FreeAll(world->bodies, world->flights, world->motions, world->states, world->principals,
                    world->geometries);
    rbArray_FreeAll(world->forces, world->owned, world->materialPairs, world->events,
                    world->flightStarts);
    rbNameTable_Free(&world->names);
    rbIdPool_Free(&world->bodyIds);
    rbIdPool_Free(&world->geometryIds);
    rbIdPool_Free(&world->shapeIds);
    rbIdPool_Free(&world->forceIds);
    rbFree(world->kept, world->keptCapacity);
    rbDestroyTasks(world->tasks);
    rbFree(world, sizeof *world);
}

// Smaller worlds do not gain by threads.
#define THREADS_BODIES 1000

rbTasks* rbWorld_ChooseTasks(rbWorld* world)
{
    int count = world->def.threadCount > 0 ? world->def.threadCount : rbGetThreadCount();
    bool isHosted = world->def.tasks.runFn != NULL;
    if (count == 0 && !isHosted && world->aliveCount < THREADS_BODIES) {
        return NULL;
    }
    if (world->threadCount != count + 1) {
        rbDestroyTasks(world->tasks);
        world->tasks = NULL;
        world->tasks = rbCreateTasks(count, &world->def.tasks);
        world->threadCount = count + 1;
    }
    return world->tasks;
}

// Evaluates every body at the world's time, except those that the step engine moved there.
static void evaluateBodies(rbWorld* world, rbStepReport* report)
{
    for (int i = 0; i < world->bodies.count; ++i) {
        const rbBody* body = &world->bodies.data[i];
        rbMotionCounts counts = {0};
        if (body->hasMass && rbWorld_IsOwned(world, i)) {
            report->numericCount += 1;
        } else if (body->hasMass) {
            rbFlight* flight = &world->flights.data[i];
            rbFlight_Commit(flight, &world->motions.data[i], world->time, &counts);
            rbFlight_Evaluate(flight, &world->motions.data[i], world->time, &world->states.data[i],
                              &counts);
            bool isExact = flight->type == RB_MOTION_EXACT;
            report->exactCount += isExact ? 1 : 0;
            report->numericCount += isExact ? 0 : 1;
            report->fallbackCount += flight->isFallback ? 1 : 0;
        } else if (body->path != NULL) {
            world->states.data[i] = rbWorld_StateAt(world, i, world->time);
        }
        report->integratorSteps += counts.accepted;
        report->rejectedSteps += counts.rejected;
        if (counts.isInaccurate && report->status == RB_STATUS_OK) {
            report->status = RB_STATUS_NUMERICAL;
            report->failedBody = rbWorld_BodyIdOf(world, i);
            rbWorld_AddEvent(world, RB_EVENT_TOLERANCE, i, 0.0);
        }
    }
}

// One message for every change to a status other than OK, not one for every advance.
static void logStatus(rbWorld* world, const rbStepReport* report)
{
    if (report->status == world->loggedStatus) {
        return;
    }
    world->loggedStatus = report->status;
    if (report->status == RB_STATUS_OK) {
        return;
    }
    rbLogLevel level =
        report->status == RB_STATUS_NUMERICAL ? RB_LOG_WARNING : RB_LOG_ERROR; // the run stops
    if (world->engineError.status != RB_STATUS_OK) {
        rbWorld_Log(world, level, "at %g s: %s", world->time, world->engineError.message);
    } else {
        const char* name =
            RB_IS_NULL(report->failedBody) ? "" : rbBody_GetName(world, report->failedBody);
        rbWorld_Log(world, level, "at %g s: the integration of body \"%s\" missed its tolerance",
                    world->time, name);
    }
}

static rbStepReport moveEngine(rbWorld* world, double time, double rest)
{
    rbStepReport report = {.status = RB_STATUS_OK, .bodyCount = world->aliveCount};
    double reached;
    world->contactEvents.count = 0;
    report.status = rbWorld_AdvanceEngine(world, time, &reached, &report.failedBody);
    rest = reached == time ? rest : 0.0;
    time = reached;
    world->time = time;
    world->timeRest = rest;
    world->motionCount += 1;
    evaluateBodies(world, &report);
    rbPoll(); // a stop that the last callback asks for undoes the advance, too
    rbWorld_EndMove(world);
    report.time = world->time;
    report.ledger = rbWorld_GetLedger(world);
    logStatus(world, &report);
    return report;
}

static rbStepReport moveTo(rbWorld* world, double time, double rest)
{
    RB_ENTER(world);
    RB_USE_TASKS(NULL); // of this thread until now: back at the end, however it ends
    RB_GUARD(guard, NULL)
    {
        rbStepReport report = {.status = rbWorld_Recover(world, &guard, NULL),
                               .time = world->time,
                               .bodyCount = world->aliveCount,
                               .ledger = rbWorld_GetLedger(world)};
        logStatus(world, &report);
        return report;
    }
    (void)rbUseTasks(rbWorld_ChooseTasks(world));
    rbWorld_BeginMove(world);
    return moveEngine(world, time, rest);
}

// Nothing moves; the log gives the reason.
static rbStepReport refuseToMove(const rbWorld* world, const char* what, double value)
{
    rbWorld_Log(world, RB_LOG_ERROR, "%s of %g s is refused: it must be finite%s", what, value,
                value < 0.0 ? " and not negative" : "");
    return (rbStepReport){.status = RB_STATUS_INVALID,
                          .time = world->time,
                          .bodyCount = world->aliveCount,
                          .ledger = rbWorld_GetLedger(world)};
}

rbStepReport rbWorld_Advance(rbWorld* world, double dt)
{
    if (!isfinite(dt) || dt < 0.0) {
        return refuseToMove(world, "an advance", dt);
    }
    uint64_t mode = rbFloatMode_Set(0);
    // Fast two-sum: what rounding drops is carried to the next step.
    double add = dt + world->timeRest;
    double sum = world->time + add;
    double rest = add - (sum - world->time);
    rbStepReport report = moveTo(world, sum, rest);
    report.isFloatModeOdd = mode != rbFloatMode_Set(mode); // 0 before
    return report;
}

rbStepReport rbWorld_AdvanceTo(rbWorld* world, double time)
{
    if (!isfinite(time)) {
        return refuseToMove(world, "an advance to a time", time);
    }
    uint64_t mode = rbFloatMode_Set(0);
    rbStepReport report = moveTo(world, time > world->time ? time : world->time, 0.0);
    report.isFloatModeOdd = mode != rbFloatMode_Set(mode); // 0 before
    return report;
}

double rbGetStepTime(int64_t k, double step)
{
    RB_ASSERT(isfinite(step));
    // Best fraction p/q of the step by continued fractions; exact as soon as p/q rounds to step.
    double p0 = 0.0, q0 = 1.0;
    double p1 = 1.0, q1 = 0.0;
    double x = fabs(step);
    for (int i = 0; i < 24; ++i) {
        double whole = floor(x);
        double p = whole * p1 + p0, q = whole * q1 + q0;
        if (q > 1e9 || p > 1e9) {
            break;
        }
        if (p / q == fabs(step)) {
            double ticks = (double)k * p;
            // Exact numerator: one rounding, at the division.
            return fabs(ticks) < 0x1p53 ? copysign(ticks / q, (double)k * step) : (double)k * step;
        }
        p0 = p1;
        q0 = q1;
        p1 = p;
        q1 = q;
        if (x == whole) {
            break;
        }
        x = 1.0 / (x - whole);
    }
    return (double)k * step;
}

#define DEFINE_GETTER(type, name, member) \
    RB_DEFINE_GETTER(type, name, (const rbWorld* world), world->member)
DEFINE_GETTER(double, rbWorld_GetTime, time)
DEFINE_GETTER(rbVec3, rbWorld_GetGravity, def.gravity)
DEFINE_GETTER(rbVec3, rbWorld_GetPeriodicBox, def.periodicBox)
DEFINE_GETTER(rbEngineType, rbWorld_GetEngineType, def.engine)
DEFINE_GETTER(rbEventSettings, rbWorld_GetEventSettings, def.event)
DEFINE_GETTER(rbStepSettings, rbWorld_GetStepSettings, def.step)
DEFINE_GETTER(rbContactSettings, rbWorld_GetContactSettings, def.contact)
DEFINE_GETTER(int, rbWorld_GetBodyCount, aliveCount)
DEFINE_GETTER(int, rbWorld_GetJointCount, jointCount)
DEFINE_GETTER(int, rbWorld_GetSpringCount, springCount)
DEFINE_GETTER(rbError, rbWorld_GetError, engineError)

// What has been recorded: the first of them, and their count.
#define DEFINE_LIST(type, name, list)                                       \
    RB_DEFINE_GETTER(const type*, name, (const rbWorld* world, int* count), \
                     (*count = world->list.count, world->list.data))
DEFINE_LIST(rbEvent, rbWorld_GetEvents, events)
DEFINE_LIST(rbContactEvent, rbWorld_GetContactEvents, contactEvents)
DEFINE_LIST(rbFlightStart, rbWorld_GetFlightStarts, flightStarts)

static double wrapCoordinate(double x, double length, int* image)
{
    if (!(length > 0.0)) {
        *image = 0;
        return x;
    }
    double turns = floor(x / length + 0.5);
    *image = turns > -INT_MAX && turns < INT_MAX ? (int)turns : 0;
    return x - turns * length;
}

rbVec3 rbWorld_WrapPosition(const rbWorld* world, rbVec3 position, int image[3])
{
    int shift[3];
    rbVec3 box = world->def.periodicBox;
    rbVec3 wrapped;
    wrapped.x = wrapCoordinate(position.x, box.x, &shift[0]);
    wrapped.y = wrapCoordinate(position.y, box.y, &shift[1]);
    wrapped.z = wrapCoordinate(position.z, box.z, &shift[2]);
    if (image != NULL) {
        memcpy(image, shift, sizeof shift);
    }
    return wrapped;
}

// ------------------------------------------------------------------------------------------- log
// The only channel on which the library reports on its own.

static const char* const levelNames[RB_LOG_COUNT] = {
    [RB_LOG_WARNING] = "warning", [RB_LOG_ERROR] = "error"};
RB_DEFINE_NAME(rbLogLevel, RB_LOG_COUNT, levelNames[index])

void rbWorld_Log(const rbWorld* world, rbLogLevel level, const char* format, ...)
{
    if (world->def.logFn == NULL) {
        return;
    }
    char message[RB_LOG_LENGTH_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    world->def.logFn(level, message, world->def.logContext);
}

void rbWorld_LogRefusal(const rbWorld* world, const char* what, const rbError* reason,
                        rbError* error)
{
    (void)rbError_Set(error, reason->status, "%s", reason->message);
    rbWorld_Log(world, RB_LOG_ERROR, "%s is refused: %s", what, reason->message);
}
