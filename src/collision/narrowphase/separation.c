// Distance, overlap and contacts of two shapes: validates the input, splits compounds and uses the
// pair table for every pair of parts.
#include "base/core/cookie.h"
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/collide.h"
#include "collision/narrowphase/manifold.h"
#include "collision/narrowphase/mesh_contacts.h"
#include "collision/narrowphase/pair_methods.h"

#include <float.h>
#include <math.h>

// The content of the public cache.
typedef struct PairCache {
    rbGjkCache gjk;
    rbMethodMemory memory; // of registered methods
} PairCache;

_Static_assert(sizeof(PairCache) <= sizeof(rbSeparationCache), "the public cache holds ours");

void rbInitSeparationInput(rbSeparationInput* input, uint32_t abi, size_t size)
{
    if (rbStampDef(input, RB_KIND_SEPARATION, sizeof *input, abi, size)) {
        input->transformBtoA.q.w = 1.0;
    }
}

// Vectors in the scratch are aligned; the caller's memory may not be.
#define SCRATCH_ALIGNMENT 16

size_t rbGetSeparationScratchSize(void)
{
    return sizeof(rbEpaScratch) + SCRATCH_ALIGNMENT;
}

static rbEpaScratch* alignScratch(void* scratch)
{
    uintptr_t place = (uintptr_t)scratch;
    size_t gap = (SCRATCH_ALIGNMENT - place % SCRATCH_ALIGNMENT) % SCRATCH_ALIGNMENT;
    return (rbEpaScratch*)((char*)scratch + gap);
}

// State of a query that traverses the compounds.
typedef struct Query {
    rbPairQuery pair;
    // parameters, used by the function that visits the pairs of parts
    double threshold; // m
    rbSeparation* separation;
    rbContactList* contacts;
    bool isDone; // no further parts are needed
} Query;

// ----------------------------------------------------------------------------------- compounds

static bool isSimple(const rbSeparationInput* input)
{
    return input->geometryA->type != RB_SHAPE_COMPOUND &&
           input->geometryB->type != RB_SHAPE_COMPOUND;
}

typedef rbStatus VisitFn(Query* query, const rbPairLeaf* leaf);

// Visits all pairs of parts until the query is done or a status is not OK.
// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static rbStatus visitLeaves(Query* query, const rbPairLeaf* leaf, VisitFn* visit)
{
    const rbSeparationInput* input = query->pair.input;
    double reach = leaf->a->radius + leaf->b->radius + input->radiusA + input->radiusB;
    double limit = query->separation != NULL ? query->separation->upper : query->threshold;
    if (rbLength(leaf->transformBtoA.p) - reach > limit + leaf->rounding) {
        return RB_STATUS_OK; // their bounding spheres are farther apart than the threshold
    }
    bool isA = leaf->a->type == RB_SHAPE_COMPOUND;
    if (!isA && leaf->b->type != RB_SHAPE_COMPOUND) {
        return visit(query, leaf);
    }
    const rbGeometry* whole = isA ? leaf->a : leaf->b;
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < whole->childCount && status == RB_STATUS_OK && !query->isDone; ++i) {
        const rbCompoundChild* child = &whole->children[i];
        rbPairLeaf part = *leaf;
        part.rounding +=
            8.0 * DBL_EPSILON * (rbLength(leaf->transformBtoA.p) + rbLength(child->transform.p));
        if (isA) {
            part.a = child->geometry;
            part.transformBtoA = rbInvMulTransforms(child->transform, leaf->transformBtoA);
            part.partToA = rbMulTransforms(leaf->partToA, child->transform);
            part.childA = leaf->a == query->pair.input->geometryA ? i : leaf->childA;
        } else {
            part.b = child->geometry;
            part.transformBtoA = rbMulTransforms(leaf->transformBtoA, child->transform);
            part.childB = leaf->b == query->pair.input->geometryB ? i : leaf->childB;
        }
        status = visitLeaves(query, &part, visit);
    }
    return status;
}

// Keeps the nearer of two results; the bounds of the union are the least of the parts' bounds.
static void takeNearer(rbSeparation* best, const rbSeparation* part)
{
    double lower = fmin(best->lower, part->lower);
    double upper = fmin(best->upper, part->upper);
    int iterations = best->iterations + part->iterations;
    if (part->distance < best->distance) {
        *best = *part;
    }
    best->lower = lower;
    best->upper = upper;
    best->iterations = iterations;
}

static rbStatus visitOnly(Query* query, const rbPairLeaf* leaf)
{
    return rbMeasurePair(&query->pair, leaf, query->separation);
}

static rbStatus visitNearest(Query* query, const rbPairLeaf* leaf)
{
    rbSeparation part = {0};
    rbStatus status = rbMeasurePair(&query->pair, leaf, &part);
    if (status == RB_STATUS_OK) {
        // poses of parts are products, with rounding relative to the longest factor
        part.lower -= leaf->rounding;
        part.upper += leaf->rounding;
        part.pointA = rbTransformPoint(leaf->partToA, part.pointA);
        part.pointB = rbTransformPoint(leaf->partToA, part.pointB);
        part.normal = rbRotate(leaf->partToA.q, part.normal);
        takeNearer(query->separation, &part);
    }
    return status;
}

// Pending pairs of boxes while two meshes are tested: there is no scratch memory; a small number
// makes the search a little longer, never wrong.
#define TEST_ENTRIES 512

// Are two shapes, one of which is a mesh, near enough?
static bool testMeshLeaf(const Query* query, const rbPairLeaf* leaf, double threshold)
{
    const rbSeparationInput* input = query->pair.input;
    if (rbIsMeshLike(leaf->a) && rbIsMeshLike(leaf->b)) {
        rbTreeEntry entries[TEST_ENTRIES];
        rbMeshPair pair = rbMakeMeshPair(&query->pair, leaf);
        pair.scratch = entries;
        pair.scratchSize = sizeof(entries);
        pair.budget = 0;
        return rbTestMeshes(&pair, threshold + input->radiusA + input->radiusB);
    }
    rbMeshConvex pair = rbMakeMeshConvex(&query->pair, leaf);
    if (pair.convex->type == RB_SHAPE_PLANE) {
        rbSeparation part;
        rbMeasureMixed(&pair, &part);
        return part.lower <= threshold;
    }
    return rbTestMeshConvex(&pair, threshold);
}

static bool hasMesh(const rbPairLeaf* leaf)
{
    return rbIsMeshLike(leaf->a) || rbIsMeshLike(leaf->b);
}

static rbStatus visitOverlap(Query* query, const rbPairLeaf* leaf)
{
    rbPairMethod method = query->pair.input->method;
    double threshold = query->threshold + (leaf->isPart ? leaf->rounding : 0.0);
    if (method == RB_PAIR_AUTO && hasMesh(leaf)) {
        query->isDone = testMeshLeaf(query, leaf, threshold);
        return RB_STATUS_OK;
    }
    if (method >= RB_PAIR_COUNT) {
        return rbTestPairRegistered(&query->pair, leaf, threshold, &query->isDone);
    }
    rbStatus status;
    if (method == RB_PAIR_CLOSED_FORM ||
        (method == RB_PAIR_AUTO && rbIsMeasuredByClosedForm(leaf))) {
        rbSeparation part;
        status = rbMeasurePair(&query->pair, leaf, &part);
        query->isDone = status == RB_STATUS_OK && part.lower <= threshold;
        return status;
    }
    rbPairBodies bodies;
    status = rbMakePairBodies(&query->pair, leaf, &bodies);
    if (status == RB_STATUS_OK) {
        query->isDone = rbGjk_Overlaps(&bodies.cso, threshold, query->pair.cache);
    }
    return status;
}

// A manifold of a leaf in the frame of the input's A.
static void placeManifold(const rbPairLeaf* leaf, rbManifold* manifold)
{
    manifold->childA = leaf->childA;
    manifold->childB = leaf->childB;
    if (leaf->isPart) {
        for (int i = 0; i < manifold->count; ++i) {
            rbManifoldPoint* point = &manifold->points[i];
            point->pointA = rbTransformPoint(leaf->partToA, point->pointA);
            point->pointB = rbTransformPoint(leaf->partToA, point->pointB);
        }
        manifold->normal = rbRotate(leaf->partToA.q, manifold->normal);
    }
}

// The manifold for (a, b) from that for (b, a), in the frame of a.
static void flipManifold(rbTransform transformBtoA, rbManifold* manifold)
{
    manifold->normal = rbNeg(rbRotate(transformBtoA.q, manifold->normal));
    for (int i = 0; i < manifold->count; ++i) {
        rbManifoldPoint* point = &manifold->points[i];
        rbVec3 pointB = rbTransformPoint(transformBtoA, point->pointA);
        point->pointA = rbTransformPoint(transformBtoA, point->pointB);
        point->pointB = pointB;
        point->featureId = rbFlipFeatureId(point->featureId);
    }
}

// Adds the contacts of two shapes, one of which is a mesh and the other is not, to the list.
static void addMixedContacts(const Query* query, const rbPairLeaf* leaf)
{
    rbSeparation s;
    rbContactList* list = query->contacts;
    rbMeshConvex pair = rbMakeMeshConvex(&query->pair, leaf);
    int room = list->count < list->capacity ? list->capacity - list->count : 0;
    rbManifold* next = list->manifolds + (room > 0 ? list->count : 0);
    bool isPlane = pair.convex->type == RB_SHAPE_PLANE;
    int found = isPlane ? -1 : rbFindMeshConvexAgain(&pair, query->threshold, next, room);
    if (found < 0) {
        rbMeasureMixed(&pair, &s);
        if (!(s.distance <= query->threshold)) {
            return;
        }
        found = 1;
        if (isPlane) {
            rbManifold manifold;
            rbFindMeshPlaneContacts(&pair, &s, query->threshold, &manifold);
            if (room > 0) {
                *next = manifold;
            }
        } else {
            found = rbFindMeshConvexContacts(&pair, &s, query->threshold, next, room);
        }
    }
    for (int i = 0; i < found && i < room && !rbIsMeshLike(leaf->a); ++i) {
        flipManifold(leaf->transformBtoA, &next[i]);
    }
    list->count += found;
}

static rbStatus visitMeshContacts(const Query* query, const rbPairLeaf* leaf)
{
    const rbSeparationInput* input = query->pair.input;
    rbContactList* list = query->contacts;
    int first = list->count;
    if (rbIsMeshLike(leaf->a) && rbIsMeshLike(leaf->b)) {
        rbMeshPair pair = rbMakeMeshPair(&query->pair, leaf);
        pair.isDepthUnwanted = false;
        rbFindMeshContacts(&pair, query->threshold, input->radiusA, input->radiusB, list);
    } else {
        addMixedContacts(query, leaf);
    }
    for (int i = first; i < list->count && i < list->capacity; ++i) {
        placeManifold(leaf, &list->manifolds[i]);
    }
    return RB_STATUS_OK;
}

// The manifold of the shapes without their rounding, moved outward to the rounded surfaces.
static rbStatus visitContacts(Query* query, const rbPairLeaf* leaf)
{
    if (query->pair.input->method == RB_PAIR_AUTO && hasMesh(leaf)) {
        return visitMeshContacts(query, leaf);
    }
    rbSeparation s;
    rbStatus status = rbMeasurePair(&query->pair, leaf, &s);
    if (status != RB_STATUS_OK || !(s.distance <= query->threshold)) {
        return status;
    }
    const rbSeparationInput* input = query->pair.input;
    double radii = input->radiusA + input->radiusB;
    rbRoundSeparation(&s, -input->radiusA, -input->radiusB);
    rbManifold manifold;
    rbBuildManifold(leaf->a, leaf->b, leaf->transformBtoA, &s, query->threshold + radii, &manifold);
    for (int i = 0; i < manifold.count; ++i) {
        rbManifoldPoint* point = &manifold.points[i];
        point->pointA = rbAddScaled(point->pointA, input->radiusA, manifold.normal);
        point->pointB = rbAddScaled(point->pointB, -input->radiusB, manifold.normal);
        point->distance -= radii;
    }
    placeManifold(leaf, &manifold);
    rbContactList* list = query->contacts;
    if (list->count < list->capacity) {
        list->manifolds[list->count] = manifold;
    }
    ++list->count;
    return RB_STATUS_OK;
}

static rbStatus validateInput(const rbSeparationInput* input, rbError* error)
{
    rbStatus status = RB_CHECK_COOKIE(input, RB_KIND_SEPARATION, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (input->geometryA == NULL || input->geometryB == NULL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "geometry %s is NULL; see the error of its creation",
                           input->geometryA == NULL ? "A" : "B");
    }
    double square = rbDotQuat(input->transformBtoA.q, input->transformBtoA.q);
    rbVec3 p = input->transformBtoA.p;
    if (!(fabs(p.x) <= RB_LENGTH_MAX && fabs(p.y) <= RB_LENGTH_MAX && fabs(p.z) <= RB_LENGTH_MAX)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the position of B is (%g, %g, %g); coordinates up to %g m are accepted",
                           p.x, p.y, p.z, RB_LENGTH_MAX);
    }
    if (!(fabs(square - 1.0) <= 2e-6)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the orientation of B must be a unit quaternion; its length is %g",
                           sqrt(square));
    }
    if (!(input->radiusA >= 0.0 && input->radiusA <= RB_LENGTH_MAX && input->radiusB >= 0.0 &&
          input->radiusB <= RB_LENGTH_MAX)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the radii are %g and %g m; 0 to %g m are accepted", input->radiusA,
                           input->radiusB, RB_LENGTH_MAX);
    }
    if ((unsigned)input->method >= (unsigned)rbPairMethod_GetCount()) {
        return rbError_Set(error, RB_STATUS_INVALID, "method %d is unknown; below %d are accepted",
                           (int)input->method, rbPairMethod_GetCount());
    }
    if (input->budget < 0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the budget is %lld; 0, for no limit, or more is accepted",
                           input->budget);
    }
    if (!(input->relativeTolerance >= 0.0) || input->relativeTolerance > 1.0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the relative tolerance is %g; 0 to 1 are accepted",
                           input->relativeTolerance);
    }
    return RB_STATUS_OK;
}

static rbStatus refuseScratch(rbError* error)
{
    return rbError_Set(error, RB_STATUS_INVALID,
                       "there is no scratch memory; rbGetSeparationScratchSize() bytes are needed");
}

// Normalizes to rounding; most are unit already, and the square root would cost a tenth of a query.
static rbQuat polishQuat(rbQuat q)
{
    return fabs(rbDotQuat(q, q) - 1.0) <= 4.0 * DBL_EPSILON ? q : rbNormalizeQuat(q);
}

static rbStatus runQuery(Query* query, rbSeparationCache* cache, VisitFn* visit)
{
    const rbSeparationInput* input = query->pair.input;
    bool isPair = isSimple(input);
    if (isPair && cache != NULL) {
        PairCache* own = (PairCache*)cache->opaque;
        query->pair.cache = &own->gjk;
        query->pair.memory = &own->memory;
        query->pair.front = cache->front;
    }
    rbPairLeaf whole;
    whole.a = input->geometryA;
    whole.b = input->geometryB;
    whole.transformBtoA.p = input->transformBtoA.p;
    whole.transformBtoA.q = polishQuat(input->transformBtoA.q);
    whole.childA = whole.childB = 0;
    whole.isPart = !isPair;
    if (isPair) {
        return visit(query, &whole);
    }
    whole.partToA = RB_TRANSFORM_IDENTITY;
    whole.rounding = 0.0;
    return visitLeaves(query, &whole, visit);
}

// The output of a query whose status is not OK: nothing that looks like a result.
static const rbSeparation nothing = {.distance = NAN, .lower = NAN, .upper = NAN};

rbStatus rbMeasureSeparation(const rbSeparationInput* input, rbSeparationCache* cache,
                             void* scratch, rbSeparation* separation, rbError* error)
{
    RB_ASSERT(separation != NULL);
    Query query = {.pair = {.input = input, .scratch = alignScratch(scratch), .error = error},
                   .separation = separation};
    rbStatus status = scratch != NULL ? validateInput(input, error) : refuseScratch(error);
    if (status == RB_STATUS_OK && isSimple(input)) {
        status = runQuery(&query, cache, visitOnly);
    } else if (status == RB_STATUS_OK) {
        *separation = (rbSeparation){.distance = INFINITY, .lower = INFINITY, .upper = INFINITY};
        status = runQuery(&query, cache, visitNearest);
    }
    if (status != RB_STATUS_OK) {
        *separation = nothing;
    }
    return status;
}

rbStatus rbTestOverlap(const rbSeparationInput* input, double margin, rbSeparationCache* cache,
                       bool* overlaps, rbError* error)
{
    RB_ASSERT(overlaps != NULL);
    *overlaps = false;
    rbStatus status = validateInput(input, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (!(margin >= 0.0) || !isfinite(margin)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the margin is %g m; it must be finite and not negative", margin);
    }
    Query query = {.pair = {.input = input, .error = error}, .threshold = margin};
    status = runQuery(&query, cache, visitOverlap);
    *overlaps = query.isDone;
    return status;
}

rbStatus rbFindContacts(const rbSeparationInput* input, double threshold, rbSeparationCache* cache,
                        void* scratch, rbContactList* list, rbError* error)
{
    RB_ASSERT(list != NULL);
    list->count = 0;
    rbStatus status = scratch != NULL ? validateInput(input, error) : refuseScratch(error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (!isfinite(threshold) || list->capacity < 0) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the contact threshold is %g m and the capacity %d; a finite threshold and "
            "a capacity of 0 or more are accepted",
            threshold, list->capacity);
    }
    Query query = {.pair = {.input = input, .scratch = alignScratch(scratch), .error = error},
                   .threshold = threshold,
                   .contacts = list};
    status = runQuery(&query, cache, visitContacts);
    list->count = status == RB_STATUS_OK ? list->count : 0;
    return status;
}
