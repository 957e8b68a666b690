// Depth of overlapping meshes: the same in both orders, and between bounds that brute force
// confirms.
#include "../distance/bodies.h"
#include "lab/math/random3.h"
#include "mesh_shapes.h"
#include "pair_support.h"
#include "rb_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static rbSeparation measure(const rbGeometry* a, const rbGeometry* b, rbTransform transform)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA = transform;
    rbSeparation separation;
    rbError error = {0};
    assert_int_equal(rbMeasureSeparation(&input, NULL, pairScratch, &separation, &error),
                     RB_STATUS_OK);
    return separation;
}

// A mesh about 1 m across; not every one is closed.
static rbGeometry* makeMesh(rbRandom* random, int faceCount)
{
    rbTestBody kind = (rbTestBody)rbRandom_Index(random, RB_BODY_COUNT_OF_KINDS);
    return rbMakeTestBody(kind, faceCount, random);
}

static rbGeometry* makePolytope(rbRandom* random)
{
    rbVec3 points[14];
    for (int i = 0; i < 14; ++i) {
        points[i] = rbScale(rbRandom_Range(random, 0.25, 0.5), rbRandom_Direction(random));
    }
    return rbCreateHull(points, 14, NULL);
}

// A convex shape about 1 m across.
static rbGeometry* makeConvex(rbRandom* random)
{
    rbVec3 points[40];
    int kind = rbRandom_Index(random, 6);
    int count = kind == 0 ? 12 : 40;
    double x = rbRandom_Range(random, 0.2, 0.6), y = rbRandom_Range(random, 0.2, 0.6);
    for (int i = 0; i < count; ++i) {
        points[i] = rbScale(rbRandom_Range(random, 0.25, 0.5), rbRandom_Direction(random));
    }
    switch (kind) {
    case 2:
        return rbCreateBox((rbVec3){x, y, rbRandom_Range(random, 0.2, 0.6)}, NULL);
    case 3:
        return rbCreateSphere(x, NULL);
    case 4:
        return rbCreateCapsule(x, 0.5 * y, NULL);
    case 5:
        return rbCreateCylinder(x, y, NULL);
    default:
        return rbCreateHull(points, count, NULL);
    }
}

// ----------------------------------------------------------------------------------- brute force

// All triangles of a shape, in the frame of A.
typedef struct Triangles {
    rbVec3 (*corners)[3];
    int count;
    bool isSolid;
} Triangles;

static Triangles listTriangles(const rbGeometry* geometry, rbTransform pose)
{
    const rbPolyhedron* p = geometry->polyhedron;
    Triangles list = {test_malloc((size_t)p->triangleCount * sizeof(rbVec3[3])), p->triangleCount,
                      geometry->isSolid};
    for (int i = 0; i < p->triangleCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            list.corners[i][k] = rbTransformPoint(pose, p->vertices[p->triangles[i].v[k]]);
        }
    }
    return list;
}

// Six times the volume of a tetrahedron.
static double volumeOf(rbVec3 a, rbVec3 b, rbVec3 c, rbVec3 d)
{
    return rbDot(rbSub(b, a), rbCross(rbSub(c, a), rbSub(d, a)));
}

// Does the segment pass through the triangle?
static bool pierces(rbVec3 p, rbVec3 q, const rbVec3 t[3])
{
    bool isBelow = volumeOf(t[0], t[1], t[2], p) < 0.0;
    if (isBelow == (volumeOf(t[0], t[1], t[2], q) < 0.0)) {
        return false;
    }
    bool side = volumeOf(p, q, t[0], t[1]) < 0.0;
    return side == (volumeOf(p, q, t[1], t[2]) < 0.0) && side == (volumeOf(p, q, t[2], t[0]) < 0.0);
}

static bool doBoxesMeet(const rbVec3 a[3], const rbVec3 b[3])
{
    rbVec3 highA = rbMax3(a[0], rbMax3(a[1], a[2])), lowA = rbMin3(a[0], rbMin3(a[1], a[2]));
    rbVec3 highB = rbMax3(b[0], rbMax3(b[1], b[2])), lowB = rbMin3(b[0], rbMin3(b[1], b[2]));
    return lowA.x <= highB.x && lowB.x <= highA.x && lowA.y <= highB.y && lowB.y <= highA.y &&
           lowA.z <= highB.z && lowB.z <= highA.z;
}

// Is the point inside a closed surface? The solid angles of its triangles add up to 4 pi.
static bool isEnclosed(rbVec3 point, const Triangles* solid, rbVec3 shift)
{
    double sum = 0.0;
    for (int i = 0; i < solid->count; ++i) {
        rbVec3 r[3];
        double l[3];
        for (int k = 0; k < 3; ++k) {
            r[k] = rbSub(rbAdd(solid->corners[i][k], shift), point);
            l[k] = rbLength(r[k]);
        }
        double volume = rbDot(r[0], rbCross(r[1], r[2]));
        double scale = l[0] * l[1] * l[2] + rbDot(r[0], r[1]) * l[2] + rbDot(r[1], r[2]) * l[0] +
                       rbDot(r[2], r[0]) * l[1];
        sum += 2.0 * atan2(volume, scale);
    }
    return fabs(sum) > 2.0 * RB_PI;
}

// Do the bodies overlap, B being shifted?
static bool overlapByBruteForce(const Triangles* a, const Triangles* b, rbVec3 shift)
{
    for (int j = 0; j < b->count; ++j) {
        rbVec3 t[3];
        for (int k = 0; k < 3; ++k) {
            t[k] = rbAdd(b->corners[j][k], shift);
        }
        for (int i = 0; i < a->count; ++i) {
            const rbVec3* s = a->corners[i];
            for (int k = 0; k < 3 && doBoxesMeet(s, t); ++k) {
                if (pierces(s[k], s[(k + 1) % 3], t) || pierces(t[k], t[(k + 1) % 3], s)) {
                    return true;
                }
            }
        }
    }
    for (int j = 0; a->isSolid && j < b->count; ++j) {
        if (isEnclosed(rbAdd(b->corners[j][0], shift), a, RB_VEC3_ZERO)) {
            return true;
        }
    }
    for (int i = 0; b->isSolid && i < a->count; ++i) {
        if (isEnclosed(a->corners[i][0], b, shift)) {
            return true;
        }
    }
    return false;
}

#define SHORTER 30 // translations tried against each claim

typedef struct Claims {
    int pairs, local; // pairs, and those whose depth is a local minimum
    int bounded;      // and those whose bounds coincide to 1e-6
} Claims;

static void checkClaims(const rbGeometry* a, const rbGeometry* b, rbTransform pose,
                        const rbSeparation* s, rbRandom* random, Claims* claims)
{
    Triangles listA = listTriangles(a, RB_TRANSFORM_IDENTITY), listB = listTriangles(b, pose);
    rbVec3 out = rbScale(-s->lower, s->normal);
    assert_true(s->lower <= s->distance && s->distance <= s->upper && s->upper <= 0.0);
    assert_false(overlapByBruteForce(&listA, &listB, out));
    // no translation shorter than the bound separates them
    double sure = -s->upper * (1.0 - 1e-9);
    for (int i = 0; i < SHORTER && sure > 1e-9; ++i) {
        double length = i % 2 == 0 ? sure : rbRandom_Range(random, 0.0, sure);
        rbVec3 shift = rbScale(length, rbRandom_Direction(random));
        assert_true(overlapByBruteForce(&listA, &listB, shift));
    }
    // no shorter translation nearby does
    bool isLocal = true;
    for (int i = 0; i < SHORTER && isLocal; ++i) {
        double away = pow(10.0, rbRandom_Range(random, -6.0, -4.5));
        rbVec3 near = rbAddScaled(out, away, rbRandom_Direction(random));
        double length = -s->lower - 1e-3 * away;
        if (length > 0.0 && rbLength(near) > 0.0) {
            near = rbScale(fmin(1.0, length / rbLength(near)), near);
            isLocal = overlapByBruteForce(&listA, &listB, near);
        }
    }
    ++claims->pairs;
    claims->local += isLocal;
    claims->bounded += s->upper - s->lower <= 1e-6;
    test_free(listA.corners);
    test_free(listB.corners);
}

static void depthIsALocalMinimumBetweenBounds(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(429)};
    int wanted = rbTest_Count(300, 10000);
    for (int kind = 0; kind < 3; ++kind) { // meshes, convex meshes, a mesh and a convex shape
        Claims claims = {0};
        while (claims.pairs < wanted) {
            rbGeometry* a = makeMesh(&random, 6 + rbRandom_Index(&random, 30));
            rbGeometry* hull = makePolytope(&random);
            rbGeometry* b = kind == 0   ? makeMesh(&random, 6 + rbRandom_Index(&random, 30))
                            : kind == 1 ? makeMeshOf(hull, RB_SHAPE_MESH)
                                        : rbGeometry_Retain(hull);
            rbTransform pose = rbMakeRandomPose(&random);
            rbSeparation s = measure(a, b, pose);
            if (s.distance <= 0.0 && (a->isSolid || b->isSolid)) {
                checkClaims(a, b, pose, &s, &random, &claims);
            }
            rbDestroyGeometry(a);
            rbDestroyGeometry(hull);
            rbDestroyGeometry(b);
        }
        print_message("%d pairs of kind %d, %d depths are local minima, %d between equal bounds\n",
                      claims.pairs, kind, claims.local, claims.bounded);
        // all of these were; a descent may end in a saddle
        assert_true(500 * claims.local >= 499 * claims.pairs - 500);
    }
}

// -------------------------------------------------------------------------------------- exchange

static int compareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

#define PAIRS_MAX 10000

// Exchange of A and B, and what is left between the bounds.
typedef struct Exchange {
    double gaps[PAIRS_MAX]; // of the bounds, relative to the depth
    double worst;           // m, largest difference of the depths of both orders
    int count;
} Exchange;

static void checkExchange(const rbGeometry* a, const rbGeometry* b, rbTransform pose,
                          Exchange* exchange)
{
    rbSeparation s = measure(a, b, pose);
    if (s.distance > 0.0) {
        return;
    }
    rbSeparation other = measure(b, a, rbInvertTransform(pose));
    exchange->worst = fmax(exchange->worst, fabs(other.distance - s.distance));
    checkNear(other.distance, s.distance, 1e-9);
    checkNear(other.lower, s.lower, 1e-9);
    checkNear(other.upper, s.upper, 1e-9);
    exchange->gaps[exchange->count++] = (s.upper - s.lower) / fmax(-s.lower, 1e-9);
}

static void depthIsTheSameInBothOrders(void** state)
{
    (void)state;
    static Exchange exchange;
    rbRandom random = {rbTest_Seed(428)};
    int wanted = rbTest_Count(500, PAIRS_MAX);
    for (int isMixed = 0; isMixed < 2; ++isMixed) {
        exchange.count = 0;
        exchange.worst = 0.0;
        while (exchange.count < wanted) {
            rbGeometry* a = makeMesh(&random, 6 + rbRandom_Index(&random, 100));
            rbGeometry* b = isMixed                            ? makeConvex(&random)
                            : rbRandom_Index(&random, 10) == 0 ? rbGeometry_Retain(a)
                                                               : makeMesh(&random, 50);
            checkExchange(a, b, rbMakeRandomPose(&random), &exchange);
            rbDestroyGeometry(a);
            rbDestroyGeometry(b);
        }
        qsort(exchange.gaps, (size_t)wanted, sizeof(double), compareDoubles);
        print_message("%s: %d overlaps, orders differ by up to %.3g m; gap of bounds: median %.3g, "
                      "nine in ten %.3g, largest %.3g of the depth\n",
                      isMixed ? "a mesh and a convex shape" : "meshes", wanted, exchange.worst,
                      exchange.gaps[wanted / 2], exchange.gaps[wanted * 9 / 10],
                      exchange.gaps[wanted - 1]);
    }
}

// Cubes that overlap by half their size: the depth is exact, and the contact is the rectangle that
// their faces share.
static void cubesThatOverlapByHalfShareAFullPatch(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(430)};
    rbVec3 corners[8];
    for (int i = 0; i < 8; ++i) {
        corners[i] = rbMakeVec3((i & 1) != 0 ? 0.5 : -0.5, (i & 2) != 0 ? 0.5 : -0.5,
                                (i & 4) != 0 ? 0.5 : -0.5);
    }
    rbGeometry* hull = rbCreateHull(corners, 8, NULL);
    rbGeometry* cube = makeMeshOf(hull, RB_SHAPE_MESH);
    for (int i = 0; i < rbTest_Count(100, 10000); ++i) {
        // sides that are nearly flush would add contacts of their edges
        double y = i == 0 ? 0.0 : rbRandom_Range(&random, 0.05, 0.45);
        double z = i <= 1 ? 0.0 : rbRandom_Range(&random, -0.45, -0.05);
        rbTransform pose = {{0.5, y, z}, RB_QUAT_IDENTITY};
        rbSeparation s = measure(cube, cube, pose);
        checkNear(s.distance, -0.5, 1e-9);
        checkNear(s.upper, -0.5, 1e-6);
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = input.geometryB = cube;
        input.transformBtoA = pose;
        rbManifold manifold;
        rbContactList list = {.manifolds = &manifold, .capacity = 1};
        assert_int_equal(rbFindContacts(&input, 0.0, NULL, pairScratch, &list, NULL), RB_STATUS_OK);
        assert_int_equal(list.count, 1);
        assert_int_equal(manifold.count, 4);
        checkNear(manifold.normal.x, 1.0, 1e-12);
        rbVec3 low = manifold.points[0].pointA, high = low;
        for (int k = 0; k < 4; ++k) {
            low = rbMin3(low, manifold.points[k].pointA);
            high = rbMax3(high, manifold.points[k].pointA);
            checkNear(manifold.points[k].distance, -0.5, 1e-9);
        }
        checkNear(high.y - low.y, 1.0 - fabs(y), 1e-9);
        checkNear(high.z - low.z, 1.0 - fabs(z), 1e-9);
    }
    rbDestroyGeometry(hull);
    rbDestroyGeometry(cube);
}

RB_TEST_GROUP(prop_depth_bounds, TEST_WITH_SCRATCH(depthIsTheSameInBothOrders),
              TEST_WITH_SCRATCH(depthIsALocalMinimumBetweenBounds),
              TEST_WITH_SCRATCH(cubesThatOverlapByHalfShareAFullPatch));
