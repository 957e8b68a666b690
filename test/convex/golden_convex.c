// The bits and the work of the convex kernels: distances, depths and proofs of random pairs, each
// in three sizes. Lengths that are larger by a power of 2 must give the same work, and results that
// are larger by it, bit for bit: what is compared with a length must be a length.
#include "base/core/hash.h"
#include "collision/convex/epa.h"
#include "collision/convex/gjk.h"
#include "collision/convex/overlap.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/shape.h>

#include <inttypes.h>
#include <math.h>

#define PAIRS 3000
#define SIZES 3

static const double sizes[SIZES] = {1.0, 0x1p-12, 0x1p12};

// A sphere, box, capsule, cylinder, cone, ellipsoid or hull, sometimes thin.
static rbGeometry* makeShape(rbRandom* random, double size)
{
    double x = size * rbRandom_Range(random, 0.2, 1.0);
    double y = size * rbRandom_Range(random, 0.2, 1.0);
    double z = size * rbRandom_Range(random, 0.2, 1.0);
    z *= rbRandom_Unit(random) < 0.2 ? 0.02 : 1.0;
    rbVec3 points[12];
    for (int i = 0; i < 12; ++i) {
        double px = x * rbRandom_Symmetric(random), py = y * rbRandom_Symmetric(random);
        points[i] = rbMakeVec3(px, py, z * rbRandom_Symmetric(random));
    }
    switch (rbRandom_Index(random, 7)) {
    case 0:
        return rbCreateSphere(x, NULL);
    case 1:
        return rbCreateCapsule(x, z, NULL);
    case 2:
        return rbCreateCylinder(x, z, NULL);
    case 3:
        return rbCreateCone(x, z, NULL);
    case 4:
        return rbCreateEllipsoid(rbMakeVec3(x, y, z), NULL);
    case 5:
        return rbCreateHull(points, 12, NULL);
    default:
        return rbCreateBox(rbMakeVec3(x, y, z), NULL);
    }
}

static uint64_t hashLengths(uint64_t hash, rbVec3 v, double size)
{
    return rbHashDoubles(hash, (const double[]){v.x / size, v.y / size, v.z / size}, 3);
}

static uint64_t hashGjk(uint64_t hash, const rbCso* cso, double size)
{
    rbGjkCache cache = {0};
    rbGjkSettings settings = rbDefaultGjkSettings();
    uint64_t h = hash;
    for (int i = 0; i < 3; ++i) { // from nothing, with the cache, and up to a limit
        rbGjkResult r;
        rbGjk_Solve(cso, &settings, &cache, &r);
        const double numbers[6] = {r.lower / size,       r.upper / size,   r.overlaps,
                                   (double)r.iterations, (double)r.reason, (double)r.simplexCount};
        h = rbHashDoubles(h, numbers, 6);
        h = hashLengths(hashLengths(h, r.a, size), r.b, size);
        h = hashLengths(h, r.normal, 1.0);
        settings.distanceMax = 0.3 * size;
        settings.distanceMin = 0.1 * size;
        h = rbHashDoubles(h, (const double[]){rbGjk_Overlaps(cso, 0.1 * size, &cache)}, 1);
    }
    h = rbHashDoubles(h, (const double[]){(double)rbTestPortal(cso, 0.0)}, 1);
    return rbHashDoubles(h, (const double[]){(double)rbTestPortal(cso, 0.1 * size)}, 1);
}

static uint64_t hashEpa(uint64_t hash, const rbCso* cso, double size)
{
    static rbEpaScratch scratch;
    rbGjkResult found = rbGjk_Distance(cso, NULL, NULL);
    uint64_t h = hash;
    for (int i = 0; i < 5 && found.overlaps; ++i) {
        rbEpaSettings settings = rbDefaultEpaSettings();
        settings.enableSphereCap = i != 1;
        settings.enableNewton = i != 2;
        settings.iterationMax = i == 3 ? 4 : settings.iterationMax;
        settings.pointLimit = i == 4 ? 7 : settings.pointLimit;
        int count = i == 0 ? 0 : found.simplexCount;
        rbEpaResult r = rbEpa_Depth(cso, found.simplex, count, &settings, &scratch);
        const double numbers[6] = {r.depth / size,       r.lower / size,     r.upper / size,
                                   (double)r.iterations, (double)r.supports, (double)r.reason};
        h = rbHashDoubles(h, numbers, 6);
        h = hashLengths(hashLengths(h, r.a, size), r.b, size);
        h = hashLengths(h, r.normal, 1.0);
    }
    rbCsoPoint start[4];
    bool isGuessed = rbEpa_GuessStart(cso, start);
    h = rbHashDoubles(h, (const double[]){isGuessed}, 1);
    for (int i = 0; i < 4 && isGuessed; ++i) {
        h = hashLengths(h, start[i].w, size);
    }
    return h;
}

static uint64_t hashPair(rbRandom random, double size)
{
    rbGeometry* a = makeShape(&random, size);
    rbGeometry* b = makeShape(&random, size);
    assert_non_null(a);
    assert_non_null(b);
    double radius = rbRandom_Unit(&random) < 0.7 ? 0.0 : 0.1 * size;
    rbConvex bodyA, bodyB;
    assert_true(rbConvex_Make(a, radius, &bodyA) && rbConvex_Make(b, 0.0, &bodyB));
    rbTransform pose = {.q = rbRandom_Unit(&random) < 0.2 ? RB_QUAT_IDENTITY
                                                          : rbRandom_Quat(&random)};
    double reach = size * rbRandom_Range(&random, 0.0, 1.6);
    pose.p = rbScale(reach, rbRandom_Direction(&random));
    rbCso cso = rbCso_Make(&bodyA, &bodyB, pose);
    uint64_t h = hashEpa(hashGjk(RB_HASH_SEED, &cso, size), &cso, size);
    rbDestroyGeometry(a);
    rbDestroyGeometry(b);
    return h;
}

// Boxes and ellipsoids by their own proofs.
static uint64_t hashProofs(rbRandom random, double size)
{
    rbVec3 half[2];
    for (int i = 0; i < 2; ++i) {
        double x = rbRandom_Range(&random, 0.05, 1.0), y = rbRandom_Range(&random, 0.05, 1.0);
        half[i] = rbScale(size, rbMakeVec3(x, y, rbRandom_Range(&random, 0.05, 1.0)));
    }
    rbTransform pose = {.q = rbRandom_Quat(&random)};
    double reach = size * rbRandom_Range(&random, 0.0, 2.0);
    pose.p = rbScale(reach, rbRandom_Direction(&random));
    const double answers[3] = {
        (double)rbTestBoxes(half[0], half[1], pose, 0.0),
        (double)rbTestBoxes(half[0], half[1], pose, 0.1 * size),
        (double)rbTestEllipsoids(half[0], half[1], pose),
    };
    return rbHashDoubles(RB_HASH_SEED, answers, 3);
}

static void checkAllSizes(uint64_t (*hashCase)(rbRandom random, double size), int count,
                          uint64_t expected)
{
    rbRandom random = {2031};
    uint64_t h = RB_HASH_SEED;
    int differences = 0;
    for (int k = 0; k < count; ++k) {
        rbRandom_Bits(&random);
        uint64_t first = hashCase(random, sizes[0]);
        for (int i = 1; i < SIZES; ++i) {
            differences += hashCase(random, sizes[i]) != first ? 1 : 0;
        }
        h = rbHashBytes(h, &first, sizeof first);
    }
    if (h != expected || differences != 0) {
        print_error("hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u; %d differ by their size\n",
                    h, expected, differences);
        fail();
    }
}

static void distancesAndDepthsHaveTheSameBitsInAllSizes(void** state)
{
    (void)state;
    checkAllSizes(hashPair, PAIRS, 0xea06f2ead4c4d03fu);
}

static void proofsAreTheSameInAllSizes(void** state)
{
    (void)state;
    checkAllSizes(hashProofs, 4 * PAIRS, 0x742734d860101a93u);
}

RB_TEST_GROUP(golden_convex, cmocka_unit_test(distancesAndDepthsHaveTheSameBitsInAllSizes),
              cmocka_unit_test(proofsAreTheSameInAllSizes));
