// Events of shapes that begin and cease to touch: speeds and impulses against closed forms, order,
// rewinding, balance and momentum over random scenes.
#include "event_scenes.h"

#include <math.h>
#include <stdlib.h>

static EventLog logs[2];

static rbShapeDef makeMaterial(double restitution, double friction)
{
    rbShapeDef shape = rbDefaultShapeDef();
    shape.material.restitution = restitution;
    shape.material.friction = friction;
    return shape;
}

// A fall through H arrives with v = sqrt(2 g H) at sqrt(2 H / g); the blow is m (1 + e) v.
static void aBounceHasItsSpeedAndImpulse(void** state)
{
    (void)state;
    const double restitutions[3] = {1.0, 0.5, 0.25};
    for (int i = 0; i < 3; ++i) {
        rbWorldDef def = defineWorld();
        def.contact.restitutionRule = RB_COMBINE_MIN;
        rbWorld* world = makeWorld(&def);
        rbBodyId floor = addFloor(world);
        rbShapeDef material = makeMaterial(restitutions[i], 0.0);
        double height = 0.5;
        rbBodyId ball =
            addBall(world, "ball", 0.1, rbMakeVec3(0.3, 0.0, 0.1 + SHELL + height), &material);
        double mass = rbBody_GetMass(world, ball).mass;
        double speed = sqrt(2.0 * GRAVITY * height);
        EventLog* log = &logs[0];
        log->count = 0;
        run(world, 0.4, 400, log);
        assert_int_equal(log->count, 2);
        const rbContactEvent* begin = &log->events[0];
        const rbContactEvent* end = &log->events[1];
        assert_int_equal(begin->kind, RB_CONTACT_BEGIN);
        assert_int_equal(end->kind, RB_CONTACT_END);
        assert_true(isSameId(begin->bodyA, floor) && isSameId(begin->bodyB, ball));
        checkNear(begin->time, sqrt(2.0 * height / GRAVITY), STEP);
        checkNear(begin->approachSpeed, speed, 1e-6);
        checkNear(begin->impulse.z, mass * (1.0 + restitutions[i]) * speed, 1e-5);
        checkNear(begin->normal.z, 1.0, 1e-12);
        checkNear(begin->point.x, 0.3, 1e-12);
        checkNear(begin->point.z, 0.0, 2.0 * SHELL);
        checkNear(end->impulse.z, begin->impulse.z, 1e-12);
        checkNear(end->approachSpeed, begin->approachSpeed, 0.0);
        // a ball that rebounds within a step has left at its end
        assert_true(end->time >= begin->time && end->time <= begin->time + 2.0 * STEP);
        rbDestroyWorld(world);
    }
}

// A body at rest stays in touch; what it pressed in all is its weight times the time.
static void restIsOneTouch(void** state)
{
    (void)state;
    for (int isFrozen = 0; isFrozen < 2; ++isFrozen) {
        rbWorldDef def = defineWorld();
        def.contact.freezeSpeed = isFrozen ? 0.01 : 0.0;
        def.contact.freezeTime = 0.1;
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, SHELL));
        EventLog* log = &logs[0];
        log->count = 0;
        run(world, 1.0, 100, log);
        assert_int_equal(rbBody_IsResting(world, cube), isFrozen);
        assert_int_equal(log->count, 1);
        rbBodyState now = rbBody_GetState(world, cube);
        now.transform.p.z += 1.0;
        assert_int_equal(
            rbBody_SetState(world, cube, now.transform, RB_VEC3_ZERO, RB_VEC3_ZERO, NULL),
            RB_STATUS_OK);
        run(world, 1.01, 1, log);
        assert_int_equal(log->count, 2);
        assert_int_equal(log->events[1].kind, RB_CONTACT_END);
        // forces do not act on frozen bodies, and nothing presses between them
        double moved = isFrozen ? 0.1 : 1.0;
        checkNear(log->events[1].impulse.z, CUBE_MASS * GRAVITY * moved, 0.02);
        checkNear(log->events[1].point.z, 0.0, 2.0 * SHELL);
        rbDestroyWorld(world);
    }
}

// A dumbbell of two shapes, tilted: its lower shape touches first.
static void eventsNameTheShapes(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbBodyId floor = addFloor(world);
    rbError error = {0};
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.position = rbMakeVec3(0.0, 0.0, 0.5);
    rbBodyId dumbbell = rbCreateBody(world, &bodyDef, &error);
    rbGeometryId ball = rbWorld_AddGeometry(world, rbCreateSphere(0.1, NULL));
    const double heights[3] = {0.05, 0.0, -0.05};
    for (int i = 0; i < 3; ++i) {
        rbShapeDef shape = makeMaterial(0.0, 0.5);
        shape.geometry = ball;
        shape.transform.p = rbMakeVec3(0.3 * (i - 1), 0.0, heights[i]);
        assert_false(RB_IS_NULL(rbCreateShape(world, dumbbell, &shape, &error)));
    }
    EventLog* log = &logs[0];
    log->count = 0;
    run(world, 1.0, 10, log);
    assert_true(log->count >= 2);
    assert_true(isSameId(log->events[0].bodyA, floor) && log->events[0].shapeA == 0);
    assert_true(isSameId(log->events[0].bodyB, dumbbell));
    assert_int_equal(log->events[0].shapeB, 2);
    rbDestroyWorld(world);
}

static void destroyedBodiesEndTheirTouches(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId lower = addCube(world, "lower", rbMakeVec3(0.0, 0.0, SHELL));
    rbBodyId upper = addCube(world, "upper", rbMakeVec3(0.0, 0.0, 0.1 + 2.0 * SHELL));
    EventLog* log = &logs[0];
    log->count = 0;
    run(world, 0.1, 10, log);
    assert_int_equal(log->count, 2);
    log->count = 0;
    rbDestroyBody(world, lower);
    // another body in the same place of the memory, at the place of the lower one
    rbBodyId next = addCube(world, "next", rbMakeVec3(0.0, 0.0, SHELL));
    assert_int_equal(next.index1, lower.index1);
    run(world, 0.11, 1, log);
    int begins = 0;
    int ends = 0;
    for (int i = 0; i < log->count; ++i) {
        const rbContactEvent* event = &log->events[i];
        bool isEnd = event->kind == RB_CONTACT_END;
        begins += isEnd ? 0 : 1;
        ends += isEnd ? 1 : 0;
        rbBodyId expected = isEnd ? lower : next;
        assert_true(isSameId(event->bodyA, expected) || isSameId(event->bodyB, expected));
    }
    assert_int_equal(begins, 2);
    assert_int_equal(ends, 2);
    assert_true(rbBody_IsValid(world, upper) && !rbBody_IsValid(world, lower));
    rbDestroyWorld(world);
}

// Without the floor nothing is left that could collide, and no step looks for contacts.
static void theLastTouchEndsWithItsBody(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbBodyId floor = addFloor(world);
    rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, SHELL));
    EventLog* log = &logs[0];
    log->count = 0;
    run(world, 0.1, 10, log);
    assert_int_equal(log->count, 1);
    log->count = 0;
    rbDestroyBody(world, floor);
    run(world, 0.2, 10, log);
    assert_int_equal(log->count, 1);
    assert_int_equal(log->events[0].kind, RB_CONTACT_END);
    assert_true(isSameId(log->events[0].bodyA, floor) && isSameId(log->events[0].bodyB, cube));
    rbDestroyWorld(world);
}

static rbWorldDef anyWorld(rbRandom* random)
{
    rbWorldDef def = defineWorld();
    def.gravity = RB_VEC3_ZERO;
    def.contact.contactTime =
        rbRandom_Index(random, 2) == 0 ? RB_CONTACT_TIME_STEP : RB_CONTACT_TIME_INTERPOLATION;
    def.contact.law = (rbImpactLaw)rbRandom_Index(random, RB_IMPACT_LAW_COUNT);
    if (rbRandom_Index(random, 3) == 0) {
        def.step.accuracy = RB_ACCURACY_GAME;
        def.contact.substeps = 5;
        def.contact.sweepsMax = 10;
    }
    return def;
}

// Every end has a begin before it, nothing begins twice, times never fall, and pairs of one time
// and advance are in order: bodies that are destroyed at the time of a node end their touches after
// it.
static void checkBalance(const EventLog* log)
{
    static int open[EVENTS_MAX];
    int openCount = 0;
    for (int i = 0; i < log->count; ++i) {
        const rbContactEvent* event = &log->events[i];
        const rbContactEvent* last = i > 0 ? &log->events[i - 1] : NULL;
        assert_true(last == NULL || last->time <= event->time);
        bool isPairLater = last == NULL || log->advances[i - 1] < log->advances[i] ||
                           last->time < event->time || last->bodyA.index1 < event->bodyA.index1 ||
                           (last->bodyA.index1 == event->bodyA.index1 &&
                            last->bodyB.index1 <= event->bodyB.index1);
        assert_true(isPairLater);
        checkNear(rbLength(event->normal), 1.0, 1e-9);
        assert_true(event->approachSpeed >= 0.0);
        int found = -1;
        for (int k = 0; k < openCount; ++k) {
            const rbContactEvent* other = &log->events[open[k]];
            if (isSameId(other->bodyA, event->bodyA) && isSameId(other->bodyB, event->bodyB) &&
                other->shapeA == event->shapeA && other->shapeB == event->shapeB) {
                found = k;
            }
        }
        if (event->kind == RB_CONTACT_BEGIN) {
            assert_int_equal(found, -1);
            open[openCount++] = i;
        } else {
            assert_int_equal(event->kind, RB_CONTACT_END);
            assert_true(found >= 0);
            open[found] = open[--openCount];
        }
    }
    assert_int_equal(openCount, 0);
}

// With nothing but contacts, the impulses of the events of a body add up to its momentum.
static void impulsesOfEventsAreTheMomentum(void** state)
{
    (void)state;
    int count = rbTest_Count(40, 2000);
    int eventCount = 0;
    for (int i = 0; i < count; ++i) {
        rbRandom random = {rbTest_Seed(501) + (uint64_t)i};
        rbWorldDef def = anyWorld(&random);
        Room room = makeRoom(&random, &def);
        rbBodyId body = room.bodies[rbRandom_Index(&random, ROOM_BODIES)];
        double mass = rbBody_GetMass(room.world, body).mass;
        rbVec3 before = rbBody_GetState(room.world, body).linearVelocity;
        EventLog* log = &logs[0];
        log->count = 0;
        run(room.world, 0.5, 7, log);
        rbVec3 after = rbBody_GetState(room.world, body).linearVelocity;
        // without the others, all of its touches end
        for (uint32_t k = 1; k <= 6 + ROOM_BODIES; ++k) {
            rbBodyId other = {k, body.generation};
            if (!isSameId(other, body)) {
                rbDestroyBody(room.world, other);
            }
        }
        run(room.world, 0.501, 1, log);
        checkBalance(log);
        rbVec3 sum = RB_VEC3_ZERO;
        double size = mass * rbLength(before);
        for (int k = 0; k < log->count; ++k) {
            const rbContactEvent* event = &log->events[k];
            bool isOf = isSameId(event->bodyA, body) || isSameId(event->bodyB, body);
            if (isOf && event->kind == RB_CONTACT_END) {
                double sign = isSameId(event->bodyB, body) ? 1.0 : -1.0;
                sum = rbAddScaled(sum, sign, event->impulse);
                size += rbLength(event->impulse);
            }
        }
        rbVec3 gained = rbScale(mass, rbSub(after, before));
        double tolerance = def.contact.sweepsMax < 100 ? 1e-5 : 1e-9;
        if (!(rbDistance(sum, gained) <= tolerance * size)) {
            print_message("case %d, sweeps %d, law %d, time %d\n", i, def.contact.sweepsMax,
                          (int)def.contact.law, (int)def.contact.contactTime);
        }
        checkBelow(rbDistance(sum, gained), tolerance * size);
        eventCount += log->count;
        rbDestroyWorld(room.world);
    }
    print_message("%d events\n", eventCount);
    assert_true(eventCount > 10 * count);
}

static void compareRuns(const uint64_t hashes[2])
{
    assert_true(hashes[0] == hashes[1]);
    assert_int_equal(logs[0].count, logs[1].count);
    assert_memory_equal(logs[0].events, logs[1].events,
                        (size_t)logs[0].count * sizeof *logs[0].events);
}

// Events do not depend on how a run is divided, ...
static void slicesDoNotChangeEvents(void** state)
{
    (void)state;
    int count = rbTest_Count(10, 300);
    for (int i = 0; i < count; ++i) {
        uint64_t hashes[2];
        for (int k = 0; k < 2; ++k) {
            rbRandom random = {rbTest_Seed(502) + (uint64_t)i};
            rbWorldDef def = anyWorld(&random);
            def.gravity = rbMakeVec3(0.0, 0.0, -GRAVITY);
            Room room = makeRoom(&random, &def);
            logs[k].count = 0;
            run(room.world, 0.4, k == 0 ? 1 : 37, &logs[k]);
            hashes[k] = rbWorld_GetHash(room.world);
            rbDestroyWorld(room.world);
        }
        compareRuns(hashes);
    }
}

// ... and come again after going back.
static void rewindingRepeatsEvents(void** state)
{
    (void)state;
    int count = rbTest_Count(10, 300);
    for (int i = 0; i < count; ++i) {
        rbRandom random = {rbTest_Seed(503) + (uint64_t)i};
        rbWorldDef def = anyWorld(&random);
        Room room = makeRoom(&random, &def);
        logs[0].count = 0;
        run(room.world, 0.2, 5, &logs[0]);
        size_t size = rbWorld_GetSnapshotSize(room.world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(room.world, bytes, size, NULL), RB_STATUS_OK);
        uint64_t hashes[2];
        for (int k = 0; k < 2; ++k) {
            logs[k].count = 0;
            run(room.world, 0.4, 5, &logs[k]);
            hashes[k] = rbWorld_GetHash(room.world);
            assert_int_equal(rbWorld_RestoreSnapshot(room.world, bytes, size, NULL), RB_STATUS_OK);
        }
        compareRuns(hashes);
        free(bytes);
        rbDestroyWorld(room.world);
    }
}

static void steadyTouchesAllocateNothing(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbShapeDef material = makeMaterial(1.0, 0.0);
    (void)addBall(world, "ball", 0.1, rbMakeVec3(0.0, 0.0, 0.2), &material);
    (void)addCube(world, "cube", rbMakeVec3(1.0, 0.0, SHELL));
    for (int i = 0; i < 1000; ++i) {
        (void)rbWorld_Advance(world, STEP);
    }
    rbWorld_EnableJournal(world, false);
    uint64_t before = rbGetAllocationCount();
    int events = 0;
    for (int i = 0; i < 1000; ++i) {
        int count;
        (void)rbWorld_Advance(world, STEP);
        (void)rbWorld_GetContactEvents(world, &count);
        events += count;
    }
    assert_true(events >= 4);
    assert_true(rbGetAllocationCount() == before);
    rbDestroyWorld(world);
}

// Off by default; what has begun ends when they are switched off.
static void eventsAreOnRequest(void** state)
{
    (void)state;
    assert_false(rbDefaultContactSettings().hasEvents);
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    (void)addCube(world, "cube", rbMakeVec3(0.0, 0.0, SHELL));
    logs[0].count = 0;
    run(world, 0.1, 1, &logs[0]);
    assert_int_equal(logs[0].count, 1);
    def.contact.hasEvents = false;
    assert_int_equal(rbWorld_SetContactSettings(world, &def.contact, NULL), RB_STATUS_OK);
    run(world, 0.2, 2, &logs[0]);
    assert_int_equal(logs[0].count, 2);
    assert_int_equal(logs[0].events[1].kind, RB_CONTACT_END);
    rbDestroyWorld(world);
}

static void otherEnginesHaveNoContactEvents(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        rbWorldDef def = rbDefaultWorldDef();
        def.engine = (rbEngineType)engine;
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        (void)addCube(world, "cube", rbMakeVec3(0.0, 0.0, 0.01));
        (void)rbWorld_Advance(world, 0.2);
        int count = -1;
        (void)rbWorld_GetContactEvents(world, &count);
        assert_int_equal(count, 0);
        rbDestroyWorld(world);
    }
    assert_string_equal(rbContactEventKind_Name(RB_CONTACT_BEGIN), "begin");
    assert_string_equal(rbContactEventKind_Name(RB_CONTACT_END), "end");
    assert_string_equal(rbContactEventKind_Name(RB_CONTACT_EVENT_COUNT), "unknown");
}

RB_TEST_GROUP(test_contact_events, cmocka_unit_test(aBounceHasItsSpeedAndImpulse),
              cmocka_unit_test(restIsOneTouch), cmocka_unit_test(eventsNameTheShapes),
              cmocka_unit_test(destroyedBodiesEndTheirTouches),
              cmocka_unit_test(theLastTouchEndsWithItsBody),
              cmocka_unit_test(impulsesOfEventsAreTheMomentum),
              cmocka_unit_test(slicesDoNotChangeEvents), cmocka_unit_test(rewindingRepeatsEvents),
              cmocka_unit_test(steadyTouchesAllocateNothing), cmocka_unit_test(eventsAreOnRequest),
              cmocka_unit_test(otherEnginesHaveNoContactEvents));
