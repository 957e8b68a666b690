// Distances of random and of difficult pairs: bounds against brute force, certificates and
// symmetries.
#include "collision/convex/gjk.h"
#include "gjk_oracle.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <float.h>
#include <string.h>

static rbVec3 randomVec3(rbRandom* random, double size)
{
    double x = rbRandom_Symmetric(random);
    double y = rbRandom_Symmetric(random);
    double z = rbRandom_Symmetric(random);
    return rbMakeVec3(size * x, size * y, size * z);
}

static double randomSize(rbRandom* random)
{
    return rbRandom_Range(random, 0.2, 1.5);
}

static rbVec3 randomSizes(rbRandom* random)
{
    double x = randomSize(random);
    double y = randomSize(random);
    double z = randomSize(random);
    return rbMakeVec3(x, y, z);
}

#define CONVEX_KINDS 7
#define POLYTOPE_KINDS 4

// The kinds below POLYTOPE_KINDS are polytopes.
static rbGeometry* makeShape(rbRandom* random, int kind)
{
    rbVec3 points[14];
    int count = 4 + rbRandom_Index(random, 11);
    double x = randomSize(random);
    double y = randomSize(random);
    rbError error = {0};
    rbGeometry* made = NULL;
    if (kind == 0) {
        made = rbCreateBox(randomSizes(random), &error);
    } else if (kind == 1) {
        for (int i = 0; i < count; ++i) {
            points[i] = randomVec3(random, 1.3);
        }
        made = rbCreateHull(points, count, &error);
    } else if (kind == 2) {
        made = rbCreateCapsule(x, y, &error);
    } else if (kind == 3) {
        made = rbCreateSphere(x, &error);
    } else if (kind == 4) {
        made = rbCreateEllipsoid(randomSizes(random), &error);
    } else if (kind == 5) {
        made = rbCreateCylinder(x, y, &error);
    } else {
        made = rbCreateCone(x, y, &error);
    }
    if (made == NULL) {
        fail_msg("%s", error.message);
    }
    return made;
}

typedef struct Pair {
    rbGeometry* geometry[2];
    rbConvex convex[2];
    rbTransform pose;
    rbCso cso;
} Pair;

static void makePair(Pair* pair, rbRandom* random, int kindA, int kindB, double distance)
{
    int kinds[2] = {kindA, kindB};
    for (int i = 0; i < 2; ++i) {
        pair->geometry[i] = makeShape(random, kinds[i]);
        double round = rbRandom_Unit(random) < 0.3 ? rbRandom_Range(random, 0.0, 0.5) : 0.0;
        assert_true(rbConvex_Make(pair->geometry[i], round, &pair->convex[i]));
    }
    pair->pose.p = rbScale(distance, rbNormalize(randomVec3(random, 1.0)));
    pair->pose.q = rbRandom_Quat(random);
    pair->cso = rbCso_Make(&pair->convex[0], &pair->convex[1], pair->pose);
}

static void freePair(Pair* pair)
{
    rbDestroyGeometry(pair->geometry[0]);
    rbDestroyGeometry(pair->geometry[1]);
}

// Properties of every answer, whatever the pair.
static void checkSane(const rbCso* cso, const rbGjkResult* r)
{
    assert_true(r->lower >= 0.0 && r->lower <= r->upper && isfinite(r->upper));
    assert_true(rbIsFinite3(r->a) && rbIsFinite3(r->b));
    checkNear(rbLength(r->normal), 1.0, 1e-14);
    assert_true(r->iterations >= 0 && r->iterations <= 121); // 100, first, cache, touch
    assert_true(r->simplexCount >= 1 && r->simplexCount <= 4);
    double rounding = rbGjk_GetRounding(cso);
    checkNear(rbDistance(r->a, r->b), r->upper, 2.0 * rounding + 4.0 * DBL_EPSILON * r->upper);
    rbWide sum = 0.0L;
    Wide3 a = {0};
    Wide3 b = {0};
    for (int i = 0; i < r->simplexCount; ++i) {
        assert_true(r->weights[i] >= 0.0);
        sum += (rbWide)r->weights[i];
        a = wideSum(a, (rbWide)r->weights[i], wide(r->simplex[i].a));
        b = wideSum(b, (rbWide)r->weights[i], wide(r->simplex[i].b));
    }
    checkNear((double)sum, 1.0, 8.0 * DBL_EPSILON);
    Wide3 da = wideSub(a, wide(r->a));
    Wide3 db = wideSub(b, wide(r->b));
    checkBelow((double)rbWideSqrt(wideDot(da, da) + wideDot(db, db)), rounding);
    // the witnesses are points of the cores
    checkBelow((double)oracleExcess(cso->a, wide(r->a)), 2.0 * rounding);
    checkBelow((double)oracleExcess(cso->b, wideMoveBack(cso, r->b)), 2.0 * rounding);
    // the lower bound is not above the distance of the witnesses, the upper bound not below any
    // plane
    rbWide plane = oraclePlane(cso, wide(r->normal));
    assert_true(plane <= (rbWide)r->upper);
}

static void checkBracket(const rbCso* cso, const rbGjkResult* r, rbWide truth, rbWide slab)
{
    if (!((rbWide)r->lower <= truth && slab <= (rbWide)r->upper)) {
        fail_msg("%.17g <= %.17g <= %.17g is false, scale %g, reason %s", r->lower, (double)truth,
                 r->upper, cso->scale, rbStopReason_Text(r->reason));
    }
}

// G-06, G-07, G-18
static void polytopePairsMatchBruteForce(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(301)};
    int count = rbTest_Count(6000, 300000);
    int apart = 0;
    for (int i = 0; i < count; ++i) {
        Pair pair;
        int kindA = rbRandom_Index(&random, POLYTOPE_KINDS);
        int kindB = rbRandom_Index(&random, POLYTOPE_KINDS);
        double distance = rbRandom_Range(&random, 0.0, 5.0);
        makePair(&pair, &random, kindA, kindB, distance);
        rbGjkResult r = rbGjk_Distance(&pair.cso, NULL, NULL);
        checkSane(&pair.cso, &r);
        rbWide slab;
        rbWide truth = oracleDistance(&pair.cso, &slab);
        checkBelow((double)(truth - slab), 1e-17);
        checkBracket(&pair.cso, &r, truth, slab);
        checkBelow(r.upper - r.lower, 1e-12 * r.upper + 4.0 * rbGjk_GetRounding(&pair.cso));
        assert_true(r.overlaps == (truth < (rbWide)rbGjk_GetRounding(&pair.cso)));
        assert_true(r.reason == (r.overlaps ? RB_STOP_TOUCHES : RB_STOP_CONVERGED));
        apart += truth > 0.0L ? 1 : 0;
        freePair(&pair);
    }
    assert_in_range(apart, count / 3, count - count / 20);
}

// G-08, G-18, G-24
static void smoothPairsAreBracketedByPlanesAndPoints(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(302)};
    int count = rbTest_Count(1500, 150000);
    for (int i = 0; i < count; ++i) {
        Pair pair;
        int kindA = 4 + rbRandom_Index(&random, 3);
        int kindB = rbRandom_Index(&random, CONVEX_KINDS);
        double distance = rbRandom_Range(&random, 0.0, 6.0);
        makePair(&pair, &random, kindA, kindB, distance);
        rbGjkResult r = rbGjk_Distance(&pair.cso, NULL, NULL);
        checkSane(&pair.cso, &r);
        if (!r.overlaps) {
            // the plane normal to the result proves a distance, raised to the truth where smooth
            rbWide plane = i % 8 == 0 ? oracleRaise(&pair.cso, r.normal)
                                      : oraclePlane(&pair.cso, wide(r.normal));
            double rounding = rbGjk_GetRounding(&pair.cso);
            assert_true(plane <= (rbWide)r.upper);
            checkBelow(r.lower - (double)plane, 1e-11 * r.upper + rounding);
            checkBelow(r.upper - r.lower, 1e-10 * r.upper + 16.0 * rounding);
            if (r.reason == RB_STOP_CONVERGED) {
                checkBelow(r.upper - r.lower, 1.01e-12 * r.upper + 4.0 * rounding);
            }
            assert_true(r.reason != RB_STOP_ITERATIONS);
        } else {
            checkBelow(r.upper, 1e-10 * pair.cso.scale);
        }
        freePair(&pair);
    }
}

// G-07, G-18
static void distanceDoesNotDependOnOrderOrFrame(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(303)};
    int count = rbTest_Count(2000, 200000);
    for (int i = 0; i < count; ++i) {
        Pair pair;
        int kindA = rbRandom_Index(&random, CONVEX_KINDS);
        int kindB = rbRandom_Index(&random, CONVEX_KINDS);
        double distance = rbRandom_Range(&random, 1.0, 6.0);
        makePair(&pair, &random, kindA, kindB, distance);
        rbGjkResult r = rbGjk_Distance(&pair.cso, NULL, NULL);
        rbCso swapped = rbCso_Make(&pair.convex[1], &pair.convex[0], rbInvertTransform(pair.pose));
        rbGjkResult s = rbGjk_Distance(&swapped, NULL, NULL);
        checkNear(s.upper, r.upper, 1e-10);
        checkNear(s.lower, r.lower, 1e-10);
        if (r.lower > 0.01) {
            rbVec3 back = rbRotate(pair.pose.q, s.normal);
            checkNear(rbDot(back, r.normal), -1.0, 1e-9);
        }
        // the same bodies moved by a common motion
        rbTransform worldA = {randomVec3(&random, 10.0), rbRandom_Quat(&random)};
        rbTransform worldB = rbMulTransforms(worldA, pair.pose);
        rbCso moved =
            rbCso_Make(&pair.convex[0], &pair.convex[1], rbInvMulTransforms(worldA, worldB));
        rbGjkResult m = rbGjk_Distance(&moved, NULL, NULL);
        checkNear(m.upper, r.upper, 1e-10);
        checkNear(m.lower, r.lower, 1e-10);
        freePair(&pair);
    }
}

// B-62, G-18, G-20
static void warmStartsGiveTheColdAnswer(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(304)};
    int count = rbTest_Count(300, 30000);
    long cold = 0;
    long warm = 0;
    for (int i = 0; i < count; ++i) {
        Pair pair;
        int kindA = rbRandom_Index(&random, CONVEX_KINDS);
        int kindB = rbRandom_Index(&random, CONVEX_KINDS);
        double distance = rbRandom_Range(&random, 1.5, 5.0);
        makePair(&pair, &random, kindA, kindB, distance);
        rbGjkCache cache = {0};
        rbGjkCache boolCache = {0};
        double speed = pow(10.0, rbRandom_Range(&random, -6.0, 0.0));
        for (int step = 0; step < 20; ++step) {
            rbVec3 turn = randomVec3(&random, 0.5 * speed);
            rbQuat q = {1.0, turn.x, turn.y, turn.z};
            pair.pose.q = rbNormalizeQuat(rbMulQuat(rbNormalizeQuat(q), pair.pose.q));
            pair.pose.p = rbAdd(pair.pose.p, randomVec3(&random, 0.2 * speed));
            pair.cso = rbCso_Make(&pair.convex[0], &pair.convex[1], pair.pose);
            rbGjkResult c = rbGjk_Distance(&pair.cso, NULL, NULL);
            rbGjkResult w = rbGjk_Distance(&pair.cso, NULL, &cache);
            checkSane(&pair.cso, &w);
            double tolerance = 1e-10 * c.upper + 32.0 * rbGjk_GetRounding(&pair.cso);
            checkNear(w.upper, c.upper, tolerance);
            checkNear(w.lower, c.lower, tolerance);
            assert_true(w.lower <= c.upper && c.lower <= w.upper);
            if (step > 0 && speed < 0.01) {
                cold += c.iterations;
                warm += w.iterations;
            }
            double reach = pair.convex[0].radius + pair.convex[1].radius;
            double margin = rbRandom_Range(&random, 0.0, 1.0);
            bool isNear = rbGjk_Overlaps(&pair.cso, margin, &boolCache);
            assert_true(isNear ? c.lower <= reach + margin : c.upper > reach + margin);
            assert_true(isNear == rbGjk_Overlaps(&pair.cso, margin, NULL) ||
                        fabs(c.upper - reach - margin) < 1e-10);
        }
        freePair(&pair);
    }
    assert_true(warm < cold); // a cache that does not help would also be a bug
}

// The same points and weights; the lower bound comes from the height of a support in one of them.
static bool isSameAnswer(const rbGjkResult* r, const rbGjkResult* s, double rounding)
{
    bool isSame = r->reason == s->reason && r->iterations == s->iterations &&
                  r->simplexCount == s->simplexCount && r->overlaps == s->overlaps &&
                  r->upper == s->upper && fabs(r->lower - s->lower) <= rounding &&
                  rbDistance(r->a, s->a) == 0.0 && rbDistance(r->b, s->b) == 0.0;
    for (int i = 0; i < r->simplexCount && isSame; ++i) {
        isSame = r->weights[i] == s->weights[i] && r->simplex[i].vertexA == s->simplex[i].vertexA &&
                 r->simplex[i].vertexB == s->simplex[i].vertexB &&
                 rbDistance(r->simplex[i].w, s->simplex[i].w) == 0.0;
    }
    return isSame;
}

// Boxes, capsules and spheres in slow motion, mostly answered from the cache; half of them with
// non-default settings.
// G-18, G-24
static void cachesOfBoxesAnswerAsTheSearchDoes(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(306)};
    int count = rbTest_Count(2000, 100000);
    static const int kinds[4] = {0, 0, 2, 3};
    long steps = 0;
    long confirmed = 0;
    long others = 0;
    for (int i = 0; i < count; ++i) {
        Pair pair;
        int kindA = kinds[rbRandom_Index(&random, 4)];
        int kindB = kinds[rbRandom_Index(&random, 3)];
        double distance = rbRandom_Range(&random, 1.0, 5.0);
        makePair(&pair, &random, kindA, kindB, distance);
        rbGjkSettings settings = rbDefaultGjkSettings();
        if (i % 2 == 1) {
            settings.relativeTolerance = pow(10.0, rbRandom_Range(&random, -16.0, 0.5));
            settings.distanceMin = rbRandom_Range(&random, 0.0, 1.0);
            settings.distanceMax = settings.distanceMin + rbRandom_Range(&random, 0.0, 3.0);
            settings.iterationMax = rbRandom_Index(&random, 5);
        }
        rbGjkCache cache = {0};
        double speed = pow(10.0, rbRandom_Range(&random, -6.0, -1.0));
        rbVec3 turn = randomVec3(&random, speed);
        rbQuat q = {1.0, turn.x, turn.y, turn.z};
        for (int step = 0; step < 10; ++step) {
            pair.pose.q = rbNormalizeQuat(rbMulQuat(rbNormalizeQuat(q), pair.pose.q));
            pair.cso = rbCso_Make(&pair.convex[0], &pair.convex[1], pair.pose);
            rbGjkCache copy = cache;
            rbGjkResult r = rbGjk_Distance(&pair.cso, &settings, &cache);
            rbGjkResult s;
            rbGjk_Search(&pair.cso, &settings, &copy, &s);
            checkSane(&pair.cso, &r);
            assert_true(r.lower <= s.upper && s.lower <= r.upper);
            assert_true((rbWide)r.lower <= rbWideMax(oraclePlane(&pair.cso, wide(r.normal)), 0.0L));
            steps += step > 0 ? 1 : 0;
            confirmed += step > 0 && r.iterations == 1 && r.reason == RB_STOP_CONVERGED ? 1 : 0;
            others += isSameAnswer(&r, &s, rbGjk_GetRounding(&pair.cso)) ? 0 : 1;
        }
        freePair(&pair);
    }
    assert_true(4 * confirmed > steps);
    checkBelow((double)others, 1.0 + 1e-3 * (double)steps); // gaps at the limit of the tolerance
}

static double garbage(rbRandom* random)
{
    static const double odd[] = {0.0,       -0.0,    1.0,     -1.0,     NAN,      INFINITY,
                                 -INFINITY, DBL_MIN, DBL_MAX, -DBL_MAX, 4.9e-324, 1e300};
    return rbRandom_Unit(random) < 0.5 ? odd[rbRandom_Index(random, 12)]
                                       : rbRandom_Symmetric(random);
}

static rbVec3 garbage3(rbRandom* random)
{
    double x = garbage(random);
    double y = garbage(random);
    double z = garbage(random);
    return rbMakeVec3(x, y, z);
}

// G-18, G-31
static void damagedCachesCostNoCorrectness(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(305)};
    int count = rbTest_Count(6000, 300000);
    for (int i = 0; i < count; ++i) {
        Pair pair;
        int kindA = rbRandom_Index(&random, CONVEX_KINDS);
        int kindB = rbRandom_Index(&random, CONVEX_KINDS);
        double distance = rbRandom_Range(&random, 0.0, 5.0);
        makePair(&pair, &random, kindA, kindB, distance);
        rbGjkCache cache;
        unsigned char* bytes = (unsigned char*)&cache;
        for (size_t k = 0; k < sizeof cache; ++k) {
            bytes[k] = (unsigned char)rbRandom_Bits(&random);
        }
        if (i % 4 != 0) {
            cache.count = rbRandom_Index(&random, 6) - 1;
            cache.direction = garbage3(&random);
            for (int k = 0; k < 4; ++k) {
                cache.directions[k] = garbage3(&random);
                cache.vertexA[k] = rbRandom_Index(&random, 12) - 2;
                cache.vertexB[k] = rbRandom_Index(&random, 12) - 2;
            }
        }
        rbGjkCache copy = cache;
        rbGjkResult c = rbGjk_Distance(&pair.cso, NULL, NULL);
        rbGjkResult w = rbGjk_Distance(&pair.cso, NULL, &cache);
        checkSane(&pair.cso, &w);
        assert_true(w.lower <= c.upper && c.lower <= w.upper);
        double tolerance = 1e-9 * c.upper + 64.0 * rbGjk_GetRounding(&pair.cso);
        checkNear(w.upper, c.upper, tolerance);
        checkNear(w.lower, c.lower, tolerance);
        bool isNear = rbGjk_Overlaps(&pair.cso, 0.1, &copy);
        double reach = pair.convex[0].radius + pair.convex[1].radius + 0.1;
        assert_true(isNear ? c.lower <= reach : c.upper > reach);
        freePair(&pair);
    }
}

// A difficult pose for the pair: touching, aligned, concentric, nearly so, far.
static rbTransform nastyPose(rbRandom* random, double sizeA, double sizeB)
{
    static const double turns[] = {0.0, 0.5 * RB_PI, RB_PI, 0.25 * RB_PI};
    static const double shifts[] = {0.0, 1.0, -1.0, 0.5, 1.0 + 1e-15, 1.0 + 1e-12, 1.0 - 1e-9, 2.0};
    rbTransform pose = {RB_VEC3_ZERO, RB_QUAT_IDENTITY};
    if (rbRandom_Unit(random) < 0.7) {
        double angle = 0.5 * turns[rbRandom_Index(random, 4)];
        double wobble =
            rbRandom_Unit(random) < 0.5 ? 0.0 : pow(10.0, rbRandom_Range(random, -17.0, -3.0));
        double s = sin(angle + wobble);
        int axis = rbRandom_Index(random, 3);
        pose.q = (rbQuat){cos(angle + wobble), axis == 0 ? s : 0.0, axis == 1 ? s : 0.0,
                          axis == 2 ? s : 0.0};
    } else {
        pose.q = rbRandom_Quat(random);
    }
    double sum = sizeA + sizeB;
    pose.p.x = sum * shifts[rbRandom_Index(random, 8)];
    pose.p.y = sum * shifts[rbRandom_Index(random, 8)];
    pose.p.z = sum * shifts[rbRandom_Index(random, 8)];
    if (rbRandom_Unit(random) < 0.1) {
        pose.p = rbScale(1e6, pose.p);
    }
    return pose;
}

static rbGeometry* makeNasty(rbRandom* random, double* size)
{
    static const double sizes[] = {1.0, 1.0, 1.0, 1e-9, 1e6};
    double s = sizes[rbRandom_Index(random, 5)];
    double thin = rbRandom_Unit(random) < 0.3 ? 1e-6 * s : s;
    *size = s;
    rbVec3 points[6];
    switch (rbRandom_Index(random, 7)) {
    case 0:
        return rbCreateBox(rbMakeVec3(s, thin, s), NULL);
    case 1:
        return rbCreateBox(rbMakeVec3(s, thin, thin), NULL);
    case 2:
        return rbCreateCapsule(thin, s, NULL);
    case 3:
        return rbCreateCylinder(thin, s, NULL);
    case 4:
        return rbCreateCone(s, thin, NULL);
    case 5:
        return rbCreateEllipsoid(rbMakeVec3(s, s, thin), NULL);
    default:
        for (int i = 0; i < 6; ++i) {
            points[i] = rbScale(s, randomVec3(random, 1.0));
        }
        return rbCreateHull(points, 6, NULL);
    }
}

// G-18, G-19, G-31, G-32
static void nastyPairsKeepTheirBounds(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(306)};
    int count = rbTest_Count(12000, 600000);
    int limited = 0;
    int loose = 0;
    for (int i = 0; i < count; ++i) {
        Pair pair;
        double size[2];
        for (int k = 0; k < 2; ++k) {
            pair.geometry[k] = makeNasty(&random, &size[k]);
            assert_non_null(pair.geometry[k]);
            assert_true(rbConvex_Make(pair.geometry[k], 0.0, &pair.convex[k]));
        }
        pair.cso =
            rbCso_Make(&pair.convex[0], &pair.convex[1], nastyPose(&random, size[0], size[1]));
        rbGjkResult r = rbGjk_Distance(&pair.cso, NULL, NULL);
        checkSane(&pair.cso, &r);
        limited += r.reason == RB_STOP_ITERATIONS ? 1 : 0;
        if (pair.convex[0].isPolytope && pair.convex[1].isPolytope) {
            rbWide slab;
            rbWide truth = oracleDistance(&pair.cso, &slab);
            checkBracket(&pair.cso, &r, truth, slab);
            // faces turned by about 1e-8 against each other can leave a gap of that size
            double gap = r.upper - r.lower - 1e-11 * r.upper;
            checkBelow(gap, 4.0 * sqrt(DBL_EPSILON) * pair.cso.scale);
            loose += gap > 1e-11 * pair.cso.scale ? 1 : 0;
        } else if (r.lower > 0.0) {
            rbWide plane = oraclePlane(&pair.cso, wide(r.normal));
            checkBelow(r.lower - (double)plane,
                       1e-7 * r.upper + 64.0 * rbGjk_GetRounding(&pair.cso));
        }
        freePair(&pair);
    }
    checkBelow(limited, 0.002 * count);
    checkBelow(loose, 2 + 0.0005 * count);
}

// G-24, G-31
static void earlyStopsAreHonest(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(307)};
    int count = rbTest_Count(300, 30000);
    for (int i = 0; i < count; ++i) {
        Pair pair;
        int kindA = rbRandom_Index(&random, CONVEX_KINDS);
        int kindB = rbRandom_Index(&random, CONVEX_KINDS);
        double distance = rbRandom_Range(&random, 1.0, 5.0);
        makePair(&pair, &random, kindA, kindB, distance);
        rbGjkResult best = rbGjk_Distance(&pair.cso, NULL, NULL);
        rbGjkSettings settings = rbDefaultGjkSettings();
        double upper = INFINITY;
        for (int limit = 0; limit < 12; ++limit) {
            settings.iterationMax = limit;
            rbGjkResult r = rbGjk_Distance(&pair.cso, &settings, NULL);
            checkSane(&pair.cso, &r);
            assert_true(r.lower <= best.upper && r.upper >= best.lower);
            checkBelow(r.upper, upper + 2.0 * rbGjk_GetRounding(&pair.cso));
            upper = r.upper;
            assert_true(r.iterations <= limit + 1);
        }
        settings = rbDefaultGjkSettings();
        for (int k = 1; k <= 13; k += 2) {
            double tolerance = pow(10.0, -k);
            settings.relativeTolerance = tolerance;
            rbGjkResult r = rbGjk_Distance(&pair.cso, &settings, NULL);
            assert_true(r.lower <= best.upper && r.upper >= best.lower);
            if (r.reason == RB_STOP_CONVERGED) {
                checkBelow(r.upper - r.lower,
                           1.01 * tolerance * r.upper + 4.0 * rbGjk_GetRounding(&pair.cso));
            }
        }
        settings.distanceMax = rbRandom_Range(&random, 0.0, 2.0);
        rbGjkResult r = rbGjk_Distance(&pair.cso, &settings, NULL);
        if (r.reason == RB_STOP_APART) {
            assert_true(r.lower > settings.distanceMax && best.upper > settings.distanceMax);
        } else {
            assert_true(r.lower <= settings.distanceMax);
        }
        freePair(&pair);
    }
}

// More searches only narrow the bounds: neither end moves back, the points still attain the upper
// one, the normal the lower one, and the work adds up.
// G-18, G-31
static void tighteningNeverLoosens(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(308)};
    int narrowed = 0;
    for (int i = 0; i < rbTest_Count(500, 30000); ++i) {
        Pair pair;
        makePair(&pair, &random, rbRandom_Index(&random, CONVEX_KINDS),
                 rbRandom_Index(&random, CONVEX_KINDS), rbRandom_Range(&random, 1.0, 5.0));
        rbGjkSettings settings = rbDefaultGjkSettings();
        settings.iterationMax = 1 + rbRandom_Index(&random, 4);
        rbGjkResult before = rbGjk_Distance(&pair.cso, &settings, NULL);
        rbGjkResult after = before;
        rbGjk_Tighten(&pair.cso, NULL, &after);
        if (before.reason != RB_STOP_ITERATIONS && before.reason != RB_STOP_ROUNDING) {
            assert_memory_equal(&after, &before, sizeof after);
        } else {
            rbGjkResult best = rbGjk_Distance(&pair.cso, NULL, NULL);
            assert_true(after.lower >= before.lower && after.upper <= before.upper);
            assert_true(after.lower <= best.upper && after.upper >= best.lower);
            assert_true(after.iterations >= before.iterations);
            assert_true(after.iterations > before.iterations || after.upper == before.upper);
            double rounding = rbGjk_GetRounding(&pair.cso);
            checkNear(rbDistance(after.a, after.b), after.upper, 4.0 * rounding);
            double plane = (double)oraclePlane(&pair.cso, wide(after.normal));
            checkBelow(after.lower, fmax(0.0, plane) + rounding);
            narrowed += after.upper < before.upper && after.lower > before.lower;
        }
        freePair(&pair);
    }
    assert_true(narrowed > 5);
}

RB_TEST_GROUP(prop_gjk, cmocka_unit_test(polytopePairsMatchBruteForce),
              cmocka_unit_test(smoothPairsAreBracketedByPlanesAndPoints),
              cmocka_unit_test(distanceDoesNotDependOnOrderOrFrame),
              cmocka_unit_test(warmStartsGiveTheColdAnswer),
              cmocka_unit_test(cachesOfBoxesAnswerAsTheSearchDoes),
              cmocka_unit_test(damagedCachesCostNoCorrectness),
              cmocka_unit_test(nastyPairsKeepTheirBounds), cmocka_unit_test(earlyStopsAreHonest),
              cmocka_unit_test(tighteningNeverLoosens));
