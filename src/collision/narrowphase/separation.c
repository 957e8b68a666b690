// The pair table: which kernel measures which pair of shapes.
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
// depth of the cores; N: two ellipsoids first by Newton's method. Boxes that were apart before are
// measured by GJK with its cache. M: the triangles of the mesh nearest to the core, by its box
// tree; V: its lowest vertex; T: two trees. A pair below the diagonal is measured the other way
// round and flipped. Compounds are taken apart. Two planes have no distance.
#include "base/core/memory.h"
#include "collision/convex/epa.h"
#include "collision/convex/features.h"
#include "collision/convex/gjk.h"
#include "collision/convex/gjk_boxes.h"
#include "collision/convex/mpr.h"
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/collide.h"
#include "collision/narrowphase/manifold.h"
#include "collision/narrowphase/mesh_contacts.h"
#include "collision/narrowphase/mesh_convex.h"
#include "collision/narrowphase/mesh_depth.h"
#include "collision/narrowphase/mesh_pair.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define RB_COOKIE_SEPARATION 0x52420005u

// Witnesses that miss the depth along the normal by more than this, of the scale, are looked for
// once more.
#define WITNESS_MISS 1e-10

// What is inside of the public cache.
typedef struct PairCache {
    rbGjkCache gjk;
    rbFeaturePair features;
} PairCache;

_Static_assert(sizeof(PairCache) <= sizeof(rbSeparationCache), "the public cache holds ours");

static rbCollideFn* const closedForms[RB_SHAPE_COUNT][RB_SHAPE_COUNT] = {
    [RB_SHAPE_SPHERE] = {[RB_SHAPE_SPHERE] = rbCollideSphereSphere,
                         [RB_SHAPE_BOX] = rbCollideSphereBox,
                         [RB_SHAPE_CAPSULE] = rbCollideSphereCapsule,
                         [RB_SHAPE_CYLINDER] = rbCollideSphereCylinder,
                         [RB_SHAPE_CONE] = rbCollideSphereCone,
                         [RB_SHAPE_ELLIPSOID] = rbCollideSphereEllipsoid,
                         [RB_SHAPE_PLANE] = rbCollideSpherePlane},
    [RB_SHAPE_BOX] = {[RB_SHAPE_BOX] = rbCollideBoxBox,
                      [RB_SHAPE_CAPSULE] = rbCollideBoxCapsule,
                      [RB_SHAPE_PLANE] = rbCollideConvexPlane},
    [RB_SHAPE_CAPSULE] =
        {[RB_SHAPE_CAPSULE] = rbCollideCapsuleCapsule, [RB_SHAPE_PLANE] = rbCollideCapsulePlane},
    [RB_SHAPE_CYLINDER] = {[RB_SHAPE_PLANE] = rbCollideConvexPlane},
    [RB_SHAPE_CONE] = {[RB_SHAPE_PLANE] = rbCollideConvexPlane},
    [RB_SHAPE_ELLIPSOID] = {[RB_SHAPE_PLANE] = rbCollideConvexPlane},
    [RB_SHAPE_HULL] = {[RB_SHAPE_PLANE] = rbCollideConvexPlane},
};

rbSeparationInput rbDefaultSeparationInput(void)
{
    rbSeparationInput input = {.cookie = RB_COOKIE_SEPARATION,
                               .transformBtoA = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}};
    return input;
}

// Vectors in the scratch are aligned; the caller's memory need not be.
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

// One query on its way through the table and the compounds.
typedef struct Query {
    const rbSeparationInput* input;
    rbGjkCache* cache;       // NULL: none
    rbFeaturePair* features; // of the cache
    rbFront* front;          // of the cache, for meshes
    rbEpaScratch* scratch;   // NULL: no depth is asked for
    rbError* error;
    // what is asked for, by the function that visits the pairs of parts
    double threshold; // m
    rbSeparation* separation;
    rbContactList* contacts;
    bool isDone; // no further parts are wanted
} Query;

// Two shapes that are no compounds, as parts of the shapes of the input.
typedef struct Leaf {
    const rbGeometry* a;
    const rbGeometry* b;
    rbTransform transformBtoA; // of these
    int childA, childB;        // of the outermost compounds
    bool isPart;               // the rest has a value: otherwise these are the shapes of the input
    rbTransform partToA;       // from the frame of this a to that of the input's
    double rounding;           // m, of the relative position by the products of poses
} Leaf;

typedef rbStatus MeasureFn(const Query* query, const Leaf* leaf, rbSeparation* separation);

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

// The convex bodies of a leaf and their difference; false if a shape is none.
typedef struct Bodies {
    rbConvex a, b;
    rbCso cso;
} Bodies;

// What to do about a pair that a method does not know.
static const char* remedyFor(const Leaf* leaf)
{
    bool isPlaneA = leaf->a->type == RB_SHAPE_PLANE;
    bool isPlaneB = leaf->b->type == RB_SHAPE_PLANE;
    if (isPlaneA && isPlaneB) {
        return "two half spaces have no distance; bound one of them, as a box, say";
    }
    return "the method auto measures them";
}

static rbStatus refuse(const Query* query, const Leaf* leaf)
{
    return rbError_Set(query->error, RB_STATUS_UNSUPPORTED,
                       "the method %s does not measure %s and %s; %s",
                       rbPairMethod_Name(query->input->method), rbShapeType_Name(leaf->a->type),
                       rbShapeType_Name(leaf->b->type), remedyFor(leaf));
}

static rbStatus makeBodies(const Query* query, const Leaf* leaf, Bodies* bodies)
{
    const rbSeparationInput* input = query->input;
    if (!rbConvex_Make(leaf->a, input->radiusA, &bodies->a) ||
        !rbConvex_Make(leaf->b, input->radiusB, &bodies->b)) {
        return refuse(query, leaf);
    }
    bodies->cso = rbCso_Make(&bodies->a, &bodies->b, leaf->transformBtoA);
    return RB_STATUS_OK;
}

// How far witnesses are off their relation to the depth along the normal.
static double missOf(rbVec3 a, rbVec3 b, const rbEpaResult* epa)
{
    return rbLength(rbAddScaled(rbSub(b, a), epa->depth, epa->normal));
}

// Any two points of the cores are an upper bound. Where a whole rim is equally deep, or the depth
// search ended at a direction without a face, its witnesses may belong to another direction: the
// points that GJK brought together, or those of the bodies moved apart by the depth, are better.
static void settleWitnesses(const rbCso* cso, const rbGjkResult* gjk, const rbEpaResult* epa,
                            rbSeparation* s)
{
    double radii = cso->a->radius + cso->b->radius;
    double rounding = 2.0 * DBL_EPSILON * (radii + cso->scale);
    double miss = missOf(epa->a, epa->b, epa);
    double near = fmin(gjk->upper, rbDistance(epa->a, epa->b) + rounding);
    if (miss > WITNESS_MISS * cso->scale) {
        rbVec3 a = epa->a;
        rbVec3 b = epa->b;
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
    rbGjkResult gjk; // knows nothing better
    gjk.upper = INFINITY;
    gjk.a = depth.a;
    gjk.b = depth.b;
    *separation = rbEpa_Separation(cso, &depth);
    settleWitnesses(cso, &gjk, &depth, separation);
    return true;
}

static rbStatus measureIterative(const Query* query, const Leaf* leaf, rbSeparation* separation)
{
    double tolerance = query->input->relativeTolerance;
    Bodies bodies;
    rbStatus status = makeBodies(query, leaf, &bodies);
    if (status != RB_STATUS_OK) {
        return status;
    }
    const rbCso* cso = &bodies.cso;
    rbEpaSettings epa = rbDefaultEpaSettings();
    epa.relativeTolerance = tolerance > 0.0 ? tolerance : epa.relativeTolerance;
    if (measureDeep(query, cso, &epa, separation)) {
        return RB_STATUS_OK;
    }
    rbGjkSettings own;
    const rbGjkSettings* gjk = NULL;
    if (tolerance > 0.0) {
        own = rbDefaultGjkSettings();
        own.relativeTolerance = tolerance;
        gjk = &own;
    }
    rbGjkResult result;
    rbGjk_Solve(cso, gjk, query->cache, &result);
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
        rbGjk_Tighten(cso, gjk, &result);
        setSeparation(cso->a->radius, cso->b->radius, &result, separation);
        return RB_STATUS_OK;
    }
    *separation = rbEpa_Separation(cso, &depth);
    separation->iterations += result.iterations;
    settleWitnesses(cso, &result, &depth, separation);
    return RB_STATUS_OK;
}

static rbStatus measureClosed(const Query* query, const Leaf* leaf, rbSeparation* separation)
{
    rbCollideFn* straight = closedForms[leaf->a->type][leaf->b->type];
    rbCollideFn* crossed = closedForms[leaf->b->type][leaf->a->type];
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

static bool hasClosedForm(const Leaf* leaf)
{
    return closedForms[leaf->a->type][leaf->b->type] != NULL ||
           closedForms[leaf->b->type][leaf->a->type] != NULL;
}

// Ellipsoids by Newton, where that proves itself.
static rbStatus measureEllipsoids(const Query* query, const Leaf* leaf, rbSeparation* separation)
{
    rbVec3 start = leaf->transformBtoA.p;
    rbGjkCache* cache = query->cache;
    if (cache != NULL && rbLengthSquared(cache->direction) > 0.0) {
        start = cache->direction;
    }
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

// Boxes that were apart, by warm GJK: mostly the features of the last query are still the nearest.
static bool measureWarmBoxes(const Query* query, const Leaf* leaf, rbSeparation* separation)
{
    double radiusA = query->input->radiusA;
    double radiusB = query->input->radiusB;
    rbTransform transform = leaf->transformBtoA;
    rbBoxPair pair = {rbLaneVec_Make(leaf->a->data.box.halfExtents),
                      rbLaneVec_Make(leaf->b->data.box.halfExtents),
                      rbLaneMat_Make(rbMatFromQuat(transform.q)), rbLaneVec_Make(transform.p),
                      leaf->a->radius + leaf->b->radius + rbLength(transform.p)};
    const rbGjkSettings settings = rbDefaultGjkSettings();
    rbGjkResult result;
    if (rbGjk_ConfirmBoxes(&pair, &settings, query->cache, &result)) {
        setSeparation(radiusA, radiusB, &result, separation);
        return true;
    }
    Bodies bodies;
    (void)makeBodies(query, leaf, &bodies);
    rbGjkResult found;
    rbGjk_Search(&bodies.cso, &settings, query->cache, &found);
    if (found.overlaps || found.reason != RB_STOP_CONVERGED) {
        return false;
    }
    setSeparation(radiusA, radiusB, &found, separation);
    return true;
}

// Boxes: separating axes are faster than a cold GJK, a warm one is faster than they are; vertices
// near vertices are for GJK in any case. A cache with a direction says that they were apart.
static rbStatus measureBoxes(const Query* query, const Leaf* leaf, rbSeparation* separation)
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

static rbMeshPair makeMeshPair(const Query* query, const Leaf* leaf)
{
    const rbSeparationInput* input = query->input;
    return (rbMeshPair){.a = leaf->a,
                        .b = leaf->b,
                        .transformBtoA = leaf->transformBtoA,
                        .relativeTolerance = input->relativeTolerance,
                        .budget = input->budget,
                        .isDepthUnwanted = input->isDepthUnwanted,
                        .front = query->front,
                        .scratch = query->scratch,
                        .scratchSize = sizeof(rbEpaScratch)};
}

static rbStatus measureMeshes(const Query* query, const Leaf* leaf, rbSeparation* separation)
{
    rbMeshPair pair = makeMeshPair(query, leaf);
    rbMeasureMeshes(&pair, separation);
    double radii = query->input->radiusA + query->input->radiusB;
    bool mayOverlap = radii > 0.0 && separation->lower < radii;
    rbRoundSeparation(separation, query->input->radiusA, query->input->radiusB);
    if (mayOverlap) {
        // in a cavity there may be no room for the radii: only a plane surely parts them
        rbVec3 direction;
        separation->lower = -(rbBoundMeshDepth(&pair, &direction) + radii);
        separation->reason = separation->distance < 0.0 ? RB_STOP_ESTIMATE : separation->reason;
    }
    return RB_STATUS_OK;
}

// A mesh and a convex shape, whichever comes first: the mesh is A for their kernels.
static rbMeshConvex makeMeshConvex(const Query* query, const Leaf* leaf)
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
                          .scratch = query->scratch};
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

static rbStatus measureMeshConvex(const Query* query, const Leaf* leaf, rbSeparation* separation)
{
    rbMeshConvex pair = makeMeshConvex(query, leaf);
    measureMixed(&pair, separation);
    if (!rbIsMeshLike(leaf->a)) {
        *separation = rbFlipSeparation(separation, pair.transform);
        separation->faceB = separation->faceA;
    }
    return RB_STATUS_OK;
}

#define AGAINST_MESHES(measure) \
    [RB_SHAPE_POLYHEDRON] = (measure), [RB_SHAPE_MESH] = (measure), [RB_SHAPE_SOUP] = (measure)

#define MESH_ROW                                                                         \
    {                                                                                    \
        [RB_SHAPE_SPHERE] = measureMeshConvex, [RB_SHAPE_BOX] = measureMeshConvex,       \
        [RB_SHAPE_CAPSULE] = measureMeshConvex, [RB_SHAPE_CYLINDER] = measureMeshConvex, \
        [RB_SHAPE_CONE] = measureMeshConvex, [RB_SHAPE_ELLIPSOID] = measureMeshConvex,   \
        [RB_SHAPE_PLANE] = measureMeshConvex, [RB_SHAPE_HULL] = measureMeshConvex,       \
        AGAINST_MESHES(measureMeshes)                                                    \
    }

// Pairs that auto measures by a way of their own; the others by a closed form or, without one, by
// iteration.
static MeasureFn* const autoRows[RB_SHAPE_COUNT][RB_SHAPE_COUNT] = {
    [RB_SHAPE_SPHERE] = {AGAINST_MESHES(measureMeshConvex)},
    [RB_SHAPE_BOX] = {[RB_SHAPE_BOX] = measureBoxes, AGAINST_MESHES(measureMeshConvex)},
    [RB_SHAPE_CAPSULE] = {AGAINST_MESHES(measureMeshConvex)},
    [RB_SHAPE_CYLINDER] = {AGAINST_MESHES(measureMeshConvex)},
    [RB_SHAPE_CONE] = {AGAINST_MESHES(measureMeshConvex)},
    [RB_SHAPE_ELLIPSOID] = {[RB_SHAPE_ELLIPSOID] = measureEllipsoids,
                            AGAINST_MESHES(measureMeshConvex)},
    [RB_SHAPE_PLANE] = {AGAINST_MESHES(measureMeshConvex)},
    [RB_SHAPE_HULL] = {AGAINST_MESHES(measureMeshConvex)},
    [RB_SHAPE_POLYHEDRON] = MESH_ROW,
    [RB_SHAPE_MESH] = MESH_ROW,
    [RB_SHAPE_SOUP] = MESH_ROW,
};

static rbStatus measureAuto(const Query* query, const Leaf* leaf, rbSeparation* separation)
{
    MeasureFn* own = autoRows[leaf->a->type][leaf->b->type];
    if (own != NULL) {
        return own(query, leaf, separation);
    }
    return hasClosedForm(leaf) ? measureClosed(query, leaf, separation)
                               : measureIterative(query, leaf, separation);
}

// Bounds hold as of every method, but depth and normal are those of a portal.
static rbStatus measureMpr(const Query* query, const Leaf* leaf, rbSeparation* separation)
{
    Bodies bodies;
    rbStatus status = makeBodies(query, leaf, &bodies);
    if (status == RB_STATUS_OK) {
        rbMprResult result = rbMpr_Penetration(&bodies.cso, NULL);
        *separation = rbMpr_Separation(&result);
        separation->reason = result.overlaps ? RB_STOP_ESTIMATE : separation->reason;
    }
    return status;
}

static rbStatus measureFeatures(const Query* query, const Leaf* leaf, rbSeparation* separation)
{
    if (!rbFeatures_Accepts(leaf->a) || !rbFeatures_Accepts(leaf->b)) {
        return refuse(query, leaf);
    }
    *separation = rbFeatures_Separation(leaf->a, leaf->b, leaf->transformBtoA, query->features);
    rbRoundSeparation(separation, query->input->radiusA, query->input->radiusB);
    if (separation->reason == RB_STOP_TOUCHES) {
        separation->reason = RB_STOP_ESTIMATE;
    }
    return RB_STATUS_OK;
}

static const MethodRow methodTable[RB_PAIR_COUNT] = {
    [RB_PAIR_AUTO] = {"auto", measureAuto},
    [RB_PAIR_CLOSED_FORM] = {"closed", measureClosed},
    [RB_PAIR_ITERATIVE] = {"iterative", measureIterative},
    [RB_PAIR_MPR] = {"mpr", measureMpr},
    [RB_PAIR_FEATURES] = {"features", measureFeatures},
};

const char* rbPairMethod_Name(rbPairMethod method)
{
    return (unsigned)method < RB_PAIR_COUNT ? methodTable[method].name : "unknown";
}

rbPairMethod rbPairMethod_Find(const char* name)
{
    for (int i = 0; i < RB_PAIR_COUNT; ++i) {
        if (strcmp(name, methodTable[i].name) == 0) {
            return (rbPairMethod)i;
        }
    }
    return RB_PAIR_COUNT;
}

static rbStatus measureLeaf(const Query* query, const Leaf* leaf, rbSeparation* separation)
{
    rbStatus status = methodTable[query->input->method].measure(query, leaf, separation);
    separation->childA = leaf->childA;
    separation->childB = leaf->childB;
    separation->faceA = rbIsMeshLike(leaf->a) ? separation->faceA : -1;
    separation->faceB = rbIsMeshLike(leaf->b) ? separation->faceB : -1;
    return status;
}

// ----------------------------------------------------------------------------------- compounds

static bool isSimple(const rbSeparationInput* input)
{
    return input->geometryA->type != RB_SHAPE_COMPOUND &&
           input->geometryB->type != RB_SHAPE_COMPOUND;
}

typedef rbStatus VisitFn(Query* query, const Leaf* leaf);

// Visits all pairs of parts until the query is done or a status is not OK.
// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static rbStatus visitLeaves(Query* query, const Leaf* leaf, VisitFn* visit)
{
    const rbSeparationInput* input = query->input;
    double reach = leaf->a->radius + leaf->b->radius + input->radiusA + input->radiusB;
    double limit = query->separation != NULL ? query->separation->upper : query->threshold;
    if (rbLength(leaf->transformBtoA.p) - reach > limit + leaf->rounding) {
        return RB_STATUS_OK; // their bounding balls are farther apart than what is asked for
    }
    bool isA = leaf->a->type == RB_SHAPE_COMPOUND;
    if (!isA && leaf->b->type != RB_SHAPE_COMPOUND) {
        return visit(query, leaf);
    }
    const rbGeometry* whole = isA ? leaf->a : leaf->b;
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < whole->childCount && status == RB_STATUS_OK && !query->isDone; ++i) {
        const rbCompoundChild* child = &whole->children[i];
        Leaf part = *leaf;
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

// Takes the nearer of two answers; the bounds of the union are the least of the parts'.
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

static rbStatus visitOnly(Query* query, const Leaf* leaf)
{
    return measureLeaf(query, leaf, query->separation);
}

static rbStatus visitNearest(Query* query, const Leaf* leaf)
{
    rbSeparation part = {0};
    rbStatus status = measureLeaf(query, leaf, &part);
    if (status == RB_STATUS_OK) {
        // poses of parts are products, rounded by what the longest factor was
        part.lower -= leaf->rounding;
        part.upper += leaf->rounding;
        part.pointA = rbTransformPoint(leaf->partToA, part.pointA);
        part.pointB = rbTransformPoint(leaf->partToA, part.pointB);
        part.normal = rbRotate(leaf->partToA.q, part.normal);
        takeNearer(query->separation, &part);
    }
    return status;
}

// MPR is the fastest on cores without a radius that nothing is known of; GJK takes the rounded ones
// by their cores and profits from a cache.
static bool isForMpr(const Query* query, const Bodies* bodies)
{
    rbPairMethod method = query->input->method;
    return method == RB_PAIR_MPR ||
           (method == RB_PAIR_AUTO && query->cache == NULL && query->threshold == 0.0 &&
            bodies->a.radius + bodies->b.radius == 0.0);
}

// Pairs of boxes that wait while two meshes are tested: there is no scratch; with few the search is
// a little longer, never wrong.
#define TEST_ENTRIES 512

// Are two shapes, one of which is a mesh, near enough?
static bool testMeshLeaf(const Query* query, const Leaf* leaf, double threshold)
{
    const rbSeparationInput* input = query->input;
    if (rbIsMeshLike(leaf->a) && rbIsMeshLike(leaf->b)) {
        rbTreeEntry entries[TEST_ENTRIES];
        rbMeshPair pair = makeMeshPair(query, leaf);
        pair.scratch = entries;
        pair.scratchSize = sizeof(entries);
        pair.budget = 0;
        return rbTestMeshes(&pair, threshold + input->radiusA + input->radiusB);
    }
    rbMeshConvex pair = makeMeshConvex(query, leaf);
    if (pair.convex->type == RB_SHAPE_PLANE) {
        rbSeparation part;
        measureMixed(&pair, &part);
        return part.lower <= threshold;
    }
    return rbTestMeshConvex(&pair, threshold);
}

static bool hasMesh(const Leaf* leaf)
{
    return rbIsMeshLike(leaf->a) || rbIsMeshLike(leaf->b);
}

static rbStatus visitOverlap(Query* query, const Leaf* leaf)
{
    rbPairMethod method = query->input->method;
    double threshold = query->threshold + (leaf->isPart ? leaf->rounding : 0.0);
    if (method == RB_PAIR_AUTO && hasMesh(leaf)) {
        query->isDone = testMeshLeaf(query, leaf, threshold);
        return RB_STATUS_OK;
    }
    bool hasOwn = autoRows[leaf->a->type][leaf->b->type] != NULL;
    rbStatus status;
    if (method == RB_PAIR_CLOSED_FORM || method == RB_PAIR_FEATURES ||
        (method == RB_PAIR_AUTO && hasClosedForm(leaf) && !hasOwn)) {
        rbSeparation part;
        status = measureLeaf(query, leaf, &part);
        query->isDone = status == RB_STATUS_OK && part.lower <= threshold;
        return status;
    }
    Bodies bodies;
    status = makeBodies(query, leaf, &bodies);
    if (status == RB_STATUS_OK && isForMpr(query, &bodies)) {
        bodies.a.radius += threshold;
        query->isDone = rbMpr_Overlaps(&bodies.cso);
    } else if (status == RB_STATUS_OK) {
        query->isDone = rbGjk_Overlaps(&bodies.cso, threshold, query->cache);
    }
    return status;
}

// A manifold of a leaf in the frame of the input's A.
static void placeManifold(const Leaf* leaf, rbManifold* manifold)
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

// The contacts of two shapes, one of which is a mesh, the other no mesh, are added to the list.
static void addMixedContacts(const Query* query, const Leaf* leaf)
{
    rbSeparation s;
    rbContactList* list = query->contacts;
    rbMeshConvex pair = makeMeshConvex(query, leaf);
    measureMixed(&pair, &s);
    if (!(s.distance <= query->threshold)) {
        return;
    }
    int room = list->count < list->capacity ? list->capacity - list->count : 0;
    rbManifold* next = list->manifolds + (room > 0 ? list->count : 0);
    int found = 1;
    rbManifold manifold;
    if (pair.convex->type == RB_SHAPE_PLANE) {
        rbFindMeshPlaneContacts(&pair, &s, query->threshold, &manifold);
        if (room > 0) {
            *next = manifold;
        }
    } else {
        found = rbFindMeshConvexContacts(&pair, &s, query->threshold, next, room);
    }
    for (int i = 0; i < found && i < room && !rbIsMeshLike(leaf->a); ++i) {
        flipManifold(leaf->transformBtoA, &next[i]);
    }
    list->count += found;
}

static rbStatus visitMeshContacts(const Query* query, const Leaf* leaf)
{
    const rbSeparationInput* input = query->input;
    rbContactList* list = query->contacts;
    int first = list->count;
    if (rbIsMeshLike(leaf->a) && rbIsMeshLike(leaf->b)) {
        rbMeshPair pair = makeMeshPair(query, leaf);
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

// The manifold of the shapes without their rounding, moved out to the rounded surfaces.
static rbStatus visitContacts(Query* query, const Leaf* leaf)
{
    if (query->input->method == RB_PAIR_AUTO && hasMesh(leaf)) {
        return visitMeshContacts(query, leaf);
    }
    rbSeparation s;
    rbStatus status = measureLeaf(query, leaf, &s);
    if (status != RB_STATUS_OK || !(s.distance <= query->threshold)) {
        return status;
    }
    const rbSeparationInput* input = query->input;
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

static rbStatus judgeInput(const rbSeparationInput* input, rbError* error)
{
    if (input->cookie != RB_COOKIE_SEPARATION) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the input was not made by rbDefaultSeparationInput");
    }
    if (input->geometryA == NULL || input->geometryB == NULL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "geometry %s is NULL; look at the error of its creation",
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
    if ((unsigned)input->method >= RB_PAIR_COUNT) {
        return rbError_Set(error, RB_STATUS_INVALID, "method %d is unknown; below %d are accepted",
                           (int)input->method, (int)RB_PAIR_COUNT);
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

// A unit to rounding; most are already, and the root would cost a tenth of a query.
static rbQuat polishQuat(rbQuat q)
{
    return fabs(rbDotQuat(q, q) - 1.0) <= 4.0 * DBL_EPSILON ? q : rbNormalizeQuat(q);
}

static rbStatus runQuery(Query* query, rbSeparationCache* cache, VisitFn* visit)
{
    const rbSeparationInput* input = query->input;
    bool isPair = isSimple(input);
    if (isPair && cache != NULL) {
        PairCache* own = (PairCache*)cache->opaque;
        query->cache = &own->gjk;
        query->features = &own->features;
        query->front = cache->front;
    }
    Leaf whole;
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

// What a query leaves when its status is not OK: nothing that looks like an answer.
static const rbSeparation nothing = {.distance = NAN, .lower = NAN, .upper = NAN};

rbStatus rbMeasureSeparation(const rbSeparationInput* input, rbSeparationCache* cache,
                             void* scratch, rbSeparation* separation, rbError* error)
{
    RB_ASSERT(separation != NULL);
    Query query = {
        .input = input, .scratch = alignScratch(scratch), .error = error, .separation = separation};
    rbStatus status = scratch != NULL ? judgeInput(input, error) : refuseScratch(error);
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
    rbStatus status = judgeInput(input, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (!(margin >= 0.0) || !isfinite(margin)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the margin is %g m; it must be finite and not negative", margin);
    }
    Query query = {.input = input, .error = error, .threshold = margin};
    status = runQuery(&query, cache, visitOverlap);
    *overlaps = query.isDone;
    return status;
}

rbStatus rbFindContacts(const rbSeparationInput* input, double threshold, rbSeparationCache* cache,
                        void* scratch, rbContactList* list, rbError* error)
{
    RB_ASSERT(list != NULL);
    list->count = 0;
    rbStatus status = scratch != NULL ? judgeInput(input, error) : refuseScratch(error);
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
    Query query = {.input = input,
                   .scratch = alignScratch(scratch),
                   .error = error,
                   .threshold = threshold,
                   .contacts = list};
    status = runQuery(&query, cache, visitContacts);
    list->count = status == RB_STATUS_OK ? list->count : 0;
    return status;
}
