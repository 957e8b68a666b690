// MPR on pairs with known answers: closed forms of overlap, depth and exit translation, the
// counter-example X-12, centers, flat, tiny, long and distant pairs, limits.
#include "collision/convex/epa.h"
#include "collision/convex/gjk.h"
#include "lab/convex/minkowski.h"
#include "lab/convex/mpr.h"
#include "rb_test.h"

#include <float.h>
#include <math.h>

static rbEpaScratch scratch;

typedef struct Pair {
    rbGeometry* geometry[2];
    rbConvex convex[2];
    rbCso cso;
} Pair;

static rbTransform at(double x, double y, double z)
{
    return (rbTransform){{x, y, z}, RB_QUAT_IDENTITY};
}

static rbTransform turned(rbVec3 p, rbVec3 axis, double angle)
{
    rbVec3 u = rbScale(sin(0.5 * angle), rbNormalize(axis));
    return (rbTransform){p, {cos(0.5 * angle), u.x, u.y, u.z}};
}

// Takes ownership of both geometries.
static void makePair(Pair* pair, rbGeometry* a, rbGeometry* b, rbTransform pose)
{
    assert_true(a != NULL && b != NULL);
    pair->geometry[0] = a;
    pair->geometry[1] = b;
    assert_true(rbConvex_Make(a, 0.0, &pair->convex[0]));
    assert_true(rbConvex_Make(b, 0.0, &pair->convex[1]));
    pair->cso = rbCso_Make(&pair->convex[0], &pair->convex[1], pose);
}

static void freePair(Pair* pair)
{
    rbDestroyGeometry(pair->geometry[0]);
    rbDestroyGeometry(pair->geometry[1]);
}

static rbGeometry* box(double x, double y, double z)
{
    return rbCreateBox(rbMakeVec3(x, y, z), NULL);
}

static void checkVector(rbVec3 v, rbVec3 truth, double tolerance)
{
    checkNear(v.x, truth.x, tolerance);
    checkNear(v.y, truth.y, tolerance);
    checkNear(v.z, truth.z, tolerance);
}

// Properties of every answer: finite, ordered, the distance between the bounds.
static void checkSane(const rbMprResult* r)
{
    assert_true(rbIsFinite3(r->a) && rbIsFinite3(r->b) && rbIsFinite3(r->normal));
    assert_true(isfinite(r->lower) && isfinite(r->upper) && isfinite(r->travel));
    assert_true(r->lower <= r->distance && r->distance <= r->upper);
    assert_true(r->iterations >= 1 && r->travel >= 0.0);
    assert_true(r->overlaps || r->lower > 0.0);
    checkNear(rbLength(r->normal), 1.0, 1e-14);
}

// All four questions about a pair whose signed distance is known.
static void checkKnown(const Pair* pair, double truth, double slack)
{
    const rbCso* cso = &pair->cso;
    const rbMprResult results[3] = {rbMpr_Detect(cso, NULL), rbMpr_Penetration(cso, NULL),
                                    rbMpr_PenetrationAlong(cso, rbMakeVec3(0.3, -0.5, 0.8), NULL)};
    for (int i = 0; i < 3; ++i) {
        checkSane(&results[i]);
        assert_true(results[i].lower <= truth + slack && results[i].upper >= truth - slack);
        if (fabs(truth) > slack) {
            assert_int_equal(results[i].overlaps, truth < 0.0);
        }
    }
    assert_int_equal(rbMpr_Overlaps(cso), results[0].overlaps);
}

// G-33: each pair is built with a gap along x; the answer changes at gap 0 to rounding.
static void detectionTurnsWhereBodiesTouch(void** state)
{
    (void)state;
    static const double gaps[] = {-1.0, -1e-3, -1e-6, -1e-9, -1e-12, 1e-12,
                                  1e-9, 1e-6,  1e-3,  1.0,   100.0};
    static const double slack = 3e-14;
    for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; ++i) {
        double gap = gaps[i];
        Pair pair;
        makePair(&pair, box(1.0, 2.0, 0.5), box(1.5, 0.4, 0.7), at(2.5 + gap, 0.3, 0.2));
        checkKnown(&pair, gap, slack);
        freePair(&pair);
        makePair(&pair, rbCreateSphere(0.7, NULL), rbCreateSphere(1.2, NULL), at(1.9 + gap, 0, 0));
        checkKnown(&pair, gap, slack);
        freePair(&pair);
        makePair(&pair, box(1.0, 2.0, 1.0), rbCreateSphere(0.5, NULL), at(1.5 + gap, 0.3, -0.2));
        checkKnown(&pair, gap, slack);
        freePair(&pair);
        // an edge ahead; an axis inside the box leaves it through a face
        makePair(&pair, rbCreateCapsule(0.25, 2.0, NULL), box(1.0, 1.0, 3.0),
                 turned(rbMakeVec3(0.25 + sqrt(2.0) + gap, 0.0, 0.1), rbMakeVec3(0.0, 0.0, 1.0),
                        0.25 * RB_PI));
        checkKnown(&pair, gap < -0.25 ? -0.25 + (0.25 + gap) * sqrt(0.5) : gap, slack);
        freePair(&pair);
        makePair(&pair, rbCreateEllipsoid(rbMakeVec3(1.0, 0.5, 2.0), NULL),
                 rbCreateEllipsoid(rbMakeVec3(0.5, 3.0, 1.0), NULL), at(1.5 + gap, 0.0, 0.0));
        checkKnown(&pair, gap, slack);
        freePair(&pair);
    }
}

// G-33, G-34: centers in line with the contact: the first point is the answer.
static void spheresOverlapByTheirRadii(void** state)
{
    (void)state;
    Pair pair;
    rbVec3 n = rbNormalize(rbMakeVec3(1.0, -2.0, 2.0));
    makePair(&pair, rbCreateSphere(1.0, NULL), rbCreateSphere(2.0, NULL),
             at(2.5 * n.x, 2.5 * n.y, 2.5 * n.z));
    rbMprResult r = rbMpr_Penetration(&pair.cso, NULL);
    checkSane(&r);
    checkNear(r.distance, -0.5, 1e-14);
    checkNear(r.lower, -0.5, 5e-14);
    checkNear(r.upper, -0.5, 5e-14);
    checkNear(r.travel, 0.5, 1e-14);
    checkVector(r.normal, n, 1e-14);
    checkVector(r.a, n, 1e-14);
    checkVector(r.b, rbScale(0.5, n), 1e-14);
    rbSeparation s = rbMpr_Separation(&r);
    checkVector(s.pointA, n, 1e-14);
    checkVector(s.pointB, rbScale(0.5, n), 1e-14);
    freePair(&pair);
}

// G-34: cubes of half size 1, B at (1.5, 0.3, 0.2): the ray from the center leaves the difference,
// a cube of half size 2, through the face x, where also the nearest point is: depth 0.5.
static void aPortalOnTheNearestFaceIsRight(void** state)
{
    (void)state;
    Pair pair;
    makePair(&pair, box(1, 1, 1), box(1, 1, 1), at(1.5, 0.3, 0.2));
    rbMprResult r = rbMpr_Penetration(&pair.cso, NULL);
    checkSane(&r);
    assert_true(r.overlaps && !r.isFallback);
    checkNear(r.distance, -0.5, 1e-14);
    checkVector(r.normal, rbMakeVec3(1.0, 0.0, 0.0), 1e-14);
    // the ray (1.5, 0.3, 0.2) s leaves at s = 4/3
    checkVector(rbSub(r.a, r.b), rbScale(1.0 / 3.0, rbMakeVec3(1.5, 0.3, 0.2)), 1e-14);
    checkNear(r.travel, rbLength(rbMakeVec3(1.5, 0.3, 0.2)) / 3.0, 1e-14);
    rbSeparation s = rbMpr_Separation(&r);
    checkVector(rbSub(s.pointB, s.pointA), rbScale(s.distance, s.normal), 1e-15);
    checkNear(s.pointA.x, 1.0, 1e-14);
    checkNear(s.pointB.x, 0.5, 1e-14);
    freePair(&pair);
}

// G-34 (b): the same cubes: the difference reaches from the origin 0.5, 1.7, 1.8 along x, y, z and
// 3.5, 2.3, 2.2 against them.
static void theWayOutOfABoxIsTheFirstFaceOnTheRay(void** state)
{
    (void)state;
    static const double reach[2][3] = {{3.5, 2.3, 2.2}, {0.5, 1.7, 1.8}};
    static const double directions[][3] = {
        {1, 0, 0},     {0, 1, 0},     {0, 0, 1},     {-1, 0, 0},   {0, -3, 0},
        {0, 0, -0.1},  {1, 1, 0},     {0.1, 1, 0.3}, {-1, -1, -1}, {-1, 1, 0.25},
        {0.01, 2, -3}, {1e200, 1, 0}, {0, 1e-200, 0}};
    Pair pair;
    makePair(&pair, box(1, 1, 1), box(1, 1, 1), at(1.5, 0.3, 0.2));
    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; ++i) {
        const double* d = directions[i];
        double largest = fmax(fabs(d[0]), fmax(fabs(d[1]), fabs(d[2])));
        rbVec3 u = rbNormalize(rbMakeVec3(d[0] / largest, d[1] / largest, d[2] / largest));
        const double unit[3] = {u.x, u.y, u.z};
        double truth = INFINITY;
        for (int k = 0; k < 3; ++k) {
            truth = unit[k] != 0.0 ? fmin(truth, reach[unit[k] > 0.0][k] / fabs(unit[k])) : truth;
        }
        rbMprResult r = rbMpr_PenetrationAlong(&pair.cso, rbMakeVec3(d[0], d[1], d[2]), NULL);
        checkSane(&r);
        assert_int_equal(r.reason, RB_STOP_CONVERGED);
        checkNear(r.travel, truth, 1e-13);
        checkVector(rbSub(r.a, r.b), rbScale(truth, u), 1e-13);
        assert_true(r.lower <= -0.5 && r.upper >= -0.5);
    }
    rbMprResult along = rbMpr_PenetrationAlong(&pair.cso, RB_VEC3_ZERO, NULL);
    rbMprResult plain = rbMpr_Penetration(&pair.cso, NULL);
    checkVector(along.normal, plain.normal, 0.0);
    checkNear(along.travel, plain.travel, 0.0);
    freePair(&pair);
}

// G-34 (b): a ray that leaves a ball of radius 1.5 about c = -(0.5, 0, 0), along (x, y) = (0.6,
// 0.8): |s u - c|^2 = 2.25 gives s = -0.3 + sqrt(0.09 + 2).
static void theWayOutOfASphereIsItsQuadratic(void** state)
{
    (void)state;
    Pair pair;
    makePair(&pair, rbCreateSphere(1.0, NULL), rbCreateSphere(0.5, NULL), at(0.5, 0.0, 0.0));
    rbMprSettings settings = {.relativeTolerance = 1e-12, .iterationMax = 200};
    rbVec3 u = {0.6, 0.8, 0.0};
    rbMprResult r = rbMpr_PenetrationAlong(&pair.cso, u, &settings);
    checkSane(&r);
    double truth = -0.3 + sqrt(2.09);
    checkNear(r.travel, truth, 1e-11);
    checkVector(r.normal, rbScale(1.0 / 1.5, rbMakeVec3(0.6 * truth + 0.5, 0.8 * truth, 0.0)),
                1e-5);
    freePair(&pair);
}

// ----------------------------------------------------------------------------------

// Depth and its axis of two overlapping boxes by the fifteen axes of the separating axis theorem.
static double depthBySeparatingAxes(rbVec3 halfA, rbVec3 halfB, const rbCso* cso, rbVec3* axis)
{
    const rbMat3* r = &cso->rotation;
    rbVec3 axes[15] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, r->cx, r->cy, r->cz};
    for (int i = 0; i < 9; ++i) {
        axes[6 + i] = rbCross(axes[i / 3], axes[3 + i % 3]);
    }
    double least = INFINITY;
    for (int i = 0; i < 15; ++i) {
        double length = rbLength(axes[i]);
        if (length < 1e-9) {
            continue;
        }
        rbVec3 n = rbScale(1.0 / length, axes[i]);
        double h = halfA.x * fabs(n.x) + halfA.y * fabs(n.y) + halfA.z * fabs(n.z) +
                   halfB.x * fabs(rbDot(n, r->cx)) + halfB.y * fabs(rbDot(n, r->cy)) +
                   halfB.z * fabs(rbDot(n, r->cz));
        double along = rbDot(n, cso->translation);
        if (h - fabs(along) < least) {
            least = h - fabs(along);
            *axis = along < 0.0 ? rbNeg(n) : n;
        }
    }
    return least;
}

static double angleDegrees(rbVec3 a, rbVec3 b)
{
    return atan2(rbLength(rbCross(a, b)), rbDot(a, b)) * 180.0 / RB_PI;
}

// G-34, X-12: two rods 20 x 1 x 1 side by side, moved 15 along and 0.6 across. The difference is 40
// x 2 x 2; they separate by 0.4 across. The ray from center to center leaves it through the far
// end: normal along the rods, depth 5. Once exactly parallel, once slightly rotated.
static void longBoxesShowTheWrongNormal(void** state)
{
    (void)state;
    rbVec3 half = {10.0, 0.5, 0.5};
    const rbTransform poses[2] = {
        at(15.0, 0.6, 0.0), turned(rbMakeVec3(15.0, 0.6, 0.05), rbMakeVec3(0.3, 0.2, 1.0), 0.01)};
    for (int i = 0; i < 2; ++i) {
        Pair pair;
        makePair(&pair, rbCreateBox(half, NULL), rbCreateBox(half, NULL), poses[i]);
        rbVec3 axis;
        double truth = depthBySeparatingAxes(half, half, &pair.cso, &axis);
        rbEpaSettings settings = rbDefaultEpaSettings();
        rbEpaResult epa = rbEpa_Depth(&pair.cso, NULL, 0, &settings, &scratch);
        checkNear(epa.depth, truth, 1e-13);
        checkBelow(angleDegrees(epa.normal, axis), 1e-5);
        rbMprResult r = rbMpr_Penetration(&pair.cso, NULL);
        checkSane(&r);
        if (i == 0) {
            checkNear(truth, 0.4, 1e-15);
            checkNear(r.distance, -5.0, 1e-13);
            checkVector(r.normal, rbMakeVec3(1.0, 0.0, 0.0), 1e-14);
            checkVector(rbSub(r.a, r.b), rbMakeVec3(5.0, 0.2, 0.0), 1e-13);
        }
        double normalOff = angleDegrees(r.normal, axis);
        double vectorOff = angleDegrees(rbSub(r.a, r.b), axis);
        print_message("true depth %.3f; MPR depth %.3f, normal off by %.1f, vector by %.1f deg\n",
                      truth, -r.distance, normalOff, vectorOff);
        assert_true(normalOff > 80.0 && vectorOff > 80.0);
        assert_true(-r.distance > 10.0 * truth);
        // wrong as contact data, but still inside its bounds
        assert_true(r.overlaps && r.lower <= -truth && r.upper >= -truth - 1e-14);
        // across, variant (b) finds the shortest exit
        rbMprResult along = rbMpr_PenetrationAlong(&pair.cso, axis, NULL);
        checkNear(along.travel, truth, 1e-12);
        freePair(&pair);
    }
}

// ---------------------------------------------------------------------------------- centers

// G-33: in any frame of a shape, its center is inside by a fraction of its size.
static void centersAreInside(void** state)
{
    (void)state;
    const rbVec3 corners[4] = {{7, 8, 9}, {8, 8, 9}, {7, 9, 9}, {7, 8, 10}};
    rbVec3 many[200]; // most of them on the base of a cone far from the origin
    many[0] = rbMakeVec3(100.0, 50.0, 3.0);
    for (int i = 1; i < 200; ++i) {
        many[i] = rbMakeVec3(100.0 + cos(0.1 * i), 50.0 + sin(0.1 * i), 1.0);
    }
    rbGeometry* shapes[] = {
        rbCreateSphere(0.5, NULL),       box(1, 2, 3),
        rbCreateCapsule(0.2, 1.0, NULL), rbCreateCylinder(1.0, 2.0, NULL),
        rbCreateCone(0.3, 5.0, NULL),    rbCreateEllipsoid(rbMakeVec3(1, 2, 3), NULL),
        rbCreateHull(corners, 4, NULL),  rbCreateHull(many, 200, NULL)};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
        rbConvex convex;
        assert_true(rbConvex_Make(shapes[i], 0.0, &convex));
        rbVec3 center = rbMpr_GetCenter(&convex);
        for (int k = 0; k < 6; ++k) {
            double step = k < 3 ? 5e-3 : -5e-3;
            rbVec3 near = {center.x + (k % 3 == 0 ? step : 0.0),
                           center.y + (k % 3 == 1 ? step : 0.0),
                           center.z + (k % 3 == 2 ? step : 0.0)};
            assert_true(rbGeometry_Contains(shapes[i], near));
        }
        // summed: the body about its center
        if (convex.radius == 0.0) {
            rbMinkowskiSum sum;
            rbMinkowskiSum_Make(&sum, &convex, &convex);
            checkVector(rbMpr_GetCenter(&sum.body), rbScale(2.0, center), 0.0);
        }
        // coincident centers always overlap
        Pair pair;
        rbVec3 p = rbSub(center, rbRotate((rbQuat){0.6, 0.8, 0.0, 0.0}, center));
        makePair(&pair, shapes[i], rbGeometry_Retain(shapes[i]),
                 (rbTransform){p, {0.6, 0.8, 0.0, 0.0}});
        rbMprResult r = rbMpr_Detect(&pair.cso, NULL);
        rbMprResult deep = rbMpr_Penetration(&pair.cso, NULL);
        checkSane(&r);
        checkSane(&deep);
        assert_true(r.overlaps && deep.overlaps && rbMpr_Overlaps(&pair.cso));
        assert_true(deep.distance < -0.1);
        freePair(&pair);
    }
}

// G-33: concentric boxes; the ray is chosen along the thinnest side of the difference.
static void coincidentCentersPartAlongTheThinnestSide(void** state)
{
    (void)state;
    Pair pair;
    makePair(&pair, box(3.0, 0.25, 2.0), box(1.0, 0.5, 4.0), at(0.0, 0.0, 0.0));
    rbMprResult r = rbMpr_Penetration(&pair.cso, NULL);
    checkSane(&r);
    checkNear(r.distance, -0.75, 1e-14);
    checkNear(fabs(r.normal.y), 1.0, 1e-14);
    freePair(&pair);
}

// ---------------------------------------------------------------------------------- hostile pairs

// G-33, E-19: cores without volume, radius taken away. Points, segments, and their exact answers.
static void flatDifferencesAreDecided(void** state)
{
    (void)state;
    static const double lengths[] = {0.0, 1.0};
    struct {
        int a, b; // 0 point, 1 segment along z
        rbVec3 p;
        double turn; // about x
        double distance;
    } cases[] = {
        {0, 0, {0, 0, 0}, 0, 0},           {0, 0, {3, 4, 0}, 0, 5},
        {0, 1, {0, 0, 0.5}, 0, 0},         {0, 1, {0, 0, 1.5}, 0, 0.5},
        {0, 1, {0.1, 0, 0.2}, 0, 0.1},     {1, 1, {0, 0, 0.7}, 0, 0},
        {1, 1, {0, 0, 2.5}, 0, 0.5},       {1, 1, {0.01, 0, 0.5}, 0, 0.01},
        {1, 1, {0, 0.5, 0.5}, 0.5, 0},     {1, 1, {1e-3, 0.5, 0.5}, 0.5, 1e-3},
        {1, 1, {0, 1.25, 0.5}, 0.5, 0.25}, {1, 1, {0, 0, 0}, 0.5, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        Pair pair;
        makePair(&pair, rbCreateCapsule(1.0, lengths[cases[i].a], NULL),
                 rbCreateCapsule(1.0, lengths[cases[i].b], NULL),
                 turned(cases[i].p, rbMakeVec3(1.0, 0.0, 0.0), cases[i].turn * RB_PI));
        pair.convex[0].radius = pair.convex[1].radius = 0.0;
        checkKnown(&pair, cases[i].distance, 1e-14);
        assert_int_equal(rbMpr_Overlaps(&pair.cso), cases[i].distance == 0.0);
        freePair(&pair);
    }
}

// G-33, E-19: needles, sizes of a nanometer, a thousand kilometers apart: gap +-g along x.
static void extremeSizesAreDecided(void** state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        Pair pair;
        // needles 1e6 : 1 crossing at right angles, gap 1e-9 of their length in z
        makePair(&pair, box(1.0, 1e-6, 1e-6), box(1e-6, 1.0, 1e-6),
                 at(0.3, -0.4, 2e-6 + 1e-9 * sign));
        checkKnown(&pair, 1e-9 * sign, 1e-13);
        freePair(&pair);
        makePair(&pair, box(1e-9, 2e-9, 1e-9), rbCreateSphere(1e-9, NULL),
                 at(2e-9 + 1e-12 * sign, 1e-9, 0.0));
        checkKnown(&pair, 1e-12 * sign, 1e-22);
        freePair(&pair);
        makePair(&pair, box(1e6, 1.0, 1.0), box(1.0, 1.0, 1.0), at(1e6 + 1.0 + 1e-6 * sign, 0, 0));
        checkKnown(&pair, 1e-6 * sign, 1e-7);
        freePair(&pair);
        // in different units
        makePair(&pair, rbCreateSphere(1e-9, NULL), box(1e6, 1e6, 1e6),
                 at(1e6 * (1.0 + 1e-9 * sign), 0.0, 0.0));
        checkKnown(&pair, 1e-3 * sign - 1e-9, 1e-7);
        freePair(&pair);
    }
    Pair pair;
    makePair(&pair, box(1, 1, 1), rbCreateCone(1.0, 2.0, NULL), at(1e6, 0.0, 0.0));
    rbMprResult r = rbMpr_Detect(&pair.cso, NULL);
    checkSane(&r);
    assert_true(!r.overlaps && r.reason == RB_STOP_APART && r.iterations == 1);
    checkNear(r.lower, 1e6 - 2.0, 1.0);
    freePair(&pair);
}

// G-33, E-19: every limit ends the search; an undecided pair counts as overlap and is reported.
static void limitsEndWithBoundsThatHold(void** state)
{
    (void)state;
    static const double gaps[2] = {1e-7, -1e-7};
    for (int k = 0; k < 2; ++k) {
        Pair pair;
        makePair(&pair, rbCreateEllipsoid(rbMakeVec3(1.0, 0.5, 2.0), NULL),
                 rbCreateEllipsoid(rbMakeVec3(0.5, 3.0, 1.0), NULL),
                 turned(rbMakeVec3(0.0, 0.0, 0.0), rbMakeVec3(1.0, 1.0, 0.3), 0.7));
        // move the second one next to the first, then to the gap
        pair.cso.translation = rbMakeVec3(3.0, 2.0, 1.0);
        pair.cso.scale = 5.0 + rbLength(pair.cso.translation);
        rbGjkResult far = rbGjk_Distance(&pair.cso, NULL, NULL);
        pair.cso.translation = rbAddScaled(pair.cso.translation, gaps[k] - far.lower, far.normal);
        int undecided = 0;
        for (int limit = 1; limit <= 100; ++limit) {
            rbMprSettings settings = {.relativeTolerance = 1e-9, .iterationMax = limit};
            const rbMprResult results[3] = {
                rbMpr_Detect(&pair.cso, &settings), rbMpr_Penetration(&pair.cso, &settings),
                rbMpr_PenetrationAlong(&pair.cso, rbMakeVec3(1.0, 2.0, -1.0), &settings)};
            for (int i = 0; i < 3; ++i) {
                checkSane(&results[i]);
                assert_true(results[i].lower <= gaps[k] + 1e-11 &&
                            results[i].upper >= gaps[k] - 1e-11);
                assert_true(results[i].iterations <= (i == 2 ? 2 * limit + 1 : limit + 1));
                bool isCut = results[i].reason == RB_STOP_ITERATIONS;
                assert_true(results[i].overlaps == (gaps[k] < 0.0) || isCut);
                undecided += isCut ? 1 : 0;
            }
        }
        assert_true(undecided > 20 && undecided < 300);
        assert_int_equal(rbMpr_Overlaps(&pair.cso), gaps[k] < 0.0);
        freePair(&pair);
    }
}

// E-11: a tetrahedron with an inner point starts EPA as well as one of surface points: the centers
// are the witnesses of V0.
static void aTetrahedronWithAnInnerPointStartsEpa(void** state)
{
    (void)state;
    Pair pair;
    makePair(&pair, box(1.0, 0.7, 0.5), rbCreateCone(0.8, 1.5, NULL),
             turned(rbMakeVec3(0.5, 0.4, 0.3), rbMakeVec3(1.0, 2.0, 3.0), 0.8));
    rbCsoPoint start[4];
    rbConvex* b = &pair.convex[1];
    start[0].a = rbMpr_GetCenter(&pair.convex[0]);
    start[0].b = rbAdd(rbMulMV(pair.cso.rotation, rbMpr_GetCenter(b)), pair.cso.translation);
    start[0].w = rbSub(start[0].a, start[0].b);
    start[0].vertexA = start[0].vertexB = -1;
    const rbVec3 directions[3] = {{1.0, 1.0, 0.2}, {-1.0, 1.0, 0.3}, {0.1, -1.0, 1.0}};
    for (int i = 0; i < 3; ++i) {
        start[1 + i] = rbCso_Support(&pair.cso, directions[i], NULL);
    }
    rbEpaSettings settings = rbDefaultEpaSettings();
    rbEpaResult inner = rbEpa_Depth(&pair.cso, start, 4, &settings, &scratch);
    rbEpaResult plain = rbEpa_Depth(&pair.cso, NULL, 0, &settings, &scratch);
    checkNear(inner.depth, plain.depth, 1e-8);
    checkBelow(rbDistance(inner.normal, plain.normal), 1e-3);
    freePair(&pair);
}

RB_TEST_GROUP(test_mpr, cmocka_unit_test(detectionTurnsWhereBodiesTouch),
              cmocka_unit_test(spheresOverlapByTheirRadii),
              cmocka_unit_test(aPortalOnTheNearestFaceIsRight),
              cmocka_unit_test(theWayOutOfABoxIsTheFirstFaceOnTheRay),
              cmocka_unit_test(theWayOutOfASphereIsItsQuadratic),
              cmocka_unit_test(longBoxesShowTheWrongNormal), cmocka_unit_test(centersAreInside),
              cmocka_unit_test(coincidentCentersPartAlongTheThinnestSide),
              cmocka_unit_test(flatDifferencesAreDecided), cmocka_unit_test(extremeSizesAreDecided),
              cmocka_unit_test(limitsEndWithBoundsThatHold),
              cmocka_unit_test(aTetrahedronWithAnInnerPointStartsEpa));
