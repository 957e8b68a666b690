// Laws of free flight: conservation, order of convergence of every row, loads, bits that do not
// depend on earlier queries.
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "dynamics/motion/flight.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// The tumbling box of the "boxes" benchmark: 10 kg, 0.1 x 0.4 x 0.9 m.
static rbMotionBody tumblingBox(void)
{
    rbMotionBody body = {.mass = 10.0,
                         .moments = {10.0 / 12.0 * (0.16 + 0.81), 10.0 / 12.0 * (0.01 + 0.81),
                                     10.0 / 12.0 * (0.01 + 0.16)},
                         .acceleration = {0.0, 0.0, -9.8},
                         .settings = {RB_MOTION_AUTO, 1e-3, 8, 1e-12}};
    return body;
}

static rbMotionState tumblingStart(void)
{
    rbMotionState start = {
        .orientation = {1.0, 0.0, 0.0, 0.0}, .velocity = {-2.0, 2.0, 8.0}, .spin = {0.1, 5.0, 0.1}};
    return start;
}

static rbMotionState flyTo(const rbMotionBody* body, const rbMotionState* start, double time)
{
    rbFlight flight;
    rbMotionState state;
    rbMotionCounts counts = {0};
    rbFlight_Start(&flight, body, 0.0, start);
    rbFlight_Evaluate(&flight, body, time, &state, &counts);
    return state;
}

static double stateError(const rbMotionState* a, const rbMotionState* b)
{
    double sign = rbDotQuat(a->orientation, b->orientation) < 0.0 ? -1.0 : 1.0;
    rbQuat d = {
        a->orientation.w - sign * b->orientation.w, a->orientation.x - sign * b->orientation.x,
        a->orientation.y - sign * b->orientation.y, a->orientation.z - sign * b->orientation.z};
    return fmax(sqrt(rbDotQuat(d, d)), rbDistance(a->spin, b->spin));
}

// L-11, B-03, B-04: states computed by independent high-order codes, to the digits given.
static void tumblingBoxHasItsPublishedState(void** state)
{
    (void)state;
    rbMotionBody body = tumblingBox();
    rbMotionState start = tumblingStart();
    rbMotionState one = flyTo(&body, &start, 1.0);
    rbMotionState two = flyTo(&body, &start, 2.0);
    rbMotionState truthOne = {
        .spin = {3.423798441555, 2.819185438398, 3.928384449467},
        .orientation = {-0.713109996529, 0.352359391046, 0.525184190888, -0.302487285739}};
    rbMotionState truthTwo = {
        .spin = {0.336649760784, -4.98493293519, 0.382181881305},
        .orientation = {0.014628222353, -0.995446416876, -0.027380467566, 0.090126334863}};
    checkBelow(stateError(&one, &truthOne), 2e-12);
    checkBelow(stateError(&two, &truthTwo), 2e-12);
    // Ballistic: -2 t, 2 t, 8 t - 4.9 t^2.
    checkNear(two.position.x, -4.0, 1e-15);
    checkNear(two.position.y, 4.0, 1e-15);
    checkNear(two.position.z, 16.0 - 19.6, 1e-14);
}

// L-10, L-11
static void exactFlightConservesEnergyAndMomentum(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(41)};
    double worstEnergy = 0.0;
    double worstMomentum = 0.0;
    int count = rbTest_Count(2000, 20000);
    for (int i = 0; i < count; ++i) {
        double x2 = rbRandom_Range(&random, 0.01, 1.0);
        double y2 = rbRandom_Range(&random, 0.01, 1.0);
        double z2 = rbRandom_Range(&random, 0.01, 1.0);
        rbVec3 moments = rbMakeVec3(y2 + z2, x2 + z2, x2 + y2);
        rbQuat q0 = rbRandom_Quat(&random);
        rbVec3 w0 = rbScale(5.0, rbRandom_Direction(&random));
        rbFreeTop top = rbFreeTop_Make(moments, q0, w0);
        rbVec3 momentum0 = rbRotate(q0, rbMulEach(moments, w0));
        double energy0 = rbDot(rbMulEach(moments, w0), w0);
        rbQuat q;
        rbVec3 w;
        rbFreeTop_Evaluate(&top, rbRandom_Range(&random, 0.0, 1000.0), &q, &w);
        rbVec3 momentum = rbRotate(q, rbMulEach(moments, w));
        double energy = rbDot(rbMulEach(moments, w), w);
        worstEnergy = fmax(worstEnergy, fabs(energy - energy0) / energy0);
        worstMomentum =
            fmax(worstMomentum, rbLength(rbSub(momentum, momentum0)) / rbLength(momentum0));
    }
    print_message("over 1000 s: energy %.2e, momentum %.2e relative\n", worstEnergy, worstMomentum);
    checkBelow(worstEnergy, 1e-14);
    checkBelow(worstMomentum, 1e-14);
}

static double errorOf(rbMotionType type, int degree, double step)
{
    rbMotionBody body = tumblingBox();
    rbMotionState start = tumblingStart();
    rbMotionState truth = flyTo(&body, &start, 1.0);
    body.settings = (rbMotionSettings){type, step, degree, 1e-12};
    rbMotionState value = flyTo(&body, &start, 1.0);
    return stateError(&value, &truth);
}

// B-07: every row has its order; a Taylor series of degree n has order n.
static void everyRowConvergesWithItsOrder(void** state)
{
    (void)state;
    struct {
        rbMotionType type;
        int degree;
        int order;
        int steps; // of the coarser run, in the asymptotic range and above rounding
    } rows[] = {{RB_MOTION_EULER, 0, 1, 40000},  {RB_MOTION_RK4, 0, 4, 320},
                {RB_MOTION_TAYLOR, 1, 1, 40000}, {RB_MOTION_TAYLOR, 2, 2, 4000},
                {RB_MOTION_TAYLOR, 3, 3, 1000},  {RB_MOTION_TAYLOR, 4, 4, 320},
                {RB_MOTION_TAYLOR, 6, 6, 100},   {RB_MOTION_TAYLOR, 8, 8, 24},
                {RB_MOTION_TAYLOR, 10, 10, 16}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        int degree = rows[i].degree > 0 ? rows[i].degree : 1;
        double coarse = errorOf(rows[i].type, degree, 1.0 / rows[i].steps);
        double fine = errorOf(rows[i].type, degree, 0.5 / rows[i].steps);
        double order = rbLog(coarse / fine) / rbLog(2.0);
        print_message("%-9s %2d: error %.2e -> %.2e, order %.2f\n", rbMotionType_Name(rows[i].type),
                      rows[i].degree, coarse, fine, order);
        checkNear(order, rows[i].order, 0.3);
    }
}

// L-12
static void adaptiveRowFollowsItsTolerance(void** state)
{
    (void)state;
    rbMotionBody body = tumblingBox();
    rbMotionState start = tumblingStart();
    rbMotionState truth = flyTo(&body, &start, 5.0);
    double tolerance = 1e-3;
    for (int i = 0; i < 5; ++i) {
        tolerance *= 1e-2;
        body.settings = (rbMotionSettings){RB_MOTION_CASH_KARP, 1e-3, 8, tolerance};
        rbMotionState value = flyTo(&body, &start, 5.0);
        double error = stateError(&value, &truth);
        print_message("tolerance %.0e: error %.2e\n", tolerance, error);
        // The tumbling amplifies by about 30 in five seconds, over some 100 to 3000 steps.
        checkBelow(error, 2000.0 * tolerance);
    }
}

// L-10, B-04, B-07: a torque constant in the world, by two rows that share no code.
static void constantTorqueAgreesBetweenTaylorAndCashKarp(void** state)
{
    (void)state;
    rbMotionBody body = tumblingBox();
    body.torque = rbMakeVec3(0.3, -0.2, 0.5);
    rbMotionState start = tumblingStart();
    body.settings = (rbMotionSettings){RB_MOTION_TAYLOR, 0.01, 14, 1e-12};
    rbMotionState taylor = flyTo(&body, &start, 3.0);
    body.settings = (rbMotionSettings){RB_MOTION_CASH_KARP, 1e-3, 8, 1e-13};
    rbMotionState cashKarp = flyTo(&body, &start, 3.0);
    checkBelow(stateError(&taylor, &cashKarp), 1e-10);
    checkNear(taylor.work, cashKarp.work, 1e-10);
    // dL/dt = torque in the world, and the work is the change of energy.
    rbVec3 before = rbRotate(start.orientation, rbMulEach(body.moments, start.spin));
    rbVec3 after = rbRotate(taylor.orientation, rbMulEach(body.moments, taylor.spin));
    checkBelow(rbLength(rbSub(after, rbAddScaled(before, 3.0, body.torque))), 1e-10);
    double energy0 = 0.5 * rbDot(rbMulEach(body.moments, start.spin), start.spin);
    double energy1 = 0.5 * rbDot(rbMulEach(body.moments, taylor.spin), taylor.spin);
    checkNear(energy1 - energy0, taylor.work, 1e-10);
    // The closed form does not allow a torque and reports that.
    rbFlight flight;
    body.settings.type = RB_MOTION_EXACT;
    rbFlight_Start(&flight, &body, 0.0, &start);
    assert_true(flight.isFallback);
    assert_int_equal(flight.type, RB_MOTION_CASH_KARP);
}

// L-13: earlier queries at other times, or committing, change no bit; orientations stay units.
static void bitsDoNotDependOnWhatWasLookedAt(void** state)
{
    (void)state;
    rbMotionType types[] = {RB_MOTION_EXACT, RB_MOTION_TAYLOR, RB_MOTION_RK4, RB_MOTION_CASH_KARP,
                            RB_MOTION_EULER};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        rbMotionBody body = tumblingBox();
        body.settings = (rbMotionSettings){types[i], 0.013, 6, 1e-9};
        rbMotionState start = tumblingStart();
        rbFlight plain;
        rbFlight looked;
        rbMotionState a;
        rbMotionState b;
        rbMotionCounts counts = {0};
        rbFlight_Start(&plain, &body, 0.0, &start);
        rbFlight_Start(&looked, &body, 0.0, &start);
        for (int k = 1; k <= 1000; ++k) {
            double time = 0.002 * k;
            rbFlight_Commit(&looked, &body, time, &counts);
            rbFlight_Evaluate(&looked, &body, time, &b, &counts);
        }
        rbFlight_Evaluate(&plain, &body, 2.0, &a, &counts);
        assert_memory_equal(&a, &b, sizeof a);
        checkNear(rbDotQuat(a.orientation, a.orientation), 1.0, 4.0 * DBL_EPSILON);
        // And going back in time still works.
        rbFlight_Evaluate(&looked, &body, 0.7, &b, &counts);
        rbFlight_Evaluate(&plain, &body, 0.7, &a, &counts);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

// L-07: whatever order the axes have, the motion is the same.
static void motionDoesNotDependOnTheOrderOfAxes(void** state)
{
    (void)state;
    rbVec3 moments = rbMakeVec3(3.0, 2.0, 1.5);
    rbVec3 spin = rbMakeVec3(0.3, 1.0, -0.2);
    rbFreeTop top = rbFreeTop_Make(moments, RB_QUAT_IDENTITY, spin);
    rbQuat q;
    rbVec3 w;
    rbFreeTop_Evaluate(&top, 7.0, &q, &w);
    // Cyclic relabeling x -> y -> z -> x.
    rbFreeTop turned =
        rbFreeTop_Make(rbMakeVec3(1.5, 3.0, 2.0), RB_QUAT_IDENTITY, rbMakeVec3(-0.2, 0.3, 1.0));
    rbQuat q2;
    rbVec3 w2;
    rbFreeTop_Evaluate(&turned, 7.0, &q2, &w2);
    checkNear(w2.y, w.x, 1e-14);
    checkNear(w2.z, w.y, 1e-14);
    checkNear(w2.x, w.z, 1e-14);
    double sign = q.w * q2.w < 0.0 ? -1.0 : 1.0;
    checkNear(sign * q2.w, q.w, 1e-14);
    checkNear(sign * q2.y, q.x, 1e-14);
    checkNear(sign * q2.z, q.y, 1e-14);
    checkNear(sign * q2.x, q.z, 1e-14);
}

// The limits join: moments that approach a symmetric or spherical top approach its motion.
static void limitsJoinSmoothly(void** state)
{
    (void)state;
    rbVec3 spin = rbMakeVec3(0.7, 0.4, -0.9);
    rbVec3 limits[] = {{2.0, 2.0, 1.2}, {1.2, 2.0, 2.0}, {1.5, 1.5, 1.5}};
    for (int i = 0; i < 3; ++i) {
        rbFreeTop limit = rbFreeTop_Make(limits[i], RB_QUAT_IDENTITY, spin);
        rbQuat q0;
        rbVec3 w0;
        rbFreeTop_Evaluate(&limit, 20.0, &q0, &w0);
        double gap = 1e-5;
        for (int k = 0; k < 10; ++k) {
            gap *= 0.1;
            rbVec3 near =
                rbMakeVec3(limits[i].x * (1.0 + gap), limits[i].y, limits[i].z * (1.0 - 0.3 * gap));
            rbFreeTop top = rbFreeTop_Make(near, RB_QUAT_IDENTITY, spin);
            rbQuat q;
            rbVec3 w;
            rbFreeTop_Evaluate(&top, 20.0, &q, &w);
            double sign = rbDotQuat(q, q0) < 0.0 ? -1.0 : 1.0;
            rbQuat d = {q.w - sign * q0.w, q.x - sign * q0.x, q.y - sign * q0.y, q.z - sign * q0.z};
            checkBelow(sqrt(rbDotQuat(d, d)), 60.0 * gap + 1e-14);
            checkBelow(rbDistance(w, w0), 60.0 * gap + 1e-14);
        }
    }
}

static void steadyAndRestingBodiesStaySo(void** state)
{
    (void)state;
    rbVec3 moments = rbMakeVec3(3.0, 2.0, 1.5);
    rbQuat q;
    rbVec3 w;
    rbFreeTop rest = rbFreeTop_Make(moments, RB_QUAT_IDENTITY, RB_VEC3_ZERO);
    rbFreeTop_Evaluate(&rest, 1e6, &q, &w);
    checkNear(q.w, 1.0, 0.0);
    checkNear(rbLength(w), 0.0, 0.0);
    rbVec3 axes[3] = {{2.0, 0.0, 0.0}, {0.0, -3.0, 0.0}, {0.0, 0.0, 0.5}};
    for (int i = 0; i < 3; ++i) {
        rbFreeTop top = rbFreeTop_Make(moments, RB_QUAT_IDENTITY, axes[i]);
        rbFreeTop_Evaluate(&top, 1.0, &q, &w);
        checkBelow(rbDistance(w, axes[i]), 1e-15);
        checkNear(q.w, cos(0.5 * rbLength(axes[i])), 1e-15);
    }
    // Extreme sizes neither overflow nor underflow.
    for (int exponent = -140; exponent <= 140; exponent += 35) {
        double scale = ldexp(1.0, exponent);
        rbFreeTop top = rbFreeTop_Make(rbScale(scale, moments), RB_QUAT_IDENTITY,
                                       rbScale(1.0 / scale, rbMakeVec3(0.3, 1.0, -0.2)));
        rbFreeTop_Evaluate(&top, 7.0 * scale, &q, &w);
        rbFreeTop unit = rbFreeTop_Make(moments, RB_QUAT_IDENTITY, rbMakeVec3(0.3, 1.0, -0.2));
        rbQuat q1;
        rbVec3 w1;
        rbFreeTop_Evaluate(&unit, 7.0, &q1, &w1);
        checkNear(q.w, q1.w, 1e-15);
        checkNear(w.x * scale, w1.x, 1e-15);
    }
}

// L-80: the box contains the center at every time.
static void boundsHoldTheFlight(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(42)};
    int count = rbTest_Count(500, 5000);
    for (int i = 0; i < count; ++i) {
        rbMotionBody body = tumblingBox();
        rbMotionState start = tumblingStart();
        start.velocity = rbScale(10.0, rbRandom_Direction(&random));
        start.spin = rbScale(3.0, rbRandom_Direction(&random));
        rbFlight flight;
        rbMotionCounts counts = {0};
        rbFlight_Start(&flight, &body, 2.0, &start);
        double a = 2.0 + rbRandom_Unit(&random);
        double b = a + 2.0 * rbRandom_Unit(&random);
        rbBounds box = rbFlight_GetBounds(&flight, &body, a, b);
        for (int k = 0; k <= 20; ++k) {
            rbMotionState s;
            rbFlight_Evaluate(&flight, &body, a + (b - a) * k / 20.0, &s, &counts);
            assert_true(s.position.x >= box.lower.x && s.position.x <= box.upper.x);
            assert_true(s.position.y >= box.lower.y && s.position.y <= box.upper.y);
            assert_true(s.position.z >= box.lower.z && s.position.z <= box.upper.z);
        }
    }
}

RB_TEST_GROUP(phys_flight, cmocka_unit_test(tumblingBoxHasItsPublishedState),
              cmocka_unit_test(exactFlightConservesEnergyAndMomentum),
              cmocka_unit_test(everyRowConvergesWithItsOrder),
              cmocka_unit_test(adaptiveRowFollowsItsTolerance),
              cmocka_unit_test(constantTorqueAgreesBetweenTaylorAndCashKarp),
              cmocka_unit_test(bitsDoNotDependOnWhatWasLookedAt),
              cmocka_unit_test(motionDoesNotDependOnTheOrderOfAxes),
              cmocka_unit_test(limitsJoinSmoothly), cmocka_unit_test(steadyAndRestingBodiesStaySo),
              cmocka_unit_test(boundsHoldTheFlight));
