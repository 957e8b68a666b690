// Support mappings of cores, rounded, scaled and summed bodies, and of the difference of two.
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "collision/convex/convex.h"
#include "lab/convex/features.h"
#include "lab/convex/minkowski.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <float.h>
#include <math.h>

static rbGeometry* makeShape(rbRandom* random, int kind)
{
    rbError error = {0};
    double r = rbRandom_Range(random, 0.2, 1.0);
    double h = rbRandom_Range(random, 0.2, 1.0);
    rbVec3 e = rbMakeVec3(rbRandom_Range(random, 0.1, 1.0), rbRandom_Range(random, 0.1, 1.0),
                          rbRandom_Range(random, 0.1, 1.0));
    rbVec3 points[60];
    int count = kind == 6 ? 16 : 60; // by search and by climbing
    for (int i = 0; i < count; ++i) {
        points[i] = rbMulEach(e, rbRandom_Direction(random));
    }
    rbGeometry* made = NULL;
    switch (kind) {
    case 0:
        made = rbCreateSphere(r, &error);
        break;
    case 1:
        made = rbCreateBox(e, &error);
        break;
    case 2:
        made = rbCreateCapsule(r, h, &error);
        break;
    case 3:
        made = rbCreateCylinder(r, h, &error);
        break;
    case 4:
        made = rbCreateCone(r, h, &error);
        break;
    case 5:
        made = rbCreateEllipsoid(e, &error);
        break;
    default:
        made = rbCreateHull(points, count, &error);
        break;
    }
    assert_non_null(made);
    return made;
}

enum {
    KINDS = 8
};

static double heightOf(const rbConvex* convex, rbVec3 unit)
{
    int vertex = -1;
    double largest = fmax(fabs(unit.x), fmax(fabs(unit.y), fabs(unit.z)));
    rbVec3 p = convex->support(convex, rbScale(1.0 / largest, unit), &vertex);
    return rbDot(p, unit) + convex->radius;
}

// G-08, G-09, G-10, G-11, G-12, G-13
static void coreAndRadiusGiveTheShape(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(71)};
    int count = rbTest_Count(300, 3000);
    for (int i = 0; i < count; ++i) {
        rbGeometry* g = makeShape(&random, i % KINDS);
        rbConvex convex;
        assert_true(rbConvex_Make(g, 0.0, &convex));
        for (int k = 0; k < 20; ++k) {
            rbVec3 u = rbRandom_Direction(&random);
            checkNear(heightOf(&convex, u), rbDot(u, rbGeometry_GetSupport(g, u)), 1e-14);
        }
        rbConvex rounded;
        assert_true(rbConvex_Make(g, 0.25, &rounded));
        rbVec3 u = rbRandom_Direction(&random);
        checkNear(heightOf(&rounded, u), heightOf(&convex, u) + 0.25, 1e-14);
        rbDestroyGeometry(g);
    }
}

// The heights of the first shapes in closed form; of a hull, that of its highest point.
// G-09, G-10, G-11, G-12, G-13
static void heightsAreClosedForms(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(75)};
    for (int i = 0; i < rbTest_Count(300, 3000); ++i) {
        double r = rbRandom_Range(&random, 0.2, 1.0);
        double h = rbRandom_Range(&random, 0.2, 1.0);
        rbVec3 e = {rbRandom_Range(&random, 0.1, 1.0), rbRandom_Range(&random, 0.1, 1.0),
                    rbRandom_Range(&random, 0.1, 1.0)};
        rbVec3 points[60];
        for (int k = 0; k < 60; ++k) {
            points[k] = rbMulEach(e, rbRandom_Direction(&random));
        }
        rbGeometry* shapes[] = {rbCreateSphere(r, NULL), rbCreateBox(e, NULL),
                                rbCreateCapsule(r, h, NULL), rbCreateEllipsoid(e, NULL),
                                rbCreateHull(points, 60, NULL)};
        for (int k = 0; k < 20; ++k) {
            rbVec3 u = rbRandom_Direction(&random);
            double highest = -INFINITY;
            for (int n = 0; n < 60; ++n) {
                highest = fmax(highest, rbDot(u, points[n]));
            }
            const double heights[] = {r, rbDot(e, rbAbs3(u)), r + h * fabs(u.z),
                                      rbLength(rbMulEach(e, u)), highest};
            for (int n = 0; n < 5; ++n) {
                rbConvex convex;
                assert_true(rbConvex_Make(shapes[n], 0.0, &convex));
                checkNear(heightOf(&convex, u), heights[n], 1e-14);
            }
        }
        for (int n = 0; n < 5; ++n) {
            rbDestroyGeometry(shapes[n]);
        }
    }
}

// G-14: a cylinder is a disc plus a segment, a cone the hull of a disc and its apex: their heights
// follow from those of the parts.
static void cylindersAndConesReachTheirRims(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(74)};
    for (int i = 0; i < rbTest_Count(300, 3000); ++i) {
        double r = rbRandom_Range(&random, 0.2, 1.0);
        double h = rbRandom_Range(&random, 0.2, 1.0);
        rbGeometry* cylinder = rbCreateCylinder(r, h, NULL);
        rbGeometry* cone = rbCreateCone(r, h, NULL);
        rbConvex convex[2];
        assert_true(rbConvex_Make(cylinder, 0.0, &convex[0]) &&
                    rbConvex_Make(cone, 0.0, &convex[1]));
        for (int k = 0; k < 20; ++k) {
            rbVec3 u = rbRandom_Direction(&random);
            double rim = r * sqrt(u.x * u.x + u.y * u.y);
            checkNear(heightOf(&convex[0], u), rim + h * fabs(u.z), 1e-14);
            checkNear(heightOf(&convex[1], u), fmax(0.5 * h * u.z, rim - 0.5 * h * u.z), 1e-14);
        }
        rbDestroyGeometry(cylinder);
        rbDestroyGeometry(cone);
    }
}

// G-08: s_{A-B}(u) = s_A(u) - s_B(-u) under a rigid motion of B; the point belongs to both bodies.
static void differenceHasTheSumOfHeights(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(72)};
    int count = rbTest_Count(300, 3000);
    for (int i = 0; i < count; ++i) {
        rbGeometry* ga = makeShape(&random, rbRandom_Index(&random, KINDS));
        rbGeometry* gb = makeShape(&random, rbRandom_Index(&random, KINDS));
        rbConvex a;
        rbConvex b;
        assert_true(rbConvex_Make(ga, 0.0, &a) && rbConvex_Make(gb, 0.0, &b));
        rbTransform t = {rbScale(2.0, rbRandom_Direction(&random)), rbRandom_Quat(&random)};
        rbCso cso = rbCso_Make(&a, &b, t);
        int hints[2] = {-1, -1};
        for (int k = 0; k < 20; ++k) {
            rbVec3 u = rbRandom_Direction(&random);
            rbCsoPoint p = rbCso_Support(&cso, u, k % 2 == 0 ? hints : NULL);
            double truth = heightOf(&a, u) - a.radius + heightOf(&b, rbNeg(rbInvRotate(t.q, u))) -
                           b.radius - rbDot(u, t.p);
            checkNear(rbDot(p.w, u), truth, 1e-13);
            checkBelow(rbDistance(p.w, rbSub(p.a, p.b)), 0.0);
        }
        rbDestroyGeometry(ga);
        rbDestroyGeometry(gb);
    }
}

// A box plus a box is a box.
static void sumsAreExact(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(73)};
    rbError error = {0};
    rbGeometry* boxA = rbCreateBox(rbMakeVec3(1.0, 2.0, 3.0), &error);
    rbGeometry* boxB = rbCreateBox(rbMakeVec3(0.1, 0.2, 0.3), &error);
    rbGeometry* dot = rbCreateSphere(1e-6, &error);
    rbConvex a;
    rbConvex b;
    rbConvex point;
    rbMinkowskiSum sum;
    assert_true(rbConvex_Make(boxA, 0.0, &a) && rbConvex_Make(boxB, 0.0, &b));
    assert_true(rbConvex_Make(dot, 0.0, &point));
    rbMinkowskiSum_Make(&sum, &a, &b);
    rbCso ofSum = rbCso_Make(&sum.body, &point, RB_TRANSFORM_IDENTITY);
    for (int i = 0; i < 200; ++i) {
        rbVec3 u = rbRandom_Direction(&random);
        double truth = 1.1 * fabs(u.x) + 2.2 * fabs(u.y) + 3.3 * fabs(u.z);
        checkNear(rbDot(u, rbCso_Support(&ofSum, u, NULL).w), truth, 1e-14);
    }
    rbDestroyGeometry(boxA);
    rbDestroyGeometry(boxB);
    rbDestroyGeometry(dot);
}

// Flat hulls of many points that lie in a plane except for noise near the merge tolerance: their
// faces are merged, and a climb over them would stop below the summit.
// G-13
static void supportsOfNoisyHullsAreSummits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(61)};
    static const double noises[] = {0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-3};
    int count = rbTest_Count(60, 3000);
    for (int i = 0; i < count; ++i) {
        rbVec3 points[90];
        double noise = noises[rbRandom_Index(&random, 6)];
        double thickness = rbRandom_Index(&random, 2) == 0 ? 1e-3 : 0.5;
        for (int k = 0; k < 90; ++k) {
            double angle = rbRandom_Range(&random, 0.0, 2.0 * RB_PI);
            double sine, cosine;
            rbSinCos(angle, &sine, &cosine);
            double side = k % 2 == 0 ? thickness : -thickness;
            points[k] = rbMakeVec3(cosine, sine, side + noise * rbRandom_Symmetric(&random));
        }
        rbGeometry* hull = rbCreateHull(points, 90, NULL);
        rbGeometry* dot = rbCreateSphere(1e-6, NULL);
        rbConvex a, b;
        if (hull == NULL) { // too thin to be distinguished, which is reported
            rbDestroyGeometry(dot);
            continue;
        }
        assert_true(rbConvex_Make(hull, 0.0, &a) && rbConvex_Make(dot, 0.0, &b));
        rbCso cso = rbCso_Make(&a, &b, RB_TRANSFORM_IDENTITY);
        rbFeatureBody body;
        rbFeatureBody_Make(hull, &body);
        for (int k = 0; k < 300; ++k) {
            rbVec3 u = rbRandom_Direction(&random);
            u = k % 2 == 0 ? u : rbNormalize(rbMakeVec3(1e-9 * u.x, 1e-9 * u.y, u.z));
            double truth = -INFINITY;
            for (int v = 0; v < body.vertexCount; ++v) {
                truth = fmax(truth, rbDot(u, body.vertices[v]));
            }
            double found = rbDot(u, rbCso_Support(&cso, u, NULL).w);
            double walked = rbDot(u, body.vertices[rbFeatureBody_Support(&body, u, k % 4)]);
            checkBelow(truth - found, 4.0 * DBL_EPSILON);
            checkBelow(truth - walked, 4.0 * DBL_EPSILON);
        }
        rbDestroyGeometry(hull);
        rbDestroyGeometry(dot);
    }
}

static void unboundedAndHollowShapesHaveNoCore(void** state)
{
    (void)state;
    rbError error = {0};
    rbGeometry* plane = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, &error);
    rbConvex convex;
    assert_false(rbConvex_Make(plane, 0.0, &convex));
    rbDestroyGeometry(plane);
}

RB_TEST_GROUP(test_support, cmocka_unit_test(coreAndRadiusGiveTheShape),
              cmocka_unit_test(heightsAreClosedForms),
              cmocka_unit_test(cylindersAndConesReachTheirRims),
              cmocka_unit_test(differenceHasTheSumOfHeights), cmocka_unit_test(sumsAreExact),
              cmocka_unit_test(supportsOfNoisyHullsAreSummits),
              cmocka_unit_test(unboundedAndHollowShapesHaveNoCore));
