// Start points of rays: uniform by area, the pole in front, counts as requested.
#include "bodies.h"
#include "lab/math/random3.h"
#include "lab/rays/ray_emitter.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

typedef struct Starts {
    rbRayStart first;
    int count;
    int facingAway;
    rbTransform pose;
} Starts;

static void countStart(void* context, const rbRayStart* start)
{
    Starts* starts = context;
    if (starts->count++ == 0) {
        starts->first = *start;
    }
    rbVec3 way = rbInvRotate(starts->pose.q, start->step);
    starts->facingAway += rbDot(way, start->normal) < -1e-12 ? 1 : 0;
}

static Starts walk(const rbRayEmitter* emitter, rbTransform from, rbTransform to)
{
    rbRayMotion motion = rbMakeRayMotion(from, to);
    Starts starts = {.pose = from};
    rbRayEmitter_ForEachStart(emitter, &motion, countStart, &starts);
    return starts;
}

// the first ray starts at the foremost point, whatever the direction
static void poleIsTheDirectionOfMotion(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(902)};
    rbGeometry* ball = rbCreateSphere(2.0, NULL);
    for (int p = 0; p < RB_RAYS_PATTERN_COUNT; ++p) {
        rbRaySettings settings = rbDefaultRaySettings();
        settings.pattern = (rbRayPattern)p;
        settings.count = 4;
        rbRayEmitter* emitter = rbCreateRayEmitter(ball, &settings, NULL);
        for (int i = 0; i < 10000; ++i) {
            rbVec3 way = rbRandom_Direction(&random);
            rbTransform from = {RB_VEC3_ZERO, RB_QUAT_IDENTITY};
            rbTransform to = {rbScale(3.0, way), RB_QUAT_IDENTITY};
            Starts starts = walk(emitter, from, to);
            checkBelow(rbDistance(starts.first.point, rbScale(2.0, way)), 1e-15 * 8.0);
        }
        rbDestroyRayEmitter(emitter);
    }
    rbDestroyGeometry(ball);
}

// Chi-square of counts that should be equal, minus its mean, in standard deviations.
static double checkEvenness(const int* counts, int cells, int total)
{
    double expected = (double)total / cells;
    double sum = 0.0;
    for (int i = 0; i < cells; ++i) {
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    return (sum - (cells - 1)) / sqrt(2.0 * (cells - 1));
}

enum {
    CELLS = 64,
    POINTS = 6400
};

// Cell of a triangle by halving its sides three times, every child of a quarter of the area.
static int getCell(double x, double y)
{
    int cell = 0;
    for (int level = 0; level < 3; ++level) {
        int child = x > 0.5 ? 1 : y > 0.5 ? 2 : x + y < 0.5 ? 0 : 3;
        x = child == 1 ? 2.0 * x - 1.0 : child == 3 ? 1.0 - 2.0 * x : 2.0 * x;
        y = child == 2 ? 2.0 * y - 1.0 : child == 3 ? 1.0 - 2.0 * y : 2.0 * y;
        cell = 4 * cell + child;
    }
    return cell;
}

// R-23, RX-07: uniform over a triangle; as published denser toward the second corner
static void pointsFillTrianglesEvenly(void** state)
{
    (void)state;
    const rbVec3 vertices[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    const int indices[3] = {0, 1, 2};
    rbMeshDef def = {.vertices = vertices, .vertexCount = 3, .indices = indices, .faceCount = 1};
    rbGeometry* triangle = rbCreateSoup(&def, NULL);
    double judged[2];
    for (int p = 0; p < 2; ++p) {
        rbRaySettings settings = rbDefaultRaySettings();
        settings.count = POINTS;
        settings.pattern = (rbRayPattern)p;
        rbRayEmitter* emitter = rbCreateRayEmitter(triangle, &settings, NULL);
        assert_int_equal(rbRayEmitter_GetCount(emitter), POINTS + 3);
        int counts[CELLS] = {0};
        for (int i = 0; i < POINTS; ++i) {
            rbVec3 point = rbRayPart_GetTrianglePoint(&emitter->parts[0], settings.pattern, 0, i);
            assert_true(point.x >= 0.0 && point.y >= 0.0 && point.x + point.y <= 1.0 + 1e-15);
            ++counts[getCell(point.x, point.y)];
        }
        judged[p] = checkEvenness(counts, CELLS, POINTS);
        rbDestroyRayEmitter(emitter);
    }
    checkBelow(judged[RB_RAYS_UNIFORM], 4.0);
    assert_true(judged[RB_RAYS_LATTICE] > 20.0);
    rbDestroyGeometry(triangle);
}

// RX-07: of a capsule, cylinder, cone and ellipsoid, against areas by the slices of z
static void pointsFillRoundSurfacesEvenly(void** state)
{
    (void)state;
    rbGeometry* shapes[4] = {rbCreateCapsule(0.3, 0.6, NULL), rbCreateCylinder(0.5, 0.4, NULL),
                             rbCreateCone(0.6, 1.0, NULL),
                             rbCreateEllipsoid(rbMakeVec3(0.4, 0.4, 1.0), NULL)};
    for (int s = 0; s < 4; ++s) {
        rbRaySettings settings = rbDefaultRaySettings();
        settings.count = POINTS;
        rbRayEmitter* emitter = rbCreateRayEmitter(shapes[s], &settings, NULL);
        const rbRayPart* part = &emitter->parts[0];
        // half of the area above a height, by radius of revolution and slope
        int above = 0;
        int quarter[4] = {0, 0, 0, 0};
        for (int i = 0; i < POINTS; ++i) {
            rbVec3 point;
            rbVec3 normal;
            rbRayPart_GetRoundPoint(part, i, &point, &normal);
            checkNear(rbLength(normal), 1.0, 1e-12);
            assert_true(rbGeometry_Contains(shapes[s], rbAddScaled(point, -1e-9, normal)));
            assert_false(rbGeometry_Contains(shapes[s], rbAddScaled(point, 1e-9, normal)));
            above += point.z > 0.0 ? 1 : 0;
            ++quarter[(point.x > 0.0 ? 1 : 0) + (point.y > 0.0 ? 2 : 0)];
        }
        checkBelow(checkEvenness(quarter, 4, POINTS), 4.0);
        // of a cone the upper half has a quarter of the side
        double side = sqrt(0.36 + 1.0);
        double share = s == 2 ? 0.25 * side / (side + 0.6) : 0.5;
        checkNear((double)above / POINTS, share, 4.0 * sqrt(share * (1.0 - share) / POINTS));
        rbDestroyRayEmitter(emitter);
        rbDestroyGeometry(shapes[s]);
    }
}

// all vertices, points by area or by triangle, at least one each, and none that faces away
static void countsAreAsAskedFor(void** state)
{
    (void)state;
    rbGeometry* pyramid = rbMakePyramid();
    rbRaySettings settings = rbDefaultRaySettings();
    const struct {
        int count;
        bool isPerTriangle;
        int edgeCount;
        int total;
    } rows[] = {{0, false, 0, 4},
                {1, false, 0, 4 + 4},
                {100, false, 0, 4 + 100},
                {25, true, 0, 4 + 100},
                {0, false, 3, 4 + 18}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        settings.count = rows[i].count;
        settings.isPerTriangle = rows[i].isPerTriangle;
        settings.edgeCount = rows[i].edgeCount;
        rbRayEmitter* emitter = rbCreateRayEmitter(pyramid, &settings, NULL);
        assert_int_equal(rbRayEmitter_GetCount(emitter), rows[i].total);
        rbTransform from = {RB_VEC3_ZERO, RB_QUAT_IDENTITY};
        rbTransform to = {{0.0, -1.0, 0.0}, RB_QUAT_IDENTITY};
        Starts starts = walk(emitter, from, to);
        assert_int_equal(starts.facingAway, 0);
        // downward only the base and its vertices and edges cast rays
        assert_true(starts.count < rows[i].total || rows[i].count == 0);
        if (rows[i].isPerTriangle) {
            assert_int_equal(starts.count, 3 + 25);
        }
        rbDestroyRayEmitter(emitter);
    }
    rbDestroyGeometry(pyramid);
}

// ten million rays need almost no memory, and more are refused
static void tenMillionRaysAreFunctionsOfTheirIndex(void** state)
{
    (void)state;
    rbGeometry* shapes[3] = {rbCreateSphere(1.0, NULL), rbCreateBox(rbMakeVec3(1, 1, 1), NULL),
                             rbCreateCylinder(1.0, 1.0, NULL)};
    rbRaySettings settings = rbDefaultRaySettings();
    settings.count = RB_RAYS_COUNT_MAX;
    for (int i = 0; i < 3; ++i) {
        uint64_t before = rbGetAllocatedBytes();
        rbRayEmitter* emitter = rbCreateRayEmitter(shapes[i], &settings, NULL);
        assert_non_null(emitter);
        assert_true(rbRayEmitter_GetCount(emitter) >= RB_RAYS_COUNT_MAX);
        checkBelow((double)(rbGetAllocatedBytes() - before), 1e5);
        rbDestroyRayEmitter(emitter);
        assert_int_equal(rbGetAllocatedBytes(), before);
    }
    settings.isPerTriangle = true;
    rbError error = {0};
    assert_null(rbCreateRayEmitter(shapes[1], &settings, &error));
    assert_int_equal(error.status, RB_STATUS_LIMIT);
    assert_non_null(strstr(error.message, "reduce the count"));
    for (int i = 0; i < 3; ++i) {
        rbDestroyGeometry(shapes[i]);
    }
}

RB_TEST_GROUP(test_starts, cmocka_unit_test(poleIsTheDirectionOfMotion),
              cmocka_unit_test(pointsFillTrianglesEvenly),
              cmocka_unit_test(pointsFillRoundSurfacesEvenly),
              cmocka_unit_test(countsAreAsAskedFor),
              cmocka_unit_test(tenMillionRaysAreFunctionsOfTheirIndex));
