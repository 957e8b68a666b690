#include "mesh_shapes.h"

#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "lab/math/random3.h"
#include "pair_support.h"
#include "rb_test.h"

#include <math.h>

typedef rbGeometry* CreateFn(const rbMeshDef* def, rbError* error);

static rbGeometry* create(const rbMeshDef* def, rbShapeType type)
{
    CreateFn* make = type == RB_SHAPE_SOUP         ? rbCreateSoup
                     : type == RB_SHAPE_POLYHEDRON ? rbCreatePolyhedron
                                                   : rbCreateMesh;
    rbError error = {0};
    rbGeometry* geometry = make(def, &error);
    if (geometry == NULL) {
        print_message("%s\n", error.message);
    }
    assert_non_null(geometry);
    return geometry;
}

rbGeometry* makeMeshOf(const rbGeometry* convex, rbShapeType type)
{
    rbMeshDef def;
    if (rbGeometry_GetMesh(convex, &def)) {
        return create(&def, type);
    }
    rbTriangles triangles;
    rbError error = {0};
    assert_int_equal(rbGeometry_Triangulate(convex, 1.0, 1.0, &triangles, &error), RB_STATUS_OK);
    // the triangles of a box do not share vertices; coincident ones are merged
    int indices[3 * 64];
    rbVec3 vertices[3 * 64];
    int count = 0;
    assert_true(triangles.triangleCount <= 64);
    for (int i = 0; i < 3 * triangles.triangleCount; ++i) {
        rbVec3 v = triangles.vertices[triangles.triangles[i / 3][i % 3]];
        int at = 0;
        while (at < count && rbDistance(vertices[at], v) > 0.0) {
            ++at;
        }
        vertices[at] = v;
        count = at == count ? count + 1 : count;
        indices[i] = at;
    }
    def = (rbMeshDef){vertices, count, NULL, indices, triangles.triangleCount};
    rbGeometry* mesh = create(&def, type);
    rbFreeTriangles(&triangles);
    return mesh;
}

// A grid of directions between two poles; radii by ring and place.
static rbGeometry* makeGrid(int bands, int segments, const double* radii, rbShapeType type)
{
    int vertexCount = (bands - 1) * segments + 2;
    int faceCount = 2 * segments * (bands - 1);
    size_t vertexBytes = (size_t)vertexCount * sizeof(rbVec3);
    size_t indexBytes = 3 * (size_t)faceCount * sizeof(int);
    rbVec3* vertices = rbAlloc(vertexBytes);
    int* indices = rbAlloc(indexBytes);
    vertices[0] = rbMakeVec3(0.0, 0.0, radii[0]);
    vertices[vertexCount - 1] = rbMakeVec3(0.0, 0.0, -radii[vertexCount - 1]);
    for (int i = 1; i < vertexCount - 1; ++i) {
        double s, c, sine, cosine;
        int ring = (i - 1) / segments + 1;
        rbSinCos(RB_PI * ring / bands, &s, &c);
        rbSinCos(2.0 * RB_PI * ((i - 1) % segments) / segments, &sine, &cosine);
        vertices[i] = rbScale(radii[i], rbMakeVec3(s * cosine, s * sine, c));
    }
    int n = 0;
    for (int ring = 0; ring < bands; ++ring) {
        for (int k = 0; k < segments; ++k) {
            int next = (k + 1) % segments;
            int above = 1 + (ring - 1) * segments;
            int below = 1 + ring * segments;
            int a = ring == 0 ? 0 : above + k;
            int b = ring == 0 ? 0 : above + next;
            int c = ring == bands - 1 ? vertexCount - 1 : below + k;
            int d = ring == bands - 1 ? vertexCount - 1 : below + next;
            const int corners[2][3] = {{a, c, d}, {a, d, b}};
            for (int t = 0; t < 2; ++t) {
                const int* v = corners[t];
                if (v[0] != v[1] && v[1] != v[2] && v[2] != v[0]) {
                    indices[n++] = v[0];
                    indices[n++] = v[1];
                    indices[n++] = v[2];
                }
            }
        }
    }
    rbMeshDef def = {vertices, vertexCount, NULL, indices, n / 3};
    rbGeometry* mesh = create(&def, type);
    rbFree(vertices, vertexBytes);
    rbFree(indices, indexBytes);
    return mesh;
}

rbGeometry* makeBumpy(rbRandom* random, int bands, int segments, rbShapeType type)
{
    double radii[4096];
    int count = (bands - 1) * segments + 2;
    assert_true(count <= 4096);
    for (int i = 0; i < count; ++i) {
        radii[i] = rbRandom_Range(random, 0.4, 1.0);
    }
    return makeGrid(bands, segments, radii, type);
}

rbGeometry* makeRandomSoup(rbRandom* random, int count)
{
    rbVec3 vertices[3 * 256];
    int indices[3 * 256];
    assert_true(count <= 256);
    for (int i = 0; i < count; ++i) {
        // Numbers are drawn one by one: compilers differ in the order of arguments.
        rbVec3 toMiddle = rbRandom_Direction(random);
        rbVec3 middle = rbScale(rbRandom_Range(random, 0.0, 0.7), toMiddle);
        for (int k = 0; k < 3; ++k) {
            rbVec3 toCorner = rbRandom_Direction(random);
            vertices[3 * i + k] = rbAddScaled(middle, rbRandom_Range(random, 0.05, 0.3), toCorner);
            indices[3 * i + k] = 3 * i + k;
        }
    }
    rbMeshDef def = {vertices, 3 * count, NULL, indices, count};
    return create(&def, RB_SHAPE_SOUP);
}

rbGeometry* makeStar(rbRandom* random, int corners, rbShapeType type)
{
    double profile[64][2];
    assert_true(corners <= 64);
    for (int i = 0; i < corners; ++i) {
        double r = rbRandom_Range(random, 0.2, 1.0);
        double s, c;
        rbSinCos(2.0 * RB_PI * i / corners, &s, &c);
        profile[i][0] = r * c;
        profile[i][1] = r * s;
    }
    rbOwnedMesh owned;
    rbError error = {0};
    assert_int_equal(rbExtrudeProfile((const double(*)[2])profile, corners,
                                      rbRandom_Range(random, 0.1, 1.0), &owned, &error),
                     RB_STATUS_OK);
    rbMeshDef def = rbOwnedMesh_GetDef(&owned);
    rbGeometry* mesh = create(&def, type);
    rbFreeMesh(&owned);
    return mesh;
}

rbGeometry* makeRing(double inner, double outer, double half, int segments)
{
    const double profile[4][2] = {{inner, -half}, {outer, -half}, {outer, half}, {inner, half}};
    rbOwnedMesh owned;
    rbError error = {0};
    assert_int_equal(rbRevolveProfile(profile, 4, segments, &owned, &error), RB_STATUS_OK);
    rbMeshDef def = rbOwnedMesh_GetDef(&owned);
    rbGeometry* mesh = create(&def, RB_SHAPE_MESH);
    rbFreeMesh(&owned);
    return mesh;
}

rbGeometry* makeHollowBall(double inner, double outer)
{
    enum {
        BANDS = 16,
        SEGMENTS = 24,
        COUNT = (BANDS - 1) * SEGMENTS + 2,
        FACES = 2 * SEGMENTS * (BANDS - 1)
    };
    double radii[COUNT];
    rbVec3 vertices[2 * COUNT];
    static int indices[6 * FACES];
    for (int shell = 0; shell < 2; ++shell) {
        for (int i = 0; i < COUNT; ++i) {
            radii[i] = shell == 0 ? outer : inner;
        }
        rbGeometry* ball = makeGrid(BANDS, SEGMENTS, radii, RB_SHAPE_MESH);
        rbMeshDef def;
        assert_true(rbGeometry_GetMesh(ball, &def));
        for (int i = 0; i < COUNT; ++i) {
            vertices[shell * COUNT + i] = def.vertices[i];
        }
        for (int i = 0; i < 3 * FACES; ++i) {
            // the inner surface faces the hollow
            int from = shell == 0 ? i : i - i % 3 + 2 - i % 3;
            indices[shell * 3 * FACES + i] = def.indices[from] + shell * COUNT;
        }
        rbDestroyGeometry(ball);
    }
    rbMeshDef def = {vertices, 2 * COUNT, NULL, indices, 2 * FACES};
    return create(&def, RB_SHAPE_MESH);
}

rbGeometry* makeFloor(double half, int cells)
{
    int side = cells + 1;
    size_t vertexBytes = (size_t)side * (size_t)side * sizeof(rbVec3);
    size_t indexBytes = 6 * (size_t)cells * (size_t)cells * sizeof(int);
    rbVec3* vertices = rbAlloc(vertexBytes);
    int* indices = rbAlloc(indexBytes);
    int n = 0;
    for (int i = 0; i < side * side; ++i) {
        int x = i % side;
        int y = i / side;
        vertices[i] =
            rbMakeVec3(half * (2.0 * x / cells - 1.0), half * (2.0 * y / cells - 1.0), 0.0);
        if (x < cells && y < cells) {
            const int corners[6] = {i, i + 1, i + side + 1, i, i + side + 1, i + side};
            for (int k = 0; k < 6; ++k) {
                indices[n++] = corners[k];
            }
        }
    }
    rbMeshDef def = {vertices, side * side, NULL, indices, n / 3};
    rbGeometry* mesh = create(&def, RB_SHAPE_MESH);
    rbFree(vertices, vertexBytes);
    rbFree(indices, indexBytes);
    return mesh;
}

rbGeometry* makeAnyShape(rbRandom* random, rbShapeType type)
{
    if (type == RB_SHAPE_MESH) {
        return makeBumpy(random, 5, 6, type);
    }
    if (type == RB_SHAPE_SOUP) {
        return makeRandomSoup(random, 20);
    }
    if (type == RB_SHAPE_POLYHEDRON) {
        return makeStar(random, 7, type);
    }
    rbError error = {0};
    if (type == RB_SHAPE_PLANE) {
        double offset = rbRandom_Range(random, -0.5, 0.5);
        return rbCreatePlane(rbRandom_Direction(random), offset, &error);
    }
    if (type != RB_SHAPE_COMPOUND) {
        return makeRandomShape(random, type);
    }
    rbGeometry* mesh = makeBumpy(random, 4, 5, RB_SHAPE_MESH);
    rbGeometry* ball = rbCreateSphere(0.4, &error);
    rbTransform at = {.p = rbRandom_Direction(random)};
    at.q = rbRandom_Quat(random);
    rbCompoundChild inner[2] = {{ball, at, 0.0}, {mesh, RB_TRANSFORM_IDENTITY, 0.0}};
    rbGeometry* nested = rbCreateCompound(inner, 2, &error);
    rbGeometry* star = makeStar(random, 5, RB_SHAPE_POLYHEDRON);
    rbCompoundChild outer[2] = {{nested, {rbRandom_Direction(random), at.q}, 0.0},
                                {star, {rbNeg(at.p), at.q}, 0.0}};
    rbGeometry* compound = rbCreateCompound(outer, 2, &error);
    assert_non_null(compound);
    rbDestroyGeometry(mesh);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(nested);
    rbDestroyGeometry(star);
    return compound;
}
