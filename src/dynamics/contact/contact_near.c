// Bodies and which of them are near: registering shapes, fat boxes in a broad phase, and a table of
// pairs (B-53 to B-56); and the snapshot of all that later results depend on.
//
// A pair is near while the fat boxes of its bodies overlap; all kinds of broad phase return the
// same pairs. Half spaces have no box: they are compared with the boxes of all bodies that get a
// new one.
#include "base/core/byte_stream.h"
#include "base/core/counting_sort.h"
#include "base/core/hash.h"
#include "base/math/quaternion.h"
#include "collision/broadphase/broad_phase.h"
#include "collision/distance/tree_pair.h"
#include "collision/geometry/shape_ops.h"
#include "dynamics/contact/contact_solver.h"
#include "dynamics/contact/contact_state.h"

#include <math.h>

// Boxes are fatter than necessary by this fraction of the smallest width of the shape, ...
#define MARGIN_OF_WIDTH 0.03
// ... and by at least this fraction of its size.
#define MARGIN_OF_SIZE 0.01

// A box leaves room for this many times the reach besides the reach itself, so that fast bodies do
// not get a new box in every step.
#define REACH_MARGIN 2.0
// A box with more than this many times the room it would get now is rebuilt: a body that has come
// to rest loses the box of its flight.
#define ROOM_EXCESS 4.0
// With small steps a box reaches ahead by this many steps, that of every other body by one more:
// those that fall together do not all get new ones in the same step. Besides its reach it has room
// for this part of it: velocities change.
#define STRETCH_STEPS 1
#define REACH_PART 0.25
// Boxes are moved together if more than one in this many does.
#define MANY_PART 8
// Of the size of coordinates: rounding of a half space against a box.
#define PLANE_ROUNDING 1e-12
// Rounds odometers up.
#define TRAVEL_EXCESS (1.0 + 1e-12)
// After there was no room for all pairs, they are queried again below this fraction of the limit.
#define RETRY_BELOW 0.9
// Bodies, and changed ones, of a block at least.
#define BODIES_LEAST 256
#define CHANGED_LEAST 32
// Partners of a changed body, mostly fewer: lists have room for them from the start, and for so
// many bodies more, since one alone can have many.
#define PARTNERS_ROOM 16

// --------------------------------------------------------------------------- creation, settings

// Scratch memory for all workers of this thread.
static void reserveScratch(rbContactPairs* pairs)
{
    int manifoldCount = pairs->search.hasManyfolds ? RB_PAIR_MANIFOLDS_MAX : 1;
    while (pairs->search.scratches.count < rbGetWorkerCount()) {
        rbPairScratch scratch = {.memory = rbAlloc(rbGetSeparationScratchSize())};
        rbArray_Push(pairs->search.scratches, scratch);
    }
    for (int i = 0; i < pairs->search.scratches.count; ++i) {
        rbArray_Reserve(pairs->search.scratches.data[i].manifolds, manifoldCount);
    }
}

rbContactPairs* rbCreateContactPairs(const rbContactSettings* settings)
{
    RB_ASSERT(settings != NULL);
    RB_ASSERT(settings->shell >= 0.0 && settings->tolerance >= 0.0);
    rbContactPairs* pairs = rbAllocZero(1, sizeof *pairs);
    pairs->settings = rbAimContactSettings(settings);
    // the shell is as exact as a gap must be: points within it must not drop out of the velocity
    // stage because they are slightly farther away than the tolerance
    pairs->closedGap = fmax(pairs->settings.tolerance, settings->shell);
    pairs->isCarrying = settings->substeps > 0;
    bool isAuto = settings->broadPhase == RB_BROAD_AUTO;
    pairs->broad = rbCreateBroadPhase(isAuto ? RB_BROAD_TREE : settings->broadPhase, 0.0);
    reserveScratch(pairs);
    pairs->kept = -1;
    pairs->report.bodyA = -1;
    pairs->report.bodyB = -1;
    return pairs;
}

static void freeShape(rbNearBody* body)
{
    size_t count = (size_t)body->shape.materialCount;
    rbFree((void*)body->shape.materials, count * sizeof *body->shape.materials);
    rbFree((void*)body->shape.belts, count * sizeof *body->shape.belts);
    body->shape = (rbContactShape){.geometry = NULL};
}

#define MATERIAL_PAIRS ((size_t)RB_MATERIAL_KINDS_MAX * RB_MATERIAL_KINDS_MAX)

#define FREE_ARRAY(type, name) rbArray_Free(frame->name);

void rbDestroyContactPairs(rbContactPairs* pairs)
{
    if (pairs == NULL) {
        return;
    }
    for (int i = 0; i < pairs->bodies.count; ++i) {
        freeShape(&pairs->bodies.data[i]);
    }
    for (int i = 0; i < pairs->memories.count; ++i) {
        rbDestroyFront(pairs->memories.data[i].cache.front);
    }
    for (int i = 0; i < pairs->search.fronts.count; ++i) {
        rbDestroyFront(pairs->search.fronts.data[i]);
    }
    for (int i = 0; i < RB_CONTACT_FRAMES; ++i) {
        rbContactFrame* frame = &pairs->frames[i];
        RB_FRAME_ARRAYS(FREE_ARRAY)
    }
    rbArray_FreeAll(pairs->bodies, pairs->hots, pairs->spans, pairs->unbounded, pairs->pairs);
    rbArray_FreeAll(pairs->memories, pairs->freeMemories, pairs->search.changed);
    rbArray_FreeAll(pairs->order.list, pairs->order.byB, pairs->order.starts);
    for (int i = 0; i < pairs->search.scratches.count; ++i) {
        rbArray_Free(pairs->search.scratches.data[i].manifolds);
        rbIdList_Free(&pairs->search.scratches.data[i].ids);
        rbFree(pairs->search.scratches.data[i].memory, rbGetSeparationScratchSize());
    }
    for (int i = 0; i < pairs->search.blocks.count; ++i) {
        rbFoundBlock* block = &pairs->search.blocks.data[i];
        rbArray_FreeAll(block->contacts, block->pointCounts, block->sources, block->points);
    }
    rbArray_FreeAll(pairs->search.scratches, pairs->search.blocks, pairs->search.counts);
    rbArray_Free(pairs->search.fronts); // NOLINT(bugprone-sizeof-expression)
    rbArray_FreeAll(pairs->search.isChanged, pairs->search.partnerCounts);
    rbArray_FreeAll(pairs->ahead.bodies, pairs->ahead.contacts, pairs->ahead.points,
                    pairs->ahead.heads);
    rbIdList_Free(&pairs->search.partners);
    for (int i = 0; i < RB_BLOCKS_MAX; ++i) {
        rbIdList_Free(&pairs->search.partnerLists[i]);
    }
    rbPairTable_Free(&pairs->table);
    rbPairTable_Free(&pairs->filter.exclusions);
    rbDestroyBroadPhase(pairs->broad);
    rbFree(pairs->filter.materials, MATERIAL_PAIRS * sizeof *pairs->filter.materials);
    rbFree(pairs, sizeof *pairs);
}

void rbContactPairs_SetMaterialPair(rbContactPairs* pairs, int kindA, int kindB,
                                    const rbMaterialPair* pair)
{
    RB_ASSERT(kindA >= 0 && kindA < RB_MATERIAL_KINDS_MAX);
    RB_ASSERT(kindB >= 0 && kindB < RB_MATERIAL_KINDS_MAX);
    const rbMaterialPair none = {.restitution = -1.0};
    if (pairs->filter.materials == NULL) {
        pairs->filter.materials = rbAlloc(MATERIAL_PAIRS * sizeof *pairs->filter.materials);
        for (size_t i = 0; i < MATERIAL_PAIRS; ++i) {
            pairs->filter.materials[i] = none;
        }
    }
    rbMaterialPair told = pair != NULL ? *pair : none;
    pairs->filter.materials[kindA * RB_MATERIAL_KINDS_MAX + kindB] = told;
    pairs->filter.materials[kindB * RB_MATERIAL_KINDS_MAX + kindA] = told;
}

rbPairsReport rbContactPairs_GetReport(const rbContactPairs* pairs)
{
    rbPairsReport report = pairs->report;
    report.pairCount = pairs->table.count;
    return report;
}

// -------------------------------------------------------------------------------------- pairs

static int getPairLimit(const rbContactPairs* pairs)
{
    double limit = (double)RB_PAIRS_PER_BODY * pairs->bodies.count + RB_PAIRS_SPARE;
    return limit < 1e8 ? (int)limit : 100000000;
}

// The memory of a pair of bodies.
static int takeMemory(rbContactPairs* pairs, const rbNearBody* a, const rbNearBody* b)
{
    if (a->isBall && b->isBall) {
        return -1;
    }
    int memory = pairs->memories.count;
    if (pairs->freeMemories.count > 0) {
        memory = pairs->freeMemories.data[--pairs->freeMemories.count];
    } else {
        rbArray_Reserve(pairs->memories, memory + 1);
        pairs->memories.count += 1;
    }
    pairs->memories.data[memory] = (rbPairMemory){.pose = RB_TRANSFORM_IDENTITY};
    if (a->isMesh && b->isMesh) {
        bool isUsed = pairs->search.fronts.count > 0;
        rbFront* front = isUsed ? pairs->search.fronts.data[--pairs->search.fronts.count]
                                : rbCreateFront(RB_FRONT_CAPACITY);
        rbFront_Clear(front);
        pairs->memories.data[memory].cache.front = front;
    }
    return memory;
}

static int addPair(rbContactPairs* pairs, int a, int b)
{
    RB_ASSERT(a >= 0 && a < pairs->bodies.count && b >= 0 && b < pairs->bodies.count && a != b);
    rbPairTable_Reserve(&pairs->table, pairs->bodies.count);
    int slot = rbPairTable_Add(&pairs->table, a, b);
    rbArray_Reserve(pairs->pairs, slot + 1);
    rbArray_Reserve(pairs->spans, slot + 1);
    const rbNearBody* bodies = pairs->bodies.data;
    int memory = takeMemory(pairs, &bodies[a], &bodies[b]);
    pairs->pairs.data[slot] = (rbContactCandidate){.memory = memory};
    pairs->spans.data[slot] = (rbPairSpans){0};
    pairs->order.isOld = true;
    return slot;
}

static void removePair(rbContactPairs* pairs, int slot)
{
    RB_ASSERT(slot >= 0 && slot < pairs->table.end);
    RB_ASSERT(pairs->table.entries[slot].ids[0] >= 0);
    rbPairMemory* memory = rbContactPairs_GetMemory(pairs, slot);
    if (memory != NULL) {
        if (memory->cache.front != NULL) {
            // NOLINTNEXTLINE(bugprone-sizeof-expression)
            rbArray_Push(pairs->search.fronts, memory->cache.front);
            memory->cache.front = NULL;
        }
        rbArray_Push(pairs->freeMemories, pairs->pairs.data[slot].memory);
    }
    rbPairTable_Remove(&pairs->table, slot);
    pairs->order.isOld = true;
}

// The first pair of a body in the table; -1: it has none.
static int32_t firstLink(const rbContactPairs* pairs, int body)
{
    return body < pairs->table.idCapacity ? rbPairTable_First(&pairs->table, body) : -1;
}

// Lists the pairs by their bodies: those of an a by ascending b.
static void sortPairs(rbContactPairs* pairs)
{
    rbPairOrders* order = &pairs->order;
    if (!order->isOld) {
        return;
    }
    order->list.count = 0;
    for (int slot = 0; slot < pairs->table.end; ++slot) {
        const int32_t* ids = pairs->table.entries[slot].ids;
        if (ids[0] >= 0) {
            rbArray_Push(order->list, ((rbPairOrder){slot, ids[0], ids[1]}));
        }
    }
    RB_ASSERT(order->list.count == pairs->table.count);
    rbArray_Reserve(order->byB, order->list.count);
    rbArray_SetCount(order->starts, pairs->bodies.count + 1);
    int count = order->list.count, *starts = order->starts.data;
    RB_SORT_BY(b, order->list.data, order->byB.data, count, starts, pairs->bodies.count);
    RB_SORT_BY(a, order->byB.data, order->list.data, count, starts, pairs->bodies.count);
    order->isOld = false;
}

// A half space against a box.
static bool isBoxBelow(const rbNearBody* plane, const rbBounds* box)
{
    if (rbGeometry_GetType(plane->shape.geometry) != RB_SHAPE_PLANE) {
        return true; // a compound with a half space in it
    }
    rbPlaneData data = rbGeometry_GetData(plane->shape.geometry).plane;
    rbVec3 normal = rbRotate(plane->world.q, data.normal);
    rbVec3 center = rbScale(0.5, rbAdd(box->lower, box->upper));
    rbVec3 half = rbScale(0.5, rbSub(box->upper, box->lower));
    double least = rbDot(normal, rbSub(center, plane->world.p)) - rbDot(rbAbs3(normal), half);
    double size = fabs(least) + rbLength(half) + rbLength(center) + rbLength(plane->world.p);
    return least <= data.offset + plane->box.room + PLANE_ROUNDING * size;
}

static bool areNear(const rbNearBody* p, const rbNearBody* q)
{
    if (p->isBounded && q->isBounded) {
        return rbDoBoxesOverlap(&p->box.bounds, &q->box.bounds);
    }
    return p->isBounded ? isBoxBelow(q, &p->box.bounds)
                        : q->isBounded && isBoxBelow(p, &q->box.bounds);
}

static bool isFiltered(const rbContactPairs* pairs, int a, int b)
{
    return pairs->filter.function != NULL &&
           !pairs->filter.function(pairs->filter.context, a < b ? a : b, a < b ? b : a);
}

void rbContactPairs_SetFilter(rbContactPairs* pairs, rbPairFilterFn* filter, void* context)
{
    pairs->filter.function = filter;
    pairs->filter.context = context;
    sortPairs(pairs);
    for (int i = 0; i < pairs->order.list.count; ++i) {
        rbPairOrder item = pairs->order.list.data[i];
        if (isFiltered(pairs, item.a, item.b)) {
            removePair(pairs, item.slot);
        }
    }
    for (int i = 0; i < pairs->bodies.count; ++i) {
        pairs->bodies.data[i].isStale = pairs->bodies.data[i].isPlaced;
    }
}

// Whether two bodies are a pair that the table does not have yet.
static bool isNew(const rbContactPairs* pairs, int a, int b)
{
    const rbContactShape* p = &pairs->bodies.data[a].shape;
    const rbContactShape* q = &pairs->bodies.data[b].shape;
    const rbPairTable* excluded = &pairs->filter.exclusions;
    return (p->isMoved || q->isMoved) && (p->groups & q->mask) != 0 && (q->groups & p->mask) != 0 &&
           (excluded->count == 0 || rbPairTable_Find(excluded, a, b) < 0) &&
           rbPairTable_Find(&pairs->table, a, b) < 0;
}

// -------------------------------------------------------------------------------------- shapes

// Room for a body of this number.
static rbNearBody* reachBody(rbContactPairs* pairs, int body)
{
    RB_ASSERT(body >= 0);
    int old = pairs->bodies.count;
    if (body >= old) {
        rbArray_Reserve(pairs->bodies, body + 1);
        rbArray_Reserve(pairs->hots, body + 1);
        memset(&pairs->bodies.data[old], 0, (size_t)(body + 1 - old) * sizeof(rbNearBody));
        memset(&pairs->hots.data[old], 0, (size_t)(body + 1 - old) * sizeof(rbNearHot));
        pairs->bodies.count = body + 1;
        pairs->hots.count = body + 1;
        pairs->order.isOld = true; // its arrays have the length of the body array
    }
    return &pairs->bodies.data[body];
}

static bool isUnbounded(const rbNearBody* body)
{
    return body->shape.geometry != NULL && !body->isBounded;
}

static void measureShape(rbNearBody* body, rbNearHot* hot)
{
    const rbGeometry* geometry = body->shape.geometry;
    rbShapeFamily family = rbGeometry_GetFamily(geometry);
    body->hash = rbGeometry_GetHash(geometry);
    body->isBounded = rbGeometry_IsBounded(geometry);
    body->isMesh = family == RB_FAMILY_TRIANGLES;
    body->isManyfold = body->isMesh || family == RB_FAMILY_COMPOUND;
    body->isBall = family == RB_FAMILY_BALL;
    body->turnRadius = 0.0;
    body->margin = 0.0;
    hot->radius = INFINITY;
    if (body->isBounded) {
        // a ball that rotates about its center stays in place
        rbVec3 center = rbInvTransformPoint(body->shape.transform, RB_VEC3_ZERO);
        body->turnRadius = body->isBall ? rbLength(body->shape.transform.p)
                                        : rbGeometry_GetRadius(geometry, center);
        hot->radius = rbGeometry_GetRadius(geometry, RB_VEC3_ZERO);
        rbBounds bounds = rbGeometry_GetBounds(geometry, RB_TRANSFORM_IDENTITY);
        rbVec3 edges = rbSub(bounds.upper, bounds.lower);
        double width = fmin(edges.x, fmin(edges.y, edges.z));
        body->margin = fmax(MARGIN_OF_WIDTH * width, MARGIN_OF_SIZE * hot->radius);
    }
    RB_ASSERT(body->turnRadius >= 0.0 && body->margin >= 0.0 && hot->radius >= 0.0);
}

static void copyShape(rbNearBody* body, const rbContactShape* shape)
{
    int count = shape->materialCount;
    RB_ASSERT(shape->geometry != NULL && shape->materials != NULL && count >= 1);
    freeShape(body);
    rbMaterial* materials = rbAlloc((size_t)count * sizeof *materials);
    rbVec3* belts = shape->belts != NULL ? rbAlloc((size_t)count * sizeof *belts) : NULL;
    rbCopyElements(materials, shape->materials, count, sizeof *materials);
    if (belts != NULL) {
        rbCopyElements(belts, shape->belts, count, sizeof *belts);
    }
    body->shape = *shape;
    body->shape.materials = materials;
    body->shape.belts = belts;
}

// Other belts: what sticks moves otherwise, and the memory of its contacts would pull it back.
static bool isSameBelt(const rbContactShape* own, const rbContactShape* shape)
{
    if (own->belts == NULL || shape->belts == NULL) {
        return own->belts == shape->belts;
    }
    return own->materialCount == shape->materialCount &&
           memcmp(own->belts, shape->belts, (size_t)shape->materialCount * sizeof *own->belts) == 0;
}

static bool isSameShape(const rbNearBody* body, const rbContactShape* shape)
{
    const rbContactShape* own = &body->shape;
    return own->geometry == shape->geometry && own->isMoved == shape->isMoved &&
           own->groups == shape->groups && own->mask == shape->mask &&
           body->hash == rbGeometry_GetHash(shape->geometry) && isSameBelt(own, shape) &&
           rbIsSameTransform(own->transform, shape->transform);
}

void rbContactPairs_SetShape(rbContactPairs* pairs, int body, const rbContactShape* shape)
{
    rbNearBody* near = reachBody(pairs, body);
    if (shape != NULL && near->shape.geometry != NULL && isSameShape(near, shape)) {
        copyShape(near, shape); // registered again: its contact memory stays
        return;
    }
    for (int32_t link = firstLink(pairs, body); link >= 0; link = firstLink(pairs, body)) {
        removePair(pairs, link >> 1);
    }
    if (rbBroadPhase_Has(pairs->broad, body)) {
        rbBroadPhase_Remove(pairs->broad, body);
    }
    near->isPlaced = false;
    bool isListed = isUnbounded(near);
    if (shape == NULL) {
        freeShape(near);
    } else {
        copyShape(near, shape);
        measureShape(near, &pairs->hots.data[body]);
        if (near->isManyfold) {
            pairs->search.hasManyfolds = true;
            reserveScratch(pairs);
        }
    }
    if (!isListed && !isUnbounded(near)) {
        return;
    }
    pairs->unbounded.count = 0;
    for (int i = 0; i < pairs->bodies.count; ++i) {
        if (isUnbounded(&pairs->bodies.data[i])) {
            rbArray_Push(pairs->unbounded, i);
        }
    }
}

void rbContactPairs_Exclude(rbContactPairs* pairs, int a, int b)
{
    RB_ASSERT(a != b);
    (void)reachBody(pairs, a > b ? a : b);
    rbPairTable_Reserve(&pairs->filter.exclusions, pairs->bodies.count);
    (void)rbPairTable_Add(&pairs->filter.exclusions, a, b);
    int slot = rbPairTable_Find(&pairs->table, a, b);
    if (slot >= 0) {
        removePair(pairs, slot);
    }
}

void rbContactPairs_ClearExclusions(rbContactPairs* pairs)
{
    for (int i = 0; i < pairs->filter.exclusions.end; ++i) {
        rbNearBody* body = &pairs->bodies.data[pairs->filter.exclusions.entries[i].ids[0]];
        body->isStale = body->isPlaced;
    }
    rbPairTable_Clear(&pairs->filter.exclusions);
}

// -------------------------------------------------------------------------------------- boxes

// Whether the box of a body is longer along its way.
static bool isStretched(const rbContactPairs* pairs, const rbNearBody* body)
{
    return pairs->isCarrying && body->isBounded;
}

static double getWantedRoom(const rbContactPairs* pairs, int index)
{
    const rbNearBody* body = &pairs->bodies.data[index];
    double reach = pairs->hots.data[index].reach;
    double part = isStretched(pairs, body) ? REACH_PART : REACH_MARGIN;
    double margin = body->shape.isMoved ? fmax(body->margin, part * reach) : 0.0;
    return pairs->closedGap + reach + margin;
}

void rbNearBody_Pose(rbNearBody* body)
{
    rbTransform pose = {body->position, body->orientation};
    body->world = rbMulTransforms(pose, body->shape.transform);
    body->rotation = rbMatFromQuat(pose.q);
    body->worldRotation = rbMatFromQuat(body->world.q);
}

static double boundTurn(const rbNearBody* body, rbQuat orientation)
{
    return rbBoundTurn(body->turnRadius, orientation, body->orientation);
}

// Records the pose of a body and how far it has moved.
static void follow(rbNearBody* body, rbNearHot* hot, const rbContactPlace* place)
{
    hot->reach = place->reach;
    body->way = place->way;
    rbTransform was = {body->position, body->orientation};
    rbTransform now = {place->pose.position, place->pose.orientation};
    body->isJumping = false;
    if (body->isPlaced && rbIsSameTransform(was, now)) {
        return;
    }
    if (!body->isBounded || !body->isPlaced) {
        body->isJumping = true;
    } else {
        double turn = boundTurn(body, now.q);
        hot->travel += TRAVEL_EXCESS * (rbDistance(now.p, was.p) + turn);
    }
    body->position = now.p;
    body->orientation = now.q;
    rbNearBody_Pose(body);
    hot->poseStamp += 1;
    hot->center = body->world.p;
}

// The room that a box must have for a travel of the body, m.
static double getNeededRoom(const rbContactPairs* pairs, int index, double travel)
{
    const rbNearBody* body = &pairs->bodies.data[index];
    double moved = pairs->hots.data[index].travel - body->box.travel;
    if (isStretched(pairs, body)) {
        // a body is as far from its box as from the way that this covers
        rbVec3 stretch = body->box.stretch;
        rbVec3 way = rbSub(body->position, body->box.pose.p);
        double square = rbLengthSquared(stretch);
        double part = square > 0.0 ? fmin(fmax(rbDot(way, stretch) / square, 0.0), 1.0) : 0.0;
        moved = rbLength(rbAddScaled(way, -part, stretch)) + boundTurn(body, body->box.pose.q);
        moved *= TRAVEL_EXCESS;
    }
    return pairs->closedGap + travel + moved;
}

static rbVec3 getWantedStretch(const rbContactPairs* pairs, int index)
{
    const rbNearBody* body = &pairs->bodies.data[index];
    int steps = STRETCH_STEPS + index % 2;
    return isStretched(pairs, body) ? rbScale(steps, body->way) : RB_VEC3_ZERO;
}

// Does the box of a body still contain it, without too much room?
static bool isBoxGood(const rbContactPairs* pairs, int index)
{
    const rbNearBody* body = &pairs->bodies.data[index];
    if (!body->isPlaced || body->isStale || body->isJumping) {
        return false;
    }
    double room = body->box.room + rbLength(body->box.stretch);
    double wanted = getWantedRoom(pairs, index) + rbLength(getWantedStretch(pairs, index));
    return getNeededRoom(pairs, index, pairs->hots.data[index].reach) <= body->box.room &&
           room <= ROOM_EXCESS * wanted;
}

static void makeBox(const rbContactPairs* pairs, int index)
{
    rbNearBody* body = &pairs->bodies.data[index];
    body->box.room = getWantedRoom(pairs, index);
    body->box.travel = pairs->hots.data[index].travel;
    body->box.pose = (rbTransform){body->position, body->orientation};
    body->box.stretch = getWantedStretch(pairs, index);
    RB_ASSERT(body->box.room >= pairs->closedGap && body->box.travel >= 0.0);
    if (body->isBounded) {
        rbBounds box = rbGeometry_GetBounds(body->shape.geometry, body->world);
        rbVec3 room = rbMakeVec3(body->box.room, body->box.room, body->box.room);
        rbVec3 ahead = body->box.stretch;
        box.lower = rbAdd(rbSub(box.lower, room), rbMin3(ahead, RB_VEC3_ZERO));
        box.upper = rbAdd(rbAdd(box.upper, room), rbMax3(ahead, RB_VEC3_ZERO));
        body->box.bounds = box;
        RB_ASSERT(rbIsFinite3(box.lower) && rbIsFinite3(box.upper));
    }
}

// Puts the new box of a body into the broad phase; isDeferred: one of many, a Refit follows.
static void putBox(rbContactPairs* pairs, int index, bool isDeferred)
{
    rbNearBody* body = &pairs->bodies.data[index];
    body->isPlaced = true;
    body->isStale = false;
    if (body->isBounded &&
        !(isDeferred && rbBroadPhase_Defer(pairs->broad, index, body->box.bounds))) {
        rbBroadPhase_Place(pairs->broad, index, body->box.bounds, NULL);
    }
}

// Appends what a body with a new box gains and loses: bodies that it meets, and ~slots of pairs
// that are no longer near. After all bodies have their boxes, and of two changed ones for the first
// only.
static void findChanges(rbContactPairs* pairs, int index, rbIdList* found, rbIdList* scratch)
{
    const rbNearBody* body = &pairs->bodies.data[index];
    const unsigned char* isChanged = pairs->search.isChanged.data;
    int count = found->count;
    if (body->isBounded) {
        rbBroadPhase_FindPartners(pairs->broad, index, found, scratch);
    }
    for (int i = count; i < found->count; ++i) {
        int id = found->ids[i];
        found->ids[count] = id;
        count += (id > index || isChanged[id] == 0) && isNew(pairs, index, id) ? 1 : 0;
    }
    found->count = count;
    int others = body->isBounded ? pairs->unbounded.count : pairs->bodies.count;
    for (int i = 0; i < others; ++i) {
        int id = body->isBounded ? pairs->unbounded.data[i] : i;
        const rbNearBody* other = &pairs->bodies.data[id];
        if (other->isPlaced && areNear(body, other) && isNew(pairs, index, id)) {
            rbIdList_Push(found, id);
        }
    }
    for (int32_t link = firstLink(pairs, index); link >= 0;
         link = rbPairTable_Next(&pairs->table, link)) {
        int partner = rbPairTable_Partner(&pairs->table, link);
        if ((partner > index || isChanged[partner] == 0) &&
            !areNear(body, &pairs->bodies.data[partner])) {
            rbIdList_Push(found, ~(link >> 1));
        }
    }
}

static void applyChanges(rbContactPairs* pairs, int index, const int* changes, int count)
{
    // Odometers do not bound the motion of the points of a half space.
    int32_t link = pairs->bodies.data[index].isBounded ? -1 : firstLink(pairs, index);
    for (; link >= 0; link = rbPairTable_Next(&pairs->table, link)) {
        pairs->pairs.data[link >> 1].isMeasured = false;
    }
    for (int i = 0; i < count; ++i) {
        if (changes[i] < 0) {
            removePair(pairs, ~changes[i]);
        } else if (isNew(pairs, index, changes[i]) && !isFiltered(pairs, index, changes[i])) {
            bool hasRoom = pairs->table.count < getPairLimit(pairs);
            pairs->report.dropped += hasRoom ? 0 : 1;
            if (hasRoom) {
                (void)addPair(pairs, index, changes[i]);
            }
        }
    }
}

// Gives the box of a body room for a travel, m, if it has none.
static void enlarge(rbContactPairs* pairs, int index, double travel)
{
    rbNearBody* body = &pairs->bodies.data[index];
    if (body->isBounded && body->isPlaced && getNeededRoom(pairs, index, travel) > body->box.room) {
        rbIdList* found = &pairs->search.partners;
        rbNearHot* hot = &pairs->hots.data[index];
        hot->reach = fmax(hot->reach, travel);
        makeBox(pairs, index);
        putBox(pairs, index, false);
        found->count = 0;
        rbIdList_Reserve(found, PARTNERS_ROOM * PARTNERS_ROOM);
        findChanges(pairs, index, found, &pairs->search.scratches.data[0].ids);
        applyChanges(pairs, index, found->ids, found->count);
    }
}

typedef struct Approach {
    rbContactPairs* pairs;
    const rbContactPlace* places;
} Approach;

// Moves bodies to their places, and gives new boxes to those that need one.
static void followBodies(void* context, rbShare share)
{
    const Approach* approach = context;
    rbContactPairs* pairs = approach->pairs;
    for (int i = share.begin; i < share.end; ++i) {
        rbNearBody* body = &pairs->bodies.data[i];
        if (body->shape.geometry == NULL) {
            continue;
        }
        const rbContactPlace* now = &approach->places[i];
        bool isFinite = rbIsFinite3(now->pose.position) && rbIsFiniteQuat(now->pose.orientation) &&
                        isfinite(now->reach);
        RB_ASSERT(isFinite && now->reach >= 0.0);
        if (isFinite) {
            follow(body, &pairs->hots.data[i], now);
            if (!isBoxGood(pairs, i)) {
                makeBox(pairs, i);
                pairs->search.isChanged.data[i] = 1;
            }
        }
    }
}

static void findPartners(void* context, rbShare share)
{
    rbContactPairs* pairs = ((const Approach*)context)->pairs;
    rbIdList* found = &pairs->search.partnerLists[share.block];
    found->count = 0;
    rbIdList_Reserve(found, PARTNERS_ROOM * (share.end - share.begin + PARTNERS_ROOM));
    for (int k = share.begin; k < share.end; ++k) {
        int first = found->count;
        findChanges(pairs, pairs->search.changed.data[k], found,
                    &pairs->search.scratches.data[share.worker].ids);
        pairs->search.partnerCounts.data[k] = found->count - first;
    }
}

// All changed boxes are placed, then all changes found, then made in the order of bodies.
static void changePairs(Approach* approach)
{
    rbContactPairs* pairs = approach->pairs;
    int count = pairs->search.changed.count;
    int least = pairs->broad->row->isShared ? CHANGED_LEAST : count + 1;
    bool isMany = count > pairs->bodies.count / MANY_PART && pairs->broad->row->isShared;
    for (int i = 0; i < count; ++i) {
        putBox(pairs, pairs->search.changed.data[i], isMany);
    }
    if (isMany) {
        pairs->broad->row->refit(pairs->broad);
    }
    reserveScratch(pairs);
    rbArray_Reserve(pairs->search.partnerCounts, count);
    rbRunShares(count, least, findPartners, approach);
    int blockSize = rbGetBlockSize(count, least);
    for (int i = 0, first = 0; i < count; ++i) {
        first = i % blockSize == 0 ? 0 : first;
        const int* ids = pairs->search.partnerLists[i / blockSize].ids;
        int own = pairs->search.partnerCounts.data[i];
        applyChanges(pairs, pairs->search.changed.data[i], own > 0 ? ids + first : NULL, own);
        first += own;
    }
}

void rbContactPairs_Approach(rbContactPairs* pairs, const rbContactPlace* places, int bodyCount)
{
    RB_ASSERT(places != NULL || bodyCount == 0);
    Approach approach = {pairs, places};
    int count = bodyCount < pairs->bodies.count ? bodyCount : pairs->bodies.count;
    if (pairs->report.dropped > 0 && pairs->table.count < RETRY_BELOW * getPairLimit(pairs)) {
        pairs->report.dropped = 0;
        for (int i = 0; i < pairs->bodies.count; ++i) {
            pairs->bodies.data[i].isStale = pairs->bodies.data[i].shape.geometry != NULL;
        }
    }
    rbArray_Reserve(pairs->search.isChanged, pairs->bodies.count);
    if (pairs->bodies.count > 0) {
        memset(pairs->search.isChanged.data, 0, (size_t)pairs->bodies.count);
    }
    rbRunShares(count, BODIES_LEAST, followBodies, &approach);
    pairs->search.changed.count = 0;
    for (int i = 0; i < count; ++i) {
        if (pairs->search.isChanged.data[i] != 0) {
            rbArray_Push(pairs->search.changed, i);
        }
    }
    changePairs(&approach);
    sortPairs(pairs);
}

void rbContactPairs_FollowFlight(rbContactPairs* pairs, const rbRowPose* poses, bool isWidened)
{
    rbArray_Reserve(pairs->ahead.bodies, pairs->bodies.count);
    for (int i = 0; i < pairs->bodies.count; ++i) {
        const rbNearBody* body = &pairs->bodies.data[i];
        if (body->shape.geometry == NULL) {
            continue;
        }
        rbTransform at = {poses[i].position, poses[i].orientation};
        rbAheadBody ahead = {.world = rbMulTransforms(at, body->shape.transform),
                             .position = at.p,
                             .rotation = poses[i].rotation};
        ahead.turn = body->isBounded ? boundTurn(body, at.q) : 0.0;
        ahead.travel = ahead.turn + rbDistance(at.p, body->position);
        pairs->ahead.bodies.data[i] = ahead;
        if (isWidened) {
            enlarge(pairs, i, ahead.travel);
        }
    }
    sortPairs(pairs);
}

// ---------------------------------------------------------------------------------- snapshots
// Snapshots of the contact finder: everything that later results depend on.
//
// This includes the caches of pairs and the boxes, which decide how long a pair lives: measurements
// with another start agree only to rounding. It excludes shapes, materials and exclusions; they
// must be the same on restore.

static void moveBody(rbContactPairs* pairs, int index, rbByteStream* stream)
{
    rbNearBody* body = &pairs->bodies.data[index];
    rbNearHot* hot = &pairs->hots.data[index];
    RB_MOVE_FINITE(stream, body->position);
    RB_MOVE_FINITE(stream, body->orientation);
    RB_MOVE_FINITE(stream, hot->reach);
    RB_MOVE(stream, hot->travel);
    RB_MOVE_FINITE(stream, body->box);
    rbByteStream_Check(stream, rbIsProperBounds(&body->box.bounds));
    RB_MOVE(stream, hot->poseStamp);
    RB_MOVE(stream, body->isPlaced);
    RB_MOVE(stream, body->isStale);
    if (!stream->isLoading) {
        return;
    }
    rbNearBody_Pose(body);
    hot->center = body->world.p;
    body->isJumping = false;
    if (body->shape.geometry != NULL && body->isPlaced && body->isBounded) {
        rbBroadPhase_Place(pairs->broad, index, body->box.bounds, NULL);
    } else if (rbBroadPhase_Has(pairs->broad, index)) {
        rbBroadPhase_Remove(pairs->broad, index);
    }
}

// Loading adds the pair; slot is not used then.
static void movePair(rbContactPairs* pairs, int slot, rbByteStream* stream)
{
    int32_t ids[2] = {-1, -1};
    if (!stream->isLoading) {
        memcpy(ids, pairs->table.entries[slot].ids, sizeof ids);
    }
    RB_MOVE(stream, ids);
    int end = pairs->bodies.count;
    rbByteStream_Check(stream, ids[0] >= 0 && ids[0] < ids[1] && ids[1] < end);
    slot = stream->isLoading ? addPair(pairs, ids[0], ids[1]) : slot;
    // Whether a pair has a memory, and where, and a front, is not part of the state.
    rbPairMemory* memory = rbContactPairs_GetMemory(pairs, slot);
    rbContactCandidate pair = pairs->pairs.data[slot];
    int place = pair.memory;
    pair.memory = 0;
    RB_MOVE(stream, pair);
    rbByteStream_CheckFlags(stream, &pair.isMeasured, 2);
    pair.memory = place;
    pairs->pairs.data[slot] = pair;
    RB_MOVE(stream, pairs->spans.data[slot]);
    if (memory != NULL) {
        RB_MOVE(stream, memory->cache.opaque);
        RB_MOVE(stream, memory->pose);
        if (memory->cache.front != NULL) {
            rbFront_Move(memory->cache.front, stream);
        }
    }
}

#define MOVE_ARRAY(type, name) RB_MOVE_ARRAY(stream, frame->name);

static void moveFrame(rbContactFrame* frame, rbByteStream* stream)
{
    RB_MOVE(stream, frame->stamp);
    RB_FRAME_ARRAYS(MOVE_ARRAY)
}

static void movePairs(rbContactPairs* pairs, int pairCount, rbByteStream* stream)
{
    if (stream->isLoading) {
        for (int i = 0; i < pairCount; ++i) {
            movePair(pairs, -1, stream);
        }
        return;
    }
    // in memory order: their order has no meaning
    for (int slot = 0; slot < pairs->table.end; ++slot) {
        if (pairs->table.entries[slot].ids[0] >= 0) {
            movePair(pairs, slot, stream);
        }
    }
}

// Whether the contacts of all pairs exist, and their bodies and points; in the frames that moved.
static void checkFrames(const rbContactPairs* pairs, const rbByteStream* stream)
{
    for (int k = 0; k < RB_CONTACT_FRAMES; ++k) {
        const rbContactFrame* frame = &pairs->frames[k];
        int count = frame->contacts.count, pointCount = frame->points.count;
        rbByteStream_Check(stream, frame->foundContacts.count == count &&
                                       frame->foundPoints.count == pointCount);
        rbByteStream_CheckFinite(stream, frame->orientations.data,
                                 (size_t)frame->orientations.count * sizeof(rbQuat));
        for (int i = 0; i < count; ++i) {
            const rbContact* c = &frame->contacts.data[i];
            rbByteStream_CheckRange(stream, &c->bodyA, 2, 0, pairs->bodies.count);
            rbByteStream_CheckRange(stream, &c->pointCount, 1, 0, RB_MANIFOLD_POINTS_MAX + 1);
            rbByteStream_CheckRange(stream, &c->firstPoint, 1, 0, pointCount - c->pointCount + 1);
            rbByteStream_CheckFlags(stream, &c->hasBelt, 1);
            rbByteStream_CheckFlags(stream, &c->isIdle, 1);
            rbByteStream_CheckFlags(stream, &frame->foundContacts.data[i].isAhead, 1);
        }
        for (int i = 0; i < pointCount; ++i) {
            rbByteStream_CheckFlags(stream, &frame->points.data[i].isClosed, RB_POINT_FLAGS);
        }
        for (int slot = 0; slot < pairs->table.end; ++slot) {
            rbPairSpan span = pairs->spans.data[slot].frames[k];
            int isThere = span.stamp == frame->stamp && (k == pairs->current || k == pairs->kept);
            rbByteStream_CheckRange(stream, &span.count, isThere, 0, count + 1);
            rbByteStream_CheckRange(stream, &span.first, isThere, 0, count - span.count + 1);
        }
    }
}

void rbContactPairs_Move(rbContactPairs* pairs, rbByteStream* stream)
{
    int32_t frames[2] = {pairs->current, pairs->kept};
    int pairCount = pairs->table.count;
    uint64_t shapes = RB_HASH_SEED;
    for (int i = 0; i < pairs->bodies.count; ++i) {
        const rbNearBody* body = &pairs->bodies.data[i];
        uint64_t own = body->shape.geometry != NULL ? body->hash : 0;
        shapes = rbHashBytes(shapes, &own, sizeof own);
    }
    uint64_t moved = shapes;
    RB_MOVE(stream, moved);
    RB_MOVE(stream, frames);
    RB_MOVE(stream, pairCount);
    rbByteStream_Check(stream, moved == shapes && frames[0] >= 0 && frames[0] < RB_CONTACT_FRAMES &&
                                   frames[1] < RB_CONTACT_FRAMES);
    for (int slot = 0; stream->isLoading && slot < pairs->table.end; ++slot) {
        if (pairs->table.entries[slot].ids[0] >= 0) {
            removePair(pairs, slot);
        }
    }
    pairs->current = frames[0];
    pairs->node = stream->isLoading ? pairs->current : pairs->node;
    pairs->kept = frames[1];
    RB_MOVE(stream, pairs->report.dropped);
    RB_MOVE(stream, pairs->search.stamp);
    RB_MOVE(stream, pairs->report.depth);
    RB_MOVE(stream, pairs->report.bodyA);
    RB_MOVE(stream, pairs->report.bodyB);
    for (int i = 0; i < pairs->bodies.count; ++i) {
        moveBody(pairs, i, stream);
    }
    movePairs(pairs, pairCount, stream);
    moveFrame(&pairs->frames[pairs->current], stream);
    if (pairs->kept >= 0 && pairs->kept != pairs->current) {
        moveFrame(&pairs->frames[pairs->kept], stream);
    }
    if (stream->isLoading) {
        checkFrames(pairs, stream);
    }
}
