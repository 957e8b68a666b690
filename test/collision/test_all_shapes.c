// Properties of every row of the shape table.
#include "collision/geometry/shape_ops.h"
#include "shape_samples.h"

#include <math.h>
#include <string.h>

// no row is empty, and names map back to types
static void everyRowIsComplete(void** state)
{
    (void)state;
    for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
        const rbShapeOps* ops = rbGetShapeOps((rbShapeType)type);
        assert_non_null(ops);
        assert_true(ops->name != NULL && strlen(ops->name) > 0);
        assert_true((ops->mass != NULL) != (ops->solid != NULL));
        assert_true(ops->support != NULL && ops->bounds != NULL);
        assert_true(ops->radius != NULL && ops->contains != NULL);
        bool hasParts = ops->family == RB_FAMILY_COMPOUND || ops->family == RB_FAMILY_HULL ||
                        ops->family == RB_FAMILY_TRIANGLES;
        assert_true((ops->castRay != NULL) != hasParts);
        assert_true(ops->triangulate != NULL || ops->getSemiAxes != NULL || ops->outline != NULL);
        assert_true(ops->hash != NULL || ops->parameters != NULL);
        assert_int_equal(rbShapeType_Find(ops->name), type);
    }
    assert_int_equal(rbShapeType_Find("dodecahedron"), RB_SHAPE_COUNT);
    rbRandom random = {rbTest_Seed(1)};
    for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
        rbGeometry* g = makeSample(&random, (rbShapeType)type);
        assert_int_equal(rbGeometry_GetType(g), type);
        assert_int_equal(rbGeometry_GetData(g).type, type);
        rbDestroyGeometry(g);
    }
}

static void checkSupport(const rbGeometry* g, const rbTriangles* triangles, double deviation,
                         rbRandom* random)
{
    rbVec3 d = rbRandom_Direction(random);
    rbVec3 s = rbGeometry_GetSupport(g, rbScale(rbRandom_Range(random, 1e-3, 1e3), d));
    double largest = -INFINITY;
    for (int i = 0; i < triangles->vertexCount; ++i) {
        double value = rbDot(d, triangles->vertices[i]);
        largest = value > largest ? value : largest;
    }
    checkBelow(largest, rbDot(d, s) + 1e-13);
    checkBelow(rbDot(d, s), largest + deviation + 1e-13);
    // the support point itself is in the convex hull of the shape: no direction exceeds it
    rbVec3 e = rbRandom_Direction(random);
    checkBelow(rbDot(e, s), rbDot(e, rbGeometry_GetSupport(g, e)) + 1e-13);
    // bounds of a moved shape are its supports along the axes
    rbTransform t = randomTransform(random, 5.0);
    rbBounds bounds = rbGeometry_GetBounds(g, t);
    const double lower[3] = {bounds.lower.x, bounds.lower.y, bounds.lower.z};
    const double upper[3] = {bounds.upper.x, bounds.upper.y, bounds.upper.z};
    for (int k = 0; k < 3; ++k) {
        rbVec3 axis = {k == 0, k == 1, k == 2};
        rbVec3 high = rbGeometry_GetSupport(g, rbInvRotate(t.q, axis));
        rbVec3 low = rbGeometry_GetSupport(g, rbInvRotate(t.q, rbNeg(axis)));
        checkNear(rbDot(axis, rbTransformPoint(t, high)), upper[k], 1e-13);
        checkNear(rbDot(axis, rbTransformPoint(t, low)), lower[k], 1e-13);
    }
}

// L-01
static void supportsAreExtremalAndInTheBounds(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2)};
    int repeats = rbTest_Count(10, 200);
    for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
        for (int k = 0; k < repeats && type != RB_SHAPE_PLANE; ++k) {
            rbGeometry* g = makeSample(&random, (rbShapeType)type);
            rbTriangles triangles;
            rbError error = {0};
            const double deviation = 1e-3;
            assert_int_equal(rbGeometry_Triangulate(g, deviation, 1.0, &triangles, &error),
                             RB_STATUS_OK);
            for (int i = 0; i < 20; ++i) {
                checkSupport(g, &triangles, deviation, &random);
            }
            // radius about points inside and far away
            for (int i = 0; i < 20; ++i) {
                rbVec3 p = randomVec3(&random, i % 2 == 0 ? 0.5 : 10.0);
                double largest = 0.0;
                for (int v = 0; v < triangles.vertexCount; ++v) {
                    largest = fmax(largest, rbDistance(p, triangles.vertices[v]));
                }
                double radius = rbGeometry_GetRadius(g, p);
                checkBelow(largest, radius + 1e-13 * (1.0 + radius));
                checkBelow(radius, largest + deviation + 1e-13 * (1.0 + radius));
            }
            rbFreeTriangles(&triangles);
            rbDestroyGeometry(g);
        }
    }
}

static void radiusOfAnEllipsoidIsTheFarthestPoint(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3)};
    rbError error = {0};
    // The hard case: a point on the plane of the two shorter axes, where the farthest point is not
    // opposite to it; on the long axis and in the middle the answers are known
    rbGeometry* g = rbCreateEllipsoid(rbMakeVec3(1.0, 2.0, 3.0), &error);
    requireOk(g, &error);
    checkNear(rbGeometry_GetRadius(g, RB_VEC3_ZERO), 3.0, 1e-15);
    checkNear(rbGeometry_GetRadius(g, rbMakeVec3(0.0, 0.0, -0.5)), 3.5, 1e-14);
    checkNear(rbGeometry_GetRadius(g, rbMakeVec3(100.0, 0.0, 0.0)), 101.0, 1e-12);
    for (int k = 0; k < rbTest_Count(100, 3000); ++k) {
        rbVec3 p = randomVec3(&random, k % 3 == 0 ? 0.3 : 3.0);
        p.z = k % 2 == 0 ? 0.0 : p.z;
        // projected ascent from many starts
        double best = 0.0;
        for (int start = 0; start < 12; ++start) {
            rbVec3 x = rbGeometry_GetSupport(g, rbRandom_Direction(&random));
            for (int i = 0; i < 400; ++i) {
                x = rbGeometry_GetSupport(g, rbSub(x, p));
            }
            best = fmax(best, rbDistance(x, p));
        }
        double radius = rbGeometry_GetRadius(g, p);
        checkBelow(best, radius * (1.0 + 1e-14));
        checkNear(radius, best, 1e-5);
    }
    rbDestroyGeometry(g);
}

// Number of surface crossings along a ray.
static int countCrossings(const rbGeometry* g, rbVec3 origin, rbVec3 direction)
{
    int count = 0;
    rbRay ray = {origin, direction, INFINITY};
    rbRayHit hit;
    while (rbGeometry_CastRay(g, &ray, &hit)) {
        ++count;
        ray.origin = rbAddScaled(hit.point, 1e-9, direction);
        assert_true(count < 100);
    }
    return count;
}

// L-01, R-04, R-05, R-06, R-07
static void insideTestsAgreeWithRays(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4)};
    int repeats = rbTest_Count(20, 300);
    for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
        int insideCount = 0;
        for (int k = 0; k < repeats && type != RB_SHAPE_SOUP; ++k) {
            rbGeometry* g = makeSample(&random, (rbShapeType)type);
            assert_true(rbGeometry_IsSolid(g));
            for (int i = 0; i < 30; ++i) {
                rbVec3 p = randomVec3(&random, 1.2);
                p.x *= type == RB_SHAPE_COMPOUND ? 4.0 : 1.0;
                rbVec3 d = rbRandom_Direction(&random);
                bool isInside = rbGeometry_Contains(g, p);
                insideCount += isInside;
                if (type == RB_SHAPE_PLANE) { // odd only if the ray leaves, and not along it
                    rbVec3 n = rbGeometry_GetData(g).plane.normal;
                    d = rbDot(d, n) < 0.0 ? rbNeg(d) : d;
                    d = rbNormalize(rbAddScaled(d, 0.1, n));
                }
                assert_int_equal(countCrossings(g, p, d) % 2, isInside ? 1 : 0);
            }
            rbDestroyGeometry(g);
        }
        assert_true(type == RB_SHAPE_SOUP || insideCount > 0); // both answers occurred
    }
}

static void checkHit(const rbGeometry* g, const rbRay* ray, const rbRayHit* hit)
{
    const double small = 1e-6;
    rbVec3 d = rbNormalize(ray->direction);
    double slope = rbDot(hit->normal, d);
    checkNear(rbLength(hit->normal), 1.0, 1e-14);
    checkNear(rbDistance(hit->point, rbAddScaled(ray->origin, hit->t, ray->direction)), 0.0,
              1e-14 * (1.0 + rbLength(hit->point)));
    if (fabs(slope) < 0.05) {
        return;
    }
    rbVec3 before = rbAddScaled(hit->point, -small, d);
    rbVec3 after = rbAddScaled(hit->point, small, d);
    assert_int_equal(rbGeometry_Contains(g, before), slope > 0.0);
    assert_int_equal(rbGeometry_Contains(g, after), slope < 0.0);
    assert_false(rbGeometry_Contains(g, rbAddScaled(hit->point, small, hit->normal)));
    assert_true(rbGeometry_Contains(g, rbAddScaled(hit->point, -small, hit->normal)));
}

static void raysStopWhereTheInsideBegins(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5)};
    int repeats = rbTest_Count(20, 300);
    for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
        int hits = 0;
        for (int k = 0; k < repeats && type != RB_SHAPE_SOUP; ++k) {
            rbGeometry* g = makeSample(&random, (rbShapeType)type);
            for (int i = 0; i < 40; ++i) {
                rbRay ray = {randomVec3(&random, 3.0), rbRandom_Direction(&random), INFINITY};
                rbVec3 target = randomVec3(&random, 0.5);
                ray.direction = i % 2 == 0 ? rbSub(target, ray.origin) : ray.direction;
                rbRayHit hit;
                bool isHit = rbGeometry_CastRay(g, &ray, &hit);
                hits += isHit;
                double end = isHit ? hit.t : 8.0 / rbLength(ray.direction);
                bool startsInside = rbGeometry_Contains(g, ray.origin);
                for (int s = 0; s < 10; ++s) {
                    double t = end * (1.0 - 1e-6) * rbRandom_Unit(&random);
                    rbVec3 p = rbAddScaled(ray.origin, t, ray.direction);
                    assert_int_equal(rbGeometry_Contains(g, p), startsInside);
                }
                if (isHit) {
                    checkHit(g, &ray, &hit);
                    // a ray that ends before is not a hit, and one that ends there is
                    ray.tMax = hit.t * (1.0 - 1e-9);
                    assert_false(rbGeometry_CastRay(g, &ray, &hit));
                    ray.tMax = end * (1.0 + 1e-15);
                    assert_true(rbGeometry_CastRay(g, &ray, &hit));
                }
            }
            rbDestroyGeometry(g);
        }
        assert_true(type == RB_SHAPE_SOUP || hits > repeats);
    }
}

// Rays that start 1e5 sizes away lose only the digits of their origin.
static void raysFromFarAwayHitTheSurface(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6)};
    for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
        for (int k = 0; k < 50 && type != RB_SHAPE_PLANE && type != RB_SHAPE_SOUP; ++k) {
            rbGeometry* g = makeSample(&random, (rbShapeType)type);
            rbVec3 d = rbRandom_Direction(&random);
            // a point of the surface seen from inside or outside
            rbRay near = {randomVec3(&random, 2.0), d, INFINITY};
            rbRay far = {rbAddScaled(near.origin, -1e5, d), d, INFINITY};
            rbRayHit hit;
            if (rbGeometry_CastRay(g, &far, &hit) && fabs(rbDot(hit.normal, d)) > 0.1) {
                rbRay check = {rbAddScaled(hit.point, -1e-3, d), d, INFINITY};
                rbRayHit again;
                assert_true(rbGeometry_CastRay(g, &check, &again));
                checkNear(again.t, 1e-3, 1e-8);
            }
            rbDestroyGeometry(g);
        }
    }
}

typedef struct Moments {
    double v, x, y, z, xx, yy, zz, xy, xz, yz;
} Moments;

// Adds the chord z0 .. z1 at (x, y) with a weight.
static void addChord(Moments* m, double x, double y, const double z[2], double weight)
{
    double l = weight * (z[1] - z[0]);
    double lz = weight * (z[1] * z[1] - z[0] * z[0]) / 2.0;
    m->v += l;
    m->x += l * x;
    m->y += l * y;
    m->z += lz;
    m->xx += l * x * x;
    m->yy += l * y * y;
    m->zz += weight * (z[1] * z[1] * z[1] - z[0] * z[0] * z[0]) / 3.0;
    m->xy += l * x * y;
    m->xz += lz * x;
    m->yz += lz * y;
}

static void compareMoments(const Moments* m, const rbMassProperties* p, double tolerance)
{
    checkRelative(m->v, p->volume, tolerance);
    rbVec3 c = {m->x / m->v, m->y / m->v, m->z / m->v};
    checkNear(rbDistance(c, p->center), 0.0, tolerance);
    rbVec3 s = {m->xx - m->v * c.x * c.x, m->yy - m->v * c.y * c.y, m->zz - m->v * c.z * c.z};
    double scale = tolerance * (p->inertia.xx + p->inertia.yy + p->inertia.zz);
    checkNear(s.y + s.z, p->inertia.xx, scale);
    checkNear(s.x + s.z, p->inertia.yy, scale);
    checkNear(s.x + s.y, p->inertia.zz, scale);
    checkNear(m->v * c.x * c.y - m->xy, p->inertia.xy, scale);
    checkNear(m->v * c.x * c.z - m->xz, p->inertia.xz, scale);
    checkNear(m->v * c.y * c.z - m->yz, p->inertia.yz, scale);
}

// The chord of a convex shape above (x, y), by rays from below and above.
static bool getChord(const rbGeometry* g, double x, double y, double z[2])
{
    rbRay up = {{x, y, -10.0}, {0.0, 0.0, 1.0}, INFINITY};
    rbRay down = {{x, y, 10.0}, {0.0, 0.0, -1.0}, INFINITY};
    rbRayHit a, b;
    if (!rbGeometry_CastRay(g, &up, &a) || !rbGeometry_CastRay(g, &down, &b)) {
        return false;
    }
    z[0] = a.point.z;
    z[1] = b.point.z;
    return true;
}

// End of the y range of a slice: between a y inside and one outside.
static double findEnd(const rbGeometry* g, double x, double inside, double outside)
{
    double z[2];
    for (int i = 0; i < 50; ++i) {
        double middle = 0.5 * (inside + outside);
        bool isIn = getChord(g, x, middle, z);
        inside = isIn ? middle : inside;
        outside = isIn ? outside : middle;
    }
    return inside;
}

// Chords over a convex shape with y = c + r sin a in each slice and likewise for x: the
// substitution removes the square roots at the silhouette, the midpoint rule then has order 4 for
// smooth shapes.
static Moments integrateConvex(const rbGeometry* g, int n)
{
    Moments m = {0};
    rbVec3 low = rbGeometry_GetSupport(g, rbMakeVec3(-1.0, 0.0, 0.0));
    rbVec3 high = rbGeometry_GetSupport(g, rbMakeVec3(1.0, 0.0, 0.0));
    for (int i = 0; i < n; ++i) {
        double a = RB_PI * ((i + 0.5) / n - 0.5);
        double rx = 0.5 * (high.x - low.x);
        double x = 0.5 * (high.x + low.x) + rx * sin(a);
        // the segment between the two extreme points is inside the shape
        double s = (x - low.x) / (high.x - low.x);
        double y = low.y + s * (high.y - low.y);
        double yLow = findEnd(g, x, y, -10.0);
        double yHigh = findEnd(g, x, y, 10.0);
        double ry = 0.5 * (yHigh - yLow);
        for (int k = 0; k < n; ++k) {
            double b = RB_PI * ((k + 0.5) / n - 0.5);
            double yk = 0.5 * (yHigh + yLow) + ry * sin(b);
            double z[2];
            if (getChord(g, x, yk, z)) {
                double weight = rx * cos(a) * ry * cos(b) * (RB_PI / n) * (RB_PI / n);
                addChord(&m, x, yk, z, weight);
            }
        }
    }
    return m;
}

// Chords of any solid over a regular grid.
static Moments integrateGrid(const rbGeometry* g, int n)
{
    Moments m = {0};
    rbBounds bounds = rbGeometry_GetBounds(g, RB_TRANSFORM_IDENTITY);
    rbVec3 size = rbSub(bounds.upper, bounds.lower);
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) {
            double x = bounds.lower.x + size.x * (i + 0.5) / n;
            double y = bounds.lower.y + size.y * (k + 0.5) / n;
            rbRay ray = {{x, y, bounds.lower.z - 1.0}, {0.0, 0.0, 1.0}, INFINITY};
            rbRayHit hit;
            double z[2] = {0.0, 0.0};
            for (int side = 0; rbGeometry_CastRay(g, &ray, &hit); side = 1 - side) {
                z[side] = hit.point.z;
                if (side == 1) {
                    addChord(&m, x, y, z, size.x * size.y / n / n);
                }
                ray.origin.z = hit.point.z + 1e-10;
            }
        }
    }
    return m;
}

// L-05, B-02
static void massIsTheIntegralOverTheInside(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(7)};
    for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
        for (int k = 0; k < rbTest_Count(2, 10); ++k) {
            rbGeometry* g = makeSample(&random, (rbShapeType)type);
            rbMassProperties p;
            rbError error = {0};
            rbStatus status = rbGeometry_GetMass(g, 1.0, &p, &error);
            if (type == RB_SHAPE_PLANE || type == RB_SHAPE_SOUP) {
                assert_int_equal(status, RB_STATUS_UNSUPPORTED);
                assert_true(strlen(error.message) > 20);
            } else {
                assert_int_equal(status, RB_STATUS_OK);
                assert_int_equal(rbMassProperties_Validate(&p, &error), RB_STATUS_OK);
                bool isSmooth = type == RB_SHAPE_SPHERE || type == RB_SHAPE_ELLIPSOID;
                Moments m = rbGeometry_IsConvex(g) ? integrateConvex(g, isSmooth ? 128 : 256)
                                                   : integrateGrid(g, 300);
                compareMoments(&m, &p, isSmooth ? 1e-7 : rbGeometry_IsConvex(g) ? 2e-5 : 2e-3);
            }
            rbDestroyGeometry(g);
        }
    }
}

static void hashesDistinguishContent(void** state)
{
    (void)state;
    uint64_t hashes[2 * RB_SHAPE_COUNT];
    for (int round = 0; round < 2; ++round) {
        for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
            rbRandom random = {(uint64_t)(77 + round)};
            rbRandom same = random;
            rbGeometry* a = makeSample(&random, (rbShapeType)type);
            rbGeometry* b = makeSample(&same, (rbShapeType)type);
            hashes[round * RB_SHAPE_COUNT + type] = rbGeometry_GetHash(a);
            assert_true(rbGeometry_GetHash(a) == rbGeometry_GetHash(b));
            rbDestroyGeometry(a);
            rbDestroyGeometry(b);
        }
    }
    for (int i = 0; i < 2 * RB_SHAPE_COUNT; ++i) {
        for (int k = 0; k < i; ++k) {
            assert_true(hashes[i] != hashes[k]);
        }
    }
}

static void nothingLeaks(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(8)};
    uint64_t before = rbGetAllocatedBytes();
    for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
        rbGeometry* g = makeSample(&random, (rbShapeType)type);
        rbGeometry* again = rbGeometry_Retain(g);
        assert_ptr_equal(again, g);
        rbDestroyGeometry(g);
        (void)rbGeometry_GetBounds(again, RB_TRANSFORM_IDENTITY);
        rbDestroyGeometry(again);
    }
    assert_true(rbGetAllocatedBytes() == before);
}

// A half space along an axis ends at its plane, on one side; any other has no bounds.
static void planesAreBoundedAlongTheirAxisOnly(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(91)};
    for (int i = 0; i < 60; ++i) {
        double sign = i % 2 == 0 ? 1.0 : -1.0;
        double normal[3] = {0.0, 0.0, 0.0};
        int axis = i / 2 % 3;
        normal[axis] = sign;
        double offset = rbRandom_Symmetric(&random);
        rbVec3 place = randomVec3(&random, 3.0);
        const double places[3] = {place.x, place.y, place.z};
        rbError error = {0};
        rbGeometry* plane =
            rbCreatePlane(rbMakeVec3(normal[0], normal[1], normal[2]), offset, &error);
        requireOk(plane, &error);
        rbBounds box = rbGeometry_GetBounds(plane, (rbTransform){place, RB_QUAT_IDENTITY});
        const double lower[3] = {box.lower.x, box.lower.y, box.lower.z};
        const double upper[3] = {box.upper.x, box.upper.y, box.upper.z};
        for (int k = 0; k < 3; ++k) {
            bool isEnd = k == axis;
            if (isEnd) {
                checkNear(sign > 0.0 ? upper[k] : lower[k], places[k] + sign * offset, 1e-15);
            }
            assert_true((isEnd && sign < 0.0) || lower[k] == -INFINITY);
            assert_true((isEnd && sign > 0.0) || upper[k] == INFINITY);
        }
        rbBounds tilted = rbGeometry_GetBounds(plane, randomTransform(&random, 1.0));
        assert_true(tilted.lower.x == -INFINITY && tilted.upper.x == INFINITY);
        assert_true(tilted.lower.y == -INFINITY && tilted.upper.y == INFINITY);
        assert_true(tilted.lower.z == -INFINITY && tilted.upper.z == INFINITY);
        rbDestroyGeometry(plane);
    }
}

RB_TEST_GROUP(test_all_shapes, cmocka_unit_test(planesAreBoundedAlongTheirAxisOnly),
              cmocka_unit_test(everyRowIsComplete),
              cmocka_unit_test(supportsAreExtremalAndInTheBounds),
              cmocka_unit_test(radiusOfAnEllipsoidIsTheFarthestPoint),
              cmocka_unit_test(insideTestsAgreeWithRays),
              cmocka_unit_test(raysStopWhereTheInsideBegins),
              cmocka_unit_test(raysFromFarAwayHitTheSurface),
              cmocka_unit_test(massIsTheIntegralOverTheInside),
              cmocka_unit_test(hashesDistinguishContent), cmocka_unit_test(nothingLeaks));
