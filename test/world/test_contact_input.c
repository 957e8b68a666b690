// Extreme contacts: everything at one point, extreme masses and frictions, rebounds without loss,
// contacts without size. No NaN, a report, a message.
#include "contact_scenes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static rbBodyId addBall(rbWorld* world, rbVec3 position, double radius, double friction,
                        double restitution)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.position = position;
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateSphere(radius, &error));
    shape.material.friction = friction;
    shape.material.restitution = restitution;
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    return id;
}

// Largest speed of a body; all states are finite.
static double findSpeed(const rbWorld* world)
{
    rbBodyId ids[1024];
    int count = rbWorld_GetBodyIds(world, ids, 1024);
    double most = 0.0;
    for (int i = 0; i < count && i < 1024; ++i) {
        rbBodyState state = rbBody_GetState(world, ids[i]);
        assert_true(rbIsFinite3(state.transform.p) && rbIsFinite3(state.linearVelocity) &&
                    rbIsFinite3(state.angularVelocity));
        most = fmax(most, rbLength(state.linearVelocity));
    }
    assert_true(isfinite(rbWorld_GetLedger(world).energy));
    return most;
}

static void crowdsAtOnePointAreRefused(void** state)
{
    (void)state;
    int count = rbTest_Count(300, 3000);
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbError error = {0};
    for (int i = 0; i < count; ++i) {
        (void)addBall(world, RB_VEC3_ZERO, 0.1, 0.5, 0.5);
    }
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "bodies \"body 0\" and \"body 1\" overlap by 0.2 m"));
    // All pairs but the one that is named, up to the limit of near pairs.
    char rest[64];
    int pairs = count * (count - 1) / 2;
    int limit = 100 * count + 10000;
    (void)snprintf(rest, sizeof rest, " at least %d more pairs overlap; move them apart",
                   (pairs < limit ? pairs : limit) - 1);
    if (strstr(error.message, rest) == NULL) {
        fail_msg("%s", error.message);
    }
    rbStepReport report = rbWorld_Advance(world, 0.1);
    assert_int_equal(report.status, RB_STATUS_INVALID);
    assert_true(report.time == 0.0 && findSpeed(world) == 0.0);
    rbDestroyWorld(world);
}

// Separated no faster than allowed per pair, and without residual speed.
static void crowdsArePartedIfAllowed(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    def.gravity = RB_VEC3_ZERO;
    def.step.step = 0.01;
    def.contact.isOverlapAllowed = true;
    rbWorld* world = makeWorld(&def);
    for (int i = 0; i < 20; ++i) {
        (void)addBall(world, RB_VEC3_ZERO, 0.1, 0.5, 0.5);
    }
    (void)rbWorld_AdvanceTo(world, 0.5);
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    checkNear(s.deepest, 0.2, 1e-4);
    checkBelow(findSpeed(world), 1e-6);
    (void)rbWorld_AdvanceTo(world, 0.6);
    assert_true(rbWorld_GetContactStatistics(world).contactCount == 0);
    rbDestroyWorld(world);
}

// A ball half inside the floor is lifted out of it: that work is recorded as work of contacts.
static void liftsOutOfOverlapsAreAccountedFor(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    def.contact.isOverlapAllowed = true;
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId ball = addBall(world, rbMakeVec3(0.0, 0.0, 0.05), 0.1, 0.5, 0.5);
    (void)rbWorld_AdvanceTo(world, 0.2);
    rbBodyState end = rbBody_GetState(world, ball);
    rbLedger ledger = rbWorld_GetLedger(world);
    checkNear(end.transform.p.z, 0.1 + SHELL, 1e-6);
    checkNear(ledger.restWork, ledger.potential * (1.0 - 0.05 / end.transform.p.z), 1e-9);
    checkNear(ledger.energyDrift, 0.0, 1e-9);
    rbDestroyWorld(world);
}

// A block on a nearly vertical wall: friction above 10 holds it.
static void hugeFrictionHolds(void** state)
{
    (void)state;
    static const double frictions[] = {20.0, 1e3, 1e9};
    for (int i = 0; i < 3; ++i) {
        rbWorldDef def = defineWorld();
        def.step.step = 0.005;
        def.contact.frictionRule = RB_COMBINE_MAX;
        // 86 degrees: tan is 14.3
        double angle = 86.0 * RB_PI / 180.0;
        def.gravity = rbMakeVec3(GRAVITY * sin(angle), 0.0, -GRAVITY * cos(angle));
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        Piece plate = {.position = {0.0, 0.0, 0.005 + SHELL},
                       .size = {0.4, 0.4, 0.01},
                       .friction = frictions[i]};
        rbBodyId id = addPiece(world, &plate);
        (void)addBall(world, rbMakeVec3(0.0, 1.0, 0.1 + SHELL), 0.1, frictions[i], 0.5);
        (void)rbWorld_AdvanceTo(world, 0.5);
        double way = rbLength(rbSub(rbBody_GetState(world, id).transform.p, plate.position));
        double speed = findSpeed(world);
        print_message("friction %g: slid %.2g m, ball %.4g m/s, unmet %d\n", frictions[i], way,
                      speed, (int)rbWorld_GetContactStatistics(world).unmetSteps);
        checkBelow(way, 1e-6);
        // The ball rolls: 5/7 g sin
        checkNear(speed, 5.0 / 7.0 * GRAVITY * sin(angle) * 0.5, 1e-2);
        rbDestroyWorld(world);
    }
}

// A box full of lossless balls: the energy is conserved.
static void densePilesThatLoseNothingKeepTheirEnergy(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    def.step.step = 0.005;
    def.contact.restSpeed = 1e-3;
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    for (int i = 0; i < 27; ++i) {
        int layer = i / 9;
        int row = i / 3 % 3;
        rbVec3 position = rbMakeVec3(0.21 * (i % 3), 0.21 * row, 0.2 + 0.201 * layer);
        (void)addBall(world, position, 0.1, 0.0, 1.0);
    }
    double start = rbWorld_GetLedger(world).energy;
    double most = 0.0;
    for (int k = 1; k <= 20; ++k) {
        (void)rbWorld_AdvanceTo(world, 0.1 * k);
        (void)findSpeed(world);
        most = fmax(most, rbWorld_GetLedger(world).energy - start);
    }
    rbLedger ledger = rbWorld_GetLedger(world);
    print_message("energy %g J, gained at most %.3g, at the end %.3g; drift %.3g, unmet %d\n",
                  start, most, ledger.energy - start, ledger.energyDrift,
                  (int)rbWorld_GetContactStatistics(world).unmetSteps);
    checkBelow(most, 1e-6 * start);
    rbDestroyWorld(world);
}

// Up to a million to one.
static void heavyOnLightStands(void** state)
{
    (void)state;
    for (int i = 3; i <= 6; ++i) {
        rbWorldDef def = defineWorld();
        def.step.step = 1.0 / 60.0;
        rbWorld* world = makeWorld(&def);
        rbError error = {0};
        (void)addFloor(world);
        rbBodyId ids[2];
        for (int k = 0; k < 2; ++k) {
            rbBodyDef body = rbDefaultBodyDef();
            body.position = rbMakeVec3(0.0, 0.0, 0.05 + SHELL + k * (0.1 + SHELL));
            double mass = k == 0 ? 1.0 : pow(10.0, i);
            double moment = mass * 0.01 / 6.0;
            rbMassProperties properties = {
                .volume = 1e-3, .mass = mass, .inertia = {moment, moment, moment, 0.0, 0.0, 0.0}};
            body.mass = &properties;
            ids[k] = rbCreateBody(world, &body, &error);
            Piece piece = {.size = {0.1, 0.1, 0.1}, .friction = 0.5};
            assert_false(RB_IS_NULL(addShape(world, ids[k], &piece, &error)));
        }
        rbVec3 before = rbBody_GetState(world, ids[1]).transform.p;
        (void)rbWorld_AdvanceTo(world, 5.0);
        double speed = findSpeed(world);
        double way = rbLength(rbSub(rbBody_GetState(world, ids[1]).transform.p, before));
        rbContactStatistics s = rbWorld_GetContactStatistics(world);
        print_message("1e%d: moved %.2g m, %.2g m/s, unmet %d of 300, direct %d, deepest %.2g\n", i,
                      way, speed, (int)s.unmetSteps, (int)s.directStages, s.deepest);
        checkBelow(way, 2e-6);
        checkBelow(speed, 1e-6);
        // As a whole, where sweeps are slow.
        assert_true(s.directStages > 0);
        assert_true(i == 6 || s.unmetSteps == 0);
        rbDestroyWorld(world);
    }
}

// Points, edges and plates: shapes without size.
static void contactsWithoutSizeAreHarmless(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    def.step.step = 0.005;
    def.contact.shell = 1e-8; // the default is larger than the ball, and refused
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    // a ball like a point, a plate like a sheet, a needle, and cubes that touch in corners
    (void)addBall(world, rbMakeVec3(0.0, 0.0, 0.01), 1e-7, 0.5, 0.5);
    Piece sheet = {.position = {1.0, 0.0, 0.02}, .size = {0.2, 0.2, 1e-8}, .friction = 0.5};
    (void)addPiece(world, &sheet);
    Piece needle = {.position = {2.0, 0.0, 0.02}, .size = {1e-7, 1e-7, 0.01}, .friction = 0.5};
    (void)addPiece(world, &needle);
    (void)addCube(world, "low", rbMakeVec3(3.0, 0.0, SHELL));
    (void)addCube(world, "high", rbMakeVec3(3.1 - 1e-12, 0.1 - 1e-12, 0.1 + 2.0 * SHELL));
    for (int k = 1; k <= 10; ++k) {
        rbStepReport report = rbWorld_AdvanceTo(world, 0.05 * k);
        assert_true(report.status == RB_STATUS_OK || report.status == RB_STATUS_NUMERICAL);
        (void)findSpeed(world);
    }
    print_message("unmet %d, deepest %.2g m\n", (int)rbWorld_GetContactStatistics(world).unmetSteps,
                  rbWorld_GetContactStatistics(world).deepest);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_contact_input, cmocka_unit_test(crowdsAtOnePointAreRefused),
              cmocka_unit_test(crowdsArePartedIfAllowed),
              cmocka_unit_test(liftsOutOfOverlapsAreAccountedFor),
              cmocka_unit_test(hugeFrictionHolds),
              cmocka_unit_test(densePilesThatLoseNothingKeepTheirEnergy),
              cmocka_unit_test(heavyOnLightStands),
              cmocka_unit_test(contactsWithoutSizeAreHarmless));
