#include "cli/surfaces.h"

#include "base/core/memory.h"

// Maximum number of triangles: 10^7 take a gigabyte per frame.
#define TRIANGLES_TOTAL_MAX 10000000
// Deviation of the triangles from a round surface, as a fraction of the radius: invisible on a
// screen.
#define DEVIATION 0.01
// Planes are drawn at least to this distance, m.
#define PLANE_HALF_SIZE_MIN 5.0

// How far the bodies are from the origin, which sets how much of a plane to draw.
static double measurePlane(const rbWorld* world, const rbBodyId* ids, int count)
{
    double size = PLANE_HALF_SIZE_MIN;
    for (int i = 0; i < count; ++i) {
        rbVec3 p = rbAbs3(rbBody_GetState(world, ids[i]).transform.p);
        double most = p.x > p.y ? p.x : p.y;
        size = 1.5 * most > size ? 1.5 * most : size;
    }
    return size;
}

static rbStatus addShape(rbSurfaces* surfaces, const rbGeometry* geometry, int body,
                         const rbShapeDef* def, double planeSize, rbError* error)
{
    double radius =
        rbGeometry_IsBounded(geometry) ? rbGeometry_GetRadius(geometry, RB_VEC3_ZERO) : planeSize;
    rbTriangles* triangles = &surfaces->triangles[surfaces->count];
    rbStatus status =
        rbGeometry_Triangulate(geometry, DEVIATION * radius, planeSize, triangles, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < triangles->vertexCount; ++i) {
        triangles->vertices[i] = rbTransformPoint(def->transform, triangles->vertices[i]);
    }
    surfaces->shapes[surfaces->count++] =
        (rbVtkShape){.body = body,
                     .vertices = triangles->vertices,
                     .vertexCount = triangles->vertexCount,
                     .triangles = (const int(*)[3])triangles->triangles,
                     .triangleCount = triangles->triangleCount};
    return RB_STATUS_OK;
}

static rbStatus addBodies(rbSurfaces* surfaces, const rbWorld* world, const rbBodyId* ids,
                          int bodyCount, rbError* error)
{
    double planeSize = measurePlane(world, ids, bodyCount);
    long long total = 0;
    for (int i = 0; i < bodyCount; ++i) {
        int shapeCount = rbBody_GetShapeCount(world, ids[i]);
        for (int k = 0; k < shapeCount; ++k) {
            rbShapeDef def = rbBody_GetShape(world, ids[i], k);
            const rbGeometry* geometry = rbWorld_GetGeometry(world, def.geometry);
            rbStatus status = addShape(surfaces, geometry, i, &def, planeSize, error);
            if (status != RB_STATUS_OK) {
                return status;
            }
            total += surfaces->triangles[surfaces->count - 1].triangleCount;
            if (total > TRIANGLES_TOTAL_MAX) {
                return rbError_Set(error, RB_STATUS_LIMIT,
                                   "the bodies have more than %d triangles, too many for VTK "
                                   "files; use --record or --csv",
                                   TRIANGLES_TOTAL_MAX);
            }
        }
    }
    return RB_STATUS_OK;
}

rbStatus rbSurfaces_Make(rbSurfaces* surfaces, const rbWorld* world, rbError* error)
{
    int bodyCount = rbWorld_GetBodyCount(world);
    rbBodyId* ids = rbAlloc((size_t)bodyCount * sizeof *ids);
    (void)rbWorld_GetBodyIds(world, ids, bodyCount);
    int capacity = 0;
    for (int i = 0; i < bodyCount; ++i) {
        capacity += rbBody_GetShapeCount(world, ids[i]);
    }
    surfaces->count = 0;
    surfaces->capacity = capacity;
    surfaces->shapes = rbAllocZero((size_t)capacity, sizeof *surfaces->shapes);
    surfaces->triangles = rbAllocZero((size_t)capacity, sizeof *surfaces->triangles);
    rbStatus status = addBodies(surfaces, world, ids, bodyCount, error);
    rbFree(ids, (size_t)bodyCount * sizeof *ids);
    return status;
}

void rbSurfaces_Free(rbSurfaces* surfaces)
{
    for (int i = 0; i < surfaces->count; ++i) {
        rbFreeTriangles(&surfaces->triangles[i]);
    }
    rbFree(surfaces->shapes, (size_t)surfaces->capacity * sizeof *surfaces->shapes);
    rbFree(surfaces->triangles, (size_t)surfaces->capacity * sizeof *surfaces->triangles);
    *surfaces = (rbSurfaces){0};
}
