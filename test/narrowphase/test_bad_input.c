// Bad input to shapes and pair queries: a defined answer or a status with a message; never a hang,
// never a NaN from finite input.
#include "base/core/random.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <math.h>
#include <string.h>

enum {
    KINDS = 8
};

static double scratch[1 << 15];

static rbSeparationInput makeInput(const rbGeometry* a, const rbGeometry* b, rbTransform t)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA = t;
    assert_true(rbGetSeparationScratchSize() <= sizeof scratch);
    return input;
}

// One of each kind, as large as size.
static rbGeometry* makeShape(int kind, double size)
{
    rbVec3 e = rbScale(size, rbMakeVec3(0.5, 0.75, 1.0));
    rbVec3 points[6] = {{e.x, 0.0, 0.0},  {-e.x, 0.0, 0.0}, {0.0, e.y, 0.0},
                        {0.0, -e.y, 0.0}, {0.0, 0.0, e.z},  {0.0, 0.0, -e.z}};
    switch (kind) {
    case 0:
        return rbCreateSphere(size, NULL);
    case 1:
        return rbCreateBox(e, NULL);
    case 2:
        return rbCreateCapsule(0.5 * size, size, NULL);
    case 3:
        return rbCreateCylinder(0.5 * size, size, NULL);
    case 4:
        return rbCreateCone(0.75 * size, size, NULL);
    case 5:
        return rbCreateEllipsoid(e, NULL);
    case 6:
        return rbCreateHull(points, 6, NULL);
    default:
        return rbCreatePlane(rbMakeVec3(0.0, 0.6, 0.8), 0.25 * size, NULL);
    }
}

static bool isDefined(const rbSeparation* s)
{
    return isfinite(s->distance) && isfinite(s->lower) && isfinite(s->upper) &&
           rbIsFinite3(s->pointA) && rbIsFinite3(s->pointB) && rbIsFinite3(s->normal) &&
           s->lower <= s->distance && s->distance <= s->upper &&
           fabs(rbLength(s->normal) - 1.0) < 1e-9;
}

static void checkMessageText(const rbError* error, rbStatus status)
{
    assert_int_equal(error->status, status);
    assert_true(strlen(error->message) > 20);
}

// Measures by every method; each either refuses with a message or answers with numbers.
static void checkDefined(const rbSeparationInput* given)
{
    for (int m = 0; m < rbPairMethod_GetCount(); ++m) {
        rbSeparationInput input = *given;
        input.method = (rbPairMethod)m;
        rbSeparation s;
        rbError error = {0};
        rbStatus status = rbMeasureSeparation(&input, NULL, scratch, &s, &error);
        if (status != RB_STATUS_OK) {
            checkMessageText(&error, status);
        } else if (!isDefined(&s)) {
            fail_msg("%s of %s and %s at %g %g %g: distance %g in [%g, %g], normal %g %g %g",
                     rbPairMethod_Name(input.method),
                     rbShapeType_Name(rbGeometry_GetType(input.geometryA)),
                     rbShapeType_Name(rbGeometry_GetType(input.geometryB)), input.transformBtoA.p.x,
                     input.transformBtoA.p.y, input.transformBtoA.p.z, s.distance, s.lower, s.upper,
                     s.normal.x, s.normal.y, s.normal.z);
        }
    }
}

// A constructor refused: NULL and a message.
static void checkRefused(rbGeometry* made, const rbError* error)
{
    if (made != NULL) {
        fail_msg("a %s was accepted", rbShapeType_Name(rbGeometry_GetType(made)));
    }
    checkMessageText(error, RB_STATUS_INVALID);
}

// Lengths of zero, negative, NaN, and too large for their fifth power.
static void extentsOfZeroAreRefused(void** state)
{
    (void)state;
    static const double bad[] = {0.0, -0.0, -1.0, 1e-16, 1e13, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        rbError error = {0};
        double x = bad[i];
        checkRefused(rbCreateSphere(x, &error), &error);
        for (int k = 0; k < 3; ++k) {
            rbVec3 e = {k == 0 ? x : 1.0, k == 1 ? x : 1.0, k == 2 ? x : 1.0};
            memset(&error, 0, sizeof error);
            checkRefused(rbCreateBox(e, &error), &error);
            memset(&error, 0, sizeof error);
            checkRefused(rbCreateEllipsoid(e, &error), &error);
        }
        memset(&error, 0, sizeof error);
        checkRefused(rbCreateCapsule(x, 1.0, &error), &error);
        memset(&error, 0, sizeof error);
        checkRefused(rbCreateCylinder(x, 1.0, &error), &error);
        memset(&error, 0, sizeof error);
        checkRefused(rbCreateCylinder(1.0, x, &error), &error);
        memset(&error, 0, sizeof error);
        checkRefused(rbCreateCone(x, 1.0, &error), &error);
        memset(&error, 0, sizeof error);
        checkRefused(rbCreateCone(1.0, x, &error), &error);
        if (x != 0.0) { // a capsule of length 0 is a sphere
            memset(&error, 0, sizeof error);
            checkRefused(rbCreateCapsule(1.0, x, &error), &error);
        }
    }
    rbError error = {0};
    checkRefused(rbCreatePlane(RB_VEC3_ZERO, 0.0, &error), &error);
    memset(&error, 0, sizeof error);
    checkRefused(rbCreatePlane(rbMakeVec3(NAN, 0.0, 1.0), 0.0, &error), &error);
    memset(&error, 0, sizeof error);
    checkRefused(rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), INFINITY, &error), &error);
}

// Fewer than four points, one point, a line, a plane, a plane to rounding.
static void hullsWithoutVolumeAreRefused(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(91)};
    for (int style = 0; style < 6; ++style) {
        rbVec3 points[12];
        rbVec3 u = rbRandom_Direction(&random);
        rbVec3 v = rbPerpendicular(u);
        for (int i = 0; i < 12; ++i) {
            double x = rbRandom_Symmetric(&random), y = rbRandom_Symmetric(&random);
            points[i] = rbAddScaled(rbScale(x, u), style >= 2 ? y : 0.0, v);
            points[i] = style == 0 ? u : points[i];
            points[i] = style == 3 ? rbMakeVec3(x, y, 0.5) : points[i];
            points[i] = style == 4 ? rbRandom_Direction(&random) : points[i];
        }
        if (style == 5) {
            points[7].y = NAN;
        }
        rbError error = {0};
        int count = style == 4 ? 3 : 12;
        checkRefused(rbCreateHull(points, count, &error), &error);
    }
    rbError error = {0};
    checkRefused(rbCreateHull(NULL, 0, &error), &error);
}

// A box given as a hull with every point twice, points on its edges and faces and inside is the
// box.
static void coplanarAndDoublePointsChangeNothing(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(92)};
    int count = rbTest_Count(2000, 200000);
    rbVec3 e = {0.5, 0.75, 1.0};
    static const double cells[3] = {-1.0, 0.0, 1.0};
    rbVec3 points[54];
    for (int i = 0; i < 27; ++i) { // a lattice of 3 x 3 x 3, twice
        rbVec3 lattice = {cells[i % 3], cells[i / 3 % 3], cells[i / 9]};
        points[i] = points[53 - i] = rbMulEach(e, lattice);
    }
    rbError error = {0};
    rbGeometry* hull = rbCreateHull(points, 54, &error);
    rbGeometry* box = rbCreateBox(e, &error);
    assert_non_null(hull);
    rbMeshDef mesh;
    assert_true(rbGeometry_GetMesh(hull, &mesh));
    assert_int_equal(mesh.vertexCount, 8);
    assert_int_equal(mesh.faceCount, 6);
    for (int i = 0; i < count; ++i) {
        rbTransform t = {rbScale(2.0 * rbRandom_Unit(&random), rbRandom_Direction(&random)),
                         rbRandom_Quat(&random)};
        rbSeparation asBox, asHull;
        rbSeparationInput input = makeInput(box, box, t);
        assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &asBox, &error), 0);
        input.geometryA = hull;
        assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &asHull, &error), 0);
        assert_true(asBox.lower <= asHull.upper && asHull.lower <= asBox.upper);
        checkNear(asHull.distance, asBox.distance, 1e-12);
    }
    rbDestroyGeometry(hull);
    rbDestroyGeometry(box);
}

// Centers that coincide: the answer is a depth, and that translation along the normal separates the
// bodies.
static void coincidentCentersHaveADepth(void** state)
{
    (void)state;
    static const rbQuat turns[] = {
        {1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}, {0.5, 0.5, 0.5, 0.5}, {0.8, 0.0, 0.6, 0.0}};
    for (int i = 0; i < KINDS * (KINDS - 1) * 4; ++i) {
        rbGeometry* a = makeShape(i % (KINDS - 1), 1.0);
        rbGeometry* b = makeShape(i / (KINDS - 1) % KINDS, 1.0);
        rbTransform t = {RB_VEC3_ZERO, turns[i / (KINDS - 1) / KINDS]};
        rbSeparationInput input = makeInput(a, b, t);
        checkDefined(&input);
        rbSeparation s;
        assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, NULL), RB_STATUS_OK);
        assert_true(s.upper <
                    -0.2); // all shapes contain a ball of more than 0.1 m around the origin
        double way = s.reason == RB_STOP_STORAGE ? -s.lower : -s.distance;
        input.transformBtoA.p = rbScale(way + 1e-6, s.normal);
        rbSeparation parted;
        assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &parted, NULL), RB_STATUS_OK);
        assert_true(parted.distance > 0.0);
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
}

// From 1e-15 m to 1e12 m, touching, separated and far: numbers and ordered bounds.
static void extremeSizesAreMeasured(void** state)
{
    (void)state;
    static const double sizes[] = {1e-15, 1e-9, 1e-3, 1.0, 1e6, 1e12};
    static const double reaches[] = {0.0, 1e-15, 0.3, 1.0, 2.5, 1e6, 1e12};
    rbRandom random = {rbTest_Seed(93)};
    int count = rbTest_Count(2000, 100000);
    for (int i = 0; i < count; ++i) {
        double sizeA = sizes[rbRandom_Index(&random, 6)];
        double sizeB = sizes[rbRandom_Index(&random, 6)];
        // half extents and radii of the shapes are at most as large and at least half of it
        rbGeometry* a = makeShape(rbRandom_Index(&random, KINDS - 1), fmax(sizeA, 2e-15));
        rbGeometry* b = makeShape(rbRandom_Index(&random, KINDS), fmax(sizeB, 2e-15));
        assert_non_null(a);
        assert_non_null(b);
        double reach = reaches[rbRandom_Index(&random, 7)] * fmax(sizeA, sizeB);
        rbTransform t = {rbScale(reach, rbRandom_Direction(&random)), rbRandom_Quat(&random)};
        rbSeparationInput input = makeInput(a, b, t);
        checkDefined(&input);
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
}

// Finite positions so far away that squares overflow.
static void absurdPositionsDoNotMakeNumbersThatAreNone(void** state)
{
    (void)state;
    static const double far[] = {1e15, 1e100, 1e154, 1e160, 1e200, 1e300, 1.7e308};
    for (int i = 0; i < KINDS * (KINDS - 1) * 7; ++i) {
        rbGeometry* a = makeShape(i % (KINDS - 1), 1.0);
        rbGeometry* b = makeShape(i / (KINDS - 1) % KINDS, 1.0);
        double x = far[i / (KINDS - 1) / KINDS];
        rbTransform t = {{x, 0.5 * x, -0.25 * x}, {0.5, 0.5, 0.5, 0.5}};
        rbSeparationInput input = makeInput(a, b, t);
        checkDefined(&input);
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
}

static void setComponent(rbTransform* t, int component, double value)
{
    double* const components[7] = {&t->p.x, &t->p.y, &t->p.z, &t->q.w, &t->q.x, &t->q.y, &t->q.z};
    *components[component] = value;
}

static void checkPoseRefused(const rbSeparationInput* input)
{
    rbError error = {0};
    rbSeparation s;
    assert_int_equal(rbMeasureSeparation(input, NULL, scratch, &s, &error), RB_STATUS_INVALID);
    checkMessageText(&error, RB_STATUS_INVALID);
    memset(&error, 0, sizeof error);
    bool overlaps = true;
    assert_int_equal(rbTestOverlap(input, 0.0, NULL, &overlaps, &error), RB_STATUS_INVALID);
    checkMessageText(&error, RB_STATUS_INVALID);
}

static void posesThatAreNoneAreRefused(void** state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    rbGeometry* box = makeShape(1, 1.0);
    rbGeometry* cone = makeShape(4, 1.0);
    rbTransform pose = {{2.0, 0.0, 0.0}, {0.8, 0.0, 0.6, 0.0}};
    for (int component = 0; component < 7; ++component) {
        for (int k = 0; k < 3; ++k) {
            rbTransform t = pose;
            setComponent(&t, component, bad[k]);
            rbSeparationInput input = makeInput(box, cone, t);
            checkPoseRefused(&input);
        }
    }
    static const double lengths[] = {0.0, 1e-300, 0.5, 0.99999, 1.00001, 2.0, 1e200};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
        double l = lengths[i];
        rbTransform t = {pose.p, {0.8 * l, 0.0, 0.6 * l, 0.0}};
        rbSeparationInput input = makeInput(box, cone, t);
        checkPoseRefused(&input);
    }
    // integration drift is treated as the intended unit quaternion
    rbSeparationInput input = makeInput(box, cone, pose);
    rbSeparation exact, off;
    assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &exact, NULL), RB_STATUS_OK);
    double l = 1.0 + 1e-7;
    input.transformBtoA.q = (rbQuat){0.8 * l, 0.0, 0.6 * l, 0.0};
    assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &off, NULL), RB_STATUS_OK);
    checkNear(off.distance, exact.distance, 1e-12);
    rbDestroyGeometry(box);
    rbDestroyGeometry(cone);
}

static void settingsOutOfRangeAreRefused(void** state)
{
    (void)state;
    static const double badRadii[] = {-1.0, -1e-300, NAN, INFINITY};
    static const double badTolerances[] = {-1e-12, 1.5, NAN, INFINITY};
    rbGeometry* box = makeShape(1, 1.0);
    rbGeometry* cone = makeShape(4, 1.0);
    rbTransform pose = {{2.0, 0.0, 0.0}, RB_QUAT_IDENTITY};
    rbSeparation s;
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 3; ++k) {
            rbSeparationInput input = makeInput(box, cone, pose);
            input.radiusA = k == 0 ? badRadii[i] : 0.0;
            input.radiusB = k == 1 ? badRadii[i] : 0.0;
            input.relativeTolerance = k == 2 ? badTolerances[i] : 0.0;
            rbError error = {0};
            assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, &error),
                             RB_STATUS_INVALID);
            checkMessageText(&error, RB_STATUS_INVALID);
        }
    }
    rbSeparationInput zero = {0};
    zero.geometryA = box;
    zero.geometryB = cone;
    rbError error = {0};
    assert_int_equal(rbMeasureSeparation(&zero, NULL, scratch, &s, &error), RB_STATUS_INVALID);
    checkMessageText(&error, RB_STATUS_INVALID);
    // finite, if absurd, radii
    rbSeparationInput input = makeInput(box, cone, pose);
    input.radiusA = input.radiusB = 1e300;
    checkDefined(&input);
    rbDestroyGeometry(box);
    rbDestroyGeometry(cone);
}

// A tolerance that double precision cannot reach still ends, as accurately as possible.
static void tolerancesBeyondDoubleEnd(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(94)};
    int count = rbTest_Count(500, 20000);
    static const double tolerances[] = {1e-15, 1e-18, 1e-300, 4.9e-324};
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = makeShape(rbRandom_Index(&random, KINDS - 1), 1.0);
        rbGeometry* b = makeShape(rbRandom_Index(&random, KINDS - 1), 1.0);
        rbTransform t = {rbScale(3.0 * rbRandom_Unit(&random), rbRandom_Direction(&random)),
                         rbRandom_Quat(&random)};
        rbSeparationInput input = makeInput(a, b, t);
        rbSeparation usual, sharp;
        assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &usual, NULL), RB_STATUS_OK);
        input.relativeTolerance = tolerances[rbRandom_Index(&random, 4)];
        assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &sharp, NULL), RB_STATUS_OK);
        assert_true(isDefined(&sharp));
        assert_true(sharp.lower <= usual.upper && usual.lower <= sharp.upper);
        if (sharp.lower > 0.0) {
            checkNear(sharp.distance, usual.distance, 1e-11);
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
}

RB_TEST_GROUP(test_bad_input, cmocka_unit_test(extentsOfZeroAreRefused),
              cmocka_unit_test(hullsWithoutVolumeAreRefused),
              cmocka_unit_test(coplanarAndDoublePointsChangeNothing),
              cmocka_unit_test(coincidentCentersHaveADepth),
              cmocka_unit_test(extremeSizesAreMeasured),
              cmocka_unit_test(absurdPositionsDoNotMakeNumbersThatAreNone),
              cmocka_unit_test(posesThatAreNoneAreRefused),
              cmocka_unit_test(settingsOutOfRangeAreRefused),
              cmocka_unit_test(tolerancesBeyondDoubleEnd));
