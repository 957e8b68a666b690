// The bits of distances, depths and contacts, the same for every compiler, build type and machine.
#include "base/core/hash.h"
#include "lab/math/random3.h"
#include "pair_support.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <inttypes.h>

#define GOLDEN_COUNT 3000

static double scratch[1 << 15];

static const struct {
    const char* method;
    uint64_t hash;
} goldens[] = {
    {"auto", 0x5d2b6cd7b4155bbeu},      {"closed", 0xb77dcaecbd8a084eu},
    {"iterative", 0xb26aa3e023c96967u}, {"mpr", 0x084aadef6f8ae872u},
    {"features", 0x87abba78b1423ebdu},
};

static uint64_t hashVector(uint64_t hash, rbVec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    return rbHashDoubles(hash, values, 3);
}

static uint64_t hashAnswers(uint64_t hash, const rbSeparationInput* input, rbSeparationCache* cache)
{
    rbSeparation s;
    if (rbMeasureSeparation(input, cache, scratch, &s, NULL) != RB_STATUS_OK) {
        return hash;
    }
    const double numbers[4] = {s.distance, s.lower, s.upper, s.iterations};
    hash = rbHashDoubles(hash, numbers, 4);
    hash = hashVector(hashVector(hashVector(hash, s.pointA), s.pointB), s.normal);
    rbManifold manifold;
    rbContactList list = {.manifolds = &manifold, .capacity = 1};
    if (rbFindContacts(input, 0.0, cache, scratch, &list, NULL) == RB_STATUS_OK && list.count > 0) {
        for (int i = 0; i < manifold.count; ++i) {
            hash = hashVector(hash, manifold.points[i].pointA);
        }
    }
    return hash;
}

// Every pair twice with a cache, the second time slightly rotated.
static void bitsAreTheSameEverywhere(void** state)
{
    (void)state;
    assert_true(rbGetSeparationScratchSize() <= sizeof scratch);
    static const rbShapeType types[] = {RB_SHAPE_SPHERE,   RB_SHAPE_BOX,  RB_SHAPE_CAPSULE,
                                        RB_SHAPE_CYLINDER, RB_SHAPE_CONE, RB_SHAPE_ELLIPSOID,
                                        RB_SHAPE_HULL};
    bool isSame = true;
    for (size_t g = 0; g < sizeof goldens / sizeof goldens[0]; ++g) {
        rbPairMethod method = rbPairMethod_Find(goldens[g].method);
        assert_true((int)method < rbPairMethod_GetCount());
        rbRandom random = {4711};
        uint64_t hash = RB_HASH_SEED;
        for (int i = 0; i < GOLDEN_COUNT; ++i) {
            rbGeometry* a = makeRandomShape(&random, types[rbRandom_Index(&random, 7)]);
            rbGeometry* b = makeRandomShape(&random, types[rbRandom_Index(&random, 7)]);
            rbSeparationInput input = rbDefaultSeparationInput();
            input.geometryA = a;
            input.geometryB = b;
            input.method = method;
            double reach = rbRandom_Range(&random, 0.0, 3.0);
            input.transformBtoA.p = rbScale(reach, rbRandom_Direction(&random));
            input.transformBtoA.q = rbRandom_Quat(&random);
            rbSeparationCache cache = {0};
            hash = hashAnswers(hash, &input, &cache);
            input.transformBtoA.p.x += 0.01;
            hash = hashAnswers(hash, &input, &cache);
            rbDestroyGeometry(a);
            rbDestroyGeometry(b);
        }
        if (hash != goldens[g].hash) {
            print_error("%s: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u\n",
                        goldens[g].method, hash, goldens[g].hash);
            isSame = false;
        }
    }
    assert_true(isSame);
}

RB_TEST_GROUP(golden_separation, cmocka_unit_test(bitsAreTheSameEverywhere));
