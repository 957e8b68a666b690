// Bodies of steps with contacts: poses, the view of contacts on them, forces, flight, rest.
#include "base/math/matrix3.h"
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// Least bodies of a block.
#define BODIES_LEAST 256
// Bodies are prefetched so many numbers before their turn.
#define BODIES_AHEAD 8

rbMechBody* rbContactStep_GetBody(const rbStepContacts* c, int index)
{
    RB_ASSERT(index >= 0 && index < c->engine->bodies.count);
    const rbStepBodySlot* slot = &c->engine->bodies.data[index];
    if (!slot->isUsed) {
        return NULL;
    }
    if (slot->mechanism >= 0) {
        return &c->engine->mechanisms.data[slot->mechanism].m.bodies[slot->local];
    }
    int place = c->own.places1.data[index];
    RB_ASSERT(place >= 0 && place <= c->own.loose.count);
    return place > 0 ? &c->own.loose.data[place - 1] : NULL;
}

void rbContactStep_ReadBodies(rbStepContacts* c, const rbStepHost* host, double time)
{
    c->own.loose.count = 0;
    c->own.places1.count = 0;
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        const rbStepBodySlot* slot = &c->engine->bodies.data[i];
        bool isElsewhere = slot->mechanism >= 0 || (!c->settings.isEnabled && slot->def.isDynamic);
        if (!slot->isUsed || isElsewhere) {
            rbArray_Push(c->own.places1, 0);
            continue;
        }
        rbArray_Push(c->own.loose, rbStep_MakeBody(c->engine, host, i, time));
        rbArray_Push(c->own.places1, c->own.loose.count);
    }
}

typedef struct EachBody {
    rbStepContacts* c;
    rbEachBodyFn* function;
    const void* args;
} EachBody;

static double doBody(const void* context, int index)
{
    const EachBody* each = context;
    return each->function(each->c, index, each->args);
}

double rbContactStep_EachBody(rbStepContacts* c, rbEachBodyFn* function, const void* args)
{
    EachBody each = {c, function, args};
    return rbRunElements(c->engine->bodies.count, BODIES_LEAST, doBody, &each).sum;
}

// The view of contacts on a body: its velocities and masses at its pose.
static void showBody(rbStepContacts* c, int index, const rbMechBody* body)
{
    RB_ASSERT(body->index == index);
    rbContactBody* shown = &c->bodies.data[index];
    shown->velocity = body->velocity;
    shown->isFrozen = rbContactFreeze_IsFrozen(c->rest.freeze, index);
    shown->invMass = body->isDynamic ? body->invMass : 0.0;
    if (body->isDynamic) {
        shown->invInertia = rbSym3_FromPrincipal(body->invMoments, body->pose.rotation);
        shown->spin = rbMulSV(shown->invInertia, body->momentum);
    } else {
        shown->invInertia = (rbSym3){0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        shown->spin = body->angularVelocity;
    }
}

// Prefetches what contacts need of a body soon to come: each mechanism has its own elsewhere.
static void fetchSoon(const rbStepContacts* c, int index)
{
    int next = index + BODIES_AHEAD;
    bool isThere = next < c->engine->bodies.count;
    const rbMechBody* soon = isThere ? rbContactStep_GetBody(c, next) : NULL;
    if (soon != NULL) {
        __builtin_prefetch(&soon->pose.rotation);
        __builtin_prefetch(&soon->velocity);
        __builtin_prefetch(&soon->invMass);
        __builtin_prefetch(&soon->index);
    }
}

static double showOne(rbStepContacts* c, int index, const void* args)
{
    (void)args;
    fetchSoon(c, index);
    const rbMechBody* body = rbContactStep_GetBody(c, index);
    if (body != NULL) {
        showBody(c, index, body);
    } else {
        memset(&c->bodies.data[index], 0,
               sizeof(rbContactBody)); // it flies elsewhere
    }
    return 0.0;
}

void rbContactStep_ShowBodies(rbStepContacts* c)
{
    // The last one is the world: an immovable body.
    rbArray_SetCount(c->bodies, c->engine->bodies.count + 1);
    memset(&c->bodies.data[c->engine->bodies.count], 0, sizeof *c->bodies.data);
    (void)rbContactStep_EachBody(c, showOne, NULL);
}

// Reads velocities back from the contacts; only changes are applied to the momentum, so that
// untouched bodies keep theirs to the bit.
void rbContactStep_TakeBody(const rbContactBody* shown, rbMechBody* body)
{
    RB_ASSERT(shown->invMass == (body->isDynamic ? body->invMass : 0.0));
    rbVec3 before = rbMulSV(shown->invInertia, body->momentum);
    rbVec3 change = rbSub(shown->spin, before);
    body->velocity = shown->velocity;
    if (change.x != 0.0 || change.y != 0.0 || change.z != 0.0) {
        rbSym3 inertia = rbSym3_FromPrincipal(body->moments, body->pose.rotation);
        body->momentum = rbAdd(body->momentum, rbMulSV(inertia, change));
    }
}

double rbContactStep_PartOf(const rbStepContacts* c, double h)
{
    RB_ASSERT(c->engine->settings.step > 0.0);
    double part = h / c->engine->settings.step;
    return fabs(part - 1.0) <= RB_STEP_SNAP ? 1.0 : part;
}

bool rbContactStep_IsTouched(const rbStepContacts* c, int index)
{
    return rbContactGraph_FindIsland(c->graph, index) >= 0;
}

static double takeOne(rbStepContacts* c, int index, const void* args)
{
    (void)args;
    fetchSoon(c, index);
    rbMechBody* body = rbContactStep_GetBody(c, index);
    if (body != NULL && body->isDynamic && rbContactStep_IsTouched(c, index)) {
        rbContactStep_TakeBody(&c->bodies.data[index], body);
        // Without rounding residues.
        body->momentum = c->bodies.data[index].isFrozen ? RB_VEC3_ZERO : body->momentum;
    }
    return 0.0;
}

void rbContactStep_TakeBodies(rbStepContacts* c)
{
    RB_ASSERT(c->bodies.count == c->engine->bodies.count + 1);
    (void)rbContactStep_EachBody(c, takeOne, NULL);
}

rbLoad rbContactStep_LoadOf(const rbStepHost* host, const rbMechBody* body, double time)
{
    RB_ASSERT(body->index >= 0);
    const rbMotionBody* motion = &host->motions[body->index];
    rbLoad load = {.power = 0.0};
    if (motion->load != NULL) {
        rbVec3 local = rbMulMtV(body->pose.rotation, body->momentum);
        rbMotionState state = {.position = body->pose.position,
                               .orientation = body->pose.orientation,
                               .velocity = body->velocity,
                               .spin = rbMulEach(body->invMoments, local)}; // in its own frame
        motion->load(motion, &state, time, &load);
    }
    return load;
}

rbLoad rbContactStep_LoadBody(const rbStepHost* host, rbMechBody* body, double time)
{
    const rbMotionBody* motion = &host->motions[body->index];
    rbLoad load = rbContactStep_LoadOf(host, body, time);
    body->force = rbAddScaled(load.force, body->mass, motion->acceleration);
    body->torque = rbAdd(load.torque, motion->torque);
    return load;
}

// Half a kick: forces without a potential do work with the mean of the velocities before and after,
// without what the others give at the start, and with all of it at the end: over a step these take
// as much as they give, as for contacts (step_contact_accounts.c).
static double kickBody(rbMechBody* body, double h, rbVec3 paid, bool isEnd)
{
    RB_ASSERT(body->isDynamic && body->invMass > 0.0);
    rbVec3 linear = rbScale(h * body->invMass, body->force);
    rbVec3 angular = rbScale(h, body->torque);
    rbVec3 others = isEnd ? rbAddScaled(linear, -h * body->invMass, paid) : RB_VEC3_ZERO;
    rbVec3 mean = rbAddScaled(rbAdd(body->velocity, others), 0.5 * h * body->invMass, paid);
    double work = h * rbDot(paid, mean);
    if (rbLengthSquared(angular) > 0.0) {
        rbVec3 spin = rbMulMtV(body->pose.rotation, rbAddScaled(body->momentum, 0.5, angular));
        spin = rbMulMV(body->pose.rotation, rbMulEach(body->invMoments, spin));
        work += rbDot(angular, spin);
    }
    body->velocity = rbAdd(body->velocity, linear);
    body->momentum = rbAdd(body->momentum, angular);
    return work;
}

// The forces of a time on bodies.
typedef struct Kicks {
    rbStepContacts* c;
    const rbStepHost* host;
    double time;
    double h;
    bool isEnd; // bodies that arrived in the step have already received their forces
} Kicks;

// Returns the work of forces without a potential. Loads that depend on the velocity act at the end
// with that after the kick, to the order of the step.
static double kickOne(const Kicks* kicks, rbMechBody* body)
{
    rbVec3 paid = rbContactStep_LoadBody(kicks->host, body, kicks->time).paid;
    if (kicks->isEnd && kicks->host->motions[body->index].load != NULL) {
        rbMechBody after = *body;
        (void)kickBody(&after, kicks->h, paid, true);
        paid = rbContactStep_LoadBody(kicks->host, &after, kicks->time).paid;
        body->force = after.force;
        body->torque = after.torque;
    }
    double work = kickBody(body, kicks->h, paid, kicks->isEnd);
    double whole = 2.0 * kicks->h / rbContactStep_PartOf(kicks->c, 2.0 * kicks->h);
    kicks->c->flight.kicks.data[body->index] = rbScale(whole * body->invMass, body->force);
    return work;
}

// Loads may call the program, and their works are summed in order: bodies with them come later.
static bool isKicked(const Kicks* kicks, const rbMechBody* body, bool isLoaded)
{
    const rbStepContacts* c = kicks->c;
    const rbMotionBody* motion = &kicks->host->motions[body->index];
    bool isLate = kicks->isEnd && (c->flight.late.data[body->index] > 0.0 ||
                                   c->rest.isWoken.data[body->index] != 0);
    bool hasLoad = motion->load != NULL || rbLengthSquared(motion->torque) > 0.0;
    return body->isDynamic && !isLate && hasLoad == isLoaded &&
           !rbContactFreeze_IsFrozen(c->rest.freeze, body->index);
}

// A loose body without loads; returns 1 for one that has some.
static double kickUnloaded(const void* context, int place)
{
    const Kicks* kicks = context;
    rbMechBody* body = &kicks->c->own.loose.data[place];
    if (isKicked(kicks, body, false)) {
        (void)kickOne(kicks, body);
    }
    return isKicked(kicks, body, true);
}

void rbContactStep_KickLoose(rbStepContacts* c, const rbStepHost* host, double time, double h,
                             bool isEnd)
{
    RB_ASSERT(!(h < 0.0));
    int count = c->own.loose.count;
    Kicks kicks = {c, host, time, h, isEnd};
    double left = rbRunElements(count, BODIES_LEAST, kickUnloaded, &kicks).sum;
    for (int i = 0; left > 0.0 && i < count; ++i) {
        rbMechBody* body = &c->own.loose.data[i];
        c->accounts.sums.load += isKicked(&kicks, body, true) ? kickOne(&kicks, body) : 0.0;
    }
}

void rbContactStep_KickEarly(rbStepContacts* c, const rbStepHost* host, int index, double h)
{
    bool isOwn = index < c->engine->bodies.count && c->engine->bodies.data[index].mechanism < 0;
    rbMechBody* body = isOwn ? rbContactStep_GetBody(c, index) : NULL;
    if (body == NULL || !body->isDynamic || c->flight.late.data[index] > 0.0 ||
        c->rest.isWoken.data[index] != 0 || c->bodies.data[index].isFrozen) {
        return;
    }
    Kicks kicks = {c, host, c->grid.time, 0.5 * h, true};
    c->accounts.sums.load += kickOne(&kicks, body);
    c->flight.late.data[index] = RB_STEP_SNAP * h;
    showBody(c, index, body);
}

void rbContactStep_KickStriking(rbStepContacts* c, const rbStepHost* host, double h)
{
    for (int i = 0; c->solvers.substeps == NULL && i < c->found.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        const int bodies[2] = {contact->bodyA, contact->bodyB};
        bool isStriking = false;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[k];
            isStriking = isStriking || (!(point->impulse[0] > 0.0) &&
                                        rbContactStep_IsStriking(c, contact, point));
        }
        for (int k = 0; k < 2 && isStriking; ++k) {
            if (c->flight.late.data[bodies[k]] == 0.0) {
                rbContactStep_KickEarly(c, host, bodies[k], h);
            }
        }
    }
}

void rbContactStep_PlaceFixed(rbStepContacts* c, double time, double side)
{
    for (int i = 0; i < c->own.loose.count; ++i) {
        rbMechBody* body = &c->own.loose.data[i];
        const rbPath* path = c->engine->bodies.data[body->index].def.path;
        if (!body->isDynamic && path != NULL) {
            rbStep_FollowPath(path, time, body, true);
            rbStep_FollowPath(path, time + side, body, false);
            body->pose = body->ahead;
        }
    }
}

void rbContactStep_ShowMeans(rbStepContacts* c, double h)
{
    RB_ASSERT(h > 0.0);
    for (int i = 0; i < c->own.loose.count; ++i) {
        rbMechBody* body = &c->own.loose.data[i];
        const rbPath* path = c->engine->bodies.data[body->index].def.path;
        if (!body->isDynamic && path != NULL) {
            rbStep_FollowPath(path, c->grid.time + h, body, true);
            rbVec3 mean = rbScale(1.0 / h, rbSub(body->ahead.position, body->pose.position));
            rbVec3* shown = &c->bodies.data[body->index].velocity;
            bool isCurved = rbLength(rbSub(mean, *shown)) > RB_CARRY_LEAST * c->settings.restSpeed;
            *shown = isCurved ? mean : *shown;
        }
    }
}

static double flyOne(rbStepContacts* c, int index, const void* h)
{
    bool isLoose = c->own.places1.data[index] > 0;
    rbMechBody* body = isLoose ? rbContactStep_GetBody(c, index) : NULL;
    if (body != NULL && body->isDynamic && !rbContactFreeze_IsFrozen(c->rest.freeze, index)) {
        rbMechBody_LookAhead(body, *(const double*)h);
        body->pose = body->ahead;
    }
    return 0.0;
}

void rbContactStep_FlyLoose(rbStepContacts* c, double h)
{
    (void)rbContactStep_EachBody(c, flyOne, &h);
}

static double writeOne(rbStepContacts* c, int index, const void* host)
{
    const rbMechBody* body = rbContactStep_GetBody(c, index);
    if (body != NULL) {
        rbStep_WriteBody(host, body);
    }
    return 0.0;
}

void rbContactStep_WriteBodies(rbStepContacts* c, const rbStepHost* host)
{
    (void)rbContactStep_EachBody(c, writeOne, host);
}

// -------------------------------------------------------------------------------------------- rest
// Frozen bodies in steps with contacts, see contact_freeze.h: which may not freeze, which wake, and
// the data of their contacts kept meanwhile.

static rbContactNode makeNode(rbStepContacts* c)
{
    rbContactNode node = {.set = &c->set,
                          .graph = c->graph,
                          .islandCount = c->islandCount,
                          .bodies = c->bodies.data,
                          .radii = c->own.radii.data,
                          .bodyCount = c->bodies.count,
                          .links = (const int(*)[2])(const void*)c->own.links.data,
                          .linkCount = c->own.links.count / 2};
    return node;
}

// ----------------------------------------------------------------------------------------- waking

static void wakeLoaded(rbStepContacts* c, const rbStepHost* host, double time)
{
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        if (!rbContactFreeze_IsFrozen(c->rest.freeze, i) || host->motions[i].load == NULL) {
            continue;
        }
        rbLoad now = rbContactStep_LoadOf(host, rbContactStep_GetBody(c, i), time);
        const rbLoad* then = &c->rest.loads.data[i];
        if (!(rbLengthSquared(rbSub(now.force, then->force)) == 0.0 &&
              rbLengthSquared(rbSub(now.torque, then->torque)) == 0.0)) {
            rbContactFreeze_Wake(c->rest.freeze, i);
        }
    }
}

// An entry of the journal: a body wakes, or comes to rest and loses energy.
static void reportFrozen(const rbStepContacts* c, const rbStepHost* host, int body,
                         double energyChange)
{
    if (host->journal != NULL) {
        bool isFrozen = rbContactFreeze_IsFrozen(c->rest.freeze, body);
        rbEvent event = {.time = c->grid.time,
                         .kind = isFrozen ? RB_EVENT_REST : RB_EVENT_WAKE,
                         .bodyA = rbEngineBody(body),
                         .energyChange = energyChange};
        host->journal(host->context, &event);
    }
}

void rbContactStep_WakeBodies(rbStepContacts* c, const rbStepHost* host, double h)
{
    rbContactNode node = makeNode(c);
    if (rbContactFreeze_GetCount(c->rest.freeze) == 0) {
        memset(c->rest.isWoken.data, 0, (size_t)c->rest.isWoken.count);
        (void)rbContactFreeze_WakeTouched(c->rest.freeze, &node);
        return;
    }
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        c->rest.isWoken.data[i] = rbContactFreeze_IsFrozen(c->rest.freeze, i) ? 1 : 0;
    }
    wakeLoaded(c, host, c->grid.time);
    (void)rbContactFreeze_WakeTouched(c->rest.freeze, &node);
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        bool isFrozen = rbContactFreeze_IsFrozen(c->rest.freeze, i);
        c->rest.isWoken.data[i] = c->rest.isWoken.data[i] != 0 && !isFrozen ? 1 : 0;
        c->bodies.data[i].isFrozen = isFrozen;
        if (c->rest.isWoken.data[i] != 0) {
            reportFrozen(c, host, i, 0.0);
        }
    }
    RB_ASSERT(c->rest.isWoken.count == c->bodies.count);
    // Contacts of waking bodies continue with the remaining half of their last step.
    for (int i = 0; i < c->set.contactCount; ++i) {
        rbContact* contact = &c->set.contacts[i];
        if (c->rest.isWoken.data[contact->bodyA] != 0 ||
            c->rest.isWoken.data[contact->bodyB] != 0) {
            rbContactStep_ScaleImpulses(c, contact, 0.5);
        }
    }
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &c->engine->mechanisms.data[i];
        if (rbContactStep_IsWoken(c, mechanism)) {
            rbStepRun run = {.mechanism = mechanism, .host = host, .isForced = true};
            rbStep_WakeBasic(&run, c->grid.time, h);
        }
    }
}

bool rbContactStep_IsWoken(const rbStepContacts* c, const rbStepMechanism* mechanism)
{
    return c->rest.isWoken.data[mechanism->m.bodies[0].index] != 0;
}

bool rbContactStep_WakeTouched(rbStepContacts* c)
{
    rbContactNode node = makeNode(c);
    return rbContactFreeze_WakeTouched(c->rest.freeze, &node) > 0;
}

// --------------------------------------------------------------------------------------- freezing

// Motors and velocity-only joints may move their bodies at any time.
static bool isDriven(const rbStepContacts* c, const rbStepMechanism* mechanism)
{
    for (int i = 0; i < mechanism->m.blockCount; ++i) {
        const rbBlockInfo* info = &mechanism->infos[i];
        if (info->role == RB_ROLE_SPRING) {
            continue;
        }
        const rbStepJointDef* def = &c->engine->joints.data[info->owner].def;
        bool isMotor = info->role == RB_ROLE_FREEDOM && def->motors != NULL &&
                       def->motors[info->freedom].def.type != RB_MOTOR_NONE;
        if (isMotor || info->role == RB_ROLE_SPEED || def->isVelocityOnly) {
            return true;
        }
    }
    return false;
}

void rbContactStep_FreezeBodies(rbStepContacts* c, const rbStepHost* host, double h)
{
    RB_ASSERT(h > 0.0 && c->rest.isRestless.count == c->bodies.count);
    if (!(c->settings.freezeSpeed > 0.0)) {
        return;
    }
    memset(c->rest.isRestless.data, 0, (size_t)c->rest.isRestless.count);
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &c->engine->mechanisms.data[i];
        bool isRestless = isDriven(c, mechanism);
        for (int k = 0; isRestless && k < mechanism->dynamicCount; ++k) {
            c->rest.isRestless.data[mechanism->m.bodies[k].index] = 1;
        }
    }
    // Conveyors move what lies on them, however slowly.
    for (int i = 0; i < c->found.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        if (contact->hasBelt) {
            c->rest.isRestless.data[contact->bodyA] = 1;
            c->rest.isRestless.data[contact->bodyB] = 1;
        }
    }
    memcpy(c->stage.before.data, c->bodies.data, (size_t)c->bodies.count * sizeof *c->bodies.data);
    rbContactNode node = makeNode(c);
    node.isRestless = c->rest.isRestless.data;
    if (rbContactFreeze_Update(c->rest.freeze, &node, h) == 0) {
        return;
    }
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        const rbContactBody* before = &c->stage.before.data[i];
        if (c->bodies.data[i].isFrozen && !before->isFrozen) {
            const rbMechBody* body = rbContactStep_GetBody(c, i);
            RB_ASSERT(body != NULL && body->isDynamic);
            double energy = rbContactStep_GetKinetic(body, before);
            c->accounts.sums.settled -= energy; // it loses its energy
            reportFrozen(c, host, i, -energy);
            rbMechBody still = *body;
            still.velocity = RB_VEC3_ZERO;
            still.momentum = RB_VEC3_ZERO;
            c->rest.loads.data[i] = rbContactStep_LoadOf(host, &still, c->grid.time);
        }
    }
}
