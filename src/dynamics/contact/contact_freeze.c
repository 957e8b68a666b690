// Freezing and waking, see contact_freeze.h.
//
// Bodies frozen together form a ring. The partners of a frozen body are kept as a sum of hashes,
// which does not depend on the order of the contacts. A different sum means that a support is gone
// or a new one came.
#include "dynamics/contact/contact_freeze.h"

#include <rattleback/base.h>

#include <string.h>

#define AWAKE (-1)

// Without padding: snapshots hold it as bytes.
typedef struct BodyState {
    int next;         // of the ring of bodies frozen together; AWAKE: it is not frozen
    bool isDisturbed; // passed to Wake since the last check
    bool isCarried;   // touches a fixed body that moves; during Update
    bool unused[2];
    double still;      // s, slow for this long
    int64_t seen;      // the last update with it in an island
    uint64_t partners; // when it froze
    uint64_t sum;      // scratch: current partners
} BodyState;

struct rbContactFreeze {
    double speed;
    double time;
    int64_t updates;
    RB_ARRAY(BodyState) bodies;
    RB_ARRAY(int) frozen; // may hold bodies that woke since, until it is cleaned up
    int frozenCount;
};

rbContactFreeze* rbCreateContactFreeze(double speed, double time)
{
    RB_ASSERT(speed >= 0.0 && time >= 0.0);
    rbContactFreeze* freeze = rbAllocZero(1, sizeof *freeze);
    freeze->speed = speed;
    freeze->time = time;
    return freeze;
}

void rbDestroyContactFreeze(rbContactFreeze* freeze)
{
    if (freeze == NULL) {
        return;
    }
    rbArray_FreeAll(freeze->bodies, freeze->frozen);
    rbFree(freeze, sizeof *freeze);
}

static void addBodies(rbContactFreeze* freeze, int count)
{
    const BodyState awake = {.next = AWAKE};
    rbArray_Fill(freeze->bodies, count, awake);
}

static bool isFrozen(const rbContactFreeze* freeze, int body)
{
    return body >= 0 && freeze->bodies.data[body].next != AWAKE;
}

static void wakeRing(rbContactFreeze* freeze, int body)
{
    while (isFrozen(freeze, body)) {
        BodyState* state = &freeze->bodies.data[body];
        body = state->next;
        state->next = AWAKE;
        state->still = 0.0;
        freeze->frozenCount -= 1;
    }
}

// ------------------------------------------------------------------------------------- edges

// Contacts and links as one list of pairs.
typedef struct Pair {
    int a; // -1: the world
    int b;
    bool isPressing; // links, and contacts that are closed or have an impulse
} Pair;

static int getPairCount(const rbContactNode* node)
{
    return node->set->contactCount + node->linkCount;
}

static Pair getPair(const rbContactNode* node, int index)
{
    const rbContactSet* set = node->set;
    if (index >= set->contactCount) {
        const int* link = node->links[index - set->contactCount];
        return (Pair){.a = link[0], .b = link[1], .isPressing = true};
    }
    const rbContact* contact = &set->contacts[index];
    Pair pair = {.a = contact->bodyA, .b = contact->bodyB};
    for (int i = 0; i < contact->pointCount; ++i) {
        const rbContactPoint* point = &set->points[contact->firstPoint + i];
        pair.isPressing = pair.isPressing || point->isClosed || point->impulse[0] > 0.0;
    }
    return pair;
}

// Whether a body wakes a frozen one that it forms a pair with.
static bool isWaking(const rbContactFreeze* freeze, const rbContactNode* node, int body,
                     bool isPressing)
{
    if (body < 0 || isFrozen(freeze, body)) {
        return false;
    }
    const rbContactBody* own = &node->bodies[body];
    return freeze->bodies.data[body].isDisturbed ||
           (isPressing && (rbContactBody_HasMass(own) || rbContactBody_IsMoving(own)));
}

static uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

// The current partners of every frozen body.
static void sumPartners(rbContactFreeze* freeze, const rbContactNode* node)
{
    for (int i = 0; i < freeze->frozen.count; ++i) {
        freeze->bodies.data[freeze->frozen.data[i]].sum = 0;
    }
    int count = getPairCount(node);
    for (int i = 0; i < count; ++i) {
        Pair pair = getPair(node, i);
        if (pair.isPressing && isFrozen(freeze, pair.a)) {
            freeze->bodies.data[pair.a].sum += scramble((uint64_t)(int64_t)pair.b + 2u);
        }
        if (pair.isPressing && isFrozen(freeze, pair.b)) {
            freeze->bodies.data[pair.b].sum += scramble((uint64_t)(int64_t)pair.a + 2u);
        }
    }
}

// ------------------------------------------------------------------------------------ waking

static void wakePushed(rbContactFreeze* freeze, const rbContactNode* node)
{
    int count = getPairCount(node);
    int before = -1;
    while (freeze->frozenCount > 0 && freeze->frozenCount != before) {
        before = freeze->frozenCount;
        for (int i = 0; i < count; ++i) {
            Pair pair = getPair(node, i);
            if (isFrozen(freeze, pair.a) && isWaking(freeze, node, pair.b, pair.isPressing)) {
                wakeRing(freeze, pair.a);
            } else if (isFrozen(freeze, pair.b) &&
                       isWaking(freeze, node, pair.a, pair.isPressing)) {
                wakeRing(freeze, pair.b);
            }
        }
    }
}

static void wakeChanged(rbContactFreeze* freeze, const rbContactNode* node)
{
    sumPartners(freeze, node);
    for (int i = 0; i < freeze->frozen.count; ++i) {
        int body = freeze->frozen.data[i];
        const BodyState* state = &freeze->bodies.data[body];
        bool isGone = body >= node->bodyCount;
        if (isGone || state->sum != state->partners ||
            rbContactBody_IsMoving(&node->bodies[body])) {
            wakeRing(freeze, body);
        }
    }
}

static void tidy(rbContactFreeze* freeze, const rbContactNode* node)
{
    int count = 0;
    for (int i = 0; i < freeze->frozen.count; ++i) {
        int body = freeze->frozen.data[i];
        bool isStill = isFrozen(freeze, body);
        if (body < node->bodyCount) {
            node->bodies[body].isFrozen = isStill;
        }
        freeze->frozen.data[count] = body;
        count += isStill ? 1 : 0;
    }
    freeze->frozen.count = count;
    RB_ASSERT(count == freeze->frozenCount);
    for (int i = 0; i < freeze->bodies.count; ++i) {
        freeze->bodies.data[i].isDisturbed = false;
    }
}

int rbContactFreeze_WakeTouched(rbContactFreeze* freeze, const rbContactNode* node)
{
    RB_ASSERT(freeze != NULL && node != NULL && node->set != NULL);
    RB_ASSERT(node->linkCount == 0 || node->links != NULL);
    addBodies(freeze, node->bodyCount);
    int listed = freeze->frozen.count;
    if (freeze->frozenCount > 0) {
        wakeChanged(freeze, node);
        wakePushed(freeze, node);
    }
    tidy(freeze, node);
    return listed - freeze->frozen.count;
}

void rbContactFreeze_Wake(rbContactFreeze* freeze, int body)
{
    RB_ASSERT(body >= 0);
    addBodies(freeze, body + 1);
    wakeRing(freeze, body);
    freeze->bodies.data[body].still = 0.0;
    freeze->bodies.data[body].isDisturbed = true;
}

void rbContactFreeze_WakeAll(rbContactFreeze* freeze)
{
    for (int i = 0; i < freeze->frozen.count; ++i) {
        wakeRing(freeze, freeze->frozen.data[i]);
    }
    for (int i = 0; i < freeze->bodies.count; ++i) {
        freeze->bodies.data[i].still = 0.0;
    }
    RB_ASSERT(freeze->frozenCount == 0);
}

// ---------------------------------------------------------------------------------- freezing

// Marks bodies that form a pair with a fixed body that moves.
static void markCarried(rbContactFreeze* freeze, const rbContactNode* node)
{
    int count = getPairCount(node);
    for (int i = 0; i < count; ++i) {
        Pair pair = getPair(node, i);
        for (int side = 0; side < 2; ++side) {
            int body = side == 0 ? pair.a : pair.b;
            int other = side == 0 ? pair.b : pair.a;
            if (body >= 0 && other >= 0 && !rbContactBody_HasMass(&node->bodies[other]) &&
                rbContactBody_IsMoving(&node->bodies[other])) {
                freeze->bodies.data[body].isCarried = true;
            }
        }
    }
}

// How long all awake bodies of an island have been slow; -1: all are frozen.
static double countTime(rbContactFreeze* freeze, const rbContactNode* node,
                        const rbContactIsland* island, double h)
{
    double least = -1.0;
    for (int i = 0; i < island->bodyCount; ++i) {
        int body = island->bodies[i];
        BodyState* state = &freeze->bodies.data[body];
        const rbContactBody* own = &node->bodies[body];
        bool isCarried = state->isCarried || (node->isRestless != NULL && node->isRestless[body]);
        state->isCarried = false;
        if (state->next != AWAKE) {
            continue;
        }
        RB_ASSERT(node->radii[body] >= 0.0);
        double speed = rbLength(own->velocity) + node->radii[body] * rbLength(own->spin);
        bool isSlow = speed < freeze->speed && !isCarried;
        bool isNew = state->seen != freeze->updates - 1;
        state->still = isSlow ? (isNew ? 0.0 : state->still) + h : 0.0;
        state->seen = freeze->updates;
        least = least < 0.0 || state->still < least ? state->still : least;
    }
    return least;
}

static void freezeIsland(rbContactFreeze* freeze, const rbContactNode* node,
                         const rbContactIsland* island)
{
    int first = AWAKE;
    int last = AWAKE;
    for (int i = 0; i < island->bodyCount; ++i) {
        int body = island->bodies[i];
        if (isFrozen(freeze, body)) {
            continue;
        }
        node->bodies[body].velocity = RB_VEC3_ZERO;
        node->bodies[body].spin = RB_VEC3_ZERO;
        node->bodies[body].isFrozen = true;
        // The end of the list points to its beginning: always a ring.
        first = first == AWAKE ? body : first;
        freeze->bodies.data[body].next = first;
        if (last != AWAKE) {
            freeze->bodies.data[last].next = body;
        }
        last = body;
        rbArray_Push(freeze->frozen, body);
        freeze->frozenCount += 1;
    }
    RB_ASSERT(freeze->frozenCount <= freeze->frozen.count);
}

int rbContactFreeze_Update(rbContactFreeze* freeze, const rbContactNode* node, double h)
{
    RB_ASSERT(freeze != NULL && node != NULL && node->graph != NULL);
    RB_ASSERT(h >= 0.0);
    if (!(freeze->speed > 0.0)) {
        return 0;
    }
    addBodies(freeze, node->bodyCount);
    freeze->updates += 1;
    markCarried(freeze, node);
    int listed = freeze->frozen.count;
    for (int i = 0; i < node->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(node->graph, i);
        double still = countTime(freeze, node, &island, h);
        if (island.isGrounded && still >= freeze->time) {
            freezeIsland(freeze, node, &island);
        }
    }
    if (freeze->frozen.count > listed) {
        sumPartners(freeze, node);
        for (int i = listed; i < freeze->frozen.count; ++i) {
            BodyState* state = &freeze->bodies.data[freeze->frozen.data[i]];
            state->partners = state->sum;
        }
    }
    return freeze->frozen.count - listed;
}

bool rbContactFreeze_IsFrozen(const rbContactFreeze* freeze, int body)
{
    RB_ASSERT(body >= 0);
    return body < freeze->bodies.count && isFrozen(freeze, body);
}

int rbContactFreeze_GetCount(const rbContactFreeze* freeze)
{
    return freeze->frozenCount;
}

// ---------------------------------------------------------------------------------- snapshots

void rbContactFreeze_Move(rbContactFreeze* freeze, rbByteStream* stream)
{
    RB_MOVE(stream, freeze->updates);
    RB_MOVE_ARRAY(stream, freeze->bodies);
    RB_MOVE_ARRAY(stream, freeze->frozen);
    int count = freeze->bodies.count;
    rbByteStream_CheckRange(stream, freeze->frozen.data, freeze->frozen.count, 0, count);
    freeze->frozenCount = 0;
    for (int i = 0; i < count; ++i) {
        rbByteStream_CheckRange(stream, &freeze->bodies.data[i].next, 1, AWAKE, count);
        rbByteStream_CheckFlags(stream, &freeze->bodies.data[i].isDisturbed, 2); // and isCarried
        freeze->frozenCount += freeze->bodies.data[i].next != AWAKE;
    }
}
