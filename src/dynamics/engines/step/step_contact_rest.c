// Frozen bodies in steps with contacts, see contact_freeze.h: which may not freeze, which wake, and
// the data of their contacts kept meanwhile.
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

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
            rbContactStep_ReportFrozen(c, host, i, true, 0.0);
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
            rbStepRun run = {
                .engine = c->engine, .mechanism = mechanism, .host = host, .isForced = true};
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
    if (!(c->settings.freezeSpeed > 0.0)) {
        return;
    }
    memset(c->rest.isRestless.data, 0, (size_t)c->rest.isRestless.count);
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &c->engine->mechanisms.data[i];
        bool isRestless = isDriven(c, mechanism);
        for (int k = 0; isRestless && k < mechanism->m.bodyCount; ++k) {
            if (mechanism->m.bodies[k].isDynamic) {
                c->rest.isRestless.data[mechanism->m.bodies[k].index] = 1;
            }
        }
    }
    // Conveyors move what lies on them, however slowly.
    for (int i = 0; i < c->foundCount; ++i) {
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
    rbContactStep_AccountForFrozen(c, host);
    for (int i = 0; i < c->engine->bodies.count; ++i) {
        if (c->bodies.data[i].isFrozen && !c->stage.before.data[i].isFrozen) {
            const rbMechBody* body = rbContactStep_GetBody(c, i);
            rbMechBody still = *body;
            still.velocity = RB_VEC3_ZERO;
            still.momentum = RB_VEC3_ZERO;
            RB_ASSERT(body != NULL && body->isDynamic);
            c->rest.loads.data[i] = rbContactStep_LoadOf(host, &still, c->grid.time);
        }
    }
}
