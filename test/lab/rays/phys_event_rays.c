// The event engine with ray prediction: properties that hold whatever the rays miss, the losses by
// sampling, and that these decrease with more rays.
#include "test/engines/event_scenes.h"

#include <rattleback/lab_ray_detector.h>

static rbWorldDef rayWorldDef(double gravity, int count)
{
    rbWorldDef def = eventWorldDef(gravity);
    def.event.detector = rbDetector_Find("rays");
    rbRaySettings rays = rbDefaultRaySettings();
    rays.count = count;
    rbEventSettings_SetRays(&def.event, &rays);
    return def;
}

static void addRoom(rbWorld* world, double edge)
{
    double wall = 0.2;
    for (int i = 0; i < 6; ++i) {
        double side = (i & 1 ? 0.5 : -0.5) * (edge + wall);
        int axis = i / 2;
        Made made = {.restitution = 1.0};
        made.position.x = axis == 0 ? side : 0.0;
        made.position.y = axis == 1 ? side : 0.0;
        made.position.z = axis == 2 ? side : 0.0;
        double along = edge + 2.0 * wall;
        (void)addFixedBox(world, axis == 0 ? wall : along, axis == 1 ? wall : along,
                          axis == 2 ? wall : along, made);
    }
}

// Rotating spheres and boxes, elastic and smooth, in a room.
static rbWorld* makeGas(const rbWorldDef* def, uint64_t seed)
{
    rbRandom random = {seed};
    rbWorld* world = makeWorldOf(def);
    if (!(def->periodicBox.x > 0.0)) {
        addRoom(world, 1.0);
    }
    for (int i = 0; i < 8; ++i) {
        rbVec3 place = rbSub(latticePlace(i, 2, 2, 0.5), rbMakeVec3(0.25, 0.25, 0.25));
        rbVec3 velocity = rbScale(1.5, rbRandom_Direction(&random));
        rbVec3 spin = rbScale(4.0, rbRandom_Direction(&random));
        Made made = {.position = place, .velocity = velocity, .spin = spin, .restitution = 1.0};
        if (i % 2 == 0) {
            (void)addSphere(world, 0.12, made);
        } else {
            (void)addBox(world, 0.24, 0.2, 0.16, made);
        }
    }
    return world;
}

// an impact found by a ray has two equal and opposite impulses at one point, and conserves
// the energy; so does the gas, however late and inaccurate the rays are.
static void elasticGasKeepsEnergyAndMomentum(void** state)
{
    (void)state;
    static const int rayCounts[] = {4, 60};
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = rayWorldDef(0.0, rayCounts[i]);
        def.periodicBox = rbMakeVec3(1.3, 1.3, 1.3);
        rbWorld* world = makeGas(&def, 7);
        rbLedger before = rbWorld_GetLedger(world);
        advanceFine(world, 4.0);
        rbLedger after = rbWorld_GetLedger(world);
        rbEventStatistics statistics = rbWorld_GetEventStatistics(world);
        rbRayDetectorStatistics counts = rbWorld_GetRayStatistics(world);
        assert_true(counts.contactsSampled >= 10);
        assert_true(statistics.microcollisions == 0);
        assert_int_equal(counts.contactsSampled + statistics.contactsExact, statistics.collisions);
        double energy = before.kineticLinear + before.kineticAngular;
        checkNear(after.kineticLinear + after.kineticAngular, energy, 1e-12 * energy);
        double momentum = rbLength(before.momentum) + 1.0;
        checkBelow(rbDistance(after.momentum, before.momentum), 1e-12 * momentum);
        rbDestroyWorld(world);
    }
}

// The statistics report which contacts are sampled, and the journal does so on every line.
static void journalSaysWhichContactsAreSampled(void** state)
{
    (void)state;
    rbWorldDef def = rayWorldDef(0.0, 60);
    rbWorld* world = makeGas(&def, 3);
    advanceFine(world, 1.0);
    rbEventStatistics statistics = rbWorld_GetEventStatistics(world);
    rbRayDetectorStatistics counts = rbWorld_GetRayStatistics(world);
    int count;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    int sampled = 0;
    for (int i = 0; i < count; ++i) {
        char words[RB_IMPACT_HISTORY_SIZE];
        (void)rbImpactHistory_Format(events[i].history, words);
        bool isSampled = (events[i].history & 15U) == RB_PHASE_RAY;
        assert_true(isSampled == (strncmp(words, "ray", 3) == 0));
        sampled += isSampled ? 1 : 0;
    }
    assert_true(sampled > 5);
    assert_int_equal(sampled, counts.contactsSampled);
    assert_true(counts.rays.rays > 1000);
    assert_true(counts.sampledOverlapMax > 0.0);
    assert_true(statistics.overlapMax >= counts.sampledOverlapMax);
    rbDestroyWorld(world);
}

// Time of the first impact of two spheres that pass each other at an offset.
static double findImpact(rbDetector detector, int count, double offset, double* overlap)
{
    rbWorldDef def = rayWorldDef(0.0, count);
    def.event.detector = detector;
    rbWorld* world = makeWorldOf(&def);
    (void)addSphere(world, 0.5, (Made){.velocity = {0.3, 0.0, 0.0}, .restitution = 1.0});
    (void)addSphere(world, 0.4,
                    (Made){.position = {4.0, offset, 0.7 * offset},
                           .velocity = {-2.0, 0.0, 0.0},
                           .restitution = 1.0});
    advanceFine(world, 2.5);
    const rbEvent* event = findEvent(world, RB_EVENT_IMPACT, 0);
    double time = event != NULL ? event->time : INFINITY;
    *overlap = rbWorld_GetRayStatistics(world).sampledOverlapMax;
    rbDestroyWorld(world);
    return time;
}

// Contact by rays is late, never early, and the later the fewer rays there are.
static void raysFindContactLate(void** state)
{
    (void)state;
    static const int counts[] = {10, 100, 1000, 10000};
    double late[4] = {0.0};
    double deepest[4] = {0.0};
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 10; ++k) {
            double offset = 0.05 * (k + 0.5);
            double overlap;
            double exact = findImpact(RB_DETECTOR_EXACT, 0, offset, &overlap);
            assert_true(overlap == 0.0);
            double found = findImpact(rbDetector_Find("rays"), counts[i], offset, &overlap);
            assert_true(found >= exact - 1e-12);
            assert_true(overlap >= 0.0);
            // the overlap is their approach since then
            checkBelow(overlap, 2.3 * (found - exact) + 1e-12);
            late[i] += (found - exact) / 10.0;
            deepest[i] = fmax(deepest[i], overlap);
        }
    }
    print_message("mean delay with 10, 100, 1000, 10000 rays: %.3g %.3g %.3g %.3g s\n", late[0],
                  late[1], late[2], late[3]);
    assert_true(late[0] > 1e-3);
    // The excess of the path falls like 1 / count: a contact is missed by a distance that falls
    // like its root, and surfaces curve away with the square of that distance.
    for (int i = 1; i < 4; ++i) {
        checkBelow(late[i], 0.35 * late[i - 1]);
        checkBelow(deepest[i], 0.6 * deepest[i - 1]);
    }
    checkBelow(late[3], 1e-4);
}

// Refinement near the shortest ray achieves with few rays what many plain ones do.
static void refinedRaysFindContactSooner(void** state)
{
    (void)state;
    double lates[2];
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = rayWorldDef(0.0, 40);
        rbRaySettings rays = rbEventSettings_GetRays(&def.event);
        rays.refineRounds = i == 0 ? 0 : 4;
        rbEventSettings_SetRays(&def.event, &rays);
        rbWorld* world = makeWorldOf(&def);
        (void)addSphere(world, 0.5, (Made){.velocity = {0.3, 0.0, 0.0}, .restitution = 1.0});
        (void)addSphere(world, 0.4,
                        (Made){.position = {4.0, 0.33, 0.21},
                               .velocity = {-2.0, 0.0, 0.0},
                               .restitution = 1.0});
        advanceFine(world, 2.5);
        double overlap;
        lates[i] = findEvent(world, RB_EVENT_IMPACT, 0)->time -
                   findImpact(RB_DETECTOR_EXACT, 0, 0.33, &overlap);
        rbDestroyWorld(world);
    }
    // 0.21 is not 0.7 times 0.33: compared with each other, not with the exact time
    assert_true(lates[1] < lates[0]);
}

// No speed is too high: a plate as thin as a hundredth of the bullet stops it.
static void bulletNeverPassesAPlate(void** state)
{
    (void)state;
    static const double speeds[] = {1.0, 1000.0, 4e4};
    static const double plates[] = {0.01, 1e-4};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 2; ++k) {
            rbWorldDef def = rayWorldDef(0.0, 16);
            rbWorld* world = makeWorldOf(&def);
            (void)addFixedBox(world, plates[k], 1.0, 1.0, (Made){.restitution = 0.5});
            rbBodyId bullet = addSphere(world, 0.01,
                                        (Made){.position = {-1.0, 0.13, 0.07},
                                               .velocity = {speeds[i], 0.0, 0.0},
                                               .restitution = 0.5});
            advanceFine(world, 3.0 / speeds[i]);
            rbBodyState after = rbBody_GetState(world, bullet);
            assert_true(after.center.x < 0.0);
            checkNear(after.linearVelocity.x, -0.5 * speeds[i], 1e-2 * speeds[i]);
            assert_int_equal(rbWorld_GetRayStatistics(world).contactsSampled, 1);
            rbDestroyWorld(world);
        }
    }
}

// A marble between the few rays of a large body is missed, and the statistics say so: the overlap
// is detected at an overlap check, at most a radius later, and resolved then.
static void whatPassesBetweenRaysIsCounted(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = rayWorldDef(0.0, 4);
        rbRaySettings rays = rbEventSettings_GetRays(&def.event);
        rays.isOneWay = i == 0;
        rbEventSettings_SetRays(&def.event, &rays);
        rbWorld* world = makeWorldOf(&def);
        // the plate comes first and casts rays from its corners and few points of its faces
        (void)addBox(
            world, 0.1, 4.0, 4.0,
            (Made){.position = {1.0, 0.0, 0.0}, .velocity = {-1.0, 0.0, 0.0}, .restitution = 1.0});
        (void)addSphere(world, 0.05, (Made){.position = {0.0, 0.37, 0.61}, .restitution = 1.0});
        advanceFine(world, 2.0);
        rbEventStatistics statistics = rbWorld_GetEventStatistics(world);
        rbRayDetectorStatistics counts = rbWorld_GetRayStatistics(world);
        assert_int_equal(counts.contactsMissed, i == 0 ? 1 : 0);
        assert_int_equal(counts.contactsSampled, i == 0 ? 0 : 1);
        assert_int_equal(statistics.contactsExact, i == 0 ? 1 : 0);
        if (i == 0) {
            assert_true(statistics.overlapMax > 1e-3);
            checkBelow(statistics.overlapMax, 0.1);
        }
        rbDestroyWorld(world);
    }
}

// A body that falls onto a box comes to rest: lasting contact is exact.
static void fallenBodiesComeToRest(void** state)
{
    (void)state;
    rbWorldDef def = rayWorldDef(9.81, 60);
    rbWorld* world = makeWorldOf(&def);
    (void)addFixedBox(world, 2.0, 2.0, 0.5,
                      (Made){.position = {0.0, 0.0, -0.25}, .restitution = 0.3, .friction = 0.5});
    Made made = {.position = {0.3, 0.0, 0.4}, .restitution = 0.3, .friction = 0.5};
    rbBodyId ball = addSphere(world, 0.1, made);
    made.position = rbMakeVec3(-0.3, 0.0, 0.3);
    rbBodyId box = addBox(world, 0.2, 0.2, 0.1, made);
    advanceFine(world, 2.0);
    assert_true(rbBody_IsResting(world, ball));
    assert_true(rbBody_IsResting(world, box));
    double tolerance = rbWorld_GetEventStatistics(world).tolerance;
    checkNear(rbBody_GetState(world, ball).center.z, 0.1, 3.0 * tolerance);
    checkNear(rbBody_GetState(world, box).center.z, 0.05, 3.0 * tolerance);
    assert_true(rbWorld_GetRayStatistics(world).contactsSampled >= 2);
    rbDestroyWorld(world);
}

static uint64_t runGas(const rbWorldDef* def, int steps)
{
    rbWorld* world = makeGas(def, 11);
    for (int i = 1; i <= steps; ++i) {
        advanceFine(world, 1.0 * i / steps);
    }
    uint64_t hash = rbWorld_GetHash(world) ^ hashJournal(world);
    rbDestroyWorld(world);
    return hash;
}

static void runsAreTheSameBitByBit(void** state)
{
    (void)state;
    rbWorldDef def = rayWorldDef(2.0, 30);
    uint64_t first = runGas(&def, 1);
    assert_true(runGas(&def, 1) == first);
    assert_true(runGas(&def, 137) == first); // outputs change nothing
    rbRaySettings rays = rbEventSettings_GetRays(&def.event);
    rays.seed = 99;
    rbEventSettings_SetRays(&def.event, &rays);
    assert_true(runGas(&def, 1) != first);
}

// A snapshot includes tracks, predictions and close pairs; looking at rays changes nothing.
static void countRay(void* context, const rbRayTrace* trace)
{
    int* counts = context;
    counts[0] += 1;
    counts[1] += trace->isHit ? 1 : 0;
}

static void snapshotsGoOnBitByBit(void** state)
{
    (void)state;
    rbWorldDef def = rayWorldDef(2.0, 30);
    rbWorld* world = makeGas(&def, 5);
    int traced[2] = {0, 0};
    for (int i = 1; i <= 6; ++i) {
        advanceFine(world, 0.12 * i);
        size_t size = rbWorld_GetSnapshotSize(world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        advanceFine(world, 0.12 * i + 0.3);
        uint64_t hash = rbWorld_GetHash(world);
        rbRayDetectorStatistics counts = rbWorld_GetRayStatistics(world);
        rbWorld* other = makeGas(&def, 5);
        assert_int_equal(rbWorld_RestoreSnapshot(other, bytes, size, NULL), RB_STATUS_OK);
        (void)rbWorld_TraceRays(other, countRay, traced, NULL);
        advanceFine(other, 0.12 * i + 0.3);
        assert_true(rbWorld_GetHash(other) == hash);
        rbRayDetectorStatistics again = rbWorld_GetRayStatistics(other);
        assert_true(again.rays.rays == counts.rays.rays);
        assert_true(again.contactsSampled == counts.contactsSampled);
        assert_true(again.sampledOverlapSum == counts.sampledOverlapSum);
        assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        rbDestroyWorld(other);
        free(bytes);
    }
    assert_true(traced[0] > 100 && traced[1] > 0);
    rbDestroyWorld(world);
}

// The loops over pairs have no regions that end a window; they find the same contacts up to
// rounding, until that has grown.
static void loopsFindTheSameContacts(void** state)
{
    (void)state;
    double times[3] = {0.0, 0.0, 0.0};
    assert_int_equal(rbEventLoop_GetCount(), 3);
    for (int loop = 0; loop < rbEventLoop_GetCount(); ++loop) {
        rbWorldDef def = rayWorldDef(0.0, 30);
        def.event.loop = (rbEventLoop)loop;
        def.event.eventsPerSecond = 1e5;
        rbWorld* world = makeGas(&def, 13);
        advanceFine(world, 0.5);
        assert_true(rbWorld_GetRayStatistics(world).contactsSampled >= 3);
        times[loop] = findEvent(world, RB_EVENT_IMPACT, 1)->time;
        rbDestroyWorld(world);
    }
    // a ray of another window starts elsewhere on a rotating body
    checkNear(times[1], times[0], 2e-3);
    checkNear(times[2], times[0], 2e-3);
}

// A new body restarts the engine, while others overlap as rays left them: no error.
static void startsWithinARunAreTaken(void** state)
{
    (void)state;
    rbWorldDef def = rayWorldDef(0.0, 8);
    rbWorld* world = makeGas(&def, 9);
    for (int i = 1; i <= 40; ++i) {
        advanceFine(world, 0.02 * i);
        rbBodyId more = addSphere(world, 0.1, (Made){.position = {5.0, 5.0, 5.0}});
        advanceFine(world, 0.02 * i + 0.001);
        rbDestroyBody(world, more);
    }
    assert_true(rbWorld_GetRayStatistics(world).contactsSampled > 10);
    rbDestroyWorld(world);
    // but bodies that overlap from the beginning are refused as always
    world = makeWorldOf(&def);
    (void)addSphere(world, 0.1, (Made){.restitution = 1.0});
    (void)addSphere(world, 0.1, (Made){.position = {0.199, 0.0, 0.0}, .restitution = 1.0});
    rbError error = {0};
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "overlap by 0.001"));
    rbDestroyWorld(world);
}

// The viewer's overlay shows the event that will happen.
static void predictedContactHappens(void** state)
{
    (void)state;
    rbWorldDef def = rayWorldDef(0.0, 50);
    rbWorld* world = makeWorldOf(&def);
    rbBodyId first = addSphere(world, 0.5, (Made){.velocity = {0.5, 0.0, 0.0}, .restitution = 1.0});
    rbBodyId second = addSphere(
        world, 0.5,
        (Made){.position = {2.0, 0.2, 0.1}, .velocity = {-1.0, 0.0, 0.0}, .restitution = 1.0});
    advanceFine(world, 0.55);
    int traced[2] = {0, 0};
    rbPredictedContact predicted;
    assert_true(rbWorld_TraceRays(world, countRay, traced, &predicted));
    assert_true(predicted.isHit && predicted.time > 0.55);
    assert_true(predicted.bodyA.index1 == first.index1 && predicted.bodyB.index1 == second.index1);
    assert_true(predicted.normal.x > 0.8);
    assert_true(traced[0] >= 50 && traced[1] > 0);
    advanceFine(world, 2.0);
    const rbEvent* event = findEvent(world, RB_EVENT_IMPACT, 0);
    checkNear(event->time, predicted.time, 2e-3);
    checkBelow(rbDistance(event->point, predicted.point), 0.15);
    rbDestroyWorld(world);
}

// After warm-up nothing is allocated: rays are created once per geometry.
static void eventsAllocateNothing(void** state)
{
    (void)state;
    rbWorldDef def = rayWorldDef(0.0, 40);
    def.event.isJournalOff = true;
    rbWorld* world = makeGas(&def, 21);
    advanceFine(world, 1.0);
    uint64_t before = rbGetAllocationCount();
    int64_t contacts = rbWorld_GetRayStatistics(world).contactsSampled;
    advanceFine(world, 1.5);
    assert_true(rbWorld_GetRayStatistics(world).contactsSampled > contacts + 3);
    assert_true(rbGetAllocationCount() - before <= 2); // a longer list of near pairs
    rbDestroyWorld(world);
}

static void settingsAreRefusedWithAMessage(void** state)
{
    (void)state;
    const struct {
        rbRaySettings rays;
        const char* said;
    } cases[] = {
        {{.count = -1, .refineCount = 1, .tolerance = 1.0}, "is -1"},
        {{.count = RB_RAYS_COUNT_MAX + 1, .refineCount = 1, .tolerance = 1.0}, "10000001"},
        {{.count = 5, .refineCount = 0, .tolerance = 1.0}, "is 0"},
        {{.count = 5, .refineCount = 1, .refineRounds = 65, .tolerance = 1.0}, "65"},
        {{.count = 5, .refineCount = 1, .edgeCount = 1001, .tolerance = 1.0}, "1001"},
        {{.count = 5, .refineCount = 1, .tolerance = 0.0}, "0 m"},
        {{.count = 5, .refineCount = 1, .tolerance = NAN}, "nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbWorldDef def = rayWorldDef(0.0, 10);
        rbEventSettings_SetRays(&def.event, &cases[i].rays);
        rbError error = {0};
        assert_null(rbCreateWorld(&def, &error));
        assert_int_equal(error.status, RB_STATUS_INVALID);
        if (strstr(error.message, cases[i].said) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", error.message, cases[i].said);
        }
    }
    rbWorldDef def = rayWorldDef(0.0, 10);
    def.event.order = RB_ORDER_SIMULTANEOUS;
    rbError error = {0};
    assert_null(rbCreateWorld(&def, &error));
    assert_int_equal(error.status, RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.message, "sequential"));
    def = rayWorldDef(0.0, 10);
    def.event.detector = (rbDetector)rbDetector_GetCount();
    assert_null(rbCreateWorld(&def, &error));
    assert_string_equal(rbDetector_Name(rbDetector_Find("rays")), "rays");
    assert_int_equal(rbDetector_Find("exact"), RB_DETECTOR_EXACT);
    assert_int_equal(rbDetector_Find("sonar"), rbDetector_GetCount());
}

RB_TEST_GROUP(phys_event_rays, cmocka_unit_test(elasticGasKeepsEnergyAndMomentum),
              cmocka_unit_test(journalSaysWhichContactsAreSampled),
              cmocka_unit_test(raysFindContactLate), cmocka_unit_test(refinedRaysFindContactSooner),
              cmocka_unit_test(bulletNeverPassesAPlate),
              cmocka_unit_test(whatPassesBetweenRaysIsCounted),
              cmocka_unit_test(fallenBodiesComeToRest), cmocka_unit_test(runsAreTheSameBitByBit),
              cmocka_unit_test(snapshotsGoOnBitByBit), cmocka_unit_test(startsWithinARunAreTaken),
              cmocka_unit_test(loopsFindTheSameContacts), cmocka_unit_test(predictedContactHappens),
              cmocka_unit_test(eventsAllocateNothing),
              cmocka_unit_test(settingsAreRefusedWithAMessage));
