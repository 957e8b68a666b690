// Steps that are cut at the time of a contact: where, at which cost, and that queries within them
// change nothing.
#include "arrival_scenes.h"
#include "lab/math/random3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAVITY 9.81
#define SHELL 1e-5

// The height of an elastic ball above its lowest position, from rest.
static double bounceHeight(double drop, double time)
{
    double fall = sqrt(2.0 * drop / GRAVITY);
    double phase = fmod(time + fall, 2.0 * fall) - fall;
    return drop - 0.5 * GRAVITY * phase * phase;
}

// A ball bounces for 10 s in steps of 10 ms; returns the counters.
static rbContactStatistics bounce(rbContactTime row, double* worst, double* drift)
{
    rbWorldDef def = defineArrivals(0.01, row);
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, 1.0, 0.0);
    Flyer ball = {.geometry = rbCreateSphere(0.1, NULL),
                  .position = {0.0, 0.0, 0.1 + SHELL + 0.7},
                  .restitution = 1.0};
    rbBodyId id = addFlyer(world, &ball);
    double energy = 0.0;
    *worst = 0.0;
    *drift = 0.0;
    for (int i = 0; i <= 1000; ++i) {
        double time = 0.01 * i;
        assert_int_equal(rbWorld_AdvanceTo(world, time).status, RB_STATUS_OK);
        double height = rbBody_GetState(world, id).center.z - 0.1 - SHELL;
        *worst = fmax(*worst, fabs(height - bounceHeight(0.7, time)));
        rbLedger ledger = rbWorld_GetLedger(world);
        energy = i == 0 ? ledger.energy : energy;
        *drift = fmax(*drift, fabs(ledger.energy / energy - 1.0));
    }
    rbContactStatistics statistics = rbWorld_GetContactStatistics(world);
    rbDestroyWorld(world);
    return statistics;
}

// B-64, X-12: 13 bounces, each late or early by less than the tolerance over the speed, which the
// flight between them at most doubles.
static void cutStepsMeetTheTimeOfContact(void** state)
{
    (void)state;
    rbContactStatistics rows[RB_CONTACT_TIME_COUNT];
    double worst;
    double drift;
    for (int row = RB_CONTACT_TIME_INTERPOLATION; row <= RB_CONTACT_TIME_BISECTION; ++row) {
        rows[row] = bounce((rbContactTime)row, &worst, &drift);
        checkBelow(worst, 13 * 2e-6);
        checkBelow(drift, 1e-10);
        assert_int_equal(rows[row].collisions, 13);
        assert_int_equal(rows[row].cutSteps, 13);
        checkBelow(rows[row].deepest, 1e-9);
        print_message("%s: %d trials for %d cuts; off by %.2g m after 13 bounces\n",
                      rbContactTime_Name((rbContactTime)row), (int)rows[row].cutTrials,
                      (int)rows[row].cutSteps, worst);
    }
    // Without cutting, a body that rebounds alone flies for the rest of the step.
    rows[0] = bounce(RB_CONTACT_TIME_STEP, &worst, &drift);
    assert_int_equal(rows[0].cutSteps, 0);
    print_message("not cut: off by %.2g m\n", worst);
    checkBelow(worst, 13 * 2e-6);
    checkBelow(drift, 1e-10);
    assert_true(4 * rows[RB_CONTACT_TIME_INTERPOLATION].cutTrials <
                rows[RB_CONTACT_TIME_BISECTION].cutTrials);
}

// A ball that falls to within the shell of the distance at which it touches, exactly at a node: no
// step stops it or is cut, and it collides there with the speed of its whole fall. Without the
// second half of the last step's gravity it would be slow by g h (1 + e) / 2, 2e-3 m/s here.
static void ballsWithinTheShellCollideWithTheirWholeSpeed(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x51e1)};
    const double h = 1e-3;
    double worst = 0.0;
    for (int i = 0; i < rbTest_Count(100, 2000); ++i) {
        rbContactTime row = (rbContactTime)(i % RB_CONTACT_TIME_COUNT);
        double restitution = rbRandom_Range(&random, 0.1, 1.0);
        double speed = rbRandom_Range(&random, 0.5, 3.0); // at the start, downward
        double above = SHELL * rbRandom_Range(&random, 0.05, 0.95);
        double fall = 10 * h * speed + 0.5 * GRAVITY * 100 * h * h;
        rbWorldDef def = defineArrivals(h, row);
        rbWorld* world = makeArrivalWorld(&def);
        (void)addGround(world, restitution, 0.0);
        Flyer ball = {.geometry = rbCreateSphere(0.1, NULL),
                      .position = {0.0, 0.0, 0.1 + SHELL + above + fall},
                      .velocity = {0.0, 0.0, -speed},
                      .restitution = restitution};
        rbBodyId id = addFlyer(world, &ball);
        assert_int_equal(rbWorld_AdvanceTo(world, 20 * h).status, RB_STATUS_OK);
        double leaves = restitution * (speed + 10 * h * GRAVITY) - 10 * h * GRAVITY;
        worst = fmax(worst, fabs(rbBody_GetState(world, id).linearVelocity.z - leaves));
        rbDestroyWorld(world);
    }
    print_message("off by at most %.2g m/s\n", worst);
    checkBelow(worst, 1e-12);
}

#define BODIES 6

// Boxes, balls and a pendulum above a floor, all of them falling and spinning.
static rbWorld* makeTumble(rbContactTime row, rbBodyId bodies[BODIES])
{
    rbWorldDef def = defineArrivals(0.004, row);
    rbWorld* world = makeArrivalWorld(&def);
    (void)addGround(world, 0.8, 0.3);
    for (int i = 0; i < BODIES; ++i) {
        bool isBall = i % 2 == 0;
        Flyer flyer = {.geometry = isBall ? rbCreateSphere(0.1, NULL)
                                          : rbCreateBox(rbMakeVec3(0.1, 0.08, 0.06), NULL),
                       .position = {0.05 * i, 0.02 * i, 0.3 + 0.25 * i},
                       .velocity = {0.1 * i, 0.0, -1.0},
                       .spin = {1.0 * i, 2.0, 0.5 * i},
                       .restitution = 0.8,
                       .friction = 0.3};
        bodies[i] = addFlyer(world, &flyer);
    }
    rbError error = {0};
    rbJointDef joint = rbDefaultJointDef();
    joint.type = RB_JOINT_BALL;
    joint.bodyB = bodies[BODIES - 1];
    rbJointDef_SetAnchor(&joint, world, rbMakeVec3(1.0, 0.0, 0.6));
    assert_false(RB_IS_NULL(rbCreateJoint(world, &joint, &error)));
    return world;
}

static void checkSameStates(const rbWorld* a, const rbWorld* b, const rbBodyId bodies[BODIES])
{
    for (int i = 0; i < BODIES; ++i) {
        rbBodyState first = rbBody_GetState(a, bodies[i]);
        rbBodyState second = rbBody_GetState(b, bodies[i]);
        assert_memory_equal(&first.center, &second.center, sizeof first.center);
        assert_memory_equal(&first.linearVelocity, &second.linearVelocity,
                            sizeof first.linearVelocity);
        assert_memory_equal(&first.angularVelocity, &second.angularVelocity,
                            sizeof first.angularVelocity);
    }
}

// B-64
static void looksIntoCutStepsChangeNothing(void** state)
{
    (void)state;
    rbError error = {0};
    rbBodyId bodies[BODIES];
    for (int row = 0; row < RB_CONTACT_TIME_COUNT; ++row) {
        rbWorld* straight = makeTumble((rbContactTime)row, bodies);
        rbWorld* looked = makeTumble((rbContactTime)row, bodies);
        rbWorld* restored = makeTumble((rbContactTime)row, bodies);
        (void)rbWorld_AdvanceTo(straight, 1.0);
        for (int i = 1; i < 618; ++i) {
            (void)rbWorld_AdvanceTo(looked, 0.00161803 * i);
            if (i == 301) {
                size_t size = rbWorld_GetSnapshotSize(looked);
                void* bytes = malloc(size);
                assert_int_equal(rbWorld_TakeSnapshot(looked, bytes, size, &error), RB_STATUS_OK);
                assert_int_equal(rbWorld_RestoreSnapshot(restored, bytes, size, &error),
                                 RB_STATUS_OK);
                free(bytes);
            }
        }
        (void)rbWorld_AdvanceTo(looked, 1.0);
        (void)rbWorld_AdvanceTo(restored, 1.0);
        checkSameStates(straight, looked, bodies);
        checkSameStates(straight, restored, bodies);
        rbContactStatistics a = rbWorld_GetContactStatistics(straight);
        rbContactStatistics b = rbWorld_GetContactStatistics(looked);
        assert_true(a.cutSteps == b.cutSteps && a.cutTrials == b.cutTrials);
        assert_true(row == 0 || a.cutSteps > 5);
        checkBelow(a.deepest, row == 0 ? 1e-3 : 2e-5);
        rbDestroyWorld(straight);
        rbDestroyWorld(looked);
        rbDestroyWorld(restored);
    }
}

// A light ball between a wall and a block 10^4 times as heavy strikes both 314 times in total,
// mostly within one step: cutting ends, nothing passes and no energy is created.
static void endlessSequencesEnd(void** state)
{
    (void)state;
    for (int row = RB_CONTACT_TIME_INTERPOLATION; row <= RB_CONTACT_TIME_BISECTION; ++row) {
        rbWorldDef def = defineArrivals(0.01, (rbContactTime)row);
        def.gravity = RB_VEC3_ZERO;
        rbWorld* world = makeArrivalWorld(&def);
        Flyer wall = {.geometry = rbCreateBox(rbMakeVec3(0.1, 1.0, 1.0), NULL),
                      .position = {-0.1, 0.0, 0.0},
                      .restitution = 1.0,
                      .isStatic = true};
        (void)addFlyer(world, &wall);
        Flyer ball = {.geometry = rbCreateSphere(0.05, NULL),
                      .position = {0.3, 0.0, 0.0},
                      .restitution = 1.0,
                      .density = 0.1 / (RB_PI * 4.0 / 3.0 * 0.05 * 0.05 * 0.05)};
        rbBodyId light = addFlyer(world, &ball);
        Flyer block = {.geometry = rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL),
                       .position = {1.5, 0.0, 0.0},
                       .velocity = {-1.0, 0.0, 0.0},
                       .restitution = 1.0,
                       .density = 1000.0};
        rbBodyId heavy = addFlyer(world, &block);
        for (int i = 1; i <= 300; ++i) {
            (void)rbWorld_AdvanceTo(world, 0.01 * i);
            double x = rbBody_GetState(world, light).center.x;
            assert_true(x > 0.05 && x < rbBody_GetState(world, heavy).center.x - 0.55 + 1e-6);
            checkBelow(rbWorld_GetLedger(world).energy, 500.0 * (1.0 + 1e-9));
        }
        assert_true(rbBody_GetState(world, heavy).linearVelocity.x > 0.9);
        print_message("%d collisions of 314\n",
                      (int)rbWorld_GetContactStatistics(world).collisions);
        rbDestroyWorld(world);
    }
}

#define END 1.0 // s

// Two smooth balls that meet at an angle: the whole motion in closed form, whatever the step.
// Before the step was cut for the pair alone they were late by up to a step after it.
static void ballsThatMeetAloneAreOnTime(void** state)
{
    (void)state;
    uint64_t seed = rbTest_Seed(0x2ba1);
    int count = rbTest_Count(200, 5000);
    int hits = 0;
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        rbRandom random = {seed + (uint64_t)i};
        rbWorldDef def = defineArrivals(END / (double)(100 + rbRandom_Index(&random, 900)),
                                        RB_CONTACT_TIME_STEP);
        rbWorld* world = makeArrivalWorld(&def);
        double restitution = rbRandom_Range(&random, 0.2, 1.0);
        double radii[2] = {rbRandom_Range(&random, 0.05, 0.2), rbRandom_Range(&random, 0.05, 0.2)};
        rbVec3 places[2];
        rbVec3 speeds[2];
        rbBodyId ids[2];
        for (int k = 0; k < 2; ++k) {
            places[k] = rbMakeVec3(k == 0 ? -0.5 : 0.5, 0.1 * rbRandom_Symmetric(&random),
                                   0.1 * rbRandom_Symmetric(&random));
            speeds[k] =
                rbMakeVec3((k == 0 ? 1.0 : -1.0) * rbRandom_Range(&random, 0.5, 3.0),
                           0.3 * rbRandom_Symmetric(&random), 0.3 * rbRandom_Symmetric(&random));
            Flyer ball = {.geometry = rbCreateSphere(radii[k], NULL),
                          .position = places[k],
                          .velocity = speeds[k],
                          .restitution = restitution};
            ids[k] = addFlyer(world, &ball);
        }
        double masses[2] = {rbBody_GetMass(world, ids[0]).mass, rbBody_GetMass(world, ids[1]).mass};
        rbVec3 apart = rbSub(places[1], places[0]);
        rbVec3 along = rbSub(speeds[1], speeds[0]);
        double reach = radii[0] + radii[1] + SHELL;
        double a = rbLengthSquared(along);
        double b = rbDot(apart, along);
        double root = b * b - a * (rbLengthSquared(apart) - reach * reach);
        double time = root > 0.0 ? (-b - sqrt(root)) / a : INFINITY;
        bool isHit = time < END;
        (void)rbWorld_AdvanceTo(world, END);
        rbVec3 normal =
            isHit ? rbScale(1.0 / reach, rbAddScaled(apart, time, along)) : RB_VEC3_ZERO;
        double blow =
            -(1.0 + restitution) * rbDot(along, normal) / (1.0 / masses[0] + 1.0 / masses[1]);
        for (int k = 0; k < 2; ++k) {
            rbVec3 change = rbScale((k == 0 ? -blow : blow) / masses[k], normal);
            rbVec3 expected = rbAddScaled(places[k], END, speeds[k]);
            expected = rbAddScaled(expected, isHit ? END - time : 0.0, change);
            expected.z -= 0.5 * GRAVITY * END * END;
            double error = rbDistance(rbBody_GetState(world, ids[k]).center, expected);
            worst = fmax(worst, error);
            // bodies within the shell at the end of a step collide there, with the normal of then
            double turned = 2.0 * SHELL * rbLength(along) / reach;
            if (!(error <= 1e-6 + turned * END)) {
                fail_msg("pair %d (seed %llu), step %g s, restitution %g: off by %g m", i,
                         (unsigned long long)seed, def.step.step, restitution, error);
            }
        }
        hits += isHit ? 1 : 0;
        rbDestroyWorld(world);
    }
    print_message("%d of %d met; off by at most %.2g m\n", hits, count, worst);
    assert_true(hits > count / 2);
}

RB_TEST_GROUP(test_world_contact_time, cmocka_unit_test(cutStepsMeetTheTimeOfContact),
              cmocka_unit_test(ballsWithinTheShellCollideWithTheirWholeSpeed),
              cmocka_unit_test(looksIntoCutStepsChangeNothing),
              cmocka_unit_test(endlessSequencesEnd), cmocka_unit_test(ballsThatMeetAloneAreOnTime));
