// Collisions that an external change, a path or a periodic box could hide, and a torque.
#include "event_scenes.h"

static const rbQuat unturned = {1.0, 0.0, 0.0, 0.0};

// A body that is placed next to another one, or turned toward it, does not pass through it.
static void bodiesSetAnewStillCollide(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1401)};
    int count = rbTest_Count(100, 2000);
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = eventWorldDef(0.0);
        rbWorld* world = makeWorldOf(&def);
        (void)addBox(world, 1.0, 1.0, 1.0, (Made){.restitution = 1.0});
        Made made = {.position = {rbRandom_Range(&random, 1.0, 2.5), 0.0, 0.0},
                     .velocity = {-0.01, 0.0, 0.0},
                     .orientation = {0.70710678118654752, 0.0, 0.70710678118654752, 0.0},
                     .restitution = 1.0};
        rbBodyId rod = addBox(world, 0.9, 0.2, 0.2, made);
        advanceFine(world, rbRandom_Range(&random, 0.0, 1.0));
        double gap = rbRandom_Range(&random, 1e-4, 0.1);
        rbTransform place = {{0.95 + gap, 0.1, 0.1}, unturned};
        rbVec3 velocity = {-rbRandom_Range(&random, 0.1, 10.0), 0.0, 0.0};
        assert_int_equal(rbBody_SetState(world, rod, place, velocity, RB_VEC3_ZERO, NULL),
                         RB_STATUS_OK);
        advanceFine(world, rbWorld_GetTime(world) + 2.0 * gap / -velocity.x);
        assert_true(countEvents(world, RB_EVENT_IMPACT) > 0);
        checkOverlap(world);
        rbDestroyWorld(world);
    }
}

// A plate that starts later is also detected by a box whose flight changed while it was at rest.
static void startsOfPathsHideNoCollision(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1404)};
    int count = rbTest_Count(100, 2000);
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = eventWorldDef(0.0);
        rbWorld* world = makeWorldOf(&def);
        rbPathDef path = rbDefaultPathDef();
        path.speed = rbRandom_Range(&random, 0.5, 5.0);
        path.direction = rbMakeVec3(0.0, 0.0, 1.0);
        path.startTime = rbRandom_Range(&random, 0.4, 1.0);
        Made plate = {.restitution = 1.0};
        (void)addMade(world, &plate, rbCreateBox(rbMakeVec3(5.0, 5.0, 0.05), NULL),
                      RB_BODY_KINEMATIC, &path);
        Made made = {.position = {0.0, 0.0, rbRandom_Range(&random, 0.5, 1.5)},
                     .velocity = {0.0, 0.0, -0.05},
                     .spin = rbScale(0.5, rbRandom_Direction(&random)),
                     .restitution = 1.0};
        rbBodyId box = addBox(world, 0.3, 0.2, 0.1, made);
        rbVec3 beside = {-0.5, 0.0, made.position.z};
        Made ball = {.position = beside, .velocity = {1.0, 0.0, -0.05}, .restitution = 1.0};
        (void)addSphere(world, 0.05, ball);
        advanceFine(world, path.startTime + 2.0 * made.position.z / path.speed);
        rbBodyState after = rbBody_GetState(world, box);
        double top = path.speed * (rbWorld_GetTime(world) - path.startTime) + 0.05;
        assert_true(after.center.z > top);
        checkOverlap(world);
        rbDestroyWorld(world);
    }
}

// A kinematic body that repeatedly crosses a periodic box hits a body that drifts into its path.
static void pathsCrossPeriodicBoxes(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1403)};
    int count = rbTest_Count(20, 400);
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = eventWorldDef(0.0);
        def.periodicBox = rbMakeVec3(10.0, i % 2 == 0 ? 12.0 : 0.0, i % 3 == 0 ? 11.0 : 0.0);
        rbWorld* world = makeWorldOf(&def);
        rbPathDef path = rbDefaultPathDef();
        path.speed = 1.0;
        path.direction = rbMakeVec3(1.0, 0.0, 0.0);
        Made made = {.restitution = 1.0};
        (void)addMade(world, &made, rbCreateBox(rbMakeVec3(0.1, 0.1, 0.1), NULL), RB_BODY_KINEMATIC,
                      &path);
        // Hit while it is in the path: 0.4 m at 0.02 m/s takes two passes, at 0.039 m/s one. Fewer
        // neighbors mean longer regions, so some are alone.
        double speed = i % 4 < 2 ? 0.02 : 0.039;
        Made ball = {.position = {rbRandom_Range(&random, -5.0, 5.0), 50.0 * speed, 0.0},
                     .velocity = {0.0, -speed, 0.0},
                     .restitution = 1.0};
        (void)addSphere(world, 0.1, ball);
        bool isAlone = i % 4 == 1 || i % 4 == 2;
        Made one = {.position = {4.0, 3.0, 0.0}, .velocity = {0.1, 0.0, 0.0}, .restitution = 1.0};
        Made two = {.position = {-4.0, 3.0, 0.0}, .velocity = {-0.1, 0.0, 0.0}, .restitution = 1.0};
        if (!isAlone) {
            (void)addSphere(world, 0.1, one);
            (void)addSphere(world, 0.1, two);
        }
        advanceFine(world, 70.0);
        checkOverlap(world);
        assert_true(countEvents(world, RB_EVENT_IMPACT) >= (isAlone ? 1 : 2));
        rbDestroyWorld(world);
    }
}

// A constant torque next to a wall: the spin doubles repeatedly, and the cost stays small.
static void constantTorquesDoNotStall(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(0.0);
    rbWorld* world = makeWorldOf(&def);
    Made wall = {.position = {-0.2, 0.0, 0.0}, .restitution = 0.5};
    (void)addFixedBox(world, 0.1, 1.0, 1.0, wall);
    rbBodyId box = addBox(world, 0.2, 0.2, 0.1, (Made){.restitution = 0.5});
    rbForceDef force = rbDefaultForceDef();
    force.type = RB_FORCE_CONSTANT;
    force.body = box;
    force.torque = rbMakeVec3(0.0, 0.0, 1e-3);
    assert_false(RB_IS_NULL(rbCreateForce(world, &force, NULL)));
    advanceFine(world, 30.0);
    // The half diagonal is 0.1414 m, the wall 0.15 m away: it turns freely.
    assert_int_equal(countEvents(world, RB_EVENT_IMPACT), 0);
    double inertia = rbBody_GetMass(world, box).mass * (0.04 + 0.04) / 12.0;
    checkRelative(rbBody_GetState(world, box).angularVelocity.z, 30.0 * 1e-3 / inertia, 1e-6);
    assert_true(rbWorld_GetEventStatistics(world).measurements < 20000);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_event_changes, cmocka_unit_test(bodiesSetAnewStillCollide),
              cmocka_unit_test(startsOfPathsHideNoCollision),
              cmocka_unit_test(pathsCrossPeriodicBoxes),
              cmocka_unit_test(constantTorquesDoNotStall));
