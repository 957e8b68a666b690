#include "lab/math/ode_integrate.h"

#include "base/math/elementary.h"

#include <rattleback/base.h>

#include <math.h>
#include <string.h>

#define GROWTH_MAX 5.0   // of a step: more is overshoot after a lucky error estimate
#define SHRINK_MAX 10.0  // of a step: less would waste evaluations while shrinking
#define SAFETY 0.9       // aims a little below the tolerance, so that most steps are accepted
#define END_STRETCH 1.01 // a last step may be this much longer, to avoid a sliver after it

const rbOdeMethod* rbFindOdeMethod(const char* name)
{
    RB_ASSERT(name != NULL);
    int i = 0;
    while (rbGetOdeMethod(i) != NULL && strcmp(rbGetOdeMethod(i)->name, name) != 0) {
        ++i;
    }
    return rbGetOdeMethod(i);
}

rbOdeOptions rbDefaultOdeOptions(void)
{
    rbOdeOptions options = {0};
    options.method = rbFindOdeMethod("cash-karp");
    options.relativeTolerance = 1e-9;
    options.absoluteTolerance = 1e-9;
    options.firstStep = 1e-3;
    options.maxSteps = 1000000;
    return options;
}

// Largest error of a component in units of its tolerance; infinite when a value is not finite.
static double worstRatio(const rbOdeOptions* options, const double* x, const rbOdeStepResult* step,
                         int count)
{
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        double size = fabs(x[i]) > fabs(step->x[i]) ? fabs(x[i]) : fabs(step->x[i]);
        double absolute = options->componentTolerance != NULL ? options->componentTolerance[i]
                                                              : options->absoluteTolerance;
        double scale = absolute + options->relativeTolerance * size;
        if (!isfinite(step->x[i]) || !isfinite(step->error[i])) {
            return (double)INFINITY;
        }
        double error = fabs(step->error[i]);
        if (error > 0.0) {
            double ratio = scale > 0.0 ? error / scale : (double)INFINITY;
            worst = ratio > worst ? ratio : worst;
        }
    }
    return worst;
}

// Factor from this step to the next. The exponents are 1/5 when accepted and 1/4 when rejected.
static double stepFactor(double ratio)
{
    if (ratio <= 1.0) {
        double factor = ratio > 0.0 ? SAFETY * rbExp(-0.2 * rbLog(ratio)) : GROWTH_MAX;
        return factor < GROWTH_MAX ? factor : GROWTH_MAX;
    }
    double factor = SAFETY / sqrt(sqrt(ratio));
    return factor > 1.0 / SHRINK_MAX ? factor : 1.0 / SHRINK_MAX;
}

// Accepts a step; false when the callback requests a stop.
static bool accept(const rbOdeOptions* options, const rbOdeStepResult* step, double* x, int count,
                   rbOdeResult* result)
{
    memcpy(x, step->x, (size_t)count * sizeof *x);
    result->steps += 1;
    if (options->afterStep != NULL && !options->afterStep(result->t, x, options->callbackContext)) {
        result->end = RB_ODE_STOPPED;
        return false;
    }
    return true;
}

static rbOdeResult integrateFixed(const rbOdeSystem* system, double t0, double t1, double* x,
                                  const rbOdeOptions* options)
{
    rbOdeResult result = {RB_ODE_REACHED, t0, 0.0, options->firstStep, 0, 0};
    // Equal steps; a quotient that is an integer up to rounding does not cost an extra step.
    double wanted = floor(fabs(t1 - t0) / fabs(options->firstStep) * (1.0 - 1e-12)) + 1.0;
    double h = (t1 - t0) / wanted;
    rbOdeStepResult step;
    while (result.t != t1) {
        if (result.steps >= options->maxSteps) {
            result.end = RB_ODE_TOO_MANY;
            break;
        }
        rbOde_Step(options->method, system, result.t, h, x, &step);
        double taken = (double)result.steps + 1.0;
        result.t = taken < wanted ? t0 + taken * h : t1;
        result.lastStep = h;
        if (!accept(options, &step, x, system->count, &result)) {
            break;
        }
    }
    return result;
}

static rbOdeResult integrateAdaptive(const rbOdeSystem* system, double t0, double t1, double* x,
                                     const rbOdeOptions* options)
{
    double h = copysign(options->firstStep, t1 - t0);
    rbOdeResult result = {RB_ODE_REACHED, t0, 0.0, h, 0, 0};
    rbOdeStepResult step;
    while (result.t != t1) {
        if (result.steps + result.rejected >= options->maxSteps) {
            result.end = RB_ODE_TOO_MANY;
            break;
        }
        bool isLast = fabs(t1 - result.t) <= END_STRETCH * fabs(h);
        double taken = isLast ? t1 - result.t : h;
        if (!isLast && (fabs(h) < options->minStep || result.t + h == result.t)) {
            result.end = RB_ODE_TOO_SMALL;
            break;
        }
        rbOde_Step(options->method, system, result.t, taken, x, &step);
        double ratio = worstRatio(options, x, &step, system->count);
        double proposed = taken * stepFactor(ratio);
        if (ratio > 1.0) {
            result.rejected += 1;
            h = proposed;
            result.nextStep = h;
            continue;
        }
        // A step cut short by the end must not make the next one short.
        h = isLast && fabs(proposed) < fabs(h) ? h : proposed;
        result.t = isLast ? t1 : result.t + taken;
        result.lastStep = taken;
        result.nextStep = h;
        if (!accept(options, &step, x, system->count, &result)) {
            break;
        }
    }
    return result;
}

rbOdeResult rbOde_Integrate(const rbOdeSystem* system, double t0, double t1, double* x,
                            const rbOdeOptions* options)
{
    RB_ASSERT(system != NULL && options != NULL && x != NULL);
    RB_ASSERT(system->function != NULL);
    RB_ASSERT(options->method != NULL);
    RB_ASSERT(options->maxSteps > 0);
    RB_ASSERT(0 < system->count && system->count <= RB_ODE_UNKNOWNS_MAX);
    RB_ASSERT(isfinite(t0) && isfinite(t1));
    RB_ASSERT(options->firstStep > 0.0 && options->firstStep >= options->minStep);
    RB_ASSERT(options->relativeTolerance >= 0.0 && options->absoluteTolerance >= 0.0);
    if (t0 == t1) {
        return (rbOdeResult){RB_ODE_REACHED, t0, 0.0, options->firstStep, 0, 0};
    }
    return options->method->hasErrorEstimate ? integrateAdaptive(system, t0, t1, x, options)
                                             : integrateFixed(system, t0, t1, x, options);
}
