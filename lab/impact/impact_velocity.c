// Sliding over the normal velocity and the normal work (L-95), the parameters of the original
// publication.
//
// In compression u_z runs to 0; its rate f = du_z/dp_z must be positive at every step. The work
// cannot start at u_z = 0, where its rate is zero, so a bridge in u_z leads to a speed that is
// certain not to overshoot; from there the work runs to its goal. Newton's goal is a velocity and
// Poisson's an impulse: the first stays in u_z, the second returns to the impulse. So does
// everything near a stop, where the direction turns too fast for these parameters, and wherever f
// is small: the caller then uses a piece of impact.c and tries again.
#include "dynamics/impact/impact_path.h"
#include "lab/math/ode_integrate.h"

#include <rattleback/lab_impact.h>

#include <math.h>

#define ODE_TOLERANCE 1e-14
#define LEAST_RATE 0.05  // of f, in units of K33
#define LEAST_SPEED 0.05 // of |u_t|, in units of its value where the run began

// Unknowns.
enum {
    UNKNOWN_X,
    UNKNOWN_Y,
    UNKNOWN_Z,
    UNKNOWN_WORK,
    UNKNOWN_PX,
    UNKNOWN_PY,
    UNKNOWN_PZ,
    UNKNOWN_FRICTION,
    UNKNOWN_COUNT
};

typedef struct Run {
    const rbImpactPath* path;
    double speedMin;
    bool isByWork;
} Run;

static rbSlip measureAt(const Run* run, const double* x)
{
    rbImpactPath at = *run->path;
    at.x = x[UNKNOWN_X];
    at.y = x[UNKNOWN_Y];
    return rbMeasureSlip(&at);
}

static void differentiate(double t, const double* x, double* derivative, void* context)
{
    const Run* run = context;
    const rbSym3* k = &run->path->k;
    double mu = run->path->mu;
    rbSlip slip = measureAt(run, x);
    double z = run->isByWork ? x[UNKNOWN_Z] : t;
    // dp_z over the parameter.
    double rate = 1.0 / (run->isByWork ? z : slip.f);
    double c = slip.cosine;
    double s = slip.sine;
    derivative[UNKNOWN_X] = rate * (k->xz - mu * (k->xx * c + k->xy * s));
    derivative[UNKNOWN_Y] = rate * (k->yz - mu * (k->xy * c + k->yy * s));
    derivative[UNKNOWN_Z] = run->isByWork ? rate * slip.f : 1.0;
    derivative[UNKNOWN_WORK] = run->isByWork ? 1.0 : rate * z;
    derivative[UNKNOWN_PX] = -rate * mu * c;
    derivative[UNKNOWN_PY] = -rate * mu * s;
    derivative[UNKNOWN_PZ] = rate;
    derivative[UNKNOWN_FRICTION] = -rate * mu * slip.speed;
}

static bool serves(const Run* run, const rbSlip* slip)
{
    return slip->speed > run->speedMin && slip->f > LEAST_RATE * run->path->k.zz;
}

static bool mayGoOn(double t, double* x, void* context)
{
    (void)t;
    const Run* run = context;
    rbSlip slip = measureAt(run, x);
    return serves(run, &slip);
}

// Runs from the current value of the parameter to end, or as far as it is suitable. Returns whether
// the end was reached.
static bool runTo(rbImpactPath* path, Run* run, double end)
{
    double x[UNKNOWN_COUNT] = {path->x,  path->y,  path->z,  path->work,
                               path->px, path->py, path->pz, path->frictionWork};
    double start = run->isByWork ? path->work : path->z;
    rbOdeSystem system = {UNKNOWN_COUNT, differentiate, run};
    rbOdeOptions options = rbDefaultOdeOptions();
    double size = path->startSpeed + fabs(path->x) + fabs(path->y);
    double impulse = size / path->k.zz;
    double scales[UNKNOWN_COUNT] = {size,    size,    size,    size * impulse,
                                    impulse, impulse, impulse, size * impulse};
    for (int i = 0; i < UNKNOWN_COUNT; ++i) {
        scales[i] *= ODE_TOLERANCE;
    }
    options.relativeTolerance = ODE_TOLERANCE;
    options.componentTolerance = scales;
    options.firstStep = 0.01 * (end - start);
    options.maxSteps = 20000;
    options.afterStep = mayGoOn;
    options.callbackContext = run;
    rbOdeResult result = rbOde_Integrate(&system, start, end, x, &options);
    path->x = x[UNKNOWN_X];
    path->y = x[UNKNOWN_Y];
    path->z = run->isByWork ? x[UNKNOWN_Z] : result.t;
    path->work = run->isByWork ? result.t : x[UNKNOWN_WORK];
    path->px = x[UNKNOWN_PX];
    path->py = x[UNKNOWN_PY];
    path->pz = x[UNKNOWN_PZ];
    path->frictionWork = x[UNKNOWN_FRICTION];
    path->steps += result.steps;
    return result.end == RB_ODE_REACHED || result.t == end;
}

// The speed up to which u_z may be used before the work, 0 if there is none.
static double getBridge(const rbImpactPath* path)
{
    const rbSym3* k = &path->k;
    double least = k->zz - path->mu * sqrt(k->xz * k->xz + k->yz * k->yz);
    return least > 0.0 && path->goal > 0.0 ? sqrt(2.0 * path->goal * least) : 0.0;
}

static bool walkByVelocity(rbImpactPath* path, const rbSlip* slip)
{
    RB_ASSERT(path->mode != RB_MODE_DONE);
    Run run = {.path = path, .speedMin = LEAST_SPEED * slip->speed};
    // Near a stop: the remaining speed would take an arbitrary direction.
    bool isFast = slip->speed > 1e-3 * (path->startSpeed + path->mu * path->k.xx * path->pz);
    if (!isFast || !serves(&run, slip) || path->quantity == RB_QUANTITY_IMPULSE) {
        return false;
    }
    double end = path->goal;
    if (path->quantity == RB_QUANTITY_WORK) {
        double bridge = getBridge(path);
        if (bridge == 0.0) {
            return false;
        }
        run.isByWork = path->z >= bridge;
        end = run.isByWork ? path->goal : bridge;
    }
    rbImpactPath before = *path;
    run.path = &before;
    bool isReached = runTo(path, &run, end);
    if (isReached && (path->quantity == RB_QUANTITY_VELOCITY || run.isByWork)) {
        rbImpactPath_PassGoal(path);
    }
    return path->pz > before.pz;
}

const rbSlideMethod* rbGetSlideByVelocity(void)
{
    static const rbSlideMethod method = {walkByVelocity};
    return &method;
}
