// Stages of the contact solver: sweeps until converged, mixed with the previous sweeps, joints
// after them, and shock propagation instead of more sweeps.
//
// Sweeps always go up the levels. Alternating up and down, which gradients would need, makes the
// sweeps of a stage too dissimilar for mixing (measured: 20 boxes 330 sweeps, not 91). Joints keep
// separate sums that cannot be mixed; with them there are only plain sweeps. Every stage ends with
// a sweep, which leaves all sums in their cones.
#include "dynamics/contact/contact_solver.h"

#include "base/math/elementary.h"
#include "dynamics/contact/contact_mixing.h"
#include "dynamics/contact/contact_stage.h"

#include <math.h>

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
// Sweeps before mixing begins.
#define PLAIN_SWEEPS 9

struct rbContactSolver {
    rbContactSettings settings;
    rbContactRows rows;
    rbMixing mixing;
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
    rbMixing_Free(&solver->mixing);
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
    double aim = (stage->solved.isMoving ? AIM_MOVING : AIM) * stage->tolerance;
    bool isDone = isMet && (stage->solved.sweeps == 1 || error <= aim);
    if (isMet && stage->within == 0) {
        stage->within = stage->solved.sweeps;
    }
    double most = stage->solved.isMoving ? AIM_SWEEPS_MOVING : AIM_SWEEPS;
    isDone = isDone || (isMet && stage->solved.sweeps >= most * stage->within);
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
            rbMixing_Begin(&solver->mixing, &solver->rows, &stage->pack);
        } else {
            rbMixing_Mix(&solver->mixing, &solver->rows, &stage->pack);
            // impulses that cancel each other can grow large in a mixture: velocities are
            // recomputed from the sums, otherwise rounding errors accumulate in them unseen
            rbContactRows_Renew(&solver->rows, &stage->pack, stage->run, stage->sweep.isVelocity,
                                stage->isKept);
            rbMixing_Restart(&solver->mixing, &solver->rows, &stage->pack);
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
