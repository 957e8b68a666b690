// Meshes, soups, polyhedra and compounds of them against everything, at random: compared with
// convex shapes converted to meshes, with all triangles one by one, and under changes that must not
// matter.
#include "collision/convex/gjk.h"
#include "collision/geometry/closest.h"
#include "lab/math/random3.h"
#include "mesh_shapes.h"
#include "pair_support.h"
#include "rb_test.h"

#include <math.h>

static const rbShapeType meshTypes[3] = {RB_SHAPE_MESH, RB_SHAPE_POLYHEDRON, RB_SHAPE_SOUP};
static const rbShapeType convexTypes[7] = {RB_SHAPE_SPHERE,   RB_SHAPE_BOX,  RB_SHAPE_CAPSULE,
                                           RB_SHAPE_CYLINDER, RB_SHAPE_CONE, RB_SHAPE_HULL,
                                           RB_SHAPE_ELLIPSOID};

static double scratch[1 << 15];

static rbSeparationInput makeInput(const rbGeometry* a, const rbGeometry* b, rbTransform t)
{
    assert_true(rbGetSeparationScratchSize() <= sizeof scratch);
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA = t;
    return input;
}

static rbSeparation measureInput(const rbSeparationInput* input)
{
    rbSeparation s;
    rbError error = {0};
    rbStatus status = rbMeasureSeparation(input, NULL, scratch, &s, &error);
    if (status != RB_STATUS_OK) {
        print_message("%s\n", error.message);
    }
    assert_int_equal(status, RB_STATUS_OK);
    assert_true(s.lower <= s.upper);
    assert_true(s.distance >= s.lower && s.distance <= s.upper);
    checkNear(rbLength(s.normal), 1.0, 1e-12);
    return s;
}

static rbSeparation measure(const rbGeometry* a, const rbGeometry* b, rbTransform t)
{
    rbSeparationInput input = makeInput(a, b, t);
    return measureInput(&input);
}

static bool test(const rbGeometry* a, const rbGeometry* b, rbTransform t, double margin)
{
    rbSeparationInput input = makeInput(a, b, t);
    bool overlaps;
    rbError error = {0};
    assert_int_equal(rbTestOverlap(&input, margin, NULL, &overlaps, &error), RB_STATUS_OK);
    return overlaps;
}

static rbTransform makePose(rbRandom* random, double far)
{
    return (rbTransform){rbScale(rbRandom_Range(random, 0.0, far), rbRandom_Direction(random)),
                         rbRandom_Quat(random)};
}

static bool isSmooth(rbShapeType type)
{
    return type == RB_SHAPE_CYLINDER || type == RB_SHAPE_CONE || type == RB_SHAPE_ELLIPSOID;
}

static rbGeometry* makeConvex(rbRandom* random, rbShapeType type)
{
    return makeRandomShape(random, type);
}

// Are the bodies separated, or just touching, when B is moved by -lower along the normal?
static void checkParts(const rbGeometry* a, const rbGeometry* b, rbTransform t,
                       const rbSeparation* s)
{
    rbTransform moved = t;
    moved.p = rbAddScaled(t.p, -s->lower, s->normal);
    rbSeparation after = measure(a, b, moved);
    assert_true(after.distance > -1e-7);
}

// A convex solid given as a mesh is that solid: when separated the distance is the same, in overlap
// the bounds contain the depth.
static void convexMeshesAreMeasuredAsConvex(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(401)};
    int count = rbTest_Count(3000, 60000);
    int estimates = 0;
    double ratioSum = 0.0;
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        rbGeometry* solid =
            makeConvex(&random, rbRandom_Index(&random, 2) == 0 ? RB_SHAPE_BOX : RB_SHAPE_HULL);
        rbShapeType type = meshTypes[rbRandom_Index(&random, 3)];
        rbGeometry* mesh = makeMeshOf(solid, type);
        rbShapeType other = convexTypes[rbRandom_Index(&random, 7)];
        rbGeometry* b = makeConvex(&random, other);
        rbTransform t = makePose(&random, 3.0);
        rbSeparation truth = measure(solid, b, t);
        rbSeparation s = measure(mesh, b, t);
        double scale = pairScale(solid, b, t);
        bool isTrueToBounds = truth.upper - truth.lower <= 1e-8 * scale;
        if (truth.lower > 0.0) {
            double tolerance = isSmooth(other) ? 1e-10 : 1e-12;
            checkNear(s.distance, truth.distance, tolerance * scale);
            assert_true(s.lower <= truth.upper && truth.lower <= s.upper);
            assert_int_equal(s.reason, RB_STOP_SURFACES);
            checkBelow(rbDistance(rbSub(s.pointB, s.pointA), rbScale(s.distance, s.normal)),
                       2e-6 * scale);
            assert_true(s.faceA >= 0 && s.faceB == -1);
            worst = fmax(worst, fabs(s.distance - truth.distance) / scale);
        } else if (truth.upper < 0.0) {
            if (type != RB_SHAPE_SOUP) {
                assert_true(s.lower <= truth.upper);
                assert_true(s.upper >= truth.lower);
                if (isTrueToBounds && truth.distance < -1e-3) {
                    ++estimates;
                    ratioSum += s.distance / truth.distance;
                }
                assert_true(s.distance <= 1e-12 * scale);
            }
            checkParts(mesh, b, t, &s);
        }
        rbDestroyGeometry(solid);
        rbDestroyGeometry(mesh);
        rbDestroyGeometry(b);
    }
    double mean = estimates > 0 ? ratioSum / estimates : 1.0;
    print_message("%d pairs: apart within %.1e of the scale; %d depths, %.3f times the least\n",
                  count, worst, estimates, mean);
    checkBelow(mean, 1.5);
}

// Distance of a convex shape to all triangles, one by one.
static double measureAll(const rbGeometry* mesh, const rbGeometry* convex, rbTransform t)
{
    rbMeshDef def;
    assert_true(rbGeometry_GetMesh(mesh, &def));
    rbTriangles triangles;
    rbError error = {0};
    rbConvex core;
    assert_true(rbConvex_Make(convex, 0.0, &core));
    bool isPolytope =
        rbGeometry_GetType(convex) == RB_SHAPE_BOX || rbGeometry_GetType(convex) == RB_SHAPE_HULL;
    assert_int_equal(rbGeometry_Triangulate(mesh, 1.0, 1.0, &triangles, &error), RB_STATUS_OK);
    rbTriangles shell = {0};
    if (isPolytope) {
        assert_int_equal(rbGeometry_Triangulate(convex, 1.0, 1.0, &shell, &error), RB_STATUS_OK);
    }
    double least = INFINITY;
    for (int i = 0; i < triangles.triangleCount; ++i) {
        rbVec3 corners[3];
        for (int k = 0; k < 3; ++k) {
            corners[k] = triangles.vertices[triangles.triangles[i][k]];
        }
        if (isPolytope && rbGeometry_Contains(convex, rbInvTransformPoint(t, corners[0]))) {
            least = 0.0; // the whole triangle may be inside
        }
        for (int j = 0; j < shell.triangleCount; ++j) {
            rbVec3 other[3];
            for (int k = 0; k < 3; ++k) {
                other[k] = rbTransformPoint(t, shell.vertices[shell.triangles[j][k]]);
            }
            least = fmin(least, sqrt(rbClosestOfTriangles(corners, other, INFINITY).squared));
        }
        if (!isPolytope) {
            rbConvex triangle;
            rbConvex_MakePoints(corners, 3, 2.0, 0.0, &triangle);
            rbCso cso = rbCso_Make(&triangle, &core, t);
            rbGjkResult gjk = rbGjk_Distance(&cso, NULL, NULL);
            rbGjk_Tighten(&cso, NULL, &gjk);
            least = fmin(least, gjk.overlaps ? 0.0 : gjk.upper);
        }
    }
    rbFreeTriangles(&triangles);
    if (isPolytope) {
        rbFreeTriangles(&shell);
    }
    return least - core.radius;
}

static rbGeometry* makeRough(rbRandom* random)
{
    int kind = rbRandom_Index(random, 4);
    int size = rbRandom_Index(random, 6);
    return kind == 0   ? makeBumpy(random, 4 + size, 5 + size, RB_SHAPE_MESH)
           : kind == 1 ? makeRandomSoup(random, 1 + 10 * size)
           : kind == 2 ? makeStar(random, 5 + 2 * size, RB_SHAPE_POLYHEDRON)
                       : makeStar(random, 5 + 2 * size, RB_SHAPE_MESH);
}

// Meshes that are not convex: the nearest of all triangles.
static void theNearestTriangleIsFound(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(402)};
    int count = rbTest_Count(1000, 20000);
    int apart = 0;
    for (int i = 0; i < count; ++i) {
        rbGeometry* mesh = makeRough(&random);
        rbShapeType type = convexTypes[rbRandom_Index(&random, 7)];
        rbGeometry* b = makeConvex(&random, type);
        rbTransform t = makePose(&random, 3.0);
        double scale = pairScale(mesh, b, t);
        double truth = measureAll(mesh, b, t);
        rbSeparation s = measure(mesh, b, t);
        if (truth > 1e-9 * scale && s.distance > 0.0) { // and not inside
            double tolerance = isSmooth(type) ? 1e-10 : 1e-12;
            checkNear(s.distance, truth, tolerance * scale);
            assert_true(s.lower <= truth + tolerance * scale);
            assert_true(truth - tolerance * scale <= s.upper);
            ++apart;
        } else if (truth > 1e-9 * scale) {
            assert_true(rbGeometry_IsSolid(mesh));
            assert_true(rbGeometry_Contains(
                mesh, rbTransformPoint(t, rbGeometry_GetSupport(b, rbMakeVec3(1, 0, 0)))));
        } else if (truth < -1e-9 * scale) {
            assert_true(s.distance <= truth + 1e-9 * scale);
            checkParts(mesh, b, t, &s);
        }
        rbDestroyGeometry(mesh);
        rbDestroyGeometry(b);
    }
    print_message("%d pairs, %d apart\n", count, apart);
    assert_true(apart > count / 10);
}

// A half space: the lowest vertex, exactly.
static void planesAreMetByTheLowestVertex(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(403)};
    int count = rbTest_Count(1000, 20000);
    for (int i = 0; i < count; ++i) {
        rbGeometry* mesh = makeRough(&random);
        rbGeometry* plane = makeAnyShape(&random, RB_SHAPE_PLANE);
        rbTransform t = makePose(&random, 3.0);
        rbSeparation s = measure(mesh, plane, t);
        rbShapeData data = rbGeometry_GetData(plane);
        rbVec3 up = rbRotate(t.q, data.plane.normal);
        rbMeshDef def;
        assert_true(rbGeometry_GetMesh(mesh, &def));
        double least = INFINITY;
        for (int k = 0; k < def.vertexCount; ++k) {
            least = fmin(least, rbDot(up, rbSub(def.vertices[k], t.p)) - data.plane.offset);
        }
        checkNear(s.distance, least, 1e-14);
        assert_true(s.lower <= least && least <= s.upper);
        assert_true(s.faceA >= 0 && s.faceB == -1);
        rbSeparation flipped = measure(plane, mesh, rbInvertTransform(t));
        checkNear(flipped.distance, least, 1e-13);
        assert_true(flipped.faceA == -1 && flipped.faceB >= 0);
        rbDestroyGeometry(mesh);
        rbDestroyGeometry(plane);
    }
}

// Neither the order of the two nor an explicitly added rounding changes the distance; and the
// overlap test agrees with the distance.
static void orderAndRoundingAreConsistent(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(404)};
    int count = rbTest_Count(1500, 30000);
    for (int i = 0; i < count; ++i) {
        rbGeometry* mesh = makeRough(&random);
        rbGeometry* b = makeConvex(&random, convexTypes[rbRandom_Index(&random, 7)]);
        rbTransform t = makePose(&random, 2.5);
        double scale = pairScale(mesh, b, t);
        rbSeparation s = measure(mesh, b, t);
        rbSeparation flipped = measure(b, mesh, rbInvertTransform(t));
        assert_true(s.lower <= flipped.upper + 1e-12 && flipped.lower <= s.upper + 1e-12);
        if (s.distance > 0.0) {
            checkNear(flipped.distance, s.distance, 1e-11 * scale);
            checkBelow(rbDistance(rbTransformPoint(t, flipped.pointB), s.pointA) *
                           (s.distance > 0.1 ? 1.0 : 0.0),
                       2.0 * scale); // points need not be unique
            assert_int_equal(flipped.faceA, -1);
        }
        if (fabs(s.distance) > 1e-8 * scale) {
            assert_int_equal(test(mesh, b, t, 0.0), s.distance < 0.0);
            assert_int_equal(test(b, mesh, rbInvertTransform(t), 0.0), s.distance < 0.0);
        }
        if (s.distance > 1e-6) {
            assert_true(test(mesh, b, t, s.distance * 1.0001));
            assert_false(test(mesh, b, t, s.distance * 0.9999));
            rbSeparationInput input = makeInput(mesh, b, t);
            input.radiusA = 0.5 * rbRandom_Unit(&random) * s.distance;
            input.radiusB = 0.4 * rbRandom_Unit(&random) * s.distance;
            rbSeparation rounded = measureInput(&input);
            checkNear(rounded.distance, s.distance - input.radiusA - input.radiusB, 1e-11 * scale);
        }
        rbDestroyGeometry(mesh);
        rbDestroyGeometry(b);
    }
}

// Compounds of meshes, spheres and compounds: the nearest of the parts.
static double measureParts(const rbGeometry* a, rbTransform ta, const rbGeometry* b, rbTransform tb)
{
    int count;
    const rbCompoundChild* children = rbGeometry_GetChildren(a, &count);
    double least = INFINITY;
    for (int i = 0; i < count; ++i) {
        rbTransform t = rbMulTransforms(ta, children[i].transform);
        least = fmin(least, measureParts(children[i].geometry, t, b, tb));
    }
    if (count > 0) {
        return least;
    }
    children = rbGeometry_GetChildren(b, &count);
    for (int i = 0; i < count; ++i) {
        rbTransform t = rbMulTransforms(tb, children[i].transform);
        least = fmin(least, measureParts(a, ta, children[i].geometry, t));
    }
    return count > 0 ? least : measure(a, b, rbInvMulTransforms(ta, tb)).distance;
}

static void compoundsAreTheirNearestParts(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(405)};
    int count = rbTest_Count(400, 8000);
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = makeAnyShape(&random, RB_SHAPE_COMPOUND);
        rbGeometry* b = makeAnyShape(&random, (rbShapeType)rbRandom_Index(&random, RB_SHAPE_COUNT));
        rbTransform t = makePose(&random, 5.0);
        rbSeparation s = measure(a, b, t);
        double truth = measureParts(a, RB_TRANSFORM_IDENTITY, b, t);
        if (truth > 0.0) {
            checkNear(s.distance, truth, 1e-11);
        } else {
            assert_true(s.distance <= 1e-11);
        }
        if (fabs(truth) > 1e-8) {
            assert_int_equal(test(a, b, t, 0.0), truth < 0.0);
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
}

// With a budget or a tolerance the bounds still hold; with a cache the answer is the same.
static void budgetsToleranceAndCacheKeepTheBounds(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(406)};
    int count = rbTest_Count(300, 6000);
    for (int i = 0; i < count; ++i) {
        rbGeometry* mesh = makeBumpy(&random, 12, 14, RB_SHAPE_MESH);
        rbGeometry* b = makeConvex(&random, convexTypes[rbRandom_Index(&random, 7)]);
        rbTransform t = makePose(&random, 3.0);
        rbSeparationInput input = makeInput(mesh, b, t);
        rbSeparation truth = measureInput(&input);
        for (int budget = 1; budget < 300; budget *= 3) {
            input.budget = budget;
            rbSeparation s = measureInput(&input);
            assert_true(s.lower <= truth.upper + 1e-13 && truth.lower <= s.upper + 1e-13);
            assert_true(truth.distance <= 0.0 || s.iterations <= budget);
        }
        input.budget = 0;
        input.relativeTolerance = 0.1;
        rbSeparation rough = measureInput(&input);
        assert_true(rough.lower <= truth.upper + 1e-13 && truth.lower <= rough.upper + 1e-13);
        if (truth.distance > 0.0) {
            checkBelow(rough.upper - rough.lower, 0.1 * (rough.upper + 2.0) + 1e-12);
        }
        input.relativeTolerance = 0.0;
        rbSeparationCache cache = {{0.0}, NULL};
        for (int step = 0; step < 4; ++step) {
            input.transformBtoA.p.x += 0.01;
            rbSeparation cold = measureInput(&input);
            rbSeparation warm;
            rbError error = {0};
            assert_int_equal(rbMeasureSeparation(&input, &cache, scratch, &warm, &error),
                             RB_STATUS_OK);
            assert_true(cold.lower <= warm.upper && warm.lower <= cold.upper);
            if (cold.distance > 0.0) {
                checkNear(warm.distance, cold.distance, 1e-11);
            }
        }
        rbDestroyGeometry(mesh);
        rbDestroyGeometry(b);
    }
}

// The same mesh or hull, larger by a factor.
static rbGeometry* makeScaled(const rbGeometry* geometry, double factor)
{
    rbMeshDef def;
    rbVec3 vertices[1024];
    rbError error = {0};
    rbShapeData data = rbGeometry_GetData(geometry);
    if (rbGeometry_GetType(geometry) == RB_SHAPE_SPHERE) {
        return rbCreateSphere(factor * data.sphere.radius, &error);
    }
    if (rbGeometry_GetType(geometry) == RB_SHAPE_BOX) {
        return rbCreateBox(rbScale(factor, data.box.halfExtents), &error);
    }
    assert_true(rbGeometry_GetMesh(geometry, &def) && def.vertexCount <= 1024);
    for (int i = 0; i < def.vertexCount; ++i) {
        vertices[i] = rbScale(factor, def.vertices[i]);
    }
    if (rbGeometry_GetType(geometry) == RB_SHAPE_HULL) {
        return rbCreateHull(vertices, def.vertexCount, &error);
    }
    def.vertices = vertices;
    return rbCreateSoup(&def, &error);
}

// No length is built in: distances and depths scale with the bodies.
static void sizesDoNotMatter(void** state)
{
    (void)state;
    static const rbShapeType types[3] = {RB_SHAPE_SPHERE, RB_SHAPE_BOX, RB_SHAPE_HULL};
    rbRandom random = {rbTest_Seed(407)};
    int count = rbTest_Count(500, 10000);
    for (int i = 0; i < count; ++i) {
        rbGeometry* rough = makeRough(&random);
        rbGeometry* mesh = makeScaled(rough, 1.0);
        rbGeometry* b = makeConvex(&random, types[rbRandom_Index(&random, 3)]);
        double factor = ldexp(1.0, 10 * (rbRandom_Index(&random, 5) - 1));
        rbGeometry* otherMesh = makeScaled(mesh, factor);
        rbGeometry* otherB = makeScaled(b, factor);
        rbTransform t = makePose(&random, 2.5);
        rbSeparation s = measure(mesh, b, t);
        double scale = pairScale(mesh, b, t);
        rbTransform far = {rbScale(factor, t.p), t.q};
        rbSeparation other = measure(otherMesh, otherB, far);
        checkNear(other.distance / factor, s.distance, 1e-9 * scale);
        checkNear(other.lower / factor, s.lower, 1e-9 * scale);
        assert_int_equal(other.reason, s.reason);
        rbDestroyGeometry(rough);
        rbDestroyGeometry(mesh);
        rbDestroyGeometry(otherMesh);
        rbDestroyGeometry(b);
        rbDestroyGeometry(otherB);
    }
}

RB_TEST_GROUP(prop_mesh_pairs, cmocka_unit_test(convexMeshesAreMeasuredAsConvex),
              cmocka_unit_test(theNearestTriangleIsFound),
              cmocka_unit_test(planesAreMetByTheLowestVertex),
              cmocka_unit_test(orderAndRoundingAreConsistent),
              cmocka_unit_test(compoundsAreTheirNearestParts),
              cmocka_unit_test(budgetsToleranceAndCacheKeepTheBounds),
              cmocka_unit_test(sizesDoNotMatter));
