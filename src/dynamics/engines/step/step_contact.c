// Contacts of the step engine: making and finding them, starting, and what a step left over. The
// step itself is in step.c.
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// Overlapping bodies may take this many times the time of their ways at the speed of separation,
// and this many steps more, until it is said that they are not separated.
#define PART_TIMES 4.0
#define PART_STEPS 100.0
// Least bodies and points of a block.
#define LEAST 256

// ------------------------------------------------------------------------------------------ bodies

rbStepContacts* rbCreateStepContacts(const rbContactSettings* settings)
{
    if (settings == NULL) {
        return NULL;
    }
    rbStepContacts* contacts = rbAllocZero(1, sizeof *contacts);
    contacts->settings = rbAimContactSettings(settings);
    contacts->allowed = rbContactSettings_GetTolerance(settings);
    contacts->method.row = rbContactMethodRow_Get(settings->method);
    contacts->restSpeedAsked = settings->restSpeed;
    contacts->pairs = rbCreateContactPairs(settings);
    rbContactSettings first = contacts->settings;
    // shock propagation may start after more of them than Newton's method waits for
    bool isAll = settings->shockAfter > 0 || settings->sweepsMax < RB_SWEEPS_FIRST;
    first.sweepsMax = isAll ? settings->sweepsMax : RB_SWEEPS_FIRST;
    contacts->solvers.sweeps = rbCreateContactSolver(&first);
    contacts->solvers.newton = rbCreateContactNewton();
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
    rbDestroyContactSubsteps(contacts->solvers.substeps);
    rbDestroyCollisions(contacts->solvers.collisions);
    rbDestroyContactGraph(contacts->graph);
    rbDestroyContactFreeze(contacts->rest.freeze);
    rbArray_FreeAll(contacts->report.touches, contacts->own.loose, contacts->own.places1);
    rbArray_FreeAll(contacts->bodies, contacts->places, contacts->flight.kicks);
    rbArray_FreeAll(contacts->own.radii, contacts->flight.late, contacts->own.links);
    rbArray_FreeAll(contacts->solvers.links, contacts->stage.approaches, contacts->trial.loose);
    rbArray_FreeAll(contacts->stage.points, contacts->trial.nodeContacts,
                    contacts->trial.nodePoints, contacts->flight.poses, contacts->flight.ahead);
    rbArray_FreeAll(contacts->trial.jointed, contacts->trial.flown, contacts->flight.touching,
                    contacts->flight.meetings, contacts->flight.isPushed);
    rbArray_FreeAll(contacts->stage.sweptPoints, contacts->stage.gaps, contacts->stage.stays,
                    contacts->stage.leads, contacts->stage.swept, contacts->flight.pushes);
    rbArray_FreeAll(contacts->stage.before, contacts->flight.bodies, contacts->flight.kinds);
    rbArray_FreeAll(contacts->solvers.quick, contacts->solvers.quickJoints,
                    contacts->accounts.pulls, contacts->accounts.twists, contacts->accounts.opened);
    rbArray_FreeAll(contacts->accounts.turnings, contacts->accounts.given,
                    contacts->report.reported, contacts->report.stops);
    rbArray_FreeAll(contacts->trial.points, contacts->trial.contacts, contacts->flight.probes);
    rbArray_FreeAll(contacts->flight.sought, contacts->flight.arrivals, contacts->limits.contacts);
    rbArray_FreeAll(contacts->solvers.motions, contacts->rest.loads, contacts->rest.isWoken);
    rbArray_FreeAll(contacts->rest.isRestless, contacts->stage.pairGaps.list);
    rbHeldSet_Free(&contacts->order.held);
    rbOrderControl_Free(&contacts->order);
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

void rbStepContacts_BuildGraph(rbStepContacts* c)
{
    c->islandCount = rbContactGraph_Build(c->graph, &c->set, c->bodies.data, c->bodies.count,
                                          (const int(*)[2])(const void*)c->own.links.data,
                                          c->own.links.count / 2);
}

// s, the longest step that may follow.
static double getNextStep(const rbStepEngine* engine)
{
    const rbStepContacts* c = engine->contacts;
    int parts = rbContactStep_IsInner(c) ? c->parts.count : c->method.parts;
    return engine->settings.step / parts;
}

static double placeOne(const rbStepEngine* engine, int index, const void* h)
{
    const rbStepContacts* c = engine->contacts;
    const rbMechBody* body = rbContactStep_GetBody(engine, index);
    rbContactPlace* place = &c->places.data[index];
    memset(place, 0, sizeof *place);
    if (body != NULL) {
        double gain = rbLength(c->flight.kicks.data[index]);
        place->pose = body->pose;
        place->reach = reachOf(body, &c->bodies.data[index], *(const double*)h, gain);
        place->way = rbScale(*(const double*)h, c->bodies.data[index].velocity);
    }
    return 0.0;
}

// Bodies as contacts see them, at the current poses with the current velocities.
static void placeBodies(rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    double h = getNextStep(engine);
    rbContactStep_ShowBodies(engine);
    rbArray_SetCount(c->places, engine->bodies.count);
    (void)rbContactStep_EachBody(engine, placeOne, &h);
}

// A set of contacts of shapes, with the stops of joints, and its islands.
static void takeSet(rbStepEngine* engine, rbContactSet found)
{
    rbStepContacts* c = engine->contacts;
    c->set = found;
    RB_ASSERT(c->places.count == engine->bodies.count);
    rbStepLimits_Append(engine);
    (void)rbContactStep_MarkIdle(c, 0.0);
    rbStepContacts_BuildGraph(c);
}

void rbStepContacts_Find(rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    placeBodies(engine);
    takeSet(engine, rbContactPairs_Find(c->pairs, c->places.data, c->places.count));
    rbPairsReport report = rbContactPairs_GetReport(c->pairs);
    c->statistics.overlap = report.depth;
    c->statistics.overlapA.index1 = (uint32_t)report.bodyA + 1u;
    c->statistics.overlapB.index1 = (uint32_t)report.bodyB + 1u;
    if (report.depth > c->statistics.deepest) {
        c->statistics.deepest = report.depth;
        c->statistics.deepestTime = c->grid.time;
        c->statistics.deepestA = c->statistics.overlapA;
        c->statistics.deepestB = c->statistics.overlapB;
    }
}

static double isFaster(const rbStepEngine* engine, int index, const void* h)
{
    const rbStepContacts* c = engine->contacts;
    bool isTouched = rbContactStep_IsTouched(c, index);
    const rbMechBody* body = isTouched ? rbContactStep_GetBody(engine, index) : NULL;
    return body != NULL && body->isDynamic &&
           reachOf(body, &c->bodies.data[index], *(const double*)h, 0.0) >
               c->places.data[index].reach;
}

bool rbStepContacts_IsFasterThanReach(const rbStepEngine* engine)
{
    double h = getNextStep(engine);
    return rbContactStep_EachBody(engine, isFaster, &h) > 0.0;
}

// ------------------------------------------------------------------------------------ in a step

void rbContactStep_ScaleImpulses(rbStepContacts* c, rbContact* contact, double scale)
{
    for (int t = 0; t < 3; ++t) {
        contact->turning[t] *= scale;
    }
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        for (int t = 0; t < 3; ++t) {
            c->set.points[k].impulse[t] *= scale;
        }
    }
}

void rbContactStep_ScaleGuess(const rbStepEngine* engine, double h)
{
    rbStepContacts* c = engine->contacts;
    RB_ASSERT(c->stage.part > 0.0 && h > 0.0);
    double part = rbContactStep_PartOf(engine, h) / c->stage.part;
    if (part == 1.0) {
        return;
    }
    for (int i = 0; i < c->set.contactCount; ++i) {
        rbContactStep_ScaleImpulses(c, &c->set.contacts[i], part);
    }
}

// What solvers say of their equations holds for the linear ones of a stage; what counts in the end
// is measured.
void rbContactStep_MeasureEnd(const rbStepEngine* engine, rbStepMiss* miss)
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

static double isBearing(const void* c, int index)
{
    return ((const rbStepContacts*)c)->set.points[index].impulse[0] > 0.0;
}

void rbContactStep_CountStep(rbStepEngine* engine, const rbStepMiss* miss, bool isWhole)
{
    rbStepContacts* c = engine->contacts;
    rbContactStatistics* s = &c->statistics;
    s->contactCount = (int)rbRunElements(c->foundPoints, LEAST, isBearing, c).sum;
    s->contactSum += isWhole ? s->contactCount : 0;
    s->islandCount = c->islandCount;
    s->pairCount = rbContactPairs_GetReport(c->pairs).pairCount;
    s->frozenCount = rbContactFreeze_GetCount(c->rest.freeze);
    s->gapErrorMax = fmax(s->gapErrorMax, miss->gap);
    s->speedErrorMax = fmax(s->speedErrorMax, miss->speed);
    s->reboundErrorMax = fmax(s->reboundErrorMax, miss->rebound);
    s->jointErrorMax = fmax(s->jointErrorMax, miss->joint);
    s->jointSpeedErrorMax = fmax(s->jointSpeedErrorMax, miss->jointSpeed);
    RB_ASSERT(!(miss->overlap > s->overlap));
    s->unmetSteps += rbContactStep_IsMissed(engine, miss) ? 1 : 0;
    engine->statistics.steps += isWhole ? 1 : 0;
    engine->statistics.substeps += 1;
    double h = c->stage.part * engine->settings.step;
    engine->statistics.stepSmallest = fmin(engine->statistics.stepSmallest, h);
}

static double isInfinite(const void* c, int place)
{
    const rbMechBody* body = &((const rbStepContacts*)c)->own.loose.data[place];
    return !rbIsFinite3(body->pose.position) || !rbIsFinite3(body->velocity) ||
           !rbIsFinite3(body->momentum);
}

bool rbContactStep_IsFinite(const rbStepContacts* c)
{
    return rbRunElements(c->own.loose.count, LEAST, isInfinite, c).sum == 0.0;
}

// ------------------------------------------------------------------------------------------- start

static void startGrid(rbStepContacts* c, double time)
{
    c->grid.time = time;
    c->grid.origin = time;
    c->grid.index = 1;
    c->parts.count = 0;
    c->parts.done = 0;
    c->trial.cuts = 0;
    c->order.chosen = 0.0; // nothing is known of what touches
    c->order.plainCount = 0;
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
            RB_ASSERT(a->index != b->index);
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
    rbStepContacts_BuildGraph(engine->contacts);
    prepareRows(engine);
}

void rbStepContacts_MakeReady(rbStepEngine* engine)
{
    engine->contacts->trial.isFlown = false;
    rbStepContacts_Find(engine);
    prepareRows(engine);
}

void rbStepContacts_MakeReadyAgain(rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    c->trial.isFlown = false;
    placeBodies(engine);
    takeSet(engine, rbContactPairs_GetSet(c->pairs));
    prepareRows(engine);
}

// When overlaps of the start should be undone: bodies in a row push each other along, so the ways
// of all pairs add up.
static double findPartEnd(const rbStepContacts* c, double time, double step)
{
    double way = 0.0;
    for (int i = 0; i < c->foundCount; ++i) {
        way += fmax(0.0, -rbFindLeastGap(&c->set, &c->set.contacts[i]));
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
        double depth = -rbFindLeastGap(&c->set, contact) - c->settings.shell;
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
    const rbLoad calm = {.power = 0.0};
    noteLimits(engine);
    rbContactStep_ReadBodies(engine, host, time);
    findLinks(engine);
    startGrid(c, time);
    double whole = engine->settings.step;
    c->method.parts = c->method.row != NULL ? c->method.row->countParts(&c->settings, whole) : 1;
    c->stage.part = 1.0;
    RB_ASSERT(c->method.parts >= 1 && whole > 0.0);
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
    rbArray_Reserve(c->accounts.given, count + 1);
    memset(c->accounts.given.data, 0, (size_t)(count + 1) * sizeof(double));
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
    // Steps of higher order do not collide, and those across changes are short.
    gained = rbContactOrder_IsUsed(engine) ? 0.0 : gained;
    c->settings.restSpeed = fmax(rbGetRestSpeed(&c->settings), gained);
    c->statistics.restSpeed = c->settings.restSpeed;
    RB_ASSERT(c->settings.restSpeed >= 0.0 && c->flight.kicks.count == count + 1);
    rbContactFreeze_WakeAll(c->rest.freeze);
    c->start.deepest = c->statistics.deepest;
    c->start.excess = c->statistics.limitExcess;
    rbStepContacts_MakeReady(engine);
    c->statistics.pairCount = rbContactPairs_GetReport(c->pairs).pairCount;
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
    RB_ASSERT(index >= 0 && index < engine->bodies.count);
    rbContactFreeze_Wake(c->rest.freeze, index);
    startGrid(c, time);
    rbStepContacts_MakeReady(engine);
    if (rbContactStep_WakeTouched(c)) {
        rbStepContacts_PrepareSet(engine);
    }
}
