// Energy that steps themselves give or take: kept apart from what physics takes, and reported when
// it is more than allowed.
#include "arrival_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEIGHT 0.5 // m, of the lowest point
#define RADIUS 0.1 // m

static rbWorld* makeBouncing(double restitution, double step, double energyTolerance)
{
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_STEP);
    def.gravity = rbMakeVec3(0.0, 0.0, -9.81);
    def.step.energyTolerance = energyTolerance;
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, restitution, 0.0);
    Flyer ball = {.geometry = rbCreateSphere(RADIUS, NULL),
                  .position = rbMakeVec3(0.0, 0.0, HEIGHT + RADIUS),
                  .restitution = restitution};
    (void)addFlyer(world, &ball);
    return world;
}

// A ball that falls once: m g H goes, and e^2 of it comes back, all by the impact. The rest of the
// balance is what numerics did.
static void impactsAreNotNumerical(void** state)
{
    (void)state;
    static const double restitutions[5] = {0.0, 0.2, 0.5, 0.9, 1.0};
    for (int i = 0; i < 5; ++i) {
        double e = restitutions[i];
        rbWorld* world = makeBouncing(e, 1e-3, 1e-3);
        double landing = sqrt(2.0 * HEIGHT / 9.81);
        rbStepReport report = rbWorld_AdvanceTo(world, 1.1 * landing);
        assert_int_equal(report.status, RB_STATUS_OK);
        const rbLedger* b = &report.ledger;
        double fallen = b->mass * 9.81 * HEIGHT;
        checkNear(b->impactWork, -(1.0 - e * e) * fallen, 1e-3 * fallen);
        checkNear(b->numericalEnergy,
                  b->partedWork + b->settledWork + b->truncatedWork + b->lateWork + b->energyDrift,
                  1e-15 * fallen);
        checkBelow(fabs(b->numericalEnergy), 1e-3 * b->energyScale);
        checkBelow(fabs(b->energyDrift), 1e-12 * fallen);
        // in words of the scale: the fall, the radius, and what the impact took
        assert_true(b->energyScale >= 0.9 * fallen && b->energyScale <= 2.5 * fallen);
        rbDestroyWorld(world);
    }
}

// Bounces end below the rest speed: what the last ones lose is settled, and negative.
static void lastBouncesAreSettled(void** state)
{
    (void)state;
    rbWorld* world = makeBouncing(0.5, 1e-3, 1e-3);
    rbStepReport report = rbWorld_AdvanceTo(world, 3.0);
    assert_int_equal(report.status, RB_STATUS_OK);
    const rbLedger* b = &report.ledger;
    double rest = 0.5 * b->mass * 0.01 * 0.01; // of the default rest speed
    assert_true(b->settledWork < 0.0);
    assert_true(b->settledWork > -1e2 * rest);
    checkNear(b->kineticLinear, 0.0, 1e-9);
    rbDestroyWorld(world);
}

// The same run, with an allowance that it cannot keep.
static void moreThanAllowedIsReported(void** state)
{
    (void)state;
    rbWorld* world = makeBouncing(0.5, 1e-2, 1e-9);
    rbStepReport report = rbWorld_AdvanceTo(world, 3.0);
    assert_int_equal(report.status, RB_STATUS_OK);
    char text[600];
    size_t length = rbWorld_DescribeNumericalEnergy(world, 0.0, text, sizeof text);
    assert_true(length > 0 && length < sizeof text && strlen(text) == length);
    assert_non_null(strstr(text, "that no cause explains"));
    assert_non_null(strstr(text, "step.energyTolerance 1e-09"));
    assert_non_null(strstr(text, "take smaller steps, or allow more"));
    // relative to an energy that is large enough it is nothing
    double enough = 1.1e9 * fabs(report.ledger.numericalEnergy);
    assert_int_equal(rbWorld_DescribeNumericalEnergy(world, enough, text, sizeof text), 0);
    rbDestroyWorld(world);
    world = makeBouncing(0.5, 1e-2, 0.0);
    report = rbWorld_AdvanceTo(world, 3.0);
    assert_int_equal(report.status, RB_STATUS_OK);
    assert_int_equal(rbWorld_DescribeNumericalEnergy(world, 0.0, text, sizeof text), 0);
    rbDestroyWorld(world);
}

// The works are part of a snapshot.
static void rewindKeepsTheLedger(void** state)
{
    (void)state;
    rbWorld* world = makeBouncing(0.7, 1e-3, 1e-3);
    (void)rbWorld_AdvanceTo(world, 0.5);
    rbLedger before = rbWorld_GetLedger(world);
    size_t size = rbWorld_GetSnapshotSize(world);
    void* bytes = malloc(size);
    rbError error = {0};
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    rbLedger first = rbWorld_AdvanceTo(world, 2.0).ledger;
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    rbLedger again = rbWorld_GetLedger(world);
    assert_memory_equal(&before, &again, sizeof before);
    again = rbWorld_AdvanceTo(world, 2.0).ledger;
    assert_memory_equal(&first, &again, sizeof first);
    free(bytes);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_numerical_energy, cmocka_unit_test(impactsAreNotNumerical),
              cmocka_unit_test(lastBouncesAreSettled), cmocka_unit_test(moreThanAllowedIsReported),
              cmocka_unit_test(rewindKeepsTheLedger));
