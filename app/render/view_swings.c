// Bodies are reached from the world joint by joint. The sum of the distances between the joints on
// that path bounds the distance of a body from the pivot; the height of the center of mass, plus
// the rise its speed allows, determines how far the whole can swing.
#include "render/view_swings.h"

#include "base/core/memory.h"
#include "base/math/elementary.h"

#define JOINTS_MAX 2000
#define NONE (-1)

typedef struct Link {
    int bodyA, bodyB; // NONE: the world, or a body that is not dynamic
    rbVec3 point;
    rbVec3 axis;
} Link;

typedef struct Hung {
    int root;     // link that holds it, NONE: not reached
    double path;  // m, from the pivot to where it is held
    rbVec3 entry; // m, where it is held
} Hung;

typedef struct Hanging {
    const rbWorld* world;
    rbVec3 up;
    rbBodyId* ids;
    Hung* hung;
    int bodyCount;
    Link* links;
    bool* isHeldTwice; // by link: what hangs from it is also held elsewhere
    int linkCount;
} Hanging;

static int findBody(const Hanging* hanging, rbBodyId id)
{
    if (RB_IS_NULL(id) || rbBody_GetType(hanging->world, id) != RB_BODY_DYNAMIC) {
        return NONE;
    }
    int guess = (int)id.index1 - 1;
    if (guess < hanging->bodyCount && RB_ID_EQUALS(hanging->ids[guess], id)) {
        return guess;
    }
    for (int i = 0; i < hanging->bodyCount; ++i) {
        if (RB_ID_EQUALS(hanging->ids[i], id)) {
            return i;
        }
    }
    return NONE;
}

static void readLinks(Hanging* hanging, int count)
{
    rbJointId* ids = rbAlloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetJointIds(hanging->world, ids, count);
    for (int i = 0; i < count; ++i) {
        rbJointState state = rbJoint_GetState(hanging->world, ids[i]);
        bool isHolding = rbJoint_GetConditionCount(hanging->world, ids[i]) > 0;
        if (isHolding && rbIsFinite3(state.pointA)) {
            hanging->links[hanging->linkCount++] =
                (Link){findBody(hanging, rbJoint_GetBodyA(hanging->world, ids[i])),
                       findBody(hanging, rbJoint_GetBodyB(hanging->world, ids[i])), state.pointA,
                       state.axis};
        }
    }
    rbFree(ids, (size_t)count * sizeof *ids);
}

// Attaches a body to a link; false if nothing changed.
static bool hang(Hanging* hanging, int body, int root, double path, rbVec3 entry)
{
    Hung* hung = &hanging->hung[body];
    if (hung->root == NONE) {
        *hung = (Hung){root, path, entry};
        return true;
    }
    bool isSame = hung->root == root ||
                  rbDistance(hanging->links[hung->root].point, hanging->links[root].point) == 0.0;
    hanging->isHeldTwice[root] = hanging->isHeldTwice[root] || !isSame;
    hanging->isHeldTwice[hung->root] = hanging->isHeldTwice[hung->root] || !isSame;
    return false;
}

static bool follow(Hanging* hanging, const Link* link, int from, int to)
{
    Hung hung = hanging->hung[from];
    return hung.root != NONE && hang(hanging, to, hung.root,
                                     hung.path + rbDistance(hung.entry, link->point), link->point);
}

static void hangAll(Hanging* hanging)
{
    for (int i = 0; i < hanging->linkCount; ++i) {
        const Link* link = &hanging->links[i];
        if ((link->bodyA == NONE) != (link->bodyB == NONE)) {
            (void)hang(hanging, link->bodyA == NONE ? link->bodyB : link->bodyA, i, 0.0,
                       link->point);
        }
    }
    bool isChanged = true;
    while (isChanged) {
        isChanged = false;
        for (int i = 0; i < hanging->linkCount; ++i) {
            const Link* link = &hanging->links[i];
            if (link->bodyA != NONE && link->bodyB != NONE) {
                isChanged = follow(hanging, link, link->bodyA, link->bodyB) || isChanged;
                isChanged = follow(hanging, link, link->bodyB, link->bodyA) || isChanged;
            }
        }
    }
}

// How far a body reaches beyond where it is held.
static double getReach(const rbWorld* world, rbBodyId id, rbVec3 entry)
{
    rbTransform pose = rbBody_GetState(world, id).transform;
    double reach = 0.0;
    for (int i = 0; i < rbBody_GetShapeCount(world, id); ++i) {
        rbShapeDef def = rbBody_GetShape(world, id, i);
        rbVec3 local = rbInvTransformPoint(rbMulTransforms(pose, def.transform), entry);
        double radius = rbGeometry_GetRadius(rbWorld_GetGeometry(world, def.geometry), local);
        reach = radius > reach ? radius : reach;
    }
    return reach;
}

// Measures what hangs from a link; false if it does not swing.
static bool measure(const Hanging* hanging, int root, rbSwing* swing)
{
    const Link* link = &hanging->links[root];
    double gravity = rbLength(rbWorld_GetGravity(hanging->world));
    double mass = 0.0, stretched = 0.0, height = 0.0;
    rbVec3 arm = RB_VEC3_ZERO;
    *swing = (rbSwing){.pivot = link->point};
    for (int i = 0; i < hanging->bodyCount; ++i) {
        const Hung* hung = &hanging->hung[i];
        if (hung->root != root) {
            continue;
        }
        rbBodyState state = rbBody_GetState(hanging->world, hanging->ids[i]);
        double own = rbBody_GetMass(hanging->world, hanging->ids[i]).mass;
        rbVec3 toCenter = rbSub(state.center, link->point);
        double rise = gravity > 0.0 ? 0.5 * rbLengthSquared(state.linearVelocity) / gravity : 0.0;
        mass += own;
        stretched += own * (hung->path + rbDistance(state.center, hung->entry));
        height += own * (rbDot(toCenter, hanging->up) + rise);
        arm = rbAddScaled(arm, own, toCenter);
        double reach = hung->path + getReach(hanging->world, hanging->ids[i], hung->entry);
        swing->reach = reach > swing->reach ? reach : swing->reach;
    }
    bool isUpright = fabs(rbDot(link->axis, hanging->up)) > 0.9;
    if (!(mass > 0.0) || !(stretched > 0.0) || !(gravity > 0.0) || isUpright ||
        !isfinite(swing->reach)) {
        return false;
    }
    double cosine = -height / stretched;
    swing->angle = rbAcos(cosine > 1.0 ? 1.0 : (cosine < -1.0 ? -1.0 : cosine));
    // a hinge swings across its axis, a ball joint toward its current position
    bool hasAxis = rbLength(link->axis) > 0.5;
    rbVec3 flat = rbAddScaled(arm, -rbDot(arm, hanging->up), hanging->up);
    swing->across = hasAxis ? rbNormalize(rbCross(link->axis, hanging->up))
                    : rbLength(flat) > 1e-9 * mass * swing->reach ? rbNormalize(flat)
                                                                  : RB_VEC3_ZERO;
    return true;
}

int rbFindSwings(const rbWorld* world, rbVec3 up, rbSwing* swings, int capacity)
{
    int jointCount = rbWorld_GetJointCount(world);
    int bodyCount = rbWorld_GetBodyCount(world);
    if (jointCount == 0 || jointCount > JOINTS_MAX) {
        return 0;
    }
    Hanging hanging = {.world = world,
                       .up = up,
                       .ids = rbAlloc((size_t)bodyCount * sizeof *hanging.ids),
                       .hung = rbAlloc((size_t)bodyCount * sizeof *hanging.hung),
                       .bodyCount = bodyCount,
                       .links = rbAlloc((size_t)jointCount * sizeof *hanging.links),
                       .isHeldTwice = rbAllocZero((size_t)jointCount, sizeof(bool))};
    (void)rbWorld_GetBodyIds(world, hanging.ids, bodyCount);
    for (int i = 0; i < bodyCount; ++i) {
        hanging.hung[i] = (Hung){.root = NONE};
    }
    readLinks(&hanging, jointCount);
    hangAll(&hanging);
    int count = 0;
    for (int i = 0; i < hanging.linkCount && count < capacity; ++i) {
        if (!hanging.isHeldTwice[i] && measure(&hanging, i, &swings[count])) {
            ++count;
        }
    }
    rbFree(hanging.ids, (size_t)bodyCount * sizeof *hanging.ids);
    rbFree(hanging.hung, (size_t)bodyCount * sizeof *hanging.hung);
    rbFree(hanging.links, (size_t)jointCount * sizeof *hanging.links);
    rbFree(hanging.isHeldTwice, (size_t)jointCount * sizeof(bool));
    return count;
}
