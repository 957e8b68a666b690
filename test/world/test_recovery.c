// Advances that end halfway, for lack of memory or on request: the world is as it was, nothing
// leaks, and the run that continues has the bits of one that was never disturbed.
#include "base/core/random.h"
#include "base/core/timer.h"
#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------ memory

// Memory that is exhausted from one allocation on, for some of them.
typedef struct Heap {
    long long count;  // allocations so far
    long long bytes;  // in use
    long long first;  // the first one that fails; 0: none
    long long failed; // how many in a row fail
} Heap;

static void* allocSome(size_t size, void* context)
{
    Heap* heap = context;
    heap->count += 1;
    if (heap->first > 0 && heap->count >= heap->first && heap->count - heap->first < heap->failed) {
        return NULL;
    }
    heap->bytes += (long long)size;
    return malloc(size);
}

static void freeSome(void* memory, size_t size, void* context)
{
    Heap* heap = context;
    heap->bytes -= (long long)size;
    free(memory);
}

// ------------------------------------------------------------------------------------------ worlds

typedef enum SceneKind {
    SCENE_EVENT,   // shapes that fall on a floor, one body of two shapes
    SCENE_STACK,   // step engine, lasting contacts, a sensor
    SCENE_CHAIN,   // step engine, joints, a motor, a spring
    SCENE_ORDER,   // step engine, accuracy "exact"
    SCENE_GAME,    // step engine, accuracy "game"
    SCENE_FLIGHT,  // no engine, integrated numerically
    SCENE_OVERLAP, // event engine: overlaps are separated at the start
    SCENE_COUNT
} SceneKind;

static const char* const sceneNames[SCENE_COUNT] = {"event", "stack",  "chain",  "order",
                                                    "game",  "flight", "overlap"};

static rbBodyId addBody(rbWorld* world, rbBodyType type, rbVec3 position, rbGeometry* geometry)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = type;
    def.position = position;
    rbBodyId id = rbCreateBody(world, &def, &error);
    assert_false(RB_IS_NULL(id));
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    shape.material.restitution = 0.3;
    shape.material.friction = 0.4;
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    return id;
}

static rbGeometry* makeMesh(void)
{
    static const rbVec3 vertices[] = {
        {-0.1, -0.1, -0.1}, {0.1, -0.1, -0.1}, {-0.1, 0.1, -0.1}, {0.0, 0.0, 0.1}};
    static const int indices[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    rbMeshDef def = {.vertices = vertices, .vertexCount = 4, .indices = indices, .faceCount = 4};
    return rbCreateMesh(&def, NULL);
}

static void addFalling(rbWorld* world, int count, double gap)
{
    (void)addBody(world, RB_BODY_STATIC, RB_VEC3_ZERO,
                  rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL));
    for (int i = 0; i < count; ++i) {
        rbVec3 place = rbMakeVec3(0.03 * i, 0.02 * (i % 2), 0.11 + gap * i);
        rbGeometry* geometry = i % 3 == 0   ? rbCreateBox(rbMakeVec3(0.1, 0.1, 0.1), NULL)
                               : i % 3 == 1 ? rbCreateSphere(0.1, NULL)
                                            : makeMesh();
        rbBodyId id = addBody(world, RB_BODY_DYNAMIC, place, geometry);
        if (i == 0) {
            rbShapeDef more = rbDefaultShapeDef();
            more.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.05, NULL));
            more.transform.p.z = 0.08;
            assert_false(RB_IS_NULL(rbCreateShape(world, id, &more, NULL)));
        }
    }
}

static void addSensor(rbWorld* world)
{
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_STATIC;
    rbBodyId id = rbCreateBody(world, &def, NULL);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.2, NULL));
    shape.isSensor = true;
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, NULL)));
}

static void addChain(rbWorld* world)
{
    rbBodyId last = {0};
    for (int i = 0; i < 4; ++i) {
        rbBodyId id = addBody(world, RB_BODY_DYNAMIC, rbMakeVec3(0.3 * i, 0.0, 3.0),
                              rbCreateCapsule(0.03, 0.05, NULL));
        rbJointDef joint = rbDefaultJointDef();
        joint.type = RB_JOINT_HINGE;
        joint.bodyA = last;
        joint.bodyB = id;
        rbJointDef_SetAnchor(&joint, world, rbMakeVec3(0.3 * i - 0.15, 0.0, 3.0));
        rbJointDef_SetAxis(&joint, world, rbMakeVec3(0.0, 1.0, 0.0));
        if (i == 2) {
            joint.freedoms[0].motor.type = RB_MOTOR_VELOCITY;
            joint.freedoms[0].motor.target = 0.5;
            joint.freedoms[0].motor.forceMax = 1.0;
        }
        assert_false(RB_IS_NULL(rbCreateJoint(world, &joint, NULL)));
        last = id;
    }
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyB = last;
    spring.anchorA = rbMakeVec3(0.0, 2.0, 3.0);
    spring.stiffness = 10.0;
    assert_false(RB_IS_NULL(rbCreateSpring(world, &spring, NULL)));
}

static rbWorld* makeScene(SceneKind kind, Heap* heap)
{
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    bool isEvent = kind == SCENE_EVENT || kind == SCENE_OVERLAP;
    def.engine = isEvent                ? RB_ENGINE_EVENT
                 : kind == SCENE_FLIGHT ? RB_ENGINE_FLIGHT
                                        : RB_ENGINE_STEP;
    if (kind == SCENE_ORDER || kind == SCENE_GAME) {
        rbWorldDef_SetAccuracy(&def, kind == SCENE_GAME ? RB_ACCURACY_GAME : RB_ACCURACY_EXACT);
    }
    def.step.step = 5e-3;
    def.event.isOverlapAllowed = kind == SCENE_OVERLAP;
    def.contact.hasEvents = kind == SCENE_STACK;
    def.motion.type = kind == SCENE_FLIGHT ? RB_MOTION_CASH_KARP : def.motion.type;
    if (heap != NULL) {
        def.allocator = (rbAllocator){allocSome, freeSome, heap};
    }
    rbWorld* world = rbCreateWorld(&def, &error);
    assert_non_null(world);
    if (kind == SCENE_CHAIN) {
        addChain(world);
    } else if (kind == SCENE_FLIGHT) {
        (void)addBody(world, RB_BODY_DYNAMIC, RB_VEC3_ZERO,
                      rbCreateBox(rbMakeVec3(0.1, 0.2, 0.3), NULL));
    } else {
        int count = kind == SCENE_ORDER ? 1 : kind == SCENE_OVERLAP ? 2 : 5;
        addFalling(world, count, kind == SCENE_OVERLAP ? 0.19 : 0.25);
    }
    if (kind == SCENE_STACK) {
        addSensor(world);
    }
    return world;
}

#define ADVANCES 12
#define SLICE 0.02 // s

// What a run must repeat.
typedef struct Outcome {
    uint64_t hash;
    int events;
    long long steps;
    long long collisions;
    double drift;
} Outcome;

static Outcome outcomeOf(const rbWorld* world)
{
    int count;
    (void)rbWorld_GetEvents(world, &count);
    return (Outcome){rbWorld_GetHash(world), count, rbWorld_GetStepStatistics(world).steps,
                     rbWorld_GetEventStatistics(world).collisions,
                     rbWorld_GetLedger(world).energyDrift};
}

static void checkSame(const Outcome* a, const Outcome* b)
{
    assert_true(a->hash == b->hash);
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->collisions, b->collisions);
    assert_true(a->drift == b->drift);
}

// Runs while one allocation after the start, and those that follow it, fail. Returns the number of
// advances that failed.
static int runFailing(SceneKind kind, Heap* heap, Outcome* outcome)
{
    Heap asked = *heap;
    heap->first = 0;
    rbWorld* world = makeScene(kind, heap);
    heap->first = asked.first > 0 ? heap->count + asked.first : 0;
    int failures = 0;
    for (int i = 0; i < ADVANCES;) {
        Outcome before = outcomeOf(world);
        double time = rbWorld_GetTime(world);
        rbStepReport report = rbWorld_AdvanceTo(world, SLICE * (i + 1));
        if (report.status != RB_STATUS_MEMORY) {
            ++i;
            continue;
        }
        failures += 1;
        assert_int_equal(rbWorld_GetError(world).status, RB_STATUS_MEMORY);
        assert_true(rbWorld_GetTime(world) == time);
        Outcome after = outcomeOf(world);
        assert_true(before.hash == after.hash);
        assert_int_equal(before.events, after.events);
        assert_true(failures <= asked.failed);
    }
    *outcome = outcomeOf(world);
    rbDestroyWorld(world);
    return failures;
}

static void checkScene(SceneKind kind)
{
    Heap heap = {0};
    Outcome truth;
    assert_int_equal(runFailing(kind, &heap, &truth), 0);
    assert_int_equal(heap.bytes, 0);
    Heap start = {0};
    rbDestroyWorld(makeScene(kind, &start));
    long long most = heap.count - start.count;
    long long step = 1 + most / rbTest_Count(20, 100000);
    int failures = 0;
    for (long long n = 1; n <= most; n += step) {
        for (int failed = 1; failed <= 3; failed += 2) {
            Heap scarce = {.first = n, .failed = failed};
            Outcome outcome;
            failures += runFailing(kind, &scarce, &outcome);
            assert_int_equal(scarce.bytes, 0);
            // where also the recovery has too little memory, the engine starts anew
            if (failed == 1) {
                checkSame(&outcome, &truth);
            }
        }
    }
    print_message("  %s: %lld allocations, %d advances failed\n", sceneNames[kind], most, failures);
    assert_true(failures > 0 || most == 0);
}

static void exhaustedMemoryLeavesTheWorldAsItWas(void** state)
{
    (void)state;
    for (int kind = 0; kind < SCENE_COUNT; ++kind) {
        checkScene((SceneKind)kind);
    }
}

// ------------------------------------------------------------------------------------------- stops

// A stop that is asked for after this many questions.
typedef struct Asker {
    long long asked;
    long long limit; // 0: never
    double since;    // CPU time of the thread when it was first answered with yes
} Asker;

static bool isOver(void* context)
{
    Asker* asker = context;
    asker->asked += 1;
    if (asker->limit == 0 || asker->asked < asker->limit) {
        return false;
    }
    if (asker->since == 0.0) {
        asker->since = rbGetThreadTime();
    }
    return true;
}

// Stops an advance after some questions: the world is as it was, and the advance done again has the
// bits of one that was never stopped. Returns how many were stopped.
static int checkStop(SceneKind kind, Heap* heap, const Outcome* truth, long long limit)
{
    rbWorld* world = makeScene(kind, heap);
    Asker asker = {.limit = limit};
    int stops = 0;
    int starts = 0; // of flights
    int startsLeft = 0;
    rbWorld_EnableFlightStarts(world, true);
    (void)rbUseStop((rbStop){isOver, &asker});
    for (int i = 0; i < ADVANCES;) {
        Outcome before = outcomeOf(world);
        (void)rbWorld_GetFlightStarts(world, &starts);
        double time = rbWorld_GetTime(world);
        rbStepReport report = rbWorld_AdvanceTo(world, SLICE * (i + 1));
        if (report.status != RB_STATUS_STOPPED) {
            ++i;
            continue;
        }
        assert_true(asker.since > 0.0);
        checkBelow(rbGetThreadTime() - asker.since, 0.1);
        assert_int_equal(rbWorld_GetError(world).status, RB_STATUS_STOPPED);
        assert_true(rbWorld_GetTime(world) == time && report.time == time);
        Outcome after = outcomeOf(world);
        checkSame(&before, &after);
        (void)rbWorld_GetFlightStarts(world, &startsLeft);
        assert_int_equal(starts, startsLeft);
        stops += 1;
        // the same moment again, a later one, then none
        asker = (Asker){.limit = stops > 2 ? 0 : stops * asker.limit};
    }
    (void)rbUseStop((rbStop){0});
    Outcome outcome = outcomeOf(world);
    checkSame(&outcome, truth);
    rbDestroyWorld(world);
    return stops;
}

static void stopsLeaveTheSameBits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x5709)};
    for (int kind = 0; kind < SCENE_COUNT; ++kind) {
        Heap heap = {0};
        Outcome truth;
        (void)runFailing((SceneKind)kind, &heap, &truth);
        Asker counter = {0};
        (void)rbUseStop((rbStop){isOver, &counter});
        (void)runFailing((SceneKind)kind, &heap, &truth);
        (void)rbUseStop((rbStop){0});
        int stops = 0;
        for (int i = rbTest_Count(40, 400); i > 0; --i) {
            long long limit = 1 + (long long)(rbRandom_Unit(&random) * (double)counter.asked);
            stops += checkStop((SceneKind)kind, i % 2 == 0 ? &heap : NULL, &truth, limit);
        }
        print_message("  %s: %lld questions, %d advances stopped\n", sceneNames[kind],
                      counter.asked, stops);
        assert_int_equal(heap.bytes, 0);
        assert_true(stops > 0);
    }
}

// One advance that would last for hours.
static void checkEndless(rbWorld* world, double dt, const char* what)
{
    Asker asker = {.limit = 1};
    uint64_t before = rbWorld_GetHash(world);
    (void)rbUseStop((rbStop){isOver, &asker});
    double start = rbGetThreadTime();
    rbStepReport report = rbWorld_Advance(world, dt);
    double spent = rbGetThreadTime() - start;
    (void)rbUseStop((rbStop){0});
    print_message("  %s: %.0f ms\n", what, 1e3 * spent);
    assert_int_equal(report.status, RB_STATUS_STOPPED);
    checkBelow(spent, 0.1);
    assert_true(report.time == 0.0 && before == rbWorld_GetHash(world));
    rbDestroyWorld(world);
}

static void longAdvancesHearAStop(void** state)
{
    (void)state;
    rbWorld* world = makeScene(SCENE_STACK, NULL);
    rbStepSettings settings = rbWorld_GetStepSettings(world);
    settings.step = 1e-10;
    assert_int_equal(rbWorld_SetStepSettings(world, &settings, NULL), RB_STATUS_OK);
    checkEndless(world, 1e3, "steps of 1e-10 s with contacts");

    world = makeScene(SCENE_CHAIN, NULL);
    settings = rbWorld_GetStepSettings(world);
    settings.step = 1e-10;
    assert_int_equal(rbWorld_SetStepSettings(world, &settings, NULL), RB_STATUS_OK);
    checkEndless(world, 1e3, "steps of 1e-10 s with joints");

    world = makeScene(SCENE_EVENT, NULL);
    assert_int_equal(rbWorld_SetGravity(world, rbMakeVec3(0.0, 0.0, -1e8), NULL), RB_STATUS_OK);
    checkEndless(world, 1e3, "gravity of 1e8 m/s^2 in the event engine");

    world = makeScene(SCENE_STACK, NULL);
    assert_int_equal(rbWorld_SetGravity(world, rbMakeVec3(0.0, 0.0, -1e8), NULL), RB_STATUS_OK);
    checkEndless(world, 1e3, "gravity of 1e8 m/s^2 in the step engine");

    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_FLIGHT;
    def.motion.type = RB_MOTION_RK4;
    def.motion.step = 1e-9;
    world = rbCreateWorld(&def, NULL);
    (void)addBody(world, RB_BODY_DYNAMIC, RB_VEC3_ZERO,
                  rbCreateBox(rbMakeVec3(0.1, 0.2, 0.3), NULL));
    checkEndless(world, 1e3, "flight by RK4 in steps of 1e-9 s");
}

// A force that asks for a stop at one of its calls.
typedef struct Tripwire {
    long long count;
    long long limit; // 0: never
    bool isTripped;
} Tripwire;

static void countCall(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context)
{
    (void)input;
    (void)torque;
    Tripwire* wire = context;
    wire->count += 1;
    wire->isTripped = wire->isTripped || wire->count == wire->limit;
    force->x = 1e-3;
}

static bool isTripped(void* context)
{
    return ((const Tripwire*)context)->isTripped;
}

static rbWorld* makePulled(rbEngineType engine, Tripwire* wire)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = engine;
    rbWorld* world = rbCreateWorld(&def, NULL);
    addFalling(world, 2, 0.4);
    rbForceDef force = rbDefaultForceDef();
    force.type = RB_FORCE_USER;
    force.callback = countCall;
    force.context = wire;
    force.accelerationMax = 1.0;
    force.torqueMax = 1.0;
    assert_false(RB_IS_NULL(rbCreateForce(world, &force, NULL)));
    return world;
}

// A stop counts whichever call of an advance asks for it, the last one as well.
static void everyCallbackMayAskForAStop(void** state)
{
    (void)state;
    const rbEngineType engines[] = {RB_ENGINE_STEP, RB_ENGINE_EVENT, RB_ENGINE_FLIGHT};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; ++i) {
        Tripwire wire = {0};
        rbWorld* undisturbed = makePulled(engines[i], &wire);
        assert_int_equal(rbWorld_Advance(undisturbed, 0.02).status, RB_STATUS_OK);
        long long total = wire.count;
        assert_true(total > 0);
        for (long long limit = 1; limit <= total; ++limit) {
            wire = (Tripwire){.limit = limit};
            rbWorld* world = makePulled(engines[i], &wire);
            uint64_t before = rbWorld_GetHash(world);
            rbStop outer = rbUseStop((rbStop){isTripped, &wire});
            assert_int_equal(rbWorld_Advance(world, 0.02).status, RB_STATUS_STOPPED);
            (void)rbUseStop(outer);
            assert_true(rbWorld_GetHash(world) == before);
            assert_int_equal(rbWorld_Advance(world, 0.02).status, RB_STATUS_OK);
            assert_true(rbWorld_GetHash(world) == rbWorld_GetHash(undisturbed));
            rbDestroyWorld(world);
        }
        rbDestroyWorld(undisturbed);
    }
}

RB_TEST_GROUP(test_recovery, cmocka_unit_test(exhaustedMemoryLeavesTheWorldAsItWas),
              cmocka_unit_test(stopsLeaveTheSameBits), cmocka_unit_test(longAdvancesHearAStop),
              cmocka_unit_test(everyCallbackMayAskForAStop));
