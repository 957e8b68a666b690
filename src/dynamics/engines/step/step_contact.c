// Contacts of the step engine: making and finding them, starting, what a step left over, and the
// interface of the host: results, registering, snapshots. The step itself is in step.c.
#include "dynamics/engines/step/step_contact_state.h"

#include <math.h>
#include <string.h>

// Overlapping bodies may take this many times the time of their ways at the speed of separation,
// and this many steps more, until it is said that they are not separated.
#define PART_TIMES 4.0
#define PART_STEPS 100.0
// Gaps and slips are solved to this part of the way that forces move a body in a step: what a short
// step leaves adds up, and 1e-6 m is more than all of that way in 0.4 ms.
#define FALL_PART 0.25
// m: less is rounding.
#define FALL_LEAST 1e-12
// Least bodies and points of a block.
#define LEAST 256

// ------------------------------------------------------------------------------------------ bodies

// Not isEnabled: stops of joints alone.
static rbStepContacts* createContacts(rbStepEngine* engine, const rbContactSettings* settings)
{
    rbStepContacts* contacts = rbAllocZero(1, sizeof *contacts);
    contacts->engine = engine;
    contacts->settings = rbAimContactSettings(settings);
    contacts->allowed = rbContactSettings_GetTolerance(settings);
    contacts->method.row = rbContactMethodRow_Get(settings->method);
    contacts->start.restSpeedAsked = settings->restSpeed;
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
    rbArray_FreeAll(contacts->own.radii, contacts->flight.late, contacts->flight.lifts);
    rbArray_FreeAll(contacts->solvers.links, contacts->stage.approaches, contacts->trial.loose,
                    contacts->own.links);
    rbArray_FreeAll(contacts->stage.points, contacts->trial.nodeContacts,
                    contacts->trial.nodePoints, contacts->flight.poses, contacts->flight.ahead);
    rbArray_FreeAll(contacts->trial.shown, contacts->flight.touching, contacts->flight.meetings);
    rbArray_FreeAll(contacts->stage.sweptPoints, contacts->stage.gaps, contacts->stage.stays,
                    contacts->stage.leads, contacts->stage.swept, contacts->stage.nodes);
    rbArray_FreeAll(contacts->stage.before, contacts->flight.bodies, contacts->flight.kinds);
    rbArray_FreeAll(contacts->solvers.quick, contacts->solvers.quickJoints,
                    contacts->accounts.pulls, contacts->accounts.twists, contacts->accounts.opened);
    rbArray_FreeAll(contacts->accounts.turnings, contacts->accounts.given, contacts->report.stops);
    rbArray_FreeAll(contacts->trial.points, contacts->trial.contacts, contacts->flight.probes);
    rbArray_FreeAll(contacts->flight.sought, contacts->flight.arrivals, contacts->own.stops);
    rbArray_FreeAll(contacts->solvers.motions, contacts->rest.loads, contacts->rest.isWoken);
    rbArray_FreeAll(contacts->rest.isRestless, contacts->order.node, contacts->order.runs,
                    contacts->stage.isSettled, contacts->stage.settled);
    rbDestroyHeldSet(contacts->order.held);
    rbFree(contacts, sizeof *contacts);
}

// --------------------------------------------------------------------------------------- finding

// How far the surface of a body may move in a step. Half spaces that turn have no bound.
static double reachOf(const rbStepContacts* c, const rbMechBody* body, double h, double gain)
{
    RB_ASSERT(h > 0.0 && !(gain < 0.0));
    const rbContactBody* shown = &c->bodies.data[body->index];
    double radius = body->isDynamic ? body->radius : c->engine->bodies.data[body->index].def.radius;
    double turn = isfinite(radius) ? radius * rbLength(shown->spin) : 0.0;
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
static double getNextStep(const rbStepContacts* c)
{
    int parts = rbContactStep_IsInner(c) ? c->parts.count : c->method.parts;
    return c->engine->settings.step / parts;
}

static double placeOne(rbStepContacts* c, int index, const void* h)
{
    const rbMechBody* body = rbContactStep_GetBody(c, index);
    rbContactPlace* place = &c->places.data[index];
    memset(place, 0, sizeof *place);
    if (body != NULL) {
        double gain = rbLength(c->flight.kicks.data[index]);
        place->pose = body->pose;
        place->reach = reachOf(c, body, *(const double*)h, gain);
        place->way = rbScale(*(const double*)h, c->bodies.data[index].velocity);
    }
    return 0.0;
}

// Bodies as contacts see them, at the current poses with the current velocities.
static void placeBodies(rbStepContacts* c)
{
    double h = getNextStep(c);
    rbContactStep_ShowBodies(c);
    rbArray_SetCount(c->places, c->engine->bodies.count);
    (void)rbContactStep_EachBody(c, placeOne, &h);
}

// A set of contacts of shapes, with the stops of joints, and its islands.
static void takeSet(rbStepContacts* c, rbContactSet found)
{
    c->set = found;
    RB_ASSERT(c->places.count == c->engine->bodies.count);
    rbStepLimits_Append(c);
    (void)rbContactStep_MarkIdle(c, 0.0);
    rbStepContacts_BuildGraph(c);
}

void rbStepContacts_Find(rbStepContacts* c)
{
    placeBodies(c);
    takeSet(c, rbContactPairs_Find(c->pairs, c->places.data, c->places.count));
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

static double isFaster(rbStepContacts* c, int index, const void* h)
{
    bool isTouched = rbContactStep_IsTouched(c, index);
    const rbMechBody* body = isTouched ? rbContactStep_GetBody(c, index) : NULL;
    return body != NULL && body->isDynamic &&
           reachOf(c, body, *(const double*)h, 0.0) > c->places.data[index].reach;
}

bool rbStepContacts_IsFasterThanReach(rbStepContacts* c)
{
    double h = getNextStep(c);
    return rbContactStep_EachBody(c, isFaster, &h) > 0.0;
}

// ------------------------------------------------------------------------------------ in a step

void rbContactStep_ScaleImpulses(rbStepContacts* c, rbContact* contact, double scale)
{
    RB_ASSERT(scale > 0.0);
    for (int t = 0; t < 3; ++t) {
        contact->turning[t] *= scale;
    }
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        for (int t = 0; t < 3; ++t) {
            c->set.points[k].impulse[t] *= scale;
        }
    }
}

void rbContactStep_ScaleGuess(rbStepContacts* c, double h)
{
    RB_ASSERT(c->stage.part > 0.0 && h > 0.0);
    double part = rbContactStep_PartOf(c, h) / c->stage.part;
    if (part == 1.0) {
        return;
    }
    for (int i = 0; i < c->set.contactCount; ++i) {
        rbContactStep_ScaleImpulses(c, &c->set.contacts[i], part);
    }
}

// What solvers say of their equations holds for the linear ones of a stage; what counts in the end
// is measured.
void rbContactStep_MeasureEnd(const rbStepContacts* c, rbStepMiss* miss)
{
    rbContactSet start = {c->trial.nodeContacts.data, c->trial.foundCount, c->trial.nodePoints.data,
                          c->trial.nodePoints.count};
    double overlap = rbMeasureOverlap(&c->found, &start);
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

void rbContactStep_CountStep(rbStepContacts* c, const rbStepMiss* miss, bool isWhole)
{
    rbContactStatistics* s = &c->statistics;
    s->contactCount = (int)rbRunElements(c->found.pointCount, LEAST, isBearing, c).sum;
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
    s->unmetSteps += rbContactStep_IsMissed(c, miss) ? 1 : 0;
    c->engine->statistics.steps += isWhole ? 1 : 0;
    c->engine->statistics.substeps += 1;
    double h = c->stage.part * c->engine->settings.step;
    c->engine->statistics.stepSmallest = fmin(c->engine->statistics.stepSmallest, h);
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
    RB_ASSERT(isfinite(time));
    c->grid.time = time;
    c->grid.origin = time;
    c->grid.index = 1;
    c->parts.count = 0;
    c->parts.done = 0;
    c->trial.cuts = 0;
    c->order.chosen = 0.0; // nothing is known of what touches
    c->order.plainCount = 0;
}

static void findLinks(rbStepContacts* c)
{
    c->own.links.count = 0;
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        const rbMechanism* m = &c->engine->mechanisms.data[i].m;
        for (int k = 0; k < m->blockCount; ++k) {
            const rbMechBody* a = &m->bodies[m->blocks[k].bodyA];
            const rbMechBody* b = &m->bodies[m->blocks[k].bodyB];
            RB_ASSERT(a->index != b->index);
            rbArray_Push(c->own.links, a->index);
            rbArray_Push(c->own.links, b->index);
        }
    }
}

void rbStepContacts_PrepareRows(rbStepContacts* c, double h)
{
    RB_ASSERT(h > 0.0);
    rbContactRun all = rbContactStep_MakeRun(c, NULL, h);
    rbContactSolver_Prepare(c->solvers.sweeps, &all);
}

void rbStepContacts_PrepareSet(rbStepContacts* c)
{
    rbStepContacts_BuildGraph(c);
    rbStepContacts_PrepareRows(c, c->engine->settings.step);
}

void rbStepContacts_MakeReady(rbStepContacts* c)
{
    c->trial.isFlown = false;
    rbStepContacts_Find(c);
    rbStepContacts_PrepareRows(c, c->engine->settings.step);
}

// Pairs of bodies that overlap by more than the run has left so far.
static void validateOverlaps(const rbStepContacts* c, rbStartOverlap* overlap)
{
    double most = fmax(c->settings.shell + c->settings.tolerance, c->start.deepest);
    int lastA = -1;
    int lastB = -1;
    *overlap = (rbStartOverlap){.a = -1, .b = -1};
    for (int i = 0; i < c->found.contactCount && !c->settings.isOverlapAllowed; ++i) {
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
static void noteLimits(rbStepContacts* c)
{
    int count = 0;
    c->statistics.limitedJoints = 0;
    for (int i = 0; i < c->engine->joints.count; ++i) {
        const rbStepJointSlot* slot = &c->engine->joints.data[i];
        count += slot->isUsed ? 2 * slot->def.limitCount : 0;
        c->statistics.limitedJoints += slot->isUsed && slot->def.limitCount > 0 ? 1 : 0;
    }
    c->own.hasLimits = count > 0;
    rbContactPairs_SetSpare(c->pairs, count);
    rbArray_Reserve(c->own.stops, count);
}

// Zeros for all bodies and the world.
#define CLEAR(array, size) \
    (rbArray_SetCount(array, size), memset((array).data, 0, (size_t)(size) * sizeof *(array).data))

// What is known of each body; returns the largest velocity change by forces in a step, m/s.
static double startBodies(rbStepContacts* c, const rbStepHost* host)
{
    int size = c->engine->bodies.count + 1;
    CLEAR(c->flight.kicks, size);
    CLEAR(c->flight.late, size);
    CLEAR(c->flight.lifts, size);
    CLEAR(c->flight.kinds, size);
    CLEAR(c->own.radii, size);
    CLEAR(c->rest.isWoken, size);
    CLEAR(c->rest.isRestless, size);
    CLEAR(c->stage.isSettled, size);
    CLEAR(c->rest.loads, size);
    CLEAR(c->accounts.given, size);
    rbArray_Reserve(c->stage.before, size);
    rbArray_Reserve(c->stage.swept, size);
    rbArray_Reserve(c->flight.bodies, size);
    double gained = 0.0;
    for (int i = 0; i < size - 1; ++i) {
        const rbMechBody* body = rbContactStep_GetBody(c, i);
        c->own.radii.data[i] = body != NULL ? body->radius : 0.0;
        if (body != NULL && body->isDynamic) {
            rbVec3 acceleration = host->motions[i].acceleration;
            c->flight.kicks.data[i] = rbScale(c->engine->settings.step, acceleration);
            gained = fmax(gained, rbLength(c->flight.kicks.data[i]));
        }
    }
    return gained;
}

void rbStepContacts_Start(rbStepContacts* c, const rbStepHost* host, double time,
                          rbStartOverlap* overlap)
{
    noteLimits(c);
    rbContactStep_ReadBodies(c, host, time);
    findLinks(c);
    startGrid(c, time);
    double whole = c->engine->settings.step;
    c->method.parts = c->method.row != NULL ? c->method.row->countParts(&c->settings, whole) : 1;
    c->stage.part = 1.0;
    RB_ASSERT(c->method.parts >= 1 && whole > 0.0);
    double gained = startBodies(c, host);
    if (rbContactOrder_IsUsed(c) && c->order.held == NULL) {
        c->order.held = rbCreateHeldSet();
    }
    double fall = FALL_PART * 0.5 * gained * whole;
    c->start.gapAim = fall > 0.0 ? fmax(fmin(c->settings.tolerance, fall), FALL_LEAST) : 0.0;
    // The velocity change by forces in a step is not a collision.
    c->settings.restSpeed = c->start.restSpeedAsked;
    // Steps of higher order do not collide, and those across changes are short.
    gained = rbContactOrder_IsUsed(c) ? 0.0 : gained;
    c->settings.restSpeed = fmax(rbGetRestSpeed(&c->settings), gained);
    c->statistics.restSpeed = c->settings.restSpeed;
    RB_ASSERT(c->settings.restSpeed >= 0.0);
    rbContactFreeze_WakeAll(c->rest.freeze);
    c->start.deepest = c->statistics.deepest;
    c->start.excess = c->statistics.limitExcess;
    rbStepContacts_MakeReady(c);
    c->statistics.pairCount = rbContactPairs_GetReport(c->pairs).pairCount;
    c->statistics.contactCount = c->found.pointCount;
    double way = 0.0; // bodies in a row push each other along: the ways of all pairs add up
    for (int i = 0; i < c->found.contactCount; ++i) {
        way += fmax(0.0, -rbFindLeastGap(&c->set, &c->set.contacts[i]));
    }
    c->start.partUntil =
        time + PART_TIMES * way / c->settings.partSpeed + PART_STEPS * c->engine->settings.step;
    if (overlap != NULL) {
        validateOverlaps(c, overlap);
        if (overlap->count > 0) {
            c->statistics.deepest = c->start.deepest;
        }
    }
}

#define KEEP_WORK(name) c->accounts.sums.name += c->trial.works.name;

void rbStepContacts_Touch(rbStepContacts* c, const rbStepHost* host, int index, double time)
{
    // All bodies continue from the time of the change, where the last advance left them, with the
    // work of what acted until then.
    RB_STEP_WORKS(KEEP_WORK)
    c->trial.work = 0.0;
    c->trial.works = (rbStepWork){.between = 0.0};
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        rbMechBody* own = rbContactStep_GetBody(c, i);
        if (own != NULL) {
            rbStep_ReadBody(host, &c->engine->bodies.data[i], i, time, own);
        }
    }
    RB_ASSERT(index >= 0 && index < c->engine->bodies.count);
    rbContactFreeze_Wake(c->rest.freeze, index);
    startGrid(c, time);
    rbStepContacts_MakeReady(c);
    if (rbContactStep_WakeTouched(c)) {
        rbStepContacts_PrepareSet(c);
    }
}

// ---------------------------------------------------------------------------------------- results

rbContactStatistics rbStepEngine_GetContactStatistics(const rbStepEngine* engine)
{
    rbContactStatistics statistics;
    memset(&statistics, 0, sizeof statistics);
    if (engine->contacts != NULL) {
        statistics = engine->contacts->statistics;
        statistics.collisionTime = engine->contacts->accounts.collisionTime;
        statistics.contactTime = engine->contacts->accounts.contactTime;
    }
    return statistics;
}

bool rbStepEngine_IsResting(const rbStepEngine* engine, int index)
{
    return engine->contacts != NULL &&
           rbContactFreeze_IsFrozen(engine->contacts->rest.freeze, index);
}

int rbStepEngine_GetContacts(const rbStepEngine* engine, rbContactView* out, int capacity)
{
    RB_ASSERT(capacity >= 0 && (out != NULL || capacity == 0));
    const rbStepContacts* c = engine->contacts;
    int count = 0;
    for (int i = 0; c != NULL && i < c->found.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[k];
            if (!(point->impulse[0] > 0.0)) {
                continue;
            }
            if (count < capacity) {
                double scale = 1.0 / (c->stage.part * engine->settings.step);
                rbVec3 force =
                    rbJoinImpulse(contact->normal, contact->tangents, scale * point->impulse[0],
                                  scale * point->impulse[1], scale * point->impulse[2]);
                rbContactView* view = &out[count];
                memset(view, 0, sizeof *view);
                view->bodyA.index1 = (uint32_t)contact->bodyA + 1u;
                view->bodyB.index1 = (uint32_t)contact->bodyB + 1u;
                view->point = rbAdd(c->places.data[contact->bodyA].pose.position, point->armA);
                view->normal = contact->normal;
                view->gap = point->gap;
                view->force = force;
                view->isSticking = point->isSticking;
            }
            count += 1;
        }
    }
    return count;
}

// ------------------------------------------------------------------------------------- registering

void rbStepEngine_SetContacts(rbStepEngine* engine, const rbContactSettings* settings)
{
    rbContactSettings own = *settings;
    bool isTimed = engine->settings.errorMax > 0.0 && own.contactTime != RB_CONTACT_TIME_BISECTION;
    own.contactTime = isTimed ? RB_CONTACT_TIME_INTERPOLATION : own.contactTime;
    rbDestroyStepContacts(engine->contacts);
    engine->contacts = own.isEnabled ? createContacts(engine, &own) : NULL;
}

void rbStepEngine_ChangeContacts(rbStepEngine* engine, const rbContactSettings* settings)
{
    rbStepContacts* old = engine->contacts;
    engine->contacts = NULL;
    rbStepEngine_SetContacts(engine, settings);
    rbStepContacts_AddWork(old, &engine->workBefore);
    if (old != NULL && engine->contacts != NULL) {
        engine->contacts->statistics = old->statistics;
        engine->contacts->order.estimateSum = old->order.estimateSum;
        engine->contacts->accounts.collisionTime = old->accounts.collisionTime;
        engine->contacts->accounts.contactTime = old->accounts.contactTime;
    }
    rbDestroyStepContacts(old);
}

void rbStepEngine_NeedLimits(rbStepEngine* engine, const rbContactSettings* settings)
{
    if (engine->contacts == NULL) {
        rbContactSettings own = *settings;
        own.method = RB_CONTACT_IMPULSES; // springs have no stops
        engine->contacts = createContacts(engine, &own);
    }
}

bool rbStepContacts_HasShapes(const rbStepContacts* contacts)
{
    return contacts != NULL && contacts->settings.isEnabled;
}

bool rbStepEngine_HasContacts(const rbStepEngine* engine)
{
    return engine->contacts != NULL;
}

rbContactPairs* rbStepEngine_GetPairs(const rbStepEngine* engine)
{
    RB_ASSERT(engine->contacts != NULL);
    return engine->contacts->pairs;
}

#define ADD_WORK(name) work->name += sums->name;

void rbStepContacts_AddWork(const rbStepContacts* contacts, rbStepWork* work)
{
    RB_ASSERT(work != NULL);
    if (contacts != NULL) {
        const rbContactAccounts* sums = &contacts->accounts.sums;
        RB_STEP_WORKS(ADD_WORK)
        work->between += contacts->trial.work + sums->lasting + sums->lifted;
    }
}

double rbStepContacts_GetEstimate(const rbStepContacts* contacts)
{
    return contacts != NULL ? contacts->order.estimateSum : 0.0;
}

// --------------------------------------------------------------------------------------- snapshots

// The changing data of loose bodies.
static void moveLoose(rbStepContacts* contacts, rbByteStream* stream)
{
    for (int i = 0; i < contacts->own.loose.count; ++i) {
        rbMechBody* body = &contacts->own.loose.data[i];
        rbStep_MoveBody(body, stream);
        rbByteStream_CheckFinite(stream, body, offsetof(rbMechBody, ahead));
        RB_MOVE_FINITE(stream, contacts->flight.kicks.data[body->index]);
    }
}

// Reaches of the last search: velocities have changed since.
static void moveReaches(const rbStepContacts* contacts, rbByteStream* stream)
{
    for (int i = 0; i < contacts->engine->bodies.count; ++i) {
        double reach = i < contacts->places.count ? contacts->places.data[i].reach : 0.0;
        RB_MOVE(stream, reach);
        if (stream->isLoading && i < contacts->places.count) {
            contacts->places.data[i].reach = reach;
        }
    }
}

void rbStepContacts_Move(rbStepContacts* contacts, rbByteStream* stream)
{
    if (contacts == NULL) {
        return;
    }
    rbContactStatistics statistics = contacts->statistics;
    RB_MOVE(stream, contacts->grid);
    RB_MOVE(stream, contacts->parts);
    RB_MOVE(stream, contacts->trial.cuts);
    RB_MOVE(stream, contacts->order.chosen);
    RB_MOVE(stream, contacts->order.estimateSum);
    RB_MOVE(stream, contacts->order.plainCount);
    RB_MOVE(stream, contacts->stage.part);
    RB_MOVE(stream, contacts->settings.restSpeed);
    RB_MOVE(stream, contacts->accounts.sums);
    RB_MOVE(stream, contacts->trial.work);
    RB_MOVE(stream, contacts->trial.works);
    RB_MOVE(stream, contacts->start.partUntil);
    RB_MOVE(stream, statistics);
    moveLoose(contacts, stream);
    int restCount = contacts->rest.loads.count;
    RB_MOVE(stream, restCount);
    size_t size = (size_t)restCount * sizeof(rbLoad);
    if (restCount == contacts->rest.loads.count) {
        rbByteStream_Move(stream, contacts->rest.loads.data, size);
    } else {
        stream->size += size;
    }
    rbContactPairs_Move(contacts->pairs, stream);
    rbContactFreeze_Move(contacts->rest.freeze, stream);
    if (stream->isLoading) { // with the stored contacts of the pairs: to the bit
        contacts->trial.isFlown = false;
        placeBodies(contacts);
        takeSet(contacts, rbContactPairs_GetSet(contacts->pairs));
        rbStepContacts_PrepareRows(contacts, contacts->engine->settings.step);
    }
    moveReaches(contacts, stream);
    rbStepLimits_Move(contacts, stream);
    if (stream->isLoading) {
        contacts->statistics = statistics; // without the work of getting ready
    }
}
