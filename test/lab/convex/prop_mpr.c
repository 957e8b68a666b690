// MPR compared with GJK and EPA on random and difficult pairs of all convex shapes, its exit
// translation checked by applying it, and the statistics of its normals (G-34).
#include "collision/convex/epa.h"
#include "collision/convex/gjk.h"
#include "lab/convex/mpr.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <float.h>
#include <math.h>

static rbEpaScratch scratch;

#define KINDS 7
#define VARIANTS 6
#define POOL_PAIRS 1500 // pairs drawn from a pool of shapes before the pool is replaced

// Near touching the answers of two methods may differ. MPR reports separation where a plane proves
// more than 24 units of rounding, and overlap where a point of the difference is within 2 units of
// the origin, both widened by 24 for the arithmetic: 96 units. GJK and EPA stop within 16 units of
// their own. Twice the sum, in units of DBL_EPSILON times the size of the pair.
#define BAND_UNITS 256.0
// The uncertainty that GJK may leave in rare cases (gjk.h), where it decides for MPR.
#define FALLBACK_BAND 1e-8

typedef struct Pool {
    rbGeometry* shapes[KINDS][VARIANTS];
} Pool;

static rbRandom startRandom(uint64_t salt)
{
    return (rbRandom){.state = rbTest_Seed(salt)};
}

static double randomLength(rbRandom* random, bool isNasty)
{
    static const double lengths[] = {1e-9, 1e-6, 1e-3, 0.1, 1.0, 1.0, 1e3, 1e6};
    return isNasty && rbRandom_Index(random, 2) == 0 ? lengths[rbRandom_Index(random, 8)]
                                                     : rbRandom_Range(random, 0.1, 1.5);
}

static rbGeometry* makeShape(rbRandom* random, int kind, bool isNasty)
{
    double x = randomLength(random, isNasty);
    double y = randomLength(random, isNasty);
    double z = randomLength(random, isNasty);
    rbVec3 sizes = {x, y, z};
    rbVec3 points[40];
    int count = 4 + rbRandom_Index(random, 37);
    rbVec3 shift = rbScale(2.0 * x, rbRandom_Direction(random)); // the frame is anywhere
    rbGeometry* made = NULL;
    if (kind == 0) {
        made = rbCreateBox(sizes, NULL);
    } else if (kind == 1) {
        for (int i = 0; i < count; ++i) {
            points[i] = rbAddScaled(shift, x, rbRandom_Direction(random));
        }
        made = rbCreateHull(points, count, NULL);
    } else if (kind == 2) {
        made = rbCreateCapsule(x, y, NULL);
    } else if (kind == 3) {
        made = rbCreateSphere(x, NULL);
    } else if (kind == 4) {
        made = rbCreateEllipsoid(sizes, NULL);
    } else if (kind == 5) {
        made = rbCreateCylinder(x, y, NULL);
    } else {
        made = rbCreateCone(x, y, NULL);
    }
    // four random points may be flat to rounding
    return made != NULL ? made : rbCreateBox(sizes, NULL);
}

static void fillPool(Pool* pool, rbRandom* random, bool isNasty)
{
    for (int i = 0; i < KINDS * VARIANTS; ++i) {
        pool->shapes[i / VARIANTS][i % VARIANTS] = makeShape(random, i / VARIANTS, isNasty);
        assert_non_null(pool->shapes[i / VARIANTS][i % VARIANTS]);
    }
}

static void emptyPool(Pool* pool)
{
    for (int i = 0; i < KINDS * VARIANTS; ++i) {
        rbDestroyGeometry(pool->shapes[i / VARIANTS][i % VARIANTS]);
    }
}

typedef struct Pair {
    rbConvex convex[2];
    rbTransform pose;
    rbCso cso;
    double radii;
    double size; // of the pair: the scale of rounding
} Pair;

static void place(Pair* pair, rbTransform pose)
{
    pair->pose = pose;
    pair->cso = rbCso_Make(&pair->convex[0], &pair->convex[1], pose);
    pair->radii = pair->convex[0].radius + pair->convex[1].radius;
    pair->size = pair->cso.scale + pair->radii;
}

static rbTransform randomPose(const Pair* pair, rbRandom* random)
{
    const rbConvex* a = &pair->convex[0];
    const rbConvex* b = &pair->convex[1];
    double reach = a->size + b->size + a->radius + b->radius;
    rbTransform pose = {rbScale(reach * rbRandom_Unit(random), rbRandom_Direction(random)),
                        rbRandom_Quat(random)};
    int kind = rbRandom_Index(random, 8);
    if (kind < 2) {
        pose.q = RB_QUAT_IDENTITY;
    }
    if (kind == 1) {
        pose.p = rbMakeVec3(0.0, 0.0, pose.p.z);
    } else if (kind == 2) {
        pose.p = rbSub(rbMpr_GetCenter(a), rbRotate(pose.q, rbMpr_GetCenter(b)));
    }
    return pose;
}

static void makePair(Pair* pair, Pool* pool, rbRandom* random)
{
    for (int i = 0; i < 2; ++i) {
        const rbGeometry* shape =
            pool->shapes[rbRandom_Index(random, KINDS)][rbRandom_Index(random, VARIANTS)];
        double round = rbRandom_Index(random, 4) == 0 ? rbRandom_Range(random, 0.0, 0.3) : 0.0;
        assert_true(rbConvex_Make(shape, round, &pair->convex[i]));
    }
    place(pair, randomPose(pair, random));
    if (rbRandom_Index(random, 3) == 0) {
        // next to touching
        static const double gaps[] = {0.0,   1e-12, -1e-12, 1e-10, -1e-10, 1e-8,
                                      -1e-8, 1e-6,  -1e-6,  1e-3,  -1e-3};
        rbGjkResult far = rbGjk_Distance(&pair->cso, NULL, NULL);
        double gap = gaps[rbRandom_Index(random, 11)] * pair->size;
        rbTransform pose = pair->pose;
        pose.p = rbAddScaled(pose.p, gap - (far.lower - pair->radii), far.normal);
        if (!far.overlaps) {
            place(pair, pose);
        }
    }
}

// Bounds of the signed distance of the bodies by GJK and EPA.
typedef struct Truth {
    double lower, upper;
} Truth;

static Truth measure(const Pair* pair)
{
    rbGjkResult gjk = rbGjk_Distance(&pair->cso, NULL, NULL);
    Truth truth = {gjk.lower, gjk.upper};
    if (gjk.overlaps) {
        rbEpaSettings settings = rbDefaultEpaSettings();
        rbEpaResult epa =
            rbEpa_Depth(&pair->cso, gjk.simplex, gjk.simplexCount, &settings, &scratch);
        truth.lower = -epa.upper;
        truth.upper = fmin(-epa.lower, gjk.upper);
    }
    double slack = 4.0 * DBL_EPSILON * pair->radii;
    return (Truth){truth.lower - pair->radii - slack, truth.upper - pair->radii + slack};
}

// Highest point of a body along d: the core and its radius.
static double heightOf(const Pair* pair, bool isB, rbVec3 d)
{
    rbVec3 along = isB ? d : rbNeg(d);
    rbCsoPoint point = rbCso_Support(&pair->cso, rbNeg(along), NULL);
    double height = rbDot(isB ? point.b : point.a, d);
    return height + pair->convex[isB ? 1 : 0].radius * rbLength(d);
}

// Properties of every answer, with the truth and by itself.
static void checkAnswer(const Pair* pair, const rbMprResult* r, Truth truth, rbVec3 probe)
{
    double rounding = 32.0 * DBL_EPSILON * pair->size;
    double band = (r->isFallback ? FALLBACK_BAND : BAND_UNITS * DBL_EPSILON) * pair->size;
    assert_true(rbIsFinite3(r->a) && rbIsFinite3(r->b) && rbIsFinite3(r->normal));
    assert_true(isfinite(r->lower) && isfinite(r->upper) && isfinite(r->travel));
    assert_true(r->lower <= r->distance && r->distance <= r->upper && r->travel >= 0.0);
    assert_true(r->overlaps || r->lower > 0.0);
    checkNear(rbLength(r->normal), 1.0, 1e-14);
    if (truth.lower > band || truth.upper < -band) {
        assert_true(r->reason == RB_STOP_ITERATIONS || r->overlaps == (truth.upper < 0.0));
    }
    assert_true(r->lower <= truth.upper && r->upper >= truth.lower);
    // the plane proves the lower bound
    double h = heightOf(pair, false, r->normal) + heightOf(pair, true, rbNeg(r->normal));
    assert_true(-h >= r->lower - rounding);
    if (!r->isFallback) {
        checkNear(r->distance, -h, 2.0 * rounding);
    }
    // the points belong to the bodies
    checkBelow(rbDot(r->a, probe), heightOf(pair, false, probe) + 4.0 * rounding);
    checkBelow(rbDot(r->b, probe), heightOf(pair, true, probe) + 4.0 * rounding);
    if (!r->overlaps) {
        checkBelow(rbDistance(r->a, r->b), r->upper + rounding);
    }
    rbSeparation s = rbMpr_Separation(r);
    rbVec3 between = rbSub(rbSub(s.pointB, s.pointA), rbScale(s.distance, s.normal));
    checkBelow(rbLength(between), rounding);
}

static void checkPairs(uint64_t salt, int count, bool isNasty)
{
    rbRandom random = startRandom(salt);
    Pool pool = {{{NULL}}};
    int overlapping = 0;
    int fallbacks = 0;
    int farFallbacks = 0;
    int undecided = 0;
    double supports = 0.0;
    int supportMax = 0;
    for (int i = 0; i < count; ++i) {
        if (i % POOL_PAIRS == 0) {
            emptyPool(&pool);
            fillPool(&pool, &random, isNasty);
        }
        Pair pair;
        makePair(&pair, &pool, &random);
        rbVec3 probe = rbRandom_Direction(&random);
        Truth truth = measure(&pair);
        rbMprResult detected = rbMpr_Detect(&pair.cso, NULL);
        rbMprResult deep = rbMpr_Penetration(&pair.cso, NULL);
        checkAnswer(&pair, &detected, truth, probe);
        checkAnswer(&pair, &deep, truth, probe);
        bool overlaps = rbMpr_Overlaps(&pair.cso);
        double away = fmax(truth.lower, -truth.upper);
        if (away > FALLBACK_BAND * pair.size) { // nearer to touching both results are accepted
            assert_int_equal(detected.overlaps, deep.overlaps);
            assert_true(overlaps == detected.overlaps || detected.reason == RB_STOP_ITERATIONS);
        }
        if (detected.overlaps && !detected.isFallback && detected.reason == RB_STOP_TOUCHES) {
            checkBelow(rbDistance(detected.a, detected.b), 96.0 * DBL_EPSILON * pair.size);
        }
        overlapping += detected.overlaps ? 1 : 0;
        fallbacks += detected.isFallback ? 1 : 0;
        farFallbacks += detected.isFallback && away > 1e-6 * pair.size ? 1 : 0;
        undecided += detected.reason == RB_STOP_ITERATIONS ? 1 : 0;
        supports += detected.iterations;
        supportMax = detected.iterations > supportMax ? detected.iterations : supportMax;
    }
    emptyPool(&pool);
    print_message("%d pairs, %d overlapping; left to GJK: %d, of these %d not near touching; "
                  "undecided %d; supports %.1f, at most %d\n",
                  count, overlapping, fallbacks, farFallbacks, undecided, supports / count,
                  supportMax);
    assert_true(overlapping > count / 4 && overlapping < count - count / 10);
    if (!isNasty) {
        // this tests MPR only
        assert_true(fallbacks < count / 25);
        assert_int_equal(farFallbacks, 0);
        assert_int_equal(undecided, 0);
    }
}

// G-33
static void detectionAgreesWithGjkAndEpa(void** state)
{
    (void)state;
    checkPairs(331, rbTest_Count(30000, 300000), false);
}

// G-33, E-19: from a nanometer to a thousand kilometers in one pair.
static void nastyPairsKeepTheirBounds(void** state)
{
    (void)state;
    checkPairs(332, rbTest_Count(6000, 300000), true);
}

// G-34 (b): B moved by the exit translation does not overlap, moved by slightly less it does.
static void theWayOutPartsTheBodies(void** state)
{
    (void)state;
    rbRandom random = startRandom(341);
    int count = rbTest_Count(4000, 100000);
    int walked = 0;
    Pool pool = {{{NULL}}};
    for (int i = 0; i < count; ++i) {
        if (i % POOL_PAIRS == 0) {
            emptyPool(&pool);
            fillPool(&pool, &random, false);
        }
        Pair pair;
        makePair(&pair, &pool, &random);
        rbVec3 u = rbRandom_Direction(&random);
        Truth truth = measure(&pair);
        rbMprResult r = rbMpr_PenetrationAlong(&pair.cso, rbScale(3.0, u), NULL);
        checkAnswer(&pair, &r, truth, u);
        if (truth.upper > -1e-6 * pair.size) {
            continue;
        }
        assert_int_equal(r.reason, RB_STOP_CONVERGED);
        rbVec3 way = rbSub(r.a, r.b);
        checkBelow(rbLength(rbCross(way, u)), 1e-9 * pair.size);
        // the portal is behind the plane by at most the tolerance, 1e-6 of the depth along the
        // normal
        double behind = r.travel * rbDot(r.normal, u) - rbDot(r.normal, way);
        assert_true(behind >= -1e-12 * pair.size);
        checkBelow(behind, -1.01e-6 * r.distance + 1e-8 * pair.size); // slivers
        Pair moved = pair;
        rbTransform pose = pair.pose;
        pose.p = rbAddScaled(pose.p, r.travel + 1e-12 * pair.size, u);
        place(&moved, pose);
        assert_true(measure(&moved).upper > -1e-11 * pair.size);
        // rounding of the plane moves a grazing intersection far
        double less = rbDot(way, u) - (2e-9 + 1e-12 / rbDot(r.normal, u)) * pair.size;
        pose.p = rbAddScaled(pair.pose.p, fmax(0.0, less), u);
        place(&moved, pose);
        assert_true(rbGjk_Overlaps(&moved.cso, 0.0, NULL));
        ++walked;
    }
    emptyPool(&pool);
    assert_true(walked > count / 4);
}

// G-34: how often the portal normal of random boxes deviates from the true one. This is the
// documented weakness of the method, not a virtue: the specification has 37.6 % beyond 1 degree,
// mean 17.
static void portalNormalsOfBoxesAreOftenWrong(void** state)
{
    (void)state;
    rbRandom random = startRandom(342);
    int count = rbTest_Count(4000, 100000);
    int contacts = 0;
    int off = 0;
    double sum = 0.0;
    double largest = 0.0;
    double excess = 0.0;
    while (contacts < count) {
        double x[6];
        for (int k = 0; k < 6; ++k) {
            x[k] = rbRandom_Range(&random, 0.5, 1.0);
        }
        rbGeometry* boxes[2] = {rbCreateBox(rbMakeVec3(x[0], x[1], x[2]), NULL),
                                rbCreateBox(rbMakeVec3(x[3], x[4], x[5]), NULL)};
        Pair pair;
        assert_true(rbConvex_Make(boxes[0], 0.0, &pair.convex[0]));
        assert_true(rbConvex_Make(boxes[1], 0.0, &pair.convex[1]));
        double reach = pair.convex[0].size + pair.convex[1].size;
        place(&pair,
              (rbTransform){rbScale(reach * rbRandom_Unit(&random), rbRandom_Direction(&random)),
                            rbRandom_Quat(&random)});
        rbMprResult r = rbMpr_Penetration(&pair.cso, NULL);
        if (r.overlaps) {
            rbEpaSettings settings = rbDefaultEpaSettings();
            rbEpaResult epa = rbEpa_Depth(&pair.cso, NULL, 0, &settings, &scratch);
            double angle =
                atan2(rbLength(rbCross(r.normal, epa.normal)), rbDot(r.normal, epa.normal)) *
                180.0 / RB_PI;
            ++contacts;
            off += angle > 1.0 ? 1 : 0;
            sum += angle;
            largest = fmax(largest, angle);
            // never too shallow: any plane's depth is at least the least one
            assert_true(-r.distance >= epa.lower - 1e-13);
            excess += -r.distance - epa.depth;
        }
        rbDestroyGeometry(boxes[0]);
        rbDestroyGeometry(boxes[1]);
    }
    double share = (double)off / contacts;
    print_message("%d box contacts: %.1f %% of the portal normals off by more than 1 degree, mean "
                  "%.1f, largest %.0f degrees; depth too large by %.3f m on average\n",
                  contacts, 100.0 * share, sum / contacts, largest, excess / contacts);
    assert_true(share > 0.1 && share < 0.7);
    assert_true(sum / contacts > 4.0 && sum / contacts < 40.0);
}

RB_TEST_GROUP(prop_mpr, cmocka_unit_test(detectionAgreesWithGjkAndEpa),
              cmocka_unit_test(nastyPairsKeepTheirBounds),
              cmocka_unit_test(theWayOutPartsTheBodies),
              cmocka_unit_test(portalNormalsOfBoxesAreOftenWrong));
