// Ray prediction compared with exact sweeps, on random bodies and paths.
#include "bodies.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <math.h>
#include <stdlib.h>

typedef struct Case {
    rbGeometry* a;
    rbGeometry* b;
    rbTestMotion motionA, motionB;
} Case;

#define SPEED 8.0 // m/s, for one second

// Any convex shape, some 1 m in size.
static rbGeometry* makeConvex(int kind, rbRandom* random)
{
    int points;
    switch (kind) {
    case 0:
        return rbCreateSphere(rbRandom_Range(random, 0.5, 1.0), NULL);
    case 1:
        points = 8 + rbRandom_Index(random, 24);
        return rbMakeRandomHull(points, random);
    case 2: {
        rbVec3 half;
        half.x = rbRandom_Range(random, 0.2, 1.0);
        half.y = rbRandom_Range(random, 0.2, 1.0);
        half.z = rbRandom_Range(random, 0.2, 1.0);
        return rbCreateBox(half, NULL);
    }
    case 3:
        return rbCreateCapsule(0.3, 0.6, NULL);
    case 4:
        return rbCreateCylinder(0.5, 0.5, NULL);
    case 5:
        return rbCreateCone(0.6, 1.0, NULL);
    default:
        return rbCreateEllipsoid(rbMakeVec3(1.0, 0.6, 0.4), NULL);
    }
}

// An L of six corners, 1.6 m, extruded: not convex.
static rbGeometry* makeAngle(void)
{
    static const double profile[6][2] = {{-0.8, -0.8}, {0.8, -0.8}, {0.8, 0.0},
                                         {0.0, 0.0},   {0.0, 0.8},  {-0.8, 0.8}};
    rbOwnedMesh mesh;
    assert_int_equal(rbExtrudeProfile(profile, 6, 0.6, &mesh, NULL), RB_STATUS_OK);
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbGeometry* geometry = rbCreatePolyhedron(&def, NULL);
    rbFreeMesh(&mesh);
    assert_non_null(geometry);
    return geometry;
}

// A approaches from 4 m away and both may move; the relative speed is SPEED. Kind 7 is an angle.
static Case makeCase(const int kinds[2], rbRandom* random)
{
    Case c = {NULL, NULL, {.start = RB_VEC3_ZERO}, {.start = RB_VEC3_ZERO}};
    c.a = kinds[0] < 7 ? makeConvex(kinds[0], random) : makeAngle();
    c.b = kinds[1] < 7 ? makeConvex(kinds[1], random) : makeAngle();
    rbVec3 way = rbRandom_Direction(random);
    double offset = rbRandom_Unit(random);
    rbVec3 side = rbScale(offset, rbRandom_Direction(random));
    double speed = rbRandom_Range(random, 0.0, 5.0);
    rbVec3 common = rbScale(speed, rbRandom_Direction(random));
    c.motionA.start = rbAddScaled(side, -4.0, way);
    c.motionA.velocity = rbAddScaled(common, SPEED, way);
    c.motionA.turned = rbRandom_Quat(random);
    c.motionB.velocity = common;
    c.motionB.turned = rbRandom_Quat(random);
    return c;
}

static void freeCase(Case* c)
{
    rbDestroyGeometry(c->a);
    rbDestroyGeometry(c->b);
}

static rbShapeSweep sweepExactly(const Case* c, void* scratch)
{
    rbTransform a = rbTestMotion_GetPose(&c->motionA, 0.0);
    rbTransform b = rbTestMotion_GetPose(&c->motionB, 0.0);
    rbVec3 step = rbInvRotate(b.q, rbSub(c->motionA.velocity, c->motionB.velocity));
    rbShapeSweep sweep;
    rbError error = {0};
    rbStatus status =
        rbSweepShapes(c->a, rbInvMulTransforms(b, a), step, c->b, 0.0, scratch, &sweep, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, RB_STATUS_OK);
    return sweep;
}

static rbRayPrediction predictCase(const Case* c, const rbRaySettings* settings,
                                   rbRayCounts* counts)
{
    return rbPredict(rbMakeMoving(c->a, &c->motionA), rbMakeMoving(c->b, &c->motionB), 1.0,
                     settings, counts);
}

// RX-06: a ray contact is never earlier than the exact one, the point lies
// on both surfaces, and early ends lose nothing
static void raysNeverComeBeforeContact(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(901)};
    void* scratch = malloc(rbGetSeparationScratchSize());
    int count = rbTest_Count(400, 20000);
    int hits = 0;
    int missed = 0;
    for (int i = 0; i < count; ++i) {
        int kinds[2];
        kinds[0] = rbRandom_Index(&random, 7);
        kinds[1] = rbRandom_Index(&random, 7);
        Case c = makeCase(kinds, &random);
        rbRaySettings settings = rbDefaultRaySettings();
        settings.count = 1 + rbRandom_Index(&random, 60);
        settings.isOneWay = rbRandom_Index(&random, 2) == 0;
        settings.pattern = (rbRayPattern)rbRandom_Index(&random, RB_RAYS_PATTERN_COUNT);
        rbShapeSweep sweep = sweepExactly(&c, scratch);
        rbRayPrediction prediction = predictCase(&c, &settings, NULL);
        if (prediction.isHit) {
            assert_true(sweep.isHit);
            // the general row of exact sweeps is accurate to some 1e-9 m
            checkBelow(SPEED * (sweep.fraction - prediction.time), 4e-9);
            checkNear(prediction.way, SPEED * prediction.time, 1e-9);
            checkNear(rbLength(prediction.normal), 1.0, 1e-12);
            // both surfaces pass through the point, B's with the normal
            rbTransform poseA = rbTestMotion_GetPose(&c.motionA, prediction.time);
            rbTransform poseB = rbTestMotion_GetPose(&c.motionB, prediction.time);
            rbVec3 inner = rbAddScaled(prediction.point, -1e-7, prediction.normal);
            assert_true(rbGeometry_Contains(c.b, rbInvTransformPoint(poseB, inner)) ||
                        prediction.isReverse);
            rbVec3 pointA = rbInvTransformPoint(poseA, prediction.point);
            rbMassProperties mass;
            assert_int_equal(rbGeometry_GetMass(c.a, 1.0, &mass, NULL), RB_STATUS_OK);
            rbVec3 inwards = rbAddScaled(pointA, 1e-6, rbSub(mass.center, pointA));
            assert_true(rbGeometry_Contains(c.a, inwards));
            // and not inside by more than rounding
            rbVec3 outwards = rbAddScaled(pointA, -1e-6, rbSub(mass.center, pointA));
            assert_false(rbGeometry_Contains(c.a, outwards));
            ++hits;
        } else if (sweep.isHit) {
            ++missed;
        }
        freeCase(&c);
    }
    free(scratch);
    assert_true(hits > count / 2);
    // few rays miss grazes only
    assert_true(missed <= 3 + count / 20);
}

static int compareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return x < y ? -1 : x > y;
}

typedef struct Errors {
    double excess[2000]; // m
    int count;
    int misses;
    int64_t raysMax; // of a prediction
} Errors;

// Excess of the free path over the exact one, sorted; kinds 0 to 6 convex, 7 an angle.
static void collectErrors(const int kinds[2], int cases, const rbRaySettings* settings,
                          Errors* errors)
{
    rbRandom random = {7}; // the same bodies for all settings
    void* scratch = malloc(rbGetSeparationScratchSize());
    errors->count = errors->misses = 0;
    errors->raysMax = 0;
    for (int i = 0; i < cases; ++i) {
        Case c = makeCase(kinds, &random);
        rbShapeSweep sweep = sweepExactly(&c, scratch);
        rbRayCounts counts = {0};
        rbRayPrediction prediction = predictCase(&c, settings, &counts);
        errors->raysMax = counts.rays > errors->raysMax ? counts.rays : errors->raysMax;
        if (sweep.isHit && prediction.isHit) {
            errors->excess[errors->count++] = SPEED * (prediction.time - sweep.fraction);
        } else if (sweep.isHit) {
            ++errors->misses;
        }
        freeCase(&c);
    }
    free(scratch);
    qsort(errors->excess, (size_t)errors->count, sizeof(double), compareDoubles);
}

// at most 100 rays reach the errors of 1000 plain ones and far less
static void refinementBeatsTenTimesTheRays(void** state)
{
    (void)state;
    static const int pairs[][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {4, 5}, {7, 7}, {1, 7}};
    static Errors plain;
    static Errors refined;
    rbRaySettings many = rbDefaultRaySettings();
    many.count = 500; // of each body: 1000 in total
    rbRaySettings few = rbDefaultRaySettings();
    few.count = 16;
    few.refineRounds = 8;
    few.refineCount = 8;
    few.raysMax = 100;
    int cases = rbTest_Count(120, 2000);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        collectErrors(pairs[i], cases, &many, &plain);
        collectErrors(pairs[i], cases, &few, &refined);
        assert_true(plain.count > cases / 2);
        assert_true(refined.raysMax <= 100);
        assert_true(refined.misses <= plain.misses);
        bool isConvex = pairs[i][0] < 7 && pairs[i][1] < 7;
        int last = refined.count - 1;
        checkBelow(refined.excess[refined.count / 2], 1e-6);
        checkBelow(refined.excess[last * 9 / 10], isConvex ? 1e-6 : plain.excess[last * 9 / 10]);
        checkBelow(refined.excess[last * 98 / 100], plain.excess[last * 98 / 100]);
    }
}

// RX-07: with starts spread over the disc of the moving sphere, at a distance e from the best one,
// the excess is 1/2 (1/RA + 1/RB) (er^2 / cos^3 + et^2 / cos), radially and tangentially, and falls
// like 1/n
static void excessOfSpheresFollowsTheLaw(void** state)
{
    (void)state;
    const double ra = 1.0;
    const double rb = 0.7;
    rbGeometry* ballA = rbCreateSphere(ra, NULL);
    rbGeometry* ballB = rbCreateSphere(rb, NULL);
    const double offsets[] = {0.0, 0.4, 0.9, 1.3};
    double sums[2] = {0.0, 0.0};
    for (int i = 0; i < 2 * 4; ++i) {
        int n = i < 4 ? 100 : 10000;
        double d = offsets[i % 4];
        rbTestMotion motion = {{-3.0, d, 0.0}, {1.0, 0.0, 0.0}, RB_QUAT_IDENTITY, RB_VEC3_ZERO};
        rbRaySettings settings = rbDefaultRaySettings();
        settings.count = n;
        settings.isOneWay = true;
        rbRayPrediction hit = rbPredict(rbMakeMoving(ballB, &motion),
                                        rbMakeStanding(ballA, RB_VEC3_ZERO), 3.0, &settings, NULL);
        double excess = hit.way - (3.0 - sqrt((ra + rb) * (ra + rb) - d * d));
        // start of the shortest ray, compared with the best place, across the motion
        rbVec3 center = {-3.0 + hit.way, d, 0.0};
        rbVec3 place = rbSub(hit.point, center);
        double er = place.y + d * rb / (ra + rb);
        double cosine = sqrt(1.0 - d * d / ((ra + rb) * (ra + rb)));
        double law = 0.5 * (1.0 / ra + 1.0 / rb) *
                     (er * er / (cosine * cosine * cosine) + place.z * place.z / cosine);
        checkNear(excess, law, 0.3 * law + 1e-12);
        sums[i / 4] += excess;
    }
    checkNear(sums[0] / sums[1], 100.0, 80.0);
    rbDestroyGeometry(ballA);
    rbDestroyGeometry(ballB);
}

RB_TEST_GROUP(prop_detector, cmocka_unit_test(raysNeverComeBeforeContact),
              cmocka_unit_test(refinementBeatsTenTimesTheRays),
              cmocka_unit_test(excessOfSpheresFollowsTheLaw));
