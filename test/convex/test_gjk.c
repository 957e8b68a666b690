// Distances against closed forms, the inner problem against enumeration, and the settings.
#include "collision/convex/gjk.h"
#include "lab/convex/minkowski.h"
#include "lab/math/random3.h"
#include "rb_test.h"
#include "rb_wide.h"

#include <float.h>
#include <math.h>

static rbVec3 randomVec3(rbRandom* random, double size)
{
    double x = rbRandom_Symmetric(random);
    double y = rbRandom_Symmetric(random);
    double z = rbRandom_Symmetric(random);
    return rbMakeVec3(size * x, size * y, size * z);
}

static rbConvex makeConvex(rbGeometry* geometry)
{
    rbConvex convex;
    assert_non_null(geometry);
    assert_true(rbConvex_Make(geometry, 0.0, &convex));
    return convex;
}

static rbTransform at(double x, double y, double z)
{
    return (rbTransform){{x, y, z}, RB_QUAT_IDENTITY};
}

// Distance and its bounds to 1e-12 relative (and rounding of the scale).
static rbGjkResult checkDistance(const rbConvex* a, const rbConvex* b, rbTransform pose,
                                 double truth)
{
    rbCso cso = rbCso_Make(a, b, pose);
    rbGjkResult r = rbGjk_Distance(&cso, NULL, NULL);
    double slack = 1e-12 * truth + 4.0 * rbGjk_GetRounding(&cso);
    checkNear(r.upper, truth, slack);
    checkNear(r.lower, truth, slack);
    checkNear(rbDistance(r.a, r.b), truth, slack);
    if (truth > 4.0 * rbGjk_GetRounding(&cso)) {
        assert_false(r.overlaps);
    }
    return r;
}

static void checkVec3(rbVec3 value, rbVec3 truth, double tolerance)
{
    checkNear(value.x, truth.x, tolerance);
    checkNear(value.y, truth.y, tolerance);
    checkNear(value.z, truth.z, tolerance);
}

// -------------------------------------------------------------------------- the inner problem

// Squared distance of the origin from the line, plane or space of n points in rbWide; INFINITY if
// they are dependent or the foot is not in their hull.
static rbWide project(const rbVec3* points, int n)
{
    // normal equations of v = p0 + sum x_k (p_k - p0); Gram matrices need no pivoting, a small
    // pivot means a flat subset
    rbWide v[3] = {(rbWide)points[0].x, (rbWide)points[0].y, (rbWide)points[0].z};
    rbWide edge[3][3] = {{0}};
    rbWide m[3][4] = {{0}};
    for (int k = 0; k < n - 1; ++k) {
        edge[k][0] = (rbWide)points[k + 1].x - v[0];
        edge[k][1] = (rbWide)points[k + 1].y - v[1];
        edge[k][2] = (rbWide)points[k + 1].z - v[2];
        m[k][3] = -(edge[k][0] * v[0] + edge[k][1] * v[1] + edge[k][2] * v[2]);
        for (int c = 0; c <= k; ++c) {
            m[k][c] = edge[k][0] * edge[c][0] + edge[k][1] * edge[c][1] + edge[k][2] * edge[c][2];
            m[c][k] = m[k][c];
        }
    }
    for (int r = 0; r < n - 1; ++r) {
        if (m[r][r] < 1e-12L) {
            return INFINITY;
        }
        for (int below = r + 1; below < n - 1; ++below) {
            rbWide f = m[below][r] / m[r][r];
            for (int c = r; c < 4; ++c) {
                m[below][c] -= f * m[r][c];
            }
        }
    }
    rbWide x[3] = {0};
    for (int r = n - 2; r >= 0; --r) {
        x[r] = m[r][3];
        for (int c = r + 1; c < n - 1; ++c) {
            x[r] -= m[r][c] * x[c];
        }
        x[r] /= m[r][r];
    }
    if (rbWideMin(x[0], rbWideMin(x[1], x[2])) < 0.0L || x[0] + x[1] + x[2] > 1.0L) {
        return INFINITY;
    }
    for (int k = 0; k < 3; ++k) {
        for (int c = 0; c < 3; ++c) {
            v[c] += x[k] * edge[k][c];
        }
    }
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

// Squared distance of the origin from the hull of points: the least one over all subsets.
static rbWide enumerate(const rbCsoPoint* points, int count)
{
    rbWide best = INFINITY;
    for (unsigned set = 1; set < 1U << count; ++set) {
        rbVec3 subset[4] = {{0}};
        int n = 0;
        for (int i = 0; i < count; ++i) {
            if ((set >> i & 1U) != 0) {
                subset[n++] = points[i].w;
            }
        }
        best = rbWideMin(best, project(subset, n));
    }
    return best;
}

static void checkNearest(const rbCsoPoint* points, int count, const rbNearest* nearest,
                         double truth)
{
    checkNear(sqrt(nearest->lengthSquared), truth, 1e-13);
    checkNear(rbLength(nearest->v), truth, 1e-13);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        assert_true(nearest->weights[i] >= 0.0);
        assert_true(nearest->weights[i] == 0.0 || (nearest->used >> i & 1U) != 0);
        sum += nearest->weights[i];
    }
    checkNear(sum, 1.0, 1e-14);
    checkNear(rbLength(rbCombine(points, count, nearest->weights)), truth, 1e-13);
}

// Coordinates on a grid of few values give many repeated, collinear and coplanar points.
// G-06, G-19
static void nearestPointOfDegenerateSimplicesIsExact(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(310)};
    int total = rbTest_Count(4000, 400000);
    for (int i = 0; i < total; ++i) {
        rbCsoPoint points[4] = {0};
        int count = 1 + rbRandom_Index(&random, 4);
        int grid = 1 + rbRandom_Index(&random, 6);
        rbVec3 shift = i % 2 == 0 ? RB_VEC3_ZERO : randomVec3(&random, 1.0);
        for (int k = 0; k < count; ++k) {
            rbVec3 w;
            w.x = rbRandom_Index(&random, 2 * grid + 1) - grid;
            w.y = rbRandom_Index(&random, 2 * grid + 1) - grid;
            w.z = rbRandom_Index(&random, 2 * grid + 1) - grid;
            points[k].w = rbAdd(rbScale(1.0 / grid, w), shift);
        }
        double truth = (double)rbWideSqrt(enumerate(points, count));
        rbNearest nearest;
        rbFindNearestByTrial(points, count, &nearest);
        checkNearest(points, count, &nearest, truth);
        rbFindNearest(points, count, &nearest);
        checkNearest(points, count, &nearest, truth);
        double weights[4] = {0.25, 0.25, 0.25, 0.25};
        double before = rbLength(rbCombine(points, count, weights));
        rbRefineWeights(points, count, weights);
        checkBelow(rbLength(rbCombine(points, count, weights)), before + 1e-15);
    }
}

// G-19, G-32
static void needleFacesKeepTheirNormal(void** state)
{
    (void)state;
    // Two corners a length apart, the third 1 m away; the foot of the origin is inside. The plane
    // is z = h, so the nearest point is (0, 0, h) with a direction free of rounding.
    for (int i = 0; i < 9; ++i) {
        for (int k = 0; k < 7; ++k) {
            double width = pow(10.0, -i);
            double h = pow(10.0, -2 * k);
            rbCsoPoint points[3] = {
                {.w = {-0.5, -width, h}}, {.w = {-0.5, width, h}}, {.w = {0.5, 0.0, h}}};
            rbNearest nearest;
            rbFindNearest(points, 3, &nearest);
            assert_int_equal(nearest.used, 7);
            checkRelative(nearest.v.z, h, 1e-15);
            checkNear(nearest.v.x, 0.0, 1e-15 * h);
            checkNear(nearest.v.y, 0.0, 1e-15 * h);
        }
    }
}

// ------------------------------------------------------------------------------- closed forms

// G-18
static void spheresAreTheirCentersApart(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(0.5, NULL);
    rbConvex a = makeConvex(ball);
    rbRandom random = {rbTest_Seed(311)};
    for (int i = 0; i < 200; ++i) {
        rbTransform pose = {randomVec3(&random, pow(10.0, rbRandom_Range(&random, -9.0, 6.0))),
                            rbRandom_Quat(&random)};
        rbGjkResult r = checkDistance(&a, &a, pose, rbLength(pose.p));
        checkVec3(r.normal, rbNormalize(pose.p), 1e-14);
        assert_int_equal(r.iterations, 1);
    }
    rbGjkResult same = checkDistance(&a, &a, at(0.0, 0.0, 0.0), 0.0);
    assert_true(same.overlaps);
    checkNear(rbLength(same.normal), 1.0, 1e-15);
    rbDestroyGeometry(ball);
}

// G-18
static void pointsAreAtTheirClampedDistanceFromBoxes(void** state)
{
    (void)state;
    rbVec3 half = {1.0, 0.6, 0.3};
    rbGeometry* box = rbCreateBox(half, NULL);
    rbGeometry* ball = rbCreateSphere(0.5, NULL);
    rbConvex a = makeConvex(box);
    rbConvex b = makeConvex(ball);
    rbRandom random = {rbTest_Seed(312)};
    for (int i = 0; i < 2000; ++i) {
        rbTransform pose = {randomVec3(&random, 2.0), rbRandom_Quat(&random)};
        rbVec3 foot = rbMax3(rbNeg(half), rbMin3(half, pose.p));
        rbGjkResult r = checkDistance(&a, &b, pose, rbDistance(foot, pose.p));
        if (r.lower > 0.0) {
            checkVec3(r.a, foot, 1e-13);
            checkVec3(r.b, pose.p, 1e-15);
            checkVec3(r.normal, rbNormalize(rbSub(pose.p, foot)), 1e-12 / r.lower);
        } else {
            assert_true(r.overlaps);
        }
    }
    rbDestroyGeometry(box);
    rbDestroyGeometry(ball);
}

// G-18
static void segmentsInSpecialPositionAreKnown(void** state)
{
    (void)state;
    rbGeometry* capsule = rbCreateCapsule(0.1, 1.0, NULL);
    rbConvex a = makeConvex(capsule);
    double s = sqrt(0.5);
    rbTransform crossed = {{0.2, 0.3, 0.4}, {s, s, 0.0, 0.0}}; // along y, through y = 0.3
    checkDistance(&a, &a, crossed, 0.2);
    rbTransform past = {{0.0, 1.5, 2.0}, {s, s, 0.0, 0.0}}; // ends 0.5 and 1 away in y and z
    checkDistance(&a, &a, past, sqrt(0.5 * 0.5 + 1.0));
    checkDistance(&a, &a, at(0.7, 0.0, 0.0), 0.7);               // parallel, side by side
    checkDistance(&a, &a, at(0.7, 0.0, 0.5), 0.7);               // parallel, shifted
    checkDistance(&a, &a, at(0.3, 0.4, 3.2), sqrt(0.25 + 1.44)); // parallel, one after the other
    checkDistance(&a, &a, at(0.0, 0.0, 2.5), 0.5);               // on one line
    checkDistance(&a, &a, at(0.0, 0.0, 1.0), 0.0);               // on one line, overlapping
    rbGjkResult end = checkDistance(&a, &a, at(0.0, 0.0, 2.0), 0.0);
    assert_true(end.overlaps);
    rbDestroyGeometry(capsule);
}

// G-18, G-19
static void boxesKnowTheirGapsByFaceEdgeAndCorner(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbConvex a = makeConvex(box);
    rbQuat turn = {cos(RB_PI / 8.0), 0.0, 0.0, sin(RB_PI / 8.0)}; // 45 degrees about z
    for (int i = 0; i < 13; ++i) {
        double gap = pow(10.0, -i);
        rbGjkResult face = checkDistance(&a, &a, at(2.0 + gap, 0.3, -0.2), gap);
        checkVec3(face.normal, rbMakeVec3(1.0, 0.0, 0.0), 1e-14);
        double d = gap / sqrt(2.0);
        rbGjkResult edge = checkDistance(&a, &a, at(2.0 + d, 2.0 + d, 0.5), d * sqrt(2.0));
        checkVec3(edge.normal, rbMakeVec3(sqrt(0.5), sqrt(0.5), 0.0), 2e-15 / gap);
        d = gap / sqrt(3.0);
        rbGjkResult corner = checkDistance(&a, &a, at(2.0 + d, 2.0 + d, 2.0 + d), d * sqrt(3.0));
        checkVec3(corner.normal, rbScale(sqrt(1.0 / 3.0), rbMakeVec3(1.0, 1.0, 1.0)), 3e-15 / gap);
        rbTransform turned = {{1.0 + sqrt(2.0) + gap, 0.1, 0.2}, turn}; // edge against face
        rbGjkResult wedge = checkDistance(&a, &a, turned, gap);
        checkVec3(wedge.normal, rbMakeVec3(1.0, 0.0, 0.0), 1e-12);
    }
    // touching and nearly so: the normal is still that of the faces
    static const double gaps[] = {0.0, 1e-16, 4e-16, 1e-15, 1e-14};
    for (int i = 0; i < 5; ++i) {
        rbGjkResult touch = checkDistance(&a, &a, at(2.0 + gaps[i], 0.3, -0.2), gaps[i]);
        checkVec3(touch.normal, rbMakeVec3(1.0, 0.0, 0.0), 1e-12);
    }
    rbDestroyGeometry(box);
}

// Touching faces, rotated and shifted against each other; with neither, the origin lies on
// diagonals of the difference. The normal is that of the faces whatever simplex the search ended
// with.
// G-19, G-32
static void touchingFacesKnowTheirNormal(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbConvex a = makeConvex(box);
    rbRandom random = {rbTest_Seed(318)};
    for (int i = 0; i < 1000; ++i) {
        double angle = i % 2 == 0 ? 0.0 : rbRandom_Range(&random, 0.0, RB_PI);
        double y = i % 3 == 0 ? 0.0 : rbRandom_Symmetric(&random);
        double z = i % 3 == 1 ? y : i % 5 == 0 ? 0.0 : rbRandom_Symmetric(&random);
        rbTransform pose = {{i % 4 < 2 ? 2.0 : -2.0, y, z}, {cos(angle), sin(angle), 0.0, 0.0}};
        rbGjkResult r = checkDistance(&a, &a, pose, 0.0);
        assert_true(r.overlaps);
        checkVec3(r.normal, rbMakeVec3(pose.p.x > 0.0 ? 1.0 : -1.0, 0.0, 0.0), 1e-9);
    }
    rbDestroyGeometry(box);
}

// Distance of (r, z) and the segment p-q of the half plane.
static double segmentDistance(double r, double z, const double p[2], const double q[2])
{
    double ex = q[0] - p[0];
    double ez = q[1] - p[1];
    double t = ((r - p[0]) * ex + (z - p[1]) * ez) / (ex * ex + ez * ez);
    t = fmax(0.0, fmin(1.0, t));
    return hypot(r - p[0] - t * ex, z - p[1] - t * ez);
}

// Root t > 0 of sum (a p / (a^2 + t))^2 = 1 by bisection; the foot is a^2 p / (a^2 + t).
static double ellipsoidDistance(rbVec3 axes, rbVec3 p)
{
    rbWide a[3] = {(rbWide)axes.x, (rbWide)axes.y, (rbWide)axes.z};
    rbWide x[3] = {(rbWide)p.x, (rbWide)p.y, (rbWide)p.z};
    rbWide low = 0.0L;
    rbWide high = 1e3L;
    for (int i = 0; i < 120; ++i) {
        rbWide t = 0.5L * (low + high);
        rbWide sum = 0.0L;
        for (int k = 0; k < 3; ++k) {
            rbWide f = a[k] * x[k] / (a[k] * a[k] + t);
            sum += f * f;
        }
        *(sum > 1.0L ? &low : &high) = t;
    }
    rbWide d = 0.0L;
    for (int k = 0; k < 3; ++k) {
        rbWide f = x[k] * low / (a[k] * a[k] + low);
        d += f * f;
    }
    return (double)rbWideSqrt(d);
}

// G-08, G-18
static void pointsKnowTheirDistanceFromSmoothShapes(void** state)
{
    (void)state;
    rbVec3 axes = {1.0, 0.7, 0.4};
    rbGeometry* shapes[3] = {rbCreateEllipsoid(axes, NULL), rbCreateCylinder(0.6, 0.8, NULL),
                             rbCreateCone(0.6, 1.6, NULL)};
    rbGeometry* ball = rbCreateSphere(0.1, NULL);
    rbConvex b = makeConvex(ball);
    rbRandom random = {rbTest_Seed(313)};
    for (int i = 0; i < 600; ++i) {
        rbVec3 p = rbScale(rbRandom_Range(&random, 1.2, 4.0), rbRandom_Direction(&random));
        double r = hypot(p.x, p.y);
        double rim[2] = {0.6, -0.8};
        double apex[2] = {0.0, 0.8};
        double center[2] = {0.0, -0.8};
        double truth[3] = {
            ellipsoidDistance(axes, p), hypot(fmax(r - 0.6, 0.0), fmax(fabs(p.z) - 0.8, 0.0)),
            fmin(segmentDistance(r, p.z, rim, apex), segmentDistance(r, p.z, rim, center))};
        for (int k = 0; k < 3; ++k) {
            rbConvex a = makeConvex(shapes[k]);
            checkDistance(&a, &b, (rbTransform){p, rbRandom_Quat(&random)}, truth[k]);
            // and in the reverse order
            rbTransform back = {rbNeg(p), RB_QUAT_IDENTITY};
            checkDistance(&b, &a, back, truth[k]);
        }
    }
    for (int k = 0; k < 3; ++k) {
        rbDestroyGeometry(shapes[k]);
    }
    rbDestroyGeometry(ball);
}

// G-24, G-32
static void lengthsOfAnyUnitGiveTheSameSearch(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(314)};
    for (int i = 0; i < 50; ++i) {
        rbVec3 half = {rbRandom_Range(&random, 0.3, 1.0), rbRandom_Range(&random, 0.3, 1.0), 1.0};
        rbTransform pose = {rbScale(3.0, rbRandom_Direction(&random)), rbRandom_Quat(&random)};
        rbGjkResult first = {0};
        for (int k = 0; k < 5; ++k) {
            static const double units[] = {1.0, 0x1p-30, 0x1p-12, 0x1p+10, 0x1p+30};
            rbGeometry* shapes[2] = {rbCreateBox(rbScale(units[k], half), NULL),
                                     rbCreateEllipsoid(rbScale(units[k], half), NULL)};
            rbConvex a = makeConvex(shapes[0]);
            rbConvex b = makeConvex(shapes[1]);
            rbTransform scaled = {rbScale(units[k], pose.p), pose.q};
            rbCso cso = rbCso_Make(&a, &b, scaled);
            rbGjkResult r = rbGjk_Distance(&cso, NULL, NULL);
            if (k == 0) {
                first = r;
            }
            checkRelative(r.upper, units[k] * first.upper, 1e-14);
            checkRelative(r.lower, units[k] * first.lower, 1e-14);
            assert_int_equal(r.iterations, first.iterations);
            rbDestroyGeometry(shapes[0]);
            rbDestroyGeometry(shapes[1]);
        }
    }
}

// ---------------------------------------------------------------------------- boolean, nested

// G-20
static void overlapQueriesRespectRadiiAndMargin(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(0.5, NULL);
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbConvex a = makeConvex(box);
    rbConvex b = makeConvex(ball);
    rbGjkCache cache = {0};
    for (int i = 0; i < 38; ++i) {
        double gap = -0.4 + i * 0.03717;
        rbCso cso = rbCso_Make(&a, &b, at(1.5 + gap, 0.2, 0.1));
        for (int k = 0; k < 9; ++k) {
            double margin = k * 0.0613;
            assert_int_equal(rbGjk_Overlaps(&cso, margin, NULL), gap <= margin);
            assert_int_equal(rbGjk_Overlaps(&cso, margin, &cache), gap <= margin);
        }
    }
    // exactly touching counts as contact, one part in 1e12 more does not
    rbCso touching = rbCso_Make(&a, &a, at(2.0, 0.0, 0.0));
    assert_true(rbGjk_Overlaps(&touching, 0.0, NULL));
    rbCso apart = rbCso_Make(&a, &a, at(2.0 + 2e-12, 0.0, 0.0));
    assert_false(rbGjk_Overlaps(&apart, 0.0, NULL));
    assert_true(rbGjk_Overlaps(&apart, 3e-12, NULL));
    rbDestroyGeometry(ball);
    rbDestroyGeometry(box);
}

// G-18
static void nestedAndConcentricBodiesOverlap(void** state)
{
    (void)state;
    rbGeometry* shapes[6] = {rbCreateBox(rbMakeVec3(1.0, 0.8, 0.6), NULL),
                             rbCreateEllipsoid(rbMakeVec3(0.2, 0.3, 0.1), NULL),
                             rbCreateCylinder(2.0, 3.0, NULL),
                             rbCreateCone(0.3, 0.5, NULL),
                             rbCreateCapsule(0.1, 0.4, NULL),
                             rbCreateSphere(0.2, NULL)};
    rbRandom random = {rbTest_Seed(315)};
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            rbConvex a = makeConvex(shapes[i]);
            rbConvex b = makeConvex(shapes[j]);
            for (int k = 0; k < 20; ++k) {
                rbTransform pose = {RB_VEC3_ZERO,
                                    k == 0 ? RB_QUAT_IDENTITY : rbRandom_Quat(&random)};
                rbCso cso = rbCso_Make(&a, &b, pose);
                rbGjkResult r = rbGjk_Distance(&cso, NULL, NULL);
                assert_true(r.overlaps);
                assert_true(r.lower == 0.0);
                checkBelow(r.upper, 4.0 * rbGjk_GetRounding(&cso));
                assert_true(rbGjk_Overlaps(&cso, 0.0, NULL));
            }
        }
    }
    for (int i = 0; i < 6; ++i) {
        rbDestroyGeometry(shapes[i]);
    }
}

// G-18
static void boxesThatStayInPlaceNeedOneSupport(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 0.7, 0.5), NULL);
    rbConvex a = makeConvex(box);
    rbRandom random = {rbTest_Seed(316)};
    for (int i = 0; i < 300; ++i) {
        rbTransform pose = {rbScale(3.0, rbRandom_Direction(&random)), rbRandom_Quat(&random)};
        rbCso cso = rbCso_Make(&a, &a, pose);
        rbGjkCache cache = {0};
        rbGjkResult cold = rbGjk_Distance(&cso, NULL, &cache);
        rbGjkResult warm = rbGjk_Distance(&cso, NULL, &cache);
        checkNear(warm.upper, cold.upper, rbGjk_GetRounding(&cso));
        assert_in_range(warm.iterations, 0, 1);
    }
    rbDestroyGeometry(box);
}

// A rounded body is its core minus the radius; a sum with a ball gives the same.
// G-07, G-08
static void roundingAndSummingAgree(void** state)
{
    (void)state;
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 0.7, 0.5), NULL);
    rbGeometry* round = rbCreateEllipsoid(rbMakeVec3(0.3, 0.3, 0.3), NULL);
    rbConvex b = makeConvex(box);
    rbConvex plain = makeConvex(box);
    rbConvex ball = makeConvex(round);
    rbMinkowskiSum sum;
    rbMinkowskiSum_Make(&sum, &plain, &ball);
    rbRandom random = {rbTest_Seed(317)};
    for (int i = 0; i < 300; ++i) {
        rbTransform pose = {rbScale(4.0, rbRandom_Direction(&random)), rbRandom_Quat(&random)};
        rbCso core = rbCso_Make(&plain, &b, pose);
        rbCso whole = rbCso_Make(&sum.body, &b, pose);
        rbGjkResult c = rbGjk_Distance(&core, NULL, NULL);
        rbGjkResult w = rbGjk_Distance(&whole, NULL, NULL);
        checkNear(w.upper, c.upper - 0.3, 1e-11);
        checkNear(w.lower, c.lower - 0.3, 1e-11);
    }
    rbDestroyGeometry(box);
    rbDestroyGeometry(round);
}

RB_TEST_GROUP(test_gjk, cmocka_unit_test(nearestPointOfDegenerateSimplicesIsExact),
              cmocka_unit_test(needleFacesKeepTheirNormal),
              cmocka_unit_test(spheresAreTheirCentersApart),
              cmocka_unit_test(pointsAreAtTheirClampedDistanceFromBoxes),
              cmocka_unit_test(segmentsInSpecialPositionAreKnown),
              cmocka_unit_test(boxesKnowTheirGapsByFaceEdgeAndCorner),
              cmocka_unit_test(touchingFacesKnowTheirNormal),
              cmocka_unit_test(pointsKnowTheirDistanceFromSmoothShapes),
              cmocka_unit_test(lengthsOfAnyUnitGiveTheSameSearch),
              cmocka_unit_test(overlapQueriesRespectRadiiAndMargin),
              cmocka_unit_test(nestedAndConcentricBodiesOverlap),
              cmocka_unit_test(boxesThatStayInPlaceNeedOneSupport),
              cmocka_unit_test(roundingAndSummingAgree));
