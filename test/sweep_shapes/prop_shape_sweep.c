// The exact sweep of random pairs of all types compared with the measured distance, with itself
// with the bodies exchanged, and with every pair of features.
#include "test/collision/shape_samples.h"
#include "test/sweep_shapes/sweep_shapes.h"

#include <float.h>

// A moving pair: A is thrown roughly at B.
typedef struct Throw {
    rbGeometry* a;
    rbGeometry* b;
    rbTransform pose;
    rbVec3 step;
} Throw;

static Throw makeThrow(rbRandom* random, rbShapeType typeA, rbShapeType typeB)
{
    Throw t = {.a = makeSample(random, typeA)};
    t.b = makeSample(random, typeB);
    double far = typeA == RB_SHAPE_COMPOUND || typeB == RB_SHAPE_COMPOUND ? 12.0 : 5.0;
    rbVec3 from = rbRandom_Direction(random);
    t.pose = (rbTransform){rbScale(far, from), rbRandom_Quat(random)};
    rbVec3 target = randomVec3(random, 1.2);
    t.step = rbScale(rbRandom_Range(random, 0.8, 1.6), rbSub(target, t.pose.p));
    if (typeA == RB_SHAPE_PLANE || typeB == RB_SHAPE_PLANE) {
        // on the side where they are separated, if they are on the wrong one
        const rbGeometry* plane = typeA == RB_SHAPE_PLANE ? t.a : t.b;
        rbVec3 normal = rbGeometry_GetData(plane).plane.normal;
        rbVec3 outward = typeA == RB_SHAPE_PLANE ? rbNeg(rbRotate(t.pose.q, normal)) : normal;
        t.pose.p = rbScale(far, outward);
        t.step = rbAddScaled(rbScale(-10.0, outward), 3.0, rbRandom_Direction(random));
    }
    return t;
}

static void freeThrow(Throw* t)
{
    rbDestroyGeometry(t->a);
    rbDestroyGeometry(t->b);
}

static rbTransform poseAfter(const Throw* t, double fraction)
{
    return (rbTransform){rbAddScaled(t->pose.p, fraction, t->step), t->pose.q};
}

// The point belongs to the body, surfaces included: a small ball around it touches. Witnesses of
// round bodies are accurate to 2e-6 of their size.
static void checkBelongs(const rbGeometry* geometry, rbVec3 point, bool isExact)
{
    rbGeometry* dot = rbCreateSphere(isExact ? 1e-9 : 2e-6, NULL);
    assert_true(measureAt(dot, (rbTransform){point, RB_QUAT_IDENTITY}, geometry).distance <= 0.0);
    rbDestroyGeometry(dot);
}

static void checkThrow(const Throw* t, const rbShapeSweep* sweep)
{
    if (!sweep->isHit) {
        for (int i = 0; i <= 40; ++i) {
            assert_true(measureAt(t->a, poseAfter(t, i / 40.0), t->b).distance > 0.0);
        }
        return;
    }
    // A nanometer before; depths of meshes are estimates, distances are not.
    double back = 1e-9 / rbLength(t->step);
    double gap = measureAt(t->a, poseAfter(t, sweep->fraction - back), t->b).distance;
    checkNear(gap, 0.5e-9, 0.5e-9 + (sweep->isExact ? 1e-14 : 1e-9));
    static const double before[6] = {0.0, 0.5, 0.9, 0.99, 0.9999, 0.9999999};
    for (int i = 0; i < 6; ++i) {
        double fraction = before[i] * sweep->fraction;
        assert_true(measureAt(t->a, poseAfter(t, fraction), t->b).distance > 0.0);
    }
    checkNear(rbLength(sweep->normal), 1.0, 1e-12);
    assert_true(rbDot(sweep->normal, t->step) < 0.0);
    checkBelongs(t->b, sweep->point, sweep->isExact);
    checkBelongs(t->a, rbInvTransformPoint(poseAfter(t, sweep->fraction), sweep->point),
                 sweep->isExact);
}

// B thrown at A instead: the same fraction, the same point on B, the opposite normal of A.
static void checkSwapped(const Throw* t, const rbShapeSweep* sweep)
{
    rbTransform inverse = rbInvertTransform(t->pose);
    rbShapeSweep other = sweepShapes(t->b, inverse, rbNeg(rbInvRotate(t->pose.q, t->step)), t->a);
    assert_int_equal(other.isHit, sweep->isHit);
    if (!sweep->isHit) {
        return;
    }
    assert_int_equal(other.isExact, sweep->isExact);
    checkNear(other.fraction, sweep->fraction, sweep->isExact ? 1e-13 : 1e-9);
}

// RX-01, RX-02, RX-03: at the returned fraction the distance is 0, before it is positive, and the
// point lies on both surfaces; no hit means a positive distance along the whole path. All types
// with all.
static void firstContactIsWhereTheDistanceVanishes(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(90401)};
    int hits = 0;
    int count = rbTest_Count(6, 200);
    for (int i = 0; i < count * RB_SHAPE_COUNT * RB_SHAPE_COUNT; ++i) {
        rbShapeType typeA = (rbShapeType)(i % RB_SHAPE_COUNT);
        rbShapeType typeB = (rbShapeType)(i / RB_SHAPE_COUNT % RB_SHAPE_COUNT);
        if (typeA == RB_SHAPE_PLANE && typeB == RB_SHAPE_PLANE) {
            continue;
        }
        Throw t = makeThrow(&random, typeA, typeB);
        rbShapeSweep sweep = sweepShapes(t.a, t.pose, t.step, t.b);
        assert_false(sweep.isInside);
        checkThrow(&t, &sweep);
        checkSwapped(&t, &sweep);
        hits += sweep.isHit ? 1 : 0;
        freeThrow(&t);
    }
    assert_true(hits > count * 60);
}

// RX-02, RX-03: small bodies that start anywhere near or within hollow and dented ones, separated
// from them: in the hole of a ring, in a dent, or enclosed by a soup that has no inside.
static void smallBodiesMeetWallsFromWithin(void** state)
{
    (void)state;
    static const rbShapeType types[4] = {RB_SHAPE_POLYHEDRON, RB_SHAPE_MESH, RB_SHAPE_SOUP,
                                         RB_SHAPE_COMPOUND};
    rbRandom random = {rbTest_Seed(90407)};
    int hits = 0;
    int count = rbTest_Count(300, 20000);
    for (int i = 0; i < count; ++i) {
        Throw t = {.b = makeSample(&random, types[i % 4])};
        double size = rbRandom_Range(&random, 0.01, 0.1);
        t.a = i % 5 == 0   ? rbCreateSphere(size, NULL)
              : i % 5 == 1 ? rbCreateBox(rbMakeVec3(size, 0.5 * size, 0.7 * size), NULL)
              : i % 5 == 2 ? rbCreateCapsule(0.5 * size, size, NULL)
              : i % 5 == 3 ? rbCreateCone(size, size, NULL)
                           : makePyramid();
        t.pose = randomTransform(&random, 1.0);
        t.step = rbScale(3.0, rbRandom_Direction(&random));
        rbShapeSweep sweep = sweepShapes(t.a, t.pose, t.step, t.b);
        if (!sweep.isInside) {
            checkThrow(&t, &sweep);
            checkSwapped(&t, &sweep);
            hits += sweep.isHit ? 1 : 0;
        }
        freeThrow(&t);
    }
    assert_true(hits > count / 10);
}

// RX-01, RX-02, RX-03: bodies that overlap at the start are reported as such, wherever they move.
static void overlapAtTheStartIsInside(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(90402)};
    for (int i = 0; i < rbTest_Count(300, 20000); ++i) {
        rbShapeType typeA = (rbShapeType)rbRandom_Index(&random, RB_SHAPE_COUNT);
        rbShapeType typeB = (rbShapeType)rbRandom_Index(&random, RB_SHAPE_COUNT);
        if (typeA == RB_SHAPE_PLANE && typeB == RB_SHAPE_PLANE) {
            continue;
        }
        Throw t = {.a = makeSample(&random, typeA)};
        t.b = makeSample(&random, typeB);
        t.pose = randomTransform(&random, 1.5);
        t.step = randomVec3(&random, 1.0);
        double gap = measureAt(t.a, t.pose, t.b).distance;
        rbShapeSweep sweep = sweepShapes(t.a, t.pose, t.step, t.b);
        rbShapeSweep still = sweepShapes(t.a, t.pose, RB_VEC3_ZERO, t.b);
        assert_int_equal(sweep.isInside, gap < -1e-9);
        assert_int_equal(still.isInside, sweep.isInside);
        assert_int_equal(still.isHit, still.isInside);
        if (sweep.isInside) {
            assert_true(sweep.isHit && sweep.fraction == 0.0);
        }
        freeThrow(&t);
    }
}

// ------------------------------------------------------------------------------------- features

// A triangle of a body.
typedef struct Triangle {
    rbVec3 corners[3];
} Triangle;

static int listTriangles(const rbGeometry* geometry, rbTransform pose, Triangle** list)
{
    rbTriangles triangles;
    assert_int_equal(rbGeometry_Triangulate(geometry, 1.0, 1.0, &triangles, NULL), RB_STATUS_OK);
    *list = malloc((size_t)triangles.triangleCount * sizeof **list);
    for (int i = 0; i < triangles.triangleCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            (*list)[i].corners[k] =
                rbTransformPoint(pose, triangles.vertices[triangles.triangles[i][k]]);
        }
    }
    int count = triangles.triangleCount;
    rbFreeTriangles(&triangles);
    return count;
}

// Fraction at which a ray meets a triangle, INFINITY if it does not: Cramer's rule on
// p + t u = c0 + x e1 + y e2.
static double meetTriangle(rbVec3 p, rbVec3 u, const Triangle* triangle)
{
    const rbVec3* c = triangle->corners;
    rbVec3 e1 = rbSub(c[1], c[0]);
    rbVec3 e2 = rbSub(c[2], c[0]);
    rbVec3 s = rbSub(p, c[0]);
    double det = rbDot(rbCross(e1, e2), rbNeg(u));
    double x = rbDot(rbCross(s, e2), rbNeg(u)) / det;
    double y = rbDot(rbCross(e1, s), rbNeg(u)) / det;
    double t = rbDot(rbCross(e1, e2), s) / det;
    bool isIn = x >= -1e-12 && y >= -1e-12 && x + y <= 1.0 + 1e-12 && t >= 0.0;
    return isIn && fabs(det) > 1e-13 ? t : (double)INFINITY;
}

// The same for two edges: p + x e + t u = q + y f.
static double meetEdge(const rbVec3 a[2], rbVec3 u, const rbVec3 b[2])
{
    rbVec3 e = rbSub(a[1], a[0]);
    rbVec3 f = rbSub(b[1], b[0]);
    rbVec3 r = rbSub(b[0], a[0]);
    double det = rbDot(u, rbCross(e, f));
    double t = rbDot(r, rbCross(e, f)) / det;
    double x = rbDot(u, rbCross(r, f)) / det;
    double y = rbDot(u, rbCross(r, e)) / det;
    bool isIn = x >= -1e-12 && x <= 1.0 + 1e-12 && y >= -1e-12 && y <= 1.0 + 1e-12 && t >= 0.0;
    return isIn && fabs(det) > 1e-13 ? t : (double)INFINITY;
}

static double meetTriangles(const Triangle* a, rbVec3 u, const Triangle* b)
{
    double best = (double)INFINITY;
    for (int i = 0; i < 3; ++i) {
        best = fmin(best, meetTriangle(a->corners[i], u, b));
        best = fmin(best, meetTriangle(b->corners[i], rbNeg(u), a));
        const rbVec3 edgeA[2] = {a->corners[i], a->corners[(i + 1) % 3]};
        for (int j = 0; j < 3; ++j) {
            const rbVec3 edgeB[2] = {b->corners[j], b->corners[(j + 1) % 3]};
            best = fmin(best, meetEdge(edgeA, u, edgeB));
        }
    }
    return best;
}

// RX-03: boxes, hulls, polyhedra, meshes and soups against every pair of vertex and face and of
// edges, by Cramer's rule without any tree.
static void trianglesMeetWhereTheirFeaturesDo(void** state)
{
    (void)state;
    static const rbShapeType types[5] = {RB_SHAPE_BOX, RB_SHAPE_HULL, RB_SHAPE_POLYHEDRON,
                                         RB_SHAPE_MESH, RB_SHAPE_SOUP};
    rbRandom random = {rbTest_Seed(90403)};
    for (int i = 0; i < rbTest_Count(90, 5000); ++i) {
        Throw t = makeThrow(&random, types[i % 5], types[i / 5 % 5]);
        if (i % 6 == 5) {
            // hulls with this many faces are searched from a guess
            freeThrow(&t);
            t.a = makeHullSample(&random, 64);
            t.b = makeHullSample(&random, 64);
        }
        Triangle* a;
        Triangle* b;
        int countA = listTriangles(t.a, t.pose, &a);
        int countB = listTriangles(t.b, RB_TRANSFORM_IDENTITY, &b);
        double best = (double)INFINITY;
        for (int j = 0; j < countA * countB; ++j) {
            best = fmin(best, meetTriangles(&a[j / countB], t.step, &b[j % countB]));
        }
        rbShapeSweep sweep = sweepShapes(t.a, t.pose, t.step, t.b);
        assert_true(sweep.isExact);
        assert_int_equal(sweep.isHit, best <= 1.0);
        if (sweep.isHit) {
            checkNear(sweep.fraction, best, 1e-12);
        }
        free(a);
        free(b);
        freeThrow(&t);
    }
}

// RX-01, RX-02: a capsule of zero length is a sphere that uses the general row.
static void generalRowAgreesWithTheClosedForms(void** state)
{
    (void)state;
    static const rbShapeType types[5] = {RB_SHAPE_SPHERE, RB_SHAPE_BOX, RB_SHAPE_HULL,
                                         RB_SHAPE_POLYHEDRON, RB_SHAPE_MESH};
    rbRandom random = {rbTest_Seed(90404)};
    int hits = 0;
    int count = rbTest_Count(500, 20000);
    for (int i = 0; i < count; ++i) {
        Throw t = makeThrow(&random, RB_SHAPE_SPHERE, types[i % 5]);
        double radius = rbGeometry_GetData(t.a).sphere.radius;
        rbGeometry* round = rbCreateCapsule(radius, 0.0, NULL);
        rbShapeSweep closed = sweepShapes(t.a, t.pose, t.step, t.b);
        rbShapeSweep general = sweepShapes(round, t.pose, t.step, t.b);
        assert_true(closed.isExact);
        assert_int_equal(closed.isHit, general.isHit);
        if (closed.isHit) {
            assert_false(general.isExact);
            double closing = -rbDot(closed.normal, t.step);
            checkNear(closing * (closed.fraction - general.fraction), 0.0, 1e-9);
            ++hits;
        }
        rbDestroyGeometry(round);
        freeThrow(&t);
    }
    assert_true(hits > count / 4);
}

RB_TEST_GROUP(prop_shape_sweep, cmocka_unit_test(firstContactIsWhereTheDistanceVanishes),
              cmocka_unit_test(smallBodiesMeetWallsFromWithin),
              cmocka_unit_test(overlapAtTheStartIsInside),
              cmocka_unit_test(trianglesMeetWhereTheirFeaturesDo),
              cmocka_unit_test(generalRowAgreesWithTheClosedForms));
