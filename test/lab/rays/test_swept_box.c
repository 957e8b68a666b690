// Oriented boxes around bodies and their swept volumes, and whether two of them intersect.
#include "lab/math/random3.h"
#include "lab/rays/path_bend.h"
#include "lab/rays/swept_box.h"
#include "rb_test.h"

#include <math.h>

// Whether a ball around a point is within a box, up to a rounding slack.
static bool holdsBall(const rbOrientedBox* box, rbVec3 point, double radius)
{
    rbVec3 d = rbSub(point, box->center);
    for (int i = 0; i < 3; ++i) {
        if (fabs(rbDot(d, box->axes[i])) + radius > box->half[i] + 1e-13) {
            return false;
        }
    }
    return true;
}

static void checkAxes(const rbOrientedBox* box)
{
    for (int i = 0; i < 3; ++i) {
        checkNear(rbLength(box->axes[i]), 1.0, 1e-14);
        checkNear(rbDot(box->axes[i], box->axes[(i + 1) % 3]), 0.0, 1e-14);
    }
    checkNear(rbDot(rbCross(box->axes[0], box->axes[1]), box->axes[2]), 1.0, 1e-14);
}

// The radius is the farthest point; it does not change when the body rotates about its origin.
//
static void radiusIsTheFarthestPoint(void** state)
{
    (void)state;
    rbError error = {0};
    rbGeometry* sphere = rbCreateSphere(1.5, &error);
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 2.0, 2.0), &error);
    checkNear(rbGeometry_GetRadius(sphere, RB_VEC3_ZERO), 1.5, 0.0);
    checkNear(rbGeometry_GetRadius(box, RB_VEC3_ZERO), 3.0, 1e-15);
    rbDestroyGeometry(sphere);
    rbDestroyGeometry(box);
}

//
static void boxOfAStandingSphere(void** state)
{
    (void)state;
    rbOrientedBox box = rbBoxSphere(rbMakeVec3(1.0, -2.0, 3.0), 0.5);
    checkAxes(&box);
    for (int i = 0; i < 3; ++i) {
        checkNear(box.half[i], 0.5, 1e-10);
    }
    checkBelow(rbDistance(box.center, rbMakeVec3(1.0, -2.0, 3.0)), 1e-15);
}

// A cuboid of triangles: the longest edge is the diagonal of its largest faces, so that the box is
// larger than the cuboid, as its author states; the pyramid of the scenes: its longest edge is from
// the tip to a corner of the base, sqrt(1 + 4 + 1).
//
static void boxOfAPolytopeGoesAlongItsLongestEdge(void** state)
{
    (void)state;
    const rbVec3 pyramid[4] = {{0, 1, 0}, {1, -1, 1}, {-1, -1, 1}, {0, -1, -1}};
    rbError error = {0};
    rbGeometry* hull = rbCreateHull(pyramid, 4, &error);
    assert_non_null(hull);
    rbTransform pose = {{3.0, 4.0, 5.0}, rbNormalizeQuat((rbQuat){1.0, 0.4, -0.2, 0.7})};
    rbOrientedBox box = rbBoxGeometry(hull, pose);
    checkAxes(&box);
    rbVec3 first = rbRotate(pose.q, rbNormalize(rbMakeVec3(1.0, -2.0, 1.0)));
    rbVec3 second = rbRotate(pose.q, rbNormalize(rbMakeVec3(-1.0, -2.0, 1.0)));
    double along = fmax(fabs(rbDot(box.axes[0], first)), fabs(rbDot(box.axes[0], second)));
    checkNear(along, 1.0, 1e-12);
    assert_true(2.0 * box.half[0] >= sqrt(6.0));
    for (int i = 0; i < 4; ++i) {
        assert_true(holdsBall(&box, rbTransformPoint(pose, pyramid[i]), 0.0));
    }
    rbDestroyGeometry(hull);
    // The cuboid of 2 x 4 x 6 as triangles.
    rbGeometry* solid = rbCreateBox(rbMakeVec3(1.0, 2.0, 3.0), &error);
    rbTriangles triangles;
    assert_int_equal(rbGeometry_Triangulate(solid, 1e-3, 1.0, &triangles, &error), RB_STATUS_OK);
    rbMeshDef mesh = {.vertices = triangles.vertices,
                      .vertexCount = triangles.vertexCount,
                      .indices = triangles.triangles[0],
                      .faceCount = triangles.triangleCount};
    assert_true(rbBoxPolytope(&mesh, RB_TRANSFORM_IDENTITY, &box));
    checkNear(fabs(box.axes[0].x), 0.0, 1e-12);
    checkNear(fabs(box.axes[0].z) * sqrt(52.0), 6.0, 1e-12);
    assert_true(8.0 * box.half[0] * box.half[1] * box.half[2] > 48.0);
    rbFreeTriangles(&triangles);
    rbDestroyGeometry(solid);
    // Vertices on one line have no box of this kind.
    const rbVec3 line[3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}};
    const int corners[3] = {0, 1, 2};
    rbMeshDef flat = {.vertices = line, .vertexCount = 3, .indices = corners, .faceCount = 1};
    assert_false(rbBoxPolytope(&flat, RB_TRANSFORM_IDENTITY, &box));
}

// A box has its own axes; a triangle has a box that is flat up to rounding.
//
static void boxesOfABoxAndATriangle(void** state)
{
    (void)state;
    rbError error = {0};
    rbGeometry* solid = rbCreateBox(rbMakeVec3(1.0, 2.0, 3.0), &error);
    rbTransform pose = {{1.0, 0.0, 0.0}, rbNormalizeQuat((rbQuat){1.0, 0.4, -0.2, 0.7})};
    rbOrientedBox box = rbBoxGeometry(solid, pose);
    checkAxes(&box);
    checkBelow(rbDistance(box.center, pose.p), 1e-14);
    checkNear(box.half[0], 1.0, 1e-10);
    checkNear(box.half[1], 2.0, 1e-10);
    checkNear(box.half[2], 3.0, 1e-10);
    checkBelow(rbDistance(box.axes[2], rbRotate(pose.q, rbMakeVec3(0.0, 0.0, 1.0))), 1e-14);
    rbDestroyGeometry(solid);
    const rbVec3 corners[3] = {{0, 0, 0}, {4, 0, 0}, {1, 2, 0}};
    const int indices[3] = {0, 1, 2};
    rbMeshDef mesh = {.vertices = corners, .vertexCount = 3, .indices = indices, .faceCount = 1};
    rbGeometry* triangle = rbCreateMesh(&mesh, &error);
    assert_non_null(triangle);
    box = rbBoxGeometry(triangle, RB_TRANSFORM_IDENTITY);
    checkAxes(&box);
    checkNear(box.half[0], 2.0, 1e-10);
    checkNear(box.half[1], 1.0, 1e-10);
    checkNear(box.half[2], 0.0, 1e-10);
    assert_true(box.half[2] > 0.0);
    rbDestroyGeometry(triangle);
    rbGeometry* plane = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, &error);
    box = rbBoxGeometry(plane, RB_TRANSFORM_IDENTITY);
    assert_true(box.isEndless);
    rbOrientedBox far = rbBoxSphere(rbMakeVec3(0.0, 0.0, 1e6), 1.0);
    assert_true(rbBoxesMeet(&box, &far));
    rbDestroyGeometry(plane);
}

// Extents 2 r, 2 r and |v| + 2 r.
//
static void boxOfAStraightPath(void** state)
{
    (void)state;
    rbVec3 from = {1.0, 2.0, 3.0};
    rbVec3 to = {4.0, 6.0, 15.0};
    rbOrientedBox box = rbBoxLine(from, to, 0.5);
    checkAxes(&box);
    checkNear(2.0 * box.half[0], 13.0 + 1.0, 1e-9);
    checkNear(2.0 * box.half[1], 1.0, 1e-9);
    checkNear(2.0 * box.half[2], 1.0, 1e-9);
    checkBelow(rbDistance(box.center, rbScale(0.5, rbAdd(from, to))), 1e-13);
    assert_true(holdsBall(&box, from, 0.5) && holdsBall(&box, to, 0.5));
    box = rbBoxLine(from, from, 0.5);
    checkNear(box.half[0], 0.5, 1e-9);
}

// Random curves, including closed ones: the box contains the ball everywhere, and no side can be
// moved in.
// R-42, RX-09
static void boxOfACurveHoldsItAndIsTight(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(42)};
    for (int i = 0; i < rbTest_Count(200, 2000); ++i) {
        rbVec3 points[4];
        for (int k = 0; k < 4; ++k) {
            points[k] = rbScale(5.0, rbRandom_Direction(&random));
        }
        rbPathDef def = rbDefaultPathDef();
        def.type = RB_PATH_CURVE;
        def.points = points + 1;
        def.pointCount = 3;
        def.speed = 1.0;
        def.tangentFactor = rbRandom_Range(&random, 0.0, 2.0);
        def.isClosed = i % 3 == 0;
        rbError error = {0};
        rbTransform start = {points[0], {1.0, 0.0, 0.0, 0.0}};
        rbPath* path = rbPath_Create(&def, start, &error);
        assert_non_null(path);
        int count = 0;
        const rbVec3(*pieces)[4] = rbPath_GetPieces(path, &count);
        double radius = 0.3;
        rbOrientedBox box = rbBoxCurve(pieces, count, radius);
        checkAxes(&box);
        double reach[6] = {0};
        for (int k = 0; k <= 2000; ++k) {
            rbTransform pose;
            rbVec3 velocity;
            rbVec3 spin;
            rbPath_Evaluate(path, rbPath_GetLength(path) * k / 2000.0, &pose, &velocity, &spin);
            assert_true(holdsBall(&box, pose.p, radius));
            for (int side = 0; side < 6; ++side) {
                double x = rbDot(rbSub(pose.p, box.center), box.axes[side / 2]);
                reach[side] = fmax(reach[side], (side % 2 == 1 ? x : -x) + radius);
            }
        }
        for (int side = 0; side < 6; ++side) {
            // The nearest sample is within half the sample distance of an extremum.
            double spacing = rbPath_GetLength(path) / 2000.0;
            checkBelow(box.half[side / 2] - reach[side], 0.5 * spacing + 1e-9);
        }
        rbPath_Destroy(path);
    }
}

//
static void recordOfABox(void** state)
{
    (void)state;
    rbTransform pose = {{1.0, 2.0, 3.0}, rbNormalizeQuat((rbQuat){1.0, 0.4, -0.2, 0.7})};
    rbError error = {0};
    rbGeometry* solid = rbCreateBox(rbMakeVec3(1.0, 2.0, 3.0), &error);
    rbOrientedBox box = rbBoxGeometry(solid, pose);
    rbBoxRecord record = rbMakeBoxRecord(&box);
    rbDestroyGeometry(solid);
    checkBelow(rbDistance(record.center, rbScale(0.5, rbAdd(record.corners[0], record.corners[7]))),
               1e-13);
    for (int c = 0; c < 8; ++c) {
        rbVec3 corner = record.corner;
        for (int i = 0; i < 3; ++i) {
            corner = rbAddScaled(corner, (c >> i & 1) != 0 ? 1.0 : 0.0, record.edges[i]);
        }
        checkBelow(rbDistance(corner, record.corners[c]), 1e-13);
    }
    for (int f = 0; f < 6; ++f) {
        rbVec3 outward = rbSub(record.faceCenters[f], record.center);
        checkNear(rbDot(rbNormalize(outward), record.normals[f]), 1.0, 1e-12);
        checkNear(rbLength(outward), box.half[f / 2], 1e-12);
        for (int k = 0; k < 2; ++k) {
            const int* t = record.triangles[2 * f + k];
            rbVec3 p = record.corners[t[0]];
            rbVec3 normal = rbCross(rbSub(record.corners[t[1]], p), rbSub(record.corners[t[2]], p));
            checkNear(rbDot(rbNormalize(normal), record.normals[f]), 1.0, 1e-12);
        }
        // The longest side of a triangle of a face is its diagonal, which the center halves.
        const int* half = record.triangles[f + f];
        rbVec3 middle = rbScale(0.5, rbAdd(record.corners[half[0]], record.corners[half[2]]));
        checkBelow(rbDistance(middle, record.faceCenters[f]), 1e-13);
    }
}

static rbOrientedBox drawBox(rbRandom* random, bool isParallel)
{
    rbOrientedBox box = {.isEndless = false};
    rbQuat q = rbRandom_Quat(random);
    q = isParallel ? (rbQuat){1.0, 0.0, 0.0, 0.0} : q;
    rbMat3 m = rbMatFromQuat(q);
    box.axes[0] = m.cx;
    box.axes[1] = m.cy;
    box.axes[2] = m.cz;
    for (int i = 0; i < 3; ++i) {
        box.half[i] = rbRandom_Range(random, 0.3, 1.8);
    }
    box.center.x = 2.0 * rbRandom_Symmetric(random);
    box.center.y = 2.0 * rbRandom_Symmetric(random);
    box.center.z = 2.0 * rbRandom_Symmetric(random);
    return box;
}

// The fifteen axes as in the definition.
static bool areApart(const rbOrientedBox* a, const rbOrientedBox* b, double* margin)
{
    rbVec3 list[15];
    for (int i = 0; i < 3; ++i) {
        list[i] = a->axes[i];
        list[3 + i] = b->axes[i];
        for (int k = 0; k < 3; ++k) {
            list[6 + 3 * i + k] = rbCross(a->axes[i], b->axes[k]);
        }
    }
    double widest = -INFINITY;
    for (int i = 0; i < 15; ++i) {
        double length = rbLength(list[i]);
        if (length < 1e-9) {
            continue;
        }
        rbVec3 axis = rbScale(1.0 / length, list[i]);
        double reach = 0.0;
        for (int k = 0; k < 3; ++k) {
            reach += a->half[k] * fabs(rbDot(a->axes[k], axis));
            reach += b->half[k] * fabs(rbDot(b->axes[k], axis));
        }
        widest = fmax(widest, fabs(rbDot(rbSub(b->center, a->center), axis)) - reach);
    }
    *margin = widest;
    return widest > 0.0;
}

// RX-04
static void axesDecideAsTheDefinition(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4)};
    int apart = 0;
    int count = rbTest_Count(20000, 200000);
    for (int i = 0; i < count; ++i) {
        rbOrientedBox a = drawBox(&random, i % 4 == 0);
        rbOrientedBox b = drawBox(&random, i % 4 == 0);
        double margin = 0.0;
        bool isApart = areApart(&a, &b, &margin);
        apart += isApart ? 1 : 0;
        if (fabs(margin) > 1e-12) {
            assert_int_equal(rbBoxesMeet(&a, &b), !isApart);
            assert_int_equal(rbBoxesMeet(&b, &a), !isApart);
        }
    }
    assert_true(apart > count / 4);
    // Touching counts as interference: nothing may be lost.
    rbOrientedBox left = rbBoxSphere(rbMakeVec3(-1.0, 0.0, 0.0), 1.0);
    rbOrientedBox right = rbBoxSphere(rbMakeVec3(1.0, 0.0, 0.0), 1.0);
    assert_true(rbBoxesMeet(&left, &right));
}

// Percentages of the specification: missed overlaps and false alarms, of 20,000 pairs with rays of
// each pair of faces. A number of its table and one of ours differ by the sum of two binomial
// variances, of which ours is the larger; 4.5 standard deviations and the rounding of the print are
// allowed.
typedef struct TableRow {
    rbBoxTest test;
    bool isParallel;
    int rays;
    double missed, alarms; // %
} TableRow;

static void checkShare(const char* what, int hits, int count, double percent)
{
    double share = 100.0 * hits / count;
    double p = fmax(percent, 0.01) / 100.0;
    double deviation = 100.0 * sqrt(2.0 * p * (1.0 - p) / count);
    print_message("  %s %.2f %%, printed %.2f %%\n", what, share, percent);
    checkNear(share, percent, 4.5 * deviation + 0.05);
}

static void checkRow(const TableRow* row, int pairs, uint64_t seed)
{
    rbRandom random = {seed};
    int overlaps = 0;
    int missed = 0;
    int alarms = 0;
    for (int i = 0; i < pairs; ++i) {
        rbOrientedBox a = drawBox(&random, row->isParallel);
        rbOrientedBox b = drawBox(&random, row->isParallel);
        bool meet = rbBoxesMeet(&a, &b);
        bool isFound = rbBoxesMeetByRays(&a, &b, row->test, row->rays, &random);
        overlaps += meet ? 1 : 0;
        missed += meet && !isFound ? 1 : 0;
        alarms += !meet && isFound ? 1 : 0;
    }
    print_message("%s, %s, %d rays\n", rbBoxTest_Name(row->test),
                  row->isParallel ? "parallel" : "turned", row->rays);
    checkShare("missed", missed, overlaps, row->missed);
    if (row->alarms == 0.0) {
        assert_int_equal(alarms, 0); // provably none: the hit is within the box
    } else {
        checkShare("alarms", alarms, pairs - overlaps, row->alarms);
    }
}

// R-44, RX-05
static void raysBetweenBoxesMissAndInventAsPublished(void** state)
{
    (void)state;
    static const TableRow rows[] = {
        {RB_BOXES_ALL, false, 20, 0.19, 74.8},   {RB_BOXES_ALL, false, 100, 0.01, 82.2},
        {RB_BOXES_ALL, true, 20, 0.32, 64.4},    {RB_BOXES_ALL, true, 100, 0.05, 71.2},
        {RB_BOXES_NEARER, false, 20, 6.5, 6.7},  {RB_BOXES_NEARER, false, 100, 2.8, 10.5},
        {RB_BOXES_NEARER, true, 20, 0.88, 0.0},  {RB_BOXES_NEARER, true, 100, 0.07, 0.0},
        {RB_BOXES_BOUNDED, false, 20, 7.5, 0.0}, {RB_BOXES_BOUNDED, false, 100, 3.0, 0.0},
        {RB_BOXES_BOUNDED, true, 20, 1.3, 0.0},  {RB_BOXES_BOUNDED, true, 100, 0.3, 0.0},
        {RB_BOXES_BOTH, false, 20, 4.9, 0.0},    {RB_BOXES_BOTH, false, 100, 2.2, 0.0},
        {RB_BOXES_BOTH, true, 20, 0.27, 0.0},    {RB_BOXES_BOTH, true, 100, 0.0, 0.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        checkRow(&rows[i], rbTest_Count(20000, 20000), rbTest_Seed(100 + i));
    }
}

// Touching is not interference, boxes around the same center interfere, and containment helps.
// R-44, RX-05
static void raysBetweenBoxesAtTheirLimits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(9)};
    rbOrientedBox left = rbBoxSphere(rbMakeVec3(-1.0, 0.0, 0.0), 1.0);
    rbOrientedBox right = rbBoxSphere(rbMakeVec3(1.0, 0.0, 0.0), 1.0);
    for (int test = RB_BOXES_BOUNDED; test < RB_BOXES_TEST_COUNT; ++test) {
        assert_false(rbBoxesMeetByRays(&left, &right, (rbBoxTest)test, 100, &random));
    }
    assert_true(rbBoxesMeetByRays(&left, &left, RB_BOXES_NEARER, 20, &random));
    int missed[2] = {0, 0};
    int overlaps = 0;
    for (int i = 0; i < 3000; ++i) {
        rbOrientedBox a = drawBox(&random, false);
        rbOrientedBox b = drawBox(&random, false);
        if (rbBoxesMeet(&a, &b)) {
            overlaps += 1;
            missed[0] += rbBoxesMeetByRays(&a, &b, RB_BOXES_BOTH, 20, &random) ? 0 : 1;
            missed[1] += rbBoxesMeetByRays(&a, &b, RB_BOXES_GUARDED, 20, &random) ? 0 : 1;
        }
    }
    print_message("of %d overlaps both miss %d, with corners %d\n", overlaps, missed[0], missed[1]);
    assert_true(missed[1] < missed[0]);
}

RB_TEST_GROUP(test_swept_box, cmocka_unit_test(radiusIsTheFarthestPoint),
              cmocka_unit_test(boxOfAStandingSphere),
              cmocka_unit_test(boxOfAPolytopeGoesAlongItsLongestEdge),
              cmocka_unit_test(boxesOfABoxAndATriangle), cmocka_unit_test(boxOfAStraightPath),
              cmocka_unit_test(boxOfACurveHoldsItAndIsTight), cmocka_unit_test(recordOfABox),
              cmocka_unit_test(axesDecideAsTheDefinition),
              cmocka_unit_test(raysBetweenBoxesMissAndInventAsPublished),
              cmocka_unit_test(raysBetweenBoxesAtTheirLimits));
