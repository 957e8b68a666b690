// One step of all bodies that may touch, as a list of stages; how far it goes; and the grid of such
// steps.
//
// A step from t to t + h has two halves. The first decides the flight: half of the forces, and
// impulses that hold gaps, sticking points and joints at t + h. Nothing has moved then, so it can
// be undone and begun again with another h. The second makes it.
//
// A step in which points arrive may be cut at the time of a contact (B-64): it is restarted with a
// smaller and smaller length, until the first of them is within the tolerance of its surface at the
// end; it collides there. The next step continues to the node of the grid. If this never ends
// (Zeno), bodies arrive as they do without cutting. A time between nodes is shown by a shorter step
// that is not kept.
#include "base/core/timer.h"
#include "dynamics/engines/step/step_contact_state.h"

// Mechanisms that woke at the end of the flight have had no first half.
static void kickMoving(const rbStepRun* run, double time, double h)
{
    if (!rbContactStep_IsWoken(run->mechanism->engine->contacts, run->mechanism)) {
        rbStep_KickBasic(run, time, h);
    }
}

static void pushAtStart(rbStepContacts* c, const rbStepHost* host, double h)
{
    double time = c->grid.time;
    rbContactStep_KickLoose(c, host, time, 0.5 * h, false);
    rbContactStep_EachMechanism(c, host, rbStep_BeginBasic, h);
}

static void solvePositions(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0 && c->flight.kinds.count == c->engine->bodies.count + 1);
    double begun = rbGetThreadTime();
    rbContactStep_SolveAhead(c, host, h, miss);
    RB_VALIDATE(rbStepValid_AreBodies(c));
    RB_VALIDATE(rbStepValid_IsSet(c));
    RB_VALIDATE(rbStepValid_AreImpulses(c));
    RB_VALIDATE(rbStepValid_AreIslands(c));
    RB_VALIDATE(rbStepValid_IsFlight(c, h));
    c->accounts.contactTime += rbGetThreadTime() - begun;
}

static void fly(rbStepContacts* c, const rbStepHost* host, double h)
{
    rbContactStep_AddTouches(c, host, c->stage.before.data, 1.0);
    rbContactStep_TakeBodies(c);
    rbContactStep_TakeFlights(c);
    rbContactStep_FlyLoose(c, h);
    rbContactStep_EachMechanism(c, host, rbStep_FlyBasic, h);
    rbContactStep_ReturnSpeeds(c, host, h);
    rbContactStep_BeginMeetings(c, host, h);
    rbStepLimits_Keep(c);
    rbContactStep_PlaceFixed(c, c->grid.time + h, c->stage.kink);
    RB_ASSERT(c->grid.time + h > c->grid.time);
    c->grid.time += h;
    c->trial.isFlown = false;
}

// Contacts at the end of the flight. What arrived takes part, although it may be slightly open.
static void findEnd(rbStepContacts* c, double h, bool isAgain)
{
    rbStepContacts_Find(c);
    rbContactStep_CloseArrivals(c, h, isAgain);
    if (rbContactStep_MarkIdle(c, 0.0)) {
        rbStepContacts_BuildGraph(c);
    }
}

static void find(rbStepContacts* c, const rbStepHost* host, double h)
{
    c->stage.part = rbContactStep_PartOf(c, h);
    findEnd(c, h, false);
    rbContactStep_WakeBodies(c, host, h);
    rbStepContacts_PrepareRows(c, h);
    RB_VALIDATE(rbStepValid_IsSet(c));
    RB_VALIDATE(rbStepValid_AreBodies(c));
    RB_VALIDATE(rbStepValid_AreIslands(c));
}

// Before the forces of the end act: bodies at rest do not collide.
static void collide(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    double begun = rbGetThreadTime();
    rbContactStep_KickStriking(c, host, h);
    rbContactStep_NoteArriving(c, host);
    rbContactStep_SettleLoads(c, host, h, miss);
    bool isAny = rbContactStep_SolveCollisions(c, host, h, miss);
    RB_VALIDATE(rbStepValid_AreImpulses(c));
    c->accounts.collisionTime += rbGetThreadTime() - begun;
    if (!isAny) {
        return; // bodies are as they were found
    }
    rbContactStep_TakeBodies(c);
    if (!rbContactStep_EndMeetings(c, host, h) && !rbStepContacts_IsFasterThanReach(c)) {
        return;
    }
    if (c->solvers.substeps != NULL) {
        rbStepContacts_MakeReady(c);
    } else {
        findEnd(c, h, true);
        if (rbContactStep_UndoMeetings(c, h)) {
            findEnd(c, h, true);
        }
        rbStepContacts_PrepareRows(c, h);
    }
}

static void pushAtEnd(rbStepContacts* c, const rbStepHost* host, double h)
{
    double time = c->grid.time;
    rbContactStep_KickLoose(c, host, time, 0.5 * h, true);
    rbContactStep_TakeLateKicks(c, h);
    rbContactStep_EachMechanism(c, host, kickMoving, h);
}

static void solveVelocities(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    double begun = rbGetThreadTime();
    rbContactStep_SolveVelocities(c, host, h, miss);
    RB_VALIDATE(rbStepValid_AreImpulses(c));
    RB_VALIDATE(rbStepValid_AreBodies(c));
    c->accounts.contactTime += rbGetThreadTime() - begun;
    rbContactStep_FreezeBodies(c, host, h);
    rbContactStep_TakeBodies(c);
}

static void account(rbStepContacts* c, const rbStepHost* host, double h)
{
    rbContactStep_EachMechanism(c, host, rbContactStep_EndMechanism, h);
    rbStepLimits_Keep(c);
    rbContactStep_CloseAccounts(c);
    RB_VALIDATE(rbStepValid_AreAccounts(c));
    rbContactStep_ReportTouches(c, host);
}

// The first half of a step from the node.
static void begin(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0 && c->stage.part > 0.0);
    RB_VALIDATE(rbStepValid_IsSet(c));
    rbContactStep_ScaleGuess(c, h);
    if (c->solvers.substeps == NULL) {
        rbContactStep_ShowBodies(c);
        rbArray_Assign(c->stage.nodes, c->bodies.data, c->bodies.count);
    }
    pushAtStart(c, host, h);
    solvePositions(c, host, h, miss);
}

static void finish(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0 && !(miss->gap < 0.0) && !(miss->speed < 0.0));
    rbContactStep_BeginTouches(c);
    fly(c, host, h);
    find(c, host, h);
    collide(c, host, h, miss);
    pushAtEnd(c, host, h);
    solveVelocities(c, host, h, miss);
    account(c, host, h);
    rbContactStep_MeasureEnd(c, miss);
    RB_ASSERT(!(miss->gap < 0.0) && !(miss->overlap < 0.0));
}

// ------------------------------------------------------------------------------------------- parts
// Steps in which many bodies strike each other, in parts.
//
// One long step of a falling heap is a hard problem: a blow runs through it, and at the end of a
// flight of several centimeters nothing may overlap. Short parts are easy for sweeps: as far as a
// body falls in a part is within the tolerance, so little of the impulses is left to be found. Only
// the end of the step has to meet the tolerances, so in all parts but the last a few sweeps are
// enough; what they leave the next part corrects. 1000 falling spheres, mixed bodies and cubes on
// terrain at 60 Hz, 1e-5 m and 1e-4 m/s, the first 120 steps, took 240, 1400 and 990 ms a step as a
// whole, with up to 0.16 m of overlap and every second step of the last half above its tolerance.

// What the division was tuned by: 1000 spheres, mixed bodies and cubes on terrain at 60 Hz.
static const struct {
    int bodiesMany;  // islands of more; with 16 5 to 10 % faster
    int bodiesLarge; // islands of more are divided while anything moves in them: as a whole nearly
                     // settled spheres take 0.7 s a step and leave 4e-5 m, in parts 0.27 s
    double slowest;  // of the rest speed, that counts there; at rest nothing is as fast
    int partsMax;    // 12 are common; with 6 and 3 nearly settled heaps miss more steps
} tuning = {32, 64, 0.1, 32};

// Whether something strikes in the island within a step.
static bool isStruck(const rbStepContacts* c, const rbContactIsland* island)
{
    double slowest =
        (island->bodyCount > tuning.bodiesLarge ? tuning.slowest : 1.0) * c->settings.restSpeed;
    bool isAny = false;
    for (int i = 0; i < island->contactCount && !isAny; ++i) {
        const rbContact* contact = &c->set.contacts[island->contacts[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            double speed = rbContactStep_NormalSpeed(c, contact, &c->set.points[k]);
            isAny = isAny || speed < -slowest;
        }
    }
    return isAny;
}

// Islands as those of the position stage of a whole step.
static void markIdle(rbStepContacts* c, double h)
{
    if (rbContactStep_MarkIdle(c, h)) {
        rbStepContacts_PrepareSet(c);
    }
}

// Parts in which the step from the node is made.
static int countParts(rbStepContacts* c)
{
    bool isOne = c->method.row != NULL || c->solvers.substeps != NULL;
    if (isOne || c->set.contactCount <= tuning.bodiesMany) {
        return 1;
    }
    double whole = c->engine->settings.step;
    bool isAny = false;
    rbContactStep_ShowBodies(c);
    markIdle(c, whole);
    for (int i = 0; i < c->islandCount && !isAny; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        isAny = island.bodyCount > tuning.bodiesMany && isStruck(c, &island);
    }
    markIdle(c, 0.0);
    // The rest speed is what forces add in a step.
    double acceleration = c->settings.restSpeed / whole;
    double parts = ceil(whole / sqrt(2.0 * c->allowed.gap / acceleration));
    return isAny ? (int)fmax(1.0, fmin(parts, tuning.partsMax)) : 1;
}

// -------------------------------------------------------------------------------------------- cuts

// No step is shorter than this fraction of a whole one.
#define CUT_LEAST 1e-5
// Cuts of a whole step.
#define CUTS_MAX 100
// The same, and touching points, where it is for the engine to decide: more are chaotic anyway.
#define AUTO_CUTS 4
#define AUTO_POINTS 32
// Trials of one cut.
#define TRIALS_MAX 60
// How often a step is halved, see halveStep.
#define HALVES_MAX 6
// rad: steps are cut in any case where arriving would rotate a body by more in its flight.
#define TURN_MOST 0.3
// Maximum points of a pair that are checked.
#define PROBES_MAX 1024

// The state of the node, while a step from it is tried.
static void keepState(rbStepContacts* c)
{
    rbArray_Assign(c->trial.loose, c->own.loose.data, c->own.loose.count);
    rbContactStep_NoteNode(c);
    rbArray_Assign(c->trial.contacts, c->set.contacts, c->set.contactCount);
    rbArray_Assign(c->trial.points, c->set.points, c->set.pointCount);
    c->trial.contactStatistics = c->statistics;
    c->trial.stepStatistics = c->engine->statistics;
    c->trial.sums = c->accounts.sums;
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        rbStep_KeepNode(&c->engine->mechanisms.data[i]);
    }
}

static void recallState(rbStepContacts* c)
{
    rbCopyElements(c->own.loose.data, c->trial.loose.data, c->own.loose.count, sizeof(rbMechBody));
    // before the guess was scaled to the step
    rbContactStep_RecallNode(c, c->trial.contacts.data, c->trial.points.data);
    RB_ASSERT(c->set.pointCount == c->trial.points.count);
    // islands are those of the contacts that are idle now, not of those in the stages
    rbStepContacts_PrepareSet(c);
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &c->engine->mechanisms.data[i];
        RB_VALIDATE(rbStepValid_IsMechanism(mechanism));
        rbStep_RecallNode(mechanism);
    }
    c->statistics = c->trial.contactStatistics;
    c->engine->statistics = c->trial.stepStatistics;
    c->accounts.sums = c->trial.sums;
}

// ------------------------------------------------------------------------------- time of contact

// Pose of a body a time h after the node if arrivals are not stopped.
static rbRowPose poseAfter(const rbStepContacts* c, int index, double h)
{
    rbMechBody body = *rbContactStep_GetBody(c, index);
    const rbPath* path = c->engine->bodies.data[index].def.path;
    if (body.isDynamic) {
        if (!rbContactFreeze_IsFrozen(c->rest.freeze, index)) {
            rbContactStep_TakeBody(&c->bodies.data[index], &body);
            rbMechBody_LookAhead(&body, h);
            return body.ahead;
        }
    } else if (path != NULL) {
        rbStep_FollowPath(path, c->grid.time + h, &body, false);
    }
    return body.pose;
}

double rbContactStep_MeasureGap(rbStepContacts* c, int bodyA, int bodyB, double h, double below)
{
    RB_ASSERT(bodyA != bodyB && !(h < 0.0));
    const int bodies[2] = {bodyA, bodyB};
    const rbRowPose poses[2] = {poseAfter(c, bodyA, h), poseAfter(c, bodyB, h)};
    double within = c->places.data[bodyA].reach + c->places.data[bodyB].reach;
    rbArray_Reserve(c->flight.probes, PROBES_MAX);
    int count =
        rbContactPairs_Measure(c->pairs, bodies, poses, within, c->flight.probes.data, PROBES_MAX);
    double least = INFINITY;
    for (int i = 0; i < count && i < PROBES_MAX; ++i) {
        const rbContactProbe* probe = &c->flight.probes.data[i];
        rbVec3 u = rbContactBody_RelativeVelocity(
            &c->bodies.data[bodyA], rbSub(probe->point, poses[0].position), &c->bodies.data[bodyB],
            rbSub(probe->point, poses[1].position));
        if (rbDot(u, probe->normal) < below) {
            least = fmin(least, probe->gap);
        }
    }
    return least;
}

// Whether the centers of two bodies that approached at the node separate after a time h.
static bool arePast(const rbStepContacts* c, int bodyA, int bodyB, double h)
{
    rbVec3 atA = rbContactStep_GetBody(c, bodyA)->pose.position;
    rbVec3 atB = rbContactStep_GetBody(c, bodyB)->pose.position;
    rbVec3 before = rbSub(atB, atA);
    rbVec3 after = rbSub(poseAfter(c, bodyB, h).position, poseAfter(c, bodyA, h).position);
    rbVec3 way = rbSub(after, before);
    return rbDot(before, way) < 0.0 && rbDot(after, way) > 0.0;
}

// The gap of an arriving point, after a time h in which nothing of its bodies was found to
// approach. A gap of a look-ahead is known only for the whole flight: the bodies are not yet there,
// INFINITY, or past each other, -INFINITY.
static double guessGap(const rbStepContacts* c, const rbArrival* arrival, double h, bool isWhole)
{
    if (arrival->isAhead && !isWhole) {
        return arePast(c, arrival->bodyA, arrival->bodyB, h) ? -INFINITY : INFINITY;
    }
    const rbContactBody* bodies = c->bodies.data;
    rbVec3 u = rbContactBody_RelativeVelocity(&bodies[arrival->bodyA], arrival->armA,
                                              &bodies[arrival->bodyB], arrival->armB);
    return arrival->gap + h * rbDot(u, arrival->normal);
}

// The smallest gap at the end of the begun step, of the points that arrive in a whole one. Bodies
// that have passed through are not measured correctly: at the end of the whole step only the motion
// of the points counts, and also wherever nothing is found that approaches.
static double gapAfter(rbStepContacts* c, double h, bool isWhole)
{
    RB_ASSERT(h > 0.0);
    double least = INFINITY;
    double measured = INFINITY;
    int lastA = -1;
    int lastB = -1;
    for (int i = 0; i < c->flight.sought.count; ++i) {
        const rbArrival* arrival = &c->flight.sought.data[i];
        bool isNew = arrival->bodyA != lastA || arrival->bodyB != lastB;
        bool isMeasured = !arrival->isOfStop && !isWhole;
        if (isMeasured && isNew) {
            measured = rbContactStep_MeasureGap(c, arrival->bodyA, arrival->bodyB, h,
                                                -0.5 * c->settings.restSpeed);
        }
        lastA = arrival->isOfStop ? lastA : arrival->bodyA;
        lastB = arrival->isOfStop ? lastB : arrival->bodyB;
        bool isKnown = isMeasured && measured < INFINITY;
        least = fmin(least, isKnown ? measured : guessGap(c, arrival, h, isWhole));
    }
    return least;
}

typedef struct Cut {
    double low; // s: the gap is open after a step of this length ...
    double high;
    double openGap; // m; INFINITY: unknown
    double depth;   // m: ... and closed by this much after one of that
    int side;       // of the last trial: 1 open, -1 closed
} Cut;

static double chooseTrial(const Cut* cut, rbContactTime row, double aim)
{
    RB_ASSERT(cut->high > cut->low && cut->depth >= 0.0);
    double width = cut->high - cut->low;
    double part = 0.5;
    if (row != RB_CONTACT_TIME_BISECTION && cut->openGap < INFINITY) {
        part = fmax(0.0, cut->openGap - aim) / (cut->openGap + cut->depth);
    }
    return cut->low + part * width;
}

// Narrows the bracket; an end that stays twice counts half (Illinois), so that both move.
static void narrow(Cut* cut, double h, double gap)
{
    RB_ASSERT(h >= cut->low && h <= cut->high);
    int side = gap > 0.0 ? 1 : -1;
    if (side > 0) {
        cut->low = h;
        cut->openGap = gap;
        cut->depth *= cut->side == side ? 0.5 : 1.0;
    } else {
        cut->high = h;
        cut->depth = -gap;
        cut->openGap *= cut->side == side ? 0.5 : 1.0;
    }
    cut->side = side;
}

// A step of another length from the same node.
static void beginAnew(rbStepContacts* c, const rbStepHost* host, double h, rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0);
    recallState(c);
    *miss = (rbStepMiss){0};
    begin(c, host, h, miss);
}

// Searches the time of the first contact; the step is restarted with it.
static double cutStep(rbStepContacts* c, const rbStepHost* host, double whole, rbStepMiss* miss)
{
    // steps of higher order are cut within the short ones across a change only
    double least = CUT_LEAST * (rbContactOrder_IsUsed(c) ? whole : c->engine->settings.step);
    double tolerance = c->settings.tolerance;
    rbArray_Assign(c->flight.sought, c->flight.arrivals.data, c->flight.arrivals.count);
    Cut cut = {.high = whole, .openGap = INFINITY, .depth = -gapAfter(c, whole, true)};
    for (int i = 0; i < c->flight.sought.count; ++i) {
        cut.openGap = fmin(cut.openGap, guessGap(c, &c->flight.sought.data[i], 0.0, false));
    }
    if (cut.depth <= 0.0 || whole <= 2.0 * least) {
        return whole;
    }
    int64_t trials = 0;
    double h = whole;
    bool isFound = false;
    for (; !isFound && trials < TRIALS_MAX && cut.high - cut.low > least; ++trials) {
        h = fmax(chooseTrial(&cut, c->settings.contactTime, 0.5 * tolerance), least);
        beginAnew(c, host, h, miss);
        double gap = gapAfter(c, h, false);
        if (gap == -INFINITY || rbContactPairs_GetReport(c->pairs).isThrough) {
            gap = -cut.depth; // no more is known; seen from the far side nothing approaches
        }
        isFound = gap >= 0.0 && gap <= tolerance;
        narrow(&cut, h, gap);
    }
    if (!isFound || h < least || h > whole - least) {
        // the remainder is shorter than a step may be: it arrives within it
        h = fmin(fmax(cut.high, least), whole);
        h = h > whole - least ? whole : h;
        c->trial.cuts = h <= least ? CUTS_MAX : c->trial.cuts;
        beginAnew(c, host, h, miss);
    }
    if (isFound) {
        rbContactStep_NoteArrivals(c, c->flight.sought.data, c->flight.sought.count, h);
    }
    RB_ASSERT(h > 0.0 && h <= whole);
    c->trial.cuts += 1;
    c->statistics.cutSteps += h < whole ? 1 : 0;
    c->statistics.cutTrials += trials;
    return h;
}

// Whether stopping a body at a surface rotates it so far in the flight that its contacts do not
// predict its position.
static bool isTurnedAway(const rbStepContacts* c, int body, double h)
{
    rbVec3 change = rbSub(c->flight.bodies.data[body].spin, c->bodies.data[body].spin);
    return rbContactStep_HasFlight(c, body) && h * rbLength(change) > TURN_MOST;
}

// Whether the time of contact is to be found. Two free bodies that meet alone need no cut.
static bool isTimed(rbStepContacts* c)
{
    if (c->settings.contactTime != RB_CONTACT_TIME_AUTO) {
        return c->settings.contactTime != RB_CONTACT_TIME_STEP;
    }
    bool isFew = c->set.pointCount <= AUTO_POINTS && c->trial.cuts < AUTO_CUTS;
    return isFew && c->solvers.substeps == NULL && rbContactStep_AreArrivalsBound(c);
}

static bool isToBeCut(rbStepContacts* c, double h)
{
    bool isCut = c->flight.isWild || isTimed(c);
    isCut = isCut && c->flight.arrivals.count > 0;
    for (int i = 0; i < c->flight.arrivals.count && !isCut; ++i) {
        const rbArrival* arrival = &c->flight.arrivals.data[i];
        isCut = isTurnedAway(c, arrival->bodyA, h) || isTurnedAway(c, arrival->bodyB, h);
    }
    return isCut && c->solvers.substeps == NULL && c->trial.cuts < CUTS_MAX;
}

// Bodies spin so fast in a step that contacts do not predict their position, or would have passed
// through each other at its end without an arriving point: a fraction of the step shows more. Where
// no fraction does, they were through at the start.
static double halveStep(rbStepContacts* c, const rbStepHost* host, double whole, rbStepMiss* miss)
{
    int most = c->solvers.substeps == NULL && c->trial.cuts < CUTS_MAX ? HALVES_MAX : 0;
    int halves = 0;
    double h = whole;
    for (; c->flight.isGuarded && halves < most; ++halves) {
        h *= 0.5;
        beginAnew(c, host, h, miss);
    }
    double seen = h;
    for (; c->flight.isWild && c->flight.arrivals.count == 0 && halves < most; ++halves) {
        h *= 0.5;
        beginAnew(c, host, h, miss);
    }
    if (h < seen && c->flight.isWild && c->flight.arrivals.count == 0) {
        h = seen;
        beginAnew(c, host, h, miss);
    }
    RB_ASSERT(h > 0.0 && h <= whole && halves <= most);
    c->trial.cuts += h < whole ? 1 : 0;
    c->statistics.cutSteps += h < whole ? 1 : 0;
    c->statistics.cutTrials += halves;
    return h;
}

// ------------------------------------------------------------------------------ begin, and between

// A step that ends where velocities of obstacles jump, if they do within h: a lift stops. Notes it.
static double endAtKink(rbStepContacts* c, double h)
{
    double beside = CUT_LEAST * c->engine->settings.step;
    double first = INFINITY;
    for (int i = 0; i < c->own.loose.count && c->solvers.substeps == NULL; ++i) {
        const rbPath* path = c->engine->bodies.data[c->own.loose.data[i].index].def.path;
        double steady = INFINITY;
        if (path != NULL) {
            (void)rbPath_IsSteady(path, c->grid.time + beside, &steady);
        }
        first = fmin(first, steady + beside);
    }
    c->stage.kink = first <= h + beside ? 2.0 * beside : 0.0;
    return first < h - beside ? first : h;
}

// Begins a step, cut at the first contact within it (B-64). Returns its length; 0: it would end
// after the time, and a shorter one is shown.
static double beginCut(rbStepContacts* c, const rbStepHost* host, double h, double time,
                       rbStepMiss* miss)
{
    RB_ASSERT(h > 0.0);
    double latest = time + RB_STEP_SNAP * c->engine->settings.step;
    if (c->trial.isFlown && c->grid.time + c->trial.step > latest) {
        return 0.0;
    }
    keepState(c);
    h = endAtKink(c, h);
    double whole = h;
    int cutCount = c->trial.cuts;
    begin(c, host, h, miss);
    h = halveStep(c, host, h, miss);
    h = isToBeCut(c, h) ? cutStep(c, host, h, miss) : h;
    c->stage.kink = h < whole ? 0.0 : c->stage.kink;
    if (c->grid.time + h > latest) {
        recallState(c);
        c->trial.cuts = cutCount;
        c->trial.isFlown = true; // it needs not be begun again for times before its end
        c->trial.step = h;
        return 0.0;
    }
    return h;
}

#define TAKE_WORK(name) works.name -= node.name;

void rbContactStep_LookBetween(rbStepContacts* c, const rbStepHost* host, double time)
{
    RB_ASSERT(time > c->grid.time);
    double snap = RB_STEP_SNAP * c->engine->settings.step;
    rbStepHost mute = *host;
    mute.journal = NULL;
    mute.node = NULL;
    bool isFlown = c->trial.isFlown;
    double made = c->trial.step;
    bool isOwn = c->method.row == NULL;
    c->trial.work = 0.0;
    rbStepWork node = rbStepEngine_GetWork(c->engine);
    rbStepEngine_Keep(c->engine, &c->trial.shown);
    double before = rbContactStep_WriteEnergy(c, host);
    if (!isOwn) {
        c->method.row->look(c, host, time);
    }
    bool isMade = isOwn;
    while (isMade && time > c->grid.time + snap) {
        rbPoll();
        double h = time - c->grid.time;
        isMade = rbContactOrder_IsUsed(c) ? rbContactOrder_Step(c, &mute, h, time)
                                          : rbContactStep_MakePlain(c, &mute, h) > 0.0;
    }
    double work = rbContactStep_WriteEnergy(c, host) - before;
    rbStepWork works = rbStepEngine_GetWork(c->engine);
    rbStepEngine_Recall(c->engine, &c->trial.shown);
    RB_STEP_WORKS(TAKE_WORK)
    c->trial.work = work;
    c->trial.works = isOwn ? works : (rbStepWork){.between = work};
    c->trial.isFlown = isFlown;
    c->trial.step = made;
}

// ---------------------------------------------------------------------------------------- the grid

// One step by a registered method.
static bool stepByMethod(rbStepContacts* c, const rbStepHost* host, double next)
{
    RB_ASSERT(next > c->grid.time);
    rbStepMiss miss = {0};
    c->method.row->advance(c, host, next);
    rbContactStep_CloseAccounts(c);
    c->grid.index += 1;
    rbContactStep_CountStep(c, &miss, true);
    return true;
}

// The end of the current part of the step, which is a node of the grid for the last one.
static double getNext(const rbStepContacts* c)
{
    double whole = c->engine->settings.step;
    double node = c->grid.origin + (double)c->grid.index * whole;
    RB_ASSERT(c->parts.done >= 0 && (c->parts.count == 0 || c->parts.done < c->parts.count));
    return rbContactStep_IsInner(c)
               ? node - (c->parts.count - c->parts.done - 1) * (whole / c->parts.count)
               : node;
}

static void endPart(rbStepContacts* c, double next)
{
    RB_ASSERT(c->parts.done < c->parts.count && c->grid.index > 0);
    c->grid.time = next;
    c->parts.done += 1;
    if (c->parts.done >= c->parts.count) {
        c->parts.count = 0;
        c->parts.done = 0;
        c->grid.index += 1;
        c->trial.cuts = 0;
    }
}

// One step from the node, to the next one of the grid, the end of a part or a cut; false: it would
// end after the time.
static bool step(rbStepContacts* c, const rbStepHost* host, double time)
{
    double snap = RB_STEP_SNAP * c->engine->settings.step;
    if (c->parts.count == 0) {
        c->parts.count = countParts(c);
        c->statistics.dividedSteps += c->parts.count > 1 ? 1 : 0;
    }
    double next = getNext(c);
    bool isBeyond = next > time + snap;
    if (isBeyond && (c->method.row != NULL || time <= c->grid.time + snap)) {
        return false;
    }
    if (c->method.row != NULL) {
        return stepByMethod(c, host, next);
    }
    rbStepMiss miss = {0};
    double h = next - c->grid.time;
    RB_ASSERT(h > 0.0 && c->grid.index > 0);
    // a game's steps are not cut
    if (isBeyond || c->solvers.substeps == NULL) {
        h = beginCut(c, host, h, isBeyond ? time : next, &miss);
        if (!(h > 0.0)) {
            return false;
        }
    } else {
        begin(c, host, h, &miss);
    }
    bool isEnd = h == next - c->grid.time;
    bool isInner = rbContactStep_IsInner(c);
    finish(c, host, h, &miss);
    if (isInner) {
        miss = (rbStepMiss){.rebound = miss.rebound}; // tolerances hold at the end of the step
    }
    if (isEnd) {
        endPart(c, next);
    }
    rbContactStep_CountStep(c, &miss, isEnd && !isInner);
    return true;
}

static int64_t countUnmet(const rbStepContacts* c)
{
    return c->statistics.unmetSteps + c->engine->statistics.unmetSteps +
           c->engine->statistics.inaccurateSteps;
}

double rbContactStep_MakePlain(rbStepContacts* c, const rbStepHost* host, double h)
{
    rbStepMiss miss = {0};
    c->trial.cuts = 0;
    c->trial.isFlown = false;
    h = beginCut(c, host, h, c->grid.time + h, &miss);
    RB_ASSERT(h > 0.0);
    finish(c, host, h, &miss);
    rbContactStep_CountStep(c, &miss, false);
    return h;
}

rbStatus rbStepContacts_Advance(rbStepContacts* c, const rbStepHost* host, double time,
                                double* reached)
{
    RB_ASSERT(time >= c->engine->time);
    int64_t unmet = countUnmet(c);
    if (rbContactOrder_IsUsed(c)) {
        rbContactOrder_Advance(c, host, time);
        *reached = rbContactStep_IsFinite(c) ? time : c->engine->time;
        c->engine->time = *reached;
        if (*reached < time) {
            return RB_STATUS_LIMIT;
        }
        return countUnmet(c) > unmet ? RB_STATUS_NUMERICAL : RB_STATUS_OK;
    }
    while (step(c, host, time)) {
        if (!rbContactStep_IsFinite(c)) {
            *reached = c->engine->time;
            return RB_STATUS_LIMIT;
        }
        rbPoll();
    }
    if (time > c->grid.time + RB_STEP_SNAP * c->engine->settings.step) {
        rbContactStep_LookBetween(c, host, time);
    } else {
        c->trial.work = 0.0;
        c->trial.works = (rbStepWork){.between = 0.0};
        rbContactStep_WriteBodies(c, host);
    }
    c->engine->time = time;
    *reached = time;
    return countUnmet(c) > unmet ? RB_STATUS_NUMERICAL : RB_STATUS_OK;
}
