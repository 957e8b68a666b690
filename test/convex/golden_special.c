// The bits and the work of the convex kernels where random pairs never are: points, segments and
// flat cores, equal and parallel ones, coinciding centers, gaps of a few units of rounding, bad
// starts, few iterations, and pairs that move with a cache. That the answers are right is tested
// elsewhere; they are the same for every compiler and build type.
#include "base/core/hash.h"
#include "base/core/random.h"
#include "collision/convex/epa.h"
#include "collision/convex/gjk.h"
#include "collision/convex/overlap.h"
#include "rb_test.h"

#include <rattleback/shape.h>

#include <inttypes.h>
#include <math.h>

#define BODIES 17
#define PLACES 15
#define GEOMETRIES 9

// Bodies that are hulls of few points, or of the table of shapes.
typedef struct Bodies {
    rbConvex convex[BODIES];
    rbGeometry* geometries[GEOMETRIES];
} Bodies;

static void makePoints(Bodies* bodies, int index, const rbVec3* points, int count)
{
    double size = 0.0;
    for (int i = 0; i < count; ++i) {
        size = fmax(size, rbLength(points[i]));
    }
    rbConvex_MakePoints(points, count, size, index % 3 == 0 ? 0.125 : 0.0, &bodies->convex[index]);
}

static void makeBodies(Bodies* bodies)
{
    static const rbVec3 point[] = {{0.0, 0.0, 0.0}};
    static const rbVec3 segment[] = {{-0.5, 0.0, 0.0}, {0.5, 0.0, 0.0}};
    static const rbVec3 line[] = {{-0.5, 0, 0}, {0.5, 0, 0}, {0.25, 0, 0}, {0.5, 0, 0}};
    static const rbVec3 triangle[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    static const rbVec3 needle[] = {{-1, 0, 0}, {1, 0, 0}, {0.3, 1e-7, 0}};
    static const rbVec3 square[] = {{-0.5, -0.5, 0}, {0.5, -0.5, 0}, {0.5, 0.5, 0}, {-0.5, 0.5, 0}};
    static const rbVec3 sliver[] = {{-1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0.5, 1e-9}};
    static const rbVec3 simplex[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    makePoints(bodies, 0, point, 1);
    makePoints(bodies, 1, segment, 2);
    makePoints(bodies, 2, line, 4);
    makePoints(bodies, 3, triangle, 3);
    makePoints(bodies, 4, needle, 3);
    makePoints(bodies, 5, square, 4);
    makePoints(bodies, 6, sliver, 4);
    makePoints(bodies, 7, simplex, 4);
    const rbVec3 hull[] = {{-0.5, -0.5, -0.5}, {0.5, -0.5, -0.5}, {0.5, 0.5, -0.5},
                           {-0.5, 0.5, -0.5},  {0.0, 0.0, 0.5},   {0.25, 0.0, 0.25}};
    rbGeometry* made[GEOMETRIES] = {
        rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL),
        rbCreateBox(rbMakeVec3(1.0, 0.25, 0.0625), NULL),
        rbCreateSphere(0.5, NULL),
        rbCreateCapsule(0.25, 0.5, NULL),
        rbCreateCylinder(0.5, 1.0, NULL),
        rbCreateCone(0.5, 1.0, NULL),
        rbCreateEllipsoid(rbMakeVec3(0.5, 0.5, 0.5), NULL),
        rbCreateEllipsoid(rbMakeVec3(1.0, 0.5, 0.125), NULL),
        rbCreateHull(hull, 6, NULL),
    };
    for (int i = 0; i < GEOMETRIES; ++i) {
        assert_non_null(made[i]);
        bodies->geometries[i] = made[i];
        assert_true(rbConvex_Make(made[i], i == 4 ? 0.0625 : 0.0, &bodies->convex[8 + i]));
    }
}

static void destroyBodies(Bodies* bodies)
{
    for (int i = 0; i < GEOMETRIES; ++i) {
        rbDestroyGeometry(bodies->geometries[i]);
    }
}

// Numbers are drawn one by one: compilers differ in the order of arguments.
static rbVec3 drawIn(rbRandom* random, double half)
{
    double x = half * rbRandom_Symmetric(random), y = half * rbRandom_Symmetric(random);
    return rbMakeVec3(x, y, half * rbRandom_Symmetric(random));
}

// Centers at multiples of 1/8 or together, turned by quarters, little or anyhow; sometimes nudged
// by a few units of rounding, or far away.
static rbTransform drawPose(rbRandom* random, int place)
{
    static const double nudges[] = {0.0, 0.0, 0x1p-52, 0x1p-50, 1e-12, 1e-9, 1e-6};
    static const double half = 0.70710678118654757;
    const rbQuat turns[] = {{1.0, 0.0, 0.0, 0.0},    {half, half, 0.0, 0.0}, {half, 0.0, half, 0.0},
                            {half, 0.0, 0.0, half},  {0.0, 1.0, 0.0, 0.0},   {0.5, 0.5, 0.5, 0.5},
                            {half, -half, 0.0, 0.0}, {0.0, 0.0, half, half}};
    rbTransform pose = {.q = turns[rbRandom_Index(random, 8)]};
    if (place % 4 == 3) {
        rbVec3 v = drawIn(random, place % 8 == 3 ? 1e-6 : 1.0);
        pose.q = rbNormalizeQuat((rbQuat){1.0, v.x, v.y, v.z});
    }
    if (place % 5 != 0) {
        double x = rbRandom_Index(random, 17) - 8, y = rbRandom_Index(random, 17) - 8;
        double z = rbRandom_Index(random, 17) - 8;
        double scale = place % 7 == 0 ? 100.0 : 0.125;
        pose.p = rbScale(scale, rbMakeVec3(place % 3 == 0 ? 0.0 : x, place % 2 == 0 ? 0.0 : y, z));
    }
    rbVec3 nudge = drawIn(random, nudges[rbRandom_Index(random, 7)]);
    pose.p = rbAdd(pose.p, nudge);
    return pose;
}

static uint64_t hashVector(uint64_t hash, rbVec3 v)
{
    return rbHashDoubles(hash, (const double[]){v.x, v.y, v.z}, 3);
}

static uint64_t hashSeparation(uint64_t hash, const rbSeparation* s)
{
    const double numbers[] = {s->distance, s->lower, s->upper, s->iterations, (double)s->reason};
    uint64_t h = hashVector(hashVector(hash, s->pointA), s->pointB);
    return rbHashDoubles(hashVector(h, s->normal), numbers, 5);
}

static uint64_t hashGjk(uint64_t hash, const rbGjkResult* r)
{
    const double numbers[] = {r->lower,      r->upper,          r->overlaps,
                              r->iterations, (double)r->reason, r->simplexCount};
    uint64_t h = rbHashDoubles(hash, numbers, 6);
    h = hashVector(hashVector(hashVector(h, r->a), r->b), r->normal);
    for (int i = 0; i < r->simplexCount; ++i) {
        h = rbHashDoubles(hashVector(h, r->simplex[i].w), &r->weights[i], 1);
        const double vertices[2] = {r->simplex[i].vertexA, r->simplex[i].vertexB};
        h = rbHashDoubles(h, vertices, 2);
    }
    return h;
}

// Cold, with few iterations, loose, stopped by a distance, tightened.
static uint64_t hashDistances(uint64_t hash, const rbCso* cso)
{
    uint64_t h = hash;
    for (int i = 0; i < 6; ++i) {
        rbGjkSettings settings = rbDefaultGjkSettings();
        settings.iterationMax = i == 1 ? 1 : i == 2 ? 3 : 100;
        settings.relativeTolerance = i == 3 ? 1e-2 : i == 4 ? 0.0 : 1e-12;
        settings.distanceMax = i == 5 ? 0.25 : (double)INFINITY;
        settings.distanceMin = i == 5 ? 0.125 : 0.0;
        rbGjkResult r = rbGjk_Distance(cso, &settings, NULL);
        h = hashGjk(h, &r);
        if (!r.overlaps && i < 3) {
            rbGjk_Tighten(cso, &settings, &r);
            h = hashGjk(h, &r);
        }
    }
    const double answers[] = {rbGjk_Overlaps(cso, 0.0, NULL), rbGjk_Overlaps(cso, 0.25, NULL),
                              (double)rbTestPortal(cso, 0.0), (double)rbTestPortal(cso, 0.125),
                              rbGjk_GetRounding(cso)};
    return rbHashDoubles(h, answers, 5);
}

// Without Newton, without caps, with limits of all kinds.
static rbEpaSettings settingsOf(int i)
{
    rbEpaSettings settings = rbDefaultEpaSettings();
    settings.enableNewton = i % 2 == 0;
    settings.enableSphereCap = i < 4;
    settings.iterationMax = i == 5 ? 1 : i == 6 ? 3 : settings.iterationMax;
    settings.pointLimit = i == 7 ? 5 : settings.pointLimit;
    settings.faceLimit = i == 3 ? 8 : settings.faceLimit;
    settings.relativeTolerance = i == 1 ? 0.0 : i == 4 ? 1e-3 : settings.relativeTolerance;
    return settings;
}

// From nothing, the simplex of GJK, and starts that repeat points; with limits.
static uint64_t hashDepths(uint64_t hash, const rbCso* cso, rbRandom* random)
{
    static rbEpaScratch scratch;
    uint64_t h = hash;
    rbGjkResult found = rbGjk_Distance(cso, NULL, NULL);
    rbCsoPoint starts[4];
    for (int i = 0; i < 4; ++i) {
        rbVec3 direction = drawIn(random, 1.0);
        starts[i] = i > 0 && rbRandom_Index(random, 3) == 0 ? starts[i - 1]
                                                            : rbCso_Support(cso, direction, NULL);
    }
    for (int i = 0; i < 8; ++i) {
        rbEpaSettings settings = settingsOf(i);
        const rbCsoPoint* start = i % 4 == 0 ? NULL : i < 4 ? starts : found.simplex;
        int count = i % 4 == 0 ? 0 : i < 4 ? i + 1 : found.simplexCount;
        if (i >= 4 && !found.overlaps) {
            continue;
        }
        rbEpaResult r = rbEpa_Depth(cso, start, count, &settings, &scratch);
        const double numbers[] = {r.depth,      r.lower,    r.upper,
                                  r.iterations, r.supports, (double)r.reason};
        h = rbHashDoubles(h, numbers, 6);
        h = hashVector(hashVector(hashVector(h, r.a), r.b), r.normal);
        rbSeparation s = rbEpa_Separation(cso, &r);
        h = hashSeparation(h, &s);
    }
    bool isGuessed = rbEpa_GuessStart(cso, starts);
    h = rbHashDoubles(h, (const double[]){isGuessed}, 1);
    for (int i = 0; i < 4 && isGuessed; ++i) {
        h = hashVector(h, starts[i].w);
    }
    return h;
}

static void checkHash(const char* what, uint64_t hash, uint64_t expected)
{
    if (hash != expected) {
        fail_msg("%s: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u", what, hash, expected);
    }
}

static void specialPairsHaveTheSameBits(void** state)
{
    (void)state;
    Bodies bodies;
    makeBodies(&bodies);
    rbRandom random = {91};
    uint64_t distances = RB_HASH_SEED, depths = RB_HASH_SEED;
    for (int a = 0; a < BODIES; ++a) {
        for (int b = 0; b < BODIES; ++b) {
            for (int place = 0; place < PLACES; ++place) {
                rbTransform pose = drawPose(&random, place);
                rbCso cso = rbCso_Make(&bodies.convex[a], &bodies.convex[b], pose);
                distances = hashDistances(distances, &cso);
                if (rbLengthSquared(pose.p) < 16.0) {
                    depths = hashDepths(depths, &cso, &random);
                }
            }
        }
    }
    destroyBodies(&bodies);
    checkHash("distances", distances, 0x40f4c9de49f36b14u);
    checkHash("depths", depths, 0xc4b7e6dcf3dcd6d9u);
}

// Lengths whose squares, or the squares of those, are at the ends of the range of double.
static void extremeSizesHaveTheSameBits(void** state)
{
    (void)state;
    static const double sizes[] = {0x1p-250, 0x1p-200, 0x1p-120, 0x1p120, 0x1p200, 0x1p250};
    rbRandom random = {95};
    uint64_t hash = RB_HASH_SEED;
    for (int k = 0; k < 3000; ++k) {
        double size = sizes[k % 6];
        rbVec3 points[2][4];
        rbConvex bodies[2];
        for (int i = 0; i < 8; ++i) {
            rbVec3 p = drawIn(&random, size);
            points[i / 4][i % 4] = k % 4 == 0 ? rbMakeVec3(p.x, p.y, 0.0) : p;
        }
        rbTransform pose = drawPose(&random, k % 60);
        pose.p = rbScale(0.5 * size, pose.p);
        for (int i = 0; i < 2; ++i) {
            rbConvex_MakePoints(points[i], 1 + (k + i) % 4, 2.0 * size, 0.0, &bodies[i]);
        }
        rbCso cso = rbCso_Make(&bodies[0], &bodies[1], pose);
        hash = hashDistances(hash, &cso);
    }
    checkHash("sizes", hash, 0xab6191b2f19aca13u);
}

// Differences so thin that their faces have no normals, from rounding up.
static void needlesHaveTheSameBits(void** state)
{
    (void)state;
    rbRandom random = {96};
    uint64_t hash = RB_HASH_SEED;
    for (int k = 0; k < 2000; ++k) {
        double thin = ldexp(1.0, -30 - k % 26);
        rbVec3 points[2][6];
        rbConvex bodies[2];
        for (int i = 0; i < 12; ++i) {
            rbVec3 p = drawIn(&random, thin);
            p.x += i % 2 == 0 ? 0.5 : -0.5;
            p.z = k % 3 == 0 ? 0.0 : p.z;
            points[i / 6][i % 6] = k % 5 == 0 ? rbMakeVec3(p.y, p.x, p.z) : p;
        }
        rbTransform pose = RB_TRANSFORM_IDENTITY;
        pose.p = k % 7 == 0 ? drawIn(&random, thin) : RB_VEC3_ZERO;
        rbConvex_MakePoints(points[0], 6, 0.6, 0.0, &bodies[0]);
        rbConvex_MakePoints(points[1], k % 2 == 0 ? 1 : 6, 0.6, 0.0, &bodies[1]);
        if (k % 2 == 0) { // the point is in the middle of the needle
            points[1][0] = rbScale(0.5, rbAdd(points[0][0], points[0][1]));
        }
        rbCso cso = rbCso_Make(&bodies[0], &bodies[1], pose);
        hash = hashDepths(hashDistances(hash, &cso), &cso, &random);
    }
    checkHash("needles", hash, 0xdb9ac523e6d9eabfu);
}

// Pairs that slide, turn and jump with one cache; what the cache holds counts as well.
static void cachesCarryTheSameBits(void** state)
{
    (void)state;
    Bodies bodies;
    makeBodies(&bodies);
    rbRandom random = {92};
    uint64_t hash = RB_HASH_SEED;
    for (int a = 0; a < BODIES; ++a) {
        for (int b = 0; b < BODIES; ++b) {
            rbGjkCache cache = {0};
            rbTransform pose = drawPose(&random, 1);
            for (int step = 0; step < 12; ++step) {
                rbVec3 move = drawIn(&random, step % 4 == 0 ? 1e-9 : 0.05);
                pose.p = rbAdd(pose.p, move);
                pose.q = step == 6 ? (rbQuat){0.5, 0.5, -0.5, 0.5} : pose.q;
                pose.p = step == 9 ? rbNeg(pose.p) : pose.p;
                rbCso cso = rbCso_Make(&bodies.convex[a], &bodies.convex[b], pose);
                rbGjkSettings settings = rbDefaultGjkSettings();
                settings.distanceMax = step % 3 == 2 ? 0.5 : (double)INFINITY;
                rbGjkResult r = rbGjk_Distance(&cso, &settings, &cache);
                hash = hashGjk(hash, &r);
                bool overlaps = rbGjk_Overlaps(&cso, 0.0625 * (step % 3), &cache);
                const double numbers[] = {overlaps, cache.count, cache.vertexA[0],
                                          cache.vertexB[0]};
                hash = rbHashDoubles(hash, numbers, 4);
                hash = hashVector(hash, cache.direction);
            }
        }
    }
    destroyBodies(&bodies);
    checkHash("caches", hash, 0x5acb57244e3f2742u);
}

// Points anywhere, on a line, in a plane, twice, at the origin.
static void simplicesHaveTheSameBits(void** state)
{
    (void)state;
    rbRandom random = {93};
    uint64_t hash = RB_HASH_SEED;
    for (int k = 0; k < 20000; ++k) {
        rbCsoPoint points[4] = {{.vertexA = 0}};
        int count = 1 + k % 4;
        bool isWhole = k % 3 == 0;
        for (int i = 0; i < count; ++i) {
            rbVec3 w = drawIn(&random, isWhole ? 2.5 : 1.0);
            w = isWhole ? rbMakeVec3(floor(w.x), floor(w.y), floor(w.z)) : w;
            w = k % 5 == 1 && i > 1
                    ? rbAddScaled(points[0].w, 0.3 * i, rbSub(points[1].w, points[0].w))
                    : w;
            w = k % 11 == 0 ? rbMakeVec3(w.x, w.y, 1e-9 * w.z) : w;
            w = k % 13 == 0 && i == 2 ? points[0].w : w;
            points[i].w = w;
        }
        for (int way = 0; way < 2; ++way) {
            rbNearest nearest = {.lengthSquared = 0.0};
            (way == 0 ? rbFindNearest : rbFindNearestByTrial)(points, count, &nearest);
            hash = hashVector(hashVector(hash, nearest.v), nearest.axis);
            hash = rbHashDoubles(hash, nearest.weights, (size_t)count);
            hash = rbHashDoubles(hash, (const double[]){nearest.lengthSquared, nearest.used}, 2);
            rbRefineWeights(points, count, nearest.weights);
            hash = rbHashDoubles(hash, nearest.weights, (size_t)count);
            hash = hashVector(hash, rbCombine(points, count, nearest.weights));
        }
    }
    checkHash("simplices", hash, 0x9fd17edb47b1a854u);
}

// Boxes with parallel edges and faces in one plane; ellipsoids of aspects around the limit.
static void proofsHaveTheSameAnswers(void** state)
{
    (void)state;
    static const double aspects[] = {1.0, 0.5, 0.2, 0.125, 1.0 / 5.48, 1.0 / 5.47, 1.0 / 30.0};
    rbRandom random = {94};
    uint64_t hash = RB_HASH_SEED;
    for (int k = 0; k < 20000; ++k) {
        rbTransform pose = drawPose(&random, k % 60);
        rbVec3 a = {1.0, 0.5, aspects[rbRandom_Index(&random, 7)]};
        rbVec3 b = {0.5, 0.25, 0.125 * (1 + rbRandom_Index(&random, 8))};
        double reach = k % 2 == 0 ? 0.0 : 0.125;
        rbVec3 ball = {a.z, a.z, a.z};
        rbVec3 even = {1.0, 1.0, a.z};
        const double answers[] = {
            (double)rbTestBoxes(a, b, pose, reach), (double)rbTestBoxes(ball, a, pose, reach),
            (double)rbTestEllipsoids(a, b, pose), (double)rbTestEllipsoids(ball, b, pose),
            (double)rbTestEllipsoids(even, even, pose)};
        hash = rbHashDoubles(hash, answers, 5);
    }
    checkHash("proofs", hash, 0x2145d6bb193e62f0u);
}

RB_TEST_GROUP(golden_special, cmocka_unit_test(specialPairsHaveTheSameBits),
              cmocka_unit_test(extremeSizesHaveTheSameBits),
              cmocka_unit_test(needlesHaveTheSameBits), cmocka_unit_test(cachesCarryTheSameBits),
              cmocka_unit_test(simplicesHaveTheSameBits),
              cmocka_unit_test(proofsHaveTheSameAnswers));
