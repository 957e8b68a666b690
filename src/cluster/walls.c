#include "cluster/walls.h"

#include "base/core/status.h"

#include <math.h>
#include <stdlib.h>

#define LEAF_FACETS 4

void rbWalls_Free(rbWalls* walls)
{
    rbArray_FreeAll(walls->bodies, walls->facets, walls->owners, walls->nodes, walls->found);
    *walls = (rbWalls){0};
}

// -------------------------------------------------------------------------------------------- tree

static rbBounds unite(rbBounds a, rbBounds b)
{
    return (rbBounds){rbMin3(a.lower, b.lower), rbMax3(a.upper, b.upper)};
}

typedef struct Place {
    double at;
    int facet;
} Place;

static int comparePlaces(const void* a, const void* b)
{
    const Place* x = a;
    const Place* y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return (x->facet > y->facet) - (x->facet < y->facet);
}

// Halves facets at the median along the longest axis; puts them in the order of the leaves.
static int buildTree(rbWalls* walls, int first, int count)
{
    rbFacet* facets = walls->facets.data + first;
    rbBounds bounds = rbFacet_GetBounds(&facets[0]);
    for (int i = 1; i < count; ++i) {
        bounds = unite(bounds, rbFacet_GetBounds(&facets[i]));
    }
    int index = walls->nodes.count;
    rbArray_Push(walls->nodes, ((rbWallNode){bounds, -1, first, count}));
    if (count <= LEAF_FACETS) {
        return index;
    }
    rbVec3 size = rbSub(bounds.upper, bounds.lower);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    Place* places = rbAlloc((size_t)count * sizeof(Place));
    rbFacet* ordered = rbAlloc((size_t)count * sizeof(rbFacet));
    for (int i = 0; i < count; ++i) {
        rbBounds b = rbFacet_GetBounds(&facets[i]);
        places[i] = (Place){(&b.lower.x)[axis] + (&b.upper.x)[axis], i};
    }
    qsort(places, (size_t)count, sizeof(Place), comparePlaces);
    for (int i = 0; i < count; ++i) {
        ordered[i] = facets[places[i].facet];
    }
    rbCopyElements(facets, ordered, count, sizeof(rbFacet));
    rbFree(places, (size_t)count * sizeof(Place));
    rbFree(ordered, (size_t)count * sizeof(rbFacet));
    int left = buildTree(walls, first, count / 2);
    int right = buildTree(walls, first + count / 2, count - count / 2);
    walls->nodes.data[index].left = left;
    walls->nodes.data[index].right = right;
    return index;
}

// ---------------------------------------------------------------------------------------- creation

static void finishBody(rbWalls* walls, rbWallBody body)
{
    body.facetCount = walls->facets.count - body.firstFacet;
    bool isBounded = body.facetCount > LEAF_FACETS;
    for (int i = 0; i < body.facetCount; ++i) {
        rbBounds bounds = rbFacet_GetBounds(&walls->facets.data[body.firstFacet + i]);
        rbVec3 far = rbMax3(rbAbs3(bounds.lower), rbAbs3(bounds.upper));
        body.reach = fmax(body.reach, rbLength(far));
        isBounded = isBounded && rbIsFinite3(far);
    }
    body.root = isBounded ? buildTree(walls, body.firstFacet, body.facetCount) : -1;
    for (int i = 0; i < body.facetCount; ++i) {
        rbArray_Push(walls->owners, walls->bodies.count);
    }
    rbArray_Push(walls->bodies, body);
}

void rbWalls_AddHalfSpace(rbWalls* walls, rbVec3 normal, double offset, int material)
{
    rbTransform identity = {RB_VEC3_ZERO, {1.0, 0.0, 0.0, 0.0}};
    rbWallBody body = {.now = identity, .next = identity, .firstFacet = walls->facets.count};
    rbFacet facet = {.type = RB_FACET_PLANE, .material = material, .pose = identity};
    facet.corners[0] = normal;
    facet.offset = offset;
    rbArray_Push(walls->facets, facet);
    finishBody(walls, body);
}

rbStatus rbWalls_AddBody(rbWalls* walls, const rbWorld* world, rbBodyId id, const int* materials,
                         rbError* error)
{
    rbWallBody body = {.world = world,
                       .id = id,
                       .isMoving = rbBody_GetType(world, id) == RB_BODY_KINEMATIC,
                       .firstFacet = walls->facets.count};
    for (int i = 0; i < rbBody_GetShapeCount(world, id); ++i) {
        rbShapeDef shape = rbBody_GetShape(world, id, i);
        int first = walls->facets.count;
        RB_TRY(rbFacets_Add(&walls->facets, rbWorld_GetGeometry(world, shape.geometry),
                            shape.transform, materials[i], error));
        for (int k = first; k < walls->facets.count; ++k) {
            walls->facets.data[k].surfaceVelocity = shape.surfaceVelocity;
        }
    }
    rbBodyState state = rbBody_GetState(world, id);
    body.now = state.transform;
    body.next = state.transform;
    finishBody(walls, body);
    RB_REFUSE_IF(body.isMoving && !isfinite(walls->bodies.data[walls->bodies.count - 1].reach) &&
                     rbLengthSquared(state.angularVelocity) > 0.0,
                 RB_STATUS_UNSUPPORTED, error,
                 "body \"%.60s\" is a plane that rotates; use a box instead",
                 rbBody_GetName(world, id));
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------------ motion

// m, by which a point of a body has moved at most since a pose: no more than the chord of the
// rotation, which is at most twice the difference of the quaternions.
static double measureTravel(const rbWallBody* body, rbTransform before)
{
    rbQuat a = before.q;
    rbQuat b = body->now.q;
    double sign = rbDotQuat(a, b) < 0.0 ? -1.0 : 1.0;
    rbQuat d = {b.w - sign * a.w, b.x - sign * a.x, b.y - sign * a.y, b.z - sign * a.z};
    double turn = 2.0 * sqrt(rbDotQuat(d, d));
    double reach = turn > 0.0 ? body->reach * turn : 0.0;
    return rbDistance(body->now.p, before.p) + reach;
}

void rbWalls_Move(rbWalls* walls, double time, double step)
{
    double travel = 0.0;
    for (int i = 0; i < walls->bodies.count; ++i) {
        rbWallBody* body = &walls->bodies.data[i];
        if (body->isMoving) {
            rbBodyState state = rbBody_GetStateAt(body->world, body->id, time);
            rbTransform before = body->now;
            body->now = state.transform;
            body->spin = state.angularVelocity;
            body->next = rbBody_GetStateAt(body->world, body->id, time + step).transform;
            travel = fmax(travel, measureTravel(body, before));
        }
    }
    walls->travel += travel;
}

// ----------------------------------------------------------------------------------------- queries

static bool isNear(const rbBounds* bounds, rbVec3 point, double distance)
{
    rbVec3 inside = rbMax3(rbMin3(point, bounds->upper), bounds->lower);
    return rbLengthSquared(rbSub(point, inside)) <= distance * distance;
}

static void findInTree(rbWalls* walls, int index, rbVec3 point, double distance)
{
    const rbWallNode* node = &walls->nodes.data[index];
    if (!isNear(&node->bounds, point, distance)) {
        return;
    }
    if (node->left >= 0) {
        findInTree(walls, node->left, point, distance);
        findInTree(walls, node->right, point, distance);
        return;
    }
    for (int k = node->right; k < node->right + node->count; ++k) {
        if (rbFacet_FindClosest(&walls->facets.data[k], point).distance < distance) {
            rbArray_Push(walls->found, k);
        }
    }
}

void rbWalls_FindNear(rbWalls* walls, rbVec3 point, double distance)
{
    walls->found.count = 0;
    for (int i = 0; i < walls->bodies.count; ++i) {
        const rbWallBody* body = &walls->bodies.data[i];
        rbVec3 local = rbInvTransformPoint(body->now, point);
        if (body->root >= 0) {
            findInTree(walls, body->root, local, distance);
            continue;
        }
        for (int k = body->firstFacet; k < body->firstFacet + body->facetCount; ++k) {
            if (rbFacet_FindClosest(&walls->facets.data[k], local).distance < distance) {
                rbArray_Push(walls->found, k);
            }
        }
    }
}

rbClosest rbWalls_FindClosest(const rbWalls* walls, int facet, rbVec3 point)
{
    const rbTransform* pose = &walls->bodies.data[walls->owners.data[facet]].now;
    rbClosest closest =
        rbFacet_FindClosest(&walls->facets.data[facet], rbInvTransformPoint(*pose, point));
    closest.point = rbTransformPoint(*pose, closest.point);
    closest.normal = rbRotate(pose->q, closest.normal);
    return closest;
}

rbVec3 rbWalls_GetVelocity(const rbWalls* walls, int facet, const rbClosest* at, double step,
                           rbVec3* spin)
{
    const rbWallBody* body = &walls->bodies.data[walls->owners.data[facet]];
    rbVec3 velocity = RB_VEC3_ZERO;
    *spin = body->spin;
    if (body->isMoving) {
        rbVec3 local = rbInvTransformPoint(body->now, at->point);
        velocity = rbScale(1.0 / step, rbSub(rbTransformPoint(body->next, local), at->point));
    }
    rbVec3 belt = rbRotate(body->now.q, walls->facets.data[facet].surfaceVelocity);
    belt = rbAddScaled(belt, -rbDot(belt, at->normal), at->normal);
    return rbAdd(velocity, belt);
}
