// The cases of `rattleback validate rays`, quickly: the scenes of the thesis with real sampling,
// rays against exact sweeps, and bullets.
#include "rb_test.h"
#include "validation.h"

static void runQuickly(const rbValidationCase* which)
{
    rbValidation validation = {.isQuick = true, .caseName = which->name};
    which->run(&validation);
    for (int i = 0; i < validation.rows.count; ++i) {
        const rbValidationRow* row = &validation.rows.data[i];
        if (!row->pass) {
            print_error("%s: %s: %.15g, not %.15g within %.2g\n", which->name, row->quantity,
                        row->value, row->truth, row->tolerance);
        }
    }
    int failures = validation.failureCount;
    assert_true(validation.rows.count > 0);
    rbArray_Free(validation.rows);
    assert_int_equal(failures, 0);
}

// E-01, E-02, E-03, E-04, E-05, E-06, E-12
static void raysOfStraightScenesGiveThePublishedPoints(void** state)
{
    (void)state;
    runQuickly(&rbCaseRayScenes);
}

// E-07, E-08, E-09
static void raysOnCurvesBeatThePublishedPoints(void** state)
{
    (void)state;
    runQuickly(&rbCaseRayCurves);
}

// E-10, E-11, E-13
static void framesOfManyBallsFindTheirContacts(void** state)
{
    (void)state;
    runQuickly(&rbCaseRayFrames);
}

//
static void refinedRaysAreAsGoodAsAThousand(void** state)
{
    (void)state;
    runQuickly(&rbCaseRayPairs);
}

//
static void bulletsDoNotPassPlatesAtAnyFrameRate(void** state)
{
    (void)state;
    runQuickly(&rbCaseRayBullet);
}

// E-14
static void conclusionsOfTheThesisAreTriedAgain(void** state)
{
    (void)state;
    runQuickly(&rbCaseRayConclusions);
}

RB_TEST_GROUP(phys_ray_cases, cmocka_unit_test(raysOfStraightScenesGiveThePublishedPoints),
              cmocka_unit_test(raysOnCurvesBeatThePublishedPoints),
              cmocka_unit_test(framesOfManyBallsFindTheirContacts),
              cmocka_unit_test(refinedRaysAreAsGoodAsAThousand),
              cmocka_unit_test(bulletsDoNotPassPlatesAtAnyFrameRate),
              cmocka_unit_test(conclusionsOfTheThesisAreTriedAgain));
