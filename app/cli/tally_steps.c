#include "cli/tally_steps.h"

#include "cli/tally_contacts.h"

#include <inttypes.h>
#include <math.h>

// Orders above 2 need this joint tolerance, or rounding of the iterations spoils them.
#define FINE_TOLERANCE 1e-12
// Energy of bringing bodies onto joints that is reported, as a fraction of the energy of the run:
// less is rounding of the poses in the file.
#define CLOSING_SHOWN 1e-9

double rbGetJointTolerance(const rbSceneInfo* info)
{
    double asked = info->step.tolerance;
    return info->step.order > 2 && asked > FINE_TOLERANCE ? FINE_TOLERANCE : asked;
}

static const char* getWorstJoint(const rbWorld* world, const rbStepStatistics* s)
{
    return rbJoint_IsValid(world, s->worstJoint) ? rbJoint_GetName(world, s->worstJoint) : NULL;
}

bool rbIsEnergyMissed(const rbTally* tally, const rbWorld* world)
{
    char text[1];
    return rbWorld_DescribeNumericalEnergy(world, tally->energyThere, text, sizeof text) > 0;
}

void rbDescribeMiss(const rbTally* tally, const rbWorld* world, char* text, size_t capacity)
{
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    const char* worst = getWorstJoint(world, &s);
    double tolerance = rbGetJointTolerance(tally->info);
    bool hasStops = rbWorld_GetContactStatistics(world).limitedJoints > 0;
    bool isOfContacts =
        rbWorld_GetContactStatistics(world).unmetSteps > 0 || rbHasOverlapLeft(tally, world);
    bool isElse = s.unmetSteps > 0 || s.inaccurateSteps > 0 || isOfContacts;
    if (!isElse && rbWorld_DescribeNumericalEnergy(world, tally->energyThere, text, capacity) > 0) {
        return;
    }
    bool isInaccurate = s.inaccurateSteps > 0 && !isOfContacts;
    if (s.unmetSteps == 0 && !isInaccurate && (rbWorld_HasContacts(world) || hasStops)) {
        rbDescribeContactMiss(tally, world, text, capacity);
        return;
    }
    if (s.unmetSteps == 0 && s.inaccurateSteps > 0) {
        char settled[96] = "";
        if (s.settledSteps > 0) {
            (void)snprintf(settled, sizeof settled,
                           "%" PRId64 " of %" PRId64 " steps are of order 1, of unknown error; ",
                           s.settledSteps, s.steps);
        }
        (void)snprintf(text, capacity,
                       "the error of the motion is estimated as %.3g m, and step.errorMax is %g m; "
                       "%sset a larger step.errorMax, or another step.order",
                       s.accuracyEstimate, tally->info->step.errorMax, settled);
        return;
    }
    if (s.positionErrorMax <= tolerance && s.angleErrorMax <= tolerance) {
        (void)snprintf(
            text, capacity,
            "%" PRId64 " of %" PRId64 " steps ended with joint speed errors of up to "
            "%.3g m/s or rad/s, worst at joint \"%s\"; motors or velocity-only joints "
            "require motion that others prevent: give them a \"forceMax\", or remove one; without "
            "any, friction acts where a joint leaves no motion: take smaller steps",
            s.unmetSteps, s.steps, s.velocityErrorMax, worst != NULL ? worst : "?");
        return;
    }
    // With contacts, a step is one of all mechanisms, and each may miss it.
    char steps[64];
    if (s.unmetSteps > s.steps) {
        (void)snprintf(steps, sizeof steps, "%" PRId64 " steps of %d mechanisms", s.unmetSteps,
                       s.mechanismCount);
    } else {
        (void)snprintf(steps, sizeof steps, "%" PRId64 " of %" PRId64 " steps", s.unmetSteps,
                       s.steps);
    }
    (void)snprintf(text, capacity,
                   "%s ended above the joint tolerance %g; worst is joint \"%s\" with %.3g m and "
                   "%.3g rad; use smaller steps (--set step.step=...), more iterations or a larger "
                   "step.tolerance",
                   steps, tolerance, worst != NULL ? worst : "?", s.positionErrorMax,
                   s.angleErrorMax);
}

static double divide(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

static void printAccuracy(const rbTally* tally, const rbStepStatistics* s, FILE* file)
{
    const rbSceneInfo* info = tally->info;
    if (info->step.order <= 2) {
        return;
    }
    // The runs of a step show the error of order - 2; the result has the requested order.
    (void)fprintf(file, "  %-18sestimated as %.2g m", "error of motion", s->accuracyEstimate);
    if (info->step.errorMax > 0.0) {
        (void)fprintf(file, ", requested %g m after %g s%s", info->step.errorMax,
                      info->step.horizon, s->inaccurateSteps > 0 ? ": missed" : "");
    }
    (void)fprintf(file,
                  " (for order %d, the next lower one; on smooth motion order %d stays far "
                  "below%s)\n",
                  info->step.order - 2, info->step.order,
                  tally->motors.hasSampled
                      ? "; without that of motors that act once per step, which is of order 1"
                      : "");
}

// Moving bodies onto their joints changes the energy: before the first step, when their poses or
// speeds did not fit, or in the steps that pull joints together.
static void printClosing(const rbTally* tally, FILE* file)
{
    double total = tally->end.assemblyWork;
    double later = total - tally->start.assemblyWork;
    if (!(fabs(total) > CLOSING_SHOWN * tally->energyScale)) {
        return;
    }
    (void)fprintf(file, "  %-18s%.6g J %s when poses and speeds were corrected to fit the joints, ",
                  "", fabs(total), total > 0.0 ? "added" : "removed");
    double least = CLOSING_SHOWN * tally->energyScale;
    if (!(fabs(later) > least)) {
        (void)fprintf(file, "all at the start\n");
    } else if (!(fabs(total - later) > least)) {
        (void)fprintf(file, "all during the steps\n");
    } else {
        (void)fprintf(file, "%.6g J at the start, %.6g J during the steps\n", total - later, later);
    }
}

static void printJointError(const rbTally* tally, const rbWorld* world, FILE* file)
{
    const rbSceneInfo* info = tally->info;
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    const char* worst = getWorstJoint(world, &s);
    if (info->jointCount == 0) {
        return;
    }
    (void)fprintf(file, "  %-18slargest %.3g m, %.3g rad", "joint error", s.positionErrorMax,
                  s.angleErrorMax);
    if (worst != NULL) {
        (void)fprintf(file, " (joint \"%s\")", worst);
    }
    (void)fprintf(file, ", requested %g: ", rbGetJointTolerance(info));
    if (s.unmetSteps > 0) {
        bool isSpeed = s.positionErrorMax <= rbGetJointTolerance(info) &&
                       s.angleErrorMax <= rbGetJointTolerance(info);
        (void)fprintf(file, "%smissed in %" PRId64 " step%s", isSpeed ? "met, but speeds " : "",
                      s.unmetSteps, rbPlural(s.unmetSteps));
    } else {
        (void)fprintf(file, rbIsEnergyMissed(tally, world) ? "met, but the energy drifts" : "met");
    }
    if (s.assemblingSteps > 0) {
        (void)fprintf(file, "; joints were apart and pulled together in %" PRId64 " step%s",
                      s.assemblingSteps, rbPlural(s.assemblingSteps));
    }
    if (s.singularSteps > 0) {
        (void)fprintf(file, "; %" PRId64 " step%s near a singular position", s.singularSteps,
                      rbPlural(s.singularSteps));
    }
    if (s.settledSteps > 0) {
        (void)fprintf(file,
                      "; %" PRId64 " step%s of order 1, which lose energy (docs/modules/step.md)",
                      s.settledSteps, rbPlural(s.settledSteps));
    }
    (void)fputc('\n', file);
}

static void printJoints(const rbTally* tally, const rbWorld* world, FILE* file)
{
    const rbSceneInfo* info = tally->info;
    const rbLedger* b = &tally->end;
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    char text[160];
    rbDescribeMechanisms(&tally->mechanisms, info, text, sizeof text);
    (void)fprintf(file, "  %-18s%s\n", "joints", text);
    (void)fprintf(file,
                  "  %-18s%s, method %s; iterations per sub-step %.3g (position, at most %d), %.3g "
                  "(velocity); %" PRId64 " factorizations\n",
                  "solver", rbSolverType_Name(info->step.solver),
                  rbStepMethod_Name(info->step.method), divide(s.positionIterations, s.substeps),
                  s.iterationsMost, divide(s.velocityIterations, s.substeps), s.factorizations);
    printJointError(tally, world, file);
    printAccuracy(tally, &s, file);
    (void)fprintf(file, "  %-18smotors %.6g J, damping and friction %.6g J", "energy by cause",
                  b->motorWork, b->dissipation);
    if (tally->start.springEnergy != 0.0 || b->springEnergy != 0.0) {
        (void)fprintf(file, "; in springs %.6g J at the start, %.6g J at the end",
                      tally->start.springEnergy, b->springEnergy);
    }
    (void)fputc('\n', file);
}

void rbPrintSteps(const rbTally* tally, const rbWorld* world, FILE* file)
{
    const rbSceneInfo* info = tally->info;
    const rbStepSettings* step = &info->step;
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    bool hasLinks = info->jointCount + info->springCount > 0;
    if (s.steps == 0 && !hasLinks && !rbWorld_HasContacts(world)) {
        (void)fprintf(file, "  %-18snone: bodies fly freely, no two of them can collide\n",
                      "steps");
        return;
    }
    (void)fprintf(file,
                  "  %-18s%" PRId64 " of %s%g s%s, order %d, %" PRId64 " sub-step%s, %" PRId64
                  " halving%s, smallest %.3g s\n",
                  "steps", s.steps, step->errorMax > 0.0 ? "at most " : "", step->step,
                  s.mechanismCount > 1 ? " (all mechanisms together)" : "", step->order, s.substeps,
                  rbPlural(s.substeps), s.halvings, rbPlural(s.halvings), s.stepSmallest);
    // Without joints there is nothing to report about them; contacts have their own lines.
    if (!rbWorld_HasContacts(world) || hasLinks) {
        printJoints(tally, world, file);
    } else {
        printAccuracy(tally, &s, file);
    }
    printClosing(tally, file);
    for (int i = 0; i < tally->motors.count; ++i) {
        (void)fprintf(file, "  %-18s%s\n", "warning", rbShow(tally->motors.texts[i]));
    }
}

void rbPrintNumericalEnergy(const rbTally* tally, const rbWorld* world, FILE* file)
{
    const rbLedger* end = &tally->end;
    double allowed = tally->info->step.energyTolerance;
    double scale = tally->energyThere;
    double relative = scale > 0.0 ? fabs(end->numericalEnergy) / scale : 0.0;
    (void)fprintf(file, "  %-18s%.2g J, relative %.2g", "numerical energy", end->numericalEnergy,
                  relative);
    if (rbWorld_HasContacts(world)) {
        (void)fprintf(
            file,
            " (parting %.2g J, settling %.2g J, solver %.2g J, late arrival %.2g J, drift "
            "%.2g J)",
            end->partedWork, end->settledWork, end->truncatedWork, end->lateWork, end->energyDrift);
    }
    if (allowed > 0.0) {
        (void)fprintf(file, ", allowed %g: %s", allowed,
                      relative <= allowed              ? "met"
                      : rbIsEnergyMissed(tally, world) ? "missed"
                                                       : "not promised at accuracy game");
    }
    (void)fputc('\n', file);
}

void rbWriteSteps(const rbTally* tally, const rbWorld* world, rbJson* json)
{
    const rbSceneInfo* info = tally->info;
    const rbStepSettings* step = &info->step;
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    rbJson_BeginObject(json, "steps");
    rbJson_Number(json, "step", step->step);
    rbJson_Integer(json, "order", step->order);
    rbJson_Text(json, "scheme", rbStepScheme_Name(step->scheme));
    rbJson_Text(json, "method", rbStepMethod_Name(step->method));
    rbJson_Text(json, "solver", rbSolverType_Name(step->solver));
    rbJson_Integer(json, "joints", info->jointCount);
    rbJson_Integer(json, "springs", info->springCount);
    rbJson_Integer(json, "total", s.steps);
    rbJson_Integer(json, "substeps", s.substeps);
    rbJson_Integer(json, "halvings", s.halvings);
    rbJson_Integer(json, "positionIterations", s.positionIterations);
    rbJson_Integer(json, "velocityIterations", s.velocityIterations);
    rbJson_Integer(json, "factorizations", s.factorizations);
    rbJson_Integer(json, "assemblingSteps", s.assemblingSteps);
    rbJson_Integer(json, "unmetSteps", s.unmetSteps);
    rbJson_Integer(json, "inaccurateSteps", s.inaccurateSteps);
    rbJson_Integer(json, "singularSteps", s.singularSteps);
    rbJson_Integer(json, "settledSteps", s.settledSteps);
    rbJson_Integer(json, "mechanisms", s.mechanismCount);
    rbJson_Integer(json, "conditions", tally->mechanisms.conditions);
    rbJson_Integer(json, "redundantConditions", tally->mechanisms.redundant);
    rbJson_Integer(json, "freedomsLeft", tally->mechanisms.left);
    rbJson_Integer(json, "rows", s.rowCount);
    rbJson_Integer(json, "redundantRows", s.redundantRows);
    rbJson_Integer(json, "iterationsMost", s.iterationsMost);
    rbJson_Number(json, "tolerance", rbGetJointTolerance(info));
    rbJson_Number(json, "positionErrorMax", s.positionErrorMax);
    rbJson_Number(json, "angleErrorMax", s.angleErrorMax);
    rbJson_Number(json, "velocityErrorMax", s.velocityErrorMax);
    rbJson_Text(json, "worstJoint", getWorstJoint(world, &s));
    rbJson_Text(json, "accuracy", rbAccuracy_Name(step->accuracy));
    rbJson_Number(json, "errorMax", step->errorMax);
    rbJson_Number(json, "horizon", step->horizon);
    rbJson_Number(json, "accuracyEstimate", s.accuracyEstimate);
    rbJson_Number(json, "stepSmallest", s.stepSmallest);
    rbJson_BeginArray(json, "warnings");
    for (int i = 0; i < tally->motors.count; ++i) {
        rbJson_Text(json, NULL, tally->motors.texts[i]);
    }
    rbJson_End(json);
    rbJson_End(json);
}
