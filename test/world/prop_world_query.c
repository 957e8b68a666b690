// Queries of crowds of all shapes compared with queries of every shape, one by one, and their cost.
#include "test/world/query_worlds.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static rbQueryFilter randomFilter(rbRandom* random, const rbWorld* world)
{
    rbQueryFilter filter = rbDefaultQueryFilter();
    if (rbRandom_Index(random, 2) == 0) {
        filter.groups = 1u << rbRandom_Index(random, 4);
        filter.mask = (uint32_t)rbRandom_Index(random, 16);
    }
    if (rbRandom_Index(random, 3) == 0) {
        rbBodyId ids[64];
        int count = rbWorld_GetBodyIds(world, ids, 64);
        filter.ignored = ids[rbRandom_Index(random, count < 64 ? count : 64)];
    }
    return filter;
}

static rbRay randomRay(rbRandom* random, double half)
{
    double length = rbRandom_Range(random, 0.1, 10.0);
    rbRay ray = {.tMax = rbRandom_Unit(random)};
    ray.direction = rbScale(length, rbRandom_Direction(random));
    ray.origin = randomVec3(random, 1.5 * half);
    ray.tMax = rbRandom_Index(random, 2) == 0 ? (double)INFINITY : ray.tMax;
    return ray;
}

// ----------------------------------------------------------------------------------- one by one

typedef struct Turn {
    const rbRay* ray;
    const rbShapeCast* cast;
    const rbGeometry* geometry;
    rbTransform transform;
    const rbBounds* bounds;
    rbQueryHit best;
    int count;
    double distances[512];
    rbBodyId bodyIds[512];
} Turn;

static void keepNearest(Turn* turn, const ShapeCursor* cursor, double distance, bool isInside)
{
    turn->distances[turn->count++] = distance;
    if (RB_IS_NULL(turn->best.bodyId) || distance < turn->best.distance) {
        turn->best = (rbQueryHit){.bodyId = cursor->bodyId,
                                  .shapeIndex = cursor->shapeIndex,
                                  .distance = distance,
                                  .isInside = isInside};
    }
}

static void castRayInTurn(void* context, const ShapeCursor* cursor)
{
    Turn* turn = context;
    rbVec3 unit = rbNormalize(turn->ray->direction);
    rbRay local = {rbInvTransformPoint(cursor->pose, turn->ray->origin),
                   rbInvRotate(cursor->pose.q, unit),
                   turn->ray->tMax * rbLength(turn->ray->direction)};
    rbRayHit hit;
    if (rbGeometry_Contains(cursor->geometry, local.origin)) {
        keepNearest(turn, cursor, 0.0, true);
    } else if (rbGeometry_CastRay(cursor->geometry, &local, &hit)) {
        keepNearest(turn, cursor, hit.t, false);
    }
}

static void castShapeInTurn(void* context, const ShapeCursor* cursor)
{
    Turn* turn = context;
    const rbShapeCast* cast = turn->cast;
    rbShapeSweep sweep;
    assert_int_equal(rbSweepShapes(cast->geometry,
                                   rbInvMulTransforms(cursor->pose, cast->transform),
                                   rbInvRotate(cursor->pose.q, cast->translation), cursor->geometry,
                                   0.0, getScratch(), &sweep, NULL),
                     RB_STATUS_OK);
    if (sweep.isHit) {
        keepNearest(turn, cursor, sweep.fraction * rbLength(cast->translation), sweep.isInside);
    }
}

static void noteBody(Turn* turn, const ShapeCursor* cursor)
{
    if (turn->count == 0 || !RB_ID_EQUALS(turn->bodyIds[turn->count - 1], cursor->bodyId)) {
        turn->bodyIds[turn->count++] = cursor->bodyId;
    }
}

static void overlapInTurn(void* context, const ShapeCursor* cursor)
{
    Turn* turn = context;
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = cursor->geometry;
    input.geometryB = turn->geometry;
    input.transformBtoA = rbInvMulTransforms(cursor->pose, turn->transform);
    bool overlaps;
    assert_int_equal(rbTestOverlap(&input, 0.0, NULL, &overlaps, NULL), RB_STATUS_OK);
    if (overlaps) {
        noteBody(turn, cursor);
    }
}

static void boundsInTurn(void* context, const ShapeCursor* cursor)
{
    Turn* turn = context;
    if (rbGeometry_GetType(cursor->geometry) == RB_SHAPE_PLANE) {
        bool isIn = false;
        for (int i = 0; i < 8; ++i) {
            rbVec3 corner = {(i & 1) != 0 ? turn->bounds->upper.x : turn->bounds->lower.x,
                             (i & 2) != 0 ? turn->bounds->upper.y : turn->bounds->lower.y,
                             (i & 4) != 0 ? turn->bounds->upper.z : turn->bounds->lower.z};
            rbVec3 local = rbInvTransformPoint(cursor->pose, corner);
            isIn = isIn || rbGeometry_Contains(cursor->geometry, local);
        }
        if (isIn) {
            noteBody(turn, cursor);
        }
        return;
    }
    rbBounds own = rbGeometry_GetBounds(cursor->geometry, cursor->pose);
    rbVec3 gap =
        rbMax3(rbSub(own.lower, turn->bounds->upper), rbSub(turn->bounds->lower, own.upper));
    if (gap.x <= 0.0 && gap.y <= 0.0 && gap.z <= 0.0) {
        noteBody(turn, cursor);
    }
}

// ---------------------------------------------------------------------------------------- claims

static void checkRays(rbRandom* random, rbWorld* world, double half)
{
    rbRay ray = randomRay(random, half);
    rbQueryFilter filter = randomFilter(random, world);
    Turn turn = {.ray = &ray};
    visitShapes(world, &filter, castRayInTurn, &turn);
    rbQueryHit hit;
    bool isHit;
    assert_int_equal(rbWorld_CastRay(world, &ray, &filter, &hit, NULL), RB_STATUS_OK);
    assert_int_equal(rbWorld_TestRay(world, &ray, &filter, &isHit, NULL), RB_STATUS_OK);
    assert_int_equal(isHit, turn.count > 0);
    assert_true(RB_ID_EQUALS(hit.bodyId, turn.best.bodyId));
    if (turn.count > 0) {
        assert_int_equal(hit.shapeIndex, turn.best.shapeIndex);
        assert_int_equal(hit.isInside, turn.best.isInside);
        double rounding = 1e-12 * (1.0 + half + turn.best.distance); // a floor may be far away
        checkNear(hit.distance, turn.best.distance, rounding);
        checkRelative(hit.fraction * rbLength(ray.direction), hit.distance, 1e-12);
        checkNear(rbLength(rbSub(hit.point, rbAddScaled(ray.origin, hit.fraction, ray.direction))),
                  0.0, rounding);
        checkNear(rbLength(hit.normal), 1.0, 1e-12);
    }
    // all of them, sorted; with little room the nearest
    rbQueryHit hits[64];
    rbQueryHitList list = {hits, 64, 0};
    rbQueryHit few[2];
    rbQueryHitList shortList = {few, 2, 0};
    assert_int_equal(rbWorld_CastRayAll(world, &ray, &filter, &list, NULL), RB_STATUS_OK);
    assert_int_equal(rbWorld_CastRayAll(world, &ray, &filter, &shortList, NULL), RB_STATUS_OK);
    assert_int_equal(list.count, turn.count);
    assert_int_equal(shortList.count, turn.count);
    double sum = 0.0;
    double truth = 0.0;
    for (int i = 0; i < list.count; ++i) {
        assert_true(i == 0 || hits[i - 1].distance <= hits[i].distance);
        assert_true(i >= 2 || memcmp(&hits[i].bodyId, &few[i].bodyId, sizeof(rbBodyId)) == 0);
        sum += hits[i].distance;
        truth += turn.distances[i];
    }
    checkNear(sum, truth, 1e-10 * (1.0 + truth));
}

static void checkShapes(rbRandom* random, rbWorld* world, double half)
{
    rbShapeType type = (rbShapeType)rbRandom_Index(random, RB_SHAPE_COUNT);
    rbGeometry* geometry = makeSample(random, type == RB_SHAPE_PLANE ? RB_SHAPE_BOX : type);
    rbShapeCast cast = {.geometry = geometry, .transform = randomTransform(random, half)};
    cast.translation = randomVec3(random, half);
    rbQueryFilter filter = randomFilter(random, world);
    Turn turn = {.cast = &cast, .geometry = geometry, .transform = cast.transform};
    visitShapes(world, &filter, castShapeInTurn, &turn);
    rbQueryHit hit;
    assert_int_equal(rbWorld_CastShape(world, &cast, &filter, &hit, NULL), RB_STATUS_OK);
    assert_true(RB_ID_EQUALS(hit.bodyId, turn.best.bodyId));
    assert_int_equal(hit.isInside, turn.best.isInside);
    if (turn.count > 0) {
        checkNear(hit.distance, turn.best.distance, 1e-9);
    }
    rbBodyId ids[512];
    rbQueryBodyList list = {ids, 512, 0};
    turn.count = 0;
    visitShapes(world, &filter, overlapInTurn, &turn);
    assert_int_equal(rbWorld_OverlapShape(world, geometry, cast.transform, &filter, &list, NULL),
                     RB_STATUS_OK);
    assert_int_equal(list.count, turn.count);
    assert_memory_equal(ids, turn.bodyIds, (size_t)turn.count * sizeof *ids);
    rbBounds bounds = rbGeometry_GetBounds(geometry, cast.transform);
    turn.count = 0;
    turn.bounds = &bounds;
    visitShapes(world, &filter, boundsInTurn, &turn);
    assert_int_equal(rbWorld_OverlapBounds(world, bounds, &filter, &list, NULL), RB_STATUS_OK);
    assert_int_equal(list.count, turn.count);
    assert_memory_equal(ids, turn.bodyIds, (size_t)turn.count * sizeof *ids);
    rbDestroyGeometry(geometry);
}

// Rays, moving shapes and overlaps of a moving crowd, with bodies added and removed.
static void queriesAnswerAsIfEveryShapeWereAsked(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(90501)};
    double half = 8.0;
    for (int i = 0; i < rbTest_Count(3, 60); ++i) {
        rbWorld* world = makeCrowd(&random, 60, half);
        for (int round = 0; round < 4; ++round) {
            for (int k = 0; k < 60; ++k) {
                checkRays(&random, world, half);
            }
            for (int k = 0; k < 20; ++k) {
                checkShapes(&random, world, half);
            }
            rbBodyId ids[128];
            int count = rbWorld_GetBodyIds(world, ids, 128);
            if (round == 0) {
                for (int k = 0; k < 10; ++k) {
                    rbBodyId id = ids[rbRandom_Index(&random, count)];
                    rbTransform pose = randomTransform(&random, half);
                    (void)rbBody_SetState(world, id, pose, randomVec3(&random, 1.0), RB_VEC3_ZERO,
                                          NULL);
                }
            } else if (round == 1) {
                rbDestroyBody(world, ids[rbRandom_Index(&random, count - 1)]);
                rbBodyId id = addBody(world, RB_BODY_STATIC, randomTransform(&random, half));
                addShape(world, id, makeSample(&random, RB_SHAPE_HULL), RB_TRANSFORM_IDENTITY,
                         NULL);
            } else {
                (void)rbWorld_Advance(world, 2.0);
            }
        }
        rbDestroyWorld(world);
    }
}

static double getSeconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Balls of 0.3 m at equal density: a ray of 10 m hits as many whatever their number. The number of
// visited boxes grows with its logarithm, that of shapes not at all.
static void costOfARayGrowsWithTheLogarithmOfTheBodies(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(90502)};
    double first = 0.0;
    for (int count = 100; count <= 10000; count *= 10) {
        rbWorld* world = makeQueryWorld(RB_ENGINE_FLIGHT);
        double half = cbrt(count);
        for (int i = 0; i < count; ++i) {
            (void)addSolid(world, RB_BODY_STATIC, randomVec3(&random, half),
                           rbCreateSphere(0.3, NULL));
        }
        rbQueryHit hit;
        double start = getSeconds();
        rbRay warmUp = {RB_VEC3_ZERO, {1, 0, 0}, 1.0};
        assert_int_equal(rbWorld_CastRay(world, &warmUp, NULL, &hit, NULL), RB_STATUS_OK);
        double update = getSeconds() - start;
        rbQueryCounts before = rbWorld_GetQueryCounts(world);
        uint64_t allocations = rbGetAllocationCount();
        int rays = 1000;
        start = getSeconds();
        for (int i = 0; i < rays; ++i) {
            rbRay ray = {.origin = randomVec3(&random, 0.8 * half), .tMax = 10.0};
            ray.direction = rbRandom_Direction(&random);
            assert_int_equal(rbWorld_CastRay(world, &ray, NULL, &hit, NULL), RB_STATUS_OK);
        }
        double seconds = (getSeconds() - start) / rays;
        assert_true(rbGetAllocationCount() == allocations);
        rbQueryCounts after = rbWorld_GetQueryCounts(world);
        double boxes = (double)(after.boxTests - before.boxTests) / rays;
        double shapes = (double)(after.shapeTests - before.shapeTests) / rays;
        print_message("%d bodies: %.1f boxes, %.2f shapes, %.2f us a ray; first query %.2f ms\n",
                      count, boxes, shapes, 1e6 * seconds, 1e3 * update);
        first = count == 100 ? boxes : first;
        assert_true(shapes < 10.0);
        assert_true(boxes < 5.0 * first);
        assert_true(after.updates == 1 && after.builds == 1);
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(prop_world_query, cmocka_unit_test(queriesAnswerAsIfEveryShapeWereAsked),
              cmocka_unit_test(costOfARayGrowsWithTheLogarithmOfTheBodies));
