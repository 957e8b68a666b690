// Every kind of issue, provoked on a cube or a torus and found at its place (L-03).
#include "shape_samples.h"

#include <math.h>
#include <string.h>

// A cube of quads with spare room for defects.
typedef struct Cube {
    rbVec3 vertices[20];
    int sizes[16];
    int indices[80];
    int vertexCount, faceCount;
} Cube;

static Cube makeCube(void)
{
    static const int quads[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                  2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    Cube cube = {.vertexCount = 8, .faceCount = 6};
    for (int i = 0; i < 8; ++i) {
        cube.vertices[i] = rbMakeVec3((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
    }
    for (int f = 0; f < 6; ++f) {
        cube.sizes[f] = 4;
    }
    memcpy(cube.indices, quads, sizeof quads);
    return cube;
}

static rbMeshReport judge(const Cube* cube)
{
    rbMeshDef def = {cube->vertices, cube->vertexCount, cube->sizes, cube->indices,
                     cube->faceCount};
    return rbValidateMesh(&def, NULL, 0);
}

// The cube has issues of one kind only, in this number; a polyhedron is refused with a message.
static rbMeshIssue expectOnly(const Cube* cube, rbMeshIssueKind kind, long long count)
{
    rbMeshReport report = judge(cube);
    for (int k = 0; k < RB_MESH_ISSUE_COUNT; ++k) {
        if (k == (int)kind) {
            assert_int_equal(report.counts[k], count);
        } else if (report.counts[k] != 0) {
            print_error("unexpected: %s\n", rbMeshIssueKind_Text((rbMeshIssueKind)k));
            fail();
        }
    }
    assert_int_equal(report.isValid, !rbMeshIssueKind_IsError(kind));
    char text[256];
    rbMeshReport_Describe(&report, text, sizeof text);
    assert_non_null(strstr(text, rbMeshIssueKind_Text(kind)));
    rbMeshDef def = {cube->vertices, cube->vertexCount, cube->sizes, cube->indices,
                     cube->faceCount};
    rbError error = {0};
    rbGeometry* g = rbCreatePolyhedron(&def, &error);
    assert_int_equal(g != NULL, !rbMeshIssueKind_IsError(kind));
    if (g == NULL) {
        assert_non_null(strstr(error.message, rbMeshIssueKind_Text(kind)));
    }
    rbDestroyGeometry(g);
    return report.firsts[kind];
}

// L-03
static void aCubeIsValid(void** state)
{
    (void)state;
    Cube cube = makeCube();
    rbMeshReport report = judge(&cube);
    assert_int_equal(report.issueCount, 0);
    assert_true(report.isValid && report.isSolid && report.isClosed);
    assert_int_equal(report.edgeCount, 12);
    assert_int_equal(report.componentCount, 1);
    checkNear(report.volume, 1.0, 1e-15);
    checkNear(report.diameter, sqrt(3.0), 1e-15);
    char text[256];
    rbMeshReport_Describe(&report, text, sizeof text);
    assert_string_equal(text, "valid: closed, 8 vertices, 12 edges, 6 faces, 1 m^3");
    rbMeshReport_Describe(&report, text, 8);
    assert_string_equal(text, "valid: ");
}

// L-03
static void openEdgesAreFoundAtTheirFace(void** state)
{
    (void)state;
    Cube cube = makeCube();
    cube.faceCount = 5; // without the top 4 5 7 6
    rbMeshIssue first = expectOnly(&cube, RB_MESH_ISSUE_OPEN_EDGE, 4);
    assert_int_equal(first.face, 2); // 0 1 5 4 contains the edge from 5 to 4
    assert_int_equal(first.vertexA, 5);
    assert_int_equal(first.vertexB, 4);
    assert_int_equal(first.otherFace, -1);
    rbMeshReport report = judge(&cube);
    assert_false(report.isClosed);
    char text[256];
    rbMeshReport_Describe(&report, text, sizeof text);
    assert_string_equal(text, "open: 4 edges belong to one face only, the first between vertices 5 "
                              "and 4 of face 2");
}

// L-03
static void vertexIssuesNameTheVertex(void** state)
{
    (void)state;
    Cube cube = makeCube();
    cube.vertices[8] = rbMakeVec3(0.5, 0.5, 0.5);
    cube.vertexCount = 9;
    assert_int_equal(expectOnly(&cube, RB_MESH_ISSUE_UNUSED_VERTEX, 1).vertexA, 8);
    // two cubes, one corner of the second where the first has one: a duplicate, and two components
    Cube twice = makeCube();
    for (int i = 0; i < 8; ++i) {
        twice.vertices[8 + i] = rbAdd(twice.vertices[i], rbMakeVec3(1.0, 1.0, 1.0));
    }
    for (int k = 0; k < 24; ++k) {
        twice.indices[24 + k] = 8 + twice.indices[k];
    }
    for (int f = 0; f < 6; ++f) {
        twice.sizes[6 + f] = 4;
    }
    twice.vertexCount = 16;
    twice.faceCount = 12;
    rbMeshReport report = judge(&twice);
    assert_int_equal(report.counts[RB_MESH_ISSUE_DUPLICATE_VERTEX], 1);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_DUPLICATE_VERTEX].vertexA, 8);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_DUPLICATE_VERTEX].vertexB, 7);
    assert_int_equal(report.counts[RB_MESH_ISSUE_SEVERAL_COMPONENTS], 2);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_SEVERAL_COMPONENTS].vertexA, 8);
    // moved away it is only a note
    Cube apart = twice;
    for (int i = 8; i < 16; ++i) {
        apart.vertices[i].x += 1.0;
    }
    assert_int_equal(expectOnly(&apart, RB_MESH_ISSUE_SEVERAL_COMPONENTS, 2).vertexA, 8);
    // joined in the corner by one common vertex: two fans
    for (int k = 24; k < 48; ++k) {
        twice.indices[k] = twice.indices[k] == 8 ? 7 : twice.indices[k];
    }
    for (int k = 24; k < 48; ++k) {
        twice.indices[k] -= twice.indices[k] > 8;
    }
    memmove(&twice.vertices[8], &twice.vertices[9], 7 * sizeof(rbVec3));
    twice.vertexCount = 15;
    assert_int_equal(expectOnly(&twice, RB_MESH_ISSUE_NON_MANIFOLD_VERTEX, 1).vertexA, 7);
    cube = makeCube();
    cube.vertices[5].y = NAN;
    report = judge(&cube);
    assert_int_equal(report.counts[RB_MESH_ISSUE_NOT_FINITE], 1);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_NOT_FINITE].vertexA, 5);
    assert_false(report.isValid || report.isSolid);
    cube.vertices[5].y = 1e13;
    assert_int_equal(judge(&cube).firsts[RB_MESH_ISSUE_NOT_FINITE].vertexA, 5);
}

// L-03
static void indexAndSizeIssuesEndTheExamination(void** state)
{
    (void)state;
    Cube cube = makeCube();
    cube.indices[9] = 8;
    rbMeshIssue first = expectOnly(&cube, RB_MESH_ISSUE_INDEX, 1);
    assert_int_equal(first.face, 2);
    assert_int_equal(first.vertexA, 8);
    assert_int_equal(first.otherFace, -1); // nothing else is concerned
    assert_int_equal(first.vertexB, -1);
    cube.indices[9] = -1;
    assert_int_equal(expectOnly(&cube, RB_MESH_ISSUE_INDEX, 1).face, 2);
    cube = makeCube();
    cube.sizes[3] = 2;
    assert_int_equal(expectOnly(&cube, RB_MESH_ISSUE_DEGENERATE_FACE, 1).face, 3);
    cube.sizes[3] = -7;
    assert_int_equal(expectOnly(&cube, RB_MESH_ISSUE_DEGENERATE_FACE, 1).face, 3);
    cube.faceCount = 0;
    (void)expectOnly(&cube, RB_MESH_ISSUE_EMPTY, 1);
    cube = makeCube();
    cube.sizes[4] = RB_FACE_CORNERS_MAX + 1;
    rbMeshReport report = judge(&cube);
    assert_int_equal(report.counts[RB_MESH_ISSUE_TOO_LARGE], 1);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_TOO_LARGE].face, 4);
}

// L-03
static void faceIssuesNameTheFace(void** state)
{
    (void)state;
    // a repeated corner
    Cube cube = makeCube();
    cube.indices[5] = cube.indices[4];
    rbMeshReport report = judge(&cube);
    assert_int_equal(report.counts[RB_MESH_ISSUE_DEGENERATE_FACE], 1);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_DEGENERATE_FACE].face, 1);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_DEGENERATE_FACE].vertexA, 1);
    // no area: the vertices of face 1 (x = 1) on a line
    cube = makeCube();
    for (int k = 4; k < 8; ++k) {
        cube.vertices[cube.indices[k]].y = 0.5;
        cube.vertices[cube.indices[k]].z = 0.1 * k;
    }
    report = judge(&cube);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_DEGENERATE_FACE].face, 1);
    // the same face twice, with another first vertex and reversed
    cube = makeCube();
    const int copy[4] = {3, 7, 6, 2};
    memcpy(&cube.indices[24], copy, sizeof copy);
    cube.sizes[6] = 4;
    cube.faceCount = 7;
    report = judge(&cube);
    assert_int_equal(report.counts[RB_MESH_ISSUE_DUPLICATE_FACE], 1);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_DUPLICATE_FACE].face, 6);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_DUPLICATE_FACE].otherFace, 3);
    assert_int_equal(report.counts[RB_MESH_ISSUE_NON_MANIFOLD_EDGE], 4);
    // a corner outside the plane: three faces are no longer flat
    cube = makeCube();
    cube.vertices[7] = rbMakeVec3(1.001, 1.001, 1.001);
    rbMeshIssue first = expectOnly(&cube, RB_MESH_ISSUE_NON_PLANAR_FACE, 3);
    assert_int_equal(first.face, 1);
    cube.vertices[7] = rbMakeVec3(1.0 + 1e-10, 1.0 + 1e-10, 1.0);
    assert_true(judge(&cube).isValid);
    // a face runs to the middle of the cube and back on the same edge
    cube = makeCube();
    memmove(&cube.indices[6], &cube.indices[4], 20 * sizeof(int));
    const int spike[6] = {0, 4, 6, 2, 8, 2};
    memcpy(&cube.indices[0], spike, sizeof spike);
    cube.sizes[0] = 6;
    cube.vertices[8] = rbMakeVec3(0.0, 0.5, 0.5);
    cube.vertexCount = 9;
    report = judge(&cube);
    assert_int_equal(report.counts[RB_MESH_ISSUE_EDGE_TWICE], 1);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_EDGE_TWICE].face, 0);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_EDGE_TWICE].vertexA, 2);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_EDGE_TWICE].vertexB, 8);
}

// L-03
static void orientationIssuesNameTheEdge(void** state)
{
    (void)state;
    Cube cube = makeCube();
    const int reversed[4] = {6, 7, 5, 4};
    memcpy(&cube.indices[20], reversed, sizeof reversed);
    rbMeshIssue first = expectOnly(&cube, RB_MESH_ISSUE_ORIENTATION, 4);
    assert_int_equal(first.otherFace, 5);
    assert_int_equal(first.face, 2);
    assert_int_equal(first.vertexA + first.vertexB, 9);
    // all faces reversed
    cube = makeCube();
    for (int f = 0; f < 6; ++f) {
        int swapped = cube.indices[4 * f + 1];
        cube.indices[4 * f + 1] = cube.indices[4 * f + 3];
        cube.indices[4 * f + 3] = swapped;
    }
    (void)expectOnly(&cube, RB_MESH_ISSUE_INSIDE_OUT, 1);
    checkNear(judge(&cube).volume, -1.0, 1e-15);
    // three faces at an edge
    cube = makeCube();
    cube.vertices[8] = rbMakeVec3(-1.0, -1.0, 0.5);
    const int fin[3] = {0, 4, 8};
    memcpy(&cube.indices[24], fin, sizeof fin);
    cube.sizes[6] = 3;
    cube.vertexCount = 9;
    cube.faceCount = 7;
    rbMeshReport report = judge(&cube);
    assert_int_equal(report.counts[RB_MESH_ISSUE_NON_MANIFOLD_EDGE], 1);
    rbMeshIssue edge = report.firsts[RB_MESH_ISSUE_NON_MANIFOLD_EDGE];
    assert_int_equal(edge.face, 0);
    assert_int_equal(edge.vertexA + edge.vertexB, 4);
    assert_int_equal(report.counts[RB_MESH_ISSUE_OPEN_EDGE], 2);
}

// A face whose outline crosses itself: a pentagram has an area and no reflex corner.
// L-03
static void crossingOutlinesAreFound(void** state)
{
    (void)state;
    rbVec3 vertices[10];
    int sizes[7] = {5, 5, 4, 4, 4, 4, 4};
    int indices[30];
    for (int i = 0; i < 5; ++i) {
        double a = 4.0 * RB_PI * i / 5.0;
        vertices[i] = rbMakeVec3(cos(a), sin(a), 0.0);
        vertices[5 + i] = rbMakeVec3(cos(a), sin(a), 1.0);
        indices[i] = 4 - i;
        indices[5 + i] = 5 + i;
        const int side[4] = {i, (i + 1) % 5, 5 + (i + 1) % 5, 5 + i};
        memcpy(&indices[10 + 4 * i], side, sizeof side);
    }
    rbMeshDef def = {vertices, 10, sizes, indices, 7};
    rbMeshReport report = rbValidateMesh(&def, NULL, 0);
    assert_int_equal(report.counts[RB_MESH_ISSUE_CROSSING_FACE], 2);
    assert_int_equal(report.issueCount, 2);
    assert_int_equal(report.firsts[RB_MESH_ISSUE_CROSSING_FACE].face, 0);
    rbError error = {0};
    assert_null(rbCreatePolyhedron(&def, &error));
    assert_null(rbCreateSoup(&def, &error));
    assert_non_null(strstr(error.message, "crosses itself"));
}

// Grid of quads with or without a twist: torus or Klein bottle, band or Moebius band.
static rbMeshReport checkGrid(int n, int m, bool isBand, bool isTwisted)
{
    rbVec3 vertices[400];
    int indices[6 * 400];
    int faces = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < m; ++j) {
            double u = 2.0 * RB_PI * i / n;
            double v = isBand ? (double)j / (m - 1) - 0.5 : 0.0;
            double w = 2.0 * RB_PI * j / m;
            rbVec3 torus = {(2.0 + cos(w)) * cos(u), (2.0 + cos(w)) * sin(u), sin(w)};
            rbVec3 band = {(2.0 + v * cos(u / 2)) * cos(u), (2.0 + v * cos(u / 2)) * sin(u),
                           v * sin(u / 2)};
            vertices[i * m + j] = isBand ? band : torus;
            if (isBand && j == m - 1) {
                continue;
            }
            int i2 = (i + 1) % n;
            bool flips = isTwisted && i2 == 0;
            int a = i * m + j;
            int b = i2 * m + (flips ? m - 1 - j : j);
            int j2 = (j + 1) % m;
            int c = i2 * m + (flips ? m - 1 - j2 : j2);
            int d = i * m + j2;
            const int two[6] = {a, b, c, a, c, d};
            memcpy(indices + 3 * (size_t)faces, two, sizeof two);
            faces += 2;
        }
    }
    rbMeshDef def = {vertices, n * m, NULL, indices, faces};
    return rbValidateMesh(&def, NULL, 0);
}

// L-03
static void aTorusIsValidAndAMoebiusBandIsNot(void** state)
{
    (void)state;
    rbMeshReport torus = checkGrid(20, 12, false, false);
    assert_int_equal(torus.issueCount, 0);
    // Euler: V - E + F = 0
    assert_int_equal(240 - torus.edgeCount + 480, 0);
    assert_true(torus.isSolid);
    rbMeshReport moebius = checkGrid(20, 4, true, true);
    assert_false(moebius.isValid || moebius.isClosed);
    assert_int_equal(moebius.counts[RB_MESH_ISSUE_OPEN_EDGE], 40);
    assert_int_equal(moebius.counts[RB_MESH_ISSUE_ORIENTATION], 3); // where the twist is glued
    assert_int_equal(moebius.counts[RB_MESH_ISSUE_NON_MANIFOLD_VERTEX], 0);
    rbMeshReport klein = checkGrid(20, 12, false, true);
    assert_true(klein.isClosed);
    assert_false(klein.isValid || klein.isSolid);
    assert_int_equal(klein.counts[RB_MESH_ISSUE_ORIENTATION], 12);
}

static void issuesAreWrittenInOrderUpToTheCapacity(void** state)
{
    (void)state;
    Cube cube = makeCube();
    cube.faceCount = 5;
    cube.vertices[8] = rbMakeVec3(5, 5, 5);
    cube.vertexCount = 9;
    rbMeshDef def = {cube.vertices, cube.vertexCount, cube.sizes, cube.indices, cube.faceCount};
    rbMeshIssue issues[8];
    rbMeshReport report = rbValidateMesh(&def, issues, 8);
    assert_int_equal(report.issueCount, 5);
    assert_int_equal(report.storedCount, 5);
    assert_int_equal(issues[0].kind, RB_MESH_ISSUE_UNUSED_VERTEX);
    for (int i = 1; i < 5; ++i) {
        assert_int_equal(issues[i].kind, RB_MESH_ISSUE_OPEN_EDGE);
    }
    report = rbValidateMesh(&def, issues, 2);
    assert_int_equal(report.issueCount, 5);
    assert_int_equal(report.storedCount, 2);
}

// L-03
static void aMillionFacesAreChecked(void** state)
{
    (void)state;
    rbError error = {0};
    double profile[4][2] = {{1.0, 0.0}, {2.0, 0.0}, {2.0, 1.0}, {1.0, 1.0}};
    rbOwnedMesh mesh;
    int segments = rbTest_Count(50000, 250000);
    assert_int_equal(rbRevolveProfile((const double(*)[2])profile, 4, segments, &mesh, &error),
                     RB_STATUS_OK);
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbMeshReport report = rbValidateMesh(&def, NULL, 0);
    assert_int_equal(report.issueCount, 0);
    // one corner moved to its neighbor's place is found among all
    mesh.indices[401] = mesh.indices[405];
    report = rbValidateMesh(&def, NULL, 0);
    assert_true(report.issueCount > 0 && report.issueCount < 20);
    rbFreeMesh(&mesh);
}

RB_TEST_GROUP(test_mesh_validation, cmocka_unit_test(aCubeIsValid),
              cmocka_unit_test(openEdgesAreFoundAtTheirFace),
              cmocka_unit_test(vertexIssuesNameTheVertex),
              cmocka_unit_test(indexAndSizeIssuesEndTheExamination),
              cmocka_unit_test(faceIssuesNameTheFace),
              cmocka_unit_test(orientationIssuesNameTheEdge),
              cmocka_unit_test(crossingOutlinesAreFound),
              cmocka_unit_test(aTorusIsValidAndAMoebiusBandIsNot),
              cmocka_unit_test(issuesAreWrittenInOrderUpToTheCapacity),
              cmocka_unit_test(aMillionFacesAreChecked));
