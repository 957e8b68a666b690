// The answers and the work of queries in a fixed world, the same for every compiler and build type.
// That the answers are right is compared with all shapes one by one elsewhere.
#include "base/core/hash.h"
#include "query_worlds.h"

#include <inttypes.h>

#define BODIES 60
#define QUERIES 150
#define HITS_MAX 40

static uint64_t hashHit(uint64_t hash, const rbQueryHit* hit)
{
    const double numbers[] = {hit->bodyId.index1, hit->shapeIndex, hit->feature,  hit->fraction,
                              hit->distance,      hit->point.x,    hit->point.y,  hit->point.z,
                              hit->normal.x,      hit->normal.y,   hit->normal.z, hit->isInside,
                              hit->isExact};
    return RB_IS_NULL(hit->bodyId) ? hash : rbHashDoubles(hash, numbers, 13);
}

static uint64_t castRays(uint64_t hash, rbWorld* world, rbRandom* random, rbQueryFilter filter)
{
    static rbQueryHit hits[HITS_MAX];
    rbRay ray = {.origin = randomVec3(random, 6.0)};
    ray.direction = rbRandom_Direction(random);
    ray.tMax = rbRandom_Range(random, 2.0, 20.0);
    rbQueryHit hit;
    assert_int_equal(rbWorld_CastRay(world, &ray, &filter, &hit, NULL), RB_STATUS_OK);
    hash = hashHit(hash, &hit);
    bool isHit = false;
    assert_int_equal(rbWorld_TestRay(world, &ray, &filter, &isHit, NULL), RB_STATUS_OK);
    assert_int_equal(isHit, !RB_IS_NULL(hit.bodyId));
    rbQueryHitList list = {.hits = hits, .capacity = HITS_MAX};
    assert_int_equal(rbWorld_CastRayAll(world, &ray, &filter, &list, NULL), RB_STATUS_OK);
    for (int i = 0; i < list.count && i < list.capacity; ++i) {
        hash = hashHit(hash, &hits[i]);
    }
    return hash;
}

static uint64_t castShapes(uint64_t hash, rbWorld* world, rbRandom* random, rbQueryFilter filter)
{
    static rbBodyId ids[BODIES];
    rbGeometry* geometry = makeSample(random, (rbShapeType)rbRandom_Index(random, RB_SHAPE_PLANE));
    rbTransform pose = randomTransform(random, 6.0);
    rbShapeCast cast = {.geometry = geometry,
                        .transform = pose,
                        .translation = rbScale(3.0, rbRandom_Direction(random))};
    rbQueryHit hit;
    assert_int_equal(rbWorld_CastShape(world, &cast, &filter, &hit, NULL), RB_STATUS_OK);
    hash = hashHit(hash, &hit);
    rbQueryBodyList list = {.bodyIds = ids, .capacity = BODIES};
    assert_int_equal(rbWorld_OverlapShape(world, geometry, pose, &filter, &list, NULL),
                     RB_STATUS_OK);
    for (int i = 0; i < list.count; ++i) {
        hash = rbHashDoubles(hash, (const double[]){ids[i].index1}, 1);
    }
    rbBounds bounds = rbGeometry_GetBounds(geometry, pose);
    assert_int_equal(rbWorld_OverlapBounds(world, bounds, &filter, &list, NULL), RB_STATUS_OK);
    for (int i = 0; i < list.count; ++i) {
        hash = rbHashDoubles(hash, (const double[]){ids[i].index1}, 1);
    }
    rbDestroyGeometry(geometry);
    return hash;
}

static void queriesHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    rbRandom random = {4714};
    rbWorld* world = makeCrowd(&random, BODIES, 5.0);
    rbBodyId ids[BODIES];
    rbWorld_GetBodyIds(world, ids, BODIES);
    for (int i = 0; i < BODIES; ++i) {
        if (rbBody_GetType(world, ids[i]) == RB_BODY_DYNAMIC) {
            rbTransform pose = rbBody_GetState(world, ids[i]).transform;
            rbVec3 velocity = rbRandom_Direction(&random);
            (void)rbBody_SetState(world, ids[i], pose, velocity, RB_VEC3_ZERO, NULL);
        }
    }
    uint64_t hash = RB_HASH_SEED;
    for (int i = 0; i < QUERIES; ++i) {
        rbQueryFilter filter = rbDefaultQueryFilter();
        filter.mask = i % 5 == 0 ? 0x3u : filter.mask;
        hash = castRays(hash, world, &random, filter);
        hash = castShapes(hash, world, &random, filter);
        if (i % 30 == 29) {
            (void)rbWorld_Advance(world, 0.01);
        }
    }
    rbQueryCounts work = rbWorld_GetQueryCounts(world);
    rbDestroyWorld(world);
    print_message("0x%016" PRIx64 "u, %" PRId64 " queries, %" PRId64 " boxes, %" PRId64
                  " shapes, %" PRId64 " updates, %" PRId64 " builds\n",
                  hash, work.queries, work.boxTests, work.shapeTests, work.updates, work.builds);
    assert_true(hash == 0xc04d33299b6594c1u);
    assert_int_equal(work.queries, 900);
    assert_int_equal(work.boxTests, 22368);
    assert_int_equal(work.shapeTests, 2908);
    assert_int_equal(work.updates, 5);
    assert_int_equal(work.builds, 1);
}

RB_TEST_GROUP(golden_queries, cmocka_unit_test(queriesHaveTheSameBitsEverywhere));
