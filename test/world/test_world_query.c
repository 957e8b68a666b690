// Queries of a world where the answer is known: planes, starts inside and on surfaces, groups,
// bodies that move, engines, snapshots, and bad input.
#include "test/world/query_worlds.h"

#include <stdio.h>
#include <string.h>

static rbQueryHit castRay(rbWorld* world, rbVec3 origin, rbVec3 direction)
{
    rbRay ray = {origin, direction, (double)INFINITY};
    rbQueryHit hit;
    rbError error = {0};
    rbStatus status = rbWorld_CastRay(world, &ray, NULL, &hit, &error);
    if (status != RB_STATUS_OK) {
        print_error("%s\n", error.message);
    }
    assert_int_equal(status, RB_STATUS_OK);
    return hit;
}

static void checkPoint(rbVec3 point, double x, double y, double z)
{
    checkNear(point.x, x, 1e-12);
    checkNear(point.y, y, 1e-12);
    checkNear(point.z, z, 1e-12);
}

// A floor z <= 0, a ball of 1 m at (0, 0, 5) and a box of 2 m, rotated by 90 degrees about z, at
// (10, 0, 5) as the second shape of its body.
typedef struct Place {
    rbWorld* world;
    rbBodyId floor, ball, pair;
} Place;

static Place makePlace(rbEngineType engine)
{
    Place place = {.world = makeQueryWorld(engine)};
    rbWorld* world = place.world;
    place.floor = addSolid(world, RB_BODY_STATIC, RB_VEC3_ZERO,
                           rbCreatePlane(rbMakeVec3(0, 0, 1), 0.0, NULL));
    place.ball = addSolid(world, RB_BODY_DYNAMIC, rbMakeVec3(0, 0, 5), rbCreateSphere(1.0, NULL));
    rbTransform turned = {{10, 0, 5}, {sqrt(0.5), 0, 0, sqrt(0.5)}};
    place.pair = addBody(world, RB_BODY_KINEMATIC, turned);
    addShape(world, place.pair, rbCreateSphere(0.5, NULL),
             (rbTransform){{0, 0, 3}, RB_QUAT_IDENTITY}, NULL);
    addShape(world, place.pair, rbCreateBox(rbMakeVec3(1, 1, 1), NULL), RB_TRANSFORM_IDENTITY,
             NULL);
    return place;
}

static void rayMeetsTheFirstBodyOnItsWay(void** state)
{
    (void)state;
    Place place = makePlace(RB_ENGINE_FLIGHT);
    // the direction is 2 m long: t = 4.5 for 9 m
    rbQueryHit hit = castRay(place.world, rbMakeVec3(-10, 0, 5), rbMakeVec3(2, 0, 0));
    assert_true(RB_ID_EQUALS(hit.bodyId, place.ball) && hit.shapeIndex == 0);
    checkNear(hit.distance, 9.0, 1e-12);
    checkNear(hit.fraction, 4.5, 1e-12);
    checkPoint(hit.point, -1, 0, 5);
    checkPoint(hit.normal, -1, 0, 0);
    // the box is the second shape; in its frame the ray comes along -y
    hit = castRay(place.world, rbMakeVec3(20, 0.5, 5), rbMakeVec3(-1, 0, 0));
    assert_true(RB_ID_EQUALS(hit.bodyId, place.pair) && hit.shapeIndex == 1);
    checkPoint(hit.point, 11, 0.5, 5);
    checkPoint(hit.normal, 1, 0, 0);
    hit = castRay(place.world, rbMakeVec3(3, 4, 5), rbMakeVec3(0, 0, -1));
    assert_true(RB_ID_EQUALS(hit.bodyId, place.floor));
    checkPoint(hit.point, 3, 4, 0);
    checkPoint(hit.normal, 0, 0, 1);
    // into the sky, and short of the ball
    assert_true(RB_IS_NULL(castRay(place.world, rbMakeVec3(3, 4, 5), rbMakeVec3(0, 0, 1)).bodyId));
    rbRay ray = {{-10, 0, 5}, {2, 0, 0}, 4.4999};
    assert_int_equal(rbWorld_CastRay(place.world, &ray, NULL, &hit, NULL), RB_STATUS_OK);
    assert_true(RB_IS_NULL(hit.bodyId));
    // all on a line through ball and box
    rbQueryHit hits[4];
    rbQueryHitList list = {hits, 4, 0};
    ray.tMax = (double)INFINITY;
    assert_int_equal(rbWorld_CastRayAll(place.world, &ray, NULL, &list, NULL), RB_STATUS_OK);
    assert_int_equal(list.count, 2);
    checkNear(hits[0].distance, 9.0, 1e-12);
    checkNear(hits[1].distance, 19.0, 1e-12);
    checkNear(hits[1].fraction, 9.5, 1e-12);
    // counting needs no room
    list = (rbQueryHitList){NULL, 0, 0};
    assert_int_equal(rbWorld_CastRayAll(place.world, &ray, NULL, &list, NULL), RB_STATUS_OK);
    assert_int_equal(list.count, 2);
    rbDestroyWorld(place.world);
}

// Inside a body the ray hits it immediately; from its surface outward not at all, inward
// immediately.
static void rayThatStartsInABodyMeetsItAtOnce(void** state)
{
    (void)state;
    Place place = makePlace(RB_ENGINE_FLIGHT);
    rbQueryHit hit = castRay(place.world, rbMakeVec3(0.5, 0, 5), rbMakeVec3(1, 0, 0));
    assert_true(RB_ID_EQUALS(hit.bodyId, place.ball) && hit.isInside);
    assert_true(hit.distance == 0.0 && hit.fraction == 0.0);
    checkPoint(hit.point, 0.5, 0, 5);
    checkPoint(hit.normal, -1, 0, 0);
    // even one that ends inside, and one that never leaves a half space
    rbRay ray = {{0.1, 0, 5}, {1, 0, 0}, 0.2};
    assert_int_equal(rbWorld_CastRay(place.world, &ray, NULL, &hit, NULL), RB_STATUS_OK);
    assert_true(RB_ID_EQUALS(hit.bodyId, place.ball) && hit.isInside);
    hit = castRay(place.world, rbMakeVec3(5, 5, -3), rbMakeVec3(0, 0, -1));
    assert_true(RB_ID_EQUALS(hit.bodyId, place.floor) && hit.isInside);
    // from the surface of the ball: on to the box, or into the ball
    hit = castRay(place.world, rbMakeVec3(1, 0, 5), rbMakeVec3(1, 0, 0));
    assert_true(RB_ID_EQUALS(hit.bodyId, place.pair) && !hit.isInside);
    checkNear(hit.distance, 8.0, 1e-12);
    hit = castRay(place.world, rbMakeVec3(1, 0, 5), rbMakeVec3(-1, 0, 0));
    assert_true(RB_ID_EQUALS(hit.bodyId, place.ball));
    checkNear(hit.distance, 0.0, 1e-12);
    // from the floor up, clear of everything
    assert_true(RB_IS_NULL(castRay(place.world, rbMakeVec3(3, 4, 0), rbMakeVec3(0, 0, 1)).bodyId));
    rbDestroyWorld(place.world);
}

static void groupsAndIgnoredBodiesAreLeftOut(void** state)
{
    (void)state;
    rbWorld* world = makeQueryWorld(RB_ENGINE_FLIGHT);
    rbBodyId ids[4];
    // x = 2, 4, 6, 8; their groups and masks
    const uint32_t groups[4][2] = {{1, 0xFF}, {2, 0xFF}, {4, 0x01}, {8, 0}};
    for (int i = 0; i < 4; ++i) {
        ids[i] =
            addBody(world, RB_BODY_STATIC, (rbTransform){{2.0 * (i + 1), 0, 0}, RB_QUAT_IDENTITY});
        addShape(world, ids[i], rbCreateSphere(0.5, NULL), RB_TRANSFORM_IDENTITY, groups[i]);
    }
    const struct {
        uint32_t groups, mask;
        int ignored; // -1: none
        int first;   // -1: none
        int count;
    } cases[6] = {
        {UINT32_MAX, UINT32_MAX, -1, 0, 3}, // the last one collides with nothing
        {UINT32_MAX, UINT32_MAX, 0, 1, 2},
        {2, UINT32_MAX, -1, 0, 2}, // the third collides with group 1
        {1, 6, -1, 1, 2},
        {1, 4, -1, 2, 1},
        {1, 8, -1, -1, 0},
    };
    for (int i = 0; i < 6; ++i) {
        rbQueryFilter filter = {cases[i].groups, cases[i].mask, {0, 0}};
        if (cases[i].ignored >= 0) {
            filter.ignored = ids[cases[i].ignored];
        }
        rbBodyId expected = cases[i].first >= 0 ? ids[cases[i].first] : (rbBodyId){0, 0};
        rbRay ray = {RB_VEC3_ZERO, {1, 0, 0}, (double)INFINITY};
        rbQueryHit hit;
        assert_int_equal(rbWorld_CastRay(world, &ray, &filter, &hit, NULL), RB_STATUS_OK);
        assert_true(RB_ID_EQUALS(hit.bodyId, expected));
        rbGeometry* ball = rbCreateSphere(0.25, NULL);
        rbShapeCast cast = {ball, RB_TRANSFORM_IDENTITY, {10, 0, 0}, 0.0};
        assert_int_equal(rbWorld_CastShape(world, &cast, &filter, &hit, NULL), RB_STATUS_OK);
        assert_true(RB_ID_EQUALS(hit.bodyId, expected));
        rbBodyId found[4];
        rbQueryBodyList list = {found, 4, 0};
        rbBounds bounds = {{-1, -1, -1}, {20, 1, 1}};
        assert_int_equal(rbWorld_OverlapBounds(world, bounds, &filter, &list, NULL), RB_STATUS_OK);
        assert_int_equal(list.count, cases[i].count);
        assert_true(list.count == 0 || RB_ID_EQUALS(found[0], expected));
        rbDestroyGeometry(ball);
    }
    // an id of a removed body ignores nothing
    rbDestroyBody(world, ids[1]);
    rbQueryFilter filter = rbDefaultQueryFilter();
    filter.ignored = ids[1];
    rbBodyId again =
        addSolid(world, RB_BODY_STATIC, rbMakeVec3(1, 0, 0), rbCreateSphere(0.25, NULL));
    rbRay ray = {RB_VEC3_ZERO, {1, 0, 0}, (double)INFINITY};
    rbQueryHit hit;
    assert_int_equal(rbWorld_CastRay(world, &ray, &filter, &hit, NULL), RB_STATUS_OK);
    assert_true(RB_ID_EQUALS(hit.bodyId, again));
    rbDestroyWorld(world);
}

static void castShapeStopsAtTheFirstBody(void** state)
{
    (void)state;
    Place place = makePlace(RB_ENGINE_FLIGHT);
    rbGeometry* box = rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL);
    rbShapeCast cast = {box, {{-9, 0, 5}, RB_QUAT_IDENTITY}, {20, 0, 0}, 0.0};
    rbQueryHit hit;
    assert_int_equal(rbWorld_CastShape(place.world, &cast, NULL, &hit, NULL), RB_STATUS_OK);
    assert_true(RB_ID_EQUALS(hit.bodyId, place.ball) && hit.isExact && !hit.isInside);
    checkNear(hit.distance, 7.5, 1e-12);
    checkNear(hit.fraction, 0.375, 1e-12);
    checkPoint(hit.point, -1, 0, 5);
    checkPoint(hit.normal, -1, 0, 0);
    // down to the floor
    cast.transform.p = rbMakeVec3(4, 4, 3);
    cast.translation = rbMakeVec3(0, 0, -5);
    assert_int_equal(rbWorld_CastShape(place.world, &cast, NULL, &hit, NULL), RB_STATUS_OK);
    assert_true(RB_ID_EQUALS(hit.bodyId, place.floor));
    checkNear(hit.distance, 2.5, 1e-12);
    // inside, with motion and without; clear of everything without
    cast.transform.p = rbMakeVec3(0.75, 0, 5);
    for (int i = 0; i < 2; ++i) {
        cast.translation = rbMakeVec3(5.0 * i, 0, 0);
        assert_int_equal(rbWorld_CastShape(place.world, &cast, NULL, &hit, NULL), RB_STATUS_OK);
        assert_true(RB_ID_EQUALS(hit.bodyId, place.ball) && hit.isInside && hit.distance == 0.0);
        checkPoint(hit.normal, 1, 0, 0);
    }
    cast.translation = RB_VEC3_ZERO;
    cast.transform.p = rbMakeVec3(4, 4, 3);
    assert_int_equal(rbWorld_CastShape(place.world, &cast, NULL, &hit, NULL), RB_STATUS_OK);
    assert_true(RB_IS_NULL(hit.bodyId));
    // what overlaps a large ball: all; each body once, although the pair is in it twice
    rbGeometry* ball = rbCreateSphere(9.0, NULL);
    rbBodyId ids[4];
    rbQueryBodyList list = {ids, 4, 0};
    rbTransform middle = {{5, 0, 5}, RB_QUAT_IDENTITY};
    assert_int_equal(rbWorld_OverlapShape(place.world, ball, middle, NULL, &list, NULL),
                     RB_STATUS_OK);
    assert_int_equal(list.count, 3);
    assert_true(RB_ID_EQUALS(ids[0], place.floor) && RB_ID_EQUALS(ids[1], place.ball) &&
                RB_ID_EQUALS(ids[2], place.pair));
    rbDestroyGeometry(ball);
    rbDestroyGeometry(box);
    rbDestroyWorld(place.world);
}

// In every engine: bodies fly, are set, follow paths and are destroyed, and queries reflect it; a
// snapshot restores the answers bit by bit.
static void queriesFollowTheBodies(void** state)
{
    (void)state;
    for (int engine = 0; engine < RB_ENGINE_COUNT; ++engine) {
        rbWorld* world = makeQueryWorld((rbEngineType)engine);
        rbBodyDef def = rbDefaultBodyDef();
        def.type = RB_BODY_DYNAMIC;
        def.position = rbMakeVec3(0, 0, 5);
        def.linearVelocity = rbMakeVec3(1, 0, 0);
        rbBodyId flier = rbCreateBody(world, &def, NULL);
        addShape(world, flier, rbCreateSphere(0.5, NULL), RB_TRANSFORM_IDENTITY, NULL);
        rbPathDef path = rbDefaultPathDef();
        path.direction = rbMakeVec3(0, 1, 0);
        path.speed = 2.0;
        def.type = RB_BODY_KINEMATIC;
        def.position = rbMakeVec3(0, 0, -5);
        def.linearVelocity = RB_VEC3_ZERO;
        def.path = &path;
        rbBodyId walker = rbCreateBody(world, &def, NULL);
        addShape(world, walker, rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL), RB_TRANSFORM_IDENTITY,
                 NULL);
        rbVec3 down = {0, 0, -1};
        assert_true(RB_ID_EQUALS(castRay(world, rbMakeVec3(0, 0, 9), down).bodyId, flier));
        assert_int_equal(rbWorld_Prepare(world, NULL), RB_STATUS_OK);
        size_t size = rbWorld_GetSnapshotSize(world);
        void* bytes = malloc(size);
        assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        rbQueryHit early = castRay(world, rbMakeVec3(0.1, 0.2, 9), down);
        assert_int_equal(rbWorld_Advance(world, 3.0).status, RB_STATUS_OK);
        assert_true(RB_IS_NULL(castRay(world, rbMakeVec3(0, 0, 9), down).bodyId));
        rbQueryHit hit = castRay(world, rbMakeVec3(3, 0, 9), down);
        assert_true(RB_ID_EQUALS(hit.bodyId, flier));
        checkNear(hit.distance, 3.5, 1e-9);
        assert_true(RB_ID_EQUALS(castRay(world, rbMakeVec3(0, 6, 9), down).bodyId, walker));
        // set elsewhere
        rbTransform elsewhere = {{-7, 0, 0}, RB_QUAT_IDENTITY};
        assert_int_equal(rbBody_SetState(world, flier, elsewhere, RB_VEC3_ZERO, RB_VEC3_ZERO, NULL),
                         RB_STATUS_OK);
        assert_true(RB_IS_NULL(castRay(world, rbMakeVec3(3, 0, 9), down).bodyId));
        assert_true(RB_ID_EQUALS(castRay(world, rbMakeVec3(-7, 0, 9), down).bodyId, flier));
        // back to the snapshot
        assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
        rbQueryHit again = castRay(world, rbMakeVec3(0.1, 0.2, 9), down);
        assert_true(RB_ID_EQUALS(again.bodyId, flier));
        assert_memory_equal(&again.point, &early.point, sizeof again.point);
        assert_memory_equal(&again.normal, &early.normal, sizeof again.normal);
        assert_true(again.distance == early.distance);
        // gone
        rbDestroyBody(world, flier);
        assert_true(RB_ID_EQUALS(castRay(world, rbMakeVec3(0, 0, 9), down).bodyId, walker));
        rbDestroyBody(world, walker);
        assert_true(RB_IS_NULL(castRay(world, rbMakeVec3(0, 0, 9), down).bodyId));
        free(bytes);
        rbDestroyWorld(world);
    }
}

// A query after a step of moving bodies allocates nothing after the first of its kind.
static void queriesAllocateNothingAfterWarmUp(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(90601)};
    rbWorld* world = makeCrowd(&random, 40, 6.0);
    rbBodyId bodies[64];
    int count = rbWorld_GetBodyIds(world, bodies, 64);
    for (int i = 0; i < count; ++i) {
        if (rbBody_GetType(world, bodies[i]) == RB_BODY_DYNAMIC) {
            rbTransform pose = rbBody_GetState(world, bodies[i]).transform;
            rbVec3 velocity = randomVec3(&random, 1.0);
            (void)rbBody_SetState(world, bodies[i], pose, velocity, randomVec3(&random, 1.0), NULL);
        }
    }
    rbGeometry* box = rbCreateBox(rbMakeVec3(1, 1, 1), NULL);
    rbBodyId ids[64];
    rbQueryHit hits[8];
    uint64_t allocations = 0;
    for (int i = 0; i < 12; ++i) {
        (void)rbWorld_Advance(world, 0.01);
        if (i == 2) {
            allocations = rbGetAllocationCount();
        }
        rbRay ray = {{-8, 0, 0}, {1, 0, 0}, 20.0};
        rbShapeCast cast = {box, {{-8, 0, 0}, RB_QUAT_IDENTITY}, {16, 0, 0}, 0.0};
        rbQueryHitList hitList = {hits, 8, 0};
        rbQueryBodyList list = {ids, 64, 0};
        bool isHit;
        assert_int_equal(rbWorld_CastRay(world, &ray, NULL, hits, NULL), RB_STATUS_OK);
        assert_int_equal(rbWorld_TestRay(world, &ray, NULL, &isHit, NULL), RB_STATUS_OK);
        assert_int_equal(rbWorld_CastRayAll(world, &ray, NULL, &hitList, NULL), RB_STATUS_OK);
        assert_int_equal(rbWorld_CastShape(world, &cast, NULL, hits, NULL), RB_STATUS_OK);
        assert_int_equal(rbWorld_OverlapShape(world, box, RB_TRANSFORM_IDENTITY, NULL, &list, NULL),
                         RB_STATUS_OK);
        rbBounds bounds = {{-9, -9, -9}, {9, 9, 9}};
        assert_int_equal(rbWorld_OverlapBounds(world, bounds, NULL, &list, NULL), RB_STATUS_OK);
        assert_true(list.count > 30);
    }
    assert_true(rbGetAllocationCount() == allocations);
    rbDestroyGeometry(box);
    rbDestroyWorld(world);
}

static void badQueriesAreRefused(void** state)
{
    (void)state;
    Place place = makePlace(RB_ENGINE_FLIGHT);
    const rbRay rays[6] = {
        {{NAN, 0, 0}, {1, 0, 0}, 1.0}, {{INFINITY, 0, 0}, {1, 0, 0}, 1.0},
        {{0, 0, 0}, {0, 0, 0}, 1.0},   {{0, 0, 0}, {NAN, 0, 0}, 1.0},
        {{0, 0, 0}, {1, 0, 0}, -1.0},  {{0, 0, 0}, {1, 0, 0}, NAN},
    };
    rbQueryHit hit;
    bool isHit;
    for (int i = 0; i < 6; ++i) {
        rbError error = {0};
        rbQueryHitList list = {&hit, 1, 0};
        assert_int_equal(rbWorld_CastRay(place.world, &rays[i], NULL, &hit, &error),
                         RB_STATUS_INVALID);
        assert_true(RB_IS_NULL(hit.bodyId) && strstr(error.message, "ray") != NULL);
        assert_int_equal(rbWorld_TestRay(place.world, &rays[i], NULL, &isHit, NULL),
                         RB_STATUS_INVALID);
        assert_false(isHit);
        assert_int_equal(rbWorld_CastRayAll(place.world, &rays[i], NULL, &list, NULL),
                         RB_STATUS_INVALID);
        assert_int_equal(list.count, 0);
    }
    rbGeometry* box = rbCreateBox(rbMakeVec3(1, 1, 1), NULL);
    rbGeometry* plane = rbCreatePlane(rbMakeVec3(0, 0, 1), 0.0, NULL);
    rbTransform good = {{4, 4, 4}, RB_QUAT_IDENTITY};
    const struct {
        rbShapeCast cast;
        rbStatus status;
    } casts[6] = {
        {{box, {{NAN, 0, 0}, RB_QUAT_IDENTITY}, {1, 0, 0}, 0.0}, RB_STATUS_INVALID},
        {{box, {{0, 0, 0}, {2, 0, 0, 0}}, {1, 0, 0}, 0.0}, RB_STATUS_INVALID},
        {{box, good, {NAN, 0, 0}, 0.0}, RB_STATUS_INVALID},
        {{box, good, {1, INFINITY, 0}, 0.0}, RB_STATUS_INVALID},
        {{box, good, {1, 0, 0}, -1.0}, RB_STATUS_INVALID},
        {{plane, good, {1, 0, 0}, 0.0}, RB_STATUS_UNSUPPORTED},
    };
    rbBodyId ids[4];
    rbQueryBodyList list = {ids, 4, 0};
    for (int i = 0; i < 6; ++i) {
        rbError error = {0};
        assert_int_equal(rbWorld_CastShape(place.world, &casts[i].cast, NULL, &hit, &error),
                         casts[i].status);
        assert_true(RB_IS_NULL(hit.bodyId) && error.message[0] != '\0');
        if (i < 2 || i == 5) {
            assert_int_equal(rbWorld_OverlapShape(place.world, casts[i].cast.geometry,
                                                  casts[i].cast.transform, NULL, &list, &error),
                             casts[i].status);
        }
    }
    rbBounds reversed = {{1, 0, 0}, {0, 1, 1}};
    rbBounds lost = {{0, 0, NAN}, {1, 1, 1}};
    assert_int_equal(rbWorld_OverlapBounds(place.world, reversed, NULL, &list, NULL),
                     RB_STATUS_INVALID);
    assert_int_equal(rbWorld_OverlapBounds(place.world, lost, NULL, &list, NULL),
                     RB_STATUS_INVALID);
    // a world without bodies returns nothing
    rbWorld* empty = makeQueryWorld(RB_ENGINE_STEP);
    assert_true(RB_IS_NULL(castRay(empty, RB_VEC3_ZERO, rbMakeVec3(1, 0, 0)).bodyId));
    rbDestroyWorld(empty);
    rbDestroyGeometry(plane);
    rbDestroyGeometry(box);
    rbDestroyWorld(place.world);
}

// Queries do not support grown shapes, and report that.
static void grownBodiesAreRefused(void** state)
{
    (void)state;
    rbWorld* world = makeQueryWorld(RB_ENGINE_EVENT);
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_DYNAMIC;
    def.name = "bubble";
    def.growth = 0.25;
    rbBodyId id = rbCreateBody(world, &def, NULL);
    addShape(world, id, rbCreateSphere(1.0, NULL), RB_TRANSFORM_IDENTITY, NULL);
    rbRay ray = {{-5, 0, 0}, {1, 0, 0}, 9.0};
    rbQueryHit hit;
    rbError error = {0};
    assert_int_equal(rbWorld_CastRay(world, &ray, NULL, &hit, &error), RB_STATUS_OK);
    checkNear(hit.distance, 4.0, 1e-12);
    (void)rbWorld_Advance(world, 1.0);
    assert_int_equal(rbWorld_CastRay(world, &ray, NULL, &hit, &error), RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.message, "bubble"));
    rbDestroyWorld(world);
}

// The example of docs/modules/query.md: the text between the marks.
static void exampleOfTheDocumentationWorks(void** state)
{
    (void)state;
    Place place = makePlace(RB_ENGINE_STEP);
    rbWorld* world = place.world;
    rbBodyId car = place.ball;
    // [example]
    // How far is it to the ground below the car?
    rbQueryFilter filter = rbDefaultQueryFilter();
    filter.ignored = car;
    rbRay ray = {rbBody_GetState(world, car).center, {0, 0, -1}, 100.0};
    rbQueryHit hit;
    rbError error = {0};
    if (rbWorld_CastRay(world, &ray, &filter, &hit, &error) != RB_STATUS_OK) {
        print_error("%s\n", error.message);
    }
    double height = RB_IS_NULL(hit.bodyId) ? (double)INFINITY : hit.distance;

    // Could a crate of 1 m be pushed from here to there?
    rbGeometry* crate = rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), &error);
    rbShapeCast cast = {
        .geometry = crate, .transform = {{-9, 0, 5}, RB_QUAT_IDENTITY}, .translation = {20, 0, 0}};
    (void)rbWorld_CastShape(world, &cast, NULL, &hit, &error);
    double way = RB_IS_NULL(hit.bodyId) ? 20.0 : hit.distance;
    rbDestroyGeometry(crate);
    // [example]
    checkNear(height, 5.0, 1e-12);
    checkNear(way, 7.5, 1e-12);
    rbDestroyWorld(world);
}

// A file of the repository; the caller frees it.
static char* readText(const char* path)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    char* text = calloc(1, 100000);
    size_t count = fread(text, 1, 99999, file);
    assert_true(count > 0);
    fclose(file);
    return text;
}

// The page shows the code that was tested above, without its indentation.
static void pageShowsTheExample(void** state)
{
    (void)state;
    char* code = readText(RB_SOURCE_DIR "/test/world/test_world_query.c");
    char* page = readText(RB_SOURCE_DIR "/docs/modules/query.md");
    const char mark[] = "    // [example]\n";
    char* line = strstr(code, mark);
    assert_non_null(line);
    line += sizeof mark - 1;
    char* end = strstr(line, mark);
    assert_non_null(end);
    *end = '\0';
    const char* place = strstr(page, "```c\n");
    assert_non_null(place);
    place += 5;
    while (*line != '\0') {
        char* next = strchr(line, '\n');
        assert_non_null(next);
        line += strncmp(line, "    ", 4) == 0 ? 4 : 0;
        size_t length = (size_t)(next + 1 - line);
        assert_memory_equal(line, place, length);
        place += length;
        line = next + 1;
    }
    assert_true(strncmp(place, "```", 3) == 0);
    free(page);
    free(code);
}

// A channel with walls at x = 0 .. 1 and 2 .. 3: a ray that begins on an inner wall and leaves it
// meets the other one, unless it ends before; one that enters the wall meets it at once.
static void raysFromAnInnerWallMeetTheOther(void** state)
{
    (void)state;
    const double profile[8][2] = {{0, 0}, {3, 0}, {3, 2}, {2, 2}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    rbOwnedMesh mesh = {0};
    rbError error = {0};
    assert_int_equal(rbExtrudeProfile(profile, 8, 4.0, &mesh, &error), RB_STATUS_OK);
    rbWorld* world = makeQueryWorld(RB_ENGINE_FLIGHT);
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbGeometry* geometry = rbCreatePolyhedron(&def, &error);
    assert_non_null(geometry);
    rbBodyId channel = addSolid(world, RB_BODY_STATIC, RB_VEC3_ZERO, geometry);
    rbFreeMesh(&mesh);
    const double middle = 1.75; // of 0 to 4
    for (int wall = 0; wall < 2; ++wall) {
        double out = wall == 0 ? 1.0 : -1.0;
        rbVec3 start = {1.0 + wall, 1.5, middle};
        rbQueryHit hit = castRay(world, start, rbMakeVec3(out, 0, 0));
        assert_true(RB_ID_EQUALS(hit.bodyId, channel) && !hit.isInside);
        checkNear(hit.distance, 1.0, 1e-12);
        checkPoint(hit.point, 2.0 - wall, 1.5, middle);
        checkPoint(hit.normal, -out, 0, 0);
        hit = castRay(world, start, rbMakeVec3(-out, 0, 0)); // into the wall
        assert_true(RB_ID_EQUALS(hit.bodyId, channel));
        checkNear(hit.distance, 0.0, 1e-12);
        static const double ends[] = {0.0, 1e-16, 0.5, 0.999};
        for (int i = 0; i < 4; ++i) {
            rbRay ray = {start, {out, 0, 0}, ends[i]};
            assert_int_equal(rbWorld_CastRay(world, &ray, NULL, &hit, NULL), RB_STATUS_OK);
            assert_true(RB_IS_NULL(hit.bodyId));
            bool isHit = true;
            assert_int_equal(rbWorld_TestRay(world, &ray, NULL, &isHit, NULL), RB_STATUS_OK);
            assert_false(isHit);
        }
        rbVec3 up = {0, 1, 0}; // along the wall and out
        hit = castRay(world, rbMakeVec3(1.5, 1.0, middle), up);
        assert_true(RB_IS_NULL(hit.bodyId));
    }
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_world_query, cmocka_unit_test(rayMeetsTheFirstBodyOnItsWay),
              cmocka_unit_test(rayThatStartsInABodyMeetsItAtOnce),
              cmocka_unit_test(raysFromAnInnerWallMeetTheOther),
              cmocka_unit_test(groupsAndIgnoredBodiesAreLeftOut),
              cmocka_unit_test(castShapeStopsAtTheFirstBody),
              cmocka_unit_test(queriesFollowTheBodies),
              cmocka_unit_test(queriesAllocateNothingAfterWarmUp),
              cmocka_unit_test(badQueriesAreRefused), cmocka_unit_test(grownBodiesAreRefused),
              cmocka_unit_test(exampleOfTheDocumentationWorks),
              cmocka_unit_test(pageShowsTheExample));
