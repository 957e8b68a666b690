// The bits of distances of trees, the same for every compiler, build type and machine.
#include "base/core/hash.h"
#include "bodies.h"
#include "collision/distance/tree_pair.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <inttypes.h>

#define GOLDEN_COUNT 60
#define ENTRIES 2048

static const uint64_t golden = 0xc54cdeceadad3044u;

static uint64_t hashVector(uint64_t hash, rbVec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    return rbHashDoubles(hash, values, 3);
}

static uint64_t hashResult(uint64_t hash, const rbTreePairResult* result)
{
    const double numbers[] = {result->lower,
                              result->upper,
                              result->triangleA,
                              result->triangleB,
                              (double)result->boxTests,
                              (double)result->triangleTests};
    hash = rbHashDoubles(hash, numbers, 6);
    return hashVector(hashVector(hash, result->closest.a), result->closest.b);
}

// Every pair cold and then along a short path with a front.
static void bitsAreTheSameEverywhere(void** state)
{
    (void)state;
    rbRandom random = {4711};
    uint64_t hash = RB_HASH_SEED;
    rbTreeEntry* entries = rbAlloc(ENTRIES * sizeof(*entries));
    for (int i = 0; i < GOLDEN_COUNT; ++i) {
        rbGeometry* a = rbMakeTestBody((rbTestBody)(i % RB_BODY_COUNT_OF_KINDS), 200, &random);
        rbGeometry* b = rbMakeTestBody((rbTestBody)(i / RB_BODY_COUNT_OF_KINDS), 200, &random);
        rbFront* front = rbCreateFront(1000);
        rbTreePairInput input = {.a = a->polyhedron->tree,
                                 .b = b->polyhedron->tree,
                                 .transformBtoA = rbMakeRandomPose(&random),
                                 .limit = INFINITY,
                                 .budget = -1,
                                 .entries = entries,
                                 .capacity = ENTRIES};
        for (int query = 0; query < 10; ++query) {
            input.front = query == 0 ? NULL : front;
            input.transformBtoA.p.x += 0.01;
            rbTreePairResult result = rbMeasureTrees(&input);
            hash = hashResult(hash, &result);
        }
        rbDestroyFront(front);
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    rbFree(entries, ENTRIES * sizeof(*entries));
    if (hash != golden) {
        print_error("hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u\n", hash, golden);
    }
    assert_true(hash == golden);
}

RB_TEST_GROUP(golden_tree_pair, cmocka_unit_test(bitsAreTheSameEverywhere));
