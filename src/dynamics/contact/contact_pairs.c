// Contacts of near pairs: finding them, caching them (B-62, B-63, B-93), and those at the end of
// the flight (below).
//
// A pair is not measured while its last distance, minus what both bodies have moved since, is above
// the threshold. Contacts of two bodies that have not moved at all are those of the last search. In
// the capped mode of the solver they are carried along while the bodies hardly move, see
// copyContacts.
#include "base/math/quaternion.h"
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/collide.h"
#include "dynamics/contact/contact_state.h"

#include <math.h>
#include <string.h>

// Fraction of the smaller body: with small steps, which leave far larger errors of gaps, it carries
// its points this far.
#define CARRY_SIZE 1e-3
// Bodies that travel farther, together, are searched anew after this many poses, or up to twice as
// many, not all at once: points that wait longer let walls sway. Carrying a point by dx while
// the bodies are turned against each other by phi leaves an error of the gap of at most phi dx / 2,
// so in all 2 CARRY_POSES CARRY_SIZE^2 of the size of the smaller body: 8e-6.
#define CARRY_POSES 4
// Fraction of an odometer: what its sums may have lost by rounding.
#define TRAVEL_ROUNDING 1e-12

// -------------------------------------------------------------------------------------- search

// The shape that a child of the geometry belongs to: all children of a single shape are that one.
static int getPart(const rbNearBody* body, int child)
{
    return child < body->shape.materialCount ? child : 0;
}

// The coefficients of a contact (B-67). Friction follows the rule of the settings; resistance to
// rolling and spinning is that of the softer of the two: the larger length.
static void combine(const rbContactPairs* pairs, const rbMaterial* a, const rbMaterial* b,
                    rbContact* contact)
{
    const rbContactSettings* settings = &pairs->settings;
    contact->rolling = fmax(a->rolling, b->rolling);
    contact->spinning = fmax(a->spinning, b->spinning);
    contact->pairLaw = 0;
    if (pairs->filter.materials != NULL) {
        const rbMaterialPair* pair =
            &pairs->filter.materials[a->kind * RB_MATERIAL_KINDS_MAX + b->kind];
        if (pair->restitution >= 0.0) {
            contact->friction = pair->friction;
            contact->stiction = pair->friction;
            contact->restitution = pair->restitution;
            contact->pairLaw = pair->law == RB_IMPACT_LAW_COUNT ? 0 : 1 + (int)pair->law;
            return;
        }
    }
    contact->friction = rbCombineRule_Apply(settings->frictionRule, a->friction, b->friction);
    double stiction = rbCombineRule_Apply(settings->frictionRule, fmax(a->stiction, a->friction),
                                          fmax(b->stiction, b->friction));
    contact->stiction = fmax(stiction, contact->friction);
    contact->restitution =
        rbCombineRestitution(settings->restitutionRule, a->restitution, b->restitution);
}

// The velocity of conveyor surfaces at a contact, as they add to that of the bodies.
static void addBelts(const rbNearBody* a, const rbNearBody* b, rbContact* contact)
{
    const rbVec3* beltsA = a->shape.belts;
    const rbVec3* beltsB = b->shape.belts;
    if (beltsA == NULL && beltsB == NULL) {
        return;
    }
    rbVec3 belt = RB_VEC3_ZERO;
    if (beltsA != NULL) {
        belt = rbNeg(rbMulMV(a->rotation, beltsA[contact->partA]));
    }
    if (beltsB != NULL) {
        belt = rbAdd(belt, rbMulMV(b->rotation, beltsB[contact->partB]));
    }
    contact->belt = rbAddScaled(belt, -rbDot(belt, contact->normal), contact->normal);
    contact->hasBelt = rbLengthSquared(contact->belt) > 0.0;
}

// A point of the frame, without memory.
static rbContactPoint makeFramePoint(const rbContactPairs* pairs, const rbFreshPoint* fresh)
{
    rbContactPoint point;
    memset(&point, 0, sizeof point);
    point.armA = fresh->armA;
    point.armB = fresh->armB;
    point.gap = fresh->found.distance - pairs->settings.shell;
    point.isClosed = point.gap <= pairs->closedGap;
    return point;
}

static rbContact makeFrameContact(const rbContactPairs* pairs, rbPairOrder pair,
                                  const rbFoundContact* found)
{
    rbContact contact;
    memset(&contact, 0, sizeof contact);
    contact.bodyA = pair.a;
    contact.bodyB = pair.b;
    contact.normal = found->normal;
    contact.tangents[0] = found->tangents[0];
    contact.tangents[1] = found->tangents[1];
    const rbNearBody* a = &pairs->bodies.data[pair.a];
    const rbNearBody* b = &pairs->bodies.data[pair.b];
    contact.partA = getPart(a, found->childA);
    contact.partB = getPart(b, found->childB);
    combine(pairs, &a->shape.materials[contact.partA], &b->shape.materials[contact.partB],
            &contact);
    addBelts(a, b, &contact);
    return contact;
}

// The search of a block of pairs.
typedef struct Search {
    rbContactPairs* pairs;
    const rbContactFrame* last;
    rbPairScratch* scratch;
    rbFoundBlock* out;
} Search;

// Adds a contact, whose points follow; source: of the last frame, -1: none.
static void addContact(const Search* search, const rbFoundContact* found, int pointCount,
                       int source)
{
    rbArray_Push(search->out->contacts, *found);
    rbArray_Push(search->out->pointCounts, pointCount);
    rbArray_Push(search->out->sources, source);
}

static void addPoint(const Search* search, rbPairOrder pair, rbFreshPoint fresh)
{
    rbPairsReport* report = &search->out->report;
    rbArray_Push(search->out->points, fresh);
    if (-fresh.found.distance > report->depth) {
        report->depth = -fresh.found.distance;
        report->bodyA = pair.a;
        report->bodyB = pair.b;
    }
}

// The contacts of a pair in a frame.
static rbPairSpan getSpan(const rbContactPairs* pairs, int slot, const rbContactFrame* frame)
{
    rbPairSpan span = pairs->spans.data[slot].frames[frame - pairs->frames];
    span.count = span.stamp == frame->stamp ? span.count : 0;
    return span;
}

// Points nearer to each other than this fraction of the shell, and m, are one.
#define TWIN_SHELL 1e-3
#define TWIN_LEAST 1e-12

// A manifold may contain the witness point and a second point equal to it up to rounding: two
// points of a ball would then share the memory of one. Removes the twin.
static void dropTwin(const rbContactPairs* pairs, rbManifold* manifold)
{
    double near = fmax(TWIN_SHELL * pairs->settings.shell, TWIN_LEAST);
    for (int i = manifold->count - 1; i >= 0; --i) {
        const rbManifoldPoint* point = &manifold->points[i];
        bool isTwin = false;
        for (int j = 0; j < manifold->count && point->featureId == RB_FEATURE_WITNESS; ++j) {
            isTwin =
                isTwin || (j != i && rbDistance(manifold->points[j].pointA, point->pointA) < near);
        }
        if (isTwin) {
            manifold->count -= 1;
            for (int j = i; j < manifold->count; ++j) {
                manifold->points[j] = manifold->points[j + 1];
            }
        }
    }
    RB_ASSERT(manifold->count > 0);
}

// A contact with this normal, a unit vector from A to B, world axes.
static rbFoundContact makeFound(rbVec3 normal, int childA, int childB)
{
    rbFoundContact contact;
    memset(&contact, 0, sizeof contact); // snapshots hold it as bytes
    contact.normal = normal;
    contact.tangents[0] = rbPerpendicular(normal);
    contact.tangents[1] = rbCross(normal, contact.tangents[0]);
    contact.childA = childA;
    contact.childB = childB;
    return contact;
}

// The contact of a manifold with A's geometry rotated this way.
static rbFoundContact makeFoundOf(const rbManifold* manifold, rbMat3 rotationA)
{
    return makeFound(rbNormalize(rbMulMV(rotationA, manifold->normal)), manifold->childA,
                     manifold->childB);
}

static rbFreshPoint makePoint(rbVec3 armA, const rbMat3* rotationA, rbVec3 armB,
                              const rbMat3* rotationB, double distance, uint32_t featureId)
{
    rbFoundPoint found = {.localA = rbMulMtV(*rotationA, armA),
                          .localB = rbMulMtV(*rotationB, armB),
                          .distance = distance,
                          .featureId = featureId};
    return (rbFreshPoint){found, armA, armB};
}

// Adds a point to the contact added last, halfway between the surfaces.
static void addPointAt(const Search* search, rbPairOrder pair, rbVec3 middle, double distance,
                       uint32_t featureId)
{
    const rbNearBody* a = &search->pairs->bodies.data[pair.a];
    const rbNearBody* b = &search->pairs->bodies.data[pair.b];
    addPoint(search, pair,
             makePoint(rbSub(middle, a->position), &a->rotation, rbSub(middle, b->position),
                       &b->rotation, distance, featureId));
}

// Two balls touch on the line of their centers: neither rotations nor caches matter, which would be
// distant memory accesses.
static void searchBalls(const Search* search, rbPairOrder pair, double threshold)
{
    const rbNearHot* a = &search->pairs->hots.data[pair.a];
    const rbNearHot* b = &search->pairs->hots.data[pair.b];
    rbVec3 apart = rbSub(b->center, a->center);
    if (!rbIsFinite3(apart)) {
        return; // a position is not finite: the end of the step reports it
    }
    rbVec3 normal;
    double between = rbSplitLength(apart, rbMakeVec3(0.0, 0.0, 1.0), &normal);
    double distance = between - a->radius - b->radius;
    if (distance <= threshold) {
        rbFoundContact contact = makeFound(normal, 0, 0);
        addContact(search, &contact, 1, -1);
        rbVec3 middle = rbAddScaled(a->center, a->radius + 0.5 * distance, normal);
        addPointAt(search, pair, middle, distance, RB_FEATURE_WITNESS);
    }
}

// Are the bodies of a pair known to be farther apart than a threshold?
static bool areApart(rbContactCandidate* pair, const rbNearHot* a, const rbNearHot* b,
                     double threshold)
{
    double odometer = a->travel + b->travel;
    if (pair->isMeasured) {
        double moved = odometer - pair->travel + TRAVEL_ROUNDING * odometer;
        if (pair->lower - moved > threshold) {
            return true;
        }
    }
    double between = rbDistance(a->center, b->center);
    double radii = a->radius + b->radius;
    if (between <= radii) {
        return false; // always for half spaces
    }
    double lower = between - radii - TRAVEL_ROUNDING * (between + radii);
    if (lower > threshold) {
        pair->lower = lower;
        pair->travel = odometer;
        pair->isMeasured = true;
        return true;
    }
    return false;
}

// How far the points of a pair may be carried.
static double carryOf(const rbContactPairs* pairs, rbPairOrder item)
{
    const rbNearBody* bodies = pairs->bodies.data;
    bool isBall = bodies[item.a].isBall || bodies[item.b].isBall;
    double size = fmin(pairs->hots.data[item.a].radius, pairs->hots.data[item.b].radius);
    return pairs->isCarrying && !isBall ? CARRY_SIZE * size : 0.0;
}

// The larger body of a pair, whose points rotate farther.
static int getLarger(const rbContactPairs* pairs, rbPairOrder item)
{
    return pairs->hots.data[item.b].radius > pairs->hots.data[item.a].radius ? item.b : item.a;
}

// The smaller body of a pair in the frame of the larger.
static rbTransform getPose(const rbContactPairs* pairs, rbPairOrder item)
{
    int larger = getLarger(pairs, item);
    int smaller = item.a + item.b - larger;
    return rbInvMulTransforms(pairs->bodies.data[larger].world, pairs->bodies.data[smaller].world);
}

static bool canCarry(const rbContactPairs* pairs, rbPairOrder item, double threshold)
{
    const rbContactCandidate* pair = &pairs->pairs.data[item.slot];
    const rbNearHot* a = &pairs->hots.data[item.a];
    const rbNearHot* b = &pairs->hots.data[item.b];
    double carry = carryOf(pairs, item);
    if (!pair->hadContacts || !(carry > 0.0)) {
        return false;
    }
    // odometers do not cover half spaces
    bool isFixed = (pairs->bodies.data[item.a].isBounded || pair->stamps[0] == a->poseStamp) &&
                   (pairs->bodies.data[item.b].isBounded || pair->stamps[1] == b->poseStamp);
    double moved = a->travel + b->travel - pair->searched;
    uint32_t most = CARRY_POSES + (uint32_t)(item.a + item.b) % CARRY_POSES;
    bool isOld = a->poseStamp - pair->stamps[0] > most || b->poseStamp - pair->stamps[1] > most;
    if (!isFixed || (isOld && !(moved <= carry))) {
        return false;
    }
    if (!(moved <= carry)) { // points of the smaller body in the frame of the larger
        rbTransform was = rbContactPairs_GetMemory(pairs, item.slot)->pose;
        rbTransform is = getPose(pairs, item);
        moved = rbDistance(is.p, was.p) + rbBoundTurn(fmin(a->radius, b->radius), is.q, was.q);
    }
    return moved <= carry && threshold + moved <= pair->threshold;
}

// A contact of the last frame, with its normal turned with the larger body.
static rbFoundContact turnContact(const rbContactPairs* pairs, rbPairOrder item,
                                  const rbContactFrame* last, const rbFoundContact* found)
{
    int larger = getLarger(pairs, item);
    const rbNearBody* body = &pairs->bodies.data[larger];
    rbQuat was = last->orientations.data[larger];
    if (rbIsSameQuat(was, body->orientation)) {
        return *found;
    }
    rbVec3 normal = rbMulMV(body->rotation, rbInvRotate(was, found->normal));
    return makeFound(rbNormalize(normal), found->childA, found->childB);
}

// The contacts of a pair in the last frame. Two bodies that have hardly moved relative to each
// other since the search (isCarried) each carry their own point along, the normal turns with the
// larger one: the gap is correct to first order in the motion, see CARRY_POSES.
static void copyContacts(const Search* search, rbPairOrder pair, bool isCarried)
{
    const rbContactPairs* pairs = search->pairs;
    const rbContactFrame* last = search->last;
    const rbNearBody* a = &pairs->bodies.data[pair.a];
    const rbNearBody* b = &pairs->bodies.data[pair.b];
    rbPairSpan span = getSpan(pairs, pair.slot, last);
    RB_ASSERT(span.count > 0);
    for (int i = span.first; i < span.first + span.count; ++i) {
        const rbContact* old = &last->contacts.data[i];
        const rbFoundContact* found = &last->foundContacts.data[i];
        if (found->isAhead) {
            continue;
        }
        rbFoundContact turned = isCarried ? turnContact(pairs, pair, last, found) : *found;
        addContact(search, &turned, old->pointCount, i);
        for (int j = old->firstPoint; j < old->firstPoint + old->pointCount; ++j) {
            const rbFoundPoint* point = &last->foundPoints.data[j];
            if (!isCarried) {
                const rbContactPoint* was = &last->points.data[j];
                rbFreshPoint same = {*point, was->armA, was->armB};
                same.found.claimStamp = 0;
                addPoint(search, pair, same);
                continue;
            }
            rbVec3 atA = rbAdd(a->position, rbMulMV(a->rotation, point->localA));
            rbVec3 atB = rbAdd(b->position, rbMulMV(b->rotation, point->localB));
            double distance = point->distance + rbDot(turned.normal, rbSub(atB, atA));
            addPointAt(search, pair, rbScale(0.5, rbAdd(atA, atB)), distance, point->featureId);
        }
    }
}

static rbSeparationInput makeInput(const rbNearBody* a, rbTransform worldA, const rbNearBody* b,
                                   rbTransform worldB)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a->shape.geometry;
    input.geometryB = b->shape.geometry;
    input.transformBtoA = rbInvMulTransforms(worldA, worldB);
    return input;
}

static bool isManyfold(const rbContactPairs* pairs, int a, int b)
{
    return pairs->bodies.data[a].isManyfold || pairs->bodies.data[b].isManyfold;
}

// The manifolds of a pair, and how many there are.
static int findManifolds(rbPairScratch* scratch, bool areMany, const rbSeparationInput* input,
                         double threshold, rbSeparationCache* cache)
{
    rbContactList list = {.manifolds = scratch->manifolds.data,
                          .capacity = areMany ? RB_PAIR_MANIFOLDS_MAX : 1};
    RB_ASSERT(list.capacity <= scratch->manifolds.capacity);
    RB_ASSERT(threshold >= 0.0);
    rbStatus status = rbFindContacts(input, threshold, cache, scratch->memory, &list, NULL);
    int count = status != RB_STATUS_OK ? 0 : list.count;
    return count < list.capacity ? count : list.capacity;
}

// Meshes are tested for a gap this many times as wide as their bodies can close now, and at least
// this fraction of the smaller one: a wide known gap saves many steps.
#define GAP_REACHES 4.0
#define GAP_SIZE 0.05

// The same for compounds and meshes, whose exact distance costs far more than a test of a gap.
static bool testApart(rbContactPairs* pairs, rbPairOrder item, const rbSeparationInput* input)
{
    rbContactCandidate* pair = &pairs->pairs.data[item.slot];
    const rbNearHot* a = &pairs->hots.data[item.a];
    const rbNearHot* b = &pairs->hots.data[item.b];
    double wide = fmax(GAP_REACHES * (a->reach + b->reach), GAP_SIZE * fmin(a->radius, b->radius));
    const double gaps[2] = {pair->threshold + wide, pair->threshold};
    bool overlaps = true;
    for (int i = 0; i < 2 && overlaps; ++i) {
        rbStatus status = rbTestOverlap(
            input, gaps[i], &rbContactPairs_GetMemory(pairs, item.slot)->cache, &overlaps, NULL);
        if (status != RB_STATUS_OK) {
            return true;
        }
        pair->lower = gaps[i];
    }
    pair->isMeasured = !overlaps;
    pair->travel = a->travel + b->travel;
    return !overlaps;
}

// Is a pair that was apart still apart? Also finds the distance.
static bool measureApart(const Search* search, rbPairOrder item, const rbSeparationInput* input)
{
    rbContactPairs* pairs = search->pairs;
    if (isManyfold(pairs, item.a, item.b)) {
        return testApart(pairs, item, input);
    }
    rbContactCandidate* pair = &pairs->pairs.data[item.slot];
    rbSeparation separation;
    rbStatus status = rbMeasureSeparation(input, &rbContactPairs_GetMemory(pairs, item.slot)->cache,
                                          search->scratch->memory, &separation, NULL);
    pair->isMeasured = status == RB_STATUS_OK;
    pair->lower = separation.lower;
    pair->travel = pairs->hots.data[item.a].travel + pairs->hots.data[item.b].travel;
    return status != RB_STATUS_OK || separation.lower > pair->threshold;
}

// The contacts of a pair that is near enough to be searched.
static void searchPair(const Search* search, rbPairOrder item, double threshold)
{
    rbContactPairs* pairs = search->pairs;
    rbContactCandidate* pair = &pairs->pairs.data[item.slot];
    const rbNearBody* a = &pairs->bodies.data[item.a];
    const rbNearBody* b = &pairs->bodies.data[item.b];
    const rbNearHot* hotA = &pairs->hots.data[item.a];
    const rbNearHot* hotB = &pairs->hots.data[item.b];
    threshold += 2.0 * carryOf(pairs, item);
    pair->threshold = threshold;
    pair->searched = hotA->travel + hotB->travel;
    pair->stamps[0] = hotA->poseStamp;
    pair->stamps[1] = hotB->poseStamp;
    if (a->isBall && b->isBall) {
        searchBalls(search, item, threshold);
        return;
    }
    if (pairs->isCarrying) {
        rbContactPairs_GetMemory(pairs, item.slot)->pose = getPose(pairs, item);
    }
    rbSeparationInput input = makeInput(a, a->world, b, b->world);
    if (!pair->hadContacts && measureApart(search, item, &input)) {
        return;
    }
    int count = findManifolds(search->scratch, isManyfold(pairs, item.a, item.b), &input, threshold,
                              &rbContactPairs_GetMemory(pairs, item.slot)->cache);
    for (int i = 0; i < count; ++i) {
        rbManifold* manifold = &search->scratch->manifolds.data[i];
        if (manifold->count > 1) {
            dropTwin(pairs, manifold);
        }
        if (manifold->count > 0) {
            rbFoundContact contact = makeFoundOf(manifold, a->worldRotation);
            addContact(search, &contact, manifold->count, -1);
        }
        for (int k = 0; k < manifold->count; ++k) {
            const rbManifoldPoint* point = &manifold->points[k];
            rbVec3 middle = rbMulMV(a->worldRotation, rbManifoldPoint_GetMiddle(point));
            addPointAt(search, item, rbAdd(middle, a->world.p), point->distance, point->featureId);
        }
    }
}

static void findPair(const Search* search, rbPairOrder item)
{
    const rbContactPairs* pairs = search->pairs;
    rbContactCandidate* pair = &pairs->pairs.data[item.slot];
    const rbNearHot* a = &pairs->hots.data[item.a];
    const rbNearHot* b = &pairs->hots.data[item.b];
    // closed points must be found, whatever the reach
    double closed = pairs->settings.shell + pairs->closedGap;
    double threshold = fmax(closed + a->reach + b->reach, RB_CONTACT_THRESHOLD);
    bool isSame = pair->stamps[0] == a->poseStamp && pair->stamps[1] == b->poseStamp &&
                  (pairs->isCarrying ? pair->threshold >= threshold : pair->threshold == threshold);
    if (isSame ? pair->hadContacts : canCarry(pairs, item, threshold)) {
        copyContacts(search, item, !isSame);
    } else if (!isSame) {
        if (areApart(pair, a, b, threshold)) {
            pair->threshold = -1.0; // nothing was searched here
        } else {
            searchPair(search, item, threshold);
        }
    }
}

#define EMPTY_ARRAY(type, name) frame->name.count = 0;

// Begins a frame to write: neither another one nor the kept one.
static void beginFrame(rbContactPairs* pairs, int other)
{
    int next = 0;
    while (next == other || next == pairs->kept) {
        ++next;
    }
    RB_ASSERT(next < RB_CONTACT_FRAMES);
    pairs->current = next;
    rbContactFrame* frame = &pairs->frames[pairs->current];
    pairs->search.stamp += 1;
    frame->stamp = pairs->search.stamp;
    RB_FRAME_ARRAYS(EMPTY_ARRAY)
    rbArray_SetCount(frame->orientations, pairs->bodies.count);
    for (int i = 0; i < pairs->bodies.count; ++i) {
        frame->orientations.data[i] = pairs->bodies.data[i].orientation;
    }
}

// The set of the frame, with room for what others append.
static rbContactSet getSet(rbContactPairs* pairs)
{
    rbContactFrame* frame = &pairs->frames[pairs->current];
    rbArray_Reserve(frame->contacts, frame->contacts.count + pairs->spare);
    rbArray_Reserve(frame->points, frame->points.count + pairs->spare);
    rbContactSet set = {frame->contacts.data, frame->contacts.count, frame->points.data,
                        frame->points.count};
    return set;
}

// Least pairs, and bodies, of a block.
#define PAIRS_LEAST 64
#define BODIES_LEAST 256

// Pairs this far ahead in the order are prefetched: the search is memory-bound.
#define AHEAD 6

// Searches a block of pairs.
static void findBlock(void* context, rbShare share)
{
    const Search* all = context;
    rbContactPairs* pairs = all->pairs;
    rbFoundBlock* block = &pairs->search.blocks.data[share.block];
    Search search = {pairs, all->last, &pairs->search.scratches.data[share.worker], block};
    block->contacts.count = 0;
    block->pointCounts.count = 0;
    block->sources.count = 0;
    block->points.count = 0;
    block->report = (rbPairsReport){.bodyA = -1, .bodyB = -1};
    for (int i = share.begin; i < share.end; ++i) {
        rbPoll();
        if (i + AHEAD < pairs->order.list.count) {
            rbPairOrder next = pairs->order.list.data[i + AHEAD];
            __builtin_prefetch(&pairs->pairs.data[next.slot]);
            __builtin_prefetch(&pairs->hots.data[next.b]);
        }
        rbPairOrder item = pairs->order.list.data[i];
        int first = block->contacts.count;
        findPair(&search, item);
        pairs->search.counts.data[i] = block->contacts.count - first;
        pairs->pairs.data[item.slot].hadContacts = block->contacts.count > first;
    }
}

// Appends what a block found to the frame: room for it, and its overlaps.
static void appendBlock(rbContactPairs* pairs, rbFoundBlock* block)
{
    rbContactFrame* frame = &pairs->frames[pairs->current];
    block->firstContact = frame->contacts.count;
    block->firstPoint = frame->points.count;
    frame->contacts.count += block->contacts.count;
    frame->foundContacts.count = frame->contacts.count;
    frame->points.count += block->points.count;
    frame->foundPoints.count = frame->points.count;
    rbArray_Reserve(frame->contacts, frame->contacts.count);
    rbArray_Reserve(frame->foundContacts, frame->contacts.count);
    rbArray_Reserve(frame->points, frame->points.count);
    rbArray_Reserve(frame->foundPoints, frame->points.count);
    if (block->report.depth > pairs->report.depth) {
        pairs->report.depth = block->report.depth;
        pairs->report.bodyA = block->report.bodyA;
        pairs->report.bodyB = block->report.bodyB;
    }
}

// Contacts of a block, in the frame, with the memory of its pairs.
static void fillBlock(void* context, rbShare share)
{
    const Search* all = context;
    rbContactPairs* pairs = all->pairs;
    // engineering matches all points
    bool isLastKept = pairs->isCarrying && pairs->kept == (int)(all->last - pairs->frames);
    const rbFoundBlock* block = &pairs->search.blocks.data[share.block];
    rbContactFrame* frame = &pairs->frames[pairs->current];
    int k = 0; // contact of the block
    int point = block->firstPoint;
    rbCopyElements(&frame->foundContacts.data[block->firstContact], block->contacts.data,
                   block->contacts.count, sizeof *block->contacts.data);
    for (int i = share.begin; i < share.end; ++i) {
        rbPairOrder item = pairs->order.list.data[i];
        int count = pairs->search.counts.data[i];
        int first = block->firstContact + k;
        for (int end = k + count; k < end; ++k) {
            rbContact* contact = &frame->contacts.data[block->firstContact + k];
            *contact = makeFrameContact(pairs, item, &block->contacts.data[k]);
            contact->firstPoint = point;
            contact->pointCount = block->pointCounts.data[k];
            for (int end1 = point + contact->pointCount; point < end1; ++point) {
                const rbFreshPoint* fresh = &block->points.data[point - block->firstPoint];
                frame->foundPoints.data[point] = fresh->found;
                frame->points.data[point] = makeFramePoint(pairs, fresh);
            }
        }
        if (count > 0) {
            rbPairSpan span = {first, count, frame->stamp};
            pairs->spans.data[item.slot].frames[pairs->current] = span;
            const int* sources = &block->sources.data[first - block->firstContact];
            rbContactPairs_Recall(pairs, item, first, count, isLastKept ? sources : NULL);
        }
    }
}

// All blocks are searched, then filled, by all threads; one thread does them one after the other.
static void findBlocks(Search* search)
{
    rbContactPairs* pairs = search->pairs;
    int count = pairs->order.list.count;
    int blockSize = rbGetBlockSize(count, PAIRS_LEAST);
    bool isShared = rbGetWorkerCount() > 1 && count > blockSize;
    int blockCount = isShared ? rbGetBlockCount(count, blockSize) : 1;
    RB_ASSERT(pairs->search.scratches.count >= rbGetWorkerCount());
    rbArray_Reserve(pairs->search.counts, count);
    rbArray_Fill(pairs->search.blocks, blockCount, (rbFoundBlock){.firstPoint = 0});
    if (pairs->kept >= 0) {
        rbRunShares(pairs->bodies.count, BODIES_LEAST, rbContactPairs_FindMidways, pairs);
    }
    if (isShared) {
        rbRunShares(count, PAIRS_LEAST, findBlock, search);
        for (int i = 0; i < blockCount; ++i) {
            appendBlock(pairs, &pairs->search.blocks.data[i]);
        }
        rbRunShares(count, PAIRS_LEAST, fillBlock, search);
        return;
    }
    for (int begin = 0; begin < count; begin += blockSize) {
        rbShare share = {begin, count - begin < blockSize ? count : begin + blockSize, 0, 0};
        findBlock(search, share);
        appendBlock(pairs, &pairs->search.blocks.data[0]);
        fillBlock(search, share);
    }
}

rbContactSet rbContactPairs_Find(rbContactPairs* pairs, const rbContactPlace* places, int bodyCount)
{
    rbContactPairs_Approach(pairs, places, bodyCount);
    Search search = {.pairs = pairs, .last = &pairs->frames[pairs->current]};
    beginFrame(pairs, pairs->current);
    pairs->node = pairs->current;
    pairs->ahead.contacts.count = 0;
    pairs->ahead.points.count = 0;
    pairs->report.depth = 0.0;
    pairs->report.bodyA = -1;
    pairs->report.bodyB = -1;
    findBlocks(&search);
    RB_ASSERT(pairs->current != pairs->kept && pairs->report.depth >= 0.0);
    return getSet(pairs);
}

rbContactSet rbContactPairs_GetSet(rbContactPairs* pairs)
{
    pairs->ahead.contacts.count = 0;
    pairs->ahead.points.count = 0;
    pairs->current = pairs->node;
    return getSet(pairs);
}

void rbContactPairs_SetSpare(rbContactPairs* pairs, int count)
{
    RB_ASSERT(count >= 0);
    pairs->spare = count;
}

// ---------------------------------------------------------------------------------- other poses

int rbContactPairs_Measure(rbContactPairs* pairs, const int bodies[2], const rbRowPose poses[2],
                           double within, rbContactProbe* out, int capacity)
{
    rbNearBody moved[2];
    RB_ASSERT(within >= 0.0 && (out != NULL || capacity == 0));
    for (int i = 0; i < 2; ++i) {
        RB_ASSERT(bodies[i] >= 0 && bodies[i] < pairs->bodies.count);
        moved[i] = pairs->bodies.data[bodies[i]];
        RB_ASSERT(moved[i].shape.geometry != NULL);
        moved[i].position = poses[i].position;
        moved[i].orientation = poses[i].orientation;
        rbNearBody_Pose(&moved[i]);
    }
    // without the caches: they serve the search
    rbSeparationInput input = makeInput(&moved[0], moved[0].world, &moved[1], moved[1].world);
    double shell = pairs->settings.shell;
    int found = findManifolds(pairs->search.scratches.data, isManyfold(pairs, bodies[0], bodies[1]),
                              &input, within + shell, NULL);
    int count = 0;
    for (int i = 0; i < found; ++i) {
        const rbManifold* manifold = &pairs->search.scratches.data[0].manifolds.data[i];
        for (int k = 0; k < manifold->count; ++k) {
            if (count < capacity) {
                rbVec3 middle = rbManifoldPoint_GetMiddle(&manifold->points[k]);
                middle = rbAdd(rbMulMV(moved[0].worldRotation, middle), moved[0].world.p);
                rbVec3 normal = rbNormalize(rbMulMV(moved[0].worldRotation, manifold->normal));
                out[count] = (rbContactProbe){middle, normal, manifold->points[k].distance - shell};
            }
            count += 1;
        }
    }
    return count;
}

// --------------------------------------------------------------------------------------- ahead
// Contacts missing at the node: where bodies would overlap at the end of the flight.
//
// Contacts of a node bound the motion along their normals, to first order. This keeps two convex
// bodies apart that only translate. A rotating body may strike with a point that is not among them,
// and a round one touches at another place than its nearest point. So the poses at the end of the
// flight are checked. A pair that overlaps there gets its contacts there, with the gap that the
// current velocities would have closed,
//   gap = distance ahead - shell - h u.n,
// as contacts of the node in addition to its own: exact at these velocities, to first order around
// them (Newton's method on the gap at the end of the step).
//
// A pair that bears on one point and rolls keeps the row of the node, corrected by its bend: the
// gap measured at the end of the flight less gap + h u.n. Bodies then follow curved surfaces to
// second order.
//
// The set of the node stays unchanged. It is copied together with the new contacts to the third
// frame, so that look-aheads can be undone.
// Pairs count as overlapping when nearer than this fraction of the shell: a stage aims at all of
// it.
#define SHELL_PART 0.25
// The capped mode checks pairs in which one body moves its surface by rotation by more than this
// fraction of its size. It counts overlap that grows by more than this fraction of the smaller one.
#define CAPPED_SLACK 0.02
// Overlap is deep beyond this many shells.
#define DEEP_SHELLS 10.0
// rad: a body that rotates by more in the flight is spinning.
#define SPIN_MOST 0.5
// Fraction of a gap: cores within this distance of their required place count as being there.
#define CORE_ROUNDING 1e-6
// A pair rolls if its bodies rotate by less than this angle, rad, and its normal by less than the
// angle of this cosine: the row of the node is then a good gradient at the end of the flight. Its
// points may move over a body by the same fraction of its size.
#define ROLLING_TURN 0.2
#define ROLLING_COSINE 0.998
// Points on which a rolling pair bears: a ball on one, a cylinder or an edge on two.
#define ROLLING_POINTS 2
// Fraction of the tolerance to which bends are found.
#define BEND_PART 1.0
// Feature name of the points of cores.
#define CORE_NAME 0xc03eu

// The look-ahead of a pair at a body.
static rbNearHot heatAhead(const rbNearHot* now, const rbAheadBody* ahead)
{
    rbNearHot hot = *now;
    hot.center = ahead->world.p;
    hot.travel += ahead->travel;
    return hot;
}

// The nearest point of a contact of the node.
static int getNearest(const rbContactFrame* node, int contact)
{
    const rbFoundPoint* points = node->foundPoints.data;
    int nearest = node->contacts.data[contact].firstPoint;
    int end = nearest + node->contacts.data[contact].pointCount;
    for (int k = nearest + 1; k < end; ++k) {
        nearest = points[k].distance < points[nearest].distance ? k : nearest;
    }
    return nearest;
}

// Distance at the node, if it was found.
static double getNodeDistance(const rbContactPairs* pairs, int slot)
{
    const rbContactFrame* node = &pairs->frames[pairs->node];
    rbPairSpan span = getSpan(pairs, slot, node);
    double least = INFINITY;
    for (int i = span.first; i < span.first + span.count; ++i) {
        least = fmin(least, node->foundPoints.data[getNearest(node, i)].distance);
    }
    return least;
}

// Whether the contacts of the node are enough for a pair: two convex bodies that hardly turn.
static bool areContactsEnough(const rbContactPairs* pairs, rbPairOrder item)
{
    const rbAheadBody* a = &pairs->ahead.bodies.data[item.a];
    const rbAheadBody* b = &pairs->ahead.bodies.data[item.b];
    double missed = isManyfold(pairs, item.a, item.b) ? a->travel + b->travel : a->turn + b->turn;
    return pairs->pairs.data[item.slot].hadContacts && missed < SHELL_PART * pairs->settings.shell;
}

// The cache of a pair, which stays as it is.
static rbSeparationCache copyCache(const rbContactPairs* pairs, int slot)
{
    const rbPairMemory* memory = rbContactPairs_GetMemory(pairs, slot);
    rbSeparationCache cache = memory != NULL ? memory->cache : (rbSeparationCache){0};
    cache.front = NULL;
    return cache;
}

static rbSeparationInput makeAheadInput(const rbContactPairs* pairs, rbPairOrder item)
{
    return makeInput(&pairs->bodies.data[item.a], pairs->ahead.bodies.data[item.a].world,
                     &pairs->bodies.data[item.b], pairs->ahead.bodies.data[item.b].world);
}

static bool isOverlapping(rbContactPairs* pairs, rbPairOrder item, const rbContactAhead* flight)
{
    rbContactCandidate pair =
        pairs->pairs.data[item.slot]; // what is found here holds elsewhere too
    rbNearHot a = heatAhead(&pairs->hots.data[item.a], &pairs->ahead.bodies.data[item.a]);
    rbNearHot b = heatAhead(&pairs->hots.data[item.b], &pairs->ahead.bodies.data[item.b]);
    double near = SHELL_PART * pairs->settings.shell;
    if (areApart(&pair, &a, &b, near)) {
        return false;
    }
    // overlap gets no deeper, and is undone where the settings allow it in one step
    double node = getNodeDistance(pairs, item.slot);
    double way = flight->h * pairs->settings.partSpeed - (pairs->settings.shell - near);
    double slack = flight->isCapped ? CAPPED_SLACK * fmin(a.radius, b.radius) : 0.0;
    double limit = !flight->isCapped && node + way >= near ? near : fmin(near, node) - slack;
    rbSeparationCache cache = copyCache(pairs, item.slot);
    rbSeparationInput input = makeAheadInput(pairs, item);
    if (isManyfold(pairs, item.a, item.b)) {
        bool overlaps = false;
        rbStatus status = rbTestOverlap(&input, near, &cache, &overlaps, NULL);
        if (status != RB_STATUS_OK || !overlaps) {
            return false;
        }
        cache = copyCache(pairs, item.slot);
    }
    rbSeparation separation;
    rbStatus status = rbMeasureSeparation(&input, &cache, pairs->search.scratches.data[0].memory,
                                          &separation, NULL);
    return status == RB_STATUS_OK && separation.distance < limit;
}

// Whether a contact of overlapping bodies would separate them through each other: against all
// normals of the node. For a thin body the shortest exit is on the other side.
static bool isContrary(const rbContactPairs* pairs, int slot, rbVec3 normal)
{
    const rbContactFrame* node = &pairs->frames[pairs->node];
    rbPairSpan span = getSpan(pairs, slot, node);
    bool isContrary = span.count > 0;
    for (int i = span.first; isContrary && i < span.first + span.count; ++i) {
        isContrary = rbDot(normal, node->contacts.data[i].normal) < 0.0;
    }
    return isContrary;
}

// Whether the bodies of a pair rotate, and so little that the row of the node stays a good
// gradient. A point at the distance r that moves by d about the center leaves its tangent by d^2 /
// 2r.
static bool isTurningSlowly(const rbContactPairs* pairs, rbPairOrder item)
{
    const int pair[2] = {item.a, item.b};
    double bend = 0.0;
    bool isSlow = true;
    for (int i = 0; i < 2; ++i) {
        double turn = pairs->ahead.bodies.data[pair[i]].turn;
        double radius = pairs->bodies.data[pair[i]].turnRadius;
        bend += turn > 0.0 ? turn * turn / radius : 0.0;
        isSlow = isSlow && turn <= ROLLING_TURN * radius;
    }
    return isSlow && bend >= BEND_PART * pairs->settings.tolerance;
}

// The contact of the node of a pair that bears there on all of one or two points, and turns; NULL:
// any other pair.
static const rbContact* getRolling(const rbContactPairs* pairs, rbPairOrder item,
                                   const rbContactAhead* flight)
{
    rbPairSpan span = getSpan(pairs, item.slot, &pairs->frames[pairs->node]);
    if (flight->isCapped || span.count != 1) {
        return NULL;
    }
    const rbContact* contact = &flight->nodeContacts[span.first];
    const rbContactPoint* points = &flight->nodePoints[contact->firstPoint];
    bool isRolling = contact->pointCount <= ROLLING_POINTS;
    for (int k = 0; isRolling && k < contact->pointCount; ++k) {
        isRolling = points[k].isClosed && points[k].impulse[0] > 0.0 &&
                    points[k].gap >= -pairs->settings.shell;
    }
    return isRolling && isTurningSlowly(pairs, item) ? contact : NULL;
}

// Whether a point of contact moved little, as seen from the center of a body: one that rocks
// touches elsewhere at once.
static bool isNearArm(const rbContactPairs* pairs, int body, rbVec3 arm, rbVec3 middle)
{
    const rbAheadBody* ahead = &pairs->ahead.bodies.data[body];
    double limit = ROLLING_TURN * pairs->bodies.data[body].turnRadius;
    rbVec3 moved = rbSub(rbSub(middle, ahead->position), arm);
    return !(ahead->turn > 0.0) || rbLengthSquared(moved) <= limit * limit;
}

// The point of a manifold at the end of the flight that a point of the node moved to; NULL: none.
static const rbManifoldPoint* findMoved(const rbContactPairs* pairs, const rbContact* contact,
                                        const rbContactAhead* flight, int k,
                                        const rbManifold* manifold)
{
    rbTransform a = pairs->ahead.bodies.data[contact->bodyA].world;
    const rbContactPoint* point = &flight->nodePoints[k];
    for (int i = 0; i < manifold->count; ++i) {
        const rbManifoldPoint* moved = &manifold->points[i];
        if (moved->featureId == pairs->frames[pairs->node].foundPoints.data[k].featureId) {
            rbVec3 middle = rbTransformPoint(a, rbManifoldPoint_GetMiddle(moved));
            bool isNear = isNearArm(pairs, contact->bodyA, point->armA, middle) &&
                          isNearArm(pairs, contact->bodyB, point->armB, middle);
            return isNear ? moved : NULL;
        }
    }
    return NULL;
}

// Rolling: the pair touches with the same points at the node and at the end of the flight. The rows
// of the node are kept, and corrected by what the curvature of paths and surfaces takes of the
// gaps: second rows, nearly equal to the first, would count as arrivals. False: it does not roll.
static bool bendPoints(rbContactPairs* pairs, const rbContact* contact,
                       const rbContactAhead* flight, const rbManifold* manifold, rbVec3 normal)
{
    if (contact == NULL || manifold->count != contact->pointCount ||
        rbDot(normal, contact->normal) < ROLLING_COSINE) {
        return false;
    }
    const rbManifoldPoint* moved[ROLLING_POINTS];
    for (int k = 0; k < contact->pointCount; ++k) {
        moved[k] = findMoved(pairs, contact, flight, contact->firstPoint + k, manifold);
        if (moved[k] == NULL) {
            return false;
        }
    }
    for (int k = 0; k < contact->pointCount; ++k) {
        rbContactPoint* point = &flight->nodePoints[contact->firstPoint + k];
        rbVec3 u = rbContact_RelativeVelocity(flight->bodies, contact, point);
        double gap = fmax(point->gap, -flight->h * pairs->settings.partSpeed);
        double predicted = gap + flight->h * rbDot(u, contact->normal);
        double bend = moved[k]->distance - pairs->settings.shell - predicted;
        if (fabs(bend - point->bend) > BEND_PART * pairs->settings.tolerance) {
            point->bend = bend;
            pairs->ahead.isBent = true;
        }
    }
    return true;
}

// Begins a contact there; its points follow.
static void beginAhead(rbContactPairs* pairs, rbPairOrder item, const rbFoundContact* found,
                       int pointCount)
{
    rbAheadContact contact = {.slot = item.slot,
                              .firstPoint = pairs->ahead.points.count,
                              .pointCount = pointCount,
                              .found = *found};
    RB_ASSERT(pointCount > 0);
    contact.found.isAhead = true;
    rbArray_Push(pairs->ahead.contacts, contact);
}

// By how much a gap with these arms changes in the flight.
static double getClosing(const rbContactAhead* flight, rbPairOrder item, const rbVec3 arms[2],
                         rbVec3 normal)
{
    rbVec3 u = rbContactBody_RelativeVelocity(&flight->bodies[item.a], arms[0],
                                              &flight->bodies[item.b], arms[1]);
    return flight->h * rbDot(u, normal);
}

static void addAhead(rbContactPairs* pairs, rbPairOrder item, const rbContactAhead* flight,
                     const rbManifold* manifold)
{
    const rbAheadBody* a = &pairs->ahead.bodies.data[item.a];
    const rbAheadBody* b = &pairs->ahead.bodies.data[item.b];
    rbFoundContact found = makeFoundOf(manifold, rbMatFromQuat(a->world.q));
    beginAhead(pairs, item, &found, manifold->count);
    // Overlap of the node is undone no faster than the settings say.
    const rbContactSettings* settings = &pairs->settings;
    double parted = getNodeDistance(pairs, item.slot) + flight->h * settings->partSpeed;
    double excess = fmax(0.0, settings->shell - parted);
    for (int i = 0; i < manifold->count; ++i) {
        const rbManifoldPoint* at = &manifold->points[i];
        rbVec3 middle = rbTransformPoint(a->world, rbManifoldPoint_GetMiddle(at));
        const rbVec3 arms[2] = {rbSub(middle, a->position), rbSub(middle, b->position)};
        double distance = at->distance + excess - getClosing(flight, item, arms, found.normal);
        rbFreshPoint point =
            makePoint(arms[0], &a->rotation, arms[1], &b->rotation, distance, at->featureId);
        rbArray_Push(pairs->ahead.points, point);
    }
}

// A body that rotates by more than this in the flight may be anywhere about its center.
static bool isSpinning(const rbContactBody* body, double h)
{
    return h * rbLength(body->spin) > SPIN_MOST;
}

// A contact of the node between cores: its point on a body that hardly rotates, or the center with
// a small neighborhood on a spinning one.
static void addCore(rbContactPairs* pairs, rbPairOrder item, const rbContactAhead* flight,
                    int contact)
{
    const rbContactFrame* node = &pairs->frames[pairs->node];
    const rbFoundContact* found = &node->foundContacts.data[contact];
    int nearest = getNearest(node, contact);
    double distance = node->foundPoints.data[nearest].distance;
    const int bodies[2] = {item.a, item.b};
    rbVec3 cores[2] = {node->points.data[nearest].armA, node->points.data[nearest].armB};
    double gap = distance;
    for (int i = 0; i < 2; ++i) {
        if (isSpinning(&flight->bodies[bodies[i]], flight->h)) {
            double depth = rbDot(found->normal, cores[i]); // toward B
            gap += (i == 0 ? depth : -depth) - 0.5 * distance;
            gap -= pairs->bodies.data[bodies[i]].margin;
            cores[i] = RB_VEC3_ZERO;
        }
    }
    double after = gap + getClosing(flight, item, cores, found->normal);
    if (gap <= 0.0 || after >= -CORE_ROUNDING * gap) {
        return;
    }
    beginAhead(pairs, item, found, 1);
    rbFreshPoint point =
        makePoint(cores[0], &pairs->bodies.data[item.a].rotation, cores[1],
                  &pairs->bodies.data[item.b].rotation, gap + pairs->settings.shell, CORE_NAME);
    rbArray_Push(pairs->ahead.points, point);
    pairs->report.isGuarded = true;
}

// The points of contacts do not predict where a fast-spinning body goes, but its center must not
// pass through to the other side.
static void guardCores(rbContactPairs* pairs, rbPairOrder item, const rbContactAhead* flight)
{
    if (!isSpinning(&flight->bodies[item.a], flight->h) &&
        !isSpinning(&flight->bodies[item.b], flight->h)) {
        return;
    }
    rbPairSpan span = getSpan(pairs, item.slot, &pairs->frames[pairs->node]);
    for (int i = span.first; i < span.first + span.count; ++i) {
        addCore(pairs, item, flight, i);
    }
}

// The manifolds of a pair at the end of the flight, and how many there are.
static int findAhead(rbContactPairs* pairs, rbPairOrder item, const rbSeparationInput* input)
{
    rbSeparationCache cache = copyCache(pairs, item.slot);
    double threshold = pairs->settings.shell + pairs->ahead.bodies.data[item.a].turn +
                       pairs->ahead.bodies.data[item.b].turn;
    return findManifolds(pairs->search.scratches.data, isManyfold(pairs, item.a, item.b), input,
                         threshold, &cache);
}

// Whether a body moves its surface far by rotating.
static bool isTurningFar(const rbContactPairs* pairs, int body)
{
    return pairs->ahead.bodies.data[body].turn > CAPPED_SLACK * pairs->hots.data[body].radius;
}

static void searchAhead(rbContactPairs* pairs, rbPairOrder item, const rbContactAhead* flight)
{
    const rbContact* only = getRolling(pairs, item, flight);
    if (flight->isCapped) {
        if (!isTurningFar(pairs, item.a) && !isTurningFar(pairs, item.b)) {
            return;
        }
    } else if (areContactsEnough(pairs, item)) {
        if (only == NULL) {
            return;
        }
    } else {
        guardCores(pairs, item, flight);
    }
    bool isNear = isOverlapping(pairs, item, flight);
    if (!isNear && only == NULL) {
        return;
    }
    rbSeparationInput input = makeAheadInput(pairs, item);
    int count = findAhead(pairs, item, &input);
    rbMat3 rotation = rbMatFromQuat(pairs->ahead.bodies.data[item.a].world.q);
    for (int i = 0; i < count; ++i) {
        const rbManifold* manifold = &pairs->search.scratches.data[0].manifolds.data[i];
        if (manifold->count == 0) {
            continue;
        }
        rbVec3 normal = rbMulMV(rotation, manifold->normal);
        bool isDeep = manifold->points[0].distance < -DEEP_SHELLS * pairs->settings.shell;
        if (isDeep && isContrary(pairs, item.slot, normal)) {
            pairs->report.isThrough = true;
        } else if (!bendPoints(pairs, only, flight, manifold, normal) && isNear) {
            rbPairSpan span = getSpan(pairs, item.slot, &pairs->frames[pairs->node]);
            for (int k = span.first; k < span.first + span.count; ++k) {
                const rbContact* own = &flight->nodeContacts[k];
                for (int j = own->firstPoint; j < own->firstPoint + own->pointCount; ++j) {
                    flight->nodePoints[j].bend = 0.0;
                }
            }
            addAhead(pairs, item, flight, manifold);
        }
    }
}

// Copies a contact of the node, as given, to the frame being written.
static void copyContact(rbContactPairs* pairs, const rbContactAhead* flight, int index)
{
    const rbContactFrame* from = &pairs->frames[pairs->node];
    rbContactFrame* to = &pairs->frames[pairs->current];
    rbContact contact = flight->nodeContacts[index];
    int first = contact.firstPoint;
    contact.firstPoint = to->points.count;
    rbArray_Push(to->contacts, contact);
    rbArray_Push(to->foundContacts, from->foundContacts.data[index]);
    for (int k = first; k < first + contact.pointCount; ++k) {
        rbArray_Push(to->points, flight->nodePoints[k]);
        rbArray_Push(to->foundPoints, from->foundPoints.data[k]);
    }
}

// The node's frame with the contacts ahead, in the order of the pairs.
static void joinFrames(rbContactPairs* pairs, const rbContactAhead* flight)
{
    const rbContactFrame* node = &pairs->frames[pairs->node];
    beginFrame(pairs, pairs->node);
    rbContactFrame* frame = &pairs->frames[pairs->current];
    // the lists of contacts by pair: heads by slot
    rbArray_Reserve(pairs->ahead.heads, pairs->table.end);
    for (int slot = 0; slot < pairs->table.end; ++slot) {
        pairs->ahead.heads.data[slot] = -1;
    }
    for (int i = pairs->ahead.contacts.count - 1; i >= 0; --i) {
        rbAheadContact* contact = &pairs->ahead.contacts.data[i];
        contact->next = pairs->ahead.heads.data[contact->slot];
        pairs->ahead.heads.data[contact->slot] = i;
    }
    for (int i = 0; i < pairs->order.list.count; ++i) {
        rbPairOrder item = pairs->order.list.data[i];
        rbPairSpans* spans = &pairs->spans.data[item.slot];
        rbPairSpan span = getSpan(pairs, item.slot, node);
        int first = frame->contacts.count;
        for (int k = 0; k < span.count; ++k) {
            copyContact(pairs, flight, span.first + k);
        }
        for (int k = pairs->ahead.heads.data[item.slot]; k >= 0;
             k = pairs->ahead.contacts.data[k].next) {
            const rbAheadContact* ahead = &pairs->ahead.contacts.data[k];
            rbContact contact = makeFrameContact(pairs, item, &ahead->found);
            contact.firstPoint = frame->points.count;
            contact.pointCount = ahead->pointCount;
            rbArray_Push(frame->contacts, contact);
            rbArray_Push(frame->foundContacts, ahead->found);
            for (int j = 0; j < ahead->pointCount; ++j) {
                const rbFreshPoint* fresh = &pairs->ahead.points.data[ahead->firstPoint + j];
                rbContactPoint point = makeFramePoint(pairs, fresh);
                point.isAhead = true;
                rbArray_Push(frame->points, point);
                rbArray_Push(frame->foundPoints, fresh->found);
            }
        }
        if (frame->contacts.count > first) {
            rbPairSpan all = {first, frame->contacts.count - first, frame->stamp};
            spans->frames[pairs->current] = all;
        }
    }
}

bool rbContactPairs_FindBends(rbContactPairs* pairs, const rbContactAhead* flight)
{
    RB_ASSERT(flight->bodyCount >= pairs->bodies.count && flight->h > 0.0);
    rbContactPairs_FollowFlight(pairs, flight->poses, false);
    pairs->ahead.isBent = false;
    for (int i = 0; i < pairs->order.list.count; ++i) {
        rbPairOrder item = pairs->order.list.data[i];
        const rbContact* only = getRolling(pairs, item, flight);
        if (only == NULL) {
            continue;
        }
        rbSeparationInput input = makeAheadInput(pairs, item);
        if (findAhead(pairs, item, &input) == 1) {
            const rbManifold* manifold = &pairs->search.scratches.data[0].manifolds.data[0];
            rbMat3 rotation = rbMatFromQuat(pairs->ahead.bodies.data[item.a].world.q);
            (void)bendPoints(pairs, only, flight, manifold, rbMulMV(rotation, manifold->normal));
        }
    }
    return pairs->ahead.isBent;
}

bool rbContactPairs_LookAhead(rbContactPairs* pairs, const rbContactAhead* flight,
                              rbContactSet* set)
{
    RB_ASSERT(flight->bodyCount >= pairs->bodies.count && flight->h > 0.0);
    RB_ASSERT(set->points == pairs->frames[pairs->current].points.data);
    rbContactPairs_FollowFlight(pairs, flight->poses, true);
    int before = pairs->ahead.contacts.count;
    pairs->report.isThrough = false;
    pairs->report.isGuarded = false;
    pairs->ahead.isBent = false;
    for (int i = 0; i < pairs->order.list.count; ++i) {
        if (i + AHEAD < pairs->order.list.count) {
            __builtin_prefetch(&pairs->ahead.bodies.data[pairs->order.list.data[i + AHEAD].b].turn);
        }
        searchAhead(pairs, pairs->order.list.data[i], flight);
    }
    if (pairs->ahead.contacts.count == before && !pairs->ahead.isBent) {
        return false;
    }
    joinFrames(pairs, flight);
    *set = getSet(pairs);
    return true;
}

bool rbContactPairs_IsTurned(const rbContactPairs* pairs, int body)
{
    return body < pairs->bodies.count && pairs->bodies.data[body].turnRadius > 0.0;
}
