// The same bits with every compiler: a hash over all results of the geometry room for fixed
// samples.
//
// The value changes when an algorithm changes on purpose; it must not change between compilers,
// levels of optimization and machines.
#include "base/core/hash.h"
#include "shape_samples.h"

#include <inttypes.h>
#include <math.h>

static uint64_t hashVector(uint64_t hash, rbVec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    return rbHashDoubles(hash, values, 3);
}

static uint64_t hashMass(uint64_t hash, const rbMassProperties* m)
{
    const rbSym3 i = m->inertia;
    const double values[8] = {m->volume, m->mass, i.xx, i.yy, i.zz, i.xy, i.xz, i.yz};
    rbVec3 moments;
    rbTransform frame;
    rbMassProperties_Principal(m, &moments, &frame);
    const double turn[4] = {frame.q.w, frame.q.x, frame.q.y, frame.q.z};
    uint64_t h = rbHashDoubles(hashVector(hash, m->center), values, 8);
    return rbHashDoubles(hashVector(h, moments), turn, 4);
}

static uint64_t hashQueries(uint64_t hash, const rbGeometry* g, rbRandom* random)
{
    uint64_t h = hash;
    for (int i = 0; i < 100; ++i) {
        rbBounds bounds = rbGeometry_GetBounds(g, randomTransform(random, 2.0));
        h = hashVector(hashVector(h, bounds.lower), bounds.upper);
        h = hashVector(h, rbGeometry_GetSupport(g, rbRandom_Direction(random)));
        rbVec3 p = randomVec3(random, 1.5);
        double radius = rbGeometry_GetRadius(g, p);
        h = rbHashDoubles(h, &radius, 1);
        rbRay ray = {p, rbRandom_Direction(random), INFINITY};
        rbRayHit hit;
        bool isHit = rbGeometry_CastRay(g, &ray, &hit);
        const double answers[4] = {isHit, rbGeometry_Contains(g, p), isHit ? hit.t : -1.0,
                                   isHit ? hit.feature : -1};
        h = rbHashDoubles(h, answers, 4);
        h = isHit ? hashVector(h, hit.normal) : h;
    }
    return h;
}

static uint64_t hashHit(uint64_t hash, bool isHit, const rbRayHit* hit)
{
    const double numbers[4] = {isHit, isHit ? hit->t : -1.0, isHit ? hit->feature : -1,
                               isHit ? hit->child : -1};
    uint64_t h = rbHashDoubles(hash, numbers, 4);
    return isHit ? hashVector(hashVector(h, hit->point), hit->normal) : h;
}

// Lines that begin behind the origin, at minus infinity or ahead of it, and many rays at once.
static uint64_t hashLines(uint64_t hash, const rbGeometry* g, rbRandom* random)
{
    enum {
        RAYS = 37
    };
    rbRay rays[RAYS];
    rbRayHit hits[RAYS];
    uint64_t h = hash;
    int hitCount = 0;
    for (int i = 0; i < RAYS; ++i) {
        rays[i].origin = randomVec3(random, 2.0);
        rays[i].direction = randomVec3(random, 1.0);
        if (i % 4 > 0) {
            rays[i].direction = rbSub(randomVec3(random, 0.5), rays[i].origin);
        }
        if (i % 6 == 5) { // like the one before
            rays[i] = rays[i - 1];
            rays[i].origin.x += 1e-3;
        }
        rays[i].tMax = i % 3 == 0 ? INFINITY : rbRandom_Range(random, 0.1, 3.0);
        double tMin = i % 5 == 0 ? -(double)INFINITY : rbRandom_Range(random, -3.0, 0.5);
        rbRayHit hit = {0};
        bool isHit = rbGeometry_CastLine(g, &rays[i], tMin, &hit);
        assert_true(!isHit || (hit.t >= tMin && hit.t <= rays[i].tMax));
        h = hashHit(h, isHit, &hit);
        isHit = rbGeometry_CastFront(g, &rays[i], tMin, &hit);
        h = hashHit(h, isHit, &hit);
        isHit = rbGeometry_CastRay(g, &rays[i], &hit);
        assert_int_equal(rbGeometry_IsHit(g, &rays[i]), isHit);
        hitCount += isHit ? 1 : 0;
        rbRayHit again = {0};
        assert_int_equal(rbGeometry_CastLine(g, &rays[i], 0.0, &again), isHit);
        assert_true(!isHit || again.t == hit.t);
    }
    assert_int_equal(rbGeometry_CastRays(g, rays, RAYS, hits), hitCount);
    for (int i = 0; i < RAYS; ++i) {
        rbRayHit hit = {0};
        bool isHit = rbGeometry_CastRay(g, &rays[i], &hit);
        assert_true(isHit ? hits[i].t == hit.t : isinf(hits[i].t));
        h = hashHit(h, isHit, &hits[i]);
    }
    return h;
}

static void linesHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    rbRandom random = {2031};
    uint64_t h = RB_HASH_SEED;
    for (int k = 0; k < 10; ++k) {
        for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
            rbGeometry* g = makeSample(&random, (rbShapeType)type);
            h = hashLines(h, g, &random);
            rbDestroyGeometry(g);
        }
    }
    const uint64_t expected = 0x2f037004d2882748u;
    if (h != expected) {
        print_error("hash 0x%" PRIx64 ", expected 0x%" PRIx64 "\n", h, expected);
        fail();
    }
}

static void bitsAreTheSameEverywhere(void** state)
{
    (void)state;
    rbRandom random = {4711};
    uint64_t h = RB_HASH_SEED;
    for (int k = 0; k < 10; ++k) {
        for (int type = 0; type < RB_SHAPE_COUNT; ++type) {
            rbGeometry* g = makeSample(&random, (rbShapeType)type);
            rbError error = {0};
            rbMassProperties m;
            if (rbGeometry_GetMass(g, 1000.0, &m, &error) == RB_STATUS_OK) {
                h = hashMass(h, &m);
            }
            h = hashQueries(h, g, &random);
            rbTriangles triangles;
            assert_int_equal(rbGeometry_Triangulate(g, 0.01, 1.0, &triangles, &error),
                             RB_STATUS_OK);
            for (int i = 0; i < triangles.vertexCount; ++i) {
                h = hashVector(h, triangles.vertices[i]);
            }
            rbFreeTriangles(&triangles);
            uint64_t content = rbGeometry_GetHash(g);
            const double halves[2] = {(double)(content >> 32), (double)(content & 0xffffffffu)};
            h = rbHashDoubles(h, halves, 2);
            rbDestroyGeometry(g);
        }
    }
    const uint64_t expected = 0xbeef221c442e0382u;
    if (h != expected) {
        print_error("hash 0x%" PRIx64 ", expected 0x%" PRIx64 "\n", h, expected);
        fail();
    }
}

RB_TEST_GROUP(golden_geometry, cmocka_unit_test(bitsAreTheSameEverywhere),
              cmocka_unit_test(linesHaveTheSameBitsEverywhere));
