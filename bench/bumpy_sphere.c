#include "bumpy_sphere.h"

#include "base/math/elementary.h"

static void addVertex(rbBumpySphere* sphere, double theta, double phi)
{
    double sinTheta, cosTheta, sinPhi, cosPhi;
    rbSinCos(theta, &sinTheta, &cosTheta);
    rbSinCos(phi, &sinPhi, &cosPhi);
    double radius = 1.0 + 0.05 * rbSin(8.0 * theta) * rbSin(8.0 * phi);
    rbArray_Push(sphere->vertices, rbMakeVec3(radius * sinTheta * cosPhi,
                                              radius * sinTheta * sinPhi, radius * cosTheta));
}

static void addTriangle(rbBumpySphere* sphere, int a, int b, int c)
{
    rbArray_Push(sphere->indices, a);
    rbArray_Push(sphere->indices, b);
    rbArray_Push(sphere->indices, c);
    sphere->triangleCount += 1;
}

void rbBumpySphere_Make(rbBumpySphere* sphere, int bands, int segments)
{
    RB_ASSERT(bands >= 2);
    RB_ASSERT(segments >= 3);
    *sphere = (rbBumpySphere){0};
    rbArray_Push(sphere->vertices, rbMakeVec3(0.0, 0.0, 1.0));
    for (int i = 1; i < bands; ++i) {
        for (int j = 0; j < segments; ++j) {
            addVertex(sphere, RB_PI * i / bands, 2.0 * RB_PI * j / segments);
        }
    }
    rbArray_Push(sphere->vertices, rbMakeVec3(0.0, 0.0, -1.0));
    int southPole = sphere->vertices.count - 1;
    for (int i = 0; i < bands; ++i) {
        int upper = 1 + (i - 1) * segments; // ring above the band, absent at the north pole
        int lower = 1 + i * segments;
        for (int j = 0; j < segments; ++j) {
            int next = (j + 1) % segments;
            if (i == 0) {
                addTriangle(sphere, 0, lower + j, lower + next);
            } else if (i == bands - 1) {
                addTriangle(sphere, upper + j, southPole, upper + next);
            } else {
                addTriangle(sphere, upper + j, lower + j, lower + next);
                addTriangle(sphere, upper + j, lower + next, upper + next);
            }
        }
    }
    RB_ASSERT(sphere->triangleCount == 2 * segments * (bands - 1));
}

void rbBumpySphere_Free(rbBumpySphere* sphere)
{
    rbArray_Free(sphere->vertices);
    rbArray_Free(sphere->indices);
    *sphere = (rbBumpySphere){0};
}

rbMeshDef rbBumpySphere_GetDef(const rbBumpySphere* sphere)
{
    rbMeshDef def = {
        .vertices = sphere->vertices.data,
        .vertexCount = sphere->vertices.count,
        .indices = sphere->indices.data,
        .faceCount = sphere->triangleCount,
    };
    return def;
}
