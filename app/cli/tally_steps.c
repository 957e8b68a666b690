#include "cli/tally_steps.h"

#include <inttypes.h>

// Orders above 2 need this much of the joints, or rounding of the iterations spoils them.
#define FINE_TOLERANCE 1e-12

double rbGetJointTolerance(const rbSceneInfo* info)
{
    double asked = info->step.tolerance;
    return info->step.order > 2 && asked > FINE_TOLERANCE ? FINE_TOLERANCE : asked;
}

static const char* getWorstJoint(const rbWorld* world, const rbStepStatistics* s)
{
    return rbJoint_IsValid(world, s->worstJoint) ? rbJoint_GetName(world, s->worstJoint) : NULL;
}

void rbDescribeMiss(const rbTally* tally, const rbWorld* world, char* text, size_t capacity)
{
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    const char* worst = getWorstJoint(world, &s);
    (void)snprintf(text, capacity,
                   "%" PRId64 " of %" PRId64 " steps ended above the joint tolerance %g; worst is "
                   "joint \"%s\" with %.3g m and %.3g rad; take smaller steps "
                   "(--set step.step=...), more iterations or a larger step.tolerance",
                   s.unmetSteps, s.steps, rbGetJointTolerance(tally->info),
                   worst != NULL ? worst : "?", s.positionErrorMax, s.angleErrorMax);
}

static double divide(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

static void printAccuracy(const rbSceneInfo* info, const rbStepStatistics* s, FILE* file)
{
    if (info->step.order <= 2) {
        return;
    }
    (void)fprintf(file, "  %-18sestimated error of the motion %.2g m", "accuracy",
                  s->accuracyEstimate);
    if (info->step.accuracy > 0.0) {
        (void)fprintf(file, ", asked %g m after %g s", info->step.accuracy, info->step.horizon);
    }
    (void)fputc('\n', file);
}

void rbPrintSteps(const rbTally* tally, const rbWorld* world, FILE* file)
{
    const rbSceneInfo* info = tally->info;
    const rbStepSettings* step = &info->step;
    const rbLedger* b = &tally->end;
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    const char* worst = getWorstJoint(world, &s);
    (void)fprintf(file,
                  "  %-18s%" PRId64 " of %g s, order %d, %" PRId64 " sub-steps, %" PRId64
                  " halvings, smallest %.3g s\n",
                  "steps", s.steps, step->step, step->order, s.substeps, s.halvings,
                  s.stepSmallest);
    (void)fprintf(file,
                  "  %-18s%d, %d springs, %d mechanisms; %d conditions, %d of them redundant\n",
                  "joints", info->jointCount, info->springCount, s.mechanismCount, s.rowCount,
                  s.redundantRows);
    (void)fprintf(file,
                  "  %-18s%s, method %s; iterations a sub-step %.3g (position, at most %d), %.3g "
                  "(velocity); %" PRId64 " factorizations\n",
                  "solver", rbSolverType_Name(step->solver), rbStepMethod_Name(step->method),
                  divide(s.positionIterations, s.substeps), s.iterationsMost,
                  divide(s.velocityIterations, s.substeps), s.factorizations);
    (void)fprintf(file, "  %-18slargest %.3g m, %.3g rad", "joint error", s.positionErrorMax,
                  s.angleErrorMax);
    if (worst != NULL) {
        (void)fprintf(file, " (joint \"%s\")", worst);
    }
    (void)fprintf(file, ", asked %g: ", rbGetJointTolerance(info));
    if (s.unmetSteps > 0) {
        (void)fprintf(file, "missed in %" PRId64 " steps", s.unmetSteps);
    } else {
        (void)fprintf(file, "met");
    }
    if (s.assemblingSteps > 0) {
        (void)fprintf(file, "; joints were apart and pulled together in %" PRId64 " steps",
                      s.assemblingSteps);
    }
    if (s.singularSteps > 0) {
        (void)fprintf(file, "; %" PRId64 " steps beside a singular position", s.singularSteps);
    }
    (void)fputc('\n', file);
    printAccuracy(info, &s, file);
    (void)fprintf(file,
                  "  %-18smotors %.6g J, damping and friction %.6g J; in springs %.6g J at the "
                  "start, %.6g J at the end\n",
                  "energy by cause", b->motorWork, b->dissipation, tally->start.springEnergy,
                  b->springEnergy);
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
    rbJson_Integer(json, "singularSteps", s.singularSteps);
    rbJson_Integer(json, "mechanisms", s.mechanismCount);
    rbJson_Integer(json, "rows", s.rowCount);
    rbJson_Integer(json, "redundantRows", s.redundantRows);
    rbJson_Integer(json, "iterationsMost", s.iterationsMost);
    rbJson_Number(json, "tolerance", rbGetJointTolerance(info));
    rbJson_Number(json, "positionErrorMax", s.positionErrorMax);
    rbJson_Number(json, "angleErrorMax", s.angleErrorMax);
    rbJson_Number(json, "velocityErrorMax", s.velocityErrorMax);
    rbJson_Text(json, "worstJoint", getWorstJoint(world, &s));
    rbJson_Number(json, "accuracy", step->accuracy);
    rbJson_Number(json, "horizon", step->horizon);
    rbJson_Number(json, "accuracyEstimate", s.accuracyEstimate);
    rbJson_Number(json, "stepSmallest", s.stepSmallest);
    rbJson_End(json);
}
