// The exact sweep where the answer is known: the experiments of the ray specification, motions that
// separate or rest, and bad input.
#include "test/sweep_shapes/sweep_shapes.h"

// RX-01: E-01, a sphere head-on at another, and E-02, off its center: sqrt 3 of the path of 3
// remain when the centers are 2 apart with an offset of 1.
static void spheresMeetWhereTheirCentersAreTwoRadiiApart(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbShapeSweep sweep = sweepFrom(ball, rbMakeVec3(3, 0, 0), rbMakeVec3(-3, 0, 0), ball);
    assert_true(sweep.isHit && sweep.isExact && !sweep.isInside);
    checkNear(sweep.fraction, 1.0 / 3.0, 1e-15);
    checkVec(sweep.point, 1.0, 0.0, 0.0, 1e-15);
    checkVec(sweep.normal, 1.0, 0.0, 0.0, 1e-15);
    sweep = sweepFrom(ball, rbMakeVec3(3, 0, 1), rbMakeVec3(-3, 0, 0), ball);
    assert_true(sweep.isHit);
    checkNear(3.0 * sweep.fraction, 3.0 - sqrt(3.0), 1e-15);
    checkVec(sweep.point, sqrt(0.75), 0.0, 0.5, 1e-15);
    checkVec(sweep.normal, sqrt(0.75), 0.0, 0.5, 1e-15);
    // a graze is a contact; a slightly larger offset is not
    sweep = sweepFrom(ball, rbMakeVec3(3, 0, 2), rbMakeVec3(-6, 0, 0), ball);
    assert_true(sweep.isHit);
    checkNear(sweep.fraction, 0.5, 1e-8);
    assert_false(sweepFrom(ball, rbMakeVec3(3, 0, 2.0 + 1e-15), rbMakeVec3(-6, 0, 0), ball).isHit);
    rbDestroyGeometry(ball);
}

// RX-01: E-12, the bullet: one step is longer than the whole path.
static void bulletMeetsTheSphereWithinOneFrame(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    const double speeds[3] = {1.0, 800.0, 1000.0};
    for (int i = 0; i < 3; ++i) {
        double duration = i == 0 ? 20.0 : 1.0 / 24.0;
        rbVec3 step = rbScale(-speeds[i] * duration / sqrt(3.0), rbMakeVec3(1, 1, 1));
        rbShapeSweep sweep = sweepFrom(ball, rbMakeVec3(10, 10, 10), step, ball);
        assert_true(sweep.isHit);
        // centers 2 apart of 10 sqrt 3
        checkRelative(sweep.fraction * duration, (10.0 * sqrt(3.0) - 2.0) / speeds[i], 1e-14);
        double c = 1.0 / sqrt(3.0);
        checkVec(sweep.point, c, c, c, 1e-13);
    }
    rbDestroyGeometry(ball);
}

// RX-02: E-03, the tip of the pyramid, and E-04, its base, on a sphere; either body may be the
// moving one.
static void pyramidMeetsTheSphere(void** state)
{
    (void)state;
    rbGeometry* pyramid = makePyramid();
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    for (int i = 0; i < 2; ++i) {
        double up = i == 0 ? 1.0 : -1.0;
        rbVec3 step = {0.0, 4.0 * up, 0.0};
        // sphere in the origin of B's frame
        rbShapeSweep sweep = sweepFrom(pyramid, rbMakeVec3(0, -4.0 * up, 0), step, ball);
        assert_true(sweep.isHit && sweep.isExact);
        checkNear(4.0 * sweep.fraction, 2.0, 1e-15);
        checkVec(sweep.point, 0.0, -up, 0.0, 1e-15);
        checkVec(sweep.normal, 0.0, -up, 0.0, 1e-15);
        sweep = sweepFrom(ball, rbMakeVec3(0, 4.0 * up, 0), rbNeg(step), pyramid);
        assert_true(sweep.isHit);
        checkNear(4.0 * sweep.fraction, 2.0, 1e-15);
        checkVec(sweep.point, 0.0, up, 0.0, 1e-15);
        checkVec(sweep.normal, 0.0, up, 0.0, 1e-15);
    }
    rbDestroyGeometry(ball);
    rbDestroyGeometry(pyramid);
}

// RX-03: E-05. The rear vertex of the moving pyramid meets the front edge of the other; the normal
// is that of the face above the edge, not of the base, which is parallel to the motion.
static void vertexMeetsEdge(void** state)
{
    (void)state;
    rbGeometry* pyramid = makePyramid();
    rbShapeSweep sweep = sweepFrom(pyramid, rbMakeVec3(0, 0, 5), rbMakeVec3(0, 0, -5), pyramid);
    assert_true(sweep.isHit && sweep.isExact && !sweep.isInside);
    checkNear(5.0 * sweep.fraction, 3.0, 1e-15);
    checkVec(sweep.point, 0.0, -1.0, 1.0, 1e-15);
    checkVec(sweep.normal, 0.0, 1.0 / sqrt(5.0), 2.0 / sqrt(5.0), 1e-15);
    rbDestroyGeometry(pyramid);
}

// RX-03: E-06. Edge meets edge: e = (1, 0, 0) of the base of one, f = (0, 2, 1) of the other. Only
// the normal perpendicular to both, (0, -1, 2) / sqrt 5, separates the bodies; rays report that of
// a face.
static void edgeMeetsEdge(void** state)
{
    (void)state;
    rbGeometry* pyramid = makePyramid();
    rbShapeSweep sweep = sweepFrom(pyramid, rbMakeVec3(0, -0.5, 5), rbMakeVec3(0, 0, -5), pyramid);
    assert_true(sweep.isHit && sweep.isExact);
    checkNear(5.0 * sweep.fraction, 3.25, 1e-15);
    checkVec(sweep.point, 0.0, -1.0, 1.0, 1e-15);
    checkVec(sweep.normal, 0.0, -1.0 / sqrt(5.0), 2.0 / sqrt(5.0), 1e-15);
    rbDestroyGeometry(pyramid);
}

// RX-01, RX-02, RX-03: every pair of kinds head-on along x, 10 m apart.
static void everyPairOfKindsMeetsHeadOn(void** state)
{
    (void)state;
    rbGeometry* shapes[8] = {
        rbCreateSphere(1.0, NULL),
        rbCreateBox(rbMakeVec3(1, 1, 1), NULL),
        rbCreateCapsule(1.0, 0.5, NULL),
        rbCreateCylinder(1.0, 1.0, NULL),
        rbCreateEllipsoid(rbMakeVec3(1, 2, 0.5), NULL),
        makePyramid(),
        NULL,
        NULL,
    };
    rbCompoundChild children[2] = {{shapes[0], {{0, 0, 0.5}, RB_QUAT_IDENTITY}, 0.0},
                                   {shapes[1], {{0, 0, -0.5}, RB_QUAT_IDENTITY}, 0.0}};
    shapes[6] = rbCreateCompound(children, 2, NULL);
    shapes[7] = rbCreateCylinder(1.0, 2.0, NULL);
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) {
            rbShapeSweep sweep =
                sweepFrom(shapes[i], rbMakeVec3(10, 0, 0), rbMakeVec3(-20, 0, 0), shapes[j]);
            assert_true(sweep.isHit && !sweep.isInside);
            if (i != 5 && j != 5) {
                checkNear(20.0 * sweep.fraction, 8.0, 1e-9);
            }
            rbSeparation gap = measureAt(
                shapes[i], (rbTransform){{10.0 - 20.0 * sweep.fraction, 0, 0}, RB_QUAT_IDENTITY},
                shapes[j]);
            checkNear(gap.distance, 0.0, 1e-9);
            assert_true(sweep.normal.x > 0.0);
        }
    }
    for (int i = 0; i < 8; ++i) {
        rbDestroyGeometry(shapes[i]);
    }
}

// RX-03: a box that touches another hits immediately if it approaches and not at all if it
// separates or slides along; one at rest hits nothing.
static void touchAtTheStartCountsOnlyWhereTheyApproach(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1, 1, 1), NULL);
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbGeometry* pyramid = makePyramid();
    rbGeometry* cylinder = rbCreateCylinder(1.0, 1.0, NULL);
    rbGeometry* floor = rbCreatePlane(rbMakeVec3(0, 0, 1), 1.0, NULL);
    const rbGeometry* movers[4] = {box, ball, cylinder, box};
    const rbGeometry* standing[4] = {box, box, box, floor};
    for (int i = 0; i < 4; ++i) {
        rbVec3 place = {0.25, 0.125, 2.0};
        rbShapeSweep down = sweepFrom(movers[i], place, rbMakeVec3(0.1, 0.2, -1), standing[i]);
        assert_true(down.isHit && !down.isInside && down.fraction == 0.0);
        checkVec(down.normal, 0.0, 0.0, 1.0, 1e-9);
        assert_false(sweepFrom(movers[i], place, rbMakeVec3(0.1, 0.2, 1), standing[i]).isHit);
        assert_false(sweepFrom(movers[i], place, RB_VEC3_ZERO, standing[i]).isHit);
    }
    // tip under the floor of another: up is into it, down is away
    rbVec3 below = {0.0, -2.0, 0.0};
    assert_true(sweepFrom(pyramid, below, rbMakeVec3(0, 1, 0), pyramid).isHit);
    assert_false(sweepFrom(pyramid, below, rbMakeVec3(0, -1, 0), pyramid).isHit);
    rbGeometry* all[5] = {box, ball, pyramid, cylinder, floor};
    for (int i = 0; i < 5; ++i) {
        rbDestroyGeometry(all[i]);
    }
}

// RX-02, RX-03: surfaces of zero thickness stop bodies from either side, one triangle is enough.
static void oneTriangleIsMetFromBothSides(void** state)
{
    (void)state;
    const rbVec3 vertices[3] = {{-1, -1, 0}, {1, -1, 0}, {0, 2, 0}};
    const int indices[3] = {0, 1, 2};
    rbMeshDef def = {.vertices = vertices, .vertexCount = 3, .indices = indices, .faceCount = 1};
    rbGeometry* triangle = rbCreateSoup(&def, NULL);
    rbGeometry* shapes[4] = {rbCreateSphere(0.25, NULL),
                             rbCreateBox(rbMakeVec3(0.25, 0.25, 0.25), NULL),
                             rbCreateCylinder(0.25, 0.25, NULL), makePyramid()};
    for (int i = 0; i < 8; ++i) {
        double side = i % 2 == 0 ? 1.0 : -1.0;
        const rbGeometry* shape = shapes[i / 2];
        rbShapeSweep sweep =
            sweepFrom(shape, rbMakeVec3(0, 0, 2.25 * side), rbMakeVec3(0, 0, -4 * side), triangle);
        assert_true(sweep.isHit && !sweep.isInside);
        checkNear(4.0 * sweep.fraction, i < 6 ? 2.0 : 1.25, 1e-9);
        checkNear(sweep.normal.z, side, 1e-9);
    }
    for (int i = 0; i < 4; ++i) {
        rbDestroyGeometry(shapes[i]);
    }
    rbDestroyGeometry(triangle);
}

// RX-01, RX-02, RX-03: values that cannot be swept get a message.
static void badSweepsAreRefused(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbGeometry* floor = rbCreatePlane(rbMakeVec3(0, 0, 1), 0.0, NULL);
    rbShapeSweep sweep;
    rbTransform good = {{0, 0, 3}, RB_QUAT_IDENTITY};
    rbTransform turned = {{0, 0, 3}, {2, 0, 0, 0}};
    rbTransform lost = {{0, NAN, 3}, RB_QUAT_IDENTITY};
    rbVec3 down = {0, 0, -1};
    const struct {
        const rbGeometry* a;
        rbTransform pose;
        rbVec3 step;
        double tolerance;
        rbStatus status;
    } cases[7] = {
        {ball, turned, down, 0.0, RB_STATUS_INVALID},
        {ball, lost, down, 0.0, RB_STATUS_INVALID},
        {ball, good, {0, NAN, 0}, 0.0, RB_STATUS_INVALID},
        {ball, good, {0, INFINITY, 0}, 0.0, RB_STATUS_INVALID},
        {ball, good, down, -1.0, RB_STATUS_INVALID},
        {ball, good, down, NAN, RB_STATUS_INVALID},
        {floor, good, down, 0.0, RB_STATUS_UNSUPPORTED},
    };
    for (int i = 0; i < 7; ++i) {
        rbError error = {0};
        assert_int_equal(rbSweepShapes(cases[i].a, cases[i].pose, cases[i].step, floor,
                                       cases[i].tolerance, getScratch(), &sweep, &error),
                         cases[i].status);
        assert_true(error.message[0] != '\0');
        assert_false(sweep.isHit);
    }
    rbDestroyGeometry(ball);
    rbDestroyGeometry(floor);
}

RB_TEST_GROUP(test_shape_sweep, cmocka_unit_test(spheresMeetWhereTheirCentersAreTwoRadiiApart),
              cmocka_unit_test(bulletMeetsTheSphereWithinOneFrame),
              cmocka_unit_test(pyramidMeetsTheSphere), cmocka_unit_test(vertexMeetsEdge),
              cmocka_unit_test(edgeMeetsEdge), cmocka_unit_test(everyPairOfKindsMeetsHeadOn),
              cmocka_unit_test(touchAtTheStartCountsOnlyWhereTheyApproach),
              cmocka_unit_test(oneTriangleIsMetFromBothSides),
              cmocka_unit_test(badSweepsAreRefused));
