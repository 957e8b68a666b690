// The stages of steps with contacts: positions, collisions, velocities, with joints in their
// sweeps, and friction of points that slide.
#include "dynamics/engines/step/contact_method.h"
#include "dynamics/engines/step/step_contact_state.h"
#include "dynamics/solvers/block_matrix.h"

#include <string.h>

// Least contacts of a block.
#define LEAST 256

// What the policy was tuned by.
static const struct {
    double guessPart;   // a guess is good if the sum of its impulses is off by no more
    int sweepsStriking; // after the first where bodies strike: 500 of 1000 balls take 0.11 s and
                        // meet 1e-4 m/s in 2 of 3 problems of the corpus, in turn with Newton 3 s
    int sweepsLarge;    // in islands swept with momentum; with 1000 mixed bodies miss 16 of 300
                        // steps, not 5
    int roundsLarge;    // of these sweeps, each from the best of the last: momentum begins anew. In
                        // one round 1000 spheres miss 8 of 300 steps, in three 2 to 6
    double far;         // of the tolerance, above which they go on with Newton's method in turn
    int bodiesLarge;    // islands of more bodies: all sweeps of 252 struck bricks take 0.3 s, as a
                        // whole with their joints ten times that
    int bodiesHuge;     // islands of more are solved as if they struck: a factorization of 1000
                        // bodies in a heap costs as much as 100 sweeps
    int jointRounds;    // in which rows of joints are rebuilt in a stage
    int polishSweeps;   // after a velocity stage that is met by its own account, until it is
    int innerPositions; // sweeps in parts of a step but the last, see step.c; 1000
    int innerVelocities; // mixed bodies, steps 150 to 156: 0.46 s a step; with 20 and 10 0.5 s
    double aim; // of Newton's method for speeds: both tangents may be off by their tolerance
} tuning = {0.05, 500, 2500, 3, 10.0, 64, 400, 6, 8, 12, 10, 0.7};

// ----------------------------------------------------------------------------------------- stages

// Whether all bodies of an island are frozen: no stage handles it.
static bool isStanding(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->bodyCount; ++i) {
        if (!c->bodies.data[island->bodies[i]].isFrozen) {
            return false;
        }
    }
    return island->bodyCount > 0;
}

// Impulses of contacts between frozen bodies are those of the last step in which they moved: a
// stage does not touch them, but its start halves all.
static void scaleStanding(rbStepContacts* c, double scale)
{
    for (int i = 0; rbContactFreeze_GetCount(c->rest.freeze) > 0 && i < c->set.contactCount; ++i) {
        rbContact* contact = &c->set.contacts[i];
        if (rbContactBody_IsMoved(&c->bodies.data[contact->bodyA]) ||
            rbContactBody_IsMoved(&c->bodies.data[contact->bodyB])) {
            continue;
        }
        rbContactStep_ScaleImpulses(c, contact, scale);
    }
}

rbContactRun rbContactStep_MakeRun(rbStepContacts* c, const rbContactIsland* island, double h)
{
    rbContactRun run = {.set = &c->set,
                        .order = island != NULL ? island->contacts : NULL,
                        .orderCount = island != NULL ? island->contactCount : c->set.contactCount,
                        .bodies = c->bodies.data,
                        .h = h,
                        .restSpeed = c->settings.restSpeed};
    bool isLarge = island != NULL && island->bodyCount > RB_ISLAND_LARGE;
    run.allowed =
        isLarge ? rbContactTolerance_Aim(c->allowed) : (rbContactTolerance){.gap = c->start.gapAim};
    return run;
}

typedef enum Stage {
    STAGE_POSITION,
    STAGE_STRIKING, // the same again, without what arrives
    STAGE_COLLISION,
    STAGE_VELOCITY,
} Stage;

bool rbContactStep_IsMissed(const rbStepContacts* c, const rbStepMiss* miss)
{
    return miss->gap > c->allowed.gap || miss->speed > c->allowed.speed ||
           miss->rebound > c->settings.restSpeed || miss->joint > rbStep_GetTolerance(c->engine) ||
           miss->jointSpeed > c->allowed.speed || miss->overlap > c->allowed.gap;
}

static void noteSolved(rbStepContacts* c, const rbContactSolved* solved, Stage stage,
                       rbStepMiss* miss)
{
    RB_ASSERT(solved->sweeps >= 0);
    rbContactStatistics* s = &c->statistics;
    double error = fmax(solved->gapError, solved->slipError);
    if (stage == STAGE_POSITION || stage == STAGE_STRIKING) {
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

// Whether something rebounds, or two bodies alone meet with friction: then the law of impact holds
// to its digits, with or without restitution. Without friction stopping is the law, and where
// several contacts stop without rebound the velocity stage does it for all of them together; but
// what a flight lifted pays for that after its collisions.
static bool isByLaw(const rbStepContacts* c, const rbContact* contact, bool isAlone)
{
    bool isStriking = false;
    int a = contact->bodyA;
    int b = contact->bodyB;
    double lift = fmax(c->flight.lifts.data[a] * c->bodies.data[a].invMass,
                       c->flight.lifts.data[b] * c->bodies.data[b].invMass);
    bool canBe = contact->restitution > 0.0 || (isAlone && contact->stiction > 0.0) ||
                 2.0 * lift > c->settings.restSpeed * c->settings.restSpeed;
    for (int k = 0; canBe && !isStriking && k < contact->pointCount; ++k) {
        const rbContactPoint* point = &c->set.points[contact->firstPoint + k];
        isStriking = rbContactStep_IsStriking(c, contact, point);
    }
    return isStriking;
}

static bool isColliding(const rbStepContacts* c, const rbContactIsland* island)
{
    bool isAny = false;
    for (int i = 0; !isAny && i < island->contactCount; ++i) {
        isAny = isByLaw(c, &c->set.contacts[island->contacts[i]], island->contactCount == 1);
    }
    return isAny;
}

// Saves or restores velocities and impulses of an island as sweeps found them.
static void swapSwept(rbStepContacts* c, const rbContactIsland* island, bool isBack)
{
    RB_ASSERT(c->stage.sweptPoints.capacity >= c->set.pointCount);
    for (int i = 0; i < island->bodyCount; ++i) {
        int body = island->bodies[i];
        if (isBack) {
            c->bodies.data[body] = c->stage.swept.data[body];
        } else {
            c->stage.swept.data[body] = c->bodies.data[body];
            c->bodies.data[body] = c->stage.before.data[body];
        }
    }
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            if (isBack) {
                c->set.points[k] = c->stage.sweptPoints.data[k];
            } else {
                c->stage.sweptPoints.data[k] = c->set.points[k];
                c->set.points[k] = c->stage.points.data[k];
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
            guessed += (isOfPositions ? 1.0 : 2.0) * c->stage.points.data[k].impulse[0];
            found += c->set.points[k].impulse[0];
        }
    }
    return fabs(guessed - found) < tuning.guessPart * found;
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
    double left = rbContactNewton_Solve(c->solvers.newton, &whole, task, &solved->sweeps);
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
    for (int k = 0; k < tuning.jointRounds && !(jointError <= jointTolerance); ++k) {
        left = rbContactNewton_Solve(c->solvers.newton, &whole, task, &solved->sweeps);
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
            const double* guess = c->stage.points.data[k].impulse;
            for (int t = 0; t < 3; ++t) {
                // a velocity stage doubles it
                point->passing[t] = isResting ? 2.0 * (point->impulse[t] - guess[t]) : 0.0;
            }
        }
    }
}

// ---------------------------------------------------------------------------------------- solvers
// Lasting contacts of an island: a table of solvers, and a policy that picks among them.

// A stage of an island as it is solved.
typedef struct Lasting {
    rbStepContacts* c;
    const rbContactRun* run;
    rbJointSweep* joints;
    rbNewtonTask task;
    rbContactSolved solved;
    double unit; // s, of positions; 1
    int sweepsMax;
    bool isBegun; // something was solved: later ones continue from it
} Lasting;

typedef struct LastingSolver {
    bool hasPyramids; // takes friction pyramids
    bool hasJoints;   // takes joints among the contacts
    int bodiesMax;    // 0: any number
    void (*solve)(Lasting* l);
} LastingSolver;

static void solveBySweeps(Lasting* l)
{
    rbContactRun run = *l->run;
    run.isContinued = l->isBegun;
    run.isMoving = run.isMoving || l->solved.isMoving;
    run.sweepsMax = l->sweepsMax;
    rbContactSolved solved =
        rbContactSolver_Solve(l->c->solvers.sweeps, &run, !l->task.isOfPositions);
    solved.sweeps += l->solved.sweeps;
    solved.isDirect = l->solved.isDirect;
    solved.isMoving = solved.isMoving || l->solved.isMoving;
    l->solved = solved;
}

static void noteLeft(Lasting* l, double left, double jointTolerance)
{
    l->solved.isMet = left <= l->task.tolerance && l->solved.jointError <= jointTolerance;
    l->solved.isDirect = left < l->task.known || l->solved.isMet;
    l->solved.gapError = left * l->unit;
    l->solved.slipError = left * l->unit;
}

// From the start of the stage; or, once more than a stage's worth of sweeps is done, from these.
static void solveByNewton(Lasting* l)
{
    rbContactRun run = *l->run;
    if (run.sweepJoints != NULL) {
        l->task.known = fmax(l->task.known, rbContactStep_FindLinks(l->joints, &l->task) / l->unit);
        double left = solveWithJoints(l->c, &run, l->joints, &l->task, &l->solved);
        noteLeft(l, left, rbContactStep_GetJointTolerance(l->joints));
    } else if (l->solved.sweeps < l->c->settings.sweepsMax) {
        noteLeft(l, solveWhole(l->c, &run, l->joints->island, &l->task, &l->solved), 0.0);
    } else {
        run.isContinued = true;
        noteLeft(l, rbContactNewton_Solve(l->c->solvers.newton, &run, &l->task, &l->solved.sweeps),
                 0.0);
    }
}

static void solveInTurn(Lasting* l)
{
    rbContactRun run = *l->run;
    run.isContinued = true;
    noteLeft(l,
             rbContactNewton_SolveInTurn(l->c->solvers.newton, &run, &l->task, &l->solved.sweeps),
             0.0);
    l->c->statistics.hybridStages += l->solved.isDirect ? 1 : 0;
}

static const LastingSolver sweepsRow = {true, true, 0, solveBySweeps};
static const LastingSolver newtonRow = {false, true, RB_BLOCK_MATRIX_MAX, solveByNewton};
static const LastingSolver hybridRow = {false, false, RB_BLOCK_MATRIX_MAX, solveInTurn};

// Runs a solver if it takes the stage and the stage still needs one; whether it is solved.
static bool solveBy(const LastingSolver* solver, Lasting* l)
{
    const rbContactIsland* island = l->joints->island;
    bool isTaken = (solver->hasPyramids || l->c->settings.cone == RB_CONE_EXACT) &&
                   (solver->hasJoints || l->run->sweepJoints == NULL) &&
                   (solver->bodiesMax == 0 || island->bodyCount <= solver->bodiesMax);
    bool isOpen = !l->solved.isMet && !l->solved.isShocked;
    if (isTaken && isOpen) {
        l->task.known = fmax(l->solved.gapError, l->solved.slipError) / l->unit;
        l->task.isMoving = l->solved.isMoving;
        solver->solve(l);
        l->isBegun = true;
    }
    return l->solved.isMet || l->solved.isShocked;
}

// More sweeps, where they find the way from far or nothing else is done. Whether they end the
// stage.
static bool sweepOn(Lasting* l, bool isSwept)
{
    bool isHeaped = l->joints->island->bodyCount > RB_ISLAND_LARGE;
    int rounds = isHeaped && !isSwept ? tuning.roundsLarge : 1;
    l->sweepsMax = isSwept    ? l->c->settings.sweepsMax - l->solved.sweeps
                   : isHeaped ? tuning.sweepsLarge
                              : tuning.sweepsStriking;
    l->solved.isMoving = true;
    bool isMet = false;
    for (int i = 0; i < rounds && !isMet; ++i) {
        isMet = solveBy(&sweepsRow, l);
    }
    // in such an island Newton's method mostly fails, in 0.45 s: only where much is left
    bool isNear =
        fmax(l->solved.gapError, l->solved.slipError) <= tuning.far * l->task.tolerance * l->unit;
    return isMet || isSwept || (isHeaped && isNear);
}

// A few sweeps solve most islands. Bodies that strike: more of them, then Newton's method in turn
// with sweeps, which finds its way from far. Bodies at rest: Newton's method from the impulses of
// the last step, which is exact and quick from near. Then the other; small islands at last all the
// sweeps that are allowed. In large ones with joints these are a small part, left to sweeps.
static void solveByPolicy(Lasting* l)
{
    const rbContactSettings* settings = &l->c->settings;
    bool isLarge = l->joints->island->bodyCount > tuning.bodiesLarge;
    if (rbContactStep_IsInner(l->c)) {
        l->sweepsMax = l->task.isOfPositions ? tuning.innerPositions : tuning.innerVelocities;
        (void)solveBy(&sweepsRow, l);
        return;
    }
    if (solveBy(&sweepsRow, l) || settings->sweepsMax <= RB_SWEEPS_FIRST) {
        return;
    }
    bool isSwept = isLarge && l->run->sweepJoints != NULL;
    bool isStriking = l->solved.isMoving || l->joints->island->bodyCount > tuning.bodiesHuge;
    if ((isSwept || (isStriking && l->run->sweepJoints == NULL)) && sweepOn(l, isSwept)) {
        return;
    }
    const LastingSolver* order[2] = {isStriking ? &hybridRow : &newtonRow,
                                     isStriking ? &newtonRow : &hybridRow};
    if (solveBy(order[0], l) || (isLarge && isStriking) || solveBy(order[1], l) || isLarge) {
        return;
    }
    l->sweepsMax = 0;
    while (l->solved.sweeps < settings->sweepsMax && !solveBy(&sweepsRow, l)) {
        rbPoll();
    }
    if (l->run->sweepJoints == NULL) {
        (void)solveBy(&newtonRow, l);
    }
}

// A sweep sees the error of a point before it corrects the next one: at its end it may be larger,
// seen up to 1.2 times. The velocities that count are those at the end. Where two more sweeps do
// not help, they are slow, and the island is solved as a whole.
static void polishVelocities(Lasting* l)
{
    const rbContactRun* run = l->run;
    double tolerance = rbContactRun_GetTolerance(run, &l->c->settings, true);
    l->sweepsMax = 0;
    for (int i = 0, most = l->solved.isMet ? tuning.polishSweeps : 0; i < most; ++i) {
        double error =
            rbMeasureSpeeds(run->set, run->order, run->orderCount, run->bodies, tolerance);
        if (error <= tolerance) {
            // what a last sweep saw and corrected does not count
            l->solved.gapError = i > 0 ? error : l->solved.gapError;
            l->solved.slipError = i > 0 ? error : l->solved.slipError;
            break;
        }
        if (i == 2 && l->joints->island->bodyCount <= tuning.bodiesHuge) {
            l->solved.isMet = false;
            l->solved.gapError = error;
            (void)solveBy(&newtonRow, l);
        } else {
            solveBySweeps(l);
        }
    }
}

static rbContactSolved solveLasting(rbStepContacts* c, const rbContactRun* run,
                                    rbJointSweep* joints)
{
    bool isOfPositions = !joints->isOfRates;
    double unit = isOfPositions ? joints->h : 1.0;
    double tolerance = rbContactRun_GetTolerance(run, &c->settings, !isOfPositions);
    Lasting l = {.c = c, .run = run, .joints = joints, .unit = unit, .isBegun = run->isContinued};
    l.task = (rbNewtonTask){.isOfPositions = isOfPositions,
                            .partSpeed = c->settings.partSpeed,
                            .tolerance = (isOfPositions ? 1.0 : tuning.aim) * tolerance / unit};
    solveByPolicy(&l);
    if (!isOfPositions && !rbContactStep_IsInner(c)) {
        polishVelocities(&l);
    }
    return l.solved;
}

// ----------------------------------------------------------------------------------------- sliding
// Friction of points that slide throughout a step: at order 2 although their direction turns.
//
// Without this, friction acts against the slip that a stage leaves. The sum over both stages then
// points against the slip at the end of the step, and the error of a step is of second order in h.
// Here the position stage uses the slip at the start of the step, and the sum over both stages the
// mean direction of start and end. Both come about by a slip that solvers add to their own: a very
// large one along the start; and as much along the start as there is at the end.
//
// It only holds while a point slides faster than forces and friction can turn or stop it. Islands
// where the result says otherwise are solved again without.

// So large that the slip of a stage does not matter in comparison.
#define FAR 1e6
// A point slides throughout if its slip is this many times what a step can change.
#define STEADY 4.0
// Cosines of the angles by which it may turn in the step, and in half of it.
#define TURN_MOST 0.5
#define TURN_HALF 0.866
// Part of n K n that friction may use up: more would jam.
#define JAM 0.5
// Part of the rim by which friction may be off.
#define RIM_PLAY 1e-6

// The velocity that a unit impulse gives the point.
static rbVec3 respond(const rbStepContacts* c, const rbContact* contact,
                      const rbContactPoint* point, rbVec3 d)
{
    rbContactBody pair[2] = {c->bodies.data[contact->bodyA], c->bodies.data[contact->bodyB]};
    pair[0].velocity = pair[0].spin = pair[1].velocity = pair[1].spin = RB_VEC3_ZERO;
    rbContact alone = {.bodyA = 0, .bodyB = 1};
    rbContact_ApplyImpulse(pair, &alone, point, d);
    return rbContact_RelativeVelocity(pair, &alone, point);
}

static rbVec3 tangentialOf(const rbContact* contact, rbVec3 v)
{
    return rbAddScaled(v, -rbDot(v, contact->normal), contact->normal);
}

static rbVec3 slipOf(const rbContactBody* bodies, const rbContact* contact,
                     const rbContactPoint* point)
{
    return tangentialOf(contact, rbContact_RelativeVelocity(bodies, contact, point));
}

// The slip of a point at the node. The arms of a stage of velocities have turned with the bodies
// since: by twice as much as they have in the mean.
static rbVec3 slipAtNode(const rbStepContacts* c, const rbContact* contact,
                         const rbContactPoint* point, double h, bool isOfPositions)
{
    const rbContactBody* nodes = c->stage.nodes.data;
    rbVec3 u = slipOf(nodes, contact, point);
    rbVec3 turned = rbContactPoint_GetCarry(point, &nodes[contact->bodyA], &nodes[contact->bodyB],
                                            h, c->settings.restSpeed);
    return isOfPositions ? u : rbAddScaled(u, -2.0, tangentialOf(contact, turned));
}

// How much a step can change the slip of a point: by forces, and by friction of all its neighbors.
static double changeOf(const rbStepContacts* c, const rbContact* contact,
                       const rbContactPoint* point, rbVec3 d, double h)
{
    rbVec3 kick = rbSub(c->flight.kicks.data[contact->bodyB], c->flight.kicks.data[contact->bodyA]);
    double load = 0.0;
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        load += 2.0 * c->set.points[k].impulse[0];
    }
    return rbContactStep_PartOf(c, h) * rbLength(tangentialOf(contact, kick)) +
           contact->friction * load * rbDot(d, respond(c, contact, point, d));
}

static rbSlipLead makeLead(const rbContact* contact, rbVec3 d, double size, double part)
{
    RB_ASSERT(part >= 0.0 && part <= 1.0);
    return (rbSlipLead){
        {size * rbDot(d, contact->tangents[0]), size * rbDot(d, contact->tangents[1])}, part};
}

// The slip that leads friction of a point; false: none does.
static bool leadPoint(rbStepContacts* c, const rbContact* contact, int k, double h,
                      bool isOfPositions)
{
    RB_ASSERT(k >= contact->firstPoint && k < c->set.pointCount);
    const rbContactPoint* point = &c->set.points[k];
    const double* p = point->impulse;
    double rim = contact->friction * p[0];
    if (point->isSticking || point->isAhead || !point->isClosed || !(rim > 0.0) ||
        (!isOfPositions && !(sqrt(p[1] * p[1] + p[2] * p[2]) > (1.0 - RIM_PLAY) * rim))) {
        return false;
    }
    rbVec3 u = slipAtNode(c, contact, point, h, isOfPositions);
    double speed = rbLength(u);
    rbVec3 d =
        rbScale(1.0 / rim, rbJoinImpulse(RB_VEC3_ZERO, contact->tangents, 0.0, -p[1], -p[2]));
    d = isOfPositions && speed > 0.0 ? rbScale(1.0 / speed, u) : d;
    rbVec3 n = contact->normal;
    double jam = contact->friction * fabs(rbDot(n, respond(c, contact, point, d)));
    if (!(speed > STEADY * changeOf(c, contact, point, d, h)) || rbDot(u, d) < TURN_HALF * speed ||
        jam > JAM * rbDot(n, respond(c, contact, point, n))) {
        return false;
    }
    c->stage.leads.data[k] = makeLead(contact, d, isOfPositions ? FAR * speed : speed, 1.0);
    return true;
}

// The slips that lead friction of points of an island which slide throughout the step, for a
// position or a velocity stage that begins; false: there are none.
static bool leadSlides(rbStepContacts* c, const rbContactIsland* island, double h,
                       bool isOfPositions)
{
    bool isAny = false;
    rbArray_Reserve(c->stage.leads, c->set.pointCount);
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            memset(&c->stage.leads.data[k], 0, sizeof c->stage.leads.data[k]);
            isAny = leadPoint(c, contact, k, h, isOfPositions) || isAny;
        }
    }
    return isAny;
}

// Whether these points still slide in nearly the same direction after the stage.
static bool areSteady(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const double* lead = c->stage.leads.data[k].slip;
            const rbContactPoint* point = &c->set.points[k];
            if (lead[0] == 0.0 && lead[1] == 0.0) {
                continue;
            }
            rbVec3 d = rbJoinImpulse(RB_VEC3_ZERO, contact->tangents, 0.0, lead[0], lead[1]);
            rbVec3 u = slipOf(c->bodies.data, contact, point);
            if (point->isSticking || !(rbDot(u, d) > TURN_MOST * rbLength(u) * rbLength(d))) {
                return false;
            }
        }
    }
    return true;
}

// Goes on from a solution with friction that other slips lead.
static void solveOn(rbStepContacts* c, rbContactRun* run, rbJointSweep* joints,
                    const rbSlipLead* leads, rbContactSolved* solved)
{
    run->leads = leads;
    run->isContinued = true;
    int sweeps = solved->sweeps;
    *solved = solveLasting(c, run, joints);
    solved->sweeps += sweeps;
}

// --------------------------------------------------------------------------------------- reversing
// Friction of points that stop within a step and slide back, which is against both directions, one
// after the other. A stage has one impulse for both. Against the slip at the end it is off by up to
// twice the friction of a step, and so is the velocity from then on: an error of first order.
//
// So such a stage is solved again with all friction against the slip at the start. The slip that
// this leaves says when it was zero, and the stage is solved with the sum of both parts. Points
// that this leads forward stay where they stopped. Not where something strikes: a blow turns slip
// at the end of the step.

// Slip at the end, of that at the start, that counts as none.
#define STOPPED 1e-2

typedef enum Reversal {
    REVERSAL_START, // friction as at the start
    REVERSAL_SPLIT, // the sum of both parts
    REVERSAL_HELD,  // without points that stay
    REVERSAL_NONE,  // as before, if there is no solution
} Reversal;

// Whether a contact slides back at the end of a step, or is held as it stops there, but would not
// be from then on: it takes the impulse that stops what it bears, too. from: slip at the start.
static bool isReversing(const rbStepContacts* c, const rbContact* contact, double h, rbVec3 from,
                        rbVec3 to)
{
    rbVec3 kick = rbSub(c->flight.kicks.data[contact->bodyB], c->flight.kicks.data[contact->bodyA]);
    double fall = rbContactStep_PartOf(c, h) * fabs(rbDot(kick, contact->normal));
    double mass =
        1.0 / (c->bodies.data[contact->bodyA].invMass + c->bodies.data[contact->bodyB].invMass);
    double speed = rbLength(from);
    double along = 0.0;
    double load = 0.0;
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        const double* p = c->set.points[k].impulse;
        along += rbDot(rbJoinImpulse(RB_VEC3_ZERO, contact->tangents, 0.0, p[1], p[2]), from);
        load += p[0];
    }
    double borne = load > mass * fall && fall > 0.0 ? load / fall : mass;
    bool isStaying = fabs(along + borne * speed * speed) <= contact->friction * load * speed;
    bool isStopped = rbLength(to) <= STOPPED * speed;
    return speed > c->settings.velocityTolerance && load > 0.0 && contact->friction > 0.0 &&
           (isStopped ? !isStaying : rbDot(from, to) < -0.5 * speed * rbLength(to));
}

// Prepares the leads of a contact; whether the stage is to be solved with them.
static bool leadReversal(rbStepContacts* c, const rbContact* contact, double h, Reversal reversal)
{
    bool isAny = false;
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        const rbContactPoint* point = &c->set.points[k];
        rbSlipLead* lead = &c->stage.leads.data[k];
        rbVec3 from = slipAtNode(c, contact, point, h, false);
        rbVec3 to = slipOf(c->bodies.data, contact, point);
        double square = rbDot(from, from);
        double back = -rbDot(from, to);
        bool isLed =
            reversal == REVERSAL_START ? isReversing(c, contact, h, from, to) : lead->part > 0.0;
        if (reversal == REVERSAL_START || (isLed && reversal == REVERSAL_HELD && !(back > 0.0))) {
            isAny = isAny || isLed;
            isLed = isLed && reversal == REVERSAL_START;
            *lead = isLed ? makeLead(contact, from, FAR, 1.0) : (rbSlipLead){0};
        } else if (isLed && reversal == REVERSAL_SPLIT && back > 0.0) {
            double mean = 2.0 * square / (square + back) - 1.0;
            *lead = makeLead(contact, from, mean > 0.0 ? FAR : -FAR, fabs(mean));
            isAny = true;
        }
    }
    return isAny;
}

static rbContactSolved solveReversals(rbStepContacts* c, rbContactRun* run, rbJointSweep* joints,
                                      rbContactSolved solved)
{
    const rbContactIsland* island = joints->island;
    bool isDue =
        solved.isMet && island->bodyCount <= tuning.bodiesLarge && !rbContactStep_IsInner(c);
    for (int i = 0; isDue && i < island->bodyCount; ++i) {
        isDue = !rbContactStep_HasFlight(c, island->bodies[i]);
    }
    rbArray_Reserve(c->stage.leads, c->set.pointCount);
    for (Reversal reversal = REVERSAL_START; isDue && reversal <= REVERSAL_NONE; ++reversal) {
        bool isAny = reversal == REVERSAL_NONE && !solved.isMet;
        for (int i = 0; i < island->contactCount && reversal < REVERSAL_NONE; ++i) {
            const rbContact* contact = &c->set.contacts[island->contacts[i]];
            isAny = leadReversal(c, contact, joints->h, reversal) || isAny;
        }
        isDue = isAny || reversal > REVERSAL_START;
        if (isAny) {
            solveOn(c, run, joints, reversal < REVERSAL_NONE ? c->stage.leads.data : NULL, &solved);
        }
    }
    return solved;
}

// The same with friction of points that slide throughout the step, where there are some.
static rbContactSolved solveSliding(rbStepContacts* c, rbContactRun* run, rbJointSweep* joints,
                                    Stage stage)
{
    bool canSlide = stage != STAGE_STRIKING && c->solvers.substeps == NULL &&
                    joints->island->bodyCount <= tuning.bodiesLarge;
    bool isLed = canSlide && leadSlides(c, joints->island, joints->h, stage == STAGE_POSITION);
    run->leads = isLed ? c->stage.leads.data : NULL;
    rbContactSolved solved = solveLasting(c, run, joints);
    if (isLed && !(solved.isMet && areSteady(c, joints->island))) {
        solveOn(c, run, joints, NULL, &solved);
    }
    return stage == STAGE_VELOCITY && c->solvers.substeps == NULL
               ? solveReversals(c, run, joints, solved)
               : solved;
}

static void solveIsland(rbStepContacts* c, const rbStepHost* host, const rbContactIsland* island,
                        double h, Stage stage, rbStepMiss* miss)
{
    rbContactRun run = rbContactStep_MakeRun(c, island, h);
    run.isMoving = stage == STAGE_STRIKING;
    bool isOfPositions = stage == STAGE_POSITION || stage == STAGE_STRIKING;
    rbJointSweep joints = {c, host, island, h, !isOfPositions};
    if (rbContactStep_HasMechanism(c, island)) {
        run.sweepJoints = rbContactStep_SweepJoints;
        run.react = c->settings.isReacting ? rbGetJointReaction() : NULL;
        run.context = &joints;
    }
    if (stage == STAGE_COLLISION) {
        if (!isColliding(c, island)) {
            return;
        }
        rbCollisionsDone done = rbCollisions_Resolve(c->solvers.collisions, &c->settings, &run);
        c->statistics.collisions += done.collisions;
        c->statistics.energyRaises += done.energyRaises;
        c->statistics.energyRaised += done.energyRaised;
        c->statistics.collisionSweeps += done.sweeps;
        miss->speed = fmax(miss->speed, done.error);
        miss->rebound = fmax(miss->rebound, done.approachLeft);
        miss->jointSpeed = fmax(miss->jointSpeed, done.jointError);
        rbContactStep_AccountForCollisions(c, host, island, &done);
        return;
    }
    rbContactSolved solved = solveSliding(c, &run, &joints, stage);
    if (run.sweepJoints != NULL && !solved.isMet) {
        rbNewtonTask task = {.isOfPositions = isOfPositions};
        solved.jointError = rbContactStep_FindLinks(&joints, &task);
    }
    if (isOfPositions) {
        notePassing(c, island, solved.isMet && solved.sweeps == 1 && run.sweepJoints == NULL);
    }
    noteSolved(c, &solved, stage, miss);
}

bool rbContactStep_IsQuick(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; c->solvers.substeps != NULL && i < island->bodyCount; ++i) {
        unsigned char kind = c->flight.kinds.data[island->bodies[i]];
        if (kind == RB_FLIGHT_SWEPT || kind == RB_FLIGHT_TWICE) {
            return false;
        }
    }
    return c->solvers.substeps != NULL;
}

// The acting impulses of an island whose flight was solved: bodies strike in this step.
void rbContactStep_SolveIsland(rbStepContacts* c, const rbStepHost* host,
                               const rbContactIsland* island, double h, rbStepMiss* miss)
{
    solveIsland(c, host, island, h, STAGE_STRIKING, miss);
}

// One stage of all islands; only collisions for those solved by small steps.
static void solveStage(rbStepContacts* c, const rbStepHost* host, double h, Stage stage,
                       rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0);
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        bool isDue = stage == STAGE_COLLISION || !rbContactStep_IsQuick(c, &island);
        if (!isDue || isStanding(c, &island)) {
            continue;
        }
        solveIsland(c, host, &island, h, stage, miss);
    }
}

// ------------------------------------------------------------------------------------- small steps

static bool canBeQuick(const rbStepContacts* c, const rbContactRun* run,
                       const rbContactIsland* island)
{
    for (int i = 0; i < island->contactCount; ++i) {
        if (!rbContactSubsteps_CanSolve(run, island->contacts[i], c->settings.restSpeed)) {
            return false;
        }
    }
    for (int i = 0; i < island->bodyCount; ++i) {
        if (run->bodies[island->bodies[i]].isFrozen) {
            return false;
        }
    }
    return true;
}

// Whether small steps cannot solve a contact.
static double isOther(const void* run, int contact)
{
    return !rbContactSubsteps_CanSolve(run, contact, ((const rbContactRun*)run)->restSpeed);
}

// The capped mode: all islands that small steps can solve, together. Returns whether others remain.
static bool solveQuickly(rbStepContacts* c, double h, rbStepMiss* miss)
{
    rbContactRun run = rbContactStep_MakeRun(c, NULL, h);
    bool isLeft = false;
    bool areAll = rbContactFreeze_GetCount(c->rest.freeze) == 0 &&
                  rbRunElements(c->set.contactCount, LEAST, isOther, &run).sum == 0.0;
    c->solvers.quickJoints.count = 0;
    rbArray_Reserve(c->solvers.quick, c->set.contactCount);
    int* quick = c->solvers.quick.data;
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        if (isStanding(c, &island)) {
            continue;
        }
        bool isOne = areAll || canBeQuick(c, &run, &island);
        isLeft = isLeft || !isOne;
        if (isOne) {
            rbCopyElements(quick, island.contacts, island.contactCount, sizeof *quick);
            quick += island.contactCount;
            rbContactStep_AddQuickJoints(c, &island);
        }
        for (int k = 0; k < island.bodyCount; ++k) {
            c->flight.kinds.data[island.bodies[k]] = isOne ? RB_FLIGHT_QUICK : RB_FLIGHT_SWEPT;
        }
    }
    c->solvers.quick.count = (int)(quick - c->solvers.quick.data);
    run.order = c->solvers.quick.data;
    run.orderCount = c->solvers.quick.count;
    if (run.orderCount > 0) {
        rbSubstepsTask task = {.run = &run,
                               .kicks = c->flight.kicks.data,
                               .flights = c->flight.bodies.data,
                               .restSpeed = c->settings.restSpeed,
                               .joints = c->solvers.quickJoints.data,
                               .jointCount = c->solvers.quickJoints.count};
        rbSubstepsDone done = rbContactSubsteps_Solve(c->solvers.substeps, &task);
        noteSolved(c, &done.solved, STAGE_POSITION, miss);
        miss->speed = fmax(miss->speed, done.approach);
        c->accounts.sums.friction += done.frictionWork;
        c->accounts.sums.impact += done.impactWork;
        double motor = 0.0;
        for (int i = 0; i < run.orderCount; ++i) {
            motor += rbContactStep_GetObstacleWork(c, &c->set.contacts[run.order[i]]);
        }
        c->accounts.sums.motor += motor;
        c->accounts.sums.truncated += done.work - done.frictionWork - done.impactWork - motor;
    }
    return isLeft;
}

// ------------------------------------------------------------------------------------------ energy

static void accountForLasting(rbStepContacts* c, bool isWhole)
{
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        if (!rbContactStep_IsQuick(c, &island) && !isStanding(c, &island)) {
            rbContactStep_AccountForLasting(c, &island, isWhole);
        }
    }
}

static void keepPoints(rbStepContacts* c)
{
    rbArray_Assign(c->stage.points, c->set.points, c->set.pointCount);
    rbArray_Reserve(c->stage.sweptPoints, c->set.pointCount);
    rbArray_Reserve(c->stage.gaps, c->set.pointCount);
    rbArray_Reserve(c->stage.stays, c->set.pointCount);
}

// ------------------------------------------------------------------------------------------ stages

// Speeds before the step, for bodies that arrive in it.
static void noteApproaches(rbStepContacts* c)
{
    rbArray_SetCount(c->stage.approaches, c->set.pointCount);
    for (int i = 0; i < c->set.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            c->stage.approaches.data[k] = rbContactStep_NormalSpeed(c, contact, &c->set.points[k]);
        }
    }
}

// A body at the start of the stage.
static double beginFlight(rbStepContacts* c, int index, const void* args)
{
    (void)args;
    c->flight.late.data[index] = 0.0;
    c->flight.lifts.data[index] = 0.0;
    c->flight.kinds.data[index] = RB_FLIGHT_PLAIN;
    c->flight.bodies.data[index] = c->bodies.data[index];
    c->accounts.given.data[index] = 0.0;
    c->stage.before.data[index] = c->bodies.data[index];
    return 0.0;
}

bool rbContactStep_SolveFlights(rbStepContacts* c, const rbStepHost* host, double h,
                                rbStepMiss* miss)
{
    rbContactStep_ShowBodies(c);
    rbContactStep_ShowMeans(c, h);
    rbContactRun all = rbContactStep_MakeRun(c, NULL, h);
    rbContactSolver_BeginStep(c->solvers.sweeps, &all, c->settings.isWarm);
    scaleStanding(c, 2.0);
    RB_ASSERT(c->bodies.count <= c->accounts.given.capacity);
    (void)rbContactStep_EachBody(c, beginFlight, NULL);
    (void)beginFlight(c, c->engine->bodies.count, NULL); // the world
    c->flight.arrivals.count = 0;
    c->flight.isWild = false;
    rbContactStep_NoteMechanisms(c);
    c->flight.areAllQuick = c->solvers.substeps != NULL && !solveQuickly(c, h, miss);
    if (c->flight.areAllQuick) {
        return false;
    }
    noteApproaches(c);
    keepPoints(c);
    rbContactStep_OpenAccounts(c, host, c->grid.time, h, -1.0);
    solveStage(c, host, h, STAGE_POSITION, miss);
    rbContactStep_KeepFlights(c, h);
    return true;
}

void rbContactStep_SolveActing(rbStepContacts* c, const rbStepHost* host, double h,
                               rbStepMiss* miss)
{
    rbContactStep_SolveArrivals(c, host, h, miss);
    accountForLasting(c, true);
}

void rbContactStep_SolvePositions(rbStepContacts* c, const rbStepHost* host, double h,
                                  rbStepMiss* miss)
{
    if (rbContactStep_SolveFlights(c, host, h, miss)) {
        rbContactStep_SolveActing(c, host, h, miss);
    }
}

static double isCollision(const void* context, int index)
{
    RB_ASSERT(index >= 0 && index < ((const rbStepContacts*)context)->set.contactCount);
    const rbStepContacts* c = context;
    const rbContact* contact = &c->set.contacts[index];
    int island = rbContactGraph_FindIsland(c->graph, contact->bodyA);
    island = island >= 0 ? island : rbContactGraph_FindIsland(c->graph, contact->bodyB);
    bool isAlone = island >= 0 && rbContactGraph_GetIsland(c->graph, island).contactCount == 1;
    return isByLaw(c, contact, isAlone);
}

// ------------------------------------------------------------------------------------------- loads
// A point that bore a load throughout a step may be parted from its body at the end: another point
// of the body strikes, or the support stops. After that nothing approaches, and a velocity stage
// would take the load of the step from the body. So the second half of the forces acts before, and
// lasting points are solved with the velocities of before; what follows has its own impulses.

// m/s: a point with this target takes no part in a velocity stage, also where it is solved anew.
#define FAR_OFF (-1e9)

// Whether loads of an island may end at once, or something strikes that joints hold, whose motors
// and springs have not acted yet. Rolling friction is left to the velocity stage.
static bool isParted(rbStepContacts* c, const rbContactIsland* island)
{
    bool isEvent = c->stage.kink > 0.0 && !rbContactStep_HasMechanism(c, island);
    bool isLoaded = false;
    bool isPlain = island->bodyCount <= tuning.bodiesLarge && !rbContactStep_IsInner(c) &&
                   !isStanding(c, island);
    for (int i = 0; i < island->contactCount && isPlain; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        isPlain = !(contact->rolling > 0.0 || contact->spinning > 0.0);
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[k];
            bool isStriking = rbContactStep_IsStriking(c, contact, point);
            // in a short step forces may not have closed the gap: then it bears from now on
            bool isFalling = point->isClosed && rbContactStep_NormalSpeed(c, contact, point) <
                                                    -c->settings.velocityTolerance;
            isEvent = isEvent || isStriking;
            isLoaded = isLoaded || point->impulse[0] > 0.0 || (isFalling && !isStriking);
            isPlain = isPlain && !(isStriking && point->impulse[0] > 0.0);
        }
    }
    isLoaded = isLoaded || rbContactStep_PushMechanisms(c, NULL, island, 0.0, false);
    return isEvent && isLoaded && isPlain;
}

// All forces of the step on a body. One that rests on something and was stopped in the flight goes
// on with the velocity that its load left, see rbContactStep_ReturnSpeeds: what that gives it is to
// be paid.
static void pushBody(rbStepContacts* c, const rbStepHost* host, int index, double h, bool isPaying)
{
    rbMechBody* body = rbContactStep_GetBody(c, index);
    double before = rbContactStep_GetKinetic(body, &c->bodies.data[index]);
    bool isStopped = isPaying && rbContactStep_HasFlight(c, index) &&
                     c->flight.late.data[index] == RB_STEP_SNAP * h;
    if (isStopped) {
        body->velocity = body->lentVelocity;
        body->momentum = body->lentMomentum;
        c->flight.late.data[index] = -1.0;
    }
    rbContactStep_KickEarly(c, host, index, h);
    if (isStopped) {
        c->flight.lifts.data[index] +=
            rbContactStep_GetKinetic(body, &c->bodies.data[index]) - before;
    }
    c->stage.isSettled.data[index] = 1;
    c->stage.areSettled = true;
}

// A body with what the step has changed of its velocities, or with those of the node.
static rbContactBody showChange(const rbStepContacts* c, int index, bool isOfNode)
{
    const rbMechBody* node = &c->trial.loose.data[c->own.places1.data[index] - 1];
    rbContactBody shown = c->bodies.data[index];
    rbVec3 spin = rbMulSV(shown.invInertia, node->momentum);
    shown.velocity = isOfNode ? node->velocity : rbSub(shown.velocity, node->velocity);
    shown.spin = isOfNode ? spin : rbSub(shown.spin, spin);
    return shown;
}

// Bodies that were stopped have not gone the whole way of the forces: of what these have changed in
// the step the part is taken back that their way does not pay for. What they do not change, such as
// sliding without friction, stays as it is; if more is missing, it is paid after the collisions.
// Returns the part.
static double payForWay(rbStepContacts* c, const rbContactIsland* island)
{
    double excess = 0.0;
    double lifted = 0.0;
    double now = 0.0;
    double begun = 0.0;
    double changed = 0.0;
    for (int i = 0; i < island->bodyCount; ++i) {
        int index = island->bodies[i];
        const rbMechBody* body = rbContactStep_GetBody(c, index);
        rbContactBody was = showChange(c, index, true);
        rbContactBody change = showChange(c, index, false);
        excess += c->flight.lifts.data[index];
        lifted += fmax(0.0, c->flight.lifts.data[index]);
        begun += rbContactStep_GetKinetic(body, &was);
        now += rbContactStep_GetKinetic(body, &c->bodies.data[index]);
        changed += rbContactStep_GetKinetic(body, &change);
    }
    // the energy without a part x of the change: now - rate x + changed x^2
    double rate = now - begun + changed;
    double most = fmin(excess, rate * rate / (4.0 * changed));
    double root = sqrt(fmax(0.0, rate * rate - 4.0 * changed * most));
    double part = most > 0.0 && rate > 0.0 ? fmin(1.0, 2.0 * most / (rate + root)) : 0.0;
    double missing = fmax(0.0, excess - part * (rate - part * changed));
    for (int i = 0; i < island->bodyCount; ++i) {
        rbContactBody* body = &c->bodies.data[island->bodies[i]];
        double* lift = &c->flight.lifts.data[island->bodies[i]];
        rbContactBody change = showChange(c, island->bodies[i], false);
        body->velocity = rbAddScaled(body->velocity, -part, change.velocity);
        body->spin = rbAddScaled(body->spin, -part, change.spin);
        *lift = *lift > 0.0 ? fmin(1.0, missing / lifted) * *lift : 0.0;
    }
    return part;
}

static bool isIslandSettled(const rbStepContacts* c, const rbContactIsland* island)
{
    return island->bodyCount > 0 && c->stage.isSettled.data[island->bodies[0]] != 0;
}

static void settleIsland(rbStepContacts* c, const rbStepHost* host, const rbContactIsland* island,
                         double h, rbStepMiss* miss)
{
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            bool isOut = rbContactStep_IsStriking(c, contact, &c->set.points[k]);
            c->set.points[k].target = c->stage.points.data[k].target = isOut ? FAR_OFF : 0.0;
        }
    }
    solveIsland(c, host, island, h, STAGE_VELOCITY, miss);
    rbContactStep_AccountForLasting(c, island, false);
    (void)rbContactStep_PushMechanisms(c, host, island, h, true);
}

// Opens a stage in which all forces have acted.
static void openVelocities(rbStepContacts* c, const rbStepHost* host, double h)
{
    keepPoints(c);
    memcpy(c->stage.before.data, c->bodies.data, (size_t)c->bodies.count * sizeof *c->bodies.data);
    rbContactStep_OpenAccounts(c, host, c->grid.time, h, 0.0);
    rbContactStep_AddTouches(c, host, NULL, -1.0);
}

void rbContactStep_SettleLoads(rbStepContacts* c, const rbStepHost* host, double h,
                               rbStepMiss* miss)
{
    double kink = c->stage.kink;
    c->stage.areSettled = false;
    memset(c->stage.isSettled.data, 0, (size_t)c->stage.isSettled.count);
    if (kink > 0.0) {
        rbContactStep_PlaceFixed(c, c->grid.time, -kink);
        rbContactStep_ShowBodies(c);
    }
    for (int i = 0; i < c->islandCount && c->solvers.substeps == NULL; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        bool isFree =
            !rbContactStep_HasMover(c, &island) && !rbContactStep_HasMechanism(c, &island);
        bool isDue = isParted(c, &island);
        for (int k = 0; isDue && k < island.bodyCount; ++k) {
            pushBody(c, host, island.bodies[k], h, isFree);
        }
        (void)(isDue && rbContactStep_PushMechanisms(c, host, &island, h, false));
    }
    if (c->stage.areSettled) {
        openVelocities(c, host, h);
        for (int i = 0; i < c->islandCount; ++i) {
            rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
            if (isIslandSettled(c, &island)) {
                settleIsland(c, host, &island, h, miss);
            }
        }
        rbContactStep_AddTouches(c, host, NULL, 1.0);
        for (int i = 0; i < c->islandCount; ++i) {
            rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
            if (isIslandSettled(c, &island) && rbContactStep_HasFlight(c, island.bodies[0]) &&
                !rbContactStep_HasMover(c, &island) && !rbContactStep_HasMechanism(c, &island)) {
                rbContactStep_ScaleTouches(c, &island, 1.0 - payForWay(c, &island));
            }
        }
        rbContactStep_TakeBodies(c);
        rbStepLimits_Keep(c);
    }
    if (kink > 0.0) {
        rbContactStep_PlaceFixed(c, c->grid.time, kink);
        rbContactStep_ShowBodies(c);
    }
}

// Points of settled bodies begin a stage without impulses; after it they have them back.
static void setLoadsAside(rbStepContacts* c, bool isBack)
{
    if (!isBack && c->stage.areSettled) {
        rbArray_Assign(c->stage.settled, c->set.points, c->set.pointCount);
    }
    for (int i = 0; i < c->set.contactCount && c->stage.areSettled; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        bool isSettled = c->stage.isSettled.data[contact->bodyA] != 0 ||
                         c->stage.isSettled.data[contact->bodyB] != 0;
        int count = isSettled ? contact->pointCount : 0;
        for (int k = contact->firstPoint; k < contact->firstPoint + count; ++k) {
            rbContactPoint* point = &c->set.points[k];
            const rbContactPoint* load = &c->stage.settled.data[k];
            rbVec3 u = rbContact_RelativeVelocity(c->bodies.data, contact, point);
            if (isBack && !(point->impulse[0] > 0.0)) { // the stage added nothing
                point->isSticking = load->isSticking && rbLength(u) <= c->allowed.speed;
            }
            point->target = 0.0;
            for (int t = 0; t < 3; ++t) {
                point->impulse[t] = isBack ? point->impulse[t] + load->impulse[t] : 0.0;
            }
        }
    }
}

bool rbContactStep_SolveCollisions(rbStepContacts* c, const rbStepHost* host, double h,
                                   rbStepMiss* miss)
{
    if (c->solvers.substeps != NULL &&
        rbRunElements(c->set.contactCount, LEAST, isCollision, c).sum == 0.0) {
        return false;
    }
    rbContactStep_OpenAccounts(c, host, c->grid.time, h, 1.0);
    solveStage(c, host, h, STAGE_COLLISION, miss);
    return true;
}

void rbContactStep_SolveVelocities(rbStepContacts* c, const rbStepHost* host, double h,
                                   rbStepMiss* miss)
{
    rbContactStep_ShowBodies(c);
    if (c->flight.areAllQuick) {
        return;
    }
    setLoadsAside(c, false);
    openVelocities(c, host, h);
    solveStage(c, host, h, STAGE_VELOCITY, miss);
    rbContactStep_AddTouches(c, host, NULL, 1.0);
    accountForLasting(c, false);
    rbContactStep_ReportStops(c, host);
    setLoadsAside(c, true);
    for (int i = 0; i < c->islandCount && c->solvers.substeps == NULL; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        rbContactStep_TakeGain(c, &island, h);
    }
}
