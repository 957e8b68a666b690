// Containment: solids of several parts, cavities, rounded meshes.
#include "base/core/memory.h"
#include "rb_test.h"

#include <rattleback/collision.h>

static double scratch[1 << 15];

typedef struct Cubes {
    rbVec3 vertices[24];
    int faceSizes[18];
    int indices[72];
    int count;
} Cubes;

// Adds a cube; a negative half size inverts it: a cavity.
static void addCube(Cubes* cubes, rbVec3 center, double half)
{
    static const int loops[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    int first = 8 * cubes->count;
    for (int v = 0; v < 8; ++v) {
        rbVec3 corner = {v & 1 ? half : -half, v & 2 ? half : -half, v & 4 ? half : -half};
        cubes->vertices[first + v] = rbAdd(center, corner);
    }
    for (int f = 0; f < 6; ++f) {
        cubes->faceSizes[6 * cubes->count + f] = 4;
        for (int k = 0; k < 4; ++k) {
            cubes->indices[4 * (6 * cubes->count + f) + k] = first + loops[f][k];
        }
    }
    ++cubes->count;
}

static rbGeometry* makeMesh(const Cubes* cubes)
{
    rbError error = {0};
    rbMeshDef def = {.vertices = cubes->vertices,
                     .vertexCount = 8 * cubes->count,
                     .faceSizes = cubes->faceSizes,
                     .indices = cubes->indices,
                     .faceCount = 6 * cubes->count};
    rbGeometry* mesh = rbCreateMesh(&def, &error);
    assert_non_null(mesh);
    assert_true(rbGeometry_IsSolid(mesh));
    return mesh;
}

static rbSeparation measure(const rbSeparationInput* input)
{
    rbError error = {0};
    rbSeparation s;
    assert_int_equal(rbMeasureSeparation(input, NULL, scratch, &s, &error), RB_STATUS_OK);
    bool overlaps = false;
    assert_int_equal(rbTestOverlap(input, 0.0, NULL, &overlaps, &error), RB_STATUS_OK);
    assert_true(overlaps == (s.distance <= 0.0));
    assert_true(s.lower <= s.distance && s.distance <= s.upper);
    return s;
}

// One of two parts lies inside, the other outside, nearer to the surface.
static void everyPartIsAskedFor(void** state)
{
    (void)state;
    Cubes block = {0};
    addCube(&block, RB_VEC3_ZERO, 1.0);
    Cubes pair = {0};
    addCube(&pair, RB_VEC3_ZERO, 0.1);
    addCube(&pair, rbMakeVec3(1.11, 0.0, 0.0), 0.1);
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = makeMesh(&block);
    input.geometryB = makeMesh(&pair);
    rbSeparation s = measure(&input);
    assert_int_equal(s.reason, RB_STOP_ESTIMATE);
    checkBelow(s.lower, -1.1 + 1e-12); // the small cube has to leave
    // no depth is requested
    input.isDepthUnwanted = true;
    s = measure(&input);
    assert_int_equal(s.reason, RB_STOP_TOUCHES);
    assert_true(s.distance == 0.0 && s.upper == 0.0);
    checkBelow(s.lower, -1.1);
    input.isDepthUnwanted = false;
    // both outside
    input.transformBtoA.p = rbMakeVec3(1.2, 0.0, 0.0);
    s = measure(&input);
    checkNear(s.distance, 0.1, 1e-13);
    // the roles exchanged
    const rbGeometry* swap = input.geometryA;
    input.geometryA = input.geometryB;
    input.geometryB = swap;
    input.transformBtoA.p = RB_VEC3_ZERO;
    s = measure(&input);
    assert_int_equal(s.reason, RB_STOP_ESTIMATE);
    rbDestroyGeometry((rbGeometry*)input.geometryA);
    rbDestroyGeometry((rbGeometry*)input.geometryB);
}

// In a cavity bodies are separated; rounded so that they touch, no translation as long as the
// radius separates them.
static void cavitiesAreOutside(void** state)
{
    (void)state;
    Cubes shell = {0};
    addCube(&shell, RB_VEC3_ZERO, 1.0);
    addCube(&shell, RB_VEC3_ZERO, -0.5);
    Cubes core = {0};
    addCube(&core, RB_VEC3_ZERO, 0.4);
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = makeMesh(&shell);
    input.geometryB = makeMesh(&core);
    rbSeparation s = measure(&input);
    checkNear(s.distance, 0.1, 1e-13);
    assert_int_equal(s.reason, RB_STOP_SURFACES);
    input.radiusA = 0.2;
    s = measure(&input);
    checkBelow(s.lower, -1.6 + 1e-12); // it can only leave through the wall
    checkBelow(s.distance, 0.0);
    rbDestroyGeometry((rbGeometry*)input.geometryA);
    rbDestroyGeometry((rbGeometry*)input.geometryB);
}

// A search that was cut short does not know the nearest points, but still detects containment.
static void budgetsDoNotHideContainment(void** state)
{
    (void)state;
    Cubes block = {0};
    addCube(&block, RB_VEC3_ZERO, 1.0);
    Cubes core = {0};
    addCube(&core, rbMakeVec3(0.2, 0.1, 0.0), 0.4);
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = makeMesh(&block);
    input.geometryB = makeMesh(&core);
    for (input.budget = 1; input.budget < 20; ++input.budget) {
        rbSeparation s = measure(&input);
        checkBelow(s.upper, 1e-12);
        checkBelow(s.lower, -1.1 + 1e-12);
    }
    rbDestroyGeometry((rbGeometry*)input.geometryA);
    rbDestroyGeometry((rbGeometry*)input.geometryB);
}

RB_TEST_GROUP(test_mesh_solids, cmocka_unit_test(everyPartIsAskedFor),
              cmocka_unit_test(cavitiesAreOutside), cmocka_unit_test(budgetsDoNotHideContainment));
