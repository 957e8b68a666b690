#include "cli/tally_contacts.h"

#include <rattleback/lab_contact.h>

#include <inttypes.h>

// "0.5" per step; 0 when there are no steps.
static double divide(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

static const char* getName(const rbWorld* world, rbBodyId bodyId)
{
    return rbBody_IsValid(world, bodyId) ? rbBody_GetName(world, bodyId) : NULL;
}

void rbDescribeContactSettings(const rbContactSettings* settings, char* text, size_t capacity)
{
    if (settings->method == rbContactMethod_Find("penalty")) {
        rbPenaltySettings penalty = rbContactSettings_GetPenalty(settings);
        (void)snprintf(text, capacity,
                       "penalty, for comparison: springs compressed %g m by a single body, damping "
                       "%g of critical",
                       penalty.depth, penalty.damping);
        return;
    }
    rbContactTolerance allowed = rbContactSettings_GetTolerance(settings);
    char cone[40];
    char shock[60] = "";
    if (settings->cone == RB_CONE_PYRAMID) {
        (void)snprintf(cone, sizeof cone, "pyramid of %d facets", settings->facets);
    } else {
        (void)snprintf(cone, sizeof cone, "exact cone");
    }
    if (settings->shockAfter > 0) {
        (void)snprintf(shock, sizeof shock, ", shock propagation after %d", settings->shockAfter);
    }
    (void)snprintf(
        text, capacity,
        "tolerance %g m, %g m/s, at most %d sweep%s per stage%s; collisions %s, friction "
        "%s",
        allowed.gap, allowed.speed, settings->sweepsMax, rbPlural(settings->sweepsMax), shock,
        rbImpactLaw_Name(settings->law), cone);
}

void rbDescribeContactStart(const rbWorld* world, char* text, size_t capacity)
{
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    (void)snprintf(text, capacity, "contacts on: %d near pair%s, %d point%s at the start",
                   s.pairCount, rbPlural(s.pairCount), s.contactCount, rbPlural(s.contactCount));
}

bool rbHasOverlapLeft(const rbTally* tally, const rbWorld* world)
{
    const rbContactSettings* asked = &tally->info->contact;
    return rbWorld_HasContacts(world) && asked->isOverlapAllowed &&
           rbWorld_GetContactStatistics(world).overlap > rbContactSettings_GetTolerance(asked).gap;
}

void rbDescribeContactMiss(const rbTally* tally, const rbWorld* world, char* text, size_t capacity)
{
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    char missed[400];
    (void)rbWorld_DescribeContactMiss(world, missed, sizeof missed);
    if (rbHasOverlapLeft(tally, world)) {
        (void)snprintf(text, capacity,
                       "the run ended with contacts above a tolerance: %s; place them apart, use a "
                       "larger contact.partSpeed (now %g m/s) or a longer run (--duration)",
                       missed, tally->info->contact.partSpeed);
        return;
    }
    (void)snprintf(text, capacity,
                   "contacts ended %" PRId64 " of %" PRId64 " steps above a tolerance: %s; use "
                   "smaller steps (--set step.step=%g), more sweeps (contact.sweepsMax), "
                   "contact.shockAfter or larger tolerances",
                   s.unmetSteps, rbWorld_GetStepStatistics(world).steps, missed,
                   0.5 * tally->info->step.step);
}

// -------------------------------------------------------------------------------------- of a run

static void printDeepest(const rbWorld* world, const rbContactStatistics* s, FILE* file)
{
    const char* a = getName(world, s->deepestA);
    const char* b = getName(world, s->deepestB);
    (void)fprintf(file, "  %-18sdeepest %.3g m", "overlap", s->deepest);
    if (s->deepest > 0.0 && a != NULL && b != NULL) {
        (void)fprintf(file, ", of \"%s\" and \"%s\" at t = %g s", a, b, s->deepestTime);
    }
    (void)fputc('\n', file);
}

// Prints the accuracy that was reached, and whether it is the one requested.
static void printContactError(const rbContactSettings* asked, const rbWorld* world,
                              rbAccuracy accuracy, FILE* file)
{
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    (void)fprintf(file, "  %-18slargest %.3g m, %.3g m/s", "contact error", s.gapErrorMax,
                  s.speedErrorMax);
    if (accuracy == RB_ACCURACY_GAME) {
        (void)fprintf(file, "; accuracy game promises no tolerance\n");
        return;
    }
    rbContactTolerance allowed = rbContactSettings_GetTolerance(asked);
    (void)fprintf(file, ", requested %g m, %g m/s: ", allowed.gap, allowed.speed);
    if (s.unmetSteps > 0) {
        (void)fprintf(file, "missed in %" PRId64 " step%s\n", s.unmetSteps, rbPlural(s.unmetSteps));
    } else {
        (void)fprintf(file, "met\n");
    }
    char missed[400];
    if (rbWorld_DescribeContactMiss(world, missed, sizeof missed) > 0) {
        (void)fprintf(file, "  %-18s%s\n", "missed", missed);
    }
}

// Prints the work of the solver and the accuracy it reached.
static void printSolving(const rbContactSettings* asked, const rbWorld* world, rbAccuracy accuracy,
                         FILE* file)
{
    int64_t steps = rbWorld_GetStepStatistics(world).steps;
    rbContactStatistics statistics = rbWorld_GetContactStatistics(world);
    const rbContactStatistics* s = &statistics;
    (void)fprintf(
        file,
        "  %-18s%.3g (position), %.3g (velocity), %.3g (collisions) per step, at most %d per "
        "stage",
        "sweeps", divide(s->positionSweeps, steps), divide(s->velocitySweeps, steps),
        divide(s->collisionSweeps, steps), asked->sweepsMax);
    if (s->directStages > 0) {
        (void)fprintf(file, "; %" PRId64 " stage%s solved as a whole", s->directStages,
                      rbPlural(s->directStages));
    }
    if (asked->shockAfter > 0) {
        (void)fprintf(file, "; %" PRId64 " stage%s ended by shock propagation", s->shockedStages,
                      rbPlural(s->shockedStages));
    }
    if (s->dividedSteps > 0) {
        (void)fprintf(file, "; %" PRId64 " step%s made in parts, where many bodies strike",
                      s->dividedSteps, rbPlural(s->dividedSteps));
    }
    if (s->lowOrderSteps > 0) {
        (void)fprintf(file, "; %" PRId64 " step%s at order 2, where contacts change",
                      s->lowOrderSteps, rbPlural(s->lowOrderSteps));
    }
    if (s->cutSteps > 0 || asked->contactTime == RB_CONTACT_TIME_INTERPOLATION ||
        asked->contactTime == RB_CONTACT_TIME_BISECTION) {
        (void)fprintf(file, "; %" PRId64 " step%s cut at a contact in %" PRId64 " trial%s",
                      s->cutSteps, rbPlural(s->cutSteps), s->cutTrials, rbPlural(s->cutTrials));
    }
    (void)fputc('\n', file);
    printContactError(asked, world, accuracy, file);
}

void rbPrintRaises(int64_t count, double energy, FILE* file)
{
    if (count > 0) {
        (void)fprintf(file, "; %" PRId64 " raised the energy by Newton's law, %.4g J", count,
                      energy);
    }
}

void rbPrintContacts(const rbTally* tally, const rbWorld* world, FILE* file)
{
    const rbContactSettings* asked = &tally->info->contact;
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    int64_t steps = rbWorld_GetStepStatistics(world).steps;
    (void)fprintf(file,
                  "  %-18s%d point%s of %d near pair%s in %d island%s at the end, %.4g points per "
                  "step; %" PRId64 " collision%s",
                  "contacts", s.contactCount, rbPlural(s.contactCount), s.pairCount,
                  rbPlural(s.pairCount), s.islandCount, rbPlural(s.islandCount),
                  divide(s.contactSum, steps), s.collisions, rbPlural(s.collisions));
    rbPrintRaises(s.energyRaises, s.energyRaised, file);
    (void)fputc('\n', file);
    if (asked->method != RB_CONTACT_IMPULSES) {
        rbStepStatistics own = rbWorld_GetStepStatistics(world);
        (void)fprintf(file, "  %-18s%.4g part%s per step, for comparison only\n",
                      rbContactMethod_Name(asked->method), divide(own.substeps, steps),
                      rbPlural(own.substeps / (steps > 0 ? steps : 1)));
    } else {
        printSolving(asked, world, tally->info->step.accuracy, file);
    }
    printDeepest(world, &s, file);
    if (asked->freezeSpeed > 0.0) {
        (void)fprintf(file, "  %-18s%d bod%s at the end\n", "frozen", s.frozenCount,
                      s.frozenCount == 1 ? "y" : "ies");
    }
    (void)fprintf(file, "  %-18scollisions %.6g J, friction of contacts %.6g J", "energy by cause",
                  tally->end.impactWork, tally->end.frictionWork);
    // with joints it is among the work of motors
    if (tally->info->jointCount + tally->info->springCount == 0 && tally->end.motorWork != 0.0) {
        (void)fprintf(file, ", conveyors and moving obstacles %.6g J", tally->end.motorWork);
    }
    (void)fputc('\n', file);
}

void rbPrintLimits(const rbTally* tally, const rbWorld* world, FILE* file)
{
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    if (s.limitedJoints == 0) {
        return;
    }
    (void)fprintf(
        file,
        "  %-18s%d joint%s, %d stop%s in use at the end, none exceeded by more than %.3g m "
        "or rad",
        "limits", s.limitedJoints, rbPlural(s.limitedJoints), s.limitCount, rbPlural(s.limitCount),
        s.limitExcess);
    if (rbWorld_HasContacts(world)) {
        (void)fputc('\n', file);
        return;
    }
    (void)fprintf(file, "; %" PRId64 " collision%s with them, %.6g J%s\n", s.collisions,
                  rbPlural(s.collisions), tally->end.impactWork,
                  s.unmetSteps > 0 ? "; tolerances missed" : "");
}

void rbWriteLimits(const rbWorld* world, rbJson* json)
{
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    if (s.limitedJoints > 0) {
        rbJson_BeginObject(json, "limits");
        rbJson_Integer(json, "joints", s.limitedJoints);
        rbJson_Integer(json, "stops", s.limitCount);
        rbJson_Number(json, "excess", s.limitExcess);
        rbJson_End(json);
    }
}

void rbWriteContacts(const rbTally* tally, const rbWorld* world, rbJson* json)
{
    const rbContactSettings* asked = &tally->info->contact;
    rbContactTolerance allowed = rbContactSettings_GetTolerance(asked);
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    rbJson_BeginObject(json, "contacts");
    rbJson_Integer(json, "points", s.contactCount);
    rbJson_Integer(json, "pointSum", s.contactSum);
    rbJson_Integer(json, "nearPairs", s.pairCount);
    rbJson_Integer(json, "islands", s.islandCount);
    rbJson_Integer(json, "frozen", s.frozenCount);
    rbJson_Integer(json, "collisions", s.collisions);
    rbJson_Integer(json, "energyRaises", s.energyRaises);
    rbJson_Number(json, "energyRaised", s.energyRaised);
    rbJson_Integer(json, "positionSweeps", s.positionSweeps);
    rbJson_Integer(json, "velocitySweeps", s.velocitySweeps);
    rbJson_Integer(json, "collisionSweeps", s.collisionSweeps);
    rbJson_Integer(json, "sweepsMax", asked->sweepsMax);
    rbJson_Integer(json, "directStages", s.directStages);
    rbJson_Integer(json, "shockedStages", s.shockedStages);
    rbJson_Integer(json, "dividedSteps", s.dividedSteps);
    rbJson_Integer(json, "cutSteps", s.cutSteps);
    rbJson_Integer(json, "lowOrderSteps", s.lowOrderSteps);
    rbJson_Integer(json, "cutTrials", s.cutTrials);
    rbJson_Integer(json, "unmetSteps", s.unmetSteps);
    rbJson_Number(json, "tolerance", allowed.gap);
    rbJson_Number(json, "gapErrorMax", s.gapErrorMax);
    rbJson_Number(json, "velocityTolerance", allowed.speed);
    rbJson_Number(json, "speedErrorMax", s.speedErrorMax);
    rbJson_Number(json, "restSpeed", s.restSpeed);
    rbJson_Number(json, "reboundErrorMax", s.reboundErrorMax);
    rbJson_Number(json, "jointErrorMax", s.jointErrorMax);
    rbJson_Number(json, "jointSpeedErrorMax", s.jointSpeedErrorMax);
    rbJson_Number(json, "overlap", s.overlap);
    rbJson_Text(json, "overlapBodyA", getName(world, s.overlapA));
    rbJson_Text(json, "overlapBodyB", getName(world, s.overlapB));
    rbJson_Number(json, "deepest", s.deepest);
    rbJson_Number(json, "deepestTime", s.deepestTime);
    rbJson_Text(json, "deepestBodyA", getName(world, s.deepestA));
    rbJson_Text(json, "deepestBodyB", getName(world, s.deepestB));
    rbJson_End(json);
}
