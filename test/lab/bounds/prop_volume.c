// Bounding volumes of random point sets, including flat, thin, duplicated and distant ones: they
// contain their points, and their bounds are below the true distance and close to it.
#include "base/math/matrix3.h"
#include "collision/convex/gjk.h"
#include "lab/bounds/volume_rows.h"
#include "lab/math/random3.h"
#include "lab/math/rotations.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <stdio.h>
#include <string.h>

#define POINTS_MAX 60

typedef struct PointSet {
    rbVec3 points[POINTS_MAX];
    int count;
} PointSet;

enum {
    CLOUD,
    FLAT,
    COLLINEAR,
    SINGLE,
    DOUBLED,
    THIN,
    SHELL,
    BOX,
    TRIANGLE,
    KIND_COUNT
};

static rbVec3 randomVec3(rbRandom* random)
{
    double x = rbRandom_Symmetric(random);
    double y = rbRandom_Symmetric(random);
    double z = rbRandom_Symmetric(random);
    return rbMakeVec3(x, y, z);
}

static rbVec3 drawPoint(rbRandom* random, int kind, int index)
{
    rbVec3 p = randomVec3(random);
    switch (kind) {
    case FLAT:
        return rbMakeVec3(p.x, p.y, 0.0);
    case COLLINEAR:
        return rbMakeVec3(p.x, 0.0, 0.0);
    case SINGLE:
        return RB_VEC3_ZERO;
    case THIN:
        return rbMakeVec3(p.x, p.y, 1e-9 * p.z);
    case SHELL:
        return rbNormalize(p);
    case BOX:
        return rbMakeVec3((index & 1) != 0 ? 1.0 : -1.0, (index & 2) != 0 ? 1.0 : -1.0,
                          (index & 4) != 0 ? 1.0 : -1.0);
    default:
        return p;
    }
}

// A set of about unit size, rotated, stretched, and moved by up to a million times its size.
static void makeSet(rbRandom* random, int kind, bool mayBeFar, PointSet* set)
{
    set->count = kind == TRIANGLE ? 3 : (kind == BOX ? 8 : 1 + rbRandom_Index(random, POINTS_MAX));
    double sx = rbRandom_Range(random, 0.2, 1.0);
    double sy = rbRandom_Range(random, 0.2, 1.0);
    double sz = rbRandom_Range(random, 0.2, 1.0);
    rbQuat q = rbRandom_Quat(random);
    rbVec3 offset = randomVec3(random);
    double far = mayBeFar && rbRandom_Index(random, 3) == 0 ? 1e6 : 1.0;
    for (int i = 0; i < set->count; i++) {
        rbVec3 p = rbMulEach(rbMakeVec3(sx, sy, sz), drawPoint(random, kind, i));
        set->points[i] = rbAddScaled(rbRotate(q, p), far, offset);
    }
    for (int i = 1; kind == DOUBLED && i < set->count; i += 2) {
        set->points[i] = set->points[i - 1];
    }
}

static double reachOf(const PointSet* set)
{
    rbBounds b = rbFindPointBounds(set->points, set->count);
    rbVec3 m = rbMax3(rbAbs3(b.lower), rbAbs3(b.upper));
    return m.x > m.y ? (m.x > m.z ? m.x : m.z) : (m.y > m.z ? m.y : m.z);
}

typedef struct Long3 {
    long double x, y, z;
} Long3;

// q x + p in long double.
static Long3 moveLong(rbTransform t, rbVec3 point)
{
    long double w = t.q.w, x = t.q.x, y = t.q.y, z = t.q.z;
    long double a = point.x, b = point.y, c = point.z;
    long double xx = 1 - 2 * (y * y + z * z), yy = 1 - 2 * (x * x + z * z);
    long double zz = 1 - 2 * (x * x + y * y);
    return (Long3){xx * a + 2 * (x * y - w * z) * b + 2 * (x * z + w * y) * c + t.p.x,
                   2 * (x * y + w * z) * a + yy * b + 2 * (y * z - w * x) * c + t.p.y,
                   2 * (x * z - w * y) * a + 2 * (y * z + w * x) * b + zz * c + t.p.z};
}

static rbVec3 moveExactly(rbTransform t, rbVec3 point)
{
    Long3 p = moveLong(t, point);
    return rbMakeVec3((double)p.x, (double)p.y, (double)p.z);
}

static void moveSet(rbTransform t, const PointSet* set, PointSet* moved)
{
    moved->count = set->count;
    for (int i = 0; i < set->count; i++) {
        moved->points[i] = moveExactly(t, set->points[i]);
    }
}

// L-31, L-33, L-36, L-38, L-39, L-40, L-50, L-51, L-52, L-58, L-60
static void volumesHoldTheirPointsFittedAndMoved(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(211)};
    for (int n = 0; n < rbTest_Count(9000, 900000); n++) {
        PointSet set, moved;
        makeSet(&random, n % KIND_COUNT, true, &set);
        rbTransform t = {rbScale(3.0, randomVec3(&random)), rbRandom_Quat(&random)};
        t.q = n % 5 == 0 ? RB_QUAT_IDENTITY : t.q;
        moveSet(t, &set, &moved);
        const rbVolumeRow* row = rbGetVolumeRow((rbVolumeType)(n / KIND_COUNT % RB_VOLUME_COUNT));
        double volume[RB_VOLUME_SIZE_MAX], image[RB_VOLUME_SIZE_MAX];
        rbVolumeMotion motion;
        row->fit(set.points, set.count, volume);
        row->prepare(t, reachOf(&moved), &motion);
        row->move(&motion, volume, image);
        for (int i = 0; i < set.count; i++) {
            assert_true(row->contains(volume, set.points[i], 0.0));
            // the test itself rounds
            assert_true(row->contains(image, moved.points[i], 4.0 * DBL_EPSILON * motion.size));
            assert_true(!row->contains(image, rbAdd(moved.points[i], rbMakeVec3(9, 9, 9)), 0.0));
        }
        // the center lies in the box of the points, though not in every volume around them
        double box[6];
        rbVolumeRowAabb.fit(set.points, set.count, box);
        double slack = row->measure(volume).diameter + 1e-14 * motion.size;
        assert_true(rbVolumeRowAabb.contains(box, row->center(volume), slack));
    }
}

// ------------------------------------------------------------------------------- true distances

typedef struct CloudCore {
    rbConvex convex;
    const PointSet* set;
} CloudCore;

static rbVec3 supportCloud(const rbConvex* convex, rbVec3 direction, int* vertex)
{
    const PointSet* set = ((const CloudCore*)convex)->set;
    int best = 0;
    for (int i = 1; i < set->count; i++) {
        if (rbDot(set->points[i], direction) > rbDot(set->points[best], direction)) {
            best = i;
        }
    }
    *vertex = -1;
    return set->points[best];
}

// Distance of the hulls, with both of its bounds.
static rbGjkResult measureHulls(const PointSet* a, const PointSet* b)
{
    rbConvex convex = {.support = supportCloud};
    CloudCore coreA = {convex, a}, coreB = {convex, b};
    coreA.convex.size = 2.0 * reachOf(a);
    coreB.convex.size = 2.0 * reachOf(b);
    rbCso cso = rbCso_Make(&coreA.convex, &coreB.convex, RB_TRANSFORM_IDENTITY);
    return rbGjk_Distance(&cso, NULL, NULL);
}

// U-10: no bound is above the distance, none is useless where bodies are far apart, and on average
// they are as close to the truth as stated here (a bound of 0 would fail).
// L-50, L-51, L-52, L-57, L-58, L-59, L-60, L-61
static void boundsAreBelowTheDistanceAndNotFarBelow(void** state)
{
    (void)state;
    // mean of bound / distance over sets of size 1 and gaps of 0.05 to 1
    static const double leastMeans[RB_VOLUME_COUNT] = {
        [RB_VOLUME_SPHERE] = 0.16, [RB_VOLUME_AABB] = 0.17,        [RB_VOLUME_OBB] = 0.55,
        [RB_VOLUME_FDH14] = 0.40,  [RB_VOLUME_OBB_REGIONS] = 0.55, [RB_VOLUME_FDH18] = 0.44,
        [RB_VOLUME_FDH26] = 0.52,  [RB_VOLUME_RSS] = 0.50,
    };
    rbRandom random = {rbTest_Seed(212)};
    double sums[RB_VOLUME_COUNT] = {0}, apartCount = 0.0;
    for (int n = 0; n < rbTest_Count(4500, 100000); n++) {
        PointSet setA, setB, moved;
        bool isFar = n % 4 == 0;
        makeSet(&random, n % KIND_COUNT, isFar, &setA);
        makeSet(&random, n / KIND_COUNT % KIND_COUNT, false, &setB);
        // the middle of A approaches that of B
        rbTransform t = {RB_VEC3_ZERO, n % 7 == 0 ? RB_QUAT_IDENTITY : rbRandom_Quat(&random)};
        t.p = rbAddScaled(rbSub(setB.points[0], rbRotate(t.q, setA.points[0])),
                          rbRandom_Range(&random, 0.0, 3.0), rbRandom_Direction(&random));
        moveSet(t, &setA, &moved);
        rbGjkResult truth = measureHulls(&moved, &setB);
        double size = fmax(reachOf(&moved), reachOf(&setB));
        bool counts = !isFar && truth.lower > 0.05 && truth.lower < 1.0;
        apartCount += counts ? 1.0 : 0.0;
        for (int i = 0; i < RB_VOLUME_COUNT; i++) {
            const rbVolumeRow* row = rbGetVolumeRow((rbVolumeType)i);
            double a[RB_VOLUME_SIZE_MAX], b[RB_VOLUME_SIZE_MAX], image[RB_VOLUME_SIZE_MAX];
            rbVolumeMotion motion;
            row->fit(setA.points, setA.count, a);
            row->fit(setB.points, setB.count, b);
            row->prepare(t, size, &motion);
            row->move(&motion, a, image);
            double bound = row->bound(image, b);
            assert_true(bound >= 0.0);
            checkBelow(bound, truth.upper);
            sums[i] += counts ? bound / truth.lower : 0.0;
            double widths = 2.0 * row->measure(image).diameter + row->measure(b).diameter;
            assert_true(bound > 0.0 || truth.upper <= widths + 1e-9 * size);
        }
    }
    print_message("  %.0f pairs 0.05 to 1 apart\n", apartCount);
    assert_true(apartCount > 0.0);
    for (int i = 0; i < RB_VOLUME_COUNT; i++) {
        print_message("  %-12s mean of bound / distance %.3f\n", rbVolumeType_Name((rbVolumeType)i),
                      sums[i] / apartCount);
        // few pairs (level quick) scatter more
        double least = apartCount > 500.0 ? leastMeans[i] : 0.5 * leastMeans[i];
        assert_true(sums[i] / apartCount >= least);
    }
}

// A tip and points behind it: all within 30 degrees of a direction as seen from the tip.
static void makeTip(rbRandom* random, rbVec3 tip, rbVec3 direction, PointSet* set)
{
    set->count = 1 + rbRandom_Index(random, 8);
    set->points[0] = tip;
    for (int i = 1; i < set->count; i++) {
        rbVec3 v = rbAddScaled(rbRandom_Direction(random), 2.0, direction);
        set->points[i] = rbAddScaled(tip, rbRandom_Unit(random), v);
    }
}

// Two tips that point at each other: their distance is that of the bodies, known in long double.
// Gaps down to 1e-9 of the size and bodies a million sizes away: no rounding error is tolerated.
// L-50, L-51, L-52, L-58, L-59, L-60, L-61
static void boundsAreBelowAKnownDistanceToTheLastBit(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(221)};
    for (int n = 0; n < rbTest_Count(3000, 100000); n++) {
        rbTransform t = {RB_VEC3_ZERO, rbRandom_Quat(&random)};
        double far = n % 3 == 0 ? 1e6 : 3.0;
        rbVec3 direction = rbRandom_Direction(&random);
        direction = n % 4 == 0 ? rbFdhSet26.directions[rbRandom_Index(&random, 26)] : direction;
        t.q = n % 8 == 0 ? RB_QUAT_IDENTITY : t.q;
        PointSet setA, setB;
        makeTip(&random, rbScale(far, randomVec3(&random)), rbInvRotate(t.q, direction), &setA);
        makeTip(&random, rbScale(far, randomVec3(&random)), rbNeg(direction), &setB);
        double gap = n % 2 == 0 ? 1e-9 * rbRandom_Unit(&random) : rbRandom_Unit(&random);
        t.p = rbAddScaled(rbSub(setB.points[0], rbRotate(t.q, setA.points[0])), gap, direction);
        Long3 tip = moveLong(t, setA.points[0]);
        Long3 d = {tip.x - setB.points[0].x, tip.y - setB.points[0].y, tip.z - setB.points[0].z};
        long double distance = sqrtl(d.x * d.x + d.y * d.y + d.z * d.z);
        long double along = d.x * direction.x + d.y * direction.y + d.z * direction.z;
        if (along < 0.8L * distance) {
            continue; // rounding of the translation has changed the sign of the gap
        }
        PointSet moved;
        moveSet(t, &setA, &moved);
        double size = fmax(reachOf(&moved), reachOf(&setB));
        for (int i = 0; i < RB_VOLUME_COUNT; i++) {
            const rbVolumeRow* row = rbGetVolumeRow((rbVolumeType)i);
            double a[RB_VOLUME_SIZE_MAX], b[RB_VOLUME_SIZE_MAX], image[RB_VOLUME_SIZE_MAX];
            rbVolumeMotion motion;
            row->fit(setA.points, setA.count, a);
            row->fit(setB.points, setB.count, b);
            row->prepare(t, size, &motion);
            row->move(&motion, a, image);
            assert_true((long double)row->bound(image, b) <= distance);
        }
    }
}

// ------------------------------------------------------------------------------------ box regions

typedef struct BoxCase {
    rbVec3 halfA, halfB;
    rbTransform transform; // of A in the frame of B
} BoxCase;

static BoxCase drawBoxes(rbRandom* random, int kind)
{
    BoxCase c;
    rbVec3 one = {1.1, 1.1, 1.1};
    c.halfA = rbAdd(randomVec3(random), one);
    c.halfB = rbAdd(randomVec3(random), one);
    c.transform.q = rbRandom_Quat(random);
    c.transform.p = rbScale(5.0, randomVec3(random));
    if (kind == 1) { // rod through plate
        c.halfA = rbMakeVec3(0.1, 0.1, 4.0);
        c.halfB = rbMakeVec3(3.0, 3.0, 0.05);
        c.transform.p = rbScale(2.0, randomVec3(random));
    } else if (kind == 2) { // one inside the other
        c.halfA = rbScale(0.2, c.halfA);
        c.transform.p = rbScale(0.5, c.transform.p);
    } else if (kind == 3) { // faces touch or almost touch
        c.transform.q = RB_QUAT_IDENTITY;
        c.transform.p.x = c.halfA.x + c.halfB.x + (rbRandom_Index(random, 3) - 1) * 1e-9;
    } else if (kind == 4) { // parallel axes, flat boxes
        c.transform.q = rbNormalizeQuat((rbQuat){rbRandom_Unit(random), 0.0, 0.0, 1.0});
        c.halfA.z = 1e-9;
    } else if (kind == 5) { // with the roles exchanged
        c.halfA = rbScale(4.0, c.halfA);
        c.halfB = rbScale(0.5, c.halfB);
    }
    return c;
}

static void makeBox(const BoxCase* c, double* a, double* b)
{
    static const double axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    rbMat3 r = rbMatFromQuat(c->transform.q);
    rbStore3(a + RB_OBB_CENTER, c->transform.p);
    rbStore3(a + RB_OBB_AXES, r.cx);
    rbStore3(a + RB_OBB_AXES + 3, r.cy);
    rbStore3(a + RB_OBB_AXES + 6, r.cz);
    rbStore3(a + RB_OBB_HALF, c->halfA);
    rbStore3(b + RB_OBB_CENTER, RB_VEC3_ZERO);
    memcpy(b + RB_OBB_AXES, axes, sizeof axes);
    rbStore3(b + RB_OBB_HALF, c->halfB);
}

// GJK as second algorithm: separated, touching, piercing, containing. The separating-axes bound is
// below it, and positive wherever the boxes are separated.
// L-53, L-54, L-52
static void regionCodesGiveTheDistanceOfBoxes(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(213)};
    int overlapping = 0, apart = 0;
    double ratios = 0.0;
    for (int n = 0; n < rbTest_Count(30000, 1000000); n++) {
        BoxCase c = drawBoxes(&random, n % 7);
        double a[RB_OBB_SIZE], b[RB_OBB_SIZE];
        makeBox(&c, a, b);
        rbConvex boxA = {.isExtents = true, .isPolytope = true, .signMask = 7};
        rbConvex boxB = boxA;
        boxA.extents = c.halfA;
        boxB.extents = c.halfB;
        boxA.size = rbLength(c.halfA);
        boxB.size = rbLength(c.halfB);
        rbCso cso = rbCso_Make(&boxB, &boxA, c.transform);
        rbGjkResult truth = rbGjk_Distance(&cso, NULL, NULL);
        rbObbPair pair = rbMakeObbPair(a, b);
        double gap = rbMeasureObbGap(&pair);
        if (truth.overlaps) {
            overlapping++;
            checkNear(gap, 0.0, 1e-8 * cso.scale);
        } else {
            checkNear(gap, truth.upper, 1e-12 * cso.scale + (truth.upper - truth.lower));
        }
        double bound = rbBoundObbs(a, b);
        checkBelow(bound, truth.upper);
        checkBelow(rbVolumeRowObbRegions.bound(a, b), truth.upper);
        assert_true(bound > 0.0 || gap <= 1e-8);
        apart += gap > 1e-3 ? 1 : 0;
        ratios += gap > 1e-3 ? bound / gap : 0.0;
    }
    assert_true(overlapping > 0 && apart > 0);
    print_message("  separating axes: mean of bound / distance %.4f\n", ratios / apart);
    assert_true(ratios / apart > 0.9);
}

// --------------------------------------------------------------------------------- smallest sphere

static bool holdsAll(const PointSet* set, rbVec3 center, double radius)
{
    for (int i = 0; i < set->count; i++) {
        if (rbDistance(set->points[i], center) > radius * (1.0 + 1e-10)) {
            return false;
        }
    }
    return true;
}

// Center of the circle or sphere through the points of a bit mask, by least squares.
static bool centerOfMask(const PointSet* set, int mask, rbVec3* center)
{
    rbVec3 p[4];
    int count = 0;
    for (int i = 0; i < set->count; i++) {
        if ((mask >> i & 1) != 0) {
            p[count++] = set->points[i];
        }
    }
    if (count == 2) {
        *center = rbScale(0.5, rbAdd(p[0], p[1]));
        return true;
    }
    rbVec3 u = rbSub(p[1], p[0]), v = rbSub(p[2], p[0]);
    rbVec3 w = count == 4 ? rbSub(p[3], p[0]) : rbCross(u, v);
    double last = count == 4 ? rbLengthSquared(w) : 0.0;
    rbMat3 inverse, rows = rbTranspose((rbMat3){u, v, w});
    if (!rbMat3_Invert(rows, &inverse)) {
        return false;
    }
    rbVec3 half = rbMakeVec3(0.5 * rbLengthSquared(u), 0.5 * rbLengthSquared(v), 0.5 * last);
    *center = rbAdd(p[0], rbMulMV(inverse, half));
    return true;
}

static double findSmallestByTrial(const PointSet* set)
{
    double best = INFINITY;
    for (int mask = 1; mask < 1 << set->count; mask++) {
        int bits = 0, first = 0;
        for (int i = set->count - 1; i >= 0; i--) {
            bits += mask >> i & 1;
            first = (mask >> i & 1) != 0 ? i : first;
        }
        rbVec3 center;
        if (bits < 2 || bits > 4 || !centerOfMask(set, mask, &center)) {
            continue;
        }
        double radius = rbDistance(center, set->points[first]);
        if (radius < best && holdsAll(set, center, radius)) {
            best = radius;
        }
    }
    return best;
}

// L-33
static void spheresAreTheSmallestOfAllTried(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(214)};
    for (int n = 0; n < rbTest_Count(1000, 100000); n++) {
        static const int kinds[4] = {CLOUD, FLAT, SHELL, BOX};
        PointSet set;
        makeSet(&random, kinds[n % 4], false, &set);
        set.count = set.count < 2 ? 2 : (set.count > 9 ? 9 : set.count);
        set.points[1] = set.count == 2 ? rbAdd(set.points[0], randomVec3(&random)) : set.points[1];
        double sphere[4];
        rbFitSphere(set.points, set.count, sphere, NULL);
        checkRelative(sphere[3], findSmallestByTrial(&set), 1e-9);
    }
}

// U-11: at most 41 n containment tests on average; and the same bits again.
// L-33
static void smallestSphereTestsFewPoints(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(215)};
    static rbVec3 points[20000];
    int sizes[4] = {10, 100, 1000, 20000};
    for (int s = 0; s < 4; s++) {
        double sum = 0.0;
        int runs = rbTest_Count(40, 400);
        for (int n = 0; n < runs; n++) {
            for (int i = 0; i < sizes[s]; i++) {
                points[i] = n % 2 == 0 ? randomVec3(&random) : rbRandom_Direction(&random);
            }
            double sphere[4], again[4];
            long long tests;
            rbFitSphere(points, sizes[s], sphere, &tests);
            sum += (double)tests / sizes[s];
            if (n == 0) {
                rbFitSphere(points, sizes[s], again, NULL);
                assert_memory_equal(sphere, again, sizeof sphere);
            }
        }
        print_message("  %d points: %.1f containment tests per point\n", sizes[s], sum / runs);
        assert_true(sum / runs <= 41.0);
    }
}

// -------------------------------------------------------------------------- fixed directions hulls

// Farthest corner of the hull along c: all triples of planes.
static double reachByCorners(const rbFdhSet* set, const double* volume, rbVec3 c)
{
    double best = -INFINITY;
    for (int i = 0; i < set->count; i++) {
        for (int j = i + 1; j < set->count; j++) {
            for (int k = j + 1; k < set->count; k++) {
                rbVec3 a = set->directions[i], b = set->directions[j], d = set->directions[k];
                rbMat3 inverse;
                if (fabs(rbDot(a, rbCross(b, d))) < 1e-9 ||
                    !rbMat3_Invert(rbTranspose((rbMat3){a, b, d}), &inverse)) {
                    continue;
                }
                rbVec3 x = rbMulMV(inverse, rbMakeVec3(volume[i], volume[j], volume[k]));
                int l = 0;
                while (l < set->count && rbDot(set->directions[l], x) <= volume[l] + 1e-12) {
                    l++;
                }
                if (l == set->count) {
                    best = fmax(best, rbDot(c, x));
                }
            }
        }
    }
    return best;
}

// The motion by duality compared with the hull around the moved corners of the original hull.
// L-57, L-58
static void dualityGivesTheHullOfTheMovedHull(void** state)
{
    (void)state;
    const rbFdhSet* sets[3] = {&rbFdhSet14, &rbFdhSet18, &rbFdhSet26};
    rbVolumeType types[3] = {RB_VOLUME_FDH14, RB_VOLUME_FDH18, RB_VOLUME_FDH26};
    rbRandom random = {rbTest_Seed(216)};
    for (int n = 0; n < rbTest_Count(60, 3000); n++) {
        const rbVolumeRow* row = rbGetVolumeRow(types[n % 3]);
        const rbFdhSet* set = sets[n % 3];
        PointSet points;
        makeSet(&random, n % 2 == 0 ? CLOUD : SHELL, false, &points);
        rbTransform t = {randomVec3(&random), rbRandom_Quat(&random)};
        // rotations about an axis of the cube put directions on the sides of cones
        if (n % 4 == 0) {
            t.q =
                rbNormalizeQuat((rbQuat){1.0, n % 8 == 0 ? rbRandom_Unit(&random) : 1.0, 0.0, 0.0});
        }
        double volume[RB_VOLUME_SIZE_MAX], moved[RB_VOLUME_SIZE_MAX];
        rbVolumeMotion motion;
        row->fit(points.points, points.count, volume);
        row->prepare(t, 10.0, &motion);
        row->move(&motion, volume, moved);
        for (int i = 0; i < set->count; i += 1 + rbRandom_Index(&random, 5)) {
            rbVec3 c = rbInvRotate(t.q, set->directions[i]);
            double reach = reachByCorners(set, volume, c) + rbDot(set->directions[i], t.p);
            checkNear(moved[i], reach, 2e-11);
        }
    }
}

// ------------------------------------------------------------------------------------ quality

// Fraction of the points of a surrounding box that the volume contains, times the volume of the
// box.
// L-32
static void volumesAreThoseOfRandomPoints(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(217)};
    int samples = rbTest_Count(20000, 200000);
    for (int i = 0; i < RB_VOLUME_COUNT; i++) {
        const rbVolumeRow* row = rbGetVolumeRow((rbVolumeType)i);
        PointSet set;
        do {
            makeSet(&random, CLOUD, false, &set);
        } while (set.count < 4);
        double volume[RB_VOLUME_SIZE_MAX];
        row->fit(set.points, set.count, volume);
        rbVec3 center = row->center(volume);
        rbVolumeMeasure m = row->measure(volume);
        double half = m.diameter, inside = 0.0;
        half = i == RB_VOLUME_SPHERE ? 0.5 * half : 0.6 * half;
        for (int k = 0; k < samples; k++) {
            rbVec3 p = rbAddScaled(center, half, randomVec3(&random));
            inside += row->contains(volume, p, 0.0) ? 1.0 : 0.0;
        }
        double box = 8.0 * half * half * half;
        double share = m.volume / box;
        checkNear(inside / samples, share, 6.0 * sqrt(share / samples) + 1e-12);
    }
}

// Extent of a volume along x.
static double reachAlongX(rbVolumeType type, const double* v)
{
    if (type == RB_VOLUME_SPHERE || type == RB_VOLUME_AABB) {
        return v[0] + v[3];
    }
    if (type == RB_VOLUME_OBB || type == RB_VOLUME_OBB_REGIONS) {
        return v[0] + fabs(v[3]) * v[12] + fabs(v[6]) * v[13] + fabs(v[9]) * v[14];
    }
    return type == RB_VOLUME_RSS ? v[0] + fabs(v[3]) * v[12] + fabs(v[6]) * v[13] + v[15] : v[0];
}

// For convex sets the directed Hausdorff distance is the largest difference of their extents. More
// directions fit more closely; the box on principal axes is at most twice as far as the others.
// L-32, L-38
static void moreDirectionsLieCloserToThePoints(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(218)};
    double means[RB_VOLUME_COUNT] = {0};
    int sets = rbTest_Count(100, 2000);
    for (int n = 0; n < sets; n++) {
        PointSet set;
        makeSet(&random, n % 2 == 0 ? CLOUD : SHELL, false, &set);
        double distances[RB_VOLUME_COUNT] = {0};
        for (int k = 0; k < 50; k++) {
            rbTransform t = {RB_VEC3_ZERO, rbRandom_Quat(&random)};
            double reach = -INFINITY;
            for (int i = 0; i < set.count; i++) {
                reach = fmax(reach, moveExactly(t, set.points[i]).x);
            }
            for (int i = 0; i < RB_VOLUME_COUNT; i++) {
                const rbVolumeRow* row = rbGetVolumeRow((rbVolumeType)i);
                double volume[RB_VOLUME_SIZE_MAX], moved[RB_VOLUME_SIZE_MAX];
                rbVolumeMotion motion;
                row->fit(set.points, set.count, volume);
                row->prepare(t, 10.0, &motion);
                row->move(&motion, volume, moved);
                double over = reachAlongX((rbVolumeType)i, moved) - reach;
                assert_true(over >= 0.0);
                distances[i] = fmax(distances[i], over);
            }
        }
        assert_true(distances[RB_VOLUME_FDH26] <= distances[RB_VOLUME_FDH14] + 1e-11);
        assert_true(distances[RB_VOLUME_FDH26] <= distances[RB_VOLUME_FDH18] + 1e-11);
        assert_true(distances[RB_VOLUME_FDH14] <= distances[RB_VOLUME_AABB] + 1e-11);
        for (int i = 0; i < RB_VOLUME_COUNT; i++) {
            means[i] += distances[i] / sets;
        }
    }
    for (int i = 0; i < RB_VOLUME_COUNT; i++) {
        print_message("  %-12s mean Hausdorff distance %.3f\n", rbVolumeType_Name((rbVolumeType)i),
                      means[i]);
        assert_true(means[i] > 0.0 && means[i] < 1.0);
    }
}

// Axes from the whole hull by qhull, for comparison.
static bool findExactAxes(const rbVec3* points, int count, rbMat3* axes)
{
    rbGeometry* hull = rbCreateHull(points, count, NULL);
    rbTriangles triangles;
    if (hull == NULL || rbGeometry_Triangulate(hull, 1.0, 1.0, &triangles, NULL) != RB_STATUS_OK) {
        rbDestroyGeometry(hull);
        return false;
    }
    double area = 0.0;
    rbVec3 mean = RB_VEC3_ZERO;
    rbSym3 second = {0};
    for (int i = 0; i < triangles.triangleCount; i++) {
        const int* t = triangles.triangles[i];
        rbVec3 v[4] = {triangles.vertices[t[0]], triangles.vertices[t[1]],
                       triangles.vertices[t[2]]};
        v[3] = rbAdd(v[0], rbAdd(v[1], v[2]));
        double a = 0.5 * rbLength(rbCross(rbSub(v[1], v[0]), rbSub(v[2], v[0])));
        area += a;
        mean = rbAddScaled(mean, a / 3.0, v[3]);
        for (int k = 0; k < 4; k++) {
            rbSym3 outer = {v[k].x * v[k].x, v[k].y * v[k].y, v[k].z * v[k].z,
                            v[k].x * v[k].y, v[k].x * v[k].z, v[k].y * v[k].z};
            second = rbAddSym(second, rbScaleSym(a / 12.0, outer));
        }
    }
    mean = rbScale(1.0 / area, mean);
    rbSym3 outer = {mean.x * mean.x, mean.y * mean.y, mean.z * mean.z,
                    mean.x * mean.y, mean.x * mean.z, mean.y * mean.z};
    second = rbAddSym(rbScaleSym(1.0 / area, second), rbScaleSym(-1.0, outer));
    *axes = rbSym3_Diagonalize(second).axes;
    rbFreeTriangles(&triangles);
    rbDestroyGeometry(hull);
    return true;
}

// Up to 26 points the axes are those of the hull; for more points the box is about as small.
// L-36
static void boxesAreAsSmallAsThoseOfTheWholeHull(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(219)};
    double ratios = 0.0, count = 0.0, pointRatios = 0.0;
    for (int n = 0; n < rbTest_Count(300, 10000); n++) {
        static rbVec3 points[400];
        int size = n % 2 == 0 ? 5 + rbRandom_Index(&random, 22) : 400;
        rbQuat q = rbRandom_Quat(&random);
        rbVec3 half = {rbRandom_Range(&random, 1.0, 2.0), 1.0, rbRandom_Range(&random, 0.2, 1.0)};
        for (int i = 0; i < size; i++) {
            rbVec3 p = n % 4 < 2 ? randomVec3(&random) : rbRandom_Direction(&random);
            points[i] = rbRotate(q, rbMulEach(half, p));
        }
        rbMat3 exact = RB_MAT3_IDENTITY, own = rbFindHullAxes(points, size);
        if (!findExactAxes(points, size, &exact)) {
            skip();
        }
        double exactBox[RB_OBB_SIZE], ownBox[RB_OBB_SIZE], row[RB_OBB_SIZE];
        rbFitObb(points, size, exact, exactBox);
        rbFitObb(points, size, own, ownBox);
        rbVolumeRowObb.fit(points, size, row);
        double exactVolume = rbVolumeRowObb.measure(exactBox).volume;
        double ownVolume = rbVolumeRowObb.measure(ownBox).volume;
        if (size <= 26) {
            checkRelative(ownVolume, exactVolume, 1e-7);
        } else {
            ratios += ownVolume / exactVolume;
            count += 1.0;
            pointRatios += rbVolumeRowObb.measure(row).volume / exactVolume;
        }
    }
    print_message(
        "  volume of boxes, by extreme points / by the whole hull: %.4f; of the row %.4f\n",
        ratios / count, pointRatios / count);
    assert_true(ratios / count < 1.15);
}

// Boxes are never larger than the axis-aligned box.
// L-36, L-39
static void boxesAreNoLargerThanAlignedOnes(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(220)};
    for (int n = 0; n < rbTest_Count(2000, 100000); n++) {
        PointSet set;
        makeSet(&random, n % 2 == 0 ? CLOUD : BOX, false, &set);
        double obb[RB_OBB_SIZE], aabb[6];
        rbVolumeRowObb.fit(set.points, set.count, obb);
        rbVolumeRowAabb.fit(set.points, set.count, aabb);
        double ratio = rbVolumeRowObb.measure(obb).volume / rbVolumeRowAabb.measure(aabb).volume;
        assert_true(set.count < 5 || ratio <= 1.0 + 1e-5);
    }
}

RB_TEST_GROUP(prop_volume, cmocka_unit_test(volumesHoldTheirPointsFittedAndMoved),
              cmocka_unit_test(boundsAreBelowTheDistanceAndNotFarBelow),
              cmocka_unit_test(boundsAreBelowAKnownDistanceToTheLastBit),
              cmocka_unit_test(regionCodesGiveTheDistanceOfBoxes),
              cmocka_unit_test(spheresAreTheSmallestOfAllTried),
              cmocka_unit_test(smallestSphereTestsFewPoints),
              cmocka_unit_test(dualityGivesTheHullOfTheMovedHull),
              cmocka_unit_test(volumesAreThoseOfRandomPoints),
              cmocka_unit_test(moreDirectionsLieCloserToThePoints),
              cmocka_unit_test(boxesAreAsSmallAsThoseOfTheWholeHull),
              cmocka_unit_test(boxesAreNoLargerThanAlignedOnes));
