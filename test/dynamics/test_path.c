// Prescribed paths: constant speed, ends, closed curves, rotation, and the box that contains them.
#include "base/core/random.h"
#include "lab/math/random3.h"
#include "lab/rays/path_bend.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

static const rbVec3 bend[3] = {{2.0, 1.0, 0.0}, {3.0, -1.0, 1.0}, {5.0, 0.0, 2.0}};

static rbPath* makeCurve(bool isClosed, double speed)
{
    rbPathDef def = rbDefaultPathDef();
    def.type = RB_PATH_CURVE;
    def.points = bend;
    def.pointCount = 3;
    def.speed = speed;
    def.isClosed = isClosed;
    def.startTangent = rbMakeVec3(3.0, 0.0, 0.0);
    rbError error = {0};
    rbPath* path = rbPath_Create(&def, RB_TRANSFORM_IDENTITY, &error);
    assert_non_null(path);
    return path;
}

static rbVec3 positionAt(const rbPath* path, double time)
{
    rbTransform pose;
    rbVec3 velocity;
    rbVec3 spin;
    rbPath_Evaluate(path, time, &pose, &velocity, &spin);
    return pose.p;
}

//
static void lineStopsAtItsEnd(void** state)
{
    (void)state;
    rbVec3 end = {3.0, 4.0, 0.0};
    rbPathDef def = rbDefaultPathDef();
    def.points = &end;
    def.pointCount = 1;
    def.speed = 2.0;
    def.startTime = 1.0;
    rbError error = {0};
    rbPath* path = rbPath_Create(&def, RB_TRANSFORM_IDENTITY, &error);
    assert_non_null(path);
    checkNear(rbPath_GetLength(path), 5.0, 1e-15);
    checkBelow(rbDistance(positionAt(path, 0.0), RB_VEC3_ZERO), 0.0);
    checkBelow(rbDistance(positionAt(path, 2.0), rbMakeVec3(1.2, 1.6, 0.0)), 1e-15);
    checkBelow(rbDistance(positionAt(path, 9.0), end), 1e-15);
    rbTransform pose;
    rbVec3 velocity;
    rbVec3 spin;
    rbPath_Evaluate(path, 9.0, &pose, &velocity, &spin);
    checkNear(rbLength(velocity), 0.0, 0.0);
    rbPath_Destroy(path);
}

//
static void curveHasConstantSpeedAndMeetsItsPoints(void** state)
{
    (void)state;
    rbPath* path = makeCurve(false, 1.5);
    double duration = rbPath_GetLength(path) / 1.5;
    double worst = 0.0;
    double h = 1e-4;
    double nearest[3] = {1e9, 1e9, 1e9};
    for (int i = 1; i < 4000; ++i) {
        double time = duration * i / 4000.0;
        rbTransform pose;
        rbVec3 velocity;
        rbVec3 spin;
        rbPath_Evaluate(path, time, &pose, &velocity, &spin);
        checkNear(rbLength(velocity), 1.5, 1e-14);
        if (time > h && time < duration - h) {
            // The velocity is the derivative of the position: central difference, error h^2/6 jerk.
            rbVec3 step = rbSub(positionAt(path, time + h), positionAt(path, time - h));
            worst = fmax(worst, rbDistance(rbScale(0.5 / h, step), velocity));
        }
        for (int k = 0; k < 3; ++k) {
            nearest[k] = fmin(nearest[k], rbDistance(pose.p, bend[k]));
        }
    }
    print_message("velocity against difference of positions: %.2e\n", worst);
    // At the joints of pieces the curvature jumps, which the difference shows in first order.
    checkBelow(worst, 5e-4);
    for (int k = 0; k < 3; ++k) {
        checkBelow(nearest[k], 2e-3);
    }
    checkBelow(rbDistance(positionAt(path, duration + 1.0), bend[2]), 1e-12);
    rbPath_Destroy(path);
}

// Every piece is the Hermite cubic of its two points and tangents, written with Hermite's own
// polynomials; inner tangents are the factor times the chord of the neighbors, the first and last
// are given or the chord to the next point.
//
static void piecesAreHermiteCubics(void** state)
{
    (void)state;
    for (int k = 0; k < 4; ++k) {
        bool isClosed = k % 2 == 1;
        bool isGiven = k >= 2;
        rbPathDef def = rbDefaultPathDef();
        def.type = RB_PATH_CURVE;
        def.points = bend;
        def.pointCount = 3;
        def.speed = 1.0;
        def.isClosed = isClosed;
        def.tangentFactor = isGiven ? 0.3 : 0.5;
        def.startTangent = isGiven ? rbMakeVec3(1.0, 2.0, -0.5) : RB_VEC3_ZERO;
        def.endTangent = isGiven ? rbMakeVec3(0.0, -1.0, 3.0) : RB_VEC3_ZERO;
        rbPath* path = rbPath_Create(&def, RB_TRANSFORM_IDENTITY, NULL);
        assert_non_null(path);
        const rbVec3 points[4] = {RB_VEC3_ZERO, bend[0], bend[1], bend[2]};
        rbVec3 tangents[4];
        for (int i = 0; i < 4; ++i) {
            tangents[i] =
                rbScale(def.tangentFactor, rbSub(points[(i + 1) % 4], points[(i + 3) % 4]));
        }
        if (!isClosed) {
            tangents[0] = isGiven ? def.startTangent : rbSub(points[1], points[0]);
            tangents[3] = isGiven ? def.endTangent : rbSub(points[3], points[2]);
        }
        double length = rbPath_GetLength(path);
        for (int i = 0; i <= 400; ++i) {
            double travel = length * i / 401.0;
            double u = -1.0;
            int piece = rbPath_Locate(path, travel, &u);
            int next = (piece + 1) % 4;
            assert_true(u >= 0.0 && u <= 1.0 && piece >= 0 && piece < (isClosed ? 4 : 3));
            double uu = u * u;
            double cubic = uu * u;
            rbVec3 p = rbScale(2.0 * cubic - 3.0 * uu + 1.0, points[piece]);
            p = rbAddScaled(p, cubic - 2.0 * uu + u, tangents[piece]);
            p = rbAddScaled(p, 3.0 * uu - 2.0 * cubic, points[next]);
            p = rbAddScaled(p, cubic - uu, tangents[next]);
            checkBelow(rbDistance(positionAt(path, travel), p), 1e-13);
        }
        rbPath_Destroy(path);
    }
}

static void arcLengthAgreesWithFineChords(void** state)
{
    (void)state;
    rbPath* path = makeCurve(false, 1.0);
    double length = rbPath_GetLength(path);
    // Chords of a curve run at constant speed: each is shorter than ds by ds^3 curvature^2 / 24.
    int count = 20000;
    double sum = 0.0;
    rbVec3 last = positionAt(path, 0.0);
    for (int i = 1; i <= count; ++i) {
        rbVec3 next = positionAt(path, length * i / count);
        sum += rbDistance(last, next);
        last = next;
    }
    checkRelative(sum, length, 1e-7);
    assert_true(sum < length * (1.0 + 1e-12));
    rbPath_Destroy(path);
}

static void closedCurveComesBack(void** state)
{
    (void)state;
    rbPath* path = makeCurve(true, 1.0);
    double period = rbPath_GetLength(path);
    for (int i = 0; i < 30; ++i) {
        double time = period * i / 30.0;
        checkBelow(rbDistance(positionAt(path, time), positionAt(path, time + 3.0 * period)),
                   1e-12);
    }
    rbPath_Destroy(path);
}

//
static void rotationIsConstant(void** state)
{
    (void)state;
    rbPathDef def = rbDefaultPathDef();
    def.angularVelocity = rbMakeVec3(0.0, 0.0, 2.0);
    rbError error = {0};
    rbPath* path = rbPath_Create(&def, RB_TRANSFORM_IDENTITY, &error);
    assert_non_null(path);
    rbTransform pose;
    rbVec3 velocity;
    rbVec3 spin;
    rbPath_Evaluate(path, 0.7, &pose, &velocity, &spin);
    rbVec3 x = rbRotate(pose.q, rbMakeVec3(1.0, 0.0, 0.0));
    checkNear(x.x, cos(1.4), 1e-15);
    checkNear(x.y, sin(1.4), 1e-15);
    checkNear(spin.z, 2.0, 0.0);
    rbPath_Destroy(path);
}

static void boundsHoldThePath(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(51)};
    int count = rbTest_Count(200, 2000);
    for (int i = 0; i < count; ++i) {
        rbVec3 points[4];
        for (int k = 0; k < 4; ++k) {
            points[k] = rbScale(3.0, rbRandom_Direction(&random));
        }
        rbPathDef def = rbDefaultPathDef();
        def.type = RB_PATH_CURVE;
        def.points = points;
        def.pointCount = 4;
        def.speed = 1.0;
        def.isClosed = rbRandom_Unit(&random) < 0.5;
        rbError error = {0};
        rbPath* path = rbPath_Create(&def, RB_TRANSFORM_IDENTITY, &error);
        assert_non_null(path);
        double a = rbRandom_Range(&random, -1.0, 25.0);
        double b = a + rbRandom_Range(&random, 0.0, 5.0);
        rbBounds box = rbPath_GetBounds(path, a, b);
        for (int k = 0; k <= 50; ++k) {
            rbVec3 p = positionAt(path, a + (b - a) * k / 50.0);
            assert_true(p.x >= box.lower.x && p.x <= box.upper.x);
            assert_true(p.y >= box.lower.y && p.y <= box.upper.y);
            assert_true(p.z >= box.lower.z && p.z <= box.upper.z);
        }
        rbPath_Destroy(path);
    }
}

static void unusablePathsGetAMessage(void** state)
{
    (void)state;
    rbVec3 same[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    rbPathDef defs[4];
    for (int i = 0; i < 4; ++i) {
        defs[i] = rbDefaultPathDef();
        defs[i].speed = 1.0;
    }
    defs[1].speed = -1.0;
    defs[2].type = RB_PATH_CURVE;
    defs[2].points = same;
    defs[2].pointCount = 2;
    defs[3].type = RB_PATH_CURVE;
    for (int i = 0; i < 4; ++i) {
        rbError error = {0};
        assert_null(rbPath_Create(&defs[i], RB_TRANSFORM_IDENTITY, &error));
        assert_int_equal(error.status, RB_STATUS_INVALID);
        assert_true(error.message[0] != '\0');
    }
}

// A number that is not finite is refused, wherever it stands.
static void everyNumberOfAPathIsFinite(void** state)
{
    (void)state;
    for (int i = 0; i < 14; ++i) {
        rbVec3 points[3] = {bend[0], bend[1], bend[2]};
        rbPathDef def = rbDefaultPathDef();
        def.type = RB_PATH_CURVE;
        def.points = points;
        def.pointCount = 3;
        def.speed = 1.0;
        double* const numbers[14] = {
            &points[0].x,           &points[0].z,           &points[1].y,
            &points[2].x,           &points[2].z,           &def.speed,
            &def.startTime,         &def.angularVelocity.x, &def.startTangent.y,
            &def.angularVelocity.z, &def.endTangent.x,      &def.endTangent.z,
            &def.tangentFactor,     &def.startTangent.z};
        rbError error = {0};
        rbPath* path = rbPath_Create(&def, RB_TRANSFORM_IDENTITY, &error);
        assert_non_null(path);
        rbPath_Destroy(path);
        *numbers[i] = i % 2 == 0 ? (double)NAN : (double)INFINITY;
        assert_null(rbPath_Create(&def, RB_TRANSFORM_IDENTITY, &error));
        assert_int_equal(error.status, RB_STATUS_INVALID);
        static const char* const names[5] = {"point 0", "point 0", "point 1", "point 2", "point 2"};
        assert_true(i >= 5 || strstr(error.message, names[i]) != NULL);
    }
}

RB_TEST_GROUP(test_path, cmocka_unit_test(lineStopsAtItsEnd),
              cmocka_unit_test(curveHasConstantSpeedAndMeetsItsPoints),
              cmocka_unit_test(piecesAreHermiteCubics),
              cmocka_unit_test(arcLengthAgreesWithFineChords),
              cmocka_unit_test(closedCurveComesBack), cmocka_unit_test(rotationIsConstant),
              cmocka_unit_test(boundsHoldThePath), cmocka_unit_test(unusablePathsGetAMessage),
              cmocka_unit_test(everyNumberOfAPathIsFinite));
