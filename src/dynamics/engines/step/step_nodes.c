// Nodes of a mechanism: steps of the given or chosen size, halved where look-ahead does not
// contract, stretched where they would end on a singular position; trial steps to other times.
#include "base/math/elementary.h"
#include "dynamics/engines/step/step_valid.h"

#include <float.h>
#include <string.h>

// Times closer than this fraction of a step are equal.
#define SNAP 1e-9
// Steps without a halving after which a coarser step is tried again.
#define CALM_STEPS 4
// The same after a step that gained energy.
#define WILD_STEPS 250
// A step that gets closer to a singular position than this fraction of the usual pivot is made
// longer or shorter.
#define SINGULAR_PIVOT 1e-6
#define SINGULAR_ATTEMPTS 3
// Steps without look-ahead before it is tried again.
#define SETTLE_STEPS 16
#define SETTLE_STEPS_MAX 1024
// Fraction of the kinetic energy by which the energy may grow in a step.
#define TAME_PART 0.05
// Step times the fastest oscillation; beyond 2 steps are unstable.
#define SWING_MOST 1.5
// Growth and shrinkage of chosen steps.
#define STEP_SAFETY 0.9
#define STEP_GROWTH 2.0
#define STEP_SHRINKAGE 0.2
// Fraction of the largest step below which none is tried.
#define STEP_LEAST 1e-9
// Roundings of a position by which orders may differ, per order.
#define ESTIMATE_ROUNDINGS 4.0
// Fraction of the error allowed in all that a single kink may make.
#define KINK_SHARE 0.004
// The shortest step of a kink moves a body by the square of this many roundings.
#define KINK_ROUNDINGS 8.0

static rbSolver* solverAtEnd(const rbStepMechanism* mechanism)
{
    // After a step the factors of its end are the anchor's.
    return mechanism->anchor->solver;
}

static void addPart(const rbStepRun* run, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    if (!run->isTrial) {
        rbStepStatistics* s = &run->engine->statistics;
        s->stepSmallest = fmin(s->stepSmallest, h);
        mechanism->node.estimateSum += mechanism->seen.estimate;
    }
    for (int i = 0; i < RB_WORK_COUNT; ++i) {
        mechanism->node.work[i] += mechanism->work[i];
    }
    for (int row = 0; row < mechanism->m.rowCount; ++row) {
        mechanism->rows.sums[row] += mechanism->rows.totals[row];
    }
}

// Whether the part just made is short enough for the fastest oscillation of the mechanism at its
// end; if not, it is undone.
static bool isSwingResolved(const rbStepRun* run, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    if (mechanism->method != NULL || mechanism->node.settleCount > 0) {
        return true;
    }
    mechanism->node.swing = rbStep_GetSwing(mechanism, h);
    RB_ASSERT(!(mechanism->node.swing < 0.0));
    if (h * mechanism->node.swing <= SWING_MOST) {
        return true;
    }
    rbStep_Restore(mechanism, mechanism->copies.start);
    mechanism->isAnchored = false;
    return false;
}

// A step of size h from a time, halved as often as needed and allowed. LIMIT when that was not
// enough.
static rbStatus makeParts(const rbStepRun* run, double time, double h, int depth)
{
    rbStepEngine* engine = run->engine;
    int most = run->isForced ? 0 : engine->settings.halvingsMax;
    RB_ASSERT(h > 0.0 && depth <= most);
    bool isSplit = depth < run->mechanism->node.level && depth < most;
    if (!isSplit) {
        rbStepRun attempt = *run;
        attempt.isSmallest = depth >= most;
        if (rbStep_Make(&attempt, time, h) && (depth >= most || isSwingResolved(run, h))) {
            addPart(run, h);
            return RB_STATUS_OK;
        }
        if (depth >= most) {
            return RB_STATUS_LIMIT;
        }
        if (!run->isTrial) {
            engine->statistics.halvings += 1;
        }
        run->mechanism->node.level = depth + 1;
        run->mechanism->node.calmCount = 0;
    }
    rbStatus status = makeParts(run, time, 0.5 * h, depth + 1);
    if (status == RB_STATUS_OK) {
        status = makeParts(run, time + 0.5 * h, 0.5 * h, depth + 1);
    }
    return status;
}

// Energy of a mechanism on which nothing but constant forces acts.
static double energyOf(const rbMechanism* m)
{
    double sum = rbStep_GetKineticEnergy(m);
    for (int i = 0; i < m->bodyCount; ++i) {
        const rbMechBody* body = &m->bodies[i];
        sum -= body->isDynamic ? rbDot(body->force, body->pose.position) : 0.0;
    }
    return sum;
}

static bool isConservative(const rbStepMechanism* mechanism)
{
    return !mechanism->traits.hasSoft && !mechanism->traits.hasPaths &&
           !mechanism->traits.hasLoads && !mechanism->traits.hasTorques && !mechanism->isOpen &&
           mechanism->method == NULL;
}

static rbVec3 linearMomentum(const rbMechanism* m)
{
    rbVec3 sum = RB_VEC3_ZERO;
    for (int i = 0; i < m->bodyCount; ++i) {
        sum = rbAddScaled(sum, m->bodies[i].mass, m->bodies[i].velocity);
    }
    return sum;
}

// Momentum, and angular momentum about the center of mass.
static void noteMomentum(const rbMechanism* m, rbVec3* momentum, rbVec3* angular, rbVec3* center)
{
    rbVec3 sum = RB_VEC3_ZERO;
    double mass = 0.0;
    for (int i = 0; i < m->bodyCount; ++i) {
        sum = rbAddScaled(sum, m->bodies[i].mass, m->bodies[i].pose.position);
        mass += m->bodies[i].mass;
    }
    *center = rbScale(1.0 / mass, sum);
    *momentum = linearMomentum(m);
    *angular = rbSub(rbStep_GetAngularMomentum(m), rbCross(*center, *momentum));
}

// A free-floating mechanism in a uniform field keeps its angular momentum, gains the momentum of
// the field, and its center flies freely. Impulses at nearly singular positions may be so large
// that their rounding shows: it is corrected as a motion and a shift of the whole, which no joint
// feels.
static void keepMomentum(rbStepMechanism* mechanism, double h)
{
    rbMechanism* m = &mechanism->m;
    rbVec3 force = RB_VEC3_ZERO;
    double mass = 0.0;
    for (int i = 0; i < m->bodyCount; ++i) {
        force = rbAdd(force, m->bodies[i].force);
        mass += m->bodies[i].mass;
    }
    rbVec3 momentum;
    rbVec3 angular;
    rbVec3 center;
    noteMomentum(m, &momentum, &angular, &center);
    RB_ASSERT(mass > 0.0 && mechanism->traits.isAfloat);
    rbVec3 mean = rbAddScaled(mechanism->before.momentum, 0.5 * h, force);
    rbVec3 shift = rbSub(rbAddScaled(mechanism->before.center, h / mass, mean), center);
    for (int i = 0; i < m->bodyCount; ++i) {
        rbVec3* position = &m->bodies[i].pose.position;
        *position = rbAdd(*position, shift);
    }
    noteMomentum(m, &momentum, &angular, &center);
    rbVec3 off = rbSub(rbAddScaled(mechanism->before.momentum, h, force), momentum);
    rbVec3 turn = rbAdd(rbSub(mechanism->before.angular, angular), rbCross(center, off));
    rbStep_AddRigidMotion(m, off, turn);
}

static void noteEnergy(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    const rbMechanism* m = &mechanism->m;
    double power;
    rbStep_Forces(run, time, &power);
    mechanism->before.energy = energyOf(m);
    mechanism->before.forceEnergy = 0.0;
    for (int i = 0; i < m->bodyCount; ++i) {
        double square = h * h * rbLengthSquared(m->bodies[i].force);
        mechanism->before.forceEnergy += 0.5 * m->bodies[i].invMass * square;
    }
}

// J, by which the energy may grow in a step. Joints do no work: more means that look-ahead has
// found another configuration that closes them, far from the current one.
static double allowedGain(const rbStepMechanism* mechanism)
{
    return TAME_PART * rbStep_GetKineticEnergy(&mechanism->m) + mechanism->before.forceEnergy;
}

static bool isTame(const rbStepMechanism* mechanism)
{
    double gain = energyOf(&mechanism->m) - mechanism->before.energy;
    return !isConservative(mechanism) || gain <= allowedGain(mechanism);
}

static void scaleMotion(rbMechanism* m, double scale)
{
    for (int i = 0; i < m->bodyCount; ++i) {
        rbMechBody* body = &m->bodies[i];
        if (body->isDynamic) {
            body->velocity = rbScale(scale, body->velocity);
            body->momentum = rbScale(scale, body->momentum);
        }
    }
}

// Removes the energy gained by a step that could not be made otherwise: from all motion, or, for a
// free mechanism, from the motion relative to its rigid-body motion, so that momentum is conserved.
static void tame(rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    double gain = energyOf(m) - mechanism->before.energy;
    if (!isConservative(mechanism) || !(gain > 0.0)) {
        return;
    }
    rbVec3 momentum = linearMomentum(m);
    rbVec3 angular = rbStep_GetAngularMomentum(m);
    if (mechanism->traits.isAfloat) {
        rbStep_AddRigidMotion(m, rbNeg(momentum), rbNeg(angular));
    }
    double kinetic = rbStep_GetKineticEnergy(m);
    RB_ASSERT(!(kinetic < 0.0));
    scaleMotion(m, gain < kinetic ? sqrt((kinetic - gain) / kinetic) : 0.0);
    if (mechanism->traits.isAfloat) {
        rbStep_AddRigidMotion(m, momentum, angular);
    }
}

// LIMIT when look-ahead does not contract, NUMERICAL when the step gained energy.
static rbStatus makeSteps(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbStepRun own = *run;
    const rbStepSettings* settings = &run->engine->settings;
    // If no halvings or few iterations are allowed, the result is accepted.
    own.isForced = run->isForced || settings->halvingsMax == 0 || settings->iterationsMax > 0 ||
                   mechanism->node.settleCount > 0;
    mechanism->seen.pivotWorst = INFINITY;
    mechanism->seen.redundantMost = 0;
    memset(mechanism->rows.sums, 0, (size_t)mechanism->m.rowCount * sizeof(double));
    rbStep_RunMotors(run, time, h);
    noteEnergy(run, time, h);
    bool isKept =
        mechanism->traits.isAfloat && mechanism->traits.isFieldUniform && isConservative(mechanism);
    if (isKept) {
        noteMomentum(&mechanism->m, &mechanism->before.momentum, &mechanism->before.angular,
                     &mechanism->before.center);
    }
    rbStatus status = makeParts(&own, time, h, 0);
    if (mechanism->node.settleCount > 0 || (own.isForced && !isTame(mechanism))) {
        tame(mechanism);
    } else if (status == RB_STATUS_OK && !own.isForced && !isTame(mechanism)) {
        status = RB_STATUS_NUMERICAL;
    }
    // Twice: a large correction leaves rounding errors.
    for (int k = 0; isKept && status == RB_STATUS_OK && k < 2; ++k) {
        keepMomentum(mechanism, h);
    }
    return status;
}

static void keepForces(rbStepMechanism* mechanism, double h)
{
    for (int row = 0; row < mechanism->m.rowCount; ++row) {
        mechanism->rows.forces[row] = mechanism->rows.sums[row] / h;
    }
}

// Memory of the servo of a block; NULL if it has none.
static rbMotorState* motorOf(const rbStepRun* run, int block)
{
    const rbBlockInfo* info = &run->mechanism->infos[block];
    bool hasOne = info->role == RB_ROLE_FREEDOM;
    return hasOne ? &run->engine->joints.data[info->owner].motors[info->freedom] : NULL;
}

static void keepNode(const rbStepRun* run)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbMechanism* m = &mechanism->m;
    rbStep_Save(mechanism, mechanism->copies.kept);
    mechanism->copies.node = mechanism->node;
    mechanism->size = 1e-3;
    for (int i = 0; i < m->bodyCount; ++i) {
        double reach = rbLength(m->bodies[i].pose.position) + m->bodies[i].radius;
        mechanism->size = fmax(mechanism->size, reach);
    }
    for (int i = 0; i < m->blockCount; ++i) {
        const rbMotorState* motor = motorOf(run, i);
        if (motor != NULL) {
            mechanism->copies.motors[i] = *motor;
        }
    }
}

static void recallNode(const rbStepRun* run)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbStep_Restore(mechanism, mechanism->copies.kept);
    mechanism->node = mechanism->copies.node;
    mechanism->isAnchored = false;
    for (int i = 0; i < mechanism->m.blockCount; ++i) {
        rbMotorState* motor = motorOf(run, i);
        if (motor != NULL) {
            *motor = mechanism->copies.motors[i];
        }
    }
}

// Whether a step reached a position where conditions become dependent that elsewhere are not, at
// its end or between its runs.
static bool isSingular(const rbStepMechanism* mechanism)
{
    return mechanism->seen.redundantMost > mechanism->node.redundantLeast ||
           mechanism->seen.pivotWorst < SINGULAR_PIVOT * mechanism->node.pivotUsual;
}

static void finishNode(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbStepStatistics* s = &run->engine->statistics;
    RB_ASSERT(time > mechanism->grid.time && h > 0.0);
    RB_VALIDATE(rbStepValid_IsMechanism(mechanism));
    mechanism->grid.time = time;
    keepForces(mechanism, h);
    rbStep_FollowFreedoms(run->engine, mechanism);
    rbStep_CountErrors(run->engine, mechanism);
    s->steps += 1;
    mechanism->node.calmCount += 1;
    if (mechanism->node.settleCount > 0) {
        mechanism->node.settleCount -= 1;
        s->settledSteps += 1;
    } else {
        mechanism->node.settleSpan = 0;
    }
    double twice = ldexp(h, 1 - mechanism->node.level);
    if (mechanism->node.calmCount >= CALM_STEPS && mechanism->node.level > 0 &&
        twice * mechanism->node.swing <= SWING_MOST) {
        mechanism->node.level -= 1;
        mechanism->node.calmCount = 0;
    }
}

// The last resort where look-ahead cannot make a step.
static rbStatus settle(const rbStepRun* run, double time, double h)
{
    rbNodeMemory* node = &run->mechanism->node;
    // It is tried again after a while, each time after a longer one.
    int span = 2 * node->settleSpan;
    span = span < SETTLE_STEPS ? SETTLE_STEPS : span > SETTLE_STEPS_MAX ? SETTLE_STEPS_MAX : span;
    node->settleSpan = span;
    RB_ASSERT(span >= SETTLE_STEPS && span <= SETTLE_STEPS_MAX);
    node->settleCount = span;
    node->level = 0;
    return makeSteps(run, time, h);
}

// A step that gained energy is repeated in smaller parts, and larger ones are not tried for a long
// time. False when they are the smallest already.
static bool refine(const rbStepRun* run)
{
    rbStepMechanism* mechanism = run->mechanism;
    int level = mechanism->node.level + 1;
    if (level > run->engine->settings.halvingsMax) {
        return false;
    }
    recallNode(run);
    mechanism->node.level = level;
    mechanism->node.calmCount = -WILD_STEPS;
    mechanism->copies.node.level = level;
    mechanism->copies.node.calmCount = -WILD_STEPS;
    run->engine->statistics.halvings += run->isTrial ? 0 : 1;
    return true;
}

// One step of the grid. Where it would end on a singular position it continues beyond it, and the
// next one ends on the grid again. A node never passes the requested time: then isHeld is set, and
// the step is made when a later time is requested.
static rbStatus stepOnGrid(const rbStepRun* run, double next, double asked, bool* isHeld)
{
    static const double stretches[SINGULAR_ATTEMPTS] = {1.37, 0.73, 1.19};
    rbStepMechanism* mechanism = run->mechanism;
    rbStepStatistics* s = &run->engine->statistics;
    double time = mechanism->grid.time;
    double h = next - time;
    double end = next;
    double velocityError = s->velocityErrorMax;
    keepNode(run);
    rbStatus status = makeSteps(run, time, h);
    while (status == RB_STATUS_NUMERICAL && refine(run)) {
        status = makeSteps(run, time, h);
    }
    bool isFirm = mechanism->method == NULL && !(mechanism->node.settleCount > 0);
    for (int k = 0; isFirm && k <= SINGULAR_ATTEMPTS; ++k) {
        bool isBad = isSingular(mechanism);
        if (status == RB_STATUS_OK && !isBad) {
            break;
        }
        recallNode(run);
        s->velocityErrorMax = velocityError;
        bool isLast = k == SINGULAR_ATTEMPTS;
        h = isLast ? next - time : stretches[k] * (next - time);
        end = isLast ? next : time + h;
        if (end > asked + SNAP * h) {
            *isHeld = true;
            return RB_STATUS_OK;
        }
        s->singularSteps += isBad ? 1 : 0;
        status = isLast ? settle(run, time, h) : makeSteps(run, time, h);
    }
    // Energy gained with the smallest parts is accepted.
    status = status == RB_STATUS_NUMERICAL ? RB_STATUS_OK : status;
    if (status == RB_STATUS_OK) {
        finishNode(run, end, h);
    }
    return status;
}

static double gridTime(const rbStepEngine* engine, const rbStepMechanism* mechanism)
{
    return mechanism->grid.origin + (double)mechanism->grid.index * engine->settings.step;
}

// m, by which rounding alone lets the orders differ. Next to a singular position the conditions
// hold a direction of motion only with the root of the lost pivot, so rounding grows by its
// inverse: no smaller step makes it less.
static double estimateFloor(const rbStepRun* run)
{
    const rbStepMechanism* mechanism = run->mechanism;
    // The weights of the runs grow with the order.
    double roundings = ESTIMATE_ROUNDINGS * (double)run->engine->settings.order;
    double part = mechanism->seen.pivotWorst / mechanism->node.pivotUsual;
    part = part < 1.0 ? fmax(part, DBL_EPSILON) : 1.0;
    return roundings * DBL_EPSILON * mechanism->size / sqrt(part);
}

// m, the error that a step of size h may have: its share of the time; where it has a kink, a share
// of the whole, since there the error made does not fall faster than the step. In too short a step
// rounding of positions would look like the forces that rows with limits feel.
static double allowedError(const rbStepRun* run, double h)
{
    const rbStepMechanism* mechanism = run->mechanism;
    const rbStepSettings* settings = &run->engine->settings;
    double kink = mechanism->seen.kink;
    double share = kink > 0.0 ? KINK_SHARE : h / settings->horizon;
    double shortest = KINK_ROUNDINGS * sqrt(DBL_EPSILON * mechanism->size * kink);
    return fmax(share * settings->errorMax, fmax(estimateFloor(run), shortest * settings->horizon));
}

// Ends a step of a chosen size. It is inaccurate if its error is not known, or if the errors so far
// add up to more than they may.
static void finishChosen(const rbStepRun* run, double time, double h, bool isKnown)
{
    const rbStepSettings* settings = &run->engine->settings;
    rbStepStatistics* s = &run->engine->statistics;
    double most = settings->errorMax * fmax(1.0, (time + h) / settings->horizon);
    if (!isKnown || run->mechanism->node.estimateSum > most) {
        s->unmetTime = s->unmetSteps + s->inaccurateSteps == 0 ? time + h : s->unmetTime;
        s->inaccurateSteps += 1;
    }
    finishNode(run, time + h, h);
}

// How much longer than h a step may be, by its error.
static double stepFactor(const rbStepRun* run, double error, double allowed)
{
    // The lower of the two orders has a local error of this power; a kink the first.
    double order = run->mechanism->seen.kink > 0.0 ? 2.0 : (double)run->engine->settings.order;
    double factor = STEP_GROWTH;
    if (error > estimateFloor(run)) {
        factor = STEP_SAFETY * rbExp(rbLog(allowed / error) / (order - 1.0));
    }
    return fmin(STEP_GROWTH, fmax(STEP_SHRINKAGE, factor));
}

// A step where none is accurate enough: that with the least error, or of order 1 when look-ahead
// made none.
static rbStatus stepAnyway(const rbStepRun* run, double h, double hLeast)
{
    rbStepMechanism* mechanism = run->mechanism;
    double time = mechanism->grid.time;
    bool isKnown = hLeast > 0.0;
    h = isKnown ? hLeast : h;
    rbStatus status = isKnown ? makeSteps(run, time, h) : settle(run, time, h);
    if (status == RB_STATUS_OK) {
        finishChosen(run, time, h, isKnown);
        mechanism->node.settleCount = 0;
        mechanism->chosen = h;
    }
    return status;
}

// One step of a size chosen by the difference of the last two orders.
static rbStatus stepByAccuracy(const rbStepRun* run)
{
    // A node closer to a singular position than others loses more digits. The step stays the last
    // of these if all are close.
    static const double cuts[SINGULAR_ATTEMPTS + 1] = {1.0, 0.73, 0.53, 0.87};
    rbStepMechanism* mechanism = run->mechanism;
    const rbStepSettings* settings = &run->engine->settings;
    double time = mechanism->grid.time;
    double first = mechanism->chosen;
    double errorLeast = INFINITY;
    double hLeast = 0.0;
    int cut = 0;
    keepNode(run);
    while (mechanism->chosen > STEP_LEAST * settings->step) {
        double h = cuts[cut] * mechanism->chosen;
        RB_ASSERT(h > 0.0 && h <= settings->step);
        double sum = mechanism->node.estimateSum;
        rbStatus status = makeSteps(run, time, h);
        if (status == RB_STATUS_OK && isSingular(mechanism) && cut < SINGULAR_ATTEMPTS) {
            recallNode(run);
            cut += 1;
            continue;
        }
        if (status != RB_STATUS_OK) {
            recallNode(run);
            mechanism->chosen = STEP_SHRINKAGE * h;
            continue;
        }
        double error = mechanism->node.estimateSum - sum;
        double allowed = allowedError(run, h);
        mechanism->chosen = fmin(h * stepFactor(run, error, allowed), settings->step);
        if (error <= allowed) {
            run->engine->statistics.singularSteps += cut > 0 ? 1 : 0;
            finishChosen(run, time, h, true);
            return RB_STATUS_OK;
        }
        if (error < errorLeast) {
            errorLeast = error;
            hLeast = h;
        }
        recallNode(run);
    }
    return stepAnyway(run, first, hLeast);
}

// The next node after the current one.
static double nextNode(rbStepEngine* engine, rbStepMechanism* mechanism)
{
    double step = engine->settings.step;
    if (engine->settings.errorMax > 0.0) {
        return mechanism->grid.time + mechanism->chosen;
    }
    while (gridTime(engine, mechanism) <= mechanism->grid.time + SNAP * step) {
        mechanism->grid.index += 1;
    }
    RB_ASSERT(mechanism->grid.index > 0);
    return gridTime(engine, mechanism);
}

static bool isFiniteState(const rbMechanism* m)
{
    for (int i = 0; i < m->bodyCount; ++i) {
        const rbMechBody* body = &m->bodies[i];
        if (!rbIsFinite3(body->pose.position) || !rbIsFinite3(body->velocity) ||
            !rbIsFinite3(body->momentum) || !rbIsFiniteQuat(body->pose.orientation)) {
            return false;
        }
    }
    return true;
}

// State at a time after the node without moving the node.
static rbStatus tryStep(const rbStepRun* run, double time)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbStepRun trial = *run;
    trial.isTrial = true;
    double h = time - mechanism->grid.time;
    double estimate = mechanism->seen.estimate;
    keepNode(run);
    rbStatus status = makeSteps(&trial, mechanism->grid.time, h);
    if (status == RB_STATUS_LIMIT) {
        recallNode(run);
        status = settle(&trial, mechanism->grid.time, h);
    }
    // Energy gained by a trial is discarded.
    status = status == RB_STATUS_NUMERICAL ? RB_STATUS_OK : status;
    status = status == RB_STATUS_OK && !isFiniteState(&mechanism->m) ? RB_STATUS_LIMIT : status;
    for (int i = 0; status == RB_STATUS_OK && i < mechanism->m.bodyCount; ++i) {
        rbStep_WriteBody(run->host, &mechanism->m.bodies[i]);
    }
    memcpy(mechanism->shownWork, mechanism->node.work, sizeof mechanism->shownWork);
    recallNode(run);
    mechanism->seen.estimate = estimate;
    return status;
}

void rbStep_MakeNode(const rbStepRun* run, double time)
{
    double h = time - run->mechanism->grid.time;
    if (h > SNAP * run->engine->settings.step) {
        keepNode(run);
        rbStatus status = makeSteps(run, run->mechanism->grid.time, h);
        if (status == RB_STATUS_LIMIT) {
            recallNode(run);
            (void)settle(run, run->mechanism->grid.time, h);
        }
        finishNode(run, time, h);
    }
}

// Good: the last finite node.
static rbStatus advanceMechanism(const rbStepRun* run, double time, double* good)
{
    rbStepEngine* engine = run->engine;
    rbStepMechanism* mechanism = run->mechanism;
    double snap = SNAP * engine->settings.step;
    for (;;) {
        *good = mechanism->grid.time;
        double next = nextNode(engine, mechanism);
        bool isHeld = false;
        if (next > time + snap) {
            break;
        }
        rbStatus status = engine->settings.errorMax > 0.0 ? stepByAccuracy(run)
                                                          : stepOnGrid(run, next, time, &isHeld);
        if (isHeld) {
            break;
        }
        if (status != RB_STATUS_OK || !isFiniteState(&mechanism->m)) {
            return RB_STATUS_LIMIT;
        }
    }
    if (time > mechanism->grid.time + snap) {
        return tryStep(run, time);
    }
    memcpy(mechanism->shownWork, mechanism->node.work, sizeof mechanism->shownWork);
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        rbStep_WriteBody(run->host, &mechanism->m.bodies[i]);
    }
    return RB_STATUS_OK;
}

static void gatherStatistics(rbStepEngine* engine)
{
    rbStepStatistics* s = &engine->statistics;
    s->redundantRows = 0;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        s->redundantRows += solverAtEnd(mechanism)->redundantRows;
    }
}

rbStatus rbStepEngine_Advance(rbStepEngine* engine, const rbStepHost* host, double time,
                              double* reached)
{
    const rbStepStatistics* s = &engine->statistics;
    int64_t unmet = s->unmetSteps + s->inaccurateSteps;
    if (engine->contacts != NULL) {
        return rbStepContacts_Advance(engine, host, time, reached);
    }
    *reached = time;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStepRun run = {.engine = engine, .mechanism = &engine->mechanisms.data[i], .host = host};
        double good;
        if (advanceMechanism(&run, time, &good) != RB_STATUS_OK) {
            engine->failed = i;
            *reached = good;
            return RB_STATUS_LIMIT;
        }
    }
    engine->time = time;
    gatherStatistics(engine);
    return s->unmetSteps + s->inaccurateSteps > unmet ? RB_STATUS_NUMERICAL : RB_STATUS_OK;
}
