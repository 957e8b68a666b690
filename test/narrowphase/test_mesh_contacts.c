// Contact regions of meshes where the answer is known.
#include "../distance/bodies.h"
#include "base/core/memory.h"
#include "collision/narrowphase/mesh_pair.h"
#include "lab/math/random3.h"
#include "mesh_shapes.h"
#include "pair_support.h"
#include "rb_test.h"

#define LIST_MAX 64

static rbManifold manifolds[LIST_MAX];

// A pose rotated about a unit axis.
static rbTransform turned(rbVec3 axis, double angle, rbVec3 p)
{
    double s, c;
    rbSinCos(0.5 * angle, &s, &c);
    return (rbTransform){p, {c, s * axis.x, s * axis.y, s * axis.z}};
}

static rbGeometry* makeBox(double x, double y, double z)
{
    rbVec3 v[8];
    for (int i = 0; i < 8; ++i) {
        v[i] = rbMakeVec3((i & 1) != 0 ? x : -x, (i & 2) != 0 ? y : -y, (i & 4) != 0 ? z : -z);
    }
    const int sizes[6] = {4, 4, 4, 4, 4, 4};
    const int indices[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                             2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
    rbMeshDef def = {v, 8, sizes, indices, 6};
    rbError error = {0};
    rbGeometry* mesh = rbCreateMesh(&def, &error);
    assert_string_equal(error.message, "");
    return mesh;
}

// Over a profile in x and z, from -width to width along y.
static rbGeometry* makeBeam(const double (*profile)[2], int count, double width)
{
    rbOwnedMesh mesh = {0};
    rbError error = {0};
    assert_int_equal(rbExtrudeProfile(profile, count, 2.0 * width, &mesh, &error), RB_STATUS_OK);
    for (int i = 0; i < mesh.vertexCount; ++i) {
        rbVec3 v = mesh.vertices[i];
        mesh.vertices[i] = rbMakeVec3(v.x, width - v.z, v.y);
    }
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbGeometry* geometry = rbCreateMesh(&def, &error);
    assert_string_equal(error.message, "");
    rbFreeMesh(&mesh);
    return geometry;
}

// Poles on the z axis.
static rbGeometry* makeBall(double radius, int segments)
{
    double profile[65][2];
    int rings = segments / 2;
    assert_true(rings <= 64);
    for (int i = 0; i <= rings; ++i) {
        double s, c;
        rbSinCos(RB_PI * i / rings, &s, &c);
        profile[i][0] = i == 0 || i == rings ? 0.0 : radius * s;
        profile[i][1] = -radius * c;
    }
    rbOwnedMesh mesh = {0};
    rbError error = {0};
    assert_int_equal(
        rbRevolveProfile((const double(*)[2])profile, rings + 1, segments, &mesh, &error),
        RB_STATUS_OK);
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbGeometry* geometry = rbCreateMesh(&def, &error);
    assert_string_equal(error.message, "");
    rbFreeMesh(&mesh);
    return geometry;
}

static rbMeshPair pairOf(const rbGeometry* a, const rbGeometry* b, rbTransform transform)
{
    return (rbMeshPair){.a = a,
                        .b = b,
                        .transformBtoA = transform,
                        .scratch = pairScratch,
                        .scratchSize = rbGetSeparationScratchSize() - 16};
}

static void checkManifold(const rbManifold* m, double threshold)
{
    assert_in_range(m->count, 1, RB_MANIFOLD_POINTS_MAX);
    checkNear(rbLength(m->normal), 1.0, 1e-12);
    for (int i = 0; i < m->count; ++i) {
        const rbManifoldPoint* p = &m->points[i];
        assert_true(p->distance <= threshold);
        rbVec3 miss = rbAddScaled(rbSub(p->pointB, p->pointA), -p->distance, m->normal);
        checkNear(rbLength(miss), 0.0, 1e-12);
        for (int k = 0; k < i; ++k) {
            assert_true(rbDistance(p->pointA, m->points[k].pointA) > 0.0);
        }
    }
}

static int find(const rbGeometry* a, const rbGeometry* b, rbTransform transform, double threshold)
{
    rbMeshPair pair = pairOf(a, b, transform);
    rbContactList list = {manifolds, LIST_MAX, 0};
    rbFindMeshContacts(&pair, threshold, 0.0, 0.0, &list);
    for (int i = 0; i < list.count && i < LIST_MAX; ++i) {
        checkManifold(&manifolds[i], threshold);
        if (i > 0) { // distances along the normal of the leader are shorter by up to 1 %
            double before = manifolds[i - 1].points[0].distance;
            double next = manifolds[i].points[0].distance;
            assert_true(before <= next + 0.011 * fabs(before) + 1e-8);
        }
    }
    return list.count;
}

// Each of the places is one of the points.
static void checkPlaces(const rbManifold* m, const rbVec3* places, int count, double tolerance)
{
    assert_int_equal(m->count, count);
    for (int i = 0; i < count; ++i) {
        double nearest = INFINITY;
        for (int k = 0; k < m->count; ++k) {
            nearest = fmin(nearest, rbDistance(m->points[k].pointA, places[i]));
        }
        checkBelow(nearest, tolerance);
    }
}

// Gap, touch and overlap, on floors of 2 and of 2048 triangles and on a slab.
static void boxOnFloorStandsOnItsCorners(void** state)
{
    (void)state;
    rbGeometry* box = makeBox(0.3, 0.2, 0.1);
    rbGeometry* floors[3] = {makeFloor(2.0, 1), makeFloor(2.0, 32), makeBox(2.0, 2.0, 0.5)};
    const double heights[3] = {0.0, 0.0, 0.5};
    const double gaps[4] = {0.0, 1e-4, -1e-4, -1e-3};
    for (int f = 0; f < 3; ++f) {
        for (int g = 0; g < 4; ++g) {
            double angle = 0.37 * g;
            rbVec3 p = rbMakeVec3(0.11, -0.07, heights[f] + 0.1 + gaps[g]);
            rbTransform pose = turned(rbMakeVec3(0.0, 0.0, 1.0), angle, p);
            assert_int_equal(find(floors[f], box, pose, 2e-4), 1);
            checkNear(manifolds[0].normal.z, 1.0, 1e-9);
            rbVec3 corners[4];
            for (int k = 0; k < 4; ++k) {
                rbVec3 corner = {(k & 1) != 0 ? 0.3 : -0.3, (k & 2) != 0 ? 0.2 : -0.2, -0.1};
                corners[k] = rbTransformPoint(pose, corner);
                corners[k].z = heights[f];
                checkNear(manifolds[0].points[k].distance, gaps[g], 1e-8);
            }
            checkPlaces(&manifolds[0], corners, 4, 1e-6);
            // in the other order
            assert_int_equal(find(box, floors[f], rbInvertTransform(pose), 2e-4), 1);
            checkNear(manifolds[0].normal.z, -1.0, 1e-9);
            assert_int_equal(manifolds[0].count, 4);
        }
    }
    for (int f = 0; f < 3; ++f) {
        rbDestroyGeometry(floors[f]);
    }
    rbDestroyGeometry(box);
}

static void boxOnItsEdgeHasTwoPoints(void** state)
{
    (void)state;
    rbGeometry* box = makeBox(0.2, 0.3, 0.2);
    rbGeometry* slab = makeBox(2.0, 2.0, 0.5);
    double height = 0.2 * sqrt(2.0);
    for (int g = -1; g <= 1; ++g) {
        double gap = 1e-4 * g;
        rbTransform pose = turned(rbMakeVec3(0.0, 1.0, 0.0), 0.25 * RB_PI,
                                  rbMakeVec3(0.0, 0.1, 0.5 + height + gap));
        assert_int_equal(find(slab, box, pose, 2e-4), 1);
        const rbVec3 ends[2] = {{0.0, -0.2, 0.5}, {0.0, 0.4, 0.5}};
        checkPlaces(&manifolds[0], ends, 2, 1e-6);
        checkNear(manifolds[0].points[0].distance, gap, 1e-8);
        checkNear(manifolds[0].points[1].distance, gap, 1e-8);
    }
    rbDestroyGeometry(box);
    rbDestroyGeometry(slab);
}

static void ballOnFloorHasOnePoint(void** state)
{
    (void)state;
    rbGeometry* ball = makeBall(0.5, 48);
    rbGeometry* floors[2] = {makeFloor(2.0, 7), makeBox(2.0, 2.0, 0.5)};
    for (int g = -1; g <= 1; ++g) {
        double gap = 1e-5 * g;
        double top = g < 0 ? 0.5 : 0.0;
        const rbGeometry* ground = floors[g < 0 ? 1 : 0];
        assert_int_equal(find(ground, ball, at(0.123, 0.04, top + 0.5 + gap), 2e-5), 1);
        assert_int_equal(manifolds[0].count, 1);
        checkNear(manifolds[0].normal.z, 1.0, 1e-9);
        checkNear(manifolds[0].points[0].distance, gap, 1e-8);
        checkNear(manifolds[0].points[0].pointA.x, 0.123, 1e-6);
        checkNear(manifolds[0].points[0].pointA.y, 0.04, 1e-6);
    }
    assert_int_equal(find(floors[0], ball, at(0.0, 0.0, 0.5 + 3e-5), 2e-5), 0);
    rbDestroyGeometry(floors[0]);
    rbDestroyGeometry(floors[1]);
    rbDestroyGeometry(ball);
}

// An L over the edge of a table lies on its top and leans on its side.
static void hookOverAnEdgeHasTwoManifolds(void** state)
{
    (void)state;
    const double profile[6][2] = {{-0.6, 0.0}, {0.0, 0.0}, {0.0, -0.5},
                                  {0.2, -0.5}, {0.2, 0.2}, {-0.6, 0.2}};
    rbGeometry* hook = makeBeam(profile, 6, 0.3);
    rbGeometry* table = makeBox(1.0, 1.0, 1.0);
    for (int g = -1; g <= 1; ++g) {
        double gap = 1e-4 * g;
        assert_int_equal(find(table, hook, at(1.0 + gap, 0.0, 1.0 + gap), 2e-4), 2);
        bool isTopFirst = manifolds[0].normal.z > 0.5;
        const rbManifold* top = &manifolds[isTopFirst ? 0 : 1];
        const rbManifold* side = &manifolds[isTopFirst ? 1 : 0];
        checkNear(top->normal.z, 1.0, 1e-9);
        checkNear(side->normal.x, 1.0, 1e-9);
        const rbVec3 onTop[4] = {
            {0.4 + gap, 0.3, 1.0}, {0.4 + gap, -0.3, 1.0}, {1.0, 0.3, 1.0}, {1.0, -0.3, 1.0}};
        checkPlaces(top, onTop, 4, 2.1e-4);
        const rbVec3 onSide[4] = {
            {1.0, 0.3, 0.5 + gap}, {1.0, -0.3, 0.5 + gap}, {1.0, 0.3, 1.0}, {1.0, -0.3, 1.0}};
        checkPlaces(side, onSide, 4, 2.1e-4);
        for (int k = 0; k < 4; ++k) {
            checkNear(top->points[k].distance, gap, 1e-6);
            checkNear(side->points[k].distance, gap, 1e-6);
        }
    }
    rbDestroyGeometry(hook);
    rbDestroyGeometry(table);
}

// Two feet in one plane are one manifold: its hull carries the body.
static void archOnFloorStandsOnItsOuterCorners(void** state)
{
    (void)state;
    const double profile[8][2] = {{-0.5, 0.0}, {-0.3, 0.0}, {-0.3, 0.4}, {0.3, 0.4},
                                  {0.3, 0.0},  {0.5, 0.0},  {0.5, 0.6},  {-0.5, 0.6}};
    rbGeometry* arch = makeBeam(profile, 8, 0.2);
    rbGeometry* floor = makeFloor(2.0, 9);
    assert_int_equal(find(floor, arch, at(0.05, 0.03, 0.0), 1e-6), 1);
    const rbVec3 corners[4] = {
        {-0.45, -0.17, 0.0}, {-0.45, 0.23, 0.0}, {0.55, -0.17, 0.0}, {0.55, 0.23, 0.0}};
    checkPlaces(&manifolds[0], corners, 4, 1e-6);
    rbDestroyGeometry(arch);
    rbDestroyGeometry(floor);
}

// A peg that is too wide for its slot: no short translation separates them, both walls push.
static void jammedPegIsPushedFromBothSides(void** state)
{
    (void)state;
    const double profile[8][2] = {{-1.0, -1.0}, {1.0, -1.0},  {1.0, 1.0},  {0.3, 1.0},
                                  {0.3, -0.5},  {-0.3, -0.5}, {-0.3, 1.0}, {-1.0, 1.0}};
    rbGeometry* block = makeBeam(profile, 8, 1.0);
    rbGeometry* peg = makeBox(0.301, 0.25, 0.25);
    int count = find(block, peg, at(0.0, 0.1, 0.2), 1e-6);
    double left = 0.0;
    double right = 0.0;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < manifolds[i].count; ++k) {
            double depth = -manifolds[i].points[k].distance;
            left = manifolds[i].normal.x > 0.9 ? fmax(left, depth) : left;
            right = manifolds[i].normal.x < -0.9 ? fmax(right, depth) : right;
        }
    }
    checkNear(left, 1e-3, 2e-4);
    checkNear(right, 1e-3, 2e-4);
    rbDestroyGeometry(block);
    rbDestroyGeometry(peg);
}

// Links of a chain, near each other at two places.
static void linkedToriTouchAtSeveralPlaces(void** state)
{
    (void)state;
    rbGeometry* torus = rbMakeTestTorus(0.4, 0.15, 48, 32);
    rbTransform pose = turned(rbMakeVec3(1.0, 0.0, 0.0), 0.5 * RB_PI, rbMakeVec3(0.4, 0.0, 0.0));
    // the tube of B passes the middle of the hole of A: 0.1 to the tube of A on either side
    int count = find(torus, torus, pose, 0.105);
    assert_true(count >= 2);
    count = count < LIST_MAX ? count : LIST_MAX; // the gap is nearly the same all around
    double spread = 0.0;
    for (int i = 1; i < count; ++i) {
        spread = fmax(spread, rbDistance(manifolds[i].normal, manifolds[0].normal));
    }
    assert_true(spread > 1.0);
    checkNear(manifolds[0].points[0].distance, 0.1, 2e-3);
    rbDestroyGeometry(torus);
}

static void roundedBodiesTouchOnTheirRoundedSurfaces(void** state)
{
    (void)state;
    rbGeometry* box = makeBox(0.3, 0.2, 0.1);
    rbGeometry* slab = makeBox(2.0, 2.0, 0.5);
    rbMeshPair pair = pairOf(slab, box, at(0.0, 0.0, 0.65));
    rbContactList list = {manifolds, LIST_MAX, 0};
    rbFindMeshContacts(&pair, 1e-3, 0.02, 0.03, &list);
    assert_int_equal(list.count, 1);
    assert_int_equal(manifolds[0].count, 4);
    for (int i = 0; i < 4; ++i) {
        checkNear(manifolds[0].points[i].distance, 0.0, 1e-12);
        checkNear(manifolds[0].points[i].pointA.z, 0.52, 1e-12);
        checkNear(manifolds[0].points[i].pointB.z, 0.52, 1e-12);
    }
    list.count = 0;
    rbFindMeshContacts(&pair, -1e-3, 0.02, 0.03, &list);
    assert_int_equal(list.count, 0);
    rbDestroyGeometry(box);
    rbDestroyGeometry(slab);
}

static void namesStayWhileABoxSlides(void** state)
{
    (void)state;
    rbGeometry* box = makeBox(0.3, 0.2, 0.1);
    rbGeometry* slab = makeBox(2.0, 2.0, 0.5);
    uint32_t first[4] = {0};
    for (int step = 0; step < 20; ++step) {
        double jitter = 1e-7 * (step % 3);
        rbTransform pose = turned(rbMakeVec3(0.0, 0.0, 1.0), 0.3 + 1e-3 * step,
                                  rbMakeVec3(0.01 * step, 0.0, 0.6 + jitter));
        assert_int_equal(find(slab, box, pose, 1e-5), 1);
        assert_int_equal(manifolds[0].count, 4);
        for (int k = 0; k < 4; ++k) {
            bool isKnown = step == 0;
            first[k] = step == 0 ? manifolds[0].points[k].featureId : first[k];
            for (int i = 0; i < 4; ++i) {
                isKnown = isKnown || manifolds[0].points[k].featureId == first[i];
                assert_true(step > 0 || i >= k || first[i] != first[k]);
            }
            assert_true(isKnown);
        }
    }
    rbDestroyGeometry(box);
    rbDestroyGeometry(slab);
}

// Far more points than the pairScratch holds: the corners are still found.
static void smallScratchKeepsWhatMatters(void** state)
{
    (void)state;
    rbGeometry* box = makeBox(0.3, 0.2, 0.1);
    rbGeometry* floor = makeFloor(2.0, 32);
    rbTransform pose = at(0.11, -0.07, 0.1 + 1e-5);
    const size_t sizes[4] = {2048, 4096, 16384, 65536};
    for (int i = 0; i < 4; ++i) {
        rbMeshPair pair = pairOf(floor, box, pose);
        pair.scratchSize = sizes[i];
        rbContactList list = {manifolds, LIST_MAX, 0};
        rbFindMeshContacts(&pair, 1e-4, 0.0, 0.0, &list);
        assert_int_equal(list.count, 1);
        const rbVec3 corners[4] = {
            {0.41, 0.13, 0.0}, {-0.19, 0.13, 0.0}, {0.41, -0.27, 0.0}, {-0.19, -0.27, 0.0}};
        checkPlaces(&manifolds[0], corners, 4, 1e-6);
    }
    // at least two points are required
    rbMeshPair pair = pairOf(floor, box, pose);
    pair.scratchSize = 512;
    rbContactList list = {manifolds, LIST_MAX, 0};
    rbFindMeshContacts(&pair, 1e-4, 0.0, 0.0, &list);
    assert_true(list.count >= 1);
    checkManifold(&manifolds[0], 1e-4);
    // more manifolds than the list holds are counted
    list = (rbContactList){manifolds, 0, 0};
    rbFindMeshContacts(&pair, 1e-4, 0.0, 0.0, &list);
    assert_true(list.count >= 1);
    rbDestroyGeometry(box);
    rbDestroyGeometry(floor);
}

// By the public query, alone and as part of a compound.
static void publicQueryFindsThemInCompoundsToo(void** state)
{
    (void)state;
    rbGeometry* box = makeBox(0.3, 0.2, 0.1);
    rbGeometry* slab = makeBox(2.0, 2.0, 0.5);
    rbError error = {0};
    const rbCompoundChild children[2] = {{box, at(-0.5, 0.0, 0.0), 1.0},
                                         {box, at(0.5, 0.0, 0.0), 1.0}};
    rbGeometry* pair = rbCreateCompound(children, 2, &error);
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = pair;
    input.geometryB = slab;
    input.transformBtoA = at(0.0, 0.0, -0.6);
    rbContactList list = {manifolds, LIST_MAX, 0};
    rbStatus status = rbFindContacts(&input, 1e-6, NULL, pairScratch, &list, &error);
    assert_int_equal(status, RB_STATUS_OK);
    assert_int_equal(list.count, 2);
    for (int i = 0; i < 2; ++i) {
        double middle = i == 0 ? -0.5 : 0.5;
        const rbVec3 corners[4] = {{middle + 0.3, 0.2, -0.1},
                                   {middle - 0.3, 0.2, -0.1},
                                   {middle + 0.3, -0.2, -0.1},
                                   {middle - 0.3, -0.2, -0.1}};
        checkPlaces(&manifolds[i], corners, 4, 1e-6);
        checkNear(manifolds[i].normal.z, -1.0, 1e-9);
        assert_int_equal(manifolds[i].childA, i);
        assert_int_equal(manifolds[i].childB, 0);
    }
    rbDestroyGeometry(pair);
    rbDestroyGeometry(box);
    rbDestroyGeometry(slab);
}

// Distance of a point from the surface of a shape, by all triangles.
static double measureOff(const rbGeometry* geometry, rbVec3 point)
{
    const rbPolyhedron* p = geometry->polyhedron;
    double square = INFINITY;
    for (int t = 0; t < p->triangleCount; ++t) {
        rbVec3 corners[3];
        for (int k = 0; k < 3; ++k) {
            corners[k] = p->vertices[p->triangles[t].v[k]];
        }
        square = fmin(square, rbClosestOfPointTriangle(point, corners).squared);
    }
    return sqrt(square);
}

// Separated: the deepest point has the distance of the bodies, and all points lie on the surfaces
// to second order in the angle between normals of one manifold.
static void pointsOfRandomBodiesLieOnBoth(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(411)};
    int count = rbTest_Count(300, 30000);
    int contacts = 0;
    for (int i = 0; i < count; ++i) {
        rbGeometry* a = rbMakeTestBody((rbTestBody)rbRandom_Index(&random, RB_BODY_COUNT_OF_KINDS),
                                       60, &random);
        rbGeometry* b = rbMakeTestBody((rbTestBody)rbRandom_Index(&random, RB_BODY_COUNT_OF_KINDS),
                                       60, &random);
        rbTransform pose = rbMakeRandomPose(&random);
        double threshold = rbRandom_Range(&random, 1e-4, 0.05);
        rbMeshPair pair = pairOf(a, b, pose);
        rbSeparation s;
        rbMeasureMeshes(&pair, &s);
        if (s.distance > 0.0) { // to about the threshold, or slightly into each other
            double wanted = threshold * rbRandom_Range(&random, -0.2, 1.2);
            pose.p = rbAddScaled(pose.p, wanted - s.distance, s.normal);
            pair.transformBtoA = pose;
            rbMeasureMeshes(&pair, &s);
        }
        int found = find(a, b, pose, threshold);
        assert_int_equal(found > 0, s.distance <= threshold);
        if (found > 0 && s.distance > 0.0) {
            double least = INFINITY;
            for (int m = 0; m < found && m < LIST_MAX; ++m) {
                for (int k = 0; k < manifolds[m].count; ++k) {
                    const rbManifoldPoint* p = &manifolds[m].points[k];
                    least = fmin(least, p->distance);
                    checkBelow(measureOff(a, p->pointA), 1e-9);
                    checkBelow(measureOff(b, rbInvTransformPoint(pose, p->pointB)),
                               0.15 * threshold);
                }
            }
            checkNear(least, s.distance, 1e-9 + 0.002 * s.distance);
            ++contacts;
        }
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    assert_true(contacts > count / 10);
}

// A ball or rod of radius r rounded by R is one of radius r + R: the same contacts with a mesh, by
// number, place and distance.
static void roundedRoundShapesAreThickerOnes(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(35)};
    rbGeometry* floor = makeBox(2.0, 2.0, 0.5);
    rbGeometry* shapes[2][2] = {{rbCreateSphere(0.3, NULL), rbCreateCapsule(0.3, 0.6, NULL)},
                                {rbCreateSphere(0.5, NULL), rbCreateCapsule(0.5, 0.6, NULL)}};
    int found = 0;
    for (int i = 0; i < 60; ++i) {
        int kind = i % 2;
        bool isFlat = i % 4 == 3;
        rbVec3 axis = isFlat ? rbMakeVec3(0.0, 1.0, 0.0) : rbRandom_Direction(&random);
        double angle = isFlat ? 0.5 * RB_PI : rbRandom_Range(&random, 0.0, RB_PI);
        double height = isFlat ? 1.0 : rbRandom_Range(&random, 0.95, 1.1);
        rbTransform pose = turned(axis, angle, rbMakeVec3(0.3, -0.2, height - 0.01));
        rbManifold lists[2][4];
        int counts[2];
        for (int k = 0; k < 2; ++k) {
            rbSeparationInput input = rbDefaultSeparationInput();
            input.geometryA = floor;
            input.geometryB = shapes[k][kind];
            input.transformBtoA = pose;
            input.radiusB = k == 0 ? 0.2 : 0.0;
            rbContactList list = {.manifolds = lists[k], .capacity = 4};
            assert_int_equal(rbFindContacts(&input, 0.05, NULL, pairScratch, &list, NULL),
                             RB_STATUS_OK);
            counts[k] = list.count;
        }
        assert_int_equal(counts[0], counts[1]);
        for (int m = 0; m < counts[0]; ++m) {
            assert_int_equal(lists[0][m].count, lists[1][m].count);
            for (int p = 0; p < lists[0][m].count; ++p) {
                const rbManifoldPoint* one = &lists[0][m].points[p];
                const rbManifoldPoint* other = &lists[1][m].points[p];
                checkNear(one->distance, other->distance, 1e-12);
                checkBelow(rbDistance(one->pointA, other->pointA), 1e-9);
                checkBelow(rbDistance(one->pointB, other->pointB), 1e-9);
                ++found;
            }
        }
    }
    assert_true(found > 40);
    for (int k = 0; k < 4; ++k) {
        rbDestroyGeometry(shapes[k / 2][k % 2]);
    }
    rbDestroyGeometry(floor);
}

// A plank over two pillars of one mesh whose tops are in one plane, tilted a little: the pillar
// that is nearer does not hide the other one. Contacts are at both ends, each as far as the tilt
// says.
static void plankLiesOnBothPillars(void** state)
{
    (void)state;
    const double halfX = 0.1;
    const double halfY = 0.2;
    rbVec3 v[16];
    int indices[48];
    static const int faces[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                  2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
    int sizes[12];
    for (int side = 0; side < 2; ++side) {
        double middle = side == 0 ? -0.4 : 0.4;
        for (int i = 0; i < 8; ++i) {
            v[8 * side + i] = rbMakeVec3(middle + ((i & 1) != 0 ? halfX : -halfX),
                                         (i & 2) != 0 ? halfY : -halfY, (i & 4) != 0 ? 0.0 : -1.0);
        }
        for (int i = 0; i < 24; ++i) {
            indices[24 * side + i] = 8 * side + faces[i];
            sizes[6 * side + i / 4] = 4;
        }
    }
    rbMeshDef def = {v, 16, sizes, indices, 12};
    rbGeometry* pillars = rbCreateMesh(&def, NULL);
    rbGeometry* plank = rbCreateBox(rbMakeVec3(0.6, 0.15, 0.05), NULL);
    assert_non_null(pillars);
    for (int i = -3; i <= 3; ++i) {
        double tilt = 1e-3 * i;
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = pillars;
        input.geometryB = plank;
        input.transformBtoA = turned(rbMakeVec3(0.0, 1.0, 0.0), tilt, rbMakeVec3(0.0, 0.0, 0.0502));
        rbContactList list = {.manifolds = manifolds, .capacity = LIST_MAX};
        assert_int_equal(rbFindContacts(&input, 0.01, NULL, pairScratch, &list, NULL),
                         RB_STATUS_OK);
        int counts[2] = {0, 0};
        for (int m = 0; m < list.count; ++m) {
            for (int k = 0; k < manifolds[m].count; ++k) {
                const rbManifoldPoint* p = &manifolds[m].points[k];
                counts[p->pointA.x > 0.0 ? 1 : 0] += 1;
                // The lower face of the plank is at 0.0502 - 0.05 / cos + tan x.
                double height = 0.0502 - 0.05 / cos(tilt) - tan(tilt) * p->pointA.x;
                checkNear(p->distance, height, 1e-5);
            }
        }
        assert_true(counts[0] >= 2 && counts[1] >= 2);
    }
    rbDestroyGeometry(plank);
    rbDestroyGeometry(pillars);
}

RB_TEST_GROUP(test_mesh_contacts, TEST_WITH_SCRATCH(boxOnFloorStandsOnItsCorners),
              TEST_WITH_SCRATCH(boxOnItsEdgeHasTwoPoints),
              TEST_WITH_SCRATCH(ballOnFloorHasOnePoint),
              TEST_WITH_SCRATCH(hookOverAnEdgeHasTwoManifolds),
              TEST_WITH_SCRATCH(archOnFloorStandsOnItsOuterCorners),
              TEST_WITH_SCRATCH(jammedPegIsPushedFromBothSides),
              TEST_WITH_SCRATCH(linkedToriTouchAtSeveralPlaces),
              TEST_WITH_SCRATCH(roundedBodiesTouchOnTheirRoundedSurfaces),
              TEST_WITH_SCRATCH(roundedRoundShapesAreThickerOnes),
              TEST_WITH_SCRATCH(plankLiesOnBothPillars),
              TEST_WITH_SCRATCH(namesStayWhileABoxSlides),
              TEST_WITH_SCRATCH(smallScratchKeepsWhatMatters),
              TEST_WITH_SCRATCH(publicQueryFindsThemInCompoundsToo),
              TEST_WITH_SCRATCH(pointsOfRandomBodiesLieOnBoth));
