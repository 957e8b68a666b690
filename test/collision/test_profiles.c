// Extrusion and revolution (L-105).
#include "collision/geometry/polygon.h"
#include "shape_samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static rbMassProperties checkAndWeigh(rbOwnedMesh* mesh)
{
    rbMeshDef def = rbOwnedMesh_GetDef(mesh);
    rbMeshReport report = rbValidateMesh(&def, NULL, 0);
    if (!report.isValid) {
        char text[256];
        rbMeshReport_Describe(&report, text, sizeof text);
        print_error("%s\n", text);
        fail();
    }
    rbError error = {0};
    rbGeometry* g = rbCreatePolyhedron(&def, &error);
    requireOk(g, &error);
    rbMassProperties p;
    assert_int_equal(rbGeometry_GetMass(g, 1.0, &p, &error), RB_STATUS_OK);
    rbDestroyGeometry(g);
    rbFreeMesh(mesh);
    return p;
}

static void reverse(double (*profile)[2], int count)
{
    for (int i = 0, j = count - 1; i < j; ++i, --j) {
        for (int k = 0; k < 2; ++k) {
            double swapped = profile[i][k];
            profile[i][k] = profile[j][k];
            profile[j][k] = swapped;
        }
    }
}

// Area and first moments of a polygon by the shoelace formula.
static void measure(const double (*p)[2], int count, double moments[3])
{
    moments[0] = moments[1] = moments[2] = 0.0;
    for (int i = 0; i < count; ++i) {
        const double* a = p[i];
        const double* b = p[(i + 1) % count];
        double cross = a[0] * b[1] - b[0] * a[1];
        moments[0] += cross / 2.0;
        moments[1] += cross * (a[0] + b[0]) / 6.0;
        moments[2] += cross * (a[1] + b[1]) / 6.0;
    }
}

// L-105
static void extrusionsHaveVolumeAreaTimesHeight(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(31)};
    for (int k = 0; k < rbTest_Count(300, 5000); ++k) {
        double profile[40][2];
        double moments[3];
        int count = 3 + rbRandom_Index(&random, 37);
        const double center[2] = {rbRandom_Symmetric(&random), rbRandom_Symmetric(&random)};
        makeStarProfile(&random, profile, count < 5 ? 5 : count, center, 1.0);
        count = count < 5 ? 5 : count;
        measure((const double(*)[2])profile, count, moments);
        if (k % 2 == 0) {
            reverse(profile, count);
        }
        double height = rbRandom_Range(&random, 0.1, 3.0);
        rbOwnedMesh mesh;
        rbError error = {0};
        assert_int_equal(
            rbExtrudeProfile((const double(*)[2])profile, count, height, &mesh, &error),
            RB_STATUS_OK);
        rbMassProperties p = checkAndWeigh(&mesh);
        checkRelative(p.volume, moments[0] * height, 1e-13);
        checkNear(p.center.x, moments[1] / moments[0], 1e-13);
        checkNear(p.center.y, moments[2] / moments[0], 1e-13);
        checkNear(p.center.z, 0.5 * height, 1e-13);
    }
}

// Pappus: replacing a circle by a regular n-gon changes 2 pi R A into n sin(2 pi / n) R A, with R
// the distance of the center of the area.
// L-105
static void revolutionsObeyPappus(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(32)};
    for (int k = 0; k < rbTest_Count(300, 5000); ++k) {
        double profile[24][2];
        double moments[3];
        int count = 5 + rbRandom_Index(&random, 15);
        makeStarProfile(&random, profile, count, (const double[2]){1.2, -0.3}, 1.0);
        if (k % 3 == 0) { // an edge on the axis instead of the last point
            profile[count - 1][0] = 0.0;
            profile[count - 1][1] = -2.0;
            profile[count][0] = 0.0;
            profile[count][1] = -3.0;
            profile[count + 1][0] = 3.0;
            profile[count + 1][1] = -3.0;
            count += 2;
        }
        int sides[2];
        if (rbFindPolygonCrossing((const double(*)[2])profile, count, sides)) {
            continue;
        }
        measure((const double(*)[2])profile, count, moments);
        double sign = moments[0] > 0.0 ? 1.0 : -1.0;
        if (k % 2 == 0) {
            reverse(profile, count);
        }
        int segments = 3 + rbRandom_Index(&random, 60);
        rbOwnedMesh mesh;
        rbError error = {0};
        assert_int_equal(
            rbRevolveProfile((const double(*)[2])profile, count, segments, &mesh, &error),
            RB_STATUS_OK);
        rbMassProperties p = checkAndWeigh(&mesh);
        checkRelative(p.volume, segments * sin(2.0 * RB_PI / segments) * sign * moments[1], 1e-13);
        checkNear(p.center.x, 0.0, 1e-13);
        checkNear(p.center.y, 0.0, 1e-13);
    }
}

// A cone with the edge on the axis in three parts, and a hollow ball: two shells.
// L-105
static void axisEdgesVanish(void** state)
{
    (void)state;
    rbError error = {0};
    rbOwnedMesh mesh;
    const double cone[5][2] = {{0, 0}, {1, 0}, {0, 3}, {0, 2}, {0, 1}};
    assert_int_equal(rbRevolveProfile(cone, 5, 16, &mesh, &error), RB_STATUS_OK);
    assert_int_equal(mesh.vertexCount, 18);
    assert_int_equal(mesh.faceCount, 32);
    rbMassProperties p = checkAndWeigh(&mesh);
    checkRelative(p.volume, 16 * sin(2 * RB_PI / 16) * 0.5, 1e-14);
    const double hollow[6][2] = {{0, -2}, {2, 0}, {0, 2}, {0, 1}, {1, 0}, {0, -1}};
    assert_int_equal(rbRevolveProfile(hollow, 6, 8, &mesh, &error), RB_STATUS_OK);
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbMeshReport report = rbValidateMesh(&def, NULL, 0);
    assert_true(report.isValid);
    assert_int_equal(report.componentCount, 2);
    rbGeometry* g = rbCreateMesh(&def, &error);
    requireOk(g, &error);
    assert_false(rbGeometry_Contains(g, rbMakeVec3(0.1, 0.1, 0.1)));
    assert_true(rbGeometry_Contains(g, rbMakeVec3(0.0, 0.0, 1.5)));
    assert_true(rbGeometry_Contains(g, rbMakeVec3(0.0, 0.0, 2.0)));
    rbDestroyGeometry(g);
    rbFreeMesh(&mesh);
}

static void expectRefusal(rbStatus status, const rbError* error, const char* word)
{
    assert_int_equal(status, RB_STATUS_INVALID);
    if (strstr(error->message, word) == NULL) {
        print_error("\"%s\" does not say \"%s\"\n", error->message, word);
        fail();
    }
}

// L-105
static void badProfilesAreRefusedWithAReason(void** state)
{
    (void)state;
    rbError error = {0};
    rbOwnedMesh mesh;
    const double bow[4][2] = {{0, 0}, {1, 1}, {1, 0}, {0, 1}};
    expectRefusal(rbExtrudeProfile(bow, 4, 1.0, &mesh, &error), &error, "points 0 and 2");
    assert_null(mesh.vertices);
    const double touching[6][2] = {{0, 0}, {2, 0}, {2, 2}, {1, 0}, {0, 2}, {-1, 1}};
    expectRefusal(rbExtrudeProfile(touching, 6, 1.0, &mesh, &error), &error, "touch or cross");
    const double spike[4][2] = {{0, 0}, {2, 0}, {1, 0}, {1, 1}};
    expectRefusal(rbExtrudeProfile(spike, 4, 1.0, &mesh, &error), &error, "touch or cross");
    const double repeated[4][2] = {{0, 0}, {2, 0}, {2, 0}, {1, 1}};
    expectRefusal(rbExtrudeProfile(repeated, 4, 1.0, &mesh, &error), &error, "touch or cross");
    const double flat[3][2] = {{0, 0}, {2, 0}, {4, 0}};
    expectRefusal(rbExtrudeProfile(flat, 3, 1.0, &mesh, &error), &error, "touch or cross");
    expectRefusal(rbExtrudeProfile(flat, 2, 1.0, &mesh, &error), &error, "3 to");
    const double good[3][2] = {{0, 0}, {2, 0}, {2, 2}};
    expectRefusal(rbExtrudeProfile(good, 3, -1.0, &mesh, &error), &error, "height");
    expectRefusal(rbExtrudeProfile(good, 3, NAN, &mesh, &error), &error, "nan");
    const double nan[3][2] = {{0, 0}, {2, NAN}, {2, 2}};
    expectRefusal(rbExtrudeProfile(nan, 3, 1.0, &mesh, &error), &error, "point 1");
    expectRefusal(rbRevolveProfile(good, 3, 12, &mesh, &error), &error, "pinches");
    expectRefusal(rbRevolveProfile(touching, 3, 2, &mesh, &error), &error, "pinches");
    const double away[3][2] = {{1, 0}, {2, 0}, {2, 2}};
    expectRefusal(rbRevolveProfile(away, 3, 2, &mesh, &error), &error,
                  "the revolution has 2 segments; 3 to 1000000 are accepted");
    expectRefusal(rbRevolveProfile(away, 3, 1000001, &mesh, &error), &error,
                  "the revolution has 1000001 segments; 3 to 1000000 are accepted");
    const double negative[3][2] = {{-1, 0}, {2, 0}, {2, 2}};
    expectRefusal(rbRevolveProfile(negative, 3, 9, &mesh, &error), &error, "radius -1");
    static double many[RB_PROFILE_POINTS_MAX][2];
    makeStarProfile(&(rbRandom){5}, many, RB_PROFILE_POINTS_MAX, (const double[2]){5, 0}, 1.0);
    assert_int_equal(
        rbRevolveProfile((const double(*)[2])many, RB_PROFILE_POINTS_MAX, 1000000, &mesh, &error),
        RB_STATUS_LIMIT);
    char expected[160];
    (void)snprintf(expected, sizeof expected,
                   "%d points in 1000000 segments produce more than %d corners; use fewer",
                   RB_PROFILE_POINTS_MAX, RB_MESH_ELEMENTS_MAX);
    assert_string_equal(error.message, expected);
}

// Ears checked by area and overlap: areas are positive and add up.
static void earsCoverThePolygonOnce(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(33)};
    for (int k = 0; k < rbTest_Count(500, 20000); ++k) {
        double profile[60][2];
        int scratch[60][3];
        rbIndex3 triangles[58];
        int count = 5 + rbRandom_Index(&random, 55);
        makeStarProfile(&random, profile, count, (const double[2]){0, 0}, 1.0);
        if (k % 3 == 0) { // flat corners: every second point lies on its neighbors' side
            for (int i = 1; i + 1 < count; i += 2) {
                profile[i][0] = 0.5 * (profile[i - 1][0] + profile[i + 1][0]);
                profile[i][1] = 0.5 * (profile[i - 1][1] + profile[i + 1][1]);
            }
        }
        int sides[2];
        if (rbFindPolygonCrossing((const double(*)[2])profile, count, sides)) {
            continue;
        }
        assert_true(rbClipEars((const double(*)[2])profile, count, scratch, triangles));
        double sum = 0.0;
        for (int t = 0; t < count - 2; ++t) {
            const int* v = triangles[t].v;
            double area = 0.5 * rbOrient2(profile[v[0]], profile[v[1]], profile[v[2]]);
            assert_true(area > 0.0);
            sum += area;
        }
        checkRelative(sum, rbGetPolygonArea((const double(*)[2])profile, count), 1e-13);
    }
}

// A polygon that winds clockwise has no ear. It is cut all the same, where the cut costs least: at
// the corner with the largest signed area. Signed areas add up whatever is cut.
static void polygonsWithoutEarsAreCutAtTheLargestCorner(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(34)};
    for (int k = 0; k < 200; ++k) {
        double profile[12][2];
        int scratch[12][3];
        rbIndex3 triangles[10];
        int count = 4 + rbRandom_Index(&random, 9);
        for (int i = 0; i < count; ++i) {
            double angle = -2.0 * RB_PI * (i + 0.8 * rbRandom_Unit(&random)) / count;
            profile[i][0] = 2.0 * cos(angle);
            profile[i][1] = sin(angle);
        }
        assert_false(rbClipEars((const double(*)[2])profile, count, scratch, triangles));
        int best = 0;
        double largest = -INFINITY;
        for (int i = 0; i < count; ++i) {
            double area =
                rbOrient2(profile[(i + count - 1) % count], profile[i], profile[(i + 1) % count]);
            best = area > largest ? i : best;
            largest = fmax(largest, area);
        }
        assert_int_equal(triangles[0].v[1], best);
        double sum = 0.0;
        for (int t = 0; t < count - 2; ++t) {
            const int* v = triangles[t].v;
            sum += 0.5 * rbOrient2(profile[v[0]], profile[v[1]], profile[v[2]]);
        }
        checkRelative(sum, rbGetPolygonArea((const double(*)[2])profile, count), 1e-13);
    }
}

RB_TEST_GROUP(test_profiles, cmocka_unit_test(extrusionsHaveVolumeAreaTimesHeight),
              cmocka_unit_test(revolutionsObeyPappus), cmocka_unit_test(axisEdgesVanish),
              cmocka_unit_test(badProfilesAreRefusedWithAReason),
              cmocka_unit_test(earsCoverThePolygonOnce),
              cmocka_unit_test(polygonsWithoutEarsAreCutAtTheLargestCorner));
