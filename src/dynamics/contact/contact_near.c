// Finding near bodies: fat boxes in a broad phase, and a table of pairs (B-53 to B-56).
//
// A pair is near while the fat boxes of its bodies overlap; all kinds of broad phase return the
// same pairs. Half spaces have no box: they are compared with the boxes of all bodies that get a
// new one.
#include "collision/broadphase/broad_phase.h"
#include "dynamics/contact/contact_state.h"

#include <math.h>

// A box leaves room for this many times the reach besides the reach itself, so that fast bodies do
// not get a new box in every step.
#define REACH_MARGIN 2.0
// A box with more than this many times the room it would get now is rebuilt: a body that has come
// to rest loses the box of its flight.
#define ROOM_EXCESS 4.0
// Of the size of coordinates: rounding of a half space against a box.
#define PLANE_ROUNDING 1e-12
// Rounds odometers up.
#define TRAVEL_EXCESS (1.0 + 1e-12)
// After there was no room for all pairs, they are queried again below this fraction of the limit.
#define RETRY_BELOW 0.9

// -------------------------------------------------------------------------------------- pairs

static int getPairLimit(const rbContactPairs* pairs)
{
    double limit = (double)RB_PAIRS_PER_BODY * pairs->bodies.count + RB_PAIRS_SPARE;
    return limit < 1e8 ? (int)limit : 100000000;
}

static rbFront* takeFront(rbContactPairs* pairs)
{
    if (pairs->search.fronts.count > 0) {
        rbFront* front = pairs->search.fronts.data[--pairs->search.fronts.count].front;
        rbFront_Clear(front);
        return front;
    }
    return rbCreateFront(RB_FRONT_CAPACITY);
}

int rbContactPairs_AddPair(rbContactPairs* pairs, int a, int b)
{
    RB_ASSERT(a >= 0 && a < pairs->bodies.count && b >= 0 && b < pairs->bodies.count && a != b);
    rbPairTable_Reserve(&pairs->table, pairs->bodies.count);
    int slot = rbPairTable_Add(&pairs->table, a, b);
    rbArray_Reserve(pairs->pairs, slot + 1);
    rbArray_Reserve(pairs->spans, slot + 1);
    rbArray_Reserve(pairs->caches, slot + 1);
    pairs->pairs.count = pairs->table.end;
    pairs->spans.count = pairs->table.end;
    pairs->caches.count = pairs->table.end;
    pairs->pairs.data[slot] = (rbContactCandidate){0};
    pairs->spans.data[slot] = (rbPairSpans){0};
    pairs->caches.data[slot] = (rbSeparationCache){0};
    if (pairs->bodies.data[a].traits.isMesh && pairs->bodies.data[b].traits.isMesh) {
        pairs->caches.data[slot].front = takeFront(pairs);
    }
    pairs->order.isOld = true;
    return slot;
}

void rbContactPairs_RemovePair(rbContactPairs* pairs, int slot)
{
    RB_ASSERT(slot >= 0 && slot < pairs->table.end);
    RB_ASSERT(pairs->table.entries[slot].ids[0] >= 0);
    if (pairs->caches.data[slot].front != NULL) {
        rbSpareFront spare = {pairs->caches.data[slot].front};
        rbArray_Push(pairs->search.fronts, spare);
        pairs->caches.data[slot].front = NULL;
    }
    rbPairTable_Remove(&pairs->table, slot);
    pairs->order.isOld = true;
}

void rbContactPairs_RemovePairsOf(rbContactPairs* pairs, int body)
{
    if (body >= pairs->table.idCapacity) {
        return;
    }
    int32_t link = rbPairTable_First(&pairs->table, body);
    while (link >= 0) {
        int32_t next = rbPairTable_Next(&pairs->table, link);
        rbContactPairs_RemovePair(pairs, link >> 1);
        link = next;
    }
}

static bool areExcluded(const rbContactPairs* pairs, int a, int b)
{
    return pairs->filter.exclusions.count > 0 &&
           rbPairTable_Find(&pairs->filter.exclusions, a, b) >= 0;
}

static bool isFiltered(const rbContactPairs* pairs, int a, int b)
{
    return pairs->filter.function != NULL &&
           !pairs->filter.function(pairs->filter.context, a < b ? a : b, a < b ? b : a);
}

static bool mayMeet(const rbContactPairs* pairs, int a, int b)
{
    const rbNearBody* p = &pairs->bodies.data[a];
    const rbNearBody* q = &pairs->bodies.data[b];
    return (p->traits.isMoved || q->traits.isMoved) && (p->groups & q->mask) != 0 &&
           (q->groups & p->mask) != 0 && !areExcluded(pairs, a, b);
}

void rbContactPairs_SetFilter(rbContactPairs* pairs, rbPairFilterFn* filter, void* context)
{
    pairs->filter.function = filter;
    pairs->filter.context = context;
    rbContactPairs_SortPairs(pairs);
    for (int i = 0; i < pairs->order.list.count; ++i) {
        rbPairOrder item = pairs->order.list.data[i];
        if (isFiltered(pairs, item.a, item.b)) {
            rbContactPairs_RemovePair(pairs, item.slot);
        }
    }
    for (int i = 0; i < pairs->bodies.count; ++i) {
        pairs->bodies.data[i].isStale = pairs->bodies.data[i].isPlaced;
    }
}

// A half space against a box.
static bool isBoxBelow(const rbNearBody* plane, const rbBounds* box)
{
    if (rbGeometry_GetType(plane->geometry) != RB_SHAPE_PLANE) {
        return true; // a compound with a half space in it
    }
    rbPlaneData data = rbGeometry_GetData(plane->geometry).plane;
    rbVec3 normal = rbRotate(plane->world.q, data.normal);
    rbVec3 center = rbScale(0.5, rbAdd(box->lower, box->upper));
    rbVec3 half = rbScale(0.5, rbSub(box->upper, box->lower));
    double least = rbDot(normal, rbSub(center, plane->world.p)) - rbDot(rbAbs3(normal), half);
    double size = fabs(least) + rbLength(half) + rbLength(center) + rbLength(plane->world.p);
    return least <= data.offset + plane->box.room + PLANE_ROUNDING * size;
}

static bool areNear(const rbNearBody* p, const rbNearBody* q)
{
    if (p->traits.isBounded && q->traits.isBounded) {
        return rbDoBoxesOverlap(&p->box.bounds, &q->box.bounds);
    }
    return p->traits.isBounded ? isBoxBelow(q, &p->box.bounds)
                               : q->traits.isBounded && isBoxBelow(p, &q->box.bounds);
}

static void meet(rbContactPairs* pairs, int a, int b)
{
    if (!mayMeet(pairs, a, b) || rbPairTable_Find(&pairs->table, a, b) >= 0 ||
        isFiltered(pairs, a, b)) {
        return;
    }
    if (pairs->table.count < getPairLimit(pairs)) {
        (void)rbContactPairs_AddPair(pairs, a, b);
    } else {
        pairs->dropped += 1;
    }
}

// -------------------------------------------------------------------------------------- boxes

static double getWantedRoom(const rbContactPairs* pairs, const rbNearBody* body)
{
    double margin = body->traits.isMoved ? fmax(body->margin, REACH_MARGIN * body->reach) : 0.0;
    return pairs->closedGap + body->reach + margin;
}

void rbNearBody_Pose(rbNearBody* body)
{
    rbTransform pose = {body->position, body->orientation};
    body->world = rbMulTransforms(pose, body->transform);
    body->rotation = rbMatFromQuat(pose.q);
    body->worldRotation = rbMatFromQuat(body->world.q);
}

// A rotation by theta moves a point by 2 sin(theta/2) of its arm; the quaternions differ by 2
// sin(theta/4), which is more than half of it.
double rbNearBody_BoundTurn(const rbNearBody* body, rbQuat orientation)
{
    rbQuat q = orientation;
    rbQuat r = body->orientation;
    double plus = (q.w + r.w) * (q.w + r.w) + (q.x + r.x) * (q.x + r.x) +
                  (q.y + r.y) * (q.y + r.y) + (q.z + r.z) * (q.z + r.z);
    double minus = (q.w - r.w) * (q.w - r.w) + (q.x - r.x) * (q.x - r.x) +
                   (q.y - r.y) * (q.y - r.y) + (q.z - r.z) * (q.z - r.z);
    return 2.0 * body->turnRadius * sqrt(fmin(plus, minus));
}

// Records the pose of a body and how far it has moved.
static void follow(rbNearBody* body, const rbContactPlace* place)
{
    body->reach = place->reach;
    rbVec3 p = place->pose.position;
    rbQuat q = place->pose.orientation;
    rbQuat r = body->orientation;
    body->isJumping = false;
    if (body->isPlaced && p.x == body->position.x && p.y == body->position.y &&
        p.z == body->position.z && q.w == r.w && q.x == r.x && q.y == r.y && q.z == r.z) {
        return;
    }
    if (!body->traits.isBounded || !body->isPlaced) {
        body->isJumping = true;
    } else {
        double turn = rbNearBody_BoundTurn(body, q);
        body->travel += TRAVEL_EXCESS * (rbDistance(p, body->position) + turn);
    }
    body->position = p;
    body->orientation = q;
    body->poseStamp += 1;
    rbNearBody_Pose(body);
}

void rbNearBody_Heat(const rbNearBody* body, rbNearHot* hot)
{
    hot->center = body->world.p;
    hot->radius = body->traits.isBounded ? body->ballRadius : INFINITY;
    hot->travel = body->travel;
    hot->reach = body->reach;
    hot->poseStamp = body->poseStamp;
}

// Does the box of a body still contain it, without too much room?
static bool isBoxGood(const rbContactPairs* pairs, const rbNearBody* body)
{
    if (!body->isPlaced || body->isStale || body->isJumping) {
        return false;
    }
    double needed = pairs->closedGap + body->reach + (body->travel - body->box.travel);
    return needed <= body->box.room && body->box.room <= ROOM_EXCESS * getWantedRoom(pairs, body);
}

static void makeBox(const rbContactPairs* pairs, rbNearBody* body)
{
    body->box.room = getWantedRoom(pairs, body);
    body->box.travel = body->travel;
    if (body->traits.isBounded) {
        rbBounds box = rbGeometry_GetBounds(body->geometry, body->world);
        rbVec3 room = rbMakeVec3(body->box.room, body->box.room, body->box.room);
        body->box.bounds = (rbBounds){rbSub(box.lower, room), rbAdd(box.upper, room)};
        RB_ASSERT(rbIsFinite3(body->box.bounds.lower) && rbIsFinite3(body->box.bounds.upper));
    }
}

// Odometers do not bound the motion of the points of a half space.
static void forgetDistances(rbContactPairs* pairs, int index)
{
    int32_t link = index < pairs->table.idCapacity ? rbPairTable_First(&pairs->table, index) : -1;
    for (; link >= 0; link = rbPairTable_Next(&pairs->table, link)) {
        pairs->pairs.data[link >> 1].isMeasured = false;
    }
}

// Replaces the box of a body and adds its overlaps. Later partners run their own query.
static void place(rbContactPairs* pairs, int index)
{
    rbNearBody* body = &pairs->bodies.data[index];
    makeBox(pairs, body);
    body->isPlaced = true;
    body->isStale = false;
    if (!body->traits.isBounded) {
        forgetDistances(pairs, index);
        for (int i = 0; i < pairs->bodies.count; ++i) {
            const rbNearBody* other = &pairs->bodies.data[i];
            if (other->traits.isBounded && other->isPlaced &&
                isBoxBelow(body, &other->box.bounds)) {
                meet(pairs, index, i);
            }
        }
        return;
    }
    rbBroadPhase_Place(pairs->broad, index, body->box.bounds, &pairs->search.partners);
    for (int i = 0; i < pairs->search.partners.count; ++i) {
        meet(pairs, index, pairs->search.partners.ids[i]);
    }
    for (int i = 0; i < pairs->unbounded.count; ++i) {
        const rbNearBody* plane = &pairs->bodies.data[pairs->unbounded.data[i]];
        if (plane->isPlaced && isBoxBelow(plane, &body->box.bounds)) {
            meet(pairs, index, pairs->unbounded.data[i]);
        }
    }
}

void rbContactPairs_Enlarge(rbContactPairs* pairs, int index, double travel)
{
    rbNearBody* body = &pairs->bodies.data[index];
    double needed = pairs->closedGap + travel + (body->travel - body->box.travel);
    if (body->traits.isBounded && body->isPlaced && needed > body->box.room) {
        body->reach = fmax(body->reach, travel);
        place(pairs, index);
    }
}

void rbContactPairs_Displace(rbContactPairs* pairs, int body)
{
    RB_ASSERT(body >= 0 && body < pairs->bodies.count);
    rbContactPairs_RemovePairsOf(pairs, body);
    if (rbBroadPhase_Has(pairs->broad, body)) {
        rbBroadPhase_Remove(pairs->broad, body);
    }
    pairs->bodies.data[body].isPlaced = false;
}

// Ends the pairs of a body that are no longer near. Call after all bodies have their boxes: two
// that fly together would otherwise separate for a moment.
static void partPairs(rbContactPairs* pairs, int index)
{
    const rbNearBody* body = &pairs->bodies.data[index];
    int32_t link = index < pairs->table.idCapacity ? rbPairTable_First(&pairs->table, index) : -1;
    while (link >= 0) {
        int32_t next = rbPairTable_Next(&pairs->table, link);
        if (!areNear(body, &pairs->bodies.data[rbPairTable_Partner(&pairs->table, link)])) {
            rbContactPairs_RemovePair(pairs, link >> 1);
        }
        link = next;
    }
}

static void retryDropped(rbContactPairs* pairs)
{
    if (pairs->dropped > 0 && pairs->table.count < RETRY_BELOW * getPairLimit(pairs)) {
        pairs->dropped = 0;
        for (int i = 0; i < pairs->bodies.count; ++i) {
            pairs->bodies.data[i].isStale = pairs->bodies.data[i].geometry != NULL;
        }
    }
}

void rbContactPairs_Approach(rbContactPairs* pairs, const rbContactPlace* places, int bodyCount)
{
    RB_ASSERT(places != NULL || bodyCount == 0);
    retryDropped(pairs);
    pairs->search.changed.count = 0;
    for (int i = 0; i < bodyCount && i < pairs->bodies.count; ++i) {
        rbNearBody* body = &pairs->bodies.data[i];
        if (body->geometry == NULL) {
            continue;
        }
        const rbContactPlace* now = &places[i];
        bool isFinite = rbIsFinite3(now->pose.position) && rbIsFiniteQuat(now->pose.orientation) &&
                        isfinite(now->reach);
        RB_ASSERT(isFinite && now->reach >= 0.0);
        if (isFinite) {
            follow(body, now);
            rbNearBody_Heat(body, &pairs->hots.data[i]);
            if (!isBoxGood(pairs, body)) {
                rbArray_Push(pairs->search.changed, i);
            }
        }
    }
    for (int i = 0; i < pairs->search.changed.count; ++i) {
        place(pairs, pairs->search.changed.data[i]);
    }
    for (int i = 0; i < pairs->search.changed.count; ++i) {
        partPairs(pairs, pairs->search.changed.data[i]);
    }
    rbContactPairs_SortPairs(pairs);
}

// -------------------------------------------------------------------------------------- order

// One counting pass: from a list of pairs to another one, by one of their bodies.
static void sortBy(rbContactPairs* pairs, bool byA, const rbPairOrder* from, rbPairOrder* to)
{
    int* starts = pairs->order.starts.data;
    int count = pairs->table.count;
    for (int i = 0; i <= pairs->bodies.count; ++i) {
        starts[i] = 0;
    }
    for (int i = 0; i < count; ++i) {
        starts[(byA ? from[i].a : from[i].b) + 1] += 1;
    }
    for (int i = 0; i < pairs->bodies.count; ++i) {
        starts[i + 1] += starts[i];
    }
    for (int i = 0; i < count; ++i) {
        to[starts[byA ? from[i].a : from[i].b]++] = from[i];
    }
}

void rbContactPairs_SortPairs(rbContactPairs* pairs)
{
    if (!pairs->order.isOld) {
        return;
    }
    int count = pairs->table.count;
    rbArray_Reserve(pairs->order.list, count);
    rbArray_Reserve(pairs->order.scratch, count);
    rbArray_Reserve(pairs->order.starts, pairs->bodies.count + 1);
    pairs->order.list.count = 0;
    for (int slot = 0; slot < pairs->table.end; ++slot) {
        const rbPairEntry* entry = &pairs->table.entries[slot];
        if (entry->ids[0] >= 0) {
            rbPairOrder item = {slot, entry->ids[0], entry->ids[1]};
            pairs->order.list.data[pairs->order.list.count++] = item;
        }
    }
    RB_ASSERT(pairs->order.list.count == count);
    sortBy(pairs, false, pairs->order.list.data, pairs->order.scratch.data);
    sortBy(pairs, true, pairs->order.scratch.data, pairs->order.list.data);
    pairs->order.isOld = false;
}
