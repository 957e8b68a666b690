// Bodies of steps with contacts: poses, the view of contacts on them, forces, flight.
#include "base/math/matrix3.h"
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// Least bodies of a block.
#define BODIES_LEAST 256

// The body of the host as the engine moves it; NULL: it has none.
rbMechBody* rbContactStep_GetBody(const rbStepEngine* engine, int index)
{
    RB_ASSERT(index >= 0 && index < engine->bodies.count);
    const rbStepBodySlot* slot = &engine->bodies.data[index];
    if (!slot->isUsed) {
        return NULL;
    }
    if (slot->mechanism >= 0) {
        return &engine->mechanisms.data[slot->mechanism].m.bodies[slot->local];
    }
    int place = engine->contacts->own.places1.data[index];
    RB_ASSERT(place >= 0 && place <= engine->contacts->own.loose.count);
    return place > 0 ? &engine->contacts->own.loose.data[place - 1] : NULL;
}

void rbContactStep_ReadBodies(rbStepEngine* engine, const rbStepHost* host, double time)
{
    rbStepContacts* c = engine->contacts;
    c->own.loose.count = 0;
    c->own.places1.count = 0;
    for (int i = 0; i < engine->bodies.count; ++i) {
        const rbStepBodySlot* slot = &engine->bodies.data[i];
        bool isElsewhere = slot->mechanism >= 0 || (!c->settings.isEnabled && slot->def.isDynamic);
        if (!slot->isUsed || isElsewhere) {
            rbArray_Push(c->own.places1, 0);
            continue;
        }
        rbArray_Push(c->own.loose, rbStep_MakeBody(engine, host, i, time));
        rbArray_Push(c->own.places1, c->own.loose.count);
    }
}

typedef struct EachBody {
    const rbStepEngine* engine;
    rbEachBodyFn* function;
    const void* args;
} EachBody;

static double doBody(const void* context, int index)
{
    const EachBody* each = context;
    return each->function(each->engine, index, each->args);
}

double rbContactStep_EachBody(const rbStepEngine* engine, rbEachBodyFn* function, const void* args)
{
    EachBody each = {engine, function, args};
    return rbRunElements(engine->bodies.count, BODIES_LEAST, doBody, &each).sum;
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

static double showOne(const rbStepEngine* engine, int index, const void* args)
{
    (void)args;
    const rbMechBody* body = rbContactStep_GetBody(engine, index);
    if (body != NULL) {
        showBody(engine->contacts, index, body);
    } else {
        memset(&engine->contacts->bodies.data[index], 0,
               sizeof(rbContactBody)); // it flies elsewhere
    }
    return 0.0;
}

void rbContactStep_ShowBodies(const rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    // The last one is the world: an immovable body.
    rbArray_SetCount(c->bodies, engine->bodies.count + 1);
    memset(&c->bodies.data[engine->bodies.count], 0, sizeof *c->bodies.data);
    (void)rbContactStep_EachBody(engine, showOne, NULL);
}

// Reads velocities back from the contacts; only changes are applied to the momentum, so that
// untouched bodies keep theirs to the bit.
void rbContactStep_TakeBody(const rbContactBody* shown, rbMechBody* body)
{
    RB_ASSERT(shown->invMass == (body->isDynamic ? body->invMass : 0.0));
    rbVec3 before = rbMulSV(shown->invInertia, body->momentum);
    rbVec3 change = rbSub(shown->spin, before);
    body->velocity = shown->velocity;
    rbSym3 inertia = rbSym3_FromPrincipal(body->moments, body->pose.rotation);
    body->momentum = rbAdd(body->momentum, rbMulSV(inertia, change));
}

double rbContactStep_PartOf(const rbStepEngine* engine, double h)
{
    RB_ASSERT(engine->settings.step > 0.0);
    double part = h / engine->settings.step;
    return fabs(part - 1.0) <= RB_STEP_SNAP ? 1.0 : part;
}

bool rbContactStep_IsTouched(const rbStepContacts* c, int index)
{
    return rbContactGraph_FindIsland(c->graph, index) >= 0;
}

static double takeOne(const rbStepEngine* engine, int index, const void* args)
{
    (void)args;
    const rbStepContacts* c = engine->contacts;
    rbMechBody* body = rbContactStep_GetBody(engine, index);
    if (body != NULL && body->isDynamic && rbContactStep_IsTouched(c, index)) {
        rbContactStep_TakeBody(&c->bodies.data[index], body);
        // Without rounding residues.
        body->momentum = c->bodies.data[index].isFrozen ? RB_VEC3_ZERO : body->momentum;
    }
    return 0.0;
}

void rbContactStep_TakeBodies(const rbStepEngine* engine)
{
    (void)rbContactStep_EachBody(engine, takeOne, NULL);
}

rbLoad rbContactStep_LoadOf(const rbStepHost* host, const rbMechBody* body, double time)
{
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
    const rbStepEngine* engine;
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
    double whole = 2.0 * kicks->h / rbContactStep_PartOf(kicks->engine, 2.0 * kicks->h);
    kicks->engine->contacts->flight.kicks.data[body->index] =
        rbScale(whole * body->invMass, body->force);
    return work;
}

// Loads may call the program, and their works are summed in order: bodies with them come later.
static bool isKicked(const Kicks* kicks, const rbMechBody* body, bool isLoaded)
{
    const rbStepContacts* c = kicks->engine->contacts;
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
    rbMechBody* body = &kicks->engine->contacts->own.loose.data[place];
    if (isKicked(kicks, body, false)) {
        (void)kickOne(kicks, body);
    }
    return isKicked(kicks, body, true);
}

void rbContactStep_KickLoose(rbStepEngine* engine, const rbStepHost* host, double time, double h,
                             bool isEnd)
{
    rbStepContacts* c = engine->contacts;
    int count = c->own.loose.count;
    Kicks kicks = {engine, host, time, h, isEnd};
    double left = rbRunElements(count, BODIES_LEAST, kickUnloaded, &kicks).sum;
    for (int i = 0; left > 0.0 && i < count; ++i) {
        rbMechBody* body = &c->own.loose.data[i];
        c->accounts.sums.load += isKicked(&kicks, body, true) ? kickOne(&kicks, body) : 0.0;
    }
}

// A body that rests on nothing and was not stopped in its flight.
static void kickStriking(rbStepEngine* engine, const rbStepHost* host, int index, double h)
{
    rbStepContacts* c = engine->contacts;
    bool isOwn = index < engine->bodies.count && engine->bodies.data[index].mechanism < 0;
    rbMechBody* body = isOwn ? rbContactStep_GetBody(engine, index) : NULL;
    if (body == NULL || !body->isDynamic || c->flight.late.data[index] != 0.0 ||
        c->rest.isWoken.data[index] != 0 || c->bodies.data[index].isFrozen) {
        return;
    }
    Kicks kicks = {engine, host, c->grid.time, 0.5 * h, false};
    c->accounts.sums.load += kickOne(&kicks, body);
    c->flight.late.data[index] = RB_STEP_SNAP * h;
    showBody(c, index, body);
}

void rbContactStep_KickStriking(rbStepEngine* engine, const rbStepHost* host, double h)
{
    rbStepContacts* c = engine->contacts;
    for (int i = 0; c->solvers.substeps == NULL && i < c->foundCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        bool isStriking = false;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[k];
            isStriking = isStriking ||
                         (point->isClosed && !(point->impulse[0] > 0.0) &&
                          rbContactStep_NormalSpeed(c, contact, point) < -c->settings.restSpeed);
        }
        if (isStriking) {
            kickStriking(engine, host, contact->bodyA, h);
            kickStriking(engine, host, contact->bodyB, h);
        }
    }
}

void rbContactStep_PlaceFixed(rbStepEngine* engine, double time)
{
    rbStepContacts* c = engine->contacts;
    for (int i = 0; i < c->own.loose.count; ++i) {
        rbMechBody* body = &c->own.loose.data[i];
        const rbPath* path = engine->bodies.data[body->index].def.path;
        if (!body->isDynamic && path != NULL) {
            rbStep_FollowPath(path, time, body, false);
        }
    }
}

static double flyOne(const rbStepEngine* engine, int index, const void* h)
{
    bool isLoose = engine->contacts->own.places1.data[index] > 0;
    rbMechBody* body = isLoose ? rbContactStep_GetBody(engine, index) : NULL;
    if (body != NULL && body->isDynamic &&
        !rbContactFreeze_IsFrozen(engine->contacts->rest.freeze, index)) {
        rbMechBody_LookAhead(body, *(const double*)h);
        body->pose = body->ahead;
    }
    return 0.0;
}

void rbContactStep_FlyLoose(const rbStepEngine* engine, double h)
{
    (void)rbContactStep_EachBody(engine, flyOne, &h);
}

static double writeOne(const rbStepEngine* engine, int index, const void* host)
{
    const rbMechBody* body = rbContactStep_GetBody(engine, index);
    if (body != NULL) {
        rbStep_WriteBody(host, body);
    }
    return 0.0;
}

void rbContactStep_WriteBodies(const rbStepEngine* engine, const rbStepHost* host)
{
    (void)rbContactStep_EachBody(engine, writeOne, host);
}
