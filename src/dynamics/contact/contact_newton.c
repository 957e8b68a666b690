// Contacts of an island solved together, see contact_newton.h.
#include "dynamics/contact/contact_newton.h"

#include "base/core/memory.h"
#include "base/math/dot.h"
#include "base/math/matrix3.h"

#include <float.h>
#include <string.h>

// r of a point, in parts of the mass it feels: soft at first, so that it is found who carries, then
// ten times as stiff every round.
#define STIFFNESS_FIRST 1e3
#define STIFFNESS_GROWTH 10.0
#define STIFFNESS 1e6
#define ROUNDS_MAX 16
// After so many it must be better than what sweeps found.
#define ROUNDS_TRIED 4
// It goes on to this part of the tolerance: errors of many bodies add up.
#define GOAL_PART 0.01
#define NEWTON_MAX 30
// m/s: impulses are r times what is left of the velocities, so these must be exact.
#define MOVED_LEAST 1e-10
#define BISECTIONS_MAX 40
// The line search ends where the slope is below this part of the first one.
#define SLOPE_PART 0.1
// Entries of the matrix: islands beyond it are left to the sweeps.
#define ENTRIES_MAX 400000
#define DOF 6

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
    double radius;      // N s, of the disc
    double d[2];        // kg, of the last evaluation: of the normal; of both tangents
    double slide[2];    // unit, direction of sliding; 0: it sticks
} NewtonPoint;

struct rbContactNewton {
    double acted;   // part of the impulses of points that has acted already
    double guessed; // part that is the first guess of what they will be
    RB_ARRAY(NewtonPoint) points;
    RB_ARRAY(int) locals1;       // per body of the host: index in the island + 1
    RB_ARRAY(int) bodies;        // of the island, in the order of elimination
    RB_ARRAY(int) firsts;        // per scalar row: first column of its profile
    RB_ARRAY(size_t) offsets;    // per scalar row: where it begins in entries
    RB_ARRAY(double) entries;    // lower half, row by row from the first column
    RB_ARRAY(double) masses;     // per body: mass, inertia (6)
    RB_ARRAY(double) velocities; // DOF per body
    RB_ARRAY(double) starts;     // v0
    RB_ARRAY(double) trial;
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
    rbArray_Free(newton->locals1);
    rbArray_Free(newton->bodies);
    rbArray_Free(newton->firsts);
    rbArray_Free(newton->offsets);
    rbArray_Free(newton->entries);
    rbArray_Free(newton->masses);
    rbArray_Free(newton->velocities);
    rbArray_Free(newton->starts);
    rbArray_Free(newton->trial);
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
    while (newton->locals1.count <= body) {
        rbArray_Push(newton->locals1, 0);
    }
    if (isMoved(run, body) && newton->locals1.data[body] == 0) {
        rbArray_Push(newton->bodies, body);
        newton->locals1.data[body] = newton->bodies.count;
    }
}

// Bodies in the order in which contacts, sorted by level, meet them: the matrix is then narrow.
static void findBodies(rbContactNewton* newton, const rbContactRun* run)
{
    newton->bodies.count = 0;
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[contactAt(run, i)];
        addBody(newton, run, contact->bodyA);
        addBody(newton, run, contact->bodyB);
    }
}

static void forgetBodies(rbContactNewton* newton)
{
    for (int i = 0; i < newton->bodies.count; ++i) {
        newton->locals1.data[newton->bodies.data[i]] = 0;
    }
}

// The profile of the matrix; false if it is too large.
static bool makeProfile(rbContactNewton* newton, const rbContactRun* run)
{
    int count = newton->bodies.count;
    newton->firsts.count = 0;
    newton->offsets.count = 0;
    for (int i = 0; i < count; ++i) {
        rbArray_Push(newton->firsts, i);
    }
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[contactAt(run, i)];
        int a = newton->locals1.data[contact->bodyA] - 1;
        int b = newton->locals1.data[contact->bodyB] - 1;
        if (a >= 0 && b >= 0) {
            int low = a < b ? a : b;
            int high = a < b ? b : a;
            int* first = &newton->firsts.data[high];
            *first = low < *first ? low : *first;
        }
    }
    size_t sum = 0;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < DOF; ++k) {
            rbArray_Push(newton->offsets, sum);
            sum += (size_t)(DOF * (i - newton->firsts.data[i]) + k + 1);
        }
        if (sum > ENTRIES_MAX) {
            return false;
        }
    }
    rbArray_Reserve(newton->entries, (int)sum);
    newton->entries.count = (int)sum;
    return true;
}

bool rbContactNewton_CanSolve(rbContactNewton* newton, const rbContactSettings* settings,
                              const rbContactRun* run)
{
    if (settings->cone != RB_CONE_EXACT || run->sweepJoints != NULL) {
        return false;
    }
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[contactAt(run, i)];
        if (contact->rolling > 0.0 || contact->spinning > 0.0) {
            return false;
        }
    }
    findBodies(newton, run);
    bool isSmall = newton->bodies.count > 0 && makeProfile(newton, run);
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
static double responseOf(const rbContactRun* run, const NewtonPoint* p, const double row[12])
{
    double sum = 0.0;
    const int hosts[2] = {p->contact->bodyA, p->contact->bodyB};
    for (int side = 0; side < 2; ++side) {
        const rbContactBody* body = &run->bodies[hosts[side]];
        if (isMoved(run, hosts[side])) {
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
    double normal = responseOf(run, &p, p.rows[0]);
    double tangential = fmax(responseOf(run, &p, p.rows[1]), responseOf(run, &p, p.rows[2]));
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

static void findMasses(rbContactNewton* newton, const rbContactRun* run)
{
    int count = newton->bodies.count;
    rbArray_Reserve(newton->masses, 7 * count);
    rbArray_Reserve(newton->velocities, DOF * count);
    rbArray_Reserve(newton->starts, DOF * count);
    rbArray_Reserve(newton->trial, DOF * count);
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
static void projectPoint(const rbContactRun* run, NewtonPoint* p, const double* velocities)
{
    double w[3];
    for (int row = 0; row < 3; ++row) {
        w[row] = rateOf(run, p, row, velocities);
    }
    double normal = p->held[0] - p->r[0] * w[0];
    p->x[0] = normal > 0.0 ? normal : 0.0;
    p->d[0] = normal > 0.0 ? p->r[0] : 0.0;
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

static void project(rbContactNewton* newton, const rbContactRun* run, const double* velocities)
{
    for (int i = 0; i < newton->points.count; ++i) {
        projectPoint(run, &newton->points.data[i], velocities);
    }
}

static void addToBodies(const NewtonPoint* p, int row, double factor, double* to)
{
    const int locals[2] = {p->a, p->b};
    for (int side = 0; side < 2; ++side) {
        if (locals[side] >= 0) {
            for (int k = 0; k < DOF; ++k) {
                to[DOF * locals[side] + k] += factor * p->rows[row][6 * side + k];
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
        for (int row = 0; row < 3; ++row) {
            addToBodies(p, row, p->x[row] - p->start[row], residual);
        }
    }
}

// ------------------------------------------------------------------------------------------ matrix

static double* entryAt(rbContactNewton* newton, int row, int column)
{
    int first = DOF * newton->firsts.data[row / DOF];
    return &newton->entries.data[newton->offsets.data[row] + (size_t)(column - first)];
}

// Adds factor * g g^T, g being a row over the two bodies of a point.
static void addSquare(rbContactNewton* newton, const NewtonPoint* p, const double g[12],
                      double factor)
{
    const int locals[2] = {p->a, p->b};
    for (int sideI = 0; sideI < 2; ++sideI) {
        for (int sideJ = 0; sideJ < 2; ++sideJ) {
            int i = locals[sideI];
            int j = locals[sideJ];
            if (i < 0 || j < 0 || j > i) {
                continue;
            }
            for (int k = 0; k < DOF; ++k) {
                double left = factor * g[6 * sideI + k];
                int last = i == j ? k : DOF - 1;
                double* to = entryAt(newton, DOF * i + k, DOF * j);
                for (int l = 0; l <= last; ++l) {
                    to[l] += left * g[6 * sideJ + l];
                }
            }
        }
    }
}

static void assemble(rbContactNewton* newton)
{
    memset(newton->entries.data, 0, (size_t)newton->entries.count * sizeof(double));
    for (int i = 0; i < newton->bodies.count; ++i) {
        const double* m = &newton->masses.data[7 * (size_t)i];
        int row = DOF * i;
        for (int k = 0; k < 3; ++k) {
            *entryAt(newton, row + k, row + k) = m[0];
            *entryAt(newton, row + 3 + k, row + 3 + k) = m[1 + k];
        }
        *entryAt(newton, row + 4, row + 3) = m[4];
        *entryAt(newton, row + 5, row + 3) = m[5];
        *entryAt(newton, row + 5, row + 4) = m[6];
    }
    for (int i = 0; i < newton->points.count; ++i) {
        const NewtonPoint* p = &newton->points.data[i];
        addSquare(newton, p, p->rows[0], p->d[0]);
        bool isSliding = p->slide[0] != 0.0 || p->slide[1] != 0.0;
        if (!isSliding) {
            addSquare(newton, p, p->rows[1], p->d[1]);
            addSquare(newton, p, p->rows[2], p->d[1]);
        } else {
            // Across the direction of sliding only.
            double across[12];
            for (int k = 0; k < 12; ++k) {
                across[k] = p->slide[0] * p->rows[2][k] - p->slide[1] * p->rows[1][k];
            }
            addSquare(newton, p, across, p->d[1]);
        }
    }
}

// L D L^T in place: rows of L from their first columns, D on the diagonal. False if a pivot is not
// positive.
static bool factor(rbContactNewton* newton)
{
    int n = DOF * newton->bodies.count;
    for (int i = 0; i < n; ++i) {
        int firstI = DOF * newton->firsts.data[i / DOF];
        double* rowI = &newton->entries.data[newton->offsets.data[i]];
        // g_ij = l_ij d_j
        for (int j = firstI; j < i; ++j) {
            int firstJ = DOF * newton->firsts.data[j / DOF];
            const double* rowJ = &newton->entries.data[newton->offsets.data[j]];
            int from = firstI > firstJ ? firstI : firstJ;
            rowI[j - firstI] -=
                rbDotArrays(rowI + (from - firstI), rowJ + (from - firstJ), (size_t)(j - from));
        }
        double pivot = rowI[i - firstI];
        for (int j = firstI; j < i; ++j) {
            int firstJ = DOF * newton->firsts.data[j / DOF];
            double g = rowI[j - firstI];
            double l = g / newton->entries.data[newton->offsets.data[j] + (size_t)(j - firstJ)];
            pivot -= l * g;
            rowI[j - firstI] = l;
        }
        if (!(pivot > 0.0)) {
            return false;
        }
        rowI[i - firstI] = pivot;
    }
    return true;
}

static void solve(rbContactNewton* newton)
{
    int n = DOF * newton->bodies.count;
    double* x = newton->change.data;
    memcpy(x, newton->residual.data, (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) {
        int first = DOF * newton->firsts.data[i / DOF];
        const double* row = &newton->entries.data[newton->offsets.data[i]];
        x[i] -= rbDotArrays(row, x + first, (size_t)(i - first));
    }
    for (int i = 0; i < n; ++i) {
        int first = DOF * newton->firsts.data[i / DOF];
        x[i] /= newton->entries.data[newton->offsets.data[i] + (size_t)(i - first)];
    }
    for (int i = n - 1; i >= 0; --i) {
        int first = DOF * newton->firsts.data[i / DOF];
        const double* row = &newton->entries.data[newton->offsets.data[i]];
        for (int k = first; k < i; ++k) {
            x[k] -= row[k - first] * x[i];
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

// The minimum for the impulses held.
static bool minimize(rbContactNewton* newton, const rbContactRun* run, int* rounds)
{
    project(newton, run, newton->velocities.data);
    findResidual(newton, newton->velocities.data);
    for (int k = 0; k < NEWTON_MAX; ++k) {
        assemble(newton);
        *rounds += 1;
        if (!factor(newton)) {
            return false;
        }
        solve(newton);
        if (goDown(newton, run) <= MOVED_LEAST) {
            break;
        }
    }
    return true;
}

static void beginRound(rbContactNewton* newton, double stiffness, bool isFirst)
{
    for (int i = 0; i < newton->points.count; ++i) {
        NewtonPoint* p = &newton->points.data[i];
        p->r[0] = stiffness * p->mass[0];
        p->r[1] = stiffness * p->mass[1];
        bool isSliding = !isFirst && (p->slide[0] != 0.0 || p->slide[1] != 0.0);
        double sticking = fmax(p->contact->stiction, p->contact->friction);
        p->radius = (isSliding ? p->contact->friction : sticking) * p->held[0];
    }
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
        if (p->slide[0] == 0.0 && p->slide[1] == 0.0 && p->x[0] > 0.0) {
            most = fmax(most, fabs(rateOf(run, p, 1, v)));
            most = fmax(most, fabs(rateOf(run, p, 2, v)));
        }
        bool isSliding = p->slide[0] != 0.0 || p->slide[1] != 0.0;
        if (isSliding && p->x[0] > 0.0) {
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
        p->point->isSticking = p->slide[0] == 0.0 && p->slide[1] == 0.0 && x[0] > 0.0;
    }
}

double rbContactNewton_Solve(rbContactNewton* newton, const rbContactRun* run,
                             const rbNewtonTask* task, int* rounds)
{
    double left = INFINITY;
    newton->acted = task->isOfPositions && !run->isContinued ? 0.0 : 1.0;
    newton->guessed = task->isOfPositions || run->isContinued ? 1.0 : 2.0;
    findBodies(newton, run);
    if (newton->bodies.count > 0 && makeProfile(newton, run)) {
        double stiffness = STIFFNESS_FIRST;
        findPoints(newton, run, task->isOfPositions, task->partSpeed);
        findMasses(newton, run);
        for (int round = 0; round < ROUNDS_MAX && left > GOAL_PART * task->tolerance; ++round) {
            beginRound(newton, stiffness, round == 0);
            stiffness = fmin(STIFFNESS, STIFFNESS_GROWTH * stiffness);
            if (!minimize(newton, run, rounds)) {
                break;
            }
            for (int i = 0; i < newton->points.count; ++i) {
                NewtonPoint* p = &newton->points.data[i];
                memcpy(p->held, p->x, sizeof p->held);
            }
            left = violation(newton, run);
            if (round >= ROUNDS_TRIED && left > task->known) {
                break;
            }
        }
        if (left < task->known) {
            applyImpulses(newton, run);
        }
    }
    forgetBodies(newton);
    return left < task->known ? left : task->known;
}
