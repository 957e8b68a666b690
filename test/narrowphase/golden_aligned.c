// The bits of distances, contacts and sweeps in special positions: faces flush, axes aligned or
// nearly so, centers that coincide, and with the settings that are rarely used. Random positions
// almost never reach what is decided there. Both orders of a pair must agree on the distance.
#include "base/core/hash.h"
#include "base/math/elementary.h"
#include "lab/math/random3.h"
#include "mesh_shapes.h"
#include "pair_support.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <inttypes.h>
#include <math.h>

#define PAIRS 1500
#define MANIFOLDS_MAX 64

static double scratch[1 << 15];

static uint64_t hashVector(uint64_t hash, rbVec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    return rbHashDoubles(hash, values, 3);
}

static uint64_t hashContacts(uint64_t hash, const rbSeparationInput* input, double threshold,
                             int capacity)
{
    static rbManifold manifolds[MANIFOLDS_MAX];
    rbContactList list = {.manifolds = manifolds, .capacity = capacity};
    rbStatus status = rbFindContacts(input, threshold, NULL, scratch, &list, NULL);
    uint64_t h = rbHashDoubles(hash, (const double[]){(double)status, (double)list.count}, 2);
    for (int m = 0; m < list.count && m < capacity && status == RB_STATUS_OK; ++m) {
        const rbManifold* manifold = &manifolds[m];
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

static uint64_t hashSeparation(uint64_t hash, const rbSeparation* s)
{
    const double numbers[9] = {s->distance,       s->lower,          s->upper,
                               s->iterations,     (double)s->reason, (double)s->childA,
                               (double)s->childB, (double)s->faceA,  (double)s->faceB};
    uint64_t h = rbHashDoubles(hash, numbers, 9);
    return hashVector(hashVector(hashVector(h, s->pointA), s->pointB), s->normal);
}

// The other order gives the same distance within the bounds of both.
static void checkOtherOrder(const rbSeparationInput* input, const rbSeparation* s)
{
    rbSeparationInput other = *input;
    other.geometryA = input->geometryB;
    other.geometryB = input->geometryA;
    other.radiusA = input->radiusB;
    other.radiusB = input->radiusA;
    other.transformBtoA = rbInvertTransform(input->transformBtoA);
    rbSeparation t;
    if (rbMeasureSeparation(&other, NULL, scratch, &t, NULL) == RB_STATUS_OK) {
        assert_true(t.lower <= s->upper + 1e-9 && s->lower <= t.upper + 1e-9);
    }
}

static uint64_t hashSweep(uint64_t hash, const rbSeparationInput* input, rbRandom* random)
{
    rbVec3 step = rbScale(rbRandom_Range(random, -2.0, 0.5), input->transformBtoA.p);
    step = rbRandom_Unit(random) < 0.3 ? rbScale(0.5, rbRandom_Direction(random)) : step;
    double tolerance = rbRandom_Unit(random) < 0.5 ? 0.0 : 1e-4;
    rbShapeSweep sweep;
    if (rbSweepShapes(input->geometryB, input->transformBtoA, step, input->geometryA, tolerance,
                      scratch, &sweep, NULL) != RB_STATUS_OK) {
        return hash;
    }
    const double numbers[4] = {sweep.isHit, sweep.isInside, sweep.isExact,
                               sweep.isHit ? sweep.fraction : -1.0};
    uint64_t h = rbHashDoubles(hash, numbers, 4);
    return sweep.isHit ? hashVector(hashVector(h, sweep.point), sweep.normal) : h;
}

// Any shape, or the faces of a box or hull as a mesh.
static rbGeometry* makeOne(rbRandom* random, rbShapeType type)
{
    static const rbShapeType kinds[] = {RB_SHAPE_MESH, RB_SHAPE_POLYHEDRON, RB_SHAPE_SOUP};
    if (type != RB_SHAPE_MESH && type != RB_SHAPE_POLYHEDRON) {
        return rbRandom_Unit(random) < 0.5 && type < RB_SHAPE_PLANE ? makeRandomShape(random, type)
                                                                    : makeAnyShape(random, type);
    }
    bool isBox = rbRandom_Unit(random) < 0.5;
    rbGeometry* convex = makeRandomShape(random, isBox ? RB_SHAPE_BOX : RB_SHAPE_HULL);
    rbGeometry* mesh = makeMeshOf(convex, kinds[rbRandom_Index(random, 3)]);
    rbDestroyGeometry(convex);
    return mesh;
}

// B next to A along an axis: flush, or nearly so, or with the same center, turned by quarters, by a
// little or not at all.
static rbTransform drawPose(rbRandom* random, const rbGeometry* a, const rbGeometry* b)
{
    static const double gaps[] = {0.0, 1e-9, -1e-9, 1e-3, -1e-3, 0.05, -0.05, -0.3};
    static const double angles[] = {0.0, 0.0, 0.5 * RB_PI, RB_PI, 1e-3, 1e-7, 1e-10, 0.3};
    double axis[3] = {0.0, 0.0, 0.0};
    axis[rbRandom_Index(random, 3)] = 1.0;
    double sine, cosine;
    rbSinCos(0.5 * angles[rbRandom_Index(random, 8)], &sine, &cosine);
    rbTransform pose = {
        .q = {cosine, sine * axis[0], sine * axis[1], sine * axis[2]},
    };
    double gap = gaps[rbRandom_Index(random, 8)];
    double shift = rbRandom_Unit(random) < 0.5 ? 0.0 : 0.2 * rbRandom_Symmetric(random);
    if (!rbGeometry_IsBounded(a) || !rbGeometry_IsBounded(b)) {
        pose.p = rbMakeVec3(shift, 0.5 * shift, gap);
        return pose;
    }
    rbBounds boundsA = rbGeometry_GetBounds(a, RB_TRANSFORM_IDENTITY);
    rbBounds boundsB = rbGeometry_GetBounds(b, pose);
    double x = boundsA.upper.x - boundsB.lower.x + gap;
    double y = boundsA.upper.y - boundsB.lower.y + gap;
    double z = boundsA.lower.z - boundsB.upper.z - gap;
    switch (rbRandom_Index(random, 5)) {
    case 0:
        pose.p = rbMakeVec3(x, shift, 0.0);
        break;
    case 1:
        pose.p = rbMakeVec3(0.0, y, shift);
        break;
    case 2:
        pose.p = rbMakeVec3(shift, 0.0, z);
        break;
    case 3:
        pose.p = rbMakeVec3(x, y, shift);
        break;
    default:
        pose.p = rbMakeVec3(shift, 0.0, gap);
        break;
    }
    return pose;
}

static uint64_t hashOne(uint64_t hash, rbRandom* random, int place)
{
    rbGeometry* a = makeOne(random, (rbShapeType)(place % RB_SHAPE_COUNT));
    rbGeometry* b = makeOne(random, (rbShapeType)(place / RB_SHAPE_COUNT % RB_SHAPE_COUNT));
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA = drawPose(random, a, b);
    input.radiusA = place % 5 == 0 ? 0.05 : 0.0;
    input.radiusB = place % 7 == 0 ? 0.02 : 0.0;
    input.relativeTolerance = place % 11 == 0 ? 1e-3 : input.relativeTolerance;
    input.budget = place % 13 == 0 ? 20 : 0;
    input.isDepthUnwanted = place % 17 == 0;
    uint64_t h = hash;
    rbSeparation s;
    rbStatus status = rbMeasureSeparation(&input, NULL, scratch, &s, NULL);
    h = rbHashDoubles(h, (const double[]){(double)status}, 1);
    if (status == RB_STATUS_OK) {
        h = hashSeparation(h, &s);
        checkOtherOrder(&input, &s);
    }
    static const double margins[] = {-0.1, -1e-9, 0.0, 1e-9, 0.1};
    for (int i = 0; i < 5; ++i) {
        bool overlaps = false;
        status = rbTestOverlap(&input, margins[i], NULL, &overlaps, NULL);
        h = rbHashDoubles(h, (const double[]){(double)status, overlaps}, 2);
    }
    h = hashContacts(h, &input, 0.0, MANIFOLDS_MAX);
    h = hashContacts(h, &input, 1e-3, 1);
    h = hashContacts(h, &input, 0.3, MANIFOLDS_MAX);
    h = hashSweep(h, &input, random);
    rbDestroyGeometry(a);
    rbDestroyGeometry(b);
    return h;
}

static void alignedPairsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    assert_true(rbGetSeparationScratchSize() <= sizeof scratch);
    rbRandom random = {2033};
    uint64_t h = RB_HASH_SEED;
    for (int i = 0; i < PAIRS; ++i) {
        h = hashOne(h, &random, i);
    }
    print_message("hash 0x%016" PRIx64 "u\n", h);
    assert_true(h == 0x70b7d60ff83191f9u);
}

RB_TEST_GROUP(golden_aligned, cmocka_unit_test(alignedPairsHaveTheSameBitsEverywhere));
