#include "bodies.h"

#include "base/core/memory.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#define CORNERS_MAX 512

// A surface of segments x tubeSegments quadrilaterals, closed in the first direction; in the second
// direction it is closed too, or ends in poles.
typedef struct Grid {
    rbVec3* vertices;
    int* sizes;
    int* indices;
    int vertexCount, faceCount, indexCount;
} Grid;

static void pushFace(Grid* grid, const int* corners, int count)
{
    grid->sizes[grid->faceCount++] = count;
    for (int i = 0; i < count; ++i) {
        grid->indices[grid->indexCount++] = corners[i];
    }
}

static Grid makeGrid(int vertexMax, int faceMax)
{
    Grid grid = {rbAlloc((size_t)vertexMax * sizeof(rbVec3)),
                 rbAlloc((size_t)faceMax * sizeof(int)),
                 rbAlloc((size_t)faceMax * 4 * sizeof(int)),
                 0,
                 0,
                 0};
    return grid;
}

static void freeGrid(Grid* grid, int vertexMax, int faceMax)
{
    rbFree(grid->vertices, (size_t)vertexMax * sizeof(rbVec3));
    rbFree(grid->sizes, (size_t)faceMax * sizeof(int));
    rbFree(grid->indices, (size_t)faceMax * 4 * sizeof(int));
}

static rbMeshDef defOf(const Grid* grid)
{
    rbMeshDef def = {grid->vertices, grid->vertexCount, grid->sizes, grid->indices,
                     grid->faceCount};
    return def;
}

static rbGeometry* makeTorus(double radius, double tubeRadius, int segments, int tubeSegments,
                             bool isPolyhedron)
{
    int count = segments * tubeSegments;
    Grid grid = makeGrid(count, count);
    for (int i = 0; i < segments; ++i) {
        double sinU, cosU;
        rbSinCos(2.0 * RB_PI * i / segments, &sinU, &cosU);
        for (int j = 0; j < tubeSegments; ++j) {
            double sinV, cosV;
            rbSinCos(2.0 * RB_PI * j / tubeSegments, &sinV, &cosV);
            double r = radius + tubeRadius * cosV;
            grid.vertices[grid.vertexCount++] = rbMakeVec3(r * cosU, r * sinU, tubeRadius * sinV);
        }
    }
    for (int i = 0; i < segments; ++i) {
        int next = (i + 1) % segments;
        for (int j = 0; j < tubeSegments; ++j) {
            int up = (j + 1) % tubeSegments;
            int corners[4] = {i * tubeSegments + j, next * tubeSegments + j,
                              next * tubeSegments + up, i * tubeSegments + up};
            pushFace(&grid, corners, 4);
        }
    }
    rbMeshDef def = defOf(&grid);
    rbError error = {0};
    rbGeometry* geometry =
        isPolyhedron ? rbCreatePolyhedron(&def, &error) : rbCreateMesh(&def, &error);
    assert_string_equal(error.message, "");
    freeGrid(&grid, count, count);
    return geometry;
}

rbGeometry* rbMakeTestTorus(double radius, double tubeRadius, int segments, int tubeSegments)
{
    return makeTorus(radius, tubeRadius, segments, tubeSegments, false);
}

static rbGeometry* makeBumpy(int faceCount, rbRandom* random)
{
    int rings = 3;
    while (4 * (rings + 1) * (rings + 1) < faceCount) {
        ++rings;
    }
    int segments = 2 * rings;
    int vertexMax = rings * segments + 2;
    int faceMax = 2 * rings * segments;
    Grid grid = makeGrid(vertexMax, faceMax);
    double bump = rbRandom_Range(random, 0.0, 0.3);
    for (int i = 0; i < rings; ++i) {
        double sinU, cosU;
        rbSinCos(RB_PI * (i + 1) / (rings + 1), &sinU, &cosU);
        for (int j = 0; j < segments; ++j) {
            double sinV, cosV;
            rbSinCos(2.0 * RB_PI * j / segments, &sinV, &cosV);
            double r = 0.5 * (1.0 + bump * rbRandom_Symmetric(random));
            grid.vertices[grid.vertexCount++] =
                rbMakeVec3(r * sinU * cosV, r * sinU * sinV, r * cosU);
        }
    }
    int top = grid.vertexCount++;
    int bottom = grid.vertexCount++;
    grid.vertices[top] = rbMakeVec3(0.0, 0.0, 0.5);
    grid.vertices[bottom] = rbMakeVec3(0.0, 0.0, -0.5);
    for (int j = 0; j < segments; ++j) {
        int next = (j + 1) % segments;
        int cap[3] = {top, j, next};
        int base[3] = {bottom, (rings - 1) * segments + next, (rings - 1) * segments + j};
        pushFace(&grid, cap, 3);
        pushFace(&grid, base, 3);
        for (int i = 0; i + 1 < rings; ++i) {
            int low = (i + 1) * segments;
            int first[3] = {i * segments + j, low + j, low + next};
            int second[3] = {i * segments + j, low + next, i * segments + next};
            pushFace(&grid, first, 3);
            pushFace(&grid, second, 3);
        }
    }
    rbMeshDef def = defOf(&grid);
    rbError error = {0};
    rbGeometry* geometry = rbCreateMesh(&def, &error);
    assert_string_equal(error.message, "");
    freeGrid(&grid, vertexMax, faceMax);
    return geometry;
}

static rbGeometry* extrude(const double (*profile)[2], int count, double height)
{
    rbOwnedMesh mesh = {0};
    rbError error = {0};
    assert_int_equal(rbExtrudeProfile(profile, count, height, &mesh, &error), RB_STATUS_OK);
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbGeometry* geometry = rbCreatePolyhedron(&def, &error);
    assert_string_equal(error.message, "");
    rbFreeMesh(&mesh);
    return geometry;
}

static rbGeometry* makeStar(int faceCount, rbRandom* random)
{
    double profile[CORNERS_MAX][2];
    int count = faceCount < 8 ? 6 : faceCount - 2;
    count = count < CORNERS_MAX ? count : CORNERS_MAX;
    for (int i = 0; i < count; ++i) {
        double sine, cosine;
        rbSinCos(2.0 * RB_PI * i / count, &sine, &cosine);
        double r = rbRandom_Range(random, 0.1, 0.5);
        profile[i][0] = r * cosine;
        profile[i][1] = r * sine;
    }
    return extrude((const double(*)[2])profile, count, rbRandom_Range(random, 0.05, 0.6));
}

static rbGeometry* makeL(rbRandom* random)
{
    double w = rbRandom_Range(random, 0.1, 0.4);
    double profile[6][2] = {{0, 0}, {0.9, 0}, {0.9, w}, {w, w}, {w, 0.7}, {0, 0.7}};
    return extrude((const double(*)[2])profile, 6, rbRandom_Range(random, 0.1, 0.5));
}

static rbGeometry* makeComb(int faceCount, rbRandom* random)
{
    double profile[CORNERS_MAX][2];
    int teeth = (faceCount - 2) / 4;
    teeth = teeth < 2 ? 2 : teeth;
    teeth = teeth < CORNERS_MAX / 4 - 1 ? teeth : CORNERS_MAX / 4 - 1;
    double pitch = 1.0 / teeth;
    int count = 0;
    for (int i = 0; i < teeth; ++i) {
        double length = rbRandom_Range(random, 0.2, 0.5);
        double xs[4] = {i * pitch, i * pitch, (i + 0.6) * pitch, (i + 0.6) * pitch};
        double ys[4] = {0.1, length, length, 0.1};
        for (int k = 0; k < 4; ++k) {
            profile[count][0] = xs[k] - 0.5;
            profile[count][1] = ys[k];
            ++count;
        }
    }
    // the last tooth ends the back, and the corner before it is not needed
    profile[count - 1][1] = 0.0;
    profile[count][0] = -0.5;
    profile[count][1] = 0.0;
    ++count;
    // the first corner lies on the line of the back's end
    for (int i = 1; i < count; ++i) {
        profile[i - 1][0] = profile[i][0];
        profile[i - 1][1] = profile[i][1];
    }
    --count;
    return extrude((const double(*)[2])profile, count, rbRandom_Range(random, 0.05, 0.4));
}

// Triangles and plane stars of five to nine corners at random places.
static rbGeometry* makeSoup(int faceCount, rbRandom* random)
{
    rbVec3 vertices[9 * CORNERS_MAX];
    int sizes[CORNERS_MAX];
    int indices[9 * CORNERS_MAX];
    int count = 0;
    faceCount = faceCount < CORNERS_MAX ? faceCount : CORNERS_MAX;
    for (int face = 0; face < faceCount; ++face) {
        double away = 0.4 * rbRandom_Unit(random);
        rbVec3 center = rbScale(away, rbRandom_Direction(random));
        rbVec3 u = rbRandom_Direction(random);
        rbVec3 v = rbPerpendicular(u);
        double size = rbRandom_Range(random, 0.02, 0.25);
        sizes[face] = rbRandom_Index(random, 2) == 0 ? 3 : 5 + rbRandom_Index(random, 5);
        for (int i = 0; i < sizes[face]; ++i) {
            double sine, cosine;
            rbSinCos(2.0 * RB_PI * i / sizes[face], &sine, &cosine);
            double r = size * (i % 2 == 0 ? 1.0 : rbRandom_Range(random, 0.3, 1.0));
            vertices[count] = rbAddScaled(rbAddScaled(center, r * cosine, u), r * sine, v);
            indices[count] = count;
            ++count;
        }
    }
    rbMeshDef def = {vertices, count, sizes, indices, faceCount};
    rbError error = {0};
    rbGeometry* geometry = rbCreateSoup(&def, &error);
    assert_string_equal(error.message, "");
    return geometry;
}

static rbGeometry* makeTriangle(rbRandom* random)
{
    rbVec3 vertices[3];
    int indices[3] = {0, 1, 2};
    for (int i = 0; i < 3; ++i) {
        vertices[i] = rbScale(0.5, rbRandom_Direction(random));
    }
    rbMeshDef def = {vertices, 3, NULL, indices, 1};
    rbError error = {0};
    rbGeometry* geometry = rbCreateMesh(&def, &error);
    assert_string_equal(error.message, "");
    return geometry;
}

rbGeometry* rbMakeTestBody(rbTestBody body, int faceCount, rbRandom* random)
{
    int side = 3;
    while (side * side < faceCount) {
        ++side;
    }
    double tube = rbRandom_Range(random, 0.05, 0.2);
    switch (body) {
    case RB_BODY_BUMPY:
        return makeBumpy(faceCount, random);
    case RB_BODY_TORUS:
        return makeTorus(0.4, tube, side, side / 2 + 2, false);
    case RB_BODY_RING:
        return makeTorus(0.4, tube, side, side, true);
    case RB_BODY_STAR:
        return makeStar(faceCount, random);
    case RB_BODY_L:
        return makeL(random);
    case RB_BODY_COMB:
        return makeComb(faceCount, random);
    case RB_BODY_SOUP:
        return makeSoup(faceCount, random);
    case RB_BODY_TRIANGLE:
    case RB_BODY_COUNT_OF_KINDS:
    default:
        return makeTriangle(random);
    }
}

rbHierarchyDef rbMakeRandomHierarchyDef(rbVolumeType volume, rbRandom* random)
{
    rbHierarchyDef def = rbDefaultHierarchyDef();
    def.volume = volume;
    def.axis = (rbSplitAxis)rbRandom_Index(random, RB_SPLIT_COUNT);
    def.place = (rbSplitPlace)rbRandom_Index(random, RB_SPLIT_PLACE_COUNT);
    def.degree = 2 + rbRandom_Index(random, 2) * rbRandom_Index(random, 7);
    def.leafSize = 1 + rbRandom_Index(random, 2) * rbRandom_Index(random, 5);
    return def;
}

rbTransform rbMakeRandomPose(rbRandom* random)
{
    rbTransform transform;
    transform.q = rbNormalizeQuat(rbRandom_Quat(random));
    double away = rbRandom_Range(random, 0.0, 1.5);
    transform.p = rbScale(away, rbRandom_Direction(random));
    return transform;
}

double rbMeasureByPairs(const rbHierarchy* a, const rbHierarchyNode* nodeA, const rbHierarchy* b,
                        const rbHierarchyNode* nodeB, rbTransform transformBtoA)
{
    double best = INFINITY;
    rbMat3 rotation = rbMatFromQuat(transformBtoA.q);
    for (int j = 0; j < nodeB->faceCount; ++j) {
        rbVec3 corners[CORNERS_MAX];
        rbFacet facetB = rbHierarchy_GetFacet(b, nodeB->firstFace + j);
        assert_true(facetB.count <= CORNERS_MAX);
        for (int i = 0; i < facetB.count; ++i) {
            corners[i] = rbAdd(rbMulMV(rotation, facetB.corners[i]), transformBtoA.p);
        }
        facetB.corners = corners;
        facetB.normal = rbMulMV(rotation, facetB.normal);
        facetB.offset += rbDot(facetB.normal, transformBtoA.p);
        for (int i = 0; i < nodeA->faceCount; ++i) {
            rbFacet facetA = rbHierarchy_GetFacet(a, nodeA->firstFace + i);
            double squared = rbClosestOfFacets(&facetA, &facetB).squared;
            best = squared < best ? squared : best;
        }
    }
    return sqrt(best);
}
