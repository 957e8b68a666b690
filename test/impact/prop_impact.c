// Properties of every impact, tested on random ones.
#include "impact_cases.h"
#include "rb_test.h"

#include <math.h>
#include <stdio.h>

// U-8; L-98, L-94
static void poissonAndStrongeNeverRaiseEnergy(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(11)};
    int count = rbTest_Count(20000, 1000000);
    int raised[RB_IMPACT_LAW_COUNT] = {0};
    int jams = 0;
    int steps = 0;
    for (int i = 0; i < count; ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, i % 4 == 0 ? 1.0 : 0.0);
        for (int law = 0; law < RB_IMPACT_LAW_COUNT; ++law) {
            input.law = (rbImpactLaw)law;
            rbImpactResult result;
            rbResolveImpact(&input, &result);
            rbImpactCheck check = rbCheckImpact(&input, &result);
            assert_true(check.isFinite);
            assert_false(check.isApproaching);
            assert_false(result.isInaccurate);
            checkBelow(check.cone, 1e-15);
            checkBelow(check.motion, 1e-12);
            checkBelow(check.work, 1e-12);
            checkBelow(result.frictionWork, 1e-15 * fabs(result.compressionWork));
            checkBelow(result.compressionWork, 0.0);
            assert_int_equal(result.isEnergyRaised, check.energy > 1e-12);
            if (law == RB_IMPACT_NEWTON) {
                checkNear(result.velocity.z, -input.restitution * input.velocity.z, 1e-15);
            } else {
                checkBelow(check.energy, 1e-13);
            }
            raised[law] += result.isEnergyRaised;
            jams += result.isJam;
            steps = result.steps > steps ? result.steps : steps;
        }
    }
    assert_int_equal(raised[RB_IMPACT_POISSON], 0);
    assert_int_equal(raised[RB_IMPACT_STRONGE], 0);
    assert_true(raised[RB_IMPACT_NEWTON] > 0); // otherwise the test could not detect one
    assert_true(jams > 0);
    print_message("%d impacts a law: energy raised by newton %d, poisson %d, stronge %d; %d jams; "
                  "at most %d steps\n",
                  count, raised[0], raised[1], raised[2], jams, steps);
}

// L-93: each law by its own definition, where compression happens once.
static void everyLawEndsWhereItSays(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(12)};
    for (int i = 0; i < rbTest_Count(5000, 200000); ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        double e = input.restitution;
        rbImpactResult result;
        input.law = RB_IMPACT_STRONGE;
        rbResolveImpact(&input, &result);
        checkNear(result.normalWork / result.compressionWork, 1.0 - e * e, 1e-12);
        // Poisson with e = 0 ends at greatest compression.
        rbImpactResult compression;
        input.law = RB_IMPACT_POISSON;
        input.restitution = 0.0;
        rbResolveImpact(&input, &compression);
        checkNear(compression.velocity.z, 0.0, 0.0);
        input.restitution = e;
        rbResolveImpact(&input, &result);
        if (fabs(result.compressionWork / compression.compressionWork - 1.0) < 1e-12) {
            checkRelative(result.impulse.z, (1.0 + e) * compression.impulse.z, 1e-12);
        }
    }
}

// The result does not depend on the tangents, units of velocity or units of mass.
static void turningAndScalingChangeNothing(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(13)};
    for (int i = 0; i < rbTest_Count(3000, 100000); ++i) {
        rbImpactInput input = rbMakeRandomImpact(&random, 0.0);
        input.law = (rbImpactLaw)(i % 3);
        rbImpactResult result;
        rbResolveImpact(&input, &result);

        // A quarter turn: x' = y, y' = -x.
        rbSym3 k = input.matrix;
        rbImpactInput turned = input;
        turned.matrix = (rbSym3){k.yy, k.xx, k.zz, -k.xy, k.yz, -k.xz};
        turned.velocity = rbMakeVec3(input.velocity.y, -input.velocity.x, input.velocity.z);
        rbImpactResult other;
        rbResolveImpact(&turned, &other);
        double size = rbLength(result.impulse);
        rbVec3 back = rbMakeVec3(-other.impulse.y, other.impulse.x, other.impulse.z);
        checkNear(rbDistance(back, result.impulse), 0.0, 1e-10 * size);

        // Velocities in another unit: exact, because the unit is a power of two.
        rbImpactInput scaled = input;
        double unit = ldexp(1.0, rbRandom_Index(&random, 1200) - 600);
        scaled.velocity = rbScale(unit, input.velocity);
        rbResolveImpact(&scaled, &other);
        checkNear(rbDistance(rbScale(1.0 / unit, other.impulse), result.impulse), 0.0,
                  1e-12 * size);
        assert_int_equal(other.history, result.history);

        // Masses in another unit, likewise; from specks of dust to planets.
        double mass = ldexp(1.0, rbRandom_Index(&random, 200) - 100);
        scaled = input;
        scaled.matrix =
            (rbSym3){mass * k.xx, mass * k.yy, mass * k.zz, mass * k.xy, mass * k.xz, mass * k.yz};
        rbResolveImpact(&scaled, &other);
        checkNear(rbDistance(rbScale(mass, other.impulse), result.impulse), 0.0, 1e-12 * size);
        checkNear(rbDistance(other.velocity, result.velocity), 0.0,
                  1e-10 * rbLength(input.velocity));
        assert_int_equal(other.history, result.history);
    }
}

RB_TEST_GROUP(prop_impact, cmocka_unit_test(poissonAndStrongeNeverRaiseEnergy),
              cmocka_unit_test(everyLawEndsWhereItSays),
              cmocka_unit_test(turningAndScalingChangeNothing));
