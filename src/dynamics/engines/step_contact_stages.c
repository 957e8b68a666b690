// The stages of steps with contacts: positions, collisions, velocities, with joints in their
// sweeps.
#include "base/math/matrix3.h"
#include "dynamics/engines/step_contact_state.h"

#include <string.h>

// m: a gap that nothing closes in a step.
#define FAR 1e9
// A guess is good if the sum of its impulses is off by no more than this part.
#define GUESS_PART 0.05
// Sweeps after the first where bodies strike: what strikes is no stack, and these many cost less
// than to solve the island as a whole.
#define SWEEPS_MOVING 500
// Flights this many times as fast as the fastest body of an island are wild.
#define WILD_TIMES 2.0
// s: instead of how late it is, of a body that rests on something.
#define RESTING (-1.0)
// Velocities whose squares of difference and size have this ratio are the same.
#define FLIGHT_ROUNDING 1e-24
// A point that arrived may be open by this part of the way that it would go in a step.
#define NEAR_PART 0.25
// Times that rows of joints are made anew in a stage.
#define JOINT_ROUNDS_MAX 6

// ----------------------------------------------------------------------------------------- stages

rbContactRun rbContactStep_MakeRun(rbStepContacts* c, const rbContactIsland* island, double h)
{
    rbContactRun run = {.set = &c->set,
                        .order = island != NULL ? island->contacts : NULL,
                        .orderCount = island != NULL ? island->contactCount : c->set.contactCount,
                        .bodies = c->bodies.data,
                        .h = h};
    return run;
}

typedef enum Stage {
    STAGE_POSITION,
    STAGE_COLLISION,
    STAGE_VELOCITY,
} Stage;

static void noteSolved(rbStepContacts* c, const rbContactSolved* solved, Stage stage, bool* isUnmet)
{
    rbContactStatistics* s = &c->statistics;
    double error = fmax(solved->gapError, solved->slipError);
    if (stage == STAGE_POSITION) {
        s->positionSweeps += solved->sweeps;
        s->gapErrorMax = fmax(s->gapErrorMax, error);
    } else {
        s->velocitySweeps += solved->sweeps;
        s->speedErrorMax = fmax(s->speedErrorMax, error);
    }
    s->shockedStages += solved->isShocked ? 1 : 0;
    s->directStages += solved->isDirect ? 1 : 0;
    *isUnmet = *isUnmet || !solved->isMet;
}

static double normalSpeed(const rbStepContacts* c, const rbContact* contact,
                          const rbContactPoint* point)
{
    return rbDot(contact->normal, rbContact_RelativeVelocity(c->bodies.data, contact, point));
}

// Whether something rebounds; what does not is stopped by the velocity stage.
static bool isColliding(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = 0; contact->restitution > 0.0 && k < contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[contact->firstPoint + k];
            if (point->isClosed && normalSpeed(c, contact, point) < -c->restSpeed) {
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

// Velocities and impulses of an island to and from the memory of what sweeps found.
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

// Whether the impulses at the start of the stage carry about what sweeps found.
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

// An island without joints, from the start of the stage where its impulses are a good guess.
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
// rows are made anew until they hold.
static double solveWithJoints(rbStepContacts* c, const rbContactRun* run, rbJointSweep* joints,
                              rbNewtonTask* task, rbContactSolved* solved)
{
    double jointTolerance = rbContactStep_GetJointTolerance(joints);
    double left = INFINITY;
    double jointError = INFINITY;
    rbContactRun whole = *run;
    whole.isContinued = true;
    double tolerance = task->tolerance;
    task->known = INFINITY; // what sweeps left does not tell of joints
    task->tolerance = fmin(tolerance, jointTolerance / (task->isOfPositions ? joints->h : 1.0));
    for (int k = 0; k < JOINT_ROUNDS_MAX && !(jointError <= jointTolerance); ++k) {
        left = rbContactNewton_Solve(c->newton, &whole, task, &solved->sweeps);
        rbContactStep_TakeLinks(joints);
        jointError = rbContactStep_FindLinks(joints, task);
        if (!isfinite(left)) {
            break;
        }
    }
    // To rounding, which contacts hardly notice.
    double ignored;
    (void)rbContactStep_SweepJoints(joints, &ignored);
    task->tolerance = tolerance;
    return jointError <= jointTolerance || left > tolerance ? left : 2.0 * tolerance;
}

// Goes on with sweeps.
static rbContactSolved sweepOn(rbStepContacts* c, const rbContactRun* run, bool isOfPositions,
                               const rbContactSolved* before)
{
    rbContactSolved solved = sweep(c, run, isOfPositions);
    solved.sweeps += before->sweeps;
    solved.isDirect = before->isDirect;
    solved.isMoving = before->isMoving;
    return solved;
}

// Sweeps, more of them where bodies strike; where they are slow the island as a whole, from the
// start of the stage, since impulses of a last step that was solved so are nearer than what some
// sweeps make of them; where that does not meet it, sweeps again.
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
    if (solved.isMoving && run->sweepJoints == NULL) {
        again.sweepsMax = SWEEPS_MOVING;
        solved = sweepOn(c, &again, isOfPositions, &solved);
        if (solved.isMet) {
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
    if (run->sweepJoints != NULL) {
        (void)rbContactStep_FindLinks(joints, &task);
    }
    if (rbContactNewton_CanSolve(c->newton, &c->settings, run, &task)) {
        double left = run->sweepJoints != NULL ? solveWithJoints(c, run, joints, &task, &solved)
                                               : solveWhole(c, run, joints->island, &task, &solved);
        solved.isMet = left <= task.tolerance;
        solved.isDirect = left < task.known || solved.isMet;
        solved.gapError = left * unit;
        solved.slipError = left * unit;
    }
    again.sweepsMax = 0;
    while (!solved.isMet && !solved.isShocked && solved.sweeps < c->settings.sweepsMax) {
        solved = sweepOn(c, &again, isOfPositions, &solved);
    }
    return solved;
}

static void solveIsland(rbStepEngine* engine, const rbStepHost* host, const rbContactIsland* island,
                        double h, Stage stage, bool* isUnmet)
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
        c->statistics.collisionSweeps += done.sweeps;
        c->statistics.speedErrorMax = fmax(c->statistics.speedErrorMax, done.error);
        rbContactStep_BookCollisions(engine, island, done.normalWork, done.frictionWork);
        int noted;
        const rbCollisionNote* notes = rbCollisions_GetNotes(c->collisions, &noted);
        rbContactStep_TellCollisions(engine, host, island, notes,
                                     host->journal != NULL ? noted : 0);
        *isUnmet = *isUnmet || !done.isMet;
        return;
    }
    rbContactSolved solved = solveLasting(c, &run, &joints);
    noteSolved(c, &solved, stage, isUnmet);
}

// Whether small steps have solved all of an island that had contacts at the start of the step. At
// its end islands are others: what was apart may have met.
static bool isQuick(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; c->substeps != NULL && i < island->bodyCount; ++i) {
        unsigned char kind = c->isTwice.data[island->bodies[i]];
        if (kind == RB_FLIGHT_SWEPT || kind == RB_FLIGHT_TWICE) {
            return false;
        }
    }
    return c->substeps != NULL;
}

// One stage of all islands, but collisions only of those that small steps have solved.
static void solveStage(rbStepEngine* engine, const rbStepHost* host, double h, Stage stage,
                       bool* isUnmet)
{
    rbStepContacts* c = engine->contacts;
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        bool isDue = stage == STAGE_COLLISION || !isQuick(c, &island);
        if (isDue && !rbContactStep_IsStanding(c, &island)) {
            solveIsland(engine, host, &island, h, stage, isUnmet);
        }
    }
}

// --------------------------------------------------------------------------------------- arriving

// Speeds before the step, for bodies that arrive in it.
static void noteApproaches(rbStepContacts* c)
{
    rbArray_Reserve(c->approaches, c->set.pointCount);
    c->approaches.count = c->set.pointCount;
    for (int i = 0; i < c->set.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            c->approaches.data[k] = normalSpeed(c, contact, &c->set.points[k]);
        }
    }
}

// A body feels forces in the step only until it arrives; one that already rests on something does
// not arrive.
static void noteLate(rbStepContacts* c, int body, double late)
{
    if (c->bodies.data[body].invMass > 0.0 && c->late.data[body] >= 0.0) {
        c->late.data[body] = fmax(c->late.data[body], late);
    }
}

// Points that were open, would have been closed by a fast approach, and were stopped at the
// surface.
static bool isArriving(const rbStepContacts* c, int k)
{
    const rbContactPoint* point = &c->set.points[k];
    bool isOpen = !point->isClosed || point->isAhead;
    return isOpen && point->impulse[0] > 0.0 && c->approaches.data[k] < -c->restSpeed;
}

// Points whose overlap is undone: the speed of that is for the way only, too. The bodies may be
// past each other at the end of the flight, and then no velocity stage would take it back.
static bool isParting(const rbStepContacts* c, int k)
{
    return c->set.points[k].gap < -(c->settings.shell + c->settings.tolerance);
}

static bool hasArrivals(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            if (isArriving(c, k) || isParting(c, k)) {
                return true;
            }
        }
    }
    return false;
}

// Points that arrive are opened for the second solution, and how late they will be is noted.
static void openArrivals(rbStepContacts* c, const rbContactIsland* island, double h)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbContactPoint* point = &c->set.points[k];
            bool isOpened = isArriving(c, k);
            double free = isOpened ? fmax(0.0, point->gap) / -c->approaches.data[k] : h;
            double late = fmax(0.0, h - free);
            *point = c->keptPoints.data[k];
            c->gaps.data[k] = point->gap;
            if (isOpened) {
                rbArrival arrival = {contact->bodyA,
                                     contact->bodyB,
                                     contact->normal,
                                     point->armA,
                                     point->armB,
                                     point->gap,
                                     island->contacts[i] >= c->foundCount};
                rbArray_Push(c->arrivals, arrival);
                noteLate(c, contact->bodyA, late);
                noteLate(c, contact->bodyB, late);
                memset(point->impulse, 0, sizeof point->impulse);
                point->gap = FAR;
                c->keptPoints.data[k] = *point;
            } else if (isParting(c, k)) {
                point->gap = 0.0;
            }
        }
    }
}

static bool hasArrived(const rbStepContacts* c, const rbContact* contact, int first)
{
    bool isFound = false;
    for (int i = first; i < c->arrivals.count && !isFound; ++i) {
        const rbArrival* arrival = &c->arrivals.data[i];
        isFound = arrival->bodyA == contact->bodyA && arrival->bodyB == contact->bodyB;
    }
    return isFound;
}

// Of pairs that arrive, what the flight would strike beside it is opened too: it is of that flight.
static void openAhead(rbStepContacts* c, const rbContactIsland* island, int first)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        rbContactPoint* points = &c->set.points[contact->firstPoint];
        if (!points[0].isAhead || !hasArrived(c, contact, first)) {
            continue;
        }
        for (int k = 0; k < contact->pointCount; ++k) {
            memset(points[k].impulse, 0, sizeof points[k].impulse);
            points[k].gap = FAR;
            c->keptPoints.data[contact->firstPoint + k] = points[k];
        }
    }
}

// Whether what stops bodies at surfaces made one of them faster than any of them is: conditions
// that contradict each other.
static bool isWild(const rbStepContacts* c, const rbContactIsland* island)
{
    double fastest = c->settings.partSpeed;
    double flight = 0.0;
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        const int bodies[2] = {contact->bodyA, contact->bodyB};
        for (int k = 0; k < 2; ++k) {
            const rbContactBody* body = &c->before.data[bodies[k]];
            double turn = c->radii.data[bodies[k]] * rbLength(body->spin);
            fastest = fmax(fastest, rbLength(body->velocity) + turn);
        }
    }
    for (int i = 0; i < island->bodyCount; ++i) {
        flight = fmax(flight, rbLength(c->flights.data[island->bodies[i]].velocity));
    }
    return !(flight <= WILD_TIMES * fastest);
}

// Such an island stays where it is.
static void holdIsland(rbStepContacts* c, const rbContactIsland* island)
{
    c->isWild = true;
    for (int i = 0; i < island->bodyCount; ++i) {
        c->flights.data[island->bodies[i]].velocity = RB_VEC3_ZERO;
        c->flights.data[island->bodies[i]].spin = RB_VEC3_ZERO;
    }
}

// What rests on something goes on with its time.
static void noteResting(rbStepContacts* c, const rbContact* contact)
{
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        if (c->set.points[k].impulse[0] > 0.0) {
            c->late.data[contact->bodyA] = RESTING;
            c->late.data[contact->bodyB] = RESTING;
        }
    }
}

static void closeArrivals(rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            c->set.points[k].gap = c->gaps.data[k];
        }
        noteResting(c, contact);
    }
}

// Where bodies arrive, the impulses that stop them at the surface are only for the way of the
// flight: what they do to the velocities, theirs and those of all that they push, is forgotten
// after it, and the impulses that really act are found without them.
static void solveArrivals(rbStepEngine* engine, const rbStepHost* host, double h, bool* isUnmet)
{
    rbStepContacts* c = engine->contacts;
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        if (isQuick(c, &island) || !hasArrivals(c, &island)) {
            continue;
        }
        for (int k = 0; k < island.bodyCount; ++k) {
            int body = island.bodies[k];
            c->flights.data[body] = c->bodies.data[body];
            c->bodies.data[body] = c->before.data[body];
            c->isTwice.data[body] = RB_FLIGHT_TWICE;
        }
        rbContactStep_TurnIsland(engine, &island, h, true);
        if (isWild(c, &island) && !rbContactStep_HasMechanism(engine, &island)) {
            holdIsland(c, &island);
        }
        int first = c->arrivals.count;
        openArrivals(c, &island, h);
        openAhead(c, &island, first);
        solveIsland(engine, host, &island, h, STAGE_POSITION, isUnmet);
        closeArrivals(c, &island);
    }
}

// Bodies of these islands fly with the one velocity ...
void rbContactStep_TakeFlights(const rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    for (int i = 0; i < engine->bodies.count; ++i) {
        rbMechBody* body = rbContactStep_IsTwice(c, i) ? rbContactStep_GetBody(engine, i) : NULL;
        if (body != NULL && body->isDynamic) {
            // What acts is there already; the other one is lent.
            body->aheadVelocity = body->velocity;
            body->aheadAngularVelocity = body->momentum;
            rbContactStep_TakeBody(&c->flights.data[i], body);
        }
    }
}

void rbStepContacts_ReturnSpeeds(const rbStepEngine* engine, rbStepMechanism* mechanism)
{
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        rbMechBody* body = &mechanism->m.bodies[i];
        if (body->isDynamic && rbContactStep_IsTwice(engine->contacts, body->index)) {
            body->velocity = body->aheadVelocity;
            body->momentum = body->aheadAngularVelocity;
        }
    }
}

// The part of the kick of a step that a body has had when it arrives: the work of the force on the
// way of the flight is what the body has gained by then. v: at the node, with the impulses that act
// in the step; w: of the flight. With w = v + kick / 2 it is the whole.
// along: v.kick, square: kick.kick, work: w.kick, or their sums over bodies with their masses.
static double findShare(double along, double square, double work)
{
    double root = sqrt(fmax(0.0, along * along + 2.0 * square * work));
    double share = 1.0;
    if (!(root > 0.0) && square > 0.0) {
        share = -along / square;
    } else if (along + square < 0.0) {
        share = 2.0 * work / (along - root);
    } else if (along > 0.0) {
        share = 2.0 * work / (along + root);
    } else if (square > 0.0) {
        share = (root - along) / square;
    }
    return share;
}

static double shareOf(rbVec3 v, rbVec3 kick, rbVec3 w)
{
    return findShare(rbDot(v, kick), rbDot(kick, kick), rbDot(w, kick));
}

// The same of a mechanism as a whole.
static double shareOfMechanism(const rbStepContacts* c, const rbStepMechanism* mechanism, double h)
{
    double along = 0.0;
    double square = 0.0;
    double work = 0.0;
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        if (!body->isDynamic) {
            continue;
        }
        rbVec3 kick = rbScale(h * body->invMass, body->force);
        rbVec3 v = rbAddScaled(body->velocity, -0.5, kick);
        rbVec3 w = rbContactStep_IsTwice(c, body->index) ? c->flights.data[body->index].velocity
                                                         : body->velocity;
        along += body->mass * rbDot(v, kick);
        square += body->mass * rbDot(kick, kick);
        work += body->mass * rbDot(w, kick);
    }
    return findShare(along, square, work);
}

// A flight that was pushed up higher than the speed along the force can pay for is paid by the rest
// of the motion.
static void payWay(rbMechBody* body, rbVec3 v, rbVec3 kick, rbVec3 w)
{
    double square = rbDot(kick, kick);
    double along = rbDot(v, kick);
    double missing = along * along + 2.0 * square * rbDot(w, kick);
    if (missing >= 0.0 || !(square > 0.0)) {
        return;
    }
    rbVec3 spin =
        rbMulSV(rbSym3_FromPrincipal(body->invMoments, body->pose.rotation), body->momentum);
    double energy = body->mass * rbLengthSquared(body->velocity) + rbDot(spin, body->momentum);
    double part = 1.0 + body->mass * missing / (square * energy);
    double factor = energy > 0.0 && part > 0.0 ? sqrt(part) : 0.0;
    body->velocity = rbScale(factor, body->velocity);
    body->momentum = rbScale(factor, body->momentum);
}

// Whether a flight leads elsewhere than the velocity that is gone on with.
static bool isElsewhere(rbVec3 flight, rbVec3 velocity)
{
    return rbLengthSquared(rbSub(flight, velocity)) > FLIGHT_ROUNDING * rbLengthSquared(velocity);
}

// A flight that turns a body otherwise than it goes on turning leaves it at another place of its
// free motion: its momentum keeps the energy of the turn.
static void keepTurn(const rbContactBody* shown, rbMechBody* body)
{
    rbSym3 inverse = rbSym3_FromPrincipal(body->invMoments, body->pose.rotation);
    double before = rbDot(body->momentum, rbMulSV(shown->invInertia, body->momentum));
    double after = rbDot(body->momentum, rbMulSV(inverse, body->momentum));
    if (before > 0.0 && after > 0.0) {
        body->momentum = rbScale(sqrt(before / after), body->momentum);
    }
}

// All bodies of a mechanism arrive with one of them; if one rests on something, none does.
static void shareLate(rbStepContacts* c, const rbStepMechanism* mechanism)
{
    double late = 0.0;
    bool isResting = false;
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        if (body->isDynamic) {
            late = fmax(late, c->late.data[body->index]);
            isResting = isResting || c->late.data[body->index] < 0.0;
        }
    }
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        if (body->isDynamic) {
            c->late.data[body->index] = isResting ? 0.0 : late;
        }
    }
}

// Of a mechanism that is late: what the forces give in a time.
static void kickMechanism(const rbStepContacts* c, rbStepMechanism* mechanism, double time)
{
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        rbMechBody* body = &mechanism->m.bodies[i];
        if (body->isDynamic && c->late.data[body->index] > 0.0) {
            body->velocity = rbAddScaled(body->velocity, time * body->invMass, body->force);
            body->momentum = rbAddScaled(body->momentum, time, body->torque);
        }
    }
}

static bool isLateMechanism(const rbStepContacts* c, const rbStepMechanism* mechanism)
{
    bool isLate = false;
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        isLate = isLate || (body->isDynamic && c->late.data[body->index] > 0.0);
    }
    return isLate;
}

// ... and go on with the other. What arrives collides with the forces of its time in the step, and
// has none afterwards.
void rbContactStep_ReturnSpeeds(rbStepEngine* engine, const rbStepHost* host, double h)
{
    rbStepContacts* c = engine->contacts;
    double part = rbContactStep_PartOf(engine, h);
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        shareLate(c, &engine->mechanisms.data[i]);
    }
    for (int i = 0; i < engine->bodies.count; ++i) {
        bool isTwice = rbContactStep_IsTwice(c, i);
        rbMechBody* body =
            isTwice || c->late.data[i] > 0.0 ? rbContactStep_GetBody(engine, i) : NULL;
        if (body == NULL || !body->isDynamic) {
            continue;
        }
        rbVec3 flight = body->velocity;
        bool isOwn = engine->bodies.data[i].mechanism < 0;
        if (isTwice && isOwn) {
            body->velocity = body->aheadVelocity;
            body->momentum = body->aheadAngularVelocity;
            if (isElsewhere(c->flights.data[i].spin, c->bodies.data[i].spin)) {
                keepTurn(&c->bodies.data[i], body);
            }
        }
        if (isOwn && c->isTwice.data[i] == RB_FLIGHT_TWICE && isElsewhere(flight, body->velocity)) {
            c->late.data[i] = fmax(c->late.data[i], RB_STEP_SNAP * h);
        }
        if (isOwn && c->late.data[i] > 0.0) {
            rbVec3 kick = rbScale(part, c->kicks.data[i]);
            rbVec3 start = rbAddScaled(body->velocity, -0.5, kick);
            double share = shareOf(start, kick, flight) - 0.5;
            body->velocity = rbAddScaled(body->velocity, share, kick);
            body->momentum = rbAddScaled(body->momentum, share * h, body->torque);
            payWay(body, start, kick, flight);
        }
    }
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        rbStepRun run = {.engine = engine, .mechanism = mechanism, .host = host, .isForced = true};
        if (isLateMechanism(c, mechanism)) {
            kickMechanism(c, mechanism, (shareOfMechanism(c, mechanism, h) - 0.5) * h);
            (void)rbStep_SweepRates(&run, h);
        }
    }
}

void rbContactStep_TakeLateKicks(rbStepEngine* engine, double h)
{
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        kickMechanism(engine->contacts, &engine->mechanisms.data[i], -0.5 * h);
    }
}

// Bodies of points that are at their surfaces at the end of a step, which is cut there: they have
// had its forces. What rests on something goes on.
void rbContactStep_NoteArrivals(rbStepContacts* c, const rbArrival* arrivals, int count, double h)
{
    for (int i = 0; i < count; ++i) {
        noteLate(c, arrivals[i].bodyA, RB_STEP_SNAP * h);
        noteLate(c, arrivals[i].bodyB, RB_STEP_SNAP * h);
    }
    for (int i = 0; i < c->set.contactCount; ++i) {
        noteResting(c, &c->set.contacts[i]);
    }
}

// The first contact of shapes of a pair in the set: these are in the order of bodies.
static int findFirst(const rbContactSet* set, int high, int bodyA, int bodyB)
{
    int low = 0;
    while (low < high) {
        int middle = (low + high) / 2;
        const rbContact* contact = &set->contacts[middle];
        bool isBefore =
            contact->bodyA < bodyA || (contact->bodyA == bodyA && contact->bodyB < bodyB);
        low = isBefore ? middle + 1 : low;
        high = isBefore ? high : middle;
    }
    return low;
}

// If no point of a pair that arrived is closed and approaches, the nearest of those that approach
// are closed, if they are as near as the flight may have missed them.
static void closePair(rbStepContacts* c, int bodyA, int bodyB, double h)
{
    double least = INFINITY;
    int first = findFirst(&c->set, c->foundCount, bodyA, bodyB);
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = first; i < c->foundCount; ++i) {
            const rbContact* contact = &c->set.contacts[i];
            if (contact->bodyA != bodyA || contact->bodyB != bodyB) {
                break;
            }
            for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
                rbContactPoint* point = &c->set.points[k];
                double speed = normalSpeed(c, contact, point);
                if (!(speed < -c->restSpeed) || point->gap > -NEAR_PART * h * speed) {
                    continue;
                }
                if (pass == 0) {
                    least = point->isClosed ? -INFINITY : fmin(least, point->gap);
                } else if (point->gap <= least + c->settings.shell) {
                    point->isClosed = true;
                }
            }
        }
    }
}

void rbContactStep_CloseArrivals(rbStepContacts* c, double h)
{
    int lastA = -1;
    int lastB = -1;
    for (int i = 0; i < c->arrivals.count; ++i) {
        const rbArrival* arrival = &c->arrivals.data[i];
        bool isNew = arrival->bodyA != lastA || arrival->bodyB != lastB;
        if (isNew && !arrival->isOfStop) {
            closePair(c, arrival->bodyA, arrival->bodyB, h);
        }
        lastA = arrival->bodyA;
        lastB = arrival->bodyB;
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

static void bookQuick(rbContactBooks* books, const rbSubstepsDone* done)
{
    books->friction += done->frictionWork;
    books->impact += done->impactWork;
    books->rest += done->work - done->frictionWork - done->impactWork;
}

// The capped mode: all islands that small steps can solve, at once. Returns whether others are
// left.
static bool solveQuickly(rbStepEngine* engine, double h, bool* isUnmet)
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
            c->isTwice.data[island.bodies[k]] = isOne ? RB_FLIGHT_QUICK : RB_FLIGHT_SWEPT;
            c->flights.data[island.bodies[k]] = c->bodies.data[island.bodies[k]];
        }
    }
    run.order = c->quickOrder.data;
    run.orderCount = c->quickOrder.count;
    if (run.orderCount > 0) {
        rbSubstepsTask task = {&run, c->kicks.data, c->flights.data, c->restSpeed};
        rbSubstepsDone done = rbContactSubsteps_Solve(c->substeps, &task);
        noteSolved(c, &done.solved, STAGE_POSITION, isUnmet);
        c->statistics.speedErrorMax = fmax(c->statistics.speedErrorMax, done.approach);
        bookQuick(&c->books, &done);
    }
    return isLeft;
}

// ------------------------------------------------------------------------------------------ books

static void bookLasting(rbStepEngine* engine, bool isWhole)
{
    rbStepContacts* c = engine->contacts;
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        if (!isQuick(c, &island) && !rbContactStep_IsStanding(c, &island)) {
            rbContactStep_BookLasting(engine, &island, isWhole,
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
                                  bool* isUnmet)
{
    rbStepContacts* c = engine->contacts;
    rbContactStep_ShowBodies(engine);
    rbContactRun all = rbContactStep_MakeRun(c, NULL, h);
    rbContactSolver_BeginStep(c->solver, &all, c->settings.isWarm);
    rbContactStep_ScaleStanding(c, 2.0);
    memset(c->late.data, 0, (size_t)c->late.count * sizeof(double));
    memset(c->isTwice.data, RB_FLIGHT_PLAIN, (size_t)c->isTwice.count);
    c->arrivals.count = 0;
    c->isWild = false;
    if (c->substeps != NULL && !solveQuickly(engine, h, isUnmet)) {
        return;
    }
    noteApproaches(c);
    keepPoints(c);
    size_t size = (size_t)c->bodies.count * sizeof *c->bodies.data;
    memcpy(c->before.data, c->bodies.data, size);
    rbContactStep_TurnMechanisms(engine, h, false);
    rbContactStep_OpenBooks(engine, host, c->nodeTime, h, -1.0);
    solveStage(engine, host, h, STAGE_POSITION, isUnmet);
    solveArrivals(engine, host, h, isUnmet);
    bookLasting(engine, true);
}

void rbContactStep_SolveCollisions(rbStepEngine* engine, const rbStepHost* host, double h,
                                   bool* isUnmet)
{
    rbContactStep_OpenBooks(engine, host, engine->contacts->nodeTime, h, 1.0);
    solveStage(engine, host, h, STAGE_COLLISION, isUnmet);
}

static bool areAllQuick(const rbStepContacts* c)
{
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        if (!isQuick(c, &island)) {
            return false;
        }
    }
    return true;
}

void rbContactStep_SolveVelocities(rbStepEngine* engine, const rbStepHost* host, double h,
                                   bool* isUnmet)
{
    rbStepContacts* c = engine->contacts;
    rbContactStep_ShowBodies(engine);
    if (areAllQuick(c)) {
        return;
    }
    keepPoints(c);
    memcpy(c->before.data, c->bodies.data, (size_t)c->bodies.count * sizeof *c->bodies.data);
    rbContactStep_OpenBooks(engine, host, c->nodeTime, h, 0.0);
    solveStage(engine, host, h, STAGE_VELOCITY, isUnmet);
    bookLasting(engine, false);
    rbContactStep_TellStops(engine, host);
}
