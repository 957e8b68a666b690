// Sensors: what they see against closed forms, and that nothing feels them.
#include "event_scenes.h"

#include <math.h>
#include <stdlib.h>

static EventLog logs[2];

static const rbEngineType engines[2] = {RB_ENGINE_STEP, RB_ENGINE_EVENT};

static rbShapeDef makeSensor(void)
{
    rbShapeDef shape = rbDefaultShapeDef();
    shape.isSensor = true;
    return shape;
}

// A static body that is nothing but a sensor.
static rbBodyId addZone(rbWorld* world, rbGeometry* geometry, rbVec3 position,
                        const rbShapeDef* sensor)
{
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_STATIC;
    def.position = position;
    return addSolidOf(world, "zone", geometry, &def, sensor);
}

static rbGeometry* makeMeshBox(double half)
{
    static const int indices[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                    1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
    rbVec3 vertices[8];
    for (int i = 0; i < 8; ++i) {
        double x = i % 4 == 1 || i % 4 == 2 ? half : -half;
        vertices[i] = rbMakeVec3(x, i % 4 < 2 ? -half : half, i < 4 ? -half : half);
    }
    rbMeshDef def = {.vertices = vertices, .vertexCount = 8, .indices = indices, .faceCount = 12};
    return rbCreateMesh(&def, NULL);
}

// A ball that falls through a zone is in it from the time its lowest point reaches the top until
// its highest point leaves the bottom, also while it is wholly inside.
static void aFallingBallIsSeenAsLongAsItIsInside(void** state)
{
    (void)state;
    for (int i = 0; i < 6; ++i) {
        rbWorldDef def = defineWorld();
        def.engine = engines[i % 2];
        rbWorld* world = makeWorld(&def);
        rbShapeDef sensor = makeSensor();
        rbGeometry* geometry = i < 2   ? rbCreateBox(rbMakeVec3(0.3, 0.3, 0.3), NULL)
                               : i < 4 ? makeMeshBox(0.3)
                                       : rbCreateCylinder(0.3, 0.3, NULL);
        rbBodyId zone = addZone(world, geometry, RB_VEC3_ZERO, &sensor);
        rbShapeDef usual = rbDefaultShapeDef();
        rbBodyId ball = addBall(world, "ball", 0.1, rbMakeVec3(0.05, 0.02, 1.0), &usual);
        logs[0].count = 0;
        run(world, 1.0, 13, &logs[0]);
        assert_int_equal(logs[0].count, 2);
        const rbContactEvent* begin = &logs[0].events[0];
        const rbContactEvent* end = &logs[0].events[1];
        assert_int_equal(begin->kind, RB_SENSOR_BEGIN);
        assert_int_equal(end->kind, RB_SENSOR_END);
        assert_true(isSameId(begin->bodyA, zone) && isSameId(begin->bodyB, ball));
        checkNear(begin->time, sqrt(2.0 * 0.6 / GRAVITY) + 0.5 * STEP, 0.5 * STEP + 1e-9);
        checkNear(end->time, sqrt(2.0 * 1.4 / GRAVITY) + 0.5 * STEP, 0.5 * STEP + 1e-9);
        checkNear(begin->point.z, 1.0 - 0.5 * GRAVITY * begin->time * begin->time, 1e-9);
        checkNear(rbBody_GetState(world, ball).center.z, 1.0 - 0.5 * GRAVITY, 1e-9);
        // Nothing pushes: what belongs to a blow is zero.
        for (int k = 0; k < 2; ++k) {
            const rbContactEvent* event = &logs[0].events[k];
            checkBelow(rbLength(event->normal) + rbLength(event->impulse), 0.0);
            checkNear(event->approachSpeed, 0.0, 0.0);
        }
        rbDestroyWorld(world);
    }
}

// A sensor below a robot sees the floor, adds no mass, and is not in the way.
static void aSensorIsNoMatter(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = defineWorld();
        def.engine = engines[i];
        rbWorld* world = makeWorld(&def);
        rbBodyId floor = addFloor(world);
        rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, 0.1));
        rbMassProperties before = rbBody_GetMass(world, cube);
        rbShapeDef sensor = makeSensor();
        sensor.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.1, NULL));
        sensor.groups = 4; // its own
        rbError error = {0};
        assert_false(RB_IS_NULL(rbCreateShape(world, cube, &sensor, &error)));
        rbMassProperties after = rbBody_GetMass(world, cube);
        assert_memory_equal(&before, &after, sizeof before);
        assert_true(rbBody_GetShape(world, cube, 1).isSensor);
        // the sphere of 0.1 m about the center reaches the floor when the cube is at 0.1 m
        logs[0].count = 0;
        run(world, 0.3, 3, &logs[0]);
        const rbContactEvent* first = &logs[0].events[0];
        assert_int_equal(first->kind, RB_SENSOR_BEGIN);
        assert_true(isSameId(first->bodyA, cube) && isSameId(first->bodyB, floor));
        assert_int_equal(first->shapeA, 1);
        checkNear(first->time, sqrt(2.0 * 0.05 / GRAVITY), STEP);
        checkNear(rbBody_GetState(world, cube).center.z, 0.05, 1e-3);
        // rays pass through it
        rbRay ray = {{0.0, -1.0, 0.14}, {0.0, 1.0, 0.0}, INFINITY};
        rbQueryFilter all = rbDefaultQueryFilter();
        bool isHit = true;
        assert_int_equal(rbWorld_TestRay(world, &ray, &all, &isHit, &error), RB_STATUS_OK);
        assert_false(isHit);
        rbDestroyWorld(world);
    }
}

// Bodies that begin inside are reported in the first step; frozen ones stay inside.
static void frozenBodiesStayInSensors(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    def.contact.freezeSpeed = 0.01;
    def.contact.freezeTime = 0.1;
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, SHELL));
    rbShapeDef sensor = makeSensor();
    (void)addZone(world, rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL), RB_VEC3_ZERO, &sensor);
    logs[0].count = 0;
    run(world, 1.0, 20, &logs[0]);
    assert_true(rbBody_IsResting(world, cube));
    assert_int_equal(logs[0].count, 2); // the floor and the zone; nothing ends
    assert_int_equal(logs[0].events[0].kind, RB_CONTACT_BEGIN);
    assert_int_equal(logs[0].events[1].kind, RB_SENSOR_BEGIN);
    checkNear(logs[0].events[1].time, STEP, 1e-12);
    rbDestroyWorld(world);
}

static void sensorsSeeTheGroupsTheyAskFor(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = defineWorld();
        def.engine = engines[i];
        def.gravity = RB_VEC3_ZERO;
        rbWorld* world = makeWorld(&def);
        rbShapeDef shape = rbDefaultShapeDef();
        shape.groups = 2;
        (void)addBall(world, "two", 0.1, rbMakeVec3(-0.2, 0.0, 0.0), &shape);
        shape.groups = 4;
        rbBodyId four = addBall(world, "four", 0.1, rbMakeVec3(0.2, 0.0, 0.0), &shape);
        rbShapeDef sensor = makeSensor();
        sensor.mask = 4;
        (void)addZone(world, rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL), RB_VEC3_ZERO,
                      &sensor);
        logs[0].count = 0;
        run(world, 0.01, 1, &logs[0]);
        assert_int_equal(logs[0].count, 1);
        assert_true(isSameId(logs[0].events[0].bodyB, four));
        // switched to another group, it is no longer seen
        rbBody_SetGroups(world, four, 2, UINT32_MAX);
        run(world, 0.02, 1, &logs[0]);
        assert_int_equal(logs[0].count, 2);
        assert_int_equal(logs[0].events[1].kind, RB_SENSOR_END);
        rbDestroyWorld(world);
    }
}

static void enginesWithoutContactsRefuseSensors(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = defineWorld();
        def.engine = i == 0 ? RB_ENGINE_FLIGHT : RB_ENGINE_STEP;
        def.contact.isEnabled = false;
        rbWorld* world = makeWorld(&def);
        rbShapeDef sensor = makeSensor();
        (void)addZone(world, rbCreateSphere(1.0, NULL), RB_VEC3_ZERO, &sensor);
        rbError error = {0};
        assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_UNSUPPORTED);
        assert_non_null(strstr(error.message, "body \"zone\" has a sensor"));
        assert_non_null(strstr(error.message, i == 0 ? "use the engine \"step\""
                                                     : "\"contact\": {\"enabled\": true}"));
        assert_int_equal(rbWorld_Advance(world, 0.1).status, RB_STATUS_UNSUPPORTED);
        rbDestroyWorld(world);
    }
}

// --------------------------------------------------------------------------------- random rooms

// The room with or without sensors: a zone, and one that a body carries.
static Room makeSensedRoom(uint64_t seed, rbEngineType engine, bool hasSensors)
{
    rbRandom random = {seed};
    rbWorldDef def = defineWorld();
    def.engine = engine;
    def.event.sensorStep = 1.37e-3;
    Room room = makeRoom(&random, &def);
    if (hasSensors) {
        rbError error = {0};
        rbShapeDef sensor = makeSensor();
        (void)addZone(room.world, makeAnyGeometry(&random), anyVector(&random, 0.1), &sensor);
        sensor.geometry = rbWorld_AddGeometry(room.world, rbCreateSphere(0.15, NULL));
        sensor.transform.p = anyVector(&random, 0.1);
        assert_false(RB_IS_NULL(rbCreateShape(room.world, room.bodies[2], &sensor, &error)));
    }
    return room;
}

static void sensorsNeverChangeTheMotion(void** state)
{
    (void)state;
    int count = rbTest_Count(12, 600);
    int seen = 0;
    for (int i = 0; i < count; ++i) {
        rbBodyState states[2][ROOM_BODIES];
        for (int k = 0; k < 2; ++k) {
            uint64_t seed = rbTest_Seed(521) + (uint64_t)i;
            Room room = makeSensedRoom(seed, engines[i % 2], k == 1);
            logs[k].count = 0;
            run(room.world, 0.3, 1, &logs[k]);
            for (int b = 0; b < ROOM_BODIES; ++b) {
                states[k][b] = rbBody_GetState(room.world, room.bodies[b]);
            }
            rbDestroyWorld(room.world);
        }
        assert_memory_equal(states[0], states[1], sizeof states[0]);
        // nor do contact events differ
        int next = 0;
        for (int k = 0; k < logs[1].count; ++k) {
            bool isSensor = logs[1].events[k].kind >= RB_SENSOR_BEGIN;
            seen += isSensor ? 1 : 0;
            if (!isSensor) {
                assert_true(next < logs[0].count);
                assert_memory_equal(&logs[1].events[k], &logs[0].events[next],
                                    sizeof logs[0].events[0]);
                next += 1;
            }
        }
        assert_int_equal(next, logs[0].count);
    }
    print_message("%d events of sensors\n", seen);
    assert_true(seen > count);
}

// A sensor of a room.
typedef struct Sensor {
    rbBodyId body;
    int shape;
} Sensor;

// Begins less ends of a body in a sensor; never more than one open.
static int countOpen(const EventLog* log, const Sensor* sensor, rbBodyId body)
{
    int open = 0;
    for (int k = 0; k < log->count; ++k) {
        const rbContactEvent* event = &log->events[k];
        bool isOurs = event->kind >= RB_SENSOR_BEGIN && isSameId(event->bodyA, sensor->body) &&
                      event->shapeA == sensor->shape && isSameId(event->bodyB, body);
        if (isOurs) {
            open += event->kind == RB_SENSOR_BEGIN ? 1 : -1;
        }
        assert_in_range(open, 0, 1);
    }
    return open;
}

// Whether a body overlaps a sensor, as the library measures it.
static bool isInside(const rbWorld* world, const Sensor* sensor, rbBodyId body)
{
    rbShapeDef zone = rbBody_GetShape(world, sensor->body, sensor->shape);
    rbTransform pose =
        rbMulTransforms(rbBody_GetState(world, sensor->body).transform, zone.transform);
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = rbWorld_GetGeometry(world, zone.geometry);
    input.geometryB = rbWorld_GetGeometry(world, rbBody_GetShape(world, body, 0).geometry);
    input.transformBtoA = rbInvMulTransforms(pose, rbBody_GetState(world, body).transform);
    bool overlaps = false;
    assert_int_equal(rbTestOverlap(&input, 0.0, NULL, &overlaps, NULL), RB_STATUS_OK);
    return overlaps;
}

// Every end has a begin; what has begun and not ended is inside.
static void sensorEventsBalance(void** state)
{
    (void)state;
    int count = rbTest_Count(12, 600);
    for (int i = 0; i < count; ++i) {
        Room room = makeSensedRoom(rbTest_Seed(522) + (uint64_t)i, engines[i % 2], true);
        // the last check of the event engine, or the end of a step
        double time = i % 2 == 0 ? 0.3 : rbGetStepTime(200, 1.37e-3);
        logs[0].count = 0;
        run(room.world, time, 3, &logs[0]);
        rbBodyId carrier = room.bodies[2];
        const Sensor sensors[2] = {
            {{room.bodies[ROOM_BODIES - 1].index1 + 1, carrier.generation}, 0}, {carrier, 1}};
        for (int k = 0; k < 2 * ROOM_BODIES; ++k) {
            const Sensor* sensor = &sensors[k % 2];
            rbBodyId body = room.bodies[k / 2];
            if (!isSameId(sensor->body, body)) {
                assert_int_equal(countOpen(&logs[0], sensor, body),
                                 isInside(room.world, sensor, body) ? 1 : 0);
            }
        }
        rbDestroyWorld(room.world);
    }
}

// Going back, here in another world whose engine has not started, repeats the events. Equal states
// have had equal events; a few runs of bodies that strike differ in the last bits after going back.
static void sensorsRewind(void** state)
{
    (void)state;
    for (int i = 0; i < 12; ++i) {
        Room room = makeSensedRoom((uint64_t)i / 2, engines[i % 2], true);
        logs[0].count = 0;
        run(room.world, 0.1, 2, &logs[0]);
        size_t size = rbWorld_GetSnapshotSize(room.world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(room.world, bytes, size, NULL), RB_STATUS_OK);
        Room other = makeSensedRoom((uint64_t)i / 2, engines[i % 2], true);
        assert_int_equal(rbWorld_RestoreSnapshot(other.world, bytes, size, NULL), RB_STATUS_OK);
        rbWorld* worlds[2] = {room.world, other.world};
        uint64_t hashes[2];
        for (int k = 0; k < 2; ++k) {
            logs[k].count = 0;
            run(worlds[k], 0.3, 2, &logs[k]);
            hashes[k] = rbWorld_GetHash(worlds[k]);
        }
        assert_true(hashes[0] == hashes[1]);
        assert_int_equal(logs[0].count, logs[1].count);
        assert_memory_equal(logs[0].events, logs[1].events,
                            (size_t)logs[0].count * sizeof *logs[0].events);
        free(bytes);
        rbDestroyWorld(other.world);
        rbDestroyWorld(room.world);
    }
}

RB_TEST_GROUP(test_sensors, cmocka_unit_test(aFallingBallIsSeenAsLongAsItIsInside),
              cmocka_unit_test(aSensorIsNoMatter), cmocka_unit_test(frozenBodiesStayInSensors),
              cmocka_unit_test(sensorsSeeTheGroupsTheyAskFor),
              cmocka_unit_test(enginesWithoutContactsRefuseSensors),
              cmocka_unit_test(sensorsNeverChangeTheMotion), cmocka_unit_test(sensorEventsBalance),
              cmocka_unit_test(sensorsRewind));
