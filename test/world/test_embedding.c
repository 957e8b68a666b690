// Features for programs that embed the library: an allocator of the world, its log, user data,
// debug drawing, and definitions from headers of another version.
#include "base/core/cookie.h"
#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -------------------------------------------------------------------------------------- allocator

typedef struct Heap {
    long long allocations;
    long long bytes;
} Heap;

static void* allocCounted(size_t size, void* context)
{
    Heap* heap = context;
    heap->allocations += 1;
    heap->bytes += (long long)size;
    return malloc(size);
}

static void freeCounted(void* memory, size_t size, void* context)
{
    Heap* heap = context;
    heap->bytes -= (long long)size;
    free(memory);
}

static rbBodyId addBody(rbWorld* world, const char* name, rbBodyType type, rbVec3 position,
                        rbGeometry* geometry)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.name = name;
    def.type = type;
    def.position = position;
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    return id;
}

// A ball and a box above the ground; with joints also a hinged rod with a spring.
static rbWorld* makeWorld(const rbWorldDef* def)
{
    rbError error = {0};
    rbWorld* world = rbCreateWorld(def, &error);
    assert_non_null(world);
    (void)addBody(world, "ground", RB_BODY_STATIC, RB_VEC3_ZERO,
                  rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL));
    (void)addBody(world, "ball", RB_BODY_DYNAMIC, rbMakeVec3(0.0, 0.0, 0.5),
                  rbCreateSphere(0.1, NULL));
    (void)addBody(world, "box", RB_BODY_DYNAMIC, rbMakeVec3(1.0, 0.0, 0.3),
                  rbCreateBox(rbMakeVec3(0.1, 0.1, 0.1), NULL));
    rbForceDef force = rbDefaultForceDef();
    force.body = rbWorld_FindBody(world, "box");
    force.force = rbMakeVec3(0.1, 0.0, 0.0);
    assert_false(RB_IS_NULL(rbCreateForce(world, &force, &error)));
    if (def->engine == RB_ENGINE_STEP) {
        rbBodyId rod = addBody(world, "rod", RB_BODY_DYNAMIC, rbMakeVec3(0.0, 2.0, 2.0),
                               rbCreateCapsule(0.05, 0.2, NULL));
        rbJointDef joint = rbDefaultJointDef();
        joint.name = "hinge";
        joint.type = RB_JOINT_HINGE;
        joint.bodyB = rod;
        rbJointDef_SetAnchor(&joint, world, rbMakeVec3(0.2, 2.0, 2.2));
        rbJointDef_SetAxis(&joint, world, rbMakeVec3(0.0, 1.0, 0.0));
        assert_false(RB_IS_NULL(rbCreateJoint(world, &joint, &error)));
        rbSpringDef spring = rbDefaultSpringDef();
        spring.bodyB = rod;
        spring.anchorA = rbMakeVec3(0.0, 2.0, 3.0);
        spring.stiffness = 10.0;
        assert_false(RB_IS_NULL(rbCreateSpring(world, &spring, &error)));
    }
    return world;
}

static void countPoint(rbVec3 position, uint32_t color, void* context)
{
    (void)position;
    (void)color;
    *(int*)context += 1;
}

// Everything a program does with a world; nothing may fail.
static void useWorld(rbWorld* world)
{
    rbError error = {0};
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_OK);
    assert_int_equal(rbWorld_Advance(world, 0.5).status, RB_STATUS_OK);
    rbQueryFilter filter = rbDefaultQueryFilter();
    rbQueryHit hit;
    rbRay ray = {{0.0, 0.0, 5.0}, {0.0, 0.0, -1.0}, 100.0};
    assert_int_equal(rbWorld_CastRay(world, &ray, &filter, &hit, &error), RB_STATUS_OK);
    rbBodyId found[8];
    rbQueryBodyList list = {found, 8, 0};
    rbBounds bounds = {{-2.0, -2.0, 0.0}, {2.0, 2.0, 2.0}};
    assert_int_equal(rbWorld_OverlapBounds(world, bounds, &filter, &list, &error), RB_STATUS_OK);
    char bytes[65536];
    size_t size = rbWorld_GetSnapshotSize(world);
    assert_true(size <= sizeof bytes);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    assert_int_equal(rbWorld_Advance(world, 0.2).status, RB_STATUS_OK);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    int points = 0;
    rbDebugDraw draw = rbDefaultDebugDraw();
    draw.drawPoint = countPoint;
    draw.context = &points;
    draw.enableCenters = true;
    assert_int_equal(rbWorld_Draw(world, &draw, &error), RB_STATUS_OK);
    assert_true(points > 0);
    rbBodyId box = rbWorld_FindBody(world, "box");
    rbBody_ApplyImpulse(world, box, rbMakeVec3(0.0, 0.0, 1.0), rbBody_GetState(world, box).center);
    assert_int_equal(rbBody_SetMass(world, box, 3.0, &error), RB_STATUS_OK);
    assert_int_equal(rbWorld_SetGravity(world, rbMakeVec3(0.0, 0.0, -1.6), &error), RB_STATUS_OK);
    assert_int_equal(rbWorld_Advance(world, 0.2).status, RB_STATUS_OK);
    rbDestroyBody(world, rbWorld_FindBody(world, "ball"));
    assert_int_equal(rbWorld_Advance(world, 0.2).status, RB_STATUS_OK);
}

static void worldKeepsToItsAllocator(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        Heap process = {0};
        Heap own = {0};
        rbSetAllocator(allocCounted, freeCounted, &process);
        rbWorldDef def = rbDefaultWorldDef();
        def.engine = (rbEngineType)engine;
        def.allocator = (rbAllocator){allocCounted, freeCounted, &own};
        // Geometries are created before a world gets them: by the allocator of the thread.
        rbAllocator before = rbUseAllocator(def.allocator);
        assert_null(before.allocFn);
        rbWorld* world = makeWorld(&def);
        (void)rbUseAllocator(before);
        useWorld(world);
        rbDestroyWorld(world);
        rbSetAllocator(NULL, NULL, NULL);
        assert_int_equal(process.allocations, 0);
        assert_true(own.allocations > 10);
        assert_int_equal(own.bytes, 0);
    }
}

// Memory that the caller allocated elsewhere returns to its own allocator.
static void allocatorsMayBeMixed(void** state)
{
    (void)state;
    Heap own = {0};
    Heap other = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_EVENT;
    def.allocator = (rbAllocator){allocCounted, freeCounted, &own};
    uint64_t bytes = rbGetAllocatedBytes();
    rbWorld* world = makeWorld(&def); // geometries by the allocator of the process
    (void)rbWorld_Advance(world, 0.1);
    rbAllocator before = rbUseAllocator((rbAllocator){allocCounted, freeCounted, &other});
    rbGeometry* shared = rbCreateSphere(0.2, NULL);
    (void)rbUseAllocator(before);
    (void)addBody(world, "late", RB_BODY_DYNAMIC, rbMakeVec3(3.0, 0.0, 1.0),
                  rbGeometry_Retain(shared));
    (void)rbWorld_Advance(world, 0.1);
    rbDestroyWorld(world);
    assert_int_equal(own.bytes, 0);
    assert_true(other.bytes > 0);
    rbDestroyGeometry(shared);
    assert_int_equal(other.bytes, 0);
    assert_true(rbGetAllocatedBytes() == bytes);
}

static void halfAnAllocatorIsRefused(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    def.allocator.allocFn = allocCounted;
    rbError error = {0};
    assert_null(rbCreateWorld(&def, &error));
    assert_non_null(strstr(error.message, "set both or neither"));
}

static void stepsAllocateNothingFromItAfterWarmUp(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        Heap own = {0};
        rbWorldDef def = rbDefaultWorldDef();
        def.engine = (rbEngineType)engine;
        def.allocator = (rbAllocator){allocCounted, freeCounted, &own};
        rbWorld* world = makeWorld(&def);
        (void)rbWorld_Advance(world, 3.0);
        rbWorld_EnableJournal(world, false);
        long long before = own.allocations;
        for (int i = 0; i < 10; ++i) {
            (void)rbWorld_Advance(world, 0.01);
        }
        assert_int_equal(own.allocations, before);
        rbDestroyWorld(world);
    }
}

// -------------------------------------------------------------------------------------------- log

typedef struct Log {
    int counts[RB_LOG_COUNT];
    char last[RB_LOG_LENGTH_MAX];
} Log;

static void keepMessage(rbLogLevel level, const char* message, void* context)
{
    Log* log = context;
    log->counts[level] += 1;
    (void)snprintf(log->last, sizeof log->last, "%s", message);
}

static void logNamesWhatIsRefused(void** state)
{
    (void)state;
    Log log = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.logFn = keepMessage;
    def.logContext = &log;
    rbWorld* world = makeWorld(&def);
    assert_int_equal(log.counts[RB_LOG_ERROR] + log.counts[RB_LOG_WARNING], 0);

    rbBodyDef body = rbDefaultBodyDef();
    body.name = "ball";
    assert_true(RB_IS_NULL(rbCreateBody(world, &body, NULL)));
    assert_non_null(strstr(log.last, "a body is refused: a body named \"ball\" already exists"));
    rbShapeDef shape = rbDefaultShapeDef();
    assert_true(RB_IS_NULL(rbCreateShape(world, rbWorld_FindBody(world, "ball"), &shape, NULL)));
    assert_non_null(strstr(log.last, "a shape is refused: body \"ball\""));
    rbForceDef force = rbDefaultForceDef();
    force.force.x = NAN;
    assert_true(RB_IS_NULL(rbCreateForce(world, &force, NULL)));
    rbJointDef joint = rbDefaultJointDef();
    assert_true(RB_IS_NULL(rbCreateJoint(world, &joint, NULL)));
    rbSpringDef spring = rbDefaultSpringDef();
    rbError error = {0};
    assert_true(RB_IS_NULL(rbCreateSpring(world, &spring, &error)));
    assert_non_null(strstr(log.last, error.message));
    assert_int_equal(log.counts[RB_LOG_ERROR], 5);

    (void)rbWorld_Advance(world, -1.0);
    assert_non_null(strstr(log.last, "an advance of -1 s is refused"));
    assert_int_equal(log.counts[RB_LOG_ERROR], 6);
    rbDestroyWorld(world);
}

static void logWarnsOfAnotherMotionRow(void** state)
{
    (void)state;
    Log log = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.logFn = keepMessage;
    def.logContext = &log;
    def.motion.type = RB_MOTION_EXACT;
    rbWorld* world = makeWorld(&def);
    rbForceDef force = rbDefaultForceDef();
    force.type = RB_FORCE_DRAG;
    force.linear = 0.1;
    force.body = rbWorld_FindBody(world, "ball");
    assert_false(RB_IS_NULL(rbCreateForce(world, &force, NULL)));
    assert_int_equal(log.counts[RB_LOG_WARNING], 1);
    assert_non_null(
        strstr(log.last, "body \"ball\" uses the integrator cash-karp instead of exact"));
    rbDestroyWorld(world);
}

// A persistent status is logged once, not at every advance.
static void logReportsARefusedStartOnce(void** state)
{
    (void)state;
    Log log = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_EVENT;
    def.logFn = keepMessage;
    def.logContext = &log;
    rbWorld* world = makeWorld(&def);
    (void)addBody(world, "inside", RB_BODY_DYNAMIC, rbMakeVec3(1.0, 0.0, 0.31),
                  rbCreateSphere(0.1, NULL));
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(rbWorld_Advance(world, 0.1).status, RB_STATUS_INVALID);
    }
    assert_int_equal(log.counts[RB_LOG_ERROR], 1);
    assert_non_null(strstr(log.last, "inside"));
    assert_string_equal(rbLogLevel_Name(RB_LOG_ERROR), "error");
    rbDestroyWorld(world);
}

// ------------------------------------------------------------------------------------------- rest

static void userDataIsKept(void** state)
{
    (void)state;
    int a;
    int b;
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    rbWorld* world = makeWorld(&def);
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.userData = &a;
    rbBodyId body = rbCreateBody(world, &bodyDef, NULL);
    rbShapeDef shapeDef = rbDefaultShapeDef();
    shapeDef.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.1, NULL));
    shapeDef.userData = &a;
    (void)rbCreateShape(world, body, &shapeDef, NULL);
    rbJointDef jointDef = rbDefaultJointDef();
    jointDef.bodyB = body;
    jointDef.userData = &a;
    rbJointId joint = rbCreateJoint(world, &jointDef, NULL);
    assert_ptr_equal(rbBody_GetUserData(world, body), &a);
    assert_ptr_equal(rbBody_GetShapeUserData(world, body, 0), &a);
    assert_ptr_equal(rbJoint_GetUserData(world, joint), &a);
    rbBody_SetUserData(world, body, &b);
    rbBody_SetShapeUserData(world, body, 0, &b);
    rbJoint_SetUserData(world, joint, &b);
    assert_ptr_equal(rbBody_GetUserData(world, body), &b);
    assert_ptr_equal(rbBody_GetShapeUserData(world, body, 0), &b);
    assert_ptr_equal(rbBody_GetShape(world, body, 0).userData, &b);
    assert_ptr_equal(rbJoint_GetUserData(world, joint), &b);
    rbDestroyWorld(world);
}

typedef struct Drawing {
    int lines;
    double length; // m
    rbVec3 lower;
    rbVec3 upper;
} Drawing;

static void keepLine(rbVec3 start, rbVec3 end, uint32_t color, void* context)
{
    Drawing* drawing = context;
    (void)color;
    drawing->lines += 1;
    drawing->length += rbDistance(start, end);
    drawing->lower = rbMin3(drawing->lower, rbMin3(start, end));
    drawing->upper = rbMax3(drawing->upper, rbMax3(start, end));
}

// Draws one geometry at (1, 2, 3).
static Drawing drawGeometry(rbGeometry* geometry, bool isBounds)
{
    rbWorldDef def = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&def, NULL);
    (void)addBody(world, "body", RB_BODY_STATIC, rbMakeVec3(1.0, 2.0, 3.0), geometry);
    Drawing drawing = {.lower = {INFINITY, INFINITY, INFINITY},
                       .upper = {-INFINITY, -INFINITY, -INFINITY}};
    rbDebugDraw draw = rbDefaultDebugDraw();
    draw.drawLine = keepLine;
    draw.context = &drawing;
    draw.enableShapes = !isBounds;
    draw.enableBounds = isBounds;
    assert_int_equal(rbWorld_Draw(world, &draw, NULL), RB_STATUS_OK);
    rbDestroyWorld(world);
    return drawing;
}

static void boxIsDrawnByItsTwelveEdges(void** state)
{
    (void)state;
    for (int isBounds = 0; isBounds < 2; ++isBounds) {
        Drawing drawing = drawGeometry(rbCreateBox(rbMakeVec3(0.1, 0.2, 0.3), NULL), isBounds == 1);
        assert_int_equal(drawing.lines, 12);
        checkNear(drawing.length, 4.0 * (0.2 + 0.4 + 0.6), 1e-14);
        checkBelow(rbDistance(drawing.lower, rbMakeVec3(0.9, 1.8, 2.7)), 1e-15);
        checkBelow(rbDistance(drawing.upper, rbMakeVec3(1.1, 2.2, 3.3)), 1e-15);
    }
    Drawing ball = drawGeometry(rbCreateSphere(0.5, NULL), false);
    assert_in_range(ball.lines, 20, 2000);
    checkNear(ball.upper.z - ball.lower.z, 1.0, 0.11);
}

static void contactsAndJointsAreDrawn(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    rbWorld* world = makeWorld(&def);
    (void)rbWorld_Advance(world, 3.0);
    Drawing drawing = {.lower = {INFINITY, INFINITY, INFINITY}};
    int points = 0;
    rbDebugDraw draw = rbDefaultDebugDraw();
    draw.enableShapes = false;
    draw.drawPoint = countPoint;
    draw.context = &points;
    assert_int_equal(rbWorld_Draw(world, &draw, NULL), RB_STATUS_OK);
    int contacts = rbWorld_GetContacts(world, NULL, 0);
    assert_true(contacts >= 1);
    assert_int_equal(points, contacts + 2);
    draw.drawPoint = NULL;
    draw.drawLine = keepLine;
    draw.context = &drawing;
    draw.forceScale = 0.01;
    assert_int_equal(rbWorld_Draw(world, &draw, NULL), RB_STATUS_OK);
    assert_int_equal(drawing.lines, 2 * contacts + 3); // normals, forces; anchors, axis, spring
    draw.axisLength = 0.0;
    rbError error = {0};
    assert_int_equal(rbWorld_Draw(world, &draw, &error), RB_STATUS_INVALID);
    rbDestroyWorld(world);
}

// A program whose headers have another number, or a definition of another size, gets a message;
// fields beyond its size are not written.
static void headersOfAnotherVersionAreRefused(void** state)
{
    (void)state;
    struct {
        rbWorldDef def;
        unsigned char after[64];
    } memory;
    rbError error = {0};
    memset(&memory, 0x5a, sizeof memory);
    rbInitWorldDef(&memory.def, RB_ABI_VERSION + 1, sizeof memory.def - 8);
    assert_null(rbCreateWorld(&memory.def, &error));
    assert_int_equal(error.status, RB_STATUS_UNSUPPORTED);
    char expected[160];
    (void)snprintf(expected, sizeof expected,
                   "headers of Rattleback %d.%d (ABI %d), but the library is Rattleback %d.%d (ABI "
                   "%d)",
                   RB_VERSION_MAJOR, RB_VERSION_MINOR, RB_ABI_REVISION + 1, RB_VERSION_MAJOR,
                   RB_VERSION_MINOR, RB_ABI_REVISION);
    assert_non_null(strstr(error.message, expected));
    assert_int_equal(((const unsigned char*)&memory)[sizeof memory.def - 1], 0x5a);
    assert_int_equal(memory.after[0], 0x5a);

    rbWorldDef zero = {0};
    assert_null(rbCreateWorld(&zero, &error));
    assert_non_null(strstr(error.message, "rbDefaultWorldDef"));

    rbInitWorldDef(&memory.def, RB_ABI_VERSION, sizeof memory.def + 16);
    assert_null(rbCreateWorld(&memory.def, &error));
    assert_non_null(strstr(error.message, "another size"));
    assert_int_equal(memory.after[0], 0);
    assert_int_equal(memory.after[16], 0x5a);
}

RB_TEST_GROUP(test_embedding, cmocka_unit_test(worldKeepsToItsAllocator),
              cmocka_unit_test(allocatorsMayBeMixed), cmocka_unit_test(halfAnAllocatorIsRefused),
              cmocka_unit_test(stepsAllocateNothingFromItAfterWarmUp),
              cmocka_unit_test(logNamesWhatIsRefused), cmocka_unit_test(logWarnsOfAnotherMotionRow),
              cmocka_unit_test(logReportsARefusedStartOnce), cmocka_unit_test(userDataIsKept),
              cmocka_unit_test(boxIsDrawnByItsTwelveEdges),
              cmocka_unit_test(contactsAndJointsAreDrawn),
              cmocka_unit_test(headersOfAnotherVersionAreRefused));
