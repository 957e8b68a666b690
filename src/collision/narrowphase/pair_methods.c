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
// depth of the cores; N: two ellipsoids first by Newton's method. Boxes that were separate before
// are measured by GJK with its cache. M: the triangles of the mesh nearest to the core, by its box
// tree; V: its lowest vertex; T: two trees. A pair below the diagonal is measured in the other
// order and flipped. Compounds are split into their children. Two planes have no distance.
#include "collision/narrowphase/pair_methods.h"

#include "base/core/registered_rows.h"
#include "base/core/words.h"
#include "collision/convex/gjk_boxes.h"
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/collide.h"
#include "collision/narrowphase/mesh_depth.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Witnesses that miss the depth along the normal by more than this, relative to the scale, are
// recomputed.
#define WITNESS_MISS 1e-10

static rbCollideFn* const closedForms[RB_SHAPE_COUNT][RB_SHAPE_COUNT] = {
    [RB_SHAPE_SPHERE] = {[RB_SHAPE_SPHERE] = rbCollideSphereSphere,
                         [RB_SHAPE_BOX] = rbCollideSphereBox,
                         [RB_SHAPE_CAPSULE] = rbCollideSphereCapsule,
                         [RB_SHAPE_CYLINDER] = rbCollideSphereCylinder,
                         [RB_SHAPE_CONE] = rbCollideSphereCone,
                         [RB_SHAPE_ELLIPSOID] = rbCollideSphereEllipsoid,
                         [RB_SHAPE_PLANE] = rbCollideSpherePlane},
    [RB_SHAPE_BOX] = {[RB_SHAPE_BOX] = rbCollideBoxBox, [RB_SHAPE_CAPSULE] = rbCollideBoxCapsule},
    [RB_SHAPE_CAPSULE] =
        {[RB_SHAPE_CAPSULE] = rbCollideCapsuleCapsule, [RB_SHAPE_PLANE] = rbCollideCapsulePlane},
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

typedef rbStatus MeasureFn(const rbPairQuery* query, const rbPairLeaf* leaf,
                           rbSeparation* separation);

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

// The remedy for a pair that a method does not support.
static const char* remedyFor(const rbPairLeaf* leaf)
{
    bool isPlaneA = leaf->a->type == RB_SHAPE_PLANE;
    bool isPlaneB = leaf->b->type == RB_SHAPE_PLANE;
    if (isPlaneA && isPlaneB) {
        return "two half spaces have no distance; replace one of them by a bounded shape, such as "
               "a box";
    }
    return "use the method auto";
}

static rbStatus refuse(const rbPairQuery* query, const rbPairLeaf* leaf)
{
    return rbError_Set(query->error, RB_STATUS_UNSUPPORTED,
                       "the method %s does not support %s and %s; %s",
                       rbPairMethod_Name(query->input->method), rbShapeType_Name(leaf->a->type),
                       rbShapeType_Name(leaf->b->type), remedyFor(leaf));
}

rbStatus rbMakePairBodies(const rbPairQuery* query, const rbPairLeaf* leaf, rbPairBodies* bodies)
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
static bool measureDeep(const rbPairQuery* query, const rbCso* cso, const rbEpaSettings* settings,
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

static rbStatus measureIterative(const rbPairQuery* query, const rbPairLeaf* leaf,
                                 rbSeparation* separation)
{
    double tolerance = query->input->relativeTolerance;
    rbPairBodies bodies;
    rbStatus status = rbMakePairBodies(query, leaf, &bodies);
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

static rbStatus measureClosed(const rbPairQuery* query, const rbPairLeaf* leaf,
                              rbSeparation* separation)
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

static bool hasClosedForm(const rbPairLeaf* leaf)
{
    return getClosedForm(leaf->a, leaf->b) != NULL || getClosedForm(leaf->b, leaf->a) != NULL;
}

// Ellipsoids by Newton, where the result is proven.
static rbStatus measureEllipsoids(const rbPairQuery* query, const rbPairLeaf* leaf,
                                  rbSeparation* separation)
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

// Boxes that were separate, by warm-started GJK: mostly the features of the last query are still
// the nearest.
static bool measureWarmBoxes(const rbPairQuery* query, const rbPairLeaf* leaf,
                             rbSeparation* separation)
{
    double radiusA = query->input->radiusA;
    double radiusB = query->input->radiusB;
    rbTransform transform = leaf->transformBtoA;
    rbGjkBoxes pair = {rbLaneVec_Make(leaf->a->data.box.halfExtents),
                       rbLaneVec_Make(leaf->b->data.box.halfExtents),
                       rbLaneMat_Make(rbMatFromQuat(transform.q)), rbLaneVec_Make(transform.p),
                       leaf->a->radius + leaf->b->radius + rbLength(transform.p)};
    const rbGjkSettings settings = rbDefaultGjkSettings();
    rbGjkResult result;
    if (rbGjk_ConfirmBoxes(&pair, &settings, query->cache, &result)) {
        setSeparation(radiusA, radiusB, &result, separation);
        return true;
    }
    rbPairBodies bodies;
    (void)rbMakePairBodies(query, leaf, &bodies);
    rbGjkResult found;
    rbGjk_Search(&bodies.cso, &settings, query->cache, &found);
    if (found.overlaps || found.reason != RB_STOP_CONVERGED) {
        return false;
    }
    setSeparation(radiusA, radiusB, &found, separation);
    return true;
}

// Boxes: separating axes are faster than a cold GJK, and a warm GJK is faster still; vertices near
// vertices are left to GJK in any case. A cache with a direction means that they were separate.
static rbStatus measureBoxes(const rbPairQuery* query, const rbPairLeaf* leaf,
                             rbSeparation* separation)
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

rbMeshPair rbMakeMeshPair(const rbPairQuery* query, const rbPairLeaf* leaf)
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

static rbStatus measureMeshes(const rbPairQuery* query, const rbPairLeaf* leaf,
                              rbSeparation* separation)
{
    rbMeshPair pair = rbMakeMeshPair(query, leaf);
    rbMeasureMeshes(&pair, separation);
    double radii = query->input->radiusA + query->input->radiusB;
    bool mayOverlap = radii > 0.0 && separation->lower < radii;
    rbRoundSeparation(separation, query->input->radiusA, query->input->radiusB);
    if (mayOverlap) {
        // in a cavity there may be no room for the radii: only a plane is certain to separate them
        rbVec3 direction;
        separation->lower = -(rbBoundMeshDepth(&pair, &direction) + radii);
        separation->reason = separation->distance < 0.0 ? RB_STOP_ESTIMATE : separation->reason;
    }
    return RB_STATUS_OK;
}

rbMeshConvex rbMakeMeshConvex(const rbPairQuery* query, const rbPairLeaf* leaf)
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

void rbMeasureMixed(const rbMeshConvex* pair, rbSeparation* separation)
{
    if (pair->convex->type == RB_SHAPE_PLANE) {
        rbMeasureMeshPlane(pair->mesh, pair->convex, pair->transform, separation);
        rbRoundSeparation(separation, pair->radiusMesh, pair->radiusConvex);
    } else {
        rbMeasureMeshConvex(pair, separation);
    }
}

static rbStatus measureMeshConvex(const rbPairQuery* query, const rbPairLeaf* leaf,
                                  rbSeparation* separation)
{
    rbMeshConvex pair = rbMakeMeshConvex(query, leaf);
    rbMeasureMixed(&pair, separation);
    if (!rbIsMeshLike(leaf->a)) {
        *separation = rbFlipSeparation(separation, pair.transform);
        separation->faceB = separation->faceA;
    }
    return RB_STATUS_OK;
}

#define AGAINST_MESHES [RB_FAMILY_TRIANGLES] = measureMeshConvex

// Pairs that auto measures by a function of their own, by family; the others by a closed form or,
// without one, by iteration.
static MeasureFn* const autoRows[RB_FAMILY_COUNT][RB_FAMILY_COUNT] = {
    [RB_FAMILY_BALL] = {AGAINST_MESHES},
    [RB_FAMILY_ROD] = {AGAINST_MESHES},
    [RB_FAMILY_BOX] = {[RB_FAMILY_BOX] = measureBoxes, AGAINST_MESHES},
    [RB_FAMILY_SMOOTH] = {AGAINST_MESHES},
    [RB_FAMILY_HULL] = {AGAINST_MESHES},
    [RB_FAMILY_PLANE] = {AGAINST_MESHES},
    [RB_FAMILY_TRIANGLES] = {[RB_FAMILY_BALL] = measureMeshConvex,
                             [RB_FAMILY_ROD] = measureMeshConvex,
                             [RB_FAMILY_BOX] = measureMeshConvex,
                             [RB_FAMILY_SMOOTH] = measureMeshConvex,
                             [RB_FAMILY_HULL] = measureMeshConvex,
                             [RB_FAMILY_PLANE] = measureMeshConvex,
                             [RB_FAMILY_TRIANGLES] = measureMeshes},
};

static MeasureFn* getAutoRow(const rbPairLeaf* leaf)
{
    if (leaf->a->type == RB_SHAPE_ELLIPSOID && leaf->b->type == RB_SHAPE_ELLIPSOID) {
        return measureEllipsoids;
    }
    return autoRows[rbGeometry_GetFamily(leaf->a)][rbGeometry_GetFamily(leaf->b)];
}

static rbStatus measureAuto(const rbPairQuery* query, const rbPairLeaf* leaf,
                            rbSeparation* separation)
{
    MeasureFn* own = getAutoRow(leaf);
    if (own != NULL) {
        return own(query, leaf, separation);
    }
    return hasClosedForm(leaf) ? measureClosed(query, leaf, separation)
                               : measureIterative(query, leaf, separation);
}

bool rbIsMeasuredByClosedForm(const rbPairLeaf* leaf)
{
    return hasClosedForm(leaf) && getAutoRow(leaf) == NULL;
}

static const MethodRow methodTable[RB_PAIR_COUNT] = {
    [RB_PAIR_AUTO] = {"auto", measureAuto},
    [RB_PAIR_CLOSED_FORM] = {"closed", measureClosed},
    [RB_PAIR_ITERATIVE] = {"iterative", measureIterative},
};

static rbRegisteredRows registered; // of rbPairMethodRow

int rbPairMethod_GetCount(void)
{
    return RB_PAIR_COUNT + registered.count;
}

rbStatus rbRegisterPairMethod(const rbPairMethodRow* row, rbError* error)
{
    RB_ASSERT(row != NULL && row->measure != NULL);
    bool isKnown = row->name != NULL && (int)rbPairMethod_Find(row->name) < rbPairMethod_GetCount();
    rbNewRow newRow = {"pair method", row->name, row, isKnown};
    return rbRegisteredRows_Add(&registered, &newRow, error);
}

static const rbPairMethodRow* getRegistered(rbPairMethod method)
{
    RB_ASSERT(method >= RB_PAIR_COUNT);
    return registered.rows[method - RB_PAIR_COUNT];
}

RB_DEFINE_WORDS(rbPairMethod, "pair method", rbPairMethod_GetCount(),
                index < RB_PAIR_COUNT ? methodTable[index].name
                                      : registered.names[index - RB_PAIR_COUNT])

// The leaf as a separate input.
static rbSeparationInput makeLeafInput(const rbPairQuery* query, const rbPairLeaf* leaf)
{
    rbSeparationInput input = *query->input;
    input.geometryA = leaf->a;
    input.geometryB = leaf->b;
    input.transformBtoA = leaf->transformBtoA;
    return input;
}

static rbStatus measureRegistered(const rbPairQuery* query, const rbPairLeaf* leaf,
                                  rbSeparation* separation)
{
    rbSeparationInput input = makeLeafInput(query, leaf);
    const rbPairMethodRow* row = getRegistered(input.method);
    rbStatus status = row->measure(&input, query->memory, separation);
    return status == RB_STATUS_UNSUPPORTED ? refuse(query, leaf) : status;
}

rbStatus rbTestPairRegistered(const rbPairQuery* query, const rbPairLeaf* leaf, double margin,
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

rbStatus rbMeasurePair(const rbPairQuery* query, const rbPairLeaf* leaf, rbSeparation* separation)
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
