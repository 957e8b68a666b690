// Steps of touching bodies, see step_contact.h.
#include "base/core/timer.h"
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// Overlapping bodies may take this many times the time of their ways at the speed of separation,
// and this many steps more, until it is said that they are not separated.
#define PART_TIMES 4.0
#define PART_STEPS 100.0

// ------------------------------------------------------------------------------------------ bodies

rbStepContacts* rbCreateStepContacts(const rbContactSettings* settings)
{
    if (settings == NULL) {
        return NULL;
    }
    rbStepContacts* contacts = rbAllocZero(1, sizeof *contacts);
    contacts->settings = *settings;
    contacts->method = rbContactMethodRow_Get(settings->method);
    contacts->restSpeedAsked = settings->restSpeed;
    contacts->pairs = rbCreateContactPairs(settings);
    rbContactSettings first = *settings;
    // shock propagation may start after more of them than Newton's method waits for
    bool isAll = settings->shockAfter > 0 || settings->sweepsMax < RB_SWEEPS_FIRST;
    first.sweepsMax = isAll ? settings->sweepsMax : RB_SWEEPS_FIRST;
    contacts->solvers.sweeps = rbCreateContactSolver(&first);
    contacts->solvers.newton = rbCreateContactNewton();
    contacts->solvers.hybrid = rbCreateContactHybrid();
    if (settings->substeps > 0) {
        contacts->solvers.substeps = rbCreateContactSubsteps(settings);
    }
    contacts->solvers.collisions = rbCreateCollisions();
    contacts->graph = rbCreateContactGraph();
    contacts->rest.freeze = rbCreateContactFreeze(settings->freezeSpeed, settings->freezeTime);
    return contacts;
}

void rbDestroyStepContacts(rbStepContacts* contacts)
{
    if (contacts == NULL) {
        return;
    }
    rbDestroyContactPairs(contacts->pairs);
    rbDestroyContactSolver(contacts->solvers.sweeps);
    rbDestroyContactNewton(contacts->solvers.newton);
    rbDestroyContactHybrid(contacts->solvers.hybrid);
    rbDestroyContactSubsteps(contacts->solvers.substeps);
    rbDestroyCollisions(contacts->solvers.collisions);
    rbDestroyContactGraph(contacts->graph);
    rbDestroyContactFreeze(contacts->rest.freeze);
    rbTouchList_Free(&contacts->report.touches);
    rbArray_Free(contacts->report.told);
    rbArray_Free(contacts->own.loose);
    rbArray_Free(contacts->own.places1);
    rbArray_Free(contacts->bodies);
    rbArray_Free(contacts->places);
    rbArray_Free(contacts->flight.kicks);
    rbArray_Free(contacts->own.radii);
    rbArray_Free(contacts->flight.late);
    rbArray_Free(contacts->own.links);
    rbArray_Free(contacts->solvers.links);
    rbArray_Free(contacts->own.exclusions);
    rbArray_Free(contacts->stage.approaches);
    rbArray_Free(contacts->trial.loose);
    rbArray_Free(contacts->stage.points);
    rbArray_Free(contacts->trial.nodeContacts);
    rbArray_Free(contacts->trial.nodePoints);
    rbArray_Free(contacts->flight.poses);
    rbArray_Free(contacts->flight.ahead);
    rbArray_Free(contacts->trial.flown);
    rbArray_Free(contacts->stage.sweptPoints);
    rbArray_Free(contacts->flight.parts);
    rbArray_Free(contacts->stage.gaps);
    rbArray_Free(contacts->stage.swept);
    rbArray_Free(contacts->stage.before);
    rbArray_Free(contacts->flight.bodies);
    rbArray_Free(contacts->flight.kinds);
    rbArray_Free(contacts->solvers.quick);
    rbArray_Free(contacts->accounts.pulls);
    rbArray_Free(contacts->accounts.opened);
    rbArray_Free(contacts->accounts.turnings);
    rbArray_Free(contacts->report.stops);
    rbArray_Free(contacts->trial.points);
    rbArray_Free(contacts->trial.contacts);
    rbArray_Free(contacts->flight.probes);
    rbArray_Free(contacts->flight.sought);
    rbArray_Free(contacts->flight.arrivals);
    rbArray_Free(contacts->limits.contacts);
    rbArray_Free(contacts->solvers.motions);
    rbArray_Free(contacts->rest.loads);
    rbArray_Free(contacts->rest.isWoken);
    rbArray_Free(contacts->rest.isRestless);
    rbArray_Free(contacts->stage.pairGaps.list);
    rbFree(contacts, sizeof *contacts);
}

// --------------------------------------------------------------------------------------- finding

// How far the surface of a body may move in a step.
static double reachOf(const rbMechBody* body, const rbContactBody* shown, double h, double gain)
{
    double turn = body->radius * rbLength(shown->spin);
    double speed = rbLength(shown->velocity) + turn + (body->isDynamic ? gain : 0.0);
    return h * speed;
}

static void buildGraph(rbStepContacts* c)
{
    c->islandCount = rbContactGraph_Build(c->graph, &c->set, c->bodies.data, c->bodies.count,
                                          (const int(*)[2])(const void*)c->own.links.data,
                                          c->own.links.count / 2);
}

// Bodies as contacts see them, at the current poses with the current velocities.
static void placeBodies(rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    double h = engine->settings.step / c->parts;
    rbContactStep_ShowBodies(engine);
    rbArray_Reserve(c->places, engine->bodies.count);
    c->places.count = engine->bodies.count;
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbMechBody* body = rbContactStep_GetBody(engine, i);
        rbContactPlace* place = &c->places.data[i];
        memset(place, 0, sizeof *place);
        if (body != NULL) {
            double gain = rbLength(c->flight.kicks.data[i]);
            place->pose = body->pose;
            place->reach = reachOf(body, &c->bodies.data[i], h, gain);
        }
    }
}

// Contacts there.
static void findContacts(rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    placeBodies(engine);
    c->set = rbContactPairs_Find(c->pairs, c->places.data, c->places.count);
    rbStepLimits_Append(engine);
    (void)rbContactStep_MarkIdle(c, 0.0);
    buildGraph(c);
    int bodyA;
    int bodyB;
    double deepest = rbContactPairs_GetDeepest(c->pairs, &bodyA, &bodyB);
    c->statistics.overlap = deepest;
    c->statistics.overlapA.index1 = (uint32_t)bodyA + 1u;
    c->statistics.overlapB.index1 = (uint32_t)bodyB + 1u;
    if (deepest > c->statistics.deepest) {
        c->statistics.deepest = deepest;
        c->statistics.deepestTime = c->grid.time;
        c->statistics.deepestA.index1 = (uint32_t)bodyA + 1u;
        c->statistics.deepestB.index1 = (uint32_t)bodyB + 1u;
    }
}

// ------------------------------------------------------------------------------------------- steps

typedef void PartFn(const rbStepRun* run, double time, double h);

// One stage of a step for all mechanisms that are not frozen.
static void eachMechanism(rbStepEngine* engine, const rbStepHost* host, PartFn* part, double time,
                          double h)
{
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStepRun run = {.engine = engine,
                         .mechanism = &engine->mechanisms.data[i],
                         .host = host,
                         .isForced = true};
        if (!rbContactFreeze_IsFrozen(engine->contacts->rest.freeze,
                                      run.mechanism->m.bodies[0].index)) {
            part(&run, time, h);
        }
    }
}

// Impulses of the last step are a first guess, scaled by the forces that they represent.
static void scaleGuess(const rbStepEngine* engine, double h)
{
    rbStepContacts* c = engine->contacts;
    double part = rbContactStep_PartOf(engine, h) / c->stage.part;
    if (part == 1.0) {
        return;
    }
    for (int i = 0; i < c->set.pointCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            c->set.points[i].impulse[k] *= part;
        }
    }
    for (int i = 0; i < c->set.contactCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            c->set.contacts[i].turning[k] *= part;
        }
    }
}

void rbContactStep_Begin(rbStepEngine* engine, const rbStepHost* host, double h, rbStepMiss* miss)
{
    rbStepContacts* c = engine->contacts;
    scaleGuess(engine, h);
    rbContactStep_KickLoose(engine, host, c->grid.time, 0.5 * h, false);
    eachMechanism(engine, host, rbStep_BeginBasic, c->grid.time, h);
    double begun = rbGetThreadTime();
    rbContactStep_SolveAhead(engine, host, h, miss);
    c->accounts.contactTime += rbGetThreadTime() - begun;
}

// Whether collisions made a body faster than the contact search assumed.
static bool isFasterThanReach(const rbStepEngine* engine)
{
    const rbStepContacts* c = engine->contacts;
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbMechBody* body =
            rbContactStep_IsTouched(c, i) ? rbContactStep_GetBody(engine, i) : NULL;
        if (body != NULL && body->isDynamic &&
            reachOf(body, &c->bodies.data[i], engine->settings.step, 0.0) >
                c->places.data[i].reach) {
            return true;
        }
    }
    return false;
}

// Mechanisms that woke at the end of the flight have had no first half.
static void kickMoving(const rbStepRun* run, double time, double h)
{
    if (!rbContactStep_IsWoken(run->engine->contacts, run->mechanism)) {
        rbStep_KickBasic(run, time, h);
    }
}

static void finishStep(rbStepEngine* engine, const rbStepHost* host, double h, rbStepMiss* miss)
{
    rbStepContacts* c = engine->contacts;
    double end = c->grid.time + h;
    rbContactStep_BeginTouches(engine);
    rbContactStep_AddTouches(engine, host, c->stage.before.data, 1.0);
    rbContactStep_TakeBodies(engine);
    rbContactStep_TakeFlights(engine);
    rbContactStep_FlyLoose(c, h);
    eachMechanism(engine, host, rbStep_FlyBasic, c->grid.time, h);
    rbContactStep_ReturnSpeeds(engine, host, h);
    rbStepLimits_Keep(engine);
    rbContactStep_PlaceFixed(engine, end);
    c->grid.time = end;
    c->trial.isFlown = false;
    c->stage.part = rbContactStep_PartOf(engine, h);
    findContacts(engine);
    rbContactStep_CloseArrivals(c, h);
    if (rbContactStep_MarkIdle(c, 0.0)) {
        buildGraph(c);
    }
    rbContactStep_WakeBodies(engine, host, h);
    rbContactRun all = rbContactStep_MakeRun(c, NULL, h);
    rbContactSolver_Prepare(c->solvers.sweeps, &all);
    // Before the forces of the end act: bodies at rest do not collide.
    double begun = rbGetThreadTime();
    rbContactStep_NoteArriving(engine, host);
    rbContactStep_SolveCollisions(engine, host, h, miss);
    c->accounts.collisionTime += rbGetThreadTime() - begun;
    rbContactStep_TakeBodies(engine);
    if (isFasterThanReach(engine)) {
        rbStepContacts_MakeReady(engine);
    }
    rbContactStep_KickLoose(engine, host, end, 0.5 * h, true);
    rbContactStep_TakeLateKicks(engine, h);
    eachMechanism(engine, host, kickMoving, end, h);
    begun = rbGetThreadTime();
    rbContactStep_SolveVelocities(engine, host, h, miss);
    c->accounts.contactTime += rbGetThreadTime() - begun;
    rbContactStep_FreezeBodies(engine, host, h);
    rbContactStep_TakeBodies(engine);
    eachMechanism(engine, host, rbStep_EndBasic, end, h);
    rbStepLimits_Keep(engine);
    rbContactStep_CloseAccounts(c);
    rbContactStep_ReportTouches(engine, host);
}

// What solvers say of their equations holds for the linear ones of a stage; what counts in the end
// is measured.
static void measureEnd(const rbStepEngine* engine, rbStepMiss* miss)
{
    const rbStepContacts* c = engine->contacts;
    double overlap = rbMeasureOverlap(&c->set, c->foundCount, &c->stage.pairGaps);
    double speed = rbMeasureSpeeds(&c->set, NULL, c->set.contactCount, c->bodies.data,
                                   c->settings.velocityTolerance);
    bool isParting = rbContactStep_IsParting(c);
    miss->gap = fmax(miss->gap, isParting ? 0.0 : overlap - c->settings.shell);
    miss->speed = fmax(miss->speed, speed);
    miss->overlap = c->settings.isOverlapAllowed && !isParting ? c->statistics.overlap : 0.0;
}

static void countMiss(rbStepEngine* engine, const rbStepMiss* miss)
{
    rbContactStatistics* s = &engine->contacts->statistics;
    s->gapErrorMax = fmax(s->gapErrorMax, miss->gap);
    s->speedErrorMax = fmax(s->speedErrorMax, miss->speed);
    s->reboundErrorMax = fmax(s->reboundErrorMax, miss->rebound);
    s->jointErrorMax = fmax(s->jointErrorMax, miss->joint);
    s->jointSpeedErrorMax = fmax(s->jointSpeedErrorMax, miss->jointSpeed);
    RB_ASSERT(!(miss->overlap > s->overlap));
    s->unmetSteps += rbContactStep_IsMissed(engine, miss) ? 1 : 0;
}

static void countStep(rbStepEngine* engine, const rbStepMiss* miss, bool isWhole)
{
    rbStepContacts* c = engine->contacts;
    rbContactStatistics* s = &c->statistics;
    s->contactCount = 0;
    for (int i = 0; i < c->foundPoints; ++i) {
        s->contactCount += c->set.points[i].impulse[0] > 0.0 ? 1 : 0;
    }
    s->contactSum += isWhole ? s->contactCount : 0;
    s->islandCount = c->islandCount;
    s->pairCount = rbContactPairs_GetPairCount(c->pairs, NULL);
    s->frozenCount = rbContactFreeze_GetCount(c->rest.freeze);
    countMiss(engine, miss);
    engine->statistics.steps += isWhole ? 1 : 0;
    engine->statistics.substeps += 1;
    double h = c->stage.part * engine->settings.step;
    engine->statistics.stepSmallest = fmin(engine->statistics.stepSmallest, h);
}

static bool isFiniteLoose(const rbStepContacts* c)
{
    for (int i = 0; i < c->own.loose.count; ++i) {
        const rbMechBody* body = &c->own.loose.data[i];
        if (!rbIsFinite3(body->pose.position) || !rbIsFinite3(body->velocity) ||
            !rbIsFinite3(body->momentum)) {
            return false;
        }
    }
    return true;
}

// One step from the node, to the next one of the grid or to a cut; false: it would end after the
// time.
static bool step(rbStepEngine* engine, const rbStepHost* host, double time)
{
    rbStepContacts* c = engine->contacts;
    double whole = engine->settings.step;
    double next = c->grid.origin + (double)c->grid.index * whole;
    bool isBeyond = next > time + RB_STEP_SNAP * whole;
    if (isBeyond && time <= c->grid.time + RB_STEP_SNAP * whole) {
        return false;
    }
    rbStepMiss miss = {0};
    double h = next - c->grid.time;
    if (c->method != NULL) {
        if (isBeyond) {
            return false;
        }
        c->method->advance(engine, host, next);
        rbContactStep_CloseAccounts(c);
        c->grid.index += 1;
        countStep(engine, &miss, true);
        return true;
    }
    rbPairGaps_Note(&c->stage.pairGaps, &c->set, c->foundCount);
    // a game's steps are not cut
    if (isBeyond || c->solvers.substeps == NULL) {
        h = rbContactStep_BeginCut(engine, host, h, isBeyond ? time : next, &miss);
        if (!(h > 0.0)) {
            return false;
        }
    } else {
        rbContactStep_Begin(engine, host, h, &miss);
    }
    bool isWhole = h == next - c->grid.time;
    finishStep(engine, host, h, &miss);
    measureEnd(engine, &miss);
    if (isWhole) {
        c->grid.time = next;
        c->grid.index += 1;
        c->trial.cuts = 0;
    }
    countStep(engine, &miss, isWhole);
    return true;
}

rbStatus rbStepContacts_Advance(rbStepEngine* engine, const rbStepHost* host, double time,
                                double* reached)
{
    rbStepContacts* c = engine->contacts;
    int64_t unmet = c->statistics.unmetSteps + engine->statistics.unmetSteps;
    while (step(engine, host, time)) {
        if (!isFiniteLoose(c)) {
            *reached = engine->time;
            return RB_STATUS_LIMIT;
        }
    }
    if (time > c->grid.time + RB_STEP_SNAP * engine->settings.step) {
        rbContactStep_LookBetween(engine, host, time);
    } else {
        c->trial.work = 0.0;
        rbContactStep_WriteBodies(engine, host);
    }
    engine->time = time;
    *reached = time;
    return c->statistics.unmetSteps + engine->statistics.unmetSteps > unmet ? RB_STATUS_NUMERICAL
                                                                            : RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------------- start

static void startGrid(rbStepContacts* c, double time)
{
    c->grid.time = time;
    c->grid.origin = time;
    c->grid.index = 1;
    c->trial.cuts = 0;
}

static void findLinks(rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    c->own.links.count = 0;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbMechanism* m = &engine->mechanisms.data[i].m;
        for (int k = 0; k < m->blockCount; ++k) {
            const rbMechBody* a = &m->bodies[m->blocks[k].bodyA];
            const rbMechBody* b = &m->bodies[m->blocks[k].bodyB];
            rbArray_Push(c->own.links, a->index);
            rbArray_Push(c->own.links, b->index);
        }
    }
}

static void prepareRows(rbStepEngine* engine)
{
    rbContactRun all = rbContactStep_MakeRun(engine->contacts, NULL, engine->settings.step);
    rbContactSolver_Prepare(engine->contacts->solvers.sweeps, &all);
}

void rbStepContacts_PrepareSet(rbStepEngine* engine)
{
    buildGraph(engine->contacts);
    prepareRows(engine);
}

void rbStepContacts_MakeReady(rbStepEngine* engine)
{
    engine->contacts->trial.isFlown = false;
    findContacts(engine);
    prepareRows(engine);
}

void rbStepContacts_MakeReadyAgain(rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    c->trial.isFlown = false;
    placeBodies(engine);
    c->set = rbContactPairs_GetSet(c->pairs);
    rbStepLimits_Append(engine);
    (void)rbContactStep_MarkIdle(c, 0.0);
    buildGraph(c);
    prepareRows(engine);
}

// When overlaps of the start should be undone: bodies in a row push each other along, so the ways
// of all pairs add up.
static double findPartEnd(const rbStepContacts* c, double time, double step)
{
    double way = 0.0;
    for (int i = 0; i < c->foundCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        double depth = 0.0;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            depth = fmax(depth, -c->set.points[k].gap);
        }
        way += depth;
    }
    return time + PART_TIMES * way / c->settings.partSpeed + PART_STEPS * step;
}

// Pairs of bodies that overlap by more than the run has left so far.
static void validateOverlaps(const rbStepContacts* c, rbStartOverlap* overlap)
{
    double most = fmax(c->settings.shell + c->settings.tolerance, c->start.deepest);
    int lastA = -1;
    int lastB = -1;
    *overlap = (rbStartOverlap){.a = -1, .b = -1};
    for (int i = 0; i < c->foundCount && !c->settings.isOverlapAllowed; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        double depth = 0.0;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            depth = fmax(depth, -c->set.points[k].gap - c->settings.shell);
        }
        // Contacts of a pair are adjacent.
        bool isNew = contact->bodyA != lastA || contact->bodyB != lastB;
        if (depth > most) {
            overlap->count += isNew ? 1 : 0;
            lastA = contact->bodyA;
            lastB = contact->bodyB;
            if (depth > overlap->depth) {
                overlap->depth = depth;
                overlap->a = contact->bodyA;
                overlap->b = contact->bodyB;
            }
        }
    }
}

// Whether there are stops, and room for them behind the contacts of shapes.
static void noteLimits(rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    int count = 0;
    c->statistics.limitedJoints = 0;
    for (int i = 0; i < engine->joints.count; ++i) {
        const rbStepJointSlot* slot = &engine->joints.data[i];
        count += slot->isUsed ? 2 * slot->def.limitCount : 0;
        c->statistics.limitedJoints += slot->isUsed && slot->def.limitCount > 0 ? 1 : 0;
    }
    c->limits.isAny = count > 0;
    rbContactPairs_SetSpare(c->pairs, count);
    rbArray_Reserve(c->limits.contacts, count);
}

void rbStepContacts_Start(rbStepEngine* engine, const rbStepHost* host, double time,
                          rbStartOverlap* overlap)
{
    rbStepContacts* c = engine->contacts;
    int count = engine->bodies.count;
    rbVec3 none = RB_VEC3_ZERO;
    rbRestLoad calm = {none, none};
    noteLimits(engine);
    rbContactStep_ReadBodies(engine, host, time);
    findLinks(engine);
    startGrid(c, time);
    double whole = engine->settings.step;
    c->parts = c->method != NULL ? c->method->countParts(&c->settings, whole) : 1;
    c->stage.part = 1.0;
    double gained = 0.0;
    c->flight.kicks.count = 0;
    c->flight.late.count = 0;
    c->own.radii.count = 0;
    c->flight.kinds.count = 0;
    c->rest.isWoken.count = 0;
    c->rest.isRestless.count = 0;
    c->rest.loads.count = 0;
    // One more than bodies: the world.
    rbArray_Reserve(c->stage.before, count + 1);
    rbArray_Reserve(c->stage.swept, count + 1);
    rbArray_Reserve(c->flight.bodies, count + 1);
    for (int i = 0; i <= count; ++i) {
        rbArray_Push(c->flight.kicks, none);
        rbArray_Push(c->flight.late, 0.0);
        rbArray_Push(c->flight.kinds, 0);
        rbArray_Push(c->rest.isWoken, 0);
        rbArray_Push(c->rest.isRestless, 0);
        rbArray_Push(c->rest.loads, calm);
        const rbMechBody* body = i < count ? rbContactStep_GetBody(engine, i) : NULL;
        rbArray_Push(c->own.radii, body != NULL ? body->radius : 0.0);
        if (body != NULL && body->isDynamic) {
            rbVec3 acceleration = host->motions[i].acceleration;
            c->flight.kicks.data[i] = rbScale(engine->settings.step, acceleration);
            gained = fmax(gained, rbLength(c->flight.kicks.data[i]));
        }
    }
    // The velocity change by forces in a step is not a collision.
    c->settings.restSpeed = c->restSpeedAsked;
    c->settings.restSpeed = fmax(rbGetRestSpeed(&c->settings), gained);
    c->statistics.restSpeed = c->settings.restSpeed;
    rbContactFreeze_WakeAll(c->rest.freeze);
    c->start.deepest = c->statistics.deepest;
    c->start.excess = c->statistics.limitExcess;
    rbStepContacts_MakeReady(engine);
    c->statistics.pairCount = rbContactPairs_GetPairCount(c->pairs, NULL);
    c->statistics.contactCount = c->foundPoints;
    c->start.partUntil = findPartEnd(c, time, engine->settings.step);
    if (overlap != NULL) {
        validateOverlaps(c, overlap);
        if (overlap->count > 0) {
            c->statistics.deepest = c->start.deepest;
        }
    }
}

void rbStepContacts_Touch(rbStepEngine* engine, const rbStepHost* host, int index, double time)
{
    rbStepContacts* c = engine->contacts;
    // All bodies continue from the time of the change, where the last advance left them.
    for (int i = 0; i < engine->bodies.count; ++i) {
        rbMechBody* own = rbContactStep_GetBody(engine, i);
        if (own != NULL) {
            rbStep_ReadBody(host, &engine->bodies.data[i], i, time, own);
        }
    }
    rbContactFreeze_Wake(c->rest.freeze, index);
    startGrid(c, time);
    rbStepContacts_MakeReady(engine);
    if (rbContactStep_WakeTouched(c)) {
        rbStepContacts_PrepareSet(engine);
    }
}
