// The event engine on scenes with known outcomes: impacts, bounces, rest, ledger and journal.
#include "event_scenes.h"

#include <float.h>

// E-12: a wall of a millimeter stops a bullet at any speed, with any settings. There is no option
// to enable that.
static void thinWallsStopBulletsAtAnySpeed(void** state)
{
    (void)state;
    for (int i = 0; i < rbEventLoop_GetCount() * RB_LASTING_COUNT * rbBroadPhaseType_GetCount();
         ++i) {
        rbWorldDef def = eventWorldDef(0.0);
        def.event.loop = (rbEventLoop)(i % rbEventLoop_GetCount());
        def.event.lasting = (rbLastingContact)(i / rbEventLoop_GetCount() % RB_LASTING_COUNT);
        def.event.broadPhase = (rbBroadPhaseType)(i / rbEventLoop_GetCount() / RB_LASTING_COUNT);
        for (int k = 0; k <= 6; ++k) {
            double speed = pow(10.0, k);
            rbWorld* world = makeWorldOf(&def);
            (void)addFixedBox(world, 1e-3, 1.0, 1.0, (Made){.name = "wall", .restitution = 1.0});
            rbBodyId bullet = addSphere(world, 0.01,
                                        (Made){.name = "bullet",
                                               .position = {-1.0, 0.01, 0.02},
                                               .velocity = {speed, 0.0, 0.0},
                                               .restitution = 1.0});
            advanceFine(world, 2.0 / speed);
            double tolerance = rbWorld_GetEventStatistics(world).tolerance;
            const rbEvent* impact = findEvent(world, RB_EVENT_IMPACT, 0);
            assert_non_null(impact);
            double touch = (1.0 - 0.01 - 0.5e-3) / speed;
            assert_true(impact->time <= touch * (1.0 + 1e-14));
            assert_true(impact->time >= touch - 1.01 * tolerance / speed);
            rbBodyState after = rbBody_GetState(world, bullet);
            checkRelative(after.linearVelocity.x, -speed, 1e-12);
            assert_null(findEvent(world, RB_EVENT_IMPACT, 1));
            rbDestroyWorld(world);
        }
    }
}

// A ball that falls from rest onto a fixed ball, along every axis alone: d - 2 r = g t^2/2.
static void ballsFallOntoBallsAlongEveryAxis(void** state)
{
    (void)state;
    for (int i = 0; i < 6; ++i) {
        double sign = i % 2 == 0 ? 1.0 : -1.0;
        double axis[3] = {0.0, 0.0, 0.0};
        axis[i / 2] = sign;
        rbVec3 along = rbMakeVec3(axis[0], axis[1], axis[2]);
        rbWorldDef def = eventWorldDef(0.0);
        def.gravity = rbScale(-8.0, along);
        rbWorld* world = makeWorldOf(&def);
        Made fixed = {.name = "fixed", .restitution = 1.0};
        (void)addMade(world, &fixed, rbCreateSphere(0.1, NULL), RB_BODY_STATIC, NULL);
        Made ball = {.name = "ball", .position = rbScale(1.2, along), .restitution = 1.0};
        rbBodyId id = addSphere(world, 0.1, ball);
        advanceFine(world, 0.75);
        const rbEvent* impact = findEvent(world, RB_EVENT_IMPACT, 0);
        assert_non_null(impact);
        double tolerance = rbWorld_GetEventStatistics(world).tolerance;
        checkNear(impact->time, 0.5, tolerance); // at 4 m/s
        assert_true(impact->time <= 0.5 * (1.0 + 1e-14));
        rbVec3 velocity = rbBody_GetState(world, id).linearVelocity;
        checkNear(rbDot(velocity, along), 4.0 - 8.0 * (0.75 - impact->time), 8.0 * tolerance);
        rbDestroyWorld(world);
    }
}

// E-12: tumbling shapes with edges.
static void thinWallsStopTumblingBullets(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(611)};
    int count = rbTest_Count(100, 2000);
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = eventWorldDef(i % 2 == 0 ? 9.81 : 0.0);
        rbWorld* world = makeWorldOf(&def);
        double speed = exp(rbRandom_Unit(&random) * log(1e6));
        (void)addFixedBox(world, 1e-3, 60.0, 60.0,
                          (Made){.name = "wall", .restitution = 0.5, .friction = 0.3});
        Made made = {.name = "bullet",
                     .position = {-1.0, 0.0, 0.0},
                     .velocity = {speed, 0.1 * speed, 0.0},
                     .spin =
                         rbScale(rbRandom_Range(&random, 0.0, 2000.0), rbRandom_Direction(&random)),
                     .orientation = rbRandom_Quat(&random),
                     .restitution = 0.5,
                     .friction = 0.3};
        rbBodyId bullet = addBox(world, 0.02, 0.01, 0.005, made);
        double time = fmin(2.0 / speed, 1.0);
        for (int k = 1; k <= 8; ++k) {
            advanceFine(world, time * k / 8.0);
            assert_true(rbBody_GetState(world, bullet).center.x < -0.5e-3 - 0.0025 + 1e-6);
        }
        rbEventStatistics statistics = rbWorld_GetEventStatistics(world);
        assert_true(statistics.impacts >= 1 || time < 1.0 / speed);
        checkBelow(statistics.overlapMax, statistics.tolerance);
        rbDestroyWorld(world);
    }
}

// E-12: a rotating blade of a millimeter meets a pin of a centimeter, up to 1e5 rad/s.
static void bladeMeetsThePin(void** state)
{
    (void)state;
    for (int k = 0; k <= 5; ++k) {
        double rate = pow(10.0, k);
        rbWorldDef def = eventWorldDef(0.0);
        rbWorld* world = makeWorldOf(&def);
        Made pin = {.name = "pin", .position = {0.0, 0.4, 0.0}};
        (void)addMade(world, &pin, rbCreateSphere(0.01, NULL), RB_BODY_STATIC, NULL);
        (void)addBox(world, 1.0, 1e-3, 0.05, (Made){.name = "blade", .spin = {0.0, 0.0, rate}});
        double touch = (0.5 * RB_PI - asin(0.0105 / 0.4)) / rate;
        advanceFine(world, 1.5 * touch);
        const rbEvent* impact = findEvent(world, RB_EVENT_IMPACT, 0);
        assert_non_null(impact);
        double tolerance = rbWorld_GetEventStatistics(world).tolerance;
        // The distance decreases by 0.4 m times the rate and the cosine of the remaining angle.
        double before = 1.01 * tolerance / (0.4 * rate * cos(asin(0.0105 / 0.4)));
        assert_true(impact->time <= touch * (1.0 + 1e-12));
        assert_true(impact->time >= touch - before);
        rbDestroyWorld(world);
    }
}

// Time at which a ball that passes another at a distance touches it; NAN if it does not.
static double grazeTime(double offset, double radii, double speed)
{
    double x = sqrt((radii - offset) * (radii + offset));
    return (1.0 - x) / speed;
}

// E-17: a double root of the distance, or nearly: the first touch is found, by roots and by
// measurement, and a pass just outside gives none.
static void grazingPassesAreClassifiedCorrectly(void** state)
{
    (void)state;
    static const double depths[] = {1e-3, 1e-5, 1e-7, 1e-9, 1e-11, -1e-11, -1e-9, -1e-7, -1e-4};
    for (int isExact = 0; isExact < 2; ++isExact) {
        for (size_t i = 0; i < sizeof depths / sizeof depths[0]; ++i) {
            rbWorldDef def = eventWorldDef(0.0);
            rbWorld* world = makeWorldOf(&def);
            double offset = 0.5 - depths[i];
            Made target = {.name = "target", .position = {0.0, offset, 0.0}, .restitution = 1.0};
            rbGeometry* ball = rbCreateSphere(0.3, NULL);
            (void)addMade(world, &target, ball, isExact ? RB_BODY_DYNAMIC : RB_BODY_STATIC, NULL);
            Made shot = {.name = "shot",
                         .position = {-1.0, 0.0, 0.0},
                         .velocity = {7.0, 0.0, 0.0},
                         .restitution = 1.0};
            (void)addSphere(world, 0.2, shot);
            advanceFine(world, 0.3);
            const rbEvent* impact = findEvent(world, RB_EVENT_IMPACT, 0);
            double tolerance = rbWorld_GetEventStatistics(world).tolerance;
            if (depths[i] > 0.0) {
                assert_non_null(impact);
                // A rounding error in the distance moves the root by this much.
                double late = 4.0 * DBL_EPSILON / (7.0 * sqrt(2.0 * depths[i]));
                double last = grazeTime(offset, 0.5, 7.0) + late;
                double first = isExact ? last - 2.0 * late - 1e-15
                                       : grazeTime(offset, 0.5 + 1.01 * tolerance, 7.0);
                assert_true(impact->time <= last);
                assert_true(impact->time >= first);
            } else if (isExact || -depths[i] > tolerance) {
                assert_null(impact);
            }
            rbDestroyWorld(world);
        }
    }
}

// E-17: a ball thrown up below a ceiling that it just reaches.
static void theTopOfAThrowTouchesTheCeiling(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        double rise = i == 0 ? 1.0 + 1e-9 : 1.0 - 1e-9;
        rbWorldDef def = eventWorldDef(9.81);
        rbWorld* world = makeWorldOf(&def);
        Made ceiling = {.name = "ceiling", .restitution = 1.0};
        rbVec3 down = {0.0, 0.0, -1.0};
        (void)addMade(world, &ceiling, rbCreatePlane(down, -1.1, NULL), RB_BODY_STATIC, NULL);
        (void)addSphere(world, 0.1,
                        (Made){.name = "ball",
                               .velocity = {1.0, 0.0, sqrt(2.0 * 9.81 * rise)},
                               .restitution = 1.0});
        advanceFine(world, 0.6);
        const rbEvent* impact = findEvent(world, RB_EVENT_IMPACT, 0);
        if (i == 0) {
            assert_non_null(impact);
            double speed = sqrt(2.0 * 9.81 * rise);
            double touch = (speed - sqrt(2.0 * 9.81 * (rise - 1.0))) / 9.81;
            checkNear(impact->time, touch, 1e-11);
        } else {
            assert_null(impact);
        }
        rbDestroyWorld(world);
    }
}

// E-18: frictionless spheres, head-on and oblique, elastic and plastic, against the closed form.
static void smoothSpheresFollowTheClosedForm(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(612)};
    int count = rbTest_Count(200, 5000);
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = eventWorldDef(0.0);
        def.event.law = (rbImpactLaw)(i % RB_IMPACT_LAW_COUNT);
        rbWorld* world = makeWorldOf(&def);
        double restitution = i % 4 == 0 ? 1.0 : (i % 4 == 1 ? 0.0 : rbRandom_Unit(&random));
        rbVec3 n = rbRandom_Direction(&random);
        rbVec3 across = rbScale(0.5, rbRandom_Direction(&random));
        rbVec3 u = rbAdd(rbScale(-rbRandom_Range(&random, 1.0, 3.0), n), across);
        rbVec3 common = rbScale(5.0, rbRandom_Direction(&random));
        Made a = {.velocity = common,
                  .restitution = restitution,
                  .density = rbRandom_Range(&random, 1.0, 1e4)};
        // Contact at time 0.1 along n.
        Made b = {.position = rbAddScaled(rbScale(0.5, n), -0.1, u),
                  .velocity = rbAdd(common, u),
                  .restitution = restitution,
                  .density = rbRandom_Range(&random, 1.0, 1e4)};
        if (rbLength(b.position) < 0.5 + 1e-3) {
            rbDestroyWorld(world);
            continue;
        }
        rbBodyId idA = addSphere(world, 0.2, a);
        rbBodyId idB = addSphere(world, 0.3, b);
        double massA = rbBody_GetMass(world, idA).mass;
        double massB = rbBody_GetMass(world, idB).mass;
        advanceFine(world, 0.15);
        const rbEvent* impact = findEvent(world, RB_EVENT_IMPACT, 0);
        assert_non_null(impact);
        checkNear(impact->time, 0.1, 1e-13);
        double reduced = massA * massB / (massA + massB);
        double p = -(1.0 + restitution) * reduced * rbDot(u, n);
        rbVec3 velocityA = rbAddScaled(a.velocity, -p / massA, n);
        rbVec3 velocityB = rbAddScaled(b.velocity, p / massB, n);
        double scale = 10.0 * (1.0 + p / massA + p / massB);
        checkBelow(rbDistance(rbBody_GetState(world, idA).linearVelocity, velocityA),
                   1e-12 * scale);
        checkBelow(rbDistance(rbBody_GetState(world, idB).linearVelocity, velocityB),
                   1e-12 * scale);
        double loss =
            -0.5 * (1.0 - restitution * restitution) * reduced * rbDot(u, n) * rbDot(u, n);
        checkNear(impact->energyChange, loss, 1e-12 * impact->energyBefore);
        rbDestroyWorld(world);
    }
}

// A ball dropped from 1 m with e = 0.8 is at rest after 9 sqrt(2/g), having traveled 1.64/0.36 m.
static void bouncingBallReachesItsEnd(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(9.81);
    rbWorld* world = makeWorldOf(&def);
    (void)addFloor(world, 0.8, 0.0);
    rbBodyId ball = addSphere(
        world, 0.1, (Made){.name = "ball", .position = {0.0, 0.0, 1.1}, .restitution = 0.8});
    advanceFine(world, 5.0);
    const rbEvent* end = findEvent(world, RB_EVENT_LASTING, 0);
    assert_non_null(end);
    double path = 1.0;
    const rbEvent* impact;
    int bounces = 0;
    for (; (impact = findEvent(world, RB_EVENT_IMPACT, bounces)) != NULL; ++bounces) {
        double speed = 0.8 * impact->approachSpeed;
        path += speed * speed / 9.81;
    }
    print_message("%d bounces, end %.12f s, off by %.2e; path %.12f m\n", bounces, end->time,
                  end->time - 4.063712768871578, path);
    checkNear(end->time, 4.063712768871578, 1e-6);
    checkNear(path, 1.64 / 0.36, 1e-9);
    assert_true(bounces > 50);
    assert_true(rbBody_IsResting(world, ball));
    rbBodyState rest = rbBody_GetState(world, ball);
    checkNear(rest.center.z, 0.1, rbWorld_GetEventStatistics(world).tolerance);
    checkNear(rbLength(rest.linearVelocity), 0.0, 0.0);
    rbDestroyWorld(world);
}

// Five equal spheres, e = 1, one after the other: the last receives all of the speed, whatever the
// gaps.
static void cradleHandsOnTheSpeed(void** state)
{
    (void)state;
    static const double gaps[] = {0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
    for (size_t k = 0; k < sizeof gaps / sizeof gaps[0]; ++k) {
        rbWorldDef def = eventWorldDef(0.0);
        rbWorld* world = makeWorldOf(&def);
        rbBodyId ids[5];
        for (int i = 0; i < 5; ++i) {
            Made made = {.position = {i * (0.1 + gaps[k]), 0.0, 0.0}, .restitution = 1.0};
            made.position.x -= i == 0 ? 0.05 : 0.0;
            made.velocity.x = i == 0 ? 1.0 : 0.0;
            ids[i] = addSphere(world, 0.05, made);
        }
        advanceFine(world, 0.5);
        for (int i = 0; i < 5; ++i) {
            rbVec3 v = rbBody_GetState(world, ids[i]).linearVelocity;
            checkNear(v.x, i == 4 ? 1.0 : 0.0, 1e-9);
            checkNear(v.y, 0.0, 1e-9);
            checkNear(v.z, 0.0, 1e-9);
        }
        rbDestroyWorld(world);
    }
}

// Work after the start of two balls among idle ones.
static rbEventStatistics collideAmong(int idle)
{
    rbWorldDef def = eventWorldDef(0.0);
    def.event.broadPhase = RB_BROAD_TREE;
    rbWorld* world = makeWorldOf(&def);
    (void)addSphere(world, 0.1, (Made){.position = {-5.0, 0.0, -3.0}, .velocity = {4.0, 0.0, 0.0}});
    (void)addBox(world, 0.2, 0.2, 0.2,
                 (Made){.position = {0.0, 0.0, -3.0}, .spin = {1.0, 2.0, 3.0}});
    for (int i = 0; i < idle; ++i) {
        rbVec3 at = latticePlace(i, 25, 25, 1.0);
        (void)addSphere(world, 0.1, (Made){.position = at});
    }
    rbError error = {0};
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_OK);
    rbEventStatistics before = rbWorld_GetEventStatistics(world);
    advanceFine(world, 2.0);
    rbEventStatistics after = rbWorld_GetEventStatistics(world);
    after.bounds -= before.bounds;
    after.renewals -= before.renewals;
    after.measurements -= before.measurements;
    after.pairsMade -= before.pairsMade;
    after.staleEntries -= before.staleEntries;
    rbDestroyWorld(world);
    return after;
}

// L-78: an event affects its neighbors, not the whole world.
static void eventsDoNotSeeIdleBodies(void** state)
{
    (void)state;
    rbEventStatistics few = collideAmong(10);
    rbEventStatistics many = collideAmong(rbTest_Count(10000, 10000));
    assert_true(few.collisions >= 1);
    assert_int_equal(few.collisions, many.collisions);
    assert_int_equal(few.bounds, many.bounds);
    assert_int_equal(few.measurements, many.measurements);
    assert_int_equal(few.renewals, many.renewals);
    assert_int_equal(few.pairsMade, many.pairsMade);
    assert_int_equal(few.staleEntries, many.staleEntries);
}

// L-79: pairs appear when bodies approach and disappear when they have passed.
static void nearPairsComeAndGo(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(0.0);
    rbWorld* world = makeWorldOf(&def);
    int count = 200;
    for (int i = 0; i < count; ++i) {
        rbVec3 at = {i, 0.0, 0.0};
        (void)addBox(world, 0.1, 0.1, 0.1, (Made){.position = at});
    }
    (void)addBox(world, 0.1, 0.1, 0.1,
                 (Made){.position = {-1.0, 0.2, 0.0}, .velocity = {100.0, 0.0, 0.0}});
    int most = 0;
    for (int k = 1; k <= 100; ++k) {
        advanceFine(world, 0.02 * k);
        int now = rbWorld_GetEventStatistics(world).pairCount;
        most = now > most ? now : most;
    }
    rbEventStatistics statistics = rbWorld_GetEventStatistics(world);
    print_message("%lld pairs made, at most %d at a time, %lld renewals, %lld measurements\n",
                  (long long)statistics.pairsMade, most, (long long)statistics.renewals,
                  (long long)statistics.measurements);
    assert_true(statistics.pairsMade >= count);
    assert_true(statistics.pairsMade < 3LL * count);
    assert_true(most < count / 4);
    assert_true(statistics.measurements < 10LL * count);
    assert_int_equal(statistics.collisions, 0);
    rbDestroyWorld(world);
}

// L-80: no point of a body leaves the box around its motion.
static void motionStaysInItsBox(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(613)};
    int count = rbTest_Count(300, 10000);
    for (int i = 0; i < count; ++i) {
        rbWorldDef def = eventWorldDef(i % 3 == 0 ? 0.0 : 9.81);
        rbWorld* world = makeWorldOf(&def);
        Made made = {
            .position = rbRandom_Direction(&random),
            .velocity = rbScale(rbRandom_Range(&random, 0.0, 10.0), rbRandom_Direction(&random)),
            .spin = rbScale(rbRandom_Range(&random, 0.0, 20.0), rbRandom_Direction(&random)),
            .orientation = rbRandom_Quat(&random)};
        rbBodyId id = addBox(world, 0.4, 0.2, 0.7, made);
        double from = rbRandom_Unit(&random);
        double to = from + 2.0 * rbRandom_Unit(&random);
        rbBounds box;
        assert_true(rbBody_GetMotionBounds(world, id, from, to, &box));
        for (int k = 0; k <= 20; ++k) {
            double time = from + (to - from) * k / 20.0;
            for (int c = 0; c < 8; ++c) {
                rbVec3 corner = {c & 1 ? 0.2 : -0.2, c & 2 ? 0.1 : -0.1, c & 4 ? 0.35 : -0.35};
                rbVec3 p = rbBody_GetPointAt(world, id, corner, time);
                double slack = 1e-12;
                assert_true(p.x >= box.lower.x - slack && p.x <= box.upper.x + slack);
                assert_true(p.y >= box.lower.y - slack && p.y <= box.upper.y + slack);
                assert_true(p.z >= box.lower.z - slack && p.z <= box.upper.z + slack);
            }
        }
        rbDestroyWorld(world);
    }
}

// L-101: three stacked boxes come to rest, and wake when one is hit.
static void heapRestsAndWakes(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(9.81);
    def.event.restTime = 0.05;
    rbWorld* world = makeWorldOf(&def);
    (void)addFloor(world, 0.2, 0.6);
    rbBodyId boxes[3];
    for (int i = 0; i < 3; ++i) {
        Made made = {.position = {0.0, 0.0, 0.1 + 0.201 * i}, .restitution = 0.2, .friction = 0.6};
        boxes[i] = addBox(world, 0.2, 0.2, 0.2, made);
    }
    advanceFine(world, 1.0);
    rbEventStatistics calm = rbWorld_GetEventStatistics(world);
    assert_int_equal(calm.restingCount, 3);
    for (int i = 0; i < 3; ++i) {
        rbBodyState rest = rbBody_GetState(world, boxes[i]);
        checkNear(rest.center.z, 0.1 + 0.2 * i, 10.0 * calm.tolerance * (i + 1));
        checkNear(rest.center.x, 0.0, 1e-3);
    }
    rbBodyId ball = addSphere(world, 0.05,
                              (Made){.position = {-1.0, 0.0, 0.55},
                                     .velocity = {5.0, 0.0, 1.0},
                                     .restitution = 0.5,
                                     .friction = 0.5,
                                     .density = 8000.0});
    advanceFine(world, 2.0);
    rbEventStatistics after = rbWorld_GetEventStatistics(world);
    assert_true(after.wakes > calm.wakes);
    assert_true(rbBody_GetState(world, boxes[2]).center.x > 1e-3);
    assert_true(rbBody_GetState(world, ball).center.x < 0.5);
    checkBelow(after.overlapMax, after.tolerance);
    rbDestroyWorld(world);
}

// L-102, E-16: the mean impulse of a ball that lies on the floor is its weight.
static void impulsesOfARestingBallAreItsWeight(void** state)
{
    (void)state;
    rbWorldDef def = eventWorldDef(9.81);
    def.event.lasting = RB_LASTING_MICRO;
    rbWorld* world = makeWorldOf(&def);
    (void)addFloor(world, 0.3, 0.4);
    rbBodyId ball =
        addSphere(world, 0.1, (Made){.position = {0.0, 0.0, 0.1001}, .restitution = 0.3});
    advanceFine(world, 0.5);
    rbWorld_ClearEvents(world);
    advanceFine(world, 1.5);
    int count;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += fabs(events[i].impulse.z);
    }
    double weight = rbBody_GetMass(world, ball).mass * 9.81;
    print_message("%d microcollisions in a second, mean force %.6f weights\n", count, sum / weight);
    assert_true(count > 10);
    checkRelative(sum, weight, 0.01);
    assert_false(rbBody_IsResting(world, ball));
    rbDestroyWorld(world);
}

// Mixed bodies that fall onto a floor.
static rbWorld* makePile(uint64_t seed, int count)
{
    rbRandom random = {seed};
    rbWorldDef def = eventWorldDef(9.81);
    rbWorld* world = makeWorldOf(&def);
    (void)addFloor(world, 0.6, 0.4);
    for (int i = 0; i < count; ++i) {
        Made made = {.position = rbAdd(latticePlace(i, 3, 3, 0.4), rbMakeVec3(0.0, 0.0, 0.5)),
                     .velocity = rbScale(2.0, rbRandom_Direction(&random)),
                     .spin = rbScale(5.0, rbRandom_Direction(&random)),
                     .orientation = rbRandom_Quat(&random),
                     .restitution = 0.6,
                     .friction = 0.4};
        if (i % 2 == 0) {
            (void)addSphere(world, 0.1, made);
        } else {
            (void)addBox(world, 0.1, 0.15, 0.2, made);
        }
    }
    return world;
}

// L-86: the journal adds up to the ledger, and the ledger closes.
static void journalAndLedgerClose(void** state)
{
    (void)state;
    rbWorld* world = makePile(7, 18);
    rbLedger start = rbWorld_GetLedger(world);
    advanceFine(world, 1.0);
    rbLedger end = rbWorld_GetLedger(world);
    int count;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    double change = 0.0;
    double friction = 0.0;
    for (int i = 0; i < count; ++i) {
        change += events[i].energyChange;
        friction += events[i].frictionWork;
        bool isContact =
            events[i].kind == RB_EVENT_IMPACT || events[i].kind == RB_EVENT_MICROCOLLISION;
        if (isContact) {
            checkNear(rbLength(events[i].normal), 1.0, 1e-12);
            double along = rbDot(events[i].impulse, events[i].normal);
            rbVec3 across = rbAddScaled(events[i].impulse, -along, events[i].normal);
            assert_true(along >= 0.0);
            assert_true(rbLength(across) <= 0.4 * along * (1.0 + 1e-9) + 1e-15);
        }
        assert_true(i == 0 || events[i].time >= events[i - 1].time);
    }
    double works = end.impactWork + end.frictionWork + end.microWork + end.restWork;
    print_message("%d events, energy %.6f -> %.6f J, drift %.2e J\n", count, start.energy,
                  end.energy, end.energyDrift);
    checkNear(change, works, 1e-12 * start.energy);
    checkNear(friction, end.frictionWork, 1e-12 * start.energy);
    checkNear(end.energy, start.energy + change, 1e-12 * start.energy);
    checkBelow(fabs(end.energyDrift), 1e-12 * start.energy);
    assert_true(count > 50);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_event_engine, cmocka_unit_test(thinWallsStopBulletsAtAnySpeed),
              cmocka_unit_test(ballsFallOntoBallsAlongEveryAxis),
              cmocka_unit_test(thinWallsStopTumblingBullets), cmocka_unit_test(bladeMeetsThePin),
              cmocka_unit_test(grazingPassesAreClassifiedCorrectly),
              cmocka_unit_test(theTopOfAThrowTouchesTheCeiling),
              cmocka_unit_test(smoothSpheresFollowTheClosedForm),
              cmocka_unit_test(bouncingBallReachesItsEnd), cmocka_unit_test(cradleHandsOnTheSpeed),
              cmocka_unit_test(eventsDoNotSeeIdleBodies), cmocka_unit_test(nearPairsComeAndGo),
              cmocka_unit_test(motionStaysInItsBox), cmocka_unit_test(heapRestsAndWakes),
              cmocka_unit_test(impulsesOfARestingBallAreItsWeight),
              cmocka_unit_test(journalAndLedgerClose));
