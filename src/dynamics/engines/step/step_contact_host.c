// Interface of the host to contacts: registering, queries, and snapshots.
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

// ---------------------------------------------------------------------------------------- results

rbContactStatistics rbStepEngine_GetContactStatistics(const rbStepEngine* engine)
{
    rbContactStatistics statistics;
    memset(&statistics, 0, sizeof statistics);
    if (engine->contacts != NULL) {
        statistics = engine->contacts->statistics;
        statistics.collisionTime = engine->contacts->collisionTime;
        statistics.contactTime = engine->contacts->contactTime;
    }
    return statistics;
}

bool rbStepEngine_IsResting(const rbStepEngine* engine, int index)
{
    return engine->contacts != NULL && rbContactFreeze_IsFrozen(engine->contacts->freeze, index);
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
                double scale = 1.0 / (c->lastPart * engine->settings.step);
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

// ---------------------------------------------------------------------------------------
// registering

void rbStepEngine_SetContacts(rbStepEngine* engine, const rbContactSettings* settings)
{
    rbDestroyStepContacts(engine->contacts);
    engine->contacts = settings->isEnabled ? rbCreateStepContacts(settings) : NULL;
}

void rbStepEngine_ChangeContacts(rbStepEngine* engine, const rbContactSettings* settings)
{
    rbStepContacts* old = engine->contacts;
    engine->contacts = NULL;
    rbStepEngine_SetContacts(engine, settings);
    rbStepContacts_AddWork(old, &engine->workBefore);
    if (old != NULL && engine->contacts != NULL) {
        engine->contacts->statistics = old->statistics;
        engine->contacts->collisionTime = old->collisionTime;
        engine->contacts->contactTime = old->contactTime;
    }
    rbDestroyStepContacts(old);
}

void rbStepEngine_NeedLimits(rbStepEngine* engine, const rbContactSettings* settings)
{
    if (engine->contacts == NULL) {
        rbContactSettings own = *settings;
        own.method = RB_CONTACT_IMPULSES; // springs have no stops
        engine->contacts = rbCreateStepContacts(&own);
    }
}

bool rbStepContacts_HasShapes(const rbStepContacts* contacts)
{
    return contacts != NULL && !contacts->areShapesOff;
}

bool rbStepEngine_HasContacts(const rbStepEngine* engine)
{
    return engine->contacts != NULL;
}

void rbStepEngine_SetShape(rbStepEngine* engine, int body, const rbContactShape* shape)
{
    if (engine->contacts != NULL) {
        rbContactPairs_SetShape(engine->contacts->pairs, body, shape);
    }
}

void rbStepEngine_SetMaterialPair(rbStepEngine* engine, int kindA, int kindB,
                                  const rbMaterialPair* pair)
{
    if (engine->contacts != NULL) {
        rbContactPairs_SetMaterialPair(engine->contacts->pairs, kindA, kindB, pair);
    }
}

void rbStepEngine_Exclude(rbStepEngine* engine, int a, int b)
{
    rbStepContacts* c = engine->contacts;
    if (c != NULL && a >= 0 && b >= 0) {
        rbContactPairs_Exclude(c->pairs, a, b, true);
        rbArray_Push(c->exclusions, a);
        rbArray_Push(c->exclusions, b);
    }
}

void rbStepEngine_ClearExclusions(rbStepEngine* engine)
{
    rbStepContacts* c = engine->contacts;
    for (int i = 0; c != NULL && i < c->exclusions.count; i += 2) {
        rbContactPairs_Exclude(c->pairs, c->exclusions.data[i], c->exclusions.data[i + 1], false);
    }
    if (c != NULL) {
        c->exclusions.count = 0;
    }
}

void rbStepContacts_AddWork(const rbStepContacts* contacts, rbStepWork* work)
{
    if (contacts != NULL) {
        work->impact += contacts->books.impact;
        work->friction += contacts->books.friction;
        work->part += contacts->books.rest + contacts->lookWork;
        work->motor += contacts->books.motor;
        work->load += contacts->books.load;
    }
}

// --------------------------------------------------------------------------------------- snapshots

typedef struct ContactsHead {
    double nodeTime;
    double origin;
    int64_t index;
    int64_t cutCount;
    double lastPart;
    double restSpeed;
    rbContactBooks books;
    double lookWork;
    rbContactStatistics statistics;
    int64_t looseCount;
    int64_t restCount;
    uint64_t pairsSize;
    uint64_t freezeSize;
} ContactsHead;

// The changing data of a loose body.
typedef struct LooseState {
    rbVec3 position;
    rbQuat orientation;
    rbVec3 velocity;
    rbVec3 momentum;
    rbVec3 kick;
} LooseState;

size_t rbStepContacts_GetSnapshotSize(const rbStepContacts* contacts)
{
    if (contacts == NULL) {
        return 0;
    }
    return sizeof(ContactsHead) + (size_t)contacts->loose.count * sizeof(LooseState) +
           (size_t)contacts->restLoads.count * sizeof(rbRestLoad) +
           rbContactPairs_GetSnapshotSize(contacts->pairs) +
           rbContactFreeze_GetSnapshotSize(contacts->freeze);
}

char* rbStepContacts_TakeSnapshot(const rbStepContacts* contacts, char* place)
{
    if (contacts == NULL) {
        return place;
    }
    ContactsHead head;
    memset(&head, 0, sizeof head);
    head.nodeTime = contacts->nodeTime;
    head.origin = contacts->origin;
    head.index = contacts->index;
    head.cutCount = contacts->cutCount;
    head.lastPart = contacts->lastPart;
    head.restSpeed = contacts->restSpeed;
    head.books = contacts->books;
    head.lookWork = contacts->lookWork;
    head.statistics = contacts->statistics;
    head.looseCount = contacts->loose.count;
    head.restCount = contacts->restLoads.count;
    head.pairsSize = rbContactPairs_GetSnapshotSize(contacts->pairs);
    head.freezeSize = rbContactFreeze_GetSnapshotSize(contacts->freeze);
    memcpy(place, &head, sizeof head);
    place += sizeof head;
    for (int i = 0; i < contacts->loose.count; ++i) {
        const rbMechBody* body = &contacts->loose.data[i];
        LooseState state = {body->pose.position, body->pose.orientation, body->velocity,
                            body->momentum, contacts->kicks.data[body->index]};
        memcpy(place, &state, sizeof state);
        place += sizeof state;
    }
    size_t size = (size_t)contacts->restLoads.count * sizeof(rbRestLoad);
    if (size > 0) {
        memcpy(place, contacts->restLoads.data, size);
    }
    place += size;
    rbContactPairs_TakeSnapshot(contacts->pairs, place);
    place += head.pairsSize;
    rbContactFreeze_TakeSnapshot(contacts->freeze, place);
    return place + head.freezeSize;
}

const char* rbStepContacts_RestoreSnapshot(rbStepEngine* engine, const char* place)
{
    rbStepContacts* contacts = engine->contacts;
    if (contacts == NULL) {
        return place;
    }
    ContactsHead head;
    memcpy(&head, place, sizeof head);
    place += sizeof head;
    contacts->nodeTime = head.nodeTime;
    contacts->origin = head.origin;
    contacts->index = head.index;
    contacts->cutCount = (int)head.cutCount;
    contacts->lastPart = head.lastPart;
    contacts->restSpeed = head.restSpeed;
    contacts->books = head.books;
    contacts->lookWork = head.lookWork;
    for (int i = 0; i < contacts->loose.count; ++i) {
        rbMechBody* body = &contacts->loose.data[i];
        LooseState state;
        memcpy(&state, place, sizeof state);
        place += sizeof state;
        body->pose.position = state.position;
        body->pose.orientation = state.orientation;
        body->pose.rotation = rbMatFromQuat(state.orientation);
        body->velocity = state.velocity;
        body->momentum = state.momentum;
        contacts->kicks.data[body->index] = state.kick;
    }
    size_t size = (size_t)head.restCount * sizeof(rbRestLoad);
    if (head.restCount == contacts->restLoads.count && size > 0) {
        memcpy(contacts->restLoads.data, place, size);
    }
    place += size;
    bool isSame = rbContactPairs_RestoreSnapshot(contacts->pairs, place, (size_t)head.pairsSize);
    place += head.pairsSize;
    (void)rbContactFreeze_RestoreSnapshot(contacts->freeze, place, (size_t)head.freezeSize);
    if (isSame) {
        rbStepContacts_MakeReadyAgain(engine);
    } else {
        rbStepContacts_MakeReady(engine);
    }
    contacts->statistics = head.statistics;
    return place + head.freezeSize;
}
