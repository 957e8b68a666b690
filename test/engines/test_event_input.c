// Input that the event engine refuses, its handling of hard input, and its messages.
#include "event_scenes.h"

#include <float.h>

static bool says(const char* message, const char* part)
{
    bool isThere = strstr(message, part) != NULL;
    if (!isThere) {
        print_error("\"%s\" does not say \"%s\"\n", message, part);
    }
    return isThere;
}

// An overlapping start is refused; the message names the pair and the depth.
static void overlapAtTheStartIsRefusedByName(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(9.81);
    rbWorld* world = makeWorldOf(&def);
    (void)addSphere(world, 0.5, (Made){.name = "apple"});
    (void)addBox(world, 1.0, 1.0, 1.0, (Made){.name = "crate", .position = {0.875, 0.0, 0.0}});
    (void)addSphere(world, 0.5, (Made){.name = "pear", .position = {0.0, 5.0, 0.0}});
    rbError error = {0};
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_INVALID);
    assert_true(says(error.message, "apple") && says(error.message, "crate"));
    assert_true(says(error.message, "0.125 m"));
    assert_false(strstr(error.message, "pear") != NULL);
    rbStepReport report = rbWorld_Advance(world, 1.0);
    assert_int_equal(report.status, RB_STATUS_INVALID);
    checkNear(report.time, 0.0, 0.0);
    assert_true(says(rbWorld_GetError(world).message, "apple"));
    rbDestroyWorld(world);
}

// Where it is allowed, bodies are pushed apart along the shortest direction, each by its share.
static void allowedOverlapIsParted(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(0.0);
    def.event.isOverlapAllowed = true;
    rbWorld* world = makeWorldOf(&def);
    rbBodyId heavy = addSphere(world, 0.5, (Made){.name = "heavy", .density = 3000.0});
    rbBodyId light = addSphere(world, 0.5, (Made){.name = "light", .position = {0.9, 0.0, 0.0}});
    advanceFine(world, 0.1);
    double tolerance = rbWorld_GetEventStatistics(world).tolerance;
    double a = rbBody_GetState(world, heavy).center.x;
    double b = rbBody_GetState(world, light).center.x;
    checkNear(b - a, 1.0 + tolerance, tolerance);
    checkNear(-a, 0.25 * (0.1 + tolerance), tolerance);
    assert_non_null(findEvent(world, RB_EVENT_PARTED, 0));
    checkNear(rbWorld_GetLedger(world).kineticLinear, 0.0, 0.0);
    rbDestroyWorld(world);
}

// A row of bodies that overlap by rounding: neither a stall nor a kick, at rest and when hit.
static void slightOverlapHasDynamics(void** state)
{
    (void)state;
    for (int isBox = 0; isBox < 2; ++isBox) {
        for (int isHit = 0; isHit < 2; ++isHit) {
            rbWorldDef def = eventWorldDef(0.0);
            rbWorld* world = makeWorldOf(&def);
            rbBodyId ids[6];
            for (int i = 0; i < 6; ++i) {
                Made made = {.position = {0.2 * i * (1.0 - 1e-14), 0.0, 0.0}, .restitution = 1.0};
                made.velocity.x = i == 0 && isHit ? 0.5 : 0.0;
                ids[i] = isBox ? addBox(world, 0.2, 0.2, 0.2, made) : addSphere(world, 0.1, made);
            }
            rbLedger before = rbWorld_GetLedger(world);
            advanceFine(world, 1.0);
            rbLedger after = rbWorld_GetLedger(world);
            checkNear(after.energy, before.energy, 1e-12 * before.energy);
            checkNear(after.momentum.x, before.momentum.x, 1e-12 * before.momentum.x);
            for (int i = 0; i < 6; ++i) {
                double speed = rbLength(rbBody_GetState(world, ids[i]).linearVelocity);
                assert_true(speed <= (isHit ? 0.5 : 0.0) * (1.0 + 1e-9));
            }
            rbDestroyWorld(world);
        }
    }
}

static void badMaterialsAreRefused(void** state)
{
    (void)state;
    static const double restitutions[] = {-0.1, 1.1, NAN, 0.5, 0.5, 0.5};
    static const double frictions[] = {0.5, 0.5, 0.5, -0.1, NAN, INFINITY};
    rbWorldDef def = eventWorldDef(9.81);
    rbWorld* world = makeWorldOf(&def);
    rbBodyDef bodyDef = rbDefaultBodyDef();
    rbBodyId id = rbCreateBody(world, &bodyDef, NULL);
    rbGeometryId ball = rbWorld_AddGeometry(world, rbCreateSphere(0.1, NULL));
    for (int i = 0; i < 6; ++i) {
        rbError error = {0};
        rbShapeDef shape = rbDefaultShapeDef();
        shape.geometry = ball;
        shape.material.restitution = restitutions[i];
        shape.material.friction = frictions[i];
        assert_true(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
        assert_int_equal(error.status, RB_STATUS_INVALID);
        rbMaterialPair pair = {restitutions[i], frictions[i], RB_IMPACT_NEWTON};
        error = (rbError){0};
        assert_int_not_equal(rbWorld_SetMaterialPair(world, 0, 1, &pair, &error), RB_STATUS_OK);
        assert_true(strlen(error.message) > 10);
    }
    rbMaterialPair fine = {0.5, 0.5, RB_IMPACT_LAW_COUNT};
    assert_int_not_equal(rbWorld_SetMaterialPair(world, 0, RB_MATERIAL_KINDS_MAX, &fine, NULL),
                         RB_STATUS_OK);
    assert_int_not_equal(rbWorld_SetMaterialPair(world, -1, 0, &fine, NULL), RB_STATUS_OK);
    rbDestroyWorld(world);
}

static void badSettingsAreRefused(void** state)
{
    (void)state;
    for (int i = 0; i < 6; ++i) {
        rbWorldDef def = eventWorldDef(9.81);
        def.event.tolerance = i == 0 ? -1.0 : def.event.tolerance;
        def.event.tolerance = i == 1 ? NAN : def.event.tolerance;
        def.event.restTime = i == 2 ? 0.0 : def.event.restTime;
        def.event.contactTime = i == 3 ? INFINITY : def.event.contactTime;
        def.event.eventsPerSecond = i == 4 ? -5.0 : def.event.eventsPerSecond;
        def.event.law = i == 5 ? RB_IMPACT_LAW_COUNT : def.event.law;
        rbError error = {0};
        assert_null(rbCreateWorld(&def, &error));
        assert_int_equal(error.status, RB_STATUS_INVALID);
        assert_true(says(error.message, "event."));
    }
}

// Two walls close on a ball: the budget ends the run with a message that names the bodies.
static void budgetNamesTheBodies(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(0.0);
    def.event.eventsPerSecond = 1e5;
    rbWorld* world = makeWorldOf(&def);
    rbPathDef path = rbDefaultPathDef();
    path.type = RB_PATH_LINE;
    path.speed = 1.0;
    for (int i = 0; i < 2; ++i) {
        double side = i == 0 ? -1.0 : 1.0;
        path.direction = rbMakeVec3(-side, 0.0, 0.0);
        Made wall = {.name = i == 0 ? "left wall" : "right wall",
                     .position = {side, 0.0, 0.0},
                     .restitution = 1.0};
        rbVec3 half = {0.1, 1.0, 1.0};
        (void)addMade(world, &wall, rbCreateBox(half, NULL), RB_BODY_KINEMATIC, &path);
    }
    (void)addSphere(world, 0.1, (Made){.name = "ball", .restitution = 1.0});
    rbStepReport report = rbWorld_Advance(world, 2.0);
    assert_int_equal(report.status, RB_STATUS_LIMIT);
    rbError error = rbWorld_GetError(world);
    assert_true(says(error.message, "ball") && says(error.message, "wall"));
    assert_true(report.time > 0.5 && report.time <= 0.8 + 1e-9);
    rbDestroyWorld(world);
}

static void pushUp(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context)
{
    (void)torque;
    (void)context;
    force->z += 20.0 * input->mass * cos(20.0 * input->time);
}

// A force without a bound is refused by name; one with a bound is used, and nothing is missed.
static void forcesNeedABound(void** state)
{
    (void)state;
    for (int isBounded = 0; isBounded < 2; ++isBounded) {
        rbWorldDef def = eventWorldDef(9.81);
        rbWorld* world = makeWorldOf(&def);
        (void)addFloor(world, 0.5, 0.3);
        rbBodyId ball = addSphere(world, 0.1, (Made){.name = "kite", .position = {0.0, 0.0, 1.0}});
        rbForceDef force = rbDefaultForceDef();
        force.type = RB_FORCE_USER;
        force.callback = pushUp;
        force.accelerationMax = isBounded ? 20.0 : -1.0;
        force.torqueMax = isBounded ? 0.0 : -1.0;
        assert_false(RB_IS_NULL(rbCreateForce(world, &force, NULL)));
        rbError error = {0};
        rbStatus status = rbWorld_Prepare(world, &error);
        if (!isBounded) {
            assert_int_equal(status, RB_STATUS_UNSUPPORTED);
            assert_true(says(error.message, "kite") && says(error.message, "user"));
        } else {
            assert_int_equal(status, RB_STATUS_OK);
            for (int k = 1; k <= 100; ++k) {
                advanceFine(world, 0.01 * k);
                double tolerance = rbWorld_GetEventStatistics(world).tolerance;
                assert_true(rbBody_GetState(world, ball).center.z >= 0.1 - tolerance);
            }
            assert_true(rbWorld_GetEventStatistics(world).collisions >= 1);
        }
        rbDestroyWorld(world);
    }
}

static void infiniteVelocityIsRefused(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(9.81);
    rbWorld* world = makeWorldOf(&def);
    static const double values[] = {INFINITY, -INFINITY, NAN};
    for (int i = 0; i < 3; ++i) {
        for (int isSpin = 0; isSpin < 2; ++isSpin) {
            rbError error = {0};
            rbBodyDef bodyDef = rbDefaultBodyDef();
            bodyDef.name = "photon";
            rbVec3* velocity = isSpin ? &bodyDef.angularVelocity : &bodyDef.linearVelocity;
            velocity->y = values[i];
            assert_true(RB_IS_NULL(rbCreateBody(world, &bodyDef, &error)));
            assert_true(says(error.message, "photon"));
        }
    }
    rbDestroyWorld(world);
}

// Zero time of flight: touching spheres driven together, e = 0 or 1, finish and keep momentum.
static void zeroTimesOfFlightEnd(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(621)};
    int count = rbTest_Count(100, 2000);
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = eventWorldDef(0.0);
        def.event.eventsPerSecond = 1e5;
        rbWorld* world = makeWorldOf(&def);
        double restitution = i % 3 == 0 ? 0.0 : (i % 3 == 1 ? 1.0 : rbRandom_Unit(&random));
        // The corners of a triangle of touching spheres, all driven to its center.
        for (int k = 0; k < 3; ++k) {
            double s, c;
            rbSinCos(2.0 * RB_PI * k / 3.0, &s, &c);
            rbVec3 out = {c, s, 0.0};
            rbVec3 noise = i < 3 ? RB_VEC3_ZERO : rbScale(0.3, rbRandom_Direction(&random));
            Made made = {.position = rbScale(0.2 / sqrt(3.0), out),
                         .velocity = rbAdd(noise, rbScale(-1.0, out)),
                         .restitution = restitution};
            (void)addSphere(world, 0.1, made);
        }
        rbLedger before = rbWorld_GetLedger(world);
        advanceFine(world, 0.5);
        rbLedger after = rbWorld_GetLedger(world);
        checkBelow(rbDistance(before.momentum, after.momentum), 1e-12 * before.mass);
        assert_true(after.energy <= before.energy * (1.0 + 1e-12));
        double tolerance = rbWorld_GetEventStatistics(world).tolerance;
        checkBelow(rbWorld_GetEventStatistics(world).overlapMax, tolerance);
        rbDestroyWorld(world);
    }
}

// Growing spheres meet when the sum of the radii is the distance, also if they fly apart more
// slowly than they grow, and separate faster than they grow.
static void growingSpheresMeetInTime(void** state)
{
    (void)state;
    static const double apart[] = {0.0, 0.03, 0.05, 0.1, -0.1}; // m/s
    for (int i = 0; i < 5; ++i) {
        rbWorldDef def = eventWorldDef(0.0);
        rbWorld* world = makeWorldOf(&def);
        rbBodyId a = addSphere(world, 0.1, (Made){.growth = 0.05, .restitution = 1.0});
        rbBodyId b = addSphere(world, 0.1,
                               (Made){.position = {1.0, 0.0, 0.0},
                                      .velocity = {apart[i], 0.0, 0.0},
                                      .growth = 0.15,
                                      .restitution = 1.0});
        double speed = 0.2 - apart[i], end = 0.8 / speed + 2.0;
        advanceFine(world, end);
        const rbEvent* impact = findEvent(world, RB_EVENT_IMPACT, 0);
        assert_non_null(impact);
        checkNear(impact->time, 0.8 / speed, 1e-12);
        checkNear(impact->approachSpeed, speed, 1e-12);
        rbBodyState stateA = rbBody_GetState(world, a);
        rbBodyState stateB = rbBody_GetState(world, b);
        // In the contact u' = -e u, where u includes the growth: they separate 0.2 faster than
        // that.
        checkNear(stateB.linearVelocity.x - stateA.linearVelocity.x, 0.2 + speed, 1e-12);
        assert_true(rbDistance(stateA.center, stateB.center) >= 0.2 + 0.2 * end);
        rbDestroyWorld(world);
    }
}

static void smallPeriodsAreRefused(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = eventWorldDef(0.0);
        double edge = i == 0 ? 1.0 : 4.0;
        def.periodicBox = rbMakeVec3(edge, edge, edge);
        rbWorld* world = makeWorldOf(&def);
        (void)addSphere(world, 0.3, (Made){.name = "ball"});
        rbError error = {0};
        rbStatus status = rbWorld_Prepare(world, &error);
        assert_int_equal(status, i == 0 ? RB_STATUS_INVALID : RB_STATUS_OK);
        assert_true(i == 1 || (says(error.message, "periodic") && says(error.message, "0.3")));
        rbDestroyWorld(world);
    }
}

// The material pair determines the impact between two kinds, whatever their own materials are.
static void materialPairsDecide(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(0.0);
    def.event.law = RB_IMPACT_STRONGE;
    rbWorld* world = makeWorldOf(&def);
    rbMaterialPair soft = {0.0, 0.7, RB_IMPACT_NEWTON};
    rbMaterialPair hard = {1.0, 0.0, RB_IMPACT_LAW_COUNT};
    assert_int_equal(rbWorld_SetMaterialPair(world, 3, 1, &soft, NULL), RB_STATUS_OK);
    assert_int_equal(rbWorld_SetMaterialPair(world, 2, 3, &hard, NULL), RB_STATUS_OK);
    (void)addFixedBox(world, 1.0, 20.0, 20.0,
                      (Made){.name = "wall", .restitution = 0.5, .friction = 0.5, .kind = 3});
    rbBodyId ids[3];
    for (int kind = 0; kind < 3; ++kind) {
        Made made = {.position = {-2.0, 3.0 * kind, 0.0},
                     .velocity = {1.0, 0.0, 0.0},
                     .restitution = 0.5,
                     .friction = 0.5,
                     .kind = kind};
        ids[kind] = addSphere(world, 0.2, made);
    }
    advanceFine(world, 1.5);
    checkNear(rbBody_GetState(world, ids[0]).linearVelocity.x, -0.5, 1e-12);
    checkNear(rbBody_GetState(world, ids[1]).linearVelocity.x, 0.0, 1e-12);
    checkNear(rbBody_GetState(world, ids[2]).linearVelocity.x, -1.0, 1e-12);
    rbEventStatistics statistics = rbWorld_GetEventStatistics(world);
    assert_int_equal(statistics.lawCounts[RB_IMPACT_STRONGE], 2);
    assert_true(statistics.lawCounts[RB_IMPACT_NEWTON] >= 1);
    rbDestroyWorld(world);
}

// The journal can be turned off; nothing else changes.
static void journalOffChangesNothing(void** state)
{
    (void)state;
    uint64_t hashes[2];
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = eventWorldDef(9.81);
        def.event.isJournalOff = i == 1;
        rbWorld* world = makeWorldOf(&def);
        (void)addFloor(world, 0.5, 0.3);
        Made made = {.position = {0.0, 0.0, 1.0},
                     .spin = {1.0, 2.0, 3.0},
                     .restitution = 0.5,
                     .friction = 0.3};
        (void)addBox(world, 0.1, 0.2, 0.3, made);
        advanceFine(world, 1.0);
        hashes[i] = rbWorld_GetHash(world);
        int count;
        (void)rbWorld_GetEvents(world, &count);
        assert_true(i == 0 ? count > 0 : count == 0);
        assert_true(rbWorld_GetEventStatistics(world).collisions > 0);
        rbDestroyWorld(world);
    }
    assert_true(hashes[0] == hashes[1]);
}

RB_TEST_GROUP(test_event_input, cmocka_unit_test(overlapAtTheStartIsRefusedByName),
              cmocka_unit_test(allowedOverlapIsParted), cmocka_unit_test(slightOverlapHasDynamics),
              cmocka_unit_test(badMaterialsAreRefused), cmocka_unit_test(badSettingsAreRefused),
              cmocka_unit_test(budgetNamesTheBodies), cmocka_unit_test(forcesNeedABound),
              cmocka_unit_test(infiniteVelocityIsRefused), cmocka_unit_test(zeroTimesOfFlightEnd),
              cmocka_unit_test(growingSpheresMeetInTime), cmocka_unit_test(smallPeriodsAreRefused),
              cmocka_unit_test(materialPairsDecide), cmocka_unit_test(journalOffChangesNothing));
