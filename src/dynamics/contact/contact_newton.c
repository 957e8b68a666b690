// Contacts of an island solved simultaneously, see contact_newton.h.
#include "base/math/dot.h"
#include "dynamics/contact/contact_newton_state.h"

#include <string.h>

// ------------------------------------------------------------------------------------------ limits

// r of a point, relative to its effective mass: soft at first, to find the points that carry load,
// then ten times as stiff every round.
#define STIFFNESS_FIRST 1e3
#define STIFFNESS_GROWTH 10.0
#define STIFFNESS 1e6
#define ROUNDS_MAX 48
// Islands of more bodies are given up after this many and this much work; those that succeed take
// 10 to 60, 252 bricks from a cold start 155. Without the first, cubes on terrain spend 15 s in a
// step. Others too where this many tolerances are left: bodies that cannot be parted as fast as
// asked take 1500 in each stage, for nothing.
#define BODIES_MANY 16
#define FAR 1000.0
#define FACTORIZATIONS_MAX 400
#define WORK_MAX 4e6 // products of blocks
// It continues to this fraction of the tolerance: errors of many bodies add up.
#define GOAL_PART 0.01
#define GOAL_MOVING 0.5
// Within the tolerance a round must bring the error below this fraction of it to go on.
#define STALLED 0.5
#define NEWTON_MAX 30
// Those that succeed take 2 to 8.
#define COUPLED_MAX 12
// m/s: impulses are r times the velocity residuals, so these must be exact.
#define MOVED_LEAST 1e-10
#define BISECTIONS_MAX 40
// Fraction of a change without effect.
#define HALVINGS_MAX 12
// Held discs approach the radii that friction asks for by this fraction of the difference. The
// whole of it oscillates where bodies jam; mixing with the radii of the last rounds (Anderson), and
// no coupled attempts after ten failures, met 3951 of 4000 random islands, this 3970.
#define DISC_PART 0.7
// The residual may grow to this many times the first.
#define GROWTH 100.0
#define DOF RB_BLOCK

rbContactNewton* rbCreateContactNewton(void)
{
    return rbAllocZero(1, sizeof(rbContactNewton));
}

void rbDestroyContactNewton(rbContactNewton* newton)
{
    if (newton == NULL) {
        return;
    }
    rbArray_FreeAll(newton->points, newton->hybridPoints, newton->links);
    rbArray_FreeAll(newton->locals1, newton->bodies);
    rbBlockMatrix_Free(&newton->matrix);
    rbArray_FreeAll(newton->masses, newton->vectors);
    rbFree(newton, sizeof *newton);
}

// ------------------------------------------------------------------------------------- line search

// The line search ends where the slope is below this fraction of the first one.
#define SLOPE_PART 0.1

// Slope along the change at a part of it, from the trial there.
static double slopeAt(rbContactNewton* newton, double part, rbNewtonEvaluateFn* evaluate,
                      void* context)
{
    int n = DOF * newton->bodies.count;
    for (int k = 0; k < n; ++k) {
        newton->trial[k] = newton->velocities[k] + part * newton->change[k];
    }
    evaluate(context, newton->trial);
    return -rbDotArrays(newton->residual, newton->change, (size_t)n);
}

// Moves to the trial at a part of the change. Returns how far it moved.
static double accept(rbContactNewton* newton, double part)
{
    int n = DOF * newton->bodies.count;
    double moved = 0.0;
    for (int k = 0; k < n; ++k) {
        moved = fmax(moved, part * fabs(newton->change[k]));
    }
    rbNewton_Copy(newton, newton->velocities, newton->trial);
    return moved;
}

// Moves to where the slope along the change vanishes: beyond it points that close or begin to slide
// would throw it back. The function is convex, so bisection finds it. Returns how far it moved.
static double goDown(rbContactNewton* newton, int bisectionsMax, rbNewtonEvaluateFn* evaluate,
                     void* context)
{
    int n = DOF * newton->bodies.count;
    double first = fabs(rbDotArrays(newton->residual, newton->change, (size_t)n));
    double low = 0.0;
    double high = 1.0;
    double part = 1.0;
    double slope = slopeAt(newton, part, evaluate, context);
    for (int k = 0; k < bisectionsMax && fabs(slope) > SLOPE_PART * first; ++k) {
        if (slope <= 0.0 && part >= 1.0) {
            break;
        }
        *(slope > 0.0 ? &high : &low) = part;
        part = 0.5 * (low + high);
        slope = slopeAt(newton, part, evaluate, context);
    }
    return accept(newton, part);
}

bool rbNewton_Minimize(rbContactNewton* newton, const rbNewtonSearch* search,
                       rbNewtonEvaluateFn* evaluate, void* context, int* rounds)
{
    double moved = INFINITY;
    for (int k = 0; k < search->changesMax && moved > search->least; ++k) {
        rbPoll();
        if (!rbNewton_FindChange(newton, rounds)) {
            return false;
        }
        moved = goDown(newton, search->bisectionsMax, evaluate, context);
    }
    return true;
}

// ------------------------------------------------------------------------------------- evaluation

// w of a row with velocities of the island; other bodies keep theirs.
static double rateOf(const rbContactNewton* newton, const rbNewtonPoint* p, int row,
                     const double* velocities)
{
    double sum = p->bias[row];
    const int hosts[2] = {p->contact->bodyA, p->contact->bodyB};
    for (int side = 0; side < 2; ++side) {
        const double* part = p->rows[row] + 6 * (size_t)side;
        for (int k = 0; p->locals[side] >= 0 && k < DOF; ++k) {
            sum += part[k] * velocities[DOF * p->locals[side] + k];
        }
        if (p->locals[side] < 0) {
            sum += rbNewton_RateOfHost(&newton->run->bodies[hosts[side]], part);
        }
    }
    return sum;
}

// x = proj(held - r w).
static void projectPoint(const rbContactNewton* newton, rbNewtonPoint* p, const double* velocities)
{
    double w[3];
    for (int row = 0; row < 3; ++row) {
        w[row] = rateOf(newton, p, row, velocities);
    }
    double normal = p->held[0] - p->r[0] * w[0];
    p->x[0] = normal > 0.0 ? normal : 0.0;
    p->d[0] = normal > 0.0 ? p->r[0] : 0.0;
    p->radius = newton->isCoupled ? p->friction * p->x[0] : p->disc;
    double t[2] = {p->held[1] - p->r[1] * w[1], p->held[2] - p->r[1] * w[2]};
    double length = sqrt(t[0] * t[0] + t[1] * t[1]);
    if (length <= p->radius) {
        p->x[1] = t[0];
        p->x[2] = t[1];
        p->slide[0] = 0.0;
        p->slide[1] = 0.0;
        p->d[1] = p->r[1];
    } else {
        p->slide[0] = t[0] / length;
        p->slide[1] = t[1] / length;
        p->x[1] = p->radius * p->slide[0];
        p->x[2] = p->radius * p->slide[1];
        p->d[1] = p->r[1] * p->radius / length;
    }
}

static double linkRate(const rbNewtonLink* l, const double* velocities)
{
    double sum = l->link->bias;
    for (int side = 0; side < 2; ++side) {
        if (l->locals[side] >= 0) {
            sum += rbDotArrays(l->link->row + 6 * (size_t)side,
                               velocities + DOF * (size_t)l->locals[side], DOF);
        }
    }
    return sum;
}

// x = held - r (w + compliance (x - start)), within the limits.
static void projectLink(rbNewtonLink* l, const double* velocities)
{
    const rbContactLink* link = l->link;
    double soft = l->r * link->compliance;
    double w = linkRate(l, velocities);
    double x = (l->held - l->r * w + soft * link->impulse) / (1.0 + soft);
    bool isWithin = fabs(x) <= link->most;
    l->x = isWithin ? x : copysign(link->most, x);
    l->d = isWithin ? l->r / (1.0 + soft) : 0.0;
}

static void evaluate(void* context, const double* velocities)
{
    rbContactNewton* newton = context;
    for (int i = 0; i < newton->points.count; ++i) {
        projectPoint(newton, &newton->points.data[i], velocities);
    }
    for (int i = 0; i < newton->links.count; ++i) {
        projectLink(&newton->links.data[i], velocities);
    }
    rbNewton_FindResidual(newton, velocities);
}

// ------------------------------------------------------------------------------------------ rounds

// The minimum for the held impulses and discs.
static bool minimize(rbContactNewton* newton, int* rounds)
{
    newton->isCoupled = false;
    evaluate(newton, newton->velocities);
    rbNewtonSearch search = {NEWTON_MAX, BISECTIONS_MAX, MOVED_LEAST};
    return rbNewton_Minimize(newton, &search, evaluate, newton, rounds);
}

// The residual, as a kinetic energy.
static double missing(const rbContactNewton* newton)
{
    double sum = 0.0;
    for (int i = 0; i < newton->bodies.count; ++i) {
        const rbNewtonMass* m = &newton->masses.data[i];
        const double* r = &newton->residual[DOF * (size_t)i];
        double inertia = m->inertia.xx + m->inertia.yy + m->inertia.zz;
        sum += (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / m->mass +
               3.0 * (r[3] * r[3] + r[4] * r[4] + r[5] * r[5]) / inertia;
    }
    return sum;
}

// The same with discs that follow the normal impulses: then there is no function to minimize.
// The residual may grow for some changes of velocity, since it has kinks; changes that make it too
// large are halved. False: it does not converge.
static bool solveCoupled(rbContactNewton* newton, int* rounds)
{
    newton->isCoupled = true;
    evaluate(newton, newton->velocities);
    double most = GROWTH * missing(newton);
    for (int k = 0; k < COUPLED_MAX; ++k) {
        rbPoll();
        if (!rbNewton_FindChange(newton, rounds)) {
            return false;
        }
        double part = 2.0;
        double now = INFINITY;
        for (int halving = 0; halving < HALVINGS_MAX && !(now < most); ++halving) {
            part *= 0.5;
            (void)slopeAt(newton, part, evaluate, newton);
            now = missing(newton);
        }
        double moved = accept(newton, part);
        if (moved <= MOVED_LEAST || !(now < most)) {
            return moved <= MOVED_LEAST && part == 1.0;
        }
    }
    return false;
}

// One change with the sets of carrying, sticking and sliding points held fixed, whatever the
// result. Where these sets are right, this converges in one step. Where r has grown since they were
// found, the current velocities say nothing about them.
static bool predict(rbContactNewton* newton, int* rounds)
{
    newton->isCoupled = true;
    for (int i = 0; i < newton->points.count; ++i) {
        rbNewtonPoint* p = &newton->points.data[i];
        double w[3];
        for (int row = 0; row < 3; ++row) {
            w[row] = rateOf(newton, p, row, newton->velocities);
        }
        bool isCarrying = p->d[0] > 0.0;
        p->d[0] = isCarrying ? p->r[0] : 0.0;
        p->x[0] = isCarrying ? p->held[0] - p->r[0] * w[0] : 0.0;
        p->radius = p->friction * p->x[0];
        for (int k = 0; k < 2; ++k) {
            double held = p->held[1 + k] - p->r[1] * w[1 + k];
            p->x[1 + k] =
                rbNewtonPoint_IsSliding(p) ? p->radius * p->slide[k] : (isCarrying ? held : 0.0);
        }
        p->d[1] = isCarrying ? p->r[1] * (rbNewtonPoint_IsSliding(p) ? p->turned : 1.0) : 0.0;
    }
    for (int i = 0; i < newton->links.count; ++i) {
        projectLink(&newton->links.data[i], newton->velocities);
    }
    rbNewton_FindResidual(newton, newton->velocities);
    if (!rbNewton_FindChange(newton, rounds)) {
        return false;
    }
    for (int k = 0; k < DOF * newton->bodies.count; ++k) {
        newton->velocities[k] += newton->change[k];
    }
    return true;
}

static double coefficientOf(const rbNewtonPoint* p)
{
    return rbNewtonPoint_IsSliding(p) ? p->sliding : p->sticking;
}

static void beginRound(rbContactNewton* newton, double stiffness)
{
    for (int i = 0; i < newton->links.count; ++i) {
        newton->links.data[i].r = stiffness * newton->links.data[i].mass;
    }
    for (int i = 0; i < newton->points.count; ++i) {
        rbNewtonPoint* p = &newton->points.data[i];
        p->turned = p->r[1] > 0.0 ? p->d[1] / p->r[1] : 1.0;
        p->r[0] = stiffness * p->mass[0];
        p->r[1] = stiffness * p->mass[1];
        p->friction = coefficientOf(p);
    }
}

// Velocities exactly as the impulses produce them, into trial.
static void makeVelocities(rbContactNewton* newton)
{
    rbNewton_FindResidual(newton, newton->velocities);
    for (int i = 0; i < newton->bodies.count; ++i) {
        double change[DOF];
        rbNewton_Move(&newton->run->bodies[newton->bodies.data[i]],
                      &newton->residual[DOF * (size_t)i], change);
        for (int k = 0; k < DOF; ++k) {
            newton->trial[DOF * i + k] = newton->velocities[DOF * i + k] + change[k];
        }
    }
}

// Largest violation, m/s.
static double violation(rbContactNewton* newton)
{
    double most = 0.0;
    makeVelocities(newton);
    for (int i = 0; i < newton->points.count; ++i) {
        const rbNewtonPoint* p = &newton->points.data[i];
        const double* v = newton->trial;
        double w = rateOf(newton, p, 0, v);
        double t1 = rateOf(newton, p, 1, v);
        double t2 = rateOf(newton, p, 2, v);
        double length = sqrt(p->x[1] * p->x[1] + p->x[2] * p->x[2]);
        most = fmax(most, p->x[0] > 0.0 ? fabs(w) : -w);
        if (!rbNewtonPoint_IsSliding(p) && p->x[0] > 0.0) {
            most = fmax(most, fmax(fabs(t1), fabs(t2)));
        }
        if (rbNewtonPoint_IsSliding(p) && p->x[0] > 0.0) {
            // The disc was that of the last round: friction that is missing now is an error.
            double slip = sqrt(t1 * t1 + t2 * t2);
            double missing = (p->sliding * p->x[0] - length) / p->mass[1];
            most = fmax(most, fmin(slip, missing));
            // It acts against the direction of sliding: the component across, of the speed or the
            // impulse.
            double along = t1 * p->slide[0] + t2 * p->slide[1];
            double across = along > 0.0 ? slip : fabs(t1 * p->slide[1] - t2 * p->slide[0]);
            double part = slip > 0.0 ? across / slip : 0.0;
            most = fmax(most, fmin(across, part * length / p->mass[1]));
        }
        // The disc is that of the last round.
        most = fmax(most, (length - p->sticking * p->x[0]) / p->mass[1]);
    }
    for (int i = 0; i < newton->links.count; ++i) {
        const rbNewtonLink* l = &newton->links.data[i];
        double w = linkRate(l, newton->trial) + l->link->compliance * (l->x - l->link->impulse);
        // At a limit it may move on in the direction of the push.
        bool isHeld = fabs(l->x) >= l->link->most && w * l->x <= 0.0;
        most = fmax(most, isHeld ? 0.0 : fabs(w));
    }
    return most;
}

// The normal impulses of the contact's points now carry its rolling resistance.
static void carryTurns(rbContactNewton* newton)
{
    for (int i = 0; i < newton->points.count; ++i) {
        rbNewtonPoint* p = &newton->points.data[i];
        if (p->point == NULL) {
            double sum = 0.0;
            for (int k = p->first; k < p->first + p->count; ++k) {
                sum += newton->points.data[k].x[0];
            }
            p->held[0] = sum;
            p->x[0] = sum;
        }
    }
}

// One round: with discs that follow the normal impulses where that succeeds, otherwise with held
// discs.
static bool solveRound(rbContactNewton* newton, bool isSoft, int* rounds)
{
    if (newton->isKnown && !predict(newton, rounds)) {
        return false;
    }
    newton->isKnown = true;
    rbNewton_Copy(newton, newton->kept, newton->velocities);
    if (solveCoupled(newton, rounds)) {
        rbNewton_Hold(newton);
        carryTurns(newton);
        for (int i = 0; i < newton->points.count; ++i) {
            newton->points.data[i].disc = newton->points.data[i].radius;
        }
        return true;
    }
    rbNewton_Copy(newton, newton->velocities, newton->kept);
    if (!minimize(newton, rounds)) {
        return false;
    }
    rbNewton_Hold(newton);
    carryTurns(newton);
    for (int i = 0; i < newton->points.count; ++i) {
        rbNewtonPoint* p = &newton->points.data[i];
        // where it is soft, the present radii are rough
        double part = isSoft ? 1.0 : DISC_PART;
        p->disc += part * (coefficientOf(p) * p->x[0] - p->disc);
    }
    return true;
}

// The first guess: velocities as its impulses produce them, and the sets that carry, stick and
// slide.
static void beginGuess(rbContactNewton* newton)
{
    for (int i = 0; i < newton->points.count; ++i) {
        rbNewtonPoint* p = &newton->points.data[i];
        double length = sqrt(p->held[1] * p->held[1] + p->held[2] * p->held[2]);
        bool isFree = p->held[0] > 0.0 && p->point != NULL && !p->point->isSticking && length > 0.0;
        memcpy(p->x, p->held, sizeof p->x);
        p->r[1] = 0.0;
        p->d[0] = p->held[0] > 0.0 ? 1.0 : 0.0;
        p->slide[0] = isFree ? p->held[1] / length : 0.0;
        p->slide[1] = isFree ? p->held[2] / length : 0.0;
        p->disc = coefficientOf(p) * p->held[0];
    }
    for (int i = 0; i < newton->links.count; ++i) {
        newton->links.data[i].x = newton->links.data[i].held;
    }
    makeVelocities(newton);
    rbNewton_Copy(newton, newton->velocities, newton->trial);
}

double rbContactNewton_Solve(rbContactNewton* newton, const rbContactRun* run,
                             const rbNewtonTask* task, int* rounds)
{
    double left = INFINITY;
    int begun = *rounds;
    RB_ASSERT(task->tolerance > 0.0 && task->known >= 0.0 && task->partSpeed >= 0.0);
    RB_ASSERT(task->linkCount == 0 || task->links != NULL);
    RB_ASSERT(run->h > 0.0 || !task->isOfPositions);
    newton->acted = task->isOfPositions && !run->isContinued ? 0.0 : 1.0;
    newton->guessed = task->isOfPositions || run->isContinued ? 1.0 : 2.0;
    if (rbNewton_Begin(newton, run, task)) {
        double stiffness = STIFFNESS_FIRST;
        double usedMax =
            fmin(FACTORIZATIONS_MAX, WORK_MAX / rbBlockMatrix_GetWork(&newton->matrix));
        double far = newton->bodies.count > BODIES_MANY ? task->tolerance : FAR * task->tolerance;
        beginGuess(newton);
        newton->isKnown = !run->isContinued;
        double goal = (task->isMoving ? GOAL_MOVING : GOAL_PART) * task->tolerance;
        for (int round = 0; round < ROUNDS_MAX && left > goal; ++round) {
            rbPoll();
            beginRound(newton, stiffness);
            if (!solveRound(newton, stiffness < STIFFNESS, rounds)) {
                break;
            }
            stiffness = fmin(STIFFNESS, STIFFNESS_GROWTH * stiffness);
            double last = left;
            left = violation(newton);
            bool isStalled = left <= task->tolerance && left > STALLED * last;
            if (isStalled || (left > far && *rounds - begun > usedMax)) {
                break;
            }
        }
        if (left < task->known) {
            rbNewton_Apply(newton);
        }
    }
    rbNewton_Forget(newton);
    return fmin(left, task->known);
}
