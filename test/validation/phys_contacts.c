// The cheap part of the group `contacts`: the step engine with contacts against closed forms over
// short times. The tolerances are those of the cases.
#include "contact_worlds.h"
#include "rb_test.h"
#include "toy_worlds.h"
#include "validation.h"

#include <math.h>

#define STEP 1e-3
#define GRAVITY 9.81

static void advance(rbPile* pile, int64_t k)
{
    if (!rbPile_Advance(pile, k)) {
        fail_msg("%s: %s", rbStatus_Text(pile->error.status), pile->error.message);
    }
}

// B-77, X-15: two of the ten cubes, which start at the speed that 5 s without friction give
static void cubesBrakeWithinTheirDistance(void** state)
{
    (void)state;
    static const double frictions[2] = {0.85, 0.78};
    const double angle = RB_PI / 12.0;
    const rbVec3 downhill = {cos(angle), 0.0, -sin(angle)};
    double speed = GRAVITY * sin(angle) * 5.0;
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = rbPileWorldDef(STEP);
        rbPile pile = rbMakeSlopeBlock(&def, angle, frictions[i]);
        rbTransform start = rbPile_GetState(&pile, 1).transform;
        assert_int_equal(rbBody_SetState(pile.world, pile.bodies[1], start,
                                         rbScale(speed, downhill), RB_VEC3_ZERO, &pile.error),
                         RB_STATUS_OK);
        rbPile_NoteStart(&pile);
        double braking = GRAVITY * (frictions[i] * cos(angle) - sin(angle));
        advance(&pile, (int64_t)(speed / braking / STEP) + 10);
        rbBodyState s = rbPile_GetState(&pile, 1);
        checkNear(rbDot(downhill, rbSub(s.center, pile.starts[1])), speed * speed / (2.0 * braking),
                  0.007);
        checkBelow(rbLength(s.linearVelocity), 1e-6);
        rbPile_Free(&pile);
    }
}

// B-77
static void blockSlidesAboveTheFrictionAngle(void** state)
{
    (void)state;
    const double angle = RB_PI / 6.0;
    rbWorldDef def = rbPileWorldDef(STEP);
    rbPile pile = rbMakeSlopeBlock(&def, angle, 0.3);
    advance(&pile, 500);
    rbBodyState s = rbPile_GetState(&pile, 1);
    checkNear(rbLength(s.linearVelocity), 0.5 * GRAVITY * (sin(angle) - 0.3 * cos(angle)), 1e-6);
    checkBelow(rbLength(s.angularVelocity), 1e-6);
    rbPile_Free(&pile);
}

// B-76
static void blockHoldsBelowTheFrictionAngle(void** state)
{
    (void)state;
    rbWorldDef def = rbPileWorldDef(1.0 / 60.0);
    rbPile pile = rbMakeSlopeBlock(&def, RB_PI / 18.0, 0.5);
    rbPile_NoteStart(&pile);
    for (int k = 1; k <= 600; ++k) {
        advance(&pile, k);
        checkBelow(rbPile_GetDisplacement(&pile, 1.0), 1e-6);
    }
    rbPile_Free(&pile);
}

// B-77
static void ballRollsWithFiveSeventhsOfThePull(void** state)
{
    (void)state;
    const double angle = RB_PI / 6.0;
    rbWorldDef def = rbPileWorldDef(STEP);
    rbPile pile = rbMakePile(&def);
    (void)rbPile_AddSlope(&pile, angle, 0.3, 0.0);
    rbPilePlan plan = {.geometry = rbCreateSphere(0.5, &pile.error),
                       .position = rbGetSlopePlace(angle, 0.0, 0.0, 0.5 + pile.shell),
                       .friction = 0.3};
    (void)rbPile_Add(&pile, &plan);
    advance(&pile, 1000);
    double truth = 5.0 / 7.0 * GRAVITY * sin(angle);
    checkNear(rbLength(rbPile_GetState(&pile, 1).linearVelocity), truth, 1e-4 * truth);
    rbPile_Free(&pile);
}

static void slidingBallEndsRolling(void** state)
{
    (void)state;
    rbWorldDef def = rbPileWorldDef(STEP);
    rbPile pile = rbMakePile(&def);
    (void)rbPile_AddSlope(&pile, 0.0, 0.2, 0.0);
    rbPilePlan plan = {.geometry = rbCreateSphere(0.11, &pile.error),
                       .position = {0.0, 0.0, 0.11 + pile.shell},
                       .velocity = {7.0, 0.0, 0.0},
                       .friction = 0.2};
    int ball = rbPile_Add(&pile, &plan);
    double time = 2.0 * 7.0 / (7.0 * 0.2 * GRAVITY);
    advance(&pile, (int64_t)(time / STEP) - 2);
    assert_true(rbPile_GetState(&pile, ball).linearVelocity.x > 5.0 + 2.0 * 0.2 * GRAVITY * STEP);
    advance(&pile, 1500);
    rbBodyState s = rbPile_GetState(&pile, ball);
    checkNear(s.linearVelocity.x, 5.0, 7e-4);
    checkNear(s.center.x, 6.0 * time + 5.0 * (1.5 - time), 1e-3);
    rbPile_Free(&pile);
}

// B-68, B-69, B-70: every law, as they agree here
static void flatCubeLeavesWithItsRestitution(void** state)
{
    (void)state;
    static const double restitutions[] = {0.3, 0.8, 1.0};
    double speed = sqrt(2.0 * GRAVITY);
    for (int i = 0; i < 3 * RB_IMPACT_LAW_COUNT; ++i) {
        double e = restitutions[i % 3];
        rbWorldDef def = rbPileWorldDef(STEP);
        def.contact.law = (rbImpactLaw)(i / 3);
        rbPile pile = rbMakePile(&def);
        (void)rbPile_AddSlope(&pile, 0.0, 0.5, e);
        rbPilePlan plan = {.geometry = rbCreateBox(rbMakeVec3(.5, .5, .5), &pile.error),
                           .position = {0.0, 0.0, 1.5 + pile.shell},
                           .friction = 0.5,
                           .restitution = e};
        int cube = rbPile_Add(&pile, &plan);
        advance(&pile, (int64_t)(speed / GRAVITY / STEP) + 3);
        rbBodyState s = rbPile_GetState(&pile, cube);
        double above = s.center.z - 0.5 - pile.shell;
        double square = s.linearVelocity.z * s.linearVelocity.z + 2.0 * GRAVITY * above;
        checkNear(sqrt(square) / speed, e, 1e-5);
        checkBelow(rbLength(s.angularVelocity), 1e-7);
        rbPile_Free(&pile);
    }
}

static void elasticBallsKeepTheirEnergy(void** state)
{
    (void)state;
    rbWorldDef def = rbPileWorldDef(STEP);
    rbPile pile = rbMakePile(&def);
    (void)rbPile_AddSlope(&pile, 0.0, 0.0, 1.0);
    for (int i = 0; i < 4; ++i) {
        rbPilePlan plan = {.geometry = rbCreateSphere(0.1, &pile.error),
                           .mass = 10.0,
                           .position = {i, 0.0, 5.0 + 0.1 * i},
                           .restitution = 1.0};
        (void)rbPile_Add(&pile, &plan);
    }
    double truth = 10.0 * GRAVITY * (4 * 5.0 + 0.6);
    advance(&pile, 5000);
    checkNear(rbWorld_GetLedger(pile.world).energy, truth, 1.9e-2 * 4.0 / 49.0);
    rbPile_Free(&pile);
}

// B-79, X-16
static void cradleOnHingesSendsAsManyAsStruck(void** state)
{
    (void)state;
    rbWorldDef def = rbPileWorldDef(STEP);
    for (int raised = 1; raised <= 4; ++raised) {
        rbPile pile = rbMakeCradle(&def, raised, RB_PI / 18.0);
        advance(&pile, 1400); // a quarter of the period and some: 1.13 s
        for (int i = 0; i < 5; ++i) {
            double speed = rbPile_GetState(&pile, i).linearVelocity.x;
            bool isLeaving = i >= 5 - raised;
            assert_int_equal(speed > 0.5, isLeaving);
            checkBelow(isLeaving ? 0.0 : fabs(speed), 0.01);
        }
        rbPile_Free(&pile);
    }
}

// B-80: a row of boxes on hinges, the first one hinged to the world, lies on the ground; the ground
// carries everything except the load of the world's hinge
static void hingedBoxesRestOnTheGround(void** state)
{
    (void)state;
    rbWorldDef def = rbPileWorldDef(1.0 / 60.0);
    rbPile pile = rbMakePile(&def);
    rbVec3 half = {0.5, 0.25, 0.25};
    double force = 0.0;
    rbBodyId before = {0};
    (void)rbPile_AddSlope(&pile, 0.0, 0.5, 0.0);
    for (int i = 0; i < 3; ++i) {
        int box = rbPile_AddBox(&pile, half, rbMakeVec3(1.1 * i, 0.0, pile.shell), 0.5, 10.0);
        rbJointDef joint = rbDefaultJointDef();
        joint.type = RB_JOINT_HINGE;
        joint.bodyA = before;
        joint.bodyB = pile.bodies[box];
        rbJointDef_SetAnchor(&joint, pile.world, rbMakeVec3(1.1 * i - 0.55, 0.0, 0.25));
        rbJointDef_SetAxis(&joint, pile.world, rbMakeVec3(0.0, 1.0, 0.0));
        (void)rbCreateJoint(pile.world, &joint, &pile.error);
        before = pile.bodies[box];
    }
    rbPile_NoteStart(&pile);
    advance(&pile, 120);
    checkBelow(rbPile_GetDisplacement(&pile, 0.6), 1e-5);
    checkBelow(rbPile_GetSpeed(&pile, 0.6), 1e-5);
    rbJointId first;
    assert_int_equal(rbWorld_GetJointIds(pile.world, &first, 1), 1);
    for (int i = 1; i < pile.count; ++i) {
        rbBodyId none = {0};
        force += rbBody_GetContactForce(pile.world, pile.bodies[i], none, NULL).z;
    }
    force -= rbJoint_GetState(pile.world, first).force.z;
    checkNear(force, 30.0 * GRAVITY, 1e-3);
    rbPile_Free(&pile);
}

// B-75
static void heavyBoxRestsOnALightOne(void** state)
{
    (void)state;
    rbWorldDef def = rbPileWorldDef(1.0 / 60.0);
    rbPile pile = rbMakeHeavyOnLight(&def, 1000.0, 1.0);
    rbPile_NoteStart(&pile);
    for (int k = 1; k <= 60; ++k) {
        advance(&pile, k);
        checkBelow(rbPile_GetSpeed(&pile, 1.0), 1e-6);
    }
    checkBelow(rbPile_GetDisplacement(&pile, 1.0), 1e-6);
    rbPile_Free(&pile);
}

// B-75, B-93
static void columnOfTwentyStandsStill(void** state)
{
    (void)state;
    rbWorldDef def = rbPileWorldDef(1.0 / 60.0);
    def.contact.tolerance = 1e-9;
    def.contact.velocityTolerance = 1e-10;
    rbPile pile = rbMakeColumn(&def, 20);
    rbPile_NoteStart(&pile);
    for (int k = 1; k <= 120; ++k) {
        advance(&pile, k);
        checkBelow(rbPile_GetSpeed(&pile, 1.0), 1e-6);
    }
    checkBelow(rbPile_GetDisplacement(&pile, 1.0), 1e-6);
    rbPile_Free(&pile);
}

// B-76
static void archAndCardHouseStand(void** state)
{
    (void)state;
    rbWorldDef def = rbPileWorldDef(1.0 / 60.0);
    rbPile arch = rbMakeArch(&def, 25, 0.5);
    rbPile house = rbMakeCardHouse(&def, 0.5);
    rbPile_NoteStart(&arch);
    rbPile_NoteStart(&house);
    advance(&arch, 60);
    advance(&house, 60);
    checkBelow(rbPile_GetDisplacement(&arch, 0.75), 1e-3);
    checkBelow(rbPile_GetDisplacement(&house, 0.1), 1e-4);
    rbPile_Free(&arch);
    rbPile_Free(&house);
}

static double findTime(const rbToy* toy, double step, int facets, bool isSpin)
{
    rbToySetting setting = {.form = RB_TOY_EXACT, .step = step, .facets = facets};
    rbError error = {0};
    rbToyTrace trace;
    rbToyWorld world = rbMakeToyWorld(toy, &setting, &error);
    assert_non_null(world.world);
    rbTraceToy(&world, rbMakeVec3(0.0, 0.0, 1.0), 0.8, 1e-3, &trace);
    double time = isSpin ? rbToyTrace_FindSpin(&trace, 0.0) : rbToyTrace_FindCosine(&trace, 0.0);
    rbFreeToyTrace(&trace);
    rbFreeToyWorld(&world);
    return time;
}

// X-17, E-02: 0.438 s and 0.699 s are those of the event engine
static void tippeTopInvertsEarlierWithMoreFriction(void** state)
{
    (void)state;
    rbToy rough = rbMakeTippeTop(0.5, 150.0);
    rbToy smooth = rbMakeTippeTop(0.3, 150.0);
    checkNear(findTime(&rough, 1e-4, 0, false), 0.438, 0.05 * 0.438);
    checkNear(findTime(&smooth, 1e-4, 0, false), 0.699, 0.05 * 0.699);
}

// L-112, E-02
static void moreFacetsComeNearerToTheCone(void** state)
{
    (void)state;
    rbToy toy = rbMakeTippeTop(0.5, 150.0);
    double exact = findTime(&toy, 1e-4, 0, false);
    double coarse = fabs(findTime(&toy, 1e-4, 4, false) - exact);
    double fine = fabs(findTime(&toy, 1e-4, 32, false) - exact);
    assert_true(coarse > 0.01); // 1 - cos 45 deg of the friction is missing, and it turns
    checkBelow(fine, 0.1 * coarse);
}

// 0.676552 s by the motion in 113 bits (toy_truth.h)
static void rattlebackReverses(void** state)
{
    (void)state;
    rbToy toy = rbMakeRattleback(5.0, false);
    checkNear(findTime(&toy, 5e-4, 0, true), 0.67655, 0.05 * 0.67655);
}

RB_TEST_GROUP(phys_contacts, cmocka_unit_test(cubesBrakeWithinTheirDistance),
              cmocka_unit_test(blockSlidesAboveTheFrictionAngle),
              cmocka_unit_test(blockHoldsBelowTheFrictionAngle),
              cmocka_unit_test(ballRollsWithFiveSeventhsOfThePull),
              cmocka_unit_test(slidingBallEndsRolling),
              cmocka_unit_test(flatCubeLeavesWithItsRestitution),
              cmocka_unit_test(elasticBallsKeepTheirEnergy),
              cmocka_unit_test(cradleOnHingesSendsAsManyAsStruck),
              cmocka_unit_test(hingedBoxesRestOnTheGround),
              cmocka_unit_test(heavyBoxRestsOnALightOne),
              cmocka_unit_test(columnOfTwentyStandsStill), cmocka_unit_test(archAndCardHouseStand),
              cmocka_unit_test(tippeTopInvertsEarlierWithMoreFriction),
              cmocka_unit_test(moreFacetsComeNearerToTheCone),
              cmocka_unit_test(rattlebackReverses));
