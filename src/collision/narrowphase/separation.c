// Distance, overlap and contacts of two shapes: validates the input, splits compounds and measures
// every pair of parts by the kernel that the pair table names.
//
//              sphere box  capsule cylinder cone ellipsoid hull  plane  mesh soup polyhedron
//   sphere     C      C    C       C        C    C         i     C      M
//   box               C    C       i        i    i         i     C      M
//   capsule                C       i        i    i         i     C      M
//   cylinder .. hull               i        i    i (N)     i     C      M
//   plane                                                        -      V
//   mesh soup polyhedron                                                T
//
// C: closed form, one cell of the table; i: an empty cell, GJK for the distance and EPA for the
// depth of the cores; N: two ellipsoids first by Newton's method. Boxes that were separate before
// are measured by GJK with its cache. M: the triangles of the mesh nearest to the core, by its box
// tree; V: its lowest vertex; T: two trees. A pair below the diagonal is measured in the other
// order and flipped. Compounds are split into their children. Two planes have no distance.
#include "base/core/cookie.h"
#include "base/core/registered_rows.h"
#include "base/core/words.h"
#include "collision/convex/epa.h"
#include "collision/convex/gjk_boxes.h"
#include "collision/convex/overlap.h"
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/collide.h"
#include "collision/narrowphase/manifold.h"
#include "collision/narrowphase/mesh_convex.h"
#include "collision/narrowphase/mesh_pair.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------- pair table

// A query, which a visit of all pairs of parts answers.
typedef struct Query {
    const rbSeparationInput* input;
    rbGjkCache* cache;      // NULL: none
    rbMethodMemory* memory; // of the cache, for a registered method
    rbFront* front;         // of the cache, for meshes
    rbEpaScratch* scratch;  // NULL: no depth is needed
    rbError* error;
    // parameters, used by the function that visits the pairs
    double threshold; // m
    rbSeparation* separation;
    rbContactList* contacts;
    bool isDone; // no further parts are needed
} Query;

// Two shapes that are not compounds, as parts of the shapes of the input.
typedef struct PairLeaf {
    const rbGeometry* a;
    const rbGeometry* b;
    rbTransform transformBtoA; // of these
    int childA, childB;        // of the outermost compounds
    bool isPart;               // the remaining fields are valid: otherwise these are the shapes of
                               // the input
    rbTransform partToA;       // from the frame of this a to that of the input's
    double rounding;           // m, rounding of the relative position due to the products of poses
} PairLeaf;

// The convex bodies of a leaf and their difference.
typedef struct PairBodies {
    rbConvex a, b;
    rbCso cso;
} PairBodies;

// Witnesses are recomputed if they miss the depth along the normal by this part of the scale.
#define WITNESS_MISS 1e-10
// Coarse positions keep the digits above this fraction of the size, times the rounding of 1.
#define COARSE 8192.0

static rbCollideFn* const closedForms[RB_SHAPE_COUNT][RB_SHAPE_COUNT] = {
    [RB_SHAPE_SPHERE] = {[RB_SHAPE_SPHERE] = rbCollideSphereSphere,
                         [RB_SHAPE_BOX] = rbCollideSphereSolid,
                         [RB_SHAPE_CAPSULE] = rbCollideSphereSolid,
                         [RB_SHAPE_CYLINDER] = rbCollideSphereSolid,
                         [RB_SHAPE_CONE] = rbCollideSphereSolid,
                         [RB_SHAPE_ELLIPSOID] = rbCollideSphereSolid},
    [RB_SHAPE_BOX] = {[RB_SHAPE_BOX] = rbCollideBoxBox, [RB_SHAPE_CAPSULE] = rbCollideBoxCapsule},
    [RB_SHAPE_CAPSULE] = {[RB_SHAPE_CAPSULE] = rbCollideCapsuleCapsule},
};

// NULL: the pair has none in this order.
static rbCollideFn* getClosedForm(const rbGeometry* a, const rbGeometry* b)
{
    bool isListed = a->type < RB_SHAPE_COUNT && b->type < RB_SHAPE_COUNT;
    rbCollideFn* form = isListed ? closedForms[a->type][b->type] : NULL;
    if (form == NULL && b->type == RB_SHAPE_PLANE && a->type != RB_SHAPE_PLANE &&
        rbGeometry_IsConvex(a)) {
        return rbCollideConvexPlane;
    }
    return form;
}

typedef rbStatus MeasureFn(const Query* query, const PairLeaf* leaf, rbSeparation* separation);

typedef struct MethodRow {
    const char* name;
    MeasureFn* measure;
} MethodRow;

static void setSeparation(double radiusA, double radiusB, const rbGjkResult* g, rbSeparation* s)
{
    s->distance = rbDot(rbSub(g->b, g->a), g->normal);
    s->lower = g->lower;
    s->upper = g->upper;
    s->pointA = g->a;
    s->pointB = g->b;
    s->normal = g->normal;
    s->iterations = g->iterations;
    s->reason = g->reason;
    rbRoundSeparation(s, radiusA, radiusB);
}

static rbStatus refuse(const Query* query, const PairLeaf* leaf)
{
    bool arePlanes = leaf->a->type == RB_SHAPE_PLANE && leaf->b->type == RB_SHAPE_PLANE;
    return rbError_Set(query->error, RB_STATUS_UNSUPPORTED,
                       "the method %s does not support %s and %s; %s",
                       rbPairMethod_Name(query->input->method), rbShapeType_Name(leaf->a->type),
                       rbShapeType_Name(leaf->b->type),
                       arePlanes ? "two half spaces have no distance; replace one of them by a "
                                   "bounded shape, such as a box"
                                 : "use the method auto");
}

// Rejected if a shape is not convex.
static rbStatus makePairBodies(const Query* query, const PairLeaf* leaf, PairBodies* bodies)
{
    const rbSeparationInput* input = query->input;
    if (!rbConvex_Make(leaf->a, input->radiusA, &bodies->a) ||
        !rbConvex_Make(leaf->b, input->radiusB, &bodies->b)) {
        return refuse(query, leaf);
    }
    bodies->cso = rbCso_Make(&bodies->a, &bodies->b, leaf->transformBtoA);
    return RB_STATUS_OK;
}

// Error of the relation between the witnesses and the depth along the normal.
static double missOf(rbVec3 a, rbVec3 b, const rbEpaResult* epa)
{
    return rbLength(rbAddScaled(rbSub(b, a), epa->depth, epa->normal));
}

// Any two points of the cores yield an upper bound. Where a whole rim is equally deep, or the depth
// search ended at a direction without a face, its witnesses may belong to another direction: the
// points found by GJK, or those of the bodies moved apart by the depth, are better.
static void settleWitnesses(const rbCso* cso, const rbGjkResult* gjk, const rbEpaResult* epa,
                            rbSeparation* s)
{
    double radii = cso->a->radius + cso->b->radius;
    double rounding = 2.0 * DBL_EPSILON * (radii + cso->scale);
    double miss = missOf(epa->a, epa->b, epa);
    double near = fmin(gjk->upper, rbDistance(epa->a, epa->b) + rounding);
    if (miss > WITNESS_MISS * cso->scale) {
        rbVec3 a = epa->a, b = epa->b;
        if (missOf(gjk->a, gjk->b, epa) < miss) {
            miss = missOf(gjk->a, gjk->b, epa);
            a = gjk->a;
            b = gjk->b;
        }
        rbCso apart = *cso;
        apart.translation = rbAddScaled(cso->translation, epa->depth, epa->normal);
        rbGjkResult touching = rbGjk_Distance(&apart, NULL, NULL);
        rbVec3 back = rbAddScaled(touching.b, -epa->depth, epa->normal);
        s->iterations += touching.iterations;
        if (missOf(touching.a, back, epa) < miss) {
            a = touching.a;
            b = back;
        }
        s->pointA = rbAddScaled(a, cso->a->radius, epa->normal);
        s->pointB = rbAddScaled(b, -cso->b->radius, epa->normal);
        near = fmin(near, rbDistance(a, b) + rounding);
    }
    s->upper = fmin(s->upper, near - radii + rounding);
    s->distance = fmin(fmax(s->distance, s->lower), s->upper);
}

// EPA without GJK, where the cores are likely to overlap deeply. False if it proves no depth.
static bool measureDeep(const Query* query, const rbCso* cso, const rbEpaSettings* settings,
                        rbSeparation* separation)
{
    rbCsoPoint start[4];
    if (!rbEpa_GuessStart(cso, start)) {
        return false;
    }
    rbEpaResult depth = rbEpa_Depth(cso, start, 4, settings, query->scratch);
    if (depth.reason != RB_STOP_CONVERGED || !(depth.lower > 0.0)) {
        return false;
    }
    rbGjkResult gjk; // has nothing better
    gjk.upper = INFINITY;
    gjk.a = depth.a;
    gjk.b = depth.b;
    *separation = rbEpa_Separation(cso, &depth);
    settleWitnesses(cso, &gjk, &depth, separation);
    return true;
}

static rbStatus measureIterative(const Query* query, const PairLeaf* leaf, rbSeparation* separation)
{
    double tolerance = query->input->relativeTolerance;
    PairBodies bodies;
    RB_TRY(makePairBodies(query, leaf, &bodies));
    const rbCso* cso = &bodies.cso;
    rbEpaSettings epa = rbDefaultEpaSettings();
    epa.relativeTolerance = tolerance > 0.0 ? tolerance : epa.relativeTolerance;
    if (measureDeep(query, cso, &epa, separation)) {
        return RB_STATUS_OK;
    }
    rbGjkSettings gjk = rbDefaultGjkSettings();
    gjk.relativeTolerance = tolerance > 0.0 ? tolerance : gjk.relativeTolerance;
    rbGjkResult result;
    rbGjk_Solve(cso, &gjk, query->cache, &result);
    rbEpaResult depth;
    if (result.overlaps) {
        depth = rbEpa_Depth(cso, result.simplex, result.simplexCount, &epa, query->scratch);
        if (depth.reason == RB_STOP_APART && -depth.upper > result.lower) {
            // not touching after all
            result.overlaps = false;
            result.lower = -depth.upper;
            result.normal = depth.normal;
            result.reason = RB_STOP_ROUNDING;
            result.iterations += depth.iterations;
        }
    }
    if (!result.overlaps) {
        rbGjk_Tighten(cso, &gjk, &result);
        setSeparation(cso->a->radius, cso->b->radius, &result, separation);
        return RB_STATUS_OK;
    }
    *separation = rbEpa_Separation(cso, &depth);
    separation->iterations += result.iterations;
    settleWitnesses(cso, &result, &depth, separation);
    return RB_STATUS_OK;
}

static rbStatus measureClosed(const Query* query, const PairLeaf* leaf, rbSeparation* separation)
{
    rbCollideFn* straight = getClosedForm(leaf->a, leaf->b);
    rbCollideFn* crossed = getClosedForm(leaf->b, leaf->a);
    if (straight != NULL) {
        *separation = straight(leaf->a, leaf->b, leaf->transformBtoA);
    } else if (crossed != NULL) {
        rbTransform transformAtoB = rbInvertTransform(leaf->transformBtoA);
        rbSeparation other = crossed(leaf->b, leaf->a, transformAtoB);
        *separation = rbFlipSeparation(&other, transformAtoB);
    } else {
        return refuse(query, leaf);
    }
    rbRoundSeparation(separation, query->input->radiusA, query->input->radiusB);
    return RB_STATUS_OK;
}

static bool hasClosedForm(const PairLeaf* leaf)
{
    return getClosedForm(leaf->a, leaf->b) != NULL || getClosedForm(leaf->b, leaf->a) != NULL;
}

// Ellipsoids by Newton, where the result is proven.
static rbStatus measureEllipsoids(const Query* query, const PairLeaf* leaf,
                                  rbSeparation* separation)
{
    rbGjkCache* cache = query->cache;
    bool hasDirection = cache != NULL && rbLengthSquared(cache->direction) > 0.0;
    rbVec3 start = hasDirection ? cache->direction : leaf->transformBtoA.p;
    if (!rbCollideEllipsoids(leaf->a, leaf->b, leaf->transformBtoA, start, separation)) {
        return measureIterative(query, leaf, separation);
    }
    if (cache != NULL) {
        cache->direction = separation->normal;
        cache->count = 0;
    }
    rbRoundSeparation(separation, query->input->radiusA, query->input->radiusB);
    return RB_STATUS_OK;
}

// Boxes that were separate, by warm-started GJK: mostly the features of the last query are still
// the nearest.
static bool measureWarmBoxes(const Query* query, const PairLeaf* leaf, rbSeparation* separation)
{
    rbTransform transform = leaf->transformBtoA;
    rbGjkBoxes pair = {rbLaneVec_Make(leaf->a->data.box.halfExtents),
                       rbLaneVec_Make(leaf->b->data.box.halfExtents),
                       rbLaneMat_Make(rbMatFromQuat(transform.q)), rbLaneVec_Make(transform.p),
                       leaf->a->radius + leaf->b->radius + rbLength(transform.p)};
    const rbGjkSettings settings = rbDefaultGjkSettings();
    rbGjkResult result;
    if (!rbGjk_ConfirmBoxes(&pair, &settings, query->cache, &result)) {
        PairBodies bodies;
        (void)makePairBodies(query, leaf, &bodies);
        rbGjk_Search(&bodies.cso, &settings, query->cache, &result);
        if (result.overlaps || result.reason != RB_STOP_CONVERGED) {
            return false;
        }
    }
    setSeparation(query->input->radiusA, query->input->radiusB, &result, separation);
    return true;
}

// Boxes: separating axes are faster than a cold GJK, and a warm GJK is faster still; vertices near
// vertices are left to GJK in any case. A cache with a direction means that they were separate.
static rbStatus measureBoxes(const Query* query, const PairLeaf* leaf, rbSeparation* separation)
{
    rbGjkCache* cache = query->cache;
    bool wasApart = cache != NULL && rbLengthSquared(cache->direction) > 0.0;
    if (wasApart && measureWarmBoxes(query, leaf, separation)) {
        return RB_STATUS_OK;
    }
    if (!rbCollideBoxesByAxes(leaf->a, leaf->b, leaf->transformBtoA, separation)) {
        return measureIterative(query, leaf, separation);
    }
    if (cache != NULL) {
        cache->direction = separation->distance > 0.0 ? separation->normal : RB_VEC3_ZERO;
        cache->count = 0;
    }
    rbRoundSeparation(separation, query->input->radiusA, query->input->radiusB);
    return RB_STATUS_OK;
}

static rbMeshPair makeMeshPair(const Query* query, const PairLeaf* leaf, rbDepthWish wish)
{
    const rbSeparationInput* input = query->input;
    return (rbMeshPair){.a = leaf->a,
                        .b = leaf->b,
                        .transformBtoA = leaf->transformBtoA,
                        .relativeTolerance = input->relativeTolerance,
                        .budget = input->budget,
                        .wish = wish,
                        .front = query->front,
                        .scratch = query->scratch,
                        .scratchSize = sizeof(rbEpaScratch)};
}

// A mesh and a convex shape or a plane, whichever comes first: the mesh is A for their kernels.
static rbMeshConvex makeMeshConvex(const Query* query, const PairLeaf* leaf, rbDepthWish wish)
{
    const rbSeparationInput* input = query->input;
    bool isMeshA = rbIsMeshLike(leaf->a);
    return (rbMeshConvex){.mesh = isMeshA ? leaf->a : leaf->b,
                          .convex = isMeshA ? leaf->b : leaf->a,
                          .transform = isMeshA ? leaf->transformBtoA
                                               : rbInvertTransform(leaf->transformBtoA),
                          .radiusMesh = isMeshA ? input->radiusA : input->radiusB,
                          .radiusConvex = isMeshA ? input->radiusB : input->radiusA,
                          .relativeTolerance = input->relativeTolerance,
                          .budget = input->budget,
                          .cache = query->cache,
                          .scratch = query->scratch,
                          .wish = wish};
}

static void measureMixed(const rbMeshConvex* pair, rbSeparation* separation)
{
    if (pair->convex->type == RB_SHAPE_PLANE) {
        rbMeasureMeshPlane(pair->mesh, pair->convex, pair->transform, separation);
        rbRoundSeparation(separation, pair->radiusMesh, pair->radiusConvex);
    } else {
        rbMeasureMeshConvex(pair, separation);
    }
}

static bool hasMesh(const PairLeaf* leaf)
{
    return rbIsMeshLike(leaf->a) || rbIsMeshLike(leaf->b);
}

static bool areMeshes(const PairLeaf* leaf)
{
    return rbIsMeshLike(leaf->a) && rbIsMeshLike(leaf->b);
}

static void measureTriangles(const Query* query, const PairLeaf* leaf, rbDepthWish wish,
                             rbSeparation* separation)
{
    if (areMeshes(leaf)) {
        rbMeshPair pair = makeMeshPair(query, leaf, wish);
        rbMeasureMeshes(&pair, separation);
        return;
    }
    rbMeshConvex pair = makeMeshConvex(query, leaf, wish);
    measureMixed(&pair, separation);
    if (!rbIsMeshLike(leaf->a)) {
        *separation = rbFlipSeparation(separation, pair.transform);
    }
}

// Distance, and the shortest depth: of an order and a position rounded to 12 digits that are the
// same for exchanged bodies, whose positions differ by rounding. The descent may pass places from
// which a rounding decides the way.
static void measureOverlap(const Query* query, const PairLeaf* leaf, rbSeparation* separation)
{
    PairLeaf ordered = *leaf;
    rbSeparationInput input = *query->input;
    Query plain = {.input = &input, .scratch = query->scratch, .error = query->error};
    // exchanged bodies have the other order of hashes or, if these are equal, the reverse rotation
    // or position
    rbQuat q = leaf->transformBtoA.q;
    rbVec3 p = leaf->transformBtoA.p;
    double turn = (q.w < 0.0 ? -1.0 : 1.0) * (q.x + 2.0 * q.y + 4.0 * q.z);
    double order = turn != 0.0 ? turn : p.x + 2.0 * p.y + 4.0 * p.z;
    bool isFlipped =
        leaf->a->hash != leaf->b->hash ? leaf->a->hash > leaf->b->hash : !(order >= 0.0);
    if (isFlipped) {
        ordered.a = leaf->b;
        ordered.b = leaf->a;
        ordered.transformBtoA = rbInvertTransform(leaf->transformBtoA);
        input.radiusA = query->input->radiusB;
        input.radiusB = query->input->radiusA;
    }
    input.relativeTolerance = 0.0;
    // the sum has no digits below 1e-12 of the size
    double size = leaf->a->radius + leaf->b->radius + input.radiusA + input.radiusB;
    rbVec3 shift = {COARSE * size, COARSE * size, COARSE * size};
    p = ordered.transformBtoA.p;
    ordered.transformBtoA.p = rbSub(rbAdd(p, shift), shift);
    double error = rbDistance(p, ordered.transformBtoA.p) + DBL_EPSILON * size;
    rbSeparation found;
    measureTriangles(&plain, &ordered, RB_DEPTH_SHORTEST, &found);
    if (found.reason != RB_STOP_ESTIMATE) {
        measureTriangles(query, leaf, RB_DEPTH_ROUGH, separation); // they touch
        return;
    }
    if (found.lower < 0.0) {
        found.lower -= error;
        found.upper = fmin(found.upper + error, fmax(found.upper, 0.0));
        // where it is, as far as the normal shows
        double exact = found.distance + rbDot(found.normal, rbSub(p, ordered.transformBtoA.p));
        found.distance = fmin(fmax(exact, found.lower), found.upper);
    }
    if (isFlipped) {
        found = rbFlipSeparation(&found, ordered.transformBtoA);
    }
    found.iterations += separation->iterations;
    *separation = found;
}

static rbStatus measureMesh(const Query* query, const PairLeaf* leaf, rbSeparation* separation)
{
    const rbSeparationInput* input = query->input;
    bool isTwo = areMeshes(leaf);
    bool isRough = input->budget > 0, isUnwanted = isTwo && input->isDepthUnwanted;
    rbDepthWish first = isRough && !isUnwanted ? RB_DEPTH_ROUGH : RB_DEPTH_NONE;
    measureTriangles(query, leaf, first, separation);
    bool isOverlap =
        separation->reason == RB_STOP_TOUCHES || separation->reason == RB_STOP_ESTIMATE;
    if (isOverlap && !isRough && !isUnwanted) {
        measureOverlap(query, leaf, separation);
    }
    double radii = input->radiusA + input->radiusB;
    bool mayOverlap = isTwo && radii > 0.0 && separation->lower < radii;
    if (isTwo) {
        rbRoundSeparation(separation, input->radiusA, input->radiusB);
    }
    if (mayOverlap) {
        // in a cavity there may be no room for the radii: only a plane is certain to separate them
        rbVec3 direction;
        rbMeshPair pair = makeMeshPair(query, leaf, first);
        separation->lower = -(rbBoundMeshDepth(&pair, &direction) + radii);
        separation->reason = separation->distance < 0.0 ? RB_STOP_ESTIMATE : separation->reason;
    }
    return RB_STATUS_OK;
}

// The function that auto measures a pair by; NULL: a closed form or, without one, iteration.
static MeasureFn* getAutoRow(const PairLeaf* leaf)
{
    if (hasMesh(leaf)) {
        return measureMesh;
    }
    if (leaf->a->type != leaf->b->type) {
        return NULL;
    }
    return leaf->a->type == RB_SHAPE_BOX         ? measureBoxes
           : leaf->a->type == RB_SHAPE_ELLIPSOID ? measureEllipsoids
                                                 : NULL;
}

static rbStatus measureAuto(const Query* query, const PairLeaf* leaf, rbSeparation* separation)
{
    MeasureFn* own = getAutoRow(leaf);
    if (own != NULL) {
        return own(query, leaf, separation);
    }
    return hasClosedForm(leaf) ? measureClosed(query, leaf, separation)
                               : measureIterative(query, leaf, separation);
}

static const MethodRow methodTable[RB_PAIR_COUNT] = {
    [RB_PAIR_AUTO] = {"auto", measureAuto},
    [RB_PAIR_CLOSED_FORM] = {"closed", measureClosed},
    [RB_PAIR_ITERATIVE] = {"iterative", measureIterative},
};

RB_DEFINE_TABLE(rbPairMethod, static const rbPairMethodRow* getRegistered, RB_PAIR_COUNT, NULL)
RB_DEFINE_WORDS(rbPairMethod, "pair method", rbPairMethod_GetCount(),
                index < RB_PAIR_COUNT ? methodTable[index].name
                                      : getRegistered((rbPairMethod)index)->name)

rbStatus rbRegisterPairMethod(const rbPairMethodRow* row, rbError* error)
{
    RB_ASSERT(row != NULL && row->measure != NULL);
    return RB_REGISTER_ROW(rbPairMethod, "pair method", row, error);
}

// The leaf as a separate input.
static rbSeparationInput makeLeafInput(const Query* query, const PairLeaf* leaf)
{
    rbSeparationInput input = *query->input;
    input.geometryA = leaf->a;
    input.geometryB = leaf->b;
    input.transformBtoA = leaf->transformBtoA;
    return input;
}

static rbStatus measureRegistered(const Query* query, const PairLeaf* leaf,
                                  rbSeparation* separation)
{
    rbSeparationInput input = makeLeafInput(query, leaf);
    rbStatus status = getRegistered(input.method)->measure(&input, query->memory, separation);
    return status == RB_STATUS_UNSUPPORTED ? refuse(query, leaf) : status;
}

// Are the shapes at most margin m apart, by the registered method of the input?
static rbStatus testRegistered(const Query* query, const PairLeaf* leaf, double margin,
                               bool* overlaps)
{
    rbSeparationInput input = makeLeafInput(query, leaf);
    const rbPairMethodRow* row = getRegistered(input.method);
    if (row->test == NULL) {
        rbSeparation part;
        rbStatus status = measureRegistered(query, leaf, &part);
        *overlaps = status == RB_STATUS_OK && part.lower <= margin;
        return status;
    }
    rbStatus status = row->test(&input, margin, overlaps);
    return status == RB_STATUS_UNSUPPORTED ? refuse(query, leaf) : status;
}

// Rejected, with the reason in the error of the query, if the method does not support the pair.
static rbStatus measurePair(const Query* query, const PairLeaf* leaf, rbSeparation* separation)
{
    rbPairMethod method = query->input->method;
    RB_ASSERT((unsigned)method < (unsigned)rbPairMethod_GetCount());
    RB_ASSERT(leaf->a->type != RB_SHAPE_COMPOUND && leaf->b->type != RB_SHAPE_COMPOUND);
    MeasureFn* measure = method < RB_PAIR_COUNT ? methodTable[method].measure : measureRegistered;
    rbStatus status = measure(query, leaf, separation);
    separation->childA = leaf->childA;
    separation->childB = leaf->childB;
    separation->faceA = rbIsMeshLike(leaf->a) ? separation->faceA : -1;
    separation->faceB = rbIsMeshLike(leaf->b) ? separation->faceB : -1;
    return status;
}

// ------------------------------------------------------------------------------------- queries

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
    size_t gap = (SCRATCH_ALIGNMENT - (uintptr_t)scratch % SCRATCH_ALIGNMENT) % SCRATCH_ALIGNMENT;
    return (rbEpaScratch*)((char*)scratch + gap);
}

// ----------------------------------------------------------------------------------- compounds

static bool isSimple(const rbSeparationInput* input)
{
    return input->geometryA->type != RB_SHAPE_COMPOUND &&
           input->geometryB->type != RB_SHAPE_COMPOUND;
}

typedef rbStatus VisitFn(Query* query, const PairLeaf* leaf);

// Visits all pairs of parts until the query is done or a status is not OK.
// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static rbStatus visitLeaves(Query* query, const PairLeaf* leaf, VisitFn* visit)
{
    const rbSeparationInput* input = query->input;
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
        PairLeaf part = *leaf;
        part.rounding +=
            8.0 * DBL_EPSILON * (rbLength(leaf->transformBtoA.p) + rbLength(child->transform.p));
        if (isA) {
            part.a = child->geometry;
            part.transformBtoA = rbInvMulTransforms(child->transform, leaf->transformBtoA);
            part.partToA = rbMulTransforms(leaf->partToA, child->transform);
            part.childA = leaf->a == query->input->geometryA ? i : leaf->childA;
        } else {
            part.b = child->geometry;
            part.transformBtoA = rbMulTransforms(leaf->transformBtoA, child->transform);
            part.childB = leaf->b == query->input->geometryB ? i : leaf->childB;
        }
        status = visitLeaves(query, &part, visit);
    }
    return status;
}

static rbStatus visitOnly(Query* query, const PairLeaf* leaf)
{
    return measurePair(query, leaf, query->separation);
}

static rbStatus visitNearest(Query* query, const PairLeaf* leaf)
{
    rbSeparation part = {0};
    RB_TRY(measurePair(query, leaf, &part));
    // poses of parts are products, with rounding relative to the longest factor
    part.lower -= leaf->rounding;
    part.upper += leaf->rounding;
    part.pointA = rbTransformPoint(leaf->partToA, part.pointA);
    part.pointB = rbTransformPoint(leaf->partToA, part.pointB);
    part.normal = rbRotate(leaf->partToA.q, part.normal);
    // the nearer of two results; the bounds of the union are the least of the parts' bounds
    rbSeparation* best = query->separation;
    double lower = fmin(best->lower, part.lower), upper = fmin(best->upper, part.upper);
    int iterations = best->iterations + part.iterations;
    *best = part.distance < best->distance ? part : *best;
    best->lower = lower;
    best->upper = upper;
    best->iterations = iterations;
    return RB_STATUS_OK;
}

// Pending pairs of boxes while two meshes are tested: there is no scratch memory; a small number
// makes the search a little longer, never wrong.
#define TEST_ENTRIES 512

// Are two shapes, one of which is a mesh, near enough?
static bool testMeshLeaf(const Query* query, const PairLeaf* leaf, double threshold)
{
    const rbSeparationInput* input = query->input;
    if (areMeshes(leaf)) {
        rbTreeEntry entries[TEST_ENTRIES];
        rbMeshPair pair = makeMeshPair(query, leaf, RB_DEPTH_NONE);
        pair.scratch = entries;
        pair.scratchSize = sizeof(entries);
        pair.budget = 0;
        return rbTestMeshes(&pair, threshold + input->radiusA + input->radiusB);
    }
    rbMeshConvex pair = makeMeshConvex(query, leaf, RB_DEPTH_NONE);
    if (pair.convex->type == RB_SHAPE_PLANE) {
        rbSeparation part;
        measureMixed(&pair, &part);
        return part.lower <= threshold;
    }
    return rbTestMeshConvex(&pair, threshold);
}

// A proof without GJK, which keeps no cache: boxes and ellipsoids are faster without one.
static rbOverlap testConvexLeaf(const Query* query, const PairLeaf* leaf, double threshold)
{
    rbShapeType type = leaf->a->type == leaf->b->type ? leaf->a->type : RB_SHAPE_COUNT;
    double reach = threshold + query->input->radiusA + query->input->radiusB;
    if (type == RB_SHAPE_BOX) {
        return rbTestBoxes(leaf->a->data.box.halfExtents, leaf->b->data.box.halfExtents,
                           leaf->transformBtoA, reach);
    }
    if (type == RB_SHAPE_ELLIPSOID && reach == 0.0) {
        return rbTestEllipsoids(leaf->a->data.ellipsoid.semiAxes, leaf->b->data.ellipsoid.semiAxes,
                                leaf->transformBtoA);
    }
    return RB_OVERLAP_OPEN;
}

static rbStatus visitOverlap(Query* query, const PairLeaf* leaf)
{
    rbPairMethod method = query->input->method;
    double threshold = query->threshold + (leaf->isPart ? leaf->rounding : 0.0);
    if (method == RB_PAIR_AUTO) {
        double reach = leaf->a->radius + leaf->b->radius + query->input->radiusA +
                       query->input->radiusB + threshold;
        if (rbLengthSquared(leaf->transformBtoA.p) > reach * reach * (1.0 + 16.0 * DBL_EPSILON)) {
            return RB_STATUS_OK; // the bounding balls are apart
        }
        rbOverlap found = testConvexLeaf(query, leaf, threshold);
        if (found != RB_OVERLAP_OPEN) {
            query->isDone = found == RB_OVERLAP_MEETS;
            return RB_STATUS_OK;
        }
    }
    if (method == RB_PAIR_AUTO && hasMesh(leaf)) {
        query->isDone = testMeshLeaf(query, leaf, threshold);
        return RB_STATUS_OK;
    }
    if (method >= RB_PAIR_COUNT) {
        return testRegistered(query, leaf, threshold, &query->isDone);
    }
    // auto measures some pairs by a closed form and nothing else
    if (method == RB_PAIR_CLOSED_FORM ||
        (method == RB_PAIR_AUTO && hasClosedForm(leaf) && getAutoRow(leaf) == NULL)) {
        rbSeparation part;
        RB_TRY(measurePair(query, leaf, &part));
        query->isDone = part.lower <= threshold;
        return RB_STATUS_OK;
    }
    PairBodies bodies;
    RB_TRY(makePairBodies(query, leaf, &bodies));
    // without a cache portals are faster than simplices
    double reach = threshold + bodies.a.radius + bodies.b.radius;
    rbOverlap found = method == RB_PAIR_AUTO && query->cache == NULL
                          ? rbTestPortal(&bodies.cso, reach)
                          : RB_OVERLAP_OPEN;
    query->isDone = found == RB_OVERLAP_OPEN ? rbGjk_Overlaps(&bodies.cso, threshold, query->cache)
                                             : found == RB_OVERLAP_MEETS;
    return RB_STATUS_OK;
}

// A manifold of a leaf in the frame of the input's A.
static void placeManifold(const PairLeaf* leaf, rbManifold* manifold)
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

// Appends the contacts of a mesh and a shape that is none, in the frame of the mesh.
static void addMixedContacts(const rbMeshConvex* pair, double threshold, rbContactList* list)
{
    bool isPlane = pair->convex->type == RB_SHAPE_PLANE;
    if (!isPlane && rbFindMeshConvexAgain(pair, threshold, list)) {
        return;
    }
    rbSeparation s;
    measureMixed(pair, &s);
    if (!(s.distance <= threshold)) {
        return;
    }
    if (isPlane) {
        rbManifold manifold;
        rbFindMeshPlaneContacts(pair, &s, threshold, &manifold);
        rbContactList_Add(list, &manifold);
    } else {
        rbFindMeshConvexContacts(pair, &s, threshold, list);
    }
}

static rbStatus visitMeshContacts(const Query* query, const PairLeaf* leaf)
{
    const rbSeparationInput* input = query->input;
    rbContactList* list = query->contacts;
    int first = list->count;
    if (areMeshes(leaf)) {
        rbMeshPair pair = makeMeshPair(query, leaf, RB_DEPTH_ROUGH);
        rbFindMeshContacts(&pair, query->threshold, input->radiusA, input->radiusB, list);
    } else {
        rbMeshConvex pair = makeMeshConvex(query, leaf, RB_DEPTH_ROUGH);
        addMixedContacts(&pair, query->threshold, list);
    }
    for (int i = first; i < list->count && i < list->capacity; ++i) {
        if (!rbIsMeshLike(leaf->a)) {
            flipManifold(leaf->transformBtoA, &list->manifolds[i]);
        }
        placeManifold(leaf, &list->manifolds[i]);
    }
    return RB_STATUS_OK;
}

// The manifold of the shapes without their rounding, moved outward to the rounded surfaces.
static rbStatus visitContacts(Query* query, const PairLeaf* leaf)
{
    if (query->input->method == RB_PAIR_AUTO && hasMesh(leaf)) {
        return visitMeshContacts(query, leaf);
    }
    rbSeparation s;
    rbStatus status = measurePair(query, leaf, &s);
    if (status != RB_STATUS_OK || !(s.distance <= query->threshold)) {
        return status;
    }
    const rbSeparationInput* input = query->input;
    double radii = input->radiusA + input->radiusB;
    rbRoundSeparation(&s, -input->radiusA, -input->radiusB);
    rbManifold manifold;
    rbBuildManifold(leaf->a, leaf->b, leaf->transformBtoA, &s, query->threshold + radii, &manifold);
    rbRoundManifold(&manifold, input->radiusA, input->radiusB);
    placeManifold(leaf, &manifold);
    rbContactList_Add(query->contacts, &manifold);
    return RB_STATUS_OK;
}

static rbStatus validateInput(const rbSeparationInput* input, rbError* error)
{
    RB_TRY(RB_CHECK_COOKIE(input, RB_KIND_SEPARATION, error));
    RB_INVALID_IF(input->geometryA == NULL || input->geometryB == NULL, error,
                  "geometry %s is NULL; see the error of its creation",
                  input->geometryA == NULL ? "A" : "B");
    double square = rbDotQuat(input->transformBtoA.q, input->transformBtoA.q);
    rbVec3 p = input->transformBtoA.p;
    RB_INVALID_IF(!rbIsPlace(p), error,
                  "the position of B is (%g, %g, %g); coordinates up to %g m are accepted", p.x,
                  p.y, p.z, RB_LENGTH_MAX);
    RB_INVALID_IF(!(fabs(square - 1.0) <= 2e-6), error,
                  "the orientation of B must be a unit quaternion; its length is %g", sqrt(square));
    RB_INVALID_IF(!(input->radiusA >= 0.0 && input->radiusA <= RB_LENGTH_MAX &&
                    input->radiusB >= 0.0 && input->radiusB <= RB_LENGTH_MAX),
                  error, "the radii are %g and %g m; 0 to %g m are accepted", input->radiusA,
                  input->radiusB, RB_LENGTH_MAX);
    RB_INVALID_IF((unsigned)input->method >= (unsigned)rbPairMethod_GetCount(), error,
                  "method %d is unknown; below %d are accepted", (int)input->method,
                  rbPairMethod_GetCount());
    RB_INVALID_IF(input->budget < 0, error,
                  "the budget is %lld; 0, for no limit, or more is accepted", input->budget);
    RB_INVALID_IF(!(input->relativeTolerance >= 0.0) || input->relativeTolerance > 1.0, error,
                  "the relative tolerance is %g; 0 to 1 are accepted", input->relativeTolerance);
    return RB_STATUS_OK;
}

static rbStatus refuseScratch(rbError* error)
{
    return rbError_Set(error, RB_STATUS_INVALID,
                       "there is no scratch memory; rbGetSeparationScratchSize() bytes are needed");
}

static rbStatus runQuery(Query* query, rbSeparationCache* cache, VisitFn* visit)
{
    const rbSeparationInput* input = query->input;
    bool isPair = isSimple(input);
    if (isPair && cache != NULL) {
        PairCache* own = (PairCache*)cache->opaque;
        query->cache = &own->gjk;
        query->memory = &own->memory;
        query->front = cache->front;
    }
    PairLeaf whole;
    whole.a = input->geometryA;
    whole.b = input->geometryB;
    whole.transformBtoA.p = input->transformBtoA.p;
    rbQuat q =
        input->transformBtoA.q; // mostly unit already: the root would cost a tenth of a query
    bool isUnit = fabs(rbDotQuat(q, q) - 1.0) <= 4.0 * DBL_EPSILON;
    whole.transformBtoA.q = isUnit ? q : rbNormalizeQuat(q);
    whole.childA = whole.childB = 0;
    whole.isPart = !isPair;
    if (isPair) {
        return visit(query, &whole);
    }
    whole.partToA = RB_TRANSFORM_IDENTITY;
    whole.rounding = 0.0;
    return visitLeaves(query, &whole, visit);
}

rbStatus rbMeasureSeparation(const rbSeparationInput* input, rbSeparationCache* cache,
                             void* scratch, rbSeparation* separation, rbError* error)
{
    RB_ASSERT(separation != NULL);
    Query query = {
        .input = input, .scratch = alignScratch(scratch), .error = error, .separation = separation};
    rbStatus status = scratch != NULL ? validateInput(input, error) : refuseScratch(error);
    if (status == RB_STATUS_OK && isSimple(input)) {
        status = runQuery(&query, cache, visitOnly);
    } else if (status == RB_STATUS_OK) {
        *separation = (rbSeparation){.distance = INFINITY, .lower = INFINITY, .upper = INFINITY};
        status = runQuery(&query, cache, visitNearest);
    }
    if (status != RB_STATUS_OK) { // nothing that looks like a result
        *separation = (rbSeparation){.distance = NAN, .lower = NAN, .upper = NAN};
    }
    return status;
}

rbStatus rbTestOverlap(const rbSeparationInput* input, double margin, rbSeparationCache* cache,
                       bool* overlaps, rbError* error)
{
    RB_ASSERT(overlaps != NULL);
    *overlaps = false;
    RB_TRY(validateInput(input, error));
    RB_INVALID_IF(!(margin >= 0.0) || !isfinite(margin), error,
                  "the margin is %g m; it must be finite and not negative", margin);
    Query query = {.input = input, .error = error, .threshold = margin};
    rbStatus status = runQuery(&query, cache, visitOverlap);
    *overlaps = query.isDone;
    return status;
}

rbStatus rbFindContacts(const rbSeparationInput* input, double threshold, rbSeparationCache* cache,
                        void* scratch, rbContactList* list, rbError* error)
{
    RB_ASSERT(list != NULL);
    list->count = 0;
    RB_TRY(scratch != NULL ? validateInput(input, error) : refuseScratch(error));
    RB_INVALID_IF(!isfinite(threshold) || list->capacity < 0, error,
                  "the contact threshold is %g m and the capacity %d; a finite threshold and a "
                  "capacity of 0 or more are accepted",
                  threshold, list->capacity);
    Query query = {.input = input,
                   .scratch = alignScratch(scratch),
                   .error = error,
                   .threshold = threshold,
                   .contacts = list};
    rbStatus status = runQuery(&query, cache, visitContacts);
    list->count = status == RB_STATUS_OK ? list->count : 0;
    return status;
}
