#include "cli/tally.h"

#include "cli/findings.h"
#include "cli/tally_contacts.h"
#include "cli/tally_steps.h"

#include <rattleback/lab_ray_detector.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

// NaN counts as larger than everything, so that it is not lost.
static double larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static double ratio(double part, double whole)
{
    return part == 0.0 ? 0.0 : whole > 0.0 ? part / whole : NAN;
}

// A body removed by an action no longer has a name.
static const char* nameOf(const rbWorld* world, rbBodyId bodyId)
{
    return rbBody_IsValid(world, bodyId) ? rbBody_GetName(world, bodyId) : "(gone)";
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
    tally->turnScale += mass.mass * rbLengthSquared(state.center) +
                        0.5 * (mass.inertia.xx + mass.inertia.yy + mass.inertia.zz);
}

static void updateScales(rbTally* tally)
{
    const rbLedger* now = &tally->end;
    double kinetic = now->kineticLinear + now->kineticAngular;
    tally->energyScale = larger(tally->energyScale, larger(fabs(now->energy), kinetic));
    // What numerics gave is not energy that was there: where it is most of it, the scale stays.
    bool isSound = fabs(now->numericalEnergy) <= 0.5 * now->energyScale;
    tally->energyThere =
        isSound ? larger(tally->energyThere, now->energyScale) : tally->energyThere;
    tally->momentumScale = larger(tally->momentumScale, sqrt(2.0 * now->mass * now->kineticLinear));
    tally->angularScale =
        larger(tally->angularScale, larger(rbLength(now->angularMomentum), tally->spinScale));
    // Mechanisms may start at rest: the error of their joints is then compared with the motion.
    if (tally->info->engineTraits.isStepped) {
        tally->angularScale = larger(tally->angularScale, sqrt(2.0 * kinetic * tally->turnScale));
    }
}

static bool isMomentumKnown(const rbTally* tally)
{
    const rbSceneInfo* info = tally->info;
    bool hasFixed = info->staticCount + info->kinematicCount > 0;
    return tally->actionCount == 0 && info->forceCount == 0 && info->anchorCount == 0 &&
           !((info->engineTraits.isEventDriven || tally->hasContacts) && hasFixed);
}

static bool isAngularKnown(const rbTally* tally)
{
    const rbSceneInfo* info = tally->info;
    bool isPeriodic = rbLengthSquared(info->periodicBox) > 0.0;
    return isMomentumKnown(tally) && !(info->engineTraits.isEventDriven && isPeriodic);
}

static bool isSpinKnown(const rbTally* tally)
{
    const rbSceneInfo* info = tally->info;
    return tally->actionCount == 0 && info->forceCount == 0 && info->engineTraits.isFlightOnly;
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
    drift.momentum = isMomentumKnown(tally) ? drift.momentum : NAN;
    drift.angularMomentum = isAngularKnown(tally) ? drift.angularMomentum : NAN;
    drift.spin = isSpinKnown(tally) ? drift.spin : NAN;
    tally->drift = drift;
    // Relative to the largest energy seen up to the end: a run that starts at rest has hardly any
    // at first.
    tally->energyDriftMost = larger(tally->energyDriftMost, fabs(b->energyDrift));
    tally->driftMax.energy = ratio(tally->energyDriftMost, tally->energyScale);
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
    if (info->engineTraits.isStepped) {
        tally->mechanisms = rbGetMechanismFacts(info, world);
        rbValidateMotors(info, world, &tally->motors);
    }
}

void rbTally_Add(rbTally* tally, const rbStepReport* report, const rbWorld* world)
{
    tally->end = rbWorld_GetLedger(world);
    tally->integratorSteps += report->integratorSteps;
    tally->rejectedSteps += report->rejectedSteps;
    ++tally->frames;
    tally->hasContacts = rbWorld_HasContacts(world);
    if (report->status == RB_STATUS_NUMERICAL && !tally->isMissed) {
        tally->isMissed = true;
        tally->miss = rbWorld_GetError(world);
        tally->failedBody = report->failedBody;
        tally->failedTime = report->time;
    }
    if (report->status == RB_STATUS_LIMIT || report->status == RB_STATUS_INVALID ||
        report->status == RB_STATUS_MEMORY) {
        tally->ending = rbWorld_GetError(world);
        if (tally->ending.status == RB_STATUS_OK) {
            (void)rbError_Set(&tally->ending, report->status, "the engine ended at t = %g s",
                              report->time);
        }
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
    // The step engine moves all bodies with joints and springs, whatever their integrator.
    int rowCount = info->engineTraits.isStepped ? 0 : RB_MOTION_COUNT;
    for (int row = 0; row < rowCount; ++row) {
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
                      "  %-18s%d bod%s another integrator than requested, because of the loads\n",
                      "", tally->fallbackCount, tally->fallbackCount == 1 ? "y uses" : "ies use");
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

static double getMeasurementsPerCollision(const rbEventStatistics* statistics)
{
    return statistics->collisions > 0
               ? (double)statistics->measurements / (double)statistics->collisions
               : NAN;
}

// Contacts declared by a ray, and how deep the bodies overlapped by then.
static void printRays(const rbWorld* world, FILE* file)
{
    rbRayDetectorStatistics s = rbWorld_GetRayStatistics(world);
    (void)fprintf(file, "  %-18s%" PRId64 " sampled", "contacts by rays", s.contactsSampled);
    if (s.contactsSampled > 0) {
        (void)fprintf(file, " (deepest overlap %.3g m, mean %.3g m)", s.sampledOverlapMax,
                      s.sampledOverlapSum / (double)s.contactsSampled);
    }
    (void)fprintf(file, ", %" PRId64 " exact", rbWorld_GetEventStatistics(world).contactsExact);
    if (s.contactsMissed > 0) {
        (void)fprintf(file, "; %" PRId64 " missed", s.contactsMissed);
    }
    (void)fprintf(file, "; %" PRId64 " rays in %" PRId64 " predictions\n", s.rays.rays,
                  s.rays.predictions);
}

// Totals of the event engine.
static void printCollisions(const rbTally* tally, const rbWorld* world, FILE* file)
{
    rbEventStatistics s = rbWorld_GetEventStatistics(world);
    const rbLedger* b = &tally->end;
    (void)fprintf(file, "  %-18s%" PRId64 " between pairs; at their points %" PRId64 " impacts",
                  "collisions", s.collisions, s.impacts);
    const char* separator = " (";
    for (int law = 0; law < RB_IMPACT_LAW_COUNT; ++law) {
        if (s.lawCounts[law] > 0) {
            (void)fprintf(file, "%s%" PRId64 " %s", separator, s.lawCounts[law],
                          rbImpactLaw_Name((rbImpactLaw)law));
            separator = ", ";
        }
    }
    (void)fprintf(file, "%s, %" PRId64 " microcollisions", separator[0] == ',' ? ")" : "",
                  s.microcollisions);
    if (s.jams > 0) {
        (void)fprintf(file, "; %" PRId64 " beyond Painleve's threshold", s.jams);
    }
    rbPrintRaises(s.energyRaises, s.energyRaised, file);
    (void)fprintf(file, "\n  %-18s%" PRId64 " measurements", "search", s.measurements);
    if (s.collisions > 0) {
        (void)fprintf(file, " (%.3g a collision)", getMeasurementsPerCollision(&s));
    }
    (void)fprintf(file, ", %d near pairs at the end, broad phase %s\n", s.pairCount,
                  rbBroadPhaseType_Name(s.broadPhase));
    (void)fprintf(file,
                  "  %-18s%d bodies at the end; %" PRId64 " times put to rest, %" PRId64 " woken\n",
                  "at rest", s.restingCount, s.rests, s.wakes);
    (void)fprintf(file, "  %-18stolerance %.3g m, deepest %.3g m\n", "overlap", s.tolerance,
                  s.overlapMax);
    if (rbEventSettings_IsByRays(&tally->info->event)) {
        printRays(world, file);
    }
    (void)fprintf(file,
                  "  %-18simpacts %.6g J, friction %.6g J, microcollisions %.6g J, rest %.6g J\n",
                  "energy by cause", b->impactWork, b->frictionWork, b->microWork, b->restWork);
}

static void printMomenta(const rbTally* tally, FILE* file)
{
    const rbSceneInfo* info = tally->info;
    if (info->forceCount > 0) {
        (void)fprintf(file, "  %-18snot conserved: forces act besides gravity (%d)\n", "momentum",
                      info->forceCount);
        return;
    }
    if (!isMomentumKnown(tally)) {
        (void)fprintf(file, "  %-18snot conserved: %s\n", "momentum",
                      tally->actionCount > 0  ? "actions from outside"
                      : info->anchorCount > 0 ? "joints or springs attach bodies to the world"
                                              : "bodies may collide with fixed ones");
        return;
    }
    (void)fprintf(file, "  %-18srelative %.2g, at most %.2g%s\n", "momentum drift",
                  tally->drift.momentum, tally->driftMax.momentum,
                  rbLength(info->gravity) > 0.0 ? " (gravity's share subtracted)" : "");
    if (isSpinKnown(tally)) {
        (void)fprintf(file,
                      "  %-18srelative %.2g about the origin, %.2g of the spin; at most %.2g, "
                      "%.2g\n",
                      "angular momentum", tally->drift.angularMomentum, tally->drift.spin,
                      tally->driftMax.angularMomentum, tally->driftMax.spin);
    } else if (isAngularKnown(tally)) {
        (void)fprintf(file, "  %-18srelative %.2g about the origin, at most %.2g\n",
                      "angular momentum", tally->drift.angularMomentum,
                      tally->driftMax.angularMomentum);
    }
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
        (void)fprintf(file, "%srequested %g per step, ", separator, tally->info->motion.tolerance);
        separator = "; ";
        if (tally->isBroken) {
            (void)fprintf(file, "lost: the state is no longer finite");
        } else if (RB_IS_NULL(tally->failedBody)) {
            (void)fprintf(file, "met in every step");
        } else {
            (void)fprintf(file, "missed first by body %s before t = %g s",
                          rbShow(nameOf(world, tally->failedBody)), tally->failedTime);
        }
    }
    if (tally->motionCounts[RB_MOTION_TAYLOR] + tally->motionCounts[RB_MOTION_RK4] +
            tally->motionCounts[RB_MOTION_EULER] >
        0) {
        (void)fprintf(file, "%sfixed steps of %g s: no tolerance, see the drift", separator,
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
    (void)fprintf(file, "%s: %s\n", rbShow(info->name), rbShow(info->title));
    if (tally->isStopped || tally->ending.status != RB_STATUS_OK) {
        (void)fprintf(file, "  %-18sstopped at t=%g s of %g s\n", "stopped", time, info->duration);
    }
    bool isStepped = info->engineTraits.isStepped;
    (void)fprintf(file, "  %-18s%g s in %s of wall time, %" PRId64 " frames, engine %s%s%s\n",
                  "simulated", time, rbFormatDuration(tally->wallTime, wall), tally->frames,
                  info->engine, isStepped ? ", accuracy " : "",
                  isStepped ? rbAccuracy_Name(info->step.accuracy) : "");
    printBodies(tally, file);
    if (tally->actionCount > 0) {
        (void)fprintf(file, "  %-18s%d\n", "user actions", tally->actionCount);
    }
    if (!info->engineTraits.isStepped) {
        (void)fprintf(file, "  %-18s%" PRId64 " steps, %" PRId64 " rejected\n", "integrator",
                      tally->integratorSteps, tally->rejectedSteps);
    }
    if (info->engineTraits.isEventDriven) {
        printCollisions(tally, world, file);
    } else if (info->engineTraits.isStepped) {
        rbPrintSteps(tally, world, file);
        if (tally->hasContacts) {
            rbPrintContacts(tally, world, file);
        }
        rbPrintLimits(tally, world, file);
    } else {
        printEvents(tally, file);
    }
    (void)fprintf(file, "  %-18s%.12g J at the start, %.12g J at the end, work %.10g J\n", "energy",
                  a->energy, b->energy, b->work);
    (void)fprintf(file, "  %-18s%.2g J, relative %.2g, at most %.2g%s\n", "energy drift",
                  b->energyDrift, tally->drift.energy, tally->driftMax.energy,
                  !info->engineTraits.isFlightOnly ? " (not explained by any cause)" : "");
    if (info->engineTraits.isStepped) {
        rbPrintNumericalEnergy(tally, world, file);
    }
    printMomenta(tally, file);
    if (!info->engineTraits.isStepped) {
        printTolerance(tally, world, file);
    }
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
    int rowCount = info->engineTraits.isStepped ? 0 : RB_MOTION_COUNT;
    for (int row = 0; row < rowCount; ++row) {
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
    const rbDrift* drift = &tally->drift;
    const rbDrift* most = &tally->driftMax;
    rbJson_BeginObject(json, "energy");
    rbJson_Number(json, "start", a->energy);
    rbJson_Number(json, "end", b->energy);
    rbJson_Number(json, "work", b->work);
    rbJson_Number(json, "impactWork", b->impactWork);
    rbJson_Number(json, "frictionWork", b->frictionWork);
    rbJson_Number(json, "microWork", b->microWork);
    rbJson_Number(json, "restWork", b->restWork);
    rbJson_Number(json, "springEnergyStart", a->springEnergy);
    rbJson_Number(json, "springEnergy", b->springEnergy);
    rbJson_Number(json, "motorWork", b->motorWork);
    rbJson_Number(json, "dissipation", b->dissipation);
    rbJson_Number(json, "assemblyWork", b->assemblyWork);
    rbJson_Number(json, "partedWork", b->partedWork);
    rbJson_Number(json, "settledWork", b->settledWork);
    rbJson_Number(json, "truncatedWork", b->truncatedWork);
    rbJson_Number(json, "lateWork", b->lateWork);
    rbJson_Number(json, "numericalEnergy", b->numericalEnergy);
    rbJson_Number(json, "relativeNumericalEnergy", ratio(b->numericalEnergy, tally->energyThere));
    rbJson_Number(json, "scale", tally->energyThere);
    rbJson_Number(json, "drift", b->energyDrift);
    rbJson_Number(json, "relativeDrift", drift->energy);
    rbJson_Number(json, "relativeDriftMax", most->energy);
    rbJson_End(json);
    writeVector(json, "momentum", a->momentum, b->momentum, drift->momentum,
                isMomentumKnown(tally) ? most->momentum : NAN);
    writeVector(json, "angularMomentum", a->angularMomentum, b->angularMomentum,
                drift->angularMomentum, isAngularKnown(tally) ? most->angularMomentum : NAN);
    writeVector(json, "spinMomentum", a->spinMomentum, b->spinMomentum, drift->spin,
                isSpinKnown(tally) ? most->spin : NAN);
}

// How the run ended, as one word.
static const char* getResult(const rbTally* tally, bool isMissed)
{
    if (tally->ending.status != RB_STATUS_OK) {
        return tally->ending.status == RB_STATUS_LIMIT ? "limit" : "refused";
    }
    return tally->isStopped ? "stopped" : isMissed ? "numerical" : "done";
}

static void writeRays(const rbWorld* world, rbJson* json)
{
    rbRayDetectorStatistics s = rbWorld_GetRayStatistics(world);
    rbJson_BeginObject(json, "rays");
    rbJson_Integer(json, "contactsSampled", s.contactsSampled);
    rbJson_Integer(json, "contactsExact", rbWorld_GetEventStatistics(world).contactsExact);
    rbJson_Integer(json, "contactsMissed", s.contactsMissed);
    rbJson_Number(json, "sampledOverlapMax", s.sampledOverlapMax);
    rbJson_Number(json, "sampledOverlapMean",
                  s.contactsSampled > 0 ? s.sampledOverlapSum / (double)s.contactsSampled : 0.0);
    rbJson_Integer(json, "predictions", s.rays.predictions);
    rbJson_Integer(json, "rays", s.rays.rays);
    rbJson_Integer(json, "hits", s.rays.hits);
    rbJson_End(json);
}

static void writeCollisions(const rbWorld* world, bool isByRays, rbJson* json)
{
    rbEventStatistics s = rbWorld_GetEventStatistics(world);
    rbJson_BeginObject(json, "collisions");
    rbJson_Integer(json, "total", s.collisions);
    rbJson_Integer(json, "impacts", s.impacts);
    rbJson_BeginObject(json, "impactsByLaw");
    for (int law = 0; law < RB_IMPACT_LAW_COUNT; ++law) {
        rbJson_Integer(json, rbImpactLaw_Name((rbImpactLaw)law), s.lawCounts[law]);
    }
    rbJson_End(json);
    rbJson_Integer(json, "microcollisions", s.microcollisions);
    rbJson_Integer(json, "jams", s.jams);
    rbJson_Integer(json, "energyRaises", s.energyRaises);
    rbJson_Number(json, "energyRaised", s.energyRaised);
    rbJson_Integer(json, "measurements", s.measurements);
    rbJson_Number(json, "measurementsPerCollision", getMeasurementsPerCollision(&s));
    rbJson_Integer(json, "nearPairs", s.pairCount);
    rbJson_Text(json, "broadPhase", rbBroadPhaseType_Name(s.broadPhase));
    rbJson_Integer(json, "resting", s.restingCount);
    rbJson_Integer(json, "rests", s.rests);
    rbJson_Integer(json, "wakes", s.wakes);
    rbJson_Number(json, "tolerance", s.tolerance);
    rbJson_Number(json, "overlapMax", s.overlapMax);
    rbJson_Number(json, "virial", s.virial);
    if (isByRays) {
        writeRays(world, json);
    }
    rbJson_End(json);
}

static void writeWarnings(const rbFindings* findings, rbJson* json)
{
    rbJson_BeginArray(json, "warnings");
    for (int i = 0; i < findings->count; ++i) {
        rbJson_Text(json, NULL, findings->list[i].text);
    }
    rbJson_End(json);
}

void rbTally_WriteJson(const rbTally* tally, const rbWorld* world, const rbWrittenFile* files,
                       int fileCount, FILE* file)
{
    rbJson json = {.file = file};
    const rbSceneInfo* info = tally->info;
    bool isNamed = !RB_IS_NULL(tally->failedBody) && !info->engineTraits.isStepped;
    bool isMissed = tally->isBroken || tally->isMissed || rbIsEnergyMissed(tally, world);
    char hash[32];
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, tally->hash);
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "scene", info->name);
    rbJson_Text(&json, "title", info->title);
    rbJson_Text(&json, "engine", info->engine);
    rbJson_Text(&json, "result", getResult(tally, isMissed));
    rbJson_Text(&json, "ending",
                tally->ending.status != RB_STATUS_OK ? tally->ending.message : NULL);
    if (tally->findings != NULL) {
        writeWarnings(tally->findings, &json);
    }
    rbJson_Number(&json, "time", rbWorld_GetTime(world));
    rbJson_Number(&json, "duration", info->duration);
    rbJson_Integer(&json, "frames", tally->frames);
    rbJson_Integer(&json, "actions", tally->actionCount);
    rbJson_Number(&json, "wallTime", tally->wallTime);
    writeCounts(tally, &json);
    if (info->engineTraits.isEventDriven) {
        writeCollisions(world, rbEventSettings_IsByRays(&info->event), &json);
    } else if (info->engineTraits.isStepped) {
        rbWriteSteps(tally, world, &json);
        if (tally->hasContacts) {
            rbWriteContacts(tally, world, &json);
        }
        rbWriteLimits(world, &json);
    }
    writeLedger(tally, &json);
    rbJson_BeginObject(&json, "tolerance");
    rbJson_Number(&json, "asked",
                  info->engineTraits.isStepped ? rbGetJointTolerance(info)
                                               : info->motion.tolerance);
    rbJson_Bool(&json, "met", !isMissed);
    rbJson_Text(&json, "firstMissedBy", isNamed ? nameOf(world, tally->failedBody) : NULL);
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
