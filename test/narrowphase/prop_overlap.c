// Yes or no of convex pairs against their distance, down to gaps and depths of 1e-12 m.
#include "collision/convex/overlap.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <math.h>
#include <stdlib.h>

// Gaps that may count as contact, relative to the size of the bodies: see rbTestOverlap.
#define OPEN_GAP 1e-9

#define KINDS 7

static rbVec3 randomSizes(rbRandom* random)
{
    double x = rbRandom_Range(random, 0.2, 1.5);
    double y = rbRandom_Range(random, 0.2, 1.5);
    double z = rbRandom_Range(random, 0.2, 1.5);
    return rbMakeVec3(x, y, z);
}

static rbGeometry* makeShape(rbRandom* random, int kind)
{
    rbVec3 points[80];
    rbVec3 sizes = randomSizes(random);
    int count = rbRandom_Unit(random) < 0.5 ? 4 + rbRandom_Index(random, 12) : 80;
    for (int i = 0; i < count; ++i) {
        // not about the origin: the center of a hull need not be there
        points[i] = rbAdd(rbMulEach(sizes, rbRandom_Direction(random)), rbMakeVec3(0.5, 0.3, -0.2));
    }
    rbGeometry* made = kind == 0   ? rbCreateBox(sizes, NULL)
                       : kind == 1 ? rbCreateEllipsoid(sizes, NULL)
                       : kind == 2 ? rbCreateHull(points, count, NULL)
                       : kind == 3 ? rbCreateCapsule(sizes.x, sizes.y, NULL)
                       : kind == 4 ? rbCreateSphere(sizes.x, NULL)
                       : kind == 5 ? rbCreateCylinder(sizes.x, sizes.y, NULL)
                                   : rbCreateCone(sizes.x, sizes.y, NULL);
    assert_non_null(made);
    return made;
}

// A turn that is often one of the symmetric or nearly symmetric ones, where axes are parallel.
static rbQuat randomTurn(rbRandom* random)
{
    int kind = rbRandom_Index(random, 4);
    if (kind == 0) {
        return RB_QUAT_IDENTITY;
    }
    if (kind == 1) {
        double angle = pow(10.0, rbRandom_Range(random, -14.0, -1.0));
        rbVec3 axis = rbScale(0.5 * angle, rbRandom_Direction(random));
        return rbNormalizeQuat((rbQuat){1.0, axis.x, axis.y, axis.z});
    }
    return rbRandom_Quat(random);
}

static bool test(const rbSeparationInput* input, double margin, rbSeparationCache* cache)
{
    bool overlaps = false;
    rbStatus status = rbTestOverlap(input, margin, cache, &overlaps, NULL);
    assert_int_equal(status, RB_STATUS_OK);
    return overlaps;
}

// The bodies are at most margin apart if the distance says so, and not if it proves more; the same
// in the other order, with a cache and by GJK alone.
static void checkAnswer(const rbSeparationInput* input, double margin, void* scratch, int* counts)
{
    rbSeparation s;
    rbStatus status = rbMeasureSeparation(input, NULL, scratch, &s, NULL);
    assert_int_equal(status, RB_STATUS_OK);
    double size = 4.0 + rbLength(input->transformBtoA.p);
    bool mayDiffer = s.upper > margin && s.lower <= margin + OPEN_GAP * size;
    rbSeparationInput other = *input;
    other.geometryA = input->geometryB;
    other.geometryB = input->geometryA;
    other.radiusA = input->radiusB;
    other.radiusB = input->radiusA;
    other.transformBtoA = rbInvertTransform(input->transformBtoA);
    rbSeparationCache cache = {0};
    const bool answers[4] = {test(input, margin, NULL), test(&other, margin, NULL),
                             test(input, margin, &cache), test(input, margin, &cache)};
    for (int i = 0; i < 4 && !mayDiffer; ++i) {
        if (answers[i] != (s.upper <= margin)) {
            fail_msg("%s and %s, margin %g: answer %d is %d, but the distance is %.17g to %.17g",
                     rbShapeType_Name(rbGeometry_GetType(input->geometryA)),
                     rbShapeType_Name(rbGeometry_GetType(input->geometryB)), margin, i, answers[i],
                     s.lower, s.upper);
        }
    }
    ++counts[mayDiffer ? 2 : answers[0]];
}

// G-20
static void yesOrNoAgreesWithTheDistance(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2901)};
    void* scratch = malloc(rbGetSeparationScratchSize());
    int count = rbTest_Count(6000, 200000);
    int counts[3] = {0};
    for (int i = 0; i < count; ++i) {
        int kind = rbRandom_Index(&random, KINDS);
        int other = rbRandom_Unit(&random) < 0.4 ? kind : rbRandom_Index(&random, KINDS);
        rbSeparationInput input = rbDefaultSeparationInput();
        rbGeometry* a = makeShape(&random, kind);
        rbGeometry* b = makeShape(&random, other);
        input.geometryA = a;
        input.geometryB = b;
        bool isRounded = rbRandom_Unit(&random) < 0.2;
        input.radiusA = isRounded ? rbRandom_Range(&random, 0.0, 0.3) : 0.0;
        input.radiusB = isRounded ? rbRandom_Range(&random, 0.0, 0.3) : 0.0;
        input.transformBtoA.q = randomTurn(&random);
        input.transformBtoA.p =
            rbScale(rbRandom_Range(&random, 0.0, 4.0), rbRandom_Direction(&random));
        double margin = rbRandom_Unit(&random) < 0.3 ? rbRandom_Range(&random, 0.0, 0.5) : 0.0;
        checkAnswer(&input, margin, scratch, counts);
        rbSeparation s;
        rbStatus status = rbMeasureSeparation(&input, NULL, scratch, &s, NULL);
        assert_int_equal(status, RB_STATUS_OK);
        // slid along the normal to almost touching, or to just more than that
        double gap = pow(10.0, rbRandom_Range(&random, -12.0, -1.0));
        gap = rbRandom_Unit(&random) < 0.5 ? gap : -gap;
        input.transformBtoA.p =
            rbAddScaled(input.transformBtoA.p, margin + gap - s.distance, s.normal);
        checkAnswer(&input, margin, scratch, counts);
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    free(scratch);
    // most of them have an answer that must not differ, of either kind
    assert_true(counts[0] > count / 2 && counts[1] > count / 2 && counts[2] < count / 4);
}

// The quick tests may leave to GJK only what touches: what is clear they decide, and rightly.
static void clearCasesAreDecidedAtOnce(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2902)};
    void* scratch = malloc(rbGetSeparationScratchSize());
    static const int kinds[] = {0, 1, 2, 5, 6}; // spheres and capsules have flat cores
    int clear = 0;
    for (int i = 0; i < rbTest_Count(2000, 100000); ++i) {
        int kind = kinds[rbRandom_Index(&random, 5)];
        rbGeometry* a = makeShape(&random, kind);
        rbGeometry* b = makeShape(&random, rbRandom_Index(&random, 2) == 0 ? kind : kinds[i % 5]);
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = a;
        input.geometryB = b;
        input.transformBtoA.q = rbRandom_Quat(&random);
        double reach = rbRandom_Range(&random, 0.0, 4.0);
        input.transformBtoA.p = rbScale(reach, rbRandom_Direction(&random));
        rbSeparation s;
        assert_int_equal(rbMeasureSeparation(&input, NULL, scratch, &s, NULL), RB_STATUS_OK);
        if (s.upper < -0.05 || s.lower > 0.05) {
            rbOverlap truth = s.upper < 0.0 ? RB_OVERLAP_MEETS : RB_OVERLAP_APART;
            rbConvex bodies[2];
            assert_true(rbConvex_Make(a, 0.0, &bodies[0]) && rbConvex_Make(b, 0.0, &bodies[1]));
            rbCso cso = rbCso_Make(&bodies[0], &bodies[1], input.transformBtoA);
            assert_int_equal(rbTestPortal(&cso, 0.0), truth);
            clear += 1;
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    print_message("%d clear cases\n", clear);
    assert_true(clear > 0);
    free(scratch);
}

RB_TEST_GROUP(prop_overlap, cmocka_unit_test(yesOrNoAgreesWithTheDistance),
              cmocka_unit_test(clearCasesAreDecidedAtOnce));
