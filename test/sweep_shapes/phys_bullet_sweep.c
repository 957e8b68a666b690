// A bullet at 1000 m/s and plates of a millimeter to a micrometer: it passes at no frame rate, and
// it arrives at the same time at all of them. Also the growth of the cost with the triangles.
#include "test/collision/shape_samples.h"
#include "test/sweep_shapes/sweep_shapes.h"

#include <stdio.h>
#include <time.h>

#define SPEED 1000.0 // m/s

// A plate in the plane z = 0, as a box, as a mesh and, of zero thickness, as two triangles.
static rbGeometry* makePlate(int kind, double thickness)
{
    double h = 0.5 * thickness;
    if (kind == 0) {
        return rbCreateBox(rbMakeVec3(2, 2, h), NULL);
    }
    if (kind == 1) {
        const double square[4][2] = {{-2, -2}, {2, -2}, {2, 2}, {-2, 2}};
        rbOwnedMesh mesh;
        assert_int_equal(rbExtrudeProfile(square, 4, thickness, &mesh, NULL), RB_STATUS_OK);
        for (int i = 0; i < mesh.vertexCount; ++i) {
            mesh.vertices[i].z -= h;
        }
        rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
        rbGeometry* plate = rbCreateMesh(&def, NULL);
        rbFreeMesh(&mesh);
        return plate;
    }
    const rbVec3 vertices[4] = {{-2, -2, h}, {2, -2, h}, {2, 2, h}, {-2, 2, h}};
    const int indices[6] = {0, 1, 2, 0, 2, 3};
    rbMeshDef def = {.vertices = vertices, .vertexCount = 4, .indices = indices, .faceCount = 2};
    return rbCreateSoup(&def, NULL);
}

// Flies frame by frame. Returns the time of contact, INFINITY if it passed.
static double shoot(const rbGeometry* bullet, rbTransform pose, rbVec3 velocity,
                    const rbGeometry* plate, double frameRate)
{
    rbVec3 step = rbScale(1.0 / frameRate, velocity);
    int frames = (int)(frameRate * 10.0 / SPEED) + 2;
    for (int i = 0; i < frames; ++i) {
        rbTransform start = pose;
        start.p = rbAddScaled(pose.p, i / frameRate, velocity);
        rbShapeSweep sweep = sweepShapes(bullet, start, step, plate);
        if (sweep.isHit) {
            assert_false(sweep.isInside);
            return (i + sweep.fraction) / frameRate;
        }
    }
    return (double)INFINITY;
}

// RX-01, RX-02, RX-03: the bullet is a ball, a capsule, a box and a cone, with random
// orientations. Its support alone determines where its lowest point meets the upper side of the
// plate.
static void bulletNeverPassesAPlateAtAnyFrameRate(void** state)
{
    (void)state;
    static const double frameRates[8] = {1, 10, 24, 60, 100, 144, 300, 1000};
    rbRandom random = {rbTest_Seed(90405)};
    rbGeometry* bullets[4] = {rbCreateSphere(0.004, NULL), rbCreateCapsule(0.003, 0.01, NULL),
                              rbCreateBox(rbMakeVec3(0.003, 0.004, 0.01), NULL),
                              rbCreateCone(0.004, 0.02, NULL)};
    for (int i = 0; i < rbTest_Count(360, 20000); ++i) {
        double thickness = pow(10.0, rbRandom_Range(&random, -6.0, -3.0));
        rbGeometry* plate = makePlate(i % 3, thickness);
        const rbGeometry* bullet = bullets[i / 3 % 4];
        rbVec3 target = randomVec3(&random, 1.0);
        target.z = 0.0;
        rbVec3 from = rbRandom_Direction(&random);
        from.z = fabs(from.z) + 0.2;
        from = rbNormalize(from);
        double far = rbRandom_Range(&random, 0.3, 3.0);
        rbTransform pose = {rbAddScaled(target, far, from), rbRandom_Quat(&random)};
        rbVec3 velocity = rbScale(-SPEED, from);
        rbVec3 down = {0, 0, -1};
        rbVec3 lowest =
            rbTransformPoint(pose, rbGeometry_GetSupport(bullet, rbInvRotate(pose.q, down)));
        double truth = (lowest.z - 0.5 * thickness) / -velocity.z;
        for (int k = 0; k < 8; ++k) {
            double time = shoot(bullet, pose, velocity, plate, frameRates[k]);
            checkNear(time * SPEED, truth * SPEED, 1e-9);
        }
        rbDestroyGeometry(plate);
    }
    for (int i = 0; i < 4; ++i) {
        rbDestroyGeometry(bullets[i]);
    }
}

static double getSeconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// RX-02, RX-03: rough balls of triangles thrown at each other; every pair of triangles would be
// 100 times the work for ten times the triangles. Prints the growth and allows a factor of 30.
static void costGrowsFarLessThanThePairsOfTriangles(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(90406)};
    double first = 0.0;
    static const double deviations[3] = {0.05, 0.005, 0.0005};
    for (int i = 0; i < 3; ++i) {
        rbOwnedMesh mesh = makeStarMesh(&random, deviations[i], 0.02);
        rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
        rbGeometry* ball = rbCreateMesh(&def, NULL);
        assert_non_null(ball);
        double start = getSeconds();
        int count = 10;
        for (int k = 0; k < count; ++k) {
            rbVec3 from = rbRandom_Direction(&random);
            rbTransform pose = {rbScale(4.0, from), rbRandom_Quat(&random)};
            rbVec3 step = rbSub(randomVec3(&random, 0.5), pose.p);
            rbShapeSweep sweep = sweepShapes(ball, pose, step, ball);
            assert_true(sweep.isHit && sweep.isExact);
        }
        double seconds = (getSeconds() - start) / count;
        print_message("%d triangles on as many: %.0f us\n", mesh.faceCount, 1e6 * seconds);
        first = i == 0 ? seconds : first;
        assert_true(i < 2 || seconds < 900.0 * first);
        rbDestroyGeometry(ball);
        rbFreeMesh(&mesh);
    }
}

RB_TEST_GROUP(phys_bullet_sweep, cmocka_unit_test(bulletNeverPassesAPlateAtAnyFrameRate),
              cmocka_unit_test(costGrowsFarLessThanThePairsOfTriangles));
