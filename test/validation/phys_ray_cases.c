// Quick versions of the cases of `rattleback validate rays`: the scenes of the thesis with real
// sampling, rays compared with exact sweeps, and bullets.
#include "run_quickly.h"

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
