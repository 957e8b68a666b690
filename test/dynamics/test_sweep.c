// Bounds of the time of contact where the answer is known: drops, tops, free spin, and the exact
// roots of spheres and heights.
#include "dynamics/motion/free_top.h"
#include "lab/math/axis_angle.h"
#include "lab/math/polynomial.h"
#include "test/dynamics/sweep_pair.h"

#include <float.h>

static rbSweepBody makeBody(const rbGeometry* geometry, rbVec3 position)
{
    rbSweepBody body = {.geometry = geometry, .pose = {position, RB_QUAT_IDENTITY}};
    body.motion.center = position;
    body.motion.horizon = INFINITY;
    body.radius = rbGetCoreReach(geometry, RB_VEC3_ZERO);
    return body;
}

// L-73, L-74, B-65: U-12. A body released at rest above a fixed floor falls for sqrt(2 h/g);
// without gravity in the bound it would never arrive.
static void bodyFallsFromRestOntoTheFloor(void** state)
{
    (void)state;
    rbGeometry* floor = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL);
    rbGeometry* shapes[3] = {rbCreateSphere(0.5, NULL),
                             rbCreateBox(rbMakeVec3(0.1, 2.0, 0.5), NULL),
                             rbCreateCapsule(0.25, 0.25, NULL)};
    rbVec3 n = {0.0, 0.0, 1.0};
    for (int i = 0; i < 3; ++i) {
        rbSweepBody a = makeBody(floor, RB_VEC3_ZERO);
        rbSweepBody b = makeBody(shapes[i], rbMakeVec3(3.0, -1.0, 1.5));
        b.motion.acceleration = rbMakeVec3(0.0, 0.0, -9.81);
        rbSweepGap gap = {1.0, n};
        double truth = sqrt(2.0 / 9.81);
        double bounds[3] = {rbBoundByPaths(&a, &b, 1.0, 0.0), rbBoundBySupports(&a, &b, n, 0.0),
                            rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 0.0)};
        for (int k = 0; k < 3; ++k) {
            assert_true(bounds[k] <= truth);
            checkRelative(bounds[k], truth, 1e-13);
        }
        // thrown up with u: (u + sqrt(u^2 + 2 g h))/g; paths does not know that up is away
        b.motion.velocity = rbMakeVec3(0.0, 0.0, 3.0);
        truth = (3.0 + sqrt(9.0 + 2.0 * 9.81)) / 9.81;
        double thrown = rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 0.0);
        assert_true(thrown <= truth);
        checkRelative(thrown, truth, 1e-13);
        assert_true(rbBoundByPaths(&a, &b, 1.0, 0.0) < 0.3);
        // both fall: never; and the horizon is the end
        a.motion.acceleration = b.motion.acceleration;
        assert_true(isinf(rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 0.0)));
        b.motion.horizon = 7.0;
        assert_true(rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 0.0) == 7.0);
        // nothing is left above the level
        assert_true(rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 1.0) == 0.0);
        rbDestroyGeometry(shapes[i]);
    }
    rbDestroyGeometry(floor);
}

// L-74: slacks and growth enter as their definitions say.
static void slacksAndGrowthBringTheContactForward(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbSweepBody a = makeBody(ball, RB_VEC3_ZERO);
    rbSweepBody b = makeBody(ball, rbMakeVec3(0.0, 6.0, 0.0));
    rbSweepGap gap = {4.0, {0.0, 1.0, 0.0}};
    b.growth = 0.5;
    a.growth = 0.5;
    checkRelative(rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 0.0), 4.0, 1e-13);
    b.motion.velocitySlack = 1.0;
    checkRelative(rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 0.0), 2.0, 1e-13);
    b.growth = a.growth = -0.5;
    assert_true(isinf(rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 0.0)));
    a.motion.accelerationSlack = 2.0; // t^2 = 4
    checkRelative(rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 0.0), 2.0, 1e-13);
    checkRelative(rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 3.0), 1.0, 1e-13);
    rbDestroyGeometry(ball);
}

// The angular velocity in the world and its rate at a time of a free top.
static rbVec3 spinAt(const rbFreeTop* top, rbVec3 moments, double t, double* rate)
{
    rbQuat q;
    rbVec3 w;
    rbFreeTop_Evaluate(top, t, &q, &w);
    // Euler's equations by differences of the moments, which are exact
    *rate = rbLength(rbMakeVec3((moments.y - moments.z) * w.y * w.z / moments.x,
                                (moments.z - moments.x) * w.z * w.x / moments.y,
                                (moments.x - moments.y) * w.x * w.y / moments.z));
    return rbRotate(q, w);
}

// L-75: never exceeded, and attained: the largest values over some periods come near.
static void freeSpinStaysWithinItsBounds(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5201)};
    int count = rbTest_Count(2000, 20000);
    double worst[3] = {-1.0, -1.0, -1.0};
    double energyBound = 0.0;
    double mean[2] = {0.0, 0.0};
    for (int i = 0; i < count; ++i) {
        double x2 = rbExp(rbRandom_Range(&random, -6.0, 0.0));
        double y2 = rbExp(rbRandom_Range(&random, -6.0, 0.0));
        double z2 = i % 5 == 0 ? x2 : rbExp(rbRandom_Range(&random, -6.0, 0.0));
        rbVec3 moments = rbScale(1e-20, rbMakeVec3(y2 + z2, x2 + z2, x2 + y2));
        rbQuat q = rbRandom_Quat(&random);
        rbVec3 w = rbScale(rbExp(rbRandom_Range(&random, -2.0, 7.0)), rbRandom_Direction(&random));
        rbSweepMotion motion = {.horizon = INFINITY};
        rbSweepMotion_SetFreeSpin(&motion, moments, q, w);
        checkBelow(rbDistance(motion.spin, rbRotate(q, w)), 1e-15 * rbLength(w));
        rbFreeTop top = rbFreeTop_Make(moments, q, w);
        double largest[3] = {0.0, 0.0, 0.0};
        double duration = 200.0 / rbLength(w);
        for (int k = 0; k < 200; ++k) {
            double rate;
            rbVec3 spin = spinAt(&top, moments, duration * k / 200, &rate);
            largest[0] = fmax(largest[0], rbDistance(spin, motion.steadySpin));
            largest[1] = fmax(largest[1], rbLength(spin));
            largest[2] = fmax(largest[2], rate);
        }
        const double bounds[3] = {motion.wobble, motion.spinMax, motion.spinRateMax};
        double least = fmin(moments.x, fmin(moments.y, moments.z));
        double most = fmax(moments.x, fmax(moments.y, moments.z));
        double spinMax = motion.spinMax;
        // the factor on errors of the components of the spin
        const double scales[3] = {spinMax, spinMax, spinMax * spinMax * (most / least - 1.0)};
        for (int k = 0; k < 3; ++k) {
            worst[k] = fmax(worst[k], (largest[k] - bounds[k]) / scales[k]);
        }
        mean[0] += largest[0] / bounds[0] / count;
        mean[1] += largest[2] / bounds[2] / count;
        double simple = sqrt(rbDot(rbMulEach(moments, w), w) / least);
        energyBound = fmax(energyBound, motion.spinMax / simple);
    }
    print_message("largest excess of wobble %.2g, of spin %.2g, of its rate %.2g; reached on "
                  "average %.4f of the wobble, %.4f of the rate\n",
                  worst[0], worst[1], worst[2], mean[0], mean[1]);
    // the reference motion has errors of 1e-14 after these angles
    for (int k = 0; k < 3; ++k) {
        checkBelow(worst[k], 1e-14);
    }
    assert_true(mean[0] > 0.99 && mean[1] > 0.99);
    checkBelow(energyBound, 1.0 + 1e-14);
}

// L-75
static void steadyRotationsDoNotWobble(void** state)
{
    (void)state;
    rbQuat q = {0.5, -0.5, 0.5, 0.5};
    rbSweepMotion motion = {0};
    // a sphere
    rbSweepMotion_SetFreeSpin(&motion, rbMakeVec3(0.4, 0.4, 0.4), q, rbMakeVec3(3.0, 4.0, 12.0));
    checkNear(motion.wobble, 0.0, 1e-12);
    checkNear(motion.spinMax, 13.0, 1e-12);
    checkNear(motion.spinRateMax, 0.0, 1e-12);
    // about each principal axis
    for (int i = 0; i < 3; ++i) {
        rbVec3 w = {i == 0 ? 9.0 : 0.0, i == 1 ? 9.0 : 0.0, i == 2 ? 9.0 : 0.0};
        rbSweepMotion_SetFreeSpin(&motion, rbMakeVec3(1.0, 2.0, 2.5), q, w);
        checkNear(motion.wobble, 0.0, 1e-13);
        checkNear(motion.spinMax, 9.0, 1e-13);
        checkNear(motion.spinRateMax, 0.0, 1e-13);
    }
    // a tiny disturbance of the middle axis makes it tumble: all of the bound is needed
    rbSweepMotion_SetFreeSpin(&motion, rbMakeVec3(1.0, 2.0, 2.5), q, rbMakeVec3(1e-9, 9.0, 0.0));
    assert_true(motion.wobble > 1.0);
    // a symmetric top: the perpendicular part is constant, the precession L/I1
    rbVec3 w = {0.3, 0.4, 10.0};
    rbSweepMotion_SetFreeSpin(&motion, rbMakeVec3(2.0, 2.0, 1.0), q, w);
    double momentum = sqrt(1.0 * 1.0 + 100.0);
    double wobble = 0.5 * 10.0 / momentum; // |w x L|/L = (2 - 1) 0.5 10 / L
    checkRelative(motion.wobble, wobble, 1e-12);
    checkRelative(motion.spinRateMax, momentum / 2.0 * wobble, 1e-12);
    checkRelative(motion.spinMax, rbLength(w), 1e-13);
    rbSweepMotion_SetFreeSpin(&motion, rbMakeVec3(2.0, 2.0, 1.0), q, RB_VEC3_ZERO);
    assert_true(motion.spinMax == 0.0 && motion.wobble == 0.0 && motion.spinRateMax == 0.0);
}

// Measurements of a body that falls onto a fixed floor, until the gap is 1e-9 m.
static int countFall(const rbGeometry* geometry, double height, rbVec3 moments, rbQuat orientation,
                     rbVec3 spin)
{
    Truth truth = {malloc(rbGetSeparationScratchSize()), 0};
    Mover floor = {.geometry = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL),
                   .local = RB_TRANSFORM_IDENTITY,
                   .start.orientation = RB_QUAT_IDENTITY};
    Mover top = {.geometry = (rbGeometry*)geometry,
                 .local = RB_TRANSFORM_IDENTITY,
                 .isFree = true,
                 .body = {.mass = 1.0,
                          .moments = moments,
                          .acceleration = {0.0, 0.0, -9.81},
                          .settings = {RB_MOTION_AUTO, 1e-3, 8, 1e-12}},
                 .start = {.orientation = orientation, .spin = spin}};
    startMover(&floor);
    top.start.position.z = 10.0;
    startMover(&top);
    top.start.position.z -= measureAt(&truth, &floor, &top, 0.0).distance - height;
    startMover(&top);
    double t = 0.0;
    int count = 0;
    while (count < 1000000) {
        rbSeparation s = measureAt(&truth, &floor, &top, t);
        ++count;
        assert_true(s.upper > -1e-12);
        if (s.distance < 1e-9) {
            break;
        }
        rbSweepBody a = sweepBodyAt(&floor, t);
        rbSweepBody b = sweepBodyAt(&top, t);
        rbSweepGap gap = {s.lower, s.normal};
        t += rbBoundMeeting(&a, &b, &gap, RB_VEC3_ZERO, 0.5e-9);
    }
    rbDestroyGeometry(floor.geometry);
    free(truth.scratch);
    return count;
}

// L-75, L-76: a rotation about the normal of the floor does not approach it.
static void spinningTopIsNotMeasuredOften(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(0.3, 0.2, 0.1), NULL);
    rbGeometry* egg = rbCreateEllipsoid(rbMakeVec3(0.02, 0.02, 0.03), NULL);
    rbGeometry* ball = rbCreateSphere(0.02, NULL);
    rbGeometry* stem = rbCreateCapsule(0.004, 0.01, NULL);
    rbCompoundChild children[2] = {{ball, {{0.0, 0.0, 0.002}, RB_QUAT_IDENTITY}, 0.0},
                                   {stem, {{0.0, 0.0, 0.025}, RB_QUAT_IDENTITY}, 0.0}};
    rbGeometry* tippe = rbCreateCompound(children, 2, NULL);
    rbVec3 symmetric = {1.0, 1.0, 0.8};
    rbVec3 fast = {0.0, 0.0, 1000.0};
    rbQuat tilted = rbQuat_FromAxisAngle(rbMakeVec3(1.0, 0.0, 0.0), 0.2);
    int upright = countFall(box, 1.0, rbMakeVec3(0.05, 0.1, 0.13), RB_QUAT_IDENTITY, fast);
    int eggUpright = countFall(egg, 0.1, symmetric, RB_QUAT_IDENTITY, fast);
    // the axis is tilted against the floor and precesses
    int eggTilted = countFall(egg, 0.001, symmetric, tilted, rbMakeVec3(0.0, 1.0, 200.0));
    int tippeTilted = countFall(tippe, 0.001, symmetric, tilted, rbMakeVec3(0.0, 1.0, 200.0));
    int tippeNear = countFall(tippe, 1e-6, symmetric, tilted, rbMakeVec3(0.0, 1.0, 200.0));
    print_message("measurements: box about the vertical at 1000 rad/s %d, egg %d; tilted at 200 "
                  "rad/s: egg %d, tippe top %d, from 1e-6 m %d\n",
                  upright, eggUpright, eggTilted, tippeTilted, tippeNear);
    checkBelow(upright, 8);
    checkBelow(eggUpright, 8);
    checkBelow(eggTilted, 40);
    checkBelow(tippeTilted, 20);
    checkBelow(tippeNear, 10);
    rbDestroyGeometry(tippe);
    rbDestroyGeometry(stem);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(egg);
    rbDestroyGeometry(box);
}

// L-76: a rod that rotates inside a fork: the hulls overlap, but every pair of parts has a
// direction.
static void partsOfInterlockedBodiesAreBoundOneByOne(void** state)
{
    (void)state;
    Truth truth = {malloc(rbGetSeparationScratchSize()), 0};
    rbGeometry* prong = rbCreateBox(rbMakeVec3(0.2, 0.2, 1.0), NULL);
    rbGeometry* back = rbCreateBox(rbMakeVec3(1.2, 0.2, 0.2), NULL);
    rbCompoundChild children[3] = {{prong, {{-1.0, 0.0, 0.0}, RB_QUAT_IDENTITY}, 0.0},
                                   {prong, {{1.0, 0.0, 0.0}, RB_QUAT_IDENTITY}, 0.0},
                                   {back, {{0.0, 0.0, -1.2}, RB_QUAT_IDENTITY}, 0.0}};
    Mover fork = {.geometry = rbCreateCompound(children, 3, NULL),
                  .local = RB_TRANSFORM_IDENTITY,
                  .start.orientation = RB_QUAT_IDENTITY};
    Mover rod = {.geometry = rbCreateBox(rbMakeVec3(0.3, 2.0, 0.2), NULL),
                 .local = RB_TRANSFORM_IDENTITY,
                 .start = {.orientation = RB_QUAT_IDENTITY,
                           .velocity = {1.0, 0.0, 0.5},
                           .spin = {0.3, 3.0, 0.2}}};
    startMover(&fork);
    startMover(&rod);
    int counts[2] = {0, 0};
    double times[2];
    for (int row = 0; row < 2; ++row) {
        double t = 0.0;
        double step = 0.0;
        rbVec3 turning = RB_VEC3_ZERO;
        rbSeparation s = measureAt(&truth, &fork, &rod, t);
        while (s.distance > 1e-9 && counts[row] < 10000) {
            rbSweepBody a = sweepBodyAt(&fork, t);
            rbSweepBody b = sweepBodyAt(&rod, t);
            rbSweepGap gap = {s.lower, s.normal};
            assert_true(rbBoundBySupports(&a, &b, s.normal, 0.0) == 0.0);
            step = row == 0 ? rbBoundMeeting(&a, &b, &gap, turning, 0.5e-9)
                            : rbBoundByPaths(&a, &b, s.lower, 0.5e-9);
            t += step;
            s = measureAt(&truth, &fork, &rod, t);
            turning = rbScale(1.0 / step, rbCross(gap.normal, s.normal));
            assert_true(s.upper > 0.0);
            ++counts[row];
        }
        times[row] = t;
    }
    print_message("the rod touches the fork after %.9f s and %d bounds by parts, %d by paths\n",
                  times[0], counts[0], counts[1]);
    checkNear(times[0], times[1], 1e-8);
    checkBelow(counts[0], 12);
    assert_true(counts[1] > 5 * counts[0]);
    rbDestroyGeometry(rod.geometry);
    rbDestroyGeometry(fork.geometry);
    rbDestroyGeometry(back);
    rbDestroyGeometry(prong);
    free(truth.scratch);
}

// L-75: a point, a segment, the whole shape.
static void coreReachLeavesTheBallOut(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(2.0, NULL);
    rbGeometry* rod = rbCreateCapsule(0.5, 3.0, NULL);
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 2.0, 2.0), NULL);
    rbCompoundChild children[2] = {{ball, {{0.0, 5.0, 0.0}, RB_QUAT_IDENTITY}, 0.0},
                                   {rod, {{0.0, 0.0, 1.0}, RB_QUAT_IDENTITY}, 0.0}};
    rbGeometry* both = rbCreateCompound(children, 2, NULL);
    rbGeometry* plane = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL);
    assert_true(rbGetCoreReach(ball, RB_VEC3_ZERO) == 0.0);
    assert_true(rbGetCoreReach(ball, rbMakeVec3(0.0, 3.0, 4.0)) == 5.0);
    assert_true(rbGetCoreReach(rod, rbMakeVec3(3.0, 0.0, -1.0)) == 5.0);
    assert_true(rbGetCoreReach(box, RB_VEC3_ZERO) == 3.0);
    assert_true(rbGetCoreReach(both, RB_VEC3_ZERO) == 5.0);
    assert_true(isinf(rbGetCoreReach(plane, RB_VEC3_ZERO)));
    rbGeometry* all[5] = {both, ball, rod, box, plane};
    for (int i = 0; i < 5; ++i) {
        rbDestroyGeometry(all[i]);
    }
}

// L-73
static void heightsFallAsParabolasDo(void** state)
{
    (void)state;
    checkNear(rbSweepHeight(2.0, 0.0, -4.0), 1.0, 0.0);
    checkNear(rbSweepHeight(2.0, -2.0, 0.0), 1.0, 0.0);
    checkNear(rbSweepHeight(2.0, -3.0, 2.0), 1.0, 0.0); // (t-1)(t-2)
    checkNear(rbSweepHeight(1.0, -2.0, 2.0), 1.0, 0.0); // touches
    assert_true(isinf(rbSweepHeight(1.01, -2.0, 2.0)));
    assert_true(isinf(rbSweepHeight(1.0, 0.0, 0.0)));
    assert_true(isinf(rbSweepHeight(1.0, 1.0, 0.0)));
    checkNear(rbSweepHeight(1.0, 1.0, -4.0), 1.0, 0.0);
    assert_true(rbSweepHeight(0.0, -1.0, 5.0) == 0.0);
    assert_true(rbSweepHeight(-1.0, 0.0, -1.0) == 0.0);
    assert_true(rbSweepHeight(0.0, 0.0, -1.0) == 0.0);
    assert_true(isinf(rbSweepHeight(0.0, 0.0, 0.0)));
    assert_true(isinf(rbSweepHeight(-1.0, 0.0, 1.0)));
    assert_true(isinf(rbSweepHeight(-1.0, 1.0, 0.0)));
    checkNear(rbSweepHeight(0.0, 3.0, -2.0), 3.0, 0.0);  // forward and back
    checkNear(rbSweepHeight(-1.0, 1.0, -2.0), 0.5, 0.0); // never above: from the apex on
    checkNear(rbSweepHeight(-2.0, 3.0, -2.0), 2.0, 0.0); // -(t-1)(t-2)
    // both coefficients tiny or huge: no digits are lost
    checkRelative(rbSweepHeight(1e-20, -1.0, -1.0), 1e-20, 1e-15);
    checkRelative(rbSweepHeight(1e20, 1e-5, -2.0), 1e10, 1e-15);
}

// Gap of the spheres and the rate of its square.
static double spheresAt(rbVec3 p, rbVec3 v, rbVec3 a, double radius, double t)
{
    rbVec3 x = rbAddScaled(rbAddScaled(p, t, v), 0.5 * t * t, a);
    return rbLength(x) - radius;
}

typedef struct SpherePair {
    rbVec3 p, v, a;
    double r, growth;
} SpherePair;

static SpherePair randomSpheres(rbRandom* random, bool falls)
{
    SpherePair pair;
    pair.r = rbRandom_Range(random, 0.1, 1.0);
    pair.p =
        rbScale(pair.r + rbExp(rbRandom_Range(random, -20.0, 2.0)), rbRandom_Direction(random));
    // aimed at a point near the sphere, some grazing it
    rbVec3 aim = rbScale(rbRandom_Range(random, 0.0, 1.2) * pair.r, rbRandom_Direction(random));
    rbVec3 toward = rbSub(aim, pair.p);
    pair.v = rbScale(rbRandom_Range(random, -0.3, 3.0), rbNormalize(toward));
    pair.growth = rbRandom_Unit(random) < 0.5 ? 0.0 : rbRandom_Symmetric(random);
    pair.a = falls ? randomVec3(random, 3.0) : RB_VEC3_ZERO;
    return pair;
}

// At the returned time they touch and approach; before that they do not touch.
static void checkSpheres(const SpherePair* pair, double t)
{
    double end = fmin(t, 20.0);
    if (pair->growth < 0.0) {
        end = fmin(end, -pair->r / pair->growth);
    }
    for (int i = 0; i < 40; ++i) {
        double at = end * i / 40;
        double gap = spheresAt(pair->p, pair->v, pair->a, pair->r + pair->growth * at, at);
        assert_true(gap > -1e-12);
    }
    if (isfinite(t)) {
        double radius = pair->r + pair->growth * t;
        double path = rbLength(pair->p) + t * (rbLength(pair->v) + t * rbLength(pair->a));
        checkNear(spheresAt(pair->p, pair->v, pair->a, radius, t), 0.0,
                  16.0 * DBL_EPSILON * (path + fabs(pair->r) + fabs(pair->growth) * t));
        rbVec3 x = rbAddScaled(rbAddScaled(pair->p, t, pair->v), 0.5 * t * t, pair->a);
        rbVec3 v = rbAddScaled(pair->v, t, pair->a);
        assert_true(rbDot(x, v) - radius * pair->growth < 1e-6);
        assert_true(radius >= 0.0);
    }
}

// L-73
static void spheresMeetWhenTheirQuadraticSays(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5202)};
    int count = rbTest_Count(100000, 5000000);
    int hits = 0;
    for (int i = 0; i < count; ++i) {
        SpherePair pair = randomSpheres(&random, false);
        double t = rbSweepSpheres(pair.p, pair.v, pair.a, pair.r, pair.growth);
        checkSpheres(&pair, t);
        hits += isfinite(t);
    }
    print_message("%d of %d pairs meet\n", hits, count);
    assert_true(hits > count / 3 && hits < 9 * count / 10);
    rbVec3 zero = RB_VEC3_ZERO;
    rbVec3 x = {1.0, 0.0, 0.0};
    rbVec3 back = {-1.0, 0.0, 0.0};
    // overlapping: approaching, separating, and separating slower than they grow
    assert_true(rbSweepSpheres(x, back, zero, 1.5, 0.0) == 0.0);
    assert_true(isinf(rbSweepSpheres(x, x, zero, 1.5, 0.0)));
    assert_true(isinf(rbSweepSpheres(x, zero, zero, 1.5, 0.0)));
    assert_true(rbSweepSpheres(x, x, zero, 1.5, 2.0) == 0.0);
    // at rest and growing; growing while flying away; shrinking to nothing before
    checkNear(rbSweepSpheres(x, zero, zero, 0.5, 0.25), 2.0, 1e-15);
    checkNear(rbSweepSpheres(x, x, zero, 0.5, 2.0), 0.5, 1e-15);
    assert_true(isinf(rbSweepSpheres(rbScale(3.0, x), back, zero, 0.5, -0.3)));
    // touching, no approach; grazing to the last digit
    assert_true(isinf(rbSweepSpheres(x, rbMakeVec3(0.0, 1.0, 0.0), zero, 1.0, 0.0)));
    checkNear(rbSweepSpheres(rbMakeVec3(4.0, 1.0, 0.0), back, zero, 1.0, 0.0), 4.0, 1e-7);
    assert_true(isinf(rbSweepSpheres(rbMakeVec3(4.0, 1.0 + 1e-15, 0.0), back, zero, 1.0, 0.0)));
}

// The same by the roots of the quartic: the first one with approach.
static double solveQuartic(const SpherePair* pair)
{
    const double c[5] = {rbLengthSquared(pair->p) - pair->r * pair->r,
                         2.0 * (rbDot(pair->p, pair->v) - pair->r * pair->growth),
                         rbLengthSquared(pair->v) + rbDot(pair->p, pair->a) -
                             pair->growth * pair->growth,
                         rbDot(pair->v, pair->a), 0.25 * rbLengthSquared(pair->a)};
    rbRealRoots roots = rbSolveQuartic(c);
    for (int i = 0; i < roots.count; ++i) {
        double t = roots.x[i];
        double rate = c[1] + t * (2.0 * c[2] + t * (3.0 * c[3] + t * 4.0 * c[4]));
        if (t >= 0.0 && rate < 0.0) {
            return pair->r + pair->growth * t >= 0.0 ? t : INFINITY;
        }
    }
    return INFINITY;
}

// L-73
static void fallingSpheresMeetAtARootOfTheirQuartic(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5203)};
    int count = rbTest_Count(30000, 2000000);
    int hits = 0;
    int grazes = 0;
    for (int i = 0; i < count; ++i) {
        SpherePair pair = randomSpheres(&random, true);
        double t = rbSweepSpheres(pair.p, pair.v, pair.a, pair.r, pair.growth);
        checkSpheres(&pair, t);
        double other = solveQuartic(&pair);
        hits += isfinite(t);
        bool agrees = isinf(t) ? isinf(other) : fabs(t - other) < 1e-9 * (1.0 + t);
        // near double roots the polynomial has lost half of the digits; checkSpheres decides
        grazes += !agrees;
    }
    print_message("%d of %d pairs meet; %d differ from the quartic\n", hits, count, grazes);
    assert_true(hits > count / 3);
    assert_true(grazes * 1000LL < count);
    rbVec3 g = {0.0, 0.0, -9.81};
    rbVec3 up = {0.0, 0.0, 1.0};
    // dropped from rest, 1 m of free fall; at rest on top; inside and thrown out, then falling back
    checkRelative(rbSweepSpheres(rbScale(2.0, up), RB_VEC3_ZERO, g, 1.0, 0.0), sqrt(2.0 / 9.81),
                  1e-15);
    assert_true(rbSweepSpheres(up, RB_VEC3_ZERO, g, 1.0, 0.0) == 0.0);
    checkRelative(rbSweepSpheres(up, up, g, 1.0, 0.0), 2.0 / 9.81, 1e-14);
    checkRelative(rbSweepSpheres(rbScale(0.5, up), up, g, 1.0, 0.0), 1.0 / 9.81, 1e-14);
    assert_true(isinf(rbSweepSpheres(rbScale(-2.0, up), RB_VEC3_ZERO, g, 1.0, 0.0)));
}

// A fall from rest along one axis alone: d - r = a t^2/2.
static void spheresFallAlongEveryAxis(void** state)
{
    (void)state;
    for (int i = 0; i < 6; ++i) {
        double sign = i % 2 == 0 ? 1.0 : -1.0;
        double axis[3] = {0.0, 0.0, 0.0};
        axis[i / 2] = sign;
        rbVec3 along = rbMakeVec3(axis[0], axis[1], axis[2]);
        rbVec3 p = rbScale(3.0, along);
        rbVec3 a = rbScale(-8.0, along);
        checkNear(rbSweepSpheres(p, RB_VEC3_ZERO, a, 2.0, 0.0), 0.5, 1e-14);
        // thrown up first, and by growth alone
        checkNear(rbSweepSpheres(p, rbScale(3.0, along), a, 2.0, 0.0), 1.0, 1e-14);
        checkNear(rbSweepSpheres(p, RB_VEC3_ZERO, RB_VEC3_ZERO, 2.0, 0.5), 2.0, 1e-14);
        assert_true(rbSweepSpheres(p, RB_VEC3_ZERO, rbNeg(a), 2.0, 0.0) == INFINITY);
    }
}

RB_TEST_GROUP(test_sweep, cmocka_unit_test(spheresFallAlongEveryAxis),
              cmocka_unit_test(bodyFallsFromRestOntoTheFloor),
              cmocka_unit_test(slacksAndGrowthBringTheContactForward),
              cmocka_unit_test(freeSpinStaysWithinItsBounds),
              cmocka_unit_test(steadyRotationsDoNotWobble),
              cmocka_unit_test(spinningTopIsNotMeasuredOften),
              cmocka_unit_test(partsOfInterlockedBodiesAreBoundOneByOne),
              cmocka_unit_test(coreReachLeavesTheBallOut),
              cmocka_unit_test(heightsFallAsParabolasDo),
              cmocka_unit_test(spheresMeetWhenTheirQuadraticSays),
              cmocka_unit_test(fallingSpheresMeetAtARootOfTheirQuartic));
