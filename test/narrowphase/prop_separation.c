// The pair table: closed forms compared with the iterative kernels, compounds, refusals.
#include "base/core/random.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <math.h>
#include <stdlib.h>

enum {
    KINDS = 7
};

static rbGeometry* makeShape(rbRandom* random, int kind)
{
    rbError error = {0};
    double r = rbRandom_Range(random, 0.2, 1.0);
    double h = rbRandom_Range(random, 0.2, 1.0);
    rbVec3 e = rbMakeVec3(rbRandom_Range(random, 0.1, 1.0), rbRandom_Range(random, 0.1, 1.0),
                          rbRandom_Range(random, 0.1, 1.0));
    rbVec3 points[16];
    for (int i = 0; i < 16; ++i) {
        points[i] = rbMulEach(e, rbRandom_Direction(random));
    }
    rbGeometry* const made[KINDS] = {
        rbCreateSphere(r, &error),       rbCreateBox(e, &error),     rbCreateCapsule(r, h, &error),
        rbCreateCylinder(r, h, &error),  rbCreateCone(r, h, &error), rbCreateEllipsoid(e, &error),
        rbCreateHull(points, 16, &error)};
    for (int i = 0; i < KINDS; ++i) {
        assert_non_null(made[i]);
        if (i != kind) {
            rbDestroyGeometry(made[i]);
        }
    }
    return made[kind];
}

static rbSeparation measure(const rbGeometry* a, const rbGeometry* b, rbTransform t,
                            rbPairMethod method)
{
    static double scratch[1 << 15];
    assert_true(rbGetSeparationScratchSize() <= sizeof scratch);
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA = t;
    input.method = method;
    rbSeparation s;
    rbError error = {0};
    assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, &error), RB_STATUS_OK);
    return s;
}

// Searches that the scratch memory ended have wide, true bounds and points that match them only
// roughly; they must be rare.
static bool isWide(const rbSeparation* s)
{
    return s->reason == RB_STOP_STORAGE || s->reason == RB_STOP_ITERATIONS;
}

static void checkConsistent(const rbSeparation* s)
{
    assert_true(s->lower <= s->upper);
    assert_true(s->distance >= s->lower - 1e-12 && s->distance <= s->upper + 1e-12);
    checkNear(rbLength(s->normal), 1.0, 1e-12);
    if (isWide(s)) {
        return;
    }
    rbVec3 gap = rbSub(s->pointB, s->pointA);
    checkBelow(rbDistance(gap, rbScale(s->distance, s->normal)), 1e-5);
}

// G-37: where there is a closed form, the iterative answer agrees within the bounds of both.
static void methodsAgreeOnEveryPair(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(81)};
    int count = rbTest_Count(3000, 100000);
    double worst = 0.0;
    int wideCount = 0;
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = makeShape(&random, rbRandom_Index(&random, KINDS));
        rbGeometry* b = makeShape(&random, rbRandom_Index(&random, KINDS));
        rbTransform t = {rbScale(rbRandom_Range(&random, 0.0, 2.5), rbRandom_Direction(&random)),
                         rbRandom_Quat(&random)};
        rbSeparation first = measure(a, b, t, RB_PAIR_AUTO);
        rbSeparation second = measure(a, b, t, RB_PAIR_ITERATIVE);
        checkConsistent(&first);
        checkConsistent(&second);
        assert_true(first.lower <= second.upper && second.lower <= first.upper);
        if (isWide(&first) || isWide(&second)) {
            ++wideCount;
        } else {
            worst = fmax(worst, fabs(first.distance - second.distance));
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    print_message("%d pairs: largest difference of the methods %.2e m, %d ended by storage\n",
                  count, worst, wideCount);
    assert_true(wideCount <= 1 + count / 200);
    // The depth of smooth pairs is converged to 1e-8 of itself, depths are below 2 m.
    checkBelow(worst, 2e-8);
}

// Swapping A and B changes the frame and nothing else.
static void swappingChangesNothing(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(82)};
    int count = rbTest_Count(3000, 100000);
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = makeShape(&random, rbRandom_Index(&random, KINDS));
        rbGeometry* b = makeShape(&random, rbRandom_Index(&random, KINDS));
        rbTransform t = {rbScale(rbRandom_Range(&random, 0.5, 2.5), rbRandom_Direction(&random)),
                         rbRandom_Quat(&random)};
        rbSeparation straight = measure(a, b, t, RB_PAIR_AUTO);
        rbSeparation swapped = measure(b, a, rbInvertTransform(t), RB_PAIR_AUTO);
        assert_true(straight.lower <= swapped.upper && swapped.lower <= straight.upper);
        if (!isWide(&straight) && !isWide(&swapped)) {
            checkNear(straight.distance, swapped.distance, 2e-8);
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
}

// G-17: a compound is as near as its nearest part, and names it.
static void compoundsAreTheirNearestPart(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(83)};
    int count = rbTest_Count(300, 5000);
    for (int i = 0; i < count; ++i) {
        rbGeometry* parts[3];
        rbCompoundChild children[3];
        for (int k = 0; k < 3; ++k) {
            parts[k] = makeShape(&random, rbRandom_Index(&random, KINDS));
            children[k] = (rbCompoundChild){
                .geometry = parts[k],
                .transform = {rbMakeVec3(2.5 * k, 0.0, 0.0), rbRandom_Quat(&random)}};
        }
        rbError error = {0};
        rbGeometry* whole = rbCreateCompound(children, 3, &error);
        assert_non_null(whole);
        rbGeometry* other = makeShape(&random, rbRandom_Index(&random, KINDS));
        rbTransform t = {rbScale(4.0, rbRandom_Direction(&random)), rbRandom_Quat(&random)};
        rbSeparation s = measure(whole, other, t, RB_PAIR_AUTO);
        rbSeparation flipped = measure(other, whole, rbInvertTransform(t), RB_PAIR_AUTO);
        double nearest = INFINITY;
        double bracket = 0.0;
        for (int k = 0; k < 3; ++k) {
            rbTransform relative = rbInvMulTransforms(children[k].transform, t);
            rbSeparation part = measure(parts[k], other, relative, RB_PAIR_AUTO);
            if (part.distance < nearest) {
                nearest = part.distance;
                bracket = part.upper - part.lower;
            }
        }
        // The relative pose is rounded in two ways; each answer is accurate to its own bounds.
        checkNear(s.distance, nearest, bracket + (s.upper - s.lower) + 1e-14);
        checkNear(flipped.distance, nearest, 2e-8 + (flipped.upper - flipped.lower));
        checkConsistent(&s);
        rbDestroyGeometry(whole);
        rbDestroyGeometry(other);
        for (int k = 0; k < 3; ++k) {
            rbDestroyGeometry(parts[k]);
        }
    }
}

static void refusalsAreMessages(void** state)
{
    (void)state;
    static double scratch[1 << 15];
    rbError error = {0};
    rbGeometry* plane = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, &error);
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), &error);
    rbGeometry* cone = rbCreateCone(1.0, 1.0, &error);
    rbSeparation s;
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = plane;
    input.geometryB = plane;
    assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, &error), RB_STATUS_UNSUPPORTED);
    input.geometryA = box;
    input.geometryB = cone;
    input.method = RB_PAIR_CLOSED_FORM;
    assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, &error), RB_STATUS_UNSUPPORTED);
    input.method = RB_PAIR_AUTO;
    input.transformBtoA.p.x = NAN;
    assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, &error), RB_STATUS_INVALID);
    input = rbDefaultSeparationInput();
    input.geometryA = box;
    input.geometryB = cone;
    input.radiusA = -1.0;
    assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, &error), RB_STATUS_INVALID);
    rbDestroyGeometry(plane);
    rbDestroyGeometry(box);
    rbDestroyGeometry(cone);
}

RB_TEST_GROUP(prop_separation, cmocka_unit_test(methodsAgreeOnEveryPair),
              cmocka_unit_test(swappingChangesNothing),
              cmocka_unit_test(compoundsAreTheirNearestPart),
              cmocka_unit_test(refusalsAreMessages));
