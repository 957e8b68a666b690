// Stages of the contact solver: sweeps until converged, mixed with the previous sweeps, joints
// after them, and shock propagation instead of more sweeps.
//
// Sweeps always go up the levels. Alternating up and down, which gradients would need, makes the
// sweeps of a stage too dissimilar for mixing (measured: 20 boxes 330 sweeps, not 91). Joints keep
// separate sums that cannot be mixed; with them there are only plain sweeps. Every stage ends with
// a sweep, which leaves all sums in their cones.
#include "dynamics/contact/contact_solver.h"

#include "base/math/dot.h"
#include "base/math/elementary.h"
#include "dynamics/contact/contact_stage.h"

#include <math.h>

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
    RB_ARRAY(double) mixed;   // start of the next sweep
    RB_ARRAY(double) change;  // g of it
    RB_ARRAY(double) results; // x'_j+1 - x'_j, MIXING_DEPTH columns, the oldest is replaced
    RB_ARRAY(double) changes; // g_j+1 - g_j
    double gram[MIXING_DEPTH][MIXING_DEPTH]; // of the columns of changes
    double right[MIXING_DEPTH];              // with g
    int count;                               // number of columns
    int next;                                // the one to replace
    double length;                           // |g|^2 of the last sweep
    bool hasLast;
} Mixing;

// A sweep that changes more than this times the change of the last one (squared) acts on other
// points: the history is dropped, and mixing goes on from there.
#define GROWTH_MAX 1e4
// Islands of more bodies: any growth. In piles there is always some point that changes its mind;
// with the other bound 1000 falling spheres miss 4 of their first 100 steps, with this none.
#define BODIES_LARGE 64
// A column whose component independent of the previous columns is smaller than this adds no
// information.
#define COLUMN_LEAST 1e-10
// Sum of the weights beyond which a mixture is rounding error.
#define MIXED_MOST 1e8
// Unknowns that are mixed together, so that their sums stay in the cache.
#define MIXED_AT_ONCE 1024

static void freeMixing(Mixing* mixing)
{
    rbArray_Free(mixing->start);
    rbArray_Free(mixing->result);
    rbArray_Free(mixing->change);
    rbArray_Free(mixing->mixed);
    rbArray_Free(mixing->results);
    rbArray_Free(mixing->changes);
}

static int unknownCount(const rbRowsPack* pack)
{
    return 6 * pack->bodyCount + 3 * pack->pointCount + 3 * pack->turnCount;
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
    rbArray_Reserve(mixing->mixed, count);
    rbArray_Reserve(mixing->results, count * MIXING_DEPTH);
    mixing->count = 0;
    mixing->next = 0;
    mixing->hasLast = false;
    mixing->length = 0.0;
    readVelocities(rows, pack, mixing->start.data);
}

// Velocities were changed elsewhere.
static void restartMixing(Mixing* mixing, const rbContactRows* rows, const rbRowsPack* pack)
{
    readVelocities(rows, pack, mixing->start.data);
}

// Records x' of three unknowns: the difference from the last one goes into a column.
static int noteThree(Mixing* mixing, const double x[3], int at, double* column)
{
    double* last = &mixing->result.data[at];
    for (int k = 0; k < 3; ++k) {
        if (column != NULL) {
            column[at + k] = x[k] - last[k];
        }
        last[k] = x[k];
    }
    return at + 3;
}

static void noteResult(Mixing* mixing, const rbContactRows* rows, const rbRowsPack* pack,
                       double* column)
{
    int at = 0;
    for (int i = 0; i < pack->bodyCount; ++i) {
        const rbRowBody* body = &rows->bodies.data[pack->firstBody + i];
        at = noteThree(mixing, body->spin, at, column);
        at = noteThree(mixing, body->velocity, at, column);
    }
    for (int i = 0; i < pack->pointCount; ++i) {
        at = noteThree(mixing, rows->points.data[pack->firstPoint + i].impulse, at, column);
    }
    for (int i = 0; i < pack->turnCount; ++i) {
        at = noteThree(mixing, rows->turns.data[pack->firstTurn + i].impulse, at, column);
    }
}

static int moveThree(const double* values, double x[3], int at)
{
    x[0] = values[at];
    x[1] = values[at + 1];
    x[2] = values[at + 2];
    return at + 3;
}

// Writes unknowns to the rows.
static void writeUnknowns(const double* values, rbContactRows* rows, const rbRowsPack* pack)
{
    int at = 0;
    for (int i = 0; i < pack->bodyCount; ++i) {
        rbRowBody* body = &rows->bodies.data[pack->firstBody + i];
        at = moveThree(values, body->spin, at);
        at = moveThree(values, body->velocity, at);
    }
    for (int i = 0; i < pack->pointCount; ++i) {
        at = moveThree(values, rows->points.data[pack->firstPoint + i].impulse, at);
    }
    for (int i = 0; i < pack->turnCount; ++i) {
        at = moveThree(values, rows->turns.data[pack->firstTurn + i].impulse, at);
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

static void mixRange(Mixing* mixing, const double c[MIXING_DEPTH], int first, int last, int count)
{
    double* restrict mixed = mixing->mixed.data;
    for (int i = first; i < last; ++i) {
        mixed[i] = mixing->result.data[i];
    }
    for (int j = 0; j < mixing->count; ++j) {
        const double* restrict from = &mixing->results.data[(size_t)j * (size_t)count];
        for (int i = first; i < last; ++i) {
            mixed[i] -= c[j] * from[i];
        }
    }
}

// Call after a sweep that is not the last: changes the unknowns.
static void mixSweeps(Mixing* mixing, rbContactRows* rows, const rbRowsPack* pack)
{
    int speeds = 6 * pack->bodyCount;
    int count = unknownCount(pack);
    RB_ASSERT(mixing->start.capacity >= speeds && mixing->mixed.capacity >= count);
    // g, in the place of the velocities before the sweep
    double* change = mixing->start.data;
    for (int i = 0; i < pack->bodyCount; ++i) {
        const rbRowBody* body = &rows->bodies.data[pack->firstBody + i];
        double root = body->invMass > 0.0 ? 1.0 / sqrt(body->invMass) : 0.0;
        for (int k = 0; k < 3; ++k) {
            change[6 * i + k] = body->spin[k] - change[6 * i + k];
            change[6 * i + 3 + k] = root * body->velocity[k] - change[6 * i + 3 + k];
        }
    }
    double length = rbDotArrays(change, change, (size_t)speeds);
    double growth = pack->bodyCount > BODIES_LARGE ? 1.0 : GROWTH_MAX;
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
    for (int i = 0; i < speeds; ++i) {
        mixing->change.data[i] = change[i];
    }
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
            readVelocities(rows, pack, mixing->start.data);
            return;
        }
        for (int first = 0; first < count; first += MIXED_AT_ONCE) {
            int last = first + MIXED_AT_ONCE < count ? first + MIXED_AT_ONCE : count;
            mixRange(mixing, c, first, last, count);
        }
        writeUnknowns(mixing->mixed.data, rows, pack);
    }
    readVelocities(rows, pack, mixing->start.data);
}

// ---------------------------------------------------------------------------------------- stages

// Pyramids have at least 3 facets and at most this many.
#define FACETS_MAX 256
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
// Bodies at rest repeat their errors: what a velocity stage leaves adds up until the position stage
// must undo all of it at once, which sweeps cannot. So at rest a velocity stage goes on until an
// error of this fraction of the position tolerance is added in a step. 210 boxes at 1e-5 m and 1e-4
// m/s, 900 steps: 3.6 ms a step, with 0.05 and less gaps stay within the tolerance; with 0.1, and
// without this, steps of 0.9 s, 34 ms on average.
#define REST_PART 0.02
// Sweeps before mixing begins.
#define PLAIN_SWEEPS 9

struct rbContactSolver {
    rbContactSettings settings;
    rbContactRows rows;
    Mixing mixing;
    rbShockMemory shock;
    double corners[FACETS_MAX + 1][2];
    int cornerCount;
    bool isBegun; // impulses that will act at their position stage
};

rbContactSolver* rbCreateContactSolver(const rbContactSettings* settings)
{
    RB_ASSERT(settings != NULL && settings->sweepsMax >= 0);
    RB_ASSERT(settings->tolerance >= 0.0 && settings->velocityTolerance >= 0.0);
    rbContactSolver* solver = rbAllocZero(1, sizeof(*solver));
    solver->settings = *settings;
    if (settings->cone == RB_CONE_PYRAMID) {
        int count = settings->facets < 3 ? 3 : settings->facets;
        count = count > FACETS_MAX ? FACETS_MAX : count;
        solver->cornerCount = count;
        for (int i = 0; i <= count; ++i) {
            double angle = 2.0 * RB_PI * (double)(i % count) / (double)count;
            rbSinCos(angle, &solver->corners[i][1], &solver->corners[i][0]);
        }
    }
    return solver;
}

void rbDestroyContactSolver(rbContactSolver* solver)
{
    if (solver == NULL) {
        return;
    }
    rbContactRows_Free(&solver->rows);
    freeMixing(&solver->mixing);
    rbShockMemory_Free(&solver->shock);
    rbFree(solver, sizeof(*solver));
}

void rbContactSolver_Prepare(rbContactSolver* solver, const rbContactRun* run)
{
    RB_ASSERT(run->set != NULL && run->set->contactCount >= 0);
    RB_ASSERT(run->bodies != NULL || run->set->contactCount == 0);
    rbContactRows_Clear(&solver->rows, run->set->contactCount);
    solver->isBegun = false;
}

void rbContactSolver_BeginStep(rbContactSolver* solver, const rbContactRun* run, bool isWarm)
{
    double part = isWarm ? 0.5 : 0.0;
    for (int i = 0; i < run->set->pointCount; ++i) {
        rbContactPoint* point = &run->set->points[i];
        bool isCarrying = point->impulse[0] > point->passing[0];
        for (int k = 0; k < 3; ++k) {
            point->impulse[k] = isCarrying ? part * (point->impulse[k] - point->passing[k]) : 0.0;
            point->passing[k] = 0.0;
        }
    }
    for (int i = 0; i < run->set->contactCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            run->set->contacts[i].turning[k] *= part;
        }
    }
    solver->isBegun = true;
}

// Sweeps joints with the velocities that contacts left; returns whether they are done.
static bool sweepJoints(const rbContactStage* stage)
{
    double jointError = 0.0;
    rbContactRows_Show(stage->rows, &stage->pack, stage->run->bodies);
    bool areDone = stage->run->sweepJoints(stage->run->context, &jointError);
    rbContactRows_Fetch(stage->rows, &stage->pack, stage->run->bodies);
    return areDone;
}

// Contacts one by one, with joints after each except the last: until joints have reacted, its
// velocities change by more than its masses imply.
static rbSweepTally sweepSlowly(const rbContactStage* stage, int first, int last)
{
    rbSweepTally worst = rbSweep_Run(&stage->sweep, first, first + 1);
    for (int i = first + 1; i < last; ++i) {
        (void)sweepJoints(stage);
        rbSweepTally tally = rbSweep_Run(&stage->sweep, i, i + 1);
        bool isWorse = tally.normalError > worst.normalError;
        worst.worst = isWorse ? tally.worst : worst.worst;
        worst.normalError = isWorse ? tally.normalError : worst.normalError;
        worst.tangentError =
            tally.tangentError > worst.tangentError ? tally.tangentError : worst.tangentError;
    }
    return worst;
}

bool rbContactStage_Sweep(rbContactStage* stage, int first, int last, rbSweepTally* tally)
{
    bool isSlow = stage->isReacting && !stage->areJointsOff && last > first;
    *tally = isSlow ? sweepSlowly(stage, first, last) : rbSweep_Run(&stage->sweep, first, last);
    stage->solved.sweeps += 1;
    stage->solved.gapError = tally->normalError;
    stage->solved.slipError = tally->tangentError;
    stage->solved.worst = tally->worst >= 0 ? stage->rows->contacts.data[tally->worst].index : -1;
    double error =
        tally->normalError > tally->tangentError ? tally->normalError : tally->tangentError;
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
                               stage->solved.sweeps >= most * stage->within);
    if (stage->run->sweepJoints != NULL && !stage->areJointsOff) {
        bool areJointsDone = sweepJoints(stage);
        stage->areJointsMet = areJointsDone;
        isMet = isMet && areJointsDone;
        isDone = isDone && areJointsDone;
    }
    stage->solved.isMet = isMet;
    return isDone;
}

static void runStage(rbContactSolver* solver, rbContactStage* stage)
{
    const rbContactSettings* settings = &solver->settings;
    int most = stage->run->sweepsMax > 0 ? stage->run->sweepsMax : settings->sweepsMax;
    int first = stage->pack.firstContact;
    bool isDone = false;
    for (int i = 0; i < most && !isDone; ++i) {
        if (settings->shockAfter > 0 && i == settings->shockAfter) {
            rbContactStage_PropagateShock(stage);
            return;
        }
        rbSweepTally tally;
        isDone = rbContactStage_Sweep(stage, first, first + stage->pack.contactCount, &tally);
        if (isDone || stage->run->sweepJoints != NULL || i + 1 >= most) {
            continue;
        }
        // plain sweeps first: they cost half, and many islands or games need no more; and last,
        // where it will not converge: a mixture may have energy that sweeps remove
        if (i < PLAIN_SWEEPS || i >= most - most / 4) {
            continue;
        }
        if (i == PLAIN_SWEEPS) {
            beginMixing(&solver->mixing, &solver->rows, &stage->pack);
        } else {
            mixSweeps(&solver->mixing, &solver->rows, &stage->pack);
            rbSweep_Project(&stage->sweep, first, first + stage->pack.contactCount);
            // impulses that cancel each other can grow large in a mixture: velocities are
            // recomputed from the sums, otherwise rounding errors accumulate in them unseen
            rbContactRows_Renew(&solver->rows, &stage->pack, stage->run, stage->sweep.isVelocity,
                                stage->isKept);
            restartMixing(&solver->mixing, &solver->rows, &stage->pack);
        }
    }
}

static void measureReactions(const rbContactStage* stage)
{
    double reaction[RB_MANIFOLD_POINTS_MAX * RB_MANIFOLD_POINTS_MAX];
    for (int i = 0; i < stage->pack.contactCount; ++i) {
        int contact = stage->pack.firstContact + i;
        stage->run->react(stage->run->context, stage->rows->contacts.data[contact].index, reaction);
        rbContactRows_React(stage->rows, contact, reaction);
    }
}

static rbContactSolved solve(rbContactSolver* solver, const rbContactRun* run, bool isVelocity)
{
    RB_ASSERT(run->set != NULL && run->bodies != NULL);
    rbContactRows* rows = &solver->rows;
    rbRowsPack pack = rbContactRows_Pack(rows, run);
    rbContactStage stage = {
        .rows = rows,
        .shock = &solver->shock,
        .run = run,
        .pack = pack,
        .sweep = {.contacts = rows->contacts.data,
                  .points = rows->points.data,
                  .turns = rows->turns.data,
                  .bodies = rows->bodies.data,
                  .bound = {(const double(*)[2])solver->corners, solver->cornerCount},
                  .isVelocity = isVelocity},
        .tolerance =
            isVelocity ? solver->settings.velocityTolerance : solver->settings.tolerance / run->h,
        .moving = MOVING_REST * solver->settings.restSpeed,
        .restSpeed = run->restSpeed > 0.0 ? run->restSpeed : solver->settings.restSpeed,
        .solved = {.worst = -1}};
    double adding = (isVelocity ? REST_PART : 1.0) * solver->settings.tolerance / run->h;
    stage.resting = fmin(stage.tolerance, adding);
    if (!rbContactRows_Begin(rows, &pack, run, &solver->settings, isVelocity)) {
        return stage.solved;
    }
    if (run->react != NULL) {
        stage.isReacting = true;
        measureReactions(&stage);
    }
    bool isNew = !isVelocity && solver->isBegun && !run->isContinued;
    stage.isKept = !isNew;
    if (isNew) {
        rbContactRows_Guess(rows, &pack, false, 0.0, 1.0);
    } else if (isVelocity && solver->settings.isWarm && !run->isContinued) {
        rbContactRows_Guess(rows, &pack, true, 1.0, 1.0);
    }
    runStage(solver, &stage);
    rbContactRows_Finish(rows, &pack, run);
    double unit = isVelocity ? 1.0 : run->h;
    stage.solved.gapError *= unit;
    stage.solved.slipError *= unit;
    return stage.solved;
}

rbContactSolved rbContactSolver_SolvePositions(rbContactSolver* solver, const rbContactRun* run)
{
    return solve(solver, run, false);
}

rbContactSolved rbContactSolver_SolveVelocities(rbContactSolver* solver, const rbContactRun* run)
{
    return solve(solver, run, true);
}
