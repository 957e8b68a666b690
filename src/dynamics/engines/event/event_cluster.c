// Several simultaneous contacts: all that touch the two bodies of a collision, and their neighbors,
// by the simultaneous law (rbResolveImpacts). The sequential law does not need this: there a pair
// that is pushed together by the impact of another collides next, at the same instant.
#include "dynamics/engines/event/event_cluster.h"

#include "dynamics/engines/event/event_bodies.h"
#include "dynamics/engines/event/event_pairs.h"
#include "dynamics/engines/event/event_rest.h"

#include <math.h>

// Maximum bodies of a cluster; bodies beyond take part in the next collision.
#define CLUSTER_MAX 128

typedef struct rbEventCluster {
    double time;
    int bodies[CLUSTER_MAX];
    rbMotionState states[CLUSTER_MAX];
    rbImpactBody impacts[CLUSTER_MAX];
    rbVec3 shifts[CLUSTER_MAX]; // of images, to bring all to one place
    int bodyCount;
    rbImpactContact contacts[RB_IMPACT_CONTACTS_MAX];
    int pairs[RB_IMPACT_CONTACTS_MAX];
    double approaches[RB_IMPACT_CONTACTS_MAX];
    int contactCount;
} Cluster;

// Index of a body in the cluster, which it joins if there is room; -1 if there is none.
static int joinBody(rbEventEngine* engine, const rbEventHost* host, Cluster* cluster, int index,
                    rbVec3 shift)
{
    for (int i = 0; i < cluster->bodyCount; ++i) {
        if (cluster->bodies[i] == index) {
            return i;
        }
    }
    if (cluster->bodyCount == CLUSTER_MAX) {
        return -1;
    }
    if (engine->bodies.data[index].isResting) {
        rbEventEngine_Wake(engine, host, index, cluster->time);
    }
    int place = cluster->bodyCount++;
    cluster->bodies[place] = index;
    cluster->shifts[place] = shift;
    cluster->states[place] = rbEventEngine_StateAt(engine, host, index, cluster->time);
    cluster->impacts[place] =
        rbEventEngine_MakeImpactBody(engine, host, index, &cluster->states[place]);
    cluster->impacts[place].center = rbAdd(cluster->impacts[place].center, shift);
    return place;
}

static double approachOf(const Cluster* cluster, int a, int b, const rbEventContact* contact)
{
    rbVec3 u = rbGetRelativeVelocity(&cluster->impacts[a], &cluster->impacts[b], contact->point);
    return -rbDot(u, contact->normal);
}

static bool hasContact(const Cluster* cluster, int pair)
{
    for (int i = 0; i < cluster->contactCount; ++i) {
        if (cluster->pairs[i] == pair) {
            return true;
        }
    }
    return false;
}

// Whether another touching point of the list is the same one and approaches faster.
static bool isCopy(const rbEventContacts* list, const double* approaches, int index,
                   double tolerance)
{
    for (int i = 0; i < list->touching; ++i) {
        bool isFaster =
            approaches[i] > approaches[index] || (approaches[i] == approaches[index] && i < index);
        if (isFaster && rbEventContact_IsSame(&list->points[i], &list->points[index], tolerance)) {
            return true;
        }
    }
    return false;
}

// Adds the touching points of a pair, seen from a body of the cluster.
static void joinPair(rbEventEngine* engine, const rbEventHost* host, Cluster* cluster,
                     int pairIndex, int place)
{
    RB_ASSERT(place >= 0);
    RB_ASSERT(place < cluster->bodyCount);
    rbEventContacts found;
    if (hasContact(cluster, pairIndex) ||
        !rbEventEngine_FindTouching(engine, host, pairIndex, cluster->time, &found)) {
        return;
    }
    const rbEventPair* pair = &engine->pairs.data[pairIndex];
    bool isFirst = pair->a == cluster->bodies[place];
    // b is at its image next to a; the cluster may be elsewhere.
    rbVec3 image = rbEventEngine_ImageShift(engine, pair);
    rbVec3 shiftA = isFirst ? cluster->shifts[place] : rbSub(cluster->shifts[place], image);
    rbVec3 shiftB = rbAdd(shiftA, image);
    int other =
        joinBody(engine, host, cluster, isFirst ? pair->b : pair->a, isFirst ? shiftB : shiftA);
    if (other < 0) {
        return;
    }
    int a = isFirst ? place : other;
    int b = isFirst ? other : place;
    double approaches[RB_EVENT_CONTACTS_MAX];
    for (int i = 0; i < found.touching; ++i) {
        found.points[i].point = rbAdd(found.points[i].point, shiftA);
        approaches[i] = approachOf(cluster, a, b, &found.points[i]);
    }
    for (int i = 0; i < found.touching; ++i) {
        const rbEventContact* point = &found.points[i];
        if (cluster->contactCount == RB_IMPACT_CONTACTS_MAX) {
            return;
        }
        if (isCopy(&found, approaches, i, engine->tolerance)) {
            continue;
        }
        rbMaterialPair material =
            rbEventEngine_GetMaterial(engine, pair, point->childA, point->childB);
        int k = cluster->contactCount++;
        cluster->pairs[k] = pairIndex;
        cluster->approaches[k] = approaches[i];
        cluster->contacts[k] = (rbImpactContact){.a = a,
                                                 .b = b,
                                                 .point = point->point,
                                                 .normal = point->normal,
                                                 .restitution = material.restitution,
                                                 .friction = material.friction,
                                                 .law = material.law};
    }
}

static double kineticOf(const Cluster* cluster)
{
    double sum = 0.0;
    for (int i = 0; i < cluster->bodyCount; ++i) {
        sum += rbGetKineticEnergy(&cluster->impacts[i]);
    }
    return sum;
}

static void accountForCluster(rbEventEngine* engine, const rbEventHost* host,
                              const Cluster* cluster, double before, double change)
{
    double friction = 0.0;
    for (int i = 0; i < cluster->contactCount; ++i) {
        const rbImpactContact* contact = &cluster->contacts[i];
        const rbEventPair* pair = &engine->pairs.data[cluster->pairs[i]];
        if (!(rbLengthSquared(contact->impulse) > 0.0)) {
            continue;
        }
        rbVec3 apart =
            rbSub(cluster->impacts[contact->b].center, cluster->impacts[contact->a].center);
        friction += contact->frictionWork;
        rbEngineEvent event = {.time = cluster->time,
                               .a = pair->a,
                               .b = pair->b,
                               .energyBefore = before,
                               .approachSpeed = cluster->approaches[i]};
        rbEventEngine_NoteImpact(engine, host, event, contact, apart);
    }
    engine->work.friction += friction;
    engine->work.impact += change - friction;
    engine->statistics.collisions += 1;
}

static void takeCluster(rbEventEngine* engine, const rbEventHost* host, const Cluster* cluster)
{
    for (int i = 0; i < cluster->contactCount; ++i) {
        engine->pairs.data[cluster->pairs[i]].lastTime = cluster->time;
    }
    for (int i = 0; i < cluster->bodyCount; ++i) {
        rbEventBody* body = &engine->bodies.data[cluster->bodies[i]];
        if (!body->isDynamic) {
            continue;
        }
        rbMotionState state = cluster->states[i];
        state.velocity = cluster->impacts[i].velocity;
        state.spin = rbInvRotate(state.orientation, cluster->impacts[i].angularVelocity);
        body->hasCollided = true;
        body->isCalm = false;
        rbEventEngine_StartFlight(engine, host, cluster->bodies[i], cluster->time, &state);
    }
    for (int i = 0; i < cluster->bodyCount; ++i) {
        rbArray_Push(engine->moved, cluster->bodies[i]);
    }
}

bool rbEventEngine_CollideCluster(rbEventEngine* engine, const rbEventHost* host, int pairIndex,
                                  double time)
{
    RB_ASSERT(pairIndex >= 0);
    RB_ASSERT(pairIndex < engine->pairs.count);
    if (engine->cluster == NULL) {
        engine->cluster = rbAllocZero(1, sizeof *engine->cluster);
    }
    Cluster* cluster = engine->cluster;
    cluster->bodyCount = 0;
    cluster->contactCount = 0;
    cluster->time = time;
    (void)joinBody(engine, host, cluster, engine->pairs.data[pairIndex].a, RB_VEC3_ZERO);
    for (int next = 0; next < cluster->bodyCount; ++next) {
        const rbEventBody* body = &engine->bodies.data[cluster->bodies[next]];
        for (int i = 0; body->isDynamic && i < body->pairs.count; ++i) {
            joinPair(engine, host, cluster, body->pairs.data[i].pair, next);
        }
        if (next == 0 && !body->isDynamic) {
            joinPair(engine, host, cluster, pairIndex, next);
        }
    }
    bool isApproaching = false;
    for (int i = 0; i < cluster->contactCount; ++i) {
        isApproaching = isApproaching || cluster->approaches[i] > 0.0;
    }
    if (isApproaching) {
        double before = kineticOf(cluster);
        (void)rbResolveImpacts(cluster->impacts, cluster->contacts, cluster->contactCount,
                               RB_ORDER_SIMULTANEOUS);
        accountForCluster(engine, host, cluster, before, kineticOf(cluster) - before);
        takeCluster(engine, host, cluster);
    }
    return isApproaching;
}

void rbEventEngine_FreeCluster(rbEventEngine* engine)
{
    rbFree(engine->cluster, sizeof *engine->cluster);
    engine->cluster = NULL;
}
