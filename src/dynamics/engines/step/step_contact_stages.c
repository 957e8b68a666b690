// The stages of steps with contacts: positions, collisions, velocities, with joints in their
// sweeps.
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// A guess is good if the sum of its impulses is off by no more than this fraction.
#define GUESS_PART 0.05
// Sweeps after the first where bodies strike: an impact is not a stack, and this many cost less
// than solving the island as a whole.
#define SWEEPS_MOVING 500
// In islands of more bodies all allowed sweeps, also with joints, which are then a small part: 252
// struck bricks need up to 1000 sweeps or 0.3 s, and ten times that as a whole.
#define BODIES_LARGE 64
// How often rows of joints are rebuilt in a stage.
#define JOINT_ROUNDS_MAX 6
// Sweeps after a velocity stage that is met by its own account, until it is.
#define POLISH_MAX 8

// ----------------------------------------------------------------------------------------- stages

rbContactRun rbContactStep_MakeRun(rbStepContacts* c, const rbContactIsland* island, double h)
{
    rbContactRun run = {.set = &c->set,
                        .order = island != NULL ? island->contacts : NULL,
                        .orderCount = island != NULL ? island->contactCount : c->set.contactCount,
                        .bodies = c->bodies.data,
                        .h = h,
                        .restSpeed = c->restSpeed};
    return run;
}

typedef enum Stage {
    STAGE_POSITION,
    STAGE_COLLISION,
    STAGE_VELOCITY,
} Stage;

bool rbContactStep_IsMissed(const rbStepEngine* engine, const rbStepMiss* miss)
{
    const rbStepContacts* c = engine->contacts;
    return miss->gap > c->settings.tolerance || miss->speed > c->settings.velocityTolerance ||
           miss->rebound > c->restSpeed || miss->joint > rbStep_GetTolerance(engine) ||
           miss->jointSpeed > c->settings.velocityTolerance ||
           miss->overlap > c->settings.tolerance;
}

static void noteSolved(rbStepContacts* c, const rbContactSolved* solved, Stage stage,
                       rbStepMiss* miss)
{
    rbContactStatistics* s = &c->statistics;
    double error = fmax(solved->gapError, solved->slipError);
    if (stage == STAGE_POSITION) {
        s->positionSweeps += solved->sweeps;
        miss->gap = fmax(miss->gap, error);
        miss->joint = fmax(miss->joint, solved->jointError);
    } else {
        s->velocitySweeps += solved->sweeps;
        miss->speed = fmax(miss->speed, error);
        miss->jointSpeed = fmax(miss->jointSpeed, solved->jointError);
    }
    s->shockedStages += solved->isShocked ? 1 : 0;
    s->directStages += solved->isDirect ? 1 : 0;
}

// Whether something rebounds; the velocity stage stops the rest.
static bool isColliding(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = 0; contact->restitution > 0.0 && k < contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[contact->firstPoint + k];
            if (point->isClosed && rbContactStep_NormalSpeed(c, contact, point) < -c->restSpeed) {
                return true;
            }
        }
    }
    return false;
}

static rbContactSolved sweep(rbStepContacts* c, const rbContactRun* run, bool isOfPositions)
{
    return isOfPositions ? rbContactSolver_SolvePositions(c->solver, run)
                         : rbContactSolver_SolveVelocities(c->solver, run);
}

// Saves or restores velocities and impulses of an island as sweeps found them.
static void swapSwept(rbStepContacts* c, const rbContactIsland* island, bool isBack)
{
    for (int i = 0; i < island->bodyCount; ++i) {
        int body = island->bodies[i];
        if (isBack) {
            c->bodies.data[body] = c->swept.data[body];
        } else {
            c->swept.data[body] = c->bodies.data[body];
            c->bodies.data[body] = c->before.data[body];
        }
    }
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            if (isBack) {
                c->set.points[k] = c->sweptPoints.data[k];
            } else {
                c->sweptPoints.data[k] = c->set.points[k];
                c->set.points[k] = c->keptPoints.data[k];
            }
        }
    }
}

// Whether the impulses at the start of the stage are close to the result of the sweeps.
static bool isGuessGood(const rbStepContacts* c, const rbContactIsland* island, bool isOfPositions)
{
    double guessed = 0.0;
    double found = 0.0;
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            guessed += (isOfPositions ? 1.0 : 2.0) * c->keptPoints.data[k].impulse[0];
            found += c->set.points[k].impulse[0];
        }
    }
    return fabs(guessed - found) < GUESS_PART * found;
}

// An island without joints, from the start of the stage if its impulses are a good guess.
static double solveWhole(rbStepContacts* c, const rbContactRun* run, const rbContactIsland* island,
                         const rbNewtonTask* task, rbContactSolved* solved)
{
    bool isFresh = isGuessGood(c, island, task->isOfPositions);
    rbContactRun whole = *run;
    whole.isContinued = !isFresh;
    if (isFresh) {
        swapSwept(c, island, false);
    }
    double left = rbContactNewton_Solve(c->newton, &whole, task, &solved->sweeps);
    if (isFresh && !(left < task->known)) {
        swapSwept(c, island, true);
    }
    return left;
}

// One with joints: their conditions on the end of a step are not linear in the velocities, so the
// rows are rebuilt until they hold.
static double solveWithJoints(rbStepContacts* c, const rbContactRun* run, rbJointSweep* joints,
                              rbNewtonTask* task, rbContactSolved* solved)
{
    double jointTolerance = rbContactStep_GetJointTolerance(joints);
    double left = INFINITY;
    double jointError = INFINITY;
    rbContactRun whole = *run;
    whole.isContinued = true;
    double tolerance = task->tolerance;
    task->tolerance = fmin(tolerance, jointTolerance / (task->isOfPositions ? joints->h : 1.0));
    for (int k = 0; k < JOINT_ROUNDS_MAX && !(jointError <= jointTolerance); ++k) {
        left = rbContactNewton_Solve(c->newton, &whole, task, &solved->sweeps);
        rbContactStep_TakeLinks(joints);
        jointError = rbContactStep_FindLinks(joints, task);
        if (!(left < task->known)) {
            break; // nothing was taken
        }
    }
    // To rounding, which hardly affects contacts.
    double ignored;
    (void)rbContactStep_SweepJoints(joints, &ignored);
    task->tolerance = tolerance;
    solved->jointError = jointError;
    return left;
}

// Continues with sweeps.
static rbContactSolved sweepOn(rbStepContacts* c, const rbContactRun* run, bool isOfPositions,
                               const rbContactSolved* before)
{
    rbContactSolved solved = sweep(c, run, isOfPositions);
    solved.sweeps += before->sweeps;
    solved.isDirect = before->isDirect;
    solved.isMoving = before->isMoving;
    return solved;
}

// A position stage converged in its first sweep: bodies rest, and the impulses of this sweep undo
// the gaps and slips of this step. They must not act again in the next one. Stored impulses are an
// integral of the gaps; with it, motions that sweeps hardly see, such as the sway of a high wall,
// would build up from step to step (third order; where a sweep removes less than 2/15 of a motion).
static void notePassing(rbStepContacts* c, const rbContactIsland* island, bool isResting)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbContactPoint* point = &c->set.points[k];
            const double* guess = c->keptPoints.data[k].impulse;
            for (int t = 0; t < 3; ++t) {
                // a velocity stage doubles it
                point->passing[t] = isResting ? 2.0 * (point->impulse[t] - guess[t]) : 0.0;
            }
        }
    }
}

// Newton's method needs a start close to the solution, which sweeps may have come to. unit: s,
// or 1.
static void solveFromSweeps(rbStepContacts* c, const rbContactRun* run, rbNewtonTask* task,
                            double unit, rbContactSolved* solved)
{
    RB_ASSERT(run->isContinued && unit > 0.0);
    task->known = fmax(solved->gapError, solved->slipError) / unit;
    if (!rbContactNewton_CanSolve(c->newton, &c->settings, run, task)) {
        return;
    }
    double left = rbContactNewton_Solve(c->newton, run, task, &solved->sweeps);
    if (left < task->known) {
        solved->isMet = left <= task->tolerance;
        solved->isDirect = true;
        solved->gapError = left * unit;
        solved->slipError = left * unit;
    }
}

// Sweeps, more of them where bodies strike. Where they are slow, the island as a whole, from the
// start of the stage, since impulses of a last step that was solved this way are closer than the
// result of a few sweeps. If that does not converge, sweeps again, and the whole from there.
static rbContactSolved solveLasting(rbStepContacts* c, const rbContactRun* run,
                                    rbJointSweep* joints)
{
    bool isOfPositions = !joints->isOfRates;
    rbContactSolved solved = sweep(c, run, isOfPositions);
    if (solved.isMet || solved.isShocked || c->settings.sweepsMax <= RB_SWEEPS_FIRST) {
        return solved;
    }
    rbContactRun again = *run;
    again.isContinued = true;
    bool isLarge = joints->island->bodyCount > BODIES_LARGE;
    bool isSwept = isLarge && (solved.isMoving || run->sweepJoints != NULL);
    again.isMoving = solved.isMoving || isSwept;
    if (isSwept || (solved.isMoving && run->sweepJoints == NULL)) {
        again.sweepsMax = isLarge ? c->settings.sweepsMax - solved.sweeps : SWEEPS_MOVING;
        solved = sweepOn(c, &again, isOfPositions, &solved);
        if (solved.isMet || isSwept) {
            return solved;
        }
    }
    double unit = isOfPositions ? joints->h : 1.0;
    rbNewtonTask task = {
        .isOfPositions = isOfPositions,
        .partSpeed = c->settings.partSpeed,
        .tolerance = (isOfPositions ? c->settings.tolerance : c->settings.velocityTolerance) / unit,
        .known = fmax(solved.gapError, solved.slipError) / unit,
        .isMoving = solved.isMoving};
    double jointTolerance =
        run->sweepJoints != NULL ? rbContactStep_GetJointTolerance(joints) : 0.0;
    if (run->sweepJoints != NULL) {
        double jointError = rbContactStep_FindLinks(joints, &task);
        task.known = fmax(task.known, jointError / unit);
    }
    if (rbContactNewton_CanSolve(c->newton, &c->settings, run, &task)) {
        double left = run->sweepJoints != NULL ? solveWithJoints(c, run, joints, &task, &solved)
                                               : solveWhole(c, run, joints->island, &task, &solved);
        solved.isMet = left <= task.tolerance && solved.jointError <= jointTolerance;
        solved.isDirect = left < task.known || solved.isMet;
        solved.gapError = left * unit;
        solved.slipError = left * unit;
    }
    again.sweepsMax = 0;
    while (!solved.isMet && !solved.isShocked && solved.sweeps < c->settings.sweepsMax) {
        solved = sweepOn(c, &again, isOfPositions, &solved);
    }
    if (!solved.isMet && !solved.isShocked && run->sweepJoints == NULL) {
        solveFromSweeps(c, &again, &task, unit, &solved);
    }
    return solved;
}

// A sweep sees the error of a point before it corrects the next one: at its end it may be larger,
// seen up to 1.2 times. The velocities that count are those at the end.
static void polishVelocities(rbStepContacts* c, const rbContactRun* run, rbContactSolved* solved)
{
    rbContactRun again = *run;
    again.isContinued = true;
    double tolerance = c->settings.velocityTolerance;
    for (int i = 0; i < POLISH_MAX && solved->isMet; ++i) {
        double error =
            rbMeasureSpeeds(run->set, run->order, run->orderCount, run->bodies, tolerance);
        if (error <= tolerance) {
            // what a last sweep saw and corrected does not count
            solved->gapError = i > 0 ? error : solved->gapError;
            solved->slipError = i > 0 ? error : solved->slipError;
            break;
        }
        *solved = sweepOn(c, &again, false, solved);
    }
}

static void solveIsland(rbStepEngine* engine, const rbStepHost* host, const rbContactIsland* island,
                        double h, Stage stage, rbStepMiss* miss)
{
    rbStepContacts* c = engine->contacts;
    rbContactRun run = rbContactStep_MakeRun(c, island, h);
    rbJointSweep joints = {engine, host, island, h, stage != STAGE_POSITION};
    if (rbContactStep_HasMechanism(engine, island)) {
        run.sweepJoints = rbContactStep_SweepJoints;
        run.react = c->settings.isReacting ? rbContactStep_MeasureReaction : NULL;
        run.context = &joints;
    }
    if (stage == STAGE_COLLISION) {
        if (!isColliding(c, island)) {
            return;
        }
        rbCollisionsDone done = rbCollisions_Resolve(c->collisions, &c->settings, &run);
        c->statistics.collisions += done.collisions;
        c->statistics.energyRaises += done.energyRaises;
        c->statistics.energyRaised += done.energyRaised;
        c->statistics.collisionSweeps += done.sweeps;
        miss->speed = fmax(miss->speed, done.error);
        miss->rebound = fmax(miss->rebound, done.approachLeft);
        miss->jointSpeed = fmax(miss->jointSpeed, done.jointError);
        rbContactStep_AccountForCollisions(engine, island, &done);
        int noted;
        const rbCollisionNote* notes = rbCollisions_GetNotes(c->collisions, &noted);
        rbContactStep_AddCollisions(engine, host, notes, noted);
        rbContactStep_ReportCollisions(engine, host, island, notes,
                                       host->journal != NULL ? noted : 0);
        return;
    }
    rbContactSolved solved = solveLasting(c, &run, &joints);
    if (stage == STAGE_VELOCITY) {
        polishVelocities(c, &run, &solved);
    }
    if (run.sweepJoints != NULL && !solved.isMet) {
        rbNewtonTask task = {.isOfPositions = stage == STAGE_POSITION};
        solved.jointError = rbContactStep_FindLinks(&joints, &task);
    }
    if (stage == STAGE_POSITION) {
        notePassing(c, island, solved.isMet && solved.sweeps == 1 && run.sweepJoints == NULL);
    }
    noteSolved(c, &solved, stage, miss);
}

bool rbContactStep_IsQuick(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; c->substeps != NULL && i < island->bodyCount; ++i) {
        unsigned char kind = c->flightKinds.data[island->bodies[i]];
        if (kind == RB_FLIGHT_SWEPT || kind == RB_FLIGHT_TWICE) {
            return false;
        }
    }
    return c->substeps != NULL;
}

void rbContactStep_SolveIsland(rbStepEngine* engine, const rbStepHost* host,
                               const rbContactIsland* island, double h, rbStepMiss* miss)
{
    solveIsland(engine, host, island, h, STAGE_POSITION, miss);
}

// One stage of all islands; only collisions for those solved by small steps.
static void solveStage(rbStepEngine* engine, const rbStepHost* host, double h, Stage stage,
                       rbStepMiss* miss)
{
    rbStepContacts* c = engine->contacts;
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        bool isDue = stage == STAGE_COLLISION || !rbContactStep_IsQuick(c, &island);
        if (isDue && !rbContactStep_IsStanding(c, &island)) {
            solveIsland(engine, host, &island, h, stage, miss);
        }
    }
}

// ------------------------------------------------------------------------------------- small steps

static bool canBeQuick(const rbStepEngine* engine, const rbContactRun* run,
                       const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        if (!rbContactSubsteps_CanSolve(run, island->contacts[i], engine->contacts->restSpeed)) {
            return false;
        }
    }
    for (int i = 0; i < island->bodyCount; ++i) {
        if (run->bodies[island->bodies[i]].isFrozen) {
            return false;
        }
    }
    return !rbContactStep_HasMechanism(engine, island);
}

static void accountForSubsteps(rbContactAccounts* books, const rbSubstepsDone* done)
{
    books->friction += done->frictionWork;
    books->impact += done->impactWork;
    books->truncated += done->work - done->frictionWork - done->impactWork;
}

// The capped mode: all islands that small steps can solve, together. Returns whether others remain.
static bool solveQuickly(rbStepEngine* engine, double h, rbStepMiss* miss)
{
    rbStepContacts* c = engine->contacts;
    rbContactRun run = rbContactStep_MakeRun(c, NULL, h);
    bool isLeft = false;
    c->quickOrder.count = 0;
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        if (rbContactStep_IsStanding(c, &island)) {
            continue;
        }
        bool isOne = canBeQuick(engine, &run, &island);
        isLeft = isLeft || !isOne;
        for (int k = 0; k < island.contactCount && isOne; ++k) {
            rbArray_Push(c->quickOrder, island.contacts[k]);
        }
        for (int k = 0; k < island.bodyCount; ++k) {
            c->flightKinds.data[island.bodies[k]] = isOne ? RB_FLIGHT_QUICK : RB_FLIGHT_SWEPT;
            c->flights.data[island.bodies[k]] = c->bodies.data[island.bodies[k]];
        }
    }
    run.order = c->quickOrder.data;
    run.orderCount = c->quickOrder.count;
    if (run.orderCount > 0) {
        rbSubstepsTask task = {&run, c->kicks.data, c->flights.data, c->restSpeed};
        rbSubstepsDone done = rbContactSubsteps_Solve(c->substeps, &task);
        noteSolved(c, &done.solved, STAGE_POSITION, miss);
        miss->speed = fmax(miss->speed, done.approach);
        accountForSubsteps(&c->books, &done);
    }
    return isLeft;
}

// ------------------------------------------------------------------------------------------ energy

static void accountForLasting(rbStepEngine* engine, bool isWhole)
{
    rbStepContacts* c = engine->contacts;
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        if (!rbContactStep_IsQuick(c, &island) && !rbContactStep_IsStanding(c, &island)) {
            rbContactStep_AccountForLasting(engine, &island, isWhole,
                                            rbContactStep_HasMechanism(engine, &island));
        }
    }
}

static void keepPoints(rbStepContacts* c)
{
    rbArray_Reserve(c->keptPoints, c->set.pointCount);
    rbArray_Reserve(c->sweptPoints, c->set.pointCount);
    rbArray_Reserve(c->gaps, c->set.pointCount);
    c->keptPoints.count = c->set.pointCount;
    if (c->set.pointCount > 0) {
        memcpy(c->keptPoints.data, c->set.points,
               (size_t)c->set.pointCount * sizeof *c->set.points);
    }
}

// ------------------------------------------------------------------------------------------ stages

void rbContactStep_SolvePositions(rbStepEngine* engine, const rbStepHost* host, double h,
                                  rbStepMiss* miss)
{
    rbStepContacts* c = engine->contacts;
    rbContactStep_ShowBodies(engine);
    rbContactRun all = rbContactStep_MakeRun(c, NULL, h);
    rbContactSolver_BeginStep(c->solver, &all, c->settings.isWarm);
    rbContactStep_ScaleStanding(c, 2.0);
    memset(c->late.data, 0, (size_t)c->late.count * sizeof(double));
    memset(c->flightKinds.data, RB_FLIGHT_PLAIN, (size_t)c->flightKinds.count);
    c->arrivals.count = 0;
    c->isWild = false;
    c->isGuarded = false;
    memcpy(c->before.data, c->bodies.data, (size_t)c->bodies.count * sizeof *c->bodies.data);
    rbContactStep_TurnMechanisms(engine, h, false);
    if (c->substeps != NULL && !solveQuickly(engine, h, miss)) {
        return;
    }
    rbContactStep_NoteApproaches(c);
    keepPoints(c);
    rbContactStep_OpenAccounts(engine, host, c->nodeTime, h, -1.0);
    solveStage(engine, host, h, STAGE_POSITION, miss);
    rbContactStep_SolveArrivals(engine, host, h, miss);
    accountForLasting(engine, true);
}

void rbContactStep_SolveCollisions(rbStepEngine* engine, const rbStepHost* host, double h,
                                   rbStepMiss* miss)
{
    rbContactStep_OpenAccounts(engine, host, engine->contacts->nodeTime, h, 1.0);
    solveStage(engine, host, h, STAGE_COLLISION, miss);
}

static bool areAllQuick(const rbStepContacts* c)
{
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        if (!rbContactStep_IsQuick(c, &island)) {
            return false;
        }
    }
    return true;
}

void rbContactStep_SolveVelocities(rbStepEngine* engine, const rbStepHost* host, double h,
                                   rbStepMiss* miss)
{
    rbStepContacts* c = engine->contacts;
    rbContactStep_ShowBodies(engine);
    if (areAllQuick(c)) {
        return;
    }
    keepPoints(c);
    memcpy(c->before.data, c->bodies.data, (size_t)c->bodies.count * sizeof *c->bodies.data);
    rbContactStep_OpenAccounts(engine, host, c->nodeTime, h, 0.0);
    rbContactStep_AddTouches(engine, host, NULL, -1.0);
    solveStage(engine, host, h, STAGE_VELOCITY, miss);
    rbContactStep_AddTouches(engine, host, NULL, 1.0);
    accountForLasting(engine, false);
    rbContactStep_ReportStops(engine, host);
}
