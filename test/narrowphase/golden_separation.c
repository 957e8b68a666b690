// The bits of distances, depths and contacts, the same for every compiler, build type and machine.
#include "base/core/hash.h"
#include "lab/math/random3.h"
#include "mesh_shapes.h"
#include "pair_support.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <inttypes.h>

#define GOLDEN_COUNT 3000
#define MESH_COUNT 400
#define MANIFOLDS_MAX 64

static double scratch[1 << 15];

static const struct {
    const char* method;
    uint64_t hash;
} goldens[] = {
    {"auto", 0x7ab53a3f1bf06a89u},      {"closed", 0xd2a45c23cac7c216u},
    {"iterative", 0xcba7efd5720233fbu}, {"mpr", 0x2b6cb913f35c8423u},
    {"features", 0xec682bfd33741341u},
};

static uint64_t hashVector(uint64_t hash, rbVec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    return rbHashDoubles(hash, values, 3);
}

static uint64_t hashContacts(uint64_t hash, const rbContactList* list)
{
    uint64_t h = rbHashDoubles(hash, (const double[]){list->count}, 1);
    for (int m = 0; m < list->count && m < list->capacity; ++m) {
        const rbManifold* manifold = &list->manifolds[m];
        const double parts[3] = {manifold->count, manifold->childA, manifold->childB};
        h = hashVector(rbHashDoubles(h, parts, 3), manifold->normal);
        for (int i = 0; i < manifold->count; ++i) {
            const rbManifoldPoint* p = &manifold->points[i];
            const double numbers[2] = {p->distance, p->featureId};
            h = rbHashDoubles(hashVector(hashVector(h, p->pointA), p->pointB), numbers, 2);
        }
    }
    return h;
}

// Distance, overlap and contacts, with the work they took.
static uint64_t hashAnswers(uint64_t hash, const rbSeparationInput* input, rbSeparationCache* cache)
{
    static rbManifold manifolds[MANIFOLDS_MAX];
    rbSeparation s;
    if (rbMeasureSeparation(input, cache, scratch, &s, NULL) != RB_STATUS_OK) {
        return hash;
    }
    const double numbers[9] = {s.distance, s.lower,  s.upper, s.iterations, s.reason,
                               s.childA,   s.childB, s.faceA, s.faceB};
    hash = rbHashDoubles(hash, numbers, 9);
    hash = hashVector(hashVector(hashVector(hash, s.pointA), s.pointB), s.normal);
    bool overlaps = false;
    rbStatus status = rbTestOverlap(input, 0.01, cache, &overlaps, NULL);
    hash = rbHashDoubles(hash, (const double[]){status, overlaps}, 2);
    rbContactList list = {.manifolds = manifolds, .capacity = MANIFOLDS_MAX};
    if (rbFindContacts(input, 0.01, cache, scratch, &list, NULL) == RB_STATUS_OK) {
        hash = hashContacts(hash, &list);
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

static uint64_t hashSweep(uint64_t hash, const rbSeparationInput* input)
{
    rbShapeSweep sweep;
    rbVec3 step = rbScale(-1.5, input->transformBtoA.p);
    if (rbSweepShapes(input->geometryB, input->transformBtoA, step, input->geometryA, 0.0, scratch,
                      &sweep, NULL) != RB_STATUS_OK) {
        return hash;
    }
    const double numbers[4] = {sweep.isHit, sweep.isInside, sweep.isExact,
                               sweep.isHit ? sweep.fraction : -1.0};
    hash = rbHashDoubles(hash, numbers, 4);
    return sweep.isHit ? hashVector(hashVector(hash, sweep.point), sweep.normal) : hash;
}

static uint64_t hashPair(uint64_t hash, const rbSeparationInput* start)
{
    rbSeparationInput input = *start;
    rbSeparationCache cache = {.front = rbCreateFront(200)};
    for (int k = 0; k < 2; ++k) {
        hash = hashAnswers(hash, &input, &cache);
        input.transformBtoA.p.x += 0.01;
    }
    rbDestroyFront(cache.front);
    return input.radiusA > 0.0 ? hash : hashSweep(hash, &input);
}

// A mesh, polyhedron, soup or compound with a shape of any type.
static uint64_t hashMeshes(rbRandom* random, rbShapeType type)
{
    uint64_t hash = RB_HASH_SEED;
    for (int i = 0; i < MESH_COUNT / 4; ++i) {
        rbGeometry* a = makeAnyShape(random, type);
        rbGeometry* b = makeAnyShape(random, (rbShapeType)(i % RB_SHAPE_COUNT));
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = i % 2 == 0 ? a : b;
        input.geometryB = i % 2 == 0 ? b : a;
        double reach = rbRandom_Range(random, 0.0, 2.5);
        input.transformBtoA.p = rbScale(reach, rbRandom_Direction(random));
        input.transformBtoA.q = i % 5 == 0 ? RB_QUAT_IDENTITY : rbRandom_Quat(random);
        input.radiusA = i % 7 == 0 ? 0.05 : 0.0;
        hash = hashPair(hash, &input);
        rbDestroyGeometry(a);
        rbDestroyGeometry(b);
    }
    return hash;
}

// Many triangles within reach of a convex shape or of another mesh: on a floor, and deep in a ball.
static uint64_t hashFineMeshes(rbRandom* random)
{
    uint64_t hash = RB_HASH_SEED;
    rbGeometry* floor = makeFloor(2.0, 40);
    rbGeometry* ball = makeBumpy(random, 24, 32, RB_SHAPE_MESH);
    for (int i = 0; i < 2 * RB_SHAPE_COUNT; ++i) {
        rbShapeType type = (rbShapeType)(i % RB_SHAPE_COUNT);
        rbGeometry* shape = makeAnyShape(random, type == RB_SHAPE_PLANE ? RB_SHAPE_BOX : type);
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = floor;
        input.geometryB = shape;
        rbVec3 down = {0.0, 0.0, -1.0};
        double height = rbDot(down, rbGeometry_GetSupport(shape, down));
        input.transformBtoA.p.z = height + 0.005 * (i % 5 - 2);
        hash = hashPair(hash, &input);
        input.transformBtoA.p.z = 0.2 * height;
        input.transformBtoA.q = rbRandom_Quat(random);
        hash = hashPair(hash, &input);
        input.geometryA = ball;
        input.transformBtoA.p = rbScale(0.3 * (i % 4), rbRandom_Direction(random));
        hash = hashPair(hash, &input);
        rbDestroyGeometry(shape);
    }
    rbDestroyGeometry(floor);
    rbDestroyGeometry(ball);
    return hash;
}

static void fineMeshesHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    rbRandom random = {4715};
    uint64_t hash = hashFineMeshes(&random);
    print_message("hash 0x%016" PRIx64 "u\n", hash);
    assert_true(hash == 0xfc64c2cab7c1e5f3u);
}

static void meshesHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    static const struct {
        rbShapeType type;
        uint64_t hash;
    } meshes[4] = {
        {RB_SHAPE_POLYHEDRON, 0x1d68a36bb893cc0bu},
        {RB_SHAPE_MESH, 0xe1720bcefa4596c8u},
        {RB_SHAPE_SOUP, 0x7f77ad2af091fc0cu},
        {RB_SHAPE_COMPOUND, 0xda538fb119251dd2u},
    };
    bool isSame = true;
    for (int k = 0; k < 4; ++k) {
        rbRandom random = {4712};
        uint64_t hash = hashMeshes(&random, meshes[k].type);
        if (hash != meshes[k].hash) {
            print_error("%s: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u\n",
                        rbShapeType_Name(meshes[k].type), hash, meshes[k].hash);
            isSame = false;
        }
    }
    assert_true(isSame);
}

RB_TEST_GROUP(golden_separation, cmocka_unit_test(bitsAreTheSameEverywhere),
              cmocka_unit_test(meshesHaveTheSameBitsEverywhere),
              cmocka_unit_test(fineMeshesHaveTheSameBitsEverywhere));
