// Queries of box trees compared with the same queries over all triangles, one by one.
#include "base/core/memory.h"
#include "collision/geometry/box_tree.h"
#include "collision/geometry/closest.h"
#include "collision/geometry/polyhedron.h"
#include "shape_samples.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------- brute force

static int signOfTurn(const double a[2], const double b[2])
{
    double left = a[0] * b[1];
    double right = a[1] * b[0];
    double value = left - right;
    if (fabs(value) <= 4.0 * DBL_EPSILON * (fabs(left) + fabs(right))) {
        double lost = fma(-a[1], b[0], right);
        value = fma(a[0], b[1], -right) + lost;
    }
    return value > 0.0 ? 1 : (value < 0.0 ? -1 : 0);
}

static double meetTriangle(const rbPolyhedron* p, int t, const rbRay* ray)
{
    rbVec3 size = rbAbs3(ray->direction);
    const double d[3] = {ray->direction.x, ray->direction.y, ray->direction.z};
    int axis = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
    double s[2] = {d[(axis + 1) % 3] / d[axis], d[(axis + 2) % 3] / d[axis]};
    rbVec3 v[3];
    double across[3][2];
    for (int k = 0; k < 3; ++k) {
        v[k] = rbSub(p->vertices[p->triangles[t].v[k]], ray->origin);
        const double c[3] = {v[k].x, v[k].y, v[k].z};
        across[k][0] = c[(axis + 1) % 3] - s[0] * c[axis];
        across[k][1] = c[(axis + 2) % 3] - s[1] * c[axis];
    }
    int u0 = signOfTurn(across[1], across[2]);
    int u1 = signOfTurn(across[2], across[0]);
    int u2 = signOfTurn(across[0], across[1]);
    bool hasNegative = u0 < 0 || u1 < 0 || u2 < 0;
    bool hasPositive = u0 > 0 || u1 > 0 || u2 > 0;
    rbVec3 n = p->normals[p->faceOfTriangle[t]];
    double speed = rbDot(n, ray->direction);
    if (hasNegative == hasPositive || speed == 0.0) {
        return (double)NAN;
    }
    double hit = rbDot(n, v[0]) / speed;
    // for zeros of either sign the same choice as in the library
    double s0 = rbDot(ray->direction, v[0]);
    double s1 = rbDot(ray->direction, v[1]);
    double s2 = rbDot(ray->direction, v[2]);
    double low = s0 < s1 ? s0 : s1;
    double high = s0 < s1 ? s1 : s0;
    low = s2 < low ? s2 : low;
    high = s2 > high ? s2 : high;
    return hit < low ? low : (hit > high ? high : hit);
}

static bool castAtAll(const rbPolyhedron* p, const rbRay* ray, rbTreeHit* hit)
{
    *hit = (rbTreeHit){ray->tMax, -1, -1, RB_VEC3_ZERO};
    for (int t = 0; t < p->triangleCount; ++t) {
        double s = meetTriangle(p, t, ray);
        if (s >= 0.0 && (s < hit->t || (hit->triangle < 0 && s <= hit->t))) {
            *hit = (rbTreeHit){s, t, p->faceOfTriangle[t], p->normals[p->faceOfTriangle[t]]};
        }
    }
    return hit->triangle >= 0;
}

// Twice the winding number by solid angles, in long double: a second algorithm.
static double windingOf(const rbPolyhedron* p, rbVec3 point)
{
    long double sum = 0.0L;
    for (int t = 0; t < p->triangleCount; ++t) {
        long double v[3][3], length[3];
        for (int k = 0; k < 3; ++k) {
            rbVec3 x = p->vertices[p->triangles[t].v[k]];
            v[k][0] = (long double)x.x - (long double)point.x;
            v[k][1] = (long double)x.y - (long double)point.y;
            v[k][2] = (long double)x.z - (long double)point.z;
            length[k] = sqrtl(v[k][0] * v[k][0] + v[k][1] * v[k][1] + v[k][2] * v[k][2]);
        }
        long double volume = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                             v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                             v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
        long double rest = length[0] * length[1] * length[2];
        for (int k = 0; k < 3; ++k) {
            const long double* a = v[k];
            const long double* b = v[(k + 1) % 3];
            rest += (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) * length[(k + 2) % 3];
        }
        sum += atan2l(volume, rest);
    }
    return (double)(sum / (long double)RB_PI);
}

static rbClosest nearestOfAll(const rbPolyhedron* p, rbVec3 point, int* triangle)
{
    rbClosest best = {.squared = INFINITY};
    for (int t = 0; t < p->triangleCount; ++t) {
        const int* v = p->triangles[t].v;
        rbVec3 corners[3] = {p->vertices[v[0]], p->vertices[v[1]], p->vertices[v[2]]};
        rbClosest closest = rbClosestOfPointTriangle(point, corners);
        if (closest.squared < best.squared) {
            best = closest;
            *triangle = t;
        }
    }
    return best;
}

// ---------------------------------------------------------------------------------------- shapes

// A soup of triangles of all sizes, many of which share planes, edges and corners: corners lie on a
// coarse grid.
static rbGeometry* makeGridSoup(rbRandom* random, int count)
{
    rbVec3* vertices = rbAlloc(3 * (size_t)count * sizeof(rbVec3));
    int* indices = rbAlloc(3 * (size_t)count * sizeof(int));
    for (int i = 0; i < count; ++i) {
        rbVec3* v = &vertices[3 * (size_t)i];
        do {
            int reach = 1 + rbRandom_Index(random, 4);
            rbVec3 middle = rbScale(4.0, randomVec3(random, 1.0));
            for (int k = 0; k < 3; ++k) {
                rbVec3 x = rbAdd(middle, randomVec3(random, reach));
                v[k] = rbScale(0.25, rbMakeVec3(floor(x.x), floor(x.y), floor(x.z)));
            }
        } while (rbLength(rbCross(rbSub(v[1], v[0]), rbSub(v[2], v[0]))) < 0.01);
        for (int k = 0; k < 3; ++k) {
            indices[3 * i + k] = 3 * i + k;
        }
    }
    rbMeshDef def = {vertices, 3 * count, NULL, indices, count};
    rbError error = {0};
    rbGeometry* geometry = rbCreateSoup(&def, &error);
    requireOk(geometry, &error);
    rbFree(vertices, 3 * (size_t)count * sizeof(rbVec3));
    rbFree(indices, 3 * (size_t)count * sizeof(int));
    return geometry;
}

// The same shape with another size and position.
static rbGeometry* moveGeometry(rbGeometry* geometry, double scale, rbVec3 shift)
{
    rbMeshDef def;
    assert_true(rbGeometry_GetMesh(geometry, &def));
    size_t bytes = (size_t)def.vertexCount * sizeof(rbVec3);
    rbVec3* vertices = rbAlloc(bytes);
    for (int i = 0; i < def.vertexCount; ++i) {
        vertices[i] = rbAddScaled(shift, scale, def.vertices[i]);
    }
    def.vertices = vertices;
    rbError error = {0};
    rbGeometry* moved = geometry->type == RB_SHAPE_MESH   ? rbCreateMesh(&def, &error)
                        : geometry->type == RB_SHAPE_SOUP ? rbCreateSoup(&def, &error)
                                                          : rbCreatePolyhedron(&def, &error);
    requireOk(moved, &error);
    rbFree(vertices, bytes);
    rbDestroyGeometry(geometry);
    return moved;
}

// Number k of a series of meshes, polyhedra with polygons and soups; sometimes distant or small.
static rbGeometry* makeCase(rbRandom* random, int k)
{
    static const rbShapeType types[3] = {RB_SHAPE_MESH, RB_SHAPE_POLYHEDRON, RB_SHAPE_SOUP};
    rbGeometry* geometry = k % 4 == 3 ? makeGridSoup(random, 1 + rbRandom_Index(random, 600))
                                      : makeSample(random, types[k % 4]);
    if (k % 5 == 1) {
        double scale = pow(10.0, rbRandom_Range(random, -6.0, 6.0));
        rbVec3 shift = rbScale(k % 2 == 0 ? 0.0 : 1e3 * scale, rbRandom_Direction(random));
        geometry = moveGeometry(geometry, scale, shift);
    }
    return geometry;
}

static double sizeOf(const rbPolyhedron* p)
{
    return rbDistance(p->lower, p->upper);
}

static rbVec3 pickVertex(rbRandom* random, const rbPolyhedron* p)
{
    return p->vertices[p->indices[rbRandom_Index(random, p->indexCount)]];
}

// On a triangle, on an edge or at a corner of it.
static rbVec3 pickPoint(rbRandom* random, const rbPolyhedron* p)
{
    const int* v = p->triangles[rbRandom_Index(random, p->triangleCount)].v;
    double s = rbRandom_Unit(random);
    double t = rbRandom_Unit(random) * (1.0 - s);
    int kind = rbRandom_Index(random, 4);
    s = kind == 0 ? 0.0 : (kind == 1 ? 0.5 : s);
    t = kind <= 2 ? 0.0 : t;
    rbVec3 x = p->vertices[v[0]];
    rbVec3 y = rbAddScaled(x, s, rbSub(p->vertices[v[1]], x));
    return rbAddScaled(y, t, rbSub(p->vertices[v[2]], x));
}

// ------------------------------------------------------------------------------------------ rays

// A random direction, along an axis, or in a plane of two axes.
static rbVec3 pickDirection(rbRandom* random)
{
    rbVec3 d = rbRandom_Direction(random);
    int kind = rbRandom_Index(random, 4);
    if (kind == 0) {
        d = rbMakeVec3(d.x > 0.5 ? 1.0 : 0.0, d.x <= 0.5 && d.y > 0.0 ? -1.0 : 0.0, 0.0);
        d.z = d.x == 0.0 && d.y == 0.0 ? 1.0 : 0.0;
    } else if (kind == 1) {
        d.z = 0.0;
    }
    return rbNormalize(d);
}

static rbRay makeRay(rbRandom* random, const rbPolyhedron* p)
{
    double size = sizeOf(p);
    rbVec3 target = pickPoint(random, p);
    rbVec3 d = pickDirection(random);
    int kind = rbRandom_Index(random, 8);
    double way = size * rbRandom_Range(random, -0.5, 2.0);
    if (kind == 0) {
        // along a line of two vertices: edges among them
        const int* v = p->triangles[rbRandom_Index(random, p->triangleCount)].v;
        target = p->vertices[v[0]];
        d = rbSub(p->vertices[v[1]], target);
    } else if (kind == 1) {
        // within a face
        const int* v = p->triangles[rbRandom_Index(random, p->triangleCount)].v;
        target = p->vertices[v[0]];
        rbVec3 e = rbSub(p->vertices[v[1]], target);
        d = rbAddScaled(e, rbRandom_Unit(random), rbSub(p->vertices[v[2]], p->vertices[v[1]]));
    } else if (kind == 2) {
        d = rbSub(pickVertex(random, p), target);
    } else if (kind == 3) {
        way = size * pow(10.0, rbRandom_Range(random, 0.0, 17.0));
    } else if (kind == 4) {
        target = rbAddScaled(target, 0.5 * size, rbRandom_Direction(random));
    } else if (kind == 5) {
        way = 0.0;
    }
    d = rbLength(d) > 0.0 ? rbNormalize(d) : rbMakeVec3(0.0, 0.0, 1.0);
    double tMax = rbRandom_Index(random, 4) > 0 ? (double)INFINITY : size * rbRandom_Unit(random);
    return (rbRay){rbAddScaled(target, -way, d), d, tMax};
}

static void checkRay(const rbGeometry* geometry, const rbRay* ray)
{
    const rbPolyhedron* p = geometry->polyhedron;
    rbTreeHit hit, any, truth;
    bool isHit = castAtAll(p, ray, &truth);
    assert_int_equal(rbBoxTree_CastRay(p->tree, p->normals, ray, RB_RAY_FIRST, &hit), isHit);
    assert_int_equal(rbBoxTree_CastRay(p->tree, p->normals, ray, RB_RAY_ANY, &any), isHit);
    rbRayHit found = {0};
    assert_int_equal(rbPolyhedron_CastRay(geometry, ray, RB_RAY_FIRST, &found), isHit);
    if (isHit) {
        assert_memory_equal(&hit.t, &truth.t, sizeof(double));
        assert_int_equal(hit.triangle, truth.triangle);
        assert_int_equal(hit.face, truth.face);
        assert_memory_equal(&found.t, &truth.t, sizeof(double));
        assert_int_equal(found.feature, p->faceOfTriangle[truth.triangle]);
        assert_memory_equal(&hit.normal, &truth.normal, sizeof hit.normal);
        assert_memory_equal(&found.normal, &truth.normal, sizeof found.normal);
    }
}

static void raysHitWhatTheyHitWithoutTree(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1311)};
    for (int k = 0; k < rbTest_Count(200, 2000); ++k) {
        rbGeometry* g = makeCase(&random, k);
        for (int i = 0; i < 300; ++i) {
            rbRay ray = makeRay(&random, g->polyhedron);
            checkRay(g, &ray);
            // a limit exactly at the hit still counts
            rbRayHit hit = {0};
            if (rbPolyhedron_CastRay(g, &ray, RB_RAY_FIRST, &hit)) {
                ray.tMax = hit.t;
                checkRay(g, &ray);
            }
        }
        rbDestroyGeometry(g);
    }
}

// ------------------------------------------------------------------------------------ inside test

static void checkInside(const rbGeometry* g, rbVec3 point)
{
    const rbPolyhedron* p = g->polyhedron;
    int triangle = -1;
    double largest = fmax(p->scale, fmax(fabs(point.x), fmax(fabs(point.y), fabs(point.z))));
    double distance = sqrt(nearestOfAll(p, point, &triangle).squared);
    bool isInside = rbGeometry_Contains(g, point);
    if (distance <= 8.0 * DBL_EPSILON * largest) {
        assert_true(isInside);
    } else if (distance > 64.0 * DBL_EPSILON * largest) {
        double winding = windingOf(p, point);
        checkNear(winding, 2.0 * floor(0.5 * winding + 0.5), 1e-6);
        assert_int_equal(isInside, winding > 1.0);
    }
}

static void pointsAreInsideByTheirWindingNumber(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1312)};
    for (int k = 0; k < rbTest_Count(100, 1000); ++k) {
        rbGeometry* g = makeCase(&random, 5 * (k / 2) + k % 2);
        const rbPolyhedron* p = g->polyhedron;
        if (!g->isSolid) {
            rbDestroyGeometry(g);
            continue;
        }
        for (int i = 0; i < 40; ++i) {
            double near = sizeOf(p) * pow(10.0, rbRandom_Range(&random, -16.0, 0.0));
            rbVec3 x = pickPoint(&random, p);
            checkInside(g, x);
            checkInside(g, rbAddScaled(x, near, pickDirection(&random)));
            double s = rbRandom_Unit(&random);
            rbVec3 y = rbAddScaled(p->lower, s, rbSub(p->upper, p->lower));
            checkInside(g, rbAddScaled(y, 0.5 * sizeOf(p), rbRandom_Direction(&random)));
        }
        rbDestroyGeometry(g);
    }
}

// Rays along axes and diagonals of a grid touch edges: a count is correct or is not returned.
static int checkCrossings(const rbGeometry* g, rbVec3 x, bool isIn)
{
    int refused = 0;
    for (int i = 1; i < 27; ++i) {
        int row = i / 3 % 3;
        int layer = i / 9;
        rbVec3 d = {i % 3 - 1, row - 1, layer - 1};
        rbRay ray = {x, rbNormalize(d), INFINITY};
        int count;
        if (rbLength(d) > 0.0 && rbBoxTree_CountCrossings(g->polyhedron->tree, &ray, &count)) {
            assert_int_equal(count, isIn ? 1 : 0);
        } else {
            ++refused;
        }
    }
    return refused;
}

// A box cut into squares: axes, diagonals and the middle graze edges in every direction except odd
// ones.
static void pointsOfAGridAreInside(void** state)
{
    (void)state;
    enum {
        SIDE = 4,
        POINTS = SIDE + 1
    };
    rbVec3 vertices[6 * POINTS * POINTS];
    int indices[6 * SIDE * SIDE * 6];
    int vertexCount = 0;
    int count = 0;
    for (int face = 0; face < 6; ++face) {
        for (int i = 0; i < POINTS * POINTS; ++i) {
            double c[3];
            c[face / 2] = face % 2 == 0 ? 0.0 : 1.0;
            int row = i / POINTS;
            c[(face / 2 + 1) % 3] = (double)(i % POINTS) / SIDE;
            c[(face / 2 + 2) % 3] = (double)row / SIDE;
            vertices[vertexCount++] = rbMakeVec3(c[0], c[1], c[2]);
        }
        for (int i = 0; i < SIDE * SIDE; ++i) {
            int a = POINTS * POINTS * face + i / SIDE * POINTS + i % SIDE;
            int order[6] = {a, a + 1, a + POINTS + 1, a, a + POINTS + 1, a + POINTS};
            for (int j = 0; j < 6; ++j) {
                indices[count++] = order[face % 2 == 0 ? 5 - j : j];
            }
        }
    }
    // vertices at one place are merged
    for (int i = 0; i < count; ++i) {
        for (int v = 0; v < vertexCount; ++v) {
            if (rbDistance(vertices[v], vertices[indices[i]]) == 0.0) {
                indices[i] = v;
                break;
            }
        }
    }
    rbMeshDef def = {vertices, vertexCount, NULL, indices, count / 3};
    rbError error = {0};
    rbGeometry* g = rbCreateMesh(&def, &error);
    requireOk(g, &error);
    assert_true(g->isSolid);
    int refused = 0;
    for (int i = 0; i < 11 * 11 * 11; ++i) {
        int row = i / 11 % 11;
        int layer = i / 121;
        rbVec3 x = {(i % 11 - 1) / 8.0, (row - 1) / 8.0, (layer - 1) / 8.0};
        bool isIn =
            x.x >= 0.0 && x.y >= 0.0 && x.z >= 0.0 && x.x <= 1.0 && x.y <= 1.0 && x.z <= 1.0;
        assert_int_equal(rbGeometry_Contains(g, x), isIn);
        bool isOff =
            !isIn || (x.x > 0.0 && x.y > 0.0 && x.z > 0.0 && x.x < 1.0 && x.y < 1.0 && x.z < 1.0);
        refused += isOff ? checkCrossings(g, x, isIn) : 0;
    }
    assert_true(refused > 1000);
    rbDestroyGeometry(g);
}

// ----------------------------------------------------------------------------------- points, boxes

static void checkFarthest(const rbGeometry* g, rbVec3 d, rbTransform transform)
{
    const rbPolyhedron* p = g->polyhedron;
    rbMat3 m = rbMatFromQuat(transform.q);
    int best = p->indices[0];
    rbVec3 lower = {INFINITY, INFINITY, INFINITY};
    rbVec3 upper = rbNeg(lower);
    double square = 0.0;
    for (int i = 0; i < p->indexCount; ++i) {
        rbVec3 v = p->vertices[p->indices[i]];
        best = rbDot(d, v) > rbDot(d, p->vertices[best]) ? p->indices[i] : best;
        rbVec3 moved = rbMulMV(m, v);
        lower = rbMin3(lower, moved);
        upper = rbMax3(upper, moved);
        square = fmax(square, rbLengthSquared(rbSub(v, transform.p)));
    }
    rbVec3 support = rbGetShapeOps(g->type)->support(g, d);
    assert_memory_equal(&support, &p->vertices[best], sizeof(rbVec3));
    double reach = rbBoxTree_FindReach(p->tree, d);
    assert_true(reach == rbDot(d, support));
    rbBounds truth = {rbAdd(lower, transform.p), rbAdd(upper, transform.p)};
    rbBounds bounds = rbGeometry_GetBounds(g, transform);
    assert_memory_equal(&bounds, &truth, sizeof(bounds));
    assert_true(rbGeometry_GetRadius(g, transform.p) == sqrt(square));
}

static void supportsBoundsAndRadiiHaveTheBitsOfAllCorners(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1314)};
    for (int k = 0; k < rbTest_Count(200, 2000); ++k) {
        rbGeometry* g = makeCase(&random, k);
        for (int i = 0; i < 100; ++i) {
            rbTransform transform = randomTransform(&random, 3.0 * sizeOf(g->polyhedron));
            transform.q = i % 5 == 0 ? RB_QUAT_IDENTITY : transform.q;
            checkFarthest(g, rbScale(i % 7 == 0 ? 1e-3 : 1.0, pickDirection(&random)), transform);
        }
        rbDestroyGeometry(g);
    }
}

static void pointsAreNearTheSurfaceWithinTheirDistance(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1315)};
    for (int k = 0; k < rbTest_Count(60, 600); ++k) {
        rbGeometry* g = makeCase(&random, k);
        const rbPolyhedron* p = g->polyhedron;
        double size = sizeOf(p), rounding = 1e-13 * (size + p->scale);
        for (int i = 0; i < 30; ++i) {
            double away = size * pow(10.0, rbRandom_Range(&random, -12.0, 0.0));
            rbVec3 point = rbAddScaled(pickPoint(&random, p), away, pickDirection(&random));
            int triangle;
            double distance = sqrt(nearestOfAll(p, point, &triangle).squared);
            double less = 0.999 * distance - rounding, more = 1.001 * distance + rounding;
            assert_true(rbBoxTree_IsNear(p->tree, p->normals, point, more));
            assert_true(less < 0.0 || !rbBoxTree_IsNear(p->tree, p->normals, point, less));
        }
        rbDestroyGeometry(g);
    }
}

RB_TEST_GROUP(prop_box_tree, cmocka_unit_test(raysHitWhatTheyHitWithoutTree),
              cmocka_unit_test(pointsAreInsideByTheirWindingNumber),
              cmocka_unit_test(pointsOfAGridAreInside),
              cmocka_unit_test(supportsBoundsAndRadiiHaveTheBitsOfAllCorners),
              cmocka_unit_test(pointsAreNearTheSurfaceWithinTheirDistance));
