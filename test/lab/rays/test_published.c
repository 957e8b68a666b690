// The published experiments on straight paths, with their corrected references.
#include "bodies.h"
#include "rb_test.h"

#include <math.h>

static rbRaySettings makeSettings(rbRayPattern pattern, int count)
{
    rbRaySettings settings = rbDefaultRaySettings();
    settings.pattern = pattern;
    settings.count = count;
    settings.isOneWay = true;
    return settings;
}

static void checkVec(rbVec3 value, rbVec3 truth, double tolerance)
{
    checkNear(value.x, truth.x, tolerance);
    checkNear(value.y, truth.y, tolerance);
    checkNear(value.z, truth.z, tolerance);
}

// head-on spheres are exact with any count
static void headOnSpheresAreExact(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbTestMotion motion = {{3.0, 0.0, 0.0}, {-0.75, 0.0, 0.0}, RB_QUAT_IDENTITY, RB_VEC3_ZERO};
    const int counts[] = {1, 2, 4, 5, 100};
    for (int p = 0; p < RB_RAYS_PATTERN_COUNT; ++p) {
        for (int i = 0; i < 5; ++i) {
            rbRaySettings settings = makeSettings((rbRayPattern)p, counts[i]);
            rbRayPrediction hit =
                rbPredict(rbMakeMoving(ball, &motion), rbMakeStanding(ball, RB_VEC3_ZERO), 4.0,
                          &settings, NULL);
            assert_true(hit.isHit && !hit.isInside && !hit.isReverse);
            checkNear(hit.time, 4.0 / 3.0, 1e-12);
            checkNear(hit.way, 1.0, 1e-12);
            checkVec(hit.point, rbMakeVec3(1.0, 0.0, 0.0), 1e-12);
            checkVec(hit.normal, rbMakeVec3(1.0, 0.0, 0.0), 1e-12);
        }
    }
    rbDestroyGeometry(ball);
}

// the nine rows of the published table that the lattice gives, to its digits, and ours
static void offsetSpheresFollowTheTable(void** state)
{
    (void)state;
    static const struct {
        int count;
        rbVec3 point;
        double excess;
    } rows[] = {
        {10, {0.802912, 0.192630, 0.564115}, 0.04999},
        {15, {0.795225, 0.020316, 0.605974}, 0.01795},
        {20, {0.748536, -0.056796, 0.660657}, 0.04457},
        {30, {0.884598, -0.067007, 0.461516}, 0.00749},
        {40, {0.833790, 0.120164, 0.538846}, 0.01912},
        {49, {0.811021, -0.096548, 0.576995}, 0.02006},
        {81, {0.857209, -0.086824, 0.507596}, 0.00882},
        {121, {0.882034, -0.076942, 0.464862}, 0.00876},
        {361, {0.849775, -0.039302, 0.525678}, 0.00280},
        {64, {0.895814, 0.0, 0.444430}, 0.00477},
        {100, {0.810823, -0.140291, 0.568229}, 0.03022},
        {400, {0.878631, 0.0, 0.477501}, 0.00078},
    };
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbTestMotion motion = {{3.0, 0.0, 1.0}, {-1.0, 0.0, 0.0}, RB_QUAT_IDENTITY, RB_VEC3_ZERO};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rbRaySettings settings = makeSettings(RB_RAYS_LATTICE, rows[i].count);
        rbRayPrediction hit = rbPredict(rbMakeMoving(ball, &motion),
                                        rbMakeStanding(ball, RB_VEC3_ZERO), 3.0, &settings, NULL);
        assert_true(hit.isHit);
        // rounding decides ties between mirror images in y
        rbVec3 point = {hit.point.x, copysign(hit.point.y, rows[i].point.y), hit.point.z};
        checkVec(point, rows[i].point, 1e-5);
        checkVec(hit.normal, hit.point, 1e-12);
        checkNear(hit.way - (3.0 - sqrt(3.0)), rows[i].excess, 1e-5);
    }
    rbDestroyGeometry(ball);
}

// with few rays the error is that of the method
static void fourRaysMissTheTruthBy73Centimeters(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbTestMotion motion = {{3.0, 0.0, 1.0}, {-1.0, 0.0, 0.0}, RB_QUAT_IDENTITY, RB_VEC3_ZERO};
    const int counts[] = {2, 4};
    for (int i = 0; i < 2; ++i) {
        rbRaySettings settings = makeSettings(RB_RAYS_LATTICE, counts[i]);
        rbRayPrediction hit = rbPredict(rbMakeMoving(ball, &motion),
                                        rbMakeStanding(ball, RB_VEC3_ZERO), 3.0, &settings, NULL);
        assert_true(hit.isHit);
        checkNear(hit.way - (3.0 - sqrt(3.0)), sqrt(3.0) - 1.0, 1e-6);
        checkVec(hit.point, rbMakeVec3(0.0, 0.0, 1.0), 1e-5);
    }
    rbDestroyGeometry(ball);
}

// the tip of the pyramid always casts a ray
static void vertexOnSphereIsExact(void** state)
{
    (void)state;
    rbGeometry* pyramid = rbMakePyramid();
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbTestMotion motion = {RB_VEC3_ZERO, {0.0, 5.0, 0.0}, RB_QUAT_IDENTITY, RB_VEC3_ZERO};
    for (int count = 0; count < 3; ++count) {
        rbRaySettings settings = makeSettings(RB_RAYS_LATTICE, count);
        rbRayPrediction hit =
            rbPredict(rbMakeMoving(pyramid, &motion),
                      rbMakeStanding(ball, rbMakeVec3(0.0, 4.0, 0.0)), 0.8, &settings, NULL);
        assert_true(hit.isHit);
        checkNear(hit.time, 0.4, 1e-12);
        checkNear(hit.way, 2.0, 1e-12);
        checkVec(hit.point, rbMakeVec3(0.0, 3.0, 0.0), 1e-12);
        checkVec(hit.normal, rbMakeVec3(0.0, -1.0, 0.0), 1e-12);
    }
    rbDestroyGeometry(ball);
    rbDestroyGeometry(pyramid);
}

// a vertex on an edge is found, and not the face parallel to the motion
static void vertexOnEdgeIsExact(void** state)
{
    (void)state;
    rbGeometry* pyramid = rbMakePyramid();
    rbTestMotion motion = {{0.0, 0.0, 5.0}, {0.0, 0.0, -2.0}, RB_QUAT_IDENTITY, RB_VEC3_ZERO};
    for (int count = 1; count < 3; ++count) {
        rbRaySettings settings = makeSettings(RB_RAYS_LATTICE, count);
        rbRayPrediction hit =
            rbPredict(rbMakeMoving(pyramid, &motion), rbMakeStanding(pyramid, RB_VEC3_ZERO), 2.5,
                      &settings, NULL);
        assert_true(hit.isHit);
        checkNear(hit.time, 1.5, 1e-12);
        checkVec(hit.point, rbMakeVec3(0.0, -1.0, 1.0), 1e-12);
        checkVec(hit.normal, rbMakeVec3(0.0, 1.0 / sqrt(5.0), 2.0 / sqrt(5.0)), 1e-12);
    }
    rbDestroyGeometry(pyramid);
}

// a bullet in one frame of 1/24 s, at 1 m/s and at 1000 m/s
static void bulletIsCaughtInItsFirstFrame(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    double way = 10.0 * sqrt(3.0);
    const double speeds[] = {1.0, 800.0, 1000.0};
    for (int i = 0; i < 3; ++i) {
        double v = -speeds[i] / sqrt(3.0);
        rbTestMotion motion = {{10.0, 10.0, 10.0}, {v, v, v}, RB_QUAT_IDENTITY, RB_VEC3_ZERO};
        rbRaySettings settings = makeSettings(RB_RAYS_LATTICE, 1);
        double duration = i == 0 ? way : 1.0 / 24.0;
        rbRayPrediction hit =
            rbPredict(rbMakeMoving(ball, &motion), rbMakeStanding(ball, RB_VEC3_ZERO), duration,
                      &settings, NULL);
        assert_true(hit.isHit);
        checkNear(hit.time, (way - 2.0) / speeds[i], 1e-12);
        double third = 1.0 / sqrt(3.0);
        checkVec(hit.point, rbMakeVec3(third, third, third), 1e-10);
    }
    rbDestroyGeometry(ball);
}

RB_TEST_GROUP(test_published, cmocka_unit_test(headOnSpheresAreExact),
              cmocka_unit_test(offsetSpheresFollowTheTable),
              cmocka_unit_test(fourRaysMissTheTruthBy73Centimeters),
              cmocka_unit_test(vertexOnSphereIsExact), cmocka_unit_test(vertexOnEdgeIsExact),
              cmocka_unit_test(bulletIsCaughtInItsFirstFrame));
