// Shared helpers of the tests of rbSweepShapes.
#pragma once

#include "test/support/rb_test.h"

#include <rattleback/collision.h>

#include <math.h>
#include <stdlib.h>

// Scratch memory of the tests of one program.
static inline void* getScratch(void)
{
    static void* scratch;
    if (scratch == NULL) {
        scratch = malloc(rbGetSeparationScratchSize());
    }
    return scratch;
}

static inline rbShapeSweep sweepShapes(const rbGeometry* a, rbTransform pose, rbVec3 step,
                                       const rbGeometry* b)
{
    rbError error = {0};
    rbShapeSweep sweep;
    rbStatus status = rbSweepShapes(a, pose, step, b, 0.0, getScratch(), &sweep, &error);
    if (status != RB_STATUS_OK) {
        print_error("%s\n", error.message);
    }
    assert_int_equal(status, RB_STATUS_OK);
    return sweep;
}

// A at a place, not rotated.
static inline rbShapeSweep sweepFrom(const rbGeometry* a, rbVec3 place, rbVec3 step,
                                     const rbGeometry* b)
{
    return sweepShapes(a, (rbTransform){place, RB_QUAT_IDENTITY}, step, b);
}

static inline rbSeparation measureAt(const rbGeometry* a, rbTransform pose, const rbGeometry* b)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = b;
    input.geometryB = a;
    input.transformBtoA = pose;
    rbSeparation separation;
    assert_int_equal(rbMeasureSeparation(&input, NULL, getScratch(), &separation, NULL),
                     RB_STATUS_OK);
    return separation;
}

// The pyramid of the experiments; apex up, center in the origin.
static inline rbGeometry* makePyramid(void)
{
    const rbVec3 vertices[4] = {{0, 1, 0}, {1, -1, 1}, {-1, -1, 1}, {0, -1, -1}};
    const int indices[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    rbMeshDef def = {.vertices = vertices, .vertexCount = 4, .indices = indices, .faceCount = 4};
    rbError error = {0};
    rbGeometry* pyramid = rbCreatePolyhedron(&def, &error);
    if (pyramid == NULL) {
        print_error("%s\n", error.message);
    }
    assert_non_null(pyramid);
    return pyramid;
}

#define checkVec(value, cx, cy, cz, tolerance)   \
    do {                                         \
        checkNear((value).x, (cx), (tolerance)); \
        checkNear((value).y, (cy), (tolerance)); \
        checkNear((value).z, (cz), (tolerance)); \
    } while (0)
