// Impacts at the ends of the number range: tiny, grazing, jammed, badly scaled.
#include "impact_cases.h"
#include "rb_test.h"

#include <math.h>
#include <stdio.h>

static const double powers[] = {1e-300, 1e-160, 1e-80, 1e-20, 1.0, 1e20, 1e80, 1e140};
enum {
    POWERS = sizeof powers / sizeof powers[0]
};

// L-94
static void everyMixOfSpeedsHasAFiniteEnd(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(31)};
    for (int i = 0; i < rbTest_Count(200, 5000); ++i) {
        rbImpactInput base = rbMakeRandomImpact(&random, 0.0);
        base.velocity =
            rbMakeVec3(rbRandom_Range(&random, 0.1, 1.0), rbRandom_Range(&random, -1.0, -0.1),
                       rbRandom_Range(&random, -1.0, -0.1));
        for (int j = 0; j < POWERS * POWERS; ++j) {
            rbImpactInput input = base;
            input.law = (rbImpactLaw)(j % 3);
            input.velocity.x *= powers[j % POWERS];
            input.velocity.y *= powers[j % POWERS];
            input.velocity.z *= powers[j / POWERS];
            rbImpactResult result;
            rbResolveImpact(&input, &result);
            rbImpactCheck check = rbCheckImpact(&input, &result);
            assert_true(rbIsFinite3(result.impulse));
            assert_true(rbIsFinite3(result.velocity));
            assert_false(check.isApproaching);
            assert_false(result.isInaccurate);
            assert_true(result.impulse.z > 0.0);
            checkBelow(check.cone, 1e-14);
            checkBelow(check.motion, 1e-12);
            if (input.law == RB_IMPACT_NEWTON) {
                double truth = -input.restitution * input.velocity.z;
                checkNear(result.velocity.z, truth, 1e-14 * truth);
            }
        }
    }
}

// Grazing: u_t does not change while u_z does, so the direction is constant and the closed form
// holds as long as the impact does not jam.
static void grazingImpactsMeetTheirLimit(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(32)};
    for (int i = 0; i < rbTest_Count(2000, 50000); ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        input.law = (rbImpactLaw)(i % 3);
        rbVec3 slip = {rbRandom_Range(&random, 0.1, 1.0), rbRandom_Range(&random, -1.0, 1.0), 0.0};
        double size = rbLength(slip);
        double rate = input.matrix.zz -
                      input.friction * (input.matrix.xz * slip.x + input.matrix.yz * slip.y) / size;
        if (rate < 0.01 * input.matrix.zz) {
            continue;
        }
        input.velocity = rbMakeVec3(slip.x, slip.y, -powers[i % 4]);
        rbImpactResult result;
        rbResolveImpact(&input, &result);
        double p = (1.0 + input.restitution) * powers[i % 4] / rate;
        checkRelative(result.impulse.z, p, 1e-13);
        checkNear(result.impulse.x / p, -input.friction * slip.x / size, 1e-13);
        checkNear(result.impulse.y / p, -input.friction * slip.y / size, 1e-13);
    }
}

// A slip far below the approach speed counts as none.
static void tinySlipActsLikeNone(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(33)};
    for (int i = 0; i < rbTest_Count(2000, 50000); ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        input.law = (rbImpactLaw)(i % 3);
        rbVec3 u = rbMakeVec3(0.0, 0.0, -1.0);
        rbImpactResult none;
        rbImpactResult tiny;
        input.velocity = u;
        rbResolveImpact(&input, &none);
        input.velocity.x = rbRandom_Symmetric(&random) * (i % 2 == 0 ? 1e-300 : 1e-20);
        input.velocity.y = rbRandom_Symmetric(&random) * (i % 2 == 0 ? 1e-300 : 1e-20);
        rbResolveImpact(&input, &tiny);
        checkNear(rbDistance(none.impulse, tiny.impulse) / rbLength(none.impulse), 0.0, 1e-12);
    }
}

// Infinite friction has a limit: either the point stops immediately, or friction itself throws the
// bodies apart before. More friction changes only p_z, of which the sliding needs ever less.
static void hugeFrictionHasALimit(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(34)};
    static const double frictions[] = {1e100, 1e300, INFINITY};
    int stuck = 0;
    for (int i = 0; i < rbTest_Count(2000, 50000); ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        input.law = (rbImpactLaw)(i % 3);
        rbImpactResult limit;
        input.friction = 1e20;
        rbResolveImpact(&input, &limit);
        rbImpactCheck check = rbCheckImpact(&input, &limit);
        checkBelow(check.cone, 1e-15);
        checkBelow(check.motion, 1e-12);
        stuck += hypot(limit.velocity.x, limit.velocity.y) == 0.0;
        for (int j = 0; j < 3; ++j) {
            rbImpactResult result;
            input.friction = frictions[j];
            rbResolveImpact(&input, &result);
            checkNear(rbDistance(result.impulse, limit.impulse) / rbLength(limit.impulse), 0.0,
                      1e-10);
            assert_int_equal(result.history, limit.history);
            assert_false(result.isEnergyRaised && input.law != RB_IMPACT_NEWTON);
        }
    }
    assert_true(stuck > 100);
}

// Entries of K from 1e-12 to 1e12.
static void badlyScaledMatricesHaveRightEnds(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(35)};
    int steps = 0;
    for (int i = 0; i < rbTest_Count(10000, 300000); ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        input.matrix = rbMakeRandomMatrix(&random, 6.0);
        for (int law = 0; law < RB_IMPACT_LAW_COUNT; ++law) {
            input.law = (rbImpactLaw)law;
            rbImpactResult result;
            rbResolveImpact(&input, &result);
            rbImpactCheck check = rbCheckImpact(&input, &result);
            assert_true(check.isFinite);
            assert_false(check.isApproaching);
            assert_false(result.isInaccurate);
            checkBelow(check.cone, 1e-15);
            checkBelow(check.motion, 1e-11);
            checkBelow(check.work, 1e-11);
            assert_true(law == RB_IMPACT_NEWTON || check.energy <= 1e-12);
            steps = result.steps > steps ? result.steps : steps;
        }
    }
    print_message("at most %d steps\n", steps);
}

// Scaling both tangent axes equally gives a problem whose result is known from the plain one: K11,
// K22, K12 by s^2, K13, K23 by s, u_t by s, mu by 1/s give p_t/s and the same p_z.
static void scaledTangentsGiveTheScaledEnd(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(36)};
    for (int i = 0; i < rbTest_Count(2000, 50000); ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        input.law = (rbImpactLaw)(i % 3);
        double s = pow(10.0, 6.0 * rbRandom_Symmetric(&random));
        rbImpactInput scaled = input;
        scaled.matrix.xx *= s * s;
        scaled.matrix.yy *= s * s;
        scaled.matrix.xy *= s * s;
        scaled.matrix.xz *= s;
        scaled.matrix.yz *= s;
        scaled.velocity.x *= s;
        scaled.velocity.y *= s;
        scaled.friction /= s;
        rbImpactResult a;
        rbImpactResult b;
        rbResolveImpact(&input, &a);
        rbResolveImpact(&scaled, &b);
        rbVec3 back = rbMakeVec3(s * b.impulse.x, s * b.impulse.y, b.impulse.z);
        checkNear(rbDistance(back, a.impulse) / rbLength(a.impulse), 0.0, 1e-10);
    }
}

RB_TEST_GROUP(test_impact_extremes, cmocka_unit_test(everyMixOfSpeedsHasAFiniteEnd),
              cmocka_unit_test(grazingImpactsMeetTheirLimit),
              cmocka_unit_test(tinySlipActsLikeNone), cmocka_unit_test(hugeFrictionHasALimit),
              cmocka_unit_test(badlyScaledMatricesHaveRightEnds),
              cmocka_unit_test(scaledTangentsGiveTheScaledEnd));
