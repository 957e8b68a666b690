#include "shadow.h"

#include "collision/narrowphase/manifold.h"
#include "lab/convex/mpr.h"

#include <math.h>
#include <stdio.h>

// Normals that differ by more than this are examined: do both prove the same depth?
#define ANGLE_SUSPECT 0.01
// Difference up to which depths along two normals count as equal, relative to the size. Where the
// minimum is not flat this is an angle of 0.003 degrees.
#define DEPTH_SAME 1e-9
// Contact points as deep as the deepest within this, relative to the size, make its position
// ambiguous.
#define POINT_SAME 1e-6
// An incident: degrees, depth relative to the size.
#define ANGLE_MAX 0.1
#define DEPTH_MAX 1e-6
// Rounding of a detection, relative to the size.
#define ROUNDING 1e-12
#define LOG_MAX 10000

static const char* const opinionNames[RB_OPINION_COUNT] = {
    [RB_OPINION_ITERATIVE] = "iterative",
    [RB_OPINION_SWAPPED] = "iterative, swapped",
    [RB_OPINION_FEATURES] = "features",
    [RB_OPINION_SUPPORT] = "plane by support",
    [RB_OPINION_MPR] = "mpr",
};

const char* rbOpinion_Name(rbOpinion opinion)
{
    return opinionNames[opinion];
}

rbShadow rbMakeShadow(double size, const char* logPath)
{
    return (rbShadow){
        .size = size, .logPath = logPath, .scratch = rbAlloc(rbGetSeparationScratchSize())};
}

rbStatus rbFreeShadow(rbShadow* shadow, rbError* error)
{
    rbStatus status = rbPairLog_Close(&shadow->log, true, error);
    for (int i = 0; i < RB_OPINION_COUNT; ++i) {
        rbErrorStatistics_Free(&shadow->errors[i]);
    }
    for (int i = 0; i < RB_SHADOW_TYPES * RB_SHADOW_TYPES; ++i) {
        rbErrorStatistics_Free(&shadow->byTypes[i / RB_SHADOW_TYPES][i % RB_SHADOW_TYPES]);
    }
    rbFree(shadow->scratch, rbGetSeparationScratchSize());
    shadow->scratch = NULL;
    return status;
}

// The pair being compared.
typedef struct Pair {
    const rbGeometry* a;
    const rbGeometry* b;
    rbTransform transformBtoA;
    rbSeparation reference;
    bool isPlane;
} Pair;

static void report(rbShadow* shadow, const Pair* pair, double severity, const char* remark)
{
    ++shadow->incidents;
    if (shadow->logPath == NULL || shadow->incidents > LOG_MAX) {
        return;
    }
    if (shadow->log == NULL) {
        shadow->log = rbOpenPairLog(shadow->logPath, NULL);
    }
    if (shadow->log != NULL) {
        rbPairLog_Add(shadow->log, pair->a, pair->b, pair->transformBtoA, severity, remark);
    }
}

static void compareDetection(rbShadow* shadow, const Pair* pair, bool isContact, const char* what)
{
    const rbSeparation* r = &pair->reference;
    if (isContact == (r->distance < 0.0)) {
        return;
    }
    double slack = ROUNDING * shadow->size;
    if (r->lower <= slack && r->upper >= -slack) {
        ++shadow->undecided;
        return;
    }
    ++shadow->disagreements;
    shadow->missed += r->distance < 0.0;
    char remark[160];
    (void)snprintf(remark, sizeof remark, "%s by %s, reference %.17g m",
                   isContact ? "false contact" : "missed contact", what, r->distance);
    report(shadow, pair, 1e6 + fabs(r->distance) / shadow->size, remark);
}

// Gap along a unit normal: the signed distance is the largest over all normals.
static double gapAlong(const Pair* pair, rbVec3 n)
{
    rbQuat q = pair->transformBtoA.q;
    rbVec3 onA = rbGeometry_GetSupport(pair->a, n);
    rbVec3 onB = rbGeometry_GetSupport(pair->b, rbNeg(rbInvRotate(q, n)));
    return rbDot(n, rbSub(rbTransformPoint(pair->transformBtoA, onB), onA));
}

// Is there no other point as deep as the witnesses?
static bool hasUniquePoint(const rbShadow* shadow, const Pair* pair)
{
    rbManifold manifold;
    double threshold = pair->reference.distance + POINT_SAME * shadow->size;
    rbBuildManifold(pair->a, pair->b, pair->transformBtoA, &pair->reference, threshold, &manifold);
    return manifold.count == 1;
}

static rbErrorStatistics* findTypes(rbShadow* shadow, const Pair* pair)
{
    rbShapeType a = rbGeometry_GetType(pair->a);
    rbShapeType b = rbGeometry_GetType(pair->b);
    RB_ASSERT(a < RB_SHADOW_TYPES && b < RB_SHADOW_TYPES);
    return a < b ? &shadow->byTypes[a][b] : &shadow->byTypes[b][a];
}

typedef struct ContactErrors {
    double angle;    // degrees
    double depth;    // relative to the size
    double position; // relative to the size; -1: the position is not unique
    bool isAmbiguous;
} ContactErrors;

static ContactErrors measureErrors(const rbShadow* shadow, const Pair* pair, const rbSeparation* s)
{
    const rbSeparation* r = &pair->reference;
    ContactErrors e = {.angle = rbMeasureAngle(s->normal, r->normal),
                       .depth = fabs(s->distance - r->distance) / shadow->size,
                       .position = -1.0};
    if (e.angle > ANGLE_SUSPECT && !pair->isPlane) {
        double difference = fabs(gapAlong(pair, s->normal) - gapAlong(pair, r->normal));
        e.isAmbiguous = difference <= DEPTH_SAME * shadow->size;
    }
    if (!e.isAmbiguous && hasUniquePoint(shadow, pair)) {
        rbVec3 middle = rbScale(0.5, rbAdd(s->pointA, s->pointB));
        rbVec3 truth = rbScale(0.5, rbAdd(r->pointA, r->pointB));
        e.position = rbDistance(middle, truth) / shadow->size;
    }
    return e;
}

static void addErrors(rbErrorStatistics* errors, const ContactErrors* e)
{
    rbErrorSeries_Add(&errors->depth, e->depth);
    if (!e->isAmbiguous) {
        rbErrorSeries_Add(&errors->angle, e->angle);
    }
    if (!(e->position < 0.0)) {
        rbErrorSeries_Add(&errors->position, e->position);
    }
}

// Errors of a collision. The reference may be wrong as well; incidents list both.
static void compareContact(rbShadow* shadow, const Pair* pair, rbOpinion opinion,
                           const rbSeparation* s)
{
    ContactErrors e = measureErrors(shadow, pair, s);
    if (opinion == RB_OPINION_FEATURES) {
        e.position = -1.0; // its points in overlap are not contact points
    } else {
        addErrors(findTypes(shadow, pair), &e);
    }
    addErrors(&shadow->errors[opinion], &e);
    shadow->ambiguous += e.isAmbiguous;
    bool isWrong = !e.isAmbiguous && !(e.angle <= ANGLE_MAX);
    if (isWrong || !(e.depth <= DEPTH_MAX)) {
        char remark[160];
        (void)snprintf(remark, sizeof remark,
                       "%s: normal off by %.3g deg, depth %.17g, not %.17g m",
                       rbOpinion_Name(opinion), e.angle, -s->distance, -pair->reference.distance);
        report(shadow, pair, (isWrong ? e.angle / ANGLE_MAX : 0.0) + e.depth / DEPTH_MAX, remark);
    }
}

static void compareOpinion(rbShadow* shadow, const Pair* pair, rbOpinion opinion, rbSeparation s)
{
    const rbSeparation* r = &pair->reference;
    ++shadow->calls;
    if (shadow->tamper != NULL) {
        shadow->tamper(shadow->tamperContext, opinion, &s);
    }
    compareDetection(shadow, pair, s.distance < 0.0, rbOpinion_Name(opinion));
    double apart = fmax(s.lower - r->upper, r->lower - s.upper);
    if (!(apart <= ROUNDING * shadow->size)) {
        char remark[160];
        (void)snprintf(remark, sizeof remark,
                       "bounds [%.17g, %.17g] of %s, reference [%.17g, %.17g]", s.lower, s.upper,
                       rbOpinion_Name(opinion), r->lower, r->upper);
        ++shadow->contradictions;
        report(shadow, pair, 1e3 + apart / shadow->size, remark);
    }
    if (opinion == RB_OPINION_MPR) {
        return;
    }
    // feature walking measures gaps; its depths count where it claims to know them
    bool isLoose = opinion == RB_OPINION_FEATURES && s.upper - s.lower > DEPTH_MAX * shadow->size;
    if (r->distance < 0.0 && s.distance < 0.0 && !isLoose) {
        compareContact(shadow, pair, opinion, &s);
    } else if (r->distance > 0.0 && s.distance > 0.0) {
        double error = fabs(s.distance - r->distance) / shadow->size;
        shadow->gapError = isnan(error) || error > shadow->gapError ? error : shadow->gapError;
    }
}

static bool measure(rbShadow* shadow, const Pair* pair, rbPairMethod method, rbSeparation* s)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = pair->a;
    input.geometryB = pair->b;
    input.transformBtoA = pair->transformBtoA;
    input.method = method;
    return rbMeasureSeparation(&input, NULL, shadow->scratch, s, NULL) == RB_STATUS_OK;
}

static void hearOverlapTest(rbShadow* shadow, const Pair* pair)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = pair->a;
    input.geometryB = pair->b;
    input.transformBtoA = pair->transformBtoA;
    input.method = RB_PAIR_ITERATIVE;
    bool overlaps = false;
    if (rbTestOverlap(&input, 0.0, NULL, &overlaps, NULL) == RB_STATUS_OK) {
        ++shadow->calls;
        compareDetection(shadow, pair, overlaps, "the overlap test of GJK");
    }
}

// By the detector itself: the fast query and the one with bounds.
static void hearMpr(rbShadow* shadow, const Pair* pair)
{
    rbConvex a;
    rbConvex b;
    if (rbConvex_Make(pair->a, 0.0, &a) && rbConvex_Make(pair->b, 0.0, &b)) {
        rbCso cso = rbCso_Make(&a, &b, pair->transformBtoA);
        ++shadow->calls;
        compareDetection(shadow, pair, rbMpr_Overlaps(&cso), "the overlap test of MPR");
        rbMprResult result = rbMpr_Detect(&cso, NULL);
        rbSeparation s = rbMpr_Separation(&result);
        s.distance = result.overlaps ? -INFINITY : INFINITY; // it only detects
        compareOpinion(shadow, pair, RB_OPINION_MPR, s);
    }
}

// The plane's own formula (G-16) from the support point of the other body; A is the plane.
static void hearSupport(rbShadow* shadow, const Pair* pair)
{
    rbPlaneData plane = rbGeometry_GetData(pair->a).plane;
    rbVec3 down = rbNeg(rbInvRotate(pair->transformBtoA.q, plane.normal));
    rbVec3 w = rbTransformPoint(pair->transformBtoA, rbGeometry_GetSupport(pair->b, down));
    double distance = rbDot(w, plane.normal) - plane.offset;
    double slack = ROUNDING * shadow->size;
    rbSeparation s = {.distance = distance,
                      .lower = distance - slack,
                      .upper = distance + slack,
                      .pointA = rbAddScaled(w, -distance, plane.normal),
                      .pointB = w,
                      .normal = plane.normal};
    compareOpinion(shadow, pair, RB_OPINION_SUPPORT, s);
}

static void hearSwapped(rbShadow* shadow, const Pair* pair)
{
    rbTransform back = rbInvertTransform(pair->transformBtoA);
    const Pair other = {.a = pair->b, .b = pair->a, .transformBtoA = back};
    rbSeparation s;
    if (measure(shadow, &other, RB_PAIR_ITERATIVE, &s)) {
        rbVec3 onB = rbTransformPoint(pair->transformBtoA, s.pointA);
        s.pointA = rbTransformPoint(pair->transformBtoA, s.pointB);
        s.pointB = onB;
        s.normal = rbNeg(rbRotate(pair->transformBtoA.q, s.normal));
        compareOpinion(shadow, pair, RB_OPINION_SWAPPED, s);
    }
}

rbSeparation rbShadow_Measure(rbShadow* shadow, const rbGeometry* a, const rbGeometry* b,
                              rbTransform transformBtoA)
{
    Pair pair = {.a = a,
                 .b = b,
                 .transformBtoA = transformBtoA,
                 .isPlane = rbGeometry_GetType(a) == RB_SHAPE_PLANE};
    RB_ASSERT(rbGeometry_GetType(b) != RB_SHAPE_PLANE);
    bool isClosed = measure(shadow, &pair, RB_PAIR_CLOSED_FORM, &pair.reference);
    bool isMeasured = isClosed || measure(shadow, &pair, RB_PAIR_AUTO, &pair.reference);
    RB_ASSERT(isMeasured);
    (void)isMeasured;
    long long isCollision = pair.reference.distance < 0.0;
    *(pair.isPlane ? &shadow->planeTests : &shadow->pairTests) += 1;
    *(pair.isPlane ? &shadow->planeCollisions : &shadow->collisions) += isCollision;
    rbSeparation s;
    if (isClosed && measure(shadow, &pair, RB_PAIR_ITERATIVE, &s)) {
        compareOpinion(shadow, &pair, RB_OPINION_ITERATIVE, s);
    }
    if (!isClosed) {
        hearSwapped(shadow, &pair);
    }
    if (measure(shadow, &pair, rbPairMethod_Find("features"), &s)) {
        compareOpinion(shadow, &pair, RB_OPINION_FEATURES, s);
    }
    if (pair.isPlane) {
        hearSupport(shadow, &pair);
    } else {
        hearOverlapTest(shadow, &pair);
        hearMpr(shadow, &pair);
    }
    return pair.reference;
}
