// Islands of many contacts that strike or jam: sweeps and Newton's method in turn.
//
// Sweeps find out which points open, stick and slide, but some motions they hardly change: jammed
// chains, a body wedged among others. Newton's method solves these at once, but only from sets that
// are nearly right. So, from the impulses x that sweeps left, with w = J v + b,
//   coupled   the sets of x - w / k (k: the mobility of the point, as a sweep would choose them)
//             are held and the linear equations solved, discs of friction following the normals;
//   convex    if that does not lower the residual: all discs are held, and the minimum of the
//             convex function of contact_newton.h is found for them; then sweeps adapt the discs,
// until the residual is within the tolerance or a limit of work is reached. The residual, the
// change that a sweep with the present velocities would make as an energy, may not grow. Every
// iterate that is measured lies in the cones and has exactly the velocities of its impulses.
//
// Random islands to 1e-8 m/s: it solves 398 of 399, contact_newton.c 393 of 400
// (prop_contact_newton). Where sweeps converge at all they are quicker in heaps of 1000 bodies,
// whose factorization costs 16 ms and more (`bench contacts --only solvers`); so many of them come
// first.
#include "dynamics/contact/contact_newton_state.h"
#include "dynamics/contact/friction_bound.h"
#include "dynamics/impact/impact_law.h"

#include <string.h>

#define DOF RB_BLOCK

// What the method was tuned by: 55 stages of 100 to 900 bodies, dumped from falling piles.
static const struct {
    double coupled; // r of coupled equations, times the mass of the point: with 1e2 to 1e3 jams
                    // take twice the steps or more
    double convex;  // r of convex ones: with 1e5 the minimum takes ten times the factorizations
    double gain;    // residual after a coupled step, relative to before, that counts as progress
    double good;    // and that makes another one worth more than sweeps
    double worst;   // residual after a convex round that is undone
    int halvings;   // of a coupled step
    int newtons;    // factorizations of a convex round; 5 to 15 are common
    int bisections; // of its line search
    int sweeps;     // after a convex round, to adapt the discs
    int rounds;     // of both kinds
    int factorizations; // in total
    double work;        // in total, products of blocks, 0.04 us each, twice that where it slides
} tuning = {1e4, 1e3, 0.9, 0.5, 4.0, 4, 25, 30, 20, 30, 150, 6e6};

// ------------------------------------------------------------------------------------------ points

static double dotRows(const double a[12], const double b[12])
{
    double sum = 0.0;
    for (int k = 0; k < 12; ++k) {
        sum += a[k] * b[k];
    }
    return sum;
}

static void addPoint(rbContactNewton* newton, rbNewtonPoint* p)
{
    rbHybridPoint m = {.k12 = 0.0};
    const rbContactRun* run = newton->run;
    const int hosts[2] = {p->contact->bodyA, p->contact->bodyB};
    for (int row = 0; row < 3; ++row) {
        for (int side = 0; side < 2; ++side) {
            if (rbContactBody_IsMoved(&run->bodies[hosts[side]])) {
                rbNewton_Move(&run->bodies[hosts[side]], p->rows[row] + 6 * (size_t)side,
                              m.moves[row] + 6 * (size_t)side);
            } else {
                p->bias[row] +=
                    rbNewton_RateOfHost(&run->bodies[hosts[side]], p->rows[row] + 6 * (size_t)side);
            }
        }
        m.k[row] = dotRows(p->rows[row], m.moves[row]);
    }
    m.k12 = dotRows(p->rows[1], m.moves[2]);
    m.lambda = rbFindLargest(m.k[1], m.k[2], m.k12);
    memcpy(p->x, p->start, sizeof p->x);
    p->friction = p->sliding;
    if (p->point != NULL) {
        p->friction = rbContactPoint_ChooseFriction(p->point, p->contact, run->set, run->bodies);
    }
    RB_ASSERT(m.k[0] >= 0.0 && m.lambda > 0.0 && p->friction >= 0.0);
    rbArray_Push(newton->hybridPoints, m);
}

static bool begin(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task)
{
    newton->acted = 1.0;
    newton->guessed = 1.0;
    if (!rbNewton_Begin(newton, run, task)) {
        return false;
    }
    newton->hybridPoints.count = 0;
    for (int i = 0; i < newton->points.count; ++i) {
        addPoint(newton, &newton->points.data[i]);
    }
    return newton->points.count > 0;
}

// What velocities of the island contribute to w.
static double partOf(const rbNewtonPoint* p, int row, const double* v)
{
    double sum = 0.0;
    for (int side = 0; side < 2; ++side) {
        if (p->locals[side] >= 0) {
            const double* part = p->rows[row] + 6 * (size_t)side;
            const double* own = v + (size_t)DOF * (size_t)p->locals[side];
            sum += (part[0] * own[0] + part[1] * own[1] + part[2] * own[2]) +
                   (part[3] * own[3] + part[4] * own[4] + part[5] * own[5]);
        }
    }
    return sum;
}

static double rateOf(const rbNewtonPoint* p, int row, const double* v)
{
    return p->bias[row] + partOf(p, row, v);
}

// The normal impulse that bounds the friction of a point.
static double loadOf(const rbContactNewton* newton, const rbNewtonPoint* p)
{
    double sum = 0.0;
    for (int i = p->first; i < p->first + p->count; ++i) {
        sum += newton->points.data[i].x[0];
    }
    return p->count > 0 ? sum : p->x[0];
}

static double radiusOf(const rbContactNewton* newton, const rbNewtonPoint* p)
{
    return p->friction * loadOf(newton, p);
}

// Friction is on the exact cone.
static const rbFrictionBound bound = {.facets = 0};

// --------------------------------------------------------------------------------------- residual

typedef struct Residual {
    double energy; // J, of the changes that all points would make
    double most;   // m/s, the largest of them
} Residual;

static Residual measure(const rbContactNewton* newton)
{
    Residual r = {0};
    const double* v = newton->velocities;
    for (int i = 0; i < newton->points.count; ++i) {
        const rbNewtonPoint* p = &newton->points.data[i];
        const rbHybridPoint* m = &newton->hybridPoints.data[i];
        if (p->count == 0) {
            double normal = p->x[0] - rateOf(p, 0, v) / m->k[0];
            double change = (normal > 0.0 ? normal : 0.0) - p->x[0];
            r.energy += m->k[0] * change * change;
            r.most = fmax(r.most, m->k[0] * fabs(change));
        }
        double t[2] = {p->x[1] - rateOf(p, 1, v) / m->lambda,
                       p->x[2] - rateOf(p, 2, v) / m->lambda};
        (void)rbFrictionBound_Project(&bound, radiusOf(newton, p), t);
        double d1 = t[0] - p->x[1];
        double d2 = t[1] - p->x[2];
        double square = d1 * d1 + d2 * d2;
        r.energy += m->lambda * square;
        r.most = fmax(r.most, m->lambda * sqrt(square));
    }
    return r;
}

// Impulses between the held ones and the target, in their cones, and their velocities.
static Residual take(rbContactNewton* newton, double part)
{
    for (int i = 0; i < newton->points.count; ++i) {
        rbNewtonPoint* p = &newton->points.data[i];
        const double* to = newton->hybridPoints.data[i].target;
        for (int k = 0; k < 3; ++k) {
            p->x[k] = part > 0.0 ? p->held[k] + part * (to[k] - p->held[k]) : p->held[k];
        }
        p->x[0] = p->x[0] > 0.0 ? p->x[0] : 0.0;
        (void)rbFrictionBound_Project(&bound, radiusOf(newton, p), p->x + 1);
    }
    rbNewton_Copy(newton, newton->velocities, newton->starts);
    for (int i = 0; i < newton->points.count; ++i) {
        const rbNewtonPoint* p = &newton->points.data[i];
        for (int k = 0; k < 3; ++k) {
            if (p->x[k] != p->start[k]) {
                rbNewton_AddTo(p->locals, newton->hybridPoints.data[i].moves[k],
                               p->x[k] - p->start[k], newton->velocities);
            }
        }
    }
    return measure(newton);
}

static void setTarget(const rbContactNewton* newton)
{
    for (int i = 0; i < newton->points.count; ++i) {
        memcpy(newton->hybridPoints.data[i].target, newton->points.data[i].x, 3 * sizeof(double));
    }
}

// ----------------------------------------------------------------------------------------- sweeps

static void visit(rbContactNewton* newton, rbNewtonPoint* p, const rbHybridPoint* m)
{
    double* v = newton->velocities;
    if (p->count == 0) {
        double normal = p->x[0] - rateOf(p, 0, v) / m->k[0];
        normal = normal > 0.0 ? normal : 0.0;
        if (normal != p->x[0]) {
            rbNewton_AddTo(p->locals, m->moves[0], normal - p->x[0], v);
        }
        p->x[0] = normal;
    }
    double radius = radiusOf(newton, p);
    if (!(radius > 0.0) && p->x[1] == 0.0 && p->x[2] == 0.0) {
        return;
    }
    double u1 = rateOf(p, 1, v);
    double u2 = rateOf(p, 2, v);
    double det = m->k[1] * m->k[2] - m->k12 * m->k12;
    double t[2] = {p->x[1] - u1 / m->lambda, p->x[2] - u2 / m->lambda};
    if (det > 1e-12 * m->k[1] * m->k[2]) {
        double stuck[2] = {p->x[1] - (m->k[2] * u1 - m->k12 * u2) / det,
                           p->x[2] - (m->k[1] * u2 - m->k12 * u1) / det};
        if (stuck[0] * stuck[0] + stuck[1] * stuck[1] <= radius * radius) {
            memcpy(t, stuck, sizeof t);
        }
    }
    (void)rbFrictionBound_Project(&bound, radius, t);
    rbNewton_AddTo(p->locals, m->moves[1], t[0] - p->x[1], v);
    rbNewton_AddTo(p->locals, m->moves[2], t[1] - p->x[2], v);
    p->x[1] = t[0];
    p->x[2] = t[1];
}

static Residual sweep(rbContactNewton* newton, int count)
{
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < newton->points.count; ++i) {
            visit(newton, &newton->points.data[i], &newton->hybridPoints.data[i]);
        }
    }
    return measure(newton);
}

static double stiffnessOf(const rbHybridPoint* m, double times)
{
    return times / fmax(m->k[0], m->lambda);
}

// ----------------------------------------------------------------------------------- coupled steps

// The set of a point as a sweep would choose it, and its impulse without a change of velocity.
// Returns whether it slides on a rim that follows its normal.
static bool linearize(rbContactNewton* newton, rbNewtonPoint* p, const rbHybridPoint* m)
{
    const double* v = newton->velocities;
    double r = stiffnessOf(m, tuning.coupled);
    double w = rateOf(p, 0, v);
    double load = p->count > 0 ? loadOf(newton, p) : p->held[0] - w / m->k[0];
    memset(p->x, 0, sizeof p->x);
    memset(p->d, 0, sizeof p->d);
    memset(p->slide, 0, sizeof p->slide);
    if (!(load > 0.0)) {
        return false;
    }
    if (p->count == 0) {
        p->x[0] = p->held[0] - r * w;
        p->d[0] = r;
    }
    double u[2] = {rateOf(p, 1, v), rateOf(p, 2, v)};
    double z[2] = {p->held[1] - u[0] / m->lambda, p->held[2] - u[1] / m->lambda};
    double length = sqrt(z[0] * z[0] + z[1] * z[1]);
    double radius = p->friction * load;
    if (length <= radius) {
        p->x[1] = p->held[1] - r * u[0];
        p->x[2] = p->held[2] - r * u[1];
        p->d[1] = r;
        return false;
    }
    // on the rim: it follows the normal, and turns as the velocity across does
    double part = radius / length;
    p->slide[0] = z[0] / length;
    p->slide[1] = z[1] / length;
    p->d[1] = fmin(r, part / (m->lambda * (1.0 - part)));
    double turned = -p->d[1] * (p->slide[0] * u[1] - p->slide[1] * u[0]);
    double rim = p->friction * (p->count > 0 ? load : p->x[0]);
    p->x[1] = rim * p->slide[0] - turned * p->slide[1];
    p->x[2] = rim * p->slide[1] + turned * p->slide[0];
    return p->count == 0 && p->friction > 0.0;
}

// The impulse after the change of velocities.
static void followChange(const rbContactNewton* newton, rbNewtonPoint* p)
{
    double du[3];
    for (int k = 0; k < 3; ++k) {
        du[k] = partOf(p, k, newton->change);
    }
    p->x[0] -= p->d[0] * du[0];
    if (!rbNewtonPoint_IsSliding(p)) {
        p->x[1] -= p->d[1] * du[1];
        p->x[2] -= p->d[1] * du[2];
    } else {
        double rim = -p->friction * p->d[0] * du[0];
        double turned = -p->d[1] * (p->slide[0] * du[2] - p->slide[1] * du[1]);
        p->x[1] += rim * p->slide[0] - turned * p->slide[1];
        p->x[2] += rim * p->slide[1] + turned * p->slide[0];
    }
}

// One step of Newton's method with the present sets, halved until the residual falls. Otherwise the
// impulses stay as they are.
static bool goCoupled(rbContactNewton* newton, Residual* residual, int* rounds)
{
    newton->isCoupled = false;
    rbNewton_Hold(newton);
    // backward: rolling and spinning before the points that carry them
    for (int i = newton->points.count - 1; i >= 0; --i) {
        bool isRim = linearize(newton, &newton->points.data[i], &newton->hybridPoints.data[i]);
        newton->isCoupled = newton->isCoupled || isRim;
    }
    rbNewton_FindResidual(newton, newton->velocities);
    if (rbNewton_FindChange(newton, rounds)) {
        for (int i = 0; i < newton->points.count; ++i) {
            followChange(newton, &newton->points.data[i]);
        }
        setTarget(newton);
        double part = 1.0;
        for (int k = 0; k < tuning.halvings; ++k) {
            Residual now = take(newton, part);
            if (now.energy < tuning.gain * residual->energy) {
                *residual = now;
                return true;
            }
            part *= 0.5;
        }
    }
    *residual = take(newton, 0.0);
    return false;
}

// ----------------------------------------------------------------------------------- convex rounds

// x = proj(held - r w) with held discs.
static void projectPoint(rbNewtonPoint* p, const rbHybridPoint* m, const double* v)
{
    double r = stiffnessOf(m, tuning.convex);
    p->d[0] = 0.0;
    if (p->count == 0) {
        double normal = p->held[0] - r * rateOf(p, 0, v);
        p->x[0] = normal > 0.0 ? normal : 0.0;
        p->d[0] = normal > 0.0 ? r : 0.0;
    }
    double z[2] = {0.0, 0.0};
    if (p->disc > 0.0) {
        z[0] = p->held[1] - r * rateOf(p, 1, v);
        z[1] = p->held[2] - r * rateOf(p, 2, v);
    }
    double length = sqrt(z[0] * z[0] + z[1] * z[1]);
    bool isIn = length <= p->disc;
    double scale = isIn ? 1.0 : p->disc / length;
    p->x[1] = scale * z[0];
    p->x[2] = scale * z[1];
    p->d[1] = p->disc > 0.0 ? r * scale : 0.0;
    p->slide[0] = isIn ? 0.0 : z[0] / length;
    p->slide[1] = isIn ? 0.0 : z[1] / length;
}

// The slope of the convex function at v.
static void evaluate(void* context, const double* v)
{
    rbContactNewton* newton = context;
    for (int i = 0; i < newton->points.count; ++i) {
        projectPoint(&newton->points.data[i], &newton->hybridPoints.data[i], v);
    }
    rbNewton_FindResidual(newton, v);
}

// The minimum with discs of the present normals.
static void minimize(rbContactNewton* newton, double least, int* rounds)
{
    rbNewton_Hold(newton);
    for (int i = 0; i < newton->points.count; ++i) {
        rbNewtonPoint* p = &newton->points.data[i];
        p->disc = radiusOf(newton, p);
    }
    newton->isCoupled = false;
    evaluate(newton, newton->velocities);
    rbNewtonSearch search = {tuning.newtons, tuning.bisections, least};
    (void)rbNewton_Minimize(newton, &search, evaluate, newton, rounds);
    setTarget(newton);
}

// ------------------------------------------------------------------------------------------ result

static void giveResult(rbContactNewton* newton)
{
    const double* v = newton->velocities;
    for (int i = 0; i < newton->points.count; ++i) {
        rbNewtonPoint* p = &newton->points.data[i];
        double lambda = newton->hybridPoints.data[i].lambda;
        double radius = radiusOf(newton, p);
        double z[2] = {p->x[1] - rateOf(p, 1, v) / lambda, p->x[2] - rateOf(p, 2, v) / lambda};
        double length = sqrt(z[0] * z[0] + z[1] * z[1]);
        bool isFree = length > radius;
        p->x[0] = loadOf(newton, p);
        p->slide[0] = isFree ? z[0] / length : 0.0;
        p->slide[1] = isFree ? z[1] / length : 0.0;
    }
    rbNewton_Apply(newton);
}

// Both kinds of steps in turn.
static Residual solveInTurn(rbContactNewton* newton, double tolerance, int* rounds)
{
    Residual residual = measure(newton);
    double work = rbBlockMatrix_GetWork(&newton->matrix);
    double most = *rounds + fmin(tuning.factorizations, tuning.work / fmax(work, 1.0));
    int wait = 0; // convex rounds before the next coupled step
    int pause = 1;
    for (int k = 0; k < tuning.rounds && residual.most > tolerance && *rounds < most; ++k) {
        double before = residual.energy;
        if (wait > 0) {
            --wait;
        } else if (goCoupled(newton, &residual, rounds)) {
            pause = 1;
            if (residual.energy < tuning.good * before) {
                continue;
            }
        } else {
            wait = pause;
            pause = pause < 4 ? 2 * pause : 4;
        }
        if (residual.most > tolerance) {
            // the minimum, then sweeps; undone where that makes things worse
            minimize(newton, 1e-3 * tolerance, rounds);
            (void)take(newton, 1.0);
            Residual now = sweep(newton, tuning.sweeps);
            if (!(now.energy < tuning.worst * residual.energy)) {
                (void)take(newton, 0.0);
                now = sweep(newton, 2 * tuning.sweeps);
            }
            residual = now;
        }
    }
    return residual;
}

double rbContactNewton_SolveInTurn(rbContactNewton* newton, const rbContactRun* run,
                                   const rbNewtonTask* task, int* rounds)
{
    RB_ASSERT(run->isContinued && task->linkCount == 0);
    double left = task->known;
    if (begin(newton, run, task)) {
        left = solveInTurn(newton, task->tolerance, rounds).most;
        if (left < task->known) {
            giveResult(newton);
        }
    }
    rbNewton_Forget(newton);
    return left < task->known ? left : task->known;
}
