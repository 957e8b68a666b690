#include "cli/mechanisms.h"

#include "base/core/memory.h"
#include "cli/cli.h"

#include <math.h>
#include <string.h>

#define MOTORS_MAX 200 // checked: each costs a factorization of its mechanism

rbMechanismFacts rbGetMechanismFacts(const rbSceneInfo* info, const rbWorld* world)
{
    rbMechanismFacts facts = {.mechanisms = rbWorld_GetStepStatistics(world).mechanismCount,
                              .conditions = info->conditionCount,
                              .redundant = rbWorld_CountRedundantConditions(world),
                              .freedoms = 6 * info->dynamicCount};
    facts.left = facts.freedoms - facts.conditions + facts.redundant;
    return facts;
}

void rbDescribeMechanisms(const rbMechanismFacts* facts, const rbSceneInfo* info, char* text,
                          size_t capacity)
{
    (void)snprintf(text, capacity, "%d joint%s, %d spring%s in %d mechanism%s; %d condition%s",
                   info->jointCount, rbPlural(info->jointCount), info->springCount,
                   rbPlural(info->springCount), facts->mechanisms, rbPlural(facts->mechanisms),
                   facts->conditions, rbPlural(facts->conditions));
    size_t length = strlen(text);
    if (facts->conditions > 0 && facts->redundant > 0) {
        (void)snprintf(text + length, capacity - length, ", of which %d redundant",
                       facts->redundant);
    } else if (facts->conditions > 0) {
        (void)snprintf(text + length, capacity - length, ", none redundant");
    }
}

// Slightly less than a bound, rounded to two digits, for advice.
static double roundDown(double value)
{
    double unit = pow(10.0, floor(log10(value)) - 1.0);
    return floor(value / unit * (1.0 + 1e-12)) * unit;
}

// An oscillation that grows by less than this, in e-foldings over the whole run, is not visible.
#define FOLDINGS_SEEN 1.0
// Steps that are shorter by more than this are not suggested.
#define STEP_ADVISED 0.01

static void validateMotor(const rbSceneInfo* info, const char* name, const rbMotorValidation* j,
                          rbMotorWarnings* warnings)
{
    char* text = warnings->texts[warnings->count];
    if (j->type != RB_MOTOR_NONE && isinf(j->mass)) {
        (void)snprintf(text, RB_MOTOR_WARNING_SIZE,
                       "joint \"%s\": the other joints block the motion of its %s motor at the "
                       "start; remove one "
                       "of them, or the motor",
                       name, rbMotorType_Name(j->type));
        ++warnings->count;
    } else if (j->gain > j->gainMax) {
        // Half of the bound settles in a step or two.
        int length =
            snprintf(text, RB_MOTOR_WARNING_SIZE,
                     "joint \"%s\": the gain %g of its %s motor%s is too large for steps of %g "
                     "s: it overshoots more with every step; use a gain of at most "
                     "%g",
                     name, j->gain, rbMotorType_Name(j->type),
                     j->derivativeTime > 0.0 ? ", with its derivativeTime," : "", info->step.step,
                     roundDown(0.5 * j->gainMax));
        if (j->stepMax > STEP_ADVISED * info->step.step && length > 0 &&
            length < RB_MOTOR_WARNING_SIZE) {
            double step = roundDown(0.5 * j->stepMax);
            (void)snprintf(text + length, (size_t)(RB_MOTOR_WARNING_SIZE - length),
                           ", or steps of at most %g s (--set step.step=%g)", step, step);
        }
        ++warnings->count;
    } else if (j->growth * info->duration > FOLDINGS_SEEN) {
        (void)snprintf(text, RB_MOTOR_WARNING_SIZE,
                       "joint \"%s\": its position motor acts half a step late, so its oscillation "
                       "grows by a factor of e every %.2g s unless damped; use a derivativeTime "
                       "of at least %.2g s, a damping of at least %.2g, or a smaller step.step",
                       name, 1.0 / j->growth, j->derivativeTimeMin,
                       0.5 * j->gain * info->step.step);
        ++warnings->count;
    }
}

void rbValidateMotors(const rbSceneInfo* info, const rbWorld* world, rbMotorWarnings* warnings)
{
    int count = rbWorld_GetJointCount(world);
    int checked = 0;
    warnings->count = 0;
    warnings->hasSampled = false;
    rbJointId* ids = rbAlloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetJointIds(world, ids, count);
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < RB_JOINT_FREEDOMS_MAX; ++k) {
            if (checked >= MOTORS_MAX || warnings->count >= RB_MOTOR_WARNINGS_MAX) {
                break;
            }
            rbMotorValidation judgment = rbJoint_ValidateMotor(world, ids[i], k);
            checked += judgment.type != RB_MOTOR_NONE ? 1 : 0;
            warnings->hasSampled = warnings->hasSampled || (judgment.type != RB_MOTOR_NONE &&
                                                            judgment.type != RB_MOTOR_VELOCITY);
            validateMotor(info, rbJoint_GetName(world, ids[i]), &judgment, warnings);
        }
    }
    rbFree(ids, (size_t)count * sizeof *ids);
}
