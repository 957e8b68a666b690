// The same bits with every compiler: predictions of fixed bodies on fixed paths, hashed.
//
// The value changes when a sampler or the search changes on purpose; it must not change between
// compilers, levels of optimization and machines.
#include "base/core/hash.h"
#include "bodies.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <inttypes.h>
#include <stdio.h>

static rbGeometry* makeShape(int kind, rbRandom* random)
{
    switch (kind) {
    case 0:
        return rbCreateSphere(0.8, NULL);
    case 1:
        return rbCreateBox(rbMakeVec3(0.9, 0.5, 0.3), NULL);
    case 2:
        return rbCreateCapsule(0.3, 0.6, NULL);
    case 3:
        return rbCreateCylinder(0.5, 0.5, NULL);
    case 4:
        return rbCreateCone(0.6, 1.0, NULL);
    case 5:
        return rbCreateEllipsoid(rbMakeVec3(1.0, 0.6, 0.4), NULL);
    default:
        return rbMakeRandomHull(16, random);
    }
}

static uint64_t hashPredictions(void)
{
    rbRandom random = {4712};
    uint64_t h = RB_HASH_SEED;
    for (int i = 0; i < 7 * 7; ++i) {
        rbGeometry* a = makeShape(i % 7, &random);
        rbGeometry* b = makeShape(i / 7, &random);
        rbVec3 way = rbRandom_Direction(&random);
        rbTestMotion motion = {.start = rbScale(-4.0, way), .velocity = rbScale(6.0, way)};
        motion.start.x += rbRandom_Range(&random, -0.5, 0.5);
        motion.turned = rbRandom_Quat(&random);
        motion.spin = rbScale(i % 2, rbRandom_Direction(&random));
        rbRaySettings settings = rbDefaultRaySettings();
        settings.pattern = (rbRayPattern)(i % RB_RAYS_PATTERN_COUNT);
        settings.count = 20;
        settings.refineRounds = i % 3 * 2;
        settings.tolerance = 1e-4;
        rbRayPrediction hit = rbPredict(rbMakeMoving(a, &motion), rbMakeStanding(b, RB_VEC3_ZERO),
                                        1.0, &settings, NULL);
        const double values[10] = {hit.isHit,    hit.isReverse, hit.time,    hit.way,
                                   hit.point.x,  hit.point.y,   hit.point.z, hit.normal.x,
                                   hit.normal.y, hit.normal.z};
        h = rbHashDoubles(h, values, 10);
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    return h;
}

// Same input, same bits
static void bitsAreTheSameEverywhere(void** state)
{
    (void)state;
    uint64_t h = hashPredictions();
    assert_true(h == hashPredictions());
    const uint64_t expected = 0x036224424b3480df;
    if (h != expected) {
        printf("hash 0x%016" PRIx64 "\n", h);
    }
    assert_true(h == expected);
}

RB_TEST_GROUP(golden_detector, cmocka_unit_test(bitsAreTheSameEverywhere));
