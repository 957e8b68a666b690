// Contacts of near pairs: registering bodies, finding contacts, caching them (B-62, B-63, B-93).
//
// A pair is not measured while its last distance, minus what both bodies have moved since, is above
// the threshold. Contacts of two bodies that have not moved at all are those of the last search. In
// the capped mode of the solver they are carried along while the bodies hardly move, see
// carryContacts.
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/collide.h"
#include "dynamics/contact/contact_state.h"

#include <math.h>
#include <string.h>

// Boxes are fatter than necessary by this fraction of the smallest width of the shape, ...
#define MARGIN_OF_WIDTH 0.03
// ... and by at least this fraction of its size.
#define MARGIN_OF_SIZE 0.01
// Fraction of the smaller body: with small steps, which leave far larger errors of gaps, it carries
// its points this far.
#define CARRY_SIZE 1e-3
// Fraction of an odometer: what its sums may have lost by rounding.
#define TRAVEL_ROUNDING 1e-12

// --------------------------------------------------------------------------- creation, settings

rbContactPairs* rbCreateContactPairs(const rbContactSettings* settings)
{
    RB_ASSERT(settings != NULL);
    RB_ASSERT(settings->shell >= 0.0 && settings->tolerance >= 0.0);
    rbContactPairs* pairs = rbAllocZero(1, sizeof *pairs);
    pairs->settings = *settings;
    // the shell is as exact as a gap must be: points within it must not drop out of the velocity
    // stage because they are slightly farther away than the tolerance
    pairs->closedGap = fmax(settings->tolerance, settings->shell);
    pairs->isCarrying = settings->substeps > 0;
    bool isAuto = settings->broadPhase == RB_BROAD_AUTO;
    pairs->broad = rbCreateBroadPhase(isAuto ? RB_BROAD_TREE : settings->broadPhase, 0.0);
    pairs->search.scratch = rbAlloc(rbGetSeparationScratchSize());
    pairs->kept = -1;
    pairs->deepest.bodyA = -1;
    pairs->deepest.bodyB = -1;
    rbArray_Reserve(pairs->search.manifolds, 1);
    return pairs;
}

static void freeFrame(rbContactFrame* frame)
{
    rbArray_Free(frame->contacts);
    rbArray_Free(frame->points);
    rbArray_Free(frame->foundContacts);
    rbArray_Free(frame->foundPoints);
    rbArray_Free(frame->keptPoints);
    rbArray_Free(frame->keptTurnings);
    rbArray_Free(frame->orientations);
}

static void freeMaterials(rbNearBody* body)
{
    rbFree(body->materials, (size_t)body->materialCount * sizeof *body->materials);
    rbFree(body->belts, (size_t)body->materialCount * sizeof *body->belts);
    body->materials = NULL;
    body->belts = NULL;
    body->materialCount = 0;
}

#define MATERIAL_PAIRS ((size_t)RB_MATERIAL_KINDS_MAX * RB_MATERIAL_KINDS_MAX)

void rbDestroyContactPairs(rbContactPairs* pairs)
{
    if (pairs == NULL) {
        return;
    }
    for (int i = 0; i < pairs->bodies.count; ++i) {
        freeMaterials(&pairs->bodies.data[i]);
    }
    for (int i = 0; i < pairs->caches.count; ++i) {
        rbDestroyFront(pairs->caches.data[i].front);
    }
    for (int i = 0; i < pairs->search.fronts.count; ++i) {
        rbDestroyFront(pairs->search.fronts.data[i].front);
    }
    for (int i = 0; i < RB_CONTACT_FRAMES; ++i) {
        freeFrame(&pairs->frames[i]);
    }
    rbArray_Free(pairs->bodies);
    rbArray_Free(pairs->hots);
    rbArray_Free(pairs->spans);
    rbArray_Free(pairs->unbounded);
    rbArray_Free(pairs->pairs);
    rbArray_Free(pairs->caches);
    rbArray_Free(pairs->order.list);
    rbArray_Free(pairs->order.scratch);
    rbArray_Free(pairs->order.starts);
    rbArray_Free(pairs->search.changed);
    rbArray_Free(pairs->search.manifolds);
    rbArray_Free(pairs->search.fronts);
    rbArray_Free(pairs->ahead.bodies);
    rbArray_Free(pairs->ahead.isTurning);
    rbArray_Free(pairs->ahead.contacts);
    rbArray_Free(pairs->ahead.points);
    rbArray_Free(pairs->ahead.heads);
    rbIdList_Free(&pairs->search.partners);
    rbPairTable_Free(&pairs->table);
    rbPairTable_Free(&pairs->filter.exclusions);
    rbDestroyBroadPhase(pairs->broad);
    rbFree(pairs->filter.materials, MATERIAL_PAIRS * sizeof *pairs->filter.materials);
    rbFree(pairs->search.scratch, rbGetSeparationScratchSize());
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

static void listUnbounded(rbContactPairs* pairs)
{
    pairs->unbounded.count = 0;
    for (int i = 0; i < pairs->bodies.count; ++i) {
        if (pairs->bodies.data[i].geometry != NULL && !pairs->bodies.data[i].traits.isBounded) {
            rbArray_Push(pairs->unbounded, i);
        }
    }
}

static void measureShape(rbNearBody* body)
{
    const rbGeometry* geometry = body->geometry;
    rbShapeFamily family = rbGeometry_GetFamily(geometry);
    body->traits.isBounded = rbGeometry_IsBounded(geometry);
    body->traits.isMesh = family == RB_FAMILY_TRIANGLES;
    body->traits.isManyfold = body->traits.isMesh || family == RB_FAMILY_COMPOUND;
    body->traits.isBall = family == RB_FAMILY_BALL;
    body->turnRadius = 0.0;
    body->ballRadius = 0.0;
    body->margin = 0.0;
    if (body->traits.isBounded) {
        // a ball that rotates about its center stays in place
        rbVec3 center = rbInvTransformPoint(body->transform, RB_VEC3_ZERO);
        body->turnRadius = body->traits.isBall ? rbLength(body->transform.p)
                                               : rbGeometry_GetRadius(geometry, center);
        body->ballRadius = rbGeometry_GetRadius(geometry, RB_VEC3_ZERO);
        rbBounds bounds = rbGeometry_GetBounds(geometry, RB_TRANSFORM_IDENTITY);
        rbVec3 edges = rbSub(bounds.upper, bounds.lower);
        double width = fmin(edges.x, fmin(edges.y, edges.z));
        body->margin = fmax(MARGIN_OF_WIDTH * width, MARGIN_OF_SIZE * body->ballRadius);
    }
}

static void setMaterials(rbNearBody* body, const rbContactShape* shape)
{
    RB_ASSERT(shape->materials != NULL && shape->materialCount >= 1);
    if (body->materialCount != shape->materialCount) {
        freeMaterials(body);
        body->materials = rbAlloc((size_t)shape->materialCount * sizeof *body->materials);
        body->materialCount = shape->materialCount;
    }
    memcpy(body->materials, shape->materials,
           (size_t)shape->materialCount * sizeof *body->materials);
}

static void setBelts(rbNearBody* body, const rbContactShape* shape)
{
    size_t size = (size_t)shape->materialCount * sizeof *body->belts;
    RB_ASSERT(body->materialCount == shape->materialCount);
    if (shape->belts == NULL) {
        rbFree(body->belts, size);
        body->belts = NULL;
        return;
    }
    body->belts = body->belts != NULL ? body->belts : rbAlloc(size);
    memcpy(body->belts, shape->belts, size);
}

// Other belts: what sticks moves otherwise, and the memory of its contacts would pull it back.
static bool isSameBelt(const rbNearBody* body, const rbContactShape* shape)
{
    if (body->belts == NULL || shape->belts == NULL) {
        return body->belts == shape->belts;
    }
    return body->materialCount == shape->materialCount &&
           memcmp(body->belts, shape->belts, (size_t)shape->materialCount * sizeof *body->belts) ==
               0;
}

static bool isSameTransform(const rbTransform* a, const rbTransform* b)
{
    return a->p.x == b->p.x && a->p.y == b->p.y && a->p.z == b->p.z && a->q.w == b->q.w &&
           a->q.x == b->q.x && a->q.y == b->q.y && a->q.z == b->q.z;
}

static bool isSameShape(const rbNearBody* body, const rbContactShape* shape)
{
    return body->geometry == shape->geometry && body->traits.isMoved == shape->isMoved &&
           body->groups == shape->groups && body->mask == shape->mask &&
           body->hash == rbGeometry_GetHash(shape->geometry) && isSameBelt(body, shape) &&
           isSameTransform(&body->transform, &shape->transform);
}

void rbContactPairs_SetShape(rbContactPairs* pairs, int body, const rbContactShape* shape)
{
    rbNearBody* near = reachBody(pairs, body);
    if (shape != NULL && near->geometry != NULL && isSameShape(near, shape)) {
        setMaterials(near, shape); // registered again: its contact memory stays
        return;
    }
    rbContactPairs_Displace(pairs, body);
    bool isListed = near->geometry != NULL && !near->traits.isBounded;
    if (shape == NULL) {
        freeMaterials(near);
        near->geometry = NULL;
    } else {
        RB_ASSERT(shape->geometry != NULL);
        near->geometry = shape->geometry;
        near->hash = rbGeometry_GetHash(shape->geometry);
        near->transform = shape->transform;
        near->traits.isMoved = shape->isMoved;
        near->groups = shape->groups;
        near->mask = shape->mask;
        setMaterials(near, shape);
        setBelts(near, shape);
        measureShape(near);
        if (near->traits.isManyfold) {
            rbArray_Reserve(pairs->search.manifolds, RB_PAIR_MANIFOLDS_MAX);
        }
    }
    if (isListed || (shape != NULL && !near->traits.isBounded)) {
        listUnbounded(pairs);
    }
}

void rbContactPairs_Exclude(rbContactPairs* pairs, int a, int b, bool isExcluded)
{
    RB_ASSERT(a != b);
    (void)reachBody(pairs, a);
    (void)reachBody(pairs, b);
    rbPairTable_Reserve(&pairs->filter.exclusions, pairs->bodies.count);
    int entry = rbPairTable_Find(&pairs->filter.exclusions, a, b);
    if (isExcluded) {
        entry = entry >= 0 ? entry : rbPairTable_Add(&pairs->filter.exclusions, a, b);
        pairs->filter.exclusions.entries[entry].counter += 1;
        int slot = rbPairTable_Find(&pairs->table, a, b);
        if (slot >= 0) {
            rbContactPairs_RemovePair(pairs, slot);
        }
        return;
    }
    RB_ASSERT(entry >= 0);
    if (entry >= 0 && --pairs->filter.exclusions.entries[entry].counter == 0) {
        rbPairTable_Remove(&pairs->filter.exclusions, entry);
        pairs->bodies.data[a].isStale = pairs->bodies.data[a].isPlaced;
    }
}

// -------------------------------------------------------------------------------------- search

// The shape that a child of the geometry belongs to: all children of a single shape are that one.
static int getPart(const rbNearBody* body, int child)
{
    return child < body->materialCount ? child : 0;
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
    contact->stiction = contact->friction;
    if (a->stiction > a->friction || b->stiction > b->friction) {
        double stiction = rbCombineRule_Apply(
            settings->frictionRule, fmax(a->stiction, a->friction), fmax(b->stiction, b->friction));
        contact->stiction = fmax(stiction, contact->friction);
    }
    contact->restitution =
        rbCombineRestitution(settings->restitutionRule, a->restitution, b->restitution);
}

// The velocity of conveyor surfaces at a contact, as they add to that of the bodies.
static void addBelts(const rbNearBody* a, const rbNearBody* b, rbContact* contact)
{
    if (a->belts == NULL && b->belts == NULL) {
        return;
    }
    rbVec3 belt = RB_VEC3_ZERO;
    if (a->belts != NULL) {
        belt = rbNeg(rbMulMV(a->rotation, a->belts[contact->partA]));
    }
    if (b->belts != NULL) {
        belt = rbAdd(belt, rbMulMV(b->rotation, b->belts[contact->partB]));
    }
    contact->belt = rbAddScaled(belt, -rbDot(belt, contact->normal), contact->normal);
    contact->hasBelt = rbLengthSquared(contact->belt) > 0.0;
}

void rbContactPairs_AddPoint(rbContactPairs* pairs, const rbFoundPoint* found)
{
    rbContactFrame* frame = &pairs->frames[pairs->current];
    rbContactPoint point;
    memset(&point, 0, sizeof point);
    point.armA = found->armA;
    point.armB = found->armB;
    point.gap = found->distance - pairs->settings.shell;
    point.isClosed = point.gap <= pairs->closedGap;
    point.key = frame->points.count;
    rbArray_Push(frame->points, point);
    rbArray_Push(frame->foundPoints, *found);
    frame->foundPoints.data[point.key].claimStamp = 0;
}

void rbContactPairs_AddContact(rbContactPairs* pairs, rbPairOrder pair, const rbFoundContact* found,
                               int pointCount)
{
    rbContactFrame* frame = &pairs->frames[pairs->current];
    rbContact contact;
    memset(&contact, 0, sizeof contact);
    contact.bodyA = pair.a;
    contact.bodyB = pair.b;
    contact.normal = found->normal;
    contact.tangents[0] = found->tangents[0];
    contact.tangents[1] = found->tangents[1];
    contact.firstPoint = frame->points.count;
    contact.pointCount = pointCount;
    const rbNearBody* a = &pairs->bodies.data[pair.a];
    const rbNearBody* b = &pairs->bodies.data[pair.b];
    contact.partA = getPart(a, found->childA);
    contact.partB = getPart(b, found->childB);
    combine(pairs, &a->materials[contact.partA], &b->materials[contact.partB], &contact);
    addBelts(a, b, &contact);
    rbArray_Push(frame->contacts, contact);
    rbArray_Push(frame->foundContacts, *found);
}

static void noteDepth(rbContactPairs* pairs, rbPairOrder pair, double distance)
{
    if (-distance > pairs->deepest.depth) {
        pairs->deepest.depth = -distance;
        pairs->deepest.bodyA = pair.a;
        pairs->deepest.bodyB = pair.b;
    }
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

// Adds a contact with this normal, a unit vector from A to B, world axes.
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

rbFoundContact rbMakeFoundContact(const rbManifold* manifold, rbMat3 rotationA)
{
    return makeFound(rbNormalize(rbMulMV(rotationA, manifold->normal)), manifold->childA,
                     manifold->childB);
}

// Adds a point to the contact added last, halfway between the surfaces.
static void addPointAt(rbContactPairs* pairs, rbPairOrder pair, rbVec3 middle, double distance,
                       uint32_t featureId)
{
    const rbNearBody* a = &pairs->bodies.data[pair.a];
    const rbNearBody* b = &pairs->bodies.data[pair.b];
    rbFoundPoint point;
    point.armA = rbSub(middle, a->position);
    point.armB = rbSub(middle, b->position);
    point.localA = rbMulMtV(a->rotation, point.armA);
    point.localB = rbMulMtV(b->rotation, point.armB);
    point.distance = distance;
    point.featureId = featureId;
    rbContactPairs_AddPoint(pairs, &point);
    noteDepth(pairs, pair, distance);
}

static void addManifold(rbContactPairs* pairs, rbPairOrder pair, const rbManifold* manifold)
{
    const rbNearBody* a = &pairs->bodies.data[pair.a];
    rbFoundContact contact = rbMakeFoundContact(manifold, a->worldRotation);
    rbContactPairs_AddContact(pairs, pair, &contact, manifold->count);
    for (int i = 0; i < manifold->count; ++i) {
        const rbManifoldPoint* point = &manifold->points[i];
        rbVec3 middle = rbMulMV(a->worldRotation, rbManifoldPoint_GetMiddle(point));
        addPointAt(pairs, pair, rbAdd(middle, a->world.p), point->distance, point->featureId);
    }
}

// Two balls touch on the line of their centers: neither rotations nor caches matter, which would be
// distant memory accesses.
static void searchBalls(rbContactPairs* pairs, rbPairOrder pair, double threshold)
{
    const rbNearHot* a = &pairs->hots.data[pair.a];
    const rbNearHot* b = &pairs->hots.data[pair.b];
    rbVec3 apart = rbSub(b->center, a->center);
    if (!rbIsFinite3(apart)) {
        return; // a position is not finite: the end of the step reports it
    }
    rbVec3 normal;
    double between = rbSplitLength(apart, rbMakeVec3(0.0, 0.0, 1.0), &normal);
    double distance = between - a->radius - b->radius;
    if (distance <= threshold) {
        rbFoundContact contact = makeFound(normal, 0, 0);
        rbContactPairs_AddContact(pairs, pair, &contact, 1);
        rbVec3 middle = rbAddScaled(a->center, a->radius + 0.5 * distance, normal);
        addPointAt(pairs, pair, middle, distance, RB_FEATURE_WITNESS);
    }
}

// Contacts of two bodies in the same poses as at the last search.
static void copyContacts(rbContactPairs* pairs, const rbContactFrame* last, rbPairOrder pair)
{
    rbPairSpan span = pairs->spans.data[pair.slot].frames[last - pairs->frames];
    RB_ASSERT(span.stamp == last->stamp);
    for (int i = span.first; i < span.first + span.count; ++i) {
        const rbContact* old = &last->contacts.data[i];
        if (last->foundContacts.data[i].isAhead) {
            continue;
        }
        rbContactPairs_AddContact(pairs, pair, &last->foundContacts.data[i], old->pointCount);
        for (int j = old->firstPoint; j < old->firstPoint + old->pointCount; ++j) {
            rbContactPairs_AddPoint(pairs, &last->foundPoints.data[j]);
            noteDepth(pairs, pair, last->foundPoints.data[j].distance);
        }
    }
}

bool rbNearPair_AreApart(rbContactCandidate* pair, const rbNearHot* a, const rbNearHot* b,
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
    bool isBall = bodies[item.a].traits.isBall || bodies[item.b].traits.isBall;
    double size = fmin(pairs->hots.data[item.a].radius, pairs->hots.data[item.b].radius);
    return pairs->isCarrying && !isBall ? CARRY_SIZE * size : 0.0;
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
    bool isFixed =
        (pairs->bodies.data[item.a].traits.isBounded || pair->stamps[0] == a->poseStamp) &&
        (pairs->bodies.data[item.b].traits.isBounded || pair->stamps[1] == b->poseStamp);
    double moved = a->travel + b->travel - pair->searched;
    return isFixed && moved <= carry && threshold + moved <= pair->threshold;
}

// Contacts of two bodies that have hardly moved: each carries its own point along, the normal
// stays. The gap is correct to first order in the motion, which the odometers bound.
static void carryContacts(rbContactPairs* pairs, const rbContactFrame* last, rbPairOrder pair)
{
    const rbNearBody* a = &pairs->bodies.data[pair.a];
    const rbNearBody* b = &pairs->bodies.data[pair.b];
    rbPairSpan span = pairs->spans.data[pair.slot].frames[last - pairs->frames];
    RB_ASSERT(span.stamp == last->stamp);
    for (int i = span.first; i < span.first + span.count; ++i) {
        const rbContact* old = &last->contacts.data[i];
        const rbFoundContact* found = &last->foundContacts.data[i];
        if (found->isAhead) {
            continue;
        }
        rbContactPairs_AddContact(pairs, pair, found, old->pointCount);
        for (int j = old->firstPoint; j < old->firstPoint + old->pointCount; ++j) {
            rbFoundPoint point = last->foundPoints.data[j];
            rbVec3 atA = rbAdd(a->position, rbMulMV(a->rotation, point.localA));
            rbVec3 atB = rbAdd(b->position, rbMulMV(b->rotation, point.localB));
            rbVec3 middle = rbScale(0.5, rbAdd(atA, atB));
            point.distance += rbDot(found->normal, rbSub(atB, atA));
            point.armA = rbSub(middle, a->position);
            point.armB = rbSub(middle, b->position);
            point.localA = rbMulMtV(a->rotation, point.armA);
            point.localB = rbMulMtV(b->rotation, point.armB);
            rbContactPairs_AddPoint(pairs, &point);
            noteDepth(pairs, pair, point.distance);
        }
    }
}

static rbSeparationInput makeInput(const rbNearBody* a, const rbNearBody* b)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a->geometry;
    input.geometryB = b->geometry;
    input.transformBtoA = rbInvMulTransforms(a->world, b->world);
    return input;
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
        rbStatus status =
            rbTestOverlap(input, gaps[i], &pairs->caches.data[item.slot], &overlaps, NULL);
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
static bool measureApart(rbContactPairs* pairs, rbPairOrder item, const rbSeparationInput* input)
{
    if (pairs->bodies.data[item.a].traits.isManyfold ||
        pairs->bodies.data[item.b].traits.isManyfold) {
        return testApart(pairs, item, input);
    }
    rbContactCandidate* pair = &pairs->pairs.data[item.slot];
    rbSeparation separation;
    rbStatus status = rbMeasureSeparation(input, &pairs->caches.data[item.slot],
                                          pairs->search.scratch, &separation, NULL);
    pair->isMeasured = status == RB_STATUS_OK;
    pair->lower = separation.lower;
    pair->travel = pairs->hots.data[item.a].travel + pairs->hots.data[item.b].travel;
    return status != RB_STATUS_OK || separation.lower > pair->threshold;
}

// The contacts of a pair that is near enough to be searched.
static void searchPair(rbContactPairs* pairs, rbPairOrder item, double threshold)
{
    rbContactCandidate* pair = &pairs->pairs.data[item.slot];
    const rbNearBody* a = &pairs->bodies.data[item.a];
    const rbNearBody* b = &pairs->bodies.data[item.b];
    threshold += 2.0 * carryOf(pairs, item);
    pair->threshold = threshold;
    pair->searched = a->travel + b->travel;
    pair->stamps[0] = a->poseStamp;
    pair->stamps[1] = b->poseStamp;
    if (a->traits.isBall && b->traits.isBall) {
        searchBalls(pairs, item, threshold);
        return;
    }
    rbSeparationInput input = makeInput(a, b);
    if (!pair->hadContacts && measureApart(pairs, item, &input)) {
        return;
    }
    bool isManyfold = a->traits.isManyfold || b->traits.isManyfold;
    rbContactList list = {.manifolds = pairs->search.manifolds.data,
                          .capacity = isManyfold ? RB_PAIR_MANIFOLDS_MAX : 1};
    RB_ASSERT(list.capacity <= pairs->search.manifolds.capacity);
    rbStatus status = rbFindContacts(&input, threshold, &pairs->caches.data[item.slot],
                                     pairs->search.scratch, &list, NULL);
    int count = status != RB_STATUS_OK ? 0 : list.count;
    count = count < list.capacity ? count : list.capacity;
    for (int i = 0; i < count; ++i) {
        if (list.manifolds[i].count > 1) {
            dropTwin(pairs, &list.manifolds[i]);
        }
        if (list.manifolds[i].count > 0) {
            addManifold(pairs, item, &list.manifolds[i]);
        }
    }
}

static void findPair(rbContactPairs* pairs, const rbContactFrame* last, rbPairOrder item)
{
    rbContactCandidate* pair = &pairs->pairs.data[item.slot];
    const rbNearHot* a = &pairs->hots.data[item.a];
    const rbNearHot* b = &pairs->hots.data[item.b];
    // closed points must be found, whatever the reach
    double closed = pairs->settings.shell + pairs->closedGap;
    double threshold = fmax(closed + a->reach + b->reach, RB_CONTACT_THRESHOLD);
    bool isSame = pair->stamps[0] == a->poseStamp && pair->stamps[1] == b->poseStamp &&
                  (pairs->isCarrying ? pair->threshold >= threshold : pair->threshold == threshold);
    if (isSame && pair->hadContacts) {
        copyContacts(pairs, last, item);
    } else if (!isSame && canCarry(pairs, item, threshold)) {
        carryContacts(pairs, last, item);
    } else if (!isSame) {
        if (rbNearPair_AreApart(pair, a, b, threshold)) {
            pair->threshold = -1.0; // nothing was searched here
        } else {
            searchPair(pairs, item, threshold);
        }
    }
}

// The frame to write next: neither a frame to keep nor the kept one.
static int chooseFrame(const rbContactPairs* pairs, int other)
{
    int next = 0;
    while (next == other || next == pairs->kept) {
        ++next;
    }
    RB_ASSERT(next < RB_CONTACT_FRAMES);
    return next;
}

void rbContactPairs_BeginFrame(rbContactPairs* pairs, int other)
{
    pairs->current = chooseFrame(pairs, other);
    rbContactFrame* frame = &pairs->frames[pairs->current];
    pairs->search.stamp += 1;
    frame->stamp = pairs->search.stamp;
    frame->contacts.count = 0;
    frame->points.count = 0;
    frame->foundContacts.count = 0;
    frame->foundPoints.count = 0;
    frame->keptPoints.count = 0;
    frame->keptTurnings.count = 0;
    rbArray_Reserve(frame->orientations, pairs->bodies.count);
    frame->orientations.count = pairs->bodies.count;
    for (int i = 0; i < pairs->bodies.count; ++i) {
        frame->orientations.data[i] = pairs->bodies.data[i].orientation;
    }
}

// Pairs this far ahead in the order are prefetched: the search is memory-bound.
#define AHEAD 6

static inline void prefetch(const rbContactPairs* pairs, int i)
{
    if (i + AHEAD < pairs->order.list.count) {
        rbPairOrder next = pairs->order.list.data[i + AHEAD];
        __builtin_prefetch(&pairs->pairs.data[next.slot]);
        __builtin_prefetch(&pairs->hots.data[next.b]);
    }
}

rbContactSet rbContactPairs_Find(rbContactPairs* pairs, const rbContactPlace* places, int bodyCount)
{
    rbContactPairs_Approach(pairs, places, bodyCount);
    const rbContactFrame* last = &pairs->frames[pairs->current];
    rbContactPairs_BeginFrame(pairs, pairs->current);
    pairs->node = pairs->current;
    pairs->ahead.contacts.count = 0;
    pairs->ahead.points.count = 0;
    pairs->deepest.depth = 0.0;
    pairs->deepest.bodyA = -1;
    pairs->deepest.bodyB = -1;
    rbContactFrame* frame = &pairs->frames[pairs->current];
    for (int i = 0; i < pairs->order.list.count; ++i) {
        prefetch(pairs, i);
        rbPairOrder item = pairs->order.list.data[i];
        int first = frame->contacts.count;
        findPair(pairs, last, item);
        int count = frame->contacts.count - first;
        pairs->pairs.data[item.slot].hadContacts = count > 0;
        if (count > 0) {
            rbPairSpan span = {first, count, frame->stamp};
            pairs->spans.data[item.slot].frames[pairs->current] = span;
            rbContactPairs_Recall(pairs, item, first, count);
        }
    }
    return rbContactPairs_GetSet(pairs);
}

rbContactSet rbContactPairs_GetSet(rbContactPairs* pairs)
{
    rbContactFrame* frame = &pairs->frames[pairs->current];
    rbArray_Reserve(frame->contacts, frame->contacts.count + pairs->spare);
    rbArray_Reserve(frame->points, frame->points.count + pairs->spare);
    rbContactSet set = {frame->contacts.data, frame->contacts.count, frame->points.data,
                        frame->points.count};
    return set;
}

void rbContactPairs_SetSpare(rbContactPairs* pairs, int count)
{
    RB_ASSERT(count >= 0);
    pairs->spare = count;
}

void rbContactPairs_Keep(rbContactPairs* pairs, const rbContactSet* set,
                         const rbContactPlace* places)
{
    rbContactFrame* frame = &pairs->frames[pairs->current];
    RB_ASSERT(set->contacts == frame->contacts.data && set->points == frame->points.data);
    RB_ASSERT(set->pointCount == frame->points.count);
    (void)places; // anchors are at the points found
    rbArray_Reserve(frame->keptPoints, set->pointCount);
    rbArray_Reserve(frame->keptTurnings, set->contactCount);
    for (int i = 0; i < set->pointCount; ++i) {
        const rbContactPoint* point = &set->points[i];
        rbKeptPoint* kept = &frame->keptPoints.data[i];
        memset(kept, 0, sizeof *kept);
        memcpy(kept->impulse, point->impulse, sizeof kept->impulse);
        memcpy(kept->passing, point->passing, sizeof kept->passing);
        memcpy(kept->slip, point->slip, sizeof kept->slip);
        kept->isSticking = point->isSticking;
    }
    for (int i = 0; i < set->contactCount; ++i) {
        memcpy(frame->keptTurnings.data[i].turning, set->contacts[i].turning,
               sizeof frame->keptTurnings.data[i].turning);
    }
    frame->keptPoints.count = set->pointCount;
    frame->keptTurnings.count = set->contactCount;
    pairs->kept = pairs->current;
}

// --------------------------------------------------------------------------------------- depth

double rbContactPairs_GetDeepest(const rbContactPairs* pairs, int* bodyA, int* bodyB)
{
    if (bodyA != NULL) {
        *bodyA = pairs->deepest.bodyA;
    }
    if (bodyB != NULL) {
        *bodyB = pairs->deepest.bodyB;
    }
    return pairs->deepest.depth;
}

int rbContactPairs_GetPairCount(const rbContactPairs* pairs, int* dropped)
{
    if (dropped != NULL) {
        *dropped = pairs->dropped;
    }
    return pairs->table.count;
}

// ---------------------------------------------------------------------------------- other poses

int rbContactPairs_Measure(rbContactPairs* pairs, const int bodies[2], const rbRowPose poses[2],
                           double within, rbContactProbe* out, int capacity)
{
    rbNearBody moved[2];
    for (int i = 0; i < 2; ++i) {
        RB_ASSERT(bodies[i] >= 0 && bodies[i] < pairs->bodies.count);
        moved[i] = pairs->bodies.data[bodies[i]];
        RB_ASSERT(moved[i].geometry != NULL);
        moved[i].position = poses[i].position;
        moved[i].orientation = poses[i].orientation;
        rbNearBody_Pose(&moved[i]);
    }
    // without the caches: they serve the search
    rbSeparationInput input = makeInput(&moved[0], &moved[1]);
    bool isManyfold = moved[0].traits.isManyfold || moved[1].traits.isManyfold;
    rbContactList list = {.manifolds = pairs->search.manifolds.data,
                          .capacity = isManyfold ? RB_PAIR_MANIFOLDS_MAX : 1};
    double shell = pairs->settings.shell;
    rbStatus status =
        rbFindContacts(&input, within + shell, NULL, pairs->search.scratch, &list, NULL);
    int count = 0;
    for (int i = 0; status == RB_STATUS_OK && i < list.count && i < list.capacity; ++i) {
        const rbManifold* manifold = &list.manifolds[i];
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
