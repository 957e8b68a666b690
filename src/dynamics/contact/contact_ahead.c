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
#include "dynamics/contact/contact_state.h"

#include <math.h>

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
// angle of this cosine: the row of the node is then a good gradient at the end of the flight.
#define ROLLING_TURN 0.2
#define ROLLING_COSINE 0.998
// Fraction of the tolerance to which bends are found.
#define BEND_PART 1.0
// Feature name of the points of cores.
#define CORE_NAME 0xc03eu

static rbAheadBody makeAhead(const rbContactPairs* pairs, int index, const rbRowPose* pose)
{
    const rbNearBody* body = &pairs->bodies.data[index];
    rbTransform at = {pose->position, pose->orientation};
    rbAheadBody ahead = {.world = rbMulTransforms(at, body->transform),
                         .position = pose->position,
                         .rotation = pose->rotation};
    ahead.turn = body->traits.isBounded ? rbNearBody_BoundTurn(body, pose->orientation) : 0.0;
    ahead.travel = ahead.turn + rbDistance(pose->position, body->position);
    return ahead;
}

// The look-ahead of a pair at a body.
static rbNearHot heatAhead(const rbNearHot* now, const rbAheadBody* ahead)
{
    rbNearHot hot = *now;
    hot.center = ahead->world.p;
    hot.travel += ahead->travel;
    return hot;
}

// Distance at the node, if it was found.
static double getNodeDistance(const rbContactPairs* pairs, int slot)
{
    const rbContactFrame* node = &pairs->frames[pairs->node];
    rbPairSpan span = pairs->spans.data[slot].frames[pairs->node];
    double least = INFINITY;
    for (int i = span.first; span.stamp == node->stamp && i < span.first + span.count; ++i) {
        const rbContact* contact = &node->contacts.data[i];
        for (int k = 0; k < contact->pointCount; ++k) {
            least = fmin(least, node->foundPoints.data[contact->firstPoint + k].distance);
        }
    }
    return least;
}

// Whether the contacts of the node are enough for a pair: two convex bodies that hardly turn.
static bool areContactsEnough(const rbContactPairs* pairs, rbPairOrder item)
{
    const rbAheadBody* a = &pairs->ahead.bodies.data[item.a];
    const rbAheadBody* b = &pairs->ahead.bodies.data[item.b];
    bool isManyfold = pairs->bodies.data[item.a].traits.isManyfold ||
                      pairs->bodies.data[item.b].traits.isManyfold;
    double missed = isManyfold ? a->travel + b->travel : a->turn + b->turn;
    return pairs->pairs.data[item.slot].hadContacts && missed < SHELL_PART * pairs->settings.shell;
}

static bool isOverlapping(rbContactPairs* pairs, rbPairOrder item, const rbSeparationInput* input,
                          bool isCapped)
{
    rbContactCandidate pair =
        pairs->pairs.data[item.slot]; // what is found here holds elsewhere too
    rbNearHot a = heatAhead(&pairs->hots.data[item.a], &pairs->ahead.bodies.data[item.a]);
    rbNearHot b = heatAhead(&pairs->hots.data[item.b], &pairs->ahead.bodies.data[item.b]);
    double near = SHELL_PART * pairs->settings.shell;
    if (rbNearPair_AreApart(&pair, &a, &b, near)) {
        return false;
    }
    double limit = fmin(near, getNodeDistance(pairs, item.slot)); // overlap gets no deeper
    if (isCapped) {
        limit -= CAPPED_SLACK * fmin(a.radius, b.radius);
    }
    rbSeparationCache cache = pairs->caches.data[item.slot];
    cache.front = NULL;
    if (pairs->bodies.data[item.a].traits.isManyfold ||
        pairs->bodies.data[item.b].traits.isManyfold) {
        bool overlaps = false;
        rbStatus status = rbTestOverlap(input, near, &cache, &overlaps, NULL);
        if (status != RB_STATUS_OK || !overlaps) {
            return false;
        }
        cache = pairs->caches.data[item.slot];
        cache.front = NULL;
    }
    rbSeparation separation;
    rbStatus status = rbMeasureSeparation(input, &cache, pairs->search.scratch, &separation, NULL);
    return status == RB_STATUS_OK && separation.distance < limit;
}

// Whether a contact of overlapping bodies would separate them through each other: against all
// normals of the node. For a thin body the shortest exit is on the other side.
static bool isContrary(const rbContactPairs* pairs, int slot, rbVec3 normal)
{
    const rbContactFrame* node = &pairs->frames[pairs->node];
    rbPairSpan span = pairs->spans.data[slot].frames[pairs->node];
    bool isContrary = span.stamp == node->stamp && span.count > 0;
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

// The contact of the node of a pair that bears there on one point only, and turns; NULL: any other
// pair.
static const rbContact* getRolling(const rbContactPairs* pairs, rbPairOrder item,
                                   const rbContactAhead* flight)
{
    const rbContactFrame* node = &pairs->frames[pairs->node];
    rbPairSpan span = pairs->spans.data[item.slot].frames[pairs->node];
    if (flight->isCapped || span.stamp != node->stamp || span.count != 1) {
        return NULL;
    }
    const rbContact* contact = &flight->nodeContacts[span.first];
    const rbContactPoint* point = &flight->nodePoints[contact->firstPoint];
    bool isBearing = contact->pointCount == 1 && point->isClosed && point->impulse[0] > 0.0;
    bool isOverlap = point->gap < -pairs->settings.shell;
    return isBearing && !isOverlap && isTurningSlowly(pairs, item) ? contact : NULL;
}

// Whether the point of contact stayed where it was, as seen from the center of a body, but for its
// rotation: one that rocks touches elsewhere at once.
static bool isNearArm(const rbAheadBody* ahead, rbVec3 arm, rbVec3 middle)
{
    rbVec3 moved = rbSub(rbSub(middle, ahead->position), arm);
    return !(ahead->turn > 0.0) || rbLengthSquared(moved) <= 2.0 * ahead->turn * ahead->turn;
}

// Rolling: the pair touches with one point at the node and at the end of the flight. The row of the
// node is kept, and corrected by what the curvature of paths and surfaces takes of the gap: a
// second row, nearly equal to the first, would count as an arrival. False: it does not roll.
static bool bendPoint(rbContactPairs* pairs, const rbContact* contact, const rbContactAhead* flight,
                      const rbManifold* manifold, rbVec3 normal)
{
    if (contact == NULL || manifold->count != 1 ||
        rbDot(normal, contact->normal) < ROLLING_COSINE ||
        manifold->points[0].featureId !=
            pairs->frames[pairs->node].foundPoints.data[contact->firstPoint].featureId) {
        return false;
    }
    const rbAheadBody* a = &pairs->ahead.bodies.data[contact->bodyA];
    const rbAheadBody* b = &pairs->ahead.bodies.data[contact->bodyB];
    rbContactPoint* point = &flight->nodePoints[contact->firstPoint];
    rbVec3 middle = rbTransformPoint(a->world, rbManifoldPoint_GetMiddle(&manifold->points[0]));
    if (!isNearArm(a, point->armA, middle) || !isNearArm(b, point->armB, middle)) {
        return false;
    }
    rbVec3 u = rbContact_RelativeVelocity(flight->bodies, contact, point);
    double gap = fmax(point->gap, -flight->h * pairs->settings.partSpeed);
    double predicted = gap + flight->h * rbDot(u, contact->normal);
    double bend = manifold->points[0].distance - pairs->settings.shell - predicted;
    if (fabs(bend - point->bend) > BEND_PART * pairs->settings.tolerance) {
        point->bend = bend;
        pairs->ahead.isBent = true;
    }
    return true;
}

static void addAhead(rbContactPairs* pairs, rbPairOrder item, const rbContactAhead* flight,
                     const rbManifold* manifold)
{
    const rbAheadBody* a = &pairs->ahead.bodies.data[item.a];
    const rbAheadBody* b = &pairs->ahead.bodies.data[item.b];
    rbAheadContact contact = {.slot = item.slot,
                              .next = -1,
                              .firstPoint = pairs->ahead.points.count,
                              .pointCount = manifold->count};
    contact.found = rbMakeFoundContact(manifold, rbMatFromQuat(a->world.q));
    contact.found.isAhead = true;
    rbContact motion = {.bodyA = item.a, .bodyB = item.b};
    // Overlap of the node is undone no faster than the settings say.
    const rbContactSettings* settings = &pairs->settings;
    double parted = getNodeDistance(pairs, item.slot) + flight->h * settings->partSpeed;
    double excess = fmax(0.0, settings->shell - parted);
    for (int i = 0; i < manifold->count; ++i) {
        const rbManifoldPoint* at = &manifold->points[i];
        rbVec3 middle = rbTransformPoint(a->world, rbManifoldPoint_GetMiddle(at));
        rbFoundPoint point = {.armA = rbSub(middle, a->position),
                              .armB = rbSub(middle, b->position),
                              .featureId = at->featureId};
        point.localA = rbMulMtV(a->rotation, point.armA);
        point.localB = rbMulMtV(b->rotation, point.armB);
        rbContactPoint arms = {.armA = point.armA, .armB = point.armB};
        rbVec3 u = rbContact_RelativeVelocity(flight->bodies, &motion, &arms);
        point.distance = at->distance + excess - flight->h * rbDot(u, contact.found.normal);
        rbArray_Push(pairs->ahead.points, point);
    }
    rbArray_Push(pairs->ahead.contacts, contact);
}

// A body that rotates by more than this in the flight may be anywhere about its center.
static bool isSpinning(const rbContactBody* body, double h)
{
    return h * rbLength(body->spin) > SPIN_MOST;
}

// A contact of the node between cores: its point on a body that hardly rotates, or the center with
// a small neighborhood on a spinning one.
static void addCore(rbContactPairs* pairs, rbPairOrder item, const rbContactAhead* flight,
                    const rbFoundContact* found, const rbFoundPoint* at)
{
    const int bodies[2] = {item.a, item.b};
    const rbVec3 arms[2] = {at->armA, at->armB};
    rbVec3 cores[2];
    double gap = at->distance;
    for (int i = 0; i < 2; ++i) {
        cores[i] = arms[i];
        if (isSpinning(&flight->bodies[bodies[i]], flight->h)) {
            double depth = rbDot(found->normal, arms[i]); // toward B
            gap += (i == 0 ? depth : -depth) - 0.5 * at->distance;
            gap -= pairs->bodies.data[bodies[i]].margin;
            cores[i] = RB_VEC3_ZERO;
        }
    }
    rbContact motion = {.bodyA = item.a, .bodyB = item.b};
    rbContactPoint moved = {.armA = cores[0], .armB = cores[1]};
    rbVec3 u = rbContact_RelativeVelocity(flight->bodies, &motion, &moved);
    double after = gap + flight->h * rbDot(u, found->normal);
    if (gap <= 0.0 || after >= -CORE_ROUNDING * gap) {
        return;
    }
    rbAheadContact contact = {.slot = item.slot,
                              .next = -1,
                              .firstPoint = pairs->ahead.points.count,
                              .pointCount = 1,
                              .found = *found};
    contact.found.isAhead = true;
    rbFoundPoint point = {.armA = cores[0],
                          .armB = cores[1],
                          .localA = rbMulMtV(pairs->bodies.data[item.a].rotation, cores[0]),
                          .localB = rbMulMtV(pairs->bodies.data[item.b].rotation, cores[1]),
                          .distance = gap + pairs->settings.shell,
                          .featureId = CORE_NAME};
    rbArray_Push(pairs->ahead.points, point);
    rbArray_Push(pairs->ahead.contacts, contact);
    pairs->ahead.isGuarded = true;
}

// The points of contacts do not predict where a fast-spinning body goes, but its center must not
// pass through to the other side.
static void guardCores(rbContactPairs* pairs, rbPairOrder item, const rbContactAhead* flight)
{
    if (!isSpinning(&flight->bodies[item.a], flight->h) &&
        !isSpinning(&flight->bodies[item.b], flight->h)) {
        return;
    }
    const rbContactFrame* node = &pairs->frames[pairs->node];
    rbPairSpan span = pairs->spans.data[item.slot].frames[pairs->node];
    for (int i = span.first; span.stamp == node->stamp && i < span.first + span.count; ++i) {
        const rbContact* contact = &node->contacts.data[i];
        const rbFoundPoint* nearest = &node->foundPoints.data[contact->firstPoint];
        for (int k = 1; k < contact->pointCount; ++k) {
            const rbFoundPoint* other = &node->foundPoints.data[contact->firstPoint + k];
            nearest = other->distance < nearest->distance ? other : nearest;
        }
        addCore(pairs, item, flight, &node->foundContacts.data[i], nearest);
    }
}

static rbSeparationInput getInput(const rbContactPairs* pairs, rbPairOrder item)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = pairs->bodies.data[item.a].geometry;
    input.geometryB = pairs->bodies.data[item.b].geometry;
    input.transformBtoA = rbInvMulTransforms(pairs->ahead.bodies.data[item.a].world,
                                             pairs->ahead.bodies.data[item.b].world);
    return input;
}

// The manifolds of a pair at the end of the flight, and how many there are.
static int findManifolds(rbContactPairs* pairs, rbPairOrder item, const rbSeparationInput* input)
{
    bool isManyfold = pairs->bodies.data[item.a].traits.isManyfold ||
                      pairs->bodies.data[item.b].traits.isManyfold;
    rbContactList list = {.manifolds = pairs->search.manifolds.data,
                          .capacity = isManyfold ? RB_PAIR_MANIFOLDS_MAX : 1};
    rbSeparationCache cache = pairs->caches.data[item.slot];
    cache.front = NULL;
    double threshold = pairs->settings.shell + pairs->ahead.bodies.data[item.a].turn +
                       pairs->ahead.bodies.data[item.b].turn;
    rbStatus status = rbFindContacts(input, threshold, &cache, pairs->search.scratch, &list, NULL);
    int count = status != RB_STATUS_OK ? 0 : list.count;
    return count < list.capacity ? count : list.capacity;
}

static void clearBend(const rbContactPairs* pairs, int slot, const rbContactAhead* flight)
{
    const rbContactFrame* node = &pairs->frames[pairs->node];
    rbPairSpan span = pairs->spans.data[slot].frames[pairs->node];
    for (int i = span.first; span.stamp == node->stamp && i < span.first + span.count; ++i) {
        flight->nodePoints[flight->nodeContacts[i].firstPoint].bend = 0.0;
    }
}

static void searchAhead(rbContactPairs* pairs, rbPairOrder item, const rbContactAhead* flight)
{
    const rbContact* only = getRolling(pairs, item, flight);
    if (flight->isCapped) {
        if (pairs->ahead.isTurning.data[item.a] == 0 && pairs->ahead.isTurning.data[item.b] == 0) {
            return;
        }
    } else if (areContactsEnough(pairs, item)) {
        if (only == NULL) {
            return;
        }
    } else {
        guardCores(pairs, item, flight);
    }
    rbSeparationInput input = getInput(pairs, item);
    bool isNear = isOverlapping(pairs, item, &input, flight->isCapped);
    if (!isNear && only == NULL) {
        return;
    }
    int count = findManifolds(pairs, item, &input);
    rbMat3 rotation = rbMatFromQuat(pairs->ahead.bodies.data[item.a].world.q);
    for (int i = 0; i < count; ++i) {
        const rbManifold* manifold = &pairs->search.manifolds.data[i];
        if (manifold->count == 0) {
            continue;
        }
        rbVec3 normal = rbMulMV(rotation, manifold->normal);
        bool isDeep = manifold->points[0].distance < -DEEP_SHELLS * pairs->settings.shell;
        if (isDeep && isContrary(pairs, item.slot, normal)) {
            pairs->ahead.isThrough = true;
        } else if (!bendPoint(pairs, only, flight, manifold, normal) && isNear) {
            clearBend(pairs, item.slot, flight);
            addAhead(pairs, item, flight, manifold);
        }
    }
}

// The bend of a pair that rolls, before the first solution.
static void searchBend(rbContactPairs* pairs, rbPairOrder item, const rbContactAhead* flight)
{
    const rbContact* only = getRolling(pairs, item, flight);
    rbSeparationInput input = getInput(pairs, item);
    if (only != NULL && findManifolds(pairs, item, &input) == 1) {
        const rbManifold* manifold = &pairs->search.manifolds.data[0];
        rbMat3 rotation = rbMatFromQuat(pairs->ahead.bodies.data[item.a].world.q);
        (void)bendPoint(pairs, only, flight, manifold, rbMulMV(rotation, manifold->normal));
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
        rbContactPoint point = flight->nodePoints[k];
        point.key = to->points.count;
        rbArray_Push(to->points, point);
        rbArray_Push(to->foundPoints, from->foundPoints.data[k]);
    }
}

// The lists of contacts by pair: heads by slot.
static void linkAheads(rbContactPairs* pairs)
{
    rbArray_Reserve(pairs->ahead.heads, pairs->table.end);
    for (int slot = 0; slot < pairs->table.end; ++slot) {
        pairs->ahead.heads.data[slot] = -1;
    }
    for (int i = pairs->ahead.contacts.count - 1; i >= 0; --i) {
        rbAheadContact* contact = &pairs->ahead.contacts.data[i];
        contact->next = pairs->ahead.heads.data[contact->slot];
        pairs->ahead.heads.data[contact->slot] = i;
    }
}

// The node's frame with the contacts ahead, in the order of the pairs.
static void joinFrames(rbContactPairs* pairs, const rbContactAhead* flight)
{
    const rbContactFrame* node = &pairs->frames[pairs->node];
    rbContactPairs_BeginFrame(pairs, pairs->node);
    rbContactFrame* frame = &pairs->frames[pairs->current];
    linkAheads(pairs);
    for (int i = 0; i < pairs->order.list.count; ++i) {
        rbPairOrder item = pairs->order.list.data[i];
        rbPairSpans* spans = &pairs->spans.data[item.slot];
        rbPairSpan span = spans->frames[pairs->node];
        int first = frame->contacts.count;
        for (int k = 0; span.stamp == node->stamp && k < span.count; ++k) {
            copyContact(pairs, flight, span.first + k);
        }
        for (int k = pairs->ahead.heads.data[item.slot]; k >= 0;
             k = pairs->ahead.contacts.data[k].next) {
            const rbAheadContact* ahead = &pairs->ahead.contacts.data[k];
            rbContactPairs_AddContact(pairs, item, &ahead->found, ahead->pointCount);
            for (int j = 0; j < ahead->pointCount; ++j) {
                rbContactPairs_AddPoint(pairs, &pairs->ahead.points.data[ahead->firstPoint + j]);
                frame->points.data[frame->points.count - 1].isAhead = true;
            }
        }
        if (frame->contacts.count > first) {
            rbPairSpan all = {first, frame->contacts.count - first, frame->stamp};
            spans->frames[pairs->current] = all;
        }
    }
    rbArray_Reserve(frame->contacts, frame->contacts.count + pairs->spare);
    rbArray_Reserve(frame->points, frame->points.count + pairs->spare);
}

static rbContactSet getSet(const rbContactPairs* pairs)
{
    const rbContactFrame* frame = &pairs->frames[pairs->current];
    return (rbContactSet){frame->contacts.data, frame->contacts.count, frame->points.data,
                          frame->points.count};
}

// Poses of the bodies at the end of a flight, and the near pairs within it.
static void followFlight(rbContactPairs* pairs, const rbContactAhead* flight)
{
    rbArray_Reserve(pairs->ahead.bodies, pairs->bodies.count);
    rbArray_Reserve(pairs->ahead.isTurning, pairs->bodies.count);
    for (int i = 0; i < pairs->bodies.count; ++i) {
        pairs->ahead.isTurning.data[i] = 0;
        if (pairs->bodies.data[i].geometry != NULL) {
            rbAheadBody ahead = makeAhead(pairs, i, &flight->poses[i]);
            pairs->ahead.bodies.data[i] = ahead;
            pairs->ahead.isTurning.data[i] = ahead.turn > CAPPED_SLACK * pairs->hots.data[i].radius;
        }
    }
}

bool rbContactPairs_FindBends(rbContactPairs* pairs, const rbContactAhead* flight)
{
    RB_ASSERT(flight->bodyCount >= pairs->bodies.count && flight->h > 0.0);
    followFlight(pairs, flight);
    rbContactPairs_SortPairs(pairs); // after a snapshot was restored
    pairs->ahead.isBent = false;
    for (int i = 0; i < pairs->order.list.count; ++i) {
        searchBend(pairs, pairs->order.list.data[i], flight);
    }
    return pairs->ahead.isBent;
}

bool rbContactPairs_LookAhead(rbContactPairs* pairs, const rbContactAhead* flight,
                              rbContactSet* set)
{
    RB_ASSERT(flight->bodyCount >= pairs->bodies.count && flight->h > 0.0);
    RB_ASSERT(set->points == pairs->frames[pairs->current].points.data);
    followFlight(pairs, flight);
    for (int i = 0; i < pairs->bodies.count; ++i) {
        if (pairs->bodies.data[i].geometry != NULL) {
            rbContactPairs_Enlarge(pairs, i, pairs->ahead.bodies.data[i].travel);
        }
    }
    rbContactPairs_SortPairs(pairs);
    int before = pairs->ahead.contacts.count;
    pairs->ahead.isThrough = false;
    pairs->ahead.isGuarded = false;
    pairs->ahead.isBent = false;
    for (int i = 0; i < pairs->order.list.count; ++i) {
        searchAhead(pairs, pairs->order.list.data[i], flight);
    }
    if (pairs->ahead.contacts.count == before && !pairs->ahead.isBent) {
        return false;
    }
    joinFrames(pairs, flight);
    *set = getSet(pairs);
    return true;
}

bool rbContactPairs_IsThrough(const rbContactPairs* pairs)
{
    return pairs->ahead.isThrough;
}

bool rbContactPairs_IsGuarded(const rbContactPairs* pairs)
{
    return pairs->ahead.isGuarded;
}

bool rbContactPairs_IsTurned(const rbContactPairs* pairs, int body)
{
    return body < pairs->bodies.count && pairs->bodies.data[body].turnRadius > 0.0;
}

void rbContactPairs_DropAhead(rbContactPairs* pairs, rbContactSet* set)
{
    pairs->ahead.contacts.count = 0;
    pairs->ahead.points.count = 0;
    pairs->current = pairs->node;
    *set = getSet(pairs);
}
