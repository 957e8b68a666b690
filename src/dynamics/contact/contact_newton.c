// Contacts of an island solved together, see contact_newton.h.
#include "dynamics/contact/contact_newton.h"

#include "base/core/memory.h"
#include "base/math/dot.h"
#include "base/math/matrix3.h"
#include "dynamics/contact/contact_discs.h"
#include "dynamics/contact/contact_profile.h"

#include <float.h>
#include <string.h>

// r of a point, in parts of the mass it feels: soft at first, so that it is found who carries, then
// ten times as stiff every round.
#define STIFFNESS_FIRST 1e3
#define STIFFNESS_GROWTH 10.0
#define STIFFNESS 1e6
#define ROUNDS_MAX 48
// After so many it must be better than what sweeps found.
#define ROUNDS_TRIED 12
// It goes on to this part of the tolerance: errors of many bodies add up.
#define GOAL_PART 0.01
#define GOAL_MOVING 0.5
// Within the tolerance a round must bring the error below this part of it to go on.
#define STALLED 0.5
// And holds impulses anew while normals are off by more than this part of it.
#define HOLD_PART 0.1
#define NEWTON_MAX 30
// Those that succeed take 2 to 8.
#define COUPLED_MAX 12
// m/s: impulses are r times what is left of the velocities, so these must be exact.
#define MOVED_LEAST 1e-10
#define BISECTIONS_MAX 40
// The line search ends where the slope is below this part of the first one.
#define SLOPE_PART 0.1
// Of a change that brings nothing.
#define HALVINGS_MAX 12
// Rounds with discs that go with the normal impulses are given up after so many failures.
#define FAILURES_MAX 10
// What is missing may be as much as the largest of so many changes ago, and so many times the
// first.
#define MEMORY 12
#define GROWTH 100.0
// Entries of the matrix: islands beyond it are left to the sweeps.
#define ENTRIES_MAX 400000
#define DOF RB_PROFILE_BLOCK

typedef struct NewtonPoint {
    const rbContact* contact;
    rbContactPoint* point;
    int a;              // of the island, -1: nothing moves it
    int b;              //
    double rows[3][12]; // along normal and tangents: of A, then of B
    double bias[3];     // m/s
    double mass[2];     // kg, that the point feels: along the normal, across
    double r[2];        // kg: normal, tangential
    double start[3];    // N s, impulses that have acted
    double held[3];     // N s, x of the last round
    double x[3];        // N s, now
    double friction;    // of the disc, in this round
    double disc;        // N s, its radius as held in the round
    double radius;      // N s, now
    double d[2];        // kg, of the last evaluation: of the normal; of both tangents
    double slide[2];    // unit, direction of sliding; 0: it sticks
} NewtonPoint;

typedef struct NewtonLink {
    rbContactLink* link;
    int a; // of the island, -1: nothing moves it
    int b;
    double mass; // kg, that it feels
    double r;    // kg
    double held; // N s
    double x;    // N s
    double d;    // kg, of the last evaluation
} NewtonLink;

struct rbContactNewton {
    bool isCoupled; // discs are those of the normal impulses under way, not of the last round
    int failures;   // of such rounds
    double acted;   // part of the impulses of points that has acted already
    double enough;  // m/s: impulses are not held anew where normals are off by less
    double guessed; // part that is the first guess of what they will be
    RB_ARRAY(NewtonPoint) points;
    RB_ARRAY(NewtonLink) links;
    rbContactDiscs discs;
    RB_ARRAY(double) radii;      // of all points: of the round, asked for after it, weights
    RB_ARRAY(int) locals1;       // per body of the host: index in the island + 1
    RB_ARRAY(int) bodies;        // of the island, in the order of elimination
    rbProfile matrix;            // in this order
    RB_ARRAY(double) masses;     // per body: mass, inertia (6)
    RB_ARRAY(double) velocities; // DOF per body
    RB_ARRAY(double) starts;     // v0
    RB_ARRAY(double) trial;
    RB_ARRAY(double) kept; // velocities at the start of a round
    RB_ARRAY(double) residual;
    RB_ARRAY(double) change;
};

rbContactNewton* rbCreateContactNewton(void)
{
    return rbAllocZero(1, sizeof(rbContactNewton));
}

void rbDestroyContactNewton(rbContactNewton* newton)
{
    if (newton == NULL) {
        return;
    }
    rbArray_Free(newton->points);
    rbArray_Free(newton->links);
    rbContactDiscs_Free(&newton->discs);
    rbArray_Free(newton->radii);
    rbArray_Free(newton->locals1);
    rbArray_Free(newton->bodies);
    rbProfile_Free(&newton->matrix);
    rbArray_Free(newton->masses);
    rbArray_Free(newton->velocities);
    rbArray_Free(newton->starts);
    rbArray_Free(newton->trial);
    rbArray_Free(newton->kept);
    rbArray_Free(newton->residual);
    rbArray_Free(newton->change);
    rbFree(newton, sizeof *newton);
}

// -------------------------------------------------------------------------------------------
// island

static int contactAt(const rbContactRun* run, int i)
{
    return run->order != NULL ? run->order[i] : i;
}

static bool isMoved(const rbContactRun* run, int body)
{
    return run->bodies[body].invMass > 0.0 && !run->bodies[body].isFrozen;
}

static void addBody(rbContactNewton* newton, const rbContactRun* run, int body)
{
    if (body < 0) {
        return;
    }
    while (newton->locals1.count <= body) {
        rbArray_Push(newton->locals1, 0);
    }
    if (isMoved(run, body) && newton->locals1.data[body] == 0) {
        rbArray_Push(newton->bodies, body);
        newton->locals1.data[body] = newton->bodies.count;
    }
}

// Bodies in the order in which contacts, sorted by level, meet them: the matrix is then narrow.
static void findBodies(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task)
{
    newton->bodies.count = 0;
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[contactAt(run, i)];
        addBody(newton, run, contact->bodyA);
        addBody(newton, run, contact->bodyB);
    }
    for (int i = 0; i < task->linkCount; ++i) {
        addBody(newton, run, task->links[i].bodyA);
        addBody(newton, run, task->links[i].bodyB);
    }
}

static void forgetBodies(rbContactNewton* newton)
{
    for (int i = 0; i < newton->bodies.count; ++i) {
        newton->locals1.data[newton->bodies.data[i]] = 0;
    }
}

static int localOf(const rbContactNewton* newton, int body)
{
    return body >= 0 ? newton->locals1.data[body] - 1 : -1;
}

// The profile of the matrix; false if it is too large.
static bool makeProfile(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task)
{
    rbProfile* matrix = &newton->matrix;
    rbProfile_Begin(matrix, newton->bodies.count);
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[contactAt(run, i)];
        rbProfile_Couple(matrix, localOf(newton, contact->bodyA), localOf(newton, contact->bodyB));
    }
    for (int i = 0; i < task->linkCount; ++i) {
        const rbContactLink* link = &task->links[i];
        rbProfile_Couple(matrix, localOf(newton, link->bodyA), localOf(newton, link->bodyB));
    }
    return rbProfile_Finish(matrix, ENTRIES_MAX);
}

bool rbContactNewton_CanSolve(rbContactNewton* newton, const rbContactSettings* settings,
                              const rbContactRun* run, const rbNewtonTask* task)
{
    if (settings->cone != RB_CONE_EXACT) {
        return false;
    }
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[contactAt(run, i)];
        if (contact->rolling > 0.0 || contact->spinning > 0.0) {
            return false;
        }
    }
    findBodies(newton, run, task);
    bool isSmall = newton->bodies.count > 0 && makeProfile(newton, run, task);
    forgetBodies(newton);
    return isSmall;
}

static void writeRow(double row[12], rbVec3 direction, const rbContactPoint* point)
{
    rbVec3 turnA = rbCross(point->armA, direction);
    rbVec3 turnB = rbCross(point->armB, direction);
    double values[12] = {-direction.x, -direction.y, -direction.z, -turnA.x, -turnA.y, -turnA.z,
                         direction.x,  direction.y,  direction.z,  turnB.x,  turnB.y,  turnB.z};
    memcpy(row, values, sizeof values);
}

// How easily the point moves along a row.
static double responseOf(const rbContactRun* run, int bodyA, int bodyB, const double row[12])
{
    double sum = 0.0;
    const int hosts[2] = {bodyA, bodyB};
    for (int side = 0; side < 2; ++side) {
        if (hosts[side] >= 0 && isMoved(run, hosts[side])) {
            const rbContactBody* body = &run->bodies[hosts[side]];
            const double* part = row + 6 * (size_t)side;
            rbVec3 linear = rbMakeVec3(part[0], part[1], part[2]);
            rbVec3 turn = rbMakeVec3(part[3], part[4], part[5]);
            sum += body->invMass * rbLengthSquared(linear) +
                   rbDot(turn, rbMulSV(body->invInertia, turn));
        }
    }
    return sum;
}

static void addPoint(rbContactNewton* newton, const rbContactRun* run, const rbContact* contact,
                     rbContactPoint* point, double normalBias, double slipPart)
{
    NewtonPoint p = {.contact = contact, .point = point};
    p.a = newton->locals1.data[contact->bodyA] - 1;
    p.b = newton->locals1.data[contact->bodyB] - 1;
    writeRow(p.rows[0], contact->normal, point);
    writeRow(p.rows[1], contact->tangents[0], point);
    writeRow(p.rows[2], contact->tangents[1], point);
    double normal = responseOf(run, contact->bodyA, contact->bodyB, p.rows[0]);
    double tangential = fmax(responseOf(run, contact->bodyA, contact->bodyB, p.rows[1]),
                             responseOf(run, contact->bodyA, contact->bodyB, p.rows[2]));
    if (!(normal > 0.0)) {
        return;
    }
    p.mass[0] = 1.0 / normal;
    p.mass[1] = 1.0 / fmax(tangential, normal);
    p.bias[0] = normalBias;
    p.bias[1] = slipPart * point->slip[0];
    p.bias[2] = slipPart * point->slip[1];
    for (int k = 0; k < 3; ++k) {
        p.start[k] = newton->acted * point->impulse[k];
        p.held[k] = newton->guessed * point->impulse[k];
    }
    rbArray_Push(newton->points, p);
}

static void findPoints(rbContactNewton* newton, const rbContactRun* run, bool isOfPositions,
                       double partSpeed)
{
    newton->points.count = 0;
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[contactAt(run, i)];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbContactPoint* point = &run->set->points[k];
            if (isOfPositions) {
                addPoint(newton, run, contact, point,
                         rbContactPoint_GetPart(point, run->h, partSpeed), 1.0 / run->h);
            } else if (point->isClosed) {
                addPoint(newton, run, contact, point, -point->target, 0.0);
            }
        }
    }
}

static void findLinks(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task)
{
    newton->links.count = 0;
    for (int i = 0; i < task->linkCount; ++i) {
        rbContactLink* link = &task->links[i];
        double response = responseOf(run, link->bodyA, link->bodyB, link->row);
        if (response > 0.0) {
            NewtonLink l = {.link = link,
                            .a = localOf(newton, link->bodyA),
                            .b = localOf(newton, link->bodyB),
                            .mass = 1.0 / response,
                            .held = link->impulse};
            rbArray_Push(newton->links, l);
        }
    }
}

static void findMasses(rbContactNewton* newton, const rbContactRun* run)
{
    int count = newton->bodies.count;
    rbArray_Reserve(newton->masses, 7 * count);
    rbArray_Reserve(newton->velocities, DOF * count);
    rbArray_Reserve(newton->starts, DOF * count);
    rbArray_Reserve(newton->trial, DOF * count);
    rbArray_Reserve(newton->kept, DOF * count);
    rbArray_Reserve(newton->residual, DOF * count);
    rbArray_Reserve(newton->change, DOF * count);
    for (int i = 0; i < count; ++i) {
        const rbContactBody* body = &run->bodies[newton->bodies.data[i]];
        rbSym3 inertia;
        if (!rbSym3_Invert(body->invInertia, &inertia)) {
            inertia = (rbSym3){1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
        }
        double values[7] = {1.0 / body->invMass, inertia.xx, inertia.yy, inertia.zz,
                            inertia.xy,          inertia.xz, inertia.yz};
        memcpy(&newton->masses.data[7 * (size_t)i], values, sizeof values);
        double motion[DOF] = {body->velocity.x, body->velocity.y, body->velocity.z,
                              body->spin.x,     body->spin.y,     body->spin.z};
        memcpy(&newton->starts.data[DOF * (size_t)i], motion, sizeof motion);
    }
    size_t size = (size_t)(DOF * count) * sizeof(double);
    memcpy(newton->velocities.data, newton->starts.data, size);
}

// M times a motion of a body.
static void multiplyMass(const double mass[7], const double x[DOF], double y[DOF])
{
    for (int k = 0; k < 3; ++k) {
        y[k] = mass[0] * x[k];
    }
    y[3] = mass[1] * x[3] + mass[4] * x[4] + mass[5] * x[5];
    y[4] = mass[4] * x[3] + mass[2] * x[4] + mass[6] * x[5];
    y[5] = mass[5] * x[3] + mass[6] * x[4] + mass[3] * x[5];
}

// ------------------------------------------------------------------------------------- evaluation

// w of a row with velocities of the island; bodies outside of it keep theirs.
static double rateOf(const rbContactRun* run, const NewtonPoint* p, int row,
                     const double* velocities)
{
    double sum = p->bias[row];
    const int locals[2] = {p->a, p->b};
    const int hosts[2] = {p->contact->bodyA, p->contact->bodyB};
    for (int side = 0; side < 2; ++side) {
        const double* part = p->rows[row] + 6 * (size_t)side;
        if (locals[side] >= 0) {
            const double* v = velocities + DOF * (size_t)locals[side];
            for (int k = 0; k < DOF; ++k) {
                sum += part[k] * v[k];
            }
        } else {
            const rbContactBody* body = &run->bodies[hosts[side]];
            sum += part[0] * body->velocity.x + part[1] * body->velocity.y +
                   part[2] * body->velocity.z + part[3] * body->spin.x + part[4] * body->spin.y +
                   part[5] * body->spin.z;
        }
    }
    return sum;
}

// x = proj(held - r w).
static void projectPoint(const rbContactRun* run, NewtonPoint* p, const double* velocities,
                         bool isCoupled)
{
    double w[3];
    for (int row = 0; row < 3; ++row) {
        w[row] = rateOf(run, p, row, velocities);
    }
    double normal = p->held[0] - p->r[0] * w[0];
    p->x[0] = normal > 0.0 ? normal : 0.0;
    p->d[0] = normal > 0.0 ? p->r[0] : 0.0;
    p->radius = isCoupled ? p->friction * p->x[0] : p->disc;
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

static double linkRate(const NewtonLink* l, const double* velocities)
{
    double sum = l->link->bias;
    const int locals[2] = {l->a, l->b};
    for (int side = 0; side < 2; ++side) {
        if (locals[side] >= 0) {
            sum += rbDotArrays(l->link->row + 6 * (size_t)side,
                               velocities + DOF * (size_t)locals[side], DOF);
        }
    }
    return sum;
}

// x = held - r (w + compliance (x - start)), within the limits.
static void projectLink(NewtonLink* l, const double* velocities)
{
    const rbContactLink* link = l->link;
    double soft = l->r * link->compliance;
    double w = linkRate(l, velocities);
    double x = (l->held - l->r * w + soft * link->impulse) / (1.0 + soft);
    bool isWithin = fabs(x) <= link->most;
    l->x = isWithin ? x : copysign(link->most, x);
    l->d = isWithin ? l->r / (1.0 + soft) : 0.0;
}

static void project(rbContactNewton* newton, const rbContactRun* run, const double* velocities)
{
    for (int i = 0; i < newton->points.count; ++i) {
        projectPoint(run, &newton->points.data[i], velocities, newton->isCoupled);
    }
    for (int i = 0; i < newton->links.count; ++i) {
        projectLink(&newton->links.data[i], velocities);
    }
}

static void addToBodies(const int locals[2], const double row[12], double factor, double* to)
{
    for (int side = 0; side < 2; ++side) {
        if (locals[side] >= 0) {
            for (int k = 0; k < DOF; ++k) {
                to[DOF * locals[side] + k] += factor * row[6 * side + k];
            }
        }
    }
}

// The negative of the slope: J^T (x - x0) - M (v - v0).
static void findResidual(rbContactNewton* newton, const double* velocities)
{
    double* residual = newton->residual.data;
    for (int i = 0; i < newton->bodies.count; ++i) {
        double change[DOF];
        for (int k = 0; k < DOF; ++k) {
            change[k] = newton->starts.data[DOF * i + k] - velocities[DOF * i + k];
        }
        multiplyMass(&newton->masses.data[7 * (size_t)i], change, residual + DOF * (size_t)i);
    }
    for (int i = 0; i < newton->points.count; ++i) {
        const NewtonPoint* p = &newton->points.data[i];
        const int locals[2] = {p->a, p->b};
        for (int row = 0; row < 3; ++row) {
            addToBodies(locals, p->rows[row], p->x[row] - p->start[row], residual);
        }
    }
    for (int i = 0; i < newton->links.count; ++i) {
        const NewtonLink* l = &newton->links.data[i];
        const int locals[2] = {l->a, l->b};
        addToBodies(locals, l->link->row, l->x - l->link->impulse, residual);
    }
}

// ------------------------------------------------------------------------------------------ matrix

static void addMasses(rbContactNewton* newton)
{
    rbProfile* matrix = &newton->matrix;
    for (int i = 0; i < newton->bodies.count; ++i) {
        const double* m = &newton->masses.data[7 * (size_t)i];
        int row = DOF * i;
        for (int k = 0; k < 3; ++k) {
            *rbProfile_At(matrix, row + k, row + k) = m[0];
            *rbProfile_At(matrix, row + 3 + k, row + 3 + k) = m[1 + k];
        }
        *rbProfile_At(matrix, row + 4, row + 3) = m[4];
        *rbProfile_At(matrix, row + 5, row + 3) = m[5];
        *rbProfile_At(matrix, row + 5, row + 4) = m[6];
    }
}

static bool isSliding(const NewtonPoint* p)
{
    return p->slide[0] != 0.0 || p->slide[1] != 0.0;
}

// Rows of both tangents, turned by the direction of sliding: along it, or across.
static void turnRows(const NewtonPoint* p, bool isAcross, double row[12])
{
    double first = isAcross ? -p->slide[1] : p->slide[0];
    double second = isAcross ? p->slide[0] : p->slide[1];
    for (int k = 0; k < 12; ++k) {
        row[k] = first * p->rows[1][k] + second * p->rows[2][k];
    }
}

static void assemble(rbContactNewton* newton)
{
    rbProfile* matrix = &newton->matrix;
    bool isSplit = false;
    rbProfile_Clear(matrix);
    addMasses(newton);
    for (int i = 0; i < newton->points.count; ++i) {
        const NewtonPoint* p = &newton->points.data[i];
        const int locals[2] = {p->a, p->b};
        rbProfile_AddSquare(matrix, locals, p->rows[0], p->d[0]);
        if (!isSliding(p)) {
            rbProfile_AddSquare(matrix, locals, p->rows[1], p->d[1]);
            rbProfile_AddSquare(matrix, locals, p->rows[2], p->d[1]);
        } else {
            double across[12];
            turnRows(p, true, across);
            rbProfile_AddSquare(matrix, locals, across, p->d[1]);
            isSplit = isSplit || p->d[0] > 0.0;
        }
    }
    for (int i = 0; i < newton->links.count; ++i) {
        const NewtonLink* l = &newton->links.data[i];
        const int locals[2] = {l->a, l->b};
        rbProfile_AddSquare(matrix, locals, l->link->row, l->d);
    }
    if (!newton->isCoupled || !isSplit) {
        return;
    }
    // The rim goes with the normal impulse.
    rbProfile_Split(matrix);
    for (int i = 0; i < newton->points.count; ++i) {
        const NewtonPoint* p = &newton->points.data[i];
        if (isSliding(p) && p->d[0] > 0.0) {
            const int locals[2] = {p->a, p->b};
            double along[12];
            turnRows(p, false, along);
            rbProfile_AddProduct(matrix, locals, along, p->rows[0], p->friction * p->d[0]);
        }
    }
}

// ------------------------------------------------------------------------------------------ rounds

// Slope along the change at a part of it; x of all points there.
static double slopeAt(rbContactNewton* newton, const rbContactRun* run, double part)
{
    int n = DOF * newton->bodies.count;
    for (int k = 0; k < n; ++k) {
        newton->trial.data[k] = newton->velocities.data[k] + part * newton->change.data[k];
    }
    project(newton, run, newton->trial.data);
    findResidual(newton, newton->trial.data);
    return -rbDotArrays(newton->residual.data, newton->change.data, (size_t)n);
}

// To where the slope along the change vanishes: beyond it points that close or begin to slide would
// throw it back. The function is convex, so bisection finds it.
static double goDown(rbContactNewton* newton, const rbContactRun* run)
{
    int n = DOF * newton->bodies.count;
    double first = fabs(rbDotArrays(newton->residual.data, newton->change.data, (size_t)n));
    double low = 0.0;
    double high = 1.0;
    double part = 1.0;
    double slope = slopeAt(newton, run, part);
    for (int k = 0; k < BISECTIONS_MAX && fabs(slope) > SLOPE_PART * first; ++k) {
        if (slope <= 0.0 && part >= 1.0) {
            break;
        }
        *(slope > 0.0 ? &high : &low) = part;
        part = 0.5 * (low + high);
        slope = slopeAt(newton, run, part);
    }
    double moved = 0.0;
    for (int k = 0; k < n; ++k) {
        moved = fmax(moved, part * fabs(newton->change.data[k]));
    }
    memcpy(newton->velocities.data, newton->trial.data, (size_t)n * sizeof(double));
    return moved;
}

// Newton's change of the velocities for the residual there is; false: it cannot be found.
static bool findChange(rbContactNewton* newton, int* rounds)
{
    size_t size = (size_t)(DOF * newton->bodies.count) * sizeof(double);
    assemble(newton);
    *rounds += 1;
    memcpy(newton->change.data, newton->residual.data, size);
    if (!rbProfile_Factor(&newton->matrix)) {
        return false;
    }
    rbProfile_Solve(&newton->matrix, newton->change.data);
    return true;
}

// The minimum for the impulses and discs held.
static bool minimize(rbContactNewton* newton, const rbContactRun* run, int* rounds)
{
    newton->isCoupled = false;
    project(newton, run, newton->velocities.data);
    findResidual(newton, newton->velocities.data);
    for (int k = 0; k < NEWTON_MAX; ++k) {
        if (!findChange(newton, rounds)) {
            return false;
        }
        if (goDown(newton, run) <= MOVED_LEAST) {
            break;
        }
    }
    return true;
}

// How much is missing, as the kinetic energy that it would be.
static double missing(const rbContactNewton* newton)
{
    double sum = 0.0;
    for (int i = 0; i < newton->bodies.count; ++i) {
        const double* mass = &newton->masses.data[7 * (size_t)i];
        const double* r = &newton->residual.data[DOF * (size_t)i];
        double inertia = mass[1] + mass[2] + mass[3];
        sum += (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / mass[0] +
               3.0 * (r[3] * r[3] + r[4] * r[4] + r[5] * r[5]) / inertia;
    }
    return sum;
}

// The same with discs that go with the normal impulses: there is no function to go down any more.
// What is missing may grow for some changes of velocity, since it has kinks; changes that make it
// larger than it was for a while are halved. False: it does not end.
static bool solveCoupled(rbContactNewton* newton, const rbContactRun* run, int* rounds)
{
    size_t n = (size_t)(DOF * newton->bodies.count);
    double last[MEMORY];
    newton->isCoupled = true;
    project(newton, run, newton->velocities.data);
    findResidual(newton, newton->velocities.data);
    for (int k = 0; k < MEMORY; ++k) {
        last[k] = GROWTH * missing(newton);
    }
    for (int k = 0; k < COUPLED_MAX; ++k) {
        if (!findChange(newton, rounds)) {
            return false;
        }
        double most = 0.0;
        for (int i = 0; i < MEMORY; ++i) {
            most = fmax(most, last[i]);
        }
        double part = 2.0;
        double now = INFINITY;
        for (int halving = 0; halving < HALVINGS_MAX && !(now < most); ++halving) {
            part *= 0.5;
            (void)slopeAt(newton, run, part);
            now = missing(newton);
        }
        double moved = 0.0;
        for (size_t i = 0; i < n; ++i) {
            moved = fmax(moved, part * fabs(newton->change.data[i]));
        }
        memcpy(newton->velocities.data, newton->trial.data, n * sizeof(double));
        if (moved <= MOVED_LEAST || !(now < most)) {
            return moved <= MOVED_LEAST && part == 1.0;
        }
        last[k % MEMORY] = now;
    }
    return false;
}

static double coefficientOf(const NewtonPoint* p)
{
    return isSliding(p) ? p->contact->friction : fmax(p->contact->stiction, p->contact->friction);
}

static void beginRound(rbContactNewton* newton, double stiffness)
{
    for (int i = 0; i < newton->links.count; ++i) {
        newton->links.data[i].r = stiffness * newton->links.data[i].mass;
    }
    for (int i = 0; i < newton->points.count; ++i) {
        NewtonPoint* p = &newton->points.data[i];
        p->r[0] = stiffness * p->mass[0];
        p->r[1] = stiffness * p->mass[1];
        p->friction = coefficientOf(p);
    }
}

// Discs of the first guess.
static void beginDiscs(rbContactNewton* newton)
{
    int count = newton->points.count;
    rbArray_Reserve(newton->radii, 3 * count);
    newton->radii.count = 3 * count;
    for (int i = 0; i < count; ++i) {
        NewtonPoint* p = &newton->points.data[i];
        p->disc = coefficientOf(p) * p->held[0];
        newton->radii.data[2 * count + i] = 1.0 / p->mass[1];
    }
    rbContactDiscs_Begin(&newton->discs, count);
}

// Those of the next round. isSoft: the normal impulses of this one are rough, and nothing to learn
// from.
static void nextDiscs(rbContactNewton* newton, bool isSoft)
{
    int count = newton->points.count;
    double* radii = newton->radii.data;
    for (int i = 0; i < count; ++i) {
        NewtonPoint* p = &newton->points.data[i];
        radii[i] = p->disc;
        radii[count + i] = coefficientOf(p) * p->x[0];
    }
    const double* next = isSoft ? radii + count
                                : rbContactDiscs_Mix(&newton->discs, radii, radii + count,
                                                     radii + 2 * (size_t)count);
    for (int i = 0; i < count; ++i) {
        newton->points.data[i].disc = next[i];
    }
}

// Largest violation along the normals, m/s.
static double normalViolation(const rbContactNewton* newton, const rbContactRun* run)
{
    double most = 0.0;
    for (int i = 0; i < newton->points.count; ++i) {
        const NewtonPoint* p = &newton->points.data[i];
        double w = rateOf(run, p, 0, newton->velocities.data);
        most = fmax(most, p->x[0] > 0.0 ? fabs(w) : -w);
    }
    return most;
}

// Largest violation, m/s, with the velocities as impulses make them.
static double violation(const rbContactNewton* newton, const rbContactRun* run)
{
    double most = 0.0;
    for (int i = 0; i < newton->points.count; ++i) {
        const NewtonPoint* p = &newton->points.data[i];
        const double* v = newton->velocities.data;
        double w = rateOf(run, p, 0, v);
        most = fmax(most, p->x[0] > 0.0 ? fabs(w) : -w);
        if (!isSliding(p) && p->x[0] > 0.0) {
            most = fmax(most, fabs(rateOf(run, p, 1, v)));
            most = fmax(most, fabs(rateOf(run, p, 2, v)));
        }
        if (isSliding(p) && p->x[0] > 0.0) {
            // The disc was that of the last round: friction that is missing now is an error.
            double t1 = rateOf(run, p, 1, v);
            double t2 = rateOf(run, p, 2, v);
            double slip = sqrt(t1 * t1 + t2 * t2);
            double length = sqrt(p->x[1] * p->x[1] + p->x[2] * p->x[2]);
            double missing = (p->contact->friction * p->x[0] - length) / p->mass[1];
            most = fmax(most, fmin(slip, missing));
        }
        // The disc is that of the last round.
        double limit = fmax(p->contact->friction, p->contact->stiction) * p->x[0];
        double excess = sqrt(p->x[1] * p->x[1] + p->x[2] * p->x[2]) - limit;
        most = fmax(most, excess / p->mass[1]);
    }
    for (int i = 0; i < newton->links.count; ++i) {
        const NewtonLink* l = &newton->links.data[i];
        double w =
            linkRate(l, newton->velocities.data) + l->link->compliance * (l->x - l->link->impulse);
        // At a limit it may go on the way it is pushed.
        bool isHeld = fabs(l->x) >= l->link->most && w * l->x <= 0.0;
        most = fmax(most, isHeld ? 0.0 : fabs(w));
    }
    return most;
}

// Velocities exactly as the impulses make them, so that momentum is kept.
static void applyImpulses(rbContactNewton* newton, const rbContactRun* run)
{
    for (int i = 0; i < newton->points.count; ++i) {
        NewtonPoint* p = &newton->points.data[i];
        // Inside the cone to the last bit.
        double limit = fmax(p->contact->friction, p->contact->stiction) * p->x[0];
        double length = sqrt(p->x[1] * p->x[1] + p->x[2] * p->x[2]);
        double scale = length > limit ? limit / length : 1.0;
        double x[3] = {p->x[0], scale * p->x[1], scale * p->x[2]};
        rbVec3 impulse = rbScale(x[0] - p->start[0], p->contact->normal);
        impulse = rbAddScaled(impulse, x[1] - p->start[1], p->contact->tangents[0]);
        impulse = rbAddScaled(impulse, x[2] - p->start[2], p->contact->tangents[1]);
        rbContact_ApplyImpulse(run->bodies, p->contact, p->point, impulse);
        memcpy(p->point->impulse, x, sizeof x);
        p->point->isSticking = !isSliding(p) && x[0] > 0.0;
    }
}

// An impulse along a row over two bodies.
static void applyLinks(rbContactNewton* newton, const rbContactRun* run)
{
    for (int i = 0; i < newton->links.count; ++i) {
        const NewtonLink* l = &newton->links.data[i];
        const int hosts[2] = {l->link->bodyA, l->link->bodyB};
        double change = l->x - l->link->impulse;
        for (int side = 0; side < 2; ++side) {
            const double* part = l->link->row + 6 * (size_t)side;
            if (hosts[side] >= 0 && isMoved(run, hosts[side])) {
                rbContactBody* body = &run->bodies[hosts[side]];
                rbVec3 linear = rbMakeVec3(part[0], part[1], part[2]);
                rbVec3 turn = rbMakeVec3(part[3], part[4], part[5]);
                body->velocity = rbAddScaled(body->velocity, body->invMass * change, linear);
                body->spin = rbAddScaled(body->spin, change, rbMulSV(body->invInertia, turn));
            }
        }
        l->link->impulse = l->x;
    }
}

// What a round found is held in the next one.
static void hold(rbContactNewton* newton)
{
    for (int i = 0; i < newton->points.count; ++i) {
        NewtonPoint* p = &newton->points.data[i];
        memcpy(p->held, p->x, sizeof p->held);
    }
    for (int i = 0; i < newton->links.count; ++i) {
        newton->links.data[i].held = newton->links.data[i].x;
    }
}

// One round: with discs that go with the normal impulses where that succeeds, else with those held.
static bool solveRound(rbContactNewton* newton, const rbContactRun* run, bool isSoft, int* rounds)
{
    size_t size = (size_t)(DOF * newton->bodies.count) * sizeof(double);
    memcpy(newton->kept.data, newton->velocities.data, size);
    bool isTried = newton->failures < FAILURES_MAX;
    if (isTried && solveCoupled(newton, run, rounds)) {
        hold(newton);
        for (int i = 0; i < newton->points.count; ++i) {
            newton->points.data[i].disc = newton->points.data[i].radius;
        }
        return true;
    }
    newton->failures += isTried && !isSoft ? 1 : 0;
    memcpy(newton->velocities.data, newton->kept.data, size);
    if (!minimize(newton, run, rounds)) {
        return false;
    }
    // Pressures of points that are almost redundant would wander among them for many rounds, and
    // friction with them: where the normals are good enough only the discs go on.
    if (isSoft || normalViolation(newton, run) > newton->enough) {
        hold(newton);
    }
    nextDiscs(newton, isSoft);
    return true;
}

double rbContactNewton_Solve(rbContactNewton* newton, const rbContactRun* run,
                             const rbNewtonTask* task, int* rounds)
{
    double left = INFINITY;
    newton->failures = 0;
    newton->enough = HOLD_PART * task->tolerance;
    newton->acted = task->isOfPositions && !run->isContinued ? 0.0 : 1.0;
    newton->guessed = task->isOfPositions || run->isContinued ? 1.0 : 2.0;
    findBodies(newton, run, task);
    if (newton->bodies.count > 0 && makeProfile(newton, run, task)) {
        double stiffness = STIFFNESS_FIRST;
        findPoints(newton, run, task->isOfPositions, task->partSpeed);
        findLinks(newton, run, task);
        findMasses(newton, run);
        beginDiscs(newton);
        double goal = (task->isMoving ? GOAL_MOVING : GOAL_PART) * task->tolerance;
        for (int round = 0; round < ROUNDS_MAX && left > goal; ++round) {
            beginRound(newton, stiffness);
            if (!solveRound(newton, run, stiffness < STIFFNESS, rounds)) {
                break;
            }
            stiffness = fmin(STIFFNESS, STIFFNESS_GROWTH * stiffness);
            double last = left;
            left = violation(newton, run);
            bool isStalled = left <= task->tolerance && left > STALLED * last;
            if (isStalled || (round >= ROUNDS_TRIED && left > task->known)) {
                break;
            }
        }
        if (left < task->known) {
            applyImpulses(newton, run);
            applyLinks(newton, run);
        }
    }
    forgetBodies(newton);
    return left < task->known ? left : task->known;
}
