// The closed-form top compared with converged Cash-Karp, and with a Taylor series in 113 bits where
// double precision integration itself is inaccurate.
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "dynamics/motion/flight.h"
#include "lab/math/random3.h"
#include "rb_test.h"
#include "validation/top_oracle.h"

#include <math.h>

// Moments of a real body (triangle inequality), of four kinds: any, nearly symmetric, nearly
// spherical, and exactly symmetric; in any order of axes.
static rbVec3 randomMoments(rbRandom* random)
{
    double x2 = rbRandom_Range(random, 0.01, 1.0);
    double y2 = rbRandom_Range(random, 0.01, 1.0);
    double z2 = rbRandom_Range(random, 0.01, 1.0);
    double tiny = rbExp(-rbRandom_Range(random, 2.0, 34.0));
    int kind = rbRandom_Index(random, 4);
    if (kind == 1) {
        y2 = x2 * (1.0 + tiny);
    } else if (kind == 2) {
        y2 = x2 * (1.0 + tiny);
        z2 = x2 * (1.0 + tiny * rbRandom_Symmetric(random));
    } else if (kind == 3) {
        y2 = x2;
    }
    double v[3] = {y2 + z2, x2 + z2, x2 + y2};
    int shift = rbRandom_Index(random, 3);
    return rbMakeVec3(v[shift], v[(shift + 1) % 3], v[(shift + 2) % 3]);
}

static double quatError(rbQuat a, rbQuat b)
{
    double sign = rbDotQuat(a, b) < 0.0 ? -1.0 : 1.0;
    rbQuat d = {a.w - sign * b.w, a.x - sign * b.x, a.y - sign * b.y, a.z - sign * b.z};
    return sqrt(rbDotQuat(d, d));
}

// L-11, L-12
static void exactTopMatchesConvergedCashKarp(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(31)};
    int count = rbTest_Count(400, 10000);
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        rbMotionBody body = {.mass = 1.0,
                             .moments = randomMoments(&random),
                             .settings = {RB_MOTION_CASH_KARP, 1e-3, 8, 1e-14}};
        rbMotionState start = {.orientation = rbRandom_Quat(&random)};
        double speed = rbExp(rbRandom_Range(&random, -3.0, 3.0));
        start.spin = rbScale(speed, rbRandom_Direction(&random));
        double duration = 10.0 * 2.0 * RB_PI / speed;
        rbFlight flight;
        rbMotionState truth;
        rbMotionCounts counts = {0};
        body.settings.step = 1e-3 / speed;
        rbFlight_Start(&flight, &body, 0.0, &start);
        rbFlight_Evaluate(&flight, &body, duration, &truth, &counts);

        rbFreeTop top = rbFreeTop_Make(body.moments, start.orientation, start.spin);
        rbQuat q;
        rbVec3 w;
        rbFreeTop_Evaluate(&top, duration, &q, &w);
        double error = fmax(quatError(q, truth.orientation), rbDistance(w, truth.spin) / speed);
        if (error > worst) {
            worst = error;
        }
        if (!(error <= 1e-9)) {
            print_error("case %d: moments %.17g %.17g %.17g spin %.17g %.17g %.17g error %.3g\n", i,
                        body.moments.x, body.moments.y, body.moments.z, start.spin.x, start.spin.y,
                        start.spin.z, error);
        }
        checkBelow(error, 1e-9);
    }
    print_message("%d bodies over ten rotations: largest difference %.2e\n", count, worst);
}

// L-11
static void exactTopMatchesTaylorIn113BitsNearTheSeparatrix(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(32)};
    int count = rbTest_Count(20, 200);
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        double a = rbRandom_Range(&random, 0.1, 1.0);
        double b = a + rbRandom_Range(&random, 0.1, 1.0);
        double c = b + rbRandom_Range(&random, 0.1, 1.0);
        rbVec3 moments = rbMakeVec3(b + c, a + c, a + b); // y is the middle axis
        double off = rbExp(-rbRandom_Range(&random, 6.9, 20.7));
        rbVec3 spin =
            rbMakeVec3(off * rbRandom_Symmetric(&random), 1.0, off * rbRandom_Symmetric(&random));
        double duration = 10.0 * 2.0 * RB_PI;
        double q4[4];
        double w3[3];
        rbTopOracle(moments, spin, duration, q4, w3);
        rbFreeTop top = rbFreeTop_Make(moments, RB_QUAT_IDENTITY, spin);
        rbQuat q;
        rbVec3 w;
        rbFreeTop_Evaluate(&top, duration, &q, &w);
        rbQuat truth = {q4[0], q4[1], q4[2], q4[3]};
        double error = fmax(quatError(q, truth), rbDistance(w, rbMakeVec3(w3[0], w3[1], w3[2])));
        worst = fmax(worst, error);
        checkBelow(error, 1e-9);
    }
    print_message("%d bodies near the separatrix: largest difference %.2e\n", count, worst);
}

// Moments in round numbers, whose differences are exactly 1, in every order of the axes: the
// angular momentum stays in the world and the energy in the body, while the axis of rotation
// wanders.
static void topsOfRoundMomentsKeepTheirMomentum(void** state)
{
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const double sets[3][3] = {{1.0, 1.5, 2.0}, {2.0, 3.0, 4.0}, {3.0, 3.25, 4.0}};
    const rbVec3 spin = {0.7, -0.9, 1.1};
    for (int k = 0; k < 18; ++k) {
        const double* m = sets[k / 6];
        const int* order = orders[k % 6];
        rbVec3 moments = {m[order[0]], m[order[1]], m[order[2]]};
        rbFreeTop top = rbFreeTop_Make(moments, RB_QUAT_IDENTITY, spin);
        rbVec3 momentum = rbMulEach(moments, spin);
        double wandered = 0.0;
        for (int i = 1; i <= 40; ++i) {
            rbQuat q;
            rbVec3 w;
            rbFreeTop_Evaluate(&top, 0.25 * i, &q, &w);
            rbVec3 local = rbMulEach(moments, w);
            checkBelow(rbDistance(rbRotate(q, local), momentum), 1e-13);
            checkNear(rbDot(local, w), rbDot(momentum, spin), 1e-13);
            wandered = fmax(wandered, rbDistance(w, spin));
        }
        assert_true(wandered > 0.1);
    }
}

RB_TEST_GROUP(oracle_free_top, cmocka_unit_test(exactTopMatchesConvergedCashKarp),
              cmocka_unit_test(exactTopMatchesTaylorIn113BitsNearTheSeparatrix),
              cmocka_unit_test(topsOfRoundMomentsKeepTheirMomentum));
