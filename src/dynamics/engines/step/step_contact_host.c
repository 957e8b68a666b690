// Interface of the host to contacts: registering, queries, and snapshots.
#include "dynamics/engines/step/step_contact_state.h"

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
    const rbStepContacts* c = engine->contacts;
    int count = 0;
    for (int i = 0; c != NULL && i < c->foundCount; ++i) {
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
    bool isTimed = own.contactTime != RB_CONTACT_TIME_STEP || !(engine->settings.errorMax > 0.0);
    own.contactTime = isTimed ? own.contactTime : RB_CONTACT_TIME_INTERPOLATION;
    rbDestroyStepContacts(engine->contacts);
    engine->contacts = own.isEnabled ? rbCreateStepContacts(engine, &own) : NULL;
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
        engine->contacts = rbCreateStepContacts(engine, &own);
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
    if (stream->isLoading) {
        rbStepContacts_MakeReadyAgain(contacts);
    }
    moveReaches(contacts, stream);
    rbStepLimits_Move(contacts, stream);
    if (stream->isLoading) {
        contacts->statistics = statistics; // without the work of getting ready
    }
}
