#include "cli/tally.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// NaN is larger than everything, so that it cannot get lost.
static double larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static double ratio(double part, double whole)
{
    return part == 0.0 ? 0.0 : whole > 0.0 ? part / whole : NAN;
}

// Sums over the bodies at the start.
static void addBody(rbTally* tally, const rbWorld* world, rbBodyId bodyId)
{
    if (rbBody_GetType(world, bodyId) != RB_BODY_DYNAMIC) {
        return;
    }
    bool isFallback = false;
    rbMotionType motion = rbBody_GetMotion(world, bodyId, &isFallback);
    if (motion < RB_MOTION_COUNT) {
        ++tally->motionCounts[motion];
    }
    tally->fallbackCount += isFallback ? 1 : 0;
    rbBodyState state = rbBody_GetState(world, bodyId);
    rbMassProperties mass = rbBody_GetMass(world, bodyId);
    tally->massMoment = rbAddScaled(tally->massMoment, mass.mass, state.center);
    tally->spinScale += rbLength(rbMulSV(mass.inertia, state.angularVelocityLocal));
}

static void updateScales(rbTally* tally)
{
    const rbLedger* now = &tally->end;
    double kinetic = now->kineticLinear + now->kineticAngular;
    tally->energyScale = larger(tally->energyScale, larger(fabs(now->energy), kinetic));
    tally->momentumScale = larger(tally->momentumScale, sqrt(2.0 * now->mass * now->kineticLinear));
    tally->angularScale =
        larger(tally->angularScale, larger(rbLength(now->angularMomentum), tally->spinScale));
}

static void updateDrift(rbTally* tally, double time)
{
    const rbLedger* a = &tally->start;
    const rbLedger* b = &tally->end;
    rbVec3 g = tally->info->gravity;
    rbVec3 momentum = rbAddScaled(a->momentum, a->mass * time, g);
    rbVec3 lever = rbAddScaled(rbScale(time, tally->massMoment), 0.5 * time * time, a->momentum);
    rbVec3 angular = rbAdd(a->angularMomentum, rbCross(lever, g));
    rbDrift drift = {
        .energy = ratio(b->energyDrift, tally->energyScale),
        .momentum = ratio(rbDistance(b->momentum, momentum), tally->momentumScale),
        .angularMomentum = ratio(rbDistance(b->angularMomentum, angular), tally->angularScale),
        .spin = ratio(rbDistance(b->spinMomentum, a->spinMomentum), tally->spinScale),
    };
    if (tally->info->forceCount > 0) {
        drift.momentum = drift.angularMomentum = drift.spin = NAN;
    }
    tally->drift = drift;
    tally->driftMax.energy = larger(tally->driftMax.energy, fabs(drift.energy));
    tally->driftMax.momentum = larger(tally->driftMax.momentum, drift.momentum);
    tally->driftMax.angularMomentum =
        larger(tally->driftMax.angularMomentum, drift.angularMomentum);
    tally->driftMax.spin = larger(tally->driftMax.spin, drift.spin);
}

void rbTally_Init(rbTally* tally, const rbSceneInfo* info, const rbWorld* world,
                  const rbBodyId* bodyIds, int bodyCount)
{
    memset(tally, 0, sizeof *tally);
    tally->info = info;
    tally->start = rbWorld_GetLedger(world);
    tally->end = tally->start;
    for (int i = 0; i < bodyCount; ++i) {
        addBody(tally, world, bodyIds[i]);
    }
}

void rbTally_Add(rbTally* tally, const rbStepReport* report, const rbWorld* world)
{
    tally->end = rbWorld_GetLedger(world);
    tally->integratorSteps += report->integratorSteps;
    tally->rejectedSteps += report->rejectedSteps;
    ++tally->frames;
    if (report->status == RB_STATUS_NUMERICAL && RB_IS_NULL(tally->failedBody)) {
        tally->failedBody = report->failedBody;
        tally->failedTime = report->time;
    }
    tally->isBroken = tally->isBroken || !isfinite(tally->end.energy);
    updateScales(tally);
    updateDrift(tally, report->time);
}

void rbTally_AddEvents(rbTally* tally, const rbEvent* events, int count)
{
    for (int i = 0; i < count; ++i) {
        if (events[i].kind < RB_EVENT_COUNT) {
            ++tally->eventCounts[events[i].kind];
        }
    }
    tally->eventCount += count;
}

// ------------------------------------------------------------------------------------ for people

static void printBodies(const rbTally* tally, FILE* file)
{
    const rbSceneInfo* info = tally->info;
    (void)fprintf(file, "  %-18s%d dynamic", "bodies", info->dynamicCount);
    const char* separator = " (";
    for (int row = 0; row < RB_MOTION_COUNT; ++row) {
        if (tally->motionCounts[row] > 0) {
            (void)fprintf(file, "%s%d %s", separator, tally->motionCounts[row],
                          rbMotionType_Name((rbMotionType)row));
            separator = ", ";
        }
    }
    (void)fprintf(file, "%s, %d kinematic, %d static\n", separator[0] == ',' ? ")" : "",
                  info->kinematicCount, info->staticCount);
    if (tally->fallbackCount > 0) {
        (void)fprintf(file,
                      "  %-18s%d bodies fly by another row than asked, because of their loads\n",
                      "", tally->fallbackCount);
    }
}

static void printEvents(const rbTally* tally, FILE* file)
{
    (void)fprintf(file, "  %-18s%" PRId64, "events", tally->eventCount);
    const char* separator = " (";
    for (int kind = 0; kind < RB_EVENT_COUNT; ++kind) {
        if (tally->eventCounts[kind] > 0) {
            (void)fprintf(file, "%s%" PRId64 " %s", separator, tally->eventCounts[kind],
                          rbEventKind_Name((rbEventKind)kind));
            separator = ", ";
        }
    }
    (void)fprintf(file, "%s\n", separator[0] == ',' ? ")" : "");
}

static void printTolerance(const rbTally* tally, const rbWorld* world, FILE* file)
{
    (void)fprintf(file, "  %-18s", "tolerance");
    const char* separator = "";
    if (tally->motionCounts[RB_MOTION_EXACT] > 0) {
        (void)fprintf(file, "closed form, round-off only");
        separator = "; ";
    }
    if (tally->motionCounts[RB_MOTION_CASH_KARP] > 0) {
        (void)fprintf(file, "%sasked %g a step, ", separator, tally->info->motion.tolerance);
        separator = "; ";
        if (tally->isBroken) {
            (void)fprintf(file, "lost: the state is no longer finite");
        } else if (RB_IS_NULL(tally->failedBody)) {
            (void)fprintf(file, "met in every step");
        } else {
            (void)fprintf(file, "missed first by body %s before t = %g s",
                          rbBody_GetName(world, tally->failedBody), tally->failedTime);
        }
    }
    if (tally->motionCounts[RB_MOTION_TAYLOR] + tally->motionCounts[RB_MOTION_RK4] +
            tally->motionCounts[RB_MOTION_EULER] >
        0) {
        (void)fprintf(file, "%sfixed steps of %g s: none asked, see the drift", separator,
                      tally->info->motion.step);
        separator = "; ";
    }
    (void)fprintf(file, "%s\n", separator[0] == '\0' ? "nothing was integrated" : "");
}

void rbTally_Print(const rbTally* tally, const rbWorld* world, FILE* file)
{
    const rbSceneInfo* info = tally->info;
    const rbLedger* a = &tally->start;
    const rbLedger* b = &tally->end;
    char wall[32];
    double time = rbWorld_GetTime(world);
    (void)fprintf(file, "%s: %s\n", info->name, info->title);
    if (tally->isStopped) {
        (void)fprintf(file, "  %-18sstopped at t=%g s of %g s\n", "stopped", time, info->duration);
    }
    (void)fprintf(file, "  %-18s%g s in %s of wall time, %" PRId64 " frames, engine %s\n",
                  "simulated", time, rbFormatDuration(tally->wallTime, wall), tally->frames,
                  info->engine);
    printBodies(tally, file);
    (void)fprintf(file, "  %-18s%" PRId64 " steps, %" PRId64 " rejected\n", "integrator",
                  tally->integratorSteps, tally->rejectedSteps);
    printEvents(tally, file);
    (void)fprintf(file, "  %-18s%.12g J at the start, %.12g J at the end, work %.10g J\n", "energy",
                  a->energy, b->energy, b->work);
    (void)fprintf(file, "  %-18s%.2g J, relative %.2g, at most %.2g\n", "energy drift",
                  b->energyDrift, tally->drift.energy, tally->driftMax.energy);
    if (info->forceCount > 0) {
        (void)fprintf(file, "  %-18snot conserved: forces act besides gravity (%d)\n", "momentum",
                      info->forceCount);
    } else {
        (void)fprintf(file, "  %-18srelative %.2g, at most %.2g%s\n", "momentum drift",
                      tally->drift.momentum, tally->driftMax.momentum,
                      rbLength(info->gravity) > 0.0 ? " (gravity's share taken off)" : "");
        (void)fprintf(file,
                      "  %-18srelative %.2g about the origin, %.2g of the spin; at most %.2g, "
                      "%.2g\n",
                      "angular momentum", tally->drift.angularMomentum, tally->drift.spin,
                      tally->driftMax.angularMomentum, tally->driftMax.spin);
    }
    printTolerance(tally, world, file);
    (void)fprintf(file, "  %-18shash %016" PRIx64 " at t = %.17g s\n", "state", tally->hash, time);
}

void rbTally_PrintFiles(const rbWrittenFile* files, int count, FILE* file)
{
    for (int i = 0; i < count; ++i) {
        char size[32];
        (void)fprintf(file, "  %-18s%s", files[i].kind, files[i].path);
        if (files[i].bytes > 0.0) {
            (void)fprintf(file, " (%s)", rbFormatBytes(files[i].bytes, size));
        }
        (void)fputc('\n', file);
    }
}

// ---------------------------------------------------------------------------------- for machines

static void writeCounts(const rbTally* tally, rbJson* json)
{
    const rbSceneInfo* info = tally->info;
    rbJson_BeginObject(json, "bodies");
    rbJson_Integer(json, "total", info->bodyCount);
    rbJson_Integer(json, "dynamic", info->dynamicCount);
    rbJson_Integer(json, "kinematic", info->kinematicCount);
    rbJson_Integer(json, "static", info->staticCount);
    rbJson_Integer(json, "fallback", tally->fallbackCount);
    rbJson_BeginObject(json, "motion");
    for (int row = 0; row < RB_MOTION_COUNT; ++row) {
        if (tally->motionCounts[row] > 0) {
            rbJson_Integer(json, rbMotionType_Name((rbMotionType)row), tally->motionCounts[row]);
        }
    }
    rbJson_End(json);
    rbJson_End(json);
    rbJson_Integer(json, "integratorSteps", tally->integratorSteps);
    rbJson_Integer(json, "rejectedSteps", tally->rejectedSteps);
    rbJson_BeginObject(json, "events");
    rbJson_Integer(json, "total", tally->eventCount);
    for (int kind = 0; kind < RB_EVENT_COUNT; ++kind) {
        if (tally->eventCounts[kind] > 0) {
            rbJson_Integer(json, rbEventKind_Name((rbEventKind)kind), tally->eventCounts[kind]);
        }
    }
    rbJson_End(json);
}

static void writeVector(rbJson* json, const char* key, rbVec3 start, rbVec3 end, double relative,
                        double relativeMax)
{
    rbJson_BeginObject(json, key);
    rbJson_Vec3(json, "start", start);
    rbJson_Vec3(json, "end", end);
    rbJson_Number(json, "relativeDrift", relative);
    rbJson_Number(json, "relativeDriftMax", relativeMax);
    rbJson_End(json);
}

static void writeLedger(const rbTally* tally, rbJson* json)
{
    const rbLedger* a = &tally->start;
    const rbLedger* b = &tally->end;
    bool isKnown = tally->info->forceCount == 0;
    const rbDrift* drift = &tally->drift;
    const rbDrift* most = &tally->driftMax;
    rbJson_BeginObject(json, "energy");
    rbJson_Number(json, "start", a->energy);
    rbJson_Number(json, "end", b->energy);
    rbJson_Number(json, "work", b->work);
    rbJson_Number(json, "drift", b->energyDrift);
    rbJson_Number(json, "relativeDrift", drift->energy);
    rbJson_Number(json, "relativeDriftMax", most->energy);
    rbJson_End(json);
    writeVector(json, "momentum", a->momentum, b->momentum, drift->momentum,
                isKnown ? most->momentum : NAN);
    writeVector(json, "angularMomentum", a->angularMomentum, b->angularMomentum,
                drift->angularMomentum, isKnown ? most->angularMomentum : NAN);
    writeVector(json, "spinMomentum", a->spinMomentum, b->spinMomentum, drift->spin,
                isKnown ? most->spin : NAN);
}

void rbTally_WriteJson(const rbTally* tally, const rbWorld* world, const rbWrittenFile* files,
                       int fileCount, FILE* file)
{
    rbJson json = {.file = file};
    const rbSceneInfo* info = tally->info;
    bool isNamed = !RB_IS_NULL(tally->failedBody);
    bool isMissed = tally->isBroken || isNamed;
    char hash[32];
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, tally->hash);
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "scene", info->name);
    rbJson_Text(&json, "title", info->title);
    rbJson_Text(&json, "engine", info->engine);
    rbJson_Text(&json, "result", tally->isStopped ? "stopped" : isMissed ? "numerical" : "done");
    rbJson_Number(&json, "time", rbWorld_GetTime(world));
    rbJson_Number(&json, "duration", info->duration);
    rbJson_Integer(&json, "frames", tally->frames);
    rbJson_Number(&json, "wallTime", tally->wallTime);
    writeCounts(tally, &json);
    writeLedger(tally, &json);
    rbJson_BeginObject(&json, "tolerance");
    rbJson_Number(&json, "asked", info->motion.tolerance);
    rbJson_Bool(&json, "met", !isMissed);
    rbJson_Text(&json, "firstMissedBy", isNamed ? rbBody_GetName(world, tally->failedBody) : NULL);
    rbJson_Number(&json, "achievedEnergyDrift", tally->driftMax.energy);
    rbJson_End(&json);
    rbJson_Text(&json, "hash", hash);
    rbJson_BeginArray(&json, "files");
    for (int i = 0; i < fileCount; ++i) {
        rbJson_BeginObject(&json, NULL);
        rbJson_Text(&json, "kind", files[i].kind);
        rbJson_Text(&json, "path", files[i].path);
        rbJson_End(&json);
    }
    rbJson_End(&json);
    rbJson_End(&json);
}
