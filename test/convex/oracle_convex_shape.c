// A convex solid that a program registers against one of the library: an ellipsoid by its support
// function must answer all questions like the ellipsoid that is built in, and be refused where its
// row says so.
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/collision.h>
#include <rattleback/shape.h>

#include <math.h>
#include <string.h>

static rbVec3 axesOf(const double* numbers)
{
    return rbMakeVec3(numbers[0], numbers[1], numbers[2]);
}

static rbVec3 supportOf(const double* numbers, rbVec3 direction)
{
    rbVec3 axes = axesOf(numbers);
    rbVec3 scaled = rbMulEach(axes, direction);
    return rbScale(1.0 / rbLength(scaled), rbMulEach(axes, scaled));
}

static rbMassProperties massOf(const double* numbers, double density)
{
    rbGeometry* ellipsoid = rbCreateEllipsoid(axesOf(numbers), NULL);
    rbMassProperties mass = {0};
    (void)rbGeometry_GetMass(ellipsoid, density, &mass, NULL);
    rbDestroyGeometry(ellipsoid);
    return mass;
}

static rbStatus checkNumbers(const double* numbers, rbError* error)
{
    (void)error;
    return numbers[0] > 10.0 ? RB_STATUS_INVALID : RB_STATUS_OK;
}

static const rbParameter parameters[] = {{.key = "axes",
                                          .count = 3,
                                          .high = 1e6,
                                          .isLowOpen = true,
                                          .isRequired = true,
                                          .unit = "m",
                                          .meaning = "half axes"}};

static const rbConvexShapeRow row = {
    .name = "ellipsoid-by-support",
    .meaning = "an ellipsoid by its support function",
    .parameters = parameters,
    .parameterCount = 1,
    .isRound = true,
    .check = checkNumbers,
    .support = supportOf,
    .getMass = massOf,
};

// The type of the row; registers it once.
static rbShapeType typeOfRow(void)
{
    if ((int)rbShapeType_Find(row.name) == rbShapeType_GetCount()) {
        assert_int_equal(rbRegisterConvexShape(&row, NULL), RB_STATUS_OK);
    }
    return rbShapeType_Find(row.name);
}

// Both ellipsoids; the caller destroys them.
static void makeBoth(rbRandom* random, rbGeometry* both[2], rbVec3* axes)
{
    double x = rbRandom_Range(random, 0.3, 1.0), y = rbRandom_Range(random, 0.3, 1.0);
    *axes = rbMakeVec3(x, y, rbRandom_Range(random, 0.3, 1.0));
    const double numbers[RB_PARAMETERS_MAX] = {axes->x, axes->y, axes->z};
    rbError error = {0};
    both[0] = rbCreateGeometryOfType(typeOfRow(), numbers, &error);
    both[1] = rbCreateEllipsoid(*axes, &error);
    assert_non_null(both[0]);
    assert_non_null(both[1]);
}

static void checkVec3(rbVec3 value, rbVec3 truth, double tolerance)
{
    checkNear(value.x, truth.x, tolerance);
    checkNear(value.y, truth.y, tolerance);
    checkNear(value.z, truth.z, tolerance);
}

static rbVec3 randomPoint(rbRandom* random, double size)
{
    double length = size * rbRandom_Unit(random);
    return rbScale(length, rbRandom_Direction(random));
}

static void checkRays(rbGeometry* const both[2], rbRandom* random)
{
    for (int i = 0; i < 20; ++i) {
        rbRay ray = {randomPoint(random, 2.0), RB_VEC3_ZERO, INFINITY};
        ray.direction = rbSub(randomPoint(random, 0.8), ray.origin);
        ray.tMax = i % 2 == 0 ? INFINITY : rbRandom_Range(random, 0.3, 1.5);
        double tMin = i % 3 == 0 ? rbRandom_Range(random, -3.0, 0.3) : 0.0;
        rbRayHit hits[2] = {{.t = 0.0}, {.t = 0.0}};
        bool isHit = rbGeometry_CastLine(both[1], &ray, tMin, &hits[1]);
        if (isHit && (fabs(hits[1].t - ray.tMax) < 1e-6 || fabs(hits[1].t - tMin) < 1e-6 ||
                      fabs(rbDot(hits[1].normal, ray.direction)) < 1e-3)) {
            continue; // it grazes or ends at the surface
        }
        assert_int_equal(rbGeometry_CastLine(both[0], &ray, tMin, &hits[0]), isHit);
        if (isHit) {
            checkNear(hits[0].t, hits[1].t, 1e-8);
            checkVec3(hits[0].normal, hits[1].normal, 1e-5);
            checkVec3(hits[0].point, hits[1].point, 1e-7);
            assert_int_equal(hits[0].feature, 0);
        }
    }
}

// Against a box and against itself moved: distance, depth and points.
static void checkPairs(rbGeometry* const both[2], rbRandom* random)
{
    static double scratch[1 << 15];
    assert_true(rbGetSeparationScratchSize() <= sizeof scratch);
    rbGeometry* box = rbCreateBox(rbMakeVec3(0.7, 0.5, 0.9), NULL);
    for (int i = 0; i < 6; ++i) {
        rbSeparation found[2];
        rbTransform pose = {randomPoint(random, 2.0), rbRandom_Quat(random)};
        for (int k = 0; k < 2; ++k) {
            rbSeparationInput input = rbDefaultSeparationInput();
            input.geometryA = i % 2 == 0 ? both[k] : box;
            input.geometryB = i % 2 == 0 ? box : both[k];
            input.transformBtoA = pose;
            assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &found[k], NULL),
                             RB_STATUS_OK);
        }
        checkNear(found[0].distance, found[1].distance, 1e-7);
        assert_true(found[0].lower <= found[1].upper + 1e-12 &&
                    found[1].lower <= found[0].upper + 1e-12);
    }
    rbDestroyGeometry(box);
}

static void registeredEllipsoidAnswersLikeTheBuiltInOne(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(97)};
    int count = rbTest_Count(200, 2000);
    for (int k = 0; k < count; ++k) {
        rbGeometry* both[2];
        rbVec3 axes;
        makeBoth(&random, both, &axes);
        rbTransform pose = {randomPoint(&random, 2.0), rbRandom_Quat(&random)};
        rbBounds bounds[2];
        rbMassProperties mass[2];
        for (int i = 0; i < 2; ++i) {
            bounds[i] = rbGeometry_GetBounds(both[i], pose);
            assert_int_equal(rbGeometry_GetMass(both[i], 700.0, &mass[i], NULL), RB_STATUS_OK);
        }
        checkVec3(bounds[0].lower, bounds[1].lower, 1e-12);
        checkVec3(bounds[0].upper, bounds[1].upper, 1e-12);
        checkRelative(mass[0].mass, mass[1].mass, 1e-14);
        checkRelative(mass[0].inertia.zz, mass[1].inertia.zz, 1e-14);
        rbVec3 point = randomPoint(&random, 1.2);
        rbVec3 scaled = rbMakeVec3(point.x / axes.x, point.y / axes.y, point.z / axes.z);
        double place = rbLengthSquared(scaled);
        if (fabs(place - 1.0) > 1e-6) {
            assert_int_equal(rbGeometry_Contains(both[0], point), place < 1.0);
        }
        // no point of the solid is farther away, none of its box is nearer than that
        double radius = rbGeometry_GetRadius(both[0], point);
        assert_true(radius >= rbGeometry_GetRadius(both[1], point) * (1.0 - 1e-12));
        rbVec3 corner = rbAdd(rbAbs3(point), axes);
        checkNear(radius, rbLength(corner), 1e-12);
        checkRays(both, &random);
        checkPairs(both, &random);
        rbDestroyGeometry(both[0]);
        rbDestroyGeometry(both[1]);
    }
}

static void rowsRefuseWhatTheyCheck(void** state)
{
    (void)state;
    const double large[RB_PARAMETERS_MAX] = {11.0, 1.0, 1.0};
    assert_null(rbCreateGeometryOfType(typeOfRow(), large, NULL));
    assert_int_equal(rbRegisterConvexShape(&row, NULL), RB_STATUS_INVALID); // the name is taken
    rbConvexShapeRow bad = row;
    bad.name = "without support";
    bad.support = NULL;
    rbError error = {0};
    assert_int_equal(rbRegisterConvexShape(&bad, &error), RB_STATUS_INVALID);
    assert_string_equal(error.message, "the shape \"without support\" needs support, getMass and "
                                       "parameters of 1 to 8 numbers, not 3");
    bad.support = row.support;
    bad.parameterCount = 0;
    assert_int_equal(rbRegisterConvexShape(&bad, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "of 1 to 8 numbers, not 0"));
    bad.parameterCount = row.parameterCount;
    bad.getMass = NULL;
    assert_int_equal(rbRegisterConvexShape(&bad, &error), RB_STATUS_INVALID);
    bad.name = NULL;
    assert_int_equal(rbRegisterConvexShape(&bad, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "the shape \"\" needs"));
}

RB_TEST_GROUP(oracle_convex_shape, cmocka_unit_test(registeredEllipsoidAnswersLikeTheBuiltInOne),
              cmocka_unit_test(rowsRefuseWhatTheyCheck));
