// Stages of the contact solver: sweeps until converged, mixed with the previous sweeps, joints
// after them, and shock propagation instead of more sweeps.
//
// Sweeps always go up the levels. Alternating up and down, which gradients would need, makes the
// sweeps of a stage too dissimilar for mixing (measured: 20 boxes 330 sweeps, not 91). Joints keep
// separate sums that cannot be mixed; with them there are only plain sweeps. Every stage ends with
// a sweep, which leaves all sums in their cones.
#include "dynamics/contact/contact_solver.h"

#include "base/core/tasks.h"
#include "base/math/dot.h"
#include "dynamics/contact/contact_rows.h"
#include "dynamics/impact/energy_line.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- mixing
// Faster than sweeps alone: mixing of the last sweeps (Anderson acceleration of a fixed point).
//
// A sweep brings the unknowns x (impulses, and velocities that are linear in them) to x' and
// changes them by g = x' - x, which is zero only at the solution. The next sweep starts from
//   x' - sum c_j (x'_j+1 - x'_j),  c such that |g - sum c_j (g_j+1 - g_j)| is smallest
// over the last few sweeps. Near the solution, where the same points stick, slide and separate, x'
// is linear in x and this is the method of minimal residuals. The norm of g is that of the
// velocities, weighted by masses: impulses that cancel each other do not count.

// Sweeps that are remembered. 1e6 kg on 1 kg: 316 sweeps with 4, 26 with 8.
#define MIXING_DEPTH 8

typedef struct Mixing {
    RB_ARRAY(double) start;   // velocities before the sweep
    RB_ARRAY(double) result;  // unknowns after the last sweep
    RB_ARRAY(double) end;     // velocities after it
    RB_ARRAY(double) change;  // g of it
    RB_ARRAY(double) results; // x'_j+1 - x'_j, MIXING_DEPTH columns, the oldest is replaced
    RB_ARRAY(double) changes; // g_j+1 - g_j
    RB_ARRAY(double) best;    // impulses of points
    double leastError;        // m/s, of the sweep that made them
    double gram[MIXING_DEPTH][MIXING_DEPTH]; // of the columns of changes
    double right[MIXING_DEPTH];              // with g
    int count;                               // number of columns
    int next;                                // the one to replace
    double length;                           // |g|^2 of the last sweep
    bool hasLast;
} Mixing;

// A sweep that changes more than this times the change of the last one (squared) acts on other
// points: the history is dropped, and mixing goes on from there. Islands of more than BODIES_MANY:
// any growth, since in piles there is always some point that changes its mind.
#define GROWTH_MAX 1e4
#define BODIES_MANY 64
// A column whose component independent of the previous columns is smaller than this adds no
// information.
#define COLUMN_LEAST 1e-10
// Sum of the weights beyond which a mixture is rounding error.
#define MIXED_MOST 1e8

// Three each of a body twice (spin, velocity), a point and a turn.
static int unknownCount(const rbRowsPack* pack)
{
    return 6 * pack->bodyCount + 3 * pack->pointCount + 3 * pack->turnCount;
}

// The three unknowns of a place.
static double* unknownAt(const rbContactRows* rows, const rbRowsPack* pack, int place)
{
    int point = place - 2 * pack->bodyCount;
    if (point < 0) {
        rbRowBody* body = &rows->bodies.data[pack->firstBody + place / 2];
        return place % 2 == 0 ? body->spin : body->velocity;
    }
    return point < pack->pointCount
               ? rows->points.data[pack->firstPoint + point].impulse
               : rows->turns.data[pack->firstTurn + point - pack->pointCount].impulse;
}

// Velocities, the linear ones times the root of the mass, so that squares add up to energies.
static void readVelocities(const rbContactRows* rows, const rbRowsPack* pack, double* to)
{
    for (int i = 0; i < pack->bodyCount; ++i) {
        const rbRowBody* body = &rows->bodies.data[pack->firstBody + i];
        double root = body->invMass > 0.0 ? 1.0 / sqrt(body->invMass) : 0.0;
        for (int k = 0; k < 3; ++k) {
            to[6 * i + k] = body->spin[k];
            to[6 * i + 3 + k] = root * body->velocity[k];
        }
    }
}

// Starts a stage with the current unknowns.
static void beginMixing(Mixing* mixing, const rbContactRows* rows, const rbRowsPack* pack)
{
    RB_ASSERT(pack->bodyCount > 0 && pack->pointCount > 0);
    int speeds = 6 * pack->bodyCount;
    int count = unknownCount(pack);
    rbArray_Reserve(mixing->start, speeds);
    rbArray_Reserve(mixing->change, speeds);
    rbArray_Reserve(mixing->changes, speeds * MIXING_DEPTH);
    rbArray_Reserve(mixing->result, count);
    rbArray_Reserve(mixing->end, speeds);
    rbArray_Reserve(mixing->results, count * MIXING_DEPTH);
    rbArray_Reserve(mixing->best, count);
    mixing->leastError = INFINITY;
    mixing->count = 0;
    mixing->next = 0;
    mixing->hasLast = false;
    mixing->length = 0.0;
    readVelocities(rows, pack, mixing->start.data);
}

// Records x': the difference from the last one goes into a column.
static void noteResult(Mixing* mixing, const rbContactRows* rows, const rbRowsPack* pack,
                       double* column)
{
    int count = unknownCount(pack);
    for (int at = 0; at < count; at += 3) {
        const double* x = unknownAt(rows, pack, at / 3);
        double* last = &mixing->result.data[at];
        for (int k = 0; k < 3; ++k) {
            if (column != NULL) {
                column[at + k] = x[k] - last[k];
            }
            last[k] = x[k];
        }
    }
}

// Least squares by the Gram matrix, eliminated in order of age; columns that add no information are
// left out.
static void solveGram(const Mixing* mixing, double c[MIXING_DEPTH])
{
    int n = mixing->count;
    RB_ASSERT(n > 0 && n <= MIXING_DEPTH);
    double l[MIXING_DEPTH][MIXING_DEPTH];
    double d[MIXING_DEPTH];
    int order[MIXING_DEPTH];
    for (int i = 0; i < n; ++i) {
        order[i] = (mixing->next - 1 - i + 2 * MIXING_DEPTH) % MIXING_DEPTH;
    }
    for (int i = 0; i < n; ++i) {
        c[order[i]] = mixing->right[order[i]];
        for (int j = 0; j <= i; ++j) {
            double sum = mixing->gram[order[i]][order[j]];
            for (int k = 0; k < j; ++k) {
                sum -= l[i][k] * l[j][k] * d[k];
            }
            if (j < i) {
                l[i][j] = d[j] > 0.0 ? sum / d[j] : 0.0;
            } else {
                d[i] = sum > COLUMN_LEAST * mixing->gram[order[i]][order[i]] ? sum : 0.0;
            }
        }
        for (int j = 0; j < i; ++j) {
            c[order[i]] -= l[i][j] * c[order[j]];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        c[order[i]] = d[i] > 0.0 ? c[order[i]] / d[i] : 0.0;
        for (int j = i + 1; j < n && d[i] > 0.0; ++j) {
            c[order[i]] -= l[j][i] * c[order[j]];
        }
    }
}

// The column of this sweep against the last one, and its products.
static void addColumn(Mixing* mixing, int speeds, const double* change)
{
    int at = mixing->next;
    RB_ASSERT(at >= 0 && at < MIXING_DEPTH);
    double* column = &mixing->changes.data[(size_t)at * (size_t)speeds];
    for (int i = 0; i < speeds; ++i) {
        column[i] = change[i] - mixing->change.data[i];
    }
    mixing->count = mixing->count < MIXING_DEPTH ? mixing->count + 1 : MIXING_DEPTH;
    mixing->next = (at + 1) % MIXING_DEPTH;
    for (int j = 0; j < mixing->count; ++j) {
        const double* other = &mixing->changes.data[(size_t)j * (size_t)speeds];
        double product = rbDotArrays(column, other, (size_t)speeds);
        mixing->gram[at][j] = product;
        mixing->gram[j][at] = product;
        mixing->right[j] = rbDotArrays(change, other, (size_t)speeds);
    }
}

// Call after a sweep that is not the last: changes the unknowns. Velocities before the next sweep
// are to be read then.
static void mixSweeps(Mixing* mixing, rbContactRows* rows, const rbRowsPack* pack)
{
    int speeds = 6 * pack->bodyCount;
    int count = unknownCount(pack);
    RB_ASSERT(mixing->start.capacity >= speeds && mixing->result.capacity >= count);
    // g, in the place of the velocities before the sweep
    double* change = mixing->start.data;
    readVelocities(rows, pack, mixing->end.data);
    for (int i = 0; i < speeds; ++i) {
        change[i] = mixing->end.data[i] - change[i];
    }
    double length = rbDotArrays(change, change, (size_t)speeds);
    double growth = pack->bodyCount > BODIES_MANY ? 1.0 : GROWTH_MAX;
    if (mixing->hasLast && !(length <= growth * mixing->length)) {
        mixing->count = 0;
        mixing->next = 0;
        mixing->hasLast = false;
    }
    bool hasColumn = mixing->hasLast;
    double* column = hasColumn ? &mixing->results.data[(size_t)mixing->next * (size_t)count] : NULL;
    noteResult(mixing, rows, pack, column);
    if (hasColumn) {
        addColumn(mixing, speeds, change);
    }
    memcpy(mixing->change.data, change, (size_t)speeds * sizeof *change);
    mixing->length = length;
    mixing->hasLast = true;
    if (mixing->count > 0) {
        double c[MIXING_DEPTH] = {0.0};
        solveGram(mixing, c);
        double size = 0.0;
        for (int j = 0; j < mixing->count; ++j) {
            size += fabs(c[j]);
        }
        if (!(size <= MIXED_MOST)) {
            // columns equal up to rounding: they add no information
            mixing->count = 0;
            mixing->next = 0;
            return;
        }
        for (int at = 0; at < count; at += 3) {
            double* x = unknownAt(rows, pack, at / 3);
            for (int k = at; k < at + 3; ++k) {
                double mixed = mixing->result.data[k];
                for (int j = 0; j < mixing->count; ++j) {
                    mixed -= c[j] * mixing->results.data[(size_t)j * (size_t)count + (size_t)k];
                }
                x[k - at] = mixed;
            }
        }
    }
}

// In large islands mixing does not help: there is always a point that changes its mind, and the
// mixture of all has to begin again. Momentum does, with restarts by body (Nesterov's
// acceleration): after a sweep impulses x' go on by b (x' - x'_last), b = k / (k + 3) with the
// number k of sweeps since one of their bodies turned back. It does where a sweep goes back from
// where momentum has led its points, or against this momentum, in the sum of energies. Velocity
// stages of 1000 bodies in nearly settled heaps: 200 sweeps leave what 1000 without momentum do,
// and 500 with mixing.

// Seven velocity stages dumped from heaps: with 0.9 up to twice the sweeps, with 1 the same.
#define MOMENTUM_MOST 0.95

// What the last sweep did at the points of a contact, for its bodies: the energies of going back
// and of going on. last: impulses after the sweep before it, led: at its start.
static void addTurns(const rbSweepContact* contact, const rbSweepPoint* points, const double* last,
                     const double* led, double* turns[2])
{
    for (int k = 0; k < contact->pointCount; ++k, last += 3, led += 3) {
        double back = 0.0;
        double on = 0.0;
        for (int t = 0; t < 3; ++t) {
            double inverse = t == 0 ? points[k].invNormal : points[k].slideStep;
            double change = inverse > 0.0 ? (points[k].impulse[t] - last[t]) / inverse : 0.0;
            back += (led[t] - points[k].impulse[t]) * change;
            on += (led[t] - last[t]) * change;
        }
        for (int isB = 0; isB < 2; ++isB) {
            turns[isB][0] += back;
            turns[isB][1] += on;
        }
    }
}

// Call after a sweep that is not the last, with mixing begun: changes the impulses, not yet the
// velocities. By body, first what is immovable: energies of a sweep, sweeps since it turned back.
static void addMomentum(Mixing* mixing, const rbContactRows* rows, const rbRowsPack* pack)
{
    double* bodies = mixing->changes.data;
    if (!mixing->hasLast) {
        memset(bodies, 0, 3 * (size_t)(pack->bodyCount + 1) * sizeof(double));
        noteResult(mixing, rows, pack, NULL);
        memcpy(mixing->results.data, mixing->result.data,
               (size_t)unknownCount(pack) * sizeof(double));
        mixing->hasLast = true;
        return;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = pack->firstContact; i < pack->firstContact + pack->contactCount; ++i) {
            const rbSweepContact* contact = &rows->contacts.data[i];
            rbSweepPoint* points = &rows->points.data[contact->firstPoint];
            int at = 6 * pack->bodyCount + 3 * (contact->firstPoint - pack->firstPoint);
            double* last = &mixing->result.data[at];
            double* led = &mixing->results.data[at];
            double* turns[2];
            for (int isB = 0; isB < 2; ++isB) {
                int slot = contact->slots[isB];
                turns[isB] = &bodies[slot > 0 ? 3 * (slot - pack->firstBody + 1) : 0];
            }
            double run = fmin(turns[0][2], turns[1][2]);
            double part = fmin(MOMENTUM_MOST, run / (run + 3.0));
            for (int k = 0; pass == 1 && k < 3 * contact->pointCount; ++k) {
                double* x = &points[k / 3].impulse[k % 3];
                led[k] = *x + part * (*x - last[k]);
                last[k] = *x;
                *x = led[k];
            }
            if (pass == 0) {
                addTurns(contact, points, last, led, turns);
            }
        }
        for (int i = 0; pass == 0 && i <= pack->bodyCount; ++i) {
            double* turn = &bodies[3 * (size_t)i];
            bool isBack = i > 0 && (turn[0] > 0.0 || turn[1] < 0.0);
            turn[2] = isBack ? 0.0 : turn[2] + 1.0;
            turn[0] = turn[1] = 0.0;
        }
    }
}

// Momentum finds the solution of a heap within a few hundred sweeps and then circles around it,
// at a few tolerances, without end: points turn back at different times. The average of a round is
// nearer than each of its sweeps. Cones are convex, so it is in them.
// 1000 spheres falling at 1e-4 m/s, 300 steps: 24 to 37 steps missed without, 3 with, 9 with 200
// and 150 of them, 23 with 50 and 30.
#define AVERAGE_AFTER 200
#define AVERAGE_EVERY 100
#define AVERAGE_OF 60

// Call after sweep number i, with momentum begun. True: the impulses are now an average, and
// momentum begins again.
static bool averageSweeps(Mixing* mixing, const rbContactRows* rows, const rbRowsPack* pack, int i)
{
    int phase = (i - AVERAGE_AFTER) % AVERAGE_EVERY - (AVERAGE_EVERY - AVERAGE_OF);
    if (i < AVERAGE_AFTER || phase < 0) {
        return false;
    }
    double* sums = &mixing->results.data[unknownCount(pack)];
    RB_ASSERT(phase < AVERAGE_OF && mixing->hasLast);
    for (int k = 0; k < 3 * pack->pointCount; ++k) {
        double* x = &rows->points.data[pack->firstPoint + k / 3].impulse[k % 3];
        sums[k] = phase > 0 ? sums[k] + *x : *x;
        *x = phase == AVERAGE_OF - 1 ? sums[k] / AVERAGE_OF : *x;
    }
    mixing->hasLast = phase < AVERAGE_OF - 1;
    return !mixing->hasLast;
}

// What momentum passes by: the impulses at the end of the best sweep so far, from which the last
// ones go on. 1000 spheres, 300 steps: what is left is at most 3.4 tolerances instead of 12.
#define BEST_AFTER 100

// Of points and turns, which follow the bodies.
static int impulseCount(const rbRowsPack* pack)
{
    return pack->pointCount + pack->turnCount;
}

static void copyBest(Mixing* mixing, const rbContactRows* rows, const rbRowsPack* pack, bool isBack)
{
    RB_ASSERT(mixing->best.capacity >= 3 * impulseCount(pack));
    for (int i = 0; i < impulseCount(pack); ++i) {
        double* best = &mixing->best.data[3 * (size_t)i];
        double* now = unknownAt(rows, pack, 2 * pack->bodyCount + i);
        memcpy(isBack ? now : best, isBack ? best : now, 3 * sizeof(double));
    }
}

// ---------------------------------------------------------------------------------------- stages

// A stage that needs more than one sweep continues to this fraction of the tolerance. A point
// measures its error before later points of the sweep act, and the remaining error is there in the
// next step, which then needs only the one sweep that acts in any case (20 boxes at rest: 1.02
// sweeps on average, moved 6e-7 m; with 0.1 it is 1.4e-6 m).
#define AIM 0.01
// It does so for this many times the sweeps that met the tolerance; near the limit of friction
// convergence is slow and of no use.
#define AIM_SWEEPS 8
// Bodies that strike do not rest in the next step: where the first sweep finds more than this many
// times the tolerance, this fraction of the tolerance is enough.
#define MOVING 50.0
#define MOVING_REST 20.0 // and more than this many times the speed at which bodies collide
#define AIM_MOVING 0.5
#define AIM_SWEEPS_MOVING 1.25
// In large islands the tolerance is enough after these: it may be left again.
#define SWEEPS_MOVING 300
// Bodies at rest repeat their errors: what a velocity stage leaves adds up until the position stage
// must undo all of it at once, which sweeps cannot. So at rest a velocity stage goes on until an
// error of this fraction of the position tolerance is added in a step. 210 boxes at 1e-5 m and 1e-4
// m/s, 900 steps: 3.6 ms a step, with 0.05 and less gaps stay within the tolerance; with 0.1, and
// without this, steps of 0.9 s, 34 ms on average.
#define REST_PART 0.02
// Sweeps before mixing begins.
#define PLAIN_SWEEPS 9
// Large islands go on with momentum instead of mixing, after few sweeps: inner parts of a
// step have few. A pyramid of 210 boxes takes 3.6 ms a step with mixing, 4.8 with momentum.
#define PLAIN_SWEEPS_LARGE 2
#define PLAIN_LAST_LARGE 4

// A stage as sweeps left it, while shock propagation runs.
typedef struct ShockMemory {
    RB_ARRAY(double) unknowns; // see unknownAt
    RB_ARRAY(int) areSticking; // by point
    RB_ARRAY(rbRowBody) lower; // bodies of the pack, before a level
} ShockMemory;

// A running stage.
typedef struct Stage {
    rbContactRows* rows;
    ShockMemory* shock;
    const rbContactRun* run;
    rbRowsPack pack;
    rbSweep sweep;
    double tolerance;  // m/s
    double moving;     // m/s, see MOVING
    double resting;    // m/s, see REST_PART
    double restSpeed;  // m/s: slower is rest for shock propagation
    bool isKept;       // incoming sums have acted before
    int within;        // first sweep that met the tolerance, 0: none yet
    bool areJointsOff; // they are left out
    bool areJointsMet; // in the last sweep
    rbContactSolved solved;
} Stage;

struct rbContactSolver {
    rbContactSettings settings;
    rbContactRows rows;
    Mixing mixing;
    ShockMemory shock;
    rbFrictionBound bound;
    bool isBegun; // impulses that will act at their position stage
};

rbContactTolerance rbContactSettings_GetTolerance(const rbContactSettings* settings)
{
    return (rbContactTolerance){
        .gap = settings->tolerance > 0.0 ? settings->tolerance : 1e-5,
        .speed = settings->velocityTolerance > 0.0 ? settings->velocityTolerance : 1e-4,
    };
}

// Contacts are solved to this, m and m/s, however loose the tolerance: bodies would sag by it
// before anything bears them, and jitter. A pyramid at 1e-2 m took 50 times as long as at 1e-5 m.
#define LOOSEST_GAP 1e-5
#define LOOSEST_SPEED 1e-3

rbContactTolerance rbContactTolerance_Aim(rbContactTolerance allowed)
{
    return (rbContactTolerance){fmin(allowed.gap, LOOSEST_GAP), fmin(allowed.speed, LOOSEST_SPEED)};
}

rbContactSettings rbAimContactSettings(const rbContactSettings* settings)
{
    rbContactSettings result = *settings;
    rbContactTolerance aim = rbContactTolerance_Aim(rbContactSettings_GetTolerance(settings));
    result.tolerance = settings->tolerance > 0.0 ? aim.gap : 1e-6;
    result.velocityTolerance = settings->velocityTolerance > 0.0 ? aim.speed : 1e-8;
    return result;
}

double rbContactRun_GetTolerance(const rbContactRun* run, const rbContactSettings* settings,
                                 bool isVelocity)
{
    rbContactSettings aim = rbAimContactSettings(settings);
    double own = isVelocity ? run->allowed.speed : run->allowed.gap;
    RB_ASSERT(own >= 0.0);
    return own > 0.0 ? own : isVelocity ? aim.velocityTolerance : aim.tolerance;
}

rbContactSolver* rbCreateContactSolver(const rbContactSettings* settings)
{
    RB_ASSERT(settings != NULL && settings->sweepsMax >= 0);
    RB_ASSERT(settings->tolerance >= 0.0 && settings->velocityTolerance >= 0.0);
    rbContactSolver* solver = rbAllocZero(1, sizeof(*solver));
    solver->settings = rbAimContactSettings(settings);
    solver->bound = rbMakeFrictionBound(settings);
    return solver;
}

void rbDestroyContactSolver(rbContactSolver* solver)
{
    if (solver == NULL) {
        return;
    }
    rbContactRows_Free(&solver->rows);
    rbArray_FreeAll(solver->mixing.start, solver->mixing.result, solver->mixing.change);
    rbArray_FreeAll(solver->mixing.end, solver->mixing.results, solver->mixing.changes,
                    solver->mixing.best);
    rbArray_FreeAll(solver->shock.unknowns, solver->shock.areSticking, solver->shock.lower);
    rbFree(solver, sizeof(*solver));
}

void rbContactSolver_Prepare(rbContactSolver* solver, const rbContactRun* run)
{
    RB_ASSERT(run->set != NULL && run->set->contactCount >= 0);
    RB_ASSERT(run->bodies != NULL || run->set->contactCount == 0);
    rbContactRows_Clear(&solver->rows, run->set->contactCount);
    solver->isBegun = false;
}

// Contacts of a run begin with half of the impulses of the last step, or none.
static void beginContacts(void* context, rbShare share)
{
    const rbContactRun* run = context;
    double part = run->isContinued ? 0.5 : 0.0;
    for (int i = share.begin; i < share.end; ++i) {
        rbContact* contact = &run->set->contacts[i];
        for (int k = 0; k < 3; ++k) {
            contact->turning[k] *= part;
        }
        for (int j = contact->firstPoint; j < contact->firstPoint + contact->pointCount; ++j) {
            rbContactPoint* point = &run->set->points[j];
            bool isCarrying = point->impulse[0] > point->passing[0];
            for (int k = 0; k < 3; ++k) {
                point->impulse[k] =
                    isCarrying ? part * (point->impulse[k] - point->passing[k]) : 0.0;
                point->passing[k] = 0.0;
            }
        }
    }
}

void rbContactSolver_BeginStep(rbContactSolver* solver, const rbContactRun* run, bool isWarm)
{
    RB_ASSERT(run->set != NULL && run->set->contactCount >= 0);
    rbContactRun begun = *run;
    begun.isContinued = isWarm;
    rbRunShares(run->set->contactCount, 256, beginContacts, &begun);
    solver->isBegun = true;
}

// Contacts one by one, with joints after each except the last: until joints have reacted, its
// velocities change by more than its masses imply.
static rbSweepTally sweepSlowly(const Stage* stage, int first, int last)
{
    rbSweepTally worst = rbSweep_Run(&stage->sweep, first, first + 1);
    for (int i = first + 1; i < last; ++i) {
        (void)rbContactRows_SweepJoints(stage->rows, &stage->pack, stage->run);
        rbSweepTally tally = rbSweep_Run(&stage->sweep, i, i + 1);
        bool isWorse = tally.normalError > worst.normalError;
        worst.worst = isWorse ? tally.worst : worst.worst;
        worst.normalError = isWorse ? tally.normalError : worst.normalError;
        worst.tangentError =
            tally.tangentError > worst.tangentError ? tally.tangentError : worst.tangentError;
    }
    return worst;
}

static double getError(const rbSweepTally* tally)
{
    return fmax(tally->normalError, tally->tangentError);
}

// One sweep over a range of contacts of the rows, and the joints; true: it is enough.
static bool sweepOnce(Stage* stage, int first, int last, rbSweepTally* tally)
{
    bool isSlow = stage->run->react != NULL && !stage->areJointsOff && last > first;
    *tally = isSlow ? sweepSlowly(stage, first, last) : rbSweep_Run(&stage->sweep, first, last);
    stage->solved.sweeps += 1;
    stage->solved.gapError = tally->normalError;
    stage->solved.slipError = tally->tangentError;
    stage->solved.worst = tally->worst >= 0 ? stage->rows->contacts.data[tally->worst].index : -1;
    double error = getError(tally);
    bool isMet = error <= stage->tolerance;
    if (stage->solved.sweeps == 1) {
        stage->solved.isMoving =
            stage->run->isMoving || (error > MOVING * stage->tolerance && error > stage->moving);
    }
    bool isMoving = stage->solved.isMoving;
    double enough = isMoving ? stage->tolerance : stage->resting;
    bool isWithin = error <= enough;
    if (isWithin && stage->within == 0) {
        stage->within = stage->solved.sweeps;
    }
    double most = isMoving ? AIM_SWEEPS_MOVING : AIM_SWEEPS;
    bool isDone = isWithin && (stage->solved.sweeps == 1 ||
                               error <= (isMoving ? AIM_MOVING : AIM) * stage->tolerance ||
                               stage->solved.sweeps >= most * stage->within ||
                               (isMoving && stage->pack.bodyCount > RB_ISLAND_LARGE &&
                                stage->solved.sweeps > SWEEPS_MOVING));
    if (stage->run->sweepJoints != NULL && !stage->areJointsOff) {
        bool areJointsDone = rbContactRows_SweepJoints(stage->rows, &stage->pack, stage->run);
        stage->areJointsMet = areJointsDone;
        isMet = isMet && areJointsDone;
        isDone = isDone && areJointsDone;
    }
    stage->solved.isMet = isMet;
    return isDone;
}

// ------------------------------------------------------------------------------------------- shock
// Shock propagation of resting contacts: levels are solved from the bottom up. Bodies at rest then
// count as fixed for those above them; moving bodies are swept again afterward.
//
// Impulses of a level do not act on fixed bodies. A body at rest transmits them to the ground
// anyway, but momentum that enters a moving body must not be lost, and the moving body must not do
// free work on what it pushes. A brick lifted by a blow would lift the wall on it, at no cost, and
// with the load of the wall its friction would be gone. So a body is frozen only if it rests
// relative to the ground that it stands on, directly or not. Three bounds remain. A level that does
// not converge (a body between two that close in on it has no solution) stays as the sweeps left
// it. All these changes are undone, by one factor for velocities and impulses, until there is no
// more energy than at the start of the stage or after the first sweeps. The reported errors are
// those at the end.

// Sweeps of a level, and the sweeps in which its error must have fallen by a factor to go on,
// unless it is within this many times the tolerance.
#define LEVEL_SWEEPS_MAX 300
#define LOOK_SWEEPS 10
#define LEAST_GAIN 0.9
#define NEAR 10
// Sweeps over all contacts when levels are done and something moves. For the wall of X-14 the mean
// brick height at 5 s is 3.15 m with 10, 2.88 m with 50, and 2.87 m with full iteration.
#define MOVING_SWEEPS 50

// The motion of a body so far in the stage.
typedef struct Motion {
    rbVec3 velocity;
    rbVec3 spin;
} Motion;

static Motion getMotion(const Stage* stage, int body)
{
    const rbContactRows* rows = stage->rows;
    int slot = rbContactRows_GetSlot(rows, body);
    if (slot == 0) {
        const rbContactBody* own = &stage->run->bodies[body];
        return (Motion){own->velocity, own->spin};
    }
    const rbRowsBody* start = &rows->starts.data[slot];
    const rbRowBody* now = &rows->bodies.data[slot];
    return (Motion){rbAdd(start->velocity, rbSweepBody_Velocity(now)),
                    rbAdd(start->spin, rbMulFactor(&start->factor, now->spin))};
}

// The ground of a body: the ground of its support, or the support itself.
static void findGround(const Stage* stage, const rbSweepContact* contact, bool isB)
{
    const rbContactRows* rows = stage->rows;
    const rbContact* from = &stage->run->set->contacts[contact->index];
    rbRowsBody* body = &rows->starts.data[contact->slots[isB]];
    int below = isB ? from->bodyA : from->bodyB;
    int slot = rbContactRows_GetSlot(rows, below);
    const rbRowsBody* bearer = slot > 0 ? &rows->starts.data[slot] : NULL;
    if (body->level == 0) {
        body->level = contact->level;
    }
    // of the same level: it stands next to it
    bool isBelow = bearer == NULL || (bearer->level > 0 && bearer->level < contact->level);
    if (body->level != contact->level || body->ground >= 0 || !isBelow) {
        return;
    }
    const rbContactPoint* point = &stage->run->set->points[from->firstPoint];
    rbVec3 way = isB ? rbSub(point->armA, point->armB) : rbSub(point->armB, point->armA);
    body->ground = bearer != NULL ? bearer->ground : below;
    body->way = bearer != NULL ? rbAdd(bearer->way, way) : way;
}

// The motion of a body's ground at its center.
static Motion getFrame(const Stage* stage, const rbRowsBody* body)
{
    if (body->ground < 0) {
        return (Motion){RB_VEC3_ZERO, RB_VEC3_ZERO};
    }
    Motion ground = getMotion(stage, body->ground);
    return (Motion){rbAdd(ground.velocity, rbCross(ground.spin, body->way)), ground.spin};
}

// Whether a body of a contact hardly moves relative to its ground: its center, and the points of
// the contact by rotation about it.
static bool isResting(const Stage* stage, const rbSweepContact* contact, bool isB)
{
    const rbContact* from = &stage->run->set->contacts[contact->index];
    const rbRowsBody* body = &stage->rows->starts.data[contact->slots[isB]];
    Motion own = getMotion(stage, body->index);
    Motion frame = getFrame(stage, body);
    double turn = rbLength(rbSub(own.spin, frame.spin));
    double reach = 0.0;
    for (int i = from->firstPoint; i < from->firstPoint + from->pointCount; ++i) {
        const rbContactPoint* point = &stage->run->set->points[i];
        reach = fmax(reach, rbLength(isB ? point->armB : point->armA));
    }
    return rbDistance(own.velocity, frame.velocity) <= stage->restSpeed &&
           reach * turn <= stage->restSpeed;
}

// Bodies of the contacts of a level that rest count as fixed for those above.
static void freezeBodies(const Stage* stage, int first, int last)
{
    const rbContactRows* rows = stage->rows;
    for (int i = first; i < last; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[i];
        for (int isB = 0; isB < 2; ++isB) {
            if (contact->slots[isB] > 0) {
                findGround(stage, contact, isB);
            }
        }
    }
    for (int i = first; i < last; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[i];
        for (int isB = 0; isB < 2; ++isB) {
            int slot = contact->slots[isB];
            rbRowsBody* body = &rows->starts.data[slot];
            if (slot > 0 && !body->isFrozen && body->ground >= 0 &&
                isResting(stage, contact, isB)) {
                body->isFrozen = true;
                stage->run->bodies[body->index].isFrozen = true;
            }
        }
    }
}

static void copyBodies(const Stage* stage, rbRowBody* to)
{
    const rbRowBody* from = stage->rows->bodies.data + stage->pack.firstBody;
    memcpy(to, from, (size_t)stage->pack.bodyCount * sizeof *to);
}

static void remember(const Stage* stage)
{
    ShockMemory* memory = stage->shock;
    const rbRowsPack* pack = &stage->pack;
    int count = unknownCount(pack);
    rbArray_Reserve(memory->lower, pack->bodyCount);
    rbArray_Reserve(memory->unknowns, count);
    rbArray_Reserve(memory->areSticking, pack->pointCount);
    for (int at = 0; at < count; at += 3) {
        memcpy(&memory->unknowns.data[at], unknownAt(stage->rows, pack, at / 3),
               3 * sizeof(double));
    }
    for (int i = 0; i < pack->pointCount; ++i) {
        memory->areSticking.data[i] = stage->rows->points.data[pack->firstPoint + i].isSticking;
    }
}

// Keeps this fraction of the change of three unknowns since remember().
static void mix(const Stage* stage, int place, double part)
{
    double* now = unknownAt(stage->rows, &stage->pack, place);
    const double* then = &stage->shock->unknowns.data[(size_t)3 * (size_t)place];
    for (int k = 0; k < 3; ++k) {
        now[k] = part > 0.0 ? then[k] + part * (now[k] - then[k]) : then[k];
    }
}

// The same of the impulses of a range of contacts.
static void keepPart(const Stage* stage, int first, int last, double part)
{
    const rbRowsPack* pack = &stage->pack;
    for (int i = first; i < last; ++i) {
        const rbSweepContact* contact = &stage->rows->contacts.data[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            int point = k - pack->firstPoint;
            mix(stage, 2 * pack->bodyCount + point, part);
            if (!(part > 0.0)) {
                stage->rows->points.data[k].isSticking = stage->shock->areSticking.data[point];
            }
        }
        if (contact->turn >= 0) {
            mix(stage, 2 * pack->bodyCount + pack->pointCount + contact->turn - pack->firstTurn,
                part);
        }
    }
}

// Sweeps over a level until it converges or is hopeless. Returns the last of them; false in isGood:
// the level is unchanged.
static rbSweepTally solveLevel(Stage* stage, int first, int last, bool* isGood)
{
    RB_ASSERT(first < last && last <= stage->rows->contacts.count);
    copyBodies(stage, stage->shock->lower.data);
    rbSweepTally tally = {.worst = -1};
    double before = INFINITY;
    double looked = INFINITY;
    bool isDone = false;
    stage->areJointsOff = false;
    for (int k = 0; k < LEVEL_SWEEPS_MAX && !isDone; ++k) {
        rbPoll();
        isDone = sweepOnce(stage, first, last, &tally);
        // joints not moved by any of these bodies need no sweep each time
        stage->areJointsOff = stage->areJointsMet;
        before = k == 0 ? getError(&tally) : before;
        if (k % LOOK_SWEEPS == LOOK_SWEEPS - 1) {
            double error = getError(&tally);
            if (!(error < LEAST_GAIN * looked) && !(error < NEAR * stage->tolerance)) {
                break;
            }
            looked = error;
        }
    }
    stage->areJointsOff = false;
    *isGood = stage->solved.isMet || getError(&tally) < before;
    if (!*isGood) {
        memcpy(stage->rows->bodies.data + stage->pack.firstBody, stage->shock->lower.data,
               (size_t)stage->pack.bodyCount * sizeof(rbRowBody));
        keepPart(stage, first, last, 0.0);
        tally.normalError = fmax(tally.normalError, before);
    }
    return tally;
}

// Fraction of the changes since remember() that leaves no more energy, relative to the ground, than
// there was before the stage or at that point.
static double findPart(const Stage* stage)
{
    rbEnergyLine sweeps = {0};
    rbEnergyLine levels = {0};
    for (int i = 0; i < stage->pack.bodyCount; ++i) {
        const rbRowBody* now = &stage->rows->bodies.data[stage->pack.firstBody + i];
        const double* spin = &stage->shock->unknowns.data[(size_t)6 * (size_t)i];
        const double* velocity = spin + 3;
        const rbRowsBody* start = &stage->rows->starts.data[stage->pack.firstBody + i];
        double mass = now->invMass > 0.0 ? 1.0 / now->invMass : 0.0;
        Motion frame = getFrame(stage, start);
        rbVec3 v0 = rbSub(start->velocity, frame.velocity);
        rbVec3 v1 = rbAdd(v0, rbMakeVec3(velocity[0], velocity[1], velocity[2]));
        rbVec3 v2 = rbAdd(v0, rbSweepBody_Velocity(now));
        rbVec3 y0 = rbSolveFactor(&start->factor, rbSub(start->spin, frame.spin));
        rbVec3 y1 = rbAdd(y0, rbMakeVec3(spin[0], spin[1], spin[2]));
        rbVec3 y2 = rbAdd(y0, rbMakeVec3(now->spin[0], now->spin[1], now->spin[2]));
        rbEnergyLine_Add(&sweeps, mass, v0, v1);
        rbEnergyLine_Add(&sweeps, 1.0, y0, y1);
        rbEnergyLine_Add(&levels, mass, v1, v2);
        rbEnergyLine_Add(&levels, 1.0, y1, y2);
    }
    double rise = rbEnergyLine_GetRise(&sweeps);
    return rbEnergyLine_FindPart(&levels, rise < 0.0 ? -rise : 0.0);
}

// Energy has not grown, unless conveyors do work; errors in between are at most those of the
// mixture.
static double boundEnergy(const Stage* stage)
{
    int first = stage->pack.firstContact;
    int last = first + stage->pack.contactCount;
    bool hasBelt = false;
    for (int i = first; i < last; ++i) {
        int index = stage->rows->contacts.data[i].index;
        hasBelt = hasBelt || stage->run->set->contacts[index].hasBelt;
    }
    double part = hasBelt ? 1.0 : findPart(stage);
    RB_ASSERT(part >= 0.0 && part <= 1.0);
    if (part < 1.0) {
        for (int i = 0; i < 2 * stage->pack.bodyCount; ++i) {
            mix(stage, i, part);
        }
        keepPart(stage, first, last, part);
    }
    return part;
}

// Errors of all levels, m/s.
static rbContactSolved climbLevels(Stage* stage)
{
    rbContactRows* rows = stage->rows;
    rbContactSolved climb = {.worst = -1, .isMet = true};
    int end = stage->pack.firstContact + stage->pack.contactCount;
    for (int first = stage->pack.firstContact, last = first; first < end; first = last) {
        while (last < end && rows->contacts.data[last].level == rows->contacts.data[first].level) {
            rbContactRows_Freeze(rows, last++);
        }
        bool isGood = true;
        rbSweepTally tally = solveLevel(stage, first, last, &isGood);
        bool isLevelMet = isGood && stage->solved.isMet;
        climb.isMet = climb.isMet && isLevelMet;
        climb.gapError = fmax(climb.gapError, tally.normalError);
        climb.slipError = fmax(climb.slipError, tally.tangentError);
        climb.worst = isLevelMet ? climb.worst : stage->solved.worst;
        freezeBodies(stage, first, last);
    }
    return climb;
}

// How far the points of a contact have deviated from the motion assumed for its frozen side, m/s.
static double getDrift(const Stage* stage, const rbSweepContact* contact, bool isB)
{
    const rbContactRows* rows = stage->rows;
    const rbContact* from = &stage->run->set->contacts[contact->index];
    int body = isB ? from->bodyB : from->bodyA;
    int slot = rbContactRows_GetSlot(rows, body);
    if (contact->slots[isB] > 0 || slot == 0) {
        return 0.0;
    }
    const rbRowBody* now = &rows->bodies.data[slot];
    const rbRowBody* then = &stage->shock->lower.data[slot - stage->pack.firstBody];
    double y[3];
    for (int k = 0; k < 3; ++k) {
        y[k] = now->spin[k] - then->spin[k];
    }
    rbVec3 v = rbSub(rbSweepBody_Velocity(now), rbSweepBody_Velocity(then));
    rbVec3 w = rbMulFactor(&rows->starts.data[slot].factor, y);
    double drift = 0.0;
    for (int i = from->firstPoint; i < from->firstPoint + from->pointCount; ++i) {
        const rbContactPoint* point = &stage->run->set->points[i];
        drift = fmax(drift, rbLength(rbAdd(v, rbCross(w, isB ? point->armB : point->armA))));
    }
    return drift;
}

// Sweeps over all contacts. Frozen bodies yield to their neighbors and to bodies below. Contacts
// above assumed their old motion and miss by the difference.
static rbContactSolved sweepMoving(Stage* stage)
{
    int first = stage->pack.firstContact;
    int last = first + stage->pack.contactCount;
    rbSweepTally tally = {.worst = -1};
    copyBodies(stage, stage->shock->lower.data);
    bool isDone = false;
    for (int i = 0; i < MOVING_SWEEPS && !isDone; ++i) {
        isDone = sweepOnce(stage, first, last, &tally);
    }
    double drift = 0.0;
    for (int i = first; i < last; ++i) {
        const rbSweepContact* contact = &stage->rows->contacts.data[i];
        drift = fmax(drift, getDrift(stage, contact, false) + getDrift(stage, contact, true));
    }
    rbContactSolved climb = {.gapError = tally.normalError + drift,
                             .slipError = tally.tangentError + drift};
    climb.isMet = stage->solved.isMet && fmax(climb.gapError, climb.slipError) <= stage->tolerance;
    climb.worst = climb.isMet ? -1 : stage->solved.worst;
    return climb;
}

// Instead of many more sweeps: level by level from the bottom (B-74, B-78). Never ends with more
// energy than the stage began with and sweeps left. The rows cannot be used afterward.
static void propagateShock(Stage* stage)
{
    rbContactSolved swept = stage->solved;
    remember(stage);
    rbContactSolved climb = climbLevels(stage);
    const rbRowsBody* bodies = stage->rows->starts.data + stage->pack.firstBody;
    bool isAnyMoving = false;
    for (int i = 0; i < stage->pack.bodyCount; ++i) {
        isAnyMoving = isAnyMoving || !bodies[i].isFrozen;
    }
    if (isAnyMoving) {
        climb = sweepMoving(stage);
    }
    for (int i = 0; i < stage->pack.bodyCount; ++i) {
        stage->run->bodies[bodies[i].index].isFrozen = false;
    }
    double part = boundEnergy(stage);
    stage->solved.gapError = part * climb.gapError + (1.0 - part) * swept.gapError;
    stage->solved.slipError = part * climb.slipError + (1.0 - part) * swept.slipError;
    stage->solved.worst = climb.worst;
    stage->solved.isMet =
        (climb.isMet && part == 1.0) ||
        (part < 1.0 && fmax(stage->solved.gapError, stage->solved.slipError) <= stage->tolerance);
    stage->solved.isShocked = true;
    if (stage->pack.number >= 0) {
        stage->rows->packs.data[stage->pack.number].isSpent = true;
    }
}

// -------------------------------------------------------------------------------------------- runs

#define POLL_SWEEPS 8 // sweeps of a small island take less than to ask for a stop

// After sweep number i of a stage with at most so many, which left this error.
static void accelerate(rbContactSolver* solver, Stage* stage, int i, int most, double error)
{
    // plain sweeps first: they cost half, and many islands or games need no more; and last,
    // where it will not converge: a mixture may have energy that sweeps remove
    bool isLarge = stage->pack.bodyCount > RB_ISLAND_LARGE;
    int plain = isLarge ? PLAIN_SWEEPS_LARGE : PLAIN_SWEEPS;
    int last = most - (isLarge ? PLAIN_LAST_LARGE : most / 4);
    if (isLarge && i == last && i > BEST_AFTER && solver->mixing.leastError < INFINITY) {
        copyBest(&solver->mixing, &solver->rows, &stage->pack, true);
        rbContactRows_Renew(&solver->rows, &stage->pack, stage->run, &stage->sweep, stage->isKept);
    }
    if (i < plain || i >= last) {
        return;
    }
    if (isLarge && i >= BEST_AFTER && error < solver->mixing.leastError) {
        copyBest(&solver->mixing, &solver->rows, &stage->pack, false);
        solver->mixing.leastError = error;
    }
    if (i == plain) {
        beginMixing(&solver->mixing, &solver->rows, &stage->pack);
    }
    if (isLarge && !averageSweeps(&solver->mixing, &solver->rows, &stage->pack, i)) {
        addMomentum(&solver->mixing, &solver->rows, &stage->pack);
    } else if (!isLarge && i > plain) {
        mixSweeps(&solver->mixing, &solver->rows, &stage->pack);
    }
    if (i > plain) {
        // impulses that cancel each other can grow large in a mixture: velocities are
        // recomputed from the sums, otherwise rounding errors accumulate in them unseen
        rbContactRows_Renew(&solver->rows, &stage->pack, stage->run, &stage->sweep, stage->isKept);
        readVelocities(&solver->rows, &stage->pack, solver->mixing.start.data);
    }
}

static void runStage(rbContactSolver* solver, Stage* stage)
{
    const rbContactSettings* settings = &solver->settings;
    int most = stage->run->sweepsMax > 0 ? stage->run->sweepsMax : settings->sweepsMax;
    int first = stage->pack.firstContact;
    bool isDone = false;
    for (int i = 0; i < most && !isDone; ++i) {
        if (i % POLL_SWEEPS == 0 || stage->pack.bodyCount > RB_ISLAND_LARGE) {
            rbPoll();
        }
        if (settings->shockAfter > 0 && i == settings->shockAfter) {
            propagateShock(stage);
            return;
        }
        rbSweepTally tally;
        isDone = sweepOnce(stage, first, first + stage->pack.contactCount, &tally);
        if (isDone || stage->run->sweepJoints != NULL || i + 1 >= most) {
            continue;
        }
        accelerate(solver, stage, i, most, getError(&tally));
    }
}

rbContactSolved rbContactSolver_Solve(rbContactSolver* solver, const rbContactRun* run,
                                      bool isVelocity)
{
    RB_ASSERT(run->set != NULL && run->bodies != NULL);
    rbContactRows* rows = &solver->rows;
    rbRowsPack pack = rbContactRows_Pack(rows, run);
    double unit = isVelocity ? 1.0 : run->h;
    Stage stage = {.rows = rows,
                   .shock = &solver->shock,
                   .run = run,
                   .pack = pack,
                   .sweep = {.rows = rows, .bound = &solver->bound, .isVelocity = isVelocity},
                   .tolerance =
                       rbContactRun_GetTolerance(run, &solver->settings, isVelocity) / unit,
                   .moving = MOVING_REST * solver->settings.restSpeed,
                   .restSpeed = run->restSpeed > 0.0 ? run->restSpeed : solver->settings.restSpeed,
                   .solved = {.worst = -1}};
    RB_ASSERT(unit > 0.0 && stage.tolerance > 0.0 && stage.restSpeed >= 0.0);
    double adding = (isVelocity ? REST_PART : 1.0) *
                    rbContactRun_GetTolerance(run, &solver->settings, false) / run->h;
    stage.resting = fmin(stage.tolerance, adding);
    bool isNew = !isVelocity && solver->isBegun && !run->isContinued;
    bool isGuessed = isNew || (isVelocity && solver->settings.isWarm && !run->isContinued);
    stage.isKept = !isNew;
    if (!rbContactRows_Begin(rows, &pack, run, solver->settings.partSpeed, isVelocity, isGuessed)) {
        return stage.solved;
    }
    runStage(solver, &stage);
    rbContactRows_Finish(rows, &pack, run);
    RB_ASSERT(stage.solved.worst < run->set->contactCount);
    stage.solved.gapError *= unit;
    stage.solved.slipError *= unit;
    return stage.solved;
}
