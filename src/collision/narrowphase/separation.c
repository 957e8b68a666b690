// The pair table: which kernel measures which pair of shapes.
//
//              sphere box  capsule cylinder cone ellipsoid hull  plane
//   sphere     C      C    C       C        C    C         i     C
//   box               C    C       i        i    i         i     C
//   capsule                C       i        i    i         i     C
//   cylinder .. hull               i        i    i         i     C
//
// C: closed form, one cell of the table; i: an empty cell, GJK for the distance and EPA for the
// depth of the cores. A pair below the diagonal is measured the other way round and flipped.
// Compounds are taken apart.
#include "base/core/memory.h"
#include "collision/convex/epa.h"
#include "collision/convex/gjk.h"
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/collide.h"

#include <math.h>
#include <string.h>

#define RB_COOKIE_SEPARATION 0x52420005u

_Static_assert(sizeof(rbGjkCache) <= sizeof(rbSeparationCache), "the public cache holds ours");

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

static const char* const methodNames[RB_PAIR_COUNT] = {
    [RB_PAIR_AUTO] = "auto",
    [RB_PAIR_CLOSED_FORM] = "closed",
    [RB_PAIR_ITERATIVE] = "iterative",
};

const char* rbPairMethod_Name(rbPairMethod method)
{
    return (unsigned)method < RB_PAIR_COUNT ? methodNames[method] : "unknown";
}

rbPairMethod rbPairMethod_Find(const char* name)
{
    for (int i = 0; i < RB_PAIR_COUNT; ++i) {
        if (strcmp(name, methodNames[i]) == 0) {
            return (rbPairMethod)i;
        }
    }
    return RB_PAIR_COUNT;
}

rbSeparationInput rbDefaultSeparationInput(void)
{
    rbSeparationInput input = {.cookie = RB_COOKIE_SEPARATION,
                               .transformBtoA = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}};
    return input;
}

size_t rbGetSeparationScratchSize(void)
{
    return sizeof(rbEpaScratch);
}

// One query on its way through the table and the compounds.
typedef struct Query {
    const rbSeparationInput* input;
    rbGjkCache* cache;
    rbEpaScratch* scratch;
    rbError* error;
} Query;

// Rounds both shapes: the surfaces move towards each other along the normal.
static void applyRadii(const rbSeparationInput* input, rbSeparation* s)
{
    double radii = input->radiusA + input->radiusB;
    s->distance -= radii;
    s->lower -= radii;
    s->upper -= radii;
    s->pointA = rbAddScaled(s->pointA, input->radiusA, s->normal);
    s->pointB = rbAddScaled(s->pointB, -input->radiusB, s->normal);
}

static rbSeparation separationOfGjk(const rbCso* cso, const rbGjkResult* g)
{
    double radii = cso->a->radius + cso->b->radius;
    rbSeparation s = {.distance = rbDot(rbSub(g->b, g->a), g->normal) - radii,
                      .lower = g->lower - radii,
                      .upper = g->upper - radii,
                      .pointA = rbAddScaled(g->a, cso->a->radius, g->normal),
                      .pointB = rbAddScaled(g->b, -cso->b->radius, g->normal),
                      .normal = g->normal,
                      .iterations = g->iterations,
                      .reason = g->reason};
    return s;
}

static rbStatus measureIterative(const Query* query, const rbGeometry* a, const rbGeometry* b,
                                 rbTransform transformBtoA, rbSeparation* separation)
{
    const rbSeparationInput* input = query->input;
    rbConvex convexA;
    rbConvex convexB;
    if (!rbConvex_Make(a, input->radiusA, &convexA) ||
        !rbConvex_Make(b, input->radiusB, &convexB)) {
        return rbError_Set(query->error, RB_STATUS_UNSUPPORTED,
                           "there is no %s method for a %s and a %s",
                           rbPairMethod_Name(RB_PAIR_ITERATIVE), rbShapeType_Name(a->type),
                           rbShapeType_Name(b->type));
    }
    rbCso cso = rbCso_Make(&convexA, &convexB, transformBtoA);
    rbGjkSettings gjk = rbDefaultGjkSettings();
    if (input->relativeTolerance > 0.0) {
        gjk.relativeTolerance = input->relativeTolerance;
    }
    rbGjkResult result = rbGjk_Distance(&cso, &gjk, query->cache);
    if (!result.overlaps) {
        *separation = separationOfGjk(&cso, &result);
        return RB_STATUS_OK;
    }
    rbEpaSettings epa = rbDefaultEpaSettings();
    if (input->relativeTolerance > 0.0) {
        epa.relativeTolerance = input->relativeTolerance;
    }
    rbEpaResult depth =
        rbEpa_Depth(&cso, result.simplex, result.simplexCount, &epa, query->scratch);
    *separation = rbEpa_Separation(&cso, &depth);
    separation->iterations += result.iterations;
    return RB_STATUS_OK;
}

static rbStatus measureSimple(const Query* query, const rbGeometry* a, const rbGeometry* b,
                              rbTransform transformBtoA, rbSeparation* separation)
{
    rbCollideFn* straight = closedForms[a->type][b->type];
    rbCollideFn* crossed = closedForms[b->type][a->type];
    rbPairMethod method = query->input->method;
    bool isClosed = straight != NULL || crossed != NULL;
    if (method == RB_PAIR_ITERATIVE || (method == RB_PAIR_AUTO && !isClosed)) {
        return measureIterative(query, a, b, transformBtoA, separation);
    }
    if (!isClosed) {
        return rbError_Set(query->error, RB_STATUS_UNSUPPORTED,
                           "there is no closed form for a %s and a %s; the methods auto and "
                           "iterative measure them",
                           rbShapeType_Name(a->type), rbShapeType_Name(b->type));
    }
    if (straight != NULL) {
        *separation = straight(a, b, transformBtoA);
    } else {
        rbTransform transformAtoB = rbInvertTransform(transformBtoA);
        rbSeparation other = crossed(b, a, transformAtoB);
        *separation = rbFlipSeparation(&other, transformAtoB);
    }
    applyRadii(query->input, separation);
    return RB_STATUS_OK;
}

// The answer for parts, brought from the frame of the part of A to that of A.
static void moveAnswer(rbSeparation* s, rbTransform partToA)
{
    s->pointA = rbTransformPoint(partToA, s->pointA);
    s->pointB = rbTransformPoint(partToA, s->pointB);
    s->normal = rbRotate(partToA.q, s->normal);
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

// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static rbStatus measure(const Query* query, const rbGeometry* a, const rbGeometry* b,
                        rbTransform transformBtoA, rbSeparation* separation)
{
    if (a->type != RB_SHAPE_COMPOUND && b->type != RB_SHAPE_COMPOUND) {
        return measureSimple(query, a, b, transformBtoA, separation);
    }
    bool isA = a->type == RB_SHAPE_COMPOUND;
    const rbGeometry* whole = isA ? a : b;
    *separation = (rbSeparation){.distance = INFINITY, .lower = INFINITY, .upper = INFINITY};
    for (int i = 0; i < whole->childCount; ++i) {
        const rbCompoundChild* child = &whole->children[i];
        rbSeparation part = {0};
        rbStatus status;
        if (isA) {
            rbTransform relative = rbInvMulTransforms(child->transform, transformBtoA);
            status = measure(query, child->geometry, b, relative, &part);
        } else {
            rbTransform relative = rbMulTransforms(transformBtoA, child->transform);
            status = measure(query, a, child->geometry, relative, &part);
        }
        if (status != RB_STATUS_OK) {
            return status;
        }
        if (isA) {
            moveAnswer(&part, child->transform);
            part.childA = i;
        } else {
            part.childB = i;
        }
        takeNearer(separation, &part);
    }
    return RB_STATUS_OK;
}

static rbStatus judgeInput(const rbSeparationInput* input, rbError* error)
{
    if (input->cookie != RB_COOKIE_SEPARATION) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the input was not made by rbDefaultSeparationInput");
    }
    double norm = sqrt(rbDotQuat(input->transformBtoA.q, input->transformBtoA.q));
    if (!rbIsFinite3(input->transformBtoA.p) || !(fabs(norm - 1.0) <= 1e-6)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the position of B must be finite and its orientation a unit quaternion; "
            "its length is %g",
            norm);
    }
    if (!(input->radiusA >= 0.0) || !(input->radiusB >= 0.0) || !isfinite(input->radiusA) ||
        !isfinite(input->radiusB)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the radii %g and %g m must be finite and not negative", input->radiusA,
                           input->radiusB);
    }
    if (!(input->relativeTolerance >= 0.0) || input->relativeTolerance > 1.0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the relative tolerance is %g; 0 to 1 are accepted",
                           input->relativeTolerance);
    }
    return RB_STATUS_OK;
}

rbStatus rbMeasureSeparation(const rbSeparationInput* input, rbSeparationCache* cache,
                             void* scratch, rbSeparation* separation, rbError* error)
{
    RB_ASSERT(input->geometryA != NULL && input->geometryB != NULL && scratch != NULL);
    rbStatus status = judgeInput(input, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    bool isPair =
        input->geometryA->type != RB_SHAPE_COMPOUND && input->geometryB->type != RB_SHAPE_COMPOUND;
    Query query = {.input = input,
                   .cache = isPair && cache != NULL ? (rbGjkCache*)cache->opaque : NULL,
                   .scratch = scratch,
                   .error = error};
    rbTransform unit = {input->transformBtoA.p, rbNormalizeQuat(input->transformBtoA.q)};
    return measure(&query, input->geometryA, input->geometryB, unit, separation);
}
